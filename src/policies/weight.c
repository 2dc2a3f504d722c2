// SPDX-License-Identifier: GPL-2.0-only
#include "policies/weight.h"

#include <assert.h>

#define RS_IDLE_WEIGHT	3u
#define RS_IDLE_INV	1431655765u

/*
 * Weight and reciprocal by nice, -20 first (sched_prio_to_weight, sched_prio_to_wmult; kernel/sched/core.c). The reciprocals
 * are facts to be copied: more than a dozen are neither the floor nor the nearest integer of 2^32 / weight.
 */
static const struct { uint32_t weight, inv; } nice_table[40] = {
	{ 88761, 48388 },	{ 71755, 59856 },	{ 56483, 76040 },	{ 46273, 92818 },	/* -20 */
	{ 36291, 118348 },	{ 29154, 147320 },	{ 23254, 184698 },	{ 18705, 229616 },	/* -16 */
	{ 14949, 287308 },	{ 11916, 360437 },	{ 9548, 449829 },	{ 7620, 563644 },	/* -12 */
	{ 6100, 704093 },	{ 4904, 875809 },	{ 3906, 1099582 },	{ 3121, 1376151 },	/* -8 */
	{ 2501, 1717300 },	{ 1991, 2157191 },	{ 1586, 2708050 },	{ 1277, 3363326 },	/* -4 */
	{ 1024, 4194304 },	{ 820, 5237765 },	{ 655, 6557202 },	{ 526, 8165337 },	/* 0 */
	{ 423, 10153587 },	{ 335, 12820798 },	{ 272, 15790321 },	{ 215, 19976592 },	/* 4 */
	{ 172, 24970740 },	{ 137, 31350126 },	{ 110, 39045157 },	{ 87, 49367440 },	/* 8 */
	{ 70, 61356676 },	{ 56, 76695844 },	{ 45, 95443717 },	{ 36, 119304647 },	/* 12 */
	{ 29, 148102320 },	{ 23, 186737708 },	{ 18, 238609294 },	{ 15, 286331153 },	/* 16 */
};

struct rs_load rs_load_of_task(int nice, enum rs_sched_policy policy)
{
	assert(nice >= -20 && nice <= 19);
	if (policy == RS_SCHED_IDLE)
		return (struct rs_load){ .weight = RS_IDLE_WEIGHT << 10, .inv = RS_IDLE_INV };
	return (struct rs_load){ .weight = (uint64_t)nice_table[nice + 20].weight << 10, .inv = nice_table[nice + 20].inv };
}

#define MIN_SHARES	(UINT64_C(2) << 10)
#define MAX_SHARES	(UINT64_C(1) << 28)
#define WEIGHT_DEFAULT	100u		/* cpu.weight that stands for nice 0 */

uint64_t rs_shares_of_weight(uint64_t weight)
{
	uint64_t shares = (weight * 1024 + WEIGHT_DEFAULT / 2) / WEIGHT_DEFAULT << 10;

	if (shares < MIN_SHARES)
		return MIN_SHARES;
	return shares > MAX_SHARES ? MAX_SHARES : shares;
}

uint64_t rs_shares_of_nice(int nice)
{
	return rs_load_of_task(nice, RS_SCHED_NORMAL).weight;
}

/* The reciprocal of a weight that has none cached (__update_inv_weight()). */
static uint32_t inv_of(uint64_t scaled)
{
	uint64_t weight = rs_load_down(scaled);

	if (weight >= UINT32_MAX)
		return 1;
	if (!weight)
		return UINT32_MAX;
	return (uint32_t)(UINT32_MAX / weight);
}

/* Cut @fact to 32 significant bits and shorten the shift to match. */
static uint64_t normalise(uint64_t fact, unsigned int *shift)
{
	uint64_t high = fact >> 32;

	if (high) {
		unsigned int bits = 64u - (unsigned int)__builtin_clzll(high);

		*shift -= bits;
		fact >>= bits;
	}
	return fact;
}

uint64_t rs_calc_delta(uint64_t delta, uint64_t weight, const struct rs_load *load)
{
	unsigned int shift = 32;
	uint64_t fact = normalise(rs_load_down(weight), &shift);
	uint32_t inv = load->inv ? load->inv : inv_of(load->weight);

	fact = normalise((uint64_t)(uint32_t)fact * inv, &shift);
	return (uint64_t)(((unsigned __int128)delta * (uint32_t)fact) >> shift);
}
