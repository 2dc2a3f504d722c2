// SPDX-License-Identifier: GPL-2.0-only
/*
 * One walk over a Perfetto trace: where the ftrace bundles of each cpu are, and what the other packets tell of the machine, its
 * tasks, its clocks and its losses. Field numbers: protos/perfetto/trace/trace_packet.proto and what it includes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/error.h"
#include "trace/perfetto_reader.h"
#include "trace/unpack.h"

#define TAG_PACKET 0x0a			/* Trace.packet, the only field of a trace */
#define PROBE_PACKETS 4u
#define PROBE_BYTES 4096u
#define CUT_MIN 16u			/* bytes of a first packet that is cut, to take it for one */
#define MAX_UNPACKED (64u << 20)	/* what one packet may unpack to; recorders stay far below 1 MiB */
#define CLOCK_MONO 3
#define CLOCK_BOOT 6
#define SUSPEND_MIN_NS 1000000		/* clocks of a snapshot are read one after the other */

/* ---- packets */

/* A number at the cursor. Sets bad where there is none. */
static uint64_t read_varint(struct rs_cursor *c)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < RS_WIRE_VARINT_MAX && !c->bad; i++) {
		uint8_t b;

		rs_cursor_bytes(c, &b, 1);
		v |= (uint64_t)(b & 0x7f) << (i * 7);
		if (!(b & 0x80))
			return v;
	}
	c->bad = true;
	return 0;
}

/* What is at the cursor: a packet, of which the cursor is then at the first byte; *@ret_end stays when even its length is cut. */
enum packet { PACKET_WHOLE, PACKET_CUT, PACKET_NONE };

static enum packet next_packet(struct rs_cursor *c, uint64_t *ret_end)
{
	uint8_t tag;
	uint64_t len;

	rs_cursor_bytes(c, &tag, 1);
	if (c->bad || tag != TAG_PACKET)
		return PACKET_NONE;
	len = read_varint(c);
	if (c->bad)
		return c->pos >= c->end ? PACKET_CUT : PACKET_NONE;
	*ret_end = len > UINT64_MAX - c->pos ? UINT64_MAX : c->pos + len;
	return len > c->end - c->pos ? PACKET_CUT : PACKET_WHOLE;
}

/* Fields that packets of recorders begin with. */
static bool is_first_field(uint32_t nr, unsigned int type)
{
	switch (nr) {
	case RS_PF_TIMESTAMP: case RS_PF_SEQUENCE: case 3: case 13: case 41: case RS_PF_DROPPED: case 58: case 79: case 87: case 98:
		return type == RS_WIRE_VARINT;
	case RS_PF_FTRACE_EVENTS: case RS_PF_PROCESS_TREE: case 4: case 5: case RS_PF_CLOCK_SNAPSHOT: case 7: case 9: case 11: case 12:
	case RS_PF_TRACE_CONFIG: case RS_PF_FTRACE_STATS: case 35: case RS_PF_SYNC_MARKER: case RS_PF_SYSTEM_INFO: case RS_PF_COMPRESSED:
	case 59: case 60: case 67: case 69: case 89: case RS_PF_COMPRESSED_ZSTD:
		return type == RS_WIRE_BYTES;
	default:
		return false;
	}
}

/* Do the fields of the packet of @len bytes at @off, of which @there are in the file, make sense as far as they can be seen? */
static bool plausible(const struct rs_input *in, uint64_t off, uint64_t len, uint64_t there)
{
	bool whole = len == there && len <= PROBE_BYTES;
	uint8_t buf[PROBE_BYTES];
	struct rs_wire_field f = { 0 };
	struct rs_wire w;
	unsigned int nr = 0;

	w = rs_wire_of(buf, rs_input_read(in, off, buf, there < sizeof(buf) ? (size_t)there : sizeof(buf)));
	while (rs_wire_next(&w, &f)) {
		if (f.nr >= 1024 || (!nr && !is_first_field(f.nr, f.type)))
			return false;
		nr++;
	}
	if (!w.bad)
		return nr > 0;
	if (whole)
		return false;
	/* one large field, whose length could be read and fits the packet's */
	return nr > 0 || (is_first_field(f.nr, f.type) && f.type == RS_WIRE_BYTES && f.value && f.value <= len - (uint64_t)(w.p - buf));
}

/* Do packets begin at @pos? */
static bool packets_at(const struct rs_input *in, uint64_t pos)
{
	struct rs_cursor *c = malloc(sizeof(*c));
	unsigned int nr = 0;
	bool good = true;

	if (!c)
		return false;
	rs_cursor_file(c, in, pos, in->size, false);
	while (good && nr < PROBE_PACKETS && c->pos < c->end) {
		uint64_t end = 0;
		enum packet is = next_packet(c, &end);

		if (is == PACKET_NONE)
			break;		/* damaged further on, when there were some */
		if (is == PACKET_CUT) {
			good = (nr || (!pos && c->end - c->pos >= CUT_MIN)) && end && plausible(in, c->pos, end - c->pos, c->end - c->pos);
			nr += good;
			break;
		}
		good = plausible(in, c->pos, end - c->pos, end - c->pos);
		nr += good;
		rs_cursor_skip(c, end - c->pos);
	}
	free(c);
	return good && nr && (nr > 1 || !pos);
}

bool rs_pf_is(const struct rs_input *in)
{
	uint8_t head;

	return rs_input_read(in, 0, &head, 1) == 1 && head == TAG_PACKET && packets_at(in, 0);
}

/* ---- what packets tell */

static bool load_packet(const struct rs_input *in, uint64_t off, uint64_t len, uint8_t **ret)
{
	uint8_t *buf = len && len <= RS_PF_MAX_PACKET ? malloc((size_t)len) : NULL;

	if (buf && rs_input_read(in, off, buf, (size_t)len) != len) {
		free(buf);
		buf = NULL;
	}
	*ret = buf;
	return buf != NULL;
}

static void keep_text(char ret[RS_PF_TEXT], const struct rs_wire_field *f)
{
	size_t n = f->len < RS_PF_TEXT ? f->len : RS_PF_TEXT - 1;

	memcpy(ret, f->data, n);
	ret[n] = '\0';
}

static void take_system_info(struct rs_pf_index *x, struct rs_wire w)
{
	struct rs_wire_field f, g;

	while (rs_wire_next(&w, &f)) {
		if (f.nr == 8 && f.type == RS_WIRE_VARINT && f.value <= RS_PF_MAX_CPUS)
			x->nr_cpus = (uint32_t)f.value;
		if (f.nr != 1 || f.type != RS_WIRE_BYTES)
			continue;
		for (struct rs_wire u = rs_wire_message(&f); rs_wire_next(&u, &g);) {
			if (g.type == RS_WIRE_BYTES && g.nr == 3)
				keep_text(x->release, &g);
			else if (g.type == RS_WIRE_BYTES && g.nr == 4)
				keep_text(x->machine, &g);
		}
	}
}

/* A name for a pid that no event names. */
static int add_name(struct rs_pf_index *x, uint64_t pid, const uint8_t *name, size_t len)
{
	int64_t id;

	if (!pid || pid > INT32_MAX || !len || rs_map_get(&x->comms->fallback, (uint32_t)pid) != RS_MAP_NONE)
		return 0;
	id = resched_names_intern(x->comms->names, (const char *)name, len < 15 ? len : 15);
	return id < 0 || rs_map_set(&x->comms->fallback, (uint32_t)pid, (uint32_t)id) < 0 ? -ENOMEM : 0;
}

/* Processes have pid = 1 and cmdline = 3, threads tid = 1 and name = 2. */
static int take_task(struct rs_pf_index *x, struct rs_wire w, bool thread)
{
	struct rs_wire_field f, name = { 0 };
	const uint8_t *base;
	uint64_t pid = 0;

	while (rs_wire_next(&w, &f)) {
		if (f.nr == 1 && f.type == RS_WIRE_VARINT)
			pid = f.value;
		else if (f.nr == (thread ? 2 : 3) && f.type == RS_WIRE_BYTES && !name.nr)
			name = f;
	}
	if (!name.nr)
		return 0;
	base = thread ? NULL : memrchr(name.data, '/', name.len);
	if (base && base + 1 < name.data + name.len) {
		name.len -= (size_t)(base + 1 - name.data);
		name.data = base + 1;
	}
	return add_name(x, pid, name.data, name.len);
}

static int take_process_tree(struct rs_pf_index *x, struct rs_wire w)
{
	struct rs_wire_field f;
	int rc = 0;

	while (rc == 0 && rs_wire_next(&w, &f)) {
		if (f.type == RS_WIRE_BYTES && (f.nr == 1 || f.nr == 2))
			rc = take_task(x, rs_wire_message(&f), f.nr == 2);
	}
	return rc;
}

/* The boot clock goes on while the machine is suspended, the monotonic one does not. */
static void take_clocks(struct rs_pf_index *x, struct rs_wire w)
{
	uint64_t mono = 0, boot = 0, ahead;
	struct rs_wire_field f, g;

	while (rs_wire_next(&w, &f)) {
		uint64_t id = 0, ts = 0;

		if (f.nr != 1 || f.type != RS_WIRE_BYTES)
			continue;
		for (struct rs_wire u = rs_wire_message(&f); rs_wire_next(&u, &g);) {
			id = g.nr == 1 ? g.value : id;
			ts = g.nr == 2 ? g.value : ts;
		}
		mono = id == CLOCK_MONO ? ts : mono;
		boot = id == CLOCK_BOOT ? ts : boot;
	}
	if (!mono || !boot)
		return;
	ahead = boot - mono;
	if (x->clocks_seen && (int64_t)(ahead - x->boot_minus_mono) > SUSPEND_MIN_NS)
		x->suspended_ns += ahead - x->boot_minus_mono;
	if (!x->clocks_seen || (int64_t)(ahead - x->boot_minus_mono) > 0)
		x->boot_minus_mono = ahead;
	x->clocks_seen = true;
}

/* Losses of the kernel's ring buffers: overrun = 3 and dropped_events = 8 of each cpu, at the start and at the end. */
static void take_stats(struct rs_pf_index *x, struct rs_wire w)
{
	uint64_t phase = 0, lost = 0;
	struct rs_wire_field f, g;

	while (rs_wire_next(&w, &f)) {
		if (f.nr == 1 && f.type == RS_WIRE_VARINT)
			phase = f.value;
		if (f.nr != 2 || f.type != RS_WIRE_BYTES)
			continue;
		for (struct rs_wire u = rs_wire_message(&f); rs_wire_next(&u, &g);) {
			if (g.nr == 1 && g.value < RS_PF_MAX_CPUS && g.value >= x->nr_cpus)
				x->nr_cpus = (uint32_t)g.value + 1;
			if (g.nr == 3 || g.nr == 8)
				lost += g.value;
		}
	}
	if (phase == 2) {
		x->stats_at_end = true;
		x->lost_at_end = lost;
	} else {
		x->lost_at_start = lost;
	}
}

static int take_other(struct rs_pf_index *x, const struct rs_input *in, uint32_t field, uint64_t off, uint64_t len)
{
	uint8_t *buf;
	struct rs_wire w;
	int rc = 0;

	if (!load_packet(in, off, len, &buf))
		return 0;
	w = rs_wire_of(buf, (size_t)len);
	switch (field) {
	case RS_PF_PROCESS_TREE:
		rc = take_process_tree(x, w);
		break;
	case RS_PF_CLOCK_SNAPSHOT:
		take_clocks(x, w);
		break;
	case RS_PF_FTRACE_STATS:
		take_stats(x, w);
		break;
	default:
		take_system_info(x, w);
		break;
	}
	free(buf);
	return rc;
}

/* ---- bundles */

/* The cpu of a bundle: its first field as recorders write it, else wherever it is. UINT32_MAX: not told. */
static uint32_t bundle_cpu(const struct rs_input *in, uint64_t off, uint64_t len)
{
	struct rs_wire_field f;
	uint32_t cpu = UINT32_MAX;
	struct rs_wire w;
	uint8_t head[16], *buf;

	w = rs_wire_of(head, rs_input_read(in, off, head, len < sizeof(head) ? (size_t)len : sizeof(head)));
	if (w.p < w.end && *w.p == 0x08 && rs_wire_next(&w, &f))
		return f.value < UINT32_MAX ? (uint32_t)f.value : UINT32_MAX;
	if (!load_packet(in, off, len, &buf))
		return UINT32_MAX;
	w = rs_wire_of(buf, (size_t)len);
	while (rs_wire_next(&w, &f)) {
		if (f.nr == 1 && f.type == RS_WIRE_VARINT && f.value < UINT32_MAX)
			cpu = (uint32_t)f.value;
	}
	free(buf);
	return w.bad ? cpu : cpu == UINT32_MAX ? 0 : cpu;	/* 0 may be left out by other encoders */
}

static void lose_all(struct rs_pf_index *x)
{
	for (unsigned int i = 0; i < x->nr_lists; i++)
		x->lists[i].lost = true;
}

static int add_bundle(struct rs_pf_index *x, uint32_t cpu, uint64_t off, uint64_t len)
{
	struct rs_pf_list *list;

	if (cpu >= RS_PF_MAX_CPUS || len > RS_PF_MAX_BUNDLE || x->nr_bundles == RS_PF_MAX_BUNDLES) {
		x->too_long++;
		if (cpu < x->nr_lists)
			x->lists[cpu].lost = true;
		return 0;
	}
	if (cpu >= x->nr_lists) {
		struct rs_pf_list *lists = realloc(x->lists, (cpu + 1) * sizeof(*lists));

		if (!lists)
			return -ENOMEM;
		memset(lists + x->nr_lists, 0, (cpu + 1 - x->nr_lists) * sizeof(*lists));
		x->lists = lists;
		x->nr_lists = cpu + 1;
	}
	list = &x->lists[cpu];
	if (list->nr == list->room) {
		uint32_t room = list->room ? list->room * 2 : 64;
		struct rs_pf_bundle *bundles = realloc(list->bundles, room * sizeof(*bundles));

		if (!bundles)
			return -ENOMEM;
		list->bundles = bundles;
		list->room = room;
	}
	list->bundles[list->nr++] = (struct rs_pf_bundle){ off, (uint32_t)len, list->lost ? RS_PF_BUNDLE_LOST : 0 };
	list->lost = false;
	x->nr_bundles++;
	return 0;
}

/* Of one packet: where its content is, and what it says of itself. */
struct packet_head { uint64_t off, len; uint64_t sequence; uint32_t field; bool dropped; };

static bool read_head(struct rs_cursor *c, uint64_t end, struct packet_head *h)
{
	memset(h, 0, sizeof(*h));
	while (c->pos < end && !c->bad) {
		uint64_t tag = read_varint(c), v;
		uint32_t nr = (uint32_t)(tag >> 3);

		switch (tag & 7) {
		case RS_WIRE_VARINT:
			v = read_varint(c);
			if (nr == RS_PF_SEQUENCE)
				h->sequence = v;
			else if (nr == RS_PF_DROPPED)
				h->dropped = v != 0;
			break;
		case RS_WIRE_BYTES:
			v = read_varint(c);
			if (c->bad || c->pos > end || v > end - c->pos)
				return false;
			if (nr == RS_PF_FTRACE_EVENTS || nr == RS_PF_PROCESS_TREE || nr == RS_PF_CLOCK_SNAPSHOT || nr == RS_PF_FTRACE_STATS ||
			    nr == RS_PF_SYSTEM_INFO || nr == RS_PF_COMPRESSED || nr == RS_PF_COMPRESSED_ZSTD) {
				h->field = nr;
				h->off = c->pos;
				h->len = v;
			}
			rs_cursor_skip(c, v);
			break;
		case RS_WIRE_FIXED64:
			rs_cursor_skip(c, 8);
			break;
		case RS_WIRE_FIXED32:
			rs_cursor_skip(c, 4);
			break;
		default:
			return false;
		}
	}
	return !c->bad && c->pos == end;
}

static int take_packet(struct rs_pf_index *x, const struct rs_input *in, const struct packet_head *h)
{
	uint32_t cpu;

	switch (h->field) {
	case 0:
		return 0;
	case RS_PF_FTRACE_EVENTS:
		/* the first packet of a sequence says so too when a ring buffer has turned over */
		if (h->dropped && rs_map_get(&x->sequences, (uint32_t)h->sequence) != RS_MAP_NONE)
			lose_all(x);
		if (rs_map_set(&x->sequences, (uint32_t)h->sequence, 1) < 0)
			return -ENOMEM;
		cpu = bundle_cpu(in, h->off, h->len);
		return add_bundle(x, cpu, h->off, h->len);
	case RS_PF_COMPRESSED:
	case RS_PF_COMPRESSED_ZSTD:
		x->bad_packets += x->unpacked;	/* one inside another: no recorder does that */
		x->packed = true;
		return 0;
	default:
		return take_other(x, in, h->field, h->off, h->len);
	}
}

/* May a packet begin at @p? Only what is in memory is looked at, as this is asked of each byte of what is damaged. */
static bool may_begin(const uint8_t *p, size_t len)
{
	struct rs_wire w = rs_wire_of(p + 1, len - 1);
	uint64_t size = rs_wire_varint(&w), tag = rs_wire_varint(&w), inner;

	if (w.bad || !is_first_field((uint32_t)(tag >> 3), tag & 7))
		return false;
	inner = rs_wire_varint(&w);
	return !w.bad && ((tag & 7) != RS_WIRE_BYTES || inner < size);
}

/* Where packets begin again after @pos; the end of the file when they do not. */
static uint64_t resync(const struct rs_input *in, uint64_t pos)
{
	uint8_t buf[65536];
	size_t want = 4096, margin = 3 * RS_WIRE_VARINT_MAX + 1;

	for (;;) {
		size_t n = rs_input_read(in, pos, buf, want), usable = n < want ? n : n - margin;

		for (const uint8_t *p = buf; p < buf + usable && (p = memchr(p, TAG_PACKET, usable - (size_t)(p - buf))) != NULL; p++) {
			if (may_begin(p, n - (size_t)(p - buf)) && packets_at(in, pos + (uint64_t)(p - buf)))
				return pos + (uint64_t)(p - buf);
		}
		if (n < want)
			return in->size;
		pos += usable;
		want = sizeof(buf);
	}
}

static void note_cut(struct rs_pf_index *x, uint64_t at)
{
	x->cut = true;
	rs_note_damage(x->notes, "file ends early: the packet at byte %llu is cut; what is before is used", (unsigned long long)at);
}

int rs_pf_index(struct rs_pf_index *x, const struct rs_input *in)
{
	struct rs_cursor *c = malloc(sizeof(*c));
	int rc = c ? 0 : -ENOMEM;

	if (c)
		rs_cursor_file(c, in, 0, in->size, false);
	while (rc == 0 && c->pos < in->size && (!x->packed || x->unpacked)) {
		uint64_t at = c->pos, end = 0;
		enum packet is = next_packet(c, &end);
		struct packet_head h;

		if (is == PACKET_WHOLE && read_head(c, end, &h)) {
			rc = take_packet(x, in, &h);
			continue;
		}
		if (is == PACKET_WHOLE && end < in->size) {	/* its frame is whole, so that the next one may be found */
			x->bad_packets++;
			lose_all(x);
			rs_cursor_file(c, in, end, in->size, false);
			continue;
		}
		end = resync(in, at + 1);
		if (end == in->size) {
			note_cut(x, at);
			break;
		}
		rs_note_damage(x->notes, "bytes %llu to %llu are no packets; what they held is lost", (unsigned long long)at,
			       (unsigned long long)end);
		lose_all(x);
		rs_cursor_file(c, in, end, in->size, false);
	}
	free(c);
	return rc;
}

void rs_pf_index_release(struct rs_pf_index *x)
{
	for (unsigned int i = 0; i < x->nr_lists; i++)
		free(x->lists[i].bundles);
	free(x->lists);
	rs_map_release(&x->sequences);
	x->lists = NULL;
	x->nr_lists = 0;
}

/* ---- compressed packets */

/* Packets out of a packet, written to @to. Return: bytes; 0 when they cannot be unpacked (what could is written); -errno. */
static int64_t inflate_to(struct rs_input *to, const uint8_t *from, size_t len, bool *whole)
{
	z_stream z = { .next_in = (Bytef *)(uintptr_t)from, .avail_in = (uInt)len };
	uint8_t buf[65536];
	int64_t sum = 0;
	int rc = inflateInit(&z);

	if (rc != Z_OK)
		return -ENOMEM;
	while (rc == Z_OK && sum < MAX_UNPACKED) {
		int wrote;

		z.next_out = buf;
		z.avail_out = sizeof(buf);
		rc = inflate(&z, Z_NO_FLUSH);
		wrote = rs_input_spool_write(to, buf, sizeof(buf) - z.avail_out);
		if (wrote < 0) {
			inflateEnd(&z);
			return wrote;
		}
		sum += (int64_t)(sizeof(buf) - z.avail_out);
	}
	inflateEnd(&z);
	*whole = rc == Z_STREAM_END;
	return sum;
}

static int64_t unzstd_to(struct rs_input *to, const uint8_t *from, size_t len, bool *whole)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	ZSTD_inBuffer in = { from, len, 0 };
	uint8_t buf[65536];
	size_t left = 1;
	int64_t sum = 0;

	if (!z)
		return -ENOMEM;
	while (left && !ZSTD_isError(left) && sum < MAX_UNPACKED) {
		ZSTD_outBuffer out = { buf, sizeof(buf), 0 };
		int wrote;

		left = ZSTD_decompressStream(z, &out, &in);
		wrote = rs_input_spool_write(to, buf, out.pos);
		if (wrote < 0) {
			ZSTD_freeDStream(z);
			return wrote;
		}
		sum += (int64_t)out.pos;
		if (in.pos == in.size && out.pos < out.size)
			break;
	}
	ZSTD_freeDStream(z);
	*whole = left == 0;
	return sum;
}

static int64_t copy_to(struct rs_input *to, const struct rs_input *in, uint64_t off, uint64_t len)
{
	uint8_t buf[65536];
	uint64_t done = 0;

	while (done < len) {
		size_t n = rs_input_read(in, off + done, buf, len - done < sizeof(buf) ? (size_t)(len - done) : sizeof(buf));
		int rc = n ? rs_input_spool_write(to, buf, n) : 0;

		if (rc < 0)
			return rc;
		if (!n)
			break;
		done += n;
	}
	return (int64_t)done;
}

static int64_t unpack_packet(struct rs_input *to, const struct rs_input *in, const struct packet_head *h, bool *whole)
{
	uint8_t *buf;
	int64_t rc;

	*whole = false;
	if (!load_packet(in, h->off, h->len, &buf))
		return 0;
	rc = h->field == RS_PF_COMPRESSED ? inflate_to(to, buf, (size_t)h->len, whole) : unzstd_to(to, buf, (size_t)h->len, whole);
	free(buf);
	return rc;
}

/* What is no packet is copied too: the walk over the copy tells of it. */
static int64_t unpack_all(struct rs_input *to, const struct rs_input *in, struct rs_cursor *c, uint64_t *bad)
{
	uint64_t sum = 0;

	while (c->pos < in->size) {
		uint64_t at = c->pos, end = in->size;
		struct packet_head h;
		bool whole = true;
		int64_t n;

		if (next_packet(c, &end) == PACKET_WHOLE && read_head(c, end, &h) &&
		    (h.field == RS_PF_COMPRESSED || h.field == RS_PF_COMPRESSED_ZSTD))
			n = unpack_packet(to, in, &h, &whole);
		else
			n = copy_to(to, in, at, (end > at ? end : in->size) - at);
		if (n < 0)
			return n;
		*bad += !whole;
		sum += (uint64_t)n;
		if (sum > RS_UNPACK_FREE_BYTES && sum / RS_UNPACK_MAX_RATIO > in->size)
			return -EFBIG;
		rs_cursor_file(c, in, end > at ? end : in->size, in->size, false);
	}
	return 0;
}

int rs_pf_unpack(const struct rs_input *in, struct rs_input *ret, struct rs_notes *notes, struct resched_error *err)
{
	struct rs_cursor *c = malloc(sizeof(*c));
	struct rs_input unpacked;
	uint64_t bad = 0;
	int64_t rc;

	if (!c)
		return rs_error_nomem(err);
	rs_input_spool(&unpacked);
	rs_cursor_file(c, in, 0, in->size, false);
	rc = unpack_all(&unpacked, in, c, &bad);
	free(c);
	if (rc < 0) {
		rs_input_close(&unpacked);
		return rs_error_set(err, RESCHED_FAILED, (int)rc, "cannot unpack the compressed packets (set TMPDIR to a folder with room):");
	}
	if (bad)
		rs_note_damage(notes, "%llu compressed packets are damaged; what could not be unpacked is lost", (unsigned long long)bad);
	*ret = unpacked;
	return 0;
}
