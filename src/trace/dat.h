/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The frame of a trace.dat, versions 6 and 7 (trace-cmd.dat.v6(5), trace-cmd.dat.v7(5)): where the formats, the options
 * and the per-cpu data are. Reads no event. Nothing of the file is believed: offsets, sizes and counts are compared with
 * the file and with named limits first, and what a cut file lacks is looked for by walking what is there.
 */
#ifndef RS_TRACE_DAT_H
#define RS_TRACE_DAT_H

#include <stdbool.h>
#include <stdint.h>
#include <resched/error.h>

#include "trace/compress.h"
#include "trace/format.h"
#include "trace/input.h"
#include "trace/notes.h"
#include "trace/page.h"
#include "trace/times.h"

#define RS_DAT_MAX_CPUS 8192u
#define RS_DAT_MAX_BUFFERS 256u
#define RS_DAT_MAX_EVENTS 65536u
#define RS_DAT_MAX_CHUNK (4u << 20)

#define RS_DAT_OPTION_CHANGES 0x5254	/* ours: lines of text, for the warnings */
#define RS_DAT_OPTION_CHANGE_ROWS 0x5255	/* ours: a snapshot of changes alone, JSON */
#define RS_DAT_OPTION_HOST 0x5253	/* our snapshot: JSON text; trace-cmd skips options it does not know */

/* Sections of version 7; the ids of the first are options too. */
enum rs_dat_id {
	RS_DAT_OPTIONS = 0, RS_DAT_BUFFER = 3, RS_DAT_CLOCK = 4, RS_DAT_UNAME = 5, RS_DAT_TS_OFFSET = 7, RS_DAT_CPUCOUNT = 8,
	RS_DAT_TIME_SHIFT = 12,
	RS_DAT_TSC2NSEC = 14, RS_DAT_STRINGS = 15, RS_DAT_HEADER = 16, RS_DAT_FTRACE = 17, RS_DAT_EVENTS = 18, RS_DAT_KALLSYMS = 19,
	RS_DAT_PRINTK = 20, RS_DAT_CMDLINES = 21, RS_DAT_BUFFER_TEXT = 22,
};

struct rs_dat_cpu {
	uint32_t cpu;
	const struct rs_input *in;	/* where its data is; NULL: where the frame is */
	uint64_t off, size;	/* inside the file */
	uint64_t missing;	/* bytes that the file promised and does not hold */
	uint64_t *pages;	/* where each page is, when they do not follow each other; @off is 0 then. Owned. */
};

struct rs_dat_buffer {
	char *name, *clock;	/* name "" = the main one; clock may be NULL */
	uint64_t section;	/* v7: where it is in the file */
	uint32_t page_bytes;
	bool compressed;
	unsigned int nr_cpus;
	struct rs_dat_cpu *cpus;
};

struct rs_dat_event {
	uint16_t id;
	char name[RS_EVENT_NAME_MAX];
	char *text;		/* whole format; kept only of events that are decoded */
};

struct rs_dat {
	const struct rs_input *in;
	struct rs_notes *notes;
	unsigned int version;
	bool big, swap;
	uint32_t page_bytes;
	enum rs_codec codec;
	char *header_page, *cmdlines, *uname, *clock, *host_json, *changes_json;
	uint32_t host_json_len, changes_json_len;
	struct rs_times times;
	unsigned int cpu_count;			/* CPUCOUNT or the v6 header */
	unsigned int nr_events, room_events;	struct rs_dat_event *events;
	unsigned int nr_buffers;		struct rs_dat_buffer *buffers;
	uint64_t first_section;			/* v7 */
	uint64_t growing_section;			/* v7: the buffer section of a recording that was not finished; 0: none */
};

/* rs_dat_is() - does the file begin as a trace.dat? */
bool rs_dat_is(const struct rs_input *in);

/* rs_dat_open() - read the frame. @dat: zeroed; rs_dat_release() it whatever is returned. Return: as resched_trace_open(). */
int rs_dat_open(struct rs_dat *dat, const struct rs_input *in, struct rs_notes *notes, struct resched_error *err);
void rs_dat_release(struct rs_dat *dat);

/* Shared by the two versions (dat.c, dat6.c, dat7.c). */
int rs_dat6_open(struct rs_dat *dat, struct rs_cursor *c, struct resched_error *err);
int rs_dat7_open(struct rs_dat *dat, struct rs_cursor *c, struct resched_error *err);
/* Return: 0; -EBADMSG (cursor bad, or not what it should be); -ENOMEM. */
int rs_dat_header_info(struct rs_dat *dat, struct rs_cursor *c);
int rs_dat_ftrace_formats(struct rs_dat *dat, struct rs_cursor *c);
int rs_dat_event_formats(struct rs_dat *dat, struct rs_cursor *c);
/* Add an event by its format, which is taken over. What cannot be understood is noted. Return: 0; -ENOMEM. */
int rs_dat_add_event(struct rs_dat *dat, char *text);
/* Options whose content is the same in both versions; others are ignored. */
int rs_dat_option(struct rs_dat *dat, unsigned int id, struct rs_cursor *c, uint32_t size);
/* A zeroed buffer at the end of dat->buffers; NULL: too many or no memory. */
struct rs_dat_buffer *rs_dat_add_buffer(struct rs_dat *dat);
/* Add a cpu's data; what lies outside the file is cut off and noted. Return: 0; -ENOMEM. */
int rs_dat_add_cpu(struct rs_dat *dat, struct rs_dat_buffer *buf, uint32_t cpu, uint64_t off, uint64_t size);

#endif
