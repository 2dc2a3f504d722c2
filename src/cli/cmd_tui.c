// SPDX-License-Identifier: GPL-2.0-only
#include "cli/cli.h"

#include <stdlib.h>

#include "tui/tui.h"

#define MAX_FILES 8u

static int run(const struct cli_command *self, struct cli_args *args)
{
	const char *no_color = getenv("NO_COLOR"), *file = NULL;
	struct tui_options opts = { .nr_files = args->words.nr, .files = (char *const *)args->words.items, .keys = args->keys,
				    .timing = args->verbose, .live = args->live, .ring_bytes = args->ring_kb * 1024, .socket = args->socket };
	struct resched_error err = { 0 };
	int rc;

	if (args->words.nr > MAX_FILES)
		return cli_usage(self, "at most %u recordings at a time", MAX_FILES);
	if (args->words.nr < 2 && !(args->live && !args->words.nr && !args->input)) {
		file = cli_input(self, args);
		if (!file)
			return RESCHED_USAGE;
		opts.nr_files = 1;
		opts.files = (char *const *)&file;
	}
	opts.color = args->color == 1 || (args->color == 0 && !(no_color && *no_color));
	tui_guard();
	rc = tui_run(&opts, &err);
	if (rc < 0)
		return cli_fail(self, &err);
	return rc ? 128 + rc : 0;
}

static const struct cli_option own[] = {
	{ NULL, 'i', "FILE", CLI_TEXT, offsetof(struct cli_args, input), "the recording; the same as the last word (default: trace.dat)" },
	{ "--live", 0, NULL, CLI_FLAG, offsetof(struct cli_args, live), "this machine now, recorded into memory; beside recordings, if any are named" },
	{ "--ring", 0, "SIZE", CLI_KB, offsetof(struct cli_args, ring_kb), "memory of the live recorder: 64M" },
	{ "--socket", 0, "PATH", CLI_TEXT, offsetof(struct cli_args, socket), "of the reschedd whose recorder --live shows (default: if it answers)" },
	{ "--keys", 0, "FILE", CLI_TEXT, offsetof(struct cli_args, keys), "play these keys first; without a terminal, then end" },
	{ "--color", 0, "auto|always|never", CLI_CHOICE, offsetof(struct cli_args, color), "colour; auto: unless NO_COLOR is set" },
	{ NULL, 'v', NULL, CLI_FLAG, offsetof(struct cli_args, verbose), "tell in the end how long keys took to be answered" },
};
static const struct cli_group own_options = { "Screen", 7, own };

const struct cli_command cli_tui = {
	.name = "tui", .usage = "tui [OPTIONS] [FILE... | --live]", .summary = "Look at recordings interactively: tasks, timeline, outliers, run queues, what if",
	.text = "Every view explains its keys with ?.\n",
	.nr_groups = 1, .groups = { &own_options },
	.run = run,
};
