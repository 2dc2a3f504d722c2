/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One file of a recording: whole and readable by itself, with the host as it was when the file was begun and what changed until its end.
 * A recording has one part, or with rotation one after the other.
 */
#ifndef RS_CAPTURE_PART_H
#define RS_CAPTURE_PART_H

#include "capture/backend.h"
#include "capture/dat_writer.h"
#include "capture/growing.h"
#include "capture/output.h"
#include "capture/watch.h"

struct rs_part {
	struct rs_output output;
	int packed_fd;			/* the compressed file until it is the output; -1 none */
	struct rs_dat_writer writer;
	struct rs_growing growing;	/* the pages come here */
	struct resched_host *host;
	struct rs_watch watch;
};

/* rs_part_new() - open the file that is going to be @path, locked: as long as it is ours nobody recovers it. Return: 0; -errno. */
int rs_part_new(struct rs_part **ret, const char *path, struct resched_error *err);

/* rs_part_front() - everything before the pages: formats, host, kernel. Return: 0; -errno. */
int rs_part_front(struct rs_part *part, const struct rs_job *job, int compress, struct resched_error *err);

/*
 * rs_part_seal() - put the pages into order and write what stands behind them; @part gets no more pages. @job->stats are in it when @ended.
 * @lines: what changed meanwhile is added, a line each; @saved: count the events into it; NULL: no
 * Return: 0; -errno.
 */
int rs_part_seal(struct rs_part *part, struct rs_job *job, bool ended, struct rs_datw_buf *lines, uint64_t *saved, struct resched_error *err);

/* rs_part_bytes() - of the file. */
uint64_t rs_part_bytes(const struct rs_part *part);

/*
 * rs_part_shift() - make room for the next part of the same name: @part's file becomes PATH.1, the one there PATH.2 and so on; of @keep
 * files, the next one counted, none older is left. Return: 0; -errno: @part has its name still.
 */
int rs_part_shift(struct rs_part *part, unsigned int keep, struct resched_error *err);

void rs_part_free(struct rs_part *part);

#endif
