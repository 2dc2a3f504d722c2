// SPDX-License-Identifier: GPL-2.0-only
/* Where the tick falls and what the machine's delays are, from samples alone. */
#include "replay/calibrate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static struct rs_calibration *with_ticks(uint64_t tick_ns, uint64_t phase_ns, unsigned int nr, unsigned int noise_every, int accounted)
{
	struct rs_calibration *cal = rs_calibration_new();

	assert_non_null(cal);
	for (unsigned int i = 0; i < nr; i++) {
		uint64_t jitter = i * 7919 % 8000;

		if (noise_every && i % noise_every == 0)
			jitter = i * 104729ull % tick_ns;
		rs_calibration_tick(cal, 1000000000000ull / tick_ns * tick_ns + (i * 3 + 1) * tick_ns + phase_ns + jitter, accounted);
	}
	return cal;
}

static void period_and_phase_are_found(void **state)
{
	static const struct { unsigned int hz; uint64_t tick_ns; } rates[] = {
		{ 100, 10000000 }, { 250, 4000000 }, { 1000, 1000000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		struct rs_calibration *cal = with_ticks(rates[i].tick_ns, 412000, 300, 5, 1);
		struct rs_tick tick;

		rs_calibration_find_tick(cal, 0, &tick);
		assert_int_equal(tick.hz, rates[i].hz);
		assert_int_equal(tick.tick_ns, rates[i].tick_ns);
		assert_in_range(tick.phase_ns, 412000, 420500);
		assert_true(tick.confidence > 0.75 && tick.confidence < 0.95);
		assert_int_equal(tick.accounted, 1);
		rs_calibration_free(cal);
	}
}

static void a_phase_near_zero_wraps(void **state)
{
	struct rs_calibration *cal = with_ticks(4000000, 3996000, 300, 0, 0);
	struct rs_tick tick;

	(void)state;
	rs_calibration_find_tick(cal, 250, &tick);
	assert_true(tick.phase_ns >= 3996000 || tick.phase_ns < 5000);
	assert_true(tick.confidence > 0.99);
	rs_calibration_free(cal);
}

static void few_samples_prove_nothing(void **state)
{
	struct rs_calibration *cal = with_ticks(4000000, 412000, 10, 0, 1);
	struct rs_tick tick;

	(void)state;
	rs_calibration_find_tick(cal, 1000, &tick);
	assert_int_equal(tick.hz, 1000);
	assert_true(tick.confidence == 0);
	assert_int_equal(tick.phase_ns, 0);
	rs_calibration_find_tick(cal, 0, &tick);
	assert_int_equal(tick.hz, 250);
	rs_calibration_free(cal);
}

static void delays_are_medians(void **state)
{
	struct rs_calibration *cal = rs_calibration_new();

	(void)state;
	assert_non_null(cal);
	assert_int_equal(rs_calibration_median(cal, RS_DELAY_IDLE_EXIT), 0);
	for (uint64_t ns = 1; ns <= 101; ns++)
		rs_calibration_delay(cal, RS_DELAY_IDLE_EXIT, ns == 101 ? 90000000 : ns * 10);
	assert_int_equal(rs_calibration_median(cal, RS_DELAY_IDLE_EXIT), 510);
	assert_int_equal(rs_calibration_median(cal, RS_DELAY_PREEMPT), 0);
	rs_calibration_free(cal);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(period_and_phase_are_found), cmocka_unit_test(a_phase_near_zero_wraps),
		cmocka_unit_test(few_samples_prove_nothing), cmocka_unit_test(delays_are_medians),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
