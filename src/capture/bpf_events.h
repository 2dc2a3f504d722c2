/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From the records of the BPF programs to the data of ordinary events, laid out as the formats of the
 * recording say: the kernel's own for its events, ours for those of system "resched".
 *
 * Frequent records carry no names; they are filled in from what the names table has learned. So
 * records that change names must come in time order over all cpus.
 */
#ifndef RS_CAPTURE_BPF_EVENTS_H
#define RS_CAPTURE_BPF_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <resched/error.h>

#include "base/map.h"
#include "capture/bpf/record.h"
#include "capture/texts.h"
#include "capture/page_writer.h"

#define RS_BPF_FIELDS 7

/* Where a field of an event is; size 0: the format has none. @tail: in place are offset and length of a text behind the fields. */
struct rs_bpf_field { uint16_t offset, size; bool is_array, is_tail, is_relative; };

/* One kind of event: its id and its fields. */
struct rs_bpf_event {
	uint16_t id;		/* 0: not recorded */
	uint16_t len;		/* without texts at the end */
	struct rs_bpf_field f[RS_BPF_FIELDS];
};

struct rs_bpf_events {
	struct rs_bpf_event kinds[RS_BPF_NR];
	bool runs;			/* one sched_run a switch is wanted */
	uint16_t truth_id;		/* our own; 0: not wanted */
	struct rs_map index;		/* pid -> names */
	uint32_t nr, size;
	struct rs_bpf_name *names;
	bool forgets;			/* names of the dead: else all that ever were are kept, for the end of a recording */
	char (*idle)[RS_BPF_COMM];	/* of the idle tasks, one a writer */
	uint64_t unknown_kinds;
};

/*
 * rs_bpf_events_init() - bind to @formats, to which our own events are added.
 * @cpu_ids: cpu of each writer index
 * @run:   add an event with prev's run time to each switch
 * @truth: rows of the kernel's state will come
 * Return: 0; -ENODEV: the kernel's format of an event lacks a field, named in @err; -ENOMEM.
 */
int rs_bpf_events_init(struct rs_bpf_events *ev, struct rs_texts *formats, unsigned int nr_cpus, const unsigned int *cpu_ids, bool run,
		       bool truth, struct resched_error *err);

/* rs_bpf_events_name() - a task's name. Return: 0; -ENOMEM. */
int rs_bpf_events_name(struct rs_bpf_events *ev, int32_t pid, const char *comm);

/* rs_bpf_events_put() - write what the record of @len bytes tells. Return: events written; -ENOMEM; -errno of the writer's sink. */
int rs_bpf_events_put(struct rs_bpf_events *ev, const struct rs_bpf_head *head, uint32_t len, struct rs_page_writer *to);

/* rs_bpf_events_names() - all names known, "PID COMM" a line, in the order in which they were learned. Return: the caller's; NULL: no memory. */
char *rs_bpf_events_names(const struct rs_bpf_events *ev);

void rs_bpf_events_release(struct rs_bpf_events *ev);

#endif
