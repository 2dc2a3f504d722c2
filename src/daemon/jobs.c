// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/spawn.h"
#include "daemon/text.h"

#define PER_CLIENT 4u		/* what-ifs of one client that wait or run */
#define REPORT_DEPTH 32
#define LINE_MOST 2048u		/* of progress and errors */

struct job {
	struct jobs *jobs;
	uint64_t number;
	char name[64];			/* of the recording, for people */
	int recording;			/* open from the beginning: retention may remove it meanwhile */
	bool running, in_report, is_text, exited;
	struct json_object *whatif;
	struct job_owner owner;
	struct spawned worker;
	struct loop_fd output, exit;
	struct loop_timer timer;
	uint64_t began_ns;
	char *text; size_t len, size;	/* what it wrote and was not yet used: a line, or the report */
	enum job_end how;		/* once it is to be killed, why */
	char error[700];
	struct job *next;
};

uint64_t job_number(const struct job *job)
{
	return job->number;
}

const char *job_end_name(enum job_end how)
{
	static const char *const names[] = { "done", "failed", "crashed", "too_long", "too_large", "cancelled" };

	return names[how];
}

static void start_waiting(struct jobs *jobs);

static void unlink_job(struct job *job)
{
	struct jobs *jobs = job->jobs;
	struct job *before = jobs->first;

	if (before == job) {
		jobs->first = job->next;
		before = NULL;
	} else {
		while (before->next != job)
			before = before->next;
		before->next = job->next;
	}
	if (jobs->last == job)
		jobs->last = before;
	*(job->running ? &jobs->nr_running : &jobs->nr_waiting) -= 1;
}

/* Tell how it ended, and forget it. */
static void end_job(struct job *job, enum job_end how, struct json_object *report, const char *text)
{
	struct jobs *jobs = job->jobs;

	unlink_job(job);
	loop_timer_clear(jobs->loop, &job->timer);
	jobs->ended[how]++;
	if (job->running)
		jobs->seconds += (double)(loop_now_ns() - job->began_ns) / 1e9;
	job->owner.end(job->owner.ctx, job, how, report, text);
	close(job->recording);
	json_object_put(job->whatif);
	free(job->text);
	free(job);
}

static void stop_watching(struct job *job)
{
	loop_remove(job->jobs->loop, &job->output);
	loop_remove(job->jobs->loop, &job->exit);
	close(job->output.fd);
	close(job->exit.fd);
}

static struct json_object *parse_report(const struct job *job)
{
	struct json_tokener *tokener;
	struct json_object *report = NULL;

	if (job->is_text)
		return text_json_lines(job->text, job->len);
	tokener = json_tokener_new_ex(REPORT_DEPTH);
	if (tokener && job->len < INT32_MAX)
		report = json_tokener_parse_ex(tokener, job->text, (int)job->len);
	if (tokener)
		json_tokener_free(tokener);
	if (report && !json_object_is_type(report, json_type_object)) {
		json_object_put(report);
		report = NULL;
	}
	return report;
}

static void describe_death(struct job *job, int status)
{
	const struct config *c = job->jobs->config;
	char where[601];

	if (job->how != JOB_DONE)	/* we ended it */
		return;
	job->how = JOB_CRASHED;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) {
		job->how = JOB_TOO_LONG;
		snprintf(job->error, sizeof(job->error), "the what-if took more than its %llu s of cpu time",
			 (unsigned long long)(c->cpu_time_ns / 1000000000u));
	} else if (WIFSIGNALED(status)) {
		snprintf(where, sizeof(where), "%.600s", job->error);	/* crash.h */
		snprintf(job->error, sizeof(job->error), "the worker died of signal %d (%s)%s%s", WTERMSIG(status), strsignal(WTERMSIG(status)),
			 *where ? ": " : "", where);
	} else if (*job->error) {
		job->how = JOB_FAILED;
	} else {
		snprintf(job->error, sizeof(job->error), "the worker ended with status %d and no answer", WEXITSTATUS(status));
	}
}

/* Nobody may be there who is told: the log always is. */
static void tell_failure(const struct job *job)
{
	if (job->how != JOB_DONE && job->how != JOB_CANCELLED)
		log_line(job->jobs->log, job->how == JOB_CRASHED ? LOG_WARN : LOG_NOTE, "what-if %llu %s: %s", (unsigned long long)job->number,
			 job_end_name(job->how), job->error);
}

/* The process has ended and its pipe is empty. */
static void conclude(struct job *job)
{
	struct jobs *jobs = job->jobs;
	struct json_object *report = NULL;
	int status = 0;

	stop_watching(job);
	waitpid(job->worker.pid, &status, 0);	/* it has ended: this does not wait */
	if (job->how == JOB_DONE && WIFEXITED(status) && WEXITSTATUS(status) == 0 && job->in_report)
		report = parse_report(job);
	if (!report)
		describe_death(job, status);
	tell_failure(job);
	end_job(job, job->how, report, job->error);
	json_object_put(report);
	start_waiting(jobs);
}

static void kill_job(struct job *job, enum job_end how, const char *text)
{
	if (job->how != JOB_DONE)
		return;
	job->how = how;
	snprintf(job->error, sizeof(job->error), "%s", text);
	kill(job->worker.pid, SIGKILL);
}

static void on_late(void *ctx)
{
	kill_job(ctx, JOB_TOO_LONG, "the what-if took longer than wall_time allows");
}

/* "P phase events parts", "E kind text", "R json" */
static void take_line(struct job *job, char *line)
{
	char phase[32];
	unsigned long long events;
	int parts;

	if (!strcmp(line, "R json") || !strcmp(line, "R text")) {
		job->in_report = true;
		job->is_text = line[2] == 't';
	} else if (line[0] == 'E' && line[1] == ' ') {
		snprintf(job->error, sizeof(job->error), "%s", strlen(line) > 4 ? line + 4 : line);
	} else if (sscanf(line, "P %31s %llu %d", phase, &events, &parts) == 3 && job->how == JOB_DONE) {
		if (!job->owner.progress(job->owner.ctx, job, phase, events, parts))
			kill_job(job, JOB_CANCELLED, "nobody waits for it any longer");
	}
}

static void take_lines(struct job *job)
{
	size_t at = 0;
	char *end;

	while (!job->in_report && (end = memchr(job->text + at, '\n', job->len - at))) {
		*end = '\0';
		take_line(job, job->text + at);
		at = (size_t)(end - job->text) + 1;
	}
	memmove(job->text, job->text + at, job->len - at);
	job->len -= at;
	if (!job->in_report && job->len > LINE_MOST)
		kill_job(job, JOB_CRASHED, "the worker wrote what no worker writes");
}

static bool make_space(struct job *job)
{
	size_t most = job->jobs->config->report_size + LINE_MOST, size = job->size ? job->size * 2 : 65536;
	char *more;

	if (job->len < job->size)
		return true;
	if (job->len >= most) {
		kill_job(job, JOB_TOO_LARGE, "the report is larger than report_size");
		return false;
	}
	more = realloc(job->text, size);
	if (!more) {
		kill_job(job, JOB_TOO_LARGE, "out of memory for the report");
		return false;
	}
	job->text = more;
	job->size = size;
	return true;
}

static void on_output(void *ctx, uint32_t events)
{
	struct job *job = ctx;
	ssize_t n;

	(void)events;
	if (!make_space(job)) {
		job->len = 0;	/* read on, so that its end is seen */
		job->in_report = true;
	}
	n = read(job->output.fd, job->text + job->len, job->size - job->len);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		job->len += (size_t)n;
		take_lines(job);
		return;
	}
	loop_want(job->jobs->loop, &job->output, 0);
	loop_remove(job->jobs->loop, &job->output);
	if (job->exited)
		conclude(job);
	else
		job->output.ready = NULL;	/* its end was seen; what is left is its exit */
}

static void on_exit_of(void *ctx, uint32_t events)
{
	struct job *job = ctx;

	(void)events;
	job->exited = true;
	if (!job->output.ready) {
		conclude(job);
		return;
	}
	loop_remove(job->jobs->loop, &job->exit);	/* the pipe's end comes next */
}

/* What the worker is told. */
static struct json_object *orders_of(const struct job *job)
{
	const struct config *c = job->jobs->config;
	const struct passwd *user = geteuid() == 0 && *c->user ? getpwnam(c->user) : NULL;
	struct json_object *orders = json_object_new_object();

	json_object_object_add(orders, "whatif", json_object_get(job->whatif));
	json_object_object_add(orders, "name", text_json(job->name));
	json_object_object_add(orders, "memory", json_object_new_uint64(c->worker_memory));
	json_object_object_add(orders, "cpu_s", json_object_new_uint64((c->cpu_time_ns + 999999999u) / 1000000000u));
	json_object_object_add(orders, "uid", json_object_new_uint64(user ? user->pw_uid : 65534));
	json_object_object_add(orders, "gid", json_object_new_uint64(user ? user->pw_gid : 65534));
	return orders;
}

static int start(struct job *job)
{
	struct jobs *jobs = job->jobs;
	struct json_object *orders = orders_of(job);
	int rc = spawn_worker(job->recording, orders, &job->worker);

	json_object_put(orders);
	if (rc < 0) {
		job->how = JOB_FAILED;
		snprintf(job->error, sizeof(job->error), "no worker can be started: %s", strerror(-rc));
		return rc;
	}
	job->output = (struct loop_fd){ .fd = job->worker.output, .ready = on_output, .ctx = job };
	job->exit = (struct loop_fd){ .fd = job->worker.pidfd, .ready = on_exit_of, .ctx = job };
	job->timer = (struct loop_timer){ .due = on_late, .ctx = job };
	job->began_ns = loop_now_ns();
	job->running = true;
	jobs->nr_running++;
	jobs->nr_waiting--;
	loop_add(jobs->loop, &job->output, EPOLLIN);
	loop_add(jobs->loop, &job->exit, EPOLLIN);
	loop_timer_set(jobs->loop, &job->timer, jobs->config->wall_time_ns);
	return 0;
}

static void start_waiting(struct jobs *jobs)
{
	struct job *next;

	for (struct job *job = jobs->first; job && !jobs->closing && jobs->nr_running < jobs->config->workers; job = next) {
		next = job->next;
		if (job->running)
			continue;
		if (job->owner.wanted && !job->owner.wanted(job->owner.ctx)) {
			end_job(job, JOB_CANCELLED, NULL, "nobody waits for it any longer");
		} else if (start(job) < 0) {
			tell_failure(job);
			end_job(job, JOB_FAILED, NULL, job->error);
		}
	}
}

static void on_start(void *ctx)
{
	start_waiting(((struct job *)ctx)->jobs);
}

static unsigned int count_of(const struct jobs *jobs, uint64_t client)
{
	unsigned int nr = 0;

	for (const struct job *job = jobs->first; job; job = job->next)
		nr += job->owner.client == client;
	return nr;
}

int64_t jobs_add(struct jobs *jobs, const char *path, bool scratch, struct json_object *whatif, const struct job_owner *owner)
{
	const char *name = strrchr(path, '/');
	struct job *job;
	int fd;

	if (jobs->nr_waiting >= jobs->config->queue || (owner->client && count_of(jobs, owner->client) >= PER_CLIENT))
		return -EBUSY;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	job = calloc(1, sizeof(*job));
	if (!job) {
		close(fd);
		return -ENOMEM;
	}
	job->jobs = jobs;
	job->number = ++jobs->last_number;
	job->recording = fd;
	snprintf(job->name, sizeof(job->name), "%s", scratch ? "now" : name ? name + 1 : path);
	if (scratch)
		unlink(path);
	job->whatif = json_object_get(whatif);
	job->owner = *owner;
	*(jobs->last ? &jobs->last->next : &jobs->first) = job;
	jobs->last = job;
	jobs->nr_waiting++;
	/* not from here: the giver gets the number before the end */
	job->timer = (struct loop_timer){ .due = on_start, .ctx = job };
	loop_timer_set(jobs->loop, &job->timer, 0);
	return (int64_t)job->number;
}

int jobs_cancel(struct jobs *jobs, uint64_t number)
{
	for (struct job *job = jobs->first; job; job = job->next) {
		if (job->number != number)
			continue;
		if (job->running)
			kill_job(job, JOB_CANCELLED, "cancelled");
		else
			end_job(job, JOB_CANCELLED, NULL, "cancelled");
		return 0;
	}
	return -ENOENT;
}

struct json_object *jobs_list(const struct jobs *jobs)
{
	struct json_object *list = json_object_new_array();

	for (const struct job *job = jobs->first; job; job = job->next) {
		struct json_object *one = json_object_new_object();

		json_object_object_add(one, "job", json_object_new_uint64(job->number));
		json_object_object_add(one, "state", json_object_new_string(job->running ? "running" : "waiting"));
		json_object_object_add(one, "pid", json_object_new_int(job->running ? job->worker.pid : 0));
		json_object_object_add(one, "whatif", json_object_get(job->whatif));
		json_object_array_add(list, one);
	}
	return list;
}

void jobs_release(struct jobs *jobs)
{
	struct job *next;

	jobs->closing = true;
	for (struct job *job = jobs->first; job; job = next) {
		next = job->next;
		if (job->running) {
			kill_job(job, JOB_CANCELLED, "the daemon ends");
			conclude(job);
		} else {
			end_job(job, JOB_CANCELLED, NULL, "the daemon ends");
		}
	}
}
