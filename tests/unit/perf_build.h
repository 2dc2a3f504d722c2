/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes perf.data files for the tests: any byte order, file or pipe, any sample type. Two cpus run tasks 100 and 200 in turn.
 * pb_begin(), then records, then pb_end(); the caller frees b.p.
 */
#ifndef PERF_BUILD_H
#define PERF_BUILD_H

#include "trace_files.h"

enum { ID_SWITCH = 316, ID_WAKING = 318 };
enum { S_IP = 1, S_TID = 2, S_TIME = 4, S_ADDR = 8, S_READ = 16, S_CALLCHAIN = 32, S_ID = 64, S_CPU = 128, S_PERIOD = 256, S_STREAM = 512,
       S_RAW = 1024, S_IDENTIFIER = 65536 };
#define S_USUAL (S_IDENTIFIER | S_IP | S_TID | S_TIME | S_CPU | S_PERIOD | S_RAW)

struct perf_build {
	struct blob b;			/* the file so far */
	bool big, pipe, no_formats, no_id_all, unfinished;
	uint64_t sample_type, read_format;
	size_t data_at, room;
	const struct blob *formats;	/* in place of ours */
	const char *release;		/* NULL: 6.12.9-test */
};

/* blob_append() takes new memory each time, which instrumented programs do slowly. */
static inline void pb_bytes(struct perf_build *pb, const void *data, size_t len)
{
	if (pb->b.len + len + 1 > pb->room) {
		pb->room = (pb->b.len + len) * 2 + 4096;
		pb->b.p = realloc(pb->b.p, pb->room);
		assert_non_null(pb->b.p);
	}
	memcpy(pb->b.p + pb->b.len, data, len);
	pb->b.len += len;
}

static inline void pb_put(struct perf_build *pb, uint64_t v, unsigned int bytes)
{
	uint8_t out[8];

	for (unsigned int i = 0; i < bytes; i++)
		out[i] = (uint8_t)(v >> 8 * (pb->big ? bytes - 1 - i : i));
	pb_bytes(pb, out, bytes);
}

static inline void pb_set64(struct perf_build *pb, size_t at, uint64_t v)
{
	struct perf_build one = { .big = pb->big };

	pb_put(&one, v, 8);
	memcpy(pb->b.p + at, one.b.p, 8);
	free(one.b.p);
}

static inline void pb_text(struct perf_build *pb, const char *text, size_t size)
{
	char padded[256] = { 0 };

	assert_true(size <= sizeof(padded) && strlen(text) <= size);
	memcpy(padded, text, strlen(text));
	pb_bytes(pb, padded, size);
}

#define PB_COMMON \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char pb_switch_format[] =
	"name: sched_switch\nID: 316\nformat:\n" PB_COMMON
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
	"\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d next_prio=%d\", REC->prev_comm, "
	"REC->prev_pid, REC->prev_prio, (REC->prev_state & ((((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | 0x00000010 | "
	"0x00000020 | 0x00000040) + 1) << 1) - 1)) ? __print_flags(REC->prev_state & ((((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | "
	"0x00000008 | 0x00000010 | 0x00000020 | 0x00000040) + 1) << 1) - 1), \"|\", { 0x00000001, \"S\" }, { 0x00000002, \"D\" }, "
	"{ 0x00000004, \"T\" }, { 0x00000008, \"t\" }, { 0x00000010, \"X\" }, { 0x00000020, \"Z\" }, { 0x00000040, \"P\" }, "
	"{ 0x00000080, \"I\" }) : \"R\", REC->prev_state & (((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | 0x00000010 | "
	"0x00000020 | 0x00000040) + 1) << 1) ? \"+\" : \"\", REC->next_comm, REC->next_pid, REC->next_prio\n";

static const char pb_waking_format[] =
	"name: sched_waking\nID: 318\nformat:\n" PB_COMMON
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, REC->prio, REC->target_cpu\n";

static inline void pb_formats(struct perf_build *pb)
{
	static const char page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n";

	if (pb->formats) {
		pb_bytes(pb, pb->formats->p, pb->formats->len);
		return;
	}
	pb_bytes(pb, "\x17\x08\x44tracing0.6", 14);
	pb_put(pb, pb->big, 1);
	pb_put(pb, 8, 1);
	pb_put(pb, 4096, 4);
	pb_bytes(pb, "header_page", 12);
	pb_put(pb, strlen(page), 8);
	pb_bytes(pb, page, strlen(page));
	pb_bytes(pb, "header_event", 13);
	pb_put(pb, 0, 8);
	pb_put(pb, 0, 4);		/* ftrace's own */
	pb_put(pb, 1, 4);
	pb_bytes(pb, "sched", 6);
	pb_put(pb, 2, 4);
	pb_put(pb, strlen(pb_switch_format), 8);
	pb_bytes(pb, pb_switch_format, strlen(pb_switch_format));
	pb_put(pb, strlen(pb_waking_format), 8);
	pb_bytes(pb, pb_waking_format, strlen(pb_waking_format));
	pb_put(pb, 0, 4);		/* kallsyms */
	pb_put(pb, 0, 4);		/* printk formats */
	pb_put(pb, 0, 8);		/* command lines */
}

static inline void pb_attr(struct perf_build *pb, uint64_t config)
{
	uint8_t flags[8] = { 0 };

	if (!pb->no_id_all)
		flags[18 / 8] = (uint8_t)(pb->big ? 1u << (7 - 18 % 8) : 1u << 18 % 8);
	pb_put(pb, 2, 4);
	pb_put(pb, 64, 4);
	pb_put(pb, config, 8);
	pb_put(pb, 1, 8);
	pb_put(pb, pb->sample_type, 8);
	pb_put(pb, pb->read_format, 8);
	pb_bytes(pb, flags, 8);
	pb_put(pb, 0, 8);
	pb_put(pb, 0, 8);
}

/* A record's header now, its size when it is known. */
static inline size_t pb_record(struct perf_build *pb, uint32_t type, uint16_t misc)
{
	size_t at = pb->b.len;

	pb_put(pb, type, 4);
	pb_put(pb, misc, 2);
	pb_put(pb, 0, 2);
	return at;
}

static inline void pb_close(struct perf_build *pb, size_t at)
{
	size_t size = pb->b.len - at;

	pb->b.p[at + 6] = (uint8_t)(pb->big ? size >> 8 : size);
	pb->b.p[at + 7] = (uint8_t)(pb->big ? size : size >> 8);
}

static inline uint64_t pb_id(uint64_t config) { return config == ID_SWITCH ? 11 : 12; }

static inline void pb_feature_text(struct perf_build *pb, const char *text)
{
	pb_put(pb, 64, 4);
	pb_text(pb, text, 64);
}

static inline void pb_begin(struct perf_build *pb)
{
	static const uint64_t configs[] = { ID_SWITCH, ID_WAKING };
	size_t at;

	if (!pb->sample_type)
		pb->sample_type = S_USUAL;
	pb->b = (struct blob){ 0 };
	pb->room = 0;
	pb_put(pb, 0x32454c4946524550ull, 8);
	pb_put(pb, pb->pipe ? 16 : 104, 8);
	if (pb->pipe) {
		for (int i = 0; i < 2; i++) {
			at = pb_record(pb, 64, 0);
			pb_attr(pb, configs[i]);
			pb_put(pb, pb_id(configs[i]), 8);
			pb_close(pb, at);
		}
		at = pb_record(pb, 80, 0);
		pb_put(pb, 4, 8);
		pb_feature_text(pb, pb->release ? pb->release : "6.12.9-test");
		pb_close(pb, at);
		if (!pb->no_formats) {
			struct perf_build formats = { .big = pb->big };

			pb_formats(&formats);
			at = pb_record(pb, 66, 0);
			pb_put(pb, (formats.b.len + 7) / 8 * 8, 4);
			pb_close(pb, at);
			pb_bytes(pb, formats.b.p, formats.b.len);
			pb_put(pb, 0, (unsigned int)(-formats.b.len & 7));
			free(formats.b.p);
		}
		return;
	}
	pb_put(pb, 64 + 16, 8);
	pb_put(pb, 104 + 16, 8);		/* the attributes, behind the two ids */
	pb_put(pb, 2 * (64 + 16), 8);
	pb->data_at = 104 + 16 + 2 * (64 + 16);
	pb_put(pb, pb->data_at, 8);
	for (int i = 0; i < 3 + 4; i++)
		pb_put(pb, 0, 8);
	pb_put(pb, pb_id(ID_SWITCH), 8);
	pb_put(pb, pb_id(ID_WAKING), 8);
	for (unsigned int i = 0; i < 2; i++) {
		pb_attr(pb, configs[i]);
		pb_put(pb, 104 + 8 * i, 8);
		pb_put(pb, 8, 8);
	}
	assert_int_equal(pb->b.len, pb->data_at);
}

static inline void pb_end(struct perf_build *pb)
{
	size_t end = pb->b.len, table = end;

	if (pb->pipe || pb->unfinished)
		return;
	pb_set64(pb, 48, end - pb->data_at);
	pb_set64(pb, 72, (pb->no_formats ? 0 : 1 << 1) | 1 << 4);
	for (int i = 0; i < (pb->no_formats ? 1 : 2) * 2; i++)
		pb_put(pb, 0, 8);
	if (!pb->no_formats) {
		pb_set64(pb, table, pb->b.len);
		pb_formats(pb);
		pb_set64(pb, table + 8, pb->b.len - (end + 32));
		table += 16;
	}
	pb_set64(pb, table, pb->b.len);
	pb_set64(pb, table + 8, 68);
	pb_feature_text(pb, pb->release ? pb->release : "6.12.9-test");
}

static inline void pb_sample(struct perf_build *pb, uint64_t config, uint64_t ts, uint32_t cpu, const struct blob *raw)
{
	size_t at = pb_record(pb, 9, 1);
	uint64_t st = pb->sample_type;

	if (st & S_IDENTIFIER)
		pb_put(pb, pb_id(config), 8);
	if (st & S_IP)
		pb_put(pb, 0xffffffff81000000ull, 8);
	if (st & S_TID) {
		pb_put(pb, 7, 4);
		pb_put(pb, 8, 4);
	}
	if (st & S_TIME)
		pb_put(pb, ts, 8);
	if (st & S_ADDR)
		pb_put(pb, 0x1234, 8);
	if (st & S_ID)
		pb_put(pb, pb_id(config), 8);
	if (st & S_STREAM)
		pb_put(pb, 99, 8);
	if (st & S_CPU) {
		pb_put(pb, cpu, 4);
		pb_put(pb, 0, 4);
	}
	if (st & S_PERIOD)
		pb_put(pb, 1, 8);
	if (st & S_READ) {
		unsigned int nr = pb->read_format & 8 ? 2 : 1;

		if (pb->read_format & 8)
			pb_put(pb, nr, 8);
		else
			pb_put(pb, 5, 8);
		for (unsigned int bit = 1; bit <= 2; bit *= 2) {
			if (pb->read_format & bit)
				pb_put(pb, 1000, 8);
		}
		for (unsigned int i = 0; i < nr; i++) {
			if (pb->read_format & 8)
				pb_put(pb, 5, 8);
			for (unsigned int bit = 4; bit <= 16; bit *= 4) {
				if (pb->read_format & bit)
					pb_put(pb, 3, 8);
			}
		}
	}
	if (st & S_CALLCHAIN) {
		pb_put(pb, 3, 8);
		for (int i = 0; i < 3; i++)
			pb_put(pb, 0xffffffff81000000ull + (unsigned int)i, 8);
	}
	if (st & S_RAW) {
		uint32_t size = (uint32_t)((raw->len + 4 + 7) / 8 * 8 - 4);

		pb_put(pb, size, 4);
		pb_bytes(pb, raw->p, raw->len);
		for (size_t i = raw->len; i < size; i++)
			pb_put(pb, 0, 1);
	}
	pb_close(pb, at);
}

/* The ids behind a record that is no sample. */
static inline void pb_trailer(struct perf_build *pb, uint64_t ts, uint32_t cpu)
{
	uint64_t st = pb->no_id_all ? 0 : pb->sample_type;

	if (st & S_TID)
		pb_put(pb, 0x700000008ull, 8);
	if (st & S_TIME)
		pb_put(pb, ts, 8);
	if (st & S_ID)
		pb_put(pb, pb_id(ID_SWITCH), 8);
	if (st & S_STREAM)
		pb_put(pb, 99, 8);
	if (st & S_CPU) {
		pb_put(pb, cpu, 4);
		pb_put(pb, 0, 4);
	}
	if (st & S_IDENTIFIER)
		pb_put(pb, pb_id(ID_SWITCH), 8);
}

static inline void pb_common(struct perf_build *raw, unsigned int type, int pid)
{
	pb_put(raw, type, 2);
	pb_put(raw, 1, 1);
	pb_put(raw, 0, 1);
	pb_put(raw, (uint32_t)pid, 4);
}

static inline void pb_switch(struct perf_build *pb, uint64_t ts, uint32_t cpu, int prev, uint64_t state, int next)
{
	struct perf_build raw = { .big = pb->big };
	char name[16];

	pb_common(&raw, ID_SWITCH, prev);
	snprintf(name, sizeof(name), "task %d", prev);
	pb_text(&raw, name, 16);
	pb_put(&raw, (uint32_t)prev, 4);
	pb_put(&raw, 120, 4);
	pb_put(&raw, state, 8);
	snprintf(name, sizeof(name), "task %d", next);
	pb_text(&raw, name, 16);
	pb_put(&raw, (uint32_t)next, 4);
	pb_put(&raw, 110, 4);
	pb_sample(pb, ID_SWITCH, ts, cpu, &raw.b);
	free(raw.b.p);
}

static inline void pb_waking(struct perf_build *pb, uint64_t ts, uint32_t cpu, int waker, int pid, unsigned int target)
{
	struct perf_build raw = { .big = pb->big };
	char name[16];

	pb_common(&raw, ID_WAKING, waker);
	snprintf(name, sizeof(name), "task %d", pid);
	pb_text(&raw, name, 16);
	pb_put(&raw, (uint32_t)pid, 4);
	pb_put(&raw, 120, 4);
	pb_put(&raw, target, 4);
	pb_sample(pb, ID_WAKING, ts, cpu, &raw.b);
	free(raw.b.p);
}

static inline void pb_round(struct perf_build *pb) { pb_close(pb, pb_record(pb, 68, 0)); }

static inline void pb_lost(struct perf_build *pb, uint64_t ts, uint32_t cpu, uint64_t count)
{
	size_t at = pb_record(pb, 2, 0);

	pb_put(pb, pb_id(ID_SWITCH), 8);
	pb_put(pb, count, 8);
	pb_trailer(pb, ts, cpu);
	pb_close(pb, at);
}

static inline void pb_comm(struct perf_build *pb, uint64_t ts, uint32_t cpu, int pid, const char *name)
{
	size_t at = pb_record(pb, 3, 0);

	pb_put(pb, (uint32_t)pid, 4);
	pb_put(pb, (uint32_t)pid, 4);
	pb_text(pb, name, 16);
	pb_trailer(pb, ts, cpu);
	pb_close(pb, at);
}

static inline void pb_fork_exit(struct perf_build *pb, bool fork, uint64_t ts, uint32_t cpu, int pid, int parent)
{
	size_t at = pb_record(pb, fork ? 7 : 4, 0);

	pb_put(pb, (uint32_t)pid, 4);
	pb_put(pb, (uint32_t)parent, 4);
	pb_put(pb, (uint32_t)pid, 4);
	pb_put(pb, (uint32_t)parent, 4);
	pb_put(pb, ts, 8);
	pb_trailer(pb, ts, cpu);
	pb_close(pb, at);
}

#endif
