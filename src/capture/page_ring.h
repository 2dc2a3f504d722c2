/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ring buffer pages kept in memory, the newest of each cpu: where a spool keeps them in files. Bounded for all cpus together, and by
 * age; what was recorded longest ago goes first, whichever cpu it is of, so that all cpus reach back about as far.
 *
 * A page that came half full is filled up by the next one. Pages lie in chunks; a closed page never changes. Whoever reads pins the
 * chunks and reads them without the lock; what is dropped meanwhile is freed with the last pin. Threads: every function takes the
 * lock; one thread at a time adds pages of one cpu.
 */
#ifndef RS_CAPTURE_PAGE_RING_H
#define RS_CAPTURE_PAGE_RING_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <resched/error.h>

#define RS_RING_LOST_UNKNOWN UINT64_MAX

struct rs_ring_chunk {
	struct rs_ring_chunk *next;	/* newer, of the same cpu; or free */
	uint8_t *pages;
	uint64_t first_page;		/* number of its first page among all of its cpu */
	uint64_t first_ns, last_ns;	/* of events in it */
	unsigned int nr_pages;		/* begun ones; only the last of a cpu's last chunk may be open */
	unsigned int pins;
	bool dropped;			/* kept by its pins alone */
};

struct rs_ring_cpu {
	struct rs_ring_chunk *head, *tail;	/* oldest, newest; NULL: none */
	uint32_t at;			/* end of the open page; 0: none is open */
	uint64_t last_ns;		/* of the last event */
	uint64_t lost;			/* before the open page, to be noted at its end; RS_RING_LOST_UNKNOWN: cannot be */
	uint64_t dropped_ns;		/* last event that is no longer kept; 0: all are */
	uint64_t complete_ns;		/* all events up to here have come */
	uint64_t next_page;		/* number of the next page to begin */
	uint64_t events, lost_events;
};

struct rs_page_ring {
	pthread_mutex_t lock;
	pthread_cond_t changed;		/* a complete_ns moved on, or @failure came; on CLOCK_MONOTONIC */
	int fd;				/* eventfd: readable once there is more to read up to where all cpus are complete */
	uint32_t page_bytes;
	unsigned int chunk_pages;
	uint64_t max_bytes, keep_ns;	/* keep_ns 0: any age */
	uint64_t chunk_bytes_held;	/* of chunks in use, pinned ones that were dropped not counted */
	uint64_t dropped_bytes;
	unsigned int nr_cpus;		struct rs_ring_cpu *cpus;
	unsigned int nr_free;		struct rs_ring_chunk *free;
	uint64_t newest_ns;		/* of the last event of any cpu */
	uint64_t told_ns;		/* all cpus were complete up to here when fd was last written */
	bool unseen;			/* it was since rs_ring_wait_news() returned */
	int failure;			/* the recorder's; sticky */
};

/* rs_ring_init() - @max_bytes: of all chunks. Return: 0; -EINVAL (USAGE) when that is too little for so many cpus; -errno; -ENOMEM. */
int rs_ring_init(struct rs_page_ring *ring, unsigned int nr_cpus, uint32_t page_bytes, uint64_t max_bytes, uint64_t keep_ns,
		 struct resched_error *err);

/* rs_ring_add() - @bytes of whole pages of cpu @idx, each perhaps partly full. Return: 0; -ENOMEM: even after dropping all that could be. */
int rs_ring_add(struct rs_page_ring *ring, unsigned int idx, const void *pages, uint32_t bytes);

/* rs_ring_complete() - all events of cpu @idx up to @ns were added. */
void rs_ring_complete(struct rs_page_ring *ring, unsigned int idx, uint64_t ns);

/* rs_ring_pass() - the end of a reader's pass: wake who waits, drop what is older than is to be kept. */
void rs_ring_pass(struct rs_page_ring *ring);

/* rs_ring_fail() - recording has failed; the first failure stays. */
void rs_ring_fail(struct rs_page_ring *ring, int rc);

/* rs_ring_wait() - until all cpus are complete up to @ns, or the time is @until_ns. Return: how far they are complete. */
uint64_t rs_ring_wait(struct rs_page_ring *ring, uint64_t ns, uint64_t until_ns);

/* rs_ring_wait_news() - until there is more to read since the last call of this or the time is @until_ns. For one thread. */
void rs_ring_wait_news(struct rs_page_ring *ring, uint64_t until_ns);

/* Pages of one cpu as they were when pinned. */
struct rs_ring_pins {
	unsigned int nr;
	struct { struct rs_ring_chunk *chunk; unsigned int nr_pages; } *chunks;
};

/*
 * rs_ring_pin() - close the open pages and pin those of all cpus that may have events from @from_ns to @to_ns.
 * @ret: one a cpu, zeroed; each to rs_ring_unpin() whatever is returned
 * @ret_dropped_ns: the newest event of any cpu that is no longer kept; 0: none
 * Return: 0; -ENOMEM.
 */
int rs_ring_pin(struct rs_page_ring *ring, uint64_t from_ns, uint64_t to_ns, struct rs_ring_pins *ret, uint64_t *ret_dropped_ns);
/* rs_ring_unpin() - give back the first @nr of what is pinned. */
void rs_ring_unpin(struct rs_page_ring *ring, struct rs_ring_pins *pins, unsigned int nr);

/* How far a reader of one cpu has come. Zeroed: at the beginning. */
struct rs_ring_cursor { uint64_t page; uint32_t at; uint64_t ts_ns; };

/* Head of what rs_ring_read() gives: the data of a page, or of a part of one; the next one follows at a multiple of 8. */
struct rs_ring_piece { uint64_t lost, ts_ns, commit; };

/*
 * rs_ring_read() - copy what came after @cursor, as pieces, as far as there is room.
 * @room:        a page and a head at least
 * @ret_until:   all events of the cpu up to here have now been copied
 * @ret_skipped: set when pages were dropped before they could be read
 * Return: bytes.
 */
uint32_t rs_ring_read(struct rs_page_ring *ring, unsigned int idx, struct rs_ring_cursor *cursor, uint8_t *buf, uint32_t room,
		      uint64_t *ret_until, bool *ret_skipped);

/* rs_ring_release() - accepts a zeroed one. Nothing may be pinned. */
void rs_ring_release(struct rs_page_ring *ring);

#endif
