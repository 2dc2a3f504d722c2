// SPDX-License-Identifier: GPL-2.0-only
#include "capture/bpf_events.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>

#include "base/error.h"
#include "capture/files.h"

#define COMMON_BYTES 8
#define EVENT_MAX 512	/* fixed part of an event */

enum { SW_PREV_COMM, SW_PREV_PID, SW_PREV_PRIO, SW_PREV_STATE, SW_NEXT_COMM, SW_NEXT_PID, SW_NEXT_PRIO };
enum { WK_COMM, WK_PID, WK_PRIO, WK_CPU, WK_SUCCESS };
enum { MG_COMM, MG_PID, MG_PRIO, MG_FROM, MG_TO };
enum { FK_PARENT_COMM, FK_PARENT, FK_CHILD_COMM, FK_CHILD };
enum { EX_FILE, EX_PID, EX_OLD };
enum { XT_COMM, XT_PID, XT_PRIO, XT_DEAD };
enum { PR_COMM, PR_PID, PR_OLD, PR_NEW };
enum { RN_PID, RN_OLD, RN_NEW, RN_OOM };
enum { RT_COMM, RT_PID, RT_RUNTIME, RT_VRUNTIME };

static const struct {
	const char *system, *event;
	const char *fields[RS_BPF_FIELDS];
	unsigned int required;	/* bit i: a format without field i is not what we know */
	uint32_t bytes;		/* of the record */
} kinds[RS_BPF_NR] = {
	[RS_BPF_SWITCH] = { "sched", "sched_switch", { "prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid", "next_prio" },
			    0x7f, sizeof(struct rs_bpf_switch) },
	[RS_BPF_WAKING] = { "sched", "sched_waking", { "comm", "pid", "prio", "target_cpu", "success" }, 0x0f, sizeof(struct rs_bpf_wake) },
	[RS_BPF_WAKEUP] = { "sched", "sched_wakeup", { "comm", "pid", "prio", "target_cpu", "success" }, 0x0f, sizeof(struct rs_bpf_wake) },
	[RS_BPF_WAKEUP_NEW] = { "sched", "sched_wakeup_new", { "comm", "pid", "prio", "target_cpu", "success" }, 0x0f,
				sizeof(struct rs_bpf_wake) },
	[RS_BPF_MIGRATE] = { "sched", "sched_migrate_task", { "comm", "pid", "prio", "orig_cpu", "dest_cpu" }, 0x1a,
			     sizeof(struct rs_bpf_migrate) },
	[RS_BPF_FORK] = { "sched", "sched_process_fork", { "parent_comm", "parent_pid", "child_comm", "child_pid" }, 0x0a,
			  sizeof(struct rs_bpf_fork) },
	[RS_BPF_EXEC] = { "sched", "sched_process_exec", { "filename", "pid", "old_pid" }, 0x02, sizeof(struct rs_bpf_exec) },
	[RS_BPF_EXIT] = { "sched", "sched_process_exit", { "comm", "pid", "prio", "group_dead" }, 0x02, sizeof(struct rs_bpf_exit) },
	[RS_BPF_PRIO] = { "sched", "sched_pi_setprio", { "comm", "pid", "oldprio", "newprio" }, 0x0e, sizeof(struct rs_bpf_prio) },
	[RS_BPF_RENAME] = { "task", "task_rename", { "pid", "oldcomm", "newcomm", "oom_score_adj" }, 0x04, sizeof(struct rs_bpf_rename) },
	[RS_BPF_RUNTIME] = { "sched", "sched_stat_runtime", { "comm", "pid", "runtime", "vruntime" }, 0x06, sizeof(struct rs_bpf_runtime) },
};

#define STATE_DEAD 0x30u	/* sched_switch's X and Z. Kernel: TASK_REPORT, include/linux/sched.h */

/* ---- our own formats */

#define OWN_COMMON \
	"format:\n" \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

/*
 * Who ran is who ran when it was told: the field is the common one under the name that sched_stat_runtime has for it. There is one of these a
 * switch, so they are as short as can be: what exceeds 32 bits of nanoseconds has a form of its own.
 */
#define RUN_FIELDS(type, size) \
	"\tfield:" type " runtime;\toffset:8;\tsize:" size ";\tsigned:0;\n" \
	"\tfield:pid_t pid;\toffset:4;\tsize:4;\tsigned:1;\n" \
	"\nprint fmt: \"pid=%d runtime=%llu [ns]\", REC->pid, (unsigned long long)REC->runtime\n"
static const struct {
	const char *name, *rest;
	uint16_t id, bytes;
} runs[] = {
	{ "sched_run", RUN_FIELDS("u32", "4"), RS_EVENT_ID_RUN, 12 },
	{ "sched_run_long", RUN_FIELDS("u64", "8"), RS_EVENT_ID_RUN_LONG, 16 },
};
#define NR_RUNS (sizeof(runs) / sizeof(runs[0]))

/* The row as it is in the record: where the record has its head, the event has its common fields, row and level. */
static const struct {
	const char *type, *name, *print;
	uint16_t offset, size;
	bool is_signed;
} truth_fields[] = {	/* those of a row, then those that only rows of the beginning have */
#define FIELD(type, name, print, is_signed) { type, #name, print, offsetof(struct rs_bpf_truth, name), \
	sizeof(((struct rs_bpf_truth *)0)->name), is_signed }
	{ "u8", "row", "%u", 8, 1, false },
	{ "u8", "level", "%u", 9, 1, false },
	FIELD("pid_t", pid, "%d", true),
	FIELD("u16", cpu, "%u", false),
	FIELD("u8", on_rq, "%u", false),
	FIELD("u8", delayed, "%u", false),
	FIELD("u8", rel, "%u", false),
	FIELD("u8", custom, "%u", false),
	FIELD("u8", has, "%u", false),
	FIELD("u8", prio, "%u", false),
	FIELD("u16", policy, "%u", false),
	FIELD("u16", nr, "%u", false),
	FIELD("u64", group, "%llu", false),
	FIELD("u64", vruntime, "%llu", false),
	FIELD("u64", deadline, "%llu", false),
	FIELD("s64", vlag, "%lld", true),
	FIELD("u64", slice, "%llu", false),
	FIELD("u64", weight, "%llu", false),
	FIELD("u64", sum_exec, "%llu", false),
	FIELD("u64", exec_start, "%llu", false),
	FIELD("u64", z, "%llu", false),
	FIELD("s64", sum_wv, "%lld", true),
	FIELD("u64", sum_w, "%llu", false),
	FIELD("u64", load, "%llu", false),
	FIELD("u64", clock, "%llu", false),
	FIELD("u64", curr_vruntime, "%llu", false),
	FIELD("u64", curr_weight, "%llu", false),
#define START(type, name, print, member) { type, #name, print, offsetof(struct rs_bpf_start, member), \
	sizeof(((struct rs_bpf_start *)0)->member), false }
#define LOAD(prefix, member) \
	START("u64", prefix##_updated, "%llu", member.updated), START("u64", prefix##_load_sum, "%llu", member.load_sum), \
	START("u64", prefix##_load_avg, "%llu", member.load_avg), START("u64", prefix##_runnable_sum, "%llu", member.runnable_sum), \
	START("u64", prefix##_runnable_avg, "%llu", member.runnable_avg), START("u32", prefix##_util_sum, "%u", member.util_sum), \
	START("u32", prefix##_period, "%u", member.period), START("u64", prefix##_util_avg, "%llu", member.util_avg)
	LOAD(se, entity),
	LOAD(own, queue),
	START("u64", contrib, "%llu", contrib),
	START("u64", published, "%llu", published),
	START("u64", total, "%llu", total),
	START("u64", clock_pelt, "%llu", clock_pelt),
#undef LOAD
#undef START
#undef FIELD
};
#define NR_START (sizeof(truth_fields) / sizeof(truth_fields[0]))
#define NR_TRUTH (NR_START - 20)

static int add_runs(struct rs_texts *formats)
{
	char *text;
	int rc = 0;

	for (size_t i = 0; i < NR_RUNS && rc == 0; i++) {
		if (asprintf(&text, "name: %s\nID: %u\n" OWN_COMMON "%s", runs[i].name, runs[i].id, runs[i].rest) < 0)
			return -ENOMEM;
		rc = rs_texts_add(formats, "resched", text);
		free(text);
	}
	return rc;
}

static int add_truth(struct rs_texts *formats, const char *name, unsigned int id, size_t nr)
{
	char *text = NULL;
	size_t size = 0, i;
	FILE *out = open_memstream(&text, &size);
	int rc;

	if (!out)
		return -ENOMEM;
	fprintf(out, "name: %s\nID: %u\n" OWN_COMMON, name, id);
	for (i = 0; i < nr; i++)
		fprintf(out, "\tfield:%s %s;\toffset:%u;\tsize:%u;\tsigned:%d;\n", truth_fields[i].type, truth_fields[i].name,
			truth_fields[i].offset, truth_fields[i].size, truth_fields[i].is_signed);
	fputs("\nprint fmt: \"", out);
	for (i = 0; i < nr; i++)
		fprintf(out, "%s%s=%s", i ? " " : "", truth_fields[i].name, truth_fields[i].print);
	fputc('"', out);
	for (i = 0; i < nr; i++)
		fprintf(out, ", REC->%s", truth_fields[i].name);
	fputc('\n', out);
	rc = fclose(out) == 0 ? rs_texts_add(formats, "resched", text) : -ENOMEM;
	free(text);
	return rc;
}

/* ---- the kernel's */

static bool find_field(struct tep_event *event, const char *name, struct rs_bpf_field *ret)
{
	const struct tep_format_field *f = tep_find_any_field(event, name);

	memset(ret, 0, sizeof(*ret));
	if (!f || f->offset < 0 || f->size <= 0 || f->offset + f->size > EVENT_MAX)
		return false;
	ret->offset = (uint16_t)f->offset;
	ret->size = (uint16_t)f->size;
	ret->is_relative = f->flags & TEP_FIELD_IS_RELATIVE;
	ret->is_tail = ret->is_relative || (f->flags & TEP_FIELD_IS_DYNAMIC);
	ret->is_array = !ret->is_tail && (f->flags & TEP_FIELD_IS_ARRAY);
	return ret->is_tail ? f->size == 4 : ret->is_array || f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8;
}

/* Where the last field ends. */
static uint16_t fixed_bytes(const struct tep_event *event)
{
	const struct tep_format_field *f;
	int end = COMMON_BYTES;

	for (f = event->format.fields; f; f = f->next) {
		if (f->offset + f->size > end)
			end = f->offset + f->size;
	}
	return end <= EVENT_MAX ? (uint16_t)end : 0;
}

static int bind_kind(struct rs_bpf_event *ret, struct tep_handle *tep, const struct rs_texts *formats, unsigned int kind,
		     struct resched_error *err)
{
	const char *text = rs_texts_find(formats, kinds[kind].system, kinds[kind].event);
	struct tep_event *event = NULL;
	unsigned int i;

	if (text)
		tep_parse_event(tep, text, strlen(text), kinds[kind].system);	/* a print format it cannot parse is no matter */
	if (text)
		event = tep_find_event_by_name(tep, kinds[kind].system, kinds[kind].event);
	if (!event)
		return rs_error_set(err, RESCHED_FAILED, -ENODEV, "this kernel has no event %s:%s", kinds[kind].system, kinds[kind].event);
	ret->id = (uint16_t)event->id;
	ret->len = fixed_bytes(event);
	for (i = 0; i < RS_BPF_FIELDS && kinds[kind].fields[i]; i++) {
		if (find_field(event, kinds[kind].fields[i], &ret->f[i]))
			continue;
		if (kinds[kind].required & 1u << i)
			return rs_error_set(err, RESCHED_FAILED, -ENODEV,
					    "the event %s:%s of this kernel has no field '%s' that can be written; use --backend tracefs",
					    kinds[kind].system, kinds[kind].event, kinds[kind].fields[i]);
		memset(&ret->f[i], 0, sizeof(ret->f[i]));
	}
	return ret->len ? 0 : rs_error_set(err, RESCHED_FAILED, -ENODEV, "the format of %s:%s makes no sense; use --backend tracefs",
					   kinds[kind].system, kinds[kind].event);
}

static int bind_all(struct rs_bpf_events *ev, const struct rs_texts *formats, struct resched_error *err)
{
	struct tep_handle *tep = tep_alloc();
	unsigned int kind;
	int rc = 0;

	if (!tep)
		return rs_error_nomem(err);
	for (kind = 1; kind < RS_BPF_NR && rc == 0; kind++) {
		if (kinds[kind].event)
			rc = bind_kind(&ev->kinds[kind], tep, formats, kind, err);
	}
	tep_free(tep);
	return rc;
}

int rs_bpf_events_init(struct rs_bpf_events *ev, struct rs_texts *formats, unsigned int nr_cpus, const unsigned int *cpu_ids, bool run,
		       bool truth, struct resched_error *err)
{
	unsigned int i;
	int rc;

	memset(ev, 0, sizeof(*ev));
	rc = bind_all(ev, formats, err);
	if (rc < 0)
		return rc;
	ev->runs = run;
	if (truth)
		ev->truth_id = RS_EVENT_ID_TRUTH;
	if ((run && add_runs(formats) < 0) ||
	    (truth && (add_truth(formats, "sched_truth", RS_EVENT_ID_TRUTH, NR_TRUTH) < 0 ||
		       add_truth(formats, "sched_truth_start", RS_EVENT_ID_START, NR_START) < 0)))
		return rs_error_nomem(err);
	ev->idle = calloc(nr_cpus ? nr_cpus : 1, sizeof(*ev->idle));
	if (!ev->idle)
		return rs_error_nomem(err);
	for (i = 0; i < nr_cpus; i++)
		snprintf(ev->idle[i], sizeof(ev->idle[i]), "swapper/%u", cpu_ids[i]);
	return 0;
}

/* ---- names */

/* All bytes after the end are 0, so that equal names are equal bytes. */
static void copy_name(char to[RS_BPF_COMM], const char *from)
{
	size_t len = strnlen(from, RS_BPF_COMM - 1);

	memset(to, 0, RS_BPF_COMM);
	memcpy(to, from, len);
}

static uint32_t slot_of(struct rs_bpf_events *ev, int32_t pid)
{
	uint32_t at = rs_map_get(&ev->index, (uint32_t)pid);

	if (at != RS_MAP_NONE)
		return at;
	if (ev->nr == ev->size) {
		uint32_t size = ev->size ? 2 * ev->size : 1024;
		struct rs_bpf_name *grown = realloc(ev->names, size * sizeof(*grown));

		if (!grown)
			return RS_MAP_NONE;
		ev->names = grown;
		ev->size = size;
	}
	if (rs_map_set(&ev->index, (uint32_t)pid, ev->nr) < 0)
		return RS_MAP_NONE;
	ev->names[ev->nr].pid = pid;
	return ev->nr++;
}

int rs_bpf_events_name(struct rs_bpf_events *ev, int32_t pid, const char *comm)
{
	uint32_t at = slot_of(ev, pid);

	if (at == RS_MAP_NONE)
		return -ENOMEM;
	copy_name(ev->names[at].comm, comm);
	return 0;
}

char *rs_bpf_events_names(const struct rs_bpf_events *ev)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	if (!to)
		return NULL;
	for (uint32_t i = 0; i < ev->nr; i++) {
		fprintf(to, "%d ", (int)ev->names[i].pid);
		for (const char *c = ev->names[i].comm; *c; c++)
			fputc((unsigned char)*c < 0x20 ? '?' : *c, to);	/* one line a task */
		fputc('\n', to);
	}
	if (fclose(to) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

/* A task that is dead got off the cpu for good: what came before in time has been written. The last entry takes the place. */
static void forget(struct rs_bpf_events *ev, int32_t pid)
{
	uint32_t at = rs_map_get(&ev->index, (uint32_t)pid);

	if (at == RS_MAP_NONE)
		return;
	rs_map_drop(&ev->index, (uint32_t)pid);
	if (at == --ev->nr)
		return;
	ev->names[at] = ev->names[ev->nr];
	(void)rs_map_set(&ev->index, (uint32_t)ev->names[at].pid, at);	/* replaces: takes no memory */
}

/* After a loss there are tasks whose beginning nobody saw; what lives can be asked. */
static uint32_t ask(struct rs_bpf_events *ev, int32_t pid)
{
	char path[64], comm[64];

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	if (rs_file_read(path, comm, sizeof(comm)) <= 0)
		snprintf(comm, sizeof(comm), "<...>");
	comm[RS_BPF_COMM - 1] = '\0';
	return rs_bpf_events_name(ev, pid, comm) < 0 ? RS_MAP_NONE : rs_map_get(&ev->index, (uint32_t)pid);
}

static const char *name_of(struct rs_bpf_events *ev, int32_t pid)
{
	uint32_t at = rs_map_get(&ev->index, (uint32_t)pid);

	if (at == RS_MAP_NONE)
		at = ask(ev, pid);
	return at == RS_MAP_NONE ? "<...>\0\0\0\0\0\0\0\0\0\0" : ev->names[at].comm;
}

/* ---- writing */

static inline void put_int(uint8_t *data, const struct rs_bpf_field *f, uint64_t value)
{
	uint32_t v32 = (uint32_t)value;
	uint16_t v16 = (uint16_t)value;

	if (f->size == 4)
		memcpy(data + f->offset, &v32, 4);
	else if (f->size == 8)
		memcpy(data + f->offset, &value, 8);
	else if (f->size == 2)
		memcpy(data + f->offset, &v16, 2);
	else if (f->size == 1)
		data[f->offset] = (uint8_t)value;
}

static inline void put_common(uint8_t *data, uint16_t id, const struct rs_bpf_head *h)
{
	memcpy(data, &id, 2);
	data[2] = h->flags;
	memcpy(data + 4, &h->pid, 4);
}

/* One event under construction. Texts go behind the fixed part. */
struct draft {
	uint8_t *data;
	const struct rs_bpf_event *kind;
	uint32_t end;
};

/* @tail: bytes wanted for texts at most. */
static bool begin(struct draft *d, const struct rs_bpf_event *kind, const struct rs_bpf_head *h, uint32_t tail, struct rs_page_writer *to)
{
	d->kind = kind;
	d->end = kind->len;
	d->data = rs_page_writer_event(to, h->ts_ns, kind->len + tail);
	if (d->data)
		put_common(d->data, kind->id, h);
	return d->data != NULL;
}

static inline void put(struct draft *d, unsigned int field, uint64_t value)
{
	put_int(d->data, &d->kind->f[field], value);
}

static uint32_t tail_bytes(const struct rs_bpf_event *kind, unsigned int field, const char *text)
{
	return kind->f[field].is_tail ? (uint32_t)strlen(text) + 1 : 0;
}

static void put_text(struct draft *d, unsigned int field, const char *text, uint32_t size)
{
	const struct rs_bpf_field *f = &d->kind->f[field];
	uint32_t len, at = d->end;

	if (!f->is_tail) {
		if (f->is_array)
			memcpy(d->data + f->offset, text, size < f->size ? size : f->size);
		return;
	}
	len = (uint32_t)strlen(text) + 1;
	memcpy(d->data + at, text, len);
	d->end += len;
	put_int(d->data, f, len << 16 | (f->is_relative ? at - f->offset - f->size : at));
}

/* There is an idle task for each cpu, and all have pid 0. */
static const char *runner(struct rs_bpf_events *ev, int32_t pid, const struct rs_page_writer *to)
{
	return pid ? name_of(ev, pid) : ev->idle[to->idx];
}

static int put_run(const struct rs_bpf_switch *r, struct rs_page_writer *to)
{
	size_t form = r->run_ns > UINT32_MAX;
	uint32_t run = (uint32_t)r->run_ns;
	uint8_t *data = rs_page_writer_event(to, r->h.ts_ns, runs[form].bytes);

	if (!data)
		return to->failure;
	put_common(data, runs[form].id, &r->h);
	if (form)
		memcpy(data + 8, &r->run_ns, 8);
	else
		memcpy(data + 8, &run, 4);
	return 1;
}

/* The run time stands before the switch that ends it, where the last accounting of a task is. */
static int put_switch(struct rs_bpf_events *ev, const struct rs_bpf_switch *r, struct rs_page_writer *to)
{
	struct draft d;
	int nr = 1;

	if (ev->runs && r->run_ns != RS_BPF_NO_RUN && r->h.pid) {
		nr = put_run(r, to);
		if (nr < 0)
			return nr;
		nr++;
	}
	if (!begin(&d, &ev->kinds[RS_BPF_SWITCH], &r->h, 0, to))
		return to->failure;
	put_text(&d, SW_PREV_COMM, runner(ev, r->h.pid, to), RS_BPF_COMM);
	put(&d, SW_PREV_PID, (uint64_t)(int64_t)r->h.pid);
	put(&d, SW_PREV_PRIO, r->prev_prio);
	put(&d, SW_PREV_STATE, r->h.aux);
	put_text(&d, SW_NEXT_COMM, runner(ev, r->next_pid, to), RS_BPF_COMM);
	put(&d, SW_NEXT_PID, (uint64_t)(int64_t)r->next_pid);
	put(&d, SW_NEXT_PRIO, r->next_prio);
	if (ev->forgets && r->h.aux & STATE_DEAD)
		forget(ev, r->h.pid);
	return nr;
}

static int put_wake(struct rs_bpf_events *ev, const struct rs_bpf_wake *r, struct rs_page_writer *to)
{
	const struct rs_bpf_event *kind = &ev->kinds[r->h.kind];
	const char *comm = name_of(ev, r->pid);
	struct draft d;

	if (!begin(&d, kind, &r->h, tail_bytes(kind, WK_COMM, comm), to))
		return to->failure;
	put_text(&d, WK_COMM, comm, RS_BPF_COMM);
	put(&d, WK_PID, (uint64_t)(int64_t)r->pid);
	put(&d, WK_PRIO, r->prio);
	put(&d, WK_CPU, r->cpu);
	put(&d, WK_SUCCESS, 1);
	return 1;
}

static int put_migrate(struct rs_bpf_events *ev, const struct rs_bpf_migrate *r, struct rs_page_writer *to)
{
	const struct rs_bpf_event *kind = &ev->kinds[RS_BPF_MIGRATE];
	const char *comm = name_of(ev, r->pid);
	struct draft d;

	if (!begin(&d, kind, &r->h, tail_bytes(kind, MG_COMM, comm), to))
		return to->failure;
	put_text(&d, MG_COMM, comm, RS_BPF_COMM);
	put(&d, MG_PID, (uint64_t)(int64_t)r->pid);
	put(&d, MG_PRIO, r->prio);
	put(&d, MG_FROM, r->from);
	put(&d, MG_TO, r->to);
	return 1;
}

static int put_fork(struct rs_bpf_events *ev, const struct rs_bpf_fork *r, struct rs_page_writer *to)
{
	const struct rs_bpf_event *kind = &ev->kinds[RS_BPF_FORK];
	const char *parent, *child;
	struct draft d;

	if (rs_bpf_events_name(ev, r->child, r->comm) < 0)
		return -ENOMEM;
	name_of(ev, r->parent);	/* may move the table */
	parent = name_of(ev, r->parent);
	child = name_of(ev, r->child);
	if (!begin(&d, kind, &r->h, tail_bytes(kind, FK_PARENT_COMM, parent) + tail_bytes(kind, FK_CHILD_COMM, child), to))
		return to->failure;
	put_text(&d, FK_PARENT_COMM, parent, RS_BPF_COMM);
	put(&d, FK_PARENT, (uint64_t)(int64_t)r->parent);
	put_text(&d, FK_CHILD_COMM, child, RS_BPF_COMM);
	put(&d, FK_CHILD, (uint64_t)(int64_t)r->child);
	return 1;
}

static int put_exec(struct rs_bpf_events *ev, const struct rs_bpf_exec *r, struct rs_page_writer *to)
{
	const struct rs_bpf_event *kind = &ev->kinds[RS_BPF_EXEC];
	char path[RS_BPF_PATH];
	struct draft d;

	memcpy(path, r->path, sizeof(path));
	path[sizeof(path) - 1] = '\0';
	if (!begin(&d, kind, &r->h, tail_bytes(kind, EX_FILE, path), to))
		return to->failure;
	put_text(&d, EX_FILE, path, (uint32_t)strlen(path) + 1);
	put(&d, EX_PID, (uint64_t)(int64_t)r->pid);
	put(&d, EX_OLD, (uint64_t)(int64_t)r->old_pid);
	return 1;
}

static int put_exit(struct rs_bpf_events *ev, const struct rs_bpf_exit *r, struct rs_page_writer *to)
{
	const struct rs_bpf_event *kind = &ev->kinds[RS_BPF_EXIT];
	const char *comm;
	struct draft d;

	if (rs_bpf_events_name(ev, r->pid, r->comm) < 0)
		return -ENOMEM;
	comm = name_of(ev, r->pid);
	if (!begin(&d, kind, &r->h, tail_bytes(kind, XT_COMM, comm), to))
		return to->failure;
	put_text(&d, XT_COMM, comm, RS_BPF_COMM);
	put(&d, XT_PID, (uint64_t)(int64_t)r->pid);
	put(&d, XT_PRIO, r->prio);
	put(&d, XT_DEAD, r->group_dead);
	return 1;
}

static int put_prio(struct rs_bpf_events *ev, const struct rs_bpf_prio *r, struct rs_page_writer *to)
{
	const struct rs_bpf_event *kind = &ev->kinds[RS_BPF_PRIO];
	const char *comm = name_of(ev, r->pid);
	struct draft d;

	if (!begin(&d, kind, &r->h, tail_bytes(kind, PR_COMM, comm), to))
		return to->failure;
	put_text(&d, PR_COMM, comm, RS_BPF_COMM);
	put(&d, PR_PID, (uint64_t)(int64_t)r->pid);
	put(&d, PR_OLD, r->old_prio);
	put(&d, PR_NEW, r->new_prio);
	return 1;
}

static int put_rename(struct rs_bpf_events *ev, const struct rs_bpf_rename *r, struct rs_page_writer *to)
{
	const struct rs_bpf_event *kind = &ev->kinds[RS_BPF_RENAME];
	char oldcomm[RS_BPF_COMM];
	const char *newcomm;
	struct draft d;

	copy_name(oldcomm, r->oldcomm);
	if (rs_bpf_events_name(ev, r->pid, r->newcomm) < 0)
		return -ENOMEM;
	newcomm = name_of(ev, r->pid);
	if (!begin(&d, kind, &r->h, tail_bytes(kind, RN_OLD, oldcomm) + tail_bytes(kind, RN_NEW, newcomm), to))
		return to->failure;
	put(&d, RN_PID, (uint64_t)(int64_t)r->pid);
	put_text(&d, RN_OLD, oldcomm, RS_BPF_COMM);
	put_text(&d, RN_NEW, newcomm, RS_BPF_COMM);
	put(&d, RN_OOM, (uint64_t)(int64_t)r->oom_adj);
	return 1;
}

static int put_runtime(struct rs_bpf_events *ev, const struct rs_bpf_runtime *r, struct rs_page_writer *to)
{
	const struct rs_bpf_event *kind = &ev->kinds[RS_BPF_RUNTIME];
	const char *comm = name_of(ev, r->pid);
	struct draft d;

	if (!begin(&d, kind, &r->h, tail_bytes(kind, RT_COMM, comm), to))
		return to->failure;
	put_text(&d, RT_COMM, comm, RS_BPF_COMM);
	put(&d, RT_PID, (uint64_t)(int64_t)r->pid);
	put(&d, RT_RUNTIME, r->runtime);
	put(&d, RT_VRUNTIME, r->vruntime);
	return 1;
}

static int put_truth(uint16_t id, const struct rs_bpf_truth *r, uint32_t bytes, struct rs_page_writer *to)
{
	uint8_t *data = rs_page_writer_event(to, r->h.ts_ns, bytes);

	if (!data)
		return to->failure;
	memcpy(data + sizeof(r->h), (const uint8_t *)r + sizeof(r->h), bytes - sizeof(r->h));
	put_common(data, id, &r->h);
	data[8] = (uint8_t)r->h.aux;
	data[9] = (uint8_t)(r->h.aux >> 8);
	return 1;
}

int rs_bpf_events_put(struct rs_bpf_events *ev, const struct rs_bpf_head *h, uint32_t len, struct rs_page_writer *to)
{
	const void *r = h;

	if (h->kind < RS_BPF_NR && kinds[h->kind].event && len < kinds[h->kind].bytes) {
		ev->unknown_kinds++;
		return 0;
	}
	switch (h->kind) {
	case RS_BPF_SWITCH:
		return put_switch(ev, r, to);
	case RS_BPF_WAKING:
	case RS_BPF_WAKEUP:
	case RS_BPF_WAKEUP_NEW:
		return put_wake(ev, r, to);
	case RS_BPF_MIGRATE:
		return put_migrate(ev, r, to);
	case RS_BPF_FORK:
		return put_fork(ev, r, to);
	case RS_BPF_EXEC:
		return put_exec(ev, r, to);
	case RS_BPF_EXIT:
		return put_exit(ev, r, to);
	case RS_BPF_PRIO:
		return put_prio(ev, r, to);
	case RS_BPF_RENAME:
		return put_rename(ev, r, to);
	case RS_BPF_RUNTIME:
		return put_runtime(ev, r, to);
	case RS_BPF_TRUTH:
		if (!ev->truth_id || len < sizeof(struct rs_bpf_truth))
			break;
		return put_truth(ev->truth_id, r, sizeof(struct rs_bpf_truth), to);
	case RS_BPF_START:
		if (!ev->truth_id || len < sizeof(struct rs_bpf_start))
			break;
		return put_truth(RS_EVENT_ID_START, r, sizeof(struct rs_bpf_start), to);
	case RS_BPF_CALLED:
		if (len < sizeof(struct rs_bpf_called))
			break;
		return rs_bpf_events_name(ev, ((const struct rs_bpf_called *)r)->pid, ((const struct rs_bpf_called *)r)->comm);
	case RS_BPF_LOST:
		if (len < sizeof(struct rs_bpf_lost))
			break;
		rs_page_writer_lost(to, ((const struct rs_bpf_lost *)r)->count);
		return 0;
	default:
		break;
	}
	ev->unknown_kinds++;
	return 0;
}

void rs_bpf_events_release(struct rs_bpf_events *ev)
{
	rs_map_release(&ev->index);
	free(ev->names);
	free(ev->idle);
	memset(ev, 0, sizeof(*ev));
}
