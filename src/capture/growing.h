/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages on their way into the file that a recording will be: written where they come, put into order at the end, in place.
 * trace/growing.h has the format. At every moment the file can be read up to its last whole page, and each step of the ordering
 * leaves two copies of a page rather than none.
 *
 * Several threads may append pages of different cpus. Ordering is for one thread, with all of them ended.
 */
#ifndef RS_CAPTURE_GROWING_H
#define RS_CAPTURE_GROWING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/dat_writer.h"
#include "trace/growing.h"

struct rs_growing {
	int fd;				/* borrowed; -1: not open */
	uint32_t page_bytes;
	uint64_t base;			/* of the first map page */
	_Atomic uint64_t next;		/* first page that was not given out */
	uint64_t limit_bytes;		/* the file may not grow beyond; 0: any size */
};

/* rs_growing_open() - begin at @base, page aligned, the end of the file. Return: 0; -errno. */
int rs_growing_open(struct rs_growing *growing, int fd, uint64_t base, uint32_t page_bytes);

/* rs_growing_map_head() - make the map page of the group of page @slot one. Return: 0; -errno. */
int rs_growing_map_head(const struct rs_growing *growing, uint64_t slot);

/* rs_growing_append() - @nr pages of @cpu, whose number @seq the caller counts. Return: 0; -errno: *@ret_done pages are written. */
int rs_growing_append(struct rs_growing *growing, uint32_t cpu, uint64_t seq, const void *pages, uint32_t nr, uint32_t *ret_done);

/* rs_growing_splice() - the same from @pipe_fd. Return: 0; -errno: *@ret_done pages are in the file, part of a page may be lost. */
int rs_growing_splice(struct rs_growing *growing, uint32_t cpu, uint64_t seq, int pipe_fd, uint32_t nr, uint32_t *ret_done);

/*
 * rs_growing_settle() - put the pages into order, cpu by cpu, and cut the file behind them.
 * @events:  count the events into it; NULL: not wanted
 * @cpus, @nr_cpus: in: the cpus to be described; out: where the data of each is. A map page within counts as data.
 * @ret_end: the end of the file
 * Return: 0; -errno, and the file is still as readable as before.
 */
int rs_growing_settle(struct rs_growing *growing, unsigned int nr_cpus, struct rs_datw_cpu *cpus, uint64_t *events, uint64_t *ret_end);

/*
 * rs_growing_pack() - write the pages in compressed chunks to @out_fd from @offset on, cpu by cpu, each from a page boundary on.
 * @cpus as above. Return: 0; -errno: then what was written is of no use, and the pages are as they were.
 */
int rs_growing_pack(struct rs_growing *growing, int out_fd, uint64_t offset, unsigned int nr_cpus, struct rs_datw_cpu *cpus, uint64_t *ret_end);

#endif
