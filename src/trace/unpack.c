// SPDX-License-Identifier: GPL-2.0-only
#include "trace/unpack.h"

#include <errno.h>
#include <limits.h>
#include <lzma.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/error.h"

#define IN_BYTES (128u << 10)
#define SPOOL_BYTES (256u << 10)
#define XZ_MEMORY (256ull << 20)

struct rs_unpack {
	const struct rs_input *in;
	enum rs_pack pack;
	uint64_t off;			/* next byte of the file */
	const uint8_t *at;		/* unread input */
	size_t have;
	bool input_ended, ended, at_boundary;
	const char *trouble;
	uint64_t total_in, total_out;
	z_stream z;
	lzma_stream xz;
	ZSTD_DStream *zstd;
	uint8_t buf[IN_BYTES];
};

static const char cut_off[] = "is cut off";
static const char damaged[] = "is damaged";

enum rs_pack rs_pack_of(const uint8_t *head, size_t len)
{
	if (len >= 3 && head[0] == 0x1f && head[1] == 0x8b && head[2] == 8)
		return RS_PACK_GZIP;
	if (len >= 6 && !memcmp(head, "\3757zXZ", 6))
		return RS_PACK_XZ;
	if (len >= 4 && !memcmp(head, "\x28\xb5\x2f\xfd", 4))
		return RS_PACK_ZSTD;
	return RS_PACK_NONE;
}

const char *rs_pack_name(enum rs_pack pack)
{
	static const char *const names[] = { "plain", "gzip", "xz", "zstd", "zlib" };

	return names[pack];
}

int rs_unpack_new(struct rs_unpack **ret, const struct rs_input *in, uint64_t off, enum rs_pack pack)
{
	struct rs_unpack *u = calloc(1, sizeof(*u));
	bool good = false;

	if (!u)
		return -ENOMEM;
	u->in = in;
	u->off = off;
	u->pack = pack;
	u->at_boundary = true;
	switch (pack) {
	case RS_PACK_GZIP:
		good = inflateInit2(&u->z, 15 + 16) == Z_OK;
		break;
	case RS_PACK_ZLIB:
		good = inflateInit(&u->z) == Z_OK;
		break;
	case RS_PACK_XZ:
		good = lzma_stream_decoder(&u->xz, XZ_MEMORY, LZMA_CONCATENATED) == LZMA_OK;
		break;
	case RS_PACK_ZSTD:
		u->zstd = ZSTD_createDStream();
		good = u->zstd != NULL;
		break;
	default:
		break;
	}
	if (!good) {
		rs_unpack_free(u);
		return -ENOMEM;
	}
	*ret = u;
	return 0;
}

void rs_unpack_free(struct rs_unpack *u)
{
	if (!u)
		return;
	if (u->pack == RS_PACK_GZIP || u->pack == RS_PACK_ZLIB)
		inflateEnd(&u->z);
	if (u->pack == RS_PACK_XZ)
		lzma_end(&u->xz);
	ZSTD_freeDStream(u->zstd);
	free(u);
}

static void refill(struct rs_unpack *u)
{
	if (u->have || u->input_ended)
		return;
	u->have = rs_input_read(u->in, u->off, u->buf, sizeof(u->buf));
	u->at = u->buf;
	u->off += u->have;
	u->total_in += u->have;
	u->input_ended = !u->have;
}

static void end_with(struct rs_unpack *u, const char *trouble)
{
	u->ended = true;
	u->trouble = trouble;
}

/* Another member may follow; what is no member is padding, as gzip(1) sees it. */
static void gzip_member_end(struct rs_unpack *u)
{
	refill(u);
	if (u->pack == RS_PACK_GZIP && u->have && u->at[0] == 0x1f)
		inflateReset(&u->z);
	else
		u->ended = true;
}

/* Each step consumes and produces something, or ends. Return: bytes written to @buf. */
static size_t step_zlib(struct rs_unpack *u, uint8_t *buf, size_t len)
{
	uInt room = len > UINT_MAX ? UINT_MAX : (uInt)len;
	int rc;

	u->z.next_in = (Bytef *)(uintptr_t)u->at;
	u->z.avail_in = (uInt)u->have;
	u->z.next_out = buf;
	u->z.avail_out = room;
	rc = inflate(&u->z, Z_NO_FLUSH);
	u->at = u->z.next_in;
	u->have = u->z.avail_in;
	if (rc == Z_STREAM_END)
		gzip_member_end(u);
	else if (rc == Z_BUF_ERROR && u->input_ended)
		end_with(u, cut_off);
	else if (rc != Z_OK && rc != Z_BUF_ERROR)
		end_with(u, damaged);
	return room - u->z.avail_out;
}

static size_t step_xz(struct rs_unpack *u, uint8_t *buf, size_t len)
{
	lzma_ret rc;

	u->xz.next_in = u->at;
	u->xz.avail_in = u->have;
	u->xz.next_out = buf;
	u->xz.avail_out = len;
	rc = lzma_code(&u->xz, u->input_ended ? LZMA_FINISH : LZMA_RUN);
	u->at = u->xz.next_in;
	u->have = u->xz.avail_in;
	if (rc == LZMA_STREAM_END)
		u->ended = true;
	else if (rc == LZMA_BUF_ERROR && u->input_ended)
		end_with(u, cut_off);
	else if (rc == LZMA_MEMLIMIT_ERROR)
		end_with(u, "needs more than 256 MiB of memory to unpack");
	else if (rc != LZMA_OK && rc != LZMA_BUF_ERROR)
		end_with(u, damaged);
	return len - u->xz.avail_out;
}

static size_t step_zstd(struct rs_unpack *u, uint8_t *buf, size_t len)
{
	ZSTD_inBuffer in = { u->at, u->have, 0 };
	ZSTD_outBuffer out = { buf, len, 0 };
	size_t rc;

	if (u->input_ended && u->at_boundary) {
		u->ended = true;
		return 0;
	}
	rc = ZSTD_decompressStream(u->zstd, &out, &in);
	u->at += in.pos;
	u->have -= in.pos;
	if (ZSTD_isError(rc))
		end_with(u, strstr(ZSTD_getErrorName(rc), "memory") ? "needs more than 128 MiB of memory to unpack" : damaged);
	else if (u->input_ended && !in.pos && !out.pos && rc)
		end_with(u, cut_off);
	else
		u->at_boundary = !rc;
	return out.pos;
}

static void check_limits(struct rs_unpack *u)
{
	if (u->total_out > RS_UNPACK_MAX_BYTES)
		end_with(u, "unpacks to more than 64 GiB");
	else if (u->total_out > RS_UNPACK_FREE_BYTES && u->total_out / RS_UNPACK_MAX_RATIO > u->total_in)
		end_with(u, "unpacks to more than 2000 times its size");
}

size_t rs_unpack_read(struct rs_unpack *u, void *buf, size_t len)
{
	uint8_t *out = buf;
	size_t done = 0;

	while (done < len && !u->ended) {
		size_t n;

		refill(u);
		if (u->pack == RS_PACK_XZ)
			n = step_xz(u, out + done, len - done);
		else if (u->pack == RS_PACK_ZSTD)
			n = step_zstd(u, out + done, len - done);
		else
			n = step_zlib(u, out + done, len - done);
		done += n;
		u->total_out += n;
		if (!u->ended)
			check_limits(u);
	}
	return done;
}

const char *rs_unpack_trouble(const struct rs_unpack *u)
{
	return u->trouble;
}

static int copy_out(struct rs_unpack *u, struct rs_input *to, uint8_t *buf, struct resched_error *err)
{
	size_t n;

	while ((n = rs_unpack_read(u, buf, SPOOL_BYTES)) > 0) {
		int rc = rs_input_spool_write(to, buf, n);

		if (rc < 0)
			return rs_error_set(err, RESCHED_FAILED, rc,
					    "cannot keep the unpacked file in a temporary one (set TMPDIR to a folder with room):");
	}
	if (u->total_out > RS_UNPACK_FREE_BYTES && u->trouble && strstr(u->trouble, "unpacks"))
		return rs_error_set(err, RESCHED_FAILED, -EFBIG, "the %s file %s: unpack it first if you trust it", rs_pack_name(u->pack), u->trouble);
	if (!u->total_out)
		return rs_error_set(err, RESCHED_DAMAGED, -EBADMSG, "the %s file %s; nothing of it can be unpacked", rs_pack_name(u->pack),
				    u->trouble ? u->trouble : "is empty");
	return 0;
}

int rs_unpack_spool(struct rs_input *in, enum rs_pack pack, struct rs_notes *notes, struct resched_error *err)
{
	struct rs_unpack *u = NULL;
	uint8_t *buf = malloc(SPOOL_BYTES);
	struct rs_input unpacked = { .fd = -1 };
	int rc;

	if (!buf || rs_unpack_new(&u, in, 0, pack) < 0) {
		rc = rs_error_nomem(err);
		goto out;
	}
	rs_input_spool(&unpacked);
	rc = copy_out(u, &unpacked, buf, err);
	if (rc < 0)
		goto out;
	if (u->trouble)
		rs_note_damage(notes, "the %s file %s after %llu unpacked bytes; what is before is used", rs_pack_name(pack), u->trouble,
			       (unsigned long long)u->total_out);
	rs_input_close(in);
	*in = unpacked;
	unpacked = (struct rs_input){ .fd = -1 };
out:
	rs_input_close(&unpacked);
	rs_unpack_free(u);
	free(buf);
	return rc;
}
