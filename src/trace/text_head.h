/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines of a text trace that are no events: headers of the kernel, trace-cmd and perf, losses, HTML around it. */
#ifndef RS_TRACE_TEXT_HEAD_H
#define RS_TRACE_TEXT_HEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/text_scan.h"

#define RS_HEAD_TEXT 128u

struct rs_text_head {
	bool ftrace, trace_cmd, perf, html;	/* whose headers were seen */
	bool inside;				/* html: between the tags that hold the trace */
	unsigned int nr_cpus;			/* 0: not told */
	unsigned int next_column;
	struct rs_flag_columns columns;
	char release[RS_HEAD_TEXT], machine[RS_HEAD_TEXT], clock[RS_HEAD_TEXT];	/* "" : not told */
};

enum rs_head_line { RS_HEAD_OTHER, RS_HEAD_KNOWN, RS_HEAD_LOST };

/*
 * rs_text_head_line() - look at a line that is no event, or that begins with '#'.
 * @ret_cpu, @ret_lost: for RS_HEAD_LOST: events lost on that cpu, 0 when their number is not told
 */
enum rs_head_line rs_text_head_line(struct rs_text_head *head, const char *line, const char *end, uint32_t *ret_cpu, uint64_t *ret_lost);

/* rs_text_html_line() - html: may this line belong to the trace? Keeps @head->inside. */
bool rs_text_html_line(struct rs_text_head *head, const char *line, const char *end);

#endif
