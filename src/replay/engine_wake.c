// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wakings. One takes effect at once, unless the queue it goes to is locked by a schedule, or its cpu is sent the wakee and queues it itself.
 * Kernel: try_to_wake_up().
 */
#include "replay/engine_core.h"
#include "replay/place.h"

/* Is the schedule of @c that shows at @switch_ns under way, its clock read and its queue locked? */
static bool under_way(const struct rs_engine *e, uint64_t switch_ns, int32_t clock_ns, uint64_t lead)
{
	if (clock_ns != RS_UNKNOWN && clock_ns <= 0)
		lead = (uint64_t) - (int64_t)clock_ns;
	return switch_ns != RS_NEVER && switch_ns > e->now_ns && switch_ns - e->now_ns < lead;
}

/* When the schedule in which the running task of @c leaves shows, if it is under way; else 0. */
uint64_t rs_eng_leaves_at(const struct rs_engine *e, const struct rs_cpu *c)
{
	const struct rs_runner *r = c->curr;
	const struct rs_op *op = r ? current_op(r) : NULL;
	uint64_t at;

	if (!op || (op->kind != RS_OP_BLOCK && op->kind != RS_OP_EXIT))
		return 0;
	if (op->kind == RS_OP_BLOCK && (r->tokens || (op->rule == RS_RULE_REQUEST && r->first_asking)) && waits_for_task(e, op))
		return 0; /* it does not sleep */
	at = add_capped(c->since_ns, r->left_ns);
	return under_way(e, at, op->clock_ns, e->workload->switch_lead_ns) ? at : 0;
}

/* Likewise any schedule. */
static uint64_t schedule_ends(const struct rs_engine *e, const struct rs_cpu *c)
{
	uint64_t pending = rs_eventq_at(&e->alarms, cpu_alarm(e, c, ALARM_SWITCH));

	return under_way(e, pending, RS_UNKNOWN, e->workload->switch_lead_ns) ? pending : rs_eng_leaves_at(e, c);
}

/*
 * When a waking by @by gets hold of the queue of @to; 0: now. A cpu that has just nothing to run, but does not idle yet, is sent the wakee
 * and queues it when it takes interrupts again: as long after as recorded (ttwu_queue_cond(), sched_ttwu_pending()).
 */
static uint64_t takes_effect(const struct rs_engine *e, const struct rs_cpu *by, const struct rs_cpu *to, const struct rs_op *why)
{
	uint64_t ends;

	if (e->place || to == by)
		return 0;
	if (why->kind == RS_OP_WAKE && why->len_ns && to->curr)
		return e->now_ns + why->len_ns;
	ends = schedule_ends(e, to);
	return ends ? ends + 1 : 0; /* right after it */
}

/* Still queued: it becomes runnable where it is, before anything is accounted (ttwu_runnable()). */
static void wake_delayed(struct rs_engine *e, struct rs_runner *r, const struct rs_cpu *by, const struct rs_op *why)
{
	struct rs_cpu *c = cpu_of(e, r->cpu);

	e->ops->wakeup_queued(&c->rq, &r->fair);
	rs_place_undelayed(e, r);
	r->state = RS_RUN_QUEUED;
	list_add(c, r);
	rs_eng_wait_begins(e, r);
	set_clock(c, rs_eng_waking_clock(e, why));
	if (e->placement == RESCHED_PLACE_RECORDED && r->place != c->rq.cpu && rs_runner_allowed(e, r, r->place)) {
		rs_eng_detach_waiting(e, r, e->now_ns);
		rs_eng_emit_migrate(e, r, by->rq.cpu, c->rq.cpu, r->place);
		rs_eng_attach(e, cpu_of(e, r->place), r, RS_ENQ_MIGRATED, why);
	} else {
		rs_eng_test_preemption(e, c, r, RS_ENQ_WAKEUP, why);
	}
}

/* The waking of @r gets hold of the queue. */
static void wake(struct rs_engine *e, struct rs_runner *r, const struct rs_cpu *by, const struct rs_op *why, bool irq, unsigned int to)
{
	if (is_fair(r) && r->fair.delayed) {
		wake_delayed(e, r, by, why);
	} else {
		if (to != r->cpu)
			rs_eng_emit_migrate(e, r, by->rq.cpu, r->cpu, to);
		rs_eng_attach(e, cpu_of(e, to), r, RS_ENQ_WAKEUP, why);
	}
	rs_eng_emit_wake(e, RESCHED_EV_WAKEUP, r, by, r->cpu, irq);
}

void rs_eng_woken(struct rs_engine *e, struct rs_runner *r)
{
	rs_eventq_set(&e->alarms, task_alarm(e, r), RS_NEVER);
	e->waking_ago_ns = e->now_ns - r->waking_ns;
	wake(e, r, cpu_of(e, r->waking_by), r->waking_why, r->waking_irq, r->waking_to);
	e->waking_ago_ns = 0;
}

/* End of a sleep. @by: the cpu where the waking happens; @why: the operation that stands for it. */
void rs_eng_wake_up(struct rs_engine *e, struct rs_runner *r, struct rs_cpu *by, const struct rs_op *why, bool irq)
{
	unsigned int from = r->cpu, to = from;
	uint64_t at;

	rs_eventq_set(&e->alarms, task_alarm(e, r), RS_NEVER);
	rs_eng_sleep_ends(e, r);
	r->awaits_requests = 0;
	rs_eng_next_op(r);
	if (!is_fair(r) || !r->fair.delayed)
		to = rs_place_wakeup(e, r, by->rq.cpu, irq);
	rs_eng_emit_wake(e, RESCHED_EV_WAKING, r, by, from, irq);
	at = takes_effect(e, by, cpu_of(e, to), why);
	if (!at) {
		wake(e, r, by, why, irq, to);
		return;
	}
	r->state = RS_RUN_WAKING;
	r->waking_why = why;
	r->waking_ns = e->now_ns;
	r->waking_by = (uint16_t)by->rq.cpu;
	r->waking_to = (uint16_t)to;
	r->waking_irq = irq;
	rs_eventq_set(&e->alarms, task_alarm(e, r), at);
}
