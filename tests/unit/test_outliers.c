// SPDX-License-Identifier: GPL-2.0-only
/* Streams that each have exactly one cause for a long wait, and the same wakeup in another schedule. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <resched/outliers.h>

#define S RESCHED_STATE_S
#define R RESCHED_STATE_RUNNING
#define US 1000ull
#define MS 1000000ull
#define NR(array) (sizeof(array) / sizeof((array)[0]))

static struct resched_event sw(uint64_t ts, unsigned int cpu, int prev, int prev_prio, uint32_t state, int next, int next_prio)
{
	return (struct resched_event){ .ts_ns = ts, .cpu = (uint16_t)cpu, .pid = prev, .type = RESCHED_EV_SWITCH,
				       .sw = { next, (int16_t)prev_prio, (int16_t)next_prio, state } };
}

static struct resched_event wake(uint8_t type, uint64_t ts, unsigned int cpu, int pid, int waker, unsigned int target, uint8_t ctx)
{
	return (struct resched_event){ .ts_ns = ts, .cpu = (uint16_t)cpu, .pid = pid, .type = type, .ctx = ctx,
				       .wake = { waker, 120, (uint16_t)target } };
}

#define SW(ts, cpu, prev, state, next) sw(ts, cpu, prev, 120, state, next, 120)
#define WAKING(ts, cpu, pid, by, target) wake(RESCHED_EV_WAKING, ts, cpu, pid, by, target, 0)
#define WAKEUP(ts, cpu, pid, by, target) wake(RESCHED_EV_WAKEUP, ts, cpu, pid, by, target, 0)
#define IRQ(ts, cpu, pid, by) wake(RESCHED_EV_WAKING, ts, cpu, pid, by, cpu, RESCHED_CTX_HARDIRQ)
#define HARDIRQ(ts, c, begins) ((struct resched_event){ .ts_ns = ts, .cpu = c, .type = RESCHED_EV_IRQ, .irq = { 24, 0, begins } })
#define SOFTIRQ(ts, c, begins) ((struct resched_event){ .ts_ns = ts, .cpu = c, .type = RESCHED_EV_IRQ, .irq = { 3, 1, begins } })
#define LOST(ts, c) ((struct resched_event){ .ts_ns = ts, .cpu = c, .type = RESCHED_EV_LOST })
#define COMM(p, n) ((struct resched_event){ .pid = p, .type = RESCHED_EV_COMM, .comm = { n, 0 } })
#define MIGRATE(ts, c, p, from, to) \
	((struct resched_event){ .ts_ns = ts, .cpu = c, .pid = p, .type = RESCHED_EV_MIGRATE, .migrate = { 120, from, to } })

struct run { struct resched_analysis *an; struct resched_outliers *out; struct resched_names *names; };

static struct run collect(const struct resched_outlier_options *opts, const struct resched_host *host, const struct resched_event *events,
			  size_t nr)
{
	static const char *const names[] = { "wanted", "other", "third", "kworker/0:1", "migration/0" };
	struct run r = { .names = resched_names_new() };
	struct resched_analysis_options an_opts = { .names = r.names, .host = host };
	struct resched_error err;

	for (unsigned int i = 0; i < NR(names); i++)
		assert_int_equal(resched_names_intern(r.names, names[i], strlen(names[i])), i);
	assert_int_equal(resched_analysis_new(&an_opts, &r.an, &err), 0);
	assert_int_equal(resched_outliers_new(r.an, opts, &r.out, &err), 0);
	for (int pid = 1; pid <= (int)NR(names); pid++) {
		struct resched_event ev = COMM(pid, (uint32_t)pid - 1);

		assert_int_equal(resched_analysis_event(r.an, &ev), 0);
	}
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(resched_analysis_event(r.an, &events[i]), 0);
	resched_outliers_sort(r.out);
	return r;
}

static void release(struct run *r)
{
	resched_outliers_free(r->out);
	resched_analysis_free(r->an);
	resched_names_free(r->names);
}

#define COLLECT(opts, host, ...) collect(opts, host, (const struct resched_event[]){ __VA_ARGS__ }, \
					 sizeof((const struct resched_event[]){ __VA_ARGS__ }) / sizeof(struct resched_event))

static void expect(const struct run *r, const char *code, uint64_t latency_ns)
{
	const struct resched_outlier *o = resched_outliers_get(r->out, 0);

	assert_non_null(o);
	assert_string_equal(o->code, code);
	assert_int_equal(o->pid, 1);
	assert_string_equal(o->comm, "wanted");
	assert_int_equal(o->latency_ns, latency_ns);
	assert_true(strlen(o->text) > 20);
}

/* The task with pid 1 is put on cpu 0 at 100 ms, sleeping before; what happens then is the cause. */
#define T (100 * MS)
#define SLEEPS SW(T - 20 * MS, 0, 1, S, 2)

/* Each is one test: who runs on cpu 0 meanwhile, and how the wait ends. */
static void real_time_tasks_ran(void **state)
{
	struct run r = COLLECT(NULL, NULL, SLEEPS, sw(T - MS, 0, 2, 120, R, 3, 49), WAKING(T, 0, 1, 3, 0), WAKEUP(T, 0, 1, 3, 0),
			       sw(T + 8 * MS, 0, 3, 49, S, 1, 120));
	const struct resched_outlier *o = resched_outliers_get(r.out, 0);

	(void)state;
	expect(&r, "rt_ran", 8 * MS);
	assert_int_equal(o->nr_blame, 1);
	assert_int_equal(o->blame[0].pid, 3);
	assert_int_equal(o->blame[0].ns, 8 * MS);
	assert_int_equal(o->wakers[0].pid, 3);
	assert_non_null(strstr(o->text, "priority 50"));
	release(&r);
}

static void real_time_waits_for_real_time(void **state)
{
	struct run r = COLLECT(NULL, NULL, SLEEPS, sw(T - MS, 0, 2, 120, R, 3, 49), WAKING(T, 0, 1, 3, 0), sw(T + 8 * MS, 0, 3, 49, S, 1, 49));

	(void)state;
	expect(&r, "higher_rt", 8 * MS);
	release(&r);
}

static void the_stop_task_ran(void **state)
{
	struct run r = COLLECT(NULL, NULL, SLEEPS, sw(T - MS, 0, 2, 120, R, 5, 0), WAKING(T, 0, 1, 0, 0), sw(T + 8 * MS, 0, 5, 0, S, 1, 120));

	(void)state;
	expect(&r, "stop_ran", 8 * MS);
	release(&r);
}

static void a_kernel_thread_ran(void **state)
{
	struct run r = COLLECT(NULL, NULL, SLEEPS, SW(T - MS, 0, 2, R, 4), WAKING(T, 0, 1, 4, 0), SW(T + 8 * MS, 0, 4, S, 1));

	(void)state;
	expect(&r, "kernel_thread", 8 * MS);
	release(&r);
}

static void another_cpu_was_idle(void **state)
{
	struct run r = COLLECT(NULL, NULL, SLEEPS, SW(T - 10 * MS, 1, 3, S, 0), WAKING(T, 0, 1, 2, 0), WAKEUP(T, 0, 1, 2, 0),
			       SW(T + 8 * MS, 0, 2, S, 1));
	const struct resched_outlier *o = resched_outliers_get(r.out, 0);

	(void)state;
	expect(&r, "woke_on_busy_cpu", 8 * MS);
	assert_int_equal(o->idle_cpus, 1);
	assert_int_equal(o->idle_elsewhere_ns, 8 * MS);
	release(&r);
}

static void its_affinity_forbids_the_idle_cpu(void **state)
{
	struct resched_host_task task = { .pid = 1, .comm = "wanted", .affinity = (char *)"0" };
	struct resched_host host = { .nr_tasks = 1, .tasks = &task, .hz = 250 };
	struct run r = COLLECT(NULL, &host, SLEEPS, SW(T - 10 * MS, 1, 3, S, 0), WAKING(T, 0, 1, 2, 0), SW(T + 8 * MS, 0, 2, S, 1));

	(void)state;
	expect(&r, "not_preempted", 8 * MS);
	assert_int_equal(resched_outliers_get(r.out, 0)->idle_cpus, 0);
	release(&r);
}

static void another_cpu_became_idle(void **state)
{
	struct run r = COLLECT(NULL, NULL, SLEEPS, SW(T - 10 * MS, 1, 0, R, 3), WAKING(T, 0, 1, 2, 0), SW(T + MS, 1, 3, S, 0),
			       SW(T + 8 * MS, 0, 2, S, 1));

	(void)state;
	expect(&r, "balanced_late", 8 * MS);
	assert_int_equal(resched_outliers_get(r.out, 0)->idle_elsewhere_ns, 7 * MS);
	release(&r);
}

static void it_was_moved_while_it_waited(void **state)
{
	struct run r = COLLECT(NULL, NULL, SLEEPS, SW(T - 10 * MS, 1, 0, R, 3), WAKING(T, 0, 1, 2, 0), WAKEUP(T, 0, 1, 2, 0),
			       MIGRATE(T + 5 * MS, 1, 1, 0, 1), SW(T + 8 * MS, 1, 3, S, 1));
	const struct resched_outlier *o = resched_outliers_get(r.out, 0);

	(void)state;
	expect(&r, "migrated", 8 * MS);
	assert_int_equal(o->moves, 1);
	assert_int_equal(o->queued_cpu, 0);
	assert_int_equal(o->cpu, 1);
	assert_int_equal(o->nr_blame, 2);	/* 5 ms of task 2 on cpu 0, 3 ms of task 3 on cpu 1 */
	assert_int_equal(o->blame[0].pid, 2);
	assert_int_equal(o->blame[0].ns, 5 * MS);
	assert_int_equal(o->blame[1].ns, 3 * MS);
	release(&r);
}

static void being_placed_by_the_wakeup_is_no_move(void **state)
{
	struct run r = COLLECT(NULL, NULL, SLEEPS, SW(T - 10 * MS, 1, 0, R, 3), WAKING(T, 0, 1, 2, 0), MIGRATE(T, 0, 1, 0, 1),
			       WAKEUP(T, 0, 1, 2, 1), SW(T + 8 * MS, 1, 3, S, 1));

	(void)state;
	expect(&r, "not_preempted", 8 * MS);
	assert_int_equal(resched_outliers_get(r.out, 0)->moves, 0);
	assert_int_equal(resched_outliers_get(r.out, 0)->queued_cpu, 1);
	release(&r);
}

static void a_task_of_more_weight_ran(void **state)
{
	struct run r = COLLECT(NULL, NULL, SLEEPS, sw(T - MS, 0, 2, 120, R, 3, 110), WAKING(T, 0, 1, 3, 0), sw(T + 8 * MS, 0, 3, 110, R, 1, 120));

	(void)state;
	expect(&r, "higher_weight", 8 * MS);
	release(&r);
}

static void only_the_tick_ended_the_turn(void **state)
{
	struct run r = COLLECT(NULL, NULL, SLEEPS, WAKING(T, 0, 1, 2, 0), SW(T + 3 * MS, 0, 2, R, 1));

	(void)state;
	expect(&r, "tick_granularity", 3 * MS);
	release(&r);
}

static void one_task_kept_the_cpu(void **state)
{
	struct run r = COLLECT(NULL, NULL, SLEEPS, WAKING(T, 0, 1, 2, 0), SW(T + 30 * MS, 0, 2, R, 1));

	(void)state;
	expect(&r, "long_slice", 30 * MS);
	release(&r);
}

static void it_ran_until_it_slept(void **state)
{
	struct run r = COLLECT(NULL, NULL, SLEEPS, WAKING(T, 0, 1, 2, 0), SW(T + 3 * MS, 0, 2, S, 1));

	(void)state;
	expect(&r, "not_preempted", 3 * MS);
	release(&r);
}

static void several_took_turns(void **state)
{
	struct run r = COLLECT(NULL, NULL, SLEEPS, WAKING(T, 0, 1, 2, 0), SW(T + 4 * MS, 0, 2, R, 3), SW(T + 8 * MS, 0, 3, R, 2),
			       SW(T + 12 * MS, 0, 2, R, 3), SW(T + 16 * MS, 0, 3, R, 1));
	const struct resched_outlier *o = resched_outliers_get(r.out, 0);

	(void)state;
	expect(&r, "shared_cpu", 16 * MS);
	assert_int_equal(o->nr_tasks_ran, 2);
	assert_int_equal(o->blame[0].ns, 8 * MS);	/* merged by task */
	assert_int_equal(o->blame[1].ns, 8 * MS);
	assert_true(o->blame[0].pid < o->blame[1].pid);	/* equals: by pid */
	release(&r);
}

static void the_cpu_was_idle(void **state)
{
	struct run r = COLLECT(NULL, NULL, SLEEPS, SW(T - MS, 0, 2, S, 0), IRQ(T, 0, 1, 0), SW(T + 2 * MS, 0, 0, R, 1));
	const struct resched_outlier *o = resched_outliers_get(r.out, 0);

	(void)state;
	expect(&r, "idle_exit", 2 * MS);
	assert_int_equal(o->idle_ns, 2 * MS);
	assert_int_equal(o->nr_wakers, 1);
	assert_int_equal(o->wakers[0].interrupt, 1);
	release(&r);
}

static void its_group_has_a_quota(void **state)
{
	struct resched_host_task task = { .pid = 1, .comm = "wanted", .cgroup = (char *)"/a/b" };
	struct resched_host_cgroup group = { .path = (char *)"/a", .quota_us = 20000, .period_us = 100000 };
	struct resched_host host = { .nr_tasks = 1, .tasks = &task, .nr_cgroups = 1, .cgroups = &group };
	struct run r = COLLECT(NULL, &host, SLEEPS, SW(T - MS, 0, 2, S, 0), IRQ(T, 0, 1, 0), SW(T + 60 * MS, 0, 0, R, 1));

	(void)state;
	expect(&r, "throttled", 60 * MS);
	release(&r);
}

/* A softirq with a handler on top of it counts once; one elsewhere not at all. */
static void interrupts_had_the_cpu(void **state)
{
	struct run r = COLLECT(NULL, NULL, SLEEPS, WAKING(T, 0, 1, 2, 0), SOFTIRQ(T + MS, 0, 1), HARDIRQ(T + 3 * MS, 0, 1), HARDIRQ(T + 4 * MS, 0, 0),
			       SOFTIRQ(T + 6 * MS, 0, 0), SW(T + 8 * MS, 0, 2, S, 1));

	(void)state;
	expect(&r, "interrupts", 8 * MS);
	assert_non_null(strstr(resched_outliers_get(r.out, 0)->text, "5.00 ms of the 8.00 ms"));
	release(&r);
	r = COLLECT(NULL, NULL, SLEEPS, WAKING(T, 0, 1, 2, 0), SOFTIRQ(T + MS, 1, 1), SOFTIRQ(T + 7 * MS, 1, 0), SW(T + 8 * MS, 0, 2, S, 1));
	expect(&r, "not_preempted", 8 * MS);
	release(&r);
	r = COLLECT(NULL, NULL, SLEEPS, HARDIRQ(T - 10 * MS, 0, 1), HARDIRQ(T - MS, 0, 0), WAKING(T, 0, 1, 2, 0), SW(T + 8 * MS, 0, 2, S, 1));
	expect(&r, "not_preempted", 8 * MS);
	release(&r);
}

/* It waited behind interrupts on the cpu it was moved away from. */
static void interrupts_before_a_move(void **state)
{
	struct run r = COLLECT(NULL, NULL, SLEEPS, SW(T - 10 * MS, 1, 0, R, 3), WAKING(T, 0, 1, 2, 0), WAKEUP(T, 0, 1, 2, 0), HARDIRQ(T + MS, 0, 1),
			       HARDIRQ(T + 6 * MS, 0, 0), MIGRATE(T + 7 * MS, 1, 1, 0, 1), SW(T + 8 * MS, 1, 3, S, 1));

	(void)state;
	expect(&r, "interrupts", 8 * MS);
	release(&r);
}

static void events_were_lost(void **state)
{
	struct run r = COLLECT(NULL, NULL, SLEEPS, WAKING(T, 0, 1, 2, 0), LOST(T + 2 * MS, 0), SW(T + 8 * MS, 0, 2, S, 1));

	(void)state;
	assert_int_equal(resched_outliers_count(r.out), 0);	/* not among the figures of the report either */
	assert_int_equal(resched_outliers_gap_count(r.out), 1);
	assert_string_equal(resched_outliers_gap_get(r.out, 0)->code, "lost_events");
	assert_int_equal(resched_outliers_gap_get(r.out, 0)->latency_ns, 8 * MS);
	release(&r);
}

static void nobody_saw_the_cpu(void **state)
{
	struct run r = COLLECT(NULL, NULL, WAKING(T, 1, 1, 2, 0), SW(T + 8 * MS, 0, 2, S, 1));

	(void)state;
	expect(&r, "not_observed", 8 * MS);
	assert_int_equal(resched_outliers_get(r.out, 0)->unknown_ns, 8 * MS);
	release(&r);
}

static void a_preempted_wait_has_a_cause_too(void **state)
{
	struct run r = COLLECT(NULL, NULL, SW(T - 20 * MS, 0, 0, R, 1), SW(T, 0, 1, R, 2), SW(T + 30 * MS, 0, 2, R, 1));

	(void)state;
	expect(&r, "long_slice", 30 * MS);
	assert_int_equal(resched_outliers_get(r.out, 0)->kind, RESCHED_WAIT_PREEMPTED);
	assert_int_equal(resched_outliers_get(r.out, 0)->nr_wakers, 0);
	release(&r);
}

static void wakers_are_followed(void **state)
{
	/* an interrupt wakes 3, 3 wakes 2, 2 wakes 1 */
	struct run r = COLLECT(NULL, NULL, SW(T - 20 * MS, 0, 1, S, 0), IRQ(T - 10 * MS, 1, 3, 4), SW(T - 9 * MS, 1, 4, R, 3),
			       WAKING(T - 8 * MS, 1, 2, 3, 0), SW(T - 7 * MS, 0, 0, R, 2), WAKING(T, 0, 1, 2, 0),
			       SW(T + 3 * MS, 0, 2, S, 1));
	const struct resched_outlier *o = resched_outliers_get(r.out, 0);

	(void)state;
	expect(&r, "not_preempted", 3 * MS);
	assert_int_equal(o->nr_wakers, 3);
	assert_int_equal(o->wakers[0].pid, 2);
	assert_int_equal(o->wakers[1].pid, 3);
	assert_int_equal(o->wakers[1].at_ns, T - 8 * MS);
	assert_int_equal(o->wakers[2].interrupt, 1);
	release(&r);
}

/* Many waits of known lengths: the top N of them, longest first, however they come. */
static void the_worst_are_kept(void **state)
{
	static const unsigned int orders[] = { 1, 7, 61, 99 };	/* steps through 0..100, prime to 101 */

	(void)state;
	for (unsigned int k = 0; k < NR(orders); k++) {
		struct resched_outlier_options opts = { .top = 10, .over_ns = 3 * US };
		struct resched_event events[101 * 3];
		unsigned int at = 0;
		struct run r;

		for (uint64_t i = 0; i < 101; i++) {
			uint64_t start = (i + 1) * MS, len = (i * orders[k]) % 101 * US;

			events[at++] = WAKING(start, 0, 1, 2, 0);
			events[at++] = SW(start + len, 0, 2, S, 1);
			events[at++] = SW(start + len + US, 0, 1, S, 2);
		}
		r = collect(&opts, NULL, events, at);
		assert_int_equal(resched_outliers_count(r.out), 10);
		for (unsigned int i = 0; i < 10; i++)
			assert_int_equal(resched_outliers_get(r.out, i)->latency_ns, (100 - i) * US);
		assert_null(resched_outliers_get(r.out, 10));
		release(&r);
	}
}

static void only_waits_longer_than_asked(void **state)
{
	struct resched_outlier_options opts = { .over_ns = 3 * MS };
	struct run r = COLLECT(&opts, NULL, SLEEPS, WAKING(T, 0, 1, 2, 0), SW(T + 3 * MS, 0, 2, S, 1));

	(void)state;
	assert_int_equal(resched_outliers_count(r.out), 0);
	release(&r);
}

static void long_recordings_do_not_grow_memory(void **state)
{
	struct run r = COLLECT(NULL, NULL, WAKING(T, 0, 1, 2, 0));
	const struct resched_outlier *o;
	struct resched_event end;

	(void)state;
	for (uint64_t i = 0; i < 100000; i++) {	/* 100,000 switches while 1 waits: more than are remembered */
		struct resched_event ev = SW(T + i * US, 0, i & 1 ? 2 : 3, R, i & 1 ? 3 : 2);

		assert_int_equal(resched_analysis_event(r.an, &ev), 0);
	}
	end = SW(T + 100000 * US, 0, 3, R, 1);
	assert_int_equal(resched_analysis_event(r.an, &end), 0);
	resched_outliers_sort(r.out);
	o = resched_outliers_get(r.out, 0);
	assert_int_equal(o->latency_ns, 100 * MS);
	assert_true(o->unknown_ns > 80 * MS);
	assert_int_equal(o->unknown_ns + o->blame[0].ns + o->blame[1].ns, 100 * MS);
	assert_string_equal(o->code, "not_observed");
	release(&r);
}

/* The same wakeup is the one before which the task had run as much, whatever its number. */
static void a_wakeup_is_found_elsewhere(void **state)
{
	struct run r = COLLECT(NULL, NULL, SW(T - 50 * MS, 0, 0, R, 1), SW(T - 40 * MS, 0, 1, S, 2), WAKING(T, 0, 1, 2, 0),
			       SW(T + 30 * MS, 0, 2, R, 1));
	const struct resched_event other[] = {
		SW(T, 0, 0, R, 1), SW(T + 3 * MS, 0, 1, S, 2),				/* 3 ms of its 10 */
		WAKING(T + 4 * MS, 0, 1, 2, 0), SW(T + 5 * MS, 0, 2, R, 1),		/* another wakeup: too early */
		SW(T + 12 * MS, 0, 1, S, 2),						/* 10 ms */
		WAKING(T + 20 * MS, 0, 1, 2, 0), SW(T + 22 * MS, 0, 2, R, 1),		/* this one */
		SW(T + 30 * MS, 0, 1, S, 2),						/* 18 ms */
		WAKING(T + 40 * MS, 0, 1, 2, 0), SW(T + 49 * MS, 0, 2, R, 1),		/* too late */
	};
	struct resched_outlier_match *m;
	const struct resched_outlier *o;
	struct resched_error err;

	(void)state;
	assert_int_equal(resched_outlier_match_new(r.out, "eevdf", &m, &err), 0);
	for (size_t i = 0; i < NR(other); i++)
		assert_int_equal(resched_outlier_match_event(m, &other[i]), 0);
	resched_outlier_match_finish(m);
	assert_int_equal(resched_outlier_match_new(r.out, "cfs", &m, &err), 0);
	resched_outlier_match_finish(m);
	o = resched_outliers_get(r.out, 0);
	assert_int_equal(o->nr_under, 2);
	assert_string_equal(o->under[0].label, "eevdf");
	assert_int_equal(o->under[0].found, 1);
	assert_int_equal(o->under[0].ns, 2 * MS);
	assert_string_equal(o->under[1].label, "cfs");
	assert_int_equal(o->under[1].found, 0);
	release(&r);
}

static void every_cause_has_a_meaning(void **state)
{
	const char *code, *meaning;
	unsigned int nr = 0;

	(void)state;
	while (resched_outlier_cause(nr, &code, &meaning)) {
		assert_true(*code && *meaning);
		nr++;
	}
	assert_true(nr >= 12);
}

static void too_many_are_refused(void **state)
{
	struct resched_outlier_options opts = { .top = RESCHED_MAX_OUTLIERS + 1 };
	struct resched_outliers *out;
	struct resched_analysis *an;
	struct resched_error err;

	(void)state;
	assert_int_equal(resched_analysis_new(NULL, &an, &err), 0);
	assert_int_equal(resched_outliers_new(an, &opts, &out, &err), -EINVAL);
	assert_int_equal(err.kind, RESCHED_USAGE);
	resched_analysis_free(an);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_time_tasks_ran), cmocka_unit_test(real_time_waits_for_real_time), cmocka_unit_test(the_stop_task_ran),
		cmocka_unit_test(a_kernel_thread_ran), cmocka_unit_test(another_cpu_was_idle),
		cmocka_unit_test(its_affinity_forbids_the_idle_cpu), cmocka_unit_test(another_cpu_became_idle),
		cmocka_unit_test(it_was_moved_while_it_waited), cmocka_unit_test(being_placed_by_the_wakeup_is_no_move),
		cmocka_unit_test(a_task_of_more_weight_ran), cmocka_unit_test(only_the_tick_ended_the_turn),
		cmocka_unit_test(one_task_kept_the_cpu), cmocka_unit_test(it_ran_until_it_slept), cmocka_unit_test(several_took_turns),
		cmocka_unit_test(the_cpu_was_idle), cmocka_unit_test(its_group_has_a_quota), cmocka_unit_test(interrupts_had_the_cpu), cmocka_unit_test(interrupts_before_a_move),
		cmocka_unit_test(events_were_lost),
		cmocka_unit_test(nobody_saw_the_cpu), cmocka_unit_test(a_preempted_wait_has_a_cause_too), cmocka_unit_test(wakers_are_followed),
		cmocka_unit_test(the_worst_are_kept), cmocka_unit_test(only_waits_longer_than_asked),
		cmocka_unit_test(long_recordings_do_not_grow_memory), cmocka_unit_test(a_wakeup_is_found_elsewhere),
		cmocka_unit_test(every_cause_has_a_meaning), cmocka_unit_test(too_many_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
