// SPDX-License-Identifier: GPL-2.0-only
#include "trace/perf_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#define HEADER 8u
#define OUT_BYTES (256u << 10)	/* more than the largest record */

int rs_perf_stream_init(struct rs_perf_stream *s, const struct rs_input *in, uint64_t pos, uint64_t end, bool big)
{
	memset(s, 0, sizeof(*s));
	s->in = in;
	s->big = big;
	s->swap = big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	s->base = pos;
	s->end = end < in->size ? end : in->size;
	s->buf = malloc(RS_PERF_BLOCK);
	return s->buf ? 0 : -ENOMEM;
}

void rs_perf_stream_release(struct rs_perf_stream *s)
{
	free(s->buf);
	free(s->out);
	ZSTD_freeDStream(s->unpacker);
	memset(s, 0, sizeof(*s));
}

static bool stop(struct rs_perf_stream *s, enum rs_perf_end why)
{
	s->ended = why;
	s->ended_at = s->base + s->at;
	return false;
}

/* Make @need bytes from buf[at] on available. Return: false when the file has fewer. */
static bool fill(struct rs_perf_stream *s, size_t need)
{
	uint64_t pos, left;
	size_t room, got;

	if (s->len - s->at >= need)
		return true;
	if (need > RS_PERF_BLOCK)
		return false;
	memmove(s->buf, s->buf + s->at, s->len - s->at);
	s->base += s->at;
	s->len -= s->at;
	s->at = 0;
	pos = s->base + s->len;
	left = pos < s->end ? s->end - pos : 0;
	room = RS_PERF_BLOCK - s->len;
	got = rs_input_read(s->in, pos, s->buf + s->len, left < room ? (size_t)left : room);
	s->len += got;
	return s->len >= need;
}

static void parse_header(const struct rs_perf_stream *s, const uint8_t *p, struct rs_perf_record *rec)
{
	rec->data = p;
	rec->type = rs_load_u32(p, s->swap);
	rec->misc = rs_load_u16(p + 4, s->swap);
	rec->size = rs_load_u16(p + 6, s->swap);
	if (rec->type >= RS_PERF_SIMPLEPERF)
		rec->size |= (uint32_t)rec->misc << 16;
}

/* Begin to expand a compressed record. Return: false when it cannot be. */
static bool unpack_begin(struct rs_perf_stream *s, const struct rs_perf_record *rec)
{
	size_t skip = HEADER, len = rec->size - HEADER;

	if (rec->type == RS_PERF_COMPRESSED2) {	/* a length, then padding at the end */
		uint64_t told;

		if (len < 8)
			return false;
		told = rs_load_u64(rec->data + HEADER, s->swap);
		if (told > len - 8)
			return false;
		skip = HEADER + 8;
		len = (size_t)told;
	}
	if (!s->out)
		s->out = malloc(OUT_BYTES);
	if (!s->unpacker)
		s->unpacker = ZSTD_createDStream();
	if (!s->out || !s->unpacker) {
		s->ended = RS_PERF_NO_MEMORY;
		return false;
	}
	s->packed = rec->data + skip;
	s->packed_left = len;
	s->packed_more = true;
	return true;
}

/* Expand some more. Return: false: the data is damaged. */
static bool unpack_some(struct rs_perf_stream *s)
{
	ZSTD_inBuffer in = { s->packed, s->packed_left, 0 };
	ZSTD_outBuffer out;
	size_t rc;

	memmove(s->out, s->out + s->out_at, s->out_len - s->out_at);
	s->out_len -= s->out_at;
	s->out_at = 0;
	out = (ZSTD_outBuffer){ s->out, OUT_BYTES, s->out_len };
	rc = ZSTD_decompressStream(s->unpacker, &out, &in);
	if (ZSTD_isError(rc))
		return false;
	s->packed += in.pos;
	s->packed_left -= in.pos;
	s->packed_more = s->packed_left || out.pos == OUT_BYTES;
	if (!in.pos && out.pos == s->out_len && s->packed_left)
		return false;	/* no progress */
	s->out_len = out.pos;
	return true;
}

/* A whole record of expanded data. Return: 1; 0: none; -1: damaged. */
static int expanded(struct rs_perf_stream *s, struct rs_perf_record *rec)
{
	for (;;) {
		size_t have = s->out_len - s->out_at;

		if (have >= HEADER) {
			parse_header(s, s->out + s->out_at, rec);
			if (rec->size < HEADER || rec->size > OUT_BYTES || rec->type == RS_PERF_COMPRESSED || rec->type == RS_PERF_COMPRESSED2)
				return -1;
			if (have >= rec->size) {
				rec->expanded = true;
				rec->after = s->base + s->at;
				s->out_at += rec->size;
				return 1;
			}
		}
		if (!s->packed_more)
			return 0;
		if (!unpack_some(s))
			return -1;
	}
}

bool rs_perf_stream_next_slow(struct rs_perf_stream *s, struct rs_perf_record *rec)
{
	if (s->ended)
		return false;
	for (;;) {
		if (s->out) {
			int rc = expanded(s, rec);

			if (rc)
				return rc > 0 || stop(s, RS_PERF_BAD_PACKED);
		}
		if (!fill(s, HEADER))
			return stop(s, s->len == s->at ? s->out_len > s->out_at ? RS_PERF_CUT : RS_PERF_DONE : RS_PERF_CUT);
		parse_header(s, s->buf + s->at, rec);
		if (rec->size < HEADER || !rec->type)
			return stop(s, RS_PERF_BAD_RECORD);
		if (rec->size > RS_PERF_BLOCK) {	/* simpleperf's; nothing that we need is so long */
			rs_perf_stream_skip(s, rec->size);
			continue;
		}
		if (!fill(s, rec->size))
			return stop(s, RS_PERF_CUT);
		rec->data = s->buf + s->at;
		rec->expanded = false;
		s->at += rec->size;
		rec->after = s->base + s->at;
		if (rec->type != RS_PERF_COMPRESSED && rec->type != RS_PERF_COMPRESSED2)
			return true;
		if (!unpack_begin(s, rec))
			return s->ended ? false : stop(s, RS_PERF_BAD_PACKED);
	}
}

void rs_perf_stream_skip(struct rs_perf_stream *s, uint64_t len)
{
	size_t have = s->len - s->at;

	if (len <= have) {
		s->at += (size_t)len;
		return;
	}
	len -= have;
	s->base += s->len;
	s->at = s->len = 0;
	if (len > s->end || s->base > s->end - len) {
		s->base = s->end;
		stop(s, RS_PERF_CUT);
	} else {
		s->base += len;
	}
}

bool rs_perf_stream_resume(struct rs_perf_stream *s, uint64_t *ret_skipped)
{
	static const uint8_t little[HEADER] = { RS_PERF_FINISHED_ROUND, 0, 0, 0, 0, 0, HEADER, 0 };
	static const uint8_t big[HEADER] = { 0, 0, 0, RS_PERF_FINISHED_ROUND, 0, 0, 0, HEADER };
	uint64_t from = s->base + s->at;

	while (fill(s, HEADER)) {
		const uint8_t *hit = memmem(s->buf + s->at, s->len - s->at, s->big ? big : little, HEADER);

		if (hit) {
			s->at = (size_t)(hit - s->buf);
			s->ended = RS_PERF_MORE;
			*ret_skipped = s->base + s->at - from;
			return true;
		}
		s->at = s->len - (HEADER - 1);
		if (s->base + s->len >= s->end)
			break;
	}
	return false;
}
