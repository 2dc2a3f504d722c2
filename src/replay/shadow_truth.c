// SPDX-License-Identifier: GPL-2.0-only
/* The state of a shadow against what the kernel itself held, where a recording carries that. */
#include "replay/shadow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t real_ns(int64_t virtual_ns, uint64_t weight)
{
	uint64_t magnitude = virtual_ns < 0 ? 0 - (uint64_t)virtual_ns : (uint64_t)virtual_ns;

	return (uint64_t)((unsigned __int128)magnitude * weight / 1024);
}

static bool make_room(struct rs_shadow_errors *x)
{
	uint64_t room = x->room ? x->room * 2 : 4096;
	uint64_t *lag, *deadline;

	if (x->nr_lag < x->room)
		return true;
	lag = realloc(x->lag, room * sizeof(*lag));
	if (lag)
		x->lag = lag;
	deadline = realloc(x->deadline, room * sizeof(*deadline));
	if (deadline)
		x->deadline = deadline;
	if (!lag || !deadline)
		return false;
	x->room = room;
	return true;
}

/* A queued entity against its row: by distances within the queue, which has no zero. */
static void compare_queued(struct rs_shadow *s, const struct rs_entity_view *v, const struct rs_rq_view *rq,
			   const struct resched_truth *row)
{
	struct resched_state_errors *state = &s->ret->state;
	uint64_t mean, true_mean, lag;
	int64_t true_vlag, deadline = 0;

	mean = v->deadline ? rq->avg_vruntime : rq->min_vruntime;
	true_mean = v->deadline ? resched_truth_v(row) : row->z;
	true_vlag = (int64_t)(true_mean - row->vruntime);
	if (!make_room(&s->errors)) {
		s->error = -ENOMEM;
		return;
	}
	lag = real_ns((int64_t)(mean - v->vruntime) - true_vlag, v->weight);
	s->errors.lag[s->errors.nr_lag++] = lag;
	if (v->deadline && (row->has & RESCHED_TRUTH_HAS_DEADLINE) && !row->rel) {
		deadline = (int64_t)(v->deadline - mean) - (int64_t)(row->deadline - true_mean);
		s->errors.deadline[s->errors.nr_deadline++] = real_ns(deadline, v->weight);
		state->eligible_samples++;
		state->eligible_agree += ((int64_t)(mean - v->vruntime) >= 0) == (true_vlag >= 0);
	}
	state->exact += !lag && !deadline && v->delayed == (row->delayed != 0);
	state->samples++;
}

/* The row of a task and those of the groups above it. */
static void compare_row(struct rs_shadow *s, int32_t pid, uint32_t idx)
{
	const struct resched_truth *row = idx == RS_NO_EVENT ? NULL : &s->log->truths[idx],
				   *end = s->log->truths + s->log->nr_truths;
	struct rs_shadow_task *t = row ? rs_shadow_find(s, pid) : NULL;
	const struct rs_policy_ops *ops = s->opts.ops;
	const struct rs_rq *rq;
	struct rs_group *group;
	struct rs_entity_view v;
	struct rs_rq_view queue;

	if (!t || !t->in_class || !t->fair.on_rq || !row->on_rq || !(row->has & RESCHED_TRUTH_HAS_QUEUE))
		return;
	if (s->groups.nr && row->cpu != t->cpu)
		return;
	rq = &s->cpus[t->cpu].rq;
	group = t->fair.group;
	ops->view_task(rq, &t->fair, &v);
	for (;; row++, group = group->parent) {
		if (group)
			ops->view_group_rq(rq, group, &queue);
		else
			ops->view_rq(rq, &queue);
		compare_queued(s, &v, &queue, row);
		if (row->row == RESCHED_TRUTH_RUNTIME) /* the groups above are charged before or after, as it happens */
			return;
		if (!group || !ops->view_group || row + 1 == end || row[1].level != row->level + 1 || !row[1].on_rq)
			return;
		ops->view_group(rq, group, &v);
	}
}

/* Since 6.17 update_curr() tells before it charges. */
static bool is_taken_before(const struct rs_shadow *s, const struct resched_event *e, uint32_t idx)
{
	return e->type == RESCHED_EV_WAKING ||
	       (e->type == RESCHED_EV_RUNTIME && idx != RS_NO_EVENT && (s->log->truths[idx].has & RESCHED_TRUTH_HAS_VPROT));
}

void rs_shadow_compare(struct rs_shadow *s, const struct resched_event *e, bool before)
{
	const struct rs_truth_of *of = s->log->truth_of ? &s->log->truth_of[s->at] : NULL;

	if (!of || before != is_taken_before(s, e, of->prev))
		return;
	compare_row(s, e->pid, of->prev);
	if (e->type == RESCHED_EV_SWITCH)
		compare_row(s, e->sw.next_pid, of->next);
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t rank(const uint64_t *sorted, uint64_t nr, uint64_t permille)
{
	uint64_t idx = (nr * permille + 999) / 1000;

	return sorted[idx ? idx - 1 : 0];
}

static void summarize(uint64_t *values, uint64_t nr, struct resched_dist *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (!nr)
		return;
	qsort(values, nr, sizeof(*values), compare_u64);
	for (uint64_t i = 0; i < nr; i++)
		ret->sum += values[i];
	ret->count = nr;
	ret->mean = (double)ret->sum / (double)nr;
	ret->min = values[0];
	ret->p50 = rank(values, nr, 500);
	ret->p90 = rank(values, nr, 900);
	ret->p99 = rank(values, nr, 990);
	ret->p999 = rank(values, nr, 999);
	ret->max = values[nr - 1];
}

void rs_shadow_errors_finish(struct rs_shadow *s)
{
	summarize(s->errors.lag, s->errors.nr_lag, &s->ret->state.lag_error_ns);
	summarize(s->errors.deadline, s->errors.nr_deadline, &s->ret->state.deadline_error_ns);
}

void rs_shadow_errors_release(struct rs_shadow_errors *errors)
{
	free(errors->lag);
	free(errors->deadline);
}

unsigned int rs_shadow_true_lags(const struct rs_shadow_log *log, struct rs_shadow_options *opts)
{
	struct rs_map seen = { 0 };

	for (uint32_t i = 0; i < log->nr && opts->nr_lags < RS_MAX_LAGS && log->truth_of; i++) {
		const struct resched_event *e = &log->events[i];
		uint32_t idx = log->truth_of[i].prev;
		int32_t pid = e->type == RESCHED_EV_FORK ? e->fork.child_pid : e->pid;

		if (e->type == RESCHED_EV_COMM || rs_map_get(&seen, (uint32_t)pid) != RS_MAP_NONE)
			continue;
		if (rs_map_set(&seen, (uint32_t)pid, 1) < 0)
			break;
		if (e->type == RESCHED_EV_WAKING && idx != RS_NO_EVENT && !log->truths[idx].on_rq)
			opts->lags[opts->nr_lags++] = (struct rs_shadow_lag){ pid,
									      log->truths[idx].vlag };
	}
	rs_map_release(&seen);
	return opts->nr_lags;
}
