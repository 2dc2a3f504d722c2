/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What of the host changes while it is recorded: tasks' nice, policy, affinity, cgroup, slice and command line, weights and limits of
 * cgroups, cpus that come and go, tunables and features. No event tells these, so the host is read again now and then, every two seconds at
 * most, and so seldom that the looking itself stays below half a per cent of a cpu. What changes and changes back between two looks is not
 * seen. At most RS_WATCH_ROWS changes are kept; the rest is counted.
 */
#ifndef RS_CAPTURE_WATCH_H
#define RS_CAPTURE_WATCH_H

#include <resched/host.h>

#define RS_WATCH_ROWS 4096u

struct rs_watch {
	const struct resched_host *first;	/* borrowed */
	struct resched_host *last;		/* as last looked at; NULL: no look yet */
	struct resched_host found;		/* its changes */
	double next, period;			/* seconds of any clock */
	unsigned int dropped;
};

/* rs_watch_begin() - @first: what the recording began with; outlives @watch. @now: seconds. */
void rs_watch_begin(struct rs_watch *watch, const struct resched_host *first, double now);

/* rs_watch_look() - look when it is time. Want of memory or of files to read costs the look, no more. */
void rs_watch_look(struct rs_watch *watch, double now);

/* rs_watch_end() - look once more. Return: the host as it is, the watch's; NULL: it cannot be read. */
const struct resched_host *rs_watch_end(struct rs_watch *watch);

/* rs_watch_forget() - drop the rows of before @ns, and where they are many the older half: for who watches for days. */
void rs_watch_forget(struct rs_watch *watch, uint64_t ns);

/*
 * rs_watch_json() - the rows of what may have changed from @from_ns to @to_ns as a snapshot that holds them alone.
 * Return: the caller's text; NULL: there are none, or no memory.
 */
char *rs_watch_json(const struct rs_watch *watch, uint64_t from_ns, uint64_t to_ns);

void rs_watch_release(struct rs_watch *watch);

#endif
