// SPDX-License-Identifier: GPL-2.0-only
#include "capture/bpf_glob.h"

#include <string.h>

#define MAX_CHARS 31u	/* states are the bits of 32, and a name has 15 characters */

/* The characters of "[...]" at @at. Return: behind the bracket; NULL: there is no closing one. */
static const char *read_set(const char *at, bool set[256])
{
	bool invert = at[1] == '!' || at[1] == '^';
	const char *p = at + 1 + invert, *first = p;
	unsigned int c;

	memset(set, 0, 256 * sizeof(*set));
	for (; *p && (*p != ']' || p == first); p++) {
		unsigned char from = (unsigned char)*p, to = from;

		if (p[1] == '-' && p[2] && p[2] != ']') {
			to = (unsigned char)p[2];
			p += 2;
		}
		for (c = from; c <= to; c++)
			set[c] = true;
	}
	if (!*p)
		return NULL;
	for (c = 0; invert && c < 256; c++)
		set[c] = !set[c];
	return p + 1;
}

bool rs_bpf_glob_compile(struct rs_bpf_glob *ret, const char *glob)
{
	unsigned int nr = 0, c;
	bool set[256];

	memset(ret, 0, sizeof(*ret));
	while (*glob) {
		const char *behind = glob + 1;

		if (*glob == '*') {
			ret->stay |= 1u << nr;
			glob++;
			continue;
		}
		memset(set, *glob == '?', sizeof(set));
		if (*glob == '[' && read_set(glob, set)) {
			behind = read_set(glob, set);
		} else if (*glob != '?') {
			bool escaped = *glob == '\\' && glob[1];

			memset(set, 0, sizeof(set));
			set[(unsigned char)glob[escaped]] = true;
			behind = glob + 1 + escaped;
		}
		if (nr == MAX_CHARS)
			return false;
		for (c = 1; c < 256; c++)
			ret->step[c] |= set[c] ? 1u << nr : 0;
		nr++;
		glob = behind;
	}
	ret->end = 1u << nr;
	return nr < RS_BPF_COMM;
}

bool rs_bpf_glob_matches(const struct rs_bpf_glob *glob, const char *comm)
{
	RS_U32 states = 1;
	unsigned int i;

	for (i = 0; i < RS_BPF_COMM - 1 && comm[i]; i++)
		states = (states & glob->step[(unsigned char)comm[i]]) << 1 | (states & glob->stay);
	return states & glob->end;
}
