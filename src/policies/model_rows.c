// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules of each model: releases first, oldest first, then the stages of development of EEVDF. A rule that is not named does not
 * apply. Sources of the releases: kernel/sched/fair.c of the version named; of the stages: the patches as posted.
 */
#include "policies/model.h"

/* Rules that several rows share, each a run of members. */
#define EEVDF_66 \
	.base_slice_ns = 750000, .tree_by_vruntime = true, .zero_is_min_vruntime = true, .fork_places = true, .slip_rescheds = true, \
	.idle_keeps_protection = true, .buddy_needs_next_buddy = true, .reweights_always = true, .idle_groups = true, \
	.throttled_pick_puts = true
#define EEVDF_68 \
	.base_slice_ns = 750000, .single_shortcut = true, .zero_is_min_vruntime = true, .fork_places = true, .slip_rescheds = true, \
	.idle_keeps_protection = true, .buddy_needs_next_buddy = true, .reweight = RS_REWEIGHT_AROUND_AVG, .publishes_seldom = true, \
	.idle_groups = true, .throttled_pick_puts = true
#define EEVDF_DRAFT	EEVDF_66, .avg_truncates = true, .picks_in_one_descent = true, .since = RS_NO_RELEASE
#define CFS_61 \
	.idle_min_granularity = true, .long_sleeper = true, .reweights_always = true, .idle_groups = true
#define CFS_DRAFT	CFS_61, .tick_caps_slice = true, .since = RS_NO_RELEASE

#define POSTED_0523	"posted 31 May 2023, "
#define OTHER_RULES	"rules the patches do not touch are those of 6.1 with the slice cap of 6.3"

const struct rs_rules rs_rules_rows[RS_MODEL_NR] = {
	[RS_K418] = { .kernel = "4.18", .since = 0, .source = "4.18.0-240.el8 (RHEL 8.3)",
		      .unverified = "4.18 of kernel.org and other minor releases of RHEL 8",
		      .stamp_cleared_on_leave = true, .hints_dropped_in_pick = true, .nr_latency_follows = true, .reweights_always = true },
	[RS_K54] = { .kernel = "5.4", .since = 4019, .source = "5.4.59", .stamp_cleared_on_leave = true, .hints_dropped_in_pick = true,
		     .nice_rescheds = true, .nr_latency_follows = true, .reweights_always = true, .throttles_at_once = true },
	[RS_K510] = { .kernel = "5.10", .since = 5005, .source = "5.10.89", .stamp_cleared_on_leave = true, .hints_dropped_in_pick = true,
		      .nr_latency_follows = true, .reweights_always = true },
	[RS_K515] = { .kernel = "5.15", .since = 5013, .source = "5.15.135", .long_sleeper = true, .reweights_always = true,
		      .idle_groups = true },
	[RS_K61] = { .kernel = "6.1", .since = 5016, .source = "6.1.192", CFS_61 },
	[RS_K66] = { .kernel = "6.6", .since = 6006, .source = "6.6.0", EEVDF_66 },
	[RS_K68] = { .kernel = "6.8", .since = 6008, .source = "6.8.0", EEVDF_68 },
	[RS_K612] = { .kernel = "6.12", .since = 6012, .source = "6.12.117", .base_slice_ns = 700000, .single_shortcut = true,
		      .custom_slices = true, .yield_forfeits = true, .same_params_replace = true, .groups_take_slice = true,
		      .reweight = RS_REWEIGHT_AROUND_CLAMPED, .empty_group_keeps_weight = true, .publishes_seldom = true,
		      .idle_groups = true },
	[RS_K618] = { .kernel = "6.18", .since = 6018, .source = "6.18.35", .base_slice_ns = 700000, .single_shortcut = true,
		      .custom_slices = true, .protect_until_vprot = true, .short_by_slice = true, .buddy_in_eevdf_pick = true,
		      .lag_limit_by_queue = true, .yield_forfeits = true, .reweight_scales_deadline = true, .same_params_replace = true,
		      .groups_take_slice = true, .reweight = RS_REWEIGHT_REPLACE, .empty_group_keeps_weight = true,
		      .publishes_seldom = true, .idle_groups = true },

	/* Stages that pick as CFS does. */
	[RS_KAVG] = { .kernel = "stage-avg-vruntime", .source = POSTED_0523 "'Add avg_vruntime': V is kept and not used", CFS_DRAFT,
		      .unverified = OTHER_RULES },
	[RS_KNODEBIT] = { .kernel = "stage-no-start-debit", .source = POSTED_0523 "'Remove START_DEBIT': tasks are placed at V", CFS_DRAFT,
			  .places_at_avg = true, .unverified = OTHER_RULES },
	[RS_KLAG] = { .kernel = "stage-lag", .source = POSTED_0523 "'Add lag based placement': V minus the lag at sleep, over-inflated",
		      CFS_DRAFT, .places_at_avg = true, .places_by_lag = true, .unverified = OTHER_RULES },

	/* Stages that pick by deadlines. */
	[RS_KP2303] = { .kernel = "eevdf-2023-03", EEVDF_DRAFT, .joins_like_cfs = true, .tick_picks = true, .latency_nice = true,
			.source = "posted 6 March 2023, with latency-nice: ticks pick, a new deadline does not reschedule",
			.unverified = "the slice of a task before its first new deadline; PLACE_FUDGE, left out here; " OTHER_RULES },
	[RS_KEEVDF] = { .kernel = "stage-eevdf", EEVDF_DRAFT, .joins_like_cfs = true,
			.source = POSTED_0523 "'Implement an EEVDF-like policy', with its feature EEVDF on",
			.unverified = "NO_EEVDF is not modelled; " OTHER_RULES },
	[RS_KCLAG] = { .kernel = "stage-commit-lag", EEVDF_DRAFT, .unverified = OTHER_RULES,
		       .source = POSTED_0523 "'Commit to lag based placement' and cross-runqueue lag: placed at every join" },
	[RS_KCEEVDF] = { .kernel = "stage-commit-eevdf", EEVDF_DRAFT, .unverified = OTHER_RULES,
			 .source = POSTED_0523 "'Commit to EEVDF': decides as the stage before" },
	[RS_KMIXED] = { .kernel = "stage-mixed-slices", EEVDF_DRAFT,
			.source = POSTED_0523 "'Better handle mixed slice length' (PLACE_FUDGE); equal slices make no difference",
			.unverified = "whether the measured branch had a corrected test of sleep; " OTHER_RULES },
	[RS_KP2305] = { .kernel = "eevdf-2023-05", EEVDF_DRAFT, .latency_nice = true, .unverified = OTHER_RULES,
			.source = POSTED_0523 "whole: PLACE_FUDGE and latency-nice" },

	/* After 6.6. */
	[RS_KELIGIBLE] = { .kernel = "eligibility-2023-10", EEVDF_66, .since = RS_NO_RELEASE,
			   .source = "posted October 2023 on 6.6: the feature ENFORCE_ELIGIBILITY" },
	[RS_KQUEUE] = { .kernel = "queue-2023-10", EEVDF_66, .since = RS_NO_RELEASE, .custom_slices = true, .delays_in_block = true,
			.short_by_deadline = true,
			.source = "queue of October 2023 on 6.6: PREEMPT_SHORT, PLACE_SLEEPER, EVDF, DELAY_DEQUEUE, GENTLE_DELAY",
			.unverified = "how the queue coded EVDF, RUN_TO_PARITY there, slices by sched_setattr(); tasks that stop or die never delay here" },
	[RS_KDELAY] = { .kernel = "delay-2024-04", EEVDF_68, .since = RS_NO_RELEASE, .custom_slices = true,
			.source = "posted April 2024 on 6.9: delayed dequeue with DELAY_ZERO, PREEMPT_SHORT, slices by sched_setattr()",
			.unverified = "its text was not read: rules of 6.8 with those of 6.12 for the features it names" },
};
