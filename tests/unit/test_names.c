// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <resched/names.h>

#include "base/names.h"

static void same_text_same_number(void **state)
{
	struct resched_names *names = resched_names_new();

	(void)state;
	assert_int_equal(resched_names_intern(names, "b", 1), 0);
	assert_int_equal(resched_names_intern(names, "a", 1), 1);
	assert_int_equal(resched_names_intern(names, "b\0junk", 6), 0);	/* ends at the NUL */
	assert_int_equal(resched_names_intern(names, "bc", 1), 0);		/* no NUL needed */
	assert_int_equal(resched_names_intern(names, "bc", 2), 2);
	assert_int_equal(resched_names_intern(names, "", 0), 3);
	assert_int_equal(resched_names_count(names), 4);
	assert_string_equal(resched_names_get(names, 2), "bc");
	assert_string_equal(resched_names_get(names, 3), "");
	assert_string_equal(resched_names_get(names, 4), "?");
	assert_string_equal(resched_names_get(NULL, 0), "?");
	resched_names_free(names);
	resched_names_free(NULL);
}

static void many_names_do_not_move(void **state)
{
	struct resched_names *names = resched_names_new();
	const char *first;
	char text[32];

	(void)state;
	assert_int_equal(resched_names_intern(names, "first", 5), 0);
	first = resched_names_get(names, 0);
	for (int i = 1; i < 20000; i++) {
		snprintf(text, sizeof(text), "task-%d", i);
		assert_int_equal(resched_names_intern(names, text, strlen(text)), i);
	}
	assert_ptr_equal(resched_names_get(names, 0), first);
	for (int i = 1; i < 20000; i++) {
		snprintf(text, sizeof(text), "task-%d", i);
		assert_int_equal(resched_names_intern(names, text, strlen(text)), i);
		assert_string_equal(resched_names_get(names, (uint32_t)i), text);
	}
	resched_names_free(names);
}

static void a_text_larger_than_a_block(void **state)
{
	struct resched_names *names = resched_names_new();
	size_t len = 100000;
	char *big = malloc(len);

	(void)state;
	memset(big, 'x', len);
	assert_int_equal(resched_names_intern(names, big, len), 0);
	assert_int_equal(resched_names_intern(names, "y", 1), 1);
	assert_int_equal(resched_names_intern(names, big, len), 0);
	assert_int_equal(strlen(resched_names_get(names, 0)), len);
	free(big);
	resched_names_free(names);
}

static void forgotten_names_begin_anew(void **state)
{
	struct resched_names *names = resched_names_new();

	(void)state;
	rs_names_clear(names);	/* of an empty one */
	for (int round = 0; round < 3; round++) {
		char text[32];

		for (int i = 0; i < 5000; i++) {
			snprintf(text, sizeof(text), "round-%d-%d", round, i);
			assert_int_equal(resched_names_intern(names, text, strlen(text)), i);
		}
		assert_string_equal(resched_names_get(names, 4999), text);
		rs_names_clear(names);
		assert_int_equal(resched_names_count(names), 0);
		assert_string_equal(resched_names_get(names, 4999), "?");
	}
	resched_names_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_text_same_number), cmocka_unit_test(many_names_do_not_move), cmocka_unit_test(a_text_larger_than_a_block),
		cmocka_unit_test(forgotten_names_begin_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
