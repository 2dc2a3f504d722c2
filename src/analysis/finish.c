// SPDX-License-Identifier: GPL-2.0-only
/* From rows and samples to the figures of a report. */
#include <resched/analysis.h>
#include <resched/owner.h>

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/moves.h"
#include "analysis/state.h"
#include "base/error.h"

bool rs_glob_match(const char *glob, const char *text)
{
	if (!glob || !*glob)
		return true;
	return text && fnmatch(glob, text, 0) == 0;
}

/* A selected task, its name, and its place among the others. */
struct member {
	const struct an_task *task;
	const char *key;		/* what it is grouped by */
	const struct resched_figures *own;	/* its figures, once they are made */
};

struct finish {
	struct resched_analysis *an;
	struct resched_report *rep;
	struct rs_merge merge;		/* scratch */
	struct member *members;
	unsigned int nr_members;
	char *unnamed;			/* ":PID" texts, one slot a task */
};

#define UNNAMED_LEN 16

static const char *task_name(struct finish *f, const struct an_task *t)
{
	char *slot;

	if (t->name != AN_NO_NAME && f->an->opts.names)
		return resched_names_get(f->an->opts.names, t->name);
	slot = f->unnamed + (size_t)(t - f->an->tasks) * UNNAMED_LEN;
	snprintf(slot, UNNAMED_LEN, ":%d", t->pid);
	return slot;
}

static uint64_t nr_waits(const struct an_task *t)
{
	return t->waits[AN_WAKE].count + t->waits[AN_PREEMPTED].count + t->waits[AN_RACED].count;
}

/* A task that only came into sight when the recording ended has nothing to show. */
static bool task_active(const struct an_task *t)
{
	return t->seen && (t->voluntary || t->involuntary || t->wakeups || t->migrations || t->runtime_ns || nr_waits(t));
}

static bool has_pid(unsigned int nr, const int *pids, int pid)
{
	for (unsigned int i = 0; i < nr; i++) {
		if (pids[i] == pid)
			return true;
	}
	return false;
}

const char *an_name(const struct resched_analysis *an, const struct an_task *t, char *buf, size_t size)
{
	if (t->name_now != AN_NO_NAME && an->opts.names)
		return resched_names_get(an->opts.names, t->name_now);
	snprintf(buf, size, ":%d", t->pid);
	return buf;
}

bool an_selected(const struct resched_analysis *an, const struct an_task *t)
{
	const struct resched_analysis_options *opts = &an->opts;
	char unnamed[UNNAMED_LEN];

	if (opts->hide_recorder && (t->own || has_pid(opts->nr_own, opts->own, t->pid)))
		return false;
	if (!rs_glob_match(opts->comm_glob, an_name(an, t, unnamed, sizeof(unnamed))) || !rs_glob_match(opts->cgroup_glob, t->cgroup))
		return false;
	return opts->nr_pids == 0 || has_pid(opts->nr_pids, opts->pids, t->pid);
}

static bool task_selected(struct finish *f, const struct an_task *t)
{
	const struct resched_analysis_options *opts = &f->an->opts;

	if (opts->hide_recorder && (t->own || has_pid(opts->nr_own, opts->own, t->pid)))
		return false;
	if (!rs_glob_match(opts->comm_glob, task_name(f, t)) || !rs_glob_match(opts->cgroup_glob, t->cgroup))
		return false;
	return opts->nr_pids == 0 || has_pid(opts->nr_pids, opts->pids, t->pid);
}

/* The distribution of the waits of kinds [first, last] of @nr members. */
static int dist_of(struct finish *f, const struct member *members, unsigned int nr, unsigned int first, unsigned int last,
		   struct resched_dist *ret)
{
	rs_merge_clear(&f->merge);
	for (unsigned int i = 0; i < nr; i++) {
		for (unsigned int k = first; k <= last; k++) {
			int rc = rs_merge_add(&f->merge, &members[i].task->waits[k]);

			if (rc < 0)
				return rc;
		}
	}
	if (f->merge.hist)
		f->rep->exact = 0;
	rs_merge_dist(&f->merge, ret);
	return 0;
}

static void add_lag(struct resched_figures *fig, const struct an_task *t)
{
	if (!t->has_lag)
		return;
	if (!fig->has_lag || t->lag_min_ns < fig->lag_min_ns)
		fig->lag_min_ns = t->lag_min_ns;
	if (!fig->has_lag || t->lag_max_ns > fig->lag_max_ns)
		fig->lag_max_ns = t->lag_max_ns;
	fig->has_lag = 1;
	fig->deadline_misses += t->deadline_misses;
}

static int figures_of(struct finish *f, const struct member *members, unsigned int nr, struct resched_figures *fig)
{
	uint64_t longest = 0;
	int rc;

	if (nr == 1 && members->own) {	/* a group of one */
		*fig = *members->own;
		return 0;
	}
	for (unsigned int i = 0; i < nr; i++) {
		const struct an_task *t = members[i].task;

		fig->runtime_ns += t->runtime_ns;
		fig->sleep_ns += t->sleep_ns;
		fig->voluntary += t->voluntary;
		fig->involuntary += t->involuntary;
		fig->wakeups += t->wakeups;
		fig->migrations += t->migrations;
		fig->unresolved += t->unresolved;
		if (t->max_delay_at_ns && (t->max_delay_ns > longest || !fig->max_delay_at_ns)) {
			longest = t->max_delay_ns;
			fig->max_delay_at_ns = t->max_delay_at_ns;
		}
		add_lag(fig, t);
	}
	fig->switches = fig->voluntary + fig->involuntary;
	rc = dist_of(f, members, nr, AN_WAKE, AN_WAKE, &fig->wakeup_latency);
	if (rc == 0)
		rc = dist_of(f, members, nr, AN_PREEMPTED, AN_PREEMPTED, &fig->preempted_wait);
	if (rc == 0)
		rc = dist_of(f, members, nr, AN_WAKE, AN_RACED, &fig->run_delay);
	fig->runnable_wait_ns = fig->run_delay.sum;
	return rc;
}

static void set_class(struct resched_task_row *row, const struct an_task *t)
{
	row->class_name = "?";
	if (t->prio == AN_NO_PRIO)
		return;
	/* The stopper threads and SCHED_FIFO 99 have the same number in the events; their names tell them apart. */
	if (t->prio == 0 && strncmp(row->comm, "migration/", 10) == 0) {
		row->class_name = "stop";
	} else if (t->prio < 0) {
		row->class_name = "dl";
	} else if (t->prio < 100) {
		row->class_name = "rt";
	} else {
		row->class_name = "fair";
		row->nice = t->prio - 120;
	}
}

static int fill_task(struct finish *f, const struct member *m, struct resched_task_row *row)
{
	row->pid = m->task->pid;
	row->tgid = m->task->tgid;
	row->birth = m->task->birth;
	row->comm = strdup(task_name(f, m->task));
	if (!row->comm)
		return -ENOMEM;
	if (m->task->cgroup) {
		row->cgroup = strdup(m->task->cgroup);
		if (!row->cgroup)
			return -ENOMEM;
	}
	set_class(row, m->task);
	return figures_of(f, m, 1, &row->f);
}

static int by_identity(const void *a, const void *b)
{
	const struct an_task *x = ((const struct member *)a)->task, *y = ((const struct member *)b)->task;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->birth < y->birth ? -1 : x->birth > y->birth;
}

static int by_key(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	return order ? order : by_identity(a, b);
}

static int fill_tasks(struct finish *f)
{
	struct resched_report *rep = f->rep;

	qsort(f->members, f->nr_members, sizeof(*f->members), by_identity);
	rep->tasks = calloc(f->nr_members + 1, sizeof(*rep->tasks));
	if (!rep->tasks)
		return -ENOMEM;
	for (unsigned int i = 0; i < f->nr_members; i++) {
		struct resched_task_row *row = &rep->tasks[rep->nr_tasks++];
		int rc = fill_task(f, &f->members[i], row);

		f->members[i].own = &row->f;
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int keep_latencies(struct finish *f, const struct member *members, unsigned int nr, uint64_t **ret)
{
	int rc = 0;

	rs_merge_clear(&f->merge);
	for (unsigned int i = 0; i < nr && rc == 0; i++)
		rc = rs_merge_add(&f->merge, &members[i].task->waits[AN_WAKE]);
	return rc < 0 ? rc : rs_merge_sorted(&f->merge, ret);
}

/* One row for every distinct key of @members, which get sorted. */
static int fill_groups(struct finish *f, struct member *members, unsigned int nr, int latencies, unsigned int *ret_nr,
		       struct resched_group_row **ret)
{
	unsigned int end;

	qsort(members, nr, sizeof(*members), by_key);
	*ret = calloc(nr + 1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	for (unsigned int i = 0; i < nr; i = end) {
		struct resched_group_row *row = &(*ret)[(*ret_nr)++];
		int rc;

		for (end = i + 1; end < nr && strcmp(members[end].key, members[i].key) == 0; end++)
			;
		row->name = strdup(members[i].key);
		if (!row->name)
			return -ENOMEM;
		row->tasks = end - i;
		rc = figures_of(f, members + i, end - i, &row->f);
		if (rc == 0 && latencies)
			rc = keep_latencies(f, members + i, end - i, &row->latencies);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int fill_comms(struct finish *f)
{
	for (unsigned int i = 0; i < f->nr_members; i++)
		f->members[i].key = task_name(f, f->members[i].task);
	return fill_groups(f, f->members, f->nr_members, f->an->opts.latencies, &f->rep->nr_comms, &f->rep->comms);
}

static int fill_cgroups(struct finish *f)
{
	struct member *in = calloc(f->nr_members + 1, sizeof(*in));
	unsigned int nr = 0;
	int rc;

	if (!in)
		return -ENOMEM;
	for (unsigned int i = 0; i < f->nr_members; i++) {
		if (f->members[i].task->cgroup)
			in[nr++] = (struct member){ f->members[i].task, f->members[i].task->cgroup, f->members[i].own };
	}
	rc = fill_groups(f, in, nr, 0, &f->rep->nr_cgroups, &f->rep->cgroups);
	free(in);
	return rc;
}

/* Rows by what @name_of reads from the cgroup, which is @none outside of any. */
static int fill_owners(struct finish *f, char *(*name_of)(struct resched_owner *), const char *none, unsigned int *ret_nr,
		       struct resched_group_row **ret)
{
	struct member *in = calloc(f->nr_members + 1, sizeof(*in));
	struct resched_owner *owners = calloc(f->nr_members + 1, sizeof(*owners));
	unsigned int nr = 0;
	int rc = in && owners ? 0 : -ENOMEM;

	for (unsigned int i = 0; i < f->nr_members && rc == 0; i++) {
		const char *name;

		if (!f->members[i].task->cgroup)
			continue;
		resched_owner_of(f->members[i].task->cgroup, &owners[nr]);
		name = name_of(&owners[nr]);
		in[nr++] = (struct member){ f->members[i].task, *name ? name : none, f->members[i].own };
	}
	if (rc == 0)
		rc = fill_groups(f, in, nr, 0, ret_nr, ret);
	free(owners);
	free(in);
	return rc;
}

static char *container_of_owner(struct resched_owner *o)
{
	return o->container;
}

static char *unit_of_owner(struct resched_owner *o)
{
	return o->unit;
}

static int fill_cpus(struct finish *f)
{
	struct resched_analysis *an = f->an;
	struct resched_report *rep = f->rep;
	unsigned int nr = 0;

	for (unsigned int i = 0; i < an->nr_cpus; i++) {	/* the array may be longer than the machine */
		if (an->cpu[i].observed || an->cpu[i].gap_end_ns || an->cpu[i].wakeups || an->cpu[i].migrations_in)
			nr = i + 1;
	}
	rep->cpus = calloc(nr + 1, sizeof(*rep->cpus));
	if (!rep->cpus)
		return -ENOMEM;
	for (unsigned int i = 0; i < nr; i++) {
		const struct an_cpu *c = &an->cpu[i];

		if (an->cpus && !rs_cpuset_has(an->cpus, i))
			continue;
		rep->cpus[rep->nr_cpus++] = (struct resched_cpu_row){
			.cpu = i, .busy_ns = c->busy_ns, .idle_ns = c->idle_ns, .switches = c->switches, .wakeups = c->wakeups,
			.migrations_in = c->migrations_in, .migrations_out = c->migrations_out, .observed = c->observed,
		};
		rep->busy_ns += c->busy_ns;
		rep->idle_ns += c->idle_ns;
	}
	return 0;
}

/* Waits still open when the recording ends are never known. */
static void leave_open_waits(struct resched_analysis *an)
{
	for (uint32_t i = 0; i < an->nr_tasks; i++) {
		struct an_task *t = &an->tasks[i];

		if (t->state == AN_QUEUED && !t->dead && (!an->cpus || rs_cpuset_has(an->cpus, t->cpu)))
			t->unresolved++;
	}
}

static int select_members(struct finish *f, uint64_t *ret_unresolved)
{
	struct resched_analysis *an = f->an;

	f->members = calloc(an->nr_tasks + 1u, sizeof(*f->members));
	f->unnamed = calloc(an->nr_tasks + 1u, UNNAMED_LEN);
	if (!f->members || !f->unnamed)
		return -ENOMEM;
	for (uint32_t i = 0; i < an->nr_tasks; i++) {
		const struct an_task *t = &an->tasks[i];

		if (!t->seen || !task_selected(f, t))
			continue;
		if (task_active(t))
			f->members[f->nr_members++].task = t;
		else
			*ret_unresolved += t->unresolved;
	}
	return 0;
}

static int fill_report(struct finish *f)
{
	struct resched_analysis *an = f->an;
	struct resched_report *rep = f->rep;
	uint64_t unresolved = 0;
	int rc;

	rep->first_ns = an->first_ns;
	rep->last_ns = an->last_ns;
	rep->wait_source_is_wakeup = an->source != AN_SOURCE_WAKING;
	rep->exact = 1;
	leave_open_waits(an);
	rc = select_members(f, &unresolved);
	if (rc == 0)
		rc = fill_tasks(f);
	if (rc == 0)
		rc = figures_of(f, f->members, f->nr_members, &rep->totals);
	if (rc == 0)
		rc = fill_comms(f);
	if (rc == 0)
		rc = fill_cgroups(f);
	if (rc == 0 && an->opts.owners)
		rc = fill_owners(f, container_of_owner, "host", &rep->nr_containers, &rep->containers);
	if (rc == 0 && an->opts.owners)
		rc = fill_owners(f, unit_of_owner, "-", &rep->nr_units, &rep->units);
	if (rc == 0)
		rc = fill_cpus(f);
	if (rc == 0 && an->moves) {
		rep->moves = calloc(1, sizeof(*rep->moves));
		rc = rep->moves ? an_moves_finish(an->moves, an->from_ns, an->closed ? an->to_ns : an->last_ns, rep->moves) : -ENOMEM;
	}
	rep->totals.unresolved += unresolved;
	return rc;
}

int resched_analysis_finish(struct resched_analysis *an, struct resched_report **ret, struct resched_error *err)
{
	struct finish f = { .an = an };
	int rc = 0;

	if (an->source == AN_SOURCE_UNDECIDED && an->nr_held)
		rc = an_take_held(an, AN_SOURCE_WAKEUP);
	f.rep = calloc(1, sizeof(*f.rep));
	if (rc < 0 || !f.rep)
		rc = -ENOMEM;
	else
		rc = fill_report(&f);
	rs_merge_release(&f.merge);
	free(f.members);
	free(f.unnamed);
	if (rc < 0) {
		resched_report_free(f.rep);
		return rs_error_nomem(err);
	}
	*ret = f.rep;
	return 0;
}

static void free_groups(struct resched_group_row *rows, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		free(rows[i].name);
		free(rows[i].latencies);
	}
	free(rows);
}

void resched_report_free(struct resched_report *rep)
{
	if (!rep)
		return;
	for (unsigned int i = 0; i < rep->nr_tasks; i++) {
		free(rep->tasks[i].comm);
		free(rep->tasks[i].cgroup);
	}
	free(rep->tasks);
	free_groups(rep->comms, rep->nr_comms);
	free_groups(rep->cgroups, rep->nr_cgroups);
	free_groups(rep->containers, rep->nr_containers);
	free_groups(rep->units, rep->nr_units);
	free(rep->cpus);
	if (rep->moves)
		free(rep->moves->llcs);
	free(rep->moves);
	free(rep);
}
