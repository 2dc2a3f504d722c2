/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of keys: what may stand in which section. */
#ifndef DAEMON_CONFIG_KEYS_H
#define DAEMON_CONFIG_KEYS_H

#include <stddef.h>
#include "daemon/config.h"

enum config_kind {
	CONFIG_BOOL,	/* bool: yes, no */
	CONFIG_WORD,	/* uint64_t, index among the words of @words */
	CONFIG_COUNT,	/* uint64_t */
	CONFIG_BYTES,	/* uint64_t: 64K, 8M, 1G */
	CONFIG_TIME,	/* uint64_t ns: 5ms, 10s, 2h, 7d; a bare number is seconds */
	CONFIG_REAL,	/* double */
	CONFIG_STRING,	/* char[size] */
	CONFIG_PATH,	/* char[size], absolute or empty */
};

struct config_key {
	const char *name, *value;	/* @value: the default, in the file's own writing */
	enum config_kind kind;
	size_t offset, size;
	double min, max;
	const char *words;		/* "a|b|c" */
	const char *text;
};

/* Sections with a name, "[trigger slow-web]", may be repeated and fill an entry of their own. */
struct config_section {
	const char *name;
	bool named;
	unsigned int nr;
	const struct config_key *keys;
};

const struct config_section *config_sections(unsigned int *ret_nr);

/* config_set() - @text into the member of @key. Return: 0; -EINVAL with the reason in @why. */
int config_set(const struct config_key *key, const char *text, void *base, char *why, size_t size);

#endif
