// SPDX-License-Identifier: GPL-2.0-only
#include "policies/model.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <resched/policy.h>

#include "base/error.h"
#include "base/units.h"

enum knob_kind { KNOB_TIME, KNOB_UINT, KNOB_SCALING, KNOB_PREEMPT };

static const struct feature_row {
	const char *name;
	unsigned int has, on;
	const char *meaning;
} feature_rows[RS_FEATURE_NR] = {
#define X(name, has, on, meaning) { #name, has, on, meaning },
	RS_FEATURES(X)
#undef X
};

static const struct tunable_row {
	const char *name;
	unsigned int has;
	enum knob_kind kind;
	uint64_t value;
	bool scaled;
	uint64_t least, greatest;
	const char *meaning;
} tunable_rows[RS_TUNABLE_NR] = {
#define X(name, has, kind, value, scaled, least, greatest, meaning) \
	{ #name, has, KNOB_##kind, value, scaled, least, greatest, meaning },
	RS_TUNABLES(X)
#undef X
};

/* What the names of other kernels and of posted patches are; never an error when a recording carries them. */
static const char *const foreign_features[] = {
	"EEVDF", "LATENCY_NICE", "PLACE_BONUS", "MINIMAL_VA",
	"ASYM_PACKING", "ENERGY_AWARE", "FIND_BEST_TARGET", "NORMALIZED_SLEEPER", "AFFINE_WAKEUPS", "OWNER_SPIN",
};
static const char *const foreign_tunables[] = {
	"latency_warn_ms", "latency_warn_once", "verbose", "sched_rt_period_us", "sched_rt_runtime_us", "sched_rr_timeslice_ms",
	"sched_cfs_bandwidth_slice_us", "sched_autogroup_enabled", "sched_deadline_period_max_us", "sched_deadline_period_min_us",
	"sched_energy_aware", "sched_schedstats", "sched_util_clamp_min", "sched_util_clamp_max", "sched_util_clamp_min_rt_default",
	"autogroup", "skew_tick",
};

static const char *const cfs_models[] = {
	"4.18", "5.4", "5.10", "5.15", "6.1", "stage-avg-vruntime", "stage-no-start-debit", "stage-lag",
};
static const char *const eevdf_models[] = {
	"6.6", "6.8", "6.12", "6.18", "eevdf-2023-03", "stage-eevdf", "stage-commit-lag", "stage-commit-eevdf", "stage-mixed-slices",
	"eevdf-2023-05", "eligibility-2023-10", "queue-2023-10", "delay-2024-04",
};
#define NR_KERNELS_EEVDF 4u
#define NR_KERNELS_CFS	5u

static const struct resched_policy_info policy_rows[] = {
	{ "eevdf", "earliest eligible virtual deadline first: lag, deadlines and slices (Linux 6.6 and later)", "6.12",
	  sizeof(eevdf_models) / sizeof(eevdf_models[0]), eevdf_models, NR_KERNELS_EEVDF },
	{ "evdf", "EEVDF with eligibility switched off: the earliest virtual deadline wins", "6.12", NR_KERNELS_EEVDF, eevdf_models,
	  NR_KERNELS_EEVDF },
	{ "cfs", "completely fair scheduler: the least virtual run time wins (Linux up to 6.5)", "6.1",
	  sizeof(cfs_models) / sizeof(cfs_models[0]), cfs_models, NR_KERNELS_CFS },
};
#define NR_POLICIES (sizeof(policy_rows) / sizeof(policy_rows[0]))

static const struct resched_policy_info *find_policy(const char *name)
{
	for (size_t i = 0; name && i < NR_POLICIES; i++) {
		if (!strcmp(policy_rows[i].name, name))
			return &policy_rows[i];
	}
	return NULL;
}

static enum rs_model_id model_named(const char *kernel)
{
	unsigned int id;

	for (id = 0; id < RS_MODEL_NR; id++) {
		if (!strcmp(rs_rules_rows[id].kernel, kernel))
			break;
	}
	return (enum rs_model_id)id;
}

/* The model of @policy named @kernel (NULL = its default); RS_MODEL_NR when there is none. */
static enum rs_model_id find_model(const struct resched_policy_info *policy, const char *kernel)
{
	if (!kernel)
		kernel = policy->default_model;
	for (unsigned int i = 0; i < policy->nr_models; i++) {
		if (!strcmp(policy->models[i], kernel))
			return model_named(kernel);
	}
	return RS_MODEL_NR;
}

/* EVDF is EEVDF without the one feature it is named for, so it does not offer it either. */
static bool policy_has_feature(const char *policy, enum rs_model_id id, unsigned int feature)
{
	if (feature == RS_F_ENFORCE_ELIGIBILITY && !strcmp(policy, "evdf"))
		return false;
	return feature_rows[feature].has & (1u << id);
}

static bool policy_has_tunable(enum rs_model_id id, unsigned int tunable)
{
	return tunable_rows[tunable].has & (1u << id);
}

static uint64_t tunable_default(enum rs_model_id id, unsigned int tunable)
{
	if (tunable == RS_T_base_slice_ns)
		return rs_rules_rows[id].base_slice_ns;
	return tunable_rows[tunable].value;
}

static unsigned int feature_index(const char *name)
{
	unsigned int i;

	for (i = 0; i < RS_FEATURE_NR; i++) {
		if (!strcmp(feature_rows[i].name, name))
			break;
	}
	return i;
}

static unsigned int tunable_index(const char *name, size_t len)
{
	unsigned int i;

	for (i = 0; i < RS_TUNABLE_NR; i++) {
		if (strlen(tunable_rows[i].name) == len && !strncmp(tunable_rows[i].name, name, len))
			break;
	}
	return i;
}

static bool listed(const char *const *names, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++) {
		if (!strcmp(names[i], name))
			return true;
	}
	return false;
}

bool rs_model_feature_known(const char *name)
{
	return feature_index(name) < RS_FEATURE_NR ||
	       listed(foreign_features, sizeof(foreign_features) / sizeof(foreign_features[0]), name);
}

bool rs_model_tunable_known(const char *name)
{
	return tunable_index(name, strlen(name)) < RS_TUNABLE_NR ||
	       listed(foreign_tunables, sizeof(foreign_tunables) / sizeof(foreign_tunables[0]), name);
}

bool rs_model_has_feature(const char *policy, const char *kernel, const char *name)
{
	const struct resched_policy_info *row = find_policy(policy);
	unsigned int feature = feature_index(name);
	enum rs_model_id id = row ? find_model(row, kernel) : RS_MODEL_NR;

	return id < RS_MODEL_NR && feature < RS_FEATURE_NR && policy_has_feature(policy, id, feature);
}

bool rs_model_has_tunable(const char *policy, const char *kernel, const char *name)
{
	const struct resched_policy_info *row = find_policy(policy);
	unsigned int tunable = tunable_index(name, strlen(name));
	enum rs_model_id id = row ? find_model(row, kernel) : RS_MODEL_NR;

	return id < RS_MODEL_NR && tunable < RS_TUNABLE_NR && policy_has_tunable(id, tunable);
}

/* Names appended to an error, separated by blanks, cut short rather than overflowing. */
struct name_list { char text[400]; size_t len; };

static void name_list_add(struct name_list *list, const char *name)
{
	size_t len = strlen(name);

	if (list->len + len + 2 >= sizeof(list->text))
		return;
	if (list->len)
		list->text[list->len++] = ' ';
	memcpy(list->text + list->len, name, len + 1);
	list->len += len;
}

static int unknown_feature(const struct rs_model *model, const char *name, struct resched_error *err)
{
	struct name_list known = { "", 0 };

	for (unsigned int i = 0; i < RS_FEATURE_NR; i++) {
		if (policy_has_feature(model->policy, model->id, i))
			name_list_add(&known, feature_rows[i].name);
	}
	return rs_error_set(err, RESCHED_USAGE, -EINVAL, "%s %s has no feature '%.60s'; it has %s", model->policy, model->rules->kernel,
			    name, known.text);
}

static int set_feature(struct rs_model *model, const char *text, struct resched_error *err)
{
	unsigned int i = feature_index(text);
	bool on = true;

	if (i == RS_FEATURE_NR && !strncmp(text, "NO_", 3)) {
		on = false;
		i = feature_index(text + 3);
	}
	if (i == RS_FEATURE_NR || !policy_has_feature(model->policy, model->id, i))
		return unknown_feature(model, on ? text : text + 3, err);
	model->feature[i] = on;
	return 0;
}

static int unknown_tunable(const struct rs_model *model, const char *text, size_t len, struct resched_error *err)
{
	struct name_list known = { "", 0 };

	for (unsigned int i = 0; i < RS_TUNABLE_NR; i++) {
		if (policy_has_tunable(model->id, i))
			name_list_add(&known, tunable_rows[i].name);
	}
	return rs_error_set(err, RESCHED_USAGE, -EINVAL, "%s %s has no tunable '%.*s'; it has %s", model->policy,
			    model->rules->kernel, len > 60 ? 60 : (int)len, text, known.text);
}

static int parse_word(const char *text, const char *const *words, uint64_t nr, uint64_t *ret)
{
	for (uint64_t i = 0; i < nr; i++) {
		if (!strcmp(text, words[i])) {
			*ret = i;
			return 0;
		}
	}
	return rs_uint_parse(text, ret);
}

static int parse_value(const struct tunable_row *row, const char *text, uint64_t *ret)
{
	static const char *const scalings[] = { "none", "logarithmic", "linear" };
	static const char *const preempts[] = { "none", "voluntary", "full", "lazy" };

	switch (row->kind) {
	case KNOB_TIME:
		return rs_time_parse(text, 1, ret);
	case KNOB_SCALING:
		return parse_word(text, scalings, 3, ret);
	case KNOB_PREEMPT:
		return parse_word(text, preempts, 4, ret);
	case KNOB_UINT:
		break;
	}
	return rs_uint_parse(text, ret);
}

/* Read "name=value". Return: 0, *@ret_tunable and *@ret_value set. */
static int parse_setting(const struct rs_model *model, const char *text, unsigned int *ret_tunable, uint64_t *ret_value,
			 struct resched_error *err)
{
	const char *equal = strchr(text, '=');
	const struct tunable_row *row;
	unsigned int i;
	uint64_t value;

	if (!equal)
		return rs_error_set(err, RESCHED_USAGE, -EINVAL, "'%.80s' is no setting; write name=value", text);
	i = tunable_index(text, (size_t)(equal - text));
	if (i == RS_TUNABLE_NR || !policy_has_tunable(model->id, i))
		return unknown_tunable(model, text, (size_t)(equal - text), err);
	row = &tunable_rows[i];
	if (parse_value(row, equal + 1, &value) < 0)
		return rs_error_set(err, RESCHED_USAGE, -EINVAL, "%s: '%.60s' is no %s", row->name, equal + 1,
				    row->kind == KNOB_TIME ? "time; write 3ms, 250us or nanoseconds" :
				    row->kind == KNOB_PREEMPT ? "preemption model; write none, voluntary, full or lazy" :
				    row->kind == KNOB_SCALING ? "scaling; write none, logarithmic or linear" : "number");
	if (value < row->least || value > row->greatest)
		return rs_error_set(err, RESCHED_USAGE, -EINVAL, "%s: '%.60s' is not within %llu to %llu", row->name, equal + 1,
				    (unsigned long long)row->least, (unsigned long long)row->greatest);
	*ret_tunable = i;
	*ret_value = value;
	return 0;
}

/* What defaults are multiplied by (get_update_sysctl_factor()). */
static uint64_t scaling_factor(uint64_t scaling, unsigned int nr_cpus)
{
	unsigned int cpus = nr_cpus < 1 ? 1 : nr_cpus > 8 ? 8 : nr_cpus;

	switch (scaling) {
	case 0:
		return 1;
	case 2:
		return cpus;
	default:
		return 1u + (31u - (unsigned int)__builtin_clz(cpus));
	}
}

static void set_defaults(struct rs_model *model)
{
	for (unsigned int i = 0; i < RS_FEATURE_NR; i++)
		model->feature[i] = policy_has_feature(model->policy, model->id, i) && (feature_rows[i].on & (1u << model->id));
	for (unsigned int i = 0; i < RS_TUNABLE_NR; i++)
		model->tunable[i] = tunable_default(model->id, i);
	model->normalized_base_ns = model->rules->base_slice_ns;
}

/* Settings in two passes: the scaling of the defaults first, then the values that replace them. */
static int apply_settings(struct rs_model *model, unsigned int nr_cpus, unsigned int nr, const char *const *settings,
			  struct resched_error *err)
{
	unsigned int tunable;
	uint64_t value, factor;
	int rc;

	for (unsigned int i = 0; i < nr; i++) {
		rc = parse_setting(model, settings[i], &tunable, &value, err);
		if (rc < 0)
			return rc;
		if (tunable == RS_T_tunable_scaling)
			model->tunable[tunable] = value;
	}
	factor = scaling_factor(model->tunable[RS_T_tunable_scaling], nr_cpus);
	for (unsigned int i = 0; i < RS_TUNABLE_NR; i++) {
		if (tunable_rows[i].scaled)
			model->tunable[i] *= factor;
	}
	for (unsigned int i = 0; i < nr; i++) {
		rc = parse_setting(model, settings[i], &tunable, &value, err);
		if (rc < 0)
			return rc;
		model->tunable[tunable] = value;
	}
	return 0;
}

static void derive(struct rs_model *model)
{
	uint64_t hz = model->tunable[RS_T_hz], gran = model->tunable[RS_T_min_granularity_ns];

	model->tick_ns = (1000000000u + hz / 2) / hz;
	model->nr_latency = 8;
	/* Stages that cannot enforce eligibility by a feature do so anyway, unless a feature of another name says not. */
	if (!strcmp(model->policy, "eevdf") && !policy_has_feature(model->policy, model->id, RS_F_ENFORCE_ELIGIBILITY))
		model->feature[RS_F_ENFORCE_ELIGIBILITY] = !model->feature[RS_F_EVDF];
	if (model->rules->nr_latency_follows && gran)
		model->nr_latency = (model->tunable[RS_T_latency_ns] + gran - 1) / gran;
}

static int no_policy(const char *policy, struct resched_error *err)
{
	struct name_list known = { "", 0 };

	for (size_t i = 0; i < NR_POLICIES; i++)
		name_list_add(&known, policy_rows[i].name);
	return rs_error_set(err, RESCHED_USAGE, -EINVAL, "no policy '%.60s'; there are %s", policy ? policy : "", known.text);
}

static int no_model(const struct resched_policy_info *row, const char *kernel, struct resched_error *err)
{
	struct name_list known = { "", 0 };

	for (unsigned int i = 0; i < row->nr_models; i++)
		name_list_add(&known, row->models[i]);
	return rs_error_set(err, RESCHED_USAGE, -EINVAL, "policy %s has no model '%.60s'; it has %s", row->name, kernel, known.text);
}

int rs_model_new(const char *policy, const char *kernel, unsigned int nr_cpus, unsigned int nr_features, const char *const *features,
		 unsigned int nr_settings, const char *const *settings, struct rs_model **ret, struct resched_error *err)
{
	const struct resched_policy_info *row = find_policy(policy);
	struct rs_model *model;
	enum rs_model_id id;
	int rc = 0;

	if (!row)
		return no_policy(policy, err);
	id = find_model(row, kernel);
	if (id == RS_MODEL_NR)
		return no_model(row, kernel, err);
	model = calloc(1, sizeof(*model));
	if (!model)
		return rs_error_nomem(err);
	model->policy = row->name;
	model->id = id;
	model->rules = &rs_rules_rows[id];
	set_defaults(model);
	for (unsigned int i = 0; i < nr_features && rc == 0; i++)
		rc = set_feature(model, features[i], err);
	if (rc == 0)
		rc = apply_settings(model, nr_cpus, nr_settings, settings, err);
	if (rc < 0) {
		rs_model_free(model);
		return rc;
	}
	derive(model);
	*ret = model;
	return 0;
}

void rs_model_free(struct rs_model *model)
{
	free(model);
}

unsigned int rs_model_hz(const struct rs_model *model)
{
	return (unsigned int)model->tunable[RS_T_hz];
}

const char *rs_model_kernel(const struct rs_model *model)
{
	return model->rules->kernel;
}

bool rs_model_has_latency_nice(const struct rs_model *model)
{
	return model->rules->latency_nice;
}

bool rs_model_feature(const struct rs_model *model, const char *name)
{
	unsigned int i = feature_index(name);

	return i < RS_FEATURE_NR && model->feature[i];
}

/* The idx-th knob a policy offers: *@ret_feature or *@ret_tunable is its row, the other one past its table. */
static int knob_at(const char *policy, enum rs_model_id id, unsigned int idx, unsigned int *ret_feature, unsigned int *ret_tunable)
{
	for (unsigned int i = 0; i < RS_FEATURE_NR; i++) {
		if (policy_has_feature(policy, id, i) && !idx--) {
			*ret_feature = i;
			*ret_tunable = RS_TUNABLE_NR;
			return 1;
		}
	}
	for (unsigned int i = 0; i < RS_TUNABLE_NR; i++) {
		if (policy_has_tunable(id, i) && !idx--) {
			*ret_feature = RS_FEATURE_NR;
			*ret_tunable = i;
			return 1;
		}
	}
	return 0;
}

int rs_model_knob(const struct rs_model *model, unsigned int idx, const char **name, int *is_feature, uint64_t *value)
{
	unsigned int feature, tunable;

	if (!knob_at(model->policy, model->id, idx, &feature, &tunable))
		return 0;
	*is_feature = feature < RS_FEATURE_NR;
	*name = *is_feature ? feature_rows[feature].name : tunable_rows[tunable].name;
	*value = *is_feature ? model->feature[feature] : model->tunable[tunable];
	return 1;
}

const struct resched_policy_info *resched_policy_get(unsigned int idx)
{
	return idx < NR_POLICIES ? &policy_rows[idx] : NULL;
}

const struct resched_policy_info *resched_policy_find(const char *name)
{
	return find_policy(name);
}

int resched_policy_knob(const char *policy, const char *model, unsigned int idx, struct resched_knob_info *ret)
{
	const struct resched_policy_info *row = find_policy(policy);
	enum rs_model_id id = row ? find_model(row, model) : RS_MODEL_NR;
	unsigned int feature, tunable;

	if (id == RS_MODEL_NR || !knob_at(row->name, id, idx, &feature, &tunable))
		return 0;
	if (feature < RS_FEATURE_NR)
		*ret = (struct resched_knob_info){ .name = feature_rows[feature].name, .meaning = feature_rows[feature].meaning,
						   .is_feature = 1, .value = !!(feature_rows[feature].on & (1u << id)),
						   .inert = feature >= RS_F_CACHE_HOT_BUDDY };
	else
		*ret = (struct resched_knob_info){ .name = tunable_rows[tunable].name, .meaning = tunable_rows[tunable].meaning,
						   .value = tunable_default(id, tunable), .scaled = tunable_rows[tunable].scaled };
	return 1;
}

int resched_policy_model(const char *policy, const char *model, struct resched_model_info *ret)
{
	const struct resched_policy_info *row = find_policy(policy);
	enum rs_model_id id = row ? find_model(row, model) : RS_MODEL_NR;
	const struct rs_rules *rules;

	if (id == RS_MODEL_NR)
		return 0;
	rules = &rs_rules_rows[id];
	*ret = (struct resched_model_info){ .name = rules->kernel, .is_stage = rules->since == RS_NO_RELEASE, .source = rules->source,
					    .unverified = rules->unverified, .has_latency_nice = rules->latency_nice };
	return 1;
}

unsigned int rs_release_number(const char *release)
{
	unsigned int major, minor;
	int len = 0;

	if (!release || !isdigit((unsigned char)release[0]))
		return 0;
	if (sscanf(release, "%3u.%3u%n", &major, &minor, &len) != 2 || isdigit((unsigned char)release[len]))
		return 0;
	return major * 1000 + minor;
}

const char *resched_policy_of_kernel(const char *release)
{
	unsigned int number = rs_release_number(release);

	if (!number)
		return NULL;
	return number < 6006 ? "cfs" : "eevdf";
}

const char *rs_model_nearest(const char *policy, const char *release)
{
	const struct resched_policy_info *row = find_policy(policy);
	const char *own = resched_policy_of_kernel(release), *best = NULL;

	if (!row)
		return NULL;
	if (!own || !strcmp(own, "cfs") != !strcmp(policy, "cfs"))
		return row->default_model;
	for (unsigned int i = 0; i < row->nr_models; i++) {
		const struct rs_rules *rules = &rs_rules_rows[model_named(row->models[i])];

		if (rules->since <= rs_release_number(release))
			best = rules->kernel;
	}
	return best ? best : row->default_model;
}
