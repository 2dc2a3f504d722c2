// SPDX-License-Identifier: GPL-2.0-only
#include "report/owners.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_owners(const void *a, const void *b)
{
	return strcmp(((const struct rs_owner *)a)->name, ((const struct rs_owner *)b)->name);
}

int rs_owners_find(const struct resched_host *host, bool unit, struct rs_owners *ret)
{
	unsigned int nr = host ? host->nr_tasks : 0, kept = 0;

	ret->nr = 0;
	ret->list = calloc(nr + 1u, sizeof(*ret->list));
	if (!ret->list)
		return -ENOMEM;
	for (unsigned int i = 0; i < nr; i++) {
		struct resched_owner owner;
		struct rs_owner *one = &ret->list[kept];

		resched_owner_of(host->tasks[i].cgroup, &owner);
		if (!*(unit ? owner.unit : owner.container))
			continue;
		snprintf(one->name, sizeof(one->name), "%s", unit ? owner.unit : owner.container);
		one->tasks = 1;
		kept++;
	}
	qsort(ret->list, kept, sizeof(*ret->list), compare_owners);
	for (unsigned int i = 0; i < kept; i++) {
		if (ret->nr && !strcmp(ret->list[ret->nr - 1].name, ret->list[i].name))
			ret->list[ret->nr - 1].tasks++;
		else
			ret->list[ret->nr++] = ret->list[i];
	}
	return 0;
}
