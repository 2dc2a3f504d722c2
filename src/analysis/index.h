/* SPDX-License-Identifier: GPL-2.0-only */
/* Inside of the index: how it is filled (index.c) and how it is read (index_read.c). */
#ifndef RS_ANALYSIS_INDEX_H
#define RS_ANALYSIS_INDEX_H

#include <stdbool.h>
#include <stdint.h>
#include <resched/index.h>

#include "analysis/state.h"

/*
 * One number a stretch of a task: when it began since the first event (48 bits, three days), where (13 bits), what (3 bits).
 * Ordered by time when compared as numbers.
 */
#define IX_STATE_BITS 3u
#define IX_CPU_BITS 13u
#define IX_AT_SHIFT (IX_STATE_BITS + IX_CPU_BITS)
#define IX_MAX_AT ((1ull << 48) - 1)

static inline uint64_t ix_pack(uint64_t at, unsigned int cpu, unsigned int state)
{
	return at << IX_AT_SHIFT | (uint64_t)(cpu & ((1u << IX_CPU_BITS) - 1)) << IX_STATE_BITS | state;
}
static inline uint64_t ix_at(uint64_t packed) { return packed >> IX_AT_SHIFT; }
static inline unsigned int ix_cpu(uint64_t packed) { return packed >> IX_STATE_BITS & ((1u << IX_CPU_BITS) - 1); }
static inline unsigned int ix_state(uint64_t packed) { return packed & ((1u << IX_STATE_BITS) - 1); }

#define IX_IDLE UINT32_MAX	/* rows of cpus and wakers */
#define IX_LOST (UINT32_MAX - 1)

struct ix_words { uint64_t *at; uint64_t nr, cap; };

/*
 * Interrupts of a cpu: a word where one begins, ends, or gives way to one on top of it. Since the first event (48 bits), what (2 bits: none,
 * a softirq, a handler), its number (14 bits). @now holds what runs at the moment: number + 1 of a softirq and of a handler, 0 none.
 */
#define IX_IRQ_NR_BITS 14u
struct ix_cpu { struct ix_words at, irqs; uint16_t now[2]; uint32_t *rows; uint64_t cap_rows; bool observed; };
struct ix_task { struct resched_index_task figures; struct ix_words spans, lag_at; int64_t *lag; uint64_t cap_lag; };
struct ix_wake { uint64_t packed; uint32_t waker, wakee; };	/* state 1: from an interrupt */

struct resched_index {
	struct resched_analysis *an;
	bool any;
	uint64_t first_ns, last_ns, nr_events;
	struct ix_cpu *cpus;
	uint32_t nr_cpus;
	struct ix_task *tasks;		/* by row of the analysis */
	uint32_t nr_tasks, cap_tasks;
	struct ix_wake *wakes;
	uint64_t nr_wakes, cap_wakes;
	bool failed;			/* no memory for a lag sample */
};

#endif
