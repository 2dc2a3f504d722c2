/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The workload in memory: one program a task.
 *
 * A program is an array of operations. Each runs @run_ns of the task's own demand first and then does one
 * thing. Demand is time on the cpu as recorded, interrupts and kernel paths included, so that a replay of
 * the recorded schedule takes exactly the recorded time.
 *
 * Sleeps and wakes are counted like a semaphore: the n-th causal sleep of a task ends when n causal wakes
 * of it have been issued. A wake that comes early is kept and cancels the next causal sleep. The recorded
 * order satisfies all of them, so no other order can deadlock: of the sleeps that wait, the one recorded
 * earliest needs only wakes recorded before it.
 */
#ifndef RS_REPLAY_WORKLOAD_H
#define RS_REPLAY_WORKLOAD_H

#include <stdbool.h>

#include <resched/replay.h>

#define RS_NO_TASK UINT32_MAX
#define RS_UNKNOWN INT32_MIN /* a duration the recording does not show */

enum rs_op_kind {
	RS_OP_NONE = 0, /* nothing (a wake of a task that was not asleep) */
	RS_OP_BLOCK, /* sleep; @rule says what ends it */
	RS_OP_WAKE, /* wake task @arg */
	RS_OP_FORK, /* task @arg starts */
	RS_OP_EXITING, /* it begins to exit: moved to its group anew, the cpu marked (sched_autogroup_exit_task()) */
	RS_OP_EXIT, /* the task ends */
	RS_OP_RESCHED, /* the cpu picks anew: sched_yield(), or a change of its own parameters */
	RS_OP_PRIO, /* kernel priority becomes @arg (as int32_t): nice or class */
	RS_OP_ATTR, /* policy becomes @arg, custom slice @when_ns */
	RS_OP_COMM, /* name becomes @arg */
	RS_OP_MOVE, /* goes on on cpu @cpu (placement "recorded"); @rule: who moved it, @len_ns after it began to wait */
	RS_OP_ENDLESS, /* runs for ever: was still running when the recording ended */
	RS_OP_REPEAT, /* goes on at operation @arg, @len_ns times, then with the next one; never one inside another */
	RS_OP_SPIN, /* keeps the cpu until @len_ns have passed on the clock, whether it had the cpu in between or not */
	RS_OP_EXEC, /* it loads a new program: the model of placement may take it elsewhere first (sched_exec()) */
};

enum rs_wake_rule {
	RS_RULE_NEVER = 0, /* not woken any more while recorded */
	RS_RULE_CAUSAL, /* by task @arg, when it gets there */
	RS_RULE_RELATIVE, /* @len_ns after the sleep began */
	RS_RULE_ABSOLUTE, /* at @when_ns */
	RS_RULE_PERIODIC, /* at the task's next grid point */
	RS_RULE_ARRIVAL, /* at @when_ns; no sleep at all when that has passed */
	RS_RULE_ANSWER, /* a client's: by server @arg, when it answers; asks it if that was not done before */
	RS_RULE_REQUEST, /* a server's: by any client that asks, @arg in the recording; no sleep when one has */
};

/* What becomes of a WAKE whose target does not wait for one; the @rule of a WAKE. */
enum rs_wake_kept {
	RS_WAKE_COUNTED = 0, /* kept for the next causal sleep; all that come are */
	RS_WAKE_ONCE, /* kept, but one at most */
	RS_WAKE_WAITING, /* lost */
	RS_WAKE_ASK, /* the running task asks server @arg, and stands in its line until it is answered */
	RS_WAKE_ANSWER, /* counted; for @arg if that asks, else for who has asked first; sleeps until somebody does */
};

/* How a task that waited came to another cpu; the @rule of a MOVE. */
enum rs_move_how {
	RS_MOVE_TIMED = 0, /* at some instant: periodic balancing, a change of its affinity */
	RS_MOVE_PULLED, /* the other cpu ran empty; @when_ns after it began to wait that cpu had done so before and left it */
	/* It slept, but was still queued; the operation follows the BLOCK. */
	RS_MOVE_ASLEEP,
	RS_MOVE_ASLEEP_PULLED,
};

struct rs_op {
	uint64_t run_ns;
	uint64_t when_ns; /* BLOCK: recorded instant of the waking; RESCHED: of the switch; ATTR: slice; MOVE: see above */
	uint64_t len_ns; /* BLOCK: recorded length, switch-out to waking, 0 from outside: it did not leave its cpu, the time had passed; WAKE: from the waking until the other cpu queued the wakee */
	int32_t clock_ns; /* BLOCK, EXIT: policy's clock at the switch, relative to it; MOVE: of the queue left, relative to the instant
				 * or, if pulled, to the other cpu's switch */
	int32_t wake_clock_ns; /* WAKE, FORK, or BLOCK woken from outside: policy's clock relative to the waking */
	int32_t delay_ns; /* likewise: from the waking to the switch it caused; CAUSAL BLOCK: from a waking on the way out to the switch */
	int32_t idle_clock_ns; /* likewise: policy's clock at that switch, when it left idle, relative to it */
	uint32_t arg;
	uint16_t cpu; /* BLOCK: cpu it is woken to in the recording; MOVE: target */
	uint8_t kind; /* enum rs_op_kind */
	uint8_t rule : 4; /* enum rs_wake_rule; of a WAKE: enum rs_wake_kept; of a MOVE: enum rs_move_how */
	uint8_t special : 1; /* BLOCK: stopped, traced, parked, dead: never delayed */
	uint8_t state : 3; /* BLOCK: 0 S, 1 D, 2 I, 3 T, 4 t, 5 P, 6 other */
};
_Static_assert(sizeof(struct rs_op) == 48, "programs are long; keep an operation small");

enum rs_birth { RS_BORN_ASLEEP = 0,
		RS_BORN_QUEUED,
		RS_BORN_RUNNING,
		RS_BORN_FORKED };

struct rs_program {
	int32_t pid;
	uint32_t birth_nr; /* 0 for the first task with this pid */
	uint32_t comm; /* name when it starts */
	int prio; /* kernel priority when it starts: 120 + nice, < 100 not fair */
	int policy; /* SCHED_* number */
	uint64_t slice_ns; /* custom slice, 0 = none */
	int start_vlag_ns; /* of one that slept when the recording began: what it was owed, in virtual time */
	char *affinity; /* cpu list; NULL = all */
	uint8_t birth; /* enum rs_birth */
	uint8_t kthread;
	uint8_t attr_later; /* policy and slice come with an ATTR; until then they are the parent's */
	uint8_t catch_up; /* periodic: makes up for missed periods */
	uint16_t cpu; /* where it first runs */
	uint32_t parent; /* index, RS_NO_TASK = not forked in the recording */
	struct rs_op *ops;
	uint32_t nr_ops, room;
	uint32_t loop_to; /* operation to go on with after the last one; == nr_ops: none */
	uint64_t period_ns, phase_ns; /* of RS_RULE_PERIODIC */
	uint64_t *grid; /* recorded instants of periodic wakes, ascending */
	uint32_t nr_grid;
};

/* A tick as recorded; at_ns 0: not seen. */
struct rs_tick_note {
	uint64_t at_ns; /* its accounting */
	int32_t clock_ns; /* policy's clock relative to it */
	int32_t delay_ns; /* from it to the switch it caused */
	int32_t switch_clock_ns; /* policy's clock at that switch, relative to the switch */
};

/* Ticks of one cpu by their number on the grid: (t - phase + tick / 2) / tick. */
struct rs_tick_notes {
	uint64_t first;
	uint32_t nr;
	struct rs_tick_note *notes;
};

struct resched_workload {
	struct resched_workload_info info;
	struct resched_names *names;
	struct resched_host *host;
	struct rs_program *tasks; /* in order of first appearance */
	uint32_t nr_tasks, room;
	unsigned int max_cpu; /* highest cpu number + 1 */
	bool placeless; /* made up: its cpus mean nothing, the model places */
	uint64_t switch_lead_ns; /* the policy's clock at a switch is this much before the switch */
	uint64_t idle_lead_ns; /* likewise when the cpu leaves idle */
	uint64_t wake_clock_ns; /* the policy's clock at a waking is this much after it */
	struct rs_tick_notes *ticks; /* by cpu */
	unsigned int nr_tick_cpus;
};

/* rs_program_append() - room for one more operation, zeroed, its durations unknown. Return: it, or NULL without memory. */
struct rs_op *rs_program_append(struct rs_program *program);

/* rs_program_serves() - does it wait for requests? */
bool rs_program_serves(const struct rs_program *program);

/* rs_workload_alloc() - an empty workload with names and a minimal host. NULL without memory. */
struct resched_workload *rs_workload_alloc(void);

/* rs_workload_add() - one more task, everything zero but its pid. Return: index; -ENOMEM. */
int64_t rs_workload_add(struct resched_workload *workload, int32_t pid);

/*
 * rs_timers_classify() - give every BLOCK that something outside the tasks ended its rule (timers.c).
 * @program: its BLOCK operations have rule CAUSAL, NEVER, or ABSOLUTE for all external ones
 * Return: 0; -ENOMEM.
 */
int rs_timers_classify(struct rs_program *program);

#define RS_TIMER_ROUND_TRIP_NS 3000u /* from blocking on a passed timer to its interrupt */

/* rs_timers_next() - when a task that blocks at @now_ns in @op is woken; UINT64_MAX: by no timer.
 * @round: for catch-up tasks, the number of the last grid point used; updated. */
uint64_t rs_timers_next(const struct rs_program *program, const struct rs_op *op, uint64_t now_ns, int looped, int64_t *round);

/* Does a task end this sleep, and not a timer? Then @arg says which. */
static inline bool rs_op_ended_by_task(const struct rs_op *op)
{
	return op->kind == RS_OP_BLOCK && (op->rule == RS_RULE_CAUSAL || op->rule == RS_RULE_ANSWER || op->rule == RS_RULE_REQUEST);
}

#endif
