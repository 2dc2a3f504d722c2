// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/whatif.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <resched/policy.h>

#define TEXT_MOST 512u

static int bad(struct resched_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int bad(struct resched_error *err, const char *fmt, ...)
{
	va_list ap;

	err->kind = RESCHED_USAGE;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static int take_text(const char *name, struct json_object *value, const char **ret, struct resched_error *err)
{
	if (!json_object_is_type(value, json_type_string) || json_object_get_string_len(value) > (int)TEXT_MOST)
		return bad(err, "'%s' wants a text of at most %u bytes", name, TEXT_MOST);
	*ret = json_object_get_string(value);
	return 0;
}

static int take_texts(const char *name, struct json_object *value, struct whatif_texts *ret, struct resched_error *err)
{
	if (!json_object_is_type(value, json_type_array) || json_object_array_length(value) > WHATIF_MAX_TEXTS)
		return bad(err, "'%s' wants an array of at most %u texts", name, WHATIF_MAX_TEXTS);
	for (size_t i = 0; i < json_object_array_length(value); i++) {
		int rc = take_text(name, json_object_array_get_idx(value, i), &ret->items[i], err);

		if (rc < 0)
			return rc;
		ret->nr++;
	}
	return 0;
}

static int take_word(const char *name, struct json_object *value, const char *const *words, unsigned int nr, unsigned int *ret,
		     struct resched_error *err)
{
	const char *text = json_object_is_type(value, json_type_string) ? json_object_get_string(value) : "";

	for (unsigned int i = 0; i < nr; i++) {
		if (!strcmp(words[i], text)) {
			*ret = i;
			return 0;
		}
	}
	return bad(err, "'%s' does not know '%.40s'", name, text);
}

static int take_number(const char *name, struct json_object *value, uint64_t most, uint64_t *ret, struct resched_error *err)
{
	if (!json_object_is_type(value, json_type_int) || json_object_get_int64(value) < 0 || json_object_get_uint64(value) > most)
		return bad(err, "'%s' wants a number of at most %llu", name, (unsigned long long)most);
	*ret = json_object_get_uint64(value);
	return 0;
}

static int take(const char *name, struct json_object *value, struct whatif *w, struct resched_error *err)
{
	static const char *const reports[] = { "compare", "report", "outliers" }, *const placements[] = { "recorded", "kernel" };
	static const char *const formats[] = { "json", "text" };
	static const struct { const char *name; size_t offset; } lists[] = {
		{ "policies", offsetof(struct whatif, policies) }, { "feature", offsetof(struct whatif, features) },
		{ "set", offsetof(struct whatif, settings) }, { "task", offsetof(struct whatif, tasks) },
		{ "group", offsetof(struct whatif, groups) },
	}, texts[] = {
		{ "model", offsetof(struct whatif, model) }, { "topology", offsetof(struct whatif, topology) },
		{ "comm", offsetof(struct whatif, comm) }, { "cgroup", offsetof(struct whatif, cgroup) },
	};
	unsigned int word = 0;
	uint64_t number = 0;
	int rc;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		if (!strcmp(name, lists[i].name))
			return take_texts(name, value, (struct whatif_texts *)((char *)w + lists[i].offset), err);
	}
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (!strcmp(name, texts[i].name))
			return take_text(name, value, (const char **)((char *)w + texts[i].offset), err);
	}
	if (!strcmp(name, "report")) {
		rc = take_word(name, value, reports, 3, &word, err);
		w->report = (enum whatif_report)word;
	} else if (!strcmp(name, "format")) {
		rc = take_word(name, value, formats, 2, &word, err);
		w->text = word == 1;
	} else if (!strcmp(name, "placement")) {
		rc = take_word(name, value, placements, 2, &word, err);
		w->placement = (enum resched_placement)word;
	} else if (!strcmp(name, "seed")) {
		rc = take_number(name, value, INT64_MAX, &w->seed, err);
	} else if (!strcmp(name, "top")) {
		rc = take_number(name, value, 1000, &number, err);
		w->top = (unsigned int)number;
	} else {
		rc = bad(err, "a what-if has no member '%.40s'", name);
	}
	return rc;
}

int whatif_parse(struct json_object *from, struct whatif *ret, struct resched_error *err)
{
	memset(ret, 0, sizeof(*ret));
	if (!json_object_is_type(from, json_type_object))
		return bad(err, "a what-if is an object");
	for (struct lh_entry *e = json_object_get_object(from)->head; e; e = e->next) {
		int rc = take(lh_entry_k(e), (struct json_object *)lh_entry_v(e), ret, err);

		if (rc < 0)
			return rc;
	}
	for (unsigned int i = 0; i < ret->policies.nr; i++) {
		if (!resched_policy_find(ret->policies.items[i]))
			return bad(err, "there is no policy '%.40s'; 'resched policies' lists them", ret->policies.items[i]);
	}
	if (ret->policies.nr > 8)
		return bad(err, "at most 8 policies");
	return 0;
}

struct resched_whatif whatif_of_policy(const struct whatif *w, const char *policy)
{
	return (struct resched_whatif){
		.policy = policy, .model = w->model, .nr_features = w->features.nr, .features = w->features.items,
		.nr_settings = w->settings.nr, .settings = w->settings.items, .nr_tasks = w->tasks.nr, .tasks = w->tasks.items,
		.nr_cgroups = w->groups.nr, .cgroups = w->groups.items, .placement = w->placement, .seed = w->seed, .topology = w->topology,
	};
}
