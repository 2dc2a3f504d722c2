// SPDX-License-Identifier: GPL-2.0-only
/* Switches: demand of who ran, why it stopped, and how long who comes next had waited. */
#include "replay/rebuild.h"

#include <errno.h>
#include <stdlib.h>

#define PREEMPT_MAX_NS 200000u /* longer from waking to switch: not one uninterrupted path */

static unsigned int sleep_state(uint32_t state, int *ret_special)
{
	static const struct {
		uint32_t bit;
		uint8_t code, special;
	} table[] = {
		{ RESCHED_STATE_S, 0, 0 },
		{ RESCHED_STATE_D, 1, 0 },
		{ RESCHED_STATE_I, 2, 0 },
		{ RESCHED_STATE_T, 3, 1 },
		{ RESCHED_STATE_t, 4, 1 },
		{ RESCHED_STATE_P, 5, 1 },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (state & table[i].bit) {
			*ret_special = table[i].special;
			return table[i].code;
		}
	}
	*ret_special = 0;
	return 6;
}

static int switch_out_blocked(struct rs_rebuild *rb, const struct resched_event *event, uint32_t task)
{
	struct rs_task_track *track = &rb->tracks[task];
	struct rs_op *op = rs_rebuild_append(rb, task, RS_OP_BLOCK);
	int special;

	if (!op)
		return -ENOMEM;
	op->state = (uint8_t)(sleep_state(event->sw.prev_state, &special) & 7);
	op->special = (uint8_t)(special & 1);
	op->when_ns = event->ts_ns;
	if (op->state == 2)
		rs_rebuild_program(rb, task)->kthread = 1; /* only kernel threads sleep in TASK_IDLE */
	track->block = rs_rebuild_program(rb, task)->nr_ops - 1;
	track->state = RS_TASK_SLEEPING;
	if (track->pending) {
		track->state = RS_TASK_QUEUED;
		track->woken_ns = track->awake_ns = track->queued_ns = event->ts_ns;
		track->ran = 0;
		track->placing = 1;
		track->pended = 1;
		rs_rebuild_end_sleep(rb, task, event->ts_ns, track->pending_causal ? track->pending_waker : RS_NO_TASK);
		op->len_ns = track->pending_causal ? 0 : 1; /* from outside and 0: it did not even leave its cpu */
		if (track->pending_causal) {
			if (event->ts_ns - track->pending_ns < RS_SWITCH_PATH_NS + RS_SKEW_NS)
				op->delay_ns = (int32_t)(event->ts_ns - track->pending_ns);
			rs_rebuild_program(rb, track->pending_waker)->ops[track->pending_op].kind = RS_OP_WAKE;
			track->wake = (struct rs_op_ref){ track->pending_waker, track->pending_op };
			track->wake_ns = track->pending_ns;
		}
	}
	track->pending = 0;
	return 0;
}

static int note_resched(struct rs_rebuild *rb, uint32_t task)
{
	if (rb->nr_rescheds == rb->rescheds_room) {
		uint32_t room = rb->rescheds_room ? rb->rescheds_room * 2 : 64;
		void *rescheds = realloc(rb->rescheds, room * sizeof(*rb->rescheds));

		if (!rescheds)
			return -ENOMEM;
		rb->rescheds = rescheds;
		rb->rescheds_room = room;
	}
	rb->rescheds[rb->nr_rescheds].task = task;
	rb->rescheds[rb->nr_rescheds++].op = rs_rebuild_program(rb, task)->nr_ops - 1;
	return 0;
}

/* Switched out although runnable: by a tick, by a wakeup, or by its own doing. */
static int switch_out_runnable(struct rs_rebuild *rb, struct rs_cpu_track *cpu, const struct resched_event *event, uint32_t task)
{
	struct rs_task_track *track = &rb->tracks[task];
	uint64_t since_wakeup = event->ts_ns - cpu->wakeup_ns;
	struct rs_op *op;

	track->state = RS_TASK_QUEUED;
	track->woken_ns = 0;
	track->queued_ns = event->ts_ns;
	track->block = UINT32_MAX;
	track->pending = 0;
	if (since_wakeup > RS_EXPLAINED_NS)
		rs_calibration_tick(rb->cal, event->ts_ns, 0);
	if (cpu->tick_ns && event->ts_ns - cpu->tick_ns < RS_EXPLAINED_NEAR_NS && since_wakeup > RS_EXPLAINED_NS)
		rs_calibration_delay(rb->cal, RS_DELAY_TICK, event->ts_ns - cpu->tick_ns);
	if ((event->sw.prev_state & RESCHED_STATE_PREEMPT) || since_wakeup < RS_EXPLAINED_NEAR_NS)
		return 0;
	op = rs_rebuild_append(rb, task, RS_OP_RESCHED);
	if (!op)
		return -ENOMEM;
	op->when_ns = event->ts_ns;
	return note_resched(rb, task);
}

static int switch_out(struct rs_rebuild *rb, struct rs_cpu_track *cpu, const struct resched_event *event)
{
	uint32_t task;
	int rc = rs_rebuild_find_task(rb, event->pid, &task);

	if (rc < 0)
		return rc;
	rs_rebuild_first_sight(rb, task, RS_BORN_RUNNING, event->cpu);
	if (cpu->curr != task) {
		/* Not seen when it was switched in: it ran since the cpu was first observed, or since a loss. */
		cpu->curr = task;
		cpu->since_ns = cpu->reference_ns ? cpu->reference_ns : rb->first_ns;
		if (rb->tracks[task].state != RS_TASK_UNSEEN && rb->tracks[task].state != RS_TASK_RUNNING)
			cpu->since_ns = event->ts_ns;
	}
	rb->tracks[task].cpu = event->cpu;
	rb->tracks[task].ran = 1;
	rb->tracks[task].wake.task = RS_NO_TASK;
	rs_rebuild_eat(rb, cpu, event->ts_ns);
	rc = rs_rebuild_settle_change(rb, task, event->ts_ns);
	if (!rc)
		rc = rs_rebuild_set_prio(rb, task, event->sw.prev_prio);
	if (rc < 0)
		return rc;
	if (resched_state_runnable(event->sw.prev_state))
		return switch_out_runnable(rb, cpu, event, task);
	if (event->sw.prev_state & (RESCHED_STATE_X | RESCHED_STATE_Z)) {
		rb->tracks[task].state = RS_TASK_DEAD;
		return rs_rebuild_append(rb, task, RS_OP_EXIT) ? 0 : -ENOMEM;
	}
	return switch_out_blocked(rb, event, task);
}

static int switch_in(struct rs_rebuild *rb, struct rs_cpu_track *cpu, const struct resched_event *event)
{
	struct rs_task_track *track;
	uint32_t task;
	int rc = rs_rebuild_find_task(rb, event->sw.next_pid, &task);

	if (rc < 0)
		return rc;
	rs_rebuild_first_sight(rb, task, RS_BORN_QUEUED, event->cpu);
	track = &rb->tracks[task];
	if (track->woken_ns && track->state == RS_TASK_QUEUED) {
		uint64_t delay = event->ts_ns - track->woken_ns;

		if (track->placing)
			rs_rebuild_placed(rb, task, event->cpu);
		if (!event->pid && cpu->since_ns < track->woken_ns) /* idle since before the waking */
			rs_calibration_delay(rb->cal, RS_DELAY_IDLE_EXIT, delay);
		else if (event->pid && resched_state_runnable(event->sw.prev_state) && delay < PREEMPT_MAX_NS)
			rs_calibration_delay(rb->cal, RS_DELAY_PREEMPT, delay);
	}
	track->early_block = UINT32_MAX;
	track->pended = 0;
	if (track->state == RS_TASK_SLEEPING && track->block != UINT32_MAX) {
		/* The clocks of the cpus differ: its waking is still to come, or got lost. */
		rs_rebuild_end_sleep(rb, task, event->ts_ns, RS_NO_TASK);
		rs_rebuild_placed(rb, task, event->cpu);
		track->early_block = track->block;
		track->early_ns = event->ts_ns;
	}
	if (track->cpu != event->cpu && track->state != RS_TASK_UNSEEN) {
		/* Nothing told of it. */
		rc = rs_rebuild_move(rb, NULL, task, event->cpu, event->ts_ns, event->pid && !resched_state_runnable(event->sw.prev_state));
		if (rc < 0)
			return rc;
		track = &rb->tracks[task];
	}
	track->cpu = event->cpu;
	track->state = RS_TASK_RUNNING;
	track->block = UINT32_MAX;
	track->pending = 0;
	rc = rs_rebuild_set_prio(rb, task, event->sw.next_prio);
	*cpu = (struct rs_cpu_track){ .curr = task, .since_ns = event->ts_ns, .wakeup_ns = cpu->wakeup_ns, .reference_ns = event->ts_ns, .empty_ns = cpu->empty_ns };
	return rc;
}

static int annotate_switch(struct rs_rebuild *rb, const struct resched_event *event)
{
	struct rs_switch_note note = {
		.prev = { RS_NO_TASK, 0 },
		.wake = { RS_NO_TASK, 0 },
		.preempted = event->pid && resched_state_runnable(event->sw.prev_state),
		.from_idle = !event->pid,
		.to_fair = event->sw.next_pid && event->sw.next_prio >= 100,
	};
	uint32_t next = rs_map_get(&rb->by_pid, (uint32_t)event->sw.next_pid);

	if (event->pid && !note.preempted) {
		note.prev.task = rs_map_get(&rb->by_pid, (uint32_t)event->pid);
		note.prev.op = rs_rebuild_program(rb, note.prev.task)->nr_ops - 1; /* the BLOCK or EXIT just appended */
	}
	if (event->sw.next_pid && next != RS_MAP_NONE && rb->tracks[next].state == RS_TASK_QUEUED) {
		note.wake = rb->tracks[next].wake;
		note.waking_ts = rb->tracks[next].wake_ns;
	}
	return rs_annotate_switch(rb->annotate, event->cpu, event->ts_ns, &note);
}

int rs_rebuild_on_switch(struct rs_rebuild *rb, struct rs_cpu_track *cpu, const struct resched_event *event)
{
	int rc = 0;

	rb->nr_switches++;
	if (event->pid)
		rc = switch_out(rb, cpu, event);
	if (!rc)
		rc = annotate_switch(rb, event);
	if (rc < 0)
		return rc;
	if (event->sw.next_pid)
		return switch_in(rb, cpu, event);
	*cpu = (struct rs_cpu_track){ .curr = RS_NO_TASK, .since_ns = event->ts_ns, .wakeup_ns = cpu->wakeup_ns, .reference_ns = event->ts_ns, .empty_ns = event->ts_ns };
	return 0;
}
