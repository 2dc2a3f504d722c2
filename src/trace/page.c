// SPDX-License-Identifier: GPL-2.0-only
#include "trace/page.h"

#include <errno.h>
#include <string.h>

#include <event-parse.h>
#include <kbuffer.h>

#include "base/room.h"
#include "trace/format.h"

#define PAGE_MIN 512u
#define PAGE_MAX (1u << 20)

#define HEADER_TIMES 32u	/* bytes that libtraceevent takes for each of header_page, at most */

#define STAMP_BYTES 8u		/* the commit word follows */

/* Flags and length share the commit word (kernel: RB_MISSED_EVENTS, RB_MISSED_STORED). */
#define COMMIT_LOST	(1u << 31)
#define COMMIT_COUNTED	(1u << 30)
#define COMMIT_BYTES	((1u << 27) - 1)

#define STAMP_BITS	59	/* of an absolute stamp; the others are those of the page's */

bool rs_page_layout_parse(struct rs_page_layout *ret, const char *header_page, uint32_t page_bytes)
{
	size_t len = strlen(header_page);
	struct tep_handle *tep;
	int commit_size, ts_size, size;

	errno = 0;
	if (len > RS_FORMAT_MAX)
		return false;
	tep = rs_room(len * HEADER_TIMES) ? rs_formats_new(ret->big) : NULL;
	if (!tep) {
		errno = ENOMEM;
		return false;
	}
	/* fields that are not found stay 0; the buffer is only read */
	tep_parse_header_page(tep, (char *)(uintptr_t)header_page, len, 0);
	ts_size = tep_get_header_timestamp_size(tep);
	commit_size = tep_get_header_page_size(tep);
	size = tep_get_sub_buffer_size(tep);
	tep_free(tep);
	errno = 0;
	if (!len || ts_size != STAMP_BYTES || (commit_size != 4 && commit_size != 8) || size <= 0)
		return false;
	if (!page_bytes)
		page_bytes = (uint32_t)size;
	if (page_bytes < PAGE_MIN || page_bytes > PAGE_MAX || page_bytes % 8)
		return false;
	ret->page_bytes = page_bytes;
	ret->commit_size = (uint16_t)commit_size;
	ret->data_offset = STAMP_BYTES + (uint32_t)commit_size;	/* where kbuffer takes it to be */
	return true;
}

/* A long of the recording. */
static uint64_t load_long(const struct rs_page_layout *layout, const uint8_t *p)
{
	return layout->commit_size == 8 ? rs_load_u64(p, layout->swap) : rs_load_u32(p, layout->swap);
}

/* Its upper half is 0, or the sign of the mark of a loss: some kernels (6.1) add that mark as an int, whose highest bit it is, to a long. */
static bool is_commit(uint64_t commit)
{
	return !(commit >> 32) || (commit >> 32 == UINT32_MAX && commit & COMMIT_LOST);
}

bool rs_page_stamp(const struct rs_page_layout *layout, const uint8_t *page, uint64_t *ret_ts, uint32_t *ret_bytes)
{
	uint64_t commit = load_long(layout, page + STAMP_BYTES);

	*ret_ts = rs_load_u64(page, layout->swap);
	*ret_bytes = (uint32_t)commit & COMMIT_BYTES;
	return is_commit(commit) && *ret_bytes <= layout->page_bytes - layout->data_offset;
}

bool rs_page_begin(struct rs_page *pg, const struct rs_page_layout *layout, const uint8_t *page)
{
	uint64_t commit = load_long(layout, page + STAMP_BYTES);
	const uint8_t *data = page + layout->data_offset;
	uint32_t bytes;

	memset(pg, 0, sizeof(*pg));
	if (!rs_page_stamp(layout, page, &pg->ts, &bytes))
		return false;
	pg->at = data;
	pg->end = data + bytes;
	pg->swap = layout->swap;
	pg->big = layout->big;
	if (!(commit & COMMIT_LOST))
		return true;
	pg->lost = RS_PAGE_LOST_UNKNOWN;
	if ((commit & COMMIT_COUNTED) && bytes + layout->commit_size <= layout->page_bytes - layout->data_offset) {
		uint64_t lost = load_long(layout, pg->end);

		if (lost && lost <= INT64_MAX)
			pg->lost = lost;
	}
	return true;
}

/* An absolute stamp lacks the highest bits, which are those of the stamp before it unless they just changed. */
static uint64_t whole_stamp(uint64_t before, uint64_t low)
{
	uint64_t high = before >> STAMP_BITS << STAMP_BITS;

	return high && (high | low) < before ? (high | low) + (1ull << STAMP_BITS) : high | low;
}

/* The rest of the page is empty, or (@corrupt) of no use. */
static const uint8_t *end_page(struct rs_page *pg, bool corrupt)
{
	pg->corrupt |= corrupt;
	pg->at = pg->end;
	return NULL;
}

const uint8_t *rs_page_other(struct rs_page *pg, uint32_t kind, uint32_t delta, uint32_t *ret_len)
{
	uint32_t left = (uint32_t)(pg->end - pg->at), word;
	const uint8_t *head = pg->at;

	if (kind == KBUFFER_TYPE_PADDING && !delta)
		return end_page(pg, false);
	if (left < 8)
		return end_page(pg, true);
	word = rs_load_u32(head + 4, pg->swap);
	pg->at += 8;
	if (kind == KBUFFER_TYPE_TIME_EXTEND) {
		pg->ts += delta + ((uint64_t)word << RS_PAGE_DELTA_BITS);
		return NULL;
	}
	if (kind == KBUFFER_TYPE_TIME_STAMP) {
		pg->ts = whole_stamp(pg->ts, (delta + ((uint64_t)word << RS_PAGE_DELTA_BITS)) & ((1ull << STAMP_BITS) - 1));
		return NULL;
	}
	/* data longer than its kind can tell, or a discarded record: the word counts itself and what follows, in bytes */
	if (word < (kind ? 4 : 8) || word > left - 4 || word % 4)
		return end_page(pg, true);
	pg->ts += delta;
	pg->at = head + 4 + word;
	*ret_len = word - 4;
	return kind ? NULL : head + 8;
}
