/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A what-if as clients and schedules write it, and as the worker gets it: one JSON object, checked here.
 *
 *   report      "compare" (default), "report" or "outliers"
 *   format      "json" (default) or "text"
 *   policies    array of names; of "report" the first counts; default: compare all, outliers none
 *   model, placement ("recorded", "kernel"), topology (text, no file), seed
 *   feature, set, task, group   arrays of texts as after --feature, --set, --task, --cgroup
 *   comm, cgroup   globs: only figures of these
 *   top         outliers: how many
 */
#ifndef DAEMON_WHATIF_H
#define DAEMON_WHATIF_H

#include <stdbool.h>
#include <json-c/json.h>
#include <resched/error.h>
#include <resched/replay.h>

#define WHATIF_MAX_TEXTS 32u

enum whatif_report { WHATIF_COMPARE = 0, WHATIF_REPORT, WHATIF_OUTLIERS };

struct whatif_texts { unsigned int nr; const char *items[WHATIF_MAX_TEXTS]; };

/* Texts are borrowed from the JSON object. */
struct whatif {
	enum whatif_report report;
	bool text;
	struct whatif_texts policies, features, settings, tasks, groups;
	const char *model, *topology, *comm, *cgroup;
	enum resched_placement placement;
	uint64_t seed;
	unsigned int top;
};

/* whatif_parse() - Return: 0; -EINVAL with @err filled. */
int whatif_parse(struct json_object *from, struct whatif *ret, struct resched_error *err);
/* whatif_of_policy() - what the library takes; borrows from @whatif. @policy NULL: the recorded kernel's. */
struct resched_whatif whatif_of_policy(const struct whatif *whatif, const char *policy);

#endif
