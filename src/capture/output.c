// SPDX-License-Identifier: GPL-2.0-only
#include "capture/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "capture/spool.h"

#define PUBLISH_TRIES 100

/*
 * A file that exists is opened, so that the kernel checks permissions and its rules about links in
 * shared folders; then the place it really is at is asked for. Return: 1 when it exists, 0 when
 * not, -errno.
 */
static int resolve_existing(struct rs_output *out, const char *path, struct resched_error *err)
{
	char proc[64], real[PATH_MAX];
	struct stat st;
	ssize_t len;
	int fd;

	if (stat(path, &st) < 0) {
		if (errno == ENOENT)
			return 0;
		return rs_error_set(err, RESCHED_FAILED, -errno, "cannot write '%s':", path);
	}
	if (S_ISDIR(st.st_mode))
		return rs_error_set(err, RESCHED_FAILED, -EISDIR,
				    "cannot write '%s': it is a directory; name a file with -o",
				    path);
	if (!S_ISREG(st.st_mode))
		return rs_error_set(err, RESCHED_FAILED, -EINVAL,
				    "cannot write '%s': it is not a regular file; name one with -o",
				    path);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return rs_error_set(err, RESCHED_FAILED, -errno, "cannot write '%s':", path);
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	len = readlink(proc, real, sizeof(real) - 1);
	close(fd);
	if (len > 0 && real[0] == '/')
		real[len] = '\0';
	else
		snprintf(real, sizeof(real), "%s", path);
	out->path = strdup(real);
	out->mode = st.st_mode & 0777;
	out->uid = st.st_uid;
	out->gid = st.st_gid;
	return out->path ? 1 : rs_error_nomem(err);
}

static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	if (slash == path)
		return strdup("/");
	return strndup(path, (size_t)(slash - path));
}

/* Where a nameless file cannot be had, or could not be named later, one that has a name of its own. Return: fd; -errno. */
static int open_nameless(struct rs_output *out)
{
	int fd = access("/proc/self/fd", X_OK) == 0 ? open(out->dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;

	if (fd >= 0)
		return fd;
	if (asprintf(&out->temp, "%s/.resched-XXXXXX", out->dir) < 0) {
		out->temp = NULL;
		return -ENOMEM;
	}
	fd = mkostemp(out->temp, O_CLOEXEC);
	if (fd < 0) {
		fd = -errno;
		free(out->temp);
		out->temp = NULL;
	}
	return fd;
}

int rs_output_open(struct rs_output *out, const char *path, struct resched_error *err)
{
	size_t len = strlen(path);
	int rc;

	*out = (struct rs_output){ .fd = -1, .mode = 0600, .uid = (uid_t)-1, .gid = (gid_t)-1 };
	if (!len || path[len - 1] == '/')
		return rs_error_set(err, RESCHED_FAILED, -EISDIR,
				    "cannot write '%s': it is a directory; name a file with -o",
				    path);
	rc = resolve_existing(out, path, err);
	if (rc < 0)
		goto fail;
	if (rc == 0)
		out->path = strdup(path);
	if (out->path)
		out->dir = folder_of(out->path);
	if (!out->path || !out->dir) {
		rc = rs_error_nomem(err);
		goto fail;
	}
	out->fd = open_nameless(out);
	if (out->fd < 0) {
		rc = rs_error_set(err, RESCHED_FAILED, out->fd,
				  "cannot write into the folder '%s' (%s); choose another with -o",
				  out->dir, strerror(-out->fd));
		goto fail;
	}
	return 0;
fail:
	rs_output_release(out);
	return rc;
}

/* Link the nameless file to a fresh name beside the wanted one. Return: 0; -errno. */
static int link_beside(struct rs_output *out, char *name, size_t size)
{
	char proc[64];
	int i;

	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", out->fd);
	for (i = 0; i < PUBLISH_TRIES; i++) {
		if (snprintf(name, size, "%s.%d-%d", out->path, (int)getpid(), i) >= (int)size)
			return -ENAMETOOLONG;
		if (linkat(AT_FDCWD, proc, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/* Where the file system cannot give a nameless file a name: copy it to one. */
static int copy_beside(struct rs_output *out, char *name, size_t size)
{
	loff_t in = 0;
	int fd, rc = 0;

	if (snprintf(name, size, "%s.%d-XXXXXX", out->path, (int)getpid()) >= (int)size)
		return -ENAMETOOLONG;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	for (;;) {
		char buf[65536];
		ssize_t n = pread(out->fd, buf, sizeof(buf), in), done = 0, w = 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			rc = n < 0 ? -errno : 0;
			break;
		}
		while (done < n && (w = write(fd, buf + done, (size_t)(n - done))) > 0)
			done += w;
		if (done < n) {
			rc = w < 0 ? -errno : -EIO;
			break;
		}
		in += n;
	}
	if (close(fd) < 0 && rc == 0)
		rc = -errno;
	if (rc < 0)
		unlink(name);
	return rc;
}

static void set_owner(struct rs_output *out)
{
	if (out->uid == (uid_t)-1)
		return;
	/* best effort: only root may give files away, and then it should */
	if (fchown(out->fd, out->uid, out->gid) < 0)
		out->mode &= 0700;
	(void)fchmod(out->fd, out->mode);
}

int rs_output_show(struct rs_output *out)
{
	char name[PATH_MAX];
	int rc = 0;

	set_owner(out);
	if (out->temp)
		snprintf(name, sizeof(name), "%s", out->temp);
	else
		rc = link_beside(out, name, sizeof(name));
	if (rc == 0 && rename(name, out->path) < 0) {
		rc = -errno;
		unlink(name);
	}
	if (rc == 0) {
		free(out->temp);
		out->temp = NULL;
	}
	return rc;
}

int rs_output_publish(struct rs_output *out, struct resched_error *err)
{
	char name[PATH_MAX];
	int rc = rs_output_show(out);

	if (rc == -ENOENT || rc == -EPERM || rc == -EOPNOTSUPP) {
		rc = copy_beside(out, name, sizeof(name));
		if (rc == 0 && rename(name, out->path) < 0) {
			rc = -errno;
			unlink(name);
		}
	}
	if (rc < 0)
		return rs_error_set(err, RESCHED_FAILED, rc, "cannot create '%s':", out->path);
	return 0;
}

int rs_output_settle(struct rs_output *out, struct resched_error *err)
{
	struct stat st;

	if (fstat(out->fd, &st) == 0 && st.st_nlink && !out->temp)
		return 0;
	return rs_output_publish(out, err);
}

void rs_output_replace(struct rs_output *out, int fd)
{
	close(out->fd);
	out->fd = fd;
}

void rs_output_release(struct rs_output *out)
{
	if (out->fd >= 0)
		close(out->fd);
	if (out->temp)
		unlink(out->temp);
	free(out->temp);
	free(out->path);
	free(out->dir);
	*out = (struct rs_output){ .fd = -1 };
}
