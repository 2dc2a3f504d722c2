// SPDX-License-Identifier: GPL-2.0-only
/* Pages in memory: begun ones are filled up without an event or a time changing, the oldest go first, readers lose nothing unseen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <kbuffer.h>

#include "capture/page_ring.h"
#include "capture/page_walk.h"
#include "capture/page_writer.h"

#define PAGE 4096u
#define LEN 40u

struct feed { struct rs_page_ring *ring; struct rs_page_writer pw[2]; uint64_t ts, nr; };

static int to_ring(void *ctx, unsigned int idx, const void *pages, uint32_t bytes)
{
	return rs_ring_add(((struct feed *)ctx)->ring, idx, pages, bytes);
}

static void begin(struct feed *f, struct rs_page_ring *ring, uint64_t bytes, uint64_t keep_ns)
{
	memset(f, 0, sizeof(*f));
	f->ring = ring;
	f->ts = 1000;
	assert_int_equal(rs_ring_init(ring, 2, PAGE, bytes, keep_ns, NULL), 0);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(rs_page_writer_init(&f->pw[i], i, PAGE, to_ring, f), 0);
}

static void end(struct feed *f)
{
	for (unsigned int i = 0; i < 2; i++)
		rs_page_writer_release(&f->pw[i]);
	rs_ring_release(f->ring);
}

/* An event that knows its number and its time. */
static void put(struct feed *f, unsigned int cpu, uint64_t delta)
{
	uint8_t *data;

	f->ts += delta;
	data = rs_page_writer_event(&f->pw[cpu], f->ts, LEN);
	assert_non_null(data);
	memcpy(data, &f->nr, sizeof(f->nr));
	memcpy(data + 8, &f->ts, sizeof(f->ts));
	f->nr++;
}

/* Events of all pinned pages of a cpu: each at the time it was written with, in order. Return: their number; *@next: number after the last. */
static unsigned int check_pins(const struct rs_ring_pins *pins, uint64_t *next, uint64_t *lost)
{
	struct kbuffer *kb = kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_LITTLE);
	unsigned int n = 0;

	assert_non_null(kb);
	for (unsigned int c = 0; c < pins->nr; c++) {
		for (unsigned int i = 0; i < pins->chunks[c].nr_pages; i++) {
			unsigned long long ts;
			const uint8_t *data;

			kbuffer_load_subbuffer(kb, pins->chunks[c].chunk->pages + (size_t)i * PAGE);
			if (lost && kbuffer_missed_events(kb) > 0)
				*lost += (uint64_t)kbuffer_missed_events(kb);
			for (data = kbuffer_read_event(kb, &ts); data; data = kbuffer_next_event(kb, &ts), n++) {
				uint64_t nr, was;

				memcpy(&nr, data, sizeof(nr));
				memcpy(&was, data + 8, sizeof(was));
				assert_int_equal(was, ts);
				if (n)
					assert_true(nr >= *next);
				*next = nr + 1;
			}
		}
	}
	kbuffer_free(kb);
	return n;
}

static void test_fill_up(void **state)
{
	struct rs_ring_pins pins[2] = { { 0 } };
	struct rs_page_ring ring;
	struct feed f;
	uint64_t next = 0, dropped, lost = 0;

	(void)state;
	begin(&f, &ring, 1u << 20, 0);
	for (unsigned int i = 0; i < 3000; i++) {
		/* short and long times between, some of them more than 27 bits */
		put(&f, 0, i % 50 == 0 ? 1u << 28 : i % 7);
		if (i % 5 == 0)
			assert_int_equal(rs_page_writer_flush(&f.pw[0]), 0);
		if (i == 1500)
			rs_page_writer_lost(&f.pw[0], 77);
	}
	assert_int_equal(rs_page_writer_flush(&f.pw[0]), 0);
	assert_int_equal(ring.cpus[0].events, 3000);
	assert_int_equal(ring.cpus[0].lost_events, 77);
	/* one page for each flush would be 600 */
	assert_true(ring.cpus[0].next_page < 60);
	assert_int_equal(rs_ring_pin(&ring, 0, UINT64_MAX, pins, &dropped), 0);
	assert_int_equal(dropped, 0);
	assert_int_equal(check_pins(&pins[0], &next, &lost), 3000);
	assert_int_equal(next, 3000);
	assert_int_equal(lost, 77);
	assert_int_equal(pins[1].nr, 0);
	rs_ring_unpin(&ring, &pins[0], pins[0].nr);
	rs_ring_unpin(&ring, &pins[1], pins[1].nr);
	end(&f);
}

/* The oldest of all cpus goes first; a cpu that was busy long ago does not keep its memory. */
static void test_bounded(void **state)
{
	struct rs_ring_pins pins[2] = { { 0 } };
	struct rs_page_ring ring;
	struct feed f;
	uint64_t next = 0, dropped;
	unsigned int n;

	(void)state;
	begin(&f, &ring, 256u << 10, 0);
	for (unsigned int i = 0; i < 20000; i++) {
		put(&f, i < 2000, 10);
		if (i == 1999)
			assert_int_equal(rs_page_writer_flush(&f.pw[1]), 0);
	}
	assert_int_equal(rs_page_writer_flush(&f.pw[0]), 0);
	assert_true(ring.chunk_bytes_held <= 256u << 10);
	assert_null(ring.cpus[1].head);
	assert_int_equal(rs_ring_pin(&ring, 0, UINT64_MAX, pins, &dropped), 0);
	n = check_pins(&pins[0], &next, NULL);
	assert_int_equal(next, 20000);
	assert_true(n > 4000 && n < 20000);
	/* all after what was dropped is there: numbers are 10 ns apart */
	assert_int_equal(dropped, 1000 + (20000 - n) * 10);
	/* pinned pages stay as they are while the ring goes round */
	for (unsigned int i = 0; i < 20000; i++)
		put(&f, 0, 10);
	next = 0;
	assert_int_equal(check_pins(&pins[0], &next, NULL), n);
	assert_int_equal(next, 20000);
	rs_ring_unpin(&ring, &pins[0], 1);
	rs_ring_unpin(&ring, &pins[0], pins[0].nr);
	assert_true(ring.nr_free <= 4);
	end(&f);
}

static void test_age(void **state)
{
	struct rs_page_ring ring;
	struct feed f;

	(void)state;
	begin(&f, &ring, 1u << 20, 50000);
	for (unsigned int i = 0; i < 10000; i++)
		put(&f, 0, 10);
	rs_page_writer_flush(&f.pw[0]);
	rs_ring_complete(&ring, 0, f.ts);
	rs_ring_pass(&ring);
	assert_int_equal(ring.cpus[0].dropped_ns, 0);	/* not all cpus are that far */
	rs_ring_complete(&ring, 1, f.ts);
	rs_ring_pass(&ring);
	assert_true(ring.cpus[0].dropped_ns && ring.cpus[0].dropped_ns < f.ts - 50000);
	assert_int_equal(rs_ring_wait(&ring, f.ts, 1), f.ts);
	end(&f);
}

/* A reader that keeps up gets every event once, in small buffers too; one that does not is told. */
static void test_read(void **state)
{
	struct rs_ring_cursor cursor = { 0 };
	struct rs_page_ring ring;
	uint64_t got = 0, until;
	struct feed f;
	uint8_t *buf = malloc(2 * PAGE);
	bool skipped;

	(void)state;
	assert_non_null(buf);
	begin(&f, &ring, 64u << 10, 0);
	for (unsigned int i = 0; i < 9000; i++) {
		put(&f, 0, 3);
		if (i % 11)
			continue;
		rs_page_writer_flush(&f.pw[0]);
		for (;;) {
			uint32_t len = rs_ring_read(&ring, 0, &cursor, buf, 2 * PAGE, &until, &skipped), at = 0;

			assert_false(skipped);
			while (at < len) {
				struct rs_ring_piece head;
				struct rs_page_walk walk;

				memcpy(&head, buf + at, sizeof(head));
				assert_int_equal(head.lost, 0);
				assert_true(rs_page_walk_begin(&walk, buf + at + 8, PAGE));
				while (rs_page_walk_next(&walk)) {
					uint64_t nr;

					memcpy(&nr, walk.page + walk.at - LEN, sizeof(nr));
					assert_int_equal(nr, got);
					assert_int_equal(walk.ts_ns, 1003 + 3 * got);
					got++;
				}
				at += ((uint32_t)sizeof(head) + (uint32_t)head.commit + 7) & ~7u;
			}
			if (!len)
				break;
		}
		assert_int_equal(got, i + 1);
		assert_int_equal(until, f.ts);
	}
	for (unsigned int i = 0; i < 9000; i++)
		put(&f, 0, 3);
	rs_page_writer_flush(&f.pw[0]);
	rs_ring_read(&ring, 0, &cursor, buf, 2 * PAGE, &until, &skipped);
	assert_true(skipped);
	free(buf);
	end(&f);
}

/* What comes from the kernel is checked: whatever the bytes are, nothing is read beyond the page. */
static void test_garbage(void **state)
{
	struct rs_page_ring ring;
	struct feed f;
	uint64_t seed = 1;
	uint8_t *page = malloc(PAGE);

	(void)state;
	assert_non_null(page);
	begin(&f, &ring, 256u << 10, 0);
	for (unsigned int round = 0; round < 2000; round++) {
		uint64_t commit = round % 3 ? round * 2 : UINT64_MAX - round;

		for (unsigned int i = 0; i < PAGE; i += 8) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			memcpy(page + i, &seed, 8);
		}
		memcpy(page + 8, &commit, 8);
		assert_int_equal(rs_ring_add(&ring, round & 1, page, PAGE), 0);
	}
	free(page);
	end(&f);
}

static void test_too_small(void **state)
{
	struct resched_error err = { 0 };
	struct rs_page_ring ring;

	(void)state;
	assert_true(rs_ring_init(&ring, 64, PAGE, 64u << 10, 0, &err) < 0);
	assert_int_equal(err.kind, RESCHED_USAGE);
	rs_ring_release(&ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fill_up), cmocka_unit_test(test_bounded), cmocka_unit_test(test_age),
		cmocka_unit_test(test_read), cmocka_unit_test(test_garbage), cmocka_unit_test(test_too_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
