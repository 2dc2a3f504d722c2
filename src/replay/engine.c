// SPDX-License-Identifier: GPL-2.0-only
/* The clockwork: from one alarm to the next, and how it all begins. */
#include "replay/engine_core.h"
#include "replay/place.h"

void rs_engine_group_timer(struct rs_group *group, uint64_t at_ns)
{
	struct rs_engine *e = group->timer_ctx;

	rs_eventq_set(&e->alarms, first_group_alarm(e) + (uint32_t)(group - e->groups.groups), at_ns);
}

/* ---- alarms ---- */

static void on_op(struct rs_engine *e, struct rs_cpu *c)
{
	struct rs_runner *r = c->curr;

	rs_eng_stop_progress(e, c);
	while (c->curr == r && r->state == RS_RUN_RUNNING && !r->left_ns)
		rs_eng_do_op(e, c, r);
	if (c->curr == r && r)
		set_alarm(e, c, ALARM_OP, add_capped(c->since_ns, r->left_ns));
}

#define DECAY_NS 32000000u

/* Kernel: update_blocked_averages(), from balancing on busy cpus and at least every LOAD_AVG_PERIOD ms for idle ones. */
static void decay_groups(struct rs_engine *e)
{
	if (!e->groups.nr || e->now_ns < e->next_decay_ns)
		return;
	e->next_decay_ns = e->now_ns + DECAY_NS;
	for (unsigned int cpu = 0; cpu < e->nr_cpus; cpu++) {
		struct rs_cpu *c = cpu_of(e, cpu);

		if (!c->curr) /* the clock of a busy one stays where its next schedule may want it */
			set_clock(c, e->now_ns);
		rs_groups_decay(&e->groups, e->ops, &c->rq);
	}
}

static void on_tick(struct rs_engine *e, struct rs_cpu *c)
{
	const struct rs_tick_note *note = rs_eng_tick_note(e, c, rs_eng_tick_number(e, e->now_ns));
	bool pending = alarm_is_set(e, c, ALARM_SWITCH);

	set_alarm(e, c, ALARM_TICK, rs_eng_next_tick(e, c));
	set_clock(c, note && note->clock_ns != RS_UNKNOWN ? offset_by(e->now_ns, note->clock_ns) : e->now_ns);
	e->ops->tick(&c->rq);
	decay_groups(e);
	rs_eng_check_resched(e, c, note ? known_or(note->delay_ns, e->tick_delay_ns) : e->tick_delay_ns);
	if (!pending && alarm_is_set(e, c, ALARM_SWITCH) && note)
		c->switch_clock_ns = note->switch_clock_ns;
	rs_place_tick(e, c->rq.cpu);
}

static void on_hrtick(struct rs_engine *e, struct rs_cpu *c)
{
	set_alarm(e, c, ALARM_HRTICK, RS_NEVER);
	set_clock(c, e->now_ns);
	e->ops->tick(&c->rq);
	c->rq.need_resched = true; /* unconditional: hrtick() is a task_tick(queued) */
	rs_eng_check_resched(e, c, e->tick_delay_ns);
}

/* A period of a group's quota ends: what was throttled may go on. */
static void on_group_timer(struct rs_engine *e, struct rs_group *group)
{
	for (unsigned int cpu = 0; cpu < e->nr_cpus; cpu++)
		set_clock(cpu_of(e, cpu), e->now_ns);
	e->ops->group_timer(group, e->now_ns);
	for (unsigned int cpu = 0; cpu < e->nr_cpus; cpu++) {
		struct rs_cpu *c = cpu_of(e, cpu);

		if (c->rq.need_resched)
			rs_eng_request_switch(e, c, c->curr ? e->tick_delay_ns : e->idle_exit_ns);
	}
}

static void dispatch(struct rs_engine *e, uint32_t alarm)
{
	uint32_t nr_tasks = e->workload->nr_tasks;
	struct rs_cpu *c;

	e->in_irq = true;
	if (alarm < nr_tasks) {
		struct rs_runner *r = &e->runners[alarm];
		uint64_t ends;

		if (r->state == RS_RUN_WAKING) {
			rs_eng_woken(e, r);
			return;
		}
		if (r->state == RS_RUN_MOVING) {
			rs_eng_arrive(e, cpu_of(e, r->waking_to), false);
			return;
		}
		if (r->state == RS_RUN_QUEUED) {
			rs_eng_move_due(e, r);
			return;
		}
		ends = rs_eng_leaves_at(e, cpu_of(e, r->slept_on));
		if (ends) /* interrupts are off */
			rs_eventq_set(&e->alarms, alarm, ends + 1);
		else
			rs_eng_wake_up(e, r, cpu_of(e, r->slept_on), current_op(r), true);
		return;
	}
	if (alarm >= first_move_alarm(e)) {
		rs_eng_move_asleep(e, &e->runners[alarm - first_move_alarm(e)]);
		return;
	}
	if (alarm >= first_group_alarm(e)) {
		on_group_timer(e, &e->groups.groups[alarm - first_group_alarm(e)]);
		return;
	}
	c = cpu_of(e, (alarm - nr_tasks) % e->nr_cpus);
	switch ((alarm - nr_tasks) / e->nr_cpus) {
	case ALARM_TICK:
		on_tick(e, c);
		break;
	case ALARM_HRTICK:
		on_hrtick(e, c);
		break;
	case ALARM_SWITCH:
		rs_eng_schedule(e, c, LEAVES_NOT, RESCHED_STATE_RUNNING);
		break;
	case ALARM_PULL:
		e->in_irq = false;
		rs_eng_pull_early(e, c);
		break;
	case ALARM_PUSH:
		set_alarm(e, c, ALARM_PUSH, RS_NEVER);
		rs_place_push(e, c->rq.cpu);
		break;
	default:
		e->in_irq = false;
		on_op(e, c);
		break;
	}
}

int rs_engine_run(struct rs_engine *e)
{
	while (!e->error) {
		uint32_t alarm = rs_eventq_first(&e->alarms);

		if (alarm == UINT32_MAX || rs_eventq_at(&e->alarms, alarm) >= e->end_ns)
			break;
		e->now_ns = rs_eventq_at(&e->alarms, alarm);
		dispatch(e, alarm);
	}
	return e->error;
}

/* ---- the start ---- */

/* A task the recording met asleep: its first operation is the BLOCK it is in. */
static void start_asleep(struct rs_engine *e, struct rs_runner *r)
{
	const struct rs_op *op = current_op(r);
	bool by_timer = op && op->kind == RS_OP_BLOCK && op->rule != RS_RULE_NEVER && !waits_for_task(e, op);

	r->state = RS_RUN_SLEEPING;
	r->left_ns = 0;
	if (op)
		r->place = op->cpu;
	if (by_timer)
		rs_eventq_set(&e->alarms, task_alarm(e, r), op->when_ns > e->now_ns ? op->when_ns : e->now_ns);
}

/* What it was owed where it slept before the recording began. A policy without deadlines has no such debt. */
static void set_start_lag(struct rs_engine *e, struct rs_runner *r)
{
	if (r->program->start_vlag_ns && e->ops->adjust && e->ops->restore)
		e->ops->adjust(&cpu_of(e, r->cpu)->rq, &r->fair, -r->program->start_vlag_ns, 0);
}

static void start_queued(struct rs_engine *e, struct rs_runner *r)
{
	struct rs_cpu *c = cpu_of(e, r->cpu);

	set_clock(c, e->now_ns);
	if (is_fair(r)) {
		r->fair.rq = &c->rq;
		e->ops->enqueue(&c->rq, &r->fair, RS_ENQ_WAKEUP);
	}
	r->state = RS_RUN_QUEUED;
	list_add(c, r);
	rs_eng_wait_begins(e, r);
	rs_place_queued(e, r, RS_ENQ_WAKEUP);
}

static void start_running(struct rs_engine *e, struct rs_runner *r)
{
	struct rs_cpu *c = cpu_of(e, r->cpu);

	start_queued(e, r);
	if (!c->curr)
		rs_eng_change_current(e, c, NULL, r, false);
	c->since_ns = e->now_ns;
}

void rs_engine_start(struct rs_engine *e)
{
	for (uint32_t i = 0; i < e->workload->nr_tasks; i++) {
		if (!e->runners[i].dropped)
			rs_place_add(e, &e->runners[i]);
	}
	rs_place_started(e);
	for (uint32_t i = 0; i < e->workload->nr_tasks; i++) {
		struct rs_runner *r = &e->runners[i];

		if (r->dropped || r->program->birth == RS_BORN_FORKED)
			continue;
		rs_eng_emit_comm(e, r, r->cpu, false);
		if (is_fair(r)) {
			rs_eng_init_fair(e, r);
			set_start_lag(e, r);
		}
		if (r->program->birth == RS_BORN_ASLEEP)
			start_asleep(e, r);
		else if (r->program->birth == RS_BORN_QUEUED)
			start_queued(e, r);
		else
			start_running(e, r);
	}
	for (unsigned int cpu = 0; cpu < e->nr_cpus; cpu++) {
		struct rs_cpu *c = cpu_of(e, cpu);

		c->rq.need_resched = false;
		if (c->curr)
			rs_eng_arm(e, c);
		else if (c->nr_waiting)
			rs_eng_request_switch(e, c, 0);
	}
}
