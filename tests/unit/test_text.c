// SPDX-License-Identifier: GPL-2.0-only
/* Whole texts: headers, order, losses, names, damage, and the clothes that texts come in. */
#include "trace_files.h"

#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdbool.h>
#include <zlib.h>
#include <zstd.h>

#define TASK(which, pid) which "_comm=c" #pid " " which "_pid=" #pid " " which "_prio=120"
#define SWITCH(cpu, ts, prev, next) \
	"  x-" #prev " [" cpu "] d..2 " ts ": sched_switch: " TASK("prev", prev) " prev_state=S ==> " TASK("next", next) "\n"
#define WAKING(cpu, ts, pid) "  <idle>-0 [" cpu "] dNh2 " ts ": sched_waking: comm=c" #pid " pid=" #pid " prio=120 target_cpu=001\n"

static struct reading read_text(const char *text)
{
	return read_bytes(text, strlen(text));
}

/* All events but those with names, one word each. */
struct script { char text[4000]; size_t at; };

static void say(struct script *s, const struct resched_event *ev)
{
	static const char *const words[RESCHED_EV_NR] = { [RESCHED_EV_SWITCH] = "switch", [RESCHED_EV_WAKING] = "waking", [RESCHED_EV_LOST] = "lost",
							  [RESCHED_EV_COMM] = "comm", [RESCHED_EV_OTHER] = "other", [RESCHED_EV_WAKEUP] = "wakeup" };

	s->at += (size_t)snprintf(s->text + s->at, sizeof(s->text) - s->at, "%llu/%u/%s/%d ", (unsigned long long)ev->ts_ns, ev->cpu,
				  words[ev->type] ? words[ev->type] : "?", ev->type == RESCHED_EV_LOST ? (int)ev->lost.count : ev->pid);
	assert_true(s->at < sizeof(s->text));
}

static struct script script_of(const char *text, bool comms, uint8_t *ctx)
{
	struct script s = { .at = 0 };
	struct resched_trace *trace;
	const struct resched_event *ev;
	char path[64];

	blob_write(text, strlen(text), path);
	assert_int_equal(resched_trace_open(path, &trace, NULL), 0);
	while (resched_trace_next(trace, &ev, NULL) > 0) {
		if (comms || ev->type != RESCHED_EV_COMM)
			say(&s, ev);
		if (ctx)
			*ctx = ev->ctx;
	}
	resched_trace_free(trace);
	unlink(path);
	return s;
}

static void order(void **state)
{
	struct reading r;
	struct script s;

	(void)state;
	/* rounded stamps: the order of the text is that of the events */
	s = script_of(WAKING("003", "1.000001", 7) SWITCH("001", "1.000001", 0, 7) WAKING("002", "1.000001", 8), false, NULL);
	assert_string_equal(s.text, "1000001000/3/waking/7 1000001001/1/switch/0 1000001001/2/waking/8 ");
	/* exact stamps: ascending cpu */
	s = script_of(WAKING("003", "1.000001000", 7) SWITCH("001", "1.000001000", 0, 7), false, NULL);
	assert_string_equal(s.text, "1000001000/1/switch/0 1000001000/3/waking/7 ");
	/* sorted, and a name stays in front of those who need it */
	s = script_of(SWITCH("001", "1.000009", 0, 7) SWITCH("002", "1.000003", 7, 0) SWITCH("001", "1.000005", 7, 7), true, NULL);
	assert_string_equal(s.text, "1000003000/2/comm/7 1000003000/2/switch/7 1000005000/1/comm/7 1000005000/1/comm/7 1000005000/1/switch/7 "
				    "1000009000/1/comm/7 1000009000/1/switch/0 ");
	r = read_text(SWITCH("001", "1.000009", 0, 7) SWITCH("001", "1.000003", 7, 0));
	assert_true(r.ordered);
	assert_non_null(strstr(r.text, "1 events came out of order and were sorted"));
}

/* An event further back than the window is moved, counted and told. */
static void late(void **state)
{
	char *text = malloc(2000000);
	struct reading r;
	size_t at = 0;

	(void)state;
	for (int i = 0; i < 9000; i++)
		at += (size_t)sprintf(text + at, "  x-1 [00%d] .... %d.000001: e: b\n", i % 3, i == 8000 ? 5 : i + 10);
	r = read_bytes(text, at);
	assert_true(r.ordered);
	assert_int_equal(r.total, 9000);
	assert_non_null(strstr(r.text, "1 events came more than 4096 events late"));
	assert_int_equal(r.damaged, 0);

	/* one stamp far in the future moves nobody else */
	at = 0;
	for (int i = 0; i < 9000; i++)
		at += (size_t)sprintf(text + at, "  x-1 [000] .... %d.000001: e: b\n", i == 100 ? 500000 : i + 10);
	r = read_bytes(text, at);
	assert_true(r.ordered);
	assert_int_equal(r.last_ns, 500000000001000);
	assert_null(strstr(r.text, "late"));
	free(text);
}

static void losses(void **state)
{
	struct script s;
	struct reading r;
	const char *text = "CPU:1 [LOST 5 EVENTS]\n" SWITCH("001", "1.000001", 0, 7) "CPU:1 [LOST 123 EVENTS]\nCPU:2 [EVENTS DROPPED]\n"
		SWITCH("002", "1.000002", 0, 8) SWITCH("001", "1.000003", 7, 0) "CPU:2 [LOST EVENTS]\n" SWITCH("001", "1.000004", 0, 7)
		"CPU:1 [4 EVENTS DROPPED]\n" SWITCH("002", "1.000005", 8, 0);

	(void)state;
	s = script_of(text, false, NULL);
	assert_string_equal(s.text, "1000001000/1/switch/0 1000002000/2/switch/0 1000003000/1/lost/123 1000003000/1/switch/7 1000004000/1/switch/0 "
				    "1000005000/2/lost/0 1000005000/2/switch/8 1000005001/1/lost/4 ");
	r = read_text(text);
	assert_int_equal(r.lost, 123 + 1 + 4);
	assert_int_equal(r.gaps, 3);
	assert_int_equal(r.total, 5);
	r = read_text("  a 1 [001]  2.5: sched:sched_stat_runtime: comm=a pid=1 runtime=5 [ns]\n  a 1 [001]  2.5: PERF_RECORD_LOST lost 17\n"
		      "  a 1 [001]  2.6: sched:sched_stat_runtime: comm=a pid=1 runtime=5 [ns]\n");
	assert_int_equal(r.lost, 17);
	assert_int_equal(r.total, 2);
}

static void headers(void **state)
{
	struct reading r;
	uint8_t ctx = 0;
	const char *rt = "# tracer: nop\n#\n# entries-in-buffer/entries-written: 1/1   #P:6\n#\n#      _-------=> irqs-off\n#     / _------=> need-resched\n"
		"#    | / _-----=> need-resched-lazy\n#    || / _----=> hardirq/softirq\n#    ||| / _---=> preempt-depth\n#    ||||| /     delay\n"
		"  x-1 [000] d.Lh3.. 1.000001: e: b\n";

	(void)state;
	script_of(rt, false, &ctx);
	assert_int_equal(ctx, RESCHED_CTX_IRQS_OFF | RESCHED_CTX_HARDIRQ);
	r = read_text(rt);
	assert_int_equal(r.cpus, 6);
	assert_int_equal(r.observed, 1);
	assert_int_equal(r.has_host, 1);
	r = read_text("# wakeup latency trace v1.1.5 on 6.1.0-9-amd64\n  x-1 0d..2 12us : e: b\n");
	assert_string_equal(r.kernel, "6.1.0-9-amd64");
	assert_int_equal(r.last_ns, 12000);
	r = read_text("# ========\n# os release : 5.10.1-x\n# arch : aarch64\n# nrcpus online : 3\n# nrcpus avail : 4\n#\n  a 1 [001]  2.5: s:e: b\n");
	assert_string_equal(r.kernel, "5.10.1-x");
	assert_int_equal(r.cpus, 4);
	r = read_text("cpus=2\n" SWITCH("005", "1.000001", 0, 7));
	assert_int_equal(r.cpus, 6);
	r = read_text("# tracer: nop\n#\n# entries-in-buffer/entries-written: 0/0   #P:2\n");
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.total, 0);
	r = read_text("a.dat:              wl-5     [000]  1.000001: sched_waking:   comm=a pid=7 prio=120 target_cpu=000\n"
		      "b.dat:              wl-5     [000]  1.000002: sched_waking:   comm=a pid=7 prio=120 target_cpu=000\n");
	assert_int_equal(r.total, 2);
	assert_int_equal(r.nr[RESCHED_EV_COMM], 2);
	assert_non_null(strstr(r.text, "several buffers or files ('a.dat', 'b.dat')"));
	r = read_text("# tracer: nop\n##### CPU 2 buffer started ####\n" SWITCH("002", "1.000001", 0, 7));
	assert_int_equal(r.total, 1);
	assert_int_equal(r.gaps, 0);
}

static void refusals(void **state)
{
	static const struct { const char *text, *says; } texts[] = {
		{ "hello\n", "no recording: it is text" },
		{ "<!DOCTYPE html>\n<html><body>\n</body></html>\n", "HTML without" },
		{ "  x-1 [000] .... 5000001: sched_switch: b\n", "ticks" },
		{ "  a 1  2.5: sched:sched_switch: prev_comm=\n", "-F +cpu" },
		{ "{\"traceEvents\":[]}", "JSON" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct reading r = read_text(texts[i].text);

		print_message("%s\n", r.err.text);
		assert_true(r.rc == -EBADMSG || r.rc == -EPROTONOSUPPORT);
		assert_non_null(strstr(r.err.text, texts[i].says));
	}
}

static void damage(void **state)
{
	struct reading r;
	char *text, *p;

	(void)state;
	r = read_text(SWITCH("001", "1.000001", 0, 7) "  x-7 [001] d..2 1.000002: sched_switch: prev_comm=c7 prev_pid=7");
	assert_int_equal(r.damaged, 1);
	assert_int_equal(r.total, 2);
	assert_non_null(strstr(r.text, "1 event lines cannot be understood, the first is line 2: 'x-7 [001] d..2 1.000002: sched_switch: prev_comm=c7"));
	r = read_text(SWITCH("001", "1.000001", 0, 7) "  x-7 [001] d..\n..2 1.000002: sched_switch: prev_comm=c7 prev_pid=7\n" SWITCH("001", "1.3", 7, 0));
	assert_int_equal(r.damaged, 1);
	assert_int_equal(r.total, 2);
	r = read_text("  x-1 [000] ...1 1.000001: tracing_mark_write: a\nsecond line\nthird\n" SWITCH("001", "1.000002", 0, 7));
	assert_int_equal(r.damaged, 0);
	assert_int_equal(r.total, 2);
	assert_non_null(strstr(r.text, "2 lines are no events, the first is line 2: 'second line'"));

	text = calloc(1, 500000);	/* a line beyond the limit, NUL bytes before an event */
	p = stpcpy(text, SWITCH("001", "1.000001", 0, 7) "  x-1 [000] ...1 1.000002: print: ");
	memset(p, 'y', 300000);
	p += 300000;
	*p++ = '\n';
	p += 5000;
	p = stpcpy(p, SWITCH("001", "1.000003", 7, 0));
	r = read_bytes(text, (size_t)(p - text));
	assert_int_equal(r.total, 3);
	assert_int_equal(r.nr[RESCHED_EV_SWITCH], 2);
	assert_int_equal(r.damaged, 1);
	assert_non_null(strstr(r.text, "1 lines were cut at 65536 bytes"));
	assert_non_null(strstr(r.text, "1 lines hold NUL bytes"));
	free(text);
}

/* Kernels 4.15 to 4.19 stored 1 << index: the idle task tells, wherever it stands. */
static void raw_states(void **state)
{
	struct resched_trace *trace;
	const struct resched_event *ev;
	char path[64];
	const char *text = "  x-7 [001] 1.000001: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=2 next_comm=s next_pid=0 next_prio=120\n"
		"  <idle>-0 [001] 1.000002: sched_switch: prev_comm=s prev_pid=0 prev_prio=120 prev_state=1 next_comm=a next_pid=7 next_prio=120\n";
	uint32_t got[2] = { 99, 99 };
	int n = 0;

	(void)state;
	blob_write(text, strlen(text), path);
	assert_int_equal(resched_trace_open(path, &trace, NULL), 0);
	while (resched_trace_next(trace, &ev, NULL) > 0) {
		if (ev->type == RESCHED_EV_SWITCH && n < 2)
			got[n++] = ev->sw.prev_state;
	}
	assert_int_equal(got[0], RESCHED_STATE_S);
	assert_int_equal(got[1], RESCHED_STATE_RUNNING);
	assert_non_null(strstr(resched_trace_source(trace)->warnings[0], "4.15 to 4.19"));
	resched_trace_free(trace);
	unlink(path);
}

static void html(void **state)
{
	struct reading r;

	(void)state;
	r = read_text("\n<!doctype HTML>\n<script>\n  <idle>-0 [001] d..2 0.5: sched_switch: no trace yet\n</script>\n"
		      "  <script class=\"trace-data\" type=\"application/text\">\n# tracer: nop\n" SWITCH("001", "1.000001", 0, 7)
		      "  </script>\n  <script class=\"trace-data\" type=\"application/text\">\nUSER PID\nroot 1\n</script>\n</html>\n");
	assert_int_equal(r.total, 1);
	assert_int_equal(r.damaged, 0);
	r = read_text("<html>\n  <script>\n  var linuxPerfData = \"\\\n# tracer: nop\\n\\\n"
		      "  <idle>-0 [001] d..2 1.000001: sched_switch: prev_comm=a\\\"b\\\\c prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=d next_pid=8 next_prio=120\\n\\\n"
		      "\\n\";\n</script>\n</html>\n");
	assert_int_equal(r.total, 1);
	assert_int_equal(r.damaged, 0);
	assert_int_equal(r.nr[RESCHED_EV_SWITCH], 1);
}

/* ---- compression */

static struct blob many_lines(void)
{
	struct blob b = { 0 };
	char line[200];

	for (int i = 0; i < 20000; i++) {
		int n = snprintf(line, sizeof(line), "  x-1 [00%d] d..2 %d.%06d: sched_wakeup: comm=c%d pid=%d prio=120 target_cpu=001\n",
				 i & 3, i / 1000, i % 1000 * 997, i % 77 + 1, i % 77 + 1);

		blob_append(&b, line, (size_t)n);
	}
	return b;
}

static struct blob gzip_of(const void *p, size_t len, int window)
{
	struct blob b = { malloc(len + 1000), 0 };
	z_stream z = { 0 };

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (Bytef *)(uintptr_t)p;
	z.avail_in = (uInt)len;
	z.next_out = b.p;
	z.avail_out = (uInt)(len + 1000);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	b.len = z.total_out;
	deflateEnd(&z);
	return b;
}

static struct blob xz_of(const void *p, size_t len)
{
	struct blob b = { malloc(len + 1000), 0 };

	assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, p, len, b.p, &b.len, len + 1000), LZMA_OK);
	return b;
}

static struct blob zstd_of(const void *p, size_t len)
{
	struct blob b = { malloc(ZSTD_compressBound(len)), 0 };

	b.len = ZSTD_compress(b.p, ZSTD_compressBound(len), p, len, 3);
	assert_false(ZSTD_isError(b.len));
	return b;
}

static struct blob pack(int how, const void *p, size_t len)
{
	return how == 0 ? gzip_of(p, len, 15 + 16) : how == 1 ? xz_of(p, len) : zstd_of(p, len);
}

static void packed_text(void **state)
{
	struct blob plain = many_lines();
	struct reading want = read_bytes(plain.p, plain.len);

	(void)state;
	assert_int_equal(want.total, 20000);
	for (int how = 0; how < 3; how++) {
		struct blob a = pack(how, plain.p, plain.len / 3), b = pack(how, plain.p + plain.len / 3, plain.len - plain.len / 3);
		struct blob whole = blob_copy(&a);
		struct reading r;

		blob_append(&whole, b.p, b.len);	/* two members: the second goes on where the first ended, inside a line */
		r = read_bytes(whole.p, whole.len);
		assert_int_equal(r.rc, 0);
		assert_int_equal(r.total, 20000);
		assert_int_equal(r.last_ns, want.last_ns);
		assert_int_equal(r.damaged, 0);
		r = read_bytes(whole.p, whole.len - 20);
		assert_int_equal(r.rc, 0);
		assert_in_range(r.total, how == 2 ? 6000 : 15000, 20000);
		assert_int_equal(r.damaged, 1);
		assert_non_null(strstr(r.text, how == 2 || strstr(r.text, "cut off") ? "cut off" : "damaged"));
		assert_int_equal(r.gaps, 4);
		whole.p[a.len + b.len / 2] ^= 0xff;
		r = read_bytes(whole.p, whole.len);
		assert_int_equal(r.rc, 0);
		assert_int_equal(r.damaged, 1);
		assert_true(r.ordered);
		r = read_bytes(whole.p, 20);
		assert_true(r.rc < 0);
		free(a.p);
		free(b.p);
		free(whole.p);
	}
	free(plain.p);
}

static void packed_recording(void **state)
{
	struct blob plain = blob_load("lab-v7-k61-1c.dat");
	char path[64];

	(void)state;
	for (int how = 0; how < 3; how++) {
		static const char *const formats[] = { "trace.dat v7 (gzip)", "trace.dat v7 (xz)", "trace.dat v7 (zstd)" };
		struct blob b = pack(how, plain.p, plain.len);
		struct reading r = read_bytes(b.p, b.len);
		struct resched_trace *trace;

		assert_int_equal(r.rc, 0);
		assert_int_equal(r.total, 1713);
		assert_int_equal(r.damaged, 0);
		blob_write(b.p, b.len, path);
		assert_int_equal(resched_trace_open(path, &trace, NULL), 0);
		assert_string_equal(resched_trace_source(trace)->format, formats[how]);
		resched_trace_free(trace);
		unlink(path);
		r = read_bytes(b.p, b.len * 3 / 4);
		assert_true(r.rc < 0 || r.damaged);
		free(b.p);
	}
	free(plain.p);
}

/* atrace -z: a zlib stream after a line of its own, behind what atrace says. */
static void atrace(void **state)
{
	struct blob plain = many_lines(), z = gzip_of(plain.p, plain.len, 15), b = { 0 };
	struct reading r;

	(void)state;
	blob_append(&b, "capturing trace... done\nTRACE:\n", 31);
	blob_append(&b, z.p, z.len);
	r = read_bytes(b.p, b.len);
	assert_int_equal(r.total, 20000);
	assert_int_equal(r.damaged, 0);
	r = read_bytes(b.p, b.len / 2);
	assert_int_equal(r.damaged, 1);
	assert_true(r.total > 5000);
	free(b.p);
	free(z.p);
	free(plain.p);
}

/* A small file that expands without end is given up at a limit. */
static void bomb(void **state)
{
	char path[64], line[4096];
	struct reading r;
	gzFile f;
	int fd;

	(void)state;
	blob_write("", 0, path);
	fd = open(path, O_RDWR | O_TRUNC);
	f = gzdopen(fd, "wb9");
	assert_non_null(f);
	gzputs(f, SWITCH("001", "1.000001", 0, 7));
	memset(line, '\n', sizeof(line));
	for (int i = 0; i < 16384; i++)
		gzwrite(f, line, sizeof(line));
	gzputs(f, SWITCH("001", "1.000002", 7, 0));
	gzclose(f);
	r = read_path(path);	/* 64 MiB of nothing is fine */
	assert_int_equal(r.total, 2);
	assert_int_equal(r.damaged, 0);
	unlink(path);
}

/* Names of events are counted one by one up to a limit. */
static void many_names(void **state)
{
	struct blob b = { 0 };
	struct reading r;
	char line[100];

	(void)state;
	for (int i = 0; i < 5000; i++)
		blob_append(&b, line, (size_t)snprintf(line, sizeof(line), "  x-1 [000] .... 1.%06d: name_%d: b\n", i, i));
	r = read_bytes(b.p, b.len);
	assert_int_equal(r.total, 5000);
	assert_int_equal(r.nr[RESCHED_EV_OTHER], 5000);
	free(b.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order), cmocka_unit_test(late), cmocka_unit_test(losses), cmocka_unit_test(headers), cmocka_unit_test(refusals),
		cmocka_unit_test(damage), cmocka_unit_test(raw_states), cmocka_unit_test(html), cmocka_unit_test(packed_text),
		cmocka_unit_test(packed_recording), cmocka_unit_test(atrace), cmocka_unit_test(bomb), cmocka_unit_test(many_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
