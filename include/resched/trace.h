/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording as one stream of events in time order over all cpus, plus what is known about its source.
 *
 * Memory grows with cpus, tasks and names, not with the length of the recording. One thread at a time may
 * use a trace; several traces may be used by several threads. The library starts threads only when resched_trace_threads() asks for them.
 */
#ifndef RESCHED_TRACE_H
#define RESCHED_TRACE_H

#include <stdint.h>
#include <resched/error.h>
#include <resched/event.h>
#include <resched/host.h>
#include <resched/names.h>
#include <resched/truth.h>

#ifdef __cplusplus
extern "C" {
#endif

struct resched_trace;

struct resched_event_count { char *name; uint64_t count; };	/* kernel event name, e.g. "sched_switch" */

/* What was read. Borrowed from the trace; complete once resched_trace_next() has returned 0 or failed. */
struct resched_source {
	const char *file;		/* as given */
	const char *format;		/* "trace.dat v7" */
	const char *kernel;		/* release, NULL when unknown */
	const char *clock;		/* "mono", NULL when unknown */
	unsigned int nr_cpus;		/* cpus with a buffer in the recording */
	unsigned int nr_observed;	/* of them, cpus with at least one event */
	uint64_t first_ns, last_ns;	/* stamps of the first and last event; equal when there is none or one */
	uint64_t read_from_ns;		/* 0: all was read; else only from here to last_ns, see resched_trace_window() */
	unsigned int nr_events;		const struct resched_event_count *events;	/* ascending name, zero counts left out */
	uint64_t total_events;
	uint64_t lost_events;		/* as counted by the ring buffer; a gap of unknown size counts 1 */
	uint64_t lost_gaps;
	int damaged;			/* 1: some part could not be read; @warnings say which */
	unsigned int nr_warnings;	const char *const *warnings;	/* one line each */
};

/*
 * resched_trace_open() - open a recording, recognised by its content.
 * @path: borrowed; "-" reads standard input
 * @ret:  on success the caller's, to resched_trace_free()
 * Return: 0; -errno of the open; -EBADMSG when it is no recording we can read; -EPROTONOSUPPORT for a version or compression
 * from the future; -EISDIR; -ENODATA when empty; -ENOMEM. A damaged recording opens as long as its event formats can be read.
 */
int resched_trace_open(const char *path, struct resched_trace **ret, struct resched_error *err);

/* resched_trace_begin_ns() - the stamp of the first event, before any is read; 0 = not known until then. */
uint64_t resched_trace_begin_ns(const struct resched_trace *trace);

/*
 * resched_trace_window() - only what happens from @from_ns to @to_ns (0: the end), absolute, is wanted. Before the first
 * resched_trace_next() and before resched_trace_threads().
 * A large recording whose format allows it (so far trace.dat and ring buffer pages) is then read from a second before the window, so that
 * it is known who runs and waits when it begins, to the first event behind it. Counts, losses and warnings of the source are then of that
 * part, which a warning says; source.first_ns stays that of the recording.
 * Return: 1: so it is read; 0: it is read whole; -ENOMEM.
 */
int resched_trace_window(struct resched_trace *trace, uint64_t from_ns, uint64_t to_ns);

/*
 * resched_trace_threads() - read ahead with other threads, until resched_trace_free(): they unpack and decode. What is read, and in which
 * order, stays the same.
 * @nr_threads: beside the caller's; below 0: one for each further cpu that the process may use, none for a short recording
 * Call it before the first resched_trace_next(). Return: how many are at work; 0 when the format has no use for them (so far trace.dat and
 * ring buffer pages have) or none can be had.
 */
int resched_trace_threads(struct resched_trace *trace, int nr_threads);

/*
 * resched_trace_next() - the next event.
 * @ret: set to the event, valid until the next call on @trace
 * Return: 1; 0 at the end; -errno. Damage met on the way is not an error: the reader goes on with what is whole,
 * sets source.damaged and adds a warning.
 */
int resched_trace_next(struct resched_trace *trace, const struct resched_event **ret, struct resched_error *err);

/* resched_trace_truth() - the row behind a RESCHED_EV_TRUTH that resched_trace_next() has just returned, valid until its next call;
 * NULL after any other event. */
const struct resched_truth *resched_trace_truth(const struct resched_trace *trace);

const struct resched_source *resched_trace_source(const struct resched_trace *trace);
const struct resched_host *resched_trace_host(const struct resched_trace *trace);	/* NULL: none inside */
struct resched_names *resched_trace_names(const struct resched_trace *trace);		/* owned by @trace */
void resched_trace_free(struct resched_trace *trace);

#ifdef __cplusplus
}
#endif
#endif
