// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/triggers.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <resched/trigger.h>
#include <resched/units.h>

#define USUAL_SHARE 0.2		/* of the newest window in what is usual */

const char *trigger_kind_name(uint64_t kind)
{
	static const char *const names[] = { "threshold", "jump", "slo", "psi" };

	return names[kind];
}

static const char *what_name(const struct config_trigger *c)
{
	return c->what == WATCH_RUN_DELAY ? "run delay" : "wakeup latency";
}

/* Fires unless it did so lately; what is suppressed is counted. */
static void fire(struct trigger *t, struct firing *firing)
{
	uint64_t now = loop_now_ns();

	if (now < t->quiet_until_ns) {
		t->suppressed++;
		return;
	}
	t->quiet_until_ns = now + t->config->cooldown_ns;
	t->fired++;
	firing->trigger = t->config;
	t->all->fire(t->all->ctx, firing);
}

static void fire_threshold(struct trigger *t, const struct wait *wait)
{
	struct firing f = { .at_ns = wait->end_ns, .pid = wait->pid, .value_ns = wait->ns };
	char took[24], limit[24];

	resched_time_format(wait->ns, took, sizeof(took));
	resched_time_format(t->config->over_ns, limit, sizeof(limit));
	snprintf(f.comm, sizeof(f.comm), "%s", wait->comm);
	snprintf(f.cgroup, sizeof(f.cgroup), "%s", wait->cgroup);
	snprintf(f.text, sizeof(f.text), "%s of %s (pid %d, cgroup %.120s) was %s, over %s", what_name(t->config), wait->comm, wait->pid,
		 wait->cgroup, took, limit);
	fire(t, &f);
}

static void close_jump(struct trigger *t, struct firing *f)
{
	uint64_t now = hist_quantile(&t->window, t->config->quantile);
	char is[24], was[24];

	if (t->window.count < t->config->least)
		return;
	if (t->usual_ns > 0 && (double)now > t->usual_ns * t->config->factor) {
		resched_time_format(now, is, sizeof(is));
		resched_time_format((uint64_t)t->usual_ns, was, sizeof(was));
		f->value_ns = now;
		snprintf(f->text, sizeof(f->text), "quantile %g of %s went from %s to %s", t->config->quantile, what_name(t->config), was, is);
		fire(t, f);
	}
	t->usual_ns = t->usual_ns > 0 ? t->usual_ns * (1 - USUAL_SHARE) + (double)now * USUAL_SHARE : (double)now;
}

static void close_slo(struct trigger *t, struct firing *f)
{
	uint64_t all = t->good + t->bad;
	double burn = all ? (double)t->bad / (double)all / (1 - t->config->objective) : 0;
	char limit[24];

	if (all < t->config->least || burn < t->config->burn)
		return;
	resched_time_format(t->config->over_ns, limit, sizeof(limit));
	f->value_ns = t->worst_ns;
	snprintf(f->text, sizeof(f->text), "%llu of %llu waits were over %s: %s burns %.1f times what the objective of %g allows",
		 (unsigned long long)t->bad, (unsigned long long)all, limit, what_name(t->config), burn, t->config->objective);
	fire(t, f);
}

static void close_window(struct trigger *t)
{
	struct firing f = { .at_ns = t->worst_at_ns };

	snprintf(f.cgroup, sizeof(f.cgroup), "%s", t->config->cgroup);
	if (t->config->kind == TRIGGER_JUMP)
		close_jump(t, &f);
	else
		close_slo(t, &f);
	hist_clear(&t->window);
	t->good = t->bad = t->worst_ns = t->worst_at_ns = t->window_began_ns = 0;
}

static void add_to_window(struct trigger *t, const struct wait *wait)
{
	if (t->window_began_ns && wait->end_ns - t->window_began_ns > t->config->window_ns)
		close_window(t);
	if (!t->window_began_ns)
		t->window_began_ns = wait->end_ns;
	t->window_last_ns = wait->end_ns;
	if (wait->ns > t->worst_ns) {
		t->worst_ns = wait->ns;
		t->worst_at_ns = wait->end_ns;
	}
	if (t->config->kind == TRIGGER_JUMP)
		hist_add(&t->window, wait->ns);
	else if (wait->ns > t->config->over_ns)
		t->bad++;
	else
		t->good++;
}

static bool is_about(const struct config_trigger *c, const struct wait *wait)
{
	if (c->what == WATCH_WAKEUP_LATENCY && !wait->is_wake)
		return false;
	if (*c->cgroup && fnmatch(c->cgroup, wait->cgroup, 0) != 0)
		return false;
	return c->kind != TRIGGER_THRESHOLD || !*c->comm || fnmatch(c->comm, wait->comm, 0) == 0;
}

void triggers_wait(struct triggers *all, const struct wait *wait)
{
	for (unsigned int i = 0; i < all->nr; i++) {
		struct trigger *t = &all->items[i];
		bool is_threshold = t->config->kind == TRIGGER_THRESHOLD;

		if (t->config->kind == TRIGGER_PSI || (is_threshold && wait->ns <= t->config->over_ns) || !is_about(t->config, wait))
			continue;
		if (is_threshold)
			fire_threshold(t, wait);
		else
			add_to_window(t, wait);
	}
}

void triggers_look(struct triggers *all)
{
	uint64_t now = all->clock();

	for (unsigned int i = 0; i < all->nr; i++) {
		struct trigger *t = &all->items[i];

		if (t->window_began_ns && now > t->window_began_ns && now - t->window_began_ns > t->config->window_ns)
			close_window(t);
	}
}

static void close_psi(struct triggers *all, struct trigger *t)
{
	if (t->psi.fd < 0)
		return;
	loop_remove(all->loop, &t->psi);
	close(t->psi.fd);
	t->psi.fd = -1;
}

static void on_pressure(void *ctx, uint32_t events)
{
	static const char *const names[] = { "cpu", "memory", "io" };
	struct trigger *t = ctx;
	struct firing f = { .at_ns = t->all->clock(), .value_ns = t->config->over_ns };
	char stall[24], window[24];

	if (events & EPOLLERR) {	/* the cgroup is gone */
		log_line(t->all->log, LOG_WARN, "trigger %s: the kernel tells of no pressure any more", t->config->name);
		close_psi(t->all, t);
		return;
	}
	resched_time_format(t->config->over_ns, stall, sizeof(stall));
	resched_time_format(t->config->window_ns, window, sizeof(window));
	snprintf(f.cgroup, sizeof(f.cgroup), "%s", t->config->cgroup);
	snprintf(f.text, sizeof(f.text), "tasks were stalled on %s for %s of %s", names[t->config->resource], stall, window);
	fire(t, &f);
}

static void open_psi(struct triggers *all, struct trigger *t)
{
	const struct config_trigger *c = t->config;
	struct resched_error err = { 0 };
	int fd = resched_psi_open((enum resched_psi)c->resource, *c->cgroup ? c->cgroup : NULL, c->over_ns, c->window_ns, &err);

	if (fd < 0) {
		log_line(all->log, LOG_WARN, "trigger %s: no pressure information: %s", c->name, err.text);
		return;
	}
	t->psi = (struct loop_fd){ .fd = fd, .ready = on_pressure, .ctx = t };
	if (loop_add(all->loop, &t->psi, EPOLLPRI) < 0)
		close_psi(all, t);
}

void triggers_set(struct triggers *all, const struct config *config)
{
	struct trigger old[CONFIG_MAX_TRIGGERS];
	char names[CONFIG_MAX_TRIGGERS][32];
	unsigned int nr = all->nr;

	for (unsigned int i = 0; i < nr; i++) {
		close_psi(all, &all->items[i]);
		old[i] = all->items[i];
		snprintf(names[i], sizeof(names[i]), "%s", old[i].config->name);
	}
	all->nr = config->nr_triggers;
	for (unsigned int i = 0; i < all->nr; i++) {
		struct trigger *t = &all->items[i];

		*t = (struct trigger){ .config = &config->triggers[i], .psi = { .fd = -1 }, .all = all };
		for (unsigned int k = 0; k < nr; k++) {
			if (strcmp(names[k], t->config->name) != 0)
				continue;
			t->fired = old[k].fired;
			t->suppressed = old[k].suppressed;
		}
		if (t->config->kind == TRIGGER_PSI)
			open_psi(all, t);
	}
}

void triggers_release(struct triggers *all)
{
	for (unsigned int i = 0; i < all->nr; i++)
		close_psi(all, &all->items[i]);
	all->nr = 0;
}
