// SPDX-License-Identifier: GPL-2.0-only
/* A shadow that begins with the state rows tell, and learns of groups and nice values that no event shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "replay/shadow.h"
#include "replay/workload.h"

#define KEY (RESCHED_TRUTH_AUTOGROUP | 7u)
#define BASE_NS UINT64_C(5000000000)

struct fixture {
	struct rs_shadow_log log;
	struct resched_workload *workload;
	struct rs_group_plan plan;
	struct rs_model *model;
	struct resched_shadow ret;
	struct rs_shadow_options opts;
	struct rs_shadow *shadow;
};

static void row(struct fixture *f, uint64_t ts, int pid, uint8_t kind, uint8_t level, uint64_t vruntime, uint64_t weight)
{
	struct resched_truth t = {
		.pid = pid, .row = kind, .level = level, .on_rq = 1, .prio = 120, .weight = weight, .vruntime = vruntime,
		.deadline = vruntime + 1400000, .slice_ns = 1400000, .z = BASE_NS, .clock_ns = 1000, .exec_start_ns = 1000,
		.group = level ? KEY : 0,
		.has = RESCHED_TRUTH_HAS_QUEUE | RESCHED_TRUTH_HAS_DEADLINE | RESCHED_TRUTH_HAS_ZERO | RESCHED_TRUTH_HAS_VPROT,
	};

	assert_int_equal(rs_shadow_log_truth(&f->log, ts, &t), 0);
}

static void event(struct fixture *f, const struct resched_event *e)
{
	assert_int_equal(rs_shadow_log_event(&f->log, e), 0);
}

static void switch_at(struct fixture *f, uint64_t ts, int prev, int next, int prev_prio)
{
	event(f, &(struct resched_event){ .ts_ns = ts, .pid = prev, .type = RESCHED_EV_SWITCH,
					  .sw = { .next_pid = next, .prev_prio = (int16_t)prev_prio, .next_prio = 120 } });
}

static void follow(struct fixture *f)
{
	struct resched_error err = { 0 };

	f->workload = rs_workload_alloc();
	assert_non_null(f->workload);
	assert_int_equal(rs_model_new("eevdf", "6.18", 2, 0, NULL, 0, NULL, &f->model, &err), 0);
	assert_int_equal(rs_group_plan_make(f->workload, &f->plan), 0);
	assert_int_equal(rs_shadow_log_finish(&f->log), 0);
	assert_int_equal(rs_shadow_plan_homes(&f->log, f->workload, &f->plan), 0);
	f->opts = (struct rs_shadow_options){
		.ops = rs_policy_ops_find("eevdf"), .model = f->model, .workload = f->workload, .groups = &f->plan,
		.clock = { .mode = RESCHED_SHADOW_STAMPS, .tick_ns = 4000000, .burst_ns = 40000 }, .stop_ns = UINT64_MAX,
	};
	assert_int_equal(rs_shadow_new(&f->log, &f->opts, &f->ret, &f->shadow), 0);
}

static void release(struct fixture *f)
{
	rs_shadow_free(f->shadow);
	rs_group_plan_release(&f->plan);
	rs_model_free(f->model);
	resched_workload_free(f->workload);
	rs_shadow_log_release(&f->log);
}

static void view(const struct fixture *f, int pid, struct rs_entity_view *ret)
{
	const struct rs_shadow_task *t = rs_shadow_find(f->shadow, pid);

	assert_non_null(t);
	f->opts.ops->view_task(&f->shadow->cpus[0].rq, &t->fair, ret);
}

/* Two equal tasks 2 ms apart: each is 1 ms from V, and V is the kernel's own. */
static void test_state_is_taken(void **state)
{
	struct fixture f = { .plan = { .nr = 0 } };
	struct rs_entity_view a, b;

	(void)state;
	row(&f, 2000, 1, RESCHED_TRUTH_START, 0, BASE_NS, 1048576);
	row(&f, 2000, 2, RESCHED_TRUTH_START, 0, BASE_NS + 2000000, 1048576);
	switch_at(&f, 3000, 1, 2, 120);
	follow(&f);
	view(&f, 1, &a);
	view(&f, 2, &b);
	assert_int_equal(a.vruntime, BASE_NS);
	assert_int_equal(a.vlag, 1000000);
	assert_int_equal(b.vlag, -1000000);
	assert_true(a.running && a.eligible);
	assert_false(b.running || b.eligible);
	assert_int_equal(b.deadline, BASE_NS + 3400000);
	release(&f);
}

/* A session that the snapshot does not know is a group all the same. */
static void test_group_of_rows(void **state)
{
	struct fixture f = { .plan = { .nr = 0 } };
	struct rs_entity_view group;
	const struct rs_shadow_task *t;

	(void)state;
	row(&f, 2000, 1, RESCHED_TRUTH_START, 0, BASE_NS, 1048576);
	row(&f, 2000, 2, RESCHED_TRUTH_START, 0, BASE_NS, 1048576);
	row(&f, 2000, 2, RESCHED_TRUTH_START, 1, BASE_NS + 4000000, 524288);
	switch_at(&f, 3000, 1, 2, 120);
	follow(&f);
	t = rs_shadow_find(f.shadow, 2);
	assert_non_null(t);
	assert_non_null(t->fair.group);
	assert_null(rs_shadow_find(f.shadow, 1)->fair.group);
	f.opts.ops->view_group(&f.shadow->cpus[0].rq, t->fair.group, &group);
	assert_int_equal(group.weight, 512);
	assert_int_equal(group.vruntime, BASE_NS + 4000000);
	release(&f);
}

/* A row at the end of a stretch tells of a session that began in it: the task is in its group from the beginning of the stretch. */
static void test_change_in_a_stretch(void **state)
{
	struct fixture f = { .plan = { .nr = 0 } };

	(void)state;
	row(&f, 2000, 1, RESCHED_TRUTH_START, 0, BASE_NS, 1048576);
	row(&f, 2000, 2, RESCHED_TRUTH_START, 0, BASE_NS, 1048576);
	switch_at(&f, 100000, 1, 2, 120);
	switch_at(&f, 900000, 2, 1, 120);
	row(&f, 900000, 2, RESCHED_TRUTH_PREV, 0, BASE_NS, 1048576);
	row(&f, 900000, 2, RESCHED_TRUTH_PREV, 1, BASE_NS, 1048576);
	follow(&f);
	f.shadow->opts.stop_ns = 500000;
	assert_int_equal(rs_shadow_follow(f.shadow), 0);
	assert_non_null(rs_shadow_find(f.shadow, 2)->fair.group);
	assert_null(rs_shadow_find(f.shadow, 1)->fair.group);
	release(&f);
}

/* A nice value that the switch away shows was there before: the stretch is charged with it. Without any rows. */
static void test_nice_shown_late(void **state)
{
	struct fixture f = { .plan = { .nr = 0 } };
	struct rs_entity_view v;

	(void)state;
	switch_at(&f, 100000, 1, 2, 120);
	switch_at(&f, 900000, 2, 1, 125);
	follow(&f);
	f.shadow->opts.stop_ns = 500000;
	assert_int_equal(rs_shadow_follow(f.shadow), 0);
	view(&f, 2, &v);
	assert_int_equal(v.weight, 335);
	release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_state_is_taken),
		cmocka_unit_test(test_group_of_rows),
		cmocka_unit_test(test_change_in_a_stretch),
		cmocka_unit_test(test_nice_shown_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
