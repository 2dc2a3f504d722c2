// SPDX-License-Identifier: GPL-2.0-only
#include "trace/perf_order.h"

#include <stdlib.h>
#include <string.h>

#define ITEM_MAX (64u << 10)

static void free_blocks(struct rs_order_block *b)
{
	while (b) {
		struct rs_order_block *next = b->next;

		free(b);
		b = next;
	}
}

void rs_order_release(struct rs_order *o)
{
	for (unsigned int i = 0; i < o->nr_heap; i++)
		free(o->heap[i]);
	while (o->spare_runs) {
		struct rs_order_run *next = o->spare_runs->next;

		free(o->spare_runs);
		o->spare_runs = next;
	}
	free_blocks(o->first);
	free_blocks(o->spare);
	free(o->heap);
	memset(o, 0, sizeof(*o));
}

/* A block with room for @bytes at the end of the chain. */
static struct rs_order_block *block_for(struct rs_order *o, uint32_t bytes)
{
	struct rs_order_block *b = o->fill;

	if (b && !b->waiting)
		b->used = 0;	/* all of it was given out and back */
	if (b && b->used + bytes <= RS_ORDER_BLOCK)
		return b;
	b = o->spare;
	if (b) {
		o->spare = b->next;
	} else {
		b = malloc(sizeof(*b) + RS_ORDER_BLOCK);
		if (!b)
			return NULL;
	}
	o->bytes += RS_ORDER_BLOCK;
	b->used = b->waiting = 0;
	b->next = NULL;
	b->prev = o->fill;
	if (b->prev)
		b->prev->next = b;
	else
		o->first = b;
	o->fill = b;
	return b;
}

/* An item of this block is done with. */
static void give_back(struct rs_order *o, struct rs_order_block *b)
{
	if (--b->waiting || b == o->fill)
		return;
	if (b->prev)
		b->prev->next = b->next;
	else
		o->first = b->next;
	b->next->prev = b->prev;	/* fill comes later, so there is a next */
	b->next = o->spare;
	o->spare = b;
	o->bytes -= RS_ORDER_BLOCK;
}

static inline bool earlier(const struct rs_order_run *a, const struct rs_order_run *b)
{
	if (a->first_ts != b->first_ts)
		return a->first_ts < b->first_ts;
	if (a->first_cpu != b->first_cpu)
		return a->first_cpu < b->first_cpu;
	return a->id < b->id;
}

static void sift_down(struct rs_order *o, unsigned int at)
{
	struct rs_order_run *moved = o->heap[at];

	for (;;) {
		unsigned int child = at * 2 + 1;

		if (child >= o->nr_heap)
			break;
		if (child + 1 < o->nr_heap && earlier(o->heap[child + 1], o->heap[child]))
			child++;
		if (!earlier(o->heap[child], moved))
			break;
		o->heap[at] = o->heap[child];
		at = child;
	}
	o->heap[at] = moved;
}

static void sift_up(struct rs_order *o, unsigned int at)
{
	struct rs_order_run *moved = o->heap[at];

	while (at && earlier(moved, o->heap[(at - 1) / 2])) {
		o->heap[at] = o->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	o->heap[at] = moved;
}

static struct rs_order_run *new_run(struct rs_order *o)
{
	struct rs_order_run *run = o->spare_runs;

	if (o->nr_heap == o->room_heap) {
		unsigned int room = o->room_heap ? o->room_heap * 2 : 64;
		struct rs_order_run **more = realloc(o->heap, room * sizeof(struct rs_order_run *));

		if (!more)
			return NULL;
		o->bytes += (room - o->room_heap) * sizeof(struct rs_order_run *);
		o->heap = more;
		o->room_heap = room;
	}
	if (run)
		o->spare_runs = run->next;
	else
		run = malloc(sizeof(*run));
	if (run)
		o->bytes += sizeof(*run);
	return run;
}

struct rs_order_item *rs_order_add_slow(struct rs_order *o, uint64_t ts, uint16_t cpu, uint16_t what, uint32_t len)
{
	struct rs_order_run *run = o->open;
	struct rs_order_block *block;

	if (len > ITEM_MAX)
		return NULL;
	block = block_for(o, rs_order_item_bytes(len));
	if (!block)
		return NULL;
	if (!run || ts < run->last_ts || (ts == run->last_ts && cpu < run->last_cpu)) {
		run = new_run(o);
		if (!run)
			return NULL;
		*run = (struct rs_order_run){ .block = block, .at = block->used, .first_ts = ts, .first_cpu = cpu, .id = o->next_id++ };
		o->open = run;
		o->heap[o->nr_heap++] = run;
		sift_up(o, o->nr_heap - 1);
	}
	return rs_order_put(o, block, ts, cpu, what, len);
}

/* Go to the next item of the run at the top of the heap. */
static void advance(struct rs_order *o, struct rs_order_run *run, const struct rs_order_item *item)
{
	if (--run->nr) {
		run->at += rs_order_item_bytes(item->len);
		if (run->at >= run->block->used) {
			run->block = run->block->next;
			run->at = 0;
		}
		item = (const struct rs_order_item *)(void *)(run->block->data + run->at);
		run->first_ts = item->ts;
		run->first_cpu = item->cpu;
	} else {
		if (o->open == run)
			o->open = NULL;
		run->next = o->spare_runs;
		o->spare_runs = run;
		o->bytes -= sizeof(*run);
		o->heap[0] = o->heap[--o->nr_heap];
	}
	if (o->nr_heap > 1)
		sift_down(o, 0);
}

const struct rs_order_item *rs_order_take(struct rs_order *o, uint64_t limit)
{
	const struct rs_order_item *item;
	struct rs_order_run *run;

	if (o->held) {
		give_back(o, o->held);
		o->held = NULL;
	}
	if (!o->nr_heap || o->heap[0]->first_ts >= limit)
		return NULL;
	run = o->heap[0];
	item = (const struct rs_order_item *)(void *)(run->block->data + run->at);
	o->held = run->block;
	o->nr--;
	advance(o, run, item);
	return item;
}
