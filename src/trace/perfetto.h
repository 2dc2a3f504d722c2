/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Perfetto traces (protos/perfetto/trace/trace.proto): a stream of packets, of which those with ftrace events, the system's
 * description, process trees, clock snapshots and loss counters are read. Each ftrace bundle holds events of one cpu in order of
 * time; bundles of several cpus lie one after the other, in rounds. The file is walked once to note where the bundles of each cpu
 * are (16 bytes a bundle), then one bundle a cpu is held and the cpus are merged.
 */
#ifndef RS_TRACE_PERFETTO_H
#define RS_TRACE_PERFETTO_H

#include "trace/reader.h"

extern const struct rs_reader_ops rs_perfetto_ops;

#endif
