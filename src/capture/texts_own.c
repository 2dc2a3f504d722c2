// SPDX-License-Identifier: GPL-2.0-only
/*
 * Event formats in our own words: the kernel's events, laid out like those of recent kernels, for
 * when tracefs cannot be asked. The events themselves come from BPF programs, so any layout will do
 * as long as text and data agree.
 */
#include "capture/texts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

#define COMMON \
	"format:\n" \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define COMM(name, at)	"\tfield:char " name "[16];\toffset:" #at ";\tsize:16;\tsigned:0;\n"
#define TEXT(name, at)	"\tfield:__data_loc char[] " name ";\toffset:" #at ";\tsize:4;\tsigned:0;\n"
#define INT(name, at)	"\tfield:int " name ";\toffset:" #at ";\tsize:4;\tsigned:1;\n"
#define WAKE COMM("comm", 8) INT("pid", 24) INT("prio", 28) INT("target_cpu", 32) \
	"\nprint fmt: \"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, REC->prio, REC->target_cpu\n"

static const struct {
	const char *system, *event, *rest;
} events[] = {
	{ "sched", "sched_switch",
	  COMM("prev_comm", 8) INT("prev_pid", 24) INT("prev_prio", 28)
	  "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	  COMM("next_comm", 40) INT("next_pid", 56) INT("next_prio", 60)
	  "\nprint fmt: \"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d next_prio=%d\", "
	  "REC->prev_comm, REC->prev_pid, REC->prev_prio, (REC->prev_state & 0xff) ? __print_flags(REC->prev_state & 0xff, \"|\", "
	  "{ 0x00000001, \"S\" }, { 0x00000002, \"D\" }, { 0x00000004, \"T\" }, { 0x00000008, \"t\" }, { 0x00000010, \"X\" }, "
	  "{ 0x00000020, \"Z\" }, { 0x00000040, \"P\" }, { 0x00000080, \"I\" }) : \"R\", REC->prev_state & 0x100 ? \"+\" : \"\", "
	  "REC->next_comm, REC->next_pid, REC->next_prio\n" },
	{ "sched", "sched_waking", WAKE },
	{ "sched", "sched_wakeup", WAKE },
	{ "sched", "sched_wakeup_new", WAKE },
	{ "sched", "sched_migrate_task",
	  TEXT("comm", 8) INT("pid", 12) INT("prio", 16) INT("orig_cpu", 20) INT("dest_cpu", 24)
	  "\nprint fmt: \"comm=%s pid=%d prio=%d orig_cpu=%d dest_cpu=%d\", __get_str(comm), REC->pid, REC->prio, REC->orig_cpu, REC->dest_cpu\n" },
	{ "sched", "sched_process_fork",
	  TEXT("parent_comm", 8) INT("parent_pid", 12) TEXT("child_comm", 16) INT("child_pid", 20)
	  "\nprint fmt: \"comm=%s pid=%d child_comm=%s child_pid=%d\", __get_str(parent_comm), REC->parent_pid, __get_str(child_comm), REC->child_pid\n" },
	{ "sched", "sched_process_exec",
	  TEXT("filename", 8) INT("pid", 12) INT("old_pid", 16)
	  "\nprint fmt: \"filename=%s pid=%d old_pid=%d\", __get_str(filename), REC->pid, REC->old_pid\n" },
	{ "sched", "sched_process_exit",
	  COMM("comm", 8) INT("pid", 24) INT("prio", 28)
	  "\nprint fmt: \"comm=%s pid=%d prio=%d\", REC->comm, REC->pid, REC->prio\n" },
	{ "sched", "sched_pi_setprio",
	  TEXT("comm", 8) INT("pid", 12) INT("oldprio", 16) INT("newprio", 20)
	  "\nprint fmt: \"comm=%s pid=%d oldprio=%d newprio=%d\", __get_str(comm), REC->pid, REC->oldprio, REC->newprio\n" },
	{ "sched", "sched_stat_runtime",
	  TEXT("comm", 8) INT("pid", 12) "\tfield:u64 runtime;\toffset:16;\tsize:8;\tsigned:0;\n"
	  "\nprint fmt: \"comm=%s pid=%d runtime=%Lu [ns]\", __get_str(comm), REC->pid, (unsigned long long)REC->runtime\n" },
	{ "task", "task_rename",
	  INT("pid", 8) COMM("oldcomm", 12) COMM("newcomm", 28)
	  "\nprint fmt: \"pid=%d oldcomm=%s newcomm=%s\", REC->pid, REC->oldcomm, REC->newcomm\n" },
};

static const char header_event[] =
	"# compressed entry header\n"
	"\ttype_len    :    5 bits\n"
	"\ttime_delta  :   27 bits\n"
	"\tarray       :   32 bits\n\n"
	"\tpadding     : type == 29\n"
	"\ttime_extend : type == 30\n"
	"\ttime_stamp : type == 31\n"
	"\tdata max type_len  == 28\n";

static char *header_page(void)
{
	long page = sysconf(_SC_PAGESIZE);
	char *text;

	if (asprintf(&text,
		     "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		     "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
		     "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		     "\tfield: char data;\toffset:16;\tsize:%ld;\tsigned:0;\n",
		     page - 16) < 0)
		return NULL;
	return text;
}

int rs_texts_builtin(struct rs_texts *ret, struct resched_error *err)
{
	size_t i;
	int rc = 0;

	memset(ret, 0, sizeof(*ret));
	ret->ftrace.name = strdup("ftrace");
	ret->header_event = strdup(header_event);
	ret->header_page = header_page();
	if (!ret->ftrace.name || !ret->header_event || !ret->header_page)
		rc = -ENOMEM;
	for (i = 0; i < sizeof(events) / sizeof(events[0]) && rc == 0; i++) {
		char *text = NULL;

		if (asprintf(&text, "name: %s\nID: %u\n" COMMON "%s", events[i].event, (unsigned int)(RS_EVENT_ID_BUILTIN + i),
			     events[i].rest) < 0)
			rc = -ENOMEM;
		else
			rc = rs_texts_add(ret, events[i].system, text);
		free(text);
	}
	if (rc < 0) {
		rs_texts_release(ret);
		return rs_error_nomem(err);
	}
	return 0;
}
