// SPDX-License-Identifier: GPL-2.0-only
#include "cli/cli.h"

#include <resched/host.h>

static int run(const struct cli_command *self, struct cli_args *args)
{
	const char *file = cli_input(self, args);
	struct resched_schedule schedule;
	struct resched_report *report;
	struct resched_trace *trace;
	struct resched_host *host = NULL;
	struct resched_error err = { 0 };
	struct cli_out out;
	int code, rc, gate;

	if (!file)
		return RESCHED_USAGE;
	code = cli_load_host(self, args, &host);
	if (code)
		return code;
	code = cli_read_report(self, args, file, host, &trace, &report);
	if (code) {
		resched_host_free(host);
		return code;
	}
	resched_schedule_recorded(resched_trace_source(trace)->kernel, host ? host : resched_trace_host(trace), &schedule);
	cli_out_open(self, args, 25, &out);
	rc = resched_print_report(out.stream, resched_trace_source(trace), &schedule, report, &out.print, &err);
	code = cli_out_close(self, &out, resched_trace_source(trace)->damaged ? RESCHED_DAMAGED : 0, rc, &err);
	if (rc == 0) {
		gate = cli_gate(self, args, 1, &(struct resched_column){ .schedule = &schedule, .report = report });
		code = gate ? gate : code;
	}
	resched_report_free(report);
	resched_trace_free(trace);
	resched_host_free(host);
	return code;
}

static const struct cli_option own[] = {
	{ "--by", 0, "comm|task|cpu|cgroup|container|unit", CLI_CHOICE, offsetof(struct cli_args, group), "rows of the table" },
	{ "--style", 0, "table|perf|schbench", CLI_CHOICE, offsetof(struct cli_args, style),
	  "perf: the columns of perf sched latency; schbench: its percentiles" },
};
const struct cli_group cli_report_options = { "Report", 2, own };

const struct cli_command cli_report = {
	.name = "report", .usage = "report [OPTIONS] [FILE]", .summary = "Latencies, waits and run time as recorded",
	.nr_groups = 6,
	.groups = { &cli_report_options, &cli_input_options, &cli_select_options, &cli_table_options, &cli_output_options, &cli_gate_options },
	.run = run,
};
