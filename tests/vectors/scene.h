/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Scenes for the vectors of EEVDF and its stages: small scripts on one cpu, with the state they must lead to.
 *
 * A scene is text, one step a line: "TIME OPERATION [TASK [VALUE]] [= STATE]". STATE is "RUNNER[*] V TASK(v,d,E|-)[D] ...": * =
 * its slice is protected, E = eligible, D = delayed; "TASK:off(vlag)" has left the queue. Every switch is immediate.
 */
#ifndef RS_TESTS_VECTORS_SCENE_H
#define RS_TESTS_VECTORS_SCENE_H

#include "vectors/driver.h"

#include "policies/eevdf_queue.h"

#define MS 1000000ull

struct scene {
	const char *models;	/* "6.12 6.18": each must give the same */
	const char *policy, *knobs;
	uint64_t normalized_base_ns;	/* 0 = the model's */
	const char *tasks;	/* "A S:slice=500000 H:nice=-20 B:batch I:idle F:latency=-10" */
	const char *steps;
};

static inline struct rs_eevdf_queue *queue(struct drv *d)
{
	return d->rq.priv;
}

static inline struct rs_eevdf_entity *entity(struct rs_task *t)
{
	return t->priv;
}

static inline struct drv *scene_new(const char *policy, const char *kernel, const char *knobs, const char *tasks)
{
	struct drv *d = drv_new(policy, kernel, knobs);
	char text[256], *save = NULL;

	if (d->ops->rq_size == rs_policy_ops_find("eevdf")->rq_size)
		queue(d)->zero = 0;
	snprintf(text, sizeof(text), "%s", tasks);
	for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		char *colon = strchr(word, ':');
		enum rs_sched_policy kind = RS_SCHED_NORMAL;
		uint64_t slice = 0;
		int nice = 0, latency = 0;

		if (colon) {
			*colon++ = '\0';
			if (!strcmp(colon, "batch"))
				kind = RS_SCHED_BATCH;
			else if (!strcmp(colon, "idle"))
				kind = RS_SCHED_IDLE;
			else if (sscanf(colon, "slice=%lu", &slice) != 1 && sscanf(colon, "latency=%d", &latency) != 1)
				assert_int_equal(sscanf(colon, "nice=%d", &nice), 1);
		}
		drv_task_latency(d, word, nice, kind, slice, latency);
	}
	return d;
}

static inline void print_state(struct drv *d, char *buf, size_t size)
{
	struct rs_rq_view rv;
	struct rs_task *curr = d->rq.curr;
	int n;

	d->ops->view_rq(&d->rq, &rv);
	n = snprintf(buf, size, "%s%s %ld", drv_name(d, curr), curr && rs_eevdf_protected(queue(d), entity(curr)) ? "*" : "",
		     (long)rv.avg_vruntime);
	for (unsigned int i = 0; i < d->nr_tasks; i++) {
		struct drv_task *dt = &d->tasks[i];
		struct rs_entity_view v;

		if (!dt->seen)
			continue;
		d->ops->view_task(&d->rq, &dt->t, &v);
		if (dt->t.on_rq)
			n += snprintf(buf + n, size - (size_t)n, " %s(%ld,%ld,%s)%s", dt->name, (long)v.vruntime, (long)v.deadline,
				      v.eligible ? "E" : "-", v.delayed ? "D" : "");
		else
			n += snprintf(buf + n, size - (size_t)n, " %s:off(%ld)", dt->name, (long)v.vlag);
	}
}

static inline void apply(struct drv *d, const char *op, struct drv_task *dt, long value)
{
	struct rs_task *t = dt ? &dt->t : NULL;

	if (!strcmp(op, "wake"))
		drv_wake(d, t);
	else if (!strcmp(op, "fork"))
		drv_fork(d, t);
	else if (!strcmp(op, "sleep"))
		drv_block(d, RS_DEQ_SLEEP);
	else if (!strcmp(op, "stop"))
		drv_block(d, RS_DEQ_SLEEP | RS_DEQ_SPECIAL);
	else if (!strcmp(op, "tick"))
		d->ops->tick(&d->rq);
	else if (!strcmp(op, "yield"))
		d->ops->yield(&d->rq);
	else if (!strcmp(op, "nice"))
		d->ops->reweight(t, d->rq.clock_ns, (int)value, t->policy, t->custom_slice_ns);
	else if (!strcmp(op, "slice"))
		d->ops->reweight(t, d->rq.clock_ns, t->nice, t->policy, (uint64_t)value);
	else
		fail_msg("operation %s", op);
	if (!strcmp(op, "sleep") || !strcmp(op, "stop")) {
		assert_ptr_equal(d->rq.curr, t);
		d->rq.need_resched = true;
	}
	if (d->rq.need_resched || !strcmp(op, "yield"))
		drv_schedule(d);
}

static inline void play_line(struct drv *d, char *line, const char *kernel)
{
	char *expect = strchr(line, '='), op[16] = "", name[8] = "", got[512];
	struct drv_task *dt = NULL;
	unsigned long at;
	long value = 0;

	if (expect)
		*expect++ = '\0';
	assert_true(sscanf(line, "%lu %15s %7s %ld", &at, op, name, &value) >= 2);
	d->rq.clock_ns = at;
	if (name[0]) {
		dt = drv_find(d, name);
		dt->seen = true;
	}
	apply(d, op, dt, value);
	if (!expect)
		return;
	print_state(d, got, sizeof(got));
	if (strcmp(got, expect + strspn(expect, " ")))
		fail_msg("%s, %s\n  want %s\n  got   %s", kernel, line, expect, got);
}

static inline void play(const struct scene *s)
{
	char models[128], *save = NULL;

	snprintf(models, sizeof(models), "%s", s->models);
	for (char *kernel = strtok_r(models, " ", &save); kernel; kernel = strtok_r(NULL, " ", &save)) {
		struct drv *d = scene_new(s->policy ? s->policy : "eevdf", kernel, s->knobs, s->tasks);
		char text[2048], *line_save = NULL;

		if (s->normalized_base_ns)
			d->model->normalized_base_ns = s->normalized_base_ns;
		snprintf(text, sizeof(text), "%s", s->steps);
		for (char *line = strtok_r(text, "\n", &line_save); line; line = strtok_r(NULL, "\n", &line_save))
			play_line(d, line, kernel);
		drv_free(d);
	}
}

/* Who runs at 0, 1, 2 ... ms, with a tick at each but the first. @start: how the tasks join at 0 ("wake" or "fork"). */
static inline void expect_runs(const char *policy, const char *models, const char *knobs, const char *tasks, const char *start, const char *want)
{
	char list[128], *save = NULL;

	snprintf(list, sizeof(list), "%s", models);
	for (char *kernel = strtok_r(list, " ", &save); kernel; kernel = strtok_r(NULL, " ", &save)) {
		struct drv *d = scene_new(policy, kernel, knobs, tasks);
		char got[256] = "";

		for (unsigned int i = 0; i < d->nr_tasks; i++)
			apply(d, start, &d->tasks[i], 0);
		for (uint64_t t = 0; strlen(got) < strlen(want); t++) {
			d->rq.clock_ns = t * MS;
			if (t)
				apply(d, "tick", NULL, 0);
			snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s", t ? " " : "", drv_name(d, d->rq.curr));
		}
		if (strcmp(got, want))
			fail_msg("%s %s: want %s, got %s", policy, kernel, want, got);
		drv_free(d);
	}
}

#endif
