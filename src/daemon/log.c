// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/log.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void log_init(struct log *log)
{
	*log = (struct log){ .journal = getenv("JOURNAL_STREAM") != NULL && !isatty(STDERR_FILENO), .level = LOG_INFO };
}

/* Names come from tasks and clients: what would begin a line of its own, or reach a terminal as a command, is shown as '?'. */
static void make_printable(char *text)
{
	for (; *text; text++) {
		if (iscntrl((unsigned char)*text))
			*text = '?';
	}
}

void log_line(const struct log *log, enum log_level level, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	if (level > log->level)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	make_printable(text);
	if (log->journal)
		fprintf(stderr, "<%d>%s\n", (int)level, text);
	else
		fprintf(stderr, "reschedd: %s\n", text);
}
