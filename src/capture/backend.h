/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How events are got out of the kernel. A backend fills the spool with ring buffer pages and says what
 * is in them; everything else of a recording (host snapshot, file, command, end) is the same for all.
 */
#ifndef RS_CAPTURE_BACKEND_H
#define RS_CAPTURE_BACKEND_H

#include <stdbool.h>
#include <sys/types.h>

#include <resched/capture.h>

#include "base/cpulist.h"
#include "capture/selection.h"
#include "capture/spool.h"
#include "capture/texts.h"
#include "capture/tracefs.h"

struct rs_backend_ops;

/* What record.c and a backend share. One recording long. */
struct rs_job {
	/* set before .prepare() */
	const struct resched_record_options *opts;
	struct resched_record_result *result;
	const struct rs_cpuset *wanted;		/* NULL: all cpus */
	unsigned int nr_cpus;
	const unsigned int *cpu_ids;		/* possible cpus */
	uint64_t buffer_kb;			/* a cpu */
	const char *spool_dir;
	struct rs_selection selection;		/* found by .prepare(), released by .release() */
	struct rs_page_ring *ring;		/* where pages go instead; NULL: into spool files */
	/* filled by .prepare(); released by the caller */
	struct rs_spool spool;
	struct rs_texts formats;
	unsigned int nr_readers;	pid_t *reader_pids;	/* threads of the recorder beside the caller's */
	/* filled by .count() */
	struct rs_instance_stats *stats;	/* one a cpu, allocated by the caller */
	char *names;				/* of the tasks it met, "PID COMM" a line; NULL: it knows none. Freed by the caller */
	void *priv;				/* the backend's */
};

struct rs_backend_ops {
	const char *name;	/* as in --backend */

	/* Is all there that it needs for what is asked? No lasting effect. Return: 0; -errno, @err says what is missing. */
	int (*probe)(const struct resched_record_options *opts, struct resched_error *err);

	/* Everything up to the moment events may flow: readers run, formats are known. */
	int (*prepare)(struct rs_job *job, struct resched_error *err);
	int (*start)(struct rs_job *job, struct resched_error *err);
	int (*stop)(struct rs_job *job, struct resched_error *err);

	/* Follow tasks too that were found since. Return: 0; -errno. */
	int (*follow)(struct rs_job *job, unsigned int nr, const int *pids);

	/* Record less. @step: 0, 1, ... Return: what is left out from now on, for a message; NULL: there is nothing more. */
	const char *(*shed)(struct rs_job *job, unsigned int step);

	/* After .stop(): all that the kernel still holds is in the spool and the readers have ended. */
	void (*drain)(struct rs_job *job);

	/* After .drain(): counters of each cpu; events and lost events of the result. */
	int (*count)(struct rs_job *job, struct resched_error *err);

	/* Leave nothing behind in the kernel. After a failure of any of the above too. */
	void (*release)(struct rs_job *job);
};

extern const struct rs_backend_ops rs_backend_tracefs;
extern const struct rs_backend_ops rs_backend_bpf;

/* rs_job_warn() - one line for result->warnings; also an rs_warn_fn with the job as context. */
void rs_job_warn(void *job, const char *text);

#endif
