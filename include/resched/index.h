/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who was where at any moment: the stretches of every cpu and every task of a stream, searchable by time.
 *
 * An index hangs on an analysis and grows with the stream, by about 20 bytes an event, so that 10 M events take some 200 MB. It can be
 * read while it grows, by the thread that feeds the analysis or under a lock of the caller: what is there does not change any more, but
 * for the last stretch of a cpu or task, which is open. Stamps are those of the stream.
 */
#ifndef RESCHED_INDEX_H
#define RESCHED_INDEX_H

#include <stddef.h>
#include <stdint.h>
#include <resched/analysis.h>
#include <resched/error.h>

#ifdef __cplusplus
extern "C" {
#endif

enum resched_span_state {
	RESCHED_SPAN_UNKNOWN = 0,	/* not seen yet, or events were lost */
	RESCHED_SPAN_RUNNING,
	RESCHED_SPAN_WOKEN,		/* runnable, waits since it was woken */
	RESCHED_SPAN_PREEMPTED,		/* runnable, waits since it was switched out */
	RESCHED_SPAN_SLEEPING,
};

#define RESCHED_NO_TASK (-1)		/* idle; of a waker: an interrupt or idle */

/* A stretch of time: of a cpu, what ran there; of a task, what it did. @to_ns of an open one is the last stamp seen. */
struct resched_span {
	uint64_t from_ns, to_ns;
	int task;			/* its index, RESCHED_NO_TASK: idle */
	unsigned int cpu;
	enum resched_span_state state;	/* of cpus: RUNNING (also when idle) or UNKNOWN */
};

struct resched_wake { uint64_t at_ns; int waker, wakee; unsigned int cpu; int interrupt; };	/* @cpu: of the waker */
struct resched_lag_sample { uint64_t at_ns; int64_t lag_ns; int deadline_missed; };

/* log2 of the wait in ns: bucket i counts waits of [2^(i+9), 2^(i+10)) ns, the first also less, the last also more. */
#define RESCHED_INDEX_BUCKETS 24u
#define RESCHED_INDEX_BY 6u

/* Figures so far, as they stand while the index grows; a finished report has them exactly. */
struct resched_index_task {
	int pid, prio;			/* prio as the kernel counts; -32768 unknown */
	uint32_t birth;
	uint64_t runtime_ns, wait_ns, wakeups, switches, involuntary, migrations;
	uint64_t max_wake_ns, max_wait_ns;	/* longest wakeup latency, longest wait of any kind */
	/* who got the cpu when it was switched out runnable: pids, 0 free; exact for up to as many, else what is surely theirs */
	struct { int pid; uint32_t times; } by[RESCHED_INDEX_BY];
	uint32_t latency[RESCHED_INDEX_BUCKETS];	/* of wakeups */
	int has_lag;
	int64_t lag_ns, lag_min_ns, lag_max_ns;
	uint64_t deadline_misses;
};

struct resched_index;

/*
 * resched_index_new() - index what @analysis sees from now on; it must outlive the last event.
 * Return: 0; -ENOSPC when too many hang on @analysis; -ENOMEM.
 */
int resched_index_new(struct resched_analysis *analysis, struct resched_index **ret, struct resched_error *err);
void resched_index_free(struct resched_index *index);

uint64_t resched_index_first_ns(const struct resched_index *index);	/* 0 before the first event */
uint64_t resched_index_last_ns(const struct resched_index *index);
uint64_t resched_index_events(const struct resched_index *index);
size_t resched_index_bytes(const struct resched_index *index);		/* memory it takes */
unsigned int resched_index_cpus(const struct resched_index *index);	/* highest cpu seen + 1 */
unsigned int resched_index_tasks(const struct resched_index *index);
int resched_index_cpu_observed(const struct resched_index *index, unsigned int cpu);

/* Task by its index; NULL past the end. Valid until the next event. */
const struct resched_index_task *resched_index_task(const struct resched_index *index, unsigned int task);
/* resched_index_name() - a task's name now, ":PID" without one, "idle" for RESCHED_NO_TASK; @buf of 24 bytes. Return: @buf. */
const char *resched_index_name(const struct resched_index *index, int task, char *buf, size_t size);
const char *resched_index_cgroup(const struct resched_index *index, int task);	/* NULL unknown */
/* The newest task with a pid. Return: its index; RESCHED_NO_TASK. */
int resched_index_find_pid(const struct resched_index *index, int pid);

/*
 * Stretches by number, in order of time, without holes from the first one on. _find() gives the number of the one that covers @at_ns, the
 * first one for an earlier instant; O(log n). Getters return 1, or 0 past the end.
 */
uint64_t resched_index_cpu_find(const struct resched_index *index, unsigned int cpu, uint64_t at_ns);
int resched_index_cpu_span(const struct resched_index *index, unsigned int cpu, uint64_t nr, struct resched_span *ret);
uint64_t resched_index_task_find(const struct resched_index *index, int task, uint64_t at_ns);
int resched_index_task_span(const struct resched_index *index, int task, uint64_t nr, struct resched_span *ret);
uint64_t resched_index_cpu_spans(const struct resched_index *index, unsigned int cpu);	/* how many */
uint64_t resched_index_task_spans(const struct resched_index *index, int task);

/*
 * Interrupts of a cpu, when they were recorded (record -e irq): stretches by number as above, those between two have kind NONE; with no
 * interrupt there are none. What runs on top of another is told, so that stretches do not overlap. On top of the task of the cpu, which
 * counts as running.
 */
enum resched_irq_kind { RESCHED_IRQ_NONE = 0, RESCHED_IRQ_SOFT, RESCHED_IRQ_HARD };
struct resched_irq_span { uint64_t from_ns, to_ns; enum resched_irq_kind kind; unsigned int nr; };	/* nr: the line, or the vector of a softirq */
uint64_t resched_index_irq_find(const struct resched_index *index, unsigned int cpu, uint64_t at_ns);
int resched_index_irq(const struct resched_index *index, unsigned int cpu, uint64_t nr, struct resched_irq_span *ret);
uint64_t resched_index_irqs(const struct resched_index *index, unsigned int cpu);	/* how many */

/* Wakeups of all tasks in order of time; _find() gives the first at or after @at_ns. */
uint64_t resched_index_wake_find(const struct resched_index *index, uint64_t at_ns);
int resched_index_wake(const struct resched_index *index, uint64_t nr, struct resched_wake *ret);
/* resched_index_waker() - the wakeup that put @task on a queue at @at_ns. Return: 1; 0 when there is none. */
int resched_index_waker(const struct resched_index *index, int task, uint64_t at_ns, struct resched_wake *ret);

/* Lag samples of a task in order of time; only schedules with a model behind have them. */
uint64_t resched_index_lags(const struct resched_index *index, int task);
uint64_t resched_index_lag_find(const struct resched_index *index, int task, uint64_t at_ns);	/* last at or before, 0 without */
int resched_index_lag(const struct resched_index *index, int task, uint64_t nr, struct resched_lag_sample *ret);

#ifdef __cplusplus
}
#endif
#endif
