/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The discrete-event engine: runs the programs of a workload on a machine under a policy.
 *
 * It knows time, cpus and programs; the policy knows queues; the placement knows where a task goes. All
 * state of a run lives in one struct rs_engine, so runs are independent. No allocation once started.
 *
 * Order at one instant: timers of tasks (by task), ticks, high-resolution ticks, pending switches, ends of
 * demand (each by cpu). Kernel: __schedule(), try_to_wake_up(), scheduler_tick() in kernel/sched/core.c.
 */
#ifndef RS_REPLAY_ENGINE_H
#define RS_REPLAY_ENGINE_H

#include "base/cpulist.h"
#include "policies/policy.h"
#include "replay/eventq.h"
#include "replay/groups.h"
#include "replay/smp.h"
#include "replay/workload.h"

#define RS_NO_CPU UINT16_MAX
#define RS_CPU_ALARMS 6u /* tick, high resolution tick, switch, operation, push, pull */

enum rs_run_state { RS_RUN_UNBORN,
		    RS_RUN_SLEEPING,
		    RS_RUN_WAKING,
		    RS_RUN_MOVING,
		    RS_RUN_QUEUED,
		    RS_RUN_RUNNING,
		    RS_RUN_DEAD };

/* A task while it runs. */
struct rs_runner {
	struct rs_task fair; /* what the policy sees; first, so that one is found from the other */
	const struct rs_program *program;
	struct rs_runner *prev, *next; /* on its cpu's list of waiting tasks, or on the engine's of sleeping ones that may be pulled */
	const struct rs_cpuset *allowed; /* NULL = all cpus */
	uint64_t left_ns; /* demand before the next operation */
	uint64_t spin_until_ns; /* inside a SPIN until then; 0 = not */
	uint64_t repeats; /* passes of the present REPEAT so far */
	uint64_t deadline; /* last seen, to notice the end of a request */
	uint64_t scale_ppm; /* of its demand; 1000000 = as recorded */
	int64_t round; /* grid point of a catch-up task, INT64_MIN = none yet */
	uint32_t op; /* index of the next operation */
	uint32_t move; /* while it sleeps: of its next migration */
	uint32_t tokens; /* wakes that came before their sleep */
	const struct rs_op *waking_why; /* while WAKING: by which operation and since when; it goes from cpu @waking_by to @waking_to */
	uint64_t waking_ns;
	const struct rs_op *token_why; /* the last of them: its operation, instant and cpu */
	uint64_t token_ns;
	unsigned int token_cpu;
	struct rs_runner *next_arriving; /* while MOVING, to @waking_to: who left before it */
	struct rs_runner *asks; /* the server whose answer it is to get; NULL */
	struct rs_runner *next_asking; /* who asked that one after it */
	struct rs_runner *first_asking, *last_asking; /* of a server: who asks it */
	uint32_t comm;
	int prio; /* kernel priority now; < 100: above the fair class */
	unsigned int cpu; /* where it is, or was last */
	uint16_t place; /* cpu its next waking goes to in the recording */
	uint16_t waking_by, waking_to;
	uint16_t slept_on; /* cpu where it went to sleep: there its timer interrupts, wherever it was moved since */
	uint16_t pull_to; /* cpu that may pull it when it runs empty; RS_NO_CPU */
	uint64_t waits_since_ns; /* on a queue without running */
	uint64_t left_until_ns; /* @pull_to does not pull it before */
	uint8_t state; /* enum rs_run_state */
	uint8_t looped; /* went round its program at least once */
	uint8_t dropped;
	uint8_t keep_nice, keep_policy, keep_slice; /* edited: the recorded values do not apply */
	uint8_t exiting; /* on its way out: its own wakes do not preempt it */
	uint8_t waking_irq;
	uint8_t awaits_requests; /* sleeps until it is asked */
	uint8_t special; /* sleeps in a state that is never delayed */
	uint8_t fair_ready; /* ops->task_init was called */
	struct rs_smp_task smp; /* what placement knows of it */
};

struct rs_cpu {
	struct rs_rq rq;
	struct rs_runner *curr; /* NULL: idle */
	struct rs_runner waiting; /* list head: queued and not running, the least recently run last */
	unsigned int nr_waiting, nr_rt_waiting; /* delayed tasks sleep: they are not in the list */
	struct rs_runner *arriving; /* on their way to its queue, the last first */
	uint64_t since_ns; /* left_ns of curr is right at this instant */
	bool reuse_clock; /* the next schedule takes the clock of the wakeup that asked for it */
	int32_t switch_clock_ns; /* clock of the pending schedule relative to it; RS_UNKNOWN: the usual lead */
	bool online;
};

struct rs_engine {
	const struct resched_workload *workload;
	const struct rs_policy_ops *ops;
	const struct rs_model *model;
	struct rs_runner *runners;
	struct rs_cpu *cpus;
	unsigned int nr_cpus;
	struct rs_eventq alarms;
	uint64_t now_ns, end_ns;
	uint64_t tick_ns, tick_phase_ns, idle_exit_ns, preempt_delay_ns, tick_delay_ns;
	enum resched_placement placement;
	resched_event_fn sink;
	void *sink_ctx;
	struct resched_analysis *lag;
	uint64_t nr_events;
	struct rs_runner asleep; /* list head: sleep, but are still queued and have a @pull_to */
	uint32_t nr_pullable; /* tasks that wait and have a @pull_to */
	uint64_t waking_ago_ns; /* the waking that takes effect now was so long ago */
	bool in_irq; /* what happens now is an interrupt's doing, not the running task's */
	int error; /* first error of the sink; ends the run */
	void *policy_memory;
	struct rs_cpuset *cpusets;
	struct rs_place *place; /* NULL: placement is as recorded */
	uint64_t seed;
	struct rs_groups groups;
	uint64_t next_decay_ns; /* of the load averages of groups */
};

/* What a task is to be in this run; the workload's own values unless edited. */
struct rs_task_setup {
	int nice_set, nice;
	int policy_set;
	enum rs_sched_policy policy;
	int slice_set;
	uint64_t slice_ns;
	const struct rs_cpuset *affinity; /* NULL: as in the workload */
	uint64_t scale_ppm; /* demand in millionths; 0 = 1000000 */
	int drop;
	int latency_set, latency_nice; /* 0: none; only models that have it look at it */
	int moved; /* to another group by an edit; the plan of groups knows where */
};

struct rs_engine_options {
	const struct rs_policy_ops *ops;
	const struct rs_model *model;
	enum resched_placement placement;
	const struct resched_host *machine; /* another machine than the recorded one; NULL = that; needs placement KERNEL */
	uint64_t seed;
	const struct rs_task_setup *setups; /* one a task, or NULL */
	const struct rs_group_plan *groups; /* NULL: every task is in the root group */
	uint64_t end_ns; /* RS_NEVER: until every task has ended or sleeps for ever */
	resched_event_fn sink;
	void *sink_ctx;
	struct resched_analysis *lag;
};

/*
 * rs_engine_new() - set a run up at the start of the recording.
 * Borrows @workload and everything in @opts until rs_engine_free(). Return: 0; -ENOMEM.
 */
int rs_engine_new(const struct resched_workload *workload, const struct rs_engine_options *opts, struct rs_engine **ret);
void rs_engine_free(struct rs_engine *engine);

/* rs_engine_run() - to the end. Return: 0; what the sink returned. */
int rs_engine_run(struct rs_engine *engine);

/* ---- for engine_setup.c ---- */

/* rs_runner_load() - take the demand before the next operation. */
void rs_runner_load(struct rs_runner *runner);
/* rs_engine_group_timer() - a policy asks for a group's timer (struct rs_group). */
void rs_engine_group_timer(struct rs_group *group, uint64_t at_ns);
/* rs_runner_start() - put a task into the state the recording found it in. @engine->now_ns is the start. */
void rs_engine_start(struct rs_engine *engine);

/* ---- for place.c ---- */

static inline bool rs_runner_allowed(const struct rs_engine *engine, const struct rs_runner *runner, unsigned int cpu)
{
	return cpu < engine->nr_cpus && engine->cpus[cpu].online && (!runner->allowed || rs_cpuset_has(runner->allowed, cpu));
}

/* rs_engine_move() - take @runner, which is queued or runs, to @to. @pulled: @to is about to pick and has nothing to run. */
void rs_engine_move(struct rs_engine *engine, struct rs_runner *runner, unsigned int to, bool pulled);
/* rs_engine_ask_push() - have rs_place_push() called for @cpu as soon as its stopper would run. */
void rs_engine_ask_push(struct rs_engine *engine, unsigned int cpu);

#endif
