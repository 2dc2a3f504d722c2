// SPDX-License-Identifier: GPL-2.0-only
/* Rows of the table of tasks, from the report when there is one and from the index while the recording is still read. */
#include "tui/tasks.h"

#include <stdlib.h>
#include <string.h>

static struct row *add_row(struct rows *t)
{
	if (t->nr == t->cap) {
		int cap = t->cap ? t->cap * 2 : 256;
		struct row *more = realloc(t->rows, (size_t)cap * sizeof(*more));

		if (!more)
			return NULL;
		t->rows = more;
		t->cap = cap;
	}
	memset(&t->rows[t->nr], 0, sizeof(t->rows[0]));
	return &t->rows[t->nr++];
}

void rows_release(struct rows *t)
{
	free(t->rows);
	free(t->hists);
	t->hists = NULL;
	t->rows = NULL;
	t->nr = t->cap = 0;
}

/* The upper edge of the bucket in which a percentile lies. */
static uint64_t percentile(const uint32_t *hist, unsigned int percent)
{
	uint64_t all = 0, seen = 0;

	for (unsigned int i = 0; i < RESCHED_INDEX_BUCKETS; i++)
		all += hist[i];
	for (unsigned int i = 0; all && i < RESCHED_INDEX_BUCKETS; i++) {
		seen += hist[i];
		if (seen * 100 >= all * percent)
			return 1ull << (i + 10);
	}
	return 0;
}

static struct numbers from_figures(const struct resched_figures *f)
{
	return (struct numbers){ f->runtime_ns, f->runnable_wait_ns, f->wakeup_latency.p50, f->wakeup_latency.p99, f->wakeup_latency.max,
				 f->switches, f->involuntary, f->migrations, false };
}

static struct numbers from_index(const struct resched_index_task *t)
{
	return (struct numbers){ t->runtime_ns, t->wait_ns, percentile(t->latency, 50), percentile(t->latency, 99), t->max_wake_ns, t->switches,
				 t->involuntary, t->migrations, true };
}

/* Lag of the recorded schedule is that of its model, when there is one already. */
static const struct sched *lag_of(const struct sched *s)
{
	const struct sched *model = s->parent ? s : s->model;

	return !model || !model->index || (!s->parent && atomic_load(&model->state) != SCHED_READY) ? NULL : model;
}

static void add_lag(const struct sched *s, struct row *r)
{
	const struct sched *model = lag_of(s);
	int task = model ? resched_index_find_pid(model->index, r->pid) : RESCHED_NO_TASK;
	const struct resched_index_task *t = task >= 0 ? resched_index_task(model->index, (unsigned int)task) : NULL;

	if (!t || !t->has_lag)
		return;
	r->has_lag = true;
	r->lag_min = t->lag_min_ns;
	r->lag_max = t->lag_max_ns;
	r->missed = t->deadline_misses;
}

bool rows_lag_now(struct app *app, int pid, int64_t *ret)
{
	const struct sched *model = lag_of(app_sched(app));
	int task = model ? resched_index_find_pid(model->index, pid) : RESCHED_NO_TASK;
	struct resched_lag_sample s;

	if (task < 0 || !resched_index_lag(model->index, task, resched_index_lag_find(model->index, task, app->at_ns), &s) || s.at_ns > app->at_ns)
		return false;
	*ret = s.lag_ns;
	return true;
}

static const char *class_by_prio(int prio)
{
	return prio == -32768 ? "?" : prio < 0 ? "dl" : prio < 100 ? "rt" : "fair";
}

/* Its most frequent preemptor. */
static void add_by(const struct resched_index_task *t, struct row *r)
{
	for (unsigned int i = 0; i < RESCHED_INDEX_BY; i++) {
		if (t->by[i].times > r->by_times) {
			r->by_times = t->by[i].times;
			r->by = t->by[i].pid;
		}
	}
}

/* The same task, or the nearest there is, in the other schedule. */
static void add_other(const struct sched *rep, const struct resched_index_task *it, struct row *r)
{
	const struct resched_task_row *known = rep && rep->report ? sched_row(rep, it) : NULL;

	r->has_other = known != NULL;
	if (known)
		r->other = from_figures(&known->f);
}

static bool matches(const struct app *app, const struct row *r)
{
	return !*app->filter || app_matches(r->name, app->filter) || app_matches(r->cgroup, app->filter);
}

static bool task_row(struct app *app, struct sched *s, unsigned int i, struct row *r)
{
	const struct resched_index_task *it = resched_index_task(s->index, i);
	const struct resched_task_row *known = sched_row(s, it);

	if (!it->pid || (s->report && !known))	/* nothing to show, as in the report */
		return false;
	memset(r, 0, sizeof(*r));
	if (known)
		snprintf(r->name, sizeof(r->name), "%s", known->comm);
	else
		resched_index_name(s->index, (int)i, r->name, sizeof(r->name));
	r->pid = it->pid;
	r->task = (int)i;
	r->nice = it->prio >= 100 ? it->prio - 120 : it->prio == -32768 ? 0 : it->prio;
	r->class_name = known && strcmp(known->class_name, "?") ? known->class_name : class_by_prio(it->prio);
	r->hist = it->latency;
	r->cgroup = resched_index_cgroup(s->index, (int)i);
	r->n = known ? from_figures(&known->f) : from_index(it);
	add_by(it, r);
	return matches(app, r);
}

static void collect_tasks(struct app *app, struct rows *t)
{
	struct sched *rec = NULL, *rep = NULL, *s = app_pair(app, &rec, &rep) ? rec : app_sched(app);
	struct row one;

	for (unsigned int i = 0; i < resched_index_tasks(s->index); i++) {
		struct row *r;

		if (!task_row(app, s, i, &one))
			continue;
		add_lag(s, &one);
		add_other(rep, resched_index_task(s->index, i), &one);
		r = add_row(t);
		if (!r)
			return;
		*r = one;
	}
}

/* ---- groups ---- */

/* As the report has it. */
static void container_name(const char *cgroup, char *buf, size_t size)
{
	struct resched_owner owner;

	resched_owner_of(cgroup, &owner);
	snprintf(buf, size, "%s", !cgroup ? "-" : *owner.container ? owner.container : "host");
}

static void group_name(const struct rows *t, const struct row *r, char *buf, size_t size)
{
	if (t->group == BY_COMM)
		snprintf(buf, size, "%s", r->name);
	else if (t->group == BY_CGROUP)
		snprintf(buf, size, "%s", r->cgroup ? r->cgroup : "-");
	else
		container_name(r->cgroup, buf, size);
}

static int by_name(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;
	int order = strcmp(a->name, b->name);

	return order ? order : (a->pid > b->pid) - (a->pid < b->pid);
}

static void sum(struct numbers *to, const struct numbers *from)
{
	to->run += from->run;
	to->delay += from->delay;
	to->max = from->max > to->max ? from->max : to->max;
	to->switches += from->switches;
	to->preempted += from->preempted;
	to->moves += from->moves;
}

/* Sums over tasks; percentiles by the histogram. For what the report does not have: containers, and all while it is not there. */
static void sum_groups(struct app *app, struct rows *t)
{
	int nr = 0;

	collect_tasks(app, t);
	for (int i = 0; i < t->nr; i++) {
		char name[sizeof(t->rows[i].name)];

		group_name(t, &t->rows[i], name, sizeof(name));
		memcpy(t->rows[i].name, name, sizeof(name));
	}
	if (t->nr)
		qsort(t->rows, (size_t)t->nr, sizeof(*t->rows), by_name);
	free(t->hists);
	t->hists = calloc((size_t)t->nr + 1, sizeof(*t->hists));
	if (!t->hists)
		t->nr = 0;
	for (int i = 0; i < t->nr; i++) {
		struct row r = t->rows[i];

		if (nr && !strcmp(t->rows[nr - 1].name, r.name)) {
			struct row *g = &t->rows[nr - 1];

			g->pid++;
			sum(&g->n, &r.n);
			for (unsigned int b = 0; b < RESCHED_INDEX_BUCKETS; b++)
				t->hists[nr - 1][b] += r.hist[b];
		} else {
			memcpy(t->hists[nr], r.hist, sizeof(t->hists[nr]));
			r.hist = t->hists[nr];
			r.pid = 1;
			r.task = RESCHED_NO_TASK;
			r.by = 0;
			r.has_lag = r.has_other = false;
			r.n.approx = true;
			t->rows[nr++] = r;
		}
	}
	t->nr = nr;
	for (int i = 0; i < nr; i++) {
		t->rows[i].n.p50 = percentile(t->rows[i].hist, 50);
		t->rows[i].n.p99 = percentile(t->rows[i].hist, 99);
	}
}

static const struct resched_group_row *group_of(const struct resched_report *rep, enum group group, const char *name)
{
	unsigned int nr = !rep ? 0 : group == BY_COMM ? rep->nr_comms : rep->nr_cgroups;
	const struct resched_group_row *rows = !rep ? NULL : group == BY_COMM ? rep->comms : rep->cgroups;

	for (unsigned int i = 0; i < nr; i++) {
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	}
	return NULL;
}

static void collect_groups(struct app *app, struct rows *t)
{
	struct sched *rec = NULL, *rep = NULL, *s = app_pair(app, &rec, &rep) ? rec : app_sched(app);
	const struct resched_report *report = s->report;
	unsigned int nr = t->group == BY_COMM ? report->nr_comms : report->nr_cgroups;

	for (unsigned int i = 0; i < nr; i++) {
		const struct resched_group_row *g = t->group == BY_COMM ? &report->comms[i] : &report->cgroups[i], *other;
		struct row *r;

		if (*app->filter && !app_matches(g->name, app->filter))
			continue;
		r = add_row(t);
		if (!r)
			return;
		snprintf(r->name, sizeof(r->name), "%s", g->name);
		r->cgroup = t->group == BY_CGROUP ? g->name : NULL;
		r->pid = (int)g->tasks;
		r->task = RESCHED_NO_TASK;
		r->n = from_figures(&g->f);
		other = rep ? group_of(rep->report, t->group, g->name) : NULL;
		r->has_other = other != NULL;
		if (other)
			r->other = from_figures(&other->f);
	}
}

/* ---- order ---- */

static int compare_by(const struct row *a, const struct row *b, enum column sort)
{
	int64_t la = a->lag_max > -a->lag_min ? a->lag_max : -a->lag_min, lb = b->lag_max > -b->lag_min ? b->lag_max : -b->lag_min;

#define MORE(field) ((a->field < b->field) - (a->field > b->field))
	switch (sort) {
	case COL_NAME: return strcmp(a->name, b->name);
	case COL_PID: return -MORE(pid);
	case COL_CLASS: return strcmp(a->class_name ? a->class_name : "", b->class_name ? b->class_name : "");
	case COL_NICE: return -MORE(nice);
	case COL_RUN: return MORE(n.run);
	case COL_P50: return MORE(n.p50);
	case COL_P99: return MORE(n.p99);
	case COL_MAX: return MORE(n.max);
	case COL_SWITCHES: return MORE(n.switches);
	case COL_PREEMPTED: return MORE(n.preempted);
	case COL_BY: return MORE(by_times);
	case COL_MOVES: return MORE(n.moves);
	case COL_NOW: case COL_LAG: case COL_SLICE: case COL_DEADLINE: return (la < lb) - (la > lb);
	case COL_MISSED: return MORE(missed);
	case COL_CGROUP: return strcmp(a->cgroup ? a->cgroup : "", b->cgroup ? b->cgroup : "");
	default: return MORE(n.delay);
	}
#undef MORE
}

static int compare(const void *pa, const void *pb, void *ctx)
{
	const struct rows *t = ctx;
	const struct row *a = pa, *b = pb;
	int order = compare_by(a, b, t->sort);

	if (order)
		return t->invert ? -order : order;
	return a->pid != b->pid ? (a->pid > b->pid) - (a->pid < b->pid) : a->task != b->task ? (a->task > b->task) - (a->task < b->task) :
	       strcmp(a->name, b->name);
}

/* Return: whether something is not as it was. */
static bool is_new(struct app *app, struct rows *t)
{
	struct sched *rec = NULL, *rep = NULL, *s = app_sched(app);
	struct rows_from now, *was = &t->from;

	app_pair(app, &rec, &rep);
	now = (struct rows_from){ .sched = s, .report = s->report, .rep = rep, .rep_report = rep ? rep->report : NULL, .lag = lag_of(s),
				  .events = resched_index_events(s->index), .order = (int)t->sort * 16 + (int)t->group * 2 + t->invert };
	snprintf(now.filter, sizeof(now.filter), "%s", app->filter);
	if (t->cap && now.sched == was->sched && now.report == was->report && now.rep == was->rep && now.rep_report == was->rep_report &&
	    now.lag == was->lag && now.events == was->events && now.order == was->order && !strcmp(now.filter, was->filter))
		return false;
	t->from = now;
	return true;
}

void rows_collect(struct app *app, struct rows *t)
{
	if (t->sort == COL_NAME && !t->cap)
		t->sort = COL_DELAY;	/* the first time */
	if (!is_new(app, t))
		return;
	t->nr = 0;
	if (t->group == BY_TASK)
		collect_tasks(app, t);
	else if (t->group == BY_CONTAINER || !app_sched(app)->report)
		sum_groups(app, t);
	else
		collect_groups(app, t);
	if (t->nr)
		qsort_r(t->rows, (size_t)t->nr, sizeof(*t->rows), compare, t);
}
