// SPDX-License-Identifier: GPL-2.0-only
#include "cli/cli.h"

#include <errno.h>
#include <string.h>
#include <resched/explain.h>
#include <resched/host.h>
#include <resched/outliers.h>

#define WHY_EVENTS 2000000u	/* a recording up to this long is followed with the model unasked */
enum { WHY_AUTO = 0, WHY_ALWAYS, WHY_NEVER };

struct work {
	struct resched_trace *trace;
	struct resched_workload *workload;
	struct resched_analysis *analysis;
	struct resched_outliers *outliers;
	struct resched_host *host;
};

static void work_release(struct work *w)
{
	resched_outliers_free(w->outliers);
	resched_analysis_free(w->analysis);
	resched_workload_free(w->workload);
	resched_trace_free(w->trace);
	resched_host_free(w->host);
}

/* Reads the recording once: the waits, and the workload when policies are to be asked. */
static int read_all(struct cli_args *args, struct work *w, struct resched_error *err)
{
	struct resched_outlier_options opts = { .over_ns = args->over_ns };
	const struct resched_host *known = w->host ? w->host : resched_trace_host(w->trace);
	struct cli_feed feed = { .args = args };
	const struct resched_event *event;
	int rc;

	opts.top = args->top == 0 ? 0 : args->top > UINT32_MAX ? UINT32_MAX : (unsigned int)args->top;
	rc = cli_analysis(args, known, resched_trace_names(w->trace), &w->analysis, err);
	if (rc == 0)
		rc = resched_outliers_new(w->analysis, &opts, &w->outliers, err);
	if (rc < 0)
		return rc;
	feed.analysis = w->analysis;
	if (!args->policies.nr) {	/* a replay wants the whole workload */
		rc = cli_seek(args, w->trace, &feed.begin_ns, err);
		if (rc < 0)
			return rc;
	}
	resched_trace_threads(w->trace, -1);
	cli_progress_begin(&feed.progress, args, "reading");
	if (args->policies.nr) {
		rc = resched_workload_build(w->trace, w->host, cli_feed, &feed, &w->workload, err);
	} else {
		while ((rc = resched_trace_next(w->trace, &event, err)) > 0) {
			rc = cli_feed(&feed, event);
			if (rc < 0)
				break;
		}
	}
	cli_progress_end(&feed.progress);
	if (rc < 0 && *feed.err.text)
		*err = feed.err;
	else if (rc < 0 && !*err->text)
		*err = (struct resched_error){ RESCHED_FAILED, "out of memory" };
	return rc;
}

/* A recording whose wakeups are held back gives them when it is finished. */
static int finish(struct work *w, struct resched_error *err)
{
	struct resched_report *report;
	int rc = resched_analysis_finish(w->analysis, &report, err);

	if (rc < 0)
		return rc;
	if (!report->totals.switches) {
		const struct resched_source *source = resched_trace_source(w->trace);

		*err = (struct resched_error){ source->damaged ? RESCHED_DAMAGED : RESCHED_FAILED, "" };
		snprintf(err->text, sizeof(err->text), "%s has no sched_switch event in the window that can be read, so there is no wait to show; "
			 "'resched info' tells what is in it", source->file);
		rc = -ENODATA;
	}
	resched_report_free(report);
	resched_outliers_sort(w->outliers);
	return rc;
}

/* What each policy makes of these very wakeups. */
static int ask(struct cli_args *args, struct work *w, struct resched_error *err)
{
	int rc = 0;

	for (unsigned int i = 0; i < args->policies.nr && rc == 0; i++) {
		struct resched_outlier_match *match;
		struct resched_schedule schedule;

		rc = resched_outlier_match_new(w->outliers, args->policies.items[i], &match, err);
		if (rc < 0)
			return rc;
		rc = cli_replay_events(args, w->workload, args->policies.items[i], resched_outlier_match_event, match, &schedule, err);
		resched_outlier_match_finish(match);
	}
	return rc;
}

/* Why the policy preferred others: the recording is read again, with the model beside it. Without it the causes stand as they are. */
static int ask_why(const struct cli_args *args, const char *file, struct work *w, struct resched_error *err)
{
	struct resched_explain_options opts = { .host = w->host };
	struct resched_explainer *explainer = NULL;
	struct resched_trace *trace = NULL;
	int rc;

	if (args->why == WHY_NEVER || !resched_outliers_count(w->outliers))
		return 0;
	if (args->why == WHY_AUTO && (resched_trace_source(w->trace)->total_events > WHY_EVENTS || !strcmp(file, "-")))
		return 0;
	rc = resched_trace_open(file, &trace, err);
	if (rc == 0)
		rc = resched_explainer_new(trace, &opts, &explainer, err);
	if (rc == 0)
		rc = resched_outliers_explain(w->outliers, explainer, err);
	resched_explainer_free(explainer);
	resched_trace_free(trace);
	return args->why == WHY_ALWAYS || rc == -ENOMEM ? rc : 0;
}

static int run(const struct cli_command *self, struct cli_args *args)
{
	const char *file = cli_input(self, args);
	struct resched_error err = { 0 };
	struct work w = { 0 };
	struct cli_out out;
	int code, rc;

	if (!file)
		return RESCHED_USAGE;
	if (args->policies.nr > RESCHED_MAX_UNDER)
		return cli_usage(self, "at most %u policies can be asked", RESCHED_MAX_UNDER);
	code = cli_load_host(self, args, &w.host);
	if (code)
		return code;
	rc = resched_trace_open(file, &w.trace, &err);
	if (rc == 0)
		rc = read_all(args, &w, &err);
	if (rc == 0)
		rc = finish(&w, &err);
	if (rc == 0)
		rc = ask(args, &w, &err);
	if (rc == 0)
		rc = ask_why(args, file, &w, &err);
	if (rc < 0) {
		code = cli_fail_source(self, args, w.trace ? resched_trace_source(w.trace) : NULL, &err);
	} else {
		cli_warn_source(self, args, resched_trace_source(w.trace));
		cli_out_open(self, args, 0, &out);
		rc = resched_print_outliers(out.stream, resched_trace_source(w.trace), w.outliers, &out.print, &err);
		code = cli_out_close(self, &out, resched_trace_source(w.trace)->damaged ? RESCHED_DAMAGED : 0, rc, &err);
	}
	work_release(&w);
	return code;
}

static const struct cli_option own[] = {
	{ "--top", 0, "N", CLI_NUMBER, offsetof(struct cli_args, top), "so many, the longest first (default: 20)" },
	{ "--over", 0, "TIME", CLI_SECONDS, offsetof(struct cli_args, over_ns), "only waits longer than this: 5ms, 250us" },
	{ "--why", 0, "auto|always|never", CLI_CHOICE, offsetof(struct cli_args, why),
	  "ask the model why others were preferred; auto: up to 2 M events" },
};
static const struct cli_group own_options = { "Outliers", 3, own };

const struct cli_command cli_outliers = {
	.name = "outliers", .usage = "outliers [OPTIONS] [FILE]",
	.summary = "The worst waits, each with its cause, and what other policies make of them",
	.text = "With --policy, each listed wakeup is looked for in the replayed schedule of every policy named.\n",
	.nr_groups = 5,
	.groups = { &own_options, &cli_input_options, &cli_select_options, &cli_whatif_options, &cli_output_options },
	.run = run,
};
