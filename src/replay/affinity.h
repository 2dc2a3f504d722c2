/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Affinities on another machine. A set all of whose cpus are there stays as it is. Otherwise whole nodes, or whole last-level caches,
 * become those of the same number, and single cpus those of the same number; beyond the last one they begin again at the first.
 */
#ifndef RS_REPLAY_AFFINITY_H
#define RS_REPLAY_AFFINITY_H

#include <resched/host.h>

#include "base/cpulist.h"

struct rs_affinity;

/* rs_affinity_new() - @from, @to: the recorded machine and the other one, borrowed. Return: 0; -ENOMEM. */
int rs_affinity_new(const struct resched_host *from, const struct resched_host *to, struct rs_affinity **ret);
void rs_affinity_free(struct rs_affinity *affinity);
/* rs_affinity_map() - @set on the other machine. Return: whether it had to be changed. */
bool rs_affinity_map(const struct rs_affinity *affinity, struct rs_cpuset *set);

#endif
