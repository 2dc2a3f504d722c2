// SPDX-License-Identifier: GPL-2.0-only
/* Workloads as text: the same bytes and events after a round trip, small ones by hand, and what hostile texts do. */
#include "replay/workload.h"

#include <resched/replay.h>
#include <resched/trace.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *const recordings[] = {
	"lab-v6-k612-1c.dat", "lab-v7-k61-1c.dat", "lab-v7-k612-2c.dat", "lab-v7-none-k61-2c.dat", "host-6.18.dat",
};

static struct resched_workload *build(const char *name)
{
	const char *top = getenv("RESCHED_TOP");
	struct resched_workload *workload = NULL;
	struct resched_error err = { 0 };
	struct resched_trace *trace = NULL;
	char path[512];

	snprintf(path, sizeof(path), "%s/tests/data/%s", top ? top : ".", name);
	if (resched_trace_open(path, &trace, &err) < 0 || resched_workload_build(trace, NULL, NULL, NULL, &workload, &err) < 0)
		fail_msg("%s: %s", name, err.text);
	resched_trace_free(trace);
	return workload;
}

static char *save(const struct resched_workload *workload)
{
	struct resched_error err = { 0 };
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	if (resched_workload_save(workload, out, &err) < 0)
		fail_msg("%s", err.text);
	fclose(out);
	return text;
}

static int load(const char *text, size_t len, struct resched_workload **ret, struct resched_error *err)
{
	FILE *in = fmemopen((void *)(uintptr_t)text, len, "r");
	int rc;

	assert_non_null(in);
	rc = resched_workload_read(in, "text", ret, err);
	fclose(in);
	return rc;
}

static int hash_event(void *ctx, const struct resched_event *event)
{
	const unsigned char *bytes = (const unsigned char *)event;
	uint64_t *hash = ctx;

	for (size_t i = 0; i < sizeof(*event); i++)
		*hash = (*hash ^ bytes[i]) * 1099511628211ull;
	return 0;
}

static uint64_t run_hash(const struct resched_workload *workload, const char *policy)
{
	struct resched_whatif whatif = { .policy = policy };
	struct resched_schedule schedule;
	struct resched_error err = { 0 };
	uint64_t hash = 0;

	if (resched_replay_run(workload, &whatif, hash_event, &hash, NULL, &schedule, &err) < 0)
		fail_msg("%s", err.text);
	return hash;
}

static void a_round_trip_changes_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(recordings) / sizeof(recordings[0]); i++) {
		struct resched_workload *first = build(recordings[i]), *second = NULL;
		struct resched_error err = { 0 };
		char *text = save(first), *again;

		if (load(text, strlen(text), &second, &err) < 0)
			fail_msg("%s: %s", recordings[i], err.text);
		again = save(second);
		assert_string_equal(text, again);
		assert_int_equal(first->nr_tasks, second->nr_tasks);
		for (uint32_t t = 0; t < first->nr_tasks; t++) {
			assert_int_equal(first->tasks[t].nr_ops, second->tasks[t].nr_ops);
			assert_memory_equal(first->tasks[t].ops, second->tasks[t].ops, first->tasks[t].nr_ops * sizeof(struct rs_op));
		}
		assert_true(run_hash(first, NULL) == run_hash(second, NULL));
		assert_true(run_hash(first, "eevdf") == run_hash(second, "eevdf"));
		assert_true(run_hash(first, "cfs") == run_hash(second, "cfs"));
		free(text);
		free(again);
		resched_workload_free(first);
		resched_workload_free(second);
	}
}

#define HEAD "resched-workload 1\nspan first=10s last=11s cpus=1\ntiming hz=250 tick=4ms confidence=1000000 idle-exit=2us\n"

/* A worker is woken every 10 ms and runs 2 ms; a hog takes the rest. */
static const char by_hand[] = HEAD
	"# by hand\n"
	"task 0 pid=100 comm=\"clock \\\"a\\\"\" period=10ms phase=10s loop=0\n"
	"  5us block period when=10010ms len=10ms\n"
	"  1us wake task=1\n"
	"task 1 pid=101 comm=worker prio=110 loop=0\n"
	"  2ms block woken by=0\n"
	"task 2 pid=102 comm=hog\n"
	"  0 endless\n";

struct tally { uint64_t last_in_ns, ran_ns[4], switches[4]; int32_t curr; };

static int tally_event(void *ctx, const struct resched_event *ev)
{
	struct tally *t = ctx;

	if (ev->type != RESCHED_EV_SWITCH)
		return 0;
	if (ev->pid >= 100 && ev->pid < 104) {
		t->ran_ns[ev->pid - 100] += ev->ts_ns - t->last_in_ns;
		t->switches[ev->pid - 100]++;
	}
	t->last_in_ns = ev->ts_ns;
	return 0;
}

static void run_text(const char *text, struct tally *ret)
{
	struct resched_whatif whatif = { .policy = "eevdf" };
	struct resched_workload *workload = NULL;
	struct resched_schedule schedule;
	struct resched_error err = { 0 };

	*ret = (struct tally){ .last_in_ns = 10000000000 };
	if (load(text, strlen(text), &workload, &err) < 0)
		fail_msg("%s", err.text);
	if (resched_replay_run(workload, &whatif, tally_event, ret, NULL, &schedule, &err) < 0)
		fail_msg("%s", err.text);
	resched_workload_free(workload);
}

static void a_text_by_hand_runs(void **state)
{
	struct tally t;

	(void)state;
	run_text(by_hand, &t);
	assert_in_range(t.ran_ns[1], 196000000, 202000000);
	assert_in_range(t.ran_ns[2], 780000000, 810000000);
	assert_in_range(t.switches[0], 98, 202);	/* the worker may preempt it */
}

static void repeats_end(void **state)
{
	static const char text[] = HEAD
		"task 0 pid=100\n 1ms block for len=2ms\n 0 repeat from=0 len=9\n 500us exit\n";
	struct tally t;

	(void)state;
	run_text(text, &t);
	assert_int_equal(t.switches[0], 11);
	assert_in_range(t.ran_ns[0], 10500000, 10500100);
}

/* A spin of 30 ms ends 30 ms after it began, though a hog took half of the cpu: the spinner runs about half of it. */
static void a_spin_is_bound_by_the_clock(void **state)
{
	static const char text[] = HEAD
		"task 0 pid=100 loop=0\n 0 spin len=30ms\n 0 block for len=10ms\n"
		"task 1 pid=101\n 0 endless\n";
	struct tally t;

	(void)state;
	run_text(text, &t);
	assert_in_range(t.switches[0], 25 * 3, 2000);	/* preempted inside, many times */
	assert_in_range(t.ran_ns[0], 300000000, 500000000);	/* demand of 30 ms would take half: 500 ms of it and more */
}

/* What becomes of three wakes of a task that does not wait for any yet. */
static void wakes_are_kept_as_told(void **state)
{
	static const struct { const char *kept; uint64_t runs; } cases[] = { { "", 4 }, { " once", 2 }, { " waiting", 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[512];
		struct tally t;

		snprintf(text, sizeof(text), HEAD "task 0 pid=100\n 1us wake%s task=1\n 1us wake%s task=1\n 1us wake%s task=1\n 0 exit\n"
			 "task 1 pid=101 start=queued loop=1\n 0 block for len=1ms\n 1ms block woken by=0\n", cases[i].kept, cases[i].kept, cases[i].kept);
		run_text(text, &t);
		assert_in_range(t.ran_ns[1], cases[i].runs * 1000000, cases[i].runs * 1000000 + 100);
	}
}

static void errors_name_the_line(void **state)
{
	static const struct { const char *text, *want; } cases[] = {
		{ "resched-workload 2\n", "from the future" },
		{ "workload\n", "line 1: a workload begins with" },
		{ "resched-workload 1\n", "no line 'span" },
		{ HEAD "frob\n", "line 4: 'frob' is neither" },
		{ HEAD "task 1 pid=1\n", "line 4: task 0 comes next" },
		{ HEAD "task 0\n", "line 4: a task wants a pid" },
		{ HEAD "task 0 pid=1 colour=red\n", "line 4: 'colour' is not known" },
		{ HEAD "task 0 pid=1 prio=140\n", "prio=140: is no number, or out of range" },
		{ HEAD "task 0 pid=1 comm=\"x\n", "line 4: the text of comm is not whole" },
		{ HEAD "task 0 pid=1\n 5 leap\n", "line 5: 'leap' is no operation" },
		{ HEAD "task 0 pid=1\n 5 wake task=1\n", "line 4: task 0 refers to task 1" },
		{ HEAD "task 0 pid=1 loop=0\n 0 yield\n", "loops over operations that take no time" },
		{ HEAD "task 0 pid=1\n 1 repeat from=4 len=2\n", "repeats from operation 4" },
		{ HEAD "task 0 pid=1\n 1 block period\n", "has no period=" },
		{ HEAD "task 0 pid=1 parent=0\n", "has parent 0" },
		{ HEAD "task 0 pid=1 slice=1y\n", "slice=1y: is no time" },
		{ HEAD "host {}\n", "line 4: host:" },
		{ HEAD "ticks 0\n tick at=10000000000\n tick at=9000000000\n", "line 6: ticks go up" },
		{ HEAD "ticks 0\n tick at=1\n tick at=1000000000000000000\n", "line 6: ticks go up" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct resched_workload *workload = NULL;
		struct resched_error err = { 0 };
		int rc = load(cases[i].text, strlen(cases[i].text), &workload, &err);

		if (rc >= 0 || !strstr(err.text, cases[i].want))
			fail_msg("case %zu: %d, '%s', not '%s'", i, rc, err.text, cases[i].want);
	}
}

static int stop_soon(void *ctx, const struct resched_event *event)
{
	unsigned int *left = ctx;

	(void)event;
	return (*left)-- ? 0 : -ECANCELED;
}

static uint64_t random_next(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

static void mutate(char *text, size_t len, uint64_t *seed)
{
	static const char bytes[] = "0123456789 \n=\"-abcdefghijklmnopqrstuvwxyz#{}[],\x80\xff";
	unsigned int n = 1 + (unsigned int)(random_next(seed) % 4);

	for (unsigned int i = 0; i < n; i++) {
		size_t at = random_next(seed) % len, to = random_next(seed) % len, many = random_next(seed) % 40;

		if (random_next(seed) % 4) {
			text[at] = bytes[random_next(seed) % (sizeof(bytes) - 1)];
		} else if (at + many < len && to + many < len) {
			memmove(text + to, text + at, many);
		}
	}
}

/* Texts that somebody else broke: refused with a reason, or run; never a crash, under the sanitizers of `make check`. */
static void broken_texts_do_no_harm(void **state)
{
	struct resched_workload *recorded = build("lab-v7-k612-2c.dat");
	char *big = save(recorded), *copy;
	unsigned int refused = 0, ran = 0;
	uint64_t seed = 1;

	(void)state;
	if (strlen(big) > 60000)
		big[60000] = '\0';	/* its end is missing, too */
	copy = malloc(strlen(big) + sizeof(by_hand));
	assert_non_null(copy);
	for (unsigned int round = 0; round < 3000; round++) {
		const char *from = round % 4 ? by_hand : big;
		struct resched_workload *workload = NULL;
		struct resched_schedule schedule;
		struct resched_error err = { 0 };
		size_t len = strlen(from);
		unsigned int left = 2000;

		memcpy(copy, from, len + 1);
		mutate(copy, len, &seed);
		if (load(copy, len, &workload, &err) < 0) {
			assert_true(*err.text);
			refused++;
			continue;
		}
		(void)resched_replay_run(workload, NULL, stop_soon, &left, NULL, &schedule, &err);
		ran++;
		resched_workload_free(workload);
	}
	assert_true(refused > 100 && ran > 50);
	free(copy);
	free(big);
	resched_workload_free(recorded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_round_trip_changes_nothing),
		cmocka_unit_test(a_text_by_hand_runs),
		cmocka_unit_test(repeats_end),
		cmocka_unit_test(a_spin_is_bound_by_the_clock),
		cmocka_unit_test(wakes_are_kept_as_told),
		cmocka_unit_test(errors_name_the_line),
		cmocka_unit_test(broken_texts_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
