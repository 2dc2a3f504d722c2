// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf.data with random bytes changed and random ends cut off: reading never crashes, hangs, or takes much memory.
 * MUTATIONS=n variants a file (default 1500), SEED=n the first seed; a failing seed is printed.
 */
#include <stdbool.h>

#include "perf_build.h"

#include <signal.h>
#include <sys/resource.h>
#include <zstd.h>

#define LIMIT_SECONDS 20
#define LIMIT_KIB (256 << 10)

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

/* Change some bytes (a bit, a byte, a number to an extreme), cut in one case of four. Return: the new length. */
static size_t mutate(struct blob *b, uint64_t seed)
{
	static const uint64_t extremes[] = { 0, 1, 8, 0x7f, 0xffff, 0x7fffffff, 0xffffffff, 0x7fffffffffffffff, UINT64_MAX, 0x80000000 };
	uint64_t state = seed;
	unsigned int n = 1 + next_random(&state) % 8;
	size_t len = b->len;

	for (unsigned int i = 0; i < n; i++) {
		/* half of the changes hit the frame at the start, where every byte has a meaning */
		size_t span = next_random(&state) % 2 ? b->len - 8 : 400;
		size_t at = next_random(&state) % span;
		uint64_t v = extremes[next_random(&state) % (sizeof(extremes) / sizeof(extremes[0]))];

		switch (next_random(&state) % 5) {
		case 0: b->p[at] ^= (uint8_t)(1u << next_random(&state) % 8); break;
		case 1: b->p[at] = (uint8_t)next_random(&state); break;
		case 2: memcpy(b->p + at, &v, 2); break;
		case 3: memcpy(b->p + at, &v, 4); break;
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
	return preload && strstr(preload, "vgpreload") ? 40 : 1500;
}

/* A bit of everything: rounds, losses, names, forks; with call chains and reads too. */
static void fill(struct perf_build *pb)
{
	pb_begin(pb);
	pb_comm(pb, 0, 0, 77, "before");
	for (unsigned int round = 0; round < 6; round++) {
		for (unsigned int cpu = 0; cpu < 3; cpu++) {
			for (unsigned int i = 0; i < 8; i++) {
				uint64_t ts = 1000 + round * 1000 + i * 100 + cpu;
				int a = (int)(100 + cpu), b = (int)(200 + cpu);

				if (i % 2)
					pb_switch(pb, ts, cpu, i % 4 == 1 ? a : b, i % 3, i % 4 == 1 ? b : a);
				else
					pb_waking(pb, ts, cpu, a, b, cpu);
			}
			pb_comm(pb, 1000 + round * 1000 + 850 + cpu, cpu, 100 + (int)cpu, "renamed");
			pb_fork_exit(pb, cpu & 1, 1000 + round * 1000 + 860 + cpu, cpu, 300 + (int)round, 100);
		}
		if (round == 3)
			pb_lost(pb, 4900, 1, 12);
		pb_round(pb);
	}
	pb_end(pb);
}

static void mutated(struct perf_build *pb)
{
	const char *text = getenv("SEED");
	uint64_t first = text ? strtoull(text, NULL, 10) : 1;
	unsigned int nr = variants(), opened = 0;
	struct rusage use;

	for (uint64_t seed = first; seed < first + nr; seed++) {
		struct blob b = blob_copy(&pb->b);
		size_t len = mutate(&b, seed);
		struct reading r;

		alarm(LIMIT_SECONDS);
		r = read_bytes(b.p, len);
		alarm(0);
		opened += r.rc == 0;
		if (r.rc == 0 && !r.ordered)
			fail_msg("seed %llu: events are out of order", (unsigned long long)seed);
		free(b.p);
	}
	assert_true(nr < 10 || opened > 0);
	free(pb->b.p);
	getrusage(RUSAGE_SELF, &use);
#if !defined(__SANITIZE_ADDRESS__)
	if (!getenv("LD_PRELOAD"))
		assert_true(use.ru_maxrss < LIMIT_KIB);
#endif
}

static void mutated_file(void **state)
{
	struct perf_build pb = { 0 };

	(void)state;
	fill(&pb);
	mutated(&pb);
}

static void mutated_big_endian_with_chains(void **state)
{
	struct perf_build pb = { .big = true, .sample_type = S_USUAL | S_READ | S_CALLCHAIN, .read_format = 0x1f };

	(void)state;
	fill(&pb);
	mutated(&pb);
}

static void mutated_pipe(void **state)
{
	struct perf_build pb = { .pipe = true };

	(void)state;
	fill(&pb);
	mutated(&pb);
}

static void mutated_compressed(void **state)
{
	struct perf_build plain = { 0 }, pb = { .big = false };
	uint8_t packed[16384];
	uint64_t size;
	size_t len;

	(void)state;
	fill(&plain);
	memcpy(&size, plain.b.p + 48, 8);
	len = ZSTD_compress(packed, sizeof(packed), plain.b.p + plain.data_at, size, 1);
	assert_false(ZSTD_isError(len));
	pb_begin(&pb);
	for (size_t at = 0; at < len; at += 300) {
		size_t record = pb_record(&pb, 81, 0);

		pb_bytes(&pb, packed + at, len - at < 300 ? len - at : 300);
		pb_close(&pb, record);
	}
	pb_end(&pb);
	free(plain.b.p);
	mutated(&pb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mutated_file), cmocka_unit_test(mutated_big_endian_with_chains), cmocka_unit_test(mutated_pipe),
		cmocka_unit_test(mutated_compressed),
	};

	signal(SIGALRM, too_slow);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
