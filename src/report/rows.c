// SPDX-License-Identifier: GPL-2.0-only
#include "report/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum sort_kind { SORT_NUMBER, SORT_NAME, SORT_PID };

struct sort_key {
	const char *name;
	enum sort_kind kind;
	rs_sort_fn *number;
};

#define NUMBER(word, expression)                                         \
	static uint64_t number_##word(const struct resched_figures *f) \
	{                                                                \
		return (uint64_t)(expression);                           \
	}
NUMBER(delay, f->runnable_wait_ns)
NUMBER(runtime, f->runtime_ns)
NUMBER(switches, f->switches)
NUMBER(voluntary, f->voluntary)
NUMBER(involuntary, f->involuntary)
NUMBER(wakeups, f->wakeups)
NUMBER(migrations, f->migrations)
NUMBER(unresolved, f->unresolved)
NUMBER(avg, f->run_delay.mean)
NUMBER(mean, f->wakeup_latency.mean)
NUMBER(p50, f->wakeup_latency.p50)
NUMBER(p90, f->wakeup_latency.p90)
NUMBER(p99, f->wakeup_latency.p99)
NUMBER(p999, f->wakeup_latency.p999)
NUMBER(max, f->run_delay.max)

#define BY(word) { #word, SORT_NUMBER, number_##word }
static const struct sort_key sort_keys[] = {
	BY(delay), BY(runtime), BY(switches), BY(voluntary), BY(involuntary), BY(wakeups), BY(migrations), BY(unresolved),
	BY(avg), BY(mean), BY(p50), BY(p90), BY(p99), BY(p999), BY(max),
	{ "name", SORT_NAME, NULL }, { "pid", SORT_PID, NULL },
};

static const struct sort_key *find_key(const char *name, struct resched_error *err)
{
	for (size_t i = 0; i < sizeof(sort_keys) / sizeof(sort_keys[0]); i++) {
		if (!strcmp(sort_keys[i].name, name))
			return &sort_keys[i];
	}
	rs_error_set(err, RESCHED_USAGE, -EINVAL,
		     "there is no sort key '%s'; known are delay, runtime, switches, voluntary, involuntary, wakeups, migrations, "
		     "unresolved, avg, mean, p50, p90, p99, p999, max, name, pid", name);
	return NULL;
}

int rs_sort_find(const char *name, rs_sort_fn **ret, struct resched_error *err)
{
	const struct sort_key *key = find_key(name ? name : "delay", err);

	if (!key)
		return -EINVAL;
	*ret = key->number;
	return 0;
}

static int compare_names(const struct rs_row *a, const struct rs_row *b)
{
	int order = strcmp(a->name, b->name);

	if (order || !a->task)
		return order;
	if (a->task->pid != b->task->pid)
		return a->task->pid < b->task->pid ? -1 : 1;
	return a->task->birth < b->task->birth ? -1 : a->task->birth > b->task->birth;
}

static int compare_rows(const void *a, const void *b, void *ctx)
{
	const struct rs_row *x = a, *y = b;
	const struct sort_key *key = ctx;

	if (key->kind == SORT_NUMBER) {
		uint64_t m = key->number(x->f), n = key->number(y->f);

		if (m != n)
			return m > n ? -1 : 1;
	}
	if (key->kind == SORT_PID && x->task && x->task->pid != y->task->pid)
		return x->task->pid < y->task->pid ? -1 : 1;
	return compare_names(x, y);
}

const char *rs_rows_title(enum resched_group group)
{
	static const char *const titles[] = {
		[RESCHED_BY_COMM] = "comm", [RESCHED_BY_TASK] = "task", [RESCHED_BY_CPU] = "cpu", [RESCHED_BY_CGROUP] = "cgroup",
		[RESCHED_BY_CONTAINER] = "container", [RESCHED_BY_UNIT] = "unit",
	};

	return titles[group];
}

static const struct resched_group_row *groups_of(const struct resched_report *report, enum resched_group group, unsigned int *ret_nr)
{
	switch (group) {
	case RESCHED_BY_CGROUP: *ret_nr = report->nr_cgroups; return report->cgroups;
	case RESCHED_BY_CONTAINER: *ret_nr = report->nr_containers; return report->containers;
	case RESCHED_BY_UNIT: *ret_nr = report->nr_units; return report->units;
	default: *ret_nr = report->nr_comms; return report->comms;
	}
}

int rs_rows_make(const struct resched_report *report, enum resched_group group, const char *sort_key, struct rs_rows *ret,
		 struct resched_error *err)
{
	const struct sort_key *key = find_key(sort_key ? sort_key : "delay", err);
	unsigned int nr;
	const struct resched_group_row *groups = groups_of(report, group, &nr);

	if (!key)
		return -EINVAL;
	if (group == RESCHED_BY_TASK)
		nr = report->nr_tasks;
	ret->nr = nr;
	ret->rows = calloc(nr + 1u, sizeof(*ret->rows));
	if (!ret->rows)
		return rs_error_nomem(err);
	for (unsigned int i = 0; i < nr; i++) {
		if (group == RESCHED_BY_TASK)
			ret->rows[i] = (struct rs_row){ report->tasks[i].comm, &report->tasks[i], 1, &report->tasks[i].f };
		else
			ret->rows[i] = (struct rs_row){ groups[i].name, NULL, groups[i].tasks, &groups[i].f };
	}
	qsort_r(ret->rows, nr, sizeof(*ret->rows), compare_rows, (void *)key);
	return 0;
}

void rs_rows_release(struct rs_rows *rows)
{
	free(rows->rows);
	memset(rows, 0, sizeof(*rows));
}
