// SPDX-License-Identifier: GPL-2.0-only
/* From the records of a perf.data to the queue of events that wait for their turn. */
#include "trace/perf_reader.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define HEADER 8u
#define SETTLE_SAMPLES 20000u
#define MAX_FALLBACK_NAMES 65536u
#define MISC_FILTERED 0x8000u		/* PERF_RECORD_MISC_LOST_SAMPLES_BPF */

static struct rs_order_item *queue(struct rs_perf_reader *r, uint64_t ts, uint32_t cpu, enum rs_perf_what what, uint32_t len)
{
	if (ts > r->max_ts)
		r->max_ts = ts;
	return rs_order_add(&r->order, ts, (uint16_t)cpu, (uint16_t)what, len);
}

/* "6.18.44-x" -> 6018; 0 = unknown */
static unsigned int release_number(const char *release)
{
	unsigned int major, minor;

	return release && sscanf(release, "%2u.%3u", &major, &minor) == 2 ? major * 1000 + minor : 0;
}

static bool recorded(const struct rs_perf_reader *r, enum rs_record record)
{
	for (unsigned int i = 0; i < r->head.attrs.nr; i++) {
		const struct rs_perf_attr *a = &r->head.attrs.list[i];

		if (a->type == RS_PERF_TYPE_TRACEPOINT && a->config <= UINT16_MAX &&
		    r->dec.kinds[r->dec.kind_of_id[a->config]].record == record)
			return true;
	}
	return false;
}

int rs_perf_start_decoder(struct rs_perf_reader *r)
{
	unsigned int release = release_number(r->head.release);
	int rc;

	if (r->have_decoder || !r->head.have_formats)
		return 0;
	rc = rs_decoder_init(&r->dec, &r->head.formats, release >= 6013);
	if (rc == -ENOMEM)
		return rc;
	r->have_decoder = true;
	if (rc == -ENODATA)
		rs_note(r->rec.notes, "the recording has no format of a scheduler event; record with 'perf sched record' or events 'sched:*'");
	if (release == 4014)
		rs_note(r->rec.notes, "kernel 4.14 stored the index of a task state where its format says bits: states other than S and D are unsure");
	r->settled = !r->dec.states_understood || r->dec.states.preempt != 0x100 || release >= 5000;
	r->fork_records = !recorded(r, RS_REC_FORK);
	r->exit_records = !recorded(r, RS_REC_EXIT);
	return 0;
}

/* See struct rs_states.index_shifted: the format text does not tell, the state of the idle task does. */
static void settle(struct rs_perf_reader *r, const struct rs_kind *kind, const uint8_t *data, uint32_t len)
{
	uint64_t raw;
	int32_t pid;

	if (rs_decode_raw_state(&r->dec, kind, data, len, &pid, &raw) && !pid) {
		if (raw == 1)
			rs_states_shift(&r->dec.states);
		r->settled = true;
	}
	if (++r->probed == SETTLE_SAMPLES)
		r->settled = true;
}

/* The cpu of a record, from itself or from the index of ids. */
static uint32_t cpu_of(struct rs_perf_reader *r, const struct rs_perf_attr *attr, uint32_t told, const uint8_t *p, uint32_t size)
{
	const struct rs_perf_id *id;

	if (told != RS_PERF_NO_CPU || attr->at_id < 0 || HEADER + (uint32_t)attr->at_id + 8 > size)
		return told;
	id = rs_perf_attrs_find(&r->head.attrs, rs_load_u64(p + HEADER + attr->at_id, r->head.swap));
	return id ? id->cpu : RS_PERF_NO_CPU;
}

static void see_cpu(struct rs_perf_reader *r, uint32_t cpu)
{
	r->seen[cpu] = 1;
	r->rec.source->nr_observed++;
	if (cpu >= r->top_cpu)
		r->top_cpu = cpu + 1;
}

static int on_sample(struct rs_perf_reader *r, const struct rs_perf_record *rec)
{
	struct rs_perf_attr *attr = rs_perf_attrs_of_sample(&r->head.attrs, rec->data, rec->size);
	struct rs_order_item *item;
	struct rs_perf_sample s;
	enum rs_perf_what what = RS_PERF_W_OTHER;
	uint32_t len = 0, cpu;

	if (!attr) {
		r->strays++;
		return 0;
	}
	if (!rs_perf_sample_parse(&r->head.attrs, attr, rec->data, rec->size, &s) || s.ts == UINT64_MAX) {
		r->short_samples++;
		return 0;
	}
	cpu = s.cpu < RS_PERF_MAX_CPUS ? s.cpu : cpu_of(r, attr, s.cpu, rec->data, rec->size);
	if (!s.has_time || cpu >= RS_PERF_MAX_CPUS) {
		if (attr->type != RS_PERF_TYPE_TRACEPOINT) {	/* of no use but as a number */
			attr->count++;
			r->rec.source->total_events++;
			return 0;
		}
		r->no_time += !s.has_time;
		r->no_cpu += s.has_time && cpu == RS_PERF_NO_CPU;
		r->bad_cpu += s.has_time && cpu != RS_PERF_NO_CPU;
		return 0;
	}
	if (attr->type == RS_PERF_TYPE_TRACEPOINT && s.raw && r->have_decoder) {
		const struct rs_kind *kind = rs_decoder_kind(&r->dec, s.raw, s.raw_len);

		what = RS_PERF_W_PAYLOAD;
		len = s.raw_len;
		if (kind->record == RS_REC_OTHER && len > r->dec.common_len)
			len = r->dec.common_len;	/* nobody looks at the rest */
		else if (!r->settled)
			settle(r, kind, s.raw, s.raw_len);
	} else {
		attr->count++;
		r->no_format += attr->type == RS_PERF_TYPE_TRACEPOINT && s.raw;
	}
	item = queue(r, s.ts, cpu, what, len);
	if (!item)
		return -ENOMEM;
	if (len)
		memcpy(item->data, s.raw, len);
	r->last_sample_ts = s.ts;
	if (!r->seen[cpu])
		see_cpu(r, cpu);
	return 0;
}

/* A loss on one cpu, or where the cpu is not told on all that were seen; the count is then that of the first. */
static int queue_lost(struct rs_perf_reader *r, uint64_t ts, uint32_t cpu, uint64_t count)
{
	bool all = cpu >= RS_PERF_MAX_CPUS;
	uint32_t first = all ? 0 : cpu, last = all ? r->top_cpu : cpu + 1;

	for (uint32_t i = first; i < last; i++) {
		struct rs_order_item *item;

		if (all && !r->seen[i])
			continue;
		item = queue(r, ts, i, RS_PERF_W_LOST, sizeof(count));
		if (!item)
			return -ENOMEM;
		memcpy(item->data, &count, sizeof(count));
		count = 0;
	}
	return 0;
}

/* Where and when a record that is no sample was written. Return: false: it is shorter than it should be. */
static bool place(struct rs_perf_reader *r, const struct rs_perf_record *rec, uint32_t least, struct rs_perf_attr **ret_attr, struct rs_perf_sample *ret)
{
	struct rs_perf_attr *attr = rs_perf_attrs_of_other(&r->head.attrs, rec->data, rec->size);

	if (rec->size < least || (attr && !rs_perf_trailer_parse(&r->head.attrs, attr, rec->data, rec->size, least, ret)) ||
	    (attr && ret->ts == UINT64_MAX)) {
		r->short_samples++;
		return false;
	}
	if (!attr)
		*ret = (struct rs_perf_sample){ .cpu = RS_PERF_NO_CPU };
	*ret_attr = attr;
	return true;
}

static int on_lost(struct rs_perf_reader *r, const struct rs_perf_record *rec)
{
	bool samples = rec->type == RS_PERF_LOST_SAMPLES;
	struct rs_perf_attr *attr;
	struct rs_perf_sample s;
	uint64_t count;

	if (!place(r, rec, samples ? HEADER + 8 : HEADER + 16, &attr, &s))
		return 0;
	count = rs_load_u64(rec->data + (samples ? HEADER : HEADER + 8), r->head.swap);
	if (samples && (rec->misc & MISC_FILTERED))
		return 0;	/* left out by a BPF filter, as the user wished */
	if (samples && !s.ts) {	/* perf adds the sum of an event when it ends */
		if (attr && attr->type == RS_PERF_TYPE_TRACEPOINT)
			r->lost_at_end += count < UINT64_MAX / 2 ? count : 0;
		return 0;
	}
	if (samples && attr && attr->type != RS_PERF_TYPE_TRACEPOINT)
		return 0;
	return count ? queue_lost(r, s.has_time ? s.ts : r->last_sample_ts, s.cpu, count) : 0;
}

static int on_throttle(struct rs_perf_reader *r, const struct rs_perf_record *rec)
{
	struct rs_perf_attr *attr;
	struct rs_perf_sample s;
	const struct rs_perf_id *id;

	if (!place(r, rec, HEADER + 24, &attr, &s))
		return 0;
	id = rs_perf_attrs_find(&r->head.attrs, rs_load_u64(rec->data + HEADER + 8, r->head.swap));
	if (id && id->attr < r->head.attrs.nr)
		attr = &r->head.attrs.list[id->attr];
	if (!attr || attr->type != RS_PERF_TYPE_TRACEPOINT)
		return 0;
	r->throttled += rec->type == RS_PERF_THROTTLE;
	if (rec->type == RS_PERF_THROTTLE)
		return 0;
	s.ts = rs_load_u64(rec->data + HEADER, r->head.swap);
	return s.ts == UINT64_MAX ? 0 : queue_lost(r, s.ts, s.cpu, 0);
}

/* A name perf read from /proc when it began: for tasks no event names. */
static int add_fallback(struct rs_perf_reader *r, int32_t pid, const char *name, size_t len)
{
	int64_t idx;

	if (pid <= 0 || !len || r->comms.fallback.count >= MAX_FALLBACK_NAMES)
		return 0;
	idx = resched_names_intern(r->rec.names, name, len);
	return idx < 0 ? -ENOMEM : rs_map_set(&r->comms.fallback, (uint32_t)pid, (uint32_t)idx);
}

static int on_comm(struct rs_perf_reader *r, const struct rs_perf_record *rec)
{
	struct rs_perf_attr *attr;
	struct rs_perf_sample s;
	struct rs_order_item *item;
	uint32_t room;
	int32_t pid;
	size_t len;

	if (!place(r, rec, HEADER + 8, &attr, &s))
		return 0;
	pid = (int32_t)rs_load_u32(rec->data + HEADER + 4, r->head.swap);
	room = rec->size - HEADER - 8 - (attr ? attr->end_all : 0);
	len = strnlen((const char *)rec->data + HEADER + 8, room < RS_PERF_COMM_BYTES ? room : RS_PERF_COMM_BYTES);
	if (!s.has_time || !s.ts)
		return add_fallback(r, pid, (const char *)rec->data + HEADER + 8, len);
	if (s.cpu >= RS_PERF_MAX_CPUS || pid <= 0)
		return 0;
	item = queue(r, s.ts, s.cpu, RS_PERF_W_COMM, sizeof(pid) + RS_PERF_COMM_BYTES);
	if (!item)
		return -ENOMEM;
	memset(item->data, 0, item->len);
	memcpy(item->data, &pid, sizeof(pid));
	memcpy(item->data + sizeof(pid), rec->data + HEADER + 8, len);
	return 0;
}

static int on_fork_exit(struct rs_perf_reader *r, const struct rs_perf_record *rec)
{
	bool fork = rec->type == RS_PERF_FORK;
	struct rs_perf_attr *attr;
	struct rs_perf_sample s;
	struct rs_order_item *item;
	int32_t pids[2];

	if (!r->have_decoder || !(fork ? r->fork_records : r->exit_records) || !place(r, rec, HEADER + 24, &attr, &s))
		return 0;
	pids[0] = (int32_t)rs_load_u32(rec->data + HEADER + 8, r->head.swap);	/* the thread, then its parent */
	pids[1] = (int32_t)rs_load_u32(rec->data + HEADER + 12, r->head.swap);
	s.ts = rs_load_u64(rec->data + HEADER + 16, r->head.swap);
	if (!s.ts || s.ts == UINT64_MAX || s.cpu >= RS_PERF_MAX_CPUS || pids[0] <= 0)
		return 0;	/* those before the recording, written by perf itself */
	item = queue(r, s.ts, s.cpu, fork ? RS_PERF_W_FORK : RS_PERF_W_EXIT, sizeof(pids));
	if (!item)
		return -ENOMEM;
	memcpy(item->data, pids, sizeof(pids));
	return 0;
}

static int on_formats(struct rs_perf_reader *r, const struct rs_perf_record *rec)
{
	uint64_t from = rec->after;
	uint32_t len;
	int rc;

	if (rec->size < HEADER + 4 || rec->expanded)
		return 0;
	len = rs_load_u32(rec->data + HEADER, r->head.swap);
	if (len <= rec->size - HEADER - 4)	/* simpleperf: inside the record */
		from = rec->after - rec->size + HEADER + 4;
	else
		rs_perf_stream_skip(&r->in, len);
	rc = rs_perf_head_formats(&r->head, from, len);
	return rc < 0 ? rc : rs_perf_start_decoder(r);
}

/* Which cpu each id was opened on. */
static void on_id_index(struct rs_perf_reader *r, const struct rs_perf_record *rec)
{
	uint64_t nr = rec->size >= HEADER + 8 ? rs_load_u64(rec->data + HEADER, r->head.swap) : 0;

	if (nr > (rec->size - HEADER) / 32)
		nr = (rec->size - HEADER) / 32;
	for (uint64_t i = 0; i < nr && HEADER + 8 + (i + 1) * 32 <= rec->size; i++) {
		const uint8_t *p = rec->data + HEADER + 8 + i * 32;
		struct rs_perf_id *id = rs_perf_attrs_find(&r->head.attrs, rs_load_u64(p, r->head.swap));
		uint64_t cpu = rs_load_u64(p + 16, r->head.swap);

		if (id && cpu < RS_PERF_MAX_CPUS)
			id->cpu = (uint32_t)cpu;
	}
}

static int on_record(struct rs_perf_reader *r, const struct rs_perf_record *rec)
{
	switch (rec->type) {
	case RS_PERF_SAMPLE:
		return on_sample(r, rec);
	case RS_PERF_LOST:
	case RS_PERF_LOST_SAMPLES:
		return on_lost(r, rec);
	case RS_PERF_THROTTLE:
	case RS_PERF_UNTHROTTLE:
		return on_throttle(r, rec);
	case RS_PERF_COMM:
		return on_comm(r, rec);
	case RS_PERF_FORK:
	case RS_PERF_EXIT:
		return on_fork_exit(r, rec);
	case RS_PERF_FINISHED_ROUND:
		r->limit = r->round_ts;
		r->round_ts = r->max_ts;
		return 0;
	case RS_PERF_HEADER_ATTR:
		return r->head.pipe ? rs_perf_head_attr(&r->head, rec->data, rec->size) : 0;
	case RS_PERF_HEADER_FEATURE:
		return rs_perf_head_feature(&r->head, rec->data, rec->size);
	case RS_PERF_EVENT_UPDATE:
		return rs_perf_head_update(&r->head, rec->data, rec->size);
	case RS_PERF_TRACING_DATA:
		return on_formats(r, rec);
	case RS_PERF_ID_INDEX:
		on_id_index(r, rec);
		return 0;
	case RS_PERF_AUXTRACE:	/* its data follows it */
		if (!rec->expanded && rec->size >= HEADER + 8)
			rs_perf_stream_skip(&r->in, rs_load_u64(rec->data + HEADER, r->head.swap));
		return 0;
	default:
		return 0;
	}
}

/* The records ended, or cannot be followed. Return: true: go on behind the damage. */
static bool go_on(struct rs_perf_reader *r)
{
	unsigned long long at = r->in.ended_at;
	uint64_t skipped;

	switch (r->in.ended) {
	case RS_PERF_DONE:
		r->broken |= r->head.short_file;
		return false;
	case RS_PERF_CUT:
		r->broken = true;
		rs_note_damage(r->rec.notes, "file ends early: the record at byte %llu is cut; those before it are used", at);
		return false;
	case RS_PERF_BAD_PACKED:
		r->broken = true;
		rs_note_damage(r->rec.notes, "compressed data before byte %llu is damaged; what follows cannot be read", at);
		return false;
	default:
		break;
	}
	if (rs_perf_stream_resume(&r->in, &skipped)) {
		rs_note_damage(r->rec.notes, "no record can be at byte %llu: %llu bytes are skipped, to the end of that round", at,
			       (unsigned long long)skipped);
		return queue_lost(r, r->max_ts, RS_PERF_NO_CPU, 0) == 0;
	}
	r->broken = true;
	rs_note_damage(r->rec.notes, "no record can be at byte %llu: what follows is not read", at);
	return false;
}

int rs_perf_pump(struct rs_perf_reader *r)
{
	struct rs_perf_record rec;
	uint64_t limit = r->limit;

	while (r->limit == limit && r->order.bytes < RS_PERF_WAITING_MAX) {
		if (rs_perf_stream_next(&r->in, &rec)) {
			int rc = on_record(r, &rec);

			if (rc < 0)
				return rc;
		} else if (r->in.ended == RS_PERF_NO_MEMORY) {
			return -ENOMEM;
		} else if (!go_on(r)) {
			r->ended = true;
			r->limit = UINT64_MAX;
			return 0;
		}
	}
	return 0;
}
