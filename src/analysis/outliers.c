// SPDX-License-Identifier: GPL-2.0-only
/* Watches an analysis, remembers who ran where lately, and keeps the worst waits with what surrounded them. */
#include "analysis/outliers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define DEFAULT_TOP 20u
#define DEFAULT_TICK_NS 4000000u	/* where the recording does not tell HZ */

bool ol_longer(const struct resched_outlier *a, const struct resched_outlier *b)
{
	if (a->latency_ns != b->latency_ns)
		return a->latency_ns > b->latency_ns;
	return a->wake_ns != b->wake_ns ? a->wake_ns < b->wake_ns : a->pid < b->pid;
}

/* ---- what ran where ---- */

static struct ol_cpu *cpu_of(struct resched_outliers *o, unsigned int cpu)
{
	if (cpu >= o->nr_cpus) {
		uint32_t nr = cpu + 1 < 8 ? 8 : cpu + 1;
		struct ol_cpu *more = realloc(o->cpus, nr * sizeof(*more));

		if (!more)
			return NULL;
		memset(more + o->nr_cpus, 0, (nr - o->nr_cpus) * sizeof(*more));
		o->cpus = more;
		o->nr_cpus = nr;
	}
	return &o->cpus[cpu];
}

static struct ol_span *span_at(const struct ol_cpu *c, uint64_t nr)
{
	return &c->spans[nr & (c->cap - 1)];
}

/* Number of the oldest span still known. */
static uint64_t oldest(const struct ol_cpu *c)
{
	return c->nr > c->cap ? c->nr - c->cap : 0;
}

static int push_span(struct resched_outliers *o, unsigned int cpu, const struct ol_span *span)
{
	struct ol_cpu *c = cpu_of(o, cpu);

	if (!c)
		return -ENOMEM;
	if (c->nr == c->cap && c->cap < OL_MAX_SPANS) {	/* not wrapped yet: the order in memory stays */
		uint32_t cap = c->cap ? c->cap * 2 : 64;
		struct ol_span *more = realloc(c->spans, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		c->spans = more;
		c->cap = cap;
	}
	*span_at(c, c->nr++) = *span;
	return 0;
}

/* The first span that ends after @from, as its number; c->nr when there is none. */
static uint64_t first_span(const struct ol_cpu *c, uint64_t from)
{
	uint64_t lo = oldest(c), hi = c->nr;

	while (lo < hi) {	/* first span that begins after @from */
		uint64_t mid = lo + (hi - lo) / 2;

		if (span_at(c, mid)->since_ns > from)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo > oldest(c) ? lo - 1 : lo;
}

/* ---- interrupts ---- */

/* How long interrupts have run on a cpu so far. */
static uint64_t irq_total(const struct resched_outliers *o, unsigned int cpu, uint64_t now)
{
	const struct ol_cpu *c = cpu < o->nr_cpus ? &o->cpus[cpu] : NULL;

	return !c ? 0 : c->irq_ns + (c->in_irq ? now - c->irq_since_ns : 0);
}

static int on_irq(struct resched_outliers *o, const struct resched_event *ev)
{
	struct ol_cpu *c = cpu_of(o, ev->cpu);
	unsigned int bit = ev->irq.soft ? 1 : 2;

	if (!c)
		return -ENOMEM;
	if (ev->irq.entry && !c->in_irq)
		c->irq_since_ns = ev->ts_ns;
	if (!ev->irq.entry && c->in_irq == bit)
		c->irq_ns += ev->ts_ns - c->irq_since_ns;
	c->in_irq = ev->irq.entry ? c->in_irq | bit : c->in_irq & ~bit;
	return 0;
}

/* No interrupt lasts over a switch or a gap: its end was not recorded, and its time is not known. */
static void end_irqs(struct resched_outliers *o, unsigned int cpu)
{
	if (cpu < o->nr_cpus)
		o->cpus[cpu].in_irq = 0;
}

/* ---- tasks ---- */

static struct ol_task *task_of(struct resched_outliers *o, int32_t pid)
{
	uint32_t row = rs_map_get(&o->by_pid, (uint32_t)pid);
	struct ol_task *t;

	if (row != RS_MAP_NONE)
		return &o->tasks[row];
	if (o->nr_tasks == o->cap_tasks) {
		uint32_t cap = o->cap_tasks ? o->cap_tasks * 2 : 64;
		struct ol_task *more = realloc(o->tasks, cap * sizeof(*more));

		if (!more)
			return NULL;
		o->tasks = more;
		o->cap_tasks = cap;
	}
	if (rs_map_set(&o->by_pid, (uint32_t)pid, o->nr_tasks) < 0)
		return NULL;
	t = &o->tasks[o->nr_tasks++];
	memset(t, 0, sizeof(*t));
	t->pid = pid;
	return t;
}

static enum an_state state_of(const struct resched_analysis *an, int32_t pid)
{
	uint32_t row = rs_map_get(&an->by_pid, (uint32_t)pid);

	return row == RS_MAP_NONE ? AN_UNSEEN : (enum an_state)an->tasks[row].state;
}

static void begin_wait(const struct resched_outliers *o, struct ol_task *t, unsigned int cpu, uint64_t now, bool placed)
{
	t->segments[0] = (struct ol_segment){ now, (uint16_t)cpu };
	t->nr_segments = 1;
	t->placed = placed;
	t->moves = 0;
	t->irq_ns = 0;
	t->irq_from_ns = irq_total(o, cpu, now);
}

/* It waits on @cpu from now on. Before it was put on a queue for the first time, that only says which. */
static void move_wait(const struct resched_outliers *o, struct ol_task *t, unsigned int cpu, uint64_t now)
{
	unsigned int from = t->nr_segments ? t->segments[t->nr_segments - 1].cpu : cpu;

	if (from == cpu)
		return;
	t->irq_ns += t->placed ? irq_total(o, from, now) - t->irq_from_ns : 0;
	t->irq_from_ns = irq_total(o, cpu, now);
	if (!t->placed) {
		t->segments[0].cpu = (uint16_t)cpu;
		return;
	}
	t->moves++;
	if (t->nr_segments < OL_SEGMENTS)
		t->segments[t->nr_segments++] = (struct ol_segment){ now, (uint16_t)cpu };
	else
		t->segments[OL_SEGMENTS - 1].cpu = (uint16_t)cpu;
}

static int on_wake(struct resched_outliers *o, const struct resched_event *ev)
{
	enum an_state state = state_of(o->an, ev->pid);
	struct ol_task *t;
	bool first = ev->type != RESCHED_EV_WAKEUP || o->an->source == AN_SOURCE_WAKEUP;

	if (!ev->pid)
		return 0;
	t = task_of(o, ev->pid);
	if (!t)
		return -ENOMEM;
	if (first && state != AN_QUEUED) {
		t->wakers[t->nr_wakers++ % OL_WAKERS] = (struct ol_waker){ ev->ts_ns, ev->wake.waker_pid, ev->cpu,
				(ev->ctx & (RESCHED_CTX_HARDIRQ | RESCHED_CTX_SOFTIRQ)) != 0 };
		t->wake_nr++;
		if (state != AN_RUNNING)
			begin_wait(o, t, ev->wake.target_cpu, ev->ts_ns, ev->type != RESCHED_EV_WAKING);
		t->new = ev->type == RESCHED_EV_WAKEUP_NEW;
	} else if (ev->type == RESCHED_EV_WAKEUP && state == AN_QUEUED) {
		move_wait(o, t, ev->wake.target_cpu, ev->ts_ns);
		t->placed = true;
	}
	return 0;
}

static int on_switch(struct resched_outliers *o, const struct resched_event *ev)
{
	struct ol_span span = { ev->ts_ns, ev->sw.next_pid, ev->sw.next_prio, true };
	struct ol_task *t;

	o->last_switch = *ev;
	end_irqs(o, ev->cpu);
	if (ev->pid) {
		t = task_of(o, ev->pid);
		if (!t)
			return -ENOMEM;
		if (t->running)
			t->demand_ns += ev->ts_ns - t->ran_since_ns;
		t->running = false;
		t->new = false;
		begin_wait(o, t, ev->cpu, ev->ts_ns, true);
	}
	if (ev->sw.next_pid) {
		t = task_of(o, ev->sw.next_pid);
		if (!t)
			return -ENOMEM;
		t->running = true;
		t->ran_since_ns = ev->ts_ns;
	}
	return push_span(o, ev->cpu, &span);
}

static int on_event(void *ctx, const struct resched_event *ev)
{
	struct resched_outliers *o = ctx;
	struct ol_task *t;

	switch (ev->type) {
	case RESCHED_EV_SWITCH:
		return on_switch(o, ev);
	case RESCHED_EV_WAKING:
	case RESCHED_EV_WAKEUP:
	case RESCHED_EV_WAKEUP_NEW:
		return on_wake(o, ev);
	case RESCHED_EV_MIGRATE:
		t = task_of(o, ev->pid);
		if (!t)
			return -ENOMEM;
		if (state_of(o->an, ev->pid) == AN_QUEUED)
			move_wait(o, t, ev->migrate.to_cpu, ev->ts_ns);
		return 0;
	case RESCHED_EV_FORK:
		t = task_of(o, ev->fork.child_pid);
		if (!t)
			return -ENOMEM;
		memset(t, 0, sizeof(*t));	/* a pid used again is somebody else */
		t->pid = ev->fork.child_pid;
		return 0;
	case RESCHED_EV_IRQ:
		return on_irq(o, ev);
	case RESCHED_EV_LOST:
		end_irqs(o, ev->cpu);
		return push_span(o, ev->cpu, &(struct ol_span){ ev->ts_ns, 0, 0, false });
	default:
		return 0;
	}
}

/* ---- one wait ---- */

static void name_of(const struct resched_outliers *o, int32_t pid, char *buf, size_t size)
{
	uint32_t row = rs_map_get(&o->an->by_pid, (uint32_t)pid);
	char unnamed[16];

	if (!pid)
		snprintf(buf, size, "idle");
	else if (row == RS_MAP_NONE)
		snprintf(buf, size, ":%d", pid);
	else
		snprintf(buf, size, "%s", an_name(o->an, &o->an->tasks[row], unnamed, sizeof(unnamed)));
}

static void add_ran(struct ol_facts *f, const struct ol_span *span, uint64_t ns, bool whole)
{
	struct ol_ran *r = NULL;

	for (unsigned int i = 0; i < f->nr_ran && !r; i++) {
		if (f->ran[i].pid == span->pid)
			r = &f->ran[i];
	}
	if (!r && f->nr_ran < OL_MAX_RAN) {
		r = &f->ran[f->nr_ran++];
		*r = (struct ol_ran){ .pid = span->pid, .prio = span->prio };
	}
	if (!r) {
		f->o->blame_other_ns += ns;
		return;
	}
	r->prio = span->prio;
	r->ns += ns;
	if (ns > r->longest_ns)
		r->longest_ns = ns;
	r->from_the_start |= whole;
}

/* Who ran on the cpu of one segment from @from to @to. */
static void add_segment(const struct resched_outliers *o, struct ol_facts *f, unsigned int cpu, uint64_t from, uint64_t to)
{
	const struct ol_cpu *c = cpu < o->nr_cpus ? &o->cpus[cpu] : NULL;
	uint64_t known = from;

	if (!c || !c->nr) {
		f->o->unknown_ns += to - from;
		return;
	}
	for (uint64_t i = first_span(c, from); i < c->nr && span_at(c, i)->since_ns < to; i++) {
		const struct ol_span *s = span_at(c, i);
		uint64_t start = s->since_ns > from ? s->since_ns : from;
		uint64_t end = i + 1 < c->nr && span_at(c, i + 1)->since_ns < to ? span_at(c, i + 1)->since_ns : to;

		if (start > known)
			f->o->unknown_ns += start - known;
		known = end;
		if (end <= start || s->pid == f->o->pid)
			continue;
		if (!s->known)
			f->o->unknown_ns += end - start;
		else if (!s->pid)
			f->o->idle_ns += end - start;
		else
			add_ran(f, s, end - start, s->since_ns <= from);
	}
	if (known < to)
		f->o->unknown_ns += to - known;
}

static bool allowed_on(const struct rs_cpuset *allowed, unsigned int cpu)
{
	return !allowed || rs_cpuset_has(allowed, cpu);
}

/* Idle time of the other cpus the task may use. */
static void look_elsewhere(const struct resched_outliers *o, struct ol_facts *f, const struct rs_cpuset *allowed)
{
	struct resched_outlier *out = f->o;

	for (unsigned int cpu = 0; cpu < o->nr_cpus; cpu++) {
		const struct ol_cpu *c = &o->cpus[cpu];
		uint64_t idle = 0;
		bool at_start = false;

		if (!c->nr || cpu == out->queued_cpu || !allowed_on(allowed, cpu))
			continue;
		for (uint64_t i = first_span(c, out->wake_ns); i < c->nr && span_at(c, i)->since_ns < out->run_ns; i++) {
			const struct ol_span *s = span_at(c, i);
			uint64_t start = s->since_ns > out->wake_ns ? s->since_ns : out->wake_ns;
			uint64_t end = i + 1 < c->nr && span_at(c, i + 1)->since_ns < out->run_ns ? span_at(c, i + 1)->since_ns :
				       out->run_ns;

			if (!s->known || s->pid || end <= start)
				continue;
			idle += end - start;
			at_start |= s->since_ns <= out->wake_ns;
		}
		out->idle_cpus += at_start;
		if (idle > out->idle_elsewhere_ns) {
			out->idle_elsewhere_ns = idle;
			f->idle_cpu = cpu;
		}
	}
}

/* From waker to waker's waker, as far as they were seen; each link is earlier than the one before. */
static void chain_wakers(const struct resched_outliers *o, struct resched_outlier *out)
{
	uint64_t before = out->wake_ns;
	int32_t pid = out->pid;

	while (out->nr_wakers < RESCHED_MAX_WAKERS) {
		uint32_t row = rs_map_get(&o->by_pid, (uint32_t)pid);
		const struct ol_waker *found = NULL;
		struct resched_waker *w;

		if (row == RS_MAP_NONE)
			return;
		for (unsigned int i = 0; i < OL_WAKERS && i < o->tasks[row].nr_wakers; i++) {
			const struct ol_waker *k = &o->tasks[row].wakers[i];

			if (k->at_ns <= before && (!found || k->at_ns > found->at_ns))
				found = k;
		}
		if (!found || (out->nr_wakers == 0 && found->at_ns != out->wake_ns))
			return;
		w = &out->wakers[out->nr_wakers++];
		w->pid = found->pid;
		w->interrupt = found->interrupt || !found->pid;
		w->cpu = found->cpu;
		w->at_ns = found->at_ns;
		name_of(o, found->pid, w->comm, sizeof(w->comm));
		if (w->interrupt || found->pid == pid || found->at_ns == 0)
			return;
		before = found->at_ns - 1;
		pid = found->pid;
	}
}

static int compare_ran(const void *pa, const void *pb)
{
	const struct ol_ran *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	return (a->pid > b->pid) - (a->pid < b->pid);
}

static void sum_up(const struct resched_outliers *o, struct ol_facts *f)
{
	qsort(f->ran, f->nr_ran, sizeof(f->ran[0]), compare_ran);
	f->o->nr_tasks_ran = f->nr_ran;
	for (unsigned int i = 0; i < f->nr_ran; i++) {
		struct ol_ran *r = &f->ran[i];
		char comm[RESCHED_COMM_LEN];

		name_of(o, r->pid, comm, sizeof(comm));
		r->to_the_end = r->pid == f->left_pid;
		if (!strncmp(comm, "migration/", 10))
			f->stop_ns += r->ns;
		else if (r->prio < 100)
			f->rt_ns += r->ns;
		else if (ol_is_kthread(f->host, r->pid, comm))
			f->kthread_ns += r->ns;
		else
			f->fair_ns += r->ns;
		if (i < RESCHED_MAX_BLAME) {
			struct resched_blame *b = &f->o->blame[f->o->nr_blame++];

			*b = (struct resched_blame){ .pid = r->pid, .prio = r->prio, .ns = r->ns };
			memcpy(b->comm, comm, sizeof(b->comm));
		} else {
			f->o->blame_other_ns += r->ns;
		}
	}
}

static void examine(const struct resched_outliers *o, const struct an_task *task, const struct ol_task *t, struct resched_outlier *out)
{
	const struct resched_host_task *known = o->an->opts.host && task->birth == 0 ? resched_host_task(o->an->opts.host, task->pid) : NULL;
	struct rs_cpuset allowed;
	bool limited = known && known->affinity && rs_cpulist_parse(known->affinity, &allowed) == 0;
	struct ol_facts f = { .o = out, .task = task, .host = o->an->opts.host, .tick_ns = o->tick_ns, .new_task = t->new,
			      .left_pid = o->last_switch.pid, .left_state = o->last_switch.sw.prev_state };

	for (unsigned int i = 0; i < t->nr_segments; i++) {
		uint64_t from = t->segments[i].since_ns > out->wake_ns ? t->segments[i].since_ns : out->wake_ns;
		uint64_t to = i + 1u < t->nr_segments ? t->segments[i + 1].since_ns : out->run_ns;

		if (to > from)
			add_segment(o, &f, t->segments[i].cpu, from, to);
	}
	if (t->nr_segments)
		f.irq_ns = t->irq_ns + irq_total(o, t->segments[t->nr_segments - 1].cpu, out->run_ns) - t->irq_from_ns;
	sum_up(o, &f);
	look_elsewhere(o, &f, limited ? &allowed : NULL);
	if (out->kind != RESCHED_WAIT_PREEMPTED)
		chain_wakers(o, out);
	ol_judge(&f);
}

/* ---- the heap ---- */

static void sift_down(struct resched_outlier *heap, unsigned int nr, unsigned int at)
{
	struct resched_outlier moved = heap[at];

	for (;;) {
		unsigned int child = 2 * at + 1;

		if (child >= nr)
			break;
		if (child + 1 < nr && ol_longer(&heap[child], &heap[child + 1]))
			child++;
		if (ol_longer(&heap[child], &moved))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moved;
}

static void sift_up(struct resched_outlier *heap, unsigned int at)
{
	struct resched_outlier moved = heap[at];

	while (at && ol_longer(&heap[(at - 1) / 2], &moved)) {
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap[at] = moved;
}

static void keep(struct resched_outliers *o, const struct resched_outlier *out)
{
	if (o->nr < o->top) {
		o->heap[o->nr] = *out;
		sift_up(o->heap, o->nr++);
	} else {
		o->heap[0] = *out;
		sift_down(o->heap, o->nr, 0);
	}
}

/* Few: kept sorted, the longest first. */
static void keep_gap(struct resched_outliers *o, const struct resched_outlier *out)
{
	unsigned int at = o->nr_gaps < OL_GAPS ? o->nr_gaps++ : OL_GAPS - 1;

	for (; at && ol_longer(out, &o->gaps[at - 1]); at--)
		o->gaps[at] = o->gaps[at - 1];
	o->gaps[at] = *out;
}

static bool wanted(const struct resched_outliers *o, const struct resched_outlier *out)
{
	if (!(o->kinds >> out->kind & 1) || out->latency_ns <= o->over_ns)
		return false;
	if (out->touches_gap)
		return o->nr_gaps < OL_GAPS || ol_longer(out, &o->gaps[OL_GAPS - 1]);
	return o->nr < o->top || ol_longer(out, &o->heap[0]);
}

static int on_wait(void *ctx, const struct an_task *task, unsigned int cpu, uint64_t now, bool resolved)
{
	struct resched_outliers *o = ctx;
	struct resched_outlier out;
	struct ol_task *t;

	/* the cheap part first: most waits end here */
	if (now <= task->since_ns || now - task->since_ns <= o->over_ns ||
	    (resolved && o->nr == o->top && now - task->since_ns < o->heap[0].latency_ns))
		return 0;
	memset(&out, 0, sizeof(out));
	out.kind = task->kind == AN_PREEMPTED ? RESCHED_WAIT_PREEMPTED : task->kind == AN_RACED ? RESCHED_WAIT_RACED : RESCHED_WAIT_WAKE;
	out.pid = task->pid;
	out.wake_ns = task->since_ns;
	out.run_ns = now;
	out.latency_ns = now - task->since_ns;
	out.touches_gap = !resolved;
	if (!wanted(o, &out) || !an_selected(o->an, task))
		return 0;
	t = task_of(o, task->pid);
	if (!t)
		return -ENOMEM;
	out.prio = task->prio;
	out.cpu = cpu;
	out.queued_cpu = t->nr_segments ? t->segments[0].cpu : cpu;
	out.moves = t->moves;
	out.wake_nr = t->wake_nr;
	out.demand_ns = t->demand_ns;
	name_of(o, task->pid, out.comm, sizeof(out.comm));
	examine(o, task, t, &out);
	if (out.touches_gap)
		keep_gap(o, &out);
	else
		keep(o, &out);
	return 0;
}

int resched_outliers_new(struct resched_analysis *analysis, const struct resched_outlier_options *opts, struct resched_outliers **ret,
			 struct resched_error *err)
{
	static const struct resched_outlier_options none;
	struct resched_outliers *o;
	int rc;

	if (!opts)
		opts = &none;
	if (opts->top > RESCHED_MAX_OUTLIERS)
		return rs_error_set(err, RESCHED_USAGE, -EINVAL, "at most %u outliers can be kept, not %u", RESCHED_MAX_OUTLIERS, opts->top);
	o = calloc(1, sizeof(*o));
	if (!o)
		return rs_error_nomem(err);
	o->an = analysis;
	o->top = opts->top ? opts->top : DEFAULT_TOP;
	o->over_ns = opts->over_ns;
	o->kinds = opts->kinds ? opts->kinds : 1u << RESCHED_WAIT_WAKE | 1u << RESCHED_WAIT_PREEMPTED;
	o->tick_ns = analysis->opts.host && analysis->opts.host->hz ? 1000000000u / analysis->opts.host->hz : DEFAULT_TICK_NS;
	o->heap = malloc(o->top * sizeof(*o->heap));
	if (!o->heap) {
		free(o);
		return rs_error_nomem(err);
	}
	rc = an_observe(analysis, &(struct an_observer){ .ctx = o, .event = on_event, .wait = on_wait });
	if (rc < 0) {
		resched_outliers_free(o);
		return rs_error_set(err, RESCHED_FAILED, rc, "too many collectors on one analysis");
	}
	*ret = o;
	return 0;
}

static int compare_outliers(const void *a, const void *b)
{
	return ol_longer(a, b) ? -1 : ol_longer(b, a);
}

static int compare_reversed(const void *a, const void *b)
{
	return compare_outliers(b, a);
}

/* Least first is a heap, too: more events may follow. resched_outliers_get() counts from the other end. */
void resched_outliers_sort(struct resched_outliers *o)
{
	qsort(o->heap, o->nr, sizeof(*o->heap), compare_reversed);
}

unsigned int resched_outliers_count(const struct resched_outliers *o)
{
	return o->nr;
}

const struct resched_outlier *resched_outliers_get(const struct resched_outliers *o, unsigned int idx)
{
	return idx < o->nr ? &o->heap[o->nr - 1 - idx] : NULL;
}

unsigned int resched_outliers_gap_count(const struct resched_outliers *o)
{
	return o->nr_gaps;
}

const struct resched_outlier *resched_outliers_gap_get(const struct resched_outliers *o, unsigned int idx)
{
	return idx < o->nr_gaps ? &o->gaps[idx] : NULL;
}

void resched_outliers_free(struct resched_outliers *o)
{
	if (!o)
		return;
	for (uint32_t i = 0; i < o->nr_cpus; i++)
		free(o->cpus[i].spans);
	free(o->cpus);
	free(o->tasks);
	free(o->heap);
	rs_map_release(&o->by_pid);
	free(o);
}
