// SPDX-License-Identifier: GPL-2.0-only
/* Option tables, the parser that reads them, and the help printed from them. */
#include "cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <resched/units.h>

#define HELP_COLUMN 31	/* room for an option and its argument in --help */
#define AT(member) offsetof(struct cli_args, member)
#define GROUP(title_, table) { .title = title_, .nr = sizeof(table) / sizeof((table)[0]), .options = table }

static const struct cli_option input[] = {
	{ NULL, 'i', "FILE", CLI_TEXT, AT(input), "the recording; the same as the last word (default: trace.dat)" },
	{ "--host", 0, "FILE", CLI_TEXT, AT(host), "host snapshot for a recording that has none" },
};

static const struct cli_option selection[] = {
	{ "--comm", 0, "GLOB", CLI_TEXT, AT(comm), "only tasks whose name matches" },
	{ "--pid", 'p', "PID[,PID]", CLI_PIDS, AT(pids), "only these threads" },
	{ "--cpu", 'C', "LIST", CLI_TEXT, AT(cpus), "only waits that end on these cpus, and time spent there" },
	{ "--cgroup", 0, "GLOB", CLI_TEXT, AT(cgroup), "only tasks whose cgroup path matches" },
	{ "--time", 0, "A,B", CLI_TEXT, AT(time), "only this window since the recording began, or between its stamps in seconds" },
	{ "--hide-recorder", 0, NULL, CLI_FLAG, AT(hide_recorder), "leave out the recorder's own activity" },
};

static const struct cli_option output[] = {
	{ "--json", 0, NULL, CLI_FLAG, AT(json), "JSON on standard output" },
	{ "--color", 0, "auto|always|never", CLI_CHOICE, AT(color), "colour; auto: on a terminal, unless NO_COLOR is set" },
	{ "--no-pager", 0, NULL, CLI_FLAG, AT(no_pager), "never run a pager" },
	{ NULL, 'q', NULL, CLI_FLAG, AT(quiet), "no warnings" },
	{ NULL, 'v', NULL, CLI_FLAG, AT(verbose), "more about what was done" },
};

static const struct cli_option table[] = {
	{ "--csv", 0, NULL, CLI_FLAG, AT(csv), "comma-separated values" },
	{ "--sort", 's', "KEY", CLI_TEXT, AT(sort), "order of rows: delay, runtime, switches, involuntary, avg, p50, p99, max, name, ..." },
	{ NULL, 'n', "NUMBER", CLI_NUMBER, AT(rows), "at most so many rows; 0 = all" },
};

static const struct cli_option gate[] = {
	{ "--fail-if", 0, "RULE", CLI_TEXTS, AT(fail_if), "exit with 5 when RULE holds: 'p99 wakeup_latency comm=nginx > 5ms'" },
};

static const struct cli_option whatif[] = {
	{ "--policy", 0, "POLICY", CLI_TEXTS, AT(policies), "cfs, eevdf or evdf" },
	{ "--model", 0, "KERNEL", CLI_TEXT, AT(model), "which kernel's rules; 'resched policies' lists them" },
	{ "--feature", 0, "[NO_]NAME", CLI_TEXTS, AT(features), "scheduler feature on or off" },
	{ "--set", 0, "NAME=VALUE", CLI_TEXTS, AT(settings), "tunable: base_slice_ns=3ms, hz=1000" },
	{ "--task", 0, "SELECT:KEY=VALUE", CLI_TEXTS, AT(tasks), "change tasks: 'nginx*:nice=-5,slice=3ms', 'pid:12:drop'" },
	{ "--cgroup", 0, "PATH:KEY=VALUE", CLI_TEXTS, AT(cgroups), "change a group: '/web:weight=300', '/batch:max=20ms/100ms', max=50%" },
	{ "--placement", 0, "recorded|kernel", CLI_CHOICE, AT(placement), "who chooses cpus: the recording or the model" },
	{ "--topology", 0, "FILE|SPEC|PRESET", CLI_TEXT, AT(topology), "run on another machine: sockets=2,nodes=2,llc=8,cores=8,smt=2" },
	{ "--seed", 0, "N", CLI_NUMBER, AT(seed), "seed of the little that is random" },
};

const struct cli_group cli_input_options = GROUP("Input", input);
const struct cli_group cli_select_options = GROUP("Selection", selection);
const struct cli_group cli_output_options = GROUP("Output", output);
const struct cli_group cli_table_options = GROUP("Tables", table);
const struct cli_group cli_gate_options = GROUP("Gate", gate);
const struct cli_group cli_whatif_options = GROUP("What-if (repeat for several)", whatif);

static int bad(struct resched_error *err, int rc, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static int bad(struct resched_error *err, int rc, const char *fmt, ...)
{
	va_list ap;

	err->kind = rc == -ENOMEM ? RESCHED_FAILED : RESCHED_USAGE;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return rc;
}

static const struct cli_option *find_option(const struct cli_command *cmd, const char *name, size_t len, char letter)
{
	for (unsigned int g = 0; g < cmd->nr_groups; g++) {
		for (unsigned int i = 0; i < cmd->groups[g]->nr; i++) {
			const struct cli_option *o = &cmd->groups[g]->options[i];

			if (letter ? o->letter == letter : o->name && strlen(o->name) == len && !memcmp(o->name, name, len))
				return o;
		}
	}
	return NULL;
}

/* --cgroup selects by a glob, and changes a group: a colon and "weight=" or "max=" tell. */
static bool is_group_change(const char *value)
{
	return strstr(value, ":weight=") || strstr(value, ":max=");
}

/* The option of that name that takes @value, of two. */
static const struct cli_option *by_value(const struct cli_command *cmd, const struct cli_option *o, const char *value)
{
	enum cli_kind kind = is_group_change(value) ? CLI_TEXTS : CLI_TEXT;

	if (!o->name || strcmp(o->name, "--cgroup"))
		return o;
	for (unsigned int g = 0; g < cmd->nr_groups; g++) {
		for (unsigned int i = 0; i < cmd->groups[g]->nr; i++) {
			const struct cli_option *other = &cmd->groups[g]->options[i];

			if (other->name && !strcmp(other->name, o->name) && other->kind == kind)
				return other;
		}
	}
	return o;
}

static int append(struct cli_texts *list, const char *text, struct resched_error *err)
{
	const char **more = realloc(list->items, (list->nr + 1) * sizeof(*more));

	if (!more)
		return bad(err, -ENOMEM, "out of memory");
	list->items = more;
	list->items[list->nr++] = text;
	return 0;
}

static int parse_number(const char *text, uint64_t *ret)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno)
		return -EINVAL;
	*ret = value;
	return 0;
}

static int parse_pids(const char *text, struct cli_args *args, struct resched_error *err)
{
	const char *p = text;

	for (;;) {
		long pid;
		char *end;
		int *more;

		errno = 0;
		pid = strtol(p, &end, 10);
		if (*p < '0' || *p > '9' || errno || pid > INT_MAX || (*end && *end != ','))
			return bad(err, -EINVAL, "'%s' is not a list of thread ids; write it as 12,345", text);
		more = realloc(args->pids.items, (args->pids.nr + 1) * sizeof(*more));
		if (!more)
			return bad(err, -ENOMEM, "out of memory");
		args->pids.items = more;
		more[args->pids.nr++] = (int)pid;
		if (!*end)
			return 0;
		p = end + 1;
	}
}

/* Index of @word among "a|b|c". */
static int find_choice(const char *choices, const char *word)
{
	size_t len = strlen(word);

	for (int i = 0;; i++) {
		size_t n = strcspn(choices, "|");

		if (n == len && !memcmp(choices, word, n))
			return i;
		if (!choices[n])
			return -1;
		choices += n + 1;
	}
}

static int parse_kb(const char *text, uint64_t *ret)
{
	static const struct { const char *suffix; uint64_t kb; } units[] = {
		{ "", 1 }, { "k", 1 }, { "K", 1 }, { "kB", 1 }, { "KB", 1 }, { "m", 1024 }, { "M", 1024 }, { "MB", 1024 },
		{ "g", 1048576 }, { "G", 1048576 }, { "GB", 1048576 },
	};
	size_t digits = strspn(text, "0123456789");
	char number[24];
	uint64_t value;

	if (!digits || digits >= sizeof(number))
		return -EINVAL;
	memcpy(number, text, digits);
	number[digits] = '\0';
	if (parse_number(number, &value) < 0)
		return -EINVAL;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!strcmp(text + digits, units[i].suffix))
			return __builtin_mul_overflow(value, units[i].kb, ret) ? -EINVAL : 0;
	}
	return -EINVAL;
}

static int set_option(const struct cli_option *o, const char *shown, const char *value, struct cli_args *args, struct resched_error *err)
{
	void *at = (char *)args + o->offset;
	int choice;

	switch (o->kind) {
	case CLI_FLAG:
		*(int *)at = 1;
		return 0;
	case CLI_TEXT:
		*(const char **)at = value;
		return 0;
	case CLI_TEXTS:
		return append(at, value, err);
	case CLI_PIDS:
		return parse_pids(value, args, err);
	case CLI_NUMBER:
		if (parse_number(value, at) < 0)
			return bad(err, -EINVAL, "%s wants a number, not '%s'", shown, value);
		args->rows_given |= o->offset == AT(rows);
		return 0;
	case CLI_CHOICE:
		choice = find_choice(o->arg, value);
		if (choice < 0)
			return bad(err, -EINVAL, "%s is one of %s, not '%s'", shown, o->arg, value);
		*(int *)at = choice;
		return 0;
	case CLI_SECONDS:
		if (resched_time_parse(value, 1000000000, at) < 0)
			return bad(err, -EINVAL, "%s wants a time such as 2, 1.5s or 500ms, not '%s'", shown, value);
		if (o->offset == AT(duration_ns) && !args->duration_ns)	/* which would be the same as not given */
			return bad(err, -EINVAL, "%s %s records nothing; give a time above 0", shown, value);
		return 0;
	case CLI_KB:
		if (parse_kb(value, at) < 0)
			return bad(err, -EINVAL, "%s wants a size such as 512K or 4M, not '%s'", shown, value);
		if (!*(uint64_t *)at)
			return bad(err, -EINVAL, "%s %s has no room for events; give a size above 0, such as 512K or 4M", shown, value);
		return 0;
	}
	return 0;
}

/* A long option at argv[*i]. */
static int parse_long(const struct cli_command *cmd, int argc, char **argv, int *i, struct cli_args *args, struct resched_error *err)
{
	const char *word = argv[*i], *value = strchr(word, '=');
	size_t len = value ? (size_t)(value - word) : strlen(word);
	const struct cli_option *o = find_option(cmd, word, len, 0);
	char shown[64];

	snprintf(shown, sizeof(shown), "%.*s", (int)len, word);
	if (!o)
		return bad(err, -EINVAL, "there is no option %s; 'resched %s --help' lists them", shown, cmd->name);
	if (!o->arg)
		return value ? bad(err, -EINVAL, "%s takes no value", shown) : set_option(o, shown, NULL, args, err);
	if (value)
		return set_option(by_value(cmd, o, value + 1), shown, value + 1, args, err);
	if (*i + 1 >= argc)
		return bad(err, -EINVAL, "%s wants a value: %s", shown, o->arg);
	++*i;
	return set_option(by_value(cmd, o, argv[*i]), shown, argv[*i], args, err);
}

/* Short options at argv[*i]: "-q", "-qv", "-n5", "-n 5". */
static int parse_short(const struct cli_command *cmd, int argc, char **argv, int *i, struct cli_args *args, struct resched_error *err)
{
	for (const char *p = argv[*i] + 1; *p; p++) {
		const struct cli_option *o = find_option(cmd, NULL, 0, *p);
		char shown[3] = { '-', *p, '\0' };
		int rc;

		if (*p == 'h')
			return 1;
		if (!o)
			return bad(err, -EINVAL, "there is no option %s; 'resched %s --help' lists them", shown, cmd->name);
		if (o->arg) {
			if (p[1])
				return set_option(o, shown, p + 1, args, err);
			if (*i + 1 >= argc)
				return bad(err, -EINVAL, "%s wants a value: %s", shown, o->arg);
			return set_option(o, shown, argv[++*i], args, err);
		}
		rc = set_option(o, shown, NULL, args, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int cli_parse(const struct cli_command *cmd, int argc, char **argv, struct cli_args *args, struct resched_error *err)
{
	bool only_words = false;

	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];
		int rc;

		if (only_words || word[0] != '-' || !word[1]) {
			only_words |= cmd->stops_at_word;
			rc = append(&args->words, word, err);
		} else if (!strcmp(word, "--")) {
			only_words = true;
			rc = 0;
		} else if (!strcmp(word, "--help")) {
			return 1;
		} else {
			rc = word[1] == '-' ? parse_long(cmd, argc, argv, &i, args, err) : parse_short(cmd, argc, argv, &i, args, err);
		}
		if (rc)
			return rc;
	}
	if (args->json && args->csv)
		return bad(err, -EINVAL, "--json and --csv exclude each other");
	return 0;
}

void cli_args_release(struct cli_args *args)
{
	free(args->words.items);
	free(args->pids.items);
	free(args->own.items);
	free(args->fail_if.items);
	free(args->policies.items);
	free(args->features.items);
	free(args->settings.items);
	free(args->tasks.items);
	free(args->cgroups.items);
	free(args->events.items);
	free(args->comms.items);
	free(args->grid.items);
	free(args->triggers.items);
}

/* "-p, --pid PID[,PID]" */
static void option_words(const struct cli_option *o, char *buf, size_t size)
{
	char letter[6] = "    ";

	if (o->letter)
		snprintf(letter, sizeof(letter), "-%c%s", o->letter, o->name ? ", " : "");
	snprintf(buf, size, "%s%s%s%s", letter, o->name ? o->name : "", o->arg ? " " : "", o->arg ? o->arg : "");
}

void cli_print_help(FILE *out, const struct cli_command *cmd)
{
	fprintf(out, "usage: resched %s\n\n%s.\n", cmd->usage, cmd->summary);
	if (cmd->text)
		fprintf(out, "\n%s", cmd->text);
	for (unsigned int g = 0; g < cmd->nr_groups; g++) {
		fprintf(out, "\n%s:\n", cmd->groups[g]->title);
		for (unsigned int i = 0; i < cmd->groups[g]->nr; i++) {
			char words[80];

			option_words(&cmd->groups[g]->options[i], words, sizeof(words));
			if (strlen(words) > HELP_COLUMN)
				fprintf(out, "  %s\n  %*s %s\n", words, HELP_COLUMN, "", cmd->groups[g]->options[i].text);
			else
				fprintf(out, "  %-*s %s\n", HELP_COLUMN, words, cmd->groups[g]->options[i].text);
		}
	}
	fprintf(out, "\nThe manual: man resched-%s\n", cmd->name);
}

void cli_dump_options(FILE *out, const struct cli_command *cmd)
{
	for (unsigned int g = 0; g < cmd->nr_groups; g++) {
		for (unsigned int i = 0; i < cmd->groups[g]->nr; i++) {
			const struct cli_option *o = &cmd->groups[g]->options[i];

			fprintf(out, "%s\t", cmd->name);
			if (o->letter)
				fprintf(out, "-%c%s", o->letter, o->name ? "," : "");
			fprintf(out, "%s\t%s\t%s\n", o->name ? o->name : "", o->arg ? o->arg : "", o->text);
		}
	}
}
