// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/cgroups.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STALE_INTERVALS 60u

static const uint64_t bounds_ns[CUMULATIVE_BUCKETS] = {
	1000, 5000, 10000, 50000, 100000, 250000, 500000, 1000000, 2500000, 5000000, 10000000, 25000000, 50000000, 100000000, 1000000000, UINT64_MAX,
};

uint64_t cumulative_bound(unsigned int bucket)
{
	return bounds_ns[bucket];
}

int cgroups_init(struct cgroups *cgroups, unsigned int max)
{
	*cgroups = (struct cgroups){ .max = max + CGROUP_FIRST, .nr = CGROUP_FIRST, .interval = 1 };
	cgroups->items = calloc(cgroups->max, sizeof(*cgroups->items));
	if (!cgroups->items)
		return -ENOMEM;
	snprintf(cgroups->items[CGROUP_HOST].path, CONFIG_TEXT, "(host)");
	snprintf(cgroups->items[CGROUP_OTHER].path, CONFIG_TEXT, "(other)");
	return 0;
}

void cgroups_release(struct cgroups *cgroups)
{
	free(cgroups->items);
	cgroups->items = NULL;
}

/* The entry that was not used for longest, if that is long enough. What it summed up goes to "(other)", so that totals never shrink. */
static uint32_t evict(struct cgroups *cgroups)
{
	uint32_t oldest = CGROUP_OTHER;
	struct cgroup *from, *other = &cgroups->items[CGROUP_OTHER];

	for (uint32_t i = CGROUP_FIRST; i < cgroups->nr; i++) {
		if (cgroups->interval - cgroups->items[i].used >= STALE_INTERVALS &&
		    (oldest == CGROUP_OTHER || cgroups->items[i].used < cgroups->items[oldest].used))
			oldest = i;
	}
	if (oldest == CGROUP_OTHER)
		return CGROUP_OTHER;
	from = &cgroups->items[oldest];
	for (unsigned int b = 0; b < CUMULATIVE_BUCKETS; b++) {
		other->total_wake.buckets[b] += from->total_wake.buckets[b];
		other->total_delay.buckets[b] += from->total_delay.buckets[b];
	}
	other->total_wake.count += from->total_wake.count;
	other->total_wake.sum_ns += from->total_wake.sum_ns;
	other->total_delay.count += from->total_delay.count;
	other->total_delay.sum_ns += from->total_delay.sum_ns;
	*from = (struct cgroup){ .generation = from->generation + 1 };
	cgroups->evicted++;
	return oldest;
}

uint32_t cgroups_find(struct cgroups *cgroups, const char *path)
{
	uint32_t idx;

	for (uint32_t i = CGROUP_FIRST; i < cgroups->nr; i++) {
		if (!strcmp(cgroups->items[i].path, path))
			return i;
	}
	idx = cgroups->nr < cgroups->max ? cgroups->nr++ : evict(cgroups);
	if (idx == CGROUP_OTHER)
		return idx;
	snprintf(cgroups->items[idx].path, CONFIG_TEXT, "%s", path);
	cgroups->items[idx].used = cgroups->interval;
	return idx;
}

static void cumulate(struct cumulative *total, uint64_t ns)
{
	unsigned int b = 0;

	while (ns > bounds_ns[b])
		b++;
	total->buckets[b]++;
	total->count++;
	total->sum_ns += ns;
}

void cgroup_add(struct cgroups *cgroups, uint32_t idx, bool is_wake, uint64_t ns)
{
	struct cgroup *c = &cgroups->items[idx];

	c->used = cgroups->interval;
	hist_add(&c->delay, ns);
	cumulate(&c->total_delay, ns);
	if (!is_wake)
		return;
	hist_add(&c->wake, ns);
	cumulate(&c->total_wake, ns);
}

void cgroups_next_interval(struct cgroups *cgroups)
{
	for (uint32_t i = 0; i < cgroups->nr; i++) {
		hist_clear(&cgroups->items[i].wake);
		hist_clear(&cgroups->items[i].delay);
	}
	cgroups->interval++;
}

/* Is "cpu" one of the comma-separated @words? */
static bool has_cpu(const char *words, size_t len)
{
	for (size_t at = 0; at < len;) {
		size_t n = strcspn(words + at, ",:");

		if (n == 3 && !memcmp(words + at, "cpu", 3))
			return true;
		at += n + 1;
	}
	return false;
}

/* "0::/path" with cgroup v2; "4:cpu,cpuacct:/path" where the cpu controller is still one of v1. */
int cgroup_path_of(int pid, char *ret, size_t size)
{
	char name[40], line[CONFIG_TEXT + 64];
	bool found = false;
	FILE *in;

	snprintf(name, sizeof(name), "/proc/%d/cgroup", pid);
	in = fopen(name, "re");
	if (!in)
		return -ENOENT;
	while (fgets(line, sizeof(line), in)) {
		char *words = strchr(line, ':'), *path = words ? strchr(words + 1, ':') : NULL;
		bool is_v2 = words && path == words + 1;

		if (!path || (!is_v2 && !has_cpu(words + 1, (size_t)(path - words - 1))))
			continue;
		path[strcspn(path, "\n")] = '\0';
		snprintf(ret, size, "%s", path + 1);
		found = true;
		if (!is_v2)
			break;
	}
	fclose(in);
	return found ? 0 : -ENOENT;
}
