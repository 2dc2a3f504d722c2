/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writing a trace.dat of version 7: a chain of sections behind a fixed header, some of them made of
 * options.
 *
 * Invariants: sections follow each other without a gap, because readers walk them to find the
 * strings; the header always points to a whole options section, and each options section to a whole
 * next one or to none. So the file can be read after every rs_datw_options(), with what was linked
 * until then. Native byte order and long size. Format: trace-cmd.dat.v7(5).
 */
#ifndef RS_CAPTURE_DAT_WRITER_H
#define RS_CAPTURE_DAT_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <resched/error.h>

enum rs_datw_section_id {
	RS_DATW_OPTIONS = 0,
	RS_DATW_BUFFER = 3,
	RS_DATW_STRINGS = 15,
	RS_DATW_HEADER_INFO = 16,
	RS_DATW_FTRACE_EVENTS = 17,
	RS_DATW_EVENT_FORMATS = 18,
	RS_DATW_KALLSYMS = 19,
	RS_DATW_PRINTK = 20,
	RS_DATW_CMDLINES = 21,
};

enum rs_datw_option_id {
	RS_DATW_OPT_DONE = 0,
	RS_DATW_OPT_CPUSTAT = 2,
	RS_DATW_OPT_BUFFER = 3,
	RS_DATW_OPT_TRACECLOCK = 4,
	RS_DATW_OPT_UNAME = 5,
	RS_DATW_OPT_CPUCOUNT = 8,
	RS_DATW_OPT_VERSION = 9,
	RS_DATW_OPT_TRACEID = 11,
	/* sections are announced by an option of the section's own number holding its offset */
	RS_DATW_OPT_SNAPSHOT = 0x5253,	/* ours: the host snapshot, JSON; other readers skip it */
	RS_DATW_OPT_CHANGES = 0x5254,	/* ours: what of the host changed while it was recorded, a line each */
	RS_DATW_OPT_CHANGE_ROWS = 0x5255,	/* ours: the same one by one with times, JSON as the snapshot's */
};

/* A growing byte buffer. Zeroed is empty. Once memory is short it stays @failed and the writer
 * functions return -ENOMEM for it. */
struct rs_datw_buf {
	char *data;
	size_t len, size;
	bool failed;
};

void rs_datw_put(struct rs_datw_buf *buf, const void *data, size_t len);
void rs_datw_put_u16(struct rs_datw_buf *buf, uint16_t value);
void rs_datw_put_u32(struct rs_datw_buf *buf, uint32_t value);
void rs_datw_put_u64(struct rs_datw_buf *buf, uint64_t value);
void rs_datw_put_text(struct rs_datw_buf *buf, const char *text);	/* with its NUL */
void rs_datw_buf_release(struct rs_datw_buf *buf);

/* Append one option to an options section under construction. */
void rs_datw_option(struct rs_datw_buf *options, uint16_t id, const void *data, size_t len);
void rs_datw_option_u64(struct rs_datw_buf *options, uint16_t id, uint64_t value);

/* Plain value; all fields private to the writer. @fd and @path are borrowed. */
struct rs_dat_writer {
	int fd;
	const char *path;	/* for messages */
	uint64_t pos;		/* end of the file written so far */
	uint64_t link_at;	/* where the offset of the next options section has to be written */
	uint64_t buffer_at;	/* header of the open buffer section; 0 = none */
	uint32_t page_bytes;
	bool compress; /* zstd: sections but options, whose links are patched; the pages are up to
			  the caller */
};

/*
 * rs_datw_start() - write the header and the strings to an empty file.
 * @page_bytes: of the ring buffer's pages, a power of two
 * Return, here and below: 0; -ENOMEM; -errno of the write (@err names the file, and how to mend a
 * full disk).
 */
int rs_datw_start(struct rs_dat_writer *w, int fd, const char *path, uint32_t page_bytes, bool compress,
		   struct resched_error *err);

/* rs_datw_section() - append a section; its offset goes to *@ret_offset. @body keeps its content.
 */
int rs_datw_section(struct rs_dat_writer *w, enum rs_datw_section_id id,
		    const struct rs_datw_buf *body, uint64_t *ret_offset,
		    struct resched_error *err);

/* rs_datw_options() - close @options with DONE, append it as a section and link it to what is there. */
int rs_datw_options(struct rs_dat_writer *w, struct rs_datw_buf *options, struct resched_error *err);

/* rs_datw_align() - move the end of the file up to the next page. */
void rs_datw_align(struct rs_dat_writer *w);

/*
 * rs_datw_buffer_begin() - open the section of raw pages. w->pos is then the page aligned place of
 * the first page: the caller writes whole pages there and advances w->pos itself. No other section
 * may be written until rs_datw_buffer_end(), which puts the section's offset into *@ret_offset.
 */
int rs_datw_buffer_begin(struct rs_dat_writer *w, struct resched_error *err);
int rs_datw_buffer_end(struct rs_dat_writer *w, uint64_t *ret_offset, struct resched_error *err);

/* Where one cpu's pages are in the file. */
struct rs_datw_cpu { uint32_t cpu; uint64_t offset, bytes; };

/* rs_datw_option_buffer() - the option that describes a buffer section. @clock: the clock's name,
 * "mono". */
void rs_datw_option_buffer(struct rs_datw_buf *options, const struct rs_dat_writer *w,
			   uint64_t section_offset, const char *clock, unsigned int nr_cpus,
			   const struct rs_datw_cpu *cpus);

#endif
