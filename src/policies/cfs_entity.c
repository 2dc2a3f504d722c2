// SPDX-License-Identifier: GPL-2.0-only
#include "policies/cfs.h"

#include "policies/quota.h"

#define LONG_SLEEP_NS	((UINT64_C(1) << 63) / 1024)	/* entity_is_long_sleeper(): the signed comparison would invert past it */

void rs_cfs_queue_init(struct rs_cfs_queue *q, const struct rs_model *model)
{
	q->model = model;
	q->min_vruntime = (uint64_t)-(INT64_C(1) << 20);	/* init_cfs_rq() */
	q->why = "nothing was picked yet";
}

struct rs_cfs_entity *rs_cfs_first(const struct rs_cfs_queue *q)
{
	return q->tree.first ? rs_tree_entry(q->tree.first, struct rs_cfs_entity, node) : NULL;
}

struct rs_cfs_entity *rs_cfs_next(const struct rs_cfs_entity *e)
{
	struct rs_tree_node *next = rs_tree_next(&e->node);

	return next ? rs_tree_entry(next, struct rs_cfs_entity, node) : NULL;
}

/* weight * (vruntime - min_vruntime), unsigned so that it may wrap */
static uint64_t weighted(const struct rs_cfs_queue *q, const struct rs_cfs_entity *e)
{
	return (e->vruntime - q->min_vruntime) * rs_load_down(e->load.weight);
}

void rs_cfs_link(struct rs_cfs_queue *q, struct rs_cfs_entity *e)
{
	e->node.key = e->vruntime;
	rs_tree_insert(&q->tree, &e->node);
	q->avg_sum += weighted(q, e);
	q->avg_load += rs_load_down(e->load.weight);
}

void rs_cfs_unlink(struct rs_cfs_queue *q, struct rs_cfs_entity *e)
{
	rs_tree_erase(&q->tree, &e->node);
	q->avg_sum -= weighted(q, e);
	q->avg_load -= rs_load_down(e->load.weight);
}

/* V as the stages have it, rounded towards zero (avg_vruntime()). */
static uint64_t avg_vruntime(const struct rs_cfs_queue *q)
{
	const struct rs_cfs_entity *c = q->curr && q->curr->on ? q->curr : NULL;
	int64_t sum = (int64_t)(q->avg_sum + (c ? weighted(q, c) : 0));
	int64_t load = (int64_t)(q->avg_load + (c ? rs_load_down(c->load.weight) : 0));

	return q->min_vruntime + (load ? (uint64_t)(sum / load) : 0);
}

/* ---- hints ---- */

void rs_cfs_hint_next(struct rs_cfs_entity *e)
{
	for (; e && e->on && !e->idle; e = rs_cfs_parent(e))
		rs_cfs_queue_of(e)->next = e;
}

void rs_cfs_hint_last(struct rs_cfs_entity *e)
{
	for (; e && e->on && !e->idle; e = rs_cfs_parent(e))
		rs_cfs_queue_of(e)->last = e;
}

void rs_cfs_hint_skip(struct rs_cfs_entity *e)
{
	for (; e; e = rs_cfs_parent(e))
		rs_cfs_queue_of(e)->skip = e;
}

void rs_cfs_drop_hints(struct rs_cfs_entity *e)
{
	for (struct rs_cfs_entity *up = e; up && rs_cfs_queue_of(up)->next == up; up = rs_cfs_parent(up))
		rs_cfs_queue_of(up)->next = NULL;
	for (struct rs_cfs_entity *up = e; up && rs_cfs_queue_of(up)->last == up; up = rs_cfs_parent(up))
		rs_cfs_queue_of(up)->last = NULL;
	for (struct rs_cfs_entity *up = e; up && rs_cfs_queue_of(up)->skip == up; up = rs_cfs_parent(up))
		rs_cfs_queue_of(up)->skip = NULL;
}

/* ---- load averages: nothing at all unless the queue is a group's and there are several cpus ---- */

void rs_cfs_update_load(struct rs_cfs_queue *q, struct rs_cfs_entity *e, unsigned int flags)
{
	const struct rs_cfs_queue *own = rs_cfs_own(e);
	struct rs_load_state state;

	if (!q->h.tracked)
		return;
	state = (struct rs_load_state){
		.weight = rs_load_down(e->load.weight), .on = e->on, .running = q->curr == e,
		.queue_weight = rs_load_down(q->load), .queue_runs = q->curr != NULL,
		.own_weight = own ? rs_load_down(own->load) : 0,
	};
	rs_load_update(&e->h, &state, flags);
}

/* update_cfs_group() */
static void refresh_weight(struct rs_cfs_entity *e)
{
	const struct rs_cfs_queue *own = rs_cfs_own(e);
	uint64_t weight;

	if (own && !(own->h.group->quota_ns && rs_level_blocked(&own->h)) &&
	    rs_group_reweighs(&own->h, own->load, e->load.weight, &weight))
		rs_cfs_reweight(e, (struct rs_load){ .weight = weight, .inv = 0 });
}

void rs_cfs_follow_load(struct rs_cfs_queue *q, struct rs_cfs_entity *e)
{
	rs_cfs_update_load(q, e, RS_LOAD_UPDATE_TG);
	refresh_weight(e);
}

void rs_cfs_reweight(struct rs_cfs_entity *e, struct rs_load load)
{
	struct rs_cfs_queue *q = rs_cfs_queue_of(e);
	uint64_t old = e->load.weight;
	bool linked = e->on && q->curr != e;

	if (e->on) {
		if (q->curr == e)
			rs_cfs_account(q);
		q->load += load.weight - old;
	}
	if (linked) {
		q->avg_sum -= weighted(q, e);
		q->avg_load -= rs_load_down(old);
	}
	e->load = load;
	if (linked) {
		q->avg_sum += weighted(q, e);
		q->avg_load += rs_load_down(load.weight);
	}
	rs_load_reweight(&e->h, rs_load_down(old), rs_load_down(load.weight));
}

/* ---- accounting and slices ---- */

/* update_min_vruntime(): never goes back */
static void update_min_vruntime(struct rs_cfs_queue *q)
{
	const struct rs_cfs_entity *c = q->curr && q->curr->on ? q->curr : NULL, *first = rs_cfs_first(q);
	uint64_t least = c ? c->vruntime : q->min_vruntime;

	if (first && (!c || rs_cfs_before(first, c)))
		least = first->vruntime;
	if (rs_vtime_before(q->min_vruntime, least)) {
		q->avg_sum -= (least - q->min_vruntime) * q->avg_load;
		q->min_vruntime = least;
	}
}

void rs_cfs_account(struct rs_cfs_queue *q)
{
	struct rs_cfs_entity *c = q->curr;
	uint64_t now = q->h.rq->clock_ns;
	int64_t delta;

	if (!c)
		return;
	delta = (int64_t)(now - c->exec_start);
	if (delta <= 0)
		return;
	c->exec_start = now;
	c->sum_exec += (uint64_t)delta;
	c->vruntime += rs_calc_delta_fair((uint64_t)delta, &c->load);
	update_min_vruntime(q);
	if (q->h.limited && rs_quota_charge(&q->h, (uint64_t)delta))
		q->h.rq->need_resched = true;
}

uint64_t rs_cfs_slice(const struct rs_cfs_entity *e)
{
	const struct rs_cfs_queue *q = rs_cfs_queue_of(e);
	const struct rs_model *m = q->model;
	uint64_t least = m->tunable[RS_T_min_granularity_ns], slice = m->tunable[RS_T_latency_ns];
	const struct rs_cfs_queue *root = q->h.rq->priv;
	uint64_t nr = (rs_feat(m, RS_F_ALT_PERIOD) ? root->h.h_nr : q->nr) + (e->on ? 0u : 1u);

	if (nr > m->nr_latency)
		slice = nr * least;
	for (const struct rs_cfs_entity *up = e; up; up = rs_cfs_parent(up)) {
		struct rs_load load = { .weight = rs_cfs_queue_of(up)->load + (up->on ? 0 : up->load.weight), .inv = 0 };

		slice = rs_calc_delta(slice, up->load.weight, &load);
	}
	if (!rs_feat(m, RS_F_BASE_SLICE))
		return slice;
	if (m->rules->idle_min_granularity && e->idle && !(q->nr && q->nr == q->nr_idle))
		least = m->tunable[RS_T_idle_min_granularity_ns];
	return slice > least ? slice : least;
}

/* ---- placing, joining, leaving ---- */

static bool long_sleeper(const struct rs_cfs_queue *q, const struct rs_cfs_entity *e)
{
	uint64_t now = q->h.rq->clock_ns;

	return q->model->rules->long_sleeper && e->exec_start && now > e->exec_start && now - e->exec_start > LONG_SLEEP_NS;
}

/* What a sleeper is placed ahead by. */
static uint64_t sleeper_credit(const struct rs_cfs_queue *q, const struct rs_cfs_entity *e)
{
	const struct rs_model *m = q->model;
	uint64_t credit = m->tunable[m->rules->idle_min_granularity && e->idle ? RS_T_min_granularity_ns : RS_T_latency_ns];

	return rs_feat(m, RS_F_GENTLE_FAIR_SLEEPERS) ? credit >> 1 : credit;
}

/*
 * The lag a sleeper joins with in the stage that placed by lag first. The weights of the tree are plain, the others scaled up, so it
 * comes out far larger than it was.
 */
static uint64_t stored_lag(const struct rs_cfs_queue *q, const struct rs_cfs_entity *e)
{
	const struct rs_cfs_entity *c = q->curr && q->curr->on ? q->curr : NULL;
	uint64_t load = q->avg_load + (c ? c->load.weight : 0);

	if (!rs_feat(q->model, RS_F_PLACE_LAG) || q->nr < 2)
		return 0;
	return (uint64_t)(rs_mul_wrap(e->vlag, load + e->load.weight) / (int64_t)(load ? load : 1));
}

void rs_cfs_place(const struct rs_cfs_queue *q, struct rs_cfs_entity *e, bool initial)
{
	const struct rs_model *m = q->model;
	uint64_t vruntime = m->rules->places_at_avg ? avg_vruntime(q) : q->min_vruntime;

	if (m->rules->places_by_lag) {
		vruntime -= stored_lag(q, e);
		if (!rs_feat(m, RS_F_FAIR_SLEEPERS)) {
			e->vruntime = vruntime;
			return;
		}
	}
	if (!initial)
		vruntime -= sleeper_credit(q, e);
	else if (rs_feat(m, RS_F_START_DEBIT))
		vruntime += rs_calc_delta_fair(rs_cfs_slice(e), &e->load);
	if (long_sleeper(q, e) || rs_vtime_before(e->vruntime, vruntime))
		e->vruntime = vruntime;
}

void rs_cfs_enqueue_entity(struct rs_cfs_queue *q, struct rs_cfs_entity *e, unsigned int flags)
{
	bool relative = !(flags & RS_ENQ_WAKEUP) || (flags & RS_ENQ_MIGRATED);
	bool curr = q->curr == e;

	if (relative && curr)
		e->vruntime += q->min_vruntime;
	rs_cfs_account(q);
	if (relative && !curr)
		e->vruntime += q->min_vruntime;	/* after the accounting: the floor is up to date */
	rs_cfs_update_load(q, e, RS_LOAD_UPDATE_TG | RS_LOAD_ATTACH);
	refresh_weight(e);
	q->load += e->load.weight;
	q->nr++;
	q->nr_idle += e->idle;
	if (flags & RS_ENQ_WAKEUP)
		rs_cfs_place(q, e, false);
	if ((flags & RS_ENQ_MIGRATED) && !q->model->rules->stamp_cleared_on_leave)
		e->exec_start = 0;
	if (!curr)
		rs_cfs_link(q, e);
	e->on = true;
	/* check_enqueue_throttle(): a queue that wakes with its quota used up must not run until a tick notices */
	if (q->h.limited && q->nr == 1 && !q->curr && !q->h.throttled) {
		rs_quota_charge(&q->h, 0);
		rs_cfs_check_quota(q);
	}
}

void rs_cfs_dequeue_entity(struct rs_cfs_queue *q, struct rs_cfs_entity *e, unsigned int flags)
{
	bool moves_cpu = e->task && (flags & (RS_DEQ_SAVE | RS_DEQ_MOVE)) == RS_DEQ_MOVE;

	rs_cfs_account(q);
	rs_cfs_update_load(q, e, RS_LOAD_UPDATE_TG | (e->task && rs_leaves_cpu(flags) ? RS_LOAD_DETACH : 0));
	rs_cfs_drop_hints(e);
	if (q->model->rules->places_by_lag && (flags & RS_DEQ_SLEEP))
		e->vlag = (int64_t)(avg_vruntime(q) - e->vruntime);
	if (q->curr != e)
		rs_cfs_unlink(q, e);
	e->on = false;
	q->load -= e->load.weight;
	q->nr--;
	q->nr_idle -= e->idle;
	if (!(flags & RS_DEQ_SLEEP))
		e->vruntime -= q->min_vruntime;	/* before the floor moves again */
	if (moves_cpu && q->model->rules->stamp_cleared_on_leave)
		e->exec_start = 0;
	if (q->h.limited && !q->nr)
		rs_quota_return(&q->h);
	refresh_weight(e);
	if ((flags & (RS_DEQ_SAVE | RS_DEQ_MOVE)) != RS_DEQ_SAVE)
		update_min_vruntime(q);
}

/* ---- getting and losing the cpu ---- */

void rs_cfs_put(struct rs_cfs_queue *q, struct rs_cfs_entity *e)
{
	if (e->on)
		rs_cfs_account(q);
	rs_cfs_check_quota(q);
	if (e->on) {
		rs_cfs_link(q, e);
		rs_cfs_update_load(q, e, 0);
	}
	q->curr = NULL;
}

void rs_cfs_set(struct rs_cfs_queue *q, struct rs_cfs_entity *e, bool picked)
{
	if (!q->model->rules->hints_dropped_in_pick)
		rs_cfs_drop_hints(e);
	if (e->on) {
		rs_cfs_unlink(q, e);
		rs_cfs_update_load(q, e, RS_LOAD_UPDATE_TG);
	}
	e->exec_start = q->h.rq->clock_ns;
	e->prev_sum_exec = e->sum_exec;
	q->curr = e;
	if (!picked && q->h.limited && rs_quota_charge(&q->h, 0))
		q->h.rq->need_resched = true;
}

/* ---- quota ---- */

bool rs_cfs_check_quota(struct rs_cfs_queue *q)
{
	unsigned int nr = q->h.h_nr;
	bool leaves = true;

	if (!q->h.limited || q->h.quota_left_ns > 0)
		return false;
	if (q->h.throttled)
		return true;
	if (!rs_quota_exhausted(&q->h))
		return false;
	for (struct rs_cfs_entity *e = (struct rs_cfs_entity *)q->h.owner; e && e->on; e = rs_cfs_parent(e)) {
		struct rs_cfs_queue *above = rs_cfs_queue_of(e);

		if (leaves)
			rs_cfs_dequeue_entity(above, e, RS_DEQ_SLEEP);
		else
			rs_cfs_update_load(above, e, 0);
		above->h.h_nr -= nr;
		leaves = leaves && !above->nr;
	}
	q->h.throttled = true;
	return true;
}

void rs_cfs_unthrottle(struct rs_level *level)
{
	struct rs_cfs_queue *q = (struct rs_cfs_queue *)level, *root = level->rq->priv;
	bool joins = true;

	level->throttled = false;
	for (struct rs_cfs_entity *e = q->nr ? (struct rs_cfs_entity *)level->owner : NULL; e; e = rs_cfs_parent(e)) {
		struct rs_cfs_queue *above = rs_cfs_queue_of(e);

		joins = joins && !e->on;
		if (joins)
			rs_cfs_enqueue_entity(above, e, RS_ENQ_WAKEUP);
		else
			rs_cfs_update_load(above, e, RS_LOAD_UPDATE_TG);
		above->h.h_nr += level->h_nr;
		if (above->h.throttled)
			break;
	}
	if (!level->rq->curr && root->nr)
		level->rq->need_resched = true;
}

/* ---- the pick ---- */

int rs_cfs_compare(const struct rs_cfs_queue *q, const struct rs_cfs_entity *c, const struct rs_cfs_entity *e)
{
	int64_t ahead = (int64_t)(c->vruntime - e->vruntime);

	if (ahead <= 0)
		return -1;
	return ahead > (int64_t)rs_calc_delta_fair(q->model->tunable[RS_T_wakeup_granularity_ns], &e->load) ? 1 : 0;
}

/* The entity to run instead of a skipped @e. */
static struct rs_cfs_entity *second_best(const struct rs_cfs_queue *q, struct rs_cfs_entity *e, struct rs_cfs_entity *c)
{
	struct rs_cfs_entity *second;

	if (e == c)
		return rs_cfs_first(q);
	second = rs_cfs_next(e);
	if (!second || (c && rs_cfs_before(c, second)))
		second = c;
	return second;
}

struct rs_cfs_entity *rs_cfs_pick(struct rs_cfs_queue *q, struct rs_cfs_entity *c)
{
	struct rs_cfs_entity *left = rs_cfs_first(q), *e;

	if (!left || (c && rs_cfs_before(c, left)))
		left = c;
	e = left;
	q->why = e == c ? "it runs and has the least vruntime" : "it has the least vruntime";
	if (q->skip && q->skip == e) {
		struct rs_cfs_entity *second = second_best(q, e, c);

		if (second && rs_cfs_compare(q, second, left) < 1) {
			e = second;
			q->why = "the one with the least vruntime yielded";
		}
	}
	if (q->next && rs_cfs_compare(q, q->next, left) < 1) {
		e = q->next;
		q->why = "it is the next buddy and not too far ahead";
	} else if (q->last && rs_cfs_compare(q, q->last, left) < 1) {
		e = q->last;
		q->why = "it was preempted last and is not too far ahead";
	}
	if (q->model->rules->hints_dropped_in_pick)
		rs_cfs_drop_hints(e);
	return e;
}
