/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The content of a recording, part by part: what is known before tracing starts (formats, host,
 * kernel), the pages, and what is known only at the end (names, counters, where the pages are).
 */
#ifndef RS_CAPTURE_RECORDING_H
#define RS_CAPTURE_RECORDING_H

#include <stdbool.h>
#include <sys/types.h>

#include <resched/error.h>
#include <resched/host.h>

#include "capture/dat_writer.h"
#include "capture/growing.h"
#include "capture/texts.h"
#include "capture/spool.h"
#include "capture/tracefs.h"

#define RS_RECORDING_CLOCK "mono"

/* What of the host changed, or NULL: lines for those who read the warnings, and rows as rs_watch_json() makes them. */
struct rs_recording_changes { const char *lines, *rows; };

/*
 * rs_recording_front() - everything up to the pages, linked: a whole file without events.
 * @recorder_pids: threads of the recorder, so that a reader can leave them out
 */
int rs_recording_front(struct rs_dat_writer *w, const struct rs_texts *formats,
		       const struct resched_host *host, unsigned int nr_recorder_pids,
		       const pid_t *recorder_pids, struct resched_error *err);

/*
 * rs_recording_pages() - move the spools behind it.
 * @count: count the events into *@ret_events, which is 0 otherwise
 * @cpus:  one a spool cpu, filled here
 * Return: 0; -errno of the first failure: what could be moved is described by @cpus and the section
 * is closed all the same, so the tail may follow. *@ret_offset is where the section is.
 */
int rs_recording_pages(struct rs_dat_writer *w, struct rs_spool *spool, bool count,
		       struct rs_datw_cpu *cpus, uint64_t *ret_events, uint64_t *ret_offset,
		       struct resched_error *err);

/* rs_recording_cmdlines() - the body of the section of names: a 64 bit length, and a line "PID NAME" for every task that lives or that
 * the kernel remembers. @known: more such lines; NULL: none. Return: 0; -ENOMEM. */
int rs_recording_cmdlines(struct rs_datw_buf *body, const struct resched_host *host, const char *known);

/*
 * rs_recording_growing() - the section of pages begins behind what is there, and @growing in it. Only rs_recording_settle() or
 * rs_recording_packed() may follow.
 */
int rs_recording_growing(struct rs_dat_writer *w, struct rs_growing *growing, struct resched_error *err);

/*
 * rs_recording_settle() - put the pages of @growing into order and end the section.
 * @cpus: their numbers in, where their data is out; @events: count them into it; NULL: no
 */
int rs_recording_settle(struct rs_dat_writer *w, struct rs_growing *growing, unsigned int nr_cpus, struct rs_datw_cpu *cpus, uint64_t *events,
			uint64_t *ret_offset, struct resched_error *err);

/*
 * rs_recording_packed() - the same recording, compressed, into the empty file @fd. On success @w goes on there, and the file
 * it had is as it was; on failure @w is as before.
 */
int rs_recording_packed(struct rs_dat_writer *w, struct rs_growing *growing, int fd, unsigned int nr_cpus, struct rs_datw_cpu *cpus,
			uint64_t *ret_offset, struct resched_error *err);

/* rs_recording_tail() - names of tasks, counters @stats (one a cpu), and the place of the pages.
 * Makes the file whole. @names: of tasks met, "PID COMM" a line, or NULL; later knowledge goes before. @changes: of the
 * host, may be NULL. */
int rs_recording_tail(struct rs_dat_writer *w, const struct resched_host *host,
		      const char *names, uint64_t pages_offset, unsigned int nr_cpus, const struct rs_datw_cpu *cpus,
		      const struct rs_instance_stats *stats, const struct rs_recording_changes *changes, struct resched_error *err);

/* rs_recording_close() - the same with @names as rs_recording_cmdlines() makes them, and without counters when @stats is NULL. */
int rs_recording_close(struct rs_dat_writer *w, const struct rs_datw_buf *names, uint64_t pages_offset, unsigned int nr_cpus,
		       const struct rs_datw_cpu *cpus, const struct rs_instance_stats *stats, const struct rs_recording_changes *changes, struct resched_error *err);

#endif
