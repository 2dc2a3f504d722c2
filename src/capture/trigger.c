// SPDX-License-Identifier: GPL-2.0-only
#include "capture/trigger.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <resched/waits.h>

#include "base/error.h"
#include "base/units.h"

struct resched_trigger {
	unsigned int nr_rules;		struct rs_rule *rules;
	uint64_t least_ns;		/* shorter waits interest nobody */
	struct resched_waits *waits;
	bool fired;
	struct resched_trigger_hit hit;
};

static void judge(void *trigger, const struct resched_waited *wait);

int resched_trigger_new(unsigned int nr_rules, const char *const *rules, const struct resched_names *names, struct resched_trigger **ret,
			struct resched_error *err)
{
	struct resched_trigger *t = calloc(1, sizeof(*t));
	int rc = 0;

	if (t)
		t->rules = calloc(nr_rules ? nr_rules : 1, sizeof(*t->rules));
	if (!t || !t->rules || resched_waits_new(0, judge, t, &t->waits) < 0) {
		resched_trigger_free(t);
		return rs_error_nomem(err);
	}
	resched_waits_begin(t->waits, names);
	t->least_ns = UINT64_MAX;
	while (t->nr_rules < nr_rules && rc == 0) {
		struct rs_rule *rule = &t->rules[t->nr_rules];

		rc = rs_rule_parse(rule, rules[t->nr_rules++], err);
		if (rc == 0 && rule->what <= RS_RULE_PREEMPTED_WAIT && rule->over_ns < t->least_ns)
			t->least_ns = rule->over_ns;
	}
	if (rc < 0) {
		resched_trigger_free(t);
		return rc;
	}
	*ret = t;
	return 0;
}

static void fire(struct resched_trigger *t, const struct rs_rule *rule, const struct resched_waited *about)
{
	struct resched_trigger_hit *hit = &t->hit;
	char time[24];

	*hit = (struct resched_trigger_hit){ .rule = (unsigned int)(rule - t->rules), .from_ns = about->from_ns, .at_ns = about->at_ns,
					     .pid = about->pid, .cpu = about->cpu };
	rs_time_format(about->at_ns - about->from_ns, time, sizeof(time));
	if (rule->what == RS_RULE_EXEC)
		snprintf(hit->text, sizeof(hit->text), "exec: %s[%d] on cpu %u", about->comm, about->pid, about->cpu);
	else
		snprintf(hit->text, sizeof(hit->text), "%s %s: %s[%d] on cpu %u", rs_rule_name(rule->what), time, about->comm, about->pid, about->cpu);
	t->fired = true;
}

static bool counts(enum rs_rule_what what, enum resched_wait_kind kind)
{
	return what == RS_RULE_RUN_DELAY || (what == RS_RULE_WAKEUP_LATENCY && kind == RESCHED_WAIT_WAKE) ||
	       (what == RS_RULE_PREEMPTED_WAIT && kind == RESCHED_WAIT_PREEMPTED);
}

static void judge(void *trigger, const struct resched_waited *wait)
{
	struct resched_trigger *t = trigger;
	uint64_t waited = wait->at_ns - wait->from_ns;

	if (t->fired || waited <= t->least_ns)
		return;
	for (unsigned int i = 0; i < t->nr_rules; i++) {
		const struct rs_rule *rule = &t->rules[i];

		if (!counts(rule->what, wait->kind) || waited <= rule->over_ns || !rs_rule_is_about(rule, wait->pid, wait->comm))
			continue;
		fire(t, rule, wait);
		return;
	}
}

static void started(struct resched_trigger *t, const struct resched_event *ev)
{
	const struct resched_waited now = { .pid = ev->pid, .cpu = ev->cpu, .from_ns = ev->ts_ns, .at_ns = ev->ts_ns,
					  .comm = resched_waits_comm(t->waits, ev->pid) };

	for (unsigned int i = 0; i < t->nr_rules && !t->fired; i++) {
		if (t->rules[i].what == RS_RULE_EXEC && rs_rule_is_about(&t->rules[i], ev->pid, now.comm))
			fire(t, &t->rules[i], &now);
	}
}

int resched_trigger_event(void *trigger, const struct resched_event *ev)
{
	struct resched_trigger *t = trigger;

	if (ev->type == RESCHED_EV_EXEC)
		started(t, ev);
	return resched_waits_event(t->waits, ev);
}

void resched_trigger_forget_names(struct resched_trigger *t)
{
	resched_waits_forget_names(t->waits);
}

void resched_trigger_look(struct resched_trigger *t, uint64_t now_ns)
{
	for (unsigned int i = 0; i < t->nr_rules; i++) {
		const struct rs_rule *rule = &t->rules[i];
		struct pollfd fd = { .fd = rule->psi_fd, .events = POLLPRI };
		char over[24], window[24];

		/* asked even when another rule held: it is told once */
		if (rule->psi_fd < 0 || poll(&fd, 1, 0) <= 0 || !(fd.revents & POLLPRI) || t->fired)
			continue;
		rs_time_format(rule->over_ns, over, sizeof(over));
		rs_time_format(rule->window_ns, window, sizeof(window));
		t->hit = (struct resched_trigger_hit){ .rule = i, .from_ns = now_ns > rule->window_ns ? now_ns - rule->window_ns : 0, .at_ns = now_ns };
		snprintf(t->hit.text, sizeof(t->hit.text), "psi_cpu: tasks waited more than %s of %s", over, window);
		t->fired = true;
	}
}

int resched_trigger_take(struct resched_trigger *t, struct resched_trigger_hit *ret)
{
	if (!t->fired)
		return 0;
	t->fired = false;
	*ret = t->hit;
	return 1;
}

void resched_trigger_free(struct resched_trigger *t)
{
	if (!t)
		return;
	for (unsigned int i = 0; i < t->nr_rules; i++)
		rs_rule_release(&t->rules[i]);
	resched_waits_free(t->waits);
	free(t->rules);
	free(t);
}
