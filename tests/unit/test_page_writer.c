// SPDX-License-Identifier: GPL-2.0-only
/* Pages that we write are pages that libtraceevent's kbuffer reads: records, times, losses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <kbuffer.h>

#include "capture/page_writer.h"

#define PAGE 4096u

struct store { uint8_t *data; uint32_t bytes; int fail; };

static int keep(void *ctx, unsigned int idx, const void *pages, uint32_t bytes)
{
	struct store *s = ctx;

	assert_int_equal(idx, 3);
	if (s->fail)
		return s->fail;
	s->data = realloc(s->data, s->bytes + bytes);
	assert_non_null(s->data);
	memcpy(s->data + s->bytes, pages, bytes);
	s->bytes += bytes;
	return 0;
}

static void begin(struct rs_page_writer *pw, struct store *s)
{
	memset(s, 0, sizeof(*s));
	assert_int_equal(rs_page_writer_init(pw, 3, PAGE, keep, s), 0);
}

static void end(struct rs_page_writer *pw, struct store *s)
{
	rs_page_writer_release(pw);
	free(s->data);
}

static void put(struct rs_page_writer *pw, uint64_t ts, uint32_t len, uint8_t fill)
{
	uint8_t *data = rs_page_writer_event(pw, ts, len);

	assert_non_null(data);
	memset(data, fill, len);
}

/* Calls @check for each record and returns their number; @lost gets the sum of losses told. */
static unsigned int read_all(const struct store *s, uint64_t *lost, void (*check)(unsigned int n, uint64_t ts, const uint8_t *data, int size))
{
	struct kbuffer *kb = kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_LITTLE);
	unsigned int n = 0;

	assert_non_null(kb);
	assert_int_equal(s->bytes % PAGE, 0);
	for (uint32_t at = 0; at < s->bytes; at += PAGE) {
		unsigned long long ts;
		void *data;

		assert_int_equal(kbuffer_load_subbuffer(kb, s->data + at), 0);
		if (lost && kbuffer_missed_events(kb) > 0)
			*lost += (uint64_t)kbuffer_missed_events(kb);
		for (data = kbuffer_read_event(kb, &ts); data; data = kbuffer_next_event(kb, &ts)) {
			if (check)
				check(n, ts, data, kbuffer_event_size(kb));
			n++;
		}
	}
	kbuffer_free(kb);
	return n;
}

static void check_sizes(unsigned int n, uint64_t ts, const uint8_t *data, int size)
{
	uint32_t len = n % 300 + 1;

	assert_int_equal(ts, 1000 + 7ull * n);
	assert_int_equal((uint32_t)size, (len + 3) & ~3u);
	assert_int_equal(data[0], (uint8_t)n);
	assert_int_equal(data[len - 1], (uint8_t)n);
	if (len % 4)
		assert_int_equal(data[len], 0);
}

static void records_of_all_sizes(void **state)
{
	struct rs_page_writer pw;
	struct store s;

	(void)state;
	begin(&pw, &s);
	for (unsigned int n = 0; n < 3000; n++)
		put(&pw, 1000 + 7ull * n, n % 300 + 1, (uint8_t)n);
	assert_int_equal(rs_page_writer_flush(&pw), 0);
	assert_int_equal(read_all(&s, NULL, check_sizes), 3000);
	end(&pw, &s);
}

/* Pushed at any time, the records are the same: nothing of the page under construction is lost or doubled. */
static void pushed_before_the_end(void **state)
{
	struct rs_page_writer pw;
	struct store s;

	(void)state;
	begin(&pw, &s);
	for (unsigned int n = 0; n < 3000; n++) {
		put(&pw, 1000 + 7ull * n, n % 300 + 1, (uint8_t)n);
		if (n % 97 == 0)
			assert_int_equal(rs_page_writer_push(&pw, n % 2 ? 0 : 1000 + 7ull * n), 0);
	}
	assert_int_equal(rs_page_writer_flush(&pw), 0);
	assert_int_equal(read_all(&s, NULL, check_sizes), 3000);
	end(&pw, &s);
}

static const uint64_t stamps[] = { 5, 5, 6, (1u << 27) + 5, (1u << 27) + 4, 1ull << 40, (1ull << 40) + (1ull << 58), (1ull << 40) + (1ull << 58) + 1 };

static void check_stamps(unsigned int n, uint64_t ts, const uint8_t *data, int size)
{
	(void)data;
	assert_int_equal(size, 8);
	assert_int_equal(ts, n == 4 ? stamps[3] : stamps[n]);	/* time does not go back */
}

static void times_far_apart_and_backwards(void **state)
{
	struct rs_page_writer pw;
	struct store s;

	(void)state;
	begin(&pw, &s);
	for (unsigned int n = 0; n < sizeof(stamps) / sizeof(stamps[0]); n++)
		put(&pw, stamps[n], 8, 1);
	assert_int_equal(rs_page_writer_flush(&pw), 0);
	assert_int_equal(read_all(&s, NULL, check_stamps), sizeof(stamps) / sizeof(stamps[0]));
	end(&pw, &s);
}

static void losses_stand_where_they_happened(void **state)
{
	struct rs_page_writer pw;
	struct store s;
	uint64_t lost = 0;

	(void)state;
	begin(&pw, &s);
	put(&pw, 10, 16, 1);
	rs_page_writer_lost(&pw, 5);
	rs_page_writer_lost(&pw, 6);
	/* exactly full pages with a loss keep room for its number */
	for (unsigned int n = 0; n < 400; n++)
		put(&pw, 20 + n, 12, 2);
	rs_page_writer_lost(&pw, 100);
	assert_int_equal(rs_page_writer_flush(&pw), 0);
	assert_int_equal(read_all(&s, &lost, NULL), 401);
	assert_int_equal(lost, 111);
	end(&pw, &s);
}

static void a_failed_sink_ends_it(void **state)
{
	struct rs_page_writer pw;
	struct store s;
	unsigned int n;

	(void)state;
	begin(&pw, &s);
	s.fail = -28;
	for (n = 0; n < 100000 && rs_page_writer_event(&pw, n, 100); n++)
		;
	assert_true(n < 100000);
	assert_int_equal(pw.failure, -28);
	assert_int_equal(rs_page_writer_flush(&pw), -28);
	end(&pw, &s);
}

static void nothing_writes_nothing(void **state)
{
	struct rs_page_writer pw;
	struct store s;

	(void)state;
	begin(&pw, &s);
	assert_int_equal(rs_page_writer_flush(&pw), 0);
	assert_int_equal(s.bytes, 0);
	end(&pw, &s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_of_all_sizes), cmocka_unit_test(pushed_before_the_end), cmocka_unit_test(times_far_apart_and_backwards),
		cmocka_unit_test(losses_stand_where_they_happened), cmocka_unit_test(a_failed_sink_ends_it),
		cmocka_unit_test(nothing_writes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
