/* SPDX-License-Identifier: GPL-2.0-only */
/* When a recording has to end before its time, or to record less: its size, the room on its disk, its share of a cpu. */
#ifndef RS_CAPTURE_LIMITS_H
#define RS_CAPTURE_LIMITS_H

#include <stdint.h>

struct rs_limits {
	int fd;				/* of the file, borrowed */
	uint64_t max_bytes;		/* 0: any */
	uint64_t min_free_bytes;	/* on the file's disk */
	uint64_t free_bytes;		/* when last looked */
	double budget;			/* part of one cpu; 0: any */
	double since, cpu_since;	/* begin of the window that is measured, and the cpu time used then */
};

enum rs_limit { RS_LIMIT_NONE, RS_LIMIT_SIZE, RS_LIMIT_SPACE, RS_LIMIT_CPU };

/* rs_limits_init() - @max_kb, @min_free_kb: 0 = none, and 1/20 of the disk but at most 64 MiB. @budget: part of one cpu, 0: any */
void rs_limits_init(struct rs_limits *limits, int fd, uint64_t max_kb, uint64_t min_free_kb, double budget);

/*
 * rs_limits_check() - which limit is reached? To be called now and then; RS_LIMIT_CPU is told once a second at most.
 * @now: seconds of any clock; @cpu: seconds of cpu time used so far
 */
enum rs_limit rs_limits_check(struct rs_limits *limits, double now, double cpu);

/* rs_limits_hard() - bytes that the pages may grow to, so that the whole file stays within its size; 0: any. */
uint64_t rs_limits_hard(const struct rs_limits *limits);

#endif
