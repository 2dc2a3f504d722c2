/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef RS_REPLAY_SERVERS_H
#define RS_REPLAY_SERVERS_H

#include "replay/workload.h"

/*
 * rs_servers_find() - tell requests and answers from other causal sleeps and wakes (servers.c).
 * @workload: rebuilt; every BLOCK that a task ended has rule CAUSAL
 * Return: 0; -ENOMEM.
 */
int rs_servers_find(struct resched_workload *workload);

#endif
