// SPDX-License-Identifier: GPL-2.0-only
/*
 * The host snapshot as JSON and back (schema "resched/host/1"). Keys are the field names of resched/host.h; tunables and
 * unknown are objects of texts. Reading is strict about types and ranges, skips keys it does not know, and takes a
 * missing key or null as "unknown".
 */
#include "trace/host_json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <json-c/json.h>

#include "base/error.h"
#include "base/room.h"

#define SCHEMA "resched/host/1"
#define TEXT_MAX_BYTES (64u << 20)
#define STRING_MAX 4096u
#define CPUS_MAX 8192u
#define NODES_MAX 1024u
#define TASKS_MAX 4194304u	/* the kernel's PID_MAX_LIMIT */
#define CGROUPS_MAX 262144u
#define LIST_MAX 4096u
#define CHANGES_MAX 65536u
#define DEPTH_MAX 32
#define JSON_TIMES 40u	/* bytes that json-c takes for each of the text, as snapshots are; one made to take more ends in a crash of its reader */

/* One parse: the first failure is kept, everything after it does nothing. */
struct reader {
	struct resched_error *err;
	int rc;
	char where[96];
};

static void fail(struct reader *r, const char *key, const char *what)
{
	if (r->rc)
		return;
	r->rc = rs_error_set(r->err, RESCHED_DAMAGED, -EBADMSG, "host snapshot: %s%s%s %s", r->where, *r->where ? "." : "", key, what);
}

static void fail_memory(struct reader *r)
{
	if (!r->rc)
		r->rc = rs_error_nomem(r->err);
}

/* The member @key of type @type; NULL when missing, null or (after fail) of another type. */
static struct json_object *member(struct reader *r, struct json_object *obj, const char *key, enum json_type type)
{
	struct json_object *val;

	if (r->rc || !json_object_object_get_ex(obj, key, &val) || !val)
		return NULL;
	if (!json_object_is_type(val, type)) {
		fail(r, key, type == json_type_int ? "must be a whole number" : type == json_type_string ? "must be a text" :
		     type == json_type_array ? "must be a list" : "must be an object");
		return NULL;
	}
	return val;
}

static int64_t get_int(struct reader *r, struct json_object *obj, const char *key, int64_t missing, int64_t min, int64_t max)
{
	struct json_object *val = member(r, obj, key, json_type_int);
	int64_t v;

	if (!val)
		return missing;
	v = json_object_get_int64(val);
	if (v < min || v > max) {
		fail(r, key, "is out of range");
		return missing;
	}
	return v;
}

static uint64_t get_u64(struct reader *r, struct json_object *obj, const char *key)
{
	struct json_object *val = member(r, obj, key, json_type_int);

	if (!val)
		return 0;
	if (json_object_get_int64(val) < 0) {
		fail(r, key, "is out of range");
		return 0;
	}
	return json_object_get_uint64(val);
}

/* A flag: 0, 1, true or false. */
static int get_flag(struct reader *r, struct json_object *obj, const char *key, int missing)
{
	struct json_object *val;

	if (r->rc || !json_object_object_get_ex(obj, key, &val) || !val)
		return missing;
	if (json_object_is_type(val, json_type_boolean))
		return json_object_get_boolean(val);
	return (int)get_int(r, obj, key, missing, missing < 0 ? missing : 0, 1);
}

static char *copy_text(struct reader *r, const char *key, struct json_object *val)
{
	size_t len = (size_t)json_object_get_string_len(val);
	const char *text = json_object_get_string(val);
	char *copy;

	if (len > STRING_MAX || strlen(text) != len) {
		fail(r, key, len > STRING_MAX ? "is too long" : "holds a NUL");
		return NULL;
	}
	copy = strdup(text);
	if (!copy)
		fail_memory(r);
	return copy;
}

static char *get_text(struct reader *r, struct json_object *obj, const char *key)
{
	struct json_object *val = member(r, obj, key, json_type_string);

	return val ? copy_text(r, key, val) : NULL;
}

/* A list of at most @max; *@ret_nr its length. An empty or missing one is NULL and 0; else room for its members, zeroed. */
static void *get_list(struct reader *r, struct json_object *obj, const char *key, size_t max, size_t member_size, unsigned int *ret_nr,
		      struct json_object **ret_list)
{
	struct json_object *val = member(r, obj, key, json_type_array);
	size_t nr = val ? json_object_array_length(val) : 0;
	void *room;

	*ret_nr = 0;
	*ret_list = val;
	if (!nr)
		return NULL;
	if (nr > max) {
		fail(r, key, "has too many members");
		return NULL;
	}
	room = calloc(nr, member_size);
	if (!room) {
		fail_memory(r);
		return NULL;
	}
	*ret_nr = (unsigned int)nr;
	return room;
}

/* Member @i of a list as an object; NULL after fail. */
static struct json_object *list_object(struct reader *r, struct json_object *list, const char *key, unsigned int i)
{
	struct json_object *val = r->rc ? NULL : json_object_array_get_idx(list, i);

	if (r->rc)
		return NULL;
	snprintf(r->where, sizeof(r->where), "%s[%u]", key, i);
	if (!json_object_is_type(val, json_type_object)) {
		fail(r, "", "must be an object");
		return NULL;
	}
	return val;
}

static void read_cpus(struct reader *r, struct json_object *obj, struct resched_host *host)
{
	struct json_object *list, *o;

	host->cpus = get_list(r, obj, "cpus", CPUS_MAX, sizeof(*host->cpus), &host->nr_cpus, &list);
	for (unsigned int i = 0; i < host->nr_cpus; i++) {
		struct resched_host_cpu *c = &host->cpus[i];

		o = list_object(r, list, "cpus", i);
		if (!o)
			return;
		c->cpu = (unsigned int)get_int(r, o, "cpu", i, 0, CPUS_MAX - 1);
		c->online = get_flag(r, o, "online", 1);
		c->isolated = get_flag(r, o, "isolated", 0);
		c->core = (int)get_int(r, o, "core", -1, -1, INT32_MAX);
		c->cluster = (int)get_int(r, o, "cluster", -1, -1, INT32_MAX);
		c->llc = (int)get_int(r, o, "llc", -1, -1, INT32_MAX);
		c->die = (int)get_int(r, o, "die", -1, -1, INT32_MAX);
		c->package = (int)get_int(r, o, "package", -1, -1, INT32_MAX);
		c->node = (int)get_int(r, o, "node", -1, -1, INT32_MAX);
		c->capacity = (int)get_int(r, o, "capacity", 1024, 0, 1 << 20);
		c->newidle_ns = get_u64(r, o, "newidle_ns");
		if (i && c->cpu <= host->cpus[i - 1].cpu)
			fail(r, "cpu", "is not in ascending order");
	}
	r->where[0] = '\0';
}

static void read_nodes(struct reader *r, struct json_object *obj, struct resched_host *host)
{
	struct json_object *list, *o, *distances;

	host->nodes = get_list(r, obj, "nodes", NODES_MAX, sizeof(*host->nodes), &host->nr_nodes, &list);
	for (unsigned int i = 0; i < host->nr_nodes; i++) {
		struct resched_host_node *n = &host->nodes[i];

		o = list_object(r, list, "nodes", i);
		if (!o)
			return;
		n->node = (int)get_int(r, o, "node", -1, -1, INT32_MAX);
		n->distances = get_list(r, o, "distances", NODES_MAX, sizeof(*n->distances), &n->nr_distances, &distances);
		for (unsigned int k = 0; k < n->nr_distances; k++) {
			struct json_object *val = json_object_array_get_idx(distances, k);
			int64_t v = json_object_is_type(val, json_type_int) ? json_object_get_int64(val) : -1;

			if (v < 0 || v > INT32_MAX)
				fail(r, "distances", "must hold whole numbers from 0");
			else
				n->distances[k] = (int)v;
		}
	}
	r->where[0] = '\0';
}

static void read_task(struct reader *r, struct json_object *o, struct resched_host_task *t)
{
	char *text;

	t->pid = (int)get_int(r, o, "pid", -1, 0, INT32_MAX);
	if (t->pid < 0)
		fail(r, "pid", "is missing");
	t->tgid = (int)get_int(r, o, "tgid", 0, 0, INT32_MAX);
	text = get_text(r, o, "comm");
	if (text && strlen(text) >= RESCHED_COMM_LEN)
		fail(r, "comm", "is longer than 15 bytes");
	else if (text)
		memcpy(t->comm, text, strlen(text) + 1);
	free(text);
	text = get_text(r, o, "state");
	if (text && strlen(text) > 1)
		fail(r, "state", "must be one letter");
	t->state = text ? text[0] : '\0';
	free(text);
	t->policy = (int)get_int(r, o, "policy", 0, 0, 255);
	t->nice = (int)get_int(r, o, "nice", 0, -20, 19);
	t->rt_priority = (int)get_int(r, o, "rt_priority", 0, 0, 99);
	t->slice_ns = get_u64(r, o, "slice_ns");
	t->autogroup = (int)get_int(r, o, "autogroup", -1, -1, INT32_MAX);
	t->autogroup_nice = (int)get_int(r, o, "autogroup_nice", 0, -20, 19);
	t->kthread = get_flag(r, o, "kthread", 0);
	t->affinity = get_text(r, o, "affinity");
	t->cgroup = get_text(r, o, "cgroup");
	t->cmdline = get_text(r, o, "cmdline");
}

static int compare_tasks(const void *a, const void *b)
{
	int x = ((const struct resched_host_task *)a)->pid, y = ((const struct resched_host_task *)b)->pid;

	return (x > y) - (x < y);
}

static void read_tasks(struct reader *r, struct json_object *obj, struct resched_host *host)
{
	struct json_object *list, *o;

	host->tasks = get_list(r, obj, "tasks", TASKS_MAX, sizeof(*host->tasks), &host->nr_tasks, &list);
	for (unsigned int i = 0; i < host->nr_tasks; i++) {
		o = list_object(r, list, "tasks", i);
		if (!o)
			return;
		read_task(r, o, &host->tasks[i]);
	}
	r->where[0] = '\0';
	if (r->rc || !host->nr_tasks)
		return;
	qsort(host->tasks, host->nr_tasks, sizeof(*host->tasks), compare_tasks);
	for (unsigned int i = 1; i < host->nr_tasks; i++) {
		if (host->tasks[i].pid == host->tasks[i - 1].pid)
			fail(r, "tasks", "list one pid twice");
	}
}

static void read_cgroups(struct reader *r, struct json_object *obj, struct resched_host *host)
{
	struct json_object *list, *o;

	host->cgroups = get_list(r, obj, "cgroups", CGROUPS_MAX, sizeof(*host->cgroups), &host->nr_cgroups, &list);
	for (unsigned int i = 0; i < host->nr_cgroups; i++) {
		struct resched_host_cgroup *g = &host->cgroups[i];

		o = list_object(r, list, "cgroups", i);
		if (!o)
			return;
		g->path = get_text(r, o, "path");
		if (!g->path)
			fail(r, "path", "is missing");
		g->weight = (uint64_t)get_int(r, o, "weight", 100, 0, 10000);
		g->quota_us = get_u64(r, o, "quota_us");
		g->period_us = get_u64(r, o, "period_us");
		g->cpuset = get_text(r, o, "cpuset");
	}
	r->where[0] = '\0';
}

static void read_changes(struct reader *r, struct json_object *obj, struct resched_host *host)
{
	struct json_object *list, *o;

	host->changes = get_list(r, obj, "changes", CHANGES_MAX, sizeof(*host->changes), &host->nr_changes, &list);
	for (unsigned int i = 0; i < host->nr_changes; i++) {
		struct resched_host_change *c = &host->changes[i];

		o = list_object(r, list, "changes", i);
		if (!o)
			return;
		c->after_ns = get_u64(r, o, "after_ns");
		c->until_ns = get_u64(r, o, "until_ns");
		c->pid = (int)get_int(r, o, "pid", 0, 0, INT32_MAX);
		c->what = get_text(r, o, "what");
		if (!c->what)
			fail(r, "what", "is missing");
		c->from = get_text(r, o, "from");
		c->to = get_text(r, o, "to");
	}
	r->where[0] = '\0';
}

static void read_features(struct reader *r, struct json_object *obj, struct resched_host *host)
{
	struct json_object *list;

	host->features = get_list(r, obj, "features", LIST_MAX, sizeof(*host->features), &host->nr_features, &list);
	for (unsigned int i = 0; i < host->nr_features && !r->rc; i++) {
		struct json_object *val = json_object_array_get_idx(list, i);

		if (!json_object_is_type(val, json_type_string))
			fail(r, "features", "must hold texts");
		else
			host->features[i] = copy_text(r, "features", val);
	}
}

/* An object of texts. A number is taken as its text, so that tunables may be written either way. */
static struct resched_host_setting *read_settings(struct reader *r, struct json_object *obj, const char *key, unsigned int *ret_nr)
{
	struct json_object *map = member(r, obj, key, json_type_object);
	int nr = map ? json_object_object_length(map) : 0;
	struct resched_host_setting *list;

	*ret_nr = 0;
	if (nr <= 0)
		return NULL;
	if ((unsigned int)nr > LIST_MAX) {
		fail(r, key, "has too many members");
		return NULL;
	}
	list = calloc((size_t)nr, sizeof(*list));
	if (!list) {
		fail_memory(r);
		return NULL;
	}
	json_object_object_foreach(map, name, val) {
		struct resched_host_setting *s = &list[*ret_nr];

		if (!json_object_is_type(val, json_type_string) && !json_object_is_type(val, json_type_int))
			fail(r, key, "must hold texts");
		if (r->rc)
			break;
		(*ret_nr)++;
		s->name = strdup(name);
		s->value = copy_text(r, key, val);
		if (!s->name)
			fail_memory(r);
	}
	return list;
}

static void read_pids(struct reader *r, struct json_object *obj, int **pids, unsigned int *nr_pids)
{
	struct json_object *list;

	*pids = get_list(r, obj, "recorder_pids", LIST_MAX, sizeof(**pids), nr_pids, &list);
	for (unsigned int i = 0; i < *nr_pids; i++) {
		struct json_object *val = json_object_array_get_idx(list, i);
		int64_t v = json_object_is_type(val, json_type_int) ? json_object_get_int64(val) : -1;

		if (v <= 0 || v > INT32_MAX)
			fail(r, "recorder_pids", "must hold pids");
		else
			(*pids)[i] = (int)v;
	}
}

/* What made the schedule, when it is a replay's and no kernel's. */
static void read_schedule(struct reader *r, struct json_object *obj, struct resched_host *host)
{
	struct json_object *made;
	char *kind;

	if (!json_object_object_get_ex(obj, "schedule", &made) || !json_object_is_type(made, json_type_object))
		return;
	kind = get_text(r, made, "kind");
	if (kind && strcmp(kind, "recorded")) {
		host->replayed_policy = get_text(r, made, "policy");
		host->replayed_model = get_text(r, made, "model");
		host->replayed_placement = get_text(r, made, "placement");
	}
	free(kind);
}

static void read_host(struct reader *r, struct json_object *obj, struct resched_host *host)
{
	char *schema = get_text(r, obj, "schema");

	if (!schema)
		fail(r, "schema", "is missing (" SCHEMA ")");
	else if (strcmp(schema, SCHEMA))
		fail(r, "schema", "is not one this resched knows (" SCHEMA ")");
	free(schema);
	host->kernel = get_text(r, obj, "kernel");
	host->machine = get_text(r, obj, "machine");
	host->version = get_text(r, obj, "version");
	host->hz = (unsigned int)get_int(r, obj, "hz", 0, 0, 100000);
	host->preempt = get_text(r, obj, "preempt");
	host->autogroup = get_flag(r, obj, "autogroup", -1);
	host->clock = get_text(r, obj, "clock");
	host->taken_ns = get_u64(r, obj, "taken_ns");
	read_cpus(r, obj, host);
	read_nodes(r, obj, host);
	read_features(r, obj, host);
	host->tunables = read_settings(r, obj, "tunables", &host->nr_tunables);
	read_tasks(r, obj, host);
	read_cgroups(r, obj, host);
	host->unknown = read_settings(r, obj, "unknown", &host->nr_unknown);
	read_changes(r, obj, host);
	read_schedule(r, obj, host);
}

/* Why a text is no JSON object. */
static const char *json_reason(enum json_tokener_error why)
{
	if (why == json_tokener_continue)
		return "it ends early";
	return why == json_tokener_success ? "something else" : json_tokener_error_desc(why);
}

/* The text as one JSON object. Return: 0; -EBADMSG; -ENOMEM. */
static int parse_object(const char *text, size_t len, struct json_object **ret, struct resched_error *err)
{
	struct json_tokener *tok;
	struct json_object *root;
	size_t used;
	int rc = 0;

	while (len && (!text[len - 1] || strchr(" \t\r\n", text[len - 1])))
		len--;
	if (len > TEXT_MAX_BYTES)
		return rs_error_set(err, RESCHED_DAMAGED, -EBADMSG, "host snapshot: larger than %u MiB", TEXT_MAX_BYTES >> 20);
	tok = rs_room(len * JSON_TIMES) ? json_tokener_new_ex(DEPTH_MAX) : NULL;
	if (!tok)
		return rs_error_nomem(err);
	root = json_tokener_parse_ex(tok, text, (int)len);
	used = json_tokener_get_parse_end(tok);
	if (!root || used < len || !json_object_is_type(root, json_type_object)) {
		rc = rs_error_set(err, RESCHED_DAMAGED, -EBADMSG, "host snapshot: no JSON object: %s at byte %zu of %zu",
				  json_reason(json_tokener_get_error(tok)), used, len);
		json_object_put(root);
		root = NULL;
	}
	json_tokener_free(tok);
	*ret = root;
	return rc;
}

int rs_host_parse_pids(const char *text, size_t len, struct resched_host **ret, int **pids, unsigned int *nr_pids, struct resched_error *err)
{
	struct reader r = { .err = err };
	struct resched_host *host;
	struct json_object *root;
	int *own = NULL;
	unsigned int nr_own = 0;
	int rc = parse_object(text, len, &root, err);

	if (rc < 0)
		return rc;
	host = calloc(1, sizeof(*host));
	if (!host) {
		json_object_put(root);
		return rs_error_nomem(err);
	}
	read_host(&r, root, host);
	read_pids(&r, root, &own, &nr_own);
	json_object_put(root);
	if (r.rc) {
		free(own);
		resched_host_free(host);
		return r.rc;
	}
	*ret = host;
	*pids = own;
	*nr_pids = nr_own;
	return 0;
}

int resched_host_parse(const char *text, size_t len, struct resched_host **ret, struct resched_error *err)
{
	unsigned int nr;
	int *pids, rc = rs_host_parse_pids(text, len, ret, &pids, &nr, err);

	if (rc == 0)
		free(pids);
	return rc;
}

int resched_host_load(const char *path, struct resched_host **ret, struct resched_error *err)
{
	struct resched_error inner = { 0 };
	char *text = NULL;
	size_t len = 0, room;
	struct stat st;
	int rc, fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return rs_error_set(err, errno == EACCES ? RESCHED_DENIED : RESCHED_FAILED, -errno, "cannot open host snapshot '%s':", path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > TEXT_MAX_BYTES) {
		rc = rs_error_set(err, RESCHED_FAILED, -EINVAL, "'%s' is no host snapshot: not a file of at most %u MiB", path, TEXT_MAX_BYTES >> 20);
		goto out;
	}
	room = (size_t)st.st_size;
	text = malloc(room + 1);
	if (!text) {
		rc = rs_error_nomem(err);
		goto out;
	}
	while (len < room) {
		ssize_t n = read(fd, text + len, room - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	rc = resched_host_parse(text, len, ret, &inner);
	if (rc < 0)
		rs_error_set(err, inner.kind, rc, "'%s': %s", path, inner.text);
out:
	free(text);
	close(fd);
	return rc;
}

/* Writing. A failed allocation anywhere is remembered. */
struct writer { bool nomem; };

static void put(struct writer *w, struct json_object *obj, const char *key, struct json_object *val)
{
	if (!val || !obj || json_object_object_add(obj, key, val) < 0) {
		json_object_put(val);
		w->nomem = true;
	}
}

static void push(struct writer *w, struct json_object *list, struct json_object *val)
{
	if (!val || !list || json_object_array_add(list, val) < 0) {
		json_object_put(val);
		w->nomem = true;
	}
}

/* Length of the UTF-8 character at @p, 0 when it is none. */
static size_t utf8_len(const unsigned char *p)
{
	size_t n = *p < 0x80 ? 1 : (*p >= 0xc2 && *p < 0xe0) ? 2 : (*p >= 0xe0 && *p < 0xf0) ? 3 : (*p >= 0xf0 && *p < 0xf5) ? 4 : 0;

	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	return n;
}

/* A task may call itself anything; JSON is UTF-8. */
static struct json_object *new_text(const char *text)
{
	char *clean = strdup(text);
	struct json_object *val;
	size_t i = 0;

	if (!clean)
		return NULL;
	while (clean[i]) {
		size_t n = utf8_len((const unsigned char *)clean + i);

		if (!n)
			clean[i] = '?';
		i += n ? n : 1;
	}
	val = json_object_new_string(clean);
	free(clean);
	return val;
}

static void put_int(struct writer *w, struct json_object *obj, const char *key, int64_t v)
{
	put(w, obj, key, json_object_new_int64(v));
}

static void put_text(struct writer *w, struct json_object *obj, const char *key, const char *text)
{
	if (text)
		put(w, obj, key, new_text(text));
}

static struct json_object *cpu_json(struct writer *w, const struct resched_host_cpu *c)
{
	struct json_object *o = json_object_new_object();

	put_int(w, o, "cpu", c->cpu);
	put_int(w, o, "online", c->online);
	put_int(w, o, "isolated", c->isolated);
	put_int(w, o, "core", c->core);
	put_int(w, o, "cluster", c->cluster);
	put_int(w, o, "llc", c->llc);
	put_int(w, o, "die", c->die);
	put_int(w, o, "package", c->package);
	put_int(w, o, "node", c->node);
	put_int(w, o, "capacity", c->capacity);
	if (c->newidle_ns)
		put_int(w, o, "newidle_ns", (int64_t)c->newidle_ns);
	return o;
}

static struct json_object *node_json(struct writer *w, const struct resched_host_node *n)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();

	put_int(w, o, "node", n->node);
	for (unsigned int i = 0; i < n->nr_distances; i++)
		push(w, list, json_object_new_int(n->distances[i]));
	put(w, o, "distances", list);
	return o;
}

static struct json_object *task_json(struct writer *w, const struct resched_host_task *t)
{
	struct json_object *o = json_object_new_object();
	char state[2] = { t->state, '\0' };

	put_int(w, o, "pid", t->pid);
	put_int(w, o, "tgid", t->tgid);
	put_text(w, o, "comm", t->comm);
	if (t->state)
		put_text(w, o, "state", state);
	put_int(w, o, "policy", t->policy);
	put_int(w, o, "nice", t->nice);
	put_int(w, o, "rt_priority", t->rt_priority);
	put(w, o, "slice_ns", json_object_new_uint64(t->slice_ns));
	put_int(w, o, "autogroup", t->autogroup);
	put_int(w, o, "autogroup_nice", t->autogroup_nice);
	put_int(w, o, "kthread", t->kthread);
	put_text(w, o, "affinity", t->affinity);
	put_text(w, o, "cgroup", t->cgroup);
	if (t->cmdline)
		put_text(w, o, "cmdline", t->cmdline);
	return o;
}

static struct json_object *cgroup_json(struct writer *w, const struct resched_host_cgroup *g)
{
	struct json_object *o = json_object_new_object();

	put_text(w, o, "path", g->path);
	put(w, o, "weight", json_object_new_uint64(g->weight));
	put(w, o, "quota_us", json_object_new_uint64(g->quota_us));
	put(w, o, "period_us", json_object_new_uint64(g->period_us));
	put_text(w, o, "cpuset", g->cpuset);
	return o;
}

static struct json_object *change_json(struct writer *w, const struct resched_host_change *c)
{
	struct json_object *o = json_object_new_object();

	put(w, o, "after_ns", json_object_new_uint64(c->after_ns));
	put(w, o, "until_ns", json_object_new_uint64(c->until_ns));
	if (c->pid)
		put_int(w, o, "pid", c->pid);
	put_text(w, o, "what", c->what);
	put_text(w, o, "from", c->from);
	put_text(w, o, "to", c->to);
	return o;
}

static struct json_object *settings_json(struct writer *w, unsigned int nr, const struct resched_host_setting *list)
{
	struct json_object *o = json_object_new_object();

	for (unsigned int i = 0; i < nr; i++)
		put_text(w, o, list[i].name, list[i].value);
	return o;
}

static void put_lists(struct writer *w, struct json_object *root, const struct resched_host *host)
{
	struct json_object *list = json_object_new_array();

	for (unsigned int i = 0; i < host->nr_cpus; i++)
		push(w, list, cpu_json(w, &host->cpus[i]));
	put(w, root, "cpus", list);
	list = json_object_new_array();
	for (unsigned int i = 0; i < host->nr_nodes; i++)
		push(w, list, node_json(w, &host->nodes[i]));
	put(w, root, "nodes", list);
	list = json_object_new_array();
	for (unsigned int i = 0; i < host->nr_features; i++)
		push(w, list, new_text(host->features[i]));
	put(w, root, "features", list);
	put(w, root, "tunables", settings_json(w, host->nr_tunables, host->tunables));
	list = json_object_new_array();
	for (unsigned int i = 0; i < host->nr_tasks; i++)
		push(w, list, task_json(w, &host->tasks[i]));
	put(w, root, "tasks", list);
	list = json_object_new_array();
	for (unsigned int i = 0; i < host->nr_cgroups; i++)
		push(w, list, cgroup_json(w, &host->cgroups[i]));
	put(w, root, "cgroups", list);
	if (host->nr_changes) {
		list = json_object_new_array();
		for (unsigned int i = 0; i < host->nr_changes; i++)
			push(w, list, change_json(w, &host->changes[i]));
		put(w, root, "changes", list);
	}
	put(w, root, "unknown", settings_json(w, host->nr_unknown, host->unknown));
}

int resched_host_json(const struct resched_host *host, char **ret, struct resched_error *err)
{
	struct json_object *root = json_object_new_object();
	struct writer w = { .nomem = !root };
	const char *text;
	char *copy = NULL;

	put_text(&w, root, "schema", SCHEMA);
	put_text(&w, root, "kernel", host->kernel);
	put_text(&w, root, "machine", host->machine);
	put_text(&w, root, "version", host->version);
	put_int(&w, root, "hz", host->hz);
	put_text(&w, root, "preempt", host->preempt);
	put_int(&w, root, "autogroup", host->autogroup);
	put_text(&w, root, "clock", host->clock);
	put(&w, root, "taken_ns", json_object_new_uint64(host->taken_ns));
	put_lists(&w, root, host);
	text = w.nomem ? NULL : json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text)
		copy = strdup(text);
	json_object_put(root);
	if (!copy)
		return rs_error_nomem(err);
	*ret = copy;
	return 0;
}

int resched_host_copy(const struct resched_host *host, struct resched_host **ret, struct resched_error *err)
{
	char *json = NULL;
	int rc = resched_host_json(host, &json, err);

	if (rc >= 0)
		rc = resched_host_parse(json, strlen(json), ret, err);
	free(json);
	return rc;
}
