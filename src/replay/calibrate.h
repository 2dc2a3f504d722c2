/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a recording tells of the machine's own timing: where ticks fall, and how long it takes from a
 * decision to the switch. Samples are collected while the events pass; memory is bounded.
 */
#ifndef RS_REPLAY_CALIBRATE_H
#define RS_REPLAY_CALIBRATE_H

#include <stdint.h>

struct rs_calibration;

enum rs_delay {
	RS_DELAY_IDLE_EXIT,	/* waking to switch-in on an idle cpu */
	RS_DELAY_PREEMPT,	/* waking to the switch that lets the wakee preempt */
	RS_DELAY_LEAD,		/* policy's clock at a block to the switch */
	RS_DELAY_IDLE_LEAD,	/* policy's clock of a schedule that leaves idle to the switch */
	RS_DELAY_WAKE_CLOCK,	/* waking to the policy's clock it is handled at */
	RS_DELAY_TICK,		/* accounting in the tick to the switch it caused */
	RS_DELAY_NR
};

struct rs_calibration *rs_calibration_new(void);	/* NULL: no memory */
void rs_calibration_free(struct rs_calibration *cal);

/* rs_calibration_delay() - one sample. */
void rs_calibration_delay(struct rs_calibration *cal, enum rs_delay which, uint64_t ns);
/* rs_calibration_tick() - an instant that a tick explains: accounting in a hard interrupt (@accounted), or a preemption
 * no wakeup explains. */
void rs_calibration_tick(struct rs_calibration *cal, uint64_t ts_ns, int accounted);

/* rs_calibration_median() - of the samples of @which; 0 without any. */
uint64_t rs_calibration_median(const struct rs_calibration *cal, enum rs_delay which);

struct rs_tick {
	unsigned int hz;
	uint64_t tick_ns, phase_ns;
	double confidence;	/* share of samples in the densest window; 0: too few samples, phase 0 assumed */
	int accounted;		/* the phase is that of the accounting, not of the switch */
};

/*
 * rs_calibration_find_tick() - period and phase of the tick.
 * @hz: as the host says; 0 = find it among 100, 250, 300, 1000 (250 when nothing fits)
 */
void rs_calibration_find_tick(const struct rs_calibration *cal, unsigned int hz, struct rs_tick *ret);

#endif
