/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every program stands on: what the recorder has set, the rings, who is followed, and how a record is begun.
 * Part of resched.bpf.c, which is one object: maps and settings are defined here.
 */
#ifndef RS_BPF_PROGRAM_H
#define RS_BPF_PROGRAM_H

#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "record.h"

/* Set before loading; what is switched off here is not even part of the loaded programs. */
const volatile bool want_truth = false;
const volatile bool want_run = true;
const volatile bool want_start = false;		/* rows of the beginning, and of what no event tells */
const volatile __u32 nr_cpus = 1;		/* highest number + 1 */
const volatile bool filter_pids = false;
const volatile bool filter_cpus = false;
const volatile __u32 nr_globs = 0;
const volatile bool switch_tells_state = true;	/* fourth argument of sched_switch, 5.19 on */
const volatile bool exit_tells_dead = true;	/* second argument of sched_process_exit, 6.16 on */
const volatile __s64 count_from_rq = 0;		/* from a cpu's run queue to its preempt count; 0: elsewhere */
const volatile __u64 cpus[RS_BPF_MAX_CPUS / 64] = { 0 };

/*
 * A glob as an automaton whose states are bits: with the first @i of its characters met, bit @i is set. Bit @i of step[c] says that
 * character @i may be c, bit @i of stay that a star stands before it, and end is the bit behind the last.
 */
const volatile struct rs_bpf_glob globs[RS_BPF_GLOBS] = { { 0 } };

/* One ring a cpu: no cpu waits for another, and each is in order. The recorder makes them. */
struct ring_type {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct ring_type);
} rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __s32);
	__type(value, __u8);
} pids SEC(".maps");

struct rs_bpf_cpu cpu_states[RS_BPF_MAX_CPUS] __attribute__((aligned(64)));
bool recording = false;
bool shed_rows = false, shed_runtime = false, shed_wakeup = false;	/* to stay within a budget */

#define IRQS_OFF 0x01	/* of common_flags */
#define PF_EXITING 0x04	/* of task_struct.flags */

/* One program's view of where it runs. */
struct where {
	struct rs_bpf_cpu *state;
	void *ring;
	__u64 ts;
	__s32 pid;		/* current */
	__u8 flags;
};

/*
 * The count of preemption and interrupts. x86 has it in a per-cpu variable without a symbol most kernels would
 * resolve, but at a known distance from the run queue, which the current task leads to.
 */
static __always_inline __u32 preempt_count(struct task_struct *me)
{
	__u32 count = 0;

	if (bpf_core_field_exists(((struct thread_info___preempt *)0)->preempt_count))
		return 0x80000000 | ((struct thread_info___preempt *)&me->thread_info)->preempt_count;
	if (count_from_rq && bpf_core_field_exists(me->se.cfs_rq)) {
		const char *rq = (const char *)me->se.cfs_rq->rq;

		if (bpf_probe_read_kernel(&count, sizeof(count), rq + count_from_rq) == 0)
			return count;
	}
	return 0x80000000;
}

/* common_flags as ftrace writes them. Whether interrupts are off cannot be asked; each tracepoint is always the one or the other. */
static __always_inline __u8 context(struct task_struct *me)
{
	__u32 count = preempt_count(me);
	__u8 flags = IRQS_OFF;

	if (!(count & 0x80000000))	/* x86 keeps the need to reschedule here, inverted */
		flags |= 0x04;
	if (count & 0x00ff0000)		/* hard interrupt or NMI */
		flags |= 0x08;
	if (count & 0x00000100)		/* serving a soft interrupt, not merely keeping it off */
		flags |= 0x10;
	return flags;
}

/* The bound has to be in the instructions: verifiers before 6.12 forget what a test of a copy has told. */
static __always_inline struct rs_bpf_cpu *state_of(__u32 cpu)
{
	barrier_var(cpu);
	return &cpu_states[cpu & (RS_BPF_MAX_CPUS - 1)];
}

/* @in_schedule: no interrupt interrupts this; saves the look */
static __always_inline bool arrive(struct where *w, bool in_schedule)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct task_struct *me;

	if (!recording || cpu >= RS_BPF_MAX_CPUS)
		return false;
	if (filter_cpus && !(cpus[(cpu / 64) & (RS_BPF_MAX_CPUS / 64 - 1)] >> (cpu & 63) & 1))
		return false;
	w->state = state_of(cpu);
	w->ring = bpf_map_lookup_elem(&rings, &cpu);
	if (!w->ring)
		return false;
	me = bpf_get_current_task_btf();
	w->pid = me->pid;
	w->flags = in_schedule ? IRQS_OFF : context(me);
	w->ts = bpf_ktime_get_ns();
	return true;
}

static __always_inline bool is_followed(__s32 pid)
{
	return bpf_map_lookup_elem(&pids, &pid) != NULL;
}

static __always_inline bool is_wanted(__s32 a, __s32 b)
{
	return !filter_pids || is_followed(a) || is_followed(b);
}

static __always_inline bool is_named(const char *comm)
{
	__u32 g, i;

#pragma unroll
	for (g = 0; g < RS_BPF_GLOBS; g++) {
		__u32 states = 1;

		if (g >= nr_globs)
			return false;
#pragma unroll
		for (i = 0; i < RS_BPF_COMM - 1; i++) {
			__u32 c = (__u8)comm[i];

			if (!c)
				break;
			barrier_var(c);
			c &= 255;
			states = (states & globs[g].step[c]) << 1 | (states & globs[g].stay);
		}
		if (states & globs[g].end)
			return true;
	}
	return false;
}

static __always_inline void follow(__s32 pid)
{
	__u8 one = 1;

	bpf_map_update_elem(&pids, &pid, &one, BPF_ANY);
}

static __always_inline void put_head(struct where *w, struct rs_bpf_head *h, __u8 kind, __u16 aux)
{
	h->ts_ns = w->ts;
	h->pid = w->pid;
	h->kind = kind;
	h->flags = w->flags;
	h->aux = aux;
}

/*
 * Room in the ring. What finds none is counted; the count gets a record of its own as soon as there is room,
 * at the place of the gap. A program interrupted between the two may tell a record too many or too few.
 */
static __always_inline void *reserve(struct where *w, __u64 size)
{
	void *r;

	if (w->state->lost) {
		struct rs_bpf_lost *l = bpf_ringbuf_reserve(w->ring, sizeof(*l), 0);

		if (!l)
			goto lost;
		put_head(w, &l->h, RS_BPF_LOST, 0);
		l->count = w->state->lost;
		w->state->lost = 0;
		bpf_ringbuf_submit(l, BPF_RB_NO_WAKEUP);
	}
	r = bpf_ringbuf_reserve(w->ring, size, 0);
	if (r)
		return r;
lost:
	w->state->lost++;
	w->state->total_lost++;
	return NULL;
}

/* The same with its head filled. NULL: there was no room. */
static __always_inline void *record_of(struct where *w, __u64 size, __u8 kind, __u16 aux)
{
	struct rs_bpf_head *h = reserve(w, size);

	if (h)
		put_head(w, h, kind, aux);
	return h;
}

static __always_inline __u16 cpu_of(struct task_struct *p)
{
	if (bpf_core_field_exists(((struct thread_info___cpu *)0)->cpu))
		return ((struct thread_info___cpu *)&p->thread_info)->cpu;
	if (bpf_core_field_exists(((struct task_struct___cpu *)0)->cpu))
		return ((struct task_struct___cpu *)p)->cpu;
	return bpf_get_smp_processor_id();
}

#endif
