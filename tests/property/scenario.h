/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random scenarios on one queue: wakeups, forks, blocks, ticks, yields, changes of nice and slice. Each step is told to a callback
 * as the text of the reference model ("ev TIME OP [TASK [VALUE]]"), after it was played and any switch was made.
 */
#ifndef RS_TESTS_PROPERTY_SCENARIO_H
#define RS_TESTS_PROPERTY_SCENARIO_H

#include "property/rng.h"
#include "vectors/driver.h"

struct scenario {
	struct drv *d;
	struct rng rng;
	uint64_t now, next_tick;
	bool slices, nices;		/* may slices, may nice change */
	bool stops;			/* may tasks stop (never delayed) */
	bool groups;			/* are there groups, and do tasks move between them */
	void (*step)(struct scenario *s, const char *text);
	void *ctx;
};

static inline void scenario_tell(struct scenario *s, const char *fmt, ...)
{
	char text[96];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (s->d->rq.need_resched)
		drv_schedule(s->d);
	s->step(s, text);
}

/* Nice 0 mostly, the rest anywhere. */
static inline int scenario_nice(struct scenario *s)
{
	return rng_below(&s->rng, 2) ? 0 : (int)rng_below(&s->rng, 40) - 20;
}

static inline uint64_t scenario_slice(struct scenario *s)
{
	static const uint64_t slices[] = { 0, 100000, 500000, 1000000, 5000000, 20000000 };

	return s->slices ? slices[rng_below(&s->rng, 6)] : 0;
}

static inline struct rs_group *scenario_group(struct scenario *s, const char **name)
{
	uint64_t i = s->groups ? rng_below(&s->rng, s->d->nr_groups + 1) : s->d->nr_groups;

	*name = i < s->d->nr_groups ? s->d->groups[i].name : "-";
	return i < s->d->nr_groups ? &s->d->groups[i].g : NULL;
}

/* Adds @nr groups, some inside others, and tells each as "group NAME WEIGHT PARENT". */
static inline void scenario_groups(struct scenario *s, unsigned int nr)
{
	static const uint64_t weights[] = { 1, 33, 100, 100, 300, 10000 };

	s->groups = true;
	for (unsigned int i = 0; i < nr; i++) {
		uint64_t shares = rs_shares_of_weight(weights[rng_below(&s->rng, 6)]);
		struct rs_group *parent;
		const char *above;
		char name[8], text[96];

		parent = scenario_group(s, &above);
		snprintf(name, sizeof(name), "g%u", i % 1000);
		drv_group(s->d, name, parent, shares, false);
		snprintf(text, sizeof(text), "group %s %lu %s", name, (unsigned long)shares, above);
		s->step(s, text);
	}
}

/* Adds @nr tasks, all asleep, and tells each as "task NAME NICE SLICE POLICY", and " GROUP" if there are groups. */
static inline void scenario_tasks(struct scenario *s, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		static const enum rs_sched_policy kinds[] = { RS_SCHED_NORMAL, RS_SCHED_NORMAL, RS_SCHED_NORMAL, RS_SCHED_BATCH, RS_SCHED_IDLE };
		enum rs_sched_policy kind = kinds[rng_below(&s->rng, 5)];
		int nice = kind == RS_SCHED_IDLE ? 0 : scenario_nice(s);
		uint64_t slice = scenario_slice(s);
		char name[8], text[96];

		const char *group = "";
		struct rs_task *t;

		snprintf(name, sizeof(name), "t%u", i % 1000);
		t = drv_task(s->d, name, nice, kind, slice);
		if (s->groups)
			t->group = scenario_group(s, &group);
		snprintf(text, sizeof(text), "task %s %d %lu %s %s", name, nice, (unsigned long)slice,
			 kind == RS_SCHED_IDLE ? "I" : kind == RS_SCHED_BATCH ? "B" : "N", group);
		s->step(s, text);
	}
}

static inline void scenario_wake(struct scenario *s, struct drv_task *dt)
{
	bool new = !dt->seen && rng_below(&s->rng, 2);

	dt->seen = true;
	dt->asleep = false;
	if (new)
		drv_fork(s->d, &dt->t);
	else
		drv_wake(s->d, &dt->t);
	scenario_tell(s, "ev %lu %s %s", (unsigned long)s->now, new ? "fork" : "wake", dt->name);
}

static inline void scenario_change(struct scenario *s, struct drv_task *dt)
{
	struct rs_task *t = &dt->t;
	const struct rs_policy_ops *ops = s->d->ops;

	if (!t->rq)
		return;
	if (s->nices && t->policy != RS_SCHED_IDLE && (!s->slices || rng_below(&s->rng, 2))) {
		int nice = scenario_nice(s);

		if (nice == t->nice)
			return;
		ops->reweight(t, s->now, nice, t->policy, t->custom_slice_ns);
		scenario_tell(s, "ev %lu nice %s %d", (unsigned long)s->now, dt->name, nice);
	} else if (s->slices) {
		uint64_t slice = scenario_slice(s);

		ops->reweight(t, s->now, t->nice, t->policy, slice);
		scenario_tell(s, "ev %lu slice %s %lu", (unsigned long)s->now, dt->name, (unsigned long)slice);
	}
}

static inline void scenario_move(struct scenario *s, struct drv_task *dt)
{
	const char *name;
	struct rs_group *to = scenario_group(s, &name);

	if (!dt->t.rq || to == dt->t.group)
		return;
	s->d->ops->move_group(&dt->t, s->now, to);
	scenario_tell(s, "ev %lu move %s %s", (unsigned long)s->now, dt->name, name);
}

static inline void scenario_block(struct scenario *s)
{
	struct drv_task *dt = &s->d->tasks[s->d->rq.curr->id];
	bool stop = s->stops && !rng_below(&s->rng, 4);

	dt->asleep = true;
	drv_block(s->d, stop ? RS_DEQ_SLEEP | RS_DEQ_SPECIAL : RS_DEQ_SLEEP);
	drv_schedule(s->d);
	scenario_tell(s, "ev %lu %s %s", (unsigned long)s->now, stop ? "stop" : "sleep", dt->name);
}

/* One more step: time goes on, ticks that fall due come first. */
static inline void scenario_step(struct scenario *s)
{
	struct drv *d = s->d;
	struct drv_task *dt = &d->tasks[rng_below(&s->rng, d->nr_tasks)];
	uint64_t r = rng_below(&s->rng, 100), next;

	next = s->now + (r % 3 == 0 ? 0 : r % 3 == 1 ? rng_below(&s->rng, 50000) : rng_below(&s->rng, 1500000));
	while (next >= s->next_tick) {
		s->now = d->rq.clock_ns = s->next_tick;
		s->next_tick += d->model->tick_ns;
		if (d->rq.curr) {
			d->ops->tick(&d->rq);
			scenario_tell(s, "ev %lu tick", (unsigned long)s->now);
		}
	}
	s->now = d->rq.clock_ns = next;
	r = rng_below(&s->rng, 100);
	if (dt->asleep && r < 60) {
		scenario_wake(s, dt);
	} else if (d->rq.curr && r < 75) {
		scenario_block(s);
	} else if (d->rq.curr && r < 80) {
		d->ops->yield(&d->rq);
		drv_schedule(d);
		scenario_tell(s, "ev %lu yield", (unsigned long)s->now);
	} else if (r < 90) {
		scenario_change(s, dt);
	} else if (r < 95 && s->groups) {
		scenario_move(s, dt);
	}
}

#endif
