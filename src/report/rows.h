/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rows of a report whatever they stand for, and their order. Tables and CSV read rows through this, so that sorting, cutting
 * and naming are written once.
 */
#ifndef RS_REPORT_ROWS_H
#define RS_REPORT_ROWS_H

#include <resched/report.h>

struct rs_row {
	const char *name;			/* comm or cgroup path */
	const struct resched_task_row *task;	/* NULL for groups */
	unsigned int tasks;			/* 1 for a task */
	const struct resched_figures *f;
};

struct rs_rows { unsigned int nr; struct rs_row *rows; };

/* rs_rows_make() - rows of @group (not RESCHED_BY_CPU), largest first by @sort_key (NULL = "delay"), names ascending.
 * Return: 0, @ret the caller's to rs_rows_release(); -EINVAL (USAGE); -ENOMEM. */
int rs_rows_make(const struct resched_report *report, enum resched_group group, const char *sort_key, struct rs_rows *ret,
		 struct resched_error *err);
/* rs_rows_title() - what the rows of @group are: "comm", "cgroup". */
const char *rs_rows_title(enum resched_group group);
void rs_rows_release(struct rs_rows *rows);

typedef uint64_t rs_sort_fn(const struct resched_figures *f);
/* rs_sort_find() - the number that @key sorts by, NULL in *@ret for keys that sort by name. @key NULL = "delay".
 * Return: 0; -EINVAL (USAGE). */
int rs_sort_find(const char *key, rs_sort_fn **ret, struct resched_error *err);

#endif
