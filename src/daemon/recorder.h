/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The flight recorder inside the daemon: started, started again when it failed, polled by the loop. Snapshots are written by a thread
 * of their own, one after the other, so that a slow disk holds up nobody.
 */
#ifndef DAEMON_RECORDER_H
#define DAEMON_RECORDER_H

#include <pthread.h>
#include <stdbool.h>
#include <resched/flight.h>
#include "daemon/config.h"
#include "daemon/log.h"
#include "daemon/loop.h"
#include "daemon/store.h"
#include "daemon/watch.h"

/* A part of the past, or of the near future, to be written. Owned by the recorder from recorder_write() until @done. */
struct writing {
	char path[STORE_PATH];
	uint64_t from_ns, to_ns;	/* on the recording's clock */
	bool urgent;			/* before those that are not: what it is about would be gone */
	void (*done)(void *ctx, struct writing *writing);
	void *ctx;
	/* the result */
	int rc;
	struct resched_snapshot snapshot;
	struct resched_error err;
	/* the recorder's */
	struct recorder *recorder;
	struct loop_timer timer;
	struct writing *next;
};

struct recorder {
	struct loop *loop; const struct config *config; const struct log *log; struct watch *watch;	/* borrowed */
	struct resched_flight *flight;	/* NULL: not recording */
	struct loop_fd events, finished;
	struct loop_timer retry, resume;
	char why[512];			/* it does not record, or records otherwise than wanted */
	bool polled;			/* its events are taken */
	unsigned int restarts;
	uint64_t events_base, lost_base;	/* of flights before this one */
	double paused_s;		/* that the watch was paused to keep the budget */
	/* the writer */
	pthread_t thread; bool threaded;
	pthread_mutex_t mutex; pthread_cond_t cond;
	bool ending;
	struct writing *waiting;	/* for their time to come; the loop's */
	struct writing *queue, *written;	/* under the mutex */
	unsigned int busy;		/* queued or being written; under the mutex */
};

/* recorder_open() - prepare, and start to record when that is wanted; what stands in the way is told, and tried again.
 * Return: 0; -errno when not even the thread can be had. */
int recorder_open(struct recorder *recorder);
/* recorder_close() - writes what was asked for first, up to now where the end of its window has not come yet. */
void recorder_close(struct recorder *recorder);
/* recorder_write() - as soon as the end of the window is past. */
void recorder_write(struct recorder *recorder, struct writing *writing);
/* recorder_restart() - with a changed configuration. */
void recorder_restart(struct recorder *recorder);
/* recorder_tidy() - now and then: forget names, if there are many. */
void recorder_tidy(struct recorder *recorder);
/* recorder_pause() - take no events for a while: waits are not watched, recording goes on. */
void recorder_pause(struct recorder *recorder, uint64_t ns);

#endif
