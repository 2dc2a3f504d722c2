/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits as the events come: who watches a stream that does not end hears of each wait when it is over. Paired as resched/analysis.h
 * says; one that touches a loss, or began before the first event, is not told. What a dead task leaves is forgotten, so that memory
 * grows with the tasks alive. One thread.
 */
#ifndef RESCHED_WAITS_H
#define RESCHED_WAITS_H

#include <stdint.h>
#include <resched/event.h>
#include <resched/names.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From a wakeup; since it was preempted; woken on its way to sleep. */
enum resched_wait_kind { RESCHED_WAIT_WAKE = 0, RESCHED_WAIT_PREEMPTED, RESCHED_WAIT_RACED };

struct resched_waited {
	int pid;
	unsigned int cpu;		/* where it got to run */
	enum resched_wait_kind kind;
	int own;			/* 1: a thread of the recorder */
	uint64_t from_ns, at_ns;
	const char *comm;		/* valid during the call; "?": not told */
};

typedef void (*resched_waited_fn)(void *ctx, const struct resched_waited *wait);

struct resched_waits;

/* resched_waits_new() - @max_tasks: others are not followed, 0: no limit. Return: 0; -ENOMEM. */
int resched_waits_new(unsigned int max_tasks, resched_waited_fn on_wait, void *ctx, struct resched_waits **ret);

/* resched_waits_begin() - a stream begins: nothing is known. @names: of its events; borrowed; NULL: there are none. */
void resched_waits_begin(struct resched_waits *waits, const struct resched_names *names);

/* resched_waits_event() - take the next event; a void pointer so that this is a resched_event_fn. Return: 0; -ENOMEM. */
int resched_waits_event(void *waits, const struct resched_event *event);

/* resched_waits_comm() - what @pid is called; "?": not told. Valid until the next event. */
const char *resched_waits_comm(const struct resched_waits *waits, int pid);

/* resched_waits_forget_names() - as after resched_flight_renew_names(). */
void resched_waits_forget_names(struct resched_waits *waits);

/* Tasks followed now; times that there was no room for one; losses. */
struct resched_waits_stats { unsigned int nr_tasks; uint64_t untracked, losses; };

void resched_waits_stats(const struct resched_waits *waits, struct resched_waits_stats *ret);

void resched_waits_free(struct resched_waits *waits);

#ifdef __cplusplus
}
#endif
#endif
