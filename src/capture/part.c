// SPDX-License-Identifier: GPL-2.0-only
#include "capture/part.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <resched/host.h>

#include "base/error.h"
#include "capture/host_changes.h"
#include "capture/recording.h"
#include "capture/setup.h"

int rs_part_new(struct rs_part **ret, const char *path, struct resched_error *err)
{
	struct rs_part *part = calloc(1, sizeof(*part));
	int rc;

	if (!part)
		return rs_error_nomem(err);
	part->packed_fd = part->growing.fd = -1;
	rc = rs_output_open(&part->output, path, err);
	if (rc < 0) {
		rs_part_free(part);
		return rc;
	}
	(void)flock(part->output.fd, LOCK_EX | LOCK_NB);
	*ret = part;
	return 0;
}

int rs_part_front(struct rs_part *part, const struct rs_job *job, int compress, struct resched_error *err)
{
	pid_t *pids = calloc(job->nr_readers + 1, sizeof(*pids));
	int rc;

	if (!pids)
		return rs_error_nomem(err);
	pids[0] = gettid();
	for (unsigned int i = 0; i < job->nr_readers; i++)
		pids[i + 1] = job->reader_pids[i];
	rc = rs_datw_start(&part->writer, part->output.fd, part->output.path, job->spool.page_bytes, compress, err);
	if (rc == 0)
		rc = resched_host_read(&part->host, err);
	if (rc == 0)
		rc = rs_recording_front(&part->writer, &job->formats, part->host, job->nr_readers + 1, pids, err);
	if (rc == 0)
		rc = rs_recording_growing(&part->writer, &part->growing, err);
	free(pids);
	return rc;
}

/* Compressed, in a file of its own. Without room for it the recording stays as it is. */
static int pack(struct rs_part *part, struct rs_job *job, struct rs_datw_cpu *pages, uint64_t *ret_offset)
{
	struct resched_error why = { 0 };
	char text[160];
	int fd = rs_tmpfile(part->output.dir);
	int rc = fd < 0 ? fd : rs_recording_packed(&part->writer, &part->growing, fd, job->nr_cpus, pages, ret_offset, &why);

	if (rc == 0) {
		part->packed_fd = fd;
		return 0;
	}
	if (fd >= 0)
		close(fd);
	snprintf(text, sizeof(text), "the file is not compressed: %s", strerror(-rc));
	rs_setup_warn(job->result, text);
	return rc;
}

/* What changed meanwhile. */
static void find_changes(struct rs_part *part, const struct rs_job *job, struct rs_datw_buf *text)
{
	const struct resched_host *after = rs_watch_end(&part->watch);
	char note[160];
	int len;

	if (!after)
		return;
	if (job->opts->slower_ns) {
		len = snprintf(note, sizeof(note), "only wakeups slower than %.6g ms were recorded: the gaps between them are no losses, and totals mean nothing\n",
			       (double)job->opts->slower_ns / 1e6);
		rs_datw_put(text, note, (size_t)len);
	}
	rs_host_changes(part->host, after, text);
	if (part->watch.dropped) {
		len = snprintf(note, sizeof(note), "%u more changes of the host were seen and not kept\n", part->watch.dropped);
		rs_datw_put(text, note, (size_t)len);
	}
	rs_datw_put(text, "", 1);
}

static int write_tail(struct rs_part *part, const struct rs_job *job, bool ended, const struct rs_datw_cpu *pages, uint64_t pages_offset,
		      struct rs_datw_buf *lines, struct resched_error *err)
{
	struct rs_recording_changes changes;
	char *rows;
	int rc;

	find_changes(part, job, lines);
	rows = rs_watch_json(&part->watch, 0, UINT64_MAX);
	changes = (struct rs_recording_changes){ lines->failed ? NULL : lines->data, rows };
	rc = rs_recording_tail(&part->writer, part->host, job->names, pages_offset, job->nr_cpus, pages, ended ? job->stats : NULL, &changes, err);
	free(rows);
	return rc;
}

int rs_part_seal(struct rs_part *part, struct rs_job *job, bool ended, struct rs_datw_buf *lines, uint64_t *saved, struct resched_error *err)
{
	struct rs_datw_cpu *pages = calloc(job->nr_cpus, sizeof(*pages));
	uint64_t offset = 0;
	int rc = -1;

	if (!pages)
		return rs_error_nomem(err);
	for (unsigned int i = 0; i < job->nr_cpus; i++)
		pages[i].cpu = job->cpu_ids[i];
	if (part->writer.compress && !saved)
		rc = pack(part, job, pages, &offset);
	if (rc < 0)
		rc = rs_recording_settle(&part->writer, &part->growing, job->nr_cpus, pages, saved, &offset, err);
	if (rc == 0)
		rc = write_tail(part, job, ended, pages, offset, lines, err);
	free(pages);
	if (rc == 0 && part->packed_fd >= 0) {
		rs_output_replace(&part->output, part->packed_fd);
		part->packed_fd = -1;
	}
	return rc == 0 ? rs_output_settle(&part->output, err) : rc;
}

uint64_t rs_part_bytes(const struct rs_part *part)
{
	struct stat st;

	return fstat(part->output.fd, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* PATH, PATH.1, PATH.2 ... */
static bool name_of(char *name, size_t size, const char *path, unsigned int nr)
{
	int len = nr ? snprintf(name, size, "%s.%u", path, nr) : snprintf(name, size, "%s", path);

	return len > 0 && (size_t)len < size;
}

int rs_part_shift(struct rs_part *part, unsigned int keep, struct resched_error *err)
{
	char from[PATH_MAX], to[PATH_MAX], *first;

	for (unsigned int nr = keep - 1; nr-- > 0;) {
		if (!name_of(from, sizeof(from), part->output.path, nr) || !name_of(to, sizeof(to), part->output.path, nr + 1))
			return rs_error_set(err, RESCHED_FAILED, -ENAMETOOLONG, "cannot rename '%s':", part->output.path);
		if (rename(from, to) < 0 && errno != ENOENT)
			return rs_error_set(err, RESCHED_FAILED, -errno, "cannot rename '%s':", from);
	}
	first = strdup(to);
	if (!first)
		return rs_error_nomem(err);
	free(part->output.path);
	part->output.path = first;
	part->writer.path = first;
	return 0;
}

void rs_part_free(struct rs_part *part)
{
	if (!part)
		return;
	if (part->packed_fd >= 0)
		close(part->packed_fd);
	rs_output_release(&part->output);
	rs_watch_release(&part->watch);
	resched_host_free(part->host);
	free(part);
}
