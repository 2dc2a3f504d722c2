/* SPDX-License-Identifier: GPL-2.0-only */
/* From a recording and a what-if to what a shadow needs: events, rules, clock. */
#ifndef RS_REPLAY_SHADOW_INPUT_H
#define RS_REPLAY_SHADOW_INPUT_H

#include "replay/shadow.h"
#include "replay/whatif.h"

struct rs_shadow_input {
	struct rs_shadow_log log;
	struct resched_names *names; /* of the trace, which numbers them its own way; borrowed */
	struct resched_workload *workload;
	struct rs_plan plan;
	struct resched_schedule schedule; /* policy, model, warnings */
	uint64_t *phases; /* see struct rs_shadow_options; NULL: no group has a quota */
};

/* rs_shadow_input_read() - read all of @trace. @whatif: NULL = the recorded kernel's own rules. @ret is
 * to be released in any case. Return: 0; errors of resched_validate(). */
int rs_shadow_input_read(struct resched_trace *trace, const struct resched_host *host,
			 const struct resched_whatif *whatif, struct rs_shadow_input *ret,
			 struct resched_error *err);
/* rs_shadow_input_options() - options of a pass in @mode, its clock calibrated. @ret borrows from @in.
 */
int rs_shadow_input_options(const struct rs_shadow_input *in, enum resched_shadow_mode mode,
			    bool resync, struct rs_shadow_options *ret, struct resched_error *err);
/* rs_shadow_input_calibrate() - the same without the lags of tasks that slept when the recording began: rs_shadow_input_fit() finds
 * those. */
int rs_shadow_input_calibrate(const struct rs_shadow_input *in, enum resched_shadow_mode mode,
			      bool resync, struct rs_shadow_options *ret, struct resched_error *err);
/* rs_shadow_input_fit() - find what tasks were owed that slept when the recording began, for options made with resync; the calibration
 * is done and this takes up to some seconds. Return: 0; -ENOMEM. */
int rs_shadow_input_fit(const struct rs_shadow_input *in, struct rs_shadow_options *opts, struct resched_error *err);
/* rs_shadow_input_describe() - fill in what the pass was made with. */
void rs_shadow_input_describe(const struct rs_shadow_input *in, const struct rs_shadow_options *opts,
			      struct resched_shadow *ret);
void rs_shadow_input_release(struct rs_shadow_input *in);

#endif
