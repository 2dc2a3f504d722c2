// SPDX-License-Identifier: GPL-2.0-only
/* trace.dat version 6: one header in fixed order, then the per-cpu data. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "trace/dat.h"

#define TAG_BYTES 10
#define MAX_OPTIONS 4096u

static int cut(struct resched_error *err, const struct rs_cursor *c, const char *where)
{
	if (c->no_memory)
		return rs_error_nomem(err);
	return rs_error_set(err, RESCHED_DAMAGED, -EBADMSG, "trace.dat is cut or damaged in %s (byte %llu); record again",
			    where, (unsigned long long)c->pos);
}

/* An instance: an offset and a name; at the offset a tag and the ranges of as many cpus as the header has. */
static int read_instance(struct rs_dat *dat, struct rs_cursor *opt)
{
	struct rs_dat_buffer *buf;
	uint64_t off = rs_cursor_u64(opt);
	struct rs_cursor *c;
	char name[256], tag[TAG_BYTES];
	int rc = 0;

	rs_cursor_string(opt, name, sizeof(name));
	if (opt->bad || dat->nr_buffers == RS_DAT_MAX_BUFFERS)
		return -EBADMSG;
	buf = rs_dat_add_buffer(dat);
	c = malloc(sizeof(*c));
	if (!buf || !c) {
		free(c);
		return -ENOMEM;
	}
	buf->name = strdup(name);
	buf->page_bytes = dat->page_bytes;
	rs_cursor_file(c, dat->in, off, dat->in->size, dat->swap);
	rs_cursor_bytes(c, tag, sizeof(tag));
	if (c->bad || memcmp(tag, "flyrecord", TAG_BYTES))
		rs_note_damage(dat->notes, "buffer '%s' cannot be read", name);
	for (uint32_t cpu = 0; cpu < dat->cpu_count && !c->bad && rc == 0; cpu++) {
		uint64_t at = rs_cursor_u64(c), size = rs_cursor_u64(c);

		if (!c->bad)
			rc = rs_dat_add_cpu(dat, buf, cpu, at, size);
	}
	free(c);
	return buf->name ? rc : -ENOMEM;
}

static int read_options(struct rs_dat *dat, struct rs_cursor *c)
{
	for (unsigned int i = 0; i < MAX_OPTIONS; i++) {
		unsigned int id = rs_cursor_u16(c);
		uint64_t next;
		uint32_t size;
		int rc = 0;

		if (c->bad)
			return -EBADMSG;
		if (!id)
			return 0;
		size = rs_cursor_u32(c);
		next = c->pos + size;
		if (size > rs_cursor_left(c))
			return -EBADMSG;
		if (id == RS_DAT_BUFFER)
			rc = read_instance(dat, c);
		else if (id != RS_DAT_CPUCOUNT)	/* the header has the number that counts here */
			rc = rs_dat_option(dat, id, c, size);
		if (rc < 0)
			return rc;
		c->pos = next;
	}
	return -EBADMSG;
}

static int read_data(struct rs_dat *dat, struct rs_cursor *c, struct resched_error *err)
{
	struct rs_dat_buffer *buf = rs_dat_add_buffer(dat);
	char tag[TAG_BYTES];
	int rc;

	if (buf)
		buf->name = strdup("");
	if (!buf || !buf->name)
		return rs_error_nomem(err);
	buf->page_bytes = dat->page_bytes;
	rs_cursor_bytes(c, tag, sizeof(tag));
	if (!c->bad && !memcmp(tag, "options  ", TAG_BYTES)) {
		rc = read_options(dat, c);
		if (rc == -ENOMEM)
			return rs_error_nomem(err);
		if (rc < 0)
			return cut(err, c, "its options");
		rs_cursor_bytes(c, tag, sizeof(tag));
	}
	if (!c->bad && !memcmp(tag, "latency  ", TAG_BYTES))
		return rs_error_set(err, RESCHED_FAILED, -EBADMSG, "this trace.dat holds the text of a latency tracer, no event data; "
				    "record events (trace-cmd record -e sched)");
	if (c->bad || memcmp(tag, "flyrecord", TAG_BYTES))
		return cut(err, c, "the table of its CPUs");
	for (uint32_t cpu = 0; cpu < dat->cpu_count; cpu++) {
		uint64_t off = rs_cursor_u64(c), size = rs_cursor_u64(c);

		if (c->bad) {
			if (!cpu)
				return cut(err, c, "the table of its CPUs");
			rs_note_damage(dat->notes, "the table of CPUs is cut after CPU%u", cpu - 1);
			break;
		}
		/* instances may have been added: take the address again */
		if (rs_dat_add_cpu(dat, &dat->buffers[0], cpu, off, size) < 0)
			return rs_error_nomem(err);
	}
	return 0;
}

int rs_dat6_open(struct rs_dat *dat, struct rs_cursor *c, struct resched_error *err)
{
	int rc = rs_dat_header_info(dat, c);
	uint32_t cpus;

	if (rc < 0)
		return cut(err, c, "its page header");
	rc = rs_dat_ftrace_formats(dat, c);
	if (rc == 0)
		rc = rs_dat_event_formats(dat, c);
	if (rc == -ENOMEM)
		return rs_error_nomem(err);
	if (rc < 0)
		return cut(err, c, "its event formats");
	rs_cursor_skip(c, rs_cursor_u32(c));	/* kernel symbols */
	rs_cursor_skip(c, rs_cursor_u32(c));	/* printk formats */
	dat->cmdlines = rs_cursor_text(c, rs_cursor_u64(c));
	cpus = rs_cursor_u32(c);
	if (c->bad)
		return cut(err, c, "its kernel symbols or task names");
	if (!cpus || cpus > RS_DAT_MAX_CPUS)
		return rs_error_set(err, RESCHED_DAMAGED, -EBADMSG, "trace.dat claims %u CPUs (1 to %u are possible): damaged", cpus, RS_DAT_MAX_CPUS);
	dat->cpu_count = cpus;
	return read_data(dat, c, err);
}
