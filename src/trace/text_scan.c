// SPDX-License-Identifier: GPL-2.0-only
#include "trace/text_scan.h"

#include <string.h>

#include <resched/event.h>

#include "base/cpulist.h"

#define FLAGS_MAX 12
#define SECONDS_MAX 9000000000ull	/* keeps ns within int64 */

static inline bool is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

static inline const char *skip_blanks(const char *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

/* "d..2.": kernel/trace/trace_output.c, trace_print_lat_fmt() */
static uint8_t decode_flags(const struct rs_flag_columns *col, const char *flags, size_t len)
{
	uint8_t ctx = 0;

	if (col->irqs < len && (flags[col->irqs] == 'd' || flags[col->irqs] == 'D'))
		ctx |= RESCHED_CTX_IRQS_OFF;
	if (col->resched < len && flags[col->resched] != '.' && flags[col->resched] != 'p')
		ctx |= RESCHED_CTX_NEED_RESCHED;
	if (col->context >= len)
		return ctx;
	switch (flags[col->context]) {
	case 'H':
		return ctx | RESCHED_CTX_HARDIRQ | RESCHED_CTX_SOFTIRQ;
	case 'h':
	case 'z':
	case 'Z':
		return ctx | RESCHED_CTX_HARDIRQ;
	case 's':
		return ctx | RESCHED_CTX_SOFTIRQ;
	default:
		return ctx;
	}
}

/* "12.345678:", "12us :" with a mark of long delays in between, or "1234:". Moves *@p behind the colon. */
static bool scan_time(const char **p, struct rs_text_line *ret)
{
	static const uint32_t scale[] = { 1000000000, 100000000, 10000000, 1000000, 100000, 10000, 1000, 100, 10, 1 };
	const char *s = *p;
	uint64_t whole = 0, fraction = 0;
	unsigned int n = 0;

	for (; is_digit(*s); s++) {
		if (++n > 19)
			return false;
		whole = whole * 10 + (unsigned char)(*s - '0');
	}
	if (!n)
		return false;
	n = 0;
	if (*s == '.') {
		for (s++; is_digit(*s) && n < 9; s++, n++)
			fraction = fraction * 10 + (unsigned char)(*s - '0');
		if (!n || whole > SECONDS_MAX)
			return false;
		ret->ts_ns = whole * 1000000000 + fraction * scale[n];
		ret->digits = (uint8_t)n;
	} else if (s[0] == 'u' && s[1] == 's') {
		s += 2;
		if (*s && *s != ':' && s[1] == ':')
			s++;
		if (whole > SECONDS_MAX * 1000000)
			return false;
		ret->ts_ns = whole * 1000;
		ret->digits = 6;
	} else {
		ret->ts_ns = whole;
		ret->digits = 0;
	}
	if (*s != ':')
		return false;
	*p = s + 1;
	return true;
}

/* "sched_switch:", "sched:sched_switch:", "schedule <-worker_thread" */
static bool scan_event(const char *p, const char *end, struct rs_text_line *ret)
{
	static const char function[] = "function", unknown[] = "unknown";
	const char *name, *colon;

	p = skip_blanks(p);
	if (p[0] == '(' && p[1] == '+') {	/* trace-cmd report --ts-diff */
		while (*p && *p != ' ')
			p++;
		p = skip_blanks(p);
	}
	if (ret->shape == RS_SHAPE_PERF && is_digit(*p)) {	/* the period */
		while (is_digit(*p))
			p++;
		p = skip_blanks(p);
	}
	name = p;
	while (*p && *p != ' ')
		p++;
	if (p == name)
		return false;
	ret->padded = p[0] == ' ' && p[1] == ' ';
	ret->body = skip_blanks(p);
	ret->end = end;
	if (p[-1] != ':') {
		ret->name = ret->body[0] == '<' && ret->body[1] == '-' ? function : unknown;
		if (ret->shape == RS_SHAPE_PERF && p - name > 12 && !memcmp(name, "PERF_RECORD_", 12)) {
			ret->name = name;
			ret->name_len = (uint32_t)(p - name);
			return true;
		}
		ret->name_len = (uint32_t)strlen(ret->name);
		return true;
	}
	p--;
	if (ret->shape == RS_SHAPE_PERF) {
		colon = memchr(name, ':', (size_t)(p - name));
		if (colon)
			name = colon + 1;
		colon = memchr(name, ':', (size_t)(p - name));
		if (colon)
			p = colon;	/* modifiers: sched:sched_switch:u */
	}
	ret->name = name;
	ret->name_len = (uint32_t)(p - name);
	return p > name;
}

/* What stands before "[CPU]": COMM-PID, or COMM PID, and perhaps (TGID). */
static bool scan_owner(const char *start, const char *bracket, struct rs_text_line *ret)
{
	const char *e = bracket, *d, *comm_end;
	int64_t pid;

	while (e > start && e[-1] == ' ')
		e--;
	if (e > start && e[-1] == ')') {
		while (e > start && e[-1] != '(')
			e--;
		if (e == start)
			return false;
		e--;
		while (e > start && e[-1] == ' ')
			e--;
	} else if (e == bracket) {
		return false;
	}
	for (d = e; d > start && is_digit(d[-1]); d--)
		;
	if (d == e || e - d > 10)
		return false;
	ret->shape = RS_SHAPE_KERNEL;
	comm_end = d;
	if (d > start && d[-1] == '-') {
		comm_end = d - 1;
		if (comm_end > start && comm_end[-1] == ' ') {	/* perf script: pid -1 */
			ret->shape = RS_SHAPE_PERF;
			d--;
		}
	} else if (d > start && d[-1] == '/') {			/* perf script -F pid,tid */
		ret->shape = RS_SHAPE_PERF;
		for (comm_end = d - 1; comm_end > start && (is_digit(comm_end[-1]) || comm_end[-1] == '-'); comm_end--)
			;
	} else if (d > start && d[-1] == ' ') {
		ret->shape = RS_SHAPE_PERF;
	} else {
		return false;
	}
	while (comm_end > start && comm_end[-1] == ' ' && ret->shape == RS_SHAPE_PERF)
		comm_end--;
	if (!rs_text_number(&d, &pid) || pid > INT32_MAX)
		return false;
	ret->pid = (int32_t)pid;
	ret->comm = start;
	ret->comm_len = (uint32_t)(comm_end - start);
	return true;
}

/* Behind "[CPU]" */
static bool scan_rest(const struct rs_flag_columns *columns, const char *p, const char *end, struct rs_text_line *ret)
{
	p = skip_blanks(p);
	ret->ctx = 0;
	if (!is_digit(*p)) {
		const char *flags = p;

		while (*p && *p != ' ')
			p++;
		if (p - flags > FLAGS_MAX)
			return false;
		ret->ctx = decode_flags(columns, flags, (size_t)(p - flags));
		p = skip_blanks(p);
	}
	return scan_time(&p, ret) && scan_event(p, end, ret);
}

/* At a '-': "-PID  CPUFLAGS TIME: ..." */
static bool scan_latency(const struct rs_flag_columns *columns, const char *start, const char *dash, const char *end, struct rs_text_line *ret)
{
	const char *p = dash + 1, *flags;
	int64_t pid, cpu;

	if (!is_digit(*p) || !rs_text_number(&p, &pid) || pid > INT32_MAX || *p != ' ')
		return false;
	p = skip_blanks(p);
	if (!is_digit(*p) || !rs_text_number(&p, &cpu) || cpu >= RS_MAX_CPUS)
		return false;
	flags = p;
	if (!*p || !strchr(".dDXbB", *p))
		return false;
	while (*p && *p != ' ')
		p++;
	if (p - flags > FLAGS_MAX)
		return false;
	ret->shape = RS_SHAPE_LATENCY;
	ret->pid = (int32_t)pid;
	ret->cpu = (uint32_t)cpu;
	ret->comm = start;
	ret->comm_len = (uint32_t)(dash - start);
	ret->ctx = decode_flags(columns, flags, (size_t)(p - flags));
	p = skip_blanks(p);
	return scan_time(&p, ret) && scan_event(p, end, ret);
}

bool rs_text_scan(const struct rs_flag_columns *columns, const char *line, const char *end, struct rs_text_line *ret)
{
	const char *start = skip_blanks(line), *at;

	for (at = start; (at = memchr(at, '[', (size_t)(end - at))) != NULL; at++) {
		const char *p = at + 1;
		int64_t cpu;

		if (!is_digit(*p) || !rs_text_number(&p, &cpu) || *p != ']' || cpu >= RS_MAX_CPUS)
			continue;
		if (!scan_owner(start, at, ret))
			continue;
		ret->cpu = (uint32_t)cpu;
		if (scan_rest(columns, p + 1, end, ret))
			return true;
	}
	for (at = start; (at = memchr(at, '-', (size_t)(end - at))) != NULL; at++) {
		if (scan_latency(columns, start, at, end, ret))
			return true;
	}
	return false;
}
