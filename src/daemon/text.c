// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Length of the UTF-8 sequence at @p, 0 when it is none. */
static unsigned int sequence(const unsigned char *p)
{
	unsigned int len = p[0] < 0x80 ? 1 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : p[0] >= 0xe0 && p[0] < 0xf0 ? 3 : p[0] >= 0xf0 && p[0] < 0xf5 ? 4 : 0;

	for (unsigned int i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	if (len == 3 && ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0)))
		return 0;
	return len == 4 && ((p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90)) ? 0 : len;
}

/* Length of the UTF-8 sequence at @p that lies before @end. */
static unsigned int sequence_before(const unsigned char *p, const unsigned char *end)
{
	unsigned char copy[4] = { 0 };

	memcpy(copy, p, end - p < 4 ? (size_t)(end - p) : 4);
	return sequence(copy);
}

static struct json_object *clean(const char *text, size_t len, bool lines)
{
	const unsigned char *p = (const unsigned char *)text, *end = p + len;
	struct json_object *json;
	char *copy = malloc(len + 1);
	size_t at = 0;

	if (!copy)
		return NULL;
	while (p < end) {
		unsigned int n = sequence_before(p, end);
		bool is_control = n == 1 && (*p < 0x20 || *p == 0x7f) && !(lines && (*p == '\n' || *p == '\t'));

		if (n == 0 || is_control) {
			copy[at++] = '?';
			p++;
			continue;
		}
		memcpy(copy + at, p, n);
		at += n;
		p += n;
	}
	json = json_object_new_string_len(copy, (int)at);
	free(copy);
	return json;
}

struct json_object *text_json(const char *text)
{
	return clean(text, strlen(text), false);
}

struct json_object *text_json_lines(const char *text, size_t len)
{
	return clean(text, len, true);
}
