/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines for files, many a second: pieces are gathered and handed to the stream in one call. printf() takes most of an export's time. */
#ifndef RS_REPORT_LINE_H
#define RS_REPORT_LINE_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct rs_line { FILE *out; size_t len; char data[1024]; };

static inline void rs_line_flush(struct rs_line *l)
{
	if (l->len)
		fwrite(l->data, 1, l->len, l->out);	/* a failure stays with the stream */
	l->len = 0;
}

static inline void rs_line_bytes(struct rs_line *l, const char *text, size_t len)
{
	if (len > sizeof(l->data) - l->len)
		rs_line_flush(l);
	if (len > sizeof(l->data)) {
		fwrite(text, 1, len, l->out);
		return;
	}
	memcpy(l->data + l->len, text, len);
	l->len += len;
}

static inline void rs_line_text(struct rs_line *l, const char *text)
{
	rs_line_bytes(l, text, strlen(text));
}

static inline void rs_line_char(struct rs_line *l, char c)
{
	rs_line_bytes(l, &c, 1);
}

/* @width: with zeros in front, up to so many digits */
static inline void rs_line_u64(struct rs_line *l, uint64_t value, unsigned int width)
{
	char digits[24];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value || sizeof(digits) - at < width);
	rs_line_bytes(l, digits + at, sizeof(digits) - at);
}

static inline void rs_line_i64(struct rs_line *l, int64_t value)
{
	if (value < 0)
		rs_line_char(l, '-');
	rs_line_u64(l, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 0);
}

/* Blanks for a field of @width of which @used are there. */
static inline void rs_line_pad(struct rs_line *l, size_t used, size_t width)
{
	for (; used < width; used++)
		rs_line_char(l, ' ');
}

#endif
