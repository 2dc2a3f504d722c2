// SPDX-License-Identifier: GPL-2.0-only
#include <resched/select.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <resched/analysis.h>
#include <resched/host.h>

#include "analysis/state.h"
#include "base/cpulist.h"
#include "base/error.h"
#include "base/event_names.h"
#include "base/map.h"

struct resched_select {
	struct resched_select_options opts;	/* texts and pids owned */
	const struct resched_names *names;
	resched_event_fn sink;
	void *sink_ctx;
	struct rs_cpuset *cpus;		/* NULL = all */
	struct rs_map comm;		/* pid -> name now */
	struct rs_map told;		/* pid -> name that was passed on last */
	uint64_t passed;
};

static int copy_options(struct resched_select *s, const struct resched_select_options *opts, struct resched_error *err)
{
	char *cpus = opts->cpus ? strdup(opts->cpus) : NULL, *glob = opts->comm_glob ? strdup(opts->comm_glob) : NULL;
	int *pids = opts->nr_pids ? malloc(opts->nr_pids * sizeof(*pids)) : NULL;

	s->opts = *opts;
	s->opts.cpus = cpus;
	s->opts.comm_glob = glob;
	s->opts.pids = pids;
	if ((opts->cpus && !cpus) || (opts->comm_glob && !glob) || (opts->nr_pids && !pids))
		return rs_error_nomem(err);
	if (pids)
		memcpy(pids, opts->pids, opts->nr_pids * sizeof(*pids));
	if (!cpus)
		return 0;
	s->cpus = calloc(1, sizeof(*s->cpus));
	if (!s->cpus)
		return rs_error_nomem(err);
	if (rs_cpulist_parse(cpus, s->cpus) < 0)
		return rs_error_set(err, RESCHED_USAGE, -EINVAL, "'%s' is not a list of cpus; write it as 0-3,8", cpus);
	return 0;
}

int resched_select_new(const struct resched_select_options *opts, const struct resched_names *names, resched_event_fn sink, void *sink_ctx,
		       struct resched_select **ret, struct resched_error *err)
{
	struct resched_select *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return rs_error_nomem(err);
	s->names = names;
	s->sink = sink;
	s->sink_ctx = sink_ctx;
	rc = copy_options(s, opts, err);
	if (rc < 0) {
		resched_select_free(s);
		return rc;
	}
	*ret = s;
	return 0;
}

void resched_select_window(struct resched_select *s, uint64_t from_ns, uint64_t to_ns)
{
	s->opts.from_ns = from_ns;
	s->opts.to_ns = to_ns;
}

static bool task_chosen(const struct resched_select *s, int32_t pid)
{
	uint32_t name;
	bool found = !s->opts.nr_pids;

	for (unsigned int i = 0; i < s->opts.nr_pids && !found; i++)
		found = s->opts.pids[i] == pid;
	if (!found || !s->opts.comm_glob)
		return found;
	name = rs_map_get(&s->comm, (uint32_t)pid);
	return pid && name != RS_MAP_NONE && rs_glob_match(s->opts.comm_glob, resched_names_get(s->names, name));
}

/* The tasks that an event concerns. Return: their number, at most 2. */
static unsigned int tasks_of(const struct resched_event *ev, int32_t pids[2])
{
	pids[0] = ev->pid;
	switch (ev->type) {
	case RESCHED_EV_SWITCH:
		pids[1] = ev->sw.next_pid;
		return 2;
	case RESCHED_EV_FORK:
		pids[1] = ev->fork.child_pid;
		return 2;
	case RESCHED_EV_WAKING:
	case RESCHED_EV_WAKEUP:
	case RESCHED_EV_WAKEUP_NEW:
		pids[1] = ev->wake.waker_pid;
		return 2;
	case RESCHED_EV_OTHER:
	case RESCHED_EV_IRQ:
	case RESCHED_EV_LOST:
		return 0;
	default:
		return 1;
	}
}

static bool chosen(const struct resched_select *s, const struct resched_event *ev, unsigned int nr, const int32_t *pids)
{
	if (ev->ts_ns < s->opts.from_ns || (s->opts.to_ns && ev->ts_ns >= s->opts.to_ns) || (s->cpus && !rs_cpuset_has(s->cpus, ev->cpu)))
		return false;
	if ((!s->opts.nr_pids && !s->opts.comm_glob) || ev->type == RESCHED_EV_LOST)
		return true;
	for (unsigned int i = 0; i < nr; i++) {
		if (task_chosen(s, pids[i]))
			return true;
	}
	return false;
}

static int tell_name(struct resched_select *s, const struct resched_event *ev, int32_t pid, bool renamed)
{
	struct resched_event out = { .ts_ns = ev->ts_ns, .cpu = ev->cpu, .ctx = ev->ctx, .pid = pid, .type = RESCHED_EV_COMM };
	uint32_t name = pid ? rs_map_get(&s->comm, (uint32_t)pid) : RS_MAP_NONE;

	if (name == RS_MAP_NONE || rs_map_get(&s->told, (uint32_t)pid) == name)
		return 0;
	if (rs_map_set(&s->told, (uint32_t)pid, name) < 0)
		return -ENOMEM;
	out.comm.name = name;
	out.comm.renamed = renamed;
	return s->sink(s->sink_ctx, &out);
}

static int take_name(struct resched_select *s, const struct resched_event *ev)
{
	int32_t pids[1] = { ev->pid };

	if (rs_map_set(&s->comm, (uint32_t)ev->pid, ev->comm.name) < 0)
		return -ENOMEM;
	/* who is known downstream is told of his new name at once, all others when they are met */
	if (rs_map_get(&s->told, (uint32_t)ev->pid) != RS_MAP_NONE && chosen(s, ev, 1, pids))
		return tell_name(s, ev, ev->pid, ev->comm.renamed);
	return 0;
}

int resched_select_event(void *select, const struct resched_event *ev)
{
	struct resched_select *s = select;
	int32_t pids[2];
	unsigned int nr;

	if (ev->type == RESCHED_EV_COMM)
		return take_name(s, ev);
	nr = tasks_of(ev, pids);
	if (!chosen(s, ev, nr, pids))
		return 0;
	for (unsigned int i = 0; i < nr; i++) {
		bool known = rs_map_get(&s->told, (uint32_t)pids[i]) != RS_MAP_NONE;
		int rc = tell_name(s, ev, pids[i], known);

		if (rc < 0)
			return rc;
	}
	s->passed++;
	return s->sink(s->sink_ctx, ev);
}

uint64_t resched_select_passed(const struct resched_select *s)
{
	return s->passed;
}

void resched_select_free(struct resched_select *s)
{
	if (!s)
		return;
	free((char *)(uintptr_t)s->opts.cpus);
	free((char *)(uintptr_t)s->opts.comm_glob);
	free((int *)(uintptr_t)s->opts.pids);
	free(s->cpus);
	rs_map_release(&s->comm);
	rs_map_release(&s->told);
	free(s);
}

static bool has_cpu(const struct resched_report *report, const struct resched_host *host, unsigned int nr_cpus, unsigned int cpu)
{
	for (unsigned int i = 0; i < report->nr_cpus; i++) {
		if (report->cpus[i].cpu == cpu && report->cpus[i].observed)
			return true;
	}
	if (!host || !host->nr_cpus)
		return cpu < nr_cpus;
	for (unsigned int i = 0; i < host->nr_cpus; i++) {
		if (host->cpus[i].cpu == cpu)
			return true;
	}
	return false;
}

int resched_select_check_cpus(const char *cpus, const struct resched_report *report, const struct resched_host *host, unsigned int nr_cpus,
			      struct resched_error *err)
{
	struct rs_cpuset wanted, known = { 0 };
	char has[120];

	if (!cpus || !*cpus || rs_cpulist_parse(cpus, &wanted) < 0)
		return 0;
	for (unsigned int cpu = 0; cpu < RS_MAX_CPUS; cpu++) {
		if (has_cpu(report, host, nr_cpus, cpu))
			rs_cpuset_add(&known, cpu);
	}
	rs_cpulist_format(&known, has, sizeof(has));
	for (unsigned int cpu = 0; cpu < RS_MAX_CPUS; cpu++) {
		if (rs_cpuset_has(&wanted, cpu) && !rs_cpuset_has(&known, cpu))
			return rs_error_set(err, RESCHED_USAGE, -EINVAL, "the recording has no cpu %u; it has %s", cpu, has);
	}
	return 0;
}
