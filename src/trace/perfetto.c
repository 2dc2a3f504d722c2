// SPDX-License-Identifier: GPL-2.0-only
/* Perfetto traces as a stream of events: one bundle a cpu at a time, merged by a binary heap. */
#include "trace/perfetto.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "trace/minimal_host.h"
#include "trace/perfetto_reader.h"

#define PROBE_BUNDLES 64u		/* looked at to learn how states are written */
#define OUT_EVENTS 5

/* Of one cpu: the bundle held, and who runs. */
struct pf_cpu {
	uint16_t cpu;
	uint32_t next_bundle;
	uint8_t *buf;
	size_t room;
	struct rs_pf_decoded d;
	struct rs_pf_item *it;		/* next event of this cpu */
	bool lost_pending, seen;
	bool lost_after;		/* of the bundle held, something behind its events */
	bool current_known;
	int32_t current;
	int16_t current_prio;
	uint64_t last_ts;
};

struct pf_reader {
	struct rs_recording rec;
	struct rs_input unpacked;	/* in place of rec.in, fd -1: none */
	const struct rs_input *in;
	struct rs_pf_index x;
	struct rs_pf_decoder dec;
	struct rs_comms comms;
	unsigned int nr_cpus;		/* with bundles */
	struct pf_cpu *cpus;
	struct pf_cpu **heap;
	unsigned int nr_heap, tail_cpu;
	uint64_t held;			/* bytes of all cpus */
	uint64_t counts[RS_PF_KINDS];
	struct resched_event_count *names;
	struct resched_event out[OUT_EVENTS];
	unsigned int nr_out, at_out;
	bool any, finished, rename_seen;
	uint64_t backwards, bad_bundles, errors, unnamed_first;
};

static uint64_t time_of(const struct pf_cpu *c)
{
	return c->it->ev.ts_ns;
}

static bool earlier(const struct pf_cpu *a, const struct pf_cpu *b)
{
	return time_of(a) != time_of(b) ? time_of(a) < time_of(b) : a->cpu < b->cpu;
}

static void sift_down(struct pf_reader *r, unsigned int at)
{
	struct pf_cpu *moved = r->heap[at];

	for (;;) {
		unsigned int child = at * 2 + 1;

		if (child >= r->nr_heap)
			break;
		if (child + 1 < r->nr_heap && earlier(r->heap[child + 1], r->heap[child]))
			child++;
		if (!earlier(r->heap[child], moved))
			break;
		r->heap[at] = r->heap[child];
		at = child;
	}
	r->heap[at] = moved;
}

/* ---- bundles */

static bool make_room(struct pf_reader *r, struct pf_cpu *c, size_t size)
{
	uint8_t *buf;

	if (size <= c->room)
		return true;
	buf = realloc(c->buf, size);
	if (!buf)
		return false;
	r->held += size - c->room;
	c->buf = buf;
	c->room = size;
	return true;
}

static void lose(struct pf_cpu *c)
{
	c->lost_pending = true;
	c->current_known = false;
}

/* Take the next bundle of the cpu apart. Return: 1; 0: it could not be read; -ENOMEM. */
static int load_bundle(struct pf_reader *r, struct pf_cpu *c)
{
	const struct rs_pf_bundle *b = &r->x.lists[c->cpu].bundles[c->next_bundle++];
	uint32_t room = c->d.room;
	int rc;

	if (b->flags & RS_PF_BUNDLE_LOST)
		lose(c);
	if (r->held > RS_PF_MAX_HELD || !b->len)
		return 0;
	if (!make_room(r, c, b->len))
		return -ENOMEM;
	if (rs_input_read(r->in, b->off, c->buf, b->len) != b->len)
		return 0;
	rc = rs_pf_decode(&r->dec, c->buf, b->len, &c->d);
	r->held += (uint64_t)(c->d.room - room) * sizeof(*c->d.items);
	return rc < 0 ? rc : 1;
}

/* Which of the three runs of the bundle comes next; RS_PF_RUNS: none. */
static unsigned int next_run(const struct rs_pf_decoded *d)
{
	unsigned int best = RS_PF_RUNS;

	for (unsigned int run = 0; run < RS_PF_RUNS; run++) {
		if (d->from[run] < d->to[run] &&
		    (best == RS_PF_RUNS || d->items[d->from[run]].ev.ts_ns < d->items[d->from[best]].ev.ts_ns))
			best = run;
	}
	return best;
}

/* Put the next event of a cpu in place. Return: 1; 0 at its end; -ENOMEM. */
static int advance(struct pf_reader *r, struct pf_cpu *c)
{
	unsigned int run;

	while ((run = next_run(&c->d)) == RS_PF_RUNS) {
		int rc;

		if (c->lost_after)
			lose(c);
		c->lost_after = false;
		if (c->next_bundle == r->x.lists[c->cpu].nr)
			return 0;
		rc = load_bundle(r, c);
		if (rc < 0)
			return rc;
		r->bad_bundles += !rc || c->d.bad;
		c->lost_after = !rc || c->d.bad;
		if (rc && c->d.lost)
			lose(c);
		r->errors += rc ? c->d.errors : 0;
		if (rc && c->d.errors)
			lose(c);
	}
	c->it = &c->d.items[c->d.from[run]++];
	c->it->ev.cpu = c->cpu;
	if (c->it->ev.ts_ns < c->last_ts) {
		r->backwards++;
		c->it->ev.ts_ns = c->last_ts;
	}
	c->last_ts = c->it->ev.ts_ns;
	return 1;
}

/* ---- events */

/* What columns leave out: the task that is switched out, or the one that wakes another. */
static void complete(struct pf_reader *r, struct pf_cpu *c, struct rs_pf_item *it)
{
	struct resched_event *ev = &it->ev;

	if (it->current >= 0 && !c->current_known) {
		c->current = it->current;
		c->current_prio = 120;
		c->current_known = true;
	}
	switch (ev->type) {
	case RESCHED_EV_SWITCH:
		if (it->compact && c->current_known) {
			ev->pid = c->current;
			ev->sw.prev_prio = c->current_prio;
		} else if (it->compact) {
			ev->sw.prev_prio = 120;
			r->unnamed_first++;
			if (it->raw_state)
				ev->sw.prev_state = RESCHED_STATE_RUNNING;	/* it is told of the idle task, which always runs */
		}
		c->current = ev->sw.next_pid;
		c->current_prio = ev->sw.next_prio;
		c->current_known = true;
		break;
	case RESCHED_EV_WAKING:
	case RESCHED_EV_WAKEUP:
	case RESCHED_EV_WAKEUP_NEW:
		if (it->current < 0)
			ev->wake.waker_pid = c->current_known ? c->current : 0;
		break;
	default:
		if (ev->pid < 0)
			ev->pid = c->current_known ? c->current : 0;
		break;
	}
}

static int tell(struct pf_reader *r, const struct resched_event *ev, int32_t pid, uint32_t name, bool renamed)
{
	struct resched_event *out = &r->out[r->nr_out++];

	*out = (struct resched_event){ .ts_ns = ev->ts_ns, .cpu = ev->cpu, .ctx = ev->ctx, .pid = pid, .type = RESCHED_EV_COMM };
	out->comm.name = name;
	out->comm.renamed = renamed;
	return 1;
}

/* Return: 1 a name was told; 0; -ENOMEM. */
static int see(struct pf_reader *r, const struct resched_event *ev, int32_t pid, const uint8_t *text, size_t len, bool strong)
{
	uint32_t name = 0;
	bool renamed = false;
	int rc;

	if (pid <= 0)
		return 0;
	if (text && len)
		rc = rs_comms_see(&r->comms, pid, text, (uint32_t)len, strong, &name, &renamed);
	else
		rc = rs_comms_fallback(&r->comms, pid, &name);
	return rc > 0 ? tell(r, ev, pid, name, renamed) : rc;
}

static int see_exec(struct pf_reader *r, const struct rs_pf_item *it)
{
	const uint8_t *path = it->name[0], *base = path ? memrchr(path, '/', it->name_len[0]) : NULL;
	size_t len = it->name_len[0];

	if (r->rename_seen || !path)	/* the rename before it told the name, exactly */
		return 0;
	if (base) {
		len -= (size_t)(base + 1 - path);
		path = base + 1;
	}
	return see(r, &it->ev, it->ev.pid, path, len < 15 ? len : 15, true);
}

/* The COMM events of an item into r->out. Return: 1: a rename was told by them; 0; -ENOMEM. */
static int see_names(struct pf_reader *r, const struct rs_pf_item *it)
{
	const struct resched_event *ev = &it->ev;
	int rc;

	switch (ev->type) {
	case RESCHED_EV_SWITCH:
		rc = see(r, ev, ev->pid, it->name[0], it->name_len[0], true);
		return rc < 0 ? rc : see(r, ev, ev->sw.next_pid, it->name[1], it->name_len[1], true);
	case RESCHED_EV_WAKING:
	case RESCHED_EV_WAKEUP:
	case RESCHED_EV_WAKEUP_NEW:
		rc = see(r, ev, ev->wake.waker_pid, NULL, 0, false);
		return rc < 0 ? rc : see(r, ev, ev->pid, it->name[0], it->name_len[0], false);
	case RESCHED_EV_FORK:
		rc = see(r, ev, ev->pid, it->name[0], it->name_len[0], false);
		rs_comms_forget(&r->comms, ev->fork.child_pid);
		return rc < 0 ? rc : see(r, ev, ev->fork.child_pid, it->name[1], it->name_len[1], false);
	case RESCHED_EV_EXEC:
		return see_exec(r, it);
	case RESCHED_EV_COMM:
		r->rename_seen = true;
		return see(r, ev, ev->pid, it->name[0], it->name_len[0], true);
	case RESCHED_EV_OTHER:
		return 0;
	default:
		return see(r, ev, ev->pid, it->name[0], it->name_len[0], false);
	}
}

static void account(struct pf_reader *r, struct pf_cpu *c, const struct rs_pf_item *it)
{
	struct resched_source *src = r->rec.source;

	r->counts[it->kind]++;
	src->total_events++;
	src->last_ns = it->ev.ts_ns;
	if (!r->any) {
		r->any = true;
		src->first_ns = it->ev.ts_ns;
	}
	src->nr_observed += !c->seen;
	c->seen = true;
}

static void put_lost(struct pf_reader *r, uint64_t ts_ns, uint16_t cpu)
{
	r->out[r->nr_out++] = (struct resched_event){ .ts_ns = ts_ns, .cpu = cpu, .type = RESCHED_EV_LOST };
	r->rec.source->lost_gaps++;
	r->rec.source->lost_events++;
}

/* The event at @c into r->out, with what must go before it. Return: 0; -ENOMEM. */
static int deliver(struct pf_reader *r, struct pf_cpu *c)
{
	struct rs_pf_item *it = c->it;
	int rc;

	if (c->lost_pending && c->seen)
		put_lost(r, it->ev.ts_ns, c->cpu);
	else if (c->lost_pending && r->any)	/* it begins later than others; what was before its time is no loss of the trace */
		r->out[r->nr_out++] = (struct resched_event){ .ts_ns = it->ev.ts_ns, .cpu = c->cpu, .type = RESCHED_EV_LOST };
	c->lost_pending = false;
	complete(r, c, it);
	rc = see_names(r, it);
	if (rc < 0)
		return rc;
	account(r, c, it);
	if (it->ev.type == RESCHED_EV_COMM) {
		if (rc)
			return 0;
		/* renamed to what it was */
		it->ev = (struct resched_event){ .ts_ns = it->ev.ts_ns, .cpu = c->cpu, .ctx = it->ev.ctx, .type = RESCHED_EV_OTHER };
	}
	r->out[r->nr_out++] = it->ev;
	return 0;
}

/* ---- opening */

static unsigned int release_number(const char *release)
{
	unsigned int major, minor;

	return sscanf(release, "%3u.%3u", &major, &minor) == 2 ? major * 1000 + minor : 0;
}

/* The state of the idle task tells kernels that wrote 1 << index (4.15 to 4.19) from the others; bits above 256 the old ones. */
static int probe_states(struct pf_reader *r, unsigned int release)
{
	struct rs_pf_decoded d = { 0 };
	unsigned int left = PROBE_BUNDLES;
	bool settled = release >= 5000;
	int rc = 0;

	for (unsigned int cpu = 0; cpu < r->x.nr_lists && !settled && left && rc == 0; cpu++) {
		const struct rs_pf_list *list = &r->x.lists[cpu];
		int32_t current = -1;

		for (uint32_t i = 0; i < list->nr && i < 4 && left && !settled && rc == 0; i++, left--) {
			uint8_t *buf = malloc(list->bundles[i].len + 1);

			if (!buf)
				rc = -ENOMEM;
			else if (rs_input_read(r->in, list->bundles[i].off, buf, list->bundles[i].len) == list->bundles[i].len)
				rc = rs_pf_decode(&r->dec, buf, list->bundles[i].len, &d);
			for (uint32_t k = 0; rc == 0 && buf && k < d.to[RS_PF_SWITCHES]; k++) {
				const struct rs_pf_item *it = &d.items[k];

				if (it->ev.type != RESCHED_EV_SWITCH)
					continue;
				if ((it->compact ? current : it->ev.pid) == 0) {
					r->dec.states.shifted = it->raw_state == 1;
					settled = true;
				}
				r->dec.states.old |= !release && it->raw_state > 0x100;
				current = it->ev.sw.next_pid;
			}
			free(buf);
		}
	}
	free(d.items);
	return rc;
}

static const char *clock_name(unsigned int clock)
{
	static const char *const names[] = { "boot", NULL, "global", "local", "mono_raw" };

	return clock < sizeof(names) / sizeof(names[0]) ? names[clock] : NULL;
}

static int make_host(struct pf_reader *r, const char *clock)
{
	char uname[2 * RS_PF_TEXT + 32] = "";
	struct resched_source *src = r->rec.source;

	src->nr_cpus = r->x.nr_cpus > r->x.nr_lists ? r->x.nr_cpus : r->x.nr_lists;
	if (*r->x.release)
		snprintf(uname, sizeof(uname), "Linux unknown %s %s", r->x.release, r->x.machine);
	if (rs_minimal_host(*uname ? uname : NULL, clock, src->nr_cpus, r->rec.host) < 0)
		return -ENOMEM;
	src->kernel = *uname && *r->rec.host ? (*r->rec.host)->kernel : NULL;
	src->clock = clock;
	return 0;
}

static int open_cpus(struct pf_reader *r)
{
	unsigned int nr = r->x.nr_lists ? r->x.nr_lists : 1;

	r->cpus = calloc(nr, sizeof(*r->cpus));
	r->heap = calloc(nr, sizeof(struct pf_cpu *));
	if (!r->cpus || !r->heap)
		return -ENOMEM;
	for (unsigned int cpu = 0; cpu < r->x.nr_lists; cpu++) {
		struct pf_cpu *c = &r->cpus[r->nr_cpus];
		int rc;

		if (!r->x.lists[cpu].nr)
			continue;
		r->nr_cpus++;
		c->cpu = (uint16_t)cpu;
		rc = advance(r, c);
		if (rc < 0)
			return rc;
		if (rc)
			r->heap[r->nr_heap++] = c;
	}
	for (unsigned int i = r->nr_heap / 2; i-- > 0;)
		sift_down(r, i);
	return 0;
}

static void note_index(struct pf_reader *r)
{
	const struct rs_pf_index *x = &r->x;

	if (x->bad_packets)
		rs_note_damage(r->rec.notes, "%llu packets are damaged and left out", (unsigned long long)x->bad_packets);
	if (x->too_long)
		rs_note_damage(r->rec.notes, "%llu packets of ftrace events name no CPU below %u or are longer than %u MiB and are left out",
			       (unsigned long long)x->too_long, RS_PF_MAX_CPUS, RS_PF_MAX_BUNDLE >> 20);
	if (x->suspended_ns)
		rs_note(r->rec.notes, "the machine was suspended for %.3f s in all: waits across that include it", (double)x->suspended_ns / 1e9);
	if (!x->nr_bundles)
		rs_note(r->rec.notes, "the trace holds no ftrace events; record with the data source linux.ftrace and the events sched/sched_switch and sched/sched_waking");
	else if (!*x->release)
		rs_note(r->rec.notes, "the trace does not tell the kernel, so task states are read by the rules of kernels %s",
			r->dec.states.shifted ? "4.15 to 4.19" : r->dec.states.old ? "before 4.14" : "since 4.20");
	else if (release_number(x->release) == 4014)
		rs_note(r->rec.notes, "kernel 4.14 stored the index of a task state: states other than S and D are unsure");
}

static int index_all(struct pf_reader *r, struct resched_error *err)
{
	struct rs_notes *notes = r->rec.notes;
	int rc = rs_pf_index(&r->x, r->in);

	if (rc == 0 && r->x.packed) {
		rc = rs_pf_unpack(r->rec.in, &r->unpacked, notes, err);
		if (rc < 0)
			return rc;
		rs_pf_index_release(&r->x);
		memset(&r->x, 0, sizeof(r->x));
		r->x.notes = notes;
		r->x.comms = &r->comms;
		r->x.unpacked = true;
		r->in = &r->unpacked;
		rc = rs_pf_index(&r->x, r->in);
	}
	return rc < 0 ? rs_error_nomem(err) : 0;
}

static int pf_open(const struct rs_recording *rec, void **ret, struct resched_error *err)
{
	struct pf_reader *r = calloc(1, sizeof(*r));
	unsigned int release;
	int rc;

	if (!r)
		return rs_error_nomem(err);
	r->rec = *rec;
	r->in = rec->in;
	r->unpacked.fd = -1;
	r->x.notes = rec->notes;
	r->x.comms = &r->comms;
	*ret = r;
	rec->source->format = "perfetto";
	if (rs_comms_init(&r->comms, rec->names, NULL) < 0)
		return rs_error_nomem(err);
	rc = index_all(r, err);
	if (rc < 0)
		return rc;
	release = release_number(r->x.release);
	rs_pf_decoder_init(&r->dec, release);
	if (probe_states(r, release) < 0 || open_cpus(r) < 0 ||
	    make_host(r, r->nr_heap ? clock_name(r->heap[0]->d.clock) : NULL) < 0)
		return rs_error_nomem(err);
	note_index(r);
	if (!r->nr_heap && rec->notes->damaged)
		return rs_error_set(err, RESCHED_DAMAGED, -EBADMSG, "no event data of this Perfetto trace can be read: %s",
				    rec->notes->nr ? rec->notes->lines[rec->notes->nr - 1] : "damaged");
	return 0;
}

static void pf_free(void *reader)
{
	struct pf_reader *r = reader;

	for (unsigned int i = 0; i < r->nr_cpus; i++) {
		free(r->cpus[i].buf);
		free(r->cpus[i].d.items);
	}
	for (unsigned int i = 0; r->names && i < r->rec.source->nr_events; i++)
		free(r->names[i].name);
	free(r->names);
	free(r->cpus);
	free(r->heap);
	rs_pf_index_release(&r->x);
	rs_comms_release(&r->comms);
	rs_input_close(&r->unpacked);
	free(r);
}

/* ---- the end */

static int compare_counts(const void *a, const void *b)
{
	return strcmp(((const struct resched_event_count *)a)->name, ((const struct resched_event_count *)b)->name);
}

static void finish_counts(struct pf_reader *r)
{
	unsigned int nr = 0;

	r->names = calloc(RS_PF_KINDS, sizeof(*r->names));
	if (!r->names)
		return;
	for (unsigned int kind = 0; kind < RS_PF_KINDS; kind++) {
		const char *name = kind == RS_PF_RUNTIME ? "sched_stat_runtime" : rs_pf_kind_name(kind);
		char buf[32];

		if (!r->counts[kind])
			continue;
		snprintf(buf, sizeof(buf), kind ? "ftrace event %u" : "unknown", kind);
		r->names[nr].name = strdup(name ? name : buf);
		if (r->names[nr].name)
			r->names[nr++].count = r->counts[kind];
	}
	qsort(r->names, nr, sizeof(*r->names), compare_counts);
	r->rec.source->events = r->names;
	r->rec.source->nr_events = nr;
}

static void finish(struct pf_reader *r)
{
	struct resched_source *src = r->rec.source;
	struct rs_notes *notes = r->rec.notes;
	uint64_t lost = r->x.stats_at_end && r->x.lost_at_end > r->x.lost_at_start ? r->x.lost_at_end - r->x.lost_at_start : 0;

	if (r->finished)
		return;
	r->finished = true;
	if (r->bad_bundles)
		rs_note_damage(notes, "%llu packets of ftrace events are damaged; what they held is lost in part", (unsigned long long)r->bad_bundles);
	if (r->errors)
		rs_note_damage(notes, "the recorder could not read the kernel's buffers %llu times; events were lost there", (unsigned long long)r->errors);
	if (r->backwards)
		rs_note(notes, "time ran backwards %llu times on one CPU; those events were moved to the time before them",
			(unsigned long long)r->backwards);
	if (r->unnamed_first)
		rs_note(notes, "%llu switches at the beginning or behind a loss do not tell which task they leave; it is taken for idle",
			(unsigned long long)r->unnamed_first);
	if (lost > src->lost_events) {
		rs_note(notes, "the kernel counted %llu lost events, but only of %llu is known when", (unsigned long long)lost,
			(unsigned long long)src->lost_events);
		src->lost_events = lost;
	}
	finish_counts(r);
}

/* A trace that is cut: on every cpu one loss behind all else, so that nobody takes its silence for idleness. */
static int tail(struct pf_reader *r)
{
	while (r->any && r->tail_cpu < r->nr_cpus) {
		struct pf_cpu *c = &r->cpus[r->tail_cpu++];

		if (!c->seen || !(r->x.cut || c->lost_pending || r->x.lists[c->cpu].lost))
			continue;
		put_lost(r, r->rec.source->last_ns + 1, c->cpu);
		return 1;
	}
	finish(r);
	return 0;
}

/* Return: 1: there is something in r->out; 0 at the end; -ENOMEM. */
static int produce(struct pf_reader *r)
{
	r->nr_out = r->at_out = 0;
	while (!r->nr_out && r->nr_heap) {
		struct pf_cpu *c = r->heap[0];
		int rc = deliver(r, c);

		if (rc == 0)
			rc = advance(r, c);
		if (rc < 0)
			return rc;
		if (!rc)
			r->heap[0] = r->heap[--r->nr_heap];
		if (r->nr_heap > 1)
			sift_down(r, 0);
	}
	return r->nr_out ? 1 : tail(r);
}

static int pf_next(void *reader, const struct resched_event **ret, struct resched_error *err)
{
	struct pf_reader *r = reader;

	if (r->at_out == r->nr_out) {
		int rc = r->finished ? 0 : produce(r);

		if (rc < 0) {
			r->nr_heap = r->nr_out = r->at_out = 0;
			finish(r);
			return rs_error_nomem(err);
		}
		if (!rc)
			return 0;
	}
	*ret = &r->out[r->at_out++];
	return 1;
}

const struct rs_reader_ops rs_perfetto_ops = { .is = rs_pf_is, .open = pf_open, .next = pf_next, .free = pf_free };
