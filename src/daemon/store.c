// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "daemon/loop.h"

#define META_MOST 262144u	/* bytes of a description */

void store_path(const struct store *store, uint64_t number, char path[STORE_PATH])
{
	snprintf(path, STORE_PATH, "%s/snapshot-%08" PRIu64 ".dat", store->config->directory, number);
}

static void path_of(const struct store *store, uint64_t number, const char *end, char path[STORE_PATH])
{
	snprintf(path, STORE_PATH, "%s/snapshot-%08" PRIu64 "%s", store->config->directory, number, end);
}

static unsigned int index_of(const struct store *store, uint64_t number)
{
	unsigned int low = 0, high = store->nr;

	while (low < high) {
		unsigned int mid = low + (high - low) / 2;

		if (store->items[mid].number < number)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct stored *store_find(const struct store *store, uint64_t number)
{
	unsigned int at = index_of(store, number);

	return at < store->nr && store->items[at].number == number ? &store->items[at] : NULL;
}

/* Takes over @item's meta, also when it fails. */
static int insert(struct store *store, struct stored item)
{
	unsigned int at = index_of(store, item.number);

	if (store->nr == store->size) {
		unsigned int size = store->size ? store->size * 2 : 16;
		struct stored *more = realloc(store->items, size * sizeof(*more));

		if (!more) {
			json_object_put(item.meta);
			return -ENOMEM;
		}
		store->items = more;
		store->size = size;
	}
	memmove(&store->items[at + 1], &store->items[at], (store->nr - at) * sizeof(*store->items));
	store->items[at] = item;
	store->nr++;
	store->bytes += item.bytes;
	if (item.number > store->last_number)
		store->last_number = item.number;
	return 0;
}

static int write_meta(const struct store *store, uint64_t number, struct json_object *meta)
{
	char path[STORE_PATH];
	size_t len;
	const char *text = json_object_to_json_string_length(meta, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE, &len);

	path_of(store, number, ".json", path);
	return file_replace(path, text, len, 0640);
}

static struct json_object *read_meta(const struct store *store, uint64_t number)
{
	struct json_object *meta;
	char path[STORE_PATH], *text;
	size_t len;

	path_of(store, number, ".json", path);
	if (file_read(path, META_MOST, &text, &len) < 0)
		return NULL;
	meta = json_tokener_parse(text);
	free(text);
	if (meta && !json_object_is_type(meta, json_type_object)) {
		json_object_put(meta);
		meta = NULL;
	}
	return meta;
}

static int64_t taken_of(struct json_object *meta)
{
	struct json_object *taken;

	return json_object_object_get_ex(meta, "taken_s", &taken) ? json_object_get_int64(taken) : 0;
}

/* A recording without a description: it was whole when the daemon died, or as good as it could be had. */
static struct json_object *recovered_meta(struct store *store, uint64_t number, const struct stat *st)
{
	struct json_object *meta = json_object_new_object();

	json_object_object_add(meta, "number", json_object_new_uint64(number));
	json_object_object_add(meta, "taken_s", json_object_new_int64(st->st_mtime));
	json_object_object_add(meta, "recovered", json_object_new_boolean(1));
	write_meta(store, number, meta);
	store->count.recovered++;
	log_line(store->log, LOG_NOTE, "snapshot %" PRIu64 " was written by a daemon that did not finish; taken in", number);
	return meta;
}

static void load_one(struct store *store, uint64_t number, bool partial)
{
	char path[STORE_PATH], from[STORE_PATH];
	struct json_object *meta;
	struct stat st;

	path_of(store, number, ".dat", path);
	if (partial) {
		path_of(store, number, ".dat.new", from);
		if (stat(from, &st) == 0 && st.st_size == 0)
			unlink(from);
		else
			rename(from, path);
	}
	if (store_find(store, number) || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	meta = read_meta(store, number);
	if (!meta)
		meta = recovered_meta(store, number, &st);
	insert(store, (struct stored){ .number = number, .bytes = (uint64_t)st.st_size, .taken_s = taken_of(meta), .meta = meta });
}

/* One name of the folder: a snapshot to load, or something stale of ours. Names of others are left alone. */
static void look_at(struct store *store, const char *name)
{
	char path[STORE_PATH + 256], *end;
	uint64_t number;

	snprintf(path, sizeof(path), "%s/%s", store->config->directory, name);
	if (!strncmp(name, "scratch-", 8)) {
		unlink(path);
		return;
	}
	if (strncmp(name, "snapshot-", 9) != 0)
		return;
	errno = 0;
	number = strtoull(name + 9, &end, 10);
	if (end == name + 9 || errno)
		return;
	if (number > store->last_number)
		store->last_number = number;	/* also of what is removed: no number is given twice */
	if (!strcmp(end, ".dat") || !strcmp(end, ".dat.new"))
		load_one(store, number, end[4] != '\0');
	else if (!strcmp(end, ".json.new"))
		unlink(path);
}

/* A description whose recording is gone. */
static void drop_orphans(struct store *store, DIR *dir)
{
	struct dirent *entry;

	rewinddir(dir);
	while ((entry = readdir(dir))) {
		char path[STORE_PATH], *end;
		uint64_t number;

		if (strncmp(entry->d_name, "snapshot-", 9) != 0)
			continue;
		number = strtoull(entry->d_name + 9, &end, 10);
		if (strcmp(end, ".json") != 0 || store_find(store, number))
			continue;
		path_of(store, number, ".json", path);
		unlink(path);
	}
}

/* Members of the reading group may read what is in it. */
static void give_to_group(const struct store *store)
{
	const struct group *group = *store->config->read_group ? getgrnam(store->config->read_group) : NULL;

	if (group && chown(store->config->directory, (uid_t)-1, group->gr_gid) == 0)
		chmod(store->config->directory, 02750);
}

void store_open(struct store *store)
{
	const char *path = store->config->directory;
	struct dirent *entry;
	DIR *dir;

	if (!*path)
		return;
	if (mkdir(path, 0750) < 0 && errno != EEXIST) {
		log_line(store->log, LOG_WARN, "cannot make the store '%s': %s; no snapshot can be kept", path, strerror(errno));
		return;
	}
	dir = opendir(path);
	if (!dir) {
		log_line(store->log, LOG_WARN, "cannot read the store '%s': %s; no snapshot can be kept", path, strerror(errno));
		return;
	}
	give_to_group(store);
	while ((entry = readdir(dir)))
		look_at(store, entry->d_name);
	drop_orphans(store, dir);
	closedir(dir);
	store->ready = true;
	store_retain(store);
}

void store_release(struct store *store)
{
	for (unsigned int i = 0; i < store->nr; i++)
		json_object_put(store->items[i].meta);
	free(store->items);
	store->items = NULL;
	store->nr = store->size = 0;
	store->bytes = 0;
	store->ready = false;
}

int store_remove(struct store *store, uint64_t number)
{
	unsigned int at = index_of(store, number);
	char path[STORE_PATH];

	if (at >= store->nr || store->items[at].number != number)
		return -ENOENT;
	path_of(store, number, ".dat", path);	/* first, so that nothing but a description can be left alone */
	if (unlink(path) < 0 && errno != ENOENT)
		return -errno;
	path_of(store, number, ".json", path);
	unlink(path);
	store->bytes -= store->items[at].bytes;
	json_object_put(store->items[at].meta);
	memmove(&store->items[at], &store->items[at + 1], (store->nr - at - 1) * sizeof(*store->items));
	store->nr--;
	store->count.removed++;
	return 0;
}

/* Of a snapshot of this run by a clock that does not jump, else by the wall clock. */
static bool is_too_old(const struct store *store, const struct stored *item)
{
	uint64_t max_s = store->config->max_age_ns / 1000000000u;

	if (item->taken_boot_ns)
		return loop_now_ns() - item->taken_boot_ns > store->config->max_age_ns;
	return (int64_t)time(NULL) - item->taken_s > (int64_t)max_s;
}

void store_retain(struct store *store)
{
	const struct config *c = store->config;

	for (unsigned int i = 0; i < store->nr;) {
		if (!is_too_old(store, &store->items[i]) || store_remove(store, store->items[i].number) < 0)
			i++;
	}
	while (store->nr && (store->nr > c->max_count || store->bytes > c->max_size)) {
		if (store_remove(store, store->items[0].number) < 0)
			break;
	}
}

/* Oldest first, until the disk has as much left as it should. */
static int make_room(struct store *store, char *why, size_t size)
{
	struct statvfs fs;

	for (;;) {
		if (statvfs(store->config->directory, &fs) < 0) {
			snprintf(why, size, "the store '%s' cannot be used: %s", store->config->directory, strerror(errno));
			return -errno;
		}
		if ((uint64_t)fs.f_bavail * fs.f_frsize >= store->config->min_free)
			return 0;
		if (!store->nr || store_remove(store, store->items[0].number) < 0)
			break;
	}
	snprintf(why, size, "the disk of '%s' has less than min_free left; free some of it", store->config->directory);
	return -ENOSPC;
}

int store_begin(struct store *store, uint64_t *ret_number, char path[STORE_PATH], char *why, size_t size)
{
	int rc;

	if (!store->ready)
		store_open(store);
	if (!store->ready || access(store->config->directory, W_OK) < 0) {
		store->count.failed++;
		snprintf(why, size, "the store '%s' cannot be written", store->config->directory);
		return -EROFS;
	}
	store_retain(store);
	while (store->nr >= store->config->max_count && store_remove(store, store->items[0].number) == 0)
		;
	rc = make_room(store, why, size);
	if (rc < 0) {
		store->count.failed++;
		return rc;
	}
	*ret_number = ++store->last_number;
	path_of(store, *ret_number, ".dat.new", path);
	return 0;
}

void store_abort(struct store *store, uint64_t number)
{
	char path[STORE_PATH];

	path_of(store, number, ".dat.new", path);
	unlink(path);
	path_of(store, number, ".json", path);
	unlink(path);
	store->count.failed++;
}

int store_finish(struct store *store, uint64_t number, struct json_object *meta)
{
	char from[STORE_PATH], to[STORE_PATH];
	const struct group *group = *store->config->read_group ? getgrnam(store->config->read_group) : NULL;
	struct stat st;
	int rc;

	path_of(store, number, ".dat.new", from);
	path_of(store, number, ".dat", to);
	rc = stat(from, &st) < 0 ? -errno : 0;
	if (rc == 0 && group && chown(from, (uid_t)-1, group->gr_gid) == 0)
		chmod(from, 0640);
	if (rc == 0) {
		json_object_object_add(meta, "bytes", json_object_new_uint64((uint64_t)st.st_size));
		rc = write_meta(store, number, meta);
	}
	if (rc == 0 && rename(from, to) < 0)
		rc = -errno;
	if (rc < 0) {
		json_object_put(meta);
		store_abort(store, number);
		return rc;
	}
	store->count.written++;
	rc = insert(store, (struct stored){ .number = number, .bytes = (uint64_t)st.st_size, .taken_s = taken_of(meta),
					    .taken_boot_ns = loop_now_ns(), .meta = meta });
	store_retain(store);
	return rc;
}

int store_add(struct store *store, uint64_t number, const char *key, struct json_object *value)
{
	unsigned int at = index_of(store, number);

	if (at >= store->nr || store->items[at].number != number) {
		json_object_put(value);
		return -ENOENT;
	}
	json_object_object_add(store->items[at].meta, key, value);
	return write_meta(store, number, store->items[at].meta);
}

int store_scratch(struct store *store, uint64_t number, char path[STORE_PATH])
{
	if (!store->ready)
		store_open(store);
	if (!store->ready || access(store->config->directory, W_OK) < 0)
		return -EROFS;
	snprintf(path, STORE_PATH, "%s/scratch-%" PRIu64 ".dat", store->config->directory, number);
	return 0;
}
