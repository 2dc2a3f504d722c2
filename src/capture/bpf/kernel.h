/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fields of the kernel that are read, and nothing else. Offsets written here mean nothing: each access is
 * relocated when the program is loaded, by the running kernel's own type information, and a field that some
 * kernels lack is asked for first. Names behind three underscores are other versions of the struct before them.
 */
#ifndef RS_BPF_KERNEL_H
#define RS_BPF_KERNEL_H

#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

typedef int pid_t;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct load_weight { unsigned long weight; };

struct sched_avg {
	__u64 last_update_time, load_sum, runnable_sum;
	__u32 util_sum, period_contrib;
	unsigned long load_avg, runnable_avg, util_avg;
};

struct rq;
struct task_group;
struct sched_entity;

struct cfs_rq {
	struct load_weight load;
	struct sched_entity *curr;
	struct rq *rq;			/* CONFIG_FAIR_GROUP_SCHED */
	struct task_group *tg;		/* CONFIG_FAIR_GROUP_SCHED */
};
struct cfs_rq___load {			/* CONFIG_SMP */
	struct sched_avg avg;
	unsigned long tg_load_avg_contrib;
};
struct cfs_rq___told { __u64 last_update_tg_load_avg; };	/* 6.7 on */
struct cfs_rq___nr_queued { unsigned int nr_queued; };		/* 6.14 on */
struct cfs_rq___nr_running { unsigned int nr_running; };
struct cfs_rq___zero { __u64 zero_vruntime; };			/* 6.19 on, and stable kernels */
struct cfs_rq___min { __u64 min_vruntime; };
struct cfs_rq___avg { __s64 avg_vruntime; __u64 avg_load; };	/* 6.6 to 6.17 */
struct cfs_rq___sum { __s64 sum_w_vruntime; __u64 sum_weight; };

struct sched_entity {
	struct load_weight load;
	__u64 exec_start, sum_exec_runtime, vruntime;
	struct sched_entity *parent;	/* CONFIG_FAIR_GROUP_SCHED */
	struct cfs_rq *cfs_rq, *my_q;	/* CONFIG_FAIR_GROUP_SCHED */
};
struct sched_entity___load { struct sched_avg avg; };		/* CONFIG_SMP */
struct sched_entity___on_rq_char { unsigned char on_rq; };	/* 6.12 on */
struct sched_entity___on_rq_int { unsigned int on_rq; };
struct sched_entity___eevdf { __u64 deadline, slice; __s64 vlag; };	/* 6.6 on */
struct sched_entity___vprot { __u64 vprot; };			/* 6.17 on */
struct sched_entity___delayed { unsigned char sched_delayed, rel_deadline, custom_slice; };	/* 6.12 on */

struct rq { __u64 clock_task; };
struct rq___pelt { __u64 clock_pelt; unsigned long lost_idle_time; };	/* 5.1 on */

struct kernfs_node { __u64 id; };
struct cgroup { struct kernfs_node *kn; };
struct cgroup_subsys_state { struct cgroup *cgroup; };
struct task_group { struct cgroup_subsys_state css; struct sched_entity **se; struct cfs_rq **cfs_rq; };
struct task_group___load { struct { long counter; } load_avg; };	/* CONFIG_SMP */
struct autogroup { unsigned long id; };
struct task_group___auto { struct autogroup *autogroup; };	/* CONFIG_SCHED_AUTOGROUP */

struct thread_info { unsigned long flags; };
struct thread_info___cpu { __u32 cpu; };
struct thread_info___preempt { int preempt_count; };

struct signal_struct { short oom_score_adj; };

struct task_struct {
	struct thread_info thread_info;	/* CONFIG_THREAD_INFO_IN_TASK */
	pid_t pid, tgid;
	int prio, normal_prio;
	unsigned int flags, policy;
	int exit_state;
	struct sched_entity se;
	struct signal_struct *signal;
	char comm[16];
};
struct task_struct___state { unsigned int __state; };		/* 5.14 on */
struct task_struct___state_old { volatile long state; };
struct task_struct___cpu { unsigned int cpu; };

struct linux_binprm { const char *filename; };

struct bpf_iter_meta { struct seq_file *seq; };
struct bpf_iter__task { struct bpf_iter_meta *meta; struct task_struct *task; };

#pragma clang attribute pop

#endif
