// SPDX-License-Identifier: GPL-2.0-only
/* All tasks, or all tasks of a name or cgroup, as a table that sorts and filters while the recording is still read. */
#include "tui/tasks.h"

#include <stdlib.h>
#include <string.h>
#include <resched/units.h>

static const struct { const char *title; int w; bool left; } columns[COL_NR] = {
	[COL_NAME] = { "NAME", 16, true }, [COL_PID] = { "PID", 7, false }, [COL_CLASS] = { "CLASS", 6, true }, [COL_NICE] = { "NI", 4, false },
	[COL_RUN] = { "RUN", 9, false }, [COL_DELAY] = { "DELAY", 9, false }, [COL_P50] = { "P50", 9, false }, [COL_P99] = { "P99", 9, false },
	[COL_MAX] = { "MAX", 9, false }, [COL_HIST] = { "", 7, true }, [COL_SWITCHES] = { "SWITCH", 9, false },
	[COL_PREEMPTED] = { "PREEMPT", 9, false }, [COL_BY] = { "MOST BY", 21, true }, [COL_MOVES] = { "MOVES", 7, false },
	[COL_NOW] = { "LAG NOW", 10, false }, [COL_LAG] = { "LAG min 0 max", 31, true }, [COL_MISSED] = { "MISSED", 7, false },
	[COL_SLICE] = { "SLICE", 9, false }, [COL_DEADLINE] = { "DEADLINE", 11, false },
	[COL_CGROUP] = { "CGROUP", 40, true },
};

#define FIXED 2			/* columns that stay when the others are scrolled */
#define PAIR_FROM (columns[COL_NAME].w + columns[COL_PID].w + 1)
#define PAIR_W 26		/* recorded, replayed, difference */

struct tasks { struct list list; struct rows t; int scroll; };

/* ---- drawing ---- */

static void put_time(const struct area *a, int x, int y, int w, uint64_t ns, bool approx)
{
	char text[32], *p = text;

	if (!ns) {
		area_right(a, x, y, w - 1, ROLE_DIM, "-");
		return;
	}
	if (approx)
		*p++ = '<';
	resched_time_format(ns, p, sizeof(text) - 1);
	area_right(a, x, y, w - 1, ROLE_TEXT, text);
}

static void put_count(const struct area *a, int x, int y, int w, uint64_t n)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
	area_right(a, x, y, w - 1, n ? ROLE_TEXT : ROLE_DIM, text);
}

/* How the wakeup latencies are spread, from 1 us at the left; the highest bar is the most frequent. */
static void put_hist(const struct area *a, int x, int y, int w, const uint32_t *hist)
{
	unsigned int per = (RESCHED_INDEX_BUCKETS + (unsigned int)w - 1) / (unsigned int)w;
	uint64_t bars[RESCHED_INDEX_BUCKETS] = { 0 }, most = 0;

	for (unsigned int i = 0; i < RESCHED_INDEX_BUCKETS; i++)
		bars[i / per] += hist[i];
	for (unsigned int i = 0; i < RESCHED_INDEX_BUCKETS; i++)
		most = bars[i] > most ? bars[i] : most;
	for (int i = 0; most && i < w && i < (int)RESCHED_INDEX_BUCKETS; i++) {
		if (bars[i])
			area_cell(a, x + i, y, ROLE_WAIT, glyph(a->grid, (enum glyph)(GLYPH_BAR0 + (int)(bars[i] * 7 / most))));
	}
}

/* A bar around zero: owed to the left, had too much to the right of the middle, by the sign of lag. */
static void put_lag(const struct area *a, int x, int y, const struct row *r, int64_t most)
{
	char lo[32], hi[32], text[72];
	int half = 5;

	if (!r->has_lag) {
		area_put(a, x, y, ROLE_DIM, "-");
		return;
	}
	resched_time_format((uint64_t)(r->lag_min < 0 ? -r->lag_min : r->lag_min), lo, sizeof(lo));
	resched_time_format((uint64_t)(r->lag_max < 0 ? -r->lag_max : r->lag_max), hi, sizeof(hi));
	snprintf(text, sizeof(text), "%s%s", r->lag_min < 0 ? "-" : "+", lo);
	area_right(a, x, y, 9, ROLE_TEXT, text);
	for (int i = -half; i <= half; i++) {
		int64_t edge = most * i / half;
		bool inside = i ? (i < 0 ? r->lag_min <= edge : r->lag_max >= edge) : true;

		area_cell(a, x + 10 + half + i, y, i < 0 ? ROLE_PREEMPT : i ? ROLE_RUN : ROLE_DIM,
			  !i ? glyph(a->grid, GLYPH_VLINE) : inside ? glyph(a->grid, GLYPH_RUN) : glyph(a->grid, GLYPH_SLEEP));
	}
	snprintf(text, sizeof(text), "%s%s", r->lag_max < 0 ? "-" : "+", hi);
	area_put(a, x + 22, y, ROLE_TEXT, text);
}

static void put_by(struct app *app, const struct area *a, int x, int y, const struct row *r)
{
	const struct resched_index *ix = app_sched(app)->index;
	int task = r->by ? resched_index_find_pid(ix, r->by) : RESCHED_NO_TASK;
	char name[24];

	if (!r->by_times || task < 0 || !r->n.preempted) {
		area_put(a, x, y, ROLE_DIM, "-");
		return;
	}
	area_printf(a, x, y, ROLE_TEXT, "%.11s %llu %%", resched_index_name(ix, task, name, sizeof(name)),
		    (unsigned long long)(r->by_times * 100ull / r->n.preempted));
}

static void put_now(struct app *app, const struct area *a, int x, int y, int w, const struct row *r)
{
	char text[32], *p = text;
	int64_t lag;

	if (!r->has_lag || !rows_lag_now(app, r->pid, &lag)) {
		area_right(a, x, y, w - 1, ROLE_DIM, "-");
		return;
	}
	*p++ = lag < 0 ? '-' : '+';
	resched_time_format((uint64_t)(lag < 0 ? -lag : lag), p, sizeof(text) - 1);
	area_right(a, x, y, w - 1, lag < 0 ? ROLE_PREEMPT : ROLE_RUN, text);
}

/* Of a request at the moment looked at: how long it is, and virtual time from V to its deadline. */
static void put_request(struct app *app, const struct area *a, int x, int y, int w, enum column col, const struct row *r)
{
	const struct resched_queued_task *q = r->task >= 0 ? data_queued(&app->data, app_sched(app), app->at_ns, r->pid) : NULL;
	char text[32], *p = text;
	int64_t left;

	if (!q || (col == COL_DEADLINE && !q->deadline)) {
		area_right(a, x, y, w - 1, ROLE_DIM, "-");
		return;
	}
	if (col == COL_SLICE) {
		put_time(a, x, y, w, q->slice_ns, false);
		return;
	}
	left = (int64_t)(q->deadline - q->avg_vruntime);
	*p++ = left < 0 ? '-' : '+';
	resched_time_format((uint64_t)(left < 0 ? -left : left), p, sizeof(text) - 1);
	area_right(a, x, y, w - 1, left < 0 ? ROLE_BAD : ROLE_TEXT, text);
}

static void put_cell(struct app *app, const struct area *a, int x, int y, int w, enum column col, const struct row *r, int64_t most_lag)
{
	char text[40];

	switch (col) {
	case COL_NAME: snprintf(text, sizeof(text), "%.*s", w - 1, r->name); area_put(a, x, y, ROLE_TEXT, text); break;
	case COL_PID: put_count(a, x, y, w, (uint64_t)r->pid); break;
	case COL_CLASS: area_put(a, x, y, r->class_name ? ROLE_TEXT : ROLE_DIM, r->class_name ? r->class_name : "-"); break;
	case COL_NICE:
		snprintf(text, sizeof(text), "%d", r->class_name && !strcmp(r->class_name, "rt") ? 99 - r->nice : r->nice);
		area_right(a, x, y, w - 1, r->task >= 0 ? ROLE_TEXT : ROLE_DIM, r->task >= 0 ? text : "-");
		break;
	case COL_BY: put_by(app, a, x, y, r); break;
	case COL_NOW: put_now(app, a, x, y, w, r); break;
	case COL_SLICE: case COL_DEADLINE: put_request(app, a, x, y, w, col, r); break;
	case COL_MISSED:
		if (r->has_lag)
			put_count(a, x, y, w, r->missed);
		else
			area_right(a, x, y, w - 1, ROLE_DIM, "-");
		break;
	case COL_RUN: put_time(a, x, y, w, r->n.run, false); break;
	case COL_DELAY: put_time(a, x, y, w, r->n.delay, false); break;
	case COL_P50: put_time(a, x, y, w, r->n.p50, r->n.approx); break;
	case COL_P99: put_time(a, x, y, w, r->n.p99, r->n.approx); break;
	case COL_MAX: put_time(a, x, y, w, r->n.max, false); break;
	case COL_HIST: if (r->hist) put_hist(a, x, y, w - 1, r->hist); break;
	case COL_SWITCHES: put_count(a, x, y, w, r->n.switches); break;
	case COL_PREEMPTED: put_count(a, x, y, w, r->n.preempted); break;
	case COL_MOVES: put_count(a, x, y, w, r->n.moves); break;
	case COL_LAG: put_lag(a, x, y, r, most_lag); break;
	case COL_CGROUP: area_put(a, x, y, ROLE_DIM, r->cgroup ? r->cgroup : "-"); break;
	default: break;
	}
}

static int width_of(enum column col, int total)
{
	return col == COL_HIST && total >= 140 ? 25 : columns[col].w;
}

/* The column after @c, leaving out what is scrolled away. */
static int next_column(const struct tasks *v, int c)
{
	return c + 1 == FIXED ? FIXED + v->scroll : c + 1;
}

static void draw_head(const struct tasks *v, const struct area *a)
{
	int x = 1;

	area_fill(a, 0, 0, a->w, ROLE_HEAD, ' ');
	for (int c = 0; c < COL_NR && x < a->w; c = next_column(v, c)) {
		int w = width_of((enum column)c, a->w);
		const char *title = c == COL_PID && v->t.group != BY_TASK ? "TASKS" : columns[c].title;

		if (columns[c].left)
			area_put(a, x, 0, ROLE_HEAD, c == COL_HIST && w > 20 ? "1 us .. LATENCY .. 8 s" : title);
		else
			area_right(a, x, 0, w - 1, ROLE_HEAD, title);
		if ((enum column)c == v->t.sort)
			area_attr(a, x, 0, w - 1, ATTR_REVERSE);
		x += w;
	}
}

/* ---- recorded beside replayed ---- */

static const struct { enum column col; const char *title; bool time; size_t at; } pairs[] = {
	{ COL_P99, "P99", true, offsetof(struct numbers, p99) }, { COL_DELAY, "DELAY", true, offsetof(struct numbers, delay) },
	{ COL_MAX, "MAX", true, offsetof(struct numbers, max) }, { COL_PREEMPTED, "PREEMPT", false, offsetof(struct numbers, preempted) },
	{ COL_P50, "P50", true, offsetof(struct numbers, p50) }, { COL_MOVES, "MOVES", false, offsetof(struct numbers, moves) },
	{ COL_RUN, "RUN", true, offsetof(struct numbers, run) },
};

static uint64_t number(const struct numbers *n, size_t at)
{
	return *(const uint64_t *)(const void *)((const char *)n + at);
}

static void draw_pair(const struct area *a, int x, int y, uint64_t rec, uint64_t rep, bool has, bool time)
{
	char text[32];

	if (time)
		put_time(a, x, y, 10, rec, false);
	else
		put_count(a, x, y, 10, rec);
	if (!has) {
		area_right(a, x + 10, y, 8, ROLE_DIM, "-");
		return;
	}
	if (time)
		put_time(a, x + 9, y, 10, rep, false);
	else
		put_count(a, x + 9, y, 10, rep);
	area_right(a, x + 19, y, 6, app_change(rec, rep, text), text);
}

static void draw_pairs(struct app *app, struct tasks *v, const struct area *a)
{
	struct sched *rec = NULL, *rep = NULL;

	app_pair(app, &rec, &rep);
	area_fill(a, 0, 0, a->w, ROLE_HEAD, ' ');
	area_put(a, 1, 0, ROLE_HEAD, "NAME");
	area_right(a, 17, 0, 6, ROLE_HEAD, v->t.group == BY_TASK ? "PID" : "TASKS");
	for (size_t p = 0; p < sizeof(pairs) / sizeof(pairs[0]) && PAIR_FROM + ((int)p + 1) * PAIR_W <= a->w; p++) {
		int x = PAIR_FROM + (int)p * PAIR_W;

		area_right(a, x, 0, 9, ROLE_HEAD, pairs[p].title);
		area_printf(a, x + 10, 0, ROLE_HEAD, "%c %.13s", '>', rep->label);
		if (pairs[p].col == v->t.sort)
			area_attr(a, x, 0, PAIR_W - 1, ATTR_REVERSE);
	}
	for (int i = 0; i < v->list.rows && v->list.top + i < v->t.nr; i++) {
		const struct row *r = &v->t.rows[v->list.top + i];

		area_printf(a, 1, i + 1, ROLE_TEXT, "%.15s", r->name);
		put_count(a, 1 + columns[COL_NAME].w, i + 1, columns[COL_PID].w, (uint64_t)r->pid);
		for (size_t p = 0; p < sizeof(pairs) / sizeof(pairs[0]) && PAIR_FROM + ((int)p + 1) * PAIR_W <= a->w; p++)
			draw_pair(a, PAIR_FROM + (int)p * PAIR_W, i + 1, number(&r->n, pairs[p].at), number(&r->other, pairs[p].at), r->has_other, pairs[p].time);
	}
}

static void draw_rows(struct app *app, struct tasks *v, const struct area *a)
{
	int64_t most_lag = 1;

	for (int i = 0; i < v->t.nr; i++) {
		most_lag = v->t.rows[i].lag_max > most_lag ? v->t.rows[i].lag_max : most_lag;
		most_lag = -v->t.rows[i].lag_min > most_lag ? -v->t.rows[i].lag_min : most_lag;
	}
	draw_head(v, a);
	for (int i = 0; i < v->list.rows && v->list.top + i < v->t.nr; i++) {
		const struct row *r = &v->t.rows[v->list.top + i];
		int x = 1;

		if (v->t.group == BY_TASK && app_lane(app, r->pid))
			area_cell(a, 0, i + 1, ROLE_MARK, glyph(a->grid, GLYPH_DOT));
		for (int c = 0; c < COL_NR && x < a->w; c = next_column(v, c)) {
			put_cell(app, a, x, i + 1, width_of((enum column)c, a->w), (enum column)c, r, most_lag);
			x += width_of((enum column)c, a->w);
		}
	}
}

static void find_selected(struct app *app, struct tasks *v)
{
	for (int i = 0; i < v->t.nr && v->t.group == BY_TASK && app->pid; i++) {
		if (v->t.rows[i].pid == app->pid) {
			v->list.sel = i;
			return;
		}
	}
}

static void draw(struct app *app, void *state, const struct area *a)
{
	static const char *const what[] = { "tasks", "names", "cgroups", "containers" };
	struct tasks *v = state;
	struct sched *rec, *rep;

	rows_collect(app, &v->t);
	find_selected(app, v);
	list_fit(&v->list, v->t.nr, a->h - 2);
	/* what is first while the recording is read may not be in the end: only then it is chosen */
	if (v->t.group == BY_TASK && v->t.nr && (app->pid || atomic_load(&app_sched(app)->state) == SCHED_READY))
		app->pid = v->t.rows[v->list.sel].pid;
	if (app_pair(app, &rec, &rep))
		draw_pairs(app, v, a);
	else
		draw_rows(app, v, a);
	if (v->t.nr)
		area_attr(a, 0, v->list.sel - v->list.top + 1, a->w - 1, ATTR_REVERSE);
	list_bar(&v->list, a, a->w - 1, 1);
	if (!v->t.nr)
		area_put(a, 2, 2, ROLE_DIM, *app->filter ? "no task matches the filter" : v->t.group == BY_CGROUP ? "the recording does not tell cgroups" :
			 "no task yet");
	area_printf(a, 1, a->h - 1, ROLE_DIM, "%d %s%s%s%s; latency is from waking to running", v->t.nr, what[v->t.group],
		    *app->filter ? " match '" : "", app->filter, *app->filter ? "'" : "");
}

/* ---- keys ---- */

/* What is of the moment is no order to keep. */
static bool sorts(enum column c)
{
	return c != COL_HIST && c != COL_NOW && c != COL_SLICE && c != COL_DEADLINE;
}

static void next_sort(struct app *app, struct rows *t, int step)
{
	do
		t->sort = (enum column)(((int)t->sort + COL_NR + step) % COL_NR);
	while (!sorts(t->sort));
	app_say(app, false, "sorted by %s", columns[t->sort].title);
}

static void choose(struct app *app, const struct tasks *v)
{
	if (v->t.group == BY_TASK && v->list.sel < v->t.nr)
		app->pid = v->t.rows[v->list.sel].pid;
}

static void enter(struct app *app, struct tasks *v)
{
	if (v->list.sel >= v->t.nr)
		return;
	if (v->t.group == BY_TASK) {
		app_front(app, VIEW_TASK);
	} else {
		if (v->t.group != BY_CONTAINER)	/* the filter knows names and cgroups */
			snprintf(app->filter, sizeof(app->filter), "%.*s", (int)sizeof(app->filter) - 1, v->t.rows[v->list.sel].name);
		v->t.group = BY_TASK;
	}
}

/* Keys are about the rows that were drawn last. */
static unsigned int key(struct app *app, void *state, int k)
{
	struct tasks *v = state;

	if (list_key(&v->list, k)) {
		choose(app, v);
		return DID;
	}
	choose(app, v);
	switch (k) {
	case 's': case TK_F1 + 5: next_sort(app, &v->t, 1); return DID;
	case 'S': next_sort(app, &v->t, -1); return DID;
	case 'I': v->t.invert = !v->t.invert; return DID;
	case 'g': v->t.group = (v->t.group + 1) % GROUP_NR; v->list.sel = 0; return DID;
	case TK_RIGHT: v->scroll += v->scroll < COL_NR - FIXED - 1; return DID;
	case TK_LEFT: v->scroll -= v->scroll > 0; return DID;
	case ' ':
		if (v->t.group == BY_TASK && v->t.nr)
			app_toggle_lane(app, app->pid);
		return DID;
	case 't': app_front(app, VIEW_TIMELINE); return DID;
	case KEY_ENTER_: enter(app, v); return DID;
	default: return DID_NOTHING;
	}
}

static bool search(struct app *app, void *state, const char *text, int direction)
{
	struct tasks *v = state;

	for (int i = 1; i <= v->t.nr; i++) {
		int at = (v->list.sel + (direction > 0 ? i : v->t.nr - i)) % v->t.nr;

		if (app_matches(v->t.rows[at].name, text)) {
			v->list.sel = at;
			choose(app, v);
			return true;
		}
	}
	return false;
}

/* A heading was clicked: sort by it, or the other way round. */
static void click_head(struct app *app, struct tasks *v, int x)
{
	int at = 1;

	for (int c = 0; c < COL_NR && at < app->grid.w; c = next_column(v, c)) {
		int w = width_of((enum column)c, app->grid.w);

		if (x >= at && x < at + w && sorts((enum column)c)) {
			v->t.invert = (enum column)c == v->t.sort && !v->t.invert;
			v->t.sort = (enum column)c;
		}
		at += w;
	}
}

static void mouse(struct app *app, void *state, int x, int y, int button)
{
	struct tasks *v = state;
	struct sched *rec, *rep;
	int at = v->list.top + y - 1;

	if (button >= 4) {
		list_key(&v->list, button == 4 ? TK_UP : TK_DOWN);
		at = v->list.sel;
	} else if (y == 0) {
		if (!app_pair(app, &rec, &rep))
			click_head(app, v, x);
		return;
	}
	if (at >= 0 && at < v->t.nr && y <= v->list.rows) {
		v->list.sel = at;
		choose(app, v);
	}
}

static void save(const void *state, FILE *out)
{
	const struct tasks *v = state;

	fprintf(out, "sort %d\ninvert %d\ngroup %d\ncolumns %d\n", (int)v->t.sort, (int)v->t.invert, (int)v->t.group, v->scroll);
}

static void load(void *state, const char *word, const char *value)
{
	struct tasks *v = state;
	long n = strtol(value, NULL, 10);

	if (!strcmp(word, "sort") && n > COL_NAME && n < COL_NR && sorts((enum column)n))
		v->t.sort = (enum column)n;
	else if (!strcmp(word, "invert"))
		v->t.invert = n != 0;
	else if (!strcmp(word, "group") && n >= 0 && n < GROUP_NR)
		v->t.group = (enum group)n;
	else if (!strcmp(word, "columns") && n >= 0 && n < COL_NR - FIXED)
		v->scroll = (int)n;
}

static void done(void *state)
{
	rows_release(&((struct tasks *)state)->t);
}

static const char *const help[] = {
	"s S, F6", "sort by the next, previous column", "I", "the other way round", "g", "tasks, by name, by cgroup, by container", "Left Right", "more columns", "Space", "a lane of its own in the timeline",
	"t", "to the timeline", "Enter", "the task's waits and lag", "< before a time", "at most: exact when all is read", "MOST BY", "who took the cpu from it most often, and its share",
	"LAG NOW", "at the moment of the cursor; + is owed", "MISSED", "requests that ended after their deadline", "SLICE", "of its request, if it is on a queue at the cursor",
	"DEADLINE", "virtual time to it; -: missed by so much", NULL
};

const struct view_ops view_tasks = { .name = "Tasks", .title = "Tasks", .size = sizeof(struct tasks), .help = help, .draw = draw, .key = key,
				     .search = search, .mouse = mouse, .done = done, .save = save, .load = load };
