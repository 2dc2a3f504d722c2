// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a decision costs by the length of the queue: 5 tasks against 500, one cpu, all runnable. A decision is a tick, a pick and the
 * change of the running task, and every fourth time a task sleeps and wakes as well. Prints; asserts nothing. The best of several rounds counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "policies/model.h"
#include "policies/policy.h"

#define DECISIONS	200000u
#define ROUNDS		7
#define MAX_TASKS	500u

struct bench {
	const struct rs_policy_ops *ops;
	struct rs_model *model;
	struct rs_rq rq;
	struct rs_task tasks[MAX_TASKS];
	char *memory;
};

static size_t aligned(size_t size)
{
	return (size + 15) / 16 * 16;
}

static int bench_init(struct bench *b, const char *policy, const char *kernel, unsigned int nr)
{
	struct resched_error err = { 0 };
	size_t task_size, total;
	char *at;

	memset(b, 0, sizeof(*b));
	b->ops = rs_policy_ops_find(policy);
	if (rs_model_new(policy, kernel, 4, 0, NULL, 0, NULL, &b->model, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return -1;
	}
	task_size = aligned(b->ops->task_size);
	total = aligned(b->ops->rq_size) + task_size * nr;
	b->memory = at = aligned_alloc(16, total);
	if (!at)
		return -1;
	memset(at, 0, total);
	b->rq.model = b->model;
	b->rq.priv = at;
	b->ops->rq_init(&b->rq);
	at += aligned(b->ops->rq_size);
	for (unsigned int i = 0; i < nr; i++, at += task_size) {
		struct rs_task *t = &b->tasks[i];

		*t = (struct rs_task){ .id = i, .nice = (int)(i % 11) - 5, .priv = at, .rq = &b->rq };
		b->ops->task_init(t, b->model);
		b->ops->enqueue(&b->rq, t, RS_ENQ_WAKEUP);
	}
	return 0;
}

static void bench_release(struct bench *b)
{
	rs_model_free(b->model);
	free(b->memory);
}

static void schedule(struct bench *b)
{
	struct rs_task *prev = b->rq.curr, *next = b->ops->pick(&b->rq);

	b->rq.need_resched = false;
	if (next == prev && (!prev || prev->on_rq))
		return;
	if (prev)
		b->ops->put_prev(&b->rq, prev);
	b->rq.curr = NULL;
	if (next)
		b->ops->set_next(&b->rq, next, true);
	b->rq.curr = next;
}

static void sleep_and_wake(struct bench *b)
{
	struct rs_task *t = b->rq.curr;

	b->ops->dequeue(&b->rq, t, RS_DEQ_SLEEP);
	schedule(b);
	b->rq.clock_ns += 100000;
	if (t->on_rq)
		b->ops->wakeup_queued(&b->rq, t);
	else
		b->ops->enqueue(&b->rq, t, RS_ENQ_WAKEUP);
	if (b->rq.curr != t)
		b->ops->wakeup_preempt(&b->rq, t, RS_ENQ_WAKEUP);
}

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* ns a decision; < 0 when it could not be set up. */
static double measure(const char *policy, const char *kernel, unsigned int nr)
{
	double best = -1;

	for (int round = 0; round < ROUNDS; round++) {
		struct bench b;
		double start, took;

		if (bench_init(&b, policy, kernel, nr) < 0)
			return -1;
		schedule(&b);
		start = now_ns();
		for (unsigned int i = 0; i < DECISIONS; i++) {
			b.rq.clock_ns += 4000000;
			b.ops->tick(&b.rq);
			schedule(&b);
			if (i % 4 == 0 && b.rq.curr)
				sleep_and_wake(&b);
		}
		took = (now_ns() - start) / DECISIONS;
		best = best < 0 || took < best ? took : best;
		bench_release(&b);
	}
	return best;
}

int main(void)
{
	static const struct { const char *policy, *kernel; } models[] = {
		{ "eevdf", "6.6" }, { "eevdf", "6.8" }, { "eevdf", "6.12" }, { "eevdf", "6.18" }, { "evdf", "6.12" }, { "cfs", "5.4" },
		{ "cfs", "6.1" },
	};

	printf("%-12s %10s %10s %7s\n", "model", "5 tasks", "500 tasks", "factor");
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		double few = measure(models[i].policy, models[i].kernel, 5), many = measure(models[i].policy, models[i].kernel, MAX_TASKS);

		if (few < 0 || many < 0)
			return 1;
		printf("%-5s %-6s %7.0f ns %7.0f ns %6.2fx\n", models[i].policy, models[i].kernel, few, many, many / few);
	}
	return 0;
}
