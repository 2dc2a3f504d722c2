/* SPDX-License-Identifier: GPL-2.0-only */
/* Decompression of the pieces of a trace.dat version 7. */
#ifndef RS_TRACE_COMPRESS_H
#define RS_TRACE_COMPRESS_H

#include <stddef.h>
#include <stdint.h>

enum rs_codec { RS_CODEC_NONE, RS_CODEC_ZSTD, RS_CODEC_ZLIB, RS_CODEC_UNKNOWN };

enum rs_codec rs_codec_by_name(const char *name);

/* rs_codec_expand() - @len bytes at @from into exactly @size bytes at @to. Return: 0; -EBADMSG: they do not expand to that; -ENOMEM. */
int rs_codec_expand(enum rs_codec codec, const void *from, size_t len, void *to, size_t size);

#endif
