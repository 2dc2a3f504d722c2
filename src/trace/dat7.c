// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace.dat version 7: sections, found through chained option sections. The last options are usually written last, so a
 * file that was cut lacks them; then the sections are found by walking the file from the first one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "trace/dat.h"
#include "trace/growing.h"

#define SECTION_HEAD 16u
#define MAX_OPTION_SECTIONS 1024u
#define MAX_OPTIONS 65536u
#define CHUNK_COUNT_BYTES 4u

struct section {
	unsigned int id, flags;
	uint64_t body, size;	/* of the body in the file */
};

/* What the options pointed to; 0 = not told (no section can be at 0). */
struct map { uint64_t header, ftrace, events, cmdlines; bool whole; };

static bool is_section_id(unsigned int id)
{
	return id == RS_DAT_OPTIONS || id == RS_DAT_BUFFER || (id >= RS_DAT_STRINGS && id <= RS_DAT_BUFFER_TEXT);
}

/* The header of a section at @off. Return: false outside the file or when it cannot be one. */
static bool read_head(const struct rs_dat *dat, uint64_t off, struct section *ret)
{
	uint8_t b[SECTION_HEAD];

	if (off > dat->in->size || rs_input_read(dat->in, off, b, sizeof(b)) != sizeof(b))
		return false;
	ret->id = rs_load_u16(b, dat->swap);
	ret->flags = rs_load_u16(b + 2, dat->swap);
	ret->body = off + SECTION_HEAD;
	ret->size = rs_load_u64(b + 8, dat->swap);
	return is_section_id(ret->id) && ret->flags <= 1;
}

/* The content of a small section: the cursor's, expanded into *@mem (to be freed) when compressed. Return: 0; -EBADMSG; -ENOMEM. */
static int open_section(const struct rs_dat *dat, uint64_t off, unsigned int id, struct rs_cursor *c, void **mem)
{
	uint32_t packed, size;
	struct section sec;
	void *from;
	int rc;

	*mem = NULL;
	if (!off || !read_head(dat, off, &sec) || sec.id != id || sec.size > dat->in->size - sec.body)
		return -EBADMSG;
	rs_cursor_file(c, dat->in, sec.body, sec.body + sec.size, dat->swap);
	if (!(sec.flags & 1))
		return 0;
	packed = rs_cursor_u32(c);
	size = rs_cursor_u32(c);
	if (c->bad || size > RS_INPUT_MAX_TEXT)
		return -EBADMSG;
	from = rs_cursor_text(c, packed);
	if (!from)
		return rs_cursor_error(c);
	*mem = malloc(size ? size : 1);
	rc = *mem ? rs_codec_expand(dat->codec, from, packed, *mem, size) : -ENOMEM;
	free(from);
	if (rc < 0) {
		free(*mem);
		*mem = NULL;
		return rc;
	}
	rs_cursor_memory(c, *mem, size, dat->swap);
	return 0;
}

static bool buffer_is_compressed(const struct rs_dat *dat, uint64_t off)
{
	struct section sec;

	return read_head(dat, off, &sec) && sec.id == RS_DAT_BUFFER && (sec.flags & 1) && dat->codec != RS_CODEC_NONE;
}

static int read_buffer_option(struct rs_dat *dat, struct rs_cursor *c)
{
	uint64_t off = rs_cursor_u64(c);
	char name[256], clock[64];
	struct rs_dat_buffer *buf;
	uint32_t page_bytes, cpus;
	int rc = 0;

	rs_cursor_string(c, name, sizeof(name));
	rs_cursor_string(c, clock, sizeof(clock));
	page_bytes = rs_cursor_u32(c);
	cpus = rs_cursor_u32(c);
	if (c->bad || cpus > RS_DAT_MAX_CPUS || cpus > rs_cursor_left(c) / 20)
		return -EBADMSG;
	for (unsigned int i = 0; i < dat->nr_buffers; i++) {
		if (dat->buffers[i].section == off)
			return 0;	/* met again while the file is searched */
	}
	if (dat->nr_buffers == RS_DAT_MAX_BUFFERS)
		return -EBADMSG;
	buf = rs_dat_add_buffer(dat);
	if (!buf)
		return -ENOMEM;
	buf->section = off;
	buf->name = strdup(name);
	buf->clock = *clock ? strdup(clock) : NULL;
	if (!buf->name || (*clock && !buf->clock))
		return -ENOMEM;
	buf->page_bytes = page_bytes;
	buf->compressed = buffer_is_compressed(dat, off);
	for (uint32_t i = 0; i < cpus && rc == 0; i++) {
		uint32_t cpu = rs_cursor_u32(c);
		uint64_t at = rs_cursor_u64(c), size = rs_cursor_u64(c);

		if (buf->compressed && size && size < UINT64_MAX - CHUNK_COUNT_BYTES)
			size += CHUNK_COUNT_BYTES;	/* trace-cmd counts the chunks only */
		rc = rs_dat_add_cpu(dat, buf, cpu, at, size);
	}
	return rc;
}

/* One option section. *@next: where the next one is, 0 at the end. */
static int read_options(struct rs_dat *dat, uint64_t off, struct map *map, uint64_t *next)
{
	struct rs_cursor *c = malloc(sizeof(*c));
	void *mem = NULL;
	int rc;

	*next = 0;
	if (!c)
		return -ENOMEM;
	rc = open_section(dat, off, RS_DAT_OPTIONS, c, &mem);
	for (unsigned int i = 0; rc == 0; i++) {
		unsigned int id = rs_cursor_u16(c);
		uint32_t size = rs_cursor_u32(c);
		uint64_t end = c->pos + size;

		if (c->bad || size > rs_cursor_left(c) || i == MAX_OPTIONS) {
			rc = -EBADMSG;
			break;
		}
		switch (id) {
		case RS_DAT_OPTIONS:
			*next = size >= 8 ? rs_cursor_u64(c) : 0;
			goto out;
		case RS_DAT_HEADER: map->header = rs_cursor_u64(c); break;
		case RS_DAT_FTRACE: map->ftrace = rs_cursor_u64(c); break;
		case RS_DAT_EVENTS: map->events = rs_cursor_u64(c); break;
		case RS_DAT_CMDLINES: map->cmdlines = rs_cursor_u64(c); break;
		case RS_DAT_BUFFER: rc = read_buffer_option(dat, c); break;
		default: rc = rs_dat_option(dat, id, c, size); break;
		}
		if (rc == -EBADMSG) {
			rs_note_damage(dat->notes, "option %u of the recording is damaged and left out", id);
			c->bad = false;
			rc = 0;
		}
		c->pos = end;
	}
out:
	free(mem);
	free(c);
	return rc;
}

/* Follow the chain. Offsets may lie: the number of sections is limited, and a step back to a section already read ends it. */
static int read_option_chain(struct rs_dat *dat, uint64_t off, struct map *map)
{
	uint64_t *seen = malloc(MAX_OPTION_SECTIONS * sizeof(*seen));
	unsigned int nr = 0;
	int rc = seen ? 0 : -ENOMEM;

	map->whole = true;
	while (off && rc == 0) {
		bool again = nr == MAX_OPTION_SECTIONS;

		for (unsigned int i = 0; i < nr; i++)
			again |= seen[i] == off;
		if (again) {
			rs_note_damage(dat->notes, "the chain of options runs in a circle; what it points to is looked for in the file itself");
			map->whole = false;
			break;
		}
		seen[nr++] = off;
		rc = read_options(dat, off, map, &off);
		if (rc == -EBADMSG) {
			rs_note_damage(dat->notes, "file ends early or is damaged: its options cannot all be read");
			map->whole = false;
			rc = 0;
			break;
		}
	}
	free(seen);
	return rc;
}

/* Length of a chain of compressed chunks at @off, up to @end; 0 when there is none. *@cut: it goes on after @end. */
static uint64_t chunk_chain(const struct rs_dat *dat, uint64_t off, uint64_t end, bool *cut)
{
	uint64_t pos = off + 4;
	uint8_t b[8];
	uint32_t count;

	*cut = false;
	if (off + 4 > end || rs_input_read(dat->in, off, b, 4) != 4)
		return 0;
	count = rs_load_u32(b, dat->swap);
	if (!count)
		return 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t packed, size;

		if (pos + 8 > end || rs_input_read(dat->in, pos, b, 8) != 8) {
			*cut = true;
			return end - off;
		}
		packed = rs_load_u32(b, dat->swap);
		size = rs_load_u32(b + 4, dat->swap);
		if (!packed || !size || size > RS_DAT_MAX_CHUNK || size % dat->page_bytes || packed > size + size / 8 + 4096)
			return i ? pos - off : 0;
		if (packed > end - pos - 8) {
			*cut = true;
			return end - off;
		}
		pos += 8 + packed;
	}
	return pos - off;
}

/* Length of the pages of one cpu at @off: they end where a stamp goes back or no page is. */
static uint64_t page_run(const struct rs_dat *dat, const struct rs_page_layout *layout, uint64_t off, uint64_t end)
{
	uint64_t pos, prev = 0;
	uint8_t head[128] = { 0 };

	for (pos = off; pos + layout->data_offset < end; pos += layout->page_bytes) {
		uint32_t bytes;
		uint64_t ts;

		if (rs_input_read(dat->in, pos, head, layout->data_offset) != layout->data_offset)
			break;
		if (!rs_page_stamp(layout, head, &ts, &bytes) || !ts || ts < prev)
			break;
		prev = ts;
	}
	return pos - off;
}

/* A buffer section without its option: find the cpus by their data, in order. */
static int guess_buffer(struct rs_dat *dat, const struct section *sec, uint64_t end)
{
	struct rs_page_layout layout = { .swap = dat->swap, .big = dat->big };
	struct rs_dat_buffer *buf;
	uint64_t pos = sec->body;
	uint32_t cpu = 0;

	if (!dat->header_page || !rs_page_layout_parse(&layout, dat->header_page, dat->page_bytes))
		return dat->header_page && errno == ENOMEM ? -ENOMEM : -EBADMSG;
	buf = rs_dat_add_buffer(dat);
	if (!buf)
		return -ENOMEM;
	buf->name = strdup("");
	if (!buf->name)
		return -ENOMEM;
	buf->page_bytes = dat->page_bytes;
	buf->compressed = (sec->flags & 1) && dat->codec != RS_CODEC_NONE;
	while (cpu < RS_DAT_MAX_CPUS) {
		bool is_cut = false;
		uint64_t len;

		pos = (pos + dat->page_bytes - 1) / dat->page_bytes * dat->page_bytes;
		if (pos >= end)
			break;
		len = buf->compressed ? chunk_chain(dat, pos, end, &is_cut) : page_run(dat, &layout, pos, end);
		if (!len)
			break;
		if (rs_dat_add_cpu(dat, buf, cpu, pos, len < end - pos ? len : end - pos) < 0)
			return -ENOMEM;
		if (is_cut)
			buf->cpus[buf->nr_cpus - 1].missing = 1;	/* at least */
		cpu++;
		pos += len;
	}
	rs_note_damage(dat->notes, "file ends early: the table of CPUs is missing; data of %u CPUs was found and numbered in order from CPU0, "
		       "the last one is incomplete, later ones are lost", cpu);
	return 0;
}

static int add_growing_cpu(struct rs_dat *dat, struct rs_dat_buffer *buf, uint64_t base, const struct rs_growing_page *pages, uint64_t nr)
{
	uint64_t *places = malloc(nr * sizeof(*places));
	struct rs_dat_cpu *cpu;

	if (!places || rs_dat_add_cpu(dat, buf, rs_growing_cpu(pages), 0, 0) < 0) {
		free(places);
		return -ENOMEM;
	}
	for (uint64_t i = 0; i < nr; i++)
		places[i] = rs_growing_offset(base, buf->page_bytes, pages[i].slot);
	cpu = &buf->cpus[buf->nr_cpus - 1];
	cpu->pages = places;
	cpu->size = nr * buf->page_bytes;
	cpu->missing = 1;	/* at least: what its buffer still held */
	return 0;
}

static uint64_t growing_base(const struct rs_dat *dat, const struct section *sec)
{
	return (sec->body + dat->page_bytes - 1) / dat->page_bytes * dat->page_bytes;
}

static bool is_growing(const struct rs_dat *dat, const struct section *sec)
{
	uint8_t word[8];

	return rs_input_read(dat->in, growing_base(dat, sec) + RS_GROWING_MAGIC_AT, word, sizeof(word)) == sizeof(word) &&
	       rs_load_u64(word, dat->swap) == RS_GROWING_MAGIC;
}

/* The data of a recording that has not ended, see growing.h. Return: 0; -EBADMSG: it is no such data; -ENOMEM. */
static int growing_buffer(struct rs_dat *dat, const struct section *sec)
{
	uint64_t base = growing_base(dat, sec), nr = 0, missing = 0, at, end;
	struct rs_growing_page *pages = NULL;
	struct rs_dat_buffer *buf;
	unsigned int cpus = 0;
	int rc = rs_growing_read(dat->in, base, dat->page_bytes, dat->swap, RS_DAT_MAX_CPUS, &pages, &nr, &missing);

	if (rc < 0)
		return rc;
	dat->growing_section = sec->body - SECTION_HEAD;
	buf = rs_dat_add_buffer(dat);
	if (buf)
		buf->name = strdup("");
	if (!buf || !buf->name)
		rc = -ENOMEM;
	else
		buf->page_bytes = dat->page_bytes;
	for (at = 0; at < nr && rc == 0; at = end, cpus++) {
		for (end = at + 1; end < nr && rs_growing_cpu(&pages[end]) == rs_growing_cpu(&pages[at]);)
			end++;
		rc = add_growing_cpu(dat, buf, base, &pages[at], end - at);
	}
	free(pages);
	rs_note_damage(dat->notes, "the recording was not finished: its recorder was killed, or still runs. %llu pages of %u CPUs are read; "
		       "what had not reached the file is lost ('resched record --recover FILE' makes the file whole)",
		       (unsigned long long)nr, cpus);
	if (missing)
		rs_note_damage(dat->notes, "%llu pages of the recording never reached the disk, or lie behind such a gap", (unsigned long long)missing);
	return rc;
}

/*
 * Walk all sections from the first one, to find what the options did not tell. A section that reaches past the end is the
 * one that was cut; a buffer section that was never finished has size 0 and runs to the end.
 */
static int scan_sections(struct rs_dat *dat, struct map *map, bool want_buffers, struct section *ret_buffer, uint64_t *ret_end)
{
	uint64_t off = dat->first_section, next;
	struct section sec, after;

	ret_buffer->body = 0;
	for (unsigned int i = 0; i < MAX_OPTION_SECTIONS && read_head(dat, off, &sec); i++) {
		bool fits = sec.size <= dat->in->size - sec.body;

		if (sec.id == RS_DAT_HEADER && !map->header)
			map->header = off;
		else if (sec.id == RS_DAT_FTRACE && !map->ftrace)
			map->ftrace = off;
		else if (sec.id == RS_DAT_EVENTS && !map->events)
			map->events = off;
		else if (sec.id == RS_DAT_CMDLINES && !map->cmdlines)
			map->cmdlines = off;
		next = fits ? sec.body + sec.size : dat->in->size;
		if (sec.id == RS_DAT_BUFFER && !sec.size && (is_growing(dat, &sec) || !read_head(dat, next, &after))) {
			next = dat->in->size;
			sec.size = next - sec.body;
		}
		if (sec.id == RS_DAT_BUFFER && want_buffers && !ret_buffer->body && sec.size) {
			*ret_buffer = sec;
			*ret_end = next;
		}
		if (sec.id == RS_DAT_OPTIONS && fits && !map->whole) {
			uint64_t ignored;
			int rc = read_options(dat, off, map, &ignored);

			if (rc == -ENOMEM)
				return rc;
		}
		if (!fits)
			break;
		off = next;
	}
	return 0;
}

static int read_formats(struct rs_dat *dat, const struct map *map, struct rs_cursor *c, struct resched_error *err)
{
	void *mem;
	int rc = open_section(dat, map->ftrace, RS_DAT_FTRACE, c, &mem);

	if (rc == 0)
		rc = rs_dat_ftrace_formats(dat, c);
	free(mem);
	if (rc == -ENOMEM)
		return rs_error_nomem(err);
	if (rc < 0)
		rs_note_damage(dat->notes, "the formats of ftrace's own events cannot be read; such events are counted as 'unknown'");
	rc = open_section(dat, map->events, RS_DAT_EVENTS, c, &mem);
	if (rc == 0)
		rc = rs_dat_event_formats(dat, c);
	free(mem);
	if (rc == -ENOMEM)
		return rs_error_nomem(err);
	if (rc < 0)
		return rs_error_set(err, RESCHED_DAMAGED, -EBADMSG, "trace.dat is cut or damaged in its event formats: no event can be decoded; record again");
	return 0;
}

static int read_header_page(struct rs_dat *dat, const struct map *map, struct rs_cursor *c, struct resched_error *err)
{
	void *mem;
	int rc = open_section(dat, map->header, RS_DAT_HEADER, c, &mem);

	if (rc == 0)
		rc = rs_dat_header_info(dat, c);
	free(mem);
	if (rc == -ENOMEM)
		return rs_error_nomem(err);
	if (rc < 0)
		return rs_error_set(err, RESCHED_DAMAGED, -EBADMSG, "trace.dat is cut or damaged in its page header: no event can be decoded; record again");
	return 0;
}

static int read_cmdlines(struct rs_dat *dat, const struct map *map, struct rs_cursor *c)
{
	void *mem;
	int rc = open_section(dat, map->cmdlines, RS_DAT_CMDLINES, c, &mem);

	if (rc == 0)
		dat->cmdlines = rs_cursor_text(c, rs_cursor_u64(c));	/* only a help: without it names come from the events */
	free(mem);
	return rc == -ENOMEM || (rc == 0 && c->no_memory) ? -ENOMEM : 0;
}

static int read_codec(struct rs_dat *dat, struct rs_cursor *c, struct resched_error *err)
{
	char name[64], version[64];

	rs_cursor_string(c, name, sizeof(name));
	rs_cursor_string(c, version, sizeof(version));
	if (c->bad)
		return rs_error_set(err, RESCHED_DAMAGED, -EBADMSG, "trace.dat header is cut or damaged in its first bytes");
	dat->codec = rs_codec_by_name(name);
	if (dat->codec == RS_CODEC_UNKNOWN)
		return rs_error_set(err, RESCHED_FAILED, -EPROTONOSUPPORT, "trace.dat is compressed with '%s', which this resched does not know "
				    "(zstd, zlib, none); convert it (trace-cmd convert --compression zstd)", name);
	return 0;
}

int rs_dat7_open(struct rs_dat *dat, struct rs_cursor *c, struct resched_error *err)
{
	struct map map = { 0 };
	struct section buffer = { 0 };
	uint64_t options, end = 0;
	int rc = read_codec(dat, c, err);

	if (rc < 0)
		return rc;
	options = rs_cursor_u64(c);
	if (c->bad)
		return rs_error_set(err, RESCHED_DAMAGED, -EBADMSG, "trace.dat header is cut or damaged in its first bytes");
	dat->first_section = c->pos;
	if (!dat->page_bytes || dat->page_bytes > (1u << 20))
		return rs_error_set(err, RESCHED_DAMAGED, -EBADMSG, "trace.dat claims pages of %u bytes: damaged", dat->page_bytes);
	rc = read_option_chain(dat, options, &map);
	if (rc == 0 && (!map.whole || !map.header || !map.events || !dat->nr_buffers))
		rc = scan_sections(dat, &map, !dat->nr_buffers, &buffer, &end);
	if (rc < 0)
		return rs_error_nomem(err);
	rc = read_header_page(dat, &map, c, err);
	if (rc == 0)
		rc = read_formats(dat, &map, c, err);
	if (rc < 0)
		return rc;
	if (read_cmdlines(dat, &map, c) < 0)
		return rs_error_nomem(err);
	if (!dat->nr_buffers && buffer.body) {
		rc = growing_buffer(dat, &buffer);
		if (rc == -EBADMSG)
			rc = guess_buffer(dat, &buffer, end);
		if (rc == -ENOMEM)
			return rs_error_nomem(err);
	}
	if (!dat->nr_buffers)
		return rs_error_set(err, RESCHED_DAMAGED, -EBADMSG, "trace.dat has no event data: it was cut before the data, or recording never finished");
	return 0;
}
