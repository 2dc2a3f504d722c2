/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Groups, as far as CFS and EEVDF agree: where an entity stands in the hierarchy, how much load a group has on each cpu, and what that
 * makes of its weight. An entity and a queue of a policy start with these parts.
 *
 * Invariants
 *   - node->parent is the entity of the group whose queue node->queue is, NULL in the root queue; depth is 0 there.
 *   - Averages are kept in queues of groups only, and only on machines with several cpus: on one cpu a group's weight is its shares.
 * Kernel: kernel/sched/fair.c, calc_group_shares(), update_tg_load_avg(), update_load_avg(), propagate_entity_load_avg().
 */
#ifndef RS_POLICIES_GROUP_H
#define RS_POLICIES_GROUP_H

#include "policies/pelt.h"
#include "policies/policy.h"

struct rs_level;

/* First member of an entity. */
struct rs_node {
	struct rs_node *parent;
	struct rs_level *queue;		/* it is in, or was in last */
	struct rs_level *own;		/* of a group's entity: the queue of its group */
	unsigned int depth;
	struct rs_pelt avg;
};

/* First member of a queue. */
struct rs_level {
	struct rs_rq *rq;
	struct rs_group *group;		/* NULL: the root queue */
	struct rs_node *owner;		/* entity of @group; NULL at the root */
	bool tracked;			/* its averages are kept */
	unsigned int h_nr;		/* tasks in the subtree, delayed ones included */
	struct rs_pelt avg;
	uint64_t contrib;		/* load average last published to the group */
	uint64_t published_ns;
	uint64_t removed_load, removed_util, removed_runnable;	/* of tasks that woke elsewhere, not yet subtracted */
	bool propagate;			/* the averages changed by joining or leaving below: the entity has to follow */
	int64_t propagate_sum;
	bool limited, throttled;	/* it has a quota; it is exhausted and the group's entity is out of its queue (quota.h) */
	int64_t quota_left_ns;		/* drawn from the group's pool; negative: overrun */
	struct rs_level *next_throttled;
};

/* What an entity is when its averages are brought up to date; weights are plain (nice 0 = 1024). */
struct rs_load_state {
	uint64_t weight;
	bool on, running;
	uint64_t queue_weight;		/* of its queue: sum over the queued */
	bool queue_runs;		/* something of its queue runs */
	uint64_t own_weight;		/* of a group's entity: that of its own queue */
};

#define RS_LOAD_UPDATE_TG	0x1u	/* publish to the group */
#define RS_LOAD_ATTACH		0x2u	/* join the queue's averages if in none (DO_ATTACH) */
#define RS_LOAD_DETACH		0x4u	/* leave them (DO_DETACH) */

/* rs_node_join() - @node belongs to @level from now on, the queue of its group on some cpu. */
void rs_node_join(struct rs_node *node, struct rs_level *level);
/* rs_level_init() - the queue of @group on @rq; @owner is its entity, already joined to its parent's queue (NULL at the root). */
void rs_level_init(struct rs_level *level, struct rs_rq *rq, struct rs_group *group, struct rs_node *owner);

/*
 * rs_match_nodes() - climb until both are in one queue (find_matching_se()). Return: false when there is none: they are of two cpus, as
 * where what was lost moved one of them.
 */
bool rs_match_nodes(struct rs_node **a, struct rs_node **b);

/*
 * rs_group_weight() - scaled weight of a group's entity.
 * @weight: plain weight of all that is queued in @own, the group's queue on this cpu
 * Return: shares * load here / load everywhere, 2 .. shares; note that the 2 is a scaled weight (calc_group_shares()).
 */
uint64_t rs_group_weight(const struct rs_level *own, uint64_t weight);
/*
 * rs_group_reweighs() - is the entity of the group of @own, of scaled weight @current, to be reweighed (update_cfs_group())?
 * @weight: scaled weight of all that is queued in @own
 * Return: whether, with the weight in *@ret. Kernels before 6.7 reweigh to the same weight too, which accounts.
 */
bool rs_group_reweighs(const struct rs_level *own, uint64_t weight, uint64_t current, uint64_t *ret);
/* rs_group_shares() - its arithmetic (calc_group_shares()). */
uint64_t rs_group_shares(uint64_t shares, uint64_t weight, uint64_t load_avg, uint64_t total, uint64_t contrib);

/* rs_leaves_cpu() - of RS_DEQ_* @flags: does a task take its load along at once? One that changes its group does so later. */
static inline bool rs_leaves_cpu(unsigned int flags)
{
	return (flags & (RS_DEQ_MOVE | RS_DEQ_SAVE)) == RS_DEQ_MOVE;
}

/* rs_load_update() - update_load_avg(); does nothing in a queue that is not tracked. */
void rs_load_update(struct rs_node *node, const struct rs_load_state *state, unsigned int flags);
/* rs_load_reweight() - the weight of @node changes; @on: it counts in its queue's averages (reweight_entity()). */
void rs_load_reweight(struct rs_node *node, uint64_t old_weight, uint64_t new_weight);
/* rs_load_init() - averages of a new task (init_entity_runnable_average()). */
void rs_load_init(struct rs_node *node, uint64_t weight);
/* rs_load_restore() - take averages that were seen; in a queue that is not tracked, nothing. */
void rs_load_restore(struct rs_node *node, const struct rs_load_seen *seen);
/* rs_load_remove() - a sleeping task wakes on another cpu: what it leaves is subtracted later (remove_entity_load_avg()). */
void rs_load_remove(struct rs_node *node, uint64_t weight);
/* rs_level_decay() - update_cfs_rq_load_avg() and publishing, for a queue nothing happens on. */
void rs_level_decay(struct rs_level *level, uint64_t weight, bool runs);

#endif
