// SPDX-License-Identifier: GPL-2.0-only
/* The engine's alarms against a plain scan. */
#include "replay/eventq.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define NR 37u

static uint32_t scan(const uint64_t *at)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < NR; i++) {
		if (at[i] != RS_NEVER && (best == UINT32_MAX || at[i] < at[best]))
			best = i;
	}
	return best;
}

static void the_first_alarm_is_the_earliest_then_the_lowest(void **state)
{
	uint64_t at[NR], rng = 88172645463325252ull;
	struct rs_eventq q;

	(void)state;
	assert_int_equal(rs_eventq_init(&q, NR), 0);
	for (uint32_t i = 0; i < NR; i++)
		at[i] = RS_NEVER;
	for (int step = 0; step < 200000; step++) {
		uint32_t alarm;

		rng ^= rng << 13;
		rng ^= rng >> 7;
		rng ^= rng << 17;
		alarm = (uint32_t)(rng % NR);
		at[alarm] = rng >> 60 ? (rng >> 40) % 50 : RS_NEVER;	/* few values: many ties */
		rs_eventq_set(&q, alarm, at[alarm]);
		assert_int_equal(rs_eventq_first(&q), scan(at));
	}
	rs_eventq_release(&q);
}

static void an_empty_queue_has_no_first(void **state)
{
	struct rs_eventq q;

	(void)state;
	assert_int_equal(rs_eventq_init(&q, 2), 0);
	assert_int_equal(rs_eventq_first(&q), UINT32_MAX);
	rs_eventq_set(&q, 1, 7);
	assert_int_equal(rs_eventq_first(&q), 1);
	assert_int_equal(rs_eventq_at(&q, 1), 7);
	rs_eventq_set(&q, 1, RS_NEVER);
	assert_int_equal(rs_eventq_first(&q), UINT32_MAX);
	rs_eventq_release(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_alarm_is_the_earliest_then_the_lowest),
		cmocka_unit_test(an_empty_queue_has_no_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
