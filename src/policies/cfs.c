// SPDX-License-Identifier: GPL-2.0-only
/*
 * cfs: the task with the least virtual run time runs, in slices that share a period by weight (Linux up to 6.5).
 * Kernel: kernel/sched/fair.c of 4.18.0-240.el8, 5.4.59, 5.10.89, 5.15.135 and 6.1.192, and stages towards EEVDF that still picked so
 * (model_rows.c), selected by the model's rules; one queue a CPU and group.
 * State: a tree a queue, ordered by vruntime; the running entity is not in it. Here is what happens along the levels of a hierarchy;
 * the steps of one entity are in cfs_entity.c. Every operation is O(log n), and O(1) in the levels.
 */
#include <string.h>

#include "policies/cfs.h"
#include "policies/quota.h"
#include "policies/registry.h"

#define HRTICK_MIN_NS	10000u			/* hrtick_start() */

/* A group's part on one cpu. */
struct cfs_group {
	struct rs_cfs_entity e;
	struct rs_cfs_queue q;
};

static struct rs_cfs_queue *root_of(const struct rs_rq *rq)
{
	return rq->priv;
}

static struct rs_cfs_entity *entity_of(const struct rs_task *t)
{
	return t->priv;
}

static struct rs_cfs_queue *queue_of_group(const struct rs_rq *rq, const struct rs_group *group)
{
	return group ? &((struct cfs_group *)rs_group_part(group, rq->cpu))->q : root_of(rq);
}

static void cfs_rq_init(struct rs_rq *rq)
{
	rs_cfs_queue_init(root_of(rq), rq->model);
	rs_level_init(&root_of(rq)->h, rq, NULL, NULL);
}

static void cfs_task_init(struct rs_task *t, const struct rs_model *model)
{
	struct rs_cfs_entity *e = entity_of(t);

	e->task = t;
	e->model = model;
	e->load = rs_load_of_task(t->nice, t->policy);
	e->idle = t->policy == RS_SCHED_IDLE;
	rs_load_init(&e->h, rs_load_down(e->load.weight));
}

/* init_tg_cfs_entry() */
static void cfs_group_init(struct rs_group *group, struct rs_rq *rq)
{
	struct cfs_group *part = rs_group_part(group, rq->cpu);

	part->e.model = rq->model;
	part->e.load.weight = group->shares;
	part->e.idle = group->idle && rq->model->rules->idle_groups;
	rs_node_join(&part->e.h, &queue_of_group(rq, group->parent)->h);
	rs_cfs_queue_init(&part->q, rq->model);
	rs_level_init(&part->q.h, rq, group, &part->e.h);
}

/* update_curr_fair() */
static void cfs_update_curr(struct rs_rq *rq)
{
	if (rq->curr)
		rs_cfs_account(rs_cfs_queue_of(entity_of(rq->curr)));
}

/* ---- joining and leaving, along the levels ---- */

/* The levels above a change that neither join nor leave. */
static void refresh_above(struct rs_cfs_entity *e, int nr_tasks)
{
	for (; e; e = rs_cfs_parent(e)) {
		rs_cfs_follow_load(rs_cfs_queue_of(e), e);
		rs_cfs_queue_of(e)->h.h_nr += (unsigned int)nr_tasks;
		if (rs_cfs_queue_of(e)->h.throttled)
			return;
	}
}

/* enqueue_task_fair(): join upwards until a group is queued already. Above the first level that is always a wakeup. */
static void cfs_enqueue(struct rs_rq *rq, struct rs_task *t, unsigned int flags)
{
	struct rs_cfs_entity *e = entity_of(t);

	bool blocked = false;

	rs_node_join(&e->h, &queue_of_group(rq, t->group)->h);
	for (; e && !e->on && !blocked; e = rs_cfs_parent(e)) {
		struct rs_cfs_queue *q = rs_cfs_queue_of(e);

		rs_cfs_enqueue_entity(q, e, flags);
		q->h.h_nr++;
		flags = RS_ENQ_WAKEUP;
		blocked = q->h.throttled;
	}
	if (!blocked)
		refresh_above(e, 1);
	rq->nr_queued++;
	t->on_rq = true;
}

/* dequeue_task_fair(): leave upwards until a queue keeps something. A group that its sleeping task leaves with work is favoured. */
static bool cfs_dequeue(struct rs_rq *rq, struct rs_task *t, unsigned int flags)
{
	struct rs_cfs_entity *e = entity_of(t);
	bool sleep = flags & RS_DEQ_SLEEP;

	t->on_rq = false;
	rq->nr_queued--;
	for (; e; e = rs_cfs_parent(e)) {
		struct rs_cfs_queue *q = rs_cfs_queue_of(e);

		rs_cfs_dequeue_entity(q, e, flags);
		q->h.h_nr--;
		if (q->h.throttled)
			return true;
		if (q->nr) {
			e = rs_cfs_parent(e);
			if (sleep && !rs_level_blocked(&q->h))
				rs_cfs_hint_next(e);
			break;
		}
		flags |= RS_DEQ_SLEEP;
	}
	refresh_above(e, -1);
	return true;
}

/* migrate_task_rq_fair(): the old queue's floor is read without bringing it up to date */
static void cfs_migrate(struct rs_task *t, struct rs_rq *to)
{
	struct rs_cfs_entity *e = entity_of(t);

	(void)to;
	if (!t->rq)
		return;
	e->vruntime -= queue_of_group(t->rq, t->group)->min_vruntime;
	rs_load_remove(&e->h, rs_load_down(e->load.weight));
	if (e->model->rules->stamp_cleared_on_leave)
		e->exec_start = 0;
}

/* Nothing is ever delayed here. */
static void cfs_wakeup_queued(struct rs_rq *rq, struct rs_task *t)
{
	(void)rq;
	(void)t;
}

/* ---- the wakeup test ---- */

/* The preempting half of check_preempt_wakeup(): mark, and remember whom it hit. */
static void preempt(struct rs_rq *rq, struct rs_cfs_entity *hit, bool many)
{
	rq->need_resched = true;
	if (hit->task && many && rs_feat(rq->model, RS_F_LAST_BUDDY))
		rs_cfs_hint_last(hit);
}

/* check_preempt_wakeup() */
static void cfs_wakeup_preempt(struct rs_rq *rq, struct rs_task *p, unsigned int flags)
{
	struct rs_cfs_entity *c, *e = entity_of(p);
	struct rs_node *running, *woken = &e->h;
	bool many, hinted = false;

	if (!rq->curr || rq->curr == p || rs_level_blocked(e->h.queue))
		return;
	c = entity_of(rq->curr);
	many = rs_cfs_queue_of(c)->nr >= rq->model->nr_latency;
	if (many && rs_feat(rq->model, RS_F_NEXT_BUDDY) && !(flags & RS_ENQ_INITIAL)) {
		rs_cfs_hint_next(e);
		hinted = true;
	}
	if (rq->need_resched)
		return;
	if (c->idle && !e->idle) {
		preempt(rq, c, many);
		return;
	}
	if (p->policy != RS_SCHED_NORMAL || !rs_feat(rq->model, RS_F_WAKEUP_PREEMPTION))
		return;
	running = &c->h;
	if (!rs_match_nodes(&running, &woken))
		return;
	c = (struct rs_cfs_entity *)running;
	e = (struct rs_cfs_entity *)woken;
	if (c->idle && !e->idle) {
		preempt(rq, c, many);
		return;
	}
	if (c->idle != e->idle)
		return;
	rs_cfs_account(rs_cfs_queue_of(c));
	if (rs_cfs_compare(rs_cfs_queue_of(c), c, e) != 1)
		return;
	if (!hinted)
		rs_cfs_hint_next(e);
	preempt(rq, c, many);
}

/* ---- getting and losing the cpu ---- */

/* The running branch below and at @q, its end first. */
static void put_branch(struct rs_cfs_queue *q)
{
	struct rs_cfs_entity *c = q->curr;

	if (!c)
		return;
	if (rs_cfs_own(c))
		put_branch(rs_cfs_own(c));
	rs_cfs_put(q, c);
}

/* put_prev_task_fair(), or the put half of pick_next_task_fair(): what the next task shares of the branch goes on running. */
static void cfs_put_prev(struct rs_rq *rq, struct rs_task *t)
{
	struct rs_task *next = rq->next ? rq->next : root_of(rq)->picked;
	struct rs_node *shared = &entity_of(t)->h, *other = next && next != t ? &entity_of(next)->h : NULL;

	if (other && rs_match_nodes(&shared, &other))
		put_branch((struct rs_cfs_queue *)shared->queue);
	else
		put_branch(root_of(rq));
}

/* set_next_task_fair() */
static void cfs_set_next(struct rs_rq *rq, struct rs_task *t, bool picked)
{
	root_of(rq)->picked = NULL;
	for (struct rs_cfs_entity *e = entity_of(t); e; e = rs_cfs_parent(e)) {
		struct rs_cfs_queue *q = rs_cfs_queue_of(e);

		if (q->curr == e)
			break;		/* shared with the one before, and so is all above */
		put_branch(q);
		rs_cfs_set(q, e, picked);
	}
}

/* ---- the pick ---- */

/* pick_next_task_fair() */
static struct rs_task *cfs_pick(struct rs_rq *rq)
{
	struct rs_cfs_queue *root = root_of(rq);

	root->picked = NULL;
	for (struct rs_cfs_queue *q = root; q->nr;) {
		struct rs_cfs_entity *c = q->curr && q->curr->on ? q->curr : NULL, *e;

		if (c)
			rs_cfs_account(q);
		if (q->curr && rs_cfs_check_quota(q)) {
			put_branch(root);	/* and all over again without anybody running */
			q = root;
			continue;
		}
		e = rs_cfs_pick(q, c);
		if (!e->task) {
			q = rs_cfs_own(e);
			continue;
		}
		if (e->task != rq->curr)
			root->picked = e->task;
		else if (rs_cfs_queue_of(e)->curr != e)
			cfs_set_next(rq, e->task, true);	/* it was put on the way */
		return e->task;
	}
	root->why = "nothing is queued";
	return NULL;
}

/* ---- the tick ---- */

/* check_preempt_tick() */
static void check_slice(struct rs_cfs_queue *q, struct rs_cfs_entity *c)
{
	uint64_t slice = rs_cfs_slice(c), ran = c->sum_exec - c->prev_sum_exec, most = q->model->tunable[RS_T_latency_ns];
	int64_t gap;

	if (q->model->rules->tick_caps_slice && slice > most)
		slice = most;

	if (ran > slice) {
		q->h.rq->need_resched = true;
		rs_cfs_drop_hints(c);
		return;
	}
	if (ran < q->model->tunable[RS_T_min_granularity_ns])
		return;
	gap = (int64_t)(c->vruntime - rs_cfs_first(q)->vruntime);
	if (gap >= 0 && gap > (int64_t)slice)
		q->h.rq->need_resched = true;
}

/*
 * With HRTICK a pending high resolution timer checks instead of the tick. It is pending until the slice of the task has ended; the
 * timer's own tick comes after it.
 */
static bool timer_checks(const struct rs_rq *rq)
{
	const struct rs_cfs_entity *c = entity_of(rq->curr);

	return rs_feat(rq->model, RS_F_HRTICK) && !rs_feat(rq->model, RS_F_DOUBLE_TICK) &&
	       c->sum_exec - c->prev_sum_exec <= rs_cfs_slice(c);
}

/* task_tick_fair(), entity_tick() */
static void cfs_tick(struct rs_rq *rq)
{
	if (!rq->curr)
		return;
	for (struct rs_cfs_entity *e = entity_of(rq->curr); e; e = rs_cfs_parent(e)) {
		struct rs_cfs_queue *q = rs_cfs_queue_of(e);

		rs_cfs_account(q);
		rs_cfs_follow_load(q, e);
		if (q->nr > 1 && !timer_checks(rq))
			check_slice(q, e);
	}
}

/* ---- the rest ---- */

/* yield_task_fair() */
static void cfs_yield(struct rs_rq *rq)
{
	struct rs_cfs_entity *c;

	if (!rq->curr || root_of(rq)->h.h_nr == 1)
		return;
	c = entity_of(rq->curr);
	rs_cfs_drop_hints(c);
	if (rq->curr->policy != RS_SCHED_BATCH)
		rs_cfs_account(rs_cfs_queue_of(c));
	rs_cfs_hint_skip(c);
}

/* task_fork_fair(). The child is placed once, on its parent's queue; what it carries to its own is the distance to the floor. */
static void cfs_fork(struct rs_rq *rq, struct rs_task *parent, struct rs_task *child)
{
	struct rs_cfs_queue *q = queue_of_group(rq, child->group);
	struct rs_cfs_entity *c = q->curr, *e = entity_of(child);

	(void)parent;
	rs_node_join(&e->h, &q->h);
	if (c) {
		rs_cfs_account(q);
		e->vruntime = c->vruntime;
	}
	rs_cfs_place(q, e, true);
	if (q->model->tunable[RS_T_sched_child_runs_first] && c && rs_cfs_before(c, e)) {
		uint64_t swap = c->vruntime;

		c->vruntime = e->vruntime;
		e->vruntime = swap;
		rq->need_resched = true;
	}
	e->vruntime -= q->min_vruntime;
}

/* prio_changed_fair(); set_user_nice() itself in 5.4 */
static void prio_changed(struct rs_rq *rq, struct rs_task *t, int old_nice, bool running)
{
	if (!t->on_rq || t->nice == old_nice)
		return;
	if (rq->model->rules->nice_rescheds) {
		if (t->nice < old_nice || running)
			rq->need_resched = true;
		return;
	}
	if (root_of(rq)->nr == 1)
		return;
	if (!running)
		cfs_wakeup_preempt(rq, t, 0);
	else if (t->nice > old_nice)
		rq->need_resched = true;
}

static bool is_running(const struct rs_task *t)
{
	const struct rs_cfs_queue *q = rs_cfs_queue_of(entity_of(t));

	return q && q->curr == entity_of(t);
}

/* set_user_nice(), __sched_setscheduler(): vruntime stays, the mark of the slice is set anew */
static void cfs_reweight(struct rs_task *t, uint64_t clock_ns, int nice, enum rs_sched_policy policy, uint64_t custom_slice_ns)
{
	struct rs_cfs_entity *e = entity_of(t);
	struct rs_rq *rq = t->rq;
	bool queued = t->on_rq, running = is_running(t);
	bool move = policy != t->policy && nice != t->nice;	/* the kernel drops DEQUEUE_MOVE while the priority stays */
	int old_nice = t->nice;

	t->custom_slice_ns = custom_slice_ns;	/* no meaning here */
	if (nice == t->nice && policy == t->policy)
		return;
	if (queued || running)
		rq->clock_ns = clock_ns;
	if (queued)
		cfs_dequeue(rq, t, move ? RS_DEQ_SAVE | RS_DEQ_MOVE : RS_DEQ_SAVE);
	if (running)
		put_branch(root_of(rq));
	t->nice = nice;
	t->policy = policy;
	e->idle = policy == RS_SCHED_IDLE;
	rs_cfs_reweight(e, rs_load_of_task(nice, policy));
	if (queued)
		cfs_enqueue(rq, t, RS_ENQ_RESTORE);
	if (running)
		cfs_set_next(rq, t, false);
	if (rq)
		prio_changed(rq, t, old_nice, running);
}

/* A sleeper's vruntime is made one of its new group's queue; that of a task which never ran is relative already. */
static void rehome_sleeper(struct rs_rq *rq, struct rs_cfs_entity *e, const struct rs_group *to)
{
	bool absolute = e->h.queue && e->sum_exec;

	rs_load_remove(&e->h, rs_load_down(e->load.weight));
	if (absolute) {
		rs_cfs_place(rs_cfs_queue_of(e), e, false);
		e->vruntime -= rs_cfs_queue_of(e)->min_vruntime;
	}
	if (!rq)
		return;
	rs_node_join(&e->h, &queue_of_group(rq, to)->h);
	if (absolute)
		e->vruntime += rs_cfs_queue_of(e)->min_vruntime;
}

/* sched_move_task() */
static void shift_load(struct rs_cfs_entity *e, unsigned int flags)
{
	rs_cfs_update_load((struct rs_cfs_queue *)e->h.queue, e, flags);
	while ((e = (struct rs_cfs_entity *)e->h.parent))
		rs_cfs_update_load((struct rs_cfs_queue *)e->h.queue, e, RS_LOAD_UPDATE_TG);
}

static void cfs_move_group(struct rs_task *t, uint64_t clock_ns, struct rs_group *to)
{
	struct rs_cfs_entity *e = entity_of(t);
	struct rs_rq *rq = t->rq;
	bool queued = t->on_rq, running = is_running(t);

	if (queued || running)
		rq->clock_ns = clock_ns;
	if (queued)
		cfs_dequeue(rq, t, RS_DEQ_SAVE | RS_DEQ_MOVE);
	if (running)
		put_branch(root_of(rq));
	t->group = to;
	if (queued) {
		shift_load(e, RS_LOAD_UPDATE_TG | RS_LOAD_DETACH);
		e->h.avg.last_update = 0;
	}
	if (!queued)
		rehome_sleeper(rq, e, to);
	else
		cfs_enqueue(rq, t, RS_ENQ_RESTORE);
	if (running) {
		cfs_set_next(rq, t, false);
		rq->need_resched = true;
	}
}

/* __update_blocked_fair() */
static void cfs_decay_group(struct rs_rq *rq, struct rs_group *group)
{
	struct rs_cfs_queue *q = queue_of_group(rq, group);
	struct rs_cfs_entity *e = (struct rs_cfs_entity *)q->h.owner;

	rs_level_decay(&q->h, rs_load_down(q->load), q->curr != NULL);
	rs_cfs_update_load(rs_cfs_queue_of(e), e, RS_LOAD_UPDATE_TG);
}

static void cfs_group_timer(struct rs_group *group, uint64_t now_ns)
{
	rs_quota_timer(group, now_ns, rs_cfs_unthrottle);
}

static bool cfs_limit_group(struct rs_rq *rq, struct rs_group *group, bool lift)
{
	struct rs_level *level = &queue_of_group(rq, group)->h;

	rs_quota_renew(level);
	if (!lift || !rs_quota_lift(level))
		return false;
	rs_cfs_unthrottle(level);
	return true;
}

/* hrtick_start_fair() */
static uint64_t cfs_next_timer(const struct rs_rq *rq)
{
	const struct rs_cfs_entity *c = rq->curr ? entity_of(rq->curr) : NULL;
	uint64_t ran, slice;

	if (!rs_feat(rq->model, RS_F_HRTICK) || !c || !c->on || root_of(rq)->h.h_nr < 2)
		return 0;
	ran = c->sum_exec - c->prev_sum_exec;
	slice = rs_cfs_slice(c);
	return ran + HRTICK_MIN_NS >= slice ? HRTICK_MIN_NS : slice - ran;
}

static void view_entity(const struct rs_cfs_queue *q, const struct rs_cfs_entity *e, struct rs_entity_view *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->task = e->task;
	ret->weight = rs_load_down(e->load.weight);
	ret->vruntime = e->vruntime;
	ret->slice_ns = e->h.queue ? rs_cfs_slice(e) : 0;
	ret->running = q->curr == e;
	ret->used_ns = ret->running ? e->sum_exec - e->prev_sum_exec : 0;
	ret->eligible = e->on;
}

/* As cfs_pick(), without its effects. */
static struct rs_task *cfs_peek(struct rs_rq *rq)
{
	struct rs_cfs_queue *q = root_of(rq);
	const char *why = q->why;
	struct rs_cfs_entity *e = NULL;

	while (q && q->nr) {
		struct rs_cfs_entity *hints[] = { q->next, q->last, q->skip };

		e = rs_cfs_pick(q, q->curr && q->curr->on ? q->curr : NULL);
		q->next = hints[0];
		q->last = hints[1];
		q->skip = hints[2];
		if (!e || e->task)
			break;
		q = rs_cfs_own(e);
	}
	root_of(rq)->why = why;
	return e ? e->task : NULL;
}

static void cfs_adjust(struct rs_rq *rq, struct rs_task *t, int64_t dv, int64_t dd)
{
	struct rs_cfs_queue *q = queue_of_group(rq, t->group);
	struct rs_cfs_entity *e = entity_of(t);
	bool linked = e->on && q->curr != e;

	(void)dd;
	if (linked)
		rs_cfs_unlink(q, e);
	e->vruntime += (uint64_t)dv;
	if (linked)
		rs_cfs_link(q, e);
}

static void cfs_view_task(const struct rs_rq *rq, const struct rs_task *t, struct rs_entity_view *ret)
{
	view_entity(queue_of_group(rq, t->group), entity_of(t), ret);
}

static void cfs_view_group(const struct rs_rq *rq, const struct rs_group *group, struct rs_entity_view *ret)
{
	view_entity(queue_of_group(rq, group->parent), &((struct cfs_group *)rs_group_part(group, rq->cpu))->e, ret);
}

/* The weighted mean is for display only, so it may walk the tree. */
static void cfs_view_group_rq(const struct rs_rq *rq, const struct rs_group *group, struct rs_rq_view *ret)
{
	const struct rs_cfs_queue *q = queue_of_group(rq, group);
	__int128 sum = 0;
	int64_t load = 0;

	for (const struct rs_cfs_entity *e = rs_cfs_first(q); e; e = rs_cfs_next(e)) {
		sum += (__int128)(int64_t)(e->vruntime - q->min_vruntime) * (int64_t)e->load.weight;
		load += (int64_t)e->load.weight;
	}
	if (q->curr && q->curr->on) {
		sum += (__int128)(int64_t)(q->curr->vruntime - q->min_vruntime) * (int64_t)q->curr->load.weight;
		load += (int64_t)q->curr->load.weight;
	}
	ret->avg_vruntime = q->min_vruntime + (load ? (uint64_t)(int64_t)(sum / load) : 0);
	ret->min_vruntime = q->min_vruntime;
	ret->load = q->load >> 10;
	ret->nr = q->h.h_nr;
	ret->why = q->why;
	ret->nominated = false;	/* a hint of CFS gives way to vruntime, and is gone once it was followed */
}

static void cfs_view_rq(const struct rs_rq *rq, struct rs_rq_view *ret)
{
	cfs_view_group_rq(rq, NULL, ret);
}

const struct rs_policy_ops rs_cfs_ops = {
	.name = "cfs", .summary = "the least virtual run time first",
	.rq_size = sizeof(struct rs_cfs_queue), .task_size = sizeof(struct rs_cfs_entity),
	.rq_init = cfs_rq_init, .task_init = cfs_task_init, .fork = cfs_fork, .update_curr = cfs_update_curr,
	.enqueue = cfs_enqueue, .dequeue = cfs_dequeue, .wakeup_preempt = cfs_wakeup_preempt,
	.wakeup_queued = cfs_wakeup_queued, .pick = cfs_pick, .put_prev = cfs_put_prev, .set_next = cfs_set_next,
	.tick = cfs_tick, .yield = cfs_yield, .reweight = cfs_reweight, .migrate = cfs_migrate, .next_timer = cfs_next_timer,
	.view_task = cfs_view_task, .view_rq = cfs_view_rq,
	.group_size = sizeof(struct cfs_group), .group_init = cfs_group_init, .move_group = cfs_move_group,
	.decay_group = cfs_decay_group, .group_timer = cfs_group_timer, .limit_group = cfs_limit_group,
	.view_group = cfs_view_group, .view_group_rq = cfs_view_group_rq,
	.peek = cfs_peek, .adjust = cfs_adjust,
};
