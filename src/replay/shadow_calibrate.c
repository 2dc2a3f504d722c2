// SPDX-License-Identifier: GPL-2.0-only
/*
 * Without accounting events the clock samples lie at unknown distances from the stamps. They are found from the recording itself.
 *
 * What decides is a + b: where a preempting wakeup splits time, relative to where all other switches do. With run times it is measured:
 * a stretch that began with a switch and was ended by a wakeup is a + b longer than from the stamp of the switch to that of the waking.
 * With stamps alone the model itself is the instrument: its agreement with the recorded decisions has its peak at the true value.
 * All distances are shares of one time that is seen, from a waking to the switch it causes, so no machine's constant is in here.
 */
#include "replay/shadow.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_EVENTS 60000u /* a calibration looks at the beginning only */
#define MAX_SAMPLES 4096u

/* Shares of the waking-to-switch time, from the paths' lengths on the kernels seen: where the search begins. */
#define OFFSET_PERMILLE 650
#define WAKE_LAG_PERMILLE 57
#define TICK_LEAD_PERMILLE 835
#define TICK_SWITCH_PERMILLE 520
#define SOFTIRQ_LEAD_PERMILLE 460
#define FORK_LEAD_PERMILLE 740
#define EXIT_LAG_PERMILLE 400

static int compare_i64(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* ---- with run times ---- */

/* a + b of each preempting wakeup. */
static unsigned int measure_offsets(const struct rs_shadow_log *log, const uint64_t *stints,
				    int64_t *samples)
{
	uint64_t *began = calloc(log->nr_cpus, sizeof(*began)),
		 *waking = calloc(log->nr_cpus, sizeof(*waking));
	unsigned int nr = 0;

	for (uint32_t i = 0; began && waking && i < log->nr && nr < MAX_SAMPLES; i++) {
		const struct resched_event *e = &log->events[i];

		if (e->type == RESCHED_EV_WAKING)
			waking[e->cpu] = e->ts_ns;
		if (e->type != RESCHED_EV_SWITCH)
			continue;
		if (began[e->cpu] && stints[i] && waking[e->cpu] > began[e->cpu] &&
		    (e->sw.prev_state & RESCHED_STATE_PREEMPT || !e->sw.prev_state) &&
		    e->ts_ns - waking[e->cpu] < 30000)
			samples[nr++] = (int64_t)(stints[i] - (waking[e->cpu] - began[e->cpu]));
		/* a stretch that itself began with a preemption has the other offset */
		began[e->cpu] = resched_state_runnable(e->sw.prev_state) ? 0 : e->ts_ns;
	}
	free(began);
	free(waking);
	return nr;
}

static int from_runtimes(const struct rs_shadow_log *log, struct rs_shadow_clock *k)
{
	uint64_t *stints = rs_shadow_measure_stints(log);
	int64_t *samples = malloc(MAX_SAMPLES * sizeof(*samples));
	unsigned int nr = 0;

	if (stints && samples) {
		nr = measure_offsets(log, stints, samples);
		qsort(samples, nr, sizeof(*samples), compare_i64);
		if (nr >= 5 && samples[nr / 2] > (int64_t)k->wake_lag_ns)
			k->switch_lead_ns = (uint64_t)samples[nr / 2] - k->wake_lag_ns;
	}
	free(stints);
	free(samples);
	return stints && samples ? (int)nr : -ENOMEM;
}

/* ---- with stamps alone ---- */

static int score(const struct rs_shadow_log *log, const struct rs_shadow_options *opts, uint64_t *ret)
{
	struct resched_shadow *result = malloc(sizeof(*result));
	struct rs_shadow_options one = *opts;
	struct rs_shadow_log part = *log;
	int rc;

	if (!result)
		return -ENOMEM;
	one.resync = false;
	one.groups = opts->groups;
	if (part.nr > MAX_EVENTS)
		one.stop_ns = part.events[MAX_EVENTS].ts_ns;
	rc = rs_shadow_run(&part, &one, result);
	*ret = rc == 0 ? result->pick_agree + result->preempt_agree : 0;
	free(result);
	return rc;
}

/* The value of *@knob among @nr ones around @middle, @step apart, that agrees best; of equals the nearest to @middle. */
static int search(const struct rs_shadow_log *log, struct rs_shadow_options *opts, uint64_t *knob,
		  uint64_t middle, uint64_t step, int nr)
{
	uint64_t best = 0, chosen = middle, agree;

	for (int i = 0; i < nr; i++) {
		int away = i % 2 ? (i + 1) / 2 : -(i / 2); /* 0, 1, -1, 2, -2 ... */
		int64_t value = (int64_t)middle + away * (int64_t)step;
		int rc;

		if (value < 0)
			continue;
		*knob = (uint64_t)value;
		rc = score(log, opts, &agree);
		if (rc < 0)
			return rc;
		if (agree > best) {
			best = agree;
			chosen = *knob;
		}
	}
	*knob = chosen;
	return 0;
}

static int from_agreement(const struct rs_shadow_log *log, struct rs_shadow_options *opts,
			  uint64_t unit)
{
	struct rs_shadow_clock *k = &opts->clock;
	int rc = search(log, opts, &k->switch_lead_ns, k->switch_lead_ns, unit / 12, 11);

	if (rc == 0)
		rc = search(log, opts, &k->tick_lead_ns, k->tick_lead_ns, unit / 12, 9);
	if (rc == 0)
		rc = search(log, opts, &k->switch_lead_ns, k->switch_lead_ns, unit / 48, 9);
	return rc;
}

int rs_shadow_calibrate(const struct rs_shadow_log *log, struct rs_shadow_options *opts,
			uint64_t unit_ns)
{
	struct rs_shadow_clock *k = &opts->clock;
	int rc = 0;

	k->wake_lag_ns = unit_ns * WAKE_LAG_PERMILLE / 1000;
	k->switch_lead_ns = unit_ns * OFFSET_PERMILLE / 1000 - k->wake_lag_ns;
	k->tick_switch_lead_ns = unit_ns * TICK_SWITCH_PERMILLE / 1000;
	k->tick_lead_ns = unit_ns * TICK_LEAD_PERMILLE / 1000;
	k->softirq_lead_ns = unit_ns * SOFTIRQ_LEAD_PERMILLE / 1000;
	k->fork_lead_ns = unit_ns * FORK_LEAD_PERMILLE / 1000;
	k->exit_lag_ns = unit_ns * EXIT_LAG_PERMILLE / 1000;
	if (!log->nr || !unit_ns)
		return 0;
	if (rs_shadow_find_quota_phases(log, opts) < 0)
		return -ENOMEM;
	if (k->mode == RESCHED_SHADOW_RUNTIMES)
		rc = from_runtimes(log, k);
	else
		rc = from_agreement(log, opts, unit_ns);
	return rc < 0 ? rc : 0;
}
