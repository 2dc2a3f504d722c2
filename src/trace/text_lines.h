/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines of a file, plain or compressed, out of one large block. */
#ifndef RS_TRACE_TEXT_LINES_H
#define RS_TRACE_TEXT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/input.h"
#include "trace/unpack.h"

#define RS_LINE_MAX (64u << 10)
#define RS_LINE_SLACK 64u	/* readable bytes behind every line: a comparison with a short constant needs no bound */

struct rs_lines {
	const struct rs_input *in;
	struct rs_unpack *unpack;	/* NULL: plain */
	uint64_t off;			/* plain: next byte of the file */
	char *block;
	size_t at, len;			/* unread part of the block */
	bool ended;
	bool skipping;			/* in the tail of a line that was cut */
	bool unfinished;		/* the line returned last had no newline */
	uint64_t nr;			/* of the line returned last, from 1 */
	uint64_t cut, nuls;		/* lines cut at RS_LINE_MAX; lines with NUL bytes */
};

/* rs_lines_open() - @lines zeroed. A zlib stream after "TRACE:" (atrace -z) is unpacked too. Return: 0; -ENOMEM. */
int rs_lines_open(struct rs_lines *lines, const struct rs_input *in);
void rs_lines_close(struct rs_lines *lines);

/*
 * rs_lines_next() - the next line without its end, '\0' in its place, NUL bytes inside made blanks; the caller may change it.
 * Return: NULL at the end.
 */
char *rs_lines_next(struct rs_lines *lines, size_t *ret_len);

/*
 * rs_line_unescape() - old systrace put the trace into a JavaScript string: a line ends in \n\ and some characters have a
 * backslash before them. Other lines stay as they are. Return: the new end.
 */
const char *rs_line_unescape(char *line, const char *end);

/* rs_lines_trouble() - see rs_unpack_trouble(). */
const char *rs_lines_trouble(const struct rs_lines *lines);

#endif
