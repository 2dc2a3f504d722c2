// SPDX-License-Identifier: GPL-2.0-only
#include "tui/keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STEPS 1000000u

static const struct { const char *name; int key; } names[] = {
	{ "Up", TK_UP }, { "Down", TK_DOWN }, { "Left", TK_LEFT }, { "Right", TK_RIGHT }, { "PgUp", TK_PGUP }, { "PgDn", TK_PGDN },
	{ "Home", TK_HOME }, { "End", TK_END }, { "Enter", KEY_ENTER_ }, { "Esc", KEY_ESC_ }, { "Tab", KEY_TAB_ }, { "BackTab", TK_BACKTAB },
	{ "Space", ' ' }, { "Backspace", KEY_BACKSPACE_ }, { "Delete", TK_DELETE }, { "Hash", '#' }, { "Quote", '"' }, { "Colon", ':' },
};

int tk_parse(const char *word)
{
	size_t len = strlen(word);
	char *end;
	long n;

	if (len == 1)
		return (unsigned char)word[0];
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(names[i].name, word))
			return names[i].key;
	}
	if (!strncmp(word, "C-", 2) && len == 3)
		return TK_CTRL(word[2]);
	n = word[0] == 'F' ? strtol(word + 1, &end, 10) : 0;
	return n >= 1 && n <= 12 && !*end ? TK_F1 + (int)n - 1 : -1;
}

static int add(struct script *s, const struct script_entry *e)
{
	struct script_entry *more;

	if (s->nr >= MAX_STEPS)
		return -E2BIG;
	if (!(s->nr & (s->nr - 1))) {
		more = realloc(s->entries, (s->nr ? s->nr * 2u : 1u) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->entries = more;
	}
	s->entries[s->nr++] = *e;
	return 0;
}

/* One word or quoted text at *@text. Return: 0; -EINVAL, -ENOMEM. */
static int add_word(struct script *s, char **text)
{
	struct script_entry e = { .step = STEP_KEY };
	char *p = *text, *end;

	if (*p == '"') {
		end = strchr(p + 1, '"');
		if (!end)
			return -EINVAL;
		e.step = STEP_TEXT;
		snprintf(e.text, sizeof(e.text), "%.*s", (int)(end - p - 1), p + 1);
		*text = end + 1;
		return add(s, &e);
	}
	end = p + strcspn(p, " \t\n");
	if (*end)
		*end++ = '\0';
	*text = end;
	if (!strcmp(p, "wait")) {
		e.step = STEP_WAIT;
	} else if (!strcmp(p, "events")) {
		int used = 0;

		e.step = STEP_EVENTS;
		if (sscanf(end, "%d%n", &e.w, &used) != 1)
			return -EINVAL;
		*text = end + used;
	} else if (!strcmp(p, "resize")) {
		int used = 0;

		e.step = STEP_RESIZE;
		if (sscanf(end, "%d %d%n", &e.w, &e.h, &used) != 2)
			return -EINVAL;
		*text = end + used;
	} else {
		e.key = tk_parse(p);
		if (e.key < 0)
			return -EINVAL;
	}
	return add(s, &e);
}

static int add_line(struct script *s, char *line)
{
	char *p = line + strspn(line, " \t");
	int rc = 0;

	if (*p == ':') {
		struct script_entry e = { .step = STEP_COMMAND };

		p[strcspn(p, "\n")] = '\0';
		snprintf(e.text, sizeof(e.text), "%s", p + 1);
		return add(s, &e);
	}
	while (rc == 0) {
		p += strspn(p, " \t\n");
		if (!*p || *p == '#')
			break;
		rc = add_word(s, &p);
	}
	return rc;
}

int script_load(const char *path, struct script *ret, struct resched_error *err)
{
	FILE *in = strcmp(path, "-") ? fopen(path, "re") : stdin;
	struct script s = { 0 };
	unsigned int nr = 0;
	char *line = NULL;
	size_t size = 0;
	int rc = 0;

	if (!in) {
		rc = -errno;
		err->kind = RESCHED_FAILED;
		snprintf(err->text, sizeof(err->text), "cannot open keys '%s': %s", path, strerror(-rc));
		return rc;
	}
	while (rc == 0 && getline(&line, &size, in) >= 0) {
		nr++;
		rc = add_line(&s, line);
	}
	free(line);
	if (in != stdin)
		fclose(in);
	if (rc < 0) {
		err->kind = rc == -EINVAL ? RESCHED_USAGE : RESCHED_FAILED;
		snprintf(err->text, sizeof(err->text), "%s:%u: not a key, a quoted text, wait, 'events N', 'resize W H' or a :command", path, nr);
		script_release(&s);
		return rc;
	}
	*ret = s;
	return 0;
}

void script_release(struct script *s)
{
	free(s->entries);
	memset(s, 0, sizeof(*s));
}
