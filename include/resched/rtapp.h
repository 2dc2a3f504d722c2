/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rt-app's description of tasks, JSON: written so that rt-app plays a workload on a real machine, and read as a workload.
 *
 * Written: runs and timed sleeps as they are, to the us; causal sleeps and wakes as suspend and resume, which rt-app does not count:
 * a resume that comes too early is lost. Tasks of the kernel are left out, and what they woke sleeps for a time instead.
 * Read: run, runtime, sleep, timer, suspend, resume, wait, signal, broad, yield; loops, phases, instances, delays, priorities, cpus.
 */
#ifndef RESCHED_RTAPP_H
#define RESCHED_RTAPP_H

#include <stddef.h>
#include <stdio.h>
#include <resched/error.h>
#include <resched/host.h>
#include <resched/replay.h>

#ifdef __cplusplus
extern "C" {
#endif

/* resched_rtapp_save() - write @workload for rt-app. @out: borrowed. Return: 0; -ENODATA when no task is left; -EIO ...; -ENOMEM. */
int resched_rtapp_save(const struct resched_workload *workload, FILE *out, struct resched_error *err);

/*
 * resched_rtapp_convert() - read rt-app's JSON and write it as text of a workload, which resched_workload_read() takes.
 * @host: the machine; NULL = one that the largest cpu of any task needs
 * Return: 0; -errno of the open; -EBADMSG, @err says which task and event; -ENOMEM.
 */
int resched_rtapp_convert(const char *path, const struct resched_host *host, FILE *out, struct resched_error *err);

/* resched_rtapp_load() - both in one. @ret: the caller's. */
int resched_rtapp_load(const char *path, const struct resched_host *host, struct resched_workload **ret, struct resched_error *err);

/* resched_rtapp_recognise() - do the first @len bytes look like it? JSON is told apart by "tasks" or "global" near its start. Return: 1, 0. */
int resched_rtapp_recognise(const void *head, size_t len);

#ifdef __cplusplus
}
#endif
#endif
