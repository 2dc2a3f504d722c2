/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One line of a text trace: who, where, when, which event. Three shapes are known, whatever tool printed them:
 *     COMM-PID [(TGID)] [CPU] [FLAGS] TIME: EVENT: BODY	the kernel, trace-cmd report, atrace
 *     COMM-PID CPUFLAGS TIME: EVENT: BODY			their latency format
 *     COMM PID[/TID] [CPU] TIME: [PERIOD] SYSTEM:EVENT: BODY	perf script
 */
#ifndef RS_TRACE_TEXT_SCAN_H
#define RS_TRACE_TEXT_SCAN_H

#include <stdbool.h>
#include <stdint.h>

enum rs_line_shape { RS_SHAPE_KERNEL, RS_SHAPE_LATENCY, RS_SHAPE_PERF };

/* Which character of FLAGS tells what; the header of a trace says it, PREEMPT_RT kernels have one more column. */
struct rs_flag_columns { uint8_t irqs, resched, context; };
#define RS_FLAG_COLUMNS { 0, 1, 2 }

struct rs_text_line {
	const char *comm;	/* as the tool remembered it; not NUL terminated */
	uint32_t comm_len;
	int32_t pid;		/* -1: unknown */
	uint32_t cpu;
	uint8_t ctx;		/* RESCHED_CTX_* */
	uint8_t shape;		/* enum rs_line_shape */
	uint8_t digits;		/* of the fraction of a second; 0: TIME is an integer, so ticks and not seconds */
	bool padded;		/* EVENT is filled up to a column, as trace-cmd and perf do */
	uint64_t ts_ns;
	const char *name;	/* event, without its system */
	uint32_t name_len;
	const char *body;	/* up to @end; ends in '\0' */
	const char *end;
};

/* rs_text_scan() - @line ends in '\0' at @end with RS_LINE_SLACK readable bytes behind. Return: false when it is no event. */
bool rs_text_scan(const struct rs_flag_columns *columns, const char *line, const char *end, struct rs_text_line *ret);

/* rs_text_number() - digits at *@p, at most 19 and within an int64, after an optional '-'; moves *@p. Return: false: none. */
static inline bool rs_text_number(const char **p, int64_t *ret)
{
	const char *s = *p;
	bool negative = *s == '-';
	uint64_t v = 0;
	int n = 0;

	s += negative;
	for (; (unsigned char)(*s - '0') < 10; s++, n++) {
		if (n == 19)
			return false;
		v = v * 10 + (unsigned char)(*s - '0');
	}
	if (!n || v > INT64_MAX)
		return false;
	*p = s;
	*ret = negative ? -(int64_t)v : (int64_t)v;
	return true;
}

#endif
