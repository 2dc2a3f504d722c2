// SPDX-License-Identifier: GPL-2.0-only
#include "capture/growing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/files.h"

int rs_growing_map_head(const struct rs_growing *growing, uint64_t slot)
{
	uint64_t head[3] = { 0, 0, RS_GROWING_MAGIC };

	return rs_write_at(growing->fd, head, sizeof(head), rs_growing_map_offset(growing->base, growing->page_bytes, slot));
}

int rs_growing_open(struct rs_growing *growing, int fd, uint64_t base, uint32_t page_bytes)
{
	char *zeros = calloc(1, page_bytes);
	int rc = zeros ? rs_write_at(fd, zeros, page_bytes, base) : -ENOMEM;

	free(zeros);
	if (rc < 0)
		return rc;
	*growing = (struct rs_growing){ .fd = fd, .page_bytes = page_bytes, .base = base, .limit_bytes = growing->limit_bytes };
	return rs_growing_map_head(growing, 0);
}

/* One stretch of pages without a map page in between. */
struct run { uint64_t slot, offset; uint32_t nr; };

static struct run next_run(const struct rs_growing *growing, uint64_t slot, uint32_t nr)
{
	uint64_t group = rs_growing_group(growing->page_bytes), left = group - slot % group;

	return (struct run){ .slot = slot, .offset = rs_growing_offset(growing->base, growing->page_bytes, slot),
			     .nr = left < nr ? (uint32_t)left : nr };
}

static int reserve(struct rs_growing *growing, uint32_t nr, uint64_t *ret_slot)
{
	uint64_t slot = atomic_fetch_add(&growing->next, nr);

	if (growing->limit_bytes && rs_growing_offset(growing->base, growing->page_bytes, slot + nr) > growing->limit_bytes)
		return -EFBIG;
	*ret_slot = slot;
	return 0;
}

/* Say whose the pages of a run are. Whoever has the first page of a group makes the head of its map page. */
static int mark(const struct rs_growing *growing, const struct run *run, uint32_t cpu, uint64_t seq, uint32_t nr)
{
	uint64_t entries[64];
	uint32_t done, i;
	int rc = 0;

	if (run->slot % rs_growing_group(growing->page_bytes) == 0)
		rc = rs_growing_map_head(growing, run->slot);
	for (done = 0; done < nr && rc == 0; done += i) {
		for (i = 0; i < sizeof(entries) / sizeof(entries[0]) && done + i < nr; i++)
			entries[i] = rs_growing_entry(cpu, seq + done + i);
		rc = rs_write_at(growing->fd, entries, i * sizeof(entries[0]), rs_growing_entry_offset(growing->base, growing->page_bytes, run->slot + done));
	}
	return rc;
}

int rs_growing_append(struct rs_growing *growing, uint32_t cpu, uint64_t seq, const void *pages, uint32_t nr, uint32_t *ret_done)
{
	uint64_t slot = 0;
	int rc = reserve(growing, nr, &slot);

	*ret_done = 0;
	while (*ret_done < nr && rc == 0) {
		struct run run = next_run(growing, slot + *ret_done, nr - *ret_done);

		rc = rs_write_at(growing->fd, (const char *)pages + (size_t)*ret_done * growing->page_bytes, (size_t)run.nr * growing->page_bytes,
				 run.offset);
		if (rc == 0)
			rc = mark(growing, &run, cpu, seq + *ret_done, run.nr);
		if (rc == 0)
			*ret_done += run.nr;
	}
	return rc;
}

/* Return: whole pages moved; *@rc: 0, -errno. */
static uint32_t splice_run(const struct rs_growing *growing, const struct run *run, int pipe_fd, int *rc)
{
	size_t left = (size_t)run->nr * growing->page_bytes;
	loff_t at = (loff_t)run->offset;

	*rc = 0;
	while (left) {
		ssize_t n = splice(pipe_fd, NULL, growing->fd, &at, left, SPLICE_F_MOVE);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			*rc = n < 0 ? -errno : -EIO;
			break;
		}
		left -= (size_t)n;
	}
	return run->nr - (uint32_t)((left + growing->page_bytes - 1) / growing->page_bytes);
}

int rs_growing_splice(struct rs_growing *growing, uint32_t cpu, uint64_t seq, int pipe_fd, uint32_t nr, uint32_t *ret_done)
{
	uint64_t slot = 0;
	int rc = reserve(growing, nr, &slot);

	*ret_done = 0;
	while (*ret_done < nr && rc == 0) {
		struct run run = next_run(growing, slot + *ret_done, nr - *ret_done);
		uint32_t whole = splice_run(growing, &run, pipe_fd, &rc);
		int marked = mark(growing, &run, cpu, seq + *ret_done, whole);

		if (marked == 0)
			*ret_done += whole;
		if (rc == 0)
			rc = marked;
	}
	return rc;
}
