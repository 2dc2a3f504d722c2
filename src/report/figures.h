/* SPDX-License-Identifier: GPL-2.0-only */
/* The figures by name, in one order for JSON, CSV and comparisons. */
#ifndef RS_REPORT_FIGURES_H
#define RS_REPORT_FIGURES_H

#include <stdint.h>
#include <resched/analysis.h>

enum rs_figure_unit { RS_UNIT_COUNT, RS_UNIT_NS };

struct rs_figure {
	const char *key;		/* snake_case with its unit: "wakeup_latency_p99_ns" */
	const char *label;		/* for people: "p99" */
	enum rs_figure_unit unit;
	int less_is_better;		/* 0: neither way is */
	double (*value)(const struct resched_figures *f);
	const struct resched_dist *(*dist)(const struct resched_figures *f);	/* what it is a figure of; NULL: a plain count */
};

enum { RS_FIGURES_LATENCY = 0, RS_FIGURES_DELAY, RS_FIGURES_SWITCHES, RS_FIGURES_NR_TABLES };

/* The tables of a comparison. */
struct rs_figure_table { const char *title; unsigned int nr; const struct rs_figure *figures; };
extern const struct rs_figure_table rs_figure_tables[RS_FIGURES_NR_TABLES];

#endif
