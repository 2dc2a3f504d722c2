// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which group a task is in, where the recording carries rows of the kernel's own state: the snapshot knows nothing of sessions that begin
 * later, and no event tells of setsid().
 */
#include "replay/shadow.h"
#include "replay/workload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int add_home(struct rs_shadow_homes *homes, const struct rs_shadow_home *home)
{
	struct rs_shadow_home *grown;

	if (homes->nr == homes->room) {
		uint32_t room = homes->room ? homes->room * 2 : 64;

		grown = realloc(homes->entries, room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		homes->entries = grown;
		homes->room = room;
	}
	homes->entries[homes->nr++] = *home;
	return 0;
}

/* The key of the group a task is in; @idx: its row of level 0. */
static uint64_t key_of(const struct rs_shadow_log *log, uint32_t idx)
{
	const struct resched_truth *row = &log->truths[idx], *above = row + 1;

	return idx + 1 < log->nr_truths && above->level == 1 && above->pid == row->pid && above->row == row->row ? above->group : 0;
}

/* What was seen last of a pid. */
struct last_seen {
	struct rs_shadow_home home;
	uint32_t row_event; /* event of its last row; RS_NO_EVENT: none */
	uint32_t since; /* event since which a change may have been made: it got the cpu, or ran another program */
	int16_t prio; /* as the last event showed it; 0: none did */
};

struct finder {
	struct rs_shadow_log *log;
	struct rs_map seen; /* pid -> index of last[] */
	struct last_seen *last;
	uint32_t nr, room;
};

static struct last_seen *last_of(struct finder *f, int32_t pid)
{
	uint32_t at = rs_map_get(&f->seen, (uint32_t)pid);

	if (at != RS_MAP_NONE)
		return &f->last[at];
	if (f->nr == f->room) {
		uint32_t room = f->room ? f->room * 2 : 64;
		struct last_seen *grown = realloc(f->last, room * sizeof(*grown));

		if (!grown)
			return NULL;
		f->last = grown;
		f->room = room;
	}
	f->last[f->nr] = (struct last_seen){ .row_event = RS_NO_EVENT, .since = RS_NO_EVENT };
	if (rs_map_set(&f->seen, (uint32_t)pid, f->nr) < 0)
		return NULL;
	return &f->last[f->nr++];
}

static bool is_other(const struct rs_shadow_home *a, const struct rs_shadow_home *b)
{
	return a->key != b->key || a->prio != b->prio || a->policy != b->policy || a->slice_ns != b->slice_ns;
}

/* Row @idx belongs to @event. */
static int see(struct finder *f, uint32_t idx, uint32_t event)
{
	const struct resched_truth *row = &f->log->truths[idx];
	struct rs_shadow_homes *homes = &f->log->homes;
	struct last_seen *last = last_of(f, row->pid);
	struct rs_shadow_home now = {
		.pid = row->pid,
		.after = RS_NO_EVENT,
		.by_row = true,
		.prio = row->prio,
		.policy = (uint8_t)row->policy,
		.slice_ns = row->custom ? row->slice_ns : 0,
		.key = key_of(f->log, idx),
	};
	int rc = 0;

	if (!last)
		return -ENOMEM;
	if (last->row_event == RS_NO_EVENT && rs_map_get(&homes->first, (uint32_t)row->pid) == RS_MAP_NONE) {
		if (rs_map_set(&homes->first, (uint32_t)row->pid, homes->nr) < 0)
			return -ENOMEM;
		rc = add_home(homes, &now);
	} else if (is_other(&last->home, &now)) {
		now.after = homes->each_charge && last->row_event != RS_NO_EVENT ? last->row_event : last->since;
		rc = add_home(homes, &now);
	}
	last->home = now;
	last->row_event = event;
	last->prio = row->prio;
	return rc;
}

/* @pid is shown to have @prio at @event, which ends a stretch of it if @ends. */
static int see_prio(struct finder *f, int32_t pid, int prio, bool ends)
{
	struct last_seen *last = last_of(f, pid);
	struct rs_shadow_home now = { .pid = pid, .prio = (uint8_t)prio };
	int rc = 0;

	if (!last)
		return -ENOMEM;
	if (ends && last->prio && last->prio != prio && last->since != RS_NO_EVENT && rs_shadow_is_fair(pid, prio)) {
		now.after = last->since;
		rc = add_home(&f->log->homes, &now);
	}
	last->prio = (int16_t)prio;
	return rc;
}

static int follow(struct finder *f, uint32_t idx)
{
	const struct resched_event *e = &f->log->events[idx];
	struct last_seen *last;
	int rc = 0;

	switch (e->type) {
	case RESCHED_EV_SWITCH:
		rc = see_prio(f, e->pid, e->sw.prev_prio, true);
		if (rc == 0)
			rc = see_prio(f, e->sw.next_pid, e->sw.next_prio, false);
		break;
	case RESCHED_EV_WAKING:
	case RESCHED_EV_WAKEUP:
	case RESCHED_EV_WAKEUP_NEW:
		return see_prio(f, e->pid, e->wake.prio, false);
	case RESCHED_EV_COMM:
		if (!e->comm.renamed)
			return 0;
		break;
	default:
		return 0;
	}
	last = last_of(f, e->type == RESCHED_EV_SWITCH ? e->sw.next_pid : e->pid);
	if (!last)
		return -ENOMEM;
	last->since = idx;
	return rc;
}

static int compare_homes(const void *a, const void *b)
{
	const struct rs_shadow_home *x = a, *y = b;

	if (x->after != y->after)
		return x->after < y->after ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return y->by_row - x->by_row;
}

static int sort_homes(struct rs_shadow_homes *homes)
{
	if (!homes->nr)
		return 0;
	qsort(homes->entries, homes->nr, sizeof(*homes->entries), compare_homes);
	for (uint32_t i = homes->nr; i-- > 0;) {
		if (homes->entries[i].after == RS_NO_EVENT && rs_map_set(&homes->first, (uint32_t)homes->entries[i].pid, i) < 0)
			return -ENOMEM;
	}
	return 0;
}

int rs_shadow_find_homes(struct rs_shadow_log *log)
{
	struct finder f = { .log = log };
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < log->nr_truths; i++) {
		log->homes.each_charge |= log->truths[i].row == RESCHED_TRUTH_RUNTIME;
		if (!log->truths[i].level && log->truths[i].row == RESCHED_TRUTH_START)
			rc = see(&f, i, RS_NO_EVENT);
	}
	for (uint32_t i = 0; rc == 0 && i < log->nr; i++) {
		const struct rs_truth_of *of = log->truth_of ? &log->truth_of[i] : NULL;

		if (of && of->prev != RS_NO_EVENT)
			rc = see(&f, of->prev, i);
		if (rc == 0)
			rc = follow(&f, i);
		if (rc == 0 && of && of->next != RS_NO_EVENT)
			rc = see(&f, of->next, i);
	}
	rs_map_release(&f.seen);
	free(f.last);
	return rc < 0 ? rc : sort_homes(&log->homes);
}

/* ---- keys ---- */

static struct rs_shadow_key *find_key(const struct rs_shadow_homes *homes, uint64_t key)
{
	for (uint32_t i = 0; i < homes->nr_keys; i++) {
		if (homes->keys[i].key == key)
			return &homes->keys[i];
	}
	return NULL;
}

static int add_key(struct rs_shadow_homes *homes, uint64_t key, uint32_t group)
{
	struct rs_shadow_key *grown;

	if (homes->nr_keys == homes->key_room) {
		uint32_t room = homes->key_room ? homes->key_room * 2 : 16;

		grown = realloc(homes->keys, room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		homes->keys = grown;
		homes->key_room = room;
	}
	homes->keys[homes->nr_keys++] = (struct rs_shadow_key){ key, group };
	return 0;
}

/* A cgroup is known by its number alone: it is that of a task which the snapshot puts there. */
static int learn_cgroups(struct rs_shadow_homes *homes, const struct resched_workload *workload, const struct rs_group_plan *plan)
{
	for (uint32_t i = 0; i < workload->nr_tasks; i++) {
		uint32_t home = rs_map_get(&homes->first, (uint32_t)workload->tasks[i].pid);
		uint64_t key = home == RS_MAP_NONE ? 0 : homes->entries[home].key;

		if (workload->tasks[i].birth_nr || !key || (key & RESCHED_TRUTH_AUTOGROUP) || find_key(homes, key))
			continue;
		if (add_key(homes, key, plan->of_task[i]) < 0)
			return -ENOMEM;
	}
	return 0;
}

int rs_shadow_plan_homes(struct rs_shadow_log *log, const struct resched_workload *workload, struct rs_group_plan *plan)
{
	struct rs_shadow_homes *homes = &log->homes;

	if (learn_cgroups(homes, workload, plan) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < homes->nr; i++) {
		uint64_t key = homes->entries[i].key;
		int64_t group = RS_NO_GROUP;

		if (!key || !homes->entries[i].by_row || find_key(homes, key))
			continue;
		if (key & RESCHED_TRUTH_AUTOGROUP)
			group = rs_group_plan_session(plan, (unsigned int)(key & ~RESCHED_TRUTH_AUTOGROUP), 0);
		if (group < 0 || add_key(homes, key, (uint32_t)group) < 0)
			return -ENOMEM;
	}
	return 0;
}

struct rs_group *rs_shadow_group_of_key(const struct rs_shadow *s, uint64_t key)
{
	const struct rs_shadow_key *found = key ? find_key(&s->log->homes, key) : NULL;

	return found && found->group < s->groups.nr ? &s->groups.groups[found->group] : NULL;
}

/* ---- along the way ---- */

/* What the snapshot tells of a task is known better than when an event shows it. */
static void take_home(struct rs_shadow *s, struct rs_shadow_task *t, const struct rs_shadow_home *home)
{
	struct rs_group *group = rs_shadow_group_of_key(s, home->key);
	int nice = home->prio - 120;

	if (!t->ready || !rs_shadow_is_fair(t->pid, home->prio))
		return;
	if (!home->by_row) {
		if (!t->known && t->in_class && t->fair.nice != nice)
			rs_shadow_ask(s, t, nice, t->fair.policy, t->fair.custom_slice_ns);
		return;
	}
	if (rs_shadow_by_stamps(s) && s->cpus[t->cpu].curr == t)
		rs_shadow_account(s, &s->cpus[t->cpu], s->log->events[s->at].ts_ns);
	if (t->fair.group != group)
		rs_shadow_move(s, t, group);
	if (home->policy != RS_SCHED_NORMAL && home->policy != RS_SCHED_BATCH && home->policy != RS_SCHED_IDLE)
		return;
	if (t->fair.nice != nice || t->fair.policy != home->policy || t->fair.custom_slice_ns != home->slice_ns)
		rs_shadow_ask(s, t, nice, (enum rs_sched_policy)home->policy, home->slice_ns);
}

void rs_shadow_move_homes(struct rs_shadow *s)
{
	const struct rs_shadow_homes *homes = &s->log->homes;

	for (; s->next_home < homes->nr && homes->entries[s->next_home].after <= s->at; s->next_home++) {
		const struct rs_shadow_home *home = &homes->entries[s->next_home];
		struct rs_shadow_task *t = rs_shadow_find(s, home->pid);

		if (home->after == s->at && t)
			take_home(s, t, home);
	}
}

void rs_shadow_homes_release(struct rs_shadow_homes *homes)
{
	free(homes->entries);
	free(homes->keys);
	rs_map_release(&homes->first);
	memset(homes, 0, sizeof(*homes));
}
