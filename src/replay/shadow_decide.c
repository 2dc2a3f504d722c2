// SPDX-License-Identifier: GPL-2.0-only
/* The questions to the model, and the verdicts. */
#include "replay/shadow.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- disagreements, in words ---- */

static void set_comm(char *to, const struct rs_shadow *s, const struct rs_shadow_task *t)
{
	snprintf(to, RESCHED_COMM_LEN, "%s", t ? rs_shadow_comm(s, t) : "idle");
}

static struct resched_disagreement *new_disagreement(struct rs_shadow *s, const struct rs_shadow_cpu *c,
						     const char *kind, uint64_t ts_ns,
						     const struct rs_shadow_task *model,
						     const struct rs_shadow_task *kernel)
{
	struct resched_disagreement *d;

	if (s->ret->nr_disagreements == RESCHED_MAX_DISAGREEMENTS)
		return NULL;
	d = &s->ret->disagreements[s->ret->nr_disagreements++];
	d->ts_ns = ts_ns;
	d->cpu = c->rq.cpu;
	snprintf(d->kind, sizeof(d->kind), "%s", kind);
	d->model_pid = model ? model->pid : 0;
	d->kernel_pid = kernel ? kernel->pid : 0;
	set_comm(d->model_comm, s, model);
	set_comm(d->kernel_comm, s, kernel);
	return d;
}

static void append(char *text, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void append(char *text, size_t size, const char *fmt, ...)
{
	size_t len = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + len, size - len, fmt, ap);
	va_end(ap);
}

/* "h0 (lag +0.120 ms, deadline in 0.300 ms)" */
static void describe(const struct rs_shadow *s, const struct rs_shadow_cpu *c,
		     const struct rs_shadow_task *t, char *text, size_t size)
{
	struct rs_entity_view view;

	append(text, size, "%s", t ? rs_shadow_comm(s, t) : "idle");
	if (!t || !t->fair.on_rq || t->cpu != c->rq.cpu)
		return;
	s->opts.ops->view_task(&c->rq, &t->fair, &view);
	if (view.deadline)
		append(text, size, " (lag %+.3f ms%s, deadline %+.3f ms from V)",
		       (double)view.lag_ns / 1e6, view.eligible ? "" : ", not eligible",
		       (double)(int64_t)(view.deadline - rs_shadow_avg(s, c, t)) / 1e6);
	else
		append(text, size, " (vruntime %+.3f ms from the mean)",
		       (double)(int64_t)(view.vruntime - rs_shadow_avg(s, c, t)) / 1e6);
	if (t->fair.group)
		append(text, size, " in its group");
	if (!t->sure)
		append(text, size, ", whose lag is from before the recording");
}

static bool is_blind(const struct rs_shadow_cpu *c, uint64_t ts_ns)
{
	return ts_ns < c->blind_until_ns;
}

/* ---- pick ---- */

void rs_shadow_judge_pick(struct rs_shadow *s, struct rs_shadow_cpu *c, uint64_t ts_ns,
			  struct rs_shadow_task *pick, struct rs_shadow_task *next)
{
	struct resched_disagreement *d;
	struct rs_rq_view rq;

	if (is_blind(c, ts_ns))
		return;
	s->ret->contested++;
	if (pick == next) {
		s->ret->pick_agree++;
		return;
	}
	d = new_disagreement(s, c, "pick", ts_ns, pick, next);
	if (d) {
		s->opts.ops->view_rq(&c->rq, &rq);
		append(d->why, sizeof(d->why), "the model picks ");
		describe(s, c, pick, d->why, sizeof(d->why));
		append(d->why, sizeof(d->why), ": %s; the kernel took ", rq.why);
		describe(s, c, next, d->why, sizeof(d->why));
	}
	if (s->opts.resync)
		rs_shadow_resync(s, c, pick, next);
}

/* ---- ticks ---- */

/* Would the running task's slice end within the next tick? */
static bool ends_soon(const struct rs_shadow *s, const struct rs_shadow_cpu *c,
		      const struct rs_shadow_task *t)
{
	struct rs_entity_view view;
	uint64_t tick = s->opts.clock.tick_ns;
	int64_t left;

	s->opts.ops->view_task(&c->rq, &t->fair, &view);
	if (!view.deadline)
		return view.used_ns + tick >= view.slice_ns;
	left = (int64_t)(view.deadline - view.vruntime);
	return left <= 0 || (double)left * (double)view.weight / 1024 <= (double)tick;
}

void rs_shadow_judge_tick(struct rs_shadow *s, struct rs_shadow_cpu *c, uint64_t ts_ns,
			  struct rs_shadow_task *prev, struct rs_shadow_task *next)
{
	struct resched_disagreement *d;

	if (is_blind(c, ts_ns) || ts_ns - c->last_wakeup_ns < s->opts.clock.burst_ns ||
	    c->mark == RS_MARK_OTHER || c->mark == RS_MARK_WAKEUP)
		return;
	s->ret->tick_decisions++;
	if (c->rq.need_resched || ends_soon(s, c, prev)) {
		s->ret->tick_agree++;
		return;
	}
	d = new_disagreement(s, c, "tick", ts_ns, prev, next);
	if (d) {
		append(d->why, sizeof(d->why), "the slice of ");
		describe(s, c, prev, d->why, sizeof(d->why));
		append(d->why, sizeof(d->why),
		       " has more than a tick left in the model; the kernel preempted it for %s",
		       rs_shadow_comm(s, next));
	}
}

/* ---- schedules that kept the running task ---- */

void rs_shadow_hidden(struct rs_shadow *s, struct rs_shadow_cpu *c, uint64_t ts_ns)
{
	enum rs_mark mark = c->mark;
	struct rs_shadow_task *pick;
	struct resched_disagreement *d;
	struct rs_rq_view rq;

	rs_shadow_clear_mark(c);
	if (!c->curr) {
		if (c->idle)
			rs_shadow_pick(s, c);
		return;
	}
	pick = rs_shadow_pick(s, c);
	if (pick == c->curr || is_blind(c, ts_ns))
		return;
	if (mark == RS_MARK_TICK) {
		s->ret->tick_decisions++;
		d = new_disagreement(s, c, "tick", ts_ns, pick, c->curr);
		if (d) {
			s->opts.ops->view_rq(&c->rq, &rq);
			append(d->why, sizeof(d->why), "the model switches to ");
			describe(s, c, pick, d->why, sizeof(d->why));
			append(d->why, sizeof(d->why), ": %s; the kernel kept ", rq.why);
			describe(s, c, c->curr, d->why, sizeof(d->why));
		}
	}
	if (s->opts.resync && c->curr->fair.on_rq && !c->curr->fair.delayed)
		rs_shadow_resync(s, c, pick, c->curr);
}

/* ---- wakeups ---- */

static void drop_open(struct rs_shadow_cpu *c, unsigned int idx)
{
	c->open[idx] = c->open[--c->nr_open];
}

static void verdict_wakeup(struct rs_shadow *s, const struct rs_shadow_cpu *c,
			   const struct rs_open_wakeup *open, bool kernel)
{
	struct resched_disagreement *d;

	if (is_blind(c, open->ts_ns))
		return;
	s->ret->preempt_decisions++;
	if (open->model == kernel) {
		s->ret->preempt_agree++;
		return;
	}
	d = new_disagreement(s, c, "preempt", open->ts_ns, open->model ? open->wakee : open->curr,
			     kernel ? open->wakee : open->curr);
	if (d)
		snprintf(d->why, sizeof(d->why), "%s: the model %s, the kernel %s", open->why,
			 open->model ? "lets it replace the running task"
				     : "lets the running task go on",
			 kernel ? "switched to it" : "did not switch");
}

/* The tick came first. */
static void close_by_time(struct rs_shadow *s, struct rs_shadow_cpu *c, uint64_t now_ns)
{
	for (unsigned int i = 0; i < c->nr_open;) {
		if (rs_shadow_tick_between(s, c, c->open[i].ts_ns, now_ns)) {
			verdict_wakeup(s, c, &c->open[i], false);
			drop_open(c, i);
		} else {
			i++;
		}
	}
}

void rs_shadow_test_wakeup(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_shadow_task *p,
			   unsigned int flags, uint64_t ts_ns)
{
	bool asked = c->rq.need_resched;
	struct rs_open_wakeup *open;

	if (!c->curr || c->curr == p)
		return;
	s->opts.ops->wakeup_preempt(&c->rq, &p->fair, flags);
	rs_shadow_mark(c, RS_MARK_WAKEUP, ts_ns);
	if (asked || !flags)
		return;
	close_by_time(s, c, ts_ns);
	if (c->nr_open == RS_OPEN_WAKEUPS)
		return;
	open = &c->open[c->nr_open++];
	*open = (struct rs_open_wakeup){
		.ts_ns = ts_ns, .wakee = p, .curr = c->curr, .model = c->rq.need_resched
	};
	if (s->ret->nr_disagreements < RESCHED_MAX_DISAGREEMENTS) {
		append(open->why, sizeof(open->why), "wakeup of ");
		describe(s, c, p, open->why, sizeof(open->why));
		append(open->why, sizeof(open->why), " while ");
		describe(s, c, c->curr, open->why, sizeof(open->why));
		append(open->why, sizeof(open->why), " runs");
	}
}

/* What switch @e tells of an open wakeup. Return: 1 the wakee replaced the running task, 0 it did not, -1 nothing. */
static int answer(const struct rs_shadow *s, const struct rs_shadow_cpu *c,
		  const struct rs_open_wakeup *open, const struct resched_event *e,
		  const struct rs_shadow_task *next)
{
	if (open->curr->pid != e->pid)
		return -1;
	/* a tick may come between the request and the switch it makes */
	if (next == open->wakee && resched_state_runnable(e->sw.prev_state) && e->ts_ns - open->ts_ns < s->opts.clock.burst_ns)
		return 1;
	if (rs_shadow_tick_between(s, c, open->ts_ns, e->ts_ns - s->opts.clock.tick_switch_lead_ns))
		return 0;
	if (!resched_state_runnable(e->sw.prev_state))
		return e->ts_ns - open->ts_ns < s->opts.clock.burst_ns ? -1 : 0;
	if (next == open->wakee)
		return 1;
	return open->model ? -1 : 0; /* for another's sake: this request is hidden behind that one */
}

void rs_shadow_close_wakeups(struct rs_shadow *s, struct rs_shadow_cpu *c,
			     const struct resched_event *e, struct rs_shadow_task *next,
			     struct rs_shadow_task *pick)
{
	for (unsigned int i = 0; i < c->nr_open; i++) {
		int kernel = answer(s, c, &c->open[i], e, next);

		/* A later request, of another wakeup or of the accounting, may give it the cpu before the tick as well. */
		if (kernel == 1 && c->rq.need_resched && pick == next)
			c->open[i].model = true;

		if (kernel >= 0)
			verdict_wakeup(s, c, &c->open[i], kernel);
	}
	c->nr_open = 0;
}
