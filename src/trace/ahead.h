/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that read lanes ahead: decompression, taking apart and decoding on several cores. What comes out of a lane, and the warnings
 * beside it, are those of rs_lane_next() in the same order, so that a recording reads the same with any number of threads.
 *
 * A lane has two batches: one is taken out while the other is filled. A lane's records lie in three buffers by turns, of which two
 * batches can need all; memory is that and about 230 KiB a lane.
 */
#ifndef RS_TRACE_AHEAD_H
#define RS_TRACE_AHEAD_H

#include "trace/lane.h"

#define RS_AHEAD_MAX_LANES 256u		/* more are read without threads */

struct rs_ahead;

/*
 * rs_ahead_new() - read @lanes with @nr_threads threads beside the caller's, which helps when it would wait.
 * @lanes: borrowed; no longer the caller's to read until rs_ahead_free(), but for what rs_ahead_next() has told the end of
 * Return: 0; -ENOMEM; -EAGAIN: no thread can be had. Then the lanes are as they were.
 */
int rs_ahead_new(struct rs_lane *const *lanes, unsigned int nr_lanes, unsigned int nr_threads, struct rs_ahead **ret);

/* rs_ahead_next() - as rs_lane_next() of lanes[@lane]. *@ret is the caller's to change, until its next call for this lane.
 * @sh: what came with it is added there: warnings, damaged pages. */
int rs_ahead_next(struct rs_ahead *ahead, unsigned int lane, struct rs_item **ret, struct rs_stream_shared *sh);

void rs_ahead_free(struct rs_ahead *ahead);	/* waits for the threads; accepts NULL */

#endif
