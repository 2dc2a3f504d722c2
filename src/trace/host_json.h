/* SPDX-License-Identifier: GPL-2.0-only */
/* The snapshot inside a recording has one key that is no part of the host: who recorded. */
#ifndef RS_TRACE_HOST_JSON_H
#define RS_TRACE_HOST_JSON_H

#include <stddef.h>
#include <resched/host.h>

/* rs_host_parse_pids() - resched_host_parse(), and the recorder's threads (the caller frees *@pids; NULL when none). */
int rs_host_parse_pids(const char *text, size_t len, struct resched_host **ret, int **pids, unsigned int *nr_pids, struct resched_error *err);

#endif
