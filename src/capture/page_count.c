// SPDX-License-Identifier: GPL-2.0-only
#include "capture/page_count.h"

#include <errno.h>

#include <kbuffer.h>

int64_t rs_page_count(void *pages, size_t bytes, uint32_t page_bytes)
{
	const uint16_t probe = 1;
	struct kbuffer *kbuf = kbuffer_alloc(sizeof(long) == 8 ? KBUFFER_LSIZE_8 : KBUFFER_LSIZE_4,
					     *(const unsigned char *)&probe ? KBUFFER_ENDIAN_LITTLE
									    : KBUFFER_ENDIAN_BIG);
	int64_t count = 0;
	size_t at;

	if (!kbuf)
		return -ENOMEM;
	for (at = 0; at + page_bytes <= bytes; at += page_bytes) {
		unsigned long long ts;

		if (kbuffer_load_subbuffer(kbuf, (char *)pages + at) < 0)
			continue;
		for (; kbuffer_read_event(kbuf, &ts); kbuffer_next_event(kbuf, &ts))
			count++;
	}
	kbuffer_free(kbuf);
	return count;
}
