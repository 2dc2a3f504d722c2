/* SPDX-License-Identifier: GPL-2.0-only */
/* Inside of the flight recorder: flight.c begins and ends it, flight_live.c watches, flight_file.c takes snapshots. */
#ifndef RS_CAPTURE_FLIGHT_H
#define RS_CAPTURE_FLIGHT_H

#include <pthread.h>
#include <stdatomic.h>

#include <resched/flight.h>

#include "capture/backend.h"
#include "capture/page_ring.h"
#include "capture/setup.h"
#include "capture/watch.h"

struct rs_live;

struct resched_flight {
	struct resched_flight_options opts;
	struct resched_record_result result;	/* of the start: warnings and the backend's reason */
	struct rs_setup setup;
	struct rs_job job;
	struct rs_page_ring ring;
	struct resched_host *host;
	struct rs_watch watch;			/* what changes of it, with watch_lock */
	pthread_mutex_t watch_lock;
	struct rs_live *live;
	uint64_t looked_ns;			/* when tasks of the cgroups were last asked for */
	uint64_t started_ns, ended_ns;		/* ended_ns: 0 while it records */
	unsigned int nr_pids;	pid_t *pids;	/* threads of the recorder */
	pthread_mutex_t snapshot_lock;		/* one at a time */
	_Atomic uint64_t snapshots, snapshots_failed, own_cpu_ns;	/* cpu time of callers */
};

/* rs_flight_look() - what changed of the host, when it is time to look. */
void rs_flight_look(struct resched_flight *flight);

uint64_t rs_now_ns(void);
uint64_t rs_thread_cpu_ns(void);	/* of the calling thread */

/* rs_live_new() - a watcher of the flight's events from now on. Return: 0; -ENOTSUP (pages of a kernel that is not 64-bit); -ENOMEM. */
int rs_live_new(struct resched_flight *flight, struct rs_live **ret, struct resched_error *err);
void rs_live_free(struct rs_live *live);

#endif
