// SPDX-License-Identifier: GPL-2.0-only
/*
 * Migrations as recorded. A task that waited was taken to another cpu at some instant, or pulled by one that ran empty. Here it is taken
 * where it waits at that point of its program, too; one that gets there running goes on where the recording had it.
 */
#include "replay/engine_core.h"

#define NEARLY_NS 20000u /* demand left before a move: the task was preempted that much earlier than in the recording */
#define ON_THE_WAY_NS 100000u /* longer from one queue to another: the pass that took it does not come to its end here */

/* The move that comes next for a task that waits, NULL when it has to run first. */
static const struct rs_op *next_move(const struct rs_engine *e, const struct rs_runner *r)
{
	const struct rs_op *op = current_op(r);

	if (e->placement != RESCHED_PLACE_RECORDED || !op || op->kind != RS_OP_MOVE || moves_asleep(op) || r->left_ns > NEARLY_NS)
		return NULL;
	return rs_runner_allowed(e, r, op->cpu) ? op : NULL;
}

/* A preemption that nothing explained is in its program. Where it was just preempted at that point, that was it. */
static void skip_preemption(struct rs_runner *r)
{
	const struct rs_op *op = current_op(r);

	for (; op && (op->kind == RS_OP_NONE || op->kind == RS_OP_RESCHED) && r->left_ns <= NEARLY_NS; op = current_op(r)) {
		uint64_t left = r->left_ns;

		rs_eng_next_op(r);
		r->left_ns = add_capped(r->left_ns, left);
	}
}

/* @r was put on the list of its cpu. */
void rs_eng_wait_begins(struct rs_engine *e, struct rs_runner *r)
{
	const struct rs_op *op;

	skip_preemption(r);
	op = next_move(e, r);

	r->waits_since_ns = e->now_ns;
	if (op && op->cpu != r->cpu) {
		rs_eventq_set(&e->alarms, task_alarm(e, r), e->now_ns + op->len_ns);
		r->pull_to = op->rule == RS_MOVE_PULLED ? op->cpu : RS_NO_CPU;
		r->left_until_ns = op->when_ns ? e->now_ns + op->when_ns + 1 : 0;
	}
	if (r->pull_to == r->cpu)
		r->pull_to = RS_NO_CPU;
	e->nr_pullable += r->pull_to != RS_NO_CPU;
	if (r->pull_to != RS_NO_CPU)
		rs_eng_arm_pull(e, cpu_of(e, r->pull_to));
}

/* @r was taken from it. */
void rs_eng_wait_ends(struct rs_engine *e, struct rs_runner *r)
{
	rs_eventq_set(&e->alarms, task_alarm(e, r), RS_NEVER);
	e->nr_pullable -= r->pull_to != RS_NO_CPU;
}

/*
 * A pass of the balancer takes tasks from their queue one after the other, and puts them on the other in reverse. One that runs empty does so
 * before the switch shows, and meanwhile the queue they were on may pick. Kernel: detach_tasks(), attach_tasks().
 */
static void depart(struct rs_engine *e, struct rs_runner *r, unsigned int to)
{
	const struct rs_op *op = next_move(e, r);
	bool pulled = !op || op->rule == RS_MOVE_PULLED;
	unsigned int from = r->cpu;
	struct rs_cpu *dst = cpu_of(e, to);
	uint64_t left = r->left_ns, clock = e->now_ns;

	if (op && op->clock_ns != RS_UNKNOWN && !pulled)
		clock = offset_by(clock, op->clock_ns);
	rs_eng_wait_ends(e, r);
	r->pull_to = RS_NO_CPU;
	if (op) {
		rs_eng_next_op(r);
		r->left_ns = add_capped(r->left_ns, left);
	}
	rs_eng_detach_waiting(e, r, clock);
	rs_eng_emit_migrate(e, r, to, from, to);
	r->state = RS_RUN_MOVING;
	r->waking_why = op;
	r->waking_to = (uint16_t)to;
	r->next_arriving = dst->arriving;
	dst->arriving = r;
	rs_eventq_set(&e->alarms, task_alarm(e, r), e->now_ns + ON_THE_WAY_NS);
}

/* Those on the way to @c are there. @picking: it is about to pick, nobody is to be preempted. Return: whether there were any. */
bool rs_eng_arrive(struct rs_engine *e, struct rs_cpu *c, bool picking)
{
	bool any = c->arriving != NULL;

	while (c->arriving) {
		struct rs_runner *r = c->arriving;

		c->arriving = r->next_arriving;
		rs_eventq_set(&e->alarms, task_alarm(e, r), RS_NEVER);
		r->state = RS_RUN_QUEUED;
		if (picking)
			rs_eng_join_picking(e, c, r);
		else
			rs_eng_attach(e, c, r, RS_ENQ_MIGRATED, r->waking_why);
	}
	return any;
}

/* The instant has come at which @r, which waits, was moved. One that was pulled is only if its cpu is idle by now. */
void rs_eng_move_due(struct rs_engine *e, struct rs_runner *r)
{
	const struct rs_op *op = next_move(e, r);
	struct rs_cpu *c;

	rs_eventq_set(&e->alarms, task_alarm(e, r), RS_NEVER);
	if (!op)
		return;
	c = cpu_of(e, op->cpu);
	if (op->rule != RS_MOVE_PULLED) {
		bool more = op->arg != 0;

		depart(e, r, c->rq.cpu);
		if (!more)
			rs_eng_arrive(e, c, false);
	} else if (!c->curr && !c->nr_waiting) {
		depart(e, r, c->rq.cpu);
		rs_eng_arrive(e, c, true);
		rs_eng_request_switch(e, c, e->idle_exit_ns);
	}
}

/* ---- asleep ---- */

static bool linked(const struct rs_runner *r)
{
	return r->next != NULL;
}

static void unlink_asleep(struct rs_engine *e, struct rs_runner *r)
{
	r->prev->next = r->next;
	r->next->prev = r->prev;
	r->prev = r->next = NULL;
	e->nr_pullable--;
}

static const struct rs_op *asleep_move(const struct rs_runner *r)
{
	const struct rs_op *op = r->move < r->program->nr_ops ? &r->program->ops[r->move] : NULL;

	return op && moves_asleep(op) ? op : NULL;
}

/* Wait for the next migration of @r, which slept from @since_ns on. */
static void await_asleep_move(struct rs_engine *e, struct rs_runner *r, uint64_t since_ns)
{
	const struct rs_op *op = asleep_move(r);

	r->waits_since_ns = since_ns;
	if (!op || !rs_runner_allowed(e, r, op->cpu))
		return;
	if (op->rule == RS_MOVE_ASLEEP) {
		uint64_t at = since_ns + op->len_ns;

		rs_eventq_set(&e->alarms, first_move_alarm(e) + task_alarm(e, r), at > e->now_ns ? at : e->now_ns);
		return;
	}
	r->pull_to = op->cpu;
	r->left_until_ns = op->when_ns ? since_ns + op->when_ns + 1 : 0;
	r->next = e->asleep.next;
	r->prev = &e->asleep;
	r->next->prev = r->prev->next = r;
	e->nr_pullable++;
}

/* @r is about to leave its cpu to sleep; whether it stays queued shows only then. */
void rs_eng_sleep_begins(struct rs_engine *e, struct rs_runner *r)
{
	r->move = r->op + 1;
	r->slept_on = (uint16_t)r->cpu;
	if (e->placement == RESCHED_PLACE_RECORDED && is_fair(r))
		await_asleep_move(e, r, e->now_ns);
}

void rs_eng_sleep_ends(struct rs_engine *e, struct rs_runner *r)
{
	rs_eventq_set(&e->alarms, first_move_alarm(e) + task_alarm(e, r), RS_NEVER);
	if (linked(r))
		unlink_asleep(e, r);
	r->pull_to = RS_NO_CPU;
}

/* @picking: @dst is about to pick, and really drops what it pulled. Otherwise it does so at its next schedule. */
static void take_asleep(struct rs_engine *e, struct rs_runner *r, bool picking)
{
	const struct rs_op *op = asleep_move(r);
	struct rs_cpu *src = cpu_of(e, r->cpu), *dst = cpu_of(e, op->cpu);
	uint64_t since = r->waits_since_ns;

	rs_eng_sleep_ends(e, r);
	r->move++;
	if (r->fair.delayed && src != dst) {
		set_clock(src, op->clock_ns != RS_UNKNOWN ? offset_by(e->now_ns, op->clock_ns) : e->now_ns);
		e->ops->dequeue(&src->rq, &r->fair, RS_DEQ_MOVE);
		rs_eng_check_resched(e, src, e->preempt_delay_ns);
		rs_eng_emit_migrate(e, r, dst->rq.cpu, src->rq.cpu, dst->rq.cpu);
		if (!picking)
			set_clock(dst, e->now_ns);
		r->fair.rq = &dst->rq;
		e->ops->enqueue(&dst->rq, &r->fair, RS_ENQ_MIGRATED);
		r->cpu = dst->rq.cpu;
		if (!picking && !dst->curr)
			rs_eng_request_switch(e, dst, e->idle_exit_ns);
		else if (!picking)
			rs_eng_check_resched(e, dst, e->preempt_delay_ns);
	}
	await_asleep_move(e, r, since);
}

/* The instant at which @r, which sleeps, was moved. */
void rs_eng_move_asleep(struct rs_engine *e, struct rs_runner *r)
{
	take_asleep(e, r, false);
}

/* ---- pulling ---- */

static void pull_asleep(struct rs_engine *e, const struct rs_cpu *c)
{
	struct rs_runner *next;

	for (struct rs_runner *r = e->asleep.next; r != &e->asleep; r = next) {
		next = r->next;
		if (r->pull_to == c->rq.cpu && e->now_ns >= r->left_until_ns && r->state == RS_RUN_SLEEPING && r->fair.delayed &&
		    r->cpu != c->rq.cpu)
			take_asleep(e, r, true);
	}
}

/* Who waits elsewhere and was pulled to @c next; the longest waiting on the first such queue. */
static struct rs_runner *next_pulled(const struct rs_engine *e, const struct rs_cpu *c)
{
	for (unsigned int cpu = 0; cpu < e->nr_cpus && e->nr_pullable; cpu++) {
		const struct rs_cpu *from = &e->cpus[cpu];

		for (struct rs_runner *r = from->waiting.prev; from != c && r != &from->waiting; r = r->prev) {
			if (r->pull_to == c->rq.cpu && e->now_ns >= r->left_until_ns)
				return r;
		}
	}
	return NULL;
}

/* One pass: the next, and those that were pulled with it. Return: whether there was one. */
static bool pull_pass(struct rs_engine *e, struct rs_cpu *c)
{
	bool any = false, more = true;

	while (more) {
		struct rs_runner *r = next_pulled(e, c);
		const struct rs_op *op = r ? next_move(e, r) : NULL;

		if (!r)
			break;
		more = op && op->arg;
		depart(e, r, c->rq.cpu);
		any = true;
	}
	return any;
}

/* How long before the switch of the cpu that pulls @r its queue loses it. */
static uint64_t pull_lead(const struct rs_engine *e, const struct rs_runner *r)
{
	const struct rs_op *op = next_move(e, r);

	return op && op->clock_ns != RS_UNKNOWN && op->clock_ns <= 0 ? (uint64_t) - (int64_t)op->clock_ns : e->workload->switch_lead_ns;
}

/* When the running task of @c leaves it empty; RS_NEVER: as far as known it does not. */
static uint64_t runs_empty_at(const struct rs_engine *e, const struct rs_cpu *c)
{
	const struct rs_op *op = c->curr ? current_op(c->curr) : NULL;

	if (!op || c->nr_waiting || (op->kind != RS_OP_BLOCK && op->kind != RS_OP_EXIT))
		return RS_NEVER;
	if (op->kind == RS_OP_BLOCK && c->curr->tokens && waits_for_task(e, op))
		return RS_NEVER;
	return add_capped(c->since_ns, c->curr->left_ns);
}

/* Have rs_eng_pull_early() called when @c, about to run empty, would take a task from another queue. */
void rs_eng_arm_pull(struct rs_engine *e, struct rs_cpu *c)
{
	uint64_t at = e->nr_pullable && e->placement == RESCHED_PLACE_RECORDED ? runs_empty_at(e, c) : RS_NEVER;
	const struct rs_runner *r = at == RS_NEVER ? NULL : next_pulled(e, c);
	uint64_t lead = r ? pull_lead(e, r) : 0;

	set_alarm(e, c, ALARM_PULL, !r ? RS_NEVER : at > e->now_ns + lead ? at - lead : e->now_ns);
}

void rs_eng_pull_early(struct rs_engine *e, struct rs_cpu *c)
{
	uint64_t at = runs_empty_at(e, c);
	const struct rs_runner *r = at == RS_NEVER ? NULL : next_pulled(e, c);

	set_alarm(e, c, ALARM_PULL, RS_NEVER);
	if (!r)
		return;
	if (at > e->now_ns + pull_lead(e, r))
		rs_eng_arm_pull(e, c); /* another one than expected */
	else
		pull_pass(e, c);
}

/* @c has nothing to run: it gets what waits elsewhere and was pulled to it. */
bool rs_eng_pull_recorded(struct rs_engine *e, struct rs_cpu *c)
{
	bool any = e->nr_pullable && pull_pass(e, c);

	if (e->nr_pullable)
		pull_asleep(e, c);
	return rs_eng_arrive(e, c, true) || any;
}

/* The running task gets to a move. To a cpu that pulled it, it goes when that cpu runs empty; elsewhere at once. */
void rs_eng_do_move(struct rs_engine *e, struct rs_cpu *c, struct rs_runner *r, const struct rs_op *op)
{
	unsigned int from = c->rq.cpu, to = op->cpu;

	if (e->placement != RESCHED_PLACE_RECORDED || moves_asleep(op) || !rs_runner_allowed(e, r, to))
		return;
	r->pull_to = RS_NO_CPU;
	if (to == from)
		return;
	if (op->rule == RS_MOVE_PULLED && cpu_of(e, to)->curr) {
		r->pull_to = (uint16_t)to;
		r->left_until_ns = 0;
		return;
	}
	rs_eng_schedule(e, c, LEAVES_TO_MOVE, RESCHED_STATE_RUNNING);
	rs_eng_emit_migrate(e, r, from, from, to); /* a running task is taken by the stopper of its own cpu */
	rs_eng_attach(e, cpu_of(e, to), r, RS_ENQ_MIGRATED, NULL);
}
