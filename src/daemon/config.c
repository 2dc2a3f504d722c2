// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/config.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <string.h>
#include <resched/policy.h>

#include "daemon/config_keys.h"

#define MAX_KEYS 32u	/* of one section */

struct reading {
	const char *path;
	FILE *stream;
	struct config *config;
	config_error_fn error; void *ctx;
	unsigned int line, mistakes;
	bool too_long;
	char section[96];		/* the last one seen */
	void *base;			/* what it fills; NULL: an unknown one, told already */
	const struct config_section *known;
	uint32_t seen[16];		/* by section and entry: keys that were given */
	uint32_t *seen_here;
	uint32_t seen_triggers[CONFIG_MAX_TRIGGERS], seen_schedules[CONFIG_MAX_SCHEDULES];
};

static void mistake(struct reading *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void mistake(struct reading *r, const char *fmt, ...)
{
	char text[512];
	int len = snprintf(text, sizeof(text), "%s:%u: ", r->path, r->line);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + len, sizeof(text) - (size_t)len, fmt, ap);
	va_end(ap);
	r->mistakes++;
	r->error(r->ctx, text);
}

static void set_defaults(const struct config_section *section, void *base)
{
	char why[256];

	for (unsigned int i = 0; i < section->nr; i++) {
		int rc = config_set(&section->keys[i], section->keys[i].value, base, why, sizeof(why));

		assert(rc == 0);	/* the table is ours */
		(void)rc;
	}
}

static const struct config_section *find_section(const char *name, size_t len)
{
	unsigned int nr;
	const struct config_section *all = config_sections(&nr);

	for (unsigned int i = 0; i < nr; i++) {
		if (strlen(all[i].name) == len && !memcmp(all[i].name, name, len))
			return &all[i];
	}
	return NULL;
}

/* Any wait of more than 100 ms for a cpu: what one has without a file. */
static void add_builtin_trigger(struct config *config)
{
	struct config_trigger *t = &config->triggers[0];

	set_defaults(find_section("trigger", 7), t);
	snprintf(t->name, sizeof(t->name), "builtin");
	t->over_ns = 100000000;
	config->nr_triggers = 1;
}

void config_defaults(struct config *config)
{
	unsigned int nr;
	const struct config_section *all = config_sections(&nr);

	memset(config, 0, sizeof(*config));
	for (unsigned int i = 0; i < nr; i++) {
		if (!all[i].named)
			set_defaults(&all[i], config);
	}
	add_builtin_trigger(config);
}

static bool is_name(const char *text)
{
	size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

	return len && len < 32 && !text[len];
}

/* "[trigger NAME]" or "[schedule NAME]": the entry it opens. */
static void open_named(struct reading *r, const char *name)
{
	struct config *c = r->config;
	bool is_trigger = !strcmp(r->known->name, "trigger");
	unsigned int nr = is_trigger ? c->nr_triggers : c->nr_schedules, max = is_trigger ? CONFIG_MAX_TRIGGERS : CONFIG_MAX_SCHEDULES;

	if (!is_name(name)) {
		mistake(r, "[%s] wants a name of letters, digits, '-' and '_', such as [%s web]", r->section, r->known->name);
		return;
	}
	for (unsigned int i = 0; i < nr; i++) {
		if (!strcmp(is_trigger ? c->triggers[i].name : c->schedules[i].name, name)) {
			mistake(r, "[%s] is there twice", r->section);
			return;
		}
	}
	if (nr == max) {
		mistake(r, "more than %u sections [%s NAME]", max, r->known->name);
		return;
	}
	r->base = is_trigger ? (void *)&c->triggers[c->nr_triggers++] : &c->schedules[c->nr_schedules++];
	r->seen_here = is_trigger ? &r->seen_triggers[nr] : &r->seen_schedules[nr];
	set_defaults(r->known, r->base);
	snprintf(is_trigger ? c->triggers[nr].name : c->schedules[nr].name, sizeof(c->triggers[nr].name), "%s", name);
	*(is_trigger ? &c->triggers[nr].line : &c->schedules[nr].line) = r->line;
}

static void open_section(struct reading *r, const char *section)
{
	size_t len = strcspn(section, " ");
	unsigned int nr;

	snprintf(r->section, sizeof(r->section), "%s", section);
	r->base = NULL;
	r->known = find_section(section, len);
	if (!r->known) {
		mistake(r, "there is no section [%s]; see reschedd.conf(5)", section);
	} else if (r->known->named) {
		open_named(r, section[len] ? section + len + 1 : "");
	} else if (section[len]) {
		mistake(r, "section [%s] takes no name", r->known->name);
	} else {
		r->base = r->config;
		r->seen_here = &r->seen[r->known - config_sections(&nr)];
	}
}

static int take(void *ctx, const char *section, const char *name, const char *value)
{
	struct reading *r = ctx;
	char why[300];

	if (strcmp(section, r->section) != 0 || !r->known)
		open_section(r, section);
	if (!r->base)
		return 1;
	for (unsigned int i = 0; i < r->known->nr; i++) {
		if (strcmp(r->known->keys[i].name, name) != 0)
			continue;
		if (*r->seen_here & 1u << i)
			mistake(r, "%s is given twice in [%s]", name, section);
		*r->seen_here |= 1u << i;
		if (config_set(&r->known->keys[i], value ? value : "", r->base, why, sizeof(why)) < 0)
			mistake(r, "%s %s", name, why);
		return 1;
	}
	mistake(r, "there is no key '%s' in [%s]; see reschedd.conf(5)", name, section);
	return 1;
}

/* Lines for inih, counted; one that does not fit would be read as two. */
static char *next_line(char *to, int size, void *ctx)
{
	struct reading *r = ctx;
	char *got = fgets(to, size, r->stream);
	const char *p = got;

	if (!got)
		return NULL;
	r->line++;
	if (!strchr(got, '\n') && !feof(r->stream)) {
		int c;

		mistake(r, "the line is longer than %d bytes", size - 2);
		while ((c = fgetc(r->stream)) != EOF && c != '\n')
			;
		*to = '\0';
		return to;
	}
	while (isspace((unsigned char)*p))
		p++;
	if (*p && got != p)	/* inih would take it for a continuation of the value above */
		memmove(got, p, strlen(p) + 1);
	return got;
}

/* Words of a schedule's policies. */
static void check_policies(struct reading *r, const struct config_schedule *s)
{
	char text[sizeof(s->policies)], *save = NULL;

	memcpy(text, s->policies, sizeof(text));
	for (const char *word = strtok_r(text, " \t,", &save); word; word = strtok_r(NULL, " \t,", &save)) {
		if (!resched_policy_find(word))
			mistake(r, "[schedule %s] policies: there is no policy '%s'", s->name, word);
	}
}

static void check_together(struct reading *r)
{
	const struct config *c = r->config;

	if (c->before_ns > c->keep_ns)
		mistake(r, "[snapshots] before is longer than [recorder] keep");
	for (unsigned int i = 0; i < c->nr_triggers; i++) {
		if (c->triggers[i].kind != TRIGGER_PSI)
			continue;
		r->line = c->triggers[i].line;
		if (c->triggers[i].window_ns > 10000000000ull || c->triggers[i].over_ns > c->triggers[i].window_ns)
			mistake(r, "[trigger %s] of kind psi: window is at most 10s, and over at most window", c->triggers[i].name);
	}
	for (unsigned int i = 0; i < c->nr_schedules; i++) {
		const struct config_schedule *s = &c->schedules[i];

		r->line = s->line;
		if (s->last_ns > c->keep_ns)
			mistake(r, "[schedule %s] last is longer than [recorder] keep", s->name);
		if (strcmp(s->placement, "recorded") != 0 && strcmp(s->placement, "kernel") != 0)
			mistake(r, "[schedule %s] placement is recorded or kernel, not '%s'", s->name, s->placement);
		check_policies(r, s);
	}
}

int config_read(const char *path, bool missing_ok, struct config *ret, config_error_fn error, void *ctx)
{
	struct reading r = { .path = path, .config = ret, .error = error, .ctx = ctx };
	int rc;

	config_defaults(ret);
	r.stream = fopen(path, "re");
	if (!r.stream && errno == ENOENT && missing_ok)
		return 0;
	if (!r.stream) {
		rc = -errno;
		mistake(&r, "cannot be opened: %s", strerror(-rc));
		return rc;
	}
	ret->nr_triggers = 0;
	rc = ini_parse_stream(next_line, &r, take, &r);
	if (rc > 0) {
		r.line = (unsigned int)rc;
		mistake(&r, "is neither [section], key = value nor a comment");
	} else if (rc < 0) {
		mistake(&r, "cannot be read");
	}
	fclose(r.stream);
	if (!ret->nr_triggers && !r.mistakes)
		add_builtin_trigger(ret);
	check_together(&r);
	return r.mistakes ? -EINVAL : 0;
}

void config_list_keys(FILE *out)
{
	unsigned int nr;
	const struct config_section *all = config_sections(&nr);

	for (unsigned int s = 0; s < nr; s++) {
		assert(all[s].nr <= MAX_KEYS);
		for (unsigned int i = 0; i < all[s].nr; i++) {
			const struct config_key *k = &all[s].keys[i];

			fprintf(out, "%s%s\t%s\t%s\t%s%s%s%s\n", all[s].name, all[s].named ? " NAME" : "", k->name, k->value, k->text,
				k->words ? " (" : "", k->words ? k->words : "", k->words ? ")" : "");
		}
	}
}
