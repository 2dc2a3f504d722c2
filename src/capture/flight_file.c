// SPDX-License-Identifier: GPL-2.0-only
/* A snapshot: what is kept of a window, as a whole recording. */
#include "capture/flight.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zstd.h>

#include "base/error.h"
#include "capture/dat_writer.h"
#include "capture/output.h"
#include "capture/page_walk.h"
#include "capture/recording.h"

#define PIECE_BYTES	(256u << 10)	/* written at once; of pages in one compressed chunk */
#define ZSTD_LEVEL	3
#define ARRIVE_NS	2000000000ull	/* how long events on their way are waited for: an overloaded machine may need some time */

/* One snapshot while it is made. */
struct snapshot {
	struct resched_flight *flight;
	struct resched_snapshot result;
	struct rs_output out;
	struct rs_dat_writer dat;
	struct resched_host *host;
	struct rs_ring_pins *pins;		/* one a cpu */
	struct rs_datw_cpu *cpus;
	struct rs_instance_stats *stats;
	uint8_t *piece, *packed;		/* pages to write; NULL: not compressed */
	uint32_t len;				/* of the piece */
	size_t packed_room;
	ZSTD_CCtx *zstd;
	uint32_t nr_packed;
};

static int put(struct snapshot *s, const void *data, size_t len, uint64_t at, struct resched_error *err)
{
	const char *from = data;

	while (len) {
		ssize_t n = pwrite(s->out.fd, from, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			int rc = n < 0 ? -errno : -EIO;

			return rs_error_set(err, RESCHED_FAILED, rc, rc == -ENOSPC || rc == -EDQUOT
					    ? "cannot write '%s': no space left; free some or write elsewhere" : "cannot write '%s':", s->out.path);
		}
		from += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

/* A chunk in the file is: u32 packed size, u32 size, data. */
static int put_packed(struct snapshot *s, struct rs_datw_cpu *cpu, struct resched_error *err)
{
	size_t n = ZSTD_compressCCtx(s->zstd, s->packed + 8, s->packed_room, s->piece, s->len, ZSTD_LEVEL);
	uint32_t sizes[2] = { (uint32_t)n, s->len };
	int rc;

	if (ZSTD_isError(n))
		return rs_error_set(err, RESCHED_FAILED, -EIO, "cannot compress '%s': %s", s->out.path, ZSTD_getErrorName(n));
	memcpy(s->packed, sizes, sizeof(sizes));
	rc = put(s, s->packed, n + sizeof(sizes), s->dat.pos, err);
	s->dat.pos += n + sizeof(sizes);
	cpu->bytes += n + sizeof(sizes);
	s->nr_packed++;
	return rc;
}

static int flush(struct snapshot *s, struct rs_datw_cpu *cpu, struct resched_error *err)
{
	int rc = 0;

	if (s->len && s->packed) {
		rc = put_packed(s, cpu, err);
	} else if (s->len) {
		rc = put(s, s->piece, s->len, s->dat.pos, err);
		s->dat.pos += s->len;
		cpu->bytes += s->len;
	}
	s->len = 0;
	return rc;
}

/* Events up to @upto of the page are left out, and what comes after @end. @before_ns: time of the last one left out */
static void cut(uint8_t *page, uint32_t page_bytes, uint32_t upto, uint32_t end, uint64_t before_ns)
{
	uint64_t commit = end - upto;

	memmove(page + RS_PAGE_DATA, page + upto, end - upto);
	memset(page + RS_PAGE_DATA + (end - upto), 0, page_bytes - RS_PAGE_DATA - (end - upto));
	memcpy(page, &before_ns, sizeof(before_ns));
	memcpy(page + 8, &commit, sizeof(commit));
}

static uint64_t lost_before(const uint8_t *page, uint32_t end)
{
	uint64_t commit, lost = 0;

	memcpy(&commit, page + 8, sizeof(commit));
	if (commit & RS_PAGE_STORED)
		memcpy(&lost, page + end, sizeof(lost));
	return lost ? lost : (commit & RS_PAGE_MISSED) != 0;
}

/* The part of a page that is inside the window, into the piece. */
static void take_page(struct snapshot *s, const uint8_t *from, struct rs_instance_stats *stats)
{
	uint32_t page_bytes = s->flight->ring.page_bytes, upto = RS_PAGE_DATA, end;
	uint8_t *page = s->piece + s->len;
	uint64_t before_ns = 0, lost, nr = 0;
	struct rs_page_walk walk;

	if (!rs_page_walk_begin(&walk, from, page_bytes))
		return;
	lost = lost_before(from, walk.end);
	end = walk.end;
	before_ns = walk.ts_ns;
	while (rs_page_walk_next(&walk)) {
		if (walk.ts_ns < s->result.from_ns) {
			upto = walk.at;
			before_ns = walk.ts_ns;
		} else if (walk.ts_ns > s->result.to_ns) {
			break;
		} else {
			nr++;
			end = walk.at;
		}
	}
	if (!nr && (!lost || upto > RS_PAGE_DATA || before_ns < s->result.from_ns || before_ns > s->result.to_ns))
		return;
	memcpy(page, from, page_bytes);
	if (upto > RS_PAGE_DATA)
		cut(page, page_bytes, upto, end, before_ns);
	else if (end < walk.end && !lost)
		cut(page, page_bytes, RS_PAGE_DATA, end, before_ns);
	else if (end < walk.end)	/* the number of lost events moves up with the end */
		memmove(page + end, page + walk.end, page_bytes - walk.end);
	if (upto == RS_PAGE_DATA && lost) {
		uint64_t commit;

		memcpy(&commit, page + 8, sizeof(commit));
		commit = (commit & ~RS_PAGE_BYTES) | (end - RS_PAGE_DATA);
		memcpy(page + 8, &commit, sizeof(commit));
		stats->overrun += lost;
		s->result.lost_events += lost;
	}
	stats->read += nr;
	s->result.events += nr;
	s->len += page_bytes;
}

/* Pages go back to the ring as soon as they are in the file. */
static int put_cpu(struct snapshot *s, unsigned int idx, struct resched_error *err)
{
	struct rs_page_ring *ring = &s->flight->ring;
	struct rs_datw_cpu *cpu = &s->cpus[idx];
	uint64_t begin;
	int rc = 0;

	rs_datw_align(&s->dat);
	begin = s->dat.pos;
	*cpu = (struct rs_datw_cpu){ .cpu = s->flight->setup.cpu_ids[idx], .offset = begin };
	s->nr_packed = 0;
	while (s->pins[idx].nr && rc == 0) {
		const struct rs_ring_chunk *chunk = s->pins[idx].chunks[0].chunk;

		for (unsigned int i = 0; i < s->pins[idx].chunks[0].nr_pages && rc == 0; i++) {
			if (s->packed && !s->nr_packed && !s->len && s->dat.pos == begin)
				s->dat.pos += sizeof(s->nr_packed);	/* the number of chunks stands before them */
			take_page(s, chunk->pages + (size_t)i * ring->page_bytes, &s->stats[idx]);
			if (s->len + ring->page_bytes > PIECE_BYTES)
				rc = flush(s, cpu, err);
		}
		rs_ring_unpin(ring, &s->pins[idx], 1);
	}
	if (rc == 0)
		rc = flush(s, cpu, err);
	if (!cpu->bytes)
		s->dat.pos = begin;
	else if (s->packed && rc == 0)
		rc = put(s, &s->nr_packed, sizeof(s->nr_packed), begin, err);
	return rc;
}

static int put_pages(struct snapshot *s, uint64_t *ret_offset, struct resched_error *err)
{
	int rc = rs_datw_buffer_begin(&s->dat, err);

	for (unsigned int i = 0; i < s->flight->setup.nr_cpus && rc == 0; i++) {
		struct rs_instance_stats *stats = &s->stats[i];

		rc = put_cpu(s, i, err);
		snprintf(stats->text, sizeof(stats->text), "entries: 0\noverrun: %llu\ncommit overrun: 0\ndropped events: 0\nread events: %llu\n",
			 (unsigned long long)stats->overrun, (unsigned long long)stats->read);
	}
	return rc < 0 ? rc : rs_datw_buffer_end(&s->dat, ret_offset, err);
}

/* With what changed of the host in the time that is in the file. */
static int put_tail(struct snapshot *s, uint64_t pages_at, struct resched_error *err)
{
	struct resched_flight *flight = s->flight;
	struct rs_recording_changes changes = { 0 };
	char *rows;
	int rc;

	rs_flight_look(flight);
	pthread_mutex_lock(&flight->watch_lock);
	changes.rows = rows = rs_watch_json(&flight->watch, s->result.from_ns, s->result.to_ns);
	pthread_mutex_unlock(&flight->watch_lock);
	rc = rs_recording_tail(&s->dat, s->host, NULL, pages_at, flight->setup.nr_cpus, s->cpus, s->stats, &changes, err);
	free(rows);
	return rc;
}

static int write_file(struct snapshot *s, struct resched_error *err)
{
	struct resched_flight *flight = s->flight;
	uint64_t pages_at = 0;
	int rc = rs_datw_start(&s->dat, s->out.fd, s->out.path, flight->ring.page_bytes, flight->opts.record.compress, err);

	if (rc == 0)
		rc = rs_recording_front(&s->dat, &flight->job.formats, s->host, flight->nr_pids, flight->pids, err);
	if (rc == 0)
		rc = put_pages(s, &pages_at, err);
	if (rc == 0 && !s->result.events)
		rc = rs_error_set(err, RESCHED_FAILED, -ENODATA, "nothing was recorded in the time that '%s' is to hold", s->out.path);
	if (rc == 0)
		rc = put_tail(s, pages_at, err);
	if (rc == 0)
		rc = rs_output_publish(&s->out, err);
	if (rc == 0)
		s->result.bytes = s->dat.pos;
	return rc;
}

static int make_room(struct snapshot *s, struct resched_error *err)
{
	unsigned int nr_cpus = s->flight->setup.nr_cpus;

	s->pins = calloc(nr_cpus, sizeof(*s->pins));
	s->cpus = calloc(nr_cpus, sizeof(*s->cpus));
	s->stats = calloc(nr_cpus, sizeof(*s->stats));
	s->piece = malloc(PIECE_BYTES);
	if (!s->pins || !s->cpus || !s->stats || !s->piece)
		return rs_error_nomem(err);
	if (!s->flight->opts.record.compress)
		return 0;
	s->zstd = ZSTD_createCCtx();
	s->packed_room = ZSTD_compressBound(PIECE_BYTES);
	s->packed = malloc(s->packed_room + 8);
	return s->zstd && s->packed ? 0 : rs_error_nomem(err);
}

/* Settle which events are in it. They may still be on their way. */
static int take_window(struct snapshot *s, uint64_t from_ns, uint64_t to_ns, struct resched_error *err)
{
	uint64_t now = rs_now_ns(), complete, dropped;
	bool now_wanted = !to_ns;

	if (now_wanted)
		to_ns = now;
	complete = rs_ring_wait(&s->flight->ring, to_ns, (to_ns > now ? to_ns : now) + ARRIVE_NS);
	if (now_wanted && complete > to_ns)	/* what is dropped for its age meanwhile is made up for at the other end */
		to_ns = complete;
	if (complete < to_ns)	/* an overloaded machine, or recording has ended */
		to_ns = complete;
	s->result.to_ns = to_ns;
	if (to_ns < from_ns)
		return rs_error_set(err, RESCHED_FAILED, -ENODATA, "the time that '%s' is to hold ends before it begins", s->out.path);
	if (rs_ring_pin(&s->flight->ring, from_ns, to_ns, s->pins, &dropped) < 0)
		return rs_error_nomem(err);
	s->result.from_ns = from_ns > s->flight->started_ns ? from_ns : s->flight->started_ns;
	if (dropped >= s->result.from_ns) {
		s->result.cut_short = from_ns != 0;
		s->result.from_ns = dropped + 1;
	}
	return 0;
}

static int snapshot(struct snapshot *s, const char *path, uint64_t from_ns, uint64_t to_ns, struct resched_error *err)
{
	int rc = rs_output_open(&s->out, path, err);

	if (rc < 0)
		return rc;
	rc = make_room(s, err);
	if (rc == 0)
		rc = take_window(s, from_ns, to_ns, err);
	if (rc == 0)
		rc = resched_host_read(&s->host, err);
	if (rc == 0)
		rc = write_file(s, err);
	for (unsigned int i = 0; s->pins && i < s->flight->setup.nr_cpus; i++)
		rs_ring_unpin(&s->flight->ring, &s->pins[i], s->pins[i].nr);
	rs_output_release(&s->out);
	return rc;
}

int resched_flight_snapshot(struct resched_flight *flight, const char *path, uint64_t from_ns, uint64_t to_ns, struct resched_snapshot *ret,
			    struct resched_error *err)
{
	struct snapshot *s = calloc(1, sizeof(*s));
	uint64_t cpu_ns = rs_thread_cpu_ns();
	int rc;

	if (!s)
		return rs_error_nomem(err);
	s->flight = flight;
	pthread_mutex_lock(&flight->snapshot_lock);
	rc = snapshot(s, path, from_ns, to_ns, err);
	pthread_mutex_unlock(&flight->snapshot_lock);
	atomic_fetch_add(rc < 0 ? &flight->snapshots_failed : &flight->snapshots, 1);
	if (rc == 0)
		*ret = s->result;
	resched_host_free(s->host);
	ZSTD_freeCCtx(s->zstd);
	free(s->packed);
	free(s->piece);
	free(s->stats);
	free(s->cpus);
	free(s->pins);
	free(s);
	atomic_fetch_add(&flight->own_cpu_ns, rs_thread_cpu_ns() - cpu_ns);
	return rc;
}
