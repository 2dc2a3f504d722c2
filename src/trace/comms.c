// SPDX-License-Identifier: GPL-2.0-only
#include "trace/comms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FALLBACK_MAX 65536u

static bool is_name(const char *text, size_t len)
{
	return len && !(len == 5 && !memcmp(text, "<...>", 5));
}

/* "  1234 name with blanks\n" */
static int read_cmdlines(struct rs_comms *comms, const char *text)
{
	while (*text && comms->fallback.count < FALLBACK_MAX) {
		size_t line = strcspn(text, "\n");
		char *rest;
		long pid = strtol(text, &rest, 10);

		if (rest > text && rest < text + line && *rest == ' ' && pid > 0 && pid <= INT32_MAX) {
			size_t len = (size_t)(text + line - ++rest);
			int64_t name;

			if (is_name(rest, len) && len < 64) {
				name = resched_names_intern(comms->names, rest, len);
				if (name < 0 || rs_map_set(&comms->fallback, (uint32_t)pid, (uint32_t)name) < 0)
					return -ENOMEM;
			}
		}
		text += line;
		if (*text)
			text++;
	}
	return 0;
}

int rs_comms_init(struct rs_comms *comms, struct resched_names *names, const char *cmdlines)
{
	memset(comms, 0, sizeof(*comms));
	comms->names = names;
	return cmdlines ? read_cmdlines(comms, cmdlines) : 0;
}

void rs_comms_release(struct rs_comms *comms)
{
	rs_map_release(&comms->by_pid);
	rs_map_release(&comms->fallback);
	free(comms->slots);
	memset(comms, 0, sizeof(*comms));
}

static struct rs_comm_slot *get_slot(struct rs_comms *comms, int32_t pid)
{
	uint32_t idx = rs_map_get(&comms->by_pid, (uint32_t)pid);

	if (idx != RS_MAP_NONE)
		return &comms->slots[idx];
	if (comms->nr == comms->room) {
		uint32_t room = comms->room ? comms->room * 2 : 256;
		struct rs_comm_slot *slots = realloc(comms->slots, room * sizeof(*slots));

		if (!slots)
			return NULL;
		comms->slots = slots;
		comms->room = room;
	}
	if (rs_map_set(&comms->by_pid, (uint32_t)pid, comms->nr) < 0)
		return NULL;
	memset(&comms->slots[comms->nr], 0, sizeof(comms->slots[0]));
	return &comms->slots[comms->nr++];
}

int rs_comms_see(struct rs_comms *comms, int32_t pid, const uint8_t *raw, uint32_t size, bool strong, uint32_t *ret_name, bool *ret_renamed)
{
	struct rs_comm_slot *slot;
	uint64_t seen[2] = { 0, 0 };
	int64_t name;
	size_t len;

	if (pid <= 0)
		return 0;
	slot = get_slot(comms, pid);
	if (!slot)
		return -ENOMEM;
	if (slot->known == 1 && !strong)
		return 0;
	memcpy(seen, raw, size < sizeof(seen) ? size : sizeof(seen));
	if (slot->known == 1 && seen[0] == slot->raw[0] && seen[1] == slot->raw[1] && size <= sizeof(seen))
		return 0;
	len = strnlen((const char *)raw, size);
	if (!is_name((const char *)raw, len))
		return 0;
	name = resched_names_intern(comms->names, (const char *)raw, len);
	if (name < 0)
		return -ENOMEM;
	memcpy(slot->raw, seen, sizeof(seen));
	if (slot->known && slot->name == (uint32_t)name) {
		slot->known = 1;
		return 0;
	}
	*ret_name = (uint32_t)name;
	*ret_renamed = slot->known == 1;
	slot->name = (uint32_t)name;
	slot->known = 1;
	return 1;
}

int rs_comms_fallback(struct rs_comms *comms, int32_t pid, uint32_t *ret_name)
{
	struct rs_comm_slot *slot;
	uint32_t idx, name;

	if (pid <= 0 || !comms->fallback.count)
		return 0;
	idx = rs_map_get(&comms->by_pid, (uint32_t)pid);
	if (idx != RS_MAP_NONE && comms->slots[idx].known)
		return 0;
	name = rs_map_get(&comms->fallback, (uint32_t)pid);
	if (name == RS_MAP_NONE)
		return 0;
	slot = get_slot(comms, pid);
	if (!slot)
		return -ENOMEM;
	memset(slot->raw, 0, sizeof(slot->raw));
	slot->name = name;
	slot->known = 2;
	*ret_name = name;
	return 1;
}

void rs_comms_forget(struct rs_comms *comms, int32_t pid)
{
	uint32_t idx = rs_map_get(&comms->by_pid, (uint32_t)pid);

	if (idx != RS_MAP_NONE)
		comms->slots[idx].known = 0;
}

void rs_comms_forget_all(struct rs_comms *comms)
{
	rs_map_release(&comms->by_pid);
	free(comms->slots);
	comms->slots = NULL;
	comms->nr = comms->room = 0;
}
