/* SPDX-License-Identifier: GPL-2.0-only */
/* Decoding of resched:sched_truth, an event with more fields than a struct resched_event holds. */
#ifndef RS_TRACE_TRUTH_H
#define RS_TRACE_TRUTH_H

#include <stdbool.h>
#include <stdint.h>

#include <resched/truth.h>

#include "trace/format.h"

#define RS_TRUTH_FIELDS 47

/* Where the fields are; size 0: the format has none, and the row says 0. */
struct rs_truth_format { struct rs_field f[RS_TRUTH_FIELDS]; };

/* rs_truth_bind() - Return: bytes a record must have for all its fields. */
uint32_t rs_truth_bind(struct rs_truth_format *ret, struct tep_event *format);

/* rs_truth_load() - @data has at least the bytes that rs_truth_bind() gave. */
void rs_truth_load(const struct rs_truth_format *format, const uint8_t *data, bool swap, struct resched_truth *ret);

#endif
