// SPDX-License-Identifier: GPL-2.0-only
/* What clients may ask: one table, one function each. resched-protocol(5) is its description. */
#include "daemon/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/whatif.h"

#define LIST_MOST 1000u
#define RECENT_NS 1000000000ull		/* by default */
#define RECENT_MOST_NS 60000000000ull
#define TOP_DEFAULT 10u
#define ID_MOST 64		/* bytes of a request's id */

struct request {
	const char *op;
	enum right right;
	/* answers, or keeps @asker for later: then it is zeroed */
	void (*handle)(struct daemon *d, struct client *client, struct asker *asker, struct json_object *request);
};

/* A number of @request. Return: 1; 0 when it is not given; -EINVAL after answering. */
static int number_of(struct daemon *d, const struct asker *asker, struct json_object *request, const char *name, uint64_t most, uint64_t *ret)
{
	struct json_object *value;

	if (!json_object_object_get_ex(request, name, &value))
		return 0;
	if (!json_object_is_type(value, json_type_int) || json_object_get_int64(value) < 0 || json_object_get_uint64(value) > most) {
		answer_error(&d->server, asker, "bad_request", "'%s' wants a number from 0 to %llu", name, (unsigned long long)most);
		return -EINVAL;
	}
	*ret = json_object_get_uint64(value);
	return 1;
}

/* The snapshot that a request names. Return: NULL after answering. */
static const struct stored *snapshot_of(struct daemon *d, const struct asker *asker, struct json_object *request)
{
	const struct stored *item;
	uint64_t number = 0;
	int rc = number_of(d, asker, request, "snapshot", INT64_MAX, &number);

	if (rc < 0)
		return NULL;
	item = rc ? store_find(&d->store, number) : NULL;
	if (!rc)
		answer_error(&d->server, asker, "bad_request", "'snapshot' is missing");
	else if (!item)
		answer_error(&d->server, asker, "not_found", "there is no snapshot %llu", (unsigned long long)number);
	return item;
}

static void on_hello(struct daemon *d, struct client *client, struct asker *asker, struct json_object *request)
{
	struct json_object *fields = json_object_new_object();

	(void)request;
	json_object_object_add(fields, "program", json_object_new_string("reschedd"));
	json_object_object_add(fields, "version", json_object_new_string(RESCHED_VERSION));
	json_object_object_add(fields, "protocol", json_object_new_int(PROTOCOL_VERSION));
	json_object_object_add(fields, "right", json_object_new_string(access_name(client_right(client))));
	answer_ok(&d->server, asker, fields);
}

static void on_status(struct daemon *d, struct client *client, struct asker *asker, struct json_object *request)
{
	struct json_object *fields = json_object_new_object();

	(void)client, (void)request;
	json_object_object_add(fields, "status", status_json(d));
	answer_ok(&d->server, asker, fields);
}

static void on_metrics(struct daemon *d, struct client *client, struct asker *asker, struct json_object *request)
{
	struct json_object *fields = json_object_new_object();
	size_t len;
	char *text = metrics_text(d, &len);

	(void)client, (void)request;
	json_object_object_add(fields, "text", text ? json_object_new_string_len(text, (int)len) : NULL);
	free(text);
	answer_ok(&d->server, asker, fields);
}

static void on_snapshots(struct daemon *d, struct client *client, struct asker *asker, struct json_object *request)
{
	struct json_object *fields, *list;
	uint64_t most = 100;
	unsigned int from;

	(void)client;
	if (number_of(d, asker, request, "last", LIST_MOST, &most) < 0)
		return;
	fields = json_object_new_object();
	list = json_object_new_array();
	from = d->store.nr > most ? d->store.nr - (unsigned int)most : 0;
	for (unsigned int i = from; i < d->store.nr; i++) {	/* without what makes them long */
		struct json_object *one = json_object_new_object();

		for (struct lh_entry *e = json_object_get_object(d->store.items[i].meta)->head; e; e = e->next) {
			if (strcmp(lh_entry_k(e), "outliers") != 0)
				json_object_object_add(one, lh_entry_k(e), json_object_get((struct json_object *)lh_entry_v(e)));
		}
		json_object_array_add(list, one);
	}
	json_object_object_add(fields, "snapshots", list);
	answer_ok(&d->server, asker, fields);
}

static void on_show(struct daemon *d, struct client *client, struct asker *asker, struct json_object *request)
{
	const struct stored *item = snapshot_of(d, asker, request);
	struct json_object *fields;
	char path[STORE_PATH];

	(void)client;
	if (!item)
		return;
	store_path(&d->store, item->number, path);
	fields = json_object_new_object();
	json_object_object_add(fields, "snapshot", json_object_get(item->meta));
	json_object_object_add(fields, "file", json_object_new_string(path));
	answer_ok(&d->server, asker, fields);
}

static void on_snapshot(struct daemon *d, struct client *client, struct asker *asker, struct json_object *request)
{
	uint64_t before = d->config->before_ns, after = 0;
	struct json_object *reason = NULL;

	(void)client;
	if (number_of(d, asker, request, "before_ns", 3600000000000ull, &before) < 0 ||
	    number_of(d, asker, request, "after_ns", 600000000000ull, &after) < 0)
		return;
	json_object_object_get_ex(request, "reason", &reason);
	snapshots_ask(d, asker, before, after, json_object_is_type(reason, json_type_string) ? json_object_get_string(reason) : "asked for");
	*asker = (struct asker){ 0 };
}

static void on_delete(struct daemon *d, struct client *client, struct asker *asker, struct json_object *request)
{
	const struct stored *item = snapshot_of(d, asker, request);
	int rc;

	(void)client;
	if (!item)
		return;
	rc = store_remove(&d->store, item->number);
	if (rc < 0)
		answer_error(&d->server, asker, "failed", "it cannot be removed: %s", strerror(-rc));
	else
		answer_ok(&d->server, asker, NULL);
}

/* ---- what-ifs */

/* Who waits for a what-if. */
struct asking { struct daemon *daemon; struct asker asker; struct json_object *whatif; };

static void asking_free(struct asking *a)
{
	client_waits(&a->daemon->server, a->asker.client, -1);
	asker_release(&a->asker);
	json_object_put(a->whatif);
	free(a);
}

static bool on_progress(void *ctx, const struct job *job, const char *phase, uint64_t events, int parts)
{
	struct asking *a = ctx;
	struct json_object *fields;

	if (!client_is_there(&a->daemon->server, a->asker.client))
		return false;
	fields = json_object_new_object();
	json_object_object_add(fields, "job", json_object_new_uint64(job_number(job)));
	json_object_object_add(fields, "phase", json_object_new_string(phase));
	json_object_object_add(fields, "events", json_object_new_uint64(events));
	if (parts >= 0)
		json_object_object_add(fields, "parts", json_object_new_int(parts));
	answer_event(&a->daemon->server, &a->asker, "progress", fields, true);
	return true;
}

static bool still_wanted(void *ctx)
{
	const struct asking *a = ctx;

	return client_is_there(&a->daemon->server, a->asker.client);
}

static void on_end(void *ctx, const struct job *job, enum job_end how, struct json_object *report, const char *text)
{
	struct asking *a = ctx;
	struct json_object *fields;

	if (how == JOB_DONE) {
		fields = json_object_new_object();
		json_object_object_add(fields, "job", json_object_new_uint64(job_number(job)));
		json_object_object_add(fields, json_object_is_type(report, json_type_string) ? "text" : "report", json_object_get(report));
		answer_ok(&a->daemon->server, &a->asker, fields);
	} else {
		answer_error(&a->daemon->server, &a->asker, job_end_name(how), "%s", text);
	}
	asking_free(a);
}

static void run_whatif(struct asking *a, const char *path, bool scratch)
{
	struct daemon *d = a->daemon;
	const struct job_owner owner = { .progress = on_progress, .wanted = still_wanted, .end = on_end, .ctx = a, .client = a->asker.client };
	int64_t job = jobs_add(&d->jobs, path, scratch, a->whatif, &owner);
	struct json_object *fields;

	if (job < 0) {
		if (job == -EBUSY)
			answer_error(&d->server, &a->asker, "busy", "too many what-ifs wait; try again later");
		else
			answer_error(&d->server, &a->asker, "failed", "the recording cannot be opened: %s", strerror((int)-job));
		if (scratch)
			unlink(path);
		asking_free(a);
		return;
	}
	fields = json_object_new_object();
	json_object_object_add(fields, "job", json_object_new_int64(job));
	json_object_object_add(fields, "waiting", json_object_new_int64(d->jobs.nr_waiting));
	answer_event(&d->server, &a->asker, "accepted", fields, false);
}

static void on_last(void *ctx, const char *path, const struct resched_snapshot *snapshot, const char *why)
{
	struct asking *a = ctx;

	(void)snapshot;
	if (path) {
		run_whatif(a, path, true);
		return;
	}
	answer_error(&a->daemon->server, &a->asker, "failed", "%s", why);
	asking_free(a);
}

static void on_whatif(struct daemon *d, struct client *client, struct asker *asker, struct json_object *request)
{
	struct resched_error err = { 0 };
	struct json_object *whatif = NULL;
	const struct stored *item = NULL;
	struct whatif checked;
	uint64_t last = 0;
	char path[STORE_PATH];
	struct asking *a;
	int rc = number_of(d, asker, request, "last_ns", 3600000000000ull, &last);

	if (rc < 0)
		return;
	if (rc && client_right(client) < RIGHT_CONTROL) {
		answer_error(&d->server, asker, "denied", "'last_ns' takes a snapshot, for which the right to control is needed");
		return;
	}
	item = rc ? NULL : snapshot_of(d, asker, request);
	if (!rc && !item)
		return;
	json_object_object_get_ex(request, "whatif", &whatif);
	if (whatif_parse(whatif, &checked, &err) < 0) {
		answer_error(&d->server, asker, "bad_request", "%s", err.text);
		return;
	}
	a = calloc(1, sizeof(*a));
	if (!a)
		return;
	*a = (struct asking){ .daemon = d, .asker = *asker, .whatif = json_object_get(whatif) };
	*asker = (struct asker){ 0 };
	client_waits(&d->server, a->asker.client, 1);
	if (!item) {
		snapshots_last(d, last, on_last, a);
		return;
	}
	store_path(&d->store, item->number, path);
	run_whatif(a, path, false);
}

/* ---- the present, to look at */

struct recent { struct daemon *daemon; struct asker asker; };

/* The file has no name any more when it is handed over: nothing can be left of it. */
static void on_recent_written(void *ctx, const char *path, const struct resched_snapshot *snapshot, const char *why)
{
	struct recent *r = ctx;
	struct server *server = &r->daemon->server;
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	struct json_object *fields;

	if (path)
		unlink(path);
	client_waits(server, r->asker.client, -1);
	client_recent(server, r->asker.client, false);
	if (fd < 0) {
		answer_error(server, &r->asker, "failed", "%s", path ? "the file cannot be opened" : why);
	} else if (!client_pass(server, r->asker.client, fd)) {
		close(fd);
		answer_error(server, &r->asker, "busy", "the file before this one has not been taken yet");
	} else {
		fields = json_object_new_object();
		json_object_object_add(fields, "from_ns", json_object_new_uint64(snapshot->from_ns));
		json_object_object_add(fields, "to_ns", json_object_new_uint64(snapshot->to_ns));
		json_object_object_add(fields, "events", json_object_new_uint64(snapshot->events));
		json_object_object_add(fields, "lost_events", json_object_new_uint64(snapshot->lost_events));
		json_object_object_add(fields, "bytes", json_object_new_uint64(snapshot->bytes));
		json_object_object_add(fields, "cut_short", json_object_new_boolean(snapshot->cut_short));
		answer_ok(server, &r->asker, fields);
	}
	asker_release(&r->asker);
	free(r);
}

static void on_recent(struct daemon *d, struct client *client, struct asker *asker, struct json_object *request)
{
	uint64_t last = RECENT_NS, from = 0, now = resched_flight_now();
	struct recent *r;

	if (number_of(d, asker, request, "last_ns", RECENT_MOST_NS, &last) < 0 || number_of(d, asker, request, "from_ns", INT64_MAX, &from) < 0)
		return;
	if (from)
		last = now > from ? now - from : 1;
	if (last > RECENT_MOST_NS)
		last = RECENT_MOST_NS;
	if (!client_recent(&d->server, client_number(client), true)) {
		answer_error(&d->server, asker, "busy", "this connection waits for the file before this one");
		return;
	}
	r = calloc(1, sizeof(*r));
	if (!r)
		return;
	*r = (struct recent){ .daemon = d, .asker = *asker };
	*asker = (struct asker){ 0 };
	client_waits(&d->server, r->asker.client, 1);
	snapshots_last(d, last, on_recent_written, r);
}

static void on_jobs(struct daemon *d, struct client *client, struct asker *asker, struct json_object *request)
{
	struct json_object *fields = json_object_new_object();

	(void)client, (void)request;
	json_object_object_add(fields, "jobs", jobs_list(&d->jobs));
	answer_ok(&d->server, asker, fields);
}

static void on_cancel(struct daemon *d, struct client *client, struct asker *asker, struct json_object *request)
{
	uint64_t job = 0;

	(void)client;
	if (number_of(d, asker, request, "job", INT64_MAX, &job) < 0)
		return;
	if (jobs_cancel(&d->jobs, job) < 0)
		answer_error(&d->server, asker, "not_found", "there is no such what-if, or it has ended");
	else
		answer_ok(&d->server, asker, NULL);
}

static void on_series(struct daemon *d, struct client *client, struct asker *asker, struct json_object *request)
{
	struct json_object *fields, *points, *name = NULL;
	uint64_t last = 100;

	(void)client;
	if (number_of(d, asker, request, "last", LIST_MOST, &last) < 0)
		return;
	json_object_object_get_ex(request, "name", &name);
	points = json_object_is_type(name, json_type_string) ? series_read(d, json_object_get_string(name), (unsigned int)last) : NULL;
	if (!points) {
		answer_error(&d->server, asker, "not_found", "there is no schedule of that name; 'status' lists them");
		return;
	}
	fields = json_object_new_object();
	json_object_object_add(fields, "points", points);
	answer_ok(&d->server, asker, fields);
}

static void on_reload(struct daemon *d, struct client *client, struct asker *asker, struct json_object *request)
{
	(void)client, (void)request;
	answer_ok(&d->server, asker, NULL);
	kill(getpid(), SIGHUP);
}

/* ---- watching */

static void drop_watcher(struct daemon *d, unsigned int i)
{
	client_waits(&d->server, d->watchers[i].asker.client, -1);
	asker_release(&d->watchers[i].asker);
	d->watchers[i] = d->watchers[--d->nr_watchers];
}

static void on_watch(struct daemon *d, struct client *client, struct asker *asker, struct json_object *request)
{
	uint64_t top = TOP_DEFAULT;

	if (number_of(d, asker, request, "top", 64, &top) < 0)
		return;
	for (unsigned int i = 0; i < d->nr_watchers; i++) {
		if (d->watchers[i].asker.client == client_number(client)) {
			answer_error(&d->server, asker, "bad_request", "this connection watches already");
			return;
		}
	}
	if (d->nr_watchers == MAX_WATCHERS) {
		answer_error(&d->server, asker, "busy", "too many clients watch");
		return;
	}
	client_waits(&d->server, asker->client, 1);
	answer_event(&d->server, asker, "watching", NULL, false);
	d->watchers[d->nr_watchers++] = (struct watcher){ .asker = *asker, .top = (unsigned int)top };
	*asker = (struct asker){ 0 };
}

static void on_unwatch(struct daemon *d, struct client *client, struct asker *asker, struct json_object *request)
{
	(void)request;
	for (unsigned int i = 0; i < d->nr_watchers; i++) {
		if (d->watchers[i].asker.client != client_number(client))
			continue;
		answer_ok(&d->server, &d->watchers[i].asker, NULL);
		drop_watcher(d, i);
		break;
	}
	answer_ok(&d->server, asker, NULL);
}

static void drop_gone_watchers(struct daemon *d)
{
	for (unsigned int i = 0; i < d->nr_watchers;) {
		if (client_is_there(&d->server, d->watchers[i].asker.client))
			i++;
		else
			drop_watcher(d, i);
	}
}

void requests_sample(struct daemon *d)
{
	drop_gone_watchers(d);
	for (unsigned int i = 0; i < d->nr_watchers; i++)
		answer_event(&d->server, &d->watchers[i].asker, "sample", watch_sample(&d->watch, d->watchers[i].top), true);
}

void requests_event(struct daemon *d, const char *event, struct json_object *fields)
{
	for (unsigned int i = 0; i < d->nr_watchers; i++)
		answer_event(&d->server, &d->watchers[i].asker, event, json_object_get(fields), false);
	json_object_put(fields);
}

void requests_release(struct daemon *d)
{
	while (d->nr_watchers)
		drop_watcher(d, 0);
}

static const struct request requests[] = {
	{ "hello", RIGHT_READ, on_hello },	 { "status", RIGHT_READ, on_status },	   { "metrics", RIGHT_READ, on_metrics },
	{ "snapshots", RIGHT_READ, on_snapshots }, { "show", RIGHT_READ, on_show },	   { "whatif", RIGHT_READ, on_whatif },
	{ "jobs", RIGHT_READ, on_jobs },	 { "series", RIGHT_READ, on_series },	   { "watch", RIGHT_READ, on_watch },
	{ "recent", RIGHT_READ, on_recent },
	{ "unwatch", RIGHT_READ, on_unwatch },	 { "snapshot", RIGHT_CONTROL, on_snapshot }, { "delete", RIGHT_CONTROL, on_delete },
	{ "cancel", RIGHT_CONTROL, on_cancel },	 { "reload", RIGHT_CONTROL, on_reload },
};

static const struct request *find_request(const char *op)
{
	for (unsigned int i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		if (!strcmp(requests[i].op, op))
			return &requests[i];
	}
	return NULL;
}

/* An id is echoed in every line: short, and no structure. */
static bool is_id(struct json_object *id)
{
	return !id || json_object_is_type(id, json_type_int) ||
	       (json_object_is_type(id, json_type_string) && json_object_get_string_len(id) <= ID_MOST);
}

void requests_handle(void *ctx, struct client *client, struct json_object *request)
{
	struct daemon *d = ctx;
	struct json_object *version = NULL, *op = NULL;
	struct asker asker = asker_of(client, request);
	const struct request *known;

	if (!is_id(asker.id)) {
		json_object_put(asker.id);
		asker.id = NULL;
		answer_error(&d->server, &asker, "bad_request", "'id' is a number or a text of at most %d bytes", ID_MOST);
		return;
	}
	json_object_object_get_ex(request, "v", &version);
	json_object_object_get_ex(request, "op", &op);
	known = json_object_is_type(op, json_type_string) ? find_request(json_object_get_string(op)) : NULL;
	if (!json_object_is_type(version, json_type_int) || json_object_get_int64(version) != PROTOCOL_VERSION)
		answer_error(&d->server, &asker, "version", "this daemon speaks version %d: \"v\":%d", PROTOCOL_VERSION, PROTOCOL_VERSION);
	else if (!known)
		answer_error(&d->server, &asker, "bad_request", "'op' is missing or unknown; see resched-protocol(5)");
	else if (client_right(client) < known->right)
		answer_error(&d->server, &asker, "denied", "'%s' needs the right to %s", known->op, access_name(known->right));
	else
		known->handle(d, client, &asker, request);
	asker_release(&asker);
}
