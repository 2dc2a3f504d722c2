// SPDX-License-Identifier: GPL-2.0-only
/* How far two distributions of wakeup latency are apart, against values worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <resched/validate.h>

#define US 1000u

/* @nr samples: the first @nr_low of them @low, the others @high. */
struct shape {
	uint64_t nr, nr_low, low, high;
};

static void fill(struct resched_group_row *row, const struct shape *shape)
{
	struct resched_dist *d = &row->f.wakeup_latency;

	row->latencies = calloc(shape->nr + 1, sizeof(*row->latencies));
	assert_non_null(row->latencies);
	for (uint64_t i = 0; i < shape->nr; i++) {
		row->latencies[i] = i < shape->nr_low ? shape->low : shape->high;
		d->sum += row->latencies[i];
	}
	d->count = row->f.wakeups = shape->nr;
	d->mean = shape->nr ? (double)d->sum / (double)shape->nr : 0;
}

static double distance(const struct shape *recorded, const struct shape *replayed)
{
	static char name[] = "load";
	struct resched_group_row a = { .name = name }, b = { .name = name };
	struct resched_report r = { .nr_comms = 1, .comms = &a }, p = { .nr_comms = replayed->nr ? 1 : 0, .comms = &b };
	struct resched_self_replay self;

	fill(&a, recorded);
	fill(&b, replayed);
	assert_int_equal(resched_self_compare(&r, &p, &self), 0);
	assert_int_equal(self.nr_comms, 1);
	assert_true(self.has_distance);
	assert_true(fabs(self.comms[0].latency_distance - self.latency_distance) < 1e-12);
	free(self.comms);
	free(a.latencies);
	free(b.latencies);
	return self.latency_distance;
}

static void distances_are_those_worked_out_by_hand(void **state)
{
	static const struct {
		struct shape recorded, replayed;
		double want;
	} cases[] = {
		{ { 60, 60, 100 * US, 0 }, { 60, 60, 100 * US, 0 }, 0 },
		{ { 60, 60, 100 * US, 0 }, { 100, 100, 150 * US, 0 }, .5 }, /* all of it 50 later */
		{ { 60, 30, 100 * US, 300 * US }, { 90, 90, 200 * US, 0 }, .5 }, /* the same mean, yet 100 apart at every quantile */
		{ { 60, 30, 100 * US, 300 * US }, { 70, 35, 100 * US, 300 * US }, 0 }, /* other counts, the same quantiles */
		{ { 60, 60, 100 * US, 0 }, { 100, 99, 100 * US, 1100 * US }, .1 }, /* one in a hundred is 1000 late */
		{ { 60, 60, 100 * US, 0 }, { 0, 0, 0, 0 }, 1 }, /* never woke */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_true(fabs(distance(&cases[i].recorded, &cases[i].replayed) - cases[i].want) < 1e-9);
}

static void no_distance_without_the_samples(void **state)
{
	static char name[] = "load";
	struct resched_group_row row = { .name = name, .f = { .wakeup_latency = { .count = 60, .sum = 60, .mean = 1 } } };
	struct resched_report r = { .nr_comms = 1, .comms = &row };
	struct resched_self_replay self;

	(void)state;
	assert_int_equal(resched_self_compare(&r, &r, &self), 0);
	assert_false(self.has_distance);
	free(self.comms);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances_are_those_worked_out_by_hand),
		cmocka_unit_test(no_distance_without_the_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
