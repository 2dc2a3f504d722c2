// SPDX-License-Identifier: GPL-2.0-only
/* Reports in the layout of other tools: the columns of "perf sched latency", the percentiles of schbench. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/samples.h"
#include "base/error.h"
#include "report/internal.h"
#include "report/rows.h"
#include "report/text.h"

static void line(FILE *out, unsigned int width)
{
	fputc(' ', out);
	while (width--)
		fputc('-', out);
	fputc('\n', out);
}

/* "comm:pid" for one task, "comm:(n)" for a group, filled up to 21 columns as perf does. */
static int perf_name(FILE *out, const struct resched_report *rep, const struct rs_row *row)
{
	char tail[24];
	char *name = rs_text_clean(row->name, 20);
	unsigned int width;

	if (!name)
		return -ENOMEM;
	if (row->task) {
		snprintf(tail, sizeof(tail), ":%d", row->task->pid);
	} else if (row->tasks > 1) {
		snprintf(tail, sizeof(tail), ":(%u)", row->tasks);
	} else {
		tail[0] = '\0';
		for (unsigned int i = 0; i < rep->nr_tasks; i++) {
			if (!strcmp(rep->tasks[i].comm, row->name))
				snprintf(tail, sizeof(tail), ":%d", rep->tasks[i].pid);
		}
	}
	width = rs_text_width(name) + (unsigned int)strlen(tail);
	fprintf(out, "  %s%s%*s", name, tail, width < 21 ? (int)(21 - width) : 0, "");
	free(name);
	return 0;
}

static int perf_row(FILE *out, const struct resched_report *rep, const struct rs_row *row)
{
	const struct resched_figures *f = row->f;
	uint64_t end = f->max_delay_at_ns, start = end - f->run_delay.max;
	int rc = perf_name(out, rep, row);

	if (rc < 0)
		return rc;
	fprintf(out, " |%11.3f ms |%9llu | avg:%8.3f ms | max:%8.3f ms | max start:%13.6f s | max end:%13.6f s\n",
		(double)f->runtime_ns / 1e6, (unsigned long long)f->switches, f->run_delay.mean / 1e6, (double)f->run_delay.max / 1e6,
		(double)start / 1e9, (double)end / 1e9);
	return 0;
}

int rs_report_perf(FILE *out, const struct resched_report *rep, const struct resched_print_options *opts, struct resched_error *err)
{
	struct rs_rows rows;
	int rc = rs_rows_make(rep, opts->group == RESCHED_BY_TASK ? RESCHED_BY_TASK : RESCHED_BY_COMM,
			      opts->sort_key ? opts->sort_key : "avg", &rows, err);

	if (rc < 0)
		return rc;
	fputc('\n', out);
	line(out, 139);
	fputs("  Task                  |   Runtime ms  | Switches | Avg delay ms    | Max delay ms    | Max delay start           | Max "
	      "delay end          |\n", out);
	line(out, 139);
	for (unsigned int i = 0; i < rows.nr && (!opts->max_rows || i < opts->max_rows) && rc == 0; i++)
		rc = perf_row(out, rep, &rows.rows[i]);
	line(out, 113);
	fprintf(out, "  TOTAL:                |%11.3f ms |%9llu |\n", (double)rep->totals.runtime_ns / 1e6,
		(unsigned long long)rep->totals.switches);
	line(out, 51);
	fputc('\n', out);
	rs_rows_release(&rows);
	return rc < 0 ? rs_error_nomem(err) : rs_out_check(out, err);
}

int rs_report_schbench(FILE *out, const struct resched_report *rep, struct resched_error *err)
{
	static const struct { const char *label; double q; } lines[] = {
		{ "  50.0th", .50 }, { "  90.0th", .90 }, { "* 99.0th", .99 }, { "  99.9th", .999 },
	};
	const struct resched_dist *d = &rep->totals.wakeup_latency;
	const uint64_t values[] = { d->p50, d->p90, d->p99, d->p999 };
	uint64_t below = 0;

	fprintf(out, "Wakeup Latencies percentiles (usec) runtime %.0f (s) (%llu total samples)\n",
		(double)(rep->last_ns - rep->first_ns) / 1e9, (unsigned long long)d->count);
	for (unsigned int i = 0; i < 4; i++) {
		uint64_t upto = d->count ? rs_rank(lines[i].q, d->count) + 1 : 0;

		fprintf(out, "\t%s: %-10llu (%llu samples)\n", lines[i].label, (unsigned long long)(values[i] / 1000),
			(unsigned long long)(upto - below));
		below = upto;
	}
	fprintf(out, "\t  min=%llu, max=%llu\n", (unsigned long long)(d->min / 1000), (unsigned long long)(d->max / 1000));
	return rs_out_check(out, err);
}
