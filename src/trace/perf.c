// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf.data as a stream of events. Records are taken as they come and put in order of time (perf_order.h); the payload of a
 * tracepoint sample is the record that ftrace would have written, so decode.c makes the event of it.
 *
 * How long an event must wait: perf empties all ring buffers in rounds and marks the end of each. What was written before the round
 * began is in the file when it ends, so what is older than all of the round before the last cannot be overtaken any more.
 */
#include "trace/perf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "trace/perf_reader.h"

#define SIGN_OF_GAPS 10u

/* ---- from the queue to the consumer */

/* Keep the promise of a stream: time never decreases, and equal times come in order of cpu. */
static void stamp(struct rs_perf_reader *r, const struct rs_order_item *item, struct resched_event *ev)
{
	uint64_t ts = item->ts;

	if (ts < r->last_ts) {
		r->late++;
		if (r->last_ts - ts > r->late_most_ns)
			r->late_most_ns = r->last_ts - ts;
		ts = r->last_ts;
	}
	if (ts == r->last_ts && item->cpu < r->last_cpu)
		ts++;
	ev->ts_ns = r->last_ts = ts;
	ev->cpu = r->last_cpu = item->cpu;
}

static void clear(struct resched_event *ev, uint8_t type, int32_t pid)
{
	ev->type = type;
	ev->pid = pid;
	ev->ctx = 0;
	memset(&ev->sw, 0, sizeof(*ev) - offsetof(struct resched_event, sw));
}

static void account(struct rs_perf_reader *r, const struct resched_event *ev)
{
	struct resched_source *src = r->rec.source;

	src->total_events++;
	src->last_ns = ev->ts_ns;
	if (!r->any) {
		r->any = true;
		src->first_ns = ev->ts_ns;
	}
}

/* Does each switch leave the task that the one before it went to? Not when only some tasks were recorded. */
static void check_chain(struct rs_perf_reader *r, const struct resched_event *ev)
{
	r->switches++;
	r->unchained += r->next_on[ev->cpu].known && r->next_on[ev->cpu].pid != ev->pid;
	r->next_on[ev->cpu].known = true;
	r->next_on[ev->cpu].pid = ev->sw.next_pid;
}

/* The task that runs was named when it was switched to. */
static inline bool is_named(const struct rs_perf_reader *r, const struct resched_event *ev)
{
	return r->next_on[ev->cpu].known && r->next_on[ev->cpu].pid == ev->pid;
}

static int deliver_payload(struct rs_perf_reader *r, const struct rs_order_item *item, struct resched_event *ev)
{
	struct rs_kind *kind = rs_decoder_kind(&r->dec, item->data, item->len);
	bool swallow = false;
	int n = 0;

	r->short_records += !rs_decode(&r->dec, kind, item->data, item->len, ev);
	kind->count++;
	account(r, ev);
	if (ev->type == RESCHED_EV_SWITCH)
		check_chain(r, ev);
	if (kind->record != RS_REC_OTHER && !(ev->type == RESCHED_EV_RUNTIME && is_named(r, ev))) {
		n = rs_decode_names(&r->dec, &r->comms, kind, item->data, item->len, ev, r->out, &swallow, &r->rename_seen);
		if (n < 0)
			return n;
		if (ev->type == RESCHED_EV_COMM && !swallow)	/* renamed to what it was */
			clear(ev, RESCHED_EV_OTHER, 0);
	}
	if (!swallow)
		r->out[n++] = *ev;
	return n;
}

static int deliver_comm(struct rs_perf_reader *r, const struct rs_order_item *item, struct resched_event *ev)
{
	uint32_t name;
	bool renamed = false;
	int32_t pid;
	int rc;

	memcpy(&pid, item->data, sizeof(pid));
	rc = rs_comms_see(&r->comms, pid, item->data + sizeof(pid), RS_PERF_COMM_BYTES, true, &name, &renamed);
	if (rc <= 0)
		return rc;
	clear(ev, RESCHED_EV_COMM, pid);
	ev->comm.name = name;
	ev->comm.renamed = renamed;
	r->out[0] = *ev;
	return 1;
}

/* Fill r->out. Return: how many events; -ENOMEM. */
static int deliver(struct rs_perf_reader *r, const struct rs_order_item *item)
{
	struct resched_event ev;
	int32_t pids[2];
	uint64_t count;

	stamp(r, item, &ev);
	clear(&ev, RESCHED_EV_OTHER, 0);
	switch (item->what) {
	case RS_PERF_W_PAYLOAD:
		return deliver_payload(r, item, &ev);
	case RS_PERF_W_COMM:
		return deliver_comm(r, item, &ev);
	case RS_PERF_W_LOST:
		memcpy(&count, item->data, sizeof(count));
		clear(&ev, RESCHED_EV_LOST, 0);
		ev.lost.count = count;
		r->rec.source->lost_gaps++;
		r->rec.source->lost_events += count ? count : 1;
		r->next_on[ev.cpu].known = false;
		break;
	case RS_PERF_W_FORK:
		memcpy(pids, item->data, sizeof(pids));
		clear(&ev, RESCHED_EV_FORK, pids[1]);
		ev.fork.child_pid = pids[0];
		rs_comms_forget(&r->comms, pids[0]);
		break;
	case RS_PERF_W_EXIT:
		memcpy(pids, item->data, sizeof(pids));
		clear(&ev, RESCHED_EV_EXIT, pids[0]);
		break;
	default:
		account(r, &ev);
		break;
	}
	r->out[0] = ev;
	return 1;
}

/* ---- the end */

static int compare_counts(const void *a, const void *b)
{
	return strcmp(((const struct resched_event_count *)a)->name, ((const struct resched_event_count *)b)->name);
}

static const char *attr_name(const struct rs_perf_attr *a, char *buf, size_t size)
{
	static const char *const types[] = { "hardware", "software", "tracepoint", "cache", "raw", "breakpoint" };
	static const char *const hardware[] = { "cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses" };
	static const char *const software[] = { "cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations" };
	const char *colon;

	if (!a->name) {
		if (a->type == 0 && a->config < sizeof(hardware) / sizeof(hardware[0]))
			return hardware[a->config];
		if (a->type == 1 && a->config < sizeof(software) / sizeof(software[0]))
			return software[a->config];
		snprintf(buf, size, "%s event %llu", a->type < sizeof(types) / sizeof(types[0]) ? types[a->type] : "other",
			 (unsigned long long)a->config);
		return buf;
	}
	colon = a->type == RS_PERF_TYPE_TRACEPOINT ? strchr(a->name, ':') : NULL;
	return colon ? colon + 1 : a->name;
}

static void add_count(struct rs_perf_reader *r, unsigned int *nr, const char *name, uint64_t count)
{
	r->counts[*nr].name = count ? strdup(name) : NULL;
	if (r->counts[*nr].name)
		r->counts[(*nr)++].count = count;
}

static void finish_counts(struct rs_perf_reader *r)
{
	unsigned int nr = 0, out = 0;
	char buf[64];

	r->counts = calloc((size_t)r->dec.nr_kinds + r->head.attrs.nr + 1, sizeof(*r->counts));
	if (!r->counts)
		return;
	for (unsigned int i = 0; i < r->dec.nr_kinds; i++)
		add_count(r, &nr, r->dec.kinds[i].name, r->dec.kinds[i].count);
	for (unsigned int i = 0; i < r->head.attrs.nr; i++)
		add_count(r, &nr, attr_name(&r->head.attrs.list[i], buf, sizeof(buf)), r->head.attrs.list[i].count);
	qsort(r->counts, nr, sizeof(*r->counts), compare_counts);
	for (unsigned int i = 0; i < nr; i++) {
		if (out && !strcmp(r->counts[out - 1].name, r->counts[i].name)) {
			r->counts[out - 1].count += r->counts[i].count;
			free(r->counts[i].name);
		} else {
			r->counts[out++] = r->counts[i];
		}
	}
	r->rec.source->events = r->counts;
	r->rec.source->nr_events = out;
}

/* Why events could not be decoded. */
static void note_formats(struct rs_perf_reader *r)
{
	const struct rs_perf_head *head = &r->head;

	if (!head->attrs.nr)
		return;
	if (!head->attrs.any_tracepoint)
		rs_note(r->rec.notes, "no tracepoint was recorded, so there is no scheduler event; record with 'perf sched record' or events 'sched:*'");
	else if (!head->attrs.any_raw)
		rs_note_damage(r->rec.notes, "the samples of tracepoints hold no payload (sample type RAW); record with 'perf record -R' or 'perf sched record'");
	else if (!r->have_decoder)
		rs_note_damage(r->rec.notes, "the formats of the events (tracing data) are missing%s: %llu events are counted, none can be decoded",
			       head->unfinished ? ", perf writes them when it ends" : head->short_file ? ", they were behind the cut" :
			       head->bad_formats ? " or damaged" : "; a perf without libtraceevent does not write them",
			       (unsigned long long)r->no_format);
	else if (r->no_format)
		rs_note_damage(r->rec.notes, "%llu events came before their formats and are only counted", (unsigned long long)r->no_format);
}

static void note_doubts(struct rs_perf_reader *r)
{
	struct rs_notes *notes = r->rec.notes;
	struct resched_source *src = r->rec.source;

	if (r->late)
		rs_note(notes, "%llu events were written too late to be put in order%s, the latest by %llu ns; they were moved to the time before them",
			(unsigned long long)r->late, r->hurried ? " (more than 96 MiB had to wait)" : "", (unsigned long long)r->late_most_ns);
	if (r->no_time)
		rs_note_damage(notes, "%llu samples carry no time and are left out; record with 'perf record -T' or 'perf sched record'",
			       (unsigned long long)r->no_time);
	if (r->no_cpu)
		rs_note_damage(notes, "%llu samples do not say on which CPU they were taken and are left out; record with 'perf record --sample-cpu' or -a",
			       (unsigned long long)r->no_cpu);
	if (r->bad_cpu)
		rs_note_damage(notes, "%llu samples name a CPU above %u and are left out", (unsigned long long)r->bad_cpu, RS_PERF_MAX_CPUS - 1);
	if (r->strays)
		rs_note_damage(notes, "%llu samples are of an event that the file does not describe and are left out", (unsigned long long)r->strays);
	if (r->short_samples)
		rs_note_damage(notes, "%llu records are shorter than they should be and are left out", (unsigned long long)r->short_samples);
	if (r->short_records)
		rs_note_damage(notes, "%llu records are shorter than their format says and were not decoded", (unsigned long long)r->short_records);
	if (r->have_decoder && r->dec.kinds[0].count)
		rs_note(notes, "%llu events have no format in the recording; they are counted as 'unknown'",
			(unsigned long long)r->dec.kinds[0].count);
	if (r->throttled)
		rs_note(notes, "the kernel held events back %llu times because they were too many (throttled)", (unsigned long long)r->throttled);
	if (r->lost_at_end > src->lost_events) {
		rs_note(notes, "perf says that %llu events were lost, but only of %llu when", (unsigned long long)r->lost_at_end,
			(unsigned long long)src->lost_events);
		src->lost_events = r->lost_at_end;
	}
	if (r->unchained > SIGN_OF_GAPS && r->unchained > r->switches / 20)
		rs_note(notes, "%llu of %llu switches leave another task than their CPU went to before: switches are missing (perf without -a records those of its tasks only)",
			(unsigned long long)r->unchained, (unsigned long long)r->switches);
}

static void finish(struct rs_perf_reader *r)
{
	if (r->finished)
		return;
	r->finished = true;
	note_formats(r);
	note_doubts(r);
	if (!r->rec.source->nr_cpus)
		r->rec.source->nr_cpus = r->top_cpu;
	finish_counts(r);
}

/* The data ended before it should: on every cpu one loss behind all else, so that nobody takes its silence for idleness. */
static int tail(struct rs_perf_reader *r)
{
	while (r->broken && r->any && r->tail_cpu < r->top_cpu) {
		unsigned int cpu = r->tail_cpu++;

		if (!r->seen[cpu])
			continue;
		clear(&r->out[0], RESCHED_EV_LOST, 0);
		r->out[0].ts_ns = r->last_ts + 1;
		r->out[0].cpu = (uint16_t)cpu;
		r->rec.source->lost_events++;
		r->rec.source->lost_gaps++;
		return 1;
	}
	finish(r);
	return 0;
}

/* The next events into r->out. Return: how many, 0 at the end; -ENOMEM. */
static int produce(struct rs_perf_reader *r)
{
	for (;;) {
		bool hurry = r->order.bytes >= RS_PERF_WAITING_MAX;
		const struct rs_order_item *item = rs_order_take(&r->order, hurry ? UINT64_MAX : r->limit);
		int n;

		if (item) {
			r->hurried |= hurry && !r->ended;
			n = deliver(r, item);
			if (n)
				return n;
		} else if (r->ended) {
			return tail(r);
		} else {
			n = rs_perf_pump(r);
			if (n < 0)
				return n;
		}
	}
}

static int perf_next(void *reader, const struct resched_event **ret, struct resched_error *err)
{
	struct rs_perf_reader *r = reader;

	if (r->at_out == r->nr_out) {
		int n = r->finished ? 0 : produce(r);

		r->at_out = 0;
		r->nr_out = n > 0 ? n : 0;
		if (n < 0) {
			finish(r);
			return rs_error_nomem(err);
		}
		if (!n)
			return 0;
	}
	*ret = &r->out[r->at_out++];
	return 1;
}

/* ---- the beginning */

/* perf's own clock unless it was told another (perf record -k). */
static const char *clock_name(const struct rs_perf_attrs *attrs)
{
	static const struct { int32_t id; const char *name; } clocks[] = {
		{ 0, "realtime" }, { 1, "mono" }, { 4, "mono_raw" }, { 7, "boot" }, { 11, "tai" },
	};
	const struct rs_perf_attr *a = attrs->nr ? &attrs->list[0] : NULL;

	for (size_t i = 0; a && a->has_clockid && i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		if (clocks[i].id == a->clockid)
			return clocks[i].name;
	}
	return a && a->has_clockid ? NULL : "perf";
}

static int open_source(struct rs_perf_reader *r, struct resched_error *err)
{
	struct resched_source *src = r->rec.source;
	int rc;

	src->format = r->head.pipe ? "perf.data (pipe)" : "perf.data";
	src->clock = clock_name(&r->head.attrs);
	src->nr_cpus = r->head.cpus_online;
	rc = rs_perf_head_host(&r->head, src->clock, r->rec.host);
	if (rc < 0)
		return rs_error_nomem(err);
	src->kernel = *r->rec.host ? (*r->rec.host)->kernel : NULL;
	return 0;
}

static int perf_open(const struct rs_recording *rec, void **ret, struct resched_error *err)
{
	struct rs_perf_reader *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return rs_error_nomem(err);
	*ret = r;
	r->rec = *rec;
	rc = rs_perf_head_open(&r->head, rec->in, rec->notes, err);
	if (rc < 0)
		return rc;
	if (rs_comms_init(&r->comms, rec->names, NULL) < 0 || rs_perf_start_decoder(r) < 0 ||
	    rs_perf_stream_init(&r->in, rec->in, r->head.data_off, r->head.data_end, r->head.big) < 0)
		return rs_error_nomem(err);
	r->nr_out = produce(r);	/* in a pipe the frame comes as records: read up to the first event */
	if (r->nr_out < 0) {
		r->nr_out = 0;
		return rs_error_nomem(err);
	}
	if (!r->head.attrs.nr || (!r->nr_out && rec->notes->damaged))
		return rs_error_set(err, RESCHED_DAMAGED, -EBADMSG, "no event of this perf.data can be read: %s",
				    rec->notes->nr ? rec->notes->lines[0] : "it describes no event");
	return open_source(r, err);
}

static void perf_free(void *reader)
{
	struct rs_perf_reader *r = reader;

	for (unsigned int i = 0; r->counts && i < r->rec.source->nr_events; i++)
		free(r->counts[i].name);
	free(r->counts);
	rs_order_release(&r->order);
	rs_perf_stream_release(&r->in);
	rs_comms_release(&r->comms);
	rs_decoder_release(&r->dec);
	rs_perf_head_release(&r->head);
	free(r);
}

const struct rs_reader_ops rs_perf_ops = {
	.is = rs_perf_is, .open = perf_open, .next = perf_next, .free = perf_free,
};
