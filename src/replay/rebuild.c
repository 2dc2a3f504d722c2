// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a recording to a workload, in one pass.
 *
 * Every task is followed through RUNNING, QUEUED and SLEEPING as resched/analysis.h pairs waits. Time on the
 * cpu is demand. A waking issued in task context becomes an operation of the waker at that point of its
 * progress; one from an interrupt or from idle is external and is classified afterwards (timers.c).
 */
#include "replay/rebuild.h"

#include "base/error.h"
#include "replay/complete.h"
#include "replay/start_lags.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- the other events ---- */

static int on_fork(struct rs_rebuild *rb, struct rs_cpu_track *cpu, const struct resched_event *event)
{
	uint32_t child, old = rs_map_get(&rb->by_pid, (uint32_t)event->fork.child_pid);
	uint32_t parent = rs_map_get(&rb->by_pid, (uint32_t)event->pid);
	struct rs_program *program;
	struct rs_op *op;
	int rc;

	if (old != RS_MAP_NONE && rb->tracks[old].state == RS_TASK_UNSEEN) {
		child = old; /* so far only its name has come */
	} else {
		rc = rs_rebuild_new_task(rb, event->fork.child_pid, &child);
		if (rc < 0)
			return rc;
		if (old != RS_MAP_NONE)
			rs_rebuild_program(rb, child)->birth_nr = rs_rebuild_program(rb, old)->birth_nr + 1;
	}
	program = rs_rebuild_program(rb, child);
	rs_rebuild_first_sight(rb, child, RS_BORN_FORKED, event->cpu);
	rb->tracks[child].state = RS_TASK_QUEUED;
	rb->tracks[child].woken_ns = rb->tracks[child].queued_ns = event->ts_ns;
	rb->tracks[child].placing = 1;
	if (parent == RS_MAP_NONE || cpu->curr != parent) {
		/* Nobody's progress to tie it to: it appears at the recorded instant. */
		program->birth = RS_BORN_ASLEEP;
		op = rs_rebuild_append(rb, child, RS_OP_BLOCK);
		if (!op)
			return -ENOMEM;
		op->rule = RS_RULE_ABSOLUTE;
		op->when_ns = event->ts_ns;
		rb->tracks[child].block = 0;
		return 0;
	}
	program->parent = parent;
	rs_rebuild_eat(rb, cpu, event->ts_ns);
	op = rs_rebuild_append(rb, parent, RS_OP_FORK);
	if (!op)
		return -ENOMEM;
	op->arg = child;
	/* What follows up to sched_wakeup_new is to it as a waking is to its wakeup. */
	rb->tracks[child].wake = (struct rs_op_ref){ parent, rs_rebuild_program(rb, parent)->nr_ops - 1 };
	rb->tracks[child].wake_ns = event->ts_ns;
	return rs_annotate_waking(rb->annotate, event->cpu, event->ts_ns, rb->tracks[child].wake);
}

static int on_exit_begins(struct rs_rebuild *rb, struct rs_cpu_track *cpu, const struct resched_event *event)
{
	if (cpu->curr >= RS_CURR_UNKNOWN || rs_rebuild_program(rb, cpu->curr)->pid != event->pid)
		return 0;
	rs_rebuild_eat(rb, cpu, event->ts_ns);
	return rs_rebuild_append(rb, cpu->curr, RS_OP_EXITING) ? 0 : -ENOMEM;
}

/* Seen when the new program is loaded, some way after the task was placed. */
static int on_exec(struct rs_rebuild *rb, struct rs_cpu_track *cpu, const struct resched_event *event)
{
	if (cpu->curr >= RS_CURR_UNKNOWN || rs_rebuild_program(rb, cpu->curr)->pid != event->pid)
		return 0;
	rs_rebuild_eat(rb, cpu, event->ts_ns);
	return rs_rebuild_append(rb, cpu->curr, RS_OP_EXEC) ? 0 : -ENOMEM;
}

static int on_comm(struct rs_rebuild *rb, const struct resched_event *event)
{
	const char *text = resched_names_get(rb->trace_names, event->comm.name);
	int64_t name = resched_names_intern(rb->workload->names, text, strlen(text));
	struct rs_task_track *track;
	struct rs_op *op;
	uint32_t task;
	int rc;

	if (name < 0)
		return -ENOMEM;
	rc = rs_rebuild_find_task(rb, event->pid, &task);
	if (rc < 0)
		return rc;
	track = &rb->tracks[task];
	if (track->last_comm == (uint32_t)name)
		return 0;
	track->last_comm = (uint32_t)name;
	if (rs_rebuild_program(rb, task)->comm == UINT32_MAX) {
		rs_rebuild_program(rb, task)->comm = (uint32_t)name;
		return 0;
	}
	if (track->state == RS_TASK_RUNNING && track->cpu < rb->nr_cpus && rb->cpus[track->cpu].curr == task)
		rs_rebuild_eat(rb, &rb->cpus[track->cpu], event->ts_ns);
	op = rs_rebuild_append(rb, task, RS_OP_COMM);
	if (!op)
		return -ENOMEM;
	op->arg = (uint32_t)name;
	return 0;
}

static int on_runtime(struct rs_rebuild *rb, const struct resched_event *event)
{
	uint32_t task = rs_map_get(&rb->by_pid, (uint32_t)event->pid);
	int in_irq = (event->ctx & RESCHED_CTX_HARDIRQ) != 0;
	struct rs_cpu_track *cpu;
	unsigned int charged;

	/* A remote waking is accounted by the waker's cpu: the queue is the charged task's. */
	if (task == RS_MAP_NONE || rb->tracks[task].cpu >= rb->nr_cpus)
		return 0;
	charged = rb->tracks[task].cpu;
	cpu = &rb->cpus[charged];
	if (rb->tracks[task].state == RS_TASK_QUEUED && charged != event->cpu)
		return rs_annotate_runtime(rb->annotate, event->cpu, charged, event->ts_ns, event->runtime.runtime_ns, in_irq, 1);
	if (rb->tracks[task].state != RS_TASK_RUNNING)
		return 0;
	if (cpu->curr != task)
		return 0;
	/* Accounting in a hard interrupt that woke nobody is the tick's. */
	if (in_irq && charged == event->cpu && event->ts_ns - cpu->wakeup_ns > RS_EXPLAINED_NS) {
		cpu->tick_ns = event->ts_ns;
		rs_calibration_tick(rb->cal, event->ts_ns, 1);
	}
	if (!in_irq && charged == event->cpu && !(cpu->waking_ns && event->ts_ns - cpu->waking_ns < RS_SWITCH_PATH_NS)) {
		int rc = rs_rebuild_note_change(rb, cpu, task, event->ts_ns);

		if (rc < 0)
			return rc;
	}
	return rs_annotate_runtime(rb->annotate, event->cpu, charged, event->ts_ns, event->runtime.runtime_ns, in_irq, 0);
}

/* The balancer's doing; between a waking and its end it only tells where the wakee goes. */
static int on_migrate(struct rs_rebuild *rb, struct rs_cpu_track *cpu, const struct resched_event *event)
{
	uint32_t task = rs_map_get(&rb->by_pid, (uint32_t)event->pid);
	unsigned int to = event->migrate.to_cpu;

	if (task == RS_MAP_NONE || rb->tracks[task].cpu == to)
		return 0;
	if (rb->tracks[task].state == RS_TASK_QUEUED ? rb->tracks[task].placing
						     : rb->tracks[task].state != RS_TASK_SLEEPING || rb->tracks[task].block == UINT32_MAX)
		return 0;
	return rs_rebuild_move(rb, event->cpu == to ? cpu : NULL, task, to, event->ts_ns, event->cpu == to && cpu->curr != RS_NO_TASK && !(event->ctx & (RESCHED_CTX_SOFTIRQ | RESCHED_CTX_HARDIRQ)));
}

static int on_lost(struct rs_rebuild *rb, struct rs_cpu_track *cpu, const struct resched_event *event)
{
	if (cpu->curr < RS_CURR_UNKNOWN)
		rb->tracks[cpu->curr].state = RS_TASK_QUEUED;
	*cpu = (struct rs_cpu_track){ .curr = RS_CURR_UNKNOWN, .since_ns = event->ts_ns, .reference_ns = event->ts_ns };
	return rs_annotate_lost(rb->annotate, event->cpu);
}

/* Before a cpu's first switch its current task shows in what it does: the events carry its pid even in interrupts. */
static int assume_current(struct rs_rebuild *rb, struct rs_cpu_track *cpu, const struct resched_event *event)
{
	int32_t pid;
	int rc;

	if (event->type == RESCHED_EV_FORK || event->type == RESCHED_EV_EXIT)
		pid = event->pid;
	else if (event->type == RESCHED_EV_WAKING || event->type == RESCHED_EV_WAKEUP_NEW)
		pid = event->wake.waker_pid;
	else
		return 0;
	if (!pid) {
		cpu->curr = RS_NO_TASK;
		return 0;
	}
	rc = rs_rebuild_find_task(rb, pid, &cpu->curr);
	if (rc < 0)
		return rc;
	rs_rebuild_first_sight(rb, cpu->curr, RS_BORN_RUNNING, event->cpu);
	rb->tracks[cpu->curr].cpu = event->cpu;
	rb->tracks[cpu->curr].state = RS_TASK_RUNNING;
	cpu->since_ns = cpu->reference_ns ? cpu->reference_ns : rb->first_ns;
	return 0;
}

/* @event with its stamp moved over the holes before it. */
static struct resched_event without_holes(struct rs_rebuild *rb, const struct resched_event *event)
{
	struct resched_event moved = *event;

	moved.ts_ns -= rb->cut_ns;
	if (rb->first_ns && moved.ts_ns > rb->last_ns && moved.ts_ns - rb->last_ns > RS_HOLE_NS) {
		uint64_t hole = (moved.ts_ns - rb->last_ns) / 1000000000u * 1000000000u;

		rb->cut_ns += hole;
		moved.ts_ns -= hole;
	}
	return moved;
}

static int take_event(struct rs_rebuild *rb, const struct resched_event *event)
{
	struct rs_cpu_track *cpu;

	if (!rb->first_ns)
		rb->first_ns = event->ts_ns;
	rb->last_ns = event->ts_ns;
	cpu = rs_rebuild_find_cpu(rb, event->cpu);
	if (!cpu || (cpu->curr == RS_CURR_UNKNOWN && assume_current(rb, cpu, event) < 0))
		return -ENOMEM;
	switch (event->type) {
	case RESCHED_EV_SWITCH:
		return rs_rebuild_on_switch(rb, cpu, event);
	case RESCHED_EV_WAKING:
	case RESCHED_EV_WAKEUP:
		return rs_rebuild_on_waking(rb, cpu, event);
	case RESCHED_EV_WAKEUP_NEW: {
		uint32_t task = rs_map_get(&rb->by_pid, (uint32_t)event->pid);

		if (task == RS_MAP_NONE || rb->tracks[task].state == RS_TASK_UNSEEN)
			return rs_rebuild_on_waking(rb, cpu, event);
		if (rb->tracks[task].placing && rb->tracks[task].state == RS_TASK_QUEUED) {
			int rc = rs_annotate_wakeup(rb->annotate, event->cpu, event->wake.target_cpu, event->ts_ns,
						    rb->tracks[task].wake, rb->tracks[task].wake_ns);

			if (rc < 0)
				return rc;
			rs_rebuild_placed(rb, task, event->wake.target_cpu);
		}
		return rs_rebuild_set_prio(rb, task, event->wake.prio);
	}
	case RESCHED_EV_FORK:
		return on_fork(rb, cpu, event);
	case RESCHED_EV_EXIT:
		return on_exit_begins(rb, cpu, event);
	case RESCHED_EV_EXEC:
		return on_exec(rb, cpu, event);
	case RESCHED_EV_COMM:
		return on_comm(rb, event);
	case RESCHED_EV_MIGRATE:
		return on_migrate(rb, cpu, event);
	case RESCHED_EV_RUNTIME:
		return on_runtime(rb, event);
	case RESCHED_EV_LOST:
		return on_lost(rb, cpu, event);
	default:
		return 0;
	}
}

/* ---- after the last event ---- */

/* A preemption without a cause was the task's own doing (sched_yield, a change of its parameters), unless a tick fell just before. */
static void judge_rescheds(struct rs_rebuild *rb, const struct rs_tick *tick)
{
	for (uint32_t i = 0; i < rb->nr_rescheds; i++) {
		struct rs_op *op = &rs_rebuild_program(rb, rb->rescheds[i].task)->ops[rb->rescheds[i].op];
		uint64_t since = (op->when_ns - tick->phase_ns + RS_EXPLAINED_NEAR_NS / 2) % tick->tick_ns;

		if (!tick->confidence || since < RS_EXPLAINED_NEAR_NS + RS_EXPLAINED_NEAR_NS / 2)
			op->kind = RS_OP_NONE;
	}
}

/*
 * A task that blocks soon after it woke another was on its way there, and would not have been preempted before, where the preemption of
 * this machine takes longer than that. Where it is faster it would have come first.
 */
static void judge_blocking_wakes(struct rs_rebuild *rb)
{
	struct resched_workload *workload = rb->workload;
	uint64_t preempt_ns = workload->info.preempt_delay_ns;

	for (uint32_t t = 0; preempt_ns && t < workload->nr_tasks; t++) {
		struct rs_program *program = &workload->tasks[t];

		for (uint32_t i = 0; i + 1 < program->nr_ops; i++) {
			struct rs_op *op = &program->ops[i];
			const struct rs_op *next = op + 1;

			if (op->kind == RS_OP_WAKE && next->kind == RS_OP_BLOCK && op->delay_ns > 0 && (uint64_t)op->delay_ns == next->run_ns + 1 &&
			    next->run_ns > preempt_ns)
				op->delay_ns = RS_UNKNOWN;
		}
	}
}

static int set_timing(struct rs_rebuild *rb)
{
	struct resched_workload *workload = rb->workload;
	struct resched_workload_info *info = &workload->info;
	struct rs_tick tick;

	rs_calibration_find_tick(rb->cal, workload->host->hz, &tick);
	judge_rescheds(rb, &tick);
	info->hz = tick.hz;
	info->hz_assumed = !workload->host->hz && tick.confidence == 0;
	info->tick_ns = tick.tick_ns;
	info->tick_phase_ns = tick.phase_ns;
	info->tick_confidence = tick.confidence;
	info->idle_exit_ns = rs_calibration_median(rb->cal, RS_DELAY_IDLE_EXIT);
	info->preempt_delay_ns = rs_calibration_median(rb->cal, RS_DELAY_PREEMPT);
	info->tick_delay_ns = tick.accounted ? rs_calibration_median(rb->cal, RS_DELAY_TICK) : 0;
	judge_blocking_wakes(rb);
	workload->switch_lead_ns = rs_calibration_median(rb->cal, RS_DELAY_LEAD);
	workload->idle_lead_ns = rs_calibration_median(rb->cal, RS_DELAY_IDLE_LEAD);
	workload->wake_clock_ns = rs_calibration_median(rb->cal, RS_DELAY_WAKE_CLOCK);
	return rs_annotate_ticks(rb->annotate, &tick);
}

static int complete(struct rs_rebuild *rb)
{
	struct rs_ending *endings = calloc(rb->workload->nr_tasks + 1u, sizeof(*endings));
	int rc;

	if (!endings)
		return -ENOMEM;
	for (uint32_t t = 0; t < rb->workload->nr_tasks; t++) {
		static const enum rs_end ends[] = { [RS_TASK_UNSEEN] = RS_END_GONE, [RS_TASK_DEAD] = RS_END_GONE, [RS_TASK_SLEEPING] = RS_END_ASLEEP, [RS_TASK_RUNNING] = RS_END_RUNNABLE, [RS_TASK_QUEUED] = RS_END_RUNNABLE };

		const struct rs_task_track *track = &rb->tracks[t];

		endings[t].end = ends[track->state];
		endings[t].run_ns = track->run_ns;
		endings[t].hog = track->ran && 2 * (rb->last_ns - track->awake_ns) > rb->last_ns - track->seen_ns;
	}
	rc = rs_programs_complete(rb->workload, endings);
	free(endings);
	return rc;
}

static int finish(struct rs_rebuild *rb)
{
	struct resched_workload *workload = rb->workload;
	int rc;

	for (unsigned int i = 0; i < rb->nr_cpus; i++)
		rs_rebuild_eat(rb, &rb->cpus[i], rb->last_ns); /* whoever still runs when the recording ends */
	rc = set_timing(rb); /* refers to operations by number, which completing changes */
	if (!rc)
		rc = complete(rb);
	workload->max_cpu = rb->nr_cpus;
	workload->info.nr_cpus = rb->nr_cpus;
	workload->info.nr_tasks = workload->nr_tasks;
	workload->info.first_ns = rb->first_ns;
	workload->info.last_ns = rb->last_ns;
	workload->info.cut_ns = rb->cut_ns;
	return rc;
}

/* ---- the pass ---- */

/* Our own copy of the snapshot; without one, an empty one. */
static int copy_host(const struct resched_host *host, struct resched_host **ret, struct resched_error *err)
{
	if (host)
		return resched_host_copy(host, ret, err);
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

static int read_all(struct rs_rebuild *rb, struct resched_trace *trace, struct rs_shadow_log *beginning, resched_event_fn tee, void *tee_ctx,
		    struct resched_error *err)
{
	const struct resched_event *event;
	struct resched_event moved;
	int rc;

	while ((rc = resched_trace_next(trace, &event, err)) > 0) {
		if (tee) {
			rc = tee(tee_ctx, event);
			if (rc < 0)
				return rs_error_set(err, RESCHED_FAILED, rc, "cannot analyse the recording:");
		}
		moved = without_holes(rb, event);
		rc = take_event(rb, &moved);
		if (rc >= 0)
			rc = rs_start_lags_event(beginning, &moved);
		if (rc < 0)
			return rs_error_nomem(err);
	}
	return rc;
}

static void rebuild_release(struct rs_rebuild *rb)
{
	rs_map_release(&rb->by_pid);
	rs_calibration_free(rb->cal);
	rs_annotate_free(rb->annotate);
	free(rb->tracks);
	free(rb->cpus);
	free(rb->rescheds);
	resched_workload_free(rb->workload);
}

int resched_workload_build(struct resched_trace *trace, const struct resched_host *host, resched_event_fn tee, void *tee_ctx,
			   struct resched_workload **ret, struct resched_error *err)
{
	struct rs_rebuild rb = { .trace_names = resched_trace_names(trace) };
	struct rs_shadow_log beginning = { .trace = trace };
	int rc;

	rb.workload = rs_workload_alloc();
	rb.cal = rs_calibration_new();
	rb.annotate = rb.workload && rb.cal ? rs_annotate_new(rb.workload, rb.cal) : NULL;
	if (!rb.annotate) {
		rc = rs_error_nomem(err);
		goto out;
	}
	rc = copy_host(host ? host : resched_trace_host(trace), &rb.workload->host, err);
	if (rc < 0)
		goto out;
	rc = read_all(&rb, trace, &beginning, tee, tee_ctx, err);
	if (rc < 0)
		goto out;
	if (!rb.nr_switches) {
		rc = rs_error_set(err, RESCHED_FAILED, -ENODATA,
				  "no sched_switch events in '%s': nothing to replay; record with 'resched record'",
				  resched_trace_source(trace)->file);
		goto out;
	}
	rc = finish(&rb);
	if (rc >= 0)
		rc = rs_start_lags_find(&beginning, rb.workload, resched_trace_names(trace));
	if (rc < 0) {
		rc = rs_error_nomem(err);
		goto out;
	}
	*ret = rb.workload;
	rb.workload = NULL;
out:
	rs_shadow_log_release(&beginning);
	rebuild_release(&rb);
	return rc;
}
