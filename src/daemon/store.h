/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Snapshots on disk: snapshot-NUMBER.dat, a recording, and snapshot-NUMBER.json, what is known of it. Both are written under names that end
 * in ".new" and renamed when whole, the recording last. Numbers only grow, so that a clock that jumps changes no order. The index is
 * kept in memory and read anew from the .json files at start; what a daemon that died left behind is taken in or removed then.
 */
#ifndef DAEMON_STORE_H
#define DAEMON_STORE_H

#include <json-c/json.h>
#include "daemon/config.h"
#include "daemon/log.h"

#define STORE_PATH (CONFIG_TEXT + 64u)

struct stored {
	uint64_t number, bytes;
	int64_t taken_s;		/* by the wall clock */
	uint64_t taken_boot_ns;		/* loop_now_ns(); 0: of an earlier run */
	struct json_object *meta;
};

struct store {
	const struct config *config; const struct log *log;	/* borrowed */
	bool ready;			/* the folder can be used */
	unsigned int nr, size;
	struct stored *items;		/* ascending number */
	uint64_t bytes, last_number;
	struct { uint64_t written, failed, removed, recovered; } count;
};

/* store_open() - read the index and clean up. A folder that cannot be used is told, and tried again before each snapshot. */
void store_open(struct store *store);
void store_release(struct store *store);

/* store_begin() - where to write the next snapshot, after making room. Return: 0; -errno, @why says what stands in the way. */
int store_begin(struct store *store, uint64_t *ret_number, char path[STORE_PATH], char *why, size_t size);
/* store_finish() - what store_begin() gave is whole. Takes over @meta. Return: 0; -errno. */
int store_finish(struct store *store, uint64_t number, struct json_object *meta);
/* store_abort() - it failed: nothing is left of it. */
void store_abort(struct store *store, uint64_t number);

const struct stored *store_find(const struct store *store, uint64_t number);
void store_path(const struct store *store, uint64_t number, char path[STORE_PATH]);
int store_remove(struct store *store, uint64_t number);
/* store_add() - one more member of its description. Takes over @value. */
int store_add(struct store *store, uint64_t number, const char *key, struct json_object *value);
/* store_retain() - remove what is too old, too many, too large. */
void store_retain(struct store *store);

/* store_scratch() - a file for the time of one job, removed at the next start if not before. Return: 0; -errno. */
int store_scratch(struct store *store, uint64_t number, char path[STORE_PATH]);

/* files.c: @text instead of what @path held, whole or not at all. Return: 0; -errno. */
int file_replace(const char *path, const char *text, size_t len, unsigned int mode);
/* file_read() - all of it, at most @most bytes, NUL terminated; the caller's to free. Return: 0; -errno. */
int file_read(const char *path, size_t most, char **ret, size_t *ret_len);

#endif
