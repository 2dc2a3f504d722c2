// SPDX-License-Identifier: GPL-2.0-only
/* Globs as the BPF programs match them are globs as fnmatch() does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <fnmatch.h>

#include "capture/bpf_glob.h"

static void check(const char *glob, const char *comm)
{
	struct rs_bpf_glob compiled;
	bool can = rs_bpf_glob_compile(&compiled, glob), mine = can && rs_bpf_glob_matches(&compiled, comm);

	if (mine != (fnmatch(glob, comm, 0) == 0))
		fail_msg("glob '%s', name '%s': %d", glob, comm, mine);
}

static void known_ones(void **state)
{
	static const char *const globs[] = { "", "*", "?", "nginx", "nginx*", "*x", "n*g*x", "[a-n]*", "[!n]*", "kworker/[0-9]:*", "a]", "[]a]*", "\\*",
					     "\\[a]", "[a", "a**b", "***", "[^a]b", "0123456789abcdef", "?????????????????", "*0123456789abcde*" };
	static const char *const comms[] = { "", "n", "nginx", "nginx: worker", "x", "kworker/0:1H", "a]", "]b", "*", "[a", "[a]", "ab", "aXb",
					     "0123456789abcde", "swapper/11" };

	(void)state;
	for (size_t i = 0; i < sizeof(globs) / sizeof(globs[0]); i++) {
		for (size_t k = 0; k < sizeof(comms) / sizeof(comms[0]); k++)
			check(globs[i], comms[k]);
	}
}

static void random_ones(void **state)
{
	static const char in_globs[] = "ab?*[]!-c", in_comms[] = "abc-]";
	uint64_t rnd = 1;

	(void)state;
	for (unsigned int i = 0; i < 200000; i++) {
		char glob[10] = "", comm[16] = "";
		unsigned int len;

		rnd = rnd * 6364136223846793005ull + 1442695040888963407ull;
		len = (unsigned int)(rnd >> 60) % 9;
		for (unsigned int k = 0; k < len; k++)
			glob[k] = in_globs[(rnd >> (20 + 4 * k)) % (sizeof(in_globs) - 1)];
		rnd = rnd * 6364136223846793005ull + 1442695040888963407ull;
		len = (unsigned int)(rnd >> 60) % 7;
		for (unsigned int k = 0; k < len; k++)
			comm[k] = in_comms[(rnd >> (20 + 4 * k)) % (sizeof(in_comms) - 1)];
		/* ranges that run backwards and classes are nobody's business here */
		for (const char *p = glob; *p; p++) {
			if (*p == '-' || (*p == '[' && p[1] == '['))
				comm[0] = glob[0] = '\0';
		}
		check(glob, comm);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(known_ones), cmocka_unit_test(random_ones) };

	return cmocka_run_group_tests_name("globs of the BPF programs", tests, NULL, NULL);
}
