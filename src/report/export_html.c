// SPDX-License-Identifier: GPL-2.0-only
/*
 * One page for a browser, with everything inside and nothing from the network: a timeline of the cpus and a table of the tasks. Unlike
 * the other formats it is written at the end, from an index of all that happened.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <resched/index.h>

#include "base/units.h"
#include "report/export.h"
#include "report/html_page.h"
#include "report/text.h"

#define STRETCHES_MAX 400000u	/* of cpus; some 6 MB, which a browser still draws at once */
#define WAITS_MAX 200000u	/* of the tasks whose waits are drawn */

struct page {
	struct resched_analysis *analysis;
	struct resched_index *index;
	uint64_t to_ns;			/* end of the part that is drawn */
	uint64_t waits;
};

static struct page *page_of(const struct resched_export *x)
{
	return x->priv;
}

static int html_begin(struct resched_export *x)
{
	struct resched_error err;
	struct resched_analysis_options opts = { .host = x->host, .names = (struct resched_names *)(uintptr_t)x->names };
	struct page *p = calloc(1, sizeof(*p));

	x->priv = p;
	if (!p || resched_analysis_new(&opts, &p->analysis, &err) < 0 || resched_index_new(p->analysis, &p->index, &err) < 0)
		return -ENOMEM;
	return 0;
}

static int html_event(struct resched_export *x, const struct resched_event *ev)
{
	return resched_analysis_event(page_of(x)->analysis, ev);
}

static int html_lag(struct resched_export *x, uint64_t ts_ns, const struct rs_lag *lag)
{
	(void)ts_ns;
	resched_analysis_lag(page_of(x)->analysis, lag->pid, lag->lag_ns, lag->missed);
	return 0;
}

/* A text for HTML and, in quotes, for JavaScript. */
static void put_text(FILE *out, const char *text, bool script)
{
	char *clean = rs_text_clean(text, 0);

	for (const char *c = clean; c && *c; c++) {
		if (*c == '<')
			fputs(script ? "\\u003c" : "&lt;", out);
		else if (*c == '&' && !script)
			fputs("&amp;", out);
		else if (*c == '"')
			fputs(script ? "\\\"" : "&quot;", out);
		else if (*c == '\\' && script)
			fputs("\\\\", out);
		else
			fputc(*c, out);
	}
	free(clean);
}

static void put_lines(FILE *out, const char *const *lines)
{
	for (; *lines; lines++)
		fprintf(out, "%s\n", *lines);
}

static uint64_t stretches_until(const struct resched_index *ix, uint64_t at_ns)
{
	uint64_t nr = 0;

	for (unsigned int cpu = 0; cpu < resched_index_cpus(ix); cpu++) {
		if (resched_index_cpu_spans(ix, cpu))
			nr += resched_index_cpu_find(ix, cpu, at_ns) + 1;
	}
	return nr;
}

/* The latest instant up to which there are not too many stretches. */
static uint64_t find_end(const struct resched_index *ix)
{
	uint64_t low = resched_index_first_ns(ix), high = resched_index_last_ns(ix);

	if (stretches_until(ix, high) <= STRETCHES_MAX)
		return high;
	while (high - low > 1) {
		uint64_t mid = low + (high - low) / 2;

		if (stretches_until(ix, mid) <= STRETCHES_MAX)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/* us with three digits, as short as may be */
static void put_us(FILE *out, uint64_t ns)
{
	if (ns % 1000)
		fprintf(out, "%llu.%03llu", (unsigned long long)(ns / 1000), (unsigned long long)(ns % 1000));
	else
		fprintf(out, "%llu", (unsigned long long)(ns / 1000));
}

static void put_stretch(FILE *out, const char *between, int what, uint64_t from_ns, uint64_t to_ns, uint64_t *last_ns)
{
	fprintf(out, "%s%d,", between, what);
	put_us(out, from_ns - *last_ns);
	fputc(',', out);
	put_us(out, to_ns - from_ns);
	*last_ns = to_ns;
}

static void put_cpu(FILE *out, const struct page *p, unsigned int cpu)
{
	uint64_t last = resched_index_first_ns(p->index);
	const char *between = "[";
	struct resched_span s;

	for (uint64_t nr = 0; resched_index_cpu_span(p->index, cpu, nr, &s) && s.from_ns <= p->to_ns; nr++) {
		int what = s.state == RESCHED_SPAN_UNKNOWN ? -2 : s.task;

		if (s.to_ns > p->to_ns)
			s.to_ns = p->to_ns;
		if (what == RESCHED_NO_TASK)
			continue;	/* idle is where nothing is */
		put_stretch(out, between, what, s.from_ns, s.to_ns, &last);
		between = ",";
	}
	fputs(*between == '[' ? "[]" : "]", out);
}

static void put_waits(FILE *out, struct page *p, unsigned int task)
{
	uint64_t last = resched_index_first_ns(p->index);
	const char *between = "[";
	struct resched_span s;

	for (uint64_t nr = 0; p->waits < WAITS_MAX && resched_index_task_span(p->index, (int)task, nr, &s) && s.from_ns <= p->to_ns; nr++) {
		if (s.state != RESCHED_SPAN_WOKEN && s.state != RESCHED_SPAN_PREEMPTED)
			continue;
		if (s.to_ns > p->to_ns)
			s.to_ns = p->to_ns;
		put_stretch(out, between, s.state == RESCHED_SPAN_PREEMPTED, s.from_ns, s.to_ns, &last);
		between = ",";
		p->waits++;
	}
	fputs(*between == '[' ? "[]" : "]", out);
}

static void put_data(FILE *out, struct page *p)
{
	const struct resched_index *ix = p->index;
	const char *between = "";
	char name[24];

	fputs("const ORIGIN=0,T0=0,T1=", out);
	put_us(out, p->to_ns - resched_index_first_ns(ix));
	fputs(",CPUS=[", out);
	for (unsigned int cpu = 0; cpu < resched_index_cpus(ix); cpu++) {
		if (!resched_index_cpu_observed(ix, cpu))
			continue;
		fprintf(out, "%s%u", between, cpu);
		between = ",";
	}
	fputs("],TASKS=[", out);
	for (unsigned int i = 0; i < resched_index_tasks(ix); i++) {
		fputs(i ? ",\"" : "\"", out);
		put_text(out, resched_index_name(ix, (int)i, name, sizeof(name)), true);
		fprintf(out, "/%d\"", resched_index_task(ix, i)->pid);
	}
	fputs("],RUNS=[\n", out);
	between = "";
	for (unsigned int cpu = 0; cpu < resched_index_cpus(ix); cpu++) {
		if (!resched_index_cpu_observed(ix, cpu))
			continue;
		fputs(between, out);
		put_cpu(out, p, cpu);
		between = ",\n";
	}
	fputs("],WAITS=[\n", out);
	for (unsigned int i = 0; i < resched_index_tasks(ix); i++) {
		fputs(i ? ",\n" : "", out);
		put_waits(out, p, i);
	}
	fputs("];\n", out);
}

static const char *time_text(uint64_t ns, char buf[RS_NUMBER_LEN])
{
	rs_time_format(ns, buf, RS_NUMBER_LEN);
	return buf;
}

static void put_time(FILE *out, uint64_t ns, bool known)
{
	char text[RS_NUMBER_LEN];

	fprintf(out, "<td data-v=\"%llu\">%s</td>", (unsigned long long)(known ? ns : 0), known ? time_text(ns, text) : "");
}

static void put_count(FILE *out, uint64_t n)
{
	char text[RS_NUMBER_LEN];

	fprintf(out, "<td data-v=\"%llu\">%s</td>", (unsigned long long)n, rs_count_format(n, text));
}

/* A row of the report in the index, which has its own order. */
static unsigned int index_of(const struct resched_index *ix, const struct resched_task_row *t)
{
	int newest = resched_index_find_pid(ix, t->pid);
	unsigned int i = 0;

	if (newest >= 0 && resched_index_task(ix, (unsigned int)newest)->birth == t->birth)
		return (unsigned int)newest;
	while (i < resched_index_tasks(ix) && (resched_index_task(ix, i)->pid != t->pid || resched_index_task(ix, i)->birth != t->birth))
		i++;
	return i;
}

static int by_delay(const void *a, const void *b)
{
	const struct resched_task_row *x = a, *y = b;

	if (x->f.run_delay.sum != y->f.run_delay.sum)
		return x->f.run_delay.sum < y->f.run_delay.sum ? 1 : -1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->birth < y->birth ? -1 : x->birth > y->birth;
}

static void put_table(FILE *out, const struct page *p, struct resched_report *rep)
{
	static const char *const heads[] = { "task", "run", "switches", "involuntary", "wakeups", "migrations", "wakeup p50", "wakeup p99", "wakeup max",
					     "delay sum", "delay max" };

	qsort(rep->tasks, rep->nr_tasks, sizeof(*rep->tasks), by_delay);
	fputs("<table>\n<thead><tr>", out);
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		fprintf(out, "<th>%s</th>", heads[i]);
	fputs("</tr></thead>\n<tbody>\n", out);
	for (unsigned int i = 0; i < rep->nr_tasks; i++) {
		const struct resched_task_row *t = &rep->tasks[i];
		const struct resched_dist *d = &t->f.wakeup_latency;

		fprintf(out, "<tr data-task=\"%u\"><td data-v=\"", index_of(p->index, t));
		put_text(out, t->comm, false);
		fputs("\">", out);
		put_text(out, t->comm, false);
		fprintf(out, "/%d</td>", t->pid);
		put_time(out, t->f.runtime_ns, true);
		put_count(out, t->f.switches);
		put_count(out, t->f.involuntary);
		put_count(out, t->f.wakeups);
		put_count(out, t->f.migrations);
		put_time(out, d->p50, d->count);
		put_time(out, d->p99, d->count);
		put_time(out, d->max, d->count);
		put_time(out, t->f.run_delay.sum, t->f.run_delay.count);
		put_time(out, t->f.run_delay.max, t->f.run_delay.count);
		fputs("</tr>\n", out);
	}
	fputs("</tbody>\n</table>\n", out);
}

static void put_head(const struct resched_export *x, const struct page *p, const struct resched_report *rep)
{
	uint64_t span = resched_index_last_ns(p->index) - resched_index_first_ns(p->index), shown = p->to_ns - resched_index_first_ns(p->index);
	char a[RS_NUMBER_LEN], b[RS_NUMBER_LEN];

	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
	      "<title>resched: who ran and who waited</title>\n<style>\n", x->out);
	put_lines(x->out, rs_html_style);
	fputs("</style></head><body>\n<h1>Who ran and who waited</h1>\n<p>", x->out);
	if (x->host && x->host->kernel) {
		fputs("Linux ", x->out);
		put_text(x->out, x->host->kernel, false);
		fputs(", ", x->out);
	}
	fprintf(x->out, "%s on %u cpus, ", time_text(span, a), rep->nr_cpus);
	fprintf(x->out, "%s switches, ", rs_count_format(rep->totals.switches, a));
	fprintf(x->out, "%s wakeups. ", rs_count_format(rep->totals.wakeups, b));
	fprintf(x->out, "Waits are measured from sched_%s.", rep->wait_source_is_wakeup ? "wakeup" : "waking");
	if (rep->totals.unresolved)
		fprintf(x->out, " %s waits touch lost events or an end and are left out.", rs_count_format(rep->totals.unresolved, a));
	fputs("</p>\n<h2>Timeline</h2>\n", x->out);
	if (shown < span)
		fprintf(x->out, "<p>Drawn are the first %s of %s, as many stretches as a page holds; export another part with --time.</p>\n",
			time_text(shown, a), time_text(span, b));
	fputs("<canvas id=\"line\"></canvas>\n<div id=\"tip\"></div>\n<p>Wheel or <kbd>w</kbd> <kbd>s</kbd>: zoom; drag or <kbd>a</kbd> <kbd>d</kbd>: move; "
	      "<kbd>0</kbd>: all; click on a task, there or in the table: its waits (orange: woken, red: preempted).</p>\n<h2>Tasks</h2>\n", x->out);
}

static int html_end(struct resched_export *x)
{
	struct page *p = page_of(x);
	struct resched_report *rep;
	struct resched_error err;
	int rc = resched_analysis_finish(p->analysis, &rep, &err);

	if (rc < 0)
		return rc;
	p->to_ns = find_end(p->index);
	put_head(x, p, rep);
	put_table(x->out, p, rep);
	fputs("<script>\n", x->out);
	put_data(x->out, p);
	put_lines(x->out, rs_html_script);
	fputs("</script>\n</body></html>\n", x->out);
	resched_report_free(rep);
	return 0;
}

static void html_release(struct resched_export *x)
{
	struct page *p = page_of(x);

	if (!p)
		return;
	resched_index_free(p->index);
	resched_analysis_free(p->analysis);
	free(p);
}

static char *html_name(const char *text)
{
	return strdup(text);
}

const struct rs_export_ops rs_export_html = {
	.begin = html_begin, .event = html_event, .lag = html_lag, .end = html_end, .release = html_release, .name = html_name,
};
