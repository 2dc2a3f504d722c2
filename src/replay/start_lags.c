// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lags at the beginning: as rows of the recording tell them, else those with which the recorded kernel's rules make the first decisions as
 * the kernel made them.
 */
#include "replay/start_lags.h"

#include "replay/shadow_input.h"
#include "replay/workload.h"

#include <errno.h>
#include <string.h>

#define MAX_EVENTS 2048u /* later decisions tell little of the beginning, and a search reads all of them again and again */

int rs_start_lags_event(struct rs_shadow_log *log, const struct resched_event *event)
{
	return log->nr < MAX_EVENTS ? rs_shadow_log_event(log, event) : 0;
}

static struct rs_program *first_of_pid(struct resched_workload *workload, int32_t pid)
{
	for (uint32_t i = 0; i < workload->nr_tasks; i++) {
		struct rs_program *program = &workload->tasks[i];

		if (program->pid == pid && !program->birth_nr && program->birth != RS_BORN_FORKED)
			return program;
	}
	return NULL;
}

static void set_lag(struct resched_workload *workload, int32_t pid, int64_t vlag)
{
	struct rs_program *program = first_of_pid(workload, pid);

	if (program)
		program->start_vlag_ns = vlag > INT32_MAX ? INT32_MAX : vlag < -INT32_MAX ? -INT32_MAX : (int)vlag;
}

static void take_rows(const struct rs_shadow_log *log, struct resched_workload *workload)
{
	for (uint32_t i = 0; i < log->nr_truths; i++) {
		const struct resched_truth *row = &log->truths[i];

		if (row->row == RESCHED_TRUTH_START && !row->level && !row->on_rq)
			set_lag(workload, row->pid, row->vlag);
	}
}

int rs_start_lags_find(struct rs_shadow_log *log, struct resched_workload *workload, struct resched_names *names)
{
	struct rs_shadow_input in = { .names = names, .workload = workload };
	struct rs_shadow_options opts;
	int rc;

	if (log->nr_starts) {
		take_rows(log, workload);
		return 0;
	}
	if (!log->nr || rs_plan_make(workload, NULL, &in.plan, &in.schedule, NULL) < 0)
		return 0; /* a kernel without a model */
	rc = rs_shadow_log_finish(log) < 0 || rs_shadow_plan_homes(log, workload, &in.plan.groups) < 0 ? -ENOMEM : 0;
	if (rc == 0) {
		in.log = *log;
		rc = rs_shadow_input_options(&in, RESCHED_SHADOW_AUTO, true, &opts, NULL);
	}
	for (unsigned int i = 0; rc == 0 && i < opts.nr_lags; i++)
		set_lag(workload, opts.lags[i].pid, opts.lags[i].vlag);
	rs_plan_release(&in.plan);
	return rc;
}
