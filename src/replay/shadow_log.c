// SPDX-License-Identifier: GPL-2.0-only
#include "replay/shadow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_EVENTS (1u << 30) /* 40 GB of memory: more is a mistake */

static void count_cpus(struct rs_shadow_log *log, const struct resched_event *e)
{
	unsigned int most = e->cpu;

	if (e->type == RESCHED_EV_WAKING || e->type == RESCHED_EV_WAKEUP ||
	    e->type == RESCHED_EV_WAKEUP_NEW)
		most = e->wake.target_cpu > most ? e->wake.target_cpu : most;
	if (e->type == RESCHED_EV_MIGRATE)
		most = e->migrate.to_cpu > most ? e->migrate.to_cpu : most;
	if (most >= log->nr_cpus)
		log->nr_cpus = most + 1;
}

int rs_shadow_log_truth(struct rs_shadow_log *log, uint64_t ts_ns, const struct resched_truth *row)
{
	if (!row)
		return 0;
	if (log->nr_truths == log->truth_room) {
		uint32_t room = log->truth_room ? log->truth_room * 2 : 4096;
		struct resched_truth *rows = room > MAX_EVENTS
						     ? NULL
						     : realloc(log->truths, room * sizeof(*rows));
		uint64_t *stamps;

		if (!rows)
			return -ENOMEM;
		log->truths = rows;
		stamps = realloc(log->truth_ns, room * sizeof(*stamps));
		if (!stamps)
			return -ENOMEM;
		log->truth_ns = stamps;
		log->truth_room = room;
	}
	log->nr_starts += row->row == RESCHED_TRUTH_START && !row->level;
	log->truths[log->nr_truths] = *row;
	log->truth_ns[log->nr_truths++] = ts_ns;
	return 0;
}

int rs_shadow_log_event(void *ctx, const struct resched_event *event)
{
	struct rs_shadow_log *log = ctx;

	if (event->type == RESCHED_EV_TRUTH && log->trace)
		return rs_shadow_log_truth(log, event->ts_ns, resched_trace_truth(log->trace));
	if (event->type >= RESCHED_EV_OTHER) /* no part of the schedule */
		return 0;
	if (log->nr == log->room) {
		uint32_t room = log->room ? log->room * 2 : 4096;
		struct resched_event *events;

		if (room > MAX_EVENTS)
			return -ENOMEM;
		events = realloc(log->events, room * sizeof(*events));
		if (!events)
			return -ENOMEM;
		log->events = events;
		log->room = room;
	}
	log->events[log->nr++] = *event;
	count_cpus(log, event);
	log->nr_runtimes += event->type == RESCHED_EV_RUNTIME;
	log->nr_stretches += event->type == RESCHED_EV_RUNTIME && (event->ctx & RESCHED_CTX_STRETCH);
	return 0;
}

/* Events the follower looks ahead for. */
static bool matters(const struct resched_event *e)
{
	switch (e->type) {
	case RESCHED_EV_COMM: return e->comm.renamed;
	case RESCHED_EV_LOST:
	case RESCHED_EV_PRIO:
	case RESCHED_EV_EXEC: return false;
	default: return true;
	}
}

#define PAIR_NS 30000u /* a row is taken with its event, if by another program */

/* The row of @kind and @pid nearest to @ts_ns from *@from on that nothing has taken; rows are in time order. */
static uint32_t find_row(const struct rs_shadow_log *log, uint8_t kind, int32_t pid, uint64_t ts_ns,
			 uint32_t *from, bool *taken)
{
	while (*from < log->nr_truths && log->truth_ns[*from] + PAIR_NS < ts_ns)
		(*from)++;
	for (uint32_t i = *from; i < log->nr_truths && log->truth_ns[i] < ts_ns + PAIR_NS; i++) {
		if (taken[i] || log->truths[i].level || log->truths[i].row != kind || log->truths[i].pid != pid)
			continue;
		taken[i] = true;
		return i;
	}
	return RS_NO_EVENT;
}

static uint8_t row_of(uint8_t type)
{
	return type == RESCHED_EV_WAKING       ? RESCHED_TRUTH_WAKING
	       : type == RESCHED_EV_WAKEUP     ? RESCHED_TRUTH_WAKEUP
	       : type == RESCHED_EV_WAKEUP_NEW ? RESCHED_TRUTH_WAKEUP_NEW
					       : RESCHED_TRUTH_RUNTIME;
}

/* Give each event the rows that were taken with it. */
static int pair_truths(struct rs_shadow_log *log)
{
	bool *taken = calloc(log->nr_truths, sizeof(*taken));
	uint32_t from = 0;

	log->truth_of = malloc((log->nr ? log->nr : 1) * sizeof(*log->truth_of));
	if (!taken || !log->truth_of) {
		free(taken);
		return -ENOMEM;
	}
	memset(log->truth_of, 0xff, log->nr * sizeof(*log->truth_of));
	for (uint32_t i = 0; i < log->nr; i++) {
		const struct resched_event *e = &log->events[i];

		if (e->type == RESCHED_EV_SWITCH) {
			log->truth_of[i].prev = find_row(log, RESCHED_TRUTH_PREV, e->pid, e->ts_ns,
							 &from, taken);
			log->truth_of[i].next = find_row(log, RESCHED_TRUTH_NEXT, e->sw.next_pid,
							 e->ts_ns, &from, taken);
		} else if (e->type == RESCHED_EV_WAKING || e->type == RESCHED_EV_WAKEUP ||
			   e->type == RESCHED_EV_WAKEUP_NEW || e->type == RESCHED_EV_RUNTIME) {
			log->truth_of[i].prev = find_row(log, row_of(e->type), e->pid, e->ts_ns, &from,
							 taken);
		}
	}
	free(taken);
	return 0;
}

int rs_shadow_log_finish(struct rs_shadow_log *log)
{
	uint32_t *last;

	if (rs_shadow_log_fill(log) < 0)
		return -ENOMEM;
	last = malloc((log->nr_cpus ? log->nr_cpus : 1) * sizeof(*last));
	log->next = malloc((log->nr ? log->nr : 1) * sizeof(*log->next));
	if (!last || !log->next) {
		free(last);
		return -ENOMEM;
	}
	memset(last, 0xff, log->nr_cpus * sizeof(*last));
	for (uint32_t i = log->nr; i-- > 0;) {
		unsigned int cpu = log->events[i].cpu;

		log->next[i] = last[cpu];
		if (matters(&log->events[i]))
			last[cpu] = i;
	}
	free(last);
	if (log->nr_truths && pair_truths(log) < 0)
		return -ENOMEM;
	return rs_shadow_find_homes(log);
}

void rs_shadow_log_release(struct rs_shadow_log *log)
{
	free(log->events);
	free(log->next);
	free(log->truths);
	free(log->truth_ns);
	free(log->truth_of);
	rs_shadow_homes_release(&log->homes);
	memset(log, 0, sizeof(*log));
}
