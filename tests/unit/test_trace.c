// SPDX-License-Identifier: GPL-2.0-only
/* Reading recordings: whole ones, cut ones, damaged ones, and files that are none. */
#include "trace_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <zlib.h>

#define HOST_OPTION 0x5253

static void put_u16(struct blob *b, uint16_t v) { blob_append(b, &v, sizeof(v)); }
static void put_u32(struct blob *b, uint32_t v) { blob_append(b, &v, sizeof(v)); }
static void put_u64(struct blob *b, uint64_t v) { blob_append(b, &v, sizeof(v)); }

static uint64_t get_u64(const struct blob *b, size_t at)
{
	uint64_t v;

	assert_true(at + 8 <= b->len);
	memcpy(&v, b->p + at, 8);
	return v;
}

static uint32_t get_u32(const struct blob *b, size_t at)
{
	uint32_t v;

	assert_true(at + 4 <= b->len);
	memcpy(&v, b->p + at, 4);
	return v;
}

static void set(struct blob *b, size_t at, const void *v, size_t len)
{
	assert_true(at + len <= b->len);
	memcpy(b->p + at, v, len);
}

/* Where a v7 header has the offset of its first options: after magic, "7", flags, page size and two texts. */
static size_t options_at(const struct blob *b)
{
	size_t at = 10 + 2 + 2 + 4;

	at += strlen((char *)b->p + at) + 1;
	at += strlen((char *)b->p + at) + 1;
	return at;
}

/* Position of the content of the first option @id of a v7 file with plain option sections; 0 when there is none. */
static size_t find_option(const struct blob *b, unsigned int id)
{
	uint64_t off = get_u64(b, options_at(b));

	while (off) {
		size_t at = off + 16;

		for (;;) {
			uint16_t got;

			memcpy(&got, b->p + at, 2);
			if (got == id)
				return at + 6;
			if (!got)
				break;
			at += 6 + get_u32(b, at + 2);
		}
		off = get_u64(b, at + 6);
	}
	return 0;
}

static void whole_files(void **state)
{
	static const struct { const char *name, *kernel; unsigned int cpus; uint64_t total, switches; } files[] = {
		{ "lab-v6-k612-1c.dat", "6.12.115+deb12-cloud-amd64", 1, 1946, 545 },
		{ "lab-v7-k61-1c.dat", "6.1.0-56-cloud-amd64", 1, 1713, 474 },
		{ "lab-v7-k612-2c.dat", "6.12.115+deb12-cloud-amd64", 2, 3490, 935 },
		{ "lab-v7-none-k61-2c.dat", "6.1.0-56-cloud-amd64", 2, 1067, 208 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct blob b = blob_load(files[i].name);
		struct reading r = read_bytes(b.p, b.len);

		assert_int_equal(r.rc, 0);
		assert_int_equal(r.damaged, 0);
		assert_string_equal(r.text, "");
		assert_true(r.ordered);
		assert_int_equal(r.total, files[i].total);
		assert_int_equal(r.nr[RESCHED_EV_SWITCH], files[i].switches);
		assert_int_equal(r.cpus, files[i].cpus);
		assert_int_equal(r.observed, files[i].cpus);
		assert_string_equal(r.kernel, files[i].kernel);
		assert_string_equal(r.clock, "mono");
		assert_int_equal(r.lost, 0);
		assert_true(r.has_host);
		free(b.p);
	}
}

static void minimal_host_lists_what_is_unknown(void **state)
{
	struct blob b = blob_load("lab-v7-k612-2c.dat");
	const struct resched_host *host;
	struct resched_trace *trace;
	char path[64];
	int hz = 0;

	(void)state;
	blob_write(b.p, b.len, path);
	assert_int_equal(resched_trace_open(path, &trace, NULL), 0);
	unlink(path);
	host = resched_trace_host(trace);
	assert_string_equal(host->kernel, "6.12.115+deb12-cloud-amd64");
	assert_string_equal(host->machine, "x86_64");
	assert_string_equal(host->clock, "mono");
	assert_int_equal(host->nr_cpus, 2);
	assert_int_equal(host->cpus[1].llc, -1);
	assert_int_equal(host->hz, 0);
	for (unsigned int i = 0; i < host->nr_unknown; i++)
		hz |= !strcmp(host->unknown[i].name, "hz");
	assert_true(hz);
	resched_trace_free(trace);
	free(b.p);
}

/* A new first option section in front of the chain. */
static void add_host(struct blob *b, const char *json)
{
	uint64_t old = get_u64(b, options_at(b)), at = b->len;

	put_u16(b, 0);
	put_u16(b, 0);
	put_u32(b, 0);
	put_u64(b, 6 + strlen(json) + 14);
	put_u16(b, HOST_OPTION);
	put_u32(b, (uint32_t)strlen(json));
	blob_append(b, json, strlen(json));
	put_u16(b, 0);
	put_u32(b, 8);
	put_u64(b, old);
	set(b, options_at(b), &at, 8);
}

static void host_snapshot_inside(void **state)
{
	/* 317: one of the tasks of the recording */
	static const char json[] = "{\"schema\":\"resched/host/1\",\"kernel\":\"6.12.1-lab\",\"hz\":250,\"recorder_pids\":[%d],"
				   "\"tasks\":[{\"pid\":7,\"comm\":\"seven\"}]}";
	struct blob b = blob_load("lab-v7-k612-2c.dat");
	const struct resched_event *ev;
	struct resched_trace *trace;
	char text[400], path[64];
	struct reading r;
	int pid = 0;

	(void)state;
	blob_write(b.p, b.len, path);
	assert_int_equal(resched_trace_open(path, &trace, NULL), 0);
	while (!pid && resched_trace_next(trace, &ev, NULL) > 0)
		pid = ev->type == RESCHED_EV_SWITCH ? ev->sw.next_pid : 0;
	resched_trace_free(trace);
	unlink(path);
	assert_true(pid > 0);
	snprintf(text, sizeof(text), json, pid);
	add_host(&b, text);
	r = read_bytes(b.p, b.len);
	assert_int_equal(r.rc, 0);
	assert_string_equal(r.text, "");
	assert_string_equal(r.kernel, "6.12.1-lab");
	assert_int_equal(r.total, 3490);
	assert_true(r.own > 0 && r.own < r.total);
	free(b.p);
}

static void bad_snapshot_costs_only_itself(void **state)
{
	struct blob b = blob_load("lab-v7-k61-1c.dat");
	struct reading r;

	(void)state;
	add_host(&b, "{\"schema\":\"resched/host/1\",\"hz\":\"fast\"}");
	r = read_bytes(b.p, b.len);
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.total, 1713);
	assert_int_equal(r.damaged, 1);
	assert_non_null(strstr(r.text, "hz must be a whole number"));
	assert_string_equal(r.kernel, "6.1.0-56-cloud-amd64");
	free(b.p);
}

/* The plain v7 file with its pages as one zlib chunk a cpu, in place. */
static void zlib_chunks(void **state)
{
	struct blob b = blob_load("lab-v7-none-k61-2c.dat");
	size_t opt = find_option(&b, 3), at;
	uint64_t section = get_u64(&b, opt);
	uint16_t compressed = 1;
	struct reading r;
	uint32_t cpus;

	(void)state;
	set(&b, 18, "zlib", 4);
	set(&b, section + 2, &compressed, 2);
	at = opt + 8;
	at += strlen((char *)b.p + at) + 1;	/* name */
	at += strlen((char *)b.p + at) + 1;	/* clock */
	cpus = get_u32(&b, at + 4);
	at += 8;
	for (uint32_t i = 0; i < cpus; i++, at += 20) {
		uint64_t off = get_u64(&b, at + 4), size = get_u64(&b, at + 12);
		uLongf packed = compressBound(size);
		uint8_t *out = malloc(packed);
		uint32_t head[3];

		assert_int_equal(compress(out, &packed, b.p + off, size), Z_OK);
		head[0] = 1;
		head[1] = (uint32_t)packed;
		head[2] = (uint32_t)size;
		set(&b, off, head, sizeof(head));
		set(&b, off + 12, out, packed);
		size = packed + 8;
		set(&b, at + 12, &size, 8);
		free(out);
	}
	r = read_bytes(b.p, b.len);
	assert_int_equal(r.rc, 0);
	assert_string_equal(r.text, "");
	assert_int_equal(r.total, 1067);
	free(b.p);
}

/* Cut at every 997th byte: never more events than the whole file, never silently fewer, never a crash. */
static void cut_anywhere(void **state)
{
	static const char *const names[] = { "lab-v6-k612-1c.dat", "lab-v7-k61-1c.dat", "lab-v7-k612-2c.dat", "lab-v7-none-k61-2c.dat" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct blob b = blob_load(names[i]);
		struct reading whole = read_bytes(b.p, b.len);
		unsigned int some = 0;

		for (size_t len = 10; len < b.len; len += 997) {
			struct reading r = read_bytes(b.p, len);

			if (r.rc < 0) {
				assert_true(r.err.kind == RESCHED_DAMAGED);
				continue;
			}
			some += r.total > 0;
			assert_true(r.total <= whole.total);
			assert_true(r.ordered);
			if (r.total < whole.total) {
				assert_int_equal(r.damaged, 1);
				assert_true(r.warnings > 0);
			}
		}
		assert_true(some > 0);
		free(b.p);
	}
}

static void cut_v6_page(void **state)
{
	struct blob b = blob_load("lab-v6-k612-1c.dat");
	struct reading r = read_bytes(b.p, b.len - 6000);

	(void)state;
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.damaged, 1);
	assert_true(r.total > 1000 && r.total < 1946);
	assert_non_null(strstr(r.text, "file ends early: CPU0"));
	assert_non_null(strstr(r.text, "events up to"));
	assert_int_equal(r.nr[RESCHED_EV_LOST], 1);
	free(b.p);
}

/* Without the options at the end the cpus are found by their data. */
static void cut_v7_plain(void **state)
{
	struct blob b = blob_load("lab-v7-none-k61-2c.dat");
	struct reading whole = read_bytes(b.p, b.len), r;
	size_t opt = find_option(&b, 3), at = opt + 8 + 1 + 5 + 8;	/* name "", clock "mono", page size, cpus */
	uint64_t off = get_u64(&b, at + 20 + 4);

	(void)state;
	r = read_bytes(b.p, off + 3 * 4096 + 1000);	/* three pages of the second cpu */
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.damaged, 1);
	assert_int_equal(r.cpus, 2);
	assert_int_equal(r.observed, 2);
	assert_true(r.total > whole.total / 2 && r.total < whole.total);
	assert_int_equal(r.first_ns, whole.first_ns);
	assert_non_null(strstr(r.text, "numbered in order"));
	free(b.p);
}

static void cut_v7_zstd(void **state)
{
	struct blob b = blob_load("lab-v7-k612-2c.dat");
	struct reading whole = read_bytes(b.p, b.len), r;
	size_t opt = find_option(&b, 3), at = opt + 8 + 1 + 5 + 8;
	uint64_t off = get_u64(&b, at + 20 + 4);

	(void)state;
	r = read_bytes(b.p, off + 600);		/* inside the only chunk of the second cpu */
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.damaged, 1);
	assert_int_equal(r.cpus, 2);
	assert_int_equal(r.observed, 1);
	assert_true(r.total > 0 && r.total < whole.total);
	free(b.p);
}

static void corrupt_chunk_is_skipped(void **state)
{
	struct blob b = blob_load("lab-v7-k612-2c.dat");
	size_t opt = find_option(&b, 3), at = opt + 8 + 1 + 5 + 8;
	uint64_t off = get_u64(&b, at + 4);
	struct reading r;

	(void)state;
	memset(b.p + off + 12 + 40, 0x5a, 200);
	r = read_bytes(b.p, b.len);
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.damaged, 1);
	assert_true(r.total > 0 && r.total < 3490);
	assert_non_null(strstr(r.text, "CPU0: the compressed chunk"));
	assert_true(r.nr[RESCHED_EV_LOST] >= 1);
	free(b.p);
}

static void corrupt_page_is_skipped(void **state)
{
	struct blob b = blob_load("lab-v7-none-k61-2c.dat");
	struct reading whole = read_bytes(b.p, b.len), r;
	size_t opt = find_option(&b, 3), at = opt + 8 + 1 + 5 + 8;
	uint64_t off = get_u64(&b, at + 4);

	(void)state;
	memset(b.p + off + 4096 + 8, 0xff, 8);	/* length of the second page */
	r = read_bytes(b.p, b.len);
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.damaged, 1);
	assert_true(r.total < whole.total && r.total > whole.total / 2);
	assert_int_equal(r.gaps, 1);
	assert_int_equal(r.nr[RESCHED_EV_LOST], 1);
	assert_non_null(strstr(r.text, "1 pages of events are damaged"));
	free(b.p);
}

/* A page that says events were lost before it; on the first page of a cpu that is the start of the recording. */
static void lost_events(void **state)
{
	struct blob b = blob_load("lab-v7-none-k61-2c.dat");
	size_t opt = find_option(&b, 3), at = opt + 8 + 1 + 5 + 8;
	uint64_t off = get_u64(&b, at + 4), commit;
	struct reading r;

	(void)state;
	commit = get_u64(&b, off + 8) | 1u << 31;
	set(&b, off + 8, &commit, 8);
	r = read_bytes(b.p, b.len);
	assert_int_equal(r.lost, 0);
	commit = get_u64(&b, off + 4096 + 8) | 1u << 31;
	set(&b, off + 4096 + 8, &commit, 8);
	r = read_bytes(b.p, b.len);
	assert_int_equal(r.gaps, 1);
	assert_int_equal(r.lost, 1);	/* unknown number */
	assert_int_equal(r.total, 1067);
	assert_int_equal(r.damaged, 0);
	commit = (get_u64(&b, off + 8192 + 8) & 0xffff) | 3u << 30;
	if ((commit & 0xffff) + 16 + 8 <= 4096) {
		uint64_t number = 12345;

		set(&b, off + 8192 + 8, &commit, 8);
		set(&b, off + 8192 + 16 + (commit & 0xffff), &number, 8);
		r = read_bytes(b.p, b.len);
		assert_int_equal(r.gaps, 2);
		assert_int_equal(r.lost, 12346);
	}
	free(b.p);
}

static void versions_and_codecs_of_the_future(void **state)
{
	struct blob b = blob_load("lab-v7-k61-1c.dat");
	struct reading r;

	(void)state;
	b.p[10] = '9';
	r = read_bytes(b.p, b.len);
	assert_int_equal(r.rc, -EPROTONOSUPPORT);
	assert_non_null(strstr(r.err.text, "trace.dat version 9 is newer than this resched knows (7)"));
	assert_int_equal(r.err.kind, RESCHED_FAILED);
	b.p[10] = '7';
	set(&b, 18, "brrr", 4);
	r = read_bytes(b.p, b.len);
	assert_int_equal(r.rc, -EPROTONOSUPPORT);
	assert_non_null(strstr(r.err.text, "'brrr'"));
	free(b.p);
}

static void sizes_that_lie(void **state)
{
	struct blob b = blob_load("lab-v7-k61-1c.dat"), c;
	size_t opt = find_option(&b, 3), at = opt + 8 + 1 + 5;
	uint64_t off = get_u64(&b, options_at(&b));
	uint32_t many = 4000000000u;
	uint64_t far = 1ull << 62, self;
	struct reading r;

	(void)state;
	c = blob_copy(&b);
	set(&c, at + 4, &many, 4);		/* cpus of the buffer */
	r = read_bytes(c.p, c.len);
	assert_true(r.rc < 0 || r.damaged);
	set(&c, at + 4, b.p + at + 4, 4);
	set(&c, at + 8 + 4, &far, 8);		/* offset of the cpu's data */
	r = read_bytes(c.p, c.len);
	assert_true(r.rc < 0 || r.damaged);
	set(&c, at + 8 + 4, b.p + at + 8 + 4, 8);
	set(&c, off + 8, &far, 8);		/* size of the options */
	r = read_bytes(c.p, c.len);
	assert_true(r.rc < 0 || r.damaged);
	free(c.p);

	c = blob_copy(&b);			/* the last options point to the first */
	self = off;
	at = find_option(&b, 8) + 4 + 6;	/* DONE follows CPUCOUNT */
	set(&c, at, &self, 8);
	r = read_bytes(c.p, c.len);
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.damaged, 1);
	assert_int_equal(r.total, 1713);
	assert_non_null(strstr(r.text, "circle"));
	free(c.p);
	free(b.p);
}

static void no_recordings(void **state)
{
	static const struct { const char *bytes; size_t len; const char *says; } files[] = {
		{ "PERFFILE\x68\0\0\0", 12, "before 2010" },
		{ "hello, world\n", 13, "it is text" },
		{ "{\"a\":1}", 7, "JSON" },
		{ "\0\0\0\0\0", 5, "no recording" },
	};
	struct reading r;

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		r = read_bytes(files[i].bytes, files[i].len);
		assert_int_equal(r.rc, -EBADMSG);
		assert_int_equal(r.err.kind, RESCHED_FAILED);
		assert_non_null(strstr(r.err.text, files[i].says));
	}
	r = read_bytes("", 0);
	assert_int_equal(r.rc, -ENODATA);
	r = read_path("/dev");	/* a folder may hold ring buffer pages; this one does not */
	assert_int_equal(r.rc, -EBADMSG);
	assert_non_null(strstr(r.err.text, "holds neither ring buffer pages"));
	r = read_path("/nonexistent/trace.dat");
	assert_int_equal(r.rc, -ENOENT);
	assert_non_null(strstr(r.err.text, "/nonexistent/trace.dat"));
	r = read_bytes("\x17\x08\x44tracing", 10);
	assert_int_equal(r.err.kind, RESCHED_DAMAGED);
}

static void permission(void **state)
{
	struct reading r;
	char path[64];

	(void)state;
	if (!geteuid()) {
		print_message("permission: root may read everything\n");
		skip();
	}
	blob_write("x", 1, path);
	chmod(path, 0);
	r = read_path(path);
	unlink(path);
	assert_int_equal(r.rc, -EACCES);
	assert_int_equal(r.err.kind, RESCHED_DENIED);
}

static void standard_input(void **state)
{
	struct blob b = blob_load("lab-v7-k61-1c.dat");
	int fds[2], old = dup(STDIN_FILENO);
	struct reading r;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_true(b.len < 60000);	/* fits the pipe */
	assert_int_equal(write(fds[1], b.p, b.len), (ssize_t)b.len);
	close(fds[1]);
	dup2(fds[0], STDIN_FILENO);
	close(fds[0]);
	r = read_path("-");
	if (old >= 0)
		dup2(old, STDIN_FILENO);
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.total, 1713);
	free(b.p);
}

/* The file loses its second half while it is read. */
static void shrinks_while_read(void **state)
{
	struct blob b = blob_load("lab-v6-k612-1c.dat");
	const struct resched_event *ev;
	struct resched_trace *trace;
	uint64_t n = 0;
	char path[64];

	(void)state;
	blob_write(b.p, b.len, path);
	assert_int_equal(resched_trace_open(path, &trace, NULL), 0);
	assert_int_equal(truncate(path, (off_t)b.len - 60000), 0);
	while (resched_trace_next(trace, &ev, NULL) > 0)
		n++;
	assert_true(n > 0 && n < 1946);
	assert_int_equal(resched_trace_source(trace)->damaged, 1);
	resched_trace_free(trace);
	unlink(path);
	free(b.p);
}

/* Every name is told before it is needed, and once. */
static void names_come_before_events(void **state)
{
	struct blob b = blob_load("lab-v7-none-k61-2c.dat");
	uint32_t named[4096];
	const struct resched_event *ev;
	struct resched_trace *trace;
	char path[64];

	(void)state;
	memset(named, 0xff, sizeof(named));
	blob_write(b.p, b.len, path);
	assert_int_equal(resched_trace_open(path, &trace, NULL), 0);
	unlink(path);
	while (resched_trace_next(trace, &ev, NULL) > 0) {
		assert_true(ev->pid >= 0 && ev->pid < 4096);
		if (ev->type == RESCHED_EV_COMM) {
			assert_int_not_equal(ev->pid, 0);
			assert_int_not_equal(named[ev->pid], ev->comm.name);
			assert_int_equal(ev->comm.renamed, named[ev->pid] != UINT32_MAX);
			named[ev->pid] = ev->comm.name;
		} else if (ev->type == RESCHED_EV_FORK) {
			assert_int_not_equal(named[ev->fork.child_pid], UINT32_MAX);
		} else if (ev->type == RESCHED_EV_SWITCH) {
			assert_true(!ev->pid || named[ev->pid] != UINT32_MAX);
			assert_true(!ev->sw.next_pid || named[ev->sw.next_pid] != UINT32_MAX);
		}
	}
	resched_trace_free(trace);
	free(b.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_files), cmocka_unit_test(minimal_host_lists_what_is_unknown),
		cmocka_unit_test(host_snapshot_inside), cmocka_unit_test(bad_snapshot_costs_only_itself), cmocka_unit_test(zlib_chunks),
		cmocka_unit_test(cut_anywhere), cmocka_unit_test(cut_v6_page), cmocka_unit_test(cut_v7_plain), cmocka_unit_test(cut_v7_zstd),
		cmocka_unit_test(corrupt_chunk_is_skipped), cmocka_unit_test(corrupt_page_is_skipped), cmocka_unit_test(lost_events),
		cmocka_unit_test(versions_and_codecs_of_the_future), cmocka_unit_test(sizes_that_lie), cmocka_unit_test(no_recordings),
		cmocka_unit_test(permission), cmocka_unit_test(standard_input), cmocka_unit_test(shrinks_while_read),
		cmocka_unit_test(names_come_before_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
