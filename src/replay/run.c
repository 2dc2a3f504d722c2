// SPDX-License-Identifier: GPL-2.0-only
#include "replay/engine.h"
#include "replay/place.h"
#include "replay/whatif.h"

#include "base/error.h"

int resched_replay_run(const struct resched_workload *workload, const struct resched_whatif *whatif, resched_event_fn sink, void *sink_ctx,
		       struct resched_analysis *lag, struct resched_schedule *ret, struct resched_error *err)
{
	struct resched_schedule schedule;
	struct rs_engine *engine = NULL;
	struct rs_plan plan;
	int rc = rs_plan_make(workload, whatif, &plan, &schedule, err);

	if (rc >= 0) {
		struct rs_engine_options opts = {
			.ops = plan.ops, .model = plan.model, .setups = plan.setups, .groups = &plan.groups,
			.placement = plan.placement, .machine = plan.machine, .seed = whatif ? whatif->seed : 0,
			/* The last recorded instant still belongs to the recording. */
			.end_ns = workload->info.last_ns + 1,
			.sink = sink, .sink_ctx = sink_ctx, .lag = lag,
		};

		rc = rs_engine_new(workload, &opts, &engine);
		if (rc < 0)
			rs_error_nomem(err);
	}
	if (rc >= 0) {
		rc = rs_engine_run(engine);
		if (rc < 0)
			rs_error_set(err, RESCHED_FAILED, rc, "cannot take the replayed schedule:");
	}
	if (rc >= 0) {
		schedule.nr_events = engine->nr_events;
		rs_place_scans(engine, &schedule.idle_scans, &schedule.idle_probes);
		*ret = schedule;
	}
	rs_engine_free(engine);
	rs_plan_release(&plan);
	return rc;
}
