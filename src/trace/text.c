// SPDX-License-Identifier: GPL-2.0-only
/* Text traces: from lines to a stream in time order, with names, losses and counts. */
#include "trace/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpulist.h"
#include "base/error.h"
#include "trace/comms.h"
#include "trace/minimal_host.h"
#include "trace/text_event.h"
#include "trace/text_head.h"
#include "trace/text_lines.h"
#include "trace/text_probe.h"
#include "trace/text_scan.h"
#include "trace/text_window.h"

#define KINDS_MAX 1024u			/* names that are counted apart; trace_printk may bring any number */
#define KIND_SLOTS 2048u
#define QUOTE_BYTES 120

struct text_kind { char *name; uint32_t len; uint8_t type; uint64_t count; };

struct text_cpu {
	bool seen, pending;	/* an event was met; a loss was told and awaits its next event */
	uint64_t lost;
};

struct text_reader {
	struct rs_recording rec;
	struct rs_lines lines;
	struct rs_text_head head;
	struct rs_raw_states raw;
	struct rs_window window;
	struct rs_comms comms;
	unsigned int nr_kinds;
	struct text_kind kinds[KINDS_MAX];
	uint16_t kind_slots[KIND_SLOTS];	/* index + 1 */
	struct resched_event_count *counts;
	unsigned int nr_cpus;			/* highest seen + 1 */
	struct text_cpu *cpus;			/* room for RS_MAX_CPUS */
	bool exhausted, finished, any, rename_seen, no_memory;
	bool cut;				/* the last line has no end, and is no event */
	uint64_t unparsed, strangers, ticks;
	uint64_t exact, rounded;		/* event lines with stamps in ns, and coarser */
	bool raw_seen, plugin_seen, no_prio_seen;
	char unparsed_quote[QUOTE_BYTES], stranger_quote[QUOTE_BYTES];
	uint64_t unparsed_at, stranger_at;
	unsigned int tail_cpu;
	struct resched_event tail;
};

/* ---- names of events */

/* A name by its length and its ends: those of one recording rarely agree in all of them. */
static inline uint32_t kind_hash(const char *name, uint32_t len)
{
	uint64_t head = 0, tail = 0;

	memcpy(&head, name, len < 8 ? len : 8);
	if (len > 8)
		memcpy(&tail, name + len - 8, 8);
	head = (head ^ (tail * 0x9e3779b97f4a7c15ull) ^ len) * 0xff51afd7ed558ccdull;
	return (uint32_t)(head >> 40);
}

static struct text_kind *add_kind(struct text_reader *t, const char *name, uint32_t len, uint16_t *slot)
{
	struct text_kind *kind = &t->kinds[t->nr_kinds];

	kind->name = strndup(name, len);
	if (!kind->name) {
		t->no_memory = true;
		return NULL;
	}
	kind->len = len;
	kind->type = (uint8_t)rs_text_event_type(name, len);
	*slot = (uint16_t)++t->nr_kinds;
	return kind;
}

static bool plain_name(const char *name, uint32_t len)
{
	if (!len || len > 64)
		return false;
	for (uint32_t i = 0; i < len; i++) {
		if (!isalnum((unsigned char)name[i]) && !strchr("_-.", name[i]))
			return false;
	}
	return true;
}

/* Never NULL but without memory. Names that are none, and those beyond the limit, are counted as "unknown". */
static struct text_kind *find_kind(struct text_reader *t, const char *name, uint32_t len)
{
	static const char unknown[] = "unknown";

	for (;;) {
		uint32_t i = kind_hash(name, len) % KIND_SLOTS;

		for (; t->kind_slots[i]; i = (i + 1) % KIND_SLOTS) {
			struct text_kind *kind = &t->kinds[t->kind_slots[i] - 1];

			if (kind->len == len && !memcmp(kind->name, name, len))
				return kind;
		}
		if (name == unknown || (plain_name(name, len) && t->nr_kinds < KINDS_MAX - 1))
			return add_kind(t, name, len, &t->kind_slots[i]);
		name = unknown;
		len = sizeof(unknown) - 1;
	}
}

/* ---- names of tasks */

static void put_comm(struct text_reader *t, const struct resched_event *ev, int32_t pid, uint32_t name, bool renamed)
{
	struct resched_event out = { .ts_ns = ev->ts_ns, .cpu = ev->cpu, .ctx = ev->ctx, .pid = pid, .type = RESCHED_EV_COMM };

	out.comm.name = name;
	out.comm.renamed = renamed;
	rs_window_put(&t->window, &out);
}

/* Return: whether a COMM was told. */
static bool see_name(struct text_reader *t, const struct resched_event *ev, const struct rs_text_name *n)
{
	uint32_t name = 0, idx;
	bool renamed = false;
	int rc;

	if (n->pid <= 0)
		return false;
	rc = rs_comms_see(&t->comms, n->pid, (const uint8_t *)n->text, n->len, n->strong, &name, &renamed);
	if (rc < 0)
		t->no_memory = true;
	if (rc > 0)
		put_comm(t, ev, n->pid, name, renamed);
	if (rc == 0 && ev->ts_ns < t->window.newest_ns) {
		/* the name was told with an event that turns out to come later: tell it before this one too */
		idx = rs_map_get(&t->comms.by_pid, (uint32_t)n->pid);
		if (idx != RS_MAP_NONE && t->comms.slots[idx].known)
			put_comm(t, ev, n->pid, t->comms.slots[idx].name, false);
	}
	return rc > 0;
}

/* The waker is named in front of the line only, by what the tool remembered of it: good for a task that nothing else names. */
static void see_waker(struct text_reader *t, const struct resched_event *ev, const struct rs_text_line *line)
{
	const char *comm = line->comm, *end = comm + line->comm_len, *origin = memmem(comm, line->comm_len, ":  ", 3);
	uint32_t idx, name;
	int64_t id;
	int rc;

	for (; origin && comm < end && (comm <= origin || *comm == ' '); comm++)
		;	/* what trace-cmd puts in front when it prints several buffers */
	if (line->pid <= 0 || comm == end || *comm == '<')
		return;
	idx = rs_map_get(&t->comms.by_pid, (uint32_t)line->pid);
	if (idx != RS_MAP_NONE && t->comms.slots[idx].known)
		return;
	id = resched_names_intern(t->rec.names, comm, (size_t)(end - comm));
	if (id < 0 || rs_map_set(&t->comms.fallback, (uint32_t)line->pid, (uint32_t)id) < 0) {
		t->no_memory = true;
		return;
	}
	rc = rs_comms_fallback(&t->comms, line->pid, &name);
	if (rc < 0)
		t->no_memory = true;
	else if (rc)
		put_comm(t, ev, line->pid, name, false);
}

/* Return: false when the event has become one of its names (a rename). */
static bool see_names(struct text_reader *t, const struct rs_text_line *line, struct rs_text_event *te)
{
	const struct resched_event *ev = &te->ev;
	bool told = false;

	switch (ev->type) {
	case RESCHED_EV_WAKING:
	case RESCHED_EV_WAKEUP:
	case RESCHED_EV_WAKEUP_NEW:
		see_waker(t, ev, line);
		break;
	case RESCHED_EV_EXEC:
		if (t->rename_seen)	/* the rename before it told the name, exactly */
			return true;
		break;
	case RESCHED_EV_COMM:
		t->rename_seen = true;
		break;
	default:
		break;
	}
	for (unsigned int i = 0; i < te->nr_names; i++) {
		if (ev->type == RESCHED_EV_FORK && i == 1)
			rs_comms_forget(&t->comms, ev->fork.child_pid);
		told |= see_name(t, ev, &te->names[i]);
	}
	return ev->type != RESCHED_EV_COMM || !told;
}

/* ---- lines */

static void quote(char ret[QUOTE_BYTES], const char *line, const char *end)
{
	size_t n;

	while (*line == ' ' || *line == '\t')
		line++;
	n = (size_t)(end - line);
	if (n >= QUOTE_BYTES)
		n = QUOTE_BYTES - 1;
	memcpy(ret, line, n);
	ret[n] = '\0';
	for (size_t i = 0; i < n; i++) {
		if ((unsigned char)ret[i] >= 0x7f)
			ret[i] = '?';
	}
}

/* An event, or a piece of one, that could not be read. */
static void count_unparsed(struct text_reader *t, const char *line, const char *end)
{
	if (!t->unparsed++) {
		t->unparsed_at = t->lines.nr;
		quote(t->unparsed_quote, line, end);
	}
}

/*
 * A line that is no event. Texts of events may hold newlines and perf prints call chains, so this is nothing bad, unless a
 * scheduler event is named in it.
 */
static void count_stranger(struct text_reader *t, const char *line, const char *end)
{
	if (memmem(line, (size_t)(end - line), "sched_switch: ", 14) || memmem(line, (size_t)(end - line), "sched_wak", 9)) {
		count_unparsed(t, line, end);
		return;
	}
	if (*line == '\t' || !memcmp(line, " =>", 3))
		return;
	if (!t->strangers++) {
		t->stranger_at = t->lines.nr;
		quote(t->stranger_quote, line, end);
	}
}

static void add_lost(struct text_reader *t, uint32_t cpu, uint64_t lost)
{
	struct text_cpu *c = &t->cpus[cpu];

	/* a number and an unknown number make an unknown number */
	c->lost = !lost || (c->pending && !c->lost) ? 0 : c->lost + lost;
	c->pending = true;
}

/* Losses show before the next event of their cpu; before its first event they tell nothing. */
static void put_lost(struct text_reader *t, const struct resched_event *next)
{
	struct text_cpu *c = &t->cpus[next->cpu];
	struct resched_event ev = { .ts_ns = next->ts_ns, .cpu = next->cpu, .type = RESCHED_EV_LOST };

	if (c->seen) {
		ev.lost.count = c->lost;
		t->rec.source->lost_gaps++;
		t->rec.source->lost_events += c->lost ? c->lost : 1;
		rs_window_put(&t->window, &ev);
	}
	c->pending = false;
	c->lost = 0;
}

static void take_event(struct text_reader *t, const struct rs_text_line *line, const char *text)
{
	struct rs_text_event te;
	struct text_kind *kind = find_kind(t, line->name, line->name_len);
	struct text_cpu *cpu = &t->cpus[line->cpu];

	if (!kind)
		return;
	if (!rs_text_decode((enum resched_event_type)kind->type, line, &t->raw, &te))
		count_unparsed(t, text, line->end);
	kind->count++;
	t->rec.source->total_events++;
	t->exact += line->digits > 6;
	t->rounded += line->digits <= 6;
	t->raw_seen |= te.raw;
	t->plugin_seen |= te.plugin;
	t->no_prio_seen |= te.no_prio;
	if (line->cpu >= t->nr_cpus)
		t->nr_cpus = line->cpu + 1;
	if (cpu->pending)
		put_lost(t, &te.ev);
	t->rec.source->nr_observed += !cpu->seen;
	cpu->seen = true;
	if (te.ev.type != RESCHED_EV_OTHER && !see_names(t, line, &te))
		return;
	if (te.ev.type == RESCHED_EV_COMM) {	/* renamed to what it was */
		te.ev.type = RESCHED_EV_OTHER;
		te.ev.pid = 0;
	}
	rs_window_put(&t->window, &te.ev);
}

/* Any line. Return: true when it was an event. */
static bool take_line(struct text_reader *t, char *line, size_t len)
{
	struct rs_text_line ret;
	const char *end = line + len;
	uint32_t cpu;
	uint64_t lost;

	if (t->head.html && !rs_text_html_line(&t->head, line, end))
		return false;
	end = rs_line_unescape(line, end);
	while (end > line && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	line[end - line] = '\0';
	if (*line != '#' && rs_text_scan(&t->head.columns, line, end, &ret)) {
		if (!ret.digits) {
			t->ticks++;
			return false;
		}
		if (ret.name_len < 12 || memcmp(ret.name, "PERF_RECORD_", 12) != 0) {
			take_event(t, &ret, line);
			return true;
		}
		if (!memcmp(ret.name, "PERF_RECORD_LOST", 16)) {
			const char *p = ret.body;
			int64_t n = 0;

			if (!memcmp(p, "lost ", 5)) {
				p += 5;
				rs_text_number(&p, &n);
			}
			add_lost(t, ret.cpu, n > 0 ? (uint64_t)n : 0);
		}
		return false;
	}
	switch (rs_text_head_line(&t->head, line, end, &cpu, &lost)) {
	case RS_HEAD_LOST:
		add_lost(t, cpu, lost);
		break;
	case RS_HEAD_OTHER:
		count_stranger(t, line, end);
		break;
	default:
		break;
	}
	return false;
}

/* Read until the window is full. Return: 0; -ENOMEM. */
static int fill_window(struct text_reader *t)
{
	while (!t->exhausted && rs_window_held(&t->window) < RS_WINDOW_EVENTS) {
		size_t len;
		char *line = rs_lines_next(&t->lines, &len);

		if (!line || (t->lines.unfinished && rs_lines_trouble(&t->lines)))	/* half a line may look like a whole one */
			t->exhausted = true;
		else if (!take_line(t, line, len))
			t->cut = t->lines.unfinished && !t->head.html && *line != '#';
		if (t->no_memory)
			return -ENOMEM;
	}
	return 0;
}

/* ---- opening */

/* What is known of the machine before all events are; more cpus may turn up. */
static int make_host(struct text_reader *t)
{
	char uname[2 * RS_HEAD_TEXT + 32] = "";
	unsigned int nr = t->head.nr_cpus > t->nr_cpus ? t->head.nr_cpus : t->nr_cpus;

	t->rec.source->nr_cpus = nr;
	if (*t->head.release)
		snprintf(uname, sizeof(uname), "Linux unknown %s %s", t->head.release, t->head.machine);
	return rs_minimal_host(*uname ? uname : NULL, NULL, nr, t->rec.host);
}

static int start(struct text_reader *t, struct resched_error *err)
{
	struct rs_text_probe *p = calloc(1, sizeof(*p));
	int rc = p ? rs_text_probe_run(t->rec.in, p) : -ENOMEM;

	if (rc == 0 && !p->event && (!p->header || p->ticks)) {
		rc = rs_text_probe_refuse(p, err);
		goto out;
	}
	if (rc < 0)
		goto nomem;
	if (*p->origins[1])
		rs_note(t->rec.notes, "the text mixes several buffers or files ('%s', '%s'), which are read as one; print one of them alone",
			p->origins[0], p->origins[1]);
	t->raw = p->raw;
	t->head.html = p->head.html;
	t->head.columns = (struct rs_flag_columns)RS_FLAG_COLUMNS;
	t->window.by_cpu = p->exact;
	t->rec.source->format = rs_text_probe_format(p);
	t->cpus = calloc(RS_MAX_CPUS, sizeof(*t->cpus));
	if (!t->cpus || rs_window_init(&t->window) < 0 || rs_comms_init(&t->comms, t->rec.names, NULL) < 0 ||
	    rs_lines_open(&t->lines, t->rec.in) < 0 || fill_window(t) < 0 || make_host(t) < 0)
		goto nomem;
	if (*t->head.release && *t->rec.host)
		t->rec.source->kernel = (*t->rec.host)->kernel;
	goto out;
nomem:
	rc = rs_error_nomem(err);
out:
	free(p);
	return rc;
}

static int text_open(const struct rs_recording *rec, void **ret, struct resched_error *err)
{
	struct text_reader *t = calloc(1, sizeof(*t));

	if (!t)
		return rs_error_nomem(err);
	t->rec = *rec;
	*ret = t;
	return start(t, err);
}

static void text_free(void *reader)
{
	struct text_reader *t = reader;

	if (!t)
		return;
	for (unsigned int i = 0; i < t->nr_kinds; i++)
		free(t->kinds[i].name);
	free(t->counts);
	free(t->cpus);
	rs_comms_release(&t->comms);
	rs_window_release(&t->window);
	rs_lines_close(&t->lines);
	free(t);
}

/* ---- the end */

static int compare_counts(const void *a, const void *b)
{
	return strcmp(((const struct resched_event_count *)a)->name, ((const struct resched_event_count *)b)->name);
}

static void finish_counts(struct text_reader *t)
{
	unsigned int nr = 0;

	t->counts = calloc(t->nr_kinds ? t->nr_kinds : 1, sizeof(*t->counts));
	if (!t->counts)
		return;
	for (unsigned int i = 0; i < t->nr_kinds; i++) {
		if (t->kinds[i].count)
			t->counts[nr++] = (struct resched_event_count){ t->kinds[i].name, t->kinds[i].count };
	}
	qsort(t->counts, nr, sizeof(*t->counts), compare_counts);
	t->rec.source->events = t->counts;
	t->rec.source->nr_events = nr;
}

/* Cpus beyond those that the first lines told of. */
static void extend_host(struct text_reader *t)
{
	struct resched_host *host = *t->rec.host;
	struct resched_host_cpu *cpus;

	if (t->nr_cpus > t->rec.source->nr_cpus)
		t->rec.source->nr_cpus = t->nr_cpus;
	if (!host || host->nr_cpus >= t->nr_cpus)
		return;
	cpus = realloc(host->cpus, t->nr_cpus * sizeof(*cpus));
	if (!cpus)
		return;
	host->cpus = cpus;
	for (unsigned int i = host->nr_cpus; i < t->nr_cpus; i++)
		cpus[i] = (struct resched_host_cpu){ .cpu = i, .online = 1, .core = -1, .cluster = -1, .llc = -1, .die = -1,
						     .package = -1, .node = -1, .capacity = 1024 };
	host->nr_cpus = t->nr_cpus;
}

static void note_states(struct text_reader *t)
{
	if (t->raw_seen)
		rs_note(t->rec.notes, "task states are bare numbers, whose meaning depends on the kernel: read by the rules of kernels %s; "
			"print the text without -R to be sure", t->raw.shifted ? "4.15 to 4.19" : t->raw.old ? "before 4.14" : "since 4.20");
	if (t->plugin_seen)
		rs_note(t->rec.notes, "trace-cmd printed states in its own form, where R+ (preempted in the kernel) is told as R and the dead are mixed up; "
			"'trace-cmd report -N' tells them apart");
	if (t->no_prio_seen)
		rs_note(t->rec.notes, "some switches lack the priority of the next task; %d is assumed", 120);
}

static void note_lines(struct text_reader *t)
{
	if (t->unparsed)
		rs_note_damage(t->rec.notes, "%llu event lines cannot be understood, the first is line %llu: '%s'",
			       (unsigned long long)t->unparsed, (unsigned long long)t->unparsed_at, t->unparsed_quote);
	if (t->strangers)
		rs_note(t->rec.notes, "%llu lines are no events, the first is line %llu: '%s'", (unsigned long long)t->strangers,
			(unsigned long long)t->stranger_at, t->stranger_quote);
	if (t->lines.cut)
		rs_note_damage(t->rec.notes, "%llu lines were cut at %u bytes", (unsigned long long)t->lines.cut, RS_LINE_MAX);
	if (t->lines.nuls)
		rs_note(t->rec.notes, "%llu lines hold NUL bytes, which were taken for blanks", (unsigned long long)t->lines.nuls);
	if (t->ticks)
		rs_note_damage(t->rec.notes, "%llu lines have a time stamp that is no time; they are left out", (unsigned long long)t->ticks);
}

static bool any_sched(const struct text_reader *t)
{
	for (unsigned int i = 0; i < t->nr_kinds; i++) {
		if (t->kinds[i].type != RESCHED_EV_OTHER && t->kinds[i].type != RESCHED_EV_IRQ && t->kinds[i].count)
			return true;
	}
	return false;
}

static void finish(struct text_reader *t)
{
	const char *trouble = rs_lines_trouble(&t->lines);

	if (t->finished)
		return;
	t->finished = true;
	if (trouble)
		rs_note_damage(t->rec.notes, "the compressed file %s after line %llu; what is before is used", trouble,
			       (unsigned long long)t->lines.nr);
	if (t->cut)
		rs_note_damage(t->rec.notes, "file ends early: line %llu, the last, is cut", (unsigned long long)t->lines.nr);
	if (!any_sched(t))
		rs_note(t->rec.notes, "no line of the text is a scheduler event; record events of 'sched'");
	note_lines(t);
	note_states(t);
	if (t->window.late)
		rs_note(t->rec.notes, "%llu events came more than %u events late; they were moved to the time of the event before them",
			(unsigned long long)t->window.late, RS_WINDOW_EVENTS);
	if (t->window.unsorted > t->window.late)
		rs_note(t->rec.notes, "%llu events came out of order and were sorted",
			(unsigned long long)(t->window.unsorted - t->window.late));
	if (t->rounded)
		rs_note(t->rec.notes, "timestamps have 1 us resolution");
	extend_host(t);
	finish_counts(t);
}

/*
 * After the last event: a loss for each cpu whose text told one behind its last event, or for all when the file is cut.
 * One ns later than everything, so that nobody takes its silence for idleness.
 */
static int tail(struct text_reader *t, const struct resched_event **ret)
{
	bool cut = t->cut || rs_lines_trouble(&t->lines) != NULL;

	while (t->any && t->tail_cpu < t->nr_cpus) {
		struct text_cpu *c = &t->cpus[t->tail_cpu++];

		if (!c->seen || !(c->pending || cut))
			continue;
		memset(&t->tail, 0, sizeof(t->tail));
		t->tail.ts_ns = t->rec.source->last_ns + 1;
		t->tail.cpu = (uint16_t)(t->tail_cpu - 1);
		t->tail.type = RESCHED_EV_LOST;
		t->tail.lost.count = c->lost;
		t->rec.source->lost_gaps++;
		t->rec.source->lost_events += c->lost ? c->lost : 1;
		*ret = &t->tail;
		return 1;
	}
	finish(t);
	return 0;
}

static int text_next(void *reader, const struct resched_event **ret, struct resched_error *err)
{
	struct text_reader *t = reader;
	const struct resched_event *ev;

	if (!t->exhausted && fill_window(t) < 0) {
		t->exhausted = true;
		finish(t);
		return rs_error_nomem(err);
	}
	if (!rs_window_held(&t->window))
		return tail(t, ret);
	ev = rs_window_take(&t->window);
	t->rec.source->last_ns = ev->ts_ns;
	if (!t->any) {
		t->any = true;
		t->rec.source->first_ns = ev->ts_ns;
	}
	*ret = ev;
	return 1;
}

const struct rs_reader_ops rs_text_ops = { .is = rs_text_is, .open = text_open, .next = text_next, .free = text_free };
