// SPDX-License-Identifier: GPL-2.0-only
/* Which kernel this is and how it was built: release, HZ, preemption model. */
#include "capture/host_internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <zlib.h>

#include "capture/files.h"

#define CONFIG_LIMIT	(4u << 20)
#define JIFFIES_WAIT_NS	100000000

/* The kernel's configuration, plain or gzipped. Return: allocated text; NULL when there is none. */
static char *read_config(const struct rs_host_reader *reader)
{
	static const char *const places[] = { "/boot/config-%s", "/proc/config.gz",
					      "/lib/modules/%s/config" };
	const char *release = reader->host->kernel ? reader->host->kernel : "";
	char *text = malloc(CONFIG_LIMIT + 1);
	size_t i;

	for (i = 0; text && i < sizeof(places) / sizeof(places[0]); i++) {
		char path[PATH_MAX];
		const char *slot = strstr(places[i], "%s");
		gzFile in;
		int len;

		snprintf(path, sizeof(path), "%s%.*s%s%s", reader->root,
			 slot ? (int)(slot - places[i]) : INT_MAX, places[i], slot ? release : "",
			 slot ? slot + 2 : "");
		in = gzopen(path, "rbe");
		if (!in)
			continue;
		len = gzread(in, text, CONFIG_LIMIT);
		gzclose(in);
		if (len > 0) {
			text[len] = '\0';
			return text;
		}
	}
	free(text);
	return NULL;
}

/* Value of CONFIG_@name: "y", "250"; NULL when not set. Points into @config, ends at a newline. */
static const char *config_value(const char *config, const char *name)
{
	size_t len = strlen(name);
	const char *at = config;

	while (at && (at = strstr(at, name))) {
		if ((at == config || at[-1] == '\n') && at[len] == '=')
			return at + len + 1;
		at += len;
	}
	return NULL;
}

static bool config_is_set(const char *config, const char *name)
{
	const char *value = config_value(config, name);

	return value && *value == 'y';
}

/* jiffies, from whatever shows them. Return: 0; -ENOENT. */
static int read_jiffies(const struct rs_host_reader *reader, uint64_t *ret)
{
	static const struct { const char *path, *mark; } sources[] = {
		{ "/proc/schedstat", "\ntimestamp " },
		{ "/proc/timer_list", "\njiffies: " },
	};
	char path[PATH_MAX], *text;
	const char *at;
	size_t i, len;

	for (i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", reader->root, sources[i].path);
		if (rs_file_read_all(path, CONFIG_LIMIT, &text, &len) < 0)
			continue;
		at = strstr(text, sources[i].mark);
		if (at)
			*ret = strtoull(at + strlen(sources[i].mark), NULL, 10);
		free(text);
		if (at)
			return 0;
	}
	return -ENOENT;
}

static double seconds_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* HZ from the rate of jiffies: the usual value nearest to what was counted. 0 when it cannot be
 * told. */
static unsigned int measure_hz(const struct rs_host_reader *reader)
{
	static const unsigned int usual[] = { 24,  48,  64,  100, 128,  200,  250,
					      256, 300, 500, 512, 1000, 1024, 1200 };
	const struct timespec wait = { .tv_nsec = JIFFIES_WAIT_NS };
	uint64_t first, last;
	double started, rate;
	unsigned int best = 0;
	size_t i;

	if (!reader->live || read_jiffies(reader, &first) < 0)
		return 0;
	started = seconds_now();
	nanosleep(&wait, NULL);
	if (read_jiffies(reader, &last) < 0)
		return 0;
	rate = (double)(last - first) / (seconds_now() - started);
	for (i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
		double off = rate > usual[i] ? rate - usual[i] : usual[i] - rate;

		/* 0.1 s counts to one tick in 10 at 100 Hz: common values are told apart, rare ones
		 * only when they fit better */
		if (!best || off < (rate > best ? rate - best : best - rate))
			best = usual[i];
	}
	return rate > 10 ? best : 0;
}

static int read_hz(struct rs_host_reader *reader, const char *config)
{
	const char *value = config ? config_value(config, "CONFIG_HZ") : NULL;
	unsigned long hz = value ? strtoul(value, NULL, 10) : 0;

	if (hz == 0 || hz > 100000)
		hz = measure_hz(reader);
	reader->host->hz = (unsigned int)hz;
	if (hz)
		return 0;
	return rs_host_unknown(reader, "hz",
			       "no kernel configuration in /boot, /proc/config.gz or /lib/modules, "
			       "and no file shows jiffies");
}

static bool contains_word(const char *text, const char *word)
{
	size_t len = strlen(word);
	const char *at = text;

	while (at && (at = strstr(at, word))) {
		if ((at == text || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
			return true;
		at += len;
	}
	return false;
}

/* The model in brackets of "none (voluntary) full". Return: allocated; NULL. */
static char *chosen_in_brackets(const char *text)
{
	const char *open = strchr(text, '('), *close = open ? strchr(open, ')') : NULL;

	return close ? strndup(open + 1, (size_t)(close - open - 1)) : NULL;
}

/* What the boot command line asks for with preempt=. Return: allocated; NULL. */
static char *preempt_of_cmdline(const struct rs_host_reader *reader)
{
	char text[8192];
	const char *at;

	if (rs_host_path_read(reader, text, sizeof(text), "/proc/cmdline") < 0)
		return NULL;
	at = strncmp(text, "preempt=", 8) == 0 ? text : strstr(text, " preempt=");
	if (!at)
		return NULL;
	at = strchr(at, '=') + 1;
	return strndup(at, strcspn(at, " \n"));
}

static const char *preempt_of_config(const char *config)
{
	static const struct { const char *option, *model; } models[] = {
		{ "CONFIG_PREEMPT_RT", "rt" }, { "CONFIG_PREEMPT_LAZY", "lazy" }, { "CONFIG_PREEMPT", "full" },
		{ "CONFIG_PREEMPT_VOLUNTARY", "voluntary" }, { "CONFIG_PREEMPT_NONE", "none" },
	};
	size_t i;

	for (i = 0; config && i < sizeof(models) / sizeof(models[0]); i++) {
		if (config_is_set(config, models[i].option))
			return models[i].model;
	}
	return NULL;
}

static int read_preempt(struct rs_host_reader *reader, const char *config)
{
	const char *version = reader->host->version ? reader->host->version : "";
	bool dynamic = contains_word(version, "PREEMPT_DYNAMIC") ||
		       (config && config_is_set(config, "CONFIG_PREEMPT_DYNAMIC"));
	char path[PATH_MAX], text[128];
	const char *model = NULL;

	if (reader->debugfs[0]) {
		snprintf(path, sizeof(path), "%s/sched/preempt", reader->debugfs);
		if (rs_file_read(path, text, sizeof(text)) > 0)
			reader->host->preempt = chosen_in_brackets(text);
	}
	if (!reader->host->preempt && dynamic)
		reader->host->preempt = preempt_of_cmdline(reader);
	if (reader->host->preempt)
		return 0;
	if (contains_word(version, "PREEMPT_RT"))
		model = "rt";
	else
		model = preempt_of_config(config);
	if (!model && !dynamic && contains_word(version, "PREEMPT"))
		model = "full";
	if (!model)
		return rs_host_unknown(
			reader, "preempt",
			"no kernel configuration, and debugfs sched/preempt is not readable");
	reader->host->preempt = strdup(model);
	return reader->host->preempt ? 0 : -ENOMEM;
}

static char *copy_of_file(const struct rs_host_reader *reader, const char *path)
{
	char text[512];

	return rs_host_path_read(reader, text, sizeof(text), "%s", path) > 0 ? strdup(text) : NULL;
}

int rs_host_read_kernel(struct rs_host_reader *reader)
{
	struct resched_host *host = reader->host;
	char text[64], *config;
	struct utsname uts;
	int rc = 0;

	host->kernel = copy_of_file(reader, "/proc/sys/kernel/osrelease");
	host->version = copy_of_file(reader, "/proc/sys/kernel/version");
	host->machine = copy_of_file(reader, "/proc/sys/kernel/arch");
	if (!host->machine && reader->live && uname(&uts) == 0)
		host->machine = strdup(uts.machine);
	host->clock = strdup("mono");
	host->autogroup = -1;
	if (rs_host_path_read(reader, text, sizeof(text),
			      "/proc/sys/kernel/sched_autogroup_enabled") > 0)
		host->autogroup = text[0] != '0';
	if (!host->clock)
		return -ENOMEM;
	if (!host->kernel)
		rc = rs_host_unknown(reader, "kernel", "/proc/sys/kernel/osrelease is not readable");
	config = read_config(reader);
	if (rc == 0)
		rc = read_hz(reader, config);
	if (rc == 0)
		rc = read_preempt(reader, config);
	free(config);
	return rc;
}
