// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads built so that one rule of the policy makes a task wait: that rule is told, and switching it off takes the reason away.
 * The load runs in the engine and is written as a recording, so what the kernel did is known to be what the model does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <resched/explain.h>
#include <resched/outliers.h>
#include <resched/synth.h>
#include <resched/topology.h>
#include <resched/writer.h>

#define MAX_TEXTS 4u

struct load {
	const char *name;
	const char *words[8];
	const char *policy;
	const char *features[MAX_TEXTS], *settings[MAX_TEXTS];
};

static unsigned int count(const char *const *texts, unsigned int most)
{
	unsigned int nr = 0;

	while (nr < most && texts[nr])
		nr++;
	return nr;
}

static struct resched_whatif whatif_of(const struct load *l)
{
	return (struct resched_whatif){ .policy = l->policy, .nr_features = count(l->features, MAX_TEXTS), .features = l->features,
					.nr_settings = count(l->settings, MAX_TEXTS), .settings = l->settings };
}

/* Run it and write what happened to @path. */
static void record(const struct load *l, const char *path)
{
	struct resched_whatif whatif = whatif_of(l);
	struct resched_workload *workload = NULL;
	struct resched_writer *writer = NULL;
	struct resched_host *host = NULL;
	struct resched_schedule schedule;
	struct resched_error err = { 0 };

	if (resched_topology_load("sockets=1,cores=1", &host, &err) < 0 ||
	    resched_synth(l->name, count(l->words, 8), l->words, host, 1, &workload, &err) < 0 ||
	    resched_writer_new(path, resched_workload_host(workload), resched_workload_names(workload), NULL, &writer, &err) < 0 ||
	    resched_replay_run(workload, &whatif, resched_writer_event, writer, NULL, &schedule, &err) < 0 ||
	    resched_writer_finish(writer, NULL, NULL, &err) < 0)
		fail_msg("%s: %s", l->name, err.text);
	resched_writer_free(writer);
	resched_workload_free(workload);
	resched_host_free(host);
}

/* How much of the waits of @comm each reason makes up. */
struct shares { uint64_t ns[RESCHED_WHY_NR], all; unsigned int nr; };

static void add_up(struct resched_outliers *outliers, const char *comm, enum resched_wait_kind kind, struct shares *ret)
{
	const struct resched_outlier *o;

	for (unsigned int i = 0; (o = resched_outliers_get(outliers, i)); i++) {
		if (strcmp(o->comm, comm) || o->kind != kind)
			continue;
		ret->nr++;
		ret->all += o->latency_ns;
		for (unsigned int k = 0; o->has_why && k < RESCHED_WHY_NR; k++) {
			if (!strcmp(o->why_code, resched_why_code((enum resched_why)k)))
				ret->ns[k] += o->latency_ns;
		}
		assert_true(o->why_ns <= o->latency_ns);
		if (o->has_why)
			assert_true(strlen(o->why) > 20);
	}
}

static struct shares ask_over(const struct load *l, uint64_t over_ns, const char *comm, enum resched_wait_kind kind)
{
	char path[] = "/tmp/resched-test-XXXXXX";
	struct resched_outlier_options top = { .top = 10000, .over_ns = over_ns };
	struct resched_whatif whatif = whatif_of(l);
	struct resched_explain_options opts = { .whatif = &whatif };
	struct resched_analysis_options an = { 0 };
	struct resched_explainer *explainer = NULL;
	struct resched_analysis *analysis;
	struct resched_outliers *outliers;
	struct resched_trace *trace;
	const struct resched_event *event;
	struct resched_error err = { 0 };
	struct shares ret = { 0 };

	close(mkstemp(path));
	record(l, path);
	assert_int_equal(resched_trace_open(path, &trace, &err), 0);
	an.names = resched_trace_names(trace);
	assert_int_equal(resched_analysis_new(&an, &analysis, &err), 0);
	assert_int_equal(resched_outliers_new(analysis, &top, &outliers, &err), 0);
	while (resched_trace_next(trace, &event, &err) > 0)
		assert_int_equal(resched_analysis_event(analysis, event), 0);
	resched_outliers_sort(outliers);
	resched_trace_free(trace);
	assert_int_equal(resched_trace_open(path, &trace, &err), 0);
	if (resched_explainer_new(trace, &opts, &explainer, &err) < 0 || resched_outliers_explain(outliers, explainer, &err) < 0)
		fail_msg("%s", err.text);
	add_up(outliers, comm, kind, &ret);
	resched_explainer_free(explainer);
	resched_outliers_free(outliers);
	resched_analysis_free(analysis);
	resched_trace_free(trace);
	unlink(path);
	return ret;
}

static struct shares ask(const struct load *l, const char *comm, enum resched_wait_kind kind)
{
	return ask_over(l, 100000, comm, kind);
}

static void print_shares(const struct shares *s)
{
	for (unsigned int k = 0; k < RESCHED_WHY_NR; k++) {
		if (s->ns[k])
			print_message("# %s %.1f %%\n", resched_why_code((enum resched_why)k), (double)s->ns[k] * 100 / (double)s->all);
	}
}

static bool mostly(const struct shares *s, enum resched_why why)
{
	if (s->nr < 3 || s->ns[why] * 10 < s->all * 8)
		print_shares(s);
	return s->nr >= 3 && s->ns[why] * 10 >= s->all * 8;
}

static bool hardly(const struct shares *s, enum resched_why why)
{
	if (s->ns[why] * 10 > s->all)
		print_shares(s);
	return s->ns[why] * 10 <= s->all;
}

#define SHORT "periodic", { "tasks=1", "hogs=1", "duration=1", "run=500us", "period=7ms" }
#define LONG "periodic", { "tasks=1", "hogs=1", "duration=1", "run=1ms", "period=5ms" }
#define NOMINEE "periodic", { "tasks=1", "hogs=2", "duration=1", "run=2ms", "period=11ms" }
#define HOGS "hogs", { "tasks=3", "duration=1" }
#define LOAD(...) (&(const struct load){ __VA_ARGS__ })
#define NONE { NULL }

static void never_waits(const struct load *l, const char *comm)
{
	struct shares s = ask(l, comm, RESCHED_WAIT_WAKE);

	assert_int_equal(s.nr, 0);
}

/* Who has just run is owed nothing until the others have run as much; without eligibility only deadlines count. */
static void not_eligible(void **state)
{
	struct shares with = ask(LOAD(HOGS, "eevdf", NONE, NONE), "hog", RESCHED_WAIT_PREEMPTED);
	struct shares without = ask(LOAD(HOGS, "evdf", NONE, NONE), "hog", RESCHED_WAIT_PREEMPTED);

	(void)state;
	assert_true(mostly(&with, RESCHED_WHY_NOT_ELIGIBLE));
	assert_true(hardly(&without, RESCHED_WHY_NOT_ELIGIBLE));
}

/* A task woken at V has its deadline a slice ahead; the hog that is in the middle of its request has an earlier one. */
static void later_deadline(void **state)
{
	struct shares with = ask(LOAD(SHORT, "evdf", NONE, NONE), "periodic", RESCHED_WAIT_WAKE);

	(void)state;
	assert_true(mostly(&with, RESCHED_WHY_LATER_DEADLINE));
	never_waits(LOAD(SHORT, "eevdf", NONE, NONE), "periodic");
}

static void slice_protection(void **state)
{
	struct shares with = ask(LOAD(LONG, "evdf", NONE, { "base_slice_ns=20ms" }), "periodic", RESCHED_WAIT_WAKE);
	struct shares without = ask(LOAD(LONG, "evdf", { "NO_RUN_TO_PARITY" }, { "base_slice_ns=20ms" }), "periodic", RESCHED_WAIT_WAKE);

	(void)state;
	assert_true(mostly(&with, RESCHED_WHY_SLICE_PROTECTION));
	assert_true(hardly(&without, RESCHED_WHY_SLICE_PROTECTION));
}

static void nobody_asks(void **state)
{
	struct shares with = ask(LOAD(SHORT, "eevdf", { "NO_WAKEUP_PREEMPTION" }, NONE), "periodic", RESCHED_WAIT_WAKE);
	struct shares cfs = ask(LOAD(SHORT, "cfs", { "NO_WAKEUP_PREEMPTION" }, NONE), "periodic", RESCHED_WAIT_WAKE);

	(void)state;
	assert_true(mostly(&with, RESCHED_WHY_TICK));
	assert_true(hardly(&cfs, RESCHED_WHY_WAKEUP_GRANULARITY));
	never_waits(LOAD(SHORT, "eevdf", NONE, NONE), "periodic");
}

static void wakeup_granularity(void **state)
{
	struct shares with = ask(LOAD(SHORT, "cfs", NONE, { "wakeup_granularity_ns=20ms" }), "periodic", RESCHED_WAIT_WAKE);

	(void)state;
	assert_true(mostly(&with, RESCHED_WHY_WAKEUP_GRANULARITY));
	never_waits(LOAD(SHORT, "cfs", NONE, { "wakeup_granularity_ns=0" }), "periodic");
}

static void later_vruntime(void **state)
{
	struct shares with = ask(LOAD(SHORT, "cfs", NONE, NONE), "hog", RESCHED_WAIT_PREEMPTED);

	(void)state;
	assert_true(mostly(&with, RESCHED_WHY_LATER_VRUNTIME));
}

/* A task that preempts at once waits for the switch alone, but for the quarter of times that it meets a tick. */
static void switch_pending(void **state)
{
	struct shares eevdf = ask_over(LOAD(SHORT, "eevdf", NONE, NONE), 0, "periodic", RESCHED_WAIT_WAKE);
	struct shares cfs = ask_over(LOAD(SHORT, "cfs", NONE, { "wakeup_granularity_ns=0" }), 0, "periodic", RESCHED_WAIT_WAKE);

	(void)state;
	assert_true(eevdf.ns[RESCHED_WHY_PENDING] * 10 > eevdf.all * 7);
	assert_true(cfs.ns[RESCHED_WHY_PENDING] * 10 > cfs.all * 7);
	never_waits(LOAD(SHORT, "eevdf", NONE, NONE), "periodic");
}

/* Hogs wait longer when another than the best is picked, which only a nomination does: of who woke. */
static void buddy(void **state)
{
	struct shares with = ask(LOAD(NOMINEE, "eevdf", { "NEXT_BUDDY" }, NONE), "hog", RESCHED_WAIT_PREEMPTED);
	struct shares without = ask(LOAD(NOMINEE, "eevdf", { "NO_NEXT_BUDDY" }, NONE), "hog", RESCHED_WAIT_PREEMPTED);
	struct shares cfs = ask(LOAD(NOMINEE, "cfs", { "NO_NEXT_BUDDY", "NO_LAST_BUDDY" }, NONE), "hog", RESCHED_WAIT_PREEMPTED);

	(void)state;
	assert_true(with.ns[RESCHED_WHY_BUDDY] > 0);
	assert_int_equal(without.ns[RESCHED_WHY_BUDDY], 0);
	assert_int_equal(cfs.ns[RESCHED_WHY_BUDDY], 0);	/* nor do equals nominate one of them */
}

static void codes_have_an_end(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RESCHED_WHY_NR; i++)
		assert_non_null(resched_why_code((enum resched_why)i));
	assert_null(resched_why_code(RESCHED_WHY_NR));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(not_eligible), cmocka_unit_test(later_deadline), cmocka_unit_test(slice_protection), cmocka_unit_test(nobody_asks),
		cmocka_unit_test(wakeup_granularity), cmocka_unit_test(later_vruntime), cmocka_unit_test(switch_pending), cmocka_unit_test(buddy),
		 cmocka_unit_test(codes_have_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
