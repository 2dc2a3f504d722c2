// SPDX-License-Identifier: GPL-2.0-only
#include "report/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/units.h"

static const char *const style_codes[RS_STYLE_NR] = { "", "\033[1m", "\033[2m", "\033[32m", "\033[31m" };

const char *rs_style_on(enum rs_style style, bool color)
{
	return color ? style_codes[style] : "";
}

const char *rs_style_off(enum rs_style style, bool color)
{
	return color && style != RS_STYLE_NONE ? "\033[0m" : "";
}

/* Length of the UTF-8 sequence at @s, 0 when it is not one (overlong, a surrogate, too large, cut). */
static unsigned int utf8_len(const unsigned char *s)
{
	unsigned int len = 0;

	if (s[0] < 0x80)
		len = 1;
	else if (s[0] >= 0xc2 && s[0] < 0xe0)
		len = 2;
	else if (s[0] >= 0xe0 && s[0] < 0xf0)
		len = 3;
	else if (s[0] >= 0xf0 && s[0] < 0xf5)
		len = 4;
	for (unsigned int i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	}
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xf4 && s[1] >= 0x90))
		return 0;
	return len;
}

static char *clean(const char *text, bool controls)
{
	char *out = malloc(strlen(text) * 3 + 1), *o = out;
	const unsigned char *s = (const unsigned char *)text;

	if (!out)
		return NULL;
	while (*s) {
		unsigned int len = utf8_len(s);

		if (len == 0) {
			memcpy(o, "\xef\xbf\xbd", 3);
			o += 3;
			s++;
			continue;
		}
		if (controls && (*s < 0x20 || *s == 0x7f || (s[0] == 0xc2 && s[1] < 0xa0))) {
			*o++ = '?';
		} else {
			memcpy(o, s, len);
			o += len;
		}
		s += len;
	}
	*o = '\0';
	return out;
}

char *rs_utf8_clean(const char *text)
{
	return clean(text, false);
}

unsigned int rs_text_width(const char *text)
{
	unsigned int width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

char *rs_text_clean(const char *text, unsigned int width)
{
	char *out = clean(text, true), *cut;
	unsigned int seen = 0;

	if (!out || !width || rs_text_width(out) <= width)
		return out;
	for (cut = out;; cut++) {	/* to the first byte of the last character that fits: the mark takes its place */
		seen += ((unsigned char)*cut & 0xc0) != 0x80;
		if (seen == width)
			break;
	}
	memcpy(cut, "\xe2\x80\xa6", 4);	/* fits: clean() took three bytes for every byte of @text */
	return out;
}

const char *rs_count_format(uint64_t n, char buf[RS_NUMBER_LEN])
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
	char *o = buf;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*o++ = ',';
		*o++ = digits[i];
	}
	*o = '\0';
	return buf;
}

void rs_table_init(struct rs_table *t, unsigned int nr_columns, const char *align)
{
	memset(t, 0, sizeof(*t));
	t->nr_columns = nr_columns;
	t->align = align;
}

void rs_table_release(struct rs_table *t)
{
	for (size_t i = 0; i < t->nr_cells; i++)
		free(t->cells[i].text);
	free(t->cells);
	memset(t, 0, sizeof(*t));
}

void rs_table_cell(struct rs_table *t, enum rs_style style, const char *text)
{
	if (t->nr_cells == t->cap_cells) {
		size_t cap = t->cap_cells ? t->cap_cells * 2 : 128;
		struct rs_cell *more = realloc(t->cells, cap * sizeof(*more));

		if (!more) {
			t->failed = true;
			return;
		}
		t->cells = more;
		t->cap_cells = cap;
	}
	t->cells[t->nr_cells] = (struct rs_cell){ rs_text_clean(text, 0), style };
	if (!t->cells[t->nr_cells].text)
		t->failed = true;
	else
		t->nr_cells++;
}

void rs_table_cellf(struct rs_table *t, enum rs_style style, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	rs_table_cell(t, style, text);
}

void rs_table_time(struct rs_table *t, uint64_t ns)
{
	char text[RS_NUMBER_LEN];

	rs_time_format(ns, text, sizeof(text));
	rs_table_cell(t, RS_STYLE_NONE, text);
}

void rs_table_count(struct rs_table *t, uint64_t n)
{
	char text[RS_NUMBER_LEN];

	rs_table_cell(t, RS_STYLE_NONE, rs_count_format(n, text));
}

static void print_cell(const struct rs_table *t, FILE *out, size_t cell, unsigned int width, bool last, bool color)
{
	const struct rs_cell *c = &t->cells[cell];
	unsigned int pad = width - rs_text_width(c->text);
	bool right = t->align[cell % t->nr_columns] == 'r';

	if (right)
		fprintf(out, "%*s", (int)pad, "");
	fprintf(out, "%s%s%s", rs_style_on(c->style, color), c->text, rs_style_off(c->style, color));
	if (!right && !last)
		fprintf(out, "%*s", (int)pad, "");
}

/* No blanks at the end of a line. */
static unsigned int last_column(const struct rs_table *t, size_t row)
{
	unsigned int last = t->nr_columns - 1;

	while (last > 0 && !*t->cells[row + last].text)
		last--;
	return last;
}

int rs_table_print(const struct rs_table *t, FILE *out, unsigned int indent, bool color, struct resched_error *err)
{
	unsigned int *width = calloc(t->nr_columns, sizeof(*width));

	if (!width || t->failed) {
		free(width);
		return rs_error_nomem(err);
	}
	for (size_t i = 0; i < t->nr_cells; i++) {
		unsigned int w = rs_text_width(t->cells[i].text);

		if (w > width[i % t->nr_columns])
			width[i % t->nr_columns] = w;
	}
	for (size_t row = 0; row + t->nr_columns <= t->nr_cells; row += t->nr_columns) {
		unsigned int last = last_column(t, row);

		if (*t->cells[row + last].text)
			fprintf(out, "%*s", (int)indent, "");
		for (unsigned int c = 0; c <= last; c++) {
			if (c)
				fputs("  ", out);
			print_cell(t, out, row + c, width[c], c == last, color);
		}
		fputc('\n', out);
	}
	free(width);
	return 0;
}

void rs_csv_field(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

int rs_out_check(FILE *out, struct resched_error *err)
{
	int rc;

	errno = 0;
	if (fflush(out) == 0 && !ferror(out))
		return 0;
	rc = errno ? -errno : -EIO;
	return rs_error_set(err, RESCHED_FAILED, rc, "cannot write the output:");
}
