// SPDX-License-Identifier: GPL-2.0-only
/*
 * The same records in a trace.dat and in a perf.data give the same events: recordings of version 6 are rewritten, ring buffer by ring
 * buffer in rounds as perf does, with the formats they came with, and both are read side by side.
 */
#include <stdbool.h>

#include "perf_build.h"

#include "trace/stream.h"

#define ROUNDS 12u
#define MAX_PID 65536

/* One reading: an event that is no name at a time, and the names of the moment. */
struct side { struct resched_trace *trace; char path[4096]; uint32_t name[MAX_PID]; };

static const struct resched_event *next_event(struct side *s)
{
	const struct resched_event *ev;
	int rc;

	while ((rc = resched_trace_next(s->trace, &ev, NULL)) > 0) {
		if (ev->type != RESCHED_EV_COMM)
			return ev;
		assert_true(ev->pid > 0 && ev->pid < MAX_PID);
		s->name[ev->pid] = ev->comm.name;
	}
	assert_int_equal(rc, 0);
	return NULL;
}

static const char *name_of(const struct side *s, int32_t pid)
{
	return pid > 0 && pid < MAX_PID ? resched_names_get(resched_trace_names(s->trace), s->name[pid]) : "idle";
}

static void same_event(const struct side *a, const struct side *b, const struct resched_event *x, const struct resched_event *y)
{
	assert_non_null(y);
	if (x->ts_ns != y->ts_ns || x->cpu != y->cpu || x->type != y->type || x->pid != y->pid ||
	    (x->ctx & ~RESCHED_CTX_OWN) != (y->ctx & ~RESCHED_CTX_OWN) || memcmp(&x->sw, &y->sw, sizeof(*x) - offsetof(struct resched_event, sw)))
		fail_msg("%s: at %llu on cpu %u type %u pid %d; at %llu on cpu %u type %u pid %d", a->path, (unsigned long long)x->ts_ns, x->cpu,
			 x->type, x->pid, (unsigned long long)y->ts_ns, y->cpu, y->type, y->pid);
	if (x->type == RESCHED_EV_SWITCH) {
		assert_string_equal(name_of(a, x->pid), name_of(b, x->pid));
		assert_string_equal(name_of(a, x->sw.next_pid), name_of(b, x->sw.next_pid));
	}
}

static struct side *open_side(const char *path)
{
	struct side *s = calloc(1, sizeof(*s));
	struct resched_error err;

	assert_non_null(s);
	snprintf(s->path, sizeof(s->path), "%s", path);
	if (resched_trace_open(path, &s->trace, &err) < 0)
		fail_msg("%s", err.text);
	return s;
}

static void close_side(struct side *s)
{
	resched_trace_free(s->trace);
	free(s);
}

static void compare(const char *dat, const char *perf)
{
	struct side *a = open_side(dat), *b = open_side(perf);
	const struct resched_source *x = resched_trace_source(a->trace), *y = resched_trace_source(b->trace);
	const struct resched_event *ev;
	uint64_t nr = 0;

	for (; (ev = next_event(a)) != NULL; nr++)
		same_event(a, b, ev, next_event(b));
	assert_null(next_event(b));
	assert_true(nr > 0);
	x = resched_trace_source(a->trace);
	y = resched_trace_source(b->trace);
	assert_int_equal(x->total_events, y->total_events);
	assert_int_equal(x->first_ns, y->first_ns);
	assert_int_equal(x->last_ns, y->last_ns);
	assert_int_equal(x->nr_observed, y->nr_observed);
	assert_int_equal(x->nr_events, y->nr_events);
	for (unsigned int i = 0; i < x->nr_events; i++) {
		assert_string_equal(x->events[i].name, y->events[i].name);
		assert_int_equal(x->events[i].count, y->events[i].count);
	}
	close_side(a);
	close_side(b);
}

/* Write the records of all cpus before @until, each cpu's in a row. */
static void write_round(struct perf_build *pb, struct rs_stream *streams, const uint8_t **data, uint32_t *len, unsigned int nr, uint64_t until)
{
	for (unsigned int i = 0; i < nr; i++) {
		while (data[i] && streams[i].ts < until) {
			struct blob raw = { (uint8_t *)(uintptr_t)data[i], len[i] };

			pb_sample(pb, ID_SWITCH, streams[i].ts, streams[i].cpu, &raw);
			data[i] = rs_stream_next(&streams[i], &len[i]);
		}
	}
	pb_round(pb);
}

static void rewrite(const char *path)
{
	struct side *source = open_side(path);
	uint64_t first = resched_trace_source(source->trace)->first_ns, last;
	struct rs_stream streams[64];
	struct rs_stream_shared shared = { 0 };
	const uint8_t *data[64];
	uint32_t len[64];
	struct rs_notes notes = { 0 };
	struct rs_dat dat = { 0 };
	struct rs_input in;
	struct blob formats;
	struct perf_build pb = { .formats = &formats };
	char to[64];
	unsigned int nr;

	while (next_event(source))
		;
	first = resched_trace_source(source->trace)->first_ns;
	last = resched_trace_source(source->trace)->last_ns;
	close_side(source);
	assert_int_equal(rs_input_open(&in, path, NULL), 0);
	assert_int_equal(rs_dat_open(&dat, &in, &notes, NULL), 0);
	assert_int_equal(dat.version, 6);
	shared.in = &in;
	shared.notes = &notes;
	shared.layout.swap = dat.swap;
	shared.layout.big = dat.big;
	assert_true(rs_page_layout_parse(&shared.layout, dat.header_page, dat.page_bytes));
	nr = dat.buffers[0].nr_cpus;
	assert_true(nr <= 64);
	/* the beginning of a version 6 is what perf calls tracing data; it says itself where it ends */
	formats.len = in.size < (2u << 20) ? in.size : 2u << 20;
	formats.p = malloc(formats.len);
	assert_non_null(formats.p);
	assert_int_equal(rs_input_read(&in, 0, formats.p, formats.len), formats.len);
	pb.big = dat.big;
	pb_begin(&pb);
	for (unsigned int i = 0; i < nr; i++) {
		rs_stream_init(&streams[i], &shared, &dat.buffers[0].cpus[i]);
		data[i] = rs_stream_next(&streams[i], &len[i]);
	}
	for (unsigned int round = 1; round <= ROUNDS; round++)
		write_round(&pb, streams, data, len, nr, round == ROUNDS ? UINT64_MAX : first + (last - first) / ROUNDS * round);
	pb_end(&pb);
	blob_write(pb.b.p, pb.b.len, to);
	compare(path, to);
	unlink(to);
	for (unsigned int i = 0; i < nr; i++)
		rs_stream_release(&streams[i]);
	rs_stream_shared_release(&shared);
	rs_dat_release(&dat);
	rs_notes_release(&notes);
	rs_input_close(&in);
	free(formats.p);
	free(pb.b.p);
}

static void recording_of_ours(void **state)
{
	const char *top = getenv("RESCHED_TOP");
	char path[4096];

	(void)state;
	snprintf(path, sizeof(path), "%s/tests/data/lab-v6-k612-1c.dat", top ? top : ".");
	rewrite(path);
}

/* Other kernels, 32 bits, several cpus, wide names. */
static void public_recordings(void **state)
{
	static const char *const names[] = { "trace_stats.dat", "trace_fifo_multicore.dat", "trace_2014-03_hmp.dat", "schedviz_test.dat" };
	const char *shared = getenv("RESCHED_SHARED");
	char path[4096];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/traces/public/%s", shared ? shared : "../shared", names[i]);
		if (access(path, R_OK) < 0) {
			print_message("skip: %s is not there\n", path);
			skip();
		}
		rewrite(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recording_of_ours), cmocka_unit_test(public_recordings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
