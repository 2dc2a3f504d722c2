// SPDX-License-Identifier: GPL-2.0-only
/* Wakings: an operation of the waker where a task woke, the end of a sleep from outside where nothing of the kind did. */
#include "replay/rebuild.h"

#include <errno.h>
#include <string.h>

/* Threads that run softirqs wake on behalf of the interrupt but take cpu time of their own to do it. */
static int is_ksoftirqd(const struct rs_rebuild *rb, uint32_t task)
{
	uint32_t comm = rb->tracks[task].last_comm;

	return comm != UINT32_MAX && !strncmp(resched_names_get(rb->workload->names, comm), "ksoftirqd/", 10);
}

/* The task whose program this waking belongs to; RS_NO_TASK when something outside the tasks woke. */
static uint32_t causal_waker(const struct rs_rebuild *rb, const struct rs_cpu_track *cpu, const struct resched_event *event)
{
	if (cpu->curr >= RS_CURR_UNKNOWN || !event->wake.waker_pid || (event->ctx & RESCHED_CTX_HARDIRQ))
		return RS_NO_TASK;
	if (rs_rebuild_program(rb, cpu->curr)->pid != event->wake.waker_pid)
		return RS_NO_TASK;
	if ((event->ctx & RESCHED_CTX_SOFTIRQ) && !is_ksoftirqd(rb, cpu->curr))
		return RS_NO_TASK;
	return cpu->curr;
}

/* Append a WAKE of @target to @waker's program; kind NONE until it is known to have woken a sleeper. */
static int add_wake(struct rs_rebuild *rb, struct rs_cpu_track *cpu, uint64_t ts, uint32_t waker, uint32_t target, enum rs_op_kind kind,
		    uint32_t *ret_op)
{
	struct rs_op *op;

	rs_rebuild_eat(rb, cpu, ts);
	op = rs_rebuild_append(rb, waker, kind);
	if (!op)
		return -ENOMEM;
	op->arg = target;
	*ret_op = rs_rebuild_program(rb, waker)->nr_ops - 1;
	return 0;
}

/* The sleep of @task ends: rule, instant and length of its BLOCK. */
void rs_rebuild_end_sleep(struct rs_rebuild *rb, uint32_t task, uint64_t ts, uint32_t waker)
{
	struct rs_op *op = &rs_rebuild_program(rb, task)->ops[rb->tracks[task].block];

	op->rule = waker == RS_NO_TASK ? RS_RULE_ABSOLUTE : RS_RULE_CAUSAL;
	op->arg = waker;
	op->len_ns = ts - op->when_ns; /* when_ns held the start of the sleep until now */
	op->when_ns = ts;
}

/* @ret_ref: the operation this waking stands for. */
static int wake_sleeper(struct rs_rebuild *rb, struct rs_cpu_track *cpu, const struct resched_event *event, uint32_t task,
			struct rs_op_ref *ret_ref)
{
	struct rs_task_track *track = &rb->tracks[task];
	uint32_t waker = causal_waker(rb, cpu, event);

	if (track->state == RS_TASK_UNSEEN) {
		struct rs_op *op;

		rs_rebuild_first_sight(rb, task, RS_BORN_ASLEEP, event->wake.target_cpu);
		op = rs_rebuild_append(rb, task, RS_OP_BLOCK);
		if (!op)
			return -ENOMEM;
		op->when_ns = rb->first_ns;
		track->block = rs_rebuild_program(rb, task)->nr_ops - 1;
	}
	rs_rebuild_end_sleep(rb, task, event->ts_ns, waker);
	track->state = RS_TASK_QUEUED;
	track->woken_ns = track->awake_ns = track->queued_ns = event->ts_ns;
	track->ran = 0;
	track->placing = 1;
	*ret_ref = (struct rs_op_ref){ task, track->block };
	if (waker == RS_NO_TASK)
		return 0;
	ret_ref->task = waker;
	return add_wake(rb, cpu, event->ts_ns, waker, task, RS_OP_WAKE, &ret_ref->op);
}

/* An interrupt wakes the task it interrupted: that was about to sleep, and does not. A timer that had passed, mostly. */
static int wake_interrupted(struct rs_rebuild *rb, struct rs_cpu_track *cpu, const struct resched_event *event, uint32_t task)
{
	struct rs_op *op;

	rs_rebuild_eat(rb, cpu, event->ts_ns);
	op = rs_rebuild_append(rb, task, RS_OP_BLOCK);
	if (!op)
		return -ENOMEM;
	op->rule = RS_RULE_ABSOLUTE;
	op->when_ns = event->ts_ns;
	return 0;
}

/* A waking of a task that runs: if it goes to sleep all the same, that sleep is over before it began. */
static int wake_running(struct rs_rebuild *rb, struct rs_cpu_track *cpu, const struct resched_event *event, uint32_t task)
{
	struct rs_task_track *track = &rb->tracks[task];
	uint32_t waker = causal_waker(rb, cpu, event), op = 0;

	if (cpu->curr == task)
		return waker == RS_NO_TASK ? wake_interrupted(rb, cpu, event, task) : 0;
	if (track->pending || waker == task)
		return 0;
	if (waker != RS_NO_TASK) {
		int rc = add_wake(rb, cpu, event->ts_ns, waker, task, RS_OP_NONE, &op);

		if (rc < 0)
			return rc;
		track = &rb->tracks[task];
	}
	track->pending = 1;
	track->pending_ns = event->ts_ns;
	track->pending_causal = waker != RS_NO_TASK;
	track->pending_waker = waker;
	track->pending_op = op;
	return 0;
}

/* A wakee that its cpu queued itself, by an interrupt that the waker sent. Kernel: ttwu_queue_wakelist(). */
static void note_queueing(struct rs_rebuild *rb, const struct resched_event *event, uint32_t task)
{
	const struct rs_task_track *track = &rb->tracks[task];
	struct rs_op *op;

	if (track->wake.task == RS_NO_TASK || track->wake.task == task || event->cpu != event->wake.target_cpu)
		return;
	op = &rs_rebuild_program(rb, track->wake.task)->ops[track->wake.op];
	if (op->kind == RS_OP_WAKE && op->cpu != event->cpu && event->ts_ns > track->woken_ns)
		op->len_ns = event->ts_ns - track->woken_ns;
}

/* The waking of a task that ran before by the clock of its cpu. */
static int wake_late(struct rs_rebuild *rb, struct rs_cpu_track *cpu, const struct resched_event *event, uint32_t task)
{
	struct rs_task_track *track = &rb->tracks[task];
	uint32_t block = track->early_block, waker = causal_waker(rb, cpu, event), op;
	int rc;

	track->early_block = UINT32_MAX;
	if (event->cpu != track->cpu && event->ts_ns - track->early_ns > rb->workload->info.clock_skew_ns)
		rb->workload->info.clock_skew_ns = event->ts_ns - track->early_ns;
	if (waker == RS_NO_TASK || waker == task)
		return 0;
	rs_rebuild_program(rb, task)->ops[block].rule = RS_RULE_CAUSAL;
	rs_rebuild_program(rb, task)->ops[block].arg = waker;
	rc = add_wake(rb, cpu, event->ts_ns, waker, task, RS_OP_WAKE, &op);
	if (rc == 0)
		rs_rebuild_program(rb, waker)->ops[op].delay_ns = 0;
	return rc;
}

/*
 * @task seemed to be woken on its way to sleep, and is woken again before it ran: the first waking found it before that, and it slept.
 */
static void sleep_after_all(struct rs_rebuild *rb, uint32_t task)
{
	struct rs_task_track *track = &rb->tracks[task];
	struct rs_op *op = &rs_rebuild_program(rb, task)->ops[track->block];

	if (op->rule == RS_RULE_CAUSAL && track->wake.task != RS_NO_TASK)
		rs_rebuild_program(rb, track->wake.task)->ops[track->wake.op].kind = RS_OP_NONE;
	op->rule = RS_RULE_NEVER;
	op->delay_ns = RS_UNKNOWN;
	track->state = RS_TASK_SLEEPING;
}

int rs_rebuild_on_waking(struct rs_rebuild *rb, struct rs_cpu_track *cpu, const struct resched_event *event)
{
	struct rs_op_ref ref = { RS_NO_TASK, 0 };
	uint32_t task;
	int rc;

	if (!event->pid)
		return 0;
	rc = rs_rebuild_find_task(rb, event->pid, &task);
	if (rc < 0)
		return rc;
	rc = rs_rebuild_set_prio(rb, task, event->wake.prio);
	if (rc < 0)
		return rc;
	cpu->wakeup_ns = event->ts_ns;
	if (event->wake.target_cpu < rb->nr_cpus)
		rb->cpus[event->wake.target_cpu].wakeup_ns = event->ts_ns;
	if (rb->tracks[task].state == RS_TASK_QUEUED && rb->tracks[task].pended && event->type == RESCHED_EV_WAKING)
		sleep_after_all(rb, task);
	if (rb->tracks[task].state == RS_TASK_SLEEPING || rb->tracks[task].state == RS_TASK_UNSEEN) {
		rc = wake_sleeper(rb, cpu, event, task, &ref);
	} else if (event->type == RESCHED_EV_WAKING) {
		if (rb->tracks[task].state == RS_TASK_RUNNING && rb->tracks[task].early_block != UINT32_MAX &&
		    event->ts_ns - rb->tracks[task].early_ns < RS_SKEW_NS)
			rc = wake_late(rb, cpu, event, task);
		else if (rb->tracks[task].state == RS_TASK_RUNNING)
			rc = wake_running(rb, cpu, event, task);
		else
			rb->workload->info.wakes_ignored++;
	}
	if (rc < 0)
		return rc;
	if (event->type != RESCHED_EV_WAKING && rb->tracks[task].placing && rb->tracks[task].state == RS_TASK_QUEUED) {
		rs_rebuild_placed(rb, task, event->wake.target_cpu);
		note_queueing(rb, event, task);
	}
	cpu->waking_ns = event->type == RESCHED_EV_WAKING ? event->ts_ns : 0;
	if (event->type == RESCHED_EV_WAKING) {
		rb->tracks[task].wake = ref;
		rb->tracks[task].wake_ns = event->ts_ns;
		return rs_annotate_waking(rb->annotate, event->cpu, event->ts_ns, ref);
	}
	return rs_annotate_wakeup(rb->annotate, event->cpu, event->wake.target_cpu, event->ts_ns, rb->tracks[task].wake,
				  rb->tracks[task].wake_ns);
}
