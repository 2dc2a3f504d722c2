// SPDX-License-Identifier: GPL-2.0-only
/* Filling the index: after every event, what the analysis now thinks of the tasks it was about. */
#include "analysis/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Room for one more of @size bytes; grows by half, which wastes less than doubling. */
static int room(void **items, uint64_t nr, uint64_t *cap, size_t size)
{
	uint64_t more;
	void *grown;

	if (nr < *cap)
		return 0;
	more = *cap < 16 ? 16 : *cap + *cap / 2;
	if (more > SIZE_MAX / size)
		return -ENOMEM;
	grown = realloc(*items, (size_t)more * size);
	if (!grown)
		return -ENOMEM;
	*items = grown;
	*cap = more;
	return 0;
}

static int push_word(struct ix_words *w, uint64_t word)
{
	int rc = room((void **)&w->at, w->nr, &w->cap, sizeof(*w->at));

	if (rc == 0)
		w->at[w->nr++] = word;
	return rc;
}

static struct ix_cpu *cpu_of(struct resched_index *ix, unsigned int cpu)
{
	if (cpu >= ix->nr_cpus) {
		uint32_t nr = cpu + 1;
		struct ix_cpu *more = realloc(ix->cpus, nr * sizeof(*more));

		if (!more)
			return NULL;
		memset(more + ix->nr_cpus, 0, (nr - ix->nr_cpus) * sizeof(*more));
		ix->cpus = more;
		ix->nr_cpus = nr;
	}
	return &ix->cpus[cpu];
}

static struct ix_task *task_at(struct resched_index *ix, uint32_t row)
{
	if (row >= ix->cap_tasks) {
		uint32_t cap = row < 64 ? 64 : row + row / 2;
		struct ix_task *more = realloc(ix->tasks, cap * sizeof(*more));

		if (!more)
			return NULL;
		ix->tasks = more;
		ix->cap_tasks = cap;
	}
	for (; ix->nr_tasks <= row; ix->nr_tasks++) {
		memset(&ix->tasks[ix->nr_tasks], 0, sizeof(ix->tasks[0]));
		ix->tasks[ix->nr_tasks].figures.prio = AN_NO_PRIO;
	}
	return &ix->tasks[row];
}

static uint64_t since_first(const struct resched_index *ix, uint64_t now)
{
	uint64_t at = now > ix->first_ns ? now - ix->first_ns : 0;

	return at > IX_MAX_AT ? IX_MAX_AT : at;
}

static enum resched_span_state span_state(const struct an_task *t)
{
	if (t->state == AN_QUEUED)
		return t->kind == AN_PREEMPTED ? RESCHED_SPAN_PREEMPTED : RESCHED_SPAN_WOKEN;
	return t->state == AN_RUNNING ? RESCHED_SPAN_RUNNING : t->state == AN_SLEEPING ? RESCHED_SPAN_SLEEPING : RESCHED_SPAN_UNKNOWN;
}

/* The task may be in another state than before. */
static int note_task(struct resched_index *ix, int32_t pid, uint64_t now)
{
	uint32_t row = pid ? rs_map_get(&ix->an->by_pid, (uint32_t)pid) : RS_MAP_NONE;
	const struct an_task *t;
	struct ix_task *it;
	uint64_t word, last;

	if (row == RS_MAP_NONE)
		return 0;
	t = &ix->an->tasks[row];
	it = task_at(ix, row);
	if (!it)
		return -ENOMEM;
	it->figures.pid = t->pid;
	it->figures.birth = t->birth;
	it->figures.prio = t->prio;
	it->figures.wakeups = t->wakeups;
	it->figures.involuntary = t->involuntary;
	it->figures.switches = t->voluntary + t->involuntary;
	it->figures.migrations = t->migrations;
	word = ix_pack(since_first(ix, now), t->cpu, span_state(t));
	last = it->spans.nr ? it->spans.at[it->spans.nr - 1] : 0;
	if (it->spans.nr && !((word ^ last) & ((1u << IX_AT_SHIFT) - 1)))
		return 0;
	if (it->spans.nr && ix_state(last) == RESCHED_SPAN_RUNNING)
		it->figures.runtime_ns += ix_at(word) - ix_at(last);
	if (it->spans.nr && ix_at(last) == ix_at(word)) {	/* it was nothing for no time */
		it->spans.at[it->spans.nr - 1] = word;
		return 0;
	}
	return push_word(&it->spans, word);
}

static int note_cpu(struct resched_index *ix, unsigned int cpu, uint32_t row, uint64_t now)
{
	struct ix_cpu *c = cpu_of(ix, cpu);
	int rc;

	if (!c)
		return -ENOMEM;
	if (c->at.nr && c->rows[c->at.nr - 1] == row)
		return 0;
	if (c->at.nr && c->at.at[c->at.nr - 1] == since_first(ix, now)) {
		c->rows[c->at.nr - 1] = row;
		return 0;
	}
	rc = room((void **)&c->rows, c->at.nr, &c->cap_rows, sizeof(*c->rows));
	if (rc < 0)
		return rc;
	rc = push_word(&c->at, since_first(ix, now));
	if (rc == 0)
		c->rows[c->at.nr - 1] = row;
	return rc;
}

static uint32_t row_of(const struct resched_index *ix, int32_t pid)
{
	uint32_t row = pid ? rs_map_get(&ix->an->by_pid, (uint32_t)pid) : RS_MAP_NONE;

	return row == RS_MAP_NONE ? IX_IDLE : row;
}

/* Frequent preemptors in fixed room: one more than fits takes one away from each, so those that are frequent stay. */
static void note_preemptor(struct resched_index_task *t, int pid)
{
	unsigned int empty = RESCHED_INDEX_BY;

	for (unsigned int i = 0; i < RESCHED_INDEX_BY; i++) {
		if (t->by[i].times && t->by[i].pid == pid) {
			t->by[i].times++;
			return;
		}
		if (!t->by[i].times)
			empty = i;
	}
	if (empty < RESCHED_INDEX_BY) {
		t->by[empty].pid = pid;
		t->by[empty].times = 1;
		return;
	}
	for (unsigned int i = 0; i < RESCHED_INDEX_BY; i++)
		t->by[i].times--;
}

/* A cpu that is first seen when a task leaves it: that task has run there from the start. */
static int on_switch(struct resched_index *ix, const struct resched_event *ev)
{
	struct ix_cpu *c = cpu_of(ix, ev->cpu);
	int rc;

	if (!c)
		return -ENOMEM;
	rc = c->at.nr ? 0 : note_cpu(ix, ev->cpu, row_of(ix, ev->pid), ix->first_ns);
	if (rc == 0)
		rc = note_cpu(ix, ev->cpu, row_of(ix, ev->sw.next_pid), ev->ts_ns);
	if (rc == 0)
		rc = note_task(ix, ev->pid, ev->ts_ns);
	if (rc == 0 && ev->pid && ev->sw.next_pid && resched_state_runnable(ev->sw.prev_state) && row_of(ix, ev->pid) < ix->nr_tasks)
		note_preemptor(&ix->tasks[row_of(ix, ev->pid)].figures, ev->sw.next_pid);
	if (rc == 0)
		rc = note_task(ix, ev->sw.next_pid, ev->ts_ns);
	return rc;
}

/* A wakeup that began a wait: the analysis has just queued the task. */
static int on_wake(struct resched_index *ix, const struct resched_event *ev)
{
	bool interrupt = (ev->ctx & (RESCHED_CTX_HARDIRQ | RESCHED_CTX_SOFTIRQ)) != 0 || !ev->wake.waker_pid;
	uint32_t row = row_of(ix, ev->pid);
	int rc;

	if (row != IX_IDLE && ix->an->tasks[row].state == AN_QUEUED && ix->an->tasks[row].kind == AN_WAKE &&
	    ix->an->tasks[row].since_ns == ev->ts_ns &&
	    !(ix->nr_wakes && ix->wakes[ix->nr_wakes - 1].wakee == row && ix_at(ix->wakes[ix->nr_wakes - 1].packed) == since_first(ix, ev->ts_ns))) {
		rc = room((void **)&ix->wakes, ix->nr_wakes, &ix->cap_wakes, sizeof(*ix->wakes));
		if (rc < 0)
			return rc;
		ix->wakes[ix->nr_wakes++] = (struct ix_wake){ ix_pack(since_first(ix, ev->ts_ns), ev->cpu, interrupt),
							      interrupt ? IX_IDLE : row_of(ix, ev->wake.waker_pid), row };
	}
	return note_task(ix, ev->pid, ev->ts_ns);
}

static int on_lost(struct resched_index *ix, const struct resched_event *ev)
{
	struct ix_cpu *c = cpu_of(ix, ev->cpu);
	uint32_t before = c && c->at.nr ? c->rows[c->at.nr - 1] : IX_IDLE;
	int rc = c ? note_cpu(ix, ev->cpu, IX_LOST, ev->ts_ns) : -ENOMEM;

	if (rc == 0 && before < ix->nr_tasks)
		rc = note_task(ix, ix->tasks[before].figures.pid, ev->ts_ns);
	return rc;
}

/* What runs on top now, if it is another than before. */
static int note_irq(struct resched_index *ix, struct ix_cpu *c, uint64_t now)
{
	unsigned int kind = c->now[1] ? 2 : c->now[0] ? 1 : 0;
	unsigned int what = kind << IX_IRQ_NR_BITS | (kind ? (c->now[kind - 1] - 1u) & ((1u << IX_IRQ_NR_BITS) - 1) : 0);
	uint64_t word = since_first(ix, now) << IX_AT_SHIFT | what, last = c->irqs.nr ? c->irqs.at[c->irqs.nr - 1] : 0;

	if ((last & ((1u << IX_AT_SHIFT) - 1)) == what)
		return 0;
	return push_word(&c->irqs, word);
}

static int on_irq(struct resched_index *ix, struct ix_cpu *c, const struct resched_event *ev)
{
	c->now[!ev->irq.soft] = ev->irq.entry ? (uint16_t)(ev->irq.nr + 1u) : 0;
	return note_irq(ix, c, ev->ts_ns);
}

/* No interrupt lasts over a switch or a gap: its end was not recorded. */
static int end_irqs(struct resched_index *ix, struct ix_cpu *c, uint64_t now)
{
	if (!c->now[0] && !c->now[1])
		return 0;
	c->now[0] = c->now[1] = 0;
	return note_irq(ix, c, now);
}

static int after(void *ctx, const struct resched_event *ev)
{
	struct resched_index *ix = ctx;
	struct ix_cpu *c;

	if (!ix->any) {
		ix->any = true;
		ix->first_ns = ev->ts_ns;
	}
	ix->last_ns = ev->ts_ns;
	ix->nr_events++;
	c = cpu_of(ix, ev->cpu);
	if (!c)
		return -ENOMEM;
	c->observed |= ev->type != RESCHED_EV_LOST;
	if ((ev->type == RESCHED_EV_SWITCH || ev->type == RESCHED_EV_LOST) && end_irqs(ix, c, ev->ts_ns) < 0)
		return -ENOMEM;
	switch (ev->type) {
	case RESCHED_EV_SWITCH:
		return on_switch(ix, ev);
	case RESCHED_EV_WAKING:
	case RESCHED_EV_WAKEUP:
	case RESCHED_EV_WAKEUP_NEW:
		return on_wake(ix, ev);
	case RESCHED_EV_MIGRATE:
		return note_task(ix, ev->pid, ev->ts_ns);
	case RESCHED_EV_LOST:
		return on_lost(ix, ev);
	case RESCHED_EV_IRQ:
		return on_irq(ix, c, ev);
	default:
		return ix->failed ? -ENOMEM : 0;
	}
}

static unsigned int bucket(uint64_t ns)
{
	unsigned int log = ns ? 63u - (unsigned int)__builtin_clzll(ns) : 0;

	return log < 9 ? 0 : log - 9 >= RESCHED_INDEX_BUCKETS ? RESCHED_INDEX_BUCKETS - 1 : log - 9;
}

static int on_wait(void *ctx, const struct an_task *t, unsigned int cpu, uint64_t now, bool resolved)
{
	struct resched_index *ix = ctx;
	struct ix_task *it = task_at(ix, (uint32_t)(t - ix->an->tasks));
	uint64_t ns = now > t->since_ns ? now - t->since_ns : 0;

	(void)cpu;
	if (!it)
		return -ENOMEM;
	if (!resolved)
		return 0;
	it->figures.wait_ns += ns;
	if (ns > it->figures.max_wait_ns)
		it->figures.max_wait_ns = ns;
	if (t->kind != AN_WAKE)
		return 0;
	if (ns > it->figures.max_wake_ns)
		it->figures.max_wake_ns = ns;
	it->figures.latency[bucket(ns)]++;
	return 0;
}

/* Told at the instant of the event that came last or comes next; both are as good for a curve. */
static void on_lag(void *ctx, int pid, int64_t lag_ns, int missed)
{
	struct resched_index *ix = ctx;
	uint32_t row = row_of(ix, pid);
	struct ix_task *it = row == IX_IDLE ? NULL : task_at(ix, row);

	if (!it || room((void **)&it->lag, it->lag_at.nr, &it->cap_lag, sizeof(*it->lag)) < 0 ||
	    push_word(&it->lag_at, ix_pack(since_first(ix, ix->last_ns), 0, missed != 0)) < 0) {
		ix->failed |= row != IX_IDLE;
		return;
	}
	it->lag[it->lag_at.nr - 1] = lag_ns;
	it->figures.lag_ns = lag_ns;
	if (!it->figures.has_lag || lag_ns < it->figures.lag_min_ns)
		it->figures.lag_min_ns = lag_ns;
	if (!it->figures.has_lag || lag_ns > it->figures.lag_max_ns)
		it->figures.lag_max_ns = lag_ns;
	it->figures.has_lag = 1;
	it->figures.deadline_misses += missed != 0;
}

int resched_index_new(struct resched_analysis *analysis, struct resched_index **ret, struct resched_error *err)
{
	struct resched_index *ix = calloc(1, sizeof(*ix));
	int rc;

	if (!ix)
		return rs_error_nomem(err);
	ix->an = analysis;
	rc = an_observe(analysis, &(struct an_observer){ .ctx = ix, .after = after, .wait = on_wait, .lag = on_lag });
	if (rc < 0) {
		free(ix);
		return rs_error_set(err, RESCHED_FAILED, rc, "too many collectors on one analysis");
	}
	*ret = ix;
	return 0;
}

void resched_index_free(struct resched_index *ix)
{
	if (!ix)
		return;
	for (uint32_t i = 0; i < ix->nr_cpus; i++) {
		free(ix->cpus[i].at.at);
		free(ix->cpus[i].rows);
		free(ix->cpus[i].irqs.at);
	}
	for (uint32_t i = 0; i < ix->nr_tasks; i++) {
		free(ix->tasks[i].spans.at);
		free(ix->tasks[i].lag_at.at);
		free(ix->tasks[i].lag);
	}
	free(ix->cpus);
	free(ix->tasks);
	free(ix->wakes);
	free(ix);
}
