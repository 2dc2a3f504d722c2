// SPDX-License-Identifier: GPL-2.0-only
/* The schedule: who runs next on a cpu, and when it is looked at again. */
#include "replay/engine_core.h"
#include "replay/place.h"

/* Lag of a task at a moment when it gets or loses the cpu. */
static void sample_lag(struct rs_engine *e, struct rs_cpu *c, struct rs_runner *r, bool leaves)
{
	struct rs_entity_view view;
	struct rs_rq_view rq;
	int missed = 0;

	if (!e->lag || !r->fair.on_rq)
		return;
	e->ops->view_task(&c->rq, &r->fair, &view);
	if (!view.deadline)
		return;
	if (leaves && view.deadline != r->deadline) {
		/* A request was completed; late if virtual time had passed its deadline by then. */
		e->ops->view_rq(&c->rq, &rq);
		missed = (int64_t)(rq.avg_vruntime - r->deadline) > 0;
	}
	r->deadline = view.deadline;
	resched_analysis_lag(e->lag, pid_of(r), view.lag_ns, missed);
}

static struct rs_runner *best_rt(const struct rs_cpu *c)
{
	struct rs_runner *best = NULL;

	if (!c->nr_rt_waiting)
		return NULL;
	for (struct rs_runner *r = c->waiting.prev; r != &c->waiting; r = r->prev) {
		if (!is_fair(r) && (!best || r->prio < best->prio))
			best = r;
	}
	return best;
}

/* A sleeper that is still queued is moved like any other, and goes on sleeping there. */
static void move_delayed(struct rs_engine *e, struct rs_runner *r, unsigned int to, bool pulled)
{
	struct rs_cpu *src = cpu_of(e, r->cpu), *dst = cpu_of(e, to);

	set_clock(src, e->now_ns);
	e->ops->dequeue(&src->rq, &r->fair, RS_DEQ_MOVE);
	rs_eng_check_resched(e, src, e->preempt_delay_ns);
	rs_eng_emit_migrate(e, r, to, src->rq.cpu, to);
	if (!pulled)
		set_clock(dst, e->now_ns);
	r->fair.rq = &dst->rq;
	e->ops->enqueue(&dst->rq, &r->fair, RS_ENQ_MIGRATED);
	r->cpu = to;
	rs_place_carried(e, r);
	if (!pulled && !dst->curr)
		rs_eng_request_switch(e, dst, e->idle_exit_ns);
	else if (!pulled)
		rs_eng_check_resched(e, dst, e->preempt_delay_ns);
}

/* Kernel: a task is detached from one queue and attached to another by the balancer. */
void rs_engine_move(struct rs_engine *e, struct rs_runner *r, unsigned int to, bool pulled)
{
	struct rs_cpu *dst = cpu_of(e, to);
	unsigned int from = r->cpu;

	if (r->state == RS_RUN_RUNNING) {
		rs_eng_schedule(e, cpu_of(e, from), LEAVES_TO_MOVE, RESCHED_STATE_RUNNING);
	} else if (r->state == RS_RUN_QUEUED) {
		rs_eng_detach_waiting(e, r, e->now_ns);
	} else {
		if (r->state == RS_RUN_SLEEPING && r->fair.delayed)
			move_delayed(e, r, to, pulled);
		return;
	}
	rs_eng_emit_migrate(e, r, to, from, to); /* who balances pulls to itself */
	if (pulled)
		rs_eng_join_picking(e, dst, r);
	else
		rs_eng_attach(e, dst, r, RS_ENQ_MIGRATED, NULL);
}

/* @r, which is on no queue, joins while @dst picks: nobody is to be preempted. */
void rs_eng_join_picking(struct rs_engine *e, struct rs_cpu *dst, struct rs_runner *r)
{
	if (is_fair(r)) {
		r->fair.rq = &dst->rq;
		e->ops->enqueue(&dst->rq, &r->fair, RS_ENQ_MIGRATED);
	}
	r->cpu = dst->rq.cpu;
	list_add(dst, r);
	rs_eng_wait_begins(e, r);
	rs_place_queued(e, r, RS_ENQ_MIGRATED);
}

void rs_engine_ask_push(struct rs_engine *e, unsigned int cpu)
{
	set_alarm(e, cpu_of(e, cpu), ALARM_PUSH, e->now_ns + e->preempt_delay_ns);
}

/* Fair task to run next; an empty cpu may pull one first. */
static struct rs_runner *pick_fair(struct rs_engine *e, struct rs_cpu *c)
{
	struct rs_task *task;

	rs_eng_arrive(e, c, true); /* taken early, and now it does not run empty */
	task = e->ops->pick(&c->rq);
	rs_place_reap(e, c->rq.cpu);
	if (!e->place && !task && (rs_eng_pull_recorded(e, c) || c->rq.nr_delayed))
		task = e->ops->pick(&c->rq);
	while (!task && rs_place_pull(e, c->rq.cpu)) {	/* again when that was one that sleeps */
		task = e->ops->pick(&c->rq);
		rs_place_reap(e, c->rq.cpu);
	}
	return task ? runner_of(task) : NULL;
}

/* The tick as recorded that has number @nr on the grid, NULL when it was not seen. */
const struct rs_tick_note *rs_eng_tick_note(const struct rs_engine *e, const struct rs_cpu *c, uint64_t nr)
{
	const struct rs_tick_notes *notes = c->rq.cpu < e->workload->nr_tick_cpus ? &e->workload->ticks[c->rq.cpu] : NULL;

	if (!notes || nr < notes->first || nr - notes->first >= notes->nr || !notes->notes[nr - notes->first].at_ns)
		return NULL;
	return &notes->notes[nr - notes->first];
}

uint64_t rs_eng_tick_number(const struct rs_engine *e, uint64_t ts)
{
	return (ts - e->tick_phase_ns + e->tick_ns / 2) / e->tick_ns;
}

/* The first tick after now: where the grid has it, or where exactly it was recorded. */
uint64_t rs_eng_next_tick(const struct rs_engine *e, const struct rs_cpu *c)
{
	for (uint64_t nr = rs_eng_tick_number(e, e->now_ns);; nr++) {
		const struct rs_tick_note *note = rs_eng_tick_note(e, c, nr);
		uint64_t at = note ? note->at_ns : nr * e->tick_ns + e->tick_phase_ns;

		if (at > e->now_ns)
			return at;
	}
}

void rs_eng_arm(struct rs_engine *e, struct rs_cpu *c)
{
	uint64_t at = RS_NEVER;

	if (!c->curr) {
		set_alarm(e, c, ALARM_OP, RS_NEVER);
		set_alarm(e, c, ALARM_TICK, RS_NEVER);
		set_alarm(e, c, ALARM_PULL, RS_NEVER);
		return;
	}
	set_alarm(e, c, ALARM_OP, add_capped(c->since_ns, c->curr->left_ns));
	if (c->rq.curr)
		at = rs_eng_next_tick(e, c);
	set_alarm(e, c, ALARM_TICK, at);
	rs_eng_arm_pull(e, c);
}

/* The running task's demand up to now is done. */
void rs_eng_stop_progress(struct rs_engine *e, struct rs_cpu *c)
{
	struct rs_runner *r = c->curr;

	if (r->left_ns != RS_NEVER)
		r->left_ns -= e->now_ns - c->since_ns;
	c->since_ns = e->now_ns;
}

static void leave_queue(struct rs_engine *e, struct rs_cpu *c, struct rs_runner *prev, enum rs_leave how)
{
	if (how == LEAVES_NOT || !is_fair(prev) || c->rq.curr != &prev->fair)
		return;
	if (how == LEAVES_TO_MOVE)
		e->ops->dequeue(&c->rq, &prev->fair, RS_DEQ_MOVE);
	else
		e->ops->dequeue(&c->rq, &prev->fair,
				RS_DEQ_SLEEP | (how == LEAVES_FOR_GOOD || prev->special ? RS_DEQ_SPECIAL : 0));
}

/* Who runs next on @c? @prev: who ran, NULL for idle. */
static struct rs_runner *choose(struct rs_engine *e, struct rs_cpu *c, struct rs_runner *prev, bool stays)
{
	struct rs_runner *rt = best_rt(c);

	if (prev && stays && !is_fair(prev) && (!rt || rt->prio >= prev->prio))
		return prev;
	return rt ? rt : pick_fair(e, c);
}

/* Take the cpu from @prev and give it to @next, which differ. */
void rs_eng_change_current(struct rs_engine *e, struct rs_cpu *c, struct rs_runner *prev, struct rs_runner *next, bool stays)
{
	if (c->rq.curr) {
		sample_lag(e, c, prev, true);
		e->ops->put_prev(&c->rq, c->rq.curr);
		c->rq.curr = NULL;
	}
	if (prev && stays) {
		prev->state = RS_RUN_QUEUED;
		if (is_fair(prev))
			list_add(c, prev);
		else
			list_add_oldest(c, prev);
		rs_eng_wait_begins(e, prev);
	}
	c->curr = next;
	rs_place_runs(e, c->rq.cpu, next);
	if (!next)
		return;
	list_del(c, next);
	rs_eng_wait_ends(e, next);
	next->state = RS_RUN_RUNNING;
	if (next->spin_until_ns)
		next->left_ns = next->spin_until_ns > e->now_ns ? next->spin_until_ns - e->now_ns : 0;
	if (is_fair(next)) {
		e->ops->set_next(&c->rq, &next->fair, true);
		c->rq.curr = &next->fair;
		sample_lag(e, c, next, false);
	}
}

/* The clock was read some way before the switch shows. */
static uint64_t schedule_clock(const struct rs_engine *e, const struct rs_cpu *c)
{
	uint64_t lead = c->curr ? e->workload->switch_lead_ns : e->workload->idle_lead_ns;

	if (c->switch_clock_ns != RS_UNKNOWN)
		return offset_by(e->now_ns, c->switch_clock_ns);
	return e->now_ns > lead ? e->now_ns - lead : 0;
}

/* Kernel: __schedule(). @state: of the running task as the switch event shows it. */
void rs_eng_schedule(struct rs_engine *e, struct rs_cpu *c, enum rs_leave how, uint32_t state)
{
	struct rs_runner *prev = c->curr, *next;
	bool stays = prev && how == LEAVES_NOT;

	set_alarm(e, c, ALARM_SWITCH, RS_NEVER);
	if (!c->reuse_clock)
		set_clock(c, schedule_clock(e, c));
	c->reuse_clock = false;
	c->switch_clock_ns = RS_UNKNOWN;
	if (prev) {
		rs_eng_stop_progress(e, c);
		leave_queue(e, c, prev, how);
		if (how != LEAVES_NOT)
			rs_place_unqueued(e, prev, how != LEAVES_TO_MOVE);
	}
	next = choose(e, c, prev, stays);
	c->rq.need_resched = false;
	if (next != prev) {
		rs_eng_change_current(e, c, prev, next, stays);
		rs_eng_arm_hrtick(e, c);
		rs_eng_emit_switch(e, c, prev, next, state);
	} else if (next && is_fair(next) && c->rq.curr != &next->fair) {
		/* It came back to the fair class while it ran. */
		e->ops->set_next(&c->rq, &next->fair, true);
		c->rq.curr = &next->fair;
	}
	c->since_ns = e->now_ns;
	rs_eng_arm(e, c);
}
