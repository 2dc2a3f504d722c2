// SPDX-License-Identifier: GPL-2.0-only
/* Scheduled what-ifs. Each run is a line of series-NAME.jsonl in the store: when, and the totals of every column. */
#include "daemon/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/whatif.h"

#define SERIES_MOST (64u << 20)	/* bytes of a file that is read back */

static void path_of(const struct daemon *d, const char *name, char path[STORE_PATH])
{
	snprintf(path, STORE_PATH, "%s/series-%s.jsonl", d->config->directory, name);
}

/* The members of the report that are worth keeping: of rows, those about everything that was selected. */
static struct json_object *point_of(struct json_object *report)
{
	struct json_object *point = json_object_new_object(), *rows, *labels, *source, *value, *totals = json_object_new_object();

	json_object_object_add(point, "time_s", json_object_new_int64(time(NULL)));
	if (json_object_object_get_ex(report, "source", &source)) {
		if (json_object_object_get_ex(source, "span_ns", &value))
			json_object_object_add(point, "span_ns", json_object_get(value));
		if (json_object_object_get_ex(source, "lost_events", &value))
			json_object_object_add(point, "lost_events", json_object_get(value));
	}
	if (json_object_object_get_ex(report, "labels", &labels))
		json_object_object_add(point, "columns", json_object_get(labels));
	json_object_object_add(point, "totals", totals);
	if (!json_object_object_get_ex(report, "rows", &rows) || !json_object_is_type(rows, json_type_array))
		return point;
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i), *kind, *metric, *values;

		if (json_object_object_get_ex(row, "kind", &kind) && !strcmp(json_object_get_string(kind), "total") &&
		    json_object_object_get_ex(row, "metric", &metric) && json_object_object_get_ex(row, "values", &values))
			json_object_object_add(totals, json_object_get_string(metric), json_object_get(values));
	}
	return point;
}

/* Where the newest @keep lines of @text begin. */
static size_t newest(const char *text, size_t len, uint64_t keep)
{
	uint64_t lines = 0;

	for (size_t at = len; at > 0; at--) {
		if (text[at - 1] == '\n' && lines++ == keep)
			return at;
	}
	return 0;
}

/* Cut what is too much, when it is twice as much: not at every point. */
static void trim(struct series *s, const char *path)
{
	size_t len, from;
	char *text;

	if (++s->points % (s->config->keep + 1) != 0)
		return;
	if (file_read(path, SERIES_MOST, &text, &len) < 0)
		return;
	from = newest(text, len, s->config->keep);
	if (from)
		file_replace(path, text + from, len - from, 0640);
	free(text);
}

static int append(const char *path, struct json_object *point)
{
	size_t len;
	const char *text = json_object_to_json_string_length(point, JSON_C_TO_STRING_PLAIN, &len);
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640), rc = 0;
	char *line = malloc(len + 1);
	off_t end = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);

	if (fd < 0 || !line) {
		rc = fd < 0 ? -errno : -ENOMEM;
	} else {
		memcpy(line, text, len);
		line[len] = '\n';
		if (write(fd, line, len + 1) != (ssize_t)len + 1) {	/* half a line is none */
			rc = -ENOSPC;
			if (ftruncate(fd, end) < 0)
				rc = -errno;
		}
	}
	free(line);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* One run. Its schedule may be another, or gone, when it ends: it is known by name. */
struct run { struct daemon *daemon; char name[32]; };

static struct series *find(struct daemon *d, const char *name)
{
	for (unsigned int i = 0; i < d->nr_series; i++) {
		if (!strcmp(d->series[i].config->name, name))
			return &d->series[i];
	}
	return NULL;
}

static bool on_progress(void *ctx, const struct job *job, const char *phase, uint64_t events, int parts)
{
	(void)ctx, (void)job, (void)phase, (void)events, (void)parts;
	return true;
}

/* Frees @run. @why NULL: it went well. */
static void end_run(struct run *run, const char *why)
{
	struct series *s = find(run->daemon, run->name);

	if (s)
		s->busy = false;
	if (s && why)
		s->failures++;
	if (why)
		log_line(&run->daemon->log, LOG_WARN, "schedule %s: %s", run->name, why);
	free(run);
}

static void on_end(void *ctx, const struct job *job, enum job_end how, struct json_object *report, const char *text)
{
	struct run *run = ctx;
	struct series *s = find(run->daemon, run->name);
	struct json_object *point;
	char path[STORE_PATH];
	int rc;

	(void)job;
	if (how != JOB_DONE || !s) {
		end_run(run, how != JOB_DONE ? text : NULL);
		return;
	}
	point = point_of(report);
	path_of(run->daemon, run->name, path);
	rc = append(path, point);
	json_object_put(point);
	if (rc == 0)
		trim(s, path);
	end_run(run, rc < 0 ? "its series cannot be written" : NULL);
}

static void on_last(void *ctx, const char *path, const struct resched_snapshot *snapshot, const char *why)
{
	struct run *run = ctx;
	struct series *s = find(run->daemon, run->name);
	const struct job_owner owner = { .progress = on_progress, .end = on_end, .ctx = run };
	int64_t job = path && s ? jobs_add(&run->daemon->jobs, path, true, s->whatif, &owner) : -ENOENT;

	(void)snapshot;
	if (job >= 0)
		return;
	if (path)
		unlink(path);
	end_run(run, !path ? why : !s ? NULL : job == -EBUSY ? "too many what-ifs wait" : strerror((int)-job));
}

static void on_due(void *ctx)
{
	struct series *s = ctx;
	struct run *run;

	loop_timer_set(&s->daemon->loop, &s->timer, s->config->every_ns);
	run = s->busy ? NULL : calloc(1, sizeof(*run));
	if (!run) {
		s->failures++;
		log_line(&s->daemon->log, LOG_WARN, "schedule %s: the run before has not ended", s->config->name);
		return;
	}
	run->daemon = s->daemon;
	snprintf(run->name, sizeof(run->name), "%s", s->config->name);
	s->busy = true;
	s->runs++;
	snapshots_last(s->daemon, s->config->last_ns, on_last, run);
}

/* Words of @text as an array. */
static struct json_object *words(const char *text)
{
	struct json_object *list = json_object_new_array();

	for (const char *p = text + strspn(text, " \t,"); *p;) {
		size_t n = strcspn(p, " \t,");

		json_object_array_add(list, json_object_new_string_len(p, (int)n));
		p += n;
		p += strspn(p, " \t,");
	}
	return list;
}

/* Changes of tasks and groups have commas of their own: one of each. */
static struct json_object *one_text(const char *text)
{
	struct json_object *list = json_object_new_array();

	if (*text)
		json_object_array_add(list, json_object_new_string(text));
	return list;
}

static struct json_object *whatif_of(const struct config_schedule *c)
{
	struct json_object *w = json_object_new_object();

	json_object_object_add(w, "policies", words(c->policies));
	json_object_object_add(w, "feature", words(c->feature));
	json_object_object_add(w, "set", words(c->set));
	json_object_object_add(w, "task", one_text(c->task));
	json_object_object_add(w, "group", one_text(c->group));
	json_object_object_add(w, "placement", json_object_new_string(c->placement));
	if (*c->model)
		json_object_object_add(w, "model", json_object_new_string(c->model));
	if (*c->cgroup)
		json_object_object_add(w, "cgroup", json_object_new_string(c->cgroup));
	return w;
}

void series_set(struct daemon *d)
{
	struct resched_error err;
	struct whatif checked;

	d->nr_series = d->config->nr_schedules;
	for (unsigned int i = 0; i < d->nr_series; i++) {
		struct series *s = &d->series[i];

		*s = (struct series){ .daemon = d, .config = &d->config->schedules[i], .whatif = whatif_of(&d->config->schedules[i]) };
		s->timer = (struct loop_timer){ .due = on_due, .ctx = s };
		if (whatif_parse(s->whatif, &checked, &err) < 0)
			log_line(&d->log, LOG_ERROR, "schedule %s: %s", s->config->name, err.text);
		else
			loop_timer_set(&d->loop, &s->timer, s->config->every_ns);
	}
}

void series_release(struct daemon *d)
{
	for (unsigned int i = 0; i < d->nr_series; i++) {
		loop_timer_clear(&d->loop, &d->series[i].timer);
		json_object_put(d->series[i].whatif);
	}
	d->nr_series = 0;
}

struct json_object *series_read(struct daemon *d, const char *name, unsigned int most)
{
	char path[STORE_PATH], *text, *save = NULL;
	struct json_object *points;
	size_t len;

	if (!find(d, name))
		return NULL;
	points = json_object_new_array();
	path_of(d, name, path);
	if (file_read(path, SERIES_MOST, &text, &len) < 0)
		return points;	/* no point yet */
	for (char *line = strtok_r(text + newest(text, len, most), "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct json_object *point = json_tokener_parse(line);

		if (point)
			json_object_array_add(points, point);
	}
	free(text);
	return points;
}
