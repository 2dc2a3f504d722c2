// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/text.h"

#define LOOKUPS_MOST 200u	/* files of /proc read in one interval */
#define SWEEP_MOST 50u		/* of them for tasks whose cgroup may have changed */
#define TOP_MOST 64u
#define TASKS_FOLLOWED 4u	/* so many times those with figures: the pairing needs little */

struct watch_task {
	int pid;			/* 0: a free slot */
	bool own;
	uint32_t cgroup, generation;
	struct { uint64_t count, sum_ns, max_ns; } now;	/* waits of this interval */
};

static unsigned int slot_of(const struct watch *w, int pid)
{
	return (unsigned int)((uint32_t)pid * 2654435761u) & (w->slots - 1);
}

static struct watch_task *find(struct watch *w, int pid)
{
	for (unsigned int i = slot_of(w, pid);; i = (i + 1) & (w->slots - 1)) {
		if (w->tasks[i].pid == pid)
			return &w->tasks[i];
		if (!w->tasks[i].pid)
			return NULL;
	}
}

static struct watch_task *get(struct watch *w, int pid)
{
	struct watch_task *task = find(w, pid);
	unsigned int i;

	if (task)
		return task;
	if (w->nr >= w->max)
		return NULL;
	for (i = slot_of(w, pid); w->tasks[i].pid; i = (i + 1) & (w->slots - 1))
		;
	w->nr++;
	w->tasks[i] = (struct watch_task){ .pid = pid, .cgroup = CGROUP_UNKNOWN };
	return &w->tasks[i];
}

/* Linear probing: those behind the hole move up, so that no search ends too early. */
static void drop(struct watch *w, struct watch_task *task)
{
	unsigned int mask = w->slots - 1, hole = (unsigned int)(task - w->tasks);

	for (unsigned int i = (hole + 1) & mask; w->tasks[i].pid; i = (i + 1) & mask) {
		unsigned int home = slot_of(w, w->tasks[i].pid);

		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		w->tasks[hole] = w->tasks[i];
		hole = i;
	}
	w->tasks[hole] = (struct watch_task){ 0 };
	w->nr--;
}

static void look_up(struct watch *w, struct watch_task *task)
{
	char path[CONFIG_TEXT];

	if (w->lookups >= LOOKUPS_MOST)
		return;
	w->lookups++;
	if (cgroup_path_of(task->pid, path, sizeof(path)) < 0)
		return;
	task->cgroup = cgroups_find(&w->cgroups, path);
	task->generation = w->cgroups.items[task->cgroup].generation;
}

static uint32_t cgroup_of(struct watch *w, struct watch_task *task)
{
	bool stale = task->cgroup != CGROUP_UNKNOWN && w->cgroups.items[task->cgroup].generation != task->generation;

	if (stale)
		task->cgroup = CGROUP_UNKNOWN;
	if (task->cgroup == CGROUP_UNKNOWN)
		look_up(w, task);
	return task->cgroup == CGROUP_UNKNOWN ? CGROUP_OTHER : task->cgroup;
}

/* A wait is over. Tasks without room for figures of their own count for the host and for all others. */
static void end_wait(void *ctx, const struct resched_waited *from)
{
	struct watch *w = ctx;
	struct watch_task *task = get(w, from->pid);
	uint32_t cgroup;
	struct wait wait = { .pid = from->pid, .cpu = from->cpu, .is_wake = from->kind == RESCHED_WAIT_WAKE, .ns = from->at_ns - from->from_ns,
			     .end_ns = from->at_ns, .comm = from->comm };

	if (task)
		task->own = from->own;
	if (from->own)
		return;
	cgroup = task ? cgroup_of(w, task) : CGROUP_OTHER;
	cgroup_add(&w->cgroups, CGROUP_HOST, wait.is_wake, wait.ns);
	cgroup_add(&w->cgroups, cgroup, wait.is_wake, wait.ns);
	if (task) {
		task->now.count++;
		task->now.sum_ns += wait.ns;
		if (wait.ns > task->now.max_ns)
			task->now.max_ns = wait.ns;
	}
	wait.cgroup = w->cgroups.items[cgroup].path;
	if (w->on_wait)
		w->on_wait(w->ctx, &wait);
}

/* It begins in the cgroup of its parent, where that is known. */
static void on_fork(struct watch *w, const struct resched_event *event)
{
	struct watch_task *child = event->fork.child_pid ? find(w, event->fork.child_pid) : NULL, from;
	const struct watch_task *parent;

	if (child)	/* the pid of one whose end was not seen */
		drop(w, child);
	parent = find(w, event->pid);
	if (!parent)
		return;
	from = *parent;
	child = event->fork.child_pid ? get(w, event->fork.child_pid) : NULL;
	if (!child)
		return;
	child->cgroup = from.cgroup;
	child->generation = from.generation;
}

/* Dead, and it will not come back. */
static void on_switch(struct watch *w, const struct resched_event *event)
{
	struct watch_task *task;

	if (resched_state_runnable(event->sw.prev_state) || !(event->sw.prev_state & (RESCHED_STATE_X | RESCHED_STATE_Z)) || !event->pid)
		return;
	task = find(w, event->pid);
	if (task)
		drop(w, task);
}

int watch_event(void *ctx, const struct resched_event *event)
{
	struct watch *w = ctx;
	int rc = resched_waits_event(w->waits, event);

	if (event->type == RESCHED_EV_SWITCH)
		on_switch(w, event);
	else if (event->type == RESCHED_EV_FORK)
		on_fork(w, event);
	return rc;
}

int watch_init(struct watch *w, unsigned int max_tasks, unsigned int max_cgroups)
{
	*w = (struct watch){ .max = max_tasks, .slots = 64 };
	while (w->slots < max_tasks * 2)
		w->slots *= 2;
	w->tasks = calloc(w->slots, sizeof(*w->tasks));
	if (!w->tasks || cgroups_init(&w->cgroups, max_cgroups) < 0 || resched_waits_new(max_tasks * TASKS_FOLLOWED, end_wait, w, &w->waits) < 0) {
		watch_release(w);
		return -ENOMEM;
	}
	return 0;
}

void watch_release(struct watch *w)
{
	free(w->tasks);
	w->tasks = NULL;
	resched_waits_free(w->waits);
	w->waits = NULL;
	cgroups_release(&w->cgroups);
}

void watch_begin(struct watch *w, const struct resched_names *names, const struct resched_host *host)
{
	memset(w->tasks, 0, w->slots * sizeof(*w->tasks));
	w->nr = 0;
	resched_waits_begin(w->waits, names);
	for (unsigned int i = 0; host && i < host->nr_tasks; i++) {
		struct watch_task *task = host->tasks[i].cgroup && host->tasks[i].pid > 0 ? get(w, host->tasks[i].pid) : NULL;

		if (!task)
			continue;
		task->cgroup = cgroups_find(&w->cgroups, host->tasks[i].cgroup);
		task->generation = w->cgroups.items[task->cgroup].generation;
	}
}

void watch_forget_names(struct watch *w)
{
	resched_waits_forget_names(w->waits);
}

/* Some tasks are asked for their cgroup again: being moved is no event. Those that are gone without having been seen to go make room. */
static void sweep(struct watch *w)
{
	unsigned int looked = 0;

	for (unsigned int i = 0; i < w->slots && looked < SWEEP_MOST; i++) {
		struct watch_task *task = &w->tasks[w->sweep++ & (w->slots - 1)];
		char path[CONFIG_TEXT];

		if (!task->pid || task->own)
			continue;
		looked++;
		if (cgroup_path_of(task->pid, path, sizeof(path)) < 0) {
			drop(w, task);
			continue;
		}
		task->cgroup = cgroups_find(&w->cgroups, path);
		task->generation = w->cgroups.items[task->cgroup].generation;
	}
}

void watch_next_interval(struct watch *w)
{
	for (unsigned int i = 0; i < w->slots; i++)
		memset(&w->tasks[i].now, 0, sizeof(w->tasks[i].now));
	cgroups_next_interval(&w->cgroups);
	w->lookups = 0;
	sweep(w);
}

static void add(struct json_object *to, const char *name, uint64_t value)
{
	json_object_object_add(to, name, json_object_new_uint64(value));
}

static struct json_object *figures(const struct hist *hist)
{
	struct json_object *f = json_object_new_object();

	add(f, "count", hist->count);
	add(f, "sum", hist->sum_ns);
	add(f, "p50", hist_quantile(hist, 0.5));
	add(f, "p99", hist_quantile(hist, 0.99));
	add(f, "p999", hist_quantile(hist, 0.999));
	add(f, "max", hist->max_ns);
	return f;
}

static struct json_object *cgroup_json(const struct cgroup *c)
{
	struct json_object *one = json_object_new_object();

	json_object_object_add(one, "cgroup", text_json(c->path));
	json_object_object_add(one, "wakeup_latency_ns", figures(&c->wake));
	json_object_object_add(one, "run_delay_ns", figures(&c->delay));
	return one;
}

/* The @top largest by @key of @nr things, into @ret, the largest first. Those of 0 are left out. Return: how many. */
static unsigned int largest(const void *from, unsigned int nr, uint64_t (*key)(const void *, unsigned int), unsigned int top, unsigned int *ret)
{
	unsigned int have = 0;

	for (unsigned int i = 0; i < nr; i++) {
		uint64_t value = key(from, i);
		unsigned int at = have;

		if (!value)
			continue;
		while (at && key(from, ret[at - 1]) < value)
			at--;
		if (at >= top)
			continue;
		have = have < top ? have + 1 : top;
		memmove(&ret[at + 1], &ret[at], (have - at - 1) * sizeof(*ret));
		ret[at] = i;
	}
	return have;
}

static uint64_t cgroup_key(const void *from, unsigned int i)
{
	return i < CGROUP_OTHER ? 0 : ((const struct cgroup *)from)[i].delay.sum_ns;
}

static uint64_t task_key(const void *from, unsigned int i)
{
	return ((const struct watch_task *)from)[i].now.sum_ns;
}

struct json_object *watch_sample(const struct watch *w, unsigned int top)
{
	struct json_object *sample = json_object_new_object(), *groups = json_object_new_array(), *tasks = json_object_new_array();
	unsigned int best[TOP_MOST], nr;

	top = top < TOP_MOST ? top : TOP_MOST;
	json_object_object_add(sample, "host", cgroup_json(&w->cgroups.items[CGROUP_HOST]));
	nr = largest(w->cgroups.items, w->cgroups.nr, cgroup_key, top, best);
	for (unsigned int i = 0; i < nr; i++)
		json_object_array_add(groups, cgroup_json(&w->cgroups.items[best[i]]));
	json_object_object_add(sample, "cgroups", groups);
	nr = largest(w->tasks, w->slots, task_key, top, best);
	for (unsigned int i = 0; i < nr; i++) {
		const struct watch_task *task = &w->tasks[best[i]];
		struct json_object *one = json_object_new_object();

		add(one, "pid", (uint64_t)task->pid);
		json_object_object_add(one, "comm", text_json(resched_waits_comm(w->waits, task->pid)));
		add(one, "waits", task->now.count);
		add(one, "sum_ns", task->now.sum_ns);
		add(one, "max_ns", task->now.max_ns);
		json_object_array_add(tasks, one);
	}
	json_object_object_add(sample, "tasks", tasks);
	return sample;
}
