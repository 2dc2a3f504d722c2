// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recordings with random bytes changed and random ends cut off: reading them never crashes, hangs, or takes much memory.
 * MUTATIONS=n variants a file (default 600), SEED=n the first seed; a failing seed is printed.
 */
#include "trace_files.h"

#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#define LIMIT_SECONDS 20
#define LIMIT_KIB (256 << 10)

static uint64_t seed_now;
static const char *file_now;

static uint64_t next_random(uint64_t *state)	/* splitmix64 */
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static void too_slow(int sig)
{
	static const char text[] = "a mutated recording took too long\n";

	(void)sig;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(98);
	_exit(99);
}

/* Change some bytes (single bits, bytes, or a whole number to an extreme), cut in one case of four. */
static size_t mutate(struct blob *b, uint64_t seed)
{
	static const uint64_t extremes[] = { 0, 1, 0x7f, 0x7fffffff, 0xffffffff, 0x7fffffffffffffff, UINT64_MAX, 0x80000000, 4096 };
	uint64_t state = seed;
	unsigned int n = 1 + next_random(&state) % 8;
	size_t len = b->len;

	for (unsigned int i = 0; i < n; i++) {
		/* half of the changes hit the frame at the start, where every byte has a meaning */
		size_t span = next_random(&state) % 2 ? b->len - 8 : (b->len < 4096 ? b->len - 8 : 4096);
		size_t at = next_random(&state) % span;
		uint64_t v = extremes[next_random(&state) % (sizeof(extremes) / sizeof(extremes[0]))];

		switch (next_random(&state) % 4) {
		case 0: b->p[at] ^= (uint8_t)(1u << next_random(&state) % 8); break;
		case 1: b->p[at] = (uint8_t)next_random(&state); break;
		case 2: memcpy(b->p + at, &v, 4); break;
		default: memcpy(b->p + at, &v, 8); break;
		}
	}
	if (next_random(&state) % 4 == 0)
		len = next_random(&state) % b->len;
	return len;
}

static unsigned int variants(void)
{
	const char *text = getenv("MUTATIONS"), *preload = getenv("LD_PRELOAD");

	if (text)
		return (unsigned int)strtoul(text, NULL, 10);
	return preload && strstr(preload, "vgpreload") ? 25 : 600;
}

static void mutated(const char *name)
{
	struct blob whole = blob_load(name);
	unsigned int nr = variants(), opened = 0;
	const char *text = getenv("SEED");
	uint64_t first = text ? strtoull(text, NULL, 10) : 1;
	struct rusage use;

	file_now = name;
	for (seed_now = first; seed_now < first + nr; seed_now++) {
		struct blob b = blob_copy(&whole);
		size_t len = mutate(&b, seed_now);
		struct reading r;

		alarm(LIMIT_SECONDS);
		r = read_bytes(b.p, len);
		alarm(0);
		opened += r.rc == 0;
		if (r.rc == 0 && !r.ordered)
			fail_msg("%s, seed %llu: events are out of order", name, (unsigned long long)seed_now);
		free(b.p);
	}
	free(whole.p);
	assert_true(nr < 10 || opened > 0);
	getrusage(RUSAGE_SELF, &use);
#if !defined(__SANITIZE_ADDRESS__)
	if (!getenv("LD_PRELOAD"))
		assert_true(use.ru_maxrss < LIMIT_KIB);
#endif
}

static void mutated_v6(void **state) { (void)state; mutated("lab-v6-k612-1c.dat"); }
static void mutated_v7_zstd(void **state) { (void)state; mutated("lab-v7-k61-1c.dat"); }
static void mutated_v7_zstd_2_cpus(void **state) { (void)state; mutated("lab-v7-k612-2c.dat"); }
static void mutated_v7_plain(void **state) { (void)state; mutated("lab-v7-none-k61-2c.dat"); }

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mutated_v6), cmocka_unit_test(mutated_v7_zstd), cmocka_unit_test(mutated_v7_zstd_2_cpus),
		cmocka_unit_test(mutated_v7_plain),
	};

	signal(SIGALRM, too_slow);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
