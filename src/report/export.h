/* SPDX-License-Identifier: GPL-2.0-only */
/* Inside of the exporters: what they share, and the ops of a format. */
#ifndef RS_REPORT_EXPORT_H
#define RS_REPORT_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

#include <resched/export.h>

#include "base/map.h"

#define RS_EXPORT_LAGS 64u	/* samples of one instant; more are dropped */

struct rs_lag { int32_t pid; int64_t lag_ns; bool missed; };

/* A format. All may return a negative errno, which ends the export. */
struct rs_export_ops {
	int (*begin)(struct resched_export *x);
	int (*event)(struct resched_export *x, const struct resched_event *ev);
	int (*lag)(struct resched_export *x, uint64_t ts_ns, const struct rs_lag *lag);	/* NULL: has no place for it */
	int (*end)(struct resched_export *x);
	void (*release)(struct resched_export *x);
	char *(*name)(const char *text);	/* a task's name as the format writes it, allocated */
};

struct resched_export {
	FILE *out;
	const struct rs_export_ops *ops;
	const struct resched_host *host;
	const struct resched_names *names;
	unsigned int nr_cpus;
	struct rs_map comm;		/* pid -> name */
	struct rs_map curr;		/* cpu -> who runs there, as far as the events tell */
	uint32_t nr_cached;		/* names as the format writes them */
	char **cached;
	unsigned int nr_lags;
	struct rs_lag lags[RS_EXPORT_LAGS];	/* wait for the event that tells their time */
	int failure;
	void *priv;			/* the format's */
};

/* rs_export_name() - what @pid is called now, as the format writes it; "" when nobody said. @pid 0 has no name here. */
const char *rs_export_name(struct resched_export *x, int32_t pid);
int32_t rs_export_curr(const struct resched_export *x, unsigned int cpu);	/* 0 when not known */

/* rs_export_failed() - has a write just failed? errno tells why. Return: 0; -errno. */
int rs_export_failed(const struct resched_export *x);

/* rs_export_event_name() - as the kernel calls it; "lost", "other" and "task_name" where it has none. */
const char *rs_export_event_name(const struct resched_event *ev);

#define RS_STATE_LEN 24
/* rs_export_state() - "R+", "S", "D|K" as the kernel prints them; K for those without a letter. */
const char *rs_export_state(uint32_t state, char buf[RS_STATE_LEN]);

extern const struct rs_export_ops rs_export_perfetto, rs_export_csv, rs_export_json, rs_export_text, rs_export_html;

#endif
