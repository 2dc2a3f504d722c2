// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups with a cpu limit (cpu.max): run time is charged with every accounting the follower makes, so a group runs dry where the kernel's
 * did. What is not recorded is the timer that refills it. Its period is known; where it begins is not, on kernels that start it at random:
 * it is that with which the model agrees most.
 * Kernel: sched_cfs_period_timer(), init_cfs_bandwidth().
 */
#include "replay/shadow.h"

#include <errno.h>
#include <stdlib.h>

#define NEVER UINT64_MAX
#define STEP_NS 1000000u
#define FINEST_NS 8000u /* the timer's own path is about as long */
#define MAX_PASSES 128u
#define MAX_WORK 20000000u /* events followed in all */

static void set_timer(struct rs_group *group, uint64_t at_ns)
{
	struct rs_shadow *s = group->timer_ctx;

	s->timers[group - s->groups.groups] = at_ns;
}

int rs_shadow_quota_begin(struct rs_shadow *s)
{
	struct rs_groups *groups = &s->groups;
	bool any = false;

	if (!groups->nr || !s->opts.ops->limit_group)
		return 0;
	s->timers = malloc(groups->nr * sizeof(*s->timers));
	if (!s->timers)
		return -ENOMEM;
	rs_groups_limit(groups, s->opts.groups, set_timer, s);
	for (uint32_t i = 0; i < groups->nr; i++) {
		struct rs_group *g = &groups->groups[i];

		s->timers[i] = NEVER;
		if (!g->quota_ns)
			continue;
		any = true;
		g->phase_ns = s->opts.phases ? s->opts.phases[i] : 0;
		for (unsigned int cpu = 0; cpu < s->nr_cpus; cpu++)
			s->opts.ops->limit_group(&s->cpus[cpu].rq, g, false);
	}
	if (!any) {
		free(s->timers);
		s->timers = NULL;
	}
	return 0;
}

static void ring(struct rs_shadow *s, struct rs_group *g, uint64_t at_ns)
{
	for (unsigned int i = 0; i < s->nr_cpus; i++) {
		struct rs_shadow_cpu *c = &s->cpus[i];

		if (!c->curr) {
			rs_shadow_idle_clock(c, at_ns);
		} else if (rs_shadow_by_stamps(s)) {
			rs_shadow_ticks(s, c, at_ns - 1, at_ns);
			rs_shadow_look(s, c, at_ns + s->opts.clock.wake_lag_ns);
		} else {
			rs_shadow_wake_clock(s, c, at_ns);
		}
	}
	s->timers[g - s->groups.groups] = NEVER;
	s->opts.ops->group_timer(g, at_ns);
	for (unsigned int i = 0; i < s->nr_cpus; i++)
		rs_shadow_mark(&s->cpus[i], RS_MARK_OTHER, at_ns);
}

void rs_shadow_quota_timers(struct rs_shadow *s, uint64_t until_ns)
{
	while (s->timers) {
		uint32_t first = 0;

		for (uint32_t i = 1; i < s->groups.nr; i++) {
			if (s->timers[i] < s->timers[first])
				first = i;
		}
		if (s->timers[first] >= until_ns)
			return;
		ring(s, &s->groups.groups[first], s->timers[first]);
	}
}

bool rs_shadow_quota_lift(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_shadow_task *t)
{
	bool lifted = false;

	for (struct rs_group *g = s->timers ? t->fair.group : NULL; g; g = g->parent) {
		if (g->quota_ns && s->opts.ops->limit_group(&c->rq, g, true))
			lifted = true;
	}
	return lifted;
}

unsigned int rs_shadow_runnable(const struct rs_shadow *s, const struct rs_shadow_cpu *c)
{
	unsigned int nr = c->rq.nr_queued;
	struct rs_rq_view view;

	if (s->timers) {
		s->opts.ops->view_rq(&c->rq, &view);
		nr = view.nr;
	}
	return nr > c->rq.nr_delayed ? nr - c->rq.nr_delayed : 0;
}

struct fit {
	const struct rs_shadow_log *log;
	const struct rs_shadow_options *opts;
	struct resched_shadow *result;
	uint64_t *phase, period_ns, best; /* best: decisions agreed on */
};

static int score(struct fit *f, uint64_t *ret)
{
	struct rs_shadow_options one = *f->opts;
	int rc;

	one.resync = false;
	rc = rs_shadow_run(f->log, &one, f->result);
	*ret = f->result->pick_agree + f->result->preempt_agree + f->result->tick_agree;
	return rc;
}

/* One value more: of equals the first stays. */
static int try_phase(struct fit *f, uint64_t phase)
{
	uint64_t agreed, before = *f->phase;
	int rc;

	*f->phase = phase % f->period_ns;
	rc = score(f, &agreed);
	if (rc == 0 && agreed > f->best)
		f->best = agreed;
	else
		*f->phase = before;
	return rc;
}

/* All around the period, beginning with the present value; then nearer and nearer to the best. */
static int fit_phase(struct fit *f, unsigned int nr)
{
	uint64_t start = *f->phase, step = f->period_ns / nr, middle;
	int rc = 0;

	f->best = 0;
	for (unsigned int i = 0; i < nr && rc == 0; i++)
		rc = try_phase(f, start + i * step);
	for (step /= 2; step >= FINEST_NS && rc == 0; step /= 2) {
		middle = *f->phase;
		rc = try_phase(f, middle + step);
		if (rc == 0)
			rc = try_phase(f, middle + f->period_ns - step);
	}
	return rc;
}

int rs_shadow_find_quota_phases(const struct rs_shadow_log *log, struct rs_shadow_options *opts)
{
	const struct rs_group_plan *plan = opts->groups;
	struct fit f = { .log = log, .opts = opts };
	uint64_t room = log->nr ? MAX_WORK / log->nr : 0;
	uint32_t limited = 0;
	int rc = 0;

	for (uint32_t i = 0; plan && opts->phases && i < plan->nr; i++)
		limited += plan->specs[i].quota_us != 0;
	if (!limited)
		return 0;
	f.result = malloc(sizeof(*f.result));
	if (!f.result)
		return -ENOMEM;
	for (uint32_t i = 0; i < plan->nr && rc == 0; i++) {
		uint64_t nr = plan->specs[i].period_us * 1000 / STEP_NS;

		if (!plan->specs[i].quota_us)
			continue;
		nr = nr < MAX_PASSES ? nr : MAX_PASSES;
		nr = nr < room / limited ? nr : room / limited;
		f.phase = &opts->phases[i];
		f.period_ns = plan->specs[i].period_us * 1000;
		if (nr > 1)
			rc = fit_phase(&f, (unsigned int)nr);
	}
	free(f.result);
	return rc;
}
