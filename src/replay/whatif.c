// SPDX-License-Identifier: GPL-2.0-only
#include "replay/affinity.h"
#include "replay/place.h"
#include "replay/whatif.h"

#include "base/error.h"
#include <resched/policy.h>
#include <resched/topology.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TEXTS 512u	/* features or settings handed to the model */

static void warn(struct resched_schedule *schedule, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void warn(struct resched_schedule *schedule, const char *fmt, ...)
{
	va_list ap;

	if (schedule->nr_warnings >= sizeof(schedule->warnings) / sizeof(schedule->warnings[0]))
		return;
	va_start(ap, fmt);
	vsnprintf(schedule->warnings[schedule->nr_warnings++], sizeof(schedule->warnings[0]), fmt, ap);
	va_end(ap);
}

/* CFS and EEVDF share names of features and tunables that mean different things; EEVDF and EVDF are one family. */
static bool same_family(const char *a, const char *b)
{
	return !strcmp(a, "cfs") == !strcmp(b, "cfs");
}

struct texts { const char *text[MAX_TEXTS]; unsigned int nr; };

static void add_text(struct texts *texts, const char *text)
{
	if (texts->nr < MAX_TEXTS)
		texts->text[texts->nr++] = text;
}

/* Features the recorded host had on or off, as far as the model knows them. */
static void recorded_features(const struct resched_host *host, const char *policy, const char *model, struct texts *ret)
{
	for (unsigned int i = 0; i < host->nr_features; i++) {
		const char *name = host->features[i];
		const char *bare = strncmp(name, "NO_", 3) ? name : name + 3;

		if (rs_model_has_feature(policy, model, bare))
			add_text(ret, name);
	}
}

/* Defaults of these grow with the cpus, up to 8 (get_update_sysctl_factor()). */
static bool is_scaled(const char *name)
{
	return !strcmp(name, "base_slice_ns") || !strcmp(name, "latency_ns") || !strcmp(name, "min_granularity_ns") ||
	       !strcmp(name, "wakeup_granularity_ns");
}

static unsigned int scaling(unsigned int nr_cpus)
{
	unsigned int log = 0;

	for (unsigned int n = nr_cpus < 8 ? nr_cpus : 8; n > 1; n /= 2)
		log++;
	return log;
}

/* Recorded tunables and the tick as "name=value"; the buffers live in @buf. */
static void recorded_settings(const struct resched_workload *workload, const char *policy, const char *model, bool family,
			      bool same_size, char (*buf)[128], unsigned int nr_buf, struct texts *ret)
{
	const struct resched_host *host = workload->host;
	unsigned int used = 0;

	if (rs_model_has_tunable(policy, model, "hz")) {
		snprintf(buf[used], sizeof(buf[0]), "hz=%u", workload->info.hz);
		add_text(ret, buf[used++]);
	}
	for (unsigned int i = 0; family && i < host->nr_tunables && used < nr_buf; i++) {
		const struct resched_host_setting *t = &host->tunables[i];

		/* Not numbers the model scales or picks from itself. */
		if (!rs_model_has_tunable(policy, model, t->name) || !strcmp(t->name, "hz") || (!same_size && is_scaled(t->name)))
			continue;
		/* 6.12 shows nothing of energy_aware where the machine cannot: on another one it may. */
		if (!t->value[0] && !same_size)
			continue;
		snprintf(buf[used], sizeof(buf[0]), "%s=%s", t->name, t->value[0] ? t->value : "0");
		add_text(ret, buf[used++]);
	}
}

static unsigned int online_cpus(const struct resched_workload *workload, const struct resched_host *machine)
{
	const struct resched_host *host = machine ? machine : workload->host;
	unsigned int n = 0;

	for (unsigned int i = 0; i < host->nr_cpus; i++)
		n += host->cpus[i].online != 0;
	return n ? n : workload->info.nr_cpus;
}

static int resolve_model(const struct resched_workload *workload, const struct resched_whatif *whatif, struct rs_plan *plan,
			 struct resched_schedule *schedule, struct resched_error *err)
{
	const char *kernel = workload->host->kernel;
	const char *recorded = kernel ? resched_policy_of_kernel(kernel) : NULL;
	const char *policy = whatif->policy ? whatif->policy : recorded;
	struct texts features = { .nr = 0 }, settings = { .nr = 0 };
	char buf[64][128];
	const char *model;
	bool family, same_size;
	int rc;

	if (!policy) {
		policy = "eevdf";
		warn(schedule, "the recording does not say which kernel it is from: policy eevdf assumed");
	}
	plan->ops = rs_policy_ops_find(policy);
	if (!plan->ops)
		return rs_error_set(err, RESCHED_USAGE, -EINVAL, "unknown policy '%s': use cfs, eevdf or evdf (see 'resched policies')",
				    policy);
	family = recorded && same_family(recorded, policy);
	model = whatif->model ? whatif->model : rs_model_nearest(policy, kernel ? kernel : "");
	if (family)
		recorded_features(workload->host, policy, model, &features);
	same_size = scaling(online_cpus(workload, plan->machine)) == scaling(online_cpus(workload, NULL));
	recorded_settings(workload, policy, model, family, same_size, buf, 64, &settings);
	if (family && !same_size)
		warn(schedule, "slices and granularities are the defaults of a machine with %u cpus", online_cpus(workload, plan->machine));
	for (unsigned int i = 0; i < whatif->nr_features; i++)
		add_text(&features, whatif->features[i]);
	for (unsigned int i = 0; i < whatif->nr_settings; i++)
		add_text(&settings, whatif->settings[i]);
	rc = rs_model_new(policy, model, online_cpus(workload, plan->machine), features.nr, features.text, settings.nr, settings.text, &plan->model, err);
	if (rc < 0)
		return rc;
	snprintf(schedule->policy, sizeof(schedule->policy), "%s", policy);
	snprintf(schedule->model, sizeof(schedule->model), "%s", rs_model_kernel(plan->model));
	return 0;
}

static void add_cost(struct resched_schedule *schedule, const char *name, uint64_t ns, int assumed)
{
	if (schedule->nr_costs == sizeof(schedule->costs) / sizeof(schedule->costs[0]))
		return;
	schedule->costs[schedule->nr_costs].name = name;
	schedule->costs[schedule->nr_costs].ns = ns;
	schedule->costs[schedule->nr_costs++].assumed = assumed;
}

static void list_costs(const struct rs_plan *plan, const struct resched_workload *workload, struct resched_schedule *schedule)
{
	struct rs_costs costs = rs_place_costs(workload->host, plan->machine);
	int made_up = workload->placeless;

	add_cost(schedule, "idle_exit_ns", workload->info.idle_exit_ns, made_up);
	add_cost(schedule, "preempt_delay_ns", workload->info.preempt_delay_ns, made_up);
	add_cost(schedule, "tick_delay_ns", workload->info.tick_delay_ns, made_up);
	if (plan->placement != RESCHED_PLACE_KERNEL)
		return;
	add_cost(schedule, "newidle_ns", costs.newidle_ns, 1);
	add_cost(schedule, "newidle_cpu_ns", costs.newidle_cpu_ns, 1);
	add_cost(schedule, "cold_llc_ns", costs.cold_llc_ns, 1);
	add_cost(schedule, "cold_node_ns", costs.cold_node_ns, 1);
}

static void describe(const struct rs_plan *plan, const struct resched_workload *workload, const struct resched_whatif *whatif,
		     struct resched_schedule *schedule)
{
	unsigned int room = sizeof(schedule->knobs) / sizeof(schedule->knobs[0]);

	snprintf(schedule->kind, sizeof(schedule->kind), "free");
	snprintf(schedule->placement, sizeof(schedule->placement), "%s",
		 plan->placement == RESCHED_PLACE_KERNEL ? "kernel" : "recorded");
	schedule->seed = whatif->seed;
	list_costs(plan, workload, schedule);
	while (schedule->nr_knobs < room &&
	       rs_model_knob(plan->model, schedule->nr_knobs, &schedule->knobs[schedule->nr_knobs].name,
			     &schedule->knobs[schedule->nr_knobs].is_feature, &schedule->knobs[schedule->nr_knobs].value))
		schedule->nr_knobs++;
	if (workload->info.cut_ns)
		warn(schedule, "%llu s in which no cpu recorded anything are left out",
		     (unsigned long long)(workload->info.cut_ns / 1000000000u));
	if (workload->info.hz_assumed)
		warn(schedule, "tick rate unknown: HZ=%u assumed", workload->info.hz);
	if (!workload->info.tick_confidence)
		warn(schedule, "tick phase unknown: multiples of the tick assumed");
}

/*
 * A task forked in the recording is where its parent is, so it follows one that was moved, unless it was in another group anyway; and it
 * inherits latency nice.
 */
static void follow_parents(const struct resched_workload *workload, struct rs_plan *plan, const uint32_t *before)
{
	uint32_t *now = plan->groups.of_task;

	for (uint32_t i = 0; i < workload->nr_tasks; i++) {
		uint32_t parent = workload->tasks[i].parent;

		if (workload->tasks[i].birth != RS_BORN_FORKED || parent >= i)
			continue;
		if (!plan->setups[i].moved && before[i] == before[parent])
			now[i] = now[parent];
		if (!plan->setups[i].latency_set)
			plan->setups[i].latency_nice = plan->setups[parent].latency_nice;
	}
}

static int apply_task_edits(const struct resched_workload *workload, const struct resched_whatif *whatif, struct rs_plan *plan,
			    struct resched_schedule *schedule, struct resched_error *err)
{
	bool latency = false;

	for (unsigned int i = 0; i < whatif->nr_tasks; i++) {
		int64_t chosen = rs_task_edit(workload, whatif->tasks[i], plan, &plan->sets[i], err);

		if (chosen < 0)
			return (int)chosen;
		if (!chosen)
			warn(schedule, "--task '%.100s' chose no task", whatif->tasks[i]);
	}
	for (uint32_t i = 0; i < workload->nr_tasks; i++)
		latency |= plan->setups[i].latency_nice != 0;
	if (latency && !rs_model_has_latency_nice(plan->model))
		warn(schedule, "model %s has no latency_nice: it changes nothing (eevdf-2023-03 and -05 have it)", schedule->model);
	return 0;
}

static int edit_tasks(const struct resched_workload *workload, const struct resched_whatif *whatif, struct rs_plan *plan,
		      struct resched_schedule *schedule, struct resched_error *err)
{
	size_t size = (workload->nr_tasks ? workload->nr_tasks : 1) * sizeof(uint32_t);
	uint32_t *before = malloc(size);
	int rc;

	plan->setups = calloc(workload->nr_tasks ? workload->nr_tasks : 1, sizeof(*plan->setups));
	plan->sets = calloc(whatif->nr_tasks ? whatif->nr_tasks : 1, sizeof(*plan->sets));
	if (!plan->setups || !plan->sets || !before) {
		free(before);
		return rs_error_nomem(err);
	}
	memcpy(before, plan->groups.of_task, workload->nr_tasks * sizeof(*before));
	rc = apply_task_edits(workload, whatif, plan, schedule, err);
	if (rc == 0)
		follow_parents(workload, plan, before);
	free(before);
	return rc;
}

/* Is somebody in the group or below it? */
static bool is_inhabited(const struct rs_group_plan *groups, uint32_t nr_tasks, const char *path)
{
	for (uint32_t i = 0; i < nr_tasks; i++) {
		for (uint32_t g = groups->of_task[i]; g != RS_NO_GROUP; g = groups->specs[g].parent) {
			if (!strcmp(groups->specs[g].name, path))
				return true;
		}
	}
	return false;
}

static void warn_of_empty_groups(const struct resched_workload *workload, const struct resched_whatif *whatif, const struct rs_plan *plan,
				 struct resched_schedule *schedule)
{
	for (unsigned int i = 0; i < whatif->nr_cgroups; i++) {
		struct rs_group_edit edit;

		if (rs_group_edit_parse(whatif->cgroups[i], &edit, NULL) < 0)
			continue;
		if (!is_inhabited(&plan->groups, workload->nr_tasks, edit.path))
			warn(schedule, "--cgroup '%.90s': no task is in that group", whatif->cgroups[i]);
		rs_group_edit_release(&edit);
	}
}

static int make_groups(const struct resched_workload *workload, const struct resched_whatif *whatif, struct rs_plan *plan,
		       struct resched_error *err)
{
	struct rs_group_edit *edits = calloc(whatif->nr_cgroups ? whatif->nr_cgroups : 1, sizeof(*edits));
	uint32_t nr = 0;
	int rc = edits ? 0 : rs_error_nomem(err);

	while (rc == 0 && nr < whatif->nr_cgroups) {
		rc = rs_group_edit_parse(whatif->cgroups[nr], &edits[nr], err);
		nr++;
	}
	if (rc == 0 && rs_group_plan_make_edited(workload, edits, nr, &plan->groups) < 0)
		rc = rs_error_nomem(err);
	while (nr > 0)
		rs_group_edit_release(&edits[--nr]);
	free(edits);
	return rc;
}

/* Groups as recorded; what the snapshot does not tell is told. */
static int plan_groups(const struct resched_workload *workload, const struct resched_whatif *whatif, struct rs_plan *plan,
		       struct resched_schedule *schedule, struct resched_error *err)
{
	const struct resched_host *host = workload->host;
	bool cgroups = false;
	int rc = make_groups(workload, whatif, plan, err);

	if (rc < 0)
		return rc;
	for (unsigned int i = 0; i < host->nr_tasks && !cgroups; i++)
		cgroups = host->tasks[i].cgroup != NULL;
	if (!host->nr_tasks)
		return 0;	/* no snapshot of tasks at all */
	if (!cgroups)
		warn(schedule, "cgroups unknown: all tasks are taken to be in the root group");
	else if (plan->groups.nr_unknown)
		warn(schedule, "the group of %u tasks is unknown: taken to be the root group", plan->groups.nr_unknown);
	if (plan->groups.nr_weightless)
		warn(schedule, "the weight of %u cgroups is unknown: 100 taken", plan->groups.nr_weightless);
	if (host->autogroup < 0)
		warn(schedule, "whether autogroups were on is unknown: taken to be off");
	return 0;
}

/* Tasks some of whose cpus the other machine lacks. Return: -ENOMEM. */
static int count_mapped(const struct resched_workload *workload, const struct resched_host *machine, unsigned int *ret)
{
	struct rs_affinity *map = NULL;

	*ret = 0;
	if (rs_affinity_new(workload->host, machine, &map) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < workload->nr_tasks; i++) {
		struct rs_cpuset set;

		if (workload->tasks[i].affinity && !rs_cpulist_parse(workload->tasks[i].affinity, &set))
			*ret += rs_affinity_map(map, &set);
	}
	rs_affinity_free(map);
	return 0;
}

/* The machine to run on, and who places. */
static int resolve_machine(const struct resched_workload *workload, const struct resched_whatif *whatif, struct rs_plan *plan,
			   struct resched_schedule *schedule, struct resched_error *err)
{
	unsigned int nr;
	int rc;

	plan->placement = workload->placeless ? RESCHED_PLACE_KERNEL : whatif->placement;
	if (!whatif->topology)
		return 0;
	rc = resched_topology_load(whatif->topology, &plan->machine, err);
	if (rc < 0)
		return rc;
	if (!online_cpus(workload, plan->machine))
		return rs_error_set(err, RESCHED_USAGE, -EINVAL, "the machine '%.80s' has no cpu online", whatif->topology);
	if (plan->placement != RESCHED_PLACE_KERNEL)
		warn(schedule, "on another machine the model places: --placement kernel");
	plan->placement = RESCHED_PLACE_KERNEL;
	if (count_mapped(workload, plan->machine, &nr) < 0)
		return rs_error_nomem(err);
	if (nr)
		warn(schedule, "%u tasks are bound to cpus that the machine lacks: bound to others in their place", nr);
	return 0;
}

int rs_plan_make(const struct resched_workload *workload, const struct resched_whatif *whatif, struct rs_plan *ret,
		 struct resched_schedule *schedule, struct resched_error *err)
{
	static const struct resched_whatif as_recorded;
	int rc;

	memset(ret, 0, sizeof(*ret));
	memset(schedule, 0, sizeof(*schedule));
	if (!whatif)
		whatif = &as_recorded;
	rc = resolve_machine(workload, whatif, ret, schedule, err);
	if (rc >= 0)
		rc = resolve_model(workload, whatif, ret, schedule, err);
	if (rc < 0)
		return rc;
	describe(ret, workload, whatif, schedule);
	rc = plan_groups(workload, whatif, ret, schedule, err);
	if (rc < 0)
		return rc;
	rc = edit_tasks(workload, whatif, ret, schedule, err);
	if (rc == 0)
		warn_of_empty_groups(workload, whatif, ret, schedule);
	return rc;
}

void rs_plan_release(struct rs_plan *plan)
{
	rs_model_free(plan->model);
	resched_host_free(plan->machine);
	free(plan->setups);
	free(plan->sets);
	rs_group_plan_release(&plan->groups);
	memset(plan, 0, sizeof(*plan));
}
