/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel itself held of one scheduling entity and its queue at one moment of a recording made with
 * --detail truth. Plain value. Names and meanings follow resched-record(1), "KERNEL TRUTH".
 *
 * Virtual times are unsigned 64 bit and wrap: compare by signed difference.
 */
#ifndef RESCHED_TRUTH_H
#define RESCHED_TRUTH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a row was taken. */
enum resched_truth_row {
	RESCHED_TRUTH_PREV = 0,	/* switch: the old task, after it was put back */
	RESCHED_TRUTH_NEXT,	/* switch: the new task, after it became current */
	RESCHED_TRUTH_WAKING,	/* before anything was done to the task: vlag is its stored lag */
	RESCHED_TRUTH_WAKEUP,	/* after it was queued */
	RESCHED_TRUTH_WAKEUP_NEW,
	RESCHED_TRUTH_RUNTIME,	/* accounting: after vruntime and deadline advanced */
	RESCHED_TRUTH_START,	/* when the recording began, read without the queue's lock: one a task, one a group and cpu (pid 0) */
};

#define RESCHED_TRUTH_HAS_DEADLINE	0x01	/* EEVDF: deadline, slice, vlag */
#define RESCHED_TRUTH_HAS_ZERO		0x02	/* z is zero_vruntime, else min_vruntime */
#define RESCHED_TRUTH_HAS_VPROT		0x04	/* vlag of a current entity is the end of its slice protection */
#define RESCHED_TRUTH_HAS_QUEUE		0x08	/* the queue's fields were read */

#define RESCHED_TRUTH_HAS_LOAD		0x10	/* a row of the beginning: load averages were read */

#define RESCHED_TRUTH_AUTOGROUP		(1ull << 63)

/* Load averages (struct sched_avg). */
struct resched_truth_load {
	uint64_t updated_ns, load_sum, load_avg, runnable_sum, runnable_avg;
	uint32_t util_sum, period;
	uint64_t util_avg;
};

struct resched_truth {
	int32_t pid;		/* the task, on all levels */
	uint16_t cpu;		/* of the queue */
	uint16_t nr;		/* entities queued, delayed ones included; 65535: that or more */
	uint16_t policy;	/* SCHED_* of the task */
	uint8_t row;		/* enum resched_truth_row */
	uint8_t level;		/* 0 the task's entity, 1 its group's, ... */
	uint8_t on_rq, delayed, rel, custom;
	uint8_t has;		/* RESCHED_TRUTH_HAS_* */
	uint8_t prio;
	uint64_t group;		/* cgroup id of the group whose entity it is, or RESCHED_TRUTH_AUTOGROUP and the autogroup's id; 0 on level 0 */
	uint64_t vruntime, deadline;	/* deadline relative while @rel */
	int64_t vlag;		/* a lag only while off the queue */
	uint64_t slice_ns, weight, sum_exec_ns, exec_start_ns;	/* weight: 1048576 for nice 0 */
	uint64_t z;		/* the queue's reference */
	int64_t sum_wv;		/* sum of w * (vruntime - z) over the queue without current; w is weight / 1024 */
	uint64_t sum_w, load, clock_ns;
	uint64_t curr_vruntime, curr_weight;	/* weight 0: no current entity that is queued */
	/* of rows RESCHED_TRUTH_START: averages of the entity and, of a group's, of the queue it stands for; what that queue has told its
	 * group last, and when, and the group's sum over all cpus */
	struct resched_truth_load entity_load, own_load;
	uint64_t contrib, published_ns, total, clock_pelt_ns;	/* clock_pelt_ns: of the averages, when clock_ns was read */
};

/*
 * resched_truth_v() - the queue's average virtual time V, current included; z when nothing is queued.
 * Kernel: kernel/sched/fair.c, avg_vruntime().
 */
uint64_t resched_truth_v(const struct resched_truth *truth);

#ifdef __cplusplus
}
#endif
#endif
