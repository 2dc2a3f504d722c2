/* SPDX-License-Identifier: GPL-2.0-only */
/* Migrations by reason and distance, idle time while tasks waited: kept beside the figures when the options ask for it. */
#ifndef RS_ANALYSIS_MOVES_H
#define RS_ANALYSIS_MOVES_H

#include "analysis/state.h"

struct an_moves;

/* an_moves_new() - @machine (may be NULL) is borrowed. Return: NULL without memory. */
struct an_moves *an_moves_new(const struct resched_host *machine);
/* an_moves_event() - after the event was taken. Return: 0; -ENOMEM. */
int an_moves_event(struct an_moves *moves, const struct resched_analysis *an, const struct resched_event *ev);
/* an_moves_finish() - the figures; @ret's array is the caller's. Return: 0; -ENOMEM. */
int an_moves_finish(struct an_moves *moves, uint64_t from_ns, uint64_t end_ns, struct resched_moves *ret);
void an_moves_free(struct an_moves *moves);

#endif
