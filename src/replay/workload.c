// SPDX-License-Identifier: GPL-2.0-only
#include "replay/workload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct rs_op *rs_program_append(struct rs_program *program)
{
	struct rs_op *op;

	if (program->nr_ops == program->room) {
		uint32_t room = program->room ? program->room * 2 : 16;
		struct rs_op *ops = realloc(program->ops, room * sizeof(*ops));

		if (!ops)
			return NULL;
		program->ops = ops;
		program->room = room;
	}
	op = &program->ops[program->nr_ops++];
	*op = (struct rs_op){ .clock_ns = RS_UNKNOWN, .wake_clock_ns = RS_UNKNOWN, .delay_ns = RS_UNKNOWN, .idle_clock_ns = RS_UNKNOWN };
	return op;
}

bool rs_program_serves(const struct rs_program *program)
{
	for (uint32_t i = 0; i < program->nr_ops; i++) {
		if (program->ops[i].kind == RS_OP_BLOCK && program->ops[i].rule == RS_RULE_REQUEST)
			return true;
	}
	return false;
}

struct resched_workload *rs_workload_alloc(void)
{
	struct resched_workload *workload = calloc(1, sizeof(*workload));

	if (!workload)
		return NULL;
	workload->names = resched_names_new();
	if (!workload->names) {
		free(workload);
		return NULL;
	}
	return workload;
}

int64_t rs_workload_add(struct resched_workload *workload, int32_t pid)
{
	struct rs_program *program;

	if (workload->nr_tasks == workload->room) {
		uint32_t room = workload->room ? workload->room * 2 : 64;
		struct rs_program *tasks = realloc(workload->tasks, room * sizeof(*tasks));

		if (!tasks)
			return -ENOMEM;
		workload->tasks = tasks;
		workload->room = room;
	}
	program = &workload->tasks[workload->nr_tasks];
	memset(program, 0, sizeof(*program));
	program->pid = pid;
	program->prio = 120;
	program->parent = RS_NO_TASK;
	program->comm = UINT32_MAX;
	return workload->nr_tasks++;
}

void resched_workload_free(struct resched_workload *workload)
{
	if (!workload)
		return;
	for (uint32_t i = 0; i < workload->nr_tasks; i++) {
		free(workload->tasks[i].ops);
		free(workload->tasks[i].grid);
		free(workload->tasks[i].affinity);
	}
	for (unsigned int i = 0; i < workload->nr_tick_cpus; i++)
		free(workload->ticks[i].notes);
	free(workload->ticks);
	free(workload->tasks);
	resched_names_free(workload->names);
	resched_host_free(workload->host);
	free(workload);
}

const struct resched_workload_info *resched_workload_info(const struct resched_workload *workload)
{
	return &workload->info;
}

struct resched_names *resched_workload_names(const struct resched_workload *workload)
{
	return workload->names;
}

const struct resched_host *resched_workload_host(const struct resched_workload *workload)
{
	return workload->host;
}
