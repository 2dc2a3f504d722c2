/* SPDX-License-Identifier: GPL-2.0-only */
/* Keys as numbers of our own: printable ones are themselves, the rest is named here; and scripts of keys. */
#ifndef TUI_KEYS_H
#define TUI_KEYS_H

#include <stdio.h>
#include <resched/error.h>

enum {
	KEY_ENTER_ = '\n', KEY_ESC_ = 27, KEY_TAB_ = '\t', KEY_BACKSPACE_ = 127,
	TK_FIRST = 0x1000, TK_UP = TK_FIRST, TK_DOWN, TK_LEFT, TK_RIGHT, TK_PGUP, TK_PGDN, TK_HOME, TK_END, TK_BACKTAB, TK_DELETE,
	TK_F1 = 0x1100, TK_F12 = TK_F1 + 11,
	TK_RESIZE = 0x1200, TK_MOUSE, TK_NONE,
};
#define TK_CTRL(letter) ((letter) & 0x1f)

/* tk_parse() - "j", "Down", "PgDn", "Enter", "F5", "C-l". Return: the key; -1. */
int tk_parse(const char *word);

enum script_step { STEP_KEY, STEP_COMMAND, STEP_TEXT, STEP_WAIT, STEP_RESIZE, STEP_EVENTS };
struct script_entry { enum script_step step; int key, w, h; char text[256]; };

/*
 * A script: words are keys; "text" in double quotes is typed; a line that begins with ':' is a command; `wait` waits until nothing is
 * worked on in the background, `events N` until the schedule in front has so many, `resize W H` changes the size of the screen; # begins a comment.
 */
struct script { unsigned int nr, at; struct script_entry *entries; };
int script_load(const char *path, struct script *ret, struct resched_error *err);
void script_release(struct script *script);

#endif
