// SPDX-License-Identifier: GPL-2.0-only
#include "trace/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

#define SPOOL_LEAST 65536u

/* A file without a name in $TMPDIR: it goes away however we end. Return: its descriptor; -1. */
static int temporary_file(void)
{
	const char *dir = getenv("TMPDIR");
	char path[4096];
	int fd;

	if (!dir || !*dir)
		dir = "/tmp";
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	if (snprintf(path, sizeof(path), "%s/resched-XXXXXX", dir) >= (int)sizeof(path))
		return -1;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

void rs_input_spool(struct rs_input *ret)
{
	*ret = (struct rs_input){ .fd = temporary_file() };
}

static int keep_in_memory(struct rs_input *spool, const void *from, size_t len)
{
	size_t need = (size_t)spool->size + len;

	if (need > spool->room) {
		size_t room = need < SPOOL_LEAST ? SPOOL_LEAST : need + need / 2;
		uint8_t *mem = realloc(spool->mem, room);

		if (!mem) {	/* what is needed may yet be had */
			room = need;
			mem = realloc(spool->mem, room);
		}
		if (!mem)
			return -ENOMEM;
		spool->mem = mem;
		spool->room = room;
	}
	memcpy(spool->mem + spool->size, from, len);
	spool->size = need;
	return 0;
}

int rs_input_spool_write(struct rs_input *spool, const void *from, size_t len)
{
	const char *buf = from;

	if (spool->fd < 0)
		return len ? keep_in_memory(spool, from, len) : 0;
	while (len) {
		ssize_t n = write(spool->fd, buf, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		buf += n;
		len -= (size_t)n;
		spool->size += (uint64_t)n;
	}
	return 0;
}

/* Copy a stream and put the copy in its place. */
static int spool(struct rs_input *in, const char *name, struct resched_error *err)
{
	struct rs_input copy;
	char buf[65536];
	ssize_t n;
	int rc;

	rs_input_spool(&copy);
	for (;;) {
		n = read(in->fd, buf, sizeof(buf));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		rc = rs_input_spool_write(&copy, buf, (size_t)n);
		if (rc < 0) {
			rs_input_close(&copy);
			return rs_error_set(err, RESCHED_FAILED, rc, "cannot keep %s in a temporary file (set TMPDIR to a folder with room):", name);
		}
	}
	if (n < 0) {
		rc = -errno;
		rs_input_close(&copy);
		return rs_error_set(err, RESCHED_FAILED, rc, "cannot read %s:", name);
	}
	close(in->fd);
	*in = copy;
	return 0;
}

static int open_fd(const char *path, bool is_stdin)
{
	int fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? -errno : fd;
}

/* "resched report - < FILE" is the file itself, unless somebody has read from it. */
static bool is_whole_file(int fd, const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_size && lseek(fd, 0, SEEK_CUR) == 0;
}

int rs_input_open(struct rs_input *in, const char *path, struct resched_error *err)
{
	bool is_stdin = !strcmp(path, "-");
	const char *name = is_stdin ? "standard input" : path;
	struct stat st;
	int rc;

	*in = (struct rs_input){ .fd = open_fd(path, is_stdin) };
	if (in->fd < 0)
		return rs_error_set(err, in->fd == -EACCES || in->fd == -EPERM ? RESCHED_DENIED : RESCHED_FAILED, in->fd,
				    "cannot open '%s':", name);
	if (fstat(in->fd, &st) < 0) {
		rc = rs_error_set(err, RESCHED_FAILED, -errno, "cannot stat '%s':", name);
		goto fail;
	}
	if (S_ISDIR(st.st_mode)) {
		rc = rs_error_set(err, RESCHED_FAILED, -EISDIR, "'%s' is a directory, not a recording; name the file in it", name);
		goto fail;
	}
	if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)) {	/* may never end */
		rc = rs_error_set(err, RESCHED_FAILED, -EINVAL, "'%s' is a device, not a recording; name a file or a pipe", name);
		goto fail;
	}
	if ((is_stdin && !is_whole_file(in->fd, &st)) || !S_ISREG(st.st_mode) || !st.st_size) {	/* files of tracefs have no size */
		rc = spool(in, name, err);
		if (rc < 0)
			goto fail;
	} else {
		in->size = (uint64_t)st.st_size;
	}
	if (!in->size) {
		rc = rs_error_set(err, RESCHED_FAILED, -ENODATA, "'%s' is empty; the recording was not written", name);
		goto fail;
	}
	return 0;
fail:
	rs_input_close(in);
	return rc;
}

void rs_input_close(struct rs_input *in)
{
	if (in->fd >= 0)
		close(in->fd);
	in->fd = -1;
	free(in->mem);
	in->mem = NULL;
}

size_t rs_input_read(const struct rs_input *in, uint64_t off, void *buf, size_t len)
{
	size_t done = 0;

	if (in->mem) {
		done = off >= in->size ? 0 : len < in->size - off ? len : (size_t)(in->size - off);
		memcpy(buf, in->mem + (done ? off : 0), done);
		return done;
	}
	while (done < len) {
		ssize_t n;

		if (off + done > INT64_MAX)
			break;
		n = pread(in->fd, (char *)buf + done, len - done, (off_t)(off + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

void rs_cursor_file(struct rs_cursor *c, const struct rs_input *in, uint64_t pos, uint64_t end, bool swap)
{
	c->in = in;
	c->mem = c->window;
	c->base = pos;
	c->held = 0;
	c->pos = pos;
	c->end = end < in->size ? end : in->size;
	c->swap = swap;
	c->bad = pos > c->end;
	c->no_memory = false;
}

void rs_cursor_memory(struct rs_cursor *c, const void *mem, size_t len, bool swap)
{
	c->in = NULL;
	c->mem = mem;
	c->base = 0;
	c->held = len;
	c->pos = 0;
	c->end = len;
	c->swap = swap;
	c->bad = false;
	c->no_memory = false;
}

int rs_cursor_error(const struct rs_cursor *c)
{
	return c->no_memory ? -ENOMEM : -EBADMSG;
}

/* Make at least one byte at pos available. Return: how many are, 0 at the end. */
static size_t cursor_fill(struct rs_cursor *c)
{
	uint64_t want;

	if (c->pos >= c->base && c->pos < c->base + c->held)
		return (size_t)(c->base + c->held - c->pos);
	if (!c->in || c->pos >= c->end)
		return 0;
	want = c->end - c->pos;
	c->base = c->pos;
	c->held = rs_input_read(c->in, c->pos, c->window, want < sizeof(c->window) ? (size_t)want : sizeof(c->window));
	return c->held;
}

void rs_cursor_bytes(struct rs_cursor *c, void *ret, size_t len)
{
	uint8_t *out = ret;

	if (len > rs_cursor_left(c))
		c->bad = true;
	while (len && !c->bad) {
		size_t have = cursor_fill(c);
		size_t n = have < len ? have : len;

		if (!n) {
			c->bad = true;
			break;
		}
		memcpy(out, c->mem + (c->pos - c->base), n);
		c->pos += n;
		out += n;
		len -= n;
	}
	memset(out, 0, len);
}

void rs_cursor_skip(struct rs_cursor *c, uint64_t len)
{
	if (len > rs_cursor_left(c))
		c->bad = true;
	else
		c->pos += len;
}

uint16_t rs_cursor_u16(struct rs_cursor *c)
{
	uint8_t b[2];

	rs_cursor_bytes(c, b, sizeof(b));
	return rs_load_u16(b, c->swap);
}

uint32_t rs_cursor_u32(struct rs_cursor *c)
{
	uint8_t b[4];

	rs_cursor_bytes(c, b, sizeof(b));
	return rs_load_u32(b, c->swap);
}

uint64_t rs_cursor_u64(struct rs_cursor *c)
{
	uint8_t b[8];

	rs_cursor_bytes(c, b, sizeof(b));
	return rs_load_u64(b, c->swap);
}

void rs_cursor_string(struct rs_cursor *c, char *ret, size_t size)
{
	size_t n = 0;

	ret[0] = '\0';
	while (!c->bad) {
		rs_cursor_bytes(c, &ret[n], 1);
		if (!ret[n])
			return;
		if (++n == size)
			c->bad = true;
	}
	ret[n < size ? n : size - 1] = '\0';
}

char *rs_cursor_text(struct rs_cursor *c, uint64_t len)
{
	char *text;

	if (len > rs_cursor_left(c) || len > RS_INPUT_MAX_TEXT) {
		c->bad = true;
		return NULL;
	}
	text = malloc((size_t)len + 1);
	if (!text) {
		c->bad = c->no_memory = true;
		return NULL;
	}
	rs_cursor_bytes(c, text, (size_t)len);
	text[len] = '\0';
	if (c->bad) {
		free(text);
		return NULL;
	}
	return text;
}
