// SPDX-License-Identifier: GPL-2.0-only
/* The queue of events that wait for their turn, against a stable sort; and that its memory is given back. */
#include <stdbool.h>

#include "trace_files.h"

#include "trace/perf_order.h"

#define NR 20000u

struct key { uint64_t ts; uint16_t cpu; uint32_t nr; };

static uint64_t next_random(uint64_t *state)	/* splitmix64 */
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static int by_key(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

static void add(struct rs_order *o, const struct key *k, uint32_t len)
{
	struct rs_order_item *item = rs_order_add(o, k->ts, k->cpu, 7, len);

	assert_non_null(item);
	memset(item->data, (int)(k->nr & 0xff), len);
	memcpy(item->data, &k->nr, sizeof(k->nr));
}

static void expect(struct rs_order *o, const struct key *k, uint64_t limit)
{
	const struct rs_order_item *item = rs_order_take(o, limit);
	uint32_t nr;

	assert_non_null(item);
	memcpy(&nr, item->data, sizeof(nr));
	assert_int_equal(nr, k->nr);
	assert_int_equal(item->ts, k->ts);
	assert_int_equal(item->cpu, k->cpu);
	assert_int_equal(item->what, 7);
	for (uint32_t i = 4; i < item->len; i++)
		assert_int_equal(item->data[i], k->nr & 0xff);
}

/* Stretches in order from several rings, few stamps so that many are equal, all sizes. */
static void equals_a_stable_sort(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct key *keys = calloc(NR, sizeof(*keys));
		struct rs_order o = { 0 };
		uint64_t s = seed, ts = 0, span = seed % 3 ? 1000000 : 50;
		uint32_t rings = 1 + seed % 9, taken = 0;

		assert_non_null(keys);
		for (uint32_t i = 0; i < NR; i++) {
			if (next_random(&s) % 50 == 0)
				ts = next_random(&s) % span;
			ts += next_random(&s) % 3;
			keys[i] = (struct key){ ts, (uint16_t)(next_random(&s) % rings), i };
			add(&o, &keys[i], 4 + (uint32_t)(next_random(&s) % (seed % 4 ? 100 : 5000)));
		}
		qsort(keys, NR, sizeof(*keys), by_key);
		for (uint64_t limit = span / 2; taken < NR && keys[taken].ts < limit; taken++)
			expect(&o, &keys[taken], limit);
		assert_null(rs_order_take(&o, span / 2));
		assert_int_equal(o.nr, NR - taken);
		for (; taken < NR; taken++)
			expect(&o, &keys[taken], UINT64_MAX);
		assert_null(rs_order_take(&o, UINT64_MAX));
		assert_int_equal(o.nr, 0);
		assert_true(o.bytes < (1u << 20));
		rs_order_release(&o);
		free(keys);
	}
}

/* In and out for long: memory follows what waits, not what passed. */
static void memory_follows_what_waits(void **state)
{
	struct rs_order o = { 0 };
	uint64_t in = 0, out = 0;
	size_t most = 0;

	(void)state;
	for (unsigned int round = 0; round < 3000; round++) {
		for (unsigned int i = 0; i < 300; i++, in++)
			add(&o, &(struct key){ in / 2, (uint16_t)(in & 1), (uint32_t)in }, 64);
		for (; out + 200 < in; out++)
			expect(&o, &(struct key){ out / 2, (uint16_t)(out & 1), (uint32_t)out }, UINT64_MAX);
		most = o.bytes > most ? o.bytes : most;
	}
	assert_true(most <= (1u << 20));
	rs_order_release(&o);
	memset(&o, 0, sizeof(o));
	assert_null(rs_order_take(&o, UINT64_MAX));
	assert_null(rs_order_add(&o, 1, 0, 0, 1u << 20));	/* no record is so long */
	rs_order_release(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equals_a_stable_sort), cmocka_unit_test(memory_follows_what_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
