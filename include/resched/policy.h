/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What can be chosen: policies, the kernel models they follow, features and tunables.
 * All tables are constant and live as long as the program.
 */
#ifndef RESCHED_POLICY_H
#define RESCHED_POLICY_H

#include <stdint.h>
#include <resched/error.h>
#include <resched/host.h>

#ifdef __cplusplus
extern "C" {
#endif

struct resched_policy_info {
	const char *name;		/* "eevdf" */
	const char *summary;		/* one line */
	const char *default_model;	/* "6.12" */
	unsigned int nr_models;		const char *const *models;	/* kernels whose rules it has, then stages of development */
	unsigned int nr_kernels;	/* how many of them are kernels */
};

/* One model of a policy. */
struct resched_model_info {
	const char *name;		/* "6.12", "stage-lag" */
	int is_stage;			/* 1: a stage of development that no release had */
	const char *source;		/* the version that was read or the patches it follows */
	const char *unverified;		/* what was not checked against its source; NULL: nothing */
	int has_latency_nice;		/* 1: latency nice values of tasks count */
};

/* One feature or tunable of a policy under one model. */
struct resched_knob_info {
	const char *name;		/* "RUN_TO_PARITY", "base_slice_ns" */
	const char *meaning;		/* one line, with the kernel function it acts in */
	int is_feature;			/* 1: value is 0 or 1 */
	uint64_t value;			/* default: of a tunable before scaling by the number of cpus */
	int scaled;			/* tunable: multiplied by 1 + log2(min(cpus, 8)) by default */
	int inert;			/* feature: known, but without effect on one queue of fair tasks */
};

/* Policies in a fixed order; NULL past the end. */
const struct resched_policy_info *resched_policy_get(unsigned int idx);
/* By name; NULL when there is none. */
const struct resched_policy_info *resched_policy_find(const char *name);
/* Knobs of @policy under @model, in a fixed order; 0 past the end, 1 and *@ret filled otherwise. */
int resched_policy_knob(const char *policy, const char *model, unsigned int idx, struct resched_knob_info *ret);
/* A model of @policy by name, NULL = its default. Return: 1 and *@ret filled; 0 when there is none. */
int resched_policy_model(const char *policy, const char *model, struct resched_model_info *ret);
/* The policy a kernel release runs: "cfs" before 6.6, "eevdf" from 6.6 on; NULL when the text is no release. */
const char *resched_policy_of_kernel(const char *release);

#ifdef __cplusplus
}
#endif
#endif
