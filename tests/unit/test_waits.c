// SPDX-License-Identifier: GPL-2.0-only
/* Waits of a stream without an end: which are told, and what is kept of tasks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <resched/waits.h>

struct heard { unsigned int nr; struct resched_waited last; char comm[32]; };

static void hear(void *ctx, const struct resched_waited *wait)
{
	struct heard *h = ctx;

	h->nr++;
	h->last = *wait;
	strncpy(h->comm, wait->comm, sizeof(h->comm) - 1);
}

static struct resched_waits *make(unsigned int most, struct heard *h, const struct resched_names *names)
{
	struct resched_waits *w = NULL;

	memset(h, 0, sizeof(*h));
	assert_int_equal(resched_waits_new(most, hear, h, &w), 0);
	resched_waits_begin(w, names);
	return w;
}

static void give(struct resched_waits *w, struct resched_event ev)
{
	assert_int_equal(resched_waits_event(w, &ev), 0);
}

static void wake(struct resched_waits *w, uint64_t ns, uint8_t type, int pid)
{
	give(w, (struct resched_event){ .ts_ns = ns, .type = type, .pid = pid });
}

static void change(struct resched_waits *w, uint64_t ns, int prev, uint32_t state, int next)
{
	give(w, (struct resched_event){ .ts_ns = ns, .cpu = 3, .type = RESCHED_EV_SWITCH, .pid = prev, .sw = { .next_pid = next, .prev_state = state } });
}

static void kinds(void **state)
{
	struct heard h;
	struct resched_waits *w = make(0, &h, NULL);

	(void)state;
	wake(w, 100, RESCHED_EV_WAKEUP, 7);	/* no waking has been seen: it is all there is */
	change(w, 150, 0, 0, 7);
	assert_int_equal(h.nr, 1);
	assert_int_equal(h.last.kind, RESCHED_WAIT_WAKE);
	assert_int_equal(h.last.from_ns, 100);
	assert_int_equal(h.last.cpu, 3);
	change(w, 200, 7, RESCHED_STATE_S, 0);
	wake(w, 300, RESCHED_EV_WAKING, 7);
	wake(w, 310, RESCHED_EV_WAKEUP, 7);
	change(w, 350, 0, 0, 7);
	assert_int_equal(h.nr, 2);
	assert_int_equal(h.last.from_ns, 300);
	wake(w, 360, RESCHED_EV_WAKEUP, 7);	/* late news of a waking that is over */
	change(w, 400, 7, RESCHED_STATE_S, 0);
	wake(w, 500, RESCHED_EV_WAKING, 7);
	change(w, 510, 0, 0, 7);
	assert_int_equal(h.last.from_ns, 500);
	wake(w, 520, RESCHED_EV_WAKING, 7);
	change(w, 530, 7, RESCHED_STATE_S, 8);	/* on its way to sleep */
	change(w, 540, 8, RESCHED_STATE_RUNNING, 7);
	assert_int_equal(h.last.kind, RESCHED_WAIT_RACED);
	assert_int_equal(h.last.from_ns, 530);
	change(w, 560, 7, RESCHED_STATE_S, 8);
	assert_int_equal(h.last.kind, RESCHED_WAIT_PREEMPTED);
	assert_int_equal(h.last.from_ns, 540);
	assert_int_equal(h.last.pid, 8);
	resched_waits_free(w);
}

static void losses(void **state)
{
	struct heard h;
	struct resched_waits *w = make(0, &h, NULL);
	struct resched_waits_stats stats;

	(void)state;
	wake(w, 100, RESCHED_EV_WAKING, 7);
	give(w, (struct resched_event){ .ts_ns = 120, .type = RESCHED_EV_LOST });
	change(w, 150, 0, 0, 7);	/* it may have run in between */
	assert_int_equal(h.nr, 0);
	change(w, 160, 7, RESCHED_STATE_RUNNING, 8);
	change(w, 190, 8, RESCHED_STATE_S, 7);
	assert_int_equal(h.nr, 1);
	give(w, (struct resched_event){ .ts_ns = 200, .type = RESCHED_EV_LOST });
	wake(w, 210, RESCHED_EV_WAKING, 7);	/* it went to sleep unseen */
	change(w, 220, 0, 0, 7);
	assert_int_equal(h.nr, 2);
	assert_int_equal(h.last.from_ns, 210);
	resched_waits_stats(w, &stats);
	assert_int_equal(stats.losses, 2);
	resched_waits_free(w);
}

/* A hundred thousand tasks that come and go, and more alive than there is room for. */
static void memory_is_bounded(void **state)
{
	struct heard h;
	struct resched_waits *w = make(16, &h, NULL);
	struct resched_waits_stats stats;

	(void)state;
	for (int pid = 100; pid < 100100; pid++) {
		give(w, (struct resched_event){ .ts_ns = (uint64_t)pid * 10, .type = RESCHED_EV_FORK, .pid = 1, .fork = { .child_pid = pid } });
		wake(w, (uint64_t)pid * 10 + 1, RESCHED_EV_WAKEUP_NEW, pid);
		change(w, (uint64_t)pid * 10 + 2, 0, 0, pid);
		change(w, (uint64_t)pid * 10 + 3, pid, pid & 1 ? RESCHED_STATE_X : RESCHED_STATE_Z, 0);
	}
	resched_waits_stats(w, &stats);
	assert_int_equal(h.nr, 100000);
	assert_int_equal(stats.nr_tasks, 0);
	assert_int_equal(stats.untracked, 0);
	for (int pid = 100; pid < 120; pid++)
		wake(w, 2000000, RESCHED_EV_WAKING, pid);
	for (int pid = 100; pid < 120; pid++)
		change(w, 3000000, 0, 0, pid);
	resched_waits_stats(w, &stats);
	assert_int_equal(h.nr, 100016);
	assert_int_equal(stats.nr_tasks, 16);
	assert_int_equal(stats.untracked, 8);
	resched_waits_begin(w, NULL);
	wake(w, 100, RESCHED_EV_WAKING, 500);	/* another stream, another time */
	change(w, 150, 0, 0, 500);
	assert_int_equal(h.nr, 100017);
	resched_waits_free(w);
}

static void names_are_told(void **state)
{
	struct resched_names *names = resched_names_new();
	struct heard h;
	struct resched_waits *w = make(0, &h, names);
	struct resched_event name = { .type = RESCHED_EV_COMM, .pid = 7 };

	(void)state;
	name.comm.name = (uint32_t)resched_names_intern(names, "parent", 6);
	give(w, name);
	give(w, (struct resched_event){ .ts_ns = 5, .type = RESCHED_EV_FORK, .pid = 7, .fork = { .child_pid = 8 } });
	wake(w, 10, RESCHED_EV_WAKEUP_NEW, 8);
	give(w, (struct resched_event){ .ts_ns = 20, .ctx = RESCHED_CTX_OWN, .type = RESCHED_EV_SWITCH, .pid = 7, .sw = { .next_pid = 8 } });
	assert_string_equal(h.comm, "parent");
	assert_string_equal(resched_waits_comm(w, 8), "parent");
	assert_int_equal(h.last.own, 0);
	resched_waits_forget_names(w);
	change(w, 30, 8, RESCHED_STATE_S, 7);
	assert_string_equal(h.comm, "?");
	assert_int_equal(h.last.own, 1);
	assert_string_equal(resched_waits_comm(w, 99), "?");
	resched_waits_free(w);
	resched_names_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds), cmocka_unit_test(losses), cmocka_unit_test(memory_is_bounded), cmocka_unit_test(names_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
