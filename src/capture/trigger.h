/* SPDX-License-Identifier: GPL-2.0-only */
/* The rules of triggers: trigger_rule.c reads and judges them, trigger.c pairs waits. */
#ifndef RS_CAPTURE_TRIGGER_H
#define RS_CAPTURE_TRIGGER_H

#include <stdbool.h>

#include <resched/trigger.h>

enum rs_rule_what { RS_RULE_RUN_DELAY, RS_RULE_WAKEUP_LATENCY, RS_RULE_PREEMPTED_WAIT, RS_RULE_EXEC, RS_RULE_PSI_CPU, RS_RULE_NR };

struct rs_rule {
	enum rs_rule_what what;
	char *words;			/* the text, cut into words; comm and cgroup point into it */
	const char *comm, *cgroup;	/* globs; NULL: any */
	int pid;			/* 0: any */
	uint64_t over_ns, window_ns;
	int psi_fd;			/* -1: none */
};

/* rs_rule_parse() - @ret: to rs_rule_release(), whatever is returned. Return: 0; -EINVAL (USAGE); -errno of opening psi; -ENOMEM. */
int rs_rule_parse(struct rs_rule *ret, const char *text, struct resched_error *err);
/* rs_rule_is_about() - does it want this task? @comm: its name. Asks /proc for its cgroup, so that times are to be judged before. */
bool rs_rule_is_about(const struct rs_rule *rule, int pid, const char *comm);
const char *rs_rule_name(enum rs_rule_what what);
void rs_rule_release(struct rs_rule *rule);

#endif
