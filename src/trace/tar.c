// SPDX-License-Identifier: GPL-2.0-only
/* POSIX.1-1988 ustar, with GNU's long names and large sizes and the "path" and "size" of pax heads. */
#include "trace/tar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 0, NAME_LEN = 100, SIZE = 124, SIZE_LEN = 12, CHECKSUM = 148, CHECKSUM_LEN = 8, TYPE = 156, MAGIC = 257, PREFIX = 345, PREFIX_LEN = 155 };

#define PAX_MAX (1u << 20)

static uint64_t octal(const uint8_t *p, size_t len)
{
	uint64_t v = 0;

	if (*p & 0x80) {	/* GNU: the number itself, big endian */
		for (size_t i = 0; i < len; i++)
			v = v << 8 | (i ? p[i] : p[i] & 0x7f);
		return v;
	}
	for (size_t i = 0; i < len && p[i]; i++) {
		if (p[i] >= '0' && p[i] <= '7')
			v = v << 3 | (uint64_t)(p[i] - '0');
		else if (p[i] != ' ')
			break;
	}
	return v;
}

static bool is_head(const uint8_t head[RS_TAR_BLOCK])
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < RS_TAR_BLOCK; i++)
		sum += i >= CHECKSUM && i < CHECKSUM + CHECKSUM_LEN ? ' ' : head[i];
	return head[0] && sum == octal(head + CHECKSUM, CHECKSUM_LEN);
}

static bool is_empty(const uint8_t head[RS_TAR_BLOCK])
{
	for (unsigned int i = 0; i < RS_TAR_BLOCK; i++) {
		if (head[i])
			return false;
	}
	return true;
}

bool rs_tar_is(const struct rs_input *in)
{
	uint8_t head[RS_TAR_BLOCK];

	return rs_input_read(in, 0, head, sizeof(head)) == sizeof(head) && is_head(head);
}

static void set_path(struct rs_tar *tar, const uint8_t head[RS_TAR_BLOCK])
{
	int prefix = (int)strnlen((const char *)head + PREFIX, PREFIX_LEN), name = (int)strnlen((const char *)head + NAME, NAME_LEN);

	if (memcmp(head + MAGIC, "ustar\0", 6) != 0)
		prefix = 0;	/* GNU's own has other things there */
	snprintf(tar->path, sizeof(tar->path), "%.*s%s%.*s", prefix, head + PREFIX, prefix ? "/" : "", name, head + NAME);
}

/* "LENGTH KEY=VALUE\n" */
static void read_pax(struct rs_tar *tar, char *text, bool *has_path, uint64_t *size)
{
	while (*text) {
		char *key, *end;
		unsigned long len = strtoul(text, &key, 10);

		if (key == text || *key != ' ' || len > strlen(text) || len < (size_t)(key - text) + 2)
			return;
		end = text + len - 1;
		*end = '\0';
		if (!strncmp(key + 1, "path=", 5)) {
			snprintf(tar->path, sizeof(tar->path), "%s", key + 6);
			*has_path = true;
		} else if (!strncmp(key + 1, "size=", 5)) {
			*size = strtoull(key + 6, NULL, 10);
		}
		text = end + 1;
	}
}

/* Take a head that is about the next member. */
static void read_extra(struct rs_tar *tar, const struct rs_input *in, int type, uint64_t len, bool *has_path, uint64_t *size)
{
	char *text = len < PAX_MAX ? malloc((size_t)len + 1) : NULL;

	if (!text)
		return;
	text[rs_input_read(in, tar->at, text, (size_t)len)] = '\0';
	if (type == 'L') {
		snprintf(tar->path, sizeof(tar->path), "%s", text);
		*has_path = true;
	} else {
		read_pax(tar, text, has_path, size);
	}
	free(text);
}

static bool stop(struct rs_tar *tar, bool cut)
{
	tar->damaged = true;
	tar->cut = cut;
	return false;
}

bool rs_tar_next(struct rs_tar *tar, const struct rs_input *in)
{
	uint8_t head[RS_TAR_BLOCK];
	bool has_path = false;
	uint64_t pax_size = UINT64_MAX;

	for (;;) {
		uint64_t len, left;
		size_t n = rs_input_read(in, tar->at, head, sizeof(head));

		if (n < sizeof(head))
			return stop(tar, true);
		if (is_empty(head))
			return false;	/* the end is two of those */
		if (!is_head(head))
			return stop(tar, false);
		tar->at += RS_TAR_BLOCK;
		len = octal(head + SIZE, SIZE_LEN);
		if (head[TYPE] == 'L' || head[TYPE] == 'x') {
			read_extra(tar, in, head[TYPE], len, &has_path, &pax_size);
		} else if (head[TYPE] != 'g' && head[TYPE] != 'K') {
			if (pax_size != UINT64_MAX)
				len = pax_size;
			if (!has_path)
				set_path(tar, head);
		}
		left = in->size - tar->at;
		tar->off = tar->at;
		tar->size = len < left ? len : left;
		tar->missing = len - tar->size;
		if (len > left || (len + RS_TAR_BLOCK - 1) / RS_TAR_BLOCK * RS_TAR_BLOCK > left)
			tar->at = in->size;
		else
			tar->at += (len + RS_TAR_BLOCK - 1) / RS_TAR_BLOCK * RS_TAR_BLOCK;
		if (tar->missing)
			tar->damaged = tar->cut = true;
		if (head[TYPE] != 'L' && head[TYPE] != 'x' && head[TYPE] != 'g' && head[TYPE] != 'K') {
			tar->regular = head[TYPE] == '0' || head[TYPE] == '\0' || head[TYPE] == '7';
			return true;
		}
	}
}
