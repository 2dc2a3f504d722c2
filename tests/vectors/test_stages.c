// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stages of the development of EEVDF: each differs from its neighbours where its patches say so. Figures are the specification's
 * examples, or follow from the rules by the arithmetic beside them. Scenes as in scene.h.
 */
#include "vectors/scene.h"

#include "policies/cfs.h"
#include "policies/eevdf_entity.h"

#define BASE3 "base_slice_ns=3000000 hz=1000"

/* ---- slices by latency nice ---- */

static void latency_nice_makes_the_slice(void **state)
{
	static const struct { const char *task; uint64_t slice; } rows[] = {
		{ "A:latency=-20", 34609 }, { "A:latency=-10", 321742 }, { "A:latency=-5", 984299 }, { "A", 3000000 },
		{ "A:latency=5", 9170149 }, { "A:latency=10", 27927272 }, { "A:latency=19", 204800000 },
	};
	static const struct { const char *kernel; bool counts; } kernels[] = {
		{ "eevdf-2023-03", true }, { "eevdf-2023-05", true }, { "6.12", false }, { "queue-2023-10", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++) {
			struct drv *d = scene_new("eevdf", kernels[k].kernel, BASE3, rows[i].task);
			struct rs_entity_view v;

			apply(d, "wake", &d->tasks[0], 0);
			d->ops->view_task(&d->rq, &d->tasks[0].t, &v);
			assert_int_equal(v.slice_ns, kernels[k].counts ? rows[i].slice : 3000000);
			assert_int_equal(v.deadline - v.vruntime, v.slice_ns);
			drv_free(d);
		}
	}
}

/* The slice stays through new deadlines: S asks for 34609 ns at nice 0 and gets a new deadline that far at every tick. */
static void latency_nice_survives_a_slip(void **state)
{
	static const struct scene scene = { "eevdf-2023-05", NULL, BASE3, 0, "S:latency=-20",
		"0 wake S = S* 0 S(0,34609,E)\n1000000 tick = S 1000000 S(1000000,1034609,E)\n" };

	(void)state;
	play(&scene);
}

/* ---- placement ---- */

/* A queue with @nr others at virtual time 10 ms, tree only, and E, which left it with the given lag. */
static struct rs_eevdf_entity *sleeper(struct drv **ret, const char *kernel, const char *knobs, unsigned int nr, int64_t vlag)
{
	struct drv *d = scene_new("eevdf", kernel, knobs, "E O1 O2");
	struct rs_eevdf_entity *e = entity(&d->tasks[0].t);

	rs_node_join(&e->h, &queue(d)->h);
	d->rq.clock_ns = 50 * MS;
	for (unsigned int i = 1; i <= nr; i++) {
		struct rs_eevdf_entity *o = entity(&d->tasks[i].t);

		rs_node_join(&o->h, &queue(d)->h);
		o->vruntime = 10 * MS;
		o->deadline = o->vruntime + o->slice;
		o->on = true;
		queue(d)->nr++;
		queue(d)->weight += o->load.weight;
		rs_eevdf_link(queue(d), o);
	}
	e->vlag = vlag;
	*ret = d;
	return e;
}

/* Lag e is placed with, before V moves by its joining: V is 10 ms. */
static int64_t lag_used(const struct rs_eevdf_entity *e)
{
	return (int64_t)(10 * MS - e->vruntime);
}

/* Figures of the stored lag after the sleep; joining inflates it by (load + w) / load. */
static void sleeping_pays_negative_lag_back(void **state)
{
	static const struct { const char *knobs; unsigned int others; int64_t left; } rows[] = {
		{ "PLACE_SLEEPER", 1, -500001 }, { "PLACE_SLEEPER NO_GENTLE_SLEEPER", 1, 0 },
		{ "PLACE_SLEEPER", 2, -1250001 }, { "PLACE_SLEEPER NO_GENTLE_SLEEPER", 2, -500001 }, { "", 1, -2000000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t load = 1024 * rows[i].others;
		struct drv *d;
		struct rs_eevdf_entity *e = sleeper(&d, "queue-2023-10", rows[i].knobs, rows[i].others, -2000000);

		e->exec_start = d->rq.clock_ns - 3 * MS;
		rs_eevdf_enqueue(queue(d), e, RS_ENQ_WAKEUP);
		assert_int_equal(lag_used(e), rows[i].left * (load + 1024) / load);
		drv_free(d);
	}
}

/* Not a wakeup: unchanged. On another cpu: nothing is left. Slept before it ran: unchanged. Positive lag: unchanged. */
static void sleeping_pays_only_where_it_should(void **state)
{
	static const struct { unsigned int flags; int64_t slept, vlag, left; } rows[] = {
		{ RS_ENQ_RESTORE, 3000000, -2000000, -2000000 }, { RS_ENQ_WAKEUP | RS_ENQ_MIGRATED, 3000000, -2000000, 0 },
		{ RS_ENQ_WAKEUP, -5, -2000000, -2000000 }, { RS_ENQ_WAKEUP, 3000000, 700000, 700000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct drv *d;
		struct rs_eevdf_entity *e = sleeper(&d, "queue-2023-10", "PLACE_SLEEPER", 1, rows[i].vlag);

		e->exec_start = d->rq.clock_ns - (uint64_t)rows[i].slept;
		rs_eevdf_enqueue(queue(d), e, rows[i].flags);
		assert_int_equal(lag_used(e), 2 * rows[i].left);
		drv_free(d);
	}
}

/* Shorter than the average slice and awake again: a slice of lag is forgiven, never more than there was. */
static void fudge_forgives_a_slice(void **state)
{
	static const struct { const char *knobs; uint64_t slice; int64_t vlag, left; unsigned int flags; } rows[] = {
		{ BASE3, 1000000, -1500000, -500000, RS_ENQ_WAKEUP }, { BASE3, 1000000, -400000, 0, RS_ENQ_WAKEUP },
		{ BASE3, 3000000, -1500000, -1500000, RS_ENQ_WAKEUP },		/* not below the average */
		{ BASE3, 1000000, -1500000, -1500000, RS_ENQ_RESTORE },		/* did not sleep */
		{ BASE3, 1000000, 400000, 0, RS_ENQ_WAKEUP },			/* positive lag is lost */
		{ BASE3 " NO_PLACE_FUDGE", 1000000, -1500000, -1500000, RS_ENQ_WAKEUP },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct drv *d;
		struct rs_eevdf_entity *e = sleeper(&d, "eevdf-2023-05", rows[i].knobs, 2, rows[i].vlag);

		e->slice = rows[i].slice;
		e->custom_slice = true;
		e->exec_start = d->rq.clock_ns - 1;	/* the shortest sleep does: the operands are the wrong way round */
		rs_eevdf_enqueue(queue(d), e, rows[i].flags);
		assert_int_equal(lag_used(e), rows[i].left * 3 / 2);
		drv_free(d);
	}
}

/* "*" after a task that runs means in scenes of stages before 6.6: its deadline has not moved. It protects from nothing there. */

/* Before the fix V was rounded towards zero; eligibility never used it. */
static void average_truncates_before_6_6(void **state)
{
	static const struct { const char *kernel; int64_t avg; } rows[] = {
		{ "stage-eevdf", 0 }, { "eevdf-2023-03", 0 }, { "eevdf-2023-05", 0 }, { "6.6", -1 }, { "queue-2023-10", -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct drv *d = scene_new("eevdf", rows[i].kernel, "", "A B C");

		for (unsigned int t = 0; t < 3; t++) {
			struct rs_eevdf_entity *e = entity(&d->tasks[t].t);

			e->vruntime = t ? 0 : UINT64_MAX;
			e->on = true;
			rs_eevdf_link(queue(d), e);
		}
		assert_int_equal((int64_t)rs_eevdf_avg(queue(d)), rows[i].avg);
		for (unsigned int t = 0; t < 3; t++)
			assert_int_equal(rs_eevdf_eligible(queue(d), entity(&d->tasks[t].t)), t == 0);
		drv_free(d);
	}
}

/* ---- the pick ---- */

/*
 * B is the root, A left and C right of it. C is not eligible, but has the least deadline below B: the search goes right after it
 * and comes back with B. The one that came with 6.6 remembers A.
 */
static void one_descent_misses_the_earliest(void **state)
{
	static const struct { const char *kernel, *want; } rows[] = {
		{ "eevdf-2023-03", "B" }, { "stage-eevdf", "B" }, { "stage-mixed-slices", "B" }, { "6.6", "A" }, { "queue-2023-10", "A" },
	};
	static const struct { uint64_t v, d; } at[] = { { 0, 200 }, { 10, 300 }, { 100, 50 } };
	static const unsigned int order[] = { 1, 0, 2 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct drv *d = scene_new("eevdf", rows[i].kernel, "", "A B C");

		for (unsigned int k = 0; k < 3; k++) {
			struct rs_eevdf_entity *e = entity(&d->tasks[order[k]].t);

			e->vruntime = at[order[k]].v;
			e->deadline = at[order[k]].d;
			e->on = true;
			queue(d)->nr++;
			rs_eevdf_link(queue(d), e);
		}
		assert_string_equal(drv_name(d, rs_eevdf_pick(queue(d), true)->task), rows[i].want);
		drv_free(d);
	}
}

/* In March a tick that would pick another reschedules, so two equal hogs take turns; later only a used up request does. */
static void ticks_pick_in_march(void **state)
{
	(void)state;
	expect_runs("eevdf", "eevdf-2023-03", BASE3, "A B", "wake", "B A B A B A B A");
	expect_runs("eevdf", "stage-eevdf stage-commit-lag stage-commit-eevdf stage-mixed-slices eevdf-2023-05", BASE3, "A B", "wake",
		    "B B B A A A B B B A");
	/* 6.6 keeps the running one at a tie, the search before it took the one of the tree */
	expect_runs("eevdf", "eligibility-2023-10 queue-2023-10", BASE3, "A B", "wake", "A A A B B B B B B A");
}

/* Nothing protects a slice before 6.6: a wakee with an earlier deadline takes the cpu at once. */
static void no_protection_before_6_6(void **state)
{
	static const struct scene scenes[] = {
		{ "eevdf-2023-05 eevdf-2023-03", NULL, BASE3, 0, "L S:latency=-10",
		  "0 wake L\n1000000 wake S = S* 1000000 L(1000000,3000000,E) S(1000000,1321742,E)\n" },
		{ "queue-2023-10", NULL, BASE3 " NO_PREEMPT_SHORT", 0, "L S:slice=321742",
		  "0 wake L\n1000000 wake S = L* 1000000 L(1000000,3000000,E) S(1000000,1321742,E)\n" },
		{ "queue-2023-10", NULL, BASE3, 0, "L S:slice=321742",
		  "0 wake L\n1000000 wake S = S* 1000000 L(1000000,3000000,E) S(1000000,1321742,E)\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
		play(&scenes[i]);
}

/* ---- joining ---- */

/*
 * B, woken last, won the tie and runs; A waits at 0. Up to the commit only a wakeup was placed: a new nice value leaves A's virtual time
 * and deadline. Later A joins anew: lag 250000 * 1024 / 335 = 764179, times (1024 + 335) / 1024, left of V = 500000.
 */
static void only_wakeups_are_placed_at_first(void **state)
{
	static const struct scene scenes[] = {
		{ "stage-eevdf eevdf-2023-03", NULL, BASE3, 0, "A B",
		  "0 wake A\n0 wake B\n500000 nice A 5 = A* 376747 A(0,3000000,E) B(500000,3000000,-)\n" },
		{ "stage-commit-lag stage-commit-eevdf eevdf-2023-05", NULL, BASE3, 0, "A B",
		  "0 wake A\n0 wake B\n500000 nice A 5 = A* 250000 A(-514178,8655971,E) B(500000,3000000,-)\n" },
	};

	(void)state;
	play(&scenes[0]);
	play(&scenes[1]);
}

/* A new task starts at V with half a request where its first placement is its only one, else with a whole one, as in 6.6. */
static void forks(void **state)
{
	static const struct scene scenes[] = {
		{ "stage-eevdf", NULL, BASE3, 0, "P C", "0 wake P\n1000000 fork C = C* 1000000 P(1000000,3000000,E) C(1000000,2500000,E)\n" },
		{ "stage-commit-lag eevdf-2023-05", NULL, BASE3, 0, "P C",
		  "0 wake P\n1000000 fork C = P* 1000000 P(1000000,3000000,E) C(1000000,4000000,E)\n" },
		{ "queue-2023-10 delay-2024-04", NULL, BASE3, 0, "P C",
		  "0 wake P\n1000000 fork C = P* 1000000 P(1000000,3000000,E) C(1000000,4000000,E)\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
		play(&scenes[i]);
}

/* ---- delayed dequeue ---- */

/* The queue of 2023 accounts and joins anew at a wakeup; in 2024 the average is that of the last accounting, and no joining here. */
static void waking_a_delayed_task(void **state)
{
#define DELAYED_HEAD "0 wake B\n500000 wake A\n1000000 sleep B = A* 750000 B(1000000,3000000,-)D A(500000,3500000,E)\n"
	static const struct scene scenes[] = {
		{ "queue-2023-10", NULL, BASE3, 0, "B A",
		  DELAYED_HEAD "2500000 wake B = A* 2000000 B(2000000,5000000,E) A(2000000,3500000,E)\n" },
		{ "queue-2023-10", NULL, BASE3 " NO_GENTLE_DELAY", 0, "B A",
		  DELAYED_HEAD "2500000 wake B = B* 1500000 B(1000000,3000000,E) A(2000000,3500000,-)\n" },
		{ "delay-2024-04", NULL, BASE3, 0, "B A",
		  DELAYED_HEAD "2500000 wake B = B* 1500000 B(1000000,3000000,E) A(2000000,3500000,-)\n" },
		{ "queue-2023-10", NULL, BASE3 " NO_DELAY_DEQUEUE", 0, "B A",
		  "0 wake B\n500000 wake A\n1000000 sleep B = A* 500000 B:off(-250000) A(500000,3500000,E)\n"
		  "2500000 wake B = A* 2250000 B(2500000,5500000,-) A(2000000,3500000,E)\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
		play(&scenes[i]);
}

/* Picked while delayed it leaves, its earned lag cut. The pick of 2023 puts the running task away first, so it starts anew. */
static void a_delayed_task_really_leaves(void **state)
{
	static const struct scene scenes[] = {
		{ "queue-2023-10 delay-2024-04", NULL, BASE3, 0, "B A",
		  DELAYED_HEAD "4000000 tick = A* 3500000 B:off(0) A(3500000,6500000,E)\n" },
		{ "queue-2023-10", NULL, BASE3 " NO_GENTLE_DELAY", 0, "B A",
		  DELAYED_HEAD "4000000 tick = A* 3500000 B:off(1250000) A(3500000,6500000,E)\n" },
	};

	(void)state;
	/* In 2024 the running task is picked again and goes on without a new protection. */
	play(&scenes[1]);
	play(&(struct scene){ "queue-2023-10", NULL, BASE3, 0, "B A", scenes[0].steps });
	play(&(struct scene){ "delay-2024-04", NULL, BASE3, 0, "B A",
			      DELAYED_HEAD "4000000 tick = A 3500000 B:off(0) A(3500000,6500000,E)\n" });
}

/* PREEMPT_SHORT of 2023 wants an earlier deadline; that of 2024 takes the cpu from one that is not eligible too. */
static void short_needs_a_deadline_in_2023(void **state)
{
	struct drv *d;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct rs_eevdf_entity *l, *s;

		d = scene_new("eevdf", i ? "queue-2023-10" : "delay-2024-04", BASE3, "L S:slice=2900000");
		apply(d, "wake", &d->tasks[0], 0);
		d->rq.clock_ns = 1000000;
		l = entity(&d->tasks[0].t);
		s = entity(&d->tasks[1].t);
		rs_node_join(&s->h, &queue(d)->h);
		s->vlag = 400000;	/* joins left of V, so L is not eligible, but L's deadline is earlier */
		d->tasks[1].t.rq = &d->rq;
		d->ops->enqueue(&d->rq, &d->tasks[1].t, RS_ENQ_WAKEUP);
		assert_true(rs_vtime_before(l->deadline, s->deadline) && !rs_eevdf_eligible(queue(d), l));
		d->ops->wakeup_preempt(&d->rq, &d->tasks[1].t, RS_ENQ_WAKEUP);
		assert_int_equal(rs_eevdf_protected(queue(d), l), i);
		drv_free(d);
	}
}

static void eligibility_has_three_names(void **state)
{
	static const struct { const char *policy, *kernel, *knobs; } same[] = {
		{ "eevdf", "queue-2023-10", BASE3 " EVDF NO_DELAY_DEQUEUE" }, { "eevdf", "eligibility-2023-10", BASE3 " NO_ENFORCE_ELIGIBILITY" },
		{ "evdf", "6.6", BASE3 },
	};
	char first[512] = "", text[512];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct drv *d = scene_new(same[i].policy, same[i].kernel, same[i].knobs, "A:nice=3 B C:nice=-4");

		for (unsigned int t = 0; t < 3; t++)
			apply(d, "wake", &d->tasks[t], 0);
		for (uint64_t t = 1; t < 40; t++) {
			d->rq.clock_ns = t * MS;
			apply(d, "tick", NULL, 0);
		}
		for (unsigned int t = 0; t < 3; t++)
			d->tasks[t].seen = true;
		print_state(d, i ? text : first, sizeof(text));
		assert_null(strstr(i ? text : first, "-)"));	/* all are eligible */
		if (i)
			assert_string_equal(text, first);
		drv_free(d);
	}
}

/* ---- stages that pick as CFS does ---- */

static struct rs_cfs_entity *cfs_entity(struct drv *d, unsigned int i)
{
	return d->tasks[i].t.priv;
}

static struct drv *cfs_new(const char *kernel, const char *knobs)
{
	struct drv *d = drv_new("cfs", kernel, knobs);
	struct rs_cfs_queue *q = d->rq.priv;

	q->min_vruntime = 0;
	drv_task(d, "P", 0, RS_SCHED_NORMAL, 0);
	drv_task(d, "A", 0, RS_SCHED_NORMAL, 0);
	drv_task(d, "C", 0, RS_SCHED_NORMAL, 0);
	return d;
}

/*
 * P has run for 1.5 ms beside A, which waits at 0. V8 of CFS: a new task starts at 1999999. Placed at V, 750000, it is not left of its
 * parent all the same, until lag places it.
 */
static void where_new_tasks_start(void **state)
{
	static const struct { const char *kernel, *knobs; uint64_t child; } rows[] = {
		{ "6.1", "", 1999999 }, { "stage-avg-vruntime", "", 1999999 }, { "stage-avg-vruntime", "NO_START_DEBIT", 1500000 },
		{ "stage-no-start-debit", "", 1500000 }, { "stage-lag", "", 750000 }, { "stage-lag", "FAIR_SLEEPERS", 1500000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct drv *d = cfs_new(rows[i].kernel, rows[i].knobs);

		d->rq.clock_ns = 1;
		drv_wake(d, &d->tasks[0].t);
		drv_schedule(d);
		drv_wake(d, &d->tasks[1].t);
		cfs_entity(d, 1)->vruntime = 0;
		d->rq.clock_ns = 1500001;
		drv_fork(d, &d->tasks[2].t);
		assert_int_equal(cfs_entity(d, 2)->vruntime, rows[i].child);
		drv_free(d);
	}
}

/*
 * P runs, at 2 ms; A waits, at 0; C left 1000 behind V and wakes. A sleeper's place: floor minus half the latency, V minus that, or V
 * minus its lag, which the mixed scales make (1024 + 2 * 1048576) / (1024 + 1048576) of itself instead of 3/2.
 */
static void where_sleepers_start(void **state)
{
	static const struct { const char *kernel, *knobs; int64_t own, place; } rows[] = {
		{ "6.1", "", -9000000, -3000000 }, { "stage-avg-vruntime", "", -9000000, -3000000 },
		{ "stage-no-start-debit", "", -9000000, -2000000 }, { "stage-no-start-debit", "NO_GENTLE_FAIR_SLEEPERS", -9000000, -5000000 },
		{ "stage-no-start-debit", "", 700000, 700000 }, { "stage-lag", "", -9000000, 1001999 },
		{ "stage-lag", "NO_PLACE_LAG", -9000000, 1000000 }, { "stage-lag", "FAIR_SLEEPERS", -9000000, -1998001 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct drv *d = cfs_new(rows[i].kernel, rows[i].knobs);
		struct rs_cfs_queue *q = d->rq.priv;

		d->rq.clock_ns = 1;
		drv_wake(d, &d->tasks[0].t);
		drv_schedule(d);
		drv_wake(d, &d->tasks[1].t);
		cfs_entity(d, 2)->vruntime = (uint64_t)rows[i].own;
		cfs_entity(d, 2)->vlag = -1000;
		d->rq.clock_ns = 2000001;
		drv_wake(d, &d->tasks[2].t);
		assert_int_equal(q->min_vruntime, 0);
		assert_int_equal((int64_t)cfs_entity(d, 2)->vruntime, rows[i].place);
		drv_free(d);
	}
}

/* Only a sleep stores lag, and no limit is put to it: P leaves 9 ms ahead of V. */
static void lag_of_a_sleeper_has_no_limit(void **state)
{
	struct drv *d = cfs_new("stage-lag", "hz=1000");

	(void)state;
	d->rq.clock_ns = 1;
	drv_wake(d, &d->tasks[0].t);
	drv_schedule(d);
	drv_wake(d, &d->tasks[1].t);
	d->rq.clock_ns = 18000001;
	drv_block(d, RS_DEQ_SLEEP);
	drv_schedule(d);
	assert_int_equal(cfs_entity(d, 0)->vlag, -9000000);
	drv_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(latency_nice_makes_the_slice), cmocka_unit_test(latency_nice_survives_a_slip),
		cmocka_unit_test(sleeping_pays_negative_lag_back), cmocka_unit_test(sleeping_pays_only_where_it_should),
		cmocka_unit_test(fudge_forgives_a_slice), cmocka_unit_test(average_truncates_before_6_6),
		cmocka_unit_test(one_descent_misses_the_earliest), cmocka_unit_test(ticks_pick_in_march),
		cmocka_unit_test(no_protection_before_6_6), cmocka_unit_test(only_wakeups_are_placed_at_first), cmocka_unit_test(forks),
		cmocka_unit_test(waking_a_delayed_task), cmocka_unit_test(a_delayed_task_really_leaves),
		cmocka_unit_test(short_needs_a_deadline_in_2023), cmocka_unit_test(eligibility_has_three_names),
		cmocka_unit_test(where_new_tasks_start), cmocka_unit_test(where_sleepers_start),
		cmocka_unit_test(lag_of_a_sleeper_has_no_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
