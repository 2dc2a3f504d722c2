// SPDX-License-Identifier: GPL-2.0-only
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static int add_digit(uint64_t *value, char digit)
{
	if (__builtin_mul_overflow(*value, 10u, value) || __builtin_add_overflow(*value, (uint64_t)(digit - '0'), value))
		return -ERANGE;
	return 0;
}

int rs_uint_parse(const char *text, uint64_t *ret)
{
	uint64_t value = 0;

	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		if (!isdigit((unsigned char)*text))
			return -EINVAL;
		if (add_digit(&value, *text) < 0)
			return -ERANGE;
	}
	*ret = value;
	return 0;
}

int rs_time_parse(const char *text, uint64_t unit_ns, uint64_t *ret)
{
	static const struct { const char *name; uint64_t ns; } units[] = {
		{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 },
	};
	uint64_t whole = 0, value;
	const char *fraction = NULL;
	size_t digits = 0;

	if (!isdigit((unsigned char)*text) && *text != '.')
		return -EINVAL;
	for (; isdigit((unsigned char)*text); text++, digits++) {
		if (add_digit(&whole, *text) < 0)
			return -ERANGE;
	}
	if (*text == '.') {
		fraction = ++text;
		for (; isdigit((unsigned char)*text); text++)
			digits++;
	}
	if (!digits)
		return -EINVAL;
	if (*text) {
		unit_ns = 0;
		for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
			if (!strcmp(text, units[i].name))
				unit_ns = units[i].ns;
		}
		if (!unit_ns)
			return -EINVAL;
	}
	if (__builtin_mul_overflow(whole, unit_ns, &value))
		return -ERANGE;
	for (uint64_t place = unit_ns / 10; fraction && isdigit((unsigned char)*fraction) && place; place /= 10, fraction++) {
		if (__builtin_add_overflow(value, (uint64_t)(*fraction - '0') * place, &value))
			return -ERANGE;
	}
	*ret = value;
	return 0;
}

void rs_time_format(uint64_t ns, char *buf, size_t size)
{
	double value = (double)ns;
	const char *unit = "ns";

	if (ns < 1000) {
		snprintf(buf, size, "%u ns", (unsigned int)ns);
		return;
	}
	if (ns < 1000000) {
		value /= 1e3;
		unit = "us";
	} else if (ns < 1000000000) {
		value /= 1e6;
		unit = "ms";
	} else {
		value /= 1e9;
		unit = "s";
	}
	snprintf(buf, size, "%.*f %s", value < 10 ? 2 : value < 100 ? 1 : 0, value, unit);
}
