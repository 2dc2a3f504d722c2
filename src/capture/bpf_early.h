/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The names that tasks had when a recording began.
 *
 * The iterator over tasks runs a little later: what died before it came, it does not see, and of what was renamed before it
 * tells the new name. But their records tell: the first that brings a name of a task has the one from before, or its birth.
 */
#ifndef RS_CAPTURE_BPF_EARLY_H
#define RS_CAPTURE_BPF_EARLY_H

#include "base/map.h"
#include "capture/bpf_events.h"

struct rs_bpf_early {
	struct rs_map index;		/* pid -> first */
	uint32_t nr, size;
	struct rs_bpf_first *first;
	int failure;			/* -ENOMEM */
};

/* rs_bpf_early_note() - look at a record; any order over cpus. For rs_bpf_ring_each(): @early is a struct rs_bpf_early, zeroed before. */
void rs_bpf_early_note(void *early, const struct rs_bpf_head *head, uint32_t len);

/* rs_bpf_early_settle() - tell @ev what was found, and release all. Return: 0; -ENOMEM. */
int rs_bpf_early_settle(struct rs_bpf_early *early, struct rs_bpf_events *ev);

#endif
