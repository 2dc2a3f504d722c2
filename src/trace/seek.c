// SPDX-License-Identifier: GPL-2.0-only
#include "trace/seek.h"

#include <errno.h>
#include <stdlib.h>

#define LOOK_PAGES 256u		/* so many pages without a stamp are passed over in one place */

/* One cpu while it is searched. */
struct search {
	struct rs_stream_shared *sh;
	const struct rs_input *in;
	const uint64_t *pages;		/* of the cpu: where each page is */
	uint64_t nr;			/* pages, or chunks */
	uint32_t promised;		/* chunks that there should be */
	uint64_t begin;			/* of the first page */
	uint64_t *chunks;		/* where each head is; NULL: plain pages */
	uint8_t *page;			/* a chunk that is expanded */
	size_t room;
	bool no_memory;
};

static bool read_head(const struct search *f, uint64_t pos, uint32_t *ret_packed, uint32_t *ret_size)
{
	uint8_t b[8];

	if (rs_input_read(f->in, pos, b, sizeof(b)) != sizeof(b))
		return false;
	*ret_packed = rs_load_u32(b, f->sh->layout.swap);
	*ret_size = rs_load_u32(b + 4, f->sh->layout.swap);
	return true;
}

/* The heads of all chunks. Return: 0; -ENODATA; -ENOMEM. */
static int list_chunks(struct search *f, const struct rs_dat_cpu *cpu)
{
	uint64_t pos = cpu->off + 4, end = cpu->off + cpu->size, room = 0;
	uint32_t packed, size;
	uint8_t b[4];

	if (cpu->size < 4 || rs_input_read(f->in, cpu->off, b, sizeof(b)) != sizeof(b))
		return -ENODATA;
	f->promised = rs_load_u32(b, f->sh->layout.swap);
	while (f->nr < f->promised && end - pos >= 8 && read_head(f, pos, &packed, &size) && packed <= end - pos - 8) {
		if (f->nr == room) {
			uint64_t *more = realloc(f->chunks, (size_t)(room = room ? room * 2 : 1024) * sizeof(*more));

			if (!more)
				return -ENOMEM;
			f->chunks = more;
		}
		f->chunks[f->nr++] = pos;
		pos += 8 + packed;
	}
	return f->nr ? 0 : -ENODATA;
}

/* The chunk at @pos into f->page. Return: bytes; 0: damaged. */
static size_t expand(struct search *f, uint64_t pos)
{
	struct rs_stream_shared *sh = f->sh;
	uint32_t packed, size;
	int rc;

	if (!read_head(f, pos, &packed, &size) || !size || size > RS_DAT_MAX_CHUNK || packed > RS_DAT_MAX_CHUNK * 2)
		return 0;
	if (packed > sh->packed_room) {
		uint8_t *room = realloc(sh->packed, packed);

		f->no_memory |= !room;
		if (!room)
			return 0;
		sh->packed = room;
		sh->packed_room = packed;
	}
	if (size > f->room) {
		uint8_t *room = realloc(f->page, size);

		f->no_memory |= !room;
		if (!room)
			return 0;
		f->page = room;
		f->room = size;
	}
	if (rs_input_read(f->in, pos + 8, sh->packed, packed) != packed)
		return 0;
	rc = rs_codec_expand(sh->codec, sh->packed, packed, f->page, size);
	f->no_memory |= rc == -ENOMEM;
	return rc < 0 ? 0 : size;
}

/* The stamp of the first page with records, in the @i-th page or chunk. */
static bool stamp_of(struct search *f, uint64_t i, uint64_t *ret_ts)
{
	const struct rs_page_layout *layout = &f->sh->layout;
	uint8_t head[16];
	uint32_t bytes;

	if (f->chunks) {
		size_t size = expand(f, f->chunks[i]);

		for (size_t at = 0; at + layout->page_bytes <= size; at += layout->page_bytes) {
			if (rs_page_stamp(layout, f->page + at, ret_ts, &bytes) && bytes)
				return true;
		}
		return false;
	}
	return rs_input_read(f->in, f->pages ? f->pages[i] : f->begin + i * layout->page_bytes, head, sizeof(head)) == sizeof(head) &&
	       rs_page_stamp(layout, head, ret_ts, &bytes) && bytes;
}

/* The last of those that begin at or before @ts; 0 when none does. */
static uint64_t halve(struct search *f, uint64_t ts)
{
	uint64_t low = 0, high = f->nr;

	while (high - low > 1) {
		uint64_t mid = low + (high - low) / 2, at = mid, stamp = 0;
		uint64_t look = f->chunks ? 4 : LOOK_PAGES;

		while (at < high && at - mid < look && !stamp_of(f, at, &stamp))
			at++;
		if (at < high && at - mid < look && stamp <= ts)
			low = mid;
		else
			high = mid;
	}
	return low;
}

int rs_seek(struct rs_stream_shared *sh, const struct rs_dat_cpu *cpu, uint64_t ts, struct rs_place *ret)
{
	struct search f = { .sh = sh, .in = cpu->in ? cpu->in : sh->in, .begin = cpu->off, .pages = cpu->pages };
	uint64_t i;
	int rc = 0;

	if (sh->codec == RS_CODEC_NONE)
		f.nr = cpu->size / sh->layout.page_bytes;
	else
		rc = list_chunks(&f, cpu);
	if (rc == 0 && !f.nr)
		rc = -ENODATA;
	if (rc == 0) {
		i = halve(&f, ts);
		ret->pos = f.chunks ? f.chunks[i] : f.begin + i * sh->layout.page_bytes;
		ret->chunks_left = f.chunks ? f.promised - (uint32_t)i : 0;
	}
	if (f.no_memory)
		rc = -ENOMEM;
	free(f.chunks);
	free(f.page);
	return rc;
}

void rs_seek_go(struct rs_stream *s, const struct rs_place *place)
{
	s->pos = place->pos;
	s->begun = s->shared->codec != RS_CODEC_NONE;
	s->chunks_left = place->chunks_left;
}
