// SPDX-License-Identifier: GPL-2.0-only
/* Placement "recorded": tasks change cpu where and when they did, and wakings meet schedules that are under way. By hand. */
#include <resched/replay.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define HEAD "resched-workload 1\nspan first=10s last=10020ms cpus=2\n" \
	     "timing hz=250 tick=4ms phase=3ms confidence=1000000 idle-exit=2us switch-lead=10us\n"
#define START 10000000000u
#define US 1000u

struct seen {
	uint64_t migrated_ns, slept_ns;
	unsigned int migrations, sleeps;
	int32_t pid;
};

static int look(void *ctx, const struct resched_event *event)
{
	struct seen *seen = ctx;

	if (event->pid != seen->pid)
		return 0;
	if (event->type == RESCHED_EV_MIGRATE && !seen->migrations++)
		seen->migrated_ns = event->ts_ns - START;
	if (event->type == RESCHED_EV_SWITCH && (event->sw.prev_state & RESCHED_STATE_S) && !seen->sleeps++)
		seen->slept_ns = event->ts_ns - START;
	return 0;
}

/* What happens to the task with @pid. */
static struct seen run(const char *text, int32_t pid)
{
	struct resched_whatif whatif = { .policy = "eevdf", .placement = RESCHED_PLACE_RECORDED };
	FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	struct seen seen = { .pid = pid };
	struct resched_workload *workload;
	struct resched_schedule schedule;
	struct resched_error err = { 0 };

	assert_non_null(in);
	if (resched_workload_read(in, "text", &workload, &err) < 0 ||
	    resched_replay_run(workload, &whatif, look, &seen, NULL, &schedule, &err) < 0)
		fail_msg("%s", err.text);
	fclose(in);
	resched_workload_free(workload);
	return seen;
}

#define RUNS "task 0 pid=1 start=running\n 1s endless\n"
#define WAITS(move) "task 1 pid=2 start=queued\n 0 move " move "\n 1s endless\n"

static void one_that_waits_is_moved_at_its_instant(void **state)
{
	struct seen seen = run(HEAD RUNS WAITS("cpu=1 len=1500us") "task 2 pid=3 start=running cpu=1\n 1s endless\n", 2);

	(void)state;
	assert_int_equal(seen.migrations, 1);
	assert_int_equal(seen.migrated_ns, 1500 * US);
}

/* Earlier than recorded, when the cpu that pulled it runs empty earlier: by the switch's lead before the switch, as it pulls first. */
static void one_is_pulled_when_the_cpu_runs_empty(void **state)
{
	struct seen seen = run(HEAD RUNS WAITS("pulled cpu=1 len=2500us") "task 2 pid=3 start=running cpu=1\n 2ms block never cpu=1\n", 2);

	(void)state;
	assert_int_equal(seen.migrations, 1);
	assert_int_equal(seen.migrated_ns, 1990 * US);
}

/* The first time the cpu ran empty it left the task alone in the recording, too. */
static void one_that_was_left_is_left(void **state)
{
	struct seen seen = run(HEAD RUNS WAITS("pulled cpu=1 len=2500us when=600us") "task 2 pid=3 start=running cpu=1\n 500us block for len=1ms cpu=1\n 1ms block never cpu=1\n", 2);

	(void)state;
	assert_int_equal(seen.migrations, 1);
	assert_in_range(seen.migrated_ns, 2490 * US, 2500 * US);
}

/* A waking by another cpu while the task is on its way out: it is switched out all the same. Before that, it does not sleep at all. */
static void a_waking_races_with_the_sleep(void **state)
{
#define SLEEPS "task 0 pid=1 start=running\n 1ms block woken by=1 cpu=0\n 2ms block never cpu=0\n"
	struct seen late = run(HEAD SLEEPS "task 1 pid=2 start=running cpu=1\n 995us wake task=0 cpu=1\n 1s endless\n", 1);
	struct seen early = run(HEAD SLEEPS "task 1 pid=2 start=running cpu=1\n 980us wake task=0 cpu=1\n 1s endless\n", 1);

	(void)state;
	assert_int_equal(late.sleeps, 2);
	assert_int_equal(late.slept_ns, 1000 * US);
	assert_int_equal(early.sleeps, 1);
	assert_in_range(early.slept_ns, 3000 * US, 3010 * US);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_waits_is_moved_at_its_instant),
		cmocka_unit_test(one_is_pulled_when_the_cpu_runs_empty),
		cmocka_unit_test(one_that_was_left_is_left),
		cmocka_unit_test(a_waking_races_with_the_sleep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
