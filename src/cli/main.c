// SPDX-License-Identifier: GPL-2.0-only
/* resched: finds the command, parses its options, runs it. */
#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

static const struct cli_command *const commands[] = {
	&cli_record, &cli_info, &cli_report, &cli_replay, &cli_compare, &cli_sweep, &cli_validate, &cli_explain, &cli_outliers, &cli_export, &cli_synth, &cli_tui, &cli_ctl, &cli_policies, &cli_topology,
};

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static const struct cli_command *find_command(const char *name)
{
	for (size_t i = 0; i < NR(commands); i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	}
	return NULL;
}

static int unknown_command(const char *name)
{
	fprintf(stderr, "resched: there is no command '%s'; 'resched help' lists them\n", name);
	return RESCHED_USAGE;
}

static void print_overview(FILE *out)
{
	fputs("usage: resched COMMAND [OPTIONS] [FILE]\n\n"
	      "Records what the Linux scheduler does, and shows what it would have done under another policy.\n\n", out);
	for (size_t i = 0; i < NR(commands); i++)
		fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
	fputs("  help       this text, or the options of a command: resched help COMMAND\n\n"
	      "Two to begin with:\n"
	      "  resched record -d 2\n"
	      "  resched compare trace.dat\n\n"
	      "  -h, --help     help for resched or a command\n"
	      "  --version      version\n", out);
}

/* The option tables for scripts: COMMAND, OPTION, ARGUMENT, TEXT with tabs between. */
static void dump_all(FILE *out)
{
	fputs("resched\t-h,--help\t\thelp for resched or a command\nresched\t--version\t\tversion\n", out);
	for (size_t i = 0; i < NR(commands); i++)
		cli_dump_options(out, commands[i]);
}

static int finish(void)
{
	errno = 0;
	if (fclose(stdout) == 0 || errno == EPIPE)
		return RESCHED_OK;
	fprintf(stderr, "resched: cannot write the output: %s\n", strerror(errno));
	return RESCHED_FAILED;
}

static int help(int argc, char **argv)
{
	const struct cli_command *cmd = argc > 1 ? find_command(argv[1]) : NULL;

	if (argc > 1 && !strcmp(argv[1], "--dump-options"))
		dump_all(stdout);
	else if (cmd)
		cli_print_help(stdout, cmd);
	else if (argc > 1 && strcmp(argv[1], "help") != 0)
		return unknown_command(argv[1]);
	else
		print_overview(stdout);
	return finish();
}

static int run(const struct cli_command *cmd, int argc, char **argv)
{
	struct cli_args args = { 0 };
	struct resched_error err = { 0 };
	int rc = cli_parse(cmd, argc, argv, &args, &err), code;

	if (rc > 0) {
		cli_print_help(stdout, cmd);
		code = finish();
	} else {
		code = rc < 0 ? cli_fail(cmd, &err) : cli_gate_check(cmd, &args);
		if (code == 0)
			code = cmd->run(cmd, &args);
	}
	cli_args_release(&args);
	return code;
}

int main(int argc, char **argv)
{
	const struct cli_command *cmd;

	signal(SIGPIPE, SIG_IGN);	/* a closed pipe is an error of the write, and a quiet one */
	if (argc < 2) {
		print_overview(stderr);
		return RESCHED_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "version")) {
		printf("resched %s\n", RESCHED_VERSION);
		return finish();
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return help(argc - 1, argv + 1);
	cmd = find_command(argv[1]);
	return cmd ? run(cmd, argc - 1, argv + 1) : unknown_command(argv[1]);
}
