// SPDX-License-Identifier: GPL-2.0-only
#include "trace/text_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES (256u << 10)
#define HEAD_BYTES 4096u

/* Where the zlib stream of atrace -z begins: after a line "TRACE:" near the start; 0: nowhere. */
static uint64_t atrace_zlib(const struct rs_input *in)
{
	uint8_t head[HEAD_BYTES + 2];
	size_t n = rs_input_read(in, 0, head, HEAD_BYTES);
	const uint8_t *p = memmem(head, n, "TRACE:", 6);
	size_t at;

	if (!p || (p > head && p[-1] != '\n'))
		return 0;
	at = (size_t)(p - head) + 6;
	if (at < n && head[at] == '\r')
		at++;
	if (at + 2 >= n || head[at] != '\n')
		return 0;
	at++;
	/* RFC 1950: deflate, and the check of the first two bytes */
	return (head[at] & 0x0f) == 8 && (head[at] * 256u + head[at + 1]) % 31 == 0 ? at : 0;
}

int rs_lines_open(struct rs_lines *lines, const struct rs_input *in)
{
	uint8_t head[8];
	enum rs_pack pack = rs_pack_of(head, rs_input_read(in, 0, head, sizeof(head)));
	uint64_t off = pack == RS_PACK_NONE ? atrace_zlib(in) : 0;

	lines->in = in;
	lines->block = calloc(1, BLOCK_BYTES + RS_LINE_SLACK);
	if (!lines->block)
		return -ENOMEM;
	if (pack != RS_PACK_NONE)
		return rs_unpack_new(&lines->unpack, in, 0, pack);
	return off ? rs_unpack_new(&lines->unpack, in, off, RS_PACK_ZLIB) : 0;
}

void rs_lines_close(struct rs_lines *lines)
{
	rs_unpack_free(lines->unpack);
	free(lines->block);
	memset(lines, 0, sizeof(*lines));
}

const char *rs_lines_trouble(const struct rs_lines *lines)
{
	return lines->unpack ? rs_unpack_trouble(lines->unpack) : NULL;
}

/* Move what is left to the front and read behind it. Return: false when nothing came. */
static bool fill(struct rs_lines *l)
{
	size_t left = l->len - l->at, n;

	if (l->ended)
		return false;
	memmove(l->block, l->block + l->at, left);
	l->at = 0;
	l->len = left;
	if (l->unpack) {
		n = rs_unpack_read(l->unpack, l->block + left, BLOCK_BYTES - left);
	} else {
		n = rs_input_read(l->in, l->off, l->block + left, BLOCK_BYTES - left);
		l->off += n;
	}
	l->len += n;
	l->ended = !n;
	return n > 0;
}

static void blank_nuls(struct rs_lines *l, char *line, size_t len)
{
	char *p = memchr(line, '\0', len);

	if (!p)
		return;
	l->nuls++;
	for (; p; p = memchr(p, '\0', len - (size_t)(p - line)))
		*p = ' ';
}

/* The line at l->at, @len bytes long, @whole with its end. */
static char *take(struct rs_lines *l, size_t len, size_t whole, size_t *ret_len)
{
	char *line = l->block + l->at;

	l->at += whole;
	l->nr++;
	blank_nuls(l, line, len);
	if (len && line[len - 1] == '\r')
		len--;
	line[len] = '\0';
	*ret_len = len;
	return line;
}

char *rs_lines_next(struct rs_lines *l, size_t *ret_len)
{
	size_t from = 0;

	for (;;) {
		size_t have = l->len - l->at;
		char *line = l->block + l->at, *end = memchr(line + from, '\n', have - from);

		if (end && l->skipping) {
			l->skipping = false;
			l->at += (size_t)(end - line) + 1;
			from = 0;
			continue;
		}
		if (l->skipping) {
			l->at = l->len;
			from = 0;
			if (!fill(l))
				return NULL;
			continue;
		}
		if (end && end - line <= RS_LINE_MAX) {
			l->unfinished = false;
			return take(l, (size_t)(end - line), (size_t)(end - line) + 1, ret_len);
		}
		if (have > RS_LINE_MAX) {	/* its last byte gives way to the end mark */
			l->cut++;
			l->skipping = true;
			l->unfinished = false;
			return take(l, RS_LINE_MAX - 1, RS_LINE_MAX, ret_len);
		}
		from = have;
		if (fill(l))
			continue;
		if (!have)
			return NULL;
		l->unfinished = true;
		return take(l, have, have, ret_len);
	}
}

const char *rs_line_unescape(char *line, const char *end)
{
	const char *p;
	char *out;

	if (end - line < 3 || memcmp(end - 3, "\\n\\", 3) != 0)
		return end;
	out = memchr(line, '\\', (size_t)(end - line));
	p = out;
	end -= 3;
	if (p < end) {
		for (; p < end; p++) {
			if (*p == '\\' && p + 1 < end)
				p++;
			*out++ = *p;
		}
		end = out;
	}
	line[end - line] = '\0';
	return end;
}
