// SPDX-License-Identifier: GPL-2.0-only
/* Building and taking down a run. */
#include "replay/affinity.h"
#include "replay/place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN 16u
#define NOT_SCALED_PPM 1000000u
#define WARM_UP_NS 1000000000u

static size_t aligned(size_t size)
{
	return (size + ALIGN - 1) / ALIGN * ALIGN;
}

/* One block for all private parts of the policy. */
static int alloc_policy_memory(struct rs_engine *e)
{
	size_t task_size = aligned(e->ops->task_size), rq_size = aligned(e->ops->rq_size);
	size_t total = task_size * e->workload->nr_tasks + rq_size * e->nr_cpus;
	char *at = aligned_alloc(ALIGN, total ? total : ALIGN);

	if (!at)
		return -ENOMEM;
	memset(at, 0, total);
	e->policy_memory = at;
	for (uint32_t i = 0; i < e->workload->nr_tasks; i++, at += task_size)
		e->runners[i].fair.priv = at;
	for (unsigned int i = 0; i < e->nr_cpus; i++, at += rq_size)
		e->cpus[i].rq.priv = at;
	return 0;
}

static void init_cpus(struct rs_engine *e, const struct resched_host *host)
{
	unsigned int nr_recorded = host == e->workload->host ? e->workload->max_cpu : 0;

	for (unsigned int i = 0; i < e->nr_cpus; i++) {
		struct rs_cpu *c = &e->cpus[i];

		c->rq.cpu = i;
		c->rq.model = e->model;
		c->rq.clock_ns = e->now_ns;
		c->switch_clock_ns = RS_UNKNOWN;
		c->waiting.prev = c->waiting.next = &c->waiting;
		c->online = i < nr_recorded; /* recorded on, so it was there */
		e->ops->rq_init(&c->rq);
		rs_groups_join_cpu(&e->groups, e->ops, &c->rq);
	}
	for (unsigned int i = 0; i < host->nr_cpus; i++) {
		const struct resched_host_cpu *known = &host->cpus[i];

		if (known->cpu >= e->nr_cpus)
			continue;
		if (known->online)
			e->cpus[known->cpu].online = true;
	}
}

/*
 * A recorded machine has been running for a while: virtual time has left its origin, where a task that never ran has
 * nothing to be placed against. A phantom runs alone on every queue up to the start.
 */
static int warm_up(struct rs_engine *e)
{
	size_t size = aligned(e->ops->task_size);
	void *priv = aligned_alloc(ALIGN, size ? size : ALIGN);

	if (!priv)
		return -ENOMEM;
	for (unsigned int i = 0; i < e->nr_cpus; i++) {
		struct rs_rq *rq = &e->cpus[i].rq;
		struct rs_task phantom = { .id = UINT32_MAX, .rq = rq, .priv = priv };

		memset(priv, 0, size);
		rq->clock_ns = e->now_ns > WARM_UP_NS ? e->now_ns - WARM_UP_NS : 0;
		e->ops->task_init(&phantom, e->model);
		e->ops->enqueue(rq, &phantom, RS_ENQ_WAKEUP);
		e->ops->pick(rq);
		e->ops->set_next(rq, &phantom, true);
		rq->curr = &phantom;
		rq->clock_ns = e->now_ns;
		e->ops->dequeue(rq, &phantom, RS_DEQ_SLEEP | RS_DEQ_SPECIAL);
		e->ops->put_prev(rq, &phantom);
		rq->curr = NULL;
		rq->need_resched = false;
	}
	free(priv);
	return 0;
}

/* Affinity lists of the workload as sets, on @machine where that is another one. */
static int init_affinity(struct rs_engine *e, const struct rs_task_setup *setups, const struct resched_host *machine)
{
	const struct resched_workload *workload = e->workload;
	struct rs_affinity *map = NULL;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < workload->nr_tasks; i++)
		nr += workload->tasks[i].affinity != NULL;
	e->cpusets = calloc(nr ? nr : 1, sizeof(*e->cpusets));
	if (!e->cpusets || (machine && rs_affinity_new(workload->host, machine, &map) < 0))
		return -ENOMEM;
	nr = 0;
	for (uint32_t i = 0; i < workload->nr_tasks; i++) {
		if (workload->tasks[i].affinity && !rs_cpulist_parse(workload->tasks[i].affinity, &e->cpusets[nr])) {
			if (map)
				rs_affinity_map(map, &e->cpusets[nr]);
			e->runners[i].allowed = &e->cpusets[nr++];
		}
		if (setups && setups[i].affinity)
			e->runners[i].allowed = setups[i].affinity;
	}
	rs_affinity_free(map);
	return 0;
}

static enum rs_sched_policy fair_policy(int policy)
{
	return policy == RS_SCHED_BATCH || policy == RS_SCHED_IDLE ? (enum rs_sched_policy)policy : RS_SCHED_NORMAL;
}

/* Where a task starts that was on @cpu: on another machine the cpus take turns. */
static unsigned int home_of(const struct rs_engine *e, unsigned int cpu)
{
	for (unsigned int i = 0; i < e->nr_cpus; i++) {
		unsigned int at = (cpu + i) % e->nr_cpus;

		if (e->cpus[at].online)
			return at;
	}
	return 0;
}

static void init_runner(struct rs_engine *e, uint32_t idx, const struct rs_task_setup *setup)
{
	static const struct rs_task_setup as_recorded;
	const struct rs_program *program = &e->workload->tasks[idx];
	struct rs_runner *r = &e->runners[idx];

	if (!setup)
		setup = &as_recorded;
	r->program = program;
	r->prio = setup->nice_set && program->prio >= 100 ? 120 + setup->nice : program->prio;
	r->comm = program->comm;
	r->cpu = home_of(e, program->cpu);
	r->slept_on = (uint16_t)r->cpu;
	r->place = program->cpu;
	r->pull_to = RS_NO_CPU;
	r->round = INT64_MIN;
	r->scale_ppm = setup->scale_ppm ? setup->scale_ppm : NOT_SCALED_PPM;
	r->dropped = setup->drop != 0;
	r->fair.id = idx;
	r->fair.nice = r->prio >= 100 ? r->prio - 120 : 0;
	r->fair.policy = setup->policy_set ? setup->policy : fair_policy(program->policy);
	r->fair.custom_slice_ns = setup->slice_set ? setup->slice_ns : program->slice_ns;
	r->fair.latency_nice = setup->latency_nice;
	r->keep_nice = setup->nice_set != 0;
	r->keep_policy = setup->policy_set != 0;
	r->keep_slice = setup->slice_set != 0;
	rs_runner_load(r);
}

int rs_engine_new(const struct resched_workload *workload, const struct rs_engine_options *opts, struct rs_engine **ret)
{
	struct rs_engine *e = calloc(1, sizeof(*e));
	const struct resched_host *machine = opts->machine ? opts->machine : workload->host;
	unsigned int nr_cpus = opts->machine ? 0 : workload->max_cpu;
	uint32_t nr_alarms;

	if (!e)
		return -ENOMEM;
	for (unsigned int i = 0; i < machine->nr_cpus; i++) {
		const struct resched_host_cpu *known = &machine->cpus[i];

		if (known->online && known->cpu >= nr_cpus && known->cpu < RS_MAX_CPUS)
			nr_cpus = known->cpu + 1;
	}
	e->workload = workload;
	e->ops = opts->ops;
	e->model = opts->model;
	e->placement = opts->placement;
	e->sink = opts->sink;
	e->sink_ctx = opts->sink_ctx;
	e->lag = opts->lag;
	e->nr_cpus = nr_cpus;
	e->seed = opts->seed;
	e->now_ns = workload->info.first_ns;
	e->end_ns = opts->end_ns;
	e->tick_ns = workload->info.tick_ns;
	e->tick_phase_ns = workload->info.tick_phase_ns;
	e->idle_exit_ns = workload->info.idle_exit_ns;
	e->preempt_delay_ns = workload->info.preempt_delay_ns;
	e->tick_delay_ns = workload->info.tick_delay_ns;
	e->runners = calloc(workload->nr_tasks ? workload->nr_tasks : 1, sizeof(*e->runners));
	e->cpus = calloc(nr_cpus ? nr_cpus : 1, sizeof(*e->cpus));
	e->asleep.prev = e->asleep.next = &e->asleep;
	nr_alarms = 2 * workload->nr_tasks + RS_CPU_ALARMS * nr_cpus + (opts->groups ? opts->groups->nr : 0);
	if (!e->runners || !e->cpus || rs_eventq_init(&e->alarms, nr_alarms) < 0 || alloc_policy_memory(e) < 0 ||
	    rs_groups_init(&e->groups, opts->groups, e->ops, nr_cpus) < 0)
		goto nomem;
	rs_groups_limit(&e->groups, opts->groups, rs_engine_group_timer, e);
	init_cpus(e, machine);
	if (warm_up(e) < 0)
		goto nomem;
	for (uint32_t i = 0; i < workload->nr_tasks; i++) {
		init_runner(e, i, opts->setups ? &opts->setups[i] : NULL);
		e->runners[i].fair.group = rs_groups_of(&e->groups, opts->groups, i);
	}
	if (init_affinity(e, opts->setups, opts->machine) < 0)
		goto nomem;
	if (rs_place_new(e, machine) < 0)
		goto nomem;
	rs_engine_start(e);
	*ret = e;
	return 0;
nomem:
	rs_engine_free(e);
	return -ENOMEM;
}

void rs_engine_free(struct rs_engine *e)
{
	if (!e)
		return;
	rs_place_free(e);
	rs_eventq_release(&e->alarms);
	free(e->policy_memory);
	rs_groups_release(&e->groups);
	free(e->cpusets);
	free(e->runners);
	free(e->cpus);
	free(e);
}
