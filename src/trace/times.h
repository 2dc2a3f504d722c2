/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the stamps of a trace.dat become times, when its options say so: counts of the TSC to ns, a guest's clock to that of its host, a
 * fixed offset; in that order of meaning, applied as trace-cmd 3.1.6 does: guest, then TSC, then offset.
 */
#ifndef RS_TRACE_TIMES_H
#define RS_TRACE_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/input.h"
#include "trace/notes.h"

#define RS_TIMES_MAX_SAMPLES (1u << 20)	/* of all cpus */

struct rs_shift { int64_t time, offset; uint64_t scaling; uint32_t fraction; };
struct rs_shift_cpu { uint32_t nr; struct rs_shift *samples; };	/* in order of time */

/* Zeroed: stamps are times. */
struct rs_times {
	bool active;
	int64_t offset;
	uint32_t mult, shift;		/* of TSC2NSEC; mult 0: none */
	bool interpolate;
	uint32_t nr_cpus;		struct rs_shift_cpu *cpus;	/* of TIME_SHIFT */
};

void rs_times_release(struct rs_times *times);

/* Options of trace.dat. What makes no sense is noted and left out; @size bytes at the cursor. Return: 0; -ENOMEM. */
void rs_times_offset(struct rs_times *times, const char *text, struct rs_notes *notes);
int rs_times_tsc(struct rs_times *times, struct rs_cursor *c, uint32_t size, struct rs_notes *notes);
int rs_times_guest(struct rs_times *times, struct rs_cursor *c, uint32_t size, struct rs_notes *notes);

/* rs_times_of() - the time of a stamp of @cpu. Only when times->active. */
uint64_t rs_times_of(const struct rs_times *times, uint32_t cpu, uint64_t ts);

#endif
