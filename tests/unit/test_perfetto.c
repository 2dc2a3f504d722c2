// SPDX-License-Identifier: GPL-2.0-only
/* Perfetto traces: what is in one, and what damage of any kind leaves of it. RESCHED_MUTATIONS sets how many variants there are. */
#include "trace_files.h"

#include <zlib.h>

#define VARIANTS 4000u
#define EVENTS 360u

static const char *const file = "mixed-2c.pftrace";

static void whole(void **state)
{
	struct reading r = read_data(file);

	(void)state;
	assert_whole(&r);
	assert_int_equal(r.total, EVENTS);
	assert_int_equal(r.cpus, 2);
	assert_int_equal(r.observed, 2);
	assert_string_equal(r.kernel, "6.12.48");
	assert_string_equal(r.clock, "boot");
	assert_int_equal(r.nr[RESCHED_EV_LOST], 2);
	assert_int_equal(r.lost, 3);		/* as the kernel counted them: more than the gaps tell */
	assert_int_equal(r.first_ns, 9000166398);
}

/* Wherever it is cut, what is before is read, and it is said. */
static void cut_anywhere(void **state)
{
	struct blob b = blob_load(file);
	uint64_t last = 0;

	(void)state;
	for (size_t len = 1; len < b.len; len += len < 400 ? 1 : 97) {
		struct reading r = read_bytes(b.p, len);

		assert_true(r.ordered);
		if (r.rc < 0)
			continue;
		assert_true(r.total >= last);
		assert_true(r.total < EVENTS || len > b.len - 100);
		last = r.total;
	}
	assert_true(last > EVENTS / 2);
	free(b.p);
}

static void not_perfetto(void **state)
{
	static const char *const texts[] = { "\n", "\n\n", "\n\n\n", "\n\n\n\n\n", "\n# tracer: nop\n#\n", "\n abc\n", "\x0a\x00", "\x0a\x02\xff\xff" };
	struct reading r;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		for (size_t nul = 0; nul < 2; nul++) {
			r = read_bytes(texts[i], strlen(texts[i]) + nul);
			assert_true(r.rc <= 0);
			assert_null(strstr(r.err.text, "Perfetto"));
		}
	}
}

/* One packet that would unpack to more than may be. */
static void bomb(void **state)
{
	size_t raw_len = 80u << 20, at = 0;
	uint8_t *raw = calloc(1, raw_len);
	uLong packed = compressBound(raw_len);
	uint8_t *out = malloc(packed + 32);
	struct reading r;
	uint64_t sizes[2];

	(void)state;
	assert_non_null(raw);
	assert_non_null(out);
	assert_int_equal(compress2(out + 16, &packed, raw, raw_len, 9), Z_OK);
	sizes[1] = packed;
	sizes[0] = 2 + 4 + packed;
	out[at++] = 0x0a;
	for (unsigned int i = 0; i < 4; i++)
		out[at++] = (uint8_t)((sizes[0] >> (7 * i) & 0x7f) | (i < 3 ? 0x80 : 0));
	out[at++] = 0x92;
	out[at++] = 0x03;
	for (unsigned int i = 0; i < 4; i++)
		out[at++] = (uint8_t)((sizes[1] >> (7 * i) & 0x7f) | (i < 3 ? 0x80 : 0));
	memmove(out + at, out + 16, packed);
	r = read_bytes(out, at + packed);
	assert_true(r.rc < 0);
	assert_int_equal(r.err.kind, RESCHED_DAMAGED);
	free(raw);
	free(out);
}

/* Bytes in each of which a packet might begin: a search from every one of them would outlast the limit of the test runner. */
static void many_beginnings(void **state)
{
	static const char *const patterns[] = { "\x0a", "\x0a\x02\x50", "\x0a\x04\x50\x01\x50\x0a\x02\x08\x01\xff", "\x0a\x08\x0a\x06\x08" };
	struct blob b = blob_load(file);
	size_t len = b.len, more = 2u << 20;

	(void)state;
	b.p = realloc(b.p, len + more);
	assert_non_null(b.p);
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		struct reading r;

		for (size_t k = 0; k < more; k++)
			b.p[len + k] = (uint8_t)patterns[i][k % strlen(patterns[i])];
		r = read_bytes(b.p, len + more);
		assert_int_equal(r.rc, 0);
		assert_int_equal(r.total, EVENTS);
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

static void mutate(struct blob *b, uint64_t *seed)
{
	static const uint8_t odd[] = { 0x00, 0xff, 0x80, 0x7f, 0x0a, 0x12, 0x22, 0x08 };
	unsigned int n = 1 + next_random(seed) % 6;

	while (n-- && b->len > 4) {
		size_t at = next_random(seed) % b->len, len = 1 + next_random(seed) % 64;

		if (len > b->len - at)
			len = b->len - at;
		switch (next_random(seed) % 6) {
		case 0: b->p[at] = (uint8_t)next_random(seed); break;
		case 1: b->p[at] = odd[next_random(seed) % sizeof(odd)]; break;
		case 2: memset(b->p + at, next_random(seed) % 2 ? 0 : 0xff, len); break;
		case 3: memmove(b->p + at, b->p + at + len, b->len - at - len); b->len -= len; break;
		case 4: b->p[at] ^= (uint8_t)(1u << next_random(seed) % 8); break;
		default:
			if (next_random(seed) % 4 == 0)
				b->len = at + 1;
		}
	}
}

/* The trace inside one compressed packet. */
static void wrap(struct blob *b)
{
	uLong packed = compressBound(b->len);
	uint8_t *z = malloc(packed), head[16];
	size_t at = 0;

	assert_non_null(z);
	assert_int_equal(compress2(z, &packed, b->p, b->len, 1), Z_OK);
	head[at++] = 0x0a;
	for (unsigned int i = 0; i < 3; i++)
		head[at++] = (uint8_t)(((packed + 5) >> (7 * i) & 0x7f) | (i < 2 ? 0x80 : 0));
	head[at++] = 0x92;
	head[at++] = 0x03;
	for (unsigned int i = 0; i < 3; i++)
		head[at++] = (uint8_t)((packed >> (7 * i) & 0x7f) | (i < 2 ? 0x80 : 0));
	b->len = 0;
	blob_append(b, head, at);
	blob_append(b, z, packed);
	free(z);
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
		struct reading r;

		if (i % 4 == 2)
			wrap(&b);
		mutate(&b, &seed);
		if (i % 4 == 3)
			wrap(&b);
		r = read_bytes(b.p, b.len);
		if (!r.ordered)
			fail_msg("variant %u: disorder", i);
		opened += r.rc == 0;
		free(b.p);
	}
	assert_true(opened > variants / 3);
	free(from.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole), cmocka_unit_test(cut_anywhere), cmocka_unit_test(not_perfetto), cmocka_unit_test(bomb), cmocka_unit_test(many_beginnings),
		cmocka_unit_test(mutations),
	};

	return cmocka_run_group_tests_name("perfetto", tests, NULL, NULL);
}
