/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The frame of a perf.data: file header, attributes, features and the formats of the events
 * (tools/perf/Documentation/perf.data-file-format.txt). In a pipe the same things come as records.
 */
#ifndef RS_TRACE_PERF_HEAD_H
#define RS_TRACE_PERF_HEAD_H

#include <resched/error.h>
#include <resched/host.h>

#include "trace/dat.h"
#include "trace/notes.h"
#include "trace/perf_attr.h"

/* Features that are read; tools/perf/util/header.h. */
enum rs_perf_feature {
	RS_PERF_F_TRACING_DATA = 1, RS_PERF_F_OSRELEASE = 4, RS_PERF_F_ARCH = 6, RS_PERF_F_NRCPUS = 7, RS_PERF_F_EVENT_DESC = 12,
	RS_PERF_F_CPU_TOPOLOGY = 13, RS_PERF_F_DIR_FORMAT = 24,
};

struct rs_perf_head {
	const struct rs_input *in;
	struct rs_notes *notes;
	bool big, swap, pipe;
	bool unfinished;		/* perf was killed: no length, no features */
	bool short_file;		/* the data should go on behind the end of the file */
	uint64_t data_off, data_end;
	struct rs_perf_attrs attrs;
	struct rs_dat formats;		/* of it only the event formats and their byte order */
	bool have_formats, bad_formats;
	char *release, *machine;
	uint32_t cpus_avail, cpus_online;	/* 0 = unknown */
	uint32_t nr_topology;		int32_t *topology;	/* core, package of each cpu */
};

/* rs_perf_is() - does the file begin as a perf.data? */
bool rs_perf_is(const struct rs_input *in);

/* rs_perf_head_open() - @head: zeroed; release it whatever is returned. Return: as resched_trace_open(). */
int rs_perf_head_open(struct rs_perf_head *head, const struct rs_input *in, struct rs_notes *notes, struct resched_error *err);
void rs_perf_head_release(struct rs_perf_head *head);

/* The same from records of a pipe: @p, @size the whole record. Return: 0; -ENOMEM; what is damaged is noted. */
int rs_perf_head_attr(struct rs_perf_head *head, const uint8_t *p, uint32_t size);
int rs_perf_head_feature(struct rs_perf_head *head, const uint8_t *p, uint32_t size);
int rs_perf_head_update(struct rs_perf_head *head, const uint8_t *p, uint32_t size);

/* rs_perf_head_formats() - the formats, @len bytes at @off of the file. Return: 0; -ENOMEM; damage is noted. */
int rs_perf_head_formats(struct rs_perf_head *head, uint64_t off, uint64_t len);

/* rs_perf_head_host() - what is known of the machine; *@ret stays NULL when nothing is. Return: 0; -ENOMEM. */
int rs_perf_head_host(const struct rs_perf_head *head, const char *clock, struct resched_host **ret);

#endif
