// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a waking task costs the least energy, on a machine of unequal cpus, as long as no cpu is overutilized.
 * Kernel: find_energy_efficient_cpu(), compute_energy() in kernel/sched/fair.c, em_cpu_energy().
 *
 * Snapshots hold no energy model, so one is assumed: cpus of one capacity are a performance domain with one clock. It has five speeds, a
 * fifth of the capacity each, at 52 to 100 % of the voltage; what a unit of work costs grows with the capacity and the voltage's square.
 */
#include "replay/smp.h"

#define SPEEDS 5u
#define LOWEST_VOLTAGE_PCT 40u
#define VOLTAGE_STEP_PCT 12u
#define NO_CPU UINT32_MAX

bool rs_smp_has_energy(const struct rs_smp *s)
{
	return s->opts.energy_aware && s->d->asym && !s->d->has_smt;
}

bool rs_smp_overutilized(const struct rs_smp *s, unsigned int cpu)
{
	return !rs_smp_fits(rs_smp_cpu_util(s, cpu), s->cpus[cpu].capacity);
}

/* What a unit of work costs in the domain of cpus of @capacity when the busiest has @util. */
static uint64_t cost_of_work(uint64_t capacity, uint64_t util)
{
	uint64_t speed = (util * SPEEDS + capacity - 1) / capacity, volts;

	speed = speed < 1 ? 1 : speed > SPEEDS ? SPEEDS : speed;
	volts = LOWEST_VOLTAGE_PCT + VOLTAGE_STEP_PCT * speed;
	return capacity * volts * volts;
}

/* Utilisation of @cpu if @t were on @dst (NO_CPU: nowhere). Kernel: cpu_util(). */
static uint64_t util_if(const struct rs_smp *s, const struct rs_smp_task *t, unsigned int cpu, unsigned int dst, bool boost)
{
	const struct rs_smp_cpu *c = &s->cpus[cpu];
	uint64_t util = c->avg.util_avg, own = t->avg.util_avg, estimate = c->util_est;

	if (boost && c->avg.runnable_avg > util)
		util = c->avg.runnable_avg;
	if (t->cpu == cpu && dst != cpu && t->attached)
		util -= util < own ? util : own;
	else if (t->cpu != cpu && dst == cpu)
		util += own;
	if (dst == cpu)
		estimate += rs_smp_estimate(t);
	if (s->opts.util_est && estimate > util)
		util = estimate;
	return util < c->capacity ? util : c->capacity;
}

/* A performance domain: the cpus of the same capacity as @first, its lowest. */
struct domain {
	const struct rs_smp *s;
	const struct rs_smp_task *task;
	unsigned int first;
	uint64_t capacity, work;	/* of a cpu; of all of them, without the task */
};

static bool is_in(const struct domain *pd, unsigned int cpu)
{
	return pd->s->d->capacity[cpu] == pd->s->d->capacity[pd->first];
}

static uint64_t energy_if(const struct domain *pd, unsigned int dst)
{
	const struct rs_span *all = &pd->s->d->active;
	uint64_t most = 0, work = pd->work, room = 0;

	for (unsigned int i = 0; i < all->nr; i++) {
		uint64_t util;

		if (!is_in(pd, all->cpus[i]))
			continue;
		util = util_if(pd->s, pd->task, all->cpus[i], dst, pd->s->is_612);
		util += util / 4;	/* the governor's headroom */
		most = util > most ? util : most;
		room += pd->capacity;
	}
	if (dst != NO_CPU)
		work += rs_smp_task_util(pd->s, pd->task);
	return cost_of_work(pd->capacity, most) * (work < room ? work : room);
}

struct choice { unsigned int prev, best; uint64_t prev_delta, best_delta; bool prev_fits, best_fits; };

/* The cpu of @pd with the most room, besides the previous one: is either the cheapest so far? */
static void look_at(struct domain *pd, const struct rs_span *within, struct choice *ret)
{
	const struct rs_smp *s = pd->s;
	int64_t most = -1, prev_room = -1;
	unsigned int roomiest = NO_CPU;
	uint64_t base, delta;

	pd->capacity = s->cpus[pd->first].capacity;
	pd->work = 0;
	for (unsigned int i = 0; i < s->d->active.nr; i++) {
		unsigned int cpu = s->d->active.cpus[i];
		uint64_t util;
		int64_t room;

		if (!is_in(pd, cpu))
			continue;
		pd->work += util_if(s, pd->task, cpu, NO_CPU, false);
		if (!rs_span_has(within, cpu) || !rs_smp_allowed(pd->task, cpu))
			continue;
		util = util_if(s, pd->task, cpu, cpu, false);
		if (!rs_smp_fits(util, s->cpus[cpu].capacity))
			continue;
		room = (int64_t)s->cpus[cpu].capacity - (int64_t)util;
		if (cpu == ret->prev) {
			prev_room = room;
			ret->prev_fits = true;
		} else if (room > most) {
			most = room;
			roomiest = cpu;
		}
	}
	if (roomiest == NO_CPU && prev_room < 0)
		return;
	base = energy_if(pd, NO_CPU);
	if (prev_room >= 0) {
		delta = energy_if(pd, ret->prev);
		ret->prev_delta = delta > base ? delta - base : 0;
		ret->best_delta = ret->prev_delta < ret->best_delta ? ret->prev_delta : ret->best_delta;
	}
	if (roomiest == NO_CPU || most <= prev_room)
		return;
	delta = energy_if(pd, roomiest);
	delta = delta > base ? delta - base : 0;
	if (ret->best_fits && delta >= ret->best_delta)
		return;
	ret->best = roomiest;
	ret->best_delta = delta;
	ret->best_fits = true;
}

unsigned int rs_smp_energy(const struct rs_smp *s, const struct rs_smp_task *t, unsigned int by, unsigned int prev)
{
	struct choice c = { .prev = prev, .best = NO_CPU, .prev_delta = UINT64_MAX, .best_delta = UINT64_MAX };
	struct domain pd = { .s = s, .task = t };
	int level = s->d->chains[by].asym;

	while (level >= 0 && (unsigned int)level < s->d->chains[by].nr && !rs_span_has(&rs_domain_at(s->d, by, level)->shape->span, prev))
		level++;
	if (level < 0 || (unsigned int)level >= s->d->chains[by].nr)
		return NO_CPU;
	if (!rs_smp_task_util(s, t))
		return prev;
	for (unsigned int i = 0; i < s->d->active.nr; i++) {
		bool seen = false;

		pd.first = s->d->active.cpus[i];
		for (unsigned int j = 0; j < i && !seen; j++)
			seen = is_in(&pd, s->d->active.cpus[j]);
		if (!seen)
			look_at(&pd, &rs_domain_at(s->d, by, level)->shape->span, &c);
	}
	return c.best_fits && (!c.prev_fits || c.best_delta < c.prev_delta) ? c.best : prev;
}
