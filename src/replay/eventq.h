/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The engine's clockwork: a fixed number of alarms, each set to one instant or off. The next one is found
 * in O(1), setting costs O(log of those that are set). Equal instants go by alarm number, so the order is total.
 */
#ifndef RS_REPLAY_EVENTQ_H
#define RS_REPLAY_EVENTQ_H

#include <stdint.h>

#define RS_NEVER UINT64_MAX

struct rs_alarm { uint64_t at; uint32_t alarm; };

struct rs_eventq {
	uint64_t *at;		/* by alarm; RS_NEVER = off */
	uint32_t *pos;		/* by alarm: place in heap, UINT32_MAX = off */
	struct rs_alarm *heap;	/* of four children, with the instants beside: few cache lines however many alarms are set */
	uint32_t nr, nr_alarms;
};

int rs_eventq_init(struct rs_eventq *q, uint32_t nr_alarms);	/* 0; -ENOMEM */
void rs_eventq_release(struct rs_eventq *q);
void rs_eventq_set(struct rs_eventq *q, uint32_t alarm, uint64_t at_ns);	/* RS_NEVER switches it off */

static inline uint64_t rs_eventq_at(const struct rs_eventq *q, uint32_t alarm)
{
	return q->at[alarm];
}

/* The next alarm, UINT32_MAX when none is set. */
static inline uint32_t rs_eventq_first(const struct rs_eventq *q)
{
	return q->nr ? q->heap[0].alarm : UINT32_MAX;
}

#endif
