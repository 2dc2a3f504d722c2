// SPDX-License-Identifier: GPL-2.0-only
/* Starting, ending, reloading, and what happens every interval. */
#include "daemon/daemon.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#define PAUSE_MOST_NS 60000000000ull

static void config_mistake(void *ctx, const char *text)
{
	log_line(ctx, LOG_ERROR, "%s", text);
}

static double cpu_seconds(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) + (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

/* Over the budget: the watch rests until the average is back inside it. Recording goes on. */
static void keep_budget(struct daemon *d, double interval_s)
{
	double cpu = cpu_seconds(), used = cpu - d->cpu_s, over;

	d->cpu_s = cpu;
	d->cpu_share = used / interval_s * 100;
	over = used / (d->config->cpu_budget / 100) - interval_s;
	if (over > interval_s) {
		uint64_t ns = (uint64_t)(over * 1e9);

		log_line(&d->log, LOG_DETAIL, "over the cpu budget: waits are not watched for %.1f s", over);
		recorder_pause(&d->recorder, ns < PAUSE_MOST_NS ? ns : PAUSE_MOST_NS);
	}
}

static void on_interval(void *ctx)
{
	struct daemon *d = ctx;

	loop_timer_set(&d->loop, &d->interval, d->config->interval_ns);
	triggers_look(&d->triggers);
	requests_sample(d);
	watch_next_interval(&d->watch);
	recorder_tidy(&d->recorder);
	keep_budget(d, (double)d->config->interval_ns / 1e9);
}

static void on_metrics(void *ctx)
{
	struct daemon *d = ctx;

	loop_timer_set(&d->loop, &d->metrics, d->config->metrics_ns);
	metrics_write(d);
	store_retain(&d->store);
}

static void on_watchdog(void *ctx)
{
	struct daemon *d = ctx;

	loop_timer_set(&d->loop, &d->watchdog, d->watchdog_ns);
	sd_notify(0, "WATCHDOG=1");
}

static bool restarts_recorder(const struct config *a, const struct config *b)
{
	return a->record != b->record || a->backend != b->backend || a->detail != b->detail || a->memory != b->memory || a->keep_ns != b->keep_ns;
}

/* What can change while it runs does; a file with mistakes changes nothing. */
static void reload(struct daemon *d)
{
	struct config *next = malloc(sizeof(*next)), *old = d->config;

	sd_notify(0, "RELOADING=1");
	if (!next || config_read(d->config_path, !d->config_given, next, config_mistake, &d->log) < 0) {
		log_line(&d->log, LOG_ERROR, "the configuration stays as it was");
		free(next);
		sd_notify(0, "READY=1");
		return;
	}
	if (strcmp(next->path, old->path) != 0 || strcmp(next->directory, old->directory) != 0 || next->max_tasks != old->max_tasks ||
	    next->max_cgroups != old->max_cgroups)
		log_line(&d->log, LOG_NOTE, "path, directory, max_tasks and max_cgroups change at the next start only");
	memcpy(next->path, old->path, sizeof(next->path));
	memcpy(next->directory, old->directory, sizeof(next->directory));
	next->max_tasks = old->max_tasks;
	next->max_cgroups = old->max_cgroups;
	d->config = next;
	triggers_set(&d->triggers, next);
	series_release(d);
	series_set(d);
	server_set_config(&d->server, next);
	d->store.config = d->jobs.config = d->recorder.config = next;
	if (restarts_recorder(old, next))
		recorder_restart(&d->recorder);
	loop_timer_set(&d->loop, &d->interval, next->interval_ns);
	loop_timer_set(&d->loop, &d->metrics, next->metrics_ns);
	free(old);
	d->count.reloads++;
	log_line(&d->log, LOG_INFO, "configuration read again");
	sd_notify(0, "READY=1");
}

static void on_signal(void *ctx, uint32_t events)
{
	struct daemon *d = ctx;
	struct signalfd_siginfo info;

	(void)events;
	if (read(d->signals.fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGHUP)
		reload(d);
	else
		d->loop.stop = true;
}

static int take_signals(struct daemon *d)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);	/* threads inherit it: the loop alone gets them */
	signal(SIGPIPE, SIG_IGN);
	d->signals = (struct loop_fd){ .fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), .ready = on_signal, .ctx = d };
	return d->signals.fd < 0 ? -errno : loop_add(&d->loop, &d->signals, EPOLLIN);
}

static void on_wait(void *ctx, const struct wait *wait)
{
	triggers_wait(ctx, wait);
}

void daemon_prepare(struct daemon *d)
{
	const struct config *c = d->config;

	d->started_ns = loop_now_ns();
	d->signals.fd = -1;
	d->server = (struct server){ .loop = &d->loop, .config = c, .log = &d->log, .request = requests_handle, .ctx = d,
				     .listener.fd = -1, .lock_fd = -1 };
	d->store = (struct store){ .config = c, .log = &d->log };
	d->jobs = (struct jobs){ .loop = &d->loop, .config = c, .log = &d->log };
	d->triggers = (struct triggers){ .loop = &d->loop, .log = &d->log, .clock = resched_flight_now, .fire = snapshots_fire, .ctx = d };
	d->recorder = (struct recorder){ .loop = &d->loop, .config = c, .log = &d->log, .watch = &d->watch, .finished.fd = -1 };
	d->interval = (struct loop_timer){ .due = on_interval, .ctx = d };
	d->metrics = (struct loop_timer){ .due = on_metrics, .ctx = d };
	d->watchdog = (struct loop_timer){ .due = on_watchdog, .ctx = d };
}

static int begin(struct daemon *d)
{
	uint64_t watchdog_us = 0;
	int rc = take_signals(d);

	if (rc < 0)
		return rc;
	rc = server_open(&d->server);	/* first of all: it tells whether another daemon lives */
	if (rc < 0)
		return rc;
	rc = watch_init(&d->watch, (unsigned int)d->config->max_tasks, (unsigned int)d->config->max_cgroups);
	if (rc < 0)
		return rc;
	d->watch.on_wait = on_wait;
	d->watch.ctx = &d->triggers;
	store_open(&d->store);
	triggers_set(&d->triggers, d->config);
	series_set(d);
	rc = recorder_open(&d->recorder);
	if (rc < 0)
		return rc;
	loop_timer_set(&d->loop, &d->interval, d->config->interval_ns);
	loop_timer_set(&d->loop, &d->metrics, 0);
	if (sd_watchdog_enabled(0, &watchdog_us) > 0) {
		d->watchdog_ns = watchdog_us * 1000 / 3;
		loop_timer_set(&d->loop, &d->watchdog, 0);
	}
	d->cpu_s = cpu_seconds();
	sd_notify(0, "READY=1\nSTATUS=serving");
	return 0;
}

/* What was asked for is written, what runs is stopped, who waits is told. */
static void end(struct daemon *d)
{
	sd_notify(0, "STOPPING=1");
	recorder_close(&d->recorder);
	snapshots_release(d);
	series_release(d);
	jobs_release(&d->jobs);
	requests_release(d);
	triggers_release(&d->triggers);
	if (d->server.accepting)	/* else the file may be another daemon's */
		metrics_write(d);
	server_close(&d->server);
	store_release(&d->store);
	watch_release(&d->watch);
	if (d->signals.fd >= 0)
		close(d->signals.fd);
	loop_release(&d->loop);
}

int daemon_run(struct daemon *d)
{
	int rc = loop_init(&d->loop);

	daemon_prepare(d);
	if (rc == 0)
		rc = begin(d);
	if (rc == 0)
		rc = loop_run(&d->loop);
	if (rc < 0)
		log_line(&d->log, LOG_ERROR, "cannot run: %s", strerror(-rc));
	end(d);
	return rc < 0 ? RESCHED_FAILED : RESCHED_OK;
}
