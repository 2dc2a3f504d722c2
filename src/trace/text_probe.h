/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the first lines of a text tell of all of it, found in a pass of its own: whether it is a trace, whose, how exact its
 * stamps are, and how numbers for task states are to be read.
 */
#ifndef RS_TRACE_TEXT_PROBE_H
#define RS_TRACE_TEXT_PROBE_H

#include <stdbool.h>
#include <resched/error.h>

#include "trace/input.h"
#include "trace/text_event.h"
#include "trace/text_head.h"

#define RS_ORIGIN_MAX 64u

struct rs_text_probe {
	bool event, header;		/* an event, a header of a tool was met */
	bool any_trace_cmd, any_perf;	/* lines laid out as those tools do */
	bool ticks, perf_without_cpu;	/* lines that would be events but for their time, their cpu */
	bool exact;			/* stamps in ns */
	char origins[2][RS_ORIGIN_MAX];	/* trace-cmd report of several buffers or files puts their names in front */
	struct rs_raw_states raw;
	struct rs_text_head head;
};

/* rs_text_is() - is it text, also under a compression or behind what atrace prints first? */
bool rs_text_is(const struct rs_input *in);

/* rs_text_probe_run() - @p zeroed. Return: 0; -ENOMEM. */
int rs_text_probe_run(const struct rs_input *in, struct rs_text_probe *p);

/* rs_text_probe_refuse() - say why this text is no trace. Return: -EBADMSG, -EPROTONOSUPPORT. */
int rs_text_probe_refuse(const struct rs_text_probe *p, struct resched_error *err);

/* rs_text_probe_format() - name of the format. */
const char *rs_text_probe_format(const struct rs_text_probe *p);

#endif
