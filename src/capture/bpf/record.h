/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the BPF programs hand to the recorder: one small record an event, in a ring buffer a cpu.
 *
 * Shared by both sides, so: fixed widths, no padding left to the compiler, native byte order. Names of tasks are
 * not in the frequent records; the recorder knows them from the records that bring or change one.
 */
#ifndef RS_BPF_RECORD_H
#define RS_BPF_RECORD_H

#ifndef __bpf__
#include <stdint.h>
#define RS_U8 uint8_t
#define RS_U16 uint16_t
#define RS_U32 uint32_t
#define RS_S32 int32_t
#define RS_U64 uint64_t
#define RS_S64 int64_t
#else
#define RS_U8 __u8
#define RS_U16 __u16
#define RS_U32 __u32
#define RS_S32 __s32
#define RS_U64 __u64
#define RS_S64 __s64
#endif

#define RS_BPF_COMM 16
#define RS_BPF_PATH 128		/* of an exec's file name; a longer one is cut */
#define RS_BPF_MAX_CPUS 1024
#define RS_BPF_GLOBS 4		/* of names */
#define RS_BPF_LEVELS 4		/* of a task's entity and the groups above it */
#define RS_BPF_NO_RUN (~0ull)	/* nobody knows since when it runs: the first switch of a cpu */

enum rs_bpf_kind {
	RS_BPF_SWITCH = 1,
	RS_BPF_WAKING,
	RS_BPF_WAKEUP,
	RS_BPF_WAKEUP_NEW,
	RS_BPF_MIGRATE,
	RS_BPF_FORK,
	RS_BPF_EXEC,
	RS_BPF_EXIT,
	RS_BPF_PRIO,
	RS_BPF_RENAME,
	RS_BPF_RUNTIME,
	RS_BPF_TRUTH,
	RS_BPF_START,
	RS_BPF_LOST,		/* count records before this one found no room */
	RS_BPF_CALLED,		/* the name of a task that may be in no list of tasks any more */
	RS_BPF_NR
};

/* Where a truth row was taken. */
enum rs_bpf_row {
	RS_BPF_ROW_PREV,	/* sched_switch: after the old task was put back */
	RS_BPF_ROW_NEXT,	/* sched_switch: after the new task was made current */
	RS_BPF_ROW_WAKING,	/* before anything was done to the task: its stored lag */
	RS_BPF_ROW_WAKEUP,	/* after it was queued */
	RS_BPF_ROW_WAKEUP_NEW,
	RS_BPF_ROW_RUNTIME,	/* after vruntime and deadline advanced, before any consequence */
	RS_BPF_ROW_START,	/* one a task when the recording begins; not under the queue's lock */
	RS_BPF_ROW_NR
};

struct rs_bpf_head {
	RS_U64 ts_ns;		/* CLOCK_MONOTONIC */
	RS_S32 pid;		/* the task that ran: common_pid */
	RS_U8 kind;		/* enum rs_bpf_kind */
	RS_U8 flags;		/* common_flags, as ftrace writes them */
	RS_U16 aux;		/* switch: prev_state as sched_switch encodes it; truth: row | level << 8 */
};

struct rs_bpf_switch {
	struct rs_bpf_head h;	/* h.pid is prev */
	RS_S32 next_pid;
	RS_U16 prev_prio, next_prio;
	RS_U64 run_ns;		/* of prev since it was switched in; RS_BPF_NO_RUN */
};

struct rs_bpf_wake { struct rs_bpf_head h; RS_S32 pid; RS_U16 prio, cpu; };
struct rs_bpf_migrate { struct rs_bpf_head h; RS_S32 pid; RS_U16 prio, from, to, pad[3]; };
struct rs_bpf_fork { struct rs_bpf_head h; RS_S32 parent, child; char comm[RS_BPF_COMM]; };
struct rs_bpf_exec { struct rs_bpf_head h; RS_S32 pid, old_pid; char path[RS_BPF_PATH]; };
struct rs_bpf_exit { struct rs_bpf_head h; RS_S32 pid; RS_U16 prio; RS_U16 group_dead; char comm[RS_BPF_COMM]; };
struct rs_bpf_prio { struct rs_bpf_head h; RS_S32 pid; RS_U16 old_prio, new_prio; };
struct rs_bpf_rename { struct rs_bpf_head h; RS_S32 pid, oom_adj; char oldcomm[RS_BPF_COMM], newcomm[RS_BPF_COMM]; };
struct rs_bpf_runtime { struct rs_bpf_head h; RS_S32 pid, pad; RS_U64 runtime, vruntime; };
struct rs_bpf_lost { struct rs_bpf_head h; RS_U64 count; };
struct rs_bpf_called { struct rs_bpf_head h; RS_S32 pid; char comm[RS_BPF_COMM]; };

/* One entity and its queue; h.aux tells where it was taken and how many groups below it the task is. */
struct rs_bpf_truth {
	struct rs_bpf_head h;
	RS_S32 pid;		/* the task; also in the rows of the groups above it */
	RS_U16 cpu;		/* of the queue */
	RS_U8 on_rq, delayed, rel, custom, has, prio;	/* has: RS_BPF_HAS_*; prio: the task's */
	RS_U16 policy;
	RS_U16 nr;		/* entities queued, delayed ones included; 65535 or more is 65535 */
	RS_U64 group;		/* id of the cgroup whose entity it is, or RS_BPF_AUTOGROUP and the autogroup's; 0: the task's own */
	/* the entity */
	RS_U64 vruntime, deadline;
	RS_S64 vlag;
	RS_U64 slice, weight, sum_exec, exec_start;
	/* its queue, without the current entity but for load */
	RS_U64 z;		/* zero_vruntime, or min_vruntime where there is no other */
	RS_S64 sum_wv;		/* sum of w * (vruntime - z) */
	RS_U64 sum_w, load, clock;
	RS_U64 curr_vruntime, curr_weight;	/* weight 0: no current entity that is queued */
};

/* Load averages of an entity or of a queue (struct sched_avg). */
struct rs_bpf_load {
	RS_U64 updated, load_sum, load_avg, runnable_sum, runnable_avg;
	RS_U32 util_sum, period;
	RS_U64 util_avg;
};

/* A row of the beginning, with the averages that weights of groups are made of. */
struct rs_bpf_start {
	struct rs_bpf_truth t;
	struct rs_bpf_load entity, queue;	/* queue: the one a group's entity stands for */
	RS_U64 contrib, published;	/* what that queue has told its group last, and when */
	RS_U64 total;		/* of the group, over all cpus */
	RS_U64 clock_pelt;	/* what the averages' clock reads when t.clock is read */
};

#define RS_BPF_AUTOGROUP	(1ull << 63)

#define RS_BPF_HAS_DEADLINE	0x01	/* EEVDF: deadline, slice and vlag */
#define RS_BPF_HAS_ZERO		0x02	/* z is zero_vruntime */
#define RS_BPF_HAS_VPROT	0x04	/* vlag of the current entity is vprot */
#define RS_BPF_HAS_QUEUE	0x08	/* the queue could be reached: not on kernels without group scheduling */
#define RS_BPF_HAS_LOAD		0x10	/* of a row of the beginning: load averages could be read */

/* What the programs keep for a cpu, alone in its cache line; the recorder reads the counter. */
struct rs_bpf_cpu {
	RS_U64 lost;		/* records since the last one that found room */
	RS_U64 total_lost;
	RS_U64 in_sum;		/* 1 + sum_exec_runtime of the current task when it was switched in; 0: not seen */
	RS_S32 in_pid, pad32;
	RS_U64 in_group, in_weight, in_slice;	/* its group (an address), weight and slice then */
	RS_U64 pad[1];
};

/* A glob over names, see resched.bpf.c. */
struct rs_bpf_glob { RS_U32 step[256], stay, end; };

/* What the iterator over tasks writes before the first record is read. */
struct rs_bpf_name { RS_S32 pid; char comm[RS_BPF_COMM]; };

#endif
