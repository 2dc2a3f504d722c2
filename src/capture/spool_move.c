// SPDX-License-Identifier: GPL-2.0-only
/* From the spools into the file: copied by the kernel, or compressed chunk by chunk. */
#include "capture/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/files.h"
#include "capture/pack.h"
#include "capture/page_count.h"

#define COPY_BYTES	(4u << 20)	/* pages that exist twice while a spool is copied */
#define COPY_SMALL_BYTES (64u << 10)	/* the same on a full disk */

/* Give the space of moved pages back. Where holes are not supported the spool simply stays until it
 * is closed. */
static void punch(int fd, uint64_t from, uint64_t len)
{
	if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)len) < 0)
		return;
}

/* Take back what was written of a piece that does not fit. */
static void cut(int fd, uint64_t end)
{
	if (ftruncate(fd, (off_t)end) < 0)
		return;		/* the bytes stay behind the end of what is described: harmless */
}

static int count_in_file(int fd, uint64_t from, size_t len, uint32_t page_bytes, uint64_t *events)
{
	char *pages = malloc(len);
	int64_t count;
	int rc;

	if (!pages)
		return -ENOMEM;
	rc = rs_read_at(fd, pages, len, from);
	count = rc == 0 ? rs_page_count(pages, len, page_bytes) : rc;
	free(pages);
	if (count < 0)
		return (int)count;
	*events += (uint64_t)count;
	return 0;
}

/* Copy by hand, for kernels and file systems without copy_file_range(). */
static int copy_by_hand(int from, uint64_t from_at, int to, uint64_t to_at, size_t len)
{
	char *buf = malloc(COPY_SMALL_BYTES);
	int rc = buf ? 0 : -ENOMEM;

	while (len && rc == 0) {
		size_t step = len < COPY_SMALL_BYTES ? len : COPY_SMALL_BYTES;

		rc = rs_read_at(from, buf, step, from_at);
		if (rc == 0)
			rc = rs_write_at(to, buf, step, to_at);
		from_at += step;
		to_at += step;
		len -= step;
	}
	free(buf);
	return rc;
}

static int copy_piece(int from, uint64_t from_at, int to, uint64_t to_at, size_t len)
{
	loff_t in = (loff_t)from_at, out = (loff_t)to_at;

	while (len) {
		ssize_t n = copy_file_range(from, &in, to, &out, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EIO))
			return -errno;
		if (n <= 0)
			return copy_by_hand(from, (uint64_t)in, to, (uint64_t)out, len);
		len -= (size_t)n;
	}
	return 0;
}

static int move_plain(const struct rs_spool_cpu *cpu, uint32_t page_bytes, int out_fd,
		      uint64_t offset, bool count, struct rs_spool_moved *ret)
{
	size_t piece = COPY_BYTES;

	while (ret->raw_bytes < cpu->bytes) {
		uint64_t done = ret->raw_bytes, left = cpu->bytes - done;
		size_t len = left < piece ? (size_t)left : piece;
		int rc = copy_piece(cpu->fd, done, out_fd, offset + done, len);

		if (rc < 0)
			cut(out_fd, offset + done);
		if (rc == -ENOSPC && piece > COPY_SMALL_BYTES) {
			piece = COPY_SMALL_BYTES;	/* the last bit of room, in small steps */
			continue;
		}
		if (rc == 0 && count)
			rc = count_in_file(cpu->fd, done, len, page_bytes, &ret->events);
		if (rc < 0)
			return rc;
		punch(cpu->fd, done, len);
		ret->raw_bytes = ret->bytes = done + len;
		ret->end = offset + ret->bytes;
	}
	return 0;
}

static int move_chunk(struct rs_packer *packer, const struct rs_spool_cpu *cpu, size_t len, int out_fd,
		      int64_t *ret_bytes, struct rs_spool_moved *ret)
{
	int rc = rs_read_at(cpu->fd, packer->pages, len, ret->raw_bytes);

	if (rc < 0)
		return rc;
	*ret_bytes = rs_packer_pack(packer, len);
	if (*ret_bytes < 0)
		return (int)*ret_bytes;
	rc = rs_write_at(out_fd, packer->packed, (size_t)*ret_bytes, ret->end);
	if (rc < 0)
		cut(out_fd, ret->end);
	return rc;
}

/* The number of chunks stands before them and is not part of the data's size. */
static int move_packed(const struct rs_spool_cpu *cpu, uint32_t page_bytes, int out_fd,
		       uint64_t offset, bool count, struct rs_spool_moved *ret)
{
	struct rs_packer packer = { 0 };
	uint32_t chunks = 0;
	int rc = rs_packer_init(&packer);

	if (rc == 0)
		rc = rs_write_at(out_fd, &chunks, sizeof(chunks), offset);
	if (rc == 0)
		ret->end = offset + sizeof(chunks);
	while (rc == 0 && ret->raw_bytes < cpu->bytes) {
		uint64_t left = cpu->bytes - ret->raw_bytes;
		size_t len = left < RS_PACK_CHUNK ? (size_t)left : RS_PACK_CHUNK;
		int64_t bytes, events = 0;

		rc = move_chunk(&packer, cpu, len, out_fd, &bytes, ret);
		if (rc < 0)
			break;
		if (count)
			events = rs_page_count(packer.pages, len, page_bytes);
		ret->events += events > 0 ? (uint64_t)events : 0;
		punch(cpu->fd, ret->raw_bytes, len);
		ret->raw_bytes += len;
		ret->bytes += (uint64_t)bytes;
		ret->end += (uint64_t)bytes;
		chunks++;
	}
	if (chunks && rs_write_at(out_fd, &chunks, sizeof(chunks), offset) < 0) {
		/* a chunk nobody knows of does not exist */
		*ret = (struct rs_spool_moved){ .end = offset };
		rc = rc < 0 ? rc : -EIO;
	}
	rs_packer_release(&packer);
	return rc;
}

int rs_spool_move(struct rs_spool *spool, unsigned int idx, int out_fd, uint64_t offset,
		  bool compress, bool count, struct rs_spool_moved *ret)
{
	struct rs_spool_cpu *cpu = &spool->cpus[idx];
	int rc = 0;

	*ret = (struct rs_spool_moved){ .end = offset };
	if (cpu->bytes)
		rc = (compress ? move_packed : move_plain)(cpu, spool->page_bytes, out_fd, offset,
							   count, ret);
	if (cpu->fd >= 0)
		close(cpu->fd);
	cpu->fd = -1;
	return rc;
}
