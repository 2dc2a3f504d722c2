/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ring buffer pages written by us, as the kernel would have: for events that did not come out of the
 * kernel's own ring buffer.
 *
 * One writer a cpu. Times must not go back; one that does is lifted to the time before it. A loss
 * closes the page, because the mark of a loss stands at the head of the page that follows it.
 * Format: header_page and header_event in tracefs' events folder.
 */
#ifndef RS_CAPTURE_PAGE_WRITER_H
#define RS_CAPTURE_PAGE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

/* Takes @bytes of whole pages. Return: 0; -errno, which ends the writing. */
typedef int (*rs_page_sink)(void *ctx, unsigned int idx, const void *pages, uint32_t bytes);

struct rs_page_writer {
	rs_page_sink sink;
	void *ctx;
	unsigned int idx;	/* passed to @sink */
	uint32_t page_bytes;
	uint8_t *batch;		/* RS_PAGE_BATCH pages */
	uint32_t full;		/* pages of the batch that are closed */
	uint32_t at;		/* next free byte of the page after them; 0: not begun */
	uint64_t ts_ns;		/* of the last event */
	uint64_t lost;		/* to be told at the head of the next page; 0: their number is not known */
	bool gap;		/* there is a loss to be told */
	int failure;		/* negative errno of the sink, sticky */
};

#define RS_PAGE_MISSED (1ull << 31)	/* in the commit word: events were lost before the page; kernel: RB_MISSED_EVENTS */
#define RS_PAGE_BATCH 16u
#define RS_PAGE_HEAD 16u	/* time stamp, and commit as a 64 bit word */

/* rs_page_writer_init() - Return: 0; -ENOMEM. */
int rs_page_writer_init(struct rs_page_writer *pw, unsigned int idx, uint32_t page_bytes, rs_page_sink sink, void *ctx);

/*
 * rs_page_writer_event() - room for an event's data, zeroed, to be filled before the next call.
 * @len: 1 to a quarter of a page
 * Return: NULL once the sink failed.
 */
uint8_t *rs_page_writer_event(struct rs_page_writer *pw, uint64_t ts_ns, uint32_t len);

/* rs_page_writer_lost() - @count events were lost between the last event and the next; 0: nobody knows how many. A loss with no
 * event behind it is told by an empty page. */
void rs_page_writer_lost(struct rs_page_writer *pw, uint64_t count);

/* rs_page_writer_push() - hand over the pages that are closed, and close the one under construction first if it began before
 * @before_ns. Return: 0; -errno of the sink. */
int rs_page_writer_push(struct rs_page_writer *pw, uint64_t before_ns);

/* rs_page_writer_flush() - hand over what is there, the page under construction included. Return: 0; -errno of the sink. */
int rs_page_writer_flush(struct rs_page_writer *pw);

void rs_page_writer_release(struct rs_page_writer *pw);

#endif
