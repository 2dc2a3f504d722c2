/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel holds of a task's entity, the groups above it and their queues, where a tracepoint hands over the task: the verifier
 * knows these pointers, so fields are read as they are, under the queue's lock. Part of resched.bpf.c.
 */
#ifndef RS_BPF_ENTITIES_H
#define RS_BPF_ENTITIES_H

#include "program.h"

static __always_inline __u8 on_rq_of(struct sched_entity *se)
{
	if (bpf_core_field_size(((struct sched_entity___on_rq_char *)0)->on_rq) == 1)
		return ((struct sched_entity___on_rq_char *)se)->on_rq;
	return ((struct sched_entity___on_rq_int *)se)->on_rq;
}

static __always_inline void put_entity(struct rs_bpf_truth *t, struct sched_entity *se)
{
	t->vruntime = se->vruntime;
	t->weight = se->load.weight;
	t->sum_exec = se->sum_exec_runtime;
	t->exec_start = se->exec_start;
	t->on_rq = on_rq_of(se);
	t->deadline = t->slice = t->vlag = 0;
	t->delayed = t->rel = t->custom = 0;
	if (bpf_core_field_exists(((struct sched_entity___eevdf *)0)->vlag)) {
		struct sched_entity___eevdf *e = (void *)se;

		t->has |= RS_BPF_HAS_DEADLINE;
		t->deadline = e->deadline;
		t->slice = e->slice;
		t->vlag = e->vlag;
	}
	if (bpf_core_field_exists(((struct sched_entity___vprot *)0)->vprot))
		t->has |= RS_BPF_HAS_VPROT;
	if (bpf_core_field_exists(((struct sched_entity___delayed *)0)->sched_delayed)) {
		struct sched_entity___delayed *e = (void *)se;

		t->delayed = e->sched_delayed;
		t->rel = e->rel_deadline;
		t->custom = e->custom_slice;
	}
}

static __always_inline void put_queue(struct rs_bpf_truth *t, struct cfs_rq *q)
{
	struct sched_entity *curr = q->curr;
	__u32 nr = 0;

	if (bpf_core_field_exists(((struct cfs_rq___nr_queued *)0)->nr_queued))
		nr = ((struct cfs_rq___nr_queued *)q)->nr_queued;
	else if (bpf_core_field_exists(((struct cfs_rq___nr_running *)0)->nr_running))
		nr = ((struct cfs_rq___nr_running *)q)->nr_running;
	t->nr = nr > 65535 ? 65535 : nr;
	t->load = q->load.weight;
	t->clock = q->rq->clock_task;
	t->z = 0;
	if (bpf_core_field_exists(((struct cfs_rq___zero *)0)->zero_vruntime)) {
		t->z = ((struct cfs_rq___zero *)q)->zero_vruntime;
		t->has |= RS_BPF_HAS_ZERO;
	} else if (bpf_core_field_exists(((struct cfs_rq___min *)0)->min_vruntime)) {
		t->z = ((struct cfs_rq___min *)q)->min_vruntime;
	}
	t->sum_wv = 0;
	t->sum_w = 0;
	if (bpf_core_field_exists(((struct cfs_rq___sum *)0)->sum_w_vruntime)) {
		t->sum_wv = ((struct cfs_rq___sum *)q)->sum_w_vruntime;
		t->sum_w = ((struct cfs_rq___sum *)q)->sum_weight;
	} else if (bpf_core_field_exists(((struct cfs_rq___avg *)0)->avg_vruntime)) {
		t->sum_wv = ((struct cfs_rq___avg *)q)->avg_vruntime;
		t->sum_w = ((struct cfs_rq___avg *)q)->avg_load;
	}
	t->curr_vruntime = t->curr_weight = 0;
	if (curr && on_rq_of(curr)) {
		t->curr_vruntime = curr->vruntime;
		t->curr_weight = curr->load.weight;
	}
}

static __always_inline __u64 group_of(struct sched_entity *se)
{
	struct cfs_rq *own;
	struct task_group *tg;

	if (!bpf_core_field_exists(se->my_q))
		return 0;
	own = se->my_q;
	if (!own)
		return 0;
	tg = own->tg;
	if (bpf_core_field_exists(((struct task_group___auto *)0)->autogroup)) {
		struct autogroup *ag = ((struct task_group___auto *)tg)->autogroup;

		if (ag)
			return RS_BPF_AUTOGROUP | ag->id;
	}
	return tg->css.cgroup->kn->id;
}

/* A row for the task's entity and each group's above it, all of one instant. */
static __noinline int put_rows(struct where *w, struct task_struct *p, __u32 row)
{
	struct sched_entity *se = &p->se;
	int level;

	if (p->prio < 100 || p->pid == 0 || shed_rows)
		return 0;	/* not a fair task: its entity holds what it was */
#pragma unroll
	for (level = 0; level < RS_BPF_LEVELS; level++) {
		struct rs_bpf_truth *t;

		t = record_of(w, sizeof(*t), RS_BPF_TRUTH, row | level << 8);
		if (!t)
			return 0;
		t->pid = p->pid;
		t->prio = p->prio;
		t->policy = p->policy;
		t->has = 0;
		put_entity(t, se);
		t->cpu = cpu_of(p);
		if (bpf_core_field_exists(se->cfs_rq)) {
			put_queue(t, se->cfs_rq);
			t->has |= RS_BPF_HAS_QUEUE;
		} else {
			__builtin_memset(&t->z, 0, sizeof(*t) - offsetof(struct rs_bpf_truth, z));
			t->nr = 0;
		}
		t->group = level ? group_of(se) : 0;
		bpf_ringbuf_submit(t, BPF_RB_NO_WAKEUP);
		if (!bpf_core_field_exists(se->parent))
			return 0;
		se = se->parent;
		if (!se)
			return 0;
	}
	return 0;
}

#endif
