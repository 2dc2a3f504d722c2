// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a task of a run goes.
 *
 *   recorded   where it ran next in the recording: isolates the policy
 *   kernel     as the kernel places and balances, on the recorded machine or another one (smp.h)
 *
 * This file tells the model of the cpus what the engine does and does what it asks for.
 */
#include "replay/place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policies/weight.h"

/* Assumed where no recording shows them: a newly idle pass, and looking at one cpu. */
#define NEWIDLE_COST_NS 1000u
#define NEWIDLE_COST_CPU_NS 100u
#define PROBE_NS 50u
/* Smaller changes of what a task in a group weighs are not followed: this part of it. */
#define GROUP_CHANGE 16u
/* Assumed on another machine: memory has to be fetched again after a move there. */
#define COLD_LLC_NS 20000u
#define COLD_NODE_NS 100000u

struct rs_place {
	struct resched_domains *domains;
	struct rs_smp *smp;
	unsigned int pulling;		/* cpu that runs empty and pulls right now; UINT32_MAX: none */
	unsigned int *push_to;		/* by cpu */
	struct rs_costs costs;
	struct rs_smp_task *dying;	/* left its cpu for good; NULL: none */
};

static struct rs_runner *runner_of(struct rs_smp_task *t)
{
	return (struct rs_runner *)((char *)t - offsetof(struct rs_runner, smp));
}

static bool is_fair(const struct rs_runner *r)
{
	return r->prio >= 100;
}

static struct rs_smp *smp_now(const struct rs_engine *e)
{
	e->place->smp->now_ns = e->now_ns;
	return e->place->smp;
}

uint64_t rs_place_weight(const struct rs_task *task, uint64_t weight, const struct rs_pelt *avg)
{
	uint64_t divider = rs_pelt_divider(avg), part = avg->load_sum < divider ? avg->load_sum : divider;

	for (const struct rs_group *g = task->group; g && g->nr_cpus > 1; g = g->parent) {
		uint64_t own = weight * part / divider, all = weight + (g->load_avg > own ? g->load_avg - own : 0);

		weight = weight * rs_load_down(g->shares) / all;
		weight = weight > 2 ? weight : 2;
	}
	return weight;
}

static uint64_t weight_of(const struct rs_runner *r)
{
	return rs_place_weight(&r->fair, rs_load_down(rs_load_of_task(r->fair.nice, r->fair.policy).weight), &r->smp.avg);
}

/* What its group weighs has changed meanwhile. */
static void follow_group(struct rs_engine *e, struct rs_runner *r)
{
	uint64_t now = r->fair.group ? weight_of(r) : r->smp.weight, was = r->smp.weight;

	if ((now > was ? now - was : was - now) > was / GROUP_CHANGE)
		rs_smp_reweight(e->place->smp, &r->smp, now);
}

/* ---- the machine ---- */

/* A recording without a snapshot tells nothing of its machine: its cpus are taken to share one cache. */
static bool knows_machine(const struct resched_host *host)
{
	for (unsigned int i = 0; i < host->nr_cpus; i++) {
		if (host->cpus[i].llc >= 0 || host->cpus[i].package >= 0 || host->cpus[i].core >= 0)
			return true;
	}
	return false;
}

/* Does the machine have several last-level caches, several nodes? */
static void count_parts(const struct resched_host *host, bool *ret_llcs, bool *ret_nodes)
{
	const struct resched_host_cpu *first = NULL;

	*ret_llcs = *ret_nodes = false;
	for (unsigned int i = 0; i < host->nr_cpus; i++) {
		const struct resched_host_cpu *c = &host->cpus[i];

		if (!c->online)
			continue;
		first = first ? first : c;
		*ret_nodes |= c->node != first->node;
		*ret_llcs |= c->llc != first->llc || c->node != first->node;
	}
}

struct rs_costs rs_place_costs(const struct resched_host *recorded, const struct resched_host *machine)
{
	struct rs_costs costs = { .newidle_ns = NEWIDLE_COST_NS, .newidle_cpu_ns = NEWIDLE_COST_CPU_NS };
	bool llcs, nodes, llcs_here, nodes_here;

	if (!machine || machine == recorded)
		return costs;
	count_parts(recorded, &llcs, &nodes);
	count_parts(machine, &llcs_here, &nodes_here);
	costs.cold_llc_ns = llcs_here && !llcs ? COLD_LLC_NS : 0;
	costs.cold_node_ns = nodes_here && !nodes ? COLD_NODE_NS : 0;
	return costs;
}

/* What a move from @from to @to adds to a task's demand. */
static uint64_t cold_ns(const struct rs_place *p, unsigned int from, unsigned int to)
{
	const struct resched_domains *d = p->domains;

	if (from == to || d->llc_of[from] == d->llc_of[to])
		return 0;
	return d->node_of[from] == d->node_of[to] ? p->costs.cold_llc_ns : p->costs.cold_node_ns;
}

int rs_place_domains(const struct resched_host *machine, const char *kernel, const bool *online, unsigned int nr_cpus,
		     struct resched_domains **ret)
{
	struct resched_host_cpu *cpus = calloc(nr_cpus ? nr_cpus : 1, sizeof(*cpus));
	struct resched_host host = *machine;
	bool known = knows_machine(machine);
	int rc;

	if (!cpus)
		return -ENOMEM;
	for (unsigned int i = 0; i < nr_cpus; i++)
		cpus[i] = (struct resched_host_cpu){ .cpu = i, .core = -1, .cluster = -1, .llc = known ? -1 : 0,
						     .die = -1, .package = -1, .node = -1, .capacity = 1024 };
	for (unsigned int i = 0; known && i < machine->nr_cpus; i++) {
		if (machine->cpus[i].cpu < nr_cpus)
			cpus[machine->cpus[i].cpu] = machine->cpus[i];
	}
	for (unsigned int i = 0; i < nr_cpus; i++)
		cpus[i].online = online[i];
	host.cpus = cpus;
	host.nr_cpus = nr_cpus;
	rc = resched_domains_build(&host, kernel, ret, NULL);
	free(cpus);
	return rc;
}

static int build_domains(const struct rs_engine *e, const struct resched_host *machine, struct resched_domains **ret)
{
	bool *online = calloc(e->nr_cpus ? e->nr_cpus : 1, sizeof(*online));
	int rc;

	if (!online)
		return -ENOMEM;
	for (unsigned int i = 0; i < e->nr_cpus; i++)
		online[i] = e->cpus[i].online;
	rc = rs_place_domains(machine, rs_model_kernel(e->model), online, e->nr_cpus, ret);
	free(online);
	return rc;
}

static uint64_t tunable(const struct rs_model *model, const char *name, uint64_t other)
{
	const char *knob;
	int is_feature;
	uint64_t value;

	for (unsigned int i = 0; rs_model_knob(model, i, &knob, &is_feature, &value); i++) {
		if (!is_feature && !strcmp(knob, name))
			return value;
	}
	return other;
}

static void move_task(void *ctx, struct rs_smp_task *t, unsigned int from, unsigned int to)
{
	struct rs_engine *e = ctx;

	(void)from;
	rs_engine_move(e, runner_of(t), to, e->place->pulling == to);
}

static void ask_push(void *ctx, unsigned int from, unsigned int to)
{
	struct rs_engine *e = ctx;

	e->place->push_to[from] = to;
	rs_engine_ask_push(e, from);
}

void rs_place_options(const struct rs_model *m, struct rs_smp_options *ret)
{
	*ret = (struct rs_smp_options){
		.wa_idle = rs_model_feature(m, "WA_IDLE"), .wa_weight = rs_model_feature(m, "WA_WEIGHT"),
		.wa_bias = rs_model_feature(m, "WA_BIAS"), .sis_util = rs_model_feature(m, "SIS_UTIL"),
		.sis_prop = rs_model_feature(m, "SIS_PROP"), .sis_filter = rs_model_feature(m, "SIS_FILTER"),
		.util_est = rs_model_feature(m, "UTIL_EST"), .util_est_fastup = rs_model_feature(m, "UTIL_EST_FASTUP"),
		.ni_random = rs_model_feature(m, "NI_RANDOM"), .lb_min = rs_model_feature(m, "LB_MIN"),
		.ttwu_queue = rs_model_feature(m, "TTWU_QUEUE"),
		.energy_aware = tunable(m, "energy_aware", 1) != 0,
		.migration_cost_ns = tunable(m, "migration_cost_ns", 500000), .nr_migrate = (unsigned int)tunable(m, "nr_migrate", 32),
		.hz = rs_model_hz(m), .newidle_cost_ns = NEWIDLE_COST_NS, .newidle_cost_cpu_ns = NEWIDLE_COST_CPU_NS, .probe_ns = PROBE_NS,
	};
}

int rs_place_new(struct rs_engine *e, const struct resched_host *machine)
{
	struct rs_smp_options opts;
	struct rs_place *p;

	if (e->placement != RESCHED_PLACE_KERNEL)
		return 0;
	p = e->place = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->pulling = UINT32_MAX;
	p->costs = rs_place_costs(e->workload->host, machine);
	p->push_to = calloc(e->nr_cpus ? e->nr_cpus : 1, sizeof(*p->push_to));
	rs_place_options(e->model, &opts);
	opts.seed = e->seed;
	opts.move = move_task;
	opts.push = ask_push;
	opts.ctx = e;
	if (!p->push_to || build_domains(e, machine, &p->domains) < 0 || rs_smp_new(p->domains, &opts, &p->smp) < 0)
		return -ENOMEM;
	p->smp->now_ns = e->now_ns;
	if (e->tick_ns) {
		p->smp->jiffy_ns = e->tick_ns;
		p->smp->jiffies_phase_ns = e->tick_phase_ns % e->tick_ns;
	}
	for (unsigned int i = 0; i < p->domains->nr_cpus; i++)
		p->smp->cpus[i].active = e->cpus[i].online;
	for (unsigned int i = 0; machine == e->workload->host && i < machine->nr_cpus; i++) {
		if (machine->cpus[i].cpu < p->domains->nr_cpus)
			rs_smp_newidle_cost(p->smp, machine->cpus[i].cpu, machine->cpus[i].newidle_ns);
	}
	return 0;
}

void rs_place_free(struct rs_engine *e)
{
	if (!e->place)
		return;
	rs_smp_free(e->place->smp);
	resched_domains_free(e->place->domains);
	free(e->place->push_to);
	free(e->place);
}

/* ---- tasks ---- */

static unsigned int count_allowed(const struct rs_engine *e, const struct rs_runner *r, unsigned int *ret_first)
{
	unsigned int nr = 0;

	for (unsigned int cpu = e->nr_cpus; cpu-- > 0;) {
		if (!rs_runner_allowed(e, r, cpu))
			continue;
		nr++;
		*ret_first = cpu;
	}
	return nr;
}

/* Tasks that start on a cpu they may not use take turns on those they may. */
static unsigned int nth_allowed(const struct rs_engine *e, const struct rs_runner *r, unsigned int nth)
{
	for (unsigned int cpu = 0; cpu < e->nr_cpus; cpu++) {
		if (rs_runner_allowed(e, r, cpu) && !nth--)
			return cpu;
	}
	return r->cpu;
}

/* How much of the time behind the start still counts after @ns more, in 2^30ths. */
static uint64_t weight_after(uint64_t ns)
{
	uint64_t periods = ns >> 20, here = rs_pelt_decay(1ull << 30, periods), next = rs_pelt_decay(1ull << 30, periods + 1);

	return here - (((here - next) * (ns & 0xfffff)) >> 20);
}

/* What adds up to the averages of a task at the start. */
struct past {
	uint64_t runnable, running;	/* 2^30 = all the time */
	uint64_t slept_ns, ran_ns;
};

/* It was runnable from @from_ns to @to_ns after the start, of that it ran @ran_ns. */
static void add_stretch(struct past *p, uint64_t from_ns, uint64_t to_ns, uint64_t ran_ns)
{
	uint64_t weight = to_ns > from_ns ? weight_after(from_ns) - weight_after(to_ns) : 0, length = to_ns - from_ns;

	p->runnable += weight;
	if (weight)
		p->running += ran_ns < length ? (uint64_t)((unsigned __int128)weight * ran_ns / length) : weight;
}

/* Nothing is known of before the start: it is taken to mirror what comes after it. */
static struct past mirror(const struct rs_program *program, const struct resched_workload_info *info)
{
	uint64_t since = 0, ran = 0, end = info->last_ns - info->first_ns;
	struct past past = { 0 };

	for (uint32_t i = 0; i < program->nr_ops; i++) {
		const struct rs_op *op = &program->ops[i];
		uint64_t woken = op->when_ns > info->first_ns ? op->when_ns - info->first_ns : 0;

		ran += op->run_ns;
		if (op->kind != RS_OP_BLOCK)
			continue;
		past.ran_ns += ran;
		if (op->rule == RS_RULE_NEVER) {
			add_stretch(&past, since, since + ran, ran);
			return past;
		}
		add_stretch(&past, since, woken > op->len_ns ? woken - op->len_ns : 0, ran);
		past.slept_ns += op->len_ns;
		since = woken;
		ran = 0;
	}
	past.ran_ns += ran;
	add_stretch(&past, since, end, ran);
	return past;
}

void rs_place_seed(struct rs_smp *smp, struct rs_smp_task *t, const struct rs_program *program, const struct resched_workload_info *info)
{
	struct past past = mirror(program, info);
	uint32_t runnable = (uint32_t)(past.runnable >> 20), running = (uint32_t)(past.running >> 20);

	/* Less than two is as good as none: it matters where a cpu's utilisation is exactly 0 (post_init_entity_util_avg()). */
	rs_smp_task_seed(smp, t, runnable, running > 1 ? running : 0);
}

/* How often it changed whom it wakes, per 1.5 s: what the kernel's count, halved each second, is on average. */
uint32_t rs_place_flips(const struct rs_program *program)
{
	uint64_t changes = 0, slept = 0, ran = 0;
	uint32_t last = UINT32_MAX;

	for (uint32_t i = 0; i < program->nr_ops; i++) {
		const struct rs_op *op = &program->ops[i];

		ran += op->run_ns;
		if (op->kind == RS_OP_BLOCK && op->rule != RS_RULE_NEVER)
			slept += op->len_ns;
		if (op->kind != RS_OP_WAKE || op->arg == last)
			continue;
		changes++;
		last = op->arg;
	}
	return slept + ran ? (uint32_t)(changes * 1500000000ull / (slept + ran > 1000000 ? slept + ran : 1000000)) : 0;
}

void rs_place_add(struct rs_engine *e, struct rs_runner *r)
{
	struct rs_smp_task *t = &r->smp;
	unsigned int first = 0, nr;

	if (!e->place)
		return;
	nr = count_allowed(e, r, &first);
	if (r->allowed && !nr)
		r->allowed = NULL;	/* none of its cpus is there: as a cpuset that ran empty, it may use all */
	if (nr && !rs_runner_allowed(e, r, r->cpu))
		r->cpu = nth_allowed(e, r, r->fair.id % nr);
	r->slept_on = (uint16_t)r->cpu;
	rs_smp_task_init(t, r->cpu);
	t->fair = is_fair(r);
	t->idle_policy = r->fair.policy == RS_SCHED_IDLE;
	t->weight = weight_of(r);
	t->allowed = r->allowed ? r->allowed->bits : NULL;
	t->only_cpu = nr == 1 ? (int)first : -1;
	t->percpu_kthread = nr == 1 && r->program->kthread;
	if (r->program->birth == RS_BORN_FORKED)
		return;
	t->flips = rs_place_flips(r->program);
	if (t->fair)
		rs_place_seed(smp_now(e), t, r->program, &e->workload->info);
}

void rs_place_started(struct rs_engine *e)
{
	if (e->place)
		rs_smp_seed_done(smp_now(e));
}

/* ---- answers ---- */

/* An allowed cpu for @runner when the wanted one is not: the first of its set. */
static unsigned int any_allowed(const struct rs_engine *e, const struct rs_runner *r, unsigned int wanted)
{
	if (rs_runner_allowed(e, r, wanted))
		return wanted;
	for (unsigned int cpu = 0; cpu < e->nr_cpus; cpu++) {
		if (rs_runner_allowed(e, r, cpu))
			return cpu;
	}
	for (unsigned int cpu = 0; cpu < e->nr_cpus; cpu++) {
		if (e->cpus[cpu].online)
			return cpu;	/* a set without an online cpu: the kernel falls back likewise */
	}
	return 0;
}

unsigned int rs_place_wakeup(struct rs_engine *e, struct rs_runner *r, unsigned int by, bool irq)
{
	if (!e->place)
		return any_allowed(e, r, r->place);
	return any_allowed(e, r, rs_smp_wake(smp_now(e), &r->smp, by, false, irq));
}

unsigned int rs_place_fork(struct rs_engine *e, struct rs_runner *r, const struct rs_runner *parent, unsigned int cpu)
{
	if (!e->place)
		return any_allowed(e, r, r->place);
	r->smp.fair = is_fair(r);
	r->smp.weight = weight_of(r);
	rs_smp_fork(smp_now(e), &r->smp, parent ? &parent->smp : NULL, cpu);
	return any_allowed(e, r, rs_smp_place_new(e->place->smp, &r->smp, cpu, false));
}

unsigned int rs_place_exec(struct rs_engine *e, struct rs_runner *r)
{
	if (!e->place || !is_fair(r))
		return r->cpu;
	return any_allowed(e, r, rs_smp_place_new(smp_now(e), &r->smp, r->cpu, true));
}

bool rs_place_pull(struct rs_engine *e, unsigned int cpu)
{
	unsigned int moved;

	if (!e->place)
		return false;
	e->place->pulling = cpu;
	moved = rs_smp_newidle(smp_now(e), cpu);
	e->place->pulling = UINT32_MAX;
	return moved != 0;
}

/* ---- what happens ---- */

void rs_place_queued(struct rs_engine *e, struct rs_runner *r, unsigned int flags)
{
	if (!e->place)
		return;
	if (is_fair(r) && !(flags & RS_ENQ_INITIAL) && r->left_ns != RS_NEVER)
		r->left_ns += cold_ns(e->place, r->smp.cpu, r->cpu);
	rs_smp_enqueue(smp_now(e), r->cpu, &r->smp,
		       flags & RS_ENQ_INITIAL ? RS_SMP_NEW : flags & RS_ENQ_WAKEUP ? RS_SMP_WAKES : RS_SMP_MOVES);
	follow_group(e, r);
}

void rs_place_unqueued(struct rs_engine *e, struct rs_runner *r, bool sleeps)
{
	if (!e->place)
		return;
	if (sleeps && is_fair(r) && r->fair.delayed)
		rs_smp_delay(smp_now(e), &r->smp, true);
	else
		rs_smp_dequeue(smp_now(e), &r->smp, sleeps);
	if (r->state == RS_RUN_DEAD)
		e->place->dying = &r->smp;
}

void rs_place_undelayed(struct rs_engine *e, struct rs_runner *r)
{
	if (e->place)
		rs_smp_delay(smp_now(e), &r->smp, false);
}

void rs_place_carried(struct rs_engine *e, struct rs_runner *r)
{
	if (e->place)
		rs_smp_carry(smp_now(e), &r->smp, r->cpu);
}

/* Delayed tasks that the policy let go within a pick. */
void rs_place_reap(struct rs_engine *e, unsigned int cpu)
{
	struct rs_smp_cpu *c;
	struct rs_smp_task *next;

	if (!e->place)
		return;
	c = &smp_now(e)->cpus[cpu];
	for (struct rs_smp_task *t = c->list.next; c->nr_delayed && t != &c->list; t = next) {
		next = t->next;
		if (t->delayed && !runner_of(t)->fair.on_rq)
			rs_smp_dequeue(e->place->smp, t, true);
	}
}

void rs_place_runs(struct rs_engine *e, unsigned int cpu, struct rs_runner *r)
{
	struct rs_place *p = e->place;

	if (!p)
		return;
	rs_smp_run(smp_now(e), cpu, r ? &r->smp : NULL);
	if (p->dying && p->dying->cpu == cpu) {	/* whoever runs next buries it: finish_task_switch() */
		rs_smp_dead(p->smp, p->dying);
		p->dying = NULL;
	}
}

void rs_place_changed(struct rs_engine *e, struct rs_runner *r)
{
	struct rs_smp_task *t = &r->smp;

	if (!e->place)
		return;
	if (t->fair == is_fair(r)) {
		if (t->idle_policy != (r->fair.policy == RS_SCHED_IDLE) && t->on_rq)
			e->place->smp->cpus[t->cpu].nr_idle_policy += t->idle_policy ? -1u : 1u;
		t->idle_policy = r->fair.policy == RS_SCHED_IDLE;
		rs_smp_reweight(smp_now(e), t, weight_of(r));
		return;
	}
	rs_smp_dequeue(smp_now(e), t, false);
	t->fair = is_fair(r);
	t->weight = weight_of(r);
	rs_smp_enqueue(e->place->smp, r->cpu, t, RS_SMP_MOVES);
}

void rs_place_tick(struct rs_engine *e, unsigned int cpu)
{
	struct rs_runner *r = e->cpus[cpu].curr;

	if (!e->place)
		return;
	smp_now(e);
	if (r)
		follow_group(e, r);
	rs_smp_tick(e->place->smp, cpu);
}

void rs_place_push(struct rs_engine *e, unsigned int cpu)
{
	rs_smp_push(smp_now(e), cpu, e->place->push_to[cpu]);
}

void rs_place_scans(const struct rs_engine *e, uint64_t *ret_scans, uint64_t *ret_probes)
{
	*ret_scans = e->place ? e->place->smp->nr_scans : 0;
	*ret_probes = e->place ? e->place->smp->nr_probes : 0;
}
