/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text for people: tables whose columns fit their content, numbers with units, colours, texts that cannot harm a terminal.
 * A struct rs_table is built cell by cell, row by row, and printed once. Running out of memory is remembered and told by
 * rs_table_print().
 */
#ifndef RS_REPORT_TEXT_H
#define RS_REPORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <resched/error.h>

#define RS_NUMBER_LEN 40	/* room for any number the functions below write */

enum rs_style {
	RS_STYLE_NONE = 0,
	RS_STYLE_BOLD,
	RS_STYLE_DIM,
	RS_STYLE_GOOD,		/* green */
	RS_STYLE_BAD,		/* red */
	RS_STYLE_NR
};

struct rs_cell { char *text; enum rs_style style; };

struct rs_table {
	unsigned int nr_columns;
	const char *align;		/* a letter a column: 'l' or 'r'; borrowed */
	struct rs_cell *cells;		/* row by row */
	size_t nr_cells, cap_cells;
	bool failed;
};

void rs_table_init(struct rs_table *t, unsigned int nr_columns, const char *align);
void rs_table_release(struct rs_table *t);
/* rs_table_cell() - the next cell; its text is copied and cleaned. */
void rs_table_cell(struct rs_table *t, enum rs_style style, const char *text);
void rs_table_cellf(struct rs_table *t, enum rs_style style, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void rs_table_time(struct rs_table *t, uint64_t ns);
void rs_table_count(struct rs_table *t, uint64_t n);
/* rs_table_print() - write it, two blanks between columns, @indent before. Return: 0; -ENOMEM. */
int rs_table_print(const struct rs_table *t, FILE *out, unsigned int indent, bool color, struct resched_error *err);

const char *rs_style_on(enum rs_style style, bool color);	/* escape sequence, "" without colour */
const char *rs_style_off(enum rs_style style, bool color);

/* "12,922" */
const char *rs_count_format(uint64_t n, char buf[RS_NUMBER_LEN]);

/* rs_utf8_clean() - a copy of @text in which bytes that are not UTF-8 became U+FFFD. NULL: no memory. */
char *rs_utf8_clean(const char *text);
/* rs_text_clean() - the same, control characters became '?', and cut to @width columns with "…" (0: not cut). */
char *rs_text_clean(const char *text, unsigned int width);
unsigned int rs_text_width(const char *text);	/* code points of valid UTF-8 */

/* rs_csv_field() - @text as one field, quoted where needed. */
void rs_csv_field(FILE *out, const char *text);

/* rs_out_check() - has writing to @out worked so far? Return: 0; -EPIPE; -EIO or -ENOSPC with @err filled. */
int rs_out_check(FILE *out, struct resched_error *err);

#endif
