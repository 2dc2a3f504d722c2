/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The texts that describe a recording's events: the layout of pages and records, and one format an
 * event, as tracefs prints them. Read from the kernel, or written by us where tracefs is not to be
 * had and for events of our own.
 */
#ifndef RS_CAPTURE_TEXTS_H
#define RS_CAPTURE_TEXTS_H

#include <stdint.h>

#include <resched/error.h>

#include "capture/dat_writer.h"

/* Ids of our own events, at the far end of what the kernel gives out from below. */
#define RS_EVENT_ID_RUN		65430u
#define RS_EVENT_ID_TRUTH	65431u
#define RS_EVENT_ID_START	65432u
#define RS_EVENT_ID_RUN_LONG	65433u
#define RS_EVENT_ID_BUILTIN	65440u	/* and on: of the kernel's events where it could not be asked */

struct rs_text_system {
	char *name;
	unsigned int nr;	char **texts;
};

struct rs_texts {
	char *header_page, *header_event;
	struct rs_text_system ftrace;
	unsigned int nr_systems;	struct rs_text_system *systems;
};

/* rs_texts_read() - of the kernel, from tracefs. Return: 0; -errno; -ENOMEM. @ret is the caller's, to rs_texts_release(). */
int rs_texts_read(struct rs_texts *ret, unsigned int nr_systems, char *const *systems, struct resched_error *err);

/* rs_texts_builtin() - the events that the BPF programs record, without asking the kernel. Return: 0; -ENOMEM. */
int rs_texts_builtin(struct rs_texts *ret, struct resched_error *err);

/* rs_texts_add() - one more text; the system is made where there is none. @text is copied. Return: 0; -ENOMEM. */
int rs_texts_add(struct rs_texts *formats, const char *system, const char *text);

/* rs_texts_find() - text of an event; NULL when there is none. Borrowed. */
const char *rs_texts_find(const struct rs_texts *formats, const char *system, const char *event);

/* As the sections of a trace.dat want them. */
void rs_texts_put_headers(const struct rs_texts *formats, struct rs_datw_buf *buf);
void rs_texts_put_ftrace(const struct rs_texts *formats, struct rs_datw_buf *buf);
void rs_texts_put_events(const struct rs_texts *formats, struct rs_datw_buf *buf);

/* Accepts a zeroed and a half filled one. */
void rs_texts_release(struct rs_texts *formats);

#endif
