// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state a shadow keeps against the state the kernel held, row by row: recordings of 6.12 and 6.1 with truth rows. On one cpu, with
 * accounting events and the lags the rows tell, vruntime, deadline, lag and delayed flag are equal, to the bit or to 1 ns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "replay/shadow_input.h"

static const char *shared(void)
{
	const char *dir = getenv("RESCHED_SHARED");

	return dir && *dir ? dir : "../shared";
}

static const char *fields_entity(const char *at, struct resched_truth *t)
{
	unsigned long long v, d, slice, sum, w, start;
	long long vlag;
	int on, delayed, rel, n = 0;

	if (sscanf(at, " %llu %llu %llu %llu %lld %llu %d %d %d %llu%n", &v, &d, &slice, &sum, &vlag,
		   &w, &on, &delayed, &rel, &start, &n) != 10)
		return NULL;
	t->vruntime = v;
	t->deadline = d;
	t->slice_ns = slice;
	t->sum_exec_ns = sum;
	t->vlag = vlag;
	t->weight = w;
	t->on_rq = on != 0;
	t->delayed = delayed != 0;
	t->rel = rel != 0;
	t->exec_start_ns = start;
	return at + n;
}

static const char *fields_queue(const char *at, struct resched_truth *t)
{
	unsigned long long z, sum_w, load, nr;
	long long sum_wv;
	int n = 0;

	if (sscanf(at, " %llu %lld %llu %llu %llu%n", &z, &sum_wv, &sum_w, &load, &nr, &n) != 5)
		return NULL;
	t->z = z;
	t->sum_wv = sum_wv;
	t->sum_w = sum_w;
	t->load = load;
	t->nr = (uint16_t)nr;
	t->has = RESCHED_TRUTH_HAS_QUEUE;
	return at + n;
}

static const char *bar(const char *at)
{
	at = at ? strchr(at, '|') : NULL;
	return at ? at + 1 : NULL;
}

/* Rows tell the queue without its current entity; who that is, the rows of switches tell. */
static void add_row(struct rs_shadow_log *log, uint64_t ts, struct resched_truth *row,
		    const struct resched_truth *curr, bool eevdf)
{
	if (eevdf)
		row->has |= RESCHED_TRUTH_HAS_DEADLINE | RESCHED_TRUTH_HAS_ZERO;
	row->curr_vruntime = curr->vruntime;
	row->curr_weight = curr->on_rq ? curr->weight : 0;
	assert_int_equal(rs_shadow_log_truth(log, ts, row), 0);
}

static void read_rows(struct rs_shadow_log *log, const char *path, bool eevdf)
{
	static const uint8_t kinds[] = { RESCHED_TRUTH_PREV, RESCHED_TRUTH_WAKING, RESCHED_TRUTH_WAKEUP,
					 RESCHED_TRUTH_RUNTIME, RESCHED_TRUTH_WAKEUP_NEW };
	struct resched_truth none = { .weight = 0 };
	gzFile in = gzopen(path, "rb");
	char line[2048];

	assert_non_null(in);
	while (gzgets(in, line, sizeof(line))) {
		struct resched_truth a = { .level = 0 }, b = { .level = 0 };
		unsigned long long ts, clock;
		int cpu, kind, preempt, target, pid, prio, next, next_prio;
		const char *at;

		if (sscanf(line, "%llu %d %d %d %d %llu %d %d %d %d", &ts, &cpu, &kind, &preempt,
			   &target, &clock, &pid, &prio, &next, &next_prio) != 10)
			continue;
		at = fields_entity(bar(line), &a);
		assert_non_null(at);
		at = fields_queue(bar(at), &a);
		assert_non_null(at);
		a.pid = pid;
		a.row = kinds[kind];
		if (kind == 0) {
			b = a;
			assert_non_null(fields_entity(bar(at), &b));
			b.pid = next;
			b.row = RESCHED_TRUTH_NEXT;
			if (pid && prio >= 100)
				add_row(log, ts, &a, next && next_prio >= 100 ? &b : &none, eevdf);
			if (next && next_prio >= 100)
				add_row(log, ts, &b, &b, eevdf);
		} else if (kind == 3) {
			add_row(log, ts, &a, &a, eevdf); /* it is the one that is charged */
		} else if (kind == 1) {
			a.has = 0;
			assert_int_equal(rs_shadow_log_truth(log, ts, &a),
					 0); /* for its stored lag alone */
		}
	}
	gzclose(in);
}

static void follow(const char *name, struct resched_shadow *ret)
{
	char path[512], truth[512];
	struct resched_trace *trace = NULL;
	struct resched_error err = { 0 };
	struct rs_shadow_input in = { .names = NULL };
	struct rs_shadow_options opts;

	snprintf(path, sizeof(path), "%s/traces/truth/%s/trace.dat", shared(), name);
	snprintf(truth, sizeof(truth), "%s/traces/truth/%s/truth.txt.gz", shared(), name);
	assert_int_equal(resched_trace_open(path, &trace, &err), 0);
	/* As rs_shadow_input_read(), with the rows between reading and linking. */
	in.names = resched_trace_names(trace);
	assert_int_equal(resched_workload_build(trace, NULL, rs_shadow_log_event, &in.log, &in.workload,
						&err),
			 0);
	assert_int_equal(rs_plan_make(in.workload, NULL, &in.plan, &in.schedule, &err), 0);
	read_rows(&in.log, truth, strncmp(name, "k61-", 4) != 0);
	assert_int_equal(rs_shadow_log_finish(&in.log), 0);
	assert_int_equal(rs_shadow_input_options(&in, RESCHED_SHADOW_ACCOUNTING, true, &opts, &err), 0);
	opts.resync = false;
	assert_int_equal(rs_shadow_run(&in.log, &opts, ret), 0);
	printf("%s: %llu of %llu picks; %llu rows, %llu exact, lag p99 %llu ns, max %llu ns, deadline "
	       "max %llu ns\n",
	       name, (unsigned long long)ret->pick_agree, (unsigned long long)ret->contested,
	       (unsigned long long)ret->state.samples, (unsigned long long)ret->state.exact,
	       (unsigned long long)ret->state.lag_error_ns.p99,
	       (unsigned long long)ret->state.lag_error_ns.max,
	       (unsigned long long)ret->state.deadline_error_ns.max);
	rs_shadow_input_release(&in);
	resched_trace_free(trace);
}

static void is_exact(void **state)
{
	static const char *const names[] = { "k612-1c-perhog-def", "k612-1c-ipc-def",
					     "k612-1c-forks-def", "k61-1c-perhog-def" };
	struct resched_shadow *ret = calloc(1, sizeof(*ret));
	char path[512];

	(void)state;
	assert_non_null(ret);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/traces/truth/%s/trace.dat", shared(), names[i]);
		if (access(path, R_OK) != 0) {
			printf("no recordings with truth at %s\n", path);
			free(ret);
			skip();
			return;
		}
		follow(names[i], ret);
		assert_true(ret->state.samples > 1000);
		/* tasks change cgroup at exit with a rounding of 1 ns that the events do not place */
		assert_true(ret->state.exact * 100 >= ret->state.samples * 97);
		assert_true(ret->state.lag_error_ns.p99 <= 1);
		assert_true(ret->pick_agree * 1000 >= ret->contested * 999);
	}
	free(ret);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(is_exact) };

	return cmocka_run_group_tests_name("shadow_truth", tests, NULL, NULL);
}
