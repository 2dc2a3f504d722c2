// SPDX-License-Identifier: GPL-2.0-only
/* Requests and answers: told from other wakes in a recording, and decided anew in a run. */
#include "replay/servers.h"

#include <resched/analysis.h>
#include <resched/replay.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define US 1000u
#define MS 1000000u
#define ROUNDS 12u
#define SERVER 0u

static struct rs_op *put(struct rs_program *program, enum rs_op_kind kind, uint64_t run_ns, uint32_t arg)
{
	struct rs_op *op = rs_program_append(program);

	assert_non_null(op);
	op->kind = kind;
	op->run_ns = run_ns;
	op->arg = arg;
	return op;
}

static void put_sleep(struct rs_program *program, uint64_t run_ns, uint32_t by, uint64_t from_ns, uint64_t to_ns)
{
	struct rs_op *op = put(program, RS_OP_BLOCK, run_ns, by);

	op->rule = RS_RULE_CAUSAL;
	op->when_ns = to_ns;
	op->len_ns = to_ns - from_ns;
}

/*
 * Two clients of a server, one cpu, in turns: asks at t, sleeps at t + 10 us, is answered at t + 50 us, when the server sleeps soon after.
 * In round @prompt the answer comes before the client got to its sleep. @others: so much later than asked it waits for something else.
 */
static struct resched_workload *make(uint32_t prompt, uint64_t others_ns)
{
	struct resched_workload *w = rs_workload_alloc();

	assert_non_null(w);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(rs_workload_add(w, 100 + i), i);
		w->tasks[i].prio = 120;
	}
	for (uint32_t i = 0; i < 2 * ROUNDS; i++) {
		uint64_t t = (uint64_t)(i + 1) * 10 * MS;
		uint32_t client = 1 + i % 2;

		put(&w->tasks[client], RS_OP_WAKE, 2 * MS, SERVER);
		put_sleep(&w->tasks[SERVER], i ? 20 * US : 0, client, t - 10 * MS + 60 * US, t);
		if (i == prompt)
			continue;
		put_sleep(&w->tasks[client], 10 * US, SERVER, t + 10 * US, t + 50 * US + others_ns);
		put(&w->tasks[SERVER], RS_OP_WAKE, 30 * US, client);
	}
	return w;
}

static uint64_t demand(const struct rs_program *program)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < program->nr_ops; i++)
		sum += program->ops[i].run_ns;
	return sum;
}

static unsigned int count(const struct rs_program *program, enum rs_op_kind kind, unsigned int rule)
{
	unsigned int nr = 0;

	for (uint32_t i = 0; i < program->nr_ops; i++)
		nr += program->ops[i].kind == kind && program->ops[i].rule == rule;
	return nr;
}

static void found(void **state)
{
	struct resched_workload *w = make(UINT32_MAX, 0);

	(void)state;
	assert_int_equal(rs_servers_find(w), 0);
	assert_true(rs_program_serves(&w->tasks[SERVER]));
	assert_int_equal(count(&w->tasks[SERVER], RS_OP_BLOCK, RS_RULE_REQUEST), 2 * ROUNDS);
	assert_int_equal(count(&w->tasks[SERVER], RS_OP_WAKE, RS_WAKE_ANSWER), 2 * ROUNDS);
	for (int c = 1; c <= 2; c++) {
		assert_false(rs_program_serves(&w->tasks[c]));
		assert_int_equal(count(&w->tasks[c], RS_OP_WAKE, RS_WAKE_ASK), ROUNDS);
		assert_int_equal(count(&w->tasks[c], RS_OP_BLOCK, RS_RULE_ANSWER), ROUNDS);
	}
	resched_workload_free(w);
}

/* An answer that came before its client slept is put in, and no demand is lost or made by that. */
static void prompt_answers_are_put_in(void **state)
{
	struct resched_workload *w = make(6, 0);
	uint64_t of_server = demand(&w->tasks[SERVER]), of_client = demand(&w->tasks[1]);
	const struct rs_op *op;

	(void)state;
	assert_int_equal(rs_servers_find(w), 0);
	assert_int_equal(count(&w->tasks[SERVER], RS_OP_WAKE, RS_WAKE_ANSWER), 2 * ROUNDS);
	assert_int_equal(count(&w->tasks[1], RS_OP_BLOCK, RS_RULE_ANSWER), ROUNDS);
	assert_int_equal(demand(&w->tasks[SERVER]), of_server);
	assert_int_equal(demand(&w->tasks[1]), of_client);
	op = &w->tasks[1].ops[7]; /* its fourth round */
	assert_int_equal(op->kind, RS_OP_BLOCK);
	assert_int_equal(op->arg, SERVER);
	assert_int_equal(op->when_ns, 0);
	assert_true(op->run_ns >= 60 * US); /* not before the server had slept again */
	resched_workload_free(w);
}

/* Who is left waiting while the "server" sleeps waits for something else than its answer. */
static void not_found(void **state)
{
	struct resched_workload *w = make(UINT32_MAX, 15 * MS);

	(void)state;
	assert_int_equal(rs_servers_find(w), 0);
	assert_false(rs_program_serves(&w->tasks[SERVER]));
	assert_int_equal(count(&w->tasks[1], RS_OP_BLOCK, RS_RULE_CAUSAL), ROUNDS);
	assert_int_equal(count(&w->tasks[1], RS_OP_WAKE, RS_WAKE_COUNTED), ROUNDS);
	resched_workload_free(w);
}

/* ---- runs ---- */

static struct resched_report *run(const char *text)
{
	struct resched_analysis_options opts = { 0 };
	FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	struct resched_workload *w = NULL;
	struct resched_analysis *analysis;
	struct resched_schedule schedule;
	struct resched_report *report;
	struct resched_error err = { 0 };

	assert_non_null(in);
	if (resched_workload_read(in, "text", &w, &err) < 0)
		fail_msg("%s", err.text);
	fclose(in);
	opts.names = resched_workload_names(w);
	assert_int_equal(resched_analysis_new(&opts, &analysis, &err), 0);
	if (resched_replay_run(w, &(struct resched_whatif){ 0 }, resched_analysis_event, analysis, NULL, &schedule, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(resched_analysis_finish(analysis, &report, &err), 0);
	resched_analysis_free(analysis);
	resched_workload_free(w);
	return report;
}

static const struct resched_figures *of(const struct resched_report *report, const char *comm)
{
	for (unsigned int i = 0; i < report->nr_comms; i++) {
		if (!strcmp(report->comms[i].name, comm))
			return &report->comms[i].f;
	}
	fail_msg("no %s", comm);
	return NULL;
}

#define HEAD                                       \
	"resched-workload 1\n"                     \
	"span first=1s last=1200ms cpus=1\n"       \
	"timing hz=250 tick=4ms confidence=1000000\n"

/* The second client asks first here, which the recording did not show: the server was busy then. It gets its answer all the same. */
static void another_order(void **state)
{
	struct resched_report *r = run(HEAD
		"task 0 pid=10 comm=\"server\"\n"
		" 0 block request by=1\n 1ms wake answer task=1\n 1ms wake answer task=2\n 0 block request by=1\n 0 block never\n"
		"task 1 pid=11 comm=\"first\"\n"
		" 10us block for len=50ms\n 10us wake ask task=0\n 10us block answer by=0\n 5ms block never\n"
		"task 2 pid=12 comm=\"second\"\n"
		" 10us block for len=20ms\n 10us block answer by=0\n 7ms block never\n");

	(void)state;
	assert_int_equal(of(r, "server")->runtime_ns, 3 * MS); /* began to answer again for nobody, was asked, and did it */
	assert_int_equal(of(r, "first")->runtime_ns, 5 * MS + 30 * US);
	assert_int_equal(of(r, "second")->runtime_ns, 7 * MS + 20 * US);
	assert_int_equal(of(r, "second")->wakeups, 2);
	assert_int_equal(of(r, "server")->wakeups, 2);
	resched_report_free(r);
}

/* A server does not sleep while somebody asks, and answers in the order of the line when the recorded client does not ask. */
static void no_sleep_while_asked(void **state)
{
	struct resched_report *r = run(HEAD
		"task 0 pid=10 comm=\"server\" loop=0\n"
		" 0 block request by=1\n 2ms wake answer task=1\n"
		"task 1 pid=11 comm=\"a\"\n 10us block for len=10ms\n 10us block answer by=0\n 1ms block never\n"
		"task 2 pid=12 comm=\"b\"\n 10us block for len=10ms\n 10us block answer by=0\n 1ms block never\n"
		"task 3 pid=13 comm=\"c\"\n 10us block for len=10ms\n 10us block answer by=0\n 1ms block never\n");

	(void)state;
	assert_int_equal(of(r, "server")->runtime_ns, 6 * MS);
	assert_int_equal(of(r, "server")->voluntary, 2); /* at the start and when all were answered */
	for (const char *c = "abc"; *c; c++) {
		char name[2] = { *c, 0 };

		assert_int_equal(of(r, name)->runtime_ns, 1 * MS + 20 * US);
	}
	resched_report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(found),
		cmocka_unit_test(prompt_answers_are_put_in),
		cmocka_unit_test(not_found),
		cmocka_unit_test(another_order),
		cmocka_unit_test(no_sleep_while_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
