// SPDX-License-Identifier: GPL-2.0-only
#include "cli/cli.h"

static int run(const struct cli_command *self, struct cli_args *args)
{
	struct resched_error err = { 0 };
	struct cli_out out;
	int rc;

	if (args->words.nr > 1)
		return cli_usage(self, "one policy at a time; '%s' is one too many", args->words.items[1]);
	cli_out_open(self, args, 0, &out);
	rc = resched_print_policies(out.stream, args->words.nr ? args->words.items[0] : NULL, &out.print, &err);
	return cli_out_close(self, &out, 0, rc, &err);
}

static const struct cli_option own[] = {
	{ "--csv", 0, NULL, CLI_FLAG, offsetof(struct cli_args, csv), "comma-separated values" },
};
static const struct cli_group own_group = { "Policies", 1, own };

const struct cli_command cli_policies = {
	.name = "policies", .usage = "policies [OPTIONS] [NAME]", .summary = "Policies, kernel models, features and tunables",
	.nr_groups = 2, .groups = { &own_group, &cli_output_options }, .run = run,
};
