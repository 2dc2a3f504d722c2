// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages of all cpus, mixed, put into order within the file. A permutation, followed along its chains and cycles: each page is
 * moved once, one page of room is enough, and the map is told after each move, so that a kill at any moment costs nothing.
 */
#include "capture/growing.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/files.h"
#include "capture/page_count.h"

#define NONE UINT64_MAX
#define MAX_CPUS 65535u

struct order {
	const struct rs_growing *growing;
	uint64_t nr;			/* pages; they are to be the first ones */
	struct rs_growing_page *pages;	/* [i]: what is to be page i, and where it is now */
	uint64_t *wanted_at;		/* [slot] for slots before nr: where its present content is wanted; NONE: nowhere */
	char *buf;			/* a page */
	uint64_t nr_maps;	uint64_t **maps;	/* map pages in memory, each once it is needed; MAP_FAILED: it cannot be */
};

static int read_pages(const struct rs_growing *growing, struct rs_growing_page **ret, uint64_t *ret_nr)
{
	struct rs_input in = { .fd = growing->fd };
	struct stat st;
	uint64_t missing;

	if (fstat(growing->fd, &st) < 0)
		return -errno;
	in.size = (uint64_t)st.st_size;
	*ret = NULL;
	*ret_nr = 0;
	return rs_growing_read(&in, growing->base, growing->page_bytes, false, MAX_CPUS, ret, ret_nr, &missing);
}

static uint64_t offset_of(const struct rs_growing *growing, uint64_t slot)
{
	return rs_growing_offset(growing->base, growing->page_bytes, slot);
}

/* The entry of @slot in memory that is the file's; NULL where it cannot be. */
static _Atomic uint64_t *mapped_entry(const struct order *order, uint64_t slot)
{
	const struct rs_growing *growing = order->growing;
	uint64_t group = slot / rs_growing_group(growing->page_bytes);
	void *map;

	if (group >= order->nr_maps)
		return NULL;
	map = order->maps[group];
	if (!map) {
		map = mmap(NULL, growing->page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, growing->fd,
			   (off_t)rs_growing_map_offset(growing->base, growing->page_bytes, slot));
		order->maps[group] = map;
	}
	if (map == MAP_FAILED)
		return NULL;
	return (_Atomic uint64_t *)((char *)map + RS_GROWING_HEAD_BYTES) + slot % rs_growing_group(growing->page_bytes);
}

static int set_entry(const struct order *order, uint64_t slot, uint64_t entry)
{
	const struct rs_growing *growing = order->growing;
	_Atomic uint64_t *mapped = mapped_entry(order, slot);

	if (!mapped)
		return rs_write_at(growing->fd, &entry, sizeof(entry), rs_growing_entry_offset(growing->base, growing->page_bytes, slot));
	atomic_store(mapped, entry);
	return 0;
}

/* Copy a page over one that is free or has a copy elsewhere. */
static int move_page(struct order *order, uint64_t from, uint64_t to, uint64_t entry)
{
	const struct rs_growing *growing = order->growing;
	int rc = set_entry(order, to, 0);

	if (rc == 0)
		rc = rs_read_at(growing->fd, order->buf, growing->page_bytes, offset_of(growing, from));
	if (rc == 0)
		rc = rs_write_at(growing->fd, order->buf, growing->page_bytes, offset_of(growing, to));
	return rc == 0 ? set_entry(order, to, entry) : rc;
}

/* @hole may be overwritten: fill it, then the place this came from, and so on up to a place that nothing is wanted at, or @spare. */
static int fill(struct order *order, uint64_t hole, uint64_t spared, uint64_t spare)
{
	while (hole < order->nr) {
		struct rs_growing_page *page = &order->pages[hole];
		uint64_t from = page->slot;
		int rc = move_page(order, from == spared ? spare : from, hole, page->entry);

		if (rc < 0)
			return rc;
		page->slot = hole;
		order->wanted_at[hole] = hole;
		if (from == spared)
			return set_entry(order, spare, 0);
		if (from < order->nr)
			order->wanted_at[from] = NONE;
		hole = from;
	}
	return 0;
}

/* First the chains that begin with a free place, then what is left: cycles, one page of each spared. */
static int permute(struct order *order, uint64_t spare)
{
	uint64_t slot;
	int rc = spare % rs_growing_group(order->growing->page_bytes) ? 0 : rs_growing_map_head(order->growing, spare);

	for (slot = 0; slot < order->nr && rc == 0; slot++) {
		if (order->wanted_at[slot] == NONE)
			rc = fill(order, slot, NONE, NONE);
	}
	for (slot = 0; slot < order->nr && rc == 0; slot++) {
		if (order->pages[slot].slot == slot)
			continue;
		rc = move_page(order, slot, spare, order->pages[order->wanted_at[slot]].entry);
		if (rc == 0)
			rc = fill(order, slot, slot, spare);
	}
	return rc;
}

static int order_init(struct order *order, const struct rs_growing *growing)
{
	uint64_t i;
	int rc;

	*order = (struct order){ .growing = growing };
	rc = read_pages(growing, &order->pages, &order->nr);
	if (rc < 0)
		return rc;
	order->buf = malloc(growing->page_bytes);
	order->wanted_at = malloc((order->nr + 1) * sizeof(*order->wanted_at));
	if (!order->buf || !order->wanted_at)
		return -ENOMEM;
	/* of the pages that are to stay: all of them are whole and on the disk */
	order->nr_maps = order->nr / rs_growing_group(growing->page_bytes);
	order->maps = calloc(order->nr_maps + 1, sizeof(*order->maps));
	if (!order->maps)
		return -ENOMEM;
	for (i = 0; i < order->nr; i++)
		order->wanted_at[i] = NONE;
	for (i = 0; i < order->nr; i++) {
		if (order->pages[i].slot < order->nr)
			order->wanted_at[order->pages[i].slot] = i;
	}
	return 0;
}

static void order_release(struct order *order)
{
	uint64_t i;

	for (i = 0; i < order->nr_maps && order->maps; i++) {
		if (order->maps[i] && order->maps[i] != MAP_FAILED)
			munmap(order->maps[i], order->growing->page_bytes);
	}
	free(order->maps);
	free(order->pages);
	free(order->wanted_at);
	free(order->buf);
}

/* A map page between two pages of a cpu has to look like an empty one of the same time. */
static int stamp_map(const struct order *order, uint64_t slot)
{
	const struct rs_growing *growing = order->growing;
	uint64_t stamp;
	int rc = rs_read_at(growing->fd, &stamp, sizeof(stamp), offset_of(growing, slot - 1));

	return rc == 0 ? rs_write_at(growing->fd, &stamp, sizeof(stamp), rs_growing_map_offset(growing->base, growing->page_bytes, slot)) : rc;
}

static int count(const struct order *order, uint64_t *events)
{
	uint64_t i;

	*events = 0;
	for (i = 0; i < order->nr; i++) {
		int64_t n = rs_read_at(order->growing->fd, order->buf, order->growing->page_bytes, offset_of(order->growing, i));

		if (n == 0)
			n = rs_page_count(order->buf, order->growing->page_bytes, order->growing->page_bytes);
		if (n < 0)
			return (int)n;
		*events += (uint64_t)n;
	}
	return 0;
}

/* What is behind the last page is no copy any more once the file is cut. */
static int clear_rest(const struct order *order)
{
	const struct rs_growing *growing = order->growing;
	uint64_t group = rs_growing_group(growing->page_bytes), used = order->nr % group;

	if (!used && order->nr)
		return 0;
	memset(order->buf, 0, growing->page_bytes);
	return rs_write_at(growing->fd, order->buf, (group - used) * 8, rs_growing_entry_offset(growing->base, growing->page_bytes, order->nr));
}

static struct rs_datw_cpu *find_cpu(struct rs_datw_cpu *cpus, unsigned int nr_cpus, uint32_t cpu)
{
	unsigned int i;

	for (i = 0; i < nr_cpus; i++) {
		if (cpus[i].cpu == cpu)
			return &cpus[i];
	}
	return NULL;
}

static int describe(const struct order *order, unsigned int nr_cpus, struct rs_datw_cpu *cpus)
{
	const struct rs_growing *growing = order->growing;
	uint64_t i;

	for (i = 0; i < nr_cpus; i++)
		cpus[i].offset = cpus[i].bytes = 0;
	for (i = 0; i < order->nr; i++) {
		struct rs_datw_cpu *cpu = find_cpu(cpus, nr_cpus, rs_growing_cpu(&order->pages[i]));

		if (!cpu)
			continue;
		if (!cpu->bytes)
			cpu->offset = offset_of(growing, i);
		else if (i % rs_growing_group(growing->page_bytes) == 0) {
			int rc = stamp_map(order, i);

			if (rc < 0)
				return rc;
		}
		cpu->bytes = offset_of(growing, i) + growing->page_bytes - cpu->offset;
	}
	return 0;
}

/* Room behind all pages, for one page of each cycle. */
static uint64_t spare_slot(const struct order *order)
{
	uint64_t last = order->nr, i;

	for (i = 0; i < order->nr; i++) {
		if (order->pages[i].slot >= last)
			last = order->pages[i].slot + 1;
	}
	return last;
}

int rs_growing_settle(struct rs_growing *growing, unsigned int nr_cpus, struct rs_datw_cpu *cpus, uint64_t *events, uint64_t *ret_end)
{
	struct order order;
	int rc = order_init(&order, growing);

	if (rc == 0)
		rc = permute(&order, spare_slot(&order));
	if (rc == 0)
		rc = describe(&order, nr_cpus, cpus);
	if (rc == 0 && events)
		rc = count(&order, events);
	if (rc == 0)
		rc = clear_rest(&order);
	if (rc == 0) {
		*ret_end = order.nr ? offset_of(growing, order.nr - 1) + growing->page_bytes : growing->base + growing->page_bytes;
		rc = ftruncate(growing->fd, (off_t)*ret_end) < 0 ? -errno : 0;
	}
	order_release(&order);
	return rc;
}
