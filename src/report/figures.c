// SPDX-License-Identifier: GPL-2.0-only
#include "report/figures.h"

#include <stddef.h>

#define VALUE(word, expression)                                  \
	static double value_##word(const struct resched_figures *f) \
	{                                                        \
		return (double)(expression);                     \
	}
VALUE(latency_mean, f->wakeup_latency.mean)
VALUE(latency_p50, f->wakeup_latency.p50)
VALUE(latency_p99, f->wakeup_latency.p99)
VALUE(latency_max, f->wakeup_latency.max)
VALUE(delay_sum, f->run_delay.sum)
VALUE(delay_mean, f->run_delay.mean)
VALUE(switches, f->switches)
VALUE(voluntary, f->voluntary)
VALUE(involuntary, f->involuntary)
VALUE(wakeups, f->wakeups)
VALUE(migrations, f->migrations)
VALUE(runtime, f->runtime_ns)

static const struct resched_dist *dist_latency(const struct resched_figures *f)
{
	return &f->wakeup_latency;
}

static const struct resched_dist *dist_delay(const struct resched_figures *f)
{
	return &f->run_delay;
}

static const struct rs_figure latency[] = {
	{ "wakeup_latency_mean_ns", "mean", RS_UNIT_NS, 1, value_latency_mean, dist_latency },
	{ "wakeup_latency_p50_ns", "p50", RS_UNIT_NS, 1, value_latency_p50, dist_latency },
	{ "wakeup_latency_p99_ns", "p99", RS_UNIT_NS, 1, value_latency_p99, dist_latency },
	{ "wakeup_latency_max_ns", "max", RS_UNIT_NS, 1, value_latency_max, dist_latency },
};

static const struct rs_figure delay[] = {
	{ "run_delay_sum_ns", "sum", RS_UNIT_NS, 1, value_delay_sum, dist_delay },
	{ "run_delay_mean_ns", "mean", RS_UNIT_NS, 1, value_delay_mean, dist_delay },
};

static const struct rs_figure switches[] = {
	{ "switches", "switches", RS_UNIT_COUNT, 0, value_switches, NULL },
	{ "voluntary", "voluntary", RS_UNIT_COUNT, 0, value_voluntary, NULL },
	{ "involuntary", "involuntary", RS_UNIT_COUNT, 0, value_involuntary, NULL },
	{ "wakeups", "wakeups", RS_UNIT_COUNT, 0, value_wakeups, NULL },
	{ "migrations", "migrations", RS_UNIT_COUNT, 0, value_migrations, NULL },
	{ "runtime_ns", "run time", RS_UNIT_NS, 0, value_runtime, NULL },
};

#define TABLE(title, array) { title, sizeof(array) / sizeof((array)[0]), array }
const struct rs_figure_table rs_figure_tables[RS_FIGURES_NR_TABLES] = {
	[RS_FIGURES_LATENCY] = TABLE("Wakeup latency: from waking to running", latency),
	[RS_FIGURES_DELAY] = TABLE("Run delay: all time runnable but not running", delay),
	[RS_FIGURES_SWITCHES] = TABLE("Switches", switches),
};
