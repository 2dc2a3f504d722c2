/* SPDX-License-Identifier: GPL-2.0-only */
/* What is left to do for the programs when the last event has passed: who the tasks are, how their timers run, how they go on. */
#ifndef RS_REPLAY_COMPLETE_H
#define RS_REPLAY_COMPLETE_H

#include "replay/workload.h"

enum rs_end { RS_END_GONE,
	      RS_END_ASLEEP,
	      RS_END_RUNNABLE };

/* How the recording left a task. */
struct rs_ending {
	enum rs_end end;
	uint64_t run_ns; /* demand after its last operation */
	int hog; /* most of its life it has not slept: it goes on so */
};

/* rs_programs_complete() - @endings: one a task. Return: 0; -ENOMEM. */
int rs_programs_complete(struct resched_workload *workload, const struct rs_ending *endings);

#endif
