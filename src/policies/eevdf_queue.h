/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The queue of EEVDF: entities, their averages, eligibility and the search for the next one. What happens to one entity in one queue
 * is in eevdf_entity.c, what happens when (wakeup, tick, block ...) in eevdf.c; nothing here knows of tasks or groups.
 *
 * Invariants
 *   - The running entity, q->curr, is not in the tree, also when it is queued (on). Averages count it while it is queued.
 *   - q->sum is the sum over the tree of weight * (vruntime - zero), q->load that of the weights; weights are plain (nice 0 = 1024).
 *   - Every decision is invariant under the choice of q->zero; only the V of an empty queue depends on it.
 * Virtual times wrap: they are compared by signed difference only.
 */
#ifndef RS_POLICIES_EEVDF_QUEUE_H
#define RS_POLICIES_EEVDF_QUEUE_H

#include "policies/group.h"
#include "policies/model.h"
#include "policies/tree.h"
#include "policies/weight.h"

struct rs_eevdf_entity {
	struct rs_node h;		/* place in the hierarchy */
	struct rs_tree_node node;
	uint64_t vruntime, deadline;	/* virtual ns; deadline is relative to vruntime while @rel_deadline */
	uint64_t slice;			/* real ns: size of a request */
	uint64_t w;			/* plain weight */
	uint64_t min_vruntime, min_deadline, min_slice, max_slice;	/* of the subtree; of the first two the one the search needs */
	struct rs_load load;		/* scaled weight and reciprocal */
	union {				/* one storage in every release so far; 6.18 loses its protection by it when nice changes */
		int64_t vlag;		/* off the queue: V - vruntime when it left */
		uint64_t protect;	/* current: its deadline when it was set, or the virtual time its protection ends at */
	};
	uint64_t exec_start, sum_exec, prev_sum_exec;
	bool on, delayed, rel_deadline, custom_slice, idle, placed;	/* placed: once at least */
	struct rs_task *task;		/* NULL: stands for a group */
};

extern const char rs_eevdf_buddy[];	/* why a pick was made: nominated; told apart by its address */

struct rs_eevdf_queue {
	struct rs_level h;		/* place in the hierarchy */
	const struct rs_model *model;
	struct rs_tree tree;
	struct rs_eevdf_entity *curr, *next;	/* next: the buddy */
	int64_t sum;
	uint64_t load, zero;
	uint64_t slices;		/* sum over the tree of weight * slice; right only where a slice does not change inside it */
	uint64_t weight;		/* scaled weight of all that is queued, the running one and delayed ones included */
	unsigned int nr;		/* queued: tree and queued curr; delayed ones included */
	struct rs_task *picked;		/* root queue: what the last pick returned, until it is set */
	const char *why;		/* why the last pick was made */
};

#define rs_eevdf_entity_of(n) rs_tree_entry(n, struct rs_eevdf_entity, node)

void rs_eevdf_queue_init(struct rs_eevdf_queue *q, const struct rs_model *model);

/* rs_eevdf_link(), rs_eevdf_unlink() - into and out of the tree, keeping the sums. */
void rs_eevdf_link(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e);
void rs_eevdf_unlink(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e);

/* rs_eevdf_set_load() - new weight of @e, in the tree or not, keeping the sums. Its place in the tree stays. */
void rs_eevdf_set_load(struct rs_eevdf_queue *q, struct rs_eevdf_entity *e, struct rs_load load, bool linked);

/* rs_eevdf_avg() - V, rounded down. Moves the zero point in the releases that do (avg_vruntime()). */
uint64_t rs_eevdf_avg(struct rs_eevdf_queue *q);
/* rs_eevdf_peek_avg() - the same without moving anything. */
uint64_t rs_eevdf_peek_avg(const struct rs_eevdf_queue *q);
/* rs_eevdf_set_zero() - another reference; decisions do not depend on it. */
void rs_eevdf_set_zero(struct rs_eevdf_queue *q, uint64_t zero);
/* rs_eevdf_update_min() - the monotone zero point of 6.6 and 6.8 (update_min_vruntime()); nothing in later releases. */
void rs_eevdf_update_min(struct rs_eevdf_queue *q);

/* rs_eevdf_eligible() - is the entity's lag zero or positive? Constant true without ENFORCE_ELIGIBILITY (entity_eligible()). */
bool rs_eevdf_eligible(const struct rs_eevdf_queue *q, const struct rs_eevdf_entity *e);

/* Smallest and largest slice of all that is queued (cfs_rq_min_slice(), cfs_rq_max_slice()). */
uint64_t rs_eevdf_min_slice(const struct rs_eevdf_queue *q);
uint64_t rs_eevdf_max_slice(const struct rs_eevdf_queue *q);

/* Slice protection of the running entity (set_protect_slice(), protect_slice(), cancel_protect_slice(), update_protect_slice()). */
void rs_eevdf_protect(const struct rs_eevdf_queue *q, struct rs_eevdf_entity *e);
bool rs_eevdf_protected(const struct rs_eevdf_queue *q, const struct rs_eevdf_entity *e);
void rs_eevdf_unprotect(const struct rs_eevdf_queue *q, struct rs_eevdf_entity *e);
void rs_eevdf_shorten_protection(const struct rs_eevdf_queue *q, struct rs_eevdf_entity *e);

/*
 * rs_eevdf_pick() - the entity to run by the rule of the model, the running one included (pick_eevdf()).
 * @honour_protection: false lets a short request override it
 * Return: the entity, maybe a delayed one; NULL only on an empty queue. Sets q->why.
 */
struct rs_eevdf_entity *rs_eevdf_pick(struct rs_eevdf_queue *q, bool honour_protection);

#endif
