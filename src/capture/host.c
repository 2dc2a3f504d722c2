// SPDX-License-Identifier: GPL-2.0-only
#include "capture/host_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "capture/files.h"

#define DEBUG_LIMIT (64u << 20)

int rs_host_path_read(const struct rs_host_reader *reader, char *buf, size_t size, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;
	int len = snprintf(path, sizeof(path), "%s", reader->root), more;

	va_start(ap, fmt);
	more = vsnprintf(path + len, sizeof(path) - (size_t)len, fmt, ap);
	va_end(ap);
	if (more < 0 || len + more >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return rs_file_read(path, buf, size);
}

int rs_host_grow(void *array_pointer, unsigned int nr, size_t element_bytes)
{
	void *old, *grown;

	if (nr & (nr - 1))
		return 0;	/* room is made at 0 and at the powers of two */
	memcpy(&old, array_pointer, sizeof(old));
	grown = realloc(old, (nr ? 2 * (size_t)nr : 1) * element_bytes);
	if (!grown)
		return -ENOMEM;
	memcpy(array_pointer, &grown, sizeof(grown));
	/* cppcheck-suppress memleak ; it is the caller's array now */
	return 0;
}

static int setting_add(struct resched_host_setting **settings, unsigned int *nr, const char *name,
		       const char *value)
{
	struct resched_host_setting *last;

	if (rs_host_grow(settings, *nr, sizeof(**settings)) < 0)
		return -ENOMEM;
	last = &(*settings)[*nr];
	last->name = strdup(name);
	last->value = strdup(value);
	if (!last->name || !last->value) {
		free(last->name);
		free(last->value);
		return -ENOMEM;
	}
	(*nr)++;
	return 0;
}

int rs_host_unknown(struct rs_host_reader *reader, const char *what, const char *fmt, ...)
{
	char why[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return setting_add(&reader->host->unknown, &reader->host->nr_unknown, what, why);
}

int rs_host_tunable_add(struct rs_host_reader *reader, const char *name, const char *value)
{
	return setting_add(&reader->host->tunables, &reader->host->nr_tunables, name, value);
}

/*
 * Where nobody has mounted debugfs it is mounted without a place in the file tree: only this
 * process sees it, through the descriptor, and it is gone when that is closed. Return: the
 * descriptor; -errno.
 */
static int mount_debugfs_unseen(void)
{
	int fs = fsopen("debugfs", FSOPEN_CLOEXEC), fd;

	if (fs < 0)
		return -errno;
	fd = fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
	if (fd == 0)
		fd = fsmount(fs, FSMOUNT_CLOEXEC,
			     MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	if (fd < 0)
		fd = -errno;
	close(fs);
	return fd;
}

/* Return: a descriptor that has to stay open while debugfs is read, -1 for none. */
static int find_debugfs(struct rs_host_reader *reader)
{
	char path[PATH_MAX];
	struct stat st;
	int fd;

	if (snprintf(reader->debugfs, sizeof(reader->debugfs), "%s/sys/kernel/debug",
		     reader->root) >= (int)sizeof(reader->debugfs))
		errno = ENAMETOOLONG;
	else if (rs_access(reader->debugfs, X_OK) == 0)
		errno = 0;
	if (errno) {
		reader->debugfs_rc = -errno;
		reader->debugfs[0] = '\0';
		return -1;
	}
	snprintf(path, sizeof(path), "%s/sched", reader->debugfs);
	if (stat(path, &st) == 0 || !reader->live)
		return -1;
	fd = mount_debugfs_unseen();
	if (fd < 0) {
		reader->debugfs_rc = fd;
		reader->debugfs[0] = '\0';
		return -1;
	}
	snprintf(reader->debugfs, sizeof(reader->debugfs), "/proc/self/fd/%d", fd);
	return fd;
}

static void read_debug(struct rs_host_reader *reader)
{
	char path[PATH_MAX];
	size_t len;

	if (!reader->debugfs[0])
		return;
	snprintf(path, sizeof(path), "%s/sched/debug", reader->debugfs);
	if (rs_file_read_all(path, DEBUG_LIMIT, &reader->debug, &len) < 0)
		reader->debug = NULL;
}

int rs_host_read_at(const char *root, struct resched_host **ret, struct resched_error *err)
{
	struct rs_host_reader reader = { .root = root, .live = !*root };
	struct timespec now;
	int debugfs_fd, rc;

	reader.host = calloc(1, sizeof(*reader.host));
	if (!reader.host)
		return rs_error_nomem(err);
	debugfs_fd = find_debugfs(&reader);
	read_debug(&reader);
	rc = rs_host_read_kernel(&reader);
	if (rc == 0)
		rc = rs_host_read_topology(&reader);
	if (rc == 0)
		rc = rs_host_read_sched(&reader);
	clock_gettime(CLOCK_MONOTONIC, &now);
	reader.host->taken_ns =
		reader.live ? (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec : 0;
	if (rc == 0)
		rc = rs_host_read_tasks(&reader);
	if (rc == 0)
		rc = rs_host_read_cgroups(&reader);
	free(reader.debug);
	if (debugfs_fd >= 0)
		close(debugfs_fd);
	if (rc < 0) {
		resched_host_free(reader.host);
		return rs_error_nomem(err);
	}
	*ret = reader.host;
	return 0;
}

int resched_host_read(struct resched_host **ret, struct resched_error *err)
{
	return rs_host_read_at("", ret, err);
}
