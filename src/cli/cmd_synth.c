// SPDX-License-Identifier: GPL-2.0-only
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <resched/host.h>
#include <resched/synth.h>
#include <resched/topology.h>

#define MAX_COLUMNS 16u

static const struct cli_option own[] = {
	{ "--list", 0, NULL, CLI_FLAG, offsetof(struct cli_args, list), "list the workloads, or the parameters of one" },
	{ "--output", 'o', "FILE", CLI_TEXT, offsetof(struct cli_args, output), "write the workload there and run nothing; - is standard output" },
};
static const struct cli_group own_group = { "Workload", 2, own };

static void list_params(FILE *out, const char *name)
{
	struct resched_synth_param p;

	for (unsigned int i = 0; resched_synth_param(name, i, &p); i++) {
		char words[64], letter[8] = "";

		if (p.letter)
			snprintf(letter, sizeof(letter), "-%c ", p.letter);
		snprintf(words, sizeof(words), "%s=%s", p.name, p.value);
		fprintf(out, "    %-3s %-24s %s\n", letter, words, p.text);
	}
}

static int list(const struct cli_command *self, const struct cli_args *args)
{
	const char *wanted = args->words.nr ? args->words.items[0] : NULL, *name, *about;
	struct resched_error err = { 0 };
	struct cli_out out;
	bool found = false;

	cli_out_open(self, args, 0, &out);
	for (unsigned int i = 0; resched_synth_name(i, &name, &about); i++) {
		if (wanted && strcmp(wanted, name) != 0)
			continue;
		found = true;
		fprintf(out.stream, "%s: %s\n", name, about);
		list_params(out.stream, name);
	}
	cli_out_close(self, &out, 0, 0, &err);
	return found ? 0 : cli_usage(self, "there is no workload '%s'; --list names them", wanted);
}

static int find_machine(struct cli_args *args, struct resched_host **ret, struct resched_error *err)
{
	const char *what = args->topology;

	args->topology = NULL;	/* the run is on the machine that it was made for */
	return what ? resched_topology_load(what, ret, err) : resched_host_read(ret, err);
}

static int save(const struct cli_args *args, const struct resched_workload *workload, struct resched_error *err)
{
	struct resched_error ours = { 0 };
	struct cli_file file;
	int rc = cli_file_open(args->output, &file, err), end;

	if (rc < 0)
		return rc;
	rc = resched_workload_save(workload, file.stream, err);
	end = cli_file_close(&file, rc == 0, rc == 0 ? err : &ours);
	return rc < 0 ? rc : end;
}

/* One policy: its report. Several: side by side. */
static int print(const struct cli_command *self, const struct cli_args *args, struct cli_load *load, unsigned int nr,
		 const struct resched_column *columns)
{
	struct resched_error err = { 0 };
	struct cli_out out;
	int rc, code, gate;

	if (nr == 1)
		load->made.last_ns = columns[0].report->last_ns;	/* some end when all is done */
	cli_out_open(self, args, nr == 1 ? 25 : 8, &out);
	if (nr == 1)
		rc = resched_print_report(out.stream, load->source, columns[0].schedule, columns[0].report, &out.print, &err);
	else
		rc = resched_print_compare(out.stream, load->source, nr, columns, &out.print, &err);
	code = cli_out_close(self, &out, 0, rc, &err);
	if (rc < 0)
		return code;
	gate = cli_gate(self, args, nr, columns);
	return gate ? gate : code;
}

static int run_all(const struct cli_command *self, struct cli_args *args, struct cli_load *load)
{
	unsigned int nr = args->policies.nr ? args->policies.nr : 1;
	struct resched_schedule *schedules = calloc(nr, sizeof(*schedules));
	struct resched_report *reports[MAX_COLUMNS] = { NULL };
	struct resched_column columns[MAX_COLUMNS];
	struct resched_error err = { RESCHED_FAILED, "out of memory" };
	int rc = schedules ? 0 : -ENOMEM, code;

	for (unsigned int i = 0; i < nr && rc == 0; i++) {
		rc = cli_run_whatif(args, load->workload, args->policies.nr ? args->policies.items[i] : NULL, &schedules[i], &reports[i], &err);
		columns[i] = (struct resched_column){ .schedule = &schedules[i], .report = reports[i] };
	}
	code = rc < 0 ? cli_fail(self, &err) : print(self, args, load, nr, columns);
	for (unsigned int i = 0; i < nr; i++)
		resched_report_free(reports[i]);
	free(schedules);
	return code;
}

static int run(const struct cli_command *self, struct cli_args *args)
{
	struct resched_host *host = NULL;
	struct resched_error err = { 0 };
	struct cli_load load = { 0 };
	int rc, code;

	if (args->list)
		return list(self, args);
	if (!args->words.nr)
		return cli_usage(self, "name a workload: resched synth hackbench; --list shows all");
	if (args->policies.nr > MAX_COLUMNS)
		return cli_usage(self, "at most %u policies fit into one comparison", MAX_COLUMNS);
	rc = find_machine(args, &host, &err);
	if (rc == 0)
		rc = resched_synth(args->words.items[0], args->words.nr - 1, args->words.items + 1, host, args->seed, &load.workload, &err);
	resched_host_free(host);
	if (rc == 0 && args->output) {
		rc = save(args, load.workload, &err);
		code = rc == -EPIPE ? 0 : rc < 0 ? cli_fail(self, &err) : 0;
	} else if (rc == 0) {
		cli_load_made(&load, args->words.items[0], "synth");
		code = run_all(self, args, &load);
	} else {
		code = cli_fail(self, &err);
	}
	cli_load_release(&load);
	return code;
}

const struct cli_command cli_synth = {
	.name = "synth", .usage = "synth [OPTIONS] NAME [PARAMETER=VALUE...] [-- TOOL OPTIONS]",
	.summary = "A workload without a recording: hackbench, schbench, cyclictest, tbench, periodic, poisson, hogs",
	.text = "Runs it like replay, or with -o writes it for replay and compare. Behind -- the options of the real tools are taken, too.\n"
		"Several --policy are compared. --topology is the machine; default: this one.\n",
	.nr_groups = 7,
	.groups = { &own_group, &cli_whatif_options, &cli_report_options, &cli_select_options, &cli_table_options, &cli_output_options,
		    &cli_gate_options },
	.run = run,
};
