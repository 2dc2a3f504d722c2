/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The host snapshot: what the model must know of the machine and its tasks, taken when a recording began.
 *
 * Ownership: a snapshot owns everything it points to; resched_host_free() releases all of it. Read-only
 * once built. What could not be read is listed in @unknown with the reason, never invented; a reader
 * of the snapshot then takes the documented default of that kernel and says so.
 */
#ifndef RESCHED_HOST_H
#define RESCHED_HOST_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <resched/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RESCHED_COMM_LEN 16	/* TASK_COMM_LEN, with the NUL */

/* Ids are -1 when unknown; they are meaningful only for equality. */
struct resched_host_cpu {
	unsigned int cpu;
	int online, isolated;		/* 0 or 1 */
	int core, cluster, llc, die, package, node;
	int capacity;			/* 1024 = the largest; 1024 when not told */
	uint64_t newidle_ns;		/* what one newly idle pass over all its domains took at most; 0 = not told */
};

struct resched_host_node {
	int node;
	unsigned int nr_distances;
	int *distances;			/* to each online node, ascending node id */
};

struct resched_host_task {
	int pid, tgid;
	char comm[RESCHED_COMM_LEN];
	char state;			/* letter of /proc/PID/stat when the snapshot was taken */
	int policy;			/* SCHED_* number: 0 OTHER, 1 FIFO, 2 RR, 3 BATCH, 5 IDLE, 6 DEADLINE */
	int nice;			/* -20..19 */
	int rt_priority;		/* 1..99, 0 for fair tasks */
	uint64_t slice_ns;		/* custom slice; 0 = the kernel's default */
	int autogroup;			/* autogroup id, -1 = none or unknown */
	int autogroup_nice;
	int kthread;			/* 1 for a kernel thread */
	char *affinity;			/* cpu list "0-3,8"; NULL = all cpus */
	char *cgroup;			/* cgroup v2 path "/a/b"; NULL when unknown */
	char *cmdline;			/* of the process, with blanks between the arguments, at most 255 bytes; NULL: a thread, or unknown */
};

struct resched_host_cgroup {
	char *path;
	uint64_t weight;		/* cpu.weight, 1..10000 */
	uint64_t quota_us, period_us;	/* quota 0 = no limit */
	char *cpuset;			/* effective cpu list or NULL */
};

struct resched_host_setting { char *name, *value; };	/* a tunable, or an unknown: what and why */

/* What was not as before when the host was looked at again. Texts are NULL where there is nothing to tell: all cpus, not known, not there. */
struct resched_host_change {
	uint64_t after_ns, until_ns;	/* CLOCK_MONOTONIC of the two looks between which it changed */
	int pid;			/* 0: of the machine */
	char *what;			/* of a task: nice, policy/priority, affinity, cgroup, slice, cmdline; else "cpu 3", "weight of /a", a tunable, "feature" */
	char *from, *to;
};

struct resched_host {
	char *kernel;			/* release, e.g. "6.12.48+deb12-cloud-amd64"; NULL = unknown */
	char *machine;			/* "x86_64" */
	char *version;			/* uname -v */
	unsigned int hz;		/* 0 = unknown */
	char *preempt;			/* "none", "voluntary", "full", "lazy", "rt"; NULL = unknown */
	int autogroup;			/* sched_autogroup_enabled: 0, 1, -1 unknown */
	char *clock;			/* trace clock the recording uses, "mono" */
	uint64_t taken_ns;		/* CLOCK_MONOTONIC when the tasks were read */
	char *replayed_policy, *replayed_model, *replayed_placement;	/* set when the recording is a replay's schedule */
	unsigned int nr_cpus;		struct resched_host_cpu *cpus;	/* possible cpus, ascending */
	unsigned int nr_nodes;		struct resched_host_node *nodes;
	unsigned int nr_features;	char **features;		/* as the kernel prints them, NO_ prefix when off */
	unsigned int nr_tunables;	struct resched_host_setting *tunables;	/* base_slice_ns, latency_ns, ... */
	unsigned int nr_tasks;		struct resched_host_task *tasks;	/* ascending pid */
	unsigned int nr_cgroups;	struct resched_host_cgroup *cgroups;
	unsigned int nr_changes;	struct resched_host_change *changes;	/* during the recording, ascending @until_ns */
	unsigned int nr_unknown;	struct resched_host_setting *unknown;	/* name = what, value = why */
};

/* resched_host_read() - take a snapshot of the running machine (capture/host.c).
 * Return: 0; -ENOMEM. What cannot be read is listed in the snapshot, it is not an error. */
int resched_host_read(struct resched_host **ret, struct resched_error *err);

/* resched_host_parse() - read a snapshot from its JSON text; @text need not be NUL terminated, borrowed.
 * Return: 0; -EBADMSG when it is not a snapshot (@err says where); -ENOMEM. */
int resched_host_parse(const char *text, size_t len, struct resched_host **ret, struct resched_error *err);

/* resched_host_load() - the same from a file. */
int resched_host_load(const char *path, struct resched_host **ret, struct resched_error *err);

/* resched_host_hwloc() - a machine from hwloc's XML, as 'lstopo FILE.xml' writes it: cpus and nodes, nothing else is known.
 * Return: 0; -EBADMSG when it is none; -ENOSYS when built without libhwloc; -ENOMEM. */
int resched_host_hwloc(const char *path, struct resched_host **ret, struct resched_error *err);

/* resched_host_json() - the snapshot as one JSON object ("schema": "resched/host/1"); the caller frees *@ret. */
int resched_host_json(const struct resched_host *host, char **ret, struct resched_error *err);

/* resched_host_copy() - all of it, by way of its JSON: the one form that is complete by definition. Return: 0; -ENOMEM. */
int resched_host_copy(const struct resched_host *host, struct resched_host **ret, struct resched_error *err);

void resched_host_free(struct resched_host *host);
void resched_host_changes_free(unsigned int nr, struct resched_host_change *changes);

/* resched_host_tunable() - value of a tunable in @host; NULL when not known. @host may be NULL. */
const char *resched_host_tunable(const struct resched_host *host, const char *name);

/* resched_host_task() - the task with @pid, NULL when there was none. O(log n). */
const struct resched_host_task *resched_host_task(const struct resched_host *host, int pid);

#ifdef __cplusplus
}
#endif
#endif
