// SPDX-License-Identifier: GPL-2.0-only
/* Where a new task, or one that execs, goes: down the domains to the idlest cpu. Kernel: find_idlest_cpu() in kernel/sched/fair.c. */
#include "replay/smp.h"

#include <string.h>

#define NO_CPU UINT32_MAX

/* Does @t count on @cpu? A task that execs is taken out of what it is compared with. */
static bool counts_on(const struct rs_smp_task *t, unsigned int cpu)
{
	return t->on_rq && t->cpu == cpu;
}

static uint64_t less(uint64_t value, uint64_t own)
{
	return value > own ? value - own : 0;
}

static uint64_t load_without(const struct rs_smp *s, const struct rs_smp_task *t, unsigned int cpu)
{
	return less(s->cpus[cpu].avg.load_avg, counts_on(t, cpu) && t->attached ? t->avg.load_avg : 0);
}

/* Kernel: cpu_util_without() */
static uint64_t util_without(const struct rs_smp *s, const struct rs_smp_task *t, unsigned int cpu)
{
	const struct rs_smp_cpu *c = &s->cpus[cpu];
	uint64_t util, estimate;

	if (!counts_on(t, cpu) || !t->attached)
		return rs_smp_cpu_util(s, cpu);
	util = less(c->avg.util_avg, t->avg.util_avg);
	estimate = s->opts.util_est ? less(c->util_est, rs_smp_estimate(t)) : 0;
	util = estimate > util ? estimate : util;
	return util < c->capacity ? util : c->capacity;
}

static void group_state(const struct rs_smp *s, const struct rs_smp_task *t, const struct rs_domain_shape *shape, unsigned int idx,
			struct rs_smp_group *ret)
{
	const struct rs_group_shape *g = &shape->groups[idx];
	bool fits = false;

	memset(ret, 0, sizeof(*ret));
	ret->shape = g;
	ret->idx = idx;
	ret->weight = g->span.nr;
	for (unsigned int i = 0; i < g->span.nr; i++) {
		unsigned int cpu = g->span.cpus[i];
		const struct rs_smp_cpu *c = &s->cpus[cpu];
		unsigned int own = counts_on(t, cpu);

		ret->load += load_without(s, t, cpu);
		ret->util += util_without(s, t, cpu);
		ret->runnable += less(c->avg.runnable_avg, own && t->attached ? t->avg.runnable_avg : 0);
		ret->nr += c->nr_running - own;
		ret->h_nr += c->h_nr - own;
		ret->idle += c->nr_running == own && (!c->curr || c->curr == t);
		ret->capacity += c->capacity;
		ret->max_capacity = c->capacity > ret->max_capacity ? c->capacity : ret->max_capacity;
		fits |= rs_smp_fits(rs_smp_task_util(s, t), c->capacity);
	}
	ret->misfit = s->d->asym && shape->info.flags & RESCHED_SD_ASYM_CPUCAPACITY && !fits;
	ret->type = rs_smp_classify(ret, shape->info.imbalance_pct, false, false);
	if (ret->type == RS_SMP_OVERLOADED || ret->type == RS_SMP_FULLY_BUSY)
		ret->avg_load = ret->load * 1024 / (ret->capacity ? ret->capacity : 1);
}

/* Kernel: update_pick_idlest() */
static bool is_idler(const struct rs_smp_group *g, const struct rs_smp_group *best)
{
	if (!best->shape || g->type != best->type)
		return !best->shape || g->type < best->type;
	switch (g->type) {
	case RS_SMP_OVERLOADED:
	case RS_SMP_FULLY_BUSY:
		return g->avg_load < best->avg_load;
	case RS_SMP_MISFIT_GROUP:
		return g->max_capacity > best->max_capacity;
	case RS_SMP_HAS_SPARE:
		return g->idle > best->idle || (g->idle == best->idle && g->util < best->util);
	default:
		return false;
	}
}

static bool has_allowed(const struct rs_smp_task *t, const struct rs_span *span)
{
	for (unsigned int i = 0; i < span->nr; i++) {
		if (rs_smp_allowed(t, span->cpus[i]))
			return true;
	}
	return false;
}

static unsigned int count_allowed(const struct rs_smp_task *t, const struct rs_span *span)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < span->nr; i++)
		n += rs_smp_allowed(t, span->cpus[i]);
	return n;
}

/* Is the local group good enough against @idlest? Kernel: the end of find_idlest_group(). */
static bool stay_local(const struct rs_smp_task *t, const struct resched_domain *info, const struct rs_smp_group *local,
		       const struct rs_smp_group *idlest)
{
	uint64_t margin = 1024ull * (info->imbalance_pct - 100) / 100;

	if (local->type != idlest->type)
		return local->type < idlest->type;
	switch (local->type) {
	case RS_SMP_OVERLOADED:
	case RS_SMP_FULLY_BUSY:
		if (info->flags & RESCHED_SD_NUMA && idlest->avg_load + margin >= local->avg_load)
			return true;
		return idlest->avg_load >= local->avg_load + margin ||
		       100 * local->avg_load <= info->imbalance_pct * idlest->avg_load;
	case RS_SMP_MISFIT_GROUP:
		return local->max_capacity >= idlest->max_capacity;
	case RS_SMP_HAS_SPARE:
		if (info->flags & RESCHED_SD_NUMA) {
			unsigned int most = info->imb_numa_nr;
			int64_t diff = (int64_t)local->idle - (int64_t)idlest->idle;

			if (t->allowed) {
				unsigned int here = count_allowed(t, &local->shape->span);

				most = here < most ? here : most;
			}
			if (!rs_smp_numa_imbalance(diff < 0 ? -diff : diff, local->nr + 1, most))
				return true;
		}
		return local->idle >= idlest->idle;
	default:
		return true;
	}
}

/* Return: the group to go to; NULL to stay in the local one. */
static const struct rs_group_shape *idlest_group(const struct rs_smp *s, const struct rs_smp_task *t, const struct rs_domain *dom)
{
	struct rs_smp_group local = { 0 }, idlest = { 0 }, g;

	for (unsigned int i = 0; i < dom->shape->info.nr_groups; i++) {
		unsigned int idx = (dom->local + i) % dom->shape->info.nr_groups;

		if (!has_allowed(t, &dom->shape->groups[idx].span))
			continue;
		group_state(s, t, dom->shape, idx, &g);
		if (!i)
			local = g;
		else if (is_idler(&g, &idlest))
			idlest = g;
	}
	if (!idlest.shape)
		return NULL;
	if (!local.shape)
		return idlest.shape;
	return stay_local(t, &dom->shape->info, &local, &idlest) ? NULL : idlest.shape;
}

/* Kernel: find_idlest_group_cpu(). Exit latencies are not known: the last to idle is the idlest. */
static unsigned int idlest_cpu(const struct rs_smp *s, const struct rs_smp_task *t, const struct rs_span *span, unsigned int cpu)
{
	unsigned int least = cpu, shallow = NO_CPU;
	uint64_t least_load = UINT64_MAX, latest = 0;

	if (span->nr == 1)
		return span->cpus[0];
	for (unsigned int i = 0; i < span->nr; i++) {
		unsigned int at = span->cpus[i];

		if (!rs_smp_allowed(t, at))
			continue;
		if (rs_smp_only_idle_policy(s, at))
			return at;
		if (rs_smp_idle(s, at)) {
			if (shallow == NO_CPU || s->cpus[at].idle_since_ns > latest) {
				latest = s->cpus[at].idle_since_ns;
				shallow = at;
			}
		} else if (shallow == NO_CPU && s->cpus[at].avg.load_avg < least_load) {
			least_load = s->cpus[at].avg.load_avg;
			least = at;
		}
	}
	return shallow == NO_CPU ? least : shallow;
}

unsigned int rs_smp_place_new(struct rs_smp *s, const struct rs_smp_task *t, unsigned int cpu, bool exec)
{
	unsigned int flag = exec ? RESCHED_SD_BALANCE_EXEC : RESCHED_SD_BALANCE_FORK, at = cpu;
	const struct rs_domain_chain *chain = &s->d->chains[cpu];
	int level = -1;

	if (t->only_cpu >= 0)
		return (unsigned int)t->only_cpu;
	if (!t->fair)
		return rs_smp_allowed(t, cpu) ? cpu : (s->d->active.nr ? s->d->active.cpus[0] : cpu);
	while (level + 1 < (int)chain->nr && chain->levels[level + 1].shape->info.flags & flag)
		level++;
	if (level >= 0 && !has_allowed(t, &chain->levels[level].shape->span))
		level = -1;
	while (level >= 0) {
		const struct rs_domain *dom = rs_domain_at(s->d, at, level);
		const struct rs_group_shape *g = dom->shape->info.flags & flag ? idlest_group(s, t, dom) : NULL;
		unsigned int next = g ? idlest_cpu(s, t, &g->span, at) : at, weight = dom->shape->span.nr;

		if (next == at) {
			level--;
			continue;
		}
		at = next;
		level = -1;
		for (unsigned int i = 0; i < s->d->chains[at].nr; i++) {
			const struct rs_domain_shape *shape = s->d->chains[at].levels[i].shape;

			if (shape->span.nr >= weight)
				break;
			if (shape->info.flags & flag)
				level = (int)i;
		}
	}
	if (rs_smp_allowed(t, at) && s->cpus[at].active)
		return at;
	for (unsigned int i = 0; i < s->d->active.nr; i++) {
		if (rs_smp_allowed(t, s->d->active.cpus[i]))
			return s->d->active.cpus[i];
	}
	return cpu;
}
