// SPDX-License-Identifier: GPL-2.0-only
/*
 * rt-app's JSON to the text of a workload. Events are told by the beginning of their names, as rt-app does ("run", "run0", "run_a").
 * rt-app's resume wakes whoever waits and is lost otherwise: a wake "waiting" of every task that suspends on that name.
 */
#include <resched/rtapp.h>

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define FIRST_NS UINT64_C(10000000000)
#define US 1000u
#define MAX_INSTANCES 10000
#define MAX_UNROLLED 100000	/* phases of a task that is played a number of times */
#define MAX_US INT64_C(100000000000)
#define DEFAULT_SECONDS 10

struct task {
	const char *name;
	struct json_object *json;
	uint32_t first;		/* number of its first instance */
	int64_t instances;
};

struct convert {
	const char *path;
	struct resched_error *err;
	FILE *out;
	struct task *tasks;
	unsigned int nr_tasks;
	const struct task *task;
	uint32_t idx;			/* of the instance that is written */
	uint64_t run_ns;
	uint32_t nr_ops;
	uint64_t period_us;		/* of the task's timers; 0 = none yet */
};

static int bad(const struct convert *c, const char *what, const char *why)
{
	return rs_error_set(c->err, RESCHED_FAILED, -EBADMSG, "%.200s: task '%.60s', '%.60s': %s", c->path, c->task ? c->task->name : "?", what, why);
}

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

/* Members of @json that are numbers; @fallback where there is none. */
static int64_t number_of(struct json_object *json, const char *key, int64_t fallback)
{
	struct json_object *value;

	return json_object_object_get_ex(json, key, &value) && json_object_is_type(value, json_type_int) ? json_object_get_int64(value) : fallback;
}

static const char *text_of(struct json_object *json, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(json, key, &value) && json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

static bool is_property(const char *name)
{
	static const char *const names[] = { "loop", "instance", "policy", "priority", "cpus", "delay", "phases", "nodes_membind",
					     "dl-runtime", "dl-period", "dl-deadline", "taskgroup", "util_min", "util_max" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(names[i], name))
			return true;
	}
	return false;
}

/* ---- who waits on a name ---- */

static bool object_waits(const struct task *task, struct json_object *events, const char *ref)
{
	json_object_object_foreach(events, key, value)
	{
		const char *on = NULL;

		if (!strcmp(key, "phases") && json_object_is_type(value, json_type_object)) {
			json_object_object_foreach(value, phase, inner)
			{
				(void)phase;
				if (json_object_is_type(inner, json_type_object) && object_waits(task, inner, ref))
					return true;
			}
		} else if (is_property(key)) {
			continue;
		} else if (begins(key, "suspend") && json_object_is_type(value, json_type_string)) {
			on = json_object_get_string(value);
			on = *on ? on : task->name;
		} else if ((begins(key, "wait") || begins(key, "sync")) && json_object_is_type(value, json_type_object)) {
			on = text_of(value, "ref");
		}
		if (on && !strcmp(on, ref))
			return true;
	}
	return false;
}

/* ---- operations ---- */

static void begin_op(struct convert *c)
{
	fprintf(c->out, " %" PRIu64, c->run_ns);
	c->run_ns = 0;
	c->nr_ops++;
}

static void put_wakes(struct convert *c, const char *ref, bool one)
{
	for (unsigned int t = 0; t < c->nr_tasks; t++) {
		const struct task *task = &c->tasks[t];

		if (!object_waits(task, task->json, ref))
			continue;
		for (int64_t i = 0; i < task->instances; i++) {
			if (task->first + (uint32_t)i == c->idx)
				continue;
			begin_op(c);
			fprintf(c->out, " wake waiting task=%" PRIu32 "\n", task->first + (uint32_t)i);
			if (one)
				return;
		}
	}
}

static void put_wait(struct convert *c)
{
	begin_op(c);
	fprintf(c->out, " block woken by=%" PRIu32 "\n", c->idx);	/* whoever; a run asks only that somebody does */
}

static int put_timer(struct convert *c, const char *key, struct json_object *value)
{
	int64_t period = json_object_is_type(value, json_type_object) ? number_of(value, "period", 0) : 0;
	uint64_t first = FIRST_NS;

	if (period < 1 || period > MAX_US)
		return bad(c, key, "a timer wants a period in us");
	begin_op(c);
	if ((uint64_t)period == c->period_us)
		fprintf(c->out, " block period when=%" PRIu64 " len=%" PRId64 "\n", first + (uint64_t)period * US, period * US);
	else	/* a task has one grid; of others, the length is kept */
		fprintf(c->out, " block for len=%" PRId64 "\n", period * US);
	return 0;
}

static int us_of(const struct convert *c, const char *key, struct json_object *value, uint64_t *ret)
{
	int64_t us = json_object_is_type(value, json_type_int) ? json_object_get_int64(value) : -1;

	if (us < 0 || us > MAX_US)
		return bad(c, key, "is no duration in us");
	*ret = (uint64_t)us * US;
	return 0;
}

static int put_event(struct convert *c, const char *key, struct json_object *value)
{
	const char *text = json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
	uint64_t ns = 0;
	int rc = 0;

	if (begins(key, "runtime")) {
		rc = us_of(c, key, value, &ns);
		if (rc == 0 && ns) {
			begin_op(c);
			fprintf(c->out, " spin len=%" PRIu64 "\n", ns);
		}
		return rc;
	}
	if (begins(key, "run")) {
		rc = us_of(c, key, value, &ns);
		c->run_ns += ns;
		return rc;
	}
	if (begins(key, "sleep")) {
		rc = us_of(c, key, value, &ns);
		if (rc == 0) {
			begin_op(c);
			fprintf(c->out, " block for len=%" PRIu64 "\n", ns);
		}
		return rc;
	}
	if (begins(key, "timer"))
		return put_timer(c, key, value);
	if (begins(key, "suspend") || begins(key, "wait")) {
		put_wait(c);
		return 0;
	}
	if (begins(key, "resume") || begins(key, "broad") || begins(key, "signal")) {
		if (!text)
			return bad(c, key, "wants a name");
		put_wakes(c, text, key[0] == 's');
		return 0;
	}
	if (begins(key, "yield")) {
		begin_op(c);
		fputs(" yield\n", c->out);
		return 0;
	}
	if (begins(key, "lock") || begins(key, "unlock"))
		return 0;	/* the order of wakes decides; contention is not modelled */
	return bad(c, key, "this event is not read (run, runtime, sleep, timer, suspend, resume, wait, signal, broad, yield are)");
}

static int put_events(struct convert *c, struct json_object *events)
{
	int rc = 0;

	json_object_object_foreach(events, key, value)
	{
		if (!is_property(key))
			rc = put_event(c, key, value);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* A run at the end of a phase belongs to it. */
static void end_run(struct convert *c)
{
	if (!c->run_ns)
		return;
	begin_op(c);
	fputs(" nothing\n", c->out);
}

static int put_phase(struct convert *c, struct json_object *phase, bool unroll)
{
	int64_t loops = number_of(phase, "loop", 1);
	uint32_t from = c->nr_ops;
	int rc = 0;

	if (unroll && loops > MAX_UNROLLED)
		return bad(c, "loop", "too many passes of a phase in a task that is itself played a number of times");
	for (int64_t i = 0; i < (unroll && loops > 0 ? loops : 1) && rc == 0; i++) {
		rc = put_events(c, phase);
		end_run(c);
	}
	if (rc == 0 && !unroll && loops > 1 && c->nr_ops > from) {
		begin_op(c);
		fprintf(c->out, " repeat from=%" PRIu32 " len=%" PRId64 "\n", from, loops - 1);
	}
	return rc;
}

/* ---- tasks ---- */

/* The period of its first timer. */
static void find_period(struct convert *c, struct json_object *events)
{
	json_object_object_foreach(events, key, value)
	{
		if (!json_object_is_type(value, json_type_object) || c->period_us)
			continue;
		if (!strcmp(key, "phases")) {
			json_object_object_foreach(value, name, phase)
			{
				(void)name;
				if (json_object_is_type(phase, json_type_object))
					find_period(c, phase);
			}
		} else if (begins(key, "timer") && number_of(value, "period", 0) > 0) {
			c->period_us = (uint64_t)number_of(value, "period", 0);
		}
	}
}

static bool is_absolute(struct json_object *json)
{
	return strstr(json_object_to_json_string(json), "\"absolute\"") != NULL;
}

/* Where a task goes on after its last operation: from the start, from an endless last phase, or nowhere. */
static int put_body(struct convert *c, struct json_object *json, int64_t loops, uint32_t *ret_loop)
{
	struct json_object *phases;
	int64_t delay = number_of(json, "delay", 0);
	uint32_t from;
	int rc = 0;

	*ret_loop = UINT32_MAX;
	if (delay > 0) {
		begin_op(c);
		fprintf(c->out, " block for len=%" PRId64 "\n", (delay < MAX_US ? delay : MAX_US) * US);
	}
	from = c->nr_ops;
	if (!json_object_object_get_ex(json, "phases", &phases)) {
		rc = put_events(c, json);
		end_run(c);
	} else if (!json_object_is_type(phases, json_type_object)) {
		return bad(c, "phases", "is no object");
	} else {
		json_object_object_foreach(phases, name, phase)
		{
			uint32_t begin = c->nr_ops;

			if (!json_object_is_type(phase, json_type_object))
				return bad(c, name, "is no phase");
			if (*ret_loop != UINT32_MAX)
				break;	/* nothing comes after a phase without an end */
			rc = put_phase(c, phase, loops > 1);
			if (rc < 0)
				return rc;
			if (number_of(phase, "loop", 1) < 0 && c->nr_ops > begin)
				*ret_loop = begin;
		}
	}
	if (rc < 0 || *ret_loop != UINT32_MAX || c->nr_ops == from)
		return rc;
	if (loops < 0) {
		*ret_loop = from;
		return 0;
	}
	if (loops > 1) {
		begin_op(c);
		fprintf(c->out, " repeat from=%" PRIu32 " len=%" PRId64 "\n", from, loops - 1);
	}
	begin_op(c);
	fputs(" exit\n", c->out);
	return 0;
}

static void put_quoted(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		unsigned char b = (unsigned char)*text;

		if (b < 0x20 || b >= 0x7f || b == '"' || b == '\\')
			fprintf(out, "\\x%02x", b);
		else
			fputc(b, out);
	}
	fputc('"', out);
}

static int put_cpus(struct convert *c, struct json_object *json)
{
	struct json_object *cpus;

	if (!json_object_object_get_ex(json, "cpus", &cpus))
		return 0;
	if (!json_object_is_type(cpus, json_type_array))
		return bad(c, "cpus", "is no list");
	for (size_t i = 0; i < json_object_array_length(cpus); i++) {
		int64_t cpu = json_object_get_int64(json_object_array_get_idx(cpus, i));

		if (cpu < 0 || cpu > 8191)
			return bad(c, "cpus", "has a number that is no cpu");
		fprintf(c->out, "%s%" PRId64, i ? "," : " cpus=", cpu);
	}
	return 0;
}

static int put_class(struct convert *c, struct json_object *json)
{
	const char *policy = text_of(json, "policy");
	bool rt = policy && (!strcmp(policy, "SCHED_FIFO") || !strcmp(policy, "SCHED_RR"));
	int64_t priority = number_of(json, "priority", rt ? 10 : 0);

	if (rt ? priority < 1 || priority > 99 : priority < -20 || priority > 19)
		return bad(c, "priority", "is out of range for its policy");
	fprintf(c->out, " prio=%" PRId64, rt ? 99 - priority : 120 + priority);
	if (rt)
		fprintf(c->out, " policy=%s", policy[6] == 'F' ? "fifo" : "rr");
	else if (policy && !strcmp(policy, "SCHED_IDLE"))
		fputs(" policy=idle", c->out);
	return 0;
}

static int put_task(struct convert *c, uint32_t idx)
{
	struct json_object *json = c->task->json;
	int64_t loops = number_of(json, "loop", -1);
	char *body = NULL;
	FILE *out = c->out;
	uint32_t loop;
	size_t len;
	int rc;

	c->idx = idx;
	c->run_ns = c->period_us = 0;
	c->nr_ops = 0;
	find_period(c, json);
	if (c->period_us > (uint64_t)MAX_US)
		return bad(c, "timer", "has a period that is too long");
	c->out = open_memstream(&body, &len);
	if (!c->out) {
		c->out = out;
		return rs_error_nomem(c->err);
	}
	rc = put_body(c, json, loops, &loop);
	fclose(c->out);
	c->out = out;
	if (rc == 0) {
		fprintf(out, "task %" PRIu32 " pid=%" PRIu32 " comm=", idx, 1000 + idx);
		put_quoted(out, c->task->name);
		rc = put_class(c, json);
	}
	if (rc == 0)
		rc = put_cpus(c, json);
	if (rc == 0) {
		if (c->period_us)
			fprintf(out, " period=%" PRIu64 " phase=%" PRIu64 "%s", c->period_us * US, FIRST_NS, is_absolute(json) ? " catch-up" : "");
		if (loop != UINT32_MAX)
			fprintf(out, " loop=%" PRIu32, loop);
		fprintf(out, "\n%s", body);
	}
	free(body);
	return rc;
}

static int put_tasks(struct convert *c)
{
	int rc = 0;

	for (unsigned int t = 0; t < c->nr_tasks && rc == 0; t++) {
		c->task = &c->tasks[t];
		for (int64_t i = 0; i < c->task->instances && rc == 0; i++)
			rc = put_task(c, c->task->first + (uint32_t)i);
	}
	return rc;
}

static int list_tasks(struct convert *c, struct json_object *tasks)
{
	uint32_t next = 0;

	c->tasks = calloc((size_t)json_object_object_length(tasks) + 1, sizeof(*c->tasks));
	if (!c->tasks)
		return rs_error_nomem(c->err);
	json_object_object_foreach(tasks, name, json)
	{
		struct task *task = &c->tasks[c->nr_tasks];

		c->task = task;
		*task = (struct task){ .name = name, .json = json, .first = next };
		if (!json_object_is_type(json, json_type_object))
			return bad(c, name, "is no task");
		task->instances = number_of(json, "instance", 1);
		if (task->instances < 0 || task->instances > MAX_INSTANCES)
			return bad(c, "instance", "is out of range");
		next += (uint32_t)task->instances;
		c->nr_tasks++;
	}
	return 0;
}

/* ---- the whole ---- */

static int put_head(struct convert *c, struct json_object *root, const struct resched_host *host)
{
	struct json_object *global;
	int64_t seconds = json_object_object_get_ex(root, "global", &global) ? number_of(global, "duration", -1) : -1;
	char *json = NULL;
	int rc;

	if (seconds <= 0 || seconds > 1000000)
		seconds = DEFAULT_SECONDS;	/* without an end */
	fprintf(c->out, "resched-workload 1\nspan first=%" PRIu64 " last=%" PRIu64 " placeless\n", FIRST_NS,
		FIRST_NS + (uint64_t)seconds * 1000000000u);
	fputs("timing hz=250 tick=4000000 confidence=1000000 idle-exit=3000 preempt-delay=1500 tick-delay=1500\n", c->out);
	if (!host)
		return 0;
	rc = resched_host_json(host, &json, c->err);
	if (rc < 0)
		return rc;
	for (char *p = json; *p; p++)
		*p = *p == '\n' || *p == '\r' ? ' ' : *p;
	fprintf(c->out, "host %s\n", json);
	free(json);
	return 0;
}

int resched_rtapp_convert(const char *path, const struct resched_host *host, FILE *out, struct resched_error *err)
{
	struct json_object *root = json_object_from_file(path), *tasks;
	struct convert c = { .path = path, .err = err, .out = out };
	int rc;

	if (!root)
		return rs_error_set(err, RESCHED_FAILED, -EBADMSG, "cannot read '%.200s' as rt-app's JSON: %.100s", path, json_util_get_last_err());
	if (!json_object_object_get_ex(root, "tasks", &tasks) || !json_object_is_type(tasks, json_type_object)) {
		rc = rs_error_set(err, RESCHED_FAILED, -EBADMSG, "'%.200s' has no object 'tasks', so it is not for rt-app", path);
		goto out;
	}
	rc = put_head(&c, root, host);
	if (rc >= 0)
		rc = list_tasks(&c, tasks);
	if (rc >= 0)
		rc = put_tasks(&c);
	if (rc >= 0 && ferror(out))
		rc = rs_error_set(err, RESCHED_FAILED, -EIO, "cannot keep the workload of '%.200s':", path);
out:
	free(c.tasks);
	json_object_put(root);
	return rc;
}

int resched_rtapp_load(const char *path, const struct resched_host *host, struct resched_workload **ret, struct resched_error *err)
{
	char *text = NULL;
	size_t len = 0;
	FILE *stream = open_memstream(&text, &len);
	int rc;

	if (!stream)
		return rs_error_nomem(err);
	rc = resched_rtapp_convert(path, host, stream, err);
	if (fclose(stream) != 0 && rc >= 0)
		rc = rs_error_nomem(err);
	stream = rc >= 0 ? fmemopen(text, len, "r") : NULL;
	if (rc >= 0 && !stream)
		rc = rs_error_nomem(err);
	if (rc >= 0)
		rc = resched_workload_read(stream, path, ret, err);
	if (stream)
		fclose(stream);
	free(text);
	return rc;
}

int resched_rtapp_recognise(const void *head, size_t len)
{
	const char *p = head;
	size_t i = 0;

	while (i < len && (p[i] == ' ' || p[i] == '\t' || p[i] == '\n' || p[i] == '\r'))
		i++;
	/* A comment may come first, and rt-app puts "global" before "tasks" as often as not. */
	if (i >= len || (p[i] != '{' && p[i] != '/'))
		return 0;
	return memmem(p, len, "\"tasks\"", 7) || memmem(p, len, "\"global\"", 8);
}
