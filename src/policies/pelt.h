/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Per-entity load tracking: averages of how much an entity or a queue was runnable and ran, decaying by half every 32 periods of about
 * a millisecond. Policies use them for one thing, the weight of a group on several cpus (group.h).
 *
 * Kernel: kernel/sched/pelt.c, sched-pelt.h. Departures: the clock is the task clock, as on a cpu of full capacity.
 */
#ifndef RS_POLICIES_PELT_H
#define RS_POLICIES_PELT_H

#include <stdbool.h>
#include <stdint.h>

#define RS_PELT_MAX		47742u			/* LOAD_AVG_MAX: the sum of an endless load of 1 */
#define RS_PELT_MIN_DIVIDER	(RS_PELT_MAX - 1024u)	/* PELT_MIN_DIVIDER */

/* struct sched_avg */
struct rs_pelt {
	uint64_t last_update;		/* ns; 0 = attached to no queue */
	uint64_t load_sum, runnable_sum;
	uint32_t util_sum, period_contrib;	/* period_contrib: units of 1024 ns into the current period, 0..1023 */
	uint64_t load_avg, runnable_avg, util_avg;
};

/* rs_pelt_decay() - @value as @periods later: times y^periods, y^32 = 1/2 (decay_load()). */
uint64_t rs_pelt_decay(uint64_t value, uint64_t periods);

/*
 * rs_pelt_update() - bring the sums up to @now_ns.
 * @load, @runnable, @running: what held since the last update. Without load nothing counts.
 * Return: whether a period ended, so that the averages are due (___update_load_sum()).
 */
bool rs_pelt_update(struct rs_pelt *pelt, uint64_t now_ns, uint64_t load, uint64_t runnable, bool running);

/* rs_pelt_average() - averages from sums; @weight multiplies the load (___update_load_avg()). */
void rs_pelt_average(struct rs_pelt *pelt, uint64_t weight);

/* rs_pelt_divider() - what the sums of a full load would be now (get_pelt_divider()). */
static inline uint32_t rs_pelt_divider(const struct rs_pelt *pelt)
{
	return RS_PELT_MIN_DIVIDER + pelt->period_contrib;
}

/* rs_pelt_attach() - sums of @pelt from its averages, in step with @queue; the caller adds them (attach_entity_load_avg()). */
void rs_pelt_attach(struct rs_pelt *pelt, const struct rs_pelt *queue, uint64_t weight);

#endif
