/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The flight recorder: the running machine is recorded into memory, the oldest is dropped, nothing is written to disk. A snapshot
 * writes what is kept of a window as a recording like any other. Meanwhile the same events can be watched as they come.
 *
 * All times are ns on the recording's clock, CLOCK_MONOTONIC: resched_flight_now() is the present. Memory is bounded by the options;
 * a snapshot being written holds on to its pages until they are in the file, so that for its duration there may be twice as much.
 * Threads: one at a time polls, one at a time takes snapshots, any may ask for statistics or the time, all while the recorder
 * records; start and stop are for one thread alone.
 */
#ifndef RESCHED_FLIGHT_H
#define RESCHED_FLIGHT_H

#include <stdint.h>
#include <resched/capture.h>
#include <resched/error.h>
#include <resched/event.h>
#include <resched/host.h>
#include <resched/names.h>
#include <resched/truth.h>

#ifdef __cplusplus
extern "C" {
#endif

struct resched_flight;

struct resched_flight_options {
	/*
	 * What is recorded and how: extra, pids, cpus, detail, backend, buffer_kb and all other filters; compress is for snapshots.
	 * Output, seconds, command, stop and started mean nothing here. Texts are borrowed for the flight's life; the struct is copied.
	 */
	struct resched_record_options record;
	uint64_t ring_bytes;	/* memory for all cpus together; 0: RESCHED_FLIGHT_RING, or with keep_ns up to a sixteenth of the machine's */
	uint64_t keep_ns;	/* drop what is older even where there is room; 0: keep what fits */
};

#define RESCHED_FLIGHT_RING (64u << 20)

/*
 * resched_flight_start() - begin. Returns once events are being recorded.
 * @ret: on success the caller's, to resched_flight_stop()
 * Return: 0; as resched_record(); -EINVAL (USAGE) when the memory is too little for the cpus or more than half of the machine's.
 */
int resched_flight_start(struct resched_flight **ret, const struct resched_flight_options *opts, struct resched_error *err);

/* resched_flight_fd() - becomes readable when there may be new events for resched_flight_poll(), which also clears it. Borrowed. */
int resched_flight_fd(const struct resched_flight *flight);

/*
 * resched_flight_poll() - hand over the events since the last call, in time order over all cpus, with names told as by
 * resched_trace_next(). They come some 2 to 50 ms after they happened.
 * @timeout_ms: how long to wait for the first; 0: not at all
 * @on_event:   a negative return ends the call and is passed on; the events after it come with the next call.
 * It also looks, every two seconds or more, what changed of the host, which snapshots tell, and with cgroups, twice a second, for tasks that
 * came into them: to be called even by who wants no events.
 * What was dropped before it could be handed over is told by a RESCHED_EV_LOST with count 0.
 * Return: number of events handed over; -errno of the recorder's failure (recording has then ended; snapshots still work); -ENOMEM.
 */
int resched_flight_poll(struct resched_flight *flight, int timeout_ms, resched_event_fn on_event, void *ctx, struct resched_error *err);

/* resched_flight_truth() - the row behind the RESCHED_EV_TRUTH that is being handed over, during that call only; else NULL. */
const struct resched_truth *resched_flight_truth(const struct resched_flight *flight);

/* Names of the events handed over. Owned by @flight; for the polling thread. */
struct resched_names *resched_flight_names(struct resched_flight *flight);

/*
 * resched_flight_renew_names() - forget all names handed over: their numbers mean nothing any more, and each task's name is told again
 * before its next event. For who watches for days, while names come that were never seen: now and then, when there are many. Not from
 * inside of resched_flight_poll().
 */
void resched_flight_renew_names(struct resched_flight *flight);

const struct resched_host *resched_flight_host(const struct resched_flight *flight);	/* as it was at the start */

uint64_t resched_flight_now(void);

struct resched_snapshot {
	uint64_t events, lost_events, bytes;	/* bytes: of the file */
	uint64_t from_ns, to_ns;		/* the window in the file: all cpus are complete in it */
	int cut_short;				/* 1: the window asked for began before what was still kept */
};

/*
 * resched_flight_snapshot() - write the events from @from_ns to @to_ns, both included, as a trace.dat version 7 with a host snapshot, as the
 * host is now, and the changes that were seen in that time.
 * @path:    written beside and renamed, mode 0600; on failure nothing is left and what was there before stays
 * @from_ns: 0: from the oldest kept
 * @to_ns:   0: up to now; for a time to come it waits
 * The recorder goes on meanwhile. Cost: the host snapshot (some ms), and the writing.
 * Return: 0; -ENOSPC, -EACCES, -ENOENT, -EROFS ... (@err names the file); -ENODATA: nothing is kept of that window; -ENOMEM.
 */
int resched_flight_snapshot(struct resched_flight *flight, const char *path, uint64_t from_ns, uint64_t to_ns, struct resched_snapshot *ret,
			    struct resched_error *err);

struct resched_flight_stats {
	uint64_t events;		/* recorded since the start */
	uint64_t lost_events;		/* by the kernel's buffers; a gap of unknown size counts 1 */
	uint64_t dropped_bytes;		/* that made room for newer ones since the start */
	uint64_t ring_bytes;		/* most there may be */
	uint64_t kept_bytes;		/* of pages that are kept, begun ones included */
	uint64_t started_ns;
	uint64_t oldest_ns, newest_ns;	/* all cpus are complete in between; equal when nothing is kept */
	uint64_t snapshots, snapshots_failed;
	double cpu_seconds;		/* of the recorder's threads, polls and snapshots */
	unsigned int nr_cpus;
	const char *backend;		/* static */
	const char *backend_reason;	/* why auto chose it; "" when it had no choice */
	unsigned int nr_warnings;	const char (*warnings)[160];	/* of the start */
};

/* resched_flight_stats() - how it is now. What @ret points to is the flight's. */
void resched_flight_stats(struct resched_flight *flight, struct resched_flight_stats *ret);

/* resched_flight_stop() - end recording, drop what is kept, leave nothing in the kernel. Accepts NULL. */
void resched_flight_stop(struct resched_flight *flight);

#ifdef __cplusplus
}
#endif
#endif
