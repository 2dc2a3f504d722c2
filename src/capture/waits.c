// SPDX-License-Identifier: GPL-2.0-only
#include <resched/waits.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

enum task_state { TASK_UNKNOWN = 0, TASK_RUNNING, TASK_QUEUED, TASK_SLEEPING };

struct wait_task {
	uint64_t since_ns;
	uint64_t losses;		/* those before @since_ns */
	int pid;
	uint32_t name;			/* UINT32_MAX: not told */
	uint8_t state, kind;		/* enum task_state; enum resched_wait_kind while it is queued */
	bool pending;			/* woken while it ran */
	bool own;
};

struct resched_waits {
	const struct resched_names *names;
	resched_waited_fn on_wait; void *ctx;
	uint32_t most;
	struct rs_map by_pid;
	uint32_t nr, room;	struct wait_task *tasks;
	bool has_waking;		/* else a wakeup is all there is */
	uint64_t untracked, losses;
};

int resched_waits_new(unsigned int max_tasks, resched_waited_fn on_wait, void *ctx, struct resched_waits **ret)
{
	struct resched_waits *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->on_wait = on_wait;
	w->ctx = ctx;
	w->most = max_tasks ? max_tasks : UINT32_MAX;
	*ret = w;
	return 0;
}

void resched_waits_begin(struct resched_waits *w, const struct resched_names *names)
{
	rs_map_release(&w->by_pid);
	w->nr = 0;
	w->names = names;
	w->has_waking = false;
}

static struct wait_task *find(const struct resched_waits *w, int pid)
{
	uint32_t at = rs_map_get(&w->by_pid, (uint32_t)pid);

	return at == RS_MAP_NONE ? NULL : &w->tasks[at];
}

/* Valid until the next call. Return: 1; 0: idle, or no room is left for it; -ENOMEM. */
static int get(struct resched_waits *w, int pid, struct wait_task **ret)
{
	if (!pid)
		return 0;
	*ret = find(w, pid);
	if (*ret)
		return 1;
	if (w->nr >= w->most) {
		w->untracked++;
		return 0;
	}
	if (w->nr == w->room) {
		uint32_t room = w->room ? w->room * 2 : 256;
		struct wait_task *tasks = realloc(w->tasks, room * sizeof(*tasks));

		if (!tasks)
			return -ENOMEM;
		w->tasks = tasks;
		w->room = room;
	}
	if (rs_map_set(&w->by_pid, (uint32_t)pid, w->nr) < 0)
		return -ENOMEM;
	*ret = &w->tasks[w->nr++];
	**ret = (struct wait_task){ .pid = pid, .name = UINT32_MAX };
	return 1;
}

/* It is dead and will not come back. The last one takes its place. */
static void forget(struct resched_waits *w, struct wait_task *task)
{
	rs_map_drop(&w->by_pid, (uint32_t)task->pid);
	if (task == &w->tasks[--w->nr])
		return;
	*task = w->tasks[w->nr];
	(void)rs_map_set(&w->by_pid, (uint32_t)task->pid, (uint32_t)(task - w->tasks));	/* replaces: takes no memory */
}

static const char *comm_of(const struct resched_waits *w, const struct wait_task *task)
{
	return !task || task->name == UINT32_MAX || !w->names ? "?" : resched_names_get(w->names, task->name);
}

const char *resched_waits_comm(const struct resched_waits *w, int pid)
{
	return comm_of(w, find(w, pid));
}

static void queue(const struct resched_waits *w, struct wait_task *task, enum resched_wait_kind kind, uint64_t ts_ns)
{
	task->state = TASK_QUEUED;
	task->kind = (uint8_t)kind;
	task->since_ns = ts_ns;
	task->losses = w->losses;
	task->pending = false;
}

static int woken(struct resched_waits *w, const struct resched_event *ev)
{
	struct wait_task *task;
	int rc = get(w, ev->pid, &task);

	if (rc <= 0)
		return rc;
	if (task->state == TASK_RUNNING && task->losses == w->losses)
		task->pending = true;
	else if (task->state != TASK_QUEUED || ev->type == RESCHED_EV_WAKEUP_NEW || task->losses != w->losses)
		queue(w, task, RESCHED_WAIT_WAKE, ev->ts_ns);
	return 0;
}

static void off_cpu(struct resched_waits *w, struct wait_task *task, const struct resched_event *ev)
{
	task->own |= (ev->ctx & RESCHED_CTX_OWN) != 0;
	if (resched_state_runnable(ev->sw.prev_state))
		queue(w, task, RESCHED_WAIT_PREEMPTED, ev->ts_ns);
	else if (ev->sw.prev_state & (RESCHED_STATE_X | RESCHED_STATE_Z))
		forget(w, task);
	else if (task->pending && task->losses == w->losses)
		queue(w, task, RESCHED_WAIT_RACED, ev->ts_ns);
	else
		task->state = TASK_SLEEPING;
}

static void on_cpu(const struct resched_waits *w, struct wait_task *task, const struct resched_event *ev)
{
	const struct resched_waited wait = { .pid = task->pid, .cpu = ev->cpu, .kind = (enum resched_wait_kind)task->kind, .own = task->own,
					   .from_ns = task->since_ns, .at_ns = ev->ts_ns, .comm = comm_of(w, task) };
	bool whole = task->state == TASK_QUEUED && task->losses == w->losses && ev->ts_ns >= task->since_ns;

	task->state = TASK_RUNNING;
	task->losses = w->losses;
	task->pending = false;
	if (whole)
		w->on_wait(w->ctx, &wait);
}

static int switched(struct resched_waits *w, const struct resched_event *ev)
{
	struct wait_task *task;
	int rc = get(w, ev->pid, &task);

	if (rc > 0)
		off_cpu(w, task, ev);
	if (rc >= 0)
		rc = get(w, ev->sw.next_pid, &task);
	if (rc > 0)
		on_cpu(w, task, ev);
	return rc < 0 ? rc : 0;
}

/* A pid that is given again is another task, called as its parent until it is told. */
static int forked(struct resched_waits *w, const struct resched_event *ev)
{
	const struct wait_task *parent = find(w, ev->pid);
	uint32_t name = parent ? parent->name : UINT32_MAX;
	struct wait_task *child;
	int rc = get(w, ev->fork.child_pid, &child);

	if (rc > 0)
		*child = (struct wait_task){ .pid = child->pid, .name = child->name != UINT32_MAX ? child->name : name };
	return rc < 0 ? rc : 0;
}

static int named(struct resched_waits *w, const struct resched_event *ev)
{
	struct wait_task *task;
	int rc = get(w, ev->pid, &task);

	if (rc > 0)
		task->name = ev->comm.name;
	return rc < 0 ? rc : 0;
}

int resched_waits_event(void *waits, const struct resched_event *ev)
{
	struct resched_waits *w = waits;

	switch (ev->type) {
	case RESCHED_EV_SWITCH:
		return switched(w, ev);
	case RESCHED_EV_WAKING:
		w->has_waking = true;
		return woken(w, ev);
	case RESCHED_EV_WAKEUP:
		return w->has_waking ? 0 : woken(w, ev);
	case RESCHED_EV_WAKEUP_NEW:
		return woken(w, ev);
	case RESCHED_EV_FORK:
		return forked(w, ev);
	case RESCHED_EV_COMM:
		return named(w, ev);
	case RESCHED_EV_LOST:	/* what waited may have run meanwhile, and who slept may be awake */
		w->losses++;
		return 0;
	default:
		return 0;
	}
}

void resched_waits_forget_names(struct resched_waits *w)
{
	for (uint32_t i = 0; i < w->nr; i++)
		w->tasks[i].name = UINT32_MAX;
}

void resched_waits_stats(const struct resched_waits *w, struct resched_waits_stats *ret)
{
	*ret = (struct resched_waits_stats){ .nr_tasks = w->nr, .untracked = w->untracked, .losses = w->losses };
}

void resched_waits_free(struct resched_waits *w)
{
	if (!w)
		return;
	rs_map_release(&w->by_pid);
	free(w->tasks);
	free(w);
}
