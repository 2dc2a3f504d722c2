// SPDX-License-Identifier: GPL-2.0-only
#include "replay/eventq.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int rs_eventq_init(struct rs_eventq *q, uint32_t nr_alarms)
{
	memset(q, 0, sizeof(*q));
	q->at = malloc(nr_alarms * sizeof(*q->at) + 1);
	q->pos = malloc(nr_alarms * sizeof(*q->pos) + 1);
	q->heap = malloc(nr_alarms * sizeof(*q->heap) + 1);
	q->nr_alarms = nr_alarms;
	if (!q->at || !q->pos || !q->heap) {
		rs_eventq_release(q);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < nr_alarms; i++) {
		q->at[i] = RS_NEVER;
		q->pos[i] = UINT32_MAX;
	}
	return 0;
}

void rs_eventq_release(struct rs_eventq *q)
{
	free(q->at);
	free(q->pos);
	free(q->heap);
	memset(q, 0, sizeof(*q));
}

#define CHILDREN 4u

static bool earlier(struct rs_alarm a, struct rs_alarm b)
{
	return a.at != b.at ? a.at < b.at : a.alarm < b.alarm;
}

static void put(struct rs_eventq *q, uint32_t place, struct rs_alarm it)
{
	q->heap[place] = it;
	q->pos[it.alarm] = place;
}

static void sift_up(struct rs_eventq *q, uint32_t place, struct rs_alarm it)
{
	while (place) {
		uint32_t parent = (place - 1) / CHILDREN;

		if (!earlier(it, q->heap[parent]))
			break;
		put(q, place, q->heap[parent]);
		place = parent;
	}
	put(q, place, it);
}

static void sift_down(struct rs_eventq *q, uint32_t place, struct rs_alarm it)
{
	for (;;) {
		uint32_t child = CHILDREN * place + 1, first = child;
		uint32_t end = first + CHILDREN < q->nr ? first + CHILDREN : q->nr;

		if (first >= q->nr)
			break;
		while (++child < end) {
			if (earlier(q->heap[child], q->heap[first]))
				first = child;
		}
		if (!earlier(q->heap[first], it))
			break;
		put(q, place, q->heap[first]);
		place = first;
	}
	put(q, place, it);
}

static void take_out(struct rs_eventq *q, uint32_t alarm)
{
	uint32_t place = q->pos[alarm];
	struct rs_alarm last = q->heap[--q->nr];

	q->pos[alarm] = UINT32_MAX;
	if (last.alarm == alarm)
		return;
	if (place && earlier(last, q->heap[(place - 1) / CHILDREN]))
		sift_up(q, place, last);
	else
		sift_down(q, place, last);
}

void rs_eventq_set(struct rs_eventq *q, uint32_t alarm, uint64_t at_ns)
{
	struct rs_alarm it = { at_ns, alarm };
	uint64_t old = q->at[alarm];

	if (old == at_ns)
		return;
	q->at[alarm] = at_ns;
	if (at_ns == RS_NEVER)
		take_out(q, alarm);
	else if (q->pos[alarm] == UINT32_MAX)
		sift_up(q, q->nr++, it);
	else if (at_ns < old)
		sift_up(q, q->pos[alarm], it);
	else
		sift_down(q, q->pos[alarm], it);
}
