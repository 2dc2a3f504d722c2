// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading with threads gives what reading without gives, byte for byte: events, names, counts and warnings, of whole and of damaged
 * recordings. Run it with SAN=thread to look for races. MUTATIONS sets the number of damaged variants of each recording.
 */
#include "trace_files.h"

#include <sys/mman.h>

static const char *const recordings[] = {
	"host-6.18.dat", "lab-v6-k612-1c.dat", "lab-v7-k61-1c.dat", "lab-v7-k612-2c.dat", "lab-v7-none-k61-2c.dat", "pages-1c.tar",
};

struct text { char *p; size_t len; };

/* Everything that a reader tells. */
static struct text tell(const char *path, int nr_threads)
{
	struct resched_trace *trace = NULL;
	struct resched_error err = { 0 };
	const struct resched_event *ev;
	struct text t = { 0 };
	FILE *out = open_memstream(&t.p, &t.len);
	int rc;

	assert_non_null(out);
	rc = resched_trace_open(path, &trace, &err);
	if (rc == 0) {
		const struct resched_source *src = resched_trace_source(trace);
		int nr = resched_trace_threads(trace, nr_threads);

		assert_true(nr >= 0 && nr <= nr_threads);
		while ((rc = resched_trace_next(trace, &ev, &err)) > 0) {
			fwrite(ev, sizeof(*ev), 1, out);
			if (ev->type == RESCHED_EV_COMM)
				fprintf(out, " %s\n", resched_names_get(resched_trace_names(trace), ev->comm.name));
			if (resched_trace_truth(trace))
				fwrite(resched_trace_truth(trace), sizeof(struct resched_truth), 1, out);
		}
		fprintf(out, "%d %llu %llu %llu %d %u\n", rc, (unsigned long long)src->total_events, (unsigned long long)src->lost_events,
			(unsigned long long)src->lost_gaps, src->damaged, src->nr_observed);
		for (unsigned int i = 0; i < src->nr_events; i++)
			fprintf(out, "%s %llu\n", src->events[i].name, (unsigned long long)src->events[i].count);
		for (unsigned int i = 0; i < src->nr_warnings; i++)
			fprintf(out, "%s\n", src->warnings[i]);
	}
	fprintf(out, "%d %s\n", rc, err.text);
	resched_trace_free(trace);
	fclose(out);
	return t;
}

static void require_same(const char *path, const char *what)
{
	struct text none = tell(path, 0);

	for (int nr = 1; nr <= 3; nr += 2) {
		struct text some = tell(path, nr);

		if (some.len != none.len || memcmp(some.p, none.p, none.len) != 0)
			fail_msg("%s reads differently with %d threads", what, nr);
		free(some.p);
	}
	free(none.p);
}

static void whole(void **state)
{
	const char *top = getenv("RESCHED_TOP");
	char path[4096];

	(void)state;
	for (size_t i = 0; i < sizeof(recordings) / sizeof(recordings[0]); i++) {
		snprintf(path, sizeof(path), "%s/tests/data/%s", top ? top : ".", recordings[i]);
		require_same(path, recordings[i]);
	}
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

static unsigned int variants(void)
{
	const char *text = getenv("MUTATIONS"), *preload = getenv("LD_PRELOAD");

	if (text)
		return (unsigned int)strtoul(text, NULL, 10);
	return preload && strstr(preload, "vgpreload") ? 3 : 60;
}

/* Damage to the events, or an early end; the frame has tests of its own. */
static size_t mutate(struct blob *b, uint64_t seed)
{
	size_t begin = b->len / 4;
	uint64_t state = seed;

	for (uint64_t n = 1 + next_random(&state) % 12; n; n--)
		b->p[begin + next_random(&state) % (b->len - begin)] ^= (uint8_t)(1u << next_random(&state) % 8);
	return next_random(&state) % 3 ? b->len : begin + next_random(&state) % (b->len - begin);
}

static void damaged(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(recordings) / sizeof(recordings[0]); i++) {
		struct blob from = blob_load(recordings[i]);

		for (unsigned int seed = 1; seed <= variants(); seed++) {
			struct blob b = blob_copy(&from);
			size_t len = mutate(&b, seed);
			char path[64], what[128];
			int fd = memfd_create("ahead", MFD_CLOEXEC);

			assert_true(fd >= 0 && write(fd, b.p, len) == (ssize_t)len);
			snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
			snprintf(what, sizeof(what), "%s, variant %u,", recordings[i], seed);
			require_same(path, what);
			close(fd);
			free(b.p);
		}
		free(from.p);
	}
}

/* Leaving before the end must not hang or leak. */
static void left_early(void **state)
{
	const char *top = getenv("RESCHED_TOP");
	char path[4096];

	(void)state;
	snprintf(path, sizeof(path), "%s/tests/data/lab-v7-k612-2c.dat", top ? top : ".");
	for (unsigned int events = 0; events < 3000; events += 700) {
		struct resched_trace *trace;
		struct resched_error err = { 0 };
		const struct resched_event *ev;

		assert_int_equal(resched_trace_open(path, &trace, &err), 0);
		assert_int_equal(resched_trace_threads(trace, 2), 2);
		for (unsigned int i = 0; i < events; i++)
			assert_int_equal(resched_trace_next(trace, &ev, &err), 1);
		resched_trace_free(trace);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(whole), cmocka_unit_test(damaged), cmocka_unit_test(left_early) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
