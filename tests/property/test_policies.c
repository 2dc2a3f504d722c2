// SPDX-License-Identifier: GPL-2.0-only
/*
 * What must hold for every policy on random queues, against slow and obvious models: the tree against a sorted list, the pick of
 * EEVDF against a scan with 128-bit sums, counts and weights against recomputation, shares of a saturated cpu, bounded lag, and
 * the same input giving the same states.
 */
#include "property/scenario.h"

#include "policies/cfs.h"
#include "policies/eevdf_queue.h"

#define PICK_STATES	1200000
#define MS		1000000ull

static uint64_t seed_of(void)
{
	const char *text = getenv("RESCHED_SEED");
	uint64_t seed = text ? strtoull(text, NULL, 0) : 20240607;

	print_message("seed %lu (RESCHED_SEED)\n", (unsigned long)seed);
	return seed;
}

/* ---- the tree against a list in order */

struct item { struct rs_tree_node node; uint64_t most, own; unsigned int seq; };

static struct item *item_of(struct rs_tree_node *node)
{
	return rs_tree_entry(node, struct item, node);
}

static bool item_update(struct rs_tree_node *node)
{
	struct item *it = item_of(node);
	uint64_t before = it->most;

	it->most = it->own;
	if (node->left && item_of(node->left)->most > it->most)
		it->most = item_of(node->left)->most;
	if (node->right && item_of(node->right)->most > it->most)
		it->most = item_of(node->right)->most;
	return it->most != before;
}

/* Black height; fails on two reds in a row, unequal heights, wrong parents and wrong subtree values. */
static int check_shape(struct rs_tree_node *node, struct rs_tree_node *parent, uint64_t *ret_most)
{
	uint64_t left = 0, right = 0, most;
	int height;

	*ret_most = 0;
	if (!node)
		return 1;
	assert_ptr_equal(node->parent, parent);
	assert_false(node->red && parent && parent->red);
	height = check_shape(node->left, node, &left);
	assert_int_equal(height, check_shape(node->right, node, &right));
	most = item_of(node)->own;
	most = left > most ? left : most;
	most = right > most ? right : most;
	assert_true(item_of(node)->most == most);
	*ret_most = most;
	return height + !node->red;
}

static void tree_is_a_sorted_list(void **state)
{
	enum { MAX = 48 };
	static struct item items[MAX];
	struct item *list[MAX];
	struct rs_tree tree = { .update = item_update };
	struct rng rng = { seed_of() };
	unsigned int nr = 0, seq = 0;
	bool in[MAX] = { false };

	(void)state;
	for (int step = 0; step < 300000; step++) {
		unsigned int i = (unsigned int)rng_below(&rng, MAX), at;
		struct item *it = &items[i];
		uint64_t most;

		if (!in[i]) {
			it->node.key = rng_below(&rng, 2) ? rng_below(&rng, 12) : (uint64_t)-5 + rng_below(&rng, 10);	/* keys wrap */
			it->own = rng_below(&rng, 1000);
			it->seq = seq++;
			rs_tree_insert(&tree, &it->node);
			for (at = nr; at && (int64_t)(list[at - 1]->node.key - it->node.key) > 0; at--)
				list[at] = list[at - 1];
			list[at] = it;
			nr++;
		} else {
			rs_tree_erase(&tree, &it->node);
			for (at = 0; list[at] != it; at++)
				;
			memmove(&list[at], &list[at + 1], (--nr - at) * sizeof(list[0]));
		}
		in[i] = !in[i];
		at = 0;
		for (struct rs_tree_node *n = tree.first; n; n = rs_tree_next(n))
			assert_ptr_equal(item_of(n), list[at++]);
		assert_int_equal(at, nr);
		if (step % 16 == 0)
			check_shape(tree.root, NULL, &most);
	}
}

/* ---- the pick of EEVDF against a scan */

struct slow { struct rs_eevdf_entity *in[16]; unsigned int seq[16]; unsigned int nr, next_seq; };

static bool slow_eligible(const struct rs_eevdf_queue *q, const struct slow *s, uint64_t v)
{
	__int128 sum = 0;

	if (!rs_feat(q->model, RS_F_ENFORCE_ELIGIBILITY))
		return true;
	for (unsigned int i = 0; i < s->nr; i++)
		sum += (__int128)(int64_t)(s->in[i]->vruntime - v) * (int64_t)s->in[i]->w;
	if (q->curr && q->curr->on)
		sum += (__int128)(int64_t)(q->curr->vruntime - v) * (int64_t)q->curr->w;
	return sum >= 0;
}

static int64_t slow_avg(const struct rs_eevdf_queue *q, const struct slow *s)
{
	__int128 sum = 0, load = 0;

	for (unsigned int i = 0; i < s->nr; i++) {
		sum += (__int128)(int64_t)s->in[i]->vruntime * (int64_t)s->in[i]->w;
		load += s->in[i]->w;
	}
	if (q->curr && q->curr->on) {
		sum += (__int128)(int64_t)q->curr->vruntime * (int64_t)q->curr->w;
		load += q->curr->w;
	}
	if (!load)
		return (int64_t)q->zero;
	return (int64_t)(sum >= 0 ? sum / load : -((-sum + load - 1) / load));
}

static const struct rs_eevdf_entity *slow_pick(const struct rs_eevdf_queue *q, const struct slow *s)
{
	const struct rs_eevdf_entity *c = q->curr && q->curr->on ? q->curr : NULL, *best = NULL;
	unsigned int best_seq = 0;

	if (q->model->rules->single_shortcut && q->nr == 1)
		return c ? c : s->in[0];
	if (c && !slow_eligible(q, s, c->vruntime))
		c = NULL;
	if (c && rs_eevdf_protected(q, c) && (rs_feat(q->model, RS_F_RUN_TO_PARITY) || q->model->rules->protect_until_vprot))
		return c;
	for (unsigned int i = 0; i < s->nr; i++) {
		const struct rs_eevdf_entity *e = s->in[i];
		int64_t gap = best ? (int64_t)(e->deadline - best->deadline) : -1;

		if (slow_eligible(q, s, e->vruntime) && (gap < 0 || (gap == 0 && s->seq[i] < best_seq))) {
			best = e;
			best_seq = s->seq[i];
		}
	}
	if (!best || (c && rs_vtime_before(c->deadline, best->deadline)))
		return c;
	return best;
}

static void slow_add(struct slow *s, struct rs_eevdf_queue *q, struct rs_eevdf_entity *e)
{
	rs_eevdf_link(q, e);
	s->seq[s->nr] = s->next_seq++;
	s->in[s->nr++] = e;
}

static void slow_remove(struct slow *s, struct rs_eevdf_queue *q, unsigned int i)
{
	rs_eevdf_unlink(q, s->in[i]);
	s->nr--;
	s->in[i] = s->in[s->nr];
	s->seq[i] = s->seq[s->nr];
}

/* Few distinct values, so that ties of every kind come up. */
static void random_entity(struct rng *rng, struct rs_eevdf_entity *e, uint64_t origin)
{
	uint64_t spread = rng_below(rng, 3) ? 6 : 5000000;
	int nice = rng_below(rng, 3) ? (int)rng_below(rng, 3) : (int)rng_below(rng, 40) - 20;

	e->load = rs_load_of_task(nice, RS_SCHED_NORMAL);
	e->w = rs_load_down(e->load.weight);
	e->vruntime = origin + rng_below(rng, spread) - spread / 2;
	e->deadline = e->vruntime + 1 + rng_below(rng, spread);
	e->slice = 100000 * (1 + rng_below(rng, 4));
	e->on = true;
}

static void check_queue(struct rs_eevdf_queue *q, const struct slow *s, bool exact_ties)
{
	const struct rs_eevdf_entity *want = slow_pick(q, s), *got = rs_eevdf_pick(q, true);
	uint64_t least = q->curr && q->curr->on ? q->curr->slice : UINT64_MAX, most = q->curr && q->curr->on ? q->curr->slice : 0;

	if (exact_ties)
		assert_ptr_equal(got, want);
	else if (want != got)	/* 6.6 decides ties of deadlines by the shape of its tree */
		assert_true(want && got && want->deadline == got->deadline && slow_eligible(q, s, got->vruntime));
	assert_int_equal((int64_t)rs_eevdf_peek_avg(q), slow_avg(q, s));
	for (unsigned int i = 0; i < s->nr; i++) {
		assert_int_equal(rs_eevdf_eligible(q, s->in[i]), slow_eligible(q, s, s->in[i]->vruntime));
		least = s->in[i]->slice < least ? s->in[i]->slice : least;
		most = s->in[i]->slice > most ? s->in[i]->slice : most;
	}
	assert_true(rs_eevdf_min_slice(q) == least && rs_eevdf_max_slice(q) == most);
}

static void pick_states(const char *policy, const char *kernel, const char *knobs, uint64_t seed, unsigned int states)
{
	struct rs_model *model = drv_model(policy, kernel, 1, knobs);
	struct rs_eevdf_queue q = { 0 };
	struct rs_eevdf_entity pool[14];
	struct slow s = { .nr = 0 };
	struct rng rng = { seed };
	uint64_t origin = (uint64_t)-4000000;	/* V passes zero on the way */

	memset(pool, 0, sizeof(pool));
	rs_eevdf_queue_init(&q, model);
	for (unsigned int i = 0; i < states; i++) {
		struct rs_eevdf_entity *e = &pool[rng_below(&rng, 14)];
		bool queued = false;
		unsigned int at;

		if (q.curr == e)
			q.curr = NULL;
		for (at = 0; at < s.nr && s.in[at] != e; at++)
			;
		queued = at < s.nr;
		if (queued)
			slow_remove(&s, &q, at);
		if (!queued || rng_below(&rng, 4) == 0) {
			random_entity(&rng, e, origin);
			if (!q.curr && rng_below(&rng, 4) == 0) {
				q.curr = e;
				e->on = rng_below(&rng, 5) != 0;
				e->protect = e->deadline + rng_below(&rng, 3);
			} else {
				slow_add(&s, &q, e);
			}
		}
		q.nr = s.nr + (q.curr && q.curr->on ? 1 : 0);
		if (rng_below(&rng, 8) == 0)
			rs_eevdf_avg(&q);
		rs_eevdf_update_min(&q);
		if (q.nr)
			check_queue(&q, &s, strcmp(kernel, "6.6"));
		origin += rng_below(&rng, 40);
	}
	rs_model_free(model);
}

static void pick_is_the_scan(void **state)
{
	static const struct { const char *policy, *kernel, *knobs; } runs[] = {
		{ "eevdf", "6.12", "" }, { "eevdf", "6.12", "NO_RUN_TO_PARITY" }, { "eevdf", "6.18", "" }, { "eevdf", "6.8", "" },
		{ "eevdf", "6.6", "" }, { "evdf", "6.12", "" },
	};
	uint64_t seed = seed_of();

	(void)state;
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
		pick_states(runs[i].policy, runs[i].kernel, runs[i].knobs, seed + i, PICK_STATES / 6);
}

/* ---- invariants along random scenarios */

struct watch {
	uint64_t hash;			/* of every state seen */
	uint64_t min_vruntime;		/* of cfs: never goes back */
	uint64_t busy_ns, last_ns;	/* time with a current task */
	bool was_busy;
};

static void hash_add(struct watch *w, uint64_t value)
{
	w->hash = (w->hash ^ value) * 0x100000001b3u;
}

static bool is_cfs(const struct drv *d)
{
	return !strcmp(d->ops->name, "cfs");
}

static void check_counts(struct scenario *s)
{
	struct drv *d = s->d;
	struct watch *w = s->ctx;
	struct rs_rq_view rv;
	unsigned int queued = 0, delayed = 0;
	uint64_t load = 0;

	d->ops->view_rq(&d->rq, &rv);
	for (unsigned int i = 0; i < d->nr_tasks; i++) {
		struct rs_task *t = &d->tasks[i].t;
		struct rs_entity_view v;

		d->ops->view_task(&d->rq, t, &v);
		queued += t->on_rq;
		delayed += t->delayed;
		assert_false(t->delayed && !t->on_rq);
		assert_true(t->delayed == (t->on_rq && d->tasks[i].asleep));
		if (t->on_rq)
			load += rs_load_of_task(t->nice, t->policy).weight >> 10;
		hash_add(w, v.vruntime);
		hash_add(w, v.deadline);
		hash_add(w, (uint64_t)v.vlag);
	}
	assert_int_equal(d->rq.nr_queued, queued);
	assert_int_equal(d->rq.nr_delayed, delayed);
	assert_int_equal(rv.load, load);
	assert_true(d->rq.curr || !queued);	/* work conserving */
	assert_true(!d->rq.curr || (d->rq.curr->on_rq && !d->rq.curr->delayed));
	hash_add(w, d->rq.curr ? d->rq.curr->id : 99);
	if (is_cfs(d)) {
		assert_false(rs_vtime_before(rv.min_vruntime, w->min_vruntime));
		w->min_vruntime = rv.min_vruntime;
	} else {
		assert_int_equal(((struct rs_eevdf_queue *)d->rq.priv)->nr, queued);
	}
}

static void watch_step(struct scenario *s, const char *text)
{
	struct watch *w = s->ctx;

	if (strncmp(text, "ev ", 3))
		return;
	if (w->was_busy)
		w->busy_ns += s->now - w->last_ns;
	w->last_ns = s->now;
	w->was_busy = s->d->rq.curr;
	check_counts(s);
}

static uint64_t sum_exec(const struct drv *d, const struct rs_task *t)
{
	return is_cfs(d) ? ((struct rs_cfs_entity *)t->priv)->sum_exec : ((struct rs_eevdf_entity *)t->priv)->sum_exec;
}

/* Return: a hash of all states. */
static uint64_t run_watched(const char *policy, const char *kernel, const char *knobs, uint64_t seed)
{
	struct watch w = { .hash = 0xcbf29ce484222325u };
	struct scenario s = { .rng = { seed }, .step = watch_step, .ctx = &w, .nices = true, .stops = true };
	uint64_t ran = 0;

	s.d = drv_new(policy, kernel, knobs);
	s.slices = seed % 2;
	s.next_tick = s.d->model->tick_ns;
	w.min_vruntime = (uint64_t)-(1 << 20);
	scenario_tasks(&s, 2 + (unsigned int)(seed % 11));
	for (int i = 0; i < 6000; i++)
		scenario_step(&s);
	s.d->ops->update_curr(&s.d->rq);
	if (w.was_busy)
		w.busy_ns += s.now - w.last_ns;
	for (unsigned int i = 0; i < s.d->nr_tasks; i++)
		ran += sum_exec(s.d, &s.d->tasks[i].t);
	assert_true(ran == w.busy_ns);	/* no time lost, none charged twice */
	drv_free(s.d);
	return w.hash;
}

static const struct { const char *policy, *kernel, *knobs; } all_runs[] = {
	{ "eevdf", "6.6", "hz=250" }, { "eevdf", "6.8", "hz=1000" }, { "eevdf", "6.12", "hz=1000" }, { "eevdf", "6.12", "NEXT_BUDDY" },
	{ "eevdf", "6.12", "NO_DELAY_DEQUEUE NO_PLACE_LAG" }, { "eevdf", "6.18", "NEXT_BUDDY hz=1000" }, { "evdf", "6.12", "hz=1000" },
	{ "cfs", "5.4", "hz=250" }, { "cfs", "5.10", "hz=250" }, { "cfs", "5.15", "hz=1000" }, { "cfs", "6.1", "hz=1000" },
	{ "cfs", "6.1", "NEXT_BUDDY NO_START_DEBIT NO_GENTLE_FAIR_SLEEPERS hz=100" }, { "cfs", "4.18", "hz=250" },
	{ "cfs", "stage-avg-vruntime", "hz=1000" }, { "cfs", "stage-no-start-debit", "hz=250" }, { "cfs", "stage-lag", "hz=1000" },
	{ "eevdf", "eevdf-2023-03", "hz=1000" }, { "eevdf", "stage-eevdf", "hz=250" }, { "eevdf", "stage-eevdf", "FAIR_SLEEPERS hz=1000" },
	{ "eevdf", "stage-commit-lag", "hz=1000" }, { "eevdf", "eevdf-2023-05", "hz=250" }, { "eevdf", "queue-2023-10", "hz=1000" },
	{ "eevdf", "queue-2023-10", "PLACE_SLEEPER NO_DELAY_DEQUEUE hz=250" }, { "eevdf", "queue-2023-10", "EVDF hz=1000" },
	{ "eevdf", "delay-2024-04", "hz=1000" },
};
#define NR_RUNS (sizeof(all_runs) / sizeof(all_runs[0]))

static void counts_and_time_are_conserved(void **state)
{
	uint64_t seed = seed_of();

	(void)state;
	for (uint64_t i = 0; i < NR_RUNS * 6; i++)
		run_watched(all_runs[i % NR_RUNS].policy, all_runs[i % NR_RUNS].kernel, all_runs[i % NR_RUNS].knobs, seed + i);
}

static void same_input_same_states(void **state)
{
	uint64_t seed = seed_of();

	(void)state;
	for (uint64_t i = 0; i < NR_RUNS; i++) {
		uint64_t a = run_watched(all_runs[i].policy, all_runs[i].kernel, all_runs[i].knobs, seed + i);

		assert_true(a == run_watched(all_runs[i].policy, all_runs[i].kernel, all_runs[i].knobs, seed + i));
		assert_true(a != run_watched(all_runs[i].policy, all_runs[i].kernel, all_runs[i].knobs, seed + i + 1));
	}
}

/* ---- shares and lag on a saturated cpu */

struct hogs { struct drv *d; unsigned int nr; uint64_t load, least_w, most_ns; };

static void hogs_start(struct hogs *h, const char *policy, const char *kernel, const char *knobs, struct rng *rng)
{
	h->d = drv_new(policy, kernel, knobs);
	h->nr = 2 + (unsigned int)rng_below(rng, 5);
	h->load = 0;
	for (unsigned int i = 0; i < h->nr; i++) {
		char name[8];
		struct rs_task *t;

		snprintf(name, sizeof(name), "h%u", i % 10);
		t = drv_task(h->d, name, (int)rng_below(rng, 11) - 5, RS_SCHED_NORMAL, 0);
		h->load += rs_load_of_task(t->nice, t->policy).weight >> 10;
		drv_wake(h->d, t);
		if (h->d->rq.need_resched)
			drv_schedule(h->d);
	}
}

static void hogs_tick(struct hogs *h, uint64_t now)
{
	h->d->rq.clock_ns = now;
	h->d->ops->tick(&h->d->rq);
	if (h->d->rq.need_resched)
		drv_schedule(h->d);
}

/* Every hog's run time is its share of the time, but for one slice and the tick that ends it. */
static void weights_share_a_cpu(void **state)
{
	struct rng rng = { seed_of() };

	(void)state;
	for (uint64_t run = 0; run < NR_RUNS * 8; run++) {
		struct hogs h;
		uint64_t tick, now = 0;

		hogs_start(&h, all_runs[run % NR_RUNS].policy, all_runs[run % NR_RUNS].kernel, all_runs[run % NR_RUNS].knobs, &rng);
		tick = h.d->model->tick_ns;
		while (now < 20000 * MS)
			hogs_tick(&h, now += tick);
		for (unsigned int i = 0; i < h.nr; i++) {
			struct rs_task *t = &h.d->tasks[i].t;
			uint64_t w = rs_load_of_task(t->nice, t->policy).weight >> 10, due = now / h.load * w, got = sum_exec(h.d, t);
			struct rs_entity_view v;
			uint64_t slack;

			h.d->ops->view_task(&h.d->rq, t, &v);
			slack = (is_cfs(h.d) ? h.d->model->tunable[RS_T_latency_ns] : v.slice_ns) + 2 * tick + now / 100000;
			if (got + slack < due || got > due + slack)
				fail_msg("%s %s, run %lu: nice %d got %lu of %lu ns, slack %lu", h.d->ops->name, h.d->model->rules->kernel,
					 (unsigned long)run, t->nice, (unsigned long)got, (unsigned long)due, (unsigned long)slack);
		}
		drv_free(h.d);
	}
}

/*
 * The paper bounds the lag of a client in a steady system by -r < lag < max(r, q): r its longest request, q the quantum.
 *
 * Here hogs never sleep, everything is decided at ticks q apart, and a request ends at the first tick at which it is used up. Virtual time
 * is rounded down, so it may take one tick more: the effective request is R = (floor(slice / q) + 1) * q.
 *
 * Below: lag > -R. Only a task that is eligible is picked, so its lag is 0 or more when it gets the cpu. Until its request ends it runs
 * for at most R, and lag = w * (V - v) falls by at most the time it runs: w * dv <= dt, and V never falls. At the end of the request
 * there is a new pick, for which it must be eligible again. This holds for every search that returns an eligible task, however far from the
 * earliest deadline, and for ticks that pick (R only gets shorter).
 * Above: lags add up to 0, so lag < (nr - 1) * R; for two tasks that is the paper's bound. For more the paper's proof needs deadlines
 * that know the true length of a request, which those here do not: they miss the overrun, up to a tick. lag < R + 2 * q has held in all runs; it
 * is watched as well, as a measured bound.
 * V and CDF round down: a few ns of either.
 */
#define ROUNDING_NS 64

struct lag_range { int64_t least, most; uint64_t request_ns, tick_ns; unsigned int nr; };

static void hogs_lags(struct hogs *h, struct lag_range *range)
{
	uint64_t now = 0, tick = h->d->model->tick_ns;

	*range = (struct lag_range){ .request_ns = (h->d->model->tunable[RS_T_base_slice_ns] / tick + 1) * tick, .tick_ns = tick, .nr = h->nr };
	while (now < 2000 * MS) {
		hogs_tick(h, now += tick);
		for (unsigned int i = 0; i < h->nr; i++) {
			struct rs_entity_view v;

			h->d->ops->view_task(&h->d->rq, &h->d->tasks[i].t, &v);
			range->least = v.lag_ns < range->least ? v.lag_ns : range->least;
			range->most = v.lag_ns > range->most ? v.lag_ns : range->most;
		}
	}
}

static void lag_is_bounded(void **state)
{
	static const char *const kernels[] = { "6.6", "6.8", "6.12", "6.18", "eevdf-2023-03", "stage-eevdf", "stage-commit-lag",
					       "stage-commit-eevdf", "stage-mixed-slices", "eligibility-2023-10" };
	static const char *const knobs[] = { "hz=250", "hz=1000 base_slice_ns=3ms", "hz=1000", "hz=250 base_slice_ns=10ms" };
	struct rng rng = { seed_of() };

	(void)state;
	for (unsigned int run = 0; run < 160; run++) {
		struct lag_range r;
		struct hogs h;
		int64_t most;

		hogs_start(&h, "eevdf", kernels[run % 10], knobs[run / 10 % 4], &rng);
		hogs_lags(&h, &r);
		most = (int64_t)((r.nr - 1) * r.request_ns);
		if (most > (int64_t)(r.request_ns + 2 * r.tick_ns))
			most = (int64_t)(r.request_ns + 2 * r.tick_ns);
		if (r.least <= -(int64_t)r.request_ns - ROUNDING_NS || r.most >= most + ROUNDING_NS)
			fail_msg("%s %s run %u, %u hogs: lag %ld to %ld, a request takes %lu", kernels[run % 10], knobs[run / 10 % 4], run, r.nr,
				 (long)r.least, (long)r.most, (unsigned long)r.request_ns);
		drv_free(h.d);
	}
}

/* The bound can be broken: by whoever is picked without being eligible. Requests of equal size are told apart by weight alone. */
static void lag_is_not_bounded_without_eligibility(void **state)
{
	struct rng rng = { seed_of() };
	unsigned int broken = 0;

	(void)state;
	for (unsigned int run = 0; run < 40; run++) {
		struct lag_range r;
		struct hogs h;

		hogs_start(&h, "evdf", "6.12", "hz=1000 base_slice_ns=3ms", &rng);
		hogs_lags(&h, &r);
		broken += r.least <= -(int64_t)r.request_ns - ROUNDING_NS;
		drv_free(h.d);
	}
	assert_true(broken > 0);
}

/* A stored lag never exceeds its limit, whatever happens; with DELAY_DEQUEUE and DELAY_ZERO a sleeper's is never negative. */
static void check_stored_lag(struct scenario *s, const char *text)
{
	const struct rs_model *m = s->d->model;
	bool delayed = rs_feat(m, RS_F_DELAY_DEQUEUE);

	if (strncmp(text, "ev ", 3))
		return;
	for (unsigned int i = 0; i < s->d->nr_tasks; i++) {
		struct rs_task *t = &s->d->tasks[i].t;
		struct rs_load load = rs_load_of_task(t->nice, t->policy);
		struct rs_entity_view v;
		uint64_t real = 2 * m->tunable[RS_T_base_slice_ns] > m->tick_ns ? 2 * m->tunable[RS_T_base_slice_ns] : m->tick_ns;
		int64_t limit = (int64_t)rs_calc_delta_fair(real + 1, &load) + 400;

		s->d->ops->view_task(&s->d->rq, t, &v);
		if (t->on_rq)
			continue;
		assert_true(v.vlag <= limit && v.vlag >= -limit);
		assert_true(!delayed || v.vlag >= 0);
	}
}

static void stored_lag_is_bounded(void **state)
{
	uint64_t seed = seed_of();

	(void)state;
	for (uint64_t i = 0; i < 24; i++) {
		struct scenario s = { .rng = { seed + i }, .step = check_stored_lag };

		s.d = drv_new("eevdf", i % 4 == 0 ? "6.8" : "6.12", i % 2 ? "hz=1000 NO_DELAY_DEQUEUE" : "hz=250");
		s.next_tick = s.d->model->tick_ns;
		scenario_tasks(&s, 6);
		for (int step = 0; step < 4000; step++)
			scenario_step(&s);
		drv_free(s.d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tree_is_a_sorted_list), cmocka_unit_test(pick_is_the_scan),
		cmocka_unit_test(counts_and_time_are_conserved), cmocka_unit_test(same_input_same_states),
		cmocka_unit_test(weights_share_a_cpu), cmocka_unit_test(lag_is_bounded), cmocka_unit_test(lag_is_not_bounded_without_eligibility), cmocka_unit_test(stored_lag_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
