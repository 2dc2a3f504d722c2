// SPDX-License-Identifier: GPL-2.0-only
/* A workload as rt-app's JSON. Format: rt-app's doc/tutorial.txt, version 1.0. */
#include <resched/rtapp.h>

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpulist.h"
#include "base/error.h"
#include "replay/workload.h"

#define US 1000u
#define NAME_LEN 32u

struct out {
	FILE *file;
	const struct resched_workload *workload;
	unsigned int nr_events;		/* names of events are unique in a phase */
	uint64_t run_ns;		/* demand that is not written yet */
	bool phase_open, first_phase;
};

/* Is the task one that a program can play? */
static bool is_played(const struct rs_program *program)
{
	return !program->kthread && program->nr_ops && !(program->nr_ops == 1 && program->ops[0].rule == RS_RULE_NEVER &&
							 program->ops[0].kind == RS_OP_BLOCK && !program->ops[0].run_ns);
}

/* Unique, and short enough that rt-app's own suffix fits into a task's name. */
static const char *task_name(const struct resched_workload *workload, uint32_t idx, char *buf)
{
	const char *comm = resched_names_get(workload->names, workload->tasks[idx].comm);
	size_t len = 0;

	for (; len < 6 && comm[len]; len++)
		buf[len] = isalnum((unsigned char)comm[len]) ? comm[len] : '_';
	snprintf(buf + len, NAME_LEN - len, "_%" PRIu32, idx);
	return buf;
}

/* ---- events ---- */

static void begin_event(struct out *o)
{
	if (!o->phase_open) {
		fprintf(o->file, "%s", o->first_phase ? "" : ",\n");
		o->first_phase = false;
		o->phase_open = true;
		o->nr_events = 0;
	}
	fputs(o->nr_events ? ",\n" : "", o->file);
	o->nr_events++;
}

/* The rest of a us goes into the next run. */
static void flush_run(struct out *o)
{
	if (o->run_ns < US)
		return;
	begin_event(o);
	fprintf(o->file, "\t\t\t\t\t\"run%u\" : %" PRIu64, o->nr_events, o->run_ns / US);
	o->run_ns %= US;
}

static void put_number(struct out *o, const char *event, uint64_t ns)
{
	flush_run(o);
	begin_event(o);
	fprintf(o->file, "\t\t\t\t\t\"%s%u\" : %" PRIu64, event, o->nr_events, ns / US ? ns / US : 1);
}

static void put_text(struct out *o, const char *event, const char *prefix, const char *text)
{
	flush_run(o);
	begin_event(o);
	fprintf(o->file, "\t\t\t\t\t\"%s%u\" : \"%s%s\"", event, o->nr_events, prefix, text);
}

static void put_timer(struct out *o, const struct rs_program *program)
{
	flush_run(o);
	begin_event(o);
	fprintf(o->file, "\t\t\t\t\t\"timer%u\" : { \"ref\" : \"unique\", \"period\" : %" PRIu64 ", \"mode\" : \"%s\" }", o->nr_events,
		program->period_ns / US, program->catch_up ? "absolute" : "relative");
}

static void put_sleep(struct out *o, uint32_t idx, const struct rs_op *op, bool at_start)
{
	const struct rs_program *program = &o->workload->tasks[idx];
	uint64_t first = o->workload->info.first_ns;
	char name[NAME_LEN];

	if (rs_op_ended_by_task(op) && is_played(&o->workload->tasks[op->arg]))
		put_text(o, "suspend", "", task_name(o->workload, idx, name));
	else if (at_start && op->when_ns > first)
		put_number(o, "sleep", op->when_ns - first);
	else if (op->rule == RS_RULE_PERIODIC)
		put_timer(o, program);
	else if (op->len_ns)
		put_number(o, "sleep", op->len_ns);
}

/* Return: false when nothing comes after it. */
static bool put_op(struct out *o, uint32_t idx, uint32_t i)
{
	const struct resched_workload *workload = o->workload;
	const struct rs_program *program = &workload->tasks[idx];
	const struct rs_op *op = &program->ops[i];
	char name[NAME_LEN];

	o->run_ns += op->run_ns;
	switch (op->kind) {
	case RS_OP_BLOCK:
		if (op->rule == RS_RULE_NEVER)
			return false;
		put_sleep(o, idx, op, i == 0 && program->birth == RS_BORN_ASLEEP);
		break;
	case RS_OP_WAKE:
		if (is_played(&workload->tasks[op->arg]))
			put_text(o, "resume", "", task_name(workload, op->arg, name));
		break;
	case RS_OP_FORK:
		if (is_played(&workload->tasks[op->arg]))
			put_text(o, "resume", "fork_", task_name(workload, op->arg, name));
		break;
	case RS_OP_RESCHED:
		put_text(o, "yield", "", "");
		break;
	case RS_OP_SPIN:
		put_number(o, "runtime", op->len_ns);
		break;
	case RS_OP_ENDLESS:
		o->run_ns += workload->info.last_ns - workload->info.first_ns;
		return false;
	case RS_OP_EXIT:
		return false;
	default:
		break;
	}
	return true;
}

/* ---- phases: stretches of operations between the edges of repeats ---- */

static bool is_edge(const struct rs_program *program, uint32_t i)
{
	if (program->loop_to == i)
		return true;
	for (uint32_t k = i; k < program->nr_ops; k++) {
		if (program->ops[k].kind == RS_OP_REPEAT)
			return program->ops[k].arg == i;
	}
	return false;
}

/* How often the phase is played that ends before operation @end and began at @from. */
static int64_t phase_loops(const struct rs_program *program, uint32_t from, uint32_t end)
{
	if (end < program->nr_ops && program->ops[end].kind == RS_OP_REPEAT && program->ops[end].arg == from)
		return (int64_t)program->ops[end].len_ns + 1;
	return end == program->nr_ops && program->loop_to == from && from ? -1 : 1;
}

static void put_phase(struct out *o, uint32_t idx, uint32_t from, uint32_t *end, unsigned int nr, bool *goes_on)
{
	const struct rs_program *program = &o->workload->tasks[idx];
	bool has_repeats = false;
	char *text = NULL;
	size_t len = 0;
	FILE *file = o->file;
	uint32_t i = from;

	for (uint32_t k = 0; k < program->nr_ops && !has_repeats; k++)
		has_repeats = program->ops[k].kind == RS_OP_REPEAT;
	o->file = open_memstream(&text, &len);
	if (!o->file) {
		o->file = file;
		*goes_on = false;
		return;
	}
	o->phase_open = false;
	while (*goes_on && i < program->nr_ops && program->ops[i].kind != RS_OP_REPEAT) {
		*goes_on = put_op(o, idx, i++);
		if (i < program->nr_ops && (has_repeats ? is_edge(program, i) : program->loop_to == i))
			break;
	}
	flush_run(o);
	fclose(o->file);
	o->file = file;
	if (o->phase_open)
		fprintf(file, "%s\t\t\t\t\"p%u\" : {\n\t\t\t\t\t\"loop\" : %" PRId64 ",\n%s\n\t\t\t\t}", nr ? ",\n" : "", nr,
			phase_loops(program, from, i), text[0] == ',' ? text + 2 : text);
	free(text);
	*end = i < program->nr_ops && program->ops[i].kind == RS_OP_REPEAT ? i + 1 : i;
}

static void put_phases(struct out *o, uint32_t idx)
{
	const struct rs_program *program = &o->workload->tasks[idx];
	bool goes_on = true;
	unsigned int nr = 0;
	char name[NAME_LEN];

	o->run_ns = 0;
	o->first_phase = true;
	if (program->birth == RS_BORN_FORKED) {
		fprintf(o->file, "\t\t\t\t\"p0\" : {\n\t\t\t\t\t\"loop\" : 1,\n\t\t\t\t\t\"suspend\" : \"fork_%s\"\n\t\t\t\t}",
			task_name(o->workload, idx, name));
		nr = 1;
	}
	for (uint32_t i = 0, end = 0; i < program->nr_ops && goes_on; i = end) {
		put_phase(o, idx, i, &end, nr, &goes_on);
		nr += o->phase_open;
	}
}

/* ---- tasks ---- */

static void put_cpus(FILE *file, const char *list)
{
	struct rs_cpuset set;
	bool first = true;

	if (!list || rs_cpulist_parse(list, &set) < 0 || !rs_cpuset_count(&set))
		return;
	fputs("\t\t\t\"cpus\" : [", file);
	for (unsigned int cpu = 0; cpu < RS_MAX_CPUS; cpu++) {
		if (!rs_cpuset_has(&set, cpu))
			continue;
		fprintf(file, "%s%u", first ? " " : ", ", cpu);
		first = false;
	}
	fputs(" ],\n", file);
}

static void put_task(struct out *o, uint32_t idx)
{
	const struct rs_program *program = &o->workload->tasks[idx];
	const char *policy = program->prio < 100 ? (program->policy == 2 ? "SCHED_RR" : "SCHED_FIFO") :
			     program->policy == 5 ? "SCHED_IDLE" : "SCHED_OTHER";
	int priority = program->prio >= 100 ? program->prio - 120 : program->prio < 0 ? 99 : 99 - program->prio;
	char name[NAME_LEN];

	fprintf(o->file, "\t\t\"%s\" : {\n\t\t\t\"policy\" : \"%s\",\n\t\t\t\"priority\" : %d,\n", task_name(o->workload, idx, name), policy,
		priority);
	put_cpus(o->file, program->affinity);
	fprintf(o->file, "\t\t\t\"loop\" : %d,\n\t\t\t\"phases\" : {\n", program->loop_to == 0 && program->nr_ops ? -1 : 1);
	put_phases(o, idx);
	fputs("\n\t\t\t}\n\t\t}", o->file);
}

int resched_rtapp_save(const struct resched_workload *workload, FILE *file, struct resched_error *err)
{
	uint64_t seconds = (workload->info.last_ns - workload->info.first_ns + 999999999) / 1000000000;
	struct out o = { .file = file, .workload = workload };
	bool first = true;

	fprintf(file, "{\n\t\"global\" : {\n\t\t\"duration\" : %" PRIu64 ",\n\t\t\"calibration\" : \"CPU0\",\n\t\t\"default_policy\" : \"SCHED_OTHER\",\n"
		"\t\t\"pi_enabled\" : false,\n\t\t\"lock_pages\" : false,\n\t\t\"log_size\" : \"disable\"\n\t},\n\t\"tasks\" : {\n",
		seconds ? seconds : 1);
	for (uint32_t t = 0; t < workload->nr_tasks; t++) {
		if (!is_played(&workload->tasks[t]))
			continue;
		fputs(first ? "" : ",\n", file);
		first = false;
		put_task(&o, t);
	}
	fputs("\n\t}\n}\n", file);
	if (first)
		return rs_error_set(err, RESCHED_FAILED, -ENODATA, "the workload has no task that rt-app could play");
	if (ferror(file))
		return rs_error_set(err, RESCHED_FAILED, errno ? -errno : -EIO, "cannot write for rt-app:");
	return 0;
}
