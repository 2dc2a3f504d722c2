// SPDX-License-Identifier: GPL-2.0-only
/* Tasks and cpus by number, and the programs as they grow. */
#include "replay/rebuild.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- tasks and cpus by number ---- */

int rs_rebuild_new_task(struct rs_rebuild *rb, int32_t pid, uint32_t *ret)
{
	int64_t idx = rs_workload_add(rb->workload, pid);

	if (idx < 0)
		return -ENOMEM;
	if ((uint32_t)idx >= rb->tracks_room) {
		uint32_t room = rb->tracks_room ? rb->tracks_room * 2 : 64;
		struct rs_task_track *tracks = realloc(rb->tracks, room * sizeof(*tracks));

		if (!tracks)
			return -ENOMEM;
		rb->tracks = tracks;
		rb->tracks_room = room;
	}
	memset(&rb->tracks[idx], 0, sizeof(rb->tracks[idx]));
	rb->tracks[idx].block = rb->tracks[idx].early_block = UINT32_MAX;
	rb->tracks[idx].last_comm = UINT32_MAX;
	rb->tracks[idx].last_prio = INT32_MIN;
	rb->tracks[idx].wake.task = RS_NO_TASK;
	rb->tracks[idx].maybe = rb->tracks[idx].confirmed = RS_NO_CHANGE;
	*ret = (uint32_t)idx;
	return rs_map_set(&rb->by_pid, (uint32_t)pid, (uint32_t)idx);
}

int rs_rebuild_find_task(struct rs_rebuild *rb, int32_t pid, uint32_t *ret)
{
	uint32_t idx = rs_map_get(&rb->by_pid, (uint32_t)pid);

	if (idx == RS_MAP_NONE)
		return rs_rebuild_new_task(rb, pid, ret);
	*ret = idx;
	return 0;
}

struct rs_cpu_track *rs_rebuild_find_cpu(struct rs_rebuild *rb, unsigned int cpu)
{
	if (cpu >= rb->nr_cpus) {
		unsigned int nr = cpu + 1;
		struct rs_cpu_track *cpus = realloc(rb->cpus, nr * sizeof(*cpus));

		if (!cpus)
			return NULL;
		for (unsigned int i = rb->nr_cpus; i < nr; i++)
			cpus[i] = (struct rs_cpu_track){ .curr = RS_CURR_UNKNOWN, .since_ns = rb->first_ns };
		rb->cpus = cpus;
		rb->nr_cpus = nr;
	}
	return &rb->cpus[cpu];
}

/* ---- demand and operations ---- */

/* Demand of the task that runs on @cpu, up to @ts. */
void rs_rebuild_eat(struct rs_rebuild *rb, struct rs_cpu_track *cpu, uint64_t ts)
{
	if (cpu->curr < RS_CURR_UNKNOWN && ts > cpu->since_ns)
		rb->tracks[cpu->curr].run_ns += ts - cpu->since_ns;
	cpu->since_ns = ts;
}

struct rs_op *rs_rebuild_append(struct rs_rebuild *rb, uint32_t task, enum rs_op_kind kind)
{
	struct rs_op *op = rs_program_append(rs_rebuild_program(rb, task));

	if (!op)
		return NULL;
	op->kind = (uint8_t)kind;
	op->run_ns = rb->tracks[task].run_ns;
	op->cpu = rb->tracks[task].cpu;
	rb->tracks[task].run_ns = 0;
	return op;
}

/* Append an operation where the task changed its parameters; at its present point when that is not known. */
static struct rs_op *append_change(struct rs_rebuild *rb, uint32_t task, enum rs_op_kind kind)
{
	struct rs_task_track *track = &rb->tracks[task];
	uint64_t later = 0;
	struct rs_op *op;

	if (track->confirmed.nr_ops == rs_rebuild_program(rb, task)->nr_ops && track->confirmed.run_ns <= track->run_ns) {
		later = track->run_ns - track->confirmed.run_ns;
		track->run_ns = track->confirmed.run_ns;
	}
	op = rs_rebuild_append(rb, task, kind);
	track->run_ns = later;
	track->confirmed = RS_NO_CHANGE;
	return op;
}

/* The first change of a child whose policy or slice the snapshot shows to differ from its parent's is that change. */
static int take_attr(struct rs_rebuild *rb, uint32_t task)
{
	struct rs_program *program = rs_rebuild_program(rb, task);
	const struct resched_host_task *known;
	struct rs_op *op;

	if (program->parent == RS_NO_TASK || program->attr_later || program->birth_nr ||
	    rb->tracks[task].confirmed.nr_ops == UINT32_MAX)
		return 0;
	known = resched_host_task(rb->workload->host, program->pid);
	if (!known || (known->policy == 0 && !known->slice_ns))
		return 0;
	op = append_change(rb, task, RS_OP_ATTR);
	if (!op)
		return -ENOMEM;
	op->arg = (uint32_t)known->policy;
	op->when_ns = known->slice_ns;
	program->attr_later = 1;
	return 0;
}

/* The running task was accounted by itself; whether that means something shows by what follows. */
int rs_rebuild_note_change(struct rs_rebuild *rb, struct rs_cpu_track *cpu, uint32_t task, uint64_t ts)
{
	struct rs_task_track *track = &rb->tracks[task];
	int rc = 0;

	rs_rebuild_eat(rb, cpu, ts);
	if (track->maybe.nr_ops != UINT32_MAX) {
		track->confirmed = track->maybe;
		rc = take_attr(rb, task);
	}
	track->maybe = (struct rs_change){ rs_rebuild_program(rb, task)->nr_ops, rb->tracks[task].run_ns, ts };
	return rc;
}

/* A switch: the accounting just before it was its own. */
int rs_rebuild_settle_change(struct rs_rebuild *rb, uint32_t task, uint64_t ts)
{
	struct rs_task_track *track = &rb->tracks[task];

	if (track->maybe.nr_ops != UINT32_MAX && ts - track->maybe.ts > RS_SWITCH_PATH_NS)
		track->confirmed = track->maybe;
	track->maybe = RS_NO_CHANGE;
	return take_attr(rb, task);
}

int rs_rebuild_set_prio(struct rs_rebuild *rb, uint32_t task, int prio)
{
	struct rs_task_track *track = &rb->tracks[task];
	struct rs_op *op;

	if (track->last_prio == prio)
		return 0;
	if (track->last_prio == INT32_MIN) {
		rs_rebuild_program(rb, task)->prio = prio;
	} else {
		op = append_change(rb, task, RS_OP_PRIO);
		if (!op)
			return -ENOMEM;
		op->arg = (uint32_t)prio;
	}
	track->last_prio = prio;
	return 0;
}

/* A task met for the first time, in the state the event implies. */
void rs_rebuild_first_sight(struct rs_rebuild *rb, uint32_t task, enum rs_birth birth, unsigned int cpu)
{
	struct rs_program *program = rs_rebuild_program(rb, task);

	if (rb->tracks[task].state != RS_TASK_UNSEEN)
		return;
	program->birth = (uint8_t)birth;
	program->cpu = (uint16_t)cpu;
	rb->tracks[task].cpu = (uint16_t)cpu;
	rb->tracks[task].seen_ns = rb->tracks[task].awake_ns = birth == RS_BORN_FORKED ? rb->last_ns : rb->first_ns;
}

/* ---- where it waits ---- */

void rs_rebuild_placed(struct rs_rebuild *rb, uint32_t task, unsigned int cpu)
{
	struct rs_task_track *track = &rb->tracks[task];
	struct rs_program *program = rs_rebuild_program(rb, task);

	track->placing = 0;
	track->cpu = (uint16_t)cpu;
	if (track->block != UINT32_MAX)
		program->ops[track->block].cpu = (uint16_t)cpu;
	else if (program->birth == RS_BORN_FORKED && !program->nr_ops)
		program->cpu = (uint16_t)cpu;
}

int rs_rebuild_move(struct rs_rebuild *rb, struct rs_cpu_track *by, uint32_t task, unsigned int to, uint64_t ts, int pulled)
{
	bool asleep = rb->tracks[task].state == RS_TASK_SLEEPING;
	uint64_t since = asleep ? rs_rebuild_program(rb, task)->ops[rb->tracks[task].block].when_ns : rb->tracks[task].queued_ns;
	unsigned int from = rb->tracks[task].cpu;
	struct rs_op_ref ref;
	struct rs_op *op;

	rb->tracks[task].cpu = (uint16_t)to;
	rb->tracks[task].pended = 0;
	op = rs_rebuild_append(rb, task, RS_OP_MOVE);
	if (!op)
		return -ENOMEM;
	if (asleep)
		op->rule = pulled ? RS_MOVE_ASLEEP_PULLED : RS_MOVE_ASLEEP;
	else
		op->rule = pulled ? RS_MOVE_PULLED : RS_MOVE_TIMED;
	op->len_ns = since && ts > since ? ts - since : 0;
	if (pulled && to < rb->nr_cpus && since && rb->cpus[to].empty_ns > since && rb->cpus[to].empty_ns < ts)
		op->when_ns = rb->cpus[to].empty_ns - since;
	ref = (struct rs_op_ref){ task, rs_rebuild_program(rb, task)->nr_ops - 1 };
	if (!asleep && by) {
		if (by->move_ns && ts - by->move_ns < RS_SAME_PASS_NS)
			rs_rebuild_program(rb, by->move.task)->ops[by->move.op].arg = 1;
		by->move_ns = ts;
		by->move = ref;
	}
	if (pulled && to < rb->nr_cpus)
		rb->cpus[to].empty_ns = ts;
	if (from < rb->nr_cpus) /* who runs there is accounted, and may have had its slice */
		rb->cpus[from].wakeup_ns = ts;
	if (!asleep) {
		rb->tracks[task].queued_ns = ts;
		if (!pulled) {
			rb->tracks[task].wake = ref;
			rb->tracks[task].wake_ns = ts;
		}
	}
	return rs_annotate_move(rb->annotate, from, to, ts, ref, pulled != 0);
}
