// SPDX-License-Identifier: GPL-2.0-only
#include "capture/writer_texts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

struct field { const char *decl; uint16_t offset, size; uint8_t is_signed; };

#define FIELD(type, decl, member, is_signed) { decl, offsetof(struct type, member), sizeof(((struct type *)0)->member), is_signed }
#define INT(type, name) FIELD(type, "int " #name, name, 1)
#define COMM(type, name) FIELD(type, "char " #name "[16]", name, 0)
#define FIELDS_MAX 8

#define WAKE_FIELDS { COMM(rs_wr_wake, comm), INT(rs_wr_wake, pid), INT(rs_wr_wake, prio), INT(rs_wr_wake, target_cpu) }
#define WAKE_PRINT "\"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, REC->prio, REC->target_cpu"

static const struct event {
	const char *system, *name;
	struct field fields[FIELDS_MAX];
	const char *print;
} events[RS_WR_NR] = {
	[RS_WR_SWITCH] = { "sched", "sched_switch",
		{ COMM(rs_wr_switch, prev_comm), INT(rs_wr_switch, prev_pid), INT(rs_wr_switch, prev_prio),
		  FIELD(rs_wr_switch, "long prev_state", prev_state, 1),
		  COMM(rs_wr_switch, next_comm), INT(rs_wr_switch, next_pid), INT(rs_wr_switch, next_prio) },
		"\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d next_prio=%d\", "
		"REC->prev_comm, REC->prev_pid, REC->prev_prio, "
		"(REC->prev_state & 0x2ff) ? __print_flags(REC->prev_state & 0x2ff, \"|\", "
		"{ 0x00000001, \"S\" }, { 0x00000002, \"D\" }, { 0x00000004, \"T\" }, { 0x00000008, \"t\" }, { 0x00000010, \"X\" }, "
		"{ 0x00000020, \"Z\" }, { 0x00000040, \"P\" }, { 0x00000080, \"I\" }, { 0x00000200, \"?\" }) : \"R\", "
		"REC->prev_state & 0x100 ? \"+\" : \"\", REC->next_comm, REC->next_pid, REC->next_prio" },
	[RS_WR_WAKING] = { "sched", "sched_waking", WAKE_FIELDS, WAKE_PRINT },
	[RS_WR_WAKEUP] = { "sched", "sched_wakeup", WAKE_FIELDS, WAKE_PRINT },
	[RS_WR_WAKEUP_NEW] = { "sched", "sched_wakeup_new", WAKE_FIELDS, WAKE_PRINT },
	[RS_WR_MIGRATE] = { "sched", "sched_migrate_task",
		{ COMM(rs_wr_migrate, comm), INT(rs_wr_migrate, pid), INT(rs_wr_migrate, prio), INT(rs_wr_migrate, orig_cpu),
		  INT(rs_wr_migrate, dest_cpu) },
		"\"comm=%s pid=%d prio=%d orig_cpu=%d dest_cpu=%d\", REC->comm, REC->pid, REC->prio, REC->orig_cpu, REC->dest_cpu" },
	[RS_WR_FORK] = { "sched", "sched_process_fork",
		{ COMM(rs_wr_fork, parent_comm), INT(rs_wr_fork, parent_pid), COMM(rs_wr_fork, child_comm), INT(rs_wr_fork, child_pid) },
		"\"comm=%s pid=%d child_comm=%s child_pid=%d\", REC->parent_comm, REC->parent_pid, REC->child_comm, REC->child_pid" },
	[RS_WR_EXEC] = { "sched", "sched_process_exec",
		{ COMM(rs_wr_exec, filename), INT(rs_wr_exec, pid), INT(rs_wr_exec, old_pid) },
		"\"filename=%s pid=%d old_pid=%d\", REC->filename, REC->pid, REC->old_pid" },
	[RS_WR_EXIT] = { "sched", "sched_process_exit",
		{ COMM(rs_wr_exit, comm), INT(rs_wr_exit, pid), INT(rs_wr_exit, prio) },
		"\"comm=%s pid=%d prio=%d\", REC->comm, REC->pid, REC->prio" },
	[RS_WR_PRIO] = { "sched", "sched_pi_setprio",
		{ COMM(rs_wr_prio, comm), INT(rs_wr_prio, pid), INT(rs_wr_prio, oldprio), INT(rs_wr_prio, newprio) },
		"\"comm=%s pid=%d oldprio=%d newprio=%d\", REC->comm, REC->pid, REC->oldprio, REC->newprio" },
	[RS_WR_RUNTIME] = { "sched", "sched_stat_runtime",
		{ COMM(rs_wr_runtime, comm), INT(rs_wr_runtime, pid), FIELD(rs_wr_runtime, "u64 runtime", runtime, 0),
		  FIELD(rs_wr_runtime, "u64 vruntime", vruntime, 0) },
		"\"comm=%s pid=%d runtime=%Lu [ns] vruntime=%Lu [ns]\", REC->comm, REC->pid, (unsigned long long)REC->runtime, "
		"(unsigned long long)REC->vruntime" },
	[RS_WR_RENAME] = { "task", "task_rename",
		{ INT(rs_wr_rename, pid), COMM(rs_wr_rename, oldcomm), COMM(rs_wr_rename, newcomm), INT(rs_wr_rename, oom_score_adj) },
		"\"pid=%d oldcomm=%s newcomm=%s oom_score_adj=%d\", REC->pid, REC->oldcomm, REC->newcomm, REC->oom_score_adj" },
	[RS_WR_OTHER] = { "resched", "other", { FIELD(rs_wr_other, "u32 nothing", nothing, 0) }, "\"%u\", REC->nothing" },
	[RS_WR_TRUTH] = { "resched", "sched_truth", { { 0 } }, NULL },
};

/* The names that resched-record(1) gives, and where struct resched_truth has them. */
static const struct { const char *type, *name, *print; uint16_t offset, size; uint8_t is_signed; } truth[] = {
#define ROW(type, name, print, member, is_signed) { type, #name, print, offsetof(struct rs_wr_truth, row.member), \
	sizeof(((struct resched_truth *)0)->member), is_signed }
	ROW("pid_t", pid, "%d", pid, 1),
	ROW("u16", cpu, "%u", cpu, 0),
	ROW("u16", nr, "%u", nr, 0),
	ROW("u16", policy, "%u", policy, 0),
	ROW("u8", row, "%u", row, 0),
	ROW("u8", level, "%u", level, 0),
	ROW("u8", on_rq, "%u", on_rq, 0),
	ROW("u8", delayed, "%u", delayed, 0),
	ROW("u8", rel, "%u", rel, 0),
	ROW("u8", custom, "%u", custom, 0),
	ROW("u8", has, "%u", has, 0),
	ROW("u8", prio, "%u", prio, 0),
	ROW("u64", group, "%llu", group, 0),
	ROW("u64", vruntime, "%llu", vruntime, 0),
	ROW("u64", deadline, "%llu", deadline, 0),
	ROW("s64", vlag, "%lld", vlag, 1),
	ROW("u64", slice, "%llu", slice_ns, 0),
	ROW("u64", weight, "%llu", weight, 0),
	ROW("u64", sum_exec, "%llu", sum_exec_ns, 0),
	ROW("u64", exec_start, "%llu", exec_start_ns, 0),
	ROW("u64", z, "%llu", z, 0),
	ROW("s64", sum_wv, "%lld", sum_wv, 1),
	ROW("u64", sum_w, "%llu", sum_w, 0),
	ROW("u64", load, "%llu", load, 0),
	ROW("u64", clock, "%llu", clock_ns, 0),
	ROW("u64", curr_vruntime, "%llu", curr_vruntime, 0),
	ROW("u64", curr_weight, "%llu", curr_weight, 0),
#undef ROW
};
#define NR_TRUTH (sizeof(truth) / sizeof(truth[0]))

static const char header_event[] =
	"# compressed entry header\n"
	"\ttype_len    :    5 bits\n"
	"\ttime_delta  :   27 bits\n"
	"\tarray       :   32 bits\n\n"
	"\tpadding     : type == 29\n"
	"\ttime_extend : type == 30\n"
	"\ttime_stamp : type == 31\n"
	"\tdata max type_len  == 28\n";

static const char header_page[] =
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
	"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

_Static_assert(RS_WR_PAGE == 4096 && sizeof(struct rs_wr_common) == 8, "the texts say so");

static void put_field(FILE *out, const char *decl, unsigned int offset, unsigned int size, unsigned int is_signed)
{
	fprintf(out, "\tfield:%s;\toffset:%u;\tsize:%u;\tsigned:%u;\n", decl, offset, size, is_signed);
}

static void put_head(FILE *out, enum rs_wr_kind kind)
{
	fprintf(out, "name: %s\nID: %u\nformat:\n", events[kind].name, (unsigned int)rs_wr_id(kind));
	put_field(out, "unsigned short common_type", offsetof(struct rs_wr_common, type), 2, 0);
	put_field(out, "unsigned char common_flags", offsetof(struct rs_wr_common, flags), 1, 0);
	put_field(out, "unsigned char common_preempt_count", offsetof(struct rs_wr_common, preempt_count), 1, 0);
	put_field(out, "int common_pid", offsetof(struct rs_wr_common, pid), 4, 1);
	fputc('\n', out);
}

static void put_truth(FILE *out)
{
	char decl[48];

	for (size_t i = 0; i < NR_TRUTH; i++) {
		snprintf(decl, sizeof(decl), "%s %s", truth[i].type, truth[i].name);
		put_field(out, decl, truth[i].offset, truth[i].size, truth[i].is_signed);
	}
	fputs("\nprint fmt: \"", out);
	for (size_t i = 0; i < NR_TRUTH; i++)
		fprintf(out, "%s%s=%s", i ? " " : "", truth[i].name, truth[i].print);
	fputc('"', out);
	for (size_t i = 0; i < NR_TRUTH; i++)
		fprintf(out, ", REC->%s", truth[i].name);
	fputc('\n', out);
}

static int add(struct rs_texts *texts, enum rs_wr_kind kind)
{
	const struct event *event = &events[kind];
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int rc;

	if (!out)
		return -ENOMEM;
	put_head(out, kind);
	for (unsigned int i = 0; i < FIELDS_MAX && event->fields[i].decl; i++)
		put_field(out, event->fields[i].decl, event->fields[i].offset, event->fields[i].size, event->fields[i].is_signed);
	if (event->print)
		fprintf(out, "\nprint fmt: %s\n", event->print);
	else
		put_truth(out);
	rc = fclose(out) == 0 ? rs_texts_add(texts, event->system, text) : -ENOMEM;
	free(text);
	return rc;
}

int rs_wr_texts(struct rs_texts *ret, struct resched_error *err)
{
	int rc = 0;

	memset(ret, 0, sizeof(*ret));
	ret->ftrace.name = strdup("ftrace");
	ret->header_event = strdup(header_event);
	ret->header_page = strdup(header_page);
	if (!ret->ftrace.name || !ret->header_event || !ret->header_page)
		rc = -ENOMEM;
	for (unsigned int kind = 0; kind < RS_WR_NR && rc == 0; kind++)
		rc = add(ret, (enum rs_wr_kind)kind);
	if (rc < 0) {
		rs_texts_release(ret);
		return rs_error_nomem(err);
	}
	return 0;
}
