// SPDX-License-Identifier: GPL-2.0-only
#include "replay/groups.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN 16u
#define DEFAULT_WEIGHT 100u
#define MIN_PERIOD_US 1000u		/* min_cfs_quota_period, max_cfs_quota_period */
#define MAX_PERIOD_US 1000000u
#define MAX_QUOTA_US (UINT64_C(1) << 44)	/* max_cfs_runtime */

/* ---- the plan ---- */

static const struct resched_host_cgroup *host_cgroup(const struct resched_host *host, const char *path, size_t len)
{
	for (unsigned int i = 0; i < host->nr_cgroups; i++) {
		const struct resched_host_cgroup *g = &host->cgroups[i];

		if (!strncmp(g->path, path, len) && !g->path[len])
			return g;
	}
	return NULL;
}

static uint32_t find_spec(const struct rs_group_plan *plan, const char *name, size_t len)
{
	for (uint32_t i = plan->nr; i-- > 0;) {
		if (!strncmp(plan->specs[i].name, name, len) && !plan->specs[i].name[len])
			return i;
	}
	return RS_NO_GROUP;
}

/* Return: its index, or -ENOMEM. */
static int64_t add_spec(struct rs_group_plan *plan, const char *name, size_t len, uint32_t parent, uint64_t shares)
{
	struct rs_group_spec *spec;

	if (plan->nr == plan->room) {
		uint32_t room = plan->room ? 2 * plan->room : 16;
		struct rs_group_spec *grown = realloc(plan->specs, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		plan->specs = grown;
		plan->room = room;
	}
	spec = &plan->specs[plan->nr];
	*spec = (struct rs_group_spec){ .name = strndup(name, len), .parent = parent, .shares = shares };
	if (!spec->name)
		return -ENOMEM;
	return plan->nr++;
}

static size_t parent_length(const char *path, size_t len)
{
	while (len && path[len - 1] != '/')
		len--;
	return len ? len - 1 : 0;
}

/* The last edits of cgroup @path, NULL when there are none. */
static void find_edits(const struct rs_group_plan *plan, const char *path, size_t len, const struct rs_group_edit **ret_weight,
		       const struct rs_group_edit **ret_max)
{
	*ret_weight = *ret_max = NULL;
	for (uint32_t i = 0; i < plan->nr_edits; i++) {
		const struct rs_group_edit *e = &plan->edits[i];

		if (strncmp(e->path, path, len) || e->path[len])
			continue;
		if (e->weight_set)
			*ret_weight = e;
		if (e->max_set)
			*ret_max = e;
	}
}

/* The group of cgroup @path, made with all above it. Return: index, RS_NO_GROUP for the root; -ENOMEM. */
static int64_t group_of_path(struct rs_group_plan *plan, const struct resched_host *host, const char *path, size_t len)
{
	const struct rs_group_edit *weight, *max;
	const struct resched_host_cgroup *known;
	uint32_t found;
	int64_t parent, idx;

	if (len <= 1)
		return RS_NO_GROUP;
	found = find_spec(plan, path, len);
	if (found != RS_NO_GROUP)
		return found;
	parent = group_of_path(plan, host, path, parent_length(path, len));
	if (parent < 0)
		return parent;
	known = host_cgroup(host, path, len);
	find_edits(plan, path, len, &weight, &max);
	if (known && !known->weight && !weight && !max)
		return parent;		/* without the cpu controller: its tasks count in the group above */
	idx = add_spec(plan, path, len, (uint32_t)parent,
		       rs_shares_of_weight(weight ? weight->weight : known && known->weight ? known->weight : DEFAULT_WEIGHT));
	if (idx < 0)
		return idx;
	if (known) {
		plan->specs[idx].quota_us = known->quota_us;
		plan->specs[idx].period_us = known->period_us;
	} else if (!weight) {
		plan->nr_weightless++;
	}
	if (max) {
		plan->specs[idx].quota_us = max->quota_us;
		plan->specs[idx].period_us = max->period_us;
	}
	return idx;
}

bool rs_group_is_session(const struct rs_group_plan *plan, uint32_t idx)
{
	return idx < plan->nr && plan->specs[idx].name[0] != '/';
}

int64_t rs_group_plan_session(struct rs_group_plan *plan, unsigned int id, int nice)
{
	char name[32];
	uint32_t found;

	nice = nice < -20 ? -20 : nice > 19 ? 19 : nice;
	snprintf(name, sizeof(name), "autogroup-%u", id);
	found = find_spec(plan, name, strlen(name));
	return found != RS_NO_GROUP ? found : add_spec(plan, name, strlen(name), RS_NO_GROUP, rs_shares_of_nice(nice));
}

/*
 * A cgroup goes before an autogroup (task_wants_autogroup()). Autogroup 0 is the root: that of kernel threads and of what was there
 * before the first session.
 */
static int64_t group_of_known(struct rs_group_plan *plan, const struct resched_host *host, const struct resched_host_task *task)
{
	int64_t idx = RS_NO_GROUP;

	if (task->cgroup)
		idx = group_of_path(plan, host, task->cgroup, strlen(task->cgroup));
	if (idx == RS_NO_GROUP && host->autogroup == 1 && task->autogroup > 0 && !task->kthread)
		idx = rs_group_plan_session(plan, (unsigned int)task->autogroup, task->autogroup_nice);
	return idx;
}

static int64_t group_of_task(struct rs_group_plan *plan, const struct resched_workload *workload, uint32_t idx)
{
	const struct rs_program *program = &workload->tasks[idx];
	const struct resched_host_task *known = program->birth_nr ? NULL : resched_host_task(workload->host, program->pid);

	if (known)
		return group_of_known(plan, workload->host, known);
	if (program->parent < idx)	/* tasks are in order of appearance, a parent before its children */
		return plan->of_task[program->parent];
	if (!program->kthread)
		plan->nr_unknown++;
	return RS_NO_GROUP;
}

/* Groups that are edited but have no task yet: some may be moved there. */
static int make_edited_groups(struct rs_group_plan *plan, const struct resched_host *host)
{
	for (uint32_t i = 0; i < plan->nr_edits; i++) {
		int64_t idx = group_of_path(plan, host, plan->edits[i].path, strlen(plan->edits[i].path));

		if (idx < 0)
			return (int)idx;
	}
	return 0;
}

int rs_group_plan_make_edited(const struct resched_workload *workload, const struct rs_group_edit *edits, uint32_t nr_edits,
			      struct rs_group_plan *ret)
{
	int rc;

	memset(ret, 0, sizeof(*ret));
	ret->edits = edits;
	ret->nr_edits = nr_edits;
	ret->of_task = malloc((workload->nr_tasks ? workload->nr_tasks : 1) * sizeof(*ret->of_task));
	if (!ret->of_task)
		return -ENOMEM;
	for (uint32_t i = 0; i < workload->nr_tasks; i++) {
		int64_t idx = group_of_task(ret, workload, i);

		if (idx < 0)
			return (int)idx;
		ret->of_task[i] = (uint32_t)idx;
	}
	rc = make_edited_groups(ret, workload->host);
	ret->edits = NULL;
	ret->nr_edits = 0;
	return rc;
}

int rs_group_plan_make(const struct resched_workload *workload, struct rs_group_plan *ret)
{
	return rs_group_plan_make_edited(workload, NULL, 0, ret);
}

int rs_group_plan_move(struct rs_group_plan *plan, const struct resched_workload *workload, uint32_t idx, const char *path)
{
	const struct rs_program *program = &workload->tasks[idx];
	const struct resched_host_task *known = program->birth_nr ? NULL : resched_host_task(workload->host, program->pid);
	struct resched_host_task moved = known ? *known : (struct resched_host_task){ .kthread = program->kthread };
	int64_t to;

	moved.cgroup = (char *)path;	/* read only */
	to = group_of_known(plan, workload->host, &moved);
	if (to < 0)
		return (int)to;
	plan->of_task[idx] = (uint32_t)to;
	return 0;
}

void rs_group_plan_release(struct rs_group_plan *plan)
{
	for (uint32_t i = 0; i < plan->nr; i++)
		free(plan->specs[i].name);
	free(plan->specs);
	free(plan->of_task);
	memset(plan, 0, sizeof(*plan));
}

/* ---- the groups of a run ---- */

int rs_groups_init(struct rs_groups *ret, const struct rs_group_plan *plan, const struct rs_policy_ops *ops, unsigned int nr_cpus)
{
	size_t stride = (ops->group_size + ALIGN - 1) / ALIGN * ALIGN, size;

	memset(ret, 0, sizeof(*ret));
	if (!plan || !plan->nr || !stride)
		return 0;
	if (__builtin_mul_overflow(stride, nr_cpus, &size) || size > SIZE_MAX / plan->nr)
		return -ENOMEM;
	ret->groups = calloc(plan->nr, sizeof(*ret->groups));
	ret->memory = aligned_alloc(ALIGN, size * plan->nr);
	if (!ret->groups || !ret->memory) {
		rs_groups_release(ret);
		return -ENOMEM;
	}
	memset(ret->memory, 0, size * plan->nr);
	ret->nr = plan->nr;
	for (uint32_t i = 0; i < plan->nr; i++) {
		const struct rs_group_spec *spec = &plan->specs[i];

		ret->groups[i] = (struct rs_group){
			.parent = spec->parent == RS_NO_GROUP ? NULL : &ret->groups[spec->parent], .shares = spec->shares,
			.nr_cpus = nr_cpus, .stride = stride, .priv = (char *)ret->memory + i * size,
		};
	}
	return 0;
}

void rs_groups_limit(struct rs_groups *groups, const struct rs_group_plan *plan, void (*set_timer)(struct rs_group *group, uint64_t at_ns),
		     void *ctx)
{
	for (uint32_t i = 0; i < groups->nr; i++) {
		const struct rs_group_spec *spec = &plan->specs[i];

		/* No kernel takes other values, and a period of nothing would ring for ever. */
		if (spec->period_us < MIN_PERIOD_US || spec->period_us > MAX_PERIOD_US || spec->quota_us > MAX_QUOTA_US)
			continue;
		groups->groups[i].quota_ns = spec->quota_us * 1000;
		groups->groups[i].period_ns = spec->period_us * 1000;
		groups->groups[i].set_timer = set_timer;
		groups->groups[i].timer_ctx = ctx;
	}
}

void rs_groups_join_cpu(struct rs_groups *groups, const struct rs_policy_ops *ops, struct rs_rq *rq)
{
	for (uint32_t i = 0; i < groups->nr; i++)
		ops->group_init(&groups->groups[i], rq);
}

struct rs_group *rs_groups_of(const struct rs_groups *groups, const struct rs_group_plan *plan, uint32_t idx)
{
	if (!groups->nr || plan->of_task[idx] == RS_NO_GROUP)
		return NULL;
	return &groups->groups[plan->of_task[idx]];
}

void rs_groups_decay(struct rs_groups *groups, const struct rs_policy_ops *ops, struct rs_rq *rq)
{
	if (!ops->decay_group)
		return;
	for (uint32_t i = groups->nr; i-- > 0;)
		ops->decay_group(rq, &groups->groups[i]);
}

void rs_groups_release(struct rs_groups *groups)
{
	free(groups->groups);
	free(groups->memory);
	memset(groups, 0, sizeof(*groups));
}
