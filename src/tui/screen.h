/* SPDX-License-Identifier: GPL-2.0-only */
/* The terminal: the only file behind this header knows curses. Keys come out as TK_ numbers, grids go in. */
#ifndef TUI_SCREEN_H
#define TUI_SCREEN_H

#include <stdbool.h>
#include <resched/error.h>

#include "tui/grid.h"

struct screen;
int screen_open(bool color, struct screen **ret, struct resched_error *err);
void screen_close(struct screen *s);			/* restores the terminal; NULL is fine */
void screen_size(const struct screen *s, int *w, int *h);
void screen_show(struct screen *s, const struct grid *g);
/* screen_key() - the next key without waiting. @x, @y, @button: of TK_MOUSE. Return: the key; TK_NONE. */
int screen_key(struct screen *s, int *x, int *y, int *button);
void screen_suspend(struct screen *s);			/* to the shell and back */

#endif
