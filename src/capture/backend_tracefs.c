// SPDX-License-Identifier: GPL-2.0-only
/* Raw pages of an ftrace instance of our own. */
#include "capture/backend.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"

static int tracefs_probe(const struct resched_record_options *opts, struct resched_error *err)
{
	if (opts->detail == RESCHED_DETAIL_TRUTH)
		return rs_error_set(err, RESCHED_USAGE, -EINVAL,
				    "detail 'truth' reads the kernel's own state, which needs the bpf backend; "
				    "leave out --backend tracefs, or use --detail normal");
	if (opts->slower_ns)
		return rs_error_set(err, RESCHED_USAGE, -EINVAL, "slow wakeups are picked out by the bpf backend alone; leave out --backend tracefs and -e");
	return rs_tracefs_ready(err);
}

static int reader_pids(struct rs_job *job, struct resched_error *err)
{
	unsigned int i;

	job->reader_pids = calloc(job->spool.nr_readers, sizeof(*job->reader_pids));
	if (!job->reader_pids)
		return rs_error_nomem(err);
	job->nr_readers = job->spool.nr_readers;
	for (i = 0; i < job->nr_readers; i++)
		job->reader_pids[i] = atomic_load(&job->spool.readers[i].tid);
	return 0;
}

static int prepare_instance(struct rs_job *job, struct rs_instance *instance, struct resched_error *err)
{
	const struct resched_record_options *opts = job->opts;
	int rc;

	if (rs_instance_sweep())
		rs_job_warn(job, "removed the ftrace instance of a recorder that was killed");
	rc = rs_instance_create(instance, err);
	if (rc == 0)
		rc = rs_instance_events(instance, opts, rs_job_warn, job, err);
	if (rc == 0)
		rc = rs_selection_find(&job->selection, opts, false, err);
	if (rc == 0 && opts->nr_comms)
		rs_job_warn(job, "tracefs follows the tasks that have a matching name now, and what they fork; bpf also who takes such a name later");
	if (rc == 0)
		rc = rs_instance_filter(instance, job->selection.nr, job->selection.pids, job->wanted, err);
	if (rc == 0)
		rc = rs_instance_buffer(instance, job->buffer_kb, err);
	return rc;
}

static int tracefs_prepare(struct rs_job *job, struct resched_error *err)
{
	struct rs_instance *instance = calloc(1, sizeof(*instance));
	int rc;

	if (!instance)
		return rs_error_nomem(err);
	job->priv = instance;
	rc = prepare_instance(job, instance, err);
	if (rc == 0)
		rc = rs_texts_read(&job->formats, instance->nr_systems, instance->systems, err);
	if (rc == 0)
		rc = rs_spool_open(&job->spool, instance->dir, job->spool_dir, job->nr_cpus, job->cpu_ids, job->buffer_kb << 10, err);
	if (rc == 0) {
		job->spool.ring = job->ring;
		rc = rs_spool_start(&job->spool, err);
	}
	return rc == 0 ? reader_pids(job, err) : rc;
}

static int tracefs_start(struct rs_job *job, struct resched_error *err)
{
	return rs_instance_switch(job->priv, true, err);
}

static int tracefs_stop(struct rs_job *job, struct resched_error *err)
{
	return rs_instance_switch(job->priv, false, err);
}

static void tracefs_drain(struct rs_job *job)
{
	rs_spool_stop(&job->spool);
}

static int tracefs_count(struct rs_job *job, struct resched_error *err)
{
	struct rs_instance *instance = job->priv;
	unsigned int i;

	for (i = 0; i < job->nr_cpus; i++) {
		struct rs_instance_stats *stats = &job->stats[i];
		int rc = rs_instance_stats(instance, job->cpu_ids[i], stats);

		if (rc < 0)
			return rs_error_set(err, RESCHED_FAILED, rc, "cannot read the counters of cpu %u in '%s':", job->cpu_ids[i],
					    instance->dir);
		job->result->events += stats->read;
		job->result->lost_events += stats->overrun + stats->commit_overrun + stats->dropped;
	}
	return 0;
}

static int tracefs_follow(struct rs_job *job, unsigned int nr, const int *pids)
{
	return rs_instance_follow(job->priv, nr, pids);
}

/* Wakeups are told by sched_waking too, and a replay can do without the points of accounting. */
static const char *tracefs_shed(struct rs_job *job, unsigned int step)
{
	struct rs_instance *instance = job->priv;

	if (step == 0 && job->opts->nr_extra)
		return rs_instance_shed_extra(instance) < 0 ? NULL : "the events of -e";
	step -= job->opts->nr_extra ? 1 : 0;
	if (step == 0 && job->opts->detail > RESCHED_DETAIL_MINIMAL)
		return rs_instance_disable(instance, "sched/sched_stat_runtime") < 0 ? NULL : "run times";
	step -= job->opts->detail > RESCHED_DETAIL_MINIMAL ? 1 : 0;
	if (step == 0)
		return rs_instance_disable(instance, "sched/sched_wakeup") < 0 ? NULL : "sched_wakeup";
	return NULL;
}

static void tracefs_release(struct rs_job *job)
{
	if (!job->priv)
		return;
	rs_spool_release(&job->spool);	/* before the instance: open files keep it alive */
	rs_instance_remove(job->priv);
	rs_selection_release(&job->selection);
	free(job->priv);
	job->priv = NULL;
}

const struct rs_backend_ops rs_backend_tracefs = {
	.name = "tracefs",
	.probe = tracefs_probe, .prepare = tracefs_prepare, .start = tracefs_start, .stop = tracefs_stop,
	.follow = tracefs_follow, .shed = tracefs_shed, .drain = tracefs_drain, .count = tracefs_count, .release = tracefs_release,
};
