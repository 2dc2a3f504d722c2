// SPDX-License-Identifier: GPL-2.0-only
#include "capture/dat_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zstd.h>

#include "base/error.h"

#define SECTION_COMPRESSED 1	/* flag of a section */
#define ZSTD_LEVEL 3

/* Names of the sections, for people who look into a file. A section's header holds the offset of
 * its name in this table. */
static const struct {
	enum rs_datw_section_id id;
	const char *name;
} section_names[] = {
	{ RS_DATW_OPTIONS, "options" },
	{ RS_DATW_BUFFER, "buffer" },
	{ RS_DATW_STRINGS, "strings" },
	{ RS_DATW_HEADER_INFO, "headers" },
	{ RS_DATW_FTRACE_EVENTS, "ftrace events" },
	{ RS_DATW_EVENT_FORMATS, "event formats" },
	{ RS_DATW_KALLSYMS, "kallsyms" },
	{ RS_DATW_PRINTK, "trace_printk" },
	{ RS_DATW_CMDLINES, "command lines" },
};

#define NR_SECTION_NAMES (sizeof(section_names) / sizeof(section_names[0]))

void rs_datw_put(struct rs_datw_buf *buf, const void *data, size_t len)
{
	if (buf->failed || !len)
		return;
	if (buf->size - buf->len < len) {
		size_t size = buf->size ? buf->size : 1024;
		char *grown;

		while (size - buf->len < len) {
			if (size > SIZE_MAX / 2) {
				buf->failed = true;
				return;
			}
			size *= 2;
		}
		grown = realloc(buf->data, size);
		if (!grown) {
			buf->failed = true;
			return;
		}
		buf->data = grown;
		buf->size = size;
	}
	memcpy(buf->data + buf->len, data, len);
	buf->len += len;
}

void rs_datw_put_u16(struct rs_datw_buf *buf, uint16_t value)
{
	rs_datw_put(buf, &value, sizeof(value));
}

void rs_datw_put_u32(struct rs_datw_buf *buf, uint32_t value)
{
	rs_datw_put(buf, &value, sizeof(value));
}

void rs_datw_put_u64(struct rs_datw_buf *buf, uint64_t value)
{
	rs_datw_put(buf, &value, sizeof(value));
}

void rs_datw_put_text(struct rs_datw_buf *buf, const char *text)
{
	rs_datw_put(buf, text, strlen(text) + 1);
}

void rs_datw_buf_release(struct rs_datw_buf *buf)
{
	free(buf->data);
	memset(buf, 0, sizeof(*buf));
}

void rs_datw_option(struct rs_datw_buf *options, uint16_t id, const void *data, size_t len)
{
	if (len > UINT32_MAX) {
		options->failed = true;
		return;
	}
	rs_datw_put_u16(options, id);
	rs_datw_put_u32(options, (uint32_t)len);
	rs_datw_put(options, data, len);
}

void rs_datw_option_u64(struct rs_datw_buf *options, uint16_t id, uint64_t value)
{
	rs_datw_option(options, id, &value, sizeof(value));
}

static int write_at(struct rs_dat_writer *w, const void *data, size_t len, uint64_t at,
		    struct resched_error *err)
{
	const char *from = data;

	while (len) {
		ssize_t n = pwrite(w->fd, from, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			int rc = n < 0 ? -errno : -EIO;

			if (rc == -ENOSPC || rc == -EDQUOT)
				return rs_error_set(err, RESCHED_FAILED, rc,
						    "cannot write '%s': no space left; free some "
						    "or write elsewhere with -o",
						    w->path);
			return rs_error_set(err, RESCHED_FAILED, rc, "cannot write '%s':", w->path);
		}
		from += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static int append(struct rs_dat_writer *w, const void *data, size_t len, struct resched_error *err)
{
	int rc = write_at(w, data, len, w->pos, err);

	if (rc == 0)
		w->pos += len;
	return rc;
}

static uint32_t section_name_offset(enum rs_datw_section_id id)
{
	uint32_t offset = 0;
	size_t i;

	for (i = 0; i < NR_SECTION_NAMES && section_names[i].id != id; i++)
		offset += (uint32_t)strlen(section_names[i].name) + 1;
	return offset;
}

static void put_section_header(struct rs_datw_buf *buf, enum rs_datw_section_id id, bool packed,
			       uint64_t bytes)
{
	rs_datw_put_u16(buf, (uint16_t)id);
	rs_datw_put_u16(buf, packed ? SECTION_COMPRESSED : 0);
	rs_datw_put_u32(buf, section_name_offset(id));
	rs_datw_put_u64(buf, bytes);
}

/* The body of a compressed section: packed size, size, data. */
static void put_packed(struct rs_datw_buf *buf, const struct rs_datw_buf *body)
{
	size_t bound = ZSTD_compressBound(body->len), n;
	char *packed = malloc(bound);

	n = packed ? ZSTD_compress(packed, bound, body->data, body->len, ZSTD_LEVEL) : 0;
	if (!packed || ZSTD_isError(n)) {
		buf->failed = true;
	} else {
		rs_datw_put_u32(buf, (uint32_t)n);
		rs_datw_put_u32(buf, (uint32_t)body->len);
		rs_datw_put(buf, packed, n);
	}
	free(packed);
}

int rs_datw_start(struct rs_dat_writer *w, int fd, const char *path, uint32_t page_bytes, bool compress,
		  struct resched_error *err)
{
	static const unsigned char magic[] = { 0x17, 0x08, 0x44, 't', 'r', 'a',
					       'c',  'i',  'n',  'g', '7', 0 };
	const uint16_t probe = 1;
	struct rs_datw_buf head = { 0 }, names = { 0 };
	unsigned char host[2];
	uint64_t ignored;
	size_t i;
	int rc;

	*w = (struct rs_dat_writer){ .fd = fd, .path = path, .page_bytes = page_bytes,
				     .compress = compress };
	host[0] = *(const unsigned char *)&probe ? 0 : 1;	/* 0 = little endian */
	host[1] = sizeof(long);
	rs_datw_put(&head, magic, sizeof(magic));
	rs_datw_put(&head, host, sizeof(host));
	rs_datw_put_u32(&head, page_bytes);
	rs_datw_put_text(&head, compress ? "zstd" : "none");
	rs_datw_put_text(&head, compress ? ZSTD_versionString() : "");
	w->link_at = head.len;
	rs_datw_put_u64(&head, 0);
	for (i = 0; i < NR_SECTION_NAMES; i++)
		rs_datw_put_text(&names, section_names[i].name);
	rc = head.failed ? rs_error_nomem(err) : append(w, head.data, head.len, err);
	if (rc == 0)
		rc = rs_datw_section(w, RS_DATW_STRINGS, &names, &ignored, err);
	rs_datw_buf_release(&head);
	rs_datw_buf_release(&names);
	return rc;
}

int rs_datw_section(struct rs_dat_writer *w, enum rs_datw_section_id id,
		    const struct rs_datw_buf *body, uint64_t *ret_offset, struct resched_error *err)
{
	bool pack = w->compress && id != RS_DATW_OPTIONS && body->len <= UINT32_MAX / 2;
	struct rs_datw_buf packed = { 0 }, head = { 0 };
	uint64_t start = w->pos;
	int rc;

	if (pack && !body->failed)
		put_packed(&packed, body);
	put_section_header(&head, id, pack, pack ? packed.len : body->len);
	if (head.failed || body->failed || packed.failed)
		rc = rs_error_nomem(err);
	else
		rc = append(w, head.data, head.len, err);
	if (rc == 0)
		rc = append(w, pack ? packed.data : body->data, pack ? packed.len : body->len, err);
	rs_datw_buf_release(&head);
	rs_datw_buf_release(&packed);
	if (rc == 0)
		*ret_offset = start;
	return rc;
}

int rs_datw_options(struct rs_dat_writer *w, struct rs_datw_buf *options, struct resched_error *err)
{
	uint64_t start, next_link;
	int rc;

	rs_datw_option_u64(options, RS_DATW_OPT_DONE, 0);
	rc = rs_datw_section(w, RS_DATW_OPTIONS, options, &start, err);
	if (rc < 0)
		return rc;
	next_link = w->pos - sizeof(uint64_t);	/* DONE's data: the last bytes just written */
	rc = write_at(w, &start, sizeof(start), w->link_at, err);
	if (rc == 0)
		w->link_at = next_link;
	return rc;
}

void rs_datw_align(struct rs_dat_writer *w)
{
	w->pos = (w->pos + w->page_bytes - 1) / w->page_bytes * w->page_bytes;
}

int rs_datw_buffer_begin(struct rs_dat_writer *w, struct resched_error *err)
{
	struct rs_datw_buf head = { 0 };
	uint64_t start = w->pos;
	int rc;

	put_section_header(&head, RS_DATW_BUFFER, w->compress, 0);
	rc = head.failed ? rs_error_nomem(err) : append(w, head.data, head.len, err);
	rs_datw_buf_release(&head);
	if (rc < 0)
		return rc;
	w->buffer_at = start;
	rs_datw_align(w);
	return 0;
}

int rs_datw_buffer_end(struct rs_dat_writer *w, uint64_t *ret_offset, struct resched_error *err)
{
	struct rs_datw_buf head = { 0 };
	int rc;

	put_section_header(&head, RS_DATW_BUFFER, w->compress, 0);
	if (head.failed) {
		rc = rs_error_nomem(err);
	} else {
		uint64_t bytes = w->pos - w->buffer_at - head.len;

		memcpy(head.data + head.len - sizeof(bytes), &bytes, sizeof(bytes));
		rc = write_at(w, head.data, head.len, w->buffer_at, err);
	}
	if (rc == 0) {
		*ret_offset = w->buffer_at;
		w->buffer_at = 0;
	}
	rs_datw_buf_release(&head);
	return rc;
}

void rs_datw_option_buffer(struct rs_datw_buf *options, const struct rs_dat_writer *w,
			   uint64_t section_offset, const char *clock, unsigned int nr_cpus,
			   const struct rs_datw_cpu *cpus)
{
	struct rs_datw_buf body = { 0 };
	unsigned int i;

	rs_datw_put_u64(&body, section_offset);
	rs_datw_put_text(&body,
			 ""); /* the top instance: the one that tools show without being asked */
	rs_datw_put_text(&body, clock);
	rs_datw_put_u32(&body, w->page_bytes);
	rs_datw_put_u32(&body, nr_cpus);
	for (i = 0; i < nr_cpus; i++) {
		rs_datw_put_u32(&body, cpus[i].cpu);
		rs_datw_put_u64(&body, cpus[i].offset);
		rs_datw_put_u64(&body, cpus[i].bytes);
	}
	if (body.failed)
		options->failed = true;
	else
		rs_datw_option(options, RS_DATW_OPT_BUFFER, body.data, body.len);
	rs_datw_buf_release(&body);
}
