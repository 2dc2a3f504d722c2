/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State of the pass that rebuilds a workload: every task and cpu as they are while the events go by.
 * rebuild.c is the pass; rebuild_tasks.c grows the programs, rebuild_wake.c and rebuild_switch.c take the two kinds of events
 * that matter most.
 */
#ifndef RS_REPLAY_REBUILD_H
#define RS_REPLAY_REBUILD_H

#include "base/map.h"
#include "replay/annotate.h"
#include "replay/calibrate.h"
#include "replay/workload.h"

#define RS_EXPLAINED_NS 100000u /* a wakeup this short before a preemption explains it */
#define RS_EXPLAINED_NEAR_NS 50000u /* a tick or wakeup this near to a switch caused it */
/* A machine ticks, or says it idles: so long without a single event it was suspended, or the stamps are wrong. The hole is cut to
 * whole seconds, so that ticks keep their phase. */
#define RS_HOLE_NS 20000000000u
#define RS_SKEW_NS 20000u /* the clocks of two cpus differ by less */
#define RS_SAME_PASS_NS 50000u /* between two tasks that one pass of the balancer moves */
#define RS_SWITCH_PATH_NS 15000u /* accounting in a schedule comes no earlier than this before its switch */

enum rs_task_state { RS_TASK_UNSEEN,
		     RS_TASK_RUNNING,
		     RS_TASK_QUEUED,
		     RS_TASK_SLEEPING,
		     RS_TASK_DEAD };

/*
 * A point in a program where the running task was accounted without a tick, a wakeup or a switch: it changed parameters of its
 * own there, which show only later, or it read its cpu time. nr_ops UINT32_MAX: none.
 */
struct rs_change {
	uint32_t nr_ops;
	uint64_t run_ns, ts;
};

/* What is known of a task while the events pass; same index as its program. */
struct rs_task_track {
	enum rs_task_state state;
	uint64_t run_ns; /* demand since the last operation */
	uint64_t seen_ns, awake_ns; /* first seen; runnable since, without a sleep */
	uint64_t woken_ns; /* waking that queued it; 0: queued by a preemption */
	uint64_t queued_ns; /* it waits since */
	uint32_t block; /* its last BLOCK while asleep or queued by a waking; UINT32_MAX */
	uint16_t cpu; /* where it is or ran last */
	uint8_t ran; /* since it was woken or born */
	uint32_t early_block; /* it ran before its waking showed: the BLOCK that waking ends; UINT32_MAX */
	uint64_t early_ns; /* when it ran */
	uint8_t placing; /* its waking has not said yet where it goes */
	uint8_t pending; /* woken while running: the next block ends at once */
	uint8_t pending_causal;
	uint8_t pended; /* queued by that, and not run or moved since */
	uint32_t pending_waker, pending_op;
	uint64_t pending_ns; /* when */
	struct rs_op_ref wake; /* the operation its last waking stands for */
	uint64_t wake_ns; /* when that was; before @woken_ns when it was not asleep yet */
	struct rs_change maybe, confirmed; /* where it may have changed its parameters */
	uint32_t last_comm;
	int last_prio;
};

struct rs_cpu_track {
	uint32_t curr; /* index; RS_NO_TASK: idle; RS_CURR_UNKNOWN */
	uint64_t since_ns; /* demand of curr is counted up to here */
	uint64_t tick_ns; /* last accounting in a tick since the switch-in */
	uint64_t wakeup_ns; /* last wakeup onto this cpu or by it */
	uint64_t waking_ns; /* a waking is in progress on this cpu since; 0 = none */
	uint64_t reference_ns; /* start of observation */
	uint64_t empty_ns; /* last ran empty: went idle, or pulled a task */
	uint64_t move_ns; /* last moved a task here; 0: not since its last switch */
	struct rs_op_ref move;
};
#define RS_CURR_UNKNOWN (UINT32_MAX - 1)

struct rs_rebuild {
	struct resched_workload *workload;
	const struct resched_names *trace_names;
	struct rs_task_track *tracks;
	uint32_t tracks_room;
	struct rs_map by_pid;
	struct rs_cpu_track *cpus;
	unsigned int nr_cpus;
	struct rs_calibration *cal;
	struct rs_annotate *annotate;
	uint64_t first_ns, last_ns, nr_switches; /* stamps without the holes */
	uint64_t cut_ns; /* time in which no cpu recorded anything, taken out so far */
	struct {
		uint32_t task, op;
	} * rescheds; /* preemptions without a cause: judged when the tick's phase is known */
	uint32_t nr_rescheds, rescheds_room;
};

#define RS_NO_CHANGE ((struct rs_change){ UINT32_MAX, 0, 0 })

static inline struct rs_program *rs_rebuild_program(const struct rs_rebuild *rb, uint32_t task)
{
	return &rb->workload->tasks[task];
}

/* Functions that return int: 0, or -ENOMEM. */

/* The task with @pid, made when it is new; new_task() makes one in any case. */
int rs_rebuild_find_task(struct rs_rebuild *rb, int32_t pid, uint32_t *ret);
int rs_rebuild_new_task(struct rs_rebuild *rb, int32_t pid, uint32_t *ret);
/* NULL without memory. Pointers to other cpus are stale afterwards. */
struct rs_cpu_track *rs_rebuild_find_cpu(struct rs_rebuild *rb, unsigned int cpu);

/* Demand of the task that runs on @cpu, up to @ts. */
void rs_rebuild_eat(struct rs_rebuild *rb, struct rs_cpu_track *cpu, uint64_t ts);
/* One more operation, with the demand since the last; NULL without memory. */
struct rs_op *rs_rebuild_append(struct rs_rebuild *rb, uint32_t task, enum rs_op_kind kind);
/* A task met for the first time, in the state the event implies. */
void rs_rebuild_first_sight(struct rs_rebuild *rb, uint32_t task, enum rs_birth birth, unsigned int cpu);
/* Its kernel priority as an event shows it. */
int rs_rebuild_set_prio(struct rs_rebuild *rb, uint32_t task, int prio);
/* The running task was accounted by itself; whether that means something shows by what follows. */
int rs_rebuild_note_change(struct rs_rebuild *rb, struct rs_cpu_track *cpu, uint32_t task, uint64_t ts);
/* A switch away from @task: the accounting just before it was the switch's. */
int rs_rebuild_settle_change(struct rs_rebuild *rb, uint32_t task, uint64_t ts);

/* The sleep of @task ends: rule, instant and length of its BLOCK. @waker: RS_NO_TASK = something outside the tasks. */
void rs_rebuild_end_sleep(struct rs_rebuild *rb, uint32_t task, uint64_t ts, uint32_t waker);

/* The waking of @task, or its birth, put it on @cpu. */
void rs_rebuild_placed(struct rs_rebuild *rb, uint32_t task, unsigned int cpu);
/* @task, which waits or sleeps on a queue, is taken to @to. @by: that cpu, if it was its doing. @pulled: because it ran empty. */
int rs_rebuild_move(struct rs_rebuild *rb, struct rs_cpu_track *by, uint32_t task, unsigned int to, uint64_t ts, int pulled);

int rs_rebuild_on_waking(struct rs_rebuild *rb, struct rs_cpu_track *cpu, const struct resched_event *event);
int rs_rebuild_on_switch(struct rs_rebuild *rb, struct rs_cpu_track *cpu, const struct resched_event *event);

#endif
