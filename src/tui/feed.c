// SPDX-License-Identifier: GPL-2.0-only
#include "tui/feed.h"

#include <errno.h>
#include <json-c/json.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define LINE_MOST 4096u		/* bytes of an answer */
#define WAIT_MS 100		/* between two looks at whether it is still wanted */
#define PATIENCE 300		/* such waits for one answer */
#define PART_MOST (1ull << 30)	/* bytes of a recording that are taken */

static int tell(struct resched_error *err, int rc, const char *what)
{
	err->kind = rc == -EACCES || rc == -EPERM ? RESCHED_DENIED : RESCHED_FAILED;
	snprintf(err->text, sizeof(err->text), "reschedd: %s: %s", what, strerror(-rc));
	return rc;
}

int feed_open(const char *path, struct feed *ret, struct resched_error *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, rc;

	if (strlen(path) >= sizeof(address.sun_path))
		return tell(err, -ENAMETOOLONG, path);
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return tell(err, -errno, path);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		rc = -errno;
		close(fd);
		return tell(err, rc, path);
	}
	*ret = (struct feed){ .fd = fd };
	return 0;
}

void feed_close(struct feed *feed)
{
	if (feed->fd >= 0)
		close(feed->fd);
	feed->fd = -1;
}

static int send_all(int fd, const char *text, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t n = send(fd, text + at, len - at, MSG_NOSIGNAL);

		if (n < 0 && errno == EPIPE)
			return 0;	/* it has said why: that is read next */
		if (n < 0 && errno != EINTR)
			return -errno;
		at += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* What comes next, and the file that may come with it. Return: bytes; -errno. */
static ssize_t receive(int fd, char *buf, size_t size, int *file)
{
	union { struct cmsghdr head; char room[CMSG_SPACE(sizeof(int))]; } control = { 0 };
	struct iovec part = { buf, size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control.room) };
	ssize_t n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	struct cmsghdr *head = n >= 0 ? CMSG_FIRSTHDR(&message) : NULL;

	if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof(int))) {
		if (*file >= 0)
			close(*file);
		memcpy(file, CMSG_DATA(head), sizeof(*file));
	}
	return n < 0 ? -errno : n;
}

/* A line that answers; requests go out one at a time, so nothing comes behind it. */
static int receive_line(int fd, char *line, size_t size, int *file, const _Atomic bool *cancel)
{
	size_t len = 0;

	for (unsigned int waits = 0; len + 1 < size;) {
		struct pollfd in = { .fd = fd, .events = POLLIN };
		int rc = poll(&in, 1, WAIT_MS);
		ssize_t n;

		if (atomic_load(cancel))
			return -ECANCELED;
		if (rc < 0 && errno != EINTR)
			return -errno;
		if (rc <= 0) {
			if (++waits > PATIENCE)
				return -ETIMEDOUT;
			continue;
		}
		n = receive(fd, line + len, size - len - 1, file);
		if (n <= 0)
			return n < 0 ? (int)n : -EPIPE;
		len += (size_t)n;
		if (line[len - 1] == '\n') {
			line[len] = '\0';
			return 0;
		}
	}
	return -EMSGSIZE;
}

static struct json_object *member(struct json_object *from, const char *name)
{
	struct json_object *value;

	return json_object_is_type(from, json_type_object) && json_object_object_get_ex(from, name, &value) ? value : NULL;
}

static int understand(const char *line, struct feed_part *ret, struct resched_error *err)
{
	struct json_object *answer = json_tokener_parse(line), *error = member(answer, "error");
	int rc = 0;

	if (!json_object_get_boolean(member(answer, "ok"))) {
		bool denied = error && json_object_is_type(member(error, "code"), json_type_string) &&
			      !strcmp(json_object_get_string(member(error, "code")), "denied");

		err->kind = denied ? RESCHED_DENIED : RESCHED_FAILED;
		snprintf(err->text, sizeof(err->text), "reschedd: %s", error && json_object_is_type(member(error, "text"), json_type_string) ?
			 json_object_get_string(member(error, "text")) : "its answer cannot be read; is it of another version?");
		rc = -EREMOTEIO;
	} else {
		ret->from_ns = json_object_get_uint64(member(answer, "from_ns"));
		ret->to_ns = json_object_get_uint64(member(answer, "to_ns"));
		ret->cut_short = json_object_get_boolean(member(answer, "cut_short"));
	}
	json_object_put(answer);
	return rc;
}

int feed_copy(int from, int to)
{
	char buf[65536];
	uint64_t all = 0;
	ssize_t n;

	while ((n = pread(from, buf, sizeof(buf), (off_t)all)) > 0) {
		for (ssize_t at = 0; at < n;) {
			ssize_t done = write(to, buf + at, (size_t)(n - at));

			if (done < 0 && errno != EINTR)
				return -errno;
			at += done > 0 ? done : 0;
		}
		all += (uint64_t)n;
		if (all > PART_MOST)
			return -EFBIG;
	}
	return n < 0 ? -errno : 0;
}

/* Our own: what the daemon opened may be read, but not opened again by its place, without its owner's rights. */
static int own_copy(int file)
{
	int copy = memfd_create("resched-recent", MFD_CLOEXEC), rc;

	if (copy < 0)
		return -errno;
	rc = feed_copy(file, copy);
	if (rc < 0)
		close(copy);
	return rc < 0 ? rc : copy;
}

int feed_next(struct feed *feed, uint64_t from_ns, uint64_t last_ns, const _Atomic bool *cancel, struct feed_part *ret, struct resched_error *err)
{
	char line[LINE_MOST];
	int file = -1, rc, len;

	len = snprintf(line, sizeof(line), "{\"v\":1,\"id\":%llu,\"op\":\"recent\",\"%s\":%llu}\n", (unsigned long long)++feed->asked,
		       from_ns ? "from_ns" : "last_ns", (unsigned long long)(from_ns ? from_ns : last_ns));
	rc = send_all(feed->fd, line, (size_t)len);
	if (rc == 0)
		rc = receive_line(feed->fd, line, sizeof(line), &file, cancel);
	if (rc < 0)
		tell(err, rc, "no answer");
	else
		rc = understand(line, ret, err);
	if (rc == 0) {
		rc = file < 0 ? -EPROTO : own_copy(file);
		if (rc < 0)
			tell(err, rc, "its recording cannot be read");
		ret->fd = rc;
	}
	if (file >= 0)
		close(file);
	return rc < 0 ? rc : 0;
}
