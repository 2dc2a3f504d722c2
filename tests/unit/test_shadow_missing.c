// SPDX-License-Identifier: GPL-2.0-only
/* Switches that a recording lacks are put in where they must have been. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "replay/shadow.h"

#define MS 1000000u

static struct resched_event from_to(uint64_t ts, unsigned int cpu, int prev, int next)
{
	return (struct resched_event){ .ts_ns = ts, .cpu = (uint16_t)cpu, .type = RESCHED_EV_SWITCH, .pid = prev,
				       .sw = { .next_pid = next, .prev_prio = 120, .next_prio = 125, .prev_state = RESCHED_STATE_S } };
}

static struct resched_event about(uint64_t ts, unsigned int cpu, int pid, uint8_t type)
{
	return (struct resched_event){ .ts_ns = ts, .cpu = (uint16_t)cpu, .type = type, .pid = pid };
}

static struct resched_event charge(uint64_t ts, int pid, uint64_t ns)
{
	return (struct resched_event){ .ts_ns = ts, .type = RESCHED_EV_RUNTIME, .pid = pid, .runtime = { .runtime_ns = ns } };
}

static void make(struct rs_shadow_log *log, const struct resched_event *events, size_t nr)
{
	*log = (struct rs_shadow_log){ 0 };
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(rs_shadow_log_event(log, &events[i]), 0);
	assert_int_equal(rs_shadow_log_fill(log), 0);
}

static void check(const struct resched_event *e, uint64_t ts, int prev, int next, uint32_t state)
{
	assert_int_equal(e->type, RESCHED_EV_SWITCH);
	assert_int_equal(e->ctx & RS_CTX_MADE_UP, RS_CTX_MADE_UP);
	assert_int_equal(e->ts_ns, ts);
	assert_int_equal(e->pid, prev);
	assert_int_equal(e->sw.next_pid, next);
	assert_int_equal(e->sw.prev_state, state);
	assert_int_equal(e->sw.prev_prio, 125); /* as it was switched to */
}

#define MAKE(log, events) make(&(log), events, sizeof(events) / sizeof((events)[0]))

/* 7 runs, and then 8 stops: 8 was charged for 2 ms before. 7 is woken later, so it slept. */
static void follower_began_as_it_was_charged(void **state)
{
	const struct resched_event events[] = {
		from_to(1 * MS, 0, 0, 7), about(2 * MS, 1, 9, RESCHED_EV_WAKING), charge(6 * MS, 8, 2 * MS), from_to(6 * MS, 0, 8, 0),
		about(8 * MS, 1, 7, RESCHED_EV_WAKING),
	};
	struct rs_shadow_log log;

	(void)state;
	MAKE(log, events);
	assert_int_equal(log.nr, 6);
	assert_int_equal(log.nr_made_up, 1);
	check(&log.events[2], 4 * MS, 7, 8, RESCHED_STATE_S);
	rs_shadow_log_release(&log);
}

/* 7 runs again without having been woken: it was preempted. */
static void who_runs_again_unwoken_was_preempted(void **state)
{
	const struct resched_event events[] = {
		from_to(1 * MS, 0, 0, 7), charge(6 * MS, 8, 2 * MS), from_to(6 * MS, 0, 8, 7), from_to(9 * MS, 0, 7, 0),
	};
	struct rs_shadow_log log;

	(void)state;
	MAKE(log, events);
	assert_int_equal(log.nr, 5);
	check(&log.events[1], 4 * MS, 7, 8, RESCHED_STATE_RUNNING);
	rs_shadow_log_release(&log);
}

/* The cpu idles: nothing tells since when, so 7 left when it was seen last. */
static void idle_begins_after_the_last_event(void **state)
{
	const struct resched_event events[] = {
		from_to(1 * MS, 0, 0, 7), charge(3 * MS, 7, 2 * MS), about(4 * MS, 1, 9, RESCHED_EV_WAKING), from_to(9 * MS, 0, 0, 9),
	};
	struct rs_shadow_log log;

	(void)state;
	MAKE(log, events);
	assert_int_equal(log.nr, 5);
	check(&log.events[2], 3 * MS, 7, 0, RESCHED_STATE_S);
	rs_shadow_log_release(&log);
}

/* A charge that is longer than there was time for: not before the last event of the one it followed. */
static void never_before_what_was_seen(void **state)
{
	const struct resched_event events[] = {
		from_to(1 * MS, 0, 0, 7), charge(5 * MS, 7, 4 * MS), charge(6 * MS, 8, 3 * MS), from_to(6 * MS, 0, 8, 0),
	};
	struct rs_shadow_log log;

	(void)state;
	MAKE(log, events);
	check(&log.events[2], 5 * MS, 7, 8, RESCHED_STATE_S);
	rs_shadow_log_release(&log);
}

/* After a loss nobody knows who ran; and what fits needs nothing. */
static void nothing_where_nothing_is_missing(void **state)
{
	const struct resched_event whole[] = { from_to(1 * MS, 0, 0, 7), from_to(2 * MS, 0, 7, 8), from_to(3 * MS, 1, 5, 0), from_to(4 * MS, 0, 8, 0) };
	const struct resched_event lost[] = { from_to(1 * MS, 0, 0, 7), about(2 * MS, 0, 0, RESCHED_EV_LOST), from_to(3 * MS, 0, 8, 0) };
	struct rs_shadow_log log;

	(void)state;
	MAKE(log, whole);
	assert_int_equal(log.nr, 4);
	assert_int_equal(log.nr_made_up, 0);
	rs_shadow_log_release(&log);
	MAKE(log, lost);
	assert_int_equal(log.nr, 3);
	rs_shadow_log_release(&log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follower_began_as_it_was_charged),
		cmocka_unit_test(who_runs_again_unwoken_was_preempted),
		cmocka_unit_test(idle_begins_after_the_last_event),
		cmocka_unit_test(never_before_what_was_seen),
		cmocka_unit_test(nothing_where_nothing_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
