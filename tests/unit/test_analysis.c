// SPDX-License-Identifier: GPL-2.0-only
/* The state machine that pairs waits, on streams written by hand. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <resched/analysis.h>

#define S RESCHED_STATE_S
#define R RESCHED_STATE_RUNNING
#define RPLUS (RESCHED_STATE_PREEMPT)
#define X RESCHED_STATE_X

static struct resched_event sw(uint64_t ts, unsigned int cpu, int prev, uint32_t state, int next)
{
	return (struct resched_event){ .ts_ns = ts, .cpu = (uint16_t)cpu, .pid = prev, .type = RESCHED_EV_SWITCH,
				       .sw = { next, 120, 120, state } };
}

static struct resched_event wake(uint8_t type, uint64_t ts, unsigned int cpu, int pid)
{
	return (struct resched_event){ .ts_ns = ts, .cpu = (uint16_t)cpu, .pid = pid, .type = type, .wake = { 0, 120, (uint16_t)cpu } };
}

#define WAKING(ts, cpu, pid) wake(RESCHED_EV_WAKING, ts, cpu, pid)
#define WAKEUP(ts, cpu, pid) wake(RESCHED_EV_WAKEUP, ts, cpu, pid)
#define WAKEUP_NEW(ts, cpu, pid) wake(RESCHED_EV_WAKEUP_NEW, ts, cpu, pid)
#define LOST(ts, c) ((struct resched_event){ .ts_ns = ts, .cpu = c, .type = RESCHED_EV_LOST })
#define FORK(ts, c, parent, child) \
	((struct resched_event){ .ts_ns = ts, .cpu = c, .pid = parent, .type = RESCHED_EV_FORK, .fork = { child } })
#define COMM(ts, p, n) ((struct resched_event){ .ts_ns = ts, .pid = p, .type = RESCHED_EV_COMM, .comm = { n, 0 } })
#define MIGRATE(ts, c, p, from, to) \
	((struct resched_event){ .ts_ns = ts, .cpu = c, .pid = p, .type = RESCHED_EV_MIGRATE, .migrate = { 120, from, to } })

static struct resched_report *analyse(const struct resched_analysis_options *opts, const struct resched_event *events, size_t nr)
{
	struct resched_analysis *an;
	struct resched_report *rep;
	struct resched_error err;

	assert_int_equal(resched_analysis_new(opts, &an, &err), 0);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(resched_analysis_event(an, &events[i]), 0);
	assert_int_equal(resched_analysis_finish(an, &rep, &err), 0);
	resched_analysis_free(an);
	return rep;
}

#define ANALYSE(opts, ...)                                                                     \
	analyse(opts, (const struct resched_event[]){ __VA_ARGS__ },                             \
		sizeof((const struct resched_event[]){ __VA_ARGS__ }) / sizeof(struct resched_event))

static const struct resched_task_row *task(const struct resched_report *rep, int pid, uint32_t birth)
{
	for (unsigned int i = 0; i < rep->nr_tasks; i++) {
		if (rep->tasks[i].pid == pid && rep->tasks[i].birth == birth)
			return &rep->tasks[i];
	}
	fail_msg("no row for pid %d, birth %u", pid, birth);
	return NULL;
}

static void wake_to_run_is_one_wait(void **state)
{
	struct resched_report *rep = ANALYSE(NULL, WAKING(100, 0, 7), sw(130, 0, 0, R, 7), sw(150, 0, 7, S, 0), WAKING(200, 0, 7),
					     sw(205, 0, 0, R, 7), sw(215, 0, 7, S, 0));
	const struct resched_figures *f = &task(rep, 7, 0)->f;

	(void)state;
	assert_int_equal(f->wakeup_latency.count, 2);
	assert_int_equal(f->wakeup_latency.min, 5);
	assert_int_equal(f->wakeup_latency.max, 30);
	assert_int_equal(f->wakeup_latency.sum, 35);
	assert_int_equal(f->runnable_wait_ns, 35);
	assert_int_equal(f->runtime_ns, 30);
	assert_int_equal(f->sleep_ns, 50);
	assert_int_equal(f->wakeups, 2);
	assert_int_equal(f->voluntary, 2);
	assert_int_equal(f->involuntary, 0);
	assert_int_equal(f->unresolved, 0);
	assert_int_equal(f->max_delay_at_ns, 130);
	assert_int_equal(rep->busy_ns, 30);
	assert_int_equal(rep->idle_ns, 55);
	assert_int_equal(rep->nr_tasks, 1);	/* the idle task is none */
	resched_report_free(rep);
}

/* As when the switch away from a task is hidden by a filter: it does not run on beside those that come after it. */
static void a_switch_away_that_is_missing_is_no_run_time(void **state)
{
	const struct resched_analysis_options opts = { .from_ns = 100, .to_ns = 200 };
	struct resched_report *rep = ANALYSE(&opts, sw(10, 0, 0, R, 7), sw(20, 0, 0, R, 8), sw(150, 0, 8, S, 9), sw(160, 0, 7, S, 8), sw(210, 0, 8, S, 0));

	(void)state;
	assert_int_equal(task(rep, 7, 0)->f.runtime_ns, 0);
	assert_int_equal(task(rep, 8, 0)->f.runtime_ns, 50 + 40);
	assert_int_equal(rep->totals.runtime_ns, 90);	/* nobody saw how long 9 ran */
	resched_report_free(rep);
}

static void preempted_waits_are_apart(void **state)
{
	struct resched_report *rep = ANALYSE(NULL, WAKING(5, 0, 7), sw(10, 0, 0, R, 7), sw(20, 0, 7, RPLUS, 8), sw(50, 0, 8, R, 7),
					     sw(60, 0, 7, RPLUS | S, 8), sw(61, 0, 8, S, 7));
	const struct resched_figures *f = &task(rep, 7, 0)->f;

	(void)state;
	assert_int_equal(f->wakeup_latency.count, 1);
	assert_int_equal(f->preempted_wait.count, 2);
	assert_int_equal(f->preempted_wait.sum, 31);
	assert_int_equal(f->run_delay.count, 3);
	assert_int_equal(f->run_delay.sum, 36);
	assert_int_equal(f->involuntary, 2);
	resched_report_free(rep);
}

/* P2, P5: a waking of a running task is no wait; if the task then sleeps, its wait starts there. */
static void waking_of_a_running_task_is_remembered(void **state)
{
	struct resched_report *rep = ANALYSE(NULL, WAKING(1, 0, 7), sw(10, 0, 0, R, 7), WAKING(15, 0, 7), sw(20, 0, 7, S, 8),
					     sw(50, 0, 8, S, 7), WAKING(60, 0, 7), sw(70, 0, 7, R, 8), sw(80, 0, 8, S, 7),
					     sw(90, 0, 7, S, 0));
	const struct resched_figures *f = &task(rep, 7, 0)->f;

	(void)state;
	assert_int_equal(f->wakeups, 3);
	assert_int_equal(f->wakeup_latency.count, 1);
	assert_int_equal(f->run_delay.count, 3);	/* wake 9, raced 30, preempted 10 */
	assert_int_equal(f->run_delay.sum, 49);
	assert_int_equal(f->run_delay.max, 30);
	assert_int_equal(f->sleep_ns, 0);
	resched_report_free(rep);
}

static void waking_of_a_queued_task_is_ignored(void **state)
{
	struct resched_report *rep = ANALYSE(NULL, WAKING(10, 0, 7), WAKING(20, 0, 7), sw(40, 0, 0, R, 7));

	(void)state;
	assert_int_equal(task(rep, 7, 0)->f.wakeup_latency.sum, 30);
	assert_int_equal(task(rep, 7, 0)->f.wakeups, 2);
	resched_report_free(rep);
}

static void ends_of_the_recording_are_unresolved(void **state)
{
	struct resched_report *rep = ANALYSE(NULL, sw(10, 0, 5, S, 7), sw(20, 0, 7, R, 8), WAKING(30, 0, 5));

	(void)state;
	assert_int_equal(task(rep, 7, 0)->f.run_delay.count, 0);
	assert_int_equal(task(rep, 7, 0)->f.unresolved, 2);	/* queued before the first event, and at the last */
	assert_int_equal(task(rep, 5, 0)->f.unresolved, 1);
	assert_int_equal(task(rep, 5, 0)->f.runtime_ns, 0);	/* nobody saw when it began */
	assert_int_equal(rep->totals.unresolved, 4);		/* 8's too, which has no row of its own */
	resched_report_free(rep);
}

/* P1: wakeups count only where the recording has no waking. */
static void source_is_waking_where_there_is_one(void **state)
{
	struct resched_report *rep = ANALYSE(NULL, WAKEUP(1, 0, 9), WAKING(10, 0, 7), WAKEUP(14, 0, 7), sw(20, 0, 0, R, 7));

	(void)state;
	assert_false(rep->wait_source_is_wakeup);
	assert_int_equal(rep->totals.wakeups, 1);
	assert_int_equal(rep->totals.wakeup_latency.sum, 10);
	resched_report_free(rep);

	rep = ANALYSE(NULL, WAKEUP(14, 0, 7), sw(20, 0, 0, R, 7), sw(25, 0, 7, S, 0), WAKEUP_NEW(30, 0, 9), sw(33, 0, 0, R, 9));
	assert_true(rep->wait_source_is_wakeup);
	assert_int_equal(rep->totals.wakeups, 2);
	assert_int_equal(rep->totals.wakeup_latency.sum, 9);
	resched_report_free(rep);
}

static void many_wakeups_without_waking_are_not_held_for_ever(void **state)
{
	struct resched_analysis *an;
	struct resched_report *rep;
	struct resched_error err;
	const uint64_t nr = 5000;

	(void)state;
	assert_int_equal(resched_analysis_new(NULL, &an, &err), 0);
	for (uint64_t i = 0; i < nr; i++) {
		const struct resched_event events[] = { WAKEUP(i * 100, 0, 7), sw(i * 100 + 10, 0, 0, R, 7), sw(i * 100 + 30, 0, 7, S, 0) };

		for (int k = 0; k < 3; k++)
			assert_int_equal(resched_analysis_event(an, &events[k]), 0);
	}
	assert_int_equal(resched_analysis_finish(an, &rep, &err), 0);
	assert_int_equal(rep->totals.wakeup_latency.count, nr);
	assert_int_equal(rep->totals.wakeup_latency.max, 10);
	assert_int_equal(rep->totals.runtime_ns, nr * 20);
	resched_report_free(rep);
	resched_analysis_free(an);
}

static void pid_0_is_never_a_task(void **state)
{
	struct resched_report *rep = ANALYSE(NULL, WAKING(1, 0, 0), sw(2, 0, 0, R, 7), sw(3, 0, 7, S, 0), MIGRATE(4, 0, 0, 0, 1));

	(void)state;
	assert_int_equal(rep->nr_tasks, 1);
	assert_int_equal(rep->totals.wakeups, 0);
	assert_int_equal(rep->totals.migrations, 0);
	resched_report_free(rep);
}

static void waits_across_a_gap_are_unresolved(void **state)
{
	/* 7 is queued on cpu 0 when its events are lost, 8 on cpu 1 where nothing is; 9 runs on cpu 0 at that time. */
	struct resched_report *rep = ANALYSE(NULL, WAKING(5, 0, 9), sw(10, 0, 0, R, 9), WAKING(20, 0, 7), WAKING(20, 1, 8), LOST(50, 0),
					     sw(60, 0, 9, S, 7), sw(70, 1, 0, R, 8), sw(80, 0, 7, S, 0), WAKING(90, 0, 7), sw(95, 0, 0, R, 7));

	(void)state;
	assert_int_equal(task(rep, 7, 0)->f.unresolved, 1);
	assert_int_equal(task(rep, 7, 0)->f.wakeup_latency.count, 1);	/* the one after the gap */
	assert_int_equal(task(rep, 7, 0)->f.wakeup_latency.max, 5);
	assert_int_equal(task(rep, 8, 0)->f.wakeup_latency.sum, 50);
	assert_int_equal(task(rep, 9, 0)->f.runtime_ns, 0);
	assert_int_equal(task(rep, 9, 0)->f.voluntary, 1);
	resched_report_free(rep);
}

/* The waking names the cpu where the task slept; it waits where the wakeup put it, and there events were lost. */
static void a_wait_is_on_the_cpu_where_the_task_was_put(void **state)
{
	struct resched_report *rep = ANALYSE(NULL, WAKING(10, 0, 7), WAKEUP(12, 2, 7), LOST(50, 2), MIGRATE(52, 1, 7, 2, 1),
					     WAKING(53, 3, 8), sw(60, 1, 0, R, 7), sw(61, 3, 0, R, 8));
	struct resched_report *moved = ANALYSE(NULL, WAKING(10, 0, 7), WAKEUP(12, 2, 7), LOST(50, 2), sw(60, 1, 0, R, 7));
	struct resched_report *there = ANALYSE(NULL, WAKING(10, 0, 7), WAKEUP(12, 2, 7), LOST(50, 1), sw(60, 1, 0, R, 7));

	(void)state;
	assert_int_equal(task(rep, 7, 0)->f.unresolved, 1);
	assert_int_equal(task(rep, 8, 0)->f.wakeup_latency.sum, 8);
	assert_int_equal(task(moved, 7, 0)->f.unresolved, 1);
	assert_int_equal(task(there, 7, 0)->f.unresolved, 1);	/* it may have run there in the gap */
	resched_report_free(there);
	resched_report_free(rep);
	resched_report_free(moved);
}

static void second_waking_after_a_gap_starts_the_wait_anew(void **state)
{
	struct resched_report *rep = ANALYSE(NULL, WAKING(10, 1, 7), LOST(50, 0), WAKING(60, 1, 7), sw(65, 1, 0, R, 7));

	(void)state;
	assert_int_equal(task(rep, 7, 0)->f.unresolved, 1);
	assert_int_equal(task(rep, 7, 0)->f.wakeup_latency.sum, 5);
	resched_report_free(rep);
}

static void a_pid_used_again_is_another_task(void **state)
{
	struct resched_names *names = resched_names_new();
	struct resched_analysis_options opts = { .names = names };
	struct resched_report *rep;

	(void)state;
	resched_names_intern(names, "old", 3);
	resched_names_intern(names, "new", 3);
	rep = ANALYSE(&opts, COMM(1, 7, 0), WAKING(1, 0, 7), sw(2, 0, 0, R, 7), sw(10, 0, 7, X, 0), COMM(20, 7, 1), FORK(20, 0, 3, 7),
		      WAKEUP_NEW(21, 0, 7), sw(25, 0, 0, R, 7), sw(26, 0, 7, S, 0));
	assert_int_equal(rep->nr_tasks, 2);
	assert_string_equal(task(rep, 7, 0)->comm, "old");
	assert_int_equal(task(rep, 7, 0)->f.runtime_ns, 8);
	assert_string_equal(task(rep, 7, 1)->comm, "new");
	assert_int_equal(task(rep, 7, 1)->f.wakeup_latency.sum, 4);
	assert_int_equal(rep->nr_comms, 2);
	resched_report_free(rep);
	resched_names_free(names);
}

static void a_task_is_named_as_at_its_last_switch(void **state)
{
	struct resched_names *names = resched_names_new();
	struct resched_analysis_options opts = { .names = names };
	struct resched_report *rep;

	(void)state;
	resched_names_intern(names, "father", 6);
	resched_names_intern(names, "child", 5);
	rep = ANALYSE(&opts, COMM(1, 7, 0), WAKING(1, 0, 7), sw(2, 0, 0, R, 7), COMM(5, 7, 1), WAKING(6, 0, 9));
	assert_string_equal(task(rep, 7, 0)->comm, "father");
	assert_string_equal(task(rep, 9, 0)->comm, ":9");	/* never named */
	resched_report_free(rep);
	rep = ANALYSE(&opts, COMM(1, 7, 0), WAKING(1, 0, 7), sw(2, 0, 0, R, 7), COMM(5, 7, 1), sw(6, 0, 7, S, 0));
	assert_string_equal(task(rep, 7, 0)->comm, "child");
	resched_report_free(rep);
	resched_names_free(names);
}

static void classes_come_from_prio(void **state)
{
	static const struct { int16_t prio; const char *class_name; int nice; } cases[] = {
		{ -1, "dl", 0 }, { 0, "rt", 0 }, { 99, "rt", 0 }, { 100, "fair", -20 }, { 120, "fair", 0 }, { 139, "fair", 19 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct resched_event out = sw(5, 0, 7, S, 0);
		struct resched_report *rep;

		out.sw.prev_prio = cases[i].prio;
		rep = ANALYSE(NULL, out);
		assert_string_equal(task(rep, 7, 0)->class_name, cases[i].class_name);
		assert_int_equal(task(rep, 7, 0)->nice, cases[i].nice);
		resched_report_free(rep);
	}
}

static void a_window_clips_time_and_leaves_out_waits_at_its_edges(void **state)
{
	struct resched_analysis_options opts = { .from_ns = 100, .to_ns = 200 };
	struct resched_report *rep = ANALYSE(&opts, WAKING(50, 0, 7), sw(60, 0, 0, R, 7), WAKING(90, 0, 8), sw(120, 0, 7, R, 8),
					     sw(130, 0, 8, S, 7), WAKING(140, 0, 8), sw(250, 0, 7, S, 8), sw(300, 0, 8, S, 0));

	(void)state;
	assert_int_equal(task(rep, 7, 0)->f.runtime_ns, 20 + 70);
	assert_int_equal(task(rep, 7, 0)->f.preempted_wait.sum, 10);
	assert_int_equal(task(rep, 8, 0)->f.unresolved, 2);
	assert_int_equal(task(rep, 8, 0)->f.wakeups, 1);
	assert_int_equal(rep->busy_ns, 100);
	assert_int_equal(rep->first_ns, 120);
	assert_int_equal(rep->last_ns, 140);
	resched_report_free(rep);
}

static void selection_leaves_the_machine_alone(void **state)
{
	const int pids[] = { 8 };
	struct resched_analysis_options by_pid = { .nr_pids = 1, .pids = pids }, by_cpu = { .cpus = "1" };
	const struct resched_event events[] = { WAKING(1, 0, 7), WAKING(1, 1, 8), sw(3, 0, 0, R, 7), sw(5, 1, 0, R, 8), sw(9, 0, 7, S, 0),
						sw(9, 1, 8, S, 0) };
	struct resched_report *rep = analyse(&by_pid, events, 6);

	(void)state;
	assert_int_equal(rep->nr_tasks, 1);
	assert_int_equal(rep->totals.runtime_ns, 4);
	assert_int_equal(rep->busy_ns, 10);
	resched_report_free(rep);
	rep = analyse(&by_cpu, events, 6);
	assert_int_equal(rep->nr_tasks, 1);
	assert_int_equal(rep->totals.wakeup_latency.sum, 4);
	assert_int_equal(rep->nr_cpus, 1);
	assert_int_equal(rep->busy_ns, 4);
	resched_report_free(rep);
}

static void a_bad_cpu_list_is_refused(void **state)
{
	struct resched_analysis_options opts = { .cpus = "0-" };
	struct resched_error err = { 0 };
	struct resched_analysis *an;

	(void)state;
	assert_int_equal(resched_analysis_new(&opts, &an, &err), -EINVAL);
	assert_int_equal(err.kind, RESCHED_USAGE);
	assert_non_null(strstr(err.text, "0-3,8"));
}

static void the_recorder_can_be_hidden(void **state)
{
	struct resched_analysis_options opts = { .hide_recorder = 1 };
	struct resched_event own = sw(9, 0, 7, S, 8);
	struct resched_report *rep;

	(void)state;
	own.ctx = RESCHED_CTX_OWN;	/* recorded while the recorder, the previous task, was current */
	rep = ANALYSE(&opts, WAKING(1, 0, 7), sw(3, 0, 0, R, 7), WAKING(4, 0, 8), own, sw(12, 0, 8, S, 0));
	assert_int_equal(rep->nr_tasks, 1);
	assert_int_equal(rep->tasks[0].pid, 8);
	resched_report_free(rep);
}

static void cpus_count_what_happens_on_them(void **state)
{
	struct resched_report *rep = ANALYSE(NULL, WAKING(1, 0, 7), MIGRATE(2, 0, 7, 0, 2), WAKEUP(3, 2, 7), sw(4, 2, 0, R, 7), sw(9, 2, 7, S, 0));

	(void)state;
	assert_int_equal(rep->nr_cpus, 3);
	assert_int_equal(rep->cpus[2].wakeups, 1);	/* where it was put, not where it slept */
	assert_int_equal(rep->cpus[0].wakeups, 0);
	assert_int_equal(rep->cpus[2].migrations_in, 1);
	assert_int_equal(rep->cpus[0].migrations_out, 1);
	assert_int_equal(rep->cpus[2].busy_ns, 5);
	assert_int_equal(rep->cpus[2].switches, 1);
	assert_false(rep->cpus[1].observed);
	resched_report_free(rep);
}

static void lag_is_kept_per_task(void **state)
{
	struct resched_analysis *an;
	struct resched_report *rep;
	struct resched_error err;
	const struct resched_event events[] = { WAKING(1, 0, 7), sw(3, 0, 0, R, 7), sw(9, 0, 7, S, 0) };

	(void)state;
	assert_int_equal(resched_analysis_new(NULL, &an, &err), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(resched_analysis_event(an, &events[i]), 0);
	resched_analysis_lag(an, 7, -5, 1);
	resched_analysis_lag(an, 7, 3, 0);
	resched_analysis_lag(an, 99, 3, 0);	/* unknown: ignored */
	assert_int_equal(resched_analysis_finish(an, &rep, &err), 0);
	assert_true(rep->totals.has_lag);
	assert_int_equal(rep->totals.lag_min_ns, -5);
	assert_int_equal(rep->totals.lag_max_ns, 3);
	assert_int_equal(rep->totals.deadline_misses, 1);
	resched_report_free(rep);
	resched_analysis_free(an);
}

static void nothing_gives_an_empty_report(void **state)
{
	struct resched_report *rep = analyse(NULL, NULL, 0);

	(void)state;
	assert_int_equal(rep->nr_tasks, 0);
	assert_int_equal(rep->totals.run_delay.count, 0);
	assert_true(rep->exact);
	resched_report_free(rep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wake_to_run_is_one_wait),
		cmocka_unit_test(preempted_waits_are_apart),
		cmocka_unit_test(waking_of_a_running_task_is_remembered),
		cmocka_unit_test(waking_of_a_queued_task_is_ignored),
		cmocka_unit_test(ends_of_the_recording_are_unresolved),
		cmocka_unit_test(source_is_waking_where_there_is_one),
		cmocka_unit_test(many_wakeups_without_waking_are_not_held_for_ever),
		cmocka_unit_test(pid_0_is_never_a_task),
		cmocka_unit_test(waits_across_a_gap_are_unresolved),
		cmocka_unit_test(a_wait_is_on_the_cpu_where_the_task_was_put),
		cmocka_unit_test(second_waking_after_a_gap_starts_the_wait_anew),
		cmocka_unit_test(a_pid_used_again_is_another_task),
		cmocka_unit_test(a_task_is_named_as_at_its_last_switch),
		cmocka_unit_test(classes_come_from_prio),
		cmocka_unit_test(a_switch_away_that_is_missing_is_no_run_time),
		cmocka_unit_test(a_window_clips_time_and_leaves_out_waits_at_its_edges),
		cmocka_unit_test(selection_leaves_the_machine_alone),
		cmocka_unit_test(a_bad_cpu_list_is_refused),
		cmocka_unit_test(the_recorder_can_be_hidden),
		cmocka_unit_test(cpus_count_what_happens_on_them),
		cmocka_unit_test(lag_is_kept_per_task),
		cmocka_unit_test(nothing_gives_an_empty_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
