// SPDX-License-Identifier: GPL-2.0-only
#include "replay/engine.h"
#include "replay/explainer.h"

#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one queue, whatever drove it ---- */

struct queue {
	const struct rs_policy_ops *ops;
	struct rs_rq *rq;
	const char *(*comm_of)(const void *ctx, const struct rs_task *t);
	int (*pid_of)(const struct rs_task *t);
	const void *ctx;
};

static void put_comm(char *to, const char *comm)
{
	snprintf(to, RESCHED_COMM_LEN, "%s", comm);
}

static int add_task(struct resched_explanation *x, const struct queue *q, const struct rs_task *t)
{
	struct resched_queued_task *grown = realloc(x->tasks, (x->nr_tasks + 1u) * sizeof(*grown)),
				   *row;
	struct rs_entity_view v;

	if (!grown)
		return -ENOMEM;
	x->tasks = grown;
	q->ops->view_task(q->rq, t, &v);
	row = &x->tasks[x->nr_tasks++];
	*row = (struct resched_queued_task){
		.pid = q->pid_of(t),
		.nice = t->nice,
		.weight = v.weight,
		.vruntime = v.vruntime,
		.deadline = v.deadline,
		.avg_vruntime = v.vruntime + (uint64_t)v.vlag,
		.in_group = t->group != NULL,
		.lag_ns = v.lag_ns,
		.slice_ns = v.slice_ns,
		.used_ns = v.used_ns,
		.running = v.running,
		.eligible = v.eligible,
		.delayed = v.delayed,
	};
	put_comm(row->comm, q->comm_of(q->ctx, t));
	if (v.deadline)
		row->left_ns = (int64_t)((__int128)(int64_t)(v.deadline - v.vruntime) *
					 (int64_t)v.weight / 1024);
	else
		row->left_ns = (int64_t)(v.slice_ns - v.used_ns);
	return 0;
}

static int compare_rows(const void *a, const void *b)
{
	const struct resched_queued_task *x = a, *y = b;
	/* Tasks of different groups have no virtual time in common but the distance from their V. */
	int64_t by = x->deadline ? (int64_t)((x->deadline - x->avg_vruntime) - (y->deadline - y->avg_vruntime))
				 : (int64_t)((x->vruntime - x->avg_vruntime) - (y->vruntime - y->avg_vruntime));

	if (by)
		return by < 0 ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static void tell_why(struct resched_explanation *x, const char *rule)
{
	unsigned int live = 0, eligible = 0;
	const char *now = x->running_pid ? x->running_comm : "nobody";

	for (unsigned int i = 0; i < x->nr_tasks; i++) {
		live += !x->tasks[i].delayed;
		eligible += x->tasks[i].eligible != 0;
	}
	if (!x->nr_tasks)
		snprintf(x->why, sizeof(x->why), "No fair task is queued; %s runs.",
			 x->running_pid ? now : "the cpu is idle and nobody");
	else if (!x->pick_pid)
		snprintf(x->why, sizeof(x->why),
			 "A pick now leaves the cpu idle: only sleeping tasks are still queued.");
	else
		snprintf(x->why, sizeof(x->why),
			 "Of %u runnable task%s, %u entit%s eligible; a pick now gives %s:%d, because "
			 "%s. %s%s.",
			 live, live == 1 ? "" : "s", eligible, eligible == 1 ? "y is" : "ies are",
			 x->pick_comm, x->pick_pid, rule,
			 x->need_resched ? "A switch has been asked for; still running: "
					 : "No switch has been asked for; running: ",
			 now);
}

/* The pick comes last: it may let delayed entities leave. */
static void ask_pick(struct resched_explanation *x, const struct queue *q)
{
	struct rs_rq_view view;
	struct rs_task *t;

	q->ops->view_rq(q->rq, &view);
	x->avg_vruntime = view.avg_vruntime;
	x->min_vruntime = view.min_vruntime;
	x->load = view.load;
	x->need_resched = q->rq->need_resched;
	t = q->rq->nr_queued ? q->ops->pick(q->rq) : NULL;
	q->ops->view_rq(q->rq, &view);
	x->pick_pid = t ? q->pid_of(t) : 0;
	put_comm(x->pick_comm, t ? q->comm_of(q->ctx, t) : "idle");
	if (x->nr_tasks > 1)
		qsort(x->tasks, x->nr_tasks, sizeof(*x->tasks), compare_rows);
	tell_why(x, view.why);
}

/* ---- the recorded schedule ---- */

static const char *shadow_comm(const void *ctx, const struct rs_task *t)
{
	return rs_shadow_comm(ctx, (const struct rs_shadow_task *)(const void *)t);
}

static int shadow_pid(const struct rs_task *t)
{
	return ((const struct rs_shadow_task *)(const void *)t)->pid;
}

/* What the recording says of the cpu around the instant. */
static void recorded_neighbours(const struct rs_shadow_input *in, const struct rs_shadow *s,
				struct resched_explanation *x)
{
	const struct resched_event *last = NULL, *next = NULL;

	for (uint32_t i = 0; i < in->log.nr && !next; i++) {
		const struct resched_event *e = &in->log.events[i];

		if (e->type != RESCHED_EV_SWITCH || e->cpu != x->cpu)
			continue;
		if (e->ts_ns <= x->ts_ns)
			last = e;
		else
			next = e;
	}
	x->running_pid = last ? last->sw.next_pid : next ? next->pid : 0;
	put_comm(x->running_comm,
		 x->running_pid ? rs_shadow_comm(s, rs_shadow_find(s, x->running_pid)) : "idle");
	x->has_next = next != NULL;
	if (next) {
		x->next_ns = next->ts_ns;
		x->next_pid = next->sw.next_pid;
		put_comm(x->next_comm,
			 x->next_pid ? rs_shadow_comm(s, rs_shadow_find(s, x->next_pid)) : "idle");
	}
}

/* Charge the stretch from the last sample to the instant. */
static void charge_to(struct rs_shadow *s, struct rs_shadow_cpu *c, uint64_t ts_ns)
{
	if (s->at >= s->log->nr)
		s->at = s->log->nr - 1;
	if (c->curr && ts_ns > c->sampled_ns)
		rs_shadow_charge(s, c, c->charged_ns + (ts_ns - c->sampled_ns), false);
}

static int explain_recorded(const struct resched_explainer *ex, struct resched_explanation *x,
			    struct resched_error *err)
{
	const struct rs_shadow_input *in = &ex->in;
	struct rs_shadow_options opts = ex->fitted;
	struct resched_shadow *verdicts = calloc(1, sizeof(*verdicts));
	struct rs_shadow *s = NULL;
	struct queue q;
	int rc = 0;

	if (!verdicts)
		return rs_error_nomem(err);
	opts.stop_ns = x->ts_ns;
	if (rs_shadow_new(&in->log, &opts, verdicts, &s) < 0 || rs_shadow_follow(s) < 0)
		rc = rs_error_nomem(err);
	if (rc == 0 && x->cpu >= s->nr_cpus)
		rc = rs_error_set(err, RESCHED_USAGE, -EINVAL,
				  "the recording has no cpu %u; it has 0 to %u", x->cpu,
				  s->nr_cpus - 1);
	if (rc == 0) {
		struct rs_shadow_cpu *c = &s->cpus[x->cpu];

		q = (struct queue){ opts.ops, &c->rq, shadow_comm, shadow_pid, s };
		recorded_neighbours(in, s, x);
		charge_to(s, c, x->ts_ns);
		for (uint32_t i = 0; i < s->nr_tasks && rc == 0; i++) {
			if (s->tasks[i]->fair.on_rq && s->tasks[i]->cpu == x->cpu)
				rc = add_task(x, &q, &s->tasks[i]->fair);
		}
		if (rc < 0)
			rs_error_nomem(err);
		else
			ask_pick(x, &q);
	}
	rs_shadow_free(s);
	free(verdicts);
	return rc;
}

/* ---- a replayed one ---- */

static const struct rs_runner *runner_of(const struct rs_task *t)
{
	return (const struct rs_runner *)(const void *)t;
}

static const char *runner_comm(const void *ctx, const struct rs_task *t)
{
	const struct rs_engine *e = ctx;

	return runner_of(t)->comm == UINT32_MAX
		       ? "?"
		       : resched_names_get(e->workload->names, runner_of(t)->comm);
}

static int runner_pid(const struct rs_task *t)
{
	return runner_of(t)->program->pid;
}

static int look_at_engine(struct rs_engine *e, struct resched_explanation *x)
{
	struct rs_cpu *c = &e->cpus[x->cpu];
	struct queue q = { e->ops, &c->rq, runner_comm, runner_pid, e };

	x->running_pid = c->curr ? c->curr->program->pid : 0;
	put_comm(x->running_comm, c->curr ? runner_comm(e, &c->curr->fair) : "idle");
	if (x->ts_ns > c->rq.clock_ns)
		c->rq.clock_ns = x->ts_ns;
	if (c->rq.curr)
		e->ops->update_curr(&c->rq);
	for (uint32_t i = 0; i < e->workload->nr_tasks; i++) {
		const struct rs_task *t = &e->runners[i].fair;

		if (t->on_rq && t->rq == &c->rq && add_task(x, &q, t) < 0)
			return -ENOMEM;
	}
	ask_pick(x, &q);
	return 0;
}

static int explain_replayed(const struct rs_shadow_input *in, enum resched_placement placement,
			    struct resched_explanation *x, struct resched_error *err)
{
	struct rs_engine_options opts = {
		.ops = in->plan.ops,
		.model = in->plan.model,
		.setups = in->plan.setups,
		.groups = &in->plan.groups,
		.placement = placement,
		.end_ns = x->ts_ns + 1,
	};
	struct rs_engine *engine = NULL;
	int rc = rs_engine_new(in->workload, &opts, &engine);

	if (rc == 0)
		rc = rs_engine_run(engine);
	if (rc < 0)
		return rs_error_nomem(err);
	if (x->cpu >= engine->nr_cpus)
		rc = rs_error_set(err, RESCHED_USAGE, -EINVAL,
				  "there is no cpu %u; the machine has 0 to %u", x->cpu,
				  engine->nr_cpus - 1);
	else if (look_at_engine(engine, x) < 0)
		rc = rs_error_nomem(err);
	rs_engine_free(engine);
	return rc;
}

/* ---- public ---- */

static int set_instant(const struct rs_shadow_input *in, uint64_t at_ns, int at_is_relative, unsigned int cpu,
		       struct resched_explanation *x, struct resched_error *err)
{
	const struct resched_workload_info *info = &in->workload->info;

	x->first_ns = info->first_ns;
	if (at_is_relative > 0 || (at_is_relative < 0 && at_ns < info->first_ns))
		x->ts_ns = info->first_ns + at_ns;
	else
		x->ts_ns = at_ns;
	x->cpu = cpu;
	if (x->ts_ns >= info->first_ns && x->ts_ns <= info->last_ns)
		return 0;
	return rs_error_set(
		err, RESCHED_USAGE, -EINVAL,
		"%.6f s is outside the recording, which goes from %.6f to %.6f (%.6f s long)",
		(double)x->ts_ns / 1e9, (double)info->first_ns / 1e9, (double)info->last_ns / 1e9,
		(double)(info->last_ns - info->first_ns) / 1e9);
}

static void describe(const struct rs_shadow_input *in, bool replayed, struct resched_explanation *x)
{
	snprintf(x->schedule, sizeof(x->schedule), "%s", replayed ? "free" : "recorded");
	snprintf(x->policy, sizeof(x->policy), "%s", in->schedule.policy);
	snprintf(x->model, sizeof(x->model), "%s", in->schedule.model);
	for (unsigned int i = 0; i < in->schedule.nr_warnings && x->nr_warnings < 16; i++)
		snprintf(x->warnings[x->nr_warnings++], sizeof(x->warnings[0]), "%s",
			 in->schedule.warnings[i]);
}

int resched_explainer_new(struct resched_trace *trace, const struct resched_explain_options *opts,
			  struct resched_explainer **ret, struct resched_error *err)
{
	struct resched_explainer *ex = calloc(1, sizeof(*ex));
	int rc;

	if (!ex)
		return rs_error_nomem(err);
	ex->replayed = opts->replayed != 0;
	ex->placement = opts->whatif ? opts->whatif->placement : RESCHED_PLACE_RECORDED;
	rc = rs_shadow_input_read(trace, opts->host, opts->whatif, &ex->in, err);
	if (rc == 0 && !ex->replayed)
		rc = rs_shadow_input_calibrate(&ex->in, RESCHED_SHADOW_AUTO, true, &ex->shadow, err);
	if (rc < 0) {
		resched_explainer_free(ex);
		return rc;
	}
	*ret = ex;
	return 0;
}

void resched_explainer_free(struct resched_explainer *ex)
{
	if (!ex)
		return;
	rs_shadow_input_release(&ex->in);
	free(ex);
}

int resched_explainer_at(struct resched_explainer *ex, uint64_t at_ns, int at_is_relative, unsigned int cpu,
			 struct resched_explanation **ret, struct resched_error *err)
{
	struct resched_explanation *x = calloc(1, sizeof(*x));
	int rc;

	if (!x)
		return rs_error_nomem(err);
	rc = set_instant(&ex->in, at_ns, at_is_relative, cpu, x, err);
	if (rc == 0) {
		describe(&ex->in, ex->replayed, x);
		if (!ex->replayed && !ex->is_fitted) {
			ex->fitted = ex->shadow;
			rc = rs_shadow_input_fit(&ex->in, &ex->fitted, err);
			ex->is_fitted = rc == 0;
		}
	}
	if (rc == 0)
		rc = ex->replayed ? explain_replayed(&ex->in, ex->placement, x, err)
				  : explain_recorded(ex, x, err);
	if (rc < 0) {
		resched_explanation_free(x);
		return rc;
	}
	*ret = x;
	return 0;
}

int resched_explain(struct resched_trace *trace, const struct resched_explain_options *opts,
		    struct resched_explanation **ret, struct resched_error *err)
{
	struct resched_explainer *ex;
	int rc = resched_explainer_new(trace, opts, &ex, err);

	if (rc < 0)
		return rc;
	rc = resched_explainer_at(ex, opts->at_ns, opts->at_is_relative, opts->cpu, ret, err);
	resched_explainer_free(ex);
	return rc;
}

void resched_explanation_free(struct resched_explanation *x)
{
	if (!x)
		return;
	free(x->tasks);
	free(x);
}
