// SPDX-License-Identifier: GPL-2.0-only
#include "replay/smp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NEWIDLE_RATIO 512u
#define UTIL_MARGIN (1024u / 100u)	/* about 1 %: util_est does not follow smaller changes */

/* ---- making one ---- */

static void init_cpu(struct rs_smp *s, unsigned int cpu, struct rs_smp_level *levels)
{
	struct rs_smp_cpu *c = &s->cpus[cpu];

	c->list.prev = c->list.next = &c->list;
	c->capacity = s->d->capacity[cpu] ? s->d->capacity[cpu] : 1024;
	c->active = rs_span_has(&s->d->active, cpu);
	c->avg_idle_ns = 2 * s->opts.migration_cost_ns;
	c->max_idle_cost_ns = s->opts.migration_cost_ns;
	c->wake_avg_idle_ns = c->avg_idle_ns / 2;
	c->swapper.only_cpu = (int)cpu;
	c->swapper.cpu = c->swapper.recent = cpu;
	c->levels = levels;
	for (unsigned int i = 0; i < s->d->chains[cpu].nr; i++) {
		const struct rs_domain_shape *shape = s->d->chains[cpu].levels[i].shape;

		levels[i].interval_ms = shape->info.min_interval_ms;
		levels[i].newidle_ratio = NEWIDLE_RATIO;
		levels[i].newidle_success = NEWIDLE_RATIO / 2;
		levels[i].newidle_call = NEWIDLE_RATIO;
		levels[i].newidle_cost_ns = s->opts.newidle_cost_ns + s->opts.newidle_cost_cpu_ns * shape->span.nr;
		if (levels[i].newidle_cost_ns > c->max_idle_cost_ns)
			c->max_idle_cost_ns = levels[i].newidle_cost_ns;
	}
}

int rs_smp_new(const struct resched_domains *d, const struct rs_smp_options *opts, struct rs_smp **ret)
{
	struct rs_smp *s = calloc(1, sizeof(*s));
	struct rs_smp_level *levels;
	size_t nr_levels = 0;

	if (!s)
		return -ENOMEM;
	for (unsigned int cpu = 0; cpu < d->nr_cpus; cpu++)
		nr_levels += d->chains[cpu].nr;
	s->d = d;
	s->opts = *opts;
	s->is_612 = d->is_612;
	s->rng = opts->seed * 0x9e3779b97f4a7c15ull + 0x2545f4914f6cdd1dull;
	s->jiffy_ns = 1000000000ull / (opts->hz ? opts->hz : 250);
	s->nr_online = d->active.nr ? d->active.nr : 1;
	s->cpus = calloc(d->nr_cpus + 1u, sizeof(*s->cpus));
	s->llcs = calloc(d->nr_cpus + 1u, sizeof(*s->llcs));
	s->llc_pos = calloc(d->nr_cpus + 1u, sizeof(*s->llc_pos));
	s->imbalance = calloc(d->nr_groups + 1u, sizeof(*s->imbalance));
	s->scratch = calloc(3 * (size_t)d->nr_words + 1, sizeof(*s->scratch));
	s->memory = levels = calloc(nr_levels + 1, sizeof(*levels));
	if (!s->cpus || !s->llcs || !s->llc_pos || !s->imbalance || !s->scratch || !levels) {
		rs_smp_free(s);
		return -ENOMEM;
	}
	s->env_cpus = s->scratch + d->nr_words;
	s->tickless = s->env_cpus + d->nr_words;
	for (unsigned int cpu = 0; cpu < d->nr_cpus; cpu++) {
		const struct rs_domain *llc = rs_domain_at(d, cpu, d->chains[cpu].llc);

		init_cpu(s, cpu, levels);
		levels += d->chains[cpu].nr;
		s->llcs[cpu].size = s->llcs[cpu].nr_busy = llc ? llc->shape->span.nr : 1;
		for (unsigned int i = 0; llc && i < llc->shape->span.nr; i++) {
			if (llc->shape->span.cpus[i] == cpu)
				s->llc_pos[cpu] = i;
		}
	}
	*ret = s;
	return 0;
}

/* Most of it is taken to be the widest domain's. */
void rs_smp_newidle_cost(struct rs_smp *s, unsigned int cpu, uint64_t cost_ns)
{
	struct rs_smp_cpu *c = &s->cpus[cpu];
	unsigned int nr = s->d->chains[cpu].nr;
	uint64_t below = 0;

	if (!nr)
		return;
	for (unsigned int i = 0; i + 1 < nr; i++)
		below += c->levels[i].newidle_cost_ns;
	if (cost_ns <= below + c->levels[nr - 1].newidle_cost_ns)
		return;
	c->levels[nr - 1].newidle_cost_ns = cost_ns - below;
	if (cost_ns <= c->max_idle_cost_ns)
		return;
	c->max_idle_cost_ns = cost_ns;
	c->avg_idle_ns = 2 * cost_ns;
	c->wake_avg_idle_ns = cost_ns;
}

void rs_smp_free(struct rs_smp *s)
{
	if (!s)
		return;
	free(s->cpus);
	free(s->llcs);
	free(s->llc_pos);
	free(s->imbalance);
	free(s->scratch);
	free(s->memory);
	free(s);
}

/* ---- averages ---- */

static void sub_positive(uint64_t *value, uint64_t less)
{
	*value = *value > less ? *value - less : 0;
}

static uint64_t at_least(uint64_t value, uint64_t least)
{
	return value > least ? value : least;
}

/* Kernel: the removed part of update_cfs_rq_load_avg(). */
static void drop_removed(struct rs_smp_cpu *c)
{
	uint32_t divider = rs_pelt_divider(&c->avg);
	uint64_t util = c->avg.util_sum;

	if (!c->removed_load && !c->removed_util && !c->removed_runnable)
		return;
	sub_positive(&c->avg.load_avg, c->removed_load);
	sub_positive(&c->avg.load_sum, c->removed_load * divider);
	c->avg.load_sum = at_least(c->avg.load_sum, c->avg.load_avg * RS_PELT_MIN_DIVIDER);
	sub_positive(&c->avg.util_avg, c->removed_util);
	sub_positive(&util, c->removed_util * divider);
	c->avg.util_sum = (uint32_t)at_least(util, c->avg.util_avg * RS_PELT_MIN_DIVIDER);
	sub_positive(&c->avg.runnable_avg, c->removed_runnable);
	sub_positive(&c->avg.runnable_sum, c->removed_runnable * divider);
	c->avg.runnable_sum = at_least(c->avg.runnable_sum, c->avg.runnable_avg * RS_PELT_MIN_DIVIDER);
	c->removed_load = c->removed_util = c->removed_runnable = 0;
}

void rs_smp_update_cpu(struct rs_smp *s, unsigned int cpu)
{
	struct rs_smp_cpu *c = &s->cpus[cpu];
	unsigned int runnable = s->is_612 ? c->h_nr - c->nr_delayed : c->h_nr;

	drop_removed(c);
	if (rs_pelt_update(&c->avg, s->now_ns, c->weight, runnable, c->curr && c->curr->fair))
		rs_pelt_average(&c->avg, 1);
}

static void update_task(const struct rs_smp *s, struct rs_smp_task *t)
{
	if (!t->attached)
		return;
	if (!rs_pelt_update(&t->avg, s->now_ns, t->on_rq, t->on_rq && !(t->delayed && s->is_612), t->running))
		return;
	rs_pelt_average(&t->avg, t->weight);
	t->util_kept = false;
}

/* Kernel: attach_entity_load_avg() */
static void attach(struct rs_smp_cpu *c, struct rs_smp_task *t)
{
	rs_pelt_attach(&t->avg, &c->avg, t->weight);
	c->avg.load_avg += t->avg.load_avg;
	c->avg.load_sum += t->weight * t->avg.load_sum;
	c->avg.util_avg += t->avg.util_avg;
	c->avg.util_sum += t->avg.util_sum;
	c->avg.runnable_avg += t->avg.runnable_avg;
	c->avg.runnable_sum += t->avg.runnable_sum;
	t->attached = true;
}

/* Kernel: detach_entity_load_avg() */
static void detach(struct rs_smp_cpu *c, struct rs_smp_task *t)
{
	uint64_t util = c->avg.util_sum;

	sub_positive(&c->avg.load_avg, t->avg.load_avg);
	sub_positive(&c->avg.load_sum, t->weight * t->avg.load_sum);
	c->avg.load_sum = at_least(c->avg.load_sum, c->avg.load_avg * RS_PELT_MIN_DIVIDER);
	sub_positive(&c->avg.util_avg, t->avg.util_avg);
	sub_positive(&util, t->avg.util_sum);
	c->avg.util_sum = (uint32_t)at_least(util, c->avg.util_avg * RS_PELT_MIN_DIVIDER);
	sub_positive(&c->avg.runnable_avg, t->avg.runnable_avg);
	sub_positive(&c->avg.runnable_sum, t->avg.runnable_sum);
	c->avg.runnable_sum = at_least(c->avg.runnable_sum, c->avg.runnable_avg * RS_PELT_MIN_DIVIDER);
	t->attached = false;
}

/* A sleeper wakes elsewhere: its part is taken away at the old cpu's next update. Kernel: remove_entity_load_avg(). */
static void leave_asleep(struct rs_smp *s, struct rs_smp_task *t)
{
	struct rs_smp_cpu *c = &s->cpus[t->cpu];

	if (!t->attached)
		return;
	if (rs_pelt_update(&t->avg, c->avg.last_update, 0, 0, false))
		rs_pelt_average(&t->avg, t->weight);
	c->removed_load += t->avg.load_avg;
	c->removed_util += t->avg.util_avg;
	c->removed_runnable += t->avg.runnable_avg;
	t->attached = false;
	t->exec_start_ns = 0;
}

uint32_t rs_smp_task_util(const struct rs_smp *s, const struct rs_smp_task *t)
{
	uint32_t util = (uint32_t)t->avg.util_avg, est = s->opts.util_est ? rs_smp_estimate(t) : 0;

	return util > est ? util : est;
}

uint32_t rs_smp_cpu_util(const struct rs_smp *s, unsigned int cpu)
{
	const struct rs_smp_cpu *c = &s->cpus[cpu];
	uint64_t util = c->avg.util_avg;

	if (s->opts.util_est && c->util_est > util)
		util = c->util_est;
	return (uint32_t)(util < c->capacity ? util : c->capacity);
}

static bool near(uint32_t a, uint32_t b)
{
	return (a > b ? a - b : b - a) < UTIL_MARGIN;
}

/* What a task's utilisation is estimated at when it sleeps, in 6.12. Kernel: util_est_update(). */
static void estimate_612(struct rs_smp_task *t, uint32_t util)
{
	uint32_t last = t->util_ewma;

	t->util_kept = true;
	if (last <= util)
		t->util_ewma = util;
	else if (!near(last, util) && t->avg.runnable_avg <= util + UTIL_MARGIN)	/* else it had to wait: what it ran says little */
		t->util_ewma = last - (last - util) / 4;
}

/* The same in 6.1, where the larger of the last value and the average counts. */
static void estimate_61(const struct rs_smp *s, struct rs_smp_task *t, uint32_t util)
{
	uint32_t last = t->util_ewma, before = t->util_enqueued;

	if (s->opts.util_est_fastup && last < util)
		t->util_ewma = util;
	else if (near(last, util) && near(before, util))
		return;
	else if (!near(last, util))
		t->util_ewma = (uint32_t)(((int64_t)last * 4 + (int64_t)util - (int64_t)last) / 4);
	t->util_enqueued = util;
	t->util_kept = true;
}

static void update_estimate(const struct rs_smp *s, struct rs_smp_task *t)
{
	uint32_t util = (uint32_t)t->avg.util_avg;

	if (!s->opts.util_est || t->util_kept)
		return;
	if (s->is_612)
		estimate_612(t, util);
	else
		estimate_61(s, t, util);
}

/* Kernel: util_est_dequeue(). A delayed task does not count. */
static void drop_estimate(struct rs_smp_cpu *c, const struct rs_smp_task *t)
{
	uint32_t est = rs_smp_estimate(t);

	c->util_est = c->util_est > est ? c->util_est - est : 0;
}

/* ---- tasks ---- */

void rs_smp_task_init(struct rs_smp_task *t, unsigned int cpu)
{
	t->cpu = t->recent = cpu;
	t->only_cpu = -1;
	t->weight = 1024;
}

void rs_smp_task_seed(struct rs_smp *s, struct rs_smp_task *t, uint32_t runnable, uint32_t running)
{
	struct rs_smp_cpu *c = &s->cpus[t->cpu];

	c->avg.last_update = s->now_ns;
	t->avg.load_avg = t->weight * runnable / 1024;
	t->avg.runnable_avg = runnable;
	t->avg.util_avg = running;
	if (s->opts.util_est && runnable < 1000)
		t->util_ewma = running;
	attach(c, t);
}

void rs_smp_seed_done(struct rs_smp *s)
{
	for (unsigned int i = 0; i < s->d->active.nr; i++) {
		unsigned int cpu = s->d->active.cpus[i];
		const struct rs_domain *llc = rs_domain_at(s->d, cpu, s->d->chains[cpu].llc);
		struct rs_smp_cpu *c = &s->cpus[cpu];
		uint64_t sum = 0;

		c->avg.last_update = s->now_ns;
		c->idle_since_ns = s->now_ns;
		for (unsigned int l = 0; l < s->d->chains[cpu].nr; l++)
			c->levels[l].last_balance = rs_smp_jiffies(s);
		c->next_balance = rs_smp_jiffies(s);
		if (!llc || s->d->llc_of[cpu] != cpu)
			continue;
		for (unsigned int j = 0; j < llc->shape->span.nr; j++)
			sum += rs_smp_cpu_util(s, llc->shape->span.cpus[j]);
		s->llcs[cpu].nr_idle_scan = rs_smp_util_budget(llc->shape->span.nr, sum, llc->shape->info.imbalance_pct);
	}
}

void rs_smp_fork(struct rs_smp *s, struct rs_smp_task *t, const struct rs_smp_task *parent, unsigned int cpu)
{
	(void)s;
	memset(&t->avg, 0, sizeof(t->avg));
	t->avg.load_avg = t->weight;
	t->cpu = cpu;
	t->recent = parent ? parent->cpu : cpu;
	if (parent) {	/* fork copies these like the rest of the task */
		t->flips = parent->flips;
		t->flips_decay_ns = parent->flips_decay_ns;
		t->last_wakee = parent->last_wakee;
	}
	t->attached = false;
}

/* Kernel: post_init_entity_util_avg(). 6.1 takes the weight in its own, larger unit. */
static void guess_util(const struct rs_smp *s, struct rs_smp_cpu *c, struct rs_smp_task *t)
{
	uint64_t cap = c->avg.util_avg < c->capacity ? (c->capacity - c->avg.util_avg) / 2 : 0;

	if (!cap)
		return;
	t->avg.util_avg = cap;
	if (c->avg.util_avg) {
		uint64_t util = c->avg.util_avg * (s->is_612 ? t->weight : t->weight << 10) / (c->avg.load_avg + 1);

		t->avg.util_avg = util < cap ? util : cap;
	}
	t->avg.runnable_avg = t->avg.util_avg;
}

/* ---- queues ---- */

static void list_push(struct rs_smp_cpu *c, struct rs_smp_task *t)
{
	t->prev = &c->list;
	t->next = c->list.next;
	t->next->prev = t;
	c->list.next = t;
}

static void list_drop(struct rs_smp_task *t)
{
	t->prev->next = t->next;
	t->next->prev = t->prev;
	t->prev = t->next = NULL;
}

/* A wakeup ends an idle period. Kernel: ttwu_do_activate(). */
static void end_idle(struct rs_smp *s, struct rs_smp_cpu *c)
{
	uint64_t length, most = 2 * c->max_idle_cost_ns;

	if (!c->idle_stamp_ns)
		return;
	length = s->now_ns - c->idle_stamp_ns;
	c->avg_idle_ns = (uint64_t)((int64_t)c->avg_idle_ns + ((int64_t)length - (int64_t)c->avg_idle_ns) / 8);
	if (c->avg_idle_ns > most)
		c->avg_idle_ns = most;
	c->wake_avg_idle_ns = c->avg_idle_ns / 2;
	c->idle_stamp_ns = 0;
}

void rs_smp_enqueue(struct rs_smp *s, unsigned int cpu, struct rs_smp_task *t, enum rs_smp_how how)
{
	struct rs_smp_cpu *c = &s->cpus[cpu];

	if (how == RS_SMP_WAKES && cpu != t->cpu)
		leave_asleep(s, t);
	if (how == RS_SMP_WAKES)
		end_idle(s, c);
	t->cpu = cpu;
	if (t->fair) {
		if (how == RS_SMP_NEW)
			guess_util(s, c, t);	/* from averages as the cpu last left them: nobody brings them up to date first */
		rs_smp_update_cpu(s, cpu);
		update_task(s, t);
		if (!t->attached)
			attach(c, t);
		c->weight += t->weight;
		c->h_nr++;
		c->nr_idle_policy += t->idle_policy;
		c->util_est += rs_smp_estimate(t);
		list_push(c, t);
	}
	t->on_rq = true;
	if (++c->nr_running == 2)
		s->overload = true;
	if (how != RS_SMP_NEW && rs_smp_has_energy(s) && rs_smp_overutilized(s, cpu))
		s->overutilized = true;
}

void rs_smp_dequeue(struct rs_smp *s, struct rs_smp_task *t, bool sleeps)
{
	struct rs_smp_cpu *c = &s->cpus[t->cpu];

	if (!t->on_rq)
		return;
	if (t->fair) {
		if (!t->delayed)
			drop_estimate(c, t);
		if (sleeps && !t->delayed && s->is_612)
			update_estimate(s, t);		/* before its averages are brought up to date */
		rs_smp_update_cpu(s, t->cpu);
		update_task(s, t);
		c->weight -= t->weight;
		c->h_nr--;
		c->nr_idle_policy -= t->idle_policy;
		c->nr_delayed -= t->delayed;
		list_drop(t);
		if (sleeps && !s->is_612)
			update_estimate(s, t);
		if (!sleeps) {
			detach(c, t);
			t->exec_start_ns = 0;
		}
	}
	t->on_rq = t->delayed = false;
	c->nr_running--;
}

void rs_smp_delay(struct rs_smp *s, struct rs_smp_task *t, bool delayed)
{
	struct rs_smp_cpu *c = &s->cpus[t->cpu];

	if (t->delayed == delayed || !t->on_rq)
		return;
	if (delayed) {
		drop_estimate(c, t);
		update_estimate(s, t);
	}
	rs_smp_update_cpu(s, t->cpu);
	update_task(s, t);
	if (delayed) {
		c->nr_delayed++;
	} else {
		c->util_est += rs_smp_estimate(t);
		c->nr_delayed--;
	}
	t->delayed = delayed;
}

void rs_smp_carry(struct rs_smp *s, struct rs_smp_task *t, unsigned int to)
{
	struct rs_smp_cpu *c = &s->cpus[to];
	bool delayed = t->delayed;

	rs_smp_dequeue(s, t, false);
	rs_smp_enqueue(s, to, t, RS_SMP_MOVES);
	if (!delayed)
		return;
	drop_estimate(c, t);
	c->nr_delayed++;
	t->delayed = true;
}

void rs_smp_dead(struct rs_smp *s, struct rs_smp_task *t)
{
	if (!t->on_rq)
		leave_asleep(s, t);
}

bool rs_smp_core_idle(const struct rs_smp *s, unsigned int cpu)
{
	const struct rs_span *smt = &s->d->smt[cpu];

	for (unsigned int i = 0; i < smt->nr; i++) {
		if (!rs_smp_idle(s, smt->cpus[i]))
			return false;
	}
	return true;
}

void rs_smp_note_over(struct rs_smp *s, unsigned int cpu)
{
	struct rs_smp_cpu *c = &s->cpus[cpu];
	bool over = c->nr_running - c->nr_idle_policy > 1;

	if (over == c->over)
		return;
	c->over = over;
	rs_smp_llc(s, cpu)->nr_over += over ? 1u : -1u;
}

static void enter_idle(struct rs_smp *s, unsigned int cpu)
{
	struct rs_smp_cpu *c = &s->cpus[cpu];
	struct rs_smp_llc *llc = rs_smp_llc(s, cpu);

	c->idle_since_ns = s->now_ns;
	if (!c->idle_stamp_ns)
		c->idle_stamp_ns = s->now_ns;
	c->misfit_load = 0;
	rs_smp_note_over(s, cpu);
	if (s->d->has_smt && !llc->has_idle_cores && rs_smp_core_idle(s, cpu))
		llc->has_idle_cores = true;
	if (!c->tickless && c->active) {
		c->tickless = true;
		s->tickless[cpu / 64] |= 1ull << (cpu % 64);
		s->nr_tickless++;
		s->nohz_needs_update = true;
		llc->nr_busy--;
	}
}

void rs_smp_run(struct rs_smp *s, unsigned int cpu, struct rs_smp_task *t)
{
	struct rs_smp_cpu *c = &s->cpus[cpu];

	if (c->curr == t && t)
		return;
	rs_smp_update_cpu(s, cpu);
	if (c->curr) {
		update_task(s, c->curr);
		c->curr->running = false;
		c->curr->exec_start_ns = s->now_ns;
	}
	c->curr = t;
	if (!t) {
		enter_idle(s, cpu);
		return;
	}
	if (t->fair) {
		update_task(s, t);
		list_drop(t);
		list_push(c, t);
	}
	t->running = true;
	t->exec_start_ns = s->now_ns;
	c->misfit_load = s->d->asym && t->fair && !rs_smp_fits(rs_smp_task_util(s, t), c->capacity) ? at_least(rs_smp_task_load(t), 1) : 0;
}

void rs_smp_reweight(struct rs_smp *s, struct rs_smp_task *t, uint64_t weight)
{
	struct rs_smp_cpu *c = &s->cpus[t->cpu];

	if (!t->fair || weight == t->weight)
		return;
	rs_smp_update_cpu(s, t->cpu);
	update_task(s, t);
	if (t->on_rq)
		c->weight += weight - t->weight;
	if (t->attached) {
		sub_positive(&c->avg.load_avg, t->avg.load_avg);
		sub_positive(&c->avg.load_sum, t->weight * t->avg.load_sum);
	}
	t->weight = weight;
	t->avg.load_avg = weight * t->avg.load_sum / rs_pelt_divider(&t->avg);
	if (t->attached) {
		c->avg.load_avg += t->avg.load_avg;
		c->avg.load_sum += weight * t->avg.load_sum;
	}
}
