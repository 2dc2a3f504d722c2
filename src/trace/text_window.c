// SPDX-License-Identifier: GPL-2.0-only
#include "trace/text_window.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM (4 * RS_WINDOW_EVENTS)

int rs_window_init(struct rs_window *w)
{
	w->events = malloc(ROOM * sizeof(*w->events));
	return w->events ? 0 : -ENOMEM;
}

void rs_window_release(struct rs_window *w)
{
	free(w->events);
	w->events = NULL;
}

static inline bool after(const struct rs_window *w, const struct resched_event *a, const struct resched_event *b)
{
	if (a->ts_ns != b->ts_ns)
		return a->ts_ns > b->ts_ns;
	return w->by_cpu && a->cpu > b->cpu;
}

/* Index of the first held event that belongs behind @ev. */
static uint32_t find_place(const struct rs_window *w, const struct resched_event *ev)
{
	uint32_t low = w->at, high = w->nr;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (after(w, &w->events[mid], ev))
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

void rs_window_put(struct rs_window *w, const struct resched_event *ev)
{
	uint32_t at;

	assert(rs_window_held(w) < 2 * RS_WINDOW_EVENTS);
	if (w->nr == ROOM) {
		memmove(w->events, w->events + w->at, rs_window_held(w) * sizeof(*w->events));
		w->nr -= w->at;
		w->at = 0;
	}
	if (ev->ts_ns >= w->newest_ns) {
		w->newest_ns = ev->ts_ns;
	} else if (ev->type != RESCHED_EV_COMM && ev->type != RESCHED_EV_LOST) {
		w->unsorted++;
		w->late += w->any && ev->ts_ns < w->last_seen_ns;
	}
	if (w->nr == w->at || !after(w, &w->events[w->nr - 1], ev)) {
		w->events[w->nr++] = *ev;
		return;
	}
	at = find_place(w, ev);
	memmove(w->events + at + 1, w->events + at, (w->nr - at) * sizeof(*w->events));
	w->events[at] = *ev;
	w->nr++;
}

const struct resched_event *rs_window_take(struct rs_window *w)
{
	struct resched_event *ev = &w->events[w->at++];

	if (!w->any || ev->ts_ns > w->last_seen_ns)
		w->last_seen_ns = ev->ts_ns;
	if (w->any && ev->ts_ns <= w->last_ns)
		ev->ts_ns = w->last_ns + (ev->cpu < w->last_cpu);
	w->any = true;
	w->last_ns = ev->ts_ns;
	w->last_cpu = ev->cpu;
	return ev;
}
