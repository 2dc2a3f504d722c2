// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine: which cpus there are and what they share. Every id is the lowest cpu of the group,
 * so that ids of one kind can be compared across packages (the kernel's core_id cannot).
 */
#include "capture/host_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpulist.h"

#define CPU_DIR		"/sys/devices/system/cpu"
#define NODE_DIR	"/sys/devices/system/node"
#define MAX_CACHES	16
#define MAX_NODES	1024

static int read_list(const struct rs_host_reader *reader, const char *path, struct rs_cpuset *ret)
{
	char text[16384];
	int rc = rs_host_path_read(reader, text, sizeof(text), "%s", path);

	if (rc < 0)
		return rc;
	return rs_cpulist_parse(text, ret);
}

/* The lowest cpu of a list file of @cpu; -1 when unreadable. */
static int first_of(const struct rs_host_reader *reader, unsigned int cpu, const char *file)
{
	char text[64];	/* only the first number is wanted */
	char *end;
	long first;

	if (rs_host_path_read(reader, text, sizeof(text), CPU_DIR "/cpu%u/%s", cpu, file) <= 0)
		return -1;
	first = strtol(text, &end, 10);
	return end == text || first < 0 || first >= (long)RS_MAX_CPUS ? -1 : (int)first;
}

static long number_of(const struct rs_host_reader *reader, unsigned int cpu, const char *file)
{
	char text[64], *end;
	long value;

	if (rs_host_path_read(reader, text, sizeof(text), CPU_DIR "/cpu%u/%s", cpu, file) <= 0)
		return -1;
	value = strtol(text, &end, 10);
	return end == text ? -1 : value;
}

/* Who shares the last cache level: the unified cache with the highest level. -1 when the kernel
 * does not tell. */
static int read_llc(const struct rs_host_reader *reader, unsigned int cpu)
{
	char file[64], type[32];
	long best_level = 0;
	int llc = -1, i;

	for (i = 0; i < MAX_CACHES; i++) {
		long level;

		snprintf(file, sizeof(file), "cache/index%d/level", i);
		level = number_of(reader, cpu, file);
		if (level < 0)
			break;
		if (rs_host_path_read(reader, type, sizeof(type),
				      CPU_DIR "/cpu%u/cache/index%d/type", cpu, i) <= 0 ||
		    strcmp(type, "Unified") != 0 || level <= best_level)
			continue;
		snprintf(file, sizeof(file), "cache/index%d/shared_cpu_list", i);
		best_level = level;
		llc = first_of(reader, cpu, file);
	}
	return llc;
}

/* New kernels' name of a list, else the old one. */
static int first_of_either(const struct rs_host_reader *reader, unsigned int cpu, const char *file,
			   const char *old_file)
{
	int first = first_of(reader, cpu, file);

	return first >= 0 ? first : first_of(reader, cpu, old_file);
}

static void read_cpu(const struct rs_host_reader *reader, struct resched_host_cpu *cpu)
{
	long capacity = number_of(reader, cpu->cpu, "cpu_capacity");
	long cluster = number_of(reader, cpu->cpu, "topology/cluster_id");

	cpu->core = first_of_either(reader, cpu->cpu, "topology/core_cpus_list",
				    "topology/thread_siblings_list");
	/* -1 and 65535 are the kernel's "no cluster known" */
	cpu->cluster = cluster < 0 || cluster == 65535
			       ? -1
			       : first_of(reader, cpu->cpu, "topology/cluster_cpus_list");
	cpu->llc = read_llc(reader, cpu->cpu);
	cpu->die = first_of(reader, cpu->cpu, "topology/die_cpus_list");
	cpu->package = first_of_either(reader, cpu->cpu, "topology/package_cpus_list",
				       "topology/core_siblings_list");
	cpu->node = -1;
	cpu->capacity = capacity > 0 && capacity <= 1024 ? (int)capacity : 1024;
}

static int read_cpus(struct rs_host_reader *reader)
{
	struct resched_host *host = reader->host;
	struct rs_cpuset possible, online, isolated;
	unsigned int cpu;

	if (read_list(reader, CPU_DIR "/possible", &possible) < 0 &&
	    read_list(reader, CPU_DIR "/online", &possible) < 0)
		return rs_host_unknown(reader, "cpus", CPU_DIR "/possible is not readable");
	if (read_list(reader, CPU_DIR "/online", &online) < 0)
		online = possible;
	if (read_list(reader, CPU_DIR "/isolated", &isolated) < 0)
		memset(&isolated, 0, sizeof(isolated));
	for (cpu = 0; cpu < RS_MAX_CPUS; cpu++) {
		struct resched_host_cpu *last;

		if (!rs_cpuset_has(&possible, cpu))
			continue;
		if (rs_host_grow(&host->cpus, host->nr_cpus, sizeof(*host->cpus)) < 0)
			return -ENOMEM;
		last = &host->cpus[host->nr_cpus++];
		memset(last, 0, sizeof(*last));
		last->cpu = cpu;
		last->online = rs_cpuset_has(&online, cpu);
		last->isolated = rs_cpuset_has(&isolated, cpu);
		read_cpu(reader, last);
	}
	return 0;
}

/* One integer an online node, separated by blanks. */
static int read_distances(const struct rs_host_reader *reader, struct resched_host_node *node)
{
	char text[8192], *at = text, *end;

	if (rs_host_path_read(reader, text, sizeof(text), NODE_DIR "/node%d/distance", node->node) <= 0)
		return 0;
	for (;;) {
		long value = strtol(at, &end, 10);

		if (end == at || node->nr_distances == MAX_NODES)
			return 0;
		if (rs_host_grow(&node->distances, node->nr_distances, sizeof(*node->distances)) < 0)
			return -ENOMEM;
		node->distances[node->nr_distances++] = (int)value;
		at = end;
	}
}

static int add_node(struct rs_host_reader *reader, unsigned int id)
{
	struct resched_host *host = reader->host;
	struct resched_host_node *node;
	struct rs_cpuset cpus;
	char path[64];
	unsigned int i;

	if (rs_host_grow(&host->nodes, host->nr_nodes, sizeof(*host->nodes)) < 0)
		return -ENOMEM;
	node = &host->nodes[host->nr_nodes++];
	memset(node, 0, sizeof(*node));
	node->node = (int)id;
	snprintf(path, sizeof(path), NODE_DIR "/node%u/cpulist", id);
	if (read_list(reader, path, &cpus) == 0) {
		for (i = 0; i < host->nr_cpus; i++) {
			if (rs_cpuset_has(&cpus, host->cpus[i].cpu))
				host->cpus[i].node = (int)id;
		}
	}
	return read_distances(reader, node);
}

static int read_nodes(struct rs_host_reader *reader)
{
	struct rs_cpuset nodes;	/* a list of nodes has the form of a list of cpus */
	unsigned int id;
	int rc = 0;

	if (read_list(reader, NODE_DIR "/online", &nodes) < 0)
		return 0;	/* a kernel without NUMA: one node, told by no file */
	for (id = 0; id < MAX_NODES && rc == 0; id++) {
		if (rs_cpuset_has(&nodes, id))
			rc = add_node(reader, id);
	}
	return rc;
}

/* Tell once what no online cpu could tell. */
static int note_missing(struct rs_host_reader *reader)
{
	const struct resched_host *host = reader->host;
	bool core = false, llc = false, package = false;
	unsigned int i;
	int rc = 0;

	for (i = 0; i < host->nr_cpus; i++) {
		core |= host->cpus[i].core >= 0;
		llc |= host->cpus[i].llc >= 0;
		package |= host->cpus[i].package >= 0;
	}
	if (!core)
		rc = rs_host_unknown(reader, "cores", "no topology/core_cpus_list in " CPU_DIR);
	if (rc == 0 && !llc)
		rc = rs_host_unknown(reader, "llc",
				     "no cache information in " CPU_DIR " (usual in guests)");
	if (rc == 0 && !package)
		rc = rs_host_unknown(reader, "packages", "no topology/package_cpus_list in " CPU_DIR);
	return rc;
}

/*
 * Distance of nodes above which the balancer of wakeups, forks and execs keeps off: 30, but 32 on AMD from family 0x17 on
 * (init_amd_zen_common()). No file of the kernel tells.
 */
static int read_reclaim(struct rs_host_reader *reader)
{
	char text[4096];
	const char *family;

	if (rs_host_path_read(reader, text, sizeof(text), "/proc/cpuinfo") <= 0)
		return 0;
	family = strstr(text, "cpu family");
	family = family ? strchr(family, ':') : NULL;
	if (!family || !strstr(text, "AuthenticAMD") || strtol(family + 1, NULL, 10) < 0x17)
		return 0;
	return rs_host_tunable_add(reader, "reclaim_distance", "32");
}

int rs_host_read_topology(struct rs_host_reader *reader)
{
	int rc = read_cpus(reader);

	if (rc == 0)
		rc = read_nodes(reader);
	if (rc == 0)
		rc = read_reclaim(reader);
	return rc == 0 ? note_missing(reader) : rc;
}
