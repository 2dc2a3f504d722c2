// SPDX-License-Identifier: GPL-2.0-only
/*
 * Switches that a recording lacks although no buffer lost anything: a cpu switches from a task that it had not switched to. Some hosts keep
 * tasks out of every trace (agents of the hypervisor); a filter or another program's trace may do the same. Left as it is, the task that
 * vanished would stay queued for ever.
 *
 * What came next on the cpu tells who followed it, what it charged tells since when, and what happens to the task next tells whether it
 * slept: it is woken, or it runs again without.
 */
#include "replay/shadow.h"

#include "base/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NOBODY_KNOWN (-1)

/* Who is on a cpu by its last switch, and what it recorded since. */
struct seat {
	int32_t pid; /* NOBODY_KNOWN: before the first switch, or after a loss */
	int16_t prio;
	uint64_t last_ns; /* its last event */
	struct resched_event charge; /* the first RUNTIME of a task that is not @pid; ts_ns 0: none */
	uint64_t before_charge_ns; /* the event before that */
};

struct made_up {
	struct resched_event event;
	uint32_t before; /* event that it goes in front of */
};

struct filler {
	struct rs_shadow_log *log;
	struct seat *seats;
	struct made_up *list;
	uint32_t nr, room;
	struct rs_map open; /* pid -> entry of list[] whose task has not been seen since */
};

/* When the task that @e switches away from began to run: as long before its charge as it was charged for. */
static uint64_t began_ns(const struct seat *seat, const struct resched_event *e)
{
	uint64_t at;

	if (seat->charge.ts_ns && seat->charge.pid == e->pid) {
		at = seat->charge.ts_ns - seat->charge.runtime.runtime_ns;
		return at > seat->before_charge_ns && at < seat->charge.ts_ns ? at : seat->before_charge_ns;
	}
	return seat->last_ns;
}

static int make_up(struct filler *f, struct seat *seat, uint32_t idx)
{
	const struct resched_event *e = &f->log->events[idx];
	struct made_up *m;

	if (f->nr == f->room) {
		uint32_t room = f->room ? f->room * 2 : 64;
		struct made_up *more = realloc(f->list, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		f->list = more;
		f->room = room;
	}
	m = &f->list[f->nr];
	*m = (struct made_up){ .before = idx, .event = { .type = RESCHED_EV_SWITCH, .cpu = e->cpu, .pid = seat->pid, .ctx = RS_CTX_MADE_UP } };
	m->event.ts_ns = began_ns(seat, e);
	m->event.sw.next_pid = e->pid;
	m->event.sw.prev_prio = seat->prio;
	m->event.sw.next_prio = e->sw.prev_prio;
	m->event.sw.prev_state = RESCHED_STATE_S;
	while (m->before && f->log->events[m->before - 1].ts_ns > m->event.ts_ns)
		m->before--;
	return seat->pid ? rs_map_set(&f->open, (uint32_t)seat->pid, f->nr++) : (f->nr++, 0);
}

/* @pid is seen again; @woken: because it is woken. */
static void close_open(struct filler *f, int32_t pid, bool woken)
{
	uint32_t at = pid > 0 ? rs_map_get(&f->open, (uint32_t)pid) : RS_MAP_NONE;

	if (at == RS_MAP_NONE)
		return;
	if (!woken)
		f->list[at].event.sw.prev_state = RESCHED_STATE_RUNNING;
	rs_map_drop(&f->open, (uint32_t)pid);
}

static int look_at(struct filler *f, uint32_t idx)
{
	const struct resched_event *e = &f->log->events[idx];
	struct seat *seat = &f->seats[e->cpu];
	int rc = 0;

	switch (e->type) {
	case RESCHED_EV_LOST:
		seat->pid = NOBODY_KNOWN;
		break;
	case RESCHED_EV_WAKING:
	case RESCHED_EV_WAKEUP:
		close_open(f, e->pid, true);
		break;
	case RESCHED_EV_RUNTIME:
		if (e->pid != seat->pid && !seat->charge.ts_ns) {
			seat->charge = *e;
			seat->before_charge_ns = seat->last_ns;
		}
		break;
	case RESCHED_EV_SWITCH:
		if (seat->pid != NOBODY_KNOWN && seat->pid != e->pid) {
			rc = make_up(f, seat, idx);
			close_open(f, e->pid, false);
		}
		close_open(f, e->sw.next_pid, false);
		seat->pid = e->sw.next_pid;
		seat->prio = e->sw.next_prio;
		seat->charge.ts_ns = 0;
		break;
	default:
		break;
	}
	if (e->type != RESCHED_EV_COMM)
		seat->last_ns = e->ts_ns;
	return rc;
}

static int compare_places(const void *a, const void *b)
{
	const struct made_up *x = a, *y = b;

	if (x->before != y->before)
		return x->before < y->before ? -1 : 1;
	return x->event.ts_ns < y->event.ts_ns ? -1 : x->event.ts_ns > y->event.ts_ns;
}

static int put_in(struct filler *f)
{
	struct rs_shadow_log *log = f->log;
	struct resched_event *events = malloc((log->nr + f->nr) * sizeof(*events));
	uint32_t out = 0, next = 0;

	if (!events)
		return -ENOMEM;
	qsort(f->list, f->nr, sizeof(*f->list), compare_places);
	for (uint32_t i = 0; i < log->nr; i++) {
		for (; next < f->nr && f->list[next].before == i; next++)
			events[out++] = f->list[next].event;
		events[out++] = log->events[i];
	}
	free(log->events);
	log->events = events;
	log->nr = log->room = out;
	log->nr_made_up = f->nr;
	return 0;
}

int rs_shadow_log_fill(struct rs_shadow_log *log)
{
	struct filler f = { .log = log, .seats = calloc(log->nr_cpus + 1u, sizeof(*f.seats)) };
	int rc = f.seats ? 0 : -ENOMEM;

	for (unsigned int i = 0; rc == 0 && i < log->nr_cpus; i++)
		f.seats[i].pid = NOBODY_KNOWN;
	for (uint32_t i = 0; rc == 0 && i < log->nr; i++)
		rc = look_at(&f, i);
	if (rc == 0 && f.nr)
		rc = put_in(&f);
	rs_map_release(&f.open);
	free(f.seats);
	free(f.list);
	return rc;
}
