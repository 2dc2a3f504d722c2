// SPDX-License-Identifier: GPL-2.0-only
/*
 * A task that slept when the recording began has a lag nobody recorded; one wrong lag moves the mean of its queue and with it every later
 * decision. There are few such tasks and many decisions, so their lags can be found: those with which the model agrees most.
 */
#include "replay/shadow.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_WORK 20000000u /* events followed in all */
#define ROUNDS 2
#define FINE_ROUNDS 6

/* Steps of the search, in millionths of the largest lag a kernel stores. */
static const int32_t steps_ppm[] = { 0, 5000, 12500, 25000, 50000, 90000, 125000,
				     175000, 250000, 350000, 500000, 700000, 1000000 };
#define NR_STEPS (sizeof(steps_ppm) / sizeof(steps_ppm[0]))

struct fit {
	const struct rs_shadow_log *log;
	struct rs_shadow_options *opts;
	struct resched_shadow *result;
	uint64_t work, best, most; /* events followed; decisions agreed on: so far, and at most */
	int64_t limits[RS_MAX_LAGS];
};

static uint64_t agreed(const struct resched_shadow *r)
{
	return r->pick_agree + r->preempt_agree + r->tick_agree;
}

static int score(struct fit *f, uint64_t *ret)
{
	struct rs_shadow_options one = *f->opts;
	int rc;

	one.resync = false;
	rc = rs_shadow_run(f->log, &one, f->result);
	f->work += f->log->nr;
	f->most = f->result->contested + f->result->preempt_decisions + f->result->tick_decisions;
	*ret = agreed(f->result);
	return rc;
}

/* The tasks to look at, and the largest lag each may have. */
static int find_tasks(struct fit *f)
{
	struct rs_shadow *s = NULL;
	uint64_t tick = f->opts->clock.tick_ns;

	if (rs_shadow_new(f->log, f->opts, f->result, &s) < 0 || rs_shadow_follow(s) < 0) {
		rs_shadow_free(s);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < s->nr_tasks && f->opts->nr_lags < RS_MAX_LAGS; i++) {
		const struct rs_shadow_task *t = s->tasks[i];
		struct rs_entity_view v;
		uint64_t slice;

		if (t->born_here || !t->ready || !t->fair.rq)
			continue;
		s->opts.ops->view_task(t->fair.rq, &t->fair, &v);
		if (!v.deadline)
			continue;
		slice = 2 * v.slice_ns > tick ? 2 * v.slice_ns : tick;
		f->limits[f->opts->nr_lags] = (int64_t)(slice * 1024 / (v.weight ? v.weight : 1));
		f->opts->lags[f->opts->nr_lags++] = (struct rs_shadow_lag){ t->pid, 0 };
	}
	rs_shadow_free(s);
	return 0;
}

static int fit_one(struct fit *f, unsigned int idx)
{
	struct rs_shadow_lag *lag = &f->opts->lags[idx];
	/* who is not eligible when it blocks is delayed until it is, so none that sleeps owes: unless one of the two is off */
	bool both_signs = !rs_model_feature(f->opts->model, "DELAY_DEQUEUE") ||
			  !rs_model_feature(f->opts->model, "ENFORCE_ELIGIBILITY");
	int64_t chosen = lag->vlag;

	for (unsigned int i = 0;
	     i < NR_STEPS * (both_signs ? 2 : 1) && f->work < MAX_WORK && f->best < f->most; i++) {
		int64_t vlag = f->limits[idx] / 1000 * steps_ppm[i % NR_STEPS] / 1000 *
			       (i < NR_STEPS ? 1 : -1);
		uint64_t now;
		int rc;

		if (vlag == chosen)
			continue;
		lag->vlag = vlag;
		rc = score(f, &now);
		if (rc < 0)
			return rc;
		if (now > f->best) {
			f->best = now;
			chosen = vlag;
		}
	}
	lag->vlag = chosen;
	return 0;
}

/* Around what was found: each distance both ways, the large ones first. */
static int refine_one(struct fit *f, unsigned int idx)
{
	struct rs_shadow_lag *lag = &f->opts->lags[idx];
	int64_t step = f->limits[idx] / 6;

	for (; step > f->limits[idx] / 1500 && f->work < MAX_WORK && f->best < f->most;
	     step = step * 2 / 3) {
		for (int sign = -1; sign <= 1; sign += 2) {
			int64_t chosen = lag->vlag;
			uint64_t now;
			int rc;

			lag->vlag += sign * step;
			if (lag->vlag > f->limits[idx] || lag->vlag < -f->limits[idx]) {
				lag->vlag = chosen;
				continue;
			}
			rc = score(f, &now);
			if (rc < 0)
				return rc;
			if (now > f->best)
				f->best = now;
			else
				lag->vlag = chosen;
		}
	}
	return 0;
}

int rs_shadow_fit(const struct rs_shadow_log *log, struct rs_shadow_options *opts)
{
	struct fit f = { .log = log, .opts = opts, .result = malloc(sizeof(*f.result)) };
	int rc = f.result ? score(&f, &f.best) : -ENOMEM;

	if (rc == 0 && f.best < f.most && opts->ops->adjust)
		rc = find_tasks(&f);
	for (unsigned int round = 0; rc == 0 && round < ROUNDS; round++) {
		uint64_t before = f.best;

		for (unsigned int i = 0; rc == 0 && i < opts->nr_lags; i++)
			rc = fit_one(&f, i);
		if (f.best == before)
			break;
	}
	for (unsigned int round = 0; rc == 0 && round < FINE_ROUNDS; round++) {
		uint64_t before = f.best;

		for (unsigned int i = 0; rc == 0 && i < opts->nr_lags; i++)
			rc = refine_one(&f, i);
		if (f.best == before)
			break;
	}
	if (rc == 0 && opts->clock.mode == RESCHED_SHADOW_ACCOUNTING && f.best < f.most) {
		rc = rs_shadow_run(log, opts, f.result);
		opts->resync = agreed(f.result) >
			       f.best; /* exact clocks: what helps less than it disturbs is left out */
	}
	free(f.result);
	return rc;
}
