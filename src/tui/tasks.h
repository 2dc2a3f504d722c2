/* SPDX-License-Identifier: GPL-2.0-only */
/* The rows behind the table of tasks: tasks_rows.c collects and sorts them, view_tasks.c shows them. */
#ifndef TUI_TASKS_H
#define TUI_TASKS_H

#include <resched/owner.h>
#include "tui/app.h"

enum group { BY_TASK = 0, BY_COMM, BY_CGROUP, BY_CONTAINER, GROUP_NR };
enum column { COL_NAME = 0, COL_PID, COL_CLASS, COL_NICE, COL_RUN, COL_DELAY, COL_P50, COL_P99, COL_MAX, COL_HIST, COL_SWITCHES, COL_PREEMPTED,
	      COL_BY, COL_MOVES, COL_NOW, COL_LAG, COL_MISSED, COL_SLICE, COL_DEADLINE, COL_CGROUP, COL_NR };

struct numbers { uint64_t run, delay, p50, p99, max, switches, preempted, moves; bool approx; /* percentiles are only known to a power of two */ };

struct row {
	char name[RESCHED_OWNER_LEN];
	const char *cgroup, *class_name;
	int pid, task, nice;		/* pid: of groups, how many tasks */
	const uint32_t *hist;		/* wakeup latencies; until the next event */
	struct numbers n, other;	/* other: as replayed, when both are shown */
	bool has_other;
	int by;				/* who preempted it most, 0 nobody */
	uint32_t by_times;
	bool has_lag;
	int64_t lag_min, lag_max;
	uint64_t missed;
};

/* What rows were made of: while it is the same, they are. */
struct rows_from { const void *sched, *report, *rep, *rep_report, *lag; uint64_t events; int order; char filter[64]; };

struct rows { struct row *rows; int nr, cap; enum column sort; bool invert; enum group group; uint32_t (*hists)[RESCHED_INDEX_BUCKETS];
	      struct rows_from from; };

/* rows_collect() - as the schedule in front has them now; those that match the filter, sorted. */
void rows_collect(struct app *app, struct rows *t);
void rows_release(struct rows *t);
/* rows_lag_now() - lag at the moment looked at. Return: whether there is one. */
bool rows_lag_now(struct app *app, int pid, int64_t *ret);

#endif
