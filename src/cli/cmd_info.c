// SPDX-License-Identifier: GPL-2.0-only
#include "cli/cli.h"

#include <resched/host.h>

static const struct cli_option own[] = {
	{ "--workload", 0, NULL, CLI_FLAG, offsetof(struct cli_args, workload), "also rebuild the workload and tell what was understood of it" },
};
static const struct cli_group own_group = { "Info", 1, own };

/* The whole recording must be read to know what is in it. */
static int read_through(struct resched_trace *trace, const struct cli_args *args, const struct resched_host *host,
			struct resched_workload **ret, struct resched_error *err)
{
	const struct resched_event *event;
	int rc;

	resched_trace_threads(trace, -1);
	if (args->workload)
		return resched_workload_build(trace, host, NULL, NULL, ret, err);
	while ((rc = resched_trace_next(trace, &event, err)) > 0)
		;
	return rc;
}

static int run(const struct cli_command *self, struct cli_args *args)
{
	const char *file = cli_input(self, args);
	struct resched_workload *workload = NULL;
	struct resched_trace *trace = NULL;
	struct resched_host *host = NULL;
	struct resched_error err = { 0 };
	struct cli_out out;
	int code, rc;

	if (!file)
		return RESCHED_USAGE;
	code = cli_load_host(self, args, &host);
	if (code)
		return code;
	rc = resched_trace_open(file, &trace, &err);
	if (rc == 0)
		rc = read_through(trace, args, host, &workload, &err);
	if (rc < 0) {
		code = cli_fail(self, &err);
		goto out;
	}
	code = cli_warn_source(self, args, resched_trace_source(trace));
	cli_out_open(self, args, 0, &out);
	rc = resched_print_info(out.stream, resched_trace_source(trace), host ? host : resched_trace_host(trace),
				workload ? resched_workload_info(workload) : NULL, &out.print, &err);
	code = cli_out_close(self, &out, code, rc, &err);
out:
	resched_workload_free(workload);
	resched_trace_free(trace);
	resched_host_free(host);
	return code;
}

const struct cli_command cli_info = {
	.name = "info", .usage = "info [OPTIONS] [FILE]", .summary = "What was recorded, on which machine, and what is not known",
	.nr_groups = 3, .groups = { &cli_input_options, &own_group, &cli_output_options }, .run = run,
};
