// SPDX-License-Identifier: GPL-2.0-only
#include "policies/group.h"

#include <stddef.h>

#include "policies/model.h"
#include "policies/weight.h"

#define MIN_SHARES		2u		/* unscaled in a scaled place: so in calc_group_shares() */
#define CAPACITY_SHIFT		10
#define PUBLISH_GRAIN		64u		/* changes under 1/64 are not published */
#define PUBLISH_NS		1000000u	/* nor is one within this time of the last, since 6.7 */

void rs_node_join(struct rs_node *node, struct rs_level *level)
{
	node->queue = level;
	node->parent = level->owner;
	node->depth = level->owner ? level->owner->depth + 1 : 0;
}

void rs_level_init(struct rs_level *level, struct rs_rq *rq, struct rs_group *group, struct rs_node *owner)
{
	level->rq = rq;
	level->group = group;
	level->owner = owner;
	level->tracked = group && group->nr_cpus > 1;
	level->limited = group && group->quota_ns && group->period_ns;
	if (owner)
		owner->own = level;
}

bool rs_match_nodes(struct rs_node **a, struct rs_node **b)
{
	while ((*a)->depth > (*b)->depth)
		*a = (*a)->parent;
	while ((*b)->depth > (*a)->depth)
		*b = (*b)->parent;
	while ((*a)->queue != (*b)->queue) {
		if (!(*a)->parent || !(*b)->parent)
			return false;
		*a = (*a)->parent;
		*b = (*b)->parent;
	}
	return true;
}

uint64_t rs_group_shares(uint64_t shares, uint64_t weight, uint64_t load_avg, uint64_t total, uint64_t contrib)
{
	uint64_t load = weight > load_avg ? weight : load_avg;
	int64_t all = (int64_t)(total - contrib + load);	/* the total lags behind and may be less than was published */
	int64_t w = (int64_t)(shares * load);

	if (all)
		w /= all;
	if (w < (int64_t)MIN_SHARES)
		return MIN_SHARES;
	return w > (int64_t)shares ? shares : (uint64_t)w;
}

uint64_t rs_group_weight(const struct rs_level *own, uint64_t weight)
{
	const struct rs_group *group = own->group;

	if (!own->tracked)
		return group->shares;
	return rs_group_shares(group->shares, weight, own->avg.load_avg, group->load_avg, own->contrib);
}

bool rs_group_reweighs(const struct rs_level *own, uint64_t weight, uint64_t current, uint64_t *ret)
{
	const struct rs_rules *rules = own->rq->model->rules;

	if (rules->empty_group_keeps_weight && !weight)
		return false;
	*ret = rs_group_weight(own, rs_load_down(weight));
	return rules->reweights_always || *ret != current;
}

/* Subtract without going below zero (sub_positive()). */
static uint64_t less(uint64_t from, uint64_t what)
{
	return from > what ? from - what : 0;
}

static uint64_t plus(uint64_t to, int64_t delta)
{
	return delta < 0 ? less(to, (uint64_t)-delta) : to + (uint64_t)delta;
}

static uint64_t at_least(uint64_t sum, uint64_t avg)
{
	uint64_t least = avg * RS_PELT_MIN_DIVIDER;

	return sum > least ? sum : least;
}

static void queue_propagates(struct rs_level *level, int64_t sum)
{
	level->propagate = true;
	level->propagate_sum += sum;
}

static void add_load(struct rs_level *level, const struct rs_pelt *avg, uint64_t weight)
{
	level->avg.load_avg += avg->load_avg;
	level->avg.load_sum += weight * avg->load_sum;
}

static void subtract_load(struct rs_level *level, const struct rs_pelt *avg, uint64_t weight)
{
	struct rs_pelt *sum = &level->avg;

	sum->load_avg = less(sum->load_avg, avg->load_avg);
	sum->load_sum = at_least(less(sum->load_sum, weight * avg->load_sum), sum->load_avg);
}

static void subtract_util(struct rs_pelt *sum, uint64_t util_avg, uint64_t util_sum, uint64_t runnable_avg, uint64_t runnable_sum)
{
	sum->util_avg = less(sum->util_avg, util_avg);
	sum->util_sum = (uint32_t)at_least(less(sum->util_sum, util_sum), sum->util_avg);
	sum->runnable_avg = less(sum->runnable_avg, runnable_avg);
	sum->runnable_sum = at_least(less(sum->runnable_sum, runnable_sum), sum->runnable_avg);
}

static void attach(struct rs_level *level, struct rs_pelt *avg, uint64_t weight)
{
	rs_pelt_attach(avg, &level->avg, weight);
	add_load(level, avg, weight);
	level->avg.util_avg += avg->util_avg;
	level->avg.util_sum += avg->util_sum;
	level->avg.runnable_avg += avg->runnable_avg;
	level->avg.runnable_sum += avg->runnable_sum;
	queue_propagates(level, (int64_t)avg->load_sum);
}

static void detach(struct rs_level *level, struct rs_pelt *avg, uint64_t weight)
{
	subtract_load(level, avg, weight);
	subtract_util(&level->avg, avg->util_avg, avg->util_sum, avg->runnable_avg, avg->runnable_sum);
	queue_propagates(level, -(int64_t)avg->load_sum);
	avg->last_update = 0;
}

/* update_tg_load_avg() */
static void publish(struct rs_level *level)
{
	uint64_t now = level->avg.load_avg, was = level->contrib, change = now > was ? now - was : was - now;

	if (level->rq->model->rules->publishes_seldom && level->rq->clock_ns - level->published_ns < PUBLISH_NS)
		return;
	if (change <= was / PUBLISH_GRAIN)
		return;
	level->published_ns = level->rq->clock_ns;
	level->group->load_avg += now - was;
	level->contrib = now;
}

/* What tasks that woke elsewhere left behind. */
static void subtract_removed(struct rs_level *level)
{
	uint64_t divider = rs_pelt_divider(&level->avg), load = level->removed_load;
	int64_t runnable = (int64_t)(level->removed_runnable * divider);

	level->avg.load_avg = less(level->avg.load_avg, load);
	level->avg.load_sum = at_least(less(level->avg.load_sum, load * divider), level->avg.load_avg);
	subtract_util(&level->avg, level->removed_util, level->removed_util * divider, level->removed_runnable,
		      level->removed_runnable * divider);
	queue_propagates(level, -(runnable >> CAPACITY_SHIFT));
	level->removed_load = level->removed_util = level->removed_runnable = 0;
}

/* update_cfs_rq_load_avg(). Return: whether the averages changed. */
static bool update_queue(struct rs_level *level, uint64_t now_ns, uint64_t weight, bool runs)
{
	bool changed = level->removed_load || level->removed_util || level->removed_runnable;

	if (changed)
		subtract_removed(level);
	if (rs_pelt_update(&level->avg, now_ns, weight, level->h_nr, runs)) {
		rs_pelt_average(&level->avg, 1);
		changed = true;
	}
	return changed;
}

/* The unweighted load sum a group's entity should have now (update_tg_cfs_load()). */
static uint64_t runnable_of_group(const struct rs_level *own, const struct rs_pelt *avg, uint64_t own_weight, uint32_t divider)
{
	uint64_t running = avg->util_sum >> CAPACITY_SHIFT, sum;

	if (own->propagate_sum >= 0) {
		sum = avg->load_sum + (uint64_t)own->propagate_sum;
		if (sum > divider)
			sum = divider;
	} else {
		sum = own_weight ? own->avg.load_sum / own_weight : 0;
		if (sum > avg->load_sum)
			sum = avg->load_sum;
	}
	return sum > running ? sum : running;
}

static void follow_load(struct rs_level *level, struct rs_node *node, const struct rs_load_state *state)
{
	struct rs_level *own = node->own;
	struct rs_pelt *avg = &node->avg;
	uint32_t divider = rs_pelt_divider(&level->avg);
	uint64_t runnable = runnable_of_group(own, avg, state->own_weight, divider), load_sum = state->weight * runnable;
	uint64_t load_avg = load_sum / divider;
	int64_t delta_avg = (int64_t)(load_avg - avg->load_avg), delta_sum = (int64_t)(load_sum - state->weight * avg->load_sum);

	own->propagate_sum = 0;
	if (!delta_avg)
		return;
	avg->load_sum = runnable;
	avg->load_avg = load_avg;
	level->avg.load_avg = plus(level->avg.load_avg, delta_avg);
	level->avg.load_sum = at_least(plus(level->avg.load_sum, delta_sum), level->avg.load_avg);
}

/* update_tg_cfs_util(), update_tg_cfs_runnable() */
static void follow_util(struct rs_level *level, struct rs_node *node)
{
	const struct rs_pelt *own = &node->own->avg;
	struct rs_pelt *avg = &node->avg, *sum = &level->avg;
	uint32_t divider = rs_pelt_divider(sum);
	int64_t util = (int64_t)(own->util_avg - avg->util_avg), runnable = (int64_t)(own->runnable_avg - avg->runnable_avg);

	if (util) {
		uint64_t was = avg->util_sum;

		avg->util_avg = own->util_avg;
		avg->util_sum = (uint32_t)(avg->util_avg * divider);
		sum->util_avg = plus(sum->util_avg, util);
		sum->util_sum = (uint32_t)at_least(plus(sum->util_sum, (int64_t)(avg->util_sum - was)), sum->util_avg);
	}
	if (runnable) {
		uint64_t was = avg->runnable_sum;

		avg->runnable_avg = own->runnable_avg;
		avg->runnable_sum = avg->runnable_avg * divider;
		sum->runnable_avg = plus(sum->runnable_avg, runnable);
		sum->runnable_sum = at_least(plus(sum->runnable_sum, (int64_t)(avg->runnable_sum - was)), sum->runnable_avg);
	}
}

/* propagate_entity_load_avg(): joins and leaves below reach the group's entity, and through it this queue. */
static bool propagate(struct rs_node *node, const struct rs_load_state *state)
{
	struct rs_level *own = node->own, *level = node->queue;

	if (!own || !own->propagate)
		return false;
	own->propagate = false;
	queue_propagates(level, own->propagate_sum);
	follow_util(level, node);
	if (own->propagate_sum)
		follow_load(level, node, state);
	return true;
}

void rs_load_update(struct rs_node *node, const struct rs_load_state *state, unsigned int flags)
{
	struct rs_level *level = node->queue;
	uint64_t now = level->rq->clock_ns;
	bool changed;

	if (!level->tracked)
		return;
	if (node->avg.last_update &&
	    rs_pelt_update(&node->avg, now, state->on, node->own ? (state->on ? node->own->h_nr : 0u) : state->on, state->running))
		rs_pelt_average(&node->avg, state->weight);
	changed = update_queue(level, now, state->queue_weight, state->queue_runs);
	changed |= propagate(node, state);
	if (!node->avg.last_update && (flags & RS_LOAD_ATTACH)) {
		attach(level, &node->avg, state->weight);
		publish(level);
	} else if (node->avg.last_update && (flags & RS_LOAD_DETACH)) {
		detach(level, &node->avg, state->weight);
		publish(level);
	} else if (changed && (flags & RS_LOAD_UPDATE_TG)) {
		publish(level);
	}
}

void rs_load_reweight(struct rs_node *node, uint64_t old_weight, uint64_t new_weight)
{
	struct rs_level *level = node->queue;

	if (!level || !level->tracked || !node->avg.last_update)
		return;
	subtract_load(level, &node->avg, old_weight);
	node->avg.load_avg = new_weight * node->avg.load_sum / rs_pelt_divider(&node->avg);
	add_load(level, &node->avg, new_weight);
}

void rs_load_init(struct rs_node *node, uint64_t weight)
{
	node->avg = (struct rs_pelt){ .load_avg = weight };
}

void rs_load_remove(struct rs_node *node, uint64_t weight)
{
	struct rs_level *level = node->queue;

	if (!level || !level->tracked || !node->avg.last_update)
		return;
	if (rs_pelt_update(&node->avg, level->avg.last_update, 0, 0, false))
		rs_pelt_average(&node->avg, weight);
	level->removed_load += node->avg.load_avg;
	level->removed_util += node->avg.util_avg;
	level->removed_runnable += node->avg.runnable_avg;
	node->avg.last_update = 0;
}

void rs_level_decay(struct rs_level *level, uint64_t weight, bool runs)
{
	if (level->tracked && update_queue(level, level->rq->clock_ns, weight, runs))
		publish(level);
}

void rs_load_restore(struct rs_node *node, const struct rs_load_seen *seen)
{
	struct rs_level *own = node->own;

	if (node->queue && node->queue->tracked)
		node->avg = seen->entity;
	if (!own || !own->tracked)
		return;
	own->avg = seen->own;
	own->contrib = seen->contrib;
	own->published_ns = seen->published_ns;
	own->group->load_avg = seen->total;
}
