// SPDX-License-Identifier: GPL-2.0-only
#include "replay/complete.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpulist.h"
#include "replay/servers.h"

#define MIN_BLOCKS_TO_LOOP 4u

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Typical demand between two sleeps, the number of sleeps that ended, and the last of them. */
struct habit {
	uint64_t stretch_ns;
	uint32_t sleeps, last_sleep;
};

static int find_habit(const struct rs_program *program, struct habit *ret)
{
	uint64_t *stretches = malloc(((size_t)program->nr_ops + 1) * sizeof(*stretches)), run = 0;

	if (!stretches)
		return -ENOMEM;
	*ret = (struct habit){ 0 };
	for (uint32_t i = 0; i < program->nr_ops; i++) {
		run += program->ops[i].run_ns;
		if (program->ops[i].kind != RS_OP_BLOCK || program->ops[i].rule == RS_RULE_NEVER)
			continue;
		stretches[ret->sleeps++] = run;
		ret->last_sleep = i;
		run = 0;
	}
	qsort(stretches, ret->sleeps, sizeof(*stretches), compare_u64);
	if (ret->sleeps)
		ret->stretch_ns = stretches[ret->sleeps / 2];
	free(stretches);
	return 0;
}

/* Where a program that ends in a sleep starts over: after its first sleep. One that forks does not. */
static uint32_t loop_start(const struct rs_program *program)
{
	uint32_t start = UINT32_MAX;

	for (uint32_t i = 0; i < program->nr_ops; i++) {
		if (program->ops[i].kind == RS_OP_FORK)
			return UINT32_MAX;
		if (start == UINT32_MAX && i && i + 1 < program->nr_ops && program->ops[i].kind == RS_OP_BLOCK)
			start = i + 1;
	}
	return start;
}

/* The end of a program whose task was running or waiting to when the recording ended. */
static struct rs_op *close_stretch(struct rs_program *program, const struct rs_ending *ending, const struct habit *habit)
{
	struct rs_op *op = rs_program_append(program);

	if (!op)
		return NULL;
	op->kind = ending->hog ? RS_OP_ENDLESS : RS_OP_BLOCK;
	op->run_ns = ending->run_ns;
	if (!ending->hog && op->run_ns < habit->stretch_ns)
		op->run_ns = habit->stretch_ns;
	return op;
}

/*
 * A recording cuts programs off. A task that has not slept for most of its life goes on for ever. One that sleeps now and then
 * gets at least a typical stretch for the one that was cut; if it slept again and again, its last sleep ends as the one before
 * and it starts over, so that a policy that serves it better is not made to look idle. Kernel threads, real-time tasks and
 * tasks that fork just stop.
 */
static int complete_program(struct rs_program *program, const struct rs_ending *ending)
{
	struct habit habit;
	struct rs_op *op;
	int rc;

	program->loop_to = UINT32_MAX;
	while (program->nr_ops && program->ops[program->nr_ops - 1].kind == RS_OP_MOVE &&
	       program->ops[program->nr_ops - 1].rule >= RS_MOVE_ASLEEP)
		program->nr_ops--; /* its last sleep goes on */
	if (ending->end == RS_END_GONE)
		return 0;
	rc = find_habit(program, &habit);
	if (rc < 0)
		return rc;
	if (ending->end == RS_END_RUNNABLE && !close_stretch(program, ending, &habit))
		return -ENOMEM;
	op = program->nr_ops ? &program->ops[program->nr_ops - 1] : NULL;
	if (!op || op->kind != RS_OP_BLOCK || habit.sleeps < MIN_BLOCKS_TO_LOOP || program->kthread || program->prio < 100)
		return 0;
	if (op->rule == RS_RULE_NEVER) {
		uint64_t run = op->run_ns;

		*op = program->ops[habit.last_sleep];
		op->run_ns = run;
	}
	program->loop_to = loop_start(program);
	return 0;
}

static int take_affinity(struct rs_program *program, const char *affinity)
{
	if (!affinity)
		return 0;
	program->affinity = strdup(affinity);
	return program->affinity ? 0 : -ENOMEM;
}

/* Kernel threads of one cpu say so in their names. A recording without a snapshot, or a worker born in it, has no other word of it. */
static int take_affinity_of_name(struct rs_program *program, const char *name)
{
	static const char *const bound[] = { "kworker/", "ksoftirqd/", "migration/", "cpuhp/", "rcuc/", "idle_inject/", "irq_work/", "ktimers/" };
	char list[16], *end;

	for (size_t i = 0; i < sizeof(bound) / sizeof(bound[0]); i++) {
		size_t len = strlen(bound[i]);
		unsigned long cpu;

		if (strncmp(name, bound[i], len) != 0 || name[len] < '0' || name[len] > '9')
			continue;
		cpu = strtoul(name + len, &end, 10);
		if (cpu >= RS_MAX_CPUS || *end != (i ? '\0' : ':'))
			continue;
		snprintf(list, sizeof(list), "%lu", cpu);
		free(program->affinity);
		program->affinity = NULL;
		program->kthread = 1;
		return take_affinity(program, list);
	}
	return 0;
}

static const char *last_name(const struct resched_workload *workload, const struct rs_program *program)
{
	uint32_t comm = program->comm;

	for (uint32_t i = 0; i < program->nr_ops; i++)
		comm = program->ops[i].kind == RS_OP_COMM ? program->ops[i].arg : comm;
	return comm == UINT32_MAX ? "" : resched_names_get(workload->names, comm);
}

/* What the snapshot knows of the task; one that it does not know copies its parent. */
static int identify(const struct resched_workload *workload, struct rs_program *program)
{
	const struct resched_host_task *known = program->birth_nr ? NULL : resched_host_task(workload->host, program->pid);
	int rc = 0;

	if (known && !program->attr_later) {
		program->policy = known->policy;
		program->slice_ns = known->slice_ns;
		program->kthread |= known->kthread != 0;
		rc = take_affinity(program, known->affinity);
	} else if (program->parent != RS_NO_TASK) {
		const struct rs_program *parent = &workload->tasks[program->parent];

		program->policy = parent->policy;
		program->slice_ns = parent->slice_ns;
		rc = take_affinity(program, parent->affinity);
	}
	if (rc == 0 && !known)
		rc = take_affinity_of_name(program, last_name(workload, program));
	if (program->prio >= 100 && (program->policy == 1 || program->policy == 2 || program->policy == 6))
		program->policy = 0; /* the events show it fair: they are newer than the snapshot */
	return rc;
}

static void count_wakes(const struct rs_program *program, struct resched_workload_info *info)
{
	info->nr_servers += rs_program_serves(program);
	for (uint32_t i = 0; i < program->nr_ops; i++) {
		if (program->ops[i].kind != RS_OP_BLOCK)
			continue;
		info->wakes_causal += rs_op_ended_by_task(&program->ops[i]) && program->ops[i].when_ns;
		info->wakes_periodic += program->ops[i].rule == RS_RULE_PERIODIC;
		info->wakes_relative += program->ops[i].rule == RS_RULE_RELATIVE;
		info->wakes_absolute += program->ops[i].rule == RS_RULE_ABSOLUTE || program->ops[i].rule == RS_RULE_ARRIVAL;
	}
	info->nr_ops += program->nr_ops;
}

int rs_programs_complete(struct resched_workload *workload, const struct rs_ending *endings)
{
	int rc = rs_servers_find(workload);

	/* Parents come before their children, so what a child copies is already known. */
	for (uint32_t t = 0; t < workload->nr_tasks && !rc; t++) {
		struct rs_program *program = &workload->tasks[t];

		rc = identify(workload, program);
		if (!rc)
			rc = rs_timers_classify(program);
		if (!rc) {
			count_wakes(program, &workload->info);
			rc = complete_program(program, &endings[t]);
		}
	}
	return rc;
}
