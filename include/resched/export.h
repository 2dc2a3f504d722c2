/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events for other programs: Perfetto's protobuf, CSV, JSON lines, ftrace text. A stream of events, recorded or replayed, goes in
 * one by one and comes out as it goes: memory grows with cpus, tasks and names, not with the length (but for HTML). (<resched/writer.h> makes a
 * trace.dat of the same stream.)
 */
#ifndef RESCHED_EXPORT_H
#define RESCHED_EXPORT_H

#include <stdio.h>
#include <resched/analysis.h>
#include <resched/error.h>
#include <resched/event.h>
#include <resched/host.h>
#include <resched/names.h>

#ifdef __cplusplus
extern "C" {
#endif

enum resched_export_format {
	RESCHED_EXPORT_PERFETTO = 0,	/* opens in ui.perfetto.dev; ftrace bundles, processes of the snapshot, counters of lag */
	RESCHED_EXPORT_CSV,		/* a header, then a line an event */
	RESCHED_EXPORT_JSON,		/* an object a line */
	RESCHED_EXPORT_TEXT,		/* as the kernel's file `trace` shows them, with times in ns */
	RESCHED_EXPORT_HTML,		/* one page for a browser, nothing from the network; kept in memory until the end, 20 bytes an event */
};

struct resched_export;

/*
 * resched_export_new() - begin.
 * @out:     borrowed; the caller opens and closes it
 * @host:    kernel release and processes; may be NULL; borrowed until the end
 * @names:   of the stream; borrowed until the end
 * @nr_cpus: of the recording, for the head of the text; 0 = unknown
 * @ret:     the caller's, to resched_export_free()
 * Return: 0; -EIO, -EPIPE, -ENOSPC when @out failed; -ENOMEM.
 */
int resched_export_new(FILE *out, enum resched_export_format format, const struct resched_host *host, const struct resched_names *names,
		       unsigned int nr_cpus, struct resched_export **ret, struct resched_error *err);

/* resched_export_event() - take the next event. @exporter is a void pointer so that this is a resched_event_fn. Return: 0; -ENOMEM;
 * -EIO, -EPIPE or -ENOSPC of the output. A failure stays: resched_export_finish() tells it in words. */
int resched_export_event(void *exporter, const struct resched_event *event);

/*
 * resched_export_watch() - take the lag samples, too, that a replay gives to @analysis: pass it to resched_replay_run() and give it
 * every event before resched_export_event() gets it. Text has no place for them. Return: 0; -ENOSPC.
 */
int resched_export_watch(struct resched_export *exporter, struct resched_analysis *analysis, struct resched_error *err);

/* resched_export_finish() - write what is left. Return: as resched_export_event(). */
int resched_export_finish(struct resched_export *exporter, struct resched_error *err);

void resched_export_free(struct resched_export *exporter);

#ifdef __cplusplus
}
#endif
#endif
