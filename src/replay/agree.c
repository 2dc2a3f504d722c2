// SPDX-License-Identifier: GPL-2.0-only
#include "replay/agree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpulist.h"
#include "policies/weight.h"
#include "replay/place.h"

#define RACE_NS 5000u	/* a cpu that came or went so shortly before may have looked otherwise to the kernel */
#define NO_CPU UINT32_MAX

struct follower {
	struct rs_smp_task smp;		/* first */
	int32_t pid;
	unsigned int guess;		/* where the model puts it, NO_CPU: not asked */
	bool racing;			/* the guess hung on a cpu in change */
	uint64_t weight;		/* in its group */
	struct rs_cpuset *allowed;
};

struct rs_agree {
	const struct resched_workload *workload;
	struct resched_domains *domains;
	struct rs_smp *smp;
	struct resched_placement_agreement *figures;
	struct rs_map by_pid;
	struct follower **tasks;
	uint32_t nr, room;
	uint64_t next_tick_ns;
	uint64_t *changed_ns;		/* by cpu: last switch to or from idle */
	unsigned int nr_cpus;
};

/* Moves are the recording's. */
static void refuse_move(void *ctx, struct rs_smp_task *t, unsigned int from, unsigned int to)
{
	(void)ctx, (void)t, (void)from, (void)to;
}

static void refuse_push(void *ctx, unsigned int from, unsigned int to)
{
	(void)ctx, (void)from, (void)to;
}

/* ---- tasks ---- */

static void set_class(struct follower *f, int prio, int policy)
{
	uint64_t weight;

	f->smp.fair = prio >= 100 && prio < 140;
	f->smp.idle_policy = policy == RS_SCHED_IDLE;
	if (!f->smp.fair)
		return;
	weight = rs_load_down(rs_load_of_task(prio - 120, f->smp.idle_policy ? RS_SCHED_IDLE : RS_SCHED_NORMAL).weight);
	if (weight != f->weight)
		f->smp.weight = weight;
	f->weight = weight;
}

/* What the groups of the shadow make of its weight. */
static void follow_group(struct rs_agree *a, const struct rs_shadow *s, struct follower *f)
{
	const struct rs_shadow_task *t = rs_shadow_find(s, f->pid);

	if (t && t->fair.group && f->smp.fair)
		rs_smp_reweight(a->smp, &f->smp, rs_place_weight(&t->fair, f->weight, &f->smp.avg));
}

static int restrict_to(const struct rs_agree *a, struct follower *f, const char *list, bool kthread)
{
	unsigned int nr = 0, only = 0;

	if (!list)
		return 0;
	f->allowed = calloc(1, sizeof(*f->allowed));
	if (!f->allowed)
		return -ENOMEM;
	if (rs_cpulist_parse(list, f->allowed) < 0)
		return 0;
	for (unsigned int cpu = 0; cpu < a->nr_cpus; cpu++) {
		if (!rs_cpuset_has(f->allowed, cpu))
			continue;
		nr++;
		only = cpu;
	}
	if (!nr)
		return 0;
	f->smp.allowed = f->allowed->bits;
	f->smp.only_cpu = nr == 1 ? (int)only : -1;
	f->smp.percpu_kthread = nr == 1 && kthread;
	return 0;
}

/* The follower of a pid, made when new. @prio < 0: not known. NULL without memory. */
static struct follower *find(struct rs_agree *a, int32_t pid, int prio, unsigned int cpu)
{
	uint32_t idx = rs_map_get(&a->by_pid, (uint32_t)pid);
	struct follower *f;

	if (idx != RS_MAP_NONE) {
		f = a->tasks[idx];
	} else {
		if (a->nr == a->room) {
			uint32_t room = a->room ? 2 * a->room : 64;
			struct follower **more = realloc(a->tasks, room * sizeof(*more));

			if (!more)
				return NULL;
			a->tasks = more;
			a->room = room;
		}
		f = calloc(1, sizeof(*f));
		if (!f || rs_map_set(&a->by_pid, (uint32_t)pid, a->nr) < 0) {
			free(f);
			return NULL;
		}
		a->tasks[a->nr++] = f;
		f->pid = pid;
		f->guess = NO_CPU;
		rs_smp_task_init(&f->smp, cpu < a->nr_cpus ? cpu : 0);
		set_class(f, prio < 0 ? 120 : prio, 0);
	}
	if (prio >= 0 && !f->smp.on_rq)
		set_class(f, prio, f->smp.idle_policy ? RS_SCHED_IDLE : 0);
	return f;
}

/* Tasks of the start with the loads that the recording suggests. */
static int seed_tasks(struct rs_agree *a)
{
	for (uint32_t i = 0; i < a->workload->nr_tasks; i++) {
		const struct rs_program *p = &a->workload->tasks[i];
		struct follower *f;

		if (p->birth_nr)
			continue;
		f = find(a, p->pid, p->prio, p->cpu);
		if (!f || restrict_to(a, f, p->affinity, p->kthread) < 0)
			return -ENOMEM;
		set_class(f, p->prio, p->policy);
		if (p->birth == RS_BORN_FORKED)
			continue;
		f->smp.flips = rs_place_flips(p);
		if (f->smp.fair)
			rs_place_seed(a->smp, &f->smp, p, &a->workload->info);
		if (p->birth == RS_BORN_QUEUED || p->birth == RS_BORN_RUNNING)
			rs_smp_enqueue(a->smp, f->smp.cpu, &f->smp, RS_SMP_MOVES);
		if (p->birth == RS_BORN_RUNNING && !a->smp->cpus[f->smp.cpu].curr)
			rs_smp_run(a->smp, f->smp.cpu, &f->smp);
	}
	rs_smp_seed_done(a->smp);
	return 0;
}

int rs_agree_new(const struct resched_workload *workload, const struct rs_model *model, unsigned int nr_cpus,
		 struct resched_placement_agreement *ret_figures, struct rs_agree **ret)
{
	struct rs_agree *a = calloc(1, sizeof(*a));
	struct rs_smp_options opts;
	bool *online = calloc(nr_cpus ? nr_cpus : 1, sizeof(*online));

	if (!a || !online)
		goto nomem;
	a->workload = workload;
	a->figures = ret_figures;
	a->nr_cpus = nr_cpus;
	memset(online, 1, nr_cpus);
	for (unsigned int i = 0; i < workload->host->nr_cpus; i++) {
		const struct resched_host_cpu *c = &workload->host->cpus[i];

		if (c->cpu < nr_cpus && !c->online && c->cpu >= workload->max_cpu)
			online[c->cpu] = false;
	}
	rs_place_options(model, &opts);
	opts.move = refuse_move;
	opts.push = refuse_push;
	a->changed_ns = calloc(nr_cpus ? nr_cpus : 1, sizeof(*a->changed_ns));
	if (!a->changed_ns || rs_place_domains(workload->host, rs_model_kernel(model), online, nr_cpus, &a->domains) < 0 ||
	    rs_smp_new(a->domains, &opts, &a->smp) < 0)
		goto nomem;
	a->smp->now_ns = workload->info.first_ns;
	if (workload->info.tick_ns) {
		a->smp->jiffy_ns = workload->info.tick_ns;
		a->smp->jiffies_phase_ns = workload->info.tick_phase_ns % workload->info.tick_ns;
	}
	a->next_tick_ns = a->smp->jiffies_phase_ns + (rs_smp_jiffies(a->smp) + 1) * a->smp->jiffy_ns;
	if (seed_tasks(a) < 0)
		goto nomem;
	free(online);
	*ret = a;
	return 0;
nomem:
	free(online);
	rs_agree_free(a);
	return -ENOMEM;
}

void rs_agree_free(struct rs_agree *a)
{
	if (!a)
		return;
	for (uint32_t i = 0; i < a->nr; i++) {
		free(a->tasks[i]->allowed);
		free(a->tasks[i]);
	}
	free(a->tasks);
	free(a->changed_ns);
	rs_map_release(&a->by_pid);
	rs_smp_free(a->smp);
	resched_domains_free(a->domains);
	free(a);
}

/* ---- verdicts ---- */

static bool in_change(const struct rs_agree *a, unsigned int cpu)
{
	return cpu < a->nr_cpus && a->changed_ns[cpu] && a->smp->now_ns - a->changed_ns[cpu] < RACE_NS;
}

static void judge(struct rs_agree *a, struct follower *f, unsigned int kernel)
{
	struct resched_placement_agreement *r = a->figures;
	const struct resched_domains *d = a->domains;
	unsigned int model = f->guess;

	f->guess = NO_CPU;
	if (model == NO_CPU || kernel >= a->nr_cpus)
		return;
	if (model != kernel && (f->racing || in_change(a, kernel))) {
		r->uncertain++;
		return;
	}
	r->wakeups++;
	if (model == kernel)
		r->agree++;
	else if (rs_span_has(&d->smt[model], kernel))
		r->same_core++;
	else if (d->llc_of[model] == d->llc_of[kernel])
		r->same_llc++;
	else if (d->node_of[model] == d->node_of[kernel])
		r->same_node++;
	else
		r->other_node++;
}

/* ---- events ---- */

static void ask(struct rs_agree *a, const struct rs_shadow *s, const struct resched_event *e)
{
	struct follower *f = find(a, e->pid, e->wake.prio, e->wake.target_cpu);
	const struct rs_shadow_task *t = rs_shadow_find(s, e->pid);
	bool irq = e->ctx & (RESCHED_CTX_HARDIRQ | RESCHED_CTX_SOFTIRQ) || !e->wake.waker_pid;

	if (!f)
		return;
	f->guess = NO_CPU;
	if (t && t->fair.delayed)
		return;		/* it stays where it is, nobody chooses */
	if (f->smp.on_rq && f->smp.delayed)
		rs_smp_dequeue(a->smp, &f->smp, true);
	if (f->smp.on_rq || !f->smp.fair || f->smp.only_cpu >= 0)
		return;
	if (e->wake.target_cpu < a->nr_cpus && !f->smp.attached)
		f->smp.cpu = e->wake.target_cpu;
	f->guess = rs_smp_wake(a->smp, &f->smp, e->cpu, false, irq);
	f->racing = in_change(a, f->guess) || in_change(a, f->smp.cpu);
}

static void woken(struct rs_agree *a, const struct rs_shadow *s, const struct resched_event *e, enum rs_smp_how how)
{
	struct follower *f = find(a, e->pid, e->wake.prio, e->wake.target_cpu);

	if (!f || e->wake.target_cpu >= a->nr_cpus)
		return;
	if (how == RS_SMP_NEW && f->smp.fair && !f->smp.on_rq) {
		rs_smp_fork(a->smp, &f->smp, a->smp->cpus[e->cpu].curr, e->cpu);
		f->guess = f->smp.only_cpu < 0 ? rs_smp_place_new(a->smp, &f->smp, e->cpu, false) : NO_CPU;
		f->racing = in_change(a, f->guess);
	}
	judge(a, f, e->wake.target_cpu);
	if (f->smp.on_rq && f->smp.delayed) {
		rs_smp_delay(a->smp, &f->smp, false);
		return;
	}
	if (!f->smp.on_rq)
		rs_smp_enqueue(a->smp, e->wake.target_cpu, &f->smp, how);
	follow_group(a, s, f);
}

static void move(struct rs_agree *a, struct follower *f, unsigned int to)
{
	if (!f->smp.on_rq || f->smp.cpu == to || to >= a->nr_cpus)
		return;
	if (a->smp->cpus[f->smp.cpu].curr == &f->smp)
		rs_smp_run(a->smp, f->smp.cpu, NULL);
	rs_smp_carry(a->smp, &f->smp, to);
}

/* Delayed tasks that the shadow's queue has let go. */
static void reap(struct rs_agree *a, const struct rs_shadow *s, unsigned int cpu)
{
	struct rs_smp_cpu *c = &a->smp->cpus[cpu];
	struct rs_smp_task *next;

	for (struct rs_smp_task *t = c->list.next; c->nr_delayed && t != &c->list; t = next) {
		const struct rs_shadow_task *known = rs_shadow_find(s, ((struct follower *)t)->pid);

		next = t->next;
		if (t->delayed && !(known && known->fair.delayed))
			rs_smp_dequeue(a->smp, t, true);
	}
}

static int switched(struct rs_agree *a, const struct rs_shadow *s, const struct resched_event *e)
{
	struct follower *prev = e->pid ? find(a, e->pid, e->sw.prev_prio, e->cpu) : NULL;
	struct follower *next = e->sw.next_pid ? find(a, e->sw.next_pid, e->sw.next_prio, e->cpu) : NULL;
	struct rs_smp_cpu *c = &a->smp->cpus[e->cpu];

	if ((e->pid && !prev) || (e->sw.next_pid && !next))
		return -ENOMEM;
	if (prev) {
		const struct rs_shadow_task *t = rs_shadow_find(s, e->pid);

		if (!prev->smp.on_rq || prev->smp.cpu != e->cpu) {	/* missed its wakeup or move */
			rs_smp_dequeue(a->smp, &prev->smp, false);
			rs_smp_enqueue(a->smp, e->cpu, &prev->smp, RS_SMP_MOVES);
		}
		if (c->curr != &prev->smp)
			rs_smp_run(a->smp, e->cpu, &prev->smp);
		if (!resched_state_runnable(e->sw.prev_state)) {
			if (t && t->fair.delayed)
				rs_smp_delay(a->smp, &prev->smp, true);
			else
				rs_smp_dequeue(a->smp, &prev->smp, true);
		}
	}
	reap(a, s, e->cpu);
	if (next) {
		if (next->smp.delayed)
			rs_smp_delay(a->smp, &next->smp, false);
		if (next->smp.on_rq)
			move(a, next, e->cpu);
		else
			rs_smp_enqueue(a->smp, e->cpu, &next->smp, RS_SMP_WAKES);
	}
	if (!next && !c->nr_running)
		rs_smp_newidle(a->smp, e->cpu);
	if (next)
		follow_group(a, s, next);
	rs_smp_run(a->smp, e->cpu, next ? &next->smp : NULL);
	if (prev && e->sw.prev_state & (RESCHED_STATE_X | RESCHED_STATE_Z))
		rs_smp_dead(a->smp, &prev->smp);	/* by whoever runs next: finish_task_switch() */
	if (!e->pid || !e->sw.next_pid)
		a->changed_ns[e->cpu] = e->ts_ns;
	return 0;
}

/* Ticks of busy cpus keep the loads and the scan's budget up to date. */
static void ticks(struct rs_agree *a, uint64_t until_ns)
{
	while (a->next_tick_ns <= until_ns) {
		a->smp->now_ns = a->next_tick_ns;
		for (unsigned int cpu = 0; cpu < a->nr_cpus; cpu++) {
			if (a->smp->cpus[cpu].curr)
				rs_smp_tick(a->smp, cpu);
		}
		a->next_tick_ns += a->smp->jiffy_ns;
	}
}

int rs_agree_event(struct rs_agree *a, const struct rs_shadow *s, const struct resched_event *e, bool before)
{
	struct follower *f;

	if (e->cpu >= a->nr_cpus)
		return 0;
	if (before)
		ticks(a, e->ts_ns);
	if (e->ts_ns > a->smp->now_ns)
		a->smp->now_ns = e->ts_ns;
	if (before) {
		if (e->type == RESCHED_EV_WAKING)
			ask(a, s, e);
		return 0;
	}
	switch (e->type) {
	case RESCHED_EV_WAKEUP:
		woken(a, s, e, RS_SMP_WAKES);
		break;
	case RESCHED_EV_WAKEUP_NEW:
		woken(a, s, e, RS_SMP_NEW);
		break;
	case RESCHED_EV_MIGRATE:
		f = find(a, e->pid, e->migrate.prio, e->migrate.from_cpu);
		if (!f)
			return -ENOMEM;
		move(a, f, e->migrate.to_cpu);
		break;
	case RESCHED_EV_SWITCH:
		return switched(a, s, e);
	default:
		break;
	}
	return 0;
}
