// SPDX-License-Identifier: GPL-2.0-only
/* The schedule writer: what goes in comes out of the reader again, event by event and name by name. */
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#include "trace_files.h"

#include <resched/replay.h>
#include <resched/writer.h>

/* A stream kept in memory, its names resolved. */
struct kept { struct resched_event ev; char comm[64]; struct resched_truth truth; };
struct stream { size_t nr, room; struct kept *items; const struct resched_names *names; };

static void keep_event(struct stream *s, const struct resched_event *ev, const struct resched_truth *truth)
{
	struct kept *k;

	if (s->nr == s->room) {
		s->room = s->room ? 2 * s->room : 1024;
		s->items = realloc(s->items, s->room * sizeof(*s->items));
		assert_non_null(s->items);
	}
	k = &s->items[s->nr++];
	memset(k, 0, sizeof(*k));
	k->ev = *ev;
	if (truth)
		k->truth = *truth;
	if (ev->type == RESCHED_EV_COMM) {
		snprintf(k->comm, sizeof(k->comm), "%s", resched_names_get(s->names, ev->comm.name));
		k->ev.comm.name = 0;
	}
}

static int keep_sink(void *ctx, const struct resched_event *ev)
{
	keep_event(ctx, ev, NULL);
	return 0;
}

static void make_path(char path[64])
{
	int fd;

	strcpy(path, "/tmp/resched-writer-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
}

static struct resched_trace *open_trace(const char *path)
{
	struct resched_error err = { 0 };
	struct resched_trace *trace;

	if (resched_trace_open(path, &trace, &err) < 0)
		fail_msg("%s", err.text);
	return trace;
}

static struct stream read_all(struct resched_trace *trace)
{
	struct stream s = { .names = resched_trace_names(trace) };
	const struct resched_event *ev;
	struct resched_error err = { 0 };
	int rc;

	while ((rc = resched_trace_next(trace, &ev, &err)) > 0)
		keep_event(&s, ev, resched_trace_truth(trace));
	if (rc < 0)
		fail_msg("%s", err.text);
	return s;
}

static void assert_same(const char *what, const struct stream *want, const struct stream *got)
{
	for (size_t i = 0; i < want->nr && i < got->nr; i++) {
		const struct kept *a = &want->items[i], *b = &got->items[i];

		if (memcmp(a, b, sizeof(*a)) != 0)
			fail_msg("%s: event %zu: type %u pid %d cpu %u at %llu '%s' became type %u pid %d cpu %u at %llu '%s'", what, i, a->ev.type,
				 a->ev.pid, a->ev.cpu, (unsigned long long)a->ev.ts_ns, a->comm, b->ev.type, b->ev.pid, b->ev.cpu,
				 (unsigned long long)b->ev.ts_ns, b->comm);
	}
	if (want->nr != got->nr)
		fail_msg("%s: %zu events became %zu", what, want->nr, got->nr);
}

static void write_stream(const char *path, const struct resched_host *host, const struct stream *s, const struct resched_names *names,
			 const struct resched_writer_options *opts)
{
	struct resched_error err = { 0 };
	struct resched_writer *w;

	if (resched_writer_new(path, host, names, opts, &w, &err) < 0)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < s->nr; i++)
		assert_int_equal(resched_writer_event(w, &s->items[i].ev), 0);
	if (resched_writer_finish(w, NULL, NULL, &err) < 0)
		fail_msg("%s", err.text);
	resched_writer_free(w);
}

/* Read, write, read: the same. */
static void round_trip(const char *from, int compress)
{
	struct resched_trace *in = open_trace(from), *out;
	struct resched_writer_options opts = { .size = sizeof(opts), .compress = compress };
	struct resched_error err = { 0 };
	struct resched_writer *w;
	const struct resched_event *ev;
	struct stream want, got;
	char path[64];

	make_path(path);
	opts.nr_cpus = resched_trace_source(in)->nr_cpus;
	want = (struct stream){ .names = resched_trace_names(in) };
	if (resched_writer_new(path, resched_trace_host(in), resched_trace_names(in), &opts, &w, &err) < 0)
		fail_msg("%s", err.text);
	while (resched_trace_next(in, &ev, &err) > 0) {
		const struct resched_truth *truth = resched_trace_truth(in);

		assert_int_equal(truth ? resched_writer_truth(w, ev, truth) : resched_writer_event(w, ev), 0);
		keep_event(&want, ev, truth);
	}
	if (resched_writer_finish(w, NULL, NULL, &err) < 0)
		fail_msg("%s", err.text);
	resched_writer_free(w);
	out = open_trace(path);
	got = read_all(out);
	assert_same(from, &want, &got);
	assert_int_equal(resched_trace_source(out)->damaged, 0);
	assert_int_equal(resched_trace_source(out)->nr_cpus, resched_trace_source(in)->nr_cpus);
	assert_int_equal(resched_trace_source(out)->nr_observed, resched_trace_source(in)->nr_observed);
	assert_int_equal(resched_trace_source(out)->lost_events, resched_trace_source(in)->lost_events);
	assert_int_equal(resched_trace_source(out)->lost_gaps, resched_trace_source(in)->lost_gaps);
	unlink(path);
	free(want.items);
	free(got.items);
	resched_trace_free(in);
	resched_trace_free(out);
}

static void test_shipped(void **state)
{
	static const char *const files[] = { "host-6.18.dat", "lab-v6-k612-1c.dat", "lab-v7-k61-1c.dat", "lab-v7-k612-2c.dat", "lab-v7-none-k61-2c.dat" };
	const char *top = getenv("RESCHED_TOP");
	char path[4096];

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/tests/data/%s", top ? top : ".", files[i]);
		round_trip(path, i & 1);
	}
}

/* Folders of the shared recordings with a trace.dat in each. */
static unsigned int round_trip_folder(const char *kind)
{
	const char *shared = getenv("RESCHED_SHARED");
	char folder[4096], path[8192];
	struct dirent *entry;
	unsigned int nr = 0;
	DIR *dir;

	snprintf(folder, sizeof(folder), "%s/traces/%s", shared ? shared : "../shared", kind);
	dir = opendir(folder);
	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s/trace.dat", folder, entry->d_name);
		if (entry->d_name[0] == '.' || access(path, R_OK) < 0)
			continue;
		if (!strcmp(kind, "truth") || strstr(entry->d_name, "forks") || strstr(entry->d_name, "4s2") || strstr(entry->d_name, "ipc-def")) {
			round_trip(path, 0);
			nr++;
		}
	}
	if (dir)
		closedir(dir);
	return nr;
}

static void test_lab(void **state)
{
	(void)state;
	if (!round_trip_folder("lab")) {
		print_message("no shared recordings\n");
		skip();
	}
}

static void test_truth(void **state)
{
	(void)state;
	if (!round_trip_folder("truth")) {
		print_message("no shared recordings with kernel truth\n");
		skip();
	}
}

static struct resched_event event(enum resched_event_type type, uint64_t ts, unsigned int cpu, int pid)
{
	return (struct resched_event){ .type = (uint8_t)type, .ts_ns = ts, .cpu = (uint16_t)cpu, .pid = pid };
}

static void name(struct stream *s, struct resched_names *names, uint64_t ts, unsigned int cpu, int pid, const char *text, int renamed)
{
	struct resched_event ev = event(RESCHED_EV_COMM, ts, cpu, pid);

	ev.comm.name = (uint32_t)resched_names_intern(names, text, strlen(text));
	ev.comm.renamed = (uint32_t)renamed;
	keep_event(s, &ev, NULL);
	s->items[s->nr - 1].ev.comm.name = ev.comm.name;	/* for the writer */
}

static void add(struct stream *s, struct resched_event ev)
{
	keep_event(s, &ev, NULL);
}

static void add_switch(struct stream *s, uint64_t ts, unsigned int cpu, int prev, uint32_t prev_state, int next)
{
	struct resched_event ev = event(RESCHED_EV_SWITCH, ts, cpu, prev);

	ev.sw.prev_prio = 120;
	ev.sw.next_prio = 98;
	ev.sw.prev_state = prev_state;
	ev.sw.next_pid = next;
	add(s, ev);
}

/* One of everything, in the order a reader gives it. */
static struct stream everything(struct resched_names *names)
{
	struct stream s = { .names = names };
	struct resched_event ev;
	uint64_t t = 5000000000ull;

	name(&s, names, t, 0, 7, "a b=c [x] ==> \xff", 0);
	add_switch(&s, t, 0, 0, 0, 7);
	name(&s, names, t + 5, 900, 40, "waker", 0);		/* known from elsewhere only */
	name(&s, names, t + 5, 900, 8, "wakee", 0);
	ev = event(RESCHED_EV_WAKING, t + 5, 900, 8);
	ev.ctx = RESCHED_CTX_HARDIRQ | RESCHED_CTX_SOFTIRQ | RESCHED_CTX_NEED_RESCHED | RESCHED_CTX_IRQS_OFF;
	s.items[2].ev.ctx = s.items[3].ev.ctx = ev.ctx;		/* a name comes in the context of the record that has it */
	ev.wake.waker_pid = 40;
	ev.wake.prio = 139;
	ev.wake.target_cpu = 900;
	add(&s, ev);
	ev.type = RESCHED_EV_WAKEUP;
	ev.ctx = RESCHED_CTX_SOFTIRQ;
	ev.ts_ns++;
	add(&s, ev);
	name(&s, names, t + 9, 5, 50, "told apart", 0);		/* before an event that does not name it */
	add(&s, event(RESCHED_EV_OTHER, t + 9, 5, 0));
	ev = event(RESCHED_EV_FORK, t + 10, 0, 7);
	ev.fork.child_pid = 9;
	name(&s, names, t + 10, 0, 9, "child", 0);
	add(&s, ev);
	ev = event(RESCHED_EV_WAKEUP_NEW, t + 11, 0, 9);
	ev.wake.waker_pid = 7;
	ev.wake.prio = -1;
	add(&s, ev);
	name(&s, names, t + 12, 0, 9, "new name", 1);
	add(&s, event(RESCHED_EV_EXEC, t + 12, 0, 9));
	add_switch(&s, t + 13, 0, 7, RESCHED_STATE_D | RESCHED_STATE_OTHER, 9);
	add_switch(&s, t + 14, 0, 9, RESCHED_STATE_PREEMPT, 0);
	ev = event(RESCHED_EV_MIGRATE, t + 20, 5, 9);
	ev.migrate.prio = 120;
	ev.migrate.to_cpu = 900;
	add(&s, ev);
	ev = event(RESCHED_EV_PRIO, t + 21, 5, 9);
	ev.prio.old_prio = 120;
	ev.prio.new_prio = -1;
	add(&s, ev);
	ev = event(RESCHED_EV_RUNTIME, t + 22, 5, 9);
	ev.runtime.runtime_ns = UINT64_MAX;
	ev.runtime.vruntime_ns = 1;
	add(&s, ev);
	add(&s, event(RESCHED_EV_EXIT, t + 23, 5, 9));
	add_switch(&s, t + 24, 5, 9, RESCHED_STATE_X, 0);
	add_switch(&s, t + 24 + (1ull << 27), 5, 0, 0, 8);	/* deltas that need 28, 60 and 62 bits */
	ev = event(RESCHED_EV_LOST, t + (1ull << 60), 5, 0);
	ev.lost.count = 12345678901ull;
	add(&s, ev);
	add_switch(&s, t + (1ull << 60), 5, 8, RESCHED_STATE_RUNNING, 0);
	add(&s, event(RESCHED_EV_LOST, t + (1ull << 62), 5, 0));	/* of unknown size */
	add_switch(&s, t + (1ull << 62), 5, 0, 0, 8);
	return s;
}

static void test_everything(void **state)
{
	struct resched_names *names = resched_names_new();
	struct stream want = everything(names), got;
	struct resched_trace *trace;
	char path[64];

	(void)state;
	make_path(path);
	write_stream(path, NULL, &want, names, NULL);
	for (size_t i = 0; i < want.nr; i++) {
		if (want.items[i].ev.type == RESCHED_EV_COMM)
			want.items[i].ev.comm.name = 0;
	}
	trace = open_trace(path);
	got = read_all(trace);
	assert_same("everything", &want, &got);
	assert_int_equal(resched_trace_source(trace)->nr_cpus, 3);
	assert_int_equal(resched_trace_source(trace)->damaged, 0);
	unlink(path);
	free(want.items);
	free(got.items);
	resched_trace_free(trace);
	resched_names_free(names);
}

/* A loss with nothing behind it must not be forgotten. */
static void test_loss_at_end(void **state)
{
	struct resched_names *names = resched_names_new();
	struct stream s = { .names = names }, got;
	struct resched_trace *trace;
	struct resched_event lost = event(RESCHED_EV_LOST, 900, 1, 0);
	char path[64];

	(void)state;
	make_path(path);
	lost.lost.count = 3;
	add_switch(&s, 100, 1, 0, 0, 0);
	add(&s, lost);
	write_stream(path, NULL, &s, names, NULL);
	trace = open_trace(path);
	got = read_all(trace);
	assert_int_equal(got.nr, 3);
	assert_int_equal(got.items[1].ev.type, RESCHED_EV_LOST);
	assert_int_equal(got.items[1].ev.ts_ns, 900);
	assert_int_equal(got.items[1].ev.lost.count, 3);
	unlink(path);
	free(s.items);
	free(got.items);
	resched_trace_free(trace);
	resched_names_free(names);
}

static struct blob slurp(const char *path)
{
	struct blob b = { 0 };
	FILE *f = fopen(path, "rb");

	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	b.len = (size_t)ftell(f);
	rewind(f);
	b.p = malloc(b.len + 1);
	assert_non_null(b.p);
	assert_int_equal(fread(b.p, 1, b.len, f), b.len);
	fclose(f);
	return b;
}

/* The engine tells all names first, a file tells them when they are needed: leave them out, but keep who is called what when switched in. */
static void fold_names(struct stream *s)
{
	static char comm[65536][64];
	size_t nr = 0;

	memset(comm, 0, sizeof(comm));
	for (size_t i = 0; i < s->nr; i++) {
		struct kept *k = &s->items[i];

		assert_in_range(k->ev.pid, 0, 65535);
		if (k->ev.type == RESCHED_EV_COMM) {
			memcpy(comm[k->ev.pid], k->comm, sizeof(k->comm));
			continue;
		}
		if (k->ev.type == RESCHED_EV_SWITCH)
			memcpy(k->comm, comm[k->ev.sw.next_pid], sizeof(k->comm));
		s->items[nr++] = *k;
	}
	s->nr = nr;
}

/* A replayed schedule reads back as the engine told it, twice the same bytes, and says what it is. */
static void test_replayed(void **state)
{
	const char *top = getenv("RESCHED_TOP");
	struct resched_whatif whatif = { .policy = "evdf" };
	struct resched_schedule schedule = { 0 };
	struct resched_workload *load = NULL;
	struct resched_error err = { 0 };
	struct stream want, got;
	struct resched_trace *trace;
	struct resched_writer *w;
	struct blob bytes[2];
	char path[64], file[4096];

	(void)state;
	make_path(path);
	snprintf(file, sizeof(file), "%s/tests/data/lab-v7-k612-2c.dat", top ? top : ".");
	trace = open_trace(file);
	assert_int_equal(resched_workload_build(trace, NULL, NULL, NULL, &load, &err), 0);
	resched_trace_free(trace);
	want = (struct stream){ .names = resched_workload_names(load) };
	assert_int_equal(resched_replay_run(load, &whatif, keep_sink, &want, NULL, &schedule, &err), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(resched_writer_new(path, resched_workload_host(load), resched_workload_names(load), NULL, &w, &err), 0);
		assert_int_equal(resched_replay_run(load, &whatif, resched_writer_event, w, NULL, &schedule, &err), 0);
		assert_int_equal(resched_writer_finish(w, &schedule, NULL, &err), 0);
		resched_writer_free(w);
		bytes[i] = slurp(path);
	}
	assert_int_equal(bytes[0].len, bytes[1].len);
	assert_memory_equal(bytes[0].p, bytes[1].p, bytes[0].len);
	assert_non_null(memmem(bytes[0].p, bytes[0].len, "\"policy\":\"evdf\"", 15));
	trace = open_trace(path);
	got = read_all(trace);
	fold_names(&want);
	fold_names(&got);
	assert_true(want.nr > 1000);
	assert_same("replayed", &want, &got);
	assert_non_null(resched_trace_host(trace));
	assert_string_equal(resched_trace_source(trace)->kernel, resched_workload_host(load)->kernel);
	assert_int_equal(resched_trace_source(trace)->damaged, 0);
	unlink(path);
	free(bytes[0].p);
	free(bytes[1].p);
	free(want.items);
	free(got.items);
	resched_trace_free(trace);
	resched_workload_free(load);
}

/* Memory does not follow the length: a million events through a writer whose batches are the only store. */
static void test_long(void **state)
{
	struct resched_names *names = resched_names_new();
	struct resched_error err = { 0 };
	struct resched_writer_result result;
	struct resched_trace *trace;
	const struct resched_event *ev;
	struct resched_writer *w;
	uint64_t nr = 0;
	char path[64];

	(void)state;
	make_path(path);
	assert_int_equal(resched_writer_new(path, NULL, names, &(struct resched_writer_options){ .size = sizeof(struct resched_writer_options), .compress = 1 },
					    &w, &err), 0);
	for (uint64_t i = 0; i < 1000000; i++) {
		struct resched_event e = event(RESCHED_EV_SWITCH, 1000 * i, i % 4, (int)(i % 7));

		e.sw.next_pid = (int)(i % 5);
		assert_int_equal(resched_writer_event(w, &e), 0);
	}
	assert_int_equal(resched_writer_finish(w, NULL, &result, &err), 0);
	resched_writer_free(w);
	assert_int_equal(result.events, 1000000);
	trace = open_trace(path);
	while (resched_trace_next(trace, &ev, &err) > 0)
		nr += ev->type == RESCHED_EV_SWITCH;
	assert_int_equal(nr, 1000000);
	unlink(path);
	resched_trace_free(trace);
	resched_names_free(names);
}

static void test_failures(void **state)
{
	struct resched_names *names = resched_names_new();
	struct resched_error err = { 0 };
	struct resched_event ev = event(RESCHED_EV_SWITCH, 1, 9000, 1);
	struct resched_writer *w = NULL;
	struct blob before;
	char path[64];
	FILE *f;

	(void)state;
	assert_int_equal(resched_writer_new("/tmp", NULL, names, NULL, &w, &err), -EISDIR);
	assert_non_null(strstr(err.text, "directory"));
	assert_int_equal(resched_writer_new("/nonexistent/folder/x.dat", NULL, names, NULL, &w, &err), -ENOENT);
	make_path(path);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("precious", f);
	fclose(f);
	assert_int_equal(resched_writer_new(path, NULL, names, NULL, &w, &err), 0);
	assert_int_equal(resched_writer_event(w, &ev), -EINVAL);	/* no such cpu */
	ev.cpu = 0;
	assert_int_equal(resched_writer_event(w, &ev), -EINVAL);
	assert_int_equal(resched_writer_finish(w, NULL, NULL, &err), -EINVAL);
	assert_non_null(strstr(err.text, "cpu"));
	resched_writer_free(w);
	before = slurp(path);
	assert_int_equal(before.len, 8);	/* what was there is there */
	free(before.p);
	unlink(path);
	resched_writer_free(NULL);
	resched_names_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shipped), cmocka_unit_test(test_lab), cmocka_unit_test(test_truth), cmocka_unit_test(test_everything),
		cmocka_unit_test(test_loss_at_end), cmocka_unit_test(test_replayed), cmocka_unit_test(test_long), cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
