/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From a stream of events to figures: latencies, waits, run time, preemptions, migrations.
 * The same code reads recorded and replayed schedules.
 *
 * Waits are paired by one state machine a task, RUNNING / QUEUED(since, kind) / SLEEPING:
 *   waking (wakeup where the stream has no waking; wakeup_new for a new task):
 *       SLEEPING or unseen -> QUEUED(now, wake); RUNNING -> remembered as pending; QUEUED -> ignored
 *   switch-in:  QUEUED -> one sample of its kind
 *   switch-out runnable -> QUEUED(now, preempted); not runnable -> pending ? QUEUED(now, raced) : SLEEPING
 * A wait that touches a loss gap or an end of the recording is left out and counted (unresolved).
 *
 * Memory: tasks, plus exact samples up to a fixed total (RESCHED_EXACT_SAMPLES); past it every distribution of more than
 * 8192 samples becomes a histogram with a relative error below 0.1 %.
 *
 * A task is named as at its last switch: its figures were made under that name. A pid that is forked again after its task exited is a
 * new task. Lost events: what ran on the cpu is unknown until its next switch, and a wait that began before the end of a gap on the cpu
 * where it was queued or ended is unresolved. With a window, run time is clipped to it.
 */
#ifndef RESCHED_ANALYSIS_H
#define RESCHED_ANALYSIS_H

#include <stdint.h>
#include <resched/error.h>
#include <resched/event.h>
#include <resched/host.h>
#include <resched/names.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RESCHED_EXACT_SAMPLES (4u << 20)

/* Nearest-rank percentiles over all samples; all 0 when count is 0. Times in ns. */
struct resched_dist {
	uint64_t count;
	double mean;
	uint64_t sum, min, p50, p90, p99, p999, max;
};

/* Figures of one task, one comm, one cgroup, or all together. */
struct resched_figures {
	uint64_t runtime_ns;		/* between switch-in and switch-out; an open stretch at either end is not counted */
	uint64_t sleep_ns;		/* between a switch-out not runnable and the next waking */
	uint64_t runnable_wait_ns;	/* sum of run_delay */
	uint64_t switches, voluntary, involuntary;	/* switch-outs */
	uint64_t wakeups, migrations, unresolved;
	struct resched_dist wakeup_latency, preempted_wait, run_delay;
	int has_lag;			/* lag and deadlines come only from schedules with a model behind */
	int64_t lag_min_ns, lag_max_ns;
	uint64_t deadline_misses;
	uint64_t max_delay_at_ns;	/* when the longest run_delay ended */
};

struct resched_task_row {
	int pid, tgid;			/* tgid 0 = unknown */
	uint32_t birth;			/* 0 for the first task with this pid, 1 for the next, ... */
	char *comm;			/* last name; ":PID" when never named */
	const char *class_name;		/* "fair", "rt", "dl", "stop"; "?" unknown */
	int nice;			/* of fair tasks, from prio; 0 otherwise */
	char *cgroup;			/* NULL when unknown */
	struct resched_figures f;
};

struct resched_group_row {
	char *name;
	unsigned int tasks;
	struct resched_figures f;
	uint64_t *latencies;		/* of comms: the f.wakeup_latency.count samples, ascending; NULL unless asked for */
};

struct resched_cpu_row {
	unsigned int cpu;
	uint64_t busy_ns, idle_ns, switches, wakeups, migrations_in, migrations_out;
	int observed;			/* 0: no event of this cpu was seen: unknown, not idle */
};

/*
 * What moved tasks. STOPPER: a migration thread did, for active balance or because a running task may no longer use its cpu; a replayed
 * schedule has none, there the balancer pushes itself. AFFINITY: a task, between two cpus at least one of which is not its own.
 */
enum resched_move_reason { RESCHED_MOVE_WAKEUP, RESCHED_MOVE_BALANCE, RESCHED_MOVE_STOPPER, RESCHED_MOVE_EXEC, RESCHED_MOVE_AFFINITY, RESCHED_NR_MOVE_REASONS };
/* How far: within a core, a last-level cache, a node, to another node. */
enum resched_move_distance { RESCHED_MOVE_CORE, RESCHED_MOVE_LLC, RESCHED_MOVE_NODE, RESCHED_MOVE_FAR, RESCHED_MOVE_UNKNOWN, RESCHED_NR_MOVE_DISTANCES };

struct resched_llc_row { unsigned int first_cpu, nr_cpus; uint64_t idle_while_waiting_ns; };

/* Over all tasks and cpus, whatever was selected, within the window. */
struct resched_moves {
	uint64_t by_reason[RESCHED_NR_MOVE_REASONS], by_distance[RESCHED_NR_MOVE_DISTANCES];
	uint64_t forks_elsewhere;	/* new tasks that began on another cpu than their parent's; no migrations */
	uint64_t idle_while_waiting_ns;	/* some cpu of the machine idle while a task waited on a busy one */
	unsigned int nr_llcs;		struct resched_llc_row *llcs;	/* the same within each last-level cache */
};

struct resched_report {
	struct resched_figures totals;
	uint64_t busy_ns, idle_ns;
	unsigned int nr_tasks;		struct resched_task_row *tasks;		/* ascending pid, birth */
	unsigned int nr_comms;		struct resched_group_row *comms;	/* ascending name */
	unsigned int nr_cgroups;	struct resched_group_row *cgroups;	/* ascending path; empty when unknown */
	unsigned int nr_containers;	struct resched_group_row *containers;	/* unless asked for, none; "host": in no container */
	unsigned int nr_units;		struct resched_group_row *units;	/* likewise; "-": in no unit. Both empty when cgroups are unknown */
	unsigned int nr_cpus;		struct resched_cpu_row *cpus;		/* ascending cpu */
	uint64_t first_ns, last_ns;
	int wait_source_is_wakeup;	/* 1: the stream has no sched_waking */
	int exact;			/* 1: percentiles are over exact samples; 0: histogram */
	struct resched_moves *moves;	/* NULL unless asked for */
};

struct resched_analysis_options {
	const struct resched_host *host;	/* cgroup, tgid, class of tasks; may be NULL; borrowed until finish */
	struct resched_names *names;		/* of the stream; borrowed until finish */
	/* selection: only matching tasks are reported; NULL or empty = all. The state machine still sees everything. */
	const char *comm_glob, *cgroup_glob;
	unsigned int nr_pids;			const int *pids;
	const char *cpus;			/* cpu list: only waits that end there and time spent there */
	uint64_t from_ns, to_ns;		/* absolute; to_ns 0 = to the end; waits that touch the edges are unresolved */
	int hide_recorder;			/* leave out tasks marked RESCHED_CTX_OWN */
	unsigned int nr_own;			const int *own;	/* these too: a replayed schedule carries no marks */
	int moves;				/* fill in resched_report.moves */
	int owners;				/* fill in resched_report.containers and .units */
	int latencies;				/* fill in resched_group_row.latencies of comms */
	const struct resched_host *machine;	/* whose distances count there; NULL = @host; borrowed until finish */
};

struct resched_analysis;

int resched_analysis_new(const struct resched_analysis_options *opts, struct resched_analysis **ret, struct resched_error *err);
/* resched_analysis_window() - another window than the options gave; before the first event that is not a RESCHED_EV_COMM.
 * Absolute; @to_ns 0 = to the end. */
void resched_analysis_window(struct resched_analysis *analysis, uint64_t from_ns, uint64_t to_ns);
/* resched_analysis_event() - take the next event of the stream. @analysis is a void pointer so that this is a resched_event_fn.
 * Return: 0; -ENOMEM. */
int resched_analysis_event(void *analysis, const struct resched_event *event);
/* resched_analysis_lag() - a task's lag (real ns) at an instant of a modelled schedule; and whether a request ended after its deadline. */
void resched_analysis_lag(struct resched_analysis *analysis, int pid, int64_t lag_ns, int deadline_missed);
/* resched_analysis_finish() - the figures. @analysis can only be freed afterwards. */
int resched_analysis_finish(struct resched_analysis *analysis, struct resched_report **ret, struct resched_error *err);
void resched_analysis_free(struct resched_analysis *analysis);
void resched_report_free(struct resched_report *report);

#ifdef __cplusplus
}
#endif
#endif
