/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The screen as data: a grid of cells with a character, a role and attributes. Views draw into areas of it and know no terminal; the
 * backend copies it out, tests write it as text. Everything drawn is clipped to its area. What a text contains cannot harm a
 * terminal: control characters and characters that are not one column wide become '?'.
 */
#ifndef TUI_GRID_H
#define TUI_GRID_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* What a cell means; the backend has a colour for each, and none of them is told by colour alone. */
enum role {
	ROLE_TEXT = 0, ROLE_DIM, ROLE_HEAD, ROLE_TITLE, ROLE_KEY, ROLE_RUN, ROLE_WAIT, ROLE_PREEMPT, ROLE_SLEEP, ROLE_IDLE, ROLE_LOST, ROLE_IRQ, ROLE_GOOD,
	ROLE_BAD, ROLE_MARK, ROLE_NR
};
#define ATTR_REVERSE 1u
#define ATTR_BOLD 2u

struct cell { uint32_t ch; uint8_t role, attr; };
struct grid { int w, h; bool utf8; struct cell *cells; };
struct area { struct grid *grid; int x, y, w, h; };

/* Characters with a plain form for terminals without UTF-8. */
enum glyph {
	GLYPH_RUN = 0, GLYPH_MIX1, GLYPH_MIX2, GLYPH_MIX3, GLYPH_WAIT, GLYPH_PREEMPT, GLYPH_SLEEP, GLYPH_IDLE, GLYPH_IRQ, GLYPH_LOST, GLYPH_UNSEEN, GLYPH_LINE,
	GLYPH_VLINE, GLYPH_UP, GLYPH_DOWN, GLYPH_DOT, GLYPH_CURSOR, GLYPH_BAR0, GLYPH_BAR7 = GLYPH_BAR0 + 7, GLYPH_NR
};

int grid_resize(struct grid *g, int w, int h);	/* clears. Return: 0; -ENOMEM, the grid as before */
void grid_release(struct grid *g);
void grid_clear(struct grid *g);
int grid_save(const struct grid *g, FILE *out);	/* as text, blanks at line ends left out. Return: 0; -EIO */

struct area grid_area(struct grid *g);
struct area area_sub(const struct area *a, int x, int y, int w, int h);	/* clipped */
uint32_t glyph(const struct grid *g, enum glyph which);
void area_cell(const struct area *a, int x, int y, enum role role, uint32_t ch);
int area_put(const struct area *a, int x, int y, enum role role, const char *text);	/* Return: columns it takes */
int area_printf(const struct area *a, int x, int y, enum role role, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void area_right(const struct area *a, int x, int y, int w, enum role role, const char *text);	/* right-aligned in @w columns */
int area_wrap(const struct area *a, int x, int y, int w, int max_lines, enum role role, const char *text);	/* Return: lines used */
void area_fill(const struct area *a, int x, int y, int w, enum role role, uint32_t ch);
void area_attr(const struct area *a, int x, int y, int w, unsigned int attr);	/* added to what is there */

#endif
