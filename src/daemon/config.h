/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What reschedd.conf(5) can say. INI, read through inih; every key is a line of a table in config.c, from which defaults, checks and
 * `reschedd --list-keys` come. Plain data once read; reloading reads a second one and replaces the first.
 */
#ifndef DAEMON_CONFIG_H
#define DAEMON_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define CONFIG_MAX_TRIGGERS 16u
#define CONFIG_MAX_SCHEDULES 16u
#define CONFIG_TEXT 256u

enum trigger_kind { TRIGGER_THRESHOLD = 0, TRIGGER_JUMP, TRIGGER_SLO, TRIGGER_PSI };
enum watch_what { WATCH_WAKEUP_LATENCY = 0, WATCH_RUN_DELAY };

struct config_trigger {
	char name[32];
	uint64_t kind, what;		/* enum trigger_kind, enum watch_what */
	uint64_t over_ns;		/* threshold: one wait; slo: what counts as bad; psi: stall in @window_ns */
	char comm[64], cgroup[CONFIG_TEXT];	/* globs; empty = all */
	double quantile, factor;	/* jump: this quantile, so many times that of the windows before */
	double objective, burn;		/* slo: share of waits that shall be good; so many times the allowed share of bad ones */
	uint64_t window_ns, least;	/* jump, slo: over so long, with at least so many waits */
	uint64_t resource;		/* psi: enum resched_psi */
	uint64_t cooldown_ns;
	unsigned int line;		/* where it begins; 0: built in */
};

/* One scheduled what-if. */
struct config_schedule {
	char name[32];
	uint64_t every_ns, last_ns;
	char policies[64], model[32], feature[CONFIG_TEXT], set[CONFIG_TEXT], task[CONFIG_TEXT], group[CONFIG_TEXT], placement[16];
	char cgroup[CONFIG_TEXT];	/* glob: whose figures are kept; empty = all */
	uint64_t keep;
	unsigned int line;
};

struct config {
	/* recorder */
	bool record;
	uint64_t backend, detail;	/* as in resched/capture.h */
	uint64_t memory, keep_ns;
	double cpu_budget;		/* of one cpu, in per cent */
	/* watch */
	uint64_t interval_ns, max_tasks, max_cgroups;
	/* snapshots */
	char directory[CONFIG_TEXT];
	uint64_t before_ns, after_ns, max_size, max_count, max_age_ns, min_free;
	/* whatif */
	uint64_t workers, queue, cpu_time_ns, wall_time_ns, worker_memory, report_size;
	char user[32];
	/* socket */
	char path[100], read_group[32], control_group[32];
	uint64_t max_clients, max_request, idle_ns;
	double rate;
	/* metrics */
	char textfile[CONFIG_TEXT];
	uint64_t metrics_ns;

	unsigned int nr_triggers;	struct config_trigger triggers[CONFIG_MAX_TRIGGERS];
	unsigned int nr_schedules;	struct config_schedule schedules[CONFIG_MAX_SCHEDULES];
};

/* config_error_fn: one line about one mistake. */
typedef void (*config_error_fn)(void *ctx, const char *text);

void config_defaults(struct config *config);

/* config_read() - defaults and then @path over them. @missing_ok: a file that is not there is an empty one.
 * Return: 0; -EINVAL when there were mistakes, each told to @error; -errno of the open, told as well. */
int config_read(const char *path, bool missing_ok, struct config *ret, config_error_fn error, void *ctx);

/* config_list_keys() - a line a key: SECTION, KEY, DEFAULT, MEANING with tabs between. */
void config_list_keys(FILE *out);

#endif
