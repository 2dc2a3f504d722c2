// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state the kernel held when the recording began, where it carries a row of each task: then nothing has to be guessed, neither the lags
 * of sleepers nor where the groups stand.
 */
#include "replay/shadow.h"

#include <string.h>

bool rs_shadow_has_start(const struct rs_shadow *s)
{
	return s->log->nr_starts && s->opts.ops->restore;
}

static int32_t first_running(const struct rs_shadow *s, unsigned int cpu)
{
	uint32_t idx = rs_shadow_next_switch(s, &s->cpus[cpu]);

	return idx == RS_NO_EVENT ? 0 : s->log->events[idx].pid;
}

void rs_shadow_state_of_row(const struct rs_shadow *s, const struct resched_truth *row, bool running, struct rs_entity_state *ret)
{
	*ret = (struct rs_entity_state){
		.vruntime = row->vruntime,
		.deadline = row->deadline,
		.vlag = row->vlag,
		.slice_ns = row->slice_ns,
		.exec_start_ns = row->exec_start_ns,
		.weight = row->level ? row->weight : 0,
		.zero = row->z,
		.on = row->on_rq,
		.delayed = row->delayed,
		.rel = row->rel,
		.custom_slice = row->custom,
		.running = running && row->on_rq,
	};
	ret->exec_start_ns += s->cpus[row->cpu].clock_shift_ns;
}

static void take_load(const struct resched_truth_load *from, uint64_t shift_ns, struct rs_pelt *ret)
{
	*ret = (struct rs_pelt){
		.last_update = from->updated_ns ? from->updated_ns + shift_ns : 0,
		.load_sum = from->load_sum,
		.load_avg = from->load_avg,
		.runnable_sum = from->runnable_sum,
		.runnable_avg = from->runnable_avg,
		.util_sum = from->util_sum,
		.util_avg = from->util_avg,
		.period_contrib = from->period,
	};
}

/* Averages have a clock of their own, at a constant distance from the task clock. */
static void load_of_row(const struct rs_shadow *s, const struct resched_truth *row, struct rs_load_seen *ret)
{
	uint64_t task_shift = s->cpus[row->cpu].clock_shift_ns, shift = task_shift + row->clock_ns - row->clock_pelt_ns;

	take_load(&row->entity_load, shift, &ret->entity);
	take_load(&row->own_load, shift, &ret->own);
	ret->contrib = row->contrib;
	ret->published_ns = row->published_ns + task_shift;
	ret->total = row->total;
}

/* Does the entity of the group @key stand above who runs first on @c? */
static bool is_above(const struct rs_shadow *s, const struct rs_shadow_cpu *c, uint64_t key)
{
	const struct rs_shadow_log *log = s->log;

	for (uint32_t i = c->start_row; i != RS_NO_EVENT && i + 1 < log->nr_truths && log->truths[i + 1].level; i++) {
		if (log->truths[i + 1].group == key)
			return true;
	}
	return false;
}

/* How a row's values are taken: as the beginning; as more exact ones of the same timeline; as distances from the V there was. */
enum how { AT_START,
	   EXACTLY,
	   BY_DISTANCE };

/* The model's V has gone its own way since the beginning by what its clocks err. */
static void shift_state(const struct rs_shadow *s, const struct resched_truth *row, const struct rs_group *queue, enum how how,
			struct rs_entity_state *state)
{
	const struct rs_rq *rq = &s->cpus[row->cpu].rq;
	struct rs_rq_view view;
	uint64_t shift;

	state->again = how != AT_START;
	if (how != BY_DISTANCE)
		return;
	s->opts.ops->view_group_rq(rq, queue, &view);
	shift = view.avg_vruntime - resched_truth_v(row);
	state->vruntime += shift;
	if (!row->rel)
		state->deadline += shift;
	if (row->on_rq && (row->has & RESCHED_TRUTH_HAS_VPROT))
		state->vlag = (int64_t)((uint64_t)state->vlag + shift);
	state->zero = view.min_vruntime;
}

static void restore_group(struct rs_shadow *s, uint32_t idx, enum how how)
{
	const struct resched_truth *row = &s->log->truths[idx];
	struct rs_group *group = rs_shadow_group_of_key(s, row->group);
	struct rs_shadow_cpu *c = &s->cpus[row->cpu];
	struct rs_entity_state state;
	struct rs_load_seen load;

	if (!group)
		return;
	rs_shadow_state_of_row(s, row, how == AT_START && is_above(s, c, row->group), &state);
	shift_state(s, row, group->parent, how, &state);
	if (row->has & RESCHED_TRUTH_HAS_LOAD) {
		load_of_row(s, row, &load);
		state.load = &load;
	}
	s->opts.ops->restore(&c->rq, NULL, group, &state);
}

static void restore_task(struct rs_shadow *s, uint32_t idx, enum how how)
{
	bool again = how != AT_START;
	const struct resched_truth *row = &s->log->truths[idx];
	struct rs_shadow_task *t = again ? rs_shadow_find(s, row->pid) : rs_shadow_fair(s, row->pid, row->prio, row->cpu);
	struct rs_shadow_cpu *c;
	struct rs_entity_state state;
	struct rs_load_seen load;

	if (!t || (again && (!t->ready || t->cpu != row->cpu || t->incoming || t->fair.nice != row->prio - 120)))
		return;
	c = &s->cpus[t->cpu];
	t->fair.rq = &c->rq;
	t->sure = true;
	rs_shadow_state_of_row(s, row, !again && first_running(s, t->cpu) == t->pid, &state);
	shift_state(s, row, t->fair.group, how, &state);
	if (row->has & RESCHED_TRUTH_HAS_LOAD) {
		load_of_row(s, row, &load);
		state.load = &load;
	}
	s->opts.ops->restore(&c->rq, &t->fair, NULL, &state);
	if (again || !state.running)
		return;
	c->rq.clock_ns = c->charged_ns = state.exec_start_ns;
	c->rq.curr = &t->fair;
	c->curr = t;
	c->idle = false;
	t->ran_at_set_ns = t->ran_ns;
}

/*
 * How far the stamps are from each cpu's task clock: rows tell what it read when it was looked at last, so the least distance is the
 * nearest. Also where the clock of a cpu begins on which nothing runs, and the row of who runs there first.
 */
static void find_shifts(struct rs_shadow *s)
{
	const struct rs_shadow_log *log = s->log;

	for (unsigned int i = 0; i < s->nr_cpus; i++)
		s->cpus[i].start_row = RS_NO_EVENT;
	for (uint32_t i = 0; i < log->nr_truths; i++) {
		const struct resched_truth *row = &log->truths[i];
		uint64_t shift = log->truth_ns[i] - row->clock_ns;
		struct rs_shadow_cpu *c;

		if (row->row != RESCHED_TRUTH_START || row->cpu >= s->nr_cpus)
			continue;
		c = &s->cpus[row->cpu];
		if (c->start_row == RS_NO_EVENT && !row->level && row->pid == first_running(s, row->cpu))
			c->start_row = i;
		if (!(row->has & RESCHED_TRUTH_HAS_QUEUE))
			continue;
		if (!c->clock_shift_ns || (int64_t)(shift - c->clock_shift_ns) < 0)
			c->clock_shift_ns = shift;
		c->rq.clock_ns = log->truth_ns[i];
	}
}

void rs_shadow_start(struct rs_shadow *s)
{
	const struct rs_shadow_log *log = s->log;

	if (!rs_shadow_has_start(s))
		return;
	find_shifts(s);
	/* groups before what is in them; of several rows of one the last, which is as good as any */
	for (int level = 1; level >= 0; level--) {
		for (uint32_t i = 0; i < log->nr_truths && !s->error; i++) {
			const struct resched_truth *row = &log->truths[i];

			if (row->row != RESCHED_TRUTH_START || (row->level != 0) != level || row->cpu >= s->nr_cpus)
				continue;
			if (level)
				restore_group(s, i, AT_START);
			else
				restore_task(s, i, AT_START);
		}
	}
}

static void restore_rows(struct rs_shadow *s, uint32_t idx, enum how how)
{
	const struct rs_shadow_log *log = s->log;
	uint32_t end = idx + 1;

	while (end < log->nr_truths && log->truths[end].level > log->truths[end - 1].level)
		end++;
	while (end-- > idx) {
		if (log->truths[end].cpu >= s->nr_cpus)
			continue;
		if (log->truths[end].level)
			restore_group(s, end, how);
		else
			restore_task(s, end, how);
	}
}

void rs_shadow_start_again(struct rs_shadow *s, uint64_t ts_ns)
{
	const struct rs_shadow_log *log = s->log;

	if (!rs_shadow_has_start(s))
		return;
	for (; s->next_row < log->nr_truths && log->truth_ns[s->next_row] < ts_ns; s->next_row++) {
		if (log->truths[s->next_row].row != RESCHED_TRUTH_START)
			continue;
		if (log->truths[s->next_row].level)
			restore_group(s, s->next_row, EXACTLY);
		else
			restore_task(s, s->next_row, EXACTLY);
		for (unsigned int i = 0; i < s->nr_cpus; i++)
			s->cpus[i].blind_until_ns = log->truth_ns[s->next_row] + 1;
	}
}

/*
 * Where each event has rows: what the model errs since the last is measured (rs_shadow_compare()) and then made good, so an error is one of
 * the step since and does not become another decision's. Rows of a new task are from before the test that its coming causes.
 */
static void take_each(struct rs_shadow *s, const struct resched_event *e, const struct rs_truth_of *of)
{
	if (!s->opts.resync || (e->type != RESCHED_EV_SWITCH && e->type != RESCHED_EV_WAKEUP))
		return;
	if (of->prev != RS_NO_EVENT)
		restore_rows(s, of->prev, EXACTLY);
	if (of->next != RS_NO_EVENT)
		restore_rows(s, of->next, EXACTLY);
}

void rs_shadow_take_rows(struct rs_shadow *s, const struct resched_event *e)
{
	const struct rs_truth_of *of = s->log->truth_of ? &s->log->truth_of[s->at] : NULL;
	enum how how = s->cpus[e->cpu].rows_taken ? BY_DISTANCE : EXACTLY;

	if (!of || !rs_shadow_has_start(s))
		return;
	if (s->log->homes.each_charge) {
		take_each(s, e, of);
		return;
	}
	if (e->type != RESCHED_EV_SWITCH)
		return;
	if (of->prev != RS_NO_EVENT)
		restore_rows(s, of->prev, how);
	if (of->next != RS_NO_EVENT)
		restore_rows(s, of->next, how);
	s->cpus[e->cpu].rows_taken = true; /* at its first switch both have one */
}
