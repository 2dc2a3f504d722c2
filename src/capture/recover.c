// SPDX-License-Identifier: GPL-2.0-only
/* Finishing what a recorder that was killed left: its pages are put into order and described, as it would have done itself. */
#include <resched/capture.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <resched/trace.h>

#include "base/error.h"
#include "base/map.h"
#include "capture/files.h"
#include "capture/page_writer.h"
#include "capture/recording.h"
#include "trace/dat.h"

#define MAX_LINKS 64u

/* "PID NAME" a line, the last name of each. */
struct names { struct rs_map index; uint32_t nr, room; struct { int32_t pid; uint32_t name; } *tasks; };

static int names_set(struct names *names, int32_t pid, uint32_t name)
{
	uint32_t at = rs_map_get(&names->index, (uint32_t)pid);

	if (at == RS_MAP_NONE) {
		if (names->nr == names->room) {
			uint32_t room = names->room ? 2 * names->room : 256;
			void *grown = realloc(names->tasks, room * sizeof(*names->tasks));

			if (!grown)
				return -ENOMEM;
			names->tasks = grown;
			names->room = room;
		}
		at = names->nr++;
		names->tasks[at].pid = pid;
		if (rs_map_set(&names->index, (uint32_t)pid, at) < 0)
			return -ENOMEM;
	}
	names->tasks[at].name = name;
	return 0;
}

/* As the section wants them. */
static void names_put(const struct names *names, const struct resched_names *texts, struct rs_datw_buf *body)
{
	struct rs_datw_buf text = { 0 };
	uint32_t i;

	for (i = 0; i < names->nr; i++) {
		char line[64];
		int len = snprintf(line, sizeof(line), "%d %.40s\n", names->tasks[i].pid, resched_names_get(texts, names->tasks[i].name));

		rs_datw_put(&text, line, (size_t)len);
	}
	rs_datw_put_u64(body, text.len);
	rs_datw_put(body, text.data, text.len);
	body->failed |= text.failed;
	rs_datw_buf_release(&text);
}

/* What the recording itself tells: the names of its tasks, and how many events it has. */
static int read_events(const char *path, struct rs_datw_buf *names_text, uint64_t *events, struct resched_error *err)
{
	struct resched_trace *trace = NULL;
	const struct resched_event *ev;
	struct names names = { 0 };
	int rc = resched_trace_open(path, &trace, err);

	while (rc == 0 && (rc = resched_trace_next(trace, &ev, err)) > 0)
		rc = ev->type == RESCHED_EV_COMM && ev->pid ? names_set(&names, ev->pid, ev->comm.name) : 0;
	if (rc == 0) {
		names_put(&names, resched_trace_names(trace), names_text);
		*events = resched_trace_source(trace)->total_events;
	}
	resched_trace_free(trace);
	rs_map_release(&names.index);
	free(names.tasks);
	return rc == -ENOMEM ? rs_error_nomem(err) : rc;
}

/* Where the last options section says where the next one is. @at: the header's own. */
static int last_link(int fd, uint64_t *at)
{
	unsigned int i;

	for (i = 0; i < MAX_LINKS; i++) {
		uint64_t next, size;
		int rc = rs_read_at(fd, &next, sizeof(next), *at);

		if (rc < 0 || !next)
			return rc;
		rc = rs_read_at(fd, &size, sizeof(size), next + 8);
		if (rc < 0)
			return rc;
		if (size < sizeof(next) || size > INT64_MAX - next)
			return -EINVAL;
		*at = next + 16 + size - sizeof(next);	/* the data of DONE ends the section */
	}
	return -EINVAL;
}

/* A page without events whose head says that events were lost: behind the last page of each cpu. */
static int mark_ends(struct rs_growing *growing, const struct rs_growing_page *pages, uint64_t nr)
{
	uint64_t *page = calloc(1, growing->page_bytes), i;
	int rc = page ? 0 : -ENOMEM;

	for (i = 0; i < nr && rc == 0; i++) {
		uint32_t done;

		if (i + 1 < nr && rs_growing_cpu(&pages[i + 1]) == rs_growing_cpu(&pages[i]))
			continue;
		rc = rs_read_at(growing->fd, page, 2 * sizeof(*page), rs_growing_offset(growing->base, growing->page_bytes, pages[i].slot));
		if (rc == 0 && page[1] == RS_PAGE_MISSED)
			continue;	/* recovering was interrupted after this */
		page[1] = RS_PAGE_MISSED;
		if (rc == 0)
			rc = rs_growing_append(growing, rs_growing_cpu(&pages[i]), rs_growing_seq(&pages[i]) + 1, page, 1, &done);
	}
	free(page);
	return rc;
}

/* Its cpus, and the first page that was never given out. */
static int survey(struct rs_growing *growing, unsigned int cpu_count, struct rs_datw_cpu **ret, unsigned int *ret_nr)
{
	struct rs_input in = { .fd = growing->fd };
	struct rs_growing_page *pages = NULL;
	uint64_t nr = 0, missing, i, next = 0;
	unsigned int nr_cpus = cpu_count;
	struct stat st;
	int rc;

	if (fstat(growing->fd, &st) < 0)
		return -errno;
	in.size = (uint64_t)st.st_size;
	rc = rs_growing_read(&in, growing->base, growing->page_bytes, false, RS_DAT_MAX_CPUS, &pages, &nr, &missing);
	if (rc < 0)
		return rc;
	for (i = 0; i < nr; i++) {
		if (pages[i].slot >= next)
			next = pages[i].slot + 1;
		if (rs_growing_cpu(&pages[i]) >= nr_cpus)
			nr_cpus = rs_growing_cpu(&pages[i]) + 1;
	}
	/* a new group: entries without a page must not come to life */
	atomic_store(&growing->next, (next / rs_growing_group(growing->page_bytes) + 1) * rs_growing_group(growing->page_bytes));
	*ret = calloc(nr_cpus ? nr_cpus : 1, sizeof(**ret));
	rc = *ret ? mark_ends(growing, pages, nr) : -ENOMEM;
	for (i = 0; i < nr_cpus && *ret; i++)
		(*ret)[i].cpu = (uint32_t)i;
	*ret_nr = nr_cpus;
	free(pages);
	return rc;
}

static int finish(const struct rs_dat *dat, int fd, const char *path, const struct rs_datw_buf *names, struct resched_error *err)
{
	struct rs_dat_writer w = { .fd = fd, .path = path, .page_bytes = dat->page_bytes, .buffer_at = dat->growing_section,
				   .compress = dat->codec == RS_CODEC_ZSTD, .link_at = dat->first_section - sizeof(uint64_t) };
	struct rs_growing growing = { .fd = fd, .page_bytes = dat->page_bytes };
	struct rs_datw_cpu *cpus = NULL;
	uint64_t pages_offset = 0;
	unsigned int nr_cpus = 0;
	int rc = last_link(fd, &w.link_at);

	growing.base = (dat->growing_section + 16 + dat->page_bytes - 1) / dat->page_bytes * dat->page_bytes;
	if (rc == 0)
		rc = survey(&growing, dat->cpu_count, &cpus, &nr_cpus);
	if (rc < 0)
		rs_error_set(err, RESCHED_FAILED, rc, "cannot recover '%s':", path);
	if (rc == 0)
		rc = rs_recording_settle(&w, &growing, nr_cpus, cpus, NULL, &pages_offset, err);
	if (rc == 0)
		rc = rs_recording_close(&w, names, pages_offset, nr_cpus, cpus, NULL, NULL, err);
	free(cpus);
	return rc;
}

/* Return: fd, locked: its recorder does not growing. */
static int open_file(const char *path, struct resched_error *err)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return rs_error_set(err, errno == EACCES ? RESCHED_DENIED : RESCHED_FAILED, -errno, "cannot open '%s':", path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		close(fd);
		return rs_error_set(err, RESCHED_FAILED, -EBUSY, "'%s' is still being recorded; its recorder finishes it", path);
	}
	return fd;
}

int resched_recover(const char *path, uint64_t *ret_events, struct resched_error *err)
{
	struct rs_datw_buf names = { 0 };
	struct rs_notes notes = { 0 };
	struct rs_dat dat = { 0 };
	struct rs_input in = { .fd = -1 };
	int rc, fd = open_file(path, err);

	if (fd < 0)
		return fd;
	rc = rs_input_open(&in, path, err);
	if (rc == 0 && !rs_dat_is(&in))
		rc = rs_error_set(err, RESCHED_FAILED, -EINVAL, "'%s' is no trace.dat, so 'resched record' did not make it", path);
	if (rc == 0)
		rc = rs_dat_open(&dat, &in, &notes, err);
	if (rc == 0 && dat.growing_section && dat.swap)
		rc = rs_error_set(err, RESCHED_FAILED, -EINVAL, "'%s' is of a machine with another byte order; recover it there", path);
	if (rc == 0)
		rc = read_events(path, &names, ret_events, err);
	if (rc == 0 && dat.growing_section) {
		rc = finish(&dat, fd, path, &names, err);
		rc = rc == 0 ? 1 : rc;
	}
	rs_datw_buf_release(&names);
	rs_dat_release(&dat);
	rs_notes_release(&notes);
	rs_input_close(&in);
	close(fd);
	return rc;
}
