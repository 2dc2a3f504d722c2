/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The machine: which cpus there are, what they share, and the scheduling domains the kernel builds over them.
 *
 * A machine is a host snapshot (struct resched_host) of which only cpus and nodes matter: of a recording, of a snapshot file, of a
 * preset, or written as text. Domains are built from it as kernel/sched/topology.c does.
 */
#ifndef RESCHED_TOPOLOGY_H
#define RESCHED_TOPOLOGY_H

#include <resched/error.h>
#include <resched/host.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A machine as text: comma-separated NAME=NUMBER.
 *
 *   sockets=1  nodes=1 (of the machine)  llc=1 (last-level caches a node, or a socket where that is smaller)
 *   cores=1 (an LLC)  smt=1  cluster=0 (cores a cluster, 0 = none)
 *   numbering=split|adjacent    siblings of cpu n are n + cores, or neighbours; default split
 *   ecores=0 ecluster=4         cores without SMT after the others in each LLC, and how many share a cluster
 *   capacity=1024 ecapacity=1024
 *   near=12 far=20              node distances within and between sockets
 *   reclaim=30                  distance above which the kernel stops pulling (32 on AMD family 17h and later)
 *   isolated=LIST offline=LIST  cpu lists with + for the comma: 2-3+8
 */

/*
 * resched_topology_load() - a machine by what the user wrote: text with a '=', the name of a preset, or a file (a recording with a
 * snapshot, or a snapshot in JSON).
 * @ret: the caller's, to resched_host_free()
 * Return: 0; -EINVAL (kind USAGE) for text that is no machine; -errno of the file; -ENOMEM.
 */
int resched_topology_load(const char *what, struct resched_host **ret, struct resched_error *err);

/* resched_topology_preset() - the idx-th preset: its name, its text and one line about it. Return: 1; 0 past the end. */
int resched_topology_preset(unsigned int idx, const char **name, const char **spec, const char **about);

/* Flags of a domain; names as in /sys/kernel/debug/sched/domains. */
#define RESCHED_SD_BALANCE_NEWIDLE	0x0001u
#define RESCHED_SD_BALANCE_EXEC		0x0002u
#define RESCHED_SD_BALANCE_FORK		0x0004u
#define RESCHED_SD_WAKE_AFFINE		0x0008u
#define RESCHED_SD_SHARE_CPUCAPACITY	0x0010u
#define RESCHED_SD_LLC			0x0020u	/* SD_SHARE_PKG_RESOURCES before 6.9 */
#define RESCHED_SD_CLUSTER		0x0040u
#define RESCHED_SD_ASYM_CPUCAPACITY	0x0080u
#define RESCHED_SD_ASYM_CPUCAPACITY_FULL 0x0100u
#define RESCHED_SD_ASYM_PACKING		0x0200u
#define RESCHED_SD_PREFER_SIBLING	0x0400u
#define RESCHED_SD_SERIALIZE		0x0800u
#define RESCHED_SD_NUMA			0x1000u
#define RESCHED_SD_OVERLAP		0x2000u

/* One level above a cpu. Texts and arrays live as long as the domains. */
struct resched_domain {
	const char *name;		/* "SMT", "CLS", "MC", "DIE", "PKG", "NODE", "NUMA" */
	unsigned int flags;
	unsigned int weight;		/* cpus in it */
	unsigned int imbalance_pct, cache_nice_tries, min_interval_ms, max_interval_ms, imb_numa_nr;
	unsigned int nr_groups;		/* the first is that of the cpu */
};

struct resched_domains;

/*
 * resched_domains_build() - the domains of all online cpus that are not isolated.
 * @kernel: release whose rules count ("6.1", "6.12.48"); NULL = that of @host, else 6.12
 * @ret:    the caller's, to resched_domains_free(); borrows nothing
 * Return: 0; -ENOMEM.
 */
int resched_domains_build(const struct resched_host *host, const char *kernel, struct resched_domains **ret, struct resched_error *err);
void resched_domains_free(struct resched_domains *domains);
/* resched_domain_of() - level @idx (0 = lowest) of @cpu. Return: 1 with *@ret filled; 0 past the top. */
int resched_domain_of(const struct resched_domains *domains, unsigned int cpu, unsigned int idx, struct resched_domain *ret);
/* resched_domain_span() - its cpus as a list, "0-3,8"; with @group >= 0 those of that group. */
void resched_domain_span(const struct resched_domains *domains, unsigned int cpu, unsigned int idx, int group, char *buf, unsigned int size);
/* resched_domain_flag_name() - the idx-th flag and its name without SD_. Return: the flag; 0 past the end. */
unsigned int resched_domain_flag_name(unsigned int idx, const char **name);

/*
 * resched_domains_check() - compare with what a kernel says it built.
 * @schedstat: text of /proc/schedstat; only the lines "cpuN" and "domainN MASK" matter
 * Return: 0 when all spans agree; 1 when not, @err says which first; -EBADMSG when it is no schedstat.
 */
int resched_domains_check(const struct resched_domains *domains, const char *schedstat, struct resched_error *err);

/*
 * resched_domains_check_debugfs() - names, flags, imbalance percentage, tries and intervals against a folder like
 * /sys/kernel/debug/sched/domains. Return: 0 when all agree; 1 when not, @err says which first; -ENODATA when the kernel shows none
 * there (6.12 does so with sched_verbose alone).
 */
int resched_domains_check_debugfs(const struct resched_domains *domains, const char *dir, struct resched_error *err);

#ifdef __cplusplus
}
#endif
#endif
