// SPDX-License-Identifier: GPL-2.0-only
#include "report/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "report/json.h"
#include "report/rows.h"
#include "report/text.h"

static void make_labels(struct rs_cmp *cmp)
{
	for (unsigned int c = 0; c < cmp->nr_columns; c++) {
		const struct resched_schedule *s = cmp->columns[c].schedule;
		const char *label = cmp->columns[c].label;

		if (!label)
			label = !s || !strcmp(s->kind, "recorded") ? "recorded" : s->policy;
		snprintf(cmp->labels[c], RS_LABEL_LEN, "%s", label);
	}
	/* Two columns of one policy: the model tells them apart, or else their number. */
	for (unsigned int c = 0; c < cmp->nr_columns; c++) {
		for (unsigned int d = c + 1; d < cmp->nr_columns; d++) {
			const struct resched_schedule *a = cmp->columns[c].schedule, *b = cmp->columns[d].schedule;

			if (strcmp(cmp->labels[c], cmp->labels[d]))
				continue;
			if (a && b && strcmp(a->model, b->model) && !cmp->columns[c].label) {
				snprintf(cmp->labels[c], RS_LABEL_LEN, "%.24s %.20s", a->policy, a->model);
				snprintf(cmp->labels[d], RS_LABEL_LEN, "%.24s %.20s", b->policy, b->model);
			} else {
				snprintf(cmp->labels[d] + strlen(cmp->labels[d]), RS_LABEL_LEN - strlen(cmp->labels[d]), " #%u", d + 1);
			}
		}
	}
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const struct resched_group_row *find_comm(const struct resched_report *rep, const char *name)
{
	unsigned int lo = 0, hi = rep->nr_comms;

	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;
		int order = strcmp(rep->comms[mid].name, name);

		if (order == 0)
			return &rep->comms[mid];
		if (order < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

static int by_weight(const void *a, const void *b)
{
	const struct rs_cmp_group *x = a, *y = b;

	if (x->is_total != y->is_total)
		return x->is_total ? -1 : 1;
	if (x->waited != y->waited)
		return x->waited ? -1 : 1;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void fill_group(struct rs_cmp *cmp, struct rs_cmp_group *g, rs_sort_fn *sort)
{
	const struct resched_group_row *self = cmp->self && !g->is_total ? find_comm(cmp->self, g->name) : NULL;

	if (cmp->self)
		g->self = g->is_total ? &cmp->self->totals : self ? &self->f
								  : NULL;
	for (unsigned int c = 0; c < cmp->nr_columns; c++) {
		const struct resched_report *rep = cmp->columns[c].report;
		const struct resched_group_row *row = g->is_total ? NULL : find_comm(rep, g->name);

		g->figures[c] = g->is_total ? &rep->totals : row ? &row->f : NULL;
		if (!g->figures[c])
			continue;
		g->waited |= g->figures[c]->run_delay.count != 0;
		if (sort && sort(g->figures[c]) > g->weight)
			g->weight = sort(g->figures[c]);
	}
}

int rs_cmp_make(unsigned int nr_columns, const struct resched_column *columns, const struct resched_report *self, const char *sort_key,
		struct rs_cmp *cmp, struct resched_error *err)
{
	const char **names = NULL;
	unsigned int nr = 0, max = 1;
	rs_sort_fn *sort;
	int rc = rs_sort_find(sort_key, &sort, err);

	if (rc < 0)
		return rc;

	memset(cmp, 0, sizeof(*cmp));
	cmp->nr_columns = nr_columns;
	cmp->columns = columns;
	cmp->self = self;
	for (unsigned int c = 0; c < nr_columns; c++)
		max += columns[c].report->nr_comms;
	cmp->labels = calloc(nr_columns + 1u, sizeof(*cmp->labels));
	cmp->groups = calloc(max, sizeof(*cmp->groups));
	cmp->figures = calloc((size_t)max * (nr_columns + 1u), sizeof(*cmp->figures));
	names = calloc(max, sizeof(*names));
	if (!cmp->labels || !cmp->groups || !cmp->figures || !names) {
		free(names);
		rs_cmp_release(cmp);
		return rs_error_nomem(err);
	}
	make_labels(cmp);
	for (unsigned int c = 0; c < nr_columns; c++) {
		for (unsigned int i = 0; i < columns[c].report->nr_comms; i++)
			names[nr++] = columns[c].report->comms[i].name;
	}
	qsort(names, nr, sizeof(*names), compare_texts);
	cmp->groups[cmp->nr_groups++] = (struct rs_cmp_group){ .name = "total", .is_total = true };
	for (unsigned int i = 0; i < nr; i++) {
		if (i == 0 || strcmp(names[i], names[i - 1]))
			cmp->groups[cmp->nr_groups++] = (struct rs_cmp_group){ .name = names[i] };
	}
	free(names);
	for (unsigned int i = 0; i < cmp->nr_groups; i++) {
		cmp->groups[i].figures = cmp->figures + (size_t)i * nr_columns;
		fill_group(cmp, &cmp->groups[i], sort);
	}
	qsort(cmp->groups, cmp->nr_groups, sizeof(*cmp->groups), by_weight);
	return 0;
}

void rs_cmp_release(struct rs_cmp *cmp)
{
	free(cmp->labels);
	free(cmp->groups);
	free(cmp->figures);
	memset(cmp, 0, sizeof(*cmp));
}

bool rs_cmp_known(const struct rs_cmp_group *g, const struct rs_figure *figure, unsigned int c)
{
	return g->figures[c] && (!figure->dist || figure->dist(g->figures[c])->count);
}

bool rs_cmp_diff(const struct rs_cmp_group *g, const struct rs_figure *figure, unsigned int c, double *ret)
{
	double base, value;

	if (!rs_cmp_known(g, figure, 0) || !rs_cmp_known(g, figure, c))
		return false;
	base = figure->value(g->figures[0]);
	value = figure->value(g->figures[c]);
	if (base == 0 && value != 0)
		return false;
	*ret = base == 0 ? 0 : 100.0 * (value - base) / base;
	return true;
}

/* By what two values of a figure differ, whichever is larger; false when one is nothing and the other is something. */
static bool apart(double a, double b, double *ret)
{
	if ((a <= 0) != (b <= 0))
		return false;
	*ret = a <= 0 ? 0 : 100.0 * ((a > b ? a / b : b / a) - 1);
	return true;
}

bool rs_cmp_error(const struct rs_cmp_group *g, const struct rs_figure *figure, double *ret)
{
	if (!g->self || !rs_cmp_known(g, figure, 0) || (figure->dist && !figure->dist(g->self)->count))
		return false;
	return apart(figure->value(g->figures[0]), figure->value(g->self), ret);
}

bool rs_cmp_within_error(const struct rs_cmp_group *g, const struct rs_figure *figure, unsigned int c)
{
	double error, diff;

	return c && rs_cmp_error(g, figure, &error) && rs_cmp_known(g, figure, c) &&
	       apart(figure->value(g->figures[0]), figure->value(g->figures[c]), &diff) && diff <= error;
}

static void put_row(struct rs_json *doc, struct json_object *rows, const struct rs_cmp *cmp, const struct rs_cmp_group *g,
		    const struct rs_figure *figure)
{
	struct json_object *o = rs_json_object(doc, rows, NULL), *values, *diffs;
	double error;

	rs_json_text(doc, o, "metric", figure->key);
	rs_json_text(doc, o, "group", g->name);
	rs_json_text(doc, o, "kind", g->is_total ? "total" : "comm");
	values = rs_json_array(doc, o, "values");
	diffs = rs_json_array(doc, o, "diff_percent");
	for (unsigned int c = 0; c < cmp->nr_columns; c++) {
		double value = g->figures[c] ? figure->value(g->figures[c]) : 0, diff;

		if (!rs_cmp_known(g, figure, c))
			rs_json_null(doc, values, NULL);
		else if (value == (double)(uint64_t)value)
			rs_json_u64(doc, values, NULL, (uint64_t)value);
		else
			rs_json_real(doc, values, NULL, value);
		if (rs_cmp_diff(g, figure, c, &diff))
			rs_json_real(doc, diffs, NULL, diff);
		else
			rs_json_null(doc, diffs, NULL);
	}
	if (!cmp->self)
		return;
	if (rs_cmp_error(g, figure, &error))
		rs_json_real(doc, o, "error_percent", error);
	else
		rs_json_null(doc, o, "error_percent");
}

int rs_compare_json(FILE *out, const struct resched_source *source, const struct rs_cmp *cmp, struct resched_error *err)
{
	struct json_object *list;
	struct rs_json doc;
	int rc;

	rs_json_init(&doc, "resched/compare/1");
	list = rs_json_object(&doc, doc.root, "source");
	if (source)
		rs_json_source(&doc, list, source);
	list = rs_json_array(&doc, doc.root, "columns");
	for (unsigned int c = 0; c < cmp->nr_columns; c++) {
		static const struct resched_schedule unknown = { .kind = "recorded" };

		rs_json_schedule(&doc, list, NULL, cmp->columns[c].schedule ? cmp->columns[c].schedule : &unknown);
	}
	list = rs_json_array(&doc, doc.root, "labels");
	for (unsigned int c = 0; c < cmp->nr_columns; c++)
		rs_json_text(&doc, list, NULL, cmp->labels[c]);
	list = rs_json_array(&doc, doc.root, "rows");
	for (unsigned int i = 0; i < cmp->nr_groups; i++) {
		for (unsigned int t = 0; t < RS_FIGURES_NR_TABLES; t++) {
			for (unsigned int k = 0; k < rs_figure_tables[t].nr; k++)
				put_row(&doc, list, cmp, &cmp->groups[i], &rs_figure_tables[t].figures[k]);
		}
	}
	rc = rs_json_print(&doc, out, err);
	rs_json_release(&doc);
	return rc;
}

static void csv_row(FILE *out, const struct rs_cmp *cmp, const struct rs_cmp_group *g, const struct rs_figure *figure)
{
	fprintf(out, "%s,", g->is_total ? "total" : "comm");
	rs_csv_field(out, g->is_total ? "" : g->name);
	fprintf(out, ",%s", figure->key);
	for (unsigned int c = 0; c < cmp->nr_columns; c++) {
		double diff, error;

		fputc(',', out);
		if (rs_cmp_known(g, figure, c))
			fprintf(out, "%.0f", figure->value(g->figures[c]));
		if (c == 0) {
			if (cmp->self)
		fputc(',', out);
			if (rs_cmp_error(g, figure, &error))
				fprintf(out, "%.2f", error);
			continue;
		}
		fputc(',', out);
		if (rs_cmp_diff(g, figure, c, &diff))
			fprintf(out, "%.2f", diff);
	}
	fputc('\n', out);
}

int rs_compare_csv(FILE *out, const struct rs_cmp *cmp, struct resched_error *err)
{
	fputs("kind,comm,metric", out);
	for (unsigned int c = 0; c < cmp->nr_columns; c++) {
		fputc(',', out);
		rs_csv_field(out, cmp->labels[c]);
		if (c)
			fprintf(out, ",%s diff %%", cmp->labels[c]);
		else if (cmp->self)
			fputs(",error %", out);
	}
	fputc('\n', out);
	for (unsigned int i = 0; i < cmp->nr_groups; i++) {
		for (unsigned int t = 0; t < RS_FIGURES_NR_TABLES; t++) {
			for (unsigned int k = 0; k < rs_figure_tables[t].nr; k++)
				csv_row(out, cmp, &cmp->groups[i], &rs_figure_tables[t].figures[k]);
		}
	}
	return rs_out_check(out, err);
}

int resched_print_compare(FILE *out, const struct resched_source *source, unsigned int nr_columns, const struct resched_column *columns,
			  const struct resched_print_options *opts, struct resched_error *err)
{
	struct rs_cmp cmp;
	int rc;

	rc = rs_cmp_make(nr_columns, columns, opts->self, opts->sort_key, &cmp, err);
	if (rc < 0)
		return rc;
	if (opts->format == RESCHED_JSON)
		rc = rs_compare_json(out, source, &cmp, err);
	else if (opts->format == RESCHED_CSV)
		rc = rs_compare_csv(out, &cmp, err);
	else
		rc = rs_compare_text(out, source, &cmp, opts, err);
	rs_cmp_release(&cmp);
	return rc;
}
