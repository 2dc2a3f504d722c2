// SPDX-License-Identifier: GPL-2.0-only
/* A list of rows with one selected. */
#include "tui/app.h"

bool list_key(struct list *l, int key)
{
	int page = l->rows > 1 ? l->rows - 1 : 1;

	switch (key) {
	case TK_UP: case 'k':
		l->sel--;
		break;
	case TK_DOWN: case 'j':
		l->sel++;
		break;
	case TK_PGUP: case TK_CTRL('b'):
		l->sel -= page;
		break;
	case TK_PGDN: case TK_CTRL('f'):
		l->sel += page;
		break;
	case TK_HOME:
		l->sel = 0;
		break;
	case TK_END: case 'G':
		l->sel = l->nr - 1;
		break;
	default:
		return false;
	}
	list_fit(l, l->nr, l->rows);
	return true;
}

void list_fit(struct list *l, int nr, int rows)
{
	l->nr = nr;
	l->rows = rows < 1 ? 1 : rows;
	if (l->sel >= nr)
		l->sel = nr - 1;
	if (l->sel < 0)
		l->sel = 0;
	if (l->top > l->sel)
		l->top = l->sel;
	if (l->top < l->sel - l->rows + 1)
		l->top = l->sel - l->rows + 1;
	if (l->top > nr - l->rows)
		l->top = nr - l->rows;
	if (l->top < 0)
		l->top = 0;
}

void list_bar(const struct list *l, const struct area *a, int x, int y)
{
	int size, at;

	if (l->nr <= l->rows)
		return;
	size = l->rows * l->rows / l->nr;
	if (size < 1)
		size = 1;
	at = l->nr > l->rows ? (int)((long long)l->top * (l->rows - size) / (l->nr - l->rows)) : 0;
	for (int i = 0; i < l->rows; i++)
		area_cell(a, x, y + i, ROLE_DIM, glyph(a->grid, i >= at && i < at + size ? GLYPH_RUN : GLYPH_VLINE));
}
