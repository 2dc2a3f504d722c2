// SPDX-License-Identifier: GPL-2.0-only
#include "trace/text_probe.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "trace/text_event.h"
#include "trace/text_lines.h"
#include "trace/unpack.h"

#define PROBE_LINES 4000u		/* event lines looked at */
#define PROBE_MAX_BYTES (64ull << 20)	/* a text without any event up to there is no trace */
#define HEAD_BYTES 4096u

static bool starts_html(const char *line)
{
	while (isspace((unsigned char)*line))
		line++;
	return !strncasecmp(line, "<!doctype html", 14) || !strncasecmp(line, "<html", 5);
}

/* "a.dat:              wl-285 [000] ..." */
static void probe_origin(struct rs_text_probe *p, const struct rs_text_line *line)
{
	const char *colon = memmem(line->comm, line->comm_len, ":  ", 3);
	size_t len = colon ? (size_t)(colon - line->comm) : 0;

	for (unsigned int i = 0; i < 2 && len && len < RS_ORIGIN_MAX; i++) {
		if (!*p->origins[i])
			memcpy(p->origins[i], line->comm, len);	/* zeroed, so that it ends */
		if (strlen(p->origins[i]) == len && !memcmp(p->origins[i], line->comm, len))
			return;
	}
}

static void probe_event(struct rs_text_probe *p, const struct rs_text_line *line)
{
	enum resched_event_type type = rs_text_event_type(line->name, line->name_len);
	struct rs_text_event te;

	p->event = true;
	probe_origin(p, line);
	p->exact |= line->digits > 6;
	p->any_perf |= line->shape == RS_SHAPE_PERF;
	p->any_trace_cmd |= line->shape != RS_SHAPE_PERF && line->padded;
	if (type != RESCHED_EV_SWITCH || !rs_text_decode(type, line, &p->raw, &te) || !te.raw)
		return;
	/* kernels 4.15 to 4.19 stored 1 << index, so that even the idle task had a bit; older ones had bits above 256 */
	p->raw.shifted |= te.ev.pid == 0 && te.raw_state == 1;
	p->raw.old |= te.raw_state > 0x100;
}

/* perf script -F without cpu: "comm 12 3.456: sched:sched_switch: ..." */
static bool lacks_cpu(const char *line, const char *end)
{
	return memmem(line, (size_t)(end - line), ": sched:sched_", 14) || memmem(line, (size_t)(end - line), ":   sched:sched_", 16);
}

int rs_text_probe_run(const struct rs_input *in, struct rs_text_probe *p)
{
	struct rs_lines lines = { 0 };
	uint64_t bytes = 0, lost;
	unsigned int events = 0;
	uint32_t cpu;
	size_t len;
	char *line;

	p->head.columns = (struct rs_flag_columns)RS_FLAG_COLUMNS;
	if (rs_lines_open(&lines, in) < 0) {
		rs_lines_close(&lines);
		return -ENOMEM;
	}
	while (events < PROBE_LINES && bytes < PROBE_MAX_BYTES && (line = rs_lines_next(&lines, &len)) != NULL) {
		struct rs_text_line ret;
		const char *end = line + len;

		bytes += len + 1;
		if (!events && !p->head.html && starts_html(line))
			p->head.html = true;
		if (p->head.html && !rs_text_html_line(&p->head, line, end))
			continue;
		end = rs_line_unescape(line, end);
		if (*line != '#' && rs_text_scan(&p->head.columns, line, end, &ret)) {
			p->ticks |= !ret.digits;
			if (ret.digits)
				probe_event(p, &ret);
			events++;
		} else if (rs_text_head_line(&p->head, line, end, &cpu, &lost) == RS_HEAD_OTHER) {
			p->perf_without_cpu |= lacks_cpu(line, end);
		}
	}
	p->header = p->head.ftrace || p->head.trace_cmd || p->head.perf;
	rs_lines_close(&lines);
	return 0;
}

/* Text, by its first bytes: few control characters. */
static bool looks_like_text(const uint8_t *b, size_t n)
{
	size_t odd = 0;

	for (size_t i = 0; i < n; i++)
		odd += b[i] < 0x20 && !memchr("\t\n\r\f\033", b[i], 5);
	return n && odd * 10 < n;
}

/* What is packed is looked at by its first bytes alone, and binary recordings begin with much text: formats, names. */
static bool is_binary(const uint8_t *b, size_t n)
{
	static const struct { size_t at; const char *magic; size_t len; } magics[] = {
		{ 0, "\x17\x08\x44", 3 }, { 0, "PERFILE2", 8 }, { 0, "2ELIFREP", 8 }, { 257, "ustar", 5 },
	};

	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
		if (n >= magics[i].at + magics[i].len && !memcmp(b + magics[i].at, magics[i].magic, magics[i].len))
			return true;
	}
	for (size_t i = 0; n && *b == '\n' && i < n && i < 64; i++) {	/* a packet of a Perfetto trace begins with this byte */
		if (b[i] >= 0x80 || (b[i] < 0x20 && !memchr("\t\n\r\f\033", b[i], 5)))
			return true;
	}
	return false;
}

bool rs_text_is(const struct rs_input *in)
{
	uint8_t head[HEAD_BYTES];
	size_t n = rs_input_read(in, 0, head, sizeof(head));
	enum rs_pack pack = rs_pack_of(head, n);
	struct rs_unpack *u = NULL;
	const uint8_t *atrace;

	if (pack != RS_PACK_NONE) {
		if (rs_unpack_new(&u, in, 0, pack) < 0)
			return false;
		n = rs_unpack_read(u, head, sizeof(head));
		rs_unpack_free(u);
	}
	if (is_binary(head, n))
		return false;
	if (n && *head == '{')
		return false;	/* JSON */
	if (n >= 17 && !memcmp(head, "resched-workload ", 17))
		return false;	/* to be run, not read */
	atrace = memmem(head, n, "TRACE:", 6);
	return looks_like_text(head, n) || (atrace && looks_like_text(head, (size_t)(atrace - head) + 6));
}

int rs_text_probe_refuse(const struct rs_text_probe *p, struct resched_error *err)
{
	if (p->ticks)
		return rs_error_set(err, RESCHED_FAILED, -EPROTONOSUPPORT,
				    "the time stamps of this text are ticks of a counter, not seconds; record with trace_clock mono, local or global");
	if (p->perf_without_cpu)
		return rs_error_set(err, RESCHED_FAILED, -EBADMSG, "this perf script text has no cpu numbers; print it with 'perf script -F +cpu'");
	if (p->head.html)
		return rs_error_set(err, RESCHED_FAILED, -EBADMSG, "this is HTML without the trace that a systrace holds");
	return rs_error_set(err, RESCHED_FAILED, -EBADMSG,
			    "no recording: it is text, but no line of it is an event as the kernel, trace-cmd report or perf script print them");
}

const char *rs_text_probe_format(const struct rs_text_probe *p)
{
	if (p->head.html)
		return "systrace html";
	if (p->any_perf || (!p->event && p->head.perf))
		return "perf script text";
	if (p->head.trace_cmd || (p->any_trace_cmd && !p->head.ftrace))
		return "trace-cmd report text";
	return "ftrace text";
}
