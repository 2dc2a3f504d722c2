// SPDX-License-Identifier: GPL-2.0-only
#include "base/map.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void rs_map_release(struct rs_map *map)
{
	free(map->slots);
	memset(map, 0, sizeof(*map));
}

/* The slot that holds @key, or the empty one where it belongs. */
static struct rs_map_slot *map_slot(struct rs_map *map, uint32_t key)
{
	uint32_t i = (rs_map_hash(key) >> 8) & map->mask;

	while (map->slots[i].value != RS_MAP_NONE && map->slots[i].key != key)
		i = (i + 1) & map->mask;
	return &map->slots[i];
}

static int map_grow(struct rs_map *map)
{
	uint32_t old_size = map->slots ? map->mask + 1 : 0;
	uint32_t size = old_size ? old_size * 2 : 64;
	struct rs_map_slot *old = map->slots;
	struct rs_map_slot *slots;
	uint32_t i;

	if (size > 1u << 24)	/* the hash keeps 24 bits; no recording has that many pids */
		return -ENOMEM;
	slots = malloc(size * sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (i = 0; i < size; i++)
		slots[i] = (struct rs_map_slot){ 0, RS_MAP_NONE };
	map->slots = slots;
	map->mask = size - 1;
	for (i = 0; i < old_size; i++) {
		if (old[i].value != RS_MAP_NONE)
			*map_slot(map, old[i].key) = old[i];
	}
	free(old);
	return 0;
}

int rs_map_set(struct rs_map *map, uint32_t key, uint32_t value)
{
	struct rs_map_slot *slot;

	assert(value != RS_MAP_NONE);
	if (!map->slots || map->count >= (map->mask + 1) / 2) {
		int rc = map_grow(map);

		if (rc < 0)
			return rc;
	}
	slot = map_slot(map, key);
	if (slot->value == RS_MAP_NONE)
		map->count++;
	*slot = (struct rs_map_slot){ key, value };
	return 0;
}

/* Those behind the hole that would no longer be found move up. */
void rs_map_drop(struct rs_map *map, uint32_t key)
{
	struct rs_map_slot *slot = map->slots ? map_slot(map, key) : NULL;
	uint32_t hole;

	if (!slot || slot->value == RS_MAP_NONE)
		return;
	hole = (uint32_t)(slot - map->slots);
	for (uint32_t i = (hole + 1) & map->mask; map->slots[i].value != RS_MAP_NONE; i = (i + 1) & map->mask) {
		uint32_t home = (rs_map_hash(map->slots[i].key) >> 8) & map->mask;

		if (((i - home) & map->mask) < ((i - hole) & map->mask))
			continue;
		map->slots[hole] = map->slots[i];
		hole = i;
	}
	map->slots[hole] = (struct rs_map_slot){ 0, RS_MAP_NONE };
	map->count--;
}
