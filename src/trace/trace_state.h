/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One open recording, between the files that work on it: trace.c opens and frees it, trace_frame.c reads what is in front of the events of
 * a trace.dat or of pages, trace_merge.c gives the events in time order, trace_window.c goes to a part of them and has threads read ahead,
 * trace_finish.c tells at the end what was found. Formats with operations of their own (reader.h) need only the first and the third.
 */
#ifndef RS_TRACE_TRACE_STATE_H
#define RS_TRACE_TRACE_STATE_H

#include <resched/trace.h>

#include "trace/ahead.h"
#include "trace/comms.h"
#include "trace/decode.h"
#include "trace/edges.h"
#include "trace/lane.h"
#include "trace/notes.h"
#include "trace/raw.h"
#include "trace/reader.h"
#include "trace/seek.h"
#include "trace/stream.h"

struct cpu_stream {
	struct rs_lane lane;
	struct rs_item own, lost;	/* where @next is, when it is not in a batch of @ahead; a loss told before @next */
	struct rs_item *next;		/* next event of this cpu */
	struct rs_item *after_lost;	/* what follows @lost */
	unsigned int at;		/* among the streams */
	uint64_t last_ts;		/* of the last event that was taken from the lane */
	bool seen;			/* an event was delivered */
};

struct resched_trace {
	struct rs_input in;
	struct rs_notes notes;
	const struct rs_reader_ops *ops;	/* NULL: trace.dat, read by what follows */
	void *reader;
	struct rs_dat dat;
	const struct rs_dat_buffer *buf;	/* of @dat, the one that is read */
	struct rs_raw *raw;			/* the frame of @dat was put together from files */
	struct rs_stream_shared shared;
	struct rs_decoder dec;
	struct rs_comms comms;
	struct resched_names *names;
	struct resched_host *host;
	struct resched_source source;
	char *file, *format;
	struct resched_event_count *counts;
	unsigned int nr_streams;
	struct cpu_stream *streams;
	struct rs_ahead *ahead;		/* threads that read the lanes; NULL: none */
	struct cpu_stream **heap;	/* heap[0] has the earliest event */
	unsigned int nr_heap;
	struct resched_event out[RS_DECODE_NAMES + 1];
	int nr_out, at_out;
	unsigned int tail_cpu;		/* next stream to look at for a loss at its end */
	bool rename_seen, finished;
	bool any;			/* source.first_ns is known */
	bool delivered;			/* an event */
	bool has_truth;			/* @truth belongs to the event last returned */
	struct resched_truth truth;
	uint64_t backwards, short_records;
	uint64_t until_ns;		/* end of the window that is read; 0: to the end */
	bool windowed, passed;		/* it is; an event behind it was delivered */
	struct rs_edges edges;
	uint64_t no_cpu;		/* events left out */
	bool told;			/* what @edges found */
};

/* rs_trace_open_dat() - a trace.dat in t->in. rs_trace_open_raw() - ring buffer pages beside formats, in the tar in t->in or in the folder
 * @dir. Return: 0; as resched_trace_open(). */
int rs_trace_open_dat(struct resched_trace *t, struct resched_error *err);
int rs_trace_open_raw(struct resched_trace *t, const char *dir, struct resched_error *err);

/* rs_trace_begin_streams() - go to the first event of each cpu, from @places on when they are given. Return: 0; -ENOMEM. */
int rs_trace_begin_streams(struct resched_trace *t, const struct rs_place *places);

/* rs_trace_finish() - after the last event: counts by name, and notes on all of it. Again: nothing. Return: 0; -ENOMEM. */
int rs_trace_finish(struct resched_trace *t);
/* rs_trace_refresh_source() - the parts of the source that are views of lists which grow. */
void rs_trace_refresh_source(struct resched_trace *t);

#endif
