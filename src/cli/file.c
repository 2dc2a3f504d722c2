// SPDX-License-Identifier: GPL-2.0-only
/* Files that appear whole or not at all. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int cannot(struct resched_error *err, int rc, const char *path)
{
	err->kind = RESCHED_FAILED;
	snprintf(err->text, sizeof(err->text), "cannot write '%.300s': %s%s", path, strerror(-rc),
		 rc == -EISDIR ? "; name a file with -o" : rc == -ENOSPC ? "; make room, or write elsewhere" : "");
	return rc;
}

static char *beside(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *text;

	if (asprintf(&text, "%.*s.resched-XXXXXX", slash ? (int)(slash - path + 1) : 0, path) < 0)
		return NULL;
	return text;
}

/* A nameless file in the folder of @path where the file system can, else one with a name that is removed on failure. */
static int open_temporary(struct cli_file *file, const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];
	int fd;

	if (slash && slash - path >= (ptrdiff_t)sizeof(folder))
		return -ENAMETOOLONG;
	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
	file->temporary = beside(path);
	if (!file->temporary)
		return -ENOMEM;
	fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	file->nameless = fd >= 0;
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
		fd = mkostemp(file->temporary, O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int cli_file_open(const char *path, struct cli_file *file, struct resched_error *err)
{
	struct stat st;
	int fd;

	*file = (struct cli_file){ .stream = stdout, .path = path };
	if (!path || !strcmp(path, "-")) {
		file->path = NULL;
		return 0;
	}
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return cannot(err, -EISDIR, path);
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		fd = open(path, O_WRONLY | O_CLOEXEC);
	else if (access(path, F_OK) == 0 && access(path, W_OK) < 0)
		fd = -1;
	else
		fd = open_temporary(file, path);
	if (fd < 0) {
		int rc = fd == -1 ? -errno : fd;

		free(file->temporary);
		file->temporary = NULL;
		return cannot(err, rc, path);
	}
	file->stream = fdopen(fd, "w");
	if (!file->stream) {
		close(fd);
		cli_file_close(file, false, err);
		return cannot(err, -ENOMEM, path);
	}
	return 0;
}

/* The mode of the file it replaces, or what a new one would have. */
static void set_mode(int fd, const char *path)
{
	mode_t mask = umask(0);
	struct stat st;

	umask(mask);
	if (stat(path, &st) == 0)
		mask = 0666 & ~st.st_mode;
	(void)fchmod(fd, 0666 & ~mask);
}

/* Give a nameless file the temporary name. */
static int give_name(struct cli_file *file)
{
	size_t len = strlen(file->temporary);
	char proc[64];

	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fileno(file->stream));
	for (unsigned int i = 0; i < 100; i++) {
		snprintf(file->temporary + len - 6, 7, "%05d", (int)((unsigned int)getpid() * 101u + i) % 100000);
		if (linkat(AT_FDCWD, proc, AT_FDCWD, file->temporary, AT_SYMLINK_FOLLOW) == 0) {
			file->nameless = false;
			return 0;
		}
		if (errno != EEXIST)
			break;
	}
	return -errno;
}

int cli_file_close(struct cli_file *file, bool keep, struct resched_error *err)
{
	int rc = 0;

	if (!file->path || !file->temporary) {
		if (file->path && file->stream != stdout && fclose(file->stream) != 0 && keep)
			rc = cannot(err, -errno, file->path);
		else if (!file->path && fflush(stdout) != 0 && keep)
			rc = errno == EPIPE ? -EPIPE : cannot(err, -errno, "standard output");
		return rc;
	}
	if (keep) {
		set_mode(fileno(file->stream), file->path);
		if (fflush(file->stream) != 0)
			rc = -errno;
		if (rc == 0 && file->nameless)
			rc = give_name(file);
	}
	if (file->stream != stdout && fclose(file->stream) != 0 && rc == 0 && keep)
		rc = -errno;
	if (keep && rc == 0 && rename(file->temporary, file->path) < 0)
		rc = -errno;
	if ((rc < 0 || !keep) && !file->nameless)
		unlink(file->temporary);
	free(file->temporary);
	file->temporary = NULL;
	return rc < 0 ? cannot(err, rc, file->path) : 0;
}
