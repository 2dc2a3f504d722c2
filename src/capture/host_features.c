// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bits of sysctl_sched_features by release.
 * Kernel: the order of kernel/sched/features.h in 6.1.192 and 6.12.117; for 6.18 the order of 6.12
 * without DOUBLE_TICK, inferred from the mask 99674079 that 6.18.44 boots with (its bits are then
 * exactly the defaults).
 */
#include "capture/host_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FEATURES 40

static const struct feature_order {
	const char *release;	/* "6.12": all its stable releases */
	const char *names[MAX_FEATURES];
} orders[] = {
	{ "6.1", {
		"GENTLE_FAIR_SLEEPERS", "START_DEBIT", "NEXT_BUDDY", "LAST_BUDDY", "CACHE_HOT_BUDDY", "WAKEUP_PREEMPTION", "HRTICK",
		"HRTICK_DL", "DOUBLE_TICK", "NONTASK_CAPACITY", "TTWU_QUEUE", "SIS_PROP", "SIS_UTIL", "WARN_DOUBLE_CLOCK", "RT_PUSH_IPI",
		"RT_RUNTIME_SHARE", "LB_MIN", "ATTACH_AGE_LOAD", "WA_IDLE", "WA_WEIGHT", "WA_BIAS", "UTIL_EST", "UTIL_EST_FASTUP",
		"LATENCY_WARN", "NI_RANDOM", "ALT_PERIOD", "BASE_SLICE",
	} },
	{ "6.12", {
		"PLACE_LAG", "PLACE_DEADLINE_INITIAL", "PLACE_REL_DEADLINE", "RUN_TO_PARITY", "PREEMPT_SHORT", "NEXT_BUDDY", "PICK_BUDDY",
		"CACHE_HOT_BUDDY", "DELAY_DEQUEUE", "DELAY_ZERO", "WAKEUP_PREEMPTION", "HRTICK", "HRTICK_DL", "DOUBLE_TICK",
		"NONTASK_CAPACITY", "TTWU_QUEUE", "SIS_UTIL", "WARN_DOUBLE_CLOCK", "RT_PUSH_IPI", "RT_RUNTIME_SHARE", "LB_MIN",
		"ATTACH_AGE_LOAD", "WA_IDLE", "WA_WEIGHT", "WA_BIAS", "UTIL_EST", "LATENCY_WARN", "NI_RANDOM",
	} },
	{ "6.18", {
		"PLACE_LAG", "PLACE_DEADLINE_INITIAL", "PLACE_REL_DEADLINE", "RUN_TO_PARITY", "PREEMPT_SHORT", "NEXT_BUDDY", "PICK_BUDDY",
		"CACHE_HOT_BUDDY", "DELAY_DEQUEUE", "DELAY_ZERO", "WAKEUP_PREEMPTION", "HRTICK", "HRTICK_DL", "NONTASK_CAPACITY",
		"TTWU_QUEUE", "SIS_UTIL", "WARN_DOUBLE_CLOCK", "RT_PUSH_IPI", "RT_RUNTIME_SHARE", "LB_MIN", "ATTACH_AGE_LOAD", "WA_IDLE",
		"WA_WEIGHT", "WA_BIAS", "UTIL_EST", "LATENCY_WARN", "NI_RANDOM",
	} },
};

#define NR_ORDERS (sizeof(orders) / sizeof(orders[0]))

static const struct feature_order *order_of(const char *release)
{
	size_t i;

	for (i = 0; i < NR_ORDERS; i++) {
		size_t len = strlen(orders[i].release);

		/* "6.1" is neither "6.12" nor "6.18" */
		if (strncmp(release, orders[i].release, len) == 0 &&
		    (release[len] < '0' || release[len] > '9'))
			return &orders[i];
	}
	return NULL;
}

/*
 * NI_RANDOM came late into the stable series, in the middle of 6.1's list and at the end of the
 * others. Where it is missing, the bits behind it moved down by one: told by the highest bit, which
 * is on by default in all of them.
 */
static bool is_skipped(const char *name, uint64_t mask, unsigned int nr_names)
{
	return strcmp(name, "NI_RANDOM") == 0 && !(mask >> (nr_names - 1)) && (mask >> (nr_names - 2));
}

static char *feature_text(const char *name, bool on)
{
	char *text = NULL;

	return asprintf(&text, "%s%s", on ? "" : "NO_", name) < 0 ? NULL : text;
}

int rs_features_decode(const char *release, uint64_t mask, char ***ret, unsigned int *ret_nr)
{
	const struct feature_order *order = order_of(release);
	unsigned int nr_names = 0, bit = 0, i;
	char **names;

	while (order && nr_names < MAX_FEATURES && order->names[nr_names])
		nr_names++;
	if (!order || mask >> nr_names)
		return -ENOENT;
	names = calloc(nr_names, sizeof(*names));
	if (!names)
		return -ENOMEM;
	for (i = 0; i < nr_names; i++) {
		if (is_skipped(order->names[i], mask, nr_names))
			continue;
		names[bit] = feature_text(order->names[i], mask >> bit & 1);
		if (!names[bit])
			goto nomem;
		bit++;
	}
	*ret = names;
	*ret_nr = bit;
	return 0;
nomem:
	while (bit-- > 0)
		free(names[bit]);
	free(names);
	return -ENOMEM;
}
