/* SPDX-License-Identifier: GPL-2.0-only */
/* perf.data: files and pipes of perf record and perf sched record, and those of simpleperf. */
#ifndef RS_TRACE_PERF_H
#define RS_TRACE_PERF_H

#include "trace/reader.h"

extern const struct rs_reader_ops rs_perf_ops;

#endif
