// SPDX-License-Identifier: GPL-2.0-only
/* Ring buffer pages in a tar: what is in one, and what damage leaves of it. RESCHED_MUTATIONS sets how many variants there are. */
#include "trace_files.h"

#include <time.h>

#define VARIANTS 3000u
#define BLOCK 512u

static const char *const file = "pages-1c.tar";

static void whole(void **state)
{
	struct reading r = read_data(file);

	(void)state;
	assert_whole(&r);
	assert_int_equal(r.cpus, 1);
	assert_string_equal(r.clock, "mono");
	assert_true(r.nr[RESCHED_EV_SWITCH] > 10 && r.nr[RESCHED_EV_WAKING] > 5);
	assert_non_null(strstr(r.text, "no format in the recording"));	/* of what else the pages hold */
}

/* Wherever it is cut, it is read as damaged or refused, and never as whole. */
static void cut_anywhere(void **state)
{
	struct blob b = blob_load(file);
	size_t end = b.len;

	(void)state;
	while (end > BLOCK && !memcmp(b.p + end - BLOCK, (uint8_t[BLOCK]){ 0 }, BLOCK))
		end -= BLOCK;
	for (size_t len = BLOCK; len < end; len += 211) {
		struct reading r = read_bytes(b.p, len);

		assert_true(r.rc < 0 || r.damaged);
	}
	free(b.p);
}

static uint64_t next_random(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

/* Put the sum of a head right again, so that what is changed in it counts. */
static void fix_sum(uint8_t *head)
{
	unsigned int sum = 0;
	char text[8];

	memset(head + 148, ' ', 8);
	for (unsigned int i = 0; i < BLOCK; i++)
		sum += head[i];
	snprintf(text, sizeof(text), "%06o", sum);
	memcpy(head + 148, text, 7);
}

static void mutations(void **state)
{
	const char *want = getenv("RESCHED_MUTATIONS");
	unsigned int variants = want ? (unsigned int)strtoul(want, NULL, 10) : VARIANTS, opened = 0;
	uint64_t seed = 0x9e3779b97f4a7c15ull;
	struct blob from = blob_load(file);

	(void)state;
	print_message("seed %llx, %u variants\n", (unsigned long long)seed, variants);
	for (unsigned int i = 0; i < variants; i++) {
		struct blob b = blob_copy(&from);
		unsigned int n = 1 + next_random(&seed) % 5;
		struct timespec a, z;
		struct reading r;

		while (n--) {
			size_t at = next_random(&seed) % b.len, block = at / BLOCK * BLOCK;

			b.p[at] = (uint8_t)next_random(&seed);
			if (!memcmp(b.p + block + 257, "ustar", 5) && block + BLOCK <= b.len) {
				if (next_random(&seed) % 2)	/* size or type */
					b.p[block + 124 + next_random(&seed) % 33] = (uint8_t)("01234567Lx"[next_random(&seed) % 10]);
				fix_sum(b.p + block);
			}
		}
		if (next_random(&seed) % 8 == 0)
			b.len = 1 + next_random(&seed) % b.len;
		clock_gettime(CLOCK_MONOTONIC, &a);
		r = read_bytes(b.p, b.len);
		clock_gettime(CLOCK_MONOTONIC, &z);
		if (!r.ordered || z.tv_sec - a.tv_sec > 5)
			fail_msg("variant %u: %s", i, r.ordered ? "took seconds" : "disorder");
		opened += r.rc == 0;
		free(b.p);
	}
	assert_true(opened > variants / 3);
	free(from.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(whole), cmocka_unit_test(cut_anywhere), cmocka_unit_test(mutations) };

	return cmocka_run_group_tests_name("raw", tests, NULL, NULL);
}
