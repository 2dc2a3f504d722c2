// SPDX-License-Identifier: GPL-2.0-only
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <resched/host.h>

#define MAX_COLUMNS 17u		/* the recorded one and 16 more: what a table can hold */

/* One column with what it owns. */
struct column { struct resched_schedule schedule; struct resched_report *report; struct resched_trace *trace; const char *label; };

static int print(const struct cli_command *self, const struct cli_args *args, const struct resched_source *source,
		 unsigned int nr, const struct column *columns, const struct resched_report *self_replay)
{
	struct resched_column view[MAX_COLUMNS];
	struct resched_error err = { 0 };
	struct cli_out out;
	int rc, code, gate;

	for (unsigned int i = 0; i < nr; i++)
		view[i] = (struct resched_column){ &columns[i].schedule, columns[i].report, columns[i].label };
	cli_out_open(self, args, 8, &out);
	out.print.self = self_replay;
	rc = resched_print_compare(out.stream, source, nr, view, &out.print, &err);
	code = cli_out_close(self, &out, source->damaged ? RESCHED_DAMAGED : 0, rc, &err);
	if (rc < 0)
		return code;
	gate = cli_gate(self, args, nr, view);
	return gate ? gate : code;
}

/* Reads the recording once: the workload, and the recorded figures beside it. */
static int build(struct cli_args *args, struct resched_trace *trace, const struct resched_host *host,
		 struct resched_workload **ret, struct column *recorded, struct resched_error *err)
{
	const struct resched_host *known = host ? host : resched_trace_host(trace);
	struct cli_feed feed = { .args = args };
	int rc = cli_analysis(args, known, resched_trace_names(trace), &feed.analysis, err);

	cli_progress_begin(&feed.progress, args, "reading");
	if (rc == 0)
		rc = resched_workload_build(trace, host, cli_feed, &feed, ret, err);
	cli_progress_end(&feed.progress);
	if (rc < 0 && *feed.err.text)
		*err = feed.err;
	if (rc == 0)
		rc = resched_analysis_finish(feed.analysis, &recorded->report, err);
	resched_analysis_free(feed.analysis);
	if (rc == 0)
		resched_schedule_recorded(resched_trace_source(trace)->kernel, known, &recorded->schedule);
	return rc;
}

/* A workload that was never recorded: the first policy is the base. */
static int compare_workload(const struct cli_command *self, struct cli_args *args, const char *file, const struct resched_host *host,
			    struct column *columns)
{
	struct cli_feed feed = { .args = args };
	struct resched_error err = { 0 };
	struct cli_load load;
	int rc = cli_load(args, file, host, &feed, &load, &err), code;

	for (unsigned int i = 0; i < args->policies.nr && rc == 0; i++)
		rc = cli_run_whatif(args, load.workload, args->policies.items[i], &columns[i].schedule, &columns[i].report, &err);
	code = rc < 0 ? cli_fail(self, &err) : print(self, args, load.source, args->policies.nr, columns, NULL);
	cli_load_release(&load);
	return code;
}

static int compare_policies(const struct cli_command *self, struct cli_args *args, const char *file, const struct resched_host *host,
			    struct column *columns)
{
	struct resched_workload *workload = NULL;
	struct resched_error err = { 0 };
	struct resched_report *self_replay = NULL;
	const struct resched_source *source;
	unsigned int nr = 1;
	int rc, code;

	if (cli_content(file) != CLI_RECORDING)
		return compare_workload(self, args, file, host, columns);
	rc = resched_trace_open(file, &columns[0].trace, &err);
	if (rc == 0)
		resched_trace_threads(columns[0].trace, -1);
	if (rc == 0)
		rc = build(args, columns[0].trace, host, &workload, &columns[0], &err);
	for (unsigned int i = 0; i < args->policies.nr && rc == 0; i++, nr++)
		rc = cli_run_whatif(args, workload, args->policies.items[i], &columns[nr].schedule, &columns[nr].report, &err);
	if (rc == 0)
		rc = cli_run_self(args, workload, &self_replay, &err);
	source = columns[0].trace ? resched_trace_source(columns[0].trace) : NULL;
	if (rc == 0)
		cli_warn_source(self, args, source);
	code = rc < 0 ? cli_fail_source(self, args, source, &err) : print(self, args, source, nr, columns, self_replay);
	resched_report_free(self_replay);
	resched_workload_free(workload);
	return code;
}

static int compare_recordings(const struct cli_command *self, struct cli_args *args, const struct resched_host *host, struct column *columns)
{
	unsigned int nr = args->words.nr;

	for (unsigned int i = 0; i < nr; i++) {
		const struct resched_host *known = host;
		int code = cli_read_report(self, args, args->words.items[i], host, &columns[i].trace, &columns[i].report);

		if (code)
			return code;
		if (!known)
			known = resched_trace_host(columns[i].trace);
		resched_schedule_recorded(resched_trace_source(columns[i].trace)->kernel, known, &columns[i].schedule);
		columns[i].label = strrchr(args->words.items[i], '/') ? strrchr(args->words.items[i], '/') + 1 : args->words.items[i];
	}
	return print(self, args, resched_trace_source(columns[0].trace), nr, columns, NULL);
}

static int run(const struct cli_command *self, struct cli_args *args)
{
	const char *usual[] = { "eevdf", "evdf", "cfs" };
	struct cli_texts given = args->policies;
	struct resched_host *host = NULL;
	struct column *columns;
	const char *file = NULL;
	int code;

	if (args->words.nr > 1 && given.nr)
		return cli_usage(self, "either recordings or policies are compared; leave out --policy or '%s'", args->words.items[1]);
	if (args->words.nr > MAX_COLUMNS || given.nr >= MAX_COLUMNS)
		return cli_usage(self, "at most %u columns fit into one comparison", MAX_COLUMNS);
	if (args->words.nr < 2) {
		file = cli_input(self, args);
		if (!file)
			return RESCHED_USAGE;
		if (!given.nr)
			args->policies = (struct cli_texts){ 3, usual };
	} else if (args->input) {
		return cli_usage(self, "give all recordings as words; leave out -i");
	}
	code = cli_load_host(self, args, &host);
	columns = calloc(MAX_COLUMNS, sizeof(*columns));
	if (!code && !columns)
		code = cli_fail(self, &(struct resched_error){ RESCHED_FAILED, "out of memory" });
	if (!code)
		code = file ? compare_policies(self, args, file, host, columns) : compare_recordings(self, args, host, columns);
	for (unsigned int i = 0; columns && i < MAX_COLUMNS; i++) {
		resched_report_free(columns[i].report);
		resched_trace_free(columns[i].trace);
	}
	free(columns);
	resched_host_free(host);
	args->policies = given;
	return code;
}

const struct cli_command cli_compare = {
	.name = "compare", .usage = "compare [OPTIONS] [FILE [FILE...]]",
	.summary = "A recording beside its workload under other policies, or several recordings side by side",
	.text = "Without --policy: eevdf, evdf and cfs. The first column is the base of all differences.\n",
	.nr_groups = 6,
	.groups = { &cli_whatif_options, &cli_input_options, &cli_select_options, &cli_table_options, &cli_output_options, &cli_gate_options },
	.run = run,
};
