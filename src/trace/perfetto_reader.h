/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of the Perfetto reader: perfetto_index.c finds the bundles, perfetto_bundle.c decodes one, perfetto.c merges them. */
#ifndef RS_TRACE_PERFETTO_READER_H
#define RS_TRACE_PERFETTO_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <resched/event.h>

#include "base/map.h"
#include "trace/comms.h"
#include "trace/input.h"
#include "trace/notes.h"
#include "trace/text_event.h"
#include "trace/wire.h"

#define RS_PF_MAX_CPUS 8192u
#define RS_PF_MAX_BUNDLES (1u << 24)
#define RS_PF_MAX_BUNDLE (16u << 20)		/* bytes of one */
#define RS_PF_MAX_PACKET (64u << 20)		/* bytes of one that is looked into as a whole */
#define RS_PF_MAX_HELD (512ull << 20)		/* of all cpus: a small file must not ask for more */
#define RS_PF_KINDS 1024u			/* numbers of ftrace events that are counted apart */
#define RS_PF_RUNTIME (RS_PF_KINDS - 1)		/* our number for sched_stat_runtime, which has none */
#define RS_PF_TEXT 128u

/* Fields of a packet. */
enum rs_pf_packet {
	RS_PF_FTRACE_EVENTS = 1, RS_PF_PROCESS_TREE = 2, RS_PF_CLOCK_SNAPSHOT = 6, RS_PF_TIMESTAMP = 8, RS_PF_SEQUENCE = 10,
	RS_PF_TRACE_CONFIG = 33, RS_PF_FTRACE_STATS = 34, RS_PF_SYNC_MARKER = 36, RS_PF_DROPPED = 42, RS_PF_SYSTEM_INFO = 45,
	RS_PF_COMPRESSED = 50, RS_PF_COMPRESSED_ZSTD = 133,
};

#define RS_PF_BUNDLE_LOST 1u	/* packets were lost before this bundle, or the file is damaged there */

struct rs_pf_bundle { uint64_t off; uint32_t len, flags; };

struct rs_pf_list {
	uint32_t nr, room;
	struct rs_pf_bundle *bundles;
	bool lost;			/* for the next one added */
};

/* What the walk over the file finds. */
struct rs_pf_index {
	struct rs_notes *notes;
	struct rs_comms *comms;		/* names of process trees go to its fall-back table */
	unsigned int nr_lists;
	struct rs_pf_list *lists;	/* by cpu */
	uint32_t nr_bundles;
	struct rs_map sequences;	/* ids of sequences with bundles */
	bool cut;
	bool packed;			/* there are compressed packets; the walk ends at the first */
	bool unpacked;			/* set by the caller: @in is the output of rs_pf_unpack() */
	char release[RS_PF_TEXT], machine[RS_PF_TEXT];
	uint32_t nr_cpus;		/* as the system says */
	uint64_t lost_at_start, lost_at_end;
	bool stats_at_end;
	uint64_t boot_minus_mono, suspended_ns;
	bool clocks_seen;
	uint64_t bad_packets, too_long;
};

/* rs_pf_is() - does the file begin with packets? */
bool rs_pf_is(const struct rs_input *in);
/* rs_pf_index() - walk @in. @x zeroed but for notes and comms; rs_pf_index_release() it. Return: 0; -ENOMEM. */
int rs_pf_index(struct rs_pf_index *x, const struct rs_input *in);
void rs_pf_index_release(struct rs_pf_index *x);
/* rs_pf_unpack() - @in with the compressed packets unpacked, as an unlinked temporary file in @ret. Return: 0; -errno. */
int rs_pf_unpack(const struct rs_input *in, struct rs_input *ret, struct rs_notes *notes, struct resched_error *err);

/* Which of the three orders of a bundle an event comes from; at equal times in this sequence. */
enum rs_pf_run { RS_PF_WAKINGS, RS_PF_EVENTS, RS_PF_SWITCHES, RS_PF_RUNS };

struct rs_pf_item {
	struct resched_event ev;	/* a rename has type COMM; cpu is not set */
	const uint8_t *name[2];		/* inside the bundle: of prev and next, or of the task */
	uint8_t name_len[2];
	bool compact;			/* pid of the previous task, or of the waker, is not told */
	uint8_t strong;			/* bit i: name[i] is what the task is called now */
	uint16_t kind;			/* field number of the event */
	int32_t current;		/* pid that ran, -1 unknown */
	uint32_t raw_state;		/* of a switch */
	uint32_t place;			/* where it stood, when its run must be sorted */
};

struct rs_pf_decoder {
	struct rs_raw_states states;
	uint8_t ctx_of_flags[256];
};

void rs_pf_decoder_init(struct rs_pf_decoder *dec, unsigned int release);

/* One bundle taken apart. Items point into its bytes. */
struct rs_pf_decoded {
	struct rs_pf_item *items;
	uint32_t room, from[RS_PF_RUNS], to[RS_PF_RUNS];
	bool lost, bad;			/* the recorder lost events before it; a part of it cannot be understood */
	uint32_t errors;		/* pages that the recorder could not read */
	uint8_t clock;			/* number of the trace clock */
};

/* rs_pf_decode() - @ret: kept between calls for its room. Return: 0; -ENOMEM. */
int rs_pf_decode(const struct rs_pf_decoder *dec, const uint8_t *data, size_t len, struct rs_pf_decoded *ret);

/* rs_pf_kind_name() - "sched_switch"; NULL for a number without a name here. */
const char *rs_pf_kind_name(unsigned int kind);

#endif
