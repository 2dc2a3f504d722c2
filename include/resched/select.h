/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A part of a stream: a window of time, some cpus, some tasks. Sits between whoever makes events and whoever takes them. Names are
 * told anew, each before the first event that is passed on and needs it.
 */
#ifndef RESCHED_SELECT_H
#define RESCHED_SELECT_H

#include <stdint.h>
#include <resched/error.h>
#include <resched/event.h>
#include <resched/names.h>

#ifdef __cplusplus
extern "C" {
#endif

struct resched_select;
struct resched_report;
struct resched_host;

struct resched_select_options {
	uint64_t from_ns, to_ns;		/* absolute; to_ns is the first instant that is left out; 0 = to the end */
	const char *cpus;			/* list: events that these recorded; NULL = all */
	unsigned int nr_pids; const int *pids;	/* events that concern one of these threads; none = all */
	const char *comm_glob;			/* events that concern a task called so at that time; NULL = all */
};

/* resched_select_new() - @names, of the stream, and @sink_ctx are borrowed until the end; texts and pids of @opts are copied.
 * Return: 0; -EINVAL (USAGE) when a list of cpus is none; -ENOMEM. */
int resched_select_new(const struct resched_select_options *opts, const struct resched_names *names, resched_event_fn sink, void *sink_ctx,
		       struct resched_select **ret, struct resched_error *err);

/* resched_select_window() - another window than the options gave; before the first event that is not a RESCHED_EV_COMM. */
void resched_select_window(struct resched_select *select, uint64_t from_ns, uint64_t to_ns);

/* resched_select_event() - take the next event. @select is a void pointer so that this is a resched_event_fn.
 * Return: 0; -ENOMEM; what the sink returned. */
int resched_select_event(void *select, const struct resched_event *event);

uint64_t resched_select_passed(const struct resched_select *select);	/* events passed on so far, names not counted */
void resched_select_free(struct resched_select *select);

/*
 * resched_select_check_cpus() - whether all of the list @cpus (NULL = all) are there: @host (may be NULL) has them, or @report saw
 * them; without a host those below @nr_cpus are. A cpu that is not there is a slip, where an idle one is an answer.
 * Return: 0; -EINVAL (USAGE) with the cpus there are. What is no list is not judged.
 */
int resched_select_check_cpus(const char *cpus, const struct resched_report *report, const struct resched_host *host, unsigned int nr_cpus,
			      struct resched_error *err);

#ifdef __cplusplus
}
#endif
#endif
