// SPDX-License-Identifier: GPL-2.0-only
/*
 * --fail-if: "[STATISTIC] FIGURE [comm=GLOB|pid=N|cgroup=GLOB] [policy=NAME] OP VALUE", a threshold whose passing is the exit code 5.
 * VALUE is a time, a count, or in a comparison a change against the first column in per cent.
 */
#include "cli/cli.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <resched/units.h>

struct gate_figure {
	const char *name;
	bool is_time, is_dist;
	size_t offset;		/* in struct resched_figures */
};

#define FIGURE(name, time, dist, member) { name, time, dist, offsetof(struct resched_figures, member) }
static const struct gate_figure figures[] = {
	FIGURE("wakeup_latency", true, true, wakeup_latency), FIGURE("preempted_wait", true, true, preempted_wait),
	FIGURE("run_delay", true, true, run_delay), FIGURE("runtime", true, false, runtime_ns),
	FIGURE("switches", false, false, switches), FIGURE("voluntary", false, false, voluntary),
	FIGURE("involuntary", false, false, involuntary), FIGURE("wakeups", false, false, wakeups),
	FIGURE("migrations", false, false, migrations), FIGURE("unresolved", false, false, unresolved),
};

static const char *const statistics[] = { "p50", "p90", "p99", "p999", "mean", "min", "max", "sum", "count" };
#define STATISTIC_COUNT 8	/* among them: a number, where the others are times */

struct gate {
	char text[256], value_text[40];
	const struct gate_figure *figure;
	int statistic;			/* index, -1 none */
	const char *comm, *cgroup, *policy;	/* into @text */
	int pid;			/* -1 any */
	char op;			/* '<' or '>' */
	bool or_equal, percent;
	double value;
};

static const char *const known_words =
	"p50 p90 p99 p999 mean min max sum count of wakeup_latency, preempted_wait or run_delay; runtime, switches, voluntary, involuntary, "
	"wakeups, migrations, unresolved";

static int parse_word(struct gate *g, char *word)
{
	for (size_t i = 0; i < sizeof(statistics) / sizeof(statistics[0]); i++) {
		if (!strcmp(word, statistics[i])) {
			g->statistic = (int)i;
			return 0;
		}
	}
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
		if (!strcmp(word, figures[i].name)) {
			g->figure = &figures[i];
			return 0;
		}
	}
	if (!strncmp(word, "comm=", 5)) {
		g->comm = word + 5;
	} else if (!strncmp(word, "cgroup=", 7)) {
		g->cgroup = word + 7;
	} else if (!strncmp(word, "policy=", 7)) {
		g->policy = word + 7;
	} else if (!strncmp(word, "pid=", 4)) {
		char *end;
		long pid = strtol(word + 4, &end, 10);

		if (!word[4] || *end || pid <= 0 || pid > INT32_MAX)
			return -EINVAL;
		g->pid = (int)pid;
	} else {
		return -EINVAL;
	}
	return 0;
}

static int parse_value(struct gate *g, const char *text)
{
	size_t len = strlen(text);
	uint64_t ns;

	while (len && (text[len - 1] == ' ' || text[len - 1] == '\t'))
		len--;
	if (!len || len >= sizeof(g->value_text))
		return -EINVAL;
	memcpy(g->value_text, text, len);
	g->value_text[len] = '\0';
	g->percent = g->value_text[len - 1] == '%';
	if (g->percent || !(g->figure->is_time && g->statistic != STATISTIC_COUNT)) {
		char *end;

		g->value = strtod(g->value_text, &end);
		while (*end == ' ')
			end++;
		return end == g->value_text || strcmp(end, g->percent ? "%" : "") ? -EINVAL : 0;
	}
	if (resched_time_parse(g->value_text, 1, &ns) < 0)
		return -EINVAL;
	g->value = (double)ns;
	return 0;
}

static int parse_gate(const char *rule, struct gate *g)
{
	char *op, *save = NULL;

	memset(g, 0, sizeof(*g));
	g->statistic = g->pid = -1;
	if (strlen(rule) >= sizeof(g->text))
		return -EINVAL;
	memcpy(g->text, rule, strlen(rule) + 1);
	op = strpbrk(g->text, "<>");
	if (!op)
		return -EINVAL;
	g->op = *op;
	*op++ = '\0';
	g->or_equal = *op == '=';
	op += g->or_equal;
	op += strspn(op, " \t");
	for (char *word = strtok_r(g->text, " \t", &save); word; word = strtok_r(NULL, " \t", &save)) {
		if (parse_word(g, word) < 0)
			return -EINVAL;
	}
	if (!g->figure || g->figure->is_dist != (g->statistic >= 0))
		return -EINVAL;
	return parse_value(g, op);
}

static double figure_of(const struct gate *g, const struct resched_figures *f)
{
	const char *at = (const char *)f + g->figure->offset;
	const struct resched_dist *d = (const struct resched_dist *)at;

	if (!g->figure->is_dist)
		return (double)*(const uint64_t *)at;
	switch (g->statistic) {
	case 0: return (double)d->p50;
	case 1: return (double)d->p90;
	case 2: return (double)d->p99;
	case 3: return (double)d->p999;
	case 4: return d->mean;
	case 5: return (double)d->min;
	case 6: return (double)d->max;
	case 7: return (double)d->sum;
	default: return (double)d->count;
	}
}

/* A percentile of nothing is no 0; that there was nothing is what "count" tells. */
static bool has_samples(const struct gate *g, const struct resched_figures *f)
{
	const struct resched_dist *d = (const struct resched_dist *)((const char *)f + g->figure->offset);

	return !g->figure->is_dist || g->statistic == STATISTIC_COUNT || d->count;
}

static bool passed(const struct gate *g, double value)
{
	if (g->or_equal && value == g->value)
		return true;
	return g->op == '>' ? value > g->value : value < g->value;
}

/* The idx-th row the rule is about: its figures and name; NULL past the end. */
static const struct resched_figures *row_at(const struct gate *g, const struct resched_report *rep, unsigned int idx, const char **name)
{
	if (g->pid >= 0) {
		if (idx >= rep->nr_tasks)
			return NULL;
		*name = rep->tasks[idx].comm;
		return &rep->tasks[idx].f;
	}
	if (g->comm || g->cgroup) {
		const struct resched_group_row *rows = g->comm ? rep->comms : rep->cgroups;

		if (idx >= (g->comm ? rep->nr_comms : rep->nr_cgroups))
			return NULL;
		*name = rows[idx].name;
		return &rows[idx].f;
	}
	*name = "all tasks";
	return idx == 0 ? &rep->totals : NULL;
}

static bool row_matches(const struct gate *g, const struct resched_report *rep, unsigned int idx, const char *name)
{
	if (g->pid >= 0)
		return rep->tasks[idx].pid == g->pid;
	if (g->comm)
		return fnmatch(g->comm, name, 0) == 0;
	return !g->cgroup || fnmatch(g->cgroup, name, 0) == 0;
}

static const struct resched_figures *same_row(const struct gate *g, const struct resched_report *rep, const char *wanted)
{
	const struct resched_figures *f;
	const char *name;

	for (unsigned int i = 0; (f = row_at(g, rep, i, &name)); i++) {
		if (!strcmp(name, wanted) && row_matches(g, rep, i, name))
			return f;
	}
	return NULL;
}

static void tell(const struct cli_command *cmd, const char *rule, const struct gate *g, const char *column, const char *name, double value)
{
	char shown[40];

	if (g->percent)
		snprintf(shown, sizeof(shown), "%+.1f %%", value);
	else if (g->figure->is_time && g->statistic != STATISTIC_COUNT)
		resched_time_format((uint64_t)value, shown, sizeof(shown));
	else
		snprintf(shown, sizeof(shown), "%.0f", value);
	cli_warn(cmd, "--fail-if '%s' holds: %s%s%s has %s", rule, column ? column : "", column ? ": " : "", name, shown);
}

static const char *column_name(const struct resched_column *c)
{
	return c->label ? c->label : !strcmp(c->schedule->kind, "recorded") ? "recorded" : c->schedule->policy;
}

/* One rule against one column; *@matched counts the rows it names. Return: rows judged, -1 when one of them passed the threshold. */
static int judge(const struct cli_command *cmd, const char *rule, const struct gate *g, unsigned int nr_columns,
		 const struct resched_column *columns, unsigned int c, unsigned int *matched)
{
	const struct resched_figures *f, *base;
	int judged = 0, over = 0;
	const char *name;

	for (unsigned int i = 0; (f = row_at(g, columns[c].report, i, &name)); i++) {
		double value = figure_of(g, f);

		if (!row_matches(g, columns[c].report, i, name))
			continue;
		++*matched;
		base = g->percent ? same_row(g, columns[0].report, name) : NULL;
		if (!has_samples(g, f) || (g->percent && (!base || !has_samples(g, base))))
			continue;
		judged++;
		if (g->percent) {
			if (figure_of(g, base) == 0)
				continue;
			value = 100 * (value - figure_of(g, base)) / figure_of(g, base);
		}
		if (passed(g, value)) {
			tell(cmd, rule, g, nr_columns > 1 ? column_name(&columns[c]) : NULL, name, value);
			over = 1;
		}
	}
	return over ? -1 : judged;
}

static int run_gate(const struct cli_command *cmd, const char *rule, unsigned int nr_columns, const struct resched_column *columns)
{
	unsigned int matched = 0;
	int judged = 0, code = 0;
	struct gate g;

	if (parse_gate(rule, &g) < 0)
		return cli_usage(cmd, "--fail-if cannot read '%s'; write it as 'p99 wakeup_latency comm=nginx > 5ms' (known: %s)", rule, known_words);
	if (g.percent && nr_columns < 2)
		return cli_usage(cmd, "--fail-if '%s': per cent need a comparison; give a time or a count", rule);
	/* In a comparison the recorded column is what the others are judged against, unless it is asked for by name. */
	for (unsigned int c = nr_columns > 1 && (g.percent || !g.policy) ? 1 : 0; c < nr_columns; c++) {
		int n;

		if (g.policy && strcmp(g.policy, column_name(&columns[c])))
			continue;
		n = judge(cmd, rule, &g, nr_columns, columns, c, &matched);
		if (n < 0)
			code = RESCHED_THRESHOLD;
		else
			judged += n;
	}
	if (!code && !judged) {
		cli_warn(cmd, "--fail-if '%s': %s, so nothing was judged", rule, matched ? "what matches has no samples" : "nothing matches");
		return RESCHED_FAILED;
	}
	return code;
}

int cli_gate_check(const struct cli_command *cmd, const struct cli_args *args)
{
	struct gate g;

	for (unsigned int i = 0; i < args->fail_if.nr; i++) {
		if (parse_gate(args->fail_if.items[i], &g) < 0)
			return cli_usage(cmd, "--fail-if cannot read '%s'; write it as 'p99 wakeup_latency comm=nginx > 5ms' (known: %s)",
					 args->fail_if.items[i], known_words);
	}
	return 0;
}

int cli_gate(const struct cli_command *cmd, const struct cli_args *args, unsigned int nr_columns, const struct resched_column *columns)
{
	int code = 0;

	for (unsigned int i = 0; i < args->fail_if.nr; i++) {
		int one = run_gate(cmd, args->fail_if.items[i], nr_columns, columns);

		if (one == RESCHED_THRESHOLD || !code)	/* a passed threshold weighs more than a rule that matched nothing */
			code = one ? one : code;
	}
	return code;
}
