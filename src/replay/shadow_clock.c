// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the queues' clocks read. With accounting events every sample is in them. Without, three samples are made of stamps:
 * a schedule's, a before the stamp of its switch; a wakeup's, b after the stamp of waking; a tick's, on a grid.
 */
#include "replay/shadow.h"

#include <stdlib.h>
#include <string.h>

#define BIN_NS 1000u
#define CLUSTER_BINS 30u /* a tick's own jitter is below 30 us */
#define QUIET_NS 100000u /* a switch with a wakeup so shortly before is no tick's */
#define TICK_PATH_NS 60000u /* a request by a tick is served within this, or was passed over */

/* ---- ticks ---- */

struct histogram {
	uint32_t *bins;
	uint32_t nr_bins, nr; /* nr: samples */
};

/* The window with most samples: its first sample, and how many there are. */
static uint64_t densest(const struct histogram *h, uint64_t *ret_nr)
{
	uint64_t sum = 0, best = 0;
	uint32_t first = 0;

	*ret_nr = 0;
	if (!h->nr)
		return 0; /* a cpu that is only named */
	for (uint32_t i = 0; i < CLUSTER_BINS; i++)
		sum += h->bins[i % h->nr_bins];
	for (uint32_t i = 0; i < h->nr_bins; i++) {
		if (sum > best) {
			best = sum;
			first = i;
		}
		sum -= h->bins[i];
		sum += h->bins[(i + CLUSTER_BINS) % h->nr_bins];
	}
	for (uint32_t i = 0; i < CLUSTER_BINS && !h->bins[first % h->nr_bins]; i++)
		first++;
	*ret_nr = best;
	return (uint64_t)(first % h->nr_bins) * BIN_NS;
}

/* Signs of a cpu's ticks, best first. */
enum { BY_TICK,
       BY_TIMER,
       NR_SIGNS };

struct signs {
	struct histogram of[NR_SIGNS];
};

static void note(struct histogram *h, uint64_t ts_ns, uint64_t tick_ns)
{
	h->bins[ts_ns % tick_ns / BIN_NS % h->nr_bins]++;
	h->nr++;
}

/* The accounting of a tick is followed by nothing, or by that of the schedule it asks for. */
static bool alone(const struct rs_shadow_log *log, uint32_t idx)
{
	const struct resched_event *e = &log->events[idx],
				   *next = log->next[idx] == RS_NO_EVENT ? NULL
									 : &log->events[log->next[idx]];

	return !next || next->ts_ns - e->ts_ns > TICK_PATH_NS ||
	       (next->type == RESCHED_EV_RUNTIME && next->pid == e->pid);
}

/* Accounting that nothing else explains; or switches of preempted tasks long after any wakeup, and wakings by timers of the wheel. */
static void collect(const struct rs_shadow_log *log, const struct rs_shadow_clock *clock,
		    struct signs *per_cpu, uint64_t *last_wake)
{
	for (uint32_t i = 0; i < log->nr; i++) {
		const struct resched_event *e = &log->events[i];
		struct signs *signs = &per_cpu[e->cpu];
		bool quiet = e->ts_ns - last_wake[e->cpu] > QUIET_NS;

		if (e->type == RESCHED_EV_WAKING && (e->ctx & RESCHED_CTX_SOFTIRQ) && quiet)
			note(&signs->of[BY_TIMER], e->ts_ns, clock->tick_ns);
		if (e->type == RESCHED_EV_WAKING || e->type == RESCHED_EV_WAKEUP ||
		    e->type == RESCHED_EV_WAKEUP_NEW)
			last_wake[e->cpu] = last_wake[e->wake.target_cpu] = e->ts_ns;
		else if (clock->mode == RESCHED_SHADOW_ACCOUNTING && e->type == RESCHED_EV_RUNTIME &&
			 quiet && alone(log, i))
			note(&signs->of[BY_TICK], e->ts_ns, clock->tick_ns);
		else if (clock->mode != RESCHED_SHADOW_ACCOUNTING && e->type == RESCHED_EV_SWITCH &&
			 e->pid && quiet && resched_state_runnable(e->sw.prev_state))
			note(&signs->of[BY_TICK], e->ts_ns, clock->tick_ns);
	}
}

/* From the better of the signs; without any, ticks fall on multiples of their distance, as kernels since 6.4 have it. */
static uint64_t phase_of(const struct signs *signs, const struct rs_shadow_clock *clock)
{
	uint64_t nr_ticks, nr_timers, by_tick = densest(&signs->of[BY_TICK], &nr_ticks),
				      by_timer = densest(&signs->of[BY_TIMER], &nr_timers);
	bool accounting = clock->mode == RESCHED_SHADOW_ACCOUNTING;

	if (accounting && nr_ticks >= 3)
		return by_tick;
	if (!accounting && (nr_ticks >= 10 || (nr_ticks >= 3 && nr_timers < 5)))
		return by_tick + clock->tick_ns - clock->tick_lead_ns;
	if (nr_timers >= 5)
		return by_timer + clock->tick_ns - clock->softirq_lead_ns;
	return 0;
}

void rs_shadow_find_phases(const struct rs_shadow_log *log, const struct rs_shadow_clock *clock,
			   uint64_t *ret)
{
	uint32_t nr_bins = (uint32_t)(clock->tick_ns / BIN_NS) + 1;
	unsigned int nr_cpus = log->nr_cpus ? log->nr_cpus : 1;
	struct signs *per_cpu = calloc(nr_cpus, sizeof(*per_cpu));
	uint32_t *bins = calloc((size_t)nr_bins * nr_cpus * NR_SIGNS, sizeof(*bins));
	uint64_t *last_wake = calloc(nr_cpus, sizeof(*last_wake));

	if (per_cpu && bins && last_wake) {
		for (unsigned int i = 0; i < nr_cpus * NR_SIGNS; i++)
			per_cpu[i / NR_SIGNS].of[i % NR_SIGNS] = (struct histogram){
				bins + (size_t)i * nr_bins, nr_bins, 0
			};
		collect(log, clock, per_cpu, last_wake);
		for (unsigned int i = 0; i < nr_cpus; i++)
			ret[i] = phase_of(&per_cpu[i], clock) % clock->tick_ns;
	}
	free(per_cpu);
	free(bins);
	free(last_wake);
}

bool rs_shadow_is_tick(const struct rs_shadow *s, const struct rs_shadow_cpu *c, uint64_t ts_ns)
{
	uint64_t tick = s->opts.clock.tick_ns, window = CLUSTER_BINS * BIN_NS;
	uint64_t since = (ts_ns + 2 * BIN_NS - c->phase_ns % tick) % tick;

	return since < window && ts_ns - c->last_tick_ns > tick / 2;
}

bool rs_shadow_tick_between(const struct rs_shadow *s, const struct rs_shadow_cpu *c, uint64_t from_ns,
			    uint64_t to_ns)
{
	uint64_t tick = s->opts.clock.tick_ns;

	return (from_ns - c->phase_ns) / tick != (to_ns - c->phase_ns) / tick;
}

/* ---- stamps ---- */

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* RUNTIMES: the end of the running stretch is known; nothing within it is later. */
static uint64_t within_stint(const struct rs_shadow *s, const struct rs_shadow_cpu *c,
			     uint64_t clock_ns)
{
	uint32_t idx;
	uint64_t charged, end;

	if (!s->stints || !c->curr || clock_ns <= c->rq.clock_ns)
		return clock_ns;
	idx = rs_shadow_next_switch(s, c);
	if (idx == RS_NO_EVENT || s->log->events[idx].pid != c->curr->pid || !s->stints[idx])
		return clock_ns;
	charged = c->curr->ran_ns - c->curr->ran_at_set_ns;
	end = c->charged_ns + (s->stints[idx] > charged ? s->stints[idx] - charged : 0);
	return clock_ns < end ? clock_ns : end;
}

void rs_shadow_look(struct rs_shadow *s, struct rs_shadow_cpu *c, uint64_t clock_ns)
{
	rs_shadow_advance(c, within_stint(s, c, clock_ns));
	c->stamp_clock = c->rq.clock_ns;
}

void rs_shadow_account(struct rs_shadow *s, struct rs_shadow_cpu *c, uint64_t clock_ns)
{
	rs_shadow_charge(s, c, later(within_stint(s, c, clock_ns), c->rq.clock_ns), false);
	c->stamp_clock = c->rq.clock_ns;
}

/* A schedule that kept the running task, at @clock_ns. */
static void schedule_unseen(struct rs_shadow *s, struct rs_shadow_cpu *c, uint64_t clock_ns)
{
	if (!c->reuse_clock && c->curr)
		rs_shadow_account(s, c, clock_ns);
	c->reuse_clock = false;
	rs_shadow_hidden(s, c, clock_ns);
}

void rs_shadow_ticks(struct rs_shadow *s, struct rs_shadow_cpu *c, uint64_t until_ns, uint64_t next_ns)
{
	uint64_t tick = s->opts.clock.tick_ns, at;

	if (c->last_ns >= until_ns)
		return;
	if (!c->curr) { /* no ticks to follow */
		c->last_ns = until_ns;
		return;
	}
	at = c->last_ns - (c->last_ns - c->phase_ns) % tick + tick;
	for (; at <= until_ns; at += tick) {
		if (c->rq.need_resched && at - c->mark_ns > TICK_PATH_NS && at > c->mark_ns)
			schedule_unseen(s, c, c->mark_ns + 5000);
		rs_shadow_charge(s, c, later(within_stint(s, c, at), c->rq.clock_ns), true);
		c->stamp_clock = c->rq.clock_ns;
		if (c->mark_ns && c->mark == RS_MARK_TICK && c->mark_ns > at)
			c->mark_ns = at;
		if (c->rq.need_resched && next_ns - at > TICK_PATH_NS)
			schedule_unseen(s, c, at + 5000);
		c->last_ns = at;
	}
}

uint64_t *rs_shadow_measure_stints(const struct rs_shadow_log *log)
{
	uint64_t *stints = calloc(log->nr ? log->nr : 1, sizeof(*stints)), *sums = NULL;
	struct rs_map by_pid = { 0 };
	uint32_t nr = 0, room = 0;

	for (uint32_t i = 0; stints && i < log->nr; i++) {
		const struct resched_event *e = &log->events[i];
		uint32_t idx = rs_map_get(&by_pid, (uint32_t)e->pid);

		if (e->type == RESCHED_EV_SWITCH && idx != RS_MAP_NONE) {
			stints[i] = sums[idx];
			sums[idx] = 0;
		}
		if (e->type != RESCHED_EV_RUNTIME)
			continue;
		if (idx == RS_MAP_NONE) {
			if (nr == room) {
				uint64_t *grown = realloc(sums, (room = room ? room * 2 : 64) *
									sizeof(*sums));

				if (!grown)
					goto nomem;
				sums = grown;
			}
			if (rs_map_set(&by_pid, (uint32_t)e->pid, nr) < 0)
				goto nomem;
			sums[idx = nr++] = 0;
		}
		sums[idx] += e->runtime.runtime_ns;
	}
	rs_map_release(&by_pid);
	free(sums);
	return stints;
nomem:
	rs_map_release(&by_pid);
	free(sums);
	free(stints);
	return NULL;
}

uint64_t rs_shadow_switch_clock(const struct rs_shadow *s, const struct rs_shadow_cpu *c,
				const struct resched_event *e, const struct rs_shadow_task *prev)
{
	const struct rs_shadow_clock *clock = &s->opts.clock;
	bool runnable = resched_state_runnable(e->sw.prev_state);
	uint64_t now = e->ts_ns - (runnable ? clock->tick_switch_lead_ns : clock->switch_lead_ns);

	if (c->reuse_clock && c->stamp_clock)
		now = c->stamp_clock;
	if (s->stints && s->stints[s->at] && prev && c->curr == prev) {
		uint64_t charged = prev->ran_ns - prev->ran_at_set_ns;

		now = c->charged_ns + (s->stints[s->at] > charged ? s->stints[s->at] - charged : 0);
	}
	return later(now, c->rq.clock_ns);
}

/* ---- schedules without a switch ---- */

static void unseen_by_stamps(struct rs_shadow *s, const struct resched_event *e)
{
	struct rs_shadow_cpu *c = &s->cpus[e->cpu];
	const struct resched_event *next = c->next_event == RS_NO_EVENT
						   ? NULL
						   : &s->log->events[c->next_event];

	if (c->rq.need_resched && e->type != RESCHED_EV_SWITCH &&
	    (!next || next->ts_ns - e->ts_ns > TICK_PATH_NS))
		schedule_unseen(s, c, e->ts_ns + 5000);
}

/* Is the running task charged from elsewhere before the next event of its cpu? */
static bool is_charged_between(const struct rs_shadow *s, const struct rs_shadow_cpu *c)
{
	for (uint32_t i = s->at + 1; c->curr && i < c->next_event; i++) {
		if (s->log->events[i].type == RESCHED_EV_RUNTIME && s->log->events[i].pid == c->curr->pid)
			return true;
	}
	return false;
}

/*
 * Is what was asked for still to come? The flag of the next event says so; and a switch that no accounting precedes is the work of the
 * schedule() that has told its own already. Interrupts take their time, and so does a recorder that looks closely.
 */
static bool is_pending(const struct rs_shadow *s, const struct rs_shadow_cpu *c, const struct resched_event *next, uint64_t since_ns)
{
	uint64_t wait = next->ts_ns - since_ns;

	if (wait > s->opts.clock.tick_ns)
		return false;
	if (next->type == RESCHED_EV_SWITCH)
		return resched_state_runnable(next->sw.prev_state) && (wait < TICK_PATH_NS || !is_charged_between(s, c));
	return next->ctx & RESCHED_CTX_NEED_RESCHED;
}

void rs_shadow_unseen_schedules(struct rs_shadow *s, const struct resched_event *e)
{
	if (e->type == RESCHED_EV_COMM)
		return;
	if (rs_shadow_by_stamps(s)) {
		if (e->type != RESCHED_EV_RUNTIME)
			unseen_by_stamps(s, e);
		return;
	}
	for (unsigned int i = 0; i < s->nr_cpus; i++) {
		struct rs_shadow_cpu *c = &s->cpus[i];
		const struct resched_event *next;
		uint64_t since;

		if (!c->rq.need_resched || (e->type == RESCHED_EV_SWITCH && e->cpu == i))
			continue;
		next = c->next_event == RS_NO_EVENT ? NULL : &s->log->events[c->next_event];
		since = later(e->ts_ns, c->mark_ns);
		if (!next || (next->ts_ns > since && next->ts_ns - since > s->opts.clock.burst_ns && !is_pending(s, c, next, since)))
			rs_shadow_hidden(s, c, e->ts_ns);
	}
}
