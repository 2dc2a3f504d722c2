/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A run queue at one instant: who is queued, what the policy knows of each, whom it would pick and why.
 * Of the recorded schedule (the state a shadow of it has) or of a replayed one.
 */
#ifndef RESCHED_EXPLAIN_H
#define RESCHED_EXPLAIN_H

#include <stdint.h>
#include <stdio.h>
#include <resched/error.h>
#include <resched/host.h>
#include <resched/replay.h>
#include <resched/report.h>
#include <resched/trace.h>
#include <resched/validate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A fair task on the queue. Virtual times are in ns of a nice 0 task and have no zero of their own:
 * differences count. */
struct resched_queued_task {
	int pid, nice;
	char comm[RESCHED_COMM_LEN];
	uint64_t weight; /* 1024 = nice 0 */
	uint64_t vruntime, deadline; /* deadline 0: the policy has none */
	uint64_t avg_vruntime; /* V of the queue it is in: of its group's own, or the root's */
	int in_group;
	int64_t lag_ns; /* real ns owed to it; negative: it has had more than its share */
	uint64_t slice_ns, used_ns; /* used: since it got the cpu, 0 while it waits */
	int64_t left_ns; /* real ns to the end of its request or slice; negative when past it */
	int running, eligible,
		delayed; /* delayed: asleep, but kept on the queue until its lag is gone */
};

struct resched_explanation {
	char schedule[16];		/* "recorded" or "free" */
	char policy[32], model[32];
	uint64_t ts_ns, first_ns;	/* the instant; the first stamp of the recording */
	unsigned int cpu;
	int running_pid;		/* 0: idle; a task of a higher class is not among @tasks */
	char running_comm[RESCHED_COMM_LEN];
	int need_resched;		/* a switch has been asked for */
	uint64_t avg_vruntime, min_vruntime, load;	/* of the root queue */
	unsigned int nr_tasks;
	struct resched_queued_task *tasks;	/* in the order of deadline, else of vruntime */
	int pick_pid;			/* whom a pick at this instant gives; 0: idle */
	char pick_comm[RESCHED_COMM_LEN];
	char why[400];			/* in words */
	int has_next;			/* recorded: the next switch of this cpu */
	uint64_t next_ns; int next_pid; char next_comm[RESCHED_COMM_LEN];
	unsigned int nr_warnings;	char warnings[16][160];
};

struct resched_explain_options {
	uint64_t at_ns; /* on the recording's clock */
	int at_is_relative; /* 1: since its first event; -1: so if it is before the first stamp */
	unsigned int cpu;
	int replayed; /* 1: of a free run under @whatif, instead of the recorded schedule */
	const struct resched_whatif *whatif; /* NULL: the recorded kernel's rules */
	const struct resched_host *host;
};

/*
 * resched_explain() - read all of @trace and look at one queue.
 * @ret: the caller's, to resched_explanation_free()
 * Return: 0; -EINVAL (kind USAGE) for an instant outside the recording, an unknown cpu or a bad
 * what-if; -ENODATA; -ENOMEM.
 */
int resched_explain(struct resched_trace *trace, const struct resched_explain_options *opts,
		    struct resched_explanation **ret, struct resched_error *err);
void resched_explanation_free(struct resched_explanation *explanation);

/*
 * Many questions to one recording, which is read once.
 * resched_explainer_new() - read all of @trace, which must outlive the explainer. @opts: its instant and cpu are not used.
 * resched_explainer_at() - one queue at one instant; errors as of resched_explain(). @explainer: one thread at a time.
 */
struct resched_explainer;
int resched_explainer_new(struct resched_trace *trace, const struct resched_explain_options *opts,
			  struct resched_explainer **ret, struct resched_error *err);
int resched_explainer_at(struct resched_explainer *explainer, uint64_t at_ns, int at_is_relative, unsigned int cpu,
			 struct resched_explanation **ret, struct resched_error *err);
void resched_explainer_free(struct resched_explainer *explainer);

/*
 * Why the policy let a runnable task wait. At every event of its queue meanwhile, the model is asked what keeps it from the cpu; the
 * answer holds until the next event.
 */
enum resched_why {
	RESCHED_WHY_UNKNOWN = 0,	/* the model does not have it on a queue, or would have let it run */
	RESCHED_WHY_NOT_ELIGIBLE,	/* it has had more than its share */
	RESCHED_WHY_LATER_DEADLINE,	/* somebody eligible has an earlier deadline */
	RESCHED_WHY_SLICE_PROTECTION,	/* it is better, but the running task is protected until its slice ends */
	RESCHED_WHY_LATER_VRUNTIME,	/* somebody has had less (CFS) */
	RESCHED_WHY_WAKEUP_GRANULARITY,	/* it has had less, but not by enough to preempt when it woke (CFS) */
	RESCHED_WHY_BUDDY,		/* another was nominated */
	RESCHED_WHY_TICK,		/* it would be picked, but nobody asks before the next tick or switch */
	RESCHED_WHY_PENDING,		/* a switch was asked for and not done yet */
	RESCHED_WHY_CLASS,		/* a task of a higher class ran */
	RESCHED_WHY_IDLE,		/* nothing ran */
	RESCHED_WHY_NR
};

struct resched_wait { int pid; uint64_t from_ns, to_ns; };	/* absolute */
struct resched_wait_why {
	uint64_t ns[RESCHED_WHY_NR];	/* of the wait */
	struct { int pid; char comm[RESCHED_COMM_LEN]; uint64_t ns; } preferred[RESCHED_WHY_NR];	/* for the longest stretch of each */
	uint64_t group_ns;		/* of it, judged between groups, not between tasks of one queue */
	int has_state, eligible;	/* the state when the wait began, in virtual ns from V; deadline 0: the policy has none */
	int64_t lag_ns, deadline_ns;
	enum resched_why most;
	char text[240];			/* of @most, in words; empty when nothing is known */
};

/* resched_why_code() - "not_eligible" and so on, as printed. NULL past the end. */
const char *resched_why_code(enum resched_why why);

/*
 * resched_explainer_waits() - of the recorded schedule, in one pass.
 * @waits: in any order; @ret: as many.
 * Return: 0; -ENOTSUP (kind FAILED) for a replayed one; -ENOMEM.
 */
int resched_explainer_waits(struct resched_explainer *explainer, unsigned int nr, const struct resched_wait *waits,
			    struct resched_wait_why *ret, struct resched_error *err);

/* resched_print_explanation() - text, or JSON resched/explain/1. Return: 0; -EIO; -ENOMEM. */
int resched_print_explanation(FILE *out, const struct resched_source *source,
			      const struct resched_explanation *explanation,
			      const struct resched_print_options *opts, struct resched_error *err);

#ifdef __cplusplus
}
#endif
#endif
