/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The body of an event as text: what the print formats of the kernel give, what trace-cmd's own formats give
 * ("comm:pid [prio] S ==> ..."), and raw fields (trace-cmd report -R). A comm may hold anything, the separators included:
 * the split that makes all of the line fit is taken.
 */
#ifndef RS_TRACE_TEXT_EVENT_H
#define RS_TRACE_TEXT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <resched/event.h>

#include "trace/text_scan.h"

#define RS_TEXT_NAMES 2

/* How numbers are to be read where letters of states should be; see rs_text_raw_state(). */
struct rs_raw_states { bool shifted, old; };

struct rs_text_name {
	int32_t pid;
	const char *text;
	uint32_t len;
	bool strong;		/* what the task is called at that time */
};

struct rs_text_event {
	struct resched_event ev;	/* a rename has type COMM */
	unsigned int nr_names;
	struct rs_text_name names[RS_TEXT_NAMES];
	bool raw;			/* the state was a number */
	uint64_t raw_state;
	bool plugin;			/* trace-cmd's own format, which tells R+ as R */
	bool no_prio;			/* next_prio is missing */
};

/* rs_text_event_type() - what an event of this name becomes; RESCHED_EV_OTHER for those that are only counted. */
enum resched_event_type rs_text_event_type(const char *name, size_t len);

/*
 * rs_text_decode() - fill @ret from a line whose event is of @type. Return: false when the body is not understood: then
 * @ret->ev is of type OTHER.
 */
bool rs_text_decode(enum resched_event_type type, const struct rs_text_line *line, const struct rs_raw_states *raw, struct rs_text_event *ret);

/*
 * rs_text_raw_state() - RESCHED_STATE_* of a prev_state in bits. Which bits mean what has changed with kernels; that a task was
 * still runnable shows in all of them: 0, or one bit from 256 up and nothing else.
 */
uint32_t rs_text_raw_state(const struct rs_raw_states *raw, uint64_t bits);

#endif
