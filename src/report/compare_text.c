// SPDX-License-Identifier: GPL-2.0-only
/*
 * A comparison for people: what is compared, who gets better or worse under which policy, then a table a group of figures with
 * the total first. Changes of latency and delay are coloured; counts are neither better nor worse.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/units.h"
#include "report/compare.h"
#include "report/internal.h"
#include "report/text.h"

#define NAME_WIDTH 20u
/* The same load recorded twice differs by a median of 15 %; below that nothing is claimed in words. */
#define CLAIM_PERCENT 15.0
#define CLAIM_WAKEUPS 50u	/* nor about comms with fewer wakeups */
#define CLAIM_FLOOR_NS 20000.0	/* differences among latencies below this are noise to everybody */

static const struct rs_figure *p99(void)
{
	return &rs_figure_tables[RS_FIGURES_LATENCY].figures[2];
}

static int label_width(const struct rs_cmp *cmp)
{
	size_t width = 10;

	for (unsigned int c = 0; c < cmp->nr_columns; c++) {
		if (strlen(cmp->labels[c]) > width)
			width = strlen(cmp->labels[c]);
	}
	return (int)width;
}

static void print_columns(FILE *out, const struct rs_cmp *cmp, bool color)
{
	int width = label_width(cmp);
	char text[160];

	for (unsigned int c = 0; c < cmp->nr_columns; c++) {
		const struct resched_schedule *s = cmp->columns[c].schedule;

		if (!s)
			continue;
		rs_schedule_text(s, text, sizeof(text));
		fprintf(out, "  %s%-*s%s %s\n", rs_style_on(RS_STYLE_BOLD, color), width, cmp->labels[c], rs_style_off(RS_STYLE_BOLD, color), text);
		for (unsigned int i = 0; i < s->nr_warnings; i++)
			fprintf(out, "  %s%*s note: %s%s\n", rs_style_on(RS_STYLE_DIM, color), width, "", s->warnings[i],
				rs_style_off(RS_STYLE_DIM, color));
	}
	fputc('\n', out);
}

/* Worth a sentence: enough wakeups, a change beyond the noise, and not one between two tiny latencies. */
static bool claimable(const struct rs_cmp_group *g, unsigned int c, double *ret_diff)
{
	if (g->is_total || !rs_cmp_diff(g, p99(), c, ret_diff) || fabs(*ret_diff) < CLAIM_PERCENT || rs_cmp_within_error(g, p99(), c))
		return false;
	if (g->figures[0]->wakeup_latency.count < CLAIM_WAKEUPS || g->figures[c]->wakeup_latency.count < CLAIM_WAKEUPS)
		return false;
	return p99()->value(g->figures[0]) >= CLAIM_FLOOR_NS || p99()->value(g->figures[c]) >= CLAIM_FLOOR_NS;
}

static void print_claim(FILE *out, const struct rs_cmp *cmp, unsigned int c, bool better, bool color)
{
	const struct rs_cmp_group *most = NULL;
	char from[RS_NUMBER_LEN], to[RS_NUMBER_LEN], *name;
	unsigned int nr = 0;
	double worst = 0, diff;

	for (unsigned int i = 0; i < cmp->nr_groups; i++) {
		double ratio;

		if (!claimable(&cmp->groups[i], c, &diff) || (diff < 0) != better)
			continue;
		nr++;
		ratio = better ? 100 / (100 + diff) : (100 + diff) / 100;
		if (ratio > worst) {
			worst = ratio;
			most = &cmp->groups[i];
		}
	}
	fprintf(out, "%s%s for %u%s", rs_style_on(better ? RS_STYLE_GOOD : RS_STYLE_BAD, color && nr), better ? "better" : "worse", nr,
		rs_style_off(RS_STYLE_GOOD, color && nr));
	if (!most)
		return;
	rs_time_format((uint64_t)p99()->value(most->figures[0]), from, sizeof(from));
	rs_time_format((uint64_t)p99()->value(most->figures[c]), to, sizeof(to));
	name = rs_text_clean(most->name, NAME_WIDTH);
	fprintf(out, " (most: %s, %s to %s)", name ? name : "?", from, to);
	free(name);
}

/* Which policy makes whose latency better or worse. */
static void print_summary(FILE *out, const struct rs_cmp *cmp, bool color)
{
	unsigned int judged = 0;

	for (unsigned int i = 1; i < cmp->nr_groups; i++) {
		const struct resched_figures *f = cmp->groups[i].figures[0];

		judged += f && f->wakeup_latency.count >= CLAIM_WAKEUPS;
	}
	if (!judged || cmp->nr_columns < 2)
		return;
	fprintf(out, "%sp99 wakeup latency against %s%s, %u comm%s with %u wakeups or more, changes of %.0f %% or more%s:\n",
		rs_style_on(RS_STYLE_BOLD, color), cmp->labels[0], rs_style_off(RS_STYLE_BOLD, color), judged, judged == 1 ? "" : "s",
		CLAIM_WAKEUPS, CLAIM_PERCENT, cmp->self ? " and beyond the error" : "");
	for (unsigned int c = 1; c < cmp->nr_columns; c++) {
		fprintf(out, "  %-*s ", label_width(cmp), cmp->labels[c]);
		print_claim(out, cmp, c, true, color);
		fputs("; ", out);
		print_claim(out, cmp, c, false, color);
		fputc('\n', out);
	}
	fputc('\n', out);
}

static void value_cell(struct rs_table *t, const struct rs_cmp_group *g, const struct rs_figure *figure, unsigned int c)
{
	double value;

	if (!rs_cmp_known(g, figure, c)) {
		rs_table_cell(t, RS_STYLE_DIM, "-");
		return;
	}
	value = figure->value(g->figures[c]);
	if (figure->unit == RS_UNIT_NS)
		rs_table_time(t, (uint64_t)value);
	else
		rs_table_count(t, (uint64_t)value);
}

static void diff_cell(struct rs_table *t, const struct rs_cmp_group *g, const struct rs_figure *figure, unsigned int c)
{
	bool nothing = rs_cmp_within_error(g, figure, c);
	enum rs_style style = RS_STYLE_DIM;
	const char *mark = nothing ? "~" : "";
	double diff;

	if (!rs_cmp_diff(g, figure, c, &diff)) {
		rs_table_cell(t, style, rs_cmp_known(g, figure, c) && g->figures[0] ? "new" : "");
		return;
	}
	if (figure->less_is_better && fabs(diff) >= 1 && !nothing)
		style = diff < 0 ? RS_STYLE_GOOD : RS_STYLE_BAD;
	if (fabs(diff) < 0.05)
		rs_table_cell(t, RS_STYLE_DIM, "=");
	else if (diff >= 1000)
		rs_table_cellf(t, style, "%sx%.*f", mark, diff < 10000 ? 1 : 0, (100 + diff) / 100);
	else
		rs_table_cellf(t, style, "%s%+.*f %%", mark, fabs(diff) < 10 ? 1 : 0, diff);
}

static void error_cell(struct rs_table *t, const struct rs_cmp_group *g, const struct rs_figure *figure)
{
	double error;

	if (!rs_cmp_error(g, figure, &error))
		rs_table_cell(t, RS_STYLE_DIM, "");
	else if (error >= 1000)
		rs_table_cellf(t, RS_STYLE_DIM, "x%.*f", error < 10000 ? 1 : 0, (100 + error) / 100);
	else
		rs_table_cellf(t, RS_STYLE_DIM, "%.*f %%", error < 10 ? 1 : 0, error);
}

static bool known_anywhere(const struct rs_cmp *cmp, const struct rs_cmp_group *g, const struct rs_figure *figure)
{
	for (unsigned int c = 0; c < cmp->nr_columns; c++) {
		if (rs_cmp_known(g, figure, c))
			return true;
	}
	return false;
}

/* Return: rows added; figures that no column has are left out. */
static unsigned int group_rows(struct rs_table *t, const struct rs_cmp *cmp, const struct rs_figure_table *table,
			       const struct rs_cmp_group *g)
{
	unsigned int nr = 0;

	for (unsigned int k = 0; k < table->nr; k++) {
		char *name;

		if (!known_anywhere(cmp, g, &table->figures[k]))
			continue;
		name = rs_text_clean(nr++ ? "" : g->is_total ? "all" : g->name, NAME_WIDTH);
		if (!name) {
			t->failed = true;
			return nr;
		}
		rs_table_cell(t, g->is_total ? RS_STYLE_BOLD : RS_STYLE_NONE, name);
		free(name);
		rs_table_cell(t, RS_STYLE_NONE, table->figures[k].label);
		value_cell(t, g, &table->figures[k], 0);
		if (cmp->self)
			error_cell(t, g, &table->figures[k]);
		for (unsigned int c = 1; c < cmp->nr_columns; c++) {
			value_cell(t, g, &table->figures[k], c);
			diff_cell(t, g, &table->figures[k], c);
		}
	}
	return nr;
}

/* Groups with something to show: those that never waited in any column come last. */
static unsigned int nr_waited(const struct rs_cmp *cmp)
{
	unsigned int nr = 1;	/* the total */

	while (nr < cmp->nr_groups && cmp->groups[nr].waited)
		nr++;
	return nr;
}

static int print_table(FILE *out, const struct rs_cmp *cmp, const struct rs_figure_table *table, unsigned int shown, bool color,
		       struct resched_error *err)
{
	unsigned int nr = 2 * cmp->nr_columns + 1 + (cmp->self != NULL), rows = 0;
	char *align = malloc(nr + 1);
	struct rs_table t;
	int rc = 0;

	if (!align)
		return rs_error_nomem(err);
	memset(align, 'r', nr);
	memcpy(align, "ll", 2);
	rs_table_init(&t, nr, align);
	rs_table_cell(&t, RS_STYLE_BOLD, "comm");
	rs_table_cell(&t, RS_STYLE_NONE, "");
	for (unsigned int c = 0; c < cmp->nr_columns; c++) {
		rs_table_cell(&t, RS_STYLE_BOLD, cmp->labels[c]);
		if (c)
			rs_table_cell(&t, RS_STYLE_NONE, "");
		else if (cmp->self)
			rs_table_cell(&t, RS_STYLE_BOLD, "error");
	}
	for (unsigned int i = 0; i < shown; i++)
		rows += group_rows(&t, cmp, table, &cmp->groups[i]);
	fprintf(out, "%s%s%s\n", rs_style_on(RS_STYLE_BOLD, color), table->title, rs_style_off(RS_STYLE_BOLD, color));
	if (rows || t.failed)
		rc = rs_table_print(&t, out, 2, color, err);
	else
		fprintf(out, "  %snone in any column%s\n", rs_style_on(RS_STYLE_DIM, color), rs_style_off(RS_STYLE_DIM, color));
	rs_table_release(&t);
	free(align);
	return rc;
}

int rs_compare_text(FILE *out, const struct resched_source *source, const struct rs_cmp *cmp, const struct resched_print_options *opts,
		    struct resched_error *err)
{
	unsigned int waited = nr_waited(cmp), shown = waited;
	int rc = 0;

	if (opts->max_rows && shown > opts->max_rows + 1)
		shown = opts->max_rows + 1;
	if (source)
		rs_head_source(out, source, opts->color);
	print_columns(out, cmp, opts->color);
	if (cmp->self)
		fputs("error: by what a replay under the recorded rules misses the recording; ~ marks a difference no larger, which means nothing.\n\n",
		      out);
	print_summary(out, cmp, opts->color);
	for (unsigned int i = 0; i < RS_FIGURES_NR_TABLES && rc == 0; i++) {
		if (i)
			fputc('\n', out);
		rc = print_table(out, cmp, &rs_figure_tables[i], shown, opts->color, err);
	}
	if (rc == 0 && shown < waited)
		fprintf(out, "\n%s%u more comms: -n 0 shows all%s\n", rs_style_on(RS_STYLE_DIM, opts->color), waited - shown,
			rs_style_off(RS_STYLE_DIM, opts->color));
	return rc < 0 ? rc : rs_out_check(out, err);
}
