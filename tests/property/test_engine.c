// SPDX-License-Identifier: GPL-2.0-only
/*
 * What must hold for every policy on any workload: demand is served to the nanosecond, a task is on one cpu at a time, no cpu
 * idles while a task waits on it, time is conserved, the same input gives the same bytes.
 *
 * Workloads are random; a failing one is named by its seed. RS_SEEDS=N runs more of them.
 */
#include "replay/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define MAX_TASKS 24
#define MAX_CPUS 4

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static uint64_t between(uint64_t *rng, uint64_t lo, uint64_t hi)
{
	return lo + next_random(rng) % (hi - lo + 1);
}

static void add_op(struct rs_program *program, enum rs_op_kind kind, uint64_t run, uint64_t len, uint32_t arg, enum rs_wake_rule rule)
{
	struct rs_op *op = rs_program_append(program);

	assert_non_null(op);
	op->kind = (uint8_t)kind;
	op->run_ns = run;
	op->len_ns = len;
	op->arg = arg;
	op->rule = rule;
	op->cpu = program->cpu;
}

static struct resched_workload *empty_workload(unsigned int nr_cpus)
{
	struct resched_workload *w = rs_workload_alloc();

	assert_non_null(w);
	w->host = calloc(1, sizeof(*w->host));
	assert_non_null(w->host);
	w->max_cpu = nr_cpus;
	w->info.nr_cpus = nr_cpus;
	w->info.first_ns = 1000000000;
	w->info.hz = 250;
	w->info.tick_ns = 4000000;
	return w;
}

static struct rs_program *add_task(struct resched_workload *w, unsigned int cpu, int nice, int policy)
{
	int64_t idx = rs_workload_add(w, (int32_t)(100 + w->nr_tasks));
	struct rs_program *program;

	assert_true(idx >= 0);
	program = &w->tasks[idx];
	program->prio = 120 + nice;
	program->policy = policy;
	program->cpu = (uint16_t)cpu;
	program->birth = RS_BORN_QUEUED;
	program->loop_to = UINT32_MAX;
	return program;
}

/* A wake of @target by @waker and the causal sleep it ends; the sleep may come before or after the wake. */
static struct resched_workload *random_workload(uint64_t seed, unsigned int *ret_cpus)
{
	static const int policies[] = { 0, 0, 0, 0, 3, 5 };
	uint64_t rng = seed * 0x9e3779b97f4a7c15ull + 1;
	unsigned int nr_cpus = (unsigned int)between(&rng, 1, MAX_CPUS);
	uint32_t nr = (uint32_t)between(&rng, 1, MAX_TASKS);
	struct resched_workload *w = empty_workload(nr_cpus);

	for (uint32_t i = 0; i < nr; i++) {
		struct rs_program *p = add_task(w, (unsigned int)between(&rng, 0, nr_cpus - 1), (int)between(&rng, 0, 39) - 20,
						policies[between(&rng, 0, 5)]);

		p->slice_ns = between(&rng, 0, 3) ? 0 : between(&rng, 100000, 20000000);
		if (!between(&rng, 0, 7))
			p->prio = (int)between(&rng, 0, 99);	/* real-time */
		if (i && !between(&rng, 0, 4)) {
			p->birth = RS_BORN_FORKED;
			p->parent = (uint32_t)between(&rng, 0, i - 1);
			add_op(&w->tasks[p->parent], RS_OP_FORK, between(&rng, 0, 1000000), 0, i, RS_RULE_NEVER);
		}
	}
	if (between(&rng, 0, 1)) {
		w->info.idle_exit_ns = between(&rng, 0, 20000);
		w->info.preempt_delay_ns = between(&rng, 0, 20000);
		w->info.tick_delay_ns = between(&rng, 0, 20000);
		w->switch_lead_ns = between(&rng, 0, 8000);
	}
	for (uint32_t round = 0; round < 200; round++) {
		uint32_t task = (uint32_t)between(&rng, 0, nr - 1), other = (uint32_t)between(&rng, 0, nr - 1);
		uint64_t run = between(&rng, 0, 3) ? between(&rng, 0, 3000000) : between(&rng, 0, 3000);
		unsigned int cpu = (unsigned int)between(&rng, 0, nr_cpus - 1);

		switch (between(&rng, 0, 5)) {
		case 0:
		case 1:
			add_op(&w->tasks[task], RS_OP_BLOCK, run, between(&rng, 1, 8000000), 0, RS_RULE_RELATIVE);
			break;
		case 2:
		case 3:
			if (other == task)
				break;
			add_op(&w->tasks[task], RS_OP_WAKE, run, 0, other, RS_RULE_NEVER);
			add_op(&w->tasks[other], RS_OP_BLOCK, between(&rng, 0, 500000), 0, task, RS_RULE_CAUSAL);
			w->tasks[other].ops[w->tasks[other].nr_ops - 1].cpu = (uint16_t)cpu;
			break;
		case 4:
			add_op(&w->tasks[task], RS_OP_RESCHED, run, 0, 0, RS_RULE_NEVER);
			break;
		default:
			add_op(&w->tasks[task], RS_OP_MOVE, run, 0, 0, RS_RULE_NEVER);
			w->tasks[task].ops[w->tasks[task].nr_ops - 1].cpu = (uint16_t)cpu;
			break;
		}
	}
	for (uint32_t i = 0; i < nr; i++) {
		if (between(&rng, 0, 1))
			add_op(&w->tasks[i], RS_OP_EXITING, between(&rng, 1, 1000000), 0, 0, RS_RULE_NEVER);
		if (!between(&rng, 0, 3))
			add_op(&w->tasks[i], RS_OP_ATTR, between(&rng, 1, 100000), 0, 3, RS_RULE_NEVER);
	}
	for (uint32_t i = 0; i < nr; i++)
		add_op(&w->tasks[i], RS_OP_EXIT, between(&rng, 1, 1000000), 0, 0, RS_RULE_NEVER);
	*ret_cpus = nr_cpus;
	return w;
}

/* ---- watching a schedule ---- */

struct watcher {
	uint32_t nr_tasks;
	unsigned int nr_cpus;
	uint64_t now, first;
	int curr[MAX_CPUS];			/* task index, -1 idle */
	uint64_t since[MAX_CPUS], busy[MAX_CPUS], idle[MAX_CPUS];
	int queued_on[MAX_TASKS];		/* -1: not waiting */
	int running_on[MAX_TASKS];
	uint64_t runtime[MAX_TASKS];
	int exited[MAX_TASKS];
	uint64_t hash;
	bool delays;				/* the machine takes time to react: a cpu may idle meanwhile */
	const char *fault;
};

static int index_of(int32_t pid)
{
	return pid ? pid - 100 : -1;
}

static void fault(struct watcher *watch, const char *text)
{
	if (!watch->fault)
		watch->fault = text;
}

/* Called when time moves on: nothing may be left to do at the instant that ends. */
static void settle(struct watcher *watch)
{
	for (uint32_t t = 0; t < watch->nr_tasks; t++) {
		if (!watch->delays && watch->queued_on[t] >= 0 && watch->curr[watch->queued_on[t]] < 0)
			fault(watch, "a cpu idles while a task waits on it");
	}
}

static void watch_switch(struct watcher *watch, const struct resched_event *ev)
{
	int prev = index_of(ev->pid), next = index_of(ev->sw.next_pid), cpu = ev->cpu;

	if (watch->curr[cpu] != prev && watch->curr[cpu] != -2)
		fault(watch, "the previous task of a switch was not running");
	*(prev < 0 ? &watch->idle[cpu] : &watch->busy[cpu]) += ev->ts_ns - watch->since[cpu];
	watch->since[cpu] = ev->ts_ns;
	if (prev >= 0) {
		watch->runtime[prev] += ev->ts_ns - watch->first;
		watch->running_on[prev] = -1;
		watch->queued_on[prev] = resched_state_runnable(ev->sw.prev_state) ? cpu : -1;
	}
	if (next >= 0) {
		if (watch->running_on[next] >= 0)
			fault(watch, "a task runs on two cpus");
		if (watch->queued_on[next] != cpu)
			fault(watch, "a task runs on a cpu it was not queued on");
		watch->running_on[next] = cpu;
		watch->queued_on[next] = -1;
		watch->runtime[next] -= ev->ts_ns - watch->first;
	}
	watch->curr[cpu] = next;
}

static int watch_event(void *ctx, const struct resched_event *ev)
{
	struct watcher *watch = ctx;
	const unsigned char *bytes = (const unsigned char *)ev;

	for (size_t i = 0; i < sizeof(*ev); i++)
		watch->hash = (watch->hash ^ bytes[i]) * 1099511628211ull;
	if (ev->ts_ns < watch->now)
		fault(watch, "time goes back");
	if (ev->ts_ns > watch->now)
		settle(watch);
	watch->now = ev->ts_ns;
	switch (ev->type) {
	case RESCHED_EV_SWITCH:
		watch_switch(watch, ev);
		break;
	case RESCHED_EV_WAKEUP:
	case RESCHED_EV_WAKEUP_NEW:
		watch->queued_on[index_of(ev->pid)] = ev->wake.target_cpu;
		break;
	case RESCHED_EV_MIGRATE:
		if (watch->queued_on[index_of(ev->pid)] >= 0)
			watch->queued_on[index_of(ev->pid)] = ev->migrate.to_cpu;
		break;
	case RESCHED_EV_EXIT:
		watch->exited[index_of(ev->pid)] = 1;
		break;
	default:
		break;
	}
	return 0;
}

/* @rules: a policy, and after a blank the kernel whose rules it follows. */
static void run(const struct resched_workload *w, unsigned int nr_cpus, const char *rules, enum resched_placement placement,
		uint64_t end_ns, struct watcher *watch)
{
	const char *kernel = strchr(rules, ' ');
	char policy[8];
	struct rs_engine_options opts = { .placement = placement, .end_ns = end_ns,
					  .sink = watch_event, .sink_ctx = watch };
	struct rs_engine *engine;
	struct rs_model *model;

	snprintf(policy, sizeof(policy), "%.*s", (int)strcspn(rules, " "), rules);
	opts.ops = rs_policy_ops_find(policy);
	memset(watch, 0, sizeof(*watch));
	watch->nr_tasks = w->nr_tasks;
	watch->delays = w->info.idle_exit_ns || w->info.preempt_delay_ns || w->info.tick_delay_ns;
	watch->nr_cpus = nr_cpus;
	watch->now = watch->first = w->info.first_ns;
	for (unsigned int i = 0; i < MAX_CPUS; i++) {
		watch->curr[i] = -1;
		watch->since[i] = watch->first;
	}
	for (uint32_t i = 0; i < w->nr_tasks; i++) {
		watch->queued_on[i] = w->tasks[i].birth == RS_BORN_QUEUED ? w->tasks[i].cpu : -1;
		watch->running_on[i] = -1;
	}
	assert_int_equal(rs_model_new(policy, kernel ? kernel + 1 : NULL, nr_cpus, 0, NULL, 0, NULL, &model, NULL), 0);
	opts.model = model;
	assert_int_equal(rs_engine_new(w, &opts, &engine), 0);
	assert_int_equal(rs_engine_run(engine), 0);
	rs_engine_free(engine);
	rs_model_free(model);
}

static uint64_t demand_of(const struct rs_program *program)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < program->nr_ops; i++)
		sum += program->ops[i].run_ns;
	return sum;
}

static void check_random(uint64_t seed, const char *policy, enum resched_placement placement)
{
	unsigned int nr_cpus;
	struct resched_workload *w = random_workload(seed, &nr_cpus);
	struct watcher watch, again;

	run(w, nr_cpus, policy, placement, RS_NEVER, &watch);
	settle(&watch);
	if (watch.fault)
		fail_msg("%s, seed %llu: %s", policy, (unsigned long long)seed, watch.fault);
	for (uint32_t i = 0; i < w->nr_tasks; i++) {
		if (!watch.exited[i])
			fail_msg("%s, seed %llu: task %u never finishes", policy, (unsigned long long)seed, i);
		if (watch.runtime[i] != demand_of(&w->tasks[i]))
			fail_msg("%s, seed %llu: task %u ran %llu of %llu ns", policy, (unsigned long long)seed, i,
				 (unsigned long long)watch.runtime[i], (unsigned long long)demand_of(&w->tasks[i]));
	}
	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++)
		assert_true(watch.busy[cpu] + watch.idle[cpu] == watch.since[cpu] - watch.first);
	run(w, nr_cpus, policy, placement, RS_NEVER, &again);
	assert_true(again.hash == watch.hash);
	resched_workload_free(w);
}

static void check_policy(const char *policy)
{
	const char *wanted = getenv("RS_SEEDS");
	uint64_t nr = wanted ? strtoull(wanted, NULL, 10) : 300;

	for (uint64_t seed = 1; seed <= nr; seed++) {
		check_random(seed, policy, RESCHED_PLACE_RECORDED);
		check_random(seed, policy, RESCHED_PLACE_KERNEL);
	}
}

static void eevdf_keeps_the_rules(void **state) { (void)state; check_policy("eevdf"); }
static void eevdf_of_618_keeps_the_rules(void **state) { (void)state; check_policy("eevdf 6.18"); }
static void eevdf_of_66_keeps_the_rules(void **state) { (void)state; check_policy("eevdf 6.6"); }
static void evdf_keeps_the_rules(void **state) { (void)state; check_policy("evdf"); }
static void cfs_keeps_the_rules(void **state) { (void)state; check_policy("cfs"); }

/* ---- shares ---- */

static void check_shares(const char *policy, uint64_t slice_ns)
{
	static const struct { int nice[3]; double weight[3]; } cases[] = {
		{ { 0, 0, 0 }, { 1024, 1024, 1024 } },
		{ { 0, 5, -5 }, { 1024, 335, 3121 } },
		{ { 10, 0, 3 }, { 110, 1024, 526 } },
	};
	const uint64_t span = 20000000000ull;

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct resched_workload *w = empty_workload(1);
		struct watcher watch;
		double sum = 0;

		for (int i = 0; i < 3; i++) {
			struct rs_program *p = add_task(w, 0, cases[c].nice[i], 0);

			add_op(p, RS_OP_ENDLESS, 1, 0, 0, RS_RULE_NEVER);
			sum += cases[c].weight[i];
		}
		run(w, 1, policy, RESCHED_PLACE_RECORDED, w->info.first_ns + span, &watch);
		assert_null(watch.fault);
		for (int i = 0; i < 3; i++) {
			double due = (double)span * cases[c].weight[i] / sum;
			double got = (double)(watch.runtime[i] + (watch.curr[0] == i ? span : 0));

			/* One slice, cut at a tick; plus what the reciprocals lose over the whole span. */
			if (got > due + (double)slice_ns + 4e6 + due * 1e-4 || got < due - (double)slice_ns - 4e6 - due * 1e-4)
				fail_msg("%s: nice %d ran %.3f ms of %.3f ms due", policy, cases[c].nice[i], got / 1e6, due / 1e6);
		}
		resched_workload_free(w);
	}
}

static void eevdf_shares_by_weight(void **state) { (void)state; check_shares("eevdf", 700000); }
static void cfs_shares_by_weight(void **state) { (void)state; check_shares("cfs", 6000000); }
static void evdf_shares_by_weight(void **state)
{
	(void)state;
	check_shares("evdf", 2 * 700000);	/* without eligibility an early request may be served one slice ahead */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(eevdf_keeps_the_rules), cmocka_unit_test(eevdf_of_618_keeps_the_rules), cmocka_unit_test(eevdf_of_66_keeps_the_rules),
		cmocka_unit_test(evdf_keeps_the_rules),
		cmocka_unit_test(cfs_keeps_the_rules), cmocka_unit_test(eevdf_shares_by_weight),
		cmocka_unit_test(evdf_shares_by_weight), cmocka_unit_test(cfs_shares_by_weight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
