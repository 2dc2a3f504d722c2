/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The application: a set of views over one set of schedules, one view in front, and what all of them share: the moment looked at, the
 * chosen task and cpu, two markers, a filter. One thread; everything below is called between data_lock() and data_unlock().
 */
#ifndef TUI_APP_H
#define TUI_APP_H

#include "tui/data.h"
#include "tui/grid.h"
#include "tui/keys.h"

#define MIN_W 80
#define MIN_H 24
#define MAX_LANES 32
#define HISTORY 16

/* What a key handler did. */
#define DID_NOTHING 0u
#define DID 1u		/* handled; the screen is drawn again */
#define DID_QUIT 2u

enum view_id { VIEW_TASKS = 0, VIEW_TIMELINE, VIEW_OUTLIERS, VIEW_TASK, VIEW_QUEUE, VIEW_WHATIF, VIEW_HELP, VIEW_NR };
enum prompt { PROMPT_NONE = 0, PROMPT_COMMAND, PROMPT_SEARCH, PROMPT_FILTER, PROMPT_VALUE };

struct app;
struct view_ops {
	const char *name, *title;
	size_t size;				/* of the state, zeroed at the start */
	const char *const *help;		/* pairs of keys and what they do, NULL at the end */
	void (*draw)(struct app *app, void *state, const struct area *area);
	unsigned int (*key)(struct app *app, void *state, int key);	/* DID_...; keys it does not know go to the application */
	/* all below may be NULL */
	void (*resize)(struct app *app, void *state);
	void (*select)(struct app *app, void *state);		/* the shared moment or task was changed by another view */
	bool (*search)(struct app *app, void *state, const char *text, int direction);	/* Return: found */
	void (*mouse)(struct app *app, void *state, int x, int y, int button);	/* in the view's area; button 4, 5: wheel */
	void (*done)(void *state);
	void (*save)(const void *state, FILE *out);		/* what is remembered: lines of a word and a value */
	void (*load)(void *state, const char *word, const char *value);
};

extern const struct view_ops view_tasks, view_timeline, view_outliers, view_task, view_queue, view_whatif, view_help;

struct app {
	struct grid grid;
	struct data data;
	const struct view_ops *ops[VIEW_NR];
	void *states[VIEW_NR];
	enum view_id front, before;
	unsigned int cur;			/* schedule looked at */
	struct sched *last_replay;		/* looked at last, or made last */
	bool follow;				/* live: the moment looked at is the present */
	bool versus;				/* recorded and replayed are shown side by side */
	/* shared selection: tasks are known by pid, which holds over schedules */
	uint64_t at_ns;				/* 0: none yet */
	int pid;				/* 0: none */
	unsigned int cpu;
	uint64_t marks[2];
	bool marked[2];
	int lanes[MAX_LANES];			/* pids with a lane of their own */
	unsigned int nr_lanes;
	unsigned int outlier;			/* the one [ and ] stand at */
	/* the line at the bottom */
	enum prompt prompt;
	char text[256], filter[64], search[64], message[320];
	bool bad_message;
	char history[HISTORY][256];		/* commands, the last first */
	int recalled;				/* of them, shown in the prompt; -1 none */
	char *value;				/* what PROMPT_VALUE edits */
	size_t value_size;
	char value_title[40];
	int mouse_x, mouse_y, mouse_button;
	bool quit, seen;			/* seen: a view with a task in it was drawn */
};

struct app_options { unsigned int nr_files; char *const *files; struct live_options live; bool utf8; int w, h; };

int app_init(struct app *app, const struct app_options *opts, struct resched_error *err);
void app_release(struct app *app);
void app_draw(struct app *app);
void app_key(struct app *app, int key);
int app_resize(struct app *app, int w, int h);
void app_command(struct app *app, const char *text);

/*
 * What is remembered from one time to the next: the view, the order of tables, commands that were typed. In $XDG_STATE_HOME/resched/tui,
 * by default below ~/.local/state. What cannot be read or written is left alone.
 */
void app_recall(struct app *app);
void app_remember(const struct app *app);

/* For views. */
struct sched *app_sched(struct app *app);
void app_look_at(struct app *app, const struct sched *s);	/* in front from now on; views are not told */
/* app_pair() - the recorded schedule and the replayed one beside it, when both are shown. */
bool app_pair(struct app *app, struct sched **rec, struct sched **rep);
void app_front(struct app *app, enum view_id view);
void app_say(struct app *app, bool bad, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* app_edit() - let the user change a text of a view. */
void app_edit(struct app *app, const char *title, char *value, size_t size);
void app_every_policy(struct app *app);		/* replays of the recording in front, in the background */
void app_goto(struct app *app, uint64_t at_ns);			/* the moment; views are told */
void app_outlier(struct app *app, int step);			/* the next or previous one */
bool app_lane(struct app *app, int pid);			/* has it a lane? */
void app_toggle_lane(struct app *app, int pid);
int app_task(struct app *app);					/* index of the chosen task in this schedule; RESCHED_NO_TASK */
uint64_t app_origin(struct app *app);				/* stamp that is shown as 0 */
/* app_change() - "+12%" from @from to @to. Return: how it is to look. */
enum role app_change(uint64_t from, uint64_t to, char text[32]);
bool app_matches(const char *text, const char *part);		/* is @part in @text, whatever the case; an empty one is */
void app_time(char buf[32], uint64_t ns);			/* "1.234567890" since the origin's zero */

/* A list of rows with one selected. */
struct list { int nr, sel, top, rows; };
bool list_key(struct list *l, int key);
void list_fit(struct list *l, int nr, int rows);		/* keep @sel and @top inside */
void list_bar(const struct list *l, const struct area *a, int x, int y);	/* where we are, at the right */

#endif
