/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A hash map from uint32_t keys (pids) to uint32_t values (indexes). Open addressing, grows by doubling.
 * Iteration order is not offered, so that no output can depend on it. All fields are private to map.c but
 * for the inline lookup.
 */
#ifndef RS_BASE_MAP_H
#define RS_BASE_MAP_H

#include <stdint.h>
#include <stddef.h>

#define RS_MAP_NONE UINT32_MAX	/* not a legal value */

struct rs_map_slot { uint32_t key, value; };	/* value RS_MAP_NONE = empty */
struct rs_map { struct rs_map_slot *slots; uint32_t mask; uint32_t count; };

/* A zeroed struct rs_map is an empty map. */
void rs_map_release(struct rs_map *map);
/* rs_map_set() - insert or replace. @value != RS_MAP_NONE. Return: 0; -ENOMEM. */
int rs_map_set(struct rs_map *map, uint32_t key, uint32_t value);
/* rs_map_drop() - forget @key, if it is there. */
void rs_map_drop(struct rs_map *map, uint32_t key);

static inline uint32_t rs_map_hash(uint32_t key)
{
	return key * 2654435769u;	/* Fibonacci hashing; the high bits are the good ones */
}

/* rs_map_get() - value of @key, RS_MAP_NONE when absent. */
static inline uint32_t rs_map_get(const struct rs_map *map, uint32_t key)
{
	uint32_t i;

	if (!map->slots)
		return RS_MAP_NONE;
	for (i = (rs_map_hash(key) >> 8) & map->mask;; i = (i + 1) & map->mask) {
		if (map->slots[i].value == RS_MAP_NONE || map->slots[i].key == key)
			return map->slots[i].value;
	}
}

#endif
