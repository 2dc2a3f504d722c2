/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages of the kernel's ring buffer as per_cpu/cpuN/trace_pipe_raw gives them, beside the format files that tell what is in them:
 * a folder, or a tar of one. Files are known by their content and by the cpu in their path:
 *     .../header_page                        "field: u64 timestamp; ..."
 *     .../sched_switch/format                "name: sched_switch\nID: ..."; in any folder, by any name
 *     .../cpuN/trace_pipe_raw, .../cpuN      pages of cpu N
 *     saved_cmdlines, trace_clock            optional, as tracefs has them
 * They are presented as the frame of a trace.dat, so that everything behind it is shared.
 */
#ifndef RS_TRACE_RAW_H
#define RS_TRACE_RAW_H

#include "trace/dat.h"

struct rs_raw;

/* rs_raw_is_tar() - does the file begin as a tar? */
bool rs_raw_is_tar(const struct rs_input *in);

/*
 * rs_raw_open() - fill @dat (zeroed; rs_dat_release() it) from the tar @in, or from the folder @dir when @in is NULL.
 * @ret: on success to rs_raw_free(), after the last use of @dat
 * Return: 0; -EBADMSG when needed files are not there (@err names them); -errno.
 */
int rs_raw_open(const struct rs_input *in, const char *dir, struct rs_dat *dat, struct rs_notes *notes, struct rs_raw **ret,
		struct resched_error *err);
void rs_raw_free(struct rs_raw *raw);

#endif
