/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The BPF programs in the kernel: whether they can be there, loading, attaching, switching. Only this
 * file's source knows libbpf; built without it, everything here says so with -ENOSYS.
 */
#ifndef RS_CAPTURE_BPF_LOAD_H
#define RS_CAPTURE_BPF_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include <resched/capture.h>

#include "base/cpulist.h"
#include "capture/bpf/record.h"
#include "capture/tracefs.h"

struct rs_bpf_programs;

/*
 * rs_bpf_check() - could the programs run here for what @opts asks?
 * Return: 0; -ENOSYS: built without; -EPERM (DENIED: the capability and the command that grants it); -ENODEV: no type information,
 * a kernel too old, a tracepoint or field that is not as we know it (named); -EINVAL (USAGE): what BPF cannot give.
 */
int rs_bpf_check(const struct resched_record_options *opts, struct resched_error *err);

/*
 * rs_bpf_load() - load, not yet attached.
 * @ring_bytes: of each cpu's ring, a power of two and a multiple of the page size
 * @ret_fds: one ring a cpu of @cpu_ids; the caller's
 * Return: 0; -errno. A field that is missing but can be done without is told to @warn.
 */
int rs_bpf_load(struct rs_bpf_programs **ret, const struct resched_record_options *opts, const struct rs_cpuset *wanted,
		unsigned int nr_cpus, const unsigned int *cpu_ids, uint64_t ring_bytes, int *ret_fds, rs_warn_fn warn, void *warn_ctx,
		struct resched_error *err);

/* rs_bpf_follow() - events of these tasks and of what they fork are wanted. Return: 0; -errno. */
int rs_bpf_follow(struct rs_bpf_programs *programs, unsigned int nr_pids, const int *pids);

/* rs_bpf_shed() - as struct rs_backend_ops.shed(). */
const char *rs_bpf_shed(struct rs_bpf_programs *programs, enum resched_detail detail, unsigned int step);

/* rs_bpf_attach() - to the tracepoints; nothing is recorded before rs_bpf_record(). Return: 0; -errno. */
int rs_bpf_attach(struct rs_bpf_programs *programs, struct resched_error *err);

void rs_bpf_record(struct rs_bpf_programs *programs, bool on);

/* rs_bpf_each_task() - have the programs write what the kernel holds of every task; @name gets each one's name. Return: 0; -errno. */
int rs_bpf_each_task(struct rs_bpf_programs *programs, int (*name)(void *ctx, const struct rs_bpf_name *name), void *ctx,
		     struct resched_error *err);

/* Records of @cpu that found no room so far; of those, the ones not yet told by a record. */
void rs_bpf_losses(const struct rs_bpf_programs *programs, unsigned int cpu, uint64_t *ret_all, uint64_t *ret_untold);

/* rs_bpf_unload() - out of the kernel. Accepts NULL. */
void rs_bpf_unload(struct rs_bpf_programs *programs);

#endif
