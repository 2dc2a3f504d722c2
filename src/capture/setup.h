/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What recording to a file and the flight recorder settle before they begin: which cpus there are, how large the kernel's buffers
 * become, and which backend records. One recording long.
 */
#ifndef RS_CAPTURE_SETUP_H
#define RS_CAPTURE_SETUP_H

#include <resched/capture.h>

#include "base/cpulist.h"
#include "capture/backend.h"

struct rs_setup {
	const struct resched_record_options *opts;
	struct resched_record_result *result;	/* takes warnings and the reason of the choice */
	struct rs_cpuset wanted;		/* valid when opts->cpus */
	unsigned int nr_cpus;	unsigned int *cpu_ids;	/* possible cpus */
	uint64_t buffer_kb;			/* a cpu, in the kernel */
	const struct rs_backend_ops *backend;	/* NULL: not chosen yet */
};

/* rs_setup_cpus() - the cpus, and the buffers for them. @setup: zeroed, but for opts and result.
 * Return: 0; -EINVAL (USAGE: bad list of cpus, buffers too large); -errno; -ENOMEM. */
int rs_setup_cpus(struct rs_setup *setup, struct resched_error *err);

/* rs_setup_backend() - choose one that can give what is asked. Return: 0; as its probe(). */
int rs_setup_backend(struct rs_setup *setup, struct resched_error *err);

/* rs_setup_job() - fill @job with all that is known before its prepare(), which is to set the rest. Return: 0; -ENOMEM. */
int rs_setup_job(const struct rs_setup *setup, struct rs_job *job, struct resched_error *err);

/* rs_setup_warn() - one line more in the result's warnings, if there is room. */
void rs_setup_warn(struct resched_record_result *result, const char *text);

/* rs_meminfo_kb() - a line of /proc/meminfo, such as "MemTotal:"; 0: unknown. */
uint64_t rs_meminfo_kb(const char *key);

/* CPU time of this process so far, in seconds. */
double rs_cpu_seconds(void);

/* Accepts a zeroed one. */
void rs_setup_release(struct rs_setup *setup);

#endif
