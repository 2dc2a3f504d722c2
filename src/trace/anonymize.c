// SPDX-License-Identifier: GPL-2.0-only
#include <resched/anonymize.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Texts and the numbers of their codes, in order of appearance. */
struct codes { struct resched_names *seen; };

struct resched_anonymizer {
	const struct resched_names *names;
	struct resched_names *ours;
	struct resched_host *host;
	struct codes comms, groups;
};

static int code_of(struct codes *codes, char letter, const char *text, char *ret, size_t size)
{
	int64_t number = resched_names_intern(codes->seen, text, strlen(text));

	if (number < 0)
		return (int)number;
	snprintf(ret, size, "%c%u", letter, (unsigned int)number + 1);
	return 0;
}

/* Names that the kernel gives, the same on every machine, and our own: they tell of nobody, and the model knows some by their names. */
static bool is_public(const char *comm)
{
	static const char *const prefixes[] = {
		"kworker/", "ksoftirqd/", "migration/", "swapper/", "cpuhp/", "rcu_", "rcuc/", "rcuob/", "rcuog/", "rcuos/", "idle_inject/",
		"irq/", "irq_work/", "ktimers/", "kthreadd", "kswapd", "kcompactd", "khugepaged", "ksmd", "kauditd", "oom_reaper",
	};

	if (!*comm || *comm == '<' || !strcmp(comm, "resched") || !strcmp(comm, "reschedd"))
		return true;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (!strncmp(comm, prefixes[i], strlen(prefixes[i])))
			return true;
	}
	return false;
}

/* "system.slice" and the like are everywhere; of others the kind of unit stays. */
static int code_component(struct resched_anonymizer *a, const char *text, char *ret, size_t size)
{
	static const char *const everywhere[] = { "system.slice", "user.slice", "machine.slice", "init.scope", "kubepods.slice", "kubepods", "docker" };
	static const char *const kinds[] = { ".slice", ".service", ".scope", ".socket", ".mount", ".swap" };
	char code[32];
	const char *kind = "";
	int rc;

	for (size_t i = 0; i < sizeof(everywhere) / sizeof(everywhere[0]); i++) {
		if (!strcmp(text, everywhere[i])) {
			snprintf(ret, size, "%s", text);
			return 0;
		}
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t len = strlen(kinds[i]), whole = strlen(text);

		if (whole > len && !strcmp(text + whole - len, kinds[i]))
			kind = kinds[i];
	}
	rc = code_of(&a->groups, 'g', text, code, sizeof(code));
	if (rc == 0)
		snprintf(ret, size, "%s%s", code, kind);
	return rc;
}

static int code_path(struct resched_anonymizer *a, char **path)
{
	char *left = *path, *save = NULL, *out, component[64];
	size_t room, used = 0;
	int rc = 0;

	if (!left)
		return 0;
	room = strlen(left) * sizeof(component) + 2;	/* a component is a byte at least */
	out = malloc(room);
	if (!out)
		return -ENOMEM;
	out[0] = '/';
	out[1] = '\0';
	for (char *part = strtok_r(left, "/", &save); part && rc == 0; part = strtok_r(NULL, "/", &save)) {
		rc = code_component(a, part, component, sizeof(component));
		used += (size_t)snprintf(out + used, room - used, "/%s", component);
	}
	free(*path);
	*path = out;
	return rc;
}

/* Changes of command lines go, with paths of cgroups it is as with those of tasks. */
static int code_changes(struct resched_anonymizer *a)
{
	unsigned int kept = 0;
	int rc = 0;

	for (unsigned int i = 0; i < a->host->nr_changes; i++) {
		struct resched_host_change c = a->host->changes[i];
		char *path = c.pid ? NULL : strstr(c.what, " of /");

		a->host->changes[i] = (struct resched_host_change){ 0 };
		if (rc == 0 && !strcmp(c.what, "cgroup")) {
			rc = code_path(a, &c.from);
			if (rc == 0)
				rc = code_path(a, &c.to);
		} else if (path && rc == 0) {
			char *coded = strdup(path + 4), *whole = NULL;

			rc = coded ? code_path(a, &coded) : -ENOMEM;
			if (rc == 0 && asprintf(&whole, "%.*s%s", (int)(path + 4 - c.what), c.what, coded) < 0)
				rc = -ENOMEM;
			free(coded);
			if (rc == 0) {
				free(c.what);
				c.what = whole;
			}
		}
		if (rc < 0 || !strcmp(c.what, "cmdline")) {
			free(c.what);
			free(c.from);
			free(c.to);
		} else {
			a->host->changes[kept++] = c;
		}
	}
	a->host->nr_changes = kept;
	return rc;
}

static int code_tasks(struct resched_anonymizer *a)
{
	int rc = 0;

	for (unsigned int i = 0; i < a->host->nr_tasks && rc == 0; i++) {
		struct resched_host_task *t = &a->host->tasks[i];
		char comm[RESCHED_COMM_LEN];

		snprintf(comm, sizeof(comm), "%s", t->comm);
		if (!t->kthread && !is_public(comm))
			rc = code_of(&a->comms, 't', comm, t->comm, sizeof(t->comm));
		free(t->cmdline);
		t->cmdline = NULL;
		if (rc == 0)
			rc = code_path(a, &t->cgroup);
	}
	for (unsigned int i = 0; i < a->host->nr_cgroups && rc == 0; i++)
		rc = code_path(a, &a->host->cgroups[i].path);
	return rc == 0 ? code_changes(a) : rc;
}

static bool is_kthread_name(const struct resched_host *host, int pid, const char *comm)
{
	const struct resched_host_task *t = resched_host_task(host, pid);

	return t && t->kthread && !strcmp(t->comm, comm);
}

int resched_anonymizer_new(const struct resched_host *host, const struct resched_names *names, struct resched_anonymizer **ret,
			   struct resched_error *err)
{
	struct resched_anonymizer *a = calloc(1, sizeof(*a));
	int rc = -ENOMEM;

	if (!a)
		return rs_error_nomem(err);
	a->names = names;
	a->ours = resched_names_new();
	a->comms.seen = resched_names_new();
	a->groups.seen = resched_names_new();
	if (a->ours && a->comms.seen && a->groups.seen)
		rc = 0;
	else
		rs_error_nomem(err);
	if (rc == 0 && host) {
		rc = resched_host_copy(host, &a->host, err);
		if (rc == 0 && code_tasks(a) < 0)
			rc = rs_error_nomem(err);
	}
	if (rc < 0) {
		resched_anonymizer_free(a);
		return rc;
	}
	*ret = a;
	return 0;
}

void resched_anonymizer_free(struct resched_anonymizer *a)
{
	if (!a)
		return;
	resched_names_free(a->ours);
	resched_names_free(a->comms.seen);
	resched_names_free(a->groups.seen);
	resched_host_free(a->host);
	free(a);
}

const struct resched_host *resched_anonymizer_host(const struct resched_anonymizer *a)
{
	return a->host;
}

const struct resched_names *resched_anonymizer_names(const struct resched_anonymizer *a)
{
	return a->ours;
}

/* The number of @text, or of its code, among our names. Return: >= 0; -ENOMEM. */
static int64_t our_name(struct resched_anonymizer *a, const char *text, bool keep)
{
	char code[RESCHED_COMM_LEN];

	if (!keep) {
		int rc = code_of(&a->comms, 't', text, code, sizeof(code));

		if (rc < 0)
			return rc;
		text = code;
	}
	return resched_names_intern(a->ours, text, strlen(text));
}

int resched_anonymizer_event(struct resched_anonymizer *a, const struct resched_event *event, struct resched_event *ret)
{
	const char *text;
	int64_t name;
	bool keep;

	*ret = *event;
	if (event->type != RESCHED_EV_COMM)
		return 0;
	text = resched_names_get(a->names, event->comm.name);
	keep = is_public(text) || is_kthread_name(a->host, event->pid, text);
	name = our_name(a, text, keep);
	if (name < 0)
		return (int)name;
	ret->comm.name = (uint32_t)name;
	return 0;
}
