// SPDX-License-Identifier: GPL-2.0-only
#include "report/json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "report/text.h"

void rs_json_init(struct rs_json *doc, const char *schema)
{
	doc->failed = false;
	doc->root = json_object_new_object();
	if (!doc->root)
		doc->failed = true;
	rs_json_text(doc, doc->root, "schema", schema);
}

void rs_json_release(struct rs_json *doc)
{
	json_object_put(doc->root);
	doc->root = NULL;
}

int rs_json_print(struct rs_json *doc, FILE *out, struct resched_error *err)
{
	const char *text = NULL;

	if (!doc->failed)
		text = json_object_to_json_string_ext(doc->root, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
								 JSON_C_TO_STRING_NOSLASHESCAPE);
	if (!text)
		return rs_error_nomem(err);
	fputs(text, out);
	fputc('\n', out);
	return rs_out_check(out, err);
}

/* Hands @child over to @parent. */
static void add(struct rs_json *doc, struct json_object *parent, const char *key, struct json_object *child, bool is_null)
{
	int rc = -1;

	if (parent && (child || is_null))
		rc = key ? json_object_object_add(parent, key, child) : json_object_array_add(parent, child);
	if (rc < 0) {
		json_object_put(child);
		doc->failed = true;
	}
}

static struct json_object *add_container(struct rs_json *doc, struct json_object *parent, const char *key, struct json_object *child)
{
	bool failed = doc->failed;

	doc->failed = false;
	add(doc, parent, key, child, false);
	if (doc->failed)
		return NULL;	/* already released */
	doc->failed = failed;
	return child;
}

struct json_object *rs_json_object(struct rs_json *doc, struct json_object *parent, const char *key)
{
	return add_container(doc, parent, key, json_object_new_object());
}

struct json_object *rs_json_array(struct rs_json *doc, struct json_object *parent, const char *key)
{
	return add_container(doc, parent, key, json_object_new_array());
}

void rs_json_text(struct rs_json *doc, struct json_object *parent, const char *key, const char *text)
{
	char *clean;

	if (!text) {
		rs_json_null(doc, parent, key);
		return;
	}
	clean = rs_utf8_clean(text);
	add(doc, parent, key, clean ? json_object_new_string(clean) : NULL, false);
	free(clean);
}

void rs_json_u64(struct rs_json *doc, struct json_object *parent, const char *key, uint64_t value)
{
	add(doc, parent, key, json_object_new_uint64(value), false);
}

void rs_json_i64(struct rs_json *doc, struct json_object *parent, const char *key, int64_t value)
{
	add(doc, parent, key, json_object_new_int64(value), false);
}

void rs_json_real(struct rs_json *doc, struct json_object *parent, const char *key, double value)
{
	char text[40];

	if (!isfinite(value)) {
		rs_json_null(doc, parent, key);
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	add(doc, parent, key, json_object_new_double_s(value, text), false);
}

void rs_json_bool(struct rs_json *doc, struct json_object *parent, const char *key, bool value)
{
	add(doc, parent, key, json_object_new_boolean(value), false);
}

void rs_json_null(struct rs_json *doc, struct json_object *parent, const char *key)
{
	add(doc, parent, key, NULL, true);
}

void rs_json_setting(struct rs_json *doc, struct json_object *parent, const char *key, const char *text)
{
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (*text && !*end && errno == 0)
		rs_json_i64(doc, parent, key, value);
	else
		rs_json_text(doc, parent, key, text);
}

void rs_json_source(struct rs_json *doc, struct json_object *parent, const struct resched_source *source)
{
	struct json_object *list;

	rs_json_text(doc, parent, "file", source->file);
	rs_json_text(doc, parent, "format", source->format);
	rs_json_text(doc, parent, "kernel", source->kernel);
	rs_json_text(doc, parent, "clock", source->clock);
	rs_json_u64(doc, parent, "cpus", source->nr_cpus);
	rs_json_u64(doc, parent, "cpus_observed", source->nr_observed);
	rs_json_u64(doc, parent, "first_ns", source->first_ns);
	rs_json_u64(doc, parent, "span_ns", source->last_ns - source->first_ns);
	if (source->read_from_ns)
		rs_json_u64(doc, parent, "read_from_ns", source->read_from_ns);
	list = rs_json_object(doc, parent, "events");
	for (unsigned int i = 0; i < source->nr_events; i++)
		rs_json_u64(doc, list, source->events[i].name, source->events[i].count);
	rs_json_u64(doc, parent, "total_events", source->total_events);
	rs_json_u64(doc, parent, "lost_events", source->lost_events);
	rs_json_u64(doc, parent, "lost_gaps", source->lost_gaps);
	rs_json_bool(doc, parent, "damaged", source->damaged);
	list = rs_json_array(doc, parent, "warnings");
	for (unsigned int i = 0; i < source->nr_warnings; i++)
		rs_json_text(doc, list, NULL, source->warnings[i]);
}

void rs_json_dist(struct rs_json *doc, struct json_object *parent, const char *key, const struct resched_dist *dist)
{
	struct json_object *o = rs_json_object(doc, parent, key);

	rs_json_u64(doc, o, "count", dist->count);
	rs_json_real(doc, o, "mean", dist->mean);
	rs_json_u64(doc, o, "min", dist->min);
	rs_json_u64(doc, o, "p50", dist->p50);
	rs_json_u64(doc, o, "p90", dist->p90);
	rs_json_u64(doc, o, "p99", dist->p99);
	rs_json_u64(doc, o, "p999", dist->p999);
	rs_json_u64(doc, o, "max", dist->max);
}

void rs_json_schedule(struct rs_json *doc, struct json_object *parent, const char *key, const struct resched_schedule *s)
{
	struct json_object *o = rs_json_object(doc, parent, key), *list;

	rs_json_text(doc, o, "kind", s->kind);
	rs_json_text(doc, o, "policy", *s->policy ? s->policy : NULL);
	rs_json_text(doc, o, "model", *s->model ? s->model : NULL);
	list = rs_json_array(doc, o, "features");
	for (unsigned int i = 0; i < s->nr_knobs; i++) {
		char name[80];

		if (!s->knobs[i].is_feature)
			continue;
		snprintf(name, sizeof(name), "%s%s", s->knobs[i].value ? "" : "NO_", s->knobs[i].name);
		rs_json_text(doc, list, NULL, name);
	}
	list = rs_json_object(doc, o, "tunables");
	for (unsigned int i = 0; i < s->nr_knobs; i++) {
		if (!s->knobs[i].is_feature)
			rs_json_u64(doc, list, s->knobs[i].name, s->knobs[i].value);
	}
	if (s->nr_costs) {
		list = rs_json_array(doc, o, "costs");
		for (unsigned int i = 0; i < s->nr_costs; i++) {
			struct json_object *cost = rs_json_object(doc, list, NULL);

			rs_json_text(doc, cost, "name", s->costs[i].name);
			rs_json_u64(doc, cost, "ns", s->costs[i].ns);
			rs_json_text(doc, cost, "from", s->costs[i].assumed ? "assumed" : "recording");
		}
	}
	rs_json_text(doc, o, "placement", *s->placement ? s->placement : NULL);
	if (!strcmp(s->placement, "kernel")) {
		rs_json_u64(doc, o, "idle_scans", s->idle_scans);
		rs_json_u64(doc, o, "idle_probes", s->idle_probes);
	}
	rs_json_u64(doc, o, "seed", s->seed);
	list = rs_json_array(doc, o, "warnings");
	for (unsigned int i = 0; i < s->nr_warnings; i++)
		rs_json_text(doc, list, NULL, s->warnings[i]);
}
