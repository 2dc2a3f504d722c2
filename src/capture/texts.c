// SPDX-License-Identifier: GPL-2.0-only
#include "capture/texts.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tracefs.h>

#include "base/error.h"
#include "capture/files.h"

#define TEXT_LIMIT (16u << 20)	/* of one file of tracefs */

static int read_text(const char *file, char **ret, struct resched_error *err)
{
	char path[PATH_MAX];
	size_t len;
	int rc;

	snprintf(path, sizeof(path), "%s/%s", tracefs_tracing_dir(), file);
	rc = rs_file_read_all(path, TEXT_LIMIT, ret, &len);
	if (rc < 0)
		return rs_error_set(err, RESCHED_FAILED, rc, "cannot read '%s':", path);
	return 0;
}

/* Takes @text over, whatever happens. */
static int add_text(struct rs_text_system *system, char *text)
{
	char **grown = text ? realloc(system->texts, (system->nr + 1) * sizeof(*grown)) : NULL;

	if (!grown) {
		free(text);
		return -ENOMEM;
	}
	system->texts = grown;
	grown[system->nr++] = text;
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The formats of a system in the order of their names. */
static int read_system(struct rs_text_system *ret, const char *system, struct resched_error *err)
{
	char **events = tracefs_system_events(NULL, system);
	int nr = events ? tracefs_list_size(events) : 0, i, rc = 0;

	ret->name = strdup(system);
	if (!ret->name)
		rc = rs_error_nomem(err);
	if (nr > 0)
		qsort(events, (size_t)nr, sizeof(*events), compare_names);
	for (i = 0; i < nr && rc == 0; i++) {
		char file[512], path[PATH_MAX], *text = NULL;

		snprintf(file, sizeof(file), "events/%s/%s/format", system, events[i]);
		snprintf(path, sizeof(path), "%s/%s", tracefs_tracing_dir(), file);
		if (rs_access(path, R_OK) < 0)
			continue;	/* folders of the system itself have none */
		rc = read_text(file, &text, err);
		if (rc == 0 && add_text(ret, text) < 0)
			rc = rs_error_nomem(err);
	}
	tracefs_list_free(events);
	return rc;
}

static struct rs_text_system *new_system(struct rs_texts *formats)
{
	struct rs_text_system *grown = realloc(formats->systems, (formats->nr_systems + 1) * sizeof(*grown));

	if (!grown)
		return NULL;
	formats->systems = grown;
	memset(&grown[formats->nr_systems], 0, sizeof(*grown));
	return &grown[formats->nr_systems++];
}

int rs_texts_read(struct rs_texts *ret, unsigned int nr_systems, char *const *systems, struct resched_error *err)
{
	unsigned int i;
	int rc;

	memset(ret, 0, sizeof(*ret));
	rc = read_text("events/header_page", &ret->header_page, err);
	if (rc == 0)
		rc = read_text("events/header_event", &ret->header_event, err);
	if (rc == 0)
		rc = read_system(&ret->ftrace, "ftrace", err);
	for (i = 0; i < nr_systems && rc == 0; i++) {
		struct rs_text_system *system = new_system(ret);

		rc = system ? read_system(system, systems[i], err) : rs_error_nomem(err);
	}
	if (rc < 0)
		rs_texts_release(ret);
	return rc;
}

int rs_texts_add(struct rs_texts *formats, const char *name, const char *text)
{
	struct rs_text_system *system = NULL;
	unsigned int i;

	for (i = 0; i < formats->nr_systems; i++) {
		if (strcmp(formats->systems[i].name, name) == 0)
			system = &formats->systems[i];
	}
	if (!system) {
		char *copy = strdup(name);

		system = copy ? new_system(formats) : NULL;
		if (!system) {
			free(copy);
			return -ENOMEM;
		}
		system->name = copy;
	}
	return add_text(system, strdup(text));
}

/* Does the text begin with "name: @event"? */
static bool is_of(const char *text, const char *event)
{
	size_t len = strlen(event);

	return strncmp(text, "name: ", 6) == 0 && strncmp(text + 6, event, len) == 0 && text[6 + len] == '\n';
}

const char *rs_texts_find(const struct rs_texts *formats, const char *system, const char *event)
{
	unsigned int i, k;

	for (i = 0; i < formats->nr_systems; i++) {
		const struct rs_text_system *s = &formats->systems[i];

		for (k = 0; k < s->nr && strcmp(s->name, system) == 0; k++) {
			if (is_of(s->texts[k], event))
				return s->texts[k];
		}
	}
	return NULL;
}

/* A 64 bit size and the text. */
static void put_sized(struct rs_datw_buf *buf, const char *text)
{
	size_t len = text ? strlen(text) : 0;

	rs_datw_put_u64(buf, len);
	rs_datw_put(buf, text, len);
}

static void put_system(struct rs_datw_buf *buf, const struct rs_text_system *system)
{
	unsigned int i;

	rs_datw_put_u32(buf, system->nr);
	for (i = 0; i < system->nr; i++)
		put_sized(buf, system->texts[i]);
}

void rs_texts_put_headers(const struct rs_texts *formats, struct rs_datw_buf *buf)
{
	rs_datw_put_text(buf, "header_page");
	put_sized(buf, formats->header_page);
	rs_datw_put_text(buf, "header_event");
	put_sized(buf, formats->header_event);
}

void rs_texts_put_ftrace(const struct rs_texts *formats, struct rs_datw_buf *buf)
{
	put_system(buf, &formats->ftrace);
}

void rs_texts_put_events(const struct rs_texts *formats, struct rs_datw_buf *buf)
{
	unsigned int i;

	rs_datw_put_u32(buf, formats->nr_systems);
	for (i = 0; i < formats->nr_systems; i++) {
		rs_datw_put_text(buf, formats->systems[i].name);
		put_system(buf, &formats->systems[i]);
	}
}

static void release_system(struct rs_text_system *system)
{
	unsigned int i;

	for (i = 0; i < system->nr; i++)
		free(system->texts[i]);
	free(system->texts);
	free(system->name);
}

void rs_texts_release(struct rs_texts *formats)
{
	unsigned int i;

	for (i = 0; i < formats->nr_systems; i++)
		release_system(&formats->systems[i]);
	release_system(&formats->ftrace);
	free(formats->systems);
	free(formats->header_page);
	free(formats->header_event);
	memset(formats, 0, sizeof(*formats));
}
