// SPDX-License-Identifier: GPL-2.0-only
/* What was recorded, and what the model would have to do without. */
#include <resched/report.h>

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <resched/owner.h>
#include <resched/policy.h>

#include "base/error.h"
#include "base/units.h"
#include "report/internal.h"
#include "report/json.h"
#include "report/owners.h"
#include "report/text.h"

#define OWNERS_SHOWN 10u

/* The snapshot as its own module writes it, taken over into the document. */
static int put_host(struct rs_json *doc, const struct resched_host *host, struct resched_error *err)
{
	struct json_object *o;
	char *text;
	int rc;

	if (!host) {
		rs_json_null(doc, doc->root, "host");
		return 0;
	}
	rc = resched_host_json(host, &text, err);
	if (rc < 0)
		return rc;
	o = json_tokener_parse(text);
	free(text);
	if (!o || json_object_object_add(doc->root, "host", o) < 0) {
		json_object_put(o);
		doc->failed = true;
	}
	return 0;
}

static void put_unknown(struct rs_json *doc, const struct resched_host *host)
{
	struct json_object *list = rs_json_object(doc, doc->root, "unknown");

	if (!host)
		rs_json_text(doc, list, "host", "the recording has no host snapshot");
	for (unsigned int i = 0; host && i < host->nr_unknown; i++)
		rs_json_text(doc, list, host->unknown[i].name, host->unknown[i].value);
}

static void put_owners(struct rs_json *doc, const char *list_key, const char *name_key, const struct resched_host *host, bool unit)
{
	struct json_object *list = rs_json_array(doc, doc->root, list_key);
	struct rs_owners owners;

	if (rs_owners_find(host, unit, &owners) < 0) {
		doc->failed = true;
		return;
	}
	for (unsigned int i = 0; i < owners.nr; i++) {
		struct json_object *o = rs_json_object(doc, list, NULL);

		rs_json_text(doc, o, name_key, owners.list[i].name);
		rs_json_u64(doc, o, "tasks", owners.list[i].tasks);
	}
	free(owners.list);
}

static void put_workload(struct rs_json *doc, const struct resched_workload_info *w)
{
	struct json_object *o = rs_json_object(doc, doc->root, "workload");

	rs_json_u64(doc, o, "cpus", w->nr_cpus);
	rs_json_u64(doc, o, "tasks", w->nr_tasks);
	rs_json_u64(doc, o, "ops", w->nr_ops);
	rs_json_u64(doc, o, "first_ns", w->first_ns);
	rs_json_u64(doc, o, "span_ns", w->last_ns - w->first_ns);
	rs_json_u64(doc, o, "wakes_causal", w->wakes_causal);
	rs_json_u64(doc, o, "wakes_periodic", w->wakes_periodic);
	rs_json_u64(doc, o, "wakes_relative", w->wakes_relative);
	rs_json_u64(doc, o, "wakes_absolute", w->wakes_absolute);
	rs_json_u64(doc, o, "wakes_ignored", w->wakes_ignored);
	rs_json_u64(doc, o, "servers", w->nr_servers);
	rs_json_u64(doc, o, "clock_skew_ns", w->clock_skew_ns);
	rs_json_u64(doc, o, "hz", w->hz);
	rs_json_bool(doc, o, "hz_assumed", w->hz_assumed);
	rs_json_u64(doc, o, "tick_ns", w->tick_ns);
	rs_json_u64(doc, o, "tick_phase_ns", w->tick_phase_ns);
	rs_json_real(doc, o, "tick_confidence", w->tick_confidence);
	rs_json_u64(doc, o, "idle_exit_ns", w->idle_exit_ns);
	rs_json_u64(doc, o, "preempt_delay_ns", w->preempt_delay_ns);
	rs_json_u64(doc, o, "tick_delay_ns", w->tick_delay_ns);
}

static int info_json(FILE *out, const struct resched_source *source, const struct resched_host *host,
		     const struct resched_workload_info *workload, struct resched_error *err)
{
	struct rs_json doc;
	int rc;

	rs_json_init(&doc, "resched/info/1");
	rs_json_source(&doc, doc.root, source);
	rs_json_text(&doc, doc.root, "policy", source->kernel ? resched_policy_of_kernel(source->kernel) : NULL);
	rc = put_host(&doc, host, err);
	put_owners(&doc, "containers", "container", host, false);
	put_owners(&doc, "units", "unit", host, true);
	put_unknown(&doc, host);
	if (workload)
		put_workload(&doc, workload);
	if (rc == 0)
		rc = rs_json_print(&doc, out, err);
	rs_json_release(&doc);
	return rc;
}

static void say(struct rs_table *t, const char *what, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void say(struct rs_table *t, const char *what, const char *fmt, ...)
{
	char text[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	rs_table_cell(t, RS_STYLE_BOLD, what);
	rs_table_cell(t, RS_STYLE_NONE, text);
}

static void say_machine(struct rs_table *t, const struct resched_host *host)
{
	unsigned int online = 0, isolated = 0;
	char nodes[32] = "", some[32] = "";

	for (unsigned int i = 0; i < host->nr_cpus; i++) {
		online += host->cpus[i].online != 0;
		isolated += host->cpus[i].isolated != 0;
	}
	if (host->nr_nodes)
		snprintf(nodes, sizeof(nodes), ", %u node%s", host->nr_nodes, host->nr_nodes == 1 ? "" : "s");
	if (isolated)
		snprintf(some, sizeof(some), ", %u isolated", isolated);
	say(t, "machine", "%s, %u of %u cpu%s online%s%s", host->machine ? host->machine : "unknown type", online, host->nr_cpus,
	    host->nr_cpus == 1 ? "" : "s", nodes, some);
	if (host->hz)
		say(t, "tick", "HZ %u, preemption %s", host->hz, host->preempt ? host->preempt : "unknown");
	else
		say(t, "tick", "HZ unknown, preemption %s", host->preempt ? host->preempt : "unknown");
	if (host->nr_tasks)
		say(t, "tasks", "%u in the snapshot, %u cgroup%s, autogroup %s", host->nr_tasks, host->nr_cgroups,
		    host->nr_cgroups == 1 ? "" : "s", host->autogroup < 0 ? "unknown" : host->autogroup ? "on" : "off");
}

/* The text of one item of a list, in @buf or elsewhere. */
typedef const char *item_fn(const struct resched_host *host, unsigned int idx, char buf[120]);

/* A list that may be long, wrapped by hand into rows of the right column. */
static void say_list(struct rs_table *t, const char *what, unsigned int nr, item_fn *item, const struct resched_host *host)
{
	char line[120] = "", buf[120];

	for (unsigned int i = 0; i < nr; i++) {
		const char *text = item(host, i, buf);

		if (*line && strlen(line) + 2 + strlen(text) >= 90) {
			say(t, what, "%s", line);
			what = "";
			*line = '\0';
		}
		snprintf(line + strlen(line), sizeof(line) - strlen(line), "%s%.100s", *line ? ", " : "", text);
	}
	if (*line)
		say(t, what, "%s", line);
}

static const char *feature_item(const struct resched_host *host, unsigned int i, char buf[120])
{
	(void)buf;
	return host->features[i];
}

static const char *tunable_item(const struct resched_host *host, unsigned int i, char buf[120])
{
	snprintf(buf, 120, "%.60s = %.50s", host->tunables[i].name, host->tunables[i].value);
	return buf;
}

/* What is missing for one reason is told in one line. */
static void say_unknown(struct rs_table *t, const struct resched_host *host)
{
	const char *what = "unknown";

	for (unsigned int i = 0; i < host->nr_unknown; i++) {
		const char *why = host->unknown[i].value;
		char names[300] = "";
		bool told = false;

		for (unsigned int k = 0; k < host->nr_unknown; k++) {
			if (strcmp(host->unknown[k].value, why))
				continue;
			told |= k < i;
			snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", *names ? ", " : "", host->unknown[k].name);
		}
		if (told)
			continue;
		say(t, what, "%s: %s", names, why);
		what = "";
	}
}

/* One line each, since there may be many and their names are long. */
static void say_owners(struct rs_table *t, const char *what, const struct resched_host *host, bool unit)
{
	struct rs_owners owners;

	if (rs_owners_find(host, unit, &owners) < 0) {
		t->failed = true;
		return;
	}
	for (unsigned int i = 0; i < owners.nr && i < OWNERS_SHOWN; i++)
		say(t, i ? "" : what, "%s, %u task%s", owners.list[i].name, owners.list[i].tasks, owners.list[i].tasks == 1 ? "" : "s");
	if (owners.nr > OWNERS_SHOWN)
		say(t, "", "and %u more; --json has them all", owners.nr - OWNERS_SHOWN);
	free(owners.list);
}

static void say_host(struct rs_table *t, const struct resched_host *host)
{
	if (!host) {
		say(t, "host", "no snapshot in this recording; --host FILE gives one to replay and compare");
		return;
	}
	say_machine(t, host);
	say_owners(t, "containers", host, false);
	say_owners(t, "units", host, true);
	if (host->nr_changes)
		say(t, "changes", "%u of tasks, cgroups, cpus and settings were seen during the recording; --json lists them",
		    host->nr_changes);
	say_list(t, "features", host->nr_features, feature_item, host);
	say_list(t, "tunables", host->nr_tunables, tunable_item, host);
	say_unknown(t, host);
}

static void say_events(struct rs_table *t, const struct resched_source *source)
{
	char n[RS_NUMBER_LEN];

	for (unsigned int i = 0; i < source->nr_events; i++)
		say(t, i ? "" : "events", "%12s  %s", rs_count_format(source->events[i].count, n), source->events[i].name);
}

static void say_workload(struct rs_table *t, const struct resched_workload_info *w)
{
	char a[RS_NUMBER_LEN], b[RS_NUMBER_LEN], c[RS_NUMBER_LEN], d[RS_NUMBER_LEN];

	say(t, "workload", "%u tasks, %s operations", w->nr_tasks, rs_count_format(w->nr_ops, a));
	say(t, "wakeups", "%s by tasks, %s by periodic timers, %s relative to the sleep's start, %s at fixed times",
	    rs_count_format(w->wakes_causal, a), rs_count_format(w->wakes_periodic, b), rs_count_format(w->wakes_relative, c),
	    rs_count_format(w->wakes_absolute, d));
	say(t, "", "%s more were of tasks not asleep", rs_count_format(w->wakes_ignored, a));
	if (w->nr_servers)
		say(t, "servers", "%u, which answer requests of others", w->nr_servers);
	rs_time_format(w->tick_phase_ns, a, sizeof(a));
	say(t, "ticks", "HZ %u%s, phase %s, confidence %.0f %%", w->hz, w->hz_assumed ? " (assumed)" : "", a, 100 * w->tick_confidence);
	rs_time_format(w->idle_exit_ns, a, sizeof(a));
	rs_time_format(w->preempt_delay_ns, b, sizeof(b));
	rs_time_format(w->tick_delay_ns, c, sizeof(c));
	say(t, "delays", "idle exit %s, preemption %s, tick to switch %s (medians)", a, b, c);
	rs_time_format(w->clock_skew_ns, a, sizeof(a));
	if (w->clock_skew_ns)
		say(t, "clocks", "of the cpus differ by %s at least: tasks ran before their wakings", a);
}

static void say_source(struct rs_table *t, const struct resched_source *s)
{
	const char *policy = s->kernel ? resched_policy_of_kernel(s->kernel) : NULL;
	char span[RS_NUMBER_LEN], a[RS_NUMBER_LEN], b[RS_NUMBER_LEN];

	say(t, "file", "%s (%s)", s->file ? s->file : "-", s->format ? s->format : "unknown format");
	say(t, "kernel", "%s%s%s", s->kernel ? s->kernel : "unknown", policy ? ", scheduler " : "", policy ? policy : "");
	say(t, "clock", "%s", s->clock ? s->clock : "unknown");
	rs_time_format(s->last_ns - s->first_ns, span, sizeof(span));
	say(t, "span", "%s, from %.9f to %.9f", span, (double)s->first_ns / 1e9, (double)s->last_ns / 1e9);
	say(t, "cpus", "%u with a buffer, %u with events", s->nr_cpus, s->nr_observed);
	if (s->lost_events || s->lost_gaps)
		say(t, "lost", "%s events in %s gaps", rs_count_format(s->lost_events, a), rs_count_format(s->lost_gaps, b));
	else
		say(t, "lost", "nothing");
	for (unsigned int i = 0; i < s->nr_warnings; i++)
		say(t, i ? "" : "warnings", "%s", s->warnings[i]);
}

int resched_print_info(FILE *out, const struct resched_source *source, const struct resched_host *host,
		       const struct resched_workload_info *workload, const struct resched_print_options *opts, struct resched_error *err)
{
	struct rs_table t;
	char n[RS_NUMBER_LEN];
	int rc;

	if (opts->format == RESCHED_JSON)
		return info_json(out, source, host, workload, err);
	if (opts->format == RESCHED_CSV)
		return rs_error_set(err, RESCHED_USAGE, -EINVAL, "info has no CSV form; use --json");
	rs_table_init(&t, 2, "ll");
	say_source(&t, source);
	say_host(&t, host);
	if (workload)
		say_workload(&t, workload);
	say_events(&t, source);
	say(&t, "", "%12s  in all", rs_count_format(source->total_events, n));
	rc = rs_table_print(&t, out, 0, opts->color, err);
	rs_table_release(&t);
	return rc < 0 ? rc : rs_out_check(out, err);
}
