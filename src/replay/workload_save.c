// SPDX-License-Identifier: GPL-2.0-only
/* A workload to text. */
#include "replay/workload_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define GRID_PER_LINE 8u

/* A text in quotes; what would break the line, and bytes above ASCII, as \xNN. */
static void put_text(FILE *out, const char *text)
{
	fputc('"', out);
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		if (*p == '"' || *p == '\\')
			fprintf(out, "\\%c", *p);
		else if (*p < 0x20 || *p >= 0x7f)
			fprintf(out, "\\x%02x", *p);
		else
			fputc(*p, out);
	}
	fputc('"', out);
}

/* " key=value", and nothing where the value is what the reader takes without. */
static void put_key(FILE *out, const struct rs_key *key, const void *object)
{
	const char *at = (const char *)object + key->at;
	uint64_t wide;
	uint32_t narrow;
	uint16_t half;
	int32_t number;

	switch (key->kind) {
	case RS_KEY_TIME:
	case RS_KEY_NUMBER:
		memcpy(&wide, at, sizeof(wide));
		if (wide)
			fprintf(out, " %s=%" PRIu64, key->name, wide);
		break;
	case RS_KEY_U32:
		memcpy(&narrow, at, sizeof(narrow));
		if (narrow)
			fprintf(out, " %s=%" PRIu32, key->name, narrow);
		break;
	case RS_KEY_U16:
		memcpy(&half, at, sizeof(half));
		if (half)
			fprintf(out, " %s=%u", key->name, half);
		break;
	case RS_KEY_INT:
	case RS_KEY_OFFSET:
		memcpy(&number, at, sizeof(number));
		if (key->kind == RS_KEY_INT ? number != 0 : number != RS_UNKNOWN)
			fprintf(out, " %s=%" PRId32, key->name, number);
		break;
	case RS_KEY_FLAG:
		if (*at)
			fprintf(out, " %s", key->name);
		break;
	}
}

static void put_keys(FILE *out, const struct rs_keys *keys, const void *object)
{
	for (unsigned int i = 0; i < keys->nr; i++)
		put_key(out, &keys->keys[i], object);
}

static void put_arg(FILE *out, const struct resched_workload *workload, const struct rs_op *op)
{
	if (op->arg == rs_arg_default(op) && op->kind != RS_OP_WAKE && op->kind != RS_OP_FORK && op->kind != RS_OP_COMM &&
	    !rs_op_ended_by_task(op))
		return;
	fprintf(out, " %s=", rs_arg_name(op));
	if (op->kind == RS_OP_COMM)
		put_text(out, resched_names_get(workload->names, op->arg));
	else if (op->kind == RS_OP_PRIO)
		fprintf(out, "%" PRId32, (int32_t)op->arg);
	else if (op->kind == RS_OP_ATTR && rs_policy_word(op->arg))
		fputs(rs_policy_word(op->arg), out);
	else
		fprintf(out, "%" PRIu32, op->arg);
}

static void put_op(FILE *out, const struct resched_workload *workload, const struct rs_op *op)
{
	fprintf(out, " %" PRIu64 " %s", op->run_ns, rs_op_word(op->kind));
	if (op->kind == RS_OP_BLOCK)
		fprintf(out, " %s", rs_rule_word(op->rule));
	else if (op->rule)
		fprintf(out, " %s", op->kind == RS_OP_MOVE ? rs_move_word(op->rule) : rs_kept_word(op->rule));
	put_arg(out, workload, op);
	put_keys(out, &rs_op_keys, op);
	if (op->state)
		fprintf(out, " state=%c", RS_SLEEP_LETTERS[op->state]);
	if (op->special)
		fputs(" special", out);
	fputc('\n', out);
}

/* Values whose absence does not mean zero are put where they differ from that. */
static void put_task(FILE *out, const struct resched_workload *workload, uint32_t idx)
{
	struct rs_program program = workload->tasks[idx];

	if (program.loop_to >= program.nr_ops)
		program.loop_to = 0; /* put below */
	fprintf(out, "\ntask %" PRIu32, idx);
	if (program.comm != UINT32_MAX) {
		fputs(" comm=", out);
		put_text(out, resched_names_get(workload->names, program.comm));
	}
	fprintf(out, " start=%s", rs_birth_word(program.birth));
	if (program.policy)
		fprintf(out, " policy=%s", rs_policy_word((unsigned int)program.policy));
	if (program.affinity)
		fprintf(out, " cpus=%s", program.affinity);
	for (unsigned int i = 0; i < rs_task_keys.nr; i++) {
		const struct rs_key *key = &rs_task_keys.keys[i];

		if (key->at == offsetof(struct rs_program, parent)) {
			if (program.parent != RS_NO_TASK)
				fprintf(out, " parent=%" PRIu32, program.parent);
		} else if (key->at == offsetof(struct rs_program, loop_to)) {
			if (workload->tasks[idx].loop_to < program.nr_ops)
				fprintf(out, " loop=%" PRIu32, program.loop_to);
		} else if (key->at == offsetof(struct rs_program, prio)) {
			if (program.prio != 120)
				fprintf(out, " prio=%d", program.prio);
		} else {
			put_key(out, key, &program);
		}
	}
	fputc('\n', out);
	for (uint32_t i = 0; i < program.nr_grid; i++)
		fprintf(out, "%s%" PRIu64 "%s", i % GRID_PER_LINE ? " " : "grid ", program.grid[i],
			i % GRID_PER_LINE == GRID_PER_LINE - 1 || i + 1 == program.nr_grid ? "\n" : "");
	for (uint32_t i = 0; i < program.nr_ops; i++)
		put_op(out, workload, &program.ops[i]);
}

static void put_ticks(FILE *out, const struct resched_workload *workload)
{
	for (unsigned int cpu = 0; cpu < workload->nr_tick_cpus; cpu++) {
		const struct rs_tick_notes *ticks = &workload->ticks[cpu];

		if (!ticks->nr)
			continue;
		fprintf(out, "\nticks %u\n", cpu);
		for (uint32_t i = 0; i < ticks->nr; i++) {
			if (!ticks->notes[i].at_ns)
				continue;
			fputs(" tick", out);
			put_keys(out, &rs_tick_keys, &ticks->notes[i]);
			fputc('\n', out);
		}
	}
}

static int put_host(FILE *out, const struct resched_workload *workload, struct resched_error *err)
{
	char *json = NULL;
	int rc = resched_host_json(workload->host, &json, err);

	if (rc < 0)
		return rc;
	/* One line: a line break in JSON is between its words, where a blank does as well. */
	for (char *p = json; *p; p++) {
		if (*p == '\n' || *p == '\r')
			*p = ' ';
	}
	fprintf(out, "host %s\n", json);
	free(json);
	return 0;
}

int resched_workload_save(const struct resched_workload *workload, FILE *out, struct resched_error *err)
{
	double confidence = workload->info.tick_confidence;
	uint64_t millionths = confidence > 0 ? (uint64_t)(confidence * 1e6 + 0.5) : 0;
	int rc;

	if (confidence > 0 && !millionths)
		millionths = 1; /* the phase is known, however badly */
	fprintf(out, RS_FILE_MAGIC " %u\n", RS_FILE_VERSION);
	rc = put_host(out, workload, err);
	if (rc < 0)
		return rc;
	fputs("span", out);
	put_keys(out, &rs_span_keys, workload);
	fputs("\ntiming", out);
	put_keys(out, &rs_timing_keys, workload);
	fprintf(out, " confidence=%" PRIu64 "\n", millionths);
	for (uint32_t i = 0; i < resched_names_count(workload->names); i++) {
		fputs("name ", out);
		put_text(out, resched_names_get(workload->names, i));
		fputc('\n', out);
	}
	for (uint32_t i = 0; i < workload->nr_tasks; i++)
		put_task(out, workload, i);
	put_ticks(out, workload);
	if (ferror(out))
		return rs_error_set(err, RESCHED_FAILED, errno ? -errno : -EIO, "cannot write the workload:");
	return 0;
}
