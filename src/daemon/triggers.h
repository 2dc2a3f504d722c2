/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When a snapshot is worth taking. Each trigger keeps its own account of the waits it is about:
 *
 *   threshold   one wait was longer
 *   jump        a quantile over a window is several times what it was in the windows before (their moving average)
 *   slo         bad waits of a window use up the allowance several times faster than the objective grants
 *   psi         the kernel tells of pressure by itself (resched_psi_open())
 */
#ifndef DAEMON_TRIGGERS_H
#define DAEMON_TRIGGERS_H

#include <stdbool.h>
#include "daemon/config.h"
#include "daemon/hist.h"
#include "daemon/log.h"
#include "daemon/loop.h"
#include "daemon/watch.h"

/* A trigger has fired. */
struct firing {
	const struct config_trigger *trigger;
	uint64_t at_ns;			/* on the recording's clock: when what it is about ended */
	int pid;			/* threshold; else 0 */
	char comm[32], cgroup[CONFIG_TEXT];
	uint64_t value_ns;		/* the wait, the quantile, the stall */
	char text[400];
};

typedef void (*firing_fn)(void *ctx, const struct firing *firing);

struct trigger {
	const struct config_trigger *config;
	struct hist window;		/* jump: of this window */
	double usual_ns;		/* jump: average of the quantile; 0: not known yet */
	uint64_t good, bad;		/* slo: of this window */
	uint64_t worst_ns, worst_at_ns;	/* of this window: where to look */
	uint64_t window_began_ns, window_last_ns;	/* by the stamps of waits; 0: none yet */
	uint64_t quiet_until_ns;	/* loop time */
	uint64_t fired, suppressed;	/* suppressed: within the cooldown */
	struct loop_fd psi;		/* psi: fd -1 when there is none */
	struct triggers *all;
};

struct triggers {
	struct loop *loop; const struct log *log;	/* borrowed */
	uint64_t (*clock)(void);			/* the recording's clock, now */
	firing_fn fire; void *ctx;
	unsigned int nr;
	struct trigger items[CONFIG_MAX_TRIGGERS];
};

/* triggers_set() - those of @config, which is borrowed, in place of the ones before; counters of the same name go on. */
void triggers_set(struct triggers *triggers, const struct config *config);
void triggers_wait(struct triggers *triggers, const struct wait *wait);
/* triggers_look() - close windows that are over although no wait came. */
void triggers_look(struct triggers *triggers);
void triggers_release(struct triggers *triggers);
const char *trigger_kind_name(uint64_t kind);

#endif
