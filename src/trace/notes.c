// SPDX-License-Identifier: GPL-2.0-only
#include "trace/notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTE_BYTES 300

static void add_line(struct rs_notes *notes, const char *fmt, va_list ap)
{
	char text[NOTE_BYTES];

	vsnprintf(text, sizeof(text), fmt, ap);
	for (char *p = text; *p; p++) {
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';	/* texts of the file must not break a terminal */
	}
	for (unsigned int i = 0; i < notes->nr; i++) {
		if (!strcmp(notes->lines[i], text))
			return;
	}
	if (notes->nr == RS_NOTES_MAX) {
		notes->dropped++;
		return;
	}
	notes->lines[notes->nr] = strdup(text);
	if (notes->lines[notes->nr])
		notes->nr++;
	else
		notes->dropped++;
}

void rs_note(struct rs_notes *notes, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_line(notes, fmt, ap);
	va_end(ap);
}

void rs_note_damage(struct rs_notes *notes, const char *fmt, ...)
{
	va_list ap;

	notes->damaged = true;
	va_start(ap, fmt);
	add_line(notes, fmt, ap);
	va_end(ap);
}

void rs_notes_move(struct rs_notes *to, struct rs_notes *from)
{
	to->damaged |= from->damaged;
	for (unsigned int i = 0; i < from->nr; i++)
		rs_note(to, "%s", from->lines[i]);
	to->dropped += from->dropped;
	rs_notes_release(from);
}

void rs_notes_finish(struct rs_notes *notes)
{
	char text[NOTE_BYTES];

	if (!notes->dropped)
		return;
	snprintf(text, sizeof(text), "%u more warnings are not shown", notes->dropped);
	notes->lines[notes->nr] = strdup(text);
	if (notes->lines[notes->nr])
		notes->nr++;
	notes->dropped = 0;
}

void rs_notes_release(struct rs_notes *notes)
{
	for (unsigned int i = 0; i < notes->nr; i++)
		free(notes->lines[i]);
	memset(notes, 0, sizeof(*notes));
}
