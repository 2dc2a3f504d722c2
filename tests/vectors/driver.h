/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A scripted driver: plays events on one run queue in the kernel's order and prints the state after each, for the vectors and the
 * comparisons with other models. It is the smallest engine there can be: no time of its own, every task on one cpu.
 */
#ifndef RS_TESTS_VECTORS_DRIVER_H
#define RS_TESTS_VECTORS_DRIVER_H

#include <assert.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policies/model.h"
#include "policies/policy.h"

#define DRV_MAX_TASKS 64
#define DRV_MAX_GROUPS 8

struct drv_task {
	char name[24];
	struct rs_task t;
	bool seen, asleep;
};

struct drv_group { char name[24]; struct rs_group g; uint64_t timer_ns; };

struct drv {
	const struct rs_policy_ops *ops;
	struct rs_model *model;
	struct rs_rq rq;
	unsigned int nr_tasks, nr_groups;
	struct drv_task tasks[DRV_MAX_TASKS];
	struct drv_group groups[DRV_MAX_GROUPS];
};

static inline void *drv_alloc(size_t size)
{
	void *mem = aligned_alloc(16, (size + 15) / 16 * 16);

	assert_non_null(mem);
	memset(mem, 0, (size + 15) / 16 * 16);
	return mem;
}

/* @knobs: features "NO_X" and settings "a=b" separated by blanks. */
static inline struct rs_model *drv_model(const char *policy, const char *kernel, unsigned int cpus, const char *knobs)
{
	char text[256], *save = NULL;
	const char *features[16], *settings[16];
	unsigned int nr_features = 0, nr_settings = 0;
	struct resched_error err = { 0 };
	struct rs_model *model = NULL;

	snprintf(text, sizeof(text), "%s", knobs);
	for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		if (strchr(word, '='))
			settings[nr_settings++] = word;
		else
			features[nr_features++] = word;
	}
	if (rs_model_new(policy, kernel, cpus, nr_features, features, nr_settings, settings, &model, &err) < 0)
		fail_msg("model %s %s %s: %s", policy, kernel, knobs, err.text);
	return model;
}

static inline void drv_rq_init(struct drv *d, struct rs_rq *rq)
{
	memset(rq, 0, sizeof(*rq));
	rq->model = d->model;
	rq->priv = drv_alloc(d->ops->rq_size);
	d->ops->rq_init(rq);
}

static inline struct drv *drv_new_cpus(const char *policy, const char *kernel, unsigned int cpus, const char *knobs)
{
	struct drv *d = drv_alloc(sizeof(*d));

	d->ops = rs_policy_ops_find(policy);
	assert_non_null(d->ops);
	d->model = drv_model(policy, kernel, cpus, knobs);
	drv_rq_init(d, &d->rq);
	return d;
}

static inline struct drv *drv_new(const char *policy, const char *kernel, const char *knobs)
{
	return drv_new_cpus(policy, kernel, 1, knobs);
}

static inline void drv_free(struct drv *d)
{
	for (unsigned int i = 0; i < d->nr_tasks; i++)
		free(d->tasks[i].t.priv);
	for (unsigned int i = 0; i < d->nr_groups; i++)
		free(d->groups[i].g.priv);
	free(d->rq.priv);
	rs_model_free(d->model);
	free(d);
}

static inline struct drv_task *drv_find(struct drv *d, const char *name)
{
	for (unsigned int i = 0; i < d->nr_tasks; i++) {
		if (!strcmp(d->tasks[i].name, name))
			return &d->tasks[i];
	}
	fail_msg("no task %s", name);
	return NULL;
}

static inline struct rs_group *drv_group_find(struct drv *d, const char *name)
{
	for (unsigned int i = 0; i < d->nr_groups; i++) {
		if (!strcmp(d->groups[i].name, name))
			return &d->groups[i].g;
	}
	return NULL;
}

static inline void drv_set_timer(struct rs_group *group, uint64_t at_ns)
{
	*(uint64_t *)group->timer_ctx = at_ns;
}

/* @parent: NULL = the root; the group has a part on the driver's one cpu. @quota_ns: of each @period_ns, 0 = no limit */
static inline struct rs_group *drv_group_limited(struct drv *d, const char *name, struct rs_group *parent, uint64_t shares, bool idle,
						 uint64_t quota_ns, uint64_t period_ns)
{
	struct drv_group *dg = &d->groups[d->nr_groups++];

	assert_true(d->nr_groups <= DRV_MAX_GROUPS);
	snprintf(dg->name, sizeof(dg->name), "%s", name);
	dg->g = (struct rs_group){ .parent = parent, .shares = shares, .idle = idle, .nr_cpus = 1, .quota_ns = quota_ns,
				   .period_ns = period_ns, .set_timer = drv_set_timer, .timer_ctx = &dg->timer_ns,
				   .stride = (d->ops->group_size + 15) / 16 * 16 };
	dg->timer_ns = UINT64_MAX;
	dg->g.priv = drv_alloc(dg->g.stride);
	d->ops->group_init(&dg->g, &d->rq);
	return &dg->g;
}

static inline struct rs_group *drv_group(struct drv *d, const char *name, struct rs_group *parent, uint64_t shares, bool idle)
{
	return drv_group_limited(d, name, parent, shares, idle, 0, 0);
}

/* When the next of the groups' timers is due; *@ret is its group. */
static inline uint64_t drv_next_timer(struct drv *d, struct rs_group **ret)
{
	uint64_t at = UINT64_MAX;

	for (unsigned int i = 0; i < d->nr_groups; i++) {
		if (d->groups[i].timer_ns < at) {
			at = d->groups[i].timer_ns;
			*ret = &d->groups[i].g;
		}
	}
	return at;
}

static inline struct rs_task *drv_task_latency(struct drv *d, const char *name, int nice, enum rs_sched_policy policy, uint64_t slice_ns,
					       int latency_nice)
{
	struct drv_task *dt = &d->tasks[d->nr_tasks];

	assert_true(d->nr_tasks < DRV_MAX_TASKS);
	snprintf(dt->name, sizeof(dt->name), "%s", name);
	dt->t.id = d->nr_tasks++;
	dt->t.nice = nice;
	dt->t.policy = policy;
	dt->t.custom_slice_ns = slice_ns;
	dt->t.latency_nice = latency_nice;
	dt->t.priv = drv_alloc(d->ops->task_size);
	dt->asleep = true;
	d->ops->task_init(&dt->t, d->model);
	return &dt->t;
}

static inline struct rs_task *drv_task(struct drv *d, const char *name, int nice, enum rs_sched_policy policy, uint64_t slice_ns)
{
	return drv_task_latency(d, name, nice, policy, slice_ns, 0);
}

static inline const char *drv_name(const struct drv *d, const struct rs_task *t)
{
	return t ? d->tasks[t->id].name : "idle";
}

/* OP-7 / SCHEDULE */
static inline void drv_schedule(struct drv *d)
{
	struct rs_task *prev = d->rq.curr, *next = d->ops->pick(&d->rq);

	if (next != prev || (prev && !prev->on_rq)) {
		if (prev)
			d->ops->put_prev(&d->rq, prev);
		d->rq.curr = NULL;
		if (next)
			d->ops->set_next(&d->rq, next, true);
		d->rq.curr = next;
	}
	d->rq.need_resched = false;
}

/* Something was queued: ask for the cpu. */
static inline void drv_check(struct drv *d, struct rs_task *t, unsigned int flags)
{
	if (!d->rq.curr)
		d->rq.need_resched = true;
	else if (d->rq.curr != t)
		d->ops->wakeup_preempt(&d->rq, t, flags);
}

static inline void drv_wake(struct drv *d, struct rs_task *t)
{
	if (t->on_rq) {
		d->ops->wakeup_queued(&d->rq, t);
	} else {
		t->rq = &d->rq;
		d->ops->enqueue(&d->rq, t, RS_ENQ_WAKEUP);
	}
	drv_check(d, t, RS_ENQ_WAKEUP);
}

static inline void drv_fork(struct drv *d, struct rs_task *child)
{
	if (d->ops->fork)
		d->ops->fork(&d->rq, d->rq.curr, child);
	child->rq = &d->rq;
	d->ops->enqueue(&d->rq, child, RS_ENQ_INITIAL);
	drv_check(d, child, RS_ENQ_INITIAL);
}

/* The running task blocks; the caller schedules. */
static inline void drv_block(struct drv *d, unsigned int flags)
{
	assert_non_null(d->rq.curr);
	d->ops->dequeue(&d->rq, d->rq.curr, flags);
}

#endif
