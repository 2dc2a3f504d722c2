// SPDX-License-Identifier: GPL-2.0-only
/* How the daemon is, as one object. */
#include "daemon/daemon.h"

#include "daemon/text.h"

static void add(struct json_object *to, const char *name, uint64_t value)
{
	json_object_object_add(to, name, json_object_new_uint64(value));
}

static struct json_object *recorder_json(struct daemon *d)
{
	struct json_object *o = json_object_new_object();
	struct resched_flight_stats stats = { 0 };

	json_object_object_add(o, "recording", json_object_new_boolean(d->recorder.flight != NULL));
	if (*d->recorder.why)
		json_object_object_add(o, "why", text_json(d->recorder.why));
	if (d->recorder.flight)
		resched_flight_stats(d->recorder.flight, &stats);
	json_object_object_add(o, "backend", stats.backend ? json_object_new_string(stats.backend) : NULL);
	add(o, "events", d->recorder.events_base + stats.events);
	add(o, "lost_events", d->recorder.lost_base + stats.lost_events);
	add(o, "memory_bytes", stats.ring_bytes);
	add(o, "kept_bytes", stats.kept_bytes);
	add(o, "kept_ns", stats.newest_ns - stats.oldest_ns);
	add(o, "restarts", d->recorder.restarts);
	json_object_object_add(o, "cpu_percent", json_object_new_double(d->cpu_share));
	json_object_object_add(o, "cpu_budget_percent", json_object_new_double(d->config->cpu_budget));
	json_object_object_add(o, "watching", json_object_new_boolean(d->recorder.polled));
	return o;
}

static struct json_object *triggers_json(const struct daemon *d)
{
	struct json_object *list = json_object_new_array();

	for (unsigned int i = 0; i < d->triggers.nr; i++) {
		const struct trigger *t = &d->triggers.items[i];
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "trigger", json_object_new_string(t->config->name));
		json_object_object_add(o, "kind", json_object_new_string(trigger_kind_name(t->config->kind)));
		add(o, "fired", t->fired);
		add(o, "suppressed", t->suppressed);
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *store_json(const struct daemon *d)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "directory", text_json(d->config->directory));
	json_object_object_add(o, "usable", json_object_new_boolean(d->store.ready));
	add(o, "snapshots", d->store.nr);
	add(o, "bytes", d->store.bytes);
	add(o, "max_bytes", d->config->max_size);
	add(o, "written", d->store.count.written);
	add(o, "failed", d->store.count.failed);
	add(o, "removed", d->store.count.removed);
	add(o, "recovered", d->store.count.recovered);
	return o;
}

static struct json_object *whatif_json(const struct daemon *d)
{
	struct json_object *o = json_object_new_object();

	add(o, "running", d->jobs.nr_running);
	add(o, "waiting", d->jobs.nr_waiting);
	for (int i = 0; i < JOB_NR_ENDS; i++)
		add(o, job_end_name((enum job_end)i), d->jobs.ended[i]);
	return o;
}

static struct json_object *schedules_json(const struct daemon *d)
{
	struct json_object *list = json_object_new_array();

	for (unsigned int i = 0; i < d->nr_series; i++) {
		const struct series *s = &d->series[i];
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "schedule", json_object_new_string(s->config->name));
		add(o, "every_ns", s->config->every_ns);
		add(o, "runs", s->runs);
		add(o, "failures", s->failures);
		json_object_array_add(list, o);
	}
	return list;
}

struct json_object *status_json(struct daemon *d)
{
	struct json_object *o = json_object_new_object(), *counts = json_object_new_object();
	struct resched_waits_stats waits;

	json_object_object_add(o, "version", json_object_new_string(RESCHED_VERSION));
	add(o, "uptime_ns", loop_now_ns() - d->started_ns);
	json_object_object_add(o, "recorder", recorder_json(d));
	json_object_object_add(o, "triggers", triggers_json(d));
	add(counts, "fired", d->count.fired);
	add(counts, "merged", d->count.merged);
	add(counts, "without_snapshot", d->count.skipped);
	json_object_object_add(o, "firings", counts);
	json_object_object_add(o, "store", store_json(d));
	json_object_object_add(o, "whatif", whatif_json(d));
	json_object_object_add(o, "schedules", schedules_json(d));
	counts = json_object_new_object();
	add(counts, "connected", d->server.nr_clients);
	add(counts, "connections", d->server.count.connections);
	add(counts, "denied", d->server.count.denied);
	add(counts, "refused", d->server.count.refused);
	add(counts, "requests", d->server.count.requests);
	add(counts, "malformed", d->server.count.malformed);
	add(counts, "closed_slow", d->server.count.closed_slow);
	add(counts, "lines_dropped", d->server.count.dropped);
	json_object_object_add(o, "clients", counts);
	counts = json_object_new_object();
	resched_waits_stats(d->watch.waits, &waits);
	add(counts, "tasks", waits.nr_tasks);
	add(counts, "tasks_not_followed", waits.untracked);
	add(counts, "cgroups", d->watch.cgroups.nr - CGROUP_FIRST);
	add(counts, "cgroups_evicted", d->watch.cgroups.evicted);
	add(counts, "losses", waits.losses);
	json_object_object_add(o, "watch", counts);
	return o;
}
