// SPDX-License-Identifier: GPL-2.0-only
#include "trace/minimal_host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The @nr-th word of @text, from 0; *@len its length, 0 when there is none. */
static const char *word(const char *text, unsigned int nr, size_t *len)
{
	text += strspn(text, " ");
	for (; nr; nr--) {
		text += strcspn(text, " ");
		text += strspn(text, " ");
	}
	*len = strcspn(text, " \n");
	return text;
}

char *rs_uname_release(const char *uname)
{
	const char *w;
	size_t len;

	if (!uname)
		return NULL;
	w = word(uname, 2, &len);
	return len ? strndup(w, len) : NULL;
}

/* The last of its words. Return: 0; -ENOMEM. */
static int uname_machine(const char *uname, char **ret)
{
	const char *w, *last = NULL;
	size_t len, last_len = 0;

	for (unsigned int i = 3; i < 64; i++) {
		w = word(uname, i, &len);
		if (!len)
			break;
		last = w;
		last_len = len;
	}
	*ret = last ? strndup(last, last_len) : NULL;
	return last && !*ret ? -ENOMEM : 0;
}

static int add_unknown(struct resched_host *host, const char *what, const char *why)
{
	struct resched_host_setting *list = realloc(host->unknown, (host->nr_unknown + 1) * sizeof(*list));

	if (!list)
		return -ENOMEM;
	host->unknown = list;
	list += host->nr_unknown;
	list->name = strdup(what);
	list->value = strdup(why);
	host->nr_unknown++;
	return list->name && list->value ? 0 : -ENOMEM;
}

int rs_minimal_host(const char *uname, const char *clock, unsigned int nr_cpus, struct resched_host **ret)
{
	static const char *const missing[] = { "hz", "preempt", "autogroup", "features", "tunables", "topology", "nodes", "tasks", "cgroups" };
	static const char why[] = "the recording has no host snapshot";
	struct resched_host *host;

	if (!uname && !clock && !nr_cpus)
		return 0;
	host = calloc(1, sizeof(*host));
	if (!host)
		return -ENOMEM;
	host->autogroup = -1;
	if (uname) {
		errno = 0;
		host->kernel = rs_uname_release(uname);
		if ((!host->kernel && errno == ENOMEM) || uname_machine(uname, &host->machine) < 0)
			goto nomem;
	}
	if (clock) {
		host->clock = strdup(clock);
		if (!host->clock)
			goto nomem;
	}
	host->cpus = calloc(nr_cpus ? nr_cpus : 1, sizeof(*host->cpus));
	if (!host->cpus)
		goto nomem;
	host->nr_cpus = nr_cpus;
	for (unsigned int i = 0; i < nr_cpus; i++)
		host->cpus[i] = (struct resched_host_cpu){ .cpu = i, .online = 1, .core = -1, .cluster = -1, .llc = -1, .die = -1,
							   .package = -1, .node = -1, .capacity = 1024 };
	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
		if (add_unknown(host, missing[i], why) < 0)
			goto nomem;
	}
	if (!host->kernel && add_unknown(host, "kernel", why) < 0)
		goto nomem;
	if (!host->clock && add_unknown(host, "clock", why) < 0)
		goto nomem;
	*ret = host;
	return 0;
nomem:
	resched_host_free(host);
	return -ENOMEM;
}
