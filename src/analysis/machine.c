// SPDX-License-Identifier: GPL-2.0-only
/* The state machine that pairs waits; <resched/analysis.h> has its rules. */
#include <resched/analysis.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/moves.h"
#include "analysis/state.h"
#include "base/error.h"

/*
 * A stream without sched_waking is measured from sched_wakeup, but that it has none is only known later. A stream that has it
 * shows one before its second wakeup or so; after this many wakeups, or events behind the first wakeup, there is none.
 */
#define MAX_HELD_WAKEUPS 1024u
#define MAX_HELD_EVENTS 65536u

static uint64_t since(uint64_t now, uint64_t then)
{
	return now > then ? now - then : 0;
}

static bool counting(const struct resched_analysis *an, uint64_t now)
{
	return now >= an->from_ns;
}

static bool cpu_selected(const struct resched_analysis *an, unsigned int cpu)
{
	return !an->cpus || rs_cpuset_has(an->cpus, cpu);
}

static struct an_task *row_new(struct resched_analysis *an, int32_t pid, uint32_t birth)
{
	const struct resched_host_task *known;
	struct an_task *t;

	if (an->nr_tasks == an->cap_tasks) {
		uint32_t cap = an->cap_tasks ? an->cap_tasks * 2 : 64;
		struct an_task *more = realloc(an->tasks, cap * sizeof(*more));

		if (!more)
			return NULL;
		an->tasks = more;
		an->cap_tasks = cap;
	}
	if (rs_map_set(&an->by_pid, (uint32_t)pid, an->nr_tasks) < 0)
		return NULL;
	t = &an->tasks[an->nr_tasks++];
	memset(t, 0, sizeof(*t));
	t->pid = pid;
	t->birth = birth;
	t->name = t->name_now = AN_NO_NAME;
	t->prio = AN_NO_PRIO;
	known = birth == 0 && an->opts.host ? resched_host_task(an->opts.host, pid) : NULL;
	if (known) {
		t->cgroup = known->cgroup;
		t->tgid = known->tgid;
	}
	return t;
}

struct an_task *an_row(struct resched_analysis *an, int32_t pid)
{
	uint32_t row = rs_map_get(&an->by_pid, (uint32_t)pid);

	return row != RS_MAP_NONE ? &an->tasks[row] : row_new(an, pid, 0);
}

/* Row of a task that is being made now: a pid that was used before belongs to somebody else. */
static struct an_task *row_born(struct resched_analysis *an, int32_t pid, bool surely_new)
{
	struct an_task *t = an_row(an, pid);

	if (!t || !(t->dead || t->exiting || (surely_new && t->seen)))
		return t;
	return row_new(an, pid, t->birth + 1);
}

static struct an_cpu *cpu_row_new(struct resched_analysis *an, unsigned int cpu)
{
	uint32_t nr = cpu + 1 < 8 ? 8 : cpu + 1;
	struct an_cpu *more = realloc(an->cpu, nr * sizeof(*more));

	if (!more)
		return NULL;
	memset(more + an->nr_cpus, 0, (nr - an->nr_cpus) * sizeof(*more));
	for (uint32_t i = an->nr_cpus; i < nr; i++)
		more[i].row = AN_NO_ROW;
	an->cpu = more;
	an->nr_cpus = nr;
	return &an->cpu[cpu];
}

static inline struct an_cpu *cpu_row(struct resched_analysis *an, unsigned int cpu)
{
	return cpu < an->nr_cpus ? &an->cpu[cpu] : cpu_row_new(an, cpu);
}

static void enter(struct an_task *t, enum an_state state, uint64_t now)
{
	t->state = (uint8_t)state;
	t->since_ns = now;
	t->pending = false;
	t->gap = false;
}

static void enqueue(struct an_task *t, enum an_kind kind, uint64_t now)
{
	enter(t, AN_QUEUED, now);
	t->kind = (uint8_t)kind;
}

static int shrink_all(struct resched_analysis *an)
{
	for (uint32_t i = 0; i < an->nr_tasks; i++) {
		for (unsigned int k = 0; k < AN_NR_KINDS; k++) {
			struct rs_samples *s = &an->tasks[i].waits[k];
			int rc = s->count >= AN_KEEP_EXACT ? rs_samples_to_hist(s) : 0;

			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

static int add_sample(struct resched_analysis *an, struct an_task *t, uint64_t ns, uint64_t now)
{
	struct rs_samples *s = &t->waits[t->kind];

	if (++an->nr_samples > an->exact_limit) {
		int rc = 0;

		if (!an->over)
			rc = shrink_all(an);
		else if (!s->hist && s->count >= AN_KEEP_EXACT)
			rc = rs_samples_to_hist(s);
		if (rc < 0)
			return rc;
		an->over = true;
	}
	if (ns > t->max_delay_ns || !t->max_delay_at_ns) {
		t->max_delay_ns = ns;
		t->max_delay_at_ns = now;
	}
	return rs_samples_add(s, ns);
}

/* Events of @cpu were lost after @then: what was true then may not hold any more. */
static bool gap_since(const struct resched_analysis *an, unsigned int cpu, uint64_t then)
{
	return cpu < an->nr_cpus && an->cpu[cpu].gap_end_ns > then;
}

/* A task that does not run is now on @cpu. */
static void move_task(const struct resched_analysis *an, struct an_task *t, uint16_t cpu)
{
	if (t->state == AN_QUEUED && cpu != t->cpu && gap_since(an, t->cpu, t->since_ns))
		t->gap = true;
	t->cpu = cpu;
}

/* A queued task is switched in on @cpu. */
static int end_wait(struct resched_analysis *an, struct an_task *t, unsigned int cpu, uint64_t now)
{
	bool gap;
	int rc = 0;

	if (!counting(an, now) || !cpu_selected(an, cpu))
		return 0;
	gap = t->gap || gap_since(an, t->cpu, t->since_ns) || gap_since(an, cpu, t->since_ns);
	for (unsigned int i = 0; i < an->nr_observers && t->since_ns >= an->from_ns && rc >= 0; i++)
		rc = an->observers[i].wait ? an->observers[i].wait(an->observers[i].ctx, t, cpu, now, !gap) : 0;
	if (rc < 0)
		return rc;
	if (t->since_ns < an->from_ns || gap) {
		t->unresolved++;
		return 0;
	}
	return add_sample(an, t, since(now, t->since_ns), now);
}

/* Time from @then to @now inside the window. */
static uint64_t clipped(const struct resched_analysis *an, uint64_t then, uint64_t now)
{
	return since(now, then > an->from_ns ? then : an->from_ns);
}

/* @there: it is the one that was switched to; else how long it ran here is not known. */
static void switch_out(struct resched_analysis *an, struct an_task *t, bool there, const struct resched_event *ev)
{
	uint64_t now = ev->ts_ns;
	bool runnable = resched_state_runnable(ev->sw.prev_state);
	bool raced = t->state == AN_RUNNING && t->pending;

	t->seen = true;
	t->name = t->name_now;
	t->prio = ev->sw.prev_prio;
	if (ev->ctx & RESCHED_CTX_OWN)
		t->own = true;
	if (counting(an, now) && cpu_selected(an, ev->cpu)) {
		if (runnable)
			t->involuntary++;
		else
			t->voluntary++;
		if (t->state == AN_RUNNING && there)
			t->runtime_ns += clipped(an, t->since_ns, now);
	}
	t->cpu = ev->cpu;
	if (runnable) {
		enqueue(t, AN_PREEMPTED, now);
		return;
	}
	if (ev->sw.prev_state & (RESCHED_STATE_X | RESCHED_STATE_Z))
		t->dead = true;
	if (raced)
		enqueue(t, AN_RACED, now);
	else
		enter(t, AN_SLEEPING, now);
}

static int switch_in(struct resched_analysis *an, struct an_task *t, const struct resched_event *ev)
{
	uint64_t now = ev->ts_ns;
	int rc = 0;

	t->seen = true;
	t->name = t->name_now;
	t->prio = ev->sw.next_prio;
	if (t->state == AN_QUEUED)
		rc = end_wait(an, t, ev->cpu, now);
	else if (counting(an, now) && cpu_selected(an, ev->cpu))
		t->unresolved++;	/* it waited, but nobody saw since when */
	t->cpu = ev->cpu;
	enter(t, AN_RUNNING, now);
	return rc;
}

static void charge_cpu(const struct resched_analysis *an, struct an_cpu *c, uint64_t now)
{
	uint64_t ns = clipped(an, c->since_ns, now);

	if (c->pid)
		c->busy_ns += ns;
	else
		c->idle_ns += ns;
}

static int on_switch(struct resched_analysis *an, const struct resched_event *ev)
{
	struct an_cpu *c = cpu_row(an, ev->cpu);
	uint32_t row = AN_NO_ROW;
	struct an_task *t;

	if (!c)
		return -ENOMEM;
	if (c->known && c->pid == ev->pid && counting(an, ev->ts_ns))
		charge_cpu(an, c, ev->ts_ns);
	if (ev->pid) {
		t = an_row(an, ev->pid);
		if (!t)
			return -ENOMEM;
		switch_out(an, t, c->known && c->pid == ev->pid, ev);
		c->switches += counting(an, ev->ts_ns);
	}
	if (ev->sw.next_pid) {
		int rc;

		t = an_row(an, ev->sw.next_pid);
		if (!t)
			return -ENOMEM;
		rc = switch_in(an, t, ev);
		if (rc < 0)
			return rc;
		row = (uint32_t)(t - an->tasks);
	}
	c->known = true;
	c->pid = ev->sw.next_pid;
	c->row = row;
	c->since_ns = ev->ts_ns;
	return 0;
}

static void name_if_new(struct an_task *t)
{
	if (t->name == AN_NO_NAME)
		t->name = t->name_now;
}

static int on_wake(struct resched_analysis *an, const struct resched_event *ev)
{
	struct an_task *t;

	if (!ev->pid)
		return 0;
	t = ev->type == RESCHED_EV_WAKEUP_NEW ? row_born(an, ev->pid, false) : an_row(an, ev->pid);
	if (!t)
		return -ENOMEM;
	t->seen = true;
	name_if_new(t);
	t->prio = ev->wake.prio;
	if (counting(an, ev->ts_ns) && cpu_selected(an, ev->wake.target_cpu))
		t->wakeups++;
	if (t->state == AN_RUNNING) {
		t->pending = true;
		return 0;
	}
	if (t->state == AN_QUEUED) {
		/* Two wakings with no switch between: ordinary when nothing was lost (the second one is no wait of its own);
		 * after a gap the task may well have run in it, and the first wait cannot be trusted. */
		if (an->last_gap_ns <= t->since_ns)
			return 0;
		t->unresolved += counting(an, ev->ts_ns) && cpu_selected(an, ev->wake.target_cpu);
	} else if (t->state == AN_SLEEPING && counting(an, ev->ts_ns) && an->last_gap_ns <= t->since_ns &&
		   cpu_selected(an, t->cpu)) {
		t->sleep_ns += clipped(an, t->since_ns, ev->ts_ns);
	}
	enqueue(t, AN_WAKE, ev->ts_ns);
	t->cpu = ev->wake.target_cpu;
	return 0;
}

/* The cpu a woken task was put on; a waking still names the one it slept on. */
static void on_placed(struct resched_analysis *an, const struct resched_event *ev)
{
	uint32_t row = rs_map_get(&an->by_pid, (uint32_t)ev->pid);

	if (row != RS_MAP_NONE && an->tasks[row].state == AN_QUEUED)
		move_task(an, &an->tasks[row], ev->wake.target_cpu);
}

static int count_wakeup(struct resched_analysis *an, const struct resched_event *ev)
{
	struct an_cpu *c;

	if (!ev->pid || !counting(an, ev->ts_ns))
		return 0;
	if (ev->type == RESCHED_EV_WAKING && an->wakeups_seen)
		return 0;
	if (ev->type == RESCHED_EV_WAKEUP && !an->wakeups_seen) {
		an->wakeups_seen = true;	/* from here on cpus are counted where tasks were put, not where they slept */
		for (uint32_t i = 0; i < an->nr_cpus; i++)
			an->cpu[i].wakeups = 0;
	}
	c = cpu_row(an, ev->wake.target_cpu);
	if (!c)
		return -ENOMEM;
	c->wakeups++;
	return 0;
}

static int on_migrate(struct resched_analysis *an, const struct resched_event *ev)
{
	struct an_cpu *from, *to;
	struct an_task *t;

	if (!ev->pid)
		return 0;
	t = an_row(an, ev->pid);
	/* both first: making one may move the other */
	if (!t || !cpu_row(an, ev->migrate.from_cpu) || !cpu_row(an, ev->migrate.to_cpu))
		return -ENOMEM;
	from = cpu_row(an, ev->migrate.from_cpu);
	to = cpu_row(an, ev->migrate.to_cpu);
	t->seen = true;
	name_if_new(t);
	if (t->state != AN_RUNNING)
		move_task(an, t, ev->migrate.to_cpu);
	if (!counting(an, ev->ts_ns))
		return 0;
	from->migrations_out++;
	to->migrations_in++;
	if (cpu_selected(an, ev->migrate.to_cpu))
		t->migrations++;
	return 0;
}

static int on_fork(struct resched_analysis *an, const struct resched_event *ev)
{
	uint32_t parent = rs_map_get(&an->by_pid, (uint32_t)ev->pid);
	struct an_task *child;

	if (!ev->fork.child_pid)
		return 0;
	child = row_born(an, ev->fork.child_pid, true);
	if (!child)
		return -ENOMEM;
	child->forked = true;
	child->tgid = 0;	/* a thread or a process: the event does not tell */
	child->cgroup = NULL;
	if (parent != RS_MAP_NONE) {
		child->cgroup = an->tasks[parent].cgroup;
		if (child->name_now == AN_NO_NAME)
			child->name_now = an->tasks[parent].name_now;
	} else if (an->opts.host) {
		const struct resched_host_task *known = resched_host_task(an->opts.host, ev->pid);

		child->cgroup = known ? known->cgroup : NULL;
	}
	return 0;
}

static int on_comm(struct resched_analysis *an, const struct resched_event *ev)
{
	struct an_task *t;

	if (!ev->pid)
		return 0;
	t = an_row(an, ev->pid);
	if (t && t->dead)
		t = row_new(an, ev->pid, t->birth + 1);
	if (!t)
		return -ENOMEM;
	t->name_now = ev->comm.name;
	return 0;
}

static void on_exiting(struct resched_analysis *an, const struct resched_event *ev)
{
	uint32_t row = rs_map_get(&an->by_pid, (uint32_t)ev->pid);

	if (row != RS_MAP_NONE && ev->pid)
		an->tasks[row].exiting = true;
}

/* What ran on the cpu is not known any more; waits that lie across the gap are found when they end. */
static int on_lost(struct resched_analysis *an, const struct resched_event *ev)
{
	struct an_cpu *c = cpu_row(an, ev->cpu);

	if (!c)
		return -ENOMEM;
	if (c->known && c->row != AN_NO_ROW) {
		struct an_task *t = &an->tasks[c->row];

		if (t->state == AN_RUNNING && t->cpu == ev->cpu)
			enter(t, AN_UNSEEN, ev->ts_ns);
	}
	c->known = false;
	c->row = AN_NO_ROW;
	c->gap_end_ns = ev->ts_ns;
	an->last_gap_ns = ev->ts_ns;
	return 0;
}

/* The window ends before the stream does: what runs now has run to its end; what waits stays unresolved. */
static void close_window(struct resched_analysis *an)
{
	an->closed = true;
	for (uint32_t i = 0; i < an->nr_cpus; i++) {
		if (an->cpu[i].known)
			charge_cpu(an, &an->cpu[i], an->to_ns);
	}
	for (uint32_t i = 0; i < an->nr_tasks; i++) {
		struct an_task *t = &an->tasks[i];

		/* one whose switch away was not recorded runs no more */
		if (t->state == AN_RUNNING && cpu_selected(an, t->cpu) && an->cpu[t->cpu].known && an->cpu[t->cpu].row == i)
			t->runtime_ns += clipped(an, t->since_ns, an->to_ns);
	}
}

static int take_sched(struct resched_analysis *an, const struct resched_event *ev)
{
	int rc;

	switch (ev->type) {
	case RESCHED_EV_SWITCH:
		return on_switch(an, ev);
	case RESCHED_EV_WAKING:
		rc = count_wakeup(an, ev);
		return rc < 0 || an->source != AN_SOURCE_WAKING ? rc : on_wake(an, ev);
	case RESCHED_EV_WAKEUP:
		rc = count_wakeup(an, ev);
		if (rc < 0 || an->source == AN_SOURCE_WAKEUP)
			return rc < 0 ? rc : on_wake(an, ev);
		on_placed(an, ev);
		return 0;
	case RESCHED_EV_WAKEUP_NEW:
		rc = count_wakeup(an, ev);
		return rc < 0 ? rc : on_wake(an, ev);
	case RESCHED_EV_MIGRATE:
		return on_migrate(an, ev);
	case RESCHED_EV_FORK:
		return on_fork(an, ev);
	case RESCHED_EV_EXIT:
		on_exiting(an, ev);
		return 0;
	case RESCHED_EV_LOST:
		return on_lost(an, ev);
	default:
		return 0;
	}
}

static int tell(const struct resched_analysis *an, const struct resched_event *ev, bool after)
{
	for (unsigned int i = 0; i < an->nr_observers; i++) {
		const struct an_observer *o = &an->observers[i];
		int (*fn)(void *, const struct resched_event *) = after ? o->after : o->event;
		int rc = fn ? fn(o->ctx, ev) : 0;

		if (rc < 0)
			return rc;
	}
	return 0;
}

static int take(struct resched_analysis *an, const struct resched_event *ev)
{
	struct an_cpu *c;
	int rc;

	if (ev->type == RESCHED_EV_COMM)
		return on_comm(an, ev);
	if (an->closed)
		return 0;
	if (ev->ts_ns > an->to_ns) {
		close_window(an);
		return 0;
	}
	c = cpu_row(an, ev->cpu);
	if (!c)
		return -ENOMEM;
	if (ev->type != RESCHED_EV_LOST)
		c->observed = true;
	if (ev->ts_ns >= an->from_ns) {
		if (!an->any)
			an->first_ns = ev->ts_ns;
		an->any = true;
		an->last_ns = ev->ts_ns;
	}
	rc = tell(an, ev, false);
	if (rc >= 0)
		rc = take_sched(an, ev);
	if (rc >= 0 && an->moves)
		rc = an_moves_event(an->moves, an, ev);
	return rc < 0 ? rc : tell(an, ev, true);
}

static int hold(struct resched_analysis *an, const struct resched_event *ev)
{
	if (an->nr_held == an->cap_held) {
		uint32_t cap = an->cap_held ? an->cap_held * 2 : 256;
		struct resched_event *more = realloc(an->held, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		an->held = more;
		an->cap_held = cap;
	}
	an->held[an->nr_held++] = *ev;
	an->held_wakeups += ev->type == RESCHED_EV_WAKEUP;
	if (an->held_wakeups >= MAX_HELD_WAKEUPS || an->nr_held >= MAX_HELD_EVENTS)
		return an_take_held(an, AN_SOURCE_WAKEUP);
	return 0;
}

int an_take_held(struct resched_analysis *an, enum an_source source)
{
	int rc = 0;

	an->source = source;
	for (uint32_t i = 0; i < an->nr_held && rc >= 0; i++)
		rc = take(an, &an->held[i]);
	free(an->held);
	an->held = NULL;
	an->nr_held = an->cap_held = 0;
	return rc < 0 ? rc : 0;
}

int resched_analysis_event(void *analysis, const struct resched_event *event)
{
	struct resched_analysis *an = analysis;

	if (__builtin_expect(an->source == AN_SOURCE_UNDECIDED, 0)) {
		if (event->type == RESCHED_EV_WAKING) {
			int rc = an_take_held(an, AN_SOURCE_WAKING);

			if (rc < 0)
				return rc;
		} else if (an->nr_held || event->type == RESCHED_EV_WAKEUP) {
			return hold(an, event);
		}
	}
	return take(an, event);
}

void resched_analysis_lag(struct resched_analysis *an, int pid, int64_t lag_ns, int deadline_missed)
{
	uint32_t row = rs_map_get(&an->by_pid, (uint32_t)pid);
	struct an_task *t;

	if (row == RS_MAP_NONE || pid == 0)
		return;
	t = &an->tasks[row];
	if (!t->has_lag || lag_ns < t->lag_min_ns)
		t->lag_min_ns = lag_ns;
	if (!t->has_lag || lag_ns > t->lag_max_ns)
		t->lag_max_ns = lag_ns;
	t->has_lag = true;
	t->deadline_misses += deadline_missed != 0;
	for (unsigned int i = 0; i < an->nr_observers; i++) {
		if (an->observers[i].lag)
			an->observers[i].lag(an->observers[i].ctx, pid, lag_ns, deadline_missed);
	}
}

int an_observe(struct resched_analysis *an, const struct an_observer *observer)
{
	if (an->nr_observers == AN_MAX_OBSERVERS)
		return -ENOSPC;
	an->observers[an->nr_observers++] = *observer;
	return 0;
}

void resched_analysis_window(struct resched_analysis *an, uint64_t from_ns, uint64_t to_ns)
{
	an->from_ns = from_ns;
	an->to_ns = to_ns ? to_ns : UINT64_MAX;
}

void rs_analysis_set_exact_limit(struct resched_analysis *an, uint64_t limit)
{
	an->exact_limit = limit;
}

static int copy_text(const char *text, const char **ret)
{
	*ret = text && *text ? strdup(text) : NULL;
	return text && *text && !*ret ? -ENOMEM : 0;
}

static int copy_pids(unsigned int nr, const int *pids, unsigned int *ret_nr, const int **ret)
{
	int *copy = nr ? malloc(nr * sizeof(*copy)) : NULL;

	*ret = copy;
	*ret_nr = copy ? nr : 0;
	if (nr && !copy)
		return -ENOMEM;
	if (nr)
		memcpy(copy, pids, nr * sizeof(*copy));
	return 0;
}

/* The selection is kept until finish, so the caller's texts need not be. */
static int copy_selection(struct resched_analysis *an, const struct resched_analysis_options *opts, struct resched_error *err)
{
	an->opts.comm_glob = an->opts.cgroup_glob = an->opts.cpus = NULL;
	an->opts.pids = an->opts.own = NULL;
	an->opts.nr_pids = an->opts.nr_own = 0;
	if (copy_text(opts->comm_glob, &an->opts.comm_glob) < 0 || copy_text(opts->cgroup_glob, &an->opts.cgroup_glob) < 0 ||
	    copy_pids(opts->nr_pids, opts->pids, &an->opts.nr_pids, &an->opts.pids) < 0 ||
	    copy_pids(opts->nr_own, opts->own, &an->opts.nr_own, &an->opts.own) < 0)
		return rs_error_nomem(err);
	if (opts->cpus && *opts->cpus) {
		an->cpus = malloc(sizeof(*an->cpus));
		if (!an->cpus)
			return rs_error_nomem(err);
		if (rs_cpulist_parse(opts->cpus, an->cpus) < 0)
			return rs_error_set(err, RESCHED_USAGE, -EINVAL, "'%s' is not a list of cpus; write it as 0-3,8", opts->cpus);
	}
	return 0;
}

int resched_analysis_new(const struct resched_analysis_options *opts, struct resched_analysis **ret, struct resched_error *err)
{
	static const struct resched_analysis_options none;
	struct resched_analysis *an = calloc(1, sizeof(*an));
	int rc;

	if (!an)
		return rs_error_nomem(err);
	if (!opts)
		opts = &none;
	an->opts = *opts;
	an->exact_limit = RESCHED_EXACT_SAMPLES;
	resched_analysis_window(an, opts->from_ns, opts->to_ns);
	rc = copy_selection(an, opts, err);
	if (rc == 0 && opts->moves) {
		an->moves = an_moves_new(opts->machine ? opts->machine : opts->host);
		rc = an->moves ? 0 : rs_error_nomem(err);
	}
	if (rc < 0) {
		resched_analysis_free(an);
		return rc;
	}
	*ret = an;
	return 0;
}

void resched_analysis_free(struct resched_analysis *an)
{
	if (!an)
		return;
	for (uint32_t i = 0; i < an->nr_tasks; i++) {
		for (unsigned int k = 0; k < AN_NR_KINDS; k++)
			rs_samples_release(&an->tasks[i].waits[k]);
	}
	an_moves_free(an->moves);
	free(an->tasks);
	free(an->cpu);
	free(an->held);
	free(an->cpus);
	free((char *)an->opts.comm_glob);
	free((char *)an->opts.cgroup_glob);
	free((int *)an->opts.pids);
	free((int *)an->opts.own);
	rs_map_release(&an->by_pid);
	free(an);
}
