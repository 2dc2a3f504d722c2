/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What to look for while a flight recorder runs: rules, given as texts, over its events.
 *
 *   run_delay [comm=GLOB] [cgroup=GLOB] [pid=N] > TIME        a task waited longer for a cpu, woken or preempted
 *   wakeup_latency ... > TIME                                 of these, from its wakeup on
 *   preempted_wait ... > TIME                                 of these, since it was preempted
 *   exec [comm=GLOB] [cgroup=GLOB] [pid=N]                    a program was started
 *   psi_cpu > TIME[/WINDOW]                                   tasks waited for a cpu for TIME of WINDOW (2s; 500ms to 10s)
 *
 * Waits are those of resched/waits.h. Plain texts, the first rule that holds is
 * told. Memory grows with the tasks alive. One thread.
 */
#ifndef RESCHED_TRIGGER_H
#define RESCHED_TRIGGER_H

#include <stdint.h>
#include <resched/error.h>
#include <resched/event.h>
#include <resched/names.h>

#ifdef __cplusplus
extern "C" {
#endif

struct resched_trigger;

struct resched_trigger_hit {
	unsigned int rule;	/* index of the rule */
	uint64_t from_ns, at_ns;	/* what it is about: when the wait began and ended; the same instant for exec */
	int pid;		/* 0: of none (psi_cpu) */
	unsigned int cpu;
	char text[160];		/* one line for a person: "run_delay 7.21 ms: nginx[812] on cpu 3" */
};

/*
 * resched_trigger_new() - @names: of the events; borrowed until the end. Rules are copied.
 * Return: 0; -EINVAL (USAGE: a rule that cannot be read); -EACCES, -ENOENT ... (psi_cpu is not to be had: @err says why); -ENOMEM.
 */
int resched_trigger_new(unsigned int nr_rules, const char *const *rules, const struct resched_names *names, struct resched_trigger **ret,
			struct resched_error *err);

/* resched_trigger_event() - take the next event; a void pointer so that this is a resched_event_fn. Return: 0; -ENOMEM. */
int resched_trigger_event(void *trigger, const struct resched_event *event);

/* resched_trigger_look() - ask the kernel about pressure, if a rule wants it. @now_ns: present time on the clock of the events. */
void resched_trigger_look(struct resched_trigger *trigger, uint64_t now_ns);

/* resched_trigger_take() - what held first since the last call; later ones until now are forgotten. Return: 1; 0: none. */
int resched_trigger_take(struct resched_trigger *trigger, struct resched_trigger_hit *ret);

/* resched_trigger_forget_names() - as after resched_flight_renew_names(). */
void resched_trigger_forget_names(struct resched_trigger *trigger);

void resched_trigger_free(struct resched_trigger *trigger);

enum resched_psi { RESCHED_PSI_CPU = 0, RESCHED_PSI_MEMORY, RESCHED_PSI_IO };

/*
 * resched_psi_open() - have the kernel tell when some tasks were stalled for @stall_ns of a window.
 * @cgroup: path of one in the unified hierarchy; NULL: the whole machine
 * Return: a descriptor that polls POLLPRI then, and POLLERR once the cgroup is gone; the caller's to close. -EACCES, -ENOENT ... (@err
 * says why).
 */
int resched_psi_open(enum resched_psi what, const char *cgroup, uint64_t stall_ns, uint64_t window_ns, struct resched_error *err);

#ifdef __cplusplus
}
#endif
#endif
