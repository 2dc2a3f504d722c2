/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recording the running machine.
 *
 * A recorder uses an ftrace instance of its own or BPF programs, and removes them however it ends; it never touches the
 * top-level buffer or another instance. The finished file is a trace.dat version 7 that trace-cmd reads.
 */
#ifndef RESCHED_CAPTURE_H
#define RESCHED_CAPTURE_H

#include <signal.h>
#include <stdint.h>
#include <resched/error.h>

#ifdef __cplusplus
extern "C" {
#endif

enum resched_detail { RESCHED_DETAIL_MINIMAL = 0, RESCHED_DETAIL_NORMAL, RESCHED_DETAIL_PRECISE, RESCHED_DETAIL_TRUTH };

enum resched_backend { RESCHED_BACKEND_AUTO = 0, RESCHED_BACKEND_TRACEFS, RESCHED_BACKEND_BPF };

struct resched_record_options {
	const char *output;			/* NULL = "trace.dat" */
	unsigned int nr_extra;	const char *const *extra;	/* more events: "irq", "timer", "system:event" */
	unsigned int nr_pids;	const int *pids;	/* only events about these processes or threads, and what they fork; none = all */
	const char *cpus;			/* cpu list; NULL = all */
	double seconds;				/* 0 = until the command ends or @stop is set */
	enum resched_detail detail;
	uint64_t buffer_kb;			/* per cpu; 0 = default */
	int argc; char *const *argv;		/* command to run and follow; argc 0 = none */
	const volatile sig_atomic_t *stop;	/* set by the caller's signal handler; polled; may be NULL */
	int compress;				/* 1: zstd chunks */
	enum resched_backend backend;		/* auto: the cheapest that can give what is asked */
	void (*started)(void *ctx); void *started_ctx;	/* called once when recording has begun; may be NULL */
	unsigned int nr_comms;	const char *const *comms;	/* also tasks whose name matches a glob, and what they fork */
	unsigned int nr_cgroups; const char *const *cgroups;	/* also tasks of these cgroups and of those in them, and what they fork */
	uint64_t slower_ns;			/* only wakeups that waited as long, with what ran there meanwhile; 0 = everything */
	uint64_t max_kb;			/* the file's size at most; 0 = any */
	uint64_t min_free_kb;			/* end when less is free on its disk; 0 = 1/20 of the disk, at most 64 MiB */
	double cpu_budget;			/* part of one cpu that recording may use: then less is recorded, then nothing; 0 = any */
	unsigned int rotate;			/* with max_kb: go on in a new file and keep the last so many, 2 or more; 0 = end instead */
	int drop_caps;				/* 1: the calling thread gives its capabilities up for good once recording has begun */
};

struct resched_record_result {
	uint64_t events, lost_events, bytes;	/* bytes: written, of all files */
	double seconds, recorder_cpu_seconds;
	unsigned int nr_cpus;
	int command_status;			/* wait status of the command; 0 without one */
	unsigned int nr_warnings;	char warnings[16][160];
	const char *backend;			/* name of the one used, static; NULL when it did not come so far */
	char backend_reason[160];		/* why auto chose it; empty when it had no choice */
};

/*
 * resched_record() - record until told to stop, and write the file.
 * On -ENOSPC and after a signal the file holds all that was recorded and is whole.
 * Return: 0; -EACCES, -EPERM, -ENODEV (kind DENIED: which mount, permission or capability is missing and the command that grants it);
 * -ENOSPC, -EIO; -EINVAL (kind USAGE: unknown event, bad cpu list, a backend that cannot give the detail); -ENOENT (the command cannot be run).
 */
int resched_record(const struct resched_record_options *opts, struct resched_record_result *ret, struct resched_error *err);

/*
 * resched_recover() - finish a recording whose recorder was killed, in place, so that other tools can read it too.
 * What the recorder had not written is lost, and a loss at the end of each cpu says so. A file that was finished stays as it is.
 * @ret_events: events in the file
 * Return: 1 recovered; 0 there was nothing to do; -EBUSY it is still being recorded; -EINVAL it is no recording of ours;
 * -errno; -ENOMEM. A failure leaves the file as readable as it was.
 */
int resched_recover(const char *path, uint64_t *ret_events, struct resched_error *err);

#ifdef __cplusplus
}
#endif
#endif
