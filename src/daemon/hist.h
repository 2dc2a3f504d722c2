/* SPDX-License-Identifier: GPL-2.0-only */
/* A histogram of times: eight steps to each power of two from 1 us to 137 s, so that a quantile is right to 6 %. */
#ifndef DAEMON_HIST_H
#define DAEMON_HIST_H

#include <stdint.h>

#define HIST_FIRST_BIT 10u
#define HIST_STEPS 8u
#define HIST_BUCKETS (27u * HIST_STEPS + 1u)

struct hist { uint64_t count, sum_ns, max_ns; uint32_t buckets[HIST_BUCKETS]; };

void hist_add(struct hist *hist, uint64_t ns);
void hist_merge(struct hist *into, const struct hist *from);
/* hist_quantile() - nearest rank; the upper edge of its bucket, at most the maximum. 0 when empty. */
uint64_t hist_quantile(const struct hist *hist, double quantile);
void hist_clear(struct hist *hist);

#endif
