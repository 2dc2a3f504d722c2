/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The reading end of a BPF ring buffer (kernel/bpf/ringbuf.c): two counters and the data, mapped twice in
 * a row so that a record never wraps. One reader a ring.
 */
#ifndef RS_CAPTURE_BPF_RING_H
#define RS_CAPTURE_BPF_RING_H

#include <stdint.h>

#include "capture/bpf/record.h"

struct rs_bpf_ring {
	int fd;				/* the map's; owned; -1 none */
	uint64_t bytes;			/* a power of two */
	uint64_t *consumer;		/* what the kernel knows of us */
	const uint64_t *producer;
	const uint8_t *data;
	uint64_t at, end;		/* read up to here; look no further than there */
	uint64_t released;		/* last value of *consumer */
};

/* rs_bpf_ring_map() - @fd becomes the ring's. Return: 0; -errno, @fd is closed. */
int rs_bpf_ring_map(struct rs_bpf_ring *ring, int fd, uint64_t bytes);

/* rs_bpf_ring_look() - set the end to what is there now. Return: bytes. */
uint64_t rs_bpf_ring_look(struct rs_bpf_ring *ring);

/* rs_bpf_ring_head() - the next record before the end; NULL when there is none, or it is still being written. */
const struct rs_bpf_head *rs_bpf_ring_head(struct rs_bpf_ring *ring, uint32_t *ret_len);

/* rs_bpf_ring_pass() - done with the record last returned; its room goes back in larger pieces. */
void rs_bpf_ring_pass(struct rs_bpf_ring *ring, uint32_t len);

/* rs_bpf_ring_give() - give back all that was passed. */
void rs_bpf_ring_give(struct rs_bpf_ring *ring);

/* rs_bpf_ring_each() - show every record from where reading is up to the end to @fn; none is passed. */
void rs_bpf_ring_each(const struct rs_bpf_ring *ring, void (*fn)(void *ctx, const struct rs_bpf_head *head, uint32_t len), void *ctx);

/* Accepts a zeroed one with fd -1. */
void rs_bpf_ring_release(struct rs_bpf_ring *ring);

#endif
