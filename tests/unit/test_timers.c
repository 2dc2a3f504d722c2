// SPDX-License-Identifier: GPL-2.0-only
/* External wakes: periodic, catching up, relative, absolute. */
#include "replay/workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define MS 1000000ull

static void sleep_op(struct rs_program *p, uint64_t blocked, uint64_t woken)
{
	struct rs_op *op = rs_program_append(p);

	assert_non_null(op);
	op->kind = RS_OP_BLOCK;
	op->rule = RS_RULE_ABSOLUTE;
	op->when_ns = woken;
	op->len_ns = woken - blocked;
}

static void release(struct rs_program *p)
{
	free(p->ops);
	free(p->grid);
}

/* A task of period 10 ms whose work takes from 1 to 7 ms, woken with a few us of jitter. */
static void a_grid_is_found_whatever_the_work(void **state)
{
	struct rs_program p = { .prio = 120 };
	uint64_t phase = 5000003000ull, blocked = 5000000000ull;
	int64_t round = INT64_MIN;

	(void)state;
	for (uint64_t k = 0; k < 20; k++) {
		uint64_t woken = phase + k * 10 * MS + (k * 7919) % 9000;

		sleep_op(&p, blocked, woken);
		blocked = woken + (1 + k * 5 % 7) * MS;
	}
	assert_int_equal(rs_timers_classify(&p), 0);
	assert_int_equal(p.period_ns, 10 * MS);
	for (uint32_t i = 0; i < p.nr_ops; i++)
		assert_int_equal(p.ops[i].rule, RS_RULE_PERIODIC);
	assert_int_equal(p.catch_up, 0);
	/* Blocked at 23 ms: the next point is 30 ms, and the recorded instant near it is taken. */
	assert_int_equal(rs_timers_next(&p, &p.ops[4], phase + 23 * MS, 0, &round), p.ops[3].when_ns);
	/* Late by more than a period: points that have passed are not made up for. */
	assert_int_equal(rs_timers_next(&p, &p.ops[4], phase + 47 * MS, 0, &round), p.ops[5].when_ns);
	/* Beyond the recording the grid goes on. */
	assert_in_range(rs_timers_next(&p, &p.ops[4], phase + 1001 * MS, 1, &round), phase + 1010 * MS - 10000, phase + 1010 * MS + 10000);
	release(&p);
}

/* Sixty wakings, work of 0.1 to 4 ms between: by a clock of their own, 6 to 12 ms apart; or sleeps of 2 to 8 ms after the work. */
static void wakes(struct rs_program *p, int own_clock)
{
	uint64_t woken = 5000000000ull, blocked = woken + MS;

	for (uint64_t k = 0; k < 60; k++) {
		uint64_t vary = k * 7919 % 6007 * 1000;

		woken = own_clock ? woken + 6 * MS + vary : blocked + 2 * MS + vary;
		sleep_op(p, blocked, woken);
		blocked = woken + MS / 10 + k * 104729 % 3907 * 1000;
	}
	assert_int_equal(rs_timers_classify(p), 0);
}

static void what_comes_by_its_own_clock_does_not_wait_for_the_work(void **state)
{
	struct rs_program arrivals = { .prio = 120 }, sleeps = { .prio = 120 };

	(void)state;
	wakes(&arrivals, 1);
	wakes(&sleeps, 0);
	for (uint32_t i = 0; i < arrivals.nr_ops; i++) {
		assert_int_equal(arrivals.ops[i].rule, RS_RULE_ARRIVAL);
		assert_int_equal(sleeps.ops[i].rule, RS_RULE_RELATIVE);
	}
	release(&arrivals);
	release(&sleeps);
}

static void a_task_that_makes_up_for_missed_periods_keeps_its_count(void **state)
{
	struct rs_program p = { .prio = 120 };
	uint64_t base = 7000000000ull, blocked = base - MS;
	int64_t round = INT64_MIN;

	(void)state;
	for (uint64_t k = 0; k < 30; k++) {
		uint64_t due = base + k * 5 * MS;

		/* Every sixth round is late: the timer has passed when it blocks. */
		if (k % 6 == 5)
			sleep_op(&p, due + MS, due + MS + 3000);
		else
			sleep_op(&p, blocked, due);
		blocked = due + 2 * MS;
	}
	assert_int_equal(rs_timers_classify(&p), 0);
	assert_int_equal(p.period_ns, 5 * MS);
	assert_int_equal(p.catch_up, 1);
	assert_int_equal(rs_timers_next(&p, &p.ops[0], base - MS, 0, &round), base);
	/* Long after point 1: it returns at once, and point 2 after it, until it has caught up. */
	assert_in_range(rs_timers_next(&p, &p.ops[1], base + 12 * MS, 0, &round), base + 12 * MS + 1, base + 12 * MS + 10000);
	assert_in_range(rs_timers_next(&p, &p.ops[2], base + 13 * MS, 0, &round), base + 13 * MS + 1, base + 13 * MS + 10000);
	assert_int_equal(rs_timers_next(&p, &p.ops[3], base + 14 * MS, 0, &round), base + 15 * MS);
	release(&p);
}

static void other_sleeps_keep_their_length(void **state)
{
	struct rs_program p = { .prio = 120 };
	uint64_t now = 1000 * MS;
	int64_t round = INT64_MIN;

	(void)state;
	for (uint64_t k = 0; k < 20; k++) {
		uint64_t len = (1 + k * k * 13 % 17) * MS + k * 77777;

		sleep_op(&p, now, now + len);
		now += len + 300000;
	}
	assert_int_equal(rs_timers_classify(&p), 0);
	for (uint32_t i = 0; i < p.nr_ops; i++)
		assert_int_equal(p.ops[i].rule, RS_RULE_RELATIVE);
	assert_int_equal(rs_timers_next(&p, &p.ops[7], 123456789, 0, &round), 123456789 + p.ops[7].len_ns);
	release(&p);
}

static void kernel_threads_and_real_time_stay_where_they_were(void **state)
{
	struct rs_program kthread = { .prio = 120, .kthread = 1 }, rt = { .prio = 49 };
	int64_t round = INT64_MIN;

	(void)state;
	for (uint64_t k = 0; k < 10; k++) {
		sleep_op(&kthread, k * 10 * MS + MS, (k + 1) * 10 * MS);
		sleep_op(&rt, k * 10 * MS + MS, (k + 1) * 10 * MS);
	}
	assert_int_equal(rs_timers_classify(&kthread), 0);
	assert_int_equal(rs_timers_classify(&rt), 0);
	assert_int_equal(kthread.ops[4].rule, RS_RULE_ABSOLUTE);
	assert_int_equal(rt.ops[4].rule, RS_RULE_ABSOLUTE);
	assert_int_equal(rs_timers_next(&rt, &rt.ops[4], 45 * MS, 0, &round), 50 * MS);
	/* Going round again, an instant that has passed means the recorded length. */
	assert_int_equal(rs_timers_next(&rt, &rt.ops[4], 145 * MS, 1, &round), 154 * MS);
	release(&kthread);
	release(&rt);
}

static void a_sleep_nothing_ends_has_no_timer(void **state)
{
	struct rs_program p = { .prio = 120 };
	struct rs_op op = { .kind = RS_OP_BLOCK, .rule = RS_RULE_NEVER };
	int64_t round = INT64_MIN;

	(void)state;
	assert_true(rs_timers_next(&p, &op, 5, 0, &round) == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_grid_is_found_whatever_the_work),
		cmocka_unit_test(what_comes_by_its_own_clock_does_not_wait_for_the_work),
		cmocka_unit_test(a_task_that_makes_up_for_missed_periods_keeps_its_count),
		cmocka_unit_test(other_sleeps_keep_their_length),
		cmocka_unit_test(kernel_threads_and_real_time_stay_where_they_were),
		cmocka_unit_test(a_sleep_nothing_ends_has_no_timer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
