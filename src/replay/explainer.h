/* SPDX-License-Identifier: GPL-2.0-only */
/* A recording that is asked many things: explain.c looks at queues, why.c at waits. */
#ifndef RS_REPLAY_EXPLAINER_H
#define RS_REPLAY_EXPLAINER_H

#include "replay/shadow_input.h"
#include <resched/explain.h>

struct resched_explainer {
	struct rs_shadow_input in;
	struct rs_shadow_options shadow;	/* of the recorded schedule, calibrated once */
	struct rs_shadow_options fitted;	/* the same with lags from before the recording, made when a queue is asked for */
	bool replayed, is_fitted;
	enum resched_placement placement;
};

#endif
