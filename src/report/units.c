// SPDX-License-Identifier: GPL-2.0-only
#include <resched/units.h>

#include "base/units.h"

int resched_time_parse(const char *text, uint64_t unit_ns, uint64_t *ret)
{
	return rs_time_parse(text, unit_ns, ret);
}

void resched_time_format(uint64_t ns, char *buf, size_t size)
{
	rs_time_format(ns, buf, size);
}
