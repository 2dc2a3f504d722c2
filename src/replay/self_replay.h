/* SPDX-License-Identifier: GPL-2.0-only */
/* The self-replay half of validation: does a free run under the recorded rules give the recorded behaviour back? */
#ifndef RS_REPLAY_SELF_REPLAY_H
#define RS_REPLAY_SELF_REPLAY_H

#include "replay/shadow_input.h"

/* rs_self_replay() - run @in's workload freely and compare. @ret: its comms are the caller's to free(). Return: 0; -ENOMEM; -EINVAL. */
int rs_self_replay(const struct rs_shadow_input *in, const struct resched_whatif *whatif, struct resched_self_replay *ret,
		   struct resched_error *err);

/* rs_trust_error() - in a prediction that errs by @error. */
enum resched_trust rs_trust_error(double error);

#endif
