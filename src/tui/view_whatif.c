// SPDX-License-Identifier: GPL-2.0-only
/* Choose rules, replay in the background, and read recorded and replayed figures side by side. */
#include "tui/app.h"

#include <stdlib.h>
#include <string.h>
#include <resched/policy.h>
#include <resched/units.h>

#define MAX_OFF 64
#define VALUE_LEN 96

/* Above the knobs of the model. */
enum fixed { ROW_POLICY = 0, ROW_MODEL, ROW_RUN, ROW_PLACEMENT, ROW_TASK, ROW_CGROUP, ROW_TOPOLOGY, ROW_KNOBS };

/* What was changed from the defaults of the chosen model: features switched over and tunables set, by position. */
struct whatif { struct list list; unsigned int policy, model; bool placed, flipped[MAX_OFF]; char set[MAX_OFF][24], texts[3][VALUE_LEN]; };

static const struct resched_policy_info *policy_of(const struct whatif *v)
{
	const struct resched_policy_info *p = resched_policy_get(v->policy);

	return p ? p : resched_policy_get(0);
}

static const char *model_of(const struct whatif *v)
{
	const struct resched_policy_info *p = policy_of(v);

	return v->model && v->model <= p->nr_models ? p->models[v->model - 1] : NULL;	/* 0: the nearest */
}

/* The n-th knob of the model that does something. */
static bool knob_at(const struct whatif *v, int n, struct resched_knob_info *ret)
{
	const struct resched_policy_info *p = policy_of(v);
	const char *model = model_of(v) ? model_of(v) : p->default_model;

	for (unsigned int i = 0; n >= 0 && n < MAX_OFF && resched_policy_knob(p->name, model, i, ret); i++) {
		if (!(ret->is_feature && ret->inert) && !n--)
			return true;
	}
	return false;
}

static int nr_rows(const struct whatif *v)
{
	struct resched_knob_info k;
	int nr = 0;

	while (knob_at(v, nr, &k))
		nr++;
	return nr + ROW_KNOBS;
}

/* ---- drawing ---- */

static void draw_choice(const struct whatif *v, const struct area *a, int row, int y)
{
	static const char *const titles[] = { "task", "cgroup", "topology" };
	struct resched_knob_info k;

	if (row == ROW_POLICY) {
		area_printf(a, 1, y, ROLE_TEXT, "policy    %s", policy_of(v)->name);
	} else if (row == ROW_MODEL) {
		area_printf(a, 1, y, ROLE_TEXT, "model     %s", model_of(v) ? model_of(v) : "nearest");
	} else if (row == ROW_RUN) {
		area_put(a, 1, y, ROLE_KEY, "replay (Enter, r)");
	} else if (row == ROW_PLACEMENT) {
		area_printf(a, 1, y, v->placed ? ROLE_MARK : ROLE_TEXT, "placement %s", v->placed ? "kernel" : "recorded");
	} else if (row < ROW_KNOBS) {
		const char *text = v->texts[row - ROW_TASK];

		area_printf(a, 1, y, *text ? ROLE_MARK : ROLE_TEXT, "%-9s %s", titles[row - ROW_TASK], *text ? text : "-");
	} else if (knob_at(v, row - ROW_KNOBS, &k)) {
		int i = row - ROW_KNOBS;

		if (k.is_feature)
			area_printf(a, 1, y, v->flipped[i] ? ROLE_MARK : ROLE_TEXT, "[%c] %.24s", (k.value != 0) != v->flipped[i] ? 'x' : ' ', k.name);
		else if (*v->set[i])
			area_printf(a, 1, y, ROLE_MARK, "%s=%s", k.name, v->set[i]);
		else
			area_printf(a, 1, y, ROLE_TEXT, "%s=%llu", k.name, (unsigned long long)k.value);
	}
}

static void draw_choices(const struct whatif *v, const struct area *a)
{
	area_put(a, 0, 0, ROLE_TITLE, "What if");
	for (int i = 0; i < v->list.rows && v->list.top + i < v->list.nr; i++) {
		draw_choice(v, a, v->list.top + i, i + 1);
		if (v->list.top + i == v->list.sel)
			area_attr(a, 0, i + 1, a->w - 1, ATTR_REVERSE);
	}
	list_bar(&v->list, a, a->w - 1, 1);
}

struct metric { const char *title; uint64_t (*get)(const struct resched_figures *f); bool time; };

static uint64_t wake_p50(const struct resched_figures *f) { return f->wakeup_latency.p50; }
static uint64_t wake_p99(const struct resched_figures *f) { return f->wakeup_latency.p99; }
static uint64_t wake_max(const struct resched_figures *f) { return f->wakeup_latency.max; }
static uint64_t preempted_p99(const struct resched_figures *f) { return f->preempted_wait.p99; }
static uint64_t delay(const struct resched_figures *f) { return f->runnable_wait_ns; }
static uint64_t involuntary(const struct resched_figures *f) { return f->involuntary; }
static uint64_t migrations(const struct resched_figures *f) { return f->migrations; }

static const struct metric metrics[] = {
	{ "wakeup p50", wake_p50, true }, { "wakeup p99", wake_p99, true }, { "wakeup max", wake_max, true }, { "preempted p99", preempted_p99, true },
	{ "run delay", delay, true }, { "involuntary", involuntary, false }, { "moves", migrations, false },
};

/* A figure and how far it is from the recorded one: told by sign, and by colour. */
static void put_value(const struct area *a, int x, int y, uint64_t value, uint64_t base, bool is_base, bool time)
{
	char text[32];
	enum role role;

	if (time)
		resched_time_format(value, text, sizeof(text));
	else
		snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	area_right(a, x, y, 9, ROLE_TEXT, text);
	if (is_base)
		return;
	role = app_change(base, value, text);
	area_right(a, x + 10, y, 6, role, text);
}

static const struct resched_figures *comm_of(const struct resched_report *rep, const char *name)
{
	for (unsigned int i = 0; i < rep->nr_comms; i++) {
		if (!strcmp(rep->comms[i].name, name))
			return &rep->comms[i].f;
	}
	return NULL;
}

static int compare_delay(const void *pa, const void *pb)
{
	const struct resched_group_row *const *a = pa, *const *b = pb;
	uint64_t x = (*a)->f.runnable_wait_ns, y = (*b)->f.runnable_wait_ns;

	return x != y ? (x < y) - (x > y) : strcmp((*a)->name, (*b)->name);
}

/* The recorded schedule and what was made of it, those not finished as well. */
static unsigned int columns_of(struct app *app, struct sched **ret, unsigned int max)
{
	struct sched *of = sched_recorded(app_sched(app));
	unsigned int nr = 0;

	ret[nr++] = of;
	for (unsigned int i = 0; i < app->data.nr && nr < max; i++) {
		if (app->data.scheds[i]->parent == of && !app->data.scheds[i]->hidden)
			ret[nr++] = app->data.scheds[i];
	}
	return nr;
}

static void draw_comms(struct sched *const *cols, unsigned int nr, const struct area *a, int y, const char *filter)
{
	const struct resched_report *base = cols[0]->report;
	const struct resched_group_row **order = malloc((base->nr_comms + 1u) * sizeof(*order));
	unsigned int nr_order = 0;

	if (!order)
		return;
	for (unsigned int i = 0; i < base->nr_comms; i++) {
		if (!*filter || app_matches(base->comms[i].name, filter))
			order[nr_order++] = &base->comms[i];
	}
	qsort(order, nr_order, sizeof(*order), compare_delay);
	area_put(a, 0, y++, ROLE_HEAD, "wakeup p99 of");
	for (unsigned int i = 0; i < nr_order && y < a->h; i++, y++) {
		area_printf(a, 1, y, ROLE_TEXT, "%.13s", order[i]->name);
		for (unsigned int c = 0; c < nr; c++) {
			const struct resched_figures *f = cols[c]->report ? comm_of(cols[c]->report, order[i]->name) : NULL;

			if (f)
				put_value(a, 15 + (int)c * 17, y, f->wakeup_latency.p99, order[i]->f.wakeup_latency.p99, c == 0, true);
		}
	}
	free(order);
}

static void draw_table(struct app *app, const struct area *a)
{
	struct sched *cols[MAX_SCHEDS];
	unsigned int nr = columns_of(app, cols, (unsigned int)(a->w > 32 ? (a->w - 15) / 17 : 1));
	int y = 2;

	for (unsigned int c = 0; c < nr; c++) {
		static const char *const states[] = { "working ...", "", "failed" };
		int state = atomic_load(&cols[c]->state);

		area_printf(a, 15 + (int)c * 17, 0, cols[c] == app_sched(app) ? ROLE_TITLE : ROLE_HEAD, "%.16s", c ? cols[c]->label : "recorded");
		area_put(a, 15 + (int)c * 17, 1, state == SCHED_FAILED ? ROLE_BAD : ROLE_DIM, states[state]);
	}
	if (!cols[0]->report) {
		area_put(a, 1, 3, ROLE_DIM, "the recording is still read");
		return;
	}
	for (size_t m = 0; m < sizeof(metrics) / sizeof(metrics[0]) && y < a->h; m++, y++) {
		area_put(a, 0, y, ROLE_TEXT, metrics[m].title);
		for (unsigned int c = 0; c < nr; c++) {
			if (cols[c]->report)
				put_value(a, 15 + (int)c * 17, y, metrics[m].get(&cols[c]->report->totals), metrics[m].get(&cols[0]->report->totals),
					  c == 0, metrics[m].time);
		}
	}
	draw_comms(cols, nr, a, y + 1, app->filter);
}

static const char *hint(const struct whatif *v)
{
	static const char *const hints[] = {
		[ROW_POLICY] = "which policy", [ROW_MODEL] = "the rules of which kernel", [ROW_RUN] = "replays in the background; C-c cancels",
		[ROW_PLACEMENT] = "recorded: tasks stay where they ran, which isolates the policy; kernel: the model places and balances",
		[ROW_TASK] = "SELECT:KEY=VALUE, as in nginx*:nice=-5,slice=3ms or pid:12:drop; several between blanks",
		[ROW_CGROUP] = "PATH:weight=N,max=QUOTA; several between blanks", [ROW_TOPOLOGY] = "another machine: sockets=2,cores=8, a preset or a file",
	};

	return v->list.sel < ROW_KNOBS ? hints[v->list.sel] : NULL;
}

static void draw(struct app *app, void *state, const struct area *a)
{
	int w = a->w >= 140 ? 44 : 30;
	struct area left = area_sub(a, 0, 0, w, a->h - 2), right = area_sub(a, w + 1, 0, a->w - w - 1, a->h - 2);
	struct whatif *v = state;
	struct resched_knob_info k;
	const struct sched *s = app_sched(app);

	list_fit(&v->list, nr_rows(v), left.h - 1);
	draw_choices(v, &left);
	for (int y = 0; y < a->h - 2; y++)
		area_cell(a, w, y, ROLE_DIM, glyph(a->grid, GLYPH_VLINE));
	draw_table(app, &right);
	if (s->parent && atomic_load(&s->state) == SCHED_FAILED)
		area_printf(a, 0, a->h - 1, ROLE_BAD, "%.200s", s->err.text);
	else if (knob_at(v, v->list.sel - ROW_KNOBS, &k))
		area_printf(a, 0, a->h - 1, ROLE_DIM, "%s: %s", k.name, k.meaning);
	else if (hint(v))
		area_put(a, 0, a->h - 1, ROLE_DIM, hint(v));
}

/* ---- keys ---- */

static size_t add_words(char *text, size_t at, size_t size, const char *option, const char *words)
{
	while (at < size && *(words += strspn(words, " "))) {
		size_t len = strcspn(words, " ");

		at += (size_t)snprintf(text + at, size - at, " %s %.*s", option, (int)len, words);
		words += len;
	}
	return at;
}

static void run(struct app *app, const struct whatif *v)
{
	struct resched_knob_info k;
	char text[2048];
	size_t at = (size_t)snprintf(text, sizeof(text), "replay --policy %s", policy_of(v)->name);

	if (model_of(v))
		at += (size_t)snprintf(text + at, sizeof(text) - at, " --model %s", model_of(v));
	if (v->placed)
		at += (size_t)snprintf(text + at, sizeof(text) - at, " --placement kernel");
	at = add_words(text, at, sizeof(text), "--task", v->texts[0]);
	at = add_words(text, at, sizeof(text), "--cgroup", v->texts[1]);
	at = add_words(text, at, sizeof(text), "--topology", v->texts[2]);
	for (int i = 0; i < MAX_OFF && at < sizeof(text) && knob_at(v, i, &k); i++) {
		if (k.is_feature && v->flipped[i])
			at += (size_t)snprintf(text + at, sizeof(text) - at, " --feature %s%s", k.value ? "NO_" : "", k.name);
		else if (!k.is_feature && *v->set[i])
			at += (size_t)snprintf(text + at, sizeof(text) - at, " --set %s=%s", k.name, v->set[i]);
	}
	app_command(app, text);
}

/* Other rules have other knobs. */
static void forget_knobs(struct whatif *v)
{
	memset(v->flipped, 0, sizeof(v->flipped));
	memset(v->set, 0, sizeof(v->set));
}

/* The text begins with the task in front, where there is none yet. */
static void edit_text(struct app *app, struct whatif *v, int row)
{
	static const char *const titles[] = { "--task ", "--cgroup ", "--topology " };
	char *text = v->texts[row - ROW_TASK];

	app_edit(app, titles[row - ROW_TASK], text, VALUE_LEN);
	if (row == ROW_TASK && !*text && app->pid)
		snprintf(app->text, sizeof(app->text), "pid:%d:nice=", app->pid);
}

static void change(struct app *app, struct whatif *v, int row, int step)
{
	struct resched_knob_info k;
	unsigned int nr = 0;

	while (resched_policy_get(nr))
		nr++;
	if (row == ROW_POLICY) {
		v->policy = (v->policy + nr + (unsigned int)step) % nr;
		v->model = 0;
		forget_knobs(v);
	} else if (row == ROW_MODEL) {
		nr = policy_of(v)->nr_models + 1;
		v->model = (v->model + nr + (unsigned int)step) % nr;
		forget_knobs(v);
	} else if (row == ROW_PLACEMENT) {
		v->placed = !v->placed;
	} else if (row >= ROW_TASK && row < ROW_KNOBS) {
		edit_text(app, v, row);
	} else if (knob_at(v, row - ROW_KNOBS, &k)) {
		char title[40];

		if (k.is_feature) {
			v->flipped[row - ROW_KNOBS] = !v->flipped[row - ROW_KNOBS];
			return;
		}
		snprintf(title, sizeof(title), "%.30s=", k.name);
		app_edit(app, title, v->set[row - ROW_KNOBS], sizeof(v->set[0]));
	}
}

static unsigned int key(struct app *app, void *state, int k)
{
	struct whatif *v = state;

	list_fit(&v->list, nr_rows(v), v->list.rows);
	if (list_key(&v->list, k))
		return DID;
	switch (k) {
	case ' ': case TK_RIGHT: change(app, v, v->list.sel, 1); return DID;
	case TK_LEFT: change(app, v, v->list.sel, -1); return DID;
	case 'r': run(app, v); return DID;
	case KEY_ENTER_:
		if (v->list.sel == ROW_RUN)
			run(app, v);
		else
			change(app, v, v->list.sel, 1);
		return DID;
	default: return DID_NOTHING;
	}
}

static void mouse(struct app *app, void *state, int x, int y, int button)
{
	struct whatif *v = state;

	(void)x;
	if (button >= 4) {
		list_key(&v->list, button == 4 ? TK_UP : TK_DOWN);
		return;
	}
	if (y < 1 || y > v->list.rows || v->list.top + y - 1 >= v->list.nr || x > 44)
		return;
	if (v->list.sel == v->list.top + y - 1)	/* the second time it is meant */
		key(app, v, KEY_ENTER_);
	else
		v->list.sel = v->list.top + y - 1;
}

static const char *const help[] = {
	"Space, Left Right", "change the policy, model, feature or a value", "r", "replay with what is chosen", ":replay WORDS", "the options of resched replay",
	"< >", "look at another schedule in every view", "v", "recorded and replayed side by side in every view",
	"C-c", "cancel what is replayed", ":close", "forget the replay in front", "+ -", "per cent from the recorded figure", NULL
};

const struct view_ops view_whatif = { .name = "What if", .title = "What if", .size = sizeof(struct whatif), .help = help, .draw = draw, .key = key,
				      .mouse = mouse };
