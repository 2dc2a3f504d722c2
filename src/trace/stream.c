// SPDX-License-Identifier: GPL-2.0-only
#include "trace/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_BYTES 65536u
#define HELD_MAX (1ull << 30)	/* of all cpus: a small file must not ask for more */

void rs_stream_init(struct rs_stream *s, struct rs_stream_shared *shared, const struct rs_dat_cpu *cpu)
{
	memset(s, 0, sizeof(*s));
	s->shared = shared;
	s->in = cpu->in ? cpu->in : shared->in;
	s->cpu = cpu->cpu;
	s->pages = cpu->pages;
	s->pos = cpu->off;
	s->end = cpu->off + cpu->size;
	s->missing = cpu->missing;
	s->cut = cpu->missing > 0;
}

void rs_stream_release(struct rs_stream *s)
{
	if (s->shared)
		s->shared->held_bytes -= s->room + s->spare_room[0] + s->spare_room[1];
	free(s->buf);
	free(s->spare[0]);
	free(s->spare[1]);
	s->buf = s->spare[0] = s->spare[1] = NULL;
	s->room = s->spare_room[0] = s->spare_room[1] = 0;
}

void rs_stream_shared_release(struct rs_stream_shared *shared)
{
	free(shared->packed);
	shared->packed = NULL;
	shared->packed_room = 0;
}

static void add_lost(struct rs_stream *s, uint64_t lost)
{
	if (!lost)
		return;
	if (lost == RS_PAGE_LOST_UNKNOWN || s->lost == RS_PAGE_LOST_UNKNOWN || s->lost > INT64_MAX)
		s->lost = RS_PAGE_LOST_UNKNOWN;
	else
		s->lost += lost;
}

static void add_damage(struct rs_stream *s)
{
	add_lost(s, RS_PAGE_LOST_UNKNOWN);
	s->lost_by_damage = true;
}

static bool make_room(struct rs_stream *s, size_t size)
{
	uint8_t *buf;

	if (size <= s->room)
		return true;
	if (s->shared->held_bytes + (size - s->room) > HELD_MAX)
		return false;
	buf = realloc(s->buf, size);
	if (!buf) {
		s->no_memory = true;
		return false;
	}
	s->shared->held_bytes += size - s->room;
	s->buf = buf;
	s->room = size;
	return true;
}

/* Another buffer to fill. */
static void rotate(struct rs_stream *s)
{
	uint8_t *buf = s->buf;
	size_t room = s->room;

	s->buf = s->spare[0];
	s->room = s->spare_room[0];
	s->spare[0] = s->spare[1];
	s->spare_room[0] = s->spare_room[1];
	s->spare[1] = buf;
	s->spare_room[1] = room;
	s->turns++;
	s->used = false;
}

static void end_early(struct rs_stream *s)
{
	s->cut = true;
	s->pos = s->end;
	s->chunks_left = 0;
}

/* The stamp of the page at @page, when it holds records. */
static bool stamp_of(const struct rs_stream *s, const uint8_t *page, uint64_t *ret_ts)
{
	uint32_t bytes;

	return rs_page_stamp(&s->shared->layout, page, ret_ts, &bytes) && bytes;
}

/* @len bytes at @pos of the data, within one page or whole pages. Return: bytes read. */
static size_t read_data(const struct rs_stream *s, uint64_t pos, uint8_t *buf, size_t len)
{
	size_t page = s->shared->layout.page_bytes, done = 0;

	if (!s->pages)
		return rs_input_read(s->in, pos, buf, len);
	while (done < len) {
		uint64_t idx = (pos + done) / page;
		size_t run = page;

		/* pages come in batches */
		while (done + run < len && s->pages[idx + run / page] == s->pages[idx] + run)
			run += page;
		if (run > len - done)
			run = len - done;
		if (rs_input_read(s->in, s->pages[idx], buf + done, run) != run)
			break;
		done += run;
	}
	return done;
}

/* As many whole pages as fit a batch. */
static bool fill_plain(struct rs_stream *s)
{
	size_t page = s->shared->layout.page_bytes;
	size_t want = page > BATCH_BYTES ? page : BATCH_BYTES / page * page;
	uint8_t head[16];

	if (s->end - s->pos < page) {
		if (s->end > s->pos)
			end_early(s);	/* a part of a page */
		return false;
	}
	if (want > s->end - s->pos)
		want = (size_t)((s->end - s->pos) / page * page);
	if (!make_room(s, want))
		return false;
	s->len = read_data(s, s->pos, s->buf, want) / page * page;
	s->pos += s->len;
	if (s->len < want)
		end_early(s);	/* the file became shorter */
	s->has_after = s->end - s->pos >= page && read_data(s, s->pos, head, sizeof(head)) == sizeof(head) &&
		       stamp_of(s, head, &s->after_ts);
	s->at = 0;
	return s->len > 0;
}

/* Read the next chunk. Return: 1 read; 0 skipped as damaged; -1 at the end. */
static int read_chunk(struct rs_stream *s)
{
	struct rs_stream_shared *sh = s->shared;
	uint32_t packed, size;
	uint8_t b[8];
	int rc;

	if (s->end - s->pos < 8 || rs_input_read(s->in, s->pos, b, 8) != 8) {
		end_early(s);
		return -1;
	}
	packed = rs_load_u32(b, sh->layout.swap);
	size = rs_load_u32(b + 4, sh->layout.swap);
	s->pos += 8;
	s->chunks_left--;
	if (packed > s->end - s->pos) {
		end_early(s);
		return -1;
	}
	if (packed > RS_DAT_MAX_CHUNK * 2 || !size || size > RS_DAT_MAX_CHUNK) {
		s->pos += packed;
		return 0;
	}
	if (packed > sh->packed_room) {
		uint8_t *room = realloc(sh->packed, packed);

		if (!room) {
			s->no_memory = true;
			return -1;
		}
		sh->packed = room;
		sh->packed_room = packed;
	}
	if (rs_input_read(s->in, s->pos, sh->packed, packed) != packed) {
		end_early(s);
		return -1;
	}
	s->pos += packed;
	if (!make_room(s, size))
		return s->no_memory ? -1 : 0;
	rc = rs_codec_expand(sh->codec, sh->packed, packed, s->buf, size);
	if (rc == -ENOMEM) {
		s->no_memory = true;
		return -1;
	}
	if (rc < 0)
		return 0;
	s->len = size / sh->layout.page_bytes * sh->layout.page_bytes;
	s->at = 0;
	return s->len ? 1 : 0;
}

static bool fill_chunk(struct rs_stream *s)
{
	uint8_t b[4];

	if (!s->begun) {
		s->begun = true;
		if (s->pos == s->end)
			return false;
		if (s->end - s->pos < 4 || rs_input_read(s->in, s->pos, b, 4) != 4) {
			end_early(s);
			return false;
		}
		s->chunks_left = rs_load_u32(b, s->shared->layout.swap);
		s->pos += 4;
	}
	while (s->chunks_left) {
		int rc = read_chunk(s);

		if (rc)
			return rc > 0;
		s->shared->bad_chunks++;
		add_damage(s);
		rs_note_damage(s->shared->notes, "CPU%u: the compressed chunk before byte %llu is damaged; its events are lost",
			       s->cpu, (unsigned long long)s->pos);
	}
	return false;
}

/* How late a record of the page now begun can be. A stamp that lies before what was read already is itself the damaged one. */
static uint64_t find_limit(const struct rs_stream *s)
{
	uint64_t ts = s->after_ts;
	bool known = s->at < s->len ? stamp_of(s, s->buf + s->at, &ts) : s->has_after;

	return known && ts >= s->ts && ts < UINT64_MAX - RS_STREAM_SLACK_NS ? ts + RS_STREAM_SLACK_NS : UINT64_MAX;
}

void rs_stream_give_up(struct rs_stream *s)
{
	uint64_t ts = s->page.ts, limit = s->limit_ts - RS_STREAM_SLACK_NS, lost = 1;
	uint32_t len;

	while (rs_page_next(&s->page, &len))
		lost++;
	add_lost(s, lost);
	s->lost_by_damage = true;
	rs_note_damage(s->shared->notes, "CPU%u: damaged time stamps: an event at %llu.%09llu s is before a page that begins at %llu.%09llu s; "
		       "%llu events are lost", s->cpu, (unsigned long long)(ts / 1000000000), (unsigned long long)(ts % 1000000000),
		       (unsigned long long)(limit / 1000000000), (unsigned long long)(limit % 1000000000), (unsigned long long)lost);
}

bool rs_stream_page(struct rs_stream *s)
{
	struct rs_stream_shared *sh = s->shared;

	if (s->page.corrupt) {
		s->page.corrupt = false;
		sh->bad_pages++;
		add_damage(s);
	}
	for (;;) {
		const uint8_t *page;

		if (s->at >= s->len) {
			s->at = s->len = 0;
			if (s->rotates && s->used)
				rotate(s);
			if (!(sh->codec == RS_CODEC_NONE ? fill_plain(s) : fill_chunk(s)))
				return false;
		}
		page = s->buf + s->at;
		s->at += sh->layout.page_bytes;
		if (rs_page_begin(&s->page, &sh->layout, page)) {
			add_lost(s, s->page.lost);
			s->limit_ts = find_limit(s);
			return true;
		}
		sh->bad_pages++;
		add_damage(s);
	}
}
