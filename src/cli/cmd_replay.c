// SPDX-License-Identifier: GPL-2.0-only
#include "cli/cli.h"

#include <errno.h>
#include <resched/host.h>
#include <resched/writer.h>

static const struct cli_option own[] = {
	{ "--output", 'o', "FILE", CLI_TEXT, offsetof(struct cli_args, output), "also write the schedule as a recording (trace.dat)" },
};
static const struct cli_group own_group = { "Schedule", 1, own };

static int print(const struct cli_command *self, const struct cli_args *args, const struct resched_source *source,
		 const struct resched_schedule *schedule, const struct resched_report *report)
{
	struct resched_error err = { 0 };
	struct cli_out out;
	int rc, code, gate;

	cli_out_open(self, args, 25, &out);
	rc = resched_print_report(out.stream, source, schedule, report, &out.print, &err);
	code = cli_out_close(self, &out, source->damaged ? RESCHED_DAMAGED : 0, rc, &err);
	if (rc < 0)
		return code;
	gate = cli_gate(self, args, 1, &(struct resched_column){ .schedule = schedule, .report = report });
	return gate ? gate : code;
}

/* Run it, and with -o write what comes out. */
static int replay(struct cli_args *args, const struct resched_workload *workload, unsigned int nr_cpus, struct resched_schedule *ret_schedule,
		  struct resched_report **ret_report, struct resched_error *err)
{
	const char *policy = args->policies.nr ? args->policies.items[0] : NULL;
	struct resched_writer_options opts = { .size = sizeof(opts), .nr_cpus = nr_cpus };
	struct resched_writer *writer = NULL;
	int rc, end;

	if (!args->output)
		return cli_run_whatif(args, workload, policy, ret_schedule, ret_report, err);
	rc = resched_writer_new(args->output, resched_workload_host(workload), resched_workload_names(workload), &opts, &writer, err);
	if (rc < 0)
		return rc;
	rc = cli_run_whatif_also(args, workload, policy, resched_writer_event, writer, ret_schedule, ret_report, err);
	if (rc == 0 || !*err->text) {	/* a full disk is told by the writer */
		end = resched_writer_finish(writer, ret_schedule, NULL, err);
		rc = rc < 0 ? rc : end;
	}
	resched_writer_free(writer);
	return rc;
}

static int run(const struct cli_command *self, struct cli_args *args)
{
	const char *file = cli_input(self, args);
	struct resched_schedule schedule = { 0 };
	struct cli_feed learn = { .args = args, .figures = !args->quiet };
	struct resched_report *report = NULL;
	struct resched_host *host = NULL;
	struct resched_error err = { 0 };
	struct cli_load load;
	int code, rc;

	if (!file)
		return RESCHED_USAGE;
	if (args->policies.nr > 1)
		return cli_usage(self, "one --policy at a time; 'resched compare' takes several");
	code = args->output ? cli_no_stream(self, args->output) : 0;
	code = code ? code : cli_load_host(self, args, &host);
	if (code)
		return code;
	rc = cli_load(args, file, host, &learn, &load, &err);
	if (rc == 0)
		rc = replay(args, load.workload, load.source->nr_cpus, &schedule, &report, &err);
	if (rc == 0)
		rc = cli_note_error(args, load.workload, &learn, &schedule, &err);
	if (rc == 0 && !load.trace)
		load.made.last_ns = report->last_ns;	/* some end when all is done */
	if (rc == 0)
		cli_warn_source(self, args, load.source);
	code = rc < 0 ? cli_fail_source(self, args, load.source, &err) : print(self, args, load.source, &schedule, report);
	resched_report_free(report);
	resched_analysis_free(learn.analysis);
	cli_load_release(&load);
	resched_host_free(host);
	return code;
}

const struct cli_command cli_replay = {
	.name = "replay", .usage = "replay [OPTIONS] [FILE]", .summary = "Run the recorded workload again under a policy, and report",
	.nr_groups = 8,
	.groups = { &own_group, &cli_whatif_options, &cli_report_options, &cli_input_options, &cli_select_options, &cli_table_options, &cli_output_options,
		    &cli_gate_options },
	.run = run,
};
