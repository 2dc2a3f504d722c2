// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define RETRY_NS 30000000000ull
#define NAMES_MOST 65536u	/* then they are forgotten: names that come and go must not fill the memory */
#define SETTLE_NS 120000000ull	/* events come to the recorder up to 50 ms late */

static void stop_flight(struct recorder *r);

static void fail(struct recorder *r, const struct resched_error *err)
{
	if (strcmp(r->why, err->text) != 0)	/* once, not every half minute */
		log_line(r->log, LOG_WARN, "not recording: %s", err->text);
	snprintf(r->why, sizeof(r->why), "%s", err->text);
	loop_timer_set(r->loop, &r->retry, RETRY_NS);
}

static void on_events(void *ctx, uint32_t events)
{
	struct recorder *r = ctx;
	struct resched_error err = { 0 };

	(void)events;
	if (resched_flight_poll(r->flight, 0, watch_event, r->watch, &err) >= 0)
		return;
	stop_flight(r);
	r->restarts++;
	fail(r, &err);
}

static void start_flight(struct recorder *r)
{
	const struct config *c = r->config;
	const struct resched_flight_options opts = {
		.record = { .detail = (enum resched_detail)c->detail, .backend = (enum resched_backend)c->backend, .compress = 1 },
		.ring_bytes = c->memory, .keep_ns = c->keep_ns,
	};
	struct resched_flight_stats stats;
	struct resched_error err = { 0 };

	if (!c->record) {
		snprintf(r->why, sizeof(r->why), "recording is switched off in the configuration");
		return;
	}
	if (resched_flight_start(&r->flight, &opts, &err) < 0) {
		r->flight = NULL;
		fail(r, &err);
		return;
	}
	r->why[0] = '\0';
	resched_flight_stats(r->flight, &stats);
	log_line(r->log, LOG_INFO, "recording through %s, %llu MB for %u cpus", stats.backend, (unsigned long long)(stats.ring_bytes >> 20),
		 stats.nr_cpus);
	for (unsigned int i = 0; i < stats.nr_warnings; i++)
		log_line(r->log, LOG_NOTE, "%s", stats.warnings[i]);
	watch_begin(r->watch, resched_flight_names(r->flight), resched_flight_host(r->flight));
	r->events = (struct loop_fd){ .fd = resched_flight_fd(r->flight), .ready = on_events, .ctx = r };
	r->polled = loop_add(r->loop, &r->events, EPOLLIN) == 0;
}

static void on_retry(void *ctx)
{
	start_flight(ctx);
}

/* Nobody may be writing from it. */
static void wait_until_idle(struct recorder *r)
{
	pthread_mutex_lock(&r->mutex);
	while (r->busy)
		pthread_cond_wait(&r->cond, &r->mutex);
	pthread_mutex_unlock(&r->mutex);
}

static void stop_flight(struct recorder *r)
{
	struct resched_flight_stats stats;

	if (!r->flight)
		return;
	if (r->polled)
		loop_remove(r->loop, &r->events);
	r->polled = false;
	loop_timer_clear(r->loop, &r->resume);
	wait_until_idle(r);
	resched_flight_stats(r->flight, &stats);
	r->events_base += stats.events;
	r->lost_base += stats.lost_events;
	resched_flight_stop(r->flight);
	r->flight = NULL;
	watch_begin(r->watch, NULL, NULL);	/* the names went with it */
}

/* ---- the writer */

static void write_one(struct recorder *r, struct writing *w)
{
	if (r->flight)
		w->rc = resched_flight_snapshot(r->flight, w->path, w->from_ns, w->to_ns, &w->snapshot, &w->err);
	else
		w->rc = -ENODATA;
	if (w->rc < 0 && !*w->err.text)
		snprintf(w->err.text, sizeof(w->err.text), "%s", w->rc == -ENODATA ? "nothing is being recorded" : strerror(-w->rc));
}

static void *writer_main(void *ctx)
{
	struct recorder *r = ctx;
	const uint64_t one = 1;

	pthread_setname_np(pthread_self(), "snapshots");
	pthread_mutex_lock(&r->mutex);
	for (;;) {
		struct writing *w = r->queue;

		if (!w && r->ending)
			break;
		if (!w) {
			pthread_cond_wait(&r->cond, &r->mutex);
			continue;
		}
		r->queue = w->next;
		pthread_mutex_unlock(&r->mutex);
		write_one(r, w);
		pthread_mutex_lock(&r->mutex);
		w->next = r->written;
		r->written = w;
		r->busy--;
		pthread_cond_broadcast(&r->cond);
		if (write(r->finished.fd, &one, sizeof(one)) < 0)
			continue;	/* full: it is readable anyway */
	}
	pthread_mutex_unlock(&r->mutex);
	return NULL;
}

static void enqueue(struct recorder *r, struct writing *w)
{
	struct writing **at;

	pthread_mutex_lock(&r->mutex);
	for (at = &r->queue; *at && ((*at)->urgent || !w->urgent); at = &(*at)->next)
		;
	w->next = *at;
	*at = w;
	r->busy++;
	pthread_cond_broadcast(&r->cond);
	pthread_mutex_unlock(&r->mutex);
}

static void deliver(struct recorder *r)
{
	struct writing *done;

	pthread_mutex_lock(&r->mutex);
	done = r->written;
	r->written = NULL;
	pthread_mutex_unlock(&r->mutex);
	while (done) {
		struct writing *next = done->next;

		done->done(done->ctx, done);
		done = next;
	}
}

static void on_finished(void *ctx, uint32_t events)
{
	struct recorder *r = ctx;
	uint64_t nr;

	(void)events;
	if (read(r->finished.fd, &nr, sizeof(nr)) > 0)
		deliver(r);
}

static void on_its_time(void *ctx)
{
	struct writing *w = ctx;
	struct recorder *r = w->recorder;

	for (struct writing **at = &r->waiting; *at; at = &(*at)->next) {
		if (*at == w) {
			*at = w->next;
			break;
		}
	}
	enqueue(r, w);
}

void recorder_write(struct recorder *r, struct writing *w)
{
	uint64_t now = resched_flight_now(), ready = w->to_ns + SETTLE_NS;

	w->recorder = r;
	w->timer = (struct loop_timer){ .due = on_its_time, .ctx = w };
	w->next = r->waiting;
	r->waiting = w;
	loop_timer_set(r->loop, &w->timer, ready > now ? ready - now : 0);
}

/* Do not wait for the future any longer. */
static void hurry(struct recorder *r)
{
	uint64_t now = resched_flight_now();

	while (r->waiting) {
		struct writing *w = r->waiting;

		loop_timer_clear(r->loop, &w->timer);
		if (w->to_ns > now)
			w->to_ns = now;
		on_its_time(w);
	}
}

/* ---- open and close */

static void on_resume(void *ctx)
{
	struct recorder *r = ctx;

	if (r->flight && !r->polled)
		r->polled = loop_add(r->loop, &r->events, EPOLLIN) == 0;
}

int recorder_open(struct recorder *r)
{
	int rc;

	pthread_mutex_init(&r->mutex, NULL);
	pthread_cond_init(&r->cond, NULL);
	r->retry = (struct loop_timer){ .due = on_retry, .ctx = r };
	r->resume = (struct loop_timer){ .due = on_resume, .ctx = r };
	r->finished = (struct loop_fd){ .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .ready = on_finished, .ctx = r };
	if (r->finished.fd < 0)
		return -errno;
	rc = loop_add(r->loop, &r->finished, EPOLLIN);
	if (rc == 0)
		rc = -pthread_create(&r->thread, NULL, writer_main, r);
	if (rc < 0)
		return rc;
	r->threaded = true;
	start_flight(r);
	return 0;
}

void recorder_close(struct recorder *r)
{
	if (r->threaded) {
		hurry(r);
		pthread_mutex_lock(&r->mutex);
		r->ending = true;
		pthread_cond_broadcast(&r->cond);
		pthread_mutex_unlock(&r->mutex);
		pthread_join(r->thread, NULL);
		deliver(r);
	}
	stop_flight(r);
	if (r->finished.fd >= 0)
		close(r->finished.fd);
	pthread_cond_destroy(&r->cond);
	pthread_mutex_destroy(&r->mutex);
}

void recorder_restart(struct recorder *r)
{
	hurry(r);
	stop_flight(r);
	loop_timer_clear(r->loop, &r->retry);
	start_flight(r);
}

void recorder_tidy(struct recorder *r)
{
	if (!r->flight || resched_names_count(resched_flight_names(r->flight)) < NAMES_MOST)
		return;
	resched_flight_renew_names(r->flight);
	watch_forget_names(r->watch);
}

void recorder_pause(struct recorder *r, uint64_t ns)
{
	if (!r->flight || !r->polled)
		return;
	loop_remove(r->loop, &r->events);
	r->polled = false;
	r->paused_s += (double)ns / 1e9;
	loop_timer_set(r->loop, &r->resume, ns);
}
