// SPDX-License-Identifier: GPL-2.0-only
/*
 * One feature at a time: the same recording, run by the same engine under the same rules but for one switch. Every call of the policy is
 * written down with the state of all tasks after it; up to the first difference the two runs are the same to the bit, and that
 * difference comes from an operation the feature's rule is part of. Features that are known but act on no queue make none.
 */
#include "vectors/driver.h"

#include <resched/policy.h>
#include <resched/trace.h>

#include "replay/engine.h"

enum op { OP_UPDATE, OP_ENQUEUE, OP_DEQUEUE, OP_WAKE_QUEUED, OP_PREEMPT, OP_PICK, OP_PUT, OP_SET, OP_TICK, OP_YIELD, OP_REWEIGHT, OP_FORK,
	  NR_OPS };
#define IN(op) (1u << OP_##op)
static const char *const op_names[NR_OPS] = { "update_curr", "enqueue", "dequeue", "wakeup_queued", "wakeup_preempt", "pick", "put_prev",
					      "set_next", "tick", "yield", "reweight", "fork" };

struct call { uint64_t clock_ns, state; uint32_t task; uint8_t op; bool asked; unsigned int flags; };

/* Hooks get nothing but the queue and the task, so what is behind them is the test's own. */
static struct spy {
	const struct rs_policy_ops *ops;
	struct rs_task *tasks[4096];
	unsigned int nr_tasks;
	struct call *calls;
	size_t nr, room;
} *spy;

static uint64_t mix(uint64_t hash, uint64_t value)
{
	return (hash ^ value) * 0x100000001b3u;
}

/* Everything that shows of every task there is on this cpu. */
static uint64_t state_of(const struct rs_rq *rq)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (unsigned int i = 0; i < spy->nr_tasks; i++) {
		const struct rs_task *t = spy->tasks[i];
		struct rs_entity_view v;

		if (t->rq != rq)
			continue;
		spy->ops->view_task(rq, t, &v);
		hash = mix(hash, v.vruntime);
		hash = mix(hash, v.deadline);
		hash = mix(hash, (uint64_t)v.vlag);
		hash = mix(hash, (uint64_t)(v.running | v.delayed << 1 | t->on_rq << 2));
	}
	return hash;
}

static void note(const struct rs_rq *rq, const struct rs_task *t, enum op op, unsigned int flags, bool asked_before)
{
	struct call *c;

	if (spy->nr == spy->room) {
		spy->room = spy->room ? 2 * spy->room : 4096;
		spy->calls = realloc(spy->calls, spy->room * sizeof(*spy->calls));
		assert_non_null(spy->calls);
	}
	c = &spy->calls[spy->nr++];
	*c = (struct call){ .clock_ns = rq->clock_ns, .state = state_of(rq), .task = t ? t->id : UINT32_MAX, .op = (uint8_t)op,
			    .asked = rq->need_resched && !asked_before, .flags = flags };
}

static void spy_task_init(struct rs_task *t, const struct rs_model *model)
{
	spy->ops->task_init(t, model);
	if (t->id != UINT32_MAX) {	/* not the phantom that warms the queues up */
		assert_true(spy->nr_tasks < sizeof(spy->tasks) / sizeof(spy->tasks[0]));
		spy->tasks[spy->nr_tasks++] = t;
	}
}

static void spy_fork(struct rs_rq *rq, struct rs_task *parent, struct rs_task *child)
{
	bool asked = rq->need_resched;

	if (spy->ops->fork)
		spy->ops->fork(rq, parent, child);
	note(rq, child, OP_FORK, 0, asked);
}

static void spy_update_curr(struct rs_rq *rq)
{
	bool asked = rq->need_resched;

	spy->ops->update_curr(rq);
	note(rq, NULL, OP_UPDATE, 0, asked);
}

static void spy_enqueue(struct rs_rq *rq, struct rs_task *t, unsigned int flags)
{
	bool asked = rq->need_resched;

	spy->ops->enqueue(rq, t, flags);
	note(rq, t, OP_ENQUEUE, flags, asked);
}

static bool spy_dequeue(struct rs_rq *rq, struct rs_task *t, unsigned int flags)
{
	bool asked = rq->need_resched, left = spy->ops->dequeue(rq, t, flags);

	note(rq, t, OP_DEQUEUE, flags, asked);
	return left;
}

static void spy_wakeup_queued(struct rs_rq *rq, struct rs_task *t)
{
	bool asked = rq->need_resched;

	spy->ops->wakeup_queued(rq, t);
	note(rq, t, OP_WAKE_QUEUED, 0, asked);
}

static void spy_wakeup_preempt(struct rs_rq *rq, struct rs_task *p, unsigned int flags)
{
	bool asked = rq->need_resched;

	spy->ops->wakeup_preempt(rq, p, flags);
	note(rq, p, OP_PREEMPT, flags, asked);
}

static struct rs_task *spy_pick(struct rs_rq *rq)
{
	bool asked = rq->need_resched;
	struct rs_task *t = spy->ops->pick(rq);

	note(rq, t, OP_PICK, 0, asked);
	return t;
}

static void spy_put_prev(struct rs_rq *rq, struct rs_task *t)
{
	bool asked = rq->need_resched;

	spy->ops->put_prev(rq, t);
	note(rq, t, OP_PUT, 0, asked);
}

static void spy_set_next(struct rs_rq *rq, struct rs_task *t, bool picked)
{
	bool asked = rq->need_resched;

	spy->ops->set_next(rq, t, picked);
	note(rq, t, OP_SET, picked, asked);
}

static void spy_tick(struct rs_rq *rq)
{
	bool asked = rq->need_resched;

	spy->ops->tick(rq);
	note(rq, rq->curr, OP_TICK, 0, asked);
}

static void spy_yield(struct rs_rq *rq)
{
	bool asked = rq->need_resched;

	spy->ops->yield(rq);
	note(rq, rq->curr, OP_YIELD, 0, asked);
}

static void spy_reweight(struct rs_task *t, uint64_t clock_ns, int nice, enum rs_sched_policy policy, uint64_t custom_slice_ns)
{
	spy->ops->reweight(t, clock_ns, nice, policy, custom_slice_ns);
	if (t->rq)
		note(t->rq, t, OP_REWEIGHT, 0, true);
}

/* ---- runs ---- */

static struct resched_workload *build(const char *name)
{
	const char *top = getenv("RESCHED_TOP");
	struct resched_error err = { 0 };
	struct resched_workload *w = NULL;
	struct resched_trace *trace;
	char path[512];

	snprintf(path, sizeof(path), "%s/tests/data/%s", top ? top : ".", name);
	if (resched_trace_open(path, &trace, &err) < 0 || resched_workload_build(trace, NULL, NULL, NULL, &w, &err) < 0)
		fail_msg("%s: %s", name, err.text);
	resched_trace_free(trace);
	return w;
}

static void run(const struct resched_workload *w, const char *policy, const char *kernel, const char *knobs, struct spy *ret)
{
	struct rs_policy_ops ops = *rs_policy_ops_find(policy);
	struct rs_model *model = drv_model(policy, kernel, 8, knobs);	/* slices longer than a tick */
	struct rs_engine_options opts = { .ops = &ops, .model = model, .end_ns = w->info.last_ns };
	struct rs_engine *engine;

	memset(ret, 0, sizeof(*ret));
	ret->ops = rs_policy_ops_find(policy);
	spy = ret;
	ops.task_init = spy_task_init;
	ops.fork = spy_fork;
	ops.update_curr = spy_update_curr;
	ops.enqueue = spy_enqueue;
	ops.dequeue = spy_dequeue;
	ops.wakeup_queued = spy_wakeup_queued;
	ops.wakeup_preempt = spy_wakeup_preempt;
	ops.pick = spy_pick;
	ops.put_prev = spy_put_prev;
	ops.set_next = spy_set_next;
	ops.tick = spy_tick;
	ops.yield = spy_yield;
	ops.reweight = spy_reweight;
	assert_int_equal(rs_engine_new(w, &opts, &engine), 0);
	assert_int_equal(rs_engine_run(engine), 0);
	rs_engine_free(engine);
	rs_model_free(model);
}

/* The first call that differs; NULL: none. */
static const struct call *first_difference(const struct spy *a, const struct spy *b)
{
	size_t nr = a->nr < b->nr ? a->nr : b->nr;

	for (size_t i = 0; i < nr; i++) {
		const struct call *x = &a->calls[i], *y = &b->calls[i];

		if (x->clock_ns != y->clock_ns || x->state != y->state || x->task != y->task || x->op != y->op || x->asked != y->asked)
			return x;
	}
	assert_int_equal(a->nr, b->nr);
	return NULL;
}

/* ---- what each feature may touch first ---- */

#define ACCOUNTS (IN(UPDATE) | IN(ENQUEUE) | IN(DEQUEUE) | IN(PREEMPT) | IN(PICK) | IN(PUT) | IN(TICK) | IN(YIELD) | IN(REWEIGHT))

struct expectation {
	const char *policy, *kernels, *feature;
	unsigned int ops;		/* the rule is part of these */
	unsigned int flags;		/* the call has one of these; 0: any */
	bool must;			/* the recordings show it */
};

static const struct expectation expectations[] = {
	{ "eevdf", "6.6 6.8 6.12 6.18", "NO_WAKEUP_PREEMPTION", IN(PREEMPT), 0, true },
	{ "eevdf", "6.6 6.8 6.12 6.18", "NO_PLACE_LAG", IN(ENQUEUE) | IN(REWEIGHT), 0, true },
	{ "eevdf", "6.12 6.18", "NO_PLACE_DEADLINE_INITIAL", IN(ENQUEUE), RS_ENQ_INITIAL, true },
	{ "eevdf", "6.6 6.8", "NO_PLACE_DEADLINE_INITIAL", 0, 0, false },	/* no effect there */
	{ "eevdf", "6.12 6.18", "NO_PLACE_REL_DEADLINE", IN(DEQUEUE) | IN(REWEIGHT), 0, false },
	{ "eevdf", "6.6 6.8 6.12", "NO_RUN_TO_PARITY", IN(PICK) | IN(PREEMPT), 0, true },
	{ "eevdf", "6.18", "NO_RUN_TO_PARITY", ACCOUNTS, 0, true },	/* protection ends with time: accounting asks */
	{ "eevdf", "6.12", "NO_PREEMPT_SHORT", ACCOUNTS, 0, false },	/* who is not eligible and not protected is asked to leave */
	{ "eevdf", "6.18", "NO_PREEMPT_SHORT", IN(PREEMPT), 0, false },
	{ "eevdf", "6.12 6.18", "NO_DELAY_DEQUEUE", IN(DEQUEUE), RS_DEQ_SLEEP, true },
	{ "eevdf", "6.12 6.18", "NO_DELAY_ZERO", IN(WAKE_QUEUED) | IN(PICK) | IN(PREEMPT), 0, true },
	{ "eevdf", "6.6 6.8 6.12 6.18", "NO_ENFORCE_ELIGIBILITY", IN(PICK) | IN(PREEMPT) | IN(DEQUEUE) | IN(YIELD), 0, true },
	{ "eevdf", "6.6 6.8 6.12 6.18", "NEXT_BUDDY", IN(PICK) | IN(PREEMPT), 0, false },	/* a hint, shown by whom a pick takes */
	{ "eevdf", "6.12 6.18", "NO_PICK_BUDDY", IN(PICK) | IN(PREEMPT), 0, false },
	{ "eevdf", "queue-2023-10", "NO_GENTLE_DELAY", IN(WAKE_QUEUED) | IN(PICK), 0, true },
	{ "eevdf", "queue-2023-10", "PLACE_SLEEPER", IN(ENQUEUE), RS_ENQ_WAKEUP, false },
	{ "eevdf", "queue-2023-10", "EVDF", IN(PICK) | IN(PREEMPT) | IN(DEQUEUE), 0, true },
#define QUEUE_STAGES "eevdf-2023-03 stage-eevdf stage-commit-lag stage-commit-eevdf stage-mixed-slices eevdf-2023-05"
#define LATER_STAGES "eligibility-2023-10 queue-2023-10 delay-2024-04"
	{ "eevdf", QUEUE_STAGES " " LATER_STAGES, "NO_WAKEUP_PREEMPTION", IN(PREEMPT), 0, false },
	{ "eevdf", QUEUE_STAGES " " LATER_STAGES, "NO_PLACE_LAG", IN(ENQUEUE) | IN(REWEIGHT) | IN(FORK), 0, false },
	{ "eevdf", LATER_STAGES, "NO_RUN_TO_PARITY", IN(PICK) | IN(PREEMPT), 0, false },
	{ "eevdf", "queue-2023-10 delay-2024-04", "NO_DELAY_DEQUEUE", IN(DEQUEUE), RS_DEQ_SLEEP, false },
	{ "eevdf", "delay-2024-04", "NO_DELAY_ZERO", IN(WAKE_QUEUED) | IN(PICK) | IN(PREEMPT), 0, true },
	{ "eevdf", "eligibility-2023-10 delay-2024-04", "NO_ENFORCE_ELIGIBILITY", IN(PICK) | IN(PREEMPT) | IN(DEQUEUE) | IN(YIELD), 0, true },
	{ "eevdf", "stage-mixed-slices eevdf-2023-05", "NO_PLACE_FUDGE", IN(ENQUEUE) | IN(FORK), 0, false },
	/* all are eligible there: whoever runs is protected, and nobody owes anything when it sleeps */
	{ "evdf", "6.6 6.8 6.12 6.18", "NO_WAKEUP_PREEMPTION", IN(PREEMPT), 0, false },
	{ "evdf", "6.6 6.8 6.12 6.18", "NO_PLACE_LAG", IN(ENQUEUE) | IN(REWEIGHT), 0, true },
	{ "evdf", "6.12 6.18", "NO_DELAY_DEQUEUE", 0, 0, false },
	{ "cfs", "stage-avg-vruntime stage-no-start-debit stage-lag", "NO_WAKEUP_PREEMPTION", IN(PREEMPT), 0, true },
	{ "cfs", "stage-avg-vruntime", "NO_START_DEBIT", IN(FORK), 0, true },
	{ "eevdf", "stage-eevdf", "FAIR_SLEEPERS", IN(ENQUEUE) | IN(FORK), 0, true },
	{ "cfs", "4.18 5.4 5.10 5.15 6.1", "NO_WAKEUP_PREEMPTION", IN(PREEMPT), 0, true },
	{ "cfs", "4.18 5.4 5.10 5.15 6.1", "NO_START_DEBIT", IN(FORK), 0, true },
	{ "cfs", "4.18 5.4 5.10 5.15 6.1", "NO_GENTLE_FAIR_SLEEPERS", IN(ENQUEUE), RS_ENQ_WAKEUP, true },
	{ "cfs", "5.10 5.15 6.1", "NO_BASE_SLICE", IN(TICK) | IN(FORK), 0, false },
	{ "cfs", "5.10 5.15 6.1", "NO_ALT_PERIOD", IN(TICK) | IN(FORK), 0, false },
	{ "cfs", "4.18 5.4 5.10 5.15 6.1", "NO_LAST_BUDDY", IN(PICK), 0, false },
	{ "cfs", "4.18 5.4 5.10 5.15 6.1", "NEXT_BUDDY", IN(PICK), 0, false },
	{ "cfs", "stage-lag", "NO_PLACE_LAG", IN(ENQUEUE), RS_ENQ_WAKEUP, true },
};

static const char *const recordings[] = { "lab-v6-k612-1c.dat", "lab-v7-k61-1c.dat", "host-6.18.dat" };
#define NR_RECORDINGS (sizeof(recordings) / sizeof(recordings[0]))

static bool differs_where_it_may(const struct resched_workload *w, const char *recording, const struct expectation *x, const char *kernel)
{
	struct spy plain, switched;
	const struct call *at;

	run(w, x->policy, kernel, "", &plain);
	run(w, x->policy, kernel, x->feature, &switched);
	at = first_difference(&plain, &switched);
	if (at && (!(x->ops & 1u << at->op) || (x->flags && !(at->flags & x->flags))))
		fail_msg("%s %s %s on %s: the first difference is %s, flags %x, at %lu", x->policy, kernel, x->feature, recording,
			 op_names[at->op], at->flags, (unsigned long)at->clock_ns);
	free(plain.calls);
	free(switched.calls);
	return at;
}

static void a_feature_touches_its_operation(void **state)
{
	struct resched_workload *w[NR_RECORDINGS];

	(void)state;
	for (size_t r = 0; r < NR_RECORDINGS; r++)
		w[r] = build(recordings[r]);
	for (size_t i = 0; i < sizeof(expectations) / sizeof(expectations[0]); i++) {
		const struct expectation *x = &expectations[i];
		char kernels[160], *save = NULL;

		snprintf(kernels, sizeof(kernels), "%s", x->kernels);
		for (char *kernel = strtok_r(kernels, " ", &save); kernel; kernel = strtok_r(NULL, " ", &save)) {
			bool shown = false;

			for (size_t r = 0; r < NR_RECORDINGS; r++)
				shown |= differs_where_it_may(w[r], recordings[r], x, kernel);
			if (x->must && !shown)
				fail_msg("%s %s %s: nothing differs in any recording", x->policy, kernel, x->feature);
		}
	}
	for (size_t r = 0; r < NR_RECORDINGS; r++)
		resched_workload_free(w[r]);
}

/* Features that act on balancing, other classes or nothing: not a call differs. */
static void inert_features_touch_nothing(void **state)
{
	static const struct { const char *policy, *kernel; } models[] = { { "eevdf", "6.12" }, { "cfs", "6.1" } };
	struct resched_workload *w = build(recordings[0]);

	(void)state;
	for (size_t m = 0; m < 2; m++) {
		struct resched_knob_info knob;
		struct spy plain;

		run(w, models[m].policy, models[m].kernel, "", &plain);
		for (unsigned int i = 0; resched_policy_knob(models[m].policy, models[m].kernel, i, &knob); i++) {
			struct spy switched;
			char text[64];

			if (!knob.is_feature || !knob.inert)
				continue;
			snprintf(text, sizeof(text), "%s%s", knob.value ? "NO_" : "", knob.name);
			run(w, models[m].policy, models[m].kernel, text, &switched);
			if (first_difference(&plain, &switched))
				fail_msg("%s %s: %s makes a difference", models[m].policy, models[m].kernel, text);
			free(switched.calls);
		}
		free(plain.calls);
	}
	resched_workload_free(w);
}

/* Off, no wakeup asks for the cpu of a task that is not SCHED_IDLE; on, some do. */
static void no_wakeup_preempts_when_off(void **state)
{
	static const char *const kernels[] = { "6.6", "6.8", "6.12", "6.18" };

	(void)state;
	for (int i = 0; i < 8; i++) {
		unsigned int asked = 0;

		for (size_t r = 0; r < NR_RECORDINGS; r++) {
			struct resched_workload *w = build(recordings[r]);
			struct spy s;

			run(w, "eevdf", kernels[i / 2], i % 2 ? "NO_WAKEUP_PREEMPTION" : "", &s);
			for (size_t k = 0; k < s.nr; k++)
				asked += s.calls[k].op == OP_PREEMPT && s.calls[k].asked;
			free(s.calls);
			resched_workload_free(w);
		}
		assert_int_equal(asked == 0, i % 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_feature_touches_its_operation), cmocka_unit_test(inert_features_touch_nothing),
		cmocka_unit_test(no_wakeup_preempts_when_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
