/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events a perf.data was recorded with (struct perf_event_attr of include/uapi/linux/perf_event.h), which of them a record
 * belongs to, and where in a record its time, cpu and payload are.
 */
#ifndef RS_TRACE_PERF_ATTR_H
#define RS_TRACE_PERF_ATTR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/input.h"

#define RS_PERF_MAX_ATTRS 4096u
#define RS_PERF_MAX_IDS (1u << 20)
#define RS_PERF_MAX_CPUS 8192u
#define RS_PERF_NO_CPU UINT32_MAX

#define RS_PERF_TYPE_TRACEPOINT 2u

/* What a sample holds, in the order in which it is written but for IDENTIFIER, which is first. */
enum rs_perf_sample_bit {
	RS_PERF_S_IP = 1u << 0, RS_PERF_S_TID = 1u << 1, RS_PERF_S_TIME = 1u << 2, RS_PERF_S_ADDR = 1u << 3, RS_PERF_S_READ = 1u << 4,
	RS_PERF_S_CALLCHAIN = 1u << 5, RS_PERF_S_ID = 1u << 6, RS_PERF_S_CPU = 1u << 7, RS_PERF_S_PERIOD = 1u << 8,
	RS_PERF_S_STREAM_ID = 1u << 9, RS_PERF_S_RAW = 1u << 10, RS_PERF_S_IDENTIFIER = 1u << 16,
};

struct rs_perf_attr {
	uint32_t type;
	uint64_t config, sample_type, read_format;
	bool sample_id_all, has_clockid;
	int32_t clockid;
	char *name;			/* "sched:sched_switch"; NULL when the file does not tell */
	uint64_t count;			/* samples that are not counted by the kind of their payload */
	/* offsets in a sample from its header's end on; -1 = not there */
	int16_t at_id, at_time, at_cpu, at_fixed_end;
	/* bytes before the end of a record that is no sample; 0 = not there */
	uint16_t end_id, end_time, end_cpu, end_all;
};

struct rs_perf_attrs {
	bool swap, big;
	unsigned int nr, room;			struct rs_perf_attr *list;
	uint32_t id_mask, nr_ids;		struct rs_perf_id *ids;	/* open addressing */
	bool mixed;				/* events disagree where the id is */
	bool any_raw, any_tracepoint;
	uint64_t last_id;	/* of a sample, and its attribute plus 1 (0 = none): samples of one event come in a row */
	uint32_t last_attr;
};

struct rs_perf_id { uint64_t id; uint32_t attr; uint32_t cpu; };	/* attr UINT32_MAX = empty; cpu may be RS_PERF_NO_CPU */

struct rs_perf_sample {
	uint64_t ts;
	uint32_t cpu;			/* RS_PERF_NO_CPU: not told */
	bool has_time;
	const uint8_t *raw;		/* NULL: none */
	uint32_t raw_len;
};

void rs_perf_attrs_release(struct rs_perf_attrs *attrs);

/* rs_perf_attrs_add() - an attribute of @len bytes. Return: its index; -EBADMSG; -ENOMEM. */
int rs_perf_attrs_add(struct rs_perf_attrs *attrs, const uint8_t *p, size_t len);

/* rs_perf_attrs_add_id() - samples with @id belong to attribute @attr. Return: 0; -EBADMSG: too many; -ENOMEM. */
int rs_perf_attrs_add_id(struct rs_perf_attrs *attrs, uint64_t id, unsigned int attr);

/* rs_perf_attrs_find() - the entry of an id; NULL: unknown. */
struct rs_perf_id *rs_perf_attrs_find(const struct rs_perf_attrs *attrs, uint64_t id);

/* The attribute of a record whose header of 8 bytes is at @p; NULL: of none we know. */
struct rs_perf_attr *rs_perf_attrs_of_sample_slow(struct rs_perf_attrs *attrs, const uint8_t *p, uint32_t size);
struct rs_perf_attr *rs_perf_attrs_of_other(struct rs_perf_attrs *attrs, const uint8_t *p, uint32_t size);

static inline struct rs_perf_attr *rs_perf_attrs_of_sample(struct rs_perf_attrs *attrs, const uint8_t *p, uint32_t size)
{
	if (attrs->last_attr && size >= 8 + 8 + (uint32_t)attrs->list[0].at_id &&
	    rs_load_u64(p + 8 + attrs->list[0].at_id, attrs->swap) == attrs->last_id)
		return &attrs->list[attrs->last_attr - 1];
	return rs_perf_attrs_of_sample_slow(attrs, p, size);
}

/* Where RAW begins behind READ and CALLCHAIN, from the record's header on; 0: the record is too short. */
uint32_t rs_perf_raw_offset(const struct rs_perf_attrs *attrs, const struct rs_perf_attr *attr, const uint8_t *p, uint32_t size);

/* rs_perf_sample_parse() - Return: false when the record is shorter than what it should hold. */
static inline bool rs_perf_sample_parse(const struct rs_perf_attrs *attrs, const struct rs_perf_attr *a, const uint8_t *p, uint32_t size,
					struct rs_perf_sample *ret)
{
	uint32_t at = 8 + (uint32_t)a->at_fixed_end;

	ret->raw = NULL;
	ret->raw_len = 0;
	ret->has_time = a->at_time >= 0;
	ret->cpu = RS_PERF_NO_CPU;
	if (at > size)
		return false;
	ret->ts = ret->has_time ? rs_load_u64(p + 8 + a->at_time, attrs->swap) : 0;
	if (a->at_cpu >= 0)
		ret->cpu = rs_load_u32(p + 8 + a->at_cpu, attrs->swap);
	if (!(a->sample_type & RS_PERF_S_RAW))
		return true;
	if (a->sample_type & (RS_PERF_S_READ | RS_PERF_S_CALLCHAIN))
		at = rs_perf_raw_offset(attrs, a, p, size);
	if (!at || at + 4 > size)
		return false;
	ret->raw_len = rs_load_u32(p + at, attrs->swap);
	ret->raw = p + at + 4;
	return ret->raw_len <= size - at - 4;
}

/* rs_perf_trailer_parse() - the same of the ids at the end of a record that is no sample, from byte @least on. */
bool rs_perf_trailer_parse(const struct rs_perf_attrs *attrs, const struct rs_perf_attr *attr, const uint8_t *p, uint32_t size,
			   uint32_t least, struct rs_perf_sample *ret);

#endif
