// SPDX-License-Identifier: GPL-2.0-only
/* resched/explain/1, and the same for people. */
#include <resched/explain.h>

#include "report/internal.h"
#include "report/json.h"
#include "report/text.h"

static void put_task(struct rs_json *doc, struct json_object *list, const struct resched_queued_task *t)
{
	struct json_object *o = rs_json_object(doc, list, NULL);

	rs_json_i64(doc, o, "pid", t->pid);
	rs_json_text(doc, o, "comm", t->comm);
	rs_json_i64(doc, o, "nice", t->nice);
	rs_json_u64(doc, o, "weight", t->weight);
	rs_json_i64(doc, o, "vruntime_ns", (int64_t)t->vruntime);
	if (t->deadline) {
		rs_json_i64(doc, o, "deadline_ns", (int64_t)t->deadline);
		rs_json_i64(doc, o, "lag_ns", t->lag_ns);
		rs_json_i64(doc, o, "vlag_ns", (int64_t)(t->avg_vruntime - t->vruntime));
		rs_json_bool(doc, o, "eligible", t->eligible);
	} else {
		rs_json_null(doc, o, "deadline_ns");
		rs_json_null(doc, o, "lag_ns");
		rs_json_null(doc, o, "vlag_ns");
		rs_json_null(doc, o, "eligible");
	}
	rs_json_u64(doc, o, "slice_ns", t->slice_ns);
	rs_json_u64(doc, o, "slice_used_ns", t->used_ns);
	rs_json_i64(doc, o, "slice_left_ns", t->left_ns);
	rs_json_bool(doc, o, "in_group", t->in_group);
	rs_json_bool(doc, o, "running", t->running);
	rs_json_bool(doc, o, "delayed", t->delayed);
}

static void put_who(struct rs_json *doc, struct json_object *parent, const char *key, int pid,
		    const char *comm)
{
	struct json_object *o = rs_json_object(doc, parent, key);

	rs_json_i64(doc, o, "pid", pid);
	rs_json_text(doc, o, "comm", comm);
}

static void put_next(struct rs_json *doc, const struct resched_explanation *x)
{
	struct json_object *o;

	if (!x->has_next) {
		rs_json_null(doc, doc->root, "next_switch");
		return;
	}
	o = rs_json_object(doc, doc->root, "next_switch");
	rs_json_u64(doc, o, "ts_ns", x->next_ns);
	rs_json_i64(doc, o, "pid", x->next_pid);
	rs_json_text(doc, o, "comm", x->next_comm);
}

static int print_json(FILE *out, const struct resched_source *source,
		      const struct resched_explanation *x, struct resched_error *err)
{
	struct json_object *list;
	struct rs_json doc;
	int rc;

	rs_json_init(&doc, "resched/explain/1");
	if (source)
		rs_json_source(&doc, rs_json_object(&doc, doc.root, "source"), source);
	rs_json_text(&doc, doc.root, "schedule", x->schedule);
	rs_json_text(&doc, doc.root, "policy", x->policy);
	rs_json_text(&doc, doc.root, "model", x->model);
	rs_json_u64(&doc, doc.root, "ts_ns", x->ts_ns);
	rs_json_u64(&doc, doc.root, "cpu", x->cpu);
	put_who(&doc, doc.root, "running", x->running_pid, x->running_comm);
	rs_json_bool(&doc, doc.root, "need_resched", x->need_resched);
	rs_json_i64(&doc, doc.root, "avg_vruntime_ns", (int64_t)x->avg_vruntime);
	rs_json_i64(&doc, doc.root, "min_vruntime_ns", (int64_t)x->min_vruntime);
	rs_json_u64(&doc, doc.root, "load", x->load);
	list = rs_json_array(&doc, doc.root, "queue");
	for (unsigned int i = 0; i < x->nr_tasks; i++)
		put_task(&doc, list, &x->tasks[i]);
	put_who(&doc, doc.root, "pick", x->pick_pid, x->pick_comm);
	rs_json_text(&doc, doc.root, "why", x->why);
	put_next(&doc, x);
	list = rs_json_array(&doc, doc.root, "warnings");
	for (unsigned int i = 0; i < x->nr_warnings; i++)
		rs_json_text(&doc, list, NULL, x->warnings[i]);
	rc = rs_json_print(&doc, out, err);
	rs_json_release(&doc);
	return rc;
}

static double ms(int64_t ns)
{
	return (double)ns / 1e6;
}

static void task_row(struct rs_table *t, const struct resched_explanation *x,
		     const struct resched_queued_task *q)
{
	enum rs_style style = q->pid == x->pick_pid ? RS_STYLE_BOLD : RS_STYLE_NONE;

	rs_table_cellf(t, style, "%s%s:%d", q->running ? "* " : "  ", q->comm, q->pid);
	rs_table_cellf(t, style, "%d", q->nice);
	rs_table_cellf(t, style, "%llu", (unsigned long long)q->weight);
	rs_table_cellf(t, style, "%+.6f", ms((int64_t)(q->vruntime - q->avg_vruntime)));
	if (q->deadline) {
		rs_table_cellf(t, style, "%+.6f", ms((int64_t)(q->deadline - q->avg_vruntime)));
		rs_table_cellf(t, style, "%+.6f", ms(q->lag_ns));
		rs_table_cell(t, style, q->eligible ? "yes" : "no");
	} else {
		for (unsigned int i = 0; i < 3; i++)
			rs_table_cell(t, RS_STYLE_DIM, "-");
	}
	rs_table_cellf(t, style, "%.3f", ms((int64_t)q->slice_ns));
	rs_table_cellf(t, style, "%.3f", ms((int64_t)q->used_ns));
	rs_table_cellf(t, style, "%.3f", ms(q->left_ns));
	rs_table_cell(t, RS_STYLE_DIM,
		      q->delayed    ? "asleep, leaves when its lag is gone"
		      : q->running  ? "runs"
		      : q->in_group ? "in its group"
				    : "");
}

static int print_queue(FILE *out, const struct resched_explanation *x, bool color,
		       struct resched_error *err)
{
	static const char *const heads[] = { "  task",     "nice", "weight",   "vruntime-V",
					     "deadline-V", "lag",  "eligible", "slice",
					     "used",       "left", "" };
	struct rs_table t;
	int rc;

	rs_table_init(&t, 11, "lrrrrrrrrrl");
	for (unsigned int i = 0; i < 11; i++)
		rs_table_cell(&t, RS_STYLE_BOLD, heads[i]);
	for (unsigned int i = 0; i < x->nr_tasks; i++)
		task_row(&t, x, &x->tasks[i]);
	rc = rs_table_print(&t, out, 0, color, err);
	rs_table_release(&t);
	return rc;
}

int resched_print_explanation(FILE *out, const struct resched_source *source,
			      const struct resched_explanation *x,
			      const struct resched_print_options *opts, struct resched_error *err)
{
	int rc = 0;

	if (opts->format == RESCHED_JSON)
		return print_json(out, source, x, err);
	rs_head_source(out, source, opts->color);
	fprintf(out, "Cpu %u at %.9f s (%.6f s after the beginning), %s schedule, %s, rules of %s\n",
		x->cpu, (double)x->ts_ns / 1e9, (double)(x->ts_ns - x->first_ns) / 1e9, x->schedule,
		x->policy, x->model);
	for (unsigned int i = 0; i < x->nr_warnings; i++)
		fprintf(out, "  note: %s\n", x->warnings[i]);
	fprintf(out, "Running: %s:%d.  V %.6f ms, load %llu.  Times in ms.\n\n", x->running_comm,
		x->running_pid, (double)(int64_t)x->avg_vruntime / 1e6, (unsigned long long)x->load);
	if (x->nr_tasks)
		rc = print_queue(out, x, opts->color, err);
	if (rc < 0)
		return rc;
	fprintf(out, "%s%s\n", x->nr_tasks ? "\n" : "", x->why);
	if (x->has_next)
		fprintf(out, "Recorded: the next switch comes %.6f ms later, to %s:%d.\n",
			(double)(x->next_ns - x->ts_ns) / 1e6, x->next_comm, x->next_pid);
	return rs_out_check(out, err);
}
