// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/map.h"

static void empty(void **state)
{
	struct rs_map map = { 0 };

	(void)state;
	assert_int_equal(rs_map_get(&map, 0), RS_MAP_NONE);
	rs_map_release(&map);
}

static void keys_and_replacements(void **state)
{
	struct rs_map map = { 0 };
	uint32_t key = 1;

	(void)state;
	for (uint32_t i = 0; i < 100000; i++, key = key * 1664525u + 1013904223u)	/* a full period: keys differ */
		assert_int_equal(rs_map_set(&map, key, i), 0);
	assert_int_equal(map.count, 100000);
	key = 1;
	for (uint32_t i = 0; i < 100000; i++, key = key * 1664525u + 1013904223u)
		assert_int_equal(rs_map_get(&map, key), i);
	assert_int_equal(rs_map_get(&map, key), RS_MAP_NONE);
	assert_int_equal(rs_map_set(&map, 1, 7), 0);
	assert_int_equal(rs_map_get(&map, 1), 7);
	assert_int_equal(map.count, 100000);
	rs_map_release(&map);
	assert_int_equal(rs_map_get(&map, 1), RS_MAP_NONE);
}

static void keys_at_the_edges(void **state)
{
	struct rs_map map = { 0 };

	(void)state;
	assert_int_equal(rs_map_set(&map, 0, 0), 0);
	assert_int_equal(rs_map_set(&map, UINT32_MAX, 1), 0);
	assert_int_equal(rs_map_get(&map, 0), 0);
	assert_int_equal(rs_map_get(&map, UINT32_MAX), 1);
	for (uint32_t i = 1; i < 2000; i++)	/* pids in a row */
		assert_int_equal(rs_map_set(&map, i, i), 0);
	for (uint32_t i = 1; i < 2000; i++)
		assert_int_equal(rs_map_get(&map, i), i);
	rs_map_release(&map);
}

/* Against a plain array: sets and drops at random, among keys that collide. */
static void keys_that_go(void **state)
{
	struct rs_map map = { 0 };
	uint32_t plain[512], random = 1, nr = 0;

	(void)state;
	for (uint32_t i = 0; i < 512; i++)
		plain[i] = RS_MAP_NONE;
	rs_map_drop(&map, 3);	/* of an empty one */
	for (uint32_t step = 0; step < 200000; step++) {
		uint32_t key;

		random = random * 1664525u + 1013904223u;
		key = random >> 23;
		if (random & 4096) {
			assert_int_equal(rs_map_set(&map, key, step), 0);
			nr += plain[key] == RS_MAP_NONE;
			plain[key] = step;
		} else {
			rs_map_drop(&map, key);
			nr -= plain[key] != RS_MAP_NONE;
			plain[key] = RS_MAP_NONE;
		}
		assert_int_equal(map.count, nr);
		if (step % 97 == 0) {
			for (uint32_t i = 0; i < 512; i++)
				assert_int_equal(rs_map_get(&map, i), plain[i]);
		}
	}
	assert_int_equal(map.mask, 1023);	/* what went made room */
	rs_map_release(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty), cmocka_unit_test(keys_and_replacements), cmocka_unit_test(keys_at_the_edges),
		cmocka_unit_test(keys_that_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
