/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The task groups of a recorded machine: its cgroups, and the autogroups of sessions for tasks that are in the root cgroup.
 *
 * A plan says which groups there are and who is in which, from the host snapshot; it belongs to a workload and may be shared by runs.
 * The groups of one run are made of it. Only groups that have tasks, and those above them, are made.
 */
#ifndef RS_REPLAY_GROUPS_H
#define RS_REPLAY_GROUPS_H

#include "policies/policy.h"
#include "replay/workload.h"

#define RS_NO_GROUP UINT32_MAX	/* the root */

struct rs_group_spec {
	char *name;			/* cgroup path "/a/b", or "autogroup-N" */
	uint32_t parent;		/* index of an earlier one, or RS_NO_GROUP */
	uint64_t shares;
	uint64_t quota_us, period_us;	/* quota 0: none */
};

/* What is to be different about one group, "--cgroup PATH:weight=...,max=...". */
struct rs_group_edit {
	char *path;
	bool weight_set, max_set;
	uint64_t weight;		/* cpu.weight, 1 .. 10000 */
	uint64_t quota_us, period_us;	/* cpu.max; quota 0: none */
};

struct rs_group_plan {
	struct rs_group_spec *specs;	/* parents before their children */
	uint32_t nr, room;
	uint32_t *of_task;		/* one a task of the workload: index or RS_NO_GROUP */
	uint32_t nr_unknown;		/* tasks of which the snapshot does not tell the group; they are in the root */
	uint32_t nr_weightless;		/* groups without a recorded weight; 100 is taken */
	const struct rs_group_edit *edits;	/* while it is made */
	uint32_t nr_edits;
};

/*
 * rs_group_plan_make() - read the groups off @workload's host snapshot. Forked tasks are in their parent's group.
 * Return: 0; -ENOMEM. @ret is to be released in any case.
 */
int rs_group_plan_make(const struct resched_workload *workload, struct rs_group_plan *ret);
void rs_group_plan_release(struct rs_group_plan *plan);
/* rs_group_plan_session() - the group of autogroup @id, made if it is new. Return: its index; -ENOMEM. */
bool rs_group_is_session(const struct rs_group_plan *plan, uint32_t idx);
int64_t rs_group_plan_session(struct rs_group_plan *plan, unsigned int id, int nice);
/*
 * rs_group_plan_make_edited() - the same, with other weights and limits. Edited groups are made even if they had no cpu controller or
 * are not in the snapshot; of two edits of one path the later counts. @edits: borrowed for the call
 */
int rs_group_plan_make_edited(const struct resched_workload *workload, const struct rs_group_edit *edits, uint32_t nr_edits,
			      struct rs_group_plan *ret);
/* rs_group_plan_move() - put task @idx into the cgroup @path, which is made if it is new. "/" is the root, or the task's autogroup
 * where those are on. Return: 0; -ENOMEM. */
int rs_group_plan_move(struct rs_group_plan *plan, const struct resched_workload *workload, uint32_t idx, const char *path);

/* rs_group_edit_parse() - read "PATH:KEY=VALUE[,...]". Return: 0, @ret to be released; -EINVAL (kind USAGE); -ENOMEM. */
int rs_group_edit_parse(const char *text, struct rs_group_edit *ret, struct resched_error *err);
void rs_group_edit_release(struct rs_group_edit *edit);

/* The groups of a run. */
struct rs_groups {
	struct rs_group *groups;	/* in the plan's order */
	uint32_t nr;
	void *memory;			/* of their private parts */
};

/* rs_groups_init() - memory for the groups of @plan, which may be NULL, on @nr_cpus. None when the policy has no groups.
 * Return: 0; -ENOMEM. */
int rs_groups_init(struct rs_groups *ret, const struct rs_group_plan *plan, const struct rs_policy_ops *ops, unsigned int nr_cpus);
/*
 * rs_groups_limit() - apply the recorded cpu bandwidth; before rs_groups_join_cpu(). Without this call no group is throttled.
 * @set_timer: see struct rs_group; @ctx: becomes timer_ctx
 */
void rs_groups_limit(struct rs_groups *groups, const struct rs_group_plan *plan, void (*set_timer)(struct rs_group *group, uint64_t at_ns),
		     void *ctx);
/* rs_groups_join_cpu() - make the parts of all groups on @rq's cpu, after ops->rq_init() of it. */
void rs_groups_join_cpu(struct rs_groups *groups, const struct rs_policy_ops *ops, struct rs_rq *rq);
/* rs_groups_of() - the group of task @idx; NULL = root. */
struct rs_group *rs_groups_of(const struct rs_groups *groups, const struct rs_group_plan *plan, uint32_t idx);
/* rs_groups_decay() - bring the load averages on @rq's cpu up to date, children first. */
void rs_groups_decay(struct rs_groups *groups, const struct rs_policy_ops *ops, struct rs_rq *rq);
void rs_groups_release(struct rs_groups *groups);

#endif
