/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Event formats as tracefs prints them (events/SYSTEM/EVENT/format): a name, an id, fields with offset, size and sign,
 * and a print format. Fields are read by libtraceevent. The texts come from a file that may be damaged, and libtraceevent
 * 1.7.1 is not made for that: it recurses as deep as a print format nests and keeps state of print formats that threads
 * share, takes time with the square of a declaration's length, and crashes on some declarations. So it gets the formats
 * of events that are decoded, their fields alone, of limited length, and in the characters that the kernel declares such
 * fields with. Its messages are below the level that it prints at unless the program asked for them.
 */
#ifndef RS_TRACE_FORMAT_H
#define RS_TRACE_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

struct tep_event;
struct tep_handle;

#define RS_EVENT_NAME_MAX 64u
#define RS_FORMAT_MAX 16384u	/* bytes of a format without its print format; header_page too */
#define RS_FORMATS_MAX 256u	/* formats a handle takes: its list is a sorted array */

struct rs_field {
	uint16_t offset, size;		/* size 0 = no such field */
	bool is_signed;
	bool is_array;			/* char name[16] */
	bool is_dynamic;		/* __data_loc: u32 of offset (low 16) and length (high 16) */
	bool is_relative;		/* __rel_loc: the same, counted from the end of the field */
};

/* rs_format_head() - name and id of a format text. Return: 0; -EBADMSG. */
int rs_format_head(const char *text, char name[RS_EVENT_NAME_MAX], uint16_t *ret_id);

/* rs_format_print() - the text after "print fmt:", "" when there is none. */
const char *rs_format_print(const char *text);

/* rs_formats_new() - a handle for formats of a recording, to be freed with tep_free(). NULL: no memory. */
struct tep_handle *rs_formats_new(bool big_endian);

/*
 * rs_formats_add() - read the fields of @text. Return: borrowed from the handle; NULL: with errno ENOMEM, or 0 when it is not understood
 * or one too many.
 */
struct tep_event *rs_formats_add(struct tep_handle *formats, const char *text);

/* rs_format_field() - find a field by name, common ones too. One that does not exist has size 0. Return: true when found. */
bool rs_format_field(struct tep_event *event, const char *name, struct rs_field *ret);

#define RS_STATES_MAX 24u
#define RS_STATES_TABLE 512u

/* How a recording writes task states of a switch-out, learned from the print format of its sched_switch. */
struct rs_states {
	uint64_t mask;			/* bits the names are about */
	uint64_t preempt;		/* bit printed as "+"; 0 = the kernel has none */
	unsigned int nr;
	uint64_t bits[RS_STATES_MAX];
	uint16_t states[RS_STATES_MAX];	/* RESCHED_STATE_* */
	bool index_shifted;		/* kernels 4.15 to 4.19 stored 1 << index: one bit too high */
	uint32_t table[RS_STATES_TABLE];
};

/* rs_states_parse() - learn from @print. Return: true; false: not understood, *@st is then the rule of kernels since 4.20. */
bool rs_states_parse(struct rs_states *st, const char *print);

/* rs_states_shift() - the recording turned out to be of the kind described at index_shifted. */
void rs_states_shift(struct rs_states *st);

uint32_t rs_states_slow(const struct rs_states *st, uint64_t raw);

static inline uint32_t rs_states_decode(const struct rs_states *st, uint64_t raw)
{
	return raw < RS_STATES_TABLE ? st->table[raw] : rs_states_slow(st, raw);
}

#endif
