/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The private state of CFS, and what happens to one entity, of a task or of a group, in one queue. cfs.c has what happens along the
 * levels of a hierarchy.
 *
 * Invariants: q->curr is not in the tree, but counts in load and nr while it is queued (on). min_vruntime never goes back.
 * vruntime is absolute while an entity is queued or asleep, and relative to min_vruntime while it moves between queues.
 */
#ifndef RS_POLICIES_CFS_H
#define RS_POLICIES_CFS_H

#include "policies/group.h"
#include "policies/model.h"
#include "policies/policy.h"
#include "policies/tree.h"
#include "policies/weight.h"

struct rs_cfs_entity {
	struct rs_node h;		/* place in the hierarchy */
	struct rs_tree_node node;	/* key: vruntime */
	uint64_t vruntime;
	struct rs_load load;
	uint64_t exec_start, sum_exec, prev_sum_exec;	/* prev_sum_exec: sum_exec when it was last set running */
	struct rs_task *task;		/* NULL: stands for a group */
	const struct rs_model *model;
	int64_t vlag;			/* V - vruntime when it went to sleep; only where lag places */
	bool on, idle;
};

struct rs_cfs_queue {
	struct rs_level h;		/* place in the hierarchy */
	const struct rs_model *model;
	struct rs_tree tree;
	struct rs_cfs_entity *curr, *next, *last, *skip;	/* the last three are buddy hints */
	uint64_t load;			/* sum of scaled weights, the running one included */
	unsigned int nr, nr_idle;
	uint64_t min_vruntime;
	uint64_t avg_sum, avg_load;	/* over the tree: plain weight * (vruntime - min_vruntime), and the weights */
	struct rs_task *picked;		/* root queue: what the last pick returned, until it is set */
	const char *why;		/* why the last pick was made */
};

/* The hierarchy links are the first members. */
static inline struct rs_cfs_entity *rs_cfs_parent(const struct rs_cfs_entity *e)
{
	return (struct rs_cfs_entity *)e->h.parent;
}

static inline struct rs_cfs_queue *rs_cfs_queue_of(const struct rs_cfs_entity *e)
{
	return (struct rs_cfs_queue *)e->h.queue;
}

/* The queue a group's entity stands for; NULL: it is a task's. */
static inline struct rs_cfs_queue *rs_cfs_own(const struct rs_cfs_entity *e)
{
	return (struct rs_cfs_queue *)e->h.own;
}

static inline bool rs_cfs_before(const struct rs_cfs_entity *a, const struct rs_cfs_entity *b)
{
	return rs_vtime_before(a->vruntime, b->vruntime);
}

void rs_cfs_queue_init(struct rs_cfs_queue *q, const struct rs_model *model);
/* rs_cfs_first(), rs_cfs_next() - the entities of the tree by vruntime; NULL at the end. */
struct rs_cfs_entity *rs_cfs_first(const struct rs_cfs_queue *q);
struct rs_cfs_entity *rs_cfs_next(const struct rs_cfs_entity *e);

/* rs_cfs_link(), rs_cfs_unlink() - into and out of the tree, keeping the sums. */
void rs_cfs_link(struct rs_cfs_queue *q, struct rs_cfs_entity *e);
void rs_cfs_unlink(struct rs_cfs_queue *q, struct rs_cfs_entity *e);

/* rs_cfs_account() - charge the running entity of @q (update_curr()). */
void rs_cfs_account(struct rs_cfs_queue *q);
/* rs_cfs_slice() - sched_slice() of @e in its queue; it may be not yet queued. */
uint64_t rs_cfs_slice(const struct rs_cfs_entity *e);
/* rs_cfs_place() - place_entity(): a new task a slice behind, a sleeper at most its credit ahead, nobody left of where it was. */
void rs_cfs_place(const struct rs_cfs_queue *q, struct rs_cfs_entity *e, bool initial);
/* rs_cfs_enqueue_entity(), rs_cfs_dequeue_entity() - enqueue_entity(), dequeue_entity() */
void rs_cfs_enqueue_entity(struct rs_cfs_queue *q, struct rs_cfs_entity *e, unsigned int flags);
void rs_cfs_dequeue_entity(struct rs_cfs_queue *q, struct rs_cfs_entity *e, unsigned int flags);
/* rs_cfs_put(), rs_cfs_set() - put_prev_entity(), set_next_entity() */
void rs_cfs_put(struct rs_cfs_queue *q, struct rs_cfs_entity *e);
void rs_cfs_set(struct rs_cfs_queue *q, struct rs_cfs_entity *e, bool picked);
/* rs_cfs_reweight() - reweight_entity(), queued or not; vruntime stays */
void rs_cfs_reweight(struct rs_cfs_entity *e, struct rs_load load);
/* rs_cfs_update_load() - update_load_avg() with RS_LOAD_* @flags; rs_cfs_follow_load() - and update_cfs_group() */
void rs_cfs_update_load(struct rs_cfs_queue *q, struct rs_cfs_entity *e, unsigned int flags);
void rs_cfs_follow_load(struct rs_cfs_queue *q, struct rs_cfs_entity *e);

/* rs_cfs_check_quota() - throttle @q if its quota is used up (check_cfs_rq_runtime(), throttle_cfs_rq()). Return: whether it is
 * throttled now. rs_cfs_unthrottle() - it may go on (unthrottle_cfs_rq()). */
bool rs_cfs_check_quota(struct rs_cfs_queue *q);
void rs_cfs_unthrottle(struct rs_level *level);

/* Hints to the next pick, for an entity and the groups it is in (set_next_buddy(), set_last_buddy(), set_skip_buddy(), clear_buddies()). */
void rs_cfs_hint_next(struct rs_cfs_entity *e);
void rs_cfs_hint_last(struct rs_cfs_entity *e);
void rs_cfs_hint_skip(struct rs_cfs_entity *e);
void rs_cfs_drop_hints(struct rs_cfs_entity *e);

/* rs_cfs_compare() - wakeup_preempt_entity(): -1 @e is not left of @c, 0 within its granularity, 1 beyond */
int rs_cfs_compare(const struct rs_cfs_queue *q, const struct rs_cfs_entity *c, const struct rs_cfs_entity *e);
/* rs_cfs_pick() - pick_next_entity(); @c: the running entity if it is still queued, else NULL. Sets q->why. */
struct rs_cfs_entity *rs_cfs_pick(struct rs_cfs_queue *q, struct rs_cfs_entity *c);

#endif
