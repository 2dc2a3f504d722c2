// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/worker.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include <resched/analysis.h>
#include <resched/explain.h>
#include <resched/outliers.h>
#include <resched/replay.h>
#include <resched/report.h>
#include <resched/trace.h>

#include "daemon/crash.h"
#include "daemon/sandbox.h"
#include "daemon/whatif.h"

#define LOOK_EVERY 0xfffu	/* events between two looks at the clock */
#define TELL_EVERY_NS 200000000u
#define ORDERS_MOST (2u << 20)
#define MAX_COLUMNS 9u
#define WHY_EVENTS 2000000u	/* longer recordings take too long to be followed by the model */

/* How far it has come, between whoever makes events and whoever takes them. */
struct progress {
	const char *phase;
	uint64_t events, told_ns, first_ns, last_ns;	/* last 0: unknown */
	struct resched_analysis *analysis;
	struct resched_outlier_match *match;
};

struct work {
	const char *name;	/* of the recording, for people */
	struct whatif whatif;
	struct resched_trace *trace;
	struct resched_workload *workload;
	struct resched_analysis *recorded;
	struct resched_outliers *outliers;
	struct resched_report *reports[MAX_COLUMNS];
	struct resched_schedule schedules[MAX_COLUMNS];
	unsigned int nr;	/* columns */
	struct resched_report *self;	/* compare: of a replay under the recorded kernel's own rules, which tells how far to believe the others */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

static void tell(struct progress *p, uint64_t ts_ns)
{
	uint64_t now = now_ns();
	int parts = -1;

	if (now - p->told_ns < TELL_EVERY_NS)
		return;
	p->told_ns = now;
	if (p->last_ns > p->first_ns && ts_ns >= p->first_ns)
		parts = ts_ns >= p->last_ns ? 1000 : (int)((double)(ts_ns - p->first_ns) * 1000 / (double)(p->last_ns - p->first_ns));
	printf("P %s %llu %d\n", p->phase, (unsigned long long)p->events, parts);
	fflush(stdout);
}

static int feed(void *ctx, const struct resched_event *event)
{
	struct progress *p = ctx;
	int rc = 0;

	if (!(++p->events & LOOK_EVERY))
		tell(p, event->ts_ns);
	if (p->analysis)
		rc = resched_analysis_event(p->analysis, event);
	if (rc == 0 && p->match)
		rc = resched_outlier_match_event(p->match, event);
	return rc;
}

static int new_analysis(const struct work *w, const struct resched_host *host, struct resched_names *names, struct resched_analysis **ret,
			struct resched_error *err)
{
	const struct resched_analysis_options opts = { .host = host, .names = names, .comm_glob = w->whatif.comm, .cgroup_glob = w->whatif.cgroup };

	return resched_analysis_new(&opts, ret, err);
}

/* Read the recording: figures as recorded, outliers when they are asked for, and the workload where something is replayed. */
static int read_recording(struct work *w, struct resched_error *err)
{
	const struct resched_outlier_options top = { .top = w->whatif.top };
	struct progress progress = { .phase = "reading" };
	const struct resched_event *event;
	int rc = resched_trace_open("-", &w->trace, err);

	if (rc == 0)
		rc = new_analysis(w, resched_trace_host(w->trace), resched_trace_names(w->trace), &w->recorded, err);
	if (rc == 0 && w->whatif.report == WHATIF_OUTLIERS)
		rc = resched_outliers_new(w->recorded, &top, &w->outliers, err);
	if (rc < 0)
		return rc;
	progress.analysis = w->recorded;
	if (w->whatif.report != WHATIF_OUTLIERS || w->whatif.policies.nr)
		return resched_workload_build(w->trace, NULL, feed, &progress, &w->workload, err);
	while ((rc = resched_trace_next(w->trace, &event, err)) > 0) {
		rc = feed(&progress, event);
		if (rc < 0)
			return rc;
	}
	return rc;
}

static int replay(struct work *w, const char *policy, const struct resched_whatif *whatif, struct resched_schedule *ret_schedule,
		  struct resched_report **ret_report, struct resched_error *err)
{
	const struct resched_workload_info *info = resched_workload_info(w->workload);
	struct progress progress = { .phase = policy ? policy : "replaying", .first_ns = info->first_ns, .last_ns = info->last_ns };
	int rc = new_analysis(w, resched_workload_host(w->workload), resched_workload_names(w->workload), &progress.analysis, err);

	if (rc == 0 && w->outliers && policy)
		rc = resched_outlier_match_new(w->outliers, policy, &progress.match, err);
	if (rc == 0)
		rc = resched_replay_run(w->workload, whatif, feed, &progress, progress.analysis, ret_schedule, err);
	if (rc == 0)
		rc = resched_analysis_finish(progress.analysis, ret_report, err);
	if (progress.match)
		resched_outlier_match_finish(progress.match);
	resched_analysis_free(progress.analysis);
	return rc;
}

/* One policy: into its column, and into the outliers. */
static int run_policy(struct work *w, const char *policy, struct resched_error *err)
{
	struct resched_whatif whatif = whatif_of_policy(&w->whatif, policy);
	int rc = replay(w, policy, &whatif, &w->schedules[w->nr], &w->reports[w->nr], err);

	if (rc == 0)
		w->nr++;
	return rc;
}

static int run_self(struct work *w, struct resched_error *err)
{
	const struct resched_whatif own = { .placement = w->whatif.placement, .seed = w->whatif.seed };
	struct resched_schedule schedule;

	return replay(w, NULL, &own, &schedule, &w->self, err);
}

static int run_policies(struct work *w, struct resched_error *err)
{
	static const char *const all[] = { "eevdf", "evdf", "cfs" };
	const struct whatif_texts *policies = &w->whatif.policies;
	int rc = 0;

	if (w->whatif.report == WHATIF_REPORT)
		return run_policy(w, policies->nr ? policies->items[0] : NULL, err);
	if (w->whatif.report == WHATIF_COMPARE && !policies->nr) {
		for (unsigned int i = 0; i < 3 && rc == 0; i++)
			rc = run_policy(w, all[i], err);
		return rc;
	}
	for (unsigned int i = 0; i < policies->nr && rc == 0; i++)
		rc = run_policy(w, policies->items[i], err);
	return rc;
}

static int print(const struct work *w, FILE *out, struct resched_error *err)
{
	const struct resched_print_options how = { .format = w->whatif.text ? RESCHED_TEXT : RESCHED_JSON, .max_rows = w->whatif.text ? 12 : 0,
		.self = w->self };
	struct resched_source named = *resched_trace_source(w->trace);
	const struct resched_source *source = &named;
	struct resched_column columns[MAX_COLUMNS];

	named.file = w->name;
	if (w->whatif.report == WHATIF_OUTLIERS)
		return resched_print_outliers(out, source, w->outliers, &how, err);
	if (w->whatif.report == WHATIF_REPORT)
		return resched_print_report(out, source, &w->schedules[1], w->reports[1], &how, err);
	for (unsigned int i = 0; i < w->nr; i++)
		columns[i] = (struct resched_column){ .schedule = &w->schedules[i], .report = w->reports[i] };
	return resched_print_compare(out, source, w->nr, columns, &how, err);
}

static int answer(const struct work *w, struct resched_error *err)
{
	int rc;

	printf("R %s\n", w->whatif.text ? "text" : "json");
	rc = print(w, stdout, err);
	if (rc == 0 && fflush(stdout) != 0)
		rc = -EIO;
	return rc;
}

/* Why the policy preferred others: the recording is read again, with the model beside it. Without it the causes stand as they are,
 * but for want of memory: then anything may be missing. */
static int ask_why(struct work *w, struct resched_error *err)
{
	const struct resched_explain_options opts = { .host = NULL };
	struct resched_explainer *explainer = NULL;
	struct resched_trace *trace = NULL;
	int rc;

	if (!resched_outliers_count(w->outliers) || resched_trace_source(w->trace)->total_events > WHY_EVENTS)
		return 0;
	rc = resched_trace_open("-", &trace, err);
	if (rc == 0)
		rc = resched_explainer_new(trace, &opts, &explainer, err);
	if (rc == 0)
		rc = resched_outliers_explain(w->outliers, explainer, err);
	resched_explainer_free(explainer);
	resched_trace_free(trace);
	return rc == -ENOMEM ? rc : 0;
}

static int run(struct work *w, struct resched_error *err)
{
	const struct resched_source *source;
	int rc = read_recording(w, err);

	if (rc < 0)
		return rc;
	source = resched_trace_source(w->trace);
	resched_schedule_recorded(source->kernel, resched_trace_host(w->trace), &w->schedules[0]);
	rc = resched_analysis_finish(w->recorded, &w->reports[0], err);
	if (rc < 0)
		return rc;
	w->nr = 1;
	if (w->outliers) {
		resched_outliers_sort(w->outliers);
		rc = ask_why(w, err);
	}
	if (rc == 0)
		rc = run_policies(w, err);
	if (rc == 0 && w->whatif.report == WHATIF_COMPARE)
		rc = run_self(w, err);
	return rc < 0 ? rc : answer(w, err);
}

static char *read_orders(void)
{
	char *text = malloc(ORDERS_MOST + 1);
	size_t len = 0;
	ssize_t n = -1;

	if (!text)
		return NULL;
	while (len < ORDERS_MOST && (n = read(WORKER_ORDERS_FD, text + len, ORDERS_MOST - len)) > 0)
		len += (size_t)n;
	close(WORKER_ORDERS_FD);
	text[len] = '\0';
	return text;
}

static uint64_t number_of(struct json_object *orders, const char *name)
{
	struct json_object *value;

	return json_object_object_get_ex(orders, name, &value) ? json_object_get_uint64(value) : 0;
}

/* The order matters: limits while they may still be raised by who needs them, identity, then the system calls. */
static int confine(struct json_object *orders)
{
	const struct sandbox_limits limits = { .memory = number_of(orders, "memory"), .cpu_s = number_of(orders, "cpu_s") };
	int rc = sandbox_limit(&limits);

	if (rc == 0)
		rc = sandbox_identity((uid_t)number_of(orders, "uid"), (gid_t)number_of(orders, "gid"));
	return rc < 0 ? rc : sandbox_close();
}

int worker_main(void)
{
	struct resched_error err = { 0 };
	struct json_object *orders, *whatif = NULL, *name;
	char *text = read_orders();
	struct work *w = calloc(1, sizeof(*w));
	int rc;

	orders = text ? json_tokener_parse(text) : NULL;
	free(text);
	if (!w || !json_object_object_get_ex(orders, "whatif", &whatif)) {
		fputs("reschedd: --worker is for the daemon alone\n", stderr);
		free(w);
		json_object_put(orders);
		return RESCHED_USAGE;
	}
	prctl(PR_SET_NAME, "resched-whatif");
	w->name = json_object_object_get_ex(orders, "name", &name) ? json_object_get_string(name) : "recording";
	crash_prepare();
	rc = confine(orders);
	if (rc < 0)
		snprintf(err.text, sizeof(err.text), "cannot confine the worker: %s", strerror(-rc));
	if (rc == 0)
		rc = whatif_parse(whatif, &w->whatif, &err);
	if (rc == 0)
		rc = run(w, &err);
	if (rc < 0) {
		printf("E %d %s\n", err.kind ? (int)err.kind : RESCHED_FAILED, *err.text ? err.text : rc == -ENOMEM ? "out of memory" : strerror(-rc));
		fflush(stdout);
	}
	_exit(rc < 0 ? 1 : 0);	/* the kernel frees faster than we */
}
