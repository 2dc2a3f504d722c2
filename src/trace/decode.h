/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From the bytes of a record to a struct resched_event. Fields are looked up once an event kind, by name, in the
 * recording's own formats; decoding is then loads at known offsets.
 */
#ifndef RS_TRACE_DECODE_H
#define RS_TRACE_DECODE_H

#include <stdbool.h>
#include <stdint.h>
#include <resched/event.h>
#include <resched/names.h>

#include "base/map.h"
#include "trace/comms.h"
#include "trace/dat.h"
#include "trace/format.h"
#include "trace/truth.h"

enum rs_record {
	RS_REC_OTHER, RS_REC_SWITCH, RS_REC_WAKING, RS_REC_WAKEUP, RS_REC_WAKEUP_NEW, RS_REC_MIGRATE, RS_REC_FORK, RS_REC_EXEC, RS_REC_EXIT,
	RS_REC_PRIO, RS_REC_RUNTIME, RS_REC_RENAME, RS_REC_TRUTH, RS_REC_START, RS_REC_IRQ_ENTRY, RS_REC_IRQ_EXIT,
	RS_REC_SOFTIRQ_ENTRY, RS_REC_SOFTIRQ_EXIT, RS_REC_NR,
};

#define RS_DECODE_FIELDS 7

/* rs_record_is_sched() - does it tell of tasks? A recording without any such event is not one of scheduling. */
static inline bool rs_record_is_sched(unsigned int record) { return record != RS_REC_OTHER && record < RS_REC_IRQ_ENTRY; }

/* One kind of event of the recording. */
struct rs_kind {
	const char *name;		/* borrowed from the frame */
	uint64_t count;
	uint8_t record;			/* enum rs_record */
	uint8_t ctx;			/* RESCHED_CTX_* that all such events have */
	uint32_t min_len;		/* of a record with all its fields */
	struct rs_field f[RS_DECODE_FIELDS];	/* what each is: decode.c, enum *_field */
};

struct rs_decoder {
	bool swap;
	struct rs_field type, flags, pid;	/* common to all events */
	bool common_bound;		/* they were found in a format; else the kernel's layout is taken */
	uint32_t common_len;
	uint8_t ctx_of_flags[256];	/* RESCHED_CTX_* of common_flags */
	struct rs_states states;
	bool states_understood;
	unsigned int nr_kinds;		struct rs_kind *kinds;	/* [0] = ids without a format */
	uint16_t *kind_of_id;		/* 65536 entries */
	struct rs_truth_format truth, start;	/* of RS_REC_TRUTH, RS_REC_START */
	struct rs_map own;		/* pids of the recorder */
};

/* rs_ctx_of_flags() - RESCHED_CTX_* of common_flags. @lazy_flag: the kernel has the flag of a lazy reschedule (since 6.13). */
uint8_t rs_ctx_of_flags(uint8_t flags, bool lazy_flag);

/* rs_decoder_init() - @dec zeroed; @dat must outlive it. Return: 0; -ENODATA: no sched event has a format; -ENOMEM. */
int rs_decoder_init(struct rs_decoder *dec, const struct rs_dat *dat, bool lazy_flag);
void rs_decoder_release(struct rs_decoder *dec);

/* What a record is; never NULL. */
static inline struct rs_kind *rs_decoder_kind(const struct rs_decoder *dec, const uint8_t *data, uint32_t len)
{
	if (len < dec->common_len)
		return &dec->kinds[0];
	return &dec->kinds[dec->kind_of_id[rs_load_u16(data + dec->type.offset, dec->swap)]];
}

/* rs_decode() - everything of *@ev but ts_ns and cpu. A rename has type COMM; rs_decode_names() tells whether it is news.
 * Return: false: the record is shorter than its format says. */
bool rs_decode(const struct rs_decoder *dec, const struct rs_kind *kind, const uint8_t *data, uint32_t len, struct resched_event *ev);

#define RS_DECODE_NAMES 4	/* most COMM events one record can bring */

/*
 * rs_decode_names() - the COMM events to tell before the event decoded from this record, into @out; a rename becomes one of them
 * and sets *@ret_swallow: the record itself is then told. Return: their number; -ENOMEM.
 */
int rs_decode_names(struct rs_decoder *dec, struct rs_comms *comms, const struct rs_kind *kind, const uint8_t *data, uint32_t len,
		    const struct resched_event *ev, struct resched_event *out, bool *ret_swallow, bool *rename_seen);

/* The raw prev_state of a switch record, and its prev_pid; false when it is no switch. */
bool rs_decode_raw_state(const struct rs_decoder *dec, const struct rs_kind *kind, const uint8_t *data, uint32_t len, int32_t *ret_pid, uint64_t *ret_raw);

#endif
