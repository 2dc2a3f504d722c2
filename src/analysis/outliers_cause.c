// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the facts of a wait to one cause. The checks go from what certainly explains a wait to what only describes it; the first that
 * covers most of the wait wins.
 */
#include "analysis/outliers.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

#define LEN 32
#define MAX_RT_PRIO 100

static const struct { const char *code, *meaning; } causes[] = {
	{ "lost_events", "events were lost during the wait; it may have ended earlier" },
	{ "interrupts", "interrupt handlers and softirqs ran for most of the wait" },
	{ "throttled", "the cpu was idle and the task's cgroup has a quota: most likely it had used it up" },
	{ "idle_exit", "the cpu was idle all along: leaving idle, a late interrupt, or a host that did not run this virtual cpu" },
	{ "stop_ran", "the kernel's stop task moved tasks or held the cpu" },
	{ "rt_ran", "real-time tasks ran, which go before fair ones" },
	{ "higher_rt", "a real-time task waited for others of the same or a higher real-time priority" },
	{ "woke_on_busy_cpu", "it was queued on a busy cpu while another one it may use was idle" },
	{ "balanced_late", "another cpu became idle during the wait and did not take the task over in time" },
	{ "migrated", "it was moved between queues while it waited" },
	{ "kernel_thread", "a kernel thread ran for most of the wait" },
	{ "higher_weight", "a task of a lower nice value, and so of more weight, was preferred" },
	{ "tick_granularity", "the running task was only replaced when the timer tick came" },
	{ "long_slice", "one task kept the cpu for several ticks before it was preempted" },
	{ "not_preempted", "the running task was let run until it went to sleep by itself" },
	{ "shared_cpu", "several tasks took turns on the cpu" },
	{ "not_observed", "what ran on the cpu meanwhile was not recorded" },
};

int resched_outlier_cause(unsigned int idx, const char **ret_code, const char **ret_meaning)
{
	if (idx >= sizeof(causes) / sizeof(causes[0]))
		return 0;
	*ret_code = causes[idx].code;
	*ret_meaning = causes[idx].meaning;
	return 1;
}

bool ol_is_kthread(const struct resched_host *host, int pid, const char *comm)
{
	static const char *const prefixes[] = { "kworker/", "ksoftirqd/", "migration/", "rcu_", "kswapd", "jbd2/", "irq/", "cpuhp/" };
	const struct resched_host_task *known = host ? resched_host_task(host, pid) : NULL;

	if (known)
		return known->kthread;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (!strncmp(comm, prefixes[i], strlen(prefixes[i])))
			return true;
	}
	return false;
}

static const char *say(uint64_t ns, char buf[LEN])
{
	rs_time_format(ns, buf, LEN);
	return buf;
}

static void set(const struct ol_facts *f, const char *code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void set(const struct ol_facts *f, const char *code, const char *fmt, ...)
{
	va_list ap;

	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		if (!strcmp(causes[i].code, code))
			f->o->code = causes[i].code;
	}
	va_start(ap, fmt);
	vsnprintf(f->o->text, sizeof(f->o->text), fmt, ap);
	va_end(ap);
}

static bool most(const struct ol_facts *f, uint64_t ns)
{
	return ns * 2 > f->o->latency_ns;
}

static bool has_quota(const struct ol_facts *f)
{
	for (unsigned int i = 0; f->host && f->task->cgroup && i < f->host->nr_cgroups; i++) {
		const struct resched_host_cgroup *g = &f->host->cgroups[i];
		size_t len = strlen(g->path);

		if (g->quota_us && !strncmp(g->path, f->task->cgroup, len) && (f->task->cgroup[len] == '\0' || f->task->cgroup[len] == '/'))
			return true;
	}
	return false;
}

/* The longest of those that ran above the fair class. */
static const struct resched_blame *first_rt(const struct ol_facts *f)
{
	for (unsigned int i = 0; i < f->o->nr_blame; i++) {
		if (f->o->blame[i].prio < MAX_RT_PRIO)
			return &f->o->blame[i];
	}
	return NULL;
}

/* Nothing ran there, or nobody knows. */
static bool judge_idle(const struct ol_facts *f)
{
	const struct resched_outlier *o = f->o;
	char a[LEN], b[LEN];

	if (o->touches_gap) {
		set(f, "lost_events", "events of cpu %u were lost during this wait, so it may have ended earlier than shown; record with a larger "
		    "buffer (--buffer)", o->queued_cpu);
	} else if (most(f, f->irq_ns)) {
		set(f, "interrupts", "interrupts and softirqs had cpu %u for %s of the %s; look at which come there (/proc/interrupts) and move "
		    "them, or the task, to other cpus", o->queued_cpu, say(f->irq_ns, a), say(o->latency_ns, b));
	} else if (most(f, o->idle_ns) && has_quota(f)) {
		set(f, "throttled", "cpu %u was idle for %s of the %s and the cgroup %.64s has a quota: most likely throttled; raise cpu.max",
		    o->queued_cpu, say(o->idle_ns, a), say(o->latency_ns, b), f->task->cgroup);
	} else if (most(f, o->idle_ns)) {
		set(f, "idle_exit", "cpu %u was idle for %s of the %s: it left idle late, an interrupt came late, or the machine below did not run "
		    "it; look at idle states and steal time", o->queued_cpu, say(o->idle_ns, a), say(o->latency_ns, b));
	} else if (most(f, o->unknown_ns)) {
		set(f, "not_observed", "what cpu %u did during %s of the %s is not in the recording", o->queued_cpu, say(o->unknown_ns, a),
		    say(o->latency_ns, b));
	} else {
		return false;
	}
	return true;
}

/* Somebody of a class above ran. */
static bool judge_class(const struct ol_facts *f)
{
	const struct resched_outlier *o = f->o;
	const struct resched_blame *rt = first_rt(f);
	char a[LEN], b[LEN];

	if (o->prio >= 0 && o->prio < MAX_RT_PRIO && most(f, f->rt_ns) && rt) {
		set(f, "higher_rt", "%s (real-time priority %d) waited for %s (%d), which ran %s of the %s on cpu %u; compare their priorities",
		    o->comm, MAX_RT_PRIO - 1 - o->prio, rt->comm, MAX_RT_PRIO - 1 - rt->prio, say(rt->ns, a), say(o->latency_ns, b),
		    o->queued_cpu);
	} else if (most(f, f->stop_ns) && rt) {
		set(f, "stop_ran", "%s held cpu %u for %s of the %s; look for what moves tasks or stops cpus", rt->comm, o->queued_cpu,
		    say(f->stop_ns, a), say(o->latency_ns, b));
	} else if (most(f, f->rt_ns + f->stop_ns) && rt) {
		set(f, "rt_ran", "real-time tasks, first %s (priority %d), ran %s of the %s on cpu %u and go before every fair task; move them to "
		    "other cpus or give %s a real-time class", rt->comm, MAX_RT_PRIO - 1 - rt->prio, say(f->rt_ns, a),
		    say(o->latency_ns, b), o->queued_cpu, o->comm);
	} else {
		return false;
	}
	return true;
}

/* There was room elsewhere. */
static bool judge_place(const struct ol_facts *f)
{
	const struct resched_outlier *o = f->o;
	const char *busy = o->nr_blame ? o->blame[0].comm : "others";
	char a[LEN], b[LEN];

	if (o->kind != RESCHED_WAIT_PREEMPTED && o->idle_cpus && most(f, o->idle_elsewhere_ns)) {
		set(f, "woke_on_busy_cpu", "woke on cpu %u, busy with %s, while %u other cpu%s idle (cpu %u for %s of the %s)%s; look at "
		    "wake affinity and the domains ('resched topology')", o->queued_cpu, busy, o->idle_cpus, o->idle_cpus == 1 ? " was" : "s were",
		    f->idle_cpu, say(o->idle_elsewhere_ns, a), say(o->latency_ns, b), f->host ? "" : ", if its affinity allows them");
	} else if (most(f, o->idle_elsewhere_ns)) {
		set(f, "balanced_late", "cpu %u was idle for %s of the %s while the task waited behind %s on cpu %u: no balancing took it over%s",
		    f->idle_cpu, say(o->idle_elsewhere_ns, a), say(o->latency_ns, b), busy, o->queued_cpu,
		    f->host ? "" : ", if its affinity allows it");
	} else if (o->moves) {
		set(f, "migrated", "was moved %u time%s while it waited, from cpu %u to cpu %u where it ran; it joined each queue anew", o->moves,
		    o->moves == 1 ? "" : "s", o->queued_cpu, o->cpu);
	} else {
		return false;
	}
	return true;
}

/* One task had the cpu nearly alone. */
static void judge_single(const struct ol_facts *f, const struct ol_ran *top, const struct resched_blame *who)
{
	const struct resched_outlier *o = f->o;
	bool runnable = resched_state_runnable(f->left_state);
	char a[LEN], b[LEN];

	if (most(f, f->kthread_ns)) {
		set(f, "kernel_thread", "kernel thread %s ran %s of the %s on cpu %u; find out what queued its work", who->comm, say(who->ns, a),
		    say(o->latency_ns, b), o->queued_cpu);
	} else if (who->prio < o->prio) {
		set(f, "higher_weight", "%s (nice %d) has more weight than %s (nice %d) and ran %s of the %s on cpu %u; change the nice values or "
		    "the cgroup weights", who->comm, who->prio - 120, o->comm, o->prio - 120, say(who->ns, a), say(o->latency_ns, b),
		    o->queued_cpu);
	} else if (top->to_the_end && !runnable) {
		set(f, "not_preempted", "%s kept cpu %u for %s until it slept by itself; the policy did not let %s preempt it; a shorter slice or "
		    "a lower nice value for %s would", who->comm, o->queued_cpu, say(top->longest_ns, a), o->comm, o->comm);
	} else if (o->latency_ns <= 2 * f->tick_ns) {
		set(f, "tick_granularity", "%s ran on cpu %u until the timer tick ended its turn after %s; ticks are %s apart: a higher HZ or "
		    "HRTICK ends turns sooner", who->comm, o->queued_cpu, say(o->latency_ns, a), say(f->tick_ns, b));
	} else {
		set(f, "long_slice", "%s kept cpu %u for %s in one stretch; a shorter slice (base_slice_ns, min_granularity_ns) ends it sooner",
		    who->comm, o->queued_cpu, say(top->longest_ns, a));
	}
}

static void judge_fair(const struct ol_facts *f)
{
	const struct resched_outlier *o = f->o;
	const struct resched_blame *who = &o->blame[0];
	char a[LEN], b[LEN];

	if (!o->nr_blame) {
		set(f, "not_observed", "what cpu %u did during this wait is not in the recording", o->queued_cpu);
	} else if (who->ns * 5 >= o->latency_ns * 4 || most(f, f->kthread_ns) || (who->prio < o->prio && most(f, who->ns))) {
		judge_single(f, &f->ran[0], who);
	} else {
		set(f, "shared_cpu", "%u tasks took turns on cpu %u, %s the longest with %s of the %s; fewer tasks on this cpu or a shorter slice "
		    "would help", o->nr_tasks_ran, o->queued_cpu, who->comm, say(who->ns, a), say(o->latency_ns, b));
	}
}

void ol_judge(const struct ol_facts *f)
{
	if (!judge_idle(f) && !judge_class(f) && !judge_place(f))
		judge_fair(f);
}
