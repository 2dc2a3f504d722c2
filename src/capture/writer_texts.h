/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of a recording that we write ourselves: their format texts and, in the same words, where each field is. Fixed
 * layouts; names are arrays of 16 bytes as in the kernel, numbers are little or big endian as the machine is.
 */
#ifndef RS_CAPTURE_WRITER_TEXTS_H
#define RS_CAPTURE_WRITER_TEXTS_H

#include <stddef.h>
#include <stdint.h>

#include <resched/error.h>
#include <resched/truth.h>

#include "capture/texts.h"

enum rs_wr_kind {
	RS_WR_SWITCH, RS_WR_WAKING, RS_WR_WAKEUP, RS_WR_WAKEUP_NEW, RS_WR_MIGRATE, RS_WR_FORK, RS_WR_EXEC, RS_WR_EXIT, RS_WR_PRIO,
	RS_WR_RUNTIME, RS_WR_RENAME, RS_WR_OTHER, RS_WR_TRUTH, RS_WR_NR,
};

#define RS_WR_COMM 16
#define RS_WR_PAGE 4096u	/* bytes of a ring buffer page, whatever the machine has */

/* What all events begin with. */
struct rs_wr_common { uint16_t type; uint8_t flags, preempt_count; int32_t pid; };

struct rs_wr_switch {
	struct rs_wr_common common;
	char prev_comm[RS_WR_COMM];
	int32_t prev_pid, prev_prio;
	int64_t prev_state;
	char next_comm[RS_WR_COMM];
	int32_t next_pid, next_prio;
};

struct rs_wr_wake { struct rs_wr_common common; char comm[RS_WR_COMM]; int32_t pid, prio, target_cpu; };
struct rs_wr_migrate { struct rs_wr_common common; char comm[RS_WR_COMM]; int32_t pid, prio, orig_cpu, dest_cpu; };
struct rs_wr_fork { struct rs_wr_common common; char parent_comm[RS_WR_COMM]; int32_t parent_pid; char child_comm[RS_WR_COMM]; int32_t child_pid; };
struct rs_wr_exec { struct rs_wr_common common; char filename[RS_WR_COMM]; int32_t pid, old_pid; };
struct rs_wr_exit { struct rs_wr_common common; char comm[RS_WR_COMM]; int32_t pid, prio; };
struct rs_wr_prio { struct rs_wr_common common; char comm[RS_WR_COMM]; int32_t pid, oldprio, newprio; };
struct rs_wr_runtime { struct rs_wr_common common; char comm[RS_WR_COMM]; int32_t pid, pad; uint64_t runtime, vruntime; };
struct rs_wr_rename { struct rs_wr_common common; int32_t pid; char oldcomm[RS_WR_COMM], newcomm[RS_WR_COMM]; int32_t oom_score_adj; };
struct rs_wr_other { struct rs_wr_common common; uint32_t nothing; };
struct rs_wr_truth { struct rs_wr_common common; struct resched_truth row; };

/* common_flags and bits of prev_state, as the texts say. Kernel: include/linux/trace_events.h, enum trace_flag_type */
#define RS_WR_FLAG_IRQS_OFF	0x01
#define RS_WR_FLAG_RESCHED	0x04
#define RS_WR_FLAG_HARDIRQ	0x08
#define RS_WR_FLAG_SOFTIRQ	0x10
#define RS_WR_STATE_PREEMPT	0x100
#define RS_WR_STATE_OTHER	0x200	/* "?": a state without a letter here; kernels have no such bit */

/* The type number of an event in its records. */
static inline uint16_t rs_wr_id(enum rs_wr_kind kind)
{
	return (uint16_t)(RS_EVENT_ID_BUILTIN + kind);
}

/* rs_wr_texts() - all formats. @ret is the caller's, to rs_texts_release(). Return: 0; -ENOMEM. */
int rs_wr_texts(struct rs_texts *ret, struct resched_error *err);

#endif
