/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Going through the records of a ring buffer page without looking into them: where each is and when. For pages of this machine, fresh
 * from the kernel or from the page writer; those of files are read by trace/page.h. Layout and times as kbuffer takes them:
 * kernel/trace/ring_buffer.c, enum ring_buffer_type.
 */
#ifndef RS_CAPTURE_PAGE_WALK_H
#define RS_CAPTURE_PAGE_WALK_H

#include <stdbool.h>
#include <stdint.h>

#define RS_PAGE_DATA 16u	/* time stamp, and commit as a 64 bit word */
#define RS_PAGE_MISSED (1ull << 31)	/* flags of the commit word */
#define RS_PAGE_STORED (1ull << 30)
#define RS_PAGE_BYTES ((1ull << 27) - 1)

struct rs_page_walk {
	const uint8_t *page;
	uint32_t at, end;	/* next record; end of the data: offsets in the page */
	uint64_t ts_ns;		/* of the record last passed; at first that of the page */
};

/* rs_page_walk_begin() - Return: false when the page's head makes no sense. */
bool rs_page_walk_begin(struct rs_page_walk *walk, const uint8_t *page, uint32_t page_bytes);

/* rs_page_walk_next() - pass one event, with the time stamps before it. Return: false at the end of what is whole. */
bool rs_page_walk_next(struct rs_page_walk *walk);

#endif
