/* SPDX-License-Identifier: GPL-2.0-only */
/* Many what-ifs as one table: the totals of finished reports, a row each (resched/sweep/1 as JSON). */
#ifndef RESCHED_SWEEP_H
#define RESCHED_SWEEP_H

#include <stdio.h>
#include <resched/analysis.h>
#include <resched/error.h>
#include <resched/report.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * resched_sweep_totals() - the totals of a file with a report as JSON (resched/report/1), as `resched replay --json` writes it.
 * Times as they stand there, the means rounded; samples and deadlines that it lacks are 0.
 * Return: 0; -errno of the open; -EBADMSG: it is none, or is not whole.
 */
int resched_sweep_totals(const char *path, struct resched_figures *ret, struct resched_error *err);

/* One what-if. Borrowed. */
struct resched_sweep_row {
	const char *file;
	const char *const *values;		/* one for each key */
	const struct resched_figures *totals;	/* NULL: it failed */
	const char *failure;			/* why, one line */
};

/* resched_print_sweep() - @file_names: 1: say of which file each row is. Return: as the functions of <resched/report.h>. */
int resched_print_sweep(FILE *out, unsigned int nr_keys, const char *const *keys, unsigned int nr_rows, const struct resched_sweep_row *rows,
			int file_names, const struct resched_print_options *opts, struct resched_error *err);

#ifdef __cplusplus
}
#endif
#endif
