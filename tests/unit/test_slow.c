// SPDX-License-Identifier: GPL-2.0-only
/* Windows around slow wakeups: what is in them is kept, in order, whatever else is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "capture/slow.h"

#define MAX 256u

struct kept { unsigned int nr; struct { unsigned int cpu, kind; uint64_t ts; int32_t pid; bool gap; } all[MAX]; };

static int keep(void *ctx, unsigned int cpu, const struct rs_bpf_head *head, uint32_t len, bool gap)
{
	struct kept *kept = ctx;

	assert_true(len >= sizeof(*head) && kept->nr < MAX);
	kept->all[kept->nr].cpu = cpu;
	kept->all[kept->nr].kind = head->kind;
	kept->all[kept->nr].ts = head->ts_ns;
	kept->all[kept->nr].pid = head->pid;
	kept->all[kept->nr++].gap = gap;
	return 0;
}

static void put_switch(struct rs_slow *slow, unsigned int cpu, uint64_t ts, int32_t prev, int32_t next)
{
	struct rs_bpf_switch r = { .h = { .ts_ns = ts, .pid = prev, .kind = RS_BPF_SWITCH }, .next_pid = next };

	assert_int_equal(rs_slow_put(slow, cpu, &r.h, sizeof(r)), 0);
}

static void put_waking(struct rs_slow *slow, unsigned int cpu, uint64_t ts, int32_t waker, int32_t pid)
{
	struct rs_bpf_wake r = { .h = { .ts_ns = ts, .pid = waker, .kind = RS_BPF_WAKING }, .pid = pid };

	assert_int_equal(rs_slow_put(slow, cpu, &r.h, sizeof(r)), 0);
}

static void put_exit(struct rs_slow *slow, unsigned int cpu, uint64_t ts, int32_t pid)
{
	struct rs_bpf_exit r = { .h = { .ts_ns = ts, .pid = pid, .kind = RS_BPF_EXIT }, .pid = pid };

	assert_int_equal(rs_slow_put(slow, cpu, &r.h, sizeof(r)), 0);
}

static void the_window_of_a_slow_wakeup(void **state)
{
	static const struct { unsigned int cpu; uint64_t ts; } wanted[] = { { 1, 200 }, { 0, 300 }, { 1, 350 }, { 1, 400 }, { 0, 450 }, { 1, 900 } };
	struct kept kept = { 0 };
	struct rs_slow slow;

	(void)state;
	assert_int_equal(rs_slow_init(&slow, 500, 2, 1u << 16, keep, &kept), 0);
	put_switch(&slow, 1, 100, 0, 7);
	put_switch(&slow, 1, 200, 7, 8);	/* who runs when 5 is woken */
	put_switch(&slow, 0, 250, 0, 9);
	put_waking(&slow, 0, 300, 9, 5);	/* from another cpu */
	put_waking(&slow, 0, 310, 9, 6);
	put_waking(&slow, 1, 350, 8, 8);
	put_switch(&slow, 1, 400, 8, 7);
	put_exit(&slow, 0, 450, 9);		/* names are always kept */
	put_switch(&slow, 0, 500, 9, 6);	/* 190 ns: fast */
	put_switch(&slow, 1, 900, 7, 5);	/* 600 ns: slow */
	put_switch(&slow, 1, 950, 5, 0);
	assert_int_equal(rs_slow_pass(&slow, 1000), 0);
	assert_int_equal(kept.nr, 0);		/* something may still want them */
	assert_int_equal(rs_slow_pass(&slow, UINT64_MAX), 0);
	assert_int_equal(slow.slow, 1);
	assert_int_equal(kept.nr, sizeof(wanted) / sizeof(wanted[0]));
	for (unsigned int i = 0; i < kept.nr; i++) {
		assert_int_equal(kept.all[i].cpu, wanted[i].cpu);
		assert_int_equal(kept.all[i].ts, wanted[i].ts);
	}
	assert_true(kept.all[0].gap && kept.all[1].gap && kept.all[4].gap);	/* something was left out before each */
	assert_false(kept.all[2].gap || kept.all[3].gap || kept.all[5].gap);
	rs_slow_release(&slow);
}

/* Little memory: the oldest goes first, nothing is mixed up. */
static void more_than_fits(void **state)
{
	struct kept kept = { 0 };
	struct rs_slow slow;
	uint64_t ts = 1000;

	(void)state;
	assert_int_equal(rs_slow_init(&slow, 100000, 1, 1024, keep, &kept), 0);
	put_waking(&slow, 0, ts, 1, 5);
	for (unsigned int i = 0; i < 1000; i++)
		put_switch(&slow, 0, ts += 1000, (int32_t)(1 + i % 2), (int32_t)(1 + (i + 1) % 2));
	put_switch(&slow, 0, ts += 1000, 1, 5);
	assert_int_equal(rs_slow_pass(&slow, UINT64_MAX), 0);
	assert_int_equal(slow.slow, 1);
	assert_true(kept.nr > 10 && kept.nr < 64);	/* of the window its end, behind a gap */
	assert_true(kept.all[0].gap);
	for (unsigned int i = 1; i < kept.nr; i++)
		assert_true(kept.all[i].ts == kept.all[i - 1].ts + 1000 && !kept.all[i].gap);
	assert_int_equal(kept.all[kept.nr - 1].ts, ts);
	rs_slow_release(&slow);
}

static void a_preempted_task_was_not_woken(void **state)
{
	struct kept kept = { 0 };
	struct rs_slow slow;

	(void)state;
	assert_int_equal(rs_slow_init(&slow, 500, 1, 1u << 16, keep, &kept), 0);
	put_switch(&slow, 0, 100, 0, 5);
	put_waking(&slow, 0, 150, 5, 5);	/* while it runs */
	put_switch(&slow, 0, 200, 5, 6);
	put_switch(&slow, 0, 2000, 6, 5);
	assert_int_equal(rs_slow_pass(&slow, UINT64_MAX), 0);
	assert_int_equal(slow.slow + kept.nr, 0);
	rs_slow_release(&slow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_window_of_a_slow_wakeup),
		cmocka_unit_test(more_than_fits),
		cmocka_unit_test(a_preempted_task_was_not_woken),
	};

	return cmocka_run_group_tests_name("slow wakeups", tests, NULL, NULL);
}
