// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wakes from outside the tasks: which are periodic in absolute time, which follow the start of the sleep,
 * and which happen when they happen.
 *
 *   periodic   the instants lie on a grid phase + k * period: the next grid point after the block
 *   catch-up   a periodic task that was seen returning at once when late: its k-th sleep ends at point k
 *   arrival    at instants that do not care how long the task took before: the later it blocks, the shorter it sleeps
 *   relative   a fair user task otherwise (a sleep, a poll timeout, a disk request of its own)
 *   absolute   kernel threads and tasks above the fair class
 */
#include "replay/workload.h"

#include <errno.h>
#include <stdlib.h>

#define LATE_NS 20000u		/* a sleep this short is a timer that had already passed */
#define MIN_WAKES 5u
#define MIN_PERIOD_NS 500000u
#define MIN_TOLERANCE_NS 25000u	/* twice the usual timer interrupt jitter */
#define MIN_CLOCK_WAKES 30u
#define MIN_LATE_SLEEPS 3u

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int is_external(const struct rs_op *op)
{
	return op->kind == RS_OP_BLOCK && op->rule == RS_RULE_ABSOLUTE;
}

static uint64_t tolerance(uint64_t period)
{
	uint64_t share = period / 200;

	return share > MIN_TOLERANCE_NS ? share : MIN_TOLERANCE_NS;
}

/* The commonest of the @nr sorted @gaps, to a tenth of a millisecond. */
static uint64_t commonest_gap(const uint64_t *gaps, uint32_t nr)
{
	uint64_t best = 0;
	uint32_t best_count = 0;

	for (uint32_t i = 0; i < nr;) {
		uint64_t bucket = (gaps[i] + 50000) / 100000, sum = 0;
		uint32_t count = 0;

		for (; i < nr && (gaps[i] + 50000) / 100000 == bucket; i++, count++)
			sum += gaps[i];
		if (count > best_count) {
			best_count = count;
			best = sum / count;
		}
	}
	return best;
}

/* Refine @period by the mean over the gaps that are near a multiple of it. */
static uint64_t refine_period(const uint64_t *w, uint32_t nr, uint64_t period)
{
	uint64_t sum = 0, periods = 0;

	for (uint32_t i = 1; i < nr; i++) {
		uint64_t gap = w[i] - w[i - 1], k = (gap + period / 2) / period;
		uint64_t off = gap > k * period ? gap - k * period : k * period - gap;

		if (k && off < 4 * tolerance(period)) {
			sum += gap;
			periods += k;
		}
	}
	return periods ? (sum + periods / 2) / periods : period;
}

static int64_t grid_offset(uint64_t ts, uint64_t origin, uint64_t period)
{
	uint64_t half = period / 2;

	return (int64_t)((ts - origin + half) % period) - (int64_t)half;
}

/* Is @w (ascending) on a grid of @period? On success the grid's origin near w[0]. */
static int fits_grid(const uint64_t *w, uint32_t nr, uint64_t period, uint64_t *scratch, uint64_t *ret_origin)
{
	const uint64_t bias = 1ull << 62;	/* offsets are signed; sort them unsigned */
	uint32_t inside = 0;
	uint64_t median;

	for (uint32_t i = 0; i < nr; i++)
		scratch[i] = bias + (uint64_t)grid_offset(w[i], w[0], period);
	qsort(scratch, nr, sizeof(*scratch), compare_u64);
	median = scratch[nr / 2];
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t off = scratch[i] > median ? scratch[i] - median : median - scratch[i];

		inside += off < tolerance(period);
	}
	if ((uint64_t)inside * 10 < (uint64_t)nr * 9)
		return 0;
	/* Timers fire late, never early: a low quartile is nearer to the programmed instant than the median. */
	*ret_origin = w[0] + scratch[nr / 4] - bias;
	return 1;
}

static int find_period(const uint64_t *w, uint32_t nr, uint64_t *scratch, uint64_t *ret_period, uint64_t *ret_origin)
{
	uint64_t candidates[2];

	for (uint32_t i = 1; i < nr; i++)
		scratch[i - 1] = w[i] - w[i - 1];
	qsort(scratch, nr - 1, sizeof(*scratch), compare_u64);
	candidates[0] = commonest_gap(scratch, nr - 1);
	candidates[1] = scratch[0];
	for (int c = 0; c < 2; c++) {
		uint64_t period = candidates[c];

		if (period < MIN_PERIOD_NS)
			continue;
		for (int pass = 0; pass < 3; pass++)
			period = refine_period(w, nr, period);
		period = (period + 500) / 1000 * 1000;	/* people and programs choose whole microseconds */
		if (period && fits_grid(w, nr, period, scratch, ret_origin)) {
			*ret_period = period;
			return 1;
		}
	}
	return 0;
}

/*
 * Do the wakings of @program come by a clock of their own, at no regular intervals? Then a sleep is what is left of the interval: its
 * length falls one for one with the time since the last waking. The slope of a regression tells, where it is known well enough.
 */
static int by_own_clock(const struct rs_program *program)
{
	double nr = 0, busy_sum = 0, len_sum = 0, busy_2 = 0, len_2 = 0, both = 0, slope, left;
	uint64_t woken = 0;

	for (uint32_t i = 0; i < program->nr_ops; i++) {
		const struct rs_op *op = &program->ops[i];

		if (op->kind != RS_OP_BLOCK)
			continue;
		if (is_external(op) && woken && op->when_ns - op->len_ns >= woken) {
			double busy = (double)(op->when_ns - op->len_ns - woken) / 1e3, len = (double)op->len_ns / 1e3;

			nr++;
			busy_sum += busy;
			len_sum += len;
			busy_2 += busy * busy;
			len_2 += len * len;
			both += busy * len;
		}
		woken = is_external(op) ? op->when_ns : 0;
	}
	busy_2 -= busy_sum * busy_sum / (nr > 0 ? nr : 1);
	len_2 -= len_sum * len_sum / (nr > 0 ? nr : 1);
	both -= busy_sum * len_sum / (nr > 0 ? nr : 1);
	if (nr < MIN_CLOCK_WAKES || busy_2 <= 0)
		return 0;
	slope = both / busy_2;
	left = len_2 - slope * both;	/* what the line does not explain */
	if (slope > -0.5 || slope < -1.5 || left < 0)
		return 0;
	/* Two standard errors away from the middle between the two explanations. */
	return (slope + 0.5) * (slope + 0.5) > 4 * left / ((nr - 2) * busy_2);
}

static void set_rule(struct rs_program *program, enum rs_wake_rule rule)
{
	for (uint32_t i = 0; i < program->nr_ops; i++) {
		if (is_external(&program->ops[i]))
			program->ops[i].rule = rule;
	}
}

/*
 * Who makes up for missed periods sleeps, however shortly, once a period: with the @late ones there may be several in what seemed one, when the
 * same ones are always late.
 */
static uint64_t rounds_a_period(const uint64_t *w, uint32_t nr, uint32_t late, uint64_t period)
{
	uint64_t periods = (w[nr - 1] - w[0] + period / 2) / period, sleeps = nr - 1 + late;

	return periods && sleeps > periods ? (sleeps + periods / 2) / periods : 1;
}

int rs_timers_classify(struct rs_program *program)
{
	uint64_t *w, *scratch;
	uint32_t nr = 0, late = 0;

	if (program->kthread || program->prio < 100)
		return 0;	/* absolute, as they are */
	for (uint32_t i = 0; i < program->nr_ops; i++)
		nr += is_external(&program->ops[i]);
	if (!nr)
		return 0;
	w = malloc(nr * sizeof(*w));
	scratch = malloc(nr * sizeof(*scratch));
	if (!w || !scratch) {
		free(w);
		free(scratch);
		return -ENOMEM;
	}
	nr = 0;
	for (uint32_t i = 0; i < program->nr_ops; i++) {
		const struct rs_op *op = &program->ops[i];

		if (!is_external(op))
			continue;
		if (op->len_ns < LATE_NS)
			late++;
		else
			w[nr++] = op->when_ns;
	}
	if (nr >= MIN_WAKES && find_period(w, nr, scratch, &program->period_ns, &program->phase_ns)) {
		program->catch_up = late >= MIN_LATE_SLEEPS;
		if (program->catch_up)
			program->period_ns /= rounds_a_period(w, nr, late, program->period_ns);
		program->grid = w;
		program->nr_grid = nr;
		w = NULL;
		set_rule(program, RS_RULE_PERIODIC);
	} else {
		set_rule(program, by_own_clock(program) ? RS_RULE_ARRIVAL : RS_RULE_RELATIVE);
	}
	free(w);
	free(scratch);
	return 0;
}

/* Grid point @k, or the recorded instant near it: that one decides ties with the tick as they fell. */
static uint64_t grid_point(const struct rs_program *program, int64_t k)
{
	uint64_t point = program->phase_ns + (uint64_t)(k * (int64_t)program->period_ns);
	uint64_t tol = tolerance(program->period_ns);
	uint32_t lo = 0, hi = program->nr_grid;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (program->grid[mid] + tol < point)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < program->nr_grid && program->grid[lo] < point + tol)
		return program->grid[lo];
	return point;
}

static int64_t grid_number(const struct rs_program *program, uint64_t ts)
{
	int64_t since = (int64_t)(ts - program->phase_ns), period = (int64_t)program->period_ns;

	return since >= 0 ? since / period : -((-since + period - 1) / period);
}

/* Grid points inside the recorded sleep: it waited for a later one, as a first sleep until a common start does. */
static int64_t points_passed_over(const struct rs_program *program, const struct rs_op *op)
{
	int64_t last = grid_number(program, op->when_ns + program->period_ns / 2) - 1;
	int64_t before = grid_number(program, op->when_ns - op->len_ns);

	return last > before ? last - before : 0;
}

uint64_t rs_timers_next(const struct rs_program *program, const struct rs_op *op, uint64_t now_ns, int looped, int64_t *round)
{
	uint64_t soonest = now_ns + RS_TIMER_ROUND_TRIP_NS, at;
	int64_t k;

	switch (op->rule) {
	case RS_RULE_RELATIVE:
		at = now_ns + op->len_ns;
		break;
	case RS_RULE_ABSOLUTE:
	case RS_RULE_ARRIVAL:
		at = looped ? now_ns + op->len_ns : op->when_ns;
		break;
	case RS_RULE_PERIODIC:
		if (!program->catch_up && op->len_ns < LATE_NS && !looped) {
			at = now_ns + op->len_ns;
			break;
		}
		if (program->catch_up) {
			if (*round == INT64_MIN)
				k = grid_number(program, op->when_ns + program->period_ns / 2);
			else
				k = *round + 1;
		} else {
			k = grid_number(program, now_ns);
			while (grid_point(program, k) <= now_ns)
				k++;
			k += points_passed_over(program, op);
		}
		*round = k;
		at = grid_point(program, k);
		break;
	default:
		return UINT64_MAX;
	}
	return at > soonest ? at : soonest;
}
