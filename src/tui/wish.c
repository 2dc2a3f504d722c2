// SPDX-License-Identifier: GPL-2.0-only
/* A what-if as words: the same as on the command line. */
#include "tui/data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void wish_release(struct wish *w)
{
	free(w->policy);
	free(w->model);
	free(w->topology);
	for (unsigned int i = 0; i < w->nr_features; i++)
		free(w->features[i]);
	for (unsigned int i = 0; i < w->nr_settings; i++)
		free(w->settings[i]);
	for (unsigned int i = 0; i < w->nr_tasks; i++)
		free(w->tasks[i]);
	for (unsigned int i = 0; i < w->nr_cgroups; i++)
		free(w->cgroups[i]);
	memset(w, 0, sizeof(*w));
}

static int add(char **list, unsigned int *nr, const char *text)
{
	if (*nr == MAX_WORDS)
		return -E2BIG;
	list[*nr] = strdup(text);
	if (!list[*nr])
		return -ENOMEM;
	(*nr)++;
	return 0;
}

static int set_text(char **to, const char *text)
{
	free(*to);
	*to = strdup(text);
	return *to ? 0 : -ENOMEM;
}

static int take(struct wish *w, const char *option, const char *value)
{
	if (!strcmp(option, "--policy"))
		return set_text(&w->policy, value);
	if (!strcmp(option, "--model"))
		return set_text(&w->model, value);
	if (!strcmp(option, "--feature"))
		return add(w->features, &w->nr_features, value);
	if (!strcmp(option, "--set"))
		return add(w->settings, &w->nr_settings, value);
	if (!strcmp(option, "--task"))
		return add(w->tasks, &w->nr_tasks, value);
	if (!strcmp(option, "--cgroup"))
		return add(w->cgroups, &w->nr_cgroups, value);
	if (!strcmp(option, "--topology"))
		return set_text(&w->topology, value);
	if (!strcmp(option, "--seed")) {
		char *end;

		w->seed = strtoull(value, &end, 10);
		return *value && !*end ? 0 : -EINVAL;
	}
	if (!strcmp(option, "--placement") && (!strcmp(value, "kernel") || !strcmp(value, "recorded"))) {
		w->kernel_placement = *value == 'k';
		return 0;
	}
	return -EINVAL;
}

/* A bare word is a policy. */
int wish_parse(const char *text, struct wish *ret, char *why, size_t size)
{
	char *copy = strdup(text), *save = NULL;
	int rc = copy ? 0 : -ENOMEM;

	memset(ret, 0, sizeof(*ret));
	for (char *word = copy ? strtok_r(copy, " \t", &save) : NULL; word && rc == 0; word = strtok_r(NULL, " \t", &save)) {
		char *value = strchr(word, '=');

		if (word[0] != '-') {
			rc = set_text(&ret->policy, word);
			continue;
		}
		if (value && !strncmp(word, "--", 2))
			*value++ = '\0';
		else
			value = strtok_r(NULL, " \t", &save);
		rc = value ? take(ret, word, value) : -EINVAL;
		if (rc == -EINVAL)
			snprintf(why, size, "%s: --policy P, --model KERNEL, --feature [NO_]NAME, --set NAME=VALUE, --task SELECT:KEY=VALUE, "
				 "--cgroup PATH:KEY=VALUE, --placement recorded|kernel, --topology SPEC, --seed N", word);
	}
	free(copy);
	if (rc < 0) {
		wish_release(ret);
		if (rc != -EINVAL)
			snprintf(why, size, "%s", rc == -E2BIG ? "too many words" : "out of memory");
	}
	return rc;
}
