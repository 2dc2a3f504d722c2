// SPDX-License-Identifier: GPL-2.0-only
#include "base/cpulist.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse_cpu(const char **text, unsigned int *ret)
{
	char *end;
	unsigned long value;

	if (!isdigit((unsigned char)**text))
		return -EINVAL;
	value = strtoul(*text, &end, 10);
	if (value >= RS_MAX_CPUS)
		return -EINVAL;
	*text = end;
	*ret = (unsigned int)value;
	return 0;
}

int rs_cpulist_parse(const char *text, struct rs_cpuset *ret)
{
	struct rs_cpuset set;

	memset(&set, 0, sizeof(set));
	text += strspn(text, " \t\n");
	while (*text) {
		unsigned int first, last;

		if (parse_cpu(&text, &first) < 0)
			return -EINVAL;
		last = first;
		if (*text == '-') {
			text++;
			if (parse_cpu(&text, &last) < 0 || last < first)
				return -EINVAL;
		}
		for (; first <= last; first++)
			rs_cpuset_add(&set, first);
		text += strspn(text, " \t\n");
		if (*text == ',') {
			text++;
			if (!*text)
				return -EINVAL;
		} else if (*text) {
			return -EINVAL;
		}
	}
	*ret = set;
	return 0;
}

void rs_cpulist_format(const struct rs_cpuset *set, char *buf, unsigned int size)
{
	unsigned int used = 0;

	buf[0] = '\0';
	for (unsigned int cpu = 0; cpu < RS_MAX_CPUS; cpu++) {
		unsigned int last = cpu;
		char item[32];
		int len;

		if (!rs_cpuset_has(set, cpu))
			continue;
		while (rs_cpuset_has(set, last + 1))
			last++;
		if (last > cpu)
			len = snprintf(item, sizeof(item), "%s%u-%u", used ? "," : "", cpu, last);
		else
			len = snprintf(item, sizeof(item), "%s%u", used ? "," : "", cpu);
		if (used + (unsigned int)len + 4 > size) {
			snprintf(buf + used, size - used, "...");
			return;
		}
		memcpy(buf + used, item, (size_t)len + 1);
		used += (unsigned int)len;
		cpu = last;
	}
}

unsigned int rs_cpuset_count(const struct rs_cpuset *set)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < RS_MAX_CPUS / 64; i++)
		n += (unsigned int)__builtin_popcountll(set->bits[i]);
	return n;
}
