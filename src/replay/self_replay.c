// SPDX-License-Identifier: GPL-2.0-only
#include "replay/self_replay.h"
#include "replay/workload.h"

#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LATENCY_FLOOR_NS 20000.0
#define MIN_WAKEUPS 50u

static double error_of(double predicted, double recorded)
{
	double ratio = (predicted > 0 ? predicted : 1) / (recorded > 0 ? recorded : 1);

	return (ratio > 1 ? ratio : 1 / ratio) - 1;
}

static double latency_error(double predicted, double recorded)
{
	return error_of(predicted > LATENCY_FLOOR_NS ? predicted : LATENCY_FLOOR_NS,
			recorded > LATENCY_FLOOR_NS ? recorded : LATENCY_FLOOR_NS);
}

/* ---- the two reports ---- */

static int recorded_report(const struct rs_shadow_input *in, struct resched_report **ret,
			   struct resched_error *err)
{
	struct resched_analysis_options opts = { .host = in->workload->host, .names = in->names, .latencies = 1 };
	struct resched_analysis *analysis = NULL;
	int rc = resched_analysis_new(&opts, &analysis, err);

	for (uint32_t i = 0; rc >= 0 && i < in->log.nr; i++) {
		rc = resched_analysis_event(analysis, &in->log.events[i]);
		if (rc < 0)
			rs_error_nomem(err);
	}
	if (rc >= 0)
		rc = resched_analysis_finish(analysis, ret, err);
	resched_analysis_free(analysis);
	return rc;
}

static int replayed_report(const struct rs_shadow_input *in, const struct resched_whatif *whatif,
			   struct resched_report **ret, struct resched_error *err)
{
	struct resched_analysis_options opts = { .host = in->workload->host, .names = in->workload->names, .latencies = 1 };
	struct resched_analysis *analysis = NULL;
	struct resched_schedule schedule;
	int rc = resched_analysis_new(&opts, &analysis, err);

	if (rc >= 0)
		rc = resched_replay_run(in->workload, whatif, resched_analysis_event, analysis, NULL,
					&schedule, err);
	if (rc >= 0)
		rc = resched_analysis_finish(analysis, ret, err);
	resched_analysis_free(analysis);
	return rc;
}

/* ---- comparison ---- */

/* Two recordings of one setting differ by 15 % in the median and 65 % at the 90th percentile, in p50 as in p99 (tests/lab). */
#define REPEATS_DIFFER 0.15
#define REPEATS_DIFFER_MOST 0.65

enum resched_trust rs_trust_error(double error)
{
	return error <= REPEATS_DIFFER ? RESCHED_TRUST : error <= REPEATS_DIFFER_MOST ? RESCHED_TRUST_WITH_CARE
										      : RESCHED_DO_NOT_TRUST;
}

static void judge(struct resched_self_comm *c)
{
	double worst = c->latency_p50_error > c->latency_p99_error ? c->latency_p50_error : c->latency_p99_error;
	const char *which = c->latency_p50_error > c->latency_p99_error ? "p50" : "p99";

	c->trust = rs_trust_error(worst);
	if (c->trust == RESCHED_TRUST)
		return;
	if (worst < 1)
		snprintf(c->why, sizeof(c->why), "%s is off by %.0f %%", which, 100 * worst);
	else
		snprintf(c->why, sizeof(c->why), "%s is off by a factor of %.*f", which, worst < 9 ? 1 : 0, 1 + worst);
}

static int compare_names(const void *key, const void *row)
{
	return strcmp(key, ((const struct resched_group_row *)row)->name);
}

/*
 * Wasserstein-1 distance of two distributions: the mean over all quantiles of how far they are apart. Quantiles change where either has
 * a sample of its own, at multiples of 1 / count.
 */
static double distance(const uint64_t *a, uint64_t nr_a, const uint64_t *b, uint64_t nr_b)
{
	uint64_t i = 0, j = 0;
	double at = 0, sum = 0;

	while (i < nr_a && j < nr_b) {
		double end_a = (double)(i + 1) / (double)nr_a, end_b = (double)(j + 1) / (double)nr_b;
		double end = end_a < end_b ? end_a : end_b;

		sum += (end - at) * (double)(a[i] > b[j] ? a[i] - b[j] : b[j] - a[i]);
		i += end_a <= end;
		j += end_b <= end;
		at = end;
	}
	return sum;
}

static double distance_of(const struct resched_group_row *recorded, const struct resched_group_row *replayed)
{
	const struct resched_dist *r = &recorded->f.wakeup_latency;

	if (!r->sum)
		return 0;
	if (!replayed || !replayed->f.wakeup_latency.count)
		return 1; /* all of it is missing */
	return distance(recorded->latencies, r->count, replayed->latencies, replayed->f.wakeup_latency.count) / r->mean;
}

static void compare_comm(const struct resched_group_row *recorded,
			 const struct resched_report *replayed, struct resched_self_comm *ret)
{
	static const struct resched_figures nothing;
	const struct resched_group_row *row = bsearch(recorded->name, replayed->comms,
						      replayed->nr_comms, sizeof(*row), compare_names);
	const struct resched_figures *r = &recorded->f, *p = row ? &row->f : &nothing;

	snprintf(ret->comm, sizeof(ret->comm), "%s", recorded->name);
	ret->wakeups = r->wakeups;
	ret->latency_p50_error = latency_error((double)p->wakeup_latency.p50,
					       (double)r->wakeup_latency.p50);
	ret->latency_p99_error = latency_error((double)p->wakeup_latency.p99,
					       (double)r->wakeup_latency.p99);
	ret->latency_mean_error = latency_error(p->wakeup_latency.mean, r->wakeup_latency.mean);
	ret->involuntary_error = error_of((double)p->involuntary, (double)r->involuntary);
	ret->migrations_error = error_of((double)p->migrations, (double)r->migrations);
	ret->runtime_error = error_of((double)p->runtime_ns, (double)r->runtime_ns);
	if (recorded->latencies && (!row || row->latencies))
		ret->latency_distance = distance_of(recorded, row);
	judge(ret);
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *values, unsigned int nr)
{
	if (!nr)
		return 0;
	qsort(values, nr, sizeof(*values), compare_doubles);
	return nr % 2 ? values[nr / 2] : (values[nr / 2 - 1] + values[nr / 2]) / 2;
}

int resched_self_compare(const struct resched_report *recorded, const struct resched_report *replayed,
			   struct resched_self_replay *ret)
{
	double *p50 = calloc(recorded->nr_comms + 1u, sizeof(*p50)),
	       *p99 = calloc(recorded->nr_comms + 1u, sizeof(*p99));

	memset(ret, 0, sizeof(*ret));
	ret->comms = calloc(recorded->nr_comms + 1u, sizeof(*ret->comms));
	if (!p50 || !p99 || !ret->comms) {
		free(p50);
		free(p99);
		free(ret->comms);
		ret->comms = NULL;
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < recorded->nr_comms; i++) {
		if (recorded->comms[i].f.wakeup_latency.count < MIN_WAKEUPS)
			continue;
		compare_comm(&recorded->comms[i], replayed, &ret->comms[ret->nr_comms]);
		p50[ret->nr_comms] = ret->comms[ret->nr_comms].latency_p50_error;
		p99[ret->nr_comms] = ret->comms[ret->nr_comms].latency_p99_error;
		ret->has_distance |= recorded->comms[i].latencies != NULL;
		ret->latency_distance += ret->comms[ret->nr_comms].latency_distance;
		ret->nr_comms++;
	}
	if (ret->nr_comms)
		ret->latency_distance /= ret->nr_comms;
	ret->latency_p50_error_median = median(p50, ret->nr_comms);
	ret->latency_p99_error_median = median(p99, ret->nr_comms);
	ret->involuntary_error_total = error_of((double)replayed->totals.involuntary + 1,
						(double)recorded->totals.involuntary + 1);
	ret->migrations_error_total = error_of((double)replayed->totals.migrations + 1,
					       (double)recorded->totals.migrations + 1);
	ret->runtime_error_total = error_of((double)replayed->totals.runtime_ns,
					    (double)recorded->totals.runtime_ns);
	free(p50);
	free(p99);
	return 0;
}

int rs_self_replay(const struct rs_shadow_input *in, const struct resched_whatif *whatif,
		   struct resched_self_replay *ret, struct resched_error *err)
{
	struct resched_report *recorded = NULL, *replayed = NULL;
	int rc = recorded_report(in, &recorded, err);

	if (rc >= 0)
		rc = replayed_report(in, whatif, &replayed, err);
	if (rc >= 0)
		rc = resched_self_compare(recorded, replayed, ret) < 0 ? rs_error_nomem(err) : 0;
	resched_report_free(recorded);
	resched_report_free(replayed);
	return rc < 0 ? rc : 0;
}
