/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A kernel's rules as data: which release, its features and tunables with the values in force, and how its rules differ from those
 * of the neighbouring releases (struct rs_rules, one constant row a release or stage of development). A policy reads these; it never
 * asks for a version.
 *
 * A model is built once, is constant afterwards and may be shared by any number of queues and threads.
 */
#ifndef RS_POLICIES_MODEL_H
#define RS_POLICIES_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include "policies/knobs.h"
#include "policies/policy.h"

/* What becomes of a queued entity whose weight changes (reweight_entity()). */
enum rs_reweight {
	RS_REWEIGHT_DEADLINE = 0,	/* vruntime stays, the distance to the deadline is scaled (6.6) */
	RS_REWEIGHT_AROUND_AVG,		/* both are scaled around V of the others (6.8) */
	RS_REWEIGHT_AROUND_CLAMPED,	/* around V of all, the lag limited (6.12) */
	RS_REWEIGHT_REPLACE,		/* it leaves and is placed again (6.18) */
};

/* Where one release departs from another. Sources: fair.c of the release named in the row. */
struct rs_rules {
	const char *kernel;		/* "6.12", or the name of a stage of development */
	unsigned int since;		/* first release this row stands for, major * 1000 + minor; RS_NO_RELEASE: a stage */
	const char *source;		/* a stage: the posting or commit it follows, and what it brought */
	const char *unverified;		/* what of it was not checked against its text; NULL: nothing */

	/* eevdf, evdf */
	uint64_t base_slice_ns;		/* normalized_sysctl_sched_base_slice */
	bool tree_by_vruntime;		/* tree ordered by vruntime, searched for the least deadline (6.6) */
	bool single_shortcut;		/* the only entity is picked without a test */
	bool zero_is_min_vruntime;	/* the sums' zero point is a monotone min_vruntime, not the last average */
	bool fork_places;		/* task_fork_fair() accounts the parent's queue; INITIAL does not reach the child's enqueue */
	bool custom_slices;		/* sched_attr::sched_runtime is a fair task's slice */
	bool slip_rescheds;		/* only a new deadline reschedules at accounting (update_deadline()) */
	bool protect_until_vprot;	/* protection ends at a virtual time, not when the deadline moves */
	bool short_by_slice;		/* PREEMPT_SHORT asks for a shorter slice only; other wakees then shorten the protection */
	bool idle_keeps_protection;	/* a SCHED_IDLE current stays protected against a non-idle wakee */
	bool buddy_needs_next_buddy;	/* the buddy is looked at only with NEXT_BUDDY */
	bool buddy_in_eevdf_pick;	/* the buddy is tested within pick_eevdf(), hence in the wakeup test too */
	bool lag_limit_by_queue;	/* lag is limited by the queue's largest slice plus a tick */
	bool yield_forfeits;		/* yield gives up the rest of the request if eligible; else the deadline is pushed */
	bool reweight_scales_deadline;	/* a relative deadline is scaled by a change of weight */
	bool same_params_replace;	/* sched_setattr() that changes nothing still re-places */
	bool groups_take_slice;		/* a group asks for the shortest slice inside it */
	enum rs_reweight reweight;	/* of a queued group entity */

	/* eevdf, before it was released and between releases */
	bool avg_truncates;		/* V is rounded towards zero (cfs stages too) */
	bool picks_in_one_descent;	/* the search goes down once and may miss the earliest deadline (pick_eevdf() before 6.6) */
	bool joins_like_cfs;		/* only a wakeup places; others carry their distance to min_vruntime. Lag is stored by sleepers only */
	bool tick_picks;		/* a tick reschedules when it would pick another; a new deadline does not */
	bool latency_nice;		/* sched_attr::sched_latency_nice sets the slice */
	bool delays_in_block;		/* DELAY_DEQUEUE of 2023: tasks alone, and the pick sets a delayed one before it leaves */
	bool short_by_deadline;		/* PREEMPT_SHORT asks for an earlier deadline even against one that is not eligible */

	/* groups, all policies */
	bool reweights_always;		/* a group entity is reweighed, hence accounted, even to the weight it has */
	bool empty_group_keeps_weight;	/* no new weight while nothing is queued in the group (it may be delayed) */
	bool throttled_pick_puts;	/* a pick that throttles starts over with nobody running (before 6.12); cfs: always */
	bool idle_groups;		/* cpu.idle: the group's entity is like a SCHED_IDLE task */
	bool publishes_seldom;		/* the load average reaches the group at most once a millisecond and cpu */

	/* cfs */
	bool idle_min_granularity;	/* SCHED_IDLE has its own least slice and half the short sleeper credit */
	bool long_sleeper;		/* a sleep over 104 days forgets the old vruntime */
	bool stamp_cleared_on_leave;	/* exec_start cleared when leaving a cpu, not when joining the next */
	bool hints_dropped_in_pick;	/* buddy hints of the picked entity are dropped even when it goes on running */
	bool nice_rescheds;		/* a raised priority reschedules without a test (5.4) */
	bool nr_latency_follows;	/* nr_latency is recomputed when a granularity is set (sysctl kernels) */
	bool throttles_at_once;		/* no last look at the pool before a queue is throttled (5.4) */
	bool places_at_avg;		/* placing counts from V, not from min_vruntime */
	bool places_by_lag;		/* PLACE_LAG as it came first: lag of sleepers, over-inflated, sleeper credit only if asked for */
	bool tick_caps_slice;		/* no slice above latency_ns at a tick (check_preempt_tick() from 6.3) */
};

#define RS_NO_RELEASE	UINT32_MAX
extern const struct rs_rules rs_rules_rows[RS_MODEL_NR];	/* model_rows.c */

struct rs_model {
	const char *policy;		/* "eevdf" */
	enum rs_model_id id;
	const struct rs_rules *rules;
	bool feature[RS_FEATURE_NR];
	uint64_t tunable[RS_TUNABLE_NR];
	uint64_t tick_ns;		/* TICK_NSEC */
	uint64_t normalized_base_ns;	/* of base_slice_ns, before scaling; --set does not change it */
	uint64_t nr_latency;		/* cfs: sched_nr_latency */
};

static inline bool rs_feat(const struct rs_model *model, enum rs_feature_id feature)
{
	return model->feature[feature];
}

/* rs_model_feature_known() - does any policy under any model know the feature (given without NO_)? What a recording carries but the
 * chosen model lacks is known and can be left out with a note. */
bool rs_model_feature_known(const char *name);
/* rs_model_tunable_known() - the same for tunables. */
bool rs_model_tunable_known(const char *name);
#endif
