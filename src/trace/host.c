// SPDX-License-Identifier: GPL-2.0-only
/* A host snapshot in memory: freeing and looking up. */
#include <resched/host.h>

#include <stdlib.h>
#include <string.h>

static void free_settings(unsigned int nr, struct resched_host_setting *list)
{
	for (unsigned int i = 0; i < nr; i++) {
		free(list[i].name);
		free(list[i].value);
	}
	free(list);
}

void resched_host_changes_free(unsigned int nr, struct resched_host_change *changes)
{
	for (unsigned int i = 0; i < nr; i++) {
		free(changes[i].what);
		free(changes[i].from);
		free(changes[i].to);
	}
	free(changes);
}

void resched_host_free(struct resched_host *host)
{
	if (!host)
		return;
	for (unsigned int i = 0; i < host->nr_nodes; i++)
		free(host->nodes[i].distances);
	for (unsigned int i = 0; i < host->nr_features; i++)
		free(host->features[i]);
	for (unsigned int i = 0; i < host->nr_tasks; i++) {
		free(host->tasks[i].affinity);
		free(host->tasks[i].cmdline);
		free(host->tasks[i].cgroup);
	}
	for (unsigned int i = 0; i < host->nr_cgroups; i++) {
		free(host->cgroups[i].path);
		free(host->cgroups[i].cpuset);
	}
	resched_host_changes_free(host->nr_changes, host->changes);
	free_settings(host->nr_tunables, host->tunables);
	free_settings(host->nr_unknown, host->unknown);
	free(host->cpus);
	free(host->nodes);
	free(host->features);
	free(host->tasks);
	free(host->cgroups);
	free(host->kernel);
	free(host->machine);
	free(host->version);
	free(host->preempt);
	free(host->clock);
	free(host->replayed_policy);
	free(host->replayed_model);
	free(host->replayed_placement);
	free(host);
}

const char *resched_host_tunable(const struct resched_host *host, const char *name)
{
	for (unsigned int i = 0; host && i < host->nr_tunables; i++) {
		if (!strcmp(host->tunables[i].name, name))
			return host->tunables[i].value;
	}
	return NULL;
}

const struct resched_host_task *resched_host_task(const struct resched_host *host, int pid)
{
	unsigned int low = 0, high = host ? host->nr_tasks : 0;

	while (low < high) {
		unsigned int mid = low + (high - low) / 2;

		if (host->tasks[mid].pid == pid)
			return &host->tasks[mid];
		if (host->tasks[mid].pid < pid)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}
