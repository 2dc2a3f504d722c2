// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/config_keys.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <resched/units.h>

#define S 1e9
#define DAY (86400 * S)
#define MB 1048576.0
#define GB (1024 * MB)

/* member, default, kind, least, most, words, meaning */
#define KEY(type, name, member, value, kind, min, max, words, text) \
	{ \
		name, value, kind, offsetof(struct type, member), sizeof(((struct type *)0)->member), min, max, words, text \
	}
#define C(...) KEY(config, __VA_ARGS__)
#define T(...) KEY(config_trigger, __VA_ARGS__)
#define W(...) KEY(config_schedule, __VA_ARGS__)

static const struct config_key recorder[] = {
	C("enabled", record, "yes", CONFIG_BOOL, 0, 0, NULL, "keep the flight recorder running"),
	C("backend", backend, "auto", CONFIG_WORD, 0, 0, "auto|tracefs|bpf", "how events are got out of the kernel"),
	C("detail", detail, "normal", CONFIG_WORD, 0, 0, "minimal|normal|precise|truth", "how much is recorded of each switch"),
	C("memory", memory, "64M", CONFIG_BYTES, MB, 64 * GB, NULL, "buffers of all cpus together"),
	C("keep", keep_ns, "30s", CONFIG_TIME, S, 3600 * S, NULL, "how much of the past is wanted"),
	C("cpu_budget", cpu_budget, "5", CONFIG_REAL, 0.1, 100, NULL, "cpu time that the daemon may take, in per cent of one cpu"),
};

static const struct config_key watch[] = {
	C("interval", interval_ns, "1s", CONFIG_TIME, S / 10, 60 * S, NULL, "how often latencies are summed up and triggers looked at"),
	C("max_tasks", max_tasks, "4096", CONFIG_COUNT, 16, 65536, NULL, "tasks with figures of their own; the others count for their cgroup"),
	C("max_cgroups", max_cgroups, "256", CONFIG_COUNT, 1, 4096, NULL, "cgroups with figures of their own; the others are summed as (other)"),
};

static const struct config_key snapshots[] = {
	C("directory", directory, "/var/lib/resched", CONFIG_PATH, 0, 0, NULL, "where snapshots and series are kept"),
	C("before", before_ns, "5s", CONFIG_TIME, 0, 3600 * S, NULL, "of the time before a trigger"),
	C("after", after_ns, "1s", CONFIG_TIME, 0, 600 * S, NULL, "of the time after a trigger"),
	C("max_size", max_size, "1G", CONFIG_BYTES, MB, 4096 * GB, NULL, "of all snapshots together; the oldest go first"),
	C("max_count", max_count, "100", CONFIG_COUNT, 1, 10000, NULL, "snapshots kept"),
	C("max_age", max_age_ns, "30d", CONFIG_TIME, S, 3650 * DAY, NULL, "older snapshots are removed"),
	C("min_free", min_free, "256M", CONFIG_BYTES, 0, 4096 * GB, NULL, "room that must stay free on the disk"),
};

static const struct config_key whatif[] = {
	C("workers", workers, "1", CONFIG_COUNT, 1, 64, NULL, "what-ifs that run at the same time"),
	C("queue", queue, "16", CONFIG_COUNT, 1, 1024, NULL, "what-ifs that may wait"),
	C("cpu_time", cpu_time_ns, "2m", CONFIG_TIME, S, 86400 * S, NULL, "cpu time of one what-if"),
	C("wall_time", wall_time_ns, "10m", CONFIG_TIME, S, 86400 * S, NULL, "time of one what-if"),
	C("memory", worker_memory, "1G", CONFIG_BYTES, 16 * MB, 1024 * GB, NULL, "address space of one what-if"),
	C("report_size", report_size, "8M", CONFIG_BYTES, 65536, GB, NULL, "largest answer"),
	C("user", user, "nobody", CONFIG_STRING, 0, 0, NULL, "who workers become when the daemon runs as root"),
};

static const struct config_key sockets[] = {
	C("path", path, "/run/resched/control.sock", CONFIG_PATH, 0, 0, NULL, "the control socket, unless systemd passes one"),
	C("read_group", read_group, "resched", CONFIG_STRING, 0, 0, NULL, "members may read; empty: root alone"),
	C("control_group", control_group, "", CONFIG_STRING, 0, 0, NULL, "members may control, too; empty: root alone"),
	C("max_clients", max_clients, "32", CONFIG_COUNT, 1, 1024, NULL, "connections at the same time"),
	C("max_request", max_request, "64K", CONFIG_BYTES, 1024, MB, NULL, "longest request"),
	C("rate", rate, "20", CONFIG_REAL, 0.1, 10000, NULL, "requests a second of one client, on average"),
	C("idle", idle_ns, "5m", CONFIG_TIME, S, 86400 * S, NULL, "a client that asks nothing for so long is closed"),
};

static const struct config_key metrics[] = {
	C("textfile", textfile, "", CONFIG_PATH, 0, 0, NULL, "file for the textfile collector of the Prometheus node exporter; empty: none"),
	C("interval", metrics_ns, "15s", CONFIG_TIME, S, 3600 * S, NULL, "how often it is written"),
};

static const struct config_key trigger[] = {
	T("kind", kind, "threshold", CONFIG_WORD, 0, 0, "threshold|jump|slo|psi", "what is judged"),
	T("what", what, "wakeup_latency", CONFIG_WORD, 0, 0, "wakeup_latency|run_delay", "which waits"),
	T("over", over_ns, "20ms", CONFIG_TIME, 1000, 3600 * S, NULL, "threshold: one wait longer than this; slo: what is a bad wait; psi: stall in one window"),
	T("comm", comm, "", CONFIG_STRING, 0, 0, NULL, "threshold: only tasks whose name matches"),
	T("cgroup", cgroup, "", CONFIG_STRING, 0, 0, NULL, "only cgroups whose path matches"),
	T("quantile", quantile, "0.99", CONFIG_REAL, 0.01, 0.9999, NULL, "jump: which quantile"),
	T("factor", factor, "4", CONFIG_REAL, 1.1, 1000, NULL, "jump: so many times what it was"),
	T("objective", objective, "0.999", CONFIG_REAL, 0.5, 0.99999, NULL, "slo: share of waits that shall be no longer than over"),
	T("burn", burn, "10", CONFIG_REAL, 1, 100000, NULL, "slo: so many times the bad waits that the objective allows"),
	T("window", window_ns, "10s", CONFIG_TIME, S / 2, 3600 * S, NULL, "jump, slo, psi: over so long (psi: at most 10s)"),
	T("least", least, "100", CONFIG_COUNT, 1, 1e9, NULL, "jump, slo: at least so many waits in a window"),
	T("resource", resource, "cpu", CONFIG_WORD, 0, 0, "cpu|memory|io", "psi: pressure on what"),
	T("cooldown", cooldown_ns, "1m", CONFIG_TIME, 0, DAY, NULL, "no second snapshot within this time"),
};

static const struct config_key schedule[] = {
	W("every", every_ns, "1h", CONFIG_TIME, 10 * S, 30 * DAY, NULL, "how often"),
	W("last", last_ns, "10s", CONFIG_TIME, S / 10, 3600 * S, NULL, "what is replayed: so much of the past"),
	W("policies", policies, "eevdf evdf", CONFIG_STRING, 0, 0, NULL, "one or more of cfs, eevdf, evdf"),
	W("model", model, "", CONFIG_STRING, 0, 0, NULL, "whose rules; empty: the running kernel's"),
	W("feature", feature, "", CONFIG_STRING, 0, 0, NULL, "scheduler features, [NO_]NAME"),
	W("set", set, "", CONFIG_STRING, 0, 0, NULL, "tunables, NAME=VALUE"),
	W("task", task, "", CONFIG_STRING, 0, 0, NULL, "changes of tasks, SELECT:KEY=VALUE"),
	W("group", group, "", CONFIG_STRING, 0, 0, NULL, "changes of groups, PATH:KEY=VALUE"),
	W("placement", placement, "recorded", CONFIG_STRING, 0, 0, NULL, "recorded or kernel"),
	W("cgroup", cgroup, "", CONFIG_STRING, 0, 0, NULL, "only figures of cgroups whose path matches"),
	W("keep", keep, "1000", CONFIG_COUNT, 1, 1000000, NULL, "points of the series that are kept"),
};

#define SECTION(name, named, keys) { name, named, sizeof(keys) / sizeof((keys)[0]), keys }

static const struct config_section sections[] = {
	SECTION("recorder", false, recorder), SECTION("watch", false, watch), SECTION("snapshots", false, snapshots),
	SECTION("whatif", false, whatif), SECTION("socket", false, sockets), SECTION("metrics", false, metrics),
	SECTION("trigger", true, trigger), SECTION("schedule", true, schedule),
};

const struct config_section *config_sections(unsigned int *ret_nr)
{
	*ret_nr = sizeof(sections) / sizeof(sections[0]);
	return sections;
}

/* A number and what follows it. Return: 0; -EINVAL. */
static int parse_real(const char *text, double *ret, const char **ret_rest)
{
	char *end;

	errno = 0;
	*ret = strtod(text, &end);
	*ret_rest = end;
	return end == text || errno || !isfinite(*ret) || *ret < 0 || strchr("-+", *text) ? -EINVAL : 0;
}

static int parse_unit(const char *text, const char *const *units, const double *factors, double *ret)
{
	const char *rest;
	double number;

	if (parse_real(text, &number, &rest) < 0)
		return -EINVAL;
	for (unsigned int i = 0; units[i]; i++) {
		if (!strcmp(rest, units[i])) {
			*ret = number * factors[i];
			return 0;
		}
	}
	return -EINVAL;
}

static int parse_value(const struct config_key *key, const char *text, double *ret)
{
	static const char *const sizes[] = { "", "K", "M", "G", "T", NULL };
	static const double bytes[] = { 1, 1024, MB, GB, 1024 * GB };
	static const char *const times[] = { "", "s", "ms", "us", "m", "min", "h", "d", NULL };
	static const double ns[] = { S, S, 1e6, 1e3, 60 * S, 60 * S, 3600 * S, DAY };
	const char *rest;

	switch (key->kind) {
	case CONFIG_BYTES: return parse_unit(text, sizes, bytes, ret);
	case CONFIG_TIME:  return parse_unit(text, times, ns, ret);
	case CONFIG_COUNT: return parse_real(text, ret, &rest) < 0 || *rest || floor(*ret) != *ret ? -EINVAL : 0;
	default:	   return parse_real(text, ret, &rest) < 0 || *rest ? -EINVAL : 0;
	}
}

static int find_word(const char *words, const char *text)
{
	size_t len = strlen(text);

	for (int i = 0;; i++) {
		size_t n = strcspn(words, "|");

		if (n == len && !memcmp(words, text, n))
			return i;
		if (!words[n])
			return -1;
		words += n + 1;
	}
}

static int set_text(const struct config_key *key, const char *text, char *to, char *why, size_t size)
{
	if (strlen(text) >= key->size) {
		snprintf(why, size, "is longer than %zu bytes", key->size - 1);
		return -EINVAL;
	}
	if (key->kind == CONFIG_PATH && *text && *text != '/') {
		snprintf(why, size, "wants an absolute path, not '%s'", text);
		return -EINVAL;
	}
	memcpy(to, text, strlen(text) + 1);
	return 0;
}

static int set_number(const struct config_key *key, const char *text, void *at, char *why, size_t size)
{
	static const char *const wants[] = {
		[CONFIG_COUNT] = "a number", [CONFIG_BYTES] = "a size such as 64K, 8M or 1G",
		[CONFIG_TIME] = "a time such as 5ms, 10s, 2h or 7d", [CONFIG_REAL] = "a number",
	};
	double value;

	if (parse_value(key, text, &value) < 0) {
		snprintf(why, size, "wants %s, not '%s'", wants[key->kind], text);
		return -EINVAL;
	}
	if (value < key->min || value > key->max) {
		snprintf(why, size, "is out of range: '%s'", text);
		return -EINVAL;
	}
	if (key->kind == CONFIG_REAL)
		*(double *)at = value;
	else
		*(uint64_t *)at = (uint64_t)(value + 0.5);
	return 0;
}

int config_set(const struct config_key *key, const char *text, void *base, char *why, size_t size)
{
	void *at = (char *)base + key->offset;
	int word;

	switch (key->kind) {
	case CONFIG_STRING:
	case CONFIG_PATH:
		return set_text(key, text, at, why, size);
	case CONFIG_BOOL:
		word = find_word("no|yes", text);
		if (word >= 0)
			*(bool *)at = word == 1;
		else
			snprintf(why, size, "is yes or no, not '%s'", text);
		return word < 0 ? -EINVAL : 0;
	case CONFIG_WORD:
		word = find_word(key->words, text);
		if (word >= 0)
			*(uint64_t *)at = (uint64_t)word;
		else
			snprintf(why, size, "is one of %s, not '%s'", key->words, text);
		return word < 0 ? -EINVAL : 0;
	default:
		return set_number(key, text, at, why, size);
	}
}
