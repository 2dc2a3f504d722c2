/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the makers of workloads share: their parameters, a random number generator of their own, and short words for operations.
 * A maker fills an empty workload; the first failure stays in @failed, so that makers need not look at every call.
 */
#ifndef RS_REPLAY_SYNTH_H
#define RS_REPLAY_SYNTH_H

#include "replay/workload.h"

#include <stdbool.h>
#include <stdint.h>

#define RS_SYNTH_FIRST_NS 10000000000u	/* when it begins: the queues have a past, as on a machine that runs */
#define RS_SYNTH_MAX_PARAMS 16u
#define RS_SYNTH_MAX_OPS (64u << 20)
#define RS_SYNTH_MAX_TASKS 1000000u

/* splitmix64: one word of state, good enough for jitter, the same everywhere. */
struct rs_rng { uint64_t state; };
uint64_t rs_rng_next(struct rs_rng *rng);
uint64_t rs_rng_below(struct rs_rng *rng, uint64_t limit);	/* 0 .. limit - 1; limit 0 gives 0 */
uint64_t rs_rng_exponential(struct rs_rng *rng, uint64_t mean);	/* in integers, so that no libm decides */

enum rs_param_kind { RS_PARAM_COUNT, RS_PARAM_TIME, RS_PARAM_FLAG, RS_PARAM_NICE };

struct rs_synth_param {
	const char *name;
	char letter;
	enum rs_param_kind kind;
	const char *value;		/* default */
	uint64_t unit_ns;		/* of a TIME without a unit */
	uint64_t least, greatest;	/* of a COUNT or TIME */
	const char *text;
};

struct rs_synth {
	struct resched_workload *workload;
	const uint64_t *values;		/* of the parameters, in their order; a NICE is an int64_t */
	struct rs_rng rng;
	unsigned int nr_cpus;		/* online */
	unsigned int *cpus;		/* their numbers */
	uint64_t nr_ops;
	int failed;			/* -ENOMEM, -E2BIG */
	struct rs_op nowhere;		/* takes what is written after a failure */
};

struct rs_synth_maker {
	const char *name, *about;
	unsigned int nr_params;
	const struct rs_synth_param *params;
	void (*make)(struct rs_synth *s);
};

/* Makers, by file. */
extern const struct rs_synth_maker rs_synth_hackbench, rs_synth_cyclictest;			/* synth_hackbench.c */
extern const struct rs_synth_maker rs_synth_schbench, rs_synth_schbench_old;			/* synth_schbench.c */
extern const struct rs_synth_maker rs_synth_tbench, rs_synth_periodic, rs_synth_poisson, rs_synth_hogs;	/* synth_servers.c */

/* rs_synth_task() - one more task, queued when the workload begins. Return: its index. */
uint32_t rs_synth_task(struct rs_synth *s, const char *comm, int nice);
/* rs_synth_op() - one more operation after @run_ns of demand. Return: it, for details; after a failure one that nobody reads. */
struct rs_op *rs_synth_op(struct rs_synth *s, uint32_t task, uint64_t run_ns, enum rs_op_kind kind);
void rs_synth_wake(struct rs_synth *s, uint32_t task, uint64_t run_ns, uint32_t target, enum rs_wake_kept kept);
/* A sleep until @by wakes it; @usual_ns: how long it takes as a rule, for the first guess of its load. */
void rs_synth_wait(struct rs_synth *s, uint32_t task, uint64_t run_ns, uint32_t by, uint64_t usual_ns);
void rs_synth_sleep(struct rs_synth *s, uint32_t task, uint64_t run_ns, uint64_t len_ns);
/* Back to operation @from, @times in all. */
void rs_synth_repeat(struct rs_synth *s, uint32_t task, uint32_t from, uint64_t times);
/* The whole workload lasts so long. */
void rs_synth_lasts(struct rs_synth *s, uint64_t ns);
/* @ns give or take @percent. */
uint64_t rs_synth_about(struct rs_synth *s, uint64_t ns, unsigned int percent);

static inline struct rs_program *rs_synth_program(struct rs_synth *s, uint32_t task)
{
	return &s->workload->tasks[task];
}

#endif
