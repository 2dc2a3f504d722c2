// SPDX-License-Identifier: GPL-2.0-only
#include "replay/calibrate.h"

#include <stdlib.h>
#include <string.h>

#define DELAY_SAMPLES 65536u	/* of each kind; the first ones are as good as any */
#define BIN_NS 1000u
#define WINDOW_BINS 30u		/* a tick's own jitter on the machines seen is below 30 us */
#define MIN_TICK_SAMPLES 20u

static const unsigned int known_hz[] = { 100, 250, 300, 1000 };
#define NR_HZ (sizeof(known_hz) / sizeof(known_hz[0]))
#define MAX_BINS 10000u		/* 10 ms, HZ 100 */

struct tick_histogram { uint32_t bins[MAX_BINS]; uint32_t nr; };

struct rs_calibration {
	uint64_t *delays[RS_DELAY_NR];
	uint32_t nr_delays[RS_DELAY_NR];
	struct tick_histogram ticks[2][NR_HZ];	/* [0] by preemptions, [1] by accounting */
};

static uint64_t tick_of_hz(unsigned int hz)
{
	return (1000000000u + hz / 2) / hz;	/* TICK_NSEC */
}

struct rs_calibration *rs_calibration_new(void)
{
	struct rs_calibration *cal = calloc(1, sizeof(*cal));

	for (int i = 0; cal && i < RS_DELAY_NR; i++) {
		cal->delays[i] = malloc(DELAY_SAMPLES * sizeof(uint64_t));
		if (!cal->delays[i]) {
			rs_calibration_free(cal);
			return NULL;
		}
	}
	return cal;
}

void rs_calibration_free(struct rs_calibration *cal)
{
	for (int i = 0; cal && i < RS_DELAY_NR; i++)
		free(cal->delays[i]);
	free(cal);
}

void rs_calibration_delay(struct rs_calibration *cal, enum rs_delay which, uint64_t ns)
{
	if (cal->nr_delays[which] < DELAY_SAMPLES)
		cal->delays[which][cal->nr_delays[which]++] = ns;
}

void rs_calibration_tick(struct rs_calibration *cal, uint64_t ts_ns, int accounted)
{
	for (unsigned int i = 0; i < NR_HZ; i++) {
		struct tick_histogram *h = &cal->ticks[!!accounted][i];

		h->bins[ts_ns % tick_of_hz(known_hz[i]) / BIN_NS]++;
		h->nr++;
	}
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

uint64_t rs_calibration_median(const struct rs_calibration *cal, enum rs_delay which)
{
	uint32_t nr = cal->nr_delays[which];

	if (!nr)
		return 0;
	qsort(cal->delays[which], nr, sizeof(uint64_t), compare_u64);
	return cal->delays[which][(nr - 1) / 2];
}

/* The densest window of @h, cyclic; its first bin and its share. */
static double densest_window(const struct tick_histogram *h, unsigned int nr_bins, unsigned int *ret_first)
{
	uint64_t sum = 0, best = 0;

	*ret_first = 0;
	if (!h->nr)
		return 0;
	for (unsigned int i = 0; i < WINDOW_BINS; i++)
		sum += h->bins[i % nr_bins];
	for (unsigned int first = 0; first < nr_bins; first++) {
		if (sum > best) {
			best = sum;
			*ret_first = first;
		}
		sum -= h->bins[first];
		sum += h->bins[(first + WINDOW_BINS) % nr_bins];
	}
	return (double)best / h->nr;
}

/* Median position inside the window, as the phase: robust against a tail on either side. */
static uint64_t window_median(const struct tick_histogram *h, unsigned int nr_bins, unsigned int first)
{
	uint64_t total = 0, seen = 0;

	for (unsigned int i = 0; i < WINDOW_BINS; i++)
		total += h->bins[(first + i) % nr_bins];
	for (unsigned int i = 0; i < WINDOW_BINS; i++) {
		seen += h->bins[(first + i) % nr_bins];
		if (2 * seen >= total)
			return (uint64_t)((first + i) % nr_bins) * BIN_NS + BIN_NS / 2;
	}
	return (uint64_t)first * BIN_NS;
}

static void measure(const struct rs_calibration *cal, int accounted, unsigned int idx, struct rs_tick *ret)
{
	const struct tick_histogram *h = &cal->ticks[accounted][idx];
	unsigned int nr_bins, first;

	ret->hz = known_hz[idx];
	ret->tick_ns = tick_of_hz(ret->hz);
	ret->accounted = accounted;
	nr_bins = (unsigned int)(ret->tick_ns / BIN_NS);
	ret->confidence = densest_window(h, nr_bins, &first);
	ret->phase_ns = window_median(h, nr_bins, first);
}

void rs_calibration_find_tick(const struct rs_calibration *cal, unsigned int hz, struct rs_tick *ret)
{
	int accounted = cal->ticks[1][0].nr >= MIN_TICK_SAMPLES;
	int enough = accounted || cal->ticks[0][0].nr >= MIN_TICK_SAMPLES;

	/* A 1000 Hz grid contains the 250 Hz one, so the longest period that explains most samples is the tick. */
	for (unsigned int i = 0; enough && i < NR_HZ; i++) {
		if (hz && known_hz[i] != hz)
			continue;
		measure(cal, accounted, i, ret);
		if (hz || ret->confidence >= 0.6)
			return;
	}
	memset(ret, 0, sizeof(*ret));
	ret->hz = hz ? hz : 250;
	ret->tick_ns = tick_of_hz(ret->hz);
}
