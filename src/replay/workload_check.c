// SPDX-License-Identifier: GPL-2.0-only
/* What a run takes for granted, checked for a workload from outside. */
#include "replay/workload_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/cpulist.h"
#include "base/error.h"

struct check {
	const struct resched_workload *workload;
	const char *path;
	const unsigned long *lines;
	struct resched_error *err;
	uint32_t task;
};

static int bad(const struct check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int bad(const struct check *c, const char *fmt, ...)
{
	char text[200], where[40] = "";
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (c->lines)
		snprintf(where, sizeof(where), ", line %lu", c->lines[c->task]);
	return rs_error_set(c->err, RESCHED_FAILED, -EBADMSG, "%.200s%s: task %" PRIu32 " %s", c->path, where, c->task, text);
}

/* What operation @i of @program refers to. */
static int check_op(const struct check *c, const struct rs_program *program, uint32_t i)
{
	const struct rs_op *op = &program->ops[i];
	bool to_task = op->kind == RS_OP_WAKE || op->kind == RS_OP_FORK || rs_op_ended_by_task(op);

	if (to_task && op->arg >= c->workload->nr_tasks)
		return bad(c, "refers to task %" PRIu32 " in operation %" PRIu32 ", and there is none", op->arg, i);
	if (op->kind == RS_OP_FORK && c->workload->tasks[op->arg].birth != RS_BORN_FORKED)
		return bad(c, "forks task %" PRIu32 ", which is there without that (start=forked)", op->arg);
	if (op->kind == RS_OP_BLOCK && op->rule == RS_RULE_PERIODIC && !program->period_ns)
		return bad(c, "sleeps until its next period in operation %" PRIu32 ", and has no period=", i);
	if (op->kind == RS_OP_SPIN && !op->len_ns)
		return bad(c, "spins for no time in operation %" PRIu32 ": give len=", i);
	if (op->kind == RS_OP_ATTR && op->when_ns > 10000000000)
		return bad(c, "asks for a slice over 10 s in operation %" PRIu32, i);
	return 0;
}

/* Does one pass over the operations from @from to @to take any time? */
static bool takes_time(const struct rs_program *program, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		const struct rs_op *op = &program->ops[i];

		if (op->run_ns || op->kind == RS_OP_SPIN || op->kind == RS_OP_ENDLESS || op->kind == RS_OP_EXIT)
			return true;
		if (op->kind == RS_OP_BLOCK && !rs_op_ended_by_task(op))
			return true; /* a timer takes some, whatever it says */
	}
	return false;
}

static int check_repeats(const struct check *c, const struct rs_program *program)
{
	uint32_t free_from = 0; /* behind the last REPEAT */

	for (uint32_t i = 0; i < program->nr_ops; i++) {
		const struct rs_op *op = &program->ops[i];

		if (op->kind != RS_OP_REPEAT)
			continue;
		if (op->arg > i || op->arg < free_from)
			return bad(c, "repeats from operation %" PRIu32 " in operation %" PRIu32 ": that is ahead, or one repeat inside another",
				   op->arg, i);
		if (op->len_ns > RS_FILE_MAX_REPEATS)
			return bad(c, "repeats more than %u times in operation %" PRIu32, RS_FILE_MAX_REPEATS, i);
		if (!takes_time(program, op->arg, i) && !op->run_ns)
			return bad(c, "repeats operations that take no time in operation %" PRIu32, i);
		free_from = i + 1;
	}
	if (program->loop_to < program->nr_ops && !takes_time(program, program->loop_to, program->nr_ops))
		return bad(c, "loops over operations that take no time");
	return 0;
}

static int check_task(const struct check *c, const struct rs_program *program)
{
	int rc = 0;

	/* A child copies what its parent is, so the parent is known by then. */
	if (program->parent != RS_NO_TASK && program->parent >= c->task)
		return bad(c, "has parent %" PRIu32 ", which does not come before it", program->parent);
	if (program->cpu >= RS_MAX_CPUS)
		return bad(c, "is on cpu %u", program->cpu);
	for (uint32_t i = 0; i < program->nr_ops && !rc; i++)
		rc = check_op(c, program, i);
	return rc ? rc : check_repeats(c, program);
}

int rs_workload_check(const struct resched_workload *workload, const char *path, const unsigned long *lines, struct resched_error *err)
{
	const struct resched_workload_info *info = &workload->info;
	struct check c = { workload, path, lines, err, 0 };
	int rc = 0;

	if (info->last_ns < info->first_ns)
		return rs_error_set(err, RESCHED_FAILED, -EBADMSG, "%.200s: span ends before it begins", path);
	if (info->tick_phase_ns >= info->tick_ns)
		return rs_error_set(err, RESCHED_FAILED, -EBADMSG, "%.200s: the phase of the tick is longer than the tick", path);
	for (; c.task < workload->nr_tasks && !rc; c.task++)
		rc = check_task(&c, &workload->tasks[c.task]);
	return rc;
}
