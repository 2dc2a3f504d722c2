// SPDX-License-Identifier: GPL-2.0-only
/* A report as a table for people. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/units.h"
#include "report/internal.h"
#include "report/rows.h"
#include "report/text.h"

#define NAME_WIDTH 28u

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void head(FILE *out, const struct resched_source *source, const struct resched_schedule *schedule,
		 const struct resched_report *rep, bool color)
{
	const struct resched_figures *f = &rep->totals;
	char a[RS_NUMBER_LEN], b[RS_NUMBER_LEN], c[RS_NUMBER_LEN], d[RS_NUMBER_LEN], text[160];

	if (source)
		rs_head_source(out, source, color);
	if (schedule) {
		rs_schedule_text(schedule, text, sizeof(text));
		fprintf(out, "schedule: %s%s%s\n", rs_style_on(RS_STYLE_BOLD, color), text, rs_style_off(RS_STYLE_BOLD, color));
		for (unsigned int i = 0; i < schedule->nr_warnings; i++)
			fprintf(out, "%snote: %s%s\n", rs_style_on(RS_STYLE_DIM, color), schedule->warnings[i],
				rs_style_off(RS_STYLE_DIM, color));
	}
	fprintf(out, "waits from %s: %s wakeups, %s switches, %s waits measured, %s unresolved\n",
		rep->wait_source_is_wakeup ? "sched_wakeup" : "sched_waking", rs_count_format(f->wakeups, a),
		rs_count_format(f->switches, b), rs_count_format(f->run_delay.count, c), rs_count_format(f->unresolved, d));
	fprintf(out, "cpus busy %.1f %% of the time known%s\n\n", percent(rep->busy_ns, rep->busy_ns + rep->idle_ns),
		rep->exact ? "" : "; percentiles within 0.1 % (histogram)");
}

static void cells(struct rs_table *t, enum rs_style style, unsigned int n, const char *const *texts)
{
	for (unsigned int i = 0; i < n; i++)
		rs_table_cell(t, style, texts[i]);
}

static void wait_cells(struct rs_table *t, const struct resched_figures *f)
{
	if (f->wakeup_latency.count) {
		rs_table_time(t, f->wakeup_latency.p50);
		rs_table_time(t, f->wakeup_latency.p99);
		rs_table_time(t, f->wakeup_latency.max);
	} else {
		cells(t, RS_STYLE_DIM, 3, (const char *const[]){ "-", "-", "-" });
	}
	if (f->run_delay.count) {
		rs_table_time(t, f->run_delay.sum);
		rs_table_time(t, (uint64_t)f->run_delay.mean);
		rs_table_time(t, f->run_delay.max);
	} else {
		cells(t, RS_STYLE_DIM, 3, (const char *const[]){ "-", "-", "-" });
	}
}

static void figure_cells(struct rs_table *t, const struct resched_figures *f, uint64_t all_runtime_ns)
{
	rs_table_time(t, f->runtime_ns);
	rs_table_cellf(t, RS_STYLE_NONE, "%.1f", percent(f->runtime_ns, all_runtime_ns));
	rs_table_count(t, f->switches);
	rs_table_count(t, f->involuntary);
	rs_table_count(t, f->wakeups);
	rs_table_count(t, f->migrations);
	wait_cells(t, f);
}

static void name_cell(struct rs_table *t, const char *name)
{
	char *cut = rs_text_clean(name, NAME_WIDTH);

	if (!cut)
		t->failed = true;
	else
		rs_table_cell(t, RS_STYLE_NONE, cut);
	free(cut);
}

static void row_cells(struct rs_table *t, const struct rs_row *row, uint64_t all_runtime_ns)
{
	if (row->task) {
		rs_table_cellf(t, RS_STYLE_NONE, "%d", row->task->pid);
		name_cell(t, row->name);
		if (!strcmp(row->task->class_name, "fair"))
			rs_table_cellf(t, RS_STYLE_NONE, "%d", row->task->nice);
		else
			rs_table_cell(t, RS_STYLE_NONE, row->task->class_name);
	} else {
		name_cell(t, row->name);
		rs_table_cellf(t, RS_STYLE_NONE, "%u", row->tasks);
	}
	figure_cells(t, row->f, all_runtime_ns);
}

static const char *const figure_titles[2][12] = {
	{ "run", "of", "", "invol-", "", "", "wakeup latency", "", "", "run delay", "", "" },
	{ "time", "all %", "switches", "untary", "wakeups", "migr.", "p50", "p99", "max", "sum", "mean", "max" },
};

static void title_cells(struct rs_table *t, enum resched_group group)
{
	for (unsigned int line = 0; line < 2; line++) {
		if (group == RESCHED_BY_TASK)
			cells(t, RS_STYLE_BOLD, 3, line ? (const char *const[]){ "pid", "comm", "nice" } : (const char *const[]){ "", "", "" });
		else
			cells(t, RS_STYLE_BOLD, 2, line ? (const char *const[]){ rs_rows_title(group), "tasks" } : (const char *const[]){ "", "" });
		cells(t, RS_STYLE_BOLD, 12, figure_titles[line]);
	}
}

static int task_table(FILE *out, const struct resched_report *rep, const struct resched_print_options *opts, struct resched_error *err)
{
	bool by_task = opts->group == RESCHED_BY_TASK;
	struct rs_table t;
	struct rs_rows rows;
	unsigned int shown;
	int rc = rs_rows_make(rep, opts->group, opts->sort_key, &rows, err);

	if (rc < 0)
		return rc;
	if (!rows.nr) {
		fputs(opts->group >= RESCHED_BY_CGROUP ? "No cgroup is known: the recording has no host snapshot.\n" : "No task matches.\n", out);
		rs_rows_release(&rows);
		return 0;
	}
	shown = opts->max_rows && opts->max_rows < rows.nr ? opts->max_rows : rows.nr;
	rs_table_init(&t, by_task ? 15 : 14, by_task ? "rlrrrrrrrrrrrrr" : "lrrrrrrrrrrrrr");
	title_cells(&t, opts->group);
	for (unsigned int i = 0; i < shown; i++)
		row_cells(&t, &rows.rows[i], rep->totals.runtime_ns);
	if (by_task)
		cells(&t, RS_STYLE_BOLD, 3, (const char *const[]){ "", "all", "" });
	else
		rs_table_cell(&t, RS_STYLE_BOLD, "all");
	if (!by_task)
		rs_table_cellf(&t, RS_STYLE_NONE, "%u", rep->nr_tasks);
	figure_cells(&t, &rep->totals, rep->totals.runtime_ns);
	rc = rs_table_print(&t, out, 0, opts->color, err);
	rs_table_release(&t);
	if (rc == 0 && shown < rows.nr)
		fprintf(out, "%s%u more rows: -n 0 shows all%s\n", rs_style_on(RS_STYLE_DIM, opts->color), rows.nr - shown,
			rs_style_off(RS_STYLE_DIM, opts->color));
	rs_rows_release(&rows);
	return rc;
}

static int cpu_table(FILE *out, const struct resched_report *rep, const struct resched_print_options *opts, struct resched_error *err)
{
	static const char *const titles[] = { "cpu", "busy", "idle", "busy %", "switches", "wakeups", "migr. in", "migr. out" };
	struct rs_table t;
	int rc;

	rs_table_init(&t, 8, "rrrrrrrr");
	cells(&t, RS_STYLE_BOLD, 8, titles);
	for (unsigned int i = 0; i < rep->nr_cpus; i++) {
		const struct resched_cpu_row *c = &rep->cpus[i];

		rs_table_cellf(&t, RS_STYLE_NONE, "%u", c->cpu);
		if (!c->observed) {
			cells(&t, RS_STYLE_DIM, 7, (const char *const[]){ "not seen", "", "", "", "", "", "" });
			continue;
		}
		rs_table_time(&t, c->busy_ns);
		rs_table_time(&t, c->idle_ns);
		rs_table_cellf(&t, RS_STYLE_NONE, "%.1f", percent(c->busy_ns, c->busy_ns + c->idle_ns));
		rs_table_count(&t, c->switches);
		rs_table_count(&t, c->wakeups);
		rs_table_count(&t, c->migrations_in);
		rs_table_count(&t, c->migrations_out);
	}
	rc = rs_table_print(&t, out, 0, opts->color, err);
	rs_table_release(&t);
	return rc;
}

const char *rs_move_reason(unsigned int reason)
{
	static const char *const names[RESCHED_NR_MOVE_REASONS] = { "wakeup", "balance", "stopper", "exec", "affinity" };

	return names[reason];
}

const char *rs_move_distance(unsigned int distance)
{
	static const char *const names[RESCHED_NR_MOVE_DISTANCES] = { "core", "llc", "node", "other_node", "unknown" };

	return names[distance];
}

static void put_counts(FILE *out, const char *head, unsigned int nr, const uint64_t *counts, const char *(*name)(unsigned int))
{
	char number[RS_NUMBER_LEN];
	const char *between = head;

	for (unsigned int i = 0; i < nr; i++) {
		if (!counts[i])
			continue;
		fprintf(out, "%s%s %s", between, rs_count_format(counts[i], number), name(i));
		between = ", ";
	}
	if (between == head)
		fprintf(out, "%snone", head);
}

/* Below the cpus: what moved tasks, how far, and how long a cpu was idle although one waited. */
static void moves(FILE *out, const struct resched_moves *m)
{
	char text[RS_NUMBER_LEN];

	put_counts(out, "\nmigrations by reason: ", RESCHED_NR_MOVE_REASONS, m->by_reason, rs_move_reason);
	put_counts(out, "; by distance: ", RESCHED_NR_MOVE_DISTANCES, m->by_distance, rs_move_distance);
	fprintf(out, "\nnew tasks that began on another cpu: %s\n", rs_count_format(m->forks_elsewhere, text));
	rs_time_format(m->idle_while_waiting_ns, text, sizeof(text));
	fprintf(out, "some cpu idle while a task waited on another: %s", text);
	for (unsigned int i = 0; m->nr_llcs > 1 && i < m->nr_llcs; i++) {
		rs_time_format(m->llcs[i].idle_while_waiting_ns, text, sizeof(text));
		fprintf(out, "%scache of cpu %u %s", i ? ", " : "; within the ", m->llcs[i].first_cpu, text);
	}
	fputc('\n', out);
}

/* What a replay counts, and what of it is assumed. */
static void costs(FILE *out, const struct resched_schedule *s, bool apart)
{
	char text[RS_NUMBER_LEN];

	if (s->nr_costs && apart)
		fputc('\n', out);
	for (unsigned int i = 0; i < s->nr_costs; i++) {
		rs_time_format(s->costs[i].ns, text, sizeof(text));
		fprintf(out, "%s%.*s %s%s", i ? ", " : "costs: ", (int)strlen(s->costs[i].name) - 3, s->costs[i].name, text, s->costs[i].assumed ? " (assumed)" : "");
	}
	if (s->nr_costs)
		fputc('\n', out);
}

int rs_report_table(FILE *out, const struct resched_source *source, const struct resched_schedule *schedule,
		    const struct resched_report *report, const struct resched_print_options *opts, struct resched_error *err)
{
	rs_sort_fn *unused;
	int rc = rs_sort_find(opts->sort_key, &unused, err);	/* before anything is printed */

	if (rc < 0)
		return rc;
	head(out, source, schedule, report, opts->color);
	rc = opts->group == RESCHED_BY_CPU ? cpu_table(out, report, opts, err) : task_table(out, report, opts, err);
	if (rc == 0 && report->moves)
		moves(out, report->moves);
	if (rc == 0)
		costs(out, schedule, !report->moves);
	return rc < 0 ? rc : rs_out_check(out, err);
}
