// SPDX-License-Identifier: GPL-2.0-only
#include "cli/cli.h"

#include <errno.h>
#include <resched/host.h>
#include <resched/validate.h>

static int print(const struct cli_command *self, const struct cli_args *args,
		 const struct resched_source *source, const struct resched_validation *validation)
{
	struct resched_error err = { 0 };
	struct cli_out out;
	int rc;

	cli_out_open(self, args, 10, &out);
	rc = resched_print_validation(out.stream, source, validation, &out.print, &err);
	return cli_out_close(self, &out, source->damaged ? RESCHED_DAMAGED : 0, rc, &err);
}

static int run(const struct cli_command *self, struct cli_args *args)
{
	const char *file = cli_input(self, args);
	struct resched_validate_options opts = { .self_replay = !args->shadow_only };
	struct resched_validation *validation = NULL;
	struct resched_trace *trace = NULL;
	struct resched_host *host = NULL;
	struct resched_error err = { 0 };
	struct resched_whatif whatif = cli_whatif(args);
	int code, rc;

	if (!file)
		return RESCHED_USAGE;
	if (args->policies.nr > 1)
		return cli_usage(self, "one --policy at a time");
	code = cli_load_host(self, args, &host);
	if (code)
		return code;
	rc = resched_trace_open(file, &trace, &err);
	opts.mode = (enum resched_shadow_mode)args->mode;
	opts.whatif = &whatif;
	opts.host = host;
	opts.no_resync = args->no_resync;
	if (rc == 0)
		resched_trace_threads(trace, -1);
	if (rc == 0)
		rc = resched_validate(trace, &opts, &validation, &err);
	if (rc == 0)
		cli_warn_source(self, args, resched_trace_source(trace));
	code = rc < 0 ? cli_fail_source(self, args, trace ? resched_trace_source(trace) : NULL, &err)
		      : print(self, args, resched_trace_source(trace), validation);
	resched_validation_free(validation);
	resched_trace_free(trace);
	resched_host_free(host);
	return code;
}

static const struct cli_option own[] = {
	{ "--mode", 0, "auto|a|b|c", CLI_CHOICE, offsetof(struct cli_args, mode),
	  "clocks from stamps (a), accounting events (b), stamps and run times (c)" },
	{ "--no-resync", 0, NULL, CLI_FLAG, offsetof(struct cli_args, no_resync),
	  "never move the state within its error to fit a decision" },
	{ "--shadow-only", 0, NULL, CLI_FLAG, offsetof(struct cli_args, shadow_only),
	  "leave out the self-replay" },
	{ NULL, 'n', "NUMBER", CLI_NUMBER, offsetof(struct cli_args, rows),
	  "print at most so many disagreements; 0 = all that were kept" },
	{ "--policy", 0, "POLICY", CLI_TEXTS, offsetof(struct cli_args, policies),
	  "cfs, eevdf or evdf; default: what the recorded kernel ran" },
	{ "--model", 0, "KERNEL", CLI_TEXT, offsetof(struct cli_args, model),
	  "which kernel's rules; default: the nearest to the recorded one" },
	{ "--feature", 0, "[NO_]NAME", CLI_TEXTS, offsetof(struct cli_args, features),
	  "scheduler feature on or off, on top of the recorded ones" },
	{ "--set", 0, "NAME=VALUE", CLI_TEXTS, offsetof(struct cli_args, settings),
	  "tunable, on top of the recorded ones" },
};
static const struct cli_group own_group = { "Validate", sizeof(own) / sizeof(own[0]), own };

const struct cli_command cli_validate = {
	.name = "validate",
	.usage = "validate [OPTIONS] [FILE]",
	.summary = "How far the model can be trusted on a recording",
	.nr_groups = 3,
	.groups = { &own_group, &cli_input_options, &cli_output_options },
	.run = run,
};
