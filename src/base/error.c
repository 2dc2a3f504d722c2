// SPDX-License-Identifier: GPL-2.0-only
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* One line only: whatever a file or a caller put into the text must not break the terminal or a log. */
static void make_printable(char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < 0x20 || c == 0x7f)
			*text = '?';
	}
}

int rs_error_set(struct resched_error *err, enum resched_error_kind kind, int rc, const char *fmt, ...)
{
	va_list ap;
	size_t len;

	if (!err)
		return rc;
	err->kind = kind;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	len = strlen(err->text);
	if (len && err->text[len - 1] == ':' && len + 1 < sizeof(err->text)) {
		char buf[128];
		const char *reason = strerror_r(-rc, buf, sizeof(buf));	/* GNU form: thread safe, returns the text */

		snprintf(err->text + len, sizeof(err->text) - len, " %s", reason);
	}
	make_printable(err->text);
	return rc;
}

int rs_error_nomem(struct resched_error *err)
{
	return rs_error_set(err, RESCHED_FAILED, -ENOMEM, "out of memory");
}
