// SPDX-License-Identifier: GPL-2.0-only
#include "trace/growing.h"

#include <errno.h>
#include <stdlib.h>

#define MIN_PAGE_BYTES 512u

struct list { struct rs_growing_page *pages; uint64_t nr, room; };

static int list_add(struct list *list, uint64_t entry, uint64_t slot)
{
	if (list->nr == list->room) {
		uint64_t room = list->room ? 2 * list->room : 1024;
		struct rs_growing_page *grown = realloc(list->pages, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		list->pages = grown;
		list->room = room;
	}
	list->pages[list->nr++] = (struct rs_growing_page){ .entry = entry, .slot = slot };
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct rs_growing_page *x = a, *y = b;

	if (x->entry != y->entry)
		return x->entry < y->entry ? -1 : 1;
	return x->slot < y->slot ? -1 : x->slot > y->slot;
}

/* Has the page reached the disk? Its time stamp is not 0 then. */
static bool is_there(const struct rs_input *in, uint64_t at, uint32_t page_bytes)
{
	uint8_t stamp[8];

	return at + page_bytes <= in->size && rs_input_read(in, at, stamp, sizeof(stamp)) == sizeof(stamp) && rs_load_u64(stamp, false);
}

static int read_group(const struct rs_input *in, uint64_t base, uint32_t page_bytes, bool swap, uint32_t max_cpus, uint64_t first,
		      const uint8_t *map, struct list *list, uint64_t *missing)
{
	for (uint64_t i = 0; i < rs_growing_group(page_bytes); i++) {
		uint64_t entry = rs_load_u64(map + RS_GROWING_HEAD_BYTES + i * 8, swap);

		if (!entry)
			continue;
		if (!(entry >> RS_GROWING_SEQ_BITS) || (entry >> RS_GROWING_SEQ_BITS) > max_cpus ||
		    !is_there(in, rs_growing_offset(base, page_bytes, first + i), page_bytes))
			++*missing;
		else if (list_add(list, entry, first + i) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Keep one of each, and of each cpu what comes before the first that is not there: behind a gap nobody would know of a loss. */
static void keep_runs(struct list *list, uint64_t *missing)
{
	uint64_t kept = 0;

	for (uint64_t i = 0; i < list->nr; i++) {
		const struct rs_growing_page *page = &list->pages[i], *last = kept ? &list->pages[kept - 1] : NULL;
		bool same_cpu = last && rs_growing_cpu(last) == rs_growing_cpu(page);

		if (same_cpu && last->entry == page->entry)
			continue;
		if (rs_growing_seq(page) == (same_cpu ? rs_growing_seq(last) + 1 : 0))
			list->pages[kept++] = *page;
		else
			++*missing;
	}
	list->nr = kept;
}

int rs_growing_read(const struct rs_input *in, uint64_t base, uint32_t page_bytes, bool swap, uint32_t max_cpus, struct rs_growing_page **ret,
		 uint64_t *ret_nr, uint64_t *ret_missing)
{
	uint64_t group, at = base, first = 0;
	struct list list = { 0 };
	uint8_t *map;
	int rc;

	*ret_missing = 0;
	if (page_bytes < MIN_PAGE_BYTES)
		return -EBADMSG;
	group = rs_growing_group(page_bytes);
	map = malloc(page_bytes);
	rc = map ? 0 : -ENOMEM;
	for (; rc == 0 && at < in->size; at += (group + 1) * page_bytes, first += group) {
		if (rs_input_read(in, at, map, page_bytes) == page_bytes && rs_load_u64(map + RS_GROWING_MAGIC_AT, swap) == RS_GROWING_MAGIC)
			rc = read_group(in, base, page_bytes, swap, max_cpus, first, map, &list, ret_missing);
		else if (!first)
			rc = -EBADMSG;
	}
	if (!first && rc == 0)
		rc = -EBADMSG;
	free(map);
	if (rc < 0) {
		free(list.pages);
		return rc;
	}
	if (list.nr)
		qsort(list.pages, list.nr, sizeof(*list.pages), compare);
	keep_runs(&list, ret_missing);
	*ret = list.pages;
	*ret_nr = list.nr;
	return 0;
}
