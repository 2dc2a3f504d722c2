// SPDX-License-Identifier: GPL-2.0-only
#include "capture/page_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "capture/page_walk.h"

#define CHUNKS_A_CPU	16u	/* that a ring has room for at least, where chunks can be as small as that */
#define CHUNK_PAGES_MIN	2u
#define CHUNK_PAGES_MAX	64u
#define FREE_MAX	4u	/* chunks kept for the next page, once there were more */
#define EXTEND_TYPE	30u
#define EXTEND_BYTES	8u
#define DELTA_BITS	27
#define COUNT_BYTES	8u	/* of the number of lost events, behind the data of a page */

int rs_ring_init(struct rs_page_ring *ring, unsigned int nr_cpus, uint32_t page_bytes, uint64_t max_bytes, uint64_t keep_ns,
		 struct resched_error *err)
{
	uint64_t pages = max_bytes / page_bytes / nr_cpus / CHUNKS_A_CPU, least = 2ull * CHUNK_PAGES_MIN * page_bytes * nr_cpus;
	pthread_condattr_t attr;

	memset(ring, 0, sizeof(*ring));
	if (max_bytes < least)
		return rs_error_set(err, RESCHED_USAGE, -EINVAL, "a ring of %llu KiB is too small for %u cpus; give %llu KiB or more",
				    (unsigned long long)max_bytes >> 10, nr_cpus, (unsigned long long)(least + 1023) >> 10);
	ring->cpus = calloc(nr_cpus, sizeof(*ring->cpus));
	if (!ring->cpus)
		return rs_error_nomem(err);
	ring->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (ring->fd < 0) {
		int rc = -errno;

		free(ring->cpus);
		ring->cpus = NULL;
		return rs_error_set(err, RESCHED_FAILED, rc, "cannot make an eventfd:");
	}
	ring->chunk_pages = pages < CHUNK_PAGES_MIN ? CHUNK_PAGES_MIN : pages > CHUNK_PAGES_MAX ? CHUNK_PAGES_MAX : (unsigned int)pages;
	ring->nr_cpus = nr_cpus;
	ring->page_bytes = page_bytes;
	ring->max_bytes = max_bytes;
	ring->keep_ns = keep_ns;
	pthread_mutex_init(&ring->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&ring->changed, &attr);
	pthread_condattr_destroy(&attr);
	return 0;
}

/* ---- chunks; the lock is held */

static uint64_t chunk_bytes(const struct rs_page_ring *ring)
{
	return (uint64_t)ring->chunk_pages * ring->page_bytes;
}

static void free_chunk(struct rs_page_ring *ring, struct rs_ring_chunk *chunk)
{
	munmap(chunk->pages, chunk_bytes(ring));
	free(chunk);
}

static void recycle(struct rs_page_ring *ring, struct rs_ring_chunk *chunk)
{
	if (ring->nr_free >= FREE_MAX) {
		free_chunk(ring, chunk);
		return;
	}
	chunk->next = ring->free;
	ring->free = chunk;
	ring->nr_free++;
}

/* Drop the oldest chunk of @cpu, which has one. */
static void drop_head(struct rs_page_ring *ring, struct rs_ring_cpu *cpu)
{
	struct rs_ring_chunk *chunk = cpu->head;

	cpu->head = chunk->next;
	if (!cpu->head) {
		cpu->tail = NULL;
		cpu->at = 0;
		cpu->lost = 0;
	}
	cpu->dropped_ns = chunk->last_ns;
	ring->chunk_bytes_held -= chunk_bytes(ring);
	ring->dropped_bytes += (uint64_t)chunk->nr_pages * ring->page_bytes;
	chunk->dropped = true;
	if (!chunk->pins)
		recycle(ring, chunk);
}

/* Drop what was recorded longest ago. Return: false when nothing is kept. */
static bool drop_oldest(struct rs_page_ring *ring)
{
	struct rs_ring_cpu *oldest = NULL;

	for (unsigned int i = 0; i < ring->nr_cpus; i++) {
		struct rs_ring_cpu *cpu = &ring->cpus[i];

		if (cpu->head && (!oldest || cpu->head->last_ns < oldest->head->last_ns))
			oldest = cpu;
	}
	if (oldest)
		drop_head(ring, oldest);
	return oldest != NULL;
}

/* Page by page of memory it comes from the kernel and goes back to it: mappings side by side become one. */
static struct rs_ring_chunk *new_chunk(struct rs_page_ring *ring)
{
	struct rs_ring_chunk *chunk;
	uint8_t *pages;

	while (ring->chunk_bytes_held + chunk_bytes(ring) > ring->max_bytes && drop_oldest(ring))
		;
	chunk = ring->free;
	if (chunk) {
		ring->free = chunk->next;
		ring->nr_free--;
		pages = chunk->pages;
	} else {
		chunk = malloc(sizeof(*chunk));
		pages = mmap(NULL, chunk_bytes(ring), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (!chunk || pages == MAP_FAILED) {
			if (pages != MAP_FAILED)
				munmap(pages, chunk_bytes(ring));
			free(chunk);
			return NULL;
		}
	}
	*chunk = (struct rs_ring_chunk){ .pages = pages };
	ring->chunk_bytes_held += chunk_bytes(ring);
	return chunk;
}

static uint8_t *page_in(const struct rs_page_ring *ring, const struct rs_ring_chunk *chunk, unsigned int nr)
{
	return chunk->pages + (size_t)nr * ring->page_bytes;
}

static uint8_t *open_page(const struct rs_page_ring *ring, const struct rs_ring_cpu *cpu)
{
	return page_in(ring, cpu->tail, cpu->tail->nr_pages - 1);
}

/* ---- adding; the lock is held */

static void set_commit(uint8_t *page, uint32_t at, uint64_t flags)
{
	uint64_t commit = (at - RS_PAGE_DATA) | flags;

	memcpy(page + 8, &commit, sizeof(commit));
}

static uint64_t commit_of(const uint8_t *page)
{
	uint64_t commit;

	memcpy(&commit, page + 8, sizeof(commit));
	return commit;
}

/* From here on the page stays as it is. */
static void close_page(struct rs_page_ring *ring, struct rs_ring_cpu *cpu)
{
	uint8_t *page;

	if (!cpu->at)
		return;
	page = open_page(ring, cpu);
	memset(page + cpu->at, 0, ring->page_bytes - cpu->at);
	if (cpu->lost && cpu->lost != RS_RING_LOST_UNKNOWN && ring->page_bytes - cpu->at >= COUNT_BYTES) {
		memcpy(page + cpu->at, &cpu->lost, COUNT_BYTES);
		set_commit(page, cpu->at, RS_PAGE_MISSED | RS_PAGE_STORED);
	}
	cpu->at = 0;
	cpu->lost = 0;
}

/* What is known of a page before it is added. */
struct incoming { const uint8_t *page; uint32_t end; uint64_t first_ns, last_ns, lost, events; };

static int begin_page(struct rs_page_ring *ring, struct rs_ring_cpu *cpu, const struct incoming *in)
{
	struct rs_ring_chunk *chunk = cpu->tail;
	uint8_t *page;

	close_page(ring, cpu);
	if (!chunk || chunk->nr_pages == ring->chunk_pages) {
		chunk = new_chunk(ring);	/* which may drop the one that was the last */
		if (!chunk)
			return -ENOMEM;
		chunk->first_page = cpu->next_page;
		chunk->first_ns = in->first_ns;
		if (cpu->tail)
			cpu->tail->next = chunk;
		else
			cpu->head = chunk;
		cpu->tail = chunk;
	}
	page = page_in(ring, chunk, chunk->nr_pages++);
	memcpy(page, in->page, in->end);
	set_commit(page, in->end, in->lost ? RS_PAGE_MISSED : 0);
	cpu->at = in->end;
	cpu->lost = in->lost;
	cpu->next_page++;
	return 0;
}

/* Behind the last event of the open page, with the time between. Return: false when it does not fit. */
static bool fill_up(struct rs_page_ring *ring, struct rs_ring_cpu *cpu, const struct incoming *in)
{
	uint32_t bytes = in->end - RS_PAGE_DATA, room = ring->page_bytes - COUNT_BYTES, words[2];
	uint64_t begin_ns, delta;
	uint8_t *page;

	if (!cpu->at || in->lost || cpu->at + EXTEND_BYTES + bytes > room)
		return false;
	memcpy(&begin_ns, in->page, sizeof(begin_ns));
	delta = begin_ns - cpu->last_ns;
	if (begin_ns < cpu->last_ns || delta >> (DELTA_BITS + 32))
		return false;
	page = open_page(ring, cpu);
	if (delta) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
		words[0] = EXTEND_TYPE << DELTA_BITS | (uint32_t)(delta & ((1u << DELTA_BITS) - 1));
#else
		words[0] = EXTEND_TYPE | (uint32_t)delta << 5;
#endif
		words[1] = (uint32_t)(delta >> DELTA_BITS);
		memcpy(page + cpu->at, words, sizeof(words));
		cpu->at += EXTEND_BYTES;
	}
	memcpy(page + cpu->at, in->page + RS_PAGE_DATA, bytes);
	cpu->at += bytes;
	set_commit(page, cpu->at, commit_of(page) & ~RS_PAGE_BYTES);
	return true;
}

static int add_page(struct rs_page_ring *ring, struct rs_ring_cpu *cpu, const struct incoming *in)
{
	if (in->lost)
		cpu->lost_events += in->lost == RS_RING_LOST_UNKNOWN ? 1 : in->lost;
	if (!fill_up(ring, cpu, in)) {
		int rc = begin_page(ring, cpu, in);

		if (rc < 0)
			return rc;
	}
	cpu->last_ns = cpu->tail->last_ns = in->last_ns;
	cpu->events += in->events;
	if (in->last_ns > ring->newest_ns)
		ring->newest_ns = in->last_ns;
	return 0;
}

/* Cut behind the last whole event; a page that makes no sense is a loss of unknown size. */
static void look_at(struct incoming *in, const uint8_t *page, uint32_t page_bytes)
{
	struct rs_page_walk walk;
	uint64_t commit = commit_of(page);

	*in = (struct incoming){ .page = page, .end = RS_PAGE_DATA };
	if (!rs_page_walk_begin(&walk, page, page_bytes)) {
		in->lost = RS_RING_LOST_UNKNOWN;
		in->first_ns = in->last_ns = walk.ts_ns;
		return;
	}
	if (commit & RS_PAGE_MISSED) {
		in->lost = RS_RING_LOST_UNKNOWN;
		if ((commit & RS_PAGE_STORED) && page_bytes - walk.end >= COUNT_BYTES) {
			memcpy(&in->lost, page + walk.end, COUNT_BYTES);
			in->lost = in->lost && in->lost <= INT64_MAX ? in->lost : RS_RING_LOST_UNKNOWN;
		}
	}
	in->first_ns = in->last_ns = walk.ts_ns;
	while (rs_page_walk_next(&walk)) {
		if (!in->events++)
			in->first_ns = walk.ts_ns;
		in->end = walk.at;
		in->last_ns = walk.ts_ns;
	}
}

int rs_ring_add(struct rs_page_ring *ring, unsigned int idx, const void *pages, uint32_t bytes)
{
	const uint8_t *page = pages;
	int rc = 0;

	for (; bytes >= ring->page_bytes && rc == 0; page += ring->page_bytes, bytes -= ring->page_bytes) {
		struct incoming in;

		look_at(&in, page, ring->page_bytes);
		if (!in.events && !in.lost)
			continue;
		pthread_mutex_lock(&ring->lock);
		rc = add_page(ring, &ring->cpus[idx], &in);
		pthread_mutex_unlock(&ring->lock);
	}
	return rc;
}

/* ---- passes of the readers, and who waits for them */

void rs_ring_complete(struct rs_page_ring *ring, unsigned int idx, uint64_t ns)
{
	pthread_mutex_lock(&ring->lock);
	if (ns > ring->cpus[idx].complete_ns)
		ring->cpus[idx].complete_ns = ns;
	pthread_mutex_unlock(&ring->lock);
}

static uint64_t all_complete(const struct rs_page_ring *ring)
{
	uint64_t least = UINT64_MAX;

	for (unsigned int i = 0; i < ring->nr_cpus; i++)
		least = ring->cpus[i].complete_ns < least ? ring->cpus[i].complete_ns : least;
	return least;
}

static void drop_aged(struct rs_page_ring *ring, uint64_t before_ns)
{
	for (unsigned int i = 0; i < ring->nr_cpus; i++) {
		while (ring->cpus[i].head && ring->cpus[i].head->last_ns < before_ns)
			drop_head(ring, &ring->cpus[i]);
	}
}

static void notify(struct rs_page_ring *ring)
{
	uint64_t one = 1;

	if (write(ring->fd, &one, sizeof(one)) < 0)
		return;		/* readable already */
}

void rs_ring_pass(struct rs_page_ring *ring)
{
	uint64_t complete;
	bool news;

	pthread_mutex_lock(&ring->lock);
	complete = all_complete(ring);
	if (ring->keep_ns && complete > ring->keep_ns)
		drop_aged(ring, complete - ring->keep_ns);
	news = complete > ring->told_ns && ring->newest_ns > ring->told_ns;
	if (news) {
		ring->told_ns = complete;
		ring->unseen = true;
	}
	pthread_cond_broadcast(&ring->changed);
	pthread_mutex_unlock(&ring->lock);
	if (news)
		notify(ring);
}

void rs_ring_fail(struct rs_page_ring *ring, int rc)
{
	pthread_mutex_lock(&ring->lock);
	if (!ring->failure)
		ring->failure = rc;
	pthread_cond_broadcast(&ring->changed);
	pthread_mutex_unlock(&ring->lock);
	notify(ring);
}

uint64_t rs_ring_wait(struct rs_page_ring *ring, uint64_t ns, uint64_t until_ns)
{
	struct timespec until = { .tv_sec = (time_t)(until_ns / 1000000000), .tv_nsec = (long)(until_ns % 1000000000) };
	uint64_t least;

	pthread_mutex_lock(&ring->lock);
	for (;;) {
		least = all_complete(ring);
		if (least >= ns || ring->failure || pthread_cond_timedwait(&ring->changed, &ring->lock, &until) == ETIMEDOUT)
			break;
	}
	pthread_mutex_unlock(&ring->lock);
	return least;
}

void rs_ring_wait_news(struct rs_page_ring *ring, uint64_t until_ns)
{
	struct timespec until = { .tv_sec = (time_t)(until_ns / 1000000000), .tv_nsec = (long)(until_ns % 1000000000) };

	pthread_mutex_lock(&ring->lock);
	while (!ring->unseen && !ring->failure) {
		if (pthread_cond_timedwait(&ring->changed, &ring->lock, &until) == ETIMEDOUT)
			break;
	}
	ring->unseen = false;
	pthread_mutex_unlock(&ring->lock);
}

/* ---- reading */

int rs_ring_pin(struct rs_page_ring *ring, uint64_t from_ns, uint64_t to_ns, struct rs_ring_pins *ret, uint64_t *ret_dropped_ns)
{
	int rc = 0;

	*ret_dropped_ns = 0;
	pthread_mutex_lock(&ring->lock);
	for (unsigned int i = 0; i < ring->nr_cpus && rc == 0; i++) {
		struct rs_ring_cpu *cpu = &ring->cpus[i];
		struct rs_ring_chunk *c;
		unsigned int nr = 0;

		close_page(ring, cpu);
		if (cpu->dropped_ns > *ret_dropped_ns)
			*ret_dropped_ns = cpu->dropped_ns;
		for (c = cpu->head; c; c = c->next)
			nr += c->last_ns >= from_ns && c->first_ns <= to_ns;
		ret[i].chunks = nr ? malloc(nr * sizeof(*ret[i].chunks)) : NULL;
		if (nr && !ret[i].chunks)
			rc = -ENOMEM;
		for (c = cpu->head; c && rc == 0; c = c->next) {
			if (c->last_ns < from_ns || c->first_ns > to_ns)
				continue;
			c->pins++;
			ret[i].chunks[ret[i].nr].chunk = c;
			ret[i].chunks[ret[i].nr++].nr_pages = c->nr_pages;
		}
	}
	pthread_mutex_unlock(&ring->lock);
	return rc;
}

void rs_ring_unpin(struct rs_page_ring *ring, struct rs_ring_pins *pins, unsigned int nr)
{
	pthread_mutex_lock(&ring->lock);
	for (unsigned int i = 0; i < nr; i++) {
		struct rs_ring_chunk *chunk = pins->chunks[i].chunk;

		if (--chunk->pins == 0 && chunk->dropped)
			recycle(ring, chunk);
	}
	pthread_mutex_unlock(&ring->lock);
	pins->nr -= nr;
	if (pins->nr) {
		memmove(pins->chunks, pins->chunks + nr, pins->nr * sizeof(*pins->chunks));
	} else {
		free(pins->chunks);
		pins->chunks = NULL;
	}
}

/* The rest of one page from the cursor on. Return: bytes; 0 when it does not fit. */
static uint32_t copy_rest(const struct rs_ring_cpu *cpu, const uint8_t *page, bool is_open, struct rs_ring_cursor *cursor, uint8_t *buf,
			  uint32_t room)
{
	uint64_t commit = commit_of(page);
	uint32_t end = RS_PAGE_DATA + (uint32_t)(commit & RS_PAGE_BYTES), bytes = end - cursor->at;
	uint32_t need = ((uint32_t)sizeof(struct rs_ring_piece) + bytes + 7) & ~7u;
	struct rs_ring_piece head = { .ts_ns = cursor->ts_ns, .commit = bytes };

	if (need > room)
		return 0;
	if (cursor->at == RS_PAGE_DATA) {
		memcpy(&head.ts_ns, page, sizeof(head.ts_ns));
		if (commit & RS_PAGE_MISSED)
			head.lost = is_open ? cpu->lost : RS_RING_LOST_UNKNOWN;
		if (commit & RS_PAGE_STORED)
			memcpy(&head.lost, page + end, sizeof(head.lost));
	}
	memcpy(buf, &head, sizeof(head));
	memcpy(buf + sizeof(head), page + cursor->at, bytes);
	cursor->at = end;
	return need;
}

static void to_page(struct rs_ring_cursor *cursor, uint64_t page)
{
	*cursor = (struct rs_ring_cursor){ .page = page, .at = RS_PAGE_DATA };
}

static uint32_t read_pages(struct rs_page_ring *ring, struct rs_ring_cpu *cpu, struct rs_ring_cursor *cursor, uint8_t *buf, uint32_t room,
			   bool *ret_all)
{
	struct rs_ring_chunk *chunk = cpu->head;
	uint32_t len = 0;

	for (; chunk; chunk = chunk->next) {
		while (cursor->page < chunk->first_page + chunk->nr_pages) {
			unsigned int nr = (unsigned int)(cursor->page - chunk->first_page);
			const uint8_t *page = page_in(ring, chunk, nr);
			bool is_open = cpu->at && chunk == cpu->tail && nr + 1 == chunk->nr_pages;
			uint32_t end = RS_PAGE_DATA + (uint32_t)(commit_of(page) & RS_PAGE_BYTES), n;

			if (cursor->at < end || (cursor->at == RS_PAGE_DATA && !is_open)) {
				n = copy_rest(cpu, page, is_open, cursor, buf + len, room - len);
				if (!n) {
					*ret_all = false;
					return len;
				}
				len += n;
			}
			if (is_open) {
				cursor->ts_ns = cpu->last_ns;
				return len;
			}
			to_page(cursor, cursor->page + 1);
		}
	}
	return len;
}

/* Time of the last event in the pieces. */
static uint64_t last_in(const uint8_t *buf, uint32_t len)
{
	uint64_t ns = 0;
	uint32_t at = 0;

	while (at < len) {
		struct rs_ring_piece head;
		struct rs_page_walk walk;

		memcpy(&head, buf + at, sizeof(head));
		walk = (struct rs_page_walk){ .page = buf + at + 8, .at = RS_PAGE_DATA, .end = RS_PAGE_DATA + (uint32_t)head.commit,
					      .ts_ns = head.ts_ns };
		while (rs_page_walk_next(&walk))
			;
		ns = walk.ts_ns;
		at += ((uint32_t)sizeof(head) + (uint32_t)head.commit + 7) & ~7u;
	}
	return ns;
}

uint32_t rs_ring_read(struct rs_page_ring *ring, unsigned int idx, struct rs_ring_cursor *cursor, uint8_t *buf, uint32_t room,
		      uint64_t *ret_until, bool *ret_skipped)
{
	struct rs_ring_cpu *cpu = &ring->cpus[idx];
	bool all = true;
	uint32_t len;

	*ret_skipped = false;
	if (!cursor->at)
		cursor->at = RS_PAGE_DATA;
	pthread_mutex_lock(&ring->lock);
	if (cpu->head ? cursor->page < cpu->head->first_page : cursor->page + (cursor->at > RS_PAGE_DATA) < cpu->next_page) {
		*ret_skipped = cursor->page + 1 < (cpu->head ? cpu->head->first_page : cpu->next_page) || cursor->ts_ns != cpu->dropped_ns;
		to_page(cursor, cpu->head ? cpu->head->first_page : cpu->next_page);
	}
	len = read_pages(ring, cpu, cursor, buf, room, &all);
	*ret_until = cpu->last_ns > cpu->complete_ns ? cpu->last_ns : cpu->complete_ns;
	pthread_mutex_unlock(&ring->lock);
	if (!all)
		*ret_until = len ? last_in(buf, len) : 0;
	return len;
}

void rs_ring_release(struct rs_page_ring *ring)
{
	if (!ring->cpus)
		return;
	for (unsigned int i = 0; i < ring->nr_cpus; i++) {
		while (ring->cpus[i].head)
			drop_head(ring, &ring->cpus[i]);
	}
	while (ring->free) {
		struct rs_ring_chunk *chunk = ring->free;

		ring->free = chunk->next;
		free_chunk(ring, chunk);
	}
	close(ring->fd);
	pthread_cond_destroy(&ring->changed);
	pthread_mutex_destroy(&ring->lock);
	free(ring->cpus);
	memset(ring, 0, sizeof(*ring));
}
