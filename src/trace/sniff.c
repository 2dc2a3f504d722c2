// SPDX-License-Identifier: GPL-2.0-only
#include "trace/sniff.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"

struct known_magic { const char *magic; size_t len; const char *what; };

static const struct known_magic known_magics[] = {
	{ "PERFFILE", 8, "a perf.data file of before 2010, whose layout was another; record it again with a perf of today" },
	{ "BZh", 3, "compressed with bzip2; unpack it first (bunzip2)" },
	{ "\x7f" "ELF", 4, "a program" },
	{ "PK\x03\x04", 4, "a zip archive; unpack it first" },
	{ "resched-workload ", 17, "a workload, which is run and not read: 'resched replay', 'resched compare' or 'resched export' take it" },
	{ "{", 1, "JSON, not a recording" },
};

static bool is_text(const uint8_t *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if ((b[i] < 0x20 && !strchr("\t\n\r\f\033", b[i])) || b[i] == 0x7f || !b[i])
			return false;
	}
	return true;
}

int rs_sniff_refuse(const struct rs_input *in, const char *path, struct resched_error *err)
{
	const char *name = strcmp(path, "-") ? path : "standard input";
	uint8_t b[512];
	size_t n = rs_input_read(in, 0, b, sizeof(b));

	for (size_t i = 0; i < sizeof(known_magics) / sizeof(known_magics[0]); i++) {
		const struct known_magic *k = &known_magics[i];

		if (n >= k->len && !memcmp(b, k->magic, k->len))
			return rs_error_set(err, RESCHED_FAILED, -EBADMSG, "'%s' is no recording: it is %s", name, k->what);
	}
	return rs_error_set(err, RESCHED_FAILED, -EBADMSG, "'%s' is no recording%s", name,
			    n && is_text(b, n) ? ": it is text" : " (its first bytes are those of no format known here)");
}
