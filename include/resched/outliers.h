/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The worst waits of a stream of events, each with a cause a person can act on.
 *
 * A collector hangs on an analysis and sees what the analysis sees: same pairing of waits, same selection, same window. It keeps
 * the top N in a heap and, per cpu, who ran lately, so memory grows with cpus, tasks and N, not with the recording. Causes are found
 * from events alone; what no event shows (throttling, interrupts of a recording without them, what a virtual machine was denied) is named as a guess in the text.
 */
#ifndef RESCHED_OUTLIERS_H
#define RESCHED_OUTLIERS_H

#include <stdint.h>
#include <stdio.h>
#include <resched/analysis.h>
#include <resched/error.h>
#include <resched/event.h>
#include <resched/host.h>
#include <resched/report.h>
#include <resched/trace.h>
#include <resched/waits.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RESCHED_MAX_BLAME 8u
#define RESCHED_MAX_WAKERS 8u
#define RESCHED_MAX_UNDER 8u
#define RESCHED_MAX_OUTLIERS 100000u

struct resched_blame { int pid; int prio; char comm[RESCHED_COMM_LEN]; uint64_t ns; };	/* prio as the kernel counts, < 100 real-time */

/* One link of the chain: who woke the one before it (the first: the waiting task). */
struct resched_waker {
	int pid;			/* 0: the cpu was idle; then from an interrupt */
	int interrupt;			/* 1: from hard or soft interrupt context, @pid only happened to run */
	unsigned int cpu;
	uint64_t at_ns;
	char comm[RESCHED_COMM_LEN];
};

/* What became of this very wakeup in a replayed schedule. */
struct resched_under { char label[32]; int found; uint64_t ns; };

struct resched_outlier {
	int pid, prio;
	char comm[RESCHED_COMM_LEN];
	enum resched_wait_kind kind;
	unsigned int queued_cpu, cpu;		/* where the wait began; where it ended */
	unsigned int moves;			/* times it was moved while it waited */
	uint64_t wake_ns, run_ns, latency_ns;	/* absolute stamps; their difference */
	int touches_gap;			/* 1: events were lost meanwhile: the figure cannot be trusted */
	/* the cause */
	const char *code;			/* one of resched_outlier_cause(); fixed text */
	char text[320];
	unsigned int nr_blame;			struct resched_blame blame[RESCHED_MAX_BLAME];	/* who ran instead, longest first */
	uint64_t blame_other_ns;		/* tasks beyond the table */
	uint64_t idle_ns, unknown_ns;		/* the cpu it waited for was idle; what it did is not known */
	unsigned int nr_tasks_ran;		/* how many different tasks ran there */
	unsigned int idle_cpus;			/* others it may use that were idle when the wait began */
	uint64_t idle_elsewhere_ns;		/* the longest time one of the others was idle meanwhile */
	unsigned int nr_wakers;			struct resched_waker wakers[RESCHED_MAX_WAKERS];
	unsigned int nr_under;			struct resched_under under[RESCHED_MAX_UNDER];
	/* why the policy preferred those who ran, by the model: after resched_outliers_explain() */
	int has_why;
	const char *why_code;			/* a resched_why_code() */
	uint64_t why_ns;			/* so much of the wait */
	char why[240];
	/* to find this wakeup in another schedule of the same workload */
	uint64_t wake_nr, demand_ns;		/* how often the task was woken before, what it had run by then */
};

struct resched_outlier_options {
	unsigned int top;			/* how many; 0 = 20 */
	uint64_t over_ns;			/* only waits longer than this */
	unsigned int kinds;			/* 1 << enum resched_wait_kind, 0 = wakeups and preempted waits */
};

struct resched_outliers;

/*
 * resched_outliers_new() - collect from @analysis, which must not have seen an event yet and must outlive the collector's last event.
 * @opts: may be NULL
 * Return: 0; -EINVAL (kind USAGE) for more than RESCHED_MAX_OUTLIERS; -ENOSPC when too many hang on @analysis; -ENOMEM.
 */
int resched_outliers_new(struct resched_analysis *analysis, const struct resched_outlier_options *opts, struct resched_outliers **ret,
			 struct resched_error *err);
/* resched_outliers_sort() - put them in order, longest first. To be called before the functions below, again after more events. */
void resched_outliers_sort(struct resched_outliers *outliers);
unsigned int resched_outliers_count(const struct resched_outliers *outliers);
const struct resched_outlier *resched_outliers_get(const struct resched_outliers *outliers, unsigned int idx);	/* NULL past the end */
/* Waits that touch a gap of lost events, longest first, at most 5 of them; they are not among the others. */
unsigned int resched_outliers_gap_count(const struct resched_outliers *outliers);
const struct resched_outlier *resched_outliers_gap_get(const struct resched_outliers *outliers, unsigned int idx);
void resched_outliers_free(struct resched_outliers *outliers);

/*
 * resched_outliers_explain() - ask the model why each waited, as resched_explainer_waits() does. @explainer: of the same recording.
 * The same in two steps, for who must not keep others from the outliers meanwhile: _ask() only reads, and gives as many answers as there
 * are outliers, the caller's to free(); _tell() puts them in.
 * Return: 0; -errno of that.
 */
struct resched_explainer;
struct resched_wait_why;
int resched_outliers_explain(struct resched_outliers *outliers, struct resched_explainer *explainer, struct resched_error *err);
int resched_outliers_ask(const struct resched_outliers *outliers, struct resched_explainer *explainer, struct resched_wait_why **ret,
			 struct resched_error *err);
void resched_outliers_tell(struct resched_outliers *outliers, const struct resched_wait_why *whys);

/* Causes in a fixed order: code and meaning. Return: 1; 0 past the end. */
int resched_outlier_cause(unsigned int idx, const char **ret_code, const char **ret_meaning);

/*
 * Finding the same wakeups in a replayed schedule. A wakeup is known by its task and by how much the task had run before it, which
 * no policy changes; where several are as near, by its number. Preempted waits have no counterpart.
 */
struct resched_outlier_match;
int resched_outlier_match_new(struct resched_outliers *outliers, const char *label, struct resched_outlier_match **ret,
			      struct resched_error *err);
int resched_outlier_match_event(void *match, const struct resched_event *event);	/* a resched_event_fn */
/* resched_outlier_match_finish() - write what was found into @under of every outlier, and free @match. */
void resched_outlier_match_finish(struct resched_outlier_match *match);

/* resched_print_outliers() - text, or JSON resched/outliers/1. Return: 0; -EINVAL (USAGE); -EIO; -ENOMEM. */
int resched_print_outliers(FILE *out, const struct resched_source *source, const struct resched_outliers *outliers,
			   const struct resched_print_options *opts, struct resched_error *err);

#ifdef __cplusplus
}
#endif
#endif
