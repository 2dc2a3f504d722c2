// SPDX-License-Identifier: GPL-2.0-only
/* Where a waking task goes. Kernel: select_task_rq_fair(), wake_affine(), select_idle_sibling() in kernel/sched/fair.c. */
#include "replay/smp.h"

#include <string.h>

#define SECOND_NS 1000000000ull
#define NO_CPU UINT32_MAX
#define NO_LIMIT UINT32_MAX

/* ---- waker and wakee ---- */

static void record_wakee(const struct rs_smp *s, struct rs_smp_task *waker, const struct rs_smp_task *t)
{
	if (s->now_ns > waker->flips_decay_ns + SECOND_NS) {
		waker->flips /= 2;
		waker->flips_decay_ns = s->now_ns;
	}
	if (waker->last_wakee != t) {
		waker->last_wakee = t;
		waker->flips++;
	}
}

bool rs_smp_wide(uint32_t waker_flips, uint32_t wakee_flips, unsigned int llc_size)
{
	uint32_t more = waker_flips > wakee_flips ? waker_flips : wakee_flips;
	uint32_t less = waker_flips > wakee_flips ? wakee_flips : waker_flips;

	return less >= llc_size && more >= (uint64_t)less * llc_size;
}

/* Return: @by, @prev, or NO_CPU for undecided. Kernel: wake_affine_idle(). */
static unsigned int affine_idle(const struct rs_smp *s, unsigned int by, unsigned int prev, bool sync)
{
	const struct rs_smp_cpu *c = &s->cpus[by];

	if (rs_smp_idle(s, by) && rs_smp_share(s, by, prev))
		return rs_smp_idle(s, prev) ? prev : by;
	if (sync && (s->is_612 ? c->nr_running - c->nr_delayed : c->nr_running) == 1)
		return by;
	return rs_smp_idle(s, prev) ? prev : NO_CPU;
}

/* Kernel: wake_affine_weight() */
static unsigned int affine_weight(const struct rs_smp *s, const struct rs_smp_task *t, const struct rs_smp_task *waker, unsigned int by,
				  unsigned int prev, unsigned int pct, bool sync)
{
	int64_t here = (int64_t)s->cpus[by].avg.load_avg, there = (int64_t)s->cpus[prev].avg.load_avg;
	int64_t task = (int64_t)rs_smp_task_load(t);

	if (sync) {
		int64_t mine = (int64_t)rs_smp_task_load(waker);

		if (mine > here)
			return by;
		here -= mine;
	}
	here += task;
	if (s->opts.wa_bias)
		here *= 100;
	here *= s->cpus[prev].capacity;
	there -= task;
	if (s->opts.wa_bias)
		there *= 100 + (pct - 100) / 2;
	there *= s->cpus[by].capacity;
	if (sync)
		there++;
	return here < there ? by : prev;
}

unsigned int rs_smp_affine(const struct rs_smp *s, const struct rs_smp_task *t, const struct rs_smp_task *waker, unsigned int by,
			   unsigned int prev, unsigned int imbalance_pct, bool sync)
{
	unsigned int target = s->opts.wa_idle ? affine_idle(s, by, prev, sync) : NO_CPU;

	if (target == NO_CPU && s->opts.wa_weight)
		target = affine_weight(s, t, waker, by, prev, imbalance_pct, sync);
	return target == NO_CPU ? prev : target;
}

/* ---- the scan for an idle cpu ---- */

unsigned int rs_smp_prop_budget(unsigned int weight, uint64_t avg_idle_ns, uint64_t scan_cost_ns)
{
	uint64_t cost = scan_cost_ns + 1, span = weight * avg_idle_ns, n = span > 4 * cost ? span / cost : 4;

	return n > NO_LIMIT ? NO_LIMIT : (unsigned int)n - 1;
}

unsigned int rs_smp_util_budget(unsigned int weight, uint64_t sum_util, unsigned int pct)
{
	uint64_t x = sum_util / weight, less = x * x * pct * pct / (10000ull * 1024);

	return (unsigned int)((1024 - (less < 1024 ? less : 1024)) * weight / 1024);
}

struct scan {
	struct rs_smp_task *task;
	uint64_t *cand;			/* cpus not yet looked at */
	const struct rs_span *span;
	unsigned int target, budget, found_idle;	/* found_idle: a lone idle thread */
	bool cores;			/* look for idle cores */
};

static bool is_cand(const struct scan *scan, unsigned int cpu)
{
	return (scan->cand[cpu / 64] >> (cpu % 64)) & 1;
}

static void drop_cand(const struct scan *scan, unsigned int cpu)
{
	scan->cand[cpu / 64] &= ~(1ull << (cpu % 64));
}

/* Kernel: select_idle_core() */
static bool check_core(const struct rs_smp *s, struct scan *scan, unsigned int cpu)
{
	const struct rs_span *smt = &s->d->smt[cpu];
	bool idle = true;

	for (unsigned int i = 0; i < smt->nr; i++) {
		unsigned int sibling = smt->cpus[i];

		if (!rs_smp_idle(s, sibling)) {
			idle = false;
			if (scan->found_idle != NO_CPU)
				break;
			if (!rs_smp_only_idle_policy(s, sibling) || !is_cand(scan, sibling))
				continue;
			scan->found_idle = sibling;
			break;
		}
		if (scan->found_idle == NO_CPU && is_cand(scan, sibling))
			scan->found_idle = sibling;
	}
	if (idle)
		return true;
	for (unsigned int i = 0; i < smt->nr; i++)
		drop_cand(scan, smt->cpus[i]);
	return false;
}

/* The candidates of @span in ascending order from the target's successor on. Return: a cpu; NO_CPU, with *@ret_stop when the budget ended. */
static unsigned int scan_span(struct rs_smp *s, struct scan *scan, const struct rs_span *span, unsigned int from, bool *ret_stop)
{
	*ret_stop = false;
	for (unsigned int i = 0; i < span->nr; i++) {
		unsigned int cpu = span->cpus[from + i < span->nr ? from + i : from + i - span->nr];

		if (!is_cand(scan, cpu))
			continue;
		s->nr_probes++;
		if (scan->cores) {
			if (check_core(s, scan, cpu))
				return cpu;
			continue;
		}
		if (!scan->budget) {
			*ret_stop = true;
			return NO_CPU;
		}
		if (scan->budget != NO_LIMIT)
			scan->budget--;
		if (rs_smp_is_free(s, cpu))
			return cpu;
	}
	return NO_CPU;
}

/* SIS_FILTER (posted patch, v3): leave out cpus known to have several tasks. Return: false to give up. */
static bool filter(const struct rs_smp *s, struct scan *scan, struct rs_smp_llc *llc)
{
	unsigned int over = llc->nr_over, nr = 0, size = scan->span->nr;

	if (over == size) {
		if (scan->cores)
			llc->has_idle_cores = false;
		return false;
	}
	for (unsigned int i = 0; i < size; i++)
		nr += rs_smp_allowed(scan->task, scan->span->cpus[i]);
	if (size - over < nr / 16 && !scan->cores)
		return false;
	for (unsigned int i = 0; over > 1 && i < size; i++) {
		if (s->cpus[scan->span->cpus[i]].over)
			drop_cand(scan, scan->span->cpus[i]);
	}
	return true;
}

/* First cpu of @span after @cpu. */
static unsigned int after(const struct rs_span *span, unsigned int cpu)
{
	unsigned int i = 0;

	while (i < span->nr && span->cpus[i] <= cpu)
		i++;
	return i < span->nr ? i : 0;
}

static void set_budget(struct rs_smp *s, struct scan *scan, struct rs_smp_llc *llc, unsigned int by)
{
	scan->budget = NO_LIMIT;
	if (s->opts.sis_prop && !scan->cores)
		scan->budget = rs_smp_prop_budget(scan->span->nr, s->cpus[by].wake_avg_idle_ns, rs_smp_llc(s, by)->scan_cost_ns);
	if (s->opts.sis_util)
		scan->budget = llc->nr_idle_scan;
}

/* What the scan cost, for SIS_PROP. */
static void note_cost(struct rs_smp *s, unsigned int by, unsigned int probes)
{
	struct rs_smp_llc *llc = rs_smp_llc(s, by);
	struct rs_smp_cpu *c = &s->cpus[by];
	uint64_t cost = probes * s->opts.probe_ns;

	c->wake_avg_idle_ns -= c->wake_avg_idle_ns < cost ? c->wake_avg_idle_ns : cost;
	llc->scan_cost_ns = (uint64_t)((int64_t)llc->scan_cost_ns + ((int64_t)cost - (int64_t)llc->scan_cost_ns) / 8);
}

/* Kernel: select_idle_cpu() */
static unsigned int scan_llc(struct rs_smp *s, struct rs_smp_task *t, unsigned int target, unsigned int by, bool cores)
{
	struct rs_smp_llc *llc = rs_smp_llc(s, target);
	const struct rs_span *span = &rs_domain_at(s->d, target, s->d->chains[target].llc)->shape->span;
	struct scan scan = { .task = t, .cand = s->scratch, .span = span, .target = target, .found_idle = NO_CPU, .cores = cores };
	unsigned int found = NO_CPU, before;
	bool stop = false;

	s->nr_scans++;
	set_budget(s, &scan, llc, by);
	if (s->opts.sis_util && !scan.budget)
		return NO_CPU;
	for (unsigned int i = 0; i < s->d->nr_words; i++)
		scan.cand[i] = span->bits[i] & (t->allowed ? t->allowed[i] : UINT64_MAX);
	if (s->opts.sis_filter && !filter(s, &scan, llc))
		return NO_CPU;
	before = scan.budget;
	if (s->is_612 && s->d->cluster_active && s->d->chains[target].cluster >= 0) {
		const struct rs_span *cluster = &rs_domain_at(s->d, target, s->d->chains[target].cluster)->shape->span;

		found = scan_span(s, &scan, cluster, after(cluster, target), &stop);
		for (unsigned int i = 0; i < cluster->nr; i++)
			drop_cand(&scan, cluster->cpus[i]);
	}
	if (found == NO_CPU && !stop)
		found = scan_span(s, &scan, span, s->llc_pos[target] + 1 < span->nr ? s->llc_pos[target] + 1 : 0, &stop);
	if (s->opts.sis_prop && !cores && before != NO_LIMIT)
		note_cost(s, by, before - scan.budget);
	if (found != NO_CPU || stop)
		return found;
	if (cores)
		llc->has_idle_cores = false;
	return scan.found_idle;
}

/* ---- asymmetric capacities ---- */

/* Kernel: select_idle_capacity() */
static unsigned int scan_capacity(const struct rs_smp *s, const struct rs_smp_task *t, unsigned int target)
{
	const struct rs_span *span = &rs_domain_at(s->d, target, s->d->chains[target].asym)->shape->span;
	unsigned int best = NO_CPU, from = after(span, target);
	uint32_t util = rs_smp_task_util(s, t);

	if (rs_span_has(span, target))
		from = from ? from - 1 : span->nr - 1;	/* the target itself comes first */
	for (unsigned int i = 0; i < span->nr; i++) {
		unsigned int cpu = span->cpus[(from + i) % span->nr];

		if (!rs_smp_allowed(t, cpu) || !rs_smp_is_free(s, cpu))
			continue;
		if (rs_smp_fits(util, s->cpus[cpu].capacity))
			return cpu;
		if (best == NO_CPU || s->cpus[cpu].capacity > s->cpus[best].capacity)
			best = cpu;
	}
	return best;
}

static bool asym_fits(const struct rs_smp *s, const struct rs_smp_task *t, unsigned int cpu)
{
	return !s->d->asym || rs_smp_fits(rs_smp_task_util(s, t), s->cpus[cpu].capacity);
}

/* ---- select_idle_sibling() ---- */

static bool takes(const struct rs_smp *s, const struct rs_smp_task *t, unsigned int cpu)
{
	return rs_smp_is_free(s, cpu) && asym_fits(s, t, cpu);
}

/* 6.12: shortcuts hold at once only within the cluster; others are remembered. */
static bool shortcut(const struct rs_smp *s, unsigned int cpu, unsigned int target)
{
	return !s->is_612 || !s->d->cluster_active || s->d->share_of[cpu] == s->d->share_of[target];
}

/* Kernel: select_idle_smt() */
static unsigned int idle_thread(const struct rs_smp *s, const struct rs_smp_task *t, unsigned int prev, unsigned int target)
{
	const struct rs_span *smt = &s->d->smt[prev];

	for (unsigned int i = 0; i < smt->nr; i++) {
		unsigned int cpu = smt->cpus[i];

		if (cpu != prev && rs_smp_allowed(t, cpu) && rs_smp_share(s, cpu, target) && rs_smp_is_free(s, cpu))
			return cpu;
	}
	return NO_CPU;
}

static bool stacks_on_kworker(const struct rs_smp *s, const struct rs_smp_task *t, unsigned int prev, unsigned int by, bool irq)
{
	const struct rs_smp_task *waker = s->cpus[by].curr;

	return waker && waker->percpu_kthread && !irq && prev == by && s->cpus[by].nr_running <= 1 && asym_fits(s, t, prev);
}

unsigned int rs_smp_sibling(struct rs_smp *s, struct rs_smp_task *t, unsigned int prev, unsigned int target, unsigned int by, bool irq)
{
	unsigned int recent, found, aff_prev = NO_CPU, aff_recent = NO_CPU;
	bool cores = false;

	if (takes(s, t, target))
		return target;
	if (prev != target && rs_smp_share(s, prev, target) && takes(s, t, prev)) {
		if (shortcut(s, prev, target))
			return prev;
		aff_prev = prev;
	}
	if (stacks_on_kworker(s, t, prev, by, irq))
		return prev;
	recent = t->recent;
	t->recent = prev;
	if (recent != prev && recent != target && rs_smp_share(s, recent, target) && rs_smp_allowed(t, recent) && takes(s, t, recent)) {
		if (shortcut(s, recent, target))
			return recent;
		aff_recent = recent;
	}
	if (s->d->asym && s->d->chains[target].asym >= 0) {
		found = scan_capacity(s, t, target);
		return found == NO_CPU ? target : found;
	}
	if (s->d->chains[target].llc < 0)
		return target;
	if (s->d->has_smt) {
		cores = rs_smp_llc(s, target)->has_idle_cores;
		found = !cores && rs_smp_share(s, prev, target) ? idle_thread(s, t, prev, target) : NO_CPU;
		if (found != NO_CPU)
			return found;
	}
	found = scan_llc(s, t, target, by, cores);
	if (found != NO_CPU)
		return found;
	if (aff_prev != NO_CPU)
		return aff_prev;
	return aff_recent == NO_CPU ? target : aff_recent;
}

/* ---- the whole ---- */

/* The chosen cpu is not allowed: idleness plays no part any more. Kernel: select_fallback_rq(). */
static unsigned int fallback(const struct rs_smp *s, const struct rs_smp_task *t)
{
	const struct rs_span *active = &s->d->active;

	for (unsigned int i = 0; i < active->nr; i++) {
		if (rs_smp_allowed(t, active->cpus[i]) && s->d->node_of[active->cpus[i]] == s->d->node_of[t->cpu])
			return active->cpus[i];
	}
	for (unsigned int cpu = 0; cpu < s->d->nr_cpus; cpu++) {
		if (rs_smp_allowed(t, cpu) && s->cpus[cpu].active)
			return cpu;
	}
	return active->nr ? active->cpus[0] : t->cpu;
}

unsigned int rs_smp_wake(struct rs_smp *s, struct rs_smp_task *t, unsigned int by, bool sync, bool irq)
{
	const struct rs_domain_chain *chain = &s->d->chains[by];
	struct rs_smp_task *waker = s->cpus[by].curr ? s->cpus[by].curr : &s->cpus[by].swapper;
	unsigned int prev = t->cpu, target = prev;
	bool affine;

	if (t->only_cpu >= 0)
		return (unsigned int)t->only_cpu;
	if (!t->fair)	/* real-time tasks stay unless better placed, which is not modelled */
		return rs_smp_allowed(t, prev) ? prev : fallback(s, t);
	record_wakee(s, waker, t);
	if (rs_smp_has_energy(s) && !s->overutilized) {
		unsigned int cheapest = rs_smp_energy(s, t, by, prev);

		if (cheapest != NO_CPU)
			return rs_smp_allowed(t, cheapest) ? cheapest : fallback(s, t);
	}
	affine = !rs_smp_wide(waker->flips, t->flips, rs_smp_llc(s, by)->size) && rs_smp_allowed(t, by);
	for (unsigned int i = 0; affine && i < chain->nr; i++) {
		const struct rs_domain_shape *shape = chain->levels[i].shape;

		if (!(shape->info.flags & RESCHED_SD_WAKE_AFFINE) || !rs_span_has(&shape->span, prev))
			continue;
		if (by != prev)
			target = rs_smp_affine(s, t, waker, by, prev, shape->info.imbalance_pct, sync);
		break;
	}
	target = rs_smp_sibling(s, t, prev, target, by, irq);
	return rs_smp_allowed(t, target) ? target : fallback(s, t);
}
