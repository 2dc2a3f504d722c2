// SPDX-License-Identifier: GPL-2.0-only
/* Percentiles against a full sort, exact and from histograms. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analysis/samples.h"
#include "analysis/state.h"

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Shapes that break careless selection: equal values, sorted, few distinct ones, wide ones, octaves. */
static uint64_t shaped(unsigned int shape, size_t i, size_t n, uint64_t *seed)
{
	switch (shape) {
	case 0: return 42;
	case 1: return i;
	case 2: return n - i;
	case 3: return next_random(seed) % 3;
	case 4: return next_random(seed) >> (next_random(seed) % 64);
	case 5: return next_random(seed) % 1000000;
	default: return i % 2 ? UINT32_MAX : (uint64_t)UINT32_MAX + 1;
	}
}

static void check_dist(const struct resched_dist *d, const uint64_t *sorted, size_t n, double tolerance)
{
	static const double q[] = { .5, .9, .99, .999 };
	const uint64_t got[] = { d->p50, d->p90, d->p99, d->p999 };
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += sorted[i];
	assert_int_equal(d->count, n);
	assert_int_equal(d->sum, sum);
	assert_int_equal(d->min, sorted[0]);
	assert_int_equal(d->max, sorted[n - 1]);
	for (int i = 0; i < 4; i++) {
		uint64_t want = sorted[(size_t)ceil(q[i] * (double)n) - 1];

		if (tolerance == 0)
			assert_int_equal(got[i], want);
		else
			assert_true(fabs((double)got[i] - (double)want) <= tolerance * (double)want);
	}
}

static void check_sorted(const struct rs_merge *merge, const uint64_t *want, size_t n, double tolerance)
{
	uint64_t *sorted;

	assert_int_equal(rs_merge_sorted(merge, &sorted), 0);
	for (size_t i = 0; i < n; i++)
		assert_true(fabs((double)sorted[i] - (double)want[i]) <= tolerance * (double)want[i]);
	free(sorted);
}

/* @split: over how many stores; @hist: how many of them are histograms. */
static void check_shape(unsigned int shape, size_t n, unsigned int split, unsigned int hist)
{
	uint64_t *all = calloc(n, sizeof(*all)), seed = 88172645463325252ull + shape * 977 + n;
	struct rs_samples stores[4] = { 0 };
	struct rs_merge merge = { 0 };
	struct resched_dist d;

	assert_non_null(all);
	for (size_t i = 0; i < n; i++) {
		all[i] = shaped(shape, i, n, &seed);
		assert_int_equal(rs_samples_add(&stores[i % split], all[i]), 0);
		if (i == n / 2 && hist)
			assert_int_equal(rs_samples_to_hist(&stores[0]), 0);	/* half before, half after */
	}
	for (unsigned int s = 1; s < hist; s++)
		assert_int_equal(rs_samples_to_hist(&stores[s]), 0);
	qsort(all, n, sizeof(*all), compare_u64);
	for (int round = 0; round < 2; round++) {	/* a cleared merge is as good as a new one */
		rs_merge_clear(&merge);
		for (unsigned int s = 0; s < split; s++)
			assert_int_equal(rs_merge_add(&merge, &stores[s]), 0);
		check_sorted(&merge, all, n, hist ? .001 : 0);
		rs_merge_dist(&merge, &d);
		check_dist(&d, all, n, hist ? .001 : 0);
	}
	rs_merge_release(&merge);
	for (unsigned int s = 0; s < 4; s++)
		rs_samples_release(&stores[s]);
	free(all);
}

static const size_t sizes[] = { 1, 2, 3, 10, 33, 100, 999, 1000, 1001, 1024, 5000, 100000 };

static void exact_percentiles_equal_a_sort(void **state)
{
	(void)state;
	for (unsigned int shape = 0; shape <= 6; shape++) {
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			check_shape(shape, sizes[i], 1, 0);
			check_shape(shape, sizes[i], 4, 0);
		}
	}
}

static void histograms_are_within_a_thousandth(void **state)
{
	(void)state;
	for (unsigned int shape = 0; shape <= 6; shape++) {
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			check_shape(shape, sizes[i], 1, 1);
			check_shape(shape, sizes[i], 4, 1);	/* one histogram among exact stores */
			check_shape(shape, sizes[i], 4, 4);
		}
	}
}

static void buckets_cover_all_values(void **state)
{
	(void)state;
	for (unsigned int bit = 0; bit < 64; bit++) {
		const uint64_t offs[] = { (uint64_t)-1, 0, 1, (1ull << bit >> 10) - 1 };	/* the last: far end of a bucket */

		for (int i = 0; i < 4; i++) {
			uint64_t ns = (1ull << bit) + offs[i];
			unsigned int bucket = rs_hist_bucket(ns);
			double middle = (double)rs_hist_value(bucket);

			assert_true(bucket < RS_HIST_BUCKETS);
			assert_true(fabs(middle - (double)ns) <= (double)ns * .0005);
			assert_int_equal(rs_hist_bucket(rs_hist_value(bucket)), bucket);
		}
	}
	assert_true(rs_hist_bucket(UINT64_MAX) < RS_HIST_BUCKETS);
}

static void ranks_are_nearest_rank(void **state)
{
	(void)state;
	assert_int_equal(rs_rank(.5, 1), 0);
	assert_int_equal(rs_rank(.5, 2), 0);
	assert_int_equal(rs_rank(.5, 3), 1);
	assert_int_equal(rs_rank(.99, 100), 98);
	assert_int_equal(rs_rank(.99, 101), 99);
	assert_int_equal(rs_rank(.999, 1000), 998);
	assert_int_equal(rs_rank(1, 5), 4);
}

/* A stream with more waits than are kept exactly still counts all of them, and says that it rounds. */
static void too_many_samples_become_histograms(void **state)
{
	struct resched_analysis *an;
	struct resched_report *rep;
	struct resched_error err;
	const uint64_t nr = 40000;

	(void)state;
	assert_int_equal(resched_analysis_new(NULL, &an, &err), 0);
	rs_analysis_set_exact_limit(an, 20000);
	for (uint64_t i = 0; i < nr; i++) {
		uint64_t ts = i * 1000000;
		const struct resched_event events[] = {
			{ .ts_ns = ts, .pid = 7, .type = RESCHED_EV_WAKING },
			{ .ts_ns = ts + 1000 + i, .type = RESCHED_EV_SWITCH, .sw = { .next_pid = 7 } },
			{ .ts_ns = ts + 500000, .pid = 7, .type = RESCHED_EV_SWITCH, .sw = { .prev_state = RESCHED_STATE_S } },
		};

		for (int k = 0; k < 3; k++)
			assert_int_equal(resched_analysis_event(an, &events[k]), 0);
	}
	assert_int_equal(resched_analysis_finish(an, &rep, &err), 0);
	assert_false(rep->exact);
	assert_int_equal(rep->totals.wakeup_latency.count, nr);
	assert_int_equal(rep->totals.wakeup_latency.max, 1000 + nr - 1);
	assert_true(fabs((double)rep->totals.wakeup_latency.p50 - (1000. + (double)nr / 2 - 1)) <= .001 * (double)nr);
	resched_report_free(rep);
	resched_analysis_free(an);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_percentiles_equal_a_sort),
		cmocka_unit_test(histograms_are_within_a_thousandth),
		cmocka_unit_test(buckets_cover_all_values),
		cmocka_unit_test(ranks_are_nearest_rank),
		cmocka_unit_test(too_many_samples_become_histograms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
