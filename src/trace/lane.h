/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One cpu of a trace.dat: the records of its stream, decoded, in time order, with a loss before the record that comes after one.
 * Touches nothing outside itself but the decoder, which it only reads, so that lanes may be read by different threads.
 */
#ifndef RS_TRACE_LANE_H
#define RS_TRACE_LANE_H

#include "trace/decode.h"
#include "trace/stream.h"

struct rs_item {
	struct resched_event ev;
	struct rs_kind *kind;		/* NULL: ev is a LOST */
	const uint8_t *data;		/* the record; NULL of a LOST */
	uint32_t len;
	bool backwards;			/* its stamp was before the last one, which it got */
	bool too_short;			/* its format says that it is longer */
};

struct rs_lane {
	struct rs_stream in;
	struct rs_stream_shared own;	/* what in.shared is while other threads read other lanes */
	const struct rs_decoder *dec;
	const struct rs_times *times;	/* of stamps; NULL: they are times */
	const uint8_t *held;		/* a record whose loss was told first */
	uint32_t held_len;
	uint64_t last_ts;
	bool seen;			/* a record was read */
	bool overwritten;		/* there was more before its first record */
	bool ended_early;
	uint64_t lost_after;		/* at the end: events lost behind the last record, as rs_stream.lost */
	bool told_backwards;
};

void rs_lane_init(struct rs_lane *lane, const struct rs_decoder *dec, struct rs_stream_shared *shared, const struct rs_dat_cpu *cpu);
void rs_lane_release(struct rs_lane *lane);

/* rs_lane_next() - Return: 1, the data of *@ret valid until the next call (longer when lane->in.rotates); 0 at the end; -ENOMEM. */
int rs_lane_next(struct rs_lane *lane, struct rs_item *ret);

/* rs_item_set_lost() - the event becomes a loss of @count (0: unknown) events. */
void rs_item_set_lost(struct rs_item *item, uint64_t count);

#endif
