// SPDX-License-Identifier: GPL-2.0-only
/* What the daemon answers, as text. */
#include "cli/ctl.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <resched/units.h>

#define TIME_LEN 24

static const char *ns_text(uint64_t ns, char buf[TIME_LEN])
{
	resched_time_format(ns, buf, TIME_LEN);
	return buf;
}

/* By the wall clock, in the local zone. */
static const char *wall_text(int64_t seconds, char buf[TIME_LEN])
{
	const time_t when = (time_t)seconds;
	struct tm tm;

	if (!localtime_r(&when, &tm) || !strftime(buf, TIME_LEN, "%F %T", &tm))
		snprintf(buf, TIME_LEN, "?");
	return buf;
}

static size_t length(struct json_object *list)
{
	return json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
}

static void print_recorder(FILE *out, struct json_object *r)
{
	char kept[TIME_LEN];

	if (!json_object_get_boolean(ctl_member(r, "recording"))) {
		fprintf(out, "not recording: %s\n", ctl_text(r, "why"));
		return;
	}
	fprintf(out, "recording through %s: the last %s in %.1f of %.1f MB; %" PRIu64 " events so far, %" PRIu64 " lost\n", ctl_text(r, "backend"),
		ns_text(ctl_number(r, "kept_ns"), kept), (double)ctl_number(r, "kept_bytes") / 1048576, (double)ctl_number(r, "memory_bytes") / 1048576,
		ctl_number(r, "events"), ctl_number(r, "lost_events"));
	fprintf(out, "cpu %.2f %% of one, budget %.2f %%%s\n", json_object_get_double(ctl_member(r, "cpu_percent")),
		json_object_get_double(ctl_member(r, "cpu_budget_percent")),
		json_object_get_boolean(ctl_member(r, "watching")) ? "" : "; waits are not watched for the moment, to keep it");
}

void ctl_print_status(FILE *out, struct json_object *answer)
{
	struct json_object *s = ctl_member(answer, "status"), *list, *store = ctl_member(s, "store"), *w = ctl_member(s, "whatif");
	char up[TIME_LEN];

	fprintf(out, "reschedd %s, up %s\n", ctl_text(s, "version"), ns_text(ctl_number(s, "uptime_ns"), up));
	print_recorder(out, ctl_member(s, "recorder"));
	list = ctl_member(s, "triggers");
	for (size_t i = 0; i < length(list); i++) {
		struct json_object *t = json_object_array_get_idx(list, i);

		fprintf(out, "trigger %s (%s): fired %" PRIu64 ", within its cooldown %" PRIu64 "\n", ctl_text(t, "trigger"), ctl_text(t, "kind"),
			ctl_number(t, "fired"), ctl_number(t, "suppressed"));
	}
	fprintf(out, "store %s: %" PRIu64 " snapshots, %.1f of %.0f MB%s\n", ctl_text(store, "directory"), ctl_number(store, "snapshots"),
		(double)ctl_number(store, "bytes") / 1048576, (double)ctl_number(store, "max_bytes") / 1048576,
		json_object_get_boolean(ctl_member(store, "usable")) ? "" : "; it cannot be used");
	fprintf(out, "what-ifs: %" PRIu64 " running, %" PRIu64 " waiting, %" PRIu64 " done, %" PRIu64 " failed, %" PRIu64 " crashed\n",
		ctl_number(w, "running"), ctl_number(w, "waiting"), ctl_number(w, "done"), ctl_number(w, "failed"), ctl_number(w, "crashed"));
	list = ctl_member(s, "schedules");
	for (size_t i = 0; i < length(list); i++) {
		struct json_object *one = json_object_array_get_idx(list, i);

		fprintf(out, "schedule %s: %" PRIu64 " runs, %" PRIu64 " failures\n", ctl_text(one, "schedule"), ctl_number(one, "runs"),
			ctl_number(one, "failures"));
	}
}

void ctl_print_snapshots(FILE *out, struct json_object *answer)
{
	struct json_object *list = ctl_member(answer, "snapshots");
	char when[TIME_LEN];

	if (!length(list))
		fputs("no snapshots\n", out);
	for (size_t i = 0; i < length(list); i++) {
		struct json_object *s = json_object_array_get_idx(list, i);

		fprintf(out, "%5" PRIu64 "  %s  %9" PRIu64 " events  %6.1f MB  %s\n", ctl_number(s, "number"),
			wall_text((int64_t)ctl_number(s, "taken_s"), when), ctl_number(s, "events"), (double)ctl_number(s, "bytes") / 1048576,
			ctl_text(s, "reason"));
	}
}

static void print_outliers(FILE *out, struct json_object *list)
{
	char took[TIME_LEN];

	for (size_t i = 0; i < length(list); i++) {
		struct json_object *o = json_object_array_get_idx(list, i), *cause = ctl_member(o, "cause");

		fprintf(out, "  %-10s %s (pid %" PRIu64 ") on cpu %" PRIu64 "\n    %s: %s\n", ns_text(ctl_number(o, "latency_ns"), took),
			ctl_text(o, "comm"), ctl_number(o, "pid"), ctl_number(o, "cpu"), ctl_text(cause, "code"), ctl_text(cause, "text"));
		if (ctl_member(o, "policy"))
			fprintf(out, "    %s: %s\n", ctl_text(ctl_member(o, "policy"), "code"), ctl_text(ctl_member(o, "policy"), "text"));
	}
}

void ctl_print_snapshot(FILE *out, struct json_object *answer)
{
	struct json_object *s = ctl_member(answer, "snapshot"), *triggers = ctl_member(s, "triggers"), *outliers = ctl_member(s, "outliers");
	char when[TIME_LEN], span[TIME_LEN];

	fprintf(out, "snapshot %" PRIu64 " of %s: %s\n", ctl_number(s, "number"), wall_text((int64_t)ctl_number(s, "taken_s"), when),
		ctl_text(s, "reason"));
	fprintf(out, "%" PRIu64 " events in %s, %" PRIu64 " lost%s\n", ctl_number(s, "events"),
		ns_text(ctl_number(s, "to_ns") - ctl_number(s, "from_ns"), span), ctl_number(s, "lost_events"),
		json_object_get_boolean(ctl_member(s, "cut_short")) ? "; what was wanted began before what was still kept" : "");
	if (*ctl_text(answer, "file"))
		fprintf(out, "file %s\n", ctl_text(answer, "file"));
	for (size_t i = 0; i < length(triggers); i++)
		fprintf(out, "trigger %s: %s\n", ctl_text(json_object_array_get_idx(triggers, i), "trigger"),
			ctl_text(json_object_array_get_idx(triggers, i), "text"));
	if (length(outliers))
		fputs("the worst waits in it:\n", out);
	print_outliers(out, outliers);
}

void ctl_print_jobs(FILE *out, struct json_object *answer)
{
	struct json_object *list = ctl_member(answer, "jobs");

	if (!length(list))
		fputs("no what-ifs\n", out);
	for (size_t i = 0; i < length(list); i++) {
		struct json_object *j = json_object_array_get_idx(list, i);

		fprintf(out, "%5" PRIu64 "  %-8s  %s\n", ctl_number(j, "job"), ctl_text(j, "state"),
			json_object_to_json_string_ext(ctl_member(j, "whatif"), JSON_C_TO_STRING_PLAIN));
	}
}

/* A line a point: the tail of the wakeup latency, column by column. */
void ctl_print_series(FILE *out, struct json_object *answer)
{
	struct json_object *list = ctl_member(answer, "points");
	char when[TIME_LEN], took[TIME_LEN];

	for (size_t i = 0; i < length(list); i++) {
		struct json_object *p = json_object_array_get_idx(list, i), *columns = ctl_member(p, "columns");
		struct json_object *p99 = ctl_member(ctl_member(p, "totals"), "wakeup_latency_p99_ns");

		fprintf(out, "%s  p99 wakeup latency:", wall_text((int64_t)ctl_number(p, "time_s"), when));
		for (size_t c = 0; c < length(columns) && c < length(p99); c++)
			fprintf(out, "  %s %s", json_object_get_string(json_object_array_get_idx(columns, c)),
				ns_text(json_object_get_uint64(json_object_array_get_idx(p99, c)), took));
		fputc('\n', out);
	}
	if (!length(list))
		fputs("no points yet\n", out);
}

static void print_figures(FILE *out, const char *name, struct json_object *f)
{
	char p50[TIME_LEN], p99[TIME_LEN], max[TIME_LEN];

	fprintf(out, "  %s %" PRIu64 ": p50 %s, p99 %s, max %s", name, ctl_number(f, "count"), ns_text(ctl_number(f, "p50"), p50),
		ns_text(ctl_number(f, "p99"), p99), ns_text(ctl_number(f, "max"), max));
}

static void print_sample(FILE *out, struct json_object *event)
{
	struct json_object *host = ctl_member(event, "host"), *list = ctl_member(event, "cgroups");
	char sum[TIME_LEN], max[TIME_LEN];

	fputs("host", out);
	print_figures(out, "wakeups", ctl_member(host, "wakeup_latency_ns"));
	print_figures(out, "waits", ctl_member(host, "run_delay_ns"));
	fputc('\n', out);
	for (size_t i = 0; i < length(list); i++) {
		struct json_object *c = json_object_array_get_idx(list, i);

		fprintf(out, "  %s", ctl_text(c, "cgroup"));
		print_figures(out, "waits", ctl_member(c, "run_delay_ns"));
		fputc('\n', out);
	}
	list = ctl_member(event, "tasks");
	for (size_t i = 0; i < length(list); i++) {
		struct json_object *t = json_object_array_get_idx(list, i);

		fprintf(out, "    %-16s %7" PRIu64 "  %" PRIu64 " waits, %s, max %s\n", ctl_text(t, "comm"), ctl_number(t, "pid"), ctl_number(t, "waits"),
			ns_text(ctl_number(t, "sum_ns"), sum), ns_text(ctl_number(t, "max_ns"), max));
	}
}

void ctl_print_event(FILE *out, struct json_object *event)
{
	const char *what = ctl_text(event, "event");
	struct json_object *trigger = ctl_member(event, "trigger"), *snapshot = ctl_member(event, "snapshot");

	if (!strcmp(what, "sample"))
		print_sample(out, event);
	else if (!strcmp(what, "trigger"))
		fprintf(out, "trigger %s: %s\n", ctl_text(trigger, "trigger"), ctl_text(trigger, "text"));
	else if (!strcmp(what, "snapshot"))
		fprintf(out, "snapshot %" PRIu64 ": %s\n", ctl_number(snapshot, "number"), ctl_text(snapshot, "reason"));
	else if (!strcmp(what, "explained"))
		fprintf(out, "snapshot %" PRIu64 " is explained: resched ctl show %" PRIu64 "\n", ctl_number(snapshot, "number"),
			ctl_number(snapshot, "number"));
}
