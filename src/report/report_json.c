// SPDX-License-Identifier: GPL-2.0-only
/* resched/report/1 and its rows as CSV. */
#include <errno.h>
#include <string.h>
#include <resched/owner.h>

#include "report/internal.h"
#include "report/json.h"
#include "report/rows.h"
#include "report/text.h"

static void put_counts(struct rs_json *doc, struct json_object *o, const struct resched_figures *f)
{
	rs_json_u64(doc, o, "switches", f->switches);
	rs_json_u64(doc, o, "voluntary", f->voluntary);
	rs_json_u64(doc, o, "involuntary", f->involuntary);
	rs_json_u64(doc, o, "wakeups", f->wakeups);
	rs_json_u64(doc, o, "migrations", f->migrations);
	rs_json_u64(doc, o, "unresolved", f->unresolved);
	rs_json_u64(doc, o, "runtime_ns", f->runtime_ns);
	rs_json_u64(doc, o, "sleep_ns", f->sleep_ns);
	rs_json_u64(doc, o, "runnable_wait_ns", f->runnable_wait_ns);
}

static void put_waits(struct rs_json *doc, struct json_object *o, const struct resched_figures *f)
{
	rs_json_dist(doc, o, "wakeup_latency_ns", &f->wakeup_latency);
	rs_json_dist(doc, o, "preempted_wait_ns", &f->preempted_wait);
	rs_json_dist(doc, o, "run_delay_ns", &f->run_delay);
	if (f->run_delay.count)
		rs_json_u64(doc, o, "max_delay_at_ns", f->max_delay_at_ns);
	else
		rs_json_null(doc, o, "max_delay_at_ns");
	if (f->has_lag) {
		struct json_object *lag = rs_json_object(doc, o, "lag_ns");

		rs_json_i64(doc, lag, "min", f->lag_min_ns);
		rs_json_i64(doc, lag, "max", f->lag_max_ns);
		rs_json_u64(doc, o, "deadline_misses", f->deadline_misses);
	} else {
		rs_json_null(doc, o, "lag_ns");
		rs_json_null(doc, o, "deadline_misses");
	}
}

static void put_moves(struct rs_json *doc, struct json_object *totals, const struct resched_moves *m)
{
	struct json_object *o = rs_json_object(doc, totals, "migrations_by_reason"), *list;

	for (unsigned int i = 0; i < RESCHED_NR_MOVE_REASONS; i++)
		rs_json_u64(doc, o, rs_move_reason(i), m->by_reason[i]);
	o = rs_json_object(doc, totals, "migrations_by_distance");
	for (unsigned int i = 0; i < RESCHED_NR_MOVE_DISTANCES; i++)
		rs_json_u64(doc, o, rs_move_distance(i), m->by_distance[i]);
	rs_json_u64(doc, totals, "forks_elsewhere", m->forks_elsewhere);
	rs_json_u64(doc, totals, "idle_while_waiting_ns", m->idle_while_waiting_ns);
	list = rs_json_array(doc, totals, "llcs");
	for (unsigned int i = 0; i < m->nr_llcs; i++) {
		o = rs_json_object(doc, list, NULL);
		rs_json_u64(doc, o, "first_cpu", m->llcs[i].first_cpu);
		rs_json_u64(doc, o, "cpus", m->llcs[i].nr_cpus);
		rs_json_u64(doc, o, "idle_while_waiting_ns", m->llcs[i].idle_while_waiting_ns);
	}
}

static void put_totals(struct rs_json *doc, const struct resched_report *rep)
{
	struct json_object *o = rs_json_object(doc, doc->root, "totals");

	put_counts(doc, o, &rep->totals);
	rs_json_u64(doc, o, "busy_ns", rep->busy_ns);
	rs_json_u64(doc, o, "idle_ns", rep->idle_ns);
	put_waits(doc, o, &rep->totals);
	if (rep->moves)
		put_moves(doc, o, rep->moves);
}

static void put_owner(struct rs_json *doc, struct json_object *o, const char *cgroup)
{
	struct resched_owner owner;

	resched_owner_of(cgroup, &owner);
	if (*owner.container)
		rs_json_text(doc, o, "container", owner.container);
	if (*owner.unit)
		rs_json_text(doc, o, "unit", owner.unit);
}

static void put_tasks(struct rs_json *doc, const struct resched_report *rep)
{
	struct json_object *list = rs_json_array(doc, doc->root, "tasks");

	for (unsigned int i = 0; i < rep->nr_tasks; i++) {
		const struct resched_task_row *t = &rep->tasks[i];
		struct json_object *o = rs_json_object(doc, list, NULL);

		rs_json_i64(doc, o, "pid", t->pid);
		if (t->tgid)
			rs_json_i64(doc, o, "tgid", t->tgid);
		else
			rs_json_null(doc, o, "tgid");
		rs_json_u64(doc, o, "birth", t->birth);
		rs_json_text(doc, o, "comm", t->comm);
		rs_json_text(doc, o, "class", t->class_name);
		rs_json_i64(doc, o, "nice", t->nice);
		rs_json_text(doc, o, "cgroup", t->cgroup);
		put_owner(doc, o, t->cgroup);
		put_counts(doc, o, &t->f);
		put_waits(doc, o, &t->f);
	}
}

static void put_groups(struct rs_json *doc, const char *list_key, const char *name_key, const struct resched_group_row *rows,
		       unsigned int nr)
{
	struct json_object *list = rs_json_array(doc, doc->root, list_key);

	for (unsigned int i = 0; i < nr; i++) {
		struct json_object *o = rs_json_object(doc, list, NULL);

		rs_json_text(doc, o, name_key, rows[i].name);
		rs_json_u64(doc, o, "tasks", rows[i].tasks);
		put_counts(doc, o, &rows[i].f);
		put_waits(doc, o, &rows[i].f);
	}
}

static void put_cpus(struct rs_json *doc, const struct resched_report *rep)
{
	struct json_object *list = rs_json_array(doc, doc->root, "cpus");

	for (unsigned int i = 0; i < rep->nr_cpus; i++) {
		const struct resched_cpu_row *c = &rep->cpus[i];
		struct json_object *o = rs_json_object(doc, list, NULL);

		rs_json_u64(doc, o, "cpu", c->cpu);
		rs_json_bool(doc, o, "observed", c->observed);
		rs_json_u64(doc, o, "busy_ns", c->busy_ns);
		rs_json_u64(doc, o, "idle_ns", c->idle_ns);
		rs_json_u64(doc, o, "switches", c->switches);
		rs_json_u64(doc, o, "wakeups", c->wakeups);
		rs_json_u64(doc, o, "migrations_in", c->migrations_in);
		rs_json_u64(doc, o, "migrations_out", c->migrations_out);
	}
}

int rs_report_json(FILE *out, const struct resched_source *source, const struct resched_schedule *schedule,
		   const struct resched_report *rep, struct resched_error *err)
{
	struct json_object *o;
	struct rs_json doc;
	int rc;

	rs_json_init(&doc, "resched/report/1");
	o = rs_json_object(&doc, doc.root, "source");
	if (source)
		rs_json_source(&doc, o, source);
	rs_json_text(&doc, o, "wait_source", rep->wait_source_is_wakeup ? "sched_wakeup" : "sched_waking");
	if (schedule)
		rs_json_schedule(&doc, doc.root, "schedule", schedule);
	rs_json_bool(&doc, doc.root, "exact", rep->exact);
	rs_json_u64(&doc, doc.root, "first_ns", rep->first_ns);
	rs_json_u64(&doc, doc.root, "last_ns", rep->last_ns);
	put_totals(&doc, rep);
	put_tasks(&doc, rep);
	put_groups(&doc, "comms", "comm", rep->comms, rep->nr_comms);
	put_groups(&doc, "cgroups", "cgroup", rep->cgroups, rep->nr_cgroups);
	if (rep->nr_containers)
		put_groups(&doc, "containers", "container", rep->containers, rep->nr_containers);
	if (rep->nr_units)
		put_groups(&doc, "units", "unit", rep->units, rep->nr_units);
	put_cpus(&doc, rep);
	rc = rs_json_print(&doc, out, err);
	rs_json_release(&doc);
	return rc;
}

static void csv_dist(FILE *out, const struct resched_dist *d)
{
	fprintf(out, ",%llu,%.3f,%llu,%llu,%llu,%llu,%llu,%llu", (unsigned long long)d->count, d->mean, (unsigned long long)d->min,
		(unsigned long long)d->p50, (unsigned long long)d->p90, (unsigned long long)d->p99, (unsigned long long)d->p999,
		(unsigned long long)d->max);
}

static void csv_figures(FILE *out, const struct resched_figures *f)
{
	fprintf(out, ",%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu", (unsigned long long)f->runtime_ns,
		(unsigned long long)f->sleep_ns, (unsigned long long)f->runnable_wait_ns, (unsigned long long)f->switches,
		(unsigned long long)f->voluntary, (unsigned long long)f->involuntary, (unsigned long long)f->wakeups,
		(unsigned long long)f->migrations, (unsigned long long)f->unresolved);
	csv_dist(out, &f->wakeup_latency);
	csv_dist(out, &f->preempted_wait);
	csv_dist(out, &f->run_delay);
	fputc('\n', out);
}

static void csv_head(FILE *out, const char *what)
{
	static const char *const dists[] = { "wakeup_latency", "preempted_wait", "run_delay" };

	fprintf(out, "%s,runtime_ns,sleep_ns,runnable_wait_ns,switches,voluntary,involuntary,wakeups,migrations,unresolved", what);
	for (unsigned int i = 0; i < 3; i++)
		fprintf(out, ",%s_count,%s_mean_ns,%s_min_ns,%s_p50_ns,%s_p90_ns,%s_p99_ns,%s_p999_ns,%s_max_ns", dists[i], dists[i],
			dists[i], dists[i], dists[i], dists[i], dists[i], dists[i]);
	fputc('\n', out);
}

static void csv_cpus(FILE *out, const struct resched_report *rep)
{
	fputs("cpu,observed,busy_ns,idle_ns,switches,wakeups,migrations_in,migrations_out\n", out);
	for (unsigned int i = 0; i < rep->nr_cpus; i++) {
		const struct resched_cpu_row *c = &rep->cpus[i];

		fprintf(out, "%u,%d,%llu,%llu,%llu,%llu,%llu,%llu\n", c->cpu, c->observed, (unsigned long long)c->busy_ns,
			(unsigned long long)c->idle_ns, (unsigned long long)c->switches, (unsigned long long)c->wakeups,
			(unsigned long long)c->migrations_in, (unsigned long long)c->migrations_out);
	}
}

int rs_report_csv(FILE *out, const struct resched_report *rep, const struct resched_print_options *opts, struct resched_error *err)
{
	struct rs_rows rows;
	char title[32];
	int rc;

	if (opts->group == RESCHED_BY_CPU) {
		csv_cpus(out, rep);
		return rs_out_check(out, err);
	}
	rc = rs_rows_make(rep, opts->group, opts->sort_key, &rows, err);
	if (rc < 0)
		return rc;
	snprintf(title, sizeof(title), "%s,tasks", rs_rows_title(opts->group));
	csv_head(out, opts->group == RESCHED_BY_TASK ? "pid,tgid,birth,comm,class,nice,cgroup" : title);
	for (unsigned int i = 0; i < rows.nr && (!opts->max_rows || i < opts->max_rows); i++) {
		const struct resched_task_row *t = rows.rows[i].task;

		if (t) {
			fprintf(out, "%d,%d,%u,", t->pid, t->tgid, t->birth);
			rs_csv_field(out, t->comm);
			fprintf(out, ",%s,%d,", t->class_name, t->nice);
			rs_csv_field(out, t->cgroup ? t->cgroup : "");
		} else {
			rs_csv_field(out, rows.rows[i].name);
			fprintf(out, ",%u", rows.rows[i].tasks);
		}
		csv_figures(out, rows.rows[i].f);
	}
	rs_rows_release(&rows);
	return rs_out_check(out, err);
}
