/* SPDX-License-Identifier: GPL-2.0-only */
/* What a recording without a snapshot still tells of its machine. */
#ifndef RS_TRACE_MINIMAL_HOST_H
#define RS_TRACE_MINIMAL_HOST_H

#include <resched/host.h>

/* rs_uname_release() - the release in "Linux NODE RELEASE ... MACHINE"; allocated; NULL when there is none. */
char *rs_uname_release(const char *uname);

/*
 * rs_minimal_host() - a snapshot of what is known, all else listed as unknown. *@ret stays NULL when nothing is known.
 * Return: 0; -ENOMEM.
 */
int rs_minimal_host(const char *uname, const char *clock, unsigned int nr_cpus, struct resched_host **ret);

#endif
