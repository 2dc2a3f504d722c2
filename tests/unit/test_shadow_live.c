// SPDX-License-Identifier: GPL-2.0-only
/* A shadow on recordings of real machines: rows at each event. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "replay/shadow.h"
#include "replay/workload.h"

#define BASE_NS UINT64_C(5000000000)
#define SLICE_NS UINT64_C(1400000)
#define TICK_NS UINT64_C(4000000)

struct fixture {
	struct rs_shadow_log log;
	struct resched_workload *workload;
	struct rs_group_plan plan;
	struct rs_model *model;
	struct resched_shadow ret;
	struct rs_shadow_options opts;
	struct rs_shadow *shadow;
};

#define SESSION (RESCHED_TRUTH_AUTOGROUP | 5)

/* @group: whose entity it is, above the task's; 0: the task's own */
static void row_of(struct fixture *f, uint64_t ts, int pid, uint8_t kind, uint64_t vruntime, uint64_t group)
{
	struct resched_truth t = {
		.pid = pid, .row = kind, .on_rq = 1, .level = group != 0, .group = group, .prio = 120, .weight = 1048576, .vruntime = vruntime, .deadline = vruntime + SLICE_NS,
		.slice_ns = SLICE_NS, .z = BASE_NS, .clock_ns = 1000, .exec_start_ns = 1000,
		.has = RESCHED_TRUTH_HAS_QUEUE | RESCHED_TRUTH_HAS_DEADLINE | RESCHED_TRUTH_HAS_ZERO | RESCHED_TRUTH_HAS_VPROT,
	};

	if (kind == RESCHED_TRUTH_NEXT)
		t.vlag = (int64_t)(vruntime + SLICE_NS);
	assert_int_equal(rs_shadow_log_truth(&f->log, ts, &t), 0);
}

static void row(struct fixture *f, uint64_t ts, int pid, uint8_t kind, uint64_t vruntime)
{
	row_of(f, ts, pid, kind, vruntime, 0);
}

static void switch_at(struct fixture *f, uint64_t ts, int prev, uint32_t state, int next)
{
	const struct resched_event e = { .ts_ns = ts, .pid = prev, .type = RESCHED_EV_SWITCH,
					 .sw = { .prev_state = state, .next_pid = next, .prev_prio = 120, .next_prio = 120 } };

	assert_int_equal(rs_shadow_log_event(&f->log, &e), 0);
}

static void charge_in(struct fixture *f, uint64_t ts, int pid, uint64_t runtime, uint8_t ctx)
{
	const struct resched_event e = {
		.ts_ns = ts, .pid = pid, .type = RESCHED_EV_RUNTIME, .ctx = ctx, .runtime = { .runtime_ns = runtime }
	};

	assert_int_equal(rs_shadow_log_event(&f->log, &e), 0);
}

static void charge_at(struct fixture *f, uint64_t ts, int pid, uint64_t runtime)
{
	charge_in(f, ts, pid, runtime, 0);
}

static void follow(struct fixture *f, bool resync)
{
	struct resched_error err = { 0 };

	f->workload = rs_workload_alloc();
	assert_non_null(f->workload);
	assert_int_equal(rs_model_new("eevdf", "6.18", 2, 0, NULL, 0, NULL, &f->model, &err), 0);
	assert_int_equal(rs_group_plan_make(f->workload, &f->plan), 0);
	assert_int_equal(rs_shadow_log_finish(&f->log), 0);
	assert_int_equal(rs_shadow_plan_homes(&f->log, f->workload, &f->plan), 0);
	f->opts = (struct rs_shadow_options){
		.ops = rs_policy_ops_find("eevdf"), .model = f->model, .workload = f->workload, .groups = &f->plan, .resync = resync,
		.clock = { .mode = RESCHED_SHADOW_ACCOUNTING, .tick_ns = TICK_NS, .burst_ns = 5000 }, .stop_ns = UINT64_MAX,
	};
	assert_int_equal(rs_shadow_new(&f->log, &f->opts, &f->ret, &f->shadow), 0);
	assert_int_equal(rs_shadow_follow(f->shadow), 0);
}

static void release(struct fixture *f)
{
	rs_shadow_free(f->shadow);
	rs_group_plan_release(&f->plan);
	rs_model_free(f->model);
	resched_workload_free(f->workload);
	rs_shadow_log_release(&f->log);
}

static const struct rs_shadow_task *task(const struct fixture *f, int pid)
{
	const struct rs_shadow_task *t = rs_shadow_find(f->shadow, pid);

	assert_non_null(t);
	return t;
}

/* Where each event has rows an error is measured first, then made good; without resynchronisation it stays. */
static void check_rows(bool resync)
{
	struct fixture f = { .plan = { .nr = 0 } };
	struct rs_entity_view v;

	row(&f, 2000, 1, RESCHED_TRUTH_START, BASE_NS);
	row(&f, 2000, 2, RESCHED_TRUTH_START, BASE_NS);
	charge_at(&f, 1001000, 1, 1000000);
	row(&f, 1001000, 1, RESCHED_TRUTH_RUNTIME, BASE_NS);
	switch_at(&f, 1002000, 1, 0, 2);
	row(&f, 1002000, 1, RESCHED_TRUTH_PREV, BASE_NS + 1500000);
	row(&f, 1002000, 2, RESCHED_TRUTH_NEXT, BASE_NS);
	follow(&f, resync);
	f.opts.ops->view_task(&f.shadow->cpus[0].rq, &task(&f, 1)->fair, &v);
	assert_int_equal(v.vruntime, BASE_NS + (resync ? 1500000 : 1000000));
	assert_true(f.ret.state.lag_error_ns.max >= 250000);
	release(&f);
}

static void test_rows_are_taken(void **state)
{
	(void)state;
	check_rows(true);
}

/* A tick asks for a switch that comes 24 us later, long after what this machine usually takes. @ctx: of the accounting between. */
static uint64_t ticks_missed(uint8_t ctx, uint64_t gap_ns)
{
	struct fixture f = { .plan = { .nr = 0 } };
	uint64_t missed;

	row(&f, 2000, 1, RESCHED_TRUTH_START, BASE_NS);
	row(&f, 2000, 2, RESCHED_TRUTH_START, BASE_NS);
	charge_in(&f, 4000000, 1, 3999000, RESCHED_CTX_HARDIRQ);
	charge_in(&f, 4000000 + gap_ns, 1, gap_ns, ctx);
	switch_at(&f, 4000000 + 2 * gap_ns, 1, 0, 2);
	follow(&f, false);
	missed = f.ret.tick_decisions - f.ret.tick_agree;
	assert_true(f.ret.tick_decisions >= 1);
	release(&f);
	return missed;
}

static void test_a_request_stays_while_its_flag_does(void **state)
{
	(void)state;
	assert_int_equal(ticks_missed(RESCHED_CTX_NEED_RESCHED, 12000), 0);
	assert_int_equal(ticks_missed(RESCHED_CTX_NEED_RESCHED, 1200000), 0);
	assert_int_equal(ticks_missed(0, 12000), 1); /* what was asked for has been done: nobody asks any more */
}

/* A task of a session exits; accounting follows. Return: it is in the session still. */
static bool stays_in_session(uint8_t ctx)
{
	const struct resched_event exits = { .ts_ns = 1000000, .pid = 1, .type = RESCHED_EV_EXIT };
	struct fixture f = { .plan = { .nr = 0 } };
	bool stays;

	row(&f, 2000, 1, RESCHED_TRUTH_START, BASE_NS);
	row_of(&f, 2000, 1, RESCHED_TRUTH_START, BASE_NS, SESSION);
	charge_at(&f, 900000, 1, 899000);
	assert_int_equal(rs_shadow_log_event(&f.log, &exits), 0);
	charge_in(&f, 1500000, 1, 600000, ctx);
	charge_at(&f, 2500000, 1, 1000000);
	switch_at(&f, 2501000, 1, RESCHED_STATE_X, 0);
	follow(&f, false);
	stays = task(&f, 1)->fair.group != NULL;
	release(&f);
	return stays;
}

/* Since 6.16 an exit is told long before the task leaves its session, by itself and not in an interrupt. */
static void test_an_interrupt_moves_nobody(void **state)
{
	(void)state;
	assert_true(stays_in_session(RESCHED_CTX_HARDIRQ));
	assert_true(stays_in_session(RESCHED_CTX_SOFTIRQ));
	assert_false(stays_in_session(0));
}

static void test_rows_are_only_compared(void **state)
{
	(void)state;
	check_rows(false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_taken),
		cmocka_unit_test(test_rows_are_only_compared),
		cmocka_unit_test(test_a_request_stays_while_its_flag_does),
		cmocka_unit_test(test_an_interrupt_moves_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
