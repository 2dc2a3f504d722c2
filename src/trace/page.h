/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One sub-buffer ("page") of the kernel's ring buffer: a time stamp, the number of bytes written, records, each checked as it is passed:
 * what does not fit ends the page. Layout and times: kernel/trace/ring_buffer.c, struct buffer_data_page, enum ring_buffer_type,
 * rb_event_length() and rb_fix_abs_ts(), unchanged since 2.6.31 but for absolute stamps (4.17).
 */
#ifndef RS_TRACE_PAGE_H
#define RS_TRACE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/input.h"

#define RS_PAGE_LOST_UNKNOWN UINT64_MAX

/* What a recording says of its pages: its byte order and the text of header_page. */
struct rs_page_layout {
	uint32_t page_bytes;		/* whole page */
	uint32_t data_offset;		/* of the first record: after the stamp and the commit word */
	uint16_t commit_size;		/* 4 or 8: the kernel's long */
	bool swap;			/* not this machine's byte order */
	bool big;			/* the recording is big endian: bit fields are the other way round */
};

/*
 * rs_page_layout_parse() - read header_page with libtraceevent; @ret has its byte order set, @page_bytes 0 takes the
 * size that header_page tells. Return: false when it makes no sense, or with errno ENOMEM.
 */
bool rs_page_layout_parse(struct rs_page_layout *ret, const char *header_page, uint32_t page_bytes);

/* A zeroed one is at the end of an empty page. */
struct rs_page {
	const uint8_t *at, *end;	/* next record; end of what was committed */
	uint64_t ts;			/* of the last record read, at first that of the page */
	uint64_t lost;			/* events lost before this page: 0, a number, RS_PAGE_LOST_UNKNOWN */
	bool swap, big;			/* as in the layout */
	bool corrupt;			/* a record ran over the end; the rest of the page was given up */
};

/*
 * rs_page_begin() - start on the page at @page (layout->page_bytes bytes), which must stay until the next begin.
 * Return: false when its header is impossible.
 */
bool rs_page_begin(struct rs_page *pg, const struct rs_page_layout *layout, const uint8_t *page);

/* The head of a record: its kind, and the time since the one before it. */
#define RS_PAGE_DELTA_BITS	27
#define RS_PAGE_DELTA_MAX	((1u << RS_PAGE_DELTA_BITS) - 1)
#define RS_PAGE_DATA_WORDS	28u	/* kinds 1 to 28 are data of so many words; the others: page.c */

/* What rs_page_next() does with the record at pg->at when it is not short data. NULL: it was none of data, or ends the page. */
const uint8_t *rs_page_other(struct rs_page *pg, uint32_t kind, uint32_t delta, uint32_t *ret_len);

/* rs_page_next() - the next record: its data (at least 4 bytes), their number and pg->ts. Return: NULL at the end of the page. */
static inline const uint8_t *rs_page_next(struct rs_page *pg, uint32_t *ret_len)
{
	while (pg->end - pg->at >= 4) {
		const uint8_t *data = pg->at + 4;
		uint32_t word = rs_load_u32(pg->at, pg->swap);
		uint32_t kind = pg->big ? word >> RS_PAGE_DELTA_BITS : word & 31;
		uint32_t delta = pg->big ? word & RS_PAGE_DELTA_MAX : word >> (32 - RS_PAGE_DELTA_BITS);

		if (kind - 1 >= RS_PAGE_DATA_WORDS) {
			data = rs_page_other(pg, kind, delta, ret_len);
			if (data)
				return data;
			continue;
		}
		if (kind * 4 > (size_t)(pg->end - data))
			break;
		pg->ts += delta;
		pg->at = data + kind * 4;
		*ret_len = kind * 4;
		return data;
	}
	pg->corrupt |= pg->at != pg->end;
	pg->at = pg->end;
	return NULL;
}

/* rs_page_stamp() - the time stamp of a page and, in *@ret_bytes, its bytes of records. Return: false when impossible. */
bool rs_page_stamp(const struct rs_page_layout *layout, const uint8_t *page, uint64_t *ret_ts, uint32_t *ret_bytes);

#endif
