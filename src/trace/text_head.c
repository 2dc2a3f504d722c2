// SPDX-License-Identifier: GPL-2.0-only
#include "trace/text_head.h"

#include <string.h>

#include "base/cpulist.h"

#define AT(p, text) (!memcmp(p, text, sizeof(text) - 1))

static const char *find(const char *p, const char *end, const char *text)
{
	return memmem(p, (size_t)(end - p), text, strlen(text));
}

/* The word at @p into @ret, when it is a plain one. */
static void copy_word(const char *p, char ret[RS_HEAD_TEXT])
{
	size_t n = strcspn(p, " \t\r\n");

	if (!n || n >= RS_HEAD_TEXT)
		return;
	for (size_t i = 0; i < n; i++) {
		if (p[i] <= ' ' || p[i] > '~')
			return;
	}
	memcpy(ret, p, n);
	ret[n] = '\0';
}

static void set_cpus(struct rs_text_head *head, const char *p)
{
	int64_t n;

	while (*p == ' ')
		p++;
	if (rs_text_number(&p, &n) && n > 0 && n <= (int64_t)RS_MAX_CPUS)
		head->nr_cpus = (unsigned int)n;
}

/* "#    | / _---=> hardirq/softirq": each such line names the next character of the flags. */
static void flag_column(struct rs_text_head *head, const char *name)
{
	uint8_t at = (uint8_t)head->next_column++;

	if (AT(name, "irqs-off"))
		head->columns.irqs = at;
	else if (AT(name, "need-resched") && name[12] != '_' && name[12] != '-')
		head->columns.resched = at;
	else if (AT(name, "hardirq/softirq"))
		head->columns.context = at;
}

/* "# os release : 6.1.0" */
static bool perf_header(struct rs_text_head *head, const char *line, const char *end)
{
	const char *value = find(line, end, " : ");

	if (!value)
		return false;
	value += 3;
	if (AT(line, "# os release :"))
		copy_word(value, head->release);
	else if (AT(line, "# arch :"))
		copy_word(value, head->machine);
	else if (AT(line, "# nrcpus avail :"))
		set_cpus(head, value);
	else if (!AT(line, "# captured on") && !AT(line, "# hostname :") && !AT(line, "# cmdline :"))
		return false;
	head->perf = true;
	return true;
}

static void comment(struct rs_text_head *head, const char *line, const char *end)
{
	const char *p;

	if (AT(line, "# tracer:")) {
		head->ftrace = true;
		head->next_column = 0;
	} else if ((p = find(line, end, "=> ")) != NULL) {
		if (head->next_column < 16)
			flag_column(head, p + 3);
	} else if ((p = find(line, end, "#P:")) != NULL) {
		head->ftrace = true;
		set_cpus(head, p + 3);
	} else if ((p = find(line, end, " latency trace v")) != NULL) {
		head->ftrace = true;
		p = find(p, end, " on ");
		if (p)
			copy_word(p + 4, head->release);
	} else {
		perf_header(head, line, end);
	}
}

/* "CPU:3 [LOST 123 EVENTS]", "CPU:3 [LOST EVENTS]", "CPU:1 [12 EVENTS DROPPED]", "CPU:1 [EVENTS DROPPED]" */
static bool lost_line(const char *p, uint32_t *ret_cpu, uint64_t *ret_lost)
{
	int64_t cpu, n = 0;

	if (!AT(p, "CPU:"))
		return false;
	p += 4;
	if (!rs_text_number(&p, &cpu) || cpu < 0 || cpu >= RS_MAX_CPUS || !AT(p, " ["))
		return false;
	p += 2;
	if (AT(p, "LOST "))
		p += 5;
	if (rs_text_number(&p, &n) && *p++ != ' ')
		return false;
	if (n < 0 || !AT(p, "EVENTS"))
		return false;
	*ret_cpu = (uint32_t)cpu;
	*ret_lost = (uint64_t)n;
	return true;
}

enum rs_head_line rs_text_head_line(struct rs_text_head *head, const char *line, const char *end, uint32_t *ret_cpu, uint64_t *ret_lost)
{
	while (*line == ' ' || *line == '\t')
		line++;
	if (*line == '#') {
		comment(head, line, end);
		return RS_HEAD_KNOWN;
	}
	if (lost_line(line, ret_cpu, ret_lost))
		return RS_HEAD_LOST;
	if (AT(line, "version = ")) {
		head->trace_cmd = true;
		return RS_HEAD_KNOWN;
	}
	if (AT(line, "cpus=")) {
		head->trace_cmd = true;
		set_cpus(head, line + 5);
		return RS_HEAD_KNOWN;
	}
	if (AT(line, "CPU ") && find(line, end, " is empty"))
		return RS_HEAD_KNOWN;
	if (line == end || AT(line, "TRACE:") || AT(line, "capturing trace"))
		return RS_HEAD_KNOWN;
	return RS_HEAD_OTHER;
}

bool rs_text_html_line(struct rs_text_head *head, const char *line, const char *end)
{
	if (!head->inside) {
		head->inside = find(line, end, "class=\"trace-data\"") || find(line, end, "linuxPerfData");
		return false;
	}
	while (*line == ' ' || *line == '\t')
		line++;
	if (*line == '<' && find(line, end, "</script>") == line) {
		head->inside = false;
		return false;
	}
	return true;
}
