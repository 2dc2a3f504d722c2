// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hierarchies of every model under random events: what queues keep as sums is counted again after every step. On several cpus, what
 * load averages and weights must satisfy whatever happens, and what they come to in simple cases.
 */
#include "property/scenario.h"

#include "policies/cfs.h"
#include "policies/eevdf_entity.h"

#define MS 1000000ull

static const struct { const char *policy, *kernel; } models[] = {
	{ "eevdf", "6.6" }, { "eevdf", "6.8" }, { "eevdf", "6.12" }, { "eevdf", "6.18" }, { "evdf", "6.12" }, { "evdf", "6.6" },
	{ "cfs", "5.4" }, { "cfs", "5.10" }, { "cfs", "5.15" }, { "cfs", "6.1" }, { "cfs", "4.18" }, { "cfs", "stage-lag" },
	{ "eevdf", "eevdf-2023-03" }, { "eevdf", "stage-eevdf" }, { "eevdf", "eevdf-2023-05" }, { "eevdf", "queue-2023-10" },
	{ "eevdf", "delay-2024-04" },
};
#define NR_MODELS (sizeof(models) / sizeof(models[0]))

/* ---- one cpu: sums ---- */

struct counted { unsigned int nr, h_nr; uint64_t weight, load; __int128 sum; };

/* A task's or group's entity counts in its queue @q. */
static void count_eevdf(const struct rs_eevdf_entity *e, const struct rs_eevdf_queue *q, struct counted *c)
{
	if (!e->on || rs_eevdf_queue_of(e) != q)
		return;
	c->nr++;
	c->weight += e->load.weight;
	assert_int_equal(e->w, rs_load_down(e->load.weight));
	if (q->curr == e)
		return;
	c->load += e->w;
	c->sum += (__int128)(int64_t)(e->vruntime - q->zero) * (int64_t)e->w;
}

static void count_cfs(const struct rs_cfs_entity *e, const struct rs_cfs_queue *q, struct counted *c)
{
	if (!e->on || rs_cfs_queue_of(e) != q)
		return;
	c->nr++;
	c->weight += e->load.weight;
	assert_true(q->curr == e || q->tree.root);	/* who waits is in the tree */
}

static bool is_cfs(const struct drv *d)
{
	return d->ops == rs_policy_ops_find("cfs");
}

static bool below(const struct rs_group *group, const struct rs_group *top)
{
	for (; group; group = group->parent) {
		if (group == top)
			return true;
	}
	return !top;
}

static void check_queue(struct drv *d, struct rs_group *group, void *queue)
{
	const struct rs_eevdf_queue *eq = queue;
	const struct rs_cfs_queue *cq = queue;
	struct counted c = { 0 };

	for (unsigned int i = 0; i < d->nr_tasks; i++) {
		if (is_cfs(d))
			count_cfs(d->tasks[i].t.priv, cq, &c);
		else
			count_eevdf(d->tasks[i].t.priv, eq, &c);
		c.h_nr += d->tasks[i].t.on_rq && below(d->tasks[i].t.group, group);
	}
	for (unsigned int i = 0; i < d->nr_groups; i++) {
		if (is_cfs(d))
			count_cfs(rs_group_part(&d->groups[i].g, 0), cq, &c);
		else
			count_eevdf(rs_group_part(&d->groups[i].g, 0), eq, &c);
	}
	if (is_cfs(d)) {
		assert_int_equal(cq->nr, c.nr);
		assert_int_equal(cq->load, c.weight);
		assert_int_equal(cq->h.h_nr, c.h_nr);
		return;
	}
	assert_int_equal(eq->nr, c.nr);
	assert_int_equal(eq->weight, c.weight);
	assert_int_equal(eq->h.h_nr, c.h_nr);
	assert_int_equal(eq->load, c.load);
	assert_true(eq->sum == (int64_t)c.sum);
}

/* A group's entity is queued exactly if something is in its queue, or it is delayed. */
static void check_group(struct drv *d, struct rs_group *group)
{
	if (is_cfs(d)) {
		const struct rs_cfs_entity *e = rs_group_part(group, 0);

		assert_int_equal(e->on, rs_cfs_own(e)->nr > 0);
		assert_int_equal(e->load.weight, group->shares);
		check_queue(d, group, rs_cfs_own(e));
	} else {
		const struct rs_eevdf_entity *e = rs_group_part(group, 0);

		assert_int_equal(e->on && !e->delayed, rs_eevdf_own(e)->nr > 0);
		assert_int_equal(e->load.weight, group->shares);
		check_queue(d, group, rs_eevdf_own(e));
	}
}

static void check_step(struct scenario *s, const char *text)
{
	struct drv *d = s->d;
	unsigned int queued = 0, delayed = 0;

	if (strncmp(text, "ev ", 3))
		return;
	for (unsigned int i = 0; i < d->nr_tasks; i++) {
		queued += d->tasks[i].t.on_rq;
		delayed += d->tasks[i].t.delayed;
	}
	assert_int_equal(d->rq.nr_queued, queued);
	assert_int_equal(d->rq.nr_delayed, delayed);
	check_queue(d, NULL, d->rq.priv);
	for (unsigned int i = 0; i < d->nr_groups; i++)
		check_group(d, &d->groups[i].g);
	/* somebody runs if somebody can */
	assert_int_equal(d->rq.curr != NULL, queued > delayed);
}

static void sums_are_right(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_MODELS; i++) {
		for (uint64_t seed = 1; seed <= 12; seed++) {
			struct scenario s = { .rng = { seed * 77 + i }, .step = check_step, .nices = true, .stops = true };

			s.d = drv_new(models[i].policy, models[i].kernel, seed % 2 ? "hz=1000" : "hz=250 NEXT_BUDDY");
			s.slices = s.d->model->rules->custom_slices;
			s.next_tick = s.d->model->tick_ns;
			scenario_groups(&s, 1 + (unsigned int)(seed % 8));
			scenario_tasks(&s, 2 + (unsigned int)(seed % 9));
			for (int n = 0; n < 2000; n++)
				scenario_step(&s);
			drv_free(s.d);
		}
	}
}

/* ---- several cpus ---- */

#define CPUS	3u
#define TASKS	8u
#define GROUPS	3u

struct machine {
	const struct rs_policy_ops *ops;
	struct rs_model *model;
	struct rs_rq rqs[CPUS];
	struct rs_task tasks[TASKS];
	struct rs_group groups[GROUPS];
	uint64_t now, ran[TASKS];
};

/* Group 2 is inside group 0. */
static void machine_init(struct machine *m, const char *policy, const char *kernel)
{
	struct drv d = { 0 };

	memset(m, 0, sizeof(*m));
	m->ops = d.ops = rs_policy_ops_find(policy);
	m->model = d.model = drv_model(policy, kernel, CPUS, "hz=1000");
	m->now = 10 * MS;
	for (unsigned int i = 0; i < CPUS; i++) {
		drv_rq_init(&d, &m->rqs[i]);
		m->rqs[i].cpu = i;
		m->rqs[i].clock_ns = m->now;
	}
	for (unsigned int i = 0; i < GROUPS; i++) {
		struct rs_group *g = &m->groups[i];

		*g = (struct rs_group){ .parent = i == 2 ? &m->groups[0] : NULL, .shares = rs_shares_of_weight(100), .nr_cpus = CPUS,
					.stride = (m->ops->group_size + 15) / 16 * 16 };
		g->priv = drv_alloc(g->stride * CPUS);
		for (unsigned int c = 0; c < CPUS; c++)
			m->ops->group_init(g, &m->rqs[c]);
	}
	for (unsigned int i = 0; i < TASKS; i++) {
		m->tasks[i].id = i;
		m->tasks[i].priv = drv_alloc(m->ops->task_size);
		m->ops->task_init(&m->tasks[i], m->model);
	}
}

static void machine_release(struct machine *m)
{
	for (unsigned int i = 0; i < CPUS; i++)
		free(m->rqs[i].priv);
	for (unsigned int i = 0; i < GROUPS; i++)
		free(m->groups[i].priv);
	for (unsigned int i = 0; i < TASKS; i++)
		free(m->tasks[i].priv);
	rs_model_free(m->model);
}

static void reschedule(struct machine *m, struct rs_rq *rq)
{
	struct rs_task *prev = rq->curr, *next = m->ops->pick(rq);

	if (next != prev || (prev && !prev->on_rq)) {
		if (prev)
			m->ops->put_prev(rq, prev);
		rq->curr = NULL;
		if (next)
			m->ops->set_next(rq, next, true);
		rq->curr = next;
	}
	rq->need_resched = false;
}

static void settle(struct machine *m)
{
	for (unsigned int i = 0; i < CPUS; i++) {
		if (m->rqs[i].need_resched || (!m->rqs[i].curr && m->rqs[i].nr_queued))
			reschedule(m, &m->rqs[i]);
	}
}

static void wake(struct machine *m, struct rs_task *t, struct rs_rq *rq)
{
	unsigned int flags = RS_ENQ_WAKEUP;

	if (t->on_rq) {
		m->ops->wakeup_queued(t->rq, t);
		return;
	}
	if (t->rq && t->rq != rq) {
		m->ops->migrate(t, rq);
		flags |= RS_ENQ_MIGRATED;
	}
	t->rq = rq;
	m->ops->enqueue(rq, t, flags);
	if (rq->curr)
		m->ops->wakeup_preempt(rq, t, flags);
	settle(m);
}

static void pull(struct machine *m, struct rs_task *t, struct rs_rq *to)
{
	if (!t->on_rq || t->delayed || t->rq->curr == t || t->rq == to)
		return;
	m->ops->dequeue(t->rq, t, RS_DEQ_MOVE);
	t->rq = to;
	m->ops->enqueue(to, t, RS_ENQ_MIGRATED);
	settle(m);
}

static void block(struct machine *m, struct rs_rq *rq)
{
	m->ops->dequeue(rq, rq->curr, RS_DEQ_SLEEP);
	reschedule(m, rq);
}

static void decay(struct machine *m)
{
	for (unsigned int c = 0; c < CPUS; c++) {
		for (unsigned int g = GROUPS; g-- > 0;)
			m->ops->decay_group(&m->rqs[c], &m->groups[g]);
	}
}

/* One millisecond: a tick everywhere. */
static void pass(struct machine *m, unsigned int ms)
{
	while (ms--) {
		m->now += MS;
		for (unsigned int c = 0; c < CPUS; c++) {
			m->rqs[c].clock_ns = m->now;
			if (!m->rqs[c].curr)
				continue;
			m->ran[m->rqs[c].curr->id]++;
			m->ops->tick(&m->rqs[c]);
		}
		settle(m);
		if (m->now / MS % 32 == 0)
			decay(m);
	}
}

static const struct rs_level *level_of(const struct machine *m, unsigned int group, unsigned int cpu)
{
	const struct rs_node *node = rs_group_part(&m->groups[group], cpu);

	(void)m;
	return node->own;
}

static uint64_t weight_of(const struct machine *m, unsigned int group, unsigned int cpu)
{
	struct rs_entity_view v;

	m->ops->view_group(&m->rqs[cpu], &m->groups[group], &v);
	return v.weight;
}

static void check_loads(const struct machine *m)
{
	for (unsigned int g = 0; g < GROUPS; g++) {
		uint64_t published = 0;

		for (unsigned int c = 0; c < CPUS; c++) {
			const struct rs_level *level = level_of(m, g, c);

			published += level->contrib;
			assert_true(level->avg.load_avg <= TASKS * 1100);
			assert_in_range(weight_of(m, g, c), 2, 1024);
		}
		assert_int_equal(published, m->groups[g].load_avg);
	}
}

static void loads_stay_consistent(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_MODELS; i++) {
		struct rng rng = { i + 99 };
		struct machine m;

		machine_init(&m, models[i].policy, models[i].kernel);
		for (unsigned int t = 0; t < TASKS; t++)
			m.tasks[t].group = t < 6 ? &m.groups[t % GROUPS] : NULL;
		for (int n = 0; n < 20000; n++) {
			struct rs_task *t = &m.tasks[rng_below(&rng, TASKS)];
			struct rs_rq *rq = &m.rqs[rng_below(&rng, CPUS)];

			switch (rng_below(&rng, 8)) {
			case 0:
			case 1:
				if (!t->on_rq || t->delayed)
					wake(&m, t, rq);
				break;
			case 2:
				if (rq->curr)
					block(&m, rq);
				break;
			case 3:
				pull(&m, t, rq);
				break;
			case 4:
				if (t->rq)
					m.ops->move_group(t, m.now, rng_below(&rng, 4) ? &m.groups[rng_below(&rng, GROUPS)] : NULL);
				settle(&m);
				break;
			default:
				pass(&m, 1 + (unsigned int)rng_below(&rng, 3));
			}
			check_loads(&m);
		}
		/* Everybody asleep for two seconds: nothing is left. */
		for (int n = 0; n < 200; n++) {
			for (unsigned int c = 0; c < CPUS; c++) {
				if (m.rqs[c].curr)
					block(&m, &m.rqs[c]);
			}
			pass(&m, 32);
		}
		for (unsigned int g = 0; g < GROUPS; g++)
			assert_in_range(m.groups[g].load_avg, 0, 3);
		machine_release(&m);
	}
}

/* A group with a hog on each of two cpus, beside a root hog on each: half its weight counts here, half there. */
static void weight_is_split_over_cpus(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_MODELS; i++) {
		struct machine m;

		machine_init(&m, models[i].policy, models[i].kernel);
		m.tasks[0].group = m.tasks[1].group = &m.groups[0];
		for (unsigned int t = 0; t < 4; t++)
			wake(&m, &m.tasks[t], &m.rqs[t % 2]);
		pass(&m, 1000);
		assert_in_range(weight_of(&m, 0, 0), 505, 520);
		assert_in_range(weight_of(&m, 0, 1), 505, 520);
		memset(m.ran, 0, sizeof(m.ran));
		pass(&m, 9000);
		assert_in_range(m.ran[0], 2850, 3150);
		assert_in_range(m.ran[2], 5850, 6150);
		/* One of them sleeps: the other soon has all of the group's weight. */
		while (m.rqs[1].curr != &m.tasks[1])
			pass(&m, 1);
		block(&m, &m.rqs[1]);
		pass(&m, 1000);
		assert_in_range(weight_of(&m, 0, 0), 1000, 1024);
		memset(m.ran, 0, sizeof(m.ran));
		pass(&m, 9000);
		assert_in_range(m.ran[0], 4400, 4600);
		machine_release(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_right), cmocka_unit_test(loads_stay_consistent), cmocka_unit_test(weight_is_split_over_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
