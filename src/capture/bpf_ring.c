// SPDX-License-Identifier: GPL-2.0-only
#include "capture/bpf_ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BUSY		(1u << 31)
#define DISCARD		(1u << 30)
#define HEAD_BYTES	8u
#define GIVE_BYTES	(128u << 10)	/* room goes back in pieces of this size: the kernel reads the counter too */

int rs_bpf_ring_map(struct rs_bpf_ring *ring, int fd, uint64_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *consumer, *rest;
	int rc;

	*ring = (struct rs_bpf_ring){ .fd = fd, .bytes = bytes };
	consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (consumer == MAP_FAILED)
		goto fail;
	ring->consumer = consumer;
	rest = mmap(NULL, page + 2 * bytes, PROT_READ, MAP_SHARED, fd, (off_t)page);
	if (rest == MAP_FAILED)
		goto fail;
	ring->producer = rest;
	ring->data = (const uint8_t *)rest + page;
	return 0;
fail:
	rc = -errno;
	rs_bpf_ring_release(ring);
	return rc;
}

uint64_t rs_bpf_ring_look(struct rs_bpf_ring *ring)
{
	ring->end = __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);
	return ring->end - ring->at;
}

static uint64_t room(uint32_t len)
{
	return (HEAD_BYTES + (uint64_t)len + 7) & ~7ull;
}

/* The first record that counts, at @at or behind. */
static const struct rs_bpf_head *find(const struct rs_bpf_ring *ring, uint64_t *at, uint32_t *ret_len)
{
	while (*at < ring->end) {
		const uint8_t *p = ring->data + (*at & (ring->bytes - 1));
		uint32_t word = __atomic_load_n((const uint32_t *)(const void *)p, __ATOMIC_ACQUIRE);

		if (word & BUSY)
			return NULL;
		*ret_len = word & ~(BUSY | DISCARD);
		if (!(word & DISCARD) && *ret_len >= sizeof(struct rs_bpf_head))
			return (const struct rs_bpf_head *)(const void *)(p + HEAD_BYTES);
		*at += room(*ret_len);
	}
	return NULL;
}

const struct rs_bpf_head *rs_bpf_ring_head(struct rs_bpf_ring *ring, uint32_t *ret_len)
{
	return find(ring, &ring->at, ret_len);
}

void rs_bpf_ring_each(const struct rs_bpf_ring *ring, void (*fn)(void *ctx, const struct rs_bpf_head *head, uint32_t len), void *ctx)
{
	uint64_t at = ring->at;
	const struct rs_bpf_head *head;
	uint32_t len;

	for (; (head = find(ring, &at, &len)) != NULL; at += room(len))
		fn(ctx, head, len);
}

void rs_bpf_ring_pass(struct rs_bpf_ring *ring, uint32_t len)
{
	ring->at += room(len);
	if (ring->at - ring->released >= GIVE_BYTES)
		rs_bpf_ring_give(ring);
}

void rs_bpf_ring_give(struct rs_bpf_ring *ring)
{
	if (ring->at == ring->released)
		return;
	__atomic_store_n(ring->consumer, ring->at, __ATOMIC_RELEASE);
	ring->released = ring->at;
}

void rs_bpf_ring_release(struct rs_bpf_ring *ring)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (ring->consumer)
		munmap(ring->consumer, page);
	if (ring->producer)
		munmap((void *)(uintptr_t)ring->producer, page + 2 * ring->bytes);
	if (ring->fd >= 0)
		close(ring->fd);
	memset(ring, 0, sizeof(*ring));
	ring->fd = -1;
}
