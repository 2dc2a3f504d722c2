/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Moving raw ring buffer pages from the kernel to disk: one spool file a cpu, a reader thread for
 * every few cpus.
 *
 * Spool files have no name, so nothing is left behind however the process ends. Pages are spliced,
 * never parsed. Readers wake on a timer, not for every event: their rate follows the fill of the
 * buffers, and the recording sees little of the recorder. Threads: rs_spool_start() to
 * rs_spool_stop() the readers own the cpus' fields; before and after only the caller.
 */
#ifndef RS_CAPTURE_SPOOL_H
#define RS_CAPTURE_SPOOL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <resched/error.h>

#include "capture/growing.h"
#include "capture/page_ring.h"

#define RS_SPOOL_CPUS_PER_READER 16u

struct rs_spool_cpu {
	unsigned int cpu;
	int raw_fd;		/* per_cpu/cpuN/trace_pipe_raw of the instance */
	int fd;			/* spool file; -1 until the first page */
	uint64_t bytes;		/* whole pages in it */
};

struct rs_spool;

struct rs_spool_reader {
	struct rs_spool *spool;
	unsigned int first, count;	/* of spool->cpus */
	int pipe[2];
	pthread_t thread;
	_Atomic pid_t tid;		/* 0 until the thread runs */
	bool started;
};

struct rs_spool {
	char *dir;			/* where the spool files live: beside the output */
	struct rs_page_ring *ring;	/* instead of files: pages are copied into it; NULL: files */
	struct rs_growing *growing;		/* borrowed; pages go there and not into spool files; NULL: none */
	pthread_rwlock_t turning;		/* readers hold it while they use growing */
	uint32_t page_bytes;
	uint64_t buffer_bytes;		/* of one cpu in the kernel */
	unsigned int nr_cpus;		struct rs_spool_cpu *cpus;
	unsigned int nr_readers;	struct rs_spool_reader *readers;
	int stop_fd;			/* eventfd; readable = stop */
	int failed_fd;			/* eventfd; readable = a reader met @failure */
	_Atomic int failure;		/* 0, or the negative errno of the first failed write */
};

/* rs_tmpfile() - a file without a name in @dir, mode 0600. Return: fd; -errno. */
int rs_tmpfile(const char *dir);

/*
 * rs_spool_open() - open the raw pages of cpus @cpu_ids of the instance at @instance_dir.
 * On failure @spool is as after rs_spool_release(). Return: 0; -errno.
 */
int rs_spool_open(struct rs_spool *spool, const char *instance_dir, const char *spool_dir,
		  unsigned int nr_cpus, const unsigned int *cpu_ids, uint64_t buffer_bytes,
		  struct resched_error *err);

/* rs_spool_prepare() - the same without the kernel's pages and without readers: they come by rs_spool_append(). */
int rs_spool_prepare(struct rs_spool *spool, const char *spool_dir, unsigned int nr_cpus,
		     const unsigned int *cpu_ids, uint64_t buffer_bytes, struct resched_error *err);

/* rs_spool_append() - @bytes of whole pages for spool->cpus[@idx]. Return: 0; -errno: the whole pages written are kept. */
int rs_spool_append(struct rs_spool *spool, unsigned int idx, const void *pages, uint32_t bytes);

/* rs_spool_turn() - from now on pages go to @growing, each cpu's counted from 0; nobody uses the one before any more. */
void rs_spool_turn(struct rs_spool *spool, struct rs_growing *growing);

/* Note the first failure and wake whoever polls failed_fd. */
void rs_spool_fail(struct rs_spool *spool, int rc);

/* rs_spool_to_ring() - for readers: move what the kernel has of spool->cpus[@idx], begun pages too, into the ring. spool_ring.c
 * Return: bytes; -errno. */
int64_t rs_spool_to_ring(struct rs_spool *spool, unsigned int idx, uint64_t limit);

/* rs_spool_start() - start the readers and wait until each has its thread id. All signals are
 * blocked in them. */
int rs_spool_start(struct rs_spool *spool, struct resched_error *err);

/* rs_spool_stop() - take what is left in the kernel's buffers (tracing has to be off) and end the
 * readers. Idempotent. */
void rs_spool_stop(struct rs_spool *spool);

/* What became of one cpu's pages. */
struct rs_spool_moved {
	uint64_t bytes;		/* of its data in the file, as the file's format counts them */
	uint64_t end;		/* where the file goes on */
	uint64_t raw_bytes;	/* whole pages that were moved */
	uint64_t events;	/* in them; counted on demand only */
};

/*
 * rs_spool_move() - append the pages of spool->cpus[@idx] to @out_fd at @offset and give the
 * spool's space back on the way, so that the disk holds each page about once. spool_move.c
 * @compress: write them as zstd chunks
 * @count:    count the events, for when the kernel's own counters do not tell what is in the file
 * Return: 0; -errno when the disk is full or failed: *@ret tells what was moved before, and that
 * part is whole.
 */
int rs_spool_move(struct rs_spool *spool, unsigned int idx, int out_fd, uint64_t offset,
		  bool compress, bool count, struct rs_spool_moved *ret);

/* rs_spool_release() - end the readers, drop all files. Accepts a zeroed and a half opened spool. */
void rs_spool_release(struct rs_spool *spool);

#endif
