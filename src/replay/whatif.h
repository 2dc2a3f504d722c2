/* SPDX-License-Identifier: GPL-2.0-only */
/* A what-if resolved against a workload: policy, model, and what each task is to be. */
#ifndef RS_REPLAY_WHATIF_H
#define RS_REPLAY_WHATIF_H

#include "replay/engine.h"
#include "replay/groups.h"

struct rs_plan {
	enum resched_placement placement;
	struct resched_host *machine;	/* another machine, NULL = the recorded one */
	const struct rs_policy_ops *ops;
	struct rs_model *model;
	struct rs_task_setup *setups;	/* one a task */
	struct rs_cpuset *sets;		/* of edited affinities, one an edit */
	struct rs_group_plan groups;
};

/*
 * rs_plan_make() - resolve @whatif (NULL = as recorded).
 * @schedule: policy, model, knobs, placement, seed and warnings are filled in
 * Return: 0; -EINVAL (kind USAGE); -ENOMEM. @ret is to be released in any case.
 */
int rs_plan_make(const struct resched_workload *workload, const struct resched_whatif *whatif, struct rs_plan *ret,
		 struct resched_schedule *schedule, struct resched_error *err);
void rs_plan_release(struct rs_plan *plan);

/* rs_task_edit() - apply one "SELECT:KEY=VALUE[,...]" to @plan's setups and groups; @set: storage for an affinity. Return: tasks it
 * chose; -EINVAL; -ENOMEM. */
int64_t rs_task_edit(const struct resched_workload *workload, const char *text, struct rs_plan *plan, struct rs_cpuset *set,
		     struct resched_error *err);

#endif
