// SPDX-License-Identifier: GPL-2.0-only
/* Reading the index: binary searches over packed stamps. */
#include "analysis/index.h"

#include <stdio.h>

uint64_t resched_index_first_ns(const struct resched_index *ix)
{
	return ix->first_ns;
}

uint64_t resched_index_last_ns(const struct resched_index *ix)
{
	return ix->last_ns;
}

uint64_t resched_index_events(const struct resched_index *ix)
{
	return ix->nr_events;
}

size_t resched_index_bytes(const struct resched_index *ix)
{
	size_t bytes = sizeof(*ix) + ix->nr_cpus * sizeof(*ix->cpus) + ix->cap_tasks * sizeof(*ix->tasks) +
		       (size_t)ix->cap_wakes * sizeof(*ix->wakes);

	for (uint32_t i = 0; i < ix->nr_cpus; i++)
		bytes += (size_t)(ix->cpus[i].at.cap + ix->cpus[i].irqs.cap) * 8 + (size_t)ix->cpus[i].cap_rows * 4;
	for (uint32_t i = 0; i < ix->nr_tasks; i++)
		bytes += (size_t)(ix->tasks[i].spans.cap + ix->tasks[i].lag_at.cap + ix->tasks[i].cap_lag) * 8;
	return bytes;
}

unsigned int resched_index_cpus(const struct resched_index *ix)
{
	return ix->nr_cpus;
}

unsigned int resched_index_tasks(const struct resched_index *ix)
{
	return ix->nr_tasks;
}

int resched_index_cpu_observed(const struct resched_index *ix, unsigned int cpu)
{
	return cpu < ix->nr_cpus && ix->cpus[cpu].observed;
}

static const struct ix_task *task_of(const struct resched_index *ix, int task)
{
	return task >= 0 && (uint32_t)task < ix->nr_tasks ? &ix->tasks[task] : NULL;
}

const struct resched_index_task *resched_index_task(const struct resched_index *ix, unsigned int task)
{
	return task < ix->nr_tasks ? &ix->tasks[task].figures : NULL;
}

const char *resched_index_name(const struct resched_index *ix, int task, char *buf, size_t size)
{
	char unnamed[16];

	if (task >= 0 && (uint32_t)task < ix->an->nr_tasks)
		snprintf(buf, size, "%s", an_name(ix->an, &ix->an->tasks[task], unnamed, sizeof(unnamed)));
	else
		snprintf(buf, size, "idle");
	return buf;
}

const char *resched_index_cgroup(const struct resched_index *ix, int task)
{
	return task >= 0 && (uint32_t)task < ix->an->nr_tasks ? ix->an->tasks[task].cgroup : NULL;
}

int resched_index_find_pid(const struct resched_index *ix, int pid)
{
	uint32_t row = pid ? rs_map_get(&ix->an->by_pid, (uint32_t)pid) : RS_MAP_NONE;

	return row == RS_MAP_NONE || row >= ix->nr_tasks ? RESCHED_NO_TASK : (int)row;
}

static uint64_t since_first(const struct resched_index *ix, uint64_t at_ns)
{
	return at_ns > ix->first_ns ? at_ns - ix->first_ns : 0;
}

/* The last word whose stamp, shifted by @shift, is at or before @at; 0 when there is none. */
static uint64_t find(const struct ix_words *w, uint64_t at, unsigned int shift)
{
	uint64_t lo = 0, hi = w->nr;

	while (lo < hi) {	/* first word after @at */
		uint64_t mid = lo + (hi - lo) / 2;

		if (w->at[mid] >> shift > at)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo ? lo - 1 : 0;
}

uint64_t resched_index_cpu_find(const struct resched_index *ix, unsigned int cpu, uint64_t at_ns)
{
	return cpu < ix->nr_cpus ? find(&ix->cpus[cpu].at, since_first(ix, at_ns), 0) : 0;
}

int resched_index_cpu_span(const struct resched_index *ix, unsigned int cpu, uint64_t nr, struct resched_span *ret)
{
	const struct ix_cpu *c = cpu < ix->nr_cpus ? &ix->cpus[cpu] : NULL;

	if (!c || nr >= c->at.nr)
		return 0;
	*ret = (struct resched_span){ .from_ns = ix->first_ns + c->at.at[nr], .cpu = cpu,
				      .to_ns = nr + 1 < c->at.nr ? ix->first_ns + c->at.at[nr + 1] : ix->last_ns,
				      .task = c->rows[nr] < ix->nr_tasks ? (int)c->rows[nr] : RESCHED_NO_TASK,
				      .state = c->rows[nr] == IX_LOST ? RESCHED_SPAN_UNKNOWN : RESCHED_SPAN_RUNNING };
	return 1;
}

uint64_t resched_index_irqs(const struct resched_index *ix, unsigned int cpu)
{
	return cpu < ix->nr_cpus ? ix->cpus[cpu].irqs.nr : 0;
}

uint64_t resched_index_irq_find(const struct resched_index *ix, unsigned int cpu, uint64_t at_ns)
{
	return cpu < ix->nr_cpus ? find(&ix->cpus[cpu].irqs, since_first(ix, at_ns), IX_AT_SHIFT) : 0;
}

int resched_index_irq(const struct resched_index *ix, unsigned int cpu, uint64_t nr, struct resched_irq_span *ret)
{
	const struct ix_words *w = cpu < ix->nr_cpus ? &ix->cpus[cpu].irqs : NULL;

	if (!w || nr >= w->nr)
		return 0;
	*ret = (struct resched_irq_span){ .from_ns = ix->first_ns + ix_at(w->at[nr]),
					  .to_ns = nr + 1 < w->nr ? ix->first_ns + ix_at(w->at[nr + 1]) : ix->last_ns,
					  .kind = (enum resched_irq_kind)(w->at[nr] >> IX_IRQ_NR_BITS & 3),
					  .nr = w->at[nr] & ((1u << IX_IRQ_NR_BITS) - 1) };
	return 1;
}

uint64_t resched_index_task_find(const struct resched_index *ix, int task, uint64_t at_ns)
{
	const struct ix_task *t = task_of(ix, task);

	return t ? find(&t->spans, since_first(ix, at_ns), IX_AT_SHIFT) : 0;
}

int resched_index_task_span(const struct resched_index *ix, int task, uint64_t nr, struct resched_span *ret)
{
	const struct ix_task *t = task_of(ix, task);

	if (!t || nr >= t->spans.nr)
		return 0;
	*ret = (struct resched_span){ .from_ns = ix->first_ns + ix_at(t->spans.at[nr]), .task = task, .cpu = ix_cpu(t->spans.at[nr]),
				      .to_ns = nr + 1 < t->spans.nr ? ix->first_ns + ix_at(t->spans.at[nr + 1]) : ix->last_ns,
				      .state = (enum resched_span_state)ix_state(t->spans.at[nr]) };
	return 1;
}

uint64_t resched_index_cpu_spans(const struct resched_index *ix, unsigned int cpu)
{
	return cpu < ix->nr_cpus ? ix->cpus[cpu].at.nr : 0;
}

uint64_t resched_index_task_spans(const struct resched_index *ix, int task)
{
	const struct ix_task *t = task_of(ix, task);

	return t ? t->spans.nr : 0;
}

uint64_t resched_index_wake_find(const struct resched_index *ix, uint64_t at_ns)
{
	uint64_t lo = 0, hi = ix->nr_wakes, at = since_first(ix, at_ns);

	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (ix_at(ix->wakes[mid].packed) >= at)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

int resched_index_wake(const struct resched_index *ix, uint64_t nr, struct resched_wake *ret)
{
	const struct ix_wake *w;

	if (nr >= ix->nr_wakes)
		return 0;
	w = &ix->wakes[nr];
	*ret = (struct resched_wake){ .at_ns = ix->first_ns + ix_at(w->packed), .cpu = ix_cpu(w->packed), .interrupt = ix_state(w->packed) != 0,
				      .waker = w->waker == IX_IDLE ? RESCHED_NO_TASK : (int)w->waker, .wakee = (int)w->wakee };
	return 1;
}

int resched_index_waker(const struct resched_index *ix, int task, uint64_t at_ns, struct resched_wake *ret)
{
	for (uint64_t nr = resched_index_wake_find(ix, at_ns); resched_index_wake(ix, nr, ret) && ret->at_ns == at_ns; nr++) {
		if (ret->wakee == task)
			return 1;
	}
	return 0;
}

uint64_t resched_index_lags(const struct resched_index *ix, int task)
{
	const struct ix_task *t = task_of(ix, task);

	return t ? t->lag_at.nr : 0;
}

uint64_t resched_index_lag_find(const struct resched_index *ix, int task, uint64_t at_ns)
{
	const struct ix_task *t = task_of(ix, task);

	return t ? find(&t->lag_at, since_first(ix, at_ns), IX_AT_SHIFT) : 0;
}

int resched_index_lag(const struct resched_index *ix, int task, uint64_t nr, struct resched_lag_sample *ret)
{
	const struct ix_task *t = task_of(ix, task);

	if (!t || nr >= t->lag_at.nr)
		return 0;
	*ret = (struct resched_lag_sample){ .at_ns = ix->first_ns + ix_at(t->lag_at.at[nr]), .lag_ns = t->lag[nr],
					    .deadline_missed = ix_state(t->lag_at.at[nr]) != 0 };
	return 1;
}
