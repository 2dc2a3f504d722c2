/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The records of one cpu, page after page, from plain pages or compressed chunks. Holds one batch of pages (64 KiB) or one
 * chunk, however long the recording is. What is damaged is skipped, counted, and shows as a loss before the next record.
 */
#ifndef RS_TRACE_STREAM_H
#define RS_TRACE_STREAM_H

#include "trace/dat.h"
#include "trace/page.h"

/*
 * The ring buffer of one cpu is in time order, so that a page whose records run past the stamp of the next one has a damaged
 * stamp or delta; it is cut there. Kernels before 5.8 misplace an event that an interrupt got ahead of, by as long as that took.
 */
#define RS_STREAM_SLACK_NS 1000000u

/* What all streams of a recording share. */
struct rs_stream_shared {
	const struct rs_input *in;
	struct rs_notes *notes;
	struct rs_page_layout layout;
	enum rs_codec codec;		/* NONE: plain pages */
	uint8_t *packed;		/* one compressed chunk, used by one stream at a time */
	size_t packed_room;
	uint64_t held_bytes;		/* memory of all streams */
	uint64_t bad_pages, bad_chunks;
};

struct rs_stream {
	struct rs_stream_shared *shared;
	const struct rs_input *in;
	uint32_t cpu;
	uint64_t pos, end;		/* unread part of the file, or of the data when @pages */
	const uint64_t *pages;		/* where in the file each page of the data is; NULL: one behind the other */
	uint64_t missing;		/* bytes the file lacks */
	uint32_t chunks_left;
	bool begun;
	bool cut;			/* ended before it should */
	uint8_t *buf;
	size_t room, len, at;
	/* With @rotates, a buffer of which records are still @used is kept for two more turns. */
	bool rotates, used;
	uint64_t turns;
	uint8_t *spare[2];
	size_t spare_room[2];
	bool has_after;
	uint64_t after_ts;		/* stamp of the page behind those in @buf */
	struct rs_page page;
	uint64_t ts;			/* of the record last returned */
	uint64_t limit_ts;		/* no record of this page can be later */
	uint64_t lost;			/* events lost before it: 0, a number, RS_PAGE_LOST_UNKNOWN; the reader of it clears it */
	bool lost_by_damage;		/* part of @lost is due to damage of the file; cleared with it */
	bool no_memory;
};

void rs_stream_init(struct rs_stream *s, struct rs_stream_shared *shared, const struct rs_dat_cpu *cpu);
void rs_stream_release(struct rs_stream *s);
void rs_stream_shared_release(struct rs_stream_shared *shared);

/* rs_stream_page() - go to the next page with records. Return: false at the end. */
bool rs_stream_page(struct rs_stream *s);

/* rs_stream_give_up() - the record just read cannot be where its page says: lose it and the rest of the page. */
void rs_stream_give_up(struct rs_stream *s);

/* rs_stream_next() - data of the next record, valid until the next call; NULL at the end (or s->no_memory). */
static inline const uint8_t *rs_stream_next(struct rs_stream *s, uint32_t *ret_len)
{
	for (;;) {
		const uint8_t *data = rs_page_next(&s->page, ret_len);

		if (data && s->page.ts <= s->limit_ts) {
			s->ts = s->page.ts;
			return data;
		}
		if (data)
			rs_stream_give_up(s);
		if (!rs_stream_page(s))
			return NULL;
	}
}

#endif
