/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The data of a recording that is still being made, or whose recorder was killed.
 *
 * Pages of all cpus lie in the order in which they came, in the last section of the file, an unfinished buffer section of
 * version 7. A map page stands before every group of pages and says whose each one is. To a reader of trace.dat a map page
 * is an empty page of a ring buffer: time stamp, a commit word of 0, and the rest is not looked at. So it may stay where it
 * is when the pages are put into order in place, and a finished file that loses its end still tells whose its pages are.
 *
 * Map page, in the byte order of the file: u64 time stamp (0 until finished), u64 0, u64 magic, and one u64 for each page that
 * follows: 0 = none, else cpu + 1 above the RS_GROWING_SEQ_BITS bits of the page's number within its cpu. A page is written
 * before its entry; two entries that say the same mean two copies.
 */
#ifndef RS_TRACE_GROWING_H
#define RS_TRACE_GROWING_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/input.h"

#define RS_GROWING_MAGIC		0x5253d70a9e5fe11full
#define RS_GROWING_MAGIC_AT	16u
#define RS_GROWING_HEAD_BYTES	24u
#define RS_GROWING_SEQ_BITS	40

/* Pages in a group. */
static inline uint64_t rs_growing_group(uint32_t page_bytes)
{
	return (page_bytes - RS_GROWING_HEAD_BYTES) / 8;
}

/* Offset of page @slot (they count from 0, map pages apart) behind the first map page at @base. */
static inline uint64_t rs_growing_offset(uint64_t base, uint32_t page_bytes, uint64_t slot)
{
	return base + (slot + slot / rs_growing_group(page_bytes) + 1) * page_bytes;
}

/* Offset of the map page of the group of @slot, and of its entry there. */
static inline uint64_t rs_growing_map_offset(uint64_t base, uint32_t page_bytes, uint64_t slot)
{
	return base + slot / rs_growing_group(page_bytes) * (rs_growing_group(page_bytes) + 1) * page_bytes;
}

static inline uint64_t rs_growing_entry_offset(uint64_t base, uint32_t page_bytes, uint64_t slot)
{
	return rs_growing_map_offset(base, page_bytes, slot) + RS_GROWING_HEAD_BYTES + slot % rs_growing_group(page_bytes) * 8;
}

static inline uint64_t rs_growing_entry(uint32_t cpu, uint64_t seq)
{
	return ((uint64_t)cpu + 1) << RS_GROWING_SEQ_BITS | seq;
}

struct rs_growing_page { uint64_t entry, slot; };

static inline uint32_t rs_growing_cpu(const struct rs_growing_page *page)
{
	return (uint32_t)(page->entry >> RS_GROWING_SEQ_BITS) - 1;
}

static inline uint64_t rs_growing_seq(const struct rs_growing_page *page)
{
	return page->entry & ((1ull << RS_GROWING_SEQ_BITS) - 1);
}

/*
 * rs_growing_read() - what the maps say, in the order of cpus and within each of time; of copies the first one.
 * @max_cpus: entries of cpus from there on are left out and counted in *@ret_missing
 * @ret_missing: pages that never reached the disk (the file does not hold them, or they are empty), and those behind such a gap
 * @ret: the caller's, to be freed; NULL when there are none
 * Return: 0; -EBADMSG: no map page at @base; -ENOMEM.
 */
int rs_growing_read(const struct rs_input *in, uint64_t base, uint32_t page_bytes, bool swap, uint32_t max_cpus, struct rs_growing_page **ret,
		 uint64_t *ret_nr, uint64_t *ret_missing);

#endif
