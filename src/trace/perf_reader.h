/* SPDX-License-Identifier: GPL-2.0-only */
/* What the two halves of the perf.data reader share: perf_records.c fills the queue, perf.c empties it. */
#ifndef RS_TRACE_PERF_READER_H
#define RS_TRACE_PERF_READER_H

#include "trace/decode.h"
#include "trace/perf_head.h"
#include "trace/perf_order.h"
#include "trace/perf_stream.h"
#include "trace/reader.h"

#define RS_PERF_WAITING_MAX (96u << 20)		/* bytes of events that wait at most */
#define RS_PERF_COMM_BYTES 16u

/*
 * What waits in the queue. Data: the payload; nothing; u64 count; i32 pid and a name of RS_PERF_COMM_BYTES;
 * i32 thread and i32 parent for the last two.
 */
enum rs_perf_what { RS_PERF_W_PAYLOAD, RS_PERF_W_OTHER, RS_PERF_W_LOST, RS_PERF_W_COMM, RS_PERF_W_FORK, RS_PERF_W_EXIT };

struct rs_perf_reader {
	struct rs_recording rec;
	struct rs_perf_head head;
	struct rs_perf_stream in;
	struct rs_order order;
	struct rs_decoder dec;
	struct rs_comms comms;
	struct resched_event_count *counts;
	bool have_decoder, settled, rename_seen;
	bool fork_records, exit_records;	/* tell forks and exits from perf's own records: there is no tracepoint for it */
	bool ended, finished, any, hurried;
	uint64_t max_ts, round_ts, limit;	/* latest stamp; the same when the last round ended; events before limit may go */
	uint64_t last_sample_ts;
	unsigned int tail_cpu;
	struct resched_event out[RS_DECODE_NAMES + 1];
	int nr_out, at_out;
	uint64_t last_ts;			/* of the event last delivered, and its cpu */
	uint16_t last_cpu;
	bool broken;				/* the data ended in damage: tell every cpu */
	/* what went wrong, counted */
	uint64_t late, late_most_ns, strays, short_samples, short_records, no_time, no_cpu, no_format, throttled, lost_at_end, bad_cpu;
	uint64_t switches, unchained, probed;
	unsigned int top_cpu;			/* highest cpu with an event, plus 1 */
	uint8_t seen[RS_PERF_MAX_CPUS];
	struct { int32_t pid; bool known; } next_on[RS_PERF_MAX_CPUS];	/* who the last switch gave the cpu to */
};

/* rs_perf_start_decoder() - when the formats are known. Return: 0; -ENOMEM. */
int rs_perf_start_decoder(struct rs_perf_reader *r);

/* rs_perf_pump() - read on until more events may go, too many wait, or the end. Return: 0; -ENOMEM. */
int rs_perf_pump(struct rs_perf_reader *r);

#endif
