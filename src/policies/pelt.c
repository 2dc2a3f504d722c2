// SPDX-License-Identifier: GPL-2.0-only
#include "policies/pelt.h"

#define PERIOD		1024u		/* units of 1024 ns */
#define UNIT_SHIFT	10
#define HALF_LIFE	32u		/* periods */

/* (2^32 - 1) * y^n, rounded down (runnable_avg_yN_inv) */
static const uint32_t decay_factor[HALF_LIFE] = {
	0xffffffff, 0xfa83b2da, 0xf5257d14, 0xefe4b99a, 0xeac0c6e6, 0xe5b906e6, 0xe0ccdeeb, 0xdbfbb796,
	0xd744fcc9, 0xd2a81d91, 0xce248c14, 0xc9b9bd85, 0xc5672a10, 0xc12c4cc9, 0xbd08a39e, 0xb8fbaf46,
	0xb504f333, 0xb123f581, 0xad583ee9, 0xa9a15ab4, 0xa5fed6a9, 0xa2704302, 0x9ef5325f, 0x9b8d39b9,
	0x9837f050, 0x94f4efa8, 0x91c3d373, 0x8ea4398a, 0x8b95c1e3, 0x88980e80, 0x85aac367, 0x82cd8698,
};

uint64_t rs_pelt_decay(uint64_t value, uint64_t periods)
{
	if (periods > HALF_LIFE * 63u)
		return 0;
	value >>= periods / HALF_LIFE;
	return (uint64_t)(((unsigned __int128)value * decay_factor[periods % HALF_LIFE]) >> 32);
}

/* What a constant load of 1 adds over @delta units that end @into units into a period, @periods boundaries crossed. */
static uint32_t contribution(uint64_t periods, uint32_t first, uint32_t into)
{
	uint64_t oldest = rs_pelt_decay(first, periods);
	uint64_t between = RS_PELT_MAX - rs_pelt_decay(RS_PELT_MAX, periods) - PERIOD;

	return (uint32_t)(oldest + between + into);
}

bool rs_pelt_update(struct rs_pelt *p, uint64_t now_ns, uint64_t load, uint64_t runnable, bool running)
{
	int64_t elapsed = (int64_t)(now_ns - p->last_update);
	uint64_t units, periods;
	uint32_t added;

	if (elapsed < 0) {
		p->last_update = now_ns;
		return false;
	}
	units = (uint64_t)elapsed >> UNIT_SHIFT;
	if (!units)
		return false;
	p->last_update += units << UNIT_SHIFT;
	added = (uint32_t)units;
	units += p->period_contrib;
	periods = units / PERIOD;
	units %= PERIOD;
	if (periods) {
		p->load_sum = rs_pelt_decay(p->load_sum, periods);
		p->runnable_sum = rs_pelt_decay(p->runnable_sum, periods);
		p->util_sum = (uint32_t)rs_pelt_decay(p->util_sum, periods);
		if (load)
			added = contribution(periods, PERIOD - p->period_contrib, (uint32_t)units);
	}
	p->period_contrib = (uint32_t)units;
	if (load) {
		p->load_sum += load * added;
		p->runnable_sum += (runnable * added) << UNIT_SHIFT;
		if (running)
			p->util_sum += added << UNIT_SHIFT;
	}
	return periods != 0;
}

void rs_pelt_average(struct rs_pelt *p, uint64_t weight)
{
	uint32_t divider = rs_pelt_divider(p);

	p->load_avg = weight * p->load_sum / divider;
	p->runnable_avg = p->runnable_sum / divider;
	p->util_avg = p->util_sum / divider;
}

void rs_pelt_attach(struct rs_pelt *p, const struct rs_pelt *queue, uint64_t weight)
{
	uint32_t divider = rs_pelt_divider(queue);

	p->last_update = queue->last_update;
	p->period_contrib = queue->period_contrib;
	p->util_sum = (uint32_t)(p->util_avg * divider);
	p->runnable_sum = p->runnable_avg * divider;
	p->load_sum = p->load_avg * divider;
	p->load_sum = weight && weight < p->load_sum ? p->load_sum / weight : 1;
}
