/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writing a stream of events, recorded or replayed, as a recording: a trace.dat version 7 that trace-cmd, KernelShark and
 * resched_trace_open() read.
 *
 * Invariants: what is written reads back as the same events with the same names. Events go to nameless spool files beside the
 * output as they come, so memory grows with cpus, tasks and names only; the file gets its name when it is whole, and what was
 * there before stays until then. A writer belongs to one thread at a time.
 *
 * The formats inside are our own and the same on every machine: same events, same options, same bytes.
 */
#ifndef RESCHED_WRITER_H
#define RESCHED_WRITER_H

#include <stddef.h>
#include <stdint.h>
#include <resched/error.h>
#include <resched/event.h>
#include <resched/host.h>
#include <resched/names.h>
#include <resched/replay.h>
#include <resched/truth.h>

#ifdef __cplusplus
extern "C" {
#endif

struct resched_writer;

struct resched_writer_options {
	size_t size;				/* sizeof(struct resched_writer_options) */
	const char *clock;			/* the stamps' clock; NULL = the host's, else "mono" */
	unsigned int nr_cpus;			/* cpus with a buffer, events or not; 0 = those that have events */
	int compress;				/* 1: zstd */
};

struct resched_writer_result {
	uint64_t events, bytes;			/* events: in the file; bytes: of it */
	uint64_t left_out;			/* rows of kernel truth that came without their content */
};

/*
 * resched_writer_new() - check that @path can be written and begin.
 * @host:  goes into the file; borrowed until the end; NULL = none
 * @names: of the stream; borrowed until the end
 * @opts:  NULL = all defaults
 * @ret:   the caller's, to resched_writer_free()
 * Return: 0; -EISDIR, -EACCES, -ENOENT, -EROFS, -ENOSPC, ...; -ENOMEM.
 */
int resched_writer_new(const char *path, const struct resched_host *host, const struct resched_names *names,
		       const struct resched_writer_options *opts, struct resched_writer **ret, struct resched_error *err);

/*
 * resched_writer_event() - take the next event of the stream. @writer is a void pointer so that this is a resched_event_fn.
 * Return: 0; -ENOMEM; -EINVAL for a cpu number that cannot be; -errno of the disk. A failure stays: resched_writer_finish() tells it in words.
 */
int resched_writer_event(void *writer, const struct resched_event *event);

/* resched_writer_truth() - take a RESCHED_EV_TRUTH with its row; resched_writer_event() can only leave such events out. */
int resched_writer_truth(struct resched_writer *writer, const struct resched_event *event, const struct resched_truth *truth);

/*
 * resched_writer_finish() - make the file whole and give it its name. @writer can only be freed afterwards.
 * @schedule: what made the events, noted in the file; NULL = nothing is noted, as for what a kernel did
 * @ret: may be NULL
 * Return: 0; the first failure of an event; -errno. On failure no file is left.
 */
int resched_writer_finish(struct resched_writer *writer, const struct resched_schedule *schedule, struct resched_writer_result *ret,
			  struct resched_error *err);

void resched_writer_free(struct resched_writer *writer);	/* without a finish before: nothing is left behind */

#ifdef __cplusplus
}
#endif
#endif
