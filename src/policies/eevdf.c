// SPDX-License-Identifier: GPL-2.0-only
/*
 * eevdf: the earliest eligible virtual deadline runs first (Linux 6.6 and later); evdf: the same without eligibility.
 * Kernel: kernel/sched/fair.c of 6.6.0, 6.8.0, 6.12.117 and 6.18.35, and patches that led there (model_rows.c), selected by the
 * model's rules; one queue a CPU and group.
 * State: the queues of eevdf_queue.h, the steps of one entity in eevdf_entity.h; here is what happens along the levels of a hierarchy.
 * Every operation is O(log n) in the length of the queue and O(1) in the levels.
 */
#include <string.h>

#include "policies/eevdf_entity.h"
#include "policies/policy.h"
#include "policies/quota.h"
#include "policies/registry.h"

#define CUSTOM_SLICE_MIN_NS	100000u		/* __setparam_fair() */
#define CUSTOM_SLICE_MAX_NS	100000000u
#define HRTICK_MIN_NS		10000u		/* hrtick_start() */

struct eevdf_task {
	struct rs_eevdf_entity e;	/* first: the private part is the entity */
	const struct rs_model *model;
};

/* A group's part on one cpu. */
struct eevdf_group {
	struct rs_eevdf_entity e;
	struct rs_eevdf_queue q;
};

static struct rs_eevdf_queue *root_of(const struct rs_rq *rq)
{
	return rq->priv;
}

static struct rs_eevdf_entity *entity_of(const struct rs_task *t)
{
	return t->priv;
}

static struct rs_eevdf_queue *queue_of_group(const struct rs_rq *rq, const struct rs_group *group)
{
	return group ? &((struct eevdf_group *)rs_group_part(group, rq->cpu))->q : root_of(rq);
}

/* The queue the running task is in; NULL when no fair task runs. */
static struct rs_eevdf_queue *leaf_of(const struct rs_rq *rq)
{
	return rq->curr ? rs_eevdf_queue_of(entity_of(rq->curr)) : NULL;
}

/* Latency nice by the table of weights: the lower, the shorter the request (posted in 2023). */
static uint64_t slice_of_latency_nice(uint64_t base, int latency_nice)
{
	return base * 1024 / rs_load_down(rs_load_of_task(latency_nice, RS_SCHED_NORMAL).weight);
}

/* @t: NULL for a group. */
static void set_slice(struct rs_eevdf_entity *e, const struct rs_model *model, const struct rs_task *t)
{
	uint64_t custom_ns = t && model->rules->custom_slices ? t->custom_slice_ns : 0;

	e->custom_slice = custom_ns;
	if (!custom_ns)
		e->slice = model->tunable[RS_T_base_slice_ns];
	else if (custom_ns < CUSTOM_SLICE_MIN_NS)
		e->slice = CUSTOM_SLICE_MIN_NS;
	else
		e->slice = custom_ns > CUSTOM_SLICE_MAX_NS ? CUSTOM_SLICE_MAX_NS : custom_ns;
	if (t && t->latency_nice && model->rules->latency_nice) {
		e->custom_slice = true;
		e->slice = slice_of_latency_nice(e->slice, t->latency_nice);
	}
}

static void eevdf_rq_init(struct rs_rq *rq)
{
	rs_eevdf_queue_init(root_of(rq), rq->model);
	rs_level_init(&root_of(rq)->h, rq, NULL, NULL);
}

static void eevdf_task_init(struct rs_task *t, const struct rs_model *model)
{
	struct rs_eevdf_entity *e = entity_of(t);

	e->task = t;
	rs_tree_entry(e, struct eevdf_task, e)->model = model;
	rs_eevdf_set_load(NULL, e, rs_load_of_task(t->nice, t->policy), false);
	rs_load_init(&e->h, e->w);
	set_slice(e, model, t);
	e->idle = t->policy == RS_SCHED_IDLE;
}

/* init_tg_cfs_entry() */
static void eevdf_group_init(struct rs_group *group, struct rs_rq *rq)
{
	struct eevdf_group *part = rs_group_part(group, rq->cpu);

	rs_eevdf_set_load(NULL, &part->e, (struct rs_load){ .weight = group->shares }, false);
	set_slice(&part->e, rq->model, NULL);
	part->e.idle = group->idle;
	rs_node_join(&part->e.h, &queue_of_group(rq, group->parent)->h);
	rs_eevdf_queue_init(&part->q, rq->model);
	rs_level_init(&part->q.h, rq, group, &part->e.h);
}

/* update_curr_fair() */
static void eevdf_update_curr(struct rs_rq *rq)
{
	if (rq->curr)
		rs_eevdf_account(leaf_of(rq));
}

/* ---- joining and leaving, along the levels ---- */

/* A group asks for what the shortest request inside it asks for; its deadline does not move. */
static void take_slice(struct rs_eevdf_queue *q, struct rs_eevdf_entity *group, uint64_t slice)
{
	if (!q->model->rules->groups_take_slice)
		return;
	group->slice = slice;
	if (q->curr != group)
		rs_tree_refresh(&q->tree, &group->node);
}

/* The levels above a change that neither join nor leave; @slice: the least one a level below. */
static void refresh_above(struct rs_eevdf_entity *e, uint64_t slice, int nr_tasks)
{
	for (; e; e = rs_eevdf_parent(e)) {
		struct rs_eevdf_queue *q = rs_eevdf_queue_of(e);

		rs_eevdf_follow_load(q, e);
		if (!e->task)
			take_slice(q, e, slice);
		slice = rs_eevdf_min_slice(q);
		q->h.h_nr += (unsigned int)nr_tasks;
		if (q->h.throttled)
			return;
	}
}

/* enqueue_task_fair(): join upwards until a group is queued already. Above the first level that is always a wakeup. */
static void enqueue_path(struct rs_eevdf_entity *e, unsigned int flags)
{
	uint64_t slice = 0;

	for (; e; e = rs_eevdf_parent(e)) {
		struct rs_eevdf_queue *q = rs_eevdf_queue_of(e);

		if (e->on) {
			if (e->delayed)
				rs_eevdf_requeue(q, e);
			break;
		}
		if (!e->task && q->model->rules->groups_take_slice) {
			e->slice = slice;
			e->custom_slice = true;
		}
		rs_eevdf_enqueue(q, e, flags);
		q->h.h_nr++;
		if (q->h.throttled)
			return;
		if (e->h.parent)
			slice = rs_eevdf_min_slice(q);
		flags = RS_ENQ_WAKEUP;
	}
	if (e)
		refresh_above(e, slice, 1);
}

/*
 * dequeue_entities(): leave upwards until a queue keeps something; a group left empty leaves as a sleeper and may be delayed.
 * A group that its sleeping task leaves with work is nominated to run on. Return: false when @e itself stays as delayed.
 */
static bool dequeue_path(struct rs_eevdf_entity *e, unsigned int flags)
{
	bool sleep = flags & RS_DEQ_SLEEP;
	int nr_tasks = e->task ? -1 : 0;

	for (bool first = true; e; e = rs_eevdf_parent(e), first = false) {
		struct rs_eevdf_queue *q = rs_eevdf_queue_of(e);

		if (!rs_eevdf_dequeue(q, e, flags)) {
			if (!first)
				refresh_above(e, rs_eevdf_min_slice(q), nr_tasks);
			return !first;
		}
		q->h.h_nr += (unsigned int)nr_tasks;
		if (q->h.throttled)
			return true;
		if (q->nr) {
			struct rs_eevdf_entity *group = rs_eevdf_parent(e);

			if (!group)
				return true;
			if (sleep && !rs_level_blocked(&q->h))
				rs_eevdf_set_buddy(group);
			refresh_above(group, rs_eevdf_min_slice(q), nr_tasks);
			return true;
		}
		flags |= RS_DEQ_SLEEP;
		flags &= ~(RS_DEQ_REAL | RS_DEQ_SPECIAL);
	}
	return true;
}

static void eevdf_enqueue(struct rs_rq *rq, struct rs_task *t, unsigned int flags)
{
	struct rs_eevdf_entity *e = entity_of(t);

	rs_node_join(&e->h, &queue_of_group(rq, t->group)->h);
	enqueue_path(e, flags);
	rq->nr_queued++;
	if (e->delayed)
		rq->nr_delayed++;
	t->on_rq = true;
}

/* A delayed entity really leaves: one the pick came to, or a task that is killed or changes class. */
static void really_leave(struct rs_rq *rq, struct rs_eevdf_entity *e)
{
	struct rs_task *t = e->task;

	dequeue_path(e, RS_DEQ_SLEEP | RS_DEQ_REAL);
	if (!t)
		return;
	t->on_rq = t->delayed = false;
	rq->nr_queued--;
	rq->nr_delayed--;
}

static bool eevdf_dequeue(struct rs_rq *rq, struct rs_task *t, unsigned int flags)
{
	struct rs_eevdf_entity *e = entity_of(t);

	if (e->delayed && (flags & RS_DEQ_SLEEP)) {
		really_leave(rq, e);
		return true;
	}
	if (!dequeue_path(e, flags)) {
		t->delayed = true;
		rq->nr_delayed++;
		return false;
	}
	t->on_rq = false;
	rq->nr_queued--;
	if (e->delayed)
		rq->nr_delayed--;	/* it moves as a delayed task and is counted again where it joins */
	return true;
}

/* ttwu_runnable() of the queue of 2023: accounted, taken out and queued anew, without the lag it has earned. */
static void wake_delayed_2023(struct rs_rq *rq, struct rs_task *t)
{
	struct rs_eevdf_entity *e = entity_of(t);

	e->delayed = t->delayed = false;
	rq->nr_delayed--;
	if (!rs_feat(rq->model, RS_F_GENTLE_DELAY))
		return;
	eevdf_dequeue(rq, t, RS_DEQ_SAVE);
	if (e->vlag > 0)
		e->vlag = 0;
	eevdf_enqueue(rq, t, RS_ENQ_RESTORE);
}

/* requeue_delayed_entity() of a task */
static void eevdf_wakeup_queued(struct rs_rq *rq, struct rs_task *t)
{
	struct rs_eevdf_entity *e = entity_of(t);

	if (!e->delayed)
		return;
	if (rq->model->rules->delays_in_block) {
		wake_delayed_2023(rq, t);
		return;
	}
	rs_eevdf_requeue(rs_eevdf_queue_of(e), e);
	t->delayed = false;
	rq->nr_delayed--;
}

/* migrate_task_rq_fair(): virtual times need nothing where they are carried as lag */
static void eevdf_migrate(struct rs_task *t, struct rs_rq *to)
{
	if (to->model->rules->joins_like_cfs && t->rq)
		entity_of(t)->vruntime -= queue_of_group(t->rq, t->group)->zero;
	rs_load_remove(&entity_of(t)->h, entity_of(t)->w);
}

/* ---- the wakeup test ---- */

/* The pick of a wakeup test under 6.18, which really dequeues the delayed entities it meets (__pick_next_entity()). */
static struct rs_eevdf_entity *pick_live(struct rs_eevdf_queue *q, bool honour_protection)
{
	while (q->nr) {
		struct rs_eevdf_entity *e = rs_eevdf_pick(q, honour_protection);

		if (!e || !e->delayed)
			return e;
		really_leave(q->h.rq, e);
	}
	return NULL;
}

/* check_preempt_wakeup_fair() from the policy filter on, 6.18 */
static void preempt_by_slice(struct rs_eevdf_queue *q, struct rs_eevdf_entity *c, struct rs_eevdf_entity *e, unsigned int flags)
{
	bool shorter = rs_feat(q->model, RS_F_PREEMPT_SHORT) && e->slice < c->slice;

	if (!shorter && ((flags & RS_ENQ_INITIAL) || e->delayed))
		return;
	if (rs_feat(q->model, RS_F_NEXT_BUDDY) && !(q->next && rs_vtime_before(q->next->deadline, e->deadline)))
		rs_eevdf_set_buddy(e);
	if (pick_live(q, !shorter) == e) {
		if (shorter)
			rs_eevdf_unprotect(q, c);
		q->h.rq->need_resched = true;
	} else if (rs_feat(q->model, RS_F_RUN_TO_PARITY)) {
		rs_eevdf_shorten_protection(q, c);
	}
}

/* the same, up to 6.12 */
static void preempt_by_pick(struct rs_eevdf_queue *q, struct rs_eevdf_entity *c, struct rs_eevdf_entity *e)
{
	bool any_deadline = !q->model->rules->short_by_deadline && !rs_eevdf_eligible(q, c);

	if (rs_feat(q->model, RS_F_PREEMPT_SHORT) && e->slice < c->slice && rs_eevdf_eligible(q, e) &&
	    (any_deadline || rs_vtime_before(e->deadline, c->deadline)))
		rs_eevdf_unprotect(q, c);
	if (rs_eevdf_pick(q, true) == e)
		q->h.rq->need_resched = true;
}

/* check_preempt_wakeup_fair() where the paths of the two meet. @c, @e: the running entity there and the wakee's. */
static void test_level(struct rs_rq *rq, struct rs_eevdf_entity *c, struct rs_eevdf_entity *e, const struct rs_task *p, unsigned int flags)
{
	struct rs_eevdf_queue *q = rs_eevdf_queue_of(e);
	const struct rs_rules *rules = q->model->rules;

	if (c->idle && !e->idle) {
		if (!rules->idle_keeps_protection)
			rs_eevdf_unprotect(q, c);
		rq->need_resched = true;
		return;
	}
	if (c->idle != e->idle || p->policy != RS_SCHED_NORMAL || !rs_feat(q->model, RS_F_WAKEUP_PREEMPTION))
		return;
	rs_eevdf_account(q);
	if (rules->short_by_slice)
		preempt_by_slice(q, c, e, flags);
	else
		preempt_by_pick(q, c, e);
}

/* check_preempt_wakeup_fair() */
static void eevdf_wakeup_preempt(struct rs_rq *rq, struct rs_task *p, unsigned int flags)
{
	const struct rs_rules *rules = rq->model->rules;
	struct rs_eevdf_entity *e = entity_of(p);
	struct rs_node *running, *woken = &e->h;

	if (!rq->curr || rq->curr == p || rs_level_blocked(e->h.queue))
		return;
	running = &entity_of(rq->curr)->h;
	if (rs_feat(rq->model, RS_F_NEXT_BUDDY) && !rules->short_by_slice && !(flags & RS_ENQ_INITIAL) && !e->delayed)
		rs_eevdf_set_buddy(e);
	if (rq->need_resched)
		return;
	if (!rules->idle_keeps_protection && !rs_feat(rq->model, RS_F_WAKEUP_PREEMPTION))
		return;
	if (rules->idle_keeps_protection) {	/* 6.6, 6.8: the tasks themselves first, whatever their groups */
		if (rq->curr->policy == RS_SCHED_IDLE && p->policy != RS_SCHED_IDLE) {
			rq->need_resched = true;
			return;
		}
		if (p->policy != RS_SCHED_NORMAL || !rs_feat(rq->model, RS_F_WAKEUP_PREEMPTION))
			return;
	}
	if (!rs_match_nodes(&running, &woken))
		return;
	test_level(rq, rs_eevdf_of_node(running), rs_eevdf_of_node(woken), p, flags);
}

/* ---- getting and losing the cpu ---- */

/* The running branch below and at @q, its end first. */
static void put_branch(struct rs_eevdf_queue *q)
{
	struct rs_eevdf_entity *c = q->curr;

	if (!c)
		return;
	if (rs_eevdf_own(c))
		put_branch(rs_eevdf_own(c));
	rs_eevdf_put(q, c);
}

/* put_prev_task_fair(), or the put half of pick_next_task_fair(): what the next task shares of the branch goes on running. */
static void eevdf_put_prev(struct rs_rq *rq, struct rs_task *t)
{
	struct rs_task *next = rq->next ? rq->next : root_of(rq)->picked;
	struct rs_node *shared = &entity_of(t)->h, *other = next && next != t ? &entity_of(next)->h : NULL;

	if (other && rs_match_nodes(&shared, &other))
		put_branch((struct rs_eevdf_queue *)shared->queue);
	else
		put_branch(root_of(rq));
}

/* set_next_task_fair() */
static void eevdf_set_next(struct rs_rq *rq, struct rs_task *t, bool picked)
{
	root_of(rq)->picked = NULL;
	for (struct rs_eevdf_entity *e = entity_of(t); e; e = rs_eevdf_parent(e)) {
		struct rs_eevdf_queue *q = rs_eevdf_queue_of(e);

		if (q->curr == e)
			break;		/* shared with the one before, and so is all above */
		put_branch(q);
		rs_eevdf_set(q, e, picked);
	}
}

/* ---- the pick ---- */

/* The buddy where a pick looks at it before anything else (pick_next_entity(), before 6.18). */
static struct rs_eevdf_entity *pick_buddy(struct rs_eevdf_queue *q)
{
	const struct rs_rules *rules = q->model->rules;
	enum rs_feature_id feature = rules->buddy_needs_next_buddy ? RS_F_NEXT_BUDDY : RS_F_PICK_BUDDY;

	if (rules->buddy_in_eevdf_pick || !rs_feat(q->model, feature) || !q->next || !rs_eevdf_eligible(q, q->next))
		return NULL;
	q->why = rs_eevdf_buddy;
	return q->next;
}

/* pick_task_fair(): downwards from the root, and from the root again when a delayed entity had to leave. */
static struct rs_task *eevdf_pick(struct rs_rq *rq)
{
	struct rs_eevdf_queue *root = root_of(rq), *q = root;
	const struct rs_rules *rules = rq->model->rules;

	root->picked = NULL;
	while (q->nr) {
		struct rs_eevdf_entity *e;

		if (q->curr && q->curr->on)
			rs_eevdf_account(q);
		if (rs_eevdf_check_quota(q)) {
			if (rules->throttled_pick_puts)
				put_branch(root);
			q = root;
			continue;
		}
		e = pick_buddy(q);
		if (!e)
			e = rs_eevdf_pick(q, true);
		if (!e)
			break;
		if (e->delayed) {
			if (rules->delays_in_block) {	/* it is set before it leaves */
				put_branch(root);
				e->exec_start = rq->clock_ns;
			}
			really_leave(rq, e);
			q = root;
		} else if (!e->task) {
			q = rs_eevdf_own(e);
		} else {
			if (e->task != rq->curr)
				root->picked = e->task;
			else if (rs_eevdf_queue_of(e)->curr != e)
				eevdf_set_next(rq, e->task, true);	/* it was put on the way */
			return e->task;
		}
	}
	root->why = "nothing is queued";
	return NULL;
}

/* ---- the rest ---- */

/* check_preempt_tick() of the posting whose ticks pick */
static void pick_in_tick(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e)
{
	if (q->nr < 2 || rs_eevdf_pick(q, true) == e)
		return;
	q->h.rq->need_resched = true;
	rs_eevdf_drop_buddy(e);
}

/* task_tick_fair(). entity_tick() only accounts; every level of the running branch. */
static void eevdf_tick(struct rs_rq *rq)
{
	if (!rq->curr)
		return;
	for (struct rs_eevdf_entity *e = entity_of(rq->curr); e; e = rs_eevdf_parent(e)) {
		struct rs_eevdf_queue *q = rs_eevdf_queue_of(e);

		rs_eevdf_account(q);
		rs_eevdf_follow_load(q, e);
		if (q->model->rules->tick_picks)
			pick_in_tick(q, e);
	}
}

/* yield_task_fair() */
static void eevdf_yield(struct rs_rq *rq)
{
	struct rs_eevdf_queue *q = leaf_of(rq);
	struct rs_eevdf_entity *c;

	if (!q || root_of(rq)->h.h_nr == 1)
		return;
	c = entity_of(rq->curr);
	rs_eevdf_drop_buddy(c);
	rs_eevdf_account(q);
	if (!q->model->rules->yield_forfeits) {
		c->deadline += rs_calc_delta_fair(c->slice, &c->load);
	} else if (rs_eevdf_eligible(q, c)) {
		c->vruntime = c->deadline;
		rs_eevdf_slip(q, c);
	}
}

/*
 * task_fork_fair() of 6.6 and 6.8: its placement is lost again at the child's first enqueue, the accounting is not. Before lag was
 * committed to it was the only placement.
 */
static void eevdf_fork(struct rs_rq *rq, struct rs_task *parent, struct rs_task *child)
{
	(void)parent;
	if (rq->model->rules->fork_places)
		eevdf_update_curr(rq);
	if (rq->model->rules->joins_like_cfs)
		rs_eevdf_place_new(queue_of_group(rq, child->group), entity_of(child));
}

/* prio_changed_fair() */
static void prio_changed(struct rs_rq *rq, struct rs_task *t, int old_nice, bool running)
{
	if (!t->on_rq || root_of(rq)->nr == 1 || t->nice == old_nice)
		return;
	if (running) {
		if (t->nice > old_nice)
			rq->need_resched = true;
	} else {
		eevdf_wakeup_preempt(rq, t, 0);
	}
}

static bool is_running(const struct rs_task *t)
{
	const struct rs_eevdf_queue *q = rs_eevdf_queue_of(entity_of(t));

	return q && q->curr == entity_of(t);
}

/* set_user_nice(), __sched_setscheduler() */
static void eevdf_reweight(struct rs_task *t, uint64_t clock_ns, int nice, enum rs_sched_policy policy, uint64_t custom_slice_ns)
{
	struct rs_eevdf_entity *e = entity_of(t);
	struct rs_rq *rq = t->rq;
	const struct rs_model *model = rs_tree_entry(e, struct eevdf_task, e)->model;
	struct rs_eevdf_queue unqueued = { .model = model };
	bool queued = t->on_rq, running = is_running(t);
	int old_nice = t->nice;

	if (queued || running)
		rq->clock_ns = clock_ns;
	if (!model->rules->same_params_replace && nice == t->nice && policy == t->policy &&
	    (!model->rules->custom_slices || custom_slice_ns == t->custom_slice_ns)) {
		t->custom_slice_ns = custom_slice_ns;
		return;
	}
	if (queued)
		eevdf_dequeue(rq, t, RS_DEQ_SAVE);
	if (running)
		put_branch(root_of(rq));
	t->nice = nice;
	t->policy = policy;
	t->custom_slice_ns = custom_slice_ns;
	e->idle = policy == RS_SCHED_IDLE;
	set_slice(e, model, t);
	rs_eevdf_reweight(e->h.queue ? rs_eevdf_queue_of(e) : &unqueued, e, rs_load_of_task(nice, policy));
	if (queued)
		eevdf_enqueue(rq, t, RS_ENQ_RESTORE);
	if (running)
		eevdf_set_next(rq, t, false);
	if (rq)
		prio_changed(rq, t, old_nice, running);
}

/* detach_entity_cfs_rq(), attach_entity_cfs_rq(): the groups above follow, without new weights. */
static void shift_load(struct rs_eevdf_entity *e, unsigned int flags)
{
	rs_eevdf_update_load(rs_eevdf_queue_of(e), e, flags);
	while ((e = rs_eevdf_parent(e)))
		rs_eevdf_update_load(rs_eevdf_queue_of(e), e, RS_LOAD_UPDATE_TG);
}

/* sched_move_task(): lag and what is left of the request are carried over. */
static void eevdf_move_group(struct rs_task *t, uint64_t clock_ns, struct rs_group *to)
{
	struct rs_eevdf_entity *e = entity_of(t);
	struct rs_rq *rq = t->rq;
	bool queued = t->on_rq, running = is_running(t);

	if (queued || running)
		rq->clock_ns = clock_ns;
	if (queued)
		eevdf_dequeue(rq, t, RS_DEQ_SAVE | RS_DEQ_MOVE);
	if (running)
		put_branch(root_of(rq));
	t->group = to;
	if (rq) {
		if (e->h.queue)
			shift_load(e, RS_LOAD_UPDATE_TG | RS_LOAD_DETACH);
		e->h.avg.last_update = 0;
		rs_node_join(&e->h, &queue_of_group(rq, to)->h);
		shift_load(e, RS_LOAD_UPDATE_TG | RS_LOAD_ATTACH);
	}
	if (queued)
		eevdf_enqueue(rq, t, RS_ENQ_RESTORE);
	if (running) {
		eevdf_set_next(rq, t, false);
		rq->need_resched = true;
	}
}

/* __update_blocked_fair() */
static void eevdf_decay_group(struct rs_rq *rq, struct rs_group *group)
{
	struct rs_eevdf_queue *q = queue_of_group(rq, group);
	struct rs_eevdf_entity *e = rs_eevdf_of_node(q->h.owner);

	rs_level_decay(&q->h, rs_load_down(q->weight), q->curr != NULL);
	rs_eevdf_update_load(rs_eevdf_queue_of(e), e, RS_LOAD_UPDATE_TG);
}

static void eevdf_group_timer(struct rs_group *group, uint64_t now_ns)
{
	rs_quota_timer(group, now_ns, rs_eevdf_unthrottle);
}

static bool eevdf_limit_group(struct rs_rq *rq, struct rs_group *group, bool lift)
{
	struct rs_level *level = &queue_of_group(rq, group)->h;

	rs_quota_renew(level);
	if (!lift || !rs_quota_lift(level))
		return false;
	rs_eevdf_unthrottle(level);
	return true;
}

/* hrtick_start_fair() */
static uint64_t eevdf_next_timer(const struct rs_rq *rq)
{
	const struct rs_eevdf_entity *c = rq->curr ? entity_of(rq->curr) : NULL;
	uint64_t ran;

	if (!rs_feat(rq->model, RS_F_HRTICK) || !c || !c->on || root_of(rq)->h.h_nr < 2)
		return 0;
	ran = c->sum_exec - c->prev_sum_exec;
	if (ran + HRTICK_MIN_NS >= c->slice)
		return HRTICK_MIN_NS;
	return c->slice - ran;
}

/* As eevdf_pick(), without its effects. */
static struct rs_task *eevdf_peek(struct rs_rq *rq)
{
	struct rs_eevdf_queue *q = root_of(rq);
	const char *why = q->why;
	struct rs_eevdf_entity *e = NULL;

	while (q && q->nr) {
		e = pick_buddy(q);
		if (!e)
			e = rs_eevdf_pick(q, true);
		if (!e || e->task)
			break;
		q = rs_eevdf_own(e);
	}
	root_of(rq)->why = why;
	return e ? e->task : NULL;
}

static void eevdf_adjust(struct rs_rq *rq, struct rs_task *t, int64_t dv, int64_t dd)
{
	struct rs_eevdf_queue *q = queue_of_group(rq, t->group);
	struct rs_eevdf_entity *e = entity_of(t);
	bool linked = e->on && q->curr != e;

	if (!e->on) {
		e->vlag -= dv;
		return;
	}
	if (linked)
		rs_eevdf_unlink(q, e);
	if (q->curr == e && dv == dd)
		e->protect += (uint64_t)dd;
	e->vruntime += (uint64_t)dv;
	e->deadline += (uint64_t)dd;
	if (linked)
		rs_eevdf_link(q, e);
}

/* Tasks in the subtree of @e and above, by @nr. */
static void count_tasks(struct rs_eevdf_entity *e, int nr)
{
	for (; e; e = rs_eevdf_parent(e))
		rs_eevdf_queue_of(e)->h.h_nr += (unsigned int)nr;
}

static void eevdf_restore(struct rs_rq *rq, struct rs_task *t, struct rs_group *group, const struct rs_entity_state *state)
{
	struct rs_eevdf_entity *e = t ? entity_of(t) : &((struct eevdf_group *)rs_group_part(group, rq->cpu))->e;

	if (state->again && (e->on != state->on || e->delayed != state->delayed))
		return;
	if (!t) {
		rs_eevdf_restore(queue_of_group(rq, group->parent), e, state);
		if (state->load)
			rs_load_restore(&e->h, state->load);
		return;
	}
	if (t->on_rq) {
		count_tasks(e, -1);
		rq->nr_queued--;
		rq->nr_delayed -= t->delayed;
	} else {
		rs_node_join(&e->h, &queue_of_group(rq, t->group)->h);
	}
	rs_eevdf_restore(rs_eevdf_queue_of(e), e, state);
	if (state->load)
		rs_load_restore(&e->h, state->load);
	t->on_rq = state->on;
	t->delayed = e->delayed = state->on && e->delayed;
	if (!t->on_rq)
		return;
	count_tasks(e, 1);
	rq->nr_queued++;
	rq->nr_delayed += t->delayed;
}

static void view_entity(const struct rs_eevdf_queue *q, const struct rs_eevdf_entity *e, struct rs_entity_view *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->task = e->task;
	ret->weight = e->w;
	ret->vruntime = e->vruntime;
	ret->deadline = e->deadline;
	ret->vlag = e->on ? (int64_t)(rs_eevdf_peek_avg(q) - e->vruntime) : e->vlag;
	ret->lag_ns = (int64_t)((__int128)ret->vlag * (int64_t)e->w / 1024);
	ret->slice_ns = e->slice;
	ret->running = q->curr == e;
	ret->used_ns = ret->running ? e->sum_exec - e->prev_sum_exec : 0;
	ret->eligible = e->on && rs_eevdf_eligible(q, e);
	ret->delayed = e->delayed;
}

static void eevdf_view_task(const struct rs_rq *rq, const struct rs_task *t, struct rs_entity_view *ret)
{
	view_entity(queue_of_group(rq, t->group), entity_of(t), ret);
}

static void eevdf_view_group(const struct rs_rq *rq, const struct rs_group *group, struct rs_entity_view *ret)
{
	view_entity(queue_of_group(rq, group->parent), &((struct eevdf_group *)rs_group_part(group, rq->cpu))->e, ret);
}

static void eevdf_view_group_rq(const struct rs_rq *rq, const struct rs_group *group, struct rs_rq_view *ret)
{
	const struct rs_eevdf_queue *q = queue_of_group(rq, group);

	ret->avg_vruntime = rs_eevdf_peek_avg(q);
	ret->min_vruntime = q->zero;
	ret->load = q->load + (q->curr && q->curr->on ? q->curr->w : 0);
	ret->nr = q->h.h_nr;
	ret->why = q->why;
	ret->nominated = q->why == rs_eevdf_buddy;
}

static void eevdf_view_rq(const struct rs_rq *rq, struct rs_rq_view *ret)
{
	eevdf_view_group_rq(rq, NULL, ret);
}

#define EEVDF_HOOKS \
	.rq_size = sizeof(struct rs_eevdf_queue), .task_size = sizeof(struct eevdf_task), \
	.rq_init = eevdf_rq_init, .task_init = eevdf_task_init, .fork = eevdf_fork, .update_curr = eevdf_update_curr, \
	.enqueue = eevdf_enqueue, .dequeue = eevdf_dequeue, .wakeup_queued = eevdf_wakeup_queued, \
	.wakeup_preempt = eevdf_wakeup_preempt, .pick = eevdf_pick, .put_prev = eevdf_put_prev, .set_next = eevdf_set_next, \
	.tick = eevdf_tick, .yield = eevdf_yield, .reweight = eevdf_reweight, .migrate = eevdf_migrate, \
	.next_timer = eevdf_next_timer, .view_task = eevdf_view_task, .view_rq = eevdf_view_rq, \
	.group_size = sizeof(struct eevdf_group), .group_init = eevdf_group_init, .move_group = eevdf_move_group, \
	.decay_group = eevdf_decay_group, .group_timer = eevdf_group_timer, .limit_group = eevdf_limit_group, \
	.view_group = eevdf_view_group, .view_group_rq = eevdf_view_group_rq, \
	.peek = eevdf_peek, .adjust = eevdf_adjust, .restore = eevdf_restore

const struct rs_policy_ops rs_eevdf_ops = {
	.name = "eevdf", .summary = "earliest eligible virtual deadline first", EEVDF_HOOKS
};

/* Eligibility is a property of the model (ENFORCE_ELIGIBILITY), so not a line differs. */
const struct rs_policy_ops rs_evdf_ops = {
	.name = "evdf", .summary = "earliest virtual deadline first, eligible or not", EEVDF_HOOKS
};
