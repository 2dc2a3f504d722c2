/* SPDX-License-Identifier: GPL-2.0-only */
/* What of the host changed while it was recorded, by reading it again at the end. What changed and changed back is not seen. */
#ifndef RS_CAPTURE_HOST_CHANGES_H
#define RS_CAPTURE_HOST_CHANGES_H

#include <resched/host.h>

#include "capture/dat_writer.h"

/* rs_host_changes() - one line a kind of change, each ended by a newline, into @text; empty when nothing did. */
void rs_host_changes(const struct resched_host *before, const struct resched_host *after, struct rs_datw_buf *text);

/*
 * rs_host_change_rows() - the same one by one, and the command lines of processes that are new or have loaded another program, behind
 * the changes that @ret has, up to @max of them.
 * Return: how many more there would have been, or found no memory.
 */
unsigned int rs_host_change_rows(const struct resched_host *before, const struct resched_host *after, unsigned int max, struct resched_host *ret);

#endif
