// SPDX-License-Identifier: GPL-2.0-only
#include "capture/limits.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#define MIN_FREE_BYTES (64ull << 20)
#define MIN_FREE_SHARE 20u
#define CPU_WINDOW_S 1.0
#define TAIL_BYTES (256u << 10)	/* names and tables behind the pages */

void rs_limits_init(struct rs_limits *limits, int fd, uint64_t max_kb, uint64_t min_free_kb, double budget)
{
	struct statvfs disk;

	*limits = (struct rs_limits){ .fd = fd, .max_bytes = max_kb << 10, .min_free_bytes = min_free_kb << 10, .budget = budget };
	if (!min_free_kb && fstatvfs(fd, &disk) == 0) {
		limits->min_free_bytes = (uint64_t)disk.f_blocks * disk.f_frsize / MIN_FREE_SHARE;
		if (limits->min_free_bytes > MIN_FREE_BYTES)
			limits->min_free_bytes = MIN_FREE_BYTES;
	}
}

uint64_t rs_limits_hard(const struct rs_limits *limits)
{
	uint64_t tail = limits->max_bytes / 4 < TAIL_BYTES ? limits->max_bytes / 4 : TAIL_BYTES;

	return limits->max_bytes - tail;
}

enum rs_limit rs_limits_check(struct rs_limits *limits, double now, double cpu)
{
	struct statvfs disk;
	struct stat st;

	/* what waits in the kernel's buffers comes on top, so a little earlier than at the last byte */
	if (limits->max_bytes && fstat(limits->fd, &st) == 0 && (uint64_t)st.st_size >= rs_limits_hard(limits) / 8 * 7)
		return RS_LIMIT_SIZE;
	if (fstatvfs(limits->fd, &disk) == 0) {
		limits->free_bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
		/* file systems that do not count say 0 of 0 */
		if (disk.f_blocks && limits->free_bytes < limits->min_free_bytes)
			return RS_LIMIT_SPACE;
	}
	if (limits->budget <= 0)
		return RS_LIMIT_NONE;
	if (limits->since == 0 || now - limits->since >= CPU_WINDOW_S) {
		double used = cpu - limits->cpu_since, span = now - limits->since, began = limits->since;

		limits->since = now;
		limits->cpu_since = cpu;
		if (began > 0 && used > span * limits->budget)
			return RS_LIMIT_CPU;
	}
	return RS_LIMIT_NONE;
}
