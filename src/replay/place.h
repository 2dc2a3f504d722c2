/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Placement of a run: the questions the engine asks and what it tells. All calls do nothing, and the answers are the recorded ones,
 * with placement "recorded" (engine->place is NULL).
 */
#ifndef RS_REPLAY_PLACE_H
#define RS_REPLAY_PLACE_H

#include "replay/engine.h"

/* rs_place_new() - set up from @machine, after the engine's cpus. Return: 0; -ENOMEM. */
int rs_place_new(struct rs_engine *engine, const struct resched_host *machine);
void rs_place_free(struct rs_engine *engine);
/* rs_place_add() - a task of the run, before the start. */
void rs_place_add(struct rs_engine *engine, struct rs_runner *runner);
/* rs_place_started() - all tasks were added. */
void rs_place_started(struct rs_engine *engine);

/* rs_place_wakeup() - cpu for a waking @runner; @by: where the waking happens. */
unsigned int rs_place_wakeup(struct rs_engine *engine, struct rs_runner *runner, unsigned int by, bool irq);
/* rs_place_fork() - cpu for a new @runner that @parent (may be NULL) made on @cpu. */
unsigned int rs_place_fork(struct rs_engine *engine, struct rs_runner *runner, const struct rs_runner *parent, unsigned int cpu);
/* rs_place_exec() - cpu where the running @runner loads a new program; its own unless the model knows a better one. */
unsigned int rs_place_exec(struct rs_engine *engine, struct rs_runner *runner);
/* rs_place_pull() - @cpu runs empty: have a task moved to it. Return: whether one was. */
bool rs_place_pull(struct rs_engine *engine, unsigned int cpu);

/* rs_place_queued() - @runner was put on its cpu's queue; @flags: RS_ENQ_*. */
void rs_place_queued(struct rs_engine *engine, struct rs_runner *runner, unsigned int flags);
/* rs_place_unqueued() - it left the queue, or sleeps and stays as a delayed one. */
void rs_place_unqueued(struct rs_engine *engine, struct rs_runner *runner, bool sleeps);
void rs_place_undelayed(struct rs_engine *engine, struct rs_runner *runner);
/* rs_place_carried() - @runner, which sleeps and stays queued, was moved to its cpu. */
void rs_place_carried(struct rs_engine *engine, struct rs_runner *runner);
void rs_place_reap(struct rs_engine *engine, unsigned int cpu);
/* rs_place_runs() - @runner (NULL = idle) gets @cpu. */
void rs_place_runs(struct rs_engine *engine, unsigned int cpu, struct rs_runner *runner);
/* rs_place_changed() - its class, nice or policy changed. */
void rs_place_changed(struct rs_engine *engine, struct rs_runner *runner);
/* rs_place_tick() - last thing in a tick; may move tasks. */
void rs_place_tick(struct rs_engine *engine, unsigned int cpu);
/* rs_place_push() - the stopper of @cpu runs. */
void rs_place_push(struct rs_engine *engine, unsigned int cpu);

/* rs_place_scans() - scans of caches for an idle cpu so far, and cpus looked at. */
void rs_place_scans(const struct rs_engine *engine, uint64_t *ret_scans, uint64_t *ret_probes);

/* ---- parts of it, for others that follow a schedule ---- */

/* rs_place_domains() - domains of @machine, of which the @nr_cpus flags of @online count. A machine of which nothing is known has one cache. */
int rs_place_domains(const struct resched_host *machine, const char *kernel, const bool *online, unsigned int nr_cpus,
		     struct resched_domains **ret);
/* rs_place_options() - features and tunables of @model; the hooks and the seed stay empty. */
void rs_place_options(const struct rs_model *model, struct rs_smp_options *ret);
/* rs_place_seed() - averages of a task at the start: what came before is taken to mirror what comes after in the recording. */
void rs_place_seed(struct rs_smp *smp, struct rs_smp_task *task, const struct rs_program *program,
		   const struct resched_workload_info *info);
/*
 * rs_place_weight() - what @task, of @weight in its group, weighs on a cpu: the share it has in what its groups weigh there.
 * @avg: its averages. Kernel: task_h_load(), with weights as calc_group_shares() makes them of a group's load on all cpus
 */
uint64_t rs_place_weight(const struct rs_task *task, uint64_t weight, const struct rs_pelt *avg);
struct rs_costs { uint64_t newidle_ns, newidle_cpu_ns, cold_llc_ns, cold_node_ns; };
/*
 * rs_place_costs() - what the model of the machine assumes. @machine: NULL = the recorded one. Memory is colder after a move to another
 * last-level cache or node; what moves on the recorded machine cost is part of the recorded demand, so only distances that it lacks count.
 */
struct rs_costs rs_place_costs(const struct resched_host *recorded, const struct resched_host *machine);
/* rs_place_flips() - its count of changed wakees at the start, if it woke before as it did in the recording. */
uint32_t rs_place_flips(const struct rs_program *program);

#endif
