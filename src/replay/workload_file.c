// SPDX-License-Identifier: GPL-2.0-only
/* The words and keys of a workload file. */
#include "replay/workload_file.h"

#include <limits.h>
#include <string.h>

#define KEYS(array) \
	{ \
		array, sizeof(array) / sizeof((array)[0]) \
	}
#define IN_WORKLOAD(member) offsetof(struct resched_workload, member)
#define IN_TASK(member) offsetof(struct rs_program, member)
#define IN_OP(member) offsetof(struct rs_op, member)
#define IN_TICK(member) offsetof(struct rs_tick_note, member)

static const struct rs_key span_keys[] = {
	{ "first", RS_KEY_TIME, IN_WORKLOAD(info.first_ns), 0, RS_FILE_MAX_TIME_NS },
	{ "last", RS_KEY_TIME, IN_WORKLOAD(info.last_ns), 0, RS_FILE_MAX_TIME_NS },
	{ "cpus", RS_KEY_U32, IN_WORKLOAD(max_cpu), 1, 8192 },
	{ "ignored-wakes", RS_KEY_NUMBER, IN_WORKLOAD(info.wakes_ignored), 0, UINT64_MAX },
	{ "placeless", RS_KEY_FLAG, IN_WORKLOAD(placeless), 0, 1 },
};
const struct rs_keys rs_span_keys = KEYS(span_keys);

static const struct rs_key timing_keys[] = {
	{ "hz", RS_KEY_U32, IN_WORKLOAD(info.hz), 1, 10000 },
	{ "tick", RS_KEY_TIME, IN_WORKLOAD(info.tick_ns), 100000, 1000000000 },
	{ "phase", RS_KEY_TIME, IN_WORKLOAD(info.tick_phase_ns), 0, 999999999 },
	{ "hz-assumed", RS_KEY_INT, IN_WORKLOAD(info.hz_assumed), 0, 1 },
	{ "idle-exit", RS_KEY_TIME, IN_WORKLOAD(info.idle_exit_ns), 0, RS_FILE_MAX_DELAY_NS },
	{ "preempt-delay", RS_KEY_TIME, IN_WORKLOAD(info.preempt_delay_ns), 0, RS_FILE_MAX_DELAY_NS },
	{ "tick-delay", RS_KEY_TIME, IN_WORKLOAD(info.tick_delay_ns), 0, RS_FILE_MAX_DELAY_NS },
	{ "switch-lead", RS_KEY_TIME, IN_WORKLOAD(switch_lead_ns), 0, RS_FILE_MAX_DELAY_NS },
	{ "idle-lead", RS_KEY_TIME, IN_WORKLOAD(idle_lead_ns), 0, RS_FILE_MAX_DELAY_NS },
	{ "wake-clock", RS_KEY_TIME, IN_WORKLOAD(wake_clock_ns), 0, RS_FILE_MAX_DELAY_NS },
};
const struct rs_keys rs_timing_keys = KEYS(timing_keys);

static const struct rs_key task_keys[] = {
	{ "pid", RS_KEY_INT, IN_TASK(pid), 1, INT_MAX },
	{ "birth-nr", RS_KEY_U32, IN_TASK(birth_nr), 0, UINT32_MAX },
	{ "prio", RS_KEY_INT, IN_TASK(prio), -1, 139 },
	{ "slice", RS_KEY_TIME, IN_TASK(slice_ns), 0, 10000000000 },
	{ "cpu", RS_KEY_U16, IN_TASK(cpu), 0, 8191 },
	{ "parent", RS_KEY_U32, IN_TASK(parent), 0, UINT32_MAX },
	{ "period", RS_KEY_TIME, IN_TASK(period_ns), RS_FILE_MIN_PERIOD_NS, RS_FILE_MAX_TIME_NS },
	{ "phase", RS_KEY_TIME, IN_TASK(phase_ns), 0, RS_FILE_MAX_TIME_NS },
	{ "loop", RS_KEY_U32, IN_TASK(loop_to), 0, UINT32_MAX },
	{ "kthread", RS_KEY_FLAG, IN_TASK(kthread), 0, 1 },
	{ "attr-later", RS_KEY_FLAG, IN_TASK(attr_later), 0, 1 },
	{ "owed", RS_KEY_INT, IN_TASK(start_vlag_ns), -INT32_MAX, INT32_MAX },
	{ "catch-up", RS_KEY_FLAG, IN_TASK(catch_up), 0, 1 },
};
const struct rs_keys rs_task_keys = KEYS(task_keys);

static const struct rs_key op_keys[] = {
	{ "when", RS_KEY_TIME, IN_OP(when_ns), 0, RS_FILE_MAX_TIME_NS },
	{ "len", RS_KEY_TIME, IN_OP(len_ns), 0, RS_FILE_MAX_TIME_NS },
	{ "clock", RS_KEY_OFFSET, IN_OP(clock_ns), INT32_MIN + 1, INT32_MAX },
	{ "wake-clock", RS_KEY_OFFSET, IN_OP(wake_clock_ns), INT32_MIN + 1, INT32_MAX },
	{ "delay", RS_KEY_OFFSET, IN_OP(delay_ns), INT32_MIN + 1, INT32_MAX },
	{ "idle-clock", RS_KEY_OFFSET, IN_OP(idle_clock_ns), INT32_MIN + 1, INT32_MAX },
	{ "cpu", RS_KEY_U16, IN_OP(cpu), 0, UINT16_MAX },
};
const struct rs_keys rs_op_keys = KEYS(op_keys);

static const struct rs_key tick_keys[] = {
	{ "at", RS_KEY_TIME, IN_TICK(at_ns), 1, RS_FILE_MAX_TIME_NS },
	{ "clock", RS_KEY_OFFSET, IN_TICK(clock_ns), INT32_MIN + 1, INT32_MAX },
	{ "delay", RS_KEY_OFFSET, IN_TICK(delay_ns), INT32_MIN + 1, INT32_MAX },
	{ "switch-clock", RS_KEY_OFFSET, IN_TICK(switch_clock_ns), INT32_MIN + 1, INT32_MAX },
};
const struct rs_keys rs_tick_keys = KEYS(tick_keys);

#define WORD(table, number) ((number) < sizeof(table) / sizeof((table)[0]) ? (table)[number] : NULL)

const char *rs_op_word(unsigned int kind)
{
	static const char *const words[] = {
		[RS_OP_NONE] = "nothing",
		[RS_OP_BLOCK] = "block",
		[RS_OP_WAKE] = "wake",
		[RS_OP_FORK] = "fork",
		[RS_OP_EXITING] = "exiting",
		[RS_OP_EXIT] = "exit",
		[RS_OP_RESCHED] = "yield",
		[RS_OP_PRIO] = "prio",
		[RS_OP_ATTR] = "attr",
		[RS_OP_COMM] = "comm",
		[RS_OP_MOVE] = "move",
		[RS_OP_ENDLESS] = "endless",
		[RS_OP_REPEAT] = "repeat",
		[RS_OP_SPIN] = "spin",
		[RS_OP_EXEC] = "exec",
	};

	return WORD(words, kind);
}

const char *rs_rule_word(unsigned int rule)
{
	static const char *const words[] = {
		[RS_RULE_NEVER] = "never",
		[RS_RULE_CAUSAL] = "woken",
		[RS_RULE_RELATIVE] = "for",
		[RS_RULE_ABSOLUTE] = "until",
		[RS_RULE_PERIODIC] = "period",
		[RS_RULE_ARRIVAL] = "arrival",
		[RS_RULE_ANSWER] = "answer",
		[RS_RULE_REQUEST] = "request",
	};

	return WORD(words, rule);
}

const char *rs_kept_word(unsigned int kept)
{
	static const char *const words[] = {
		[RS_WAKE_COUNTED] = "counted",
		[RS_WAKE_ONCE] = "once",
		[RS_WAKE_WAITING] = "waiting",
		[RS_WAKE_ASK] = "ask",
		[RS_WAKE_ANSWER] = "answer",
	};

	return WORD(words, kept);
}

const char *rs_move_word(unsigned int how)
{
	static const char *const words[] = { [RS_MOVE_TIMED] = "timed", [RS_MOVE_PULLED] = "pulled", [RS_MOVE_ASLEEP] = "asleep", [RS_MOVE_ASLEEP_PULLED] = "pulled-asleep" };

	return WORD(words, how);
}

const char *rs_birth_word(unsigned int birth)
{
	static const char *const words[] = {
		[RS_BORN_ASLEEP] = "asleep",
		[RS_BORN_QUEUED] = "queued",
		[RS_BORN_RUNNING] = "running",
		[RS_BORN_FORKED] = "forked",
	};

	return WORD(words, birth);
}

const char *rs_policy_word(unsigned int policy)
{
	static const char *const words[] = { "other", "fifo", "rr", "batch", "iso", "idle", "deadline", "ext" };

	return WORD(words, policy);
}

int rs_word_number(const char *(*word_of)(unsigned int number), const char *word)
{
	for (unsigned int i = 0; i < 16; i++) {
		if (word_of(i) && !strcmp(word_of(i), word))
			return (int)i;
	}
	return -1;
}

const char *rs_arg_name(const struct rs_op *op)
{
	switch (op->kind) {
	case RS_OP_BLOCK:
		return rs_op_ended_by_task(op) ? "by" : "arg";
	case RS_OP_WAKE:
	case RS_OP_FORK:
		return "task";
	case RS_OP_PRIO:
		return "prio";
	case RS_OP_ATTR:
		return "policy";
	case RS_OP_COMM:
		return "name";
	case RS_OP_REPEAT:
		return "from";
	default:
		return "arg";
	}
}

uint32_t rs_arg_default(const struct rs_op *op)
{
	bool timed = op->rule != RS_RULE_NEVER && !rs_op_ended_by_task(op);

	return op->kind == RS_OP_BLOCK && timed ? RS_NO_TASK : 0;
}

void rs_workload_count(struct resched_workload *workload)
{
	struct resched_workload_info *info = &workload->info;

	info->nr_tasks = workload->nr_tasks;
	info->nr_cpus = workload->max_cpu;
	info->nr_ops = info->wakes_causal = info->wakes_periodic = info->wakes_relative = info->wakes_absolute = 0;
	info->nr_servers = 0;
	for (uint32_t t = 0; t < workload->nr_tasks; t++) {
		const struct rs_program *program = &workload->tasks[t];

		info->nr_ops += program->nr_ops;
		info->nr_servers += rs_program_serves(program);
		for (uint32_t i = 0; i < program->nr_ops; i++) {
			if (program->ops[i].kind != RS_OP_BLOCK)
				continue;
			info->wakes_causal += rs_op_ended_by_task(&program->ops[i]) && program->ops[i].when_ns;
			info->wakes_periodic += program->ops[i].rule == RS_RULE_PERIODIC;
			info->wakes_relative += program->ops[i].rule == RS_RULE_RELATIVE;
			info->wakes_absolute += program->ops[i].rule == RS_RULE_ABSOLUTE || program->ops[i].rule == RS_RULE_ARRIVAL;
		}
	}
}
