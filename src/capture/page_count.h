/* SPDX-License-Identifier: GPL-2.0-only */
/* How many events there are in ring buffer pages. */
#ifndef RS_CAPTURE_PAGE_COUNT_H
#define RS_CAPTURE_PAGE_COUNT_H

#include <stddef.h>
#include <stdint.h>

/* rs_page_count() - of the whole pages in @bytes bytes of memory. Return: the number; -ENOMEM. */
int64_t rs_page_count(void *pages, size_t bytes, uint32_t page_bytes);

#endif
