/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Scheduling domains: per cpu a chain of ever larger spans, each cut into groups, as the kernel builds them from the machine.
 *
 * Shapes (span, groups, parameters) are shared by all cpus that see the same; what counts per cpu and level lies in struct
 * rs_domain. Everything belongs to the domains and is constant, but for the counters of struct rs_domain, which the balancer of
 * one run keeps in its own copies (rs_balance).
 * Kernel: kernel/sched/topology.c, build_sched_domains(), cpu_attach_domain().
 */
#ifndef RS_REPLAY_DOMAINS_H
#define RS_REPLAY_DOMAINS_H

#include <stdbool.h>
#include <resched/topology.h>

#include "base/cpulist.h"

#define RS_MAX_LEVELS 24u	/* SMT, CLS, MC, PKG, NODE and one a node distance */

/* Cpus in ascending order, and as bits. */
struct rs_span {
	unsigned int nr, *cpus;
	uint64_t *bits;			/* nr_words of the domains */
};

struct rs_group_shape {
	struct rs_span span;
	struct rs_span balance;		/* who may act for the group */
	unsigned int flags;		/* of the level below it was built from */
	unsigned int cores;		/* distinct SMT sets */
};

struct rs_domain_shape {
	struct resched_domain info;
	int distance;			/* of a NUMA level, else 0 */
	unsigned int id;		/* dense: 0 .. nr_shapes - 1 */
	struct rs_span span;
	struct rs_group_shape *groups;	/* info.nr_groups, in ring order */
	unsigned int first_group;	/* running number of groups[0] over all shapes */
};

struct rs_domain {
	const struct rs_domain_shape *shape;
	unsigned int local;		/* group of the cpu */
};

/* What one cpu sees; levels bottom-up. */
struct rs_domain_chain {
	struct rs_domain levels[RS_MAX_LEVELS];
	unsigned int nr;
	int llc;			/* level that is the highest with LLC, -1 = none */
	int numa, cluster, asym, asym_packing;	/* levels: lowest NUMA, lowest CLUSTER, lowest asym FULL, highest ASYM_PACKING; -1 */
};

struct resched_domains {
	unsigned int nr_cpus, nr_words;	/* cpus: highest number + 1 */
	bool is_612;			/* rules of 6.12, else 6.1 */
	struct rs_span active;		/* online and not isolated */
	struct rs_span *smt;		/* by cpu: hardware threads of its core, itself included */
	unsigned int *llc_of;		/* by cpu: first cpu of its LLC domain, itself without one */
	unsigned int *share_of;		/* by cpu: of its cluster in 6.12, else llc_of */
	int *node_of;			/* by cpu: index of its node */
	unsigned int *capacity;		/* by cpu, 1024 = the largest */
	bool has_smt, asym, cluster_active;
	struct rs_domain_chain *chains;	/* by cpu */
	struct rs_domain_shape **shapes;
	unsigned int nr_shapes, room_shapes, nr_groups;
	struct rs_chunk *chunks;	/* all memory of spans and groups */
};

static inline bool rs_span_has(const struct rs_span *span, unsigned int cpu)
{
	return (span->bits[cpu / 64] >> (cpu % 64)) & 1;
}

static inline const struct rs_domain *rs_domain_at(const struct resched_domains *d, unsigned int cpu, int level)
{
	return level < 0 || (unsigned int)level >= d->chains[cpu].nr ? NULL : &d->chains[cpu].levels[level];
}

#endif
