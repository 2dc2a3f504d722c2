// SPDX-License-Identifier: GPL-2.0-only
/* Programs, and how tasks come onto queues and leave them. */
#include "replay/engine_core.h"
#include "replay/place.h"

#define NOT_SCALED_PPM 1000000u

static uint64_t scaled(uint64_t ns, uint64_t ppm)
{
	return ppm == NOT_SCALED_PPM ? ns : (uint64_t)((unsigned __int128)ns * ppm / NOT_SCALED_PPM);
}

/* Demand before the operation that comes next. */
void rs_runner_load(struct rs_runner *r)
{
	const struct rs_op *op = current_op(r);

	r->left_ns = op ? scaled(op->run_ns, r->scale_ppm) : 0;
}

void rs_eng_next_op(struct rs_runner *r)
{
	do
		r->op++;
	while (r->op < r->program->nr_ops && moves_asleep(&r->program->ops[r->op]));
	if (r->op >= r->program->nr_ops && r->program->loop_to < r->program->nr_ops) {
		r->op = r->program->loop_to;
		r->looped = 1;
	}
	rs_runner_load(r);
}

/* ---- asking for a switch ---- */

void rs_eng_request_switch(struct rs_engine *e, struct rs_cpu *c, uint64_t delay)
{
	if (!alarm_is_set(e, c, ALARM_SWITCH))
		set_alarm(e, c, ALARM_SWITCH, e->now_ns + delay);
}

/* After anything that touched the queue: accounting alone may have ended a slice. */
void rs_eng_check_resched(struct rs_engine *e, struct rs_cpu *c, uint64_t delay)
{
	if (c->rq.need_resched && c->curr && (e->in_irq || !c->curr->exiting))
		rs_eng_request_switch(e, c, delay);
}

/* @r was just queued on @c: does it get the cpu? @why: the operation that woke it, or NULL. Kernel: check_preempt_curr(),
 * wakeup_preempt(). */
void rs_eng_test_preemption(struct rs_engine *e, struct rs_cpu *c, struct rs_runner *r, unsigned int flags, const struct rs_op *why)
{
	int32_t delay = why ? why->delay_ns : RS_UNKNOWN;

	if (delay > 0)
		delay = (uint64_t)delay > e->waking_ago_ns ? (int32_t)((uint64_t)delay - e->waking_ago_ns) : 0;

	if (!c->curr) {
		if (why && !alarm_is_set(e, c, ALARM_SWITCH))
			c->switch_clock_ns = why->idle_clock_ns;
		rs_eng_request_switch(e, c, known_or(delay, e->idle_exit_ns));
		return;
	}
	if (!is_fair(r)) {
		if (r->prio < c->curr->prio) {
			c->reuse_clock = true;
			rs_eng_request_switch(e, c, known_or(delay, e->preempt_delay_ns));
		}
		return;
	}
	if (!is_fair(c->curr) || !c->rq.curr)
		return;
	e->ops->wakeup_preempt(&c->rq, &r->fair, flags);
	rs_place_reap(e, c->rq.cpu);	/* the test may pick, and a pick lets delayed tasks go */
	if (c->rq.need_resched)
		c->reuse_clock = true; /* rq_clock_skip_update(): the schedule reuses this wakeup's clock */
	rs_eng_check_resched(e, c, known_or(delay, e->preempt_delay_ns));
}

/* High resolution tick at the end of the slice: armed when a task gets the cpu or others join its queue, not when a pick
 * keeps it. Kernel: hrtick_start_fair(), hrtick_update(). */
void rs_eng_arm_hrtick(struct rs_engine *e, struct rs_cpu *c)
{
	uint64_t ns = c->rq.curr && e->ops->next_timer ? e->ops->next_timer(&c->rq) : 0;

	set_alarm(e, c, ALARM_HRTICK, ns ? e->now_ns + ns : RS_NEVER);
}

/* ---- queueing ---- */

/* Policy's clock when a waking is handled; @why: its operation, NULL for moves and the like. */
uint64_t rs_eng_waking_clock(const struct rs_engine *e, const struct rs_op *why)
{
	if (!why || why->kind == RS_OP_MOVE)
		return e->now_ns;
	return e->now_ns - e->waking_ago_ns + known_or(why->wake_clock_ns, e->workload->wake_clock_ns);
}

/* Put @r, which is on no queue, on @c. @why: the operation that woke it, or NULL. */
void rs_eng_attach(struct rs_engine *e, struct rs_cpu *c, struct rs_runner *r, unsigned int flags, const struct rs_op *why)
{
	set_clock(c, rs_eng_waking_clock(e, why));
	if (is_fair(r)) {
		if (r->fair.rq && r->fair.rq != &c->rq) {
			flags |= RS_ENQ_MIGRATED;
			if ((flags & RS_ENQ_WAKEUP) && e->ops->migrate)
				e->ops->migrate(&r->fair, &c->rq);
		}
		r->fair.rq = &c->rq;
		e->ops->enqueue(&c->rq, &r->fair, flags);
	}
	r->cpu = c->rq.cpu;
	r->state = RS_RUN_QUEUED;
	list_add(c, r);
	rs_eng_wait_begins(e, r);
	rs_place_queued(e, r, flags);
	rs_eng_arm_hrtick(e, c);
	rs_eng_test_preemption(e, c, r, flags & (RS_ENQ_WAKEUP | RS_ENQ_INITIAL), why);
	rs_eng_check_resched(e, c, e->preempt_delay_ns);
}

/* Take the waiting @r off its queue, to be attached elsewhere. @clock_ns: the policy's clock there. */
void rs_eng_detach_waiting(struct rs_engine *e, struct rs_runner *r, uint64_t clock_ns)
{
	struct rs_cpu *c = cpu_of(e, r->cpu);
	uint64_t delay = e->preempt_delay_ns;

	set_clock(c, clock_ns);
	if (is_fair(r))
		e->ops->dequeue(&c->rq, &r->fair, RS_DEQ_MOVE);
	list_del(c, r);
	rs_eng_wait_ends(e, r);
	rs_place_unqueued(e, r, false);
	if (clock_ns < e->now_ns) /* asked for at that clock */
		delay -= e->now_ns - clock_ns < delay ? e->now_ns - clock_ns : delay;
	rs_eng_check_resched(e, c, delay);
}
