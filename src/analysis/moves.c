// SPDX-License-Identifier: GPL-2.0-only
/*
 * Migrations by reason and by distance, and how long some cpu was idle while a task waited on another one.
 *
 * A cpu counts as idle when nothing runs or waits there, and as one where tasks wait when one runs and others wait: a cpu that is
 * waking up for its task is neither. Affinity is not looked at.
 */
#include "analysis/moves.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_GROUP UINT32_MAX
#define EXEC_NS 20000000u	/* exec moves first; its event comes when the new image is loaded */

enum cpu_kind { CPU_OTHER, CPU_IDLE, CPU_WAITED_ON };

/* A set of cpus: one cache, or all. */
struct group {
	unsigned int first, nr_cpus, nr_idle, nr_waited_on;
	uint64_t since_ns, ns;		/* since_ns: both kinds are there since then; 0 = not now */
};

struct seat { unsigned int nr_queued; uint32_t group; uint8_t kind; };		/* of a cpu */
/* Of a task; queued_on: cpu + 1, 0 = not queued; moved_ns, why: its last move, that may have been the first step of an exec. */
struct mark { uint32_t queued_on; bool placing; uint8_t why; uint64_t moved_ns; };

struct an_moves {
	const struct resched_host *machine;
	struct resched_moves figures;
	struct seat *cpus;
	unsigned int nr_cpus;
	struct mark *tasks;
	uint32_t nr_tasks;
	struct group *groups;		/* the first is the machine */
	unsigned int nr_groups;
};

/* ---- the machine ---- */

static const struct resched_host_cpu *cpu_of(const struct resched_host *machine, unsigned int cpu)
{
	for (unsigned int i = 0; machine && i < machine->nr_cpus; i++) {
		if (machine->cpus[(cpu + i) % machine->nr_cpus].cpu == cpu)
			return &machine->cpus[(cpu + i) % machine->nr_cpus];
	}
	return NULL;
}

static enum resched_move_distance distance(const struct resched_host *machine, unsigned int from, unsigned int to)
{
	const struct resched_host_cpu *a = cpu_of(machine, from), *b = cpu_of(machine, to);

	if (!a || !b || (a->llc < 0 && a->package < 0 && a->core < 0))
		return RESCHED_MOVE_UNKNOWN;
	if (a->core >= 0 && a->core == b->core && a->package == b->package && a->node == b->node)
		return RESCHED_MOVE_CORE;
	if (a->node != b->node)
		return RESCHED_MOVE_FAR;
	return a->llc >= 0 && a->llc == b->llc ? RESCHED_MOVE_LLC : RESCHED_MOVE_NODE;
}

static uint32_t group_of(struct an_moves *m, unsigned int cpu)
{
	const struct resched_host_cpu *c = cpu_of(m->machine, cpu);

	if (!c || !c->online || c->llc < 0)
		return NO_GROUP;
	for (uint32_t g = 1; g < m->nr_groups; g++) {
		const struct resched_host_cpu *other = cpu_of(m->machine, m->groups[g].first);

		if (other && other->llc == c->llc && other->node == c->node)
			return g;
	}
	m->groups[m->nr_groups] = (struct group){ .first = cpu };
	return m->nr_groups++;
}

/* Room for @cpu and all below it. */
static int make_cpus(struct an_moves *m, unsigned int cpu)
{
	unsigned int least = m->machine && cpu < m->machine->nr_cpus ? m->machine->nr_cpus : cpu + 1;
	unsigned int nr = least > 2 * m->nr_cpus ? least : 2 * m->nr_cpus;
	struct group *groups = realloc(m->groups, (nr + 1u) * sizeof(*groups));
	struct seat *cpus = groups ? realloc(m->cpus, nr * sizeof(*cpus)) : NULL;

	if (groups)
		m->groups = groups;
	if (!cpus)
		return -ENOMEM;
	m->cpus = cpus;
	if (!m->nr_groups)
		m->groups[m->nr_groups++] = (struct group){ 0 };
	for (; m->nr_cpus < nr; m->nr_cpus++)
		m->cpus[m->nr_cpus] = (struct seat){ .group = group_of(m, m->nr_cpus) };
	return 0;
}

/* ---- idle while tasks wait ---- */

static void count_kind(struct group *g, enum cpu_kind was, enum cpu_kind is, uint64_t from_ns, uint64_t now)
{
	bool before = g->nr_idle && g->nr_waited_on, after;

	g->nr_idle += (is == CPU_IDLE) - (was == CPU_IDLE);
	g->nr_waited_on += (is == CPU_WAITED_ON) - (was == CPU_WAITED_ON);
	after = g->nr_idle && g->nr_waited_on;
	if (after && !before)
		g->since_ns = now;
	if (before && !after && now > from_ns)
		g->ns += now - (g->since_ns > from_ns ? g->since_ns : from_ns);
}

static void look_at_cpu(struct an_moves *m, const struct resched_analysis *an, unsigned int cpu, uint64_t now)
{
	const struct an_cpu *c = &an->cpu[cpu];
	struct seat *s = &m->cpus[cpu];
	enum cpu_kind is = !c->known ? CPU_OTHER : c->pid ? (s->nr_queued ? CPU_WAITED_ON : CPU_OTHER) : s->nr_queued ? CPU_OTHER : CPU_IDLE;

	if (is == s->kind)
		return;
	count_kind(&m->groups[0], s->kind, is, an->from_ns, now);
	if (s->group != NO_GROUP)
		count_kind(&m->groups[s->group], s->kind, is, an->from_ns, now);
	s->kind = is;
}

/* Where a task waits now; both cpus concerned are looked at. */
static int look_at_task(struct an_moves *m, const struct resched_analysis *an, uint32_t row, uint64_t now)
{
	const struct an_task *t = &an->tasks[row];
	uint32_t on = t->state == AN_QUEUED && !t->dead ? t->cpu + 1u : 0, was;

	if (row >= m->nr_tasks) {
		uint32_t nr = row + 1 > 2 * m->nr_tasks ? row + 1 : 2 * m->nr_tasks;
		struct mark *more = realloc(m->tasks, nr * sizeof(*more));

		if (!more)
			return -ENOMEM;
		memset(more + m->nr_tasks, 0, (nr - m->nr_tasks) * sizeof(*more));
		m->tasks = more;
		m->nr_tasks = nr;
	}
	was = m->tasks[row].queued_on;
	if (on == was)
		return 0;
	if (on > m->nr_cpus && make_cpus(m, on - 1) < 0)
		return -ENOMEM;
	m->tasks[row].queued_on = on;
	if (was) {
		m->cpus[was - 1].nr_queued--;
		look_at_cpu(m, an, was - 1, now);
	}
	if (on) {
		m->cpus[on - 1].nr_queued++;
		look_at_cpu(m, an, on - 1, now);
	}
	return 0;
}

/* ---- migrations ---- */

static bool by_stopper(const struct resched_analysis *an, unsigned int cpu)
{
	const struct an_cpu *c = &an->cpu[cpu];
	char buf[32];

	return c->known && c->row != AN_NO_ROW && !strncmp(an_name(an, &an->tasks[c->row], buf, sizeof(buf)), "migration/", 10);
}

/*
 * Who balances pulls to its own cpu, or works for others that idle in a softirq; a task that moves another from elsewhere to elsewhere
 * changes where that may run (sched_setaffinity(), a cpuset).
 */
static bool by_task(const struct resched_analysis *an, const struct resched_event *ev)
{
	const struct an_cpu *c = &an->cpu[ev->cpu];

	return ev->migrate.to_cpu != ev->cpu && !(ev->ctx & (RESCHED_CTX_HARDIRQ | RESCHED_CTX_SOFTIRQ)) && c->known && c->row != AN_NO_ROW;
}

static void count_move(struct an_moves *m, const struct resched_analysis *an, const struct resched_event *ev, const struct an_task *t, struct mark *mark)
{
	enum resched_move_reason why = RESCHED_MOVE_BALANCE;

	if (mark->placing || (an->source != AN_SOURCE_WAKING && t->state == AN_SLEEPING))
		why = RESCHED_MOVE_WAKEUP;
	else if (by_stopper(an, ev->cpu))
		why = RESCHED_MOVE_STOPPER;
	else if (by_task(an, ev))
		why = RESCHED_MOVE_AFFINITY;
	mark->moved_ns = ev->ts_ns;
	mark->why = (uint8_t)why;
	m->figures.by_reason[why]++;
	m->figures.by_distance[distance(m->machine, ev->migrate.from_cpu, ev->migrate.to_cpu)]++;
}

/* A replay has no stopper: there the two come together. */
static bool moved_to_exec(const struct mark *mark, uint64_t exec_ns)
{
	if (!mark->moved_ns)
		return false;
	return mark->why == RESCHED_MOVE_STOPPER ? exec_ns - mark->moved_ns < EXEC_NS
						 : mark->why != RESCHED_MOVE_WAKEUP && exec_ns == mark->moved_ns;
}

int an_moves_event(struct an_moves *m, const struct resched_analysis *an, const struct resched_event *ev)
{
	uint32_t row = ev->pid ? rs_map_get(&an->by_pid, (uint32_t)ev->pid) : RS_MAP_NONE, next = RS_MAP_NONE;
	bool counts = ev->ts_ns >= an->from_ns;

	if (ev->cpu >= m->nr_cpus && make_cpus(m, ev->cpu) < 0)
		return -ENOMEM;
	if (row != RS_MAP_NONE) {
		struct mark *mark;

		if (look_at_task(m, an, row, ev->ts_ns) < 0)
			return -ENOMEM;
		mark = &m->tasks[row];
		if (ev->type == RESCHED_EV_WAKING)
			mark->placing = true;
		else if (ev->type == RESCHED_EV_WAKEUP || ev->type == RESCHED_EV_SWITCH)
			mark->placing = false;
		else if (ev->type == RESCHED_EV_WAKEUP_NEW && counts)
			m->figures.forks_elsewhere += ev->wake.target_cpu != ev->cpu;
		else if (ev->type == RESCHED_EV_MIGRATE && counts)
			count_move(m, an, ev, &an->tasks[row], mark);
		if (ev->type == RESCHED_EV_EXEC && moved_to_exec(mark, ev->ts_ns)) {
			m->figures.by_reason[mark->why]--;
			m->figures.by_reason[RESCHED_MOVE_EXEC]++;
			mark->moved_ns = 0;
		}
	}
	if (ev->type == RESCHED_EV_SWITCH && ev->sw.next_pid)
		next = rs_map_get(&an->by_pid, (uint32_t)ev->sw.next_pid);
	if (next != RS_MAP_NONE && look_at_task(m, an, next, ev->ts_ns) < 0)
		return -ENOMEM;
	if (ev->type == RESCHED_EV_SWITCH || ev->type == RESCHED_EV_LOST)
		look_at_cpu(m, an, ev->cpu, ev->ts_ns);
	return 0;
}

/* ---- life ---- */

struct an_moves *an_moves_new(const struct resched_host *machine)
{
	struct an_moves *m = calloc(1, sizeof(*m));

	if (m)
		m->machine = machine;
	return m;
}

int an_moves_finish(struct an_moves *m, uint64_t from_ns, uint64_t end_ns, struct resched_moves *ret)
{
	*ret = m->figures;
	for (unsigned int i = 0; m->nr_cpus && m->machine && i < m->machine->nr_cpus; i++) {
		const struct resched_host_cpu *c = &m->machine->cpus[i];

		if (c->online && c->cpu < m->nr_cpus && m->cpus[c->cpu].group != NO_GROUP)
			m->groups[m->cpus[c->cpu].group].nr_cpus++;
	}
	for (unsigned int g = 0; g < m->nr_groups; g++) {
		struct group *at = &m->groups[g];

		if (at->nr_idle && at->nr_waited_on && end_ns > at->since_ns && end_ns > from_ns)
			at->ns += end_ns - (at->since_ns > from_ns ? at->since_ns : from_ns);
	}
	ret->idle_while_waiting_ns = m->nr_groups ? m->groups[0].ns : 0;
	ret->nr_llcs = m->nr_groups > 1 ? m->nr_groups - 1 : 0;
	ret->llcs = calloc(ret->nr_llcs + 1u, sizeof(*ret->llcs));
	if (!ret->llcs)
		return -ENOMEM;
	for (unsigned int g = 0; g < ret->nr_llcs; g++)
		ret->llcs[g] = (struct resched_llc_row){ m->groups[g + 1].first, m->groups[g + 1].nr_cpus, m->groups[g + 1].ns };
	return 0;
}

void an_moves_free(struct an_moves *m)
{
	if (!m)
		return;
	free(m->cpus);
	free(m->tasks);
	free(m->groups);
	free(m);
}
