/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What-ifs that wait or run. Each runs in a process of its own (worker.h) and comes back as an event of the loop; whatever becomes of
 * that process (a crash, no memory, no end), the daemon only notes it.
 */
#ifndef DAEMON_JOBS_H
#define DAEMON_JOBS_H

#include <json-c/json.h>
#include "daemon/config.h"
#include "daemon/log.h"
#include "daemon/loop.h"

enum job_end { JOB_DONE = 0, JOB_FAILED, JOB_CRASHED, JOB_TOO_LONG, JOB_TOO_LARGE, JOB_CANCELLED, JOB_NR_ENDS };

struct job;

/* Who gave the order. Both are called from the loop; @ctx is the giver's. */
struct job_owner {
	/* how far it has come; @parts of a thousand, -1 unknown. Return: false when nobody waits any longer: it is cancelled. */
	bool (*progress)(void *ctx, const struct job *job, const char *phase, uint64_t events, int parts);
	/* its turn has come. Return: false when nobody waits any longer: it is cancelled. NULL: somebody always does. */
	bool (*wanted)(void *ctx);
	/* the end: @report of JOB_DONE, an object or a text, borrowed; else @text. Called once, also when the daemon ends. */
	void (*end)(void *ctx, const struct job *job, enum job_end how, struct json_object *report, const char *text);
	void *ctx;
	uint64_t client;	/* 0: none */
};

struct jobs {
	struct loop *loop; const struct config *config; const struct log *log;	/* borrowed */
	struct job *first, *last;	/* running ones first, then in order of arrival */
	unsigned int nr_running, nr_waiting;
	bool closing;			/* nobody starts any more */
	uint64_t last_number, ended[JOB_NR_ENDS];
	double seconds;			/* that the ended ones took */
};

/* jobs_add() - @path: the recording. It is opened here and held, so that what happens to the name later is no matter; @scratch: a name that
 * nobody else knows, removed at once. @whatif: checked already; borrowed.
 * Return: its number; -EBUSY when the queue is full or the client has too many; -errno of opening it; -ENOMEM. */
int64_t jobs_add(struct jobs *jobs, const char *path, bool scratch, struct json_object *whatif, const struct job_owner *owner);
uint64_t job_number(const struct job *job);
/* jobs_cancel() - Return: 0; -ENOENT. */
int jobs_cancel(struct jobs *jobs, uint64_t number);
struct json_object *jobs_list(const struct jobs *jobs);
void jobs_release(struct jobs *jobs);
const char *job_end_name(enum job_end how);	/* as in metrics and answers */

#endif
