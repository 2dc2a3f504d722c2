// SPDX-License-Identifier: GPL-2.0-only
/* Rules of triggers: which texts are rules, and which waits set them off. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <resched/trigger.h>

#define MS 1000000ull

static struct resched_names *names;

static struct resched_trigger *make(const char *rule)
{
	struct resched_trigger *t = NULL;

	assert_int_equal(resched_trigger_new(1, &rule, names, &t, NULL), 0);
	return t;
}

static void give(struct resched_trigger *t, struct resched_event ev)
{
	assert_int_equal(resched_trigger_event(t, &ev), 0);
}

static void waking(struct resched_trigger *t, uint64_t ms, int pid)
{
	give(t, (struct resched_event){ .ts_ns = ms * MS, .type = RESCHED_EV_WAKING, .pid = pid });
}

static void change(struct resched_trigger *t, uint64_t ms, int prev, uint32_t state, int next)
{
	give(t, (struct resched_event){ .ts_ns = ms * MS, .cpu = 5, .type = RESCHED_EV_SWITCH, .pid = prev, .sw = { .next_pid = next, .prev_state = state } });
}

static void name(struct resched_trigger *t, int pid, const char *comm)
{
	give(t, (struct resched_event){ .type = RESCHED_EV_COMM, .pid = pid, .comm = { .name = (uint32_t)resched_names_intern(names, comm, strlen(comm)) } });
}

static void test_grammar(void **state)
{
	static const char *const good[] = { "run_delay > 5ms", " run_delay  comm=a*  pid=3 cgroup=/x/* > 1.5s ", "wakeup_latency>10us", "exec comm=x",
					    "preempted_wait > 1ns" };
	static const char *const bad[] = { "", ">", "run_delay", "run_delay >", "run_delay > 5", "run_delay > 0ms", "run_delay > 5ms 6ms",
					   "run_delay comm= > 5ms", "run_delay pid=x > 5ms", "run_delay > 5ms/1s", "comm=a > 5ms", "exec", "exec comm=x > 5ms",
					   "psi_cpu", "psi_cpu > 2s/1s", "psi_cpu > 1ms/20s", "psi_cpu pid=3 > 1ms", "run_delay run_delay > 5ms" };
	struct resched_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		resched_trigger_free(make(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct resched_trigger *t = NULL;

		err.kind = RESCHED_OK;
		if (resched_trigger_new(1, &bad[i], names, &t, &err) == 0)
			fail_msg("'%s' was taken for a rule", bad[i]);
		assert_int_equal(err.kind, RESCHED_USAGE);
	}
}

static void test_waits(void **state)
{
	struct resched_trigger *t = make("run_delay comm=web* > 5ms");
	struct resched_trigger_hit hit;

	(void)state;
	name(t, 7, "webserver");
	name(t, 8, "other");
	waking(t, 100, 8);
	change(t, 120, 0, RESCHED_STATE_RUNNING, 8);	/* another name */
	waking(t, 200, 7);
	change(t, 205, 8, RESCHED_STATE_S, 7);		/* not longer than 5 ms */
	assert_int_equal(resched_trigger_take(t, &hit), 0);
	change(t, 210, 7, RESCHED_STATE_RUNNING, 8);	/* preempted */
	waking(t, 214, 7);				/* changes nothing: it is queued */
	change(t, 217, 8, RESCHED_STATE_S, 7);
	assert_int_equal(resched_trigger_take(t, &hit), 1);
	assert_int_equal(hit.from_ns, 210 * MS);
	assert_int_equal(hit.at_ns, 217 * MS);
	assert_int_equal(hit.pid, 7);
	assert_int_equal(hit.cpu, 5);
	assert_non_null(strstr(hit.text, "run_delay 7.00 ms: webserver[7] on cpu 5"));
	assert_int_equal(resched_trigger_take(t, &hit), 0);
	waking(t, 218, 7);				/* while it runs: it goes to sleep in vain */
	change(t, 219, 7, RESCHED_STATE_S, 8);
	change(t, 230, 8, RESCHED_STATE_S, 7);
	assert_int_equal(resched_trigger_take(t, &hit), 1);
	assert_int_equal(hit.from_ns, 219 * MS);
	change(t, 240, 7, RESCHED_STATE_S, 0);
	waking(t, 250, 7);
	give(t, (struct resched_event){ .ts_ns = 255 * MS, .type = RESCHED_EV_LOST });
	change(t, 280, 0, RESCHED_STATE_RUNNING, 7);	/* it may have run in between */
	assert_int_equal(resched_trigger_take(t, &hit), 0);
	resched_trigger_free(t);
}

static void test_kinds(void **state)
{
	struct resched_trigger *woken = make("wakeup_latency > 5ms"), *preempted = make("preempted_wait > 5ms"), *both[2] = { woken, preempted };
	struct resched_trigger_hit hit;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		waking(both[i], 100, 7);
		change(both[i], 110, 0, RESCHED_STATE_RUNNING, 7);
		assert_int_equal(resched_trigger_take(both[i], &hit), i == 0);
		change(both[i], 120, 7, RESCHED_STATE_S | RESCHED_STATE_PREEMPT, 8);
		change(both[i], 130, 8, RESCHED_STATE_S, 7);
		assert_int_equal(resched_trigger_take(both[i], &hit), i == 1);
	}
	resched_trigger_free(woken);
	resched_trigger_free(preempted);
}

static void test_exec(void **state)
{
	struct resched_trigger *t = make("exec comm=back*");
	struct resched_trigger_hit hit;

	(void)state;
	name(t, 9, "sh");
	give(t, (struct resched_event){ .ts_ns = 1, .type = RESCHED_EV_EXEC, .pid = 9 });
	assert_int_equal(resched_trigger_take(t, &hit), 0);
	name(t, 9, "backup");
	give(t, (struct resched_event){ .ts_ns = 2, .type = RESCHED_EV_EXEC, .pid = 9 });
	assert_int_equal(resched_trigger_take(t, &hit), 1);
	assert_int_equal(hit.from_ns, 2);
	assert_int_equal(hit.at_ns, 2);
	resched_trigger_free(t);
}

/* The cgroup is asked for when the wait is long enough: our own, for one. */
static void test_cgroup(void **state)
{
	struct resched_trigger *any = make("run_delay cgroup=* > 5ms"), *none = make("run_delay cgroup=/no/such/group > 5ms"), *all[2] = { any, none };
	struct resched_trigger_hit hit;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		waking(all[i], 100, getpid());
		change(all[i], 110, 0, RESCHED_STATE_RUNNING, getpid());
	}
	if (access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0)
		assert_int_equal(resched_trigger_take(any, &hit), 1);
	assert_int_equal(resched_trigger_take(none, &hit), 0);
	resched_trigger_free(any);
	resched_trigger_free(none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grammar), cmocka_unit_test(test_waits), cmocka_unit_test(test_kinds), cmocka_unit_test(test_exec),
		cmocka_unit_test(test_cgroup),
	};
	int failed;

	names = resched_names_new();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	resched_names_free(names);
	return failed;
}
