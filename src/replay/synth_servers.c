// SPDX-License-Identifier: GPL-2.0-only
/* Simple task sets: pairs that play ping-pong (tbench, netperf TCP_RR), periodic tasks, servers of random requests, hogs. */
#include "replay/synth.h"

#define US 1000u
#define MS 1000000u
#define SECOND 1000000000u
#define LONGEST_NS (3600ull * SECOND)
#define DURATION { "duration", 't', RS_PARAM_TIME, "10", SECOND, MS, LONGEST_NS, "how long it lasts; a bare number is seconds" }
#define PARAMS(array) .nr_params = sizeof(array) / sizeof((array)[0]), .params = array

/* ---- tbench ---- */

enum { T_CLIENTS, T_DURATION, T_CLIENT, T_SERVER, T_LARGE, T_EVERY };

static const struct rs_synth_param tbench_params[] = {
	{ "clients", 'c', RS_PARAM_COUNT, "0", 0, 0, 100000, "pairs of a client and a server; 0: one a cpu" },
	DURATION,
	{ "client", 0, RS_PARAM_TIME, "5500ns", 1, 1, SECOND, "time on the cpu of a client between two requests" },
	{ "server", 0, RS_PARAM_TIME, "5500ns", 1, 1, SECOND, "of a server to answer one" },
	{ "large", 0, RS_PARAM_COUNT, "7", 0, 1, 1000, "how many times more a large request takes on both sides" },
	{ "every", 0, RS_PARAM_COUNT, "8", 0, 0, 1000000, "one request in so many is large; 0: none" },
};

#define ROUNDS 256u	/* of random sizes before they come round again */

static void make_tbench(struct rs_synth *s)
{
	const uint64_t *v = s->values;
	uint64_t pairs = v[T_CLIENTS] ? v[T_CLIENTS] : s->nr_cpus;

	rs_synth_lasts(s, v[T_DURATION]);
	for (uint64_t i = 0; i < pairs && !s->failed; i++) {
		uint32_t client = rs_synth_task(s, "tbench", 0), server = rs_synth_task(s, "tbench_srv", 0);

		for (unsigned int round = 0; round < ROUNDS && !s->failed; round++) {
			uint64_t times = v[T_EVERY] && !rs_rng_below(&s->rng, v[T_EVERY]) ? v[T_LARGE] : 1;

			rs_synth_wake(s, client, rs_synth_about(s, v[T_CLIENT] * times, 10), server, RS_WAKE_COUNTED);
			rs_synth_wait(s, client, 0, server, v[T_SERVER]);
			rs_synth_wait(s, server, 0, client, v[T_CLIENT]);
			rs_synth_wake(s, server, rs_synth_about(s, v[T_SERVER] * times, 10), client, RS_WAKE_COUNTED);
		}
		if (s->failed)
			return;
		rs_synth_program(s, client)->loop_to = 0;
		rs_synth_program(s, server)->loop_to = 0;
	}
}

const struct rs_synth_maker rs_synth_tbench = {
	.name = "tbench", .about = "pairs of a client and a server, one request at a time", PARAMS(tbench_params), .make = make_tbench,
};

/* ---- periodic ---- */

enum { P_TASKS, P_DURATION, P_PERIOD, P_RUN, P_JITTER, P_NICE, P_HOGS };

static const struct rs_synth_param periodic_params[] = {
	{ "tasks", 'n', RS_PARAM_COUNT, "4", 0, 1, 100000, "how many, their periods begun evenly spread" },
	DURATION,
	{ "period", 'i', RS_PARAM_TIME, "10ms", US, 100 * US, 3600ull * SECOND, "a bare number is us" },
	{ "run", 0, RS_PARAM_TIME, "2ms", US, 1, SECOND, "time on the cpu a period; a bare number is us" },
	{ "jitter", 0, RS_PARAM_COUNT, "0", 0, 0, 50, "per cent by which that varies up and down" },
	{ "nice", 0, RS_PARAM_NICE, "0", 0, 0, 0, "of the tasks" },
	{ "hogs", 0, RS_PARAM_COUNT, "0", 0, 0, 100000, "tasks beside them that never sleep" },
};

static void add_hogs(struct rs_synth *s, uint64_t nr, int nice)
{
	for (uint64_t i = 0; i < nr && !s->failed; i++)
		rs_synth_op(s, rs_synth_task(s, "hog", nice), 0, RS_OP_ENDLESS);
}

static void make_periodic(struct rs_synth *s)
{
	const uint64_t *v = s->values;

	rs_synth_lasts(s, v[P_DURATION]);
	for (uint64_t i = 0; i < v[P_TASKS] && !s->failed; i++) {
		uint32_t task = rs_synth_task(s, "periodic", (int)(int64_t)v[P_NICE]);
		uint64_t phase = RS_SYNTH_FIRST_NS + v[P_PERIOD] / v[P_TASKS] * i;
		unsigned int cycles = v[P_JITTER] ? ROUNDS : 1;

		for (unsigned int k = 0; k <= cycles && !s->failed; k++) {	/* the first only waits for its phase */
			struct rs_op *op = rs_synth_op(s, task, k ? rs_synth_about(s, v[P_RUN], (unsigned int)v[P_JITTER]) : 0, RS_OP_BLOCK);

			op->rule = RS_RULE_PERIODIC;
			op->arg = RS_NO_TASK;
			op->len_ns = v[P_PERIOD];
			op->when_ns = phase + v[P_PERIOD];
		}
		if (s->failed)
			return;
		rs_synth_program(s, task)->period_ns = v[P_PERIOD];
		rs_synth_program(s, task)->phase_ns = phase;
		rs_synth_program(s, task)->loop_to = 1;
	}
	add_hogs(s, v[P_HOGS], 0);
}

const struct rs_synth_maker rs_synth_periodic = {
	.name = "periodic", .about = "tasks that run for a while at the beginning of each of their periods",
	PARAMS(periodic_params), .make = make_periodic,
};

/* ---- poisson ---- */

enum { R_TASKS, R_DURATION, R_RATE, R_RUN, R_NICE, R_HOGS };

static const struct rs_synth_param poisson_params[] = {
	{ "tasks", 'n', RS_PARAM_COUNT, "4", 0, 1, 100000, "servers, each with requests of its own" },
	DURATION,
	{ "rate", 'R', RS_PARAM_COUNT, "100", 0, 1, 1000000, "requests a second of each, at random" },
	{ "run", 0, RS_PARAM_TIME, "1ms", US, 1, SECOND, "time on the cpu of one on average, exponential; a bare number is us" },
	{ "nice", 0, RS_PARAM_NICE, "0", 0, 0, 0, "of the servers" },
	{ "hogs", 0, RS_PARAM_COUNT, "0", 0, 0, 100000, "tasks beside them that never sleep" },
};

static void make_poisson(struct rs_synth *s)
{
	const uint64_t *v = s->values, gap = SECOND / v[R_RATE];

	rs_synth_lasts(s, v[R_DURATION]);
	for (uint64_t i = 0; i < v[R_TASKS] && !s->failed; i++) {
		uint32_t task = rs_synth_task(s, "server", (int)(int64_t)v[R_NICE]);
		uint64_t at = RS_SYNTH_FIRST_NS, end = at + v[R_DURATION], run = 0;

		while (!s->failed) {
			uint64_t wait = rs_rng_exponential(&s->rng, gap) + 1;
			struct rs_op *op;

			at += wait;
			op = rs_synth_op(s, task, run, RS_OP_BLOCK);
			op->arg = RS_NO_TASK;
			if (at >= end)
				break;	/* and sleeps for ever */
			op->rule = RS_RULE_ARRIVAL;
			op->when_ns = at;
			op->len_ns = wait > run ? wait - run : 0;
			run = rs_rng_exponential(&s->rng, v[R_RUN]) + 1;
		}
	}
	add_hogs(s, v[R_HOGS], 0);
}

const struct rs_synth_maker rs_synth_poisson = {
	.name = "poisson", .about = "servers of requests that come at random and take random times",
	PARAMS(poisson_params), .make = make_poisson,
};

/* ---- hogs ---- */

enum { G_TASKS, G_DURATION, G_NICE };

static const struct rs_synth_param hogs_params[] = {
	{ "tasks", 'n', RS_PARAM_COUNT, "0", 0, 0, 100000, "how many; 0: two a cpu" },
	DURATION,
	{ "nice", 0, RS_PARAM_NICE, "0", 0, 0, 0, "of every second one; the others have 0" },
};

static void make_hogs(struct rs_synth *s)
{
	uint64_t nr = s->values[G_TASKS] ? s->values[G_TASKS] : 2 * s->nr_cpus;

	rs_synth_lasts(s, s->values[G_DURATION]);
	for (uint64_t i = 0; i < nr && !s->failed; i++)
		add_hogs(s, 1, i % 2 ? (int)(int64_t)s->values[G_NICE] : 0);
}

const struct rs_synth_maker rs_synth_hogs = {
	.name = "hogs", .about = "tasks that never sleep", PARAMS(hogs_params), .make = make_hogs,
};
