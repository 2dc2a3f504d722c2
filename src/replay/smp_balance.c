// SPDX-License-Identifier: GPL-2.0-only
/* One pass of the balancer over one domain of one cpu. Kernel: load_balance(), sched_balance_rq() in kernel/sched/fair.c. */
#include "replay/smp.h"

#include <string.h>

#define MAX_PINNED_MS 512u
#define NO_CPU UINT32_MAX

static bool in_env(const struct rs_smp *s, unsigned int cpu)
{
	return (s->env_cpus[cpu / 64] >> (cpu % 64)) & 1;
}

/* Kernel: should_we_balance() */
bool rs_smp_should_balance(const struct rs_smp *s, unsigned int cpu, const struct rs_domain *dom, enum rs_smp_idle_type idle)
{
	const struct rs_span *mask = &dom->shape->groups[dom->local].balance;
	bool smt_level = dom->shape->info.flags & RESCHED_SD_SHARE_CPUCAPACITY;
	unsigned int lone = NO_CPU, first = NO_CPU;

	if (idle == RS_SMP_NEWLY_IDLE)
		return !s->cpus[cpu].nr_running;
	for (unsigned int i = 0; i < mask->nr; i++) {
		unsigned int at = mask->cpus[i];

		if (!s->cpus[at].active)
			continue;
		if (first == NO_CPU)
			first = at;
		if (!rs_smp_idle(s, at))
			continue;
		if (!s->is_612 || smt_level || rs_smp_core_idle(s, at))
			return at == cpu;
		if (lone == NO_CPU)
			lone = at;
	}
	return (lone == NO_CPU ? first : lone) == cpu;
}

/* ---- the source ---- */

static uint64_t boosted_util(const struct rs_smp *s, unsigned int cpu)
{
	uint64_t util = rs_smp_cpu_util(s, cpu), runnable = s->cpus[cpu].avg.runnable_avg;

	if (!s->is_612)
		return util;
	if (runnable > s->cpus[cpu].capacity)
		runnable = s->cpus[cpu].capacity;
	return util > runnable ? util : runnable;
}

/* Kernel: find_busiest_queue() */
static unsigned int find_source(const struct rs_smp *s, const struct rs_smp_env *env)
{
	const struct rs_span *span = &env->busiest.shape->span;
	bool asym = env->dom->shape->info.flags & RESCHED_SD_ASYM_CPUCAPACITY;
	uint64_t best = 0, best_cap = 1;
	unsigned int source = NO_CPU;

	for (unsigned int i = 0; i < span->nr; i++) {
		unsigned int cpu = span->cpus[i];
		const struct rs_smp_cpu *c = &s->cpus[cpu];
		uint64_t value = 0, cap = 1;

		if (!in_env(s, cpu) || !c->h_nr)
			continue;
		if (asym && c->h_nr == 1 && s->cpus[env->dst].capacity * 1024 <= (uint64_t)c->capacity * 1078)
			continue;
		switch (env->kind) {
		case RS_SMP_LOAD:
			if (c->h_nr == 1 && (int64_t)c->avg.load_avg > env->amount)
				continue;
			value = c->avg.load_avg;
			cap = c->capacity;
			break;
		case RS_SMP_UTIL:
			if (c->h_nr <= 1)
				continue;
			value = boosted_util(s, cpu);
			break;
		case RS_SMP_TASK:
			value = c->h_nr;
			break;
		case RS_SMP_MISFIT:
			value = c->misfit_load;
			break;
		}
		if (value * best_cap > best * cap) {
			best = value;
			best_cap = cap;
			source = cpu;
		}
	}
	return source;
}

/* ---- tasks ---- */

/* Kernel: task_hot(); buddies are not looked at. */
bool rs_smp_hot(const struct rs_smp *s, const struct rs_smp_task *t, const struct rs_domain *dom)
{
	if (!t->fair || t->idle_policy || dom->shape->info.flags & RESCHED_SD_SHARE_CPUCAPACITY)
		return false;
	if (s->opts.migration_cost_ns == UINT64_MAX)
		return true;
	return s->opts.migration_cost_ns && s->now_ns - t->exec_start_ns < s->opts.migration_cost_ns;
}

/* Kernel: can_migrate_task() */
static bool may_move(const struct rs_smp *s, struct rs_smp_env *env, const struct rs_smp_task *t)
{
	const struct rs_group_shape *local = &env->dom->shape->groups[env->dom->local];

	if (t->percpu_kthread)
		return false;
	if (!rs_smp_allowed(t, env->dst)) {
		env->some_pinned = true;
		for (unsigned int i = 0; env->idle != RS_SMP_NEWLY_IDLE && env->new_dst < 0 && i < local->balance.nr; i++) {
			unsigned int cpu = local->balance.cpus[i];

			if (in_env(s, cpu) && rs_smp_allowed(t, cpu))
				env->new_dst = (int)cpu;
		}
		return false;
	}
	env->all_pinned = false;
	if (t->running)
		return false;
	return !rs_smp_hot(s, t, env->dom) ||
	       s->cpus[env->cpu].levels[env->level].nr_failed > env->dom->shape->info.cache_nice_tries;
}

static uint64_t shifted(uint64_t value, unsigned int by)
{
	return by > 63 ? 0 : value >> by;
}

/* Does @t fit into what is to be moved? Takes its share off. */
static bool fits_amount(const struct rs_smp *s, struct rs_smp_env *env, const struct rs_smp_task *t)
{
	unsigned int failed = s->cpus[env->cpu].levels[env->level].nr_failed;
	uint64_t value;

	switch (env->kind) {
	case RS_SMP_LOAD:
		value = rs_smp_task_load(t) ? rs_smp_task_load(t) : 1;
		if (s->opts.lb_min && value < 16 && !failed)
			return false;
		if ((int64_t)shifted(value, failed) > env->amount)
			return false;
		env->amount -= (int64_t)value;
		return true;
	case RS_SMP_UTIL:
		value = rs_smp_task_util(s, t);
		if ((int64_t)shifted(value, failed) > env->amount)
			return false;
		env->amount -= (int64_t)value;
		return true;
	case RS_SMP_TASK:
		env->amount--;
		return true;
	default:
		if (rs_smp_fits(rs_smp_task_util(s, t), s->cpus[env->src].capacity))
			return false;
		env->amount = 0;
		return true;
	}
}

/* Kernel: detach_tasks() and attach_tasks(). Return: tasks moved. */
static unsigned int move_tasks(struct rs_smp *s, struct rs_smp_env *env)
{
	struct rs_smp_cpu *src = &s->cpus[env->src];
	unsigned int most = src->nr_running < s->opts.nr_migrate ? src->nr_running : s->opts.nr_migrate, moved = 0;

	for (unsigned int looked = 0; looked < most && src->list.prev != &src->list && env->amount > 0; looked++) {
		struct rs_smp_task *t = src->list.prev;

		if (env->idle != RS_SMP_BUSY && src->nr_running <= 1)
			break;
		if (may_move(s, env, t) && fits_amount(s, env, t)) {
			s->opts.move(s->opts.ctx, t, env->src, env->dst);
			if (t->cpu == env->src)
				return moved;	/* the owner refused */
			moved++;
			if (env->idle == RS_SMP_NEWLY_IDLE)
				break;
			continue;
		}
		/* Out of the way: to the head. */
		t->prev->next = t->next;
		t->next->prev = t->prev;
		t->prev = &src->list;
		t->next = src->list.next;
		t->next->prev = t;
		src->list.next = t;
	}
	return moved;
}

/* ---- after the pass ---- */

static bool wants_push(const struct rs_smp *s, const struct rs_smp_env *env)
{
	if (env->kind == RS_SMP_MISFIT)
		return true;
	return env->kind == RS_SMP_TASK &&
	       s->cpus[env->cpu].levels[env->level].nr_failed > env->dom->shape->info.cache_nice_tries + 2;
}

/* The running task cannot be pulled: have it pushed. Return: whether. */
static bool ask_for_push(struct rs_smp *s, const struct rs_smp_env *env)
{
	struct rs_smp_cpu *src = &s->cpus[env->src];

	if (!wants_push(s, env) || !src->curr || !rs_smp_allowed(src->curr, env->dst))
		return false;
	if (!src->pushing) {
		src->pushing = true;
		s->opts.push(s->opts.ctx, env->src, env->dst);
	}
	return true;
}

static bool *parent_imbalance(const struct rs_smp *s, const struct rs_smp_env *env)
{
	const struct rs_domain *up = rs_domain_at(s->d, env->cpu, (int)env->level + 1);

	return up ? &s->imbalance[up->shape->first_group + up->local] : NULL;
}

static unsigned int balanced(const struct rs_smp *s, const struct rs_smp_env *env, bool all_pinned)
{
	struct rs_smp_level *l = &s->cpus[env->cpu].levels[env->level];
	bool *up = parent_imbalance(s, env);

	if (up && !all_pinned)
		*up = false;
	l->nr_failed = 0;
	if (env->idle != RS_SMP_NEWLY_IDLE && !(s->is_612 && env->kind == RS_SMP_MISFIT) &&
	    ((all_pinned && l->interval_ms < MAX_PINNED_MS) || l->interval_ms < env->dom->shape->info.max_interval_ms))
		l->interval_ms *= 2;
	return 0;
}

/* Nothing more to move from the source found. Return: tasks moved so far. */
static unsigned int finish(struct rs_smp *s, struct rs_smp_env *env, unsigned int moved)
{
	struct rs_smp_level *l = &s->cpus[env->cpu].levels[env->level];
	bool pushed = false;

	if (moved) {
		l->nr_failed = 0;
		if (s->opts.sis_filter) {
			rs_smp_note_over(s, env->src);
			rs_smp_note_over(s, env->dst);
		}
	} else {
		if (env->idle != RS_SMP_NEWLY_IDLE && !(s->is_612 && env->kind == RS_SMP_MISFIT))
			l->nr_failed++;
		pushed = ask_for_push(s, env);
	}
	if (!pushed || wants_push(s, env))
		l->interval_ms = env->dom->shape->info.min_interval_ms;
	return moved;
}

/* Pull from the source in hand; a task pinned elsewhere in the local group sends the pass there. */
static unsigned int pull(struct rs_smp *s, struct rs_smp_env *env)
{
	unsigned int moved = 0;

	for (;;) {
		env->new_dst = -1;
		moved += move_tasks(s, env);
		if (env->new_dst < 0 || env->amount <= 0)
			return moved;
		s->env_cpus[env->dst / 64] &= ~(1ull << (env->dst % 64));
		env->dst = (unsigned int)env->new_dst;
	}
}

unsigned int rs_smp_balance(struct rs_smp *s, unsigned int cpu, unsigned int level, enum rs_smp_idle_type idle, bool *ret_continue)
{
	struct rs_smp_env env = { .dom = &s->d->chains[cpu].levels[level], .level = level, .cpu = cpu, .dst = cpu, .idle = idle };
	const struct rs_span *span = &env.dom->shape->span;

	memcpy(s->env_cpus, span->bits, s->d->nr_words * sizeof(*s->env_cpus));
	*ret_continue = rs_smp_should_balance(s, cpu, env.dom, idle);
	if (!*ret_continue)
		return balanced(s, &env, false);
	for (unsigned int tries = 0; tries <= span->nr; tries++) {
		unsigned int moved = 0;
		bool outside = false, *up;

		env.dst = cpu;
		env.some_pinned = false;
		env.all_pinned = true;
		if (!rs_smp_find_busiest(s, &env))
			return balanced(s, &env, false);
		env.src = find_source(s, &env);
		if (env.src == NO_CPU || env.src == env.dst)
			return balanced(s, &env, false);
		if (s->cpus[env.src].nr_running > 1)
			moved = pull(s, &env);
		else
			env.all_pinned = false;
		up = parent_imbalance(s, &env);
		if (up && env.some_pinned && env.amount > 0)
			*up = true;
		if (!env.all_pinned || moved)
			return finish(s, &env, moved);
		/* All tasks of the source are pinned: look at the others. */
		s->env_cpus[env.src / 64] &= ~(1ull << (env.src % 64));
		for (unsigned int i = 0; i < span->nr && !outside; i++) {
			unsigned int at = span->cpus[i];

			outside = in_env(s, at) && !rs_span_has(&env.dom->shape->groups[env.dom->local].span, at);
		}
		if (!outside)
			return balanced(s, &env, true);
	}
	return 0;
}

/* ---- the stopper ---- */

void rs_smp_push(struct rs_smp *s, unsigned int from, unsigned int to)
{
	struct rs_smp_cpu *src = &s->cpus[from];
	const struct rs_domain_chain *chain = &s->d->chains[to];

	src->pushing = false;
	if (src->nr_running < 1 || from == to)
		return;
	for (struct rs_smp_task *t = src->list.prev; t != &src->list; t = t->prev) {
		if (t->percpu_kthread || !rs_smp_allowed(t, to))
			continue;
		s->opts.move(s->opts.ctx, t, from, to);
		if (t->cpu == from)
			return;
		for (unsigned int i = 0; i < chain->nr; i++) {
			if (rs_span_has(&chain->levels[i].shape->span, from)) {
				s->cpus[to].levels[i].nr_failed = 0;
				break;
			}
		}
		return;
	}
}
