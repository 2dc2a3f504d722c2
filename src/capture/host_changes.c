// SPDX-License-Identifier: GPL-2.0-only
#include "capture/host_changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/host_internal.h"

/* Texts that may be NULL: not known or all. */
static bool same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static const char *or_all(const char *text)
{
	return text ? text : "all";
}

/* Kinds whose changes are summed up for the warnings, then those that are rows only. */
enum kind { NICE, POLICY, AFFINITY, CGROUP, SLICE, NR_KINDS };

static const char *const kind_names[NR_KINDS] = { "nice", "policy/priority", "affinity", "cgroup", "slice" };

/* @a, @b: what the first one changed from and to, for the line. */
static bool task_changed(const struct resched_host_task *x, const struct resched_host_task *y, enum kind kind, char *a, char *b, size_t size)
{
	switch (kind) {
	case NICE:
		snprintf(a, size, "%d", x->nice);
		snprintf(b, size, "%d", y->nice);
		return x->nice != y->nice;
	case POLICY:
		snprintf(a, size, "%d/%d", x->policy, x->rt_priority);
		snprintf(b, size, "%d/%d", y->policy, y->rt_priority);
		return x->policy != y->policy || x->rt_priority != y->rt_priority;
	case AFFINITY:
		snprintf(a, size, "%s", or_all(x->affinity));
		snprintf(b, size, "%s", or_all(y->affinity));
		return !same(x->affinity, y->affinity);
	case CGROUP:
		snprintf(a, size, "%s", x->cgroup ? x->cgroup : "?");
		snprintf(b, size, "%s", y->cgroup ? y->cgroup : "?");
		return x->cgroup && y->cgroup && !same(x->cgroup, y->cgroup);
	case SLICE:
		snprintf(a, size, "%llu ns", (unsigned long long)x->slice_ns);
		snprintf(b, size, "%llu ns", (unsigned long long)y->slice_ns);
		return x->slice_ns != y->slice_ns;
	default:
		return false;
	}
}

static void put_line(struct rs_datw_buf *text, const char *line)
{
	rs_datw_put(text, line, strlen(line));
	rs_datw_put(text, "\n", 1);
}

static void changed_tasks(const struct resched_host *before, const struct resched_host *after, enum kind kind, struct rs_datw_buf *text)
{
	char a[96], b[96], line[320], first_a[96] = "", first_b[96] = "";
	const struct resched_host_task *first = NULL;
	unsigned int nr = 0, i;

	for (i = 0; i < before->nr_tasks; i++) {
		const struct resched_host_task *x = &before->tasks[i], *y = resched_host_task(after, x->pid);

		/* a pid with another process is another task */
		if (!y || y->tgid != x->tgid || !task_changed(x, y, kind, a, b, sizeof(a)))
			continue;
		if (!nr++) {
			first = x;
			memcpy(first_a, a, sizeof(a));
			memcpy(first_b, b, sizeof(b));
		}
	}
	if (!nr)
		return;
	snprintf(line, sizeof(line), "%s of %u task%s changed during the recording (pid %d '%s': %s to %s); a replay has what was at its begin", kind_names[kind],
		 nr, nr > 1 ? "s" : "", first->pid, first->comm, first_a, first_b);
	put_line(text, line);
}

static const struct resched_host_cgroup *find_cgroup(const struct resched_host *host, const char *path)
{
	unsigned int i;

	for (i = 0; i < host->nr_cgroups; i++) {
		if (strcmp(host->cgroups[i].path, path) == 0)
			return &host->cgroups[i];
	}
	return NULL;
}

static void changed_cgroups(const struct resched_host *before, const struct resched_host *after, struct rs_datw_buf *text)
{
	unsigned int i, nr = 0;
	char line[320];

	for (i = 0; i < before->nr_cgroups; i++) {
		const struct resched_host_cgroup *x = &before->cgroups[i], *y = find_cgroup(after, x->path);

		if (!y || (x->weight == y->weight && x->quota_us == y->quota_us && x->period_us == y->period_us && same(x->cpuset, y->cpuset)))
			continue;
		if (!nr++)
			snprintf(line, sizeof(line), "weight, limit or cpuset of cgroup '%.120s' changed during the recording (weight %llu to %llu)", x->path,
				 (unsigned long long)x->weight, (unsigned long long)y->weight);
	}
	if (nr)
		put_line(text, line);
}

static void changed_cpus(const struct resched_host *before, const struct resched_host *after, struct rs_datw_buf *text)
{
	char line[160];
	unsigned int i;

	for (i = 0; i < before->nr_cpus && i < after->nr_cpus; i++) {
		if (before->cpus[i].online == after->cpus[i].online)
			continue;
		snprintf(line, sizeof(line), "CPU%u went %s during the recording", before->cpus[i].cpu, after->cpus[i].online ? "online" : "offline");
		put_line(text, line);
	}
}

static void changed_settings(const struct resched_host *before, const struct resched_host *after, struct rs_datw_buf *text)
{
	char line[320];
	unsigned int i;

	for (i = 0; i < before->nr_tunables; i++) {
		const char *now = resched_host_tunable(after, before->tunables[i].name);

		if (!now || strcmp(now, before->tunables[i].value) == 0)
			continue;
		snprintf(line, sizeof(line), "%.60s changed during the recording: %.60s to %.60s", before->tunables[i].name, before->tunables[i].value,
			 now);
		put_line(text, line);
	}
	for (i = 0; i < before->nr_features && before->nr_features == after->nr_features; i++) {
		if (strcmp(before->features[i], after->features[i]) == 0)
			continue;
		snprintf(line, sizeof(line), "scheduler feature changed during the recording: %.60s to %.60s", before->features[i], after->features[i]);
		put_line(text, line);
	}
}

void rs_host_changes(const struct resched_host *before, const struct resched_host *after, struct rs_datw_buf *text)
{
	int kind;

	for (kind = 0; kind < NR_KINDS; kind++)
		changed_tasks(before, after, (enum kind)kind, text);
	changed_cgroups(before, after, text);
	changed_cpus(before, after, text);
	changed_settings(before, after, text);
}

/* ---- one by one */

#define VALUE_BYTES 256u

struct rows {
	const struct resched_host *before, *after;
	struct resched_host *ret;
	unsigned int max, dropped;
};

/* @from, @to may be NULL. */
static void add_row(struct rows *rows, int pid, const char *what, const char *from, const char *to)
{
	struct resched_host *ret = rows->ret;
	struct resched_host_change c = { .after_ns = rows->before->taken_ns, .until_ns = rows->after->taken_ns, .pid = pid };

	if (ret->nr_changes >= rows->max || rs_host_grow(&ret->changes, ret->nr_changes, sizeof(*ret->changes)) < 0) {
		rows->dropped++;
		return;
	}
	c.what = strdup(what);
	c.from = from ? strdup(from) : NULL;
	c.to = to ? strdup(to) : NULL;
	ret->changes[ret->nr_changes] = c;
	if (c.what && (c.from || !from) && (c.to || !to)) {
		ret->nr_changes++;
		return;
	}
	free(c.what);
	free(c.from);
	free(c.to);
	rows->dropped++;
}

static void task_rows(struct rows *rows)
{
	char a[VALUE_BYTES], b[VALUE_BYTES];

	for (unsigned int i = 0; i < rows->after->nr_tasks; i++) {
		const struct resched_host_task *y = &rows->after->tasks[i], *x = resched_host_task(rows->before, y->pid);

		if (x && x->tgid != y->tgid)
			x = NULL;	/* a pid with another process is another task */
		for (int kind = 0; x && kind < NR_KINDS; kind++) {
			if (task_changed(x, y, (enum kind)kind, a, b, sizeof(a)))
				add_row(rows, y->pid, kind_names[kind], a, b);
		}
		if (y->cmdline && !same(x ? x->cmdline : NULL, y->cmdline))
			add_row(rows, y->pid, "cmdline", x ? x->cmdline : NULL, y->cmdline);
	}
}

static void number_row(struct rows *rows, const char *what, const char *path, uint64_t from, uint64_t to)
{
	char name[VALUE_BYTES], a[32], b[32];

	if (from == to)
		return;
	snprintf(name, sizeof(name), "%s of %s", what, path);
	snprintf(a, sizeof(a), "%llu", (unsigned long long)from);
	snprintf(b, sizeof(b), "%llu", (unsigned long long)to);
	add_row(rows, 0, name, a, b);
}

static void cgroup_rows(struct rows *rows)
{
	char name[VALUE_BYTES];

	for (unsigned int i = 0; i < rows->before->nr_cgroups; i++) {
		const struct resched_host_cgroup *x = &rows->before->cgroups[i], *y = find_cgroup(rows->after, x->path);

		if (!y)
			continue;
		number_row(rows, "weight", x->path, x->weight, y->weight);
		number_row(rows, "quota_us", x->path, x->quota_us, y->quota_us);
		number_row(rows, "period_us", x->path, x->period_us, y->period_us);
		snprintf(name, sizeof(name), "cpuset of %s", x->path);
		if (!same(x->cpuset, y->cpuset))
			add_row(rows, 0, name, x->cpuset, y->cpuset);
	}
}

static void machine_rows(struct rows *rows)
{
	const struct resched_host *before = rows->before, *after = rows->after;
	char name[32];
	unsigned int i;

	for (i = 0; i < before->nr_cpus && i < after->nr_cpus; i++) {
		snprintf(name, sizeof(name), "cpu %u", before->cpus[i].cpu);
		if (before->cpus[i].online != after->cpus[i].online)
			add_row(rows, 0, name, before->cpus[i].online ? "online" : "offline", after->cpus[i].online ? "online" : "offline");
	}
	for (i = 0; i < before->nr_tunables; i++) {
		const char *now = resched_host_tunable(after, before->tunables[i].name);

		if (now && strcmp(now, before->tunables[i].value) != 0)
			add_row(rows, 0, before->tunables[i].name, before->tunables[i].value, now);
	}
	for (i = 0; i < before->nr_features && before->nr_features == after->nr_features; i++) {
		if (strcmp(before->features[i], after->features[i]) != 0)
			add_row(rows, 0, "feature", before->features[i], after->features[i]);
	}
}

unsigned int rs_host_change_rows(const struct resched_host *before, const struct resched_host *after, unsigned int max, struct resched_host *ret)
{
	struct rows rows = { .before = before, .after = after, .ret = ret, .max = max };

	task_rows(&rows);
	cgroup_rows(&rows);
	machine_rows(&rows);
	return rows.dropped;
}
