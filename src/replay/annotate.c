// SPDX-License-Identifier: GPL-2.0-only
#include "replay/annotate.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PULLED_MAX 4u /* tasks one cpu pulls before its next switch */
#define BURST_MAX 8u /* wakings onto one cpu before one switch */
#define BURST_NS 100000u /* longer from a waking to the switch: something else was in the way */
#define BLOCKING_NS 25000u /* a task that blocks this soon after a waking was in the kernel already */
#define WAKING_NS 50000u /* a waking without its end is over after this */
#define TICK_NEAR_NS 60000u /* an accounting this near to the grid is the tick's */

struct pending_wake {
	struct rs_op_ref ref;
	uint64_t ts;
};

struct cpu_clock {
	uint64_t clock; /* policy's clock at the last accounting, or at the switch-in */
	uint64_t switch_ts; /* last switch */
	uint64_t accounted_ts; /* last accounting */
	uint64_t early_ns, early_ts; /* run time of the task that comes next, by the clock of another cpu; when */
	uint8_t known, from_idle;
	struct rs_op_ref left_idle; /* what made it leave idle at the last switch; task RS_NO_TASK = nothing known */
	struct pending_wake waking; /* in progress on this cpu; ts 0 = none */
	struct pending_wake burst[BURST_MAX]; /* onto this cpu since its last switch */
	unsigned int nr_burst;
	struct {
		struct rs_op_ref ref;
		uint64_t clock;
	} pulled[PULLED_MAX]; /* likewise; clock: of the queue that lost it */
	unsigned int nr_pulled;
	uint64_t tick_ts; /* last tick since the switch-in; 0 = none */
	struct rs_tick_note *ticks; /* all ticks seen, ascending */
	uint32_t nr_ticks, ticks_room;
};

struct rs_annotate {
	struct resched_workload *workload;
	struct rs_calibration *cal;
	struct cpu_clock *cpus;
	unsigned int nr_cpus;
};

struct rs_annotate *rs_annotate_new(struct resched_workload *workload, struct rs_calibration *cal)
{
	struct rs_annotate *an = calloc(1, sizeof(*an));

	if (an) {
		an->workload = workload;
		an->cal = cal;
	}
	return an;
}

void rs_annotate_free(struct rs_annotate *an)
{
	if (!an)
		return;
	for (unsigned int i = 0; i < an->nr_cpus; i++)
		free(an->cpus[i].ticks);
	free(an->cpus);
	free(an);
}

static struct cpu_clock *clock_of(struct rs_annotate *an, unsigned int cpu)
{
	if (cpu >= an->nr_cpus) {
		struct cpu_clock *cpus = realloc(an->cpus, (cpu + 1) * sizeof(*cpus));

		if (!cpus)
			return NULL;
		memset(cpus + an->nr_cpus, 0, (cpu + 1 - an->nr_cpus) * sizeof(*cpus));
		an->cpus = cpus;
		an->nr_cpus = cpu + 1;
	}
	return &an->cpus[cpu];
}

static struct rs_op *op_of(struct rs_annotate *an, struct rs_op_ref ref)
{
	return ref.task == RS_NO_TASK ? NULL : &an->workload->tasks[ref.task].ops[ref.op];
}

static int32_t clock_offset(uint64_t clock, uint64_t ts)
{
	int64_t off = (int64_t)(clock - ts);

	/* Anything larger is not a kernel path but a clock that was followed wrongly. */
	return off > -1000000 && off < 1000000 ? (int32_t)off : RS_UNKNOWN;
}

int rs_annotate_waking(struct rs_annotate *an, unsigned int cpu, uint64_t ts, struct rs_op_ref ref)
{
	struct cpu_clock *by = clock_of(an, cpu);

	if (!by)
		return -ENOMEM;
	by->waking = (struct pending_wake){ ref, ts };
	return 0;
}

static void note_wake_clock(struct rs_annotate *an, struct rs_op *op, uint64_t clock, uint64_t waking_ts)
{
	op->wake_clock_ns = clock_offset(clock, waking_ts);
	if (op->wake_clock_ns >= 0)
		rs_calibration_delay(an->cal, RS_DELAY_WAKE_CLOCK, (uint64_t)op->wake_clock_ns);
}

int rs_annotate_wakeup(struct rs_annotate *an, unsigned int cpu, unsigned int target, uint64_t ts, struct rs_op_ref ref,
		       uint64_t waking_ts)
{
	struct cpu_clock *c = clock_of(an, cpu);
	struct rs_op *op = op_of(an, ref);

	if (!c)
		return -ENOMEM;
	c->waking.ts = 0;
	c = clock_of(an, target);
	if (!c)
		return -ENOMEM;
	if (!op || ts - waking_ts > BURST_NS)
		return 0;
	if (c->nr_burst < BURST_MAX && waking_ts >= c->switch_ts)
		c->burst[c->nr_burst++] = (struct pending_wake){ ref, waking_ts };
	/* A wakeup handled on the target by interrupt was accounted there just before: not by a tick. */
	if (op->wake_clock_ns == RS_UNKNOWN && c->accounted_ts > waking_ts && c->known) {
		note_wake_clock(an, op, c->clock, waking_ts);
		if (c->nr_ticks && c->ticks[c->nr_ticks - 1].at_ns == c->accounted_ts) {
			c->nr_ticks--;
			c->tick_ts = 0;
		}
	}
	return 0;
}

static int add_tick(struct cpu_clock *c, uint64_t ts)
{
	if (c->nr_ticks == c->ticks_room) {
		uint32_t room = c->ticks_room ? c->ticks_room * 2 : 64;
		struct rs_tick_note *ticks = realloc(c->ticks, room * sizeof(*ticks));

		if (!ticks)
			return -ENOMEM;
		c->ticks = ticks;
		c->ticks_room = room;
	}
	c->ticks[c->nr_ticks++] = (struct rs_tick_note){ .at_ns = ts, .clock_ns = clock_offset(c->clock, ts), .delay_ns = RS_UNKNOWN, .switch_clock_ns = RS_UNKNOWN };
	c->tick_ts = ts;
	return 0;
}

/* The waking in progress on @by saw the clock of another queue at @clock. Return: whether there is one. */
static bool accounts_waking(struct rs_annotate *an, const struct cpu_clock *by, uint64_t ts, uint64_t clock)
{
	struct rs_op *op;

	if (!by->waking.ts || ts - by->waking.ts >= WAKING_NS)
		return false;
	op = op_of(an, by->waking.ref);
	if (op && op->wake_clock_ns == RS_UNKNOWN)
		note_wake_clock(an, op, clock, by->waking.ts);
	return true;
}

int rs_annotate_runtime(struct rs_annotate *an, unsigned int cpu, unsigned int charged, uint64_t ts, uint64_t runtime, int in_irq,
			int early)
{
	struct cpu_clock *by, *c;

	if (!clock_of(an, cpu > charged ? cpu : charged)) /* room for both: growing moves them */
		return -ENOMEM;
	by = &an->cpus[cpu];
	c = &an->cpus[charged];
	if (early) {
		c->early_ns += runtime;
		c->early_ts = ts;
		accounts_waking(an, by, ts, c->known ? c->clock + c->early_ns : ts);
		return 0;
	}
	if (c->known) {
		c->clock += runtime;
	} else {
		/* The event comes right after the clock was read; the constant in between is the same everywhere. */
		c->clock = ts;
		c->known = 1;
		if (c->from_idle && c->switch_ts && ts - runtime <= c->switch_ts) {
			struct rs_op *op = op_of(an, c->left_idle);

			rs_calibration_delay(an->cal, RS_DELAY_IDLE_LEAD, c->switch_ts - (ts - runtime));
			if (op)
				op->idle_clock_ns = clock_offset(ts - runtime, c->switch_ts);
		}
		c->from_idle = 0;
	}
	c->accounted_ts = ts;
	if (accounts_waking(an, by, ts, c->clock))
		return 0;
	return in_irq && cpu == charged ? add_tick(c, ts) : 0;
}

int rs_annotate_move(struct rs_annotate *an, unsigned int from, unsigned int to, uint64_t ts, struct rs_op_ref ref, bool pulled)
{
	struct cpu_clock *src, *dst;
	uint64_t clock;

	if (!clock_of(an, from > to ? from : to))
		return -ENOMEM;
	src = &an->cpus[from];
	dst = &an->cpus[to];
	clock = src->known && src->accounted_ts < ts && ts - src->accounted_ts < WAKING_NS ? src->clock : ts;
	if (!pulled) {
		op_of(an, ref)->clock_ns = clock_offset(clock, ts);
		if (dst->nr_burst < BURST_MAX)
			dst->burst[dst->nr_burst++] = (struct pending_wake){ ref, ts };
	} else if (dst->nr_pulled < PULLED_MAX) {
		dst->pulled[dst->nr_pulled].ref = ref;
		dst->pulled[dst->nr_pulled++].clock = clock;
	}
	return 0;
}

/*
 * The switch at @ts was caused by the wakings of the burst, each of which would have caused it at that instant. When the
 * running task blocked instead, it was on its way there and would not have been preempted before.
 */
static void annotate_burst(struct rs_annotate *an, struct cpu_clock *c, uint64_t ts, bool blocked)
{
	for (unsigned int i = 0; i < c->nr_burst; i++) {
		struct rs_op *op = op_of(an, c->burst[i].ref);
		uint64_t delay = ts - c->burst[i].ts;

		if (op->delay_ns == RS_UNKNOWN && delay < (blocked ? BLOCKING_NS : BURST_NS))
			op->delay_ns = (int32_t)delay + blocked;
	}
}

static bool in_burst(const struct cpu_clock *c, struct rs_op_ref ref)
{
	for (unsigned int i = 0; i < c->nr_burst; i++) {
		if (c->burst[i].ref.task == ref.task && c->burst[i].ref.op == ref.op)
			return true;
	}
	return false;
}

/* What the task that has just come was charged before its switch showed. */
static void take_early(struct rs_annotate *an, struct cpu_clock *c)
{
	struct rs_op *op = op_of(an, c->left_idle);

	if (c->known) {
		c->clock += c->early_ns;
	} else if (c->early_ns && c->from_idle) {
		c->clock = c->early_ts;
		c->known = 1;
		c->from_idle = 0;
		if (op)
			op->idle_clock_ns = clock_offset(c->early_ts - c->early_ns, c->switch_ts);
	}
	c->early_ns = 0;
}

int rs_annotate_switch(struct rs_annotate *an, unsigned int cpu, uint64_t ts, const struct rs_switch_note *note)
{
	struct cpu_clock *c = clock_of(an, cpu);
	struct rs_op *op;

	if (!c)
		return -ENOMEM;
	if (note->wake.task != RS_NO_TASK && c->nr_burst < BURST_MAX && !in_burst(c, note->wake))
		c->burst[c->nr_burst++] = (struct pending_wake){ note->wake, note->waking_ts };
	annotate_burst(an, c, ts, !note->preempted && !note->from_idle);
	if (note->preempted && c->tick_ts && ts - c->tick_ts < TICK_NEAR_NS) {
		c->ticks[c->nr_ticks - 1].delay_ns = (int32_t)(ts - c->tick_ts);
		if (c->known)
			c->ticks[c->nr_ticks - 1].switch_clock_ns = clock_offset(c->clock, ts);
	}
	op = op_of(an, note->prev);
	if (op && c->known) {
		op->clock_ns = clock_offset(c->clock, ts);
		if (op->clock_ns <= 0 && op->clock_ns != RS_UNKNOWN)
			rs_calibration_delay(an->cal, RS_DELAY_LEAD, (uint64_t) - (int64_t)op->clock_ns);
	}
	if (note->from_idle || !note->to_fair)
		c->known = 0;
	c->from_idle = note->from_idle != 0;
	c->left_idle = note->wake;
	take_early(an, c);
	c->switch_ts = ts;
	for (unsigned int i = 0; i < c->nr_pulled; i++)
		op_of(an, c->pulled[i].ref)->clock_ns = clock_offset(c->pulled[i].clock, ts);
	c->nr_burst = c->nr_pulled = 0;
	c->tick_ts = 0;
	return 0;
}

int rs_annotate_lost(struct rs_annotate *an, unsigned int cpu)
{
	struct cpu_clock *c = clock_of(an, cpu);

	if (!c)
		return -ENOMEM;
	c->known = c->from_idle = 0;
	c->nr_burst = c->nr_pulled = 0;
	c->tick_ts = c->waking.ts = 0;
	return 0;
}

/* Number of the grid point next to @ts, or -1 when none is near. */
static int64_t tick_number(const struct rs_tick *tick, uint64_t ts)
{
	uint64_t since = ts - tick->phase_ns + tick->tick_ns / 2;
	uint64_t off = since % tick->tick_ns;

	off = off > tick->tick_ns / 2 ? off - tick->tick_ns / 2 : tick->tick_ns / 2 - off;
	return off < TICK_NEAR_NS ? (int64_t)(since / tick->tick_ns) : -1;
}

static int hand_over(struct cpu_clock *c, const struct rs_tick *tick, struct rs_tick_notes *notes)
{
	int64_t first = -1, last = -1;

	for (uint32_t i = 0; i < c->nr_ticks; i++) {
		int64_t nr = tick_number(tick, c->ticks[i].at_ns);

		if (nr < 0)
			continue;
		if (first < 0)
			first = nr;
		last = nr;
	}
	if (first < 0)
		return 0;
	notes->first = (uint64_t)first;
	notes->nr = (uint32_t)(last - first + 1);
	notes->notes = calloc(notes->nr, sizeof(*notes->notes)); /* at_ns 0: not seen */
	if (!notes->notes)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->nr_ticks; i++) {
		int64_t nr = tick_number(tick, c->ticks[i].at_ns);

		if (nr >= first && nr <= last && !notes->notes[nr - first].at_ns)
			notes->notes[nr - first] = c->ticks[i];
	}
	return 0;
}

int rs_annotate_ticks(struct rs_annotate *an, const struct rs_tick *tick)
{
	struct resched_workload *w = an->workload;

	if (!tick->accounted)
		return 0;
	w->ticks = calloc(an->nr_cpus ? an->nr_cpus : 1, sizeof(*w->ticks));
	if (!w->ticks)
		return -ENOMEM;
	w->nr_tick_cpus = an->nr_cpus;
	for (unsigned int i = 0; i < an->nr_cpus; i++) {
		int rc = hand_over(&an->cpus[i], tick, &w->ticks[i]);

		if (rc < 0)
			return rc;
	}
	return 0;
}
