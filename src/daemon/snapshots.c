// SPDX-License-Identifier: GPL-2.0-only
/* From a firing or a wish to a stored snapshot with its cause beside it. */
#include "daemon/daemon.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/text.h"

#define CAUSES 5		/* waits explained in the description */

/* One that is being taken. */
struct taking {
	struct daemon *daemon;
	struct writing writing;
	uint64_t number;
	struct json_object *meta, *firings;	/* firings: inside of meta */
	struct asker asker;
	bool asked, again;		/* again: the second try, after making room */
	last_fn then;			/* of one for the moment; else NULL */
	void *ctx;
	struct taking *next;
};

static void add_text(struct json_object *to, const char *name, const char *text)
{
	json_object_object_add(to, name, text_json(text));
}

static void add_number(struct json_object *to, const char *name, uint64_t value)
{
	json_object_object_add(to, name, json_object_new_uint64(value));
}

/* @most: others may be taken already. Half of the places are left to triggers, which cannot ask again. */
static struct taking *taking_new(struct daemon *d, unsigned int most)
{
	struct taking *t = d->nr_takings < most ? calloc(1, sizeof(*t)) : NULL;

	if (!t)
		return NULL;
	t->daemon = d;
	t->next = d->takings;
	d->takings = t;
	d->nr_takings++;
	return t;
}

static void taking_free(struct taking *t)
{
	struct daemon *d = t->daemon;
	struct taking *before = d->takings;

	if (before == t) {
		d->takings = t->next;
	} else {
		while (before->next != t)
			before = before->next;
		before->next = t->next;
	}
	d->nr_takings--;
	if (t->asked) {
		client_waits(&d->server, t->asker.client, -1);
		asker_release(&t->asker);
	}
	json_object_put(t->meta);
	free(t);
}

/* ---- the cause: the worst waits of the snapshot, found by a worker */

struct explaining { struct daemon *daemon; uint64_t number; };

/* Retention may have removed it: then there is nothing to write its causes to. */
static bool explain_wanted(void *ctx)
{
	const struct explaining *e = ctx;

	return store_find(&e->daemon->store, e->number) != NULL;
}

static bool explain_progress(void *ctx, const struct job *job, const char *phase, uint64_t events, int parts)
{
	(void)job, (void)phase, (void)events, (void)parts;
	return explain_wanted(ctx);
}

static void explain_end(void *ctx, const struct job *job, enum job_end how, struct json_object *report, const char *text)
{
	struct explaining *e = ctx;
	struct daemon *d = e->daemon;
	struct json_object *outliers, *event;

	(void)job;
	if (how == JOB_DONE && json_object_object_get_ex(report, "outliers", &outliers))
		store_add(&d->store, e->number, "outliers", json_object_get(outliers));
	else if (how != JOB_CANCELLED)
		store_add(&d->store, e->number, "outliers_failed", json_object_new_string(text));
	if (how != JOB_CANCELLED && store_find(&d->store, e->number)) {
		event = json_object_new_object();
		json_object_object_add(event, "snapshot", json_object_get(store_find(&d->store, e->number)->meta));
		requests_event(d, "explained", event);
	}
	free(e);
}

static void explain(struct daemon *d, uint64_t number)
{
	struct explaining *e = calloc(1, sizeof(*e));
	const struct job_owner owner = { .progress = explain_progress, .wanted = explain_wanted, .end = explain_end, .ctx = e };
	struct json_object *whatif = json_object_new_object();
	char path[STORE_PATH];

	if (e) {
		*e = (struct explaining){ d, number };
		json_object_object_add(whatif, "report", json_object_new_string("outliers"));
		json_object_object_add(whatif, "top", json_object_new_int(CAUSES));
		store_path(&d->store, number, path);
		if (jobs_add(&d->jobs, path, false, whatif, &owner) < 0)
			free(e);	/* the queue is full: the snapshot is there, somebody may ask later */
	}
	json_object_put(whatif);
}

/* ---- taking */

static void finish(struct taking *t)
{
	struct daemon *d = t->daemon;
	const struct resched_snapshot *s = &t->writing.snapshot;
	struct json_object *fields;
	int rc;

	add_number(t->meta, "events", s->events);
	add_number(t->meta, "lost_events", s->lost_events);
	add_number(t->meta, "from_ns", s->from_ns);
	add_number(t->meta, "to_ns", s->to_ns);
	json_object_object_add(t->meta, "cut_short", json_object_new_boolean(s->cut_short));
	rc = store_finish(&d->store, t->number, json_object_get(t->meta));
	if (rc < 0) {
		log_line(&d->log, LOG_ERROR, "snapshot %llu cannot be stored: %s", (unsigned long long)t->number, strerror(-rc));
		if (t->asked)
			answer_error(&d->server, &t->asker, "failed", "the snapshot cannot be stored: %s", strerror(-rc));
		return;
	}
	log_line(&d->log, LOG_INFO, "snapshot %llu: %llu events in %.1f s", (unsigned long long)t->number, (unsigned long long)s->events,
		 (double)(s->to_ns - s->from_ns) / 1e9);
	fields = json_object_new_object();
	json_object_object_add(fields, "snapshot", json_object_get(t->meta));
	requests_event(d, "snapshot", json_object_get(fields));
	if (t->asked)
		answer_ok(&d->server, &t->asker, json_object_get(fields));
	json_object_put(fields);
	explain(d, t->number);
}

static void fail(struct taking *t)
{
	struct daemon *d = t->daemon;

	struct resched_flight_stats stats = { 0 };

	if (d->recorder.flight)
		resched_flight_stats(d->recorder.flight, &stats);
	store_abort(&d->store, t->number);
	log_line(&d->log, LOG_ERROR, "no snapshot: %s%s", t->writing.err.text, t->writing.rc == -ENODATA ? "; [recorder] memory is too little" : "");
	log_line(&d->log, LOG_INFO, "at the present rate, the memory holds %.1f s", (double)(stats.newest_ns - stats.oldest_ns) / 1e9);
	if (t->asked)
		answer_error(&d->server, &t->asker, "failed", "%s", t->writing.err.text);
}

/* A disk that got full while it was written: the oldest goes, once. */
static bool try_again(struct taking *t)
{
	struct daemon *d = t->daemon;

	if (t->writing.rc != -ENOSPC || t->again || !d->store.nr || store_remove(&d->store, d->store.items[0].number) < 0)
		return false;
	t->again = true;
	memset(&t->writing.err, 0, sizeof(t->writing.err));
	recorder_write(&d->recorder, &t->writing);
	return true;
}

static void on_written(void *ctx, struct writing *writing)
{
	struct taking *t = ctx;

	if (try_again(t))
		return;
	if (t->then)
		t->then(t->ctx, writing->rc < 0 ? NULL : writing->path, &writing->snapshot, writing->err.text);
	else if (writing->rc < 0)
		fail(t);
	else
		finish(t);
	taking_free(t);
}

static void write_out(struct taking *t, uint64_t from_ns, uint64_t to_ns)
{
	t->writing.from_ns = from_ns;
	t->writing.to_ns = to_ns;
	t->writing.done = on_written;
	t->writing.ctx = t;
	recorder_write(&t->daemon->recorder, &t->writing);
}

/* Return: the one to go on with; NULL after @why was filled. */
static struct taking *begin(struct daemon *d, unsigned int most, const char *reason, char *why, size_t size)
{
	struct taking *t;

	if (!d->recorder.flight) {
		snprintf(why, size, "nothing is being recorded: %s", d->recorder.why);
		return NULL;
	}
	t = taking_new(d, most);
	if (!t) {
		snprintf(why, size, "too many snapshots are being taken");
		return NULL;
	}
	if (store_begin(&d->store, &t->number, t->writing.path, why, size) < 0) {
		taking_free(t);
		return NULL;
	}
	t->meta = json_object_new_object();
	t->firings = json_object_new_array();
	add_number(t->meta, "number", t->number);
	json_object_object_add(t->meta, "taken_s", json_object_new_int64(time(NULL)));
	add_text(t->meta, "reason", reason);
	json_object_object_add(t->meta, "triggers", t->firings);
	return t;
}

static struct json_object *firing_json(const struct firing *f)
{
	struct json_object *one = json_object_new_object();

	add_text(one, "trigger", f->trigger->name);
	add_text(one, "kind", trigger_kind_name(f->trigger->kind));
	add_text(one, "text", f->text);
	add_number(one, "at_ns", f->at_ns);
	add_number(one, "value_ns", f->value_ns);
	add_number(one, "pid", (uint64_t)f->pid);
	add_text(one, "comm", f->comm);
	add_text(one, "cgroup", f->cgroup);
	return one;
}

/* One that is being taken and will show this, too. */
static struct taking *covering(struct daemon *d, uint64_t at_ns)
{
	for (struct taking *t = d->takings; t; t = t->next) {
		if (!t->then && at_ns >= t->writing.from_ns && at_ns <= t->writing.to_ns && t->meta)
			return t;
	}
	return NULL;
}

void snapshots_fire(void *ctx, const struct firing *f)
{
	struct daemon *d = ctx;
	const struct config *c = d->config;
	struct taking *t = covering(d, f->at_ns);
	struct json_object *event = json_object_new_object();
	char why[400];

	d->count.fired++;
	log_line(&d->log, LOG_NOTE, "trigger %s: %s", f->trigger->name, f->text);
	json_object_object_add(event, "trigger", firing_json(f));
	requests_event(d, "trigger", event);
	if (t) {
		d->count.merged++;
		json_object_array_add(t->firings, firing_json(f));
		return;
	}
	t = begin(d, MAX_TAKINGS, f->text, why, sizeof(why));
	if (!t) {
		d->count.skipped++;
		log_line(&d->log, LOG_WARN, "trigger %s: no snapshot: %s", f->trigger->name, why);
		return;
	}
	json_object_array_add(t->firings, firing_json(f));
	t->writing.urgent = true;
	write_out(t, f->at_ns > c->before_ns ? f->at_ns - c->before_ns : 0, f->at_ns + c->after_ns);
}

void snapshots_ask(struct daemon *d, struct asker *asker, uint64_t before_ns, uint64_t after_ns, const char *reason)
{
	uint64_t now = resched_flight_now();
	char why[700];
	struct taking *t = begin(d, MAX_TAKINGS / 2, reason, why, sizeof(why));

	if (!t) {
		answer_error(&d->server, asker, "failed", "%s", why);
		asker_release(asker);
		return;
	}
	t->asker = *asker;
	t->asked = true;
	client_waits(&d->server, asker->client, 1);
	write_out(t, now > before_ns ? now - before_ns : 0, now + after_ns);
}

void snapshots_last(struct daemon *d, uint64_t last_ns, last_fn then, void *ctx)
{
	uint64_t now = resched_flight_now();
	struct taking *t = d->recorder.flight ? taking_new(d, MAX_TAKINGS / 2) : NULL;

	if (!t) {
		then(ctx, NULL, NULL, d->recorder.flight ? "too many snapshots are being taken" : "nothing is being recorded");
		return;
	}
	if (store_scratch(&d->store, ++d->scratch, t->writing.path) < 0) {
		taking_free(t);
		then(ctx, NULL, NULL, "the store cannot be written");
		return;
	}
	t->then = then;
	t->ctx = ctx;
	write_out(t, now > last_ns ? now - last_ns : 0, now);
}

/* After the recorder was closed: all have been written by then. */
void snapshots_release(struct daemon *d)
{
	struct taking *next;

	for (struct taking *t = d->takings; t; t = next) {
		next = t->next;
		taking_free(t);
	}
}
