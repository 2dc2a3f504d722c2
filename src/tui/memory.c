// SPDX-License-Identifier: GPL-2.0-only
/* What is remembered from one time to the next, as lines of a word and a value. */
#include "tui/app.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_LEN 4096

/* Return: whether there is a place at all. */
static bool place(char *path, size_t size, const char *tail)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int n;

	if (state && *state == '/')
		n = snprintf(path, size, "%s/resched%s", state, tail);
	else if (home && *home == '/')
		n = snprintf(path, size, "%s/.local/state/resched%s", home, tail);
	else
		return false;
	return n > 0 && (size_t)n < size;
}

static void recall(struct app *app, const char *word, const char *value)
{
	for (int i = 0; i < VIEW_NR; i++) {
		if (!strcmp(word, "view") && !strcmp(value, app->ops[i]->name))
			app->front = app->before = (enum view_id)i;
		if (app->ops[i]->load)
			app->ops[i]->load(app->states[i], word, value);
	}
	if (!strcmp(word, "search"))
		snprintf(app->search, sizeof(app->search), "%.63s", value);
	for (int i = 0; !strcmp(word, "command") && i < HISTORY; i++) {
		if (!*app->history[i]) {
			snprintf(app->history[i], sizeof(app->history[i]), "%.255s", value);
			break;
		}
	}
}

void app_recall(struct app *app)
{
	char path[PATH_LEN], line[512];
	FILE *in = place(path, sizeof(path), "/tui") ? fopen(path, "re") : NULL;

	while (in && fgets(line, sizeof(line), in)) {
		char *value = strchr(line, ' ');

		line[strcspn(line, "\n")] = '\0';
		if (!value)
			continue;
		*value++ = '\0';
		recall(app, line, value);
	}
	if (in)
		fclose(in);
}

/* Every folder of @path but the last name. */
static void make_folders(char *path)
{
	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
}

void app_remember(const struct app *app)
{
	char path[PATH_LEN], tmp[PATH_LEN];
	FILE *out;
	bool good;

	if (!place(path, sizeof(path), "/tui") || !place(tmp, sizeof(tmp), "/tui.new"))
		return;
	make_folders(tmp);
	out = fopen(tmp, "we");
	if (!out)
		return;
	if (app->front != VIEW_HELP)
		fprintf(out, "view %s\n", app->ops[app->front]->name);
	for (int i = 0; i < VIEW_NR; i++) {
		if (app->ops[i]->save)
			app->ops[i]->save(app->states[i], out);
	}
	if (*app->search)
		fprintf(out, "search %s\n", app->search);
	for (int i = 0; i < HISTORY && *app->history[i]; i++)
		fprintf(out, "command %s\n", app->history[i]);
	good = !ferror(out);
	if (fclose(out) != 0 || !good || rename(tmp, path) < 0)
		unlink(tmp);
}
