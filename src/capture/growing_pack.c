// SPDX-License-Identifier: GPL-2.0-only
#include "capture/growing.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/files.h"
#include "capture/pack.h"

#define MAX_CPUS 65535u

/* The pages of one cpu, behind the number of their chunks. Return: 0; -errno. */
static int pack_cpu(const struct rs_growing *growing, struct rs_packer *packer, const struct rs_growing_page *pages, uint64_t nr, int out_fd,
		    uint64_t *end, struct rs_datw_cpu *cpu)
{
	uint64_t per_chunk = RS_PACK_CHUNK / growing->page_bytes, done, n, i;
	uint32_t chunks = 0;
	int rc = 0;

	cpu->offset = *end;
	cpu->bytes = 0;
	*end += sizeof(chunks);
	for (done = 0; done < nr && rc == 0; done += n) {
		int64_t bytes;

		n = nr - done < per_chunk ? nr - done : per_chunk;
		for (i = 0; i < n && rc == 0; i++)
			rc = rs_read_at(growing->fd, packer->pages + i * growing->page_bytes, growing->page_bytes,
					rs_growing_offset(growing->base, growing->page_bytes, pages[done + i].slot));
		if (rc < 0)
			break;
		bytes = rs_packer_pack(packer, n * growing->page_bytes);
		if (bytes < 0)
			return (int)bytes;
		rc = rs_write_at(out_fd, packer->packed, (size_t)bytes, *end);
		*end += (uint64_t)bytes;
		cpu->bytes += (uint64_t)bytes;
		chunks++;
	}
	return rc == 0 ? rs_write_at(out_fd, &chunks, sizeof(chunks), cpu->offset) : rc;
}

static uint64_t cpu_end(const struct rs_growing_page *pages, uint64_t nr, uint64_t at)
{
	uint64_t end = at;

	while (end < nr && rs_growing_cpu(&pages[end]) == rs_growing_cpu(&pages[at]))
		end++;
	return end;
}

static int pack_all(const struct rs_growing *growing, struct rs_packer *packer, const struct rs_growing_page *pages, uint64_t nr, int out_fd,
		    uint64_t *end, unsigned int nr_cpus, struct rs_datw_cpu *cpus)
{
	uint64_t at, next;
	unsigned int i;
	int rc = 0;

	for (at = 0; at < nr && rc == 0; at = next) {
		next = cpu_end(pages, nr, at);
		for (i = 0; i < nr_cpus; i++) {
			if (cpus[i].cpu != rs_growing_cpu(&pages[at]))
				continue;
			*end = (*end + growing->page_bytes - 1) / growing->page_bytes * growing->page_bytes;
			rc = pack_cpu(growing, packer, pages + at, next - at, out_fd, end, &cpus[i]);
		}
	}
	return rc;
}

int rs_growing_pack(struct rs_growing *growing, int out_fd, uint64_t offset, unsigned int nr_cpus, struct rs_datw_cpu *cpus, uint64_t *ret_end)
{
	struct rs_input in = { .fd = growing->fd };
	struct rs_growing_page *pages = NULL;
	struct rs_packer packer = { 0 };
	uint64_t nr = 0, missing;
	unsigned int i;
	struct stat st;
	int rc = rs_packer_init(&packer);

	for (i = 0; i < nr_cpus; i++) {
		cpus[i].offset = offset;
		cpus[i].bytes = 0;
	}
	*ret_end = offset;
	if (rc == 0 && fstat(growing->fd, &st) < 0)
		rc = -errno;
	if (rc == 0) {
		in.size = (uint64_t)st.st_size;
		rc = rs_growing_read(&in, growing->base, growing->page_bytes, false, MAX_CPUS, &pages, &nr, &missing);
	}
	if (rc == 0)
		rc = pack_all(growing, &packer, pages, nr, out_fd, ret_end, nr_cpus, cpus);
	free(pages);
	rs_packer_release(&packer);
	return rc;
}
