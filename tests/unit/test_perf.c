// SPDX-License-Identifier: GPL-2.0-only
/* perf.data made by hand: byte orders, sample types, order in time, losses, names, what is missing, cut or damaged. */
#include <stdbool.h>

#include "perf_build.h"

#include <errno.h>
#include <zstd.h>

/* All events of a file in a few letters each, and what reading gave. */
struct digest { char text[8000]; struct reading r; };

static void describe(struct digest *d, const struct resched_event *ev, const struct resched_trace *trace)
{
	size_t at = strlen(d->text);
	char *to = d->text + at;
	size_t room = sizeof(d->text) - at;
	unsigned long long ts = (unsigned long long)ev->ts_ns;

	switch (ev->type) {
	case RESCHED_EV_SWITCH:
		snprintf(to, room, "%llu/%u S%d:%x>%d\n", ts, ev->cpu, ev->pid, ev->sw.prev_state, ev->sw.next_pid);
		break;
	case RESCHED_EV_WAKING:
		snprintf(to, room, "%llu/%u W%d by %d to %u\n", ts, ev->cpu, ev->pid, ev->wake.waker_pid, ev->wake.target_cpu);
		break;
	case RESCHED_EV_COMM:
		snprintf(to, room, "%llu/%u N%d=%s%s\n", ts, ev->cpu, ev->pid, resched_names_get(resched_trace_names(trace), ev->comm.name),
			 ev->comm.renamed ? "!" : "");
		break;
	case RESCHED_EV_LOST:
		snprintf(to, room, "%llu/%u L%llu\n", ts, ev->cpu, (unsigned long long)ev->lost.count);
		break;
	case RESCHED_EV_FORK:
		snprintf(to, room, "%llu/%u F%d>%d\n", ts, ev->cpu, ev->pid, ev->fork.child_pid);
		break;
	default:
		snprintf(to, room, "%llu/%u %u:%d\n", ts, ev->cpu, ev->type, ev->pid);
		break;
	}
}

/* Reads and frees what was built. */
static struct digest read_build(struct perf_build *pb)
{
	struct digest d = { .text = "" };
	const struct resched_event *ev;
	struct resched_trace *trace;
	char path[64];

	blob_write(pb->b.p, pb->b.len, path);
	d.r = read_path(path);
	if (d.r.rc == 0 && resched_trace_open(path, &trace, NULL) == 0) {
		while (resched_trace_next(trace, &ev, NULL) > 0)
			describe(&d, ev, trace);
		resched_trace_free(trace);
	}
	unlink(path);
	free(pb->b.p);
	pb->b = (struct blob){ 0 };
	return d;
}

/* Two rings emptied one after the other, twice: the second ring's events are older than the first's last. */
static void two_rounds(struct perf_build *pb)
{
	pb_begin(pb);
	pb_switch(pb, 1000, 0, 100, 1, 0);
	pb_waking(pb, 3000, 0, 0, 100, 1);
	pb_waking(pb, 1500, 1, 200, 300, 0);
	pb_switch(pb, 2000, 1, 200, 0x100, 100);
	pb_round(pb);
	pb_switch(pb, 3500, 0, 0, 0, 300);
	pb_switch(pb, 5000, 0, 300, 2, 0);
	pb_switch(pb, 4000, 1, 100, 0, 200);
	pb_switch(pb, 5000, 1, 200, 0x80, 0);
	pb_round(pb);
	pb_end(pb);
}

static const char two_rounds_text[] =
	"1000/0 N100=task 100\n1000/0 S100:1>0\n"
	"1500/1 N300=task 300\n1500/1 W300 by 200 to 0\n"
	"2000/1 N200=task 200\n2000/1 S200:8000>100\n"
	"3000/0 W100 by 0 to 1\n"
	"3500/0 S0:0>300\n"
	"4000/1 S100:0>200\n"
	"5000/0 S300:2>0\n5000/1 S200:80>0\n";

static void expect_two_rounds(struct perf_build *pb)
{
	struct digest d = read_build(pb);

	if (d.r.rc < 0)
		fail_msg("%s", d.r.err.text);
	assert_string_equal(d.text, two_rounds_text);
	assert_string_equal(d.r.text, "");
	assert_int_equal(d.r.damaged, 0);
	assert_int_equal(d.r.total, 8);
	assert_int_equal(d.r.observed, 2);
	assert_int_equal(d.r.first_ns, 1000);
	assert_int_equal(d.r.last_ns, 5000);
	assert_string_equal(d.r.kernel, "6.12.9-test");
	assert_string_equal(d.r.clock, "perf");
}

static void both_byte_orders_file_and_pipe(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		struct perf_build pb = { .big = i & 1, .pipe = i & 2 };

		two_rounds(&pb);
		expect_two_rounds(&pb);
	}
}

static void every_sample_type(void **state)
{
	static const uint64_t types[] = {
		S_USUAL, S_USUAL | S_ADDR | S_STREAM, S_IDENTIFIER | S_TIME | S_CPU | S_RAW, S_ID | S_TIME | S_CPU | S_RAW,
		S_IP | S_TID | S_TIME | S_ADDR | S_ID | S_STREAM | S_CPU | S_PERIOD | S_RAW, S_USUAL | S_ID, S_USUAL | S_CALLCHAIN,
		S_USUAL | S_READ, S_USUAL | S_READ | S_CALLCHAIN | S_ADDR | S_ID | S_STREAM,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		/* reads: alone or of a group, with times, ids and losses */
		for (unsigned int format = 0; format < (types[i] & S_READ ? 32 : 1); format++) {
			struct perf_build pb = { .sample_type = types[i], .read_format = format, .big = format & 1 };

			two_rounds(&pb);
			expect_two_rounds(&pb);
		}
	}
}

/* The records packed as one zstd stream in pieces of @piece bytes, each a record. */
static void pack(struct perf_build *pb, const struct blob *records, size_t piece, bool second)
{
	size_t room = ZSTD_compressBound(records->len), done = 0, len;
	uint8_t *packed = malloc(room);

	assert_non_null(packed);
	len = ZSTD_compress(packed, room, records->p, records->len, 1);
	assert_false(ZSTD_isError(len));
	while (done < len) {
		size_t n = len - done < piece ? len - done : piece, at = pb_record(pb, second ? 83 : 81, 0);

		if (second)
			pb_put(pb, n, 8);
		pb_bytes(pb, packed + done, n);
		while (second && (pb->b.len - at) % 8)
			pb_put(pb, 0, 1);
		pb_close(pb, at);
		done += n;
	}
	free(packed);
}

static void compressed_records_span(void **state)
{
	static const size_t pieces[] = { 1, 7, 64, 60000 };

	(void)state;
	for (unsigned int i = 0; i < 8; i++) {
		struct perf_build plain = { 0 }, pb = { .big = false };
		struct blob records;

		two_rounds(&plain);
		pb_begin(&pb);
		records.p = plain.b.p + plain.data_at;
		memcpy(&records.len, plain.b.p + 48, 8);
		pack(&pb, &records, pieces[i / 2], i & 1);
		pb_end(&pb);
		free(plain.b.p);
		expect_two_rounds(&pb);
	}
}

static void late_events_are_counted(void **state)
{
	struct perf_build pb = { 0 };
	struct digest d;

	(void)state;
	pb_begin(&pb);
	pb_switch(&pb, 1000, 1, 0, 0, 200);
	pb_round(&pb);
	pb_switch(&pb, 3000, 1, 200, 0, 0);
	pb_round(&pb);
	pb_switch(&pb, 4000, 1, 0, 0, 200);
	pb_round(&pb);		/* now 1000 .. 2999 are gone */
	pb_switch(&pb, 500, 0, 100, 0, 0);
	pb_round(&pb);
	pb_end(&pb);
	d = read_build(&pb);
	assert_int_equal(d.r.rc, 0);
	assert_true(d.r.ordered);
	assert_int_equal(d.r.total, 4);
	assert_non_null(strstr(d.text, "1001/0 S100"));		/* behind cpu 1 at 1000 */
	assert_non_null(strstr(d.r.text, "1 events were written too late"));
	assert_non_null(strstr(d.r.text, "500 ns"));
}

static void losses(void **state)
{
	struct perf_build pb = { 0 };
	struct digest d;
	size_t at;

	(void)state;
	pb_begin(&pb);
	pb_switch(&pb, 1000, 0, 100, 1, 0);
	pb_switch(&pb, 1100, 1, 200, 1, 0);
	pb_lost(&pb, 2000, 1, 17);
	pb_switch(&pb, 2000, 1, 0, 0, 200);
	at = pb_record(&pb, 13, 0x8000);	/* a filter left samples out: no loss */
	pb_put(&pb, 5, 8);
	pb_trailer(&pb, 2500, 0);
	pb_close(&pb, at);
	at = pb_record(&pb, 13, 0);		/* samples alone */
	pb_put(&pb, 4, 8);
	pb_trailer(&pb, 2600, 0);
	pb_close(&pb, at);
	pb_end(&pb);
	d = read_build(&pb);
	assert_int_equal(d.r.rc, 0);
	assert_int_equal(d.r.lost, 21);
	assert_int_equal(d.r.gaps, 2);
	assert_non_null(strstr(d.text, "2000/1 L17\n2000/1 S0"));	/* the loss is before the event */
	assert_non_null(strstr(d.text, "2600/0 L4\n"));

	pb = (struct perf_build){ .no_id_all = true };	/* nobody says where: everywhere */
	pb_begin(&pb);
	pb_switch(&pb, 1000, 0, 100, 1, 0);
	pb_switch(&pb, 1100, 1, 200, 1, 0);
	pb_round(&pb);
	pb_round(&pb);
	pb_round(&pb);
	pb_switch(&pb, 1900, 1, 0, 1, 200);
	pb_lost(&pb, 0, 0, 9);
	pb_end(&pb);
	d = read_build(&pb);
	assert_int_equal(d.r.lost, 10);		/* 9, and at least one more on the other cpu */
	assert_int_equal(d.r.gaps, 2);
}

static void names_forks_exits(void **state)
{
	struct perf_build pb = { 0 };
	struct digest d;

	(void)state;
	pb_begin(&pb);
	pb_comm(&pb, 0, 0, 77, "before");	/* read from /proc when perf began */
	pb_fork_exit(&pb, true, 0, 0, 78, 1);
	pb_waking(&pb, 1000, 0, 77, 200, 1);
	pb_fork_exit(&pb, true, 1500, 0, 300, 77);
	pb_switch(&pb, 2000, 0, 77, 0, 300);
	pb_comm(&pb, 3000, 0, 300, "renamed");
	pb_fork_exit(&pb, false, 4000, 0, 300, 77);
	pb_end(&pb);
	d = read_build(&pb);
	assert_int_equal(d.r.rc, 0);
	assert_string_equal(d.r.text, "");
	assert_int_equal(d.r.total, 2);		/* perf's own records are no events */
	assert_string_equal(d.text, "1000/0 N77=before\n1000/0 N200=task 200\n1000/0 W200 by 77 to 1\n1500/0 F77>300\n"
			    "2000/0 N77=task 77\n2000/0 N300=task 300\n2000/0 S77:0>300\n3000/0 N300=renamed!\n4000/0 8:300\n");
}

/* Kernels 4.15 to 4.19 wrote states one bit too high; the idle task, which is running, tells. */
static void shifted_states(void **state)
{
	static const struct { const char *release; uint64_t idle; const char *text; } cases[] = {
		{ "4.19.0-8-amd64", 1, "S100:1>0" }, { "4.19.0-8-amd64", 0, "S100:2>0" }, { "6.1.0-8-amd64", 1, "S100:2>0" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct perf_build pb = { .release = cases[i].release };
		struct digest d;

		pb_begin(&pb);
		pb_switch(&pb, 1000, 0, 100, 2, 0);	/* before the idle task was seen */
		pb_switch(&pb, 2000, 0, 0, cases[i].idle, 100);
		pb_end(&pb);
		d = read_build(&pb);
		assert_int_equal(d.r.rc, 0);
		assert_non_null(strstr(d.text, cases[i].text));
	}
}

static void what_is_missing_is_said(void **state)
{
	static const struct { struct perf_build pb; const char *says; } cases[] = {
		{ { .no_formats = true }, "libtraceevent" },
		{ { .no_formats = true, .pipe = true }, "formats of the events" },
		{ { .unfinished = true }, "perf writes them when it ends" },
		{ { .sample_type = S_USUAL & ~S_RAW }, "RAW" },
	};
	struct perf_build pb;
	struct digest d;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pb = cases[i].pb;
		two_rounds(&pb);
		d = read_build(&pb);
		assert_int_equal(d.r.rc, 0);
		assert_int_equal(d.r.damaged, 1);
		assert_int_equal(d.r.total, 8);
		assert_int_equal(d.r.nr[RESCHED_EV_SWITCH], 0);
		assert_non_null(strstr(d.r.text, cases[i].says));
	}
	pb = (struct perf_build){ .sample_type = S_USUAL & ~S_TIME };
	two_rounds(&pb);
	d = read_build(&pb);
	assert_int_equal(d.r.rc, -EBADMSG);
	assert_non_null(strstr(d.r.err.text, "no time"));
	pb = (struct perf_build){ .sample_type = S_USUAL & ~S_CPU };
	two_rounds(&pb);
	d = read_build(&pb);
	assert_int_equal(d.r.rc, -EBADMSG);
	assert_non_null(strstr(d.r.err.text, "which CPU"));
}

static void cut_anywhere(void **state)
{
	(void)state;
	for (unsigned int pipe = 0; pipe < 2; pipe++) {
		struct perf_build whole = { .pipe = pipe };
		uint64_t most = 0;

		two_rounds(&whole);
		for (size_t len = 1; len < whole.b.len; len++) {
			struct reading r = read_bytes(whole.b.p, len);

			/* a pipe cut between two records looks like one that was ended there */
			assert_true(r.rc < 0 || r.damaged || pipe);
			assert_true(r.rc < 0 || r.total <= 8);
			if (r.rc == 0 && pipe) {
				assert_true(r.total >= most);
				most = r.total;
			}
		}
		assert_true(!pipe || most == 8);
		free(whole.b.p);
	}
}

/* A stretch of zeros, as a machine leaves that lost power: what follows the round's end is read. */
static void zeros_inside(void **state)
{
	struct perf_build pb = { 0 };
	struct digest d;
	size_t at;

	(void)state;
	pb_begin(&pb);
	pb_switch(&pb, 1000, 0, 100, 1, 0);
	pb_round(&pb);
	at = pb.b.len;
	pb_switch(&pb, 2000, 0, 0, 0, 100);
	memset(pb.b.p + at, 0, pb.b.len - at);
	pb_round(&pb);
	pb_switch(&pb, 3000, 0, 100, 1, 0);
	pb_end(&pb);
	d = read_build(&pb);
	assert_int_equal(d.r.rc, 0);
	assert_int_equal(d.r.damaged, 1);
	assert_int_equal(d.r.nr[RESCHED_EV_SWITCH], 2);
	assert_non_null(strstr(d.r.text, "are skipped"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_byte_orders_file_and_pipe), cmocka_unit_test(every_sample_type), cmocka_unit_test(compressed_records_span),
		cmocka_unit_test(late_events_are_counted), cmocka_unit_test(losses), cmocka_unit_test(names_forks_exits), cmocka_unit_test(shifted_states),
		cmocka_unit_test(what_is_missing_is_said), cmocka_unit_test(cut_anywhere), cmocka_unit_test(zeros_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
