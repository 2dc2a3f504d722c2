// SPDX-License-Identifier: GPL-2.0-only
/* "--task SELECT:KEY=VALUE[,...]": which tasks, and what becomes of them. */
#include "replay/whatif.h"

#include "base/error.h"
#include "base/units.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define EDIT_FORM "use SELECT:KEY=VALUE[,...] with SELECT a pid, a comm glob or cgroup:GLOB"
#define MIN_SLICE_NS 100000u		/* sched_setattr() clamps a fair task's slice to 0.1 .. 100 ms (6.12) */
#define MAX_SLICE_NS 100000000u

/* ---- selection ---- */

static bool comm_matches(const struct resched_workload *workload, const struct rs_program *program, const char *glob)
{
	if (!fnmatch(glob, resched_names_get(workload->names, program->comm), 0))
		return true;
	for (uint32_t i = 0; i < program->nr_ops; i++) {
		if (program->ops[i].kind == RS_OP_COMM &&
		    !fnmatch(glob, resched_names_get(workload->names, program->ops[i].arg), 0))
			return true;
	}
	return false;
}

/* A forked task is in its parent's cgroup as far as we know. */
static const char *cgroup_of(const struct resched_workload *workload, const struct rs_program *program)
{
	for (;;) {
		const struct resched_host_task *known = resched_host_task(workload->host, program->pid);

		if (known && known->cgroup)
			return known->cgroup;
		if (program->parent == RS_NO_TASK)
			return NULL;
		program = &workload->tasks[program->parent];
	}
}

static bool selects(const struct resched_workload *workload, const struct rs_program *program, const char *select)
{
	uint64_t pid;

	if (!strncmp(select, "cgroup:", 7)) {
		const char *cgroup = cgroup_of(workload, program);

		return cgroup && !fnmatch(select + 7, cgroup, 0);
	}
	if (!strncmp(select, "pid:", 4))
		select += 4;
	else if (!strncmp(select, "comm:", 5))
		return comm_matches(workload, program, select + 5);
	if (!rs_uint_parse(select, &pid))
		return pid == (uint64_t)program->pid;
	return comm_matches(workload, program, select);
}

/* ---- changes ---- */

static int bad_value(struct resched_error *err, const char *key, const char *value, const char *mend)
{
	return rs_error_set(err, RESCHED_USAGE, -EINVAL, "bad value '%s' for %s in --task: %s", value, key, mend);
}

static int set_nice(struct rs_task_setup *setup, const char *value, struct resched_error *err)
{
	char *end;
	long nice = strtol(value, &end, 10);

	if (end == value || *end || nice < -20 || nice > 19)
		return bad_value(err, "nice", value, "give -20 to 19");
	setup->nice_set = 1;
	setup->nice = (int)nice;
	return 0;
}

static int set_latency_nice(struct rs_task_setup *setup, const char *value, struct resched_error *err)
{
	char *end;
	long nice = strtol(value, &end, 10);

	if (end == value || *end || nice < -20 || nice > 19)
		return bad_value(err, "latency_nice", value, "give -20 to 19; the lower, the shorter the slice");
	setup->latency_set = 1;
	setup->latency_nice = (int)nice;
	return 0;
}

static int set_policy(struct rs_task_setup *setup, const char *value, struct resched_error *err)
{
	if (!strcmp(value, "normal") || !strcmp(value, "other"))
		setup->policy = RS_SCHED_NORMAL;
	else if (!strcmp(value, "batch"))
		setup->policy = RS_SCHED_BATCH;
	else if (!strcmp(value, "idle"))
		setup->policy = RS_SCHED_IDLE;
	else
		return bad_value(err, "policy", value, "give normal, batch or idle");
	setup->policy_set = 1;
	return 0;
}

static int set_slice(struct rs_task_setup *setup, const char *value, struct resched_error *err)
{
	uint64_t ns;

	if (rs_time_parse(value, 1, &ns) < 0 || (ns && (ns < MIN_SLICE_NS || ns > MAX_SLICE_NS)))
		return bad_value(err, "slice", value, "give 100us to 100ms, or 0 for the default");
	setup->slice_set = 1;
	setup->slice_ns = ns;
	return 0;
}

/* "1.5" and "150%" both mean half as much again; kept exact to a millionth. */
static int set_scale(struct rs_task_setup *setup, const char *value, struct resched_error *err)
{
	char *end;
	double factor = strtod(value, &end);

	if (end != value && !strcmp(end, "%")) {
		factor /= 100;
		end++;
	}
	if (end == value || *end || !(factor > 0 && factor <= 1000))
		return bad_value(err, "scale", value, "give a factor above 0 and up to 1000, or a percentage");
	setup->scale_ppm = (uint64_t)(factor * 1e6 + 0.5);
	if (!setup->scale_ppm)
		setup->scale_ppm = 1;
	return 0;
}

/* The task a change is applied to; plan NULL: only look whether the change makes sense. */
struct target {
	const struct resched_workload *workload;
	struct rs_plan *plan;
	uint32_t idx;
	struct rs_task_setup *setup;
};

static int set_cgroup(const struct target *target, const char *value, struct resched_error *err)
{
	if (value[0] != '/')
		return bad_value(err, "cgroup", value, "give the path of a group, from / on");
	if (!target->plan)
		return 0;
	target->setup->moved = 1;
	if (rs_group_plan_move(&target->plan->groups, target->workload, target->idx, value) < 0)
		return rs_error_nomem(err);
	return 0;
}

static int apply(const struct target *target, const char *key, const char *value, const struct rs_cpuset *set, struct resched_error *err)
{
	struct rs_task_setup *setup = target->setup;

	if (!strcmp(key, "nice"))
		return set_nice(setup, value, err);
	if (!strcmp(key, "policy"))
		return set_policy(setup, value, err);
	if (!strcmp(key, "slice"))
		return set_slice(setup, value, err);
	if (!strcmp(key, "scale"))
		return set_scale(setup, value, err);
	if (!strcmp(key, "affinity")) {
		setup->affinity = set;
		return 0;
	}
	if (!strcmp(key, "drop")) {
		setup->drop = 1;
		return 0;
	}
	if (!strcmp(key, "latency_nice"))
		return set_latency_nice(setup, value, err);
	if (!strcmp(key, "cgroup"))
		return set_cgroup(target, value, err);
	return rs_error_set(err, RESCHED_USAGE, -EINVAL,
			    "unknown key '%s' in --task: use nice, latency_nice, policy, slice, affinity, cgroup, scale or drop", key);
}

/* The list after "affinity=" contains commas itself: it goes on as long as digits follow. */
static size_t value_length(const char *key, size_t key_len, const char *value)
{
	size_t len = strcspn(value, ",");

	while (key_len == 8 && !strncmp(key, "affinity", 8) && value[len] == ',' && value[len + 1] >= '0' && value[len + 1] <= '9')
		len += 1 + strcspn(value + len + 1, ",");
	return len;
}

static int apply_all(const struct target *target, const char *changes, struct rs_cpuset *set, struct resched_error *err)
{
	while (*changes) {
		size_t key_len = strcspn(changes, "=,"), value_len = 0;
		const char *value = changes + key_len;
		char *key_text, *value_text;
		int rc;

		if (*value == '=') {
			value++;
			value_len = value_length(changes, key_len, value);
		}
		key_text = strndup(changes, key_len);
		value_text = strndup(value, value_len);
		if (!key_text || !value_text)
			rc = rs_error_nomem(err);
		else if (!strcmp(key_text, "affinity") && (rs_cpulist_parse(value_text, set) < 0 || !rs_cpuset_count(set)))
			rc = bad_value(err, "affinity", value_text, "give a cpu list such as 0-3,8");
		else
			rc = apply(target, key_text, value_text, set, err);
		free(key_text);
		free(value_text);
		if (rc < 0)
			return rc;
		changes = value + value_len;
		if (*changes == ',')
			changes++;
	}
	return 0;
}

int64_t rs_task_edit(const struct resched_workload *workload, const char *text, struct rs_plan *plan, struct rs_cpuset *set,
		     struct resched_error *err)
{
	const char *colon = strchr(text, ':');
	struct rs_task_setup probe = { 0 };
	struct target target = { .workload = workload, .setup = &probe };
	int64_t chosen = 0;
	char *select;
	int rc;

	if (colon && (!strncmp(text, "cgroup:", 7) || !strncmp(text, "pid:", 4) || !strncmp(text, "comm:", 5)))
		colon = strchr(colon + 1, ':');
	/* A comm may hold colons ("kworker/0:1"): the last one before the first '=' or the keyless "drop" counts. */
	for (const char *next = colon; next && (next = strchr(next + 1, ':')) && next < text + strcspn(text, "=");)
		colon = next;
	if (!colon || colon == text || !colon[1])
		return rs_error_set(err, RESCHED_USAGE, -EINVAL, "cannot read --task '%s': " EDIT_FORM, text);
	rc = apply_all(&target, colon + 1, set, err);	/* bad values are told even when nothing is selected */
	if (rc < 0)
		return rc;
	select = strndup(text, (size_t)(colon - text));
	if (!select)
		return rs_error_nomem(err);
	for (uint32_t i = 0; i < workload->nr_tasks && rc >= 0; i++) {
		if (!selects(workload, &workload->tasks[i], select))
			continue;
		target = (struct target){ workload, plan, i, &plan->setups[i] };
		rc = apply_all(&target, colon + 1, set, err);
		chosen++;
	}
	free(select);
	return rc < 0 ? rc : chosen;
}
