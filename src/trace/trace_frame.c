// SPDX-License-Identifier: GPL-2.0-only
/* What is in front of the events of a trace.dat or of ring buffer pages: which buffer to read, task states, the host, the streams. */
#include "trace/trace_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "trace/host_json.h"
#include "trace/minimal_host.h"

#define PROBE_RECORDS 20000u

/* Which of several buffers, and of which encoding. */
struct probe { bool any, sched, shifted; };

/* Look at the first records of a buffer; leaves nothing behind. */
static struct probe probe_buffer(struct resched_trace *t, const struct rs_dat_buffer *buf)
{
	struct probe p = { 0 };
	struct rs_notes quiet = { 0 };
	struct rs_stream_shared sh = t->shared;
	unsigned int left = PROBE_RECORDS;
	bool idle_known = false;

	sh.notes = &quiet;
	sh.packed = NULL;
	sh.packed_room = 0;
	sh.codec = buf->compressed ? t->dat.codec : RS_CODEC_NONE;
	if (buf->page_bytes)
		rs_page_layout_parse(&sh.layout, t->dat.header_page, buf->page_bytes);
	for (unsigned int i = 0; i < buf->nr_cpus && left && !(p.sched && idle_known); i++) {
		struct rs_stream s;
		const uint8_t *data;
		uint32_t len;

		rs_stream_init(&s, &sh, &buf->cpus[i]);
		while (left && (data = rs_stream_next(&s, &len))) {
			struct rs_kind *kind = rs_decoder_kind(&t->dec, data, len);
			uint64_t raw;
			int32_t pid;

			left--;
			p.any = true;
			p.sched |= rs_record_is_sched(kind->record);
			if (rs_decode_raw_state(&t->dec, kind, data, len, &pid, &raw) && !pid) {
				idle_known = true;
				p.shifted = raw == 1;
				break;
			}
		}
		rs_stream_release(&s);
	}
	rs_stream_shared_release(&sh);
	rs_notes_release(&quiet);
	return p;
}

static uint64_t buffer_bytes(const struct rs_dat_buffer *buf)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < buf->nr_cpus; i++)
		sum += buf->cpus[i].size + buf->cpus[i].missing;
	return sum;
}

/* The first with scheduler events, the main buffer before the instances; or else the first with any, the main buffer before all. */
static struct rs_dat_buffer *choose_buffer(struct resched_trace *t)
{
	struct rs_dat_buffer *best = NULL, *some = NULL, *first = &t->dat.buffers[0];

	for (unsigned int i = 0; i < t->dat.nr_buffers; i++) {
		struct rs_dat_buffer *buf = &t->dat.buffers[i];
		struct probe p;

		if (t->dat.nr_buffers == 1)
			return buf;
		if (!*buf->name)
			first = buf;
		p = probe_buffer(t, buf);
		if (p.sched && (!best || !*buf->name))
			best = buf;
		if (p.any && (!some || !*buf->name))
			some = buf;
	}
	return best ? best : some ? some : first;
}

static void note_buffers(struct resched_trace *t, const struct rs_dat_buffer *chosen)
{
	if (*chosen->name)
		rs_note(&t->notes, "the main buffer has no scheduler events: those of buffer '%s' are read", chosen->name);
	for (unsigned int i = 0; i < t->dat.nr_buffers; i++) {
		const struct rs_dat_buffer *buf = &t->dat.buffers[i];

		if (buf != chosen && buffer_bytes(buf))
			rs_note(&t->notes, "buffer '%s' holds %llu bytes of events that are not read", buf->name,
				(unsigned long long)buffer_bytes(buf));
	}
}

/* "6.18.44-x" -> 6018; 0 = unknown */
static unsigned int release_number(const char *release)
{
	char *end;
	unsigned long major, minor;

	if (!release)
		return 0;
	major = strtoul(release, &end, 10);
	if (*end != '.' || major > 99)
		return 0;
	minor = strtoul(end + 1, &end, 10);
	return minor > 999 ? 0 : (unsigned int)(major * 1000 + minor);
}

/* See struct rs_states.index_shifted: the format text does not tell, the idle task does. */
static void settle_states(struct resched_trace *t, const struct rs_dat_buffer *buf)
{
	unsigned int release = release_number(t->source.kernel);

	if (release == 4014)
		rs_note(&t->notes, "kernel 4.14 stored the index of a task state where its format says bits: states other than S and D are unsure");
	if (!t->dec.states_understood || t->dec.states.preempt != 0x100 || release >= 5000)
		return;
	if (probe_buffer(t, buf).shifted)
		rs_states_shift(&t->dec.states);
}

static int open_streams(struct resched_trace *t, struct resched_error *err)
{
	const struct rs_dat_buffer *buf = t->buf;
	unsigned int nr = buf->nr_cpus ? buf->nr_cpus : 1;

	t->shared.codec = buf->compressed ? t->dat.codec : RS_CODEC_NONE;
	if (buf->page_bytes && !rs_page_layout_parse(&t->shared.layout, t->dat.header_page, buf->page_bytes))
		return errno == ENOMEM ? rs_error_nomem(err) : rs_error_set(err, RESCHED_DAMAGED, -EBADMSG, "trace.dat claims pages of %u bytes: damaged", buf->page_bytes);
	t->streams = calloc(nr, sizeof(*t->streams));
	t->heap = calloc(nr, sizeof(*t->heap));
	if (!t->streams || !t->heap)
		return rs_error_nomem(err);
	t->nr_streams = buf->nr_cpus;
	return rs_trace_begin_streams(t, NULL) < 0 ? rs_error_nomem(err) : 0;
}

/* What changed during the recording, told at its end. */
static void take_changes(struct resched_trace *t)
{
	struct resched_host *told = NULL;
	struct resched_error why;

	if (!t->dat.changes_json)
		return;
	if (resched_host_parse(t->dat.changes_json, t->dat.changes_json_len, &told, &why) < 0) {
		rs_note_damage(&t->notes, "what of the host changed cannot be read: %s", why.text);
		return;
	}
	resched_host_changes_free(t->host->nr_changes, t->host->changes);
	t->host->nr_changes = told->nr_changes;
	t->host->changes = told->changes;
	told->nr_changes = 0;
	told->changes = NULL;
	resched_host_free(told);
}

/* The snapshot, and who recorded. A snapshot that cannot be read costs only itself. */
static int open_host(struct resched_trace *t, const char *clock, unsigned int nr_cpus, struct resched_error *err)
{
	struct resched_error why;
	unsigned int nr_pids = 0;
	int *pids = NULL, rc = 0;

	if (t->dat.host_json) {
		rc = rs_host_parse_pids(t->dat.host_json, t->dat.host_json_len, &t->host, &pids, &nr_pids, &why);
		if (rc == -ENOMEM)
			return rs_error_nomem(err);
		if (rc < 0)
			rs_note_damage(&t->notes, "the host snapshot inside cannot be used: %s", why.text);
	}
	if (rc == 0 && t->host)
		take_changes(t);
	for (unsigned int i = 0; i < nr_pids && rc == 0; i++) {
		if (pids[i] > 0)
			rc = rs_map_set(&t->dec.own, (uint32_t)pids[i], 1);
	}
	free(pids);
	if (!t->host)
		rc = rs_minimal_host(t->dat.uname, clock, nr_cpus, &t->host);
	if (rc < 0)
		return rs_error_nomem(err);
	if (t->host && !t->host->clock && clock) {
		t->host->clock = strdup(clock);
		if (!t->host->clock)
			return rs_error_nomem(err);
	}
	return 0;
}

/* What is behind the frame in t->dat, which is open. */
static int open_frame(struct resched_trace *t, struct resched_error *err)
{
	const struct rs_dat_buffer *buf;
	const char *clock;
	char *release;
	int rc;

	t->shared.in = &t->in;
	t->shared.notes = &t->notes;
	t->shared.layout.swap = t->dat.swap;
	t->shared.layout.big = t->dat.big;
	if (!rs_page_layout_parse(&t->shared.layout, t->dat.header_page, t->dat.page_bytes))
		return errno == ENOMEM ? rs_error_nomem(err) : rs_error_set(err, RESCHED_DAMAGED, -EBADMSG, "the header_page of the recording makes no sense: damaged; record again");
	release = rs_uname_release(t->dat.uname);
	rc = rs_decoder_init(&t->dec, &t->dat, release_number(release) >= 6013);
	t->source.kernel = release;
	buf = rc == -ENOMEM ? NULL : choose_buffer(t);
	if (buf)
		settle_states(t, buf);
	t->source.kernel = NULL;
	free(release);
	if (rc == -ENOMEM)
		return rs_error_nomem(err);
	if (rc == -ENODATA)
		rs_note(&t->notes, "the recording has no format of a scheduler event; record events of 'sched'");
	t->buf = buf;
	note_buffers(t, buf);
	clock = buf->clock ? buf->clock : t->dat.clock;
	rc = open_host(t, clock, t->dat.cpu_count ? t->dat.cpu_count : buf->nr_cpus, err);
	if (rc == 0 && rs_comms_init(&t->comms, t->names, t->dat.cmdlines) < 0)
		rc = rs_error_nomem(err);
	if (rc == 0)
		rc = open_streams(t, err);
	if (rc < 0)
		return rc;
	t->source.kernel = t->host ? t->host->kernel : NULL;
	t->source.clock = clock ? clock : t->host ? t->host->clock : NULL;
	t->source.nr_cpus = buf->nr_cpus;
	if (!t->nr_heap && t->notes.damaged && !t->dat.growing_section)
		return rs_error_set(err, RESCHED_DAMAGED, -EBADMSG, "no event data of this recording can be read: %s",
				    t->notes.nr ? t->notes.lines[t->notes.nr - 1] : "damaged");
	return 0;
}

int rs_trace_open_dat(struct resched_trace *t, struct resched_error *err)
{
	int rc = rs_dat_open(&t->dat, &t->in, &t->notes, err);

	t->source.format = t->dat.version == 7 ? "trace.dat v7" : "trace.dat v6";
	return rc < 0 ? rc : open_frame(t, err);
}

/* Ring buffer pages beside formats, in a tar or in the folder @dir. */
int rs_trace_open_raw(struct resched_trace *t, const char *dir, struct resched_error *err)
{
	int rc = rs_raw_open(dir ? NULL : &t->in, dir, &t->dat, &t->notes, &t->raw, err);

	t->source.format = dir ? "ring buffer pages (folder)" : "ring buffer pages (tar)";
	return rc < 0 ? rc : open_frame(t, err);
}
