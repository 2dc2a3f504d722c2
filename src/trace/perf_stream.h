/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The records of a perf.data, one after the other, compressed ones (perf record -z) expanded on the way. Reads blocks of
 * RS_PERF_BLOCK bytes; holds one such block and one of expanded data, however long the file is.
 */
#ifndef RS_TRACE_PERF_STREAM_H
#define RS_TRACE_PERF_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/input.h"

#define RS_PERF_BLOCK (1u << 20)

/* Kernel: include/uapi/linux/perf_event.h, enum perf_event_type. From 64 on perf's own (tools/lib/perf, event.h). */
enum rs_perf_type {
	RS_PERF_LOST = 2, RS_PERF_COMM = 3, RS_PERF_EXIT = 4, RS_PERF_THROTTLE = 5, RS_PERF_UNTHROTTLE = 6, RS_PERF_FORK = 7,
	RS_PERF_SAMPLE = 9, RS_PERF_LOST_SAMPLES = 13, RS_PERF_USER = 64,
	RS_PERF_HEADER_ATTR = 64, RS_PERF_EVENT_TYPE = 65, RS_PERF_TRACING_DATA = 66, RS_PERF_FINISHED_ROUND = 68, RS_PERF_ID_INDEX = 69,
	RS_PERF_AUXTRACE = 71, RS_PERF_EVENT_UPDATE = 78, RS_PERF_HEADER_FEATURE = 80, RS_PERF_COMPRESSED = 81,
	RS_PERF_COMPRESSED2 = 83, RS_PERF_SIMPLEPERF = 32768,	/* simpleperf's own, with 32 bits of length */
};

struct rs_perf_record {
	const uint8_t *data;	/* with its header of 8 bytes; valid until the next call */
	uint32_t type, size;
	uint16_t misc;
	uint64_t after;		/* position in the file behind it; of no use when expanded */
	bool expanded;		/* it came out of a compressed record */
};

/* Why the records ended. */
enum rs_perf_end { RS_PERF_MORE, RS_PERF_DONE, RS_PERF_CUT, RS_PERF_BAD_RECORD, RS_PERF_BAD_PACKED, RS_PERF_NO_MEMORY };

struct rs_perf_stream {
	const struct rs_input *in;
	bool swap, big;
	uint64_t base;			/* position in the file of buf[0] */
	uint64_t end;
	uint8_t *buf;			/* at .. len is unread */
	size_t at, len;
	uint8_t *out;			/* expanded, out_at .. out_len is unread; NULL until needed */
	size_t out_at, out_len;
	void *unpacker;			/* ZSTD_DStream: one stream over all compressed records */
	const uint8_t *packed;		/* what is left of the compressed record being expanded, inside buf */
	size_t packed_left;
	bool packed_more;		/* the unpacker may hold more output */
	uint32_t window_log;
	enum rs_perf_end ended;
	uint64_t ended_at;		/* position where the trouble is */
};

/* rs_perf_stream_init() - records from @pos to @end of the file. Return: 0; -ENOMEM. */
int rs_perf_stream_init(struct rs_perf_stream *s, const struct rs_input *in, uint64_t pos, uint64_t end, bool big);
void rs_perf_stream_release(struct rs_perf_stream *s);

/* What rs_perf_stream_next() does when the next record is not just there. */
bool rs_perf_stream_next_slow(struct rs_perf_stream *s, struct rs_perf_record *ret);

/* rs_perf_stream_next() - Return: false at the end; s->ended tells why. */
static inline bool rs_perf_stream_next(struct rs_perf_stream *s, struct rs_perf_record *ret)
{
	const uint8_t *p = s->buf + s->at;

	if (s->out || s->ended || s->len - s->at < 8)
		return rs_perf_stream_next_slow(s, ret);
	ret->data = p;
	ret->type = rs_load_u32(p, s->swap);
	ret->misc = rs_load_u16(p + 4, s->swap);
	ret->size = rs_load_u16(p + 6, s->swap);
	if (!ret->type || ret->type >= RS_PERF_USER || ret->size < 8 || ret->size > s->len - s->at)
		return rs_perf_stream_next_slow(s, ret);
	s->at += ret->size;
	ret->after = s->base + s->at;
	ret->expanded = false;
	return true;
}

/* rs_perf_stream_skip() - leave out @len bytes that follow a record and are none (AUX data, formats). */
void rs_perf_stream_skip(struct rs_perf_stream *s, uint64_t len);

/*
 * rs_perf_stream_resume() - after BAD_RECORD: go to the next end of a round, which is a recognisable pattern.
 * Return: false when there is none; *@ret_skipped: bytes left out.
 */
bool rs_perf_stream_resume(struct rs_perf_stream *s, uint64_t *ret_skipped);

#endif
