/* SPDX-License-Identifier: GPL-2.0-only */
/* How schedules are built: data.c for those of files and replays, live.c for the running machine. */
#ifndef TUI_BUILD_H
#define TUI_BUILD_H

#include "tui/data.h"

/* sched_new() - one that is not among the others yet. */
struct sched *sched_new(struct data *d, struct resched_error *err);
void sched_free(struct sched *s);
/* sched_start() - among the others from now on, built by @fn. On failure it is gone. */
int sched_start(struct data *d, struct sched *s, void *(*fn)(void *), struct resched_error *err);
/* sched_set_up() - an analysis with outliers and an index. Locked. */
int sched_set_up(struct sched *s, const struct resched_host *host, struct resched_names *names);
/* sched_add_event() - Locked; lets go of the lock now and then. Return: 0; -ECANCELED; -ENOMEM. */
int sched_add_event(struct sched *s, const struct resched_event *event);
/* sched_finish() - it is whole, or with a negative @rc failed. Unlocks. */
void sched_finish(struct sched *s, int rc);
void *sched_read(void *sched);		/* a thread: read @sched->file */
void live_release(struct sched *s);

#endif
