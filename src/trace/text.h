/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traces as text: what the kernel prints (`trace`, `trace_pipe`), `trace-cmd report`, `perf script`, systrace HTML.
 *
 * One pass in constant memory: a block of lines, a window of events in which they are put in order, and names. A line is
 * recognised by its shape alone, so that headers may be missing and tools may be mixed.
 */
#ifndef RS_TRACE_TEXT_H
#define RS_TRACE_TEXT_H

#include "trace/reader.h"

extern const struct rs_reader_ops rs_text_ops;

#endif
