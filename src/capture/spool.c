// SPDX-License-Identifier: GPL-2.0-only
#include "capture/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "capture/caps.h"

#define PIPE_BYTES	(1u << 20)	/* the most an unprivileged pipe may hold */
#define PASS_BYTES	(4u << 20)	/* of one cpu before the next one gets its turn */
#define WAIT_MIN_MS	2
#define WAIT_START_MS	20
#define WAIT_MAX_MS	100
#define WAIT_RING_MAX_MS 50	/* somebody may be watching */

int rs_tmpfile(const char *dir)
{
	char path[PATH_MAX];
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL && errno != ENOENT)
		return -errno;
	/* file systems without nameless files (overlay on some kernels, network ones) */
	if (snprintf(path, sizeof(path), "%s/.resched-XXXXXX", dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}

static void notify(int fd)
{
	uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) < 0)
		return;	/* the counter is full: it is readable already */
}

void rs_spool_fail(struct rs_spool *spool, int rc)
{
	int none = 0;

	if (atomic_compare_exchange_strong(&spool->failure, &none, rc))
		notify(spool->failed_fd);
	if (spool->ring)
		rs_ring_fail(spool->ring, rc);
}

static int spool_file(struct rs_spool *spool, struct rs_spool_cpu *cpu)
{
	if (cpu->fd < 0)
		cpu->fd = rs_tmpfile(spool->dir);
	return cpu->fd;
}

/* The kernel gives whole pages. */
static int pipe_to_growing(struct rs_spool_reader *reader, struct rs_spool_cpu *cpu, size_t len)
{
	struct rs_spool *spool = reader->spool;
	uint32_t page_bytes = spool->page_bytes, done = 0;
	int rc;

	pthread_rwlock_rdlock(&spool->turning);
	rc = rs_growing_splice(spool->growing, cpu->cpu, cpu->bytes / page_bytes, reader->pipe[0], (uint32_t)(len / page_bytes), &done);
	cpu->bytes += (uint64_t)done * page_bytes;
	pthread_rwlock_unlock(&spool->turning);
	return rc;
}

/* Empty the reader's pipe into the spool file. A file cut in the middle of a page is put right by
 * its byte count. */
static int pipe_to_file(struct rs_spool_reader *reader, struct rs_spool_cpu *cpu, size_t len)
{
	loff_t at = (loff_t)cpu->bytes;
	uint64_t end;
	int fd;

	if (reader->spool->growing)
		return pipe_to_growing(reader, cpu, len);
	fd = spool_file(reader->spool, cpu);
	if (fd < 0)
		return fd;
	while (len) {
		ssize_t n = splice(reader->pipe[0], NULL, fd, &at, len, SPLICE_F_MOVE);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			int rc = n < 0 ? -errno : -EIO;

			end = (uint64_t)at;
			cpu->bytes = end - end % reader->spool->page_bytes;
			return rc;
		}
		len -= (size_t)n;
	}
	cpu->bytes = (uint64_t)at;
	return 0;
}

/* Move whole pages until there is none or the cpu has had its turn. Return: bytes; -errno. */
static int64_t drain_full_pages(struct rs_spool_reader *reader, struct rs_spool_cpu *cpu,
				uint64_t limit)
{
	uint64_t total = 0;

	while (total < limit) {
		ssize_t n = splice(cpu->raw_fd, NULL, reader->pipe[1], NULL, PIPE_BYTES,
				   SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
		int rc;

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0 || (n < 0 && errno == EAGAIN))
			break;
		if (n < 0)
			return -errno;
		rc = pipe_to_file(reader, cpu, (size_t)n);
		if (rc < 0)
			return rc;
		total += (uint64_t)n;
	}
	return (int64_t)total;
}

/* What splice leaves: the page the kernel was writing to. Tracing is off, so this ends. */
static int drain_last_page(struct rs_spool_reader *reader, struct rs_spool_cpu *cpu)
{
	uint32_t page_bytes = reader->spool->page_bytes;
	char *page = calloc(1, page_bytes);
	int rc = 0;

	if (!page)
		return -ENOMEM;
	for (;;) {
		ssize_t n = read(cpu->raw_fd, page, page_bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			rc = n < 0 && errno != EAGAIN ? -errno : 0;
			break;
		}
		memset(page + n, 0, page_bytes - (size_t)n);
		rc = rs_spool_append(reader->spool, (unsigned int)(cpu - reader->spool->cpus), page, page_bytes);
		if (rc < 0)
			break;
	}
	free(page);
	return rc;
}

/* One pass over the reader's cpus. Return: the most bytes one cpu had; -errno. */
static int64_t reader_pass(struct rs_spool_reader *reader, bool last)
{
	struct rs_spool *spool = reader->spool;
	int64_t most = 0;
	unsigned int i;

	for (i = reader->first; i < reader->first + reader->count; i++) {
		uint64_t limit = last ? UINT64_MAX : PASS_BYTES;
		int64_t n = spool->ring ? rs_spool_to_ring(spool, i, limit) : drain_full_pages(reader, &spool->cpus[i], limit);

		if (n < 0)
			return n;
		if (n > most)
			most = n;
		if (last && !spool->ring) {
			int rc = drain_last_page(reader, &spool->cpus[i]);

			if (rc < 0)
				return rc;
		}
	}
	if (spool->ring)
		rs_ring_pass(spool->ring);
	return most;
}

static int next_wait_ms(int wait_ms, uint64_t most, uint64_t buffer_bytes)
{
	if (most >= PASS_BYTES)
		return 0;	/* more is waiting */
	if (most > buffer_bytes / 8)
		wait_ms /= 2;
	else if (most < buffer_bytes / 32)
		wait_ms += wait_ms / 4 + 1;
	if (wait_ms < WAIT_MIN_MS)
		return WAIT_MIN_MS;
	return wait_ms > WAIT_MAX_MS ? WAIT_MAX_MS : wait_ms;
}

static void *reader_main(void *arg)
{
	struct rs_spool_reader *reader = arg;
	struct rs_spool *spool = reader->spool;
	struct pollfd stop = { .fd = spool->stop_fd, .events = POLLIN };
	int wait_ms = WAIT_START_MS;

	pthread_setname_np(pthread_self(), "resched");
	(void)rs_caps_drop(0);	/* it moves pages between open files */
	atomic_store(&reader->tid, gettid());
	for (;;) {
		bool last = poll(&stop, 1, wait_ms) > 0;
		int64_t most = reader_pass(reader, last);

		if (most < 0) {
			rs_spool_fail(spool, (int)most);
			return NULL;
		}
		if (last)
			return NULL;
		wait_ms = next_wait_ms(wait_ms, (uint64_t)most, spool->buffer_bytes);
		if (spool->ring && wait_ms > WAIT_RING_MAX_MS)
			wait_ms = WAIT_RING_MAX_MS;
	}
}

static int open_raw(struct rs_spool *spool, const char *instance_dir, unsigned int idx,
		    struct resched_error *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/per_cpu/cpu%u/trace_pipe_raw", instance_dir,
		 spool->cpus[idx].cpu);
	spool->cpus[idx].raw_fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (spool->cpus[idx].raw_fd >= 0)
		return 0;
	if (errno == EMFILE)
		return rs_error_set(
			err, RESCHED_FAILED, -EMFILE,
			"too many open files for %u cpus; raise the limit with ulimit -n %u",
			spool->nr_cpus, 2 * spool->nr_cpus + 64);
	return rs_error_set(err, RESCHED_FAILED, -errno, "cannot open '%s':", path);
}

static int open_readers(struct rs_spool *spool, struct resched_error *err)
{
	unsigned int i;

	spool->nr_readers = (spool->nr_cpus + RS_SPOOL_CPUS_PER_READER - 1) / RS_SPOOL_CPUS_PER_READER;
	spool->readers = calloc(spool->nr_readers, sizeof(*spool->readers));
	if (!spool->readers)
		return rs_error_nomem(err);
	for (i = 0; i < spool->nr_readers; i++)
		spool->readers[i].pipe[0] = spool->readers[i].pipe[1] = -1;
	for (i = 0; i < spool->nr_readers; i++) {
		struct rs_spool_reader *reader = &spool->readers[i];

		reader->spool = spool;
		reader->first = i * RS_SPOOL_CPUS_PER_READER;
		reader->count = spool->nr_cpus - reader->first;
		if (reader->count > RS_SPOOL_CPUS_PER_READER)
			reader->count = RS_SPOOL_CPUS_PER_READER;
		if (pipe2(reader->pipe, O_CLOEXEC) < 0)
			return rs_error_set(err, RESCHED_FAILED, -errno, "cannot make a pipe:");
		/* a smaller pipe only means more calls */
		(void)fcntl(reader->pipe[1], F_SETPIPE_SZ, PIPE_BYTES);
	}
	return 0;
}

int rs_spool_prepare(struct rs_spool *spool, const char *spool_dir, unsigned int nr_cpus,
		     const unsigned int *cpu_ids, uint64_t buffer_bytes, struct resched_error *err)
{
	unsigned int i;
	int rc;

	memset(spool, 0, sizeof(*spool));
	spool->page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
	pthread_rwlock_init(&spool->turning, NULL);
	spool->buffer_bytes = buffer_bytes;
	spool->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	spool->failed_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	spool->dir = strdup(spool_dir);
	spool->cpus = calloc(nr_cpus, sizeof(*spool->cpus));
	if (!spool->dir || !spool->cpus) {
		rc = rs_error_nomem(err);
		goto fail;
	}
	for (i = 0; i < nr_cpus; i++)
		spool->cpus[i] = (struct rs_spool_cpu){ .cpu = cpu_ids[i], .raw_fd = -1, .fd = -1 };
	spool->nr_cpus = nr_cpus;
	if (spool->stop_fd < 0 || spool->failed_fd < 0) {
		rc = rs_error_set(err, RESCHED_FAILED, -errno, "cannot make an eventfd:");
		goto fail;
	}
	return 0;
fail:
	rs_spool_release(spool);
	return rc;
}

int rs_spool_open(struct rs_spool *spool, const char *instance_dir, const char *spool_dir,
		  unsigned int nr_cpus, const unsigned int *cpu_ids, uint64_t buffer_bytes,
		  struct resched_error *err)
{
	unsigned int i;
	int rc = rs_spool_prepare(spool, spool_dir, nr_cpus, cpu_ids, buffer_bytes, err);

	if (rc < 0)
		return rc;
	for (i = 0; i < nr_cpus && rc == 0; i++)
		rc = open_raw(spool, instance_dir, i, err);
	if (rc == 0)
		rc = open_readers(spool, err);
	if (rc < 0)
		rs_spool_release(spool);
	return rc;
}

static int append_growing(struct rs_spool *spool, struct rs_spool_cpu *cpu, const void *pages, uint32_t bytes)
{
	uint32_t done = 0;
	int rc;

	pthread_rwlock_rdlock(&spool->turning);
	rc = rs_growing_append(spool->growing, cpu->cpu, cpu->bytes / spool->page_bytes, pages, bytes / spool->page_bytes, &done);
	cpu->bytes += (uint64_t)done * spool->page_bytes;
	pthread_rwlock_unlock(&spool->turning);
	return rc;
}

void rs_spool_turn(struct rs_spool *spool, struct rs_growing *growing)
{
	pthread_rwlock_wrlock(&spool->turning);
	spool->growing = growing;
	for (unsigned int i = 0; i < spool->nr_cpus; i++)
		spool->cpus[i].bytes = 0;
	pthread_rwlock_unlock(&spool->turning);
}

int rs_spool_append(struct rs_spool *spool, unsigned int idx, const void *pages, uint32_t bytes)
{
	struct rs_spool_cpu *cpu = &spool->cpus[idx];
	uint64_t end = cpu->bytes;
	const char *from = pages;
	int fd;

	if (spool->growing)
		return append_growing(spool, cpu, pages, bytes);
	fd = spool_file(spool, cpu);
	if (fd < 0)
		return fd;
	while (bytes) {
		ssize_t n = pwrite(fd, from, bytes, (off_t)end);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			int rc = n < 0 ? -errno : -EIO;

			cpu->bytes = end - end % spool->page_bytes;
			return rc;
		}
		from += n;
		end += (uint64_t)n;
		bytes -= (uint32_t)n;
	}
	cpu->bytes = end;
	return 0;
}

int rs_spool_start(struct rs_spool *spool, struct resched_error *err)
{
	sigset_t all, before;
	unsigned int i;
	int rc = 0;

	/* signals are the caller's business: its handler shall run in its own thread */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (i = 0; i < spool->nr_readers && rc == 0; i++) {
		rc = -pthread_create(&spool->readers[i].thread, NULL, reader_main, &spool->readers[i]);
		spool->readers[i].started = rc == 0;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc < 0)
		return rs_error_set(err, RESCHED_FAILED, rc, "cannot start a reader thread:");
	for (i = 0; i < spool->nr_readers; i++) {
		while (atomic_load(&spool->readers[i].tid) == 0)
			usleep(100);
	}
	return 0;
}

void rs_spool_stop(struct rs_spool *spool)
{
	unsigned int i;

	if (spool->stop_fd >= 0)
		notify(spool->stop_fd);
	for (i = 0; i < spool->nr_readers; i++) {
		if (spool->readers[i].started)
			pthread_join(spool->readers[i].thread, NULL);
		spool->readers[i].started = false;
	}
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void rs_spool_release(struct rs_spool *spool)
{
	unsigned int i;

	if (!spool->page_bytes)
		return;		/* never opened */
	rs_spool_stop(spool);
	for (i = 0; i < spool->nr_readers; i++) {
		close_fd(spool->readers[i].pipe[0]);
		close_fd(spool->readers[i].pipe[1]);
	}
	for (i = 0; i < spool->nr_cpus; i++) {
		close_fd(spool->cpus[i].raw_fd);
		close_fd(spool->cpus[i].fd);
	}
	close_fd(spool->stop_fd);
	close_fd(spool->failed_fd);
	free(spool->readers);
	free(spool->cpus);
	free(spool->dir);
	pthread_rwlock_destroy(&spool->turning);
	memset(spool, 0, sizeof(*spool));
	spool->stop_fd = spool->failed_fd = -1;
}
