// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler's tracepoints, each turned into one record of record.h, and on demand rows of what the kernel
 * itself holds of the entities and queues concerned.
 *
 * Every program runs where the kernel fires its tracepoint, mostly under a run queue's lock with interrupts off:
 * no loops but over the levels of the group hierarchy, no wakeup of the reader (it comes by itself).
 */
#include "beginning.h"

#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "GPL";

/*
 * A task that had told its end when the recording began is passed over by the iterator, or gone when it comes to it: neither an
 * event nor the iterator tells its name.
 */
static __always_inline void call(struct where *w, struct task_struct *p)
{
	struct rs_bpf_called *r;

	if (!(p->flags & PF_EXITING))
		return;
	r = record_of(w, sizeof(*r), RS_BPF_CALLED, 0);
	if (!r)
		return;
	r->pid = p->pid;
	__builtin_memcpy(r->comm, p->comm, sizeof(r->comm));
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

/* prev_state as the event encodes it; kernel: __trace_sched_switch_state() and __task_state_index(), 4.20 to 6.18 */
static __always_inline __u16 state_of_prev(bool preempt, struct task_struct *prev, __u32 state)
{
	__u32 told = (state | prev->exit_state) & 0x7f;

	if (preempt)
		return 0x100;
	if ((state & 0x402) == 0x402)	/* TASK_IDLE */
		told = 0x80;
	if (state & (0x1000 | 0x8000))	/* waiting for an rt lock, frozen: told as D */
		told = 0x02;
	/* the highest bit alone */
	told |= told >> 1;
	told |= told >> 2;
	told |= told >> 4;
	return told - (told >> 1);
}

static __always_inline __u32 raw_state(unsigned long long *ctx, struct task_struct *prev)
{
	if (switch_tells_state)
		return ctx[3];
	if (bpf_core_field_exists(((struct task_struct___state *)0)->__state))
		return ((struct task_struct___state *)prev)->__state;
	return ((struct task_struct___state_old *)prev)->state;
}

/*
 * Did what no event tells of change while @prev ran: its group (setsid(), a session left by exit), nice value, policy or slice? Then one row
 * tells at the switch. The first switch of a cpu has rows too: who ran had not been accounted when the recording began.
 */
static __always_inline void put_changes(struct where *w, struct task_struct *prev, struct task_struct *next, bool first)
{
	__u64 group = 0, slice = 0;

	if (bpf_core_field_exists(prev->se.cfs_rq))
		group = (__u64)prev->se.cfs_rq->tg;
	if (bpf_core_field_exists(((struct sched_entity___eevdf *)0)->slice))
		slice = ((struct sched_entity___eevdf *)&prev->se)->slice;
	if (first || (prev->pid && !prev->exit_state && (w->state->in_group != group || w->state->in_weight != prev->se.load.weight ||
							 w->state->in_slice != slice)))
		put_rows(w, prev, RS_BPF_ROW_PREV);
	if (first)
		put_rows(w, next, RS_BPF_ROW_NEXT);
	if (bpf_core_field_exists(next->se.cfs_rq))
		group = (__u64)next->se.cfs_rq->tg;
	if (bpf_core_field_exists(((struct sched_entity___eevdf *)0)->slice))
		slice = ((struct sched_entity___eevdf *)&next->se)->slice;
	w->state->in_group = group;
	w->state->in_weight = next->se.load.weight;
	w->state->in_slice = slice;
}

SEC("tp_btf/sched_switch")
int on_switch(unsigned long long *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	struct rs_bpf_switch *r;
	struct where w;
	__u64 run = RS_BPF_NO_RUN;
	bool first;

	if (!arrive(&w, true))
		return 0;
	first = !w.state->in_sum;
	if (want_run) {
		/* the pid of next can be no other's: it stays until it is switched out */
		if (w.state->in_sum && w.state->in_pid == prev->pid && prev->pid)
			run = prev->se.sum_exec_runtime - (w.state->in_sum - 1);
		w.state->in_pid = next->pid;
		w.state->in_sum = next->se.sum_exec_runtime + 1;	/* 0: never seen */
	}
	if (!is_wanted(prev->pid, next->pid))
		return 0;
	call(&w, prev);
	call(&w, next);
	r = record_of(&w, sizeof(*r), RS_BPF_SWITCH, state_of_prev(ctx[0], prev, raw_state(ctx, prev)));
	if (r) {
		r->next_pid = next->pid;
		r->prev_prio = prev->prio;
		r->next_prio = next->prio;
		r->run_ns = run;
		bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	}
	if (want_truth) {
		put_rows(&w, prev, RS_BPF_ROW_PREV);
		put_rows(&w, next, RS_BPF_ROW_NEXT);
	} else if (want_start) {
		put_changes(&w, prev, next, first);
	}
	return 0;
}

static __always_inline int wake(struct task_struct *p, __u8 kind, __u8 row)
{
	struct rs_bpf_wake *r;
	struct where w;

	if (kind == RS_BPF_WAKEUP && shed_wakeup)
		return 0;
	if (!arrive(&w, false) || !is_wanted(p->pid, w.pid))
		return 0;
	call(&w, p);
	r = record_of(&w, sizeof(*r), kind, 0);
	if (r) {
		r->pid = p->pid;
		r->prio = p->prio;
		r->cpu = cpu_of(p);
		bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	}
	if (want_truth)
		put_rows(&w, p, row);
	return 0;
}

SEC("tp_btf/sched_waking")
int on_waking(unsigned long long *ctx)
{
	return wake((void *)ctx[0], RS_BPF_WAKING, RS_BPF_ROW_WAKING);
}

SEC("tp_btf/sched_wakeup")
int on_wakeup(unsigned long long *ctx)
{
	return wake((void *)ctx[0], RS_BPF_WAKEUP, RS_BPF_ROW_WAKEUP);
}

SEC("tp_btf/sched_wakeup_new")
int on_wakeup_new(unsigned long long *ctx)
{
	return wake((void *)ctx[0], RS_BPF_WAKEUP_NEW, RS_BPF_ROW_WAKEUP_NEW);
}

SEC("tp_btf/sched_stat_runtime")
int on_runtime(unsigned long long *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	struct rs_bpf_runtime *r;
	struct where w;

	if (shed_runtime || !arrive(&w, false) || !is_wanted(p->pid, w.pid))
		return 0;
	call(&w, p);
	r = record_of(&w, sizeof(*r), RS_BPF_RUNTIME, 0);
	if (r) {
		r->pid = p->pid;
		r->pad = 0;
		r->runtime = ctx[1];
		r->vruntime = p->se.vruntime;
		bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	}
	if (want_truth)
		put_rows(&w, p, RS_BPF_ROW_RUNTIME);
	return 0;
}

SEC("tp_btf/sched_migrate_task")
int on_migrate(unsigned long long *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	struct rs_bpf_migrate *r;
	struct where w;

	if (!arrive(&w, false) || !is_wanted(p->pid, w.pid))
		return 0;
	r = record_of(&w, sizeof(*r), RS_BPF_MIGRATE, 0);
	if (!r)
		return 0;
	r->pid = p->pid;
	r->prio = p->prio;
	r->from = cpu_of(p);
	r->to = (__u32)ctx[1];
	r->pad[0] = r->pad[1] = r->pad[2] = 0;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int on_fork(unsigned long long *ctx)
{
	struct task_struct *parent = (void *)ctx[0], *child = (void *)ctx[1];
	struct rs_bpf_fork *r;
	struct where w;

	if (filter_pids && is_followed(parent->pid))
		follow(child->pid);
	if (!arrive(&w, false) || !is_wanted(parent->pid, w.pid))
		return 0;
	w.flags &= ~IRQS_OFF;
	r = record_of(&w, sizeof(*r), RS_BPF_FORK, 0);
	if (!r)
		return 0;
	r->parent = parent->pid;
	r->child = child->pid;
	__builtin_memcpy(r->comm, child->comm, sizeof(r->comm));
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int on_exec(unsigned long long *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	struct linux_binprm *bprm = (void *)ctx[2];
	struct rs_bpf_exec *r;
	struct where w;

	if (!arrive(&w, false) || !is_wanted(p->pid, w.pid))
		return 0;
	w.flags &= ~IRQS_OFF;
	r = record_of(&w, sizeof(*r), RS_BPF_EXEC, 0);
	if (!r)
		return 0;
	r->pid = p->pid;
	r->old_pid = (__s32)ctx[1];
	if (bpf_probe_read_kernel_str(r->path, sizeof(r->path), bprm->filename) < 0)
		r->path[0] = 0;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int on_exit(unsigned long long *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	struct rs_bpf_exit *r;
	struct where w;

	if (!arrive(&w, false) || !is_wanted(p->pid, w.pid))
		return 0;
	w.flags &= ~IRQS_OFF;
	r = record_of(&w, sizeof(*r), RS_BPF_EXIT, 0);
	if (!r)
		return 0;
	r->pid = p->pid;
	r->prio = p->prio;
	r->group_dead = exit_tells_dead ? (ctx[1] & 1) : 0;
	__builtin_memcpy(r->comm, p->comm, sizeof(r->comm));
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("tp_btf/sched_pi_setprio")
int on_prio(unsigned long long *ctx)
{
	struct task_struct *p = (void *)ctx[0], *pi = (void *)ctx[1];
	struct rs_bpf_prio *r;
	struct where w;
	int new_prio;

	if (!arrive(&w, false) || !is_wanted(p->pid, w.pid))
		return 0;
	new_prio = p->normal_prio;
	/* Older verifiers take the argument for never NULL and drop the first test; reading through NULL gives 0. */
	if (pi && pi->pid && pi->prio < new_prio)
		new_prio = pi->prio;
	r = record_of(&w, sizeof(*r), RS_BPF_PRIO, 0);
	if (!r)
		return 0;
	r->pid = p->pid;
	r->old_prio = p->prio;
	r->new_prio = new_prio;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("tp_btf/task_rename")
int on_rename(unsigned long long *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	struct rs_bpf_rename *r;
	struct where w;

	if (nr_globs) {
		char comm[RS_BPF_COMM] = { 0 };

		if (bpf_probe_read_kernel_str(comm, sizeof(comm), (void *)ctx[1]) > 0 && is_named(comm))
			follow(p->pid);
	}
	if (!arrive(&w, false) || !is_wanted(p->pid, w.pid))
		return 0;
	w.flags &= ~IRQS_OFF;
	r = record_of(&w, sizeof(*r), RS_BPF_RENAME, 0);
	if (!r)
		return 0;
	r->pid = p->pid;
	r->oom_adj = p->signal->oom_score_adj;
	__builtin_memcpy(r->oldcomm, p->comm, sizeof(r->oldcomm));
	if (bpf_probe_read_kernel_str(r->newcomm, sizeof(r->newcomm), (void *)ctx[1]) < 0)
		r->newcomm[0] = 0;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

/* Once, right after the other programs are in place: the names of all tasks, and a row of each. */
SEC("iter/task")
int each_task(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct rs_bpf_name name;
	struct where w;

	if (!p)
		return 0;
	name.pid = p->pid;
	__builtin_memcpy(name.comm, p->comm, sizeof(name.comm));
	if (nr_globs && is_named(name.comm))
		follow(p->pid);
	bpf_seq_write(ctx->meta->seq, &name, sizeof(name));
	if (want_start && arrive(&w, false) && (!filter_pids || is_followed(p->pid))) {
		put_groups(p);
		put_start(&w, p);
	}
	return 0;
}
