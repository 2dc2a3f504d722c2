/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits, as resched/waits.h hears of them: summed up per task, cgroup and host, bounded in memory. Each is also handed to a listener
 * (the triggers).
 */
#ifndef DAEMON_WATCH_H
#define DAEMON_WATCH_H

#include <stdbool.h>
#include <json-c/json.h>
#include <resched/event.h>
#include <resched/host.h>
#include <resched/names.h>
#include <resched/waits.h>
#include "daemon/cgroups.h"

struct wait {
	int pid;
	unsigned int cpu;
	bool is_wake;			/* from waking to running; else it was preempted, or woken on its way to sleep */
	uint64_t ns, end_ns;		/* end: on the recording's clock */
	const char *comm, *cgroup;	/* valid during the call */
};

typedef void (*wait_fn)(void *ctx, const struct wait *wait);

struct watch_task;

struct watch {
	struct cgroups cgroups;
	struct resched_waits *waits;
	wait_fn on_wait; void *ctx;
	unsigned int nr, max, slots;		/* tasks with figures; slots a power of two */
	struct watch_task *tasks;
	unsigned int lookups, sweep;		/* /proc asked in this interval; where the refreshing goes on */
};

int watch_init(struct watch *watch, unsigned int max_tasks, unsigned int max_cgroups);	/* Return: 0; -ENOMEM */
void watch_release(struct watch *watch);
/* watch_begin() - a stream begins: nothing is known of any task but what @host (may be NULL) says. */
void watch_begin(struct watch *watch, const struct resched_names *names, const struct resched_host *host);
void watch_forget_names(struct watch *watch);	/* they will be told again */
int watch_event(void *watch, const struct resched_event *event);	/* a resched_event_fn */
/* watch_sample() - the figures of this interval: host, and the @top tasks and cgroups by sum of waits. */
struct json_object *watch_sample(const struct watch *watch, unsigned int top);
void watch_next_interval(struct watch *watch);

#endif
