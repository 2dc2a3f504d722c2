// SPDX-License-Identifier: GPL-2.0-only
#include "capture/page_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Kernel: include/linux/ring_buffer.h, kernel/trace/ring_buffer.c */
#define TYPE_EXTEND	30u
#define DELTA_BITS	27
#define INLINE_MAX	112u	/* data whose length fits into the first word: 28 words */
#define MISSED_STORED	(1ull << 30)

int rs_page_writer_init(struct rs_page_writer *pw, unsigned int idx, uint32_t page_bytes, rs_page_sink sink, void *ctx)
{
	*pw = (struct rs_page_writer){ .sink = sink, .ctx = ctx, .idx = idx, .page_bytes = page_bytes };
	pw->batch = malloc((size_t)page_bytes * RS_PAGE_BATCH);
	return pw->batch ? 0 : -ENOMEM;
}

static uint8_t *page_of(struct rs_page_writer *pw)
{
	return pw->batch + (size_t)pw->full * pw->page_bytes;
}

static int hand_over(struct rs_page_writer *pw)
{
	if (pw->full && !pw->failure)
		pw->failure = pw->sink(pw->ctx, pw->idx, pw->batch, pw->full * pw->page_bytes);
	pw->full = 0;
	return pw->failure;
}

static void close_page(struct rs_page_writer *pw)
{
	uint8_t *page = page_of(pw);
	uint64_t commit;

	if (!pw->at)
		return;
	commit = pw->at - RS_PAGE_HEAD;
	memset(page + pw->at, 0, pw->page_bytes - pw->at);
	if (pw->gap) {
		commit |= RS_PAGE_MISSED;
		if (pw->lost && pw->page_bytes - pw->at >= sizeof(pw->lost)) {
			commit |= MISSED_STORED;
			memcpy(page + pw->at, &pw->lost, sizeof(pw->lost));
		}
		pw->lost = 0;
		pw->gap = false;
	}
	memcpy(page + 8, &commit, sizeof(commit));
	pw->at = 0;
	pw->full++;
	if (pw->full == RS_PAGE_BATCH)
		hand_over(pw);
}

static void begin_page(struct rs_page_writer *pw, uint64_t ts_ns)
{
	memcpy(page_of(pw), &ts_ns, sizeof(ts_ns));
	pw->at = RS_PAGE_HEAD;
	pw->ts_ns = ts_ns;
}

static void put_word(struct rs_page_writer *pw, uint32_t word)
{
	memcpy(page_of(pw) + pw->at, &word, sizeof(word));
	pw->at += sizeof(word);
}

uint8_t *rs_page_writer_event(struct rs_page_writer *pw, uint64_t ts_ns, uint32_t len)
{
	uint32_t room = (len + 3) & ~3u, need = room + (room > INLINE_MAX ? 8 : 4);
	/* a page with a loss keeps room for its number */
	uint32_t end = pw->page_bytes - (pw->lost ? (uint32_t)sizeof(pw->lost) : 0);
	uint64_t delta;
	uint8_t *data;

	if (pw->failure)
		return NULL;
	if (ts_ns < pw->ts_ns)
		ts_ns = pw->ts_ns;
	delta = ts_ns - pw->ts_ns;
	if (pw->at && (delta >> (DELTA_BITS + 32) || pw->at + need + 8 > end))
		close_page(pw);
	if (pw->failure)
		return NULL;
	if (!pw->at) {
		begin_page(pw, ts_ns);
		delta = 0;
	}
	if (delta >> DELTA_BITS) {
		put_word(pw, TYPE_EXTEND | (uint32_t)delta << 5);
		put_word(pw, (uint32_t)(delta >> DELTA_BITS));
		delta = 0;
	}
	if (room > INLINE_MAX) {
		put_word(pw, (uint32_t)delta << 5);
		put_word(pw, room + 4);
	} else {
		put_word(pw, room / 4 | (uint32_t)delta << 5);
	}
	pw->ts_ns = ts_ns;
	data = page_of(pw) + pw->at;
	memset(data, 0, room);
	pw->at += room;
	return data;
}

void rs_page_writer_lost(struct rs_page_writer *pw, uint64_t count)
{
	close_page(pw);
	/* a number and an unknown number make an unknown number */
	pw->lost = count && (pw->lost || !pw->gap) ? pw->lost + count : 0;
	pw->gap = true;
}

int rs_page_writer_push(struct rs_page_writer *pw, uint64_t before_ns)
{
	uint8_t *page = page_of(pw);
	uint64_t began_ns;
	int rc;

	if (pw->at) {
		memcpy(&began_ns, page, sizeof(began_ns));
		if (began_ns < before_ns)
			close_page(pw);
	}
	rc = hand_over(pw);
	if (pw->at && page != pw->batch)
		memmove(pw->batch, page, pw->at);
	return rc;
}

int rs_page_writer_flush(struct rs_page_writer *pw)
{
	if (pw->gap && !pw->at)
		begin_page(pw, pw->ts_ns);
	close_page(pw);
	return hand_over(pw);
}

void rs_page_writer_release(struct rs_page_writer *pw)
{
	free(pw->batch);
	memset(pw, 0, sizeof(*pw));
}
