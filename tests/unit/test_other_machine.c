// SPDX-License-Identifier: GPL-2.0-only
/* Replays on another machine than the recorded one: shares of time that a hand calculation predicts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <resched/topology.h>

#include "replay/affinity.h"
#include "replay/engine.h"
#include "replay/place.h"

#define SPAN_NS 2000000000ull
#define MAX_TASKS 16

struct watch { uint64_t ran[MAX_TASKS], since[MAX_TASKS]; unsigned int highest_cpu, execs, exec_cpu; uint64_t exec_ns; };

static int watch_event(void *ctx, const struct resched_event *ev)
{
	struct watch *w = ctx;

	if (ev->type != RESCHED_EV_SWITCH)
		return 0;
	if (ev->cpu > w->highest_cpu)
		w->highest_cpu = ev->cpu;
	if (ev->pid)
		w->ran[ev->pid - 100] += ev->ts_ns - w->since[ev->pid - 100];
	if (ev->sw.next_pid)
		w->since[ev->sw.next_pid - 100] = ev->ts_ns;
	return 0;
}

static struct resched_workload *workload_of(unsigned int nr_cpus)
{
	struct resched_workload *w = rs_workload_alloc();

	assert_non_null(w);
	if (!w->host)
		w->host = calloc(1, sizeof(*w->host));
	w->max_cpu = w->info.nr_cpus = nr_cpus;
	w->info.first_ns = 1000000000;
	w->info.hz = 250;
	w->info.tick_ns = 4000000;
	return w;
}

static struct rs_op *add_op(struct rs_program *p, enum rs_op_kind kind, uint64_t run_ns)
{
	struct rs_op *op = rs_program_append(p);

	assert_non_null(op);
	op->kind = (uint8_t)kind;
	op->run_ns = run_ns;
	return op;
}

/* Task 100 + @i, on @cpu at the start. */
static struct rs_program *add_task(struct resched_workload *w, unsigned int i, unsigned int cpu, const char *affinity)
{
	int64_t idx = rs_workload_add(w, (int32_t)(100 + i));
	struct rs_program *p;

	assert_true(idx >= 0);
	p = &w->tasks[idx];
	p->prio = 120;
	p->cpu = (uint16_t)cpu;
	p->birth = RS_BORN_QUEUED;
	p->loop_to = UINT32_MAX;
	p->affinity = affinity ? strdup(affinity) : NULL;
	return p;
}

static void run_workload(struct resched_workload *w, const char *machine, resched_event_fn sink, struct watch *ret)
{
	struct rs_engine_options opts = { .ops = rs_policy_ops_find("eevdf"), .placement = RESCHED_PLACE_KERNEL, .sink = sink, .sink_ctx = ret };
	struct resched_host *host = NULL;
	struct rs_engine *engine;
	struct rs_model *model;

	assert_int_equal(resched_topology_load(machine, &host, NULL), 0);
	assert_int_equal(rs_model_new("eevdf", NULL, host->nr_cpus, 0, NULL, 0, NULL, &model, NULL), 0);
	opts.model = model;
	opts.machine = host;
	opts.end_ns = w->info.first_ns + SPAN_NS;
	assert_int_equal(rs_engine_new(w, &opts, &engine), 0);
	assert_int_equal(rs_engine_run(engine), 0);
	for (unsigned int cpu = 0; cpu < engine->nr_cpus; cpu++) {
		const struct rs_runner *curr = engine->cpus[cpu].curr;

		if (curr)
			ret->ran[curr->program->pid - 100] += opts.end_ns - ret->since[curr->program->pid - 100];
	}
	rs_engine_free(engine);
	rs_model_free(model);
	resched_host_free(host);
	resched_workload_free(w);
}

/* @nr hogs, one a cpu of a recorded machine, each bound by @affinity (NULL: free), run on @machine. */
static void run(unsigned int nr, const char *affinity, const char *machine, struct watch *ret)
{
	struct resched_workload *w = workload_of(nr);

	memset(ret, 0, sizeof(*ret));
	for (unsigned int i = 0; i < nr; i++) {
		add_op(add_task(w, i, i, affinity), RS_OP_ENDLESS, 1);
		ret->since[i] = w->info.first_ns;
	}
	run_workload(w, machine, watch_event, ret);
}

static void check_shares(const struct watch *w, unsigned int nr, double share)
{
	for (unsigned int i = 0; i < nr; i++) {
		double got = (double)w->ran[i] / SPAN_NS;

		if (got < share - 0.05 || got > share + 0.05)
			fail_msg("task %u ran %.3f of the time, %.3f is due", i, got, share);
	}
}

static void half_the_cpus_halve_the_shares(void **state)
{
	struct watch w;

	(void)state;
	run(4, NULL, "sockets=1,cores=2", &w);
	check_shares(&w, 4, 0.5);
	run(8, NULL, "sockets=1,cores=4", &w);
	check_shares(&w, 8, 0.5);
}

static void smt_off_halves_them_too(void **state)
{
	struct watch w;

	(void)state;
	run(8, NULL, "sockets=1,cores=4,smt=2", &w);
	check_shares(&w, 8, 1);
	run(8, NULL, "sockets=1,cores=4,smt=2,offline=4-7", &w);
	check_shares(&w, 8, 0.5);
}

static void affinity_is_kept_where_it_can_be(void **state)
{
	struct watch w;

	(void)state;
	run(4, "0-1", "sockets=1,cores=8", &w);	/* four tasks bound to two cpus */
	check_shares(&w, 4, 0.5);
	run(4, "12-15", "sockets=1,cores=4", &w);	/* cpus that are not there: the four beginning again at the first */
	check_shares(&w, 4, 1);
	assert_true(w.highest_cpu < 4);
}

static void check_map(const char *from, const char *to, const char *set, const char *want)
{
	struct resched_host *a = NULL, *b = NULL;
	struct rs_affinity *map = NULL;
	struct rs_cpuset cpus;
	char text[256];

	assert_int_equal(resched_topology_load(from, &a, NULL), 0);
	assert_int_equal(resched_topology_load(to, &b, NULL), 0);
	assert_int_equal(rs_affinity_new(a, b, &map), 0);
	assert_int_equal(rs_cpulist_parse(set, &cpus), 0);
	assert_int_equal(rs_affinity_map(map, &cpus), strcmp(set, want) != 0);
	rs_cpulist_format(&cpus, text, sizeof(text));
	assert_string_equal(text, want);
	rs_affinity_free(map);
	resched_host_free(a);
	resched_host_free(b);
}

static void affinities_follow_the_parts_of_the_machine(void **state)
{
	(void)state;
	check_map("zen3-2s-nps1", "xeon8260", "64-127,192-255", "24-47,72-95");	/* the second node */
	check_map("zen3-2s-nps1", "xeon8260", "8-15", "8-15");			/* all there */
	check_map("zen3-2s-nps4", "zen3-2s-nps1", "112-127,240-255", "112-127,240-255");
	check_map("zen3-2s-nps1", "i7-4790", "8-15,136-143", "0-7");		/* a whole cache: the only one */
	check_map("m16", "vm4", "5", "1");
	check_map("m16", "vm4", "3-5", "0-1,3");
	check_map("m16", "sockets=1,cores=4,offline=1", "13", "2");		/* the second that is online */
	check_map("vm2", "vm4", "30", "2");					/* no cpu of the recorded machine either */
}

static int watch_exec(void *ctx, const struct resched_event *ev)
{
	struct watch *w = ctx;

	if (ev->type == RESCHED_EV_EXEC) {
		w->execs++;
		w->exec_cpu = ev->cpu;
		w->exec_ns = ev->ts_ns;
	}
	return 0;
}

/* A task that loads a new program while another waits for its cpu goes to an idle one at once; alone it stays. */
static void exec_goes_to_an_idle_cpu(void **state)
{
	(void)state;
	for (unsigned int others = 0; others < 2; others++) {
		struct resched_workload *w = workload_of(4);
		struct watch seen = { 0 };
		struct rs_program *p = add_task(w, 0, 0, NULL);

		p->birth = RS_BORN_RUNNING;
		add_op(p, RS_OP_EXEC, 100000);
		add_op(p, RS_OP_ENDLESS, 1);
		if (others)
			add_op(add_task(w, 1, 0, "0"), RS_OP_ENDLESS, 1);
		run_workload(w, "vm4", watch_exec, &seen);
		assert_int_equal(seen.execs, others);
		assert_true(!others || (seen.exec_cpu && seen.exec_ns < 1001000000));
	}
}

static struct rs_costs costs_of(const char *recorded, const char *machine)
{
	struct resched_host *a = NULL, *b = NULL;
	struct rs_costs costs;

	assert_int_equal(resched_topology_load(recorded, &a, NULL), 0);
	assert_int_equal(resched_topology_load(machine, &b, NULL), 0);
	costs = rs_place_costs(a, b);
	resched_host_free(a);
	resched_host_free(b);
	return costs;
}

/* What moves on the recorded machine cost is part of the recorded demand. */
static void only_new_distances_cost(void **state)
{
	(void)state;
	assert_int_equal(costs_of("vm4", "m16").cold_llc_ns, 0);
	assert_int_equal(costs_of("vm4", "sockets=1,llc=2,cores=2").cold_llc_ns, 20000);
	assert_int_equal(costs_of("vm4", "sockets=1,llc=2,cores=2").cold_node_ns, 0);
	assert_int_equal(costs_of("vm4", "zen3-2s-nps1").cold_node_ns, 100000);
	assert_int_equal(costs_of("zen3-2s-nps1", "zen3-2s-nps4").cold_llc_ns, 0);
	assert_int_equal(costs_of("zen3-2s-nps1", "zen3-2s-nps4").cold_node_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(half_the_cpus_halve_the_shares), cmocka_unit_test(smt_off_halves_them_too),
		cmocka_unit_test(affinity_is_kept_where_it_can_be), cmocka_unit_test(only_new_distances_cost),
		cmocka_unit_test(exec_goes_to_an_idle_cpu), cmocka_unit_test(affinities_follow_the_parts_of_the_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
