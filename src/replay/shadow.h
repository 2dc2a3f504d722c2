/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shadow mode: follows a recorded schedule and keeps a policy's state along it.
 *
 *   shadow_log.c     the recording in memory, with the next event of each cpu known
 *   shadow_clock.c   what the queues' clocks read at an event (modes), and ticks
 *   shadow_anchor.c  the clock of wakeups that no accounting event tells of
 *   shadow_calibrate.c  where clock samples lie relative to the stamps, found from the recording
 *   shadow_fit.c     lags of tasks that slept when the recording began, fitted to all of it
 *   shadow_queue.c   tasks, and the operations on queues that the events stand for
 *   shadow_follow.c  event by event: what the kernel did, in its order
 *   shadow_start.c   the state at the beginning, where rows tell it
 *   shadow_home.c    groups of tasks, where rows tell them
 *   shadow_quota.c   cpu limits of groups: the timers that refill them, and when those ring
 *   shadow_decide.c  the questions to the model, and the verdicts
 *   shadow_resync.c  moving the state within its error so that it fits a recorded decision
 *
 * A pass owns all its state, so passes are independent. The policy sees the hooks of policy.h, in the
 * order and with the clock the kernel had; where model and kernel part, the kernel is followed.
 *
 * Clock: while a task runs, rq->clock_ns is the instant it was last charged at. With accounting events
 * clocks stand still while a cpu is idle or runs another class: only differences matter to a policy.
 */
#ifndef RS_REPLAY_SHADOW_H
#define RS_REPLAY_SHADOW_H

#include "base/map.h"
#include "policies/policy.h"
#include "replay/groups.h"
#include <resched/validate.h>

#define RS_NO_EVENT UINT32_MAX

struct rs_agree; /* agree.h */

/* ---- shadow_home.c ---- */

/*
 * What a task is where no event tells at once: its group and what it asks for. One entry for the first row of each pid, one for each change
 * after, and one for each nice value that an event shows only later.
 */
struct rs_shadow_home {
	int32_t pid;
	uint32_t after; /* index of the event after which it holds; RS_NO_EVENT: from the first event on */
	bool by_row; /* else only the priority is known */
	uint8_t prio, policy;
	uint64_t slice_ns; /* own; 0: none */
	uint64_t key; /* of its group, as in the rows; 0: the root */
};

struct rs_shadow_homes {
	struct rs_shadow_home *entries; /* by @after; those from the first event on come last */
	uint32_t nr, room;
	struct rs_map first; /* pid -> index of its first entry */
	struct rs_shadow_key {
		uint64_t key;
		uint32_t group;
	} * keys; /* group: index in the plan */
	uint32_t nr_keys, key_room;
	bool each_charge; /* rows tell each accounting, not just what no event tells */
};

/* ---- shadow_log.c ---- */

struct rs_shadow_log {
	struct resched_event *events;
	uint32_t *next; /* next event of the same cpu that matters to the follower */
	uint32_t nr, room;
	unsigned int nr_cpus; /* highest cpu + 1 */
	uint64_t nr_runtimes, nr_stretches; /* all; those that tell a whole stretch */
	uint32_t nr_made_up; /* switches that the recording lacks, see rs_shadow_log_fill() */
	/* the kernel's own state: rows as recorded, then by the event they belong to */
	struct resched_trace *trace; /* set by the caller before the first event if rows are wanted */
	struct resched_truth *truths;
	uint64_t *truth_ns; /* stamp of each row */
	uint32_t nr_truths, truth_room;
	struct rs_truth_of {
		uint32_t prev, next;
	} * truth_of; /* by event: row of its task, of a switch's next; NULL: no rows. The rows of
					 * the groups above follow a row. */
	uint32_t nr_starts; /* rows of tasks, one each, that tell the state at the beginning */
	struct rs_shadow_homes homes;
};

/* rs_shadow_find_homes() - of the rows of @log. Return: 0; -ENOMEM. */
int rs_shadow_find_homes(struct rs_shadow_log *log);
/* rs_shadow_plan_homes() - make the groups that only rows tell of part of @plan. Return: 0; -ENOMEM. */
int rs_shadow_plan_homes(struct rs_shadow_log *log, const struct resched_workload *workload, struct rs_group_plan *plan);
void rs_shadow_homes_release(struct rs_shadow_homes *homes);

/* rs_shadow_log_truth() - add a row of the kernel's own state. Return: 0; -ENOMEM. */
int rs_shadow_log_truth(struct rs_shadow_log *log, uint64_t ts_ns, const struct resched_truth *row);

/* rs_shadow_log_event() - a resched_event_fn; @log is a struct rs_shadow_log, zeroed at first. */
int rs_shadow_log_event(void *log, const struct resched_event *event);
/* rs_shadow_log_fill() - put in switches that are missing though nothing was lost, marked RS_CTX_MADE_UP. Return: 0; -ENOMEM. */
#define RS_CTX_MADE_UP 0x80u
int rs_shadow_log_fill(struct rs_shadow_log *log);
/* rs_shadow_log_finish() - fill and link the events. Return: 0; -ENOMEM. */
int rs_shadow_log_finish(struct rs_shadow_log *log);
void rs_shadow_log_release(struct rs_shadow_log *log);

/* ---- state ---- */

/* Events whose clock sample is known: the accounting of a schedule, a switch whose schedule charged nobody, any other accounting. */
enum rs_anchor { RS_ANCHOR_SCHEDULE,
		 RS_ANCHOR_SWITCH,
		 RS_ANCHOR_OTHER,
		 RS_ANCHOR_NR };

enum rs_mark { RS_MARK_NONE,
	       RS_MARK_TICK,
	       RS_MARK_WAKEUP,
	       RS_MARK_OTHER };

struct rs_shadow_task {
	struct rs_task fair; /* first: what the policy sees */
	int32_t pid;
	int prio; /* as last seen; -1: not seen yet */
	uint32_t comm;
	unsigned int cpu;
	const struct resched_host_task *known; /* its row in the host snapshot, NULL: none */
	bool ready; /* ops->task_init was called */
	bool born_here; /* forked within the recording */
	bool in_class; /* fair now */
	bool sure; /* its lag is known: it did not come from before the recording */
	bool requeued; /* made runnable at its waking; the wakeup event follows */
	bool woken; /* its wakeup was done at an accounting event; the wakeup event follows */
	bool pending_wake; /* woken while still inside schedule() on another cpu */
	bool incoming; /* left one queue, has not joined the next */
	bool blocked_early; /* was dequeued before its switch event */
	int32_t mover_pid; /* it was forked into its parent's group: this one will move it to group_after; 0: nobody will */
	struct rs_group *group_after;
	bool mover_there; /* it has the cpu */
	unsigned int mover_cpu;
	bool want_setup; /* will get the parameters of the snapshot in an instant no event shows */
	bool want_exit; /* exits: will be re-placed */
	uint32_t departs_at; /* exits: will be re-placed before this event; RS_NO_EVENT: no */
	uint64_t waking_ns; /* stamp of its last waking; of a new task, of its fork */
	uint64_t ran_ns, ran_at_set_ns; /* charged so far; when it was last set as current */
	struct rs_shadow_task *next_incoming;
	/* resynchronisation */
	bool has_alt;
	uint64_t alt_ran_ns;
	int64_t alt_dv, alt_dd; /* a branch taken within the error of its test: the way to the other */
	bool near_at_block;
	uint64_t block_vruntime, block_deadline;
	int64_t lag_low, lag_high, lag_off; /* bounds of an unknown lag, and what was given so far */
};

/* A wakeup whose outcome is open. */
struct rs_open_wakeup {
	uint64_t ts_ns;
	struct rs_shadow_task *wakee, *curr;
	bool model;
	char why[160];
};
#define RS_OPEN_WAKEUPS 8u

struct rs_shadow_cpu {
	struct rs_rq rq;
	struct rs_shadow_task *curr; /* what rq->curr stands in */
	struct rs_shadow_task *incoming, **incoming_end;
	uint64_t mark_ns; /* stamp of the event that asked for a schedule; 0: none did */
	enum rs_mark mark;
	bool reuse_clock; /* the next schedule takes the clock of the wakeup that asked for it */
	bool idle;
	unsigned int pulled_by; /* the cpu that took the tasks that are under way to this one, which is idle */
	bool seen; /* has had a switch */
	uint64_t sampled_ns; /* stamp that goes with rq.clock_ns */
	uint64_t charged_ns; /* rq.clock_ns when curr was charged last, or set; wakeups into other queues move the clock on */
	uint64_t anchor_ns, anchor_clock; /* ACCOUNTING: stamp and clock of the last sample that an event told */
	enum rs_anchor anchor;
	uint64_t stamp_clock; /* STAMPS: last sample */
	uint64_t last_ns; /* STAMPS: ticks are done up to here */
	uint64_t phase_ns; /* ticks fall on phase + k * tick */
	uint64_t last_tick_ns; /* stamp of the last recognised tick */
	bool told; /* an accounting event came after that waking */
	int32_t waking_pid;
	uint64_t waking_ns; /* waking event of this cpu without its wakeup */
	uint32_t next_event; /* index of its next event */
	uint64_t left_ns; /* a task was moved away */
	uint64_t last_wakeup_ns; /* of anybody onto this cpu */
	struct rs_open_wakeup open[RS_OPEN_WAKEUPS];
	unsigned int nr_open;
	bool rows_taken; /* those of its first switch were */
	uint64_t clock_shift_ns; /* from the kernel's task clock to the stamps, where rows tell */
	uint32_t start_row; /* of who runs first here, RS_NO_EVENT for none */
	uint64_t blind_until_ns; /* events were lost: verdicts do not count yet */
};

struct rs_shadow_clock {
	enum resched_shadow_mode mode;
	uint64_t tick_ns;
	uint64_t switch_lead_ns, tick_switch_lead_ns; /* a: the schedule's sample is this much before
							 the switch's stamp */
	uint64_t wake_lag_ns; /* b: the wakeup's sample is this much after the stamp of waking */
	uint64_t fork_lead_ns; /* 6.1: the placing of a child is sampled this much before the stamp of
				  its fork */
	uint64_t exit_lag_ns; /* an exiting task is placed anew this much after the stamp of its exit */
	uint64_t softirq_lead_ns; /* the tick's sample is this much before the wakings of timers it
				     expires */
	uint64_t tick_lead_ns; /* the tick's sample is this much before the switch it causes */
	uint64_t burst_ns; /* no event for so long: what was asked for has been done */
};

/* The lag (virtual ns) with which a task that is older than the recording is taken to have fallen
 * asleep. */
struct rs_shadow_lag {
	int32_t pid;
	int64_t vlag;
};
#define RS_MAX_LAGS 32u

struct rs_shadow;

struct rs_shadow_options {
	struct rs_agree *agree; /* is told and asked along the way; NULL: nobody is */
	const struct rs_policy_ops *ops;
	const struct rs_model *model;
	const struct resched_host *host;
	const struct resched_names *names;
	const struct resched_workload *workload; /* for the groups of its tasks */
	const struct rs_group_plan *groups; /* NULL: all tasks are in the root */
	struct rs_shadow_clock clock;
	bool resync;
	struct rs_shadow_lag lags[RS_MAX_LAGS];
	unsigned int nr_lags;
	uint64_t *phases; /* by group of the plan: where the periods of its quota begin; NULL: at multiples of their length */
	uint64_t stop_ns; /* the last instant to follow; UINT64_MAX: all */
	/* told of the state after every event; may look and not touch. NULL: nobody is */
	void (*seen)(void *ctx, struct rs_shadow *s, const struct resched_event *e);
	void *seen_ctx;
};

/* Errors against the kernel's own state (shadow_truth.c). */
struct rs_shadow_errors {
	uint64_t *lag, *deadline;
	uint64_t nr_lag, nr_deadline, room;
};

struct rs_shadow {
	struct rs_shadow_options opts;
	const struct rs_shadow_log *log;
	struct rs_shadow_task **tasks;
	uint32_t nr_tasks, room;
	struct rs_map by_pid; /* pid -> index of the living task */
	struct rs_map comms; /* pid -> name */
	struct rs_map programs; /* pid -> index of the workload's next task of that pid */
	struct rs_groups groups;
	uint64_t next_decay_ns;
	uint64_t *timers; /* by group: when its quota's timer rings, UINT64_MAX: not; NULL: no group has a quota */
	unsigned int nr_to_move; /* tasks with a group_after */
	uint32_t next_row; /* index of the next row of the beginning */
	uint32_t next_home; /* index of the next change of a group */
	int64_t anchors[RS_ANCHOR_NR]; /* ACCOUNTING: from the sample of each kind to its stamp, less the same for wakings */
	uint64_t *stints; /* RUNTIMES: run time of prev by index of the switch */
	struct rs_shadow_cpu *cpus;
	unsigned int nr_cpus;
	uint32_t at; /* index of the event in hand */
	bool exits_early; /* an exit is told long before the task leaves its group */
	struct resched_shadow *ret;
	struct rs_shadow_errors errors;
	int error;
};

/* rs_shadow_run() - one pass over @log. @ret: counters are set, texts filled. Return: 0; -ENOMEM. */
int rs_shadow_run(const struct rs_shadow_log *log, const struct rs_shadow_options *opts,
		  struct resched_shadow *ret);

/* The same in steps, for who wants to see the state at opts->stop_ns: new, follow, look, free. */
int rs_shadow_new(const struct rs_shadow_log *log, const struct rs_shadow_options *opts,
		  struct resched_shadow *ret, struct rs_shadow **ret_shadow);
int rs_shadow_follow(struct rs_shadow *s);
void rs_shadow_free(struct rs_shadow *s);

/* ---- shadow_clock.c ---- */

static inline bool rs_shadow_by_stamps(const struct rs_shadow *s)
{
	return s->opts.clock.mode != RESCHED_SHADOW_ACCOUNTING;
}

/* rs_shadow_find_phases() - tick phase of each cpu. @ret: log->nr_cpus phases; unchanged without
 * memory. */
void rs_shadow_find_phases(const struct rs_shadow_log *log, const struct rs_shadow_clock *clock,
			   uint64_t *ret);
/* rs_shadow_calibrate() - find the offsets of @opts->clock. @unit_ns: usual time from a waking to the
 * switch it causes; 0: unknown. Return: 0; -ENOMEM. (shadow_calibrate.c) */
int rs_shadow_calibrate(const struct rs_shadow_log *log, struct rs_shadow_options *opts,
			uint64_t unit_ns);
/* rs_shadow_measure_stints() - RUNTIMES: charge of each stretch. Return: array by event; NULL without
 * memory. */
uint64_t *rs_shadow_measure_stints(const struct rs_shadow_log *log);

/* rs_shadow_is_tick() - does the accounting at @ts_ns on @c stand for the tick? */
bool rs_shadow_is_tick(const struct rs_shadow *s, const struct rs_shadow_cpu *c, uint64_t ts_ns);
/* rs_shadow_next_switch() - index of the next switch of @c; RS_NO_EVENT. */
uint32_t rs_shadow_next_switch(const struct rs_shadow *s, const struct rs_shadow_cpu *c);
/* rs_shadow_look() - STAMPS: the clock of @c read @clock_ns; what runs is not charged. */
void rs_shadow_look(struct rs_shadow *s, struct rs_shadow_cpu *c, uint64_t clock_ns);
/* rs_shadow_account() - STAMPS: charge what runs on @c up to @clock_ns. */
void rs_shadow_account(struct rs_shadow *s, struct rs_shadow_cpu *c, uint64_t clock_ns);
/* rs_shadow_ticks() - STAMPS: the ticks of @c up to @until_ns; @next_ns: its next event. */
void rs_shadow_ticks(struct rs_shadow *s, struct rs_shadow_cpu *c, uint64_t until_ns, uint64_t next_ns);
/* rs_shadow_ticks_between() - does a tick of @c fall into (from, to]? */
bool rs_shadow_tick_between(const struct rs_shadow *s, const struct rs_shadow_cpu *c, uint64_t from_ns,
			    uint64_t to_ns);
/* rs_shadow_switch_clock() - STAMPS: what the clock of @c read in the schedule that ended with switch
 * event @e. */
uint64_t rs_shadow_switch_clock(const struct rs_shadow *s, const struct rs_shadow_cpu *c,
				const struct resched_event *e, const struct rs_shadow_task *prev);
/* rs_shadow_unseen_schedules() - schedules that kept the running task, now that the burst of events
 * after @e has ended. */
void rs_shadow_unseen_schedules(struct rs_shadow *s, const struct resched_event *e);

/* ---- shadow_anchor.c ---- */

enum rs_anchor rs_shadow_anchor_kind(const struct rs_shadow_log *log, uint32_t idx);
/* rs_shadow_find_anchors() - distances by kind, found from wakeups that tell. Return: 0; -ENOMEM. */
int rs_shadow_find_anchors(const struct rs_shadow_log *log, int64_t ret[RS_ANCHOR_NR]);
/* rs_shadow_set_anchor() - the event in hand told the clock of @c. */
void rs_shadow_set_anchor(struct rs_shadow *s, struct rs_shadow_cpu *c, enum rs_anchor kind);
/* rs_shadow_wake_clock() - the clock of @c as a waking at @waking_ns found it. */
void rs_shadow_wake_clock(struct rs_shadow *s, struct rs_shadow_cpu *c, uint64_t waking_ns);

/* ---- shadow_quota.c ---- */

/* rs_shadow_quota_begin() - the queues are made and aged: limits hold from now on. Return: 0; -ENOMEM. */
int rs_shadow_quota_begin(struct rs_shadow *s);
/* rs_shadow_quota_timers() - what rings before @until_ns (a stamp). */
void rs_shadow_quota_timers(struct rs_shadow *s, uint64_t until_ns);
/* rs_shadow_quota_lift() - @t runs on @c: no group it is in can be throttled there. Return: whether one was. */
bool rs_shadow_quota_lift(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_shadow_task *t);
/* rs_shadow_runnable() - fair tasks of @c that might run: neither delayed nor held back by a quota. */
unsigned int rs_shadow_runnable(const struct rs_shadow *s, const struct rs_shadow_cpu *c);
/* rs_shadow_find_quota_phases() - fit opts->phases to what was recorded. Return: 0; -ENOMEM. */
int rs_shadow_find_quota_phases(const struct rs_shadow_log *log, struct rs_shadow_options *opts);

/* ---- shadow_start.c ---- */

/* rs_shadow_has_start() - do rows tell the state at the beginning, and does the policy take it? */
bool rs_shadow_has_start(const struct rs_shadow *s);
/* rs_shadow_start() - take it. Tasks it does not tell of are left to the first events about them. */
void rs_shadow_start(struct rs_shadow *s);
/* rs_shadow_start_again() - rows were read one after the other while the machine went on: each once more, at its instant, for all before
 * @ts_ns. */
void rs_shadow_start_again(struct rs_shadow *s, uint64_t ts_ns);
/* rs_shadow_take_rows() - where rows are few and tell what no event does: take those of switch @e, which was just followed. */
void rs_shadow_take_rows(struct rs_shadow *s, const struct resched_event *e);
/* rs_shadow_state_of_row() - what a row tells of an entity. */
void rs_shadow_state_of_row(const struct rs_shadow *s, const struct resched_truth *row, bool running, struct rs_entity_state *ret);
/* rs_shadow_move_homes() - after the event in hand: tasks that change their group then. (shadow_home.c) */
void rs_shadow_move_homes(struct rs_shadow *s);
/* rs_shadow_group_of_key() - the group of a row; NULL: the root. (shadow_home.c) */
struct rs_group *rs_shadow_group_of_key(const struct rs_shadow *s, uint64_t key);

/* ---- shadow_fit.c ---- */

/* rs_shadow_fit() - find the lags of @opts that make the model agree best, one task after the other.
 * Does nothing where the policy stores no lag or nothing disagrees. Return: 0; -ENOMEM. */
int rs_shadow_fit(const struct rs_shadow_log *log, struct rs_shadow_options *opts);

/* ---- shadow_queue.c ---- */

static inline struct rs_shadow_task *rs_shadow_task_of(struct rs_task *t)
{
	return (struct rs_shadow_task *)(void *)t;
}

static inline bool rs_shadow_is_fair(int32_t pid, int prio)
{
	return pid != 0 && prio >= 100 && prio < 140;
}

/* rs_shadow_find() - the living task of a pid; NULL: not seen yet. */
struct rs_shadow_task *rs_shadow_find(const struct rs_shadow *s, int32_t pid);
/* rs_shadow_fair() - the fair task of a pid whose priority is now @prio: made when new, moved when nice
 * or class changed. Return: NULL when it is not fair, or without memory (s->error). */
struct rs_shadow_task *rs_shadow_fair(struct rs_shadow *s, int32_t pid, int prio, unsigned int cpu);
/* rs_shadow_fork() - a new task @pid of @parent (may be NULL); @prio: as in its first wakeup, -1
 * unknown. */
struct rs_shadow_task *rs_shadow_fork(struct rs_shadow *s, struct rs_shadow_task *parent, int32_t pid,
				      int prio, unsigned int cpu);
const char *rs_shadow_comm(const struct rs_shadow *s, const struct rs_shadow_task *t);

/* rs_shadow_avg() - V of the queue @t is in, its group's or the root's. */
uint64_t rs_shadow_avg(const struct rs_shadow *s, const struct rs_shadow_cpu *c,
		       const struct rs_shadow_task *t);
/* rs_shadow_age() - let the new queues of @c run as if for a while: virtual time far from where a new
 * task's begins. Return: 0; -ENOMEM. */
int rs_shadow_age(struct rs_shadow *s, struct rs_shadow_cpu *c);
/* rs_shadow_idle_clock() - bring the clock of a cpu that runs no fair task up to @ts_ns: load averages
 * decay by it. */
void rs_shadow_idle_clock(struct rs_shadow_cpu *c, uint64_t ts_ns);
/* rs_shadow_advance() - the clock of @c was looked at by somebody who did not charge the running task. */
void rs_shadow_advance(struct rs_shadow_cpu *c, uint64_t clock_ns);
void rs_shadow_charge(struct rs_shadow *s, struct rs_shadow_cpu *c, uint64_t clock_ns, bool tick);
void rs_shadow_enqueue(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_shadow_task *t,
		       unsigned int flags);
void rs_shadow_put(struct rs_shadow *s, struct rs_shadow_cpu *c);
void rs_shadow_set(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_shadow_task *t, bool picked);
void rs_shadow_block(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_shadow_task *t,
		     uint32_t state);
/* rs_shadow_leave() - take @t off whatever queue it is on: the follower was wrong, or it changes cpu.
 */
void rs_shadow_leave(struct rs_shadow *s, struct rs_shadow_task *t);
void rs_shadow_requeue(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_shadow_task *t);
void rs_shadow_add_incoming(struct rs_shadow_cpu *c, struct rs_shadow_task *t);
/* rs_shadow_join() - tasks under way to @c join it; only the first with @one. */
void rs_shadow_join(struct rs_shadow *s, struct rs_shadow_cpu *c, bool one);
/* rs_shadow_replace() - the running @t leaves and joins anew with the parameters it has
 * (sched_move_task()). */
void rs_shadow_replace(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_shadow_task *t);
/* rs_shadow_ask() - @t asks for something else: nice value, policy, slice (set_user_nice()). */
void rs_shadow_ask(struct rs_shadow *s, struct rs_shadow_task *t, int nice, enum rs_sched_policy policy, uint64_t slice_ns);
/* rs_shadow_move() - @t changes its group (sched_move_task()). */
void rs_shadow_move(struct rs_shadow *s, struct rs_shadow_task *t, struct rs_group *group);
/* rs_shadow_setup() - the running @t takes the parameters of the snapshot. */
void rs_shadow_setup(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_shadow_task *t);
/* rs_shadow_mark() - note who asked for a schedule, if anybody has since. */
void rs_shadow_mark(struct rs_shadow_cpu *c, enum rs_mark mark, uint64_t ts_ns);
void rs_shadow_clear_mark(struct rs_shadow_cpu *c);
struct rs_shadow_task *rs_shadow_pick(struct rs_shadow *s, struct rs_shadow_cpu *c);

/* ---- shadow_decide.c ---- */

/* rs_shadow_judge_pick() - a contested switch at @ts_ns: the kernel went to @next, the model says @pick
 * (NULL: idle). */
void rs_shadow_judge_pick(struct rs_shadow *s, struct rs_shadow_cpu *c, uint64_t ts_ns,
			  struct rs_shadow_task *pick, struct rs_shadow_task *next);
/* rs_shadow_judge_tick() - before the pick: at @ts_ns the still runnable @prev is replaced by @next,
 * both fair. */
void rs_shadow_judge_tick(struct rs_shadow *s, struct rs_shadow_cpu *c, uint64_t ts_ns,
			  struct rs_shadow_task *prev, struct rs_shadow_task *next);
/* rs_shadow_hidden() - a schedule without a switch event at @ts_ns. */
void rs_shadow_hidden(struct rs_shadow *s, struct rs_shadow_cpu *c, uint64_t ts_ns);
/* rs_shadow_test_wakeup() - @p was just queued on @c: the model's preemption test, and the question
 * opened. */
void rs_shadow_test_wakeup(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_shadow_task *p,
			   unsigned int flags, uint64_t ts_ns);
/* rs_shadow_close_wakeups() - the open questions of @c are answered by switch @e. @next: its next task
 * when fair; @pick: the model's. */
void rs_shadow_close_wakeups(struct rs_shadow *s, struct rs_shadow_cpu *c,
			     const struct resched_event *e, struct rs_shadow_task *next,
			     struct rs_shadow_task *pick);

/* ---- shadow_truth.c ---- */

/* rs_shadow_compare() - hold the state against the rows of the event in hand: before it is followed
 * (wakings) or after. */
void rs_shadow_compare(struct rs_shadow *s, const struct resched_event *e, bool before);
/* rs_shadow_errors_finish() - distributions into s->ret. */
void rs_shadow_errors_finish(struct rs_shadow *s);
void rs_shadow_errors_release(struct rs_shadow_errors *errors);
/* rs_shadow_true_lags() - the lags of @opts from the rows of first wakings. Return: how many. */
unsigned int rs_shadow_true_lags(const struct rs_shadow_log *log, struct rs_shadow_options *opts);

/* ---- shadow_resync.c ---- */

/*
 * rs_shadow_resync() - the kernel took @next where the model comes to @pick: move the state, within its
 * error, so that the model does as well. Of a task whose lag is older than the recording an interval is
 * kept. Exact states are left alone.
 */
void rs_shadow_resync(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_shadow_task *pick,
		      struct rs_shadow_task *next);

/* Branches that an error in the state may have taken wrongly: call before and after the requeue of a
 * delayed task; when a task blocks; when a sleeper was queued at @avg. */
struct rs_shadow_point {
	uint64_t vruntime, deadline, avg;
	bool near;
};
void rs_shadow_before_requeue(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_shadow_task *t,
			      struct rs_shadow_point *ret);
void rs_shadow_after_requeue(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_shadow_task *t,
			     const struct rs_shadow_point *before);
void rs_shadow_before_block(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_shadow_task *t);
void rs_shadow_after_wakeup(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_shadow_task *t);

#endif
