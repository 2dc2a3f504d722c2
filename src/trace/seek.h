/* SPDX-License-Identifier: GPL-2.0-only */
/* Where in the data of one cpu a time is, found by halves: its pages are in time order. */
#ifndef RS_TRACE_SEEK_H
#define RS_TRACE_SEEK_H

#include "trace/stream.h"

struct rs_place {
	uint64_t pos;			/* in the file: of a page, or of a compressed chunk's head */
	uint32_t chunks_left;		/* that one counted */
};

/*
 * rs_seek() - the last page or chunk of @cpu that begins at or before @ts; the first when none does. Pages that are empty or damaged
 * are passed over. @sh: layout and codec; its buffer of packed bytes is used.
 * Return: 0; -ENODATA: there is nothing to search; -ENOMEM.
 */
int rs_seek(struct rs_stream_shared *sh, const struct rs_dat_cpu *cpu, uint64_t ts, struct rs_place *ret);

/* rs_seek_go() - a stream just begun goes on from @place. */
void rs_seek_go(struct rs_stream *s, const struct rs_place *place);

#endif
