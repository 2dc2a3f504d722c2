// SPDX-License-Identifier: GPL-2.0-only
/* Recordings into workloads and back: the shipped recordings, rebuilt, run, edited. */
#include "replay/workload.h"

#include <resched/analysis.h>
#include <resched/replay.h>
#include <resched/trace.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *const recordings[] = {
	"lab-v6-k612-1c.dat", "lab-v7-k61-1c.dat", "lab-v7-k612-2c.dat", "lab-v7-none-k61-2c.dat", "host-6.18.dat",
};

struct built { struct resched_workload *workload; struct resched_report *recorded; };

static void build(const char *name, struct built *ret)
{
	const char *top = getenv("RESCHED_TOP");
	struct resched_analysis_options opts = { 0 };
	struct resched_analysis *analysis;
	struct resched_error err = { 0 };
	struct resched_trace *trace;
	char path[512];

	snprintf(path, sizeof(path), "%s/tests/data/%s", top ? top : ".", name);
	if (resched_trace_open(path, &trace, &err) < 0)
		fail_msg("%s: %s", name, err.text);
	opts.names = resched_trace_names(trace);
	assert_int_equal(resched_analysis_new(&opts, &analysis, &err), 0);
	if (resched_workload_build(trace, NULL, resched_analysis_event, analysis, &ret->workload, &err) < 0)
		fail_msg("%s: %s", name, err.text);
	assert_int_equal(resched_analysis_finish(analysis, &ret->recorded, &err), 0);
	resched_analysis_free(analysis);
	resched_trace_free(trace);
}

static void release(struct built *b)
{
	resched_report_free(b->recorded);
	resched_workload_free(b->workload);
}

static struct resched_report *run(const struct built *b, const struct resched_whatif *whatif, struct resched_schedule *schedule)
{
	struct resched_analysis_options opts = { .names = resched_workload_names(b->workload) };
	struct resched_analysis *analysis;
	struct resched_error err = { 0 };
	struct resched_report *report;

	assert_int_equal(resched_analysis_new(&opts, &analysis, &err), 0);
	if (resched_replay_run(b->workload, whatif, resched_analysis_event, analysis, analysis, schedule, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(resched_analysis_finish(analysis, &report, &err), 0);
	resched_analysis_free(analysis);
	return report;
}

static const struct resched_group_row *comm_row(const struct resched_report *report, const char *name)
{
	for (unsigned int i = 0; i < report->nr_comms; i++) {
		if (!strcmp(report->comms[i].name, name))
			return &report->comms[i];
	}
	return NULL;
}

/* Demand is what ran: the programs hold, to the nanosecond, the run time of the recording plus the stretches open at its ends. */
static void demand_is_the_recorded_run_time(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(recordings) / sizeof(recordings[0]); i++) {
		const struct resched_workload_info *info;
		uint64_t busy = 0, span;
		struct built b;

		build(recordings[i], &b);
		info = resched_workload_info(b.workload);
		span = info->last_ns - info->first_ns;
		for (uint32_t t = 0; t < b.workload->nr_tasks; t++) {
			const struct rs_program *p = &b.workload->tasks[t];

			for (uint32_t o = 0; o < p->nr_ops; o++)
				busy += p->ops[o].run_ns;
		}
		/* A last stretch may have been lengthened to a typical one; otherwise nothing is added and nothing lost. */
		assert_true(busy >= b.recorded->busy_ns);
		assert_true(busy <= span * info->nr_cpus + span / 20);
		release(&b);
	}
}

static int hash_event(void *ctx, const struct resched_event *event)
{
	const unsigned char *bytes = (const unsigned char *)event;
	uint64_t *hash = ctx;

	for (size_t i = 0; i < sizeof(*event); i++)
		*hash = (*hash ^ bytes[i]) * 1099511628211ull;
	return 0;
}

static void same_input_gives_the_same_bytes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(recordings) / sizeof(recordings[0]); i++) {
		static const char *const policies[] = { "eevdf", "evdf", "cfs" };
		struct built a, b;

		build(recordings[i], &a);
		build(recordings[i], &b);
		for (size_t p = 0; p < 3; p++) {
			struct resched_whatif whatif = { .policy = policies[p] };
			struct resched_schedule schedule;
			uint64_t first = 0, second = 0;

			assert_int_equal(resched_replay_run(a.workload, &whatif, hash_event, &first, NULL, &schedule, NULL), 0);
			assert_int_equal(resched_replay_run(b.workload, &whatif, hash_event, &second, NULL, &schedule, NULL), 0);
			assert_true(first == second && first != 0);
		}
		release(&a);
		release(&b);
	}
}

/* The recorded kernel's own rules give back its run time and most of its switches. */
static void own_rules_give_the_recording_back(void **state)
{
	(void)state;
	/* The lab's two without groups and bandwidth limits, which a flat queue does not have. */
	for (size_t i = 2; i < 4; i++) {
		struct resched_schedule schedule;
		struct resched_report *report;
		struct built b;

		build(recordings[i], &b);
		report = run(&b, NULL, &schedule);
		assert_in_range(report->busy_ns, b.recorded->busy_ns / 1000 * 998, b.recorded->busy_ns / 1000 * 1002);
		assert_in_range(report->totals.switches, b.recorded->totals.switches * 95 / 100, b.recorded->totals.switches * 105 / 100);
		assert_in_range(report->totals.wakeups, b.recorded->totals.wakeups * 95 / 100, b.recorded->totals.wakeups * 105 / 100);
		resched_report_free(report);
		release(&b);
	}
}

static void the_kernel_in_the_recording_chooses_policy_and_model(void **state)
{
	struct resched_schedule schedule;
	struct built b;

	(void)state;
	build("lab-v7-k61-1c.dat", &b);
	resched_report_free(run(&b, NULL, &schedule));
	assert_string_equal(schedule.policy, "cfs");
	assert_string_equal(schedule.model, "6.1");
	release(&b);
	build("lab-v6-k612-1c.dat", &b);
	resched_report_free(run(&b, NULL, &schedule));
	assert_string_equal(schedule.policy, "eevdf");
	assert_string_equal(schedule.model, "6.12");
	assert_string_equal(schedule.placement, "recorded");
	release(&b);
}

/* ---- what-ifs ---- */

static struct resched_report *edited(const struct built *b, const char *edit, struct resched_schedule *schedule)
{
	struct resched_whatif whatif = { .policy = "eevdf", .nr_tasks = 1, .tasks = &edit };

	return run(b, &whatif, schedule);
}

static void nice_moves_run_time(void **state)
{
	struct resched_report *plain, *nicer;
	struct resched_schedule schedule;
	struct built b;

	(void)state;
	build("lab-v6-k612-1c.dat", &b);
	plain = run(&b, NULL, &schedule);
	assert_non_null(comm_row(plain, "ha.0"));
	nicer = edited(&b, "ha.0:nice=10", &schedule);
	assert_true(comm_row(nicer, "ha.0")->f.runtime_ns < comm_row(plain, "ha.0")->f.runtime_ns / 2);
	assert_true(comm_row(nicer, "ha.1")->f.runtime_ns > comm_row(plain, "ha.1")->f.runtime_ns);
	resched_report_free(nicer);
	nicer = edited(&b, "ha.0:policy=idle", &schedule);
	assert_true(comm_row(nicer, "ha.0")->f.runtime_ns < comm_row(plain, "ha.0")->f.runtime_ns / 4);
	resched_report_free(nicer);
	resched_report_free(plain);
	release(&b);
}

static void dropped_and_scaled_tasks(void **state)
{
	struct resched_report *plain, *other;
	struct resched_schedule schedule;
	struct built b;

	(void)state;
	build("lab-v6-k612-1c.dat", &b);
	plain = run(&b, NULL, &schedule);
	other = edited(&b, "h*:drop", &schedule);
	assert_null(comm_row(other, "ha.0"));
	assert_true(other->busy_ns < plain->busy_ns);
	assert_true(comm_row(other, "pb")->f.run_delay.sum < comm_row(plain, "pb")->f.run_delay.sum);
	resched_report_free(other);
	other = edited(&b, "pb:scale=50%", &schedule);
	assert_in_range(comm_row(other, "pb")->f.runtime_ns, comm_row(plain, "pb")->f.runtime_ns * 45 / 100,
			comm_row(plain, "pb")->f.runtime_ns * 55 / 100);
	resched_report_free(other);
	other = edited(&b, "nobody:drop", &schedule);
	assert_int_equal(schedule.nr_warnings, 1);
	assert_true(other->totals.switches == plain->totals.switches);
	resched_report_free(other);
	resched_report_free(plain);
	release(&b);
}

static void affinity_keeps_tasks_away(void **state)
{
	struct resched_schedule schedule;
	struct resched_report *report;
	struct built b;

	(void)state;
	build("lab-v7-k612-2c.dat", &b);
	report = edited(&b, "*:affinity=1", &schedule);
	assert_true(report->cpus[1].busy_ns > 0);
	for (unsigned int i = 0; i < report->nr_cpus; i++)
		assert_true(report->cpus[i].cpu == 1 || report->cpus[i].busy_ns < 1000000);
	resched_report_free(report);
	release(&b);
}

static void refuse(const struct built *b, const struct resched_whatif *whatif, const char *text)
{
	struct resched_schedule schedule;
	struct resched_error err = { 0 };

	assert_true(resched_replay_run(b->workload, whatif, NULL, NULL, NULL, &schedule, &err) < 0);
	assert_int_equal(err.kind, RESCHED_USAGE);
	if (!strstr(err.text, text))
		fail_msg("'%s' does not say '%s'", err.text, text);
}

static void bad_what_ifs_are_refused_in_words(void **state)
{
	static const struct { const char *edit, *says; } edits[] = {
		{ "nginx", "cannot read --task" }, { ":nice=5", "cannot read --task" }, { "h.0:", "cannot read --task" },
		{ "h.0:nice=20", "give -20 to 19" }, { "h.0:nice=", "give -20 to 19" }, { "h.0:slice=1s", "100us to 100ms" },
		{ "h.0:policy=fifo", "normal, batch or idle" }, { "h.0:scale=0", "factor" }, { "h.0:affinity=9-1", "cpu list" },
		{ "h.0:colour=red", "unknown key 'colour'" }, { "nobody:nice=99", "give -20 to 19" },
	};
	const char *feature = "NO_SUCH_THING", *setting = "no_such_ns=5";
	struct resched_whatif whatif = { .policy = "fifo" };
	struct built b;

	(void)state;
	build("lab-v7-k61-1c.dat", &b);
	refuse(&b, &whatif, "unknown policy 'fifo'");
	whatif = (struct resched_whatif){ .policy = "eevdf", .model = "9.9" };
	refuse(&b, &whatif, "9.9");
	whatif = (struct resched_whatif){ .policy = "eevdf", .nr_features = 1, .features = &feature };
	refuse(&b, &whatif, "SUCH_THING");
	whatif = (struct resched_whatif){ .policy = "eevdf", .nr_settings = 1, .settings = &setting };
	refuse(&b, &whatif, "no_such_ns");
	for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
		whatif = (struct resched_whatif){ .nr_tasks = 1, .tasks = &edits[i].edit };
		refuse(&b, &whatif, edits[i].says);
	}
	release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(demand_is_the_recorded_run_time),
		cmocka_unit_test(same_input_gives_the_same_bytes),
		cmocka_unit_test(own_rules_give_the_recording_back),
		cmocka_unit_test(the_kernel_in_the_recording_chooses_policy_and_model),
		cmocka_unit_test(nice_moves_run_time),
		cmocka_unit_test(dropped_and_scaled_tasks),
		cmocka_unit_test(affinity_keeps_tasks_away),
		cmocka_unit_test(bad_what_ifs_are_refused_in_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
