// SPDX-License-Identifier: GPL-2.0-only
/* Weight, quota and cpus of every cgroup that has tasks, and of all groups above them. */
#include "capture/host_internal.h"

#include <errno.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_WEIGHT	100u
#define SHARES_OF_100	1024u	/* cgroup v1's cpu.shares for a weight of 100 */

struct cgroup_mount {
	char path[256];		/* below the root; empty: none */
	bool v1;		/* the cpu controller is on a v1 hierarchy */
};

/* The hierarchy that rules the cpu: v1's when there is one with the cpu controller, else v2's. */
static void find_mount(const struct rs_host_reader *reader, struct cgroup_mount *ret)
{
	char path[PATH_MAX], text[4096];
	struct mntent entry;
	FILE *mounts;

	memset(ret, 0, sizeof(*ret));
	snprintf(path, sizeof(path), "%s/proc/self/mounts", reader->root);
	mounts = setmntent(path, "re");
	if (!mounts)
		return;
	while (getmntent_r(mounts, &entry, text, sizeof(text))) {
		bool v1 = strcmp(entry.mnt_type, "cgroup") == 0 && hasmntopt(&entry, "cpu");

		if (!v1 && (ret->path[0] || strcmp(entry.mnt_type, "cgroup2") != 0))
			continue;
		snprintf(ret->path, sizeof(ret->path), "%s", entry.mnt_dir);
		ret->v1 = v1;
		if (v1)
			break;
	}
	endmntent(mounts);
}

static uint64_t number_in(const struct rs_host_reader *reader, const struct cgroup_mount *mount,
			  const char *path, const char *file, uint64_t otherwise)
{
	char text[64], *end;
	unsigned long long value;

	if (rs_host_path_read(reader, text, sizeof(text), "%s%s/%s", mount->path, path, file) <= 0)
		return otherwise;
	value = strtoull(text, &end, 10);
	return end == text || text[0] == '-' ? otherwise : value;
}

static void read_v1(const struct rs_host_reader *reader, const struct cgroup_mount *mount,
		    struct resched_host_cgroup *group)
{
	uint64_t shares = number_in(reader, mount, group->path, "cpu.shares", SHARES_OF_100);

	/* rounded; the kernel's own way from weight to shares is shares = round(weight * 1024 / 100) */
	group->weight = (shares * DEFAULT_WEIGHT + SHARES_OF_100 / 2) / SHARES_OF_100;
	if (group->weight < 1)
		group->weight = 1;
	if (group->weight > 10000)
		group->weight = 10000;
	group->quota_us = number_in(reader, mount, group->path, "cpu.cfs_quota_us", 0);
	group->period_us = number_in(reader, mount, group->path, "cpu.cfs_period_us", 100000);
}

/* Return: 0; -ENOMEM. */
static int read_v2(const struct rs_host_reader *reader, const struct cgroup_mount *mount,
		   struct resched_host_cgroup *group)
{
	char text[8192];
	unsigned long long quota, period;

	group->weight = number_in(reader, mount, group->path, "cpu.weight", DEFAULT_WEIGHT);
	group->period_us = 100000;
	if (rs_host_path_read(reader, text, sizeof(text), "%s%s/cpu.max", mount->path,
			      group->path) > 0) {
		if (sscanf(text, "%llu %llu", &quota, &period) == 2) {
			group->quota_us = quota;
			group->period_us = period;
		} else if (sscanf(text, "max %llu", &period) == 1) {
			group->period_us = period;
		}
	}
	if (rs_host_path_read(reader, text, sizeof(text), "%s%s/cpuset.cpus.effective", mount->path,
			      group->path) > 0) {
		group->cpuset = strdup(text);
		if (!group->cpuset)
			return -ENOMEM;
	}
	return 0;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* @path and all groups above it, "/" included, as texts of their own. */
static int add_with_parents(char ***paths, unsigned int *nr, const char *path)
{
	size_t len = strlen(path);

	if (path[0] != '/')
		return 0;
	for (;;) {
		if (rs_host_grow(paths, *nr, sizeof(**paths)) < 0)
			return -ENOMEM;
		(*paths)[*nr] = len ? strndup(path, len) : strdup("/");
		if (!(*paths)[*nr])
			return -ENOMEM;
		(*nr)++;
		if (len <= 1)
			return 0;
		while (len && path[len - 1] != '/')
			len--;
		len = len ? len - 1 : 0;	/* "/a/b" -> "/a" -> "" which is "/" */
	}
}

static int add_group(struct rs_host_reader *reader, const struct cgroup_mount *mount, const char *path)
{
	struct resched_host *host = reader->host;
	struct resched_host_cgroup *group;

	if (rs_host_grow(&host->cgroups, host->nr_cgroups, sizeof(*host->cgroups)) < 0)
		return -ENOMEM;
	group = &host->cgroups[host->nr_cgroups];
	memset(group, 0, sizeof(*group));
	group->path = strdup(path);
	if (!group->path)
		return -ENOMEM;
	host->nr_cgroups++;
	if (mount->v1) {
		read_v1(reader, mount, group);
		return 0;
	}
	return read_v2(reader, mount, group);
}

int rs_host_read_cgroups(struct rs_host_reader *reader)
{
	const struct resched_host *host = reader->host;
	const char *last = NULL;
	struct cgroup_mount mount;
	char **paths = NULL;
	unsigned int nr = 0, i;
	int rc = 0;

	find_mount(reader, &mount);
	if (!mount.path[0])
		return rs_host_unknown(reader, "cgroups",
				       "no cgroup file system with the cpu controller is mounted");
	for (i = 0; i < host->nr_tasks && rc == 0; i++) {
		const char *path = host->tasks[i].cgroup;

		/* neighbours by pid mostly share their group */
		if (path && (!last || strcmp(path, last) != 0))
			rc = add_with_parents(&paths, &nr, path);
		last = path;
	}
	if (nr)
		qsort(paths, nr, sizeof(*paths), compare_texts);
	for (i = 0; i < nr && rc == 0; i++) {
		if (i == 0 || strcmp(paths[i], paths[i - 1]) != 0)
			rc = add_group(reader, &mount, paths[i]);
	}
	for (i = 0; i < nr; i++)
		free(paths[i]);
	free(paths);
	return rc;
}
