// SPDX-License-Identifier: GPL-2.0-only
/*
 * Live: the machine is recorded into memory by the library's flight recorder, or by a daemon that hands over what it has part by part,
 * and its events are indexed as they come.
 *
 * An index only grows. So that memory does not, a second one is begun when the first is half full, both are fed, and the second takes the
 * place of the first when that is full: what is shown always reaches back over at least half of max_events, once there were as many.
 */
#include "tui/build.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tui/feed.h"

#define WAIT_MS 100
#define PART_MS 400		/* between two parts of the daemon's */
#define PART_NS 1000000000u	/* of the first one */
#define KEPT_NS 60000000000ull	/* of what is asked for at a time, as the daemon has it at most */
#define REFUSALS 10		/* in a row that are waited for: it may be busy, or nothing has happened */
#define BYTES_PER_EVENT 16u	/* of the ring: what is shown reaches about as far back as what can be frozen */

static struct resched_names *names_of(const struct sched *s)
{
	return s->flight ? resched_flight_names(s->flight) : resched_trace_names(s->trace);
}

static const struct resched_host *host_of(const struct sched *s)
{
	return s->flight ? resched_flight_host(s->flight) : resched_trace_host(s->trace);
}

static void young_free(struct young *y)
{
	resched_outliers_free(y->outliers);
	resched_index_free(y->index);
	resched_analysis_free(y->analysis);
	memset(y, 0, sizeof(*y));
}

/* Names are told once: the second index is told those that the first one knows. */
static int tell_names(const struct sched *s, struct resched_analysis *to)
{
	struct resched_names *names = names_of(s);
	int rc = 0;

	for (unsigned int i = 0; i < resched_index_tasks(s->index) && rc == 0; i++) {
		const struct resched_index_task *t = resched_index_task(s->index, i);
		struct resched_event event = { .ts_ns = resched_index_last_ns(s->index), .pid = t->pid, .type = RESCHED_EV_COMM };
		char name[24];
		int64_t nr;

		resched_index_name(s->index, (int)i, name, sizeof(name));
		if (!t->pid || *name == ':' || resched_index_find_pid(s->index, t->pid) != (int)i)
			continue;
		nr = resched_names_intern(names, name, strlen(name));
		if (nr < 0)
			return -ENOMEM;
		event.comm.name = (uint32_t)nr;
		rc = resched_analysis_event(to, &event);
	}
	return rc;
}

static int young_new(struct sched *s)
{
	struct young old = { s->analysis, s->outliers, s->index };
	int rc = sched_set_up(s, host_of(s), names_of(s));

	s->young = (struct young){ s->analysis, s->outliers, s->index };
	s->analysis = old.analysis;
	s->outliers = old.outliers;
	s->index = old.index;
	if (rc == 0)
		rc = tell_names(s, s->young.analysis);
	if (rc < 0)
		young_free(&s->young);
	return rc;
}

/* The second takes over. */
static void grow_up(struct sched *s)
{
	struct young old = { s->analysis, s->outliers, s->index };

	s->analysis = s->young.analysis;
	s->outliers = s->young.outliers;
	s->index = s->young.index;
	memset(&s->young, 0, sizeof(s->young));
	young_free(&old);
}

static int take(void *ctx, const struct resched_event *event)
{
	struct sched *s = ctx;
	uint64_t nr = resched_index_events(s->index);
	int rc = sched_add_event(s, event);

	if (!s->began_ns)
		s->began_ns = event->ts_ns;
	if (rc == 0 && s->young.index)
		rc = resched_analysis_event(s->young.analysis, event);
	if (rc == 0 && nr >= s->max_events / 2 && !s->young.index)
		rc = young_new(s);
	else if (rc == 0 && nr >= s->max_events && s->young.index)
		grow_up(s);
	return rc;
}

static int follow(struct sched *s)
{
	struct pollfd fd = { .fd = resched_flight_fd(s->flight), .events = POLLIN };
	int rc = 0;

	while (rc >= 0 && !atomic_load(&s->cancel)) {
		if (atomic_load(&s->paused)) {
			poll(NULL, 0, WAIT_MS);
			continue;
		}
		if (poll(&fd, 1, WAIT_MS) < 0 && errno != EINTR)
			return -errno;
		pthread_mutex_lock(&s->lock);	/* names come with events */
		rc = resched_flight_poll(s->flight, 0, take, s, &s->err);
		pthread_mutex_unlock(&s->lock);
	}
	return rc == -ECANCELED ? 0 : rc;
}

/* ---- what a daemon records */

/* A hole between two parts: on every cpu anything may have happened. */
static int take_hole(struct sched *s, uint64_t at_ns)
{
	int rc = 0;

	for (unsigned int cpu = 0; cpu < resched_index_cpus(s->index) && rc == 0; cpu++)
		rc = take(s, &(struct resched_event){ .ts_ns = at_ns, .cpu = (uint16_t)cpu, .type = RESCHED_EV_LOST });
	return rc;
}

/* Each part numbers names by itself; those of the first one are ours. */
static int take_of(struct sched *s, struct resched_trace *trace, struct resched_event event, uint64_t after_ns)
{
	if (event.type != RESCHED_EV_COMM)
		return event.ts_ns > after_ns ? take(s, &event) : 0;
	if (trace != s->trace) {
		const char *name = resched_names_get(resched_trace_names(trace), event.comm.name);
		int64_t nr = resched_names_intern(names_of(s), name, strlen(name));

		if (nr < 0)
			return -ENOMEM;
		event.comm.name = (uint32_t)nr;
	}
	if (event.ts_ns < after_ns)
		event.ts_ns = after_ns;
	return take(s, &event);
}

/* Locked. @after_ns: up to where they were taken already, 0: this is the first part, whose trace stays. */
static int take_events(struct sched *s, struct resched_trace *trace, const struct feed_part *part, uint64_t after_ns)
{
	const struct resched_event *event;
	int rc = 0;

	if (!after_ns) {
		s->trace = trace;
		rc = sched_set_up(s, host_of(s), names_of(s));
	} else if (part->from_ns > after_ns + 1) {
		rc = take_hole(s, part->from_ns);
	}
	while (rc >= 0) {
		rc = resched_trace_next(trace, &event, &s->err);
		if (rc <= 0)
			break;
		rc = take_of(s, trace, *event, after_ns);
	}
	return rc;
}

static int take_part(struct sched *s, const struct feed_part *part, uint64_t after_ns)
{
	struct resched_trace *trace = NULL;
	char path[40];
	int rc;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", part->fd);
	rc = resched_trace_open(path, &trace, &s->err);
	if (rc == 0) {
		pthread_mutex_lock(&s->lock);
		rc = take_events(s, trace, part, after_ns);
		pthread_mutex_unlock(&s->lock);
	}
	if (trace != s->trace)
		resched_trace_free(trace);
	close(part->fd);
	atomic_store(&s->phase, 1);
	return rc;
}

static void rest(const struct sched *s)
{
	for (int ms = 0; ms < PART_MS && !atomic_load(&s->cancel); ms += WAIT_MS)
		poll(NULL, 0, WAIT_MS);
}

/* Until it is no longer wanted. Return: 0; -errno. */
static int follow_feed(struct sched *s, struct feed *feed, struct feed_part part)
{
	unsigned int refusals = 0;
	uint64_t after_ns = 0;
	int rc = 0;

	while (!atomic_load(&s->cancel)) {
		if (rc == 0) {
			rc = take_part(s, &part, after_ns);
			after_ns = part.to_ns;
			part.fd = -1;
			refusals = 0;
		}
		if (rc < 0 && (rc != -EREMOTEIO || ++refusals > REFUSALS))
			return rc == -ECANCELED ? 0 : rc;
		do
			rest(s);
		while (atomic_load(&s->paused) && !atomic_load(&s->cancel));
		rc = feed_next(feed, after_ns + 1, 0, &s->cancel, &part, &s->err);
	}
	if (part.fd >= 0)
		close(part.fd);
	return 0;
}

/* Return: the daemon was watched, *@ret how that ended; false: there is none that may be. */
static bool watch_daemon(struct sched *s, int *ret)
{
	struct feed feed = { .fd = -1 };
	struct feed_part part = { .fd = -1 };

	*ret = feed_open(s->socket, &feed, &s->err);
	if (*ret == 0)
		*ret = feed_next(&feed, 0, PART_NS, &s->cancel, &part, &s->err);
	if (*ret == 0) {
		pthread_mutex_lock(&s->lock);
		snprintf(s->label, sizeof(s->label), "live of reschedd");
		s->fed = true;
		pthread_mutex_unlock(&s->lock);
		*ret = follow_feed(s, &feed, part);
	}
	feed_close(&feed);
	return s->fed || s->must_feed;
}

/* ---- the thread */

/* With a recorder of our own. */
static int record(struct sched *s)
{
	struct resched_flight_options opts = { .ring_bytes = s->from_ns };
	struct resched_flight *flight = NULL;
	int rc;

	s->from_ns = 0;
	rc = resched_flight_start(&flight, &opts, &s->err);
	pthread_mutex_lock(&s->lock);
	s->flight = flight;
	if (rc == 0)
		rc = sched_set_up(s, host_of(s), names_of(s));
	pthread_mutex_unlock(&s->lock);
	atomic_store(&s->phase, 1);
	return rc == 0 ? follow(s) : rc;
}

static void *live(void *arg)
{
	struct sched *s = arg;
	int rc;

	if (!s->socket || !watch_daemon(s, &rc)) {
		s->err = (struct resched_error){ 0 };
		rc = record(s);
	}
	atomic_store(&s->phase, 1);
	pthread_mutex_lock(&s->lock);
	if (rc < 0 || !s->index) {
		sched_finish(s, rc < 0 ? rc : -ECANCELED);
		return NULL;
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

int data_live(struct data *d, const struct live_options *opts, struct resched_error *err)
{
	struct sched *s = sched_new(d, err);

	if (!s)
		return -ENOMEM;
	s->live = true;
	s->from_ns = opts->ring_bytes;	/* until it has begun */
	s->max_events = opts->ring_bytes ? opts->ring_bytes / BYTES_PER_EVENT : LIVE_EVENTS;
	s->must_feed = opts->socket != NULL;
	s->socket = opts->socket || !opts->ring_bytes ? strdup(opts->socket ? opts->socket : FEED_SOCKET) : NULL;
	s->file = strdup("-");
	snprintf(s->label, sizeof(s->label), "live");
	return s->file ? sched_start(d, s, live, err) : -ENOMEM;
}

void live_release(struct sched *s)
{
	young_free(&s->young);
	resched_flight_stop(s->flight);
	free(s->socket);
	if (s->temporary)
		unlink(s->file);
}

/* ---- a part of it, to stay ---- */

/* What the daemon has of it, into @s->file: beside it first, so that what was there before stays when this fails. */
static int freeze_fed(struct sched *s)
{
	uint64_t now = resched_flight_now();
	struct feed feed = { .fd = -1 };
	struct feed_part part = { .fd = -1 };
	char path[4096];
	int fd = -1, rc = feed_open(s->origin->socket, &feed, &s->err);

	if (rc == 0)
		rc = feed_next(&feed, now > KEPT_NS && s->from_ns < now - KEPT_NS ? now - KEPT_NS : s->from_ns, 0, &s->cancel, &part, &s->err);
	feed_close(&feed);
	if (rc < 0)
		return rc;
	snprintf(path, sizeof(path), "%.4080s.new", s->file);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	rc = fd < 0 ? -errno : feed_copy(part.fd, fd);
	if (fd >= 0 && close(fd) < 0 && rc == 0)
		rc = -errno;
	if (rc == 0 && rename(path, s->file) < 0)
		rc = -errno;
	if (rc < 0) {
		snprintf(s->err.text, sizeof(s->err.text), "cannot write '%.400s': %s", s->file, strerror(-rc));
		if (fd >= 0)
			unlink(path);
	}
	close(part.fd);
	return rc;
}

static void *freeze(void *arg)
{
	struct sched *s = arg;
	struct resched_snapshot done;
	int rc = s->origin->flight ? resched_flight_snapshot(s->origin->flight, s->file, s->from_ns, 0, &done, &s->err) : freeze_fed(s);

	if (rc < 0) {
		pthread_mutex_lock(&s->lock);
		sched_finish(s, rc);
		return NULL;
	}
	return sched_read(s);
}

/* A file nobody else has. */
static char *temporary_file(void)
{
	const char *dir = getenv("XDG_RUNTIME_DIR"), *tmp = getenv("TMPDIR");
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/resched-live-XXXXXX", dir && *dir == '/' ? dir : tmp && *tmp == '/' ? tmp : "/tmp");
	fd = mkstemp(path);
	if (fd < 0)
		return NULL;
	close(fd);
	return strdup(path);
}

int data_freeze(struct data *d, struct sched *of, const char *file, struct resched_error *err)
{
	struct sched *s;
	int rc;

	if (!of->live || (!of->flight && !of->fed) || !of->index) {
		*err = (struct resched_error){ RESCHED_FAILED, "only what is recorded live can be frozen" };
		return -EINVAL;
	}
	s = sched_new(d, err);
	if (!s)
		return -ENOSPC;
	s->origin = of;
	s->temporary = !file;
	s->from_ns = resched_index_first_ns(of->index);
	s->file = file ? strdup(file) : temporary_file();
	snprintf(s->label, sizeof(s->label), "%s", file ? file : "frozen");
	if (!s->file) {
		s->temporary = false;
		sched_free(s);
		*err = (struct resched_error){ RESCHED_FAILED, "there is no place for a temporary file: set TMPDIR, or :save FILE" };
		return -ENOENT;
	}
	rc = sched_start(d, s, freeze, err);
	return rc < 0 ? rc : (int)d->nr - 1;
}
