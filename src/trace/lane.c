// SPDX-License-Identifier: GPL-2.0-only
#include "trace/lane.h"

#include <errno.h>
#include <string.h>

void rs_lane_init(struct rs_lane *lane, const struct rs_decoder *dec, struct rs_stream_shared *shared, const struct rs_dat_cpu *cpu)
{
	memset(lane, 0, sizeof(*lane));
	lane->dec = dec;
	rs_stream_init(&lane->in, shared, cpu);
}

void rs_lane_release(struct rs_lane *lane)
{
	rs_stream_release(&lane->in);
	rs_stream_shared_release(&lane->own);
}

void rs_item_set_lost(struct rs_item *item, uint64_t count)
{
	item->kind = NULL;
	item->data = NULL;
	item->len = 0;
	item->ev.type = RESCHED_EV_LOST;
	item->ev.pid = 0;
	item->ev.ctx = 0;
	memset(&item->ev.sw, 0, sizeof(item->ev) - offsetof(struct resched_event, sw));
	item->ev.lost.count = count;
}

/* The next record is at @ts, before one that was read already; by much, this tells of damage before it. */
static void note_backwards(struct rs_lane *lane, uint64_t ts)
{
	uint64_t last = lane->last_ts;

	if (last - ts <= RS_STREAM_SLACK_NS || lane->told_backwards)
		return;
	lane->told_backwards = true;
	rs_note_damage(lane->in.shared->notes, "CPU%u: damaged time stamps: an event at %llu.%09llu s comes after one at %llu.%09llu s", lane->in.cpu,
		       (unsigned long long)(ts / 1000000000), (unsigned long long)(ts % 1000000000), (unsigned long long)(last / 1000000000),
		       (unsigned long long)(last % 1000000000));
}

static inline void decode(struct rs_lane *lane, const uint8_t *data, uint32_t len, struct rs_item *ret)
{
	ret->kind = rs_decoder_kind(lane->dec, data, len);
	ret->data = data;
	ret->len = len;
	ret->too_short = !rs_decode(lane->dec, ret->kind, data, len, &ret->ev);
	lane->seen = true;
}

int rs_lane_next(struct rs_lane *lane, struct rs_item *ret)
{
	const uint8_t *data = lane->held;
	uint32_t len = lane->held_len;
	uint64_t ts, lost;

	ret->backwards = ret->too_short = false;
	if (data) {
		lane->held = NULL;
		ret->ev.ts_ns = lane->last_ts;
		ret->ev.cpu = (uint16_t)lane->in.cpu;
		decode(lane, data, len, ret);
		return 1;
	}
	data = rs_stream_next(&lane->in, &len);
	if (!data) {
		lane->ended_early = lane->in.cut || lane->in.lost_by_damage;
		lane->lost_after = lane->seen ? lane->in.lost : 0;
		return lane->in.no_memory ? -ENOMEM : 0;
	}
	ts = lane->times ? rs_times_of(lane->times, lane->in.cpu, lane->in.ts) : lane->in.ts;
	if (ts < lane->last_ts) {
		note_backwards(lane, ts);
		ret->backwards = true;
		ts = lane->last_ts;
	}
	lane->last_ts = ts;
	ret->ev.ts_ns = ts;
	ret->ev.cpu = (uint16_t)lane->in.cpu;
	if (lane->in.lost) {
		bool inside = lane->seen || lane->in.lost_by_damage;

		lost = lane->in.lost;
		lane->in.lost = 0;
		lane->in.lost_by_damage = false;
		if (inside) {
			lane->held = data;
			lane->held_len = len;
			rs_item_set_lost(ret, lost == RS_PAGE_LOST_UNKNOWN ? 0 : lost);
			return 1;
		}
		lane->overwritten = true;
	}
	decode(lane, data, len, ret);
	return 1;
}
