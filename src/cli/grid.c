// SPDX-License-Identifier: GPL-2.0-only
#include "cli/sweep.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Keys that are options of `resched replay`; any other is a tunable. In some a comma is part of a value. */
static const struct { const char *key, *option; char between; } options[] = {
	{ "policy", "--policy", ',' }, { "model", "--model", ',' }, { "feature", "--feature", ',' }, { "placement", "--placement", ',' },
	{ "seed", "--seed", ',' }, { "topology", "--topology", ';' }, { "task", "--task", ';' }, { "cgroup", "--cgroup", ';' },
};
#define NR_OPTIONS (sizeof(options) / sizeof(options[0]))

static int option_of(const char *key)
{
	for (size_t i = 0; i < NR_OPTIONS; i++) {
		if (!strcmp(options[i].key, key))
			return (int)i;
	}
	return -1;
}

static int bad(struct resched_error *err, const char *text)
{
	err->kind = RESCHED_USAGE;
	snprintf(err->text, sizeof(err->text), "--grid wants KEY=VALUE,VALUE such as policy=eevdf,cfs or base_slice_ns=1ms,3ms; not '%.200s'", text);
	return -EINVAL;
}

static int no_memory(struct resched_error *err)
{
	*err = (struct resched_error){ RESCHED_FAILED, "out of memory" };
	return -ENOMEM;
}

static int parse_key(const char *text, struct sweep_key *key, struct resched_error *err)
{
	const char *equals = strchr(text, '='), *at;
	char between = ',';
	int option;

	if (!equals || equals == text)
		return bad(err, text);
	key->name = strndup(text, (size_t)(equals - text));
	if (!key->name)
		return no_memory(err);
	option = option_of(key->name);
	if (option >= 0)
		between = options[option].between;
	for (at = equals + 1;; at++) {
		const char *end = strchrnul(at, between);
		char **more = realloc(key->values, (key->nr + 1u) * sizeof(*more));

		if (!more)
			return no_memory(err);
		key->values = more;
		if (end == at)
			return bad(err, text);
		key->values[key->nr] = strndup(at, (size_t)(end - at));
		if (!key->values[key->nr])
			return no_memory(err);
		key->nr++;
		at = end;
		if (!*at)
			return 0;
	}
}

int sweep_grid_parse(const struct cli_texts *from, struct sweep_grid *ret, struct resched_error *err)
{
	memset(ret, 0, sizeof(*ret));
	for (unsigned int i = 0; i < from->nr; i++) {
		int rc;

		if (ret->nr == SWEEP_MAX_KEYS) {
			err->kind = RESCHED_USAGE;
			snprintf(err->text, sizeof(err->text), "at most %u keys make a grid", SWEEP_MAX_KEYS);
			return -EINVAL;
		}
		rc = parse_key(from->items[i], &ret->keys[ret->nr++], err);
		if (rc < 0)
			return rc;
		for (unsigned int k = 0; k + 1 < ret->nr; k++) {	/* of these a combination can have several */
			if (strcmp(ret->keys[k].name, ret->keys[i].name) != 0 || !strcmp(ret->keys[i].name, "feature") || !strcmp(ret->keys[i].name, "task") ||
			    !strcmp(ret->keys[i].name, "cgroup"))
				continue;
			err->kind = RESCHED_USAGE;
			snprintf(err->text, sizeof(err->text), "--grid %.100s is given twice; name all its values in one", ret->keys[i].name);
			return -EINVAL;
		}
	}
	return 0;
}

void sweep_grid_release(struct sweep_grid *grid)
{
	for (unsigned int k = 0; k < grid->nr; k++) {
		for (unsigned int i = 0; i < grid->keys[k].nr; i++)
			free(grid->keys[k].values[i]);
		free(grid->keys[k].values);
		free((char *)(uintptr_t)grid->keys[k].name);
	}
	memset(grid, 0, sizeof(*grid));
}

uint64_t sweep_grid_points(const struct sweep_grid *grid)
{
	uint64_t nr = 1;

	for (unsigned int k = 0; k < grid->nr && nr <= SWEEP_MAX_POINTS; k++)
		nr *= grid->keys[k].nr;
	return nr;
}

void sweep_grid_at(const struct sweep_grid *grid, uint64_t point, const char **values)
{
	for (unsigned int k = grid->nr; k-- > 0;) {
		values[k] = grid->keys[k].values[point % grid->keys[k].nr];
		point /= grid->keys[k].nr;
	}
}

/* ---- command lines ---- */

void sweep_command_add(struct sweep_command *c, const char *fmt, ...)
{
	va_list ap;
	int rc;

	if (c->nr + 2 > c->room) {
		unsigned int room = c->room ? c->room * 2 : 32;
		char **more = realloc(c->words, room * sizeof(*more));

		if (!more) {
			c->failed = true;
			return;
		}
		c->words = more;
		c->room = room;
	}
	va_start(ap, fmt);
	rc = vasprintf(&c->words[c->nr], fmt, ap);
	va_end(ap);
	if (rc < 0)
		c->failed = true;
	else
		c->nr++;
	c->words[c->nr] = NULL;
}

void sweep_command_release(struct sweep_command *c)
{
	for (unsigned int i = 0; i < c->nr; i++)
		free(c->words[i]);
	free(c->words);
	memset(c, 0, sizeof(*c));
}

static void add_texts(struct sweep_command *c, const char *option, const struct cli_texts *texts)
{
	for (unsigned int i = 0; i < texts->nr; i++) {
		sweep_command_add(c, "%s", option);
		sweep_command_add(c, "%s", texts->items[i]);
	}
}

static void add_text(struct sweep_command *c, const char *option, const char *text)
{
	if (text)
		add_texts(c, option, &(struct cli_texts){ 1, &text });
}

/* The options that all points have. */
static void add_common(struct sweep_command *c, const struct cli_args *args)
{
	add_texts(c, "--policy", &args->policies);
	add_text(c, "--model", args->model);
	add_texts(c, "--feature", &args->features);
	add_texts(c, "--set", &args->settings);
	add_texts(c, "--task", &args->tasks);
	add_texts(c, "--cgroup", &args->cgroups);
	add_text(c, "--topology", args->topology);
	if (args->placement)
		add_text(c, "--placement", "kernel");
	if (args->seed)
		sweep_command_add(c, "--seed=%llu", (unsigned long long)args->seed);
	add_text(c, "--host", args->host);
	add_text(c, "--comm", args->comm);
	add_text(c, "--cgroup", args->cgroup);
	add_text(c, "--cpu", args->cpus);
	add_text(c, "--time", args->time);
	for (unsigned int i = 0; i < args->pids.nr; i++)
		sweep_command_add(c, "--pid=%d", args->pids.items[i]);
	if (args->hide_recorder)
		sweep_command_add(c, "--hide-recorder");
}

int sweep_command_make(const struct cli_args *args, const char *file, const struct sweep_grid *grid, const char *const *values,
		       struct sweep_command *ret, unsigned int *ret_own)
{
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *p = args->launcher ? args->launcher : "";

	memset(ret, 0, sizeof(*ret));
	for (p += strspn(p, " \t"); *p; p += strspn(p, " \t")) {
		size_t n = strcspn(p, " \t");

		sweep_command_add(ret, "%.*s", (int)n, p);
		p += n;
	}
	*ret_own = ret->nr;
	self[len > 0 ? len : 0] = '\0';
	sweep_command_add(ret, "%s", len > 0 ? self : "resched");
	sweep_command_add(ret, "replay");
	sweep_command_add(ret, "--json");
	add_common(ret, args);
	for (unsigned int k = 0; k < grid->nr; k++) {
		int option = option_of(grid->keys[k].name);

		sweep_command_add(ret, "%s", option >= 0 ? options[option].option : "--set");
		sweep_command_add(ret, "%s%s%s", option >= 0 ? "" : grid->keys[k].name, option >= 0 ? "" : "=", values[k]);
	}
	sweep_command_add(ret, "--");
	sweep_command_add(ret, "%s", file);
	return ret->failed ? -ENOMEM : 0;
}

static uint64_t add_hash(uint64_t hash, const void *from, size_t len)
{
	const unsigned char *p = from;

	for (size_t i = 0; i < len; i++)	/* FNV-1a */
		hash = (hash ^ p[i]) * 1099511628211u;
	return hash;
}

uint64_t sweep_command_hash(const struct sweep_command *c, unsigned int own, const char *file)
{
	uint64_t hash = add_hash(14695981039346656037u, RESCHED_VERSION, sizeof(RESCHED_VERSION));
	struct stat st;

	for (unsigned int i = own + 1; i < c->nr; i++)
		hash = add_hash(hash, c->words[i], strlen(c->words[i]) + 1);
	if (stat(file, &st) == 0) {
		int64_t what[] = { st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec };

		hash = add_hash(hash, what, sizeof(what));
	}
	return hash;
}
