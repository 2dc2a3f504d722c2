// SPDX-License-Identifier: GPL-2.0-only
/* From the kernel's buffers into memory, page by page: a begun page is taken as well, which splice would leave. */
#include "capture/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SETTLE_NS 1000000ull	/* an event older than this is in its buffer */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

int64_t rs_spool_to_ring(struct rs_spool *spool, unsigned int idx, uint64_t limit)
{
	uint64_t begun_ns = now_ns(), total = 0;
	uint8_t *page = malloc(spool->page_bytes);
	int64_t rc = page ? 0 : -ENOMEM;

	while (rc == 0 && total < limit) {
		ssize_t n = read(spool->cpus[idx].raw_fd, page, spool->page_bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			rc = -errno;
		if (n <= 0)
			break;
		memset(page + n, 0, spool->page_bytes - (size_t)n);
		rc = rs_ring_add(spool->ring, idx, page, spool->page_bytes);
		total += (uint64_t)n;
	}
	free(page);
	if (rc == 0 && total < limit)
		rs_ring_complete(spool->ring, idx, begun_ns - SETTLE_NS);
	return rc < 0 ? rc : (int64_t)total;
}
