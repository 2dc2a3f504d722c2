/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Workloads without a recording: what well-known benchmarks and simple task sets ask of a scheduler, as programs of tasks.
 * The same name, parameters, machine and seed give the same workload on every host.
 */
#ifndef RESCHED_SYNTH_H
#define RESCHED_SYNTH_H

#include <stdint.h>
#include <resched/error.h>
#include <resched/host.h>
#include <resched/replay.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One parameter of a workload. Fixed texts. */
struct resched_synth_param {
	const char *name;	/* "groups", as the real tool's long option */
	char letter;		/* 'g', as its short one; 0 = none */
	int is_flag;		/* 1: no value needed */
	const char *value;	/* default, as it would be written */
	const char *text;
};

/* resched_synth_name() - the idx-th workload and one line about it. Return: 1; 0 past the end. */
int resched_synth_name(unsigned int idx, const char **name, const char **about);

/* resched_synth_param() - its idx-th parameter. Return: 1; 0 past the end, or for a workload that is not there. */
int resched_synth_param(const char *name, unsigned int idx, struct resched_synth_param *ret);

/*
 * resched_synth() - make one.
 * @words: parameters as "groups=4", "--groups=4", "-g4", or in two words "-g", "4"; borrowed
 * @host:  the machine; its tasks and groups are left out. A release or HZ that it does not know are 6.12 and 250.
 * @ret:   the caller's. The model places its tasks, whatever the what-if says.
 * Return: 0; -EINVAL (kind USAGE) for an unknown name, parameter or value; -E2BIG when it would be too large; -ENOMEM.
 */
int resched_synth(const char *name, unsigned int nr_words, const char *const *words, const struct resched_host *host, uint64_t seed,
		  struct resched_workload **ret, struct resched_error *err);

#ifdef __cplusplus
}
#endif
#endif
