/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Figures by cgroup. Entry 0 is the host, entry 1 "(other)": all cgroups past the limit. An entry whose cgroup had no wait for a while
 * is given to another when there is need of one, so that cgroups may come and go for ever. Children are in the cgroup of who forked
 * them; for the rest /proc is asked, a limited number of times an interval.
 */
#ifndef DAEMON_CGROUPS_H
#define DAEMON_CGROUPS_H

#include <stdint.h>
#include "daemon/config.h"
#include "daemon/hist.h"

#define CGROUP_HOST 0u
#define CGROUP_OTHER 1u
#define CGROUP_FIRST 2u
#define CGROUP_UNKNOWN UINT32_MAX
#define CUMULATIVE_BUCKETS 16u

/* As a Prometheus histogram has it: since the start, by upper bounds that never change. */
struct cumulative { uint64_t buckets[CUMULATIVE_BUCKETS], count, sum_ns; };

struct cgroup {
	char path[CONFIG_TEXT];		/* "" : free */
	struct hist wake, delay;	/* of this interval */
	struct cumulative total_wake, total_delay;
	uint64_t used;			/* interval of its last wait */
	uint32_t generation;		/* grows when the entry is given to another cgroup */
};

struct cgroups {
	unsigned int nr, max;		/* entries ever used, and there may be */
	struct cgroup *items;
	uint64_t interval;		/* number of the current one */
	uint64_t evicted;
};

int cgroups_init(struct cgroups *cgroups, unsigned int max);	/* Return: 0; -ENOMEM */
void cgroups_release(struct cgroups *cgroups);
/* cgroups_find() - the entry of @path, made when there is none. */
uint32_t cgroups_find(struct cgroups *cgroups, const char *path);
void cgroup_add(struct cgroups *cgroups, uint32_t idx, bool is_wake, uint64_t ns);
/* cgroups_next_interval() - forget the figures of this interval. */
void cgroups_next_interval(struct cgroups *cgroups);
/* cumulative_bound() - upper bound of a bucket in ns; UINT64_MAX for the last. */
uint64_t cumulative_bound(unsigned int bucket);

/* cgroup_path_of() - of a task, by /proc. Return: 0; -ENOENT when it is gone or tells nothing. */
int cgroup_path_of(int pid, char *ret, size_t size);

#endif
