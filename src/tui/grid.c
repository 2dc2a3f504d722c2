// SPDX-License-Identifier: GPL-2.0-only
#include "tui/grid.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const struct { uint32_t utf8; char ascii; } glyphs[GLYPH_NR] = {
	[GLYPH_RUN] = { 0x2588, '#' }, [GLYPH_MIX1] = { 0x2591, '-' }, [GLYPH_MIX2] = { 0x2592, '+' }, [GLYPH_MIX3] = { 0x2593, '%' },
	[GLYPH_WAIT] = { 0x2592, 'w' }, [GLYPH_PREEMPT] = { 0x259a, 'p' }, [GLYPH_SLEEP] = { 0x00b7, '.' }, [GLYPH_IDLE] = { 0x00b7, '.' },
	[GLYPH_IRQ] = { 0x2261, 'i' }, [GLYPH_LOST] = { '?', '?' }, [GLYPH_UNSEEN] = { ' ', ' ' }, [GLYPH_LINE] = { 0x2500, '-' }, [GLYPH_VLINE] = { 0x2502, '|' },
	[GLYPH_UP] = { 0x2191, '^' }, [GLYPH_DOWN] = { 0x2193, 'v' }, [GLYPH_DOT] = { 0x2022, '*' }, [GLYPH_CURSOR] = { 0x25bc, 'V' },
	[GLYPH_BAR0] = { 0x2581, '_' }, { 0x2582, '.' }, { 0x2583, ':' }, { 0x2584, '-' }, { 0x2585, '=' }, { 0x2586, '+' }, { 0x2587, '*' },
	{ 0x2588, '#' },
};

uint32_t glyph(const struct grid *g, enum glyph which)
{
	return g->utf8 ? glyphs[which].utf8 : (uint32_t)glyphs[which].ascii;
}

void grid_clear(struct grid *g)
{
	for (int i = 0; i < g->w * g->h; i++)
		g->cells[i] = (struct cell){ ' ', ROLE_TEXT, 0 };
}

int grid_resize(struct grid *g, int w, int h)
{
	struct cell *cells;

	if (w < 1 || h < 1 || w > 4096 || h > 4096)
		return -EINVAL;
	cells = realloc(g->cells, (size_t)w * (size_t)h * sizeof(*cells));
	if (!cells)
		return -ENOMEM;
	g->cells = cells;
	g->w = w;
	g->h = h;
	grid_clear(g);
	return 0;
}

void grid_release(struct grid *g)
{
	free(g->cells);
	g->cells = NULL;
	g->w = g->h = 0;
}

static void put_utf8(FILE *out, uint32_t ch)
{
	if (ch < 0x80) {
		fputc((int)ch, out);
	} else if (ch < 0x800) {
		fputc((int)(0xc0 | ch >> 6), out);
		fputc((int)(0x80 | (ch & 0x3f)), out);
	} else {
		fputc((int)(0xe0 | (ch >> 12 & 0x0f)), out);
		fputc((int)(0x80 | (ch >> 6 & 0x3f)), out);
		fputc((int)(0x80 | (ch & 0x3f)), out);
	}
}

int grid_save(const struct grid *g, FILE *out)
{
	for (int y = 0; y < g->h; y++) {
		const struct cell *row = &g->cells[y * g->w];
		int end = g->w;

		while (end && row[end - 1].ch == ' ')
			end--;
		for (int x = 0; x < end; x++)
			put_utf8(out, row[x].ch);
		fputc('\n', out);
	}
	return ferror(out) ? -EIO : 0;
}

struct area grid_area(struct grid *g)
{
	return (struct area){ g, 0, 0, g->w, g->h };
}

struct area area_sub(const struct area *a, int x, int y, int w, int h)
{
	struct area sub = { a->grid, a->x + x, a->y + y, w, h };

	if (sub.w > a->w - x)
		sub.w = a->w - x;
	if (sub.h > a->h - y)
		sub.h = a->h - y;
	if (sub.w < 0)
		sub.w = 0;
	if (sub.h < 0)
		sub.h = 0;
	return sub;
}

static struct cell *cell_at(const struct area *a, int x, int y)
{
	if (x < 0 || y < 0 || x >= a->w || y >= a->h || a->x + x >= a->grid->w || a->y + y >= a->grid->h)
		return NULL;
	return &a->grid->cells[(a->y + y) * a->grid->w + a->x + x];
}

void area_cell(const struct area *a, int x, int y, enum role role, uint32_t ch)
{
	struct cell *c = cell_at(a, x, y);

	if (c)
		*c = (struct cell){ ch, (uint8_t)role, 0 };
}

/* The next character of @text, always one column wide; what is not becomes '?'. */
static uint32_t next_char(const struct grid *g, const unsigned char **text)
{
	const unsigned char *p = *text;
	uint32_t ch = *p++;
	int more = ch >= 0xf0 ? 3 : ch >= 0xe0 ? 2 : ch >= 0xc2 ? 1 : 0;

	if (ch >= 0x80) {
		ch &= more == 3 ? 0x07 : more == 2 ? 0x0f : 0x1f;
		for (int i = 0; i < more && (*p & 0xc0) == 0x80; i++)
			ch = ch << 6 | (*p++ & 0x3f);
		if (!more || !g->utf8 || ch < 0xa0 || (ch >= 0x300 && ch < 0x370) || (ch >= 0x1100 && (ch < 0x2010 || ch > 0x25ff)))
			ch = '?';
	} else if (ch < 0x20 || ch == 0x7f) {
		ch = '?';
	}
	*text = p;
	return ch;
}

int area_put(const struct area *a, int x, int y, enum role role, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	int start = x;

	while (*p)
		area_cell(a, x++, y, role, next_char(a->grid, &p));
	return x - start;
}

int area_printf(const struct area *a, int x, int y, enum role role, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return area_put(a, x, y, role, text);
}

void area_right(const struct area *a, int x, int y, int w, enum role role, const char *text)
{
	int len = (int)strlen(text);

	area_put(a, x + (len < w ? w - len : 0), y, role, text);
}

int area_wrap(const struct area *a, int x, int y, int w, int max_lines, enum role role, const char *text)
{
	int lines = 0;

	while (*text && lines < max_lines && w > 0) {
		size_t len = strlen(text), take = len;
		char line[512];

		if (take > (size_t)w) {
			take = (size_t)w;
			while (take && text[take] != ' ')
				take--;
			if (!take)
				take = (size_t)w;
		}
		if (take >= sizeof(line))
			take = sizeof(line) - 1;
		memcpy(line, text, take);
		line[take] = '\0';
		area_put(a, x, y + lines++, role, line);
		text += take;
		while (*text == ' ')
			text++;
	}
	return lines;
}

void area_fill(const struct area *a, int x, int y, int w, enum role role, uint32_t ch)
{
	for (int i = 0; i < w; i++)
		area_cell(a, x + i, y, role, ch);
}

void area_attr(const struct area *a, int x, int y, int w, unsigned int attr)
{
	for (int i = 0; i < w; i++) {
		struct cell *c = cell_at(a, x + i, y);

		if (c)
			c->attr |= (uint8_t)attr;
	}
}
