/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of the host snapshot. Each reader fills its fields of @host from files below @root,
 * which is "" on the live machine and a folder with copies of /proc, /sys and /boot in tests. What
 * cannot be read is put on the list of unknowns; the only error is want of memory.
 */
#ifndef RS_CAPTURE_HOST_INTERNAL_H
#define RS_CAPTURE_HOST_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <resched/host.h>

#include "base/map.h"

struct rs_host_reader {
	const char *root;
	bool live;		/* @root is this machine: system calls may be asked too */
	struct resched_host *host;
	char debugfs[256];	/* folder of debugfs; empty: not available */
	int debugfs_rc;		/* then why, -errno */
	char *debug;		/* text of debugfs sched/debug; NULL: not readable */
};

/* rs_host_read_at() - the snapshot of the machine whose files lie below @root. */
int rs_host_read_at(const char *root, struct resched_host **ret, struct resched_error *err);

/* The parts, in the order they have to run. Return of all: 0; -ENOMEM. */
int rs_host_read_kernel(struct rs_host_reader *reader); /* host_kernel.c: release, HZ, preemption
							   model, autogroup */
int rs_host_read_topology(struct rs_host_reader *reader); /* host_topology.c: cpus, nodes */
int rs_host_read_sched(struct rs_host_reader *reader); /* host_sched.c: features, tunables */
int rs_host_read_tasks(struct rs_host_reader *reader); /* host_tasks.c */
int rs_host_read_cgroups(
	struct rs_host_reader *reader); /* host_cgroups.c: of the tasks read before */

/* rs_host_path_read() - a small file below the root; as rs_file_read(). */
int rs_host_path_read(const struct rs_host_reader *reader, char *buf, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* rs_host_unknown() - note what could not be read and why. */
int rs_host_unknown(struct rs_host_reader *reader, const char *what, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* rs_host_tunable_add() - note a tunable's value. */
int rs_host_tunable_add(struct rs_host_reader *reader, const char *name, const char *value);

/* rs_host_grow() - room for one more element behind @nr in an array that only ever grows by one.
 * Return: 0; -ENOMEM. */
int rs_host_grow(void *array_pointer, unsigned int nr, size_t element_bytes);

/* rs_debug_value() - the text behind "NAME  : " in sched/debug, without the line's end, into @buf.
 * Return: 0; -ENOENT. */
int rs_debug_value(const char *debug, const char *name, char *buf, size_t size);
/* rs_debug_newidle() - what newly idle passes cost the cpus of @host, from sched/debug. */
void rs_debug_newidle(const char *debug, struct resched_host *host);

/*
 * rs_debug_slices() - which tasks have a slice of their own, by the tables in sched/debug: pid -> 1
 * or 0. Empty before 6.12. Return: 0; -ENOMEM. @ret is the caller's in any case.
 */
int rs_debug_slices(const char *debug, struct rs_map *ret);

/*
 * rs_features_decode() - names of the bits of sysctl_sched_features, whose order differs between
 * releases.
 * @ret: on success an allocated array of allocated names, *@ret_nr of them
 * Return: 0; -ENOENT when the release's order is not known, or the mask has bits beyond it; -ENOMEM.
 */
int rs_features_decode(const char *release, uint64_t mask, char ***ret, unsigned int *ret_nr);

#endif
