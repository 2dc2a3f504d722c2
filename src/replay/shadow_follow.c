// SPDX-License-Identifier: GPL-2.0-only
/*
 * Event by event: what the kernel did, in its own order.
 * Kernel: __schedule(), try_to_wake_up(), ttwu_runnable(), wake_up_new_task(), do_exit(), detach_task(), attach_task() of 6.1 and 6.12.
 */
#include "replay/agree.h"
#include "replay/shadow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SOON_NS 50000u /* what belongs to one path through the kernel is nearer than this */
#define MOVE_NS 10000u /* from one task that balancing takes to the next */
#define MOVE_WAIT_NS 200000u /* a parent that sleeps in D so soon after a fork has begun to move the child */
#define BLIND_NS 100000000u /* after lost events the state is not to be trusted for so long */

static struct rs_shadow_cpu *cpu_of(struct rs_shadow *s, unsigned int cpu)
{
	return &s->cpus[cpu < s->nr_cpus ? cpu : 0];
}

static const struct resched_event *event_at(const struct rs_shadow *s, uint32_t idx)
{
	return idx == RS_NO_EVENT ? NULL : &s->log->events[idx];
}

uint32_t rs_shadow_next_switch(const struct rs_shadow *s, const struct rs_shadow_cpu *c)
{
	uint32_t idx = c->next_event;

	while (idx != RS_NO_EVENT && s->log->events[idx].type != RESCHED_EV_SWITCH)
		idx = s->log->next[idx];
	return idx;
}

/* Clocks from stamps: accounting is not looked at, so what comes next is what comes after it. */
static bool is_unseen(const struct rs_shadow *s, uint32_t idx)
{
	return rs_shadow_by_stamps(s) && s->log->events[idx].type == RESCHED_EV_RUNTIME;
}

static bool is_wakeup(const struct resched_event *e)
{
	return e->type == RESCHED_EV_WAKEUP || e->type == RESCHED_EV_WAKEUP_NEW;
}

/* ---- the state the recording found ---- */

/* A task that is switched in without having been woken was queued all the time; one that is switched out first, ran. */
static void find_first_tasks(struct rs_shadow *s)
{
	struct rs_map seen = { 0 };

	rs_shadow_start(s);
	for (uint32_t i = 0; i < s->nr_tasks; i++) {
		if (rs_map_set(&seen, (uint32_t)s->tasks[i]->pid, 1) < 0)
			s->error = -ENOMEM;
	}
	for (uint32_t i = 0; i < s->log->nr && !s->error; i++) {
		const struct resched_event *e = &s->log->events[i];
		struct rs_shadow_cpu *c = cpu_of(s, e->cpu);
		bool first_switch = e->type == RESCHED_EV_SWITCH && !c->seen;

		s->at = i;
		if (e->type == RESCHED_EV_COMM &&
		    rs_map_set(&s->comms, (uint32_t)e->pid, e->comm.name) < 0)
			s->error = -ENOMEM;
		if (e->type == RESCHED_EV_FORK && rs_map_set(&seen, (uint32_t)e->fork.child_pid, 1) < 0)
			s->error = -ENOMEM;
		if (first_switch) {
			struct rs_shadow_task *t;

			c->seen = true;
			c->idle = e->pid == 0;
			t = rs_map_get(&seen, (uint32_t)e->pid) == RS_MAP_NONE
				    ? rs_shadow_fair(s, e->pid, e->sw.prev_prio, e->cpu)
				    : NULL;
			if (t && !t->fair.on_rq) {
				rs_shadow_enqueue(s, c, t, RS_ENQ_WAKEUP);
				t->sure = false;
				rs_shadow_set(s, c, t, true);
			}
		}
		if (e->type == RESCHED_EV_SWITCH) {
			struct rs_shadow_task *t = NULL;

			if (e->sw.next_pid &&
			    rs_map_get(&seen, (uint32_t)e->sw.next_pid) == RS_MAP_NONE)
				t = rs_shadow_fair(s, e->sw.next_pid, e->sw.next_prio, e->cpu);
			if (t && !t->fair.on_rq && e->sw.next_pid != e->pid) {
				rs_shadow_enqueue(s, c, t, RS_ENQ_WAKEUP);
				t->sure = false;
			}
			if ((e->pid && rs_map_set(&seen, (uint32_t)e->pid, 1) < 0) ||
			    (e->sw.next_pid && rs_map_set(&seen, (uint32_t)e->sw.next_pid, 1) < 0))
				s->error = -ENOMEM;
		} else if (e->type == RESCHED_EV_WAKING || is_wakeup(e)) {
			if (rs_map_set(&seen, (uint32_t)e->pid, 1) < 0)
				s->error = -ENOMEM;
		}
	}
	for (unsigned int i = 0; i < s->nr_cpus; i++)
		rs_shadow_clear_mark(&s->cpus[i]);
	rs_map_release(&seen);
	s->at = 0;
}

/* ---- accounting ---- */

/* Charged although it is no longer queued: it has pulled a task on its way to sleep. */
static bool is_charged_after_block(struct rs_shadow *s, struct rs_shadow_cpu *c,
				   const struct rs_shadow_task *t, const struct resched_event *e,
				   uint32_t *ret_state)
{
	const struct resched_event *sw = NULL;

	/* on its way nobody wakes anybody */
	for (uint32_t idx = c->incoming ? c->next_event : RS_NO_EVENT; idx != RS_NO_EVENT && !sw; idx = s->log->next[idx]) {
		sw = &s->log->events[idx];
		if (sw->type == RESCHED_EV_WAKING || is_wakeup(sw))
			return false;
		if (sw->type != RESCHED_EV_SWITCH)
			sw = NULL;
	}
	if (!sw || sw->pid != t->pid || resched_state_runnable(sw->sw.prev_state) ||
	    sw->ts_ns - e->ts_ns >= SOON_NS)
		return false;
	*ret_state = sw->sw.prev_state;
	return true;
}

/* The wakee of the waking event that @by has in hand, if it is queued on @c by now. */
static struct rs_shadow_task *wakee_in_hand(const struct rs_shadow *s, const struct rs_shadow_cpu *by,
					    const struct rs_shadow_cpu *c, uint64_t ts_ns)
{
	struct rs_shadow_task *t = by->waking_pid ? rs_shadow_find(s, by->waking_pid) : NULL;

	if (!t || !t->in_class || t->cpu != c->rq.cpu || t == c->curr || t->woken ||
	    ts_ns - by->waking_ns >= 20000)
		return NULL;
	return t;
}

static void finish_remote_wakeup(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_shadow_task *t,
				 uint64_t ts_ns)
{
	if (t->fair.on_rq && !t->fair.delayed && !t->requeued)
		return; /* not asleep yet */
	t->pending_wake = false;
	if (t->incoming)
		rs_shadow_join(s, c, false);
	rs_shadow_requeue(s, c, t);
	if (!t->fair.on_rq)
		rs_shadow_enqueue(s, c, t, RS_ENQ_WAKEUP);
	t->requeued = false;
	t->woken = true;
	rs_shadow_test_wakeup(s, c, t, RS_ENQ_WAKEUP, ts_ns);
}

static void on_runtime(struct rs_shadow *s, const struct resched_event *e)
{
	struct rs_shadow_task *t = rs_shadow_find(s, e->pid), *wakee;
	struct rs_shadow_cpu *by = cpu_of(s, e->cpu), *c;
	const struct resched_event *next = event_at(s, s->log->next[s->at]);
	bool switches, wakes, tick;
	uint32_t state;

	if (rs_shadow_by_stamps(s) || !t || !t->in_class)
		return;
	c = cpu_of(s, t->cpu);
	if (c->curr != t) {
		s->ret->unknown++;
		return;
	}
	switches = next && next->type == RESCHED_EV_SWITCH && e->cpu == t->cpu &&
		   next->ts_ns - e->ts_ns < SOON_NS;
	wakes = by->waking_pid || (next && is_wakeup(next) && next->ts_ns - e->ts_ns < 30000);
	if (is_charged_after_block(s, c, t, e, &state) && !t->blocked_early) {
		rs_shadow_block(s, c, t, state);
		t->blocked_early = true;
		rs_shadow_charge(s, c, c->charged_ns + e->runtime.runtime_ns, false);
		rs_shadow_set_anchor(s, c, RS_ANCHOR_SCHEDULE);
		return;
	}
	wakee = s->nr_cpus > 1 ? wakee_in_hand(s, by, c, e->ts_ns) : NULL;
	if (wakee && wakee->fair.delayed)
		rs_shadow_requeue(s, c, wakee); /* before the accounting: at the old V */
	tick = !by->waking_pid && e->cpu == t->cpu && rs_shadow_is_tick(s, c, e->ts_ns);
	if (tick)
		c->last_tick_ns = e->ts_ns;
	rs_shadow_charge(s, c, c->charged_ns + e->runtime.runtime_ns, tick);
	rs_shadow_set_anchor(s, c, rs_shadow_anchor_kind(s->log, s->at));
	by->told = true;
	if (wakee)
		finish_remote_wakeup(s, c, wakee, e->ts_ns);
	if (c->incoming && !switches)
		rs_shadow_join(s, c, false);
	/* the rest is done by the task itself */
	if (wakes || tick || switches || e->cpu != t->cpu || e->ctx & (RESCHED_CTX_HARDIRQ | RESCHED_CTX_SOFTIRQ))
		return;
	if (t->want_setup) {
		rs_shadow_setup(s, c, t);
	} else if (t->want_exit) {
		t->want_exit = false;
		rs_shadow_replace(s, c, t);
	}
}

/* ---- wakeups ---- */

static void on_waking(struct rs_shadow *s, const struct resched_event *e)
{
	struct rs_shadow_cpu *by = cpu_of(s, e->cpu);
	struct rs_shadow_task *t = rs_shadow_find(s, e->pid);

	by->waking_pid = e->pid;
	by->waking_ns = e->ts_ns;
	by->told = false;
	if (!t)
		return;
	t->waking_ns = e->ts_ns;
	if (!t->in_class)
		return;
	if (t == cpu_of(s, t->cpu)->curr && e->cpu != t->cpu)
		t->pending_wake = true; /* it is inside schedule() on another cpu */
	if (t->fair.delayed && (s->nr_cpus == 1 || e->cpu == t->cpu || rs_shadow_by_stamps(s)))
		rs_shadow_requeue(s, cpu_of(s, t->cpu), t);
}

static void forget_waking(struct rs_shadow *s, const struct resched_event *e)
{
	for (unsigned int i = 0; i < s->nr_cpus; i++) {
		if (s->cpus[i].waking_pid == e->pid)
			s->cpus[i].waking_pid = 0;
	}
}

/* When the waking of wakeup @e began. */
static uint64_t waking_stamp(const struct rs_shadow *s, const struct resched_event *e)
{
	for (unsigned int i = 0; i < s->nr_cpus; i++) {
		if (s->cpus[i].waking_pid == e->pid)
			return s->cpus[i].waking_ns;
	}
	return e->ts_ns;
}

/* What the clock of @c read when @t was made runnable; the running task is charged if they share a queue. */
static void sample_wakeup(struct rs_shadow *s, struct rs_shadow_cpu *c, const struct rs_shadow_task *t, uint64_t waking_ns, bool told)
{
	bool apart = c->curr && c->curr->fair.group != t->fair.group;

	if (!rs_shadow_by_stamps(s)) {
		if (apart && !told)
			rs_shadow_wake_clock(s, c, waking_ns);
	} else if (apart) {
		rs_shadow_look(s, c, waking_ns + s->opts.clock.wake_lag_ns);
	} else {
		rs_shadow_account(s, c, waking_ns + s->opts.clock.wake_lag_ns);
	}
}

static void on_wakeup(struct rs_shadow *s, const struct resched_event *e)
{
	bool is_new = e->type == RESCHED_EV_WAKEUP_NEW;
	struct rs_shadow_cpu *c = cpu_of(s, e->wake.target_cpu);
	struct rs_shadow_task *t = rs_shadow_fair(s, e->pid, e->wake.prio, e->wake.target_cpu);
	unsigned int flags = is_new ? RS_ENQ_INITIAL : RS_ENQ_WAKEUP;
	uint64_t since = is_new && t && t->waking_ns ? t->waking_ns : waking_stamp(s, e);
	bool told = cpu_of(s, e->cpu)->told;

	forget_waking(s, e);
	c->last_wakeup_ns = e->ts_ns;
	if (!t)
		return;
	rs_shadow_idle_clock(c, e->ts_ns);
	if (c->incoming)
		rs_shadow_join(s, c, false);
	if (t->cpu != c->rq.cpu && (t->fair.on_rq || t->incoming))
		rs_shadow_leave(s, t);
	t->cpu = c->rq.cpu;
	t->waking_ns = since;
	if (!t->requeued && !t->fair.on_rq && !t->woken)
		sample_wakeup(s, c, t, since, told);
	if (t->woken || t == c->curr) {
		t->woken = t->requeued = t->pending_wake = false;
		return;
	}
	t->pending_wake = false;
	if (t->fair.delayed && !t->requeued)
		rs_shadow_requeue(s, c, t);
	if (t->requeued) {
		t->requeued = false;
		sample_wakeup(s, c, t, since, told);
	} else if (!t->fair.on_rq) {
		rs_shadow_enqueue(s, c, t, flags);
		if (!is_new)
			rs_shadow_after_wakeup(s, c, t);
	}
	if (c->curr) {
		rs_shadow_test_wakeup(s, c, t, flags, e->ts_ns);
		if (c->rq.need_resched)
			c->reuse_clock = true;
	}
}

/* ---- life and moves ---- */

/*
 * A child whom its parent puts into a cgroup: at once, or when the parent has slept for the right to (writers of cgroup.procs wait until
 * nobody forks or exits). That one runs elsewhere meanwhile tells when: the parent's cpu charges it (sched_move_task()).
 */
static void move_child(struct rs_shadow *s, struct rs_shadow_task *t)
{
	t->mover_pid = 0;
	s->nr_to_move--;
	if (t->ready)
		rs_shadow_move(s, t, t->group_after);
	else
		t->fair.group = t->group_after;
}

static bool moves_at_once(const struct rs_shadow *s, const struct rs_shadow_task *t, unsigned int cpu)
{
	return t->cpu == cpu || rs_shadow_by_stamps(s);
}

/* Event @e is next; the parent has gone on since it was seen last. */
static void move_before(struct rs_shadow *s, const struct resched_event *e)
{
	for (uint32_t i = 0; s->nr_to_move && i < s->nr_tasks; i++) {
		struct rs_shadow_task *t = s->tasks[i];

		if (!t->mover_pid || !t->mover_there || t->mover_cpu != e->cpu || (e->type == RESCHED_EV_RUNTIME && e->pid == t->pid))
			continue;
		if (e->type == RESCHED_EV_RUNTIME && e->pid == t->mover_pid) /* will it sleep? */
			continue;
		if (e->type == RESCHED_EV_SWITCH && e->pid == t->mover_pid && e->sw.prev_state & RESCHED_STATE_D)
			t->mover_there = false;
		else
			move_child(s, t);
	}
}

static void move_after(struct rs_shadow *s, const struct resched_event *e)
{
	const struct resched_event *next = event_at(s, rs_shadow_next_switch(s, cpu_of(s, e->cpu)));

	for (uint32_t i = 0; s->nr_to_move && i < s->nr_tasks; i++) {
		struct rs_shadow_task *t = s->tasks[i];
		bool born = e->type == RESCHED_EV_WAKEUP_NEW && e->pid == t->pid,
		     back = e->type == RESCHED_EV_SWITCH && e->sw.next_pid == t->mover_pid && !t->mover_there;

		if (!t->mover_pid)
			continue;
		if (born || back) {
			t->mover_there = true;
			t->mover_cpu = e->cpu;
		}
		if (born && next && next->pid == t->mover_pid && next->ts_ns - e->ts_ns < MOVE_WAIT_NS && next->sw.prev_state & RESCHED_STATE_D)
			continue;
		if (((born || back) && moves_at_once(s, t, e->cpu)) ||
		    (t->mover_there && e->type == RESCHED_EV_RUNTIME && e->pid == t->pid && e->cpu == t->mover_cpu && t->cpu != e->cpu))
			move_child(s, t);
	}
}

/* Priority of the child in its first wakeup, which the parent issues right after fork event @e. */
static int first_prio(const struct rs_shadow *s, const struct resched_event *e)
{
	uint32_t idx = s->log->next[s->at];

	for (; idx != RS_NO_EVENT && s->log->events[idx].ts_ns - e->ts_ns < 1000000;
	     idx = s->log->next[idx]) {
		const struct resched_event *next = &s->log->events[idx];

		if (next->type == RESCHED_EV_WAKEUP_NEW && next->pid == e->fork.child_pid)
			return next->wake.prio;
	}
	return -1;
}

static void on_fork(struct rs_shadow *s, const struct resched_event *e)
{
	struct rs_shadow_task *parent = rs_shadow_find(s, e->pid), *child;
	struct rs_shadow_cpu *c = cpu_of(s, e->cpu);

	child = rs_shadow_fork(s, parent, e->fork.child_pid, first_prio(s, e), e->cpu);
	c->told = false;
	if (child)
		child->waking_ns = e->ts_ns;
	if (!child || !child->ready || !s->opts.ops->fork)
		return;
	if (rs_shadow_by_stamps(s) && c->curr)
		rs_shadow_account(s, c, e->ts_ns - s->opts.clock.fork_lead_ns);
	s->opts.ops->fork(&c->rq, parent ? &parent->fair : NULL, &child->fair);
	rs_shadow_mark(c, RS_MARK_OTHER, e->ts_ns);
}

static void on_comm(struct rs_shadow *s, const struct resched_event *e)
{
	struct rs_shadow_task *t = rs_shadow_find(s, e->pid);

	if (rs_map_set(&s->comms, (uint32_t)e->pid, e->comm.name) < 0)
		s->error = -ENOMEM;
	if (!t)
		return;
	t->comm = e->comm.name;
	if (e->comm.renamed && t->born_here && t->known)
		t->want_setup = true;
}

/*
 * Who exits leaves its group right before it tells its parent (do_exit(): sched_autogroup_exit_task(), exit_notify()). The event comes shortly
 * before, but since 6.16 before its memory is given back, which takes its time. Return: the event before which it leaves.
 */
static uint32_t find_departure(const struct rs_shadow *s, int32_t pid)
{
	uint32_t told = RS_NO_EVENT;

	for (uint32_t i = s->at + 1; i < s->log->nr; i++) {
		const struct resched_event *e = &s->log->events[i];

		if (e->type == RESCHED_EV_WAKING && e->wake.waker_pid == pid && !(e->ctx & (RESCHED_CTX_HARDIRQ | RESCHED_CTX_SOFTIRQ)))
			told = i;
		if (e->type == RESCHED_EV_SWITCH && e->pid == pid && e->sw.prev_state & (RESCHED_STATE_X | RESCHED_STATE_Z))
			return told == RS_NO_EVENT ? i : told;
	}
	return RS_NO_EVENT;
}

static void depart(struct rs_shadow *s, struct rs_shadow_task *t, uint64_t clock_ns)
{
	struct rs_shadow_cpu *c = cpu_of(s, t->cpu);

	t->departs_at = RS_NO_EVENT;
	if (c->curr != t)
		return;
	rs_shadow_account(s, c, clock_ns);
	rs_shadow_replace(s, c, t);
}

static void on_exit_event(struct rs_shadow *s, const struct resched_event *e)
{
	struct rs_shadow_task *t = rs_shadow_find(s, e->pid);

	if (!t || !t->in_class)
		return;
	if (!rs_shadow_by_stamps(s))
		t->want_exit = true;
	else if (s->exits_early)
		t->departs_at = find_departure(s, t->pid);
	else
		depart(s, t, e->ts_ns + s->opts.clock.exit_lag_ns);
}

static void depart_before(struct rs_shadow *s, const struct resched_event *e)
{
	struct rs_shadow_task *t = cpu_of(s, e->cpu)->curr;

	if (t && t->departs_at == s->at)
		depart(s, t, e->ts_ns - s->opts.clock.switch_lead_ns);
}

/* What the clock of @from read when balancing took @t: of several tasks all leave at one sample. */
static void sample_leave(struct rs_shadow *s, struct rs_shadow_cpu *from, const struct rs_shadow_task *t, uint64_t ts_ns)
{
	bool apart = from->curr && from->curr->fair.group != t->fair.group, first = ts_ns - from->left_ns > MOVE_NS;

	from->left_ns = ts_ns;
	if (!rs_shadow_by_stamps(s)) {
		if (apart && first)
			rs_shadow_wake_clock(s, from, ts_ns);
	} else if (apart) {
		rs_shadow_look(s, from, ts_ns);
	} else {
		rs_shadow_account(s, from, ts_ns);
	}
}

/* A queued task changes cpu: it leaves at once and joins later. */
static void on_migrate(struct rs_shadow *s, const struct resched_event *e)
{
	struct rs_shadow_task *t = rs_shadow_find(s, e->pid);
	struct rs_shadow_cpu *to = cpu_of(s, e->migrate.to_cpu), *from;
	const struct resched_event *next;

	if (!t || t->cpu == to->rq.cpu)
		return;
	from = cpu_of(s, t->cpu);
	if (!t->fair.on_rq && !t->incoming) {
		t->cpu = to->rq.cpu;
		return;
	}
	if (t->fair.on_rq)
		sample_leave(s, from, t, e->ts_ns);
	rs_shadow_leave(s, t);
	rs_shadow_add_incoming(to, t);
	if (!to->curr) {
		to->pulled_by = e->cpu; /* it joins when all have been taken */
	} else if (rs_shadow_by_stamps(s)) {
		next = event_at(s, to->next_event);
		if (next && !(next->type == RESCHED_EV_SWITCH &&
			      !resched_state_runnable(next->sw.prev_state))) {
			rs_shadow_account(s, to, e->ts_ns);
			rs_shadow_join(s, to, false);
		}
	}
}

/* Idle cpus have been given all that balancing on another, or their own, takes for them: e is the next of who balances. */
static void join_idle(struct rs_shadow *s, const struct resched_event *e)
{
	for (unsigned int i = 0; s->nr_cpus > 1 && i < s->nr_cpus; i++) {
		struct rs_shadow_cpu *c = &s->cpus[i];

		if (!c->incoming || c->curr || (e->cpu != i && e->cpu != c->pulled_by) ||
		    (e->type == RESCHED_EV_MIGRATE && e->migrate.to_cpu == i) || (e->type == RESCHED_EV_SWITCH && e->cpu == i && e->pid))
			continue;
		rs_shadow_join(s, c, false);
	}
}

/* ---- switches ---- */

/* The task that really ran, if the follower thought otherwise. */
static void make_current(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_shadow_task *t)
{
	s->ret->unknown++;
	rs_shadow_put(s, c);
	if (t->cpu != c->rq.cpu || t->incoming)
		rs_shadow_leave(s, t);
	if (!t->fair.on_rq)
		rs_shadow_enqueue(s, c, t, RS_ENQ_WAKEUP);
	if (t->fair.delayed)
		s->opts.ops->wakeup_queued(&c->rq, &t->fair);
	rs_shadow_quota_lift(s, c, t);
	rs_shadow_set(s, c, t, true);
}

/* The task that runs next was not queued here. */
static void make_queued(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_shadow_task *t)
{
	if (t->fair.on_rq && !t->fair.delayed && t->cpu == c->rq.cpu)
		return;
	s->ret->unknown++;
	if (t->cpu != c->rq.cpu || t->incoming)
		rs_shadow_leave(s, t);
	if (t->fair.on_rq && t->fair.delayed)
		s->opts.ops->wakeup_queued(&c->rq, &t->fair);
	if (!t->fair.on_rq)
		rs_shadow_enqueue(s, c, t, RS_ENQ_WAKEUP);
}

static void sample_switch(struct rs_shadow *s, struct rs_shadow_cpu *c, const struct resched_event *e)
{
	struct rs_shadow_task *t = rs_shadow_find(s, e->pid);
	uint64_t now;

	if (!rs_shadow_by_stamps(s))
		return;
	now = rs_shadow_switch_clock(s, c, e, t);
	if (t && c->curr == t) {
		if (t->want_setup) {
			rs_shadow_account(s, c, now - 10000);
			rs_shadow_setup(s, c, t);
		}
		if (t->want_exit)
			t->want_exit = false;
	}
	if (!c->curr || c->curr == t)
		rs_shadow_account(s, c, now);
	c->reuse_clock = false;
}

/* prev stops: leaves, or goes back among the waiting (which its policy does when it is put). */
static struct rs_shadow_task *switch_out(struct rs_shadow *s, struct rs_shadow_cpu *c,
					 const struct resched_event *e)
{
	struct rs_shadow_task *prev = rs_shadow_fair(s, e->pid, e->sw.prev_prio, e->cpu);
	bool runnable = resched_state_runnable(e->sw.prev_state);

	if (!prev) {
		rs_shadow_put(s, c);
		return NULL;
	}
	if (c->curr != prev && !runnable && !c->curr && prev->cpu != e->cpu)
		return NULL; /* gone: the wakeup that took it elsewhere is stamped by another cpu's clock, before this */
	if (c->curr != prev)
		make_current(s, c, prev);
	if (c->incoming && runnable)
		rs_shadow_join(s, c, false);
	if (!runnable) {
		rs_shadow_block(s, c, prev, e->sw.prev_state);
		prev->want_exit = false;
	}
	return prev;
}

/* A higher class takes the cpu: no fair pick is made. */
static void fair_set_aside(struct rs_shadow *s, struct rs_shadow_cpu *c, const struct resched_event *e)
{
	rs_shadow_close_wakeups(s, c, e, NULL, NULL);
	rs_shadow_put(s, c);
	rs_shadow_clear_mark(c);
	c->idle = false;
}

static void on_switch(struct rs_shadow *s, const struct resched_event *e)
{
	struct rs_shadow_cpu *c = cpu_of(s, e->cpu);
	struct rs_shadow_task *prev, *next, *pick;
	unsigned int runnable;

	sample_switch(s, c, e);
	if (!rs_shadow_by_stamps(s))
		rs_shadow_idle_clock(c, e->ts_ns);
	prev = switch_out(s, c, e);
	runnable = rs_shadow_runnable(s, c);
	next = rs_shadow_fair(s, e->sw.next_pid, e->sw.next_prio, e->cpu);
	if (s->error)
		return;
	if (!next && e->sw.next_pid) {
		fair_set_aside(s, c, e);
		return;
	}
	while (c->incoming) { /* newly idle: it pulls one, picks, pulls again */
		rs_shadow_pick(s, c);
		rs_shadow_join(s, c, true);
	}
	if (next)
		make_queued(s, c, next);
	if (prev && next && prev != next && prev->fair.on_rq && !prev->fair.delayed && !(e->ctx & RS_CTX_MADE_UP))
		rs_shadow_judge_tick(s, c, e->ts_ns, prev, next);
	pick = rs_shadow_pick(s, c);
	rs_shadow_close_wakeups(s, c, e, next, pick);
	if (next && runnable >= 2 && !(e->ctx & RS_CTX_MADE_UP))
		rs_shadow_judge_pick(s, c, e->ts_ns, pick, next);
	if (!next && pick)
		s->ret->unknown++;
	if (!next || c->curr != next) {
		c->rq.next = next ? &next->fair : NULL; /* groups that both are in go on running */
		rs_shadow_put(s, c);
		c->rq.next = NULL; /* when nobody ran */
	}
	if (next && c->curr != next) {
		if (rs_shadow_quota_lift(s, c, next))
			s->ret->unknown++;
		rs_shadow_set(s, c, next, true);
	}
	c->sampled_ns = e->ts_ns;
	if (e->ts_ns - c->anchor_ns > SOON_NS)
		rs_shadow_set_anchor(s, c, RS_ANCHOR_SWITCH);
	rs_shadow_clear_mark(c);
	c->idle = e->sw.next_pid == 0;
	if (prev && prev->pending_wake) {
		prev->pending_wake = false;
		if (prev->fair.delayed && rs_shadow_by_stamps(s))
			rs_shadow_requeue(s, c, prev);
	}
}

/* ---- the pass ---- */

static void on_lost(struct rs_shadow *s, const struct resched_event *e)
{
	cpu_of(s, e->cpu)->blind_until_ns = e->ts_ns + BLIND_NS;
}

static void dispatch(struct rs_shadow *s, const struct resched_event *e)
{
	switch (e->type) {
	case RESCHED_EV_SWITCH: on_switch(s, e); break;
	case RESCHED_EV_WAKING: on_waking(s, e); break;
	case RESCHED_EV_WAKEUP:
	case RESCHED_EV_WAKEUP_NEW: on_wakeup(s, e); break;
	case RESCHED_EV_MIGRATE: on_migrate(s, e); break;
	case RESCHED_EV_FORK: on_fork(s, e); break;
	case RESCHED_EV_EXIT: on_exit_event(s, e); break;
	case RESCHED_EV_RUNTIME: on_runtime(s, e); break;
	case RESCHED_EV_COMM: on_comm(s, e); break;
	case RESCHED_EV_LOST: on_lost(s, e); break;
	default: break;
	}
}

static void ticks_elsewhere(struct rs_shadow *s, struct rs_shadow_cpu *c, uint64_t until_ns)
{
	const struct resched_event *next = event_at(s, c->next_event);

	rs_shadow_ticks(s, c, until_ns, next ? next->ts_ns : UINT64_MAX);
}

/* STAMPS: ticks come before the event they precede, on its cpu and on the one it is about. */
static void ticks_before(struct rs_shadow *s, const struct resched_event *e)
{
	struct rs_shadow_cpu *c = cpu_of(s, e->cpu), *target;

	if (rs_shadow_by_stamps(s) && e->type == RESCHED_EV_MIGRATE) {
		ticks_elsewhere(s, cpu_of(s, e->migrate.from_cpu), e->ts_ns);
		ticks_elsewhere(s, cpu_of(s, e->migrate.to_cpu), e->ts_ns);
		return;
	}
	if (!rs_shadow_by_stamps(s) ||
	    !(e->type == RESCHED_EV_SWITCH || e->type == RESCHED_EV_WAKING || is_wakeup(e)))
		return;
	/* schedule() keeps interrupts off: a tick that falls into it comes after the switch */
	rs_shadow_ticks(s, c,
			e->type == RESCHED_EV_SWITCH ? e->ts_ns - s->opts.clock.switch_lead_ns
						     : e->ts_ns,
			e->ts_ns);
	target = e->type == RESCHED_EV_SWITCH ? c : cpu_of(s, e->wake.target_cpu);
	if (target != c)
		ticks_elsewhere(s, target, e->ts_ns);
}

#define DECAY_NS 32000000u

/* update_blocked_averages(): by balancing on busy cpus and at least so often for idle ones */
static void decay_groups(struct rs_shadow *s, uint64_t ts_ns)
{
	if (!s->groups.nr || s->nr_cpus == 1 || ts_ns < s->next_decay_ns)
		return;
	s->next_decay_ns = ts_ns + DECAY_NS;
	for (unsigned int i = 0; i < s->nr_cpus; i++) {
		rs_shadow_idle_clock(&s->cpus[i], ts_ns);
		rs_groups_decay(&s->groups, s->opts.ops, &s->cpus[i].rq);
	}
}

int rs_shadow_follow(struct rs_shadow *s)
{
	for (s->at = 0; s->at < s->log->nr && !s->error; s->at++) {
		const struct resched_event *e = &s->log->events[s->at];
		struct rs_shadow_cpu *c = cpu_of(s, e->cpu);

		if (e->ts_ns > s->opts.stop_ns)
			break;
		rs_shadow_start_again(s, e->ts_ns);
		rs_shadow_quota_timers(s, e->ts_ns);
		ticks_before(s, e);
		decay_groups(s, e->ts_ns);
		while (c->next_event != RS_NO_EVENT && (c->next_event <= s->at || is_unseen(s, c->next_event)))
			c->next_event = s->log->next[c->next_event];
		join_idle(s, e);
		rs_shadow_compare(s, e, true);
		if (s->opts.agree && rs_agree_event(s->opts.agree, s, e, true) < 0)
			s->error = -ENOMEM;
		move_before(s, e);
		depart_before(s, e);
		dispatch(s, e);
		move_after(s, e);
		rs_shadow_move_homes(s);
		if (s->opts.agree && rs_agree_event(s->opts.agree, s, e, false) < 0)
			s->error = -ENOMEM;
		rs_shadow_compare(s, e, false);
		rs_shadow_take_rows(s, e);
		rs_shadow_unseen_schedules(s, e);
		if (s->opts.seen)
			s->opts.seen(s->opts.seen_ctx, s, e);
	}
	rs_shadow_errors_finish(s);
	return s->error;
}

static int init_cpus(struct rs_shadow *s)
{
	const struct rs_shadow_log *log = s->log;
	uint64_t *phases = calloc(s->nr_cpus, sizeof(*phases));

	if (phases)
		rs_shadow_find_phases(log, &s->opts.clock, phases);
	for (unsigned int i = 0; phases && i < s->nr_cpus; i++) {
		struct rs_shadow_cpu *c = &s->cpus[i];

		c->rq.cpu = i;
		c->rq.model = s->opts.model;
		c->last_ns = log->nr ? log->events[0].ts_ns : 0;
		c->idle = true;
		c->phase_ns = phases[i];
		c->next_event = RS_NO_EVENT;
		c->rq.priv = calloc(1, s->opts.ops->rq_size);
		if (!c->rq.priv) {
			s->error = -ENOMEM;
			break;
		}
		s->opts.ops->rq_init(&c->rq);
		rs_groups_join_cpu(&s->groups, s->opts.ops, &c->rq);
		if (!rs_shadow_has_start(s) && rs_shadow_age(s, c) < 0)
			s->error = -ENOMEM;
		c->rq.clock_ns = c->last_ns;
	}
	if (!phases || (!s->error && rs_shadow_quota_begin(s) < 0))
		s->error = -ENOMEM;
	free(phases);
	for (uint32_t i = log->nr; i-- > 0;) {
		if (log->events[i].type != RESCHED_EV_COMM && !is_unseen(s, i))
			s->cpus[log->events[i].cpu].next_event = i;
	}
	return s->error;
}

/* Where the groups of tasks begin: the first task of each pid. */
static int init_groups(struct rs_shadow *s)
{
	const struct resched_workload *w = s->opts.workload;

	if (rs_groups_init(&s->groups, s->opts.groups, s->opts.ops, s->nr_cpus) < 0)
		return -ENOMEM;
	for (uint32_t i = w && s->groups.nr ? w->nr_tasks : 0; i-- > 0;) {
		if (rs_map_set(&s->programs, (uint32_t)w->tasks[i].pid, i) < 0)
			return -ENOMEM;
	}
	return 0;
}

int rs_shadow_new(const struct rs_shadow_log *log, const struct rs_shadow_options *opts,
		  struct resched_shadow *ret, struct rs_shadow **ret_shadow)
{
	struct rs_shadow *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	memset(ret, 0, sizeof(*ret));
	ret->mode = opts->clock.mode;
	s->opts = *opts;
	s->log = log;
	s->ret = ret;
	s->nr_cpus = log->nr_cpus ? log->nr_cpus : 1;
	s->exits_early = opts->host && rs_release_number(opts->host->kernel) >= 6016;
	s->cpus = calloc(s->nr_cpus, sizeof(*s->cpus));
	if (init_groups(s) < 0) {
		rs_shadow_free(s);
		return -ENOMEM;
	}
	if (s->cpus && opts->clock.mode == RESCHED_SHADOW_RUNTIMES)
		s->stints = rs_shadow_measure_stints(log);
	if (!s->cpus || (opts->clock.mode == RESCHED_SHADOW_RUNTIMES && !s->stints) ||
	    init_cpus(s) < 0) {
		rs_shadow_free(s);
		return -ENOMEM;
	}
	if (log->nr && rs_shadow_find_anchors(log, s->anchors) < 0) {
		rs_shadow_free(s);
		return -ENOMEM;
	}
	find_first_tasks(s);
	*ret_shadow = s;
	return 0;
}

void rs_shadow_free(struct rs_shadow *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->nr_tasks; i++)
		free(s->tasks[i]);
	for (unsigned int i = 0; s->cpus && i < s->nr_cpus; i++)
		free(s->cpus[i].rq.priv);
	free(s->tasks);
	free(s->cpus);
	free(s->stints);
	free(s->timers);
	rs_map_release(&s->by_pid);
	rs_map_release(&s->comms);
	rs_map_release(&s->programs);
	rs_groups_release(&s->groups);
	rs_shadow_errors_release(&s->errors);
	free(s);
}

int rs_shadow_run(const struct rs_shadow_log *log, const struct rs_shadow_options *opts,
		  struct resched_shadow *ret)
{
	struct rs_shadow *s = NULL;
	int rc = rs_shadow_new(log, opts, ret, &s);

	if (rc == 0)
		rc = rs_shadow_follow(s);
	rs_shadow_free(s);
	return rc;
}
