// SPDX-License-Identifier: GPL-2.0-only
/* The index says of every moment what the stream said, and adds up to the report. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <resched/index.h>
#include <resched/trace.h>

#define S RESCHED_STATE_S
#define R RESCHED_STATE_RUNNING
#define NR(array) (sizeof(array) / sizeof((array)[0]))

static struct resched_event sw(uint64_t ts, unsigned int cpu, int prev, uint32_t state, int next)
{
	return (struct resched_event){ .ts_ns = ts, .cpu = (uint16_t)cpu, .pid = prev, .type = RESCHED_EV_SWITCH,
				       .sw = { next, 120, 120, state } };
}

static struct resched_event wake(uint64_t ts, unsigned int cpu, int pid, int waker, unsigned int target)
{
	return (struct resched_event){ .ts_ns = ts, .cpu = (uint16_t)cpu, .pid = pid, .type = RESCHED_EV_WAKING,
				       .wake = { waker, 120, (uint16_t)target } };
}

static void every_moment_is_told(void **state)
{
	const struct resched_event events[] = {
		sw(1000, 0, 0, R, 7), wake(1100, 0, 8, 7, 0), sw(1300, 0, 7, R, 8), sw(1400, 0, 8, S, 7), sw(1500, 0, 7, S, 0),
		{ .ts_ns = 1600, .cpu = 0, .type = RESCHED_EV_LOST }, sw(1700, 0, 0, R, 8),
	};
	static const struct { uint64_t at; int pid; } cpu[] = {
		{ 0, 7 }, { 1000, 7 }, { 1299, 7 }, { 1300, 8 }, { 1400, 7 }, { 1499, 7 }, { 1500, 0 }, { 1700, 8 }, { 9999, 8 },
	};
	static const struct { uint64_t at; enum resched_span_state state; } of7[] = {
		{ 1000, RESCHED_SPAN_RUNNING }, { 1300, RESCHED_SPAN_PREEMPTED }, { 1400, RESCHED_SPAN_RUNNING }, { 1500, RESCHED_SPAN_SLEEPING },
	};
	struct resched_analysis *an;
	struct resched_index *ix;
	struct resched_error err;
	struct resched_span span;
	struct resched_wake w;
	int seven, eight;

	(void)state;
	assert_int_equal(resched_analysis_new(NULL, &an, &err), 0);
	assert_int_equal(resched_index_new(an, &ix, &err), 0);
	for (size_t i = 0; i < NR(events); i++)
		assert_int_equal(resched_analysis_event(an, &events[i]), 0);
	seven = resched_index_find_pid(ix, 7);
	eight = resched_index_find_pid(ix, 8);
	assert_int_equal(resched_index_find_pid(ix, 9), RESCHED_NO_TASK);
	for (size_t i = 0; i < NR(cpu); i++) {
		assert_int_equal(resched_index_cpu_span(ix, 0, resched_index_cpu_find(ix, 0, cpu[i].at), &span), 1);
		assert_int_equal(span.task, cpu[i].pid == 7 ? seven : cpu[i].pid == 8 ? eight : RESCHED_NO_TASK);
		assert_int_equal(span.state, RESCHED_SPAN_RUNNING);
	}
	assert_int_equal(resched_index_cpu_span(ix, 0, resched_index_cpu_find(ix, 0, 1650), &span), 1);
	assert_int_equal(span.state, RESCHED_SPAN_UNKNOWN);
	assert_int_equal(span.from_ns, 1600);
	assert_int_equal(span.to_ns, 1700);
	for (size_t i = 0; i < NR(of7); i++) {
		assert_int_equal(resched_index_task_span(ix, seven, resched_index_task_find(ix, seven, of7[i].at), &span), 1);
		assert_int_equal(span.state, of7[i].state);
		assert_int_equal(span.from_ns, of7[i].at);
	}
	assert_int_equal(resched_index_task_span(ix, eight, resched_index_task_find(ix, eight, 1200), &span), 1);
	assert_int_equal(span.state, RESCHED_SPAN_WOKEN);
	assert_int_equal(resched_index_waker(ix, eight, 1100, &w), 1);
	assert_int_equal(w.waker, seven);
	assert_int_equal(resched_index_waker(ix, eight, 1101, &w), 0);
	assert_int_equal(resched_index_task(ix, (unsigned int)seven)->runtime_ns, 400);
	assert_int_equal(resched_index_task(ix, (unsigned int)eight)->max_wake_ns, 200);
	assert_int_equal(resched_index_cpu_span(ix, 5, 0, &span), 0);
	assert_int_equal(resched_index_task_span(ix, 99, 0, &span), 0);
	resched_index_free(ix);
	resched_analysis_free(an);
}

/* Who got the cpu from a runnable task is counted, exactly for a few. */
static struct resched_event irq(uint64_t ts, unsigned int cpu, unsigned int nr, bool soft, bool entry)
{
	return (struct resched_event){ .ts_ns = ts, .cpu = (uint16_t)cpu, .type = RESCHED_EV_IRQ, .irq = { (uint16_t)nr, soft, entry } };
}

/* One on top of another, one without an end, an end without a beginning. */
static void interrupts_are_told(void **state)
{
	const struct resched_event events[] = {
		sw(1000, 0, 0, R, 7), irq(1100, 0, 24, false, true), irq(1150, 0, 24, false, false), irq(1150, 0, 3, true, true),
		irq(1200, 0, 25, false, true), irq(1250, 0, 25, false, false), irq(1300, 0, 3, true, false), irq(1310, 1, 4, false, false),
		irq(1400, 0, 24, false, true), sw(1500, 0, 7, R, 8),
	};
	static const struct { uint64_t at; enum resched_irq_kind kind; unsigned int nr; } expected[] = {
		{ 1100, RESCHED_IRQ_HARD, 24 }, { 1149, RESCHED_IRQ_HARD, 24 }, { 1150, RESCHED_IRQ_SOFT, 3 }, { 1200, RESCHED_IRQ_HARD, 25 },
		{ 1250, RESCHED_IRQ_SOFT, 3 }, { 1300, RESCHED_IRQ_NONE, 0 }, { 1400, RESCHED_IRQ_HARD, 24 }, { 1500, RESCHED_IRQ_NONE, 0 },
	};
	struct resched_irq_span span;
	struct resched_analysis *an;
	struct resched_index *ix;
	struct resched_error err;

	(void)state;
	assert_int_equal(resched_analysis_new(NULL, &an, &err), 0);
	assert_int_equal(resched_index_new(an, &ix, &err), 0);
	assert_int_equal(resched_index_irq(ix, 0, 0, &span), 0);
	for (size_t i = 0; i < NR(events); i++)
		assert_int_equal(resched_analysis_event(an, &events[i]), 0);
	assert_int_equal(resched_index_irqs(ix, 1), 0);
	for (size_t i = 0; i < NR(expected); i++) {
		assert_int_equal(resched_index_irq(ix, 0, resched_index_irq_find(ix, 0, expected[i].at), &span), 1);
		assert_int_equal(span.kind, expected[i].kind);
		assert_int_equal(span.nr, expected[i].nr);
		assert_true(span.from_ns <= expected[i].at && (span.to_ns > expected[i].at || span.from_ns == 1500));
	}
	resched_index_free(ix);
	resched_analysis_free(an);
}

static void preemptors_are_counted(void **state)
{
	struct resched_analysis_options opts = { 0 };
	struct resched_analysis *an;
	struct resched_index *ix;
	struct resched_error err;
	uint32_t times[3] = { 0 };
	uint64_t ts = 1000;

	(void)state;
	assert_int_equal(resched_analysis_new(&opts, &an, &err), 0);
	assert_int_equal(resched_index_new(an, &ix, &err), 0);
	for (int i = 0; i < 10; i++) {
		int other = i < 7 ? 8 : 9;
		struct resched_event events[] = { sw(ts, 0, 0, R, 7), sw(ts + 100, 0, 7, R, other), sw(ts + 200, 0, other, S, 7), sw(ts + 300, 0, 7, S, 0) };

		for (size_t k = 0; k < NR(events); k++)
			assert_int_equal(resched_analysis_event(an, &events[k]), 0);
		ts += 1000;
	}
	for (unsigned int i = 0; i < RESCHED_INDEX_BY; i++) {
		const struct resched_index_task *t = resched_index_task(ix, (unsigned int)resched_index_find_pid(ix, 7));

		times[t->by[i].pid == 8 ? 0 : t->by[i].pid == 9 ? 1 : 2] += t->by[i].times;
	}
	assert_int_equal(times[0], 7);
	assert_int_equal(times[1], 3);
	assert_int_equal(times[2], 0);
	resched_index_free(ix);
	resched_analysis_free(an);
}

static void lag_has_its_time(void **state)
{
	const struct resched_event first = sw(1000, 0, 0, R, 7), second = sw(2000, 0, 7, R, 8);
	struct resched_lag_sample sample;
	struct resched_analysis *an;
	struct resched_index *ix;
	struct resched_error err;
	int seven;

	(void)state;
	assert_int_equal(resched_analysis_new(NULL, &an, &err), 0);
	assert_int_equal(resched_index_new(an, &ix, &err), 0);
	assert_int_equal(resched_analysis_event(an, &first), 0);
	resched_analysis_lag(an, 7, 500, 0);
	assert_int_equal(resched_analysis_event(an, &second), 0);
	resched_analysis_lag(an, 7, -300, 1);
	seven = resched_index_find_pid(ix, 7);
	assert_int_equal(resched_index_lags(ix, seven), 2);
	assert_int_equal(resched_index_lag(ix, seven, resched_index_lag_find(ix, seven, 1999), &sample), 1);
	assert_int_equal(sample.lag_ns, 500);
	assert_int_equal(sample.at_ns, 1000);
	assert_int_equal(resched_index_lag(ix, seven, resched_index_lag_find(ix, seven, 2000), &sample), 1);
	assert_int_equal(sample.lag_ns, -300);
	assert_int_equal(sample.deadline_missed, 1);
	assert_int_equal(resched_index_task(ix, (unsigned int)seven)->lag_min_ns, -300);
	assert_int_equal(resched_index_lag(ix, seven, 2, &sample), 0);
	resched_index_free(ix);
	resched_analysis_free(an);
}

/* Over whole recordings: stretches follow each other without holes and add up to what the report says. */
static void check_file(const char *name)
{
	const char *top = getenv("RESCHED_TOP");
	const struct resched_event *ev;
	struct resched_report *report;
	struct resched_analysis *an;
	struct resched_trace *trace;
	struct resched_index *ix;
	struct resched_error err;
	uint64_t nr_wakes = 0, waits = 0;
	char path[512];

	snprintf(path, sizeof(path), "%s/tests/data/%s", top ? top : ".", name);
	assert_int_equal(resched_trace_open(path, &trace, &err), 0);
	assert_int_equal(resched_analysis_new(&(struct resched_analysis_options){ .names = resched_trace_names(trace) }, &an, &err), 0);
	assert_int_equal(resched_index_new(an, &ix, &err), 0);
	while (resched_trace_next(trace, &ev, &err) > 0)
		assert_int_equal(resched_analysis_event(an, ev), 0);
	assert_int_equal(resched_analysis_finish(an, &report, &err), 0);
	assert_true(resched_index_bytes(ix) < 2000000);
	for (unsigned int i = 0; i < report->nr_tasks; i++) {
		const struct resched_task_row *row = &report->tasks[i];
		struct resched_span span;
		uint64_t runtime = 0, end = 0;
		unsigned int task = 0;
		int open = 0;

		while (resched_index_task(ix, task)->pid != row->pid || resched_index_task(ix, task)->birth != row->birth)
			assert_non_null(resched_index_task(ix, ++task));
		for (uint64_t nr = 0; resched_index_task_span(ix, (int)task, nr, &span); nr++) {
			assert_true(nr == 0 || span.from_ns == end);
			assert_int_equal(resched_index_task_find(ix, (int)task, span.from_ns), nr);
			end = span.to_ns;
			if (span.state == RESCHED_SPAN_RUNNING)
				runtime += span.to_ns - span.from_ns;
			open = span.state == RESCHED_SPAN_RUNNING;
		}
		assert_true(open ? runtime >= row->f.runtime_ns : runtime == row->f.runtime_ns);
		assert_int_equal(resched_index_task(ix, task)->max_wake_ns, row->f.wakeup_latency.max);
		assert_int_equal(resched_index_task(ix, task)->wait_ns, row->f.runnable_wait_ns);
		waits += row->f.wakeup_latency.count;
	}
	for (struct resched_wake w; resched_index_wake(ix, nr_wakes, &w); nr_wakes++)
		;
	assert_true(nr_wakes >= waits);
	resched_report_free(report);
	resched_index_free(ix);
	resched_analysis_free(an);
	resched_trace_free(trace);
}

static void recordings_add_up(void **state)
{
	(void)state;
	check_file("host-6.18.dat");
	check_file("lab-v7-k612-2c.dat");
	check_file("lab-v6-k612-1c.dat");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_moment_is_told), cmocka_unit_test(interrupts_are_told), cmocka_unit_test(preemptors_are_counted), cmocka_unit_test(lag_has_its_time), cmocka_unit_test(recordings_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
