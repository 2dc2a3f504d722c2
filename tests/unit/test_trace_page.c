// SPDX-License-Identifier: GPL-2.0-only
/* Pages of the ring buffer: good ones against what was put into them, damaged and impossible ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <kbuffer.h>

#include "trace/page.h"

#define PAGE 4096u

static const char header_64[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
static const char header_32[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\tfield: char data;\toffset:12;\tsize:4084;\tsigned:0;\n";

static uint64_t rnd(uint64_t *s)
{
	*s = *s * 6364136223846793005ull + 1442695040888963407ull;
	return *s >> 33;
}

struct record { uint32_t at, len; uint64_t ts; };

struct builder {
	uint8_t *page;
	uint32_t at, limit;
	bool big;
	uint64_t ts;
	unsigned int nr;
	struct record records[PAGE / 8];	/* what a reader must find */
};

static void put32(struct builder *b, uint32_t v)
{
	if (b->big)
		v = __builtin_bswap32(v);
	memcpy(b->page + b->at, &v, 4);
	b->at += 4;
}

static void put_head(struct builder *b, uint32_t type, uint32_t delta)
{
	put32(b, b->big ? type << 27 | delta : delta << 5 | type);
}

static void put_data(struct builder *b, uint32_t len, uint32_t delta)
{
	b->ts += delta;
	b->records[b->nr++] = (struct record){ .at = b->at, .len = len, .ts = b->ts };
	memset(b->page + b->at, (int)len, len);
	b->at += len;
}

/* Records of every kind until the page is nearly full. */
static void fill(struct builder *b, uint64_t *s)
{
	while (b->at + 160 < b->limit) {
		uint32_t delta = (uint32_t)rnd(s) & ((1u << 27) - 1), n;

		switch (rnd(s) % 8) {
		case 0:		/* long: length in bytes */
			n = 4 + (uint32_t)(1 + rnd(s) % 30) * 4;
			put_head(b, 0, delta);
			put32(b, n);
			put_data(b, n - 4, delta);
			break;
		case 1:		/* time extend */
			n = (uint32_t)rnd(s) & 0xff;
			put_head(b, 30, delta);
			put32(b, n);
			b->ts += delta + ((uint64_t)n << 27);
			break;
		case 2:		/* discarded */
			n = (uint32_t)(1 + rnd(s) % 8) * 4;
			put_head(b, 29, delta | 1);
			put32(b, n);
			b->at += n - 4;
			b->ts += delta | 1;
			break;
		default:
			n = 1 + (uint32_t)rnd(s) % 28;
			put_head(b, n, delta);
			put_data(b, n * 4, delta);
			break;
		}
	}
}

static void store(uint8_t *p, uint64_t v, size_t size, bool big)
{
	for (size_t i = 0; i < size; i++)
		p[big ? size - 1 - i : i] = (uint8_t)(v >> (8 * i));
}

static struct rs_page_layout layout_of(bool big, bool is_32)
{
	struct rs_page_layout layout = { .big = big, .swap = big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) };

	assert_true(rs_page_layout_parse(&layout, is_32 ? header_32 : header_64, PAGE));
	return layout;
}

static void expect_records(struct rs_page *pg, const struct builder *b)
{
	uint32_t len;

	for (unsigned int i = 0; i < b->nr; i++) {
		assert_ptr_equal(rs_page_next(pg, &len), b->page + b->records[i].at);
		assert_int_equal(pg->ts, b->records[i].ts);
		assert_int_equal(len, b->records[i].len);
	}
	assert_null(rs_page_next(pg, &len));
	assert_null(rs_page_next(pg, &len));
}

/* libtraceevent finds the same records in an undamaged page. */
static void expect_same_as_kbuffer(const struct rs_page_layout *layout, const struct builder *b)
{
	struct kbuffer *kbuf = kbuffer_alloc(layout->commit_size == 8 ? KBUFFER_LSIZE_8 : KBUFFER_LSIZE_4,
					     layout->big ? KBUFFER_ENDIAN_BIG : KBUFFER_ENDIAN_LITTLE);
	unsigned long long ts;
	const uint8_t *data;
	unsigned int n = 0;

	assert_non_null(kbuf);
	assert_int_equal(kbuffer_load_subbuffer(kbuf, b->page), 0);
	for (data = kbuffer_read_event(kbuf, &ts); data; data = kbuffer_next_event(kbuf, &ts)) {
		assert_true(n < b->nr);
		assert_ptr_equal(data, b->page + b->records[n].at);
		assert_int_equal(ts, b->records[n].ts);
		assert_int_equal(kbuffer_event_size(kbuf), b->records[n++].len);
	}
	assert_int_equal(n, b->nr);
	kbuffer_free(kbuf);
}

static void good_pages(bool big, bool is_32)
{
	struct rs_page_layout layout = layout_of(big, is_32);
	struct builder *b = malloc(sizeof(*b));
	uint8_t *page = malloc(PAGE);	/* exactly a page: the sanitizer sees a read past it */
	uint64_t s = 1 + big * 2 + is_32;
	unsigned int records = 0;
	struct rs_page pg = { 0 };

	for (unsigned int round = 0; round < 200; round++) {
		uint64_t lost = rnd(&s) % 4 ? 0 : 1 + rnd(&s) % 1000, mark = lost ? 3u << 30 : 0;

		*b = (struct builder){ .page = page, .at = layout.data_offset, .limit = PAGE, .big = big, .ts = rnd(&s) << 20 };
		memset(page, 0, PAGE);
		store(page, b->ts, 8, big);
		fill(b, &s);
		if (lost && rnd(&s) % 2)
			mark |= 0xffffffffull << 32;	/* as 6.1 writes it */
		store(page + 8, (b->at - layout.data_offset) | mark, layout.commit_size, big);
		store(page + b->at, lost, layout.commit_size, big);
		assert_true(rs_page_begin(&pg, &layout, page));
		assert_int_equal(pg.lost, lost);
		assert_false(pg.corrupt);
		expect_records(&pg, b);
		assert_false(pg.corrupt);
		store(page + 8, b->at - layout.data_offset, layout.commit_size, big);	/* kbuffer reads a loss its own way */
		expect_same_as_kbuffer(&layout, b);
		records += b->nr;
	}
	assert_true(records > 1000);
	free(page);
	free(b);
}

static void little_64(void **state) { (void)state; good_pages(false, false); }
static void little_32(void **state) { (void)state; good_pages(false, true); }
static void big_64(void **state) { (void)state; good_pages(true, false); }
static void big_32(void **state) { (void)state; good_pages(true, true); }

static void absolute_stamp(void **state)
{
	struct rs_page_layout layout = layout_of(false, false);
	static uint8_t page[PAGE] __attribute__((aligned(8)));
	struct builder b = { .page = page, .at = 16, .limit = PAGE };
	uint64_t ts = 0x123456789abcdull, msb = 5ull << 59;	/* a stamp has the 59 low bits only */
	struct rs_page pg = { 0 };

	(void)state;
	put_head(&b, 31, (uint32_t)(ts & ((1u << 27) - 1)));
	put32(&b, (uint32_t)(ts >> 27));
	b.ts = msb | ts;
	put_head(&b, 1, 5);
	put_data(&b, 4, 5);
	store(page, msb | 1000, 8, false);
	store(page + 8, b.at - 16, 8, false);
	assert_true(rs_page_begin(&pg, &layout, page));
	expect_records(&pg, &b);
	expect_same_as_kbuffer(&layout, &b);
}

/* A number of lost events is told although a stamp comes first, when it is large, and not when there is no room for it. */
static void losses(void **state)
{
	static const struct { uint64_t stored, lost; bool full; } rows[] = {
		{ 7, 7, false }, { 1ull << 32, 1ull << 32, false }, { 0, RS_PAGE_LOST_UNKNOWN, false },
		{ UINT64_MAX, RS_PAGE_LOST_UNKNOWN, false }, { 7, RS_PAGE_LOST_UNKNOWN, true },
	};
	struct rs_page_layout layout = layout_of(false, false);
	uint8_t *page = malloc(PAGE);
	struct rs_page pg = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct builder b = { .page = page, .at = 16, .limit = PAGE };

		memset(page, 0, PAGE);
		put_head(&b, 30, 1);
		put32(&b, 0);
		b.ts = 1;
		put_head(&b, rows[i].full ? 0 : 1, 1);
		if (rows[i].full)
			put32(&b, PAGE - b.at);
		put_data(&b, rows[i].full ? PAGE - b.at : 4, 1);
		store(page + 8, (b.at - 16) | 3u << 30, 8, false);
		if (!rows[i].full)
			store(page + b.at, rows[i].stored, 8, false);
		assert_true(rs_page_begin(&pg, &layout, page));
		assert_int_equal(pg.lost, rows[i].lost);
		assert_false(pg.corrupt);
		expect_records(&pg, &b);
	}
	free(page);
}

/* One good record, then one whose length lies: the good one is read, nothing is read outside, and reading ends. */
static void lengths_that_lie(void **state)
{
	static const struct { uint32_t type, delta, array; bool corrupt; } rows[] = {
		{ 29, 1, 0xfffffff4, true },	/* back to the good record */
		{ 29, 1, 0xfffffffc, true },	/* back to itself */
		{ 29, 1, 0x7fffffff, true }, { 29, 1, 0, true }, { 29, 1, 6, true }, { 29, 1, 60, true },
		{ 29, 0, 0xfffffff4, false },	/* the rest is empty: no length is there */
		{ 0, 1, 0, true }, { 0, 1, 4, true }, { 0, 1, 0xfffffffc, true }, { 0, 1, 0x80000000, true }, { 0, 1, 60, true },
		{ 28, 1, 0, true },		/* 112 bytes where 56 are left */
	};

	(void)state;
	for (unsigned int kind = 0; kind < 4; kind++) {
		struct rs_page_layout layout = layout_of(kind & 1, kind & 2);
		uint8_t *page = malloc(PAGE);
		struct rs_page pg = { 0 };

		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			struct builder b = { .page = page, .at = layout.data_offset, .limit = PAGE, .big = layout.big };

			memset(page, 0, PAGE);
			put_head(&b, 2, 9);
			put_data(&b, 8, 9);
			put_head(&b, rows[i].type, rows[i].delta);
			put32(&b, rows[i].array);
			store(page + 8, b.at + 52 - layout.data_offset, layout.commit_size, layout.big);
			assert_true(rs_page_begin(&pg, &layout, page));
			expect_records(&pg, &b);
			assert_int_equal(pg.corrupt, rows[i].corrupt);
		}
		free(page);
	}
}

/* A record whose head is cut by the end of the page. */
static void heads_that_are_cut(void **state)
{
	struct rs_page_layout layout = layout_of(false, false);
	uint8_t *page = malloc(PAGE);
	struct rs_page pg = { 0 };

	(void)state;
	for (uint32_t type = 0; type < 32; type++) {
		for (uint32_t tail = 1; tail < 8; tail++) {
			struct builder b = { .page = page, .at = 16, .limit = PAGE };
			uint32_t head = 5u << 5 | type;

			memset(page, 0, PAGE);
			put_head(&b, 0, 1);
			put32(&b, PAGE - 8 - b.at);
			put_data(&b, PAGE - 8 - b.at, 1);
			memcpy(page + b.at, &head, 4);
			store(page + 8, b.at + tail - 16, 8, false);
			assert_true(rs_page_begin(&pg, &layout, page));
			expect_records(&pg, &b);
			assert_true(pg.corrupt);
		}
	}
	free(page);
}

/* Random bytes as a page: no record may lie outside it, and reading ends. */
static void random_pages(void **state)
{
	uint8_t *page = malloc(PAGE);
	uint64_t s = 99;

	(void)state;
	for (unsigned int round = 0; round < 20000; round++) {
		struct rs_page_layout layout = layout_of(round & 1, round & 2);
		const uint8_t *data, *prev = page;
		struct rs_page pg = { 0 };
		uint32_t len;

		for (unsigned int i = 0; i < PAGE; i++)
			page[i] = (uint8_t)rnd(&s);
		for (unsigned int at = layout.data_offset; round % 3 == 0 && at + 8 <= PAGE; at += 8) {	/* small records get far */
			page[layout.big ? at : at + 3] &= 7;
			page[layout.big ? at : at] &= layout.big ? 0xff : 0xe1;
		}
		store(page + 8, rnd(&s) % (PAGE - layout.data_offset + 1) | (rnd(&s) & 3) << 30, layout.commit_size, layout.big);
		assert_true(rs_page_begin(&pg, &layout, page));
		while ((data = rs_page_next(&pg, &len)) != NULL) {
			assert_true(len >= 4 && data > prev && data >= page + layout.data_offset && data + len <= page + PAGE);
			prev = data;
		}
		store(page + 8, PAGE - layout.data_offset + 1, layout.commit_size, layout.big);
		assert_false(rs_page_begin(&pg, &layout, page));
		assert_null(rs_page_next(&pg, &len));
	}
	free(page);
}

static void layouts_that_make_no_sense(void **state)
{
	struct rs_page_layout l = { 0 };

	(void)state;
	assert_false(rs_page_layout_parse(&l, "", PAGE));
	assert_false(rs_page_layout_parse(&l, header_64, 0x7fffffff));
	assert_false(rs_page_layout_parse(&l, header_64, 4095));
	assert_false(rs_page_layout_parse(&l, header_64, 16));
	assert_false(rs_page_layout_parse(&l, "\tfield: u64 timestamp;\toffset:0;\tsize:8;\n\tfield: local_t commit;\toffset:8;\tsize:2;\n"
					      "\tfield: char data;\toffset:16;\tsize:4080;\n", PAGE));
	assert_false(rs_page_layout_parse(&l, "\tfield: u64 timestamp;\toffset:0;\tsize:4;\n\tfield: local_t commit;\toffset:8;\tsize:8;\n"
					      "\tfield: char data;\toffset:16;\tsize:4080;\n", PAGE));
	assert_false(rs_page_layout_parse(&l, "\tfield: u64 timestamp;\toffset:0;\tsize:8;\n", PAGE));
	assert_true(rs_page_layout_parse(&l, header_64, 0));
	assert_int_equal(l.page_bytes, PAGE);
	assert_true(rs_page_layout_parse(&l, header_32, 0));
	assert_int_equal(l.page_bytes, PAGE);
	assert_int_equal(l.data_offset, 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(little_64), cmocka_unit_test(little_32), cmocka_unit_test(big_64), cmocka_unit_test(big_32),
		cmocka_unit_test(absolute_stamp), cmocka_unit_test(losses), cmocka_unit_test(lengths_that_lie),
		cmocka_unit_test(heads_that_are_cut), cmocka_unit_test(random_pages), cmocka_unit_test(layouts_that_make_no_sense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
