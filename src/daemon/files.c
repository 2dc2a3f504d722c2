// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

int file_replace(const char *path, const char *text, size_t len, unsigned int mode)
{
	char beside[STORE_PATH + 8];
	int fd, rc;

	snprintf(beside, sizeof(beside), "%s.new", path);
	unlink(beside);	/* of one who died; and never through a link that somebody put there */
	fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0)
		return -errno;
	rc = write_all(fd, text, len);
	if (rc == 0 && (fchmod(fd, mode) < 0 || fsync(fd) < 0))
		rc = -errno;
	if (close(fd) < 0 && rc == 0)
		rc = -errno;
	if (rc == 0 && rename(beside, path) < 0)
		rc = -errno;
	if (rc < 0)
		unlink(beside);
	return rc;
}

int file_read(const char *path, size_t most, char **ret, size_t *ret_len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), rc = 0;
	size_t len = 0, size = 4096;
	char *text = NULL;

	if (fd < 0)
		return -errno;
	for (;;) {
		char *more = realloc(text, size + 1);
		ssize_t n;

		if (!more) {
			rc = -ENOMEM;
			break;
		}
		text = more;
		n = read(fd, text + len, size - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			rc = n < 0 ? -errno : 0;
			break;
		}
		len += (size_t)n;
		if (len > most) {
			rc = -EFBIG;
			break;
		}
		if (len == size)
			size *= 2;
	}
	close(fd);
	if (rc < 0) {
		free(text);
		return rc;
	}
	text[len] = '\0';
	*ret = text;
	*ret_len = len;
	return 0;
}
