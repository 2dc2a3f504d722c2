// SPDX-License-Identifier: GPL-2.0-only
/* What versions 6 and 7 of trace.dat share: the initial format, event formats, simple options, per-cpu ranges. */
#include "trace/dat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static const uint8_t magic[10] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };

bool rs_dat_is(const struct rs_input *in)
{
	uint8_t head[sizeof(magic)];
	size_t n = rs_input_read(in, 0, head, sizeof(head));

	/* a file cut inside the magic is still taken for what it was */
	return n >= 3 && !memcmp(head, magic, n);
}

int rs_dat_header_info(struct rs_dat *dat, struct rs_cursor *c)
{
	char tag[13];

	rs_cursor_bytes(c, tag, 12);
	if (c->bad || memcmp(tag, "header_page", 12))
		return -EBADMSG;
	free(dat->header_page);
	dat->header_page = rs_cursor_text(c, rs_cursor_u64(c));
	rs_cursor_bytes(c, tag, 13);
	if (c->bad || memcmp(tag, "header_event", 13))
		return rs_cursor_error(c);
	rs_cursor_skip(c, rs_cursor_u64(c));
	return c->bad ? rs_cursor_error(c) : 0;
}

static bool is_wanted(const char *name)
{
	return !strncmp(name, "sched_", 6) || !strcmp(name, "task_rename") || !strncmp(name, "irq_handler_e", 13) || !strncmp(name, "softirq_e", 9);
}

int rs_dat_add_event(struct rs_dat *dat, char *text)
{
	struct rs_dat_event *ev;

	if (dat->nr_events == dat->room_events) {
		unsigned int room = dat->room_events ? dat->room_events * 2 : 64;

		ev = realloc(dat->events, room * sizeof(*ev));
		if (!ev) {
			free(text);
			return -ENOMEM;
		}
		dat->events = ev;
		dat->room_events = room;
	}
	ev = &dat->events[dat->nr_events];
	if (rs_format_head(text, ev->name, &ev->id) < 0) {
		rs_note_damage(dat->notes, "an event format cannot be understood and is left out");
		free(text);
		return 0;
	}
	ev->text = NULL;
	if (is_wanted(ev->name))
		ev->text = text;
	else
		free(text);
	dat->nr_events++;
	return 0;
}

static int read_formats(struct rs_dat *dat, struct rs_cursor *c, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		char *text = rs_cursor_text(c, rs_cursor_u64(c));

		if (!text || dat->nr_events >= RS_DAT_MAX_EVENTS) {
			free(text);
			return rs_cursor_error(c);
		}
		if (rs_dat_add_event(dat, text) < 0)
			return -ENOMEM;
	}
	return c->bad ? rs_cursor_error(c) : 0;
}

int rs_dat_ftrace_formats(struct rs_dat *dat, struct rs_cursor *c)
{
	return read_formats(dat, c, rs_cursor_u32(c));
}

int rs_dat_event_formats(struct rs_dat *dat, struct rs_cursor *c)
{
	uint32_t systems = rs_cursor_u32(c);
	char system[256];

	for (uint32_t i = 0; i < systems && !c->bad; i++) {
		int rc;

		rs_cursor_string(c, system, sizeof(system));
		rc = read_formats(dat, c, rs_cursor_u32(c));
		if (rc < 0)
			return rc;
	}
	return c->bad ? rs_cursor_error(c) : 0;
}

/* "local [global] mono" names the clock in brackets; anything else is the clock itself. */
static char *pick_clock(const char *text)
{
	const char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;

	if (open && close)
		return strndup(open + 1, (size_t)(close - open - 1));
	text += strspn(text, " \n");
	if (!*text || strpbrk(text, " ["))
		return NULL;	/* a list that marks none */
	return strndup(text, strcspn(text, "\n"));
}

static int keep_text(char **to, struct rs_cursor *c, uint32_t size)
{
	char *text = rs_cursor_text(c, size);

	if (!text)
		return rs_cursor_error(c);
	free(*to);
	*to = text;
	return 0;
}

/* Each line a warning. */
static int note_lines(struct rs_dat *dat, struct rs_cursor *c, uint32_t size)
{
	char *text = NULL, *line, *rest;

	if (keep_text(&text, c, size) < 0)
		return rs_cursor_error(c);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		rs_note(dat->notes, "%s", line);
	free(text);
	return 0;
}

int rs_dat_option(struct rs_dat *dat, unsigned int id, struct rs_cursor *c, uint32_t size)
{
	char *text = NULL;
	int rc;

	switch (id) {
	case RS_DAT_CLOCK:
		if (keep_text(&text, c, size) < 0)
			return rs_cursor_error(c);
		free(dat->clock);
		errno = 0;
		dat->clock = pick_clock(text);
		rc = !dat->clock && errno == ENOMEM ? -ENOMEM : 0;
		free(text);
		return rc;
	case RS_DAT_UNAME:
		return keep_text(&dat->uname, c, size);
	case RS_DAT_CPUCOUNT:
		if (size >= 4) {
			uint32_t n = rs_cursor_u32(c);

			dat->cpu_count = n <= RS_DAT_MAX_CPUS ? n : 0;
		}
		return 0;
	case RS_DAT_TSC2NSEC:
		return rs_times_tsc(&dat->times, c, size, dat->notes);
	case RS_DAT_TIME_SHIFT:
		return rs_times_guest(&dat->times, c, size, dat->notes);
	case RS_DAT_TS_OFFSET:
		if (keep_text(&text, c, size) < 0)
			return rs_cursor_error(c);
		rs_times_offset(&dat->times, text, dat->notes);
		free(text);
		return 0;
	case RS_DAT_OPTION_CHANGES:
		return note_lines(dat, c, size);
	case RS_DAT_OPTION_CHANGE_ROWS:
		if (keep_text(&dat->changes_json, c, size) < 0)
			return rs_cursor_error(c);
		dat->changes_json_len = size;
		return 0;
	case RS_DAT_OPTION_HOST:
		if (keep_text(&dat->host_json, c, size) < 0)
			return rs_cursor_error(c);
		dat->host_json_len = size;
		return 0;
	default:
		return 0;
	}
}

struct rs_dat_buffer *rs_dat_add_buffer(struct rs_dat *dat)
{
	struct rs_dat_buffer *bufs;

	if (dat->nr_buffers >= RS_DAT_MAX_BUFFERS)
		return NULL;
	bufs = realloc(dat->buffers, (dat->nr_buffers + 1) * sizeof(*bufs));
	if (!bufs)
		return NULL;
	dat->buffers = bufs;
	memset(&bufs[dat->nr_buffers], 0, sizeof(*bufs));
	return &bufs[dat->nr_buffers++];
}

/* No two cpus may share bytes, or a small file could stand for an endless one. */
static uint64_t bytes_taken(const struct rs_dat_buffer *buf)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < buf->nr_cpus; i++)
		sum += buf->cpus[i].size;
	return sum;
}

int rs_dat_add_cpu(struct rs_dat *dat, struct rs_dat_buffer *buf, uint32_t cpu, uint64_t off, uint64_t size)
{
	uint64_t missing = 0, file = dat->in->size;
	struct rs_dat_cpu *cpus;

	if (cpu >= RS_DAT_MAX_CPUS) {
		rs_note_damage(dat->notes, "data of a CPU numbered %u is left out", cpu);
		return 0;
	}
	for (unsigned int i = 0; i < buf->nr_cpus; i++) {
		if (buf->cpus[i].cpu == cpu) {
			rs_note_damage(dat->notes, "CPU%u is listed twice; its second part is left out", cpu);
			return 0;
		}
	}
	if (size && (off >= file || size > file - off)) {
		uint64_t have = off >= file ? 0 : file - off;

		missing = size - have;
		size = have;
		rs_note_damage(dat->notes, "file ends early: %llu of %llu bytes of CPU%u are there",
			       (unsigned long long)have, (unsigned long long)(have + missing), cpu);
	}
	if (bytes_taken(buf) + size > file) {
		rs_note_damage(dat->notes, "the data of CPU%u overlaps that of other CPUs and is left out", cpu);
		missing += size;
		size = 0;
	}
	cpus = realloc(buf->cpus, (buf->nr_cpus + 1) * sizeof(*cpus));
	if (!cpus)
		return -ENOMEM;
	buf->cpus = cpus;
	cpus[buf->nr_cpus++] = (struct rs_dat_cpu){ .cpu = cpu, .off = off, .size = size, .missing = missing };
	return 0;
}

/* The version is a text; digits only are understood. */
static int read_version(struct rs_dat *dat, struct rs_cursor *c, struct resched_error *err)
{
	char text[16];
	unsigned long v = 0;
	const char *p;

	rs_cursor_string(c, text, sizeof(text));
	for (p = text; *p >= '0' && *p <= '9' && v < 100000; p++)
		v = v * 10 + (unsigned long)(*p - '0');
	if (c->bad || p == text || *p)
		return rs_error_set(err, RESCHED_DAMAGED, -EBADMSG, "trace.dat with a version that is no number: damaged or cut in its first bytes");
	if (v > 7)
		return rs_error_set(err, RESCHED_FAILED, -EPROTONOSUPPORT, "trace.dat version %lu is newer than this resched knows (7); "
				    "write version 7 (trace-cmd convert --file-version 7)", v);
	if (v < 6)
		return rs_error_set(err, RESCHED_FAILED, -EPROTONOSUPPORT, "trace.dat version %lu is older than this resched knows (6, 7)", v);
	dat->version = (unsigned int)v;
	return 0;
}

int rs_dat_open(struct rs_dat *dat, const struct rs_input *in, struct rs_notes *notes, struct resched_error *err)
{
	struct rs_cursor *c = malloc(sizeof(*c));
	uint8_t flags[2];
	int rc;

	if (!c)
		return rs_error_nomem(err);
	dat->in = in;
	dat->notes = notes;
	rs_cursor_file(c, in, sizeof(magic), in->size, false);
	rc = read_version(dat, c, err);
	if (rc < 0)
		goto out;
	rs_cursor_bytes(c, flags, 2);
	if (c->bad || flags[0] > 1 || (flags[1] != 4 && flags[1] != 8)) {
		rc = rs_error_set(err, RESCHED_DAMAGED, -EBADMSG, "trace.dat header is cut or damaged in its first bytes");
		goto out;
	}
	dat->big = flags[0];
	dat->swap = dat->big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	c->swap = dat->swap;
	dat->page_bytes = rs_cursor_u32(c);
	rc = dat->version == 7 ? rs_dat7_open(dat, c, err) : rs_dat6_open(dat, c, err);
out:
	free(c);
	return rc;
}

void rs_dat_release(struct rs_dat *dat)
{
	for (unsigned int i = 0; i < dat->nr_buffers; i++) {
		free(dat->buffers[i].name);
		free(dat->buffers[i].clock);
		for (unsigned int k = 0; k < dat->buffers[i].nr_cpus; k++)
			free(dat->buffers[i].cpus[k].pages);
		free(dat->buffers[i].cpus);
	}
	for (unsigned int i = 0; i < dat->nr_events; i++)
		free(dat->events[i].text);
	free(dat->buffers);
	free(dat->events);
	free(dat->header_page);
	free(dat->cmdlines);
	free(dat->uname);
	free(dat->clock);
	free(dat->host_json);
	free(dat->changes_json);
	rs_times_release(&dat->times);
	memset(dat, 0, sizeof(*dat));
}
