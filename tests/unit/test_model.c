// SPDX-License-Identifier: GPL-2.0-only
/* Models: which knobs there are, how they are set, what is refused and in which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <resched/policy.h>

#include "policies/model.h"
#include "policies/policy.h"

static struct rs_model *make(const char *policy, const char *kernel, unsigned int cpus, const char *feature, const char *setting)
{
	struct resched_error err = { 0 };
	struct rs_model *model = NULL;

	if (rs_model_new(policy, kernel, cpus, feature ? 1 : 0, &feature, setting ? 1 : 0, &setting, &model, &err) < 0)
		fail_msg("%s", err.text);
	return model;
}

static uint64_t value_of(const struct rs_model *model, const char *name)
{
	const char *knob;
	int is_feature;
	uint64_t value;

	for (unsigned int i = 0; rs_model_knob(model, i, &knob, &is_feature, &value); i++) {
		if (!strcmp(knob, name))
			return value;
	}
	fail_msg("no knob %s", name);
	return 0;
}

static void refused(const char *policy, const char *kernel, const char *feature, const char *setting, const char *words)
{
	struct resched_error err = { 0 };
	struct rs_model *model = NULL;

	assert_int_equal(rs_model_new(policy, kernel, 1, feature ? 1 : 0, &feature, setting ? 1 : 0, &setting, &model, &err), -22);
	assert_int_equal(err.kind, RESCHED_USAGE);
	assert_null(model);
	if (!strstr(err.text, words))
		fail_msg("'%s' lacks '%s'", err.text, words);
	/* without an error to fill it must not crash */
	assert_int_equal(rs_model_new(policy, kernel, 1, feature ? 1 : 0, &feature, setting ? 1 : 0, &setting, &model, NULL), -22);
}

static void defaults_scale_with_cpus(void **state)
{
	static const struct { unsigned int cpus; uint64_t factor; } rows[] = { { 0, 1 }, { 1, 1 }, { 2, 2 }, { 3, 2 }, { 4, 3 }, { 7, 3 },
									       { 8, 4 }, { 9, 4 }, { 64, 4 }, { 8192, 4 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rs_model *e = make("eevdf", "6.12", rows[i].cpus, NULL, NULL), *o = make("eevdf", "6.6", rows[i].cpus, NULL, NULL);
		struct rs_model *c = make("cfs", NULL, rows[i].cpus, NULL, NULL);

		assert_int_equal(value_of(e, "base_slice_ns"), 700000 * rows[i].factor);
		assert_int_equal(value_of(o, "base_slice_ns"), 750000 * rows[i].factor);
		assert_int_equal(value_of(c, "latency_ns"), 6000000 * rows[i].factor);
		assert_int_equal(value_of(c, "min_granularity_ns"), 750000 * rows[i].factor);
		assert_int_equal(value_of(c, "wakeup_granularity_ns"), 1000000 * rows[i].factor);
		assert_int_equal(value_of(c, "idle_min_granularity_ns"), 750000);
		assert_int_equal(value_of(c, "migration_cost_ns"), 500000);
		rs_model_free(e);
		rs_model_free(o);
		rs_model_free(c);
	}
}

static void scaling_is_a_setting(void **state)
{
	static const struct { const char *set; uint64_t factor; } rows[] = { { "tunable_scaling=0", 1 }, { "tunable_scaling=none", 1 },
		{ "tunable_scaling=1", 4 }, { "tunable_scaling=logarithmic", 4 }, { "tunable_scaling=2", 8 }, { "tunable_scaling=linear", 8 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rs_model *m = make("eevdf", NULL, 8, NULL, rows[i].set);

		assert_int_equal(value_of(m, "base_slice_ns"), 700000 * rows[i].factor);
		rs_model_free(m);
	}
}

static void settings_are_effective_values(void **state)
{
	struct rs_model *m = make("eevdf", NULL, 8, NULL, "base_slice_ns=3ms");

	(void)state;
	assert_int_equal(value_of(m, "base_slice_ns"), 3000000);
	rs_model_free(m);
	m = make("eevdf", NULL, 8, NULL, "base_slice_ns=2800000");
	assert_int_equal(value_of(m, "base_slice_ns"), 2800000);
	rs_model_free(m);
	m = make("cfs", NULL, 8, NULL, "wakeup_granularity_ns=0");
	assert_int_equal(value_of(m, "wakeup_granularity_ns"), 0);
	rs_model_free(m);
	m = make("cfs", NULL, 1, NULL, "preempt=full");
	assert_int_equal(value_of(m, "preempt"), 2);
	rs_model_free(m);
}

static void hz_gives_the_tick(void **state)
{
	static const struct { const char *set; unsigned int hz; uint64_t tick; } rows[] = {
		{ NULL, 250, 4000000 }, { "hz=100", 100, 10000000 }, { "hz=300", 300, 3333333 }, { "hz=1000", 1000, 1000000 },
	};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct rs_model *m = make("evdf", "6.18", 4, NULL, rows[i].set);

		assert_int_equal(rs_model_hz(m), rows[i].hz);
		assert_int_equal(m->tick_ns, rows[i].tick);
		assert_string_equal(rs_model_kernel(m), "6.18");
		rs_model_free(m);
	}
}

static void later_ones_win(void **state)
{
	const char *features[] = { "NO_RUN_TO_PARITY", "NEXT_BUDDY", "RUN_TO_PARITY", "NO_NONTASK_CAPACITY" };
	const char *settings[] = { "base_slice_ns=1ms", "tunable_scaling=0", "base_slice_ns=2ms", "hz=100" };
	struct rs_model *m = NULL;

	(void)state;
	assert_int_equal(rs_model_new("eevdf", NULL, 8, 4, features, 4, settings, &m, NULL), 0);
	assert_true(rs_model_feature(m, "RUN_TO_PARITY"));
	assert_true(rs_model_feature(m, "NEXT_BUDDY"));
	assert_false(rs_model_feature(m, "NONTASK_CAPACITY"));
	assert_false(rs_model_feature(m, "NO_SUCH_THING"));
	assert_int_equal(value_of(m, "base_slice_ns"), 2000000);
	assert_int_equal(value_of(m, "hz"), 100);
	rs_model_free(m);
}

static void mistakes_are_named(void **state)
{
	(void)state;
	refused("eevd", NULL, NULL, NULL, "eevdf evdf cfs");
	refused(NULL, NULL, NULL, NULL, "eevdf evdf cfs");
	refused("eevdf", "6.1", NULL, NULL, "6.6 6.8 6.12 6.18");
	refused("cfs", "6.12", NULL, NULL, "5.4 5.10 5.15 6.1");
	refused("eevdf", NULL, "RUN_TO_PRAITY", NULL, "RUN_TO_PARITY");
	refused("eevdf", NULL, "NO_START_DEBIT", NULL, "no feature 'START_DEBIT'");
	refused("evdf", NULL, "ENFORCE_ELIGIBILITY", NULL, "no feature 'ENFORCE_ELIGIBILITY'");
	refused("eevdf", NULL, "", NULL, "no feature ''");
	refused("eevdf", NULL, "NO_", NULL, "no feature ''");
	refused("eevdf", "6.6", "DELAY_DEQUEUE", NULL, "eevdf 6.6 has no feature");
	refused("eevdf", NULL, NULL, "latency_ns=3ms", "base_slice_ns");
	refused("eevdf", NULL, NULL, "base_slice=3ms", "no tunable 'base_slice'");
	refused("eevdf", NULL, NULL, "base_slice_ns", "name=value");
	refused("eevdf", NULL, NULL, "=", "no tunable ''");
	refused("eevdf", NULL, NULL, "base_slice_ns=", "3ms");
	refused("eevdf", NULL, NULL, "base_slice_ns=3 apples", "3ms");
	refused("eevdf", NULL, NULL, "base_slice_ns=-1", "3ms");
	refused("eevdf", NULL, NULL, "base_slice_ns=0", "not within");
	refused("eevdf", NULL, NULL, "base_slice_ns=99999999999999999999999", "3ms");
	refused("eevdf", NULL, NULL, "hz=0", "not within");
	refused("eevdf", NULL, NULL, "hz=1ms", "number");
	refused("eevdf", NULL, NULL, "preempt=maybe", "lazy");
	refused("eevdf", NULL, NULL, "tunable_scaling=3", "not within");
}

/* kernel/sched/features.h of 6.1.192 and 6.12.117, as debugfs prints their defaults. */
static const char *const features_6_1[] = {
	"GENTLE_FAIR_SLEEPERS", "START_DEBIT", "NO_NEXT_BUDDY", "LAST_BUDDY", "CACHE_HOT_BUDDY", "WAKEUP_PREEMPTION", "NO_HRTICK",
	"NO_HRTICK_DL", "NO_DOUBLE_TICK", "NONTASK_CAPACITY", "TTWU_QUEUE", "NO_SIS_PROP", "SIS_UTIL", "NO_WARN_DOUBLE_CLOCK",
	"RT_PUSH_IPI", "NO_RT_RUNTIME_SHARE", "NO_LB_MIN", "ATTACH_AGE_LOAD", "WA_IDLE", "WA_WEIGHT", "WA_BIAS", "UTIL_EST",
	"UTIL_EST_FASTUP", "NO_LATENCY_WARN", "NI_RANDOM", "ALT_PERIOD", "BASE_SLICE",
};
static const char *const features_6_12[] = {
	"PLACE_LAG", "PLACE_DEADLINE_INITIAL", "PLACE_REL_DEADLINE", "RUN_TO_PARITY", "PREEMPT_SHORT", "NO_NEXT_BUDDY", "PICK_BUDDY",
	"CACHE_HOT_BUDDY", "DELAY_DEQUEUE", "DELAY_ZERO", "WAKEUP_PREEMPTION", "NO_HRTICK", "NO_HRTICK_DL", "NO_DOUBLE_TICK",
	"NONTASK_CAPACITY", "TTWU_QUEUE", "SIS_UTIL", "NO_WARN_DOUBLE_CLOCK", "RT_PUSH_IPI", "NO_RT_RUNTIME_SHARE", "NO_LB_MIN",
	"ATTACH_AGE_LOAD", "WA_IDLE", "WA_WEIGHT", "WA_BIAS", "UTIL_EST", "NO_LATENCY_WARN", "NI_RANDOM",
};

static void takes_all_and_agrees(const char *policy, const char *kernel, const char *const *features, unsigned int nr)
{
	struct resched_error err = { 0 };
	struct rs_model *model = NULL, *plain = make(policy, kernel, 1, NULL, NULL);

	if (rs_model_new(policy, kernel, 1, nr, features, 0, NULL, &model, &err) < 0)
		fail_msg("%s", err.text);
	assert_memory_equal(model->feature, plain->feature, sizeof(model->feature));	/* our defaults are the kernel's */
	for (unsigned int i = 0; i < nr; i++) {
		bool off = !strncmp(features[i], "NO_", 3);

		assert_true(rs_model_feature_known(features[i] + (off ? 3 : 0)));
		assert_true(rs_model_has_feature(policy, kernel, features[i] + (off ? 3 : 0)));
		assert_int_equal(rs_model_feature(model, features[i] + (off ? 3 : 0)), !off);
	}
	rs_model_free(model);
	rs_model_free(plain);
}

static void every_kernel_feature_is_known(void **state)
{
	(void)state;
	takes_all_and_agrees("cfs", "6.1", features_6_1, sizeof(features_6_1) / sizeof(features_6_1[0]));
	takes_all_and_agrees("eevdf", "6.12", features_6_12, sizeof(features_6_12) / sizeof(features_6_12[0]));
	takes_all_and_agrees("eevdf", "6.18", features_6_12, sizeof(features_6_12) / sizeof(features_6_12[0]));
	takes_all_and_agrees("evdf", "6.12", features_6_12, sizeof(features_6_12) / sizeof(features_6_12[0]));
	assert_true(rs_model_feature_known("PLACE_SLEEPER"));
	assert_false(rs_model_feature_known("PLACE_LAGG"));
	assert_false(rs_model_has_feature("eevdf", NULL, "START_DEBIT"));
	assert_false(rs_model_has_feature("cfs", NULL, "PLACE_LAG"));
	assert_false(rs_model_has_feature("nothing", NULL, "PLACE_LAG"));
	assert_true(rs_model_tunable_known("latency_ns") && rs_model_tunable_known("latency_warn_ms"));
	assert_false(rs_model_tunable_known("latency"));
	assert_true(rs_model_has_tunable("cfs", NULL, "latency_ns"));
	assert_false(rs_model_has_tunable("eevdf", "6.6", "latency_ns"));
}

static void knobs_are_listed(void **state)
{
	const struct resched_policy_info *info;
	unsigned int policies = 0;

	(void)state;
	for (; (info = resched_policy_get(policies)); policies++) {
		assert_ptr_equal(resched_policy_find(info->name), info);
		assert_non_null(rs_policy_ops_find(info->name));
		assert_string_equal(rs_policy_ops_find(info->name)->name, info->name);
		for (unsigned int i = 0; i < info->nr_models; i++) {
			struct rs_model *m = make(info->name, info->models[i], 1, NULL, NULL);
			struct resched_knob_info knob;
			const char *name;
			int is_feature;
			uint64_t value;
			unsigned int idx;

			for (idx = 0; resched_policy_knob(info->name, info->models[i], idx, &knob); idx++) {
				assert_true(knob.name[0] && knob.meaning[0]);
				assert_true(rs_model_knob(m, idx, &name, &is_feature, &value));
				assert_string_equal(name, knob.name);
				assert_int_equal(is_feature, knob.is_feature);
				assert_int_equal(value, knob.value);	/* one cpu: nothing is scaled */
			}
			assert_false(rs_model_knob(m, idx, &name, &is_feature, &value));
			assert_true(idx > 25 && idx <= 64);
			rs_model_free(m);
		}
	}
	assert_int_equal(policies, 3);
	assert_null(resched_policy_find("fifo"));
	assert_null(resched_policy_find(NULL));
	assert_null(rs_policy_ops_find("fifo"));
	assert_null(rs_policy_ops_find(NULL));
	assert_false(resched_policy_knob("fifo", NULL, 0, &(struct resched_knob_info){ 0 }));
	assert_false(resched_policy_knob("cfs", "6.12", 0, &(struct resched_knob_info){ 0 }));
	assert_true(resched_policy_knob("cfs", NULL, 0, &(struct resched_knob_info){ 0 }));
}

static void kernels_have_policies(void **state)
{
	static const struct { const char *release, *policy, *eevdf, *cfs; } rows[] = {
		{ "6.12.48+deb12-cloud-amd64", "eevdf", "6.12", "6.1" }, { "6.6", "eevdf", "6.6", "6.1" }, { "6.7.1", "eevdf", "6.6", "6.1" },
		{ "6.8.0-45-generic", "eevdf", "6.8", "6.1" }, { "6.11.0", "eevdf", "6.8", "6.1" }, { "6.17.3", "eevdf", "6.12", "6.1" },
		{ "6.18.35", "eevdf", "6.18", "6.1" }, { "7.0-rc1", "eevdf", "6.18", "6.1" }, { "6.5.0-x", "cfs", "6.12", "6.1" },
		{ "6.1.192", "cfs", "6.12", "6.1" }, { "5.15.135", "cfs", "6.12", "5.15" }, { "5.17.0", "cfs", "6.12", "6.1" },
		{ "5.14.0-362.el9.x86_64", "cfs", "6.12", "5.15" }, { "5.10.89", "cfs", "6.12", "5.10" }, { "5.4.59", "cfs", "6.12", "5.4" },
		{ "4.18.0-240.el8", "cfs", "6.12", "4.18" }, { "4.19.0", "cfs", "6.12", "5.4" }, { "", NULL, "6.12", "6.1" }, { "next", NULL, "6.12", "6.1" },
		{ "6", NULL, "6.12", "6.1" }, { "6.", NULL, "6.12", "6.1" }, { NULL, NULL, "6.12", "6.1" }, { "v6.6", NULL, "6.12", "6.1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *policy = resched_policy_of_kernel(rows[i].release);

		if (!rows[i].policy)
			assert_null(policy);
		else
			assert_string_equal(policy, rows[i].policy);
		assert_string_equal(rs_model_nearest("eevdf", rows[i].release), rows[i].eevdf);
		assert_string_equal(rs_model_nearest("evdf", rows[i].release), rows[i].eevdf);
		assert_string_equal(rs_model_nearest("cfs", rows[i].release), rows[i].cfs);
	}
	assert_null(rs_model_nearest("fifo", "6.6"));
}

/* Every stage names where it is from; a kernel's row names the version that was read. What was not checked is told. */
static void stages_name_their_source(void **state)
{
	const struct resched_policy_info *info;
	struct resched_model_info m;

	(void)state;
	for (unsigned int p = 0; (info = resched_policy_get(p)); p++) {
		assert_true(info->nr_kernels <= info->nr_models);
		for (unsigned int i = 0; i < info->nr_models; i++) {
			assert_true(resched_policy_model(info->name, info->models[i], &m));
			assert_string_equal(m.name, info->models[i]);
			assert_int_equal(m.is_stage, i >= info->nr_kernels);
			assert_non_null(m.source);
		}
	}
	assert_true(resched_policy_model("eevdf", "eevdf-2023-03", &m) && m.has_latency_nice && strstr(m.unverified, "PLACE_FUDGE"));
	assert_true(resched_policy_model("eevdf", "queue-2023-10", &m) && !m.has_latency_nice && strstr(m.unverified, "EVDF"));
	assert_true(resched_policy_model("cfs", NULL, &m) && !m.is_stage);
	assert_false(resched_policy_model("evdf", "queue-2023-10", &m));
	assert_false(resched_policy_model("fifo", NULL, &m));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_scale_with_cpus), cmocka_unit_test(scaling_is_a_setting),
		cmocka_unit_test(settings_are_effective_values), cmocka_unit_test(hz_gives_the_tick), cmocka_unit_test(later_ones_win),
		cmocka_unit_test(mistakes_are_named), cmocka_unit_test(every_kernel_feature_is_known), cmocka_unit_test(knobs_are_listed),
		cmocka_unit_test(kernels_have_policies), cmocka_unit_test(stages_name_their_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
