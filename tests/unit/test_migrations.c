// SPDX-License-Identifier: GPL-2.0-only
/* Migrations by reason and distance, and idle time while tasks wait, against hand-made streams. */
#include <resched/analysis.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <resched/topology.h>

#define MS 1000000ull

struct rig { struct resched_analysis *an; struct resched_names *names; struct resched_host *machine; };

/* Two nodes, each with two caches of two cores of two threads: cpus 0-7 are first threads, two a cache; 8-15 their siblings. */
static void begin(struct rig *r)
{
	struct resched_analysis_options opts = { .moves = 1 };

	r->names = resched_names_new();
	assert_int_equal(resched_topology_load("sockets=2,nodes=2,llc=2,cores=2,smt=2", &r->machine, NULL), 0);
	opts.names = r->names;
	opts.machine = r->machine;
	assert_int_equal(resched_analysis_new(&opts, &r->an, NULL), 0);
}

static void end(struct rig *r, struct resched_report **ret)
{
	assert_int_equal(resched_analysis_finish(r->an, ret, NULL), 0);
	assert_non_null((*ret)->moves);
	resched_analysis_free(r->an);
	resched_names_free(r->names);
	resched_host_free(r->machine);
}

static void feed(struct rig *r, struct resched_event ev)
{
	assert_int_equal(resched_analysis_event(r->an, &ev), 0);
}

static void name(struct rig *r, int pid, const char *text)
{
	int64_t id = resched_names_intern(r->names, text, strlen(text));

	feed(r, (struct resched_event){ .type = RESCHED_EV_COMM, .pid = pid, .comm = { .name = (uint32_t)id } });
}

static void run(struct rig *r, uint64_t ms, unsigned int cpu, int prev, uint32_t state, int next)
{
	feed(r, (struct resched_event){ .type = RESCHED_EV_SWITCH, .ts_ns = ms * MS, .cpu = (uint16_t)cpu, .pid = prev,
					.sw = { .next_pid = next, .prev_prio = 120, .next_prio = 120, .prev_state = state } });
}

static void wake(struct rig *r, enum resched_event_type type, uint64_t ms, unsigned int by, int pid, unsigned int cpu)
{
	feed(r, (struct resched_event){ .type = (uint8_t)type, .ts_ns = ms * MS, .cpu = (uint16_t)by, .pid = pid,
					.wake = { .prio = 120, .target_cpu = (uint16_t)cpu } });
}

static void migrate(struct rig *r, uint64_t ms, unsigned int by, int pid, unsigned int from, unsigned int to)
{
	feed(r, (struct resched_event){ .type = RESCHED_EV_MIGRATE, .ts_ns = ms * MS, .cpu = (uint16_t)by, .pid = pid,
					.migrate = { .prio = 120, .from_cpu = (uint16_t)from, .to_cpu = (uint16_t)to } });
}

static void check_reasons(const struct resched_moves *m, uint64_t wakeup, uint64_t balance, uint64_t stopper, uint64_t exec)
{
	assert_int_equal(m->by_reason[RESCHED_MOVE_WAKEUP], wakeup);
	assert_int_equal(m->by_reason[RESCHED_MOVE_BALANCE], balance);
	assert_int_equal(m->by_reason[RESCHED_MOVE_STOPPER], stopper);
	assert_int_equal(m->by_reason[RESCHED_MOVE_EXEC], exec);
}

/* A task moves another between two cpus that are not its own: it changes where that may run. In a softirq it is the balancer. */
static void tasks_move_others_by_affinity(void **state)
{
	struct resched_report *rep;
	struct rig r;

	(void)state;
	begin(&r);
	run(&r, 1, 0, 0, RESCHED_STATE_RUNNING, 10);
	migrate(&r, 2, 0, 11, 1, 2);
	feed(&r, (struct resched_event){ .type = RESCHED_EV_MIGRATE, .ts_ns = 3 * MS, .cpu = 0, .pid = 11, .ctx = RESCHED_CTX_SOFTIRQ,
					 .migrate = { .prio = 120, .from_cpu = 2, .to_cpu = 1 } });
	migrate(&r, 4, 0, 11, 1, 0);
	run(&r, 5, 0, 10, RESCHED_STATE_S, 0);
	migrate(&r, 6, 0, 11, 0, 1);
	end(&r, &rep);
	check_reasons(rep->moves, 0, 3, 0, 0);
	assert_int_equal(rep->moves->by_reason[RESCHED_MOVE_AFFINITY], 1);
	resched_report_free(rep);
}

static void reasons_and_distances(void **state)
{
	struct resched_report *rep;
	struct rig r;

	(void)state;
	begin(&r);
	name(&r, 50, "migration/1");
	run(&r, 1, 0, 0, RESCHED_STATE_RUNNING, 10);
	/* a wakeup that goes to the sibling */
	wake(&r, RESCHED_EV_WAKING, 2, 0, 11, 1);
	migrate(&r, 2, 0, 11, 1, 9);
	wake(&r, RESCHED_EV_WAKEUP, 2, 9, 11, 9);
	/* the balancer takes it to the next cache, then to the other node */
	migrate(&r, 3, 2, 11, 9, 2);
	migrate(&r, 4, 4, 11, 2, 4);
	/* the stopper of cpu 1 moves a task within the cache; another that execs soon after */
	run(&r, 5, 1, 0, RESCHED_STATE_RUNNING, 50);
	migrate(&r, 5, 1, 12, 1, 0);
	migrate(&r, 6, 1, 13, 1, 0);
	feed(&r, (struct resched_event){ .type = RESCHED_EV_EXEC, .ts_ns = 8 * MS, .cpu = 0, .pid = 13 });
	wake(&r, RESCHED_EV_WAKEUP_NEW, 9, 0, 14, 3);
	wake(&r, RESCHED_EV_WAKEUP_NEW, 9, 0, 15, 0);
	end(&r, &rep);
	check_reasons(rep->moves, 1, 2, 1, 1);
	assert_int_equal(rep->moves->by_distance[RESCHED_MOVE_CORE], 1);
	assert_int_equal(rep->moves->by_distance[RESCHED_MOVE_NODE], 1);
	assert_int_equal(rep->moves->by_distance[RESCHED_MOVE_FAR], 1);
	assert_int_equal(rep->moves->by_distance[RESCHED_MOVE_LLC], 2);
	assert_int_equal(rep->moves->forks_elsewhere, 1);
	resched_report_free(rep);
}

/* Cpu 0 runs 10 while 11 waits there from 10 to 40 ms; cpu 1 (same cache) is idle from 20 to 30, cpu 4 (other node) from 5 on. */
static void idle_while_waiting(void **state)
{
	struct resched_report *rep;
	struct rig r;

	(void)state;
	begin(&r);
	run(&r, 1, 0, 0, RESCHED_STATE_RUNNING, 10);
	run(&r, 1, 1, 0, RESCHED_STATE_RUNNING, 20);
	run(&r, 5, 4, 21, RESCHED_STATE_S, 0);
	wake(&r, RESCHED_EV_WAKING, 10, 0, 11, 0);
	wake(&r, RESCHED_EV_WAKEUP, 10, 0, 11, 0);
	run(&r, 20, 1, 20, RESCHED_STATE_S, 0);
	wake(&r, RESCHED_EV_WAKING, 30, 1, 20, 1);	/* it waits on an idle cpu: that one is waking up, not idle */
	wake(&r, RESCHED_EV_WAKEUP, 30, 1, 20, 1);
	run(&r, 33, 1, 0, RESCHED_STATE_RUNNING, 20);
	run(&r, 40, 0, 10, RESCHED_STATE_S, 11);
	run(&r, 50, 0, 11, RESCHED_STATE_S, 0);
	end(&r, &rep);
	assert_int_equal(rep->moves->idle_while_waiting_ns, 30 * MS);
	assert_int_equal(rep->moves->nr_llcs, 4);
	assert_int_equal(rep->moves->llcs[0].first_cpu, 0);
	assert_int_equal(rep->moves->llcs[0].nr_cpus, 4);
	assert_int_equal(rep->moves->llcs[0].idle_while_waiting_ns, 10 * MS);
	assert_int_equal(rep->moves->llcs[2].idle_while_waiting_ns, 0);
	resched_report_free(rep);
}

static void only_when_asked(void **state)
{
	struct resched_analysis *an;
	struct resched_report *rep;

	(void)state;
	assert_int_equal(resched_analysis_new(NULL, &an, NULL), 0);
	assert_int_equal(resched_analysis_finish(an, &rep, NULL), 0);
	assert_null(rep->moves);
	resched_report_free(rep);
	resched_analysis_free(an);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reasons_and_distances), cmocka_unit_test(tasks_move_others_by_affinity), cmocka_unit_test(idle_while_waiting), cmocka_unit_test(only_when_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
