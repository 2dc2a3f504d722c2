// SPDX-License-Identifier: GPL-2.0-only
/*
 * Placement and balancing against worked situations: who goes where, what the balancer decides. Unless said, siblings are c and c + 8,
 * one cache for 16 cpus, all cpus not named idle are busy with one fair task.
 */
#include "replay/smp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct rig {
	struct resched_domains *d;
	struct rs_smp *s;
	struct rs_smp_task *tasks;	/* one a cpu */
	struct rs_smp_task p;
	uint64_t allowed[16];
	unsigned int moves, from, to;
	int pushes;
};

static void count_move(void *ctx, struct rs_smp_task *t, unsigned int from, unsigned int to)
{
	struct rig *r = ctx;

	r->moves++;
	r->from = from;
	r->to = to;
	rs_smp_dequeue(r->s, t, false);
	rs_smp_enqueue(r->s, to, t, RS_SMP_MOVES);
}

static void count_push(void *ctx, unsigned int from, unsigned int to)
{
	struct rig *r = ctx;

	r->pushes++;
	r->from = from;
	r->to = to;
}

static void build(struct rig *r, const char *machine, const char *kernel)
{
	struct resched_host *host = NULL;
	struct rs_smp_options opts = { .wa_idle = true, .wa_weight = true, .wa_bias = true, .sis_util = true, .migration_cost_ns = 500000,
				       .nr_migrate = 32, .hz = 250, .move = count_move, .push = count_push, .ctx = r };

	memset(r, 0, sizeof(*r));
	assert_int_equal(resched_topology_load(machine, &host, NULL), 0);
	assert_int_equal(resched_domains_build(host, kernel, &r->d, NULL), 0);
	resched_host_free(host);
	assert_int_equal(rs_smp_new(r->d, &opts, &r->s), 0);
	r->s->now_ns = 10000000000ull;
	r->tasks = calloc(r->d->nr_cpus, sizeof(*r->tasks));
	for (unsigned int cpu = 0; cpu < r->d->nr_cpus; cpu++) {
		rs_smp_task_init(&r->tasks[cpu], cpu);
		r->tasks[cpu].fair = true;
		rs_smp_enqueue(r->s, cpu, &r->tasks[cpu], RS_SMP_NEW);
		rs_smp_run(r->s, cpu, &r->tasks[cpu]);
		r->s->llcs[cpu].nr_idle_scan = 16;
	}
	rs_smp_task_init(&r->p, 0);
	r->p.fair = true;
}

static void tear_down(struct rig *r)
{
	rs_smp_free(r->s);
	resched_domains_free(r->d);
	free(r->tasks);
}

static void make_idle(struct rig *r, unsigned int cpu)
{
	rs_smp_dequeue(r->s, &r->tasks[cpu], true);
	rs_smp_run(r->s, cpu, NULL);
}

/* -1 ends the list; has_idle_cores is set as given, whatever is true. */
static void idle_list(struct rig *r, bool idle_cores, const int *cpus)
{
	for (; *cpus >= 0; cpus++)
		make_idle(r, (unsigned int)*cpus);
	r->s->llcs[0].has_idle_cores = idle_cores;
}
#define IDLE(r, cores, ...) idle_list(r, cores, (const int[]){ __VA_ARGS__, -1 })

static unsigned int sibling(struct rig *r, unsigned int prev, unsigned int target, unsigned int by)
{
	r->p.cpu = prev;
	return rs_smp_sibling(r->s, &r->p, prev, target, by, false);
}

/* ---- 1 ---- */

static void wide_wakers(void **state)
{
	(void)state;
	assert_true(rs_smp_wide(300, 17, 16));
	assert_true(rs_smp_wide(272, 17, 16));
	assert_false(rs_smp_wide(271, 17, 16));
	assert_false(rs_smp_wide(5000, 15, 16));
	assert_true(rs_smp_wide(1, 1, 1));
	assert_false(rs_smp_wide(5, 0, 1));
}

static void flips_are_counted_and_halved(void **state)
{
	struct rig r;

	(void)state;
	build(&r, "m16", "6.12");
	r.tasks[3].flips = 9;
	rs_smp_wake(r.s, &r.p, 3, false, false);
	assert_int_equal(r.tasks[3].flips, 5);	/* a long time has passed: halved once, then one more */
	rs_smp_wake(r.s, &r.p, 3, false, false);
	assert_int_equal(r.tasks[3].flips, 5);	/* the same wakee */
	tear_down(&r);
}

/* ---- 2 to 4 ---- */

static unsigned int affine(struct rig *r, unsigned int by, unsigned int prev, bool sync)
{
	return rs_smp_affine(r->s, &r->p, &r->tasks[by], by, prev, 117, sync);
}

static void affine_by_idleness(void **state)
{
	struct rig r;

	(void)state;
	build(&r, "zen3-2s-nps1", "6.12");	/* caches of 16: 0 and 1 share, 0 and 8 do not */
	r.s->opts.wa_weight = false;
	make_idle(&r, 0);
	make_idle(&r, 1);
	make_idle(&r, 8);
	assert_int_equal(affine(&r, 0, 1, false), 1);	/* both idle, shared */
	assert_int_equal(affine(&r, 0, 2, false), 0);	/* waker's idle, previous busy */
	assert_int_equal(affine(&r, 0, 8, false), 8);	/* both idle, not shared */
	assert_int_equal(affine(&r, 9, 0, false), 0);	/* waker's busy, previous idle, not shared */
	r.s->opts.wa_weight = true;
	r.s->cpus[9].avg.load_avg = 1000;	/* idle waker, busy previous, not shared: weights decide */
	r.s->cpus[0].avg.load_avg = 5000;
	assert_int_equal(affine(&r, 0, 9, false), 9);
	r.s->cpus[0].avg.load_avg = 0;
	assert_int_equal(affine(&r, 0, 9, false), 0);
	tear_down(&r);
}

static void affine_by_weight(void **state)
{
	struct rig r;

	(void)state;
	build(&r, "m16", "6.12");
	r.p.avg.load_avg = 200;
	r.s->cpus[1].avg.load_avg = 1000;
	r.s->cpus[0].avg.load_avg = 600;
	assert_int_equal(affine(&r, 0, 1, false), 0);
	r.s->cpus[0].avg.load_avg = 663;
	assert_int_equal(affine(&r, 0, 1, false), 0);
	r.s->cpus[0].avg.load_avg = 664;
	assert_int_equal(affine(&r, 0, 1, false), 1);
	r.s->cpus[0].avg.load_avg = 700;
	assert_int_equal(affine(&r, 0, 1, false), 1);
	/* sync, the waker is one of two tasks: a tie goes to the waker's cpu */
	r.s->cpus[0].avg.load_avg = 864;
	r.tasks[0].avg.load_avg = 200;
	r.s->cpus[0].nr_running = 2;
	assert_int_equal(affine(&r, 0, 1, true), 0);
	assert_int_equal(affine(&r, 0, 1, false), 1);
	r.s->cpus[0].nr_running = 1;
	r.s->cpus[0].avg.load_avg = 600;
	r.s->cpus[0].capacity = 512;
	assert_int_equal(affine(&r, 0, 1, false), 1);
	r.s->cpus[0].capacity = 1024;
	r.s->cpus[0].avg.load_avg = 640;
	assert_int_equal(rs_smp_affine(r.s, &r.p, &r.tasks[0], 0, 1, 110, false), 1);
	assert_int_equal(rs_smp_affine(r.s, &r.p, &r.tasks[0], 0, 1, 117, false), 0);
	tear_down(&r);
}

/* ---- 5 to 13 ---- */

static void recent_cpu(void **state)
{
	struct rig r;

	(void)state;
	build(&r, "m16", "6.12");
	IDLE(&r, false, 5);
	r.p.recent = 5;
	assert_int_equal(sibling(&r, 2, 2, 2), 5);
	assert_int_equal(r.p.recent, 2);
	tear_down(&r);
}

static void idle_cores(void **state)
{
	struct rig r;

	(void)state;
	build(&r, "m16", "6.12");
	IDLE(&r, true, 3, 4, 9, 12);
	assert_int_equal(sibling(&r, 2, 2, 2), 4);
	tear_down(&r);
	build(&r, "m16", "6.1");
	IDLE(&r, true, 9);	/* the hint is stale */
	assert_int_equal(sibling(&r, 2, 2, 2), 9);
	assert_false(r.s->llcs[0].has_idle_cores);
	tear_down(&r);
}

static void scan_is_limited(void **state)
{
	struct rig r;

	(void)state;
	build(&r, "m16", "6.12");
	IDLE(&r, false, 9);
	r.s->llcs[0].nr_idle_scan = 6;
	assert_int_equal(sibling(&r, 2, 2, 2), 2);
	r.p.recent = 0;
	r.s->llcs[0].nr_idle_scan = 7;
	assert_int_equal(sibling(&r, 2, 2, 2), 9);
	tear_down(&r);
	build(&r, "m16", "6.12");
	IDLE(&r, true, 0, 3, 8);
	r.p.recent = 2;
	r.s->llcs[0].nr_idle_scan = 0;	/* ends the scan although a core is idle */
	assert_int_equal(sibling(&r, 2, 2, 2), 2);
	tear_down(&r);
}

static void sibling_of_prev(void **state)
{
	struct rig r;

	(void)state;
	build(&r, "m16", "6.12");
	IDLE(&r, false, 7, 10);
	assert_int_equal(sibling(&r, 2, 6, 6), 10);
	tear_down(&r);
	build(&r, "m16", "6.12");
	IDLE(&r, false, 7, 15);
	assert_int_equal(sibling(&r, 2, 6, 6), 7);
	tear_down(&r);
}

static void kworkers_keep_their_wakees(void **state)
{
	struct rig r;

	(void)state;
	build(&r, "m16", "6.12");
	IDLE(&r, false, 3, 4);
	r.tasks[5].percpu_kthread = true;
	assert_int_equal(sibling(&r, 5, 5, 5), 5);
	assert_int_equal(rs_smp_sibling(r.s, &r.p, 5, 5, 5, true), 3);	/* not from an interrupt: scans 6.., 3 */
	tear_down(&r);
	build(&r, "m16", "6.12");
	IDLE(&r, false, 1);
	assert_int_equal(sibling(&r, 15, 15, 15), 1);
	tear_down(&r);
}

static void sched_idle_counts_as_free(void **state)
{
	struct rig r;

	(void)state;
	build(&r, "m16", "6.12");
	IDLE(&r, false, 9);
	r.s->cpus[3].nr_idle_policy = 1;
	assert_int_equal(sibling(&r, 2, 2, 2), 3);
	tear_down(&r);
	build(&r, "m16", "6.12");
	IDLE(&r, true, 5, 13);
	r.p.recent = 2;
	r.s->cpus[3].nr_idle_policy = 1;
	assert_int_equal(sibling(&r, 2, 2, 2), 5);	/* an idle core is better */
	tear_down(&r);
}

static void a_cpu_left_the_mask(void **state)
{
	struct rig r;

	(void)state;
	build(&r, "m16", "6.12");
	IDLE(&r, false, 2, 9);
	r.allowed[0] = 0x700;	/* 8, 9, 10 */
	r.p.allowed = r.allowed;
	r.p.cpu = 2;
	assert_int_equal(rs_smp_sibling(r.s, &r.p, 2, 2, 4, false), 2);
	assert_int_equal(rs_smp_wake(r.s, &r.p, 4, false, false), 8);	/* the first, busy though it is */
	tear_down(&r);
}

/* ---- 14 and 15 ---- */

static void budgets(void **state)
{
	static const unsigned int util[6] = { 0, 256, 512, 700, 800, 870 }, want[6] = { 16, 14, 10, 5, 2, 0 };

	(void)state;
	for (int i = 0; i < 6; i++)
		assert_int_equal(rs_smp_util_budget(16, 16ull * util[i], 117), want[i]);
	assert_int_equal(rs_smp_util_budget(48, 48ull * 512, 117), 31);
	assert_int_equal(rs_smp_util_budget(2, 2ull * 128, 117), 1);
	assert_int_equal(rs_smp_util_budget(2, 2ull * 512, 117), 1);
	assert_int_equal(rs_smp_util_budget(2, 2ull * 620, 117), 0);
	assert_int_equal(rs_smp_prop_budget(16, 50000, 2000), 398);
	assert_int_equal(rs_smp_prop_budget(16, 1000, 2000), 6);
	assert_int_equal(rs_smp_prop_budget(16, 400, 2000), 3);
}

/* ---- 16 ---- */

static void set_over(struct rig *r, unsigned int from, unsigned int to)
{
	for (unsigned int cpu = from; cpu <= to; cpu++) {
		r->s->cpus[cpu].over = true;
		r->s->llcs[r->d->llc_of[cpu]].nr_over++;
	}
}

static void overloaded_cpus_are_filtered(void **state)
{
	struct rig r;

	(void)state;
	build(&r, "m16", "6.1");
	IDLE(&r, false, 9);
	r.s->opts.sis_filter = true;
	r.s->llcs[0].nr_idle_scan = 4;
	set_over(&r, 3, 7);
	assert_int_equal(sibling(&r, 2, 2, 2), 9);
	tear_down(&r);
	build(&r, "m16", "6.1");
	IDLE(&r, false, 9);
	r.s->opts.sis_filter = true;
	r.s->llcs[0].nr_idle_scan = 4;
	set_over(&r, 3, 3);
	assert_int_equal(sibling(&r, 2, 2, 2), 2);
	tear_down(&r);
	build(&r, "cascadelake96", "6.1");
	r.s->opts.sis_filter = true;
	r.s->llcs[0].nr_idle_scan = 48;
	make_idle(&r, 50);
	r.s->llcs[0].has_idle_cores = false;
	set_over(&r, 0, 23);
	set_over(&r, 48, 49);
	set_over(&r, 52, 71);
	r.p.recent = 2;
	assert_int_equal(sibling(&r, 3, 3, 3), 3);	/* 2 of 48 are not worth a look */
	tear_down(&r);
}

/* ---- 17 and 18 ---- */

static void fork_across_nodes(void **state)
{
	struct rig r;

	(void)state;
	build(&r, "zen3-2s-nps4", "6.12");
	for (unsigned int cpu = 1; cpu < 256; cpu++)
		make_idle(&r, cpu);
	for (unsigned int cpu = 0; cpu < 256; cpu++)
		r.s->cpus[cpu].avg.util_avg = cpu == 32 ? 0 : cpu == 16 ? 5 : cpu == 48 ? 9 : 0;
	r.p.on_rq = false;
	/* Only the parent runs on its node: 2 running is within the allowed imbalance. */
	assert_int_equal(r.d->node_of[rs_smp_place_new(r.s, &r.p, 0, false)], 0);
	/* Two tasks run there: the node with the least utilisation. */
	rs_smp_enqueue(r.s, 1, &r.tasks[1], RS_SMP_WAKES);
	rs_smp_run(r.s, 1, &r.tasks[1]);
	assert_int_equal(r.d->node_of[rs_smp_place_new(r.s, &r.p, 0, false)], 2);
	tear_down(&r);
}

static unsigned int node_of_fork(unsigned int local, unsigned int remote)
{
	unsigned int node;
	struct rig r;

	build(&r, "zen3-2s-nps1", "6.12");
	for (unsigned int cpu = 0; cpu < 256; cpu++)
		make_idle(&r, cpu);
	/* One task a cache, so that lower levels do not matter. */
	for (unsigned int i = 0; i < local; i++) {
		rs_smp_enqueue(r.s, i % 8 * 8 + i / 8, &r.tasks[i % 8 * 8 + i / 8], RS_SMP_WAKES);
		rs_smp_run(r.s, i % 8 * 8 + i / 8, &r.tasks[i % 8 * 8 + i / 8]);
	}
	for (unsigned int i = 0; i < remote; i++) {
		rs_smp_enqueue(r.s, 64 + i % 8 * 8 + i / 8, &r.tasks[64 + i % 8 * 8 + i / 8], RS_SMP_WAKES);
		rs_smp_run(r.s, 64 + i % 8 * 8 + i / 8, &r.tasks[64 + i % 8 * 8 + i / 8]);
	}
	node = (unsigned int)r.d->node_of[rs_smp_place_new(r.s, &r.p, 0, false)];
	tear_down(&r);
	return node;
}

static void fork_with_allowed_imbalance(void **state)
{
	(void)state;
	assert_int_equal(node_of_fork(3, 1), 0);
	assert_int_equal(node_of_fork(3, 0), 1);
	assert_int_equal(node_of_fork(9, 8), 1);
}

/* ---- 19 ---- */

static unsigned int who_balances(const char *kernel, const int *idle)
{
	unsigned int who = UINT32_MAX;
	struct rig r;

	build(&r, "zen3-2s-nps1", kernel);
	for (; *idle >= 0; idle++)
		make_idle(&r, (unsigned int)*idle);
	for (unsigned int cpu = 0; cpu < 8; cpu++) {
		if (rs_smp_should_balance(r.s, cpu, &r.d->chains[cpu].levels[2], RS_SMP_IDLE)) {
			assert_int_equal(who, UINT32_MAX);
			who = cpu;
		}
	}
	tear_down(&r);
	return who;
}

static void one_cpu_balances_for_its_group(void **state)
{
	(void)state;
	assert_int_equal(who_balances("6.1", (const int[]){ 1, 2, 130, -1 }), 1);
	assert_int_equal(who_balances("6.12", (const int[]){ 1, 2, 130, -1 }), 2);
	assert_int_equal(who_balances("6.12", (const int[]){ 1, 3, -1 }), 1);
	assert_int_equal(who_balances("6.12", (const int[]){ -1 }), 0);
	assert_int_equal(who_balances("6.1", (const int[]){ -1 }), 0);
}

/* ---- 20 to 22: the decision from groups filled in ---- */

struct group_in { unsigned int nr, h_nr, idle; uint64_t load, util, runnable; };

/* Return: amount, 0 = balanced; @ret_kind as decided. */
static int64_t decide(const char *machine, const char *kernel, unsigned int level, enum rs_smp_idle_type idle, struct group_in l,
		      struct group_in b, enum rs_smp_kind *ret_kind)
{
	struct rs_smp_env env;
	struct rig r;
	bool pull;

	build(&r, machine, kernel);
	memset(&env, 0, sizeof(env));
	env.dom = &r.d->chains[0].levels[level];
	env.level = level;
	env.idle = idle;
	for (int i = 0; i < 2; i++) {
		struct rs_smp_group *g = i ? &env.busiest : &env.local;
		struct group_in *in = i ? &b : &l;
		unsigned int pct = env.dom->shape->info.imbalance_pct;

		g->shape = &env.dom->shape->groups[i];
		g->weight = g->shape->span.nr;
		g->capacity = g->min_capacity = 1024ull * g->weight;
		g->nr = in->nr;
		g->h_nr = in->h_nr ? in->h_nr : in->nr;
		g->idle = in->idle ? in->idle : in->nr >= g->weight ? 0 : g->weight - in->nr;
		g->load = in->load;
		g->util = in->util;
		g->runnable = in->runnable;
		g->type = rs_smp_classify(g, pct, false, false);
		if (g->type == RS_SMP_OVERLOADED)
			g->avg_load = g->load * 1024 / g->capacity;
		env.total_load += g->load;
		env.total_capacity += g->capacity;
	}
	pull = rs_smp_decide(r.s, &env);
	if (ret_kind)
		*ret_kind = env.kind;
	tear_down(&r);
	return pull ? env.amount : 0;
}

static void decisions_between_caches(void **state)
{
	const struct group_in l4 = { .nr = 4 }, b10 = { .nr = 10 }, b5 = { .nr = 5 };
	enum rs_smp_kind kind;

	(void)state;
	assert_int_equal(decide("zen3-2s-nps1", "6.12", 2, RS_SMP_IDLE, l4, b10, &kind), 3);
	assert_int_equal(kind, RS_SMP_TASK);
	assert_int_equal(decide("zen3-2s-nps1", "6.1", 2, RS_SMP_IDLE, l4, b10, NULL), 3);
	assert_int_equal(decide("zen3-2s-nps1", "6.1", 2, RS_SMP_BUSY, l4, b10, NULL), 3);
	assert_int_equal(decide("zen3-2s-nps1", "6.12", 2, RS_SMP_BUSY, l4, b10, NULL), 0);
	assert_int_equal(decide("zen3-2s-nps1", "6.12", 2, RS_SMP_IDLE, l4, b5, NULL), 0);
	assert_int_equal(decide("zen3-2s-nps1", "6.1", 2, RS_SMP_IDLE, l4, b5, NULL), 0);
}

static void decisions_between_nodes(void **state)
{
	static const struct { unsigned int l, b; int64_t moves; } cases[] = { { 0, 2, 0 }, { 0, 3, 1 }, { 7, 9, 0 }, { 8, 10, 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct group_in l = { .nr = cases[i].l, .idle = 128 - cases[i].l }, b = { .nr = cases[i].b };

		assert_int_equal(decide("zen3-2s-nps1", "6.12", 3, RS_SMP_IDLE, l, b, NULL), cases[i].moves);
	}
}

static void decisions_by_load(void **state)
{
	const struct group_in spare = { .nr = 10, .util = 10240 }, over = { .nr = 20, .util = 16384, .runnable = 20480 };
	struct group_in l = { .nr = 20, .load = 18432, .util = 16384, .runnable = 20480 }, b = l;
	enum rs_smp_kind kind;

	(void)state;
	assert_int_equal(decide("zen3-2s-nps1", "6.12", 2, RS_SMP_IDLE, spare, over, &kind), 6144);
	assert_int_equal(kind, RS_SMP_UTIL);
	b.load = 28672;
	assert_int_equal(decide("zen3-2s-nps1", "6.12", 2, RS_SMP_IDLE, l, b, &kind), 5120);
	assert_int_equal(kind, RS_SMP_LOAD);
	b.load = 20480;
	assert_int_equal(decide("zen3-2s-nps1", "6.12", 2, RS_SMP_IDLE, l, b, NULL), 0);
}

/* ---- 23: a core with two running tasks beside an idle core ---- */

static void check_active_balance(const char *kernel)
{
	struct rig r;
	bool go_on;

	build(&r, "m16", kernel);
	for (unsigned int cpu = 0; cpu < 16; cpu++) {
		if (cpu != 1 && cpu != 9)
			make_idle(&r, cpu);
	}
	for (int i = 0; i < 4; i++) {
		assert_int_equal(r.pushes, 0);
		assert_int_equal(rs_smp_balance(r.s, 0, 1, RS_SMP_IDLE, &go_on), 0);
		assert_true(go_on);
		assert_int_equal(r.s->cpus[0].levels[1].nr_failed, i + 1);
	}
	assert_int_equal(r.pushes, 1);
	assert_int_equal(r.to, 0);
	rs_smp_push(r.s, r.from, 0);
	assert_int_equal(r.moves, 1);
	assert_int_equal(r.s->cpus[0].levels[1].nr_failed, 0);
	tear_down(&r);
}

static void running_tasks_are_pushed(void **state)
{
	(void)state;
	check_active_balance("6.1");
	check_active_balance("6.12");
}

/* ---- 24 and 25 ---- */

static void many_light_tasks_have_spare(void **state)
{
	struct rs_smp_group g = { .weight = 16, .nr = 20, .util = 8000, .runnable = 9000, .capacity = 16384 };

	(void)state;
	assert_int_equal(rs_smp_classify(&g, 117, false, false), RS_SMP_HAS_SPARE);
}

static unsigned int pull_with(unsigned int level, unsigned int failed)
{
	unsigned int moved;
	struct rig r;
	bool go_on;

	build(&r, "m16", "6.12");
	for (unsigned int cpu = 0; cpu < 16; cpu++) {
		if (cpu != 8)
			make_idle(&r, cpu);
	}
	/* Two more wait on cpu 8; they last ran 0.3 ms ago. */
	for (unsigned int cpu = 2; cpu < 4; cpu++) {
		r.tasks[cpu].cpu = 8;
		rs_smp_enqueue(r.s, 8, &r.tasks[cpu], RS_SMP_WAKES);
		r.tasks[cpu].exec_start_ns = r.s->now_ns - 300000;
	}
	r.s->cpus[1].levels[level].nr_failed = r.s->cpus[0].levels[level].nr_failed = failed;
	moved = rs_smp_balance(r.s, level ? 1 : 0, level, RS_SMP_IDLE, &go_on);
	tear_down(&r);
	return moved;
}

static void hot_tasks_stay(void **state)
{
	(void)state;
	assert_int_equal(pull_with(1, 1), 0);
	assert_true(pull_with(1, 2) > 0);
	assert_true(pull_with(0, 0) > 0);
}

/* ---- 26 ---- */

static void asymmetric_capacities(void **state)
{
	struct rig r;

	(void)state;
	build(&r, "biglittle", "6.12");
	IDLE(&r, false, 1, 6);
	r.p.avg.util_avg = 356;
	assert_int_equal(sibling(&r, 0, 0, 0), 1);
	r.p.recent = 0;
	r.p.avg.util_avg = 357;
	assert_int_equal(sibling(&r, 0, 0, 0), 6);
	tear_down(&r);
	build(&r, "biglittle", "6.12");
	IDLE(&r, false, 1, 2);
	r.p.avg.util_avg = 600;
	assert_int_equal(sibling(&r, 0, 0, 0), 1);
	tear_down(&r);
}

/* Two sockets of one cpu: no cache is shared, nothing is scanned. */
static void no_cache_no_scan(void **state)
{
	struct rig r;

	(void)state;
	build(&r, "vm2-sockets", "6.12");
	IDLE(&r, false, 1);
	assert_int_equal(sibling(&r, 0, 0, 0), 0);
	tear_down(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wide_wakers), cmocka_unit_test(flips_are_counted_and_halved), cmocka_unit_test(affine_by_idleness),
		cmocka_unit_test(affine_by_weight), cmocka_unit_test(recent_cpu), cmocka_unit_test(idle_cores), cmocka_unit_test(scan_is_limited),
		cmocka_unit_test(sibling_of_prev), cmocka_unit_test(kworkers_keep_their_wakees), cmocka_unit_test(sched_idle_counts_as_free),
		cmocka_unit_test(a_cpu_left_the_mask), cmocka_unit_test(budgets), cmocka_unit_test(overloaded_cpus_are_filtered),
		cmocka_unit_test(fork_across_nodes), cmocka_unit_test(fork_with_allowed_imbalance),
		cmocka_unit_test(one_cpu_balances_for_its_group), cmocka_unit_test(decisions_between_caches),
		cmocka_unit_test(decisions_between_nodes), cmocka_unit_test(decisions_by_load), cmocka_unit_test(running_tasks_are_pushed),
		cmocka_unit_test(many_light_tasks_have_spare), cmocka_unit_test(hot_tasks_stay), cmocka_unit_test(asymmetric_capacities),
		cmocka_unit_test(no_cache_no_scan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
