// SPDX-License-Identifier: GPL-2.0-only
/* Which groups a host snapshot makes, and who is in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policies/registry.h"
#include "replay/whatif.h"

static struct resched_workload *workload_of(const char *json)
{
	struct resched_workload *w = rs_workload_alloc();
	struct resched_error err = { 0 };

	assert_non_null(w);
	resched_host_free(w->host);
	w->host = NULL;
	if (resched_host_parse(json, strlen(json), &w->host, &err) < 0)
		fail_msg("%s", err.text);
	return w;
}

static uint32_t add(struct resched_workload *w, int pid, uint32_t parent)
{
	int64_t idx = rs_workload_add(w, pid);

	assert_true(idx >= 0);
	w->tasks[idx].parent = parent;
	return (uint32_t)idx;
}

static const char *name_of(const struct rs_group_plan *plan, uint32_t task)
{
	return plan->of_task[task] == RS_NO_GROUP ? "/" : plan->specs[plan->of_task[task]].name;
}

#define TASK(pid, autogroup, nice, kthread, cgroup) \
	"{\"pid\":" #pid ",\"tgid\":" #pid ",\"comm\":\"t\",\"state\":\"S\",\"policy\":0,\"nice\":0,\"rt_priority\":0,\"slice_ns\":0," \
	"\"autogroup\":" #autogroup ",\"autogroup_nice\":" #nice ",\"kthread\":" #kthread ",\"cgroup\":\"" cgroup "\"}"
#define CGROUP(path, weight, quota) \
	"{\"path\":\"" path "\",\"weight\":" #weight ",\"quota_us\":" #quota ",\"period_us\":100000}"

static void cgroups_with_those_above(void **state)
{
	struct resched_workload *w = workload_of("{\"schema\":\"resched/host/1\",\"autogroup\":0,\"tasks\":["
		TASK(1, 1, 0, 0, "/") "," TASK(2, 2, 0, 0, "/a/b") "," TASK(3, 3, 0, 0, "/a") "," TASK(4, 3, 0, 0, "/x/y") ","
		TASK(5, 3, 0, 0, "/c/d/e") "],\"cgroups\":["
		CGROUP("/", 100, 0) "," CGROUP("/a", 300, 20000) "," CGROUP("/a/b", 50, 0) "," CGROUP("/c", 200, 0) ","
		CGROUP("/c/d", 0, 0) "," CGROUP("/c/d/e", 0, 0) "]}");
	struct rs_group_plan plan;
	uint32_t t[7];

	(void)state;
	for (int i = 0; i < 5; i++)
		t[i] = add(w, i + 1, RS_NO_TASK);
	t[5] = add(w, 60, t[1]);	/* a child of task 2 */
	t[6] = add(w, 61, RS_NO_TASK);	/* nobody knows it */
	assert_int_equal(rs_group_plan_make(w, &plan), 0);
	assert_string_equal(name_of(&plan, t[0]), "/");
	assert_string_equal(name_of(&plan, t[1]), "/a/b");
	assert_string_equal(name_of(&plan, t[2]), "/a");
	assert_string_equal(name_of(&plan, t[3]), "/x/y");
	assert_string_equal(name_of(&plan, t[4]), "/c");	/* no cpu controller below it */
	assert_string_equal(name_of(&plan, t[5]), "/a/b");
	assert_string_equal(name_of(&plan, t[6]), "/");
	assert_int_equal(plan.nr, 5);			/* /a /a/b /x /x/y /c */
	assert_int_equal(plan.nr_unknown, 1);
	assert_int_equal(plan.nr_weightless, 2);	/* /x, /x/y */
	assert_string_equal(plan.specs[plan.specs[plan.of_task[t[1]]].parent].name, "/a");
	assert_int_equal(plan.specs[plan.of_task[t[1]]].shares, 512 << 10);
	assert_int_equal(plan.specs[plan.of_task[t[2]]].shares, 3072 << 10);
	assert_int_equal(plan.specs[plan.of_task[t[2]]].quota_us, 20000);
	rs_group_plan_release(&plan);
	resched_workload_free(w);
}

static void sessions_only_in_the_root(void **state)
{
	static const char *const autogroup[] = { "0", "1" };

	(void)state;
	for (int on = 0; on < 2; on++) {
		char json[4096];
		struct resched_workload *w;
		struct rs_group_plan plan;
		uint32_t t[6];

		snprintf(json, sizeof(json), "{\"schema\":\"resched/host/1\",\"autogroup\":%s,\"tasks\":[%s],\"cgroups\":[%s]}", autogroup[on],
			 TASK(1, 7, 5, 0, "/") "," TASK(2, 7, 5, 0, "/") "," TASK(3, 7, 5, 0, "/a") "," TASK(4, 0, 0, 1, "/") ","
			 TASK(5, -1, 0, 0, "/") "," TASK(6, 8, 0, 0, "/"), CGROUP("/a", 100, 0));
		w = workload_of(json);
		for (int i = 0; i < 6; i++)
			t[i] = add(w, i + 1, RS_NO_TASK);
		assert_int_equal(rs_group_plan_make(w, &plan), 0);
		assert_string_equal(name_of(&plan, t[0]), on ? "autogroup-7" : "/");
		assert_int_equal(plan.of_task[t[1]], plan.of_task[t[0]]);
		assert_string_equal(name_of(&plan, t[2]), "/a");
		assert_string_equal(name_of(&plan, t[3]), "/");
		assert_string_equal(name_of(&plan, t[4]), "/");
		assert_string_equal(name_of(&plan, t[5]), on ? "autogroup-8" : "/");
		if (on)
			assert_int_equal(plan.specs[plan.of_task[t[0]]].shares, 335 << 10);
		rs_group_plan_release(&plan);
		resched_workload_free(w);
	}
}

/* A pid that was used again is another task. */
static void later_owners_of_a_pid_are_unknown(void **state)
{
	struct resched_workload *w = workload_of("{\"schema\":\"resched/host/1\",\"autogroup\":0,\"tasks\":["
		TASK(2, 2, 0, 0, "/a") "],\"cgroups\":[" CGROUP("/a", 100, 0) "]}");
	struct rs_group_plan plan;
	uint32_t first, second;

	(void)state;
	first = add(w, 2, RS_NO_TASK);
	second = add(w, 2, RS_NO_TASK);
	w->tasks[second].birth_nr = 1;
	assert_int_equal(rs_group_plan_make(w, &plan), 0);
	assert_string_equal(name_of(&plan, first), "/a");
	assert_string_equal(name_of(&plan, second), "/");
	assert_int_equal(plan.nr_unknown, 1);
	rs_group_plan_release(&plan);
	resched_workload_free(w);
}

static void set_timer(struct rs_group *group, uint64_t at_ns)
{
	(void)group;
	(void)at_ns;
}

/* Bandwidth is applied only when asked for, and only values a kernel would take. */
static void limits_are_checked(void **state)
{
	struct rs_group_spec specs[] = { { .name = NULL, .parent = RS_NO_GROUP, .shares = 1048576, .quota_us = 20000, .period_us = 100000 },
					 { .parent = 0, .shares = 2048, .quota_us = 5000, .period_us = 1 },
					 { .parent = RS_NO_GROUP, .shares = 2048, .quota_us = UINT64_MAX, .period_us = 100000 } };
	const struct rs_group_plan plan = { .specs = specs, .nr = 3 };
	struct rs_groups groups;

	(void)state;
	assert_int_equal(rs_groups_init(&groups, &plan, &rs_eevdf_ops, 4), 0);
	assert_int_equal(groups.nr, 3);
	assert_ptr_equal(groups.groups[1].parent, &groups.groups[0]);
	assert_int_equal(groups.groups[0].quota_ns, 0);
	rs_groups_limit(&groups, &plan, set_timer, NULL);
	assert_int_equal(groups.groups[0].quota_ns, 20000000);
	assert_int_equal(groups.groups[0].period_ns, 100000000);
	assert_int_equal(groups.groups[1].quota_ns, 0);
	assert_int_equal(groups.groups[2].quota_ns, 0);
	rs_groups_release(&groups);
	assert_int_equal(rs_groups_init(&groups, NULL, &rs_eevdf_ops, 4), 0);
	assert_int_equal(groups.nr, 0);
	rs_groups_release(&groups);
}

static void edits_are_read(void **state)
{
	static const struct { const char *text, *path; uint64_t weight, quota, period; } good[] = {
		{ "/a:weight=300", "/a", 300, 0, 0 }, { "/a/b:c:max=20ms/50ms", "/a/b:c", 0, 20000, 50000 },
		{ "/a:max=20000/100000", "/a", 0, 20000, 100000 }, { "/a:max=50%", "/a", 0, 50000, 100000 },
		{ "/a:max=250%/10ms,weight=1", "/a", 1, 25000, 10000 }, { "/a:max=max", "/a", 0, 0, 100000 },
	};
	static const char *const bad[] = { "/a", "a:weight=3", "/:weight=3", "/a:", "/a:weight=0", "/a:weight=10001", "/a:weight=x", "/a:shares=2",
					   "/a:max=", "/a:max=10us", "/a:max=20ms/1us", "/a:max=20ms/2s", "/a:max=-1", "/a:max=%", "/a:weight",
					   "/a:max=99999999999999999999", "/a:max=99999999999999999999999999999999999/100ms", ":max=1ms", "" };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct resched_error err = { 0 };
		struct rs_group_edit e;

		if (rs_group_edit_parse(good[i].text, &e, &err) < 0)
			fail_msg("%s: %s", good[i].text, err.text);
		assert_string_equal(e.path, good[i].path);
		assert_int_equal(e.weight, good[i].weight);
		assert_int_equal(e.weight_set, good[i].weight != 0);
		assert_int_equal(e.quota_us, good[i].quota);
		assert_int_equal(e.period_us, good[i].period);
		rs_group_edit_release(&e);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct resched_error err = { 0 };
		struct rs_group_edit e;

		assert_int_equal(rs_group_edit_parse(bad[i], &e, &err), -22);
		assert_int_equal(err.kind, RESCHED_USAGE);
		assert_non_null(strstr(err.text, "--cgroup"));
	}
}

static struct resched_workload *two_groups(void)
{
	return workload_of("{\"schema\":\"resched/host/1\",\"autogroup\":0,\"kernel\":\"6.12.48\",\"tasks\":["
		TASK(1, 1, 0, 0, "/a") "," TASK(2, 2, 0, 0, "/b") "," TASK(3, 3, 0, 0, "/n") "],\"cgroups\":["
		CGROUP("/a", 300, 20000) "," CGROUP("/b", 100, 0) "," CGROUP("/n", 0, 0) "]}");
}

static const struct rs_group_spec *spec_of(const struct rs_group_plan *plan, const char *name)
{
	for (uint32_t i = 0; i < plan->nr; i++) {
		if (!strcmp(plan->specs[i].name, name))
			return &plan->specs[i];
	}
	fail_msg("no group %s", name);
	return NULL;
}

/* Weights and limits change; a group without a cpu controller gets one; the later of two edits counts; new groups are made. */
static void groups_are_changed(void **state)
{
	static const char *const cgroups[] = { "/a:max=max", "/n:weight=50", "/b:weight=1", "/b:weight=200,max=30%", "/new/below:weight=7" };
	static const char *const tasks[] = { "pid:1:cgroup=/new/below", "2:cgroup=/" };
	const struct resched_whatif whatif = { .nr_cgroups = 5, .cgroups = cgroups, .nr_tasks = 2, .tasks = tasks };
	struct resched_workload *w = two_groups();
	struct resched_schedule schedule;
	struct resched_error err = { 0 };
	struct rs_plan plan;
	uint32_t t[4];

	(void)state;
	w->info.hz = 250;
	for (int i = 0; i < 3; i++)
		t[i] = add(w, i + 1, RS_NO_TASK);
	t[3] = add(w, 9, t[0]);
	w->tasks[t[3]].birth = RS_BORN_FORKED;
	if (rs_plan_make(w, &whatif, &plan, &schedule, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(spec_of(&plan.groups, "/a")->quota_us, 0);
	assert_int_equal(spec_of(&plan.groups, "/a")->shares, 3072 << 10);
	assert_int_equal(spec_of(&plan.groups, "/b")->shares, 2048 << 10);
	assert_int_equal(spec_of(&plan.groups, "/b")->quota_us, 30000);
	assert_int_equal(spec_of(&plan.groups, "/n")->shares, 512 << 10);
	assert_int_equal(spec_of(&plan.groups, "/new/below")->shares, rs_shares_of_weight(7));
	assert_string_equal(name_of(&plan.groups, t[0]), "/new/below");
	assert_string_equal(name_of(&plan.groups, t[1]), "/");
	assert_string_equal(name_of(&plan.groups, t[2]), "/n");
	assert_string_equal(name_of(&plan.groups, t[3]), "/new/below");	/* forked by 1: it follows */
	assert_int_equal(schedule.nr_warnings > 0, 1);
	for (unsigned int i = 0, found = 0; i <= schedule.nr_warnings; i++) {
		if (i < schedule.nr_warnings)
			found += strstr(schedule.warnings[i], "--cgroup '/b:weight=1': no task is in that group") != NULL;
		else
			assert_int_equal(found, 1);
	}
	rs_plan_release(&plan);
	resched_workload_free(w);
}

/* Forked tasks inherit latency nice; a model without it says so. */
static void latency_nice_is_inherited(void **state)
{
	static const char *const tasks[] = { "pid:1:latency_nice=-7" }, *const bad[] = { "pid:1:latency_nice=20" };
	struct resched_whatif whatif = { .policy = "eevdf", .model = "eevdf-2023-05", .nr_tasks = 1, .tasks = tasks };
	struct resched_workload *w = two_groups();
	struct resched_schedule schedule;
	struct resched_error err = { 0 };
	struct rs_plan plan;
	uint32_t parent = add(w, 1, RS_NO_TASK), child = add(w, 9, parent);
	unsigned int quiet;

	(void)state;
	w->info.hz = 250;
	w->tasks[child].birth = RS_BORN_FORKED;
	if (rs_plan_make(w, &whatif, &plan, &schedule, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(plan.setups[parent].latency_nice, -7);
	assert_int_equal(plan.setups[child].latency_nice, -7);
	quiet = schedule.nr_warnings;
	rs_plan_release(&plan);
	whatif.model = "6.12";
	assert_int_equal(rs_plan_make(w, &whatif, &plan, &schedule, &err), 0);
	assert_int_equal(schedule.nr_warnings, quiet + 1);
	assert_non_null(strstr(schedule.warnings[schedule.nr_warnings - 1], "latency_nice"));
	rs_plan_release(&plan);
	whatif.tasks = bad;
	assert_int_equal(rs_plan_make(w, &whatif, &plan, &schedule, &err), -22);
	assert_non_null(strstr(err.text, "-20 to 19"));
	rs_plan_release(&plan);
	resched_workload_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cgroups_with_those_above), cmocka_unit_test(sessions_only_in_the_root),
		cmocka_unit_test(later_owners_of_a_pid_are_unknown), cmocka_unit_test(limits_are_checked),
		cmocka_unit_test(edits_are_read), cmocka_unit_test(groups_are_changed), cmocka_unit_test(latency_nice_is_inherited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
