// SPDX-License-Identifier: GPL-2.0-only
#include "policies/eevdf_queue.h"

const char rs_eevdf_buddy[] = "it is the nominated buddy and eligible";

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return rs_vtime_before(b, a) ? b : a;
}

/* Least and largest slice of a subtree. Return: whether one changed. */
static bool update_slices(struct rs_eevdf_entity *e, const struct rs_tree_node *left, const struct rs_tree_node *right)
{
	uint64_t least = e->slice, most = least;

	for (int i = 0; i < 2; i++) {
		const struct rs_tree_node *child = i ? right : left;

		if (!child)
			continue;
		least = rs_eevdf_entity_of(child)->min_slice < least ? rs_eevdf_entity_of(child)->min_slice : least;
		most = rs_eevdf_entity_of(child)->max_slice > most ? rs_eevdf_entity_of(child)->max_slice : most;
	}
	if (e->min_slice == least && e->max_slice == most)
		return false;
	e->min_slice = least;
	e->max_slice = most;
	return true;
}

/* Subtree values of a node in a tree by deadline, from itself and its children: the search asks for the least vruntime. */
static bool update_by_deadline(struct rs_tree_node *node)
{
	struct rs_eevdf_entity *e = rs_eevdf_entity_of(node);
	uint64_t least = e->vruntime;
	bool changed = update_slices(e, node->left, node->right);

	if (node->left)
		least = earlier(least, rs_eevdf_entity_of(node->left)->min_vruntime);
	if (node->right)
		least = earlier(least, rs_eevdf_entity_of(node->right)->min_vruntime);
	changed |= e->min_vruntime != least;
	e->min_vruntime = least;
	return changed;
}

/* The same in a tree by vruntime: it asks for the least deadline. */
static bool update_by_vruntime(struct rs_tree_node *node)
{
	struct rs_eevdf_entity *e = rs_eevdf_entity_of(node);
	uint64_t least = e->deadline;
	bool changed = update_slices(e, node->left, node->right);

	if (node->left)
		least = earlier(least, rs_eevdf_entity_of(node->left)->min_deadline);
	if (node->right)
		least = earlier(least, rs_eevdf_entity_of(node->right)->min_deadline);
	changed |= e->min_deadline != least;
	e->min_deadline = least;
	return changed;
}

void rs_eevdf_queue_init(struct rs_eevdf_queue *q, const struct rs_model *model)
{
	q->model = model;
	q->tree.update = model->rules->tree_by_vruntime ? update_by_vruntime : update_by_deadline;
	q->zero = (uint64_t)-(INT64_C(1) << 20);	/* init_cfs_rq(): wrap early, so that mistakes show early */
	q->why = "nothing was picked yet";
}

static int64_t entity_key(const struct rs_eevdf_queue *q, uint64_t vruntime)
{
	return (int64_t)(vruntime - q->zero);
}

/* weight * key, unsigned so that it may wrap */
static uint64_t weighted(const struct rs_eevdf_queue *q, uint64_t vruntime, uint64_t weight)
{
	return (uint64_t)entity_key(q, vruntime) * weight;
}

void rs_eevdf_link(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e)
{
	q->sum = (int64_t)((uint64_t)q->sum + weighted(q, e->vruntime, e->w));
	q->load += e->w;
	q->slices += e->w * e->slice;
	e->node.key = q->model->rules->tree_by_vruntime ? e->vruntime : e->deadline;
	rs_tree_insert(&q->tree, &e->node);
}

void rs_eevdf_unlink(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e)
{
	rs_tree_erase(&q->tree, &e->node);
	q->sum = (int64_t)((uint64_t)q->sum - weighted(q, e->vruntime, e->w));
	q->load -= e->w;
	q->slices -= e->w * e->slice;
}

void rs_eevdf_set_load(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e, struct rs_load load, bool linked)
{
	uint64_t old = e->w;

	e->load = load;
	e->w = rs_load_down(load.weight);
	if (!linked)
		return;
	q->sum = (int64_t)((uint64_t)q->sum + weighted(q, e->vruntime, e->w) - weighted(q, e->vruntime, old));
	q->load += e->w - old;
	q->slices += (e->w - old) * e->slice;
}

static const struct rs_eevdf_entity *queued_curr(const struct rs_eevdf_queue *q)
{
	return q->curr && q->curr->on ? q->curr : NULL;
}

/* Weighted sum of keys and of weights, the running entity included. */
static void totals(const struct rs_eevdf_queue *q, int64_t *ret_sum, uint64_t *ret_load)
{
	const struct rs_eevdf_entity *c = queued_curr(q);

	*ret_sum = q->sum;
	*ret_load = q->load;
	if (c) {
		*ret_sum = (int64_t)((uint64_t)q->sum + weighted(q, c->vruntime, c->w));
		*ret_load += c->w;
	}
}

/* V - zero. Without anything in the tree it is the running entity's key, as if divided by its own weight. */
static int64_t avg_key(const struct rs_eevdf_queue *q)
{
	int64_t sum;
	uint64_t load;

	totals(q, &sum, &load);
	if (!load)
		return 0;
	if (sum < 0 && !q->model->rules->avg_truncates)
		sum -= (int64_t)load - 1;	/* C divides towards zero, V is a floor */
	return sum / (int64_t)load;
}

static void move_zero(struct rs_eevdf_queue *q, int64_t delta)
{
	q->sum = (int64_t)((uint64_t)q->sum - (uint64_t)delta * q->load);
	q->zero += (uint64_t)delta;
}

void rs_eevdf_set_zero(struct rs_eevdf_queue *q, uint64_t zero)
{
	move_zero(q, (int64_t)(zero - q->zero));
}

uint64_t rs_eevdf_peek_avg(const struct rs_eevdf_queue *q)
{
	return q->zero + (uint64_t)avg_key(q);
}

uint64_t rs_eevdf_avg(struct rs_eevdf_queue *q)
{
	if (q->model->rules->zero_is_min_vruntime)
		return rs_eevdf_peek_avg(q);
	move_zero(q, avg_key(q));
	return q->zero;
}

void rs_eevdf_update_min(struct rs_eevdf_queue *q)
{
	const struct rs_eevdf_entity *c = queued_curr(q);
	uint64_t least = c ? c->vruntime : q->zero;

	if (!q->model->rules->zero_is_min_vruntime)
		return;
	if (q->tree.root) {
		bool leftmost = q->model->rules->tree_by_vruntime;
		uint64_t tree_least = leftmost ? rs_eevdf_entity_of(q->tree.first)->vruntime :
						 rs_eevdf_entity_of(q->tree.root)->min_vruntime;

		if (!c || rs_vtime_before(tree_least, least))
			least = tree_least;
	}
	if (rs_vtime_before(q->zero, least))
		move_zero(q, (int64_t)(least - q->zero));
}

/* What eligibility is judged by; taken once for a whole search, which changes nothing. */
struct judge { const struct rs_eevdf_queue *q; int64_t sum; uint64_t load; bool all; };

static struct judge judge_of(const struct rs_eevdf_queue *q)
{
	struct judge j = { .q = q, .all = !rs_feat(q->model, RS_F_ENFORCE_ELIGIBILITY) };

	totals(q, &j.sum, &j.load);
	return j;
}

static bool eligible_at(const struct judge *j, uint64_t vruntime)
{
	return j->all || j->sum >= rs_mul_wrap(entity_key(j->q, vruntime), j->load);
}

bool rs_eevdf_eligible(const struct rs_eevdf_queue *q, const struct rs_eevdf_entity *e)
{
	struct judge j = judge_of(q);

	return eligible_at(&j, e->vruntime);
}

uint64_t rs_eevdf_min_slice(const struct rs_eevdf_queue *q)
{
	const struct rs_eevdf_entity *c = queued_curr(q);
	uint64_t least = c ? c->slice : UINT64_MAX;

	if (q->tree.root && rs_eevdf_entity_of(q->tree.root)->min_slice < least)
		least = rs_eevdf_entity_of(q->tree.root)->min_slice;
	return least;
}

uint64_t rs_eevdf_max_slice(const struct rs_eevdf_queue *q)
{
	const struct rs_eevdf_entity *c = queued_curr(q);
	uint64_t most = c ? c->slice : 0;

	if (q->tree.root && rs_eevdf_entity_of(q->tree.root)->max_slice > most)
		most = rs_eevdf_entity_of(q->tree.root)->max_slice;
	return most;
}

void rs_eevdf_protect(const struct rs_eevdf_queue *q, struct rs_eevdf_entity *e)
{
	uint64_t quantum;

	e->protect = e->deadline;
	if (!q->model->rules->protect_until_vprot)
		return;
	quantum = rs_feat(q->model, RS_F_RUN_TO_PARITY) ? rs_eevdf_min_slice(q) : q->model->normalized_base_ns;
	if (quantum < e->slice)
		e->protect = earlier(e->protect, e->vruntime + rs_calc_delta_fair(quantum, &e->load));
}

bool rs_eevdf_protected(const struct rs_eevdf_queue *q, const struct rs_eevdf_entity *e)
{
	if (q->model->rules->protect_until_vprot)
		return rs_vtime_before(e->vruntime, e->protect);
	return e->protect == e->deadline;
}

void rs_eevdf_unprotect(const struct rs_eevdf_queue *q, struct rs_eevdf_entity *e)
{
	if (rs_eevdf_protected(q, e))
		e->protect = q->model->rules->protect_until_vprot ? e->vruntime : e->deadline + 1;
}

void rs_eevdf_shorten_protection(const struct rs_eevdf_queue *q, struct rs_eevdf_entity *e)
{
	e->protect = earlier(e->protect, e->vruntime + rs_calc_delta_fair(rs_eevdf_min_slice(q), &e->load));
}

/* First eligible entity of the tree in its order of deadlines. Subtrees whose least vruntime is not eligible are skipped. */
static struct rs_eevdf_entity *first_eligible(const struct rs_eevdf_queue *q, const struct judge *j)
{
	struct rs_tree_node *node = q->tree.root;

	if (q->tree.first && eligible_at(j, rs_eevdf_entity_of(q->tree.first)->vruntime))
		return rs_eevdf_entity_of(q->tree.first);
	while (node) {
		struct rs_eevdf_entity *e = rs_eevdf_entity_of(node);

		if (node->left && eligible_at(j, rs_eevdf_entity_of(node->left)->min_vruntime))
			node = node->left;
		else if (eligible_at(j, e->vruntime))
			return e;
		else
			node = node->right;
	}
	return NULL;
}

/* The first entity of a subtree that holds its least deadline: the root, then left, then right. */
static struct rs_eevdf_entity *holder_of_min(struct rs_tree_node *node)
{
	for (;;) {
		struct rs_eevdf_entity *e = rs_eevdf_entity_of(node);

		if (e->deadline == e->min_deadline)
			return e;
		if (node->left && rs_eevdf_entity_of(node->left)->min_deadline == e->min_deadline)
			node = node->left;
		else
			node = node->right;
	}
}

/*
 * The search of 6.6, where the tree is ordered by vruntime: everything left of an eligible node is eligible, so only the subtree
 * with the least deadline is remembered on the way right.
 */
static struct rs_eevdf_entity *least_deadline_of_eligible(const struct rs_eevdf_queue *q, const struct judge *j,
							  struct rs_eevdf_entity *best)
{
	struct rs_tree_node *node = q->tree.root, *best_left = NULL;

	while (node) {
		struct rs_eevdf_entity *e = rs_eevdf_entity_of(node);

		if (!eligible_at(j, e->vruntime)) {
			node = node->left;
			continue;
		}
		if (!best || rs_vtime_before(e->deadline, best->deadline))
			best = e;
		if (node->left) {
			uint64_t left_min = rs_eevdf_entity_of(node->left)->min_deadline;

			if (!best_left || rs_vtime_before(left_min, rs_eevdf_entity_of(best_left)->min_deadline))
				best_left = node->left;
			if (left_min == e->min_deadline)
				break;
		}
		if (e->deadline == e->min_deadline)
			break;
		node = node->right;
	}
	if (!best_left || (best && rs_vtime_before(best->deadline, rs_eevdf_entity_of(best_left)->min_deadline)))
		return best;
	return holder_of_min(best_left);
}

/* The same before 6.6: one way down. The least deadline it follows to the right may be that of one that is not eligible. */
static struct rs_eevdf_entity *one_descent(const struct rs_eevdf_queue *q, const struct judge *j)
{
	struct rs_eevdf_entity *best = NULL;

	for (struct rs_tree_node *node = q->tree.root; node;) {
		struct rs_eevdf_entity *e = rs_eevdf_entity_of(node);

		if (!eligible_at(j, e->vruntime)) {
			node = node->left;
			continue;
		}
		if (!best || rs_vtime_before(e->deadline, best->deadline)) {
			best = e;
			if (e->deadline == e->min_deadline)
				break;
		}
		if (node->left && rs_eevdf_entity_of(node->left)->min_deadline == e->min_deadline)
			node = node->left;
		else
			node = node->right;
	}
	return best;
}

static bool is_protected(const struct rs_eevdf_queue *q, const struct rs_eevdf_entity *c, bool honour)
{
	if (q->model->rules->protect_until_vprot)
		return honour && rs_eevdf_protected(q, c);
	return rs_feat(q->model, RS_F_RUN_TO_PARITY) && rs_eevdf_protected(q, c);
}

static struct rs_eevdf_entity *picked(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e, const char *why)
{
	q->why = why;
	return e;
}

struct rs_eevdf_entity *rs_eevdf_pick(struct rs_eevdf_queue *q, bool honour_protection)
{
	const struct rs_rules *rules = q->model->rules;
	struct rs_eevdf_entity *c = q->curr && q->curr->on ? q->curr : NULL, *best;
	struct judge judge;

	if (rules->single_shortcut && q->nr == 1)
		return picked(q, c ? c : rs_eevdf_entity_of(q->tree.first), "it is alone on the queue");
	if (rules->buddy_in_eevdf_pick && rs_feat(q->model, RS_F_PICK_BUDDY) && q->next && rs_eevdf_eligible(q, q->next))
		return picked(q, q->next, rs_eevdf_buddy);
	judge = judge_of(q);
	if (c && !eligible_at(&judge, c->vruntime))
		c = NULL;
	if (c && is_protected(q, c, honour_protection))
		return picked(q, c, "it runs, is eligible and its slice is protected");
	if (rules->tree_by_vruntime && !rules->picks_in_one_descent) {
		best = least_deadline_of_eligible(q, &judge, c);
	} else {
		best = rules->picks_in_one_descent ? one_descent(q, &judge) : first_eligible(q, &judge);
		if (!best || (c && rs_vtime_before(c->deadline, best->deadline)))
			best = c;
	}
	if (best && best == c)
		return picked(q, c, "it runs and has the earliest deadline of the eligible");
	return picked(q, best, "it has the earliest deadline of the eligible");
}
