// SPDX-License-Identifier: GPL-2.0-only
/*
 * Moving the state so that it fits a recorded decision.
 *
 * What an error of the clocks does: it shifts vruntime and deadline of a task together, by microseconds, and sends a task whose lag is near
 * zero into the wrong branch (delayed or not, placed anew or not). So these are undone, the smallest first; anything larger is left alone,
 * because it heals by itself or is a mistake of the model that must stay visible.
 */
#include "replay/shadow.h"

#define NEAR_NS 8000 /* what accounting errors add up to between two sleeps */
#define BRANCH_NS 30000 /* a lag this near to zero may have been on the other side */
#define SLIP_NS 60000 /* a request this near to its end may have ended */
#define STEP_NS 50000 /* an unknown lag is not moved further than needed by more than this */
#define MAX_MOVES 64u

struct move {
	struct rs_shadow_task *t;
	int64_t dv, dd, off;
};

struct attempt {
	struct rs_shadow *s;
	struct rs_shadow_cpu *c;
	struct rs_shadow_task *want;
	struct move moves[MAX_MOVES];
	unsigned int nr;
	uint64_t avg;
};

static void view(const struct attempt *a, const struct rs_shadow_task *t, struct rs_entity_view *ret)
{
	a->s->opts.ops->view_task(&a->c->rq, &t->fair, ret);
}

static int64_t virtual_ns(uint64_t real_ns, uint64_t weight)
{
	return (int64_t)(real_ns * 1024 / (weight ? weight : 1));
}

static bool exact(const struct rs_shadow *s)
{
	return s->opts.clock.mode == RESCHED_SHADOW_ACCOUNTING;
}

static struct rs_shadow_task *peek(const struct attempt *a)
{
	struct rs_task *t = a->s->opts.ops->peek(&a->c->rq);

	return t ? rs_shadow_task_of(t) : NULL;
}

static bool shift(struct attempt *a, struct rs_shadow_task *t, int64_t dv, int64_t dd)
{
	if (a->nr == MAX_MOVES)
		return false;
	a->s->opts.ops->adjust(&a->c->rq, &t->fair, dv, dd);
	a->moves[a->nr++] = (struct move){ t, dv, dd, t->lag_off };
	return true;
}

static void undo(struct attempt *a, unsigned int to)
{
	while (a->nr > to) {
		const struct move *m = &a->moves[--a->nr];

		a->s->opts.ops->adjust(&a->c->rq, &m->t->fair, -m->dv, -m->dd);
		m->t->lag_off = m->off;
	}
}

/* The lag of @t, which is not known, must be larger by @need (smaller when negative): move it to where its interval now allows. */
static bool narrow(struct attempt *a, struct rs_shadow_task *t, int64_t need)
{
	struct rs_entity_view v;
	uint64_t slice, tick = a->s->opts.clock.tick_ns;
	int64_t half, step, to, off = t->lag_off, limit;

	view(a, t, &v);
	slice = 2 * v.slice_ns > tick ? 2 * v.slice_ns : tick;
	limit = virtual_ns(slice, v.weight);
	if (!t->lag_high)
		t->lag_high = limit;
	if (need > 0 && t->lag_low < off + need)
		t->lag_low = off + need;
	if (need < 0 && t->lag_high > off + need)
		t->lag_high = off + need;
	if (t->lag_high < t->lag_low) {
		if (need > 0)
			t->lag_high = t->lag_low + 200000;
		else
			t->lag_low = t->lag_high - 200000;
	}
	half = (t->lag_high - t->lag_low) / 2;
	step = virtual_ns(STEP_NS, v.weight);
	half = half < step ? half : step;
	to = need > 0 ? t->lag_low + half : t->lag_high - half;
	if (!shift(a, t, off - to, off - to))
		return false;
	t->lag_off = to;
	return true;
}

/* One step towards @want being the pick instead of @got. Return: false when nothing credible is left. */
static bool nudge(struct attempt *a, struct rs_shadow_task *got)
{
	struct rs_shadow_task *want = a->want;
	struct rs_entity_view w, g;
	int64_t later, lag, least, near = exact(a->s) ? 0 : NEAR_NS;

	view(a, want, &w);
	view(a, got, &g);
	if (!w.deadline) { /* by vruntime alone */
		later = (int64_t)(w.vruntime - g.vruntime);
		if (later < 0 || later > 2 * near)
			return false;
		return shift(a, want, -(later / 2 + 1), 0) && shift(a, got, later / 2 + 1, 0);
	}
	if (!w.eligible) {
		if (!want->sure)
			return narrow(a, want, -w.vlag * 9 / 8 + 1);
		if (-w.vlag > near)
			return false;
		return shift(a, want, w.vlag * 9 / 8 - 1, w.vlag * 9 / 8 - 1);
	}
	later = (int64_t)(w.deadline - g.deadline);
	if (later < 0)
		return false;
	lag = g.vlag > 0 ? g.vlag : 0;
	least = later < lag ? later : lag;
	if (!want->sure)
		return narrow(a, want, later + 1);
	if (!got->sure)
		return narrow(a, got, -(least + 1));
	if (least > near)
		return false;
	if (later > lag)
		return shift(a, got, lag * 9 / 8 + 1, lag * 9 / 8 + 1);
	return shift(a, want, -(later / 2 + 1), -(later / 2 + 1)) &&
	       shift(a, got, later / 2 + 1, later / 2 + 1);
}

/* The branch that was decided by less than the error: the other one. */
static bool other_branch(struct attempt *a, struct rs_shadow_task *t)
{
	if (!t || !t->has_alt || t->alt_ran_ns != t->ran_ns || !t->fair.on_rq || t->fair.delayed)
		return false;
	if (!shift(a, t, t->alt_dv, t->alt_dd))
		return false;
	if (peek(a) == a->want) {
		t->has_alt = false;
		return true;
	}
	undo(a, a->nr - 1);
	return false;
}

/* The running task's request should have ended by now. */
static bool end_request(struct attempt *a, struct rs_shadow_task *t)
{
	struct rs_entity_view v;
	int64_t left;

	if (t != a->c->curr || !t->fair.on_rq)
		return false;
	view(a, t, &v);
	left = (int64_t)(v.deadline - v.vruntime);
	if (!v.deadline || left < 0 || left >= SLIP_NS)
		return false;
	shift(a, t, left, virtual_ns(v.slice_ns, v.weight));
	return peek(a) == a->want;
}

void rs_shadow_resync(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_shadow_task *pick,
		      struct rs_shadow_task *next)
{
	struct attempt a = { .s = s, .c = c, .want = next };
	struct rs_shadow_task *got;
	unsigned int from;

	if (!s->opts.ops->peek || !s->opts.ops->adjust || !pick || !next->fair.on_rq ||
	    next->fair.delayed)
		return;
	if (pick->fair.group != next->fair.group)
		return; /* decided between groups: their entities are not the tasks' */
	if (!exact(s) && (other_branch(&a, pick) || other_branch(&a, next) || end_request(&a, pick))) {
		s->ret->resynced++;
		return;
	}
	from = a.nr;
	for (unsigned int i = 0; i < c->rq.nr_queued + 3; i++) {
		got = peek(&a);
		if (got == next) {
			s->ret->resynced++;
			return;
		}
		if (!got || got->fair.group != next->fair.group || !nudge(&a, got))
			break;
	}
	undo(&a, from);
}

/* ---- branches ---- */

static void look(struct rs_shadow *s, const struct rs_shadow_cpu *c, const struct rs_shadow_task *t,
		 struct rs_shadow_point *ret)
{
	struct rs_entity_view v;
	uint64_t avg = rs_shadow_avg(s, c, t);
	int64_t lag;

	s->opts.ops->view_task(&c->rq, &t->fair, &v);
	lag = (int64_t)(avg - v.vruntime);
	*ret = (struct rs_shadow_point){ v.vruntime, v.deadline, avg,
					 v.deadline && lag < BRANCH_NS && lag > -BRANCH_NS };
}

void rs_shadow_before_requeue(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_shadow_task *t,
			      struct rs_shadow_point *ret)
{
	look(s, c, t, ret);
}

void rs_shadow_after_requeue(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_shadow_task *t,
			     const struct rs_shadow_point *before)
{
	struct rs_entity_view v;
	bool placed;

	s->opts.ops->view_task(&c->rq, &t->fair, &v);
	placed = v.vruntime != before->vruntime || v.deadline != before->deadline;
	if (placed)
		t->sure = true;
	if (!before->near)
		return;
	t->has_alt = true;
	t->alt_ran_ns = t->ran_ns;
	if (placed) {
		t->alt_dv = (int64_t)(before->vruntime - v.vruntime);
		t->alt_dd = (int64_t)(before->deadline - v.deadline);
	} else {
		t->alt_dv = (int64_t)(before->avg - v.vruntime);
		t->alt_dd = (int64_t)(before->avg - v.deadline) + virtual_ns(v.slice_ns, v.weight);
	}
}

void rs_shadow_before_block(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_shadow_task *t)
{
	struct rs_shadow_point p;

	look(s, c, t, &p);
	t->near_at_block = p.near;
	t->block_vruntime = p.vruntime;
	t->block_deadline = p.deadline;
}

/* It had left at once; had it been delayed, it would be where it was. */
void rs_shadow_after_wakeup(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_shadow_task *t)
{
	struct rs_shadow_point p;

	if (!t->near_at_block)
		return;
	t->near_at_block = false;
	look(s, c, t, &p);
	if ((int64_t)(p.avg - t->block_vruntime) > BRANCH_NS)
		return;
	t->has_alt = true;
	t->alt_ran_ns = t->ran_ns;
	t->alt_dv = (int64_t)(t->block_vruntime - p.vruntime);
	t->alt_dd = (int64_t)(t->block_deadline - p.deadline);
}
