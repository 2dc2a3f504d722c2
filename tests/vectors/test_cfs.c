// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers computed by the fair class of Linux 6.1.192 for small scenes on one cpu, flat queue.
 *
 * Times and vruntimes are offsets from a base of 10 s. All tasks sleep at first, with exec_start 1; the floor is at the base.
 * A scene is text, one step a line: "TIME OPERATION [TASK [VALUE]] [= CHECK ...]". CHECK is run=TASK[*] (* = reschedule pending),
 * minv=N, TASK=vruntime, hints=next/last/skip ("-" = none).
 */
#include "vectors/driver.h"

#include "policies/cfs.h"

#define BASE	10000000000ull
#define MS	1000000ull

static struct rs_cfs_queue *queue(struct drv *d)
{
	return d->rq.priv;
}

static struct rs_cfs_entity *entity(struct rs_task *t)
{
	return t->priv;
}

static struct rs_task *add_task(struct drv *d, const char *name, int nice, enum rs_sched_policy policy, int64_t v)
{
	struct rs_task *t = drv_task(d, name, nice, policy, 0);

	entity(t)->vruntime = BASE + (uint64_t)v;
	entity(t)->exec_start = 1;
	return t;
}

/* @tasks: "A Z=600000 L:19=5 B:batch I:idle": name, nice or policy, vruntime */
static struct drv *scene_of(const char *kernel, unsigned int cpus, const char *knobs, const char *tasks)
{
	struct drv *d = drv_new_cpus("cfs", kernel, cpus, knobs);
	char text[256], *save = NULL;

	queue(d)->min_vruntime = BASE;
	d->rq.clock_ns = BASE;
	snprintf(text, sizeof(text), "%s", tasks);
	for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		char *equal = strchr(word, '='), *colon = strchr(word, ':');
		enum rs_sched_policy policy = RS_SCHED_NORMAL;

		if (equal)
			*equal++ = '\0';
		if (colon)
			*colon++ = '\0';
		if (colon && !strcmp(colon, "batch"))
			policy = RS_SCHED_BATCH;
		else if (colon && !strcmp(colon, "idle"))
			policy = RS_SCHED_IDLE;
		add_task(d, word, colon && policy == RS_SCHED_NORMAL ? atoi(colon) : 0, policy, equal ? atol(equal) : 0);
	}
	return d;
}

static const char *hint_name(struct drv *d, struct rs_cfs_entity *e)
{
	return e ? drv_name(d, e->task) : "-";
}

static int64_t offset(uint64_t v)
{
	return (int64_t)(v - BASE);
}

static struct drv *scene_new(unsigned int cpus, const char *knobs, const char *tasks)
{
	return scene_of("6.1", cpus, knobs, tasks);
}

static void check(struct drv *d, const char *line, char *want)
{
	char *save = NULL;

	for (char *word = strtok_r(want, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		char *equal = strchr(word, '='), got[64];

		assert_non_null(equal);
		*equal++ = '\0';
		if (!strcmp(word, "run"))
			snprintf(got, sizeof(got), "%s%s", drv_name(d, d->rq.curr), d->rq.need_resched ? "*" : "");
		else if (!strcmp(word, "minv"))
			snprintf(got, sizeof(got), "%ld", (long)offset(queue(d)->min_vruntime));
		else if (!strcmp(word, "hints"))
			snprintf(got, sizeof(got), "%s/%s/%s", hint_name(d, queue(d)->next), hint_name(d, queue(d)->last),
				 hint_name(d, queue(d)->skip));
		else
			snprintf(got, sizeof(got), "%ld", (long)offset(entity(&drv_find(d, word)->t)->vruntime));
		if (strcmp(got, equal))
			fail_msg("after '%s': %s want %s, got %s", line, word, equal, got);
	}
}

static void apply(struct drv *d, const char *op, struct rs_task *t, long value)
{
	if (!strcmp(op, "wake")) {
		drv_wake(d, t);
	} else if (!strcmp(op, "sched")) {
		drv_schedule(d);
	} else if (!strcmp(op, "tick")) {
		d->ops->tick(&d->rq);
	} else if (!strcmp(op, "block")) {
		drv_block(d, RS_DEQ_SLEEP);
		drv_schedule(d);
	} else if (!strcmp(op, "yield")) {
		d->ops->yield(&d->rq);
		drv_schedule(d);
	} else if (!strcmp(op, "fork")) {
		entity(t)->vruntime = entity(t)->exec_start = 0;
		drv_fork(d, t);
	} else if (!strcmp(op, "nice")) {
		d->ops->reweight(t, d->rq.clock_ns, (int)value, t->policy, 0);
	} else {
		fail_msg("operation %s", op);
	}
}

static void play(struct drv *d, const char *steps)
{
	char text[4096], *save = NULL;

	snprintf(text, sizeof(text), "%s", steps);
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *want = strchr(line, '='), op[16] = "", name[8] = "";
		unsigned long at;
		long value = 0;

		if (want)
			*want++ = '\0';
		assert_true(sscanf(line, "%lu %15s %7s %ld", &at, op, name, &value) >= 2);
		d->rq.clock_ns = BASE + at;
		apply(d, op, name[0] ? &drv_find(d, name)->t : NULL, value);
		if (want)
			check(d, line, want);
	}
}

static void scene(unsigned int cpus, const char *knobs, const char *tasks, const char *steps)
{
	struct drv *d = scene_new(cpus, knobs, tasks);

	play(d, steps);
	drv_free(d);
}

/* A scene that gives the same under each of the kernels, separated by blanks. */
static void scene_on(const char *kernels, unsigned int cpus, const char *tasks, const char *steps)
{
	char list[64], *save = NULL;

	snprintf(list, sizeof(list), "%s", kernels);
	for (char *kernel = strtok_r(list, " ", &save); kernel; kernel = strtok_r(NULL, " ", &save)) {
		struct drv *d = scene_of(kernel, cpus, "", tasks);

		play(d, steps);
		drv_free(d);
	}
}

static void v1_virtual_time(void **state)
{
	static const int nices[] = { -20, -15, -10, -5, -1, 1, 5, 10, 15, 19 };
	static const uint64_t deltas[] = { 1000000, 4000000, 10000000 };
	static const uint64_t want[3][11] = {
		{ 11536, 35123, 107247, 328099, 801879, 1248780, 3056716, 9309090, 28444444, 68266666, 341333333 },
		{ 46146, 140495, 428990, 1312399, 3207517, 4995121, 12226865, 37236363, 113777777, 273066666, 1365333333 },
		{ 115365, 351238, 1072475, 3280999, 8018794, 12487804, 30567164, 93090908, 284444444, 682666666, 3413333332 },
	};
	static const uint64_t groups[][2] = { { 524288, 1999999 }, { 462421, 2270509 }, { 1920, 511999999 }, { 2, 511999999 },
					      { 10485760, 99999 }, { 1048577, 999999 }, { 839680, 1248780 } };

	(void)state;
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 11; j++) {
			struct rs_load load = j < 10 ? rs_load_of_task(nices[j], RS_SCHED_NORMAL) : rs_load_of_task(0, RS_SCHED_IDLE);

			assert_int_equal(rs_calc_delta_fair(deltas[i], &load), want[i][j]);
		}
	}
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		assert_int_equal(rs_calc_delta_fair(1000000, &(struct rs_load){ groups[i][0], 0 }), groups[i][1]);
}

/* Rows of v2: up to three kinds of tasks, how many of each, and their figures. */
#define IDLE 100
struct slice_row {
	int nice[3]; unsigned int count[3]; int kinds;
	uint64_t unclamped[3], slice[3], vslice[3], slice4[3];
};

static void slice_fill(struct drv *d, const struct slice_row *row, struct rs_task *first[3])
{
	for (int k = 0; k < row->kinds; k++) {
		for (unsigned int i = 0; i < row->count[k]; i++) {
			char name[24];
			bool idle = row->nice[k] == IDLE;
			struct rs_task *t;

			snprintf(name, sizeof(name), "%d.%u", k, i);
			t = add_task(d, name, idle ? 0 : row->nice[k], idle ? RS_SCHED_IDLE : RS_SCHED_NORMAL, 0);
			drv_wake(d, t);
			if (!i)
				first[k] = t;
		}
	}
}

static struct drv *slice_queue(const struct slice_row *row, unsigned int cpus, const char *knobs, struct rs_task *first[3])
{
	struct drv *d = scene_new(cpus, knobs, "");

	slice_fill(d, row, first);
	return d;
}

static uint64_t slice_of(struct drv *d, struct rs_task *t)
{
	struct rs_entity_view v;

	d->ops->view_task(&d->rq, t, &v);
	return v.slice_ns;
}

static void v2_slices(void **state)
{
	static const struct slice_row rows[] = {
		{ { 0 }, { 1 }, 1, { 5999998 }, { 5999998 }, { 5999998 }, { 23999994 } },
		{ { 0 }, { 2 }, 1, { 2999998 }, { 2999998 }, { 2999998 }, { 11999994 } },
		{ { 0 }, { 3 }, 1, { 1999999 }, { 1999999 }, { 1999999 }, { 7999998 } },
		{ { 0 }, { 8 }, 1, { 749998 }, { 750000 }, { 750000 }, { 3000000 } },
		{ { 0 }, { 20 }, 1, { 749999 }, { 750000 }, { 750000 }, { 3000000 } },
		{ { 0, 5 }, { 1, 1 }, 2, { 4520971, 1479028 }, { 4520971, 1479028 }, { 4520971, 4520969 }, { 18083885, 5916114 } },
		{ { -5, 0, 5 }, { 1, 1, 1 }, 3, { 4179910, 1371428, 448660 }, { 4179910, 1371428, 750000 },
		  { 1371428, 1371428, 2292537 }, { 16719641, 5485713, 3000000 } },
		{ { 0, 19 }, { 1, 1 }, 2, { 5913378, 86621 }, { 5913378, 750000 }, { 5913378, 51199999 }, { 23653512, 3000000 } },
		{ { -20, 19 }, { 1, 1 }, 2, { 5998883, 1013 }, { 5998883, 750000 }, { 69206, 51199999 }, { 23995535, 3000000 } },
		{ { 0, IDLE }, { 1, 1 }, 2, { 5982471, 17526 }, { 5982471, 750000 }, { 5982471, 255999999 }, { 23929887, 750000 } },
		{ { IDLE }, { 2 }, 1, { 2999999 }, { 2999999 }, { 1023999658 }, { 11999999 } },
		{ { -20, 0 }, { 1, 19 }, 2, { 12303050, 141935 }, { 12303050, 750000 }, { 141935, 750000 }, { 49212201, 3000000 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rs_task *u[3], *s[3], *f[3];
		struct drv *du = slice_queue(&rows[i], 1, "NO_BASE_SLICE", u), *ds = slice_queue(&rows[i], 1, "", s);
		struct drv *df = slice_queue(&rows[i], 8, "", f);

		for (int k = 0; k < rows[i].kinds; k++) {
			assert_int_equal(slice_of(du, u[k]), rows[i].unclamped[k]);
			assert_int_equal(slice_of(ds, s[k]), rows[i].slice[k]);
			assert_int_equal(rs_calc_delta_fair(slice_of(ds, s[k]), &entity(s[k])->load), rows[i].vslice[k]);
			assert_int_equal(slice_of(df, f[k]), rows[i].slice4[k]);
		}
		drv_free(du);
		drv_free(ds);
		drv_free(df);
	}
}

static void v3_wakeup_granularity(void **state)
{
	(void)state;
	scene(1, "", "A=107247 W:-10", "0 wake A\n0 sched\n0 wake W = run=A W=0");
	scene(1, "", "A=107248 W:-10", "0 wake A\n0 sched\n0 wake W = run=A*");
	scene(1, "", "A=1000000 W", "0 wake A\n0 sched\n0 wake W = run=A");
	scene(1, "", "A=1000001 W", "0 wake A\n0 sched\n0 wake W = run=A*");
}

/* Runs @tasks, woken at 0, with ticks; appends "t:RUNNER" (ms) after each schedule, in brackets when it is the same. */
static void expect_hogs(unsigned int cpus, const char *hz, const char *tasks, uint64_t end_ms, const char *want, const char *final)
{
	struct drv *d = scene_new(cpus, hz, tasks);
	char got[1024] = "", copy[128];
	uint64_t tick = d->model->tick_ns;

	for (unsigned int i = 0; i < d->nr_tasks; i++)
		drv_wake(d, &d->tasks[i].t);
	drv_schedule(d);
	snprintf(got, sizeof(got), "0:%s", drv_name(d, d->rq.curr));
	for (uint64_t t = tick; t <= end_ms * MS; t += tick) {
		struct rs_task *prev = d->rq.curr;
		bool same;

		d->rq.clock_ns = BASE + t;
		d->ops->tick(&d->rq);
		if (!d->rq.need_resched)
			continue;
		drv_schedule(d);
		same = d->rq.curr == prev;
		snprintf(got + strlen(got), sizeof(got) - strlen(got), " %lu:%s%s%s", (unsigned long)(t / MS), same ? "(" : "",
			 drv_name(d, d->rq.curr), same ? ")" : "");
	}
	if (strcmp(got, want))
		fail_msg("want %s\n got %s", want, got);
	snprintf(copy, sizeof(copy), "%s", final);
	check(d, "end", copy);
	drv_free(d);
}

static void v4_hogs(void **state)
{
	char last[1024] = "0:A 24:B 28:A";

	(void)state;
	for (int t = 52; t <= 276; t += 4)
		snprintf(last + strlen(last), sizeof(last) - strlen(last), " %d:(A)", t);
	strcat(last, " 280:B 284:A");
	expect_hogs(1, "hz=250", "A B", 24, "0:A 4:B 8:A 12:B 16:A 20:B 24:A", "A=12000000 B=12000000 minv=12000000");
	expect_hogs(8, "hz=250", "A B", 36, "0:A 12:B 24:A 36:B", "A=24000000 B=12000000 minv=12000000");
	expect_hogs(8, "hz=100", "A B", 40, "0:A 20:B 40:A", "A=20000000 B=20000000 minv=20000000");
	expect_hogs(8, "hz=1000", "A B:5", 51, "0:A 19:B 25:(B) 26:A 45:B 51:A", "A=38000000 B=39737308 minv=38000000");
	expect_hogs(8, "hz=250", "A B:19", 284, last, "A=276000000 B=546133332 minv=276000000");
}

static void v5_floor(void **state)
{
	(void)state;
	scene(1, "", "A=2000000 Z=5000000 Y=9000000",
	      "0 wake A\n0 sched\n0 wake Z\n"
	      "0 wake Y = run=A minv=0 A=2000000 Z=5000000 Y=9000000\n"
	      "1000000 tick = run=A minv=3000000 A=3000000\n"
	      "4000000 tick = run=A* minv=5000000 A=6000000\n"
	      "4000000 sched = run=Z minv=5000000\n"
	      "5000000 block = run=A minv=6000000 A=6000000 Z=6000000 Y=9000000\n"
	      "5000000 block = run=Y minv=9000000\n"
	      "5000000 block = run=idle minv=9000000\n"
	      "8000000 wake A = run=idle* minv=9000000 A=6000000 Z=6000000 Y=9000000");
}

static void v6_sleeper_credit(void **state)
{
	static const struct { unsigned int cpus; uint64_t sleep; int64_t a, s[2]; bool preempts[2]; } rows[] = {
		{ 1, 500000, 500000, { 1000000, 1000000 }, { false, false } },
		{ 1, 2000000, 2000000, { 1000000, 1000000 }, { false, false } },
		{ 1, 4000000, 4000000, { 1000000, 1000000 }, { true, true } },
		{ 1, 10000000, 10000000, { 7000000, 4000000 }, { true, true } },
		{ 1, 30000000, 30000000, { 27000000, 24000000 }, { true, true } },
		{ 8, 4000000, 4000000, { 1000000, 1000000 }, { false, false } },
		{ 8, 10000000, 10000000, { 1000000, 1000000 }, { true, true } },
		{ 8, 30000000, 30000000, { 18000000, 6000000 }, { true, true } },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		struct drv *d = scene_new(rows[i / 2].cpus, i % 2 ? "NO_GENTLE_FAIR_SLEEPERS" : "", "S A");
		char text[256];

		snprintf(text, sizeof(text), "0 wake S\n0 sched\n0 wake A\n1000000 block = run=A S=1000000 A=0\n"
			 "%lu wake S = run=A%s S=%ld A=%ld minv=%ld", 1000000 + rows[i / 2].sleep, rows[i / 2].preempts[i % 2] ? "*" : "",
			 (long)rows[i / 2].s[i % 2], (long)rows[i / 2].a, (long)rows[i / 2].a);
		play(d, text);
		drv_free(d);
	}
}

static void v7_light_wakees(void **state)
{
	static const struct { int nice; bool gentle, plain; } rows[] = { { 4, true, true }, { 5, false, true }, { 8, false, true },
									 { 9, false, false } };

	(void)state;
	for (unsigned int cpus = 1; cpus <= 8; cpus *= 2) {
		for (size_t i = 0; i < 8; i++) {
			bool preempts = i % 2 ? rows[i / 2].plain : rows[i / 2].gentle;
			char tasks[32], text[128];

			snprintf(tasks, sizeof(tasks), "A S:%d=-100000000", rows[i / 2].nice);
			snprintf(text, sizeof(text), "0 wake A\n0 sched\n50000000 wake S = run=A%s", preempts ? "*" : "");
			scene(cpus, i % 2 ? "NO_GENTLE_FAIR_SLEEPERS" : "", tasks, text);
		}
	}
}

static void v8_fork(void **state)
{
#define V8_HEAD "0 wake P\n0 sched\n0 wake A\n1500000 fork C = minv=0 "
	(void)state;
	scene(1, "", "P A C", V8_HEAD "P=1500000 C=1999999 run=P");
	scene(1, "NO_START_DEBIT", "P A C", V8_HEAD "P=1500000 C=1500000 run=P");
	scene(1, "sched_child_runs_first=1", "P A C", V8_HEAD "P=1999999 C=1500000 run=P*");
	scene(8, "", "P A C", V8_HEAD "P=1500000 C=7999998 run=P");
	scene(8, "NO_START_DEBIT", "P A C", V8_HEAD "P=1500000 C=1500000 run=P");
	scene(8, "sched_child_runs_first=1", "P A C", V8_HEAD "P=7999998 C=1500000 run=P*");
	scene(1, "", "P:5 A C:5", V8_HEAD "P=4585074 C=4585074");
}

static void v8_fork_to_another_cpu(void **state)
{
	struct drv *d = scene_new(1, "", "P C"), *other = scene_new(1, "", "X=5000000000");
	struct rs_task *c = &drv_find(d, "C")->t;

	(void)state;
	queue(other)->min_vruntime = BASE + 5000000000ull;
	play(other, "0 wake X\n0 sched");
	play(d, "0 wake P\n0 sched");
	entity(c)->vruntime = entity(c)->exec_start = 0;
	d->rq.clock_ns = other->rq.clock_ns = BASE + 2000000;
	d->ops->fork(&d->rq, d->rq.curr, c);
	assert_int_equal(offset(queue(d)->min_vruntime), 2000000);
	c->rq = &other->rq;
	d->ops->enqueue(&other->rq, c, RS_ENQ_INITIAL);
	assert_int_equal(offset(entity(c)->vruntime), 5004999998);
	assert_int_equal(offset(queue(other)->min_vruntime), 5002000000);
	drv_free(d);
	drv_free(other);
}

static void v9_last_buddy(void **state)
{
#define V9_HEAD "0 wake H3\n0 sched\n0 wake H0\n0 wake H1\n0 wake H2\n0 wake H4\n0 wake H5\n"
#define V9_TASKS "H0 H1=100000 H2=200000 H3=300000 H4=400000 H5=500000 H6=600000 W=-100000000"
	(void)state;
	scene(1, "", V9_TASKS, V9_HEAD "0 wake H6\n400000 wake W = run=H3* hints=W/H3/-\n400000 sched = run=W\n"
	      "500000 block = run=H3 hints=-/-/- H3=700000 H0=0");
	scene(1, "", V9_TASKS, V9_HEAD "0 wake H6\n800000 wake W = run=H3* hints=W/H3/-\n800000 sched = run=W\n"
	      "900000 block = run=H0 hints=-/H3/- H3=1100000 H0=0");
	scene(1, "", V9_TASKS, V9_HEAD "400000 wake W = run=H3* hints=W/-/-\n400000 sched = run=W\n"
	      "500000 block = run=H0 hints=-/-/- H3=700000 H0=0");
}

static void v10_next_hint(void **state)
{
#define V10_HEAD "0 wake A\n0 sched\n10000000 wake X = run=A* hints=X/-/-\n10000000 wake Y = run=A* hints=X/-/-\n"
	(void)state;
	scene(1, "NO_GENTLE_FAIR_SLEEPERS", "A X=6000000 Y=5100000", V10_HEAD "10000000 sched = run=X hints=-/-/-");
	scene(1, "NO_GENTLE_FAIR_SLEEPERS", "A X=6000000 Y=4500000", V10_HEAD "10000000 sched = run=Y hints=X/-/-");
}

static void v11_yield(void **state)
{
	(void)state;
	scene(1, "", "A Z=600000", "0 wake A\n0 sched\n0 wake Z\n100000 yield = run=Z hints=-/-/A\n200000 yield = run=A hints=-/-/Z");
	scene(1, "", "A Z=1300000", "0 wake A\n0 sched\n0 wake Z\n100000 yield = run=A hints=-/-/A\n400000 sched = run=Z hints=-/-/A");
}

static void v12_tick_gap(void **state)
{
	(void)state;
	scene(1, "", "A=2000000 Z:batch=-500000",
	      "0 wake A\n0 sched\n500000 wake Z = run=A Z=-500000\n700000 tick = run=A\n1700000 tick = run=A*");
}

static void v13_policies(void **state)
{
#define V13_HEAD "0 wake A\n0 sched\n10000000 wake W = "
	(void)state;
	scene(1, "", "A W=-90000000", V13_HEAD "A=10000000 W=7000000 run=A* hints=W/-/-");
	scene(1, "", "A W:batch=-90000000", V13_HEAD "A=10000000 W=7000000 run=A hints=-/-/-");
	scene(1, "", "A:batch W=-90000000", V13_HEAD "A=10000000 W=7000000 run=A* hints=W/-/-");
	scene(1, "", "A W:idle=-90000000", V13_HEAD "A=10000000 W=9625000 run=A");
	scene(1, "", "A:idle W=-90000000", V13_HEAD "A=3413333332 W=3410333332 run=A*");
	scene(1, "", "A:idle W:batch=-90000000", V13_HEAD "A=3413333332 W=3410333332 run=A*");
	scene(1, "", "A:idle W:idle=-90000000", V13_HEAD "A=3413333332 W=3412958332 run=A");
}

/* ---- the other kernels, where the table of differences says so ---- */

#define EVERY "4.18 5.4 5.10 5.15 6.1"

/* 4.18 and 5.4: no floor, the "unclamped" column of v2. 5.10 and 5.15: the floor of SCHED_IDLE grows with the cpus as all others. */
static void other_kernels_slices(void **state)
{
	static const struct { const char *kernels; unsigned int cpus; struct slice_row row; } rows[] = {
		{ "4.18 5.4", 1, { { 0 }, { 8 }, 1, { 0 }, { 749998 }, { 0 }, { 0 } } },
		{ "5.10 5.15 6.1", 1, { { 0 }, { 8 }, 1, { 0 }, { 750000 }, { 0 }, { 0 } } },
		{ "4.18 5.4", 1, { { -5, 0, 5 }, { 1, 1, 1 }, 3, { 0 }, { 4179910, 1371428, 448660 }, { 0 }, { 0 } } },
		{ "5.10 5.15 6.1", 1, { { -5, 0, 5 }, { 1, 1, 1 }, 3, { 0 }, { 4179910, 1371428, 750000 }, { 0 }, { 0 } } },
		{ "4.18 5.4", 1, { { -20, 0 }, { 1, 19 }, 2, { 0 }, { 12303050, 141935 }, { 0 }, { 0 } } },
		{ "4.18 5.4", 1, { { 0, IDLE }, { 1, 1 }, 2, { 0 }, { 5982471, 17526 }, { 0 }, { 0 } } },
		{ "5.10 5.15", 8, { { 0, IDLE }, { 1, 1 }, 2, { 0 }, { 23929887, 3000000 }, { 0 }, { 0 } } },
		{ "6.1", 8, { { 0, IDLE }, { 1, 1 }, 2, { 0 }, { 23929887, 750000 }, { 0 }, { 0 } } },
		{ EVERY, 8, { { IDLE }, { 2 }, 1, { 0 }, { 11999999 }, { 0 }, { 0 } } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char list[64], *save = NULL;

		snprintf(list, sizeof(list), "%s", rows[i].kernels);
		for (char *kernel = strtok_r(list, " ", &save); kernel; kernel = strtok_r(NULL, " ", &save)) {
			struct rs_task *first[3];
			struct drv *d = scene_of(kernel, rows[i].cpus, "", "");

			slice_fill(d, &rows[i].row, first);
			for (int k = 0; k < rows[i].row.kinds; k++)
				assert_int_equal(slice_of(d, first[k]), rows[i].row.slice[k]);
			drv_free(d);
		}
	}
}

/* The credit of a SCHED_IDLE sleeper is half the latency before 6.1, that of all others the same everywhere. */
static void other_kernels_credit(void **state)
{
	(void)state;
	scene_on("4.18 5.4 5.10 5.15", 1, "A W:idle=-90000000", V13_HEAD "A=10000000 W=7000000 run=A");
	scene_on("6.1", 1, "A W:idle=-90000000", V13_HEAD "A=10000000 W=9625000 run=A");
	scene_on(EVERY, 1, "A W=-90000000", V13_HEAD "A=10000000 W=7000000 run=A* hints=W/-/-");
	scene_on(EVERY, 1, "P A C", V8_HEAD "P=1500000 C=1999999 run=P");
}

/* Dropped in the pick up to 5.10, so the hint to skip one that is picked again is gone, and no later pick follows it. */
static void other_kernels_hints(void **state)
{
	(void)state;
	scene_on("4.18 5.4 5.10", 1, "A Z=1300000",
		 "0 wake A\n0 sched\n0 wake Z\n100000 yield = run=A hints=-/-/-\n400000 sched = run=A hints=-/-/-");
	scene_on("5.15 6.1", 1, "A Z=1300000",
		 "0 wake A\n0 sched\n0 wake Z\n100000 yield = run=A hints=-/-/A\n400000 sched = run=Z hints=-/-/A");
}

/* A raised priority reschedules without a test in 5.4 alone: Z, 400000 right of A at nice 0, gains nothing by -1. */
static void other_kernels_nice(void **state)
{
	(void)state;
	scene_on("5.4", 1, "A Z=400000", "0 wake A\n0 sched\n0 wake Z\n100000 nice Z -1 = run=A*");
	scene_on("4.18 5.10 5.15 6.1", 1, "A Z=400000", "0 wake A\n0 sched\n0 wake Z\n100000 nice Z -1 = run=A");
}

static void v17_migration(void **state)
{
	static const struct { int64_t v; uint64_t at; bool ticks; int64_t want; bool preempts; } rows[] = {
		{ 700000, 1000000, true, 700000, false },
		{ -20000000, 10000000, true, 7000000, true },
		{ 700000, 10000000, false, 10700000, false },
	};

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct drv *from = scene_new(1, "", "A S"), *to = scene_new(1, "", "X=5000000000");
		struct rs_task *s = &drv_find(from, "S")->t;

		queue(to)->min_vruntime = BASE + 5000000000ull;
		play(from, "0 wake A\n0 sched");
		play(to, "0 wake X\n0 sched");
		entity(s)->vruntime = BASE + (uint64_t)rows[i].v;
		s->rq = &from->rq;
		from->rq.clock_ns = to->rq.clock_ns = BASE + rows[i].at;
		if (rows[i].ticks)
			from->ops->tick(&from->rq);
		to->ops->tick(&to->rq);
		from->ops->migrate(s, &to->rq);
		s->rq = &to->rq;
		to->rq.need_resched = false;
		to->ops->enqueue(&to->rq, s, RS_ENQ_WAKEUP | RS_ENQ_MIGRATED);
		to->ops->wakeup_preempt(&to->rq, s, RS_ENQ_WAKEUP);
		assert_int_equal(offset(entity(s)->vruntime) - 5000000000, rows[i].want);
		assert_int_equal(entity(s)->exec_start, 0);
		assert_int_equal(to->rq.need_resched, rows[i].preempts);
		drv_free(from);
		drv_free(to);
	}
}

static void v17_pulled_while_queued(void **state)
{
	struct drv *from = scene_new(1, "", "A R=1200000"), *to = scene_new(1, "", "X=5000000000");
	struct rs_task *r = &drv_find(from, "R")->t;

	(void)state;
	queue(to)->min_vruntime = BASE + 5000000000ull;
	play(from, "0 wake A\n0 sched\n0 wake R");
	play(to, "0 wake X\n0 sched");
	from->rq.clock_ns = to->rq.clock_ns = BASE + 3000000;
	from->ops->dequeue(&from->rq, r, RS_DEQ_MOVE);
	assert_int_equal(entity(r)->vruntime, 0);
	assert_int_equal(offset(queue(from)->min_vruntime), 3000000);
	r->rq = &to->rq;
	to->ops->enqueue(&to->rq, r, RS_ENQ_MIGRATED);
	assert_int_equal(offset(entity(r)->vruntime), 5003000000);
	drv_free(from);
	drv_free(to);
}

static void v18_nice(void **state)
{
	struct drv *d = scene_new(1, "", "A Z=400000");

	(void)state;
	play(d, "0 wake A\n0 sched\n0 wake Z\n1000000 nice A 5 = run=A* A=1000000 minv=400000");
	assert_int_equal(queue(d)->load, 1391616);
	assert_int_equal(queue(d)->curr->sum_exec - queue(d)->curr->prev_sum_exec, 0);
	play(d, "2000000 nice Z -5 = A=4056716 Z=400000");
	assert_int_equal(queue(d)->load, 3538944);
	play(d, "2500000 tick = A=5585074");
	drv_free(d);
}

static void v19_wrap(void **state)
{
	struct drv *d = drv_new("cfs", "6.1", "");
	struct rs_task *a = drv_task(d, "A", 0, RS_SCHED_NORMAL, 0), *z = drv_task(d, "Z", 0, RS_SCHED_NORMAL, 0);

	(void)state;
	assert_true(queue(d)->min_vruntime == 18446744073708503040ull);
	entity(a)->vruntime = entity(z)->vruntime = queue(d)->min_vruntime;
	d->rq.clock_ns = BASE;
	drv_wake(d, a);
	drv_schedule(d);
	d->rq.clock_ns = BASE + 600000;
	drv_wake(d, z);
	assert_true(queue(d)->min_vruntime == 18446744073709103040ull);
	assert_true(entity(a)->vruntime == 18446744073709103040ull);
	assert_true(entity(z)->vruntime == 18446744073708503040ull);
	d->rq.clock_ns = BASE + 1500000;
	d->ops->tick(&d->rq);
	assert_true(queue(d)->min_vruntime == 18446744073709103040ull);
	assert_int_equal(entity(a)->vruntime, 451424);
	assert_false(d->rq.need_resched);
	d->rq.clock_ns = BASE + 4000000;
	d->ops->tick(&d->rq);
	assert_int_equal(entity(a)->vruntime, 2951424);
	assert_true(d->rq.need_resched);
	drv_schedule(d);
	assert_ptr_equal(d->rq.curr, z);
	d->rq.clock_ns = BASE + 6000000;
	d->ops->tick(&d->rq);
	assert_int_equal(queue(d)->min_vruntime, 951424);
	assert_int_equal(entity(z)->vruntime, 951424);
	drv_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(v1_virtual_time), cmocka_unit_test(v2_slices), cmocka_unit_test(v3_wakeup_granularity),
		cmocka_unit_test(v4_hogs), cmocka_unit_test(v5_floor), cmocka_unit_test(v6_sleeper_credit),
		cmocka_unit_test(v7_light_wakees), cmocka_unit_test(v8_fork), cmocka_unit_test(v8_fork_to_another_cpu),
		cmocka_unit_test(v9_last_buddy), cmocka_unit_test(v10_next_hint), cmocka_unit_test(v11_yield),
		cmocka_unit_test(v12_tick_gap), cmocka_unit_test(v13_policies), cmocka_unit_test(v17_migration),
		cmocka_unit_test(v17_pulled_while_queued), cmocka_unit_test(v18_nice), cmocka_unit_test(other_kernels_slices),
		cmocka_unit_test(other_kernels_credit), cmocka_unit_test(other_kernels_hints), cmocka_unit_test(other_kernels_nice),
		cmocka_unit_test(v19_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
