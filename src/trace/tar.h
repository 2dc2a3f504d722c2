/* SPDX-License-Identifier: GPL-2.0-only */
/* The members of a tar (ustar, GNU and pax names and sizes), one after the other. Reads heads only. */
#ifndef RS_TRACE_TAR_H
#define RS_TRACE_TAR_H

#include "trace/input.h"

#define RS_TAR_BLOCK 512u
#define RS_TAR_PATH 4096u

/* Zeroed before the first call. */
struct rs_tar {
	uint64_t at;			/* of the next head */
	char path[RS_TAR_PATH];
	uint64_t off, size;		/* of the content, inside the file */
	uint64_t missing;		/* bytes of it that the file lacks */
	bool regular;
	bool damaged, cut;
};

/* rs_tar_is() - is there a head at the beginning? */
bool rs_tar_is(const struct rs_input *in);
/* rs_tar_next() - go to the next member. Return: false at the end, and where no head is. */
bool rs_tar_next(struct rs_tar *tar, const struct rs_input *in);

#endif
