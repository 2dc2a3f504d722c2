// SPDX-License-Identifier: GPL-2.0-only
/*
 * The same wakeup in another schedule. Policies change when a task runs, not how much it runs between two sleeps: what it had run
 * when it was woken names a wakeup wherever it happens. Wakeups that came before their sleep in one of the two shift numbers, so
 * the number only decides between equals.
 */
#include "analysis/outliers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define SLACK_NS 20000u		/* demand is rebuilt to within switch costs, */
#define SLACK_PPM 2000u		/* which add up */

struct wanted { int32_t pid; uint32_t next; struct resched_outlier *o; uint64_t off_ns, ns, nr_off; bool found; };

struct mt_task { uint64_t demand_ns, since_ns, wake_nr, woken_ns, woken_demand_ns; bool running, queued; uint32_t first; };

struct resched_outlier_match {
	struct resched_outliers *outliers;
	char label[32];
	struct rs_map by_pid;		/* only tasks with something wanted */
	struct mt_task *tasks;
	struct wanted *wanted;
	uint32_t nr_tasks, nr_wanted;
	bool waking_seen;
};

int resched_outlier_match_new(struct resched_outliers *o, const char *label, struct resched_outlier_match **ret, struct resched_error *err)
{
	struct resched_outlier_match *m = calloc(1, sizeof(*m));

	if (m) {
		m->tasks = calloc(o->nr + 1u, sizeof(*m->tasks));
		m->wanted = calloc(o->nr + 1u, sizeof(*m->wanted));
	}
	if (!m || !m->tasks || !m->wanted)
		goto nomem;
	m->outliers = o;
	snprintf(m->label, sizeof(m->label), "%s", label);
	for (unsigned int i = 0; i < o->nr; i++) {
		struct resched_outlier *out = &o->heap[i];
		uint32_t row = rs_map_get(&m->by_pid, (uint32_t)out->pid);

		if (out->kind != RESCHED_WAIT_WAKE)
			continue;
		if (row == RS_MAP_NONE) {
			row = m->nr_tasks++;
			m->tasks[row].first = UINT32_MAX;
			if (rs_map_set(&m->by_pid, (uint32_t)out->pid, row) < 0)
				goto nomem;
		}
		m->wanted[m->nr_wanted] = (struct wanted){ .pid = out->pid, .next = m->tasks[row].first, .o = out };
		m->tasks[row].first = m->nr_wanted++;
	}
	*ret = m;
	return 0;
nomem:
	if (m) {
		free(m->tasks);
		free(m->wanted);
		rs_map_release(&m->by_pid);
	}
	free(m);
	return rs_error_nomem(err);
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* A wait has ended; is it one of those looked for? */
static void consider(struct resched_outlier_match *m, const struct mt_task *t, uint64_t now)
{
	for (uint32_t i = t->first; i != UINT32_MAX; i = m->wanted[i].next) {
		struct wanted *w = &m->wanted[i];
		uint64_t off = apart(t->woken_demand_ns, w->o->demand_ns), nr_off = apart(t->wake_nr, w->o->wake_nr);

		if (off > SLACK_NS + w->o->demand_ns / 1000000u * SLACK_PPM)
			continue;
		if (w->found && (off > w->off_ns || (off == w->off_ns && nr_off >= w->nr_off)))
			continue;
		w->found = true;
		w->off_ns = off;
		w->nr_off = nr_off;
		w->ns = now - t->woken_ns;
	}
}

static struct mt_task *task_of(struct resched_outlier_match *m, int32_t pid)
{
	uint32_t row = rs_map_get(&m->by_pid, (uint32_t)pid);

	return row == RS_MAP_NONE ? NULL : &m->tasks[row];
}

static void on_switch(struct resched_outlier_match *m, const struct resched_event *ev)
{
	struct mt_task *t = ev->pid ? task_of(m, ev->pid) : NULL;

	if (t) {
		if (t->running)
			t->demand_ns += ev->ts_ns - t->since_ns;
		t->running = false;
	}
	t = ev->sw.next_pid ? task_of(m, ev->sw.next_pid) : NULL;
	if (t) {
		if (t->queued)
			consider(m, t, ev->ts_ns);
		t->queued = false;
		t->running = true;
		t->since_ns = ev->ts_ns;
	}
}

int resched_outlier_match_event(void *match, const struct resched_event *ev)
{
	struct resched_outlier_match *m = match;
	struct mt_task *t;

	if (ev->type == RESCHED_EV_SWITCH) {
		on_switch(m, ev);
		return 0;
	}
	m->waking_seen |= ev->type == RESCHED_EV_WAKING;
	if (ev->type != RESCHED_EV_WAKING && ev->type != RESCHED_EV_WAKEUP_NEW && !(ev->type == RESCHED_EV_WAKEUP && !m->waking_seen))
		return 0;
	t = task_of(m, ev->pid);
	if (!t)
		return 0;
	if (!t->queued)
		t->wake_nr++;
	if (t->running || t->queued)
		return 0;
	t->queued = true;
	t->woken_ns = ev->ts_ns;
	t->woken_demand_ns = t->demand_ns;
	return 0;
}

void resched_outlier_match_finish(struct resched_outlier_match *m)
{
	if (!m)
		return;
	for (unsigned int i = 0; i < m->outliers->nr; i++) {
		struct resched_outlier *o = &m->outliers->heap[i];

		if (o->nr_under < RESCHED_MAX_UNDER) {
			memset(&o->under[o->nr_under], 0, sizeof(o->under[0]));
			memcpy(o->under[o->nr_under++].label, m->label, sizeof(m->label));
		}
	}
	for (uint32_t i = 0; i < m->nr_wanted; i++) {
		struct wanted *w = &m->wanted[i];

		if (w->found && w->o->nr_under) {
			w->o->under[w->o->nr_under - 1].found = 1;
			w->o->under[w->o->nr_under - 1].ns = w->ns;
		}
	}
	free(m->tasks);
	free(m->wanted);
	rs_map_release(&m->by_pid);
	free(m);
}
