// SPDX-License-Identifier: GPL-2.0-only
/* Domains against what a kernel shows of its own below /sys/kernel/debug/sched/domains: names, flags and parameters. */
#include "replay/domains.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Text of a small file below @dir. Return: false when it cannot be read. */
static bool read_small(const char *dir, unsigned int cpu, unsigned int level, const char *name, char *buf, size_t size)
{
	char path[512];
	size_t n;
	FILE *in;

	if (snprintf(path, sizeof(path), "%s/cpu%u/domain%u/%s", dir, cpu, level, name) >= (int)sizeof(path))
		return false;
	in = fopen(path, "re");
	if (!in)
		return false;
	n = fread(buf, 1, size - 1, in);
	fclose(in);
	buf[n] = '\0';
	while (n > 0 && (buf[n - 1] == '\n' || buf[n - 1] == ' '))
		buf[--n] = '\0';
	return true;
}

static bool has_level(const char *dir, unsigned int cpu, unsigned int level)
{
	char name[32];

	return read_small(dir, cpu, level, "name", name, sizeof(name));
}

/* Bits of flags by name; those the model does not know are kept in *@ret_unknown. */
static unsigned int parse_flags(char *text, const char **ret_unknown)
{
	unsigned int flags = 0, bit;
	char *save = NULL;

	*ret_unknown = NULL;
	for (char *word = strtok_r(text, " \n", &save); word; word = strtok_r(NULL, " \n", &save)) {
		const char *name, *want = !strncmp(word, "SD_", 3) ? word + 3 : word;
		bool known = false;

		if (!strcmp(want, "SHARE_PKG_RESOURCES"))
			want = "SHARE_LLC"; /* its name before 6.9 */
		for (unsigned int i = 0; !known && (bit = resched_domain_flag_name(i, &name)); i++) {
			known = !strcmp(name, want);
			flags |= known ? bit : 0;
		}
		if (!known)
			*ret_unknown = word;
	}
	return flags;
}

static void print_flags(unsigned int flags, char *buf, size_t size)
{
	const char *name;
	size_t used = 0;
	unsigned int bit;

	buf[0] = '\0';
	for (unsigned int i = 0; used < size && (bit = resched_domain_flag_name(i, &name)); i++) {
		if (flags & bit)
			used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? " " : "", name);
	}
	if (!used)
		snprintf(buf, size, "none");
}

static int check_flags(const struct resched_domain *model, unsigned int cpu, unsigned int level, char *text, struct resched_error *err)
{
	unsigned int kernel, extra, missing;
	char theirs[200], ours[200];
	const char *unknown;

	kernel = parse_flags(text, &unknown);
	extra = kernel & ~model->flags;
	missing = model->flags & ~kernel;
	if (unknown) {
		(void)rs_error_set(err, RESCHED_FAILED, 0, "cpu %u, domain %u: the kernel has the flag %.40s, which the model does not know", cpu,
				   level, unknown);
		return 1;
	}
	if (!extra && !missing)
		return 0;
	print_flags(extra, theirs, sizeof(theirs));
	print_flags(missing, ours, sizeof(ours));
	(void)rs_error_set(err, RESCHED_FAILED, 0, "cpu %u, domain %u: flags only in the kernel: %s; only in the model: %s", cpu, level, theirs,
			   ours);
	return 1;
}

struct figure {
	const char *name;
	size_t at;
};

static const struct figure figures[] = {
	{ "imbalance_pct", offsetof(struct resched_domain, imbalance_pct) },
	{ "cache_nice_tries", offsetof(struct resched_domain, cache_nice_tries) },
	{ "min_interval", offsetof(struct resched_domain, min_interval_ms) },
	{ "max_interval", offsetof(struct resched_domain, max_interval_ms) },
};

static int check_level(const struct resched_domain *model, const char *dir, unsigned int cpu, unsigned int level, struct resched_error *err)
{
	char text[512];

	if (!read_small(dir, cpu, level, "name", text, sizeof(text)))
		return 0;
	if (strcmp(text, model->name) != 0) {
		(void)rs_error_set(err, RESCHED_FAILED, 0, "cpu %u, domain %u: the kernel calls it %.40s, the model %s", cpu, level, text, model->name);
		return 1;
	}
	if (read_small(dir, cpu, level, "flags", text, sizeof(text)) && check_flags(model, cpu, level, text, err))
		return 1;
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
		unsigned int ours = *(const unsigned int *)((const char *)model + figures[i].at);

		if (!read_small(dir, cpu, level, figures[i].name, text, sizeof(text)) || strtoul(text, NULL, 10) == ours)
			continue;
		(void)rs_error_set(err, RESCHED_FAILED, 0, "cpu %u, domain %u: %s is %.20s in the kernel, %u in the model", cpu, level,
				   figures[i].name, text, ours);
		return 1;
	}
	return 0;
}

int resched_domains_check_debugfs(const struct resched_domains *d, const char *dir, struct resched_error *err)
{
	bool any = false;

	for (unsigned int cpu = 0; cpu < d->nr_cpus && !any; cpu++)
		any = has_level(dir, cpu, 0);
	if (!any)
		return rs_error_set(err, RESCHED_FAILED, -ENODATA, "the kernel shows no domains in %.200s", dir);
	for (unsigned int cpu = 0; cpu < d->nr_cpus; cpu++) {
		struct resched_domain model;
		unsigned int level = 0;

		for (; resched_domain_of(d, cpu, level, &model); level++) {
			if (!has_level(dir, cpu, level)) {
				(void)rs_error_set(err, RESCHED_FAILED, 0, "cpu %u, domain %u: only in the model (%s)", cpu, level, model.name);
				return 1;
			}
			if (check_level(&model, dir, cpu, level, err))
				return 1;
		}
		if (has_level(dir, cpu, level)) {
			(void)rs_error_set(err, RESCHED_FAILED, 0, "cpu %u, domain %u: only in the kernel", cpu, level);
			return 1;
		}
	}
	return 0;
}
