// SPDX-License-Identifier: GPL-2.0-only
/* What the running task does when it gets to an operation of its program. */
#include "replay/engine_core.h"
#include "replay/place.h"

static uint32_t state_of_sleep(const struct rs_op *op)
{
	static const uint32_t states[8] = { RESCHED_STATE_S, RESCHED_STATE_D, RESCHED_STATE_I, RESCHED_STATE_T,
					    RESCHED_STATE_t, RESCHED_STATE_P, RESCHED_STATE_OTHER, RESCHED_STATE_OTHER };

	return states[op->state];
}

/*
 * Did the waking that is kept for @r come from another cpu while @r was already off its queue but not yet switched out? Then it leaves the
 * cpu all the same and is queued anew. Kernel: try_to_wake_up() with p->on_rq 0 and p->on_cpu 1.
 */
static bool woken_on_the_way_out(const struct rs_engine *e, const struct rs_runner *r, const struct rs_op *op)
{
	uint64_t lead = op->clock_ns != RS_UNKNOWN && op->clock_ns <= 0 ? (uint64_t) - (int64_t)op->clock_ns : e->workload->switch_lead_ns;

	if (op->delay_ns >= 0 && (uint64_t)op->delay_ns >= lead) /* by the clocks of two cpus */
		lead = (uint64_t)op->delay_ns + 1;
	return r->token_why && r->token_cpu != r->cpu && e->now_ns - r->token_ns < lead;
}

enum sleep { SLEEPS, SLEEPS_NOT, WOKEN_ON_THE_WAY };

static enum sleep begin_sleep(struct rs_engine *e, struct rs_cpu *c, struct rs_runner *r, const struct rs_op *op)
{
	uint64_t at;

	r->place = op->cpu;
	r->pull_to = RS_NO_CPU;
	r->special = op->special;
	if (waits_for_task(e, op)) {
		if (!r->tokens && op->rule == RS_RULE_ANSWER)
			rs_eng_ask(e, c, r, &e->runners[op->arg], NULL);
		r->awaits_requests = op->rule == RS_RULE_REQUEST && !r->tokens && !r->first_asking;
		if (!r->tokens && (op->rule != RS_RULE_REQUEST || r->awaits_requests))
			return SLEEPS;
		r->tokens -= r->tokens > 0;
		return woken_on_the_way_out(e, r, op) ? WOKEN_ON_THE_WAY : SLEEPS_NOT;
	}
	if (op->rule == RS_RULE_ARRIVAL && op->when_ns <= e->now_ns && !r->looped)
		return SLEEPS_NOT;
	if (rs_op_ended_by_task(op)) /* its waker was dropped: as recorded */
		at = op->when_ns > e->now_ns && !r->looped ? op->when_ns : e->now_ns + op->len_ns + 1;
	else
		at = rs_timers_next(r->program, op, e->now_ns, r->looped, &r->round);
	if (!op->len_ns && op->when_ns && at <= e->now_ns + RS_TIMER_ROUND_TRIP_NS && !rs_op_ended_by_task(op))
		return SLEEPS_NOT; /* its time has passed, and so it had in the recording */
	rs_eventq_set(&e->alarms, task_alarm(e, r), at);
	return SLEEPS;
}

static void do_wake(struct rs_engine *e, struct rs_cpu *c, struct rs_runner *target, const struct rs_op *why)
{
	const struct rs_op *op = current_op(target);

	if (target->dropped || target->state == RS_RUN_DEAD)
		return;
	if (target->state == RS_RUN_SLEEPING && op && waits_for_task(e, op))
		rs_eng_wake_up(e, target, c, why, false);
	else if (why->rule == RS_WAKE_COUNTED || why->rule == RS_WAKE_ANSWER || (why->rule == RS_WAKE_ONCE && !target->tokens)) {
		target->tokens++;
		target->token_why = why;
		target->token_ns = e->now_ns;
		target->token_cpu = c->rq.cpu;
	}
}

void rs_eng_init_fair(struct rs_engine *e, struct rs_runner *r)
{
	if (r->fair_ready)
		return;
	e->ops->task_init(&r->fair, e->model);
	r->fair_ready = 1;
}

static void do_fork(struct rs_engine *e, struct rs_cpu *c, struct rs_runner *parent, struct rs_runner *child, const struct rs_op *why)
{
	struct resched_event ev = { .type = RESCHED_EV_FORK, .pid = pid_of(parent), .cpu = (uint16_t)c->rq.cpu, .fork = { .child_pid = pid_of(child) } };
	unsigned int to;

	if (child->dropped || child->state != RS_RUN_UNBORN)
		return;
	rs_eng_emit(e, &ev);
	rs_eng_emit_comm(e, child, c->rq.cpu, false);
	set_clock(c, e->now_ns);
	if (is_fair(child)) {
		rs_eng_init_fair(e, child);
		if (e->ops->fork) {
			child->fair.rq = &c->rq;
			e->ops->fork(&c->rq, &parent->fair, &child->fair);
		}
	}
	to = rs_place_fork(e, child, parent, c->rq.cpu);
	child->fair.rq = NULL; /* a first enqueue anywhere is not a migration */
	rs_eng_attach(e, cpu_of(e, to), child, RS_ENQ_INITIAL, why);
	rs_eng_emit_wake(e, RESCHED_EV_WAKEUP_NEW, child, c, to, false);
}

/* Nice value or class of the running task changes. Kernel: set_user_nice(), __sched_setscheduler(). */
static void do_prio(struct rs_engine *e, struct rs_cpu *c, struct rs_runner *r, int prio)
{
	bool was_fair = is_fair(r);

	if (r->keep_nice && was_fair && prio >= MAX_RT_PRIO)
		return;
	set_clock(c, e->now_ns);
	if (was_fair && prio >= MAX_RT_PRIO) {
		r->prio = prio;
		e->ops->reweight(&r->fair, c->rq.clock_ns, prio - DEFAULT_PRIO, r->fair.policy, r->fair.custom_slice_ns);
	} else if (was_fair) {
		e->ops->dequeue(&c->rq, &r->fair, RS_DEQ_SAVE | RS_DEQ_MOVE);
		e->ops->put_prev(&c->rq, &r->fair);
		c->rq.curr = NULL;
		r->prio = prio;
		rs_eng_arm(e, c);
	} else {
		r->prio = prio;
		if (prio >= MAX_RT_PRIO) {
			r->fair.nice = prio - DEFAULT_PRIO;
			rs_eng_init_fair(e, r);
			r->fair.rq = &c->rq;
			e->ops->enqueue(&c->rq, &r->fair, RS_ENQ_RESTORE);
			c->rq.need_resched = true;
		}
	}
	rs_place_changed(e, r);
	rs_eng_check_resched(e, c, 0);
}

/* Policy and slice of the running task change. Kernel: __sched_setscheduler() with SETPARAM_POLICY kept in the fair class. */
static void do_attr(struct rs_engine *e, struct rs_cpu *c, struct rs_runner *r, const struct rs_op *op)
{
	bool fair = op->arg == RS_SCHED_NORMAL || op->arg == RS_SCHED_BATCH || op->arg == RS_SCHED_IDLE;
	enum rs_sched_policy policy = r->keep_policy || !fair ? r->fair.policy : (enum rs_sched_policy)op->arg;
	uint64_t slice = r->keep_slice ? r->fair.custom_slice_ns : op->when_ns;

	if (!is_fair(r))
		return;
	set_clock(c, e->now_ns);
	e->ops->reweight(&r->fair, c->rq.clock_ns, r->fair.nice, policy, slice);
	rs_place_changed(e, r);
	rs_eng_check_resched(e, c, e->preempt_delay_ns);
}

static void emit_exit(struct rs_engine *e, const struct rs_cpu *c, struct rs_runner *r)
{
	struct resched_event ev = { .type = RESCHED_EV_EXIT, .pid = pid_of(r), .cpu = (uint16_t)c->rq.cpu };

	if (!r->exiting)
		rs_eng_emit(e, &ev);
	r->exiting = 1;
}

/* Kernel: do_exit() to sched_move_task(), with or without autogroups; the mark is honoured at its last schedule at the latest. */
static void do_exiting(struct rs_engine *e, struct rs_cpu *c, struct rs_runner *r)
{
	emit_exit(e, c, r);
	if (!is_fair(r))
		return;
	set_clock(c, e->now_ns);
	e->ops->dequeue(&c->rq, &r->fair, RS_DEQ_SAVE | RS_DEQ_MOVE);
	e->ops->put_prev(&c->rq, &r->fair);
	c->rq.curr = NULL;
	e->ops->enqueue(&c->rq, &r->fair, RS_ENQ_RESTORE);
	e->ops->set_next(&c->rq, &r->fair, false);
	c->rq.curr = &r->fair;
	c->rq.need_resched = true;
}

static void do_exit(struct rs_engine *e, struct rs_cpu *c, struct rs_runner *r, const struct rs_op *op)
{
	emit_exit(e, c, r); /* where the recording does not show the beginning */
	r->state = RS_RUN_DEAD;
	c->switch_clock_ns = op->clock_ns;
	rs_eng_schedule(e, c, LEAVES_FOR_GOOD, RESCHED_STATE_Z);
}

/* Taken to the idlest cpu by its own cpu's stopper before the new program is loaded. Kernel: sched_exec(). */
static void do_exec(struct rs_engine *e, struct rs_cpu *c, struct rs_runner *r)
{
	unsigned int from = c->rq.cpu, to = rs_place_exec(e, r);
	struct resched_event ev = { .type = RESCHED_EV_EXEC, .pid = pid_of(r), .cpu = (uint16_t)to };

	if (to == from)
		return;
	rs_eng_schedule(e, c, LEAVES_TO_MOVE, RESCHED_STATE_RUNNING);
	rs_eng_emit_migrate(e, r, from, from, to);
	rs_eng_emit(e, &ev);
	rs_eng_attach(e, cpu_of(e, to), r, RS_ENQ_MIGRATED, NULL);
}

static void do_block(struct rs_engine *e, struct rs_cpu *c, struct rs_runner *r, const struct rs_op *op)
{
	enum sleep sleep = begin_sleep(e, c, r, op);

	if (sleep == SLEEPS_NOT) {
		rs_eng_next_op(r);
		return;
	}
	r->state = RS_RUN_SLEEPING;
	c->switch_clock_ns = op->clock_ns;
	rs_eng_sleep_begins(e, r);
	rs_eng_schedule(e, c, LEAVES_TO_SLEEP, state_of_sleep(op));
	if (sleep == SLEEPS)
		return;
	e->waking_ago_ns = e->now_ns - r->token_ns;
	rs_eng_wake_up(e, r, cpu_of(e, r->token_cpu), r->token_why, false);
	e->waking_ago_ns = 0;
}

/* The clock is looked at when it runs: what others had of the cpu shortens the spin. Return: true when it is over. */
static bool spin_is_over(struct rs_engine *e, struct rs_runner *r, const struct rs_op *op)
{
	if (!r->spin_until_ns)
		r->spin_until_ns = e->now_ns + op->len_ns;
	r->left_ns = r->spin_until_ns > e->now_ns ? r->spin_until_ns - e->now_ns : 0;
	if (r->left_ns)
		return false;
	r->spin_until_ns = 0;
	return true;
}

static void do_answer(struct rs_engine *e, struct rs_cpu *c, struct rs_runner *r, const struct rs_op *op)
{
	struct rs_runner *client = rs_eng_answer(r, &e->runners[op->arg]);

	if (!client) {
		rs_eng_await_request(e, c, r);
		return;
	}
	rs_eng_next_op(r);
	do_wake(e, c, client, op);
}

static void do_repeat(struct rs_runner *r, const struct rs_op *op)
{
	if (r->repeats < op->len_ns) {
		r->repeats++;
		r->looped = 1;
		r->op = op->arg;
		rs_runner_load(r);
		return;
	}
	r->repeats = 0;
	rs_eng_next_op(r);
}

/* The running task has reached an operation. It may lose the cpu on the way. */
void rs_eng_do_op(struct rs_engine *e, struct rs_cpu *c, struct rs_runner *r)
{
	static const struct rs_op sleep_for_ever = { .kind = RS_OP_BLOCK, .clock_ns = RS_UNKNOWN, .idle_clock_ns = RS_UNKNOWN };
	const struct rs_op *op = current_op(r);

	if (!op) {
		do_block(e, c, r, &sleep_for_ever);
		return;
	}
	if (op->kind == RS_OP_BLOCK) {
		do_block(e, c, r, op);
		return;
	}
	if (op->kind == RS_OP_ENDLESS) {
		r->left_ns = RS_NEVER;
		return;
	}
	if (op->kind == RS_OP_REPEAT) {
		do_repeat(r, op);
		return;
	}
	if (op->kind == RS_OP_SPIN && !spin_is_over(e, r, op))
		return;
	if (op->kind == RS_OP_WAKE && op->rule == RS_WAKE_ANSWER) {
		do_answer(e, c, r, op);
		return;
	}
	rs_eng_next_op(r);
	switch (op->kind) {
	case RS_OP_WAKE:
		if (op->rule == RS_WAKE_ASK)
			rs_eng_ask(e, c, r, &e->runners[op->arg], op);
		else
			do_wake(e, c, &e->runners[op->arg], op);
		break;
	case RS_OP_FORK:
		do_fork(e, c, r, &e->runners[op->arg], op);
		break;
	case RS_OP_EXEC:
		do_exec(e, c, r);
		break;
	case RS_OP_EXITING:
		do_exiting(e, c, r);
		break;
	case RS_OP_EXIT:
		do_exit(e, c, r, op);
		break;
	case RS_OP_RESCHED:
		c->rq.need_resched = true;
		rs_eng_request_switch(e, c, 0);
		break;
	case RS_OP_PRIO:
		do_prio(e, c, r, (int32_t)op->arg);
		break;
	case RS_OP_ATTR:
		do_attr(e, c, r, op);
		break;
	case RS_OP_COMM:
		r->comm = op->arg;
		rs_eng_emit_comm(e, r, c->rq.cpu, true);
		break;
	case RS_OP_MOVE:
		rs_eng_do_move(e, c, r, op);
		break;
	default:
		break;
	}
}
