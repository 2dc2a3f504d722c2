// SPDX-License-Identifier: GPL-2.0-only
/* Where a recording's pages are while it is made, and what becomes of them at its end. */
#include "capture/recording.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "capture/files.h"

#define COPY_BYTES 65536u

int rs_recording_growing(struct rs_dat_writer *w, struct rs_growing *growing, struct resched_error *err)
{
	bool compress = w->compress;
	int rc;

	w->compress = false;	/* plain pages, whatever becomes of them at the end */
	rc = rs_datw_buffer_begin(w, err);
	w->compress = compress;
	if (rc < 0)
		return rc;
	rc = rs_growing_open(growing, w->fd, w->pos, w->page_bytes);
	return rc < 0 ? rs_error_set(err, RESCHED_FAILED, rc, "cannot write '%s':", w->path) : 0;
}

int rs_recording_settle(struct rs_dat_writer *w, struct rs_growing *growing, unsigned int nr_cpus, struct rs_datw_cpu *cpus, uint64_t *events,
			uint64_t *ret_offset, struct resched_error *err)
{
	bool compress = w->compress;
	int rc = rs_growing_settle(growing, nr_cpus, cpus, events, &w->pos);

	if (rc < 0)
		return rs_error_set(err, RESCHED_FAILED, rc, "cannot put the pages of '%s' into order:", w->path);
	w->compress = false;
	rc = rs_datw_buffer_end(w, ret_offset, err);
	w->compress = compress;
	return rc;
}

static int copy_front(int from, int to, uint64_t bytes)
{
	char *buf = malloc(COPY_BYTES);
	uint64_t at;
	int rc = buf ? 0 : -ENOMEM;

	for (at = 0; at < bytes && rc == 0; at += COPY_BYTES) {
		size_t len = bytes - at < COPY_BYTES ? (size_t)(bytes - at) : COPY_BYTES;

		rc = rs_read_at(from, buf, len, at);
		if (rc == 0)
			rc = rs_write_at(to, buf, len, at);
	}
	free(buf);
	return rc;
}

int rs_recording_packed(struct rs_dat_writer *w, struct rs_growing *growing, int fd, unsigned int nr_cpus, struct rs_datw_cpu *cpus,
			uint64_t *ret_offset, struct resched_error *err)
{
	struct rs_dat_writer packed = *w;
	int rc = copy_front(w->fd, fd, w->buffer_at);

	packed.fd = fd;
	packed.pos = w->buffer_at;
	packed.buffer_at = 0;
	if (rc == 0)
		rc = rs_datw_buffer_begin(&packed, err);
	if (rc == 0)
		rc = rs_growing_pack(growing, fd, packed.pos, nr_cpus, cpus, &packed.pos);
	if (rc == 0)
		rc = rs_datw_buffer_end(&packed, ret_offset, err);
	if (rc == 0)
		*w = packed;
	return rc;
}
