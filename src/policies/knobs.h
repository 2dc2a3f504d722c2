/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every feature and tunable, once: the parser, `resched policies`, the manual and the tests read these lines.
 *
 * A feature row: name, models that have it, models where it is on by default, meaning. A tunable row: name, models, kind, default
 * (before scaling), scaled, least and greatest value, meaning. One name may have several rows when the releases do not overlap in
 * meaning. Names are the kernel's: kernel/sched/features.h, debugfs sched/, sysctl kernel.sched_*.
 */
#ifndef RS_POLICIES_KNOBS_H
#define RS_POLICIES_KNOBS_H

/* Kernels, then the development stages of EEVDF: first those that still pick as CFS does, in the order they were made. */
enum rs_model_id {
	RS_K418, RS_K54, RS_K510, RS_K515, RS_K61, RS_K66, RS_K68, RS_K612, RS_K618,
	RS_KAVG, RS_KNODEBIT, RS_KLAG,
	RS_KP2303, RS_KEEVDF, RS_KCLAG, RS_KCEEVDF, RS_KMIXED, RS_KP2305,
	RS_KELIGIBLE, RS_KQUEUE, RS_KDELAY,
	RS_MODEL_NR
};

#define RS_M(id)	(1u << RS_K##id)
#define RS_NONE		0u
#define RS_CFS_510	(RS_M(510) | RS_M(515) | RS_M(61) | RS_CFS_STAGES)
#define RS_CFS_STAGES	(RS_M(AVG) | RS_M(NODEBIT) | RS_M(LAG))
#define RS_CFS		(RS_M(418) | RS_M(54) | RS_CFS_510)
#define RS_612ON	(RS_M(612) | RS_M(618))
#define RS_66ON		(RS_M(66) | RS_M(68) | RS_612ON)
#define RS_SLEEPERS	(RS_M(P2303) | RS_M(EEVDF))	/* EEVDF's pick beside CFS's ways of joining */
#define RS_BEFORE_66	(RS_SLEEPERS | RS_M(CLAG) | RS_M(CEEVDF) | RS_M(MIXED) | RS_M(P2305))
#define RS_AFTER_66	(RS_M(ELIGIBLE) | RS_M(QUEUE) | RS_M(DELAY))
#define RS_EEVDF	(RS_BEFORE_66 | RS_66ON | RS_AFTER_66)
#define RS_ALL		(RS_CFS | RS_EEVDF)
#define RS_SHORT	(RS_612ON | RS_M(QUEUE) | RS_M(DELAY))
#define RS_DEBIT	(RS_CFS & ~(RS_M(NODEBIT) | RS_M(LAG)))
#define RS_UTIL		(RS_M(515) | RS_M(61) | RS_CFS_STAGES | RS_EEVDF)
#define RS_FUDGE	(RS_M(MIXED) | RS_M(P2305))

#define RS_SEE_BALANCE	"acts on placement and balancing, not on one queue"

/* X(name, has, on, meaning) */
#define RS_FEATURES(X) \
	/* EEVDF placement and pick */ \
	X(PLACE_LAG, RS_EEVDF | RS_M(LAG), RS_EEVDF | RS_M(LAG), \
	  "a task keeps its lag over sleep and migration; off: joins at lag 0 (place_entity)") \
	X(PLACE_DEADLINE_INITIAL, RS_EEVDF, RS_EEVDF, "a new task's first request is half a slice (place_entity; no effect before 6.12)") \
	X(PLACE_REL_DEADLINE, RS_612ON, RS_612ON, "a task that moves keeps what is left of its request (place_entity)") \
	X(RUN_TO_PARITY, RS_66ON | RS_AFTER_66, RS_66ON | RS_AFTER_66, \
	  "the running task is protected until its slice ends (pick_eevdf)") \
	X(PREEMPT_SHORT, RS_SHORT, RS_SHORT, "a wakee with a shorter slice breaks the protection (check_preempt_wakeup_fair)") \
	X(DELAY_DEQUEUE, RS_SHORT, RS_SHORT, "a task that blocks with negative lag stays queued until it is eligible (dequeue_entity)") \
	X(DELAY_ZERO, RS_612ON | RS_M(DELAY), RS_612ON | RS_M(DELAY), \
	  "positive lag earned while delayed is cut to zero (requeue_delayed_entity)") \
	X(PICK_BUDDY, RS_612ON, RS_612ON, "the pick honours a nominated buddy if it is eligible (pick_next_entity)") \
	X(ENFORCE_ELIGIBILITY, RS_66ON | RS_M(ELIGIBLE) | RS_M(DELAY), RS_66ON | RS_M(ELIGIBLE) | RS_M(DELAY), \
	  "only eligible entities are picked; off is EVDF (vruntime_eligible; posted patch)") \
	/* EEVDF, only in stages of its development */ \
	X(PLACE_FUDGE, RS_FUDGE, RS_FUDGE, \
	  "a wakee whose slice is below the average gets up to a slice of negative lag forgiven (place_entity)") \
	X(PLACE_SLEEPER, RS_M(QUEUE), RS_NONE, "negative lag is earned back by sleeping (place_entity)") \
	X(GENTLE_SLEEPER, RS_M(QUEUE), RS_M(QUEUE), "half as fast (place_entity, with PLACE_SLEEPER)") \
	X(EVDF, RS_M(QUEUE), RS_NONE, "every entity is eligible (entity_eligible)") \
	X(GENTLE_DELAY, RS_M(QUEUE), RS_M(QUEUE), "a delayed task joins anew when it wakes, without positive lag (ttwu_runnable)") \
	X(FAIR_SLEEPERS, RS_SLEEPERS | RS_M(LAG), RS_NONE, "a wakee gets sleeper credit as well as its lag (place_entity)") \
	/* CFS */ \
	X(GENTLE_FAIR_SLEEPERS, RS_CFS | RS_SLEEPERS, RS_CFS | RS_SLEEPERS, "half the sleeper credit (place_entity)") \
	X(START_DEBIT, RS_DEBIT, RS_DEBIT, "a new task starts one slice behind (place_entity)") \
	X(LAST_BUDDY, RS_CFS, RS_CFS, "prefer the preempted task at the next pick (check_preempt_wakeup, 8 tasks or more)") \
	X(ALT_PERIOD, RS_CFS_510, RS_CFS_510, "the period counts all tasks of the cpu (sched_slice)") \
	X(BASE_SLICE, RS_CFS_510, RS_CFS_510, "no slice below min_granularity_ns (sched_slice)") \
	/* both */ \
	X(NEXT_BUDDY, RS_ALL, RS_NONE, "a wakee becomes the buddy of the next pick (check_preempt_wakeup)") \
	X(WAKEUP_PREEMPTION, RS_ALL, RS_ALL, "wakeups may preempt (check_preempt_wakeup)") \
	X(HRTICK, RS_ALL, RS_NONE, "a high resolution timer ends slices (hrtick_start_fair)") \
	X(DOUBLE_TICK, RS_ALL, RS_NONE, "with HRTICK keep checking at ticks too (entity_tick)") \
	/* known, without effect on one queue of fair tasks */ \
	X(CACHE_HOT_BUDDY, RS_ALL, RS_ALL, "buddies count as cache hot (task_hot): " RS_SEE_BALANCE) \
	X(HRTICK_DL, RS_ALL, RS_NONE, "HRTICK for deadline tasks (task_tick_dl): not fair tasks") \
	X(NONTASK_CAPACITY, RS_ALL, RS_ALL, "interrupt time lowers a cpu's capacity (update_rq_clock_task): " RS_SEE_BALANCE) \
	X(TTWU_QUEUE, RS_ALL, RS_ALL, "remote wakeups are queued to the target cpu (ttwu_queue_wakelist): not on one queue") \
	X(SIS_AVG_CPU, RS_M(418) | RS_M(54) | RS_M(510), RS_NONE, \
	  "idle scan limited by the average idle time (select_idle_cpu): " RS_SEE_BALANCE) \
	X(SIS_PROP, RS_CFS, RS_M(418) | RS_M(54) | RS_M(510), \
	  "idle scan limited in proportion to idle time (select_idle_cpu): " RS_SEE_BALANCE) \
	X(SIS_CURRENT, RS_M(66) | RS_M(68), RS_NONE, "the waker's cpu may count as idle (select_idle_sibling): " RS_SEE_BALANCE) \
	X(SIS_NODE, RS_M(66), RS_NONE, "idle scan goes on through the node (select_idle_cpu): " RS_SEE_BALANCE) \
	X(SIS_UTIL, RS_UTIL, RS_UTIL, \
	  "idle scan limited by utilisation (select_idle_cpu): " RS_SEE_BALANCE) \
	X(SIS_FILTER, RS_ALL, RS_NONE, \
	  "idle scan leaves out cpus with several tasks (select_idle_cpu; posted patch of 2022): " RS_SEE_BALANCE) \
	X(WARN_DOUBLE_CLOCK, RS_ALL, RS_NONE, "debug warning (update_rq_clock): no effect") \
	X(RT_PUSH_IPI, RS_ALL, RS_ALL, "pull real-time tasks by an IPI chain (pull_rt_task): not fair tasks") \
	X(RT_RUNTIME_SHARE, RS_ALL, RS_M(418) | RS_M(54), "real-time run time is borrowed across cpus (balance_runtime): not fair tasks") \
	X(LB_MIN, RS_ALL, RS_NONE, "balancing skips tasks of little load (detach_tasks): " RS_SEE_BALANCE) \
	X(LB_BIAS, RS_M(418) | RS_M(54), RS_NONE, "bias of load comparisons (source_load): " RS_SEE_BALANCE) \
	X(ATTACH_AGE_LOAD, RS_ALL, RS_ALL, "decay load when a task changes group (attach_entity_cfs_rq): " RS_SEE_BALANCE) \
	X(WA_IDLE, RS_ALL, RS_ALL, "wake on an idle cpu of waker or previous (wake_affine_idle): " RS_SEE_BALANCE) \
	X(WA_WEIGHT, RS_ALL, RS_ALL, "wake where the load is less (wake_affine_weight): " RS_SEE_BALANCE) \
	X(WA_BIAS, RS_ALL, RS_ALL, "bias towards the previous cpu (wake_affine_weight): " RS_SEE_BALANCE) \
	X(UTIL_EST, RS_ALL, RS_ALL, "estimated utilisation (util_est_update): " RS_SEE_BALANCE) \
	X(UTIL_EST_FASTUP, RS_CFS | RS_BEFORE_66 | RS_M(66), RS_CFS | RS_BEFORE_66 | RS_M(66), \
	  "the estimate rises at once (util_est_update): " RS_SEE_BALANCE) \
	X(LATENCY_WARN, RS_ALL, RS_NONE, "debug warning (cpu_resched_latency): no effect") \
	X(HZ_BW, RS_M(66) | RS_M(68), RS_M(66) | RS_M(68), "keep the tick while a quota runs (sched_can_stop_tick): no effect") \
	X(NI_RANDOM, RS_M(61) | RS_66ON, RS_M(61) | RS_66ON, "newly idle balancing throws a die (sched_balance_newidle): " RS_SEE_BALANCE)

/* X(name, has, kind, default, scaled, least, greatest, meaning) */
#define RS_TUNABLES(X) \
	X(base_slice_ns, RS_EEVDF, TIME, 700000, 1, 1000, 4294967295, \
	  "size of a request (update_deadline; 0.75 ms up to 6.8; min_granularity_ns before 6.6)") \
	X(latency_ns, RS_CFS | RS_SLEEPERS, TIME, 6000000, 1, 1000, 4294967295, "period in which every task runs once (sched_slice, place_entity)") \
	X(min_granularity_ns, RS_CFS, TIME, 750000, 1, 1000, 4294967295, "least time before a tick preempts (check_preempt_tick)") \
	X(wakeup_granularity_ns, RS_CFS, TIME, 1000000, 1, 0, 4294967295, \
	  "how far ahead a wakee must be (wakeup_preempt_entity)") \
	X(idle_min_granularity_ns, RS_M(61) | RS_CFS_STAGES, TIME, 750000, 0, 1000, 4294967295, "least slice of SCHED_IDLE tasks (sched_slice)") \
	X(sched_child_runs_first, RS_ALL, UINT, 0, 0, 0, 1, "a new task runs before its parent (task_fork_fair; cfs only)") \
	X(tunable_scaling, RS_ALL, SCALING, 1, 0, 0, 2, "how defaults grow with cpus: 0 none, 1 logarithmic, 2 linear") \
	X(hz, RS_ALL, UINT, 250, 0, 10, 100000, "timer ticks a second (CONFIG_HZ)") \
	X(preempt, RS_ALL, PREEMPT, 1, 0, 0, 3, "when a marked cpu switches: 0 none, 1 voluntary, 2 full, 3 lazy (sched/preempt)") \
	X(migration_cost_ns, RS_ALL, TIME, 500000, 0, 0, UINT64_MAX, "how long a task stays cache hot (task_hot): balancing") \
	X(nr_migrate, RS_ALL, UINT, 32, 0, 0, 4294967295, "tasks moved by one balancing (detach_tasks): balancing") \
	X(energy_aware, RS_ALL, UINT, 1, 0, 0, 1, "wakeups go where they cost least energy, on unequal cpus (find_energy_efficient_cpu)")

enum rs_feature_id {
#define X(name, has, on, meaning) RS_F_##name,
	RS_FEATURES(X)
#undef X
	RS_FEATURE_NR
};

enum rs_tunable_id {
#define X(name, has, kind, value, scaled, least, greatest, meaning) RS_T_##name,
	RS_TUNABLES(X)
#undef X
	RS_TUNABLE_NR
};

#endif
