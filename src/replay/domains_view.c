// SPDX-License-Identifier: GPL-2.0-only
/* Looking at domains: one by one, as lists of cpus, and against what a kernel built. */
#include "replay/domains.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

int resched_domain_of(const struct resched_domains *d, unsigned int cpu, unsigned int idx, struct resched_domain *ret)
{
	if (cpu >= d->nr_cpus || idx >= d->chains[cpu].nr)
		return 0;
	*ret = d->chains[cpu].levels[idx].shape->info;
	return 1;
}

void resched_domain_span(const struct resched_domains *d, unsigned int cpu, unsigned int idx, int group, char *buf, unsigned int size)
{
	const struct rs_domain *domain = cpu < d->nr_cpus ? rs_domain_at(d, cpu, (int)idx) : NULL;
	struct rs_cpuset set = { 0 };
	const struct rs_span *span;

	buf[0] = '\0';
	if (!domain || group >= (int)domain->shape->info.nr_groups)
		return;
	span = group < 0 ? &domain->shape->span
			 : &domain->shape->groups[(domain->local + (unsigned int)group) % domain->shape->info.nr_groups].span;
	for (unsigned int i = 0; i < span->nr; i++)
		rs_cpuset_add(&set, span->cpus[i]);
	rs_cpulist_format(&set, buf, size);
}

unsigned int resched_domain_flag_name(unsigned int idx, const char **name)
{
	static const char *const names[] = { "BALANCE_NEWIDLE", "BALANCE_EXEC", "BALANCE_FORK", "WAKE_AFFINE", "SHARE_CPUCAPACITY", "SHARE_LLC",
					     "CLUSTER", "ASYM_CPUCAPACITY", "ASYM_CPUCAPACITY_FULL", "ASYM_PACKING", "PREFER_SIBLING",
					     "SERIALIZE", "NUMA", "OVERLAP" };

	if (idx >= sizeof(names) / sizeof(names[0]))
		return 0;
	*name = names[idx];
	return 1u << idx;
}

/* A mask in hex words of 32 bits joined by commas, the most significant first. Return: false when it is none. */
static bool parse_mask(const char *text, size_t len, struct rs_cpuset *ret)
{
	unsigned int bit = 0;

	memset(ret, 0, sizeof(*ret));
	if (!len)
		return false;
	while (len--) {
		int c = (unsigned char)text[len], digit;

		if (c == ',')
			continue;
		if (!isxdigit(c) || bit >= RS_MAX_CPUS)
			return false;
		digit = isdigit(c) ? c - '0' : tolower(c) - 'a' + 10;
		ret->bits[bit / 64] |= (uint64_t)digit << (bit % 64);
		bit += 4;
	}
	return true;
}

static int differs(const struct resched_domains *d, unsigned int cpu, unsigned int level, const struct rs_cpuset *kernel,
		   struct resched_error *err)
{
	char ours[200], theirs[200];

	resched_domain_span(d, cpu, level, -1, ours, sizeof(ours));
	rs_cpulist_format(kernel, theirs, sizeof(theirs));
	(void)rs_error_set(err, RESCHED_FAILED, 0, "cpu %u, domain %u: the kernel built %s, the model %s", cpu, level,
		     theirs[0] ? theirs : "none", ours[0] ? ours : "none");
	return 1;
}

static bool same_span(const struct resched_domains *d, unsigned int cpu, unsigned int level, const struct rs_cpuset *kernel)
{
	const struct rs_domain *domain = rs_domain_at(d, cpu, (int)level);

	if (!domain || domain->shape->span.nr != rs_cpuset_count(kernel))
		return false;
	return !memcmp(domain->shape->span.bits, kernel->bits, d->nr_words * sizeof(uint64_t));
}

int resched_domains_check(const struct resched_domains *d, const char *schedstat, struct resched_error *err)
{
	static const struct rs_cpuset none;
	unsigned int cpu = d->nr_cpus, level = 0, nr_seen = 0;
	const char *line = schedstat;

	while (*line) {
		size_t len = strcspn(line, "\n"), word = strcspn(line, " \n");
		struct rs_cpuset set;

		if (!strncmp(line, "cpu", 3) && isdigit((unsigned char)line[3])) {
			if (cpu < d->nr_cpus && level != d->chains[cpu].nr)
				return differs(d, cpu, level, &none, err);
			cpu = (unsigned int)strtoul(line + 3, NULL, 10);
			level = 0;
			nr_seen++;
		} else if (!strncmp(line, "domain", 6) && nr_seen) {
			const char *mask = line + word + 1;

			/* Version 17 has the name between. */
			if (word < len && !parse_mask(mask, strcspn(mask, " \n"), &set)) {
				mask += strcspn(mask, " \n");
				mask += *mask == ' ';
			}
			if (word >= len || !parse_mask(mask, strcspn(mask, " \n"), &set))
				return rs_error_set(err, RESCHED_DAMAGED, -EBADMSG, "no cpu mask in the schedstat line '%.40s'", line);
			if (cpu >= d->nr_cpus || !same_span(d, cpu, level, &set))
				return differs(d, cpu, level, &set, err);
			level++;
		}
		line += len + (line[len] == '\n');
	}
	if (!nr_seen)
		return rs_error_set(err, RESCHED_DAMAGED, -EBADMSG, "not the text of /proc/schedstat: no line of a cpu");
	if (cpu < d->nr_cpus && level != d->chains[cpu].nr)
		return differs(d, cpu, level, &none, err);
	return 0;
}
