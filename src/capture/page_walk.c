// SPDX-License-Identifier: GPL-2.0-only
#include "capture/page_walk.h"

#include <string.h>

#define PADDING		29u
#define EXTEND		30u
#define STAMP		31u
#define DELTA_BITS	27
#define STAMP_BITS	59	/* of an absolute time stamp; the rest is that of the time before */

static uint32_t load32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

bool rs_page_walk_begin(struct rs_page_walk *walk, const uint8_t *page, uint32_t page_bytes)
{
	uint64_t commit;

	memcpy(&walk->ts_ns, page, sizeof(walk->ts_ns));
	memcpy(&commit, page + 8, sizeof(commit));
	walk->page = page;
	walk->at = RS_PAGE_DATA;
	walk->end = RS_PAGE_DATA + (uint32_t)(commit & RS_PAGE_BYTES);
	/* the upper half is 0, or the sign of the mark of a loss: Linux 6.1 adds that as an int */
	return (!(commit >> 32) || (commit >> 32 == UINT32_MAX && (commit & RS_PAGE_MISSED))) && walk->end <= page_bytes;
}

bool rs_page_walk_next(struct rs_page_walk *walk)
{
	uint64_t ts = walk->ts_ns;
	uint32_t at = walk->at;

	while (walk->end - at >= 4) {
		uint32_t word, type, delta, bytes = 8;

		word = load32(walk->page + at);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
		type = word >> DELTA_BITS;
		delta = word & ((1u << DELTA_BITS) - 1);
#else
		type = word & 31;
		delta = word >> 5;
#endif
		if (type && type < PADDING) {
			bytes = 4 + type * 4;
		} else if (walk->end - at < 8 || (type == PADDING && !delta)) {
			return false;
		} else if (type == EXTEND) {
			ts += (uint64_t)load32(walk->page + at + 4) << DELTA_BITS;
		} else if (type == STAMP) {
			ts = (ts >> STAMP_BITS << STAMP_BITS) + ((uint64_t)load32(walk->page + at + 4) << DELTA_BITS);
		} else {
			bytes = load32(walk->page + at + 4) + 4;
			if (bytes < 8 || bytes % 4)
				return false;
		}
		if (bytes > walk->end - at)
			return false;
		ts += delta;
		at += bytes;
		if (type < PADDING) {
			walk->ts_ns = ts;
			walk->at = at;
			return true;
		}
	}
	return false;
}
