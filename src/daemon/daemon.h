/* SPDX-License-Identifier: GPL-2.0-only */
/* The daemon: its parts, and what ties them together. One thread, but for the one that writes snapshots (recorder.h). */
#ifndef DAEMON_DAEMON_H
#define DAEMON_DAEMON_H

#include "daemon/config.h"
#include "daemon/jobs.h"
#include "daemon/log.h"
#include "daemon/loop.h"
#include "daemon/recorder.h"
#include "daemon/server.h"
#include "daemon/store.h"
#include "daemon/triggers.h"
#include "daemon/watch.h"

#define MAX_TAKINGS 8u
#define MAX_WATCHERS 64u

struct daemon;
struct taking;

/* A scheduled what-if: its time, and the last point of its series. */
struct series {
	struct daemon *daemon;
	const struct config_schedule *config;
	struct loop_timer timer;
	struct json_object *whatif;
	bool busy;
	uint64_t runs, failures, points;
};

struct watcher { struct asker asker; unsigned int top; };

struct daemon {
	const char *config_path; bool config_given;
	struct config *config;
	struct log log;
	struct loop loop;
	struct server server;
	struct store store;
	struct jobs jobs;
	struct watch watch;
	struct triggers triggers;
	struct recorder recorder;
	struct loop_fd signals;
	struct loop_timer interval, metrics, watchdog;
	struct taking *takings;
	unsigned int nr_takings;
	unsigned int nr_series;		struct series series[CONFIG_MAX_SCHEDULES];
	unsigned int nr_watchers;	struct watcher watchers[MAX_WATCHERS];
	uint64_t started_ns, scratch, watchdog_ns;
	double cpu_s, cpu_share;	/* cpu time so far; per cent of one cpu over the last interval */
	struct { uint64_t fired, merged, skipped, reloads, metrics_failed; } count;
};

/* snapshots.c */
void snapshots_fire(void *daemon, const struct firing *firing);	/* a firing_fn */
/* snapshots_ask() - @asker (taken over; its id NULL and client 0: nobody) gets the number. */
void snapshots_ask(struct daemon *d, struct asker *asker, uint64_t before_ns, uint64_t after_ns, const char *reason);
/* snapshots_last() - the last @last_ns into a file of the moment. @then: with its path, to be removed by whoever gets it;
 * or path NULL and why. */
typedef void (*last_fn)(void *ctx, const char *path, const struct resched_snapshot *snapshot, const char *why);
void snapshots_last(struct daemon *d, uint64_t last_ns, last_fn then, void *ctx);
void snapshots_release(struct daemon *d);

/* requests.c */
void requests_handle(void *daemon, struct client *client, struct json_object *request);	/* a server_request_fn */
void requests_sample(struct daemon *d);		/* the interval is over: tell the watchers */
void requests_event(struct daemon *d, const char *event, struct json_object *fields);	/* to all watchers; takes over @fields */
void requests_release(struct daemon *d);

/* status.c */
struct json_object *status_json(struct daemon *d);
/* metrics.c: Prometheus text; the caller's to free. NULL: no memory. */
char *metrics_text(struct daemon *d, size_t *ret_len);
void metrics_write(struct daemon *d);

/* series.c */
void series_set(struct daemon *d);		/* those of the configuration */
void series_release(struct daemon *d);
/* series_read() - points of a series, the newest @most. NULL: there is none of that name. */
struct json_object *series_read(struct daemon *d, const char *name, unsigned int most);

/* daemon.c */
/* daemon_prepare() - the parts, and who knows whom; nothing is opened. @d: config and log set. */
void daemon_prepare(struct daemon *d);
int daemon_run(struct daemon *d);		/* Return: exit status */

#endif
