/* SPDX-License-Identifier: GPL-2.0-only */
/* Warnings gathered while a recording is read: at most RS_NOTES_MAX lines, the rest is counted. */
#ifndef RS_TRACE_NOTES_H
#define RS_TRACE_NOTES_H

#include <stdbool.h>

#define RS_NOTES_MAX 40u

struct rs_notes {
	unsigned int nr, dropped;
	char *lines[RS_NOTES_MAX + 1];	/* one more for the count of those left out */
	bool damaged;
};

void rs_note(struct rs_notes *notes, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same for something that was lost. */
void rs_note_damage(struct rs_notes *notes, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* rs_notes_move() - what @from has, added to @to; @from is empty then. */
void rs_notes_move(struct rs_notes *to, struct rs_notes *from);
/* rs_notes_finish() - add the line about lines left out. */
void rs_notes_finish(struct rs_notes *notes);
void rs_notes_release(struct rs_notes *notes);

#endif
