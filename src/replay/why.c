// SPDX-License-Identifier: GPL-2.0-only
/* Why the policy let tasks wait: a pass of the shadow that looks, after every event of a queue, at who is waited for there. */
#include "replay/explainer.h"

#include "base/error.h"
#include "base/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEN 32

static const char *const codes[RESCHED_WHY_NR] = {
	[RESCHED_WHY_UNKNOWN] = "unknown", [RESCHED_WHY_NOT_ELIGIBLE] = "not_eligible",
	[RESCHED_WHY_LATER_DEADLINE] = "later_deadline", [RESCHED_WHY_SLICE_PROTECTION] = "slice_protection",
	[RESCHED_WHY_LATER_VRUNTIME] = "later_vruntime", [RESCHED_WHY_WAKEUP_GRANULARITY] = "wakeup_granularity",
	[RESCHED_WHY_BUDDY] = "buddy", [RESCHED_WHY_TICK] = "tick", [RESCHED_WHY_PENDING] = "switch_pending",
	[RESCHED_WHY_CLASS] = "higher_class", [RESCHED_WHY_IDLE] = "idle",
};

const char *resched_why_code(enum resched_why why)
{
	return (unsigned int)why < RESCHED_WHY_NR ? codes[why] : NULL;
}

/* A wait that is looked at. */
struct watch {
	const struct resched_wait *wait;
	struct resched_wait_why *ret;
	uint64_t since_ns;		/* @why holds since then */
	enum resched_why why;
	bool in_group, switched;	/* switched: somebody was picked since it began */
	const struct rs_task *nominated;	/* runs because it was, though another was better */
	const struct rs_shadow_task *before;	/* who was preferred */
};

struct pass { struct watch *watches; unsigned int nr, next; unsigned int *active; unsigned int nr_active; };

/* ---- two tasks where they meet ---- */

/* An entity on the way up from a task: the task itself, then the groups around it. */
struct entity { const struct rs_task *task; const struct rs_group *group, *queue; };

static unsigned int depth(const struct rs_group *g)
{
	unsigned int nr = 0;

	for (; g; g = g->parent)
		nr++;
	return nr;
}

static void climb(struct entity *e)
{
	e->group = e->queue;
	e->queue = e->queue->parent;
}

/* The entities of both in the queue they share. Return: whether one of them is a group. */
static bool meet(struct entity *a, struct entity *b)
{
	unsigned int da = depth(a->queue), db = depth(b->queue);

	for (; da > db; da--)
		climb(a);
	for (; db > da; db--)
		climb(b);
	while (a->queue != b->queue) {
		climb(a);
		climb(b);
	}
	return a->group || b->group;
}

static void view(const struct rs_policy_ops *ops, const struct rs_rq *rq, const struct entity *e, struct rs_entity_view *ret)
{
	if (e->group)
		ops->view_group(rq, e->group, ret);
	else
		ops->view_task(rq, e->task, ret);
}

/* ---- one look ---- */

static bool later(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) > 0;
}

/* @best would be picked, @t would not. */
static enum resched_why compare(const struct rs_entity_view *t, const struct rs_entity_view *best, bool best_runs)
{
	if (!best->deadline) {	/* CFS; of two that are equal the first of the queue */
		if (later(t->vruntime, best->vruntime) || (t->vruntime == best->vruntime && !best_runs))
			return RESCHED_WHY_LATER_VRUNTIME;
		return best_runs ? RESCHED_WHY_WAKEUP_GRANULARITY : RESCHED_WHY_BUDDY;
	}
	if (!t->eligible)
		return RESCHED_WHY_NOT_ELIGIBLE;
	if (best->eligible && !later(best->deadline, t->deadline))
		return RESCHED_WHY_LATER_DEADLINE;
	return best_runs ? RESCHED_WHY_SLICE_PROTECTION : RESCHED_WHY_BUDDY;
}

/* A better one waits while another runs that was picked just now, or before: it goes first for as long as it stays. */
static enum resched_why nominated(const struct rs_shadow *s, const struct rs_shadow_cpu *c, struct watch *w, bool picked, enum resched_why why)
{
	const struct rs_task *runs = &c->curr->fair;
	struct rs_rq_view rq;

	if (w->nominated && w->nominated != runs)
		w->nominated = NULL;
	if (why != RESCHED_WHY_SLICE_PROTECTION && why != RESCHED_WHY_WAKEUP_GRANULARITY && why != RESCHED_WHY_TICK)
		return why;
	if (picked) {
		s->opts.ops->view_rq(&c->rq, &rq);
		w->nominated = rq.nominated ? runs : NULL;
	}
	return w->nominated ? RESCHED_WHY_BUDDY : why;
}

/* What keeps @t of @w from the cpu @c now. */
static enum resched_why judge(const struct rs_shadow *s, struct rs_shadow_cpu *c, const struct rs_shadow_task *t, struct watch *w)
{
	const struct rs_policy_ops *ops = s->opts.ops;
	struct entity a = { &t->fair, NULL, t->fair.group }, b;
	struct rs_entity_view va, vb;
	const struct rs_task *best;

	w->before = c->curr;
	w->in_group = false;
	if (!c->curr)
		return c->idle ? RESCHED_WHY_IDLE : RESCHED_WHY_CLASS;
	if (!t->fair.on_rq || c->curr == t)
		return RESCHED_WHY_UNKNOWN;
	best = ops->peek(&c->rq);
	if (!best)
		return RESCHED_WHY_UNKNOWN;
	if (c->rq.need_resched && best != &c->curr->fair)
		return RESCHED_WHY_PENDING;
	if (best == &t->fair) {
		ops->view_task(&c->rq, &c->curr->fair, &va);
		if (va.deadline)
			return RESCHED_WHY_TICK;
		return !w->switched && rs_model_feature(s->opts.model, "WAKEUP_PREEMPTION") ? RESCHED_WHY_WAKEUP_GRANULARITY :
		       va.used_ns < va.slice_ns ? RESCHED_WHY_SLICE_PROTECTION : RESCHED_WHY_TICK;
	}
	b = (struct entity){ best, NULL, best->group };
	w->before = (const struct rs_shadow_task *)(const void *)best;
	w->in_group = meet(&a, &b);
	view(ops, &c->rq, &a, &va);
	view(ops, &c->rq, &b, &vb);
	return compare(&va, &vb, vb.running);
}

/* @why held until @now. */
static void settle(const struct rs_shadow *s, struct watch *w, uint64_t now)
{
	uint64_t end = now < w->wait->to_ns ? now : w->wait->to_ns, ns = end > w->since_ns ? end - w->since_ns : 0;

	w->ret->ns[w->why] += ns;
	if (w->in_group)
		w->ret->group_ns += ns;
	if (ns && w->before && ns > w->ret->preferred[w->why].ns) {
		w->ret->preferred[w->why].ns = ns;
		w->ret->preferred[w->why].pid = w->before->pid;
		snprintf(w->ret->preferred[w->why].comm, RESCHED_COMM_LEN, "%s", rs_shadow_comm(s, w->before));
	}
	w->since_ns = end;
}

/* The state in which the wait began, as soon as the task is on its queue. */
static void note_state(const struct rs_shadow *s, const struct rs_shadow_cpu *c, const struct rs_shadow_task *t, struct resched_wait_why *ret)
{
	struct rs_entity_view v;

	if (ret->has_state || !t->fair.on_rq)
		return;
	s->opts.ops->view_task(&c->rq, &t->fair, &v);
	ret->has_state = 1;
	ret->eligible = v.eligible;
	ret->lag_ns = v.lag_ns;
	ret->deadline_ns = v.deadline ? (int64_t)(v.deadline - v.vruntime) - v.vlag : 0;
}

static void seen(void *ctx, struct rs_shadow *s, const struct resched_event *e)
{
	struct pass *p = ctx;

	for (; p->next < p->nr && p->watches[p->next].wait->from_ns <= e->ts_ns; p->next++)
		p->active[p->nr_active++] = p->next;
	for (unsigned int i = 0; i < p->nr_active;) {
		struct watch *w = &p->watches[p->active[i]];
		struct rs_shadow_task *t = rs_shadow_find(s, w->wait->pid);
		bool over = e->ts_ns >= w->wait->to_ns;

		if (t && t->cpu < s->nr_cpus && (over || t->cpu == e->cpu || (e->type != RESCHED_EV_SWITCH && e->pid == t->pid))) {
			bool first = w->since_ns == w->wait->from_ns && w->why == RESCHED_WHY_UNKNOWN;

			if (!first || over)	/* between waking and queueing nothing can be said */
				settle(s, w, e->ts_ns);
			if (!over) {
				w->switched |= e->type == RESCHED_EV_SWITCH && e->ts_ns > w->wait->from_ns;
				w->why = judge(s, &s->cpus[t->cpu], t, w);
				if (s->cpus[t->cpu].curr)
					w->why = nominated(s, &s->cpus[t->cpu], w, e->type == RESCHED_EV_SWITCH && e->cpu == t->cpu, w->why);
				note_state(s, &s->cpus[t->cpu], t, w->ret);
			}
		}
		if (over)
			p->active[i] = p->active[--p->nr_active];
		else
			i++;
	}
}

/* ---- in words ---- */

static const char *say(uint64_t ns, char buf[LEN])
{
	rs_time_format(ns, buf, LEN);
	return buf;
}

static void tell(const struct resched_wait *wait, struct resched_wait_why *r)
{
	const char *who = r->preferred[r->most].pid ? r->preferred[r->most].comm : "another";
	bool group = r->group_ns * 2 > wait->to_ns - wait->from_ns;
	const char *it = group ? "its group" : "it";
	char part[LEN], all[LEN], lag[LEN];
	int n;

	say(wait->to_ns - wait->from_ns, all);
	if (r->ns[r->most] >= (wait->to_ns - wait->from_ns) / 100 * 99)
		n = snprintf(r->text, sizeof(r->text), "all of the %s ", all);
	else
		n = snprintf(r->text, sizeof(r->text), "for %s of the %s ", say(r->ns[r->most], part), all);
	say((uint64_t)(r->lag_ns < 0 ? -r->lag_ns : r->lag_ns), lag);
#define TELL(...) snprintf(r->text + n, sizeof(r->text) - (size_t)n, __VA_ARGS__)
	switch (r->most) {
	case RESCHED_WHY_NOT_ELIGIBLE:
		if (r->has_state && r->lag_ns < 0 && !group)
			TELL("it was not eligible: it had had %s more than its share when it began to wait; %s went first", lag, who);
		else
			TELL("%s was not eligible, having had more than its share; %s went first", it, who);
		break;
	case RESCHED_WHY_LATER_DEADLINE:
		TELL("%s was eligible, but others had an earlier deadline, first %s; a shorter slice or more weight brings its own forward", it, who);
		break;
	case RESCHED_WHY_SLICE_PROTECTION:
		TELL("%s was the better one, but %s keeps the cpu until its slice ends; a shorter slice (base_slice_ns, min_granularity_ns, or "
		     "NO_RUN_TO_PARITY) ends it sooner", it, who);
		break;
	case RESCHED_WHY_LATER_VRUNTIME:
		TELL("others had had less of the cpu by their weight, first %s", who);
		break;
	case RESCHED_WHY_WAKEUP_GRANULARITY:
		TELL("it had had less than %s, but not by wakeup_granularity_ns, so it did not preempt", who);
		break;
	case RESCHED_WHY_BUDDY:
		TELL("%s was nominated to go first (a buddy) although %s was better", who, it);
		break;
	case RESCHED_WHY_TICK:
		TELL("it was the one to pick, but nobody asked before the next tick or switch of %s; a higher HZ or HRTICK asks sooner", who);
		break;
	case RESCHED_WHY_PENDING:
		TELL("a switch had been asked for and the kernel did not come to it while %s ran: preemption or interrupts off, or lazy preemption", who);
		break;
	default:
		*r->text = '\0';	/* the events say it, or nobody knows */
		break;
	}
#undef TELL
}

static int compare_begin(const void *pa, const void *pb)
{
	const struct watch *a = pa, *b = pb;

	return (a->wait->from_ns > b->wait->from_ns) - (a->wait->from_ns < b->wait->from_ns);
}

static int follow(const struct resched_explainer *ex, struct pass *p)
{
	struct rs_shadow_options opts = ex->shadow;
	struct resched_shadow *verdicts = calloc(1, sizeof(*verdicts));
	struct rs_shadow *s = NULL;
	int rc = -ENOMEM;

	opts.seen = seen;
	opts.seen_ctx = p;
	if (verdicts && rs_shadow_new(&ex->in.log, &opts, verdicts, &s) == 0)
		rc = rs_shadow_follow(s);
	rs_shadow_free(s);
	free(verdicts);
	return rc;
}

int resched_explainer_waits(struct resched_explainer *ex, unsigned int nr, const struct resched_wait *waits,
			    struct resched_wait_why *ret, struct resched_error *err)
{
	struct pass p = { .watches = calloc(nr + 1u, sizeof(*p.watches)), .active = calloc(nr + 1u, sizeof(*p.active)), .nr = nr };
	int rc = p.watches && p.active ? 0 : -ENOMEM;

	memset(ret, 0, nr * sizeof(*ret));
	for (unsigned int i = 0; i < nr && rc == 0; i++)
		p.watches[i] = (struct watch){ .wait = &waits[i], .ret = &ret[i], .since_ns = waits[i].from_ns };
	if (rc == 0 && ex->replayed)
		rc = rs_error_set(err, RESCHED_FAILED, -ENOTSUP, "waits are explained in recorded schedules only");
	if (rc == 0) {
		qsort(p.watches, nr, sizeof(*p.watches), compare_begin);
		rc = follow(ex, &p);
	}
	if (rc == -ENOMEM)
		rs_error_nomem(err);
	for (unsigned int i = 0; i < nr && rc == 0; i++) {
		for (unsigned int k = 0; k < RESCHED_WHY_NR; k++) {
			if (ret[i].ns[k] > ret[i].ns[ret[i].most])
				ret[i].most = (enum resched_why)k;
		}
		tell(&waits[i], &ret[i]);
	}
	free(p.watches);
	free(p.active);
	return rc;
}
