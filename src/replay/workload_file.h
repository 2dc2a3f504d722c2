/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The workload as text, resched-workload(5): what writer, reader and check share. The tables below are the format: both sides
 * read them, so that what is written can be read.
 */
#ifndef RS_REPLAY_WORKLOAD_FILE_H
#define RS_REPLAY_WORKLOAD_FILE_H

#include "replay/workload.h"

#include <stddef.h>

#define RS_FILE_MAGIC "resched-workload"
#define RS_FILE_VERSION 1u

#define RS_FILE_MAX_LINE (64u << 20) /* bytes; a snapshot is one line */
#define RS_FILE_MAX_TIME_NS UINT64_C(1000000000000000000) /* sums of a few stay inside 64 bits with sign */
#define RS_FILE_MAX_DELAY_NS 1000000000u
#define RS_FILE_MAX_REPEATS 1000000000u
#define RS_FILE_MIN_PERIOD_NS 1000u

/* What the value of a key is. */
enum rs_key_kind {
	RS_KEY_TIME, /* uint64_t ns; a unit may follow: 3ms */
	RS_KEY_NUMBER, /* uint64_t */
	RS_KEY_U32, /* uint32_t */
	RS_KEY_OFFSET, /* int32_t ns, RS_UNKNOWN where absent */
	RS_KEY_INT, /* int */
	RS_KEY_FLAG, /* uint8_t; the key alone */
	RS_KEY_U16, /* uint16_t */
};

struct rs_key {
	const char *name;
	enum rs_key_kind kind;
	size_t at;
	int64_t least;
	uint64_t greatest;
};
struct rs_keys {
	const struct rs_key *keys;
	unsigned int nr;
};

/* Lines `span`, `timing`, `task`, an operation, `tick`. @at is into resched_workload, the same, rs_program, rs_op, rs_tick_note. */
extern const struct rs_keys rs_span_keys, rs_timing_keys, rs_task_keys, rs_op_keys, rs_tick_keys;

/* Words by number; NULL for a number without one. */
const char *rs_op_word(unsigned int kind);
const char *rs_rule_word(unsigned int rule);
const char *rs_kept_word(unsigned int kept);
const char *rs_move_word(unsigned int how);
const char *rs_birth_word(unsigned int birth);
const char *rs_policy_word(unsigned int policy);
/* The number of @word among those of @word_of, which are 0 .. 15; -1 when there is none. */
int rs_word_number(const char *(*word_of)(unsigned int number), const char *word);

/* The name of rs_op.arg in operations of this kind and rule, and its value when it is not written. */
const char *rs_arg_name(const struct rs_op *op);
uint32_t rs_arg_default(const struct rs_op *op);
#define RS_SLEEP_LETTERS "SDITtPO" /* rs_op.state */

/*
 * rs_workload_check() - can a run take it? For workloads from outside: references, ranges, loops that take no time.
 * @lines: line of each task, to be named in @err; NULL: tasks are named by number
 * Return: 0; -EBADMSG with @err filled.
 */
int rs_workload_check(const struct resched_workload *workload, const char *path, const unsigned long *lines, struct resched_error *err);

/* rs_workload_count() - fill in what info counts: tasks, operations, wakes by rule. */
void rs_workload_count(struct resched_workload *workload);

#endif
