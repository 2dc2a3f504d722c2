/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Figures for people and for scripts: text tables, JSON (resched/report/1, resched/compare/1, resched/info/1, resched/policies/1,
 * resched/topology/1) and CSV. Output depends on the arguments alone: same figures, same bytes.
 */
#ifndef RESCHED_REPORT_H
#define RESCHED_REPORT_H

#include <stdio.h>
#include <resched/analysis.h>
#include <resched/error.h>
#include <resched/host.h>
#include <resched/replay.h>
#include <resched/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

enum resched_format { RESCHED_TEXT = 0, RESCHED_JSON, RESCHED_CSV };
enum resched_style { RESCHED_STYLE_TABLE = 0, RESCHED_STYLE_PERF, RESCHED_STYLE_SCHBENCH };
enum resched_group { RESCHED_BY_COMM = 0, RESCHED_BY_TASK, RESCHED_BY_CPU, RESCHED_BY_CGROUP, RESCHED_BY_CONTAINER, RESCHED_BY_UNIT };

struct resched_print_options {
	enum resched_format format;
	enum resched_style style;	/* text only */
	enum resched_group group;	/* text and CSV; JSON has all groups */
	int color;			/* 1: ANSI colours */
	unsigned int max_rows;		/* text: 0 = all */
	const char *sort_key;		/* text and CSV: "runtime", "switches", "avg", "p50", "p99", "max", "delay", "name", "involuntary", ...; NULL = "delay" */
	const char *cpus;		/* topology: cpu list whose domains are shown; NULL = the first (JSON: all) */
	const char *kernel;		/* topology: release whose rules count; NULL = the machine's own */
	/* comparison: figures of a replay of the first column under its own kernel's rules, which tell by what predictions err; NULL */
	const struct resched_report *self;
};

/* One column of a comparison: what it is and its figures. Borrowed. */
struct resched_column {
	const struct resched_schedule *schedule;
	const struct resched_report *report;
	const char *label;	/* NULL = "recorded", or the policy of the schedule */
};

/* resched_schedule_recorded() - describe what the kernel did, as the first column of a comparison and the schedule of a report.
 * @kernel: release, NULL = from @host; @host: features and tunables, may be NULL; must outlive @ret. */
void resched_schedule_recorded(const char *kernel, const struct resched_host *host, struct resched_schedule *ret);

/* Return of all: 0; -EINVAL (USAGE: unknown sort key); -EIO when @out failed; -ENOMEM. @whatever may be NULL where noted. */
int resched_print_info(FILE *out, const struct resched_source *source, const struct resched_host *host,
		       const struct resched_workload_info *workload /* may be NULL */, const struct resched_print_options *opts, struct resched_error *err);
int resched_print_report(FILE *out, const struct resched_source *source, const struct resched_schedule *schedule,
			 const struct resched_report *report, const struct resched_print_options *opts, struct resched_error *err);
/* The first column is the base of the differences. */
int resched_print_compare(FILE *out, const struct resched_source *source, unsigned int nr_columns, const struct resched_column *columns,
			  const struct resched_print_options *opts, struct resched_error *err);
/* @policy NULL = the list of all. */
int resched_print_policies(FILE *out, const char *policy, const struct resched_print_options *opts, struct resched_error *err);
int resched_print_topology(FILE *out, const struct resched_host *host, const struct resched_print_options *opts, struct resched_error *err);

#ifdef __cplusplus
}
#endif
#endif
