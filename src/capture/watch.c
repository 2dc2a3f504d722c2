// SPDX-License-Identifier: GPL-2.0-only
#include "capture/watch.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture/host_changes.h"

#define PERIOD_S 2.0
#define SHARE 200	/* a look every so many times of what it takes */

static double thread_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

void rs_watch_begin(struct rs_watch *watch, const struct resched_host *first, double now)
{
	*watch = (struct rs_watch){ .first = first, .next = now + PERIOD_S, .period = PERIOD_S };
}

static void look(struct rs_watch *watch)
{
	struct resched_host *now = NULL;

	if (resched_host_read(&now, NULL) < 0)
		return;
	watch->dropped += rs_host_change_rows(watch->last ? watch->last : watch->first, now, RS_WATCH_ROWS, &watch->found);
	resched_host_free(watch->last);
	watch->last = now;
}

void rs_watch_look(struct rs_watch *watch, double now)
{
	double before = thread_seconds();

	if (!watch->first || now < watch->next)
		return;
	look(watch);
	watch->period = (thread_seconds() - before) * SHARE;
	if (watch->period < PERIOD_S)
		watch->period = PERIOD_S;
	watch->next = now + watch->period;
}

const struct resched_host *rs_watch_end(struct rs_watch *watch)
{
	if (watch->first)
		look(watch);
	return watch->last;
}

static void drop_first(struct resched_host *found, unsigned int nr)
{
	struct resched_host_change *dropped = nr ? malloc(nr * sizeof(*dropped)) : NULL;

	if (!dropped)
		return;
	memcpy(dropped, found->changes, nr * sizeof(*dropped));
	memmove(found->changes, found->changes + nr, (found->nr_changes - nr) * sizeof(*found->changes));
	found->nr_changes -= nr;
	resched_host_changes_free(nr, dropped);
}

void rs_watch_forget(struct rs_watch *watch, uint64_t ns)
{
	struct resched_host *found = &watch->found;
	unsigned int nr = 0;

	while (nr < found->nr_changes && found->changes[nr].until_ns < ns)
		nr++;
	if (found->nr_changes - nr > RS_WATCH_ROWS / 2)
		nr = found->nr_changes - RS_WATCH_ROWS / 2;
	drop_first(found, nr);
}

/* Rows are in the order in which they were seen. */
char *rs_watch_json(const struct rs_watch *watch, uint64_t from_ns, uint64_t to_ns)
{
	struct resched_host some = watch->found;
	char *text = NULL;

	while (some.nr_changes && some.changes[0].until_ns < from_ns) {
		some.changes++;
		some.nr_changes--;
	}
	while (some.nr_changes && some.changes[some.nr_changes - 1].after_ns > to_ns)
		some.nr_changes--;
	if (!some.nr_changes || resched_host_json(&some, &text, NULL) < 0)
		return NULL;
	return text;
}

void rs_watch_release(struct rs_watch *watch)
{
	resched_host_free(watch->last);
	resched_host_changes_free(watch->found.nr_changes, watch->found.changes);
	memset(watch, 0, sizeof(*watch));
}
