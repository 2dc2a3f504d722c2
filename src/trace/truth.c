// SPDX-License-Identifier: GPL-2.0-only
#include "trace/truth.h"

#include <stddef.h>
#include <string.h>

#include "trace/input.h"

/* Name in the recording, and place and size in struct resched_truth. */
static const struct {
	const char *name;
	uint16_t at, size;
} fields[RS_TRUTH_FIELDS] = {
#define FIELD(name, member) { name, offsetof(struct resched_truth, member), sizeof(((struct resched_truth *)0)->member) }
	FIELD("row", row),
	FIELD("level", level),
	FIELD("pid", pid),
	FIELD("cpu", cpu),
	FIELD("on_rq", on_rq),
	FIELD("delayed", delayed),
	FIELD("rel", rel),
	FIELD("custom", custom),
	FIELD("has", has),
	FIELD("prio", prio),
	FIELD("policy", policy),
	FIELD("nr", nr),
	FIELD("group", group),
	FIELD("vruntime", vruntime),
	FIELD("deadline", deadline),
	FIELD("vlag", vlag),
	FIELD("slice", slice_ns),
	FIELD("weight", weight),
	FIELD("sum_exec", sum_exec_ns),
	FIELD("exec_start", exec_start_ns),
	FIELD("z", z),
	FIELD("sum_wv", sum_wv),
	FIELD("sum_w", sum_w),
	FIELD("load", load),
	FIELD("clock", clock_ns),
	FIELD("curr_vruntime", curr_vruntime),
	FIELD("curr_weight", curr_weight),
#define LOAD(prefix, member) \
	FIELD(prefix "_updated", member.updated_ns), FIELD(prefix "_load_sum", member.load_sum), FIELD(prefix "_load_avg", member.load_avg), \
	FIELD(prefix "_runnable_sum", member.runnable_sum), FIELD(prefix "_runnable_avg", member.runnable_avg), \
	FIELD(prefix "_util_sum", member.util_sum), FIELD(prefix "_period", member.period), FIELD(prefix "_util_avg", member.util_avg)
	LOAD("se", entity_load),
	LOAD("own", own_load),
	FIELD("contrib", contrib),
	FIELD("published", published_ns),
	FIELD("total", total),
	FIELD("clock_pelt", clock_pelt_ns),
#undef LOAD
#undef FIELD
};

uint32_t rs_truth_bind(struct rs_truth_format *ret, struct tep_event *format)
{
	uint32_t end = 0;

	for (unsigned int i = 0; i < RS_TRUTH_FIELDS; i++) {
		struct rs_field *f = &ret->f[i];

		if (!rs_format_field(format, fields[i].name, f) || f->size != fields[i].size || f->is_array || f->is_dynamic || f->is_relative)
			memset(f, 0, sizeof(*f));
		if ((uint32_t)f->offset + f->size > end)
			end = (uint32_t)f->offset + f->size;
	}
	return end;
}

void rs_truth_load(const struct rs_truth_format *format, const uint8_t *data, bool swap, struct resched_truth *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (unsigned int i = 0; i < RS_TRUTH_FIELDS; i++) {
		const uint8_t *from = data + format->f[i].offset;
		uint8_t *to = (uint8_t *)ret + fields[i].at;
		uint64_t v64;
		uint32_t v32;
		uint16_t v16;

		switch (format->f[i].size) {
		case 8:
			v64 = rs_load_u64(from, swap);
			memcpy(to, &v64, sizeof(v64));
			break;
		case 4:
			v32 = rs_load_u32(from, swap);
			memcpy(to, &v32, sizeof(v32));
			break;
		case 2:
			v16 = rs_load_u16(from, swap);
			memcpy(to, &v16, sizeof(v16));
			break;
		case 1:
			*to = *from;
			break;
		default:
			break;
		}
	}
}

uint64_t resched_truth_v(const struct resched_truth *t)
{
	uint64_t w = t->curr_weight >> 10, load = t->sum_w;
	int64_t sum = t->sum_wv;

	if (t->curr_weight && w < 2)
		w = 2;
	/* unsigned, so that a damaged recording wraps instead of overflowing */
	sum = (int64_t)((uint64_t)sum + w * (t->curr_vruntime - t->z));
	load += w;
	if (!load || load > INT64_MAX)
		return t->z;
	if (sum < 0 && sum % (int64_t)load)	/* rounds down */
		return t->z + (uint64_t)(sum / (int64_t)load) - 1;
	return t->z + (uint64_t)(sum / (int64_t)load);
}
