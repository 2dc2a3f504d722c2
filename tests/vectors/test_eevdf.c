// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers computed by the fair class of real kernels (6.6.0, 6.8.0, 6.12.117, 6.18.35) for small scenes on one cpu.
 * Scenes as in scene.h.
 */
#include "vectors/scene.h"

static void t1_calc_delta_fair(void **state)
{
	static const uint64_t deltas[] = { 1, 1000000, 2800000, 3000000, 4000000 };
	static const struct { struct rs_load load; uint64_t want[5]; } rows[] = {
		{ { 88761 << 10, 48388 }, { 0, 11536, 32302, 34609, 46146 } },
		{ { 3121 << 10, 1376151 }, { 0, 328099, 918679, 984299, 1312399 } },
		{ { 1024 << 10, 4194304 }, { 1, 1000000, 2800000, 3000000, 4000000 } },
		{ { 335 << 10, 12820798 }, { 3, 3056716, 8558806, 9170149, 12226865 } },
		{ { 56 << 10, 76695844 }, { 18, 18285714, 51199999, 54857142, 73142856 } },
		{ { 15 << 10, 286331153 }, { 68, 68266666, 191146666, 204799999, 273066666 } },
		{ { 3 << 10, 1431655765 }, { 341, 341333333, 955733333, 1023999999, 1365333333 } },
		{ { 1048577, 0 }, { 0, 999999, 2799999, 2999999, 3999999 } },
		{ { 524288, 0 }, { 1, 1999999, 5599999, 5999999, 7999999 } },
		{ { 700000, 0 }, { 1, 1499267, 4197949, 4497803, 5997071 } },
		{ { 2, 0 }, { 511, 511999999, 1433599999, 1535999999, 2047999999 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (int j = 0; j < 5; j++)
			assert_int_equal(rs_calc_delta_fair(deltas[j], &rows[i].load), rows[i].want[j]);
	}
	assert_int_equal(rs_load_of_task(-20, RS_SCHED_NORMAL).inv, 48388);
	assert_int_equal(rs_load_of_task(5, RS_SCHED_BATCH).weight, 335 << 10);
	assert_int_equal(rs_load_of_task(-20, RS_SCHED_IDLE).weight, 3 << 10);
}

/* Entities with given weights and virtual times, put straight into the tree. */
struct bag { struct drv *d; struct rs_eevdf_entity *e[4]; int nr; };

static struct rs_eevdf_entity *bag_add(struct bag *b, uint64_t w, int64_t v)
{
	static const char *const names[] = { "A", "B", "C", "D" };
	struct rs_eevdf_entity *e = entity(drv_task(b->d, names[b->nr], 0, RS_SCHED_NORMAL, 0));

	e->w = w;
	e->load = (struct rs_load){ w << 10, 0 };
	for (int nice = -20; nice < 20; nice++) {
		if (rs_load_of_task(nice, RS_SCHED_NORMAL).weight == w << 10)
			e->load = rs_load_of_task(nice, RS_SCHED_NORMAL);
	}
	e->vruntime = (uint64_t)v;
	e->deadline = (uint64_t)v + 3000000;
	e->on = true;
	rs_node_join(&e->h, &queue(b->d)->h);
	rs_eevdf_link(queue(b->d), e);
	queue(b->d)->nr++;
	b->d->rq.nr_queued++;
	return b->e[b->nr++] = e;
}

static void t2_average_is_a_floor(void **state)
{
	static const struct { uint64_t w[3]; int64_t v[3]; int nr; int64_t avg; const char *eligible; } rows[] = {
		{ { 1024, 1024, 1024 }, { -1, 0, 0 }, 3, -1, "E--" },
		{ { 1024, 1024, 1024 }, { 0, 0, 1 }, 3, 0, "EE-" },
		{ { 15, 88761 }, { -1000000, 3 }, 2, -166, "E-" },
		{ { 88761, 15 }, { 0, 1000000 }, 2, 168, "E-" },
		{ { 3, 1024 }, { -7, 2 }, 2, 1, "E-" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bag b = { .d = scene_new("eevdf", i % 2 ? "6.12" : "6.6", "", "") };

		for (int j = 0; j < rows[i].nr; j++)
			bag_add(&b, rows[i].w[j], rows[i].v[j]);
		assert_int_equal((int64_t)rs_eevdf_peek_avg(queue(b.d)), rows[i].avg);
		assert_int_equal((int64_t)rs_eevdf_avg(queue(b.d)), rows[i].avg);
		for (int j = 0; j < rows[i].nr; j++)
			assert_int_equal(rs_eevdf_eligible(queue(b.d), b.e[j]), rows[i].eligible[j] == 'E');
		drv_free(b.d);
	}
}

static void t3_placement_inflates_lag(void **state)
{
	static const struct { int64_t avg; uint64_t queued[2]; uint64_t w; int64_t vlag, v, after; } rows[] = {
		{ 10500000, { 1024, 1024 }, 1024, 600000, 9600000, 10200000 },
		{ 10500000, { 1024, 1024 }, 1024, -600000, 11400000, 10800000 },
		{ 1000000, { 1024, 335 }, 3121, -700001, 3307582, 2607581 },
		{ 1000000, { 88761, 0 }, 15, 50000000, -49008449, 991550 },
		{ 1000000, { 15, 0 }, 88761, -11000, 66102400, 66091400 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bag b = { .d = scene_new("eevdf", "6.12", "", "") };
		struct rs_task *t;
		struct rs_eevdf_entity *e;

		for (int j = 0; j < 2 && rows[i].queued[j]; j++)
			bag_add(&b, rows[i].queued[j], rows[i].avg);
		t = drv_task(b.d, "X", 0, RS_SCHED_NORMAL, 0);
		e = entity(t);
		e->w = rows[i].w;
		e->load = (struct rs_load){ rows[i].w << 10, 0 };
		e->vlag = rows[i].vlag;
		t->rq = &b.d->rq;
		b.d->ops->enqueue(&b.d->rq, t, RS_ENQ_WAKEUP);
		assert_int_equal((int64_t)e->vruntime, rows[i].v);
		assert_int_equal((int64_t)rs_eevdf_peek_avg(queue(b.d)), rows[i].after);
		drv_free(b.d);
	}
}

/* Lag at a special dequeue of one who ran far too long beside a fresh hog is the limit itself. */
static int64_t limit_of(const char *kernel, const char *knobs, const char *tasks)
{
	struct drv *d = scene_new("eevdf", kernel, knobs, tasks);
	struct rs_task *a = &drv_find(d, "A")->t;
	int64_t vlag;

	apply(d, "wake", drv_find(d, "A"), 0);
	apply(d, "wake", drv_find(d, "B"), 0);
	entity(a)->vruntime += (uint64_t)1 << 40;
	entity(a)->deadline = entity(a)->vruntime + 1;
	assert_ptr_equal(d->rq.curr, a);
	d->ops->dequeue(&d->rq, a, RS_DEQ_SLEEP | RS_DEQ_SPECIAL);
	vlag = entity(a)->vlag;
	drv_free(d);
	return -vlag;
}

static void t4_lag_limit(void **state)
{
	(void)state;
	assert_int_equal(limit_of("6.12", "base_slice_ns=3000000 hz=250", "A B"), 6000000);
	assert_int_equal(limit_of("6.6", "base_slice_ns=3000000 hz=1000", "A B"), 6000000);
	assert_int_equal(limit_of("6.18", "base_slice_ns=3000000 hz=1000", "A B"), 4000000);
	assert_int_equal(limit_of("6.18", "base_slice_ns=3000000 hz=250", "A B"), 7000000);
	assert_int_equal(limit_of("6.12", "hz=1000", "A B"), 1400000);
	assert_int_equal(limit_of("6.12", "hz=250", "A B"), 4000000);
	assert_int_equal(limit_of("6.18", "hz=1000", "A B"), 1700000);
	assert_int_equal(limit_of("6.18", "hz=250", "A B"), 4700000);
	assert_int_equal(limit_of("6.12", "base_slice_ns=3000000 hz=1000", "A:nice=19 B"), 409599999);
	assert_int_equal(limit_of("6.18", "base_slice_ns=3000000 hz=1000", "A:nice=19 B"), 273066666);
	assert_int_equal(limit_of("6.18", "base_slice_ns=3000000 hz=250", "A:nice=19 B"), 477866666);
	assert_int_equal(limit_of("6.12", "base_slice_ns=3000000 hz=1000", "A:nice=-20 B"), 69219);
	assert_int_equal(limit_of("6.18", "base_slice_ns=3000000 hz=1000", "A:nice=-20 B"), 46146);
	assert_int_equal(limit_of("6.18", "base_slice_ns=3000000 hz=250", "A:nice=-20 B"), 80756);
}

static void t4b_lag_limit_when_it_sleeps(void **state)
{
	static const struct scene scenes[] = {
		{ "6.12", NULL, "hz=1000 NO_DELAY_DEQUEUE", 0, "A B:slice=20000000",
		  "0 wake A\n0 wake B\n12000000 sleep A = B* 0 A:off(-1400000) B(0,20000000,E)" },
		{ "6.12", NULL, "hz=250 NO_DELAY_DEQUEUE", 0, "A B:slice=20000000",
		  "0 wake A\n0 wake B\n12000000 sleep A = B* 0 A:off(-4000000) B(0,20000000,E)" },
		/* by the rule; real 6.18 may miss B's slice in the tree and stop at -1700000 */
		{ "6.18", NULL, "hz=1000 NO_DELAY_DEQUEUE", 0, "A B:slice=20000000",
		  "0 wake A\n0 wake B\n12000000 sleep A = B* 0 A:off(-6000000) B(0,20000000,E)" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
		play(&scenes[i]);
}

#define BASE3 "base_slice_ns=3000000 hz=1000"

static void t5_two_hogs(void **state)
{
	static const struct scene scene = { "6.8 6.12 6.18", NULL, BASE3, 0, "A B",
		"0 wake A\n"
		"0 wake B = A* 0 A(0,3000000,E) B(0,3000000,E)\n"
		"1000000 tick\n2000000 tick\n"
		"3000000 tick = B* 1500000 A(3000000,6000000,-) B(0,3000000,E)\n"
		"4000000 tick\n5000000 tick\n"
		"6000000 tick = A* 3000000 A(3000000,6000000,E) B(3000000,6000000,E)\n"
		"7000000 tick\n8000000 tick\n"
		"9000000 tick = B* 4500000 A(6000000,9000000,-) B(3000000,6000000,E)" };

	(void)state;
	play(&scene);
	expect_runs("eevdf", "6.8 6.12 6.18", BASE3, "A B", "wake", "A A A B B B A A A B");
	expect_runs("eevdf", "6.6", BASE3, "A B", "wake", "A A A B B B B B B A");
	expect_runs("eevdf", "6.12 6.18", "base_slice_ns=2800000 hz=1000", "A B", "fork", "A A B B A A A B B B A");
}

static void t5_tie_keeps_current_in_6_6(void **state)
{
	static const struct scene scene = { "6.6", NULL, BASE3, 0, "A B",
		"0 wake A\n0 wake B\n1000000 tick\n2000000 tick\n3000000 tick\n4000000 tick\n5000000 tick\n"
		"6000000 tick = B 3000000 A(3000000,6000000,E) B(3000000,6000000,E)\n"
		"7000000 tick\n8000000 tick\n"
		"9000000 tick = A* 4500000 A(3000000,6000000,E) B(6000000,9000000,-)" };

	(void)state;
	play(&scene);
}

static void t6_fork(void **state)
{
	static const struct scene scenes[] = {
		{ "6.6 6.8", NULL, BASE3, 0, "P C",
		  "0 wake P\n1000000 fork C = P* 1000000 P(1000000,3000000,E) C(1000000,4000000,E)\n"
		  "3000000 tick = C* 2000000 P(3000000,6000000,-) C(1000000,4000000,E)" },
		{ "6.12 6.18", NULL, BASE3, 0, "P C",
		  "0 wake P\n1000000 fork C = P* 1000000 P(1000000,3000000,E) C(1000000,2500000,E)\n"
		  "3000000 tick = C* 2000000 P(3000000,6000000,-) C(1000000,2500000,E)" },
	};

	(void)state;
	play(&scenes[0]);
	play(&scenes[1]);
}

static void t7_three_policies(void **state)
{
	static const struct scene scenes[] = {
		{ "6.12", NULL, BASE3, 0, "L S:slice=1000000",
		  "0 wake L\n"
		  "0 wake S = S* 0 L(0,3000000,E) S(0,1000000,E)\n"
		  "1000000 tick = L* 500000 L(0,3000000,E) S(1000000,2000000,-)\n"
		  "2000000 tick = L* 1000000 L(1000000,3000000,E) S(1000000,2000000,E)\n"
		  "3000000 tick\n"
		  "4000000 tick = S* 2000000 L(3000000,6000000,-) S(1000000,2000000,E)\n"
		  "5000000 tick = S 2500000 L(3000000,6000000,-) S(2000000,3000000,E)\n"
		  "6000000 tick = S 3000000 L(3000000,6000000,E) S(3000000,4000000,E)\n"
		  "7000000 tick = L* 3500000 L(3000000,6000000,E) S(4000000,5000000,-)" },
		{ "6.12", "evdf", BASE3, 0, "L S:slice=1000000",
		  "0 wake L\n"
		  "0 wake S\n"
		  "1000000 tick = S 500000 L(0,3000000,E) S(1000000,2000000,E)\n"
		  "2000000 tick = L* 1000000 L(0,3000000,E) S(2000000,3000000,E)\n"
		  "3000000 tick\n4000000 tick\n"
		  "5000000 tick = S* 2500000 L(3000000,6000000,E) S(2000000,3000000,E)\n"
		  "6000000 tick = S 3000000 L(3000000,6000000,E) S(3000000,4000000,E)\n"
		  "7000000 tick\n"
		  "8000000 tick = L* 4000000 L(3000000,6000000,E) S(5000000,6000000,E)" },
	};

	(void)state;
	play(&scenes[0]);
	play(&scenes[1]);
	expect_runs("eevdf", "6.12", BASE3, "L S:slice=1000000", "wake", "S L L L S S S L L");
	expect_runs("eevdf", "6.18", BASE3, "L S:slice=1000000", "wake", "S L S L S L S L S");
	expect_runs("evdf", "6.12", BASE3, "L S:slice=1000000", "wake", "S S L L L S S S L");
	/* a slice of 2999998 ns has passed at the tick of 3 ms: cfs.md pitfall 2 */
	expect_runs("cfs", "6.1", "hz=1000", "L S", "wake", "L L L S S S L L L");
}

static void t7b_static_pick(void **state)
{
	static const int64_t v[] = { 0, 500000, 2000000 }, dl[] = { 3000000, 1500000, 1200000 };
	static const char *const kernels[] = { "6.6", "6.8", "6.12", "6.18" };

	(void)state;
	for (int k = 0; k < 8; k++) {
		struct bag b = { .d = scene_new(k < 4 ? "eevdf" : "evdf", kernels[k % 4], "", "") };

		for (int i = 0; i < 3; i++) {
			struct rs_eevdf_entity *e = bag_add(&b, 1024, v[i]);

			rs_eevdf_unlink(queue(b.d), e);
			e->deadline = (uint64_t)dl[i];
			rs_eevdf_link(queue(b.d), e);
		}
		assert_int_equal(rs_eevdf_peek_avg(queue(b.d)), 833333);
		assert_ptr_equal(rs_eevdf_pick(queue(b.d), true), b.e[k < 4 ? 1 : 2]);
		drv_free(b.d);
	}
}

static void t8_run_to_parity(void **state)
{
	static const char head[] = "0 wake B = B* 0 B(0,3000000,E)\n"
		"1000000 wake C = B* 1000000 B(1000000,3000000,E) C(1000000,4000000,E)\n"
		"2000000 sleep B = C* 1500000 B(2000000,3000000,-)D C(1000000,4000000,E)\n";
	char on[512], off[512];
	const struct scene scenes[] = {
		{ "6.12", NULL, BASE3, 0, "B C", on },
		{ "6.12", NULL, BASE3 " NO_RUN_TO_PARITY", 0, "B C", off },
		{ "6.18", NULL, BASE3, 750000, "B A",
		  "0 wake B\n500000 wake A\n2000000 tick = B* 1250000 B(2000000,3000000,-) A(500000,3500000,E)" },
		{ "6.18", NULL, BASE3 " NO_RUN_TO_PARITY", 750000, "B A",
		  "0 wake B\n500000 wake A\n2000000 tick = A* 1250000 B(2000000,3000000,-) A(500000,3500000,E)" },
		{ "6.8", NULL, BASE3, 0, "B A", "0 wake B\n0 wake A = B* 0 B(0,3000000,E) A(0,3000000,E)" },
		{ "6.8", NULL, BASE3 " NO_RUN_TO_PARITY", 0, "B A", "0 wake B\n0 wake A = A* 0 B(0,3000000,E) A(0,3000000,E)" },
	};

	(void)state;
	snprintf(on, sizeof(on), "%s3000000 wake B = C* 2000000 B(2000000,3000000,E) C(2000000,4000000,E)", head);
	snprintf(off, sizeof(off), "%s3000000 wake B = B* 2000000 B(2000000,3000000,E) C(2000000,4000000,E)", head);
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
		play(&scenes[i]);
}

static void t9_preempt_short(void **state)
{
	static const struct scene scenes[] = {
		{ "6.12", NULL, BASE3, 0, "A S:slice=500000",
		  "0 wake A\n200000 wake S = S* 200000 A(200000,3000000,E) S(200000,700000,E)\n"
		  "1000000 tick = A* 600000 A(200000,3000000,E) S(1000000,1500000,-)\n"
		  "2000000 tick = A* 1100000 A(1200000,3000000,-) S(1000000,1500000,E)" },
		{ "6.12", NULL, BASE3 " NO_PREEMPT_SHORT", 0, "A S:slice=500000",
		  "0 wake A\n200000 wake S = A* 200000 A(200000,3000000,E) S(200000,700000,E)\n"
		  "1000000 tick = A* 600000 A(1000000,3000000,-) S(200000,700000,E)\n"
		  "2000000 tick = A* 1100000 A(2000000,3000000,-) S(200000,700000,E)" },
		{ "6.18", NULL, BASE3, 0, "A S:slice=500000",
		  "0 wake A\n200000 wake S = S* 200000 A(200000,3000000,E) S(200000,700000,E)\n"
		  "1000000 tick = A* 600000 A(200000,3000000,E) S(1000000,1500000,-)\n"
		  "2000000 tick = S* 1100000 A(1200000,3000000,-) S(1000000,1500000,E)" },
		{ "6.18", NULL, BASE3 " NO_PREEMPT_SHORT", 0, "A S:slice=500000",
		  "0 wake A\n200000 wake S = A* 200000 A(200000,3000000,E) S(200000,700000,E)\n"
		  "1000000 tick = S* 600000 A(1000000,3000000,-) S(200000,700000,E)\n"
		  "2000000 tick = A* 1100000 A(1000000,3000000,E) S(1200000,1700000,-)" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
		play(&scenes[i]);
}

static void t10_delay_dequeue(void **state)
{
	static const struct scene scenes[] = {
		{ "6.12 6.18", NULL, BASE3, 0, "A B",
		  "0 wake B = B* 0 B(0,3000000,E)\n"
		  "500000 wake A = B* 500000 A(500000,3500000,E) B(500000,3000000,E)\n"
		  "1000000 sleep B = A* 750000 A(500000,3500000,E) B(1000000,3000000,-)D\n"
		  "2500000 wake B = B* 1500000 A(2000000,3500000,-) B(1000000,3000000,E)" },
		{ "6.12 6.18", NULL, BASE3 " NO_DELAY_DEQUEUE", 0, "A B",
		  "0 wake B\n500000 wake A\n"
		  "1000000 sleep B = A* 500000 A(500000,3500000,E) B:off(-250000)\n"
		  "2500000 wake B = A* 2250000 A(2000000,3500000,E) B(2500000,5500000,-)" },
		{ "6.12 6.18", NULL, BASE3, 0, "A B",
		  "0 wake B\n500000 wake A\n1000000 sleep B\n"
		  "4000000 tick = A 3500000 A(3500000,6500000,E) B:off(0)\n"
		  "6000000 tick = A 5500000 A(5500000,6500000,E) B:off(0)\n"
		  "6500000 wake B = A 6000000 A(6000000,6500000,E) B(6000000,9000000,E)" },
		{ "6.12 6.18", NULL, BASE3 " NO_DELAY_DEQUEUE", 0, "A B",
		  "0 wake B\n500000 wake A\n1000000 sleep B\n4000000 tick\n6000000 tick\n"
		  "6500000 wake B = A 6250000 A(6000000,6500000,E) B(6500000,9500000,-)" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
		play(&scenes[i]);
}

static void t11_delay_zero(void **state)
{
	static const char head[] = "0 wake B = B* 0 B(0,3000000,E)\n"
		"1500000 wake A = B* 1500000 A(1500000,4500000,E) B(1500000,3000000,E)\n"
		"2000000 sleep B = A* 1750000 A(1500000,4500000,E) B(2000000,3000000,-)D\n"
		"3000000 tick = A* 2250000 A(2500000,4500000,-) B(2000000,3000000,E)D\n";
	char on[512], off[512];
	const struct scene scenes[] = {
		{ "6.12 6.18", NULL, BASE3, 0, "A B", on },
		{ "6.12 6.18", NULL, BASE3 " NO_DELAY_ZERO", 0, "A B", off },
	};

	(void)state;
	snprintf(on, sizeof(on), "%s3000000 wake B = A* 2500000 A(2500000,4500000,E) B(2500000,5500000,E)", head);
	snprintf(off, sizeof(off), "%s3000000 wake B = B* 2250000 A(2500000,4500000,-) B(2000000,3000000,E)", head);
	play(&scenes[0]);
	play(&scenes[1]);
}

static void t12_place_lag(void **state)
{
	static const char head[] = "0 wake B = B* 0 B(0,3000000,E)\n"
		"1500000 wake C = B* 1500000 B(1500000,3000000,E) C(1500000,4500000,E)\n"
		"3000000 wake A = C* 2250000 A(2250000,5250000,E) B(3000000,6000000,-) C(1500000,4500000,E)\n"
		"3000000 sleep C = A* 2625000 A(2250000,5250000,E) B(3000000,6000000,-) C:off(750000)\n";
	char on[512], off[512];
	const struct scene scenes[] = {
		{ "6.12", NULL, BASE3, 0, "A B C", on },
		{ "6.12", NULL, BASE3 " NO_PLACE_LAG", 0, "A B C", off },
	};

	(void)state;
	snprintf(on, sizeof(on), "%s4000000 wake C = C* 2750000 A(3250000,5250000,-) B(3000000,6000000,-) C(2000000,5000000,E)", head);
	snprintf(off, sizeof(off), "%s4000000 wake C = A* 3125000 A(3250000,5250000,-) B(3000000,6000000,E) C(3125000,6125000,E)", head);
	play(&scenes[0]);
	play(&scenes[1]);
}

static void t13_nice_extremes(void **state)
{
	static const struct scene scene = { "6.6 6.8 6.12 6.18", NULL, BASE3, 0, "H:nice=-20 L:nice=19",
		"0 wake L = L* 0 L(0,204799999,E)\n"
		"0 wake H = L* 0 H(0,34609,E) L(0,204799999,E)\n"
		"1000000 tick = L* 11534 H(0,34609,E) L(68266666,204799999,-)\n"
		"2000000 tick\n"
		"3000000 tick = L* 34603 H(0,34609,E) L(204799998,204799999,-)\n"
		"4000000 tick = H* 46138 H(0,34609,E) L(273066664,477866663,-)\n"
		"5000000 tick = H* 57672 H(11536,34609,E) L(273066664,477866663,-)" };

	(void)state;
	play(&scene);
}

static void t14_truncation_adds_a_tick(void **state)
{
	static const struct scene scene = { "6.12", NULL, BASE3, 0, "H:nice=-20 K:nice=-20",
		"0 wake H = H* 0 H(0,34609,E)\n"
		"0 wake K = H* 0 H(0,34609,E) K(0,34609,E)\n"
		"1000000 tick = H* 5768 H(11536,34609,-) K(0,34609,E)\n"
		"2000000 tick = H* 11536 H(23072,34609,-) K(0,34609,E)\n"
		"3000000 tick = H* 17304 H(34608,34609,-) K(0,34609,E)\n"
		"4000000 tick = K* 23072 H(46144,80753,-) K(0,34609,E)" };

	(void)state;
	play(&scene);
}

static void t15_yield(void **state)
{
	static const struct scene scenes[] = {
		{ "6.6 6.8", NULL, BASE3, 0, "A B",
		  "0 wake A\n1000000 wake B\n"
		  "1000000 yield = B* 1000000 A(1000000,6000000,E) B(1000000,4000000,E)\n"
		  "2000000 yield = A* 1500000 A(1000000,6000000,E) B(2000000,7000000,-)" },
		{ "6.12 6.18", NULL, BASE3, 0, "A B",
		  "0 wake A\n1000000 wake B\n"
		  "1000000 yield = B* 2000000 A(3000000,6000000,-) B(1000000,4000000,E)\n"
		  "2000000 yield = A* 3500000 A(3000000,6000000,E) B(4000000,7000000,-)" },
		/* alone: yield itself changes nothing, the schedule that follows accounts */
		{ "6.6 6.8 6.12 6.18", NULL, BASE3, 0, "A", "0 wake A\n1000000 yield = A* 1000000 A(1000000,3000000,E)" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
		play(&scenes[i]);
}

static void t16_nice_and_slice_of_a_waiting_task(void **state)
{
	static const char head[] = "0 wake A\n0 wake B\n1000000 tick\n2000000 tick\n"
		"3000000 tick = B* 1500000 A(3000000,6000000,-) B(0,3000000,E)\n";
	char text[2][512];
	const struct scene scenes[] = {
		{ "6.12", NULL, BASE3, 0, "A B", text[0] },
		{ "6.6 6.8 6.18", NULL, BASE3, 0, "A B", text[1] },
		{ "6.12 6.18", NULL, BASE3, 0, "A B",
		  "0 wake A\n0 wake B\n"
		  "1000000 slice B 500000 = A* 500000 A(1000000,3000000,-) B(0,3000000,E)\n"
		  "2000000 tick\n"
		  "3000000 tick = B* 1500000 A(3000000,6000000,-) B(0,3000000,E)" },
	};

	(void)state;
	snprintf(text[0], sizeof(text[0]), "%s3500000 nice A 5 = B* 1749999 A(5570894,8570894,-) B(500000,3000000,E)", head);
	snprintf(text[1], sizeof(text[1]), "%s3500000 nice A 5 = B* 1749999 A(5570894,14741043,-) B(500000,3000000,E)", head);
	play(&scenes[0]);
	play(&scenes[1]);
	play(&scenes[2]);
}

static void t17_policies(void **state)
{
	static const struct scene scenes[] = {
		{ "6.6", NULL, BASE3, 0, "I:idle B:batch N",
		  "0 wake I\n"
		  "500000 wake B = I* 170666666 I(170666666,1023999999,E) B(170666666,173666666,E)\n"
		  "1000000 wake N = B* 171165205 I(341333332,1023999999,-) B(170666666,173666666,E) N(171165205,174165205,E)" },
		{ "6.12 6.18", NULL, BASE3, 0, "I:idle B:batch N",
		  "0 wake I\n"
		  "500000 wake B = B* 170666666 I(170666666,1023999999,E) B(170666666,173666666,E)\n"
		  "1000000 wake N = N* 171165205 I(170666666,1023999999,E) B(171166666,173666666,-) N(171165205,174165205,E)" },
	};

	(void)state;
	play(&scenes[0]);
	play(&scenes[1]);
}

static void t18_protection_length(void **state)
{
#define T18_HEAD "0 wake A\n0 wake B\n1000000 tick\n2000000 tick\n2000000 fork S\n3000000 tick\n"
	static const struct scene scenes[] = {
		{ "6.12", NULL, BASE3, 0, "A B S:slice=1000000", T18_HEAD
		  "4000000 tick = B* 1666666 A(2000000,3000000,-) B(1000000,3000000,E) S(2000000,3000000,-)\n"
		  "5000000 tick = B* 2000000 A(2000000,3000000,E) B(2000000,3000000,E) S(2000000,3000000,E)" },
		{ "6.18", NULL, BASE3, 0, "A B S:slice=1000000", T18_HEAD
		  "4000000 tick = B 1666666 A(2000000,3000000,-) B(1000000,3000000,E) S(2000000,3000000,-)\n"
		  "5000000 tick = A* 2000000 A(2000000,3000000,E) B(2000000,3000000,E) S(2000000,3000000,E)" },
	};

	(void)state;
	play(&scenes[0]);
	play(&scenes[1]);
}

static void t19_migration(void **state)
{
	static const struct { const char *kernel; int64_t deadline; } rows[] = {
		{ "6.12", 904386979 }, { "6.18", 904386979 }, { "6.6", 905886979 }, { "6.8", 905886979 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bag from = { .d = scene_new("eevdf", rows[i].kernel, BASE3, "") };
		struct bag to = { .d = scene_new("eevdf", rows[i].kernel, BASE3, "") };
		struct rs_eevdf_entity *m;
		struct rs_task *t;

		bag_add(&from, 1024, 5000000);
		m = bag_add(&from, 1024, 8000000);
		bag_add(&from, 335, 6000000);
		rs_eevdf_unlink(queue(from.d), m);
		m->deadline = 9500000;
		rs_eevdf_link(queue(from.d), m);
		assert_int_equal(rs_eevdf_peek_avg(queue(from.d)), 6429710);
		bag_add(&to, 1024, 900000000);
		bag_add(&to, 820, 901000000);
		assert_int_equal(rs_eevdf_peek_avg(queue(to.d)), 900444685);
		t = &from.d->tasks[1].t;
		t->on_rq = true;
		from.d->ops->dequeue(&from.d->rq, t, RS_DEQ_MOVE);
		assert_int_equal(m->vlag, -1570290);
		t->rq = &to.d->rq;
		to.d->ops->enqueue(&to.d->rq, t, RS_ENQ_MIGRATED);
		assert_int_equal((int64_t)m->vruntime, 902886979);
		assert_int_equal((int64_t)m->deadline, rows[i].deadline);
		assert_int_equal(rs_eevdf_peek_avg(queue(to.d)), 901316689);
		drv_free(from.d);
		drv_free(to.d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(t1_calc_delta_fair), cmocka_unit_test(t2_average_is_a_floor),
		cmocka_unit_test(t3_placement_inflates_lag), cmocka_unit_test(t4_lag_limit),
		cmocka_unit_test(t4b_lag_limit_when_it_sleeps), cmocka_unit_test(t5_two_hogs),
		cmocka_unit_test(t5_tie_keeps_current_in_6_6), cmocka_unit_test(t6_fork),
		cmocka_unit_test(t7_three_policies), cmocka_unit_test(t7b_static_pick),
		cmocka_unit_test(t8_run_to_parity), cmocka_unit_test(t9_preempt_short),
		cmocka_unit_test(t10_delay_dequeue), cmocka_unit_test(t11_delay_zero), cmocka_unit_test(t12_place_lag),
		cmocka_unit_test(t13_nice_extremes), cmocka_unit_test(t14_truncation_adds_a_tick), cmocka_unit_test(t15_yield),
		cmocka_unit_test(t16_nice_and_slice_of_a_waiting_task), cmocka_unit_test(t17_policies),
		cmocka_unit_test(t18_protection_length), cmocka_unit_test(t19_migration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
