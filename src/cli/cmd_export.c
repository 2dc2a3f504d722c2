// SPDX-License-Identifier: GPL-2.0-only
#include "cli/cli.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <resched/anonymize.h>
#include <resched/export.h>
#include <resched/host.h>
#include <resched/rtapp.h>
#include <resched/select.h>
#include <resched/writer.h>

enum { TRACE_DAT = RESCHED_EXPORT_HTML + 1, WORKLOAD, RTAPP };	/* further choices; the first are those of the library */

static const struct cli_option own[] = {
	{ "--format", 0, "perfetto|csv|json|text|html|trace.dat|workload|rt-app", CLI_CHOICE, offsetof(struct cli_args, format), "what to write (default: perfetto)" },
	{ "--output", 'o', "FILE", CLI_TEXT, offsetof(struct cli_args, output), "where to (default: standard output)" },
	{ "--anonymize", 0, NULL, CLI_FLAG, offsetof(struct cli_args, anonymize), "codes in place of the names of tasks and cgroups; no command lines" },
};
static const struct cli_option selection[] = {
	{ "--comm", 0, "GLOB", CLI_TEXT, offsetof(struct cli_args, comm), "only events that concern a task whose name matches" },
	{ "--pid", 'p', "PID[,PID]", CLI_PIDS, offsetof(struct cli_args, pids), "only events that concern these threads" },
	{ "--cpu", 'C', "LIST", CLI_TEXT, offsetof(struct cli_args, cpus), "only events of these cpus" },
	{ "--time", 0, "A,B", CLI_TEXT, offsetof(struct cli_args, time), "only this window since the recording began, or between its stamps in seconds" },
};
static const struct cli_option telling[] = {
	{ NULL, 'q', NULL, CLI_FLAG, offsetof(struct cli_args, quiet), "no warnings" },
	{ NULL, 'v', NULL, CLI_FLAG, offsetof(struct cli_args, verbose), "more about what was done" },
};
#define GROUP(title_, table) { .title = title_, .nr = sizeof(table) / sizeof((table)[0]), .options = table }
static const struct cli_group own_group = GROUP("Export", own), select_group = GROUP("Selection", selection), tell_group = GROUP("Output", telling);

/* The way of an event: window and selection, then a writer or an exporter. */
struct way {
	struct cli_args *args;
	const char *from;			/* the recording */
	struct cli_file file;
	struct resched_writer *writer;		/* one of the two */
	struct resched_export *exporter;
	struct resched_select *select;		/* NULL: all events */
	struct resched_anonymizer *anonymizer;	/* NULL: names as they are */
	struct resched_analysis *lag;		/* of a replay */
	struct cli_progress progress;
	uint64_t begin_ns;			/* of the recording; 0: that of the first event */
	bool started;
	uint64_t passed;
	const struct resched_truth *truth;	/* of the event that is on its way */
	struct resched_error err;
};

static bool is_whatif(const struct cli_args *args)
{
	return args->policies.nr || args->model || args->features.nr || args->settings.nr || args->tasks.nr || args->cgroups.nr || args->placement || args->topology;
}

static bool is_selection(const struct cli_args *args)
{
	return args->comm || args->pids.nr || args->cpus || args->time;
}

static int deliver(void *ctx, const struct resched_event *ev)
{
	struct way *way = ctx;
	struct resched_event coded;

	if (ev->type != RESCHED_EV_COMM)
		way->passed++;
	if (way->anonymizer) {
		if (resched_anonymizer_event(way->anonymizer, ev, &coded) < 0)
			return -ENOMEM;
		ev = &coded;
	}
	if (way->exporter)
		return resched_export_event(way->exporter, ev);
	return way->truth && ev->type == RESCHED_EV_TRUTH ? resched_writer_truth(way->writer, ev, way->truth) : resched_writer_event(way->writer, ev);
}

static int take(void *ctx, const struct resched_event *ev)
{
	struct way *way = ctx;
	int rc = 0;

	cli_progress_event(&way->progress);
	if (way->lag)
		rc = resched_analysis_event(way->lag, ev);
	if (!way->started && ev->type != RESCHED_EV_COMM) {
		uint64_t from, to;

		rc = cli_time_window(way->args, way->begin_ns ? way->begin_ns : ev->ts_ns, &from, &to, &way->err);
		if (rc == 0 && way->select)
			resched_select_window(way->select, from, to);
		way->started = true;
	}
	if (rc < 0)
		return rc;
	return way->select ? resched_select_event(way->select, ev) : deliver(way, ev);
}

static int open_way(struct way *way, const struct resched_host *host, const struct resched_names *names, unsigned int nr_cpus, struct resched_error *err)
{
	struct cli_args *args = way->args;
	struct resched_select_options select = { .cpus = args->cpus, .nr_pids = args->pids.nr, .pids = args->pids.items, .comm_glob = args->comm };
	struct resched_writer_options writer = { .size = sizeof(writer), .nr_cpus = nr_cpus };
	int rc = 0;

	if (is_selection(args))
		rc = resched_select_new(&select, names, deliver, way, &way->select, err);
	if (rc == 0 && args->anonymize) {
		rc = resched_anonymizer_new(host, names, &way->anonymizer, err);
		host = rc < 0 ? host : resched_anonymizer_host(way->anonymizer);
		names = rc < 0 ? names : resched_anonymizer_names(way->anonymizer);
	}
	if (rc < 0)
		return rc;
	if (args->format == TRACE_DAT) {
		rc = resched_writer_new(args->output, host, names, &writer, &way->writer, err);
	} else {
		rc = cli_file_open(args->output, &way->file, err);
		if (rc == 0)
			rc = resched_export_new(way->file.stream, (enum resched_export_format)args->format, host, names, nr_cpus, &way->exporter, err);
	}
	return rc;
}

/* @rc: of the work so far. Return: the same, or what went wrong at the end; @err tells it. */
static int close_way(struct way *way, int rc, const struct resched_schedule *schedule, struct resched_error *err)
{
	struct resched_error ours = { 0 };
	int end;

	if (rc == 0 && !way->passed) {
		err->kind = RESCHED_FAILED;
		snprintf(err->text, sizeof(err->text), "%.300s has no event%s, so there is nothing to export", way->from,
			 way->select ? " that was asked for" : "");
		rc = -ENODATA;
	}
	if (rc == 0 || !*err->text) {	/* a failure that is known by its number only is told here */
		end = way->exporter ? resched_export_finish(way->exporter, &ours) : resched_writer_finish(way->writer, schedule, NULL, &ours);
		if (rc == 0)
			rc = end;
		if (end < 0)
			*err = ours;
	}
	if (rc < 0 && *way->err.text)
		*err = way->err;
	if (way->file.stream) {
		end = cli_file_close(&way->file, rc == 0, rc == 0 ? err : &ours);
		rc = rc < 0 ? rc : end;
	}
	resched_export_free(way->exporter);
	resched_writer_free(way->writer);
	resched_analysis_free(way->lag);
	return rc;
}

static int export_recorded(struct way *way, struct resched_trace *trace, const struct resched_host *host, struct resched_error *err)
{
	const struct resched_event *ev;
	int rc = open_way(way, host ? host : resched_trace_host(trace), resched_trace_names(trace), resched_trace_source(trace)->nr_cpus, err);

	if (rc == 0)
		rc = cli_seek(way->args, trace, &way->begin_ns, &way->err);
	if (rc == 0) {
		resched_trace_threads(trace, -1);
		cli_progress_begin(&way->progress, way->args, "exporting");
		while ((rc = resched_trace_next(trace, &ev, err)) > 0) {
			way->truth = resched_trace_truth(trace);
			rc = take(way, ev);
			if (rc < 0)
				break;
		}
		cli_progress_end(&way->progress);
	}
	return way->exporter || way->writer ? close_way(way, rc, NULL, err) : rc;
}

static int export_replayed(struct way *way, const struct cli_load *load, struct resched_error *err)
{
	const char *policy = way->args->policies.nr ? way->args->policies.items[0] : NULL;
	const struct resched_workload *workload = load->workload;
	struct resched_schedule schedule = { 0 };
	struct resched_analysis_options opts = { 0 };
	int rc;

	opts.host = resched_workload_host(workload);
	opts.names = resched_workload_names(workload);
	rc = open_way(way, opts.host, opts.names, resched_workload_info(workload)->nr_cpus, err);
	if (rc == 0 && way->exporter) {
		rc = resched_analysis_new(&opts, &way->lag, err);
		if (rc == 0)
			rc = resched_export_watch(way->exporter, way->lag, err);
	}
	cli_progress_begin(&way->progress, way->args, policy ? policy : "replaying");
	if (rc == 0)
		rc = cli_replay_lags(way->args, workload, policy, way->lag, take, way, &schedule, err);
	cli_progress_end(&way->progress);
	if (way->exporter || way->writer)
		rc = close_way(way, rc, &schedule, err);
	return rc;
}

static int export_workload(const struct cli_args *args, const struct cli_load *load, struct resched_error *err)
{
	struct resched_error ours = { 0 };
	struct cli_file file;
	int rc = cli_file_open(args->output, &file, err), end;

	if (rc < 0)
		return rc;
	if (args->format == RTAPP)
		rc = resched_rtapp_save(load->workload, file.stream, err);
	else
		rc = resched_workload_save(load->workload, file.stream, err);
	end = cli_file_close(&file, rc == 0, rc == 0 ? err : &ours);
	return rc < 0 ? rc : end;
}

/* What needs the workload behind the events, or has nothing else. */
static bool needs_workload(const struct cli_args *args, const char *file)
{
	return args->format >= WORKLOAD || is_whatif(args) || cli_content(file) != CLI_RECORDING;
}

static int check_usage(const struct cli_command *self, const struct cli_args *args)
{
	bool standard = !args->output || !strcmp(args->output, "-");

	if (args->policies.nr > 1)
		return cli_usage(self, "one --policy at a time: a file holds one schedule");
	if (standard && args->format == TRACE_DAT)
		return cli_no_stream(self, "-");
	if (standard && args->format == RESCHED_EXPORT_PERFETTO && isatty(STDOUT_FILENO))
		return cli_usage(self, "Perfetto's format is no text for a terminal; name a file with -o, or take --format text");
	if (args->format >= WORKLOAD && (is_whatif(args) || is_selection(args) || args->anonymize))
		return cli_usage(self, "a workload is written as it is, before any policy; leave out what-if, selection and --anonymize");
	return 0;
}

static int run(const struct cli_command *self, struct cli_args *args)
{
	const char *file = cli_input(self, args);
	struct way way = { .args = args, .from = file };
	struct cli_feed learn = { .args = args };
	struct resched_host *host = NULL;
	struct resched_error err = { 0 };
	struct cli_load load = { 0 };
	int code, rc;

	if (!file)
		return RESCHED_USAGE;
	code = check_usage(self, args);
	if (code == 0)
		code = cli_load_host(self, args, &host);
	if (code)
		return code;
	if (needs_workload(args, file)) {
		rc = cli_load(args, file, host, &learn, &load, &err);
		if (rc == 0)
			rc = args->format >= WORKLOAD ? export_workload(args, &load, &err) : export_replayed(&way, &load, &err);
	} else {
		rc = resched_trace_open(file, &load.trace, &err);
		if (rc == 0)
			rc = export_recorded(&way, load.trace, host, &err);
		if (rc == 0)
			load.source = resched_trace_source(load.trace);
	}
	if (rc == -EPIPE)
		code = 0;	/* who closed the pipe has seen enough */
	else if (rc < 0)
		code = cli_fail_source(self, args, load.trace ? resched_trace_source(load.trace) : load.source, &err);
	else
		code = cli_warn_source(self, args, load.source);
	if (rc == 0 && args->verbose && args->format < WORKLOAD)
		cli_warn(self, "%llu events to %s", (unsigned long long)way.passed, args->output ? args->output : "standard output");
	resched_select_free(way.select);
	resched_anonymizer_free(way.anonymizer);
	cli_load_release(&load);
	resched_host_free(host);
	return code;
}

const struct cli_command cli_export = {
	.name = "export", .usage = "export [OPTIONS] [FILE]", .summary = "Write a recording, or a replay of it, for other programs",
	.text = "With --policy or another what-if option, the schedule of that replay is written instead of the recorded one.\n",
	.nr_groups = 5, .groups = { &own_group, &cli_whatif_options, &cli_input_options, &select_group, &tell_group }, .run = run,
};
