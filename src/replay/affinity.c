// SPDX-License-Identifier: GPL-2.0-only
#include "replay/affinity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_PART UINT32_MAX

/* The parts of one kind that a machine has: nodes, caches or cpus, in order of their first cpus. */
struct parts {
	unsigned int nr;
	uint32_t *of;		/* by position in the machine's cpus; NO_PART: in none, or offline */
};

enum kind { BY_NODE, BY_LLC, BY_CPU, NR_KINDS };

struct rs_affinity {
	const struct resched_host *from, *to;
	struct parts parts[2][NR_KINDS];	/* of from, of to */
};

static int key_of(const struct resched_host_cpu *c, enum kind kind)
{
	if (!c->online)
		return -1;
	return kind == BY_NODE ? c->node : kind == BY_LLC ? c->llc : (int)c->cpu;
}

static int find_parts(const struct resched_host *host, enum kind kind, struct parts *ret)
{
	ret->of = calloc(host->nr_cpus + 1u, sizeof(*ret->of));
	if (!ret->of)
		return -ENOMEM;
	for (unsigned int i = 0; i < host->nr_cpus; i++) {
		int key = key_of(&host->cpus[i], kind);

		ret->of[i] = NO_PART;
		for (unsigned int j = 0; kind != BY_CPU && key >= 0 && j < i && ret->of[i] == NO_PART; j++)
			ret->of[i] = key_of(&host->cpus[j], kind) == key ? ret->of[j] : NO_PART;
		if (key >= 0 && ret->of[i] == NO_PART)
			ret->of[i] = ret->nr++;
	}
	return 0;
}

int rs_affinity_new(const struct resched_host *from, const struct resched_host *to, struct rs_affinity **ret)
{
	struct rs_affinity *a = calloc(1, sizeof(*a));
	int rc = a ? 0 : -ENOMEM;

	for (unsigned int kind = 0; kind < NR_KINDS && !rc; kind++) {
		rc = find_parts(from, kind, &a->parts[0][kind]);
		if (!rc)
			rc = find_parts(to, kind, &a->parts[1][kind]);
	}
	if (rc) {
		rs_affinity_free(a);
		return rc;
	}
	a->from = from;
	a->to = to;
	*ret = a;
	return 0;
}

void rs_affinity_free(struct rs_affinity *a)
{
	for (unsigned int i = 0; a && i < 2 * NR_KINDS; i++)
		free(a->parts[i / NR_KINDS][i % NR_KINDS].of);
	free(a);
}

static bool is_there(const struct rs_affinity *a, const struct rs_cpuset *set)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < a->to->nr_cpus; i++)
		nr += a->to->cpus[i].online && rs_cpuset_has(set, a->to->cpus[i].cpu);
	return nr == rs_cpuset_count(set);
}

/* Is @set made of whole parts? Single cpus always are. */
static bool is_whole(const struct rs_affinity *a, const struct rs_cpuset *set, enum kind kind)
{
	const struct parts *p = &a->parts[0][kind];
	struct rs_cpuset in = { { 0 } }, out = { { 0 } };

	for (unsigned int i = 0; i < a->from->nr_cpus; i++) {
		if (p->of[i] != NO_PART)
			rs_cpuset_add(rs_cpuset_has(set, a->from->cpus[i].cpu) ? &in : &out, p->of[i]);
	}
	for (unsigned int i = 0; i < sizeof(in.bits) / sizeof(in.bits[0]); i++) {
		if (in.bits[i] & out.bits[i])
			return false;
	}
	return rs_cpuset_count(&in) > 0;
}

/* The parts of the same numbers on the other machine. */
static void map_parts(const struct rs_affinity *a, enum kind kind, struct rs_cpuset *set)
{
	const struct parts *from = &a->parts[0][kind], *to = &a->parts[1][kind];
	struct rs_cpuset numbers = { { 0 } };

	for (unsigned int i = 0; i < a->from->nr_cpus; i++) {
		if (from->of[i] != NO_PART && rs_cpuset_has(set, a->from->cpus[i].cpu))
			rs_cpuset_add(&numbers, from->of[i] % to->nr);
	}
	memset(set, 0, sizeof(*set));
	for (unsigned int i = 0; i < a->to->nr_cpus; i++) {
		if (to->of[i] != NO_PART && rs_cpuset_has(&numbers, to->of[i]))
			rs_cpuset_add(set, a->to->cpus[i].cpu);
	}
}

/* A recording without a snapshot of its machine: by the bare numbers. */
static void map_numbers(const struct rs_affinity *a, struct rs_cpuset *set)
{
	const struct parts *to = &a->parts[1][BY_CPU];
	struct rs_cpuset numbers = { { 0 } };

	for (unsigned int cpu = 0; cpu < RS_MAX_CPUS; cpu++) {
		if (rs_cpuset_has(set, cpu))
			rs_cpuset_add(&numbers, cpu % to->nr);
	}
	memset(set, 0, sizeof(*set));
	for (unsigned int i = 0; i < a->to->nr_cpus; i++) {
		if (to->of[i] != NO_PART && rs_cpuset_has(&numbers, to->of[i]))
			rs_cpuset_add(set, a->to->cpus[i].cpu);
	}
}

bool rs_affinity_map(const struct rs_affinity *a, struct rs_cpuset *set)
{
	if (is_there(a, set) || !a->parts[1][BY_CPU].nr)
		return false;
	for (unsigned int kind = 0; kind < NR_KINDS; kind++) {
		if (a->parts[0][kind].nr && a->parts[1][kind].nr && is_whole(a, set, kind)) {
			map_parts(a, kind, set);
			return true;
		}
	}
	map_numbers(a, set);
	return true;
}
