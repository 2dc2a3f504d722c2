/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What happens to one entity, of a task or of a group, in one queue of EEVDF: accounting, placing, joining, leaving, getting and losing
 * the cpu, and changes of weight. Each is the kernel's function of the same name, kernel/sched/fair.c of 6.6 to 6.18, by the model's
 * rules. The clock is that of the queue's rq.
 */
#ifndef RS_POLICIES_EEVDF_ENTITY_H
#define RS_POLICIES_EEVDF_ENTITY_H

#include "policies/eevdf_queue.h"

/* The hierarchy links are the first members. */
static inline struct rs_eevdf_entity *rs_eevdf_of_node(struct rs_node *node)
{
	return (struct rs_eevdf_entity *)node;
}

static inline struct rs_eevdf_entity *rs_eevdf_parent(const struct rs_eevdf_entity *e)
{
	return (struct rs_eevdf_entity *)e->h.parent;
}

static inline struct rs_eevdf_queue *rs_eevdf_queue_of(const struct rs_eevdf_entity *e)
{
	return (struct rs_eevdf_queue *)e->h.queue;
}

/* The queue a group's entity stands for; NULL: it is a task's. */
static inline struct rs_eevdf_queue *rs_eevdf_own(const struct rs_eevdf_entity *e)
{
	return (struct rs_eevdf_queue *)e->h.own;
}

#define RS_DEQ_REAL	0x100u		/* a delayed entity leaves (DEQUEUE_DELAYED) */

/* rs_eevdf_account() - charge the running entity of @q (update_curr()). May set need_resched. */
void rs_eevdf_account(struct rs_eevdf_queue *q);
/* rs_eevdf_slip() - a new request if the old one is used up (update_deadline()). Return: whether it was. */
bool rs_eevdf_slip(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e);
/* rs_eevdf_enqueue() - enqueue_entity() */
void rs_eevdf_enqueue(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e, unsigned int flags);
/* rs_eevdf_dequeue() - dequeue_entity(). Return: false when it stays as delayed. */
bool rs_eevdf_dequeue(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e, unsigned int flags);
/* rs_eevdf_place_new() - task_fork_fair() where the child keeps the place it gets on its parent's queue (joins_like_cfs). */
void rs_eevdf_place_new(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e);
/* rs_eevdf_requeue() - requeue_delayed_entity(): nothing is accounted first, V is that of the last accounting. */
void rs_eevdf_requeue(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e);
/* rs_eevdf_put() - put_prev_entity(); rs_eevdf_set() - set_next_entity(), @picked: not after a change of parameters. */
void rs_eevdf_put(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e);
void rs_eevdf_set(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e, bool picked);
/* rs_eevdf_restore() - make @e in @q what the kernel was seen to hold; see restore() of policy.h. */
void rs_eevdf_restore(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e, const struct rs_entity_state *state);
/* rs_eevdf_reweight() - reweight_entity(), queued or not */
void rs_eevdf_reweight(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e, struct rs_load load);
/* rs_eevdf_update_load() - bring averages up to date, RS_LOAD_* @flags (update_load_avg()). */
void rs_eevdf_update_load(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e, unsigned int flags);
/* rs_eevdf_follow_load() - bring averages up to date, and the weight of a group's entity (update_load_avg(), update_cfs_group()). */
void rs_eevdf_follow_load(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e);
/*
 * rs_eevdf_check_quota() - throttle @q if its quota is used up (check_cfs_rq_runtime(), throttle_cfs_rq()): its group leaves the queue
 * above as if it slept. Return: whether it is throttled now. rs_eevdf_unthrottle() - it may go on (unthrottle_cfs_rq()).
 */
bool rs_eevdf_check_quota(struct rs_eevdf_queue *q);
void rs_eevdf_unthrottle(struct rs_level *level);
/* rs_eevdf_drop_buddy() - clear_buddies(): @e is no buddy any more, nor its groups through it; rs_eevdf_set_buddy() - it and its
 * groups are (set_next_buddy()). */
void rs_eevdf_drop_buddy(struct rs_eevdf_entity *e);
void rs_eevdf_set_buddy(struct rs_eevdf_entity *e);

#endif
