// SPDX-License-Identifier: GPL-2.0-only
/* One stream in time order, merged from per-cpu streams by a binary heap. */
#include "trace/trace_state.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/event_names.h"

static bool earlier(const struct cpu_stream *a, const struct cpu_stream *b)
{
	if (a->next->ev.ts_ns != b->next->ev.ts_ns)
		return a->next->ev.ts_ns < b->next->ev.ts_ns;
	return a->next->ev.cpu < b->next->ev.cpu;
}

static void sift_down(struct resched_trace *t, unsigned int at)
{
	struct cpu_stream *moved = t->heap[at];

	for (;;) {
		unsigned int child = at * 2 + 1;

		if (child >= t->nr_heap)
			break;
		if (child + 1 < t->nr_heap && earlier(t->heap[child + 1], t->heap[child]))
			child++;
		if (!earlier(t->heap[child], moved))
			break;
		t->heap[at] = t->heap[child];
		at = child;
	}
	t->heap[at] = moved;
}

/* Put the next event of a cpu into s->next. Return: 1; 0 at its end; -ENOMEM. */
static int advance(struct resched_trace *t, struct cpu_stream *s)
{
	int rc = 1;

	if (s->after_lost) {
		s->next = s->after_lost;
		s->after_lost = NULL;
		return 1;
	}
	if (t->ahead) {
		rc = rs_ahead_next(t->ahead, s->at, &s->next, &t->shared);
	} else {
		s->next = &s->own;
		rc = rs_lane_next(&s->lane, s->next);
	}
	if (rc > 0) {
		s->last_ts = s->next->ev.ts_ns;
		t->backwards += s->next->backwards;
		t->short_records += s->next->too_short;
	}
	return rc;
}

/*
 * Buffers that were overwritten begin at different times. What a cpu did before its first event is as unknown as in a gap while
 * other cpus tell of that time; a cpu that begins first has nothing to be unsure about.
 */
static void mark_overwritten(struct resched_trace *t)
{
	uint64_t first_ns = t->nr_heap ? t->heap[0]->next->ev.ts_ns : 0;

	for (unsigned int i = 0; i < t->nr_heap; i++) {
		struct cpu_stream *s = t->heap[i];

		if (!s->lane.overwritten || s->next->ev.ts_ns <= first_ns || !s->next->kind)
			continue;
		s->lost.ev = s->next->ev;
		rs_item_set_lost(&s->lost, 0);
		s->after_lost = s->next;
		s->next = &s->lost;
	}
}

/* The first event of each cpu, from @places on when they are given. */
int rs_trace_begin_streams(struct resched_trace *t, const struct rs_place *places)
{
	t->nr_heap = 0;
	for (unsigned int i = 0; i < t->nr_streams; i++) {
		struct cpu_stream *s = &t->streams[i];
		int rc;

		rs_lane_release(&s->lane);
		*s = (struct cpu_stream){ .at = i };
		rs_lane_init(&s->lane, &t->dec, &t->shared, &t->buf->cpus[i]);
		s->lane.times = t->dat.times.active ? &t->dat.times : NULL;
		if (places)
			rs_seek_go(&s->lane.in, &places[i]);
		rc = advance(t, s);
		if (rc < 0)
			return rc;
		if (rc)
			t->heap[t->nr_heap++] = s;
	}
	for (unsigned int i = t->nr_heap / 2; i-- > 0;)
		sift_down(t, i);
	mark_overwritten(t);
	return 0;
}

/*
 * After the last event: a loss for every cpu whose data ended before it should or with a loss, one ns later than everything, so that
 * nobody takes its silence for idleness.
 */
static int tail(struct resched_trace *t, const struct resched_event **ret)
{
	while (t->tail_cpu < t->nr_streams) {
		struct cpu_stream *s = &t->streams[t->tail_cpu++];
		struct resched_event *ev = &t->out[0];

		if (!s->lane.ended_early && !s->lane.lost_after)
			continue;
		if (!s->lane.ended_early)
			;	/* a loss like any other, but for the event behind it */
		else if (s->seen)
			rs_note_damage(&t->notes, "file ends early: CPU%u is cut; its events up to %llu.%09llu s are used", s->lane.in.cpu,
				       (unsigned long long)(s->last_ts / 1000000000), (unsigned long long)(s->last_ts % 1000000000));
		else
			rs_note_damage(&t->notes, "file ends early: no event of CPU%u can be read", s->lane.in.cpu);
		if (!t->any)
			continue;
		memset(ev, 0, sizeof(*ev));
		ev->ts_ns = t->source.last_ns + 1;
		ev->cpu = (uint16_t)s->lane.in.cpu;
		ev->type = RESCHED_EV_LOST;
		if (s->lane.lost_after != RS_PAGE_LOST_UNKNOWN)
			ev->lost.count = s->lane.lost_after;
		t->source.lost_events += ev->lost.count ? ev->lost.count : 1;
		t->source.lost_gaps++;
		*ret = ev;
		return 1;
	}
	return rs_trace_finish(t);
}

/* Counts and span; synthesised events are no part of them. */
static inline void account(struct resched_trace *t, struct cpu_stream *s)
{
	const struct rs_item *it = s->next;

	if (it == &s->lost)
		return;		/* what was overwritten before the recording's own time is no loss of it */
	if (!it->kind) {
		t->source.lost_gaps++;
		t->source.lost_events += it->ev.lost.count ? it->ev.lost.count : 1;
		return;
	}
	it->kind->count++;
	t->delivered = true;
	t->source.total_events++;
	t->source.last_ns = it->ev.ts_ns;
	if (!t->any) {
		t->any = true;
		t->source.first_ns = it->ev.ts_ns;
	}
	s->seen = true;
}

static int next_event(struct resched_trace *t, const struct resched_event **ret, struct resched_error *err)
{
	struct cpu_stream *s;
	struct rs_item *it;
	bool swallow = false;
	int n = 0, rc;

	t->has_truth = false;
	if (t->ops)
		return t->ops->next(t->reader, ret, err);
	if (t->at_out < t->nr_out) {
		*ret = &t->out[t->at_out++];
		return 1;
	}
	if (t->passed) {
		if (rs_trace_finish(t) < 0)
			goto nomem;
		return 0;
	}
	if (!t->nr_heap) {
		rc = tail(t, ret);
		if (rc < 0)
			goto nomem;
		return rc;
	}
	s = t->heap[0];
	it = s->next;
	if (it->ev.type == RESCHED_EV_TRUTH) {
		rs_truth_load(it->kind && it->kind->record == RS_REC_START ? &t->dec.start : &t->dec.truth, it->data, t->dec.swap, &t->truth);
		t->has_truth = true;
	} else if (it->kind && it->kind->record != RS_REC_OTHER) {
		n = rs_decode_names(&t->dec, &t->comms, it->kind, it->data, it->len, &it->ev, t->out, &swallow, &t->rename_seen);
		if (n < 0)
			goto nomem;
		if (it->ev.type == RESCHED_EV_COMM && !swallow) {	/* renamed to what it was */
			it->ev.type = RESCHED_EV_OTHER;
			it->ev.pid = 0;
			memset(&it->ev.sw, 0, sizeof(it->ev) - offsetof(struct resched_event, sw));
		}
	}
	if (!swallow)
		t->out[n++] = it->ev;
	t->passed = t->until_ns && it->ev.ts_ns > t->until_ns;
	t->nr_out = n;
	t->at_out = 1;
	*ret = &t->out[0];
	account(t, s);
	rc = advance(t, s);
	if (rc < 0)
		goto nomem;
	if (!rc) {
		t->heap[0] = t->heap[--t->nr_heap];
		if (!t->nr_heap)
			return 1;
	}
	if (t->nr_heap > 1)
		sift_down(t, 0);
	return 1;
nomem:
	t->nr_heap = 0;
	t->nr_out = t->at_out = 0;
	(void)rs_trace_finish(t);
	return rs_error_nomem(err);
}

/* What is told of the source is of a part of it. */
static void note_window(struct resched_trace *t)
{
	rs_note(&t->notes, "only what is needed for the window was read, up to %.6f: counts, losses and warnings are of that part, and what tasks did "
		"before %.6f is not known", (double)t->source.last_ns / 1e9, (double)t->source.read_from_ns / 1e9);
}

/* A cpu that no kernel has: consumers keep tables by cpu. */
static bool names_no_cpu(const struct resched_event *ev)
{
	if (ev->cpu >= RS_DAT_MAX_CPUS)
		return true;
	if (rs_event_is_wake(ev))
		return ev->wake.target_cpu >= RS_DAT_MAX_CPUS;
	return ev->type == RESCHED_EV_MIGRATE && (ev->migrate.from_cpu >= RS_DAT_MAX_CPUS || ev->migrate.to_cpu >= RS_DAT_MAX_CPUS);
}

int resched_trace_next(struct resched_trace *t, const struct resched_event **ret, struct resched_error *err)
{
	int rc;

	while ((rc = next_event(t, ret, err)) > 0) {
		if (!names_no_cpu(*ret)) {
			rs_edges_event(&t->edges, *ret);
			return rc;
		}
		t->no_cpu++;
	}
	if (!t->told) {
		if (t->windowed)
			note_window(t);
		else
			rs_edges_finish(&t->edges, &t->source, &t->notes);
		if (t->no_cpu)
			rs_note_damage(&t->notes, "%llu events name a CPU above %u and are left out", (unsigned long long)t->no_cpu, RS_DAT_MAX_CPUS - 1);
	}
	t->told = true;
	rs_notes_finish(&t->notes);
	rs_trace_refresh_source(t);
	return rc;
}
