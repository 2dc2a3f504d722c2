// SPDX-License-Identifier: GPL-2.0-only
/* Made-up workloads: each does what the tool it is named after does, and always the same. */
#include "replay/synth.h"

#include <resched/analysis.h>
#include <resched/replay.h>
#include <resched/rtapp.h>
#include <resched/synth.h>
#include <resched/topology.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static struct resched_workload *make(const char *name, const char *machine, uint64_t seed, unsigned int nr, const char *const *words)
{
	struct resched_workload *workload = NULL;
	struct resched_host *host = NULL;
	struct resched_error err = { 0 };

	if (resched_topology_load(machine, &host, &err) < 0 || resched_synth(name, nr, words, host, seed, &workload, &err) < 0)
		fail_msg("%s: %s", name, err.text);
	resched_host_free(host);
	return workload;
}

static struct resched_report *run(const struct resched_workload *workload, const char *policy)
{
	struct resched_analysis_options opts = { .names = resched_workload_names(workload) };
	struct resched_whatif whatif = { .policy = policy };
	struct resched_analysis *analysis;
	struct resched_schedule schedule;
	struct resched_error err = { 0 };
	struct resched_report *report;

	assert_int_equal(resched_analysis_new(&opts, &analysis, &err), 0);
	if (resched_replay_run(workload, &whatif, resched_analysis_event, analysis, analysis, &schedule, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(resched_analysis_finish(analysis, &report, &err), 0);
	resched_analysis_free(analysis);
	return report;
}

static const struct resched_figures *comm(const struct resched_report *report, const char *name)
{
	for (unsigned int i = 0; i < report->nr_comms; i++) {
		if (!strcmp(report->comms[i].name, name))
			return &report->comms[i].f;
	}
	fail_msg("no task %s", name);
	return NULL;
}

static char *text_of(const struct resched_workload *workload)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(resched_workload_save(workload, out, NULL), 0);
	fclose(out);
	return text;
}

/* All messages are sent and read whatever the policy, and all tasks end. */
static void hackbench_reads_every_message(void **state)
{
	static const char *const words[] = { "-g", "2", "-l300", "--fds=4", "send=1us", "receive=1us" };
	static const char *const policies[] = { "cfs", "eevdf", "evdf" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct resched_workload *workload = make("hackbench", "vm2", 1, 6, words);
		struct resched_report *report = run(workload, policies[i]);
		uint64_t messages = 2 * 4 * 4 * 300;

		assert_int_equal(report->nr_tasks, 2 * 8 + 1);
		assert_in_range(report->totals.runtime_ns, messages * 2000 * 97 / 100, messages * 2000 * 103 / 100 + 500000);
		assert_in_range(report->last_ns - report->first_ns, messages * 1000, messages * 1500);
		resched_report_free(report);
		resched_workload_free(workload);
	}
}

/* One cycle takes 30 + 30 + 33.75 ms when nothing waits, a third of it a worker runs. */
static void old_schbench_keeps_its_cycle(void **state)
{
	static const char *const words[] = { "message-threads=1", "threads=2", "runtime=20" };
	struct resched_workload *workload = make("schbench-old", "vm4", 7, 3, words);
	struct resched_report *report = run(workload, "eevdf");
	const struct resched_figures *workers = comm(report, "schbench-worker");

	(void)state;
	assert_in_range(workers->wakeups, 2 * 20000 / 94 - 10, 2 * 20000 / 93 + 10);
	assert_in_range(workers->runtime_ns / workers->wakeups, 29800000, 30200000);
	resched_report_free(report);
	resched_workload_free(workload);
}

/* On one cpu the spins overlap: less than 30 ms of cpu each, as the clock goes on. */
static void old_schbench_spins_by_the_clock(void **state)
{
	static const char *const words[] = { "message-threads=1", "threads=4", "runtime=10" };
	struct resched_workload *workload = make("schbench-old", "sockets=1,cores=1", 7, 3, words);
	struct resched_report *report = run(workload, "eevdf");
	const struct resched_figures *workers = comm(report, "schbench-worker");

	(void)state;
	assert_in_range(workers->runtime_ns / workers->wakeups, 5000000, 20000000);
	resched_report_free(report);
	resched_workload_free(workload);
}

static void schbench_answers_every_request(void **state)
{
	static const char *const words[] = { "threads=2", "runtime=2", "operations=1", "cost=1ms" };
	struct resched_workload *workload = make("schbench", "vm4", 1, 4, words);
	struct resched_report *report = run(workload, "eevdf");
	const struct resched_figures *workers = comm(report, "schbench-worker");
	uint64_t cycle = 1000 + 150 + 10, requests = 2 * 2000000 / cycle;

	(void)state;
	assert_in_range(workers->runtime_ns / 1000000, requests * 95 / 100, requests * 103 / 100);
	resched_report_free(report);
	resched_workload_free(workload);
}

static void poisson_brings_the_load_asked_for(void **state)
{
	static const char *const words[] = { "tasks=8", "rate=200", "run=500us", "duration=10" };
	struct resched_workload *workload = make("poisson", "vm4", 3, 4, words);
	struct resched_report *report = run(workload, "cfs");

	(void)state;
	assert_in_range(report->totals.runtime_ns / 1000000, 8000 * 95 / 100, 8000 * 105 / 100);
	resched_report_free(report);
	resched_workload_free(workload);
}

static void cyclictest_and_periodic_wake_in_time(void **state)
{
	static const char *const quiet[] = { "load=0", "duration=1" }, *const tasks[] = { "tasks=3", "duration=1", "period=5ms", "run=1ms" };
	struct resched_workload *workload = make("cyclictest", "vm2", 1, 2, quiet);
	struct resched_report *report = run(workload, "eevdf");

	(void)state;
	assert_in_range(report->totals.wakeups, 998, 1001);
	assert_in_range(report->totals.wakeup_latency.max, 0, 10000);
	resched_report_free(report);
	resched_workload_free(workload);
	workload = make("periodic", "vm4", 1, 4, tasks);
	report = run(workload, "eevdf");
	assert_in_range(report->totals.wakeups, 3 * 199, 3 * 201);
	assert_in_range(report->totals.runtime_ns, 3 * 197000000ull, 3 * 201000000ull);
	resched_report_free(report);
	resched_workload_free(workload);
}

/* The same seed gives the same text, another seed another one; and every text loads to the same text. */
static void seeds_decide(void **state)
{
	const char *name, *about;

	(void)state;
	for (unsigned int i = 0; resched_synth_name(i, &name, &about); i++) {
		struct resched_workload *a = make(name, "vm2", 1, 0, NULL), *b = make(name, "vm2", 1, 0, NULL), *loaded = NULL;
		char *first = text_of(a), *second = text_of(b), *third;
		struct resched_error err = { 0 };
		FILE *in = fmemopen(first, strlen(first), "r");

		assert_string_equal(first, second);
		assert_non_null(in);
		if (resched_workload_read(in, name, &loaded, &err) < 0)
			fail_msg("%s", err.text);
		fclose(in);
		third = text_of(loaded);
		assert_string_equal(first, third);
		free(second);
		free(third);
		resched_workload_free(b);
		resched_workload_free(loaded);
		if (!strcmp(name, "poisson") || !strcmp(name, "hackbench")) {
			b = make(name, "vm2", 2, 0, NULL);
			second = text_of(b);
			assert_string_not_equal(first, second);
			free(second);
			resched_workload_free(b);
		}
		free(first);
		resched_workload_free(a);
	}
}

static void exponential_numbers_have_their_mean(void **state)
{
	struct rs_rng rng = { 42 };
	uint64_t sum = 0, above = 0;

	(void)state;
	for (unsigned int i = 0; i < 100000; i++) {
		uint64_t x = rs_rng_exponential(&rng, 1000000);

		sum += x;
		above += x > 1000000;
	}
	assert_in_range(sum / 100000, 990000, 1010000);
	assert_in_range(above, 36788 - 600, 36788 + 600);	/* 1/e of all */
}

static void wrong_words_are_refused(void **state)
{
	static const struct { const char *name, *word; } cases[] = {
		{ "hackbench", "groups=0" }, { "hackbench", "groups=many" }, { "hackbench", "colour=red" }, { "hackbench", "-g" },
		{ "hackbench", "groups=4096" /* with a thousand of each: too large */ }, { "periodic", "nice=-21" }, { "dhrystone", "" },
		{ "poisson", "run=1y" },
	};
	struct resched_host *host = NULL;

	(void)state;
	assert_int_equal(resched_topology_load("vm2", &host, NULL), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *const words[] = { cases[i].word, "--fds", "1000" };
		struct resched_workload *workload = NULL;
		struct resched_error err = { 0 };
		unsigned int nr = strcmp(cases[i].word, "groups=4096") ? 1 : 3;

		if (resched_synth(cases[i].name, nr, words, host, 0, &workload, &err) >= 0 || err.kind != RESCHED_USAGE || !*err.text)
			fail_msg("%s %s: '%s'", cases[i].name, cases[i].word, err.text);
	}
	resched_host_free(host);
}

/* Written for rt-app and read back: the same run time and wakes, to the us that rt-app knows. */
static void rtapp_gives_back_what_it_got(void **state)
{
	static const char *const words[] = { "tasks=3", "duration=2", "period=10ms", "run=2ms" };
	struct resched_workload *first = make("periodic", "vm2", 1, 4, words), *second = NULL;
	struct resched_report *a, *b;
	struct resched_error err = { 0 };
	char path[] = "/tmp/resched-rtapp-XXXXXX";
	int fd = mkstemp(path);
	FILE *out = fdopen(fd, "w");

	(void)state;
	assert_non_null(out);
	if (resched_rtapp_save(first, out, &err) < 0)
		fail_msg("%s", err.text);
	fclose(out);
	if (resched_rtapp_load(path, resched_workload_host(first), &second, &err) < 0)
		fail_msg("%s", err.text);
	unlink(path);
	a = run(first, "eevdf");
	b = run(second, "eevdf");
	assert_int_equal(a->nr_tasks, b->nr_tasks);
	assert_in_range(b->totals.runtime_ns, a->totals.runtime_ns * 98 / 100, a->totals.runtime_ns * 102 / 100);
	assert_in_range(b->totals.wakeups, a->totals.wakeups * 98 / 100, a->totals.wakeups * 102 / 100);
	resched_report_free(a);
	resched_report_free(b);
	resched_workload_free(first);
	resched_workload_free(second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hackbench_reads_every_message),
		cmocka_unit_test(old_schbench_keeps_its_cycle),
		cmocka_unit_test(old_schbench_spins_by_the_clock),
		cmocka_unit_test(schbench_answers_every_request),
		cmocka_unit_test(poisson_brings_the_load_asked_for),
		cmocka_unit_test(cyclictest_and_periodic_wake_in_time),
		cmocka_unit_test(seeds_decide),
		cmocka_unit_test(exponential_numbers_have_their_mean),
		cmocka_unit_test(wrong_words_are_refused),
		cmocka_unit_test(rtapp_gives_back_what_it_got),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
