/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events of a perf.data wait here until it is sure that none earlier follows. perf empties one ring buffer after the other, so what
 * arrives is a row of stretches in time order; each is kept as it came and a heap merges them. Order: time, cpu, arrival.
 * Memory is the events that wait; the caller looks at @bytes and takes out early when it must.
 */
#ifndef RS_TRACE_PERF_ORDER_H
#define RS_TRACE_PERF_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rs_order_item {
	uint64_t ts;
	uint32_t len;		/* of data */
	uint16_t cpu;
	uint16_t what;		/* the caller's */
	uint8_t data[];
};

#define RS_ORDER_BLOCK (256u << 10)

/* Items one behind the other, as they arrived. */
struct rs_order_block {
	struct rs_order_block *prev, *next;
	uint32_t used, waiting;		/* bytes; items not yet given back */
	uint8_t data[];
};

/* Items in order that follow each other in the blocks. */
struct rs_order_run {
	struct rs_order_block *block;	/* where the first of them is */
	uint32_t at;
	uint16_t first_cpu, last_cpu;
	uint64_t first_ts, last_ts;
	uint64_t nr, id;
	struct rs_order_run *next;	/* among the spare ones */
};

struct rs_order {
	struct rs_order_block *first, *fill;	/* in the order in which they were filled; fill is the last */
	struct rs_order_block *spare;
	struct rs_order_run **heap;		/* heap[0] has the earliest item */
	unsigned int nr_heap, room_heap;
	struct rs_order_run *open;		/* the one that grows */
	struct rs_order_run *spare_runs;
	struct rs_order_block *held;		/* of the item last given out */
	uint64_t next_id;
	uint64_t nr;				/* items that wait */
	size_t bytes;				/* memory in use */
};

/* A zeroed struct rs_order is empty. */
void rs_order_release(struct rs_order *o);

/* What rs_order_add() does when the item cannot simply be put behind the last one. */
struct rs_order_item *rs_order_add_slow(struct rs_order *o, uint64_t ts, uint16_t cpu, uint16_t what, uint32_t len);

static inline uint32_t rs_order_item_bytes(uint32_t len)
{
	return ((uint32_t)sizeof(struct rs_order_item) + len + 7) & ~7u;
}

static inline struct rs_order_item *rs_order_put(struct rs_order *o, struct rs_order_block *block, uint64_t ts, uint16_t cpu, uint16_t what,
						 uint32_t len)
{
	struct rs_order_item *item = (struct rs_order_item *)(void *)(block->data + block->used);

	o->open->last_ts = ts;
	o->open->last_cpu = cpu;
	o->open->nr++;
	o->nr++;
	block->used += rs_order_item_bytes(len);
	block->waiting++;
	item->ts = ts;
	item->cpu = cpu;
	item->what = what;
	item->len = len;
	return item;
}

/* rs_order_add() - room for an item; the caller fills its data at once. NULL: no memory, or @len over 64 KiB. */
static inline struct rs_order_item *rs_order_add(struct rs_order *o, uint64_t ts, uint16_t cpu, uint16_t what, uint32_t len)
{
	if (!o->open || ts <= o->open->last_ts || len > 4096 || o->fill->used > RS_ORDER_BLOCK - 8192)
		return rs_order_add_slow(o, ts, cpu, what, len);
	return rs_order_put(o, o->fill, ts, cpu, what, len);
}

/* rs_order_take() - the earliest item when it is before @limit, else NULL. Valid until the next call of any function. */
const struct rs_order_item *rs_order_take(struct rs_order *o, uint64_t limit);

#endif
