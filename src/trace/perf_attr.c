// SPDX-License-Identifier: GPL-2.0-only
#include "trace/perf_attr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HEADER 8u
#define ATTR_MIN 64u		/* PERF_ATTR_SIZE_VER0 */
#define ATTR_CLOCKID 92u	/* offset of clockid, since 4.1 */

/* Bits of the flags word, counted as the compiler of a little-endian machine lays them out. */
enum { FLAG_SAMPLE_ID_ALL = 18, FLAG_USE_CLOCKID = 25 };

enum { READ_ENABLED = 1, READ_RUNNING = 2, READ_ID = 4, READ_GROUP = 8, READ_LOST = 16 };

void rs_perf_attrs_release(struct rs_perf_attrs *attrs)
{
	for (unsigned int i = 0; i < attrs->nr; i++)
		free(attrs->list[i].name);
	free(attrs->list);
	free(attrs->ids);
	memset(attrs, 0, sizeof(*attrs));
}

/* Bit fields begin at the low bit of the first byte on little-endian machines, at the high bit on big-endian ones. */
static bool flag(const uint8_t *flags, unsigned int bit, bool big)
{
	return flags[bit / 8] >> (big ? 7 - bit % 8 : bit % 8) & 1;
}

/* Kernel: perf_output_sample(). */
static void lay_out_sample(struct rs_perf_attr *a)
{
	static const uint32_t fixed[] = { RS_PERF_S_IDENTIFIER, RS_PERF_S_IP, RS_PERF_S_TID, RS_PERF_S_TIME, RS_PERF_S_ADDR, RS_PERF_S_ID,
					  RS_PERF_S_STREAM_ID, RS_PERF_S_CPU, RS_PERF_S_PERIOD };
	int16_t at = 0;

	a->at_id = a->at_time = a->at_cpu = -1;
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		if (!(a->sample_type & fixed[i]))
			continue;
		if (fixed[i] == RS_PERF_S_IDENTIFIER || (fixed[i] == RS_PERF_S_ID && a->at_id < 0))
			a->at_id = at;
		else if (fixed[i] == RS_PERF_S_TIME)
			a->at_time = at;
		else if (fixed[i] == RS_PERF_S_CPU)
			a->at_cpu = at;
		at += 8;
	}
	a->at_fixed_end = at;
}

/* Kernel: __perf_event__output_id_sample(). Only there with sample_id_all. */
static void lay_out_trailer(struct rs_perf_attr *a)
{
	uint16_t end = 0;

	if (!a->sample_id_all)
		return;
	if (a->sample_type & RS_PERF_S_IDENTIFIER)
		a->end_id = end += 8;
	if (a->sample_type & RS_PERF_S_CPU)
		a->end_cpu = end += 8;
	if (a->sample_type & RS_PERF_S_STREAM_ID)
		end += 8;
	if (a->sample_type & RS_PERF_S_ID) {
		end += 8;
		if (!a->end_id)
			a->end_id = end;
	}
	if (a->sample_type & RS_PERF_S_TIME)
		a->end_time = end += 8;
	if (a->sample_type & RS_PERF_S_TID)
		end += 8;
	a->end_all = end;
}

int rs_perf_attrs_add(struct rs_perf_attrs *attrs, const uint8_t *p, size_t len)
{
	struct rs_perf_attr *a;

	if (len < ATTR_MIN || attrs->nr == RS_PERF_MAX_ATTRS)
		return -EBADMSG;
	if (attrs->nr == attrs->room) {
		unsigned int room = attrs->room ? attrs->room * 2 : 32;
		struct rs_perf_attr *more = realloc(attrs->list, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		attrs->list = more;
		attrs->room = room;
	}
	a = &attrs->list[attrs->nr];
	memset(a, 0, sizeof(*a));
	a->type = rs_load_u32(p, attrs->swap);
	a->config = rs_load_u64(p + 8, attrs->swap);
	a->sample_type = rs_load_u64(p + 24, attrs->swap);
	a->read_format = rs_load_u64(p + 32, attrs->swap);
	a->sample_id_all = flag(p + 40, FLAG_SAMPLE_ID_ALL, attrs->big);
	if (len >= ATTR_CLOCKID + 4 && flag(p + 40, FLAG_USE_CLOCKID, attrs->big)) {
		a->has_clockid = true;
		a->clockid = (int32_t)rs_load_u32(p + ATTR_CLOCKID, attrs->swap);
	}
	lay_out_sample(a);
	lay_out_trailer(a);
	attrs->any_raw |= a->type == RS_PERF_TYPE_TRACEPOINT && (a->sample_type & RS_PERF_S_RAW);
	attrs->any_tracepoint |= a->type == RS_PERF_TYPE_TRACEPOINT;
	attrs->mixed |= attrs->nr && a->at_id != attrs->list[0].at_id;
	return (int)attrs->nr++;
}

static uint32_t hash(uint64_t id)
{
	return (uint32_t)((id * 0x9e3779b97f4a7c15ull) >> 32);
}

static struct rs_perf_id *slot_of(const struct rs_perf_attrs *attrs, uint64_t id)
{
	uint32_t i = hash(id) & attrs->id_mask;

	while (attrs->ids[i].attr != UINT32_MAX && attrs->ids[i].id != id)
		i = (i + 1) & attrs->id_mask;
	return &attrs->ids[i];
}

static int grow_ids(struct rs_perf_attrs *attrs)
{
	uint32_t nr = attrs->ids ? (attrs->id_mask + 1) * 2 : 64;
	struct rs_perf_attrs bigger = { .id_mask = nr - 1, .ids = malloc(nr * sizeof(*bigger.ids)) };

	if (!bigger.ids)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++)
		bigger.ids[i] = (struct rs_perf_id){ .attr = UINT32_MAX, .cpu = RS_PERF_NO_CPU };
	for (uint32_t i = 0; attrs->ids && i <= attrs->id_mask; i++) {
		if (attrs->ids[i].attr != UINT32_MAX)
			*slot_of(&bigger, attrs->ids[i].id) = attrs->ids[i];
	}
	free(attrs->ids);
	attrs->ids = bigger.ids;
	attrs->id_mask = bigger.id_mask;
	return 0;
}

int rs_perf_attrs_add_id(struct rs_perf_attrs *attrs, uint64_t id, unsigned int attr)
{
	struct rs_perf_id *slot;

	if (attrs->nr_ids >= RS_PERF_MAX_IDS)
		return -EBADMSG;
	if ((!attrs->ids || attrs->nr_ids * 2 > attrs->id_mask) && grow_ids(attrs) < 0)
		return -ENOMEM;
	slot = slot_of(attrs, id);
	if (slot->attr == UINT32_MAX)
		attrs->nr_ids++;
	attrs->last_attr = 0;
	slot->id = id;
	slot->attr = attr;
	return 0;
}

struct rs_perf_id *rs_perf_attrs_find(const struct rs_perf_attrs *attrs, uint64_t id)
{
	struct rs_perf_id *slot;

	if (!attrs->ids)
		return NULL;
	slot = slot_of(attrs, id);
	return slot->attr == UINT32_MAX ? NULL : slot;
}

static struct rs_perf_attr *attr_of_id(struct rs_perf_attrs *attrs, uint64_t id)
{
	const struct rs_perf_id *slot;

	slot = rs_perf_attrs_find(attrs, id);
	if (slot && slot->attr < attrs->nr) {
		if (attrs->list[0].at_id >= 0) {
			attrs->last_id = id;
			attrs->last_attr = slot->attr + 1;
		}
		return &attrs->list[slot->attr];
	}
	return id ? NULL : &attrs->list[0];	/* perf writes records of its own with id 0 */
}

struct rs_perf_attr *rs_perf_attrs_of_sample_slow(struct rs_perf_attrs *attrs, const uint8_t *p, uint32_t size)
{
	int at;

	if (attrs->nr <= 1)
		return attrs->nr ? attrs->list : NULL;
	at = attrs->list[0].at_id;
	if (at < 0)
		return attrs->mixed ? NULL : attrs->list;
	if (HEADER + (uint32_t)at + 8 > size)
		return NULL;
	return attr_of_id(attrs, rs_load_u64(p + HEADER + at, attrs->swap));
}

struct rs_perf_attr *rs_perf_attrs_of_other(struct rs_perf_attrs *attrs, const uint8_t *p, uint32_t size)
{
	uint32_t end;

	if (attrs->nr <= 1)
		return attrs->nr ? attrs->list : NULL;
	end = attrs->list[0].end_id;
	if (!end || HEADER + end > size)
		return attrs->list;
	return attr_of_id(attrs, rs_load_u64(p + size - end, attrs->swap));
}

uint32_t rs_perf_raw_offset(const struct rs_perf_attrs *attrs, const struct rs_perf_attr *a, const uint8_t *p, uint32_t size)
{
	uint64_t at = HEADER + (uint64_t)a->at_fixed_end, nr;

	if (a->sample_type & RS_PERF_S_READ) {
		unsigned int times = !!(a->read_format & READ_ENABLED) + !!(a->read_format & READ_RUNNING);
		unsigned int each = 1 + !!(a->read_format & READ_ID) + !!(a->read_format & READ_LOST);

		nr = 1;
		if (a->read_format & READ_GROUP) {
			if (at + 8 > size)
				return 0;
			nr = rs_load_u64(p + at, attrs->swap);
			at += 8;
		}
		if (nr > size / 8)
			return 0;
		at += 8 * (times + nr * each);
	}
	if (a->sample_type & RS_PERF_S_CALLCHAIN) {
		if (at + 8 > size)
			return 0;
		nr = rs_load_u64(p + at, attrs->swap);
		if (nr > size / 8)
			return 0;
		at += 8 + 8 * nr;
	}
	return at + 4 > size ? 0 : (uint32_t)at;
}

bool rs_perf_trailer_parse(const struct rs_perf_attrs *attrs, const struct rs_perf_attr *a, const uint8_t *p, uint32_t size, uint32_t least,
			   struct rs_perf_sample *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->cpu = RS_PERF_NO_CPU;
	if (least + a->end_all > size)
		return false;
	if (a->end_time) {
		ret->ts = rs_load_u64(p + size - a->end_time, attrs->swap);
		ret->has_time = true;
	}
	if (a->end_cpu)
		ret->cpu = rs_load_u32(p + size - a->end_cpu, attrs->swap);
	return true;
}
