/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is looked at: schedules, recorded ones read from files and replayed ones made from them, each with a report, an index and its
 * outliers. Each is built by a thread of its own while the screen already shows what there is.
 *
 * A builder holds the lock of its schedule while it adds events and lets go every few hundred; data_lock() takes all of them, so
 * between data_lock() and data_unlock() nothing moves. A finished schedule does not change any more, but for what its outliers
 * became under others.
 */
#ifndef TUI_DATA_H
#define TUI_DATA_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <resched/analysis.h>
#include <resched/error.h>
#include <resched/explain.h>
#include <resched/flight.h>
#include <resched/index.h>
#include <resched/outliers.h>
#include <resched/replay.h>
#include <resched/report.h>
#include <resched/trace.h>

#define MAX_SCHEDS 16
#define MAX_WORDS 24
#define TOP_OUTLIERS 500u
#define LIVE_EVENTS 4000000u	/* a live schedule holds half as many to as many: some 100 MB */

enum sched_state { SCHED_BUILDING = 0, SCHED_READY, SCHED_FAILED };

/* Texts of a what-if, owned: what the options of the command line would be. */
struct wish { char *policy, *model, *topology; unsigned int nr_features, nr_settings, nr_tasks, nr_cgroups; char *features[MAX_WORDS],
	      *settings[MAX_WORDS], *tasks[MAX_WORDS], *cgroups[MAX_WORDS]; bool kernel_placement; uint64_t seed; };
void wish_release(struct wish *w);
/* wish_parse() - from words as on the command line: "--policy cfs --set hz=1000". Return: 0; -EINVAL with @why. */
int wish_parse(const char *text, struct wish *ret, char *why, size_t size);

struct sched {
	char label[64];
	char *file;
	struct sched *parent;		/* replayed: the recorded one it was made from */
	bool hidden;			/* made for its lag only */
	/* live: what the machine does now, of the recorder in memory; its state is BUILDING until it ends */
	bool live;
	struct resched_flight *flight;	/* NULL: what a daemon records */
	char *socket;			/* of that daemon; NULL: none is asked */
	bool must_feed, fed;		/* the user has named it; it answers */
	_Atomic bool paused;
	uint64_t max_events;		/* of its index */
	uint64_t began_ns;		/* its first event, which may be gone by now */
	struct young { struct resched_analysis *analysis; struct resched_outliers *outliers; struct resched_index *index; } young;
	/* a part of a live one in a file of its own */
	struct sched *origin;
	bool temporary;
	uint64_t from_ns;
	struct wish wish;
	pthread_t thread;
	bool started, joined;
	_Atomic int state;
	_Atomic bool cancel;
	_Atomic uint64_t nr_events;
	_Atomic int phase;		/* 0 reading, 1 rebuilding the workload, 2 replaying; live: 1 it has begun */
	pthread_mutex_t lock;
	_Atomic bool *wanted;		/* the screen waits for locks */
	int wake_fd;
	struct resched_trace *trace;
	struct resched_analysis *analysis;
	struct resched_outliers *outliers;
	uint64_t sorted_at;		/* events when the outliers were put in order */
	struct resched_index *index;	/* NULL until the recording is open */
	struct resched_report *report;	/* NULL until READY */
	struct resched_schedule info;
	struct resched_error err;
	/* recorded ones: the workload, made when first asked for */
	pthread_mutex_t workload_lock;
	struct resched_workload *workload;
	/* who is asked about queues and waits: the recording read once more, when first needed */
	pthread_mutex_t explain_lock;
	struct resched_trace *explain_trace;
	struct resched_explainer *explainer;
	_Atomic bool asking;		/* why its outliers waited */
	struct sched *model;		/* recorded ones: replayed under the kernel's own rules, for lag; NULL until asked for */
};

/* One question to the model, answered by a thread: a run queue at an instant, all of them, or why a task waited. */
enum look_slot { LOOK_QUEUE = 0, LOOK_OTHER_QUEUE, LOOK_WAIT, LOOK_TASKS, LOOK_NR };
struct look {
	pthread_t thread;
	_Atomic int state;		/* enum sched_state */
	bool started, is_wait, is_all;
	int wake_fd;
	struct sched *sched;
	uint64_t at_ns;
	unsigned int cpu;		/* of all queues: how many cpus */
	struct resched_wait wait;
	unsigned int nr_tasks;
	struct resched_queued_task *tasks;	/* of all queues; by pid */
	struct resched_explanation *result;
	struct resched_wait_why why;
	struct resched_error err;
};

/* @socket: of the daemon whose recorder is watched; NULL: where it is by default, when it answers and no @ring_bytes are given, else a
 * recorder of our own */
struct live_options { bool on; uint64_t ring_bytes; const char *socket; };

struct data { struct sched *scheds[MAX_SCHEDS]; unsigned int nr; bool locked; _Atomic bool wanted; int wake_fd; struct look looks[LOOK_NR]; };

int data_init(struct data *d, struct resched_error *err);
void data_release(struct data *d);	/* cancels and waits */
/* data_open() - begin to read a recording. Return: 0; -ENOSPC, -ENOMEM, -EAGAIN. */
int data_open(struct data *d, const char *file, struct resched_error *err);
/* data_live() - begin to record the running machine into memory. Return: as data_open(). */
int data_live(struct data *d, const struct live_options *opts, struct resched_error *err);
/* data_freeze() - write what the live schedule @of shows to @file, NULL: to a temporary one, and read it like any recording.
 * Return: its index; -errno. */
int data_freeze(struct data *d, struct sched *of, const char *file, struct resched_error *err);
/* sched_outliers() - those so far, in order. NULL: there is nothing yet. */
const struct resched_outliers *sched_outliers(struct sched *s);
/* Why there is no second reading of @s, for a replay or the model; NULL: there is. */
const char *sched_unreadable(struct sched *s);
/* data_replay() - begin to replay @of (or what it was made from) under @wish, which is taken over. Return: its index; -errno. */
int data_replay(struct data *d, struct sched *of, struct wish *wish, bool hidden, struct resched_error *err);
/* data_close() - forget a replayed schedule; others may not be looked at by its place any more. Waits for its builder. Locked. */
void data_close(struct data *d, struct sched *s);
void data_lock(struct data *d);
void data_unlock(struct data *d);
bool data_busy(const struct data *d);	/* is anything built that will end? */
bool data_lives(const struct data *d);	/* does anything go on for ever? */
struct sched *sched_recorded(struct sched *s);
/* sched_lag() - the index that has lag for tasks of @s: its own, or that of a replay under the kernel's own rules, begun by this call
 * (of a long recording only when @asked). The one place that decides where lag comes from. Return: NULL while there is none; *@what
 * says which. */
#define LAG_EVENTS 2000000u	/* a recording up to this long is replayed unasked */
const struct resched_index *sched_lag(struct data *d, struct sched *s, bool asked, const char **what);
/* data_look() - ask for a run queue; one at a time in each @slot. Return: the result when it is the one asked for; NULL: not yet,
 * *@why says. */
const struct resched_explanation *data_look(struct data *d, enum look_slot slot, struct sched *s, uint64_t at_ns, unsigned int cpu,
					    const char **why);
/* data_queued() - what the model knows of a task that was on a queue at an instant. Asks for all queues where the recording is not too
 * long. Return: NULL: not on a queue, not known, or not yet. */
#define QUEUED_MOST 16000000u	/* events times cpus: a second or two */
const struct resched_queued_task *data_queued(struct data *d, struct sched *s, uint64_t at_ns, int pid);
/* data_ask() - why a task of the recorded @s waited. Return: as data_look(). */
const struct resched_wait_why *data_ask(struct data *d, struct sched *s, const struct resched_wait *wait, const char **why);
const struct resched_task_row *sched_row(const struct sched *s, const struct resched_index_task *task);	/* of the report, NULL */

#endif
