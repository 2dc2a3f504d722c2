// SPDX-License-Identifier: GPL-2.0-only
/*
 * The run queue of one cpu at one moment: who runs and who waits, from the index, at once; and virtual time, deadlines and the pick
 * with its reason from the model, a moment later.
 */
#include "tui/app.h"

#include <string.h>
#include <resched/units.h>

#define MAX_QUEUED 256

struct queue { struct list list; bool asked; };

struct queued { int task; enum resched_span_state state; uint64_t since; };

static int collect(struct app *app, struct queued *q)
{
	const struct resched_index *ix = app_sched(app)->index;
	struct resched_span s;
	int nr = 0;

	for (int task = 0; task < (int)resched_index_tasks(ix) && nr < MAX_QUEUED; task++) {
		if (!resched_index_task_span(ix, task, resched_index_task_find(ix, task, app->at_ns), &s) || s.cpu != app->cpu ||
		    s.from_ns > app->at_ns || s.state == RESCHED_SPAN_UNKNOWN || s.state == RESCHED_SPAN_SLEEPING)
			continue;
		q[nr] = (struct queued){ task, s.state, s.from_ns };
		for (int i = nr++; i && (q[i - 1].state != RESCHED_SPAN_RUNNING && (q[i].state == RESCHED_SPAN_RUNNING || q[i].since < q[i - 1].since)); i--) {
			struct queued t = q[i];

			q[i] = q[i - 1];
			q[i - 1] = t;
		}
	}
	return nr;
}

static const struct resched_queued_task *find_model(const struct resched_explanation *e, int pid)
{
	for (unsigned int i = 0; e && i < e->nr_tasks; i++) {
		if (e->tasks[i].pid == pid)
			return &e->tasks[i];
	}
	return NULL;
}

static void signed_time(int64_t ns, char *buf, size_t size)
{
	char text[24];

	resched_time_format((uint64_t)(ns < 0 ? -ns : ns), text, sizeof(text));
	snprintf(buf, size, "%s%s", ns < 0 ? "-" : "+", text);
}

static void draw_row(struct app *app, const struct area *a, int y, const struct queued *q, const struct resched_explanation *e)
{
	const struct resched_index *ix = app_sched(app)->index;
	const struct resched_index_task *it = resched_index_task(ix, (unsigned int)q->task);
	const struct resched_queued_task *m = find_model(e, it->pid);
	char name[24], len[40];

	resched_index_name(ix, q->task, name, sizeof(name));
	resched_time_format(app->at_ns - q->since, len, sizeof(len));
	area_printf(a, 1, y, ROLE_TEXT, "%.15s/%d", name, it->pid);
	area_put(a, 24, y, q->state == RESCHED_SPAN_RUNNING ? ROLE_RUN : q->state == RESCHED_SPAN_WOKEN ? ROLE_WAIT : ROLE_PREEMPT,
		 q->state == RESCHED_SPAN_RUNNING ? "runs" : q->state == RESCHED_SPAN_WOKEN ? "woken" : "preempted");
	area_right(a, 34, y, 9, ROLE_TEXT, len);
	if (!m)
		return;
	signed_time(m->lag_ns, len, sizeof(len));
	area_right(a, 44, y, 10, ROLE_TEXT, len);
	area_put(a, 55, y, m->eligible ? ROLE_GOOD : ROLE_DIM, m->eligible ? "eligible" : "not yet");
	if (m->deadline) {
		signed_time((int64_t)(m->deadline - m->avg_vruntime), len, sizeof(len));
		area_right(a, 64, y, 10, ROLE_TEXT, len);
	}
	if (e->pick_pid == it->pid)
		area_put(a, 75, y, ROLE_MARK, "pick");
	if (a->w < 110)
		return;
	signed_time((int64_t)(m->vruntime - m->avg_vruntime), len, sizeof(len));
	area_right(a, 82, y, 12, ROLE_TEXT, len);
	resched_time_format(m->slice_ns, len, sizeof(len));
	area_right(a, 95, y, 9, ROLE_TEXT, len);
	area_printf(a, 106, y, ROLE_TEXT, "%4d%s", m->nice, m->in_group ? "  in its group" : "");
}

/* Every entity on the axis of virtual time: from its vruntime to its deadline, V as a line. */
static void draw_axis(const struct area *a, const struct resched_explanation *e)
{
	int64_t lo = 0, hi = 0;
	int w = a->w - 20, zero;

	for (unsigned int i = 0; i < e->nr_tasks; i++) {
		int64_t v = (int64_t)(e->tasks[i].vruntime - e->tasks[i].avg_vruntime), d = e->tasks[i].deadline ? (int64_t)(e->tasks[i].deadline - e->tasks[i].avg_vruntime) : v;

		lo = v < lo ? v : lo;
		hi = d > hi ? d : v > hi ? v : hi;
	}
	if (hi <= lo || w < 10)
		return;
	zero = (int)((double)(-lo) * (w - 1) / (double)(hi - lo));
	area_put(a, 0, 0, ROLE_HEAD, "virtual time");
	area_put(a, 18 + zero, 0, ROLE_TITLE, "V");
	for (unsigned int i = 0; i < e->nr_tasks && (int)i + 1 < a->h; i++) {
		const struct resched_queued_task *t = &e->tasks[i];
		int64_t v = (int64_t)(t->vruntime - t->avg_vruntime), d = t->deadline ? (int64_t)(t->deadline - t->avg_vruntime) : v;
		int from = (int)((double)(v - lo) * (w - 1) / (double)(hi - lo)), to = (int)((double)(d - lo) * (w - 1) / (double)(hi - lo));

		area_printf(a, 0, (int)i + 1, t->eligible ? ROLE_TEXT : ROLE_DIM, "%c%.10s/%d", t->pid == e->pick_pid ? '>' : ' ', t->comm, t->pid);
		area_cell(a, 18 + zero, (int)i + 1, ROLE_DIM, glyph(a->grid, GLYPH_VLINE));
		for (int x = from; x <= to; x++)
			area_cell(a, 18 + x, (int)i + 1, t->eligible ? ROLE_WAIT : ROLE_DIM, glyph(a->grid, GLYPH_LINE));
		area_cell(a, 18 + from, (int)i + 1, t->eligible ? ROLE_GOOD : ROLE_BAD, glyph(a->grid, t->eligible ? GLYPH_DOT : GLYPH_MIX1));
		if (t->deadline)
			area_cell(a, 18 + to, (int)i + 1, ROLE_PREEMPT, ']');
	}
}

/* What the model says of one schedule: the pick, why, and the axis. */
static void draw_model(const struct area *a, const char *title, const struct resched_explanation *e, const char *why)
{
	area_fill(a, 0, 0, a->w, ROLE_DIM, glyph(a->grid, GLYPH_LINE));
	if (e) {
		struct area axis = area_sub(a, 0, 4, a->w, a->h - 4);
		int x = area_printf(a, 2, 0, ROLE_HEAD, " %s%s%s %s: %s/%d ", title, *title ? ": " : "", e->policy, e->model, e->pick_pid ? e->pick_comm : "idle",
				    e->pick_pid);

		if (e->has_next && x + 30 < a->w)
			area_printf(a, 3 + x, 0, ROLE_DIM, " next in the recording: %s/%d ", e->next_comm, e->next_pid);
		area_wrap(a, 1, 1, a->w - 2, 3, ROLE_TEXT, e->why);
		draw_axis(&axis, e);
	} else {
		if (*title)
			area_printf(a, 2, 0, ROLE_HEAD, " %s ", title);
		area_wrap(a, 1, 1, a->w - 2, 3, ROLE_DIM, why);
	}
}

static const struct resched_explanation *ask(struct app *app, const struct queue *v, enum look_slot slot, struct sched *s, const char **why)
{
	*why = "the model is asked when the recording is read";
	if (s->live) {
		*why = sched_unreadable(s);
		return NULL;
	}
	if (!s->index || atomic_load(&s->state) != SCHED_READY)
		return NULL;
	if (!v->asked && resched_index_events(s->index) > LAG_EVENTS) {
		*why = "press L: this long recording will be followed from its beginning at every step";
		return NULL;
	}
	return data_look(&app->data, slot, s, app->at_ns, app->cpu, why);
}

static void draw_list(struct app *app, struct queue *v, const struct area *a, const struct resched_explanation *e)
{
	struct queued q[MAX_QUEUED];
	int nr = collect(app, q);
	char at[32];

	app_time(at, app->at_ns - app_origin(app));
	area_printf(a, 0, 0, ROLE_TITLE, "cpu %u at %s s", app->cpu, at);
	area_printf(a, 30, 0, ROLE_DIM, "%d on the queue; , . step, - + choose the cpu", nr);
	area_fill(a, 0, 1, a->w, ROLE_HEAD, ' ');
	area_put(a, 1, 1, ROLE_HEAD, "TASK                   STATE         FOR        LAG           DEADLINE-V");
	if (a->w >= 110)
		area_put(a, 82, 1, ROLE_HEAD, "  VRUNTIME-V     SLICE  NICE");
	list_fit(&v->list, nr, a->h - 2);
	for (int i = 0; i < v->list.rows && v->list.top + i < nr; i++) {
		draw_row(app, a, i + 2, &q[v->list.top + i], e);
		if (v->list.top + i == v->list.sel)
			area_attr(a, 0, i + 2, a->w - 1, ATTR_REVERSE);
	}
	list_bar(&v->list, a, a->w - 1, 2);
	if (!nr)
		area_put(a, 2, 2, ROLE_DIM, resched_index_cpu_observed(app_sched(app)->index, app->cpu) ? "idle" : "not observed: unknown, not idle");
}

/* The list takes what it needs, up to half; one model below it, or two side by side where there is room, else one above the other. */
static void draw(struct app *app, void *state, const struct area *a)
{
	struct queue *v = state;
	struct queued q[MAX_QUEUED];
	int rows = collect(app, q) + 2, half = a->h / 2, w;
	const struct resched_explanation *e, *other;
	struct area list, left, right;
	struct sched *rec, *rep;
	const char *why, *other_why;

	rows = rows < 5 ? 5 : rows > half ? half : rows;
	list = area_sub(a, 0, 0, a->w, rows);
	if (!app_pair(app, &rec, &rep)) {
		e = ask(app, v, LOOK_QUEUE, app_sched(app), &why);
		draw_list(app, v, &list, e);
		left = area_sub(a, 0, rows, a->w, a->h - rows);
		draw_model(&left, "", e, why);
		return;
	}
	e = ask(app, v, LOOK_QUEUE, rec, &why);
	other = ask(app, v, LOOK_OTHER_QUEUE, rep, &other_why);
	draw_list(app, v, &list, app_sched(app) == rec ? e : other);
	w = a->w >= 140 ? a->w / 2 - 1 : a->w;
	left = area_sub(a, 0, rows, w, a->w >= 140 ? a->h - rows : (a->h - rows) / 2);
	right = a->w >= 140 ? area_sub(a, w + 2, rows, w, a->h - rows) : area_sub(a, 0, rows + left.h, w, a->h - rows - left.h);
	draw_model(&left, "recorded", e, why);
	draw_model(&right, rep->label, other, other_why);
	if (e && other && e->pick_pid != other->pick_pid)
		area_put(&right, right.w - 9, 0, ROLE_MARK, " differs ");
}

/* The next or previous moment at which this cpu switches or a task joins or leaves its queue. */
static void step(struct app *app, int direction)
{
	const struct resched_index *ix = app_sched(app)->index;
	uint64_t best = direction > 0 ? UINT64_MAX : 0, first = resched_index_first_ns(ix);
	struct resched_span s;

	for (int task = 0; task < (int)resched_index_tasks(ix); task++) {
		uint64_t nr = resched_index_task_find(ix, task, app->at_ns);

		for (int i = 0; i < 2; i++) {
			if (!resched_index_task_span(ix, task, nr, &s))
				break;
			if (direction > 0 ? s.from_ns > app->at_ns && s.from_ns < best && s.cpu == app->cpu : s.from_ns < app->at_ns && s.from_ns > best && s.cpu == app->cpu)
				best = s.from_ns;
			if (direction < 0 && !nr)
				break;
			nr += direction > 0 ? 1 : (uint64_t)-1;
		}
	}
	if (direction > 0 ? best != UINT64_MAX : best >= first && best)
		app_goto(app, best);
}

static unsigned int key(struct app *app, void *state, int k)
{
	struct queue *v = state;
	struct queued q[MAX_QUEUED];
	unsigned int cpus = resched_index_cpus(app_sched(app)->index);
	int nr;

	switch (k) {
	case '.': case TK_RIGHT: case 'd': step(app, 1); return DID;
	case ',': case TK_LEFT: case 'a': step(app, -1); return DID;
	case '+': case '=': app->cpu = cpus ? (app->cpu + 1) % cpus : 0; return DID;
	case 'L': v->asked = !v->asked; return DID;
	case '-': app->cpu = cpus ? (app->cpu + cpus - 1) % cpus : 0; return DID;
	default: break;
	}
	nr = collect(app, q);
	list_fit(&v->list, nr, v->list.rows);
	if (list_key(&v->list, k)) {
		if (nr)
			app->pid = resched_index_task(app_sched(app)->index, (unsigned int)q[v->list.sel].task)->pid;
		return DID;
	}
	if (k == KEY_ENTER_ && nr) {
		app->pid = resched_index_task(app_sched(app)->index, (unsigned int)q[v->list.sel].task)->pid;
		app_front(app, VIEW_TASK);
		return DID;
	}
	if (k == 't') {
		app_front(app, VIEW_TIMELINE);
		return DID;
	}
	return DID_NOTHING;
}

static const char *const help[] = {
	", . Left Right", "to the previous, next change of this queue", "- +", "another cpu", "Enter", "the task", "t", "the timeline at this moment", "L", "ask the model of a long recording, too",
	"lag", "+: the task is owed time, -: it had more than its share", "eligible", "owed nothing or more: may be picked (EEVDF)",
	"deadline-V", "how far its virtual deadline lies ahead", "axis", "from vruntime to ] deadline; V is the fair mean", NULL
};

const struct view_ops view_queue = { .name = "Queue", .title = "Run queue at a moment", .size = sizeof(struct queue), .help = help, .draw = draw,
				     .key = key };
