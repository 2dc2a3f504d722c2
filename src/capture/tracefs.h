/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recorder's corner of tracefs: finding or mounting it, one ftrace instance of our own, its
 * events and filters.
 *
 * Nothing outside the instance is ever written, save mounting tracefs where nobody has. An instance
 * is named "resched-PID", so that what a killed recorder left behind is recognised and removed by
 * the next one.
 */
#ifndef RS_CAPTURE_TRACEFS_H
#define RS_CAPTURE_TRACEFS_H

#include <stdbool.h>
#include <stdint.h>

#include <resched/capture.h>
#include <resched/error.h>

#include "base/cpulist.h"

struct tracefs_instance;

struct rs_instance {
	struct tracefs_instance *handle;	/* NULL: none */
	char *dir;				/* its folder in tracefs */
	unsigned int nr_systems;
	char **systems; /* whose event formats belong into the file, without "ftrace" */
};

/*
 * rs_tracefs_ready() - make sure that tracefs is mounted and that we may use it.
 * @ret_mounted: set when it had to be mounted, at /sys/kernel/tracing
 * Return: 0; -ENODEV, -EACCES, -EPERM (kind DENIED, the mending command in @err).
 */
int rs_tracefs_ready(struct resched_error *err);

/* Is tracefs mounted anywhere? Never mounts it. */
bool rs_tracefs_mounted(void);

/* And may we look into it? Without that libtracefs is better left alone. */
bool rs_tracefs_readable(void);

/* rs_instance_sweep() - remove the instances of recorders that no longer live. Return: how many. */
unsigned int rs_instance_sweep(void);

/* rs_instance_create() - a new instance with tracing off and clock mono. Return: 0; -EACCES, -EPERM
 * (DENIED); -errno. */
int rs_instance_create(struct rs_instance *instance, struct resched_error *err);

/* Takes one line about something that was left out. */
typedef void (*rs_warn_fn)(void *ctx, const char *text);

/*
 * rs_instance_events() - enable the scheduler's events of @opts->detail and the extra ones.
 * A scheduler event this kernel lacks is told to @warn; sched_switch and an extra event must exist.
 * Return: 0; -EINVAL (USAGE: unknown extra event); -ENODEV; -errno; -ENOMEM.
 */
int rs_instance_events(struct rs_instance *instance, const struct resched_record_options *opts,
		       rs_warn_fn warn, void *warn_ctx, struct resched_error *err);

/* rs_instance_filter() - restrict to pids (children included) and cpus; @cpus NULL = all. */
int rs_instance_filter(struct rs_instance *instance, unsigned int nr_pids, const int *pids,
		       const struct rs_cpuset *cpus, struct resched_error *err);

/* rs_instance_follow() - tasks more; one that is gone is no failure. Return: 0; -errno. */
int rs_instance_follow(struct rs_instance *instance, unsigned int nr_pids, const int *pids);

/* rs_instance_disable() - "sched/sched_wakeup"; rs_instance_shed_extra() all but those of the scheduler. Return: 0; -errno. */
int rs_instance_disable(struct rs_instance *instance, const char *event);
int rs_instance_shed_extra(struct rs_instance *instance);

/* rs_instance_buffer() - size of the ring buffer, KiB a cpu. */
int rs_instance_buffer(struct rs_instance *instance, uint64_t kb, struct resched_error *err);

int rs_instance_switch(struct rs_instance *instance, bool on, struct resched_error *err);

/* Counters of one cpu's buffer; text is the kernel's own. */
struct rs_instance_stats {
	char text[512];
	uint64_t entries, overrun, commit_overrun, dropped, read;
};

/* rs_instance_stats() - read per_cpu/cpuN/stats. Return: 0; -errno. */
int rs_instance_stats(const struct rs_instance *instance, unsigned int cpu,
		      struct rs_instance_stats *ret);

/* rs_instance_remove() - remove it from the kernel and free. Accepts a zeroed one. */
void rs_instance_remove(struct rs_instance *instance);

#endif
