/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Taking the names out of a recording that is to leave the house.
 *
 * Names of tasks become "t1", "t2", ..., parts of cgroup paths "g1", "g2", ..., in order of appearance, so that a name has the same code
 * everywhere in one recording and tells nothing by itself. Command lines go. What stays: numbers, times, names of kernel threads (the model
 * knows some by them) and of the recorder, and what every machine has in its cgroups ("system.slice", ".service"). Containers and units are
 * not told from codes.
 */
#ifndef RESCHED_ANONYMIZE_H
#define RESCHED_ANONYMIZE_H

#include <resched/error.h>
#include <resched/event.h>
#include <resched/host.h>
#include <resched/names.h>

#ifdef __cplusplus
extern "C" {
#endif

struct resched_anonymizer;

/*
 * resched_anonymizer_new() - @host: copied with codes for names; may be NULL. @names: of the stream, borrowed until the end.
 * @ret: the caller's, to resched_anonymizer_free(). Return: 0; -ENOMEM.
 */
int resched_anonymizer_new(const struct resched_host *host, const struct resched_names *names, struct resched_anonymizer **ret,
			   struct resched_error *err);
void resched_anonymizer_free(struct resched_anonymizer *anonymizer);

/* The snapshot with codes, NULL without one; and the names of the events that resched_anonymizer_event() gives. Both owned by @anonymizer. */
const struct resched_host *resched_anonymizer_host(const struct resched_anonymizer *anonymizer);
const struct resched_names *resched_anonymizer_names(const struct resched_anonymizer *anonymizer);

/* resched_anonymizer_event() - @event of the stream as one whose name is a code. Return: 0; -ENOMEM. */
int resched_anonymizer_event(struct resched_anonymizer *anonymizer, const struct resched_event *event, struct resched_event *ret);

#ifdef __cplusplus
}
#endif
#endif
