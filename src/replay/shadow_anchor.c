// SPDX-License-Identifier: GPL-2.0-only
/*
 * ACCOUNTING, with groups: a wakeup into another queue than the running task's own charges the group that runs there, and no event tells.
 * So its clock is taken from the stamps: as long after the last known sample as the stamps are apart, corrected by what that is found to be
 * where wakeups do tell.
 */
#include "replay/shadow.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_SAMPLES 4096u
#define PATH_NS 20000u /* from a waking to the accounting it causes */

struct cpu_pass {
	uint64_t anchor_ns, waking_ns; /* waking_ns 0: none is in hand */
	enum rs_anchor kind;
	int32_t pid;
};

struct samples {
	int64_t *of[RS_ANCHOR_NR];
	unsigned int nr[RS_ANCHOR_NR];
};

enum rs_anchor rs_shadow_anchor_kind(const struct rs_shadow_log *log, uint32_t idx)
{
	uint32_t next = log->next[idx];

	if (log->events[idx].type == RESCHED_EV_SWITCH)
		return RS_ANCHOR_SWITCH;
	return next != RS_NO_EVENT && log->events[next].type == RESCHED_EV_SWITCH && log->events[next].pid == log->events[idx].pid &&
			       log->events[next].ts_ns - log->events[idx].ts_ns < PATH_NS
		       ? RS_ANCHOR_SCHEDULE
		       : RS_ANCHOR_OTHER;
}

static void take_sample(struct samples *samples, const struct cpu_pass *c, const struct resched_event *e)
{
	if (c->pid != e->pid || !c->anchor_ns || !c->waking_ns || e->ts_ns - c->waking_ns > PATH_NS || samples->nr[c->kind] == MAX_SAMPLES)
		return;
	samples->of[c->kind][samples->nr[c->kind]++] = (int64_t)(c->waking_ns - c->anchor_ns) - (int64_t)e->runtime.runtime_ns;
}

static void pass(const struct rs_shadow_log *log, struct cpu_pass *cpus, struct samples *samples)
{
	for (uint32_t i = 0; i < log->nr; i++) {
		const struct resched_event *e = &log->events[i];
		struct cpu_pass *c = &cpus[e->cpu];

		if (e->type == RESCHED_EV_SWITCH) {
			if (c->pid != e->pid || e->ts_ns - c->anchor_ns > PATH_NS) {
				c->anchor_ns = e->ts_ns;
				c->kind = RS_ANCHOR_SWITCH;
			}
			c->pid = e->sw.next_pid;
			c->waking_ns = 0;
		} else if (e->type == RESCHED_EV_WAKING) {
			c->waking_ns = e->ts_ns;
		} else if (e->type == RESCHED_EV_RUNTIME) {
			take_sample(samples, c, e);
			if (c->pid == e->pid) {
				c->anchor_ns = e->ts_ns;
				c->kind = rs_shadow_anchor_kind(log, i);
			}
		} else if (e->type == RESCHED_EV_WAKEUP) {
			c->waking_ns = 0;
		}
	}
}

static int compare_i64(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

int rs_shadow_find_anchors(const struct rs_shadow_log *log, int64_t ret[RS_ANCHOR_NR])
{
	struct cpu_pass *cpus = calloc(log->nr_cpus ? log->nr_cpus : 1, sizeof(*cpus));
	int64_t *memory = malloc(RS_ANCHOR_NR * MAX_SAMPLES * sizeof(*memory));
	struct samples samples = { .nr = { 0 } };

	if (cpus && memory) {
		for (int i = 0; i < RS_ANCHOR_NR; i++)
			samples.of[i] = memory + (size_t)i * MAX_SAMPLES;
		pass(log, cpus, &samples);
		for (int i = 0; i < RS_ANCHOR_NR; i++) {
			qsort(samples.of[i], samples.nr[i], sizeof(*memory), compare_i64);
			ret[i] = samples.nr[i] ? samples.of[i][samples.nr[i] / 2] : 0;
		}
	}
	free(cpus);
	free(memory);
	return cpus && memory ? 0 : -ENOMEM;
}

void rs_shadow_set_anchor(struct rs_shadow *s, struct rs_shadow_cpu *c, enum rs_anchor kind)
{
	c->anchor_ns = s->log->events[s->at].ts_ns;
	c->anchor_clock = c->rq.clock_ns;
	c->anchor = kind;
}

void rs_shadow_wake_clock(struct rs_shadow *s, struct rs_shadow_cpu *c, uint64_t waking_ns)
{
	int64_t apart = (int64_t)(waking_ns - c->anchor_ns) - s->anchors[c->anchor];

	if (c->curr && c->anchor_ns && apart > 0)
		rs_shadow_advance(c, c->anchor_clock + (uint64_t)apart);
}
