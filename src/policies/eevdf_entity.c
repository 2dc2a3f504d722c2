// SPDX-License-Identifier: GPL-2.0-only
#include "policies/eevdf_entity.h"

#include "policies/quota.h"

void rs_eevdf_drop_buddy(struct rs_eevdf_entity *e)
{
	for (; e && rs_eevdf_queue_of(e)->next == e; e = rs_eevdf_parent(e))
		rs_eevdf_queue_of(e)->next = NULL;
}

void rs_eevdf_set_buddy(struct rs_eevdf_entity *e)
{
	for (; e && e->on && !e->idle; e = rs_eevdf_parent(e))
		rs_eevdf_queue_of(e)->next = e;
}

/* ---- load averages: nothing at all unless the queue is a group's and there are several cpus ---- */

void rs_eevdf_update_load(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e, unsigned int flags)
{
	const struct rs_eevdf_queue *own = rs_eevdf_own(e);
	struct rs_load_state state;

	if (!q->h.tracked)
		return;
	state = (struct rs_load_state){
		.weight = e->w, .on = e->on, .running = q->curr == e,
		.queue_weight = rs_load_down(q->weight), .queue_runs = q->curr != NULL,
		.own_weight = own ? rs_load_down(own->weight) : 0,
	};
	rs_load_update(&e->h, &state, flags);
}

/* update_cfs_group() */
static void refresh_weight(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e)
{
	const struct rs_eevdf_queue *own = rs_eevdf_own(e);
	uint64_t weight;

	if (own && !(own->h.group->quota_ns && rs_level_blocked(&own->h)) &&
	    rs_group_reweighs(&own->h, own->weight, e->load.weight, &weight))
		rs_eevdf_reweight(q, e, (struct rs_load){ .weight = weight, .inv = 0 });
}

void rs_eevdf_follow_load(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e)
{
	rs_eevdf_update_load(q, e, RS_LOAD_UPDATE_TG);
	refresh_weight(q, e);
}

/* ---- accounting ---- */

bool rs_eevdf_slip(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e)
{
	if (rs_vtime_before(e->vruntime, e->deadline))
		return false;
	if (!e->custom_slice)
		e->slice = q->model->tunable[RS_T_base_slice_ns];
	e->deadline = e->vruntime + rs_calc_delta_fair(e->slice, &e->load);
	if (q->model->rules->slip_rescheds) {
		if (q->nr > 1 && !q->model->rules->tick_picks) {
			q->h.rq->need_resched = true;
			rs_eevdf_drop_buddy(e);
		}
	} else {
		rs_eevdf_avg(q);	/* moves the zero point along */
	}
	return true;
}

/* Is the running entity to be asked to leave, seen from its own accounting? */
static bool should_yield_cpu(const struct rs_eevdf_queue *q, const struct rs_eevdf_entity *c)
{
	if (q->model->rules->protect_until_vprot)
		return !rs_eevdf_protected(q, c);
	return rs_feat(q->model, RS_F_PREEMPT_SHORT) && !rs_eevdf_protected(q, c) && !rs_eevdf_eligible(q, c);
}

void rs_eevdf_account(struct rs_eevdf_queue *q)
{
	struct rs_eevdf_entity *c = q->curr;
	uint64_t now = q->h.rq->clock_ns;
	int64_t delta;
	bool slipped;

	if (!c)
		return;
	delta = (int64_t)(now - c->exec_start);
	if (delta <= 0)
		return;
	c->exec_start = now;
	c->sum_exec += (uint64_t)delta;
	c->vruntime += rs_calc_delta_fair((uint64_t)delta, &c->load);
	slipped = rs_eevdf_slip(q, c);
	if (q->h.limited && rs_quota_charge(&q->h, (uint64_t)delta))
		q->h.rq->need_resched = true;
	if (q->model->rules->slip_rescheds) {
		rs_eevdf_update_min(q);
		return;
	}
	if (q->nr == 1)
		return;
	if (slipped || should_yield_cpu(q, c)) {
		q->h.rq->need_resched = true;
		rs_eevdf_drop_buddy(c);
	}
}

/* ---- placing ---- */

/* PLACE_FUDGE: the posted test of a sleep has its operands the wrong way round, so it says yes after nearly every one. */
static bool has_slept(const struct rs_eevdf_queue *q, const struct rs_eevdf_entity *e, unsigned int flags)
{
	if (!(flags & RS_ENQ_WAKEUP))
		return false;
	return (flags & RS_ENQ_MIGRATED) || e->exec_start - q->h.rq->clock_ns >= e->slice;
}

/* PLACE_SLEEPER: the virtual time a sleeper would have been owed by the others while it was away, half of it if gentle. */
static int64_t slept_off(const struct rs_eevdf_queue *q, const struct rs_eevdf_entity *e, int64_t lag, unsigned int flags)
{
	struct rs_load others = { .weight = q->weight, .inv = 0 };
	int64_t away = (int64_t)(q->h.rq->clock_ns - e->exec_start);

	if (lag >= 0 || !(flags & RS_ENQ_WAKEUP))
		return lag;
	if (flags & RS_ENQ_MIGRATED)
		return 0;
	if (away < 0)
		return lag;
	if (rs_feat(q->model, RS_F_GENTLE_SLEEPER))
		away /= 2;
	lag += (int64_t)rs_calc_delta((uint64_t)away, RS_NICE0_LOAD, &others);
	return lag < 0 ? lag : 0;
}

/* The lag that makes e's lag @lag once e's own joining has moved V (place_entity()). */
static int64_t inflate_lag(const struct rs_eevdf_queue *q, const struct rs_eevdf_entity *e, int64_t lag)
{
	uint64_t load = q->load + (q->curr && q->curr->on ? q->curr->w : 0);

	return rs_mul_wrap(lag, load + e->w) / (int64_t)(load ? load : 1);
}

/* The lag to join a queue that is not empty with. */
static int64_t joining_lag(const struct rs_eevdf_queue *q, const struct rs_eevdf_entity *e, uint64_t vslice, unsigned int flags)
{
	int64_t lag = e->vlag;

	if (rs_feat(q->model, RS_F_PLACE_SLEEPER))
		lag = slept_off(q, e, lag, flags);
	if (rs_feat(q->model, RS_F_PLACE_FUDGE) && q->slices > e->slice * q->load && has_slept(q, e, flags)) {
		lag += (int64_t)vslice;
		lag = lag > 0 ? 0 : lag;
	}
	return inflate_lag(q, e, lag);
}

/* FAIR_SLEEPERS beside lag: credit as in CFS, and never left of where it was. */
static uint64_t with_credit(const struct rs_eevdf_queue *q, const struct rs_eevdf_entity *e, uint64_t vruntime, bool initial)
{
	uint64_t credit = q->model->tunable[e->idle ? RS_T_base_slice_ns : RS_T_latency_ns];

	if (!initial)
		vruntime -= rs_feat(q->model, RS_F_GENTLE_FAIR_SLEEPERS) ? credit / 2 : credit;
	return rs_vtime_before(vruntime, e->vruntime) ? e->vruntime : vruntime;
}

/* place_entity(), RS_ENQ_* @flags */
static void place(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e, unsigned int flags)
{
	uint64_t avg = rs_eevdf_avg(q), vslice;
	int64_t lag = 0;

	if (!e->custom_slice)
		e->slice = q->model->tunable[RS_T_base_slice_ns];
	vslice = rs_calc_delta_fair(e->slice, &e->load);
	if (rs_feat(q->model, RS_F_PLACE_LAG) && q->nr)
		lag = joining_lag(q, e, vslice, flags);
	if (rs_feat(q->model, RS_F_FAIR_SLEEPERS))
		e->vruntime = with_credit(q, e, avg - (uint64_t)lag, flags & RS_ENQ_INITIAL);
	else
		e->vruntime = avg - (uint64_t)lag;
	if (e->rel_deadline) {
		e->deadline += e->vruntime;
		e->rel_deadline = false;
		return;
	}
	if ((flags & RS_ENQ_INITIAL) && rs_feat(q->model, RS_F_PLACE_DEADLINE_INITIAL))
		vslice /= 2;
	e->deadline = e->vruntime + vslice;
}

void rs_eevdf_place_new(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e)
{
	place(q, e, RS_ENQ_INITIAL);
	e->vruntime -= q->zero;
	e->placed = true;
}

/*
 * Where an entity joins. Before lag was committed to, only a wakeup was placed; all others keep their vruntime, which they made relative
 * to the min_vruntime they left, as do those that come from another cpu. The deadline does not move along.
 */
static void join(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e, unsigned int flags)
{
	bool wakes = flags & RS_ENQ_WAKEUP, relative = q->model->rules->joins_like_cfs && e->placed;

	if (relative && (!wakes || (flags & RS_ENQ_MIGRATED)))
		e->vruntime += q->zero;
	if (!relative || wakes)
		place(q, e, flags);
	e->placed = true;
}

/* Lag against @avg, limited (entity_lag()). */
static int64_t limited_lag(const struct rs_eevdf_queue *q, const struct rs_eevdf_entity *e, uint64_t avg)
{
	int64_t lag = (int64_t)(avg - e->vruntime), limit;
	uint64_t tick = q->model->tick_ns, real;

	if (q->model->rules->lag_limit_by_queue)
		real = rs_eevdf_max_slice(q) + tick;
	else
		real = 2 * e->slice > tick ? 2 * e->slice : tick;
	limit = (int64_t)rs_calc_delta_fair(real, &e->load);
	return lag > limit ? limit : lag < -limit ? -limit : lag;
}

/* update_entity_lag() */
static void store_lag(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e)
{
	e->vlag = limited_lag(q, e, rs_eevdf_avg(q));
}

/* ---- joining and leaving ---- */

void rs_eevdf_enqueue(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e, unsigned int flags)
{
	bool curr = q->curr == e;

	if (q->model->rules->fork_places)
		flags &= ~RS_ENQ_INITIAL;	/* the kernel does not pass it on */
	if (curr)
		join(q, e, flags);
	rs_eevdf_account(q);
	rs_eevdf_update_load(q, e, RS_LOAD_UPDATE_TG | RS_LOAD_ATTACH);
	refresh_weight(q, e);
	if (!curr)
		join(q, e, flags);
	q->nr++;
	q->weight += e->load.weight;
	if (flags & RS_ENQ_MIGRATED)
		e->exec_start = 0;
	if (!curr)
		rs_eevdf_link(q, e);
	e->on = true;
	/* check_enqueue_throttle(): a queue that wakes with its quota used up must not run until a tick notices */
	if (q->h.limited && q->nr == 1 && !q->curr && !q->h.throttled) {
		rs_quota_charge(&q->h, 0);
		rs_eevdf_check_quota(q);
	}
}

bool rs_eevdf_dequeue(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e, unsigned int flags)
{
	const struct rs_rules *rules = q->model->rules;
	bool may_stay = (flags & RS_DEQ_SLEEP) && !(flags & (RS_DEQ_SPECIAL | RS_DEQ_REAL)) && (e->task || !rules->delays_in_block);

	rs_eevdf_account(q);
	rs_eevdf_drop_buddy(e);
	if (may_stay && rs_feat(q->model, RS_F_DELAY_DEQUEUE) && !rs_eevdf_eligible(q, e)) {
		rs_eevdf_update_load(q, e, 0);
		e->delayed = true;
		return false;
	}
	rs_eevdf_update_load(q, e, RS_LOAD_UPDATE_TG | (e->task && rs_leaves_cpu(flags) ? RS_LOAD_DETACH : 0));
	if (!rules->joins_like_cfs || (flags & RS_DEQ_SLEEP))
		store_lag(q, e);
	if (rs_feat(q->model, RS_F_PLACE_REL_DEADLINE) && !(flags & RS_DEQ_SLEEP)) {
		e->deadline -= e->vruntime;
		e->rel_deadline = true;
	}
	if (q->curr != e)
		rs_eevdf_unlink(q, e);
	e->on = false;
	q->nr--;
	q->weight -= e->load.weight;
	if (rules->joins_like_cfs && !(flags & RS_DEQ_SLEEP))
		e->vruntime -= q->zero;
	if (q->h.limited && !q->nr)
		rs_quota_return(&q->h);
	refresh_weight(q, e);
	if ((flags & (RS_DEQ_SAVE | RS_DEQ_MOVE)) != RS_DEQ_SAVE)
		rs_eevdf_update_min(q);
	if (flags & RS_DEQ_REAL) {
		e->delayed = false;
		if ((rs_feat(q->model, RS_F_DELAY_ZERO) || rs_feat(q->model, RS_F_GENTLE_DELAY)) && e->vlag > 0)
			e->vlag = 0;
	}
	return true;
}

void rs_eevdf_requeue(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e)
{
	if (rs_feat(q->model, RS_F_DELAY_ZERO)) {
		store_lag(q, e);
		if (e->vlag > 0) {
			q->nr--;
			if (q->curr != e)
				rs_eevdf_unlink(q, e);
			e->vlag = 0;
			place(q, e, 0);
			if (q->curr != e)
				rs_eevdf_link(q, e);
			q->nr++;
		}
	}
	rs_eevdf_update_load(q, e, 0);
	e->delayed = false;
}

/* ---- getting and losing the cpu ---- */

void rs_eevdf_put(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e)
{
	if (e->on)
		rs_eevdf_account(q);
	rs_eevdf_check_quota(q);
	if (e->on) {
		rs_eevdf_link(q, e);
		rs_eevdf_update_load(q, e, 0);
	}
	q->curr = NULL;
}

void rs_eevdf_set(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e, bool picked)
{
	rs_eevdf_drop_buddy(e);
	if (e->on) {
		rs_eevdf_unlink(q, e);
		rs_eevdf_update_load(q, e, RS_LOAD_UPDATE_TG);
		if (picked || !q->model->rules->protect_until_vprot)
			rs_eevdf_protect(q, e);
	}
	e->exec_start = q->h.rq->clock_ns;
	e->prev_sum_exec = e->sum_exec;
	q->curr = e;
	if (!picked && q->h.limited && rs_quota_charge(&q->h, 0))
		q->h.rq->need_resched = true;
}

/* ---- quota ---- */

bool rs_eevdf_check_quota(struct rs_eevdf_queue *q)
{
	unsigned int nr = q->h.h_nr;
	struct rs_eevdf_entity *e;
	bool leaves = true;

	if (!q->h.limited || q->h.quota_left_ns > 0)
		return false;
	if (q->h.throttled)
		return true;
	if (!rs_quota_exhausted(&q->h))
		return false;
	for (e = rs_eevdf_of_node(q->h.owner); e && e->on; e = rs_eevdf_parent(e)) {
		struct rs_eevdf_queue *above = rs_eevdf_queue_of(e);

		if (leaves)
			rs_eevdf_dequeue(above, e, RS_DEQ_SLEEP | RS_DEQ_SPECIAL | (e->delayed ? RS_DEQ_REAL : 0));
		else
			rs_eevdf_update_load(above, e, 0);
		above->h.h_nr -= nr;
		leaves = leaves && !above->nr;
	}
	q->h.throttled = true;
	return true;
}

void rs_eevdf_unthrottle(struct rs_level *level)
{
	struct rs_eevdf_queue *q = (struct rs_eevdf_queue *)level, *root = level->rq->priv;
	bool joins = true;

	level->throttled = false;
	for (struct rs_eevdf_entity *e = q->nr ? rs_eevdf_of_node(level->owner) : NULL; e; e = rs_eevdf_parent(e)) {
		struct rs_eevdf_queue *above = rs_eevdf_queue_of(e);

		if (joins && e->delayed)
			rs_eevdf_dequeue(above, e, RS_DEQ_SLEEP | RS_DEQ_REAL);
		joins = joins && !e->on;
		if (joins)
			rs_eevdf_enqueue(above, e, RS_ENQ_WAKEUP);
		else
			rs_eevdf_update_load(above, e, RS_LOAD_UPDATE_TG);
		above->h.h_nr += level->h_nr;
		if (above->h.throttled)
			break;
	}
	if (!level->rq->curr && root->nr)
		level->rq->need_resched = true;
}

/* ---- changes of weight ---- */

static int64_t scaled(int64_t value, uint64_t from, uint64_t to)
{
	return rs_mul_wrap(value, from) / (int64_t)to;
}

/* Vruntime and deadline keep their weighted distance to @avg; @lag is avg - vruntime, maybe limited (reweight_eevdf()). */
static void rescale_around(struct rs_eevdf_entity *e, uint64_t avg, int64_t lag, uint64_t old, uint64_t new)
{
	int64_t rest = (int64_t)(e->deadline - avg);

	e->vruntime = avg - (uint64_t)scaled(lag, old, new);
	e->deadline = avg + (uint64_t)scaled(rest, old, new);
}

/* 6.6: only the rest of the request is scaled. */
static void reweight_deadline(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e, struct rs_load load)
{
	bool curr = q->curr == e;
	uint64_t old = e->load.weight;

	if (curr)
		rs_eevdf_account(q);
	rs_eevdf_set_load(q, e, load, !curr);
	e->deadline = e->vruntime + (uint64_t)scaled((int64_t)(e->deadline - e->vruntime), old, load.weight);
	if (!curr)
		rs_tree_refresh(&q->tree, &e->node);
}

/* 6.8: around the average of the others, or of all when it runs. 6.12: around that of all, and the lag limited. */
static void reweight_around(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e, struct rs_load load, bool limited)
{
	bool curr = q->curr == e;
	uint64_t old = e->load.weight, avg = 0;
	int64_t lag;

	if (curr || limited)
		rs_eevdf_account(q);
	if (limited)
		avg = rs_eevdf_avg(q);
	if (!curr)
		rs_eevdf_unlink(q, e);
	if (!limited)
		avg = rs_eevdf_avg(q);
	lag = limited ? limited_lag(q, e, avg) : (int64_t)(avg - e->vruntime);
	rescale_around(e, avg, lag, old, load.weight);
	rs_eevdf_set_load(q, e, load, false);
	if (!curr)
		rs_eevdf_link(q, e);
	rs_eevdf_update_min(q);
}

/* 6.18: as if it left and joined again. While it runs it counts in V as it was, with its new weight. */
static void reweight_replace(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e, struct rs_load load)
{
	bool curr = q->curr == e;
	uint64_t old = e->load.weight;

	rs_eevdf_account(q);
	store_lag(q, e);
	q->nr--;
	if (!curr)
		rs_eevdf_unlink(q, e);
	e->vlag = scaled(e->vlag, old, load.weight);
	e->deadline = (uint64_t)scaled((int64_t)(e->deadline - e->vruntime), old, load.weight);
	e->rel_deadline = true;
	rs_eevdf_set_load(q, e, load, false);
	place(q, e, 0);
	if (!curr)
		rs_eevdf_link(q, e);
	q->nr++;
}

static void reweight_queued(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e, struct rs_load load)
{
	switch (q->model->rules->reweight) {
	case RS_REWEIGHT_DEADLINE:
		reweight_deadline(q, e, load);
		break;
	case RS_REWEIGHT_AROUND_AVG:
	case RS_REWEIGHT_AROUND_CLAMPED:
		reweight_around(q, e, load, q->model->rules->reweight == RS_REWEIGHT_AROUND_CLAMPED);
		break;
	case RS_REWEIGHT_REPLACE:
		reweight_replace(q, e, load);
		break;
	}
}

void rs_eevdf_reweight(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e, struct rs_load load)
{
	uint64_t old = e->load.weight, old_w = e->w;

	if (e->on) {
		reweight_queued(q, e, load);
		q->weight += load.weight - old;
	} else {
		e->vlag = scaled(e->vlag, old, load.weight);
		if (q->model->rules->reweight_scales_deadline && e->rel_deadline)
			e->deadline = (uint64_t)scaled((int64_t)e->deadline, old, load.weight);
		rs_eevdf_set_load(q, e, load, false);
	}
	rs_load_reweight(&e->h, old_w, e->w);
}

/* ---- what was seen ---- */

static void forget(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e)
{
	if (!e->on)
		return;
	if (q->curr == e)
		q->curr = NULL;
	else
		rs_eevdf_unlink(q, e);
	if (q->next == e)
		q->next = NULL;
	q->nr--;
	q->weight -= e->load.weight;
	e->on = false;
}

void rs_eevdf_restore(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e, const struct rs_entity_state *state)
{
	bool running = state->again ? q->curr == e : state->running;
	bool delayed = state->again ? e->delayed : state->delayed, buddy = state->again && q->next == e;

	forget(q, e);
	rs_eevdf_set_zero(q, state->zero);
	if (state->weight && !e->task)
		rs_eevdf_set_load(q, e, (struct rs_load){ .weight = state->weight }, false);
	e->vruntime = state->vruntime;
	e->deadline = state->deadline;
	e->vlag = state->vlag;
	e->slice = state->slice_ns;
	e->custom_slice = state->custom_slice;
	if (!state->again)
		e->exec_start = state->exec_start_ns;
	e->prev_sum_exec = e->sum_exec;
	e->delayed = delayed;
	e->rel_deadline = state->rel;
	e->placed = true;
	if (!state->on)
		return;
	q->nr++;
	q->weight += e->load.weight;
	e->on = true;
	if (buddy)
		q->next = e;
	if (running)
		q->curr = e;
	else
		rs_eevdf_link(q, e);
}
