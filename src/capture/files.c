// SPDX-License-Identifier: GPL-2.0-only
#include "capture/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Fill @buf as far as the file and @size go. Return: bytes; -errno. */
static ssize_t read_full(int fd, char *buf, size_t size)
{
	size_t len = 0;

	while (len < size) {
		ssize_t n = read(fd, buf + len, size - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	return (ssize_t)len;
}

int rs_file_read(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return -errno;
	len = read_full(fd, buf, size - 1);
	close(fd);
	if (len < 0)
		return (int)len;
	while (len && buf[len - 1] == '\n')
		len--;
	buf[len] = '\0';
	return (int)len;
}

int rs_file_read_all(const char *path, size_t limit, char **ret, size_t *ret_len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t size = 16384, len = 0;
	char *buf = NULL;
	int rc = 0;

	if (fd < 0)
		return -errno;
	for (;;) {
		char *grown = realloc(buf, size + 1);
		ssize_t n;

		if (!grown) {
			rc = -ENOMEM;
			break;
		}
		buf = grown;
		n = read_full(fd, buf + len, size - len);
		if (n < 0) {
			rc = (int)n;
			break;
		}
		len += (size_t)n;
		if (len > limit)
			rc = -EFBIG;
		if (rc < 0 || len < size)
			break;
		size *= 2;
	}
	close(fd);
	if (rc < 0) {
		free(buf);
		return rc;
	}
	buf[len] = '\0';
	*ret = buf;
	*ret_len = len;
	return 0;
}

static int write_once(const char *path, const char *text, int flags)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | flags);
	ssize_t n;
	int rc;

	if (fd < 0)
		return -errno;
	do {
		n = write(fd, text, strlen(text));
	} while (n < 0 && errno == EINTR);
	rc = n < 0 ? -errno : 0;
	/* tracefs reports some refusals only when the file is closed */
	if (close(fd) < 0 && rc == 0)
		rc = -errno;
	return rc;
}

int rs_file_write(const char *path, const char *text)
{
	return write_once(path, text, O_TRUNC);
}

int rs_file_append(const char *path, const char *text)
{
	return write_once(path, text, O_APPEND);
}

int rs_write_at(int fd, const void *data, size_t len, uint64_t at)
{
	const char *from = data;

	while (len) {
		ssize_t n = pwrite(fd, from, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		from += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int rs_read_at(int fd, void *data, size_t len, uint64_t at)
{
	char *to = data;

	while (len) {
		ssize_t n = pread(fd, to, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		to += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int rs_access(const char *path, int mode)
{
	return faccessat(AT_FDCWD, path, mode, AT_EACCESS);
}
