/* SPDX-License-Identifier: GPL-2.0-only */
/* Sets of cpus in the kernel's list form, "0-3,8". */
#ifndef RS_BASE_CPULIST_H
#define RS_BASE_CPULIST_H

#include <stdbool.h>
#include <stdint.h>

#define RS_MAX_CPUS 8192u	/* the kernel's largest NR_CPUS */

struct rs_cpuset { uint64_t bits[RS_MAX_CPUS / 64]; };

static inline bool rs_cpuset_has(const struct rs_cpuset *set, unsigned int cpu)
{
	return cpu < RS_MAX_CPUS && (set->bits[cpu / 64] >> (cpu % 64)) & 1;
}

static inline void rs_cpuset_add(struct rs_cpuset *set, unsigned int cpu)
{
	if (cpu < RS_MAX_CPUS)
		set->bits[cpu / 64] |= 1ull << (cpu % 64);
}

/*
 * rs_cpulist_parse() - read "0-3,8" (blanks and a final newline allowed; an empty text is the empty set).
 * Return: 0; -EINVAL for anything else or a cpu >= RS_MAX_CPUS; *@ret is written on success only.
 */
int rs_cpulist_parse(const char *text, struct rs_cpuset *ret);

/* rs_cpulist_format() - the list form of @set into @buf; truncated with "..." when it does not fit. */
void rs_cpulist_format(const struct rs_cpuset *set, char *buf, unsigned int size);

/* Number of cpus in @set. */
unsigned int rs_cpuset_count(const struct rs_cpuset *set);

#endif
