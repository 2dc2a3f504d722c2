// SPDX-License-Identifier: GPL-2.0-only
/* The head of a format text, and its fields through libtraceevent. */
#include "trace/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>

#include "base/room.h"

#define PRINT_KEY "print fmt:"
#define HANDLE_BYTES	65536u	/* that libtraceevent takes for a handle, at most */
#define FIELD_TIMES	32u	/* and for each byte of a format: a field of 70 bytes takes less than 400 */

/* A line of the text that begins with @key (blanks before it allowed), from @text on; NULL when there is none. */
static const char *find_line(const char *text, const char *key)
{
	size_t len = strlen(key);

	while (text && *text) {
		text += strspn(text, " \t");
		if (!strncmp(text, key, len))
			return text + len;
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return NULL;
}

/* A decimal number after blanks, up to @max. Return: false when there is none. */
static bool read_number(const char *p, unsigned long max, unsigned long *ret)
{
	unsigned long v = 0;

	p += strspn(p, " \t");
	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++) {
		v = v * 10 + (unsigned long)(*p - '0');
		if (v > max)
			return false;
	}
	*ret = v;
	return true;
}

int rs_format_head(const char *text, char name[RS_EVENT_NAME_MAX], uint16_t *ret_id)
{
	const char *p = find_line(text, "name:");
	unsigned long id;
	size_t len;

	if (!p)
		return -EBADMSG;
	p += strspn(p, " \t");
	len = strcspn(p, " \t\r\n");
	if (!len || len >= RS_EVENT_NAME_MAX)
		return -EBADMSG;
	memcpy(name, p, len);
	name[len] = '\0';
	p = find_line(p, "ID:");
	if (!p || !read_number(p, UINT16_MAX, &id))
		return -EBADMSG;
	*ret_id = (uint16_t)id;
	return 0;
}

const char *rs_format_print(const char *text)
{
	const char *p = find_line(text, PRINT_KEY);

	return p ? p : "";
}

struct tep_handle *rs_formats_new(bool big_endian)
{
	struct tep_handle *formats = rs_room(HANDLE_BYTES) ? tep_alloc() : NULL;

	if (formats)
		tep_set_file_bigendian(formats, big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	return formats;
}

#define WORD_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* Nothing but what the kernel declares fields of the events with that are decoded, and no word special to libtraceevent. */
static bool is_plain(const char *text, size_t len)
{
	static const char *const special[] = { "__attribute__", "_PR_FMT" };

	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
		if (memmem(text, len, special[i], strlen(special[i])))
			return false;
	}
	return strspn(text, WORD_CHARS " \t\n:;*[]()+-") >= len;
}

/* Has every field a type and a name? libtraceevent 1.7.1 loses memory over those that have one word only. */
static bool fields_have_names(const char *text, const char *end)
{
	const char *p = text;

	while ((p = find_line(p, "field")) != NULL && p < end) {
		p += strspn(p, " \t");
		if (*p++ != ':')
			return false;
		p += strspn(p, " \t");
		p += strspn(p, WORD_CHARS);
		p += strspn(p, " \t");
		if (!*p || !strchr(WORD_CHARS "*", *p))
			return false;
	}
	return true;
}

struct tep_event *rs_formats_add(struct tep_handle *formats, const char *text)
{
	static const char no_print[] = "\n\nprint fmt: \"\"\n";
	const char *print = find_line(text, PRINT_KEY);
	size_t len = print ? (size_t)(print - text) - strlen(PRINT_KEY) : strlen(text);
	struct tep_event *event = NULL;
	char *fields;

	errno = 0;
	if (len > RS_FORMAT_MAX || tep_get_events_count(formats) >= (int)RS_FORMATS_MAX)
		return NULL;
	if (!is_plain(text, len) || !fields_have_names(text, text + len))
		return NULL;
	fields = rs_room(len * FIELD_TIMES) ? malloc(len + sizeof(no_print)) : NULL;
	if (!fields) {
		errno = ENOMEM;
		return NULL;
	}
	memcpy(fields, text, len);
	memcpy(fields + len, no_print, sizeof(no_print));
	if (tep_parse_format(formats, &event, fields, len + sizeof(no_print) - 1, "sched") != 0)
		event = NULL;
	free(fields);
	errno = 0;
	return event && !(event->flags & (int)TEP_EVENT_FL_FAILED) ? event : NULL;
}

bool rs_format_field(struct tep_event *event, const char *name, struct rs_field *ret)
{
	const struct tep_format_field *f = tep_find_any_field(event, name);

	memset(ret, 0, sizeof(*ret));
	if (!f || f->offset < 0 || f->offset > UINT16_MAX || f->size <= 0 || f->size > UINT16_MAX)
		return false;
	ret->offset = (uint16_t)f->offset;
	ret->size = (uint16_t)f->size;
	ret->is_signed = f->flags & TEP_FIELD_IS_SIGNED;
	ret->is_relative = f->flags & TEP_FIELD_IS_RELATIVE;
	ret->is_dynamic = (f->flags & TEP_FIELD_IS_DYNAMIC) && !ret->is_relative;
	ret->is_array = (f->flags & TEP_FIELD_IS_ARRAY) && !(f->flags & TEP_FIELD_IS_DYNAMIC);
	return true;
}
