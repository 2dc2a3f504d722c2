/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Of a stream of BPF records, the windows around slow wakeups: from the switch before the waking, on the cpu where the task then
 * runs, to its switch-in, and the waking itself wherever it happened. Records are held back for a while, until no wakeup can want
 * them any more; what names tasks is always kept. Everything else is left out, and a gap is told before what follows it.
 *
 * Memory is bounded: a wakeup slower than the records that fit has its window cut at the front.
 */
#ifndef RS_CAPTURE_SLOW_H
#define RS_CAPTURE_SLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "capture/bpf/record.h"

/* Takes a record that is kept. @gap: records of @cpu before it were left out. Return: 0; -errno, which ends it. */
typedef int (*rs_slow_fn)(void *ctx, unsigned int cpu, const struct rs_bpf_head *head, uint32_t len, bool gap);

struct rs_slow_entry { uint64_t at; uint32_t len; uint16_t cpu; bool keep; };

struct rs_slow {
	uint64_t threshold_ns, hold_ns;
	rs_slow_fn emit; void *ctx;
	uint8_t *bytes;		uint64_t size, head, tail;	/* a ring; positions only grow */
	struct rs_slow_entry *entries;	uint64_t room, first, next;	/* another, in the order of time */
	struct rs_map index;		/* pid -> when it was woken */
	uint64_t *woken_ns;		uint32_t nr, nr_room;
	bool *gap;			/* a cpu */
	uint64_t slow;			/* wakeups found */
};

/* rs_slow_init() - @bytes: of memory for records, a power of two. Return: 0; -ENOMEM. */
int rs_slow_init(struct rs_slow *slow, uint64_t threshold_ns, unsigned int nr_cpus, uint64_t bytes, rs_slow_fn emit, void *ctx);

/* rs_slow_put() - the next record, in the order of time over all cpus. Return: 0; -ENOMEM; -errno of emit(). */
int rs_slow_put(struct rs_slow *slow, unsigned int cpu, const struct rs_bpf_head *head, uint32_t len);

/* rs_slow_pass() - let go what is older than any window that may still be wanted at @now_ns; UINT64_MAX: all. */
int rs_slow_pass(struct rs_slow *slow, uint64_t now_ns);

void rs_slow_release(struct rs_slow *slow);

#endif
