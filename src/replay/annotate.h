/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long the kernel took, decision by decision: every operation of a program remembers where the policy's clock stood
 * relative to it and how long the switch it caused took; every tick does the same. A replay that decides as the kernel did then
 * takes exactly as long, so that it does not drift into other decisions by a microsecond here and there. What a recording
 * does not show (RS_UNKNOWN) is replaced by the median.
 *
 * The policy's clock is followed through sched_stat_runtime: a queue's clock at an accounting is its clock at the one
 * before plus the run time charged. It stays unknown in recordings without that event.
 */
#ifndef RS_REPLAY_ANNOTATE_H
#define RS_REPLAY_ANNOTATE_H

#include <stdbool.h>

#include "replay/calibrate.h"
#include "replay/workload.h"

struct rs_annotate;

/* An operation, by the numbers of its task and of itself; task RS_NO_TASK = none. */
struct rs_op_ref {
	uint32_t task, op;
};

struct rs_annotate *rs_annotate_new(struct resched_workload *workload, struct rs_calibration *cal); /* both borrowed; NULL: no memory */
void rs_annotate_free(struct rs_annotate *an);

/* Each takes its event in stream order. @cpu: where it happened. Return: 0; -ENOMEM. */

/* A waking that @ref (WAKE of the waker, or BLOCK of the wakee) stands for. Where it goes is not known yet. */
int rs_annotate_waking(struct rs_annotate *an, unsigned int cpu, uint64_t ts, struct rs_op_ref ref);
/* Its end, on @cpu: the wakee is queued on @target. @ref, @waking_ts: as given to rs_annotate_waking(). */
int rs_annotate_wakeup(struct rs_annotate *an, unsigned int cpu, unsigned int target, uint64_t ts, struct rs_op_ref ref,
		       uint64_t waking_ts);
/* The task that runs on @charged is charged @runtime; reported by @cpu. @early: the clocks of the two differ so much that the switch to
 * that task is still to come. */
int rs_annotate_runtime(struct rs_annotate *an, unsigned int cpu, unsigned int charged, uint64_t ts, uint64_t runtime, int in_irq,
			int early);
/* @ref, a MOVE: its task is taken from @from to @to, which runs empty when @pulled. */
int rs_annotate_move(struct rs_annotate *an, unsigned int from, unsigned int to, uint64_t ts, struct rs_op_ref ref, bool pulled);
/* A switch. */
struct rs_switch_note {
	struct rs_op_ref prev; /* the BLOCK or EXIT the previous task ended with, or none */
	struct rs_op_ref wake; /* what woke the next task, when it has not run since; or none */
	uint64_t waking_ts; /* when; its sched_wakeup may come later than the switch */
	int preempted; /* the previous task was still runnable */
	int from_idle, to_fair; /* to_fair: next is a task that is accounted */
};
int rs_annotate_switch(struct rs_annotate *an, unsigned int cpu, uint64_t ts, const struct rs_switch_note *note);
/* The clock of @cpu is not known any more. */
int rs_annotate_lost(struct rs_annotate *an, unsigned int cpu);

/* rs_annotate_ticks() - hand the ticks over to the workload, numbered on the grid of @tick. Return: 0; -ENOMEM. */
int rs_annotate_ticks(struct rs_annotate *an, const struct rs_tick *tick);

#endif
