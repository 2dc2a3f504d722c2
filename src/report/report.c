// SPDX-License-Identifier: GPL-2.0-only
#include <resched/report.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <resched/policy.h>

#include "base/error.h"
#include "base/units.h"
#include "report/internal.h"
#include "report/rows.h"
#include "report/text.h"

int resched_print_report(FILE *out, const struct resched_source *source, const struct resched_schedule *schedule,
			 const struct resched_report *report, const struct resched_print_options *opts, struct resched_error *err)
{
	if (opts->format == RESCHED_JSON)
		return rs_report_json(out, source, schedule, report, err);
	if (opts->format == RESCHED_CSV)
		return rs_report_csv(out, report, opts, err);
	if (opts->style == RESCHED_STYLE_PERF)
		return rs_report_perf(out, report, opts, err);
	if (opts->style == RESCHED_STYLE_SCHBENCH)
		return rs_report_schbench(out, report, err);
	return rs_report_table(out, source, schedule, report, opts, err);
}

static bool knob_known(const struct resched_schedule *s, const char *name)
{
	for (unsigned int i = 0; i < s->nr_knobs; i++) {
		if (!strcmp(s->knobs[i].name, name))
			return true;
	}
	return false;
}

static void add_knob(struct resched_schedule *s, const char *name, int is_feature, uint64_t value)
{
	if (s->nr_knobs == sizeof(s->knobs) / sizeof(s->knobs[0]) || knob_known(s, name))
		return;
	s->knobs[s->nr_knobs].name = name;
	s->knobs[s->nr_knobs].is_feature = is_feature;
	s->knobs[s->nr_knobs++].value = value;
}

void resched_schedule_recorded(const char *kernel, const struct resched_host *host, struct resched_schedule *ret)
{
	const char *policy;

	memset(ret, 0, sizeof(*ret));
	if (host && host->replayed_policy) {
		snprintf(ret->kind, sizeof(ret->kind), "free");
		snprintf(ret->policy, sizeof(ret->policy), "%s", host->replayed_policy);
		snprintf(ret->model, sizeof(ret->model), "%s", host->replayed_model ? host->replayed_model : "");
		snprintf(ret->placement, sizeof(ret->placement), "%s", host->replayed_placement ? host->replayed_placement : "");
		return;
	}
	if (!kernel && host)
		kernel = host->kernel;
	policy = kernel ? resched_policy_of_kernel(kernel) : NULL;
	snprintf(ret->kind, sizeof(ret->kind), "recorded");
	snprintf(ret->placement, sizeof(ret->placement), "recorded");
	snprintf(ret->policy, sizeof(ret->policy), "%s", policy ? policy : "");
	snprintf(ret->model, sizeof(ret->model), "%s", kernel ? kernel : "");
	for (unsigned int i = 0; host && i < host->nr_features; i++) {
		const char *name = host->features[i];
		int off = strncmp(name, "NO_", 3) == 0;

		add_knob(ret, off ? name + 3 : name, 1, !off);
	}
	for (unsigned int i = 0; host && i < host->nr_tunables; i++) {
		uint64_t value;

		if (rs_uint_parse(host->tunables[i].value, &value) == 0)
			add_knob(ret, host->tunables[i].name, 0, value);
	}
}

static const char *policy_title(const char *policy)
{
	return !strcmp(policy, "eevdf") ? "EEVDF" : !strcmp(policy, "evdf") ? "EVDF" : !strcmp(policy, "cfs") ? "CFS" : policy;
}

void rs_schedule_text(const struct resched_schedule *s, char *buf, size_t size)
{
	if (!strcmp(s->kind, "recorded"))
		snprintf(buf, size, "as the kernel ran it%s%s", *s->policy ? ": " : "", *s->policy ? policy_title(s->policy) : "");
	else
		snprintf(buf, size, "%s by the rules of %s, placement %s, seed %llu", policy_title(s->policy), s->model,
			 *s->placement ? s->placement : "recorded", (unsigned long long)s->seed);
}

void rs_head_source(FILE *out, const struct resched_source *source, bool color)
{
	char *file = rs_text_clean(source->file ? source->file : "-", 0);
	char *kernel = rs_text_clean(source->kernel ? source->kernel : "unknown kernel", 0);
	char n[RS_NUMBER_LEN], m[RS_NUMBER_LEN], span[RS_NUMBER_LEN];

	rs_time_format(source->last_ns - (source->read_from_ns ? source->read_from_ns : source->first_ns), span, sizeof(span));
	fprintf(out, "%s%s%s: %s, %s%s\n", rs_style_on(RS_STYLE_BOLD, color), file ? file : "?", rs_style_off(RS_STYLE_BOLD, color),
		source->format ? source->format : "unknown format", source->kernel ? "Linux " : "", kernel ? kernel : "?");
	fprintf(out, "%s events over %s%s on %u cpu%s", rs_count_format(source->total_events, n), span,
		source->read_from_ns ? " (read for the window)" : "", source->nr_cpus, source->nr_cpus == 1 ? "" : "s");
	if (source->nr_observed < source->nr_cpus)
		fprintf(out, ", %u of them without an event (unknown, not idle)", source->nr_cpus - source->nr_observed);
	if (source->lost_events || source->lost_gaps)
		fprintf(out, "; %slost %s events in %s gaps%s", rs_style_on(RS_STYLE_BAD, color), rs_count_format(source->lost_events, n),
			rs_count_format(source->lost_gaps, m), rs_style_off(RS_STYLE_BAD, color));
	else
		fputs("; none lost", out);
	fputc('\n', out);
	free(file);
	free(kernel);
	for (unsigned int i = 0; i < source->nr_warnings && i < 5; i++) {
		char *text = rs_text_clean(source->warnings[i], 0);

		fprintf(out, "%swarning: %s%s\n", rs_style_on(RS_STYLE_BAD, color), text ? text : "?", rs_style_off(RS_STYLE_BAD, color));
		free(text);
	}
	if (source->nr_warnings > 5)
		fprintf(out, "and %u more warnings: resched info lists them\n", source->nr_warnings - 5);
}
