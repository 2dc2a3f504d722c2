/* SPDX-License-Identifier: GPL-2.0-only */
/* Which tasks a record of an event names, in every format that keeps names inside its records. */
#ifndef RS_BASE_EVENT_NAMES_H
#define RS_BASE_EVENT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include <resched/event.h>

static inline bool rs_event_is_wake(const struct resched_event *ev)
{
	return ev->type == RESCHED_EV_WAKING || ev->type == RESCHED_EV_WAKEUP || ev->type == RESCHED_EV_WAKEUP_NEW;
}

/* rs_event_names() - does the record of @ev hold the name of @pid? Wakers are not named; an exec has a path, which is no name. */
static inline bool rs_event_names(const struct resched_event *ev, int32_t pid)
{
	switch (ev->type) {
	case RESCHED_EV_SWITCH:
		return pid == ev->pid || pid == ev->sw.next_pid;
	case RESCHED_EV_FORK:
		return pid == ev->pid || pid == ev->fork.child_pid;
	case RESCHED_EV_WAKING:
	case RESCHED_EV_WAKEUP:
	case RESCHED_EV_WAKEUP_NEW:
	case RESCHED_EV_MIGRATE:
	case RESCHED_EV_EXIT:
	case RESCHED_EV_PRIO:
	case RESCHED_EV_RUNTIME:
		return pid == ev->pid;
	default:
		return false;
	}
}

#endif
