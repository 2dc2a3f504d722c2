// SPDX-License-Identifier: GPL-2.0-only
/*
 * The worked example of the paper EEVDF is from (Stoica and Abdel-Wahab, 1995): two clients of weight 2, requests of 2 and 1, quantum 1; the
 * second joins at t = 1, ties go to it.
 *
 * Played on the rules of 6.12 with a pick at every quantum: one unit of time is a millisecond, and a client of weight 2 is a task of nice
 * 0, so the paper's virtual time 1 is 2 ms here. Lag needs no conversion: the share of each is half in both. The paper takes the start
 * of a request for eligibility and Linux the service it got, which here comes to the same picks.
 */
#include "vectors/scene.h"

#define HALF_VIRTUAL 1000000	/* 1/2 of the paper's virtual time */
#define HALF_LAG 500000		/* 1/2 of its lag */

struct paper_row {
	int v2;			/* V, in quarters */
	int ve[2], vd[2];	/* start and deadline of the request, in halves; -1: not there */
	bool eligible[2];
	int serves;
	int lag[2];		/* in halves */
};

static const struct paper_row rows[] = {
	{ 0, { 0, -1 }, { 2, -1 }, { true, false }, 0, { 0, 0 } },
	{ 2, { 0, 1 }, { 2, 2 }, { true, true }, 1, { 0, 0 } },
	{ 3, { 0, 2 }, { 2, 3 }, { true, false }, 0, { 1, -1 } },
	{ 4, { 2, 2 }, { 4, 3 }, { true, true }, 1, { 0, 0 } },
	{ 5, { 2, 3 }, { 4, 4 }, { true, false }, 0, { 1, -1 } },
	{ 6, { 2, 3 }, { 4, 4 }, { true, true }, 1, { 0, 0 } },
	{ 7, { 2, 4 }, { 4, 5 }, { true, false }, 0, { 1, -1 } },
	{ 8, { 4, 4 }, { 6, 5 }, { true, true }, 1, { 0, 0 } },
};
#define NR_ROWS ((int)(sizeof(rows) / sizeof(rows[0])))

/*
 * The paper's own bookkeeping, in units of 1/4: virtual time by shares, lag as ideal service less the service had. It says what the table
 * says, and whom the policy serves next.
 */
struct ideal { int v4, served4[2], due4[2], ve4[2], used4[2]; };

static const int request4[2] = { 8, 4 };	/* 2 and 1; over weight 2 half of that in virtual time */

static int ideal_pick(const struct ideal *s, bool both)
{
	bool eligible[2] = { s->ve4[0] <= s->v4, both && s->ve4[1] <= s->v4 };
	int vd[2] = { s->ve4[0] + request4[0] / 2, s->ve4[1] + request4[1] / 2 };

	if (!eligible[0] || !eligible[1])
		return eligible[1];
	return vd[1] <= vd[0];
}

static void ideal_serve(struct ideal *s, int who, bool both)
{
	s->served4[who] += 4;
	s->used4[who] += 4;
	for (int i = 0; i < 1 + both; i++)
		s->due4[i] += both ? 2 : 4;
	s->v4 += both ? 1 : 2;
	if (s->used4[who] == request4[who]) {
		s->ve4[who] += request4[who] / 2;
		s->used4[who] = 0;
	}
}

static void the_paper_agrees_with_itself(void **state)
{
	struct ideal s = { .v4 = 0 };

	(void)state;
	for (int t = 0; t < NR_ROWS; t++) {
		bool both = t > 0;

		if (t == 1)
			s.ve4[1] = s.v4;
		assert_int_equal(s.v4, rows[t].v2);
		for (int i = 0; i < 1 + both; i++) {
			assert_int_equal(s.ve4[i], 2 * rows[t].ve[i]);
			assert_int_equal(s.ve4[i] + request4[i] / 2, 2 * rows[t].vd[i]);
			assert_int_equal(s.due4[i] - s.served4[i], 2 * rows[t].lag[i]);
		}
		assert_int_equal(ideal_pick(&s, both), rows[t].serves);
		ideal_serve(&s, rows[t].serves, both);
	}
}

static void check_row(struct drv *d, const struct paper_row *row, const char *kernel, int t)
{
	struct rs_rq_view rv;

	d->ops->view_rq(&d->rq, &rv);
	assert_int_equal(rv.avg_vruntime, row->v2 * HALF_VIRTUAL / 2);
	for (int i = 0; i < 2; i++) {
		struct rs_entity_view v;

		if (row->ve[i] < 0)
			continue;
		d->ops->view_task(&d->rq, &d->tasks[i].t, &v);
		assert_int_equal(v.deadline, row->vd[i] * HALF_VIRTUAL);
		assert_int_equal(v.deadline - v.slice_ns, row->ve[i] * HALF_VIRTUAL);
		assert_int_equal(v.lag_ns, row->lag[i] * HALF_LAG);
		assert_int_equal(v.eligible, row->eligible[i]);
	}
	if (d->rq.curr != &d->tasks[row->serves].t)
		fail_msg("%s at %d: serves %s", kernel, t, drv_name(d, d->rq.curr));
}

static void the_kernel_gives_the_same_schedule(void **state)
{
	static const char *const kernels[] = { "6.12", "6.18" };

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct drv *d = scene_new("eevdf", kernels[k], "base_slice_ns=2ms hz=1000 NO_RUN_TO_PARITY", "one two:slice=1000000");

		d->model->normalized_base_ns = 1;	/* without parity 6.18 protects for this long */
		for (int t = 0; t < NR_ROWS; t++) {
			d->rq.clock_ns = (uint64_t)t * MS;
			if (t < 2)
				drv_wake(d, &d->tasks[t].t);
			else
				d->ops->tick(&d->rq);
			drv_schedule(d);	/* the end of a quantum */
			check_row(d, &rows[t], kernels[k], t);
		}
		drv_free(d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_paper_agrees_with_itself), cmocka_unit_test(the_kernel_gives_the_same_schedule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
