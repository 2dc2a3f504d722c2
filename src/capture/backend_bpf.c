// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of BPF programs, written as ordinary events: one thread empties the rings of all cpus, for
 * names have to be learned in time order. It comes on a timer; nothing in the kernel wakes it.
 */
#include "capture/backend.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "capture/bpf_early.h"
#include "capture/bpf_events.h"
#include "capture/bpf_load.h"
#include "capture/bpf_ring.h"
#include "capture/caps.h"
#include "capture/page_writer.h"
#include "capture/slow.h"

#define WAIT_MIN_MS	2
#define WAIT_MAX_MS	50
#define READER_NICE	(-15)	/* it runs seldom and shortly, but what it comes too late for is lost */
#define SETTLE_NS	1000000ull	/* a record older than this is in its ring */
#define PUSH_NS		500000000ull	/* how often pages that are not a batch yet go to the file: what a kill may cost */
#define PUSH_AGE_NS	5000000000ull	/* after that a page goes there half empty */
#define SLOW_BYTES	(64ull << 20)	/* of records that may turn out to belong to a slow wakeup */
#define RING_MIN_BYTES	65536ull	/* less would not hold the rows of one burst */

struct bpf_cpu {
	struct rs_bpf_ring ring;
	struct rs_page_writer writer;
	uint64_t events, told_lost;
};

struct bpf_backend {
	struct rs_job *job;
	struct rs_bpf_programs *programs;
	struct rs_bpf_events events;
	unsigned int nr_cpus;
	struct bpf_cpu *cpus;
	struct rs_slow slow;		/* in use when opts->slower_ns */
	uint64_t ring_bytes;
	uint64_t pushed_ns;		/* the reader's */
	pthread_t thread;
	bool started;
	_Atomic pid_t tid;		/* 0 until the thread runs */
	_Atomic bool go;		/* names are known: records may be read */
};

static int bpf_probe(const struct resched_record_options *opts, struct resched_error *err)
{
	return rs_bpf_check(opts, err);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int put(struct bpf_backend *b, struct bpf_cpu *cpu, const struct rs_bpf_head *head, uint32_t len)
{
	int n = rs_bpf_events_put(&b->events, head, len, &cpu->writer);

	if (n < 0)
		return n;
	cpu->events += (uint64_t)n;
	return 0;
}

static int put_slow(void *ctx, unsigned int cpu, const struct rs_bpf_head *head, uint32_t len, bool gap)
{
	struct bpf_backend *b = ctx;

	if (gap)
		rs_page_writer_lost(&b->cpus[cpu].writer, 0);
	return put(b, &b->cpus[cpu], head, len);
}

static int take(struct bpf_backend *b, struct bpf_cpu *cpu, const struct rs_bpf_head *head, uint32_t len)
{
	int rc;

	if (head->kind == RS_BPF_LOST && len >= sizeof(struct rs_bpf_lost))
		cpu->told_lost += ((const struct rs_bpf_lost *)(const void *)head)->count;
	rc = b->slow.bytes ? rs_slow_put(&b->slow, cpu->writer.idx, head, len) : put(b, cpu, head, len);
	rs_bpf_ring_pass(&cpu->ring, len);
	return rc;
}

/* The cpu whose next record is the oldest, and the time of the next oldest: up to there it may go on alone. */
static struct bpf_cpu *oldest(struct bpf_backend *b, uint64_t *ret_until)
{
	struct bpf_cpu *found = NULL;
	uint64_t first = UINT64_MAX, second = UINT64_MAX;
	unsigned int i;

	for (i = 0; i < b->nr_cpus; i++) {
		uint32_t len;
		const struct rs_bpf_head *head = rs_bpf_ring_head(&b->cpus[i].ring, &len);

		if (!head)
			continue;
		if (head->ts_ns < first || !found) {
			second = first;
			first = head->ts_ns;
			found = &b->cpus[i];
		} else if (head->ts_ns < second) {
			second = head->ts_ns;
		}
	}
	*ret_until = second;
	return found;
}

/*
 * All records that were there when it began, in time order over all cpus up to @horizon: what comes later may still
 * have an older record on another cpu. Return: bytes of the fullest ring; -errno.
 */
static int64_t pass(struct bpf_backend *b, uint64_t horizon)
{
	uint64_t most = 0, until;
	struct bpf_cpu *cpu;
	unsigned int i;

	for (i = 0; i < b->nr_cpus; i++) {
		uint64_t bytes = rs_bpf_ring_look(&b->cpus[i].ring);

		if (bytes > most)
			most = bytes;
	}
	while ((cpu = oldest(b, &until)) != NULL) {
		const struct rs_bpf_head *head;
		uint32_t len;

		if (until > horizon)
			until = horizon;
		head = rs_bpf_ring_head(&cpu->ring, &len);
		if (head && head->ts_ns > horizon)
			break;
		for (; head && head->ts_ns <= until; head = rs_bpf_ring_head(&cpu->ring, &len)) {
			int rc = take(b, cpu, head, len);

			if (rc < 0)
				return rc;
		}
	}
	for (i = 0; i < b->nr_cpus; i++)
		rs_bpf_ring_give(&b->cpus[i].ring);
	return (int64_t)most;
}

/* What found no room and has no record of its own: there was no later one. */
static int finish(struct bpf_backend *b)
{
	unsigned int i;
	int first = b->slow.bytes ? rs_slow_pass(&b->slow, UINT64_MAX) : 0;

	for (i = 0; i < b->nr_cpus; i++) {
		struct bpf_cpu *cpu = &b->cpus[i];
		uint64_t all, untold;
		int rc;

		rs_bpf_losses(b->programs, b->job->cpu_ids[i], &all, &untold);
		if (untold)
			rs_page_writer_lost(&cpu->writer, untold);
		rc = rs_page_writer_flush(&cpu->writer);
		if (first == 0)
			first = rc;
	}
	return first;
}

/* With a ring, pages are handed over begun: somebody may be watching. Return: 0; -errno. */
static int hand_over(struct bpf_backend *b, uint64_t horizon)
{
	struct rs_page_ring *ring = b->job->ring;
	int rc = 0;

	if (!ring)
		return 0;
	for (unsigned int i = 0; i < b->nr_cpus && rc == 0; i++) {
		rc = rs_page_writer_flush(&b->cpus[i].writer);
		rs_ring_complete(ring, i, horizon);
	}
	rs_ring_pass(ring);
	return rc;
}

/* To a file, now and then: what is in memory is lost if we are killed. Return: 0; -errno. */
static int push(struct bpf_backend *b, uint64_t horizon)
{
	unsigned int i;
	int rc = 0;

	if (b->job->ring || horizon - b->pushed_ns < PUSH_NS)
		return 0;
	b->pushed_ns = horizon;
	for (i = 0; i < b->nr_cpus && rc == 0; i++)
		rc = rs_page_writer_push(&b->cpus[i].writer, horizon - PUSH_AGE_NS);
	return rc;
}

static int next_wait_ms(int wait_ms, uint64_t most, uint64_t ring_bytes)
{
	if (most > ring_bytes / 4)
		wait_ms /= 2;
	else if (most < ring_bytes / 16)
		wait_ms += wait_ms / 4 + 1;
	if (wait_ms < WAIT_MIN_MS)
		return WAIT_MIN_MS;
	return wait_ms > WAIT_MAX_MS ? WAIT_MAX_MS : wait_ms;
}

/* Before the first record is read. Return: 0; -ENOMEM. */
static int names_before(struct bpf_backend *b)
{
	struct rs_bpf_early early = { 0 };

	for (unsigned int i = 0; i < b->nr_cpus; i++) {
		rs_bpf_ring_look(&b->cpus[i].ring);
		rs_bpf_ring_each(&b->cpus[i].ring, rs_bpf_early_note, &early);
	}
	return rs_bpf_early_settle(&early, &b->events);
}

static void *reader_main(void *arg)
{
	struct bpf_backend *b = arg;
	struct pollfd stop = { .fd = b->job->spool.stop_fd, .events = POLLIN };
	int wait_ms = WAIT_MIN_MS;
	bool named = false;
	int64_t rc = 0;

	pthread_setname_np(pthread_self(), "resched");
	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), READER_NICE);	/* without CAP_SYS_NICE it stays as it is */
	(void)rs_caps_drop(0);	/* it writes where it is told to and reads what is mapped */
	atomic_store(&b->tid, gettid());
	for (;;) {
		bool last = poll(&stop, 1, wait_ms) > 0;

		uint64_t horizon = now_ns() - SETTLE_NS;

		if (!named && (atomic_load(&b->go) || last)) {
			rc = names_before(b);
			named = true;
		}
		if (rc >= 0 && (atomic_load(&b->go) || last))
			rc = pass(b, last ? UINT64_MAX : horizon);
		if (rc >= 0 && b->slow.bytes && !last) {
			int failed = rs_slow_pass(&b->slow, horizon);

			rc = failed < 0 ? failed : rc;
		}
		if (rc >= 0 && atomic_load(&b->go)) {
			int failed = hand_over(b, horizon);

			if (failed == 0)
				failed = push(b, horizon);
			rc = failed < 0 ? failed : rc;
		}
		if (rc == 0 && last)
			rc = finish(b);
		if (rc > 0 && last)
			continue;	/* until nothing is left */
		if (rc < 0)
			rs_spool_fail(&b->job->spool, (int)rc);
		if (rc < 0 || last)
			return NULL;
		wait_ms = next_wait_ms(wait_ms, (uint64_t)rc, b->ring_bytes);
	}
}

static int sink(void *ctx, unsigned int idx, const void *pages, uint32_t bytes)
{
	struct rs_job *job = ((struct bpf_backend *)ctx)->job;

	return job->ring ? rs_ring_add(job->ring, idx, pages, bytes) : rs_spool_append(&job->spool, idx, pages, bytes);
}

static int read_texts(struct rs_job *job, struct resched_error *err)
{
	static char *const systems[] = { (char *)"sched", (char *)"task" };

	if (rs_tracefs_readable() && rs_texts_read(&job->formats, 2, systems, NULL) == 0)
		return 0;
	return rs_texts_builtin(&job->formats, err);
}

static int make_rings(struct bpf_backend *b, struct resched_error *err)
{
	struct rs_job *job = b->job;
	unsigned int i;
	int *fds, rc;

	b->ring_bytes = RING_MIN_BYTES;
	/* a record still has to be read before its room is free again, where tracefs swaps pages: twice the room by default */
	while (b->ring_bytes < job->buffer_kb << (job->opts->buffer_kb ? 10 : 11) && b->ring_bytes < 1ull << 30)
		b->ring_bytes *= 2;
	fds = malloc(job->nr_cpus * sizeof(*fds));
	if (!fds)
		return rs_error_nomem(err);
	for (i = 0; i < job->nr_cpus; i++)
		fds[i] = -1;
	rc = rs_bpf_load(&b->programs, job->opts, job->wanted, job->nr_cpus, job->cpu_ids, b->ring_bytes, fds, rs_job_warn, job, err);
	for (i = 0; i < job->nr_cpus; i++) {
		if (fds[i] < 0)
			continue;
		if (rc < 0) {
			close(fds[i]);
			continue;
		}
		rc = rs_bpf_ring_map(&b->cpus[i].ring, fds[i], b->ring_bytes);
		if (rc < 0)
			rs_error_set(err, RESCHED_FAILED, rc, "cannot map the ring buffer of cpu %u:", job->cpu_ids[i]);
	}
	free(fds);
	job->buffer_kb = b->ring_bytes >> 10;
	return rc;
}

static int start_reader(struct bpf_backend *b, struct resched_error *err)
{
	sigset_t all, before;
	int rc;

	/* signals are the caller's business: its handler shall run in its own thread */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = -pthread_create(&b->thread, NULL, reader_main, b);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc < 0)
		return rs_error_set(err, RESCHED_FAILED, rc, "cannot start a reader thread:");
	b->started = true;
	while (atomic_load(&b->tid) == 0)
		usleep(100);
	b->job->reader_pids = calloc(1, sizeof(*b->job->reader_pids));
	if (!b->job->reader_pids)
		return rs_error_nomem(err);
	b->job->reader_pids[0] = atomic_load(&b->tid);
	b->job->nr_readers = 1;
	return 0;
}

static int bpf_prepare(struct rs_job *job, struct resched_error *err)
{
	struct bpf_backend *b = calloc(1, sizeof(*b));
	bool run = job->opts->detail == RESCHED_DETAIL_NORMAL, truth = job->opts->detail != RESCHED_DETAIL_MINIMAL;
	unsigned int i;
	int rc;

	if (!b)
		return rs_error_nomem(err);
	job->priv = b;
	b->job = job;
	b->cpus = calloc(job->nr_cpus, sizeof(*b->cpus));
	if (!b->cpus)
		return rs_error_nomem(err);
	b->nr_cpus = job->nr_cpus;
	for (i = 0; i < b->nr_cpus; i++)
		b->cpus[i].ring.fd = -1;
	rc = rs_selection_find(&job->selection, job->opts, job->opts->nr_comms > 0, err);
	if (rc == 0)
		rc = read_texts(job, err);
	if (rc == 0)
		rc = rs_bpf_events_init(&b->events, &job->formats, job->nr_cpus, job->cpu_ids, run, truth, err);
	if (rc == 0)
		rc = rs_spool_prepare(&job->spool, job->spool_dir, job->nr_cpus, job->cpu_ids, job->buffer_kb << 10, err);
	job->spool.ring = job->ring;
	b->events.forgets = job->ring != NULL;
	for (i = 0; i < b->nr_cpus && rc == 0; i++) {
		if (rs_page_writer_init(&b->cpus[i].writer, i, job->spool.page_bytes, sink, b) < 0)
			rc = rs_error_nomem(err);
	}
	if (rc == 0 && job->opts->slower_ns && rs_slow_init(&b->slow, job->opts->slower_ns, b->nr_cpus, SLOW_BYTES, put_slow, b) < 0)
		rc = rs_error_nomem(err);
	if (rc == 0)
		rc = make_rings(b, err);
	if (rc == 0 && job->selection.nr) {
		rc = rs_bpf_follow(b->programs, job->selection.nr, job->selection.pids);
		if (rc < 0)
			rs_error_set(err, RESCHED_FAILED, rc, "cannot follow %u tasks:", job->selection.nr);
	}
	if (rc == 0)
		rc = rs_bpf_attach(b->programs, err);
	return rc == 0 ? start_reader(b, err) : rc;
}

static int learn_name(void *ctx, const struct rs_bpf_name *name)
{
	return rs_bpf_events_name(ctx, name->pid, name->comm);
}

/* Records flow first, names are asked then, and only with them records are read. */
static int bpf_start(struct rs_job *job, struct resched_error *err)
{
	struct bpf_backend *b = job->priv;
	int rc;

	rs_bpf_record(b->programs, true);
	rc = rs_bpf_each_task(b->programs, learn_name, &b->events, err);
	atomic_store(&b->go, true);
	return rc;
}

static int bpf_stop(struct rs_job *job, struct resched_error *err)
{
	struct bpf_backend *b = job->priv;

	(void)err;
	rs_bpf_record(b->programs, false);
	return 0;
}

static void bpf_drain(struct rs_job *job)
{
	struct bpf_backend *b = job->priv;

	if (!b->started)
		return;
	rs_spool_stop(&job->spool);	/* tells the thread; the spool has none of its own */
	pthread_join(b->thread, NULL);
	b->started = false;
}

static int bpf_count(struct rs_job *job, struct resched_error *err)
{
	struct bpf_backend *b = job->priv;
	unsigned int i;

	for (i = 0; i < b->nr_cpus; i++) {
		struct rs_instance_stats *stats = &job->stats[i];
		uint64_t all, untold;

		rs_bpf_losses(b->programs, job->cpu_ids[i], &all, &untold);
		memset(stats, 0, sizeof(*stats));
		stats->read = b->cpus[i].events;
		stats->overrun = all;
		snprintf(stats->text, sizeof(stats->text), "entries: 0\noverrun: %llu\ncommit overrun: 0\nbytes: 0\ndropped events: 0\nread events: %llu\n",
			 (unsigned long long)all, (unsigned long long)stats->read);
		job->result->events += stats->read;
		job->result->lost_events += all;
	}
	if (b->events.unknown_kinds)
		rs_job_warn(job, "some records of the BPF programs made no sense and were left out");
	job->names = rs_bpf_events_names(&b->events);
	return job->names ? 0 : rs_error_nomem(err);
}

static int bpf_follow(struct rs_job *job, unsigned int nr, const int *pids)
{
	struct bpf_backend *b = job->priv;

	return rs_bpf_follow(b->programs, nr, pids);
}

static const char *bpf_shed(struct rs_job *job, unsigned int step)
{
	struct bpf_backend *b = job->priv;

	return rs_bpf_shed(b->programs, job->opts->detail, step);
}

static void bpf_release(struct rs_job *job)
{
	struct bpf_backend *b = job->priv;
	unsigned int i;

	if (!b)
		return;
	if (b->programs)
		rs_bpf_record(b->programs, false);
	bpf_drain(job);
	for (i = 0; i < b->nr_cpus; i++) {
		rs_bpf_ring_release(&b->cpus[i].ring);
		rs_page_writer_release(&b->cpus[i].writer);
	}
	rs_bpf_unload(b->programs);
	rs_bpf_events_release(&b->events);
	rs_slow_release(&b->slow);
	rs_selection_release(&job->selection);
	free(b->cpus);
	free(b);
	job->priv = NULL;
}

const struct rs_backend_ops rs_backend_bpf = {
	.name = "bpf",
	.probe = bpf_probe, .prepare = bpf_prepare, .start = bpf_start, .stop = bpf_stop,
	.follow = bpf_follow, .shed = bpf_shed, .drain = bpf_drain, .count = bpf_count, .release = bpf_release,
};
