/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Transparent decompression of whole files: gzip (several members), xz (several streams), zstd (several frames) and bare
 * zlib. Streams; memory is bounded by the decoders' windows. What a cut or damaged file still holds is delivered, and
 * what a small file may expand to is limited.
 */
#ifndef RS_TRACE_UNPACK_H
#define RS_TRACE_UNPACK_H

#include <stddef.h>
#include <stdint.h>
#include <resched/error.h>

#include "trace/input.h"
#include "trace/notes.h"

#define RS_UNPACK_MAX_BYTES (64ull << 30)	/* largest unpacked size */
#define RS_UNPACK_MAX_RATIO 2000u		/* largest expansion of what unpacks to more than RS_UNPACK_FREE_BYTES */
#define RS_UNPACK_FREE_BYTES (1ull << 30)

enum rs_pack { RS_PACK_NONE, RS_PACK_GZIP, RS_PACK_XZ, RS_PACK_ZSTD, RS_PACK_ZLIB };

/* rs_pack_of() - by the first bytes of a file; ZLIB is never guessed. */
enum rs_pack rs_pack_of(const uint8_t *head, size_t len);
const char *rs_pack_name(enum rs_pack pack);	/* "gzip" */

struct rs_unpack;

/* rs_unpack_new() - unpack @in (borrowed) from @off on. Return: 0; -ENOMEM. */
int rs_unpack_new(struct rs_unpack **ret, const struct rs_input *in, uint64_t off, enum rs_pack pack);
void rs_unpack_free(struct rs_unpack *u);

/* rs_unpack_read() - the next bytes. Return: their number, short only at the end or when rs_unpack_trouble(). */
size_t rs_unpack_read(struct rs_unpack *u, void *buf, size_t len);

/* rs_unpack_trouble() - why it ended before it should ("is cut off"); NULL when all is well. */
const char *rs_unpack_trouble(const struct rs_unpack *u);

/*
 * rs_unpack_spool() - put an unpacked copy, an unlinked temporary file, in the place of @in. A file that is cut or damaged
 * gives what it holds and a note. Return: 0; -errno; -EFBIG over a limit; -EBADMSG when nothing can be unpacked.
 */
int rs_unpack_spool(struct rs_input *in, enum rs_pack pack, struct rs_notes *notes, struct resched_error *err);

#endif
