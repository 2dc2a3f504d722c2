// SPDX-License-Identifier: GPL-2.0-only
/* Tasks of a shadow, and the operations on queues that recorded events stand for. */
#include "replay/shadow.h"
#include "replay/workload.h"

#include <errno.h>
#include <stdlib.h>

#define DEFAULT_PRIO 120

struct rs_shadow_task *rs_shadow_find(const struct rs_shadow *s, int32_t pid)
{
	uint32_t idx = rs_map_get(&s->by_pid, (uint32_t)pid);

	return idx == RS_MAP_NONE ? NULL : s->tasks[idx];
}

const char *rs_shadow_comm(const struct rs_shadow *s, const struct rs_shadow_task *t)
{
	if (!t || t->comm == UINT32_MAX || !s->opts.names)
		return "?";
	return resched_names_get(s->opts.names, t->comm);
}

/* The workload names tasks in the order their pids were taken, as this follower does. */
static struct rs_group *group_of(struct rs_shadow *s, int32_t pid)
{
	const struct resched_workload *w = s->opts.workload;
	uint32_t idx, home = rs_map_get(&s->log->homes.first, (uint32_t)pid);

	if (!s->groups.nr || !w)
		return NULL;
	if (home != RS_MAP_NONE)
		return rs_shadow_group_of_key(s, s->log->homes.entries[home].key);
	idx = rs_map_get(&s->programs, (uint32_t)pid);
	if (idx == RS_MAP_NONE)
		return NULL;
	for (uint32_t i = idx + 1; i < w->nr_tasks; i++) {
		if (w->tasks[i].pid != pid)
			continue;
		if (rs_map_set(&s->programs, (uint32_t)pid, i) < 0)
			s->error = -ENOMEM;
		break;
	}
	return rs_groups_of(&s->groups, s->opts.groups, idx);
}

/*
 * A child begins in its parent's group (sched_cgroup_fork()). If the snapshot has it in another cgroup, who forked it has moved it there; a
 * session it begins itself.
 */
static void expect_move(struct rs_shadow *s, struct rs_shadow_task *t, const struct rs_shadow_task *parent)
{
	const struct rs_group_plan *plan = s->opts.groups;
	const struct resched_event *e = &s->log->events[s->at];
	uint32_t idx = rs_map_get(&s->programs, (uint32_t)e->pid);
	struct rs_group *born = parent			? parent->fair.group
				: idx != RS_MAP_NONE	? rs_groups_of(&s->groups, plan, idx)
							: NULL;

	if (!t->fair.group || t->fair.group == born || rs_group_is_session(plan, (uint32_t)(t->fair.group - s->groups.groups)))
		return;
	t->group_after = t->fair.group;
	t->fair.group = born;
	t->mover_pid = e->pid;
	s->nr_to_move++;
}

static struct rs_shadow_task *new_task(struct rs_shadow *s, int32_t pid, unsigned int cpu)
{
	struct rs_shadow_task *t;
	uint32_t comm = rs_map_get(&s->comms, (uint32_t)pid);
	size_t head = (sizeof(*t) + 15) & ~(size_t)15;

	if (s->nr_tasks == s->room) {
		uint32_t room = s->room ? s->room * 2 : 64;
		struct rs_shadow_task **tasks = realloc(s->tasks,
							room * sizeof(struct rs_shadow_task *));

		if (!tasks)
			goto nomem;
		s->tasks = tasks;
		s->room = room;
	}
	t = calloc(1, head + s->opts.ops->task_size);
	if (!t || rs_map_set(&s->by_pid, (uint32_t)pid, s->nr_tasks) < 0) {
		free(t);
		goto nomem;
	}
	t->fair.id = s->nr_tasks;
	t->fair.group = group_of(s, pid);
	t->fair.priv = (char *)t + head;
	t->pid = pid;
	t->prio = -1;
	t->departs_at = RS_NO_EVENT;
	t->comm = comm == RS_MAP_NONE ? UINT32_MAX : comm;
	t->cpu = cpu < s->nr_cpus ? cpu : 0;
	t->known = s->opts.host ? resched_host_task(s->opts.host, pid) : NULL;
	s->tasks[s->nr_tasks++] = t;
	return t;
nomem:
	s->error = -ENOMEM;
	return NULL;
}

static bool fair_policy(int policy, enum rs_sched_policy *ret)
{
	if (policy != RS_SCHED_NORMAL && policy != RS_SCHED_BATCH && policy != RS_SCHED_IDLE)
		return false;
	*ret = (enum rs_sched_policy)policy;
	return true;
}

/* What a task that is older than the recording has is in the snapshot. */
static void take_snapshot(struct rs_shadow_task *t)
{
	enum rs_sched_policy policy;

	if (t->born_here || !t->known || !fair_policy(t->known->policy, &policy))
		return;
	t->fair.policy = policy;
	t->fair.custom_slice_ns = t->known->slice_ns;
}

/* The lag that was fitted for it. */
static void take_lag(struct rs_shadow *s, struct rs_shadow_task *t)
{
	for (unsigned int i = 0; i < s->opts.nr_lags && !t->born_here && s->opts.ops->adjust; i++) {
		if (s->opts.lags[i].pid != t->pid)
			continue;
		s->opts.ops->adjust(&s->cpus[t->cpu].rq, &t->fair, -s->opts.lags[i].vlag, 0);
		t->lag_off = s->opts.lags[i].vlag;
	}
}

/* It leaves the fair class for a higher one: a delayed task really leaves first. */
static void leave_class(struct rs_shadow *s, struct rs_shadow_task *t)
{
	struct rs_shadow_cpu *c = &s->cpus[t->cpu];

	t->in_class = false;
	if (t->fair.on_rq)
		s->opts.ops->dequeue(&c->rq, &t->fair,
				     t->fair.delayed ? RS_DEQ_SLEEP : RS_DEQ_SAVE | RS_DEQ_MOVE);
	if (c->curr == t)
		rs_shadow_put(s, c);
}

void rs_shadow_ask(struct rs_shadow *s, struct rs_shadow_task *t, int nice, enum rs_sched_policy policy, uint64_t slice_ns)
{
	struct rs_shadow_cpu *c = &s->cpus[t->cpu];

	s->opts.ops->reweight(&t->fair, c->rq.clock_ns, nice, policy, slice_ns);
	rs_shadow_mark(c, RS_MARK_OTHER, s->log->events[s->at].ts_ns);
}

struct rs_shadow_task *rs_shadow_fair(struct rs_shadow *s, int32_t pid, int prio, unsigned int cpu)
{
	struct rs_shadow_task *t = pid ? rs_shadow_find(s, pid) : NULL;

	if (!rs_shadow_is_fair(pid, prio)) {
		if (t && t->in_class)
			leave_class(s, t);
		if (t)
			t->prio = prio;
		return NULL;
	}
	if (!t)
		t = new_task(s, pid, cpu);
	if (!t)
		return NULL;
	if (!t->ready) {
		t->fair.nice = prio - DEFAULT_PRIO;
		take_snapshot(t);
		s->opts.ops->task_init(&t->fair, s->opts.model);
		t->ready = true;
		take_lag(s, t);
	} else if (t->fair.nice != prio - DEFAULT_PRIO) {
		rs_shadow_ask(s, t, prio - DEFAULT_PRIO, t->fair.policy, t->fair.custom_slice_ns);
	}
	t->prio = prio;
	t->in_class = true;
	return t;
}

/* The child copies what its parent has, unless its priority tells of a reset (SCHED_RESET_ON_FORK). */
struct rs_shadow_task *rs_shadow_fork(struct rs_shadow *s, struct rs_shadow_task *parent, int32_t pid,
				      int prio, unsigned int cpu)
{
	struct rs_shadow_task *old = rs_shadow_find(s, pid), *t;

	if (old && old->fair.on_rq) /* the pid was reused and the exit was not seen */
		rs_shadow_leave(s, old);
	t = new_task(s, pid, cpu);
	if (!t)
		return NULL;
	t->born_here = true;
	t->sure = true;
	if (parent && s->log->homes.nr)
		t->fair.group = parent->fair.group;
	else
		expect_move(s, t, parent);
	if (parent && (t->comm == UINT32_MAX || old))
		t->comm = parent->comm;
	if (prio < 0 && parent && parent->in_class)
		prio = parent->prio;
	if (!rs_shadow_is_fair(pid, prio))
		return t;
	t->fair.nice = prio - DEFAULT_PRIO;
	if (parent && parent->in_class && parent->fair.nice == t->fair.nice) {
		t->fair.policy = parent->fair.policy;
		t->fair.custom_slice_ns = parent->fair.custom_slice_ns;
	}
	s->opts.ops->task_init(&t->fair, s->opts.model);
	t->ready = true;
	return t;
}

/* ---- operations ---- */

#define AGE_NS UINT64_C(100000000000) /* beyond any distance that placement adds to a floor */

uint64_t rs_shadow_avg(const struct rs_shadow *s, const struct rs_shadow_cpu *c,
		       const struct rs_shadow_task *t)
{
	struct rs_rq_view view;

	if (t->fair.group && s->opts.ops->view_group_rq)
		s->opts.ops->view_group_rq(&c->rq, t->fair.group, &view);
	else
		s->opts.ops->view_rq(&c->rq, &view);
	return view.avg_vruntime;
}

static int age_group(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_group *group)
{
	const struct rs_policy_ops *ops = s->opts.ops;
	struct rs_task t = {
		.id = UINT32_MAX, .rq = &c->rq, .priv = calloc(1, ops->task_size), .group = group
	};

	if (!t.priv)
		return -ENOMEM;
	ops->task_init(&t, s->opts.model);
	ops->enqueue(&c->rq, &t, RS_ENQ_WAKEUP);
	ops->set_next(&c->rq, &t, true);
	c->rq.curr = &t;
	c->rq.clock_ns += AGE_NS;
	ops->update_curr(&c->rq);
	ops->dequeue(&c->rq, &t, RS_DEQ_SLEEP | RS_DEQ_SPECIAL);
	ops->put_prev(&c->rq, &t);
	c->rq.curr = NULL;
	c->rq.need_resched = false;
	free(t.priv);
	return 0;
}

int rs_shadow_age(struct rs_shadow *s, struct rs_shadow_cpu *c)
{
	int rc;

	c->rq.clock_ns = 1;
	rc = age_group(s, c, NULL);
	for (uint32_t i = 0; rc == 0 && i < s->groups.nr; i++)
		rc = age_group(s, c, &s->groups.groups[i]);
	return rc;
}

void rs_shadow_mark(struct rs_shadow_cpu *c, enum rs_mark mark, uint64_t ts_ns)
{
	if (!c->rq.need_resched || c->mark != RS_MARK_NONE)
		return;
	c->mark = mark;
	c->mark_ns = ts_ns;
}

void rs_shadow_clear_mark(struct rs_shadow_cpu *c)
{
	c->rq.need_resched = false;
	c->mark = RS_MARK_NONE;
	c->mark_ns = 0;
}

void rs_shadow_idle_clock(struct rs_shadow_cpu *c, uint64_t ts_ns)
{
	if (!c->curr && ts_ns > c->rq.clock_ns)
		c->rq.clock_ns = ts_ns;
}

void rs_shadow_advance(struct rs_shadow_cpu *c, uint64_t clock_ns)
{
	if (clock_ns > c->rq.clock_ns)
		c->rq.clock_ns = clock_ns;
}

void rs_shadow_charge(struct rs_shadow *s, struct rs_shadow_cpu *c, uint64_t clock_ns, bool tick)
{
	uint64_t ts = s->log->events[s->at].ts_ns;

	if (!c->curr) {
		rs_shadow_advance(c, clock_ns);
	} else if (clock_ns > c->charged_ns) { /* a clock estimated in between may have been ahead */
		c->curr->ran_ns += clock_ns - c->charged_ns;
		c->rq.clock_ns = c->charged_ns = clock_ns;
	}
	c->sampled_ns = ts;
	if (!c->curr)
		return;
	if (tick)
		s->opts.ops->tick(&c->rq);
	else
		s->opts.ops->update_curr(&c->rq);
	rs_shadow_mark(c, RS_MARK_TICK, ts);
}

void rs_shadow_enqueue(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_shadow_task *t,
		       unsigned int flags)
{
	struct rs_shadow_cpu *old = t->fair.rq ? &s->cpus[t->fair.rq->cpu] : NULL;

	if (t->fair.rq && t->fair.rq != &c->rq) {
		flags |= RS_ENQ_MIGRATED;
		if ((flags & RS_ENQ_WAKEUP) && s->opts.ops->migrate)
			s->opts.ops->migrate(&t->fair, &c->rq);
	}
	t->fair.rq = &c->rq;
	t->cpu = c->rq.cpu;
	if (!c->rq.nr_queued || (flags & RS_ENQ_INITIAL))
		t->sure = true;
	if (old && old != c && old->curr == t)
		rs_shadow_put(
			s,
			old); /* it has left, but its switch event is stamped later than its wakeup here */
	s->opts.ops->enqueue(&c->rq, &t->fair, flags);
	if ((flags & RS_ENQ_WAKEUP) && t->fair.delayed) /* it was under way as a delayed task */
		s->opts.ops->wakeup_queued(&c->rq, &t->fair);
	if (rs_shadow_by_stamps(s)) /* by the accounting on the way */
		rs_shadow_mark(c, RS_MARK_TICK, s->log->events[s->at].ts_ns);
	t->woken = false;
}

void rs_shadow_put(struct rs_shadow *s, struct rs_shadow_cpu *c)
{
	if (!c->curr)
		return;
	if (!c->rq.next) /* nobody follows: what the model picked last does not count */
		c->rq.next = &c->curr->fair;
	s->opts.ops->put_prev(&c->rq, &c->curr->fair);
	c->rq.next = NULL;
	c->rq.curr = NULL;
	c->curr = NULL;
}

void rs_shadow_set(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_shadow_task *t, bool picked)
{
	s->opts.ops->set_next(&c->rq, &t->fair, picked);
	c->rq.curr = &t->fair;
	c->curr = t;
	c->charged_ns = c->rq.clock_ns;
	t->ran_at_set_ns = t->ran_ns;
}

static bool special_state(uint32_t state)
{
	return (state & ~(uint32_t)RESCHED_STATE_PREEMPT &
		~(RESCHED_STATE_S | RESCHED_STATE_D | RESCHED_STATE_I)) != 0;
}

void rs_shadow_block(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_shadow_task *t,
		     uint32_t state)
{
	if (t->blocked_early) {
		t->blocked_early = false;
		return;
	}
	if (!t->fair.on_rq)
		return;
	rs_shadow_before_block(s, c, t);
	s->opts.ops->dequeue(&c->rq, &t->fair,
			     RS_DEQ_SLEEP | (special_state(state) ? RS_DEQ_SPECIAL : 0));
}

static void drop_incoming(struct rs_shadow_cpu *c, struct rs_shadow_task *t)
{
	struct rs_shadow_task **at = &c->incoming;

	while (*at && *at != t)
		at = &(*at)->next_incoming;
	if (*at)
		*at = t->next_incoming;
	t->incoming = false;
}

void rs_shadow_leave(struct rs_shadow *s, struct rs_shadow_task *t)
{
	struct rs_shadow_cpu *c = &s->cpus[t->cpu];

	if (t->incoming)
		drop_incoming(c, t);
	if (!t->fair.on_rq)
		return;
	if (c->curr == t)
		rs_shadow_put(s, c);
	s->opts.ops->dequeue(&c->rq, &t->fair, RS_DEQ_MOVE);
}

/* Balancing attaches first what it detached last (detach_tasks(), attach_tasks()). */
void rs_shadow_add_incoming(struct rs_shadow_cpu *c, struct rs_shadow_task *t)
{
	t->next_incoming = c->incoming;
	c->incoming = t;
	t->incoming = true;
	t->cpu = c->rq.cpu;
}

void rs_shadow_join(struct rs_shadow *s, struct rs_shadow_cpu *c, bool one)
{
	while (c->incoming) {
		struct rs_shadow_task *t = c->incoming;

		c->incoming = t->next_incoming;
		t->incoming = false;
		if (t->fair.on_rq)
			continue;
		rs_shadow_enqueue(s, c, t, 0);
		if (c->curr && c->curr->fair.on_rq)
			rs_shadow_test_wakeup(s, c, t, 0, s->log->events[s->at].ts_ns);
		if (one)
			return;
	}
	if (!c->curr && c->idle) { /* an idle cpu schedules soon: delayed newcomers really leave then */
		c->rq.need_resched = true;
		rs_shadow_mark(c, RS_MARK_OTHER, s->log->events[s->at].ts_ns);
	}
}

void rs_shadow_requeue(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_shadow_task *t)
{
	struct rs_shadow_point before;

	if (t->incoming)
		rs_shadow_join(s, c, false);
	if (!t->fair.on_rq || !t->fair.delayed)
		return;
	rs_shadow_before_requeue(s, c, t, &before);
	s->opts.ops->wakeup_queued(&c->rq, &t->fair);
	rs_shadow_after_requeue(s, c, t, &before);
	t->requeued = true;
}

/* A session's group is left by who exits (task_wants_autogroup()). */
static bool leaves_session(const struct rs_shadow *s, const struct rs_shadow_task *t)
{
	const struct rs_group_plan *plan = s->opts.groups;

	return t->fair.group && plan && !t->fair.group->parent &&
	       rs_group_is_session(plan, (uint32_t)(t->fair.group - s->groups.groups));
}

void rs_shadow_replace(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_shadow_task *t)
{
	bool running = c->curr == t;

	if (!t->fair.on_rq)
		return;
	if (leaves_session(s, t)) {
		rs_shadow_move(s, t, NULL);
		return;
	}
	s->opts.ops->dequeue(&c->rq, &t->fair, RS_DEQ_SAVE | RS_DEQ_MOVE);
	if (running)
		rs_shadow_put(s, c);
	s->opts.ops->enqueue(&c->rq, &t->fair, RS_ENQ_RESTORE);
	if (running) {
		uint64_t ran = t->ran_at_set_ns;

		rs_shadow_set(s, c, t, false);
		t->ran_at_set_ns = ran;
		c->rq.need_resched = true; /* sched_move_task() asks for a schedule */
		rs_shadow_mark(c, RS_MARK_OTHER, s->log->events[s->at].ts_ns);
	}
}

void rs_shadow_move(struct rs_shadow *s, struct rs_shadow_task *t, struct rs_group *group)
{
	struct rs_shadow_cpu *c = &s->cpus[t->cpu];

	if (!t->ready || !s->opts.ops->move_group || t->incoming)
		return;
	s->opts.ops->move_group(&t->fair, c->rq.clock_ns, group);
	if (c->curr == t)
		c->rq.curr = &t->fair;
	rs_shadow_mark(c, RS_MARK_OTHER, s->log->events[s->at].ts_ns);
}

/* __sched_setscheduler() of the running task with another nice: unlike set_user_nice() it lets the queue move on in between. */
static void set_attributes(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_shadow_task *t,
			   int nice, enum rs_sched_policy policy)
{
	const struct rs_policy_ops *ops = s->opts.ops;
	bool lowered = nice > t->fair.nice;
	uint64_t ran = t->ran_at_set_ns;

	ops->dequeue(&c->rq, &t->fair, RS_DEQ_SAVE | RS_DEQ_MOVE);
	rs_shadow_put(s, c);
	ops->reweight(&t->fair, c->rq.clock_ns, nice, policy, t->known->slice_ns);
	ops->enqueue(&c->rq, &t->fair, RS_ENQ_RESTORE);
	rs_shadow_set(s, c, t, false);
	t->ran_at_set_ns = ran;
	if (lowered && c->rq.nr_queued != 1)
		c->rq.need_resched = true; /* prio_changed_fair() */
}

void rs_shadow_setup(struct rs_shadow *s, struct rs_shadow_cpu *c, struct rs_shadow_task *t)
{
	enum rs_sched_policy policy;

	t->want_setup = false;
	if (!t->known)
		return;
	if (!fair_policy(t->known->policy, &policy)) {
		leave_class(s, t);
		return;
	}
	t->prio = DEFAULT_PRIO + t->known->nice;
	if (c->curr == t && t->fair.on_rq && t->known->nice != t->fair.nice)
		set_attributes(s, c, t, t->known->nice, policy);
	else
		s->opts.ops->reweight(&t->fair, c->rq.clock_ns, t->known->nice, policy,
				      t->known->slice_ns);
	rs_shadow_mark(c, RS_MARK_OTHER, s->log->events[s->at].ts_ns);
}

struct rs_shadow_task *rs_shadow_pick(struct rs_shadow *s, struct rs_shadow_cpu *c)
{
	struct rs_task *t = c->rq.nr_queued ? s->opts.ops->pick(&c->rq) : NULL;

	return t ? rs_shadow_task_of(t) : NULL;
}
