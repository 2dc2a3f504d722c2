/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a stream does not say of itself, whatever its format: when each cpu's data begins and ends, cpus nobody heard of, times
 * when nothing was recorded anywhere, kinds of events that are needed and absent, pids used twice. Watches the events as they
 * pass; what it finds becomes warnings at the end, not damage: each may have an innocent reason, which the text names.
 */
#ifndef RS_TRACE_EDGES_H
#define RS_TRACE_EDGES_H

#include <stdbool.h>
#include <stdint.h>
#include <resched/event.h>
#include <resched/trace.h>

#include "base/map.h"
#include "trace/notes.h"

struct rs_edge_cpu {
	uint64_t first_ns, last_ns;
	int32_t first_pid, now_pid;	/* who ran at its first event, 0 unknown or idle; who was switched to last */
	bool seen, switched;
	bool overwritten;		/* it begins with a loss: there was more before the first event */
};

struct rs_edges {
	unsigned int nr;
	struct rs_edge_cpu *cpus;
	uint64_t first_ns, last_ns;
	uint64_t gap_ns, gap_at_ns;		/* longest time without any event, and when it began */
	uint64_t types[RESCHED_EV_NR];
	struct rs_map gone;		/* pids of tasks that exited */
	uint32_t reused;
	int32_t first_reused;
	bool any, blind;		/* blind: no memory; nothing is told */
};

void rs_edges_event(struct rs_edges *e, const struct resched_event *ev);
/* rs_edges_finish() - tell what was found; @source is complete. */
void rs_edges_finish(struct rs_edges *e, const struct resched_source *source, struct rs_notes *notes);
void rs_edges_release(struct rs_edges *e);

#endif
