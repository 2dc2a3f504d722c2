/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A scheduling policy: pure functions of the state of one run queue. No I/O, no clock of its own, no
 * knowledge of the engine that drives it.
 *
 * Roles
 *   - The engine owns struct rs_rq and struct rs_task, allocates the private parts (ops->rq_size,
 *     ops->task_size, zeroed, 16-byte aligned) and sets the fields marked [engine]. The policy writes
 *     its private parts and the fields marked [policy].
 *   - Before every call the engine sets rq->clock_ns, the task clock of that queue (rq_clock_task): it
 *     never goes back on one queue. Calls that belong to one schedule get one clock.
 *   - Only fair tasks (NORMAL, BATCH, IDLE) are given to a policy. While a task of another class runs,
 *     rq->curr is NULL.
 *
 * Groups: a task may belong to a group (a cgroup, or the autogroup of its session); NULL is the root group. A group has on every cpu
 * a queue of its own and an entity that stands for it in its parent's queue; each level follows the policy's rules by itself. The
 * engine owns struct rs_group and makes the groups before any task is enqueued, parents first. Without groups nothing of this costs.
 *
 * Integers: times are uint64_t ns; virtual times wrap and are compared by signed difference.
 */
#ifndef RS_POLICIES_POLICY_H
#define RS_POLICIES_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <resched/error.h>

#include "policies/pelt.h"

struct rs_model;	/* a kernel's features, tunables and rule variants, resolved; see model.h */

enum rs_sched_policy { RS_SCHED_NORMAL = 0, RS_SCHED_BATCH = 3, RS_SCHED_IDLE = 5 };	/* SCHED_* numbers */

struct rs_rq;

struct rs_level;

/* The pool of a group's cpu bandwidth; the policies' own (quota.h). */
struct rs_quota {
	uint64_t runtime_ns;		/* left for this period */
	uint64_t period_end_ns, slack_end_ns;	/* slack_end_ns 0: that timer is not set */
	bool filled, active, idle;	/* active: the period timer runs; idle: nothing was drawn in the last period */
	struct rs_level *first, *last;	/* queues that are throttled, the longest first */
};

/* A task group. One with several cpus is shared by their queues: its weight on a cpu depends on its load on the others. */
struct rs_group {
	struct rs_group *parent;	/* [engine] NULL: directly below the root */
	uint64_t shares;		/* [engine] scaled weight: 1048576 is that of nice 0; see rs_shares_of_weight() */
	bool idle;			/* [engine] cpu.idle */
	unsigned int nr_cpus;		/* [engine] cpus it has parts for */
	size_t stride;			/* [engine] bytes from one cpu's part to the next: ops->group_size or more, a multiple of 16 */
	void *priv;			/* [engine] nr_cpus * stride bytes, zeroed, 16-byte aligned */
	uint64_t quota_ns, period_ns, burst_ns;	/* [engine] cpu.max, cpu.max.burst; quota 0 = no limit */
	uint64_t phase_ns;		/* [engine] periods begin at this + k * period_ns; less than that */
	/* [engine] called by the policy: ops->group_timer is to be called at @at_ns of the queues' clock, UINT64_MAX = not any more.
	 * NULL: throttled groups stay so. */
	void (*set_timer)(struct rs_group *group, uint64_t at_ns);
	void *timer_ctx;		/* [engine] */
	uint64_t load_avg;		/* [policy] sum over the cpus of what each has published */
	struct rs_quota quota;		/* [policy] */
};

struct rs_task {
	uint32_t id;			/* [engine] unique, dense; breaks no tie a kernel would not break */
	int nice;			/* [engine] -20..19; changed only through ops->reweight once initialised */
	enum rs_sched_policy policy;	/* [engine] likewise */
	uint64_t custom_slice_ns;	/* [engine] 0 = none (sched_attr::sched_runtime of a fair task) */
	int latency_nice;		/* [engine] -20..19, 0 = none; for models that have it; constant once initialised */
	struct rs_rq *rq;		/* [engine] queue it is on, or was on last; NULL before the first enqueue */
	bool on_rq;			/* [policy] queued or running; a delayed task counts */
	bool delayed;			/* [policy] asleep for the engine, still queued (DELAY_DEQUEUE) */
	void *priv;			/* ops->task_size bytes */
	struct rs_group *group;		/* [engine] NULL = root; set before the first enqueue, then changed only through ops->move_group */
};

struct rs_rq {
	unsigned int cpu;		/* [engine] */
	uint64_t clock_ns;		/* [engine] */
	const struct rs_model *model;	/* [engine] shared by all queues of a run; constant */
	struct rs_task *curr;		/* [engine] fair task set as current; NULL when idle or another class runs.
					 * Stays set through ops->dequeue of it until ops->put_prev. */
	bool need_resched;		/* set by the policy to ask for a schedule; cleared by the engine when it schedules */
	unsigned int nr_queued;		/* [policy] fair tasks on the queue, running and delayed ones included */
	unsigned int nr_delayed;	/* [policy] of them, delayed */
	void *priv;			/* ops->rq_size bytes */
	struct rs_task *next;		/* [engine] optional: who gets the cpu after this put_prev(); NULL = whom pick() returned last.
					 * Groups that the two share go on running (pick_next_task_fair()). */
};

/* Flags of enqueue and dequeue; the kernel's ENQUEUE_* and DEQUEUE_* of the same names. */
#define RS_ENQ_WAKEUP	0x01u	/* a sleeper wakes */
#define RS_ENQ_MIGRATED	0x02u	/* on another cpu than it was on last */
#define RS_ENQ_INITIAL	0x04u	/* first enqueue of a new task */
#define RS_ENQ_RESTORE	0x08u	/* after a parameter change */
#define RS_DEQ_SLEEP	0x01u	/* it blocks */
#define RS_DEQ_SPECIAL	0x02u	/* with SLEEP: stopped, traced, parked, dead or frozen: never delayed */
#define RS_DEQ_MOVE	0x04u	/* it changes cpu */
#define RS_DEQ_SAVE	0x08u	/* a parameter change follows */

/* What an entity looks like from outside; all values at rq->clock_ns, the running stretch not accounted is not included. */
struct rs_entity_view {
	const struct rs_task *task;
	uint64_t weight;		/* 1024 = nice 0 */
	uint64_t vruntime, deadline;	/* deadline 0 for policies without one */
	int64_t lag_ns;			/* real ns: weight/1024 * (V - vruntime); 0 for a policy without V */
	int64_t vlag;			/* V - vruntime */
	uint64_t slice_ns;		/* request size, or CFS's sched_slice() */
	uint64_t used_ns;		/* run since it was set as current (running task) */
	bool eligible, delayed, running;
};

/* Load averages that were seen, on the clock of the entity's queue. */
struct rs_load_seen {
	struct rs_pelt entity, own;	/* own: of a group's entity, of the queue it stands for */
	uint64_t contrib, published_ns, total;	/* what that queue has told its group, and when; the group's sum */
};

/* What a kernel was seen to hold of one entity, for restore(). Virtual times are the kernel's own; fields mean what they do in a view. */
struct rs_entity_state {
	uint64_t vruntime, deadline;	/* deadline is relative to vruntime while @rel */
	int64_t vlag;			/* off the queue: the stored lag; of a current entity the end of its protection, where it shares storage */
	uint64_t slice_ns, exec_start_ns;
	uint64_t weight;		/* scaled, of a group's entity; 0: leave it */
	uint64_t zero;			/* reference of the queue it is in */
	bool on, delayed, rel, custom_slice;
	bool running;			/* current in its queue */
	bool again;			/* the values alone: who is queued and who runs stays, and what is not queued as told stays all */
	const struct rs_load_seen *load;	/* NULL: not seen */
};

struct rs_rq_view {
	uint64_t avg_vruntime;		/* V; CFS: the weighted mean, for display */
	uint64_t min_vruntime;		/* CFS min_vruntime; EEVDF zero point */
	uint64_t load;			/* sum of weights, nice 0 = 1024 */
	unsigned int nr;		/* tasks in it and in its groups, delayed ones too; none of those that a quota holds back */
	const char *why;		/* why the last pick was made: a constant sentence */
	bool nominated;			/* and it went to one that was nominated, a buddy */
};

struct rs_policy_ops {
	const char *name, *summary;
	size_t rq_size, task_size;

	/* rq_init() - @rq->priv is zeroed; called once a queue before anything else. */
	void (*rq_init)(struct rs_rq *rq);
	/* task_init() - @t->priv is zeroed, nice, policy and slice are set; before its first enqueue. */
	void (*task_init)(struct rs_task *t, const struct rs_model *model);
	/*
	 * fork() - @child was just created by @parent, which is @rq->curr or a non-fair task. Optional.
	 * CFS places the child on the parent's queue here (task_fork_fair). The child is enqueued later, by enqueue(INITIAL).
	 */
	void (*fork)(struct rs_rq *rq, struct rs_task *parent, struct rs_task *child);
	/*
	 * update_curr() - charge the running task up to rq->clock_ns (tick-less accounting points). May set need_resched.
	 */
	void (*update_curr)(struct rs_rq *rq);
	/* enqueue() - @t joins @rq. @t is not on a queue; @t->rq is already @rq. It may be rq->curr (a running task whose
	 * parameters changed). */
	void (*enqueue)(struct rs_rq *rq, struct rs_task *t, unsigned int flags);
	/*
	 * dequeue() - @t leaves @rq. Return: true when it left; false when it stays queued as delayed (only with
	 * RS_DEQ_SLEEP). When @t is rq->curr it stays "current" until put_prev().
	 */
	bool (*dequeue)(struct rs_rq *rq, struct rs_task *t, unsigned int flags);
	/*
	 * wakeup_queued() - a wakeup of a task that is still on @rq: a delayed one becomes runnable again, before any accounting
	 * (ttwu_runnable, requeue_delayed_entity; the queue of 2023 accounts); otherwise nothing. The engine calls wakeup_preempt() next unless @t runs.
	 */
	void (*wakeup_queued)(struct rs_rq *rq, struct rs_task *t);
	/*
	 * wakeup_preempt() - may the just queued @p replace rq->curr (check_preempt_wakeup)? Sets need_resched. Called for
	 * wakeups (flags WAKEUP or INITIAL) and after moves (flags 0). rq->curr is a fair task and not @p.
	 */
	void (*wakeup_preempt)(struct rs_rq *rq, struct rs_task *p, unsigned int flags);
	/*
	 * pick() - the task to run next, or NULL for idle. rq->curr may be queued (preempted), dequeued, delayed, or NULL. Delayed entities
	 * met on the way really leave. Does not change curr. A pick that returns rq->curr is followed by nothing else.
	 */
	struct rs_task *(*pick)(struct rs_rq *rq);
	/* put_prev() - @t, which was current, stops running; back into the tree if queued. The engine then clears rq->curr. */
	void (*put_prev)(struct rs_rq *rq, struct rs_task *t);
	/* set_next() - @t, just picked, runs now. The engine has set rq->curr = NULL before and sets it to @t after.
	 * @picked: false for a put/set pair of a parameter change. */
	void (*set_next)(struct rs_rq *rq, struct rs_task *t, bool picked);
	/* tick() - the timer tick on a cpu whose current task is rq->curr (task_tick_fair). */
	void (*tick)(struct rs_rq *rq);
	/* yield() - rq->curr calls sched_yield(); the engine schedules next. */
	void (*yield)(struct rs_rq *rq);
	/*
	 * reweight() - nice, policy or custom slice of @t change to the given values, on whatever queue it is or off queue; does the
	 * dequeue/put/enqueue/set itself. Sets need_resched as the kernel would.
	 */
	void (*reweight)(struct rs_task *t, uint64_t clock_ns, int nice, enum rs_sched_policy policy, uint64_t custom_slice_ns);
	/* migrate() - a sleeping @t, off queue, will be enqueued on @to; @t->rq is still the old queue (migrate_task_rq_fair). Optional. */
	void (*migrate)(struct rs_task *t, struct rs_rq *to);
	/* next_timer() - ns of further running after which curr should be interrupted by a high resolution timer (HRTICK),
	 * 0 for none. Optional. */
	uint64_t (*next_timer)(const struct rs_rq *rq);

	/* view_task(), view_rq() - read only; see struct rs_entity_view. */
	void (*view_task)(const struct rs_rq *rq, const struct rs_task *t, struct rs_entity_view *ret);
	void (*view_rq)(const struct rs_rq *rq, struct rs_rq_view *ret);

	/* ---- for a shadow, which follows a recording and corrects its state by what was decided; the engine uses neither ---- */

	/* peek() - whom pick() would come to first in the state as it is, a delayed task included: nothing is accounted and nobody leaves. */
	struct rs_task *(*peek)(struct rs_rq *rq);
	/*
	 * adjust() - move @t's vruntime by @dv and its deadline, where there is one, by @dd (virtual ns). Off the queue its stored
	 * lag moves by -@dv. A running task keeps its slice protection only if both move by the same.
	 */
	void (*adjust)(struct rs_rq *rq, struct rs_task *t, int64_t dv, int64_t dd);

	/*
	 * restore() - make @t what the kernel was seen to hold, on @rq, which is its queue: it joins, leaves or moves as told. @t NULL: the
	 * entity of @group on @rq's cpu; groups before what is in them. Whoever runs there is told by @state->running, not by rq->curr.
	 * Optional.
	 */
	void (*restore)(struct rs_rq *rq, struct rs_task *t, struct rs_group *group, const struct rs_entity_state *state);

	/*
	 * limit_group() - take note of a quota of @group that was set after group_init(); if its queue on @rq's cpu is throttled and @lift, it
	 * goes on. Return: whether it was. Optional.
	 */
	bool (*limit_group)(struct rs_rq *rq, struct rs_group *group, bool lift);

	/* ---- groups; a policy without them has group_size 0 and NULL hooks, and tasks then stay in the root ---- */

	size_t group_size;		/* of one cpu's part */
	/* group_init() - the part of @group on @rq's cpu; after rq_init() of @rq and group_init() of the parent there. */
	void (*group_init)(struct rs_group *group, struct rs_rq *rq);
	/*
	 * move_group() - @t changes its group (sched_move_task()), on whatever queue it is or off queue; a running one is marked
	 * for a new pick. NULL = to the root.
	 */
	void (*move_group)(struct rs_task *t, uint64_t clock_ns, struct rs_group *to);
	/*
	 * decay_group() - bring the load averages of @group's queue on @rq's cpu up to date (update_blocked_averages()): the kernel
	 * does it every 32 ms for idle cpus and at every balancing for busy ones; groups before their parents. Without calls a cpu
	 * that went idle would keep its share of the group's weight.
	 */
	void (*decay_group)(struct rs_rq *rq, struct rs_group *group);
	/*
	 * group_timer() - the timer the group asked for has expired: throttled queues may go on. The clocks of all cpus are at @now_ns.
	 * A cpu that idles and has something to run now is marked need_resched.
	 */
	void (*group_timer)(struct rs_group *group, uint64_t now_ns);
	/* view_group(), view_group_rq() - as view_task() and view_rq(): the entity of @group on @rq's cpu in its parent's queue
	 * (ret->task NULL), and the queue of @group there. NULL = the root queue. */
	void (*view_group)(const struct rs_rq *rq, const struct rs_group *group, struct rs_entity_view *ret);
	void (*view_group_rq)(const struct rs_rq *rq, const struct rs_group *group, struct rs_rq_view *ret);
};

/* rs_group_part() - a group's private part on a cpu. */
static inline void *rs_group_part(const struct rs_group *group, unsigned int cpu)
{
	return (char *)group->priv + group->stride * cpu;
}

/* rs_shares_of_weight() - shares of a cgroup v2 cpu.weight, 1 .. 10000 (cpu_weight_write_u64()). */
uint64_t rs_shares_of_weight(uint64_t weight);
/* rs_shares_of_nice() - shares of cpu.weight.nice or of an autogroup's nice value, -20 .. 19. */
uint64_t rs_shares_of_nice(int nice);

/* rs_policy_ops_find() - ops of a policy by name, NULL when there is none. */
const struct rs_policy_ops *rs_policy_ops_find(const char *name);

/*
 * rs_model_new() - resolve a model.
 * @policy:   "eevdf", "evdf", "cfs"
 * @kernel:   model name ("6.12"); NULL = the policy's default
 * @nr_cpus:  cpus of the machine (scaling of tunables)
 * @features: nr_features texts "NAME" or "NO_NAME", later ones win
 * @settings: nr_settings texts "name=value"; times take ns, us, ms, s
 * @ret:      the caller's, to rs_model_free()
 * Return: 0; -EINVAL with kind USAGE for an unknown policy, model, feature, tunable or value, @err naming the known ones; -ENOMEM.
 */
int rs_model_new(const char *policy, const char *kernel, unsigned int nr_cpus, unsigned int nr_features, const char *const *features,
		 unsigned int nr_settings, const char *const *settings, struct rs_model **ret, struct resched_error *err);
void rs_model_free(struct rs_model *model);

/* rs_model_has_feature(), rs_model_has_tunable() - does @policy under @kernel (NULL = its default) take it? */
bool rs_model_has_feature(const char *policy, const char *kernel, const char *name);
bool rs_model_has_tunable(const char *policy, const char *kernel, const char *name);

/*
 * rs_model_nearest() - the model of @policy that stands for a kernel release ("6.12.48+deb12-amd64" gives "6.12").
 * Return: its name; the policy's default when the release runs another policy or is no release; NULL for an unknown policy.
 */
const char *rs_model_nearest(const char *policy, const char *release);

/* rs_release_number() - "6.12.48+deb12" to 6012; 0 when the text begins with no release; NULL too. */
unsigned int rs_release_number(const char *release);

/* Tunables every model has, for the engine. */
unsigned int rs_model_hz(const struct rs_model *model);			/* default 250, --set hz=N */
const char *rs_model_kernel(const struct rs_model *model);		/* "6.12" */
bool rs_model_has_latency_nice(const struct rs_model *model);
bool rs_model_feature(const struct rs_model *model, const char *name);	/* false for an unknown one */
/* The idx-th feature or tunable with its value in force, in the order of resched_policy_knob(). Return: 1; 0 past the end. */
int rs_model_knob(const struct rs_model *model, unsigned int idx, const char **name, int *is_feature, uint64_t *value);

#endif
