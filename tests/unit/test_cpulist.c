// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "base/cpulist.h"

static void lists(void **state)
{
	static const struct { const char *text, *again; unsigned int count; } rows[] = {
		{ "", "", 0 }, { "\n", "", 0 }, { "0", "0", 1 }, { "0-3,8\n", "0-3,8", 5 }, { " 5 ,7", "5,7", 2 },
		{ "3,1,2", "1-3", 3 }, { "8191", "8191", 1 }, { "0-8191", "0-8191", 8192 }, { "1,1,1", "1", 1 }, { "63-64", "63-64", 2 },
	};
	struct rs_cpuset set;
	char buf[64];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(rs_cpulist_parse(rows[i].text, &set), 0);
		assert_int_equal(rs_cpuset_count(&set), rows[i].count);
		rs_cpulist_format(&set, buf, sizeof(buf));
		assert_string_equal(buf, rows[i].again);
	}
}

static void no_lists(void **state)
{
	static const char *const texts[] = { "x", "-1", "1-", "3-1", "1,", ",1", "8192", "0-8192", "1 2", "1--2", "1-2-3", "99999999999999999999", "0x1" };
	struct rs_cpuset set, before;

	(void)state;
	assert_int_equal(rs_cpulist_parse("4", &set), 0);
	before = set;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (rs_cpulist_parse(texts[i], &set) != -EINVAL)
			fail_msg("'%s' is taken", texts[i]);
		assert_memory_equal(&set, &before, sizeof(set));	/* written on success only */
	}
}

static void long_lists_are_cut(void **state)
{
	struct rs_cpuset set = { 0 };
	char buf[16];

	(void)state;
	for (unsigned int cpu = 0; cpu < 100; cpu += 2)
		rs_cpuset_add(&set, cpu);
	rs_cpulist_format(&set, buf, sizeof(buf));
	assert_true(strlen(buf) < sizeof(buf));
	assert_string_equal(buf + strlen(buf) - 3, "...");
	rs_cpuset_add(&set, RS_MAX_CPUS);	/* outside: ignored */
	assert_int_equal(rs_cpuset_count(&set), 50);
	assert_false(rs_cpuset_has(&set, RS_MAX_CPUS));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(lists), cmocka_unit_test(no_lists), cmocka_unit_test(long_lists_are_cut) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
