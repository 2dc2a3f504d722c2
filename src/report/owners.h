/* SPDX-License-Identifier: GPL-2.0-only */
/* The containers or units of a host snapshot, and how many of its tasks each has. */
#ifndef RS_REPORT_OWNERS_H
#define RS_REPORT_OWNERS_H

#include <stdbool.h>
#include <resched/host.h>
#include <resched/owner.h>

struct rs_owner { char name[RESCHED_OWNER_LEN]; unsigned int tasks; };
struct rs_owners { unsigned int nr; struct rs_owner *list; };	/* ascending name; the list is the caller's to free() */

/* rs_owners_find() - @host may be NULL; @unit: units of systemd, else containers. Return: 0; -ENOMEM. */
int rs_owners_find(const struct resched_host *host, bool unit, struct rs_owners *ret);

#endif
