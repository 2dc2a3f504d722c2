// SPDX-License-Identifier: GPL-2.0-only
/* Watching: what has come since the last call is copied out of the ring, decoded as a recording would be, and merged by time. */
#include "capture/flight.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/names.h"
#include "capture/recording.h"
#include "trace/comms.h"
#include "trace/decode.h"
#include "trace/page.h"

#define LOOK_NS 500000000ull
#define ROOM_BYTES (256u << 10)	/* of one cpu, copied at once */
#define COMMS_MOST 65536u	/* pids with a name; most are dead by then, and the others are told again */

struct live_cpu {
	struct rs_ring_cursor cursor;
	uint8_t *buf;			/* pieces; NULL until the first came */
	uint32_t len, at;		/* of @buf; the next piece */
	uint64_t until_ns;		/* all events up to here are in @buf or were handed over */
	struct rs_page page;
	uint64_t lost;			/* before the next event: 0, a number, RS_RING_LOST_UNKNOWN */
	const uint8_t *data;		/* record of the next event; NULL: there is none */
	uint32_t data_len;
	uint64_t ts_ns;
};

struct rs_live {
	struct resched_flight *flight;
	struct rs_notes notes;
	struct rs_dat dat;		/* the frame of a recording that is not there: formats alone */
	struct rs_page_layout layout;
	struct rs_decoder dec;
	struct rs_comms comms;
	struct resched_names *names;
	struct live_cpu *cpus;
	bool rename_seen, has_truth;
	struct resched_truth truth;
	uint64_t last_ns;
	unsigned int nr_out, at_out;	/* of one record, if the taker stopped in the middle */
	struct resched_event out[RS_DECODE_NAMES + 2];
};

/* ---- making */

static int add_system(struct rs_dat *dat, const struct rs_text_system *system)
{
	for (unsigned int i = 0; i < system->nr; i++) {
		char *text = strdup(system->texts[i]);

		if (!text || rs_dat_add_event(dat, text) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int make_frame(struct rs_live *live, const struct rs_texts *formats)
{
	struct rs_dat *dat = &live->dat;
	int rc = 0;

	dat->notes = &live->notes;
	dat->big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	dat->page_bytes = live->flight->ring.page_bytes;
	dat->header_page = strdup(formats->header_page);
	if (!dat->header_page)
		return -ENOMEM;
	for (unsigned int i = 0; i < formats->nr_systems && rc == 0; i++)
		rc = add_system(dat, &formats->systems[i]);
	return rc;
}

/* The kernel has the flag of a lazy reschedule since 6.13. */
static bool has_lazy_flag(void)
{
	struct utsname uts;
	unsigned long major, minor = 0;
	char *end;

	if (uname(&uts) < 0)
		return false;
	major = strtoul(uts.release, &end, 10);
	if (*end == '.')
		minor = strtoul(end + 1, NULL, 10);
	return major > 6 || (major == 6 && minor >= 13);
}

/* Names of tasks that no event may name for long: wakers. */
static int learn_names(struct rs_live *live)
{
	struct rs_datw_buf body = { 0 };
	int rc = rs_recording_cmdlines(&body, live->flight->host, NULL);

	rs_datw_put(&body, "", 1);
	if (rc == 0 && body.failed)
		rc = -ENOMEM;
	if (rc == 0)
		rc = rs_comms_init(&live->comms, live->names, body.data + sizeof(uint64_t));
	rs_datw_buf_release(&body);
	return rc;
}

int rs_live_new(struct resched_flight *flight, struct rs_live **ret, struct resched_error *err)
{
	struct rs_live *live = calloc(1, sizeof(*live));
	int rc;

	if (!live)
		return rs_error_nomem(err);
	*ret = live;	/* to be freed whatever comes */
	live->flight = flight;
	live->names = resched_names_new();
	live->cpus = calloc(flight->setup.nr_cpus, sizeof(*live->cpus));
	if (!live->names || !live->cpus || make_frame(live, &flight->job.formats) < 0)
		return rs_error_nomem(err);
	live->layout.big = live->dat.big;
	if (!rs_page_layout_parse(&live->layout, live->dat.header_page, live->dat.page_bytes) ||
	    live->layout.data_offset != sizeof(uint64_t) + sizeof(uint64_t))
		return rs_error_set(err, RESCHED_FAILED, -ENOTSUP, "the flight recorder knows pages of 64-bit kernels only");
	rc = rs_decoder_init(&live->dec, &live->dat, has_lazy_flag());
	if (rc == 0 || rc == -ENODATA)
		rc = learn_names(live);
	for (unsigned int i = 0; i < flight->nr_pids && rc == 0; i++)
		rc = rs_map_set(&live->dec.own, (uint32_t)flight->pids[i], 1);
	return rc < 0 ? rs_error_nomem(err) : 0;
}

void rs_live_free(struct rs_live *live)
{
	if (!live)
		return;
	for (unsigned int i = 0; live->cpus && i < live->flight->setup.nr_cpus; i++)
		free(live->cpus[i].buf);
	free(live->cpus);
	rs_decoder_release(&live->dec);
	rs_comms_release(&live->comms);
	rs_dat_release(&live->dat);
	rs_notes_release(&live->notes);
	resched_names_free(live->names);
	free(live);
}

/* ---- one cpu */

static void add_lost(struct live_cpu *cpu, uint64_t lost)
{
	if (!lost)
		return;
	cpu->lost = lost == RS_RING_LOST_UNKNOWN || cpu->lost == RS_RING_LOST_UNKNOWN || cpu->lost + lost > INT64_MAX ? RS_RING_LOST_UNKNOWN
														   : cpu->lost + lost;
}

/* Go to the next record of what was copied. */
static void advance(struct rs_live *live, struct live_cpu *cpu)
{
	for (;;) {
		struct rs_ring_piece head;
		uint8_t *piece;

		cpu->data = rs_page_next(&cpu->page, &cpu->data_len);
		if (cpu->data) {
			cpu->ts_ns = cpu->page.ts;
			return;
		}
		if (cpu->at >= cpu->len) {
			cpu->at = cpu->len = 0;
			return;
		}
		piece = cpu->buf + cpu->at;
		memcpy(&head, piece, sizeof(head));
		add_lost(cpu, head.lost);
		/* behind the number of lost events a piece is laid out as a page */
		if (!rs_page_begin(&cpu->page, &live->layout, piece + offsetof(struct rs_ring_piece, ts_ns)))
			add_lost(cpu, RS_RING_LOST_UNKNOWN);
		cpu->at += ((uint32_t)sizeof(head) + (uint32_t)head.commit + 7) & ~7u;
	}
}

/* Copy what is new. Return: 0; -ENOMEM. */
static int fetch(struct rs_live *live, unsigned int idx)
{
	struct live_cpu *cpu = &live->cpus[idx];
	uint32_t need = live->dat.page_bytes + (uint32_t)sizeof(struct rs_ring_piece) + 8, n;
	bool skipped, idle = !cpu->data && cpu->at == cpu->len;
	uint64_t until;

	if (!cpu->buf)
		cpu->buf = aligned_alloc(64, ROOM_BYTES);
	if (!cpu->buf)
		return -ENOMEM;
	if (ROOM_BYTES - cpu->len < need)
		return 0;
	n = rs_ring_read(&live->flight->ring, idx, &cpu->cursor, cpu->buf + cpu->len, ROOM_BYTES - cpu->len, &until, &skipped);
	if (skipped)
		add_lost(cpu, RS_RING_LOST_UNKNOWN);	/* told a little early when older events are still waiting here */
	cpu->len += n;
	if (until > cpu->until_ns)
		cpu->until_ns = until;
	if (idle && n)
		advance(live, cpu);
	return 0;
}

/* ---- merging */

static struct live_cpu *oldest(struct rs_live *live, unsigned int *ret_idx)
{
	struct live_cpu *found = NULL;

	for (unsigned int i = 0; i < live->flight->setup.nr_cpus; i++) {
		struct live_cpu *cpu = &live->cpus[i];

		if (!cpu->data || (found && cpu->ts_ns >= found->ts_ns))
			continue;
		found = cpu;
		*ret_idx = i;
	}
	return found;
}

/* Hand over what of the last record has not been taken. Return: events taken; what the taker returned. */
static int give(struct rs_live *live, resched_event_fn on_event, void *ctx)
{
	int nr = 0;

	while (live->at_out < live->nr_out) {
		int rc = on_event(ctx, &live->out[live->at_out++]);

		if (rc < 0)
			return rc;
		nr++;
	}
	live->has_truth = false;
	return nr;
}

/* The next record of @cpu, with the loss and the names before it, into live->out. Return: 0; -ENOMEM. */
static int decode(struct rs_live *live, struct live_cpu *cpu, unsigned int number)
{
	struct rs_kind *kind = rs_decoder_kind(&live->dec, cpu->data, cpu->data_len);
	struct resched_event ev = { .ts_ns = cpu->ts_ns > live->last_ns ? cpu->ts_ns : live->last_ns, .cpu = (uint16_t)number };
	bool swallow = false;
	int n = 0;

	live->nr_out = live->at_out = 0;
	live->last_ns = ev.ts_ns;
	if (live->comms.nr >= COMMS_MOST)
		rs_comms_forget_all(&live->comms);
	if (cpu->lost) {
		struct resched_event *lost = &live->out[live->nr_out++];

		*lost = (struct resched_event){ .ts_ns = ev.ts_ns, .cpu = ev.cpu, .type = RESCHED_EV_LOST };
		lost->lost.count = cpu->lost == RS_RING_LOST_UNKNOWN ? 0 : cpu->lost;
		cpu->lost = 0;
	}
	rs_decode(&live->dec, kind, cpu->data, cpu->data_len, &ev);
	if (ev.type == RESCHED_EV_TRUTH) {
		rs_truth_load(&live->dec.truth, cpu->data, live->dec.swap, &live->truth);
		live->has_truth = true;
	} else if (kind->record != RS_REC_OTHER) {
		n = rs_decode_names(&live->dec, &live->comms, kind, cpu->data, cpu->data_len, &ev, live->out + live->nr_out, &swallow,
				    &live->rename_seen);
		if (n < 0)
			return n;
		live->nr_out += (unsigned int)n;
		if (ev.type == RESCHED_EV_COMM && !swallow) {	/* renamed to what it was */
			ev.type = RESCHED_EV_OTHER;
			ev.pid = 0;
			memset(&ev.sw, 0, sizeof(ev) - offsetof(struct resched_event, sw));
		}
	}
	if (!swallow)
		live->out[live->nr_out++] = ev;
	return 0;
}

/* Everything up to which all cpus are complete. Return: events handed over; -errno. */
static int deliver(struct rs_live *live, resched_event_fn on_event, void *ctx)
{
	uint64_t horizon = UINT64_MAX;
	unsigned int idx = 0;
	struct live_cpu *cpu;
	int nr = 0, rc;

	for (unsigned int i = 0; i < live->flight->setup.nr_cpus; i++) {
		rc = fetch(live, i);
		if (rc < 0)
			return rc;
		if (live->cpus[i].until_ns < horizon)
			horizon = live->cpus[i].until_ns;
	}
	while ((cpu = oldest(live, &idx)) && cpu->ts_ns <= horizon) {
		rc = decode(live, cpu, live->flight->setup.cpu_ids[idx]);
		if (rc < 0)
			return rc;
		advance(live, cpu);
		rc = give(live, on_event, ctx);
		if (rc < 0)
			return rc;
		nr += rc;
	}
	return nr;
}

static int next_ready(struct rs_live *live, resched_event_fn on_event, void *ctx)
{
	int nr = give(live, on_event, ctx), rc;

	if (nr < 0)
		return nr;
	do {
		rc = deliver(live, on_event, ctx);
		if (rc > 0)
			nr += rc;
	} while (rc > 0 && nr < INT32_MAX / 2);
	return rc < 0 ? rc : nr;
}

static void clear_fd(int fd)
{
	uint64_t count;

	if (read(fd, &count, sizeof(count)) < 0)
		return;		/* it was not set */
}

/* Tasks that came into a cgroup since. */
static void look(struct resched_flight *flight)
{
	struct resched_record_options only = { .nr_cgroups = flight->opts.record.nr_cgroups, .cgroups = flight->opts.record.cgroups };
	struct rs_selection sel = { 0 };
	uint64_t now = rs_now_ns();

	rs_flight_look(flight);
	if (!only.nr_cgroups || now - flight->looked_ns < LOOK_NS)
		return;
	flight->looked_ns = now;
	if (rs_selection_find(&sel, &only, true, NULL) == 0 && sel.nr)
		(void)flight->setup.backend->follow(&flight->job, sel.nr, sel.pids);
	rs_selection_release(&sel);
}

int resched_flight_poll(struct resched_flight *flight, int timeout_ms, resched_event_fn on_event, void *ctx, struct resched_error *err)
{
	struct rs_page_ring *ring = &flight->ring;
	uint64_t cpu_ns = rs_thread_cpu_ns(), until = rs_now_ns() + (timeout_ms > 0 ? (uint64_t)timeout_ms * 1000000u : 0);
	int rc;

	for (;;) {
		int failure;

		clear_fd(ring->fd);
		look(flight);
		rc = next_ready(flight->live, on_event, ctx);
		pthread_mutex_lock(&ring->lock);
		failure = ring->failure;
		pthread_mutex_unlock(&ring->lock);
		if (rc == -ENOMEM)
			rs_error_nomem(err);
		if (rc == 0 && failure)
			rc = rs_error_set(err, RESCHED_FAILED, failure, "the flight recorder has stopped recording:");
		if (rc || rs_now_ns() >= until)
			break;
		rs_ring_wait_news(ring, until);
	}
	atomic_fetch_add(&flight->own_cpu_ns, rs_thread_cpu_ns() - cpu_ns);
	return rc;
}

const struct resched_truth *resched_flight_truth(const struct resched_flight *flight)
{
	const struct rs_live *live = flight->live;

	return live->has_truth && live->at_out && live->out[live->at_out - 1].type == RESCHED_EV_TRUTH ? &live->truth : NULL;
}

void resched_flight_renew_names(struct resched_flight *flight)
{
	struct rs_live *live = flight->live;

	for (unsigned int i = live->at_out; i < live->nr_out; i++) {	/* left over by a taker that stopped */
		struct resched_event *ev = &live->out[i];

		if (ev->type == RESCHED_EV_COMM)
			*ev = (struct resched_event){ .ts_ns = ev->ts_ns, .cpu = ev->cpu, .type = RESCHED_EV_OTHER };
	}
	rs_comms_release(&live->comms);
	rs_names_clear(live->names);
	(void)rs_comms_init(&live->comms, live->names, NULL);	/* names of the start may be those of others by now */
}

struct resched_names *resched_flight_names(struct resched_flight *flight)
{
	return flight->live->names;
}
