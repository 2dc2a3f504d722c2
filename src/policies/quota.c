// SPDX-License-Identifier: GPL-2.0-only
#include "policies/quota.h"

#include "policies/model.h"

#define SLICE_NS	5000000u	/* sysctl_sched_cfs_bandwidth_slice */
#define KEEP_NS		1000000		/* min_cfs_rq_runtime */
#define SLACK_NS	5000000u	/* cfs_bandwidth_slack_period */
#define MIN_LEFT_NS	2000000u	/* min_bandwidth_expiration */
#define NEVER		UINT64_MAX

static void ask_for_timer(struct rs_group *g)
{
	uint64_t at = g->quota.active ? g->quota.period_end_ns : NEVER;

	if (g->quota.slack_end_ns && g->quota.slack_end_ns < at)
		at = g->quota.slack_end_ns;
	if (g->set_timer)
		g->set_timer(g, at);
}

/* start_cfs_bandwidth() */
static void start_period(struct rs_group *g, uint64_t now)
{
	if (g->quota.active)
		return;
	g->quota.active = true;
	g->quota.period_end_ns = now + g->period_ns - (now + g->period_ns - g->phase_ns) % g->period_ns;
	ask_for_timer(g);
}

/* __assign_cfs_rq_runtime(): fill the queue up to @target. Return: whether it may run. */
static bool grant(struct rs_level *level, int64_t target)
{
	struct rs_group *g = level->group;
	uint64_t amount = 0;

	if (!g->quota.filled) {		/* the pool is full when the quota is set */
		g->quota.filled = true;
		g->quota.runtime_ns = g->quota_ns;
	}
	start_period(g, level->rq->clock_ns);
	if (g->quota.runtime_ns) {
		amount = (uint64_t)(target - level->quota_left_ns);
		if (amount > g->quota.runtime_ns)
			amount = g->quota.runtime_ns;
		g->quota.runtime_ns -= amount;
		g->quota.idle = false;
	}
	level->quota_left_ns += (int64_t)amount;
	return level->quota_left_ns > 0;
}

bool rs_quota_charge(struct rs_level *level, uint64_t delta)
{
	level->quota_left_ns -= (int64_t)delta;
	if (level->quota_left_ns > 0 || level->throttled)
		return false;
	return !grant(level, SLICE_NS);
}

bool rs_quota_exhausted(struct rs_level *level)
{
	struct rs_group *g = level->group;

	if (!level->rq->model->rules->throttles_at_once && grant(level, 1))
		return false;
	level->next_throttled = NULL;
	if (g->quota.last)
		g->quota.last->next_throttled = level;
	else
		g->quota.first = level;
	g->quota.last = level;
	return true;
}

/* start_cfs_slack_bandwidth() */
static void start_slack(struct rs_group *g, uint64_t now)
{
	if (g->quota.slack_end_ns || (g->quota.active && g->quota.period_end_ns < now + SLACK_NS + MIN_LEFT_NS))
		return;
	g->quota.slack_end_ns = now + SLACK_NS;
	ask_for_timer(g);
}

void rs_quota_return(struct rs_level *level)
{
	struct rs_group *g = level->group;
	int64_t surplus = level->quota_left_ns - KEEP_NS;

	if (surplus <= 0)
		return;
	g->quota.runtime_ns += (uint64_t)surplus;
	level->quota_left_ns -= surplus;
	if (g->quota.runtime_ns > SLICE_NS && g->quota.first)
		start_slack(g, level->rq->clock_ns);
}

/* distribute_cfs_runtime(): to those in line, just enough to run each, in order. */
static void distribute(struct rs_group *g, void (*unthrottle)(struct rs_level *level))
{
	while (g->quota.first && g->quota.runtime_ns) {
		struct rs_level *level = g->quota.first;
		uint64_t amount = (uint64_t)(1 - level->quota_left_ns);

		if (amount > g->quota.runtime_ns)
			amount = g->quota.runtime_ns;
		g->quota.runtime_ns -= amount;
		level->quota_left_ns += (int64_t)amount;
		if (level->quota_left_ns <= 0)
			break;		/* the pool is empty */
		g->quota.first = level->next_throttled;
		if (!g->quota.first)
			g->quota.last = NULL;
		unthrottle(level);
	}
}

/* do_sched_cfs_period_timer() */
static void period_ends(struct rs_group *g, void (*unthrottle)(struct rs_level *level))
{
	uint64_t most = g->quota_ns + g->burst_ns;

	g->quota.period_end_ns += g->period_ns;
	g->quota.runtime_ns += g->quota_ns;
	if (g->quota.runtime_ns > most)
		g->quota.runtime_ns = most;
	if (g->quota.first) {
		distribute(g, unthrottle);
		g->quota.idle = false;
	} else if (g->quota.idle) {
		g->quota.active = false;
	} else {
		g->quota.idle = true;
	}
}

/* do_sched_cfs_slack_timer() */
static void slack_ends(struct rs_group *g, uint64_t now, void (*unthrottle)(struct rs_level *level))
{
	g->quota.slack_end_ns = 0;
	if (g->quota.active && g->quota.period_end_ns < now + MIN_LEFT_NS)
		return;
	if (g->quota.runtime_ns > SLICE_NS)
		distribute(g, unthrottle);
}

void rs_quota_timer(struct rs_group *g, uint64_t now_ns, void (*unthrottle)(struct rs_level *level))
{
	if (g->quota.slack_end_ns && now_ns >= g->quota.slack_end_ns)
		slack_ends(g, now_ns, unthrottle);
	while (g->quota.active && now_ns >= g->quota.period_end_ns)
		period_ends(g, unthrottle);
	ask_for_timer(g);
}

void rs_quota_renew(struct rs_level *level)
{
	level->limited = level->group->quota_ns && level->group->period_ns;
}

bool rs_quota_lift(struct rs_level *level)
{
	struct rs_level **at = &level->group->quota.first, *before = NULL;

	if (!level->throttled)
		return false;
	for (; *at && *at != level; at = &(*at)->next_throttled)
		before = *at;
	if (*at)
		*at = level->next_throttled;
	if (level->group->quota.last == level)
		level->group->quota.last = before;
	level->quota_left_ns = 1;
	return true;
}

bool rs_level_blocked(const struct rs_level *level)
{
	for (; level->owner; level = level->owner->queue) {
		if (level->throttled)
			return true;
	}
	return false;
}
