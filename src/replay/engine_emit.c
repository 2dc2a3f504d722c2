// SPDX-License-Identifier: GPL-2.0-only
/* Events of the schedule, in the form of a recording's. */
#include "replay/engine_core.h"

void rs_eng_emit(struct rs_engine *e, struct resched_event *event)
{
	event->ts_ns = e->now_ns;
	e->nr_events++;
	if (e->sink && !e->error) {
		int rc = e->sink(e->sink_ctx, event);

		if (rc < 0)
			e->error = rc;
	}
}

void rs_eng_emit_comm(struct rs_engine *e, const struct rs_runner *r, unsigned int cpu, bool renamed)
{
	struct resched_event ev = { .type = RESCHED_EV_COMM, .pid = pid_of(r), .cpu = (uint16_t)cpu, .comm = { .name = r->comm, .renamed = renamed } };

	if (r->comm != UINT32_MAX)
		rs_eng_emit(e, &ev);
}

void rs_eng_emit_wake(struct rs_engine *e, enum resched_event_type type, const struct rs_runner *r, const struct rs_cpu *by,
		      unsigned int target, bool irq)
{
	struct resched_event ev = { .type = (uint8_t)type, .pid = pid_of(r), .cpu = (uint16_t)by->rq.cpu, .ctx = irq ? RESCHED_CTX_HARDIRQ : 0, .wake = { .waker_pid = pid_of(by->curr), .prio = (int16_t)r->prio, .target_cpu = (uint16_t)target } };

	rs_eng_emit(e, &ev);
}

void rs_eng_emit_migrate(struct rs_engine *e, const struct rs_runner *r, unsigned int by, unsigned int from, unsigned int to)
{
	struct resched_event ev = { .type = RESCHED_EV_MIGRATE, .pid = pid_of(r), .cpu = (uint16_t)by, .migrate = { .prio = (int16_t)r->prio, .from_cpu = (uint16_t)from, .to_cpu = (uint16_t)to } };

	rs_eng_emit(e, &ev);
}

void rs_eng_emit_switch(struct rs_engine *e, const struct rs_cpu *c, const struct rs_runner *prev, const struct rs_runner *next,
			uint32_t state)
{
	struct resched_event ev = { .type = RESCHED_EV_SWITCH, .pid = pid_of(prev), .cpu = (uint16_t)c->rq.cpu, .sw = { .next_pid = pid_of(next), .prev_prio = (int16_t)(prev ? prev->prio : DEFAULT_PRIO), .next_prio = (int16_t)(next ? next->prio : DEFAULT_PRIO), .prev_state = state } };

	rs_eng_emit(e, &ev);
}
