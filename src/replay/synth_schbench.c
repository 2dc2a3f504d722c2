// SPDX-License-Identifier: GPL-2.0-only
/*
 * schbench, both of them: messengers that wake the workers which wait for them.
 *
 * Until April 2023: a worker, woken, spins for 30 ms of the clock; its messenger spins as long and sleeps as long again, so workers
 * run in bursts. Since then: a worker sleeps for a simulated request and then multiplies matrices, a demand of cpu time; the
 * messenger answers at once, or hands out requests at a fixed rate.
 */
#include "replay/synth.h"

#define US 1000u
#define MS 1000000u
#define SECOND 1000000000u

#define POST_NS 1000u		/* a post on a futex, and the wake of one */
#define LOOK_NS 100u		/* passing by a worker that may not wait */
#define CYCLES 128u		/* random sleeps before they come round again */
#define TIMER_SLACK_NS 50000u	/* of a usleep() */
#define LONGEST_NS (3600ull * SECOND)

static uint32_t add_workers(struct rs_synth *s, uint64_t nr)
{
	uint32_t first = s->workload->nr_tasks;

	for (uint64_t i = 0; i < nr; i++)
		rs_synth_task(s, "schbench-worker", 0);
	return first;
}

static void loop_from(struct rs_synth *s, uint32_t task, uint32_t op)
{
	if (!s->failed)
		rs_synth_program(s, task)->loop_to = op;
}

/* ---- the old form ---- */

enum { O_MESSENGERS, O_WORKERS, O_RUNTIME, O_SLEEP, O_CPU, O_WAKE };

static const struct rs_synth_param old_params[] = {
	{ "message-threads", 'm', RS_PARAM_COUNT, "2", 0, 1, 1024, "messengers" },
	{ "threads", 't', RS_PARAM_COUNT, "16", 0, 1, 8192, "workers of each messenger" },
	{ "runtime", 'r', RS_PARAM_TIME, "30", SECOND, MS, LONGEST_NS, "how long it lasts; a bare number is seconds" },
	{ "sleeptime", 's', RS_PARAM_TIME, "30000", US, US, SECOND, "sleep of a messenger, and up to a quarter more; a bare number is us" },
	{ "cputime", 'c', RS_PARAM_TIME, "30000", US, US, SECOND, "spin of workers and messengers; a bare number is us" },
	{ "wake", 0, RS_PARAM_TIME, "1us", 1, 1, SECOND, "time on the cpu to wake one worker (3.3us on a large machine)" },
};

static void spin(struct rs_synth *s, uint32_t task, uint64_t ns)
{
	rs_synth_op(s, task, 0, RS_OP_SPIN)->len_ns = ns;
}

static void make_old(struct rs_synth *s)
{
	const uint64_t *v = s->values, rest = v[O_CPU] + v[O_SLEEP] + v[O_SLEEP] / 8;

	rs_synth_lasts(s, v[O_RUNTIME]);
	for (uint64_t m = 0; m < v[O_MESSENGERS] && !s->failed; m++) {
		uint32_t messenger = rs_synth_task(s, "schbench-msg", 0), first = add_workers(s, v[O_WORKERS]);

		for (uint32_t w = first; w < first + v[O_WORKERS] && !s->failed; w++) {
			rs_synth_wake(s, w, v[O_WAKE], messenger, RS_WAKE_WAITING);
			rs_synth_wait(s, w, 0, messenger, rest);
			spin(s, w, v[O_CPU]);
			loop_from(s, w, 0);
		}
		rs_synth_sleep(s, messenger, 0, MS);	/* until all workers wait */
		for (unsigned int i = 0; i < CYCLES && !s->failed; i++) {
			for (uint32_t w = first; w < first + v[O_WORKERS]; w++)
				rs_synth_wake(s, messenger, v[O_WAKE], w, RS_WAKE_WAITING);
			rs_synth_wait(s, messenger, 0, first, v[O_CPU]);
			spin(s, messenger, v[O_CPU]);
			rs_synth_sleep(s, messenger, 0, v[O_SLEEP] + rs_rng_below(&s->rng, v[O_SLEEP] / 4 + 1));
		}
		loop_from(s, messenger, 1);
	}
}

const struct rs_synth_maker rs_synth_schbench_old = {
	.name = "schbench-old", .about = "schbench until April 2023: bursts of workers that spin for 30 ms of the clock",
	.nr_params = sizeof(old_params) / sizeof(old_params[0]), .params = old_params, .make = make_old,
};

/* ---- the form of requests ---- */

enum { N_MESSENGERS, N_WORKERS, N_RUNTIME, N_SLEEP, N_OPERATIONS, N_COST, N_RPS };

static const struct rs_synth_param new_params[] = {
	{ "message-threads", 'm', RS_PARAM_COUNT, "1", 0, 1, 1024, "messengers" },
	{ "threads", 't', RS_PARAM_COUNT, "0", 0, 0, 8192, "workers of each messenger; 0: one a cpu" },
	{ "runtime", 'r', RS_PARAM_TIME, "30", SECOND, MS, LONGEST_NS, "how long it lasts; a bare number is seconds" },
	{ "sleep_usec", 's', RS_PARAM_TIME, "100", US, 0, SECOND, "sleep of a request; a bare number is us" },
	{ "operations", 'n', RS_PARAM_COUNT, "5", 0, 1, 100000, "matrices multiplied a request" },
	{ "cost", 0, RS_PARAM_TIME, "1100us", 1, 1, SECOND, "time on the cpu of one, of 256 kB in all" },
	{ "rps", 'R', RS_PARAM_COUNT, "0", 0, 0, 1000000, "requests a second of each messenger; 0: as fast as they are answered" },
};

static void request(struct rs_synth *s, uint32_t worker)
{
	const uint64_t *v = s->values;

	if (v[N_SLEEP])
		rs_synth_sleep(s, worker, POST_NS, v[N_SLEEP] + TIMER_SLACK_NS);
	rs_synth_op(s, worker, v[N_OPERATIONS] * v[N_COST], RS_OP_NONE);
}

/* Requests wait in line when a worker is busy; once a second a burst of them is handed out. */
static void messenger_at_a_rate(struct rs_synth *s, uint32_t messenger, uint32_t first, uint64_t workers)
{
	struct rs_op *op;

	for (uint64_t i = 0; i < s->values[N_RPS] && !s->failed; i++)
		rs_synth_wake(s, messenger, POST_NS, first + (uint32_t)(i % workers), RS_WAKE_COUNTED);
	op = rs_synth_op(s, messenger, POST_NS, RS_OP_BLOCK);
	op->rule = RS_RULE_PERIODIC;
	op->arg = RS_NO_TASK;
	op->len_ns = SECOND;
	op->when_ns = RS_SYNTH_FIRST_NS + SECOND;
	if (s->failed)
		return;
	rs_synth_program(s, messenger)->period_ns = SECOND;
	rs_synth_program(s, messenger)->phase_ns = RS_SYNTH_FIRST_NS;
}

static void make_new(struct rs_synth *s)
{
	const uint64_t *v = s->values;
	uint64_t workers = v[N_WORKERS] ? v[N_WORKERS] : s->nr_cpus;

	rs_synth_lasts(s, v[N_RUNTIME]);
	for (uint64_t m = 0; m < v[N_MESSENGERS] && !s->failed; m++) {
		uint32_t messenger = rs_synth_task(s, "schbench-msg", 0), first = add_workers(s, workers);

		for (uint32_t w = first; w < first + workers && !s->failed; w++) {
			if (!v[N_RPS])
				rs_synth_wake(s, w, POST_NS, messenger, RS_WAKE_ONCE);
			rs_synth_wait(s, w, 0, messenger, 0);
			request(s, w);
			loop_from(s, w, 0);
		}
		if (v[N_RPS]) {
			messenger_at_a_rate(s, messenger, first, workers);
		} else {
			rs_synth_wait(s, messenger, 0, first, 0);
			for (uint32_t w = first; w < first + workers && !s->failed; w++)
				rs_synth_wake(s, messenger, LOOK_NS, w, RS_WAKE_WAITING);
		}
		loop_from(s, messenger, 0);
	}
}

const struct rs_synth_maker rs_synth_schbench = {
	.name = "schbench", .about = "schbench since April 2023: workers that answer requests by a sleep and matrices",
	.nr_params = sizeof(new_params) / sizeof(new_params[0]), .params = new_params, .make = make_new,
};
