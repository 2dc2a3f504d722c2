// SPDX-License-Identifier: GPL-2.0-only
/* resched_names: texts in blocks that never move, an open-addressed index over them. */
#include "base/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_BLOCK_BYTES 16384u
#define NAMES_MAX (1u << 24)

struct names_block { struct names_block *next; };

struct resched_names {
	char **texts;			/* by number */
	uint32_t nr, room;
	uint32_t *index;		/* number + 1, 0 = empty; power of two slots, at most half full */
	uint32_t index_mask;
	struct names_block *blocks;
	size_t block_used;
};

struct resched_names *resched_names_new(void)
{
	return calloc(1, sizeof(struct resched_names));
}

void rs_names_clear(struct resched_names *names)
{
	while (names->blocks) {
		struct names_block *next = names->blocks->next;

		free(names->blocks);
		names->blocks = next;
	}
	free(names->texts);
	free(names->index);
	memset(names, 0, sizeof(*names));
}

void resched_names_free(struct resched_names *names)
{
	if (!names)
		return;
	rs_names_clear(names);
	free(names);
}

static uint32_t hash_text(const char *text, size_t len)
{
	uint32_t h = 2166136261u;	/* FNV-1a */

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)text[i]) * 16777619u;
	return h;
}

static uint32_t *find_slot(const struct resched_names *names, const char *text, size_t len)
{
	uint32_t i = hash_text(text, len) & names->index_mask;

	while (names->index[i]) {
		const char *known = names->texts[names->index[i] - 1];

		if (!strncmp(known, text, len) && !known[len])
			break;
		i = (i + 1) & names->index_mask;
	}
	return &names->index[i];
}

static int grow_index(struct resched_names *names)
{
	uint32_t size = names->index ? (names->index_mask + 1) * 2 : 256;
	uint32_t *index = calloc(size, sizeof(*index));

	if (!index)
		return -ENOMEM;
	free(names->index);
	names->index = index;
	names->index_mask = size - 1;
	for (uint32_t i = 0; i < names->nr; i++)
		*find_slot(names, names->texts[i], strlen(names->texts[i])) = i + 1;
	return 0;
}

static char *keep_text(struct resched_names *names, const char *text, size_t len)
{
	size_t need = len + 1;
	size_t room = need > NAMES_BLOCK_BYTES ? need : NAMES_BLOCK_BYTES;
	char *kept;

	if (!names->blocks || names->block_used + need > NAMES_BLOCK_BYTES) {
		struct names_block *block = malloc(sizeof(*block) + room);

		if (!block)
			return NULL;
		block->next = names->blocks;
		names->blocks = block;
		names->block_used = 0;
	}
	kept = (char *)(names->blocks + 1) + names->block_used;
	names->block_used += need;
	memcpy(kept, text, len);
	kept[len] = '\0';
	return kept;
}

int64_t resched_names_intern(struct resched_names *names, const char *text, size_t len)
{
	uint32_t *slot;
	char *kept;

	len = strnlen(text, len);
	if (!names->index || names->nr >= (names->index_mask + 1) / 2) {
		if (grow_index(names) < 0)
			return -ENOMEM;
	}
	slot = find_slot(names, text, len);
	if (*slot)
		return *slot - 1;
	if (names->nr >= NAMES_MAX)
		return -ENOMEM;
	if (names->nr == names->room) {
		uint32_t room = names->room ? names->room * 2 : 64;
		char **texts = realloc(names->texts, room * sizeof(*texts));

		if (!texts)
			return -ENOMEM;
		names->texts = texts;
		names->room = room;
	}
	kept = keep_text(names, text, len);
	if (!kept)
		return -ENOMEM;
	names->texts[names->nr] = kept;
	*slot = ++names->nr;
	return names->nr - 1;
}

const char *resched_names_get(const struct resched_names *names, uint32_t name)
{
	return names && name < names->nr ? names->texts[name] : "?";
}

uint32_t resched_names_count(const struct resched_names *names)
{
	return names->nr;
}
