/* SPDX-License-Identifier: GPL-2.0-only */
/* Inside of the collector: who ran where lately (outliers.c), what that means (outliers_cause.c), the same elsewhere (outliers_match.c). */
#ifndef RS_ANALYSIS_OUTLIERS_H
#define RS_ANALYSIS_OUTLIERS_H

#include <stdbool.h>
#include <stdint.h>
#include <resched/outliers.h>

#include "analysis/state.h"
#include "base/map.h"

#define OL_MAX_SPANS 8192u	/* of one cpu; older ones are forgotten */
#define OL_WAKERS 4u		/* last wakers of a task */
#define OL_SEGMENTS 8u		/* cpus a wait can be followed over */
#define OL_GAPS 5u
#define OL_MAX_RAN 64u		/* different tasks told apart in one wait */

struct ol_span { uint64_t since_ns; int32_t pid; int16_t prio; bool known; };

/* A ring of what ran; the newest still runs. */
struct ol_cpu {
	struct ol_span *spans;
	uint32_t cap;
	uint64_t nr;
	unsigned int in_irq;			/* bits: a softirq, a handler */
	uint64_t irq_since_ns, irq_ns;		/* of the one that goes on; of those before */
};

struct ol_waker { uint64_t at_ns; int32_t pid; uint16_t cpu; bool interrupt; };
struct ol_segment { uint64_t since_ns; uint16_t cpu; };

struct ol_task {
	int32_t pid;
	struct ol_waker wakers[OL_WAKERS];	/* ring */
	uint32_t nr_wakers;
	struct ol_segment segments[OL_SEGMENTS];	/* of the wait that goes on */
	uint8_t nr_segments;
	bool placed, running, new;
	uint64_t irq_from_ns, irq_ns;	/* of its cpu when it came there; of the cpus before, while it waited there */
	uint16_t moves;
	uint64_t ran_since_ns, demand_ns, wake_nr;
};

struct ol_ran { int32_t pid; int16_t prio; uint64_t ns, longest_ns; bool to_the_end, from_the_start; };

/* Everything known about one wait, before a cause is named. */
struct ol_facts {
	struct resched_outlier *o;
	const struct an_task *task;
	const struct resched_host *host;
	unsigned int nr_ran;
	struct ol_ran ran[OL_MAX_RAN];		/* sorted, longest first */
	uint64_t rt_ns, stop_ns, kthread_ns, fair_ns;
	uint64_t irq_ns;			/* of interrupts on top of all, when they were recorded */
	uint32_t left_state;			/* of the task whose leaving ended the wait */
	int32_t left_pid;
	unsigned int idle_cpu;			/* one of the others that were idle */
	uint64_t tick_ns;
	bool new_task;
};

/* ol_judge() - fill code and text of @facts->o. */
void ol_judge(const struct ol_facts *facts);
bool ol_is_kthread(const struct resched_host *host, int pid, const char *comm);
/* ol_longer() - the order of outliers: longest first, then earliest, then lowest pid. */
bool ol_longer(const struct resched_outlier *a, const struct resched_outlier *b);

struct resched_outliers {
	struct resched_analysis *an;
	unsigned int top, kinds;
	uint64_t over_ns, tick_ns;
	struct ol_cpu *cpus;
	uint32_t nr_cpus;
	struct rs_map by_pid;
	struct ol_task *tasks;
	uint32_t nr_tasks, cap_tasks;
	struct resched_event last_switch;
	unsigned int nr, nr_gaps;
	struct resched_outlier *heap;		/* least on top until sorted */
	struct resched_outlier gaps[OL_GAPS];
};

#endif
