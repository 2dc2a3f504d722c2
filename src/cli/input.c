// SPDX-License-Identifier: GPL-2.0-only
/* What commands that read recordings share: which file, which part of it, and the way into an analysis. */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <resched/host.h>
#include <resched/select.h>
#include <resched/units.h>

/* Writing a file is opening it anew: what is to be read from it would be gone. */
static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return a && stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

const char *cli_input(const struct cli_command *cmd, const struct cli_args *args)
{
	const char *file = args->words.nr ? args->words.items[0] : args->input ? args->input : "trace.dat";

	if (args->words.nr > 1) {
		cli_usage(cmd, "one recording at a time; '%s' is one too many", args->words.items[1]);
		return NULL;
	}
	if (args->words.nr && args->input) {
		cli_usage(cmd, "the recording is given twice: -i %s and %s", args->input, args->words.items[0]);
		return NULL;
	}
	if (is_same_file(args->output, file)) {
		cli_usage(cmd, "-o %s is the recording itself; name another file", args->output);
		return NULL;
	}
	return file;
}

/* All that is wrong with a damaged recording, and @then what came of it, in one line. */
static void tell_damage(const struct cli_command *cmd, const struct resched_source *source, const struct resched_error *then)
{
	fprintf(stderr, "resched %s: '%s' is damaged, what could be read is told: ", cmd->name, source->file);
	for (unsigned int i = 0; i < source->nr_warnings; i++)
		fprintf(stderr, "%s%s", i ? "; " : "", source->warnings[i]);
	if (then)
		fprintf(stderr, "%s%s", source->nr_warnings ? "; " : "", then->text);
	fputc('\n', stderr);
}

int cli_warn_source(const struct cli_command *cmd, const struct cli_args *args, const struct resched_source *source)
{
	for (unsigned int i = 0; i < source->nr_warnings && args->verbose && !args->quiet; i++)
		cli_warn(cmd, "%s", source->warnings[i]);
	if (source->damaged && !args->verbose && !args->quiet)
		tell_damage(cmd, source, NULL);
	return source->damaged ? RESCHED_DAMAGED : 0;
}

int cli_fail_source(const struct cli_command *cmd, const struct cli_args *args, const struct resched_source *source,
		    const struct resched_error *err)
{
	if (!source || !source->damaged || args->verbose || args->quiet) {
		if (source)
			cli_warn_source(cmd, args, source);
		return cli_fail(cmd, err);
	}
	tell_damage(cmd, source, err);
	return err->kind == RESCHED_OK ? RESCHED_FAILED : (int)err->kind;
}

int cli_load_host(const struct cli_command *cmd, const struct cli_args *args, struct resched_host **ret)
{
	struct resched_error err = { 0 };

	*ret = NULL;
	if (args->host && resched_host_load(args->host, ret, &err) < 0) {
		err.kind = RESCHED_FAILED;	/* the recording, which may be whole, was not read */
		return cli_fail(cmd, &err);
	}
	return 0;
}

int cli_analysis(const struct cli_args *args, const struct resched_host *host, struct resched_names *names,
		 struct resched_analysis **ret, struct resched_error *err)
{
	return cli_analysis_on(args, host, NULL, names, ret, err);
}

int cli_analysis_on(const struct cli_args *args, const struct resched_host *host, const struct resched_host *machine,
		    struct resched_names *names, struct resched_analysis **ret, struct resched_error *err)
{
	struct resched_analysis_options opts = {
		.host = host, .names = names, .comm_glob = args->comm, .cgroup_glob = args->cgroup,
		.nr_pids = args->pids.nr, .pids = args->pids.items, .cpus = args->cpus, .hide_recorder = args->hide_recorder,
		.nr_own = args->own.nr, .own = args->own.items,
		.owners = args->json || args->group == RESCHED_BY_CONTAINER || args->group == RESCHED_BY_UNIT,
		.machine = machine, .moves = args->json || args->verbose || args->group == RESCHED_BY_CPU,
	};

	return resched_analysis_new(&opts, ret, err);
}

/* A bare number as large as the stamps in the recording is one of them; everything else counts from its beginning. */
static int parse_edge(const char *text, size_t len, uint64_t first_ns, uint64_t *ret)
{
	char copy[40];
	uint64_t ns;
	bool bare = len && text[len - 1] != 's';

	if (len >= sizeof(copy))
		return -EINVAL;
	memcpy(copy, text, len);
	copy[len] = '\0';
	if (resched_time_parse(copy, 1000000000, &ns) < 0)
		return -EINVAL;
	*ret = bare && ns >= first_ns ? ns : first_ns + ns;
	return 0;
}

int cli_time_window(const struct cli_args *args, uint64_t first_ns, uint64_t *ret_from, uint64_t *ret_to, struct resched_error *err)
{
	const char *comma = args->time ? strchr(args->time, ',') : NULL;
	uint64_t from = 0, to = 0;

	if (args->time && (!comma || (comma > args->time && parse_edge(args->time, (size_t)(comma - args->time), first_ns, &from) < 0) ||
			   (comma[1] && parse_edge(comma + 1, strlen(comma + 1), first_ns, &to) < 0) || (to && from >= to))) {
		err->kind = RESCHED_USAGE;
		snprintf(err->text, sizeof(err->text), "--time wants FROM,TO such as 1s,2.5s or ,500ms, not '%s'", args->time);
		return -EINVAL;
	}
	*ret_from = from;
	*ret_to = to;
	return 0;
}

int cli_window(const struct cli_args *args, uint64_t first_ns, struct resched_analysis *analysis, struct resched_error *err)
{
	uint64_t from, to;
	int rc = cli_time_window(args, first_ns, &from, &to, err);

	if (rc == 0 && args->time)
		resched_analysis_window(analysis, from, to);
	return rc;
}

int cli_seek(const struct cli_args *args, struct resched_trace *trace, uint64_t *ret_begin_ns, struct resched_error *err)
{
	uint64_t from, to;
	int rc;

	*ret_begin_ns = resched_trace_begin_ns(trace);
	if (!args->time || !*ret_begin_ns)
		return 0;
	rc = cli_time_window(args, *ret_begin_ns, &from, &to, err);
	if (rc < 0)
		return rc;
	rc = resched_trace_window(trace, from, to);
	if (rc < 0)
		*err = (struct resched_error){ RESCHED_FAILED, "out of memory" };
	return rc < 0 ? rc : 0;
}

/* A switch that the recorder caused is one away from itself. */
static int learn_own(struct cli_args *args, int pid)
{
	int *more;

	for (unsigned int i = 0; i < args->own.nr; i++) {
		if (args->own.items[i] == pid)
			return 0;
	}
	more = realloc(args->own.items, (args->own.nr + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	args->own.items = more;
	more[args->own.nr++] = pid;
	return 0;
}

int cli_feed(void *ctx, const struct resched_event *event)
{
	struct cli_feed *feed = ctx;

	cli_progress_event(&feed->progress);
	if ((event->ctx & RESCHED_CTX_OWN) && event->type == RESCHED_EV_SWITCH && event->pid && learn_own(feed->args, event->pid) < 0)
		return -ENOMEM;
	if (feed->also) {
		int rc = feed->also(feed->also_ctx, event);

		if (rc < 0)
			return rc;
	}
	if (!feed->analysis)
		return 0;
	if (!feed->started && event->type != RESCHED_EV_COMM) {
		int rc = cli_window(feed->args, feed->begin_ns ? feed->begin_ns : event->ts_ns, feed->analysis, &feed->err);

		if (rc < 0)
			return rc;
		feed->started = true;
	}
	return resched_analysis_event(feed->analysis, event);
}

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Every event of @trace into @feed. Return: 0; -errno with @err filled. */
static int read_all(struct resched_trace *trace, struct cli_feed *feed, struct resched_error *err)
{
	const struct resched_event *event;
	int rc;

	while ((rc = resched_trace_next(trace, &event, err)) > 0) {
		rc = cli_feed(feed, event);
		if (rc == -ENOMEM)
			*err = (struct resched_error){ RESCHED_FAILED, "out of memory" };
		else if (rc < 0)
			*err = feed->err;
		if (rc < 0)
			return rc;
	}
	return rc;
}

/* Nothing that could be reported is an error, never an empty table. */
static int check_content(const struct resched_source *source, const struct resched_report *report, const struct cli_args *args,
			 struct resched_error *err)
{
	uint64_t switches = 0;

	for (unsigned int i = 0; i < source->nr_events; i++) {
		if (!strcmp(source->events[i].name, "sched_switch"))
			switches = source->events[i].count;
	}
	if (switches && !(args->time && !report->last_ns))
		return 0;
	err->kind = source->damaged ? RESCHED_DAMAGED : args->time && switches ? RESCHED_USAGE : RESCHED_FAILED;
	if (switches)
		snprintf(err->text, sizeof(err->text), "no event lies within --time %s; the recording goes from %.6f to %.6f", args->time,
			 (double)source->first_ns / 1e9, (double)source->last_ns / 1e9);
	else
		snprintf(err->text, sizeof(err->text), "%s has no sched_switch event%s, so there is nothing to report; 'resched info' tells "
			 "what is in it, 'resched record' records what is needed", source->file, source->damaged ? " that can be read" : "");
	return -ENODATA;
}

static void tell_speed(const struct cli_command *cmd, const struct resched_source *source, double seconds)
{
	cli_warn(cmd, "read %llu events in %.3f s (%.2f M events/s)", (unsigned long long)source->total_events, seconds,
		 seconds > 0 ? (double)source->total_events / seconds / 1e6 : 0);
}

int cli_read_report(const struct cli_command *cmd, struct cli_args *args, const char *file, const struct resched_host *host,
		    struct resched_trace **ret_trace, struct resched_report **ret_report)
{
	struct cli_feed feed = { .args = args };
	struct resched_trace *trace = NULL;
	struct resched_report *report = NULL;
	struct resched_error err = { 0 };
	double began = seconds_now();
	int rc, code;

	args->own.nr = 0;	/* of another recording */
	cli_progress_begin(&feed.progress, args, "reading");
	rc = resched_trace_open(file, &trace, &err);
	if (rc < 0)
		return cli_fail(cmd, &err);
	rc = cli_seek(args, trace, &feed.begin_ns, &err);
	resched_trace_threads(trace, -1);
	if (rc == 0)
		rc = cli_analysis(args, host ? host : resched_trace_host(trace), resched_trace_names(trace), &feed.analysis, &err);
	if (rc == 0)
		rc = read_all(trace, &feed, &err);
	cli_progress_end(&feed.progress);
	if (rc == 0)
		rc = resched_analysis_finish(feed.analysis, &report, &err);
	if (rc == 0)
		rc = check_content(resched_trace_source(trace), report, args, &err);
	if (rc == 0)
		rc = resched_select_check_cpus(args->cpus, report, host ? host : resched_trace_host(trace),
					       resched_trace_source(trace)->nr_cpus, &err);
	if (rc < 0) {
		code = cli_fail_source(cmd, args, resched_trace_source(trace), &err);
		resched_report_free(report);
		resched_analysis_free(feed.analysis);
		resched_trace_free(trace);
		return code;
	}
	cli_warn_source(cmd, args, resched_trace_source(trace));
	if (args->verbose)
		tell_speed(cmd, resched_trace_source(trace), seconds_now() - began);
	resched_analysis_free(feed.analysis);
	*ret_trace = trace;
	*ret_report = report;
	return 0;
}
