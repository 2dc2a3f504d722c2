/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state when a recording begins: a row for every task and every group on every cpu, load averages included. Most of it lies at
 * addresses that the verifier does not know, and is read without the queue's lock. Part of resched.bpf.c.
 */
#ifndef RS_BPF_BEGINNING_H
#define RS_BPF_BEGINNING_H

#include "entities.h"

/* A field of a kernel's struct at an address that the verifier does not know; @ptr has the struct's type. */
#define LOOK(to, ptr, field) bpf_core_read(&(to), sizeof(to), &(ptr)->field)

static __always_inline void put_load(struct rs_bpf_load *l, const struct sched_avg *avg)
{
	LOOK(l->updated, avg, last_update_time);
	LOOK(l->load_sum, avg, load_sum);
	LOOK(l->load_avg, avg, load_avg);
	LOOK(l->runnable_sum, avg, runnable_sum);
	LOOK(l->runnable_avg, avg, runnable_avg);
	LOOK(l->util_sum, avg, util_sum);
	LOOK(l->util_avg, avg, util_avg);
	LOOK(l->period, avg, period_contrib);
}

/* The averages of an entity, and those of the queue it stands for. */
static __always_inline void put_loads(struct rs_bpf_start *s, struct sched_entity *se, struct cfs_rq *own)
{
	struct task_group *tg = NULL;
	struct cfs_rq *q = NULL;
	struct rq *rq = NULL;
	unsigned long lost = 0;

	__builtin_memset(&s->entity, 0, sizeof(*s) - offsetof(struct rs_bpf_start, entity));
	if (!bpf_core_field_exists(((struct sched_entity___load *)0)->avg))
		return;
	put_load(&s->entity, &((struct sched_entity___load *)se)->avg);
	s->t.has |= RS_BPF_HAS_LOAD;
	LOOK(q, se, cfs_rq);
	LOOK(rq, q, rq);
	s->clock_pelt = s->t.clock;
	if (bpf_core_field_exists(((struct rq___pelt *)0)->clock_pelt)) {
		LOOK(s->clock_pelt, (struct rq___pelt *)rq, clock_pelt);
		LOOK(lost, (struct rq___pelt *)rq, lost_idle_time);
		s->clock_pelt -= lost;
	}
	if (!own || !bpf_core_field_exists(((struct cfs_rq___load *)0)->avg))
		return;
	put_load(&s->queue, &((struct cfs_rq___load *)own)->avg);
	LOOK(s->contrib, (struct cfs_rq___load *)own, tg_load_avg_contrib);
	if (bpf_core_field_exists(((struct cfs_rq___told *)0)->last_update_tg_load_avg))
		LOOK(s->published, (struct cfs_rq___told *)own, last_update_tg_load_avg);
	LOOK(tg, own, tg);
	if (tg && bpf_core_field_exists(((struct task_group___load *)0)->load_avg))
		LOOK(s->total, (struct task_group___load *)tg, load_avg.counter);
}

/* The rows of a task, for once with load averages. */
static __always_inline void put_start(struct where *w, struct task_struct *p)
{
	struct sched_entity *se = &p->se;
	int level;

	if (p->prio < 100 || p->pid == 0 || !bpf_core_field_exists(se->cfs_rq))
		return;
#pragma unroll
	for (level = 0; level < RS_BPF_LEVELS; level++) {
		struct rs_bpf_start *s = record_of(w, sizeof(*s), RS_BPF_START, RS_BPF_ROW_START | level << 8);

		if (!s)
			return;
		s->t.pid = p->pid;
		s->t.prio = p->prio;
		s->t.policy = p->policy;
		s->t.cpu = cpu_of(p);
		s->t.has = RS_BPF_HAS_QUEUE;
		put_entity(&s->t, se);
		put_queue(&s->t, se->cfs_rq);
		s->t.group = level ? group_of(se) : 0;
		put_loads(s, se, level ? se->my_q : NULL);
		bpf_ringbuf_submit(s, BPF_RB_NO_WAKEUP);
		se = se->parent;
		if (!se)
			return;
	}
}

/* Groups that have had their rows. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, __u8);
} groups SEC(".maps");

/* The entity of a group on a cpu on which it may have no task: all fields are at addresses that the verifier does not know. */
static __always_inline void look_at_entity(struct rs_bpf_truth *t, struct sched_entity *se)
{
	LOOK(t->vruntime, se, vruntime);
	LOOK(t->weight, se, load.weight);
	LOOK(t->sum_exec, se, sum_exec_runtime);
	LOOK(t->exec_start, se, exec_start);
	if (bpf_core_field_size(((struct sched_entity___on_rq_char *)0)->on_rq) == 1) {
		LOOK(t->on_rq, (struct sched_entity___on_rq_char *)se, on_rq);
	} else {
		unsigned int on_rq = 0;

		LOOK(on_rq, (struct sched_entity___on_rq_int *)se, on_rq);
		t->on_rq = on_rq;
	}
	if (bpf_core_field_exists(((struct sched_entity___eevdf *)0)->vlag)) {
		t->has |= RS_BPF_HAS_DEADLINE;
		LOOK(t->deadline, (struct sched_entity___eevdf *)se, deadline);
		LOOK(t->slice, (struct sched_entity___eevdf *)se, slice);
		LOOK(t->vlag, (struct sched_entity___eevdf *)se, vlag);
	}
	if (bpf_core_field_exists(((struct sched_entity___delayed *)0)->sched_delayed)) {
		LOOK(t->delayed, (struct sched_entity___delayed *)se, sched_delayed);
		LOOK(t->rel, (struct sched_entity___delayed *)se, rel_deadline);
		LOOK(t->custom, (struct sched_entity___delayed *)se, custom_slice);
	}
}

static __always_inline void look_at_queue(struct rs_bpf_truth *t, struct cfs_rq *q)
{
	struct rq *rq = NULL;

	LOOK(t->load, q, load.weight);
	LOOK(rq, q, rq);
	LOOK(t->clock, rq, clock_task);
	if (bpf_core_field_exists(((struct cfs_rq___zero *)0)->zero_vruntime)) {
		LOOK(t->z, (struct cfs_rq___zero *)q, zero_vruntime);
		t->has |= RS_BPF_HAS_ZERO;
	} else if (bpf_core_field_exists(((struct cfs_rq___min *)0)->min_vruntime)) {
		LOOK(t->z, (struct cfs_rq___min *)q, min_vruntime);
	}
	t->has |= RS_BPF_HAS_QUEUE;
}

static __always_inline __u64 look_at_group(struct task_group *tg)
{
	struct autogroup *ag = NULL;
	struct cgroup *cgroup = NULL;
	struct kernfs_node *kn = NULL;
	__u64 id = 0;

	if (bpf_core_field_exists(((struct task_group___auto *)0)->autogroup))
		LOOK(ag, (struct task_group___auto *)tg, autogroup);
	if (ag) {
		unsigned long number = 0;

		LOOK(number, ag, id);
		return RS_BPF_AUTOGROUP | number;
	}
	LOOK(cgroup, tg, css.cgroup);
	LOOK(kn, cgroup, kn);
	LOOK(id, kn, id);
	return id;
}

/* Verified once, by itself, so that the loop over the cpus is cheap: hence its numbers instead of pointers. */
__noinline int put_group(__u64 group, __u32 cpu)
{
	struct task_group *tg = (void *)group;
	struct sched_entity **entities = NULL, *se = NULL;
	struct cfs_rq **queues = NULL, *own = NULL, *q = NULL;
	struct rs_bpf_start *s;
	struct where w;

	LOOK(entities, tg, se);
	LOOK(queues, tg, cfs_rq);
	if (!entities || !queues)
		return 0;
	bpf_probe_read_kernel(&se, sizeof(se), entities + cpu);
	bpf_probe_read_kernel(&own, sizeof(own), queues + cpu);
	if (!se || !own || !arrive(&w, false))
		return 0;
	s = record_of(&w, sizeof(*s), RS_BPF_START, RS_BPF_ROW_START | 1 << 8);
	if (!s)
		return 0;
	__builtin_memset((char *)s + sizeof(s->t.h), 0, sizeof(*s) - sizeof(s->t.h));
	s->t.cpu = cpu;
	s->t.group = look_at_group(tg);
	look_at_entity(&s->t, se);
	LOOK(q, se, cfs_rq);
	if (q)
		look_at_queue(&s->t, q);
	put_loads(s, se, own);
	bpf_ringbuf_submit(s, BPF_RB_NO_WAKEUP);
	return 0;
}

/* The groups of @p that are new, on all cpus. */
static __always_inline void put_groups(struct task_struct *p)
{
	struct sched_entity *se;
	int level;

	if (!bpf_core_field_exists(p->se.parent))
		return;
	se = p->se.parent;
#pragma unroll
	for (level = 1; level < RS_BPF_LEVELS; level++) {
		__u64 group = 0;
		__u8 one = 1;

		if (!se)
			return;
		LOOK(group, se->my_q, tg);	/* a number: a pointer the verifier knows is none */
		if (!bpf_map_lookup_elem(&groups, &group)) {
			bpf_map_update_elem(&groups, &group, &one, BPF_ANY);
			for (__u32 cpu = 0; cpu < nr_cpus && cpu < RS_BPF_MAX_CPUS; cpu++)
				put_group(group, cpu);
		}
		se = se->parent;
	}
}

#endif
