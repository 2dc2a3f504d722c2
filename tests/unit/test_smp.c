// SPDX-License-Identifier: GPL-2.0-only
/* What the model of all cpus keeps beside the decisions: inherited counts, stale averages, delayed tasks, when idle cpus balance. */
#include "replay/smp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "replay/place.h"

#define MS 1000000ull

struct rig {
	struct resched_domains *d;
	struct rs_smp *s;
	struct rs_smp_task tasks[16];
	unsigned int moves, to;
};

static void count_move(void *ctx, struct rs_smp_task *t, unsigned int from, unsigned int to)
{
	struct rig *r = ctx;

	(void)from;
	r->moves++;
	r->to = to;
	rs_smp_carry(r->s, t, to);
}

static void no_push(void *ctx, unsigned int from, unsigned int to)
{
	(void)ctx, (void)from, (void)to;
}

static void build(struct rig *r, const char *machine, const char *kernel)
{
	struct resched_host *host = NULL;
	struct rs_smp_options opts = { .wa_idle = true, .wa_weight = true, .wa_bias = true, .sis_util = true, .util_est = true, .energy_aware = true,
				       .migration_cost_ns = 500000, .nr_migrate = 32, .hz = 250, .newidle_cost_ns = 1000,
				       .move = count_move, .push = no_push, .ctx = r };

	memset(r, 0, sizeof(*r));
	assert_int_equal(resched_topology_load(machine, &host, NULL), 0);
	assert_int_equal(resched_domains_build(host, kernel, &r->d, NULL), 0);
	resched_host_free(host);
	assert_int_equal(rs_smp_new(r->d, &opts, &r->s), 0);
	r->s->now_ns = 10000 * MS;
	for (unsigned int i = 0; i < 16; i++) {
		rs_smp_task_init(&r->tasks[i], 0);
		r->tasks[i].fair = true;
	}
	rs_smp_seed_done(r->s);
}

static void tear_down(struct rig *r)
{
	rs_smp_free(r->s);
	resched_domains_free(r->d);
}

static void start(struct rig *r, unsigned int cpu, struct rs_smp_task *t)
{
	t->cpu = cpu;
	rs_smp_enqueue(r->s, cpu, t, RS_SMP_NEW);
	if (!r->s->cpus[cpu].curr)
		rs_smp_run(r->s, cpu, t);
}

static void children_inherit_flips(void **state)
{
	struct rs_smp_task child;
	struct rig r;

	(void)state;
	build(&r, "vm4", "6.12");
	start(&r, 1, &r.tasks[0]);
	r.tasks[0].flips = 12;
	r.tasks[0].flips_decay_ns = 7;
	rs_smp_task_init(&child, 1);
	rs_smp_fork(r.s, &child, &r.tasks[0], 1);
	assert_int_equal(child.flips, 12);
	assert_int_equal(child.flips_decay_ns, 7);
	assert_int_equal(child.recent, 1);
	tear_down(&r);
}

/* 9 changes of the wakee in 1.5 s. */
static void flips_at_the_start_follow_the_recording(void **state)
{
	struct rs_op ops[20] = { 0 };
	struct rs_program p = { .ops = ops, .nr_ops = 20 };

	(void)state;
	for (unsigned int i = 0; i < 18; i++)
		ops[i] = (struct rs_op){ .kind = RS_OP_WAKE, .arg = i / 2, .run_ns = 10 * MS };
	ops[18] = (struct rs_op){ .kind = RS_OP_BLOCK, .rule = RS_RULE_RELATIVE, .len_ns = 1320 * MS };
	ops[19] = (struct rs_op){ .kind = RS_OP_BLOCK, .rule = RS_RULE_NEVER, .len_ns = 9000 * MS };
	assert_int_equal(rs_place_flips(&p), 9);
	p.nr_ops = 0;
	assert_int_equal(rs_place_flips(&p), 0);
}

/* The dead task's load is still there when the utilisation of the next one is guessed: util 400, load 2000 gives 400 * 1024 / 2001. */
static void new_tasks_see_stale_averages(void **state)
{
	struct rs_smp_cpu *c;
	struct rig r;

	(void)state;
	build(&r, "vm4", "6.12");
	c = &r.s->cpus[2];
	c->avg.last_update = r.s->now_ns;
	c->avg.util_avg = 400;
	c->avg.load_avg = 2000;
	c->removed_load = 1000;
	r.s->now_ns += 40 * MS;
	start(&r, 2, &r.tasks[0]);
	assert_int_equal(r.tasks[0].avg.util_avg, 204);
	tear_down(&r);
}

/* 6.1 multiplies with the weight in a unit 1024 times as large: half of what the cpu has left is the bound. */
static void new_tasks_start_heavier_on_6_1(void **state)
{
	struct rig r;

	(void)state;
	build(&r, "vm4", "6.1");
	r.s->cpus[2].avg.last_update = r.s->now_ns;
	r.s->cpus[2].avg.util_avg = 400;
	r.s->cpus[2].avg.load_avg = 2000;
	start(&r, 2, &r.tasks[0]);
	assert_int_equal(r.tasks[0].avg.util_avg, 312);
	tear_down(&r);
}

/* A task of util 200 that runs 3 ms more and then sleeps: 6.12 takes the estimate before it looks at what it ran. */
static uint32_t estimate_after_running(const char *kernel)
{
	struct rig r;
	uint32_t estimate;

	build(&r, "vm4", kernel);
	r.tasks[0].avg.util_avg = r.tasks[0].avg.runnable_avg = 200;
	r.tasks[0].avg.load_avg = 200;
	rs_smp_enqueue(r.s, 0, &r.tasks[0], RS_SMP_WAKES);
	rs_smp_run(r.s, 0, &r.tasks[0]);
	r.s->now_ns += 3 * MS;
	rs_smp_dequeue(r.s, &r.tasks[0], true);
	estimate = r.tasks[0].util_ewma > r.tasks[0].util_enqueued ? r.tasks[0].util_ewma : r.tasks[0].util_enqueued;
	tear_down(&r);
	return estimate;
}

static void estimates_are_of_the_last_update(void **state)
{
	(void)state;
	assert_int_equal(estimate_after_running("6.12"), 200);
	assert_in_range(estimate_after_running("6.1"), 230, 270);
}

/* Taken once per change of the averages; a task that had to wait keeps the higher estimate. */
static void estimates_do_not_fall_while_tasks_wait(void **state)
{
	struct rs_smp_task *t;
	struct rig r;

	(void)state;
	build(&r, "vm4", "6.12");
	t = &r.tasks[0];
	t->util_ewma = 400;
	t->avg.util_avg = 100;
	t->avg.runnable_avg = 300;
	rs_smp_enqueue(r.s, 0, t, RS_SMP_WAKES);
	rs_smp_dequeue(r.s, t, true);
	assert_int_equal(t->util_ewma, 400);
	t->avg.runnable_avg = 100;
	rs_smp_enqueue(r.s, 0, t, RS_SMP_WAKES);
	rs_smp_dequeue(r.s, t, true);
	assert_int_equal(t->util_ewma, 400);	/* nothing changed since the last time */
	t->util_kept = false;
	rs_smp_enqueue(r.s, 0, t, RS_SMP_WAKES);
	rs_smp_dequeue(r.s, t, true);
	assert_int_equal(t->util_ewma, 325);
	tear_down(&r);
}

/* Of 400 ms: asleep for 200 ms at the start, then it runs half of what it is runnable; or it sleeps for good; or it runs all the time. */
static void the_start_mirrors_what_comes(void **state)
{
	struct rs_op late[] = { { .kind = RS_OP_BLOCK, .rule = RS_RULE_RELATIVE, .when_ns = 1200 * MS, .len_ns = 200 * MS },
				{ .kind = RS_OP_BLOCK, .rule = RS_RULE_NEVER, .run_ns = 100 * MS } };
	struct rs_op never = { .kind = RS_OP_BLOCK, .rule = RS_RULE_NEVER }, hog = { .kind = RS_OP_ENDLESS, .run_ns = 400 * MS };
	struct rs_program programs[] = { { .ops = late, .nr_ops = 2 }, { .ops = &never, .nr_ops = 1 },
					 { .ops = &hog, .nr_ops = 1, .birth = RS_BORN_RUNNING } };
	struct resched_workload_info info = { .first_ns = 1000 * MS, .last_ns = 1400 * MS };
	struct rig r;

	(void)state;
	build(&r, "vm4", "6.12");
	for (unsigned int i = 0; i < 3; i++)
		rs_place_seed(r.s, &r.tasks[i], &programs[i], &info);
	assert_in_range(r.tasks[0].avg.util_avg, 10, 15);	/* 1024 * (y^191 - y^286) */
	assert_int_equal(r.tasks[1].avg.util_avg, 0);
	assert_int_equal(r.tasks[1].avg.load_avg, 0);
	assert_in_range(r.tasks[2].avg.util_avg, 1020, 1024);
	assert_in_range(r.tasks[2].avg.load_avg, 1020, 1024);
	tear_down(&r);
}

static void delayed_tasks_stay_delayed_and_count_no_estimate(void **state)
{
	struct rig r;

	(void)state;
	build(&r, "vm4", "6.12");
	r.tasks[0].util_ewma = 300;
	start(&r, 0, &r.tasks[1]);
	start(&r, 0, &r.tasks[0]);
	assert_int_equal(r.s->cpus[0].util_est, 300);
	rs_smp_delay(r.s, &r.tasks[0], true);
	assert_int_equal(r.s->cpus[0].util_est, 0);
	rs_smp_carry(r.s, &r.tasks[0], 3);
	assert_true(r.tasks[0].delayed);
	assert_int_equal(r.s->cpus[0].nr_delayed, 0);
	assert_int_equal(r.s->cpus[3].nr_delayed, 1);
	assert_int_equal(r.s->cpus[3].util_est, 0);
	rs_smp_delay(r.s, &r.tasks[0], false);
	assert_true(r.s->cpus[3].util_est > 0);
	assert_int_equal(r.s->cpus[3].nr_delayed, 0);
	tear_down(&r);
}

/* Cpu 1 idles without tick while two tasks wait on cpu 0: within a few ticks of cpu 0 it has one of them. */
/* A sleeper that is still queued is pulled like any other, and sleeps on where it came to. */
static void delayed_tasks_are_pulled(void **state)
{
	struct rig r;

	(void)state;
	build(&r, "vm4", "6.12");
	start(&r, 0, &r.tasks[0]);
	start(&r, 0, &r.tasks[1]);
	rs_smp_delay(r.s, &r.tasks[1], true);
	r.s->now_ns += 10 * MS;
	assert_int_equal(rs_smp_newidle(r.s, 1), 1);
	assert_int_equal(r.tasks[1].cpu, 1);
	assert_true(r.tasks[1].delayed);
	assert_int_equal(r.s->cpus[1].nr_delayed, 1);
	tear_down(&r);
}

/* An idle period of 1 ms pays for a pass of 0.9 ms, but not for one of 1.2 ms. */
static void passes_that_cost_too_much_are_left_out(void **state)
{
	struct rig r;

	(void)state;
	build(&r, "vm4", "6.12");
	start(&r, 0, &r.tasks[0]);
	start(&r, 0, &r.tasks[1]);
	r.s->now_ns += 10 * MS;
	rs_smp_newidle_cost(r.s, 1, 1200000);
	assert_int_equal(r.s->cpus[1].avg_idle_ns, 2400000);
	r.s->cpus[1].avg_idle_ns = 1000000;
	assert_int_equal(rs_smp_newidle(r.s, 1), 0);
	rs_smp_newidle_cost(r.s, 2, 900000);
	r.s->cpus[2].avg_idle_ns = 1000000;
	assert_int_equal(rs_smp_newidle(r.s, 2), 1);
	tear_down(&r);
}

/* A group of shares 1024 with 8 busy tasks: one weighs an eighth of what it would alone. One that mostly sleeps weighs as alone. */
static void tasks_weigh_what_their_group_leaves_them(void **state)
{
	struct rs_group outer = { .shares = 2048 << 10, .nr_cpus = 8, .load_avg = 1024 };
	struct rs_group group = { .shares = 1024 << 10, .nr_cpus = 8, .load_avg = 8192 };
	struct rs_task task = { .group = &group };
	struct rs_pelt busy = { .load_sum = RS_PELT_MIN_DIVIDER }, sleeps = { .load_sum = RS_PELT_MIN_DIVIDER / 10 };

	(void)state;
	assert_int_equal(rs_place_weight(&task, 1024, &busy), 128);
	group.load_avg = 102;
	assert_in_range(rs_place_weight(&task, 1024, &sleeps), 1020, 1024);
	group.load_avg = 8192;
	group.parent = &outer;
	assert_int_equal(rs_place_weight(&task, 1024, &busy), 256);
	group.nr_cpus = 1;	/* nobody keeps the averages */
	outer.nr_cpus = 1;
	assert_int_equal(rs_place_weight(&task, 1024, &busy), 1024);
	task.group = NULL;
	assert_int_equal(rs_place_weight(&task, 1024, &busy), 1024);
}

/* Cpus 0-3 have 446, 4-7 have 1024. @util wakes on 5, where it was before; all idle. */
static unsigned int place_by_energy(uint32_t util, bool energy_aware, bool overutilized, const uint64_t *allowed)
{
	unsigned int cpu;
	struct rig r;

	build(&r, "biglittle", "6.12");
	r.s->opts.energy_aware = energy_aware;
	r.s->overutilized = overutilized;
	r.tasks[0].cpu = 5;
	r.tasks[0].avg.util_avg = r.tasks[0].util_ewma = util;
	r.tasks[0].allowed = allowed;
	cpu = rs_smp_wake(r.s, &r.tasks[0], 5, false, false);
	tear_down(&r);
	return cpu;
}

static void light_tasks_go_where_they_cost_least(void **state)
{
	static const uint64_t large = 0xf0;

	(void)state;
	assert_int_equal(place_by_energy(100, true, false, NULL), 0);	/* the first of the small ones with most room */
	assert_int_equal(place_by_energy(356, true, false, NULL), 0);
	assert_int_equal(place_by_energy(357, true, false, NULL), 5);	/* more than 80 % of a small one */
	assert_int_equal(place_by_energy(100, true, true, NULL), 5);	/* some cpu is full: performance counts */
	assert_int_equal(place_by_energy(100, false, false, NULL), 5);
	assert_int_equal(place_by_energy(100, true, false, &large), 5);
	assert_int_equal(place_by_energy(0, true, false, NULL), 5);
}

/* A full cpu is noticed when a task joins it or at its tick; a look over all of the machine finds that it is over. */
static void overutilization_comes_and_goes(void **state)
{
	bool go_on;
	struct rig r;

	(void)state;
	build(&r, "biglittle", "6.12");
	r.tasks[0].avg.util_avg = 400;
	r.tasks[0].cpu = 1;
	rs_smp_enqueue(r.s, 1, &r.tasks[0], RS_SMP_WAKES);
	assert_true(r.s->overutilized);
	rs_smp_run(r.s, 1, &r.tasks[0]);
	rs_smp_dequeue(r.s, &r.tasks[0], true);
	rs_smp_run(r.s, 1, NULL);
	r.s->now_ns += 200 * MS;
	rs_smp_update_cpu(r.s, 1);
	rs_smp_balance(r.s, 0, 0, RS_SMP_IDLE, &go_on);
	assert_false(r.s->overutilized);
	tear_down(&r);
	build(&r, "vm4", "6.12");
	assert_false(rs_smp_has_energy(r.s));
	tear_down(&r);
}

static void idle_cpus_are_kicked(void **state)
{
	struct rig r;

	(void)state;
	build(&r, "vm2", "6.12");
	start(&r, 1, &r.tasks[3]);
	for (unsigned int i = 0; i < 3; i++)
		start(&r, 0, &r.tasks[i]);
	r.s->now_ns += 1 * MS;
	rs_smp_dequeue(r.s, &r.tasks[3], true);
	r.s->cpus[1].avg_idle_ns = 0;	/* too short to pull at once */
	assert_int_equal(rs_smp_newidle(r.s, 1), 0);
	rs_smp_run(r.s, 1, NULL);
	assert_true(r.s->nohz_needs_update);
	for (unsigned int i = 0; i < 3 && !r.moves; i++) {
		r.s->now_ns += 4 * MS;
		rs_smp_tick(r.s, 0);
	}
	assert_true(r.moves > 0);
	assert_int_equal(r.to, 1);
	tear_down(&r);
}

/* Without any idle cpu that is due, the next time is not put off. */
static void nothing_due_puts_nothing_off(void **state)
{
	struct rig r;

	(void)state;
	build(&r, "vm4", "6.12");
	for (unsigned int i = 0; i < 2; i++)
		start(&r, 0, &r.tasks[i]);
	rs_smp_run(r.s, 1, NULL);
	r.s->cpus[1].active = true;
	for (unsigned int i = 0; i < 8; i++) {
		r.s->now_ns += 4 * MS;
		rs_smp_tick(r.s, 0);
	}
	assert_true(r.s->nohz_next_balance <= rs_smp_jiffies(r.s) + 16);
	tear_down(&r);
}

/* Loads of idle cpus decay only when somebody looks: every 32 ms of another's ticks. */
static void idle_averages_are_refreshed(void **state)
{
	struct rig r;

	(void)state;
	build(&r, "vm4", "6.12");
	start(&r, 0, &r.tasks[0]);
	r.s->cpus[2].avg.last_update = r.s->now_ns;
	r.s->cpus[2].avg.load_sum = 1000 * 47742ull;
	r.s->cpus[2].avg.load_avg = 1000;
	rs_smp_run(r.s, 2, NULL);
	r.s->nohz_next_blocked = rs_smp_jiffies(r.s) + 8;
	r.s->nohz_next_balance = rs_smp_jiffies(r.s) + 1000;
	r.s->now_ns += 20 * MS;
	rs_smp_tick(r.s, 0);
	assert_int_equal(r.s->cpus[2].avg.load_avg, 1000);
	r.s->now_ns += 44 * MS;
	rs_smp_tick(r.s, 0);
	assert_in_range(r.s->cpus[2].avg.load_avg, 255, 280);	/* 64 ms are 1.9 half-lives */
	tear_down(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_inherit_flips), cmocka_unit_test(flips_at_the_start_follow_the_recording),
		cmocka_unit_test(new_tasks_start_heavier_on_6_1), cmocka_unit_test(estimates_are_of_the_last_update),
		cmocka_unit_test(estimates_do_not_fall_while_tasks_wait), cmocka_unit_test(the_start_mirrors_what_comes),
		cmocka_unit_test(new_tasks_see_stale_averages), cmocka_unit_test(delayed_tasks_stay_delayed_and_count_no_estimate),
		cmocka_unit_test(light_tasks_go_where_they_cost_least), cmocka_unit_test(overutilization_comes_and_goes),
		cmocka_unit_test(tasks_weigh_what_their_group_leaves_them), cmocka_unit_test(delayed_tasks_are_pulled), cmocka_unit_test(passes_that_cost_too_much_are_left_out),
		cmocka_unit_test(idle_cpus_are_kicked), cmocka_unit_test(nothing_due_puts_nothing_off),
		cmocka_unit_test(idle_averages_are_refreshed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
