// SPDX-License-Identifier: GPL-2.0-only
#include "capture/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#define ZSTD_LEVEL 3

void rs_packer_release(struct rs_packer *packer)
{
	ZSTD_freeCCtx(packer->zstd);
	free(packer->pages);
	free(packer->packed);
}

int rs_packer_init(struct rs_packer *packer)
{
	packer->zstd = ZSTD_createCCtx();
	packer->packed_size = ZSTD_compressBound(RS_PACK_CHUNK);
	packer->pages = malloc(RS_PACK_CHUNK);
	packer->packed = malloc(packer->packed_size + 2 * sizeof(uint32_t));
	return packer->zstd && packer->pages && packer->packed ? 0 : -ENOMEM;
}

int64_t rs_packer_pack(struct rs_packer *packer, size_t len)
{
	size_t n = ZSTD_compressCCtx(packer->zstd, packer->packed + 2 * sizeof(uint32_t),
				     packer->packed_size, packer->pages, len, ZSTD_LEVEL);
	uint32_t sizes[2];

	if (ZSTD_isError(n))
		return -EIO;
	sizes[0] = (uint32_t)n;
	sizes[1] = (uint32_t)len;
	memcpy(packer->packed, sizes, sizeof(sizes));
	return (int64_t)(n + sizeof(sizes));
}
