// SPDX-License-Identifier: GPL-2.0-only
#include "capture/flight.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

#define KEEP_SHARE 16u	/* of the machine's memory, when only a time to keep is given */

uint64_t rs_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	return clock_gettime(clock, &ts) < 0 ? 0 : (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t rs_thread_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* The clock of another thread by its id. Kernel: include/linux/posix-timers.h, MAKE_THREAD_CPUCLOCK(tid, CPUCLOCK_SCHED) */
static uint64_t other_cpu_ns(pid_t tid)
{
	return clock_ns((clockid_t)(~(unsigned int)tid << 3 | 6u));
}

uint64_t resched_flight_now(void)
{
	return rs_now_ns();
}

static int make_ring(struct resched_flight *flight, struct resched_error *err)
{
	uint64_t memory = rs_meminfo_kb("MemTotal:") << 10, bytes = flight->opts.ring_bytes;

	if (!bytes)
		bytes = flight->opts.keep_ns && memory ? memory / KEEP_SHARE : RESCHED_FLIGHT_RING;
	if (memory && bytes > memory / 2)
		return rs_error_set(err, RESCHED_USAGE, -EINVAL, "a ring of %llu MiB is more than half of this machine's memory; give %llu MiB or less",
				    (unsigned long long)bytes >> 20, (unsigned long long)memory >> 21);
	return rs_ring_init(&flight->ring, flight->setup.nr_cpus, (uint32_t)sysconf(_SC_PAGESIZE), bytes, flight->opts.keep_ns, err);
}

static int note_threads(struct resched_flight *flight, struct resched_error *err)
{
	struct rs_job *job = &flight->job;

	flight->pids = calloc(job->nr_readers + 1u, sizeof(*flight->pids));
	if (!flight->pids)
		return rs_error_nomem(err);
	flight->pids[0] = gettid();
	for (unsigned int i = 0; i < job->nr_readers; i++)
		flight->pids[i + 1] = job->reader_pids[i];
	flight->nr_pids = job->nr_readers + 1;
	return 0;
}

static int start(struct resched_flight *flight, struct resched_error *err)
{
	int rc = rs_setup_cpus(&flight->setup, err);

	if (rc == 0)
		rc = make_ring(flight, err);
	if (rc == 0)
		rc = rs_setup_backend(&flight->setup, err);
	if (rc == 0)
		rc = rs_setup_job(&flight->setup, &flight->job, err);
	if (rc < 0)
		return rc;
	flight->job.spool_dir = "";
	flight->job.ring = &flight->ring;
	rc = flight->setup.backend->prepare(&flight->job, err);
	if (rc == 0)
		rc = note_threads(flight, err);
	if (rc == 0)
		rc = resched_host_read(&flight->host, err);
	if (rc == 0)
		rc = rs_live_new(flight, &flight->live, err);
	flight->started_ns = rs_now_ns();
	rs_watch_begin(&flight->watch, flight->host, (double)flight->started_ns / 1e9);
	return rc == 0 ? flight->setup.backend->start(&flight->job, err) : rc;
}

int resched_flight_start(struct resched_flight **ret, const struct resched_flight_options *opts, struct resched_error *err)
{
	struct resched_flight *flight = calloc(1, sizeof(*flight));
	int rc;

	if (!flight)
		return rs_error_nomem(err);
	flight->opts = *opts;
	flight->setup = (struct rs_setup){ .opts = &flight->opts.record, .result = &flight->result };
	pthread_mutex_init(&flight->snapshot_lock, NULL);
	pthread_mutex_init(&flight->watch_lock, NULL);
	rc = start(flight, err);
	if (rc < 0) {
		resched_flight_stop(flight);
		return rc;
	}
	*ret = flight;
	return 0;
}

/* From when on all that is kept is whole. */
static uint64_t oldest_kept(struct rs_page_ring *ring)
{
	uint64_t oldest = 0;

	pthread_mutex_lock(&ring->lock);
	for (unsigned int i = 0; i < ring->nr_cpus; i++)
		oldest = ring->cpus[i].dropped_ns > oldest ? ring->cpus[i].dropped_ns : oldest;
	pthread_mutex_unlock(&ring->lock);
	return oldest;
}

void rs_flight_look(struct resched_flight *flight)
{
	pthread_mutex_lock(&flight->watch_lock);
	rs_watch_look(&flight->watch, (double)rs_now_ns() / 1e9);
	rs_watch_forget(&flight->watch, oldest_kept(&flight->ring));
	pthread_mutex_unlock(&flight->watch_lock);
}

int resched_flight_fd(const struct resched_flight *flight)
{
	return flight->ring.fd;
}

const struct resched_host *resched_flight_host(const struct resched_flight *flight)
{
	return flight->host;
}

void resched_flight_stats(struct resched_flight *flight, struct resched_flight_stats *ret)
{
	struct rs_page_ring *ring = &flight->ring;
	uint64_t cpu_ns = atomic_load(&flight->own_cpu_ns), oldest = flight->started_ns, newest = UINT64_MAX;

	*ret = (struct resched_flight_stats){
		.ring_bytes = ring->max_bytes, .started_ns = flight->started_ns,
		.snapshots = atomic_load(&flight->snapshots), .snapshots_failed = atomic_load(&flight->snapshots_failed),
		.nr_cpus = flight->setup.nr_cpus, .backend = flight->setup.backend->name, .backend_reason = flight->result.backend_reason,
		.nr_warnings = flight->result.nr_warnings, .warnings = flight->result.warnings,
	};
	pthread_mutex_lock(&ring->lock);
	for (unsigned int i = 0; i < ring->nr_cpus; i++) {
		const struct rs_ring_cpu *cpu = &ring->cpus[i];

		ret->events += cpu->events;
		ret->lost_events += cpu->lost_events;
		oldest = cpu->dropped_ns >= oldest ? cpu->dropped_ns + 1 : oldest;
		newest = cpu->complete_ns < newest ? cpu->complete_ns : newest;
	}
	ret->kept_bytes = ring->chunk_bytes_held;
	ret->dropped_bytes = ring->dropped_bytes;
	pthread_mutex_unlock(&ring->lock);
	ret->oldest_ns = oldest;
	ret->newest_ns = newest < oldest ? oldest : newest;
	for (unsigned int i = 1; i < flight->nr_pids; i++)
		cpu_ns += other_cpu_ns(flight->pids[i]);
	ret->cpu_seconds = (double)cpu_ns / 1e9;
}

void resched_flight_stop(struct resched_flight *flight)
{
	if (!flight)
		return;
	if (flight->setup.backend) {
		if (flight->job.priv && flight->setup.backend->stop(&flight->job, NULL) == 0)
			flight->setup.backend->drain(&flight->job);
		flight->setup.backend->release(&flight->job);
	}
	rs_spool_release(&flight->job.spool);
	rs_live_free(flight->live);
	rs_ring_release(&flight->ring);
	rs_texts_release(&flight->job.formats);
	rs_watch_release(&flight->watch);
	resched_host_free(flight->host);
	rs_setup_release(&flight->setup);
	pthread_mutex_destroy(&flight->snapshot_lock);
	pthread_mutex_destroy(&flight->watch_lock);
	free(flight->job.stats);
	free(flight->job.reader_pids);
	free(flight->pids);
	free(flight);
}
