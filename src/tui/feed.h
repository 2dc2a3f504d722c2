/* SPDX-License-Identifier: GPL-2.0-only */
/* What reschedd hands over of the present, by 'recent' of resched-protocol(5): recordings, one after the other. For one thread. */
#ifndef TUI_FEED_H
#define TUI_FEED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <resched/error.h>

#define FEED_SOCKET "/run/resched/control.sock"

struct feed { int fd; uint64_t asked; };
struct feed_part { int fd; uint64_t from_ns, to_ns; bool cut_short; };	/* fd: of a copy that is the caller's to close */

/* feed_open() - connect. Return: 0; -errno, @err filled. */
int feed_open(const char *path, struct feed *ret, struct resched_error *err);
void feed_close(struct feed *feed);

/*
 * feed_next() - the events since @from_ns, 0: the last @last_ns. Waits for them, until *@cancel.
 * Return: 0; -ECANCELED; -EREMOTEIO: the daemon refuses; -errno; @err filled.
 */
int feed_next(struct feed *feed, uint64_t from_ns, uint64_t last_ns, const _Atomic bool *cancel, struct feed_part *ret, struct resched_error *err);

/* feed_copy() - all of @from to the end of @to. Return: 0; -errno. */
int feed_copy(int from, int to);

#endif
