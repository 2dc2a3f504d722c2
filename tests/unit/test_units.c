// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>

#include "base/units.h"

static void times(void **state)
{
	static const struct { const char *text; uint64_t unit, want; int rc; } rows[] = {
		{ "0", 1, 0, 0 }, { "3ms", 1, 3000000, 0 }, { "250us", 1, 250000, 0 }, { "1.5s", 1, 1500000000, 0 }, { "700000", 1, 700000, 0 },
		{ "2", 1000000000, 2000000000, 0 }, { "0.5", 1000000000, 500000000, 0 }, { ".5s", 1, 500000000, 0 }, { "1.ms", 1, 1000000, 0 },
		{ "1.234567891s", 1, 1234567891, 0 }, { "0.0000000001s", 1, 0, 0 }, { "0.5ns", 1, 0, 0 },
		{ "18446744073709551615", 1, UINT64_MAX, 0 }, { "18446744073709551615ns", 1000, UINT64_MAX, 0 },
		{ "18446744073709551616", 1, 0, -ERANGE }, { "18446744073709551615us", 1, 0, -ERANGE }, { "18446744073.8s", 1, 0, -ERANGE },
		{ "", 1, 0, -EINVAL }, { ".", 1, 0, -EINVAL }, { "s", 1, 0, -EINVAL }, { "-1s", 1, 0, -EINVAL }, { "1m", 1, 0, -EINVAL },
		{ "1 s", 1, 0, -EINVAL }, { "1s ", 1, 0, -EINVAL }, { "1.2.3", 1, 0, -EINVAL }, { "1e3", 1, 0, -EINVAL }, { "0x10", 1, 0, -EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t got = 77;
		int rc = rs_time_parse(rows[i].text, rows[i].unit, &got);

		if (rc != rows[i].rc || got != (rc ? 77 : rows[i].want))
			fail_msg("'%s': %d, %llu", rows[i].text, rc, (unsigned long long)got);
	}
}

static void numbers(void **state)
{
	uint64_t v = 5;

	(void)state;
	assert_int_equal(rs_uint_parse("18446744073709551615", &v), 0);
	assert_true(v == UINT64_MAX);
	assert_int_equal(rs_uint_parse("18446744073709551616", &v), -ERANGE);
	assert_int_equal(rs_uint_parse("", &v), -EINVAL);
	assert_int_equal(rs_uint_parse("12a", &v), -EINVAL);
	assert_int_equal(rs_uint_parse("+1", &v), -EINVAL);
	assert_true(v == UINT64_MAX);
}

static void texts(void **state)
{
	static const struct { uint64_t ns; const char *want; } rows[] = {
		{ 0, "0 ns" }, { 712, "712 ns" }, { 4520, "4.52 us" }, { 15200000, "15.2 ms" }, { 152000000, "152 ms" }, { 1500000000, "1.50 s" },
	};
	char buf[32];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rs_time_format(rows[i].ns, buf, sizeof(buf));
		assert_string_equal(buf, rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(times), cmocka_unit_test(numbers), cmocka_unit_test(texts) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
