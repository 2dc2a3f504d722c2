/* SPDX-License-Identifier: GPL-2.0-only */
/* Recordings for the tests of the reader: load, change, write to a temporary file, read whole. */
#ifndef TRACE_FILES_H
#define TRACE_FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <resched/trace.h>

struct blob { uint8_t *p; size_t len; };

static inline struct blob blob_load(const char *name)
{
	const char *top = getenv("RESCHED_TOP");
	char path[4096];
	struct blob b = { 0 };
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/data/%s", top ? top : ".", name);
	f = fopen(path, "rb");
	if (!f)
		fail_msg("cannot open %s (run from the top of the tree)", path);
	fseek(f, 0, SEEK_END);
	b.len = (size_t)ftell(f);
	rewind(f);
	b.p = malloc(b.len + 1);
	assert_non_null(b.p);
	assert_int_equal(fread(b.p, 1, b.len, f), b.len);
	fclose(f);
	return b;
}

static inline struct blob blob_copy(const struct blob *from)
{
	struct blob b = { malloc(from->len + 1), from->len };

	assert_non_null(b.p);
	memcpy(b.p, from->p, from->len);
	return b;
}

static inline void blob_append(struct blob *b, const void *data, size_t len)
{
	b->p = realloc(b->p, b->len + len + 1);
	assert_non_null(b->p);
	memcpy(b->p + b->len, data, len);
	b->len += len;
}

/* A temporary file with @len bytes of @p; its name is in @path (at least 64 bytes); the caller unlinks it. */
static inline void blob_write(const void *p, size_t len, char *path)
{
	const char *dir = getenv("TMPDIR");
	int fd;

	snprintf(path, 64, "%s/resched-test-XXXXXX", dir && strlen(dir) < 40 ? dir : "/tmp");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, p, len), (ssize_t)len);
	close(fd);
}

/* What reading a whole recording gave. */
struct reading {
	int rc;				/* of open or of the first next that failed */
	struct resched_error err;
	uint64_t nr[RESCHED_EV_NR];	/* events by type */
	uint64_t own, total, lost, gaps, first_ns, last_ns;
	int damaged, ordered;
	unsigned int cpus, observed, warnings;
	char text[4000];		/* all warnings */
	char kernel[64], clock[16];
	int has_host;
};

static inline void reading_source(struct reading *r, const struct resched_trace *trace)
{
	const struct resched_source *src = resched_trace_source(trace);

	r->total = src->total_events;
	r->lost = src->lost_events;
	r->gaps = src->lost_gaps;
	r->damaged = src->damaged;
	r->cpus = src->nr_cpus;
	r->observed = src->nr_observed;
	r->first_ns = src->first_ns;
	r->last_ns = src->last_ns;
	r->warnings = src->nr_warnings;
	for (unsigned int i = 0; i < src->nr_warnings; i++) {
		size_t at = strlen(r->text);

		snprintf(r->text + at, sizeof(r->text) - at, "%s\n", src->warnings[i]);
	}
	snprintf(r->kernel, sizeof(r->kernel), "%s", src->kernel ? src->kernel : "");
	snprintf(r->clock, sizeof(r->clock), "%s", src->clock ? src->clock : "");
	r->has_host = resched_trace_host(trace) != NULL;
}

static inline struct reading read_path(const char *path)
{
	struct resched_trace *trace = NULL;
	const struct resched_event *ev;
	struct reading r = { .ordered = 1 };
	uint64_t ts = 0;
	unsigned int cpu = 0;

	r.rc = resched_trace_open(path, &trace, &r.err);
	if (r.rc < 0) {
		assert_null(trace);
		assert_true(r.err.kind != RESCHED_OK && r.err.text[0]);
		return r;
	}
	while ((r.rc = resched_trace_next(trace, &ev, &r.err)) > 0) {
		if (ev->ts_ns < ts || (ev->ts_ns == ts && ev->cpu < cpu))
			r.ordered = 0;
		ts = ev->ts_ns;
		cpu = ev->cpu;
		assert_true(ev->type > 0 && ev->type < RESCHED_EV_NR);
		r.nr[ev->type]++;
		r.own += !!(ev->ctx & RESCHED_CTX_OWN);
		if (ev->type == RESCHED_EV_COMM)
			assert_true(ev->comm.name < resched_names_count(resched_trace_names(trace)));
	}
	reading_source(&r, trace);
	resched_trace_free(trace);
	return r;
}

static inline struct reading read_bytes(const void *p, size_t len)
{
	char path[64];
	struct reading r;

	blob_write(p, len, path);
	r = read_path(path);
	unlink(path);
	return r;
}

/* Read one of tests/data as it is. */
static inline struct reading read_data(const char *name)
{
	struct blob b = blob_load(name);
	struct reading r = read_bytes(b.p, b.len);

	free(b.p);
	return r;
}

/* What every whole one must be. */
static inline void assert_whole(const struct reading *r)
{
	assert_int_equal(r->rc, 0);
	assert_true(r->ordered);
	assert_int_equal(r->damaged, 0);
}

#endif
