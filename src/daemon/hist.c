// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/hist.h"

#include <math.h>
#include <string.h>

/* Bucket 0 is all below 1 us. */
static unsigned int bucket_of(uint64_t ns)
{
	unsigned int bit, idx;

	if (ns >> HIST_FIRST_BIT == 0)
		return 0;
	bit = 63u - (unsigned int)__builtin_clzll(ns);
	idx = 1 + (bit - HIST_FIRST_BIT) * HIST_STEPS + (unsigned int)(ns >> (bit - 3) & (HIST_STEPS - 1));
	return idx < HIST_BUCKETS ? idx : HIST_BUCKETS - 1;
}

static uint64_t upper_edge(unsigned int bucket)
{
	unsigned int bit, step;

	if (!bucket)
		return 1ull << HIST_FIRST_BIT;
	bit = HIST_FIRST_BIT + (bucket - 1) / HIST_STEPS;
	step = (bucket - 1) % HIST_STEPS;
	return (1ull << bit) + ((uint64_t)(step + 1) << (bit - 3));
}

void hist_add(struct hist *hist, uint64_t ns)
{
	hist->count++;
	hist->sum_ns += ns;
	if (ns > hist->max_ns)
		hist->max_ns = ns;
	hist->buckets[bucket_of(ns)]++;
}

void hist_merge(struct hist *into, const struct hist *from)
{
	if (!from->count)
		return;
	into->count += from->count;
	into->sum_ns += from->sum_ns;
	if (from->max_ns > into->max_ns)
		into->max_ns = from->max_ns;
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		into->buckets[i] += from->buckets[i];
}

uint64_t hist_quantile(const struct hist *hist, double quantile)
{
	uint64_t rank = (uint64_t)ceil(quantile * (double)hist->count), seen = 0;

	if (!hist->count)
		return 0;
	for (unsigned int i = 0; i < HIST_BUCKETS; i++) {
		seen += hist->buckets[i];
		if (seen >= rank && seen)
			return i < HIST_BUCKETS - 1 && upper_edge(i) < hist->max_ns ? upper_edge(i) : hist->max_ns;
	}
	return hist->max_ns;
}

void hist_clear(struct hist *hist)
{
	if (hist->count)
		memset(hist, 0, sizeof(*hist));
}
