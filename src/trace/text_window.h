/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A bounded window in which events that come out of order are put in order. Nearly always they come in order, so this is a
 * sorted array that is appended to. Equal stamps keep the order in which they came.
 */
#ifndef RS_TRACE_TEXT_WINDOW_H
#define RS_TRACE_TEXT_WINDOW_H

#include <stdbool.h>
#include <stdint.h>
#include <resched/event.h>

#define RS_WINDOW_EVENTS 4096u

struct rs_window {
	struct resched_event *events;	/* [at, nr) are held, ascending */
	uint32_t at, nr;
	bool by_cpu;			/* equal stamps in ascending cpu: stamps are exact. Else as they came: stamps are rounded */
	bool any;
	uint64_t newest_ns;		/* latest stamp taken in */
	uint64_t last_ns, last_seen_ns;	/* of the event given out last: its stamp, and the one it came with */
	uint16_t last_cpu;
	uint64_t unsorted, late;	/* out of order; of them those after a later event had been given out */
};

int rs_window_init(struct rs_window *w);	/* Return: 0; -ENOMEM */
void rs_window_release(struct rs_window *w);

static inline uint32_t rs_window_held(const struct rs_window *w)
{
	return w->nr - w->at;
}

/* rs_window_put() - take in an event; at most 2 * RS_WINDOW_EVENTS may be held. */
void rs_window_put(struct rs_window *w, const struct resched_event *ev);

/*
 * rs_window_take() - the earliest event held (there must be one), fit to follow the one before: a late one gets that one's
 * stamp, and where rounding made stamps equal a ns is added so that their order stays that of the text. Valid until the next put.
 */
const struct resched_event *rs_window_take(struct rs_window *w);

#endif
