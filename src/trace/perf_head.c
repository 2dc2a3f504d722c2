// SPDX-License-Identifier: GPL-2.0-only
#include "trace/perf_head.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "trace/minimal_host.h"
#include "trace/perf_stream.h"

#define PIPE_HEADER 16u
#define FILE_HEADER 104u
#define MAX_ATTR_BYTES 4096u
#define MAX_FEATURES 256u
#define MAX_STRING 65536u
#define MAX_NAME 256u

static const char magic_little[8] = "PERFILE2", magic_big[8] = "2ELIFREP";

bool rs_perf_is(const struct rs_input *in)
{
	char head[8];

	return rs_input_read(in, 0, head, sizeof(head)) == sizeof(head) &&
	       (!memcmp(head, magic_little, sizeof(head)) || !memcmp(head, magic_big, sizeof(head)));
}

void rs_perf_head_release(struct rs_perf_head *head)
{
	rs_perf_attrs_release(&head->attrs);
	rs_dat_release(&head->formats);
	free(head->release);
	free(head->machine);
	free(head->topology);
	memset(head, 0, sizeof(*head));
}

/* A length and that many bytes, NUL padded. Return: false when it does not fit (*@ret NULL) or without memory. */
static bool read_string(struct rs_cursor *c, char **ret)
{
	uint32_t len = rs_cursor_u32(c);

	*ret = NULL;
	if (c->bad || len > MAX_STRING)
		c->bad = true;
	else
		*ret = rs_cursor_text(c, len);
	return *ret != NULL;
}

static void keep_string(struct rs_cursor *c, char **to)
{
	char *text;

	if (!read_string(c, &text))
		return;
	free(*to);
	*to = *text ? text : NULL;
	if (!*to)
		free(text);
}

static void set_name(struct rs_perf_attr *a, char *name)
{
	free(a->name);
	a->name = name;
}

/* Names of the events. Each: an attribute, the number of ids, a name, the ids. */
static void read_event_desc(struct rs_perf_head *head, struct rs_cursor *c)
{
	uint32_t nr = rs_cursor_u32(c), attr_bytes = rs_cursor_u32(c);

	for (uint32_t i = 0; i < nr && i < RS_PERF_MAX_ATTRS && !c->bad; i++) {
		struct rs_perf_attr *a = i < head->attrs.nr ? &head->attrs.list[i] : NULL;
		uint32_t nr_ids;
		char *name;

		rs_cursor_skip(c, attr_bytes);
		nr_ids = rs_cursor_u32(c);
		if (!read_string(c, &name))
			return;
		if (nr_ids && rs_cursor_left(c) >= 8) {
			const struct rs_perf_id *id = rs_perf_attrs_find(&head->attrs, rs_cursor_u64(c));

			if (id && id->attr < head->attrs.nr)
				a = &head->attrs.list[id->attr];
			nr_ids--;
		}
		rs_cursor_skip(c, (uint64_t)nr_ids * 8);
		if (a && *name && strlen(name) < MAX_NAME)
			set_name(a, name);
		else
			free(name);
	}
}

/* Sibling lists of cores, then of threads, then core and package of every cpu. */
static int read_topology(struct rs_perf_head *head, struct rs_cursor *c)
{
	uint32_t nr;

	for (int list = 0; list < 2; list++) {
		nr = rs_cursor_u32(c);
		for (uint32_t i = 0; i < nr && !c->bad; i++) {
			uint32_t len = rs_cursor_u32(c);

			rs_cursor_skip(c, len);
		}
	}
	nr = head->cpus_avail;
	if (c->bad || !nr || rs_cursor_left(c) < (uint64_t)nr * 8)
		return 0;
	free(head->topology);
	head->nr_topology = 0;
	head->topology = calloc(nr, 2 * sizeof(*head->topology));
	if (!head->topology)
		return -ENOMEM;
	for (uint32_t i = 0; i < 2 * nr; i++)
		head->topology[i] = (int32_t)rs_cursor_u32(c);
	head->nr_topology = c->bad ? 0 : nr;
	return 0;
}

static int read_feature(struct rs_perf_head *head, unsigned int feature, struct rs_cursor *c)
{
	switch (feature) {
	case RS_PERF_F_OSRELEASE:
		keep_string(c, &head->release);
		break;
	case RS_PERF_F_ARCH:
		keep_string(c, &head->machine);
		break;
	case RS_PERF_F_NRCPUS:
		head->cpus_avail = rs_cursor_u32(c);
		head->cpus_online = rs_cursor_u32(c);
		if (c->bad || head->cpus_avail > RS_PERF_MAX_CPUS || head->cpus_online > head->cpus_avail)
			head->cpus_avail = head->cpus_online = 0;
		break;
	case RS_PERF_F_EVENT_DESC:
		read_event_desc(head, c);
		break;
	case RS_PERF_F_CPU_TOPOLOGY:
		return read_topology(head, c);
	case RS_PERF_F_DIR_FORMAT:
		rs_note_damage(head->notes, "this perf.data is part of a folder ('perf record --threads'): the samples are in other files of it, which are not read");
		break;
	default:
		break;
	}
	return 0;
}

/* The tracing data is laid out as the beginning of a trace.dat version 6. */
static int read_formats(struct rs_perf_head *head, struct rs_cursor *c)
{
	static const char magic[] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
	char begin[sizeof(magic)], version[16], order[2];
	int rc;

	rs_cursor_bytes(c, begin, sizeof(begin));
	rs_cursor_string(c, version, sizeof(version));
	rs_cursor_bytes(c, order, sizeof(order));
	if (c->bad || memcmp(begin, magic, sizeof(magic)))
		return -EBADMSG;
	head->formats.big = order[0] == 1;
	head->formats.swap = head->swap;
	c->swap = head->formats.big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	rs_cursor_skip(c, 4);	/* page size */
	rc = rs_dat_header_info(&head->formats, c);
	if (rc == 0)
		rc = rs_dat_ftrace_formats(&head->formats, c);
	if (rc == 0)
		rc = rs_dat_event_formats(&head->formats, c);
	return rc;
}

int rs_perf_head_formats(struct rs_perf_head *head, uint64_t off, uint64_t len)
{
	struct rs_cursor c;
	int rc;

	if (head->have_formats || head->bad_formats)
		return 0;
	head->formats.in = head->in;
	head->formats.notes = head->notes;
	rs_cursor_file(&c, head->in, off, len > UINT64_MAX - off ? UINT64_MAX : off + len, head->swap);
	rc = read_formats(head, &c);
	if (rc == -ENOMEM)
		return rc;
	head->have_formats = head->formats.nr_events > 0;
	head->bad_formats = rc < 0;
	if (rc < 0)
		rs_note_damage(head->notes, "the formats of the events (tracing data) are cut or damaged at byte %llu%s", (unsigned long long)c.pos,
			       head->have_formats ? "; those before it are used" : "");
	return 0;
}

/* The table of features is behind the data. */
static int read_features(struct rs_perf_head *head, const uint8_t *bits)
{
	struct rs_cursor table;

	rs_cursor_file(&table, head->in, head->data_end, head->in->size, head->swap);
	for (unsigned int i = 0; i < MAX_FEATURES; i++) {
		/* an array of unsigned long: in the file's byte order, perf assumes 64 bits */
		unsigned int byte = head->big ? i / 64 * 8 + 7 - i % 64 / 8 : i / 8;
		struct rs_cursor c;
		uint64_t off, size;
		int rc;

		if (!(bits[byte] >> (i % 8) & 1))
			continue;
		off = rs_cursor_u64(&table);
		size = rs_cursor_u64(&table);
		if (table.bad || size > head->in->size || off > head->in->size - size) {
			rs_note_damage(head->notes, "file ends early: what perf writes last (names, formats, the machine) is missing or cut");
			if (table.bad)
				return 0;
			if (i != RS_PERF_F_TRACING_DATA)
				continue;	/* formats are used as far as they go */
		}
		if (i == RS_PERF_F_TRACING_DATA) {
			rc = rs_perf_head_formats(head, off, size);
		} else {
			rs_cursor_file(&c, head->in, off, off + size, head->swap);
			rc = read_feature(head, i, &c);
		}
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int read_ids(struct rs_perf_head *head, struct rs_cursor *c, uint64_t nr, unsigned int attr)
{
	for (uint64_t i = 0; i < nr; i++) {
		uint64_t id = rs_cursor_u64(c);
		int rc;

		if (c->bad)
			return -EBADMSG;
		rc = rs_perf_attrs_add_id(&head->attrs, id, attr);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* An entry of the file: an attribute, then where its ids are. */
static int read_attrs(struct rs_perf_head *head, uint64_t off, uint64_t size, uint64_t entry)
{
	uint8_t attr[MAX_ATTR_BYTES];
	struct rs_cursor c, ids;

	if (entry < 64 + 16 || entry > MAX_ATTR_BYTES || size / entry > RS_PERF_MAX_ATTRS)
		return -EBADMSG;
	rs_cursor_file(&c, head->in, off, head->in->size, head->swap);
	for (uint64_t i = 0; i < size / entry; i++) {
		uint64_t ids_off, ids_size;
		int rc;

		rs_cursor_bytes(&c, attr, (size_t)entry - 16);
		ids_off = rs_cursor_u64(&c);
		ids_size = rs_cursor_u64(&c);
		if (c.bad)
			return -EBADMSG;
		rc = rs_perf_attrs_add(&head->attrs, attr, (size_t)entry - 16);
		if (rc < 0)
			return rc;
		rs_cursor_file(&ids, head->in, ids_off, head->in->size, head->swap);
		rc = read_ids(head, &ids, ids_size / 8, (unsigned int)rc);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int damaged(struct resched_error *err, const char *what)
{
	return rs_error_set(err, RESCHED_DAMAGED, -EBADMSG, "perf.data is cut or damaged in %s; record again", what);
}

static int open_file(struct rs_perf_head *head, struct rs_cursor *c, uint64_t size, struct resched_error *err)
{
	uint64_t attr_bytes = rs_cursor_u64(c), attrs_off = rs_cursor_u64(c), attrs_size = rs_cursor_u64(c), data_size;
	uint8_t features[MAX_FEATURES / 8] = { 0 };
	int rc;

	head->data_off = rs_cursor_u64(c);
	data_size = rs_cursor_u64(c);
	rs_cursor_skip(c, 16);	/* event types, of no use since 2011 */
	if (c->bad)
		return damaged(err, "its header");
	if (size >= FILE_HEADER)
		rs_cursor_bytes(c, features, sizeof(features));
	rc = read_attrs(head, attrs_off, attrs_size, attr_bytes);
	if (rc == -ENOMEM)
		return rs_error_nomem(err);
	if (rc < 0 || !head->attrs.nr)
		return damaged(err, "the list of its events");
	if (head->data_off < PIPE_HEADER || head->data_off > head->in->size)
		return damaged(err, "its header: the data would begin behind the end of the file");
	if (!data_size) {
		head->unfinished = true;
		head->data_end = head->in->size;
		if (head->data_off < head->in->size)
			rs_note_damage(head->notes, "perf did not finish this file (was it killed?): the number of its bytes and what perf writes last are missing");
		return 0;
	}
	head->data_end = head->in->size;
	head->short_file = data_size > head->in->size - head->data_off;
	if (head->short_file)
		rs_note_damage(head->notes, "file ends early: %llu bytes of samples and what perf writes behind them are missing",
			       (unsigned long long)(data_size - (head->in->size - head->data_off)));
	else
		head->data_end = head->data_off + data_size;
	if (!head->short_file && read_features(head, features) < 0)
		return rs_error_nomem(err);
	return 0;
}

int rs_perf_head_open(struct rs_perf_head *head, const struct rs_input *in, struct rs_notes *notes, struct resched_error *err)
{
	struct rs_cursor c;
	char magic[8];
	uint64_t size;

	head->in = in;
	head->notes = notes;
	rs_cursor_file(&c, in, 0, in->size, false);
	rs_cursor_bytes(&c, magic, sizeof(magic));
	head->big = !memcmp(magic, magic_big, sizeof(magic));
	head->swap = c.swap = head->big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	head->attrs.big = head->big;
	head->attrs.swap = head->swap;
	size = rs_cursor_u64(&c);
	if (c.bad || (size != PIPE_HEADER && (size < 72 || size > 4096)))
		return damaged(err, "its header");
	if (size != PIPE_HEADER)
		return open_file(head, &c, size, err);
	head->pipe = true;
	head->data_off = PIPE_HEADER;
	head->data_end = in->size;
	return 0;
}

/* The attribute says how long it is; ids fill the rest. */
int rs_perf_head_attr(struct rs_perf_head *head, const uint8_t *p, uint32_t size)
{
	struct rs_cursor c;
	uint32_t len;
	int rc = -EBADMSG;

	if (size >= 8 + 64) {
		len = rs_load_u32(p + 12, head->swap);
		if (!len)
			len = 64;
		if (len <= size - 8)
			rc = rs_perf_attrs_add(&head->attrs, p + 8, len);
		if (rc >= 0) {
			rs_cursor_memory(&c, p + 8 + len, size - 8 - len, head->swap);
			rc = read_ids(head, &c, (size - 8 - len) / 8, (unsigned int)rc);
		}
	}
	if (rc == -EBADMSG)
		rs_note_damage(head->notes, "the description of an event is damaged; its samples cannot be told");
	return rc == -ENOMEM ? rc : 0;
}

int rs_perf_head_feature(struct rs_perf_head *head, const uint8_t *p, uint32_t size)
{
	struct rs_cursor c;
	uint64_t feature;

	rs_cursor_memory(&c, p + 8, size - 8, head->swap);
	feature = rs_cursor_u64(&c);
	return c.bad || feature >= MAX_FEATURES ? 0 : read_feature(head, (unsigned int)feature, &c);
}

int rs_perf_head_update(struct rs_perf_head *head, const uint8_t *p, uint32_t size)
{
	enum { UPDATE_NAME = 2 };
	const struct rs_perf_id *id;
	size_t len;
	char *name;

	if (size <= 24 || rs_load_u64(p + 8, head->swap) != UPDATE_NAME)
		return 0;
	id = rs_perf_attrs_find(&head->attrs, rs_load_u64(p + 16, head->swap));
	len = strnlen((const char *)p + 24, size - 24);
	if (!id || id->attr >= head->attrs.nr || !len || len >= MAX_NAME)
		return 0;
	name = strndup((const char *)p + 24, len);
	if (!name)
		return -ENOMEM;
	set_name(&head->attrs.list[id->attr], name);
	return 0;
}

int rs_perf_head_host(const struct rs_perf_head *head, const char *clock, struct resched_host **ret)
{
	char uname[512];
	int rc;

	snprintf(uname, sizeof(uname), "Linux - %.200s %.200s", head->release ? head->release : "", head->machine ? head->machine : "");
	rc = rs_minimal_host(head->release ? uname : NULL, clock, head->cpus_avail, ret);
	for (uint32_t i = 0; rc == 0 && *ret && i < head->nr_topology && i < (*ret)->nr_cpus; i++) {
		int32_t core = head->topology[2 * i], package = head->topology[2 * i + 1];

		if (core < 0 || core > 0xffff || package < 0 || package > 0x7fff)
			continue;
		(*ret)->cpus[i].core = package << 16 | core;	/* cores are counted anew in each package */
		(*ret)->cpus[i].package = package;
	}
	return rc;
}
