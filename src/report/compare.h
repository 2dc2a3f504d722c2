/* SPDX-License-Identifier: GPL-2.0-only */
/* The groups of a comparison - the total first, then every comm of any column - with their figures in each column. */
#ifndef RS_REPORT_COMPARE_H
#define RS_REPORT_COMPARE_H

#include <stdbool.h>
#include <resched/report.h>

#include "report/figures.h"

#define RS_LABEL_LEN 48

struct rs_cmp_group {
	const char *name;		/* "total" for the first; borrowed from a report otherwise */
	bool is_total;
	const struct resched_figures **figures;	/* a column each, NULL where the comm does not occur */
	const struct resched_figures *self; /* of a replay under the rules of the first column; NULL */
	bool waited;			/* in any column; the others come last */
	uint64_t weight;		/* largest sort figure of any column: groups are ordered by it */
};

struct rs_cmp {
	unsigned int nr_columns, nr_groups;
	const struct resched_column *columns;
	const struct resched_report *self; /* NULL: nothing is known of errors */
	char (*labels)[RS_LABEL_LEN];
	struct rs_cmp_group *groups;
	const struct resched_figures **figures;	/* room for all groups */
};

/* rs_cmp_make() - @columns and @self are borrowed; @sort_key as for rows.
 * Return: 0, @ret the caller's to rs_cmp_release(); -EINVAL (USAGE); -ENOMEM. */
int rs_cmp_make(unsigned int nr_columns, const struct resched_column *columns, const struct resched_report *self, const char *sort_key,
		struct rs_cmp *ret, struct resched_error *err);
void rs_cmp_release(struct rs_cmp *cmp);

/* rs_cmp_known() - whether column @c has the figure: its comm occurs there, and what is measured happened at least once. */
bool rs_cmp_known(const struct rs_cmp_group *group, const struct rs_figure *figure, unsigned int c);

/* rs_cmp_diff() - per cent that column @c differs from the first; false when there is no telling. */
bool rs_cmp_diff(const struct rs_cmp_group *group, const struct rs_figure *figure, unsigned int c, double *ret);

/* rs_cmp_error() - per cent that predictions of the figure err by, as a replay under the recorded rules does: the larger over the smaller,
 * minus one. False when there is no telling. */
bool rs_cmp_error(const struct rs_cmp_group *group, const struct rs_figure *figure, double *ret);
/* rs_cmp_within_error() - whether column @c differs from the first by no more than that. */
bool rs_cmp_within_error(const struct rs_cmp_group *group, const struct rs_figure *figure, unsigned int c);

int rs_compare_json(FILE *out, const struct resched_source *source, const struct rs_cmp *cmp, struct resched_error *err);
int rs_compare_csv(FILE *out, const struct rs_cmp *cmp, struct resched_error *err);
int rs_compare_text(FILE *out, const struct resched_source *source, const struct rs_cmp *cmp, const struct resched_print_options *opts,
		    struct resched_error *err);

#endif
