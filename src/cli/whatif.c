// SPDX-License-Identifier: GPL-2.0-only
/* From what-if options to a struct resched_whatif, and on to a report. */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <resched/policy.h>
#include <resched/topology.h>
#include <resched/validate.h>

/* Does any model of @policy know the feature or tunable? Unknown policies are left to the engine to refuse. */
static bool policy_has(const char *policy, const char *name, size_t len, int is_feature)
{
	const struct resched_policy_info *p = resched_policy_find(policy);
	struct resched_knob_info knob;

	if (!p)
		return true;
	for (unsigned int m = 0; m < p->nr_models; m++) {
		for (unsigned int i = 0; resched_policy_knob(policy, p->models[m], i, &knob); i++) {
			if (knob.is_feature == is_feature && strlen(knob.name) == len && !memcmp(knob.name, name, len))
				return true;
		}
	}
	return false;
}

static bool knob_applies(const char *policy, const char *text, int is_feature)
{
	size_t len = strcspn(text, "=");

	if (is_feature && !strncmp(text, "NO_", 3))
		return policy_has(policy, text + 3, len - 3, 1) || policy_has(policy, text, len, 1);
	return policy_has(policy, text, len, is_feature);
}

/* Wanted for some other policy of this comparison, and unknown to this one? A name nobody knows stays, to be refused. */
static bool meant_for_others(const struct cli_args *args, const char *policy, const char *text, int is_feature)
{
	if (args->policies.nr < 2 || !policy || knob_applies(policy, text, is_feature))
		return false;
	for (unsigned int i = 0; i < args->policies.nr; i++) {
		if (knob_applies(args->policies.items[i], text, is_feature))
			return true;
	}
	return false;
}

static unsigned int keep(const struct cli_args *args, const char *policy, const struct cli_texts *from, int is_feature, const char **to)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < from->nr; i++) {
		if (!meant_for_others(args, policy, from->items[i], is_feature))
			to[nr++] = from->items[i];
	}
	return nr;
}

struct resched_whatif cli_whatif(const struct cli_args *args)
{
	return (struct resched_whatif){
		.policy = args->policies.nr ? args->policies.items[0] : NULL,
		.model = args->model,
		.nr_features = args->features.nr, .features = args->features.items,
		.nr_settings = args->settings.nr, .settings = args->settings.items,
		.nr_tasks = args->tasks.nr, .tasks = args->tasks.items,
		.nr_cgroups = args->cgroups.nr, .cgroups = args->cgroups.items,
		.placement = (enum resched_placement)args->placement,
		.seed = args->seed,
		.topology = args->topology,
	};
}

/* For one of several policies: only what is a feature or tunable of it. Texts in @whatif are borrowed from @args and kept in @texts. */
struct whatif { struct resched_whatif whatif; const char **texts; };

static int whatif_make(const struct cli_args *args, const char *policy, struct whatif *ret, struct resched_error *err)
{
	struct resched_whatif *w = &ret->whatif;

	ret->whatif = cli_whatif(args);
	ret->texts = calloc(args->features.nr + args->settings.nr + 1u, sizeof(*ret->texts));
	if (!ret->texts) {
		*err = (struct resched_error){ RESCHED_FAILED, "out of memory" };
		return -ENOMEM;
	}
	w->policy = policy;
	w->features = ret->texts;
	w->nr_features = keep(args, policy, &args->features, 1, ret->texts);
	w->settings = ret->texts + w->nr_features;
	w->nr_settings = keep(args, policy, &args->settings, 0, ret->texts + w->nr_features);
	return 0;
}

static void whatif_release(struct whatif *w)
{
	free(w->texts);
	memset(w, 0, sizeof(*w));
}

int cli_run_whatif(struct cli_args *args, const struct resched_workload *workload, const char *policy, struct resched_schedule *ret_schedule,
	       struct resched_report **ret_report, struct resched_error *err)
{
	return cli_run_whatif_also(args, workload, policy, NULL, NULL, ret_schedule, ret_report, err);
}

int cli_run_whatif_also(struct cli_args *args, const struct resched_workload *workload, const char *policy, resched_event_fn also, void *also_ctx,
			struct resched_schedule *ret_schedule, struct resched_report **ret_report, struct resched_error *err)
{
	struct cli_feed feed = { .args = args, .started = true, .also = also, .also_ctx = also_ctx };
	struct resched_host *machine = NULL;
	struct whatif w;
	int rc = whatif_make(args, policy, &w, err);

	if (rc < 0)
		return rc;
	if (args->topology)
		rc = resched_topology_load(args->topology, &machine, err);
	if (rc == 0)
		rc = cli_analysis_on(args, resched_workload_host(workload), machine, resched_workload_names(workload), &feed.analysis, err);
	if (rc == 0)
		rc = cli_window(args, resched_workload_info(workload)->first_ns, feed.analysis, err);
	cli_progress_begin(&feed.progress, args, policy ? policy : "replaying");
	if (rc == 0)
		rc = resched_replay_run(workload, &w.whatif, cli_feed, &feed, feed.analysis, ret_schedule, err);
	cli_progress_end(&feed.progress);
	if (rc == 0)
		rc = resched_analysis_finish(feed.analysis, ret_report, err);
	resched_analysis_free(feed.analysis);
	resched_host_free(machine);
	whatif_release(&w);
	return rc;
}

int cli_run_self(struct cli_args *args, const struct resched_workload *workload, struct resched_report **ret_report, struct resched_error *err)
{
	struct resched_whatif own = { .placement = (enum resched_placement)args->placement, .seed = args->seed };
	struct cli_feed feed = { .args = args, .started = true };
	struct resched_schedule schedule;
	int rc = cli_analysis(args, resched_workload_host(workload), resched_workload_names(workload), &feed.analysis, err);

	if (rc == 0)
		rc = cli_window(args, resched_workload_info(workload)->first_ns, feed.analysis, err);
	cli_progress_begin(&feed.progress, args, "error of replays");
	if (rc == 0)
		rc = resched_replay_run(workload, &own, cli_feed, &feed, NULL, &schedule, err);
	cli_progress_end(&feed.progress);
	if (rc == 0)
		rc = resched_analysis_finish(feed.analysis, ret_report, err);
	resched_analysis_free(feed.analysis);
	return rc;
}

static void error_text(double error, char *ret, size_t size)
{
	if (error < 1)
		snprintf(ret, size, "%.0f %%", 100 * error);
	else
		snprintf(ret, size, "a factor of %.*f", error < 9 ? 1 : 0, 1 + error);
}

/* The error of replays of this recording as a note of @schedule. @recorded: its figures. */
static int note_error(struct cli_args *args, const struct resched_workload *workload, const struct resched_report *recorded,
		      struct resched_schedule *schedule, struct resched_error *err)
{
	const unsigned int room = sizeof(schedule->warnings) / sizeof(schedule->warnings[0]);
	struct resched_report *report = NULL;
	struct resched_self_replay self;
	char p50[20], p99[20];
	int rc = cli_run_self(args, workload, &report, err);

	if (rc < 0)
		return rc;
	rc = resched_self_compare(recorded, report, &self);
	resched_report_free(report);
	if (rc < 0) {
		*err = (struct resched_error){ RESCHED_FAILED, "out of memory" };
		return rc;
	}
	error_text(self.latency_p50_error_median, p50, sizeof(p50));
	error_text(self.latency_p99_error_median, p99, sizeof(p99));
	if (self.nr_comms && schedule->nr_warnings < room)
		snprintf(schedule->warnings[schedule->nr_warnings++], sizeof(schedule->warnings[0]),
			 "a replay under the recorded rules misses p50 by %s, p99 by %s (medians of %u comms); see resched validate", p50, p99,
			 self.nr_comms);
	free(self.comms);
	return 0;
}

int cli_note_error(struct cli_args *args, const struct resched_workload *workload, struct cli_feed *feed, struct resched_schedule *schedule,
		   struct resched_error *err)
{
	struct resched_report *recorded = NULL;
	int rc = 0;

	if (feed->analysis)
		rc = resched_analysis_finish(feed->analysis, &recorded, err);
	if (rc == 0 && recorded)
		rc = note_error(args, workload, recorded, schedule, err);
	resched_report_free(recorded);
	return rc;
}

int cli_replay_events(struct cli_args *args, const struct resched_workload *workload, const char *policy, resched_event_fn sink, void *sink_ctx,
		      struct resched_schedule *ret_schedule, struct resched_error *err)
{
	return cli_replay_lags(args, workload, policy, NULL, sink, sink_ctx, ret_schedule, err);
}

int cli_replay_lags(struct cli_args *args, const struct resched_workload *workload, const char *policy, struct resched_analysis *lag,
		    resched_event_fn sink, void *sink_ctx, struct resched_schedule *ret_schedule, struct resched_error *err)
{
	struct whatif w;
	int rc = whatif_make(args, policy, &w, err);

	if (rc < 0)
		return rc;
	rc = resched_replay_run(workload, &w.whatif, sink, sink_ctx, lag, ret_schedule, err);
	whatif_release(&w);
	return rc;
}
