/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an analysis knows while events stream in (machine.c) and what it makes figures of at the end (finish.c).
 * One row a task, a task being (pid, birth); rows are never removed, so an index stays good. One thread at a time.
 */
#ifndef RS_ANALYSIS_STATE_H
#define RS_ANALYSIS_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <resched/analysis.h>

#include "analysis/samples.h"
#include "base/cpulist.h"
#include "base/map.h"

enum an_state { AN_UNSEEN = 0, AN_RUNNING, AN_QUEUED, AN_SLEEPING };
enum an_kind { AN_WAKE = 0, AN_PREEMPTED, AN_RACED, AN_NR_KINDS };

#define AN_NO_ROW UINT32_MAX
#define AN_NO_NAME UINT32_MAX
#define AN_NO_PRIO INT16_MIN

/* While exact samples are over their limit, a store of this many becomes a histogram; smaller ones stay exact. */
#define AN_KEEP_EXACT 8192u

struct an_task {
	int32_t pid;
	uint8_t state, kind;		/* enum an_state; enum an_kind of a queued task's wait */
	bool pending;			/* running, and a waking was seen since its switch-in */
	bool gap;			/* queued: lay on a cpu while events of it were lost, and has left it since */
	bool seen, exiting, dead, own, forked;
	uint16_t cpu;			/* where it runs, is queued or ran last */
	int16_t prio;
	uint64_t since_ns;		/* when @state began */
	uint32_t birth;
	uint32_t name, name_now;	/* at its last switch; as last told by the stream */
	uint64_t runtime_ns, sleep_ns;
	uint64_t voluntary, involuntary, wakeups, migrations, unresolved;
	uint64_t max_delay_ns, max_delay_at_ns;
	struct rs_samples waits[AN_NR_KINDS];
	bool has_lag;
	int64_t lag_min_ns, lag_max_ns;
	uint64_t deadline_misses;
	const char *cgroup;		/* borrowed from the host snapshot; NULL unknown */
	int tgid;
};

struct an_cpu {
	bool observed, known;		/* known: @pid runs here since @since_ns */
	int32_t pid;
	uint32_t row;			/* of @pid, AN_NO_ROW for idle */
	uint64_t since_ns;
	uint64_t gap_end_ns;		/* end of the last loss gap; 0 none */
	uint64_t busy_ns, idle_ns, switches, wakeups, migrations_in, migrations_out;
};

/*
 * Somebody who looks on while events are taken: told of every event in the order in which it is taken (wakeups may have been held
 * back), before it acts, and of every wait as it ends. A negative return stops the analysis.
 */
struct an_observer {
	void *ctx;
	int (*event)(void *ctx, const struct resched_event *ev);	/* may be NULL, as all of these */
	int (*after)(void *ctx, const struct resched_event *ev);	/* when it has acted; not after the window is over */
	/* @resolved: a sample of the report; else it touches a gap. Waits outside the window or not selected by cpu are not told. */
	int (*wait)(void *ctx, const struct an_task *t, unsigned int cpu, uint64_t now, bool resolved);
	void (*lag)(void *ctx, int pid, int64_t lag_ns, int deadline_missed);
};
#define AN_MAX_OBSERVERS 4u

enum an_source { AN_SOURCE_UNDECIDED = 0, AN_SOURCE_WAKING, AN_SOURCE_WAKEUP };

struct resched_analysis {
	struct resched_analysis_options opts;	/* texts copied, see new() */
	struct rs_cpuset *cpus;			/* selected; NULL = all */
	struct rs_map by_pid;			/* pid -> newest row of that pid */
	struct an_task *tasks;
	uint32_t nr_tasks, cap_tasks;
	struct an_cpu *cpu;
	uint32_t nr_cpus;

	enum an_source source;
	struct resched_event *held;		/* events whose meaning waits for the source to be known */
	uint32_t nr_held, cap_held, held_wakeups;

	uint64_t from_ns, to_ns;		/* to_ns UINT64_MAX = open */
	uint64_t first_ns, last_ns;
	uint64_t last_gap_ns;			/* end of the latest loss gap of any cpu */
	bool any, closed, wakeups_seen;
	bool over;				/* more than exact_limit samples came */
	uint64_t nr_samples, exact_limit;
	struct an_moves *moves;			/* NULL: not wanted */
	unsigned int nr_observers;
	struct an_observer observers[AN_MAX_OBSERVERS];
};

/* an_observe() - from the next event on. Return: 0; -ENOSPC when there are too many. */
int an_observe(struct resched_analysis *an, const struct an_observer *observer);
/* an_selected() - is a task one of those the options select, by the name it has now? Its cpus are not looked at. */
bool an_selected(const struct resched_analysis *an, const struct an_task *t);
/* an_name() - its name now, or ":PID" in @buf. */
const char *an_name(const struct resched_analysis *an, const struct an_task *t, char *buf, size_t size);

/* an_row() - row of the newest task with @pid, made when there is none; NULL: no memory. */
struct an_task *an_row(struct resched_analysis *an, int32_t pid);

/* an_take_held() - decide for the wakeups and take the events held back. Return: 0; -ENOMEM. */
int an_take_held(struct resched_analysis *an, enum an_source source);

/* For tests: another limit than RESCHED_EXACT_SAMPLES. */
void rs_analysis_set_exact_limit(struct resched_analysis *an, uint64_t limit);

/* rs_glob_match() - shell pattern; NULL or empty matches all, a NULL text nothing else. */
bool rs_glob_match(const char *glob, const char *text);

#endif
