// SPDX-License-Identifier: GPL-2.0-only
#include "replay/shadow_input.h"
#include "replay/workload.h"

#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIN_BURST_NS 5000u
#define MAX_BURST_NS 40000u

static bool has_quotas(const struct rs_group_plan *plan)
{
	for (uint32_t i = 0; i < plan->nr; i++) {
		if (plan->specs[i].quota_us)
			return true;
	}
	return false;
}

int rs_shadow_input_read(struct resched_trace *trace, const struct resched_host *host,
			 const struct resched_whatif *whatif, struct rs_shadow_input *ret,
			 struct resched_error *err)
{
	int rc;

	memset(ret, 0, sizeof(*ret));
	ret->names = resched_trace_names(trace);
	ret->log.trace = trace;
	rc = resched_workload_build(trace, host, rs_shadow_log_event, &ret->log, &ret->workload, err);
	if (rc == 0)
		rc = rs_plan_make(ret->workload, whatif, &ret->plan, &ret->schedule, err);
	if (rc == 0 && (rs_shadow_log_finish(&ret->log) < 0 ||
			rs_shadow_plan_homes(&ret->log, ret->workload, &ret->plan.groups) < 0))
		rc = rs_error_nomem(err);
	if (rc == 0 && has_quotas(&ret->plan.groups)) {
		ret->phases = calloc(ret->plan.groups.nr, sizeof(*ret->phases));
		if (!ret->phases)
			rc = rs_error_nomem(err);
	}
	return rc;
}

static void init_clock(const struct rs_shadow_input *in, enum resched_shadow_mode mode,
		       struct rs_shadow_clock *ret)
{
	const struct resched_workload_info *info = &in->workload->info;
	uint64_t burst = 6 * info->preempt_delay_ns;

	memset(ret, 0, sizeof(*ret));
	ret->mode = mode;
	ret->tick_ns = info->tick_ns;
	/* A machine that needs 1 us from a wakeup to the switch it causes is done with a request after a few. */
	ret->burst_ns = !info->preempt_delay_ns || burst > MAX_BURST_NS ? MAX_BURST_NS
			: burst < MIN_BURST_NS                          ? MIN_BURST_NS
									: burst;
}

int rs_shadow_input_calibrate(const struct rs_shadow_input *in, enum resched_shadow_mode mode,
			      bool resync, struct rs_shadow_options *ret, struct resched_error *err)
{
	if (mode == RESCHED_SHADOW_AUTO)
		mode = in->log.nr_stretches  ? RESCHED_SHADOW_RUNTIMES
		       : in->log.nr_runtimes ? RESCHED_SHADOW_ACCOUNTING
					     : RESCHED_SHADOW_STAMPS;
	if (mode != RESCHED_SHADOW_STAMPS && !in->log.nr_runtimes)
		return rs_error_set(
			err, RESCHED_FAILED, -ENODATA,
			"the recording has no sched_stat_runtime events, which this mode is made of; "
			"record with -e sched:sched_stat_runtime, or use --mode a");
	memset(ret, 0, sizeof(*ret));
	ret->ops = in->plan.ops;
	ret->model = in->plan.model;
	ret->host = in->workload->host;
	ret->names = in->names;
	ret->workload = in->workload;
	ret->groups = &in->plan.groups;
	ret->phases = in->phases;
	ret->stop_ns = UINT64_MAX;
	ret->resync = resync;
	init_clock(in, mode, &ret->clock);
	if (mode == RESCHED_SHADOW_ACCOUNTING ? rs_shadow_find_quota_phases(&in->log, ret) < 0
					      : rs_shadow_calibrate(&in->log, ret, in->workload->info.preempt_delay_ns) < 0)
		return rs_error_nomem(err);
	return 0;
}

int rs_shadow_input_fit(const struct rs_shadow_input *in, struct rs_shadow_options *opts, struct resched_error *err)
{
	if (in->log.nr_starts && opts->ops->restore)
		return 0;
	if (!opts->resync || rs_shadow_true_lags(&in->log, opts))
		return 0;
	if (opts->clock.mode != RESCHED_SHADOW_STAMPS && rs_shadow_fit(&in->log, opts) < 0)
		return rs_error_nomem(err);
	return 0;
}

int rs_shadow_input_options(const struct rs_shadow_input *in, enum resched_shadow_mode mode,
			    bool resync, struct rs_shadow_options *ret, struct resched_error *err)
{
	int rc = rs_shadow_input_calibrate(in, mode, resync, ret, err);

	return rc < 0 ? rc : rs_shadow_input_fit(in, ret, err);
}

void rs_shadow_input_describe(const struct rs_shadow_input *in, const struct rs_shadow_options *opts,
			      struct resched_shadow *ret)
{
	unsigned int room = sizeof(ret->warnings) / sizeof(ret->warnings[0]);

	snprintf(ret->policy, sizeof(ret->policy), "%s", in->schedule.policy);
	snprintf(ret->model, sizeof(ret->model), "%s", in->schedule.model);
	ret->clock_offset_ns = opts->clock.switch_lead_ns + opts->clock.wake_lag_ns;
	ret->tick_lead_ns = opts->clock.tick_lead_ns;
	for (unsigned int i = 0; i < in->schedule.nr_warnings && ret->nr_warnings < room; i++)
		snprintf(ret->warnings[ret->nr_warnings++], sizeof(ret->warnings[0]), "%s",
			 in->schedule.warnings[i]);
	if (in->log.nr_made_up && ret->nr_warnings < room)
		snprintf(ret->warnings[ret->nr_warnings++], sizeof(ret->warnings[0]),
			 "%u switches are not in the recording, though nothing was lost: put in where they must have been", in->log.nr_made_up);
}

void rs_shadow_input_release(struct rs_shadow_input *in)
{
	free(in->phases);
	rs_shadow_log_release(&in->log);
	rs_plan_release(&in->plan);
	resched_workload_free(in->workload);
	memset(in, 0, sizeof(*in));
}
