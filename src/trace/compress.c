// SPDX-License-Identifier: GPL-2.0-only
#include "trace/compress.h"

#include <errno.h>
#include <string.h>

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum rs_codec rs_codec_by_name(const char *name)
{
	if (!*name || !strcmp(name, "none"))
		return RS_CODEC_NONE;
	if (!strcmp(name, "zstd"))
		return RS_CODEC_ZSTD;
	if (!strcmp(name, "zlib"))
		return RS_CODEC_ZLIB;
	return RS_CODEC_UNKNOWN;
}

int rs_codec_expand(enum rs_codec codec, const void *from, size_t len, void *to, size_t size)
{
	uLongf got = (uLongf)size;
	size_t done;
	int rc;

	switch (codec) {
	case RS_CODEC_ZSTD:
		done = ZSTD_decompress(to, size, from, len);
		if (ZSTD_isError(done) && ZSTD_getErrorCode(done) == ZSTD_error_memory_allocation)
			return -ENOMEM;
		return done == size ? 0 : -EBADMSG;
	case RS_CODEC_ZLIB:
		rc = uncompress(to, &got, from, (uLong)len);
		if (rc == Z_MEM_ERROR)
			return -ENOMEM;
		return rc == Z_OK && got == size ? 0 : -EBADMSG;
	default:
		return -EBADMSG;
	}
}
