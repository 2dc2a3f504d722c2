// SPDX-License-Identifier: GPL-2.0-only
/*
 * When the balancer runs: at ticks of busy cpus, when a cpu runs empty, and for idle cpus whose tick has stopped.
 * Kernel: trigger_load_balance(), rebalance_domains(), newidle_balance(), nohz_balancer_kick() in kernel/sched/fair.c.
 */
#include "replay/smp.h"

#define BUSY_FACTOR 16u
#define BLOCKED_MS 32u	/* LOAD_AVG_PERIOD */

static uint64_t ms_to_jiffies(const struct rs_smp *s, uint64_t ms)
{
	return (ms * 1000000 + s->jiffy_ns - 1) / s->jiffy_ns;
}

/* Kernel: get_sd_balance_interval() */
static uint64_t interval_of(const struct rs_smp *s, const struct rs_smp_level *l, bool busy)
{
	uint64_t most = (1000000000ull / s->jiffy_ns) * s->nr_online / 10, jiffies;

	jiffies = ms_to_jiffies(s, l->interval_ms * (busy ? BUSY_FACTOR : 1));
	if (busy && jiffies)
		jiffies--;
	if (jiffies > most)
		jiffies = most;
	return jiffies ? jiffies : 1;
}

/* Kernel: rebalance_domains() */
static void rebalance(struct rs_smp *s, unsigned int cpu, enum rs_smp_idle_type idle)
{
	struct rs_smp_cpu *c = &s->cpus[cpu];
	uint64_t now = rs_smp_jiffies(s), next = now + (60000000000ull / s->jiffy_ns);
	bool go_on = true;

	for (unsigned int i = 0; i < s->d->chains[cpu].nr && go_on; i++) {
		struct rs_smp_level *l = &c->levels[i];
		bool busy = idle == RS_SMP_BUSY && !rs_smp_only_idle_policy(s, cpu);

		if (now >= l->last_balance + interval_of(s, l, busy)) {
			if (rs_smp_balance(s, cpu, i, idle, &go_on)) {
				/* It got work: busy from here on. */
				idle = rs_smp_idle(s, cpu) ? RS_SMP_IDLE : RS_SMP_BUSY;
				busy = idle == RS_SMP_BUSY && !rs_smp_only_idle_policy(s, cpu);
			}
			l->last_balance = now;
		}
		if (l->last_balance + interval_of(s, l, busy) < next)
			next = l->last_balance + interval_of(s, l, busy);
	}
	c->next_balance = next;
}

/* ---- idle cpus ---- */

#define STATS_KICK 1u
#define BALANCE_KICK 2u
#define NEXT_KICK 4u

/* Idle cpu @by works for all whose tick has stopped, itself last. Kernel: _nohz_idle_balance(). */
static void work_for_idle_cpus(struct rs_smp *s, unsigned int by, unsigned int flags)
{
	uint64_t now = rs_smp_jiffies(s), next = UINT64_MAX;

	if (flags & NEXT_KICK)
		s->nohz_needs_update = false;
	for (unsigned int i = 1; i <= s->d->nr_cpus; i++) {
		unsigned int cpu = (by + i) % s->d->nr_cpus;
		struct rs_smp_cpu *c = &s->cpus[cpu];

		if (!(s->tickless[cpu / 64] >> (cpu % 64))) {	/* none up to the next word, or to the last cpu */
			i += ((cpu | 63) < s->d->nr_cpus ? cpu | 63 : s->d->nr_cpus - 1) - cpu;
			continue;
		}
		if (!c->tickless || !rs_smp_idle(s, cpu))
			continue;
		if (!rs_smp_idle(s, by)) {	/* it has got work of its own */
			s->nohz_needs_update |= flags & NEXT_KICK;
			return;
		}
		if (flags & STATS_KICK)
			rs_smp_update_cpu(s, cpu);
		if (flags & BALANCE_KICK && now >= c->next_balance)
			rebalance(s, cpu, RS_SMP_IDLE);
		if (c->next_balance < next)
			next = c->next_balance;
	}
	if (next != UINT64_MAX)
		s->nohz_next_balance = next;
	if (flags & STATS_KICK)
		s->nohz_next_blocked = now + ms_to_jiffies(s, BLOCKED_MS);
}

static unsigned int first_idle(const struct rs_smp *s, unsigned int self)
{
	for (unsigned int w = 0; w < s->d->nr_words; w++) {
		for (uint64_t bits = s->tickless[w]; bits; bits &= bits - 1) {
			unsigned int cpu = w * 64 + (unsigned int)__builtin_ctzll(bits);

			if (cpu != self && rs_smp_idle(s, cpu))
				return cpu;
		}
	}
	return UINT32_MAX;
}

static void leave_tickless(struct rs_smp *s, unsigned int cpu)
{
	struct rs_smp_cpu *c = &s->cpus[cpu];

	if (!c->tickless)
		return;
	c->tickless = false;
	s->tickless[cpu / 64] &= ~(1ull << (cpu % 64));
	s->nr_tickless--;
	rs_smp_llc(s, cpu)->nr_busy++;
}

/* Does a busy cpu have idle ones balance? */
static bool wants_balance(const struct rs_smp *s, unsigned int cpu)
{
	const struct rs_smp_cpu *c = &s->cpus[cpu];

	if (c->nr_running >= 2)
		return true;
	if (s->d->chains[cpu].asym >= 0)
		return c->misfit_load != 0;
	return s->d->chains[cpu].llc >= 0 && rs_smp_llc(s, cpu)->nr_busy > 1;
}

/* Kernel: nohz_balancer_kick() */
static void kick(struct rs_smp *s, unsigned int cpu)
{
	uint64_t now = rs_smp_jiffies(s);
	unsigned int flags = 0, by;

	leave_tickless(s, cpu);
	if (!s->nr_tickless)
		return;
	if (now > s->nohz_next_blocked)
		flags = STATS_KICK;
	if (now >= s->nohz_next_balance && wants_balance(s, cpu)) {
		flags = STATS_KICK | BALANCE_KICK;
		s->nohz_next_balance = now + 1;
	}
	if (s->nohz_needs_update)
		flags |= NEXT_KICK;
	by = flags ? first_idle(s, cpu) : UINT32_MAX;
	if (by != UINT32_MAX)
		work_for_idle_cpus(s, by, flags);
}

/* ---- the tick ---- */

void rs_smp_tick(struct rs_smp *s, unsigned int cpu)
{
	struct rs_smp_cpu *c = &s->cpus[cpu];

	rs_smp_update_cpu(s, cpu);
	if (c->curr && c->curr->fair) {
		struct rs_smp_task *t = c->curr;

		if (rs_pelt_update(&t->avg, s->now_ns, 1, 1, true)) {
			rs_pelt_average(&t->avg, t->weight);
			t->util_kept = false;
		}
		t->exec_start_ns = s->now_ns;
		c->misfit_load = s->d->asym && !rs_smp_fits(rs_smp_task_util(s, t), c->capacity)
					 ? (rs_smp_task_load(t) ? rs_smp_task_load(t) : 1) : 0;
	}
	rs_smp_note_over(s, cpu);
	if (rs_smp_has_energy(s) && c->curr && c->curr->fair && rs_smp_overutilized(s, cpu))
		s->overutilized = true;
	if (c->active && rs_smp_jiffies(s) >= c->next_balance)
		rebalance(s, cpu, c->curr ? RS_SMP_BUSY : RS_SMP_IDLE);
	kick(s, cpu);
}

/* ---- running empty ---- */

static uint64_t draw(struct rs_smp *s)
{
	s->rng ^= s->rng << 13;
	s->rng ^= s->rng >> 7;
	s->rng ^= s->rng << 17;
	return s->rng;
}

/* NI_RANDOM: levels that seldom give anything are seldom tried. Kernel: update_newidle_stats(). */
static void note_newidle(struct rs_smp_level *l, unsigned int success)
{
	l->newidle_call++;
	l->newidle_success += success;
	if (l->newidle_call >= 1024) {
		l->newidle_ratio = l->newidle_success;
		l->newidle_call /= 2;
		l->newidle_success /= 2;
	}
}

/* An idle cpu's next pass must not be later than its levels ask for. Kernel: update_next_balance(). */
static void bring_forward(const struct rs_smp *s, struct rs_smp_cpu *c, const struct rs_smp_level *l)
{
	uint64_t next = l->last_balance + interval_of(s, l, false), latest = rs_smp_jiffies(s) + 1000000000u / s->jiffy_ns;

	next = next < latest ? next : latest;
	if (next < c->next_balance)
		c->next_balance = next;
}

/* Try to pull, level by level, as long as the idle period that is to be expected pays for it. */
static unsigned int pull_newidle(struct rs_smp *s, unsigned int cpu)
{
	struct rs_smp_cpu *c = &s->cpus[cpu];
	const struct rs_domain_chain *chain = &s->d->chains[cpu];
	unsigned int moved = 0;
	uint64_t cost = 0;

	for (unsigned int i = 0; i < chain->nr && !moved && !c->nr_running; i++) {
		struct rs_smp_level *l = &c->levels[i];
		unsigned int weight = 1;
		bool go_on;

		bring_forward(s, c, l);
		if (c->avg_idle_ns < cost + l->newidle_cost_ns)
			break;
		if (!(chain->levels[i].shape->info.flags & RESCHED_SD_BALANCE_NEWIDLE))
			continue;
		if (s->opts.ni_random) {
			weight = 1 + l->newidle_ratio;
			if (draw(s) % 1024 > weight) {
				note_newidle(l, 0);
				continue;
			}
			weight = (1024 + weight / 2) / weight;
		}
		moved = rs_smp_balance(s, cpu, i, RS_SMP_NEWLY_IDLE, &go_on);
		cost += l->newidle_cost_ns;
		note_newidle(l, moved ? weight : 0);
	}
	return moved;
}

unsigned int rs_smp_newidle(struct rs_smp *s, unsigned int cpu)
{
	struct rs_smp_cpu *c = &s->cpus[cpu];
	unsigned int moved = 0;

	c->idle_stamp_ns = s->now_ns;
	if (!c->active || !s->d->chains[cpu].nr)
		return 0;
	if (!s->overload || c->avg_idle_ns < c->levels[0].newidle_cost_ns) {
		bring_forward(s, c, &c->levels[0]);
	} else {
		rs_smp_update_cpu(s, cpu);
		moved = pull_newidle(s, cpu);
	}
	if (moved)
		c->idle_stamp_ns = 0;
	else if (c->avg_idle_ns >= s->opts.migration_cost_ns && rs_smp_jiffies(s) > s->nohz_next_blocked)
		work_for_idle_cpus(s, cpu, STATS_KICK);	/* nohz_newidle_balance() */
	return moved;
}
