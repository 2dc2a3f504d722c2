// SPDX-License-Identifier: GPL-2.0-only
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <resched/host.h>
#include <resched/topology.h>

#define SCHEDSTAT "/proc/schedstat"
#define SCHEDSTAT_MAX (64u << 20)
#define DEBUGFS "/sys/kernel/debug/sched/domains"

static int print(const struct cli_command *self, const struct cli_args *args, const struct resched_host *host)
{
	struct resched_error err = { 0 };
	struct cli_out out;
	int rc;

	cli_out_open(self, args, 0, &out);
	out.print.cpus = args->cpus;
	out.print.kernel = args->model;
	rc = resched_print_topology(out.stream, host, &out.print, &err);
	return cli_out_close(self, &out, 0, rc, &err);
}

static char *read_text(const char *path)
{
	FILE *in = fopen(path, "re");
	char *text = NULL;
	size_t used = 0, room = 0;

	while (in && !feof(in) && !ferror(in) && room < SCHEDSTAT_MAX) {
		char *more;

		room = room ? 2 * room : 65536;
		more = realloc(text, room + 1);
		if (!more)
			break;
		text = more;
		used += fread(text + used, 1, room - used, in);
	}
	if (in)
		fclose(in);
	if (text)
		text[used] = '\0';
	return text;
}

/* The domains against those that a kernel lists. */
static int check(const struct cli_command *self, const struct cli_args *args, const struct resched_host *host, const char *path, bool must)
{
	struct resched_domains *d = NULL;
	struct resched_error err = { 0 };
	char *text = read_text(path);
	int rc;

	if (!text) {
		if (!must)
			return 0;
		err.kind = RESCHED_FAILED;
		snprintf(err.text, sizeof(err.text), "cannot read %s: %s", path, strerror(errno));
		return cli_fail(self, &err);
	}
	rc = resched_domains_build(host, args->model, &d, &err);
	if (rc >= 0)
		rc = resched_domains_check(d, text, &err);
	resched_domains_free(d);
	free(text);
	if (rc == -EBADMSG && !must)
		return 0;	/* a kernel without domain statistics */
	return rc ? cli_fail(self, &err) : 0;
}

/* The same with debugfs, where the kernel shows its domains there. */
static int check_debugfs(const struct cli_command *self, const struct cli_args *args, const struct resched_host *host)
{
	struct resched_domains *d = NULL;
	struct resched_error err = { 0 };
	int rc = resched_domains_build(host, args->model, &d, &err);

	if (rc >= 0)
		rc = resched_domains_check_debugfs(d, DEBUGFS, &err);
	resched_domains_free(d);
	return rc && rc != -ENODATA ? cli_fail(self, &err) : 0;
}

static int list_presets(const struct cli_command *self, const struct cli_args *args)
{
	const char *name, *spec, *about;
	struct resched_error err = { 0 };
	struct cli_out out;

	cli_out_open(self, args, 0, &out);
	for (unsigned int i = 0; resched_topology_preset(i, &name, &spec, &about); i++)
		fprintf(out.stream, "%-14s %s\n%15s%s\n", name, about, "", spec);
	return cli_out_close(self, &out, 0, 0, &err);
}

static int run(const struct cli_command *self, struct cli_args *args)
{
	struct resched_host *host = NULL;
	struct resched_error err = { 0 };
	bool live = false;
	int code;

	if (args->list)
		return list_presets(self, args);
	code = cli_load_host(self, args, &host);
	if (code)
		return code;
	if (!host && (args->words.nr || args->input)) {
		const char *what = cli_input(self, args);

		if (!what)
			return RESCHED_USAGE;
		if (resched_topology_load(what, &host, &err) < 0) {
			if (err.kind == RESCHED_FAILED && strstr(err.text, "no host snapshot"))
				snprintf(err.text, sizeof(err.text), "%.300s has no host snapshot, so its machine is not known; --host FILE gives one",
					 what);
			return cli_fail(self, &err);
		}
	}
	live = !host;
	if (!host && resched_host_read(&host, &err) < 0)
		return cli_fail(self, &err);
	code = print(self, args, host);
	if (!code && (live || args->check))
		code = check(self, args, host, args->check ? args->check : SCHEDSTAT, args->check != NULL);
	if (!code && live && !args->model)
		code = check_debugfs(self, args, host);
	resched_host_free(host);
	return code;
}

static const struct cli_option own[] = {
	{ "--cpu", 'C', "LIST", CLI_TEXT, offsetof(struct cli_args, cpus), "whose domains to show; default: the first (JSON: all)" },
	{ "--model", 0, "KERNEL", CLI_TEXT, offsetof(struct cli_args, model), "domains as this kernel builds them: 6.1, 6.12" },
	{ "--check", 0, "FILE", CLI_TEXT, offsetof(struct cli_args, check), "compare the domains with this copy of /proc/schedstat" },
	{ "--list", 0, NULL, CLI_FLAG, offsetof(struct cli_args, list), "list the presets" },
	{ "--csv", 0, NULL, CLI_FLAG, offsetof(struct cli_args, csv), "comma-separated values, a line a cpu" },
};
static const struct cli_group own_group = { "Topology", 5, own };

const struct cli_command cli_topology = {
	.name = "topology", .usage = "topology [OPTIONS] [FILE|SPEC|PRESET]",
	.summary = "A machine and its scheduling domains: of a recording, of a text, or this one",
	.nr_groups = 3, .groups = { &own_group, &cli_input_options, &cli_output_options }, .run = run,
};
