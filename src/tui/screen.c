// SPDX-License-Identifier: GPL-2.0-only
#include "tui/screen.h"

#include <errno.h>
#include <locale.h>
#include <ncursesw/curses.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tui/keys.h"

struct screen { SCREEN *term; bool color; short pairs[ROLE_NR]; };

/* Foregrounds that can be told apart with any kind of colour vision (after Okabe and Ito), for 256 and for 8 colours. */
static const struct { short rich, plain; attr_t mono; } looks[ROLE_NR] = {
	[ROLE_TEXT] = { -1, -1, A_NORMAL }, [ROLE_DIM] = { 245, -1, A_DIM }, [ROLE_HEAD] = { 75, COLOR_CYAN, A_BOLD },
	[ROLE_TITLE] = { -1, -1, A_BOLD }, [ROLE_KEY] = { 220, COLOR_YELLOW, A_BOLD }, [ROLE_RUN] = { 36, COLOR_GREEN, A_NORMAL },
	[ROLE_WAIT] = { 214, COLOR_YELLOW, A_BOLD }, [ROLE_PREEMPT] = { 202, COLOR_RED, A_BOLD }, [ROLE_SLEEP] = { 240, -1, A_DIM },
	[ROLE_IDLE] = { 240, -1, A_DIM }, [ROLE_LOST] = { 175, COLOR_MAGENTA, A_BOLD }, [ROLE_IRQ] = { 33, COLOR_BLUE, A_BOLD }, [ROLE_GOOD] = { 36, COLOR_GREEN, A_NORMAL },
	[ROLE_BAD] = { 202, COLOR_RED, A_BOLD }, [ROLE_MARK] = { 175, COLOR_MAGENTA, A_BOLD },
};

static void init_colors(struct screen *s)
{
	if (!s->color || !has_colors()) {
		s->color = false;
		return;
	}
	start_color();
	use_default_colors();
	for (int i = 0; i < ROLE_NR; i++) {
		s->pairs[i] = (short)(i + 1);
		init_pair(s->pairs[i], COLORS >= 256 ? looks[i].rich : looks[i].plain, -1);
	}
}

int screen_open(bool color, struct screen **ret, struct resched_error *err)
{
	struct screen *s = calloc(1, sizeof(*s));

	if (!s) {
		*err = (struct resched_error){ RESCHED_FAILED, "out of memory" };
		return -ENOMEM;
	}
	s->color = color;
	s->term = newterm(NULL, stdout, stdin);
	if (!s->term) {
		const char *term = getenv("TERM");

		err->kind = RESCHED_FAILED;
		snprintf(err->text, sizeof(err->text), "the terminal '%s' is not known here; set TERM, for example to xterm or vt100",
			 term ? term : "");
		free(s);
		return -ENODEV;
	}
	raw();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(25);
	curs_set(0);
	mouseinterval(0);
	mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	init_colors(s);
	*ret = s;
	return 0;
}

void screen_close(struct screen *s)
{
	if (!s)
		return;
	endwin();
	delscreen(s->term);
	free(s);
}

void screen_size(const struct screen *s, int *w, int *h)
{
	(void)s;
	getmaxyx(stdscr, *h, *w);
}

void screen_show(struct screen *s, const struct grid *g)
{
	int rows, cols;

	getmaxyx(stdscr, rows, cols);
	for (int y = 0; y < g->h && y < rows; y++) {
		for (int x = 0; x < g->w && x < cols; x++) {
			const struct cell *c = &g->cells[y * g->w + x];
			attr_t attr = s->color ? (looks[c->role].mono & A_BOLD) : looks[c->role].mono;
			wchar_t text[2] = { (wchar_t)c->ch, 0 };
			cchar_t out;

			if (c->attr & ATTR_REVERSE)
				attr |= A_REVERSE;
			if (c->attr & ATTR_BOLD)
				attr |= A_BOLD;
			if (setcchar(&out, text, attr, s->color ? s->pairs[c->role] : 0, NULL) == OK)
				mvadd_wch(y, x, &out);
		}
	}
	refresh();
}

static int mouse_key(int *x, int *y, int *button)
{
	MEVENT ev;

	if (getmouse(&ev) != OK)
		return TK_NONE;
	*x = ev.x;
	*y = ev.y;
	*button = ev.bstate & BUTTON4_PRESSED ? 4 : ev.bstate & BUTTON5_PRESSED ? 5 : 1;
	return TK_MOUSE;
}

int screen_key(struct screen *s, int *x, int *y, int *button)
{
	static const struct { int theirs, ours; } map[] = {
		{ KEY_UP, TK_UP }, { KEY_DOWN, TK_DOWN }, { KEY_LEFT, TK_LEFT }, { KEY_RIGHT, TK_RIGHT }, { KEY_PPAGE, TK_PGUP },
		{ KEY_NPAGE, TK_PGDN }, { KEY_HOME, TK_HOME }, { KEY_END, TK_END }, { KEY_BTAB, TK_BACKTAB }, { KEY_DC, TK_DELETE },
		{ KEY_BACKSPACE, KEY_BACKSPACE_ }, { KEY_ENTER, KEY_ENTER_ }, { '\r', KEY_ENTER_ }, { KEY_RESIZE, TK_RESIZE }, { '\b', KEY_BACKSPACE_ },
	};
	int key = getch();

	(void)s;
	if (key == ERR)
		return TK_NONE;
	if (key == KEY_MOUSE)
		return mouse_key(x, y, button);
	if (key >= KEY_F(1) && key <= KEY_F(12))
		return TK_F1 + key - KEY_F(1);
	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++) {
		if (map[i].theirs == key)
			return map[i].ours;
	}
	return key < 256 ? key : TK_NONE;
}

void screen_suspend(struct screen *s)
{
	(void)s;
	endwin();
	kill(getpid(), SIGTSTP);
	refresh();
	clearok(stdscr, TRUE);
}
