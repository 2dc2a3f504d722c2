// SPDX-License-Identifier: GPL-2.0-only
/* The worst waits and why. */
#include "tui/app.h"

#include <string.h>
#include <resched/units.h>

#define MAX_COLUMNS 4		/* of what-ifs, where there is room */
#define UNDER_W 11

struct outliers { struct list list; };

/* Those that match the filter, by number. */
static bool shown(const struct app *app, const struct resched_outlier *o)
{
	return !*app->filter || app_matches(o->comm, app->filter) || app_matches(o->code, app->filter) ||
	       (o->has_why && app_matches(o->why_code, app->filter));
}

static int count(struct app *app, const struct resched_outliers *all)
{
	const struct resched_outlier *o;
	int nr = 0;

	for (unsigned int i = 0; (o = resched_outliers_get(all, i)); i++)
		nr += shown(app, o);
	return nr;
}

static const struct resched_outlier *nth(struct app *app, const struct resched_outliers *all, int n, unsigned int *ret_nr)
{
	const struct resched_outlier *o;

	for (unsigned int i = 0; (o = resched_outliers_get(all, i)); i++) {
		if (!shown(app, o) || n--)
			continue;
		*ret_nr = i;
		return o;
	}
	return NULL;
}

static const struct resched_outliers *ready(struct app *app)
{
	return sched_outliers(app_sched(app));
}

/* Replays end in any order: they are told in the order of their names. The @nth of them. */
static const struct resched_under *under_at(const struct resched_outlier *o, unsigned int nth)
{
	for (unsigned int i = 0; i < o->nr_under; i++) {
		unsigned int before = 0;

		for (unsigned int k = 0; k < o->nr_under; k++) {
			int order = strcmp(o->under[k].label, o->under[i].label);

			before += order < 0 || (order == 0 && k < i);
		}
		if (before == nth)
			return &o->under[i];
	}
	return NULL;
}

static void draw_row(struct app *app, const struct area *a, int y, unsigned int nr, const struct resched_outlier *o, int columns)
{
	char text[32], at[32];
	int x = 80;

	resched_time_format(o->latency_ns, text, sizeof(text));
	area_printf(a, 0, y, ROLE_DIM, "%4u", nr + 1);
	area_right(a, 5, y, 9, ROLE_TEXT, text);
	area_put(a, 15, y, o->kind == RESCHED_WAIT_PREEMPTED ? ROLE_PREEMPT : ROLE_WAIT, o->kind == RESCHED_WAIT_PREEMPTED ? "preempt" : "wakeup");
	app_time(at, o->wake_ns - app_origin(app));
	area_right(a, 23, y, 13, ROLE_TEXT, at);
	area_printf(a, 37, y, ROLE_TEXT, "%3u", o->queued_cpu);
	area_printf(a, 41, y, ROLE_TEXT, "%s/%d", o->comm, o->pid);
	area_printf(a, 62, y, ROLE_MARK, " %s", o->code);
	if (a->w < 100)
		return;
	for (int i = 0; i < columns; i++, x += UNDER_W) {
		const struct resched_under *u = under_at(o, (unsigned int)i);

		resched_time_format(u ? u->ns : 0, text, sizeof(text));
		area_right(a, x, y, UNDER_W - 1, !u || !u->found ? ROLE_DIM : u->ns < o->latency_ns ? ROLE_GOOD : ROLE_BAD, u && u->found ? text : "-");
	}
	area_printf(a, x, y, ROLE_DIM, " %s%s%s", o->has_why ? o->why_code : "", o->has_why ? ": " : "", o->has_why ? o->why : o->text);
}

static int detail_lines(const struct area *a)
{
	return a->h > 30 ? 9 : 10;
}

/* Columns of what became of the wakeups elsewhere, as many as there is room for. */
static int columns_of(const struct resched_outliers *all, const struct area *a)
{
	const struct resched_outlier *first = resched_outliers_get(all, 0);
	int room = (a->w - 100) / (2 * UNDER_W);

	room = room > MAX_COLUMNS ? MAX_COLUMNS : room;
	return !first || room < 0 ? 0 : (int)first->nr_under < room ? (int)first->nr_under : room;
}

static void draw_head(const struct resched_outliers *all, const struct area *a, int columns)
{
	const struct resched_outlier *first = resched_outliers_get(all, 0);

	area_fill(a, 0, 0, a->w, ROLE_HEAD, ' ');
	area_put(a, 0, 0, ROLE_HEAD, "   #   LATENCY KIND              AT CPU TASK                  CAUSE");
	for (int i = 0; i < columns; i++)
		area_printf(a, 80 + i * UNDER_W, 0, ROLE_HEAD, "%*.*s", UNDER_W - 1, UNDER_W - 1, under_at(first, (unsigned int)i)->label);
	if (a->w >= 100)
		area_put(a, 81 + columns * UNDER_W, 0, ROLE_HEAD, "WHY");
}

static int put_blame(const struct resched_outlier *o, const struct area *a, int y)
{
	char n[32], line[400];
	size_t at = 0;

	for (unsigned int i = 0; i < o->nr_blame && at < sizeof(line); i++) {
		resched_time_format(o->blame[i].ns, n, sizeof(n));
		at += (size_t)snprintf(line + at, sizeof(line) - at, "%s%s/%d %s", i ? ", " : "", o->blame[i].comm, o->blame[i].pid, n);
	}
	if (o->blame_other_ns && at < sizeof(line)) {
		resched_time_format(o->blame_other_ns, n, sizeof(n));
		at += (size_t)snprintf(line + at, sizeof(line) - at, "%sothers %s", at ? ", " : "", n);
	}
	if (o->idle_ns && at < sizeof(line)) {
		resched_time_format(o->idle_ns, n, sizeof(n));
		snprintf(line + at, sizeof(line) - at, "%snobody (idle) %s", at ? ", " : "", n);
	}
	area_put(a, 1, y, ROLE_HEAD, "ran instead");
	return area_wrap(a, 14, y, a->w - 15, 2, ROLE_TEXT, at || o->idle_ns ? line : "-");
}

/* Why the policy preferred them, by the model. */
static int put_why(const struct resched_outlier *o, const struct area *a, int y)
{
	char line[300];

	if (!o->has_why)
		return 0;
	snprintf(line, sizeof(line), "%s: %s", o->why_code, o->why);
	area_put(a, 1, y, ROLE_HEAD, "policy");
	return area_wrap(a, 14, y, a->w - 15, 3, ROLE_TEXT, line);
}

static void put_wakers(const struct resched_outlier *o, const struct area *a, int y)
{
	int x = 14;
	char n[32];

	area_put(a, 1, y, ROLE_HEAD, "woken by");
	if (!o->nr_wakers)
		area_put(a, x, y, ROLE_DIM, o->kind == RESCHED_WAIT_PREEMPTED ? "it was running" : "-");
	for (unsigned int i = 0; i < o->nr_wakers && x < a->w; i++) {
		const struct resched_waker *w = &o->wakers[i];

		resched_time_format(o->wake_ns - w->at_ns, n, sizeof(n));
		x += area_put(a, x, y, ROLE_DIM, i ? " <- " : "");
		x += w->interrupt ? area_put(a, x, y, ROLE_TEXT, "an interrupt") : area_printf(a, x, y, ROLE_TEXT, "%s/%d", w->comm, w->pid);
		x += i ? area_printf(a, x, y, ROLE_DIM, " %s before", n) : area_printf(a, x, y, ROLE_DIM, " on cpu %u", w->cpu);
	}
}

static void put_under(const struct resched_outlier *o, const struct area *a, int y)
{
	int x = 14;
	char n[32];

	area_put(a, 1, y, ROLE_HEAD, "elsewhere");
	if (o->kind != RESCHED_WAIT_WAKE)
		area_put(a, x, y, ROLE_DIM, "a preempted wait has no counterpart under another policy");
	else if (!o->nr_under)
		area_put(a, x, y, ROLE_DIM, "u asks every policy what this wakeup becomes");
	for (unsigned int i = 0; i < o->nr_under && o->kind == RESCHED_WAIT_WAKE; i++) {
		const struct resched_under *u = under_at(o, i);

		resched_time_format(u->ns, n, sizeof(n));
		x += area_printf(a, x, y, u->found && u->ns < o->latency_ns ? ROLE_GOOD : ROLE_BAD, "%s%s", i ? ", " : "", u->found ? n : "no such wakeup");
		x += area_printf(a, x, y, ROLE_DIM, " under %s", u->label);
	}
}

static void draw_detail(const struct resched_outlier *o, const struct area *a)
{
	int y = 1;

	area_fill(a, 0, 0, a->w, ROLE_DIM, glyph(a->grid, GLYPH_LINE));
	area_printf(a, 2, 0, ROLE_HEAD, " %s/%d: %s ", o->comm, o->pid, o->code);
	y += area_wrap(a, 1, y, a->w - 2, 3, ROLE_TEXT, o->text);
	y += put_blame(o, a, y);
	y += put_why(o, a, y);
	put_wakers(o, a, y++);
	put_under(o, a, y);
}

static void draw(struct app *app, void *state, const struct area *a)
{
	const struct resched_outliers *all = ready(app);
	struct outliers *v = state;
	const struct resched_outlier *o;
	unsigned int nr = 0;
	int columns;

	if (!all) {
		area_put(a, 2, 1, ROLE_DIM, "no event yet");
		return;
	}
	list_fit(&v->list, count(app, all), a->h - 1 - detail_lines(a));
	columns = columns_of(all, a);
	draw_head(all, a, columns);
	for (int i = 0; i < v->list.rows && v->list.top + i < v->list.nr; i++) {
		o = nth(app, all, v->list.top + i, &nr);
		draw_row(app, a, i + 1, nr, o, columns);
		if (v->list.top + i == v->list.sel)
			area_attr(a, 0, i + 1, a->w - 1, ATTR_REVERSE);
	}
	list_bar(&v->list, a, a->w - 1, 1);
	o = nth(app, all, v->list.sel, &nr);
	if (o) {
		struct area detail = area_sub(a, 0, a->h - detail_lines(a), a->w, detail_lines(a));

		draw_detail(o, &detail);
	} else {
		area_put(a, 2, 2, ROLE_DIM, *app->filter ? "no outlier matches the filter" : "no wait was long enough to be listed");
	}
}

/* What is chosen here is chosen everywhere. */
static void choose(struct app *app, struct outliers *v)
{
	unsigned int nr;
	const struct resched_outlier *o = ready(app) ? nth(app, ready(app), v->list.sel, &nr) : NULL;

	if (!o)
		return;
	app->outlier = nr;
	app->pid = o->pid;
	app->cpu = o->queued_cpu;
	app->at_ns = o->wake_ns;
}

static unsigned int key(struct app *app, void *state, int k)
{
	struct outliers *v = state;

	if (ready(app))
		list_fit(&v->list, count(app, ready(app)), v->list.rows);
	if (list_key(&v->list, k)) {
		choose(app, v);
		return DID;
	}
	if (k == KEY_ENTER_ || k == 't') {
		choose(app, v);
		if (app->pid && !app_lane(app, app->pid))
			app_toggle_lane(app, app->pid);
		app_front(app, VIEW_TIMELINE);
		return DID;
	}
	if (k == 'u') {
		app_every_policy(app);
		return DID;
	}
	if (k == 'e') {
		choose(app, v);
		app_front(app, VIEW_QUEUE);
		return DID;
	}
	return DID_NOTHING;
}

/* [ and ] were pressed, or another schedule was chosen. */
static void selected(struct app *app, void *state)
{
	struct outliers *v = state;
	unsigned int nr;

	if (!ready(app) || app->outlier == UINT32_MAX)
		return;
	for (int i = 0, all = count(app, ready(app)); i < all; i++) {
		if (nth(app, ready(app), i, &nr) && nr == app->outlier) {
			v->list.sel = i;
			return;
		}
	}
}

static bool search(struct app *app, void *state, const char *text, int direction)
{
	struct outliers *v = state;
	int all = ready(app) ? count(app, ready(app)) : 0;
	unsigned int nr;

	for (int i = 1; i <= all; i++) {
		int at = (v->list.sel + (direction > 0 ? i : all - i)) % all;
		const struct resched_outlier *o = nth(app, ready(app), at, &nr);

		if (app_matches(o->comm, text) || app_matches(o->code, text)) {
			v->list.sel = at;
			choose(app, v);
			return true;
		}
	}
	return false;
}

static void mouse(struct app *app, void *state, int x, int y, int button)
{
	struct outliers *v = state;

	(void)x;
	if (button >= 4)
		list_key(&v->list, button == 4 ? TK_UP : TK_DOWN);
	else if (y >= 1 && y <= v->list.rows && v->list.top + y - 1 < v->list.nr)
		v->list.sel = v->list.top + y - 1;
	choose(app, v);
}

static const char *const help[] = {
	"Enter, t", "the moment in the timeline", "e", "the run queue at that moment", "/", "search names and causes", "f", "filter by name, cause or policy",
	"policy", "why the model preferred those who ran",
	"u", "replay under every policy: what each wakeup becomes", ":replay --policy P", "the same under P alone", NULL
};

const struct view_ops view_outliers = { .name = "Outliers", .title = "Outliers", .size = sizeof(struct outliers), .help = help, .draw = draw, .key = key,
					.select = selected, .search = search, .mouse = mouse };
