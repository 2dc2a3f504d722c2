/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a reader of one recording format offers to resched_trace, and what it gets from it. A format is a const table of
 * operations, listed in trace.c; trace.dat is read by trace_frame.c and trace_merge.c.
 */
#ifndef RS_TRACE_READER_H
#define RS_TRACE_READER_H

#include <stdbool.h>
#include <resched/trace.h>

#include "trace/input.h"
#include "trace/notes.h"

/*
 * Lent to a reader for its life. The reader fills @source but for file, damaged and the warnings (which are those of @notes);
 * what source points to stays the reader's, until its free(). *@host, when set, is the trace's from then on.
 */
struct rs_recording {
	const struct rs_input *in;
	struct rs_notes *notes;
	struct resched_names *names;
	struct resched_source *source;
	struct resched_host **host;
};

struct rs_reader_ops {
	/* Does the file begin as this format? */
	bool (*is)(const struct rs_input *in);
	/* Return: as resched_trace_open(); *@ret is set even on failure when there is something to free. */
	int (*open)(const struct rs_recording *rec, void **ret, struct resched_error *err);
	/* Return: as resched_trace_next(); @notes are finished by the caller after the first 0. */
	int (*next)(void *reader, const struct resched_event **ret, struct resched_error *err);
	void (*free)(void *reader);
};

#endif
