/* SPDX-License-Identifier: GPL-2.0-only */
/* Compressed chunks of a trace.dat of version 7: u32 packed size, u32 size, data. A cpu's chunks stand behind their number, a u32. */
#ifndef RS_CAPTURE_PACK_H
#define RS_CAPTURE_PACK_H

#include <stddef.h>
#include <stdint.h>

#define RS_PACK_CHUNK (256u << 10)	/* of pages in one chunk */

/* @pages has room for RS_PACK_CHUNK bytes; @packed is the chunk with its sizes. */
struct rs_packer { void *zstd; char *pages, *packed; size_t packed_size; };

/* rs_packer_init() - Return: 0; -ENOMEM; rs_packer_release() it in either case. */
int rs_packer_init(struct rs_packer *packer);
void rs_packer_release(struct rs_packer *packer);

/* rs_packer_pack() - @len bytes of packer->pages. Return: bytes at packer->packed; -EIO. */
int64_t rs_packer_pack(struct rs_packer *packer, size_t len);

#endif
