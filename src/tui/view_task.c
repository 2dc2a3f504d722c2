// SPDX-License-Identifier: GPL-2.0-only
/* One task: its figures, its lag over time with its bounds, and every wait: who woke it, where, who ran instead. */
#include "tui/app.h"

#include <string.h>
#include <resched/units.h>

#define HEAD 4
#define CURVE 9

/* Waits are found by walking the task's stretches; those of a task that changes are walked again. */
#define MAX_WAITS 20000u

#define WHY_LINES 3
struct task { struct list list; uint64_t t0, span;	/* of the curve; span 0: all */
	      int w; uint32_t waits[MAX_WAITS]; unsigned int nr_waits; int of; uint64_t spans; const struct resched_index *index; bool by_length; };

static bool is_wait(enum resched_span_state s)
{
	return s == RESCHED_SPAN_WOKEN || s == RESCHED_SPAN_PREEMPTED;
}

static void collect(struct app *app, struct task *v, int task)
{
	const struct resched_index *ix = app_sched(app)->index;
	uint64_t spans = resched_index_task_spans(ix, task);
	struct resched_span s;

	if (v->of == task && v->spans == spans && v->index == ix)
		return;
	if (v->of != task || v->index != ix)
		v->list = (struct list){ 0 };
	v->of = task;
	v->spans = spans;
	v->index = ix;
	v->nr_waits = 0;
	for (uint64_t nr = 0; v->nr_waits < MAX_WAITS && nr < UINT32_MAX && resched_index_task_span(ix, task, nr, &s); nr++) {
		if (is_wait(s.state) && s.to_ns > s.from_ns)
			v->waits[v->nr_waits++] = (uint32_t)nr;
	}
}

static void put_dist(const struct area *a, int x, int y, const char *title, const struct resched_dist *d)
{
	char p50[32], p99[32], max[32];

	resched_time_format(d->p50, p50, sizeof(p50));
	resched_time_format(d->p99, p99, sizeof(p99));
	resched_time_format(d->max, max, sizeof(max));
	area_put(a, x, y, ROLE_HEAD, title);
	area_printf(a, x + 16, y, ROLE_TEXT, "%llu: p50 %s, p99 %s, max %s", (unsigned long long)d->count, p50, p99, max);
}

static void draw_head(struct app *app, int task, const struct area *a)
{
	struct sched *s = app_sched(app);
	const struct resched_index_task *it = resched_index_task(s->index, (unsigned int)task);
	const struct resched_task_row *row = sched_row(s, it);
	const char *cgroup = resched_index_cgroup(s->index, task);
	char name[24], run[32], wait[32];
	int x;

	resched_index_name(s->index, task, name, sizeof(name));
	resched_time_format(it->runtime_ns, run, sizeof(run));
	resched_time_format(it->wait_ns, wait, sizeof(wait));
	x = area_printf(a, 0, 0, ROLE_TITLE, "%s/%d", name, it->pid);
	if (it->prio >= 100)
		x += area_printf(a, x, 0, ROLE_TEXT, "  nice %d", it->prio - 120);
	else if (it->prio > -32768)
		x += area_printf(a, x, 0, ROLE_TEXT, "  real-time %d", 99 - it->prio);
	area_printf(a, x, 0, ROLE_DIM, "  %s", cgroup ? cgroup : "");
	area_printf(a, 0, 1, ROLE_TEXT, "ran %s, waited %s; %llu switches, %llu of them involuntary; %llu moves", run, wait,
		    (unsigned long long)it->switches, (unsigned long long)it->involuntary, (unsigned long long)it->migrations);
	if (row) {
		put_dist(a, 0, 2, "wakeup latency", &row->f.wakeup_latency);
		put_dist(a, 0, 3, "preempted wait", &row->f.preempted_wait);
	}
}

/* The figures of the replayed schedule, each with what it is against the recorded one. */
static void put_other(const struct area *a, int y, const char *label, const struct resched_figures *rec, const struct resched_figures *rep)
{
	const struct { const char *title; uint64_t rec, rep; } f[] = {
		{ "waited", rec->runnable_wait_ns, rep->runnable_wait_ns }, { "wakeup p50", rec->wakeup_latency.p50, rep->wakeup_latency.p50 },
		{ "p99", rec->wakeup_latency.p99, rep->wakeup_latency.p99 }, { "max", rec->wakeup_latency.max, rep->wakeup_latency.max },
		{ "preempted p99", rec->preempted_wait.p99, rep->preempted_wait.p99 },
	};
	int x = area_printf(a, 0, y, ROLE_HEAD, "> %.12s", label);

	for (size_t i = 0; i < sizeof(f) / sizeof(f[0]) && x < a->w; i++) {
		char text[32], change[32];
		enum role role = app_change(f[i].rec, f[i].rep, change);

		resched_time_format(f[i].rep, text, sizeof(text));
		x += area_printf(a, x, y, ROLE_DIM, "%s %s ", i ? "," : ":", f[i].title);
		x += area_put(a, x, y, ROLE_TEXT, text);
		x += area_printf(a, x, y, role, " %s", change);
	}
}

/* ---- the curve of lag ---- */

struct curve { const struct resched_index *ix; int task; uint64_t first, per; int w, h; int64_t most; };

static void window_of(const struct resched_index *ix, const struct task *v, int w, uint64_t *first, uint64_t *per)
{
	uint64_t from = resched_index_first_ns(ix), span = resched_index_last_ns(ix) - from;

	*first = v->span ? v->t0 : from;
	*per = (v->span ? v->span : span) / (uint64_t)(w > 0 ? w : 1) + 1;
}

/* In every column the least and the most of it; samples are many, so of long stretches some are taken. */
static void put_curve(const struct area *a, const struct curve *c, bool beside)
{
	uint64_t nr = resched_index_lag_find(c->ix, c->task, c->first);
	int last_x = -1, last_y = 0;

	for (int x = 0; x < c->w; x++) {
		uint64_t from = c->first + (uint64_t)x * c->per, end = resched_index_lag_find(c->ix, c->task, from + c->per - 1), step = (end - nr) / 64 + 1;
		struct resched_lag_sample s;
		int lo = INT32_MAX, hi = INT32_MIN;
		unsigned int owed = 0, seen = 0;
		bool missed = false;

		for (uint64_t i = nr; i <= end && resched_index_lag(c->ix, c->task, i, &s); i += step) {
			int y = c->h / 2 - (int)(s.lag_ns * (c->h / 2) / c->most);

			if (s.at_ns < from)
				continue;
			lo = y < lo ? y : lo;
			hi = y > hi ? y : hi;
			missed |= s.deadline_missed;
			owed += s.lag_ns >= 0;
			seen++;
		}
		nr = end;
		if (!seen)
			continue;
		for (int k = last_x + 1; last_x >= 0 && k < x; k++)	/* between two samples: about there */
			area_cell(a, 11 + k, 1 + last_y + ((lo + hi) / 2 - last_y) * (k - last_x) / (x - last_x), beside ? ROLE_MARK : ROLE_DIM,
				  beside ? '.' : glyph(a->grid, GLYPH_SLEEP));
		last_x = x;
		last_y = (lo + hi) / 2;
		for (int y = lo < 0 ? 0 : lo; y <= hi && y < c->h; y++)
			area_cell(a, 11 + x, 1 + y, beside ? ROLE_MARK : y < c->h / 2 ? ROLE_WAIT : y > c->h / 2 ? ROLE_RUN : ROLE_TEXT,
				  beside ? 'o' : glyph(a->grid, lo == hi ? GLYPH_DOT : GLYPH_VLINE));
		if (beside)
			continue;
		area_cell(a, 11 + x, c->h + 1, owed * 2 > seen ? ROLE_GOOD : ROLE_DIM,
			  glyph(a->grid, owed == seen ? GLYPH_RUN : owed ? GLYPH_MIX1 : GLYPH_SLEEP));
		if (missed)
			area_cell(a, 11 + x, c->h + 2, ROLE_BAD, '!');
	}
}

static const struct resched_index_task *lag_task(const struct resched_index *ix, int pid, int *task)
{
	*task = ix ? resched_index_find_pid(ix, pid) : RESCHED_NO_TASK;
	return *task >= 0 ? resched_index_task(ix, (unsigned int)*task) : NULL;
}

static int64_t bound(const struct resched_index_task *t)
{
	return t && t->has_lag ? t->lag_max_ns > -t->lag_min_ns ? t->lag_max_ns : -t->lag_min_ns : 1;
}

/* Lag with zero as a line and its bounds, below it whether it was eligible and where it missed deadlines. */
static void draw_curve(struct app *app, struct task *v, const struct area *a)
{
	const char *what, *other_what = "";
	struct sched *rec, *rep;
	bool pair = app_pair(app, &rec, &rep);
	const struct resched_index *ix = sched_lag(&app->data, pair ? rec : app_sched(app), false, &what);
	const struct resched_index *other_ix = pair ? sched_lag(&app->data, rep, false, &other_what) : NULL;
	struct curve c = { .ix = ix, .w = a->w - 12, .h = a->h - 3 }, o = { .ix = other_ix };
	const struct resched_index_task *t = lag_task(ix, app->pid, &c.task), *other = lag_task(other_ix, app->pid, &o.task);
	char text[32];

	v->w = c.w;
	area_fill(a, 0, 0, a->w, ROLE_DIM, glyph(a->grid, GLYPH_LINE));
	area_printf(a, 2, 0, ROLE_HEAD, " lag, %s%s%s ", t && !t->has_lag ? "none: the task is not of the fair class" : what, other ? "; o: " : "",
		    other ? rep->label : "");
	if (!t || !t->has_lag || c.w < 10 || c.h < 3)
		return;
	c.most = bound(t) > bound(other) ? bound(t) : bound(other);
	c.most = c.most < 1 ? 1 : c.most;
	resched_time_format((uint64_t)c.most, text, sizeof(text));
	area_printf(a, 0, 1, ROLE_DIM, "+%s", text);
	area_printf(a, 0, c.h, ROLE_DIM, "-%s", text);
	area_put(a, 0, 1 + c.h / 2, ROLE_DIM, "0 (V)");
	area_put(a, 0, c.h + 1, ROLE_DIM, "eligible");
	area_printf(a, 0, c.h + 2, ROLE_DIM, "missed %llu", (unsigned long long)t->deadline_misses);
	area_fill(a, 11, 1 + c.h / 2, c.w, ROLE_DIM, glyph(a->grid, GLYPH_LINE));
	window_of(app_sched(app)->index, v, c.w, &c.first, &c.per);
	put_curve(a, &c, false);
	if (other && other->has_lag) {
		o.first = c.first;
		o.per = c.per;
		o.w = c.w;
		o.h = c.h;
		o.most = c.most;
		put_curve(a, &o, true);
	}
	resched_time_format(c.per * (uint64_t)c.w, text, sizeof(text));
	area_printf(a, a->w - 26, 0, ROLE_DIM, " %s shown: w s a d z ", text);
	if (app->at_ns >= c.first && app->at_ns < c.first + c.per * (uint64_t)c.w) {
		for (int y = 1; y <= c.h; y++)
			area_attr(a, 11 + (int)((app->at_ns - c.first) / c.per), y, 1, ATTR_REVERSE);
	}
}

/* Around the moment looked at. */
static void zoom(struct app *app, struct task *v, int factor_percent)
{
	const struct resched_index *ix = app_sched(app)->index;
	uint64_t first = resched_index_first_ns(ix), all = resched_index_last_ns(ix) - first, span = v->span ? v->span : all;

	span = span / 100 * (uint64_t)factor_percent + 1;
	if (span >= all || all < 1000) {
		v->span = 0;
		return;
	}
	v->span = span < 1000 ? 1000 : span;
	v->t0 = app->at_ns > first + v->span / 2 ? app->at_ns - v->span / 2 : first;
	if (v->t0 + v->span > first + all)
		v->t0 = first + all - v->span;
}

static void pan(struct app *app, struct task *v, int direction)
{
	const struct resched_index *ix = app_sched(app)->index;
	uint64_t first = resched_index_first_ns(ix), last = resched_index_last_ns(ix), step = v->span / 2;

	if (!v->span)
		return;
	if (direction < 0)
		v->t0 = v->t0 > first + step ? v->t0 - step : first;
	else
		v->t0 = v->t0 + step + v->span < last ? v->t0 + step : last > v->span ? last - v->span : first;
}

/* The wait that is chosen is inside. */
static void follow(struct app *app, struct task *v)
{
	if (app_sched(app)->index && v->span && (app->at_ns < v->t0 || app->at_ns >= v->t0 + v->span))
		zoom(app, v, 100);
}

/* Who had the cpu for the longest of a wait. */
static void ran_instead(const struct resched_index *ix, const struct resched_span *wait, char *buf, size_t size)
{
	struct { int task; uint64_t ns; } best[16];
	unsigned int nr_best = 0, most = 0, others = 0;
	struct resched_span s;
	uint64_t idle = 0;
	char name[24], n[32];

	for (uint64_t nr = resched_index_cpu_find(ix, wait->cpu, wait->from_ns), looked = 0;
	     looked < 4096 && resched_index_cpu_span(ix, wait->cpu, nr, &s) && s.from_ns < wait->to_ns; nr++, looked++) {
		uint64_t lo = s.from_ns > wait->from_ns ? s.from_ns : wait->from_ns, hi = s.to_ns < wait->to_ns ? s.to_ns : wait->to_ns;
		unsigned int i;

		if (hi <= lo || s.task == wait->task)
			continue;
		if (s.task < 0) {
			idle += hi - lo;
			continue;
		}
		for (i = 0; i < nr_best && best[i].task != s.task; i++)
			;
		if (i == nr_best && nr_best < 16)
			best[nr_best++] = (__typeof__(best[0])){ s.task, 0 };
		if (i < nr_best)
			best[i].ns += hi - lo;
		else
			others++;
	}
	for (unsigned int i = 1; i < nr_best; i++)
		most = best[i].ns > best[most].ns ? i : most;
	if (!nr_best || idle > best[most].ns) {
		resched_time_format(idle, n, sizeof(n));
		snprintf(buf, size, idle ? "idle %s" : "-", n);
		return;
	}
	resched_time_format(best[most].ns, n, sizeof(n));
	resched_index_name(ix, best[most].task, name, sizeof(name));
	snprintf(buf, size, "%s %s%s", name, n, nr_best + others > 1 ? " ..." : "");
}

static void draw_wait(struct app *app, const struct area *a, int y, int task, uint64_t nr)
{
	const struct resched_index *ix = app_sched(app)->index;
	char at[32], len[32], who[64], by[40] = "-", name[24];
	struct resched_span s;
	struct resched_wake w;

	if (!resched_index_task_span(ix, task, nr, &s))
		return;
	app_time(at, s.from_ns - app_origin(app));
	resched_time_format(s.to_ns - s.from_ns, len, sizeof(len));
	ran_instead(ix, &s, who, sizeof(who));
	if (s.state == RESCHED_SPAN_WOKEN && resched_index_waker(ix, task, s.from_ns, &w))
		snprintf(by, sizeof(by), "%s", w.interrupt ? "an interrupt" : resched_index_name(ix, w.waker, name, sizeof(name)));
	area_right(a, 0, y, 14, ROLE_TEXT, at);
	area_right(a, 15, y, 9, ROLE_TEXT, len);
	area_put(a, 26, y, s.state == RESCHED_SPAN_WOKEN ? ROLE_WAIT : ROLE_PREEMPT, s.state == RESCHED_SPAN_WOKEN ? "wakeup" : "preempted");
	area_printf(a, 36, y, ROLE_TEXT, "%3u", s.cpu);
	area_printf(a, 40, y, ROLE_TEXT, "%.16s", by);
	area_put(a, 57, y, ROLE_TEXT, who);
}

/* Why it waited, by the model. */
static void draw_why(struct app *app, const struct task *v, const struct area *a)
{
	struct sched *s = app_sched(app);
	const struct resched_wait_why *w;
	struct resched_wait wait;
	struct resched_span span;
	const char *why = "";

	area_fill(a, 0, 0, a->w, ROLE_DIM, glyph(a->grid, GLYPH_LINE));
	area_put(a, 2, 0, ROLE_HEAD, " why it waited ");
	if (v->list.sel >= (int)v->nr_waits || !resched_index_task_span(s->index, v->of, v->waits[v->list.sel], &span))
		return;
	if (s->parent || atomic_load(&s->state) != SCHED_READY || resched_index_events(s->index) > LAG_EVENTS) {
		area_put(a, 1, 1, ROLE_DIM, s->live ? sched_unreadable(s) : s->parent ? "told of recorded schedules; < goes back to it" : "e asks the model about the queue then");
		return;
	}
	wait = (struct resched_wait){ app->pid, span.from_ns, span.to_ns };
	w = data_ask(&app->data, s, &wait, &why);
	if (w && *w->text) {
		char line[300];

		snprintf(line, sizeof(line), "%s: %s", resched_why_code(w->most), w->text);
		area_wrap(a, 1, 1, a->w - 2, a->h - 1, ROLE_TEXT, line);
	} else {
		area_put(a, 1, 1, ROLE_DIM, w ? "the model would have let it run, or no fair task was preferred" : why);
	}
}

static void draw(struct app *app, void *state, const struct area *a)
{
	struct sched *rec, *rep;
	bool pair = app_pair(app, &rec, &rep);
	struct area head = area_sub(a, 0, 0, a->w, HEAD + pair), curve = area_sub(a, 0, head.h, a->w, CURVE + (a->h > 40 ? 10 : 0));
	struct area why = area_sub(a, 0, a->h - WHY_LINES, a->w, WHY_LINES);
	struct area rest = area_sub(a, 0, head.h + curve.h, a->w, a->h - head.h - curve.h - WHY_LINES);
	int task = app_task(app);
	struct task *v = state;

	if (task < 0) {
		area_put(a, 2, 1, ROLE_DIM, app->pid ? "this schedule has no such task" : "no task is chosen: Enter on one in Tasks");
		return;
	}
	collect(app, v, task);
	draw_head(app, task, &head);
	if (pair && rec->report && rep->report) {
		const struct resched_index_task *it = resched_index_task(app_sched(app)->index, (unsigned int)task);
		const struct resched_task_row *x = sched_row(rec, it), *y = sched_row(rep, it);

		if (x && y)
			put_other(&head, HEAD, rep->label, &x->f, &y->f);
	}
	draw_curve(app, v, &curve);
	list_fit(&v->list, (int)v->nr_waits, rest.h - 1);
	area_fill(&rest, 0, 0, rest.w, ROLE_HEAD, ' ');
	area_put(&rest, 0, 0, ROLE_HEAD, "            AT    WAITED  KIND      CPU WOKEN BY         RAN INSTEAD");
	for (int i = 0; i < v->list.rows && v->list.top + i < v->list.nr; i++) {
		draw_wait(app, &rest, i + 1, task, v->waits[v->list.top + i]);
		if (v->list.top + i == v->list.sel)
			area_attr(&rest, 0, i + 1, rest.w - 1, ATTR_REVERSE);
	}
	list_bar(&v->list, &rest, rest.w - 1, 1);
	if (!v->nr_waits)
		area_put(&rest, 2, 2, ROLE_DIM, "it never waited");
	draw_why(app, v, &why);
}

static void choose(struct app *app, struct task *v)
{
	struct resched_span s;

	if (v->list.sel < (int)v->nr_waits && resched_index_task_span(app_sched(app)->index, v->of, v->waits[v->list.sel], &s)) {
		app->at_ns = s.from_ns;
		app->cpu = s.cpu;
		follow(app, v);
	}
}

/* To the longest wait after the chosen one, or the longest of all. */
static void longest(struct app *app, struct task *v)
{
	const struct resched_index *ix = app_sched(app)->index;
	uint64_t most = 0;
	struct resched_span s;

	for (unsigned int i = 0; i < v->nr_waits; i++) {
		if (resched_index_task_span(ix, v->of, v->waits[i], &s) && s.to_ns - s.from_ns > most) {
			most = s.to_ns - s.from_ns;
			v->list.sel = (int)i;
		}
	}
}

static unsigned int key(struct app *app, void *state, int k)
{
	struct task *v = state;
	int task = app_task(app);
	const char *what;

	if (task < 0)
		return DID_NOTHING;
	collect(app, v, task);
	list_fit(&v->list, (int)v->nr_waits, v->list.rows);
	if (list_key(&v->list, k)) {
		choose(app, v);
		return DID;
	}
	switch (k) {
	case 'L': sched_lag(&app->data, app_sched(app), true, &what); return DID;
	case 'w': case '+': case '=': zoom(app, v, 50); return DID;
	case 's': case '-': zoom(app, v, 200); return DID;
	case 'a': case TK_LEFT: pan(app, v, -1); return DID;
	case 'd': case TK_RIGHT: pan(app, v, 1); return DID;
	case 'z': v->span = 0; return DID;
	case 'l': longest(app, v); choose(app, v); return DID;
	case ' ': app_toggle_lane(app, app->pid); app_say(app, false, app_lane(app, app->pid) ? "it has a lane now" : "its lane is gone"); return DID;
	case KEY_ENTER_: case 't': choose(app, v); app_front(app, VIEW_TIMELINE); return DID;
	case 'e': choose(app, v); app_front(app, VIEW_QUEUE); return DID;
	default: return DID_NOTHING;
	}
}

static const char *const help[] = {
	"Enter, t", "the wait in the timeline", "e", "the run queue when it began", "l", "the longest wait", "L", "replay a long recording for lag", "Space", "a lane of its own in the timeline",
	"w s a d z", "zoom and pan the curve, all of it", "lag", "owed above zero, had too much below; zero is V, the fair mean",
	"eligible", "whether it might be picked", "!", "a request that ended after its deadline", NULL
};

/* Another task or schedule: the curve may be of other times. */
static void selected(struct app *app, void *state)
{
	follow(app, state);
}

static void mouse(struct app *app, void *state, int x, int y, int button)
{
	struct sched *rec, *rep;
	struct task *v = state;
	int first = HEAD + app_pair(app, &rec, &rep) + CURVE + (app->grid.h - 3 > 40 ? 10 : 0) + 1;

	(void)x;
	if (button >= 4)
		list_key(&v->list, button == 4 ? TK_UP : TK_DOWN);
	else if (y >= first && y < first + v->list.rows && v->list.top + y - first < v->list.nr)
		v->list.sel = v->list.top + y - first;
	choose(app, v);
}

const struct view_ops view_task = { .name = "Task", .title = "One task", .size = sizeof(struct task), .help = help, .draw = draw, .key = key,
				    .select = selected, .mouse = mouse };
