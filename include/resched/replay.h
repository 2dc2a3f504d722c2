/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The workload behind a recording, and running it again.
 *
 * A workload is what caused a recording: one program a task, an array of small operations. It is built in one pass over a trace, owns all
 * its memory and is never changed by a run, so one workload may be run by several threads at once.
 *
 * A run is deterministic: the same workload, host and what-if give the same events, byte for byte, on every machine.
 */
#ifndef RESCHED_REPLAY_H
#define RESCHED_REPLAY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <resched/analysis.h>
#include <resched/error.h>
#include <resched/event.h>
#include <resched/host.h>
#include <resched/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

struct resched_workload;

/* What was understood of a recording. */
struct resched_workload_info {
	unsigned int nr_cpus, nr_tasks;
	uint64_t nr_ops;
	uint64_t first_ns, last_ns;
	uint64_t wakes_causal, wakes_periodic, wakes_relative, wakes_absolute;	/* by how they are replayed */
	uint64_t wakes_ignored;			/* of tasks that were not asleep */
	uint64_t tick_ns;			/* 1e9/HZ */
	uint64_t tick_phase_ns;			/* ticks fall on phase + k * tick_ns of the recording's clock */
	double tick_confidence;			/* share of the samples inside the densest window; 0 = phase assumed 0 */
	uint64_t idle_exit_ns, preempt_delay_ns, tick_delay_ns;	/* medians: waking to switch-in on an idle cpu; waking to the
						 * preempting switch; tick to the switch it caused */
	uint64_t cut_ns;			/* time without a single event (suspend, damage) that a run leaves out */
	unsigned int hz; int hz_assumed;	/* 1: not in the recording, 250 taken */
	uint64_t clock_skew_ns;			/* the most by which a task ran before the waking that another cpu recorded */
	unsigned int nr_servers;		/* tasks that answer the requests of others */
};

/*
 * resched_workload_build() - read all of @trace and rebuild its workload.
 * @host:  snapshot to use instead of the one inside; may be NULL
 * @tee:   also given every event (e.g. resched_analysis_event for the recorded figures); may be NULL
 * @ret:   the caller's, to resched_workload_free(); keeps no reference to @trace or @host
 * Return: 0; -errno of the reader or of @tee; -ENODATA when there is no sched_switch; -ENOMEM.
 */
int resched_workload_build(struct resched_trace *trace, const struct resched_host *host, resched_event_fn tee, void *tee_ctx,
			   struct resched_workload **ret, struct resched_error *err);
void resched_workload_free(struct resched_workload *workload);
const struct resched_workload_info *resched_workload_info(const struct resched_workload *workload);
struct resched_names *resched_workload_names(const struct resched_workload *workload);	/* owned by @workload */
const struct resched_host *resched_workload_host(const struct resched_workload *workload); /* owned; never NULL */

/*
 * A workload as text, resched-workload(5): every instant to the ns, to be read and edited by people. What is saved, loaded and saved
 * again is the same, byte for byte, and runs to the same events.
 *
 * resched_workload_save() - write it. @out: borrowed. Return: 0; -EIO, -ENOSPC, ... of @out; -ENOMEM.
 * resched_workload_load() - read it. @path: borrowed; "-" is standard input. @ret: the caller's.
 *    Return: 0; -errno of the open; -EBADMSG, @err names the line; -EPROTONOSUPPORT for a version from the future; -ENOMEM.
 * resched_workload_read() - the same from a stream. @name: for messages.
 * resched_workload_recognise() - do the first @len bytes begin a workload? 20 bytes are enough. Return: 1, 0.
 */
int resched_workload_save(const struct resched_workload *workload, FILE *out, struct resched_error *err);
int resched_workload_load(const char *path, struct resched_workload **ret, struct resched_error *err);
int resched_workload_read(FILE *stream, const char *name, struct resched_workload **ret, struct resched_error *err);
int resched_workload_recognise(const void *head, size_t len);

enum resched_placement { RESCHED_PLACE_RECORDED = 0, RESCHED_PLACE_KERNEL = 1 };

/* One what-if. Zeroed memory means: the recorded kernel's own policy with its recorded settings. */
struct resched_whatif {
	const char *policy;			/* NULL = the recorded kernel's */
	const char *model;			/* NULL = the nearest model to the recorded kernel, else the policy's default */
	unsigned int nr_features;	const char *const *features;	/* "[NO_]NAME"; on top of the recorded ones */
	unsigned int nr_settings;	const char *const *settings;	/* "name=value"; on top of the recorded ones */
	unsigned int nr_tasks;		const char *const *tasks;	/* "SELECT:KEY=VALUE[,...]" as in the manual of replay */
	unsigned int nr_cgroups;	const char *const *cgroups;	/* "PATH:KEY=VALUE[,...]" likewise */
	enum resched_placement placement;
	uint64_t seed;
	const char *topology;			/* another machine, as for resched_topology_load(); NULL = the recorded one.
						 * Placement is then the model's. */
};

/* What a run was and how it ended. Fixed texts live as long as the workload. */
struct resched_schedule {
	char kind[16];				/* "recorded", "free" */
	char policy[32], model[32], placement[16];
	uint64_t seed;
	unsigned int nr_knobs;
	struct { const char *name; int is_feature; uint64_t value; } knobs[64];
	unsigned int nr_costs;			/* what the run charges or delays; 0 for a recorded schedule */
	struct { const char *name; uint64_t ns; int assumed; } costs[8];	/* assumed: 0 = measured in the recording */
	uint64_t nr_events;
	uint64_t idle_scans, idle_probes;	/* of caches for an idle cpu at wakeups, and cpus looked at; placement "kernel" */
	unsigned int nr_warnings;	char warnings[16][160];
};

/*
 * resched_replay_run() - run @workload under @whatif, free: the policy decides everything.
 * @sink:  given every event of the resulting schedule, in the order and form of a recording (COMM, SWITCH, WAKING, WAKEUP,
 *         WAKEUP_NEW, MIGRATE, FORK, EXIT); may be NULL
 * @lag:   given lag samples; may be NULL
 * @ret:   filled on success
 * Return: 0; -EINVAL (kind USAGE) for an unknown policy, model, feature, tunable, value or selector; -ENOMEM; or what @sink returned.
 */
int resched_replay_run(const struct resched_workload *workload, const struct resched_whatif *whatif, resched_event_fn sink, void *sink_ctx,
		       struct resched_analysis *lag, struct resched_schedule *ret, struct resched_error *err);

#ifdef __cplusplus
}
#endif
#endif
