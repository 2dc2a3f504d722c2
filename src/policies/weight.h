/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Weights and the fixed-point arithmetic that turns run time into virtual time; shared by every fair policy.
 *
 * Two scales: an entity carries the weight scaled up by 1024 (nice 0 = 1048576); sums of an EEVDF queue and the weights shown to
 * people are scaled down (nice 0 = 1024). Values of the two must not be mixed.
 */
#ifndef RS_POLICIES_WEIGHT_H
#define RS_POLICIES_WEIGHT_H

#include <stdint.h>
#include "policies/policy.h"

#define RS_NICE0_LOAD	1048576u	/* scaled weight of nice 0 */

/* A divisor of __calc_delta(): a weight and its cached reciprocal. */
struct rs_load {
	uint64_t weight;	/* scaled */
	uint32_t inv;		/* about 2^32 / (weight >> 10); 0 = compute it */
};

/* rs_load_of_task() - weight of a task: the table by nice, or 3 for SCHED_IDLE whatever its nice (set_load_weight()). */
struct rs_load rs_load_of_task(int nice, enum rs_sched_policy policy);

/* rs_load_down() - scaled weight to plain: never below 2 unless 0 (scale_load_down()). */
static inline uint64_t rs_load_down(uint64_t weight)
{
	if (!weight)
		return 0;
	return weight >> 10 > 2 ? weight >> 10 : 2;
}

/*
 * rs_calc_delta() - @delta * @weight / @load->weight without a division.
 * Rounds down twice, and drops the low bits of the factor as the kernel does: at or slightly below the exact value.
 * Kernel: __calc_delta(), kernel/sched/fair.c, 5.4 to 6.18 (older releases shift bit by bit, with the same result).
 */
uint64_t rs_calc_delta(uint64_t delta, uint64_t weight, const struct rs_load *load);

/* rs_calc_delta_fair() - real ns to virtual ns; the identity for exactly nice 0 (calc_delta_fair()). */
static inline uint64_t rs_calc_delta_fair(uint64_t delta, const struct rs_load *load)
{
	return load->weight == RS_NICE0_LOAD ? delta : rs_calc_delta(delta, RS_NICE0_LOAD, load);
}

/* Virtual times wrap: is @a before @b? */
static inline int rs_vtime_before(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) < 0;
}

/* Products that wrap as the kernel's do, without undefined behaviour. */
static inline int64_t rs_mul_wrap(int64_t a, uint64_t b)
{
	return (int64_t)((uint64_t)a * b);
}

#endif
