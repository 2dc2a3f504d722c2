// SPDX-License-Identifier: GPL-2.0-only
#include "trace/edges.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SILENCE_NS 10000000000ull	/* no cpu of a running kernel is quiet that long: its own timers wake threads every few seconds */
#define LATE_MIN_NS 100000000ull	/* a cpu that begins or ends this far from the others, ... */
#define LATE_SHARE 10u			/* ... and by this part of the span */
#define CPUS_TOLD 6u			/* cpus named in one line */

static struct rs_edge_cpu *cpu_of(struct rs_edges *e, unsigned int cpu)
{
	if (cpu >= e->nr) {
		unsigned int nr = cpu + 1 > e->nr * 2 ? cpu + 1 : e->nr * 2;
		struct rs_edge_cpu *cpus = realloc(e->cpus, nr * sizeof(*cpus));

		if (!cpus) {
			e->blind = true;
			return NULL;
		}
		memset(cpus + e->nr, 0, (nr - e->nr) * sizeof(*cpus));
		e->cpus = cpus;
		e->nr = nr;
	}
	return &e->cpus[cpu];
}

static void watch_pids(struct rs_edges *e, const struct resched_event *ev)
{
	uint32_t pid = (uint32_t)(ev->type == RESCHED_EV_FORK ? ev->fork.child_pid : ev->pid);

	if (ev->type == RESCHED_EV_EXIT) {
		e->blind |= rs_map_set(&e->gone, pid, 1) < 0;
	} else if (e->gone.count && rs_map_get(&e->gone, pid) == 1) {
		if (!e->reused++)
			e->first_reused = (int32_t)pid;
		e->blind |= rs_map_set(&e->gone, pid, 0) < 0;	/* alive again */
	}
}

void rs_edges_event(struct rs_edges *e, const struct resched_event *ev)
{
	struct rs_edge_cpu *c;

	e->types[ev->type]++;
	if (ev->type == RESCHED_EV_COMM)
		return;
	c = ev->cpu < e->nr ? &e->cpus[ev->cpu] : cpu_of(e, ev->cpu);
	if (!c)
		return;
	if (ev->type == RESCHED_EV_LOST) {
		c->now_pid = 0;	/* it is told already that nobody knows */
		c->overwritten |= !c->seen;
		return;
	}
	if (e->any && ev->ts_ns - e->last_ns > e->gap_ns) {
		e->gap_ns = ev->ts_ns - e->last_ns;
		e->gap_at_ns = e->last_ns;
	}
	if (!e->any)
		e->first_ns = ev->ts_ns;
	e->any = true;
	e->last_ns = ev->ts_ns;
	if (!c->seen) {
		c->seen = true;
		c->first_ns = ev->ts_ns;
		c->first_pid = ev->type == RESCHED_EV_SWITCH ? ev->pid : 0;
	}
	c->last_ns = ev->ts_ns;
	if (ev->type == RESCHED_EV_SWITCH) {
		c->switched = true;
		c->now_pid = ev->sw.next_pid;
	} else if (ev->type == RESCHED_EV_FORK || ev->type == RESCHED_EV_EXIT) {
		watch_pids(e, ev);
	}
}

/* "1, 2, 5 and 3 more" */
static void name_cpu(char *buf, size_t size, unsigned int nr, unsigned int cpu)
{
	size_t at = strlen(buf);

	if (nr < CPUS_TOLD)
		snprintf(buf + at, size - at, "%s%u", nr ? ", " : "", cpu);
}

static void name_rest(char *buf, size_t size, unsigned int nr)
{
	size_t at = strlen(buf);

	if (nr > CPUS_TOLD)
		snprintf(buf + at, size - at, " and %u more", nr - CPUS_TOLD);
}

static bool is_late(uint64_t by_ns, uint64_t span_ns)
{
	return by_ns > LATE_MIN_NS && by_ns > span_ns / LATE_SHARE;
}

#define SEC(ns) (double)(ns) / 1e9

/* The time in which all cpus are known, where buffers were overwritten or a cpu that was busy is silent at the beginning. */
static void tell_begin(const struct rs_edges *e, struct rs_notes *notes)
{
	uint64_t span = e->last_ns - e->first_ns, from = e->first_ns;
	char alone[80] = "";
	unsigned int nr = 0, late = 0;
	bool overwritten = false;

	for (unsigned int i = 0; i < e->nr; i++) {
		const struct rs_edge_cpu *c = &e->cpus[i];
		uint64_t by = c->seen ? c->first_ns - e->first_ns : 0;

		if (!by || !(c->overwritten || (c->first_pid && is_late(by, span))))
			continue;
		late++;
		overwritten |= c->overwritten;
		from = c->first_ns > from ? c->first_ns : from;
	}
	if (!late)
		return;
	for (unsigned int i = 0; i < e->nr; i++) {
		if (e->cpus[i].seen && e->cpus[i].first_ns < from)
			name_cpu(alone, sizeof(alone), nr++, i);
	}
	name_rest(alone, sizeof(alone), nr);
	rs_note(notes, "buffers begin at different times%s: all CPUs are known from %.6f to %.6f; before that only CPU %s (from %.6f), "
		"and waits that reach into it are left out", overwritten ? " (older events were overwritten or lost)" : "", SEC(from), SEC(e->last_ns),
		alone, SEC(e->first_ns));
}

/* A cpu that falls silent while a task runs on it: a task alone, or the end of its buffer. */
static void tell_end(const struct rs_edges *e, struct rs_notes *notes)
{
	uint64_t span = e->last_ns - e->first_ns, to = e->last_ns;
	char silent[80] = "";
	unsigned int nr = 0;

	for (unsigned int i = 0; i < e->nr; i++) {
		const struct rs_edge_cpu *c = &e->cpus[i];

		if (!c->seen || !c->switched || !c->now_pid || !is_late(e->last_ns - c->last_ns, span))
			continue;
		name_cpu(silent, sizeof(silent), nr++, i);
		to = c->last_ns < to ? c->last_ns : to;
	}
	name_rest(silent, sizeof(silent), nr);
	if (nr)
		rs_note(notes, "CPU %s %s silent before the end while a task ran there (from %.6f, the end is %.6f): it ran alone, or the buffer ends there",
			silent, nr > 1 ? "are" : "is", SEC(to), SEC(e->last_ns));
}

static void tell_unseen(const struct rs_edges *e, const struct resched_source *src, struct rs_notes *notes)
{
	char unseen[80] = "";
	unsigned int nr = 0;

	for (unsigned int i = 0; i < src->nr_cpus && src->nr_observed; i++) {
		if (i >= e->nr || !e->cpus[i].seen)
			name_cpu(unseen, sizeof(unseen), nr++, i);
	}
	name_rest(unseen, sizeof(unseen), nr);
	if (nr && src->nr_observed < src->nr_cpus)
		rs_note(notes, "no event of CPU %s: whether %s idle, offline or not recorded is unknown", unseen, nr > 1 ? "they were" : "it was");
}

static void tell_absent(const struct rs_edges *e, struct rs_notes *notes)
{
	if (!e->types[RESCHED_EV_SWITCH])
		return;
	if (!e->types[RESCHED_EV_WAKING] && !e->types[RESCHED_EV_WAKEUP])
		rs_note(notes, "the recording has neither sched_waking nor sched_wakeup: when sleepers became runnable is unknown, so that there are "
			"no wakeup latencies; record them too");
}

void rs_edges_finish(struct rs_edges *e, const struct resched_source *source, struct rs_notes *notes)
{
	if (e->blind || !e->any)
		return;
	tell_begin(e, notes);
	tell_end(e, notes);
	tell_unseen(e, source, notes);
	tell_absent(e, notes);
	if (e->gap_ns > SILENCE_NS)
		rs_note(notes, "no CPU recorded anything for %.3f s from %.6f on: recording was off or the machine suspended; waits across that include it",
			SEC(e->gap_ns), SEC(e->gap_at_ns));
	if (e->reused)
		rs_note(notes, "%u pids were used again after their task had exited (the first is %d); each task has a row of its own", e->reused,
			e->first_reused);
}

void rs_edges_release(struct rs_edges *e)
{
	free(e->cpus);
	rs_map_release(&e->gone);
	memset(e, 0, sizeof(*e));
}
