/* SPDX-License-Identifier: GPL-2.0-only */
/* The name last told of each pid, so that the reader tells a name only when it is new. Grows with tasks. */
#ifndef RS_TRACE_COMMS_H
#define RS_TRACE_COMMS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <resched/names.h>

#include "base/map.h"

struct rs_comm_slot {
	uint64_t raw[2];	/* the 16 bytes last seen, to compare fast */
	uint32_t name;
	uint32_t known;		/* 0: none; 1: from an event; 2: from the fall-back table */
};

struct rs_comms {
	struct rs_map by_pid;
	struct rs_comm_slot *slots;
	uint32_t nr, room;
	struct resched_names *names;
	struct rs_map fallback;		/* pid to name: for pids no event names */
};

/* @names is borrowed. @cmdlines: "PID NAME" lines, may be NULL. Return: 0; -ENOMEM. */
int rs_comms_init(struct rs_comms *comms, struct resched_names *names, const char *cmdlines);
void rs_comms_release(struct rs_comms *comms);

/*
 * rs_comms_see() - an event gives @pid the name in the @size bytes at @raw.
 * @strong: the name is what the task is called now; else it only serves while the pid has none
 * Return: 1: tell it (*@ret_name, and *@ret_renamed when it had another); 0: nothing new; -ENOMEM.
 */
int rs_comms_see(struct rs_comms *comms, int32_t pid, const uint8_t *raw, uint32_t size, bool strong, uint32_t *ret_name, bool *ret_renamed);

/* rs_comms_knows() - would rs_comms_see() have nothing to tell of these 16 bytes? May say no where it has not. */
static inline bool rs_comms_knows(const struct rs_comms *comms, int32_t pid, const uint8_t *raw, bool strong)
{
	uint32_t idx = rs_map_get(&comms->by_pid, (uint32_t)pid);

	return idx != RS_MAP_NONE && comms->slots[idx].known == 1 && (!strong || !memcmp(raw, comms->slots[idx].raw, sizeof(comms->slots[idx].raw)));
}

/* rs_comms_fallback() - an event names no name for @pid. Return: as rs_comms_see(). */
int rs_comms_fallback(struct rs_comms *comms, int32_t pid, uint32_t *ret_name);

/* rs_comms_forget() - the pid starts anew. */
void rs_comms_forget(struct rs_comms *comms, int32_t pid);
/* rs_comms_forget_all() - all pids do; their memory is freed. */
void rs_comms_forget_all(struct rs_comms *comms);

#endif
