/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One scheduling event, the same fixed-size record for every recording format and for every schedule
 * that the engine produces. Plain value; copy it freely.
 *
 * Invariants of a stream: ts_ns never decreases; events with equal ts_ns come in ascending cpu, and on
 * one cpu in the order they were recorded. A name of a task reaches the consumer as a RESCHED_EV_COMM
 * before the first event that needs it, and again whenever it changes; events carry no text.
 */
#ifndef RESCHED_EVENT_H
#define RESCHED_EVENT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum resched_event_type {
	RESCHED_EV_SWITCH = 1,	/* pid = previous task */
	RESCHED_EV_WAKING,	/* pid = wakee; before it is queued */
	RESCHED_EV_WAKEUP,	/* pid = wakee; after it was queued */
	RESCHED_EV_WAKEUP_NEW,	/* pid = new task, queued for the first time */
	RESCHED_EV_MIGRATE,	/* pid = task that changes cpu */
	RESCHED_EV_FORK,	/* pid = parent */
	RESCHED_EV_EXEC,	/* pid = task */
	RESCHED_EV_EXIT,	/* pid = task that begins to exit */
	RESCHED_EV_PRIO,	/* pid = task boosted or restored by priority inheritance */
	RESCHED_EV_RUNTIME,	/* pid = task charged (sched_stat_runtime) */
	RESCHED_EV_COMM,	/* pid = task; synthesised by the reader: its name from now on */
	RESCHED_EV_LOST,	/* pid = 0; events of this cpu were lost before this instant */
	RESCHED_EV_OTHER,	/* anything else that was recorded; only its time and cpu are known */
	RESCHED_EV_TRUTH,	/* pid = task; a row of the kernel's own state: resched_trace_truth() has it */
	RESCHED_EV_IRQ,		/* pid = 0; an interrupt handler or a softirq begins or ends on @cpu */
	RESCHED_EV_NR
};

/* Context in which the event was recorded (common_flags and preempt count). */
#define RESCHED_CTX_HARDIRQ	0x01
#define RESCHED_CTX_SOFTIRQ	0x02
#define RESCHED_CTX_NEED_RESCHED 0x04
#define RESCHED_CTX_IRQS_OFF	0x08
#define RESCHED_CTX_OWN		0x10	/* caused by the recorder itself */
#define RESCHED_CTX_STRETCH	0x20	/* RUNTIME: all of prev's time since it was switched in, told at the switch; else since the last accounting */

/*
 * Task states of a switch-out, decoded from the recording's own print format. RUNNING is 0; PREEMPT (the
 * kernel prints "R+") may be added to any. A task is still runnable when state is RUNNING or has PREEMPT.
 */
#define RESCHED_STATE_RUNNING	0u
#define RESCHED_STATE_S		0x001u	/* interruptible sleep */
#define RESCHED_STATE_D		0x002u	/* uninterruptible sleep */
#define RESCHED_STATE_T		0x004u	/* stopped */
#define RESCHED_STATE_t		0x008u	/* traced */
#define RESCHED_STATE_X		0x010u	/* dead */
#define RESCHED_STATE_Z		0x020u	/* zombie */
#define RESCHED_STATE_P		0x040u	/* parked */
#define RESCHED_STATE_I		0x080u	/* idle kernel thread */
#define RESCHED_STATE_OTHER	0x100u	/* a state this reader has no letter for */
#define RESCHED_STATE_PREEMPT	0x8000u

struct resched_event {
	uint64_t ts_ns;		/* on the recording's clock, not rebased */
	int32_t pid;		/* thread id; 0 is the idle task of @cpu */
	uint16_t cpu;		/* cpu that recorded the event */
	uint8_t type;		/* enum resched_event_type */
	uint8_t ctx;		/* RESCHED_CTX_* */
	union {
		struct { int32_t next_pid; int16_t prev_prio, next_prio; uint32_t prev_state; } sw;
		struct { int32_t waker_pid; int16_t prio; uint16_t target_cpu; } wake; /* WAKING, WAKEUP, WAKEUP_NEW */
		struct { int16_t prio; uint16_t from_cpu, to_cpu; } migrate;
		struct { int32_t child_pid; } fork;
		struct { int16_t old_prio, new_prio; } prio;
		struct { uint64_t runtime_ns, vruntime_ns; } runtime; /* vruntime 0 where not recorded */
		struct { uint32_t name; uint32_t renamed; } comm; /* name: index into the names table; renamed: by exec or prctl */
		struct { uint16_t queue_cpu; uint8_t row, level; } truth; /* row: enum resched_truth_row */
		struct { uint16_t nr; uint8_t soft, entry; } irq; /* nr: line, or vector of a softirq; entry: 1 begins, 0 ends */
		struct { uint64_t count; } lost; /* 0 when the number is unknown */
	};
};

#ifdef __cplusplus
static_assert(sizeof(struct resched_event) == 32, "an event is 32 bytes");
#else
_Static_assert(sizeof(struct resched_event) == 32, "an event is 32 bytes");
#endif

/* True when a switch-out in @state leaves the task runnable. */
static inline int resched_state_runnable(uint32_t state)
{
	return state == RESCHED_STATE_RUNNING || (state & RESCHED_STATE_PREEMPT);
}

/* Takes one event of a stream. A negative return stops the producer and is passed on. */
typedef int (*resched_event_fn)(void *ctx, const struct resched_event *event);

#ifdef __cplusplus
}
#endif
#endif
