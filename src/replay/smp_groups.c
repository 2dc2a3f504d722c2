// SPDX-License-Identifier: GPL-2.0-only
/*
 * The balancer's view of a domain: the state of each group, the busiest one, whether to pull from it and how much.
 * Kernel: update_sd_lb_stats(), find_busiest_group(), calculate_imbalance() in kernel/sched/fair.c.
 */
#include "replay/smp.h"

#include <string.h>

static int64_t at_least_zero(int64_t value)
{
	return value > 0 ? value : 0;
}

/* ---- one group ---- */

static bool is_overloaded(const struct rs_smp_group *g, unsigned int pct)
{
	return g->nr > g->weight && (g->capacity * 100 < g->util * pct || g->capacity * pct < g->runnable * 100);
}

static bool has_capacity(const struct rs_smp_group *g, unsigned int pct)
{
	return g->nr < g->weight || (g->capacity * pct >= g->runnable * 100 && g->capacity * 100 > g->util * pct);
}

enum rs_smp_type rs_smp_classify(const struct rs_smp_group *g, unsigned int pct, bool imbalanced, bool smt)
{
	if (is_overloaded(g, pct))
		return RS_SMP_OVERLOADED;
	if (imbalanced)
		return RS_SMP_IMBALANCED;
	if (smt)
		return RS_SMP_SMT_BALANCE;
	if (g->misfit)
		return RS_SMP_MISFIT_GROUP;
	return has_capacity(g, pct) ? RS_SMP_HAS_SPARE : RS_SMP_FULLY_BUSY;
}

static bool in_env(const struct rs_smp *s, unsigned int cpu)
{
	return (s->env_cpus[cpu / 64] >> (cpu % 64)) & 1;
}

static void group_state(const struct rs_smp *s, const struct rs_smp_env *env, unsigned int idx, struct rs_smp_group *ret, bool *ret_overload)
{
	const struct rs_domain_shape *shape = env->dom->shape;
	const struct rs_group_shape *g = &shape->groups[idx];
	bool asym = shape->info.flags & RESCHED_SD_ASYM_CPUCAPACITY, local = idx == env->dom->local, smt;

	memset(ret, 0, sizeof(*ret));
	ret->shape = g;
	ret->idx = idx;
	ret->weight = g->span.nr;
	ret->min_capacity = UINT64_MAX;
	for (unsigned int i = 0; i < g->span.nr; i++) {
		unsigned int cpu = g->span.cpus[i];
		const struct rs_smp_cpu *c = &s->cpus[cpu];

		ret->capacity += c->capacity;
		ret->min_capacity = c->capacity < ret->min_capacity ? c->capacity : ret->min_capacity;
		ret->max_capacity = c->capacity > ret->max_capacity ? c->capacity : ret->max_capacity;
		if (!in_env(s, cpu))
			continue;
		ret->load += c->avg.load_avg;
		ret->util += rs_smp_cpu_util(s, cpu);
		ret->runnable += c->avg.runnable_avg;
		ret->nr += c->nr_running;
		ret->h_nr += c->h_nr;
		*ret_overload |= c->nr_running > 1;
		ret->idle += !c->nr_running && rs_smp_idle(s, cpu);
		if (asym && !local && c->misfit_load > ret->misfit)
			ret->misfit = c->misfit_load;
		*ret_overload |= asym && c->misfit_load;
	}
	smt = s->is_612 && !local && env->idle != RS_SMP_BUSY && g->flags & RESCHED_SD_SHARE_CPUCAPACITY && ret->h_nr > 1;
	ret->type = rs_smp_classify(ret, shape->info.imbalance_pct, s->imbalance[shape->first_group + idx], smt);
	if (ret->type == RS_SMP_OVERLOADED)
		ret->avg_load = ret->load * 1024 / ret->capacity;
}

/* ---- the busiest ---- */

static bool is_smt(const struct rs_smp_group *g)
{
	return g->shape && g->shape->flags & RESCHED_SD_SHARE_CPUCAPACITY;
}

static bool spare_is_busier(const struct rs_smp *s, const struct rs_smp_group *g, const struct rs_smp_group *best)
{
	if (s->is_612 && is_smt(g) != is_smt(best))
		return !(is_smt(g) && g->h_nr <= 1);
	return g->idle < best->idle || (g->idle == best->idle && g->nr > best->nr);
}

static bool greater(uint64_t a, uint64_t b)	/* capacity_greater(): by 5 % */
{
	return a * 1024 > b * 1078;
}

/* Kernel: update_sd_pick_busiest() */
static bool is_busier(const struct rs_smp *s, const struct rs_smp_env *env, const struct rs_smp_group *g)
{
	const struct rs_smp_group *best = &env->busiest;
	bool asym = env->dom->shape->info.flags & RESCHED_SD_ASYM_CPUCAPACITY;
	uint64_t here = s->cpus[env->dst].capacity;

	if (!g->h_nr)
		return false;
	if (asym && g->type == RS_SMP_MISFIT_GROUP &&
	    (!greater(here, g->max_capacity) || env->local.type != RS_SMP_HAS_SPARE || !rs_smp_core_idle(s, env->dst)))
		return false;
	if (best->shape && g->type != best->type)
		return g->type > best->type;
	if (best->shape) {
		bool wins = false;

		switch (g->type) {
		case RS_SMP_OVERLOADED:
			wins = g->avg_load > best->avg_load;
			break;
		case RS_SMP_MISFIT_GROUP:
			wins = s->is_612 ? g->misfit > best->misfit : g->misfit >= best->misfit;
			break;
		case RS_SMP_SMT_BALANCE:
			wins = g->idle || best->idle ? spare_is_busier(s, g, best) : !is_smt(best);
			break;
		case RS_SMP_FULLY_BUSY:
			wins = s->is_612 && !is_smt(best);
			break;
		case RS_SMP_HAS_SPARE:
			wins = spare_is_busier(s, g, best);
			break;
		default:
			break;
		}
		if (!wins)
			return false;
	}
	return !(asym && g->type <= RS_SMP_FULLY_BUSY && greater(g->min_capacity, here));
}

/* Kernel: update_idle_cpu_scan() */
static void note_scan(struct rs_smp *s, const struct rs_smp_env *env, uint64_t sum_util)
{
	const struct resched_domain *info = &env->dom->shape->info;
	struct rs_smp_llc *llc = rs_smp_llc(s, env->dst);

	if (s->opts.sis_util && env->idle != RS_SMP_NEWLY_IDLE && info->weight == llc->size)
		llc->nr_idle_scan = rs_smp_util_budget(info->weight, sum_util, info->imbalance_pct);
}

/* Seen over all of the machine, it may also end. Kernel: the end of update_sd_lb_stats(). */
static void note_overutilized(struct rs_smp *s, const struct rs_smp_env *env)
{
	const struct rs_span *span = &env->dom->shape->span;
	bool any = false;

	if (!rs_smp_has_energy(s))
		return;
	for (unsigned int i = 0; i < span->nr && !any; i++)
		any = in_env(s, span->cpus[i]) && rs_smp_overutilized(s, span->cpus[i]);
	if (env->level + 1 == s->d->chains[env->cpu].nr)
		s->overutilized = any;
	else
		s->overutilized |= any;
}

static void survey(struct rs_smp *s, struct rs_smp_env *env)
{
	const struct rs_domain_shape *shape = env->dom->shape;
	bool overload = false;
	uint64_t sum_util = 0;

	memset(&env->busiest, 0, sizeof(env->busiest));
	env->total_load = env->total_capacity = 0;
	for (unsigned int i = 0; i < shape->info.nr_groups; i++) {
		struct rs_smp_group g;

		group_state(s, env, (env->dom->local + i) % shape->info.nr_groups, &g, &overload);
		if (!i)
			env->local = g;
		else if (is_busier(s, env, &g))
			env->busiest = g;
		env->total_load += g.load;
		env->total_capacity += g.capacity;
		sum_util += g.util;
	}
	if (env->level + 1 == s->d->chains[env->cpu].nr)
		s->overload = overload;
	note_overutilized(s, env);
	note_scan(s, env, sum_util);
}

/* ---- the decision ---- */

int64_t rs_smp_numa_imbalance(int64_t imbalance, unsigned int dst_running, unsigned int imb_numa_nr)
{
	if (dst_running > imb_numa_nr)
		return imbalance;
	return imbalance <= 2 ? 0 : imbalance;
}

static bool prefers_sibling(const struct rs_smp *s, const struct rs_smp_env *env)
{
	if (s->is_612)
		return env->busiest.shape->flags & RESCHED_SD_PREFER_SIBLING;
	return env->level &&
	       s->d->chains[env->cpu].levels[env->level - 1].shape->info.flags & RESCHED_SD_PREFER_SIBLING;
}

/* Tasks by which siblings differ. Kernel: sibling_imbalance() in 6.12. */
static int64_t sibling_imbalance(const struct rs_smp *s, const struct rs_smp_env *env)
{
	const struct rs_smp_group *l = &env->local, *b = &env->busiest;
	int64_t lc = l->shape->cores, bc = b->shape->cores, i;

	if (!s->is_612)
		return at_least_zero((int64_t)b->nr - l->nr);
	if (env->idle == RS_SMP_BUSY || !b->nr)
		return 0;
	if (lc == bc)
		return at_least_zero((int64_t)b->nr - l->nr);
	i = at_least_zero(lc * b->nr - bc * l->nr);
	i = (2 * i + lc + bc) / (lc + bc);
	return i <= 1 && !l->nr && b->nr > 1 ? 2 : i;
}

/* L has room. Kernel: the has_spare part of calculate_imbalance(). */
static void spare_amount(const struct rs_smp *s, struct rs_smp_env *env, bool prefer)
{
	const struct rs_smp_group *l = &env->local, *b = &env->busiest;
	const struct resched_domain *info = &env->dom->shape->info;

	if (b->type > RS_SMP_FULLY_BUSY && !(info->flags & RESCHED_SD_LLC)) {
		env->kind = RS_SMP_UTIL;
		env->amount = (int64_t)(l->capacity > l->util ? l->capacity - l->util : 0);
		if (env->idle != RS_SMP_BUSY && !env->amount) {
			env->kind = RS_SMP_TASK;
			env->amount = 1;
		}
		return;
	}
	env->kind = RS_SMP_TASK;
	if (b->weight == 1 || prefer)
		env->amount = sibling_imbalance(s, env);
	else
		env->amount = at_least_zero((int64_t)l->idle - b->idle);
	if (info->flags & RESCHED_SD_NUMA)
		env->amount = rs_smp_numa_imbalance(env->amount, l->nr + 1, info->imb_numa_nr);
	env->amount /= 2;
}

/* Kernel: calculate_imbalance() */
static bool amount(const struct rs_smp *s, struct rs_smp_env *env, bool prefer)
{
	struct rs_smp_group *l = &env->local, *b = &env->busiest;
	uint64_t mean, from, to;

	if (b->type == RS_SMP_MISFIT_GROUP) {
		bool asym = env->dom->shape->info.flags & RESCHED_SD_ASYM_CPUCAPACITY;

		env->kind = asym ? RS_SMP_MISFIT : RS_SMP_LOAD;
		env->amount = asym ? 1 : (int64_t)b->misfit;
		return true;
	}
	if (b->type == RS_SMP_SMT_BALANCE || b->type == RS_SMP_IMBALANCED) {
		env->kind = RS_SMP_TASK;
		env->amount = 1;
		return true;
	}
	if (l->type == RS_SMP_HAS_SPARE) {
		spare_amount(s, env, prefer);
		return env->amount > 0;
	}
	mean = env->total_load * 1024 / env->total_capacity;
	if (l->type < RS_SMP_OVERLOADED) {
		l->avg_load = l->load * 1024 / l->capacity;
		if (l->avg_load >= b->avg_load || l->avg_load >= mean)
			return false;
	}
	env->kind = RS_SMP_LOAD;
	from = b->avg_load > mean ? (b->avg_load - mean) * b->capacity : 0;
	to = mean > l->avg_load ? (mean - l->avg_load) * l->capacity : 0;
	env->amount = (int64_t)((from < to ? from : to) / 1024);
	return env->amount > 0;
}

bool rs_smp_decide(const struct rs_smp *s, struct rs_smp_env *env)
{
	const struct rs_smp_group *l = &env->local, *b = &env->busiest;
	unsigned int pct = env->dom->shape->info.imbalance_pct;
	bool prefer;

	env->amount = 0;
	if (!b->shape)
		return false;
	prefer = prefers_sibling(s, env);
	if (b->type == RS_SMP_MISFIT_GROUP)
		return amount(s, env, prefer);
	if (rs_smp_has_energy(s) && !s->overutilized)
		return false;
	if (b->type == RS_SMP_IMBALANCED)
		return amount(s, env, prefer);
	if (l->type > b->type)
		return false;
	if (l->type == RS_SMP_OVERLOADED) {
		uint64_t mean = env->total_load * 1024 / env->total_capacity;

		if (l->avg_load >= b->avg_load || l->avg_load >= mean || 100 * b->avg_load <= pct * l->avg_load)
			return false;
		return amount(s, env, prefer);
	}
	if (prefer && l->type == RS_SMP_HAS_SPARE && sibling_imbalance(s, env) > 1)
		return amount(s, env, prefer);
	if (b->type != RS_SMP_OVERLOADED) {
		if (env->idle == RS_SMP_BUSY)
			return false;
		if (b->type == RS_SMP_SMT_BALANCE && is_smt(l) != is_smt(b))
			return amount(s, env, prefer);
		if (b->weight > 1 && l->idle <= b->idle + 1)
			return false;
		if (b->h_nr == 1)
			return false;
	}
	return amount(s, env, prefer);
}

bool rs_smp_find_busiest(struct rs_smp *s, struct rs_smp_env *env)
{
	survey(s, env);
	return rs_smp_decide(s, env);
}
