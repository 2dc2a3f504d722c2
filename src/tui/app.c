// SPDX-License-Identifier: GPL-2.0-only
/* The frame around the views: title, tabs, the line at the bottom, prompts, and keys that mean the same everywhere. */
#include "tui/app.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <resched/policy.h>
#include <resched/units.h>

#define HEAD_LINES 2
#define FOOT_LINES 1

static const struct view_ops *const all_views[VIEW_NR] = {
	[VIEW_TASKS] = &view_tasks, [VIEW_TIMELINE] = &view_timeline, [VIEW_OUTLIERS] = &view_outliers, [VIEW_TASK] = &view_task,
	[VIEW_QUEUE] = &view_queue, [VIEW_WHATIF] = &view_whatif, [VIEW_HELP] = &view_help,
};

int app_init(struct app *app, const struct app_options *opts, struct resched_error *err)
{
	int rc;

	memset(app, 0, sizeof(*app));
	app->data.wake_fd = -1;
	app->grid.utf8 = opts->utf8;
	app->outlier = UINT32_MAX;
	rc = data_init(&app->data, err);
	if (rc == 0 && grid_resize(&app->grid, opts->w, opts->h) < 0) {
		*err = (struct resched_error){ RESCHED_FAILED, "out of memory" };
		rc = -ENOMEM;
	}
	for (int i = 0; i < VIEW_NR && rc == 0; i++) {
		app->ops[i] = all_views[i];
		app->states[i] = calloc(1, all_views[i]->size);
		if (!app->states[i]) {
			*err = (struct resched_error){ RESCHED_FAILED, "out of memory" };
			rc = -ENOMEM;
		}
	}
	app->follow = true;
	if (rc == 0 && opts->live.on)
		rc = data_live(&app->data, &opts->live, err);
	for (unsigned int i = 0; i < opts->nr_files && rc == 0; i++)
		rc = data_open(&app->data, opts->files[i], err);
	if (rc < 0)
		app_release(app);
	return rc;
}

void app_release(struct app *app)
{
	data_release(&app->data);
	for (int i = 0; i < VIEW_NR; i++) {
		if (app->states[i] && app->ops[i]->done)
			app->ops[i]->done(app->states[i]);
		free(app->states[i]);
		app->states[i] = NULL;
	}
	grid_release(&app->grid);
}

struct sched *app_sched(struct app *app)
{
	return app->data.scheds[app->cur];
}

void app_look_at(struct app *app, const struct sched *s)
{
	for (unsigned int i = 0; i < app->data.nr; i++) {
		if (app->data.scheds[i] == s)
			app->cur = i;
	}
}

bool app_pair(struct app *app, struct sched **rec, struct sched **rep)
{
	struct sched *s = app_sched(app);

	*rec = sched_recorded(s);
	*rep = s->parent ? s : app->last_replay && app->last_replay->parent == s ? app->last_replay : NULL;
	return app->versus && *rep && (*rep)->index && (*rec)->index && atomic_load(&(*rep)->state) != SCHED_FAILED;
}

enum role app_change(uint64_t from, uint64_t to, char text[32])
{
	double percent = from ? ((double)to - (double)from) * 100 / (double)from : to ? 999 : 0;

	if (percent >= 999)
		snprintf(text, 32, ">999%%");
	else if (from == to)
		snprintf(text, 32, "=");
	else
		snprintf(text, 32, "%+.0f%%", percent);
	return percent > 1 ? ROLE_BAD : percent < -1 ? ROLE_GOOD : ROLE_DIM;
}

void app_say(struct app *app, bool bad, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(app->message, sizeof(app->message), fmt, ap);
	va_end(ap);
	app->bad_message = bad;
}

void app_front(struct app *app, enum view_id view)
{
	if (app->front == view)
		return;
	if (app->front != VIEW_HELP)
		app->before = app->front;
	app->front = view;
	if (app->ops[view]->select)
		app->ops[view]->select(app, app->states[view]);
}

void app_goto(struct app *app, uint64_t at_ns)
{
	const struct resched_index *ix = app_sched(app)->index;

	if (!ix)
		return;
	if (at_ns < resched_index_first_ns(ix))
		at_ns = resched_index_first_ns(ix);
	if (at_ns > resched_index_last_ns(ix))
		at_ns = resched_index_last_ns(ix);
	app->at_ns = at_ns;
	if (app->ops[app->front]->select)
		app->ops[app->front]->select(app, app->states[app->front]);
}

uint64_t app_origin(struct app *app)
{
	const struct sched *of = sched_recorded(app_sched(app));

	return of->live && of->began_ns ? of->began_ns : of->index ? resched_index_first_ns(of->index) : 0;
}

void app_time(char buf[32], uint64_t ns)
{
	snprintf(buf, 32, "%llu.%09llu", (unsigned long long)(ns / 1000000000u), (unsigned long long)(ns % 1000000000u));
}

bool app_matches(const char *text, const char *part)
{
	size_t len = strlen(part);

	for (; text; text = *text ? text + 1 : NULL) {
		if (!strncasecmp(text, part, len))
			return true;
	}
	return false;
}

int app_task(struct app *app)
{
	const struct resched_index *ix = app_sched(app)->index;

	return ix && app->pid ? resched_index_find_pid(ix, app->pid) : RESCHED_NO_TASK;
}

bool app_lane(struct app *app, int pid)
{
	for (unsigned int i = 0; i < app->nr_lanes; i++) {
		if (app->lanes[i] == pid)
			return true;
	}
	return false;
}

void app_toggle_lane(struct app *app, int pid)
{
	for (unsigned int i = 0; i < app->nr_lanes; i++) {
		if (app->lanes[i] == pid) {
			memmove(&app->lanes[i], &app->lanes[i + 1], (app->nr_lanes - i - 1) * sizeof(app->lanes[0]));
			app->nr_lanes--;
			return;
		}
	}
	if (app->nr_lanes == MAX_LANES)
		app_say(app, true, "at most %d tasks have a lane of their own", MAX_LANES);
	else
		app->lanes[app->nr_lanes++] = pid;
}

void app_outlier(struct app *app, int step)
{
	const struct resched_outliers *all = sched_outliers(app_sched(app));
	const struct resched_outlier *o;
	unsigned int nr = all ? resched_outliers_count(all) : 0;
	char text[32];

	if (!nr) {
		app_say(app, true, "no outliers yet");
		return;
	}
	if (app->outlier >= nr)
		app->outlier = step > 0 ? 0 : nr - 1;
	else
		app->outlier = (app->outlier + nr + (unsigned int)step) % nr;
	o = resched_outliers_get(all, app->outlier);
	app->pid = o->pid;
	app->cpu = o->queued_cpu;
	resched_time_format(o->latency_ns, text, sizeof(text));
	app_say(app, false, "outlier %u of %u: %s waited %s, %s", app->outlier + 1, nr, o->comm, text, o->code);
	app_goto(app, o->wake_ns);
}

/* ---- drawing ---- */

static void count_text(uint64_t n, char buf[32])
{
	if (n >= 1000000)
		snprintf(buf, 32, "%.1f M", (double)n / 1e6);
	else
		snprintf(buf, 32, "%llu", (unsigned long long)n);
}

static void draw_title(struct app *app, const struct area *a)
{
	static const char *const phases[] = { "reading", "rebuilding the workload", "replaying" };
	int x = area_put(a, 0, 0, ROLE_TITLE, "resched ");
	char n[32], span[32];

	for (unsigned int i = 0; i < app->data.nr; i++) {
		const struct sched *s = app->data.scheds[i];
		int from = x;

		if (s->hidden)
			continue;
		x += area_printf(a, x, 0, i == app->cur ? ROLE_TITLE : ROLE_DIM, " %s%.30s ", s->parent ? "= " : "", s->label);
		if (i == app->cur)
			area_attr(a, from, 0, x - from, ATTR_REVERSE);
	}
	if (app_sched(app)->live && atomic_load(&app_sched(app)->state) == SCHED_BUILDING) {
		const struct sched *s = app_sched(app);

		count_text(atomic_load(&s->nr_events), n);
		area_printf(a, x + 1, 0, ROLE_MARK, "%s, %s events", atomic_load(&s->paused) ? "paused" : app->follow ? "following" : "recording on", n);
		area_right(a, 0, 0, a->w, ROLE_DIM, "p pause  F freeze  :save FILE");
		return;
	}
	for (unsigned int i = 0; i < app->data.nr; i++) {
		const struct sched *s = app->data.scheds[i];

		if (atomic_load(&s->state) == SCHED_BUILDING && !s->live && (i == app->cur || s->parent)) {
			count_text(atomic_load(&s->nr_events), n);
			area_printf(a, x + 1, 0, ROLE_MARK, "%s: %s events", phases[atomic_load(&s->phase)], n);
			return;
		}
		if (atomic_load(&s->asking) && i == app->cur) {
			area_put(a, x + 1, 0, ROLE_MARK, "asking the model why they waited");
			return;
		}
	}
	if (app_sched(app)->index) {
		const struct resched_index *ix = app_sched(app)->index;

		count_text(resched_index_events(ix), n);
		resched_time_format(resched_index_last_ns(ix) - resched_index_first_ns(ix), span, sizeof(span));
		area_printf(a, x + 1, 0, ROLE_DIM, "%s events, %s, %u cpus", n, span, resched_index_cpus(ix));
	}
}

static void draw_tabs(struct app *app, const struct area *a)
{
	int x = 0;

	area_fill(a, 0, 1, a->w, ROLE_HEAD, ' ');
	for (int i = 0; i < VIEW_NR; i++) {
		int from = x;

		x += area_printf(a, x, 1, ROLE_HEAD, " %d %s ", i + 1, app->ops[i]->name);
		if ((enum view_id)i == app->front)
			area_attr(a, from, 1, x - from, ATTR_REVERSE | ATTR_BOLD);
	}
}

static void draw_foot(struct app *app, const struct area *a)
{
	static const char *const keys[] = { "F1", "Help", "F3", "Search", "F4", "Filter", "F5", "Timeline", "F6", "Sort", "F7", "Outliers",
					    "F8", "What if", "F10", "Quit" };
	static const char begin[] = { 0, ':', '/', '\\', 0 };
	int y = a->h - 1, x = 0;

	if (app->prompt == PROMPT_VALUE) {
		x = area_printf(a, 0, y, ROLE_TITLE, "%s%s", app->value_title, app->text);
		area_cell(a, x, y, ROLE_TEXT, ' ');
		area_attr(a, x, y, 1, ATTR_REVERSE);
	} else if (app->prompt) {
		x = area_printf(a, 0, y, ROLE_TITLE, "%c%s", begin[app->prompt], app->text);
		area_cell(a, x, y, ROLE_TEXT, ' ');
		area_attr(a, x, y, 1, ATTR_REVERSE);
	} else if (*app->message) {
		area_put(a, 0, y, app->bad_message ? ROLE_BAD : ROLE_GOOD, app->message);
	} else {
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i += 2) {
			x += area_put(a, x, y, ROLE_KEY, keys[i]);
			x += area_printf(a, x, y, ROLE_DIM, "%s ", keys[i + 1]);
		}
		if (*app->filter)
			area_printf(a, x, y, ROLE_MARK, "filter: %s", app->filter);
	}
}

/* The moment looked at: the present where that is followed, and never before what is still there. */
static void settle_moment(struct app *app)
{
	const struct sched *s = app_sched(app);

	if (!s->index)
		return;
	if (s->live && app->follow)
		app->at_ns = resched_index_last_ns(s->index);
	else if (!app->at_ns || (s->live && app->at_ns < resched_index_first_ns(s->index)))
		app->at_ns = resched_index_first_ns(s->index);
}

void app_draw(struct app *app)
{
	struct area all = grid_area(&app->grid), body = area_sub(&all, 0, HEAD_LINES, all.w, all.h - HEAD_LINES - FOOT_LINES);
	struct sched *s = app_sched(app);

	grid_clear(&app->grid);
	if (all.w < MIN_W || all.h < MIN_H) {
		area_printf(&all, 0, 0, ROLE_BAD, "resched tui needs %dx%d", MIN_W, MIN_H);
		area_printf(&all, 0, 1, ROLE_TEXT, "this is %dx%d", all.w, all.h);
		return;
	}
	draw_title(app, &all);
	draw_tabs(app, &all);
	if (atomic_load(&s->state) == SCHED_FAILED && app->front != VIEW_HELP && app->front != VIEW_WHATIF) {
		area_put(&body, 2, 1, ROLE_BAD, s->parent ? "This replay came to no end:" : s->live ? "This machine cannot be recorded:" :
			 "This recording could not be read:");
		area_wrap(&body, 2, 2, body.w - 4, 6, ROLE_TEXT, s->err.text);
	} else if (!s->index && app->front != VIEW_HELP && app->front != VIEW_WHATIF) {
		area_put(&body, 2, 1, ROLE_DIM, s->live ? "beginning to record ..." : s->parent ? "replaying ...; < is what was recorded" : "opening ...");
	} else {
		settle_moment(app);
		app->seen |= s->index && resched_index_tasks(s->index) > 0;
		app->ops[app->front]->draw(app, app->states[app->front], &body);
	}
	draw_foot(app, &all);
}

/* ---- commands ---- */

static void save_screen(struct app *app, const char *path)
{
	FILE *out = fopen(path, "we");
	int rc;

	if (!out) {
		app_say(app, true, "cannot write '%s': %s", path, strerror(errno));
		return;
	}
	app_draw(app);
	rc = grid_save(&app->grid, out);
	if (fclose(out) != 0 || rc < 0)
		app_say(app, true, "cannot write '%s'", path);
	else
		app_say(app, false, "saved %s", path);
}

static void goto_time(struct app *app, const char *text)
{
	uint64_t ns;

	if (resched_time_parse(text, 1000000000, &ns) < 0) {
		app_say(app, true, "goto wants a time since the beginning, such as 1.5s or 250us, not '%s'", text);
		return;
	}
	app_goto(app, app_origin(app) + ns);
}

static void goto_pid(struct app *app, const char *text)
{
	const struct resched_index *ix = app_sched(app)->index;
	int pid = (int)strtol(text, NULL, 10);

	if (!ix || resched_index_find_pid(ix, pid) == RESCHED_NO_TASK) {
		app_say(app, true, "there is no task '%s'", text);
		return;
	}
	app->pid = pid;
	app_goto(app, app->at_ns);
}

static void whatif(struct app *app, const char *text)
{
	struct resched_error err = { 0 };
	struct wish wish;
	char why[200];
	int rc = wish_parse(text, &wish, why, sizeof(why));

	if (rc < 0) {
		app_say(app, true, "%s", why);
		return;
	}
	rc = data_replay(&app->data, app_sched(app), &wish, false, &err);
	wish_release(&wish);
	if (rc < 0) {
		app_say(app, true, "%s", err.text);
		return;
	}
	if (!app_sched(app)->parent)
		app->last_replay = app->data.scheds[rc];
	app_say(app, false, "replaying in the background: < and > choose the schedule, v shows both, C-c cancels");
}

static void choose_sched(struct app *app, int step);

/* Is there one under @policy and nothing else changed? */
static bool is_replayed(const struct app *app, const struct sched *of, const char *policy)
{
	for (unsigned int i = 0; i < app->data.nr; i++) {
		if (app->data.scheds[i]->parent == of && !app->data.scheds[i]->hidden && !strcmp(app->data.scheds[i]->label, policy))
			return true;
	}
	return false;
}

void app_every_policy(struct app *app)
{
	const struct sched *of = sched_recorded(app_sched(app));
	const struct resched_policy_info *p;
	unsigned int nr = 0;

	for (unsigned int i = 0; (p = resched_policy_get(i)); i++) {
		if (!is_replayed(app, of, p->name)) {
			whatif(app, p->name);
			nr++;
		}
	}
	if (!nr)
		app_say(app, false, "all policies were asked; elsewhere tells");
}

/* A click on the name of a schedule. */
static void click_title(struct app *app)
{
	int x = (int)strlen("resched ");

	for (unsigned int i = 0; i < app->data.nr; i++) {
		const struct sched *s = app->data.scheds[i];
		char text[64];

		if (s->hidden)
			continue;
		snprintf(text, sizeof(text), " %s%.30s ", s->parent ? "= " : "", s->label);
		if (app->mouse_x >= x && app->mouse_x < x + (int)strlen(text)) {
			while (app->cur != i)
				choose_sched(app, 1);
			return;
		}
		x += (int)strlen(text);
	}
}

static void choose_sched(struct app *app, int step)
{
	unsigned int nr = app->data.nr;

	do
		app->cur = (app->cur + nr + (unsigned int)step) % nr;
	while (app_sched(app)->hidden);
	app->outlier = UINT32_MAX;
	if (app_sched(app)->parent)
		app->last_replay = app_sched(app);
	for (int i = 0; i < VIEW_NR; i++) {
		if (app->ops[i]->select)
			app->ops[i]->select(app, app->states[i]);
	}
	app_say(app, false, "%s: %.60s", app_sched(app)->parent ? "replayed" : "recorded", app_sched(app)->label);
}

/* Recorded and replayed side by side in every view, or one of them. */
static void versus(struct app *app)
{
	struct sched *rec, *rep;

	app->versus = !app->versus;
	if (app_pair(app, &rec, &rep))
		app_say(app, false, "recorded beside %.60s; v shows one alone", rep->label);
	else if (app->versus)
		app_say(app, true, "there is nothing to show beside it yet: 6 replays what if");
	app->versus &= rep != NULL;
}

/* Forget the replay in front. */
static void close_replay(struct app *app)
{
	struct sched *s = app_sched(app), *of = sched_recorded(s);

	if (!s->parent) {
		app_say(app, true, "a recording stays; close what was replayed");
		return;
	}
	if (app->last_replay == s)
		app->last_replay = NULL;
	app->outlier = UINT32_MAX;
	app_look_at(app, of);
	data_close(&app->data, s);
	app_look_at(app, of);
	app->versus = false;
	for (int i = 0; i < VIEW_NR; i++) {
		if (app->ops[i]->select)
			app->ops[i]->select(app, app->states[i]);
	}
}

static void cancel(struct app *app)
{
	bool any = false;

	for (unsigned int i = 0; i < app->data.nr; i++) {
		if (app->data.scheds[i]->parent && atomic_load(&app->data.scheds[i]->state) == SCHED_BUILDING) {
			atomic_store(&app->data.scheds[i]->cancel, true);
			any = true;
		}
	}
	app_say(app, !any, any ? "cancelled" : "nothing to cancel; q quits");
}

/* ---- live ---- */

static void pause_live(struct app *app)
{
	struct sched *s = app_sched(app);

	if (!s->live) {
		app_say(app, true, "only what is live can be paused");
		return;
	}
	atomic_store(&s->paused, !atomic_load(&s->paused));
	app_say(app, false, atomic_load(&s->paused) ? "paused: the recorder keeps what comes as long as it has room; p goes on" : "going on");
}

/* What is live now becomes a recording of its own. @file: NULL: a temporary one. */
static void freeze(struct app *app, const char *file)
{
	struct resched_error err = { 0 };
	int nr = data_freeze(&app->data, app_sched(app), file, &err);

	if (nr < 0) {
		app_say(app, true, "%s", err.text);
		return;
	}
	app_say(app, false, "%s%s: < goes back to what is live", file ? "saved to " : "frozen", file ? file : "");
	app->cur = (unsigned int)nr;
	app->outlier = UINT32_MAX;
}

/* A word of the command line that shows a view. */
static int view_of(const char *word)
{
	static const struct { const char *word; enum view_id view; } also[] = { { "report", VIEW_TASKS }, { "explain", VIEW_QUEUE },
		{ "compare", VIEW_WHATIF }, { "map", VIEW_TIMELINE } };

	for (int i = 0; i < VIEW_NR; i++) {
		if (!strcasecmp(word, all_views[i]->name))
			return i;
	}
	for (size_t i = 0; i < sizeof(also) / sizeof(also[0]); i++) {
		if (!strcmp(word, also[i].word))
			return (int)also[i].view;
	}
	return -1;
}

/* The value behind an option in the words of a command; NULL: it is not there. */
static const char *option(const char *rest, const char *name, char buf[32])
{
	const char *p = strstr(rest, name);
	size_t len = strlen(name);

	if (!p || (p[len] != ' ' && p[len] != '='))
		return NULL;
	p += len + 1;
	p += strspn(p, " ");
	snprintf(buf, 32, "%.*s", (int)strcspn(p, " "), p);
	return buf;
}

/* What of the command line's words for a view means something here: explain's --at and --cpu, a pid, a name, and compare's what-if. */
static void view_words(struct app *app, enum view_id view, const char *rest)
{
	char value[32];

	if (view == VIEW_WHATIF && *rest)
		whatif(app, rest);
	if (option(rest, "--cpu", value) && view == VIEW_QUEUE && app_sched(app)->index) {
		unsigned long cpu = strtoul(value, NULL, 10);

		if (cpu < resched_index_cpus(app_sched(app)->index))
			app->cpu = (unsigned int)cpu;
		else
			app_say(app, true, "there is no cpu %s", value);
	}
	if (option(rest, "--at", value))
		goto_time(app, value);
	if (option(rest, "--pid", value) || option(rest, "-p", value))
		goto_pid(app, value);
	if (option(rest, "--comm", value))
		snprintf(app->filter, sizeof(app->filter), "%s", value);
}

void app_command(struct app *app, const char *text)
{
	char word[32];
	const char *rest;
	size_t len;
	int view;

	text += strspn(text, " ");
	len = strcspn(text, " ");
	snprintf(word, sizeof(word), "%.*s", (int)(len < sizeof(word) ? len : sizeof(word) - 1), text);
	rest = text + len + strspn(text + len, " ");
	view = view_of(word);
	if (!*word)
		return;
	if (!strcmp(word, "q") || !strcmp(word, "quit"))
		app->quit = true;
	else if (!strcmp(word, "save-screen") && *rest)
		save_screen(app, rest);
	else if (!strcmp(word, "goto") && *rest)
		goto_time(app, rest);
	else if (!strcmp(word, "pid") && *rest)
		goto_pid(app, rest);
	else if (!strcmp(word, "filter"))
		snprintf(app->filter, sizeof(app->filter), "%s", rest);
	else if (!strcmp(word, "replay") || !strcmp(word, "whatif") || !strcmp(word, "what-if"))
		whatif(app, rest);
	else if (!strcmp(word, "cancel"))
		cancel(app);
	else if (!strcmp(word, "close"))
		close_replay(app);
	else if (!strcmp(word, "pause"))
		pause_live(app);
	else if (!strcmp(word, "freeze"))
		freeze(app, NULL);
	else if (!strcmp(word, "save") && *rest)
		freeze(app, rest);
	else if (!strcmp(word, "follow"))
		app->follow = true;
	else if (view >= 0) {
		app_front(app, (enum view_id)view);
		view_words(app, (enum view_id)view, rest);
	} else {
		app_say(app, true, "%s: known are goto TIME, pid PID, filter TEXT, replay --policy P ..., cancel, close, pause, freeze, follow, save FILE, "
			"save-screen FILE, quit, and views", word);
	}
}

/* ---- keys ---- */

static void search(struct app *app, int direction)
{
	if (!app_sched(app)->index || atomic_load(&app_sched(app)->state) == SCHED_FAILED)
		app_say(app, true, "there is nothing to search yet");
	else if (!*app->search)
		app_say(app, true, "nothing to search for yet: / begins");
	else if (!app->ops[app->front]->search)
		app_say(app, true, "there is nothing to search here");
	else if (!app->ops[app->front]->search(app, app->states[app->front], app->search, direction))
		app_say(app, true, "not found: %s", app->search);
}

void app_edit(struct app *app, const char *title, char *value, size_t size)
{
	app->prompt = PROMPT_VALUE;
	app->value = value;
	app->value_size = size;
	snprintf(app->value_title, sizeof(app->value_title), "%s", title);
	snprintf(app->text, sizeof(app->text), "%s", value);
}

/* Typed again, it moves to the front. */
static void note_command(struct app *app, const char *text)
{
	int at = 0;

	while (at < HISTORY - 1 && *app->history[at] && strcmp(app->history[at], text) != 0)
		at++;
	memmove(app->history[1], app->history[0], (size_t)at * sizeof(app->history[0]));
	snprintf(app->history[0], sizeof(app->history[0]), "%s", text);
}

static void recall_command(struct app *app, int step)
{
	int at = app->recalled + step;

	if (app->prompt != PROMPT_COMMAND || at < -1 || at >= HISTORY || (at >= 0 && !*app->history[at]))
		return;
	app->recalled = at;
	snprintf(app->text, sizeof(app->text), "%s", at < 0 ? "" : app->history[at]);
}

static void end_prompt(struct app *app)
{
	enum prompt prompt = app->prompt;

	app->prompt = PROMPT_NONE;
	if (prompt == PROMPT_COMMAND) {
		char text[sizeof(app->text)];

		memcpy(text, app->text, sizeof(text));
		if (*text)
			note_command(app, text);
		app_command(app, text);
	} else if (prompt == PROMPT_VALUE) {
		snprintf(app->value, app->value_size, "%s", app->text);
	} else if (prompt == PROMPT_SEARCH && *app->text) {
		snprintf(app->search, sizeof(app->search), "%.63s", app->text);
		search(app, 1);
	}
}

static void prompt_key(struct app *app, int key)
{
	size_t len = strlen(app->text);

	if (key == KEY_ESC_ || key == TK_CTRL('c')) {
		if (app->prompt == PROMPT_FILTER)
			*app->filter = '\0';
		app->prompt = PROMPT_NONE;
	} else if (key == KEY_ENTER_) {
		end_prompt(app);
	} else if (key == KEY_BACKSPACE_ || key == 8) {
		if (len)
			app->text[len - 1] = '\0';
		else
			app->prompt = PROMPT_NONE;
	} else if (key == TK_CTRL('u')) {
		*app->text = '\0';
	} else if (key == TK_UP || key == TK_DOWN) {
		recall_command(app, key == TK_UP ? 1 : -1);
	} else if (key >= ' ' && key < 127 && len + 1 < sizeof(app->text)) {
		app->text[len] = (char)key;
		app->text[len + 1] = '\0';
	}
	if (app->prompt == PROMPT_FILTER)	/* as you type */
		snprintf(app->filter, sizeof(app->filter), "%.63s", app->text);
}

static void begin_prompt(struct app *app, enum prompt prompt)
{
	app->prompt = prompt;
	app->recalled = -1;
	snprintf(app->text, sizeof(app->text), "%s", prompt == PROMPT_FILTER ? app->filter : "");
}

static void quit_or_back(struct app *app)
{
	if (app->front == VIEW_HELP)
		app_front(app, app->before);
	else
		app->quit = true;
}

static void escape(struct app *app)
{
	if (*app->filter)
		*app->filter = '\0';
	else if (app->front != app->before)
		app_front(app, app->front == VIEW_HELP || app->front == VIEW_TASK || app->front == VIEW_QUEUE ? app->before : VIEW_TASKS);
	else
		app_front(app, VIEW_TASKS);
}

static void global_key(struct app *app, int key)
{
	if (key >= '1' && key < '1' + VIEW_NR) {
		app_front(app, (enum view_id)(key - '1'));
		return;
	}
	switch (key) {
	case 'q': quit_or_back(app); break;
	case 'Q': case TK_F1 + 9: app->quit = true; break;
	case '?': case 'h': case TK_F1: app_front(app, VIEW_HELP); break;
	case KEY_TAB_: app_front(app, (app->front + 1) % VIEW_NR); break;
	case TK_BACKTAB: app_front(app, (app->front + VIEW_NR - 1) % VIEW_NR); break;
	case KEY_ESC_: escape(app); break;
	case ':': begin_prompt(app, PROMPT_COMMAND); break;
	case '/': case TK_F1 + 2: begin_prompt(app, PROMPT_SEARCH); break;
	case 'f': case '\\': case TK_F1 + 3: begin_prompt(app, PROMPT_FILTER); break;
	case 'n': search(app, 1); break;
	case 'N': search(app, -1); break;
	case '[': app_outlier(app, -1); break;
	case ']': app_outlier(app, 1); break;
	case 'v': versus(app); break;
	case 'p': pause_live(app); break;
	case 'F': freeze(app, NULL); break;
	case '<': choose_sched(app, -1); break;
	case '>': choose_sched(app, 1); break;
	case TK_F1 + 4: app_front(app, VIEW_TIMELINE); break;
	case TK_F1 + 6: app_front(app, VIEW_OUTLIERS); break;
	case TK_F1 + 7: app_front(app, VIEW_WHATIF); break;
	case TK_CTRL('c'): cancel(app); break;
	default: break;
	}
}

static void take_key(struct app *app, int key)
{
	struct sched *s = app_sched(app);
	bool usable = s->index && atomic_load(&s->state) != SCHED_FAILED;
	unsigned int did = DID_NOTHING;

	if (app->prompt) {
		prompt_key(app, key);
		return;
	}
	if (key == TK_RESIZE || key == TK_NONE)
		return;
	*app->message = '\0';
	if (usable && !app->at_ns)
		app->at_ns = resched_index_first_ns(s->index);
	if (key == TK_MOUSE) {
		if (app->mouse_y == 0) {
			click_title(app);
		} else if (app->mouse_y == 1) {
			int x = 0;

			for (int i = 0; i < VIEW_NR; i++) {
				x += (int)strlen(app->ops[i]->name) + 4;
				if (app->mouse_x < x) {
					app_front(app, (enum view_id)i);
					break;
				}
			}
		} else if (usable && app->ops[app->front]->mouse) {
			app->ops[app->front]->mouse(app, app->states[app->front], app->mouse_x, app->mouse_y - HEAD_LINES, app->mouse_button);
		}
		return;
	}
	if (usable || app->front == VIEW_HELP || app->front == VIEW_WHATIF)
		did = app->ops[app->front]->key(app, app->states[app->front], key);
	if (did == DID_NOTHING)
		global_key(app, key);
	app->quit |= did == DID_QUIT;
}

/* Whoever goes to another moment does not follow the present any more; who goes to the last one does. */
void app_key(struct app *app, int key)
{
	const struct sched *s = app_sched(app);
	uint64_t at = app->at_ns;

	take_key(app, key);
	if (app_sched(app) == s && s->live && s->index && app->at_ns != at)
		app->follow = app->at_ns == resched_index_last_ns(s->index);
	if (app_sched(app) == s && s->live && s->index && key == TK_END && app->front == VIEW_TIMELINE)
		app->follow = true;
}

int app_resize(struct app *app, int w, int h)
{
	int rc = grid_resize(&app->grid, w, h);

	for (int i = 0; i < VIEW_NR && rc == 0; i++) {
		if (app->ops[i]->resize)
			app->ops[i]->resize(app, app->states[i]);
	}
	return rc;
}
