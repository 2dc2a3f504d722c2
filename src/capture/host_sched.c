// SPDX-License-Identifier: GPL-2.0-only
/*
 * Features and tunables of the scheduler. Their own files in debugfs are asked first. Kernel
 * lockdown refuses those, because they could be written, but still opens sched/debug, which shows
 * most of them: the features as a bit mask.
 */
#include "capture/host_internal.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/files.h"

#define DEBUG_PID_AT 19	/* column of the pid in the tables of sched/debug */

/* A tunable and where it may be found. */
static const struct tunable {
	const char *name;	/* ours, and debugfs sched/NAME when @debugfs */
	bool debugfs;
	const char *sysctl;	/* /proc/sys/kernel/...; before 5.13 nearly all were there */
	const char *debug;	/* in sched/debug */
	bool debug_ms;		/* there in ms with six decimals */
} tunables[] = {
	{ "base_slice_ns", true, NULL, ".sysctl_sched_base_slice", true },
	{ "latency_ns", true, "sched_latency_ns", ".sysctl_sched_latency", true },
	{ "min_granularity_ns", true, "sched_min_granularity_ns", ".sysctl_sched_min_granularity", true },
	{ "idle_min_granularity_ns", true, NULL, ".sysctl_sched_idle_min_granularity", true },
	{ "wakeup_granularity_ns", true, "sched_wakeup_granularity_ns", ".sysctl_sched_wakeup_granularity", true },
	{ "migration_cost_ns", true, "sched_migration_cost_ns", NULL, false },
	{ "nr_migrate", true, "sched_nr_migrate", NULL, false },
	{ "tunable_scaling", true, "sched_tunable_scaling", ".sysctl_sched_tunable_scaling", false },
	{ "child_runs_first", false, "sched_child_runs_first", ".sysctl_sched_child_runs_first", false },
	{ "cfs_bandwidth_slice_us", false, "sched_cfs_bandwidth_slice_us", NULL, false },
	{ "rt_runtime_us", false, "sched_rt_runtime_us", NULL, false },
	{ "rt_period_us", false, "sched_rt_period_us", NULL, false },
	{ "numa_balancing", false, "numa_balancing", NULL, false },
	{ "energy_aware", false, "sched_energy_aware", NULL, false },
	{ "schedstats", false, "sched_schedstats", NULL, false },
};

int rs_debug_value(const char *debug, const char *name, char *buf, size_t size)
{
	size_t len = strlen(name);
	const char *at = debug;

	while (at && (at = strstr(at, name))) {
		const char *value = at + len;

		if (*value == ' ' || *value == ':') {
			value += strspn(value, " :");
			snprintf(buf, size, "%.*s", (int)strcspn(value, "\n"), value);
			return 0;
		}
		at = value;
	}
	return -ENOENT;
}

/*
 * A line of the table of tasks is " S            comm   PID  vruntime E deadline [S] slice ...":
 * the name is 15 wide and may hold blanks, so the pid is found by its place. Kernel:
 * kernel/sched/debug.c, print_task(), 6.12 and 6.18. Return: 1 custom, 0 default; -ENOENT when it
 * is no such line.
 */
static int parse_task_line(const char *line, size_t len, unsigned long *ret_pid)
{
	char text[160], eligible[4], mark[32], *end;

	if (len <= DEBUG_PID_AT || line[2] != ' ' || line[DEBUG_PID_AT - 1] != ' ')
		return -ENOENT;
	/* cut before strtoul() and sscanf() see it: both would run to the end of a text of megabytes */
	snprintf(text, sizeof(text), "%.*s", (int)len, line);
	*ret_pid = strtoul(text + DEBUG_PID_AT, &end, 10);
	if (*ret_pid == 0 || *ret_pid > INT_MAX || *end != ' ' ||
	    sscanf(end, "%*s %3s %*s %31s", eligible, mark) != 2 || strcspn(eligible, "EN") ||
	    eligible[1])
		return -ENOENT;
	return strcmp(mark, "S") == 0;
}

int rs_debug_slices(const char *debug, struct rs_map *ret)
{
	const char *line = debug;

	memset(ret, 0, sizeof(*ret));
	while (*line) {
		const char *end = strchrnul(line, '\n');
		unsigned long pid;
		int custom = parse_task_line(line, (size_t)(end - line), &pid);

		if (custom >= 0 && rs_map_set(ret, (uint32_t)pid, (uint32_t)custom) < 0)
			return -ENOMEM;
		line = *end ? end + 1 : end;
	}
	return 0;
}

/* "1.400000" ms to ns, exact. Return: 0; -EINVAL. */
static int ms_text_to_ns(const char *text, uint64_t *ret)
{
	char *end;
	uint64_t ns = strtoull(text, &end, 10) * 1000000u, unit = 100000u;

	if (end == text)
		return -EINVAL;
	if (*end == '.') {
		for (end++; *end >= '0' && *end <= '9'; end++, unit /= 10)
			ns += (uint64_t)(*end - '0') * unit;
	}
	*ret = ns;
	return 0;
}

static int debug_tunable(const char *debug, const struct tunable *tunable, char *buf, size_t size)
{
	char text[64];
	uint64_t ns;

	if (!debug || !tunable->debug || rs_debug_value(debug, tunable->debug, text, sizeof(text)) < 0)
		return -ENOENT;
	if (!tunable->debug_ms) {
		snprintf(buf, size, "%.*s", (int)strcspn(text, " "), text);	/* "1 (logarithmic)" */
		return 0;
	}
	if (ms_text_to_ns(text, &ns) < 0)
		return -ENOENT;
	snprintf(buf, size, "%llu", (unsigned long long)ns);
	return 0;
}

static int read_tunable(struct rs_host_reader *reader, const struct tunable *tunable)
{
	char path[PATH_MAX], text[128];
	int rc = -ENOENT;

	if (tunable->debugfs && reader->debugfs[0]) {
		snprintf(path, sizeof(path), "%s/sched/%s", reader->debugfs, tunable->name);
		rc = rs_file_read(path, text, sizeof(text));
		if (rc > 0)
			return rs_host_tunable_add(reader, tunable->name, text);
	}
	if (tunable->sysctl && rs_host_path_read(reader, text, sizeof(text), "/proc/sys/kernel/%s",
						 tunable->sysctl) > 0)
		return rs_host_tunable_add(reader, tunable->name, text);
	if (debug_tunable(reader->debug, tunable, text, sizeof(text)) == 0)
		return rs_host_tunable_add(reader, tunable->name, text);
	/* a file that does not exist is a tunable this kernel does not have */
	if (rc == -EPERM || rc == -EACCES)
		return rs_host_unknown(reader, tunable->name, "debugfs sched/%s: %s%s",
				       tunable->name, strerror(-rc),
				       rc == -EPERM ? " (kernel lockdown)" : "");
	return 0;
}

/* "A NO_B C" into the list. */
static int split_features(struct rs_host_reader *reader, const char *text)
{
	struct resched_host *host = reader->host;

	while (*(text += strspn(text, " \n"))) {
		size_t len = strcspn(text, " \n");

		if (rs_host_grow(&host->features, host->nr_features, sizeof(*host->features)) < 0)
			return -ENOMEM;
		host->features[host->nr_features] = strndup(text, len);
		if (!host->features[host->nr_features])
			return -ENOMEM;
		host->nr_features++;
		text += len;
	}
	return 0;
}

static int read_features(struct rs_host_reader *reader)
{
	struct resched_host *host = reader->host;
	const char *release = host->kernel ? host->kernel : "?";
	char path[PATH_MAX], text[4096];
	int rc = reader->debugfs_rc;

	if (reader->debugfs[0]) {
		snprintf(path, sizeof(path), "%s/sched/features", reader->debugfs);
		rc = rs_file_read(path, text, sizeof(text));
		if (rc > 0)
			return split_features(reader, text);
	}
	if (reader->debug &&
	    rs_debug_value(reader->debug, ".sysctl_sched_features", text, sizeof(text)) == 0) {
		rc = rs_features_decode(release, strtoull(text, NULL, 10), &host->features,
					&host->nr_features);
		if (rc == -ENOENT)
			return rs_host_unknown(
				reader, "features",
				"the order of the bits of mask %s is not known for kernel %s", text,
				release);
		return rc;
	}
	return rs_host_unknown(reader, "features", "debugfs sched/features and sched/debug: %s",
			       rc < 0 ? strerror(-rc) : "empty");
}

/* Nothing of debugfs: say so once, instead of once a tunable. */
static int note_debugfs(struct rs_host_reader *reader)
{
	if (reader->debugfs[0])
		return 0;
	return rs_host_unknown(reader, "tunables", "debugfs (/sys/kernel/debug) cannot be read: %s",
			       strerror(-reader->debugfs_rc));
}

/* Section of a cpu in sched/debug, from behind its number on: "cpu#3, 2592.000 MHz". NULL: none. */
static const char *debug_cpu(const char *debug, unsigned int cpu)
{
	char head[32];
	int len = snprintf(head, sizeof(head), "\ncpu#%u", cpu);

	for (const char *at = debug; at && (at = strstr(at, head)); at += len) {
		if (!isdigit((unsigned char)at[len]))
			return at + len;
	}
	return NULL;
}

/* Where passes cost less than a migration is taken to, the kernel keeps that instead: nothing is known then. */
void rs_debug_newidle(const char *debug, struct resched_host *host)
{
	const char *told = resched_host_tunable(host, "migration_cost_ns");
	uint64_t least = told ? strtoull(told, NULL, 10) : 500000;

	for (unsigned int i = 0; i < host->nr_cpus; i++) {
		const char *section = debug_cpu(debug, host->cpus[i].cpu), *next;
		char text[32];
		uint64_t value;

		if (!section || rs_debug_value(section, ".max_idle_balance_cost", text, sizeof(text)) < 0)
			continue;
		next = strstr(section, "\ncpu#");
		if (next && strstr(section, ".max_idle_balance_cost") > next)
			continue;
		value = strtoull(text, NULL, 10);
		host->cpus[i].newidle_ns = value > least ? value : 0;
	}
}

int rs_host_read_sched(struct rs_host_reader *reader)
{
	int rc = read_features(reader);
	size_t i;

	for (i = 0; i < sizeof(tunables) / sizeof(tunables[0]) && rc == 0; i++)
		rc = read_tunable(reader, &tunables[i]);
	if (reader->debug)
		rs_debug_newidle(reader->debug, reader->host);
	return rc == 0 ? note_debugfs(reader) : rc;
}
