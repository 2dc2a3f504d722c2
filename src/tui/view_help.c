// SPDX-License-Identifier: GPL-2.0-only
/* The keys of the view that was in front, and those that mean the same everywhere. */
#include "tui/app.h"

struct help { bool second; };

static const char *const everywhere[] = {
	"1 .. 7, Tab", "choose a view", "arrows, j k", "one row", "PgUp PgDn, Home End", "a page, first, last", "Enter", "look closer",
	"Esc", "back; removes the filter first", "/ n N", "search, next, previous", "f \\", "filter as you type", "[ ]", "previous, next outlier",
	"< >", "previous, next schedule: recorded, replayed", "v", "recorded and replayed side by side", "C-c", "cancel replays", ":goto TIME", "a moment since the beginning",
	":pid PID", "choose a task", ":replay --policy P ...", "what if: the words of resched replay", ":close", "forget the replay in front", ":save-screen FILE", "this screen as text",
	"q, F10", "quit", NULL
};

static void draw_pairs(const struct area *a, int x, int y, const char *title, const char *const *pairs)
{
	area_put(a, x, y++, ROLE_TITLE, title);
	for (; pairs && *pairs; pairs += 2, y++) {
		area_put(a, x + 1, y, ROLE_KEY, pairs[0]);
		area_put(a, x + 24, y, ROLE_TEXT, pairs[1]);
	}
}

/* Side by side where there is room, else one page after the other. */
static void draw(struct app *app, void *state, const struct area *a)
{
	const struct view_ops *of = app->ops[app->before];
	const struct help *h = state;
	bool wide = a->w >= 140;

	if (wide || !h->second)
		draw_pairs(a, 1, 0, of->title, of->help);
	if (wide || h->second)
		draw_pairs(a, wide ? a->w / 2 : 1, 0, "Everywhere", everywhere);
	if (!wide)
		area_put(a, 1, a->h - 1, ROLE_DIM, h->second ? "Space: the keys of the view, Esc: back" : "Space: the keys everywhere, Esc: back");
}

static unsigned int key(struct app *app, void *state, int k)
{
	struct help *h = state;

	if (k == ' ' || k == TK_PGDN || k == TK_PGUP || k == TK_DOWN || k == TK_UP) {
		h->second = !h->second;
		return DID;
	}
	if (k == KEY_ENTER_ || k == '?' || k == TK_F1) {
		app_front(app, app->before);
		return DID;
	}
	return DID_NOTHING;
}

const struct view_ops view_help = { .name = "Help", .title = "Help", .size = sizeof(struct help), .draw = draw, .key = key };
