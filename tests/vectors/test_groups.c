// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups: numbers of real kernels for small hierarchies on one cpu, the arithmetic of group weights on several, and of load tracking.
 */
#include "vectors/driver.h"

#include "policies/cfs.h"
#include "policies/eevdf_entity.h"

#define BASE	10000000000ull
#define MS	1000000ull
#define NICE0	1048576u

static struct rs_task *task_in(struct drv *d, const char *name, struct rs_group *group, int nice)
{
	struct rs_task *t = drv_task(d, name, nice, RS_SCHED_NORMAL, 0);

	t->group = group;
	d->tasks[t->id].seen = true;
	return t;
}

static void wake_at(struct drv *d, uint64_t at, const char *name)
{
	d->rq.clock_ns = at;
	drv_wake(d, &drv_find(d, name)->t);
	if (d->rq.need_resched)
		drv_schedule(d);
}

static void tick_at(struct drv *d, uint64_t at)
{
	d->rq.clock_ns = at;
	d->ops->tick(&d->rq);
	if (d->rq.need_resched)
		drv_schedule(d);
}

static void block_at(struct drv *d, uint64_t at)
{
	d->rq.clock_ns = at;
	drv_block(d, RS_DEQ_SLEEP);
	drv_schedule(d);
}

/* ---- weights ---- */

static void t20a_v15_group_weights(void **state)
{
	/* shares, scaled weight of the queue, its load average, the group's, what it has published -> weight */
	static const uint64_t rows[][6] = {
		{ 1048576, 2097152, 1500, 1500, 1500, 1048576 },	{ 1048576, 1048576, 1024, 3072, 1024, 349525 },
		{ 1048576, 15360, 15, 2048, 15, 7680 },			{ 2048, 3072, 0, 5000, 0, 2 },
		{ 1048576, 1048576, 1024, 1024, 1024, 1048576 },	{ 1048576, 1048576, 1024, 2048, 1024, 524288 },
		{ 1048576, 2097152, 1500, 4096, 1500, 462421 },		{ 1048576, 1048576, 0, 3072, 0, 262144 },
		{ 1048576, 0, 300, 2048, 300, 153600 },			{ 1048576, 0, 0, 2048, 0, 2 },
		{ 15360, 1048576, 1024, 8192, 1024, 1920 },		{ 2048, 1048576, 1024, 65536, 1024, 32 },
		{ 10485760, 8388608, 8192, 16384, 8000, 5182151 },	{ 1048576, 0, 0, 0, 0, 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(rs_group_shares(rows[i][0], rs_load_down(rows[i][1]), rows[i][2], rows[i][3], rows[i][4]), rows[i][5]);
}

static void shares_of_settings(void **state)
{
	(void)state;
	assert_int_equal(rs_shares_of_weight(100), NICE0);
	assert_int_equal(rs_shares_of_weight(300), 3 * NICE0);
	assert_int_equal(rs_shares_of_weight(1), 10 << 10);
	assert_int_equal(rs_shares_of_weight(10000), 102400 << 10);
	assert_int_equal(rs_shares_of_weight(33), 338 << 10);	/* 337.92 is rounded */
	assert_int_equal(rs_shares_of_nice(0), NICE0);
	assert_int_equal(rs_shares_of_nice(-20), 88761 << 10);
	assert_int_equal(rs_shares_of_nice(19), 15 << 10);
}

/* ---- EEVDF ---- */

/* Root has R and group G with T1 and T2; 6.12, slices of 3 ms, ticks of 1 ms. */
static void t20b_group_against_a_task(void **state)
{
	static const char want[] = "T1 T1 T1 R R R T2 T2 T2 R R R T1";
	struct drv *d = drv_new("eevdf", "6.12", "base_slice_ns=3ms hz=1000");
	struct rs_group *g = drv_group(d, "G", NULL, NICE0, false);
	struct rs_entity_view v;
	struct rs_rq_view rv;
	char got[64] = "";

	(void)state;
	((struct rs_eevdf_queue *)d->rq.priv)->zero = 0;
	((struct rs_eevdf_queue *)rs_eevdf_own(rs_group_part(g, 0)))->zero = 0;
	task_in(d, "T1", g, 0);
	task_in(d, "T2", g, 0);
	task_in(d, "R", NULL, 0);
	for (unsigned int i = 0; i < 3; i++)
		wake_at(d, 0, d->tasks[i].name);
	for (uint64_t t = 0; t <= 12; t++) {
		if (t)
			tick_at(d, t * MS);
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s", t ? " " : "", drv_name(d, d->rq.curr));
		if (t != 6)
			continue;
		d->ops->view_group(&d->rq, g, &v);
		assert_int_equal(v.vruntime, 3000000);
		assert_int_equal(v.deadline, 6000000);
		assert_true(v.eligible && v.running && !v.task);
		d->ops->view_rq(&d->rq, &rv);
		assert_int_equal(rv.avg_vruntime, 3000000);
		d->ops->view_group_rq(&d->rq, g, &rv);
		assert_int_equal(rv.avg_vruntime, 1500000);
		d->ops->view_task(&d->rq, &drv_find(d, "T1")->t, &v);
		assert_int_equal(v.vruntime, 3000000);
		assert_false(v.eligible);
		d->ops->view_task(&d->rq, &drv_find(d, "T2")->t, &v);
		assert_int_equal(v.vruntime, 0);
		assert_int_equal(v.deadline, 3000000);
		assert_true(v.running);
	}
	assert_string_equal(got, want);
	drv_free(d);
}

/* A group that its last task leaves with negative lag stays as delayed, keeps its weight and goes when the pick meets it. */
static void empty_group_is_delayed(void **state)
{
	struct drv *d = drv_new("eevdf", "6.12", "base_slice_ns=3ms hz=1000");
	struct rs_group *g = drv_group(d, "G", NULL, 3 * NICE0, false);
	struct rs_entity_view v;

	(void)state;
	task_in(d, "A", g, 0);
	task_in(d, "B", NULL, 0);
	wake_at(d, 0, "A");
	wake_at(d, 0, "B");
	assert_string_equal(drv_name(d, d->rq.curr), "A");
	block_at(d, 2 * MS);
	assert_string_equal(drv_name(d, d->rq.curr), "B");
	assert_false(drv_find(d, "A")->t.on_rq);	/* alone in its queue it is eligible and leaves */
	d->ops->view_group(&d->rq, g, &v);
	assert_true(v.delayed);
	assert_int_equal(v.weight, 3072);
	assert_int_equal(d->rq.nr_queued, 1);
	for (uint64_t t = 3; t < 20; t++)
		tick_at(d, t * MS);
	d->ops->view_group(&d->rq, g, &v);
	assert_false(v.delayed);
	assert_int_equal(v.vlag, 0);
	wake_at(d, 20 * MS, "A");
	d->ops->view_group(&d->rq, g, &v);
	assert_int_equal(v.weight, 3072);
	drv_free(d);
}

/* Two groups of unequal weight share a cpu by it, whatever is in them. */
static void groups_share_by_weight(void **state)
{
	static const struct { const char *policy, *kernel; } models[] = {
		{ "eevdf", "6.6" }, { "eevdf", "6.8" }, { "eevdf", "6.12" }, { "eevdf", "6.18" }, { "evdf", "6.12" },
		{ "cfs", "5.4" }, { "cfs", "6.1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		struct drv *d = drv_new(models[i].policy, models[i].kernel, "hz=1000");
		struct rs_group *a = drv_group(d, "a", NULL, rs_shares_of_weight(100), false);
		struct rs_group *b = drv_group(d, "b", NULL, rs_shares_of_weight(300), false);
		struct rs_group *c = drv_group(d, "c", b, rs_shares_of_weight(100), false);
		uint64_t ran[8] = { 0 };

		task_in(d, "a1", a, 0);
		task_in(d, "a2", a, -5);
		task_in(d, "a3", a, 5);
		task_in(d, "b1", b, 19);
		task_in(d, "c1", c, 0);
		task_in(d, "c2", c, 0);
		task_in(d, "r", NULL, 0);
		for (unsigned int t = 0; t < d->nr_tasks; t++)
			wake_at(d, 1000 + t, d->tasks[t].name);
		for (uint64_t t = 1; t <= 40000; t++) {
			ran[d->rq.curr->id]++;
			tick_at(d, t * MS);
		}
		/* of 40 s: a 1/5, b 3/5, r 1/5; in b: b1 15/1039, c the rest */
		assert_in_range(ran[0] + ran[1] + ran[2], 7900, 8100);
		assert_in_range(ran[3] + ran[4] + ran[5], 23900, 24100);
		assert_in_range(ran[6], 7900, 8100);
		assert_in_range(ran[3], 200, 500);
		assert_in_range(ran[4], 11500, 12100);
		drv_free(d);
	}
}

/* A task of the group that a sleeper leaves goes on, if it may; the nomination is the kernel's. */
static void group_is_nominated_after_a_sleep(void **state)
{
	struct drv *d = drv_new("eevdf", "6.12", "base_slice_ns=3ms hz=1000");
	struct rs_group *g = drv_group(d, "G", NULL, NICE0, false);
	struct rs_eevdf_queue *root = d->rq.priv;

	(void)state;
	task_in(d, "R", NULL, 0);
	task_in(d, "A", g, 0);
	task_in(d, "B", g, 0);
	wake_at(d, 0, "A");
	wake_at(d, 0, "B");
	wake_at(d, 0, "R");
	d->rq.clock_ns = MS / 2;
	assert_ptr_equal(root->next, NULL);
	/* B has not run: A leaves as delayed or not, B is there */
	drv_block(d, RS_DEQ_SLEEP | RS_DEQ_SPECIAL);
	assert_ptr_equal(root->next, rs_group_part(g, 0));
	drv_schedule(d);
	assert_string_equal(drv_name(d, d->rq.curr), "R");	/* 0.5 ms ahead the group is not eligible */
	drv_free(d);
}

/* ---- CFS ---- */

static struct rs_cfs_queue *cfs_root(struct drv *d)
{
	return d->rq.priv;
}

static struct rs_cfs_entity *cfs_entity(struct drv *d, const char *name)
{
	struct rs_group *g = drv_group_find(d, name);

	return g ? rs_group_part(g, 0) : drv_find(d, name)->t.priv;
}

static int64_t vruntime(struct drv *d, const char *name)
{
	return (int64_t)(cfs_entity(d, name)->vruntime - BASE);
}

static uint64_t slice(struct drv *d, const char *name)
{
	return rs_cfs_slice(cfs_entity(d, name));
}

/* Everything at the base, as after a long time. */
static struct rs_task *cfs_task(struct drv *d, const char *name, struct rs_group *group, int nice)
{
	struct rs_task *t = task_in(d, name, group, nice);

	cfs_entity(d, name)->vruntime = BASE;
	cfs_entity(d, name)->exec_start = 1;
	return t;
}

static struct rs_group *cfs_group(struct drv *d, const char *name, struct rs_group *parent, uint64_t shares)
{
	struct rs_group *g = drv_group(d, name, parent, shares, false);

	cfs_entity(d, name)->vruntime = BASE;
	cfs_entity(d, name)->exec_start = 1;
	rs_cfs_own(cfs_entity(d, name))->min_vruntime = BASE;
	return g;
}

static struct drv *cfs_new(const char *knobs)
{
	struct drv *d = drv_new("cfs", "6.1", knobs);

	cfs_root(d)->min_vruntime = BASE;
	return d;
}

/* GA{a1,a2}, GB{b1} */
static struct drv *v14_new(void)
{
	struct drv *d = cfs_new("hz=1000");
	struct rs_group *ga = cfs_group(d, "GA", NULL, NICE0), *gb = cfs_group(d, "GB", NULL, NICE0);

	cfs_task(d, "a1", ga, 0);
	cfs_task(d, "a2", ga, 0);
	cfs_task(d, "b1", gb, 0);
	wake_at(d, BASE, "a1");
	wake_at(d, BASE, "a2");
	wake_at(d, BASE, "b1");
	assert_string_equal(drv_name(d, d->rq.curr), "a1");
	return d;
}

static void v14_groups(void **state)
{
	struct drv *d = v14_new();
	char got[128] = "0:a1";
	const struct rs_task *last = d->rq.curr;

	(void)state;
	assert_int_equal(slice(d, "a1"), 1499998);
	assert_int_equal(slice(d, "b1"), 2999997);
	assert_int_equal(slice(d, "GA"), 2999998);
	for (uint64_t t = 1; t <= 18; t++) {
		tick_at(d, BASE + t * MS);
		if (d->rq.curr != last)
			snprintf(got + strlen(got), sizeof(got) - strlen(got), " %lu:%s", (unsigned long)t, drv_name(d, d->rq.curr));
		last = d->rq.curr;
	}
	assert_string_equal(got, "0:a1 2:b1 5:a2 7:b1 10:a1 12:b1 15:a2 17:a1 18:b1");
	assert_int_equal(vruntime(d, "GA"), 9000000);
	assert_int_equal(vruntime(d, "GB"), 9000000);
	assert_int_equal(vruntime(d, "a1"), 5000000);
	assert_int_equal(vruntime(d, "a2"), 4000000);
	assert_int_equal(vruntime(d, "b1"), 9000000);
	assert_int_equal(rs_cfs_own(cfs_entity(d, "GA"))->min_vruntime - BASE, 4000000);
	drv_free(d);
}

static void v14_sleeper_favours_its_group(void **state)
{
	static const struct { uint64_t at; const char *picked; } rows[] = { { 800000, "a2" }, { 1000001, "b1" } };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct drv *d = v14_new();

		d->rq.clock_ns = BASE + rows[i].at;
		drv_block(d, RS_DEQ_SLEEP);
		assert_ptr_equal(cfs_root(d)->next, cfs_entity(d, "GA"));
		drv_schedule(d);
		assert_string_equal(drv_name(d, d->rq.curr), rows[i].picked);
		assert_ptr_equal(cfs_root(d)->next, cfs_entity(d, "GA"));
		drv_free(d);
	}
}

static void v14_group_preempts_at_its_level(void **state)
{
	struct drv *d = cfs_new("hz=1000");
	struct rs_group *ga = cfs_group(d, "GA", NULL, NICE0), *gb = cfs_group(d, "GB", NULL, NICE0);

	(void)state;
	cfs_task(d, "a1", ga, 0);
	cfs_task(d, "b1", gb, 19);
	wake_at(d, BASE, "a1");
	d->rq.clock_ns = BASE + 10 * MS;
	drv_wake(d, &drv_find(d, "b1")->t);
	assert_true(d->rq.need_resched);
	assert_int_equal(vruntime(d, "GB"), 7000000);
	assert_int_equal(vruntime(d, "GA"), 10000000);
	assert_int_equal(vruntime(d, "a1"), 0);
	assert_ptr_equal(cfs_root(d)->next, cfs_entity(d, "GB"));
	assert_ptr_equal(rs_cfs_own(cfs_entity(d, "GB"))->next, NULL);
	drv_free(d);
}

static void v14_slices(void **state)
{
	struct drv *d = cfs_new("");
	struct rs_group *ga = cfs_group(d, "GA", NULL, NICE0), *gx = cfs_group(d, "GX", ga, 2 * NICE0);
	static const char *const knobs[] = { "", "NO_ALT_PERIOD NO_BASE_SLICE" };
	static const uint64_t want[2][2] = { { 750000, 2999999 }, { 499999, 1999999 } };

	(void)state;
	cfs_task(d, "r", NULL, 0);
	cfs_task(d, "a1", ga, 0);
	cfs_task(d, "x1", gx, 0);
	wake_at(d, BASE, "r");
	wake_at(d, BASE, "a1");
	wake_at(d, BASE, "x1");
	assert_int_equal(slice(d, "x1"), 1999997);
	assert_int_equal(slice(d, "a1"), 999999);
	assert_int_equal(slice(d, "r"), 2999998);
	assert_int_equal(slice(d, "GX"), 1999998);
	assert_int_equal(slice(d, "GA"), 2999998);
	drv_free(d);
	for (int k = 0; k < 2; k++) {
		static const char *const names[] = { "GA", "GB", "GC" };

		d = cfs_new(knobs[k]);
		for (int i = 0; i < 3; i++) {
			struct rs_group *g = cfs_group(d, names[i], NULL, NICE0);

			for (int j = 0; j < 4; j++) {
				char name[24];

				snprintf(name, sizeof(name), "%c%d", names[i][1], j);
				cfs_task(d, name, g, 0);
				wake_at(d, BASE, name);
			}
		}
		assert_int_equal(slice(d, "A0"), want[k][0]);
		assert_int_equal(slice(d, "GA"), want[k][1]);
		drv_free(d);
	}
}

/* ---- bandwidth ---- */

static struct rs_group *cfs_limited(struct drv *d, const char *name)
{
	struct rs_group *g = drv_group_limited(d, name, NULL, NICE0, false, 10 * MS, 100 * MS);

	cfs_entity(d, name)->vruntime = BASE;
	cfs_entity(d, name)->exec_start = 1;
	rs_cfs_own(cfs_entity(d, name))->min_vruntime = BASE;
	return g;
}

/* A step and what is left after it: w wake, s schedule, t tick, p period. */
static void v16a_quota(void **state)
{
	static const struct { uint64_t ms; char op; int64_t left; bool asks, throttled; } steps[] = {
		{ 0, 'w', 5000000, true, false }, { 0, 's', 5000000, false, false }, { 4, 't', 1000000, false, false },
		{ 8, 't', 2000000, false, false }, { 12, 't', -2000000, true, false }, { 12, 's', -2000000, false, true },
		{ 100, 'p', 1, true, false }, { 100, 's', 1, false, false }, { 104, 't', 4000000, false, false },
		{ 108, 't', 0, true, false }, { 108, 's', 0, false, true }, { 200, 'p', 1, true, false }, { 200, 's', 1, false, false },
		{ 204, 't', 5000000, false, false }, { 208, 't', 1000000, false, false }, { 212, 't', -2000000, true, false },
		{ 212, 's', -2000000, false, true },
	};
	struct drv *d = cfs_new("hz=250");
	struct rs_group *ga = cfs_limited(d, "GA"), *due = NULL;
	struct rs_task *t = cfs_task(d, "a1", ga, 0);
	const struct rs_level *level = &rs_cfs_own(cfs_entity(d, "GA"))->h;

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		d->rq.clock_ns = BASE + steps[i].ms * MS;
		switch (steps[i].op) {
		case 'w':
			drv_wake(d, t);
			break;
		case 's':
			drv_schedule(d);
			break;
		case 't':
			d->ops->tick(&d->rq);
			break;
		default:
			assert_int_equal(drv_next_timer(d, &due), d->rq.clock_ns);
			d->ops->group_timer(due, d->rq.clock_ns);
		}
		if (level->quota_left_ns != steps[i].left || level->throttled != steps[i].throttled || d->rq.need_resched != steps[i].asks)
			fail_msg("step %zu: left %ld%s%s", i, (long)level->quota_left_ns, level->throttled ? ", throttled" : "",
				 d->rq.need_resched ? ", reschedule" : "");
		assert_ptr_equal(d->rq.curr, i < 1 || steps[i].throttled || steps[i].op == 'p' ? NULL : t);
	}
	drv_free(d);
}

/* Ticks of 1 ms, the timers of groups before them. Writes "MS:RUNNER" at every change. */
static void run_ticks(struct drv *d, uint64_t from_ms, uint64_t to_ms, char *got, size_t size)
{
	const struct rs_task *last = d->rq.curr;

	for (uint64_t t = from_ms; t <= to_ms; t++) {
		struct rs_group *due = NULL;

		d->rq.clock_ns = BASE + t * MS;
		while (drv_next_timer(d, &due) <= d->rq.clock_ns)
			d->ops->group_timer(due, d->rq.clock_ns);
		if (d->rq.curr)
			d->ops->tick(&d->rq);
		if (d->rq.need_resched)
			drv_schedule(d);
		if (d->rq.curr != last)
			snprintf(got + strlen(got), size - strlen(got), " %lu:%s", (unsigned long)t, drv_name(d, d->rq.curr));
		last = d->rq.curr;
	}
}

static void v16b_quota_beside_a_hog(void **state)
{
	struct drv *d = cfs_new("hz=1000");
	struct rs_group *ga = cfs_limited(d, "GA");
	char got[256] = "0:a1";

	(void)state;
	cfs_task(d, "a1", ga, 0);
	cfs_task(d, "r", NULL, 0);
	wake_at(d, BASE, "a1");
	wake_at(d, BASE, "r");
	run_ticks(d, 1, 19, got, sizeof(got));
	assert_true(rs_cfs_own(cfs_entity(d, "GA"))->h.throttled);
	assert_int_equal(vruntime(d, "GA"), 10000000);
	run_ticks(d, 20, 99, got, sizeof(got));
	d->rq.clock_ns = BASE + 100 * MS;
	d->ops->group_timer(ga, d->rq.clock_ns);
	assert_int_equal(vruntime(d, "GA"), 87000000);
	assert_false(d->rq.need_resched);
	run_ticks(d, 100, 106, got, sizeof(got));
	assert_string_equal(got, "0:a1 3:r 6:a1 9:r 12:a1 15:r 18:a1 19:r 100:a1 103:r 106:a1");
	drv_free(d);
}

/* Every policy and kernel holds a group to its quota, whatever its weight; a nested group too, and what sleeps in it. */
static void quota_holds_everywhere(void **state)
{
	static const struct { const char *policy, *kernel; } models[] = {
		{ "eevdf", "6.6" }, { "eevdf", "6.8" }, { "eevdf", "6.12" }, { "eevdf", "6.18" }, { "evdf", "6.12" },
		{ "cfs", "5.10" }, { "cfs", "6.1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		struct drv *d = drv_new(models[i].policy, models[i].kernel, "hz=1000");
		struct rs_group *a = drv_group_limited(d, "a", NULL, 10 * NICE0, false, 20 * MS, 100 * MS);
		struct rs_group *b = drv_group_limited(d, "b", a, NICE0, false, 5 * MS, 100 * MS), *due = NULL;
		uint64_t ran[5] = { 0 };

		task_in(d, "a1", a, 0);
		task_in(d, "a2", a, 0);
		task_in(d, "b1", b, 0);
		task_in(d, "r", NULL, 0);
		d->rq.clock_ns = BASE;
		for (unsigned int t = 0; t < 4; t++)
			wake_at(d, BASE + t, d->tasks[t].name);
		for (uint64_t t = 1; t <= 10000; t++) {
			struct drv_task *a2 = drv_find(d, "a2");

			d->rq.clock_ns = BASE + t * MS;
			while (drv_next_timer(d, &due) <= d->rq.clock_ns)
				d->ops->group_timer(due, d->rq.clock_ns);
			if (d->rq.curr) {
				ran[d->rq.curr->id]++;
				d->ops->tick(&d->rq);
			}
			if (d->rq.need_resched)
				drv_schedule(d);
			if (d->rq.curr == &a2->t && t % 7 == 0)
				block_at(d, d->rq.clock_ns);
			else if (t % 11 == 0 && d->rq.curr != &a2->t && (!a2->t.on_rq || a2->t.delayed))
				wake_at(d, d->rq.clock_ns, "a2");
		}
		assert_in_range(ran[0] + ran[1] + ran[2], 1950, 2100);
		assert_in_range(ran[2], 450, 560);
		assert_in_range(ran[3], 7900, 8050);
		drv_free(d);
	}
}

/* ---- load tracking ---- */

#define PERIOD_NS	1048576u

static void expect_pelt(const struct rs_pelt *p, uint32_t contrib, uint64_t load_sum, uint32_t util_sum, uint64_t load, uint64_t util)
{
	assert_int_equal(p->period_contrib, contrib);
	assert_int_equal(p->load_sum, load_sum);
	assert_int_equal(p->util_sum, util_sum);
	assert_int_equal(p->load_avg, load);
	assert_int_equal(p->util_avg, util);
}

static void run_for(struct rs_pelt *p, uint64_t ns, bool runs)
{
	uint64_t now = p->last_update + ns;

	/* what an update leaves over is less than a unit and kept by the caller's clock here */
	if (rs_pelt_update(p, now, runs, runs, runs))
		rs_pelt_average(p, 1024);
}

static void v20_pelt(void **state)
{
	static const struct { uint64_t periods, ls, us, load, util; } rows[] = {
		{ 1, 1002, 1026048, 21, 21 }, { 2, 1981, 2028544, 43, 43 }, { 32, 23359, 23919616, 512, 512 },
		{ 345, 46692, 47812608, 1023, 1023 },
	};
	struct rs_pelt p, queue = { 0 };
	uint64_t now = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		p = (struct rs_pelt){ 0 };
		run_for(&p, rows[i].periods * PERIOD_NS, true);
		expect_pelt(&p, 0, rows[i].ls, (uint32_t)rows[i].us, rows[i].load, rows[i].util);
	}
	p = (struct rs_pelt){ 0 };
	run_for(&p, 32000000, true);
	expect_pelt(&p, 530, 22855, 23403520, 495, 495);
	p = (struct rs_pelt){ 0 };
	rs_pelt_attach(&p, &queue, 1024);	/* with averages of 0 the load sum starts at 1 */
	for (int i = 1; i <= 32; i++) {
		if (rs_pelt_update(&p, (uint64_t)i * MS, 1, 1, true))
			rs_pelt_average(&p, 1024);
	}
	expect_pelt(&p, 530, 22852, 23410391, 495, 495);

	p = (struct rs_pelt){ .load_avg = 1024, .util_avg = 512 };
	rs_pelt_attach(&p, &queue, 1024);
	expect_pelt(&p, 0, 46718, 23919616, 1024, 512);
	static const struct { uint64_t ns; bool runs; uint32_t pc; uint64_t ls; uint32_t us; uint64_t load, util; } then[] = {
		{ 4000000, true, 834, 47551, 26278237, 1023, 552 }, { 10000000, true, 359, 47075, 30156263, 1023, 640 },
		{ 33554432, false, 359, 23536, 15078130, 511, 320 }, { 5000000, false, 122, 21120, 13530428, 461, 288 },
	};
	for (size_t i = 0; i < sizeof(then) / sizeof(then[0]); i++) {
		now += then[i].ns;
		if (rs_pelt_update(&p, now, then[i].runs, then[i].runs, then[i].runs))
			rs_pelt_average(&p, 1024);
		expect_pelt(&p, then[i].pc, then[i].ls, then[i].us, then[i].load, then[i].util);
	}
}

static void v20_decay(void **state)
{
	static const uint64_t rows[][3] = { { 47742, 1, 46718 }, { 47742, 32, 23870 }, { 47742, 33, 23359 }, { 47742, 100, 5471 },
					    { 47742, 2017, 0 }, { 1000000, 7, 859309 }, { 47742, 0, 47741 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(rs_pelt_decay(rows[i][0], rows[i][1]), rows[i][2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(t20a_v15_group_weights), cmocka_unit_test(shares_of_settings),
		cmocka_unit_test(t20b_group_against_a_task), cmocka_unit_test(empty_group_is_delayed),
		cmocka_unit_test(groups_share_by_weight), cmocka_unit_test(group_is_nominated_after_a_sleep),
		cmocka_unit_test(v14_groups), cmocka_unit_test(v14_sleeper_favours_its_group),
		cmocka_unit_test(v14_group_preempts_at_its_level), cmocka_unit_test(v14_slices),
		cmocka_unit_test(v16a_quota), cmocka_unit_test(v16b_quota_beside_a_hog), cmocka_unit_test(quota_holds_everywhere),
		cmocka_unit_test(v20_pelt), cmocka_unit_test(v20_decay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
