// SPDX-License-Identifier: GPL-2.0-only
/* Policies, their kernel models, features and tunables. */
#include <resched/report.h>

#include <errno.h>
#include <string.h>
#include <resched/policy.h>

#include "base/error.h"
#include "report/text.h"
#include "report/json.h"

#define MAX_KNOBS 256u	/* of one policy over all its models */

static const struct resched_policy_info *find(const char *name, struct resched_error *err)
{
	const struct resched_policy_info *p = resched_policy_find(name);
	char known[200] = "";

	if (p)
		return p;
	for (unsigned int i = 0; (p = resched_policy_get(i)); i++)
		snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s", i ? ", " : "", p->name);
	rs_error_set(err, RESCHED_USAGE, -EINVAL, "there is no policy '%s'; known are %s", name, known);
	return NULL;
}

static void put_knobs(struct rs_json *doc, struct json_object *o, const char *key, const char *policy, const char *model, int features)
{
	struct json_object *list = rs_json_array(doc, o, key);
	struct resched_knob_info knob;

	for (unsigned int i = 0; resched_policy_knob(policy, model, i, &knob); i++) {
		struct json_object *k;

		if (!knob.is_feature != !features)
			continue;
		k = rs_json_object(doc, list, NULL);
		rs_json_text(doc, k, "name", knob.name);
		if (features)
			rs_json_bool(doc, k, "default", knob.value != 0);
		else
			rs_json_u64(doc, k, "default", knob.value);
		if (!features)
			rs_json_bool(doc, k, "scaled", knob.scaled);
		rs_json_text(doc, k, "meaning", knob.meaning);
	}
}

static void put_origin(struct rs_json *doc, struct json_object *o, const char *policy, const char *model)
{
	struct resched_model_info info;

	if (!resched_policy_model(policy, model, &info))
		return;
	rs_json_bool(doc, o, "stage", info.is_stage);
	rs_json_text(doc, o, "source", info.source);
	rs_json_text(doc, o, "unverified", info.unverified);
	rs_json_bool(doc, o, "latency_nice", info.has_latency_nice);
}

static void put_policy(struct rs_json *doc, struct json_object *list, const struct resched_policy_info *p)
{
	struct json_object *o = rs_json_object(doc, list, NULL), *models;

	rs_json_text(doc, o, "name", p->name);
	rs_json_text(doc, o, "summary", p->summary);
	rs_json_text(doc, o, "default_model", p->default_model);
	models = rs_json_array(doc, o, "models");
	for (unsigned int i = 0; i < p->nr_models; i++) {
		struct json_object *m = rs_json_object(doc, models, NULL);

		rs_json_text(doc, m, "model", p->models[i]);
		put_origin(doc, m, p->name, p->models[i]);
		put_knobs(doc, m, "features", p->name, p->models[i], 1);
		put_knobs(doc, m, "tunables", p->name, p->models[i], 0);
	}
}

static int policies_json(FILE *out, const struct resched_policy_info *only, struct resched_error *err)
{
	const struct resched_policy_info *p;
	struct json_object *list;
	struct rs_json doc;
	int rc;

	rs_json_init(&doc, "resched/policies/1");
	list = rs_json_array(&doc, doc.root, "policies");
	for (unsigned int i = 0; (p = resched_policy_get(i)); i++) {
		if (!only || p == only)
			put_policy(&doc, list, p);
	}
	rc = rs_json_print(&doc, out, err);
	rs_json_release(&doc);
	return rc;
}

static int policies_csv(FILE *out, const struct resched_policy_info *only, struct resched_error *err)
{
	const struct resched_policy_info *p;
	struct resched_knob_info knob;

	fputs("policy,model,kind,name,default,scaled,meaning\n", out);
	for (unsigned int i = 0; (p = resched_policy_get(i)); i++) {
		for (unsigned int m = 0; (!only || p == only) && m < p->nr_models; m++) {
			for (unsigned int k = 0; resched_policy_knob(p->name, p->models[m], k, &knob); k++) {
				fprintf(out, "%s,%s,%s,%s,%llu,%d,", p->name, p->models[m], knob.is_feature ? "feature" : "tunable",
					knob.name, (unsigned long long)knob.value, knob.scaled);
				rs_csv_field(out, knob.meaning);
				fputc('\n', out);
			}
		}
	}
	return rs_out_check(out, err);
}

static int list_text(FILE *out, bool color, struct resched_error *err)
{
	const struct resched_policy_info *p;
	struct rs_table t;
	int rc;

	rs_table_init(&t, 3, "lll");
	rs_table_cell(&t, RS_STYLE_BOLD, "policy");
	rs_table_cell(&t, RS_STYLE_BOLD, "models");
	rs_table_cell(&t, RS_STYLE_BOLD, "what it is");
	for (unsigned int i = 0; (p = resched_policy_get(i)); i++) {
		char models[200] = "";

		for (unsigned int m = 0; m < p->nr_kernels; m++)
			snprintf(models + strlen(models), sizeof(models) - strlen(models), "%s%s%s", m ? ", " : "", p->models[m],
				 p->nr_models > 1 && !strcmp(p->models[m], p->default_model) ? " (default)" : "");
		if (p->nr_models > p->nr_kernels)
			snprintf(models + strlen(models), sizeof(models) - strlen(models), "; %u stages", p->nr_models - p->nr_kernels);
		rs_table_cell(&t, RS_STYLE_BOLD, p->name);
		rs_table_cell(&t, RS_STYLE_NONE, models);
		rs_table_cell(&t, RS_STYLE_NONE, p->summary);
	}
	rc = rs_table_print(&t, out, 0, color, err);
	rs_table_release(&t);
	if (rc < 0)
		return rc;
	fputs("\n'resched policies NAME' prints its features and tunables with their defaults, and the stages of development it has as models.\n",
	      out);
	return rs_out_check(out, err);
}

static int find_knob(const struct resched_policy_info *p, const char *model, const char *name, struct resched_knob_info *ret)
{
	for (unsigned int i = 0; resched_policy_knob(p->name, model, i, ret); i++) {
		if (!strcmp(ret->name, name))
			return 1;
	}
	return 0;
}

static bool listed(const char *const *names, unsigned int nr, const char *name)
{
	for (unsigned int i = 0; i < nr; i++) {
		if (!strcmp(names[i], name))
			return true;
	}
	return false;
}

/* Every feature or tunable of any kernel of @p, once. */
static unsigned int collect(const struct resched_policy_info *p, int features, const char **names)
{
	struct resched_knob_info knob;
	unsigned int nr = 0;

	for (unsigned int m = 0; m < p->nr_kernels; m++) {
		for (unsigned int i = 0; resched_policy_knob(p->name, p->models[m], i, &knob); i++) {
			if (!knob.is_feature == !features && nr < MAX_KNOBS && !listed(names, nr, knob.name))
				names[nr++] = knob.name;
		}
	}
	return nr;
}

static void default_cell(struct rs_table *t, const struct resched_policy_info *p, const char *model, const char *name)
{
	struct resched_knob_info knob;

	if (!find_knob(p, model, name, &knob))
		rs_table_cell(t, RS_STYLE_DIM, "-");
	else if (knob.is_feature)
		rs_table_cell(t, knob.value ? RS_STYLE_NONE : RS_STYLE_DIM, knob.value ? "on" : "off");
	else
		rs_table_cellf(t, RS_STYLE_NONE, "%llu%s", (unsigned long long)knob.value, knob.scaled ? "*" : "");
}

static int knob_table(FILE *out, const struct resched_policy_info *p, int features, bool color, struct resched_error *err)
{
	static const char aligns[] = "lrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr";
	const char *names[MAX_KNOBS];
	unsigned int nr = collect(p, features, names), nr_models = p->nr_kernels < 30 ? p->nr_kernels : 30;
	char align[40];
	struct rs_table t;
	int rc;

	if (!nr)
		return 0;
	snprintf(align, sizeof(align), "%.*sl", (int)nr_models + 1, aligns);
	rs_table_init(&t, nr_models + 2, align);
	rs_table_cell(&t, RS_STYLE_BOLD, features ? "feature" : "tunable");
	for (unsigned int m = 0; m < nr_models; m++)
		rs_table_cell(&t, RS_STYLE_BOLD, p->models[m]);
	rs_table_cell(&t, RS_STYLE_BOLD, "meaning");
	for (unsigned int i = 0; i < nr; i++) {
		struct resched_knob_info knob = { 0 };

		rs_table_cell(&t, RS_STYLE_NONE, names[i]);
		for (unsigned int m = 0; m < nr_models; m++)
			default_cell(&t, p, p->models[m], names[i]);
		for (unsigned int m = 0; m < nr_models && !find_knob(p, p->models[m], names[i], &knob); m++)
			;
		rs_table_cell(&t, RS_STYLE_NONE, knob.meaning ? knob.meaning : "");
	}
	fputc('\n', out);
	rc = rs_table_print(&t, out, 0, color, err);
	rs_table_release(&t);
	return rc;
}

/* What a stage can switch and set, as one would ask for its defaults; what acts on no queue is left out. */
static void stage_knobs(FILE *out, const char *policy, const char *model)
{
	struct resched_knob_info knob;

	fputs("  features", out);
	for (unsigned int i = 0; resched_policy_knob(policy, model, i, &knob); i++) {
		if (knob.is_feature && !knob.inert)
			fprintf(out, " %s%s", knob.value ? "" : "NO_", knob.name);
	}
	fputs("\n  tunables", out);
	for (unsigned int i = 0; resched_policy_knob(policy, model, i, &knob); i++) {
		if (knob.scaled)
			fprintf(out, " %s=%llu*", knob.name, (unsigned long long)knob.value);
	}
	fputc('\n', out);
}

/* The features that only stages have, with their meaning. */
static void stage_meanings(FILE *out, const struct resched_policy_info *p)
{
	const char *names[MAX_KNOBS];
	unsigned int nr = collect(p, 1, names);

	for (unsigned int m = p->nr_kernels; m < p->nr_models; m++) {
		struct resched_knob_info knob;

		for (unsigned int i = 0; resched_policy_knob(p->name, p->models[m], i, &knob); i++) {
			if (!knob.is_feature || nr == MAX_KNOBS || listed(names, nr, knob.name))
				continue;
			names[nr++] = knob.name;
			fprintf(out, "%s: %s\n", knob.name, knob.meaning);
		}
	}
}

static void stages(FILE *out, const struct resched_policy_info *p, bool color)
{
	if (p->nr_models == p->nr_kernels)
		return;
	fputs("\nStages of development, for --model; no release had them:\n", out);
	for (unsigned int i = p->nr_kernels; i < p->nr_models; i++) {
		struct resched_model_info info;

		if (!resched_policy_model(p->name, p->models[i], &info))
			continue;
		fprintf(out, "\n%s%s%s: %s\n", rs_style_on(RS_STYLE_BOLD, color), info.name, rs_style_off(RS_STYLE_BOLD, color),
			info.source);
		if (info.unverified)
			fprintf(out, "  UNVERIFIED: %s\n", info.unverified);
		if (info.has_latency_nice)
			fputs("  takes --task SELECT:latency_nice=N, -20 to 19\n", out);
		stage_knobs(out, p->name, info.name);
	}
	fputc('\n', out);
	stage_meanings(out, p);
}

static void sources(FILE *out, const struct resched_policy_info *p)
{
	fputs("\nSources:", out);
	for (unsigned int i = 0; i < p->nr_kernels; i++) {
		struct resched_model_info info;

		if (resched_policy_model(p->name, p->models[i], &info))
			fprintf(out, "%s %s from %s%s%s", i ? ";" : "", info.name, info.source, info.unverified ? ", UNVERIFIED: " : "",
				info.unverified ? info.unverified : "");
	}
	fputc('\n', out);
}

static int one_text(FILE *out, const struct resched_policy_info *p, bool color, struct resched_error *err)
{
	int rc;

	fprintf(out, "%s%s%s: %s\n", rs_style_on(RS_STYLE_BOLD, color), p->name, rs_style_off(RS_STYLE_BOLD, color), p->summary);
	fprintf(out, "default model %s; columns are models, values their defaults\n", p->default_model);
	rc = knob_table(out, p, 1, color, err);
	if (rc == 0)
		rc = knob_table(out, p, 0, color, err);
	if (rc < 0)
		return rc;
	fputs("\n* times 1 + log2(min(cpus, 8)), as the kernel scales it\n", out);
	sources(out, p);
	stages(out, p, color);
	return rs_out_check(out, err);
}

int resched_print_policies(FILE *out, const char *policy, const struct resched_print_options *opts, struct resched_error *err)
{
	const struct resched_policy_info *only = NULL;

	if (policy) {
		only = find(policy, err);
		if (!only)
			return -EINVAL;
	}
	if (opts->format == RESCHED_JSON)
		return policies_json(out, only, err);
	if (opts->format == RESCHED_CSV)
		return policies_csv(out, only, err);
	return only ? one_text(out, only, opts->color, err) : list_text(out, opts->color, err);
}
