// SPDX-License-Identifier: GPL-2.0-only
/*
 * A lane for every cpu and every chosen task over time. A column stands for a stretch of time; where more happened in it than can be
 * drawn, it shows how much of it was busy, or what the task did for most of it. Long stretches carry the name of what ran.
 */
#include "tui/app.h"

#include <string.h>
#include <resched/units.h>

#define LABEL 17
#define INFO_LINES 4
#define MAX_LOOK 16u		/* stretches of a column looked at; of more, as many are taken evenly */
#define CPU_LANE (-1)
#define LIVE_NS 1000000000u	/* shown of what is live, at first */
#define PAIR_ROWS 3		/* recorded, replayed, where they differ */

struct timeline { struct list list; uint64_t t0, ns_per_col; int w, stride; bool ready; };

static const struct resched_index *index_of(struct app *app)
{
	return app_sched(app)->index;
}

/* ---- which lanes ---- */

static int nr_lanes(struct app *app)
{
	return (int)resched_index_cpus(index_of(app)) + (int)app->nr_lanes + (app->pid && !app_lane(app, app->pid));
}

/* What a lane shows: a cpu (then *@task is CPU_LANE), or a task, RESCHED_NO_TASK - 1 when this schedule has none with the pid. */
static void lane_at(struct app *app, int lane, unsigned int *cpu, int *task, int *pid)
{
	int cpus = (int)resched_index_cpus(index_of(app));

	*cpu = 0;
	*pid = 0;
	*task = CPU_LANE;
	if (lane < cpus) {
		*cpu = (unsigned int)lane;
		return;
	}
	*pid = lane - cpus < (int)app->nr_lanes ? app->lanes[lane - cpus] : app->pid;
	*task = resched_index_find_pid(index_of(app), *pid);
	if (*task == RESCHED_NO_TASK)
		*task = -2;
}

/* ---- time and columns ---- */

static void whole(struct app *app, struct timeline *v)
{
	uint64_t span = resched_index_last_ns(index_of(app)) - resched_index_first_ns(index_of(app));

	v->t0 = resched_index_first_ns(index_of(app));
	v->ns_per_col = v->w > 0 ? span / (uint64_t)v->w + 1 : 1;
}

static void clamp(struct app *app, struct timeline *v)
{
	uint64_t first = resched_index_first_ns(index_of(app)), last = resched_index_last_ns(index_of(app));
	uint64_t width, most = (last - first) / (uint64_t)(v->w ? v->w : 1) + 1;

	if (v->ns_per_col > most)
		v->ns_per_col = most;
	if (v->ns_per_col < 1)
		v->ns_per_col = 1;
	width = v->ns_per_col * (uint64_t)v->w;
	if (v->t0 + width > last + v->ns_per_col)
		v->t0 = last + v->ns_per_col > width ? last + v->ns_per_col - width : first;
	if (v->t0 < first)
		v->t0 = first;
}

static int64_t column(const struct timeline *v, uint64_t at)
{
	return at >= v->t0 ? (int64_t)((at - v->t0) / v->ns_per_col) : -1;
}

static void show_cursor(struct app *app, struct timeline *v)
{
	int64_t col = column(v, app->at_ns);

	if (col >= 0 && col < v->w)
		return;
	v->t0 = app->at_ns > v->ns_per_col * (uint64_t)(v->w / 2) ? app->at_ns - v->ns_per_col * (uint64_t)(v->w / 2) : 0;
	clamp(app, v);
}

static void zoom(struct app *app, struct timeline *v, bool in)
{
	int64_t col = column(v, app->at_ns);
	uint64_t left;

	if (col < 0 || col >= v->w)
		col = v->w / 2;
	v->ns_per_col = in ? v->ns_per_col / 2 : v->ns_per_col < UINT64_MAX / 8 ? v->ns_per_col * 2 : v->ns_per_col;
	if (!v->ns_per_col)
		v->ns_per_col = 1;
	left = (uint64_t)col * v->ns_per_col;	/* the cursor stays where it is */
	v->t0 = app->at_ns > left ? app->at_ns - left : 0;
	clamp(app, v);
}

/* ---- one column ---- */

struct glance { uint64_t busy, seen, by_state[5]; uint64_t nr; bool chosen, lost; struct resched_span first; };

static bool next_span(const struct resched_index *ix, unsigned int cpu, int task, uint64_t nr, struct resched_span *ret)
{
	return task == CPU_LANE ? resched_index_cpu_span(ix, cpu, nr, ret) : resched_index_task_span(ix, task, nr, ret);
}

static void look_at(struct app *app, unsigned int cpu, int task, uint64_t from, uint64_t to, struct glance *l)
{
	const struct resched_index *ix = index_of(app);
	uint64_t a = task == CPU_LANE ? resched_index_cpu_find(ix, cpu, from) : resched_index_task_find(ix, task, from);
	uint64_t b = task == CPU_LANE ? resched_index_cpu_find(ix, cpu, to - 1) : resched_index_task_find(ix, task, to - 1);
	uint64_t step = (b - a) / MAX_LOOK + 1;
	int chosen = app_task(app);
	struct resched_span s;

	memset(l, 0, sizeof(*l));
	l->nr = b - a + 1;
	for (uint64_t nr = a; nr <= b && next_span(ix, cpu, task, nr, &s); nr += step) {
		uint64_t lo = s.from_ns > from ? s.from_ns : from, hi = s.to_ns < to ? s.to_ns : to, ns = hi > lo ? hi - lo : 0;

		if (nr == a)
			l->first = s;
		l->seen += ns;
		l->by_state[s.state] += ns;
		l->lost |= s.state == RESCHED_SPAN_UNKNOWN && ns;
		if (task == CPU_LANE && s.task >= 0 && s.state == RESCHED_SPAN_RUNNING) {
			l->busy += ns;
			l->chosen |= s.task == chosen && ns;
		}
	}
}

static void cpu_cell(struct app *app, const struct area *a, int x, int y, unsigned int cpu, uint64_t from, uint64_t to)
{
	struct glance l;
	enum glyph g;

	look_at(app, cpu, CPU_LANE, from, to, &l);
	if (!l.seen) {
		area_cell(a, x, y, ROLE_TEXT, ' ');
		return;
	}
	if (l.lost && l.by_state[RESCHED_SPAN_UNKNOWN] * 2 >= l.seen) {
		area_cell(a, x, y, ROLE_LOST, glyph(a->grid, GLYPH_LOST));
		return;
	}
	g = !l.busy ? GLYPH_IDLE : l.busy * 100 >= l.seen * 99 ? GLYPH_RUN : l.busy * 3 < l.seen ? GLYPH_MIX1 : l.busy * 3 < l.seen * 2 ? GLYPH_MIX2 :
	    GLYPH_MIX3;
	area_cell(a, x, y, !l.busy ? ROLE_IDLE : l.chosen ? ROLE_MARK : ROLE_RUN, glyph(a->grid, g));
}

static void task_cell(struct app *app, const struct area *a, int x, int y, int task, uint64_t from, uint64_t to)
{
	static const struct { enum glyph glyph; enum role role; } look[5] = {
		[RESCHED_SPAN_UNKNOWN] = { GLYPH_UNSEEN, ROLE_LOST }, [RESCHED_SPAN_RUNNING] = { GLYPH_RUN, ROLE_RUN },
		[RESCHED_SPAN_WOKEN] = { GLYPH_WAIT, ROLE_WAIT }, [RESCHED_SPAN_PREEMPTED] = { GLYPH_PREEMPT, ROLE_PREEMPT },
		[RESCHED_SPAN_SLEEPING] = { GLYPH_SLEEP, ROLE_SLEEP },
	};
	struct glance l;
	int most = RESCHED_SPAN_SLEEPING;

	look_at(app, 0, task, from, to, &l);
	if (!l.seen || l.first.from_ns >= to) {
		area_cell(a, x, y, ROLE_TEXT, ' ');
		return;
	}
	for (int i = 0; i < 5; i++) {
		if (l.by_state[i] > l.by_state[most])
			most = i;
	}
	area_cell(a, x, y, look[most].role, glyph(a->grid, look[most].glyph));
}

/* Was the task of this stretch still runnable at its end? */
static bool was_preempted(const struct resched_index *ix, const struct resched_span *s)
{
	struct resched_span next;

	return resched_index_task_span(ix, s->task, resched_index_task_find(ix, s->task, s->to_ns), &next) && next.state == RESCHED_SPAN_PREEMPTED &&
	       next.from_ns == s->to_ns;
}

/* Names on stretches that are long enough, and marks where one was preempted. */
static void put_names(struct app *app, const struct timeline *v, const struct area *a, int y, unsigned int cpu)
{
	const struct resched_index *ix = index_of(app);
	uint64_t end = v->t0 + v->ns_per_col * (uint64_t)v->w, nr = resched_index_cpu_find(ix, cpu, v->t0);
	struct resched_span s;
	int chosen = app_task(app);

	if (resched_index_cpu_find(ix, cpu, end) - nr > 32u * (uint64_t)v->w)	/* too short, most of them */
		return;
	for (; resched_index_cpu_span(ix, cpu, nr, &s) && s.from_ns < end; nr++) {
		int64_t from = s.from_ns > v->t0 ? column(v, s.from_ns) + (s.from_ns > v->t0 + (uint64_t)column(v, s.from_ns) * v->ns_per_col) : 0;
		int64_t to = s.to_ns < end ? column(v, s.to_ns) : v->w;
		char name[24];

		if (s.task < 0 || s.state != RESCHED_SPAN_RUNNING)
			continue;
		if (s.to_ns < end && to - from > 1 && was_preempted(ix, &s))
			area_cell(a, LABEL + (int)to, y, ROLE_PREEMPT, glyph(a->grid, GLYPH_PREEMPT));
		if (to - from < 4)
			continue;
		resched_index_name(ix, s.task, name, sizeof(name));
		if ((int64_t)strlen(name) > to - from - 1)
			name[to - from - 1] = '\0';
		area_attr(a, LABEL + (int)from, y, area_put(a, LABEL + (int)from, y, s.task == chosen ? ROLE_MARK : ROLE_RUN, name), ATTR_REVERSE);
	}
}

/* How much of the time from @from to @to went to interrupts. */
static uint64_t irq_ns(const struct resched_index *ix, unsigned int cpu, uint64_t from, uint64_t to)
{
	uint64_t a = resched_index_irq_find(ix, cpu, from), b = resched_index_irq_find(ix, cpu, to - 1), step = (b - a) / MAX_LOOK + 1;
	uint64_t sum = 0, seen = 0;
	struct resched_irq_span s;

	for (uint64_t nr = a; nr <= b && resched_index_irq(ix, cpu, nr, &s); nr += step) {
		uint64_t lo = s.from_ns > from ? s.from_ns : from, hi = s.to_ns < to ? s.to_ns : to;

		seen += hi > lo ? hi - lo : 0;
		sum += hi > lo && s.kind != RESCHED_IRQ_NONE ? hi - lo : 0;
	}
	return step == 1 || !seen ? sum : (uint64_t)((double)sum / (double)seen * (double)(to - from));
}

/* Columns that were interrupts for a third and more of the time. */
static void put_irqs(struct app *app, const struct timeline *v, const struct area *a, int y, unsigned int cpu)
{
	const struct resched_index *ix = index_of(app);

	for (int x = 0; x < v->w && resched_index_irqs(ix, cpu); x++) {
		uint64_t from = v->t0 + (uint64_t)x * v->ns_per_col;

		if (irq_ns(ix, cpu, from, from + v->ns_per_col) * 3 >= v->ns_per_col)
			area_cell(a, LABEL + x, y, ROLE_IRQ, glyph(a->grid, GLYPH_IRQ));
	}
}

static int y_of(const struct timeline *v, int lane)
{
	return 1 + (lane - v->list.top) * v->stride;
}

/* Who woke a task: down on the waker's cpu, up at the task. Only when there is room to tell them apart. */
static void put_arrows(struct app *app, const struct timeline *v, const struct area *a, int y, int task, int below)
{
	const struct resched_index *ix = index_of(app);
	uint64_t end = v->t0 + v->ns_per_col * (uint64_t)v->w, nr = resched_index_task_find(ix, task, v->t0);
	uint64_t last = resched_index_task_find(ix, task, end);
	int cpus = (int)resched_index_cpus(ix);
	struct resched_span s;
	struct resched_wake w;

	if ((last - nr) * 4 > (uint64_t)v->w)
		return;
	for (; nr <= last && resched_index_task_span(ix, task, nr, &s); nr++) {
		int x = LABEL + (int)column(v, s.from_ns);

		if (s.state != RESCHED_SPAN_WOKEN || s.from_ns < v->t0 || s.from_ns >= end || !resched_index_waker(ix, task, s.from_ns, &w))
			continue;
		area_cell(a, x, y, ROLE_WAIT, glyph(a->grid, GLYPH_UP));
		if ((int)w.cpu >= v->list.top && (int)w.cpu < v->list.top + v->list.rows && (int)w.cpu < cpus)
			area_cell(a, x, y_of(v, (int)w.cpu) + below, ROLE_WAIT, glyph(a->grid, GLYPH_DOWN));
	}
}

/* ---- the frame ---- */

static void draw_axis(struct app *app, const struct timeline *v, const struct area *a)
{
	char text[32];
	int64_t col;

	area_fill(a, 0, 0, a->w, ROLE_HEAD, ' ');
	for (int x = 0; x + 14 < v->w; x += 20) {
		app_time(text, v->t0 + (uint64_t)x * v->ns_per_col - app_origin(app));
		area_printf(a, LABEL + x, 0, ROLE_HEAD, "|%.12s", text);
	}
	for (int i = 0; i < 2; i++) {
		col = app->marked[i] ? column(v, app->marks[i]) : -1;
		if (col >= 0 && col < v->w)
			area_cell(a, LABEL + (int)col, 0, ROLE_MARK, (uint32_t)('A' + i));
	}
	col = column(v, app->at_ns);
	if (col >= 0 && col < v->w)
		area_cell(a, LABEL + (int)col, 0, ROLE_TITLE, glyph(a->grid, GLYPH_CURSOR));
}

static void draw_lane(struct app *app, const struct timeline *v, const struct area *a, int y, int lane)
{
	char name[24], label[40];
	unsigned int cpu;
	int task, pid;

	lane_at(app, lane, &cpu, &task, &pid);
	if (task == CPU_LANE) {
		bool seen = resched_index_cpu_observed(index_of(app), cpu);

		area_printf(a, 0, y, seen ? ROLE_HEAD : ROLE_DIM, "cpu %-4u", cpu);
		for (int x = 0; x < v->w && seen; x++)
			cpu_cell(app, a, LABEL + x, y, cpu, v->t0 + (uint64_t)x * v->ns_per_col, v->t0 + ((uint64_t)x + 1) * v->ns_per_col);
		if (seen) {
			put_names(app, v, a, y, cpu);
			put_irqs(app, v, a, y, cpu);
		} else {
			area_put(a, LABEL, y, ROLE_LOST, "not observed: unknown, not idle");
		}
	} else {
		resched_index_name(index_of(app), task, name, sizeof(name));
		snprintf(label, sizeof(label), "%.9s/%d", task >= 0 ? name : "?", pid);
		area_printf(a, 0, y, ROLE_TEXT, "%.16s", label);
		if (task < 0)
			area_put(a, LABEL, y, ROLE_DIM, "not in this schedule");
		for (int x = 0; x < v->w && task >= 0; x++)
			task_cell(app, a, LABEL + x, y, task, v->t0 + (uint64_t)x * v->ns_per_col, v->t0 + ((uint64_t)x + 1) * v->ns_per_col);
	}
	if (lane == v->list.sel)
		area_attr(a, 0, y, LABEL - 1, ATTR_REVERSE);
}

static const char *state_text(enum resched_span_state s)
{
	static const char *const texts[] = { "unknown", "runs", "waits, woken", "waits, preempted", "sleeps" };

	return texts[s];
}

/* Return: columns it takes. */
static int describe_irq(struct app *app, const struct area *a, int x, int y, unsigned int cpu)
{
	const struct resched_index *ix = index_of(app);
	struct resched_irq_span s;
	char len[32];

	if (!resched_index_irq(ix, cpu, resched_index_irq_find(ix, cpu, app->at_ns), &s) || s.kind == RESCHED_IRQ_NONE || s.from_ns > app->at_ns)
		return 0;
	resched_time_format(s.to_ns - s.from_ns, len, sizeof(len));
	return area_printf(a, x, y, ROLE_IRQ, "%s %u for %s; ", s.kind == RESCHED_IRQ_SOFT ? "softirq" : "interrupt", s.nr, len);
}

static void describe(struct app *app, const struct timeline *v, const struct area *a, int y)
{
	const struct resched_index *ix = index_of(app);
	char name[24], from[32], len[32];
	struct resched_span s;
	struct resched_wake w;
	unsigned int cpu;
	int task, pid, x = 0;

	lane_at(app, v->list.sel, &cpu, &task, &pid);
	if (task < CPU_LANE || !next_span(ix, cpu, task, task == CPU_LANE ? resched_index_cpu_find(ix, cpu, app->at_ns) : resched_index_task_find(ix, task, app->at_ns), &s))
		return;
	resched_index_name(ix, s.task, name, sizeof(name));
	app_time(from, s.from_ns - app_origin(app));
	resched_time_format(s.to_ns - s.from_ns, len, sizeof(len));
	if (task == CPU_LANE) {
		x = area_printf(a, 0, y, ROLE_TEXT, "cpu %u: ", cpu);
		x += describe_irq(app, a, x, y, cpu);
	}
	if (task == CPU_LANE && s.state == RESCHED_SPAN_UNKNOWN)
		area_printf(a, x, y, ROLE_TEXT, "events were lost from %s for %s", from, len);
	else if (task == CPU_LANE && s.task < 0)
		area_printf(a, x, y, ROLE_TEXT, "idle from %s for %s", from, len);
	else if (task == CPU_LANE)
		area_printf(a, x, y, ROLE_TEXT, "%s/%d runs from %s for %s", name, resched_index_task(ix, (unsigned int)s.task)->pid, from, len);
	else {
		x = area_printf(a, 0, y, ROLE_TEXT, "%s/%d %s on cpu %u from %s for %s", name, pid, state_text(s.state), s.cpu, from, len);
		if (s.state == RESCHED_SPAN_WOKEN && resched_index_waker(ix, task, s.from_ns, &w)) {
			resched_index_name(ix, w.waker, name, sizeof(name));
			area_printf(a, x, y, ROLE_WAIT, ", by %s on cpu %u", w.interrupt ? "an interrupt" : name, w.cpu);
		}
	}
}

static void draw_info(struct app *app, const struct timeline *v, const struct area *a)
{
	char at[32], per[32], x[32], y[32], delta[32];

	area_fill(a, 0, 0, a->w, ROLE_DIM, glyph(a->grid, GLYPH_LINE));
	app_time(at, app->at_ns - app_origin(app));
	resched_time_format(v->ns_per_col, per, sizeof(per));
	area_printf(a, 0, 1, ROLE_TITLE, "cursor %s s", at);
	area_printf(a, 27, 1, ROLE_DIM, "column %s", per);
	if (app->marked[0] || app->marked[1]) {
		app_time(x, app->marks[0] - app_origin(app));
		app_time(y, app->marks[1] - app_origin(app));
		resched_time_format(app->marks[1] > app->marks[0] ? app->marks[1] - app->marks[0] : app->marks[0] - app->marks[1], delta, sizeof(delta));
		if (app->marked[0] && app->marked[1])
			area_printf(a, 44, 1, ROLE_MARK, "%s  A %.12s B %.12s", delta, x, y);
		else
			area_printf(a, 45, 1, ROLE_MARK, "%c %s", app->marked[0] ? 'A' : 'B', app->marked[0] ? x : y);
	}
	describe(app, v, a, 2);
	area_printf(a, 0, 3, ROLE_DIM, "cpu:  run   idle   irq    task:  runs   woken   preempted   sleeps   lost");
	area_cell(a, 5, 3, ROLE_RUN, glyph(a->grid, GLYPH_RUN));
	area_cell(a, 11, 3, ROLE_IDLE, glyph(a->grid, GLYPH_IDLE));
	area_cell(a, 18, 3, ROLE_IRQ, glyph(a->grid, GLYPH_IRQ));
	area_cell(a, 32, 3, ROLE_RUN, glyph(a->grid, GLYPH_RUN));
	area_cell(a, 39, 3, ROLE_WAIT, glyph(a->grid, GLYPH_WAIT));
	area_cell(a, 47, 3, ROLE_PREEMPT, glyph(a->grid, GLYPH_PREEMPT));
	area_cell(a, 59, 3, ROLE_SLEEP, glyph(a->grid, GLYPH_SLEEP));
	area_cell(a, 68, 3, ROLE_LOST, glyph(a->grid, GLYPH_LOST));
}

/* ---- recorded beside replayed ---- */

/* Pid of what a cpu runs, or what a task does, in the middle of a column; -1 before and behind all. */
static int content(const struct resched_index *ix, unsigned int cpu, int task, uint64_t at)
{
	struct resched_span s;

	if (at > resched_index_last_ns(ix) || task < CPU_LANE ||
	    !next_span(ix, cpu, task, task == CPU_LANE ? resched_index_cpu_find(ix, cpu, at) : resched_index_task_find(ix, task, at), &s) || s.from_ns > at)
		return -1;
	if (task != CPU_LANE)
		return (int)s.state;
	return s.task < 0 ? 0 : resched_index_task(ix, (unsigned int)s.task)->pid;
}

static void draw_difference(struct app *app, const struct timeline *v, const struct area *a, int y, int lane, const struct resched_index *rec,
			    const struct resched_index *rep)
{
	unsigned int cpu;
	int task, pid, other;

	lane_at(app, lane, &cpu, &task, &pid);
	task = task == CPU_LANE ? CPU_LANE : resched_index_find_pid(rec, pid);
	other = task == CPU_LANE ? CPU_LANE : resched_index_find_pid(rep, pid);
	if (task != CPU_LANE && (task < 0 || other < 0))
		return;
	for (int x = 0; x < v->w; x++) {
		uint64_t at = v->t0 + (uint64_t)x * v->ns_per_col + v->ns_per_col / 2;

		if (content(rec, cpu, task, at) != content(rep, cpu, other, at))
			area_cell(a, LABEL + x, y, ROLE_MARK, '^');
	}
}

static void draw_pair(struct app *app, struct timeline *v, const struct area *a, int lane, struct sched *rec, struct sched *rep)
{
	unsigned int front = app->cur, cpu;
	int y = y_of(v, lane), task, pid;

	for (int i = 0; i < 2; i++) {
		app_look_at(app, i ? rep : rec);
		draw_lane(app, v, a, y + i, lane);
		lane_at(app, lane, &cpu, &task, &pid);
		if (task >= 0)
			put_arrows(app, v, a, y + i, task, i);
	}
	area_fill(a, 0, y + 1, LABEL, ROLE_DIM, ' ');
	area_printf(a, 0, y + 1, ROLE_DIM, "%c %.14s", '>', rep->label);
	app->cur = front;
	draw_difference(app, v, a, y + 2, lane, rec->index, rep->index);
}

static void prepare(struct app *app, struct timeline *v, int w, int rows)
{
	bool growing = atomic_load(&app_sched(app)->state) == SCHED_BUILDING;

	if (app_sched(app)->live) {
		uint64_t last = resched_index_last_ns(index_of(app)), width;

		if (!v->ready)
			v->ns_per_col = LIVE_NS / (uint64_t)(w > 0 ? w : 1) + 1;
		v->w = w;
		v->ready = true;
		width = v->ns_per_col * (uint64_t)w;
		if (app->follow)
			v->t0 = last > width ? last - width + 1 : 0;
	} else if (v->w != w || !v->ready || growing) {
		bool all = !v->ready;

		v->w = w;
		if (all || (growing && v->t0 <= resched_index_first_ns(index_of(app)) && !app->nr_lanes))
			whole(app, v);
		v->ready = !growing || v->ready;
	}
	clamp(app, v);
	show_cursor(app, v);
	list_fit(&v->list, nr_lanes(app), rows);
}

static void draw(struct app *app, void *state, const struct area *a)
{
	struct area info = area_sub(a, 0, a->h - INFO_LINES, a->w, INFO_LINES);
	struct sched *rec, *rep;
	struct timeline *v = state;
	int64_t col;

	v->stride = app_pair(app, &rec, &rep) ? PAIR_ROWS : 1;
	prepare(app, v, a->w - LABEL, (a->h - 1 - INFO_LINES) / v->stride);
	draw_axis(app, v, a);
	for (int i = v->list.top; i < v->list.top + v->list.rows && i < v->list.nr; i++) {
		if (v->stride > 1)
			draw_pair(app, v, a, i, rec, rep);
		else
			draw_lane(app, v, a, y_of(v, i), i);
	}
	for (int i = v->list.top; i < v->list.top + v->list.rows && i < v->list.nr && v->stride == 1; i++) {
		unsigned int cpu;
		int task, pid;

		lane_at(app, i, &cpu, &task, &pid);
		if (task >= 0)
			put_arrows(app, v, a, y_of(v, i), task, 0);
	}
	col = column(v, app->at_ns);
	for (int y = 1; y <= v->list.rows * v->stride && y <= (v->list.nr - v->list.top) * v->stride; y++)
		area_attr(a, LABEL + (int)col, y, 1, ATTR_REVERSE);
	draw_info(app, v, &info);
}

/* ---- keys ---- */

static void move_cursor(struct app *app, struct timeline *v, int64_t columns)
{
	uint64_t ns = v->ns_per_col * (uint64_t)(columns < 0 ? -columns : columns);

	if (columns < 0)
		app_goto(app, app->at_ns > ns ? app->at_ns - ns : 0);
	else
		app_goto(app, app->at_ns + ns);
}

static void pan(struct app *app, struct timeline *v, int direction)
{
	uint64_t half = v->ns_per_col * (uint64_t)(v->w / 2);

	if (direction < 0)
		v->t0 = v->t0 > half ? v->t0 - half : 0;
	else
		v->t0 += half;
	clamp(app, v);
	move_cursor(app, v, direction * (v->w / 2));
}

/* To where the chosen lane changes next, or changed last. */
static void step(struct app *app, struct timeline *v, int direction)
{
	const struct resched_index *ix = index_of(app);
	struct resched_span s;
	unsigned int cpu;
	int task, pid;
	uint64_t nr;

	lane_at(app, v->list.sel, &cpu, &task, &pid);
	if (task < CPU_LANE)
		return;
	nr = task == CPU_LANE ? resched_index_cpu_find(ix, cpu, app->at_ns) : resched_index_task_find(ix, task, app->at_ns);
	if (!next_span(ix, cpu, task, nr, &s))
		return;
	if (direction > 0 || (s.from_ns >= app->at_ns && nr)) {
		if (!next_span(ix, cpu, task, direction > 0 ? nr + 1 : nr - 1, &s))
			return;
	}
	app_goto(app, s.from_ns);
}

/* The task under the cursor; 0 when there is none. */
static int pid_here(struct app *app, const struct timeline *v)
{
	const struct resched_index *ix = index_of(app);
	struct resched_span s;
	unsigned int cpu;
	int task, pid;

	lane_at(app, v->list.sel, &cpu, &task, &pid);
	if (task != CPU_LANE)
		return pid;
	if (!resched_index_cpu_span(ix, cpu, resched_index_cpu_find(ix, cpu, app->at_ns), &s) || s.task < 0)
		return 0;
	return resched_index_task(ix, (unsigned int)s.task)->pid;
}

static void mark(struct app *app)
{
	int which = app->marked[0] && !app->marked[1];

	if (app->marked[0] && app->marked[1])
		app->marked[1] = false;
	app->marks[which] = app->at_ns;
	app->marked[which] = true;
	app_say(app, false, "marker %c set; C-x removes both", 'A' + which);
}

static void set_lane(struct app *app, const struct timeline *v)
{
	unsigned int cpu;
	int task, pid;

	lane_at(app, v->list.sel, &cpu, &task, &pid);
	if (task == CPU_LANE)
		app->cpu = cpu;
	else if (pid)
		app->pid = pid;
}

static unsigned int key(struct app *app, void *state, int k)
{
	struct timeline *v = state;
	int pid;

	if (v->w <= 0)
		return DID_NOTHING;
	list_fit(&v->list, nr_lanes(app), v->list.rows);
	switch (k) {
	case TK_LEFT: move_cursor(app, v, -1); return DID;
	case TK_RIGHT: case 'l': move_cursor(app, v, 1); return DID;
	case 'a': pan(app, v, -1); return DID;
	case 'd': pan(app, v, 1); return DID;
	case 'w': case '+': case '=': zoom(app, v, true); return DID;
	case 's': case '-': zoom(app, v, false); return DID;
	case 'z': whole(app, v); return DID;
	case TK_HOME: app_goto(app, resched_index_first_ns(index_of(app))); return DID;
	case TK_END: app_goto(app, resched_index_last_ns(index_of(app))); return DID;
	case '.': step(app, v, 1); return DID;
	case ',': step(app, v, -1); return DID;
	case 'm': mark(app); return DID;
	case TK_CTRL('x'): app->marked[0] = app->marked[1] = false; return DID;
	case 'e': set_lane(app, v); app_front(app, VIEW_QUEUE); return DID;
	case ' ': case KEY_ENTER_: case 'x':
		pid = pid_here(app, v);
		if (!pid) {
			app_say(app, true, "nothing runs here");
		} else if (k == KEY_ENTER_) {
			app->pid = pid;
			app_front(app, VIEW_TASK);
		} else {
			app_toggle_lane(app, pid);
		}
		return DID;
	default:
		break;
	}
	if (!list_key(&v->list, k))
		return DID_NOTHING;
	return DID;
}

/* A moment was chosen elsewhere: close enough to see a wait of the task there. */
static void selected(struct app *app, void *state)
{
	struct timeline *v = state;
	const struct resched_index *ix = index_of(app);
	struct resched_span s;
	int task;

	if (!ix || app->grid.w <= LABEL)
		return;
	if (!v->ready) {	/* never drawn yet */
		v->w = app->grid.w - LABEL;
		whole(app, v);
		v->ready = atomic_load(&app_sched(app)->state) != SCHED_BUILDING;
	}
	task = app_task(app);
	if (app->front == VIEW_TIMELINE && task >= 0 && app->outlier != UINT32_MAX &&
	    resched_index_task_span(ix, task, resched_index_task_find(ix, task, app->at_ns), &s) && s.from_ns == app->at_ns &&
	    (s.state == RESCHED_SPAN_WOKEN || s.state == RESCHED_SPAN_PREEMPTED) && v->ns_per_col * 4 > s.to_ns - s.from_ns) {
		v->ns_per_col = (s.to_ns - s.from_ns) / (uint64_t)(v->w / 2 ? v->w / 2 : 1) + 1;
		v->t0 = app->at_ns > v->ns_per_col * (uint64_t)(v->w / 4) ? app->at_ns - v->ns_per_col * (uint64_t)(v->w / 4) : 0;
	}
	clamp(app, v);
	show_cursor(app, v);
	if (app->outlier != UINT32_MAX && task >= 0) {	/* its lane is the one that is described */
		int lanes = nr_lanes(app), lane_task, pid;
		unsigned int cpu;

		for (int i = 0; i < lanes; i++) {
			lane_at(app, i, &cpu, &lane_task, &pid);
			if (lane_task == task)
				v->list.sel = i;
		}
	}
}

static void mouse(struct app *app, void *state, int x, int y, int button)
{
	struct timeline *v = state;

	if (v->w <= 0)
		return;
	if (y >= 1 && v->stride && (y - 1) / v->stride < v->list.rows && v->list.top + (y - 1) / v->stride < v->list.nr)
		v->list.sel = v->list.top + (y - 1) / v->stride;
	if (x >= LABEL)
		app_goto(app, v->t0 + (uint64_t)(x - LABEL) * v->ns_per_col);
	if (button >= 4)
		zoom(app, v, button == 4);
}

/* The next stretch of a cpu lane, in time, that a task of that name has. */
static bool search(struct app *app, void *state, const char *text, int direction)
{
	const struct resched_index *ix = index_of(app);
	struct timeline *v = state;
	struct resched_span s;
	unsigned int cpu;
	char name[24];
	int task, pid;
	uint64_t nr;

	lane_at(app, v->list.sel, &cpu, &task, &pid);
	if (task != CPU_LANE)
		cpu = app->cpu;
	nr = resched_index_cpu_find(ix, cpu, app->at_ns);
	for (uint64_t looked = 0; looked < 5000000 && (direction > 0 || nr); looked++) {
		nr += direction > 0 ? 1 : (uint64_t)-1;
		if (!resched_index_cpu_span(ix, cpu, nr, &s))
			return false;
		if (s.task >= 0 && app_matches(resched_index_name(ix, s.task, name, sizeof(name)), text)) {
			app_goto(app, s.from_ns);
			return true;
		}
	}
	return false;
}

static const char *const help[] = {
	"Left Right", "the cursor, by a column", ", .", "to the previous, next change of the lane", "j k", "choose a lane", "w s, + -", "zoom in, out",
	"a d", "pan by half a screen", "z", "the whole recording", "Home End", "first, last moment", "m", "set marker A, then B", "C-x", "remove the markers",
	"Space", "a lane for what runs here, or remove it", "Enter", "the task under the cursor", "e", "the run queue at this moment",
	"/", "next time a task of this name runs on the cpu", "mouse", "click: cursor and lane; wheel: zoom", NULL
};

const struct view_ops view_timeline = { .name = "Timeline", .title = "Timeline", .size = sizeof(struct timeline), .help = help, .draw = draw, .key = key,
					.select = selected, .search = search, .mouse = mouse };
