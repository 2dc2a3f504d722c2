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

char *rs_watch_json(const struct rs_watch *watch)
{
	char *text = NULL;

	if (!watch->found.nr_changes || resched_host_json(&watch->found, &text, NULL) < 0)
		return NULL;
	return text;
}

void rs_watch_release(struct rs_watch *watch)
{
	resched_host_free(watch->last);
	resched_host_changes_free(watch->found.nr_changes, watch->found.changes);
	memset(watch, 0, sizeof(*watch));
}
