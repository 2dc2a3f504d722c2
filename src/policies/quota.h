/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CPU bandwidth of a group (cpu.max): a pool of run time that is refilled every period, from which the group's queues draw slices. A
 * queue that has nothing left is throttled: its group's entity leaves the parent's queue until the pool has something again.
 *
 * Here is the accounting of pool and queues; taking the entity out and putting it back is the policy's. The period's timer is asked
 * from the engine (rs_group::set_timer).
 * Kernel: kernel/sched/fair.c, the CFS bandwidth part of 5.15 to 6.12. Departures: 6.18 throttles tasks one by one as they return to
 * user mode, here as a whole like the others; load averages of throttled queues go on; several overdue periods do not scale the quota;
 * kernels from 6.2 start the period at a random phase, which is the engine's to tell (rs_group::phase_ns).
 */
#ifndef RS_POLICIES_QUOTA_H
#define RS_POLICIES_QUOTA_H

#include "policies/group.h"

/* rs_quota_charge() - @delta ns were run in a queue with @level->limited (account_cfs_rq_runtime()).
 * Return: whether it is exhausted, so that what runs in it must leave. */
bool rs_quota_charge(struct rs_level *level, uint64_t delta);
/* rs_quota_exhausted() - the last try before throttling; when it fails the queue is put in line (first half of throttle_cfs_rq()). */
bool rs_quota_exhausted(struct rs_level *level);
/* rs_quota_return() - the queue is empty: what is over a millisecond goes back to the pool (return_cfs_rq_runtime()). */
void rs_quota_return(struct rs_level *level);
/* rs_quota_timer() - ops->group_timer of a policy; @unthrottle puts a queue back (sched_cfs_period_timer()). */
void rs_quota_timer(struct rs_group *group, uint64_t now_ns, void (*unthrottle)(struct rs_level *level));
/* rs_quota_renew() - the group's quota was set after the queue was made. */
void rs_quota_renew(struct rs_level *level);
/* rs_quota_lift() - a throttled queue was seen to run: it gets the least that lets it. Return: whether it was throttled, so that the policy
 * is to put it back. */
bool rs_quota_lift(struct rs_level *level);

/* rs_level_blocked() - is the queue or one above it throttled (throttled_hierarchy())? */
bool rs_level_blocked(const struct rs_level *level);

#endif
