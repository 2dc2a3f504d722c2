/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How far the model can be trusted on one recording.
 *
 * Shadow: the recorded schedule is followed exactly and the policy's state is kept along it; at every
 * recorded decision the model is asked what it would have done. pick     switches to a fair task where
 * two or more fair tasks were runnable: did the model pick the recorded one? preempt  wakeups onto a
 * cpu that runs another fair task: replaced before the next tick, or not? tick     involuntary switches
 * that no wakeup caused, and ticks at which only the model would have switched
 *
 * Self-replay: a free run under the recorded kernel's own rules, compared comm by comm.
 */
#ifndef RESCHED_VALIDATE_H
#define RESCHED_VALIDATE_H

#include <stdint.h>
#include <stdio.h>
#include <resched/error.h>
#include <resched/host.h>
#include <resched/replay.h>
#include <resched/report.h>
#include <resched/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the clock samples of the run queues come from. */
enum resched_shadow_mode {
	RESCHED_SHADOW_AUTO = 0, /* ACCOUNTING where such events were recorded, else STAMPS */
	RESCHED_SHADOW_STAMPS, /* "a": stamps of switches and wakeups alone, offsets found from the
				  recording */
	RESCHED_SHADOW_ACCOUNTING, /* "b": sched_stat_runtime, every accounting point exactly */
	RESCHED_SHADOW_RUNTIMES, /* "c": stamps, and the exact run time of the previous task at each
				    switch */
};

/* One decision the model would have made otherwise. pid 0: idle, or nobody else. */
struct resched_disagreement {
	uint64_t ts_ns;
	unsigned int cpu;
	char kind[8];			/* "pick", "preempt", "tick" */
	int model_pid, kernel_pid;
	char model_comm[RESCHED_COMM_LEN], kernel_comm[RESCHED_COMM_LEN];
	char why[320];			/* lag and deadline of both, and the rule */
};

#define RESCHED_MAX_DISAGREEMENTS 20u

/* Against the kernel's own state, where the recording carries it. Errors are absolute, in real ns of
 * the task. */
struct resched_state_errors {
	uint64_t samples;
	struct resched_dist lag_error_ns;	/* of V - vruntime; CFS: of vruntime - min_vruntime */
	struct resched_dist deadline_error_ns;	/* of deadline - V; count 0 where the policy has none */
	uint64_t eligible_samples, eligible_agree;
	uint64_t exact;				/* samples without any error */
};

struct resched_shadow {
	char policy[32], model[32];
	enum resched_shadow_mode mode;	/* never AUTO */
	uint64_t contested, pick_agree;
	uint64_t preempt_decisions, preempt_agree;
	uint64_t tick_decisions, tick_agree;
	struct resched_state_errors state; /* samples 0: no truth in the recording */
	uint64_t unknown; /* events that did not fit the state; it was made to fit */
	uint64_t resynced; /* times the state was moved, within its error, to fit a recorded decision */
	uint64_t clock_offset_ns; /* STAMPS, RUNTIMES: a + b, from the schedule's clock sample to the
				   * switch's stamp and from the wakeup's stamp to its sample */
	uint64_t tick_lead_ns; /* STAMPS, RUNTIMES: from the tick's sample to the switch it causes */
	unsigned int nr_disagreements; /* the first RESCHED_MAX_DISAGREEMENTS */
	struct resched_disagreement disagreements[RESCHED_MAX_DISAGREEMENTS];
	unsigned int nr_warnings;	char warnings[16][160];
};

/* By what two recordings of the same load under the same setting differ: up to the median of that, up to its 90th percentile, beyond. */
enum resched_trust { RESCHED_TRUST, RESCHED_TRUST_WITH_CARE, RESCHED_DO_NOT_TRUST };
const char *resched_trust_text(enum resched_trust trust); /* "trust", "trust with care", "do not trust" */

/* Errors are max(predicted / recorded, recorded / predicted) - 1; a latency below 20 us counts as 20
 * us. */
struct resched_self_comm {
	char comm[RESCHED_COMM_LEN];
	uint64_t wakeups;
	double latency_p50_error, latency_p99_error, latency_mean_error, involuntary_error,
		migrations_error, runtime_error;
	double latency_distance; /* Wasserstein-1 distance of the distributions over the recorded mean; see has_distance */
	enum resched_trust trust; /* by the latencies */
	char why[80]; /* the figure that decided, when it is not to be trusted fully; else "" */
};

struct resched_self_replay {
	unsigned int nr_comms;
	struct resched_self_comm *comms; /* with 50 wakeups or more, ascending name */
	double latency_p50_error_median, latency_p99_error_median;
	double involuntary_error_total, migrations_error_total, runtime_error_total;
	int has_distance; /* 0: no commands, or the reports keep no latencies (resched_analysis_options) */
	double latency_distance; /* mean over the commands */
};

/*
 * resched_self_compare() - by what @replayed, the figures of a replay under the recorded rules, misses @recorded.
 * @ret: its comms are the caller's to free(). Return: 0; -ENOMEM.
 */
int resched_self_compare(const struct resched_report *recorded, const struct resched_report *replayed, struct resched_self_replay *ret);

/* Cpus chosen for waking and new tasks that may run on several; one row of those where the model chose otherwise. */
struct resched_placement_agreement {
	uint64_t wakeups, agree;
	uint64_t same_core, same_llc, same_node, other_node;	/* how far off */
	uint64_t uncertain;		/* not counted: a cpu in question went idle or busy within a few microseconds */
};

struct resched_validation {
	struct resched_shadow shadow;
	struct resched_placement_agreement placement;	/* wakeups 0: one cpu, or no choice */
	int has_self;
	struct resched_self_replay self;
	enum resched_trust trust; /* as a whole */
	char verdict[1024];
};

struct resched_validate_options {
	enum resched_shadow_mode mode;
	const struct resched_whatif
		*whatif; /* rules to hold against the recording; NULL: those of its own kernel */
	int no_resync; /* 1: never move the state to fit a decision */
	int self_replay; /* 1: do it */
	const struct resched_host *host; /* used instead of the snapshot inside; may be NULL */
};

/*
 * resched_validate() - read all of @trace and judge the model by it.
 * @opts: may be NULL
 * @ret:  the caller's, to resched_validation_free()
 * Return: 0; -ENODATA (kind FAILED) when there is no sched_switch, or no accounting event for the mode
 * asked for; -EINVAL (kind USAGE) for a bad what-if; -ENOMEM; -errno of the reader. Memory grows with
 * the recording: 40 bytes an event.
 */
int resched_validate(struct resched_trace *trace, const struct resched_validate_options *opts,
		     struct resched_validation **ret, struct resched_error *err);
void resched_validation_free(struct resched_validation *validation);

/* resched_print_validation() - text, or JSON resched/validate/1. Return: 0; -EIO; -ENOMEM. */
int resched_print_validation(FILE *out, const struct resched_source *source,
			     const struct resched_validation *validation,
			     const struct resched_print_options *opts, struct resched_error *err);

#ifdef __cplusplus
}
#endif
#endif
