// SPDX-License-Identifier: GPL-2.0-only
/* Task states from the print formats of many kernels, and fields of event formats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <event-parse.h>

#include <resched/event.h>

#include "trace/format.h"

#define HEAD "\"prev_comm=%s prev_state=%s%s\", REC->prev_comm, "

/* 2.6.3x: no mark of preemption */
static const char fmt_2_6[] = HEAD "REC->prev_state ? __print_flags(REC->prev_state, \"|\", { 1, \"S\"} , { 2, \"D\" }, { 4, \"T\" }, "
	"{ 8, \"t\" }, { 16, \"Z\" }, { 32, \"X\" }, { 64, \"x\" }, { 128, \"W\" }) : \"R\", REC->next_comm";

/* 3.9 to 4.1: R+ is 1024 */
static const char fmt_4_1[] = HEAD "REC->prev_state & (1024-1) ? __print_flags(REC->prev_state & (1024-1), \"|\", { 1, \"S\"} , { 2, \"D\" }, "
	"{ 4, \"T\" }, { 8, \"t\" }, { 16, \"Z\" }, { 32, \"X\" }, { 64, \"x\" }, { 128, \"K\" }, { 256, \"W\" }, { 512, \"P\" }) : \"R\", "
	"REC->prev_state & 1024 ? \"+\" : \"\", REC->next_comm";

/* 4.2 to 4.7: R+ is 2048 */
static const char fmt_4_4[] = HEAD "REC->prev_state & (2048-1) ? __print_flags(REC->prev_state & (2048-1), \"|\", { 1, \"S\"} , { 2, \"D\" }, "
	"{ 4, \"T\" }, { 8, \"t\" }, { 16, \"Z\" }, { 32, \"X\" }, { 64, \"x\" }, { 128, \"K\" }, { 256, \"W\" }, { 512, \"P\" }, { 1024, \"N\" }) : \"R\", "
	"REC->prev_state & 2048 ? \"+\" : \"\", REC->next_comm";

/* 4.8 to 4.13: R+ is 4096 */
static const char fmt_4_9[] = HEAD "REC->prev_state & (4096-1) ? __print_flags(REC->prev_state & (4096-1), \"|\", { 0x1, \"S\"} , { 2, \"D\" }, "
	"{ 4, \"T\" }, { 8, \"t\" }, { 16, \"X\" }, { 32, \"Z\" }, { 64, \"x\" }, { 128, \"K\" }, { 256, \"W\" }, { 512, \"P\" }, { 1024, \"N\" }, "
	"{ 2048, \"n\" }) : \"R\", REC->prev_state & 4096 ? \"+\" : \"\", REC->next_comm";

#define OR_ALL "(0x0000 | 0x0001 | 0x0002 | 0x0004 | 0x0008 | 0x0010 | 0x0020 | 0x0040)"
/* 4.14 and later, 6.1, 6.12: R+ is the bit after the last */
static const char fmt_6_1[] = HEAD "(REC->prev_state & (((" OR_ALL " + 1) << 1) - 1)) ? __print_flags(REC->prev_state & (((" OR_ALL
	" + 1) << 1) - 1), \"|\", { 0x0001, \"S\" }, { 0x0002, \"D\" }, { 0x0004, \"T\" }, { 0x0008, \"t\" }, { 0x0010, \"X\" }, "
	"{ 0x0020, \"Z\" }, { 0x0040, \"P\" }, { 0x0080, \"I\" }) : \"R\", REC->prev_state & ((" OR_ALL " + 1) << 1) ? \"+\" : \"\", REC->next_comm";

static uint32_t decode(const char *fmt, uint64_t raw)
{
	struct rs_states st;

	assert_true(rs_states_parse(&st, fmt));
	return rs_states_decode(&st, raw);
}

static void kernels(void **state)
{
	static const struct { const char *fmt; uint64_t raw; uint32_t want; } rows[] = {
		{ fmt_2_6, 0, RESCHED_STATE_RUNNING }, { fmt_2_6, 1, RESCHED_STATE_S }, { fmt_2_6, 16, RESCHED_STATE_Z },
		{ fmt_2_6, 32, RESCHED_STATE_X }, { fmt_2_6, 64, RESCHED_STATE_X }, { fmt_2_6, 1024, RESCHED_STATE_OTHER },
		{ fmt_4_1, 0, RESCHED_STATE_RUNNING }, { fmt_4_1, 1024, RESCHED_STATE_PREEMPT }, { fmt_4_1, 2, RESCHED_STATE_D },
		{ fmt_4_1, 64, RESCHED_STATE_X }, { fmt_4_1, 512, RESCHED_STATE_P }, { fmt_4_1, 1025, RESCHED_STATE_S | RESCHED_STATE_PREEMPT },
		{ fmt_4_1, 130, RESCHED_STATE_D | RESCHED_STATE_OTHER },	/* D|K */
		{ fmt_4_4, 2048, RESCHED_STATE_PREEMPT }, { fmt_4_4, 1024, RESCHED_STATE_OTHER },
		{ fmt_4_9, 4096, RESCHED_STATE_PREEMPT }, { fmt_4_9, 16, RESCHED_STATE_X }, { fmt_4_9, 32, RESCHED_STATE_Z },
		{ fmt_6_1, 0, RESCHED_STATE_RUNNING }, { fmt_6_1, 1, RESCHED_STATE_S }, { fmt_6_1, 2, RESCHED_STATE_D },
		{ fmt_6_1, 4, RESCHED_STATE_T }, { fmt_6_1, 8, RESCHED_STATE_t }, { fmt_6_1, 16, RESCHED_STATE_X }, { fmt_6_1, 32, RESCHED_STATE_Z },
		{ fmt_6_1, 64, RESCHED_STATE_P }, { fmt_6_1, 128, RESCHED_STATE_I }, { fmt_6_1, 256, RESCHED_STATE_PREEMPT },
		{ fmt_6_1, 257, RESCHED_STATE_S | RESCHED_STATE_PREEMPT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (decode(rows[i].fmt, rows[i].raw) != rows[i].want)
			fail_msg("row %zu: raw %llu gives %x, not %x", i, (unsigned long long)rows[i].raw,
				 decode(rows[i].fmt, rows[i].raw), rows[i].want);
	}
}

static void one_bit_too_high(void **state)
{
	struct rs_states st;

	(void)state;
	assert_true(rs_states_parse(&st, fmt_6_1));
	rs_states_shift(&st);
	assert_int_equal(rs_states_decode(&st, 1), RESCHED_STATE_RUNNING);
	assert_int_equal(rs_states_decode(&st, 2), RESCHED_STATE_S);
	assert_int_equal(rs_states_decode(&st, 4), RESCHED_STATE_D);
	assert_int_equal(rs_states_decode(&st, 256), RESCHED_STATE_PREEMPT);
}

static void texts_not_understood_fall_back(void **state)
{
	static const char *const texts[] = {
		"", "\"nothing\", REC->x", "__print_flags(", "__print_flags(REC->prev_state, \"|\")", "__print_flags(REC->prev_state & TASK_MAX, \"|\", { 1, \"S\" })",
		"__print_flags(REC->prev_state & ((((((1, \"|\", { 1, \"S\" })", "__print_flags(REC->prev_state, \"|\", { 0, \"S\" })",
		"__print_flags(REC->prev_state, \"|\", { 1 << 99, \"S\" })", "__print_flags(REC->prev_state, \"|\", { 1, \"S",
	};
	struct rs_states st;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_false(rs_states_parse(&st, texts[i]));
		assert_int_equal(rs_states_decode(&st, 1), RESCHED_STATE_S);
		assert_int_equal(rs_states_decode(&st, 0x100), RESCHED_STATE_PREEMPT);
	}
}

static void deep_parentheses_end(void **state)
{
	static const char head[] = "__print_flags(REC->prev_state & ";
	size_t len = 100000;
	char *text = malloc(len + sizeof(head));
	struct rs_states st;

	(void)state;
	memcpy(text, head, sizeof(head) - 1);
	memset(text + sizeof(head) - 1, '(', len);
	text[len + sizeof(head) - 1] = '\0';
	assert_false(rs_states_parse(&st, text));
	free(text);
}

static void this_kernel(void **state)
{
	static const char path[] = "/sys/kernel/tracing/events/sched/sched_switch/format";
	FILE *f = fopen(path, "r");
	static char text[65536];
	struct tep_handle *formats = rs_formats_new(false);
	struct rs_states st;
	struct rs_field field;
	char name[RS_EVENT_NAME_MAX];
	uint16_t id;

	(void)state;
	if (!f) {
		tep_free(formats);
		print_message("this_kernel: cannot read %s (root and tracefs needed)\n", path);
		skip();
	}
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	assert_int_equal(rs_format_head(text, name, &id), 0);
	assert_string_equal(name, "sched_switch");
	assert_true(rs_format_field(rs_formats_add(formats, text), "prev_state", &field));
	tep_free(formats);
	assert_true(rs_states_parse(&st, rs_format_print(text)));
	assert_int_equal(rs_states_decode(&st, 1), RESCHED_STATE_S);
	assert_int_equal(rs_states_decode(&st, st.preempt), RESCHED_STATE_PREEMPT);
}

static void fields(void **state)
{
	static const char text[] = "name: x\nID: 77\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
		"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
		"\tfield:__data_loc char[] parent_comm;\toffset:28;\tsize:4;\tsigned:0;\n\tfield:long long_state;\toffset:32;\tsize:8;\tsigned:1;\n"
		"\tfield:__rel_loc char[] child_comm;\toffset:40;\tsize:4;\tsigned:0;\n"
		"\tfield:int broken;\toffset:99999;\tsize:4;\tsigned:1;\n\nprint fmt: \"%d\", REC->pid\n";
	struct tep_handle *formats = rs_formats_new(true);
	char name[RS_EVENT_NAME_MAX];
	struct tep_event *event;
	struct rs_field f;
	uint16_t id;

	(void)state;
	assert_int_equal(rs_format_head(text, name, &id), 0);
	assert_string_equal(name, "x");
	assert_int_equal(id, 77);
	event = rs_formats_add(formats, text);
	assert_non_null(event);
	assert_int_equal(event->id, 77);
	assert_true(rs_format_field(event, "common_type", &f));
	assert_true(!f.is_signed && f.offset == 0 && f.size == 2);
	assert_true(rs_format_field(event, "prev_comm", &f));
	assert_true(f.is_array && !f.is_dynamic && f.offset == 8 && f.size == 16);
	assert_true(rs_format_field(event, "pid", &f));
	assert_true(f.is_signed && !f.is_array && f.offset == 24 && f.size == 4);
	assert_true(rs_format_field(event, "parent_comm", &f));
	assert_true(f.is_dynamic && !f.is_relative && f.offset == 28);
	assert_true(rs_format_field(event, "child_comm", &f));
	assert_true(f.is_relative && !f.is_dynamic && f.offset == 40);
	assert_false(rs_format_field(event, "state", &f));	/* only the end of long_state */
	assert_false(rs_format_field(event, "comm", &f));
	assert_false(rs_format_field(event, "broken", &f));
	assert_int_equal(f.size, 0);
	assert_non_null(strstr(rs_format_print(text), "REC->pid"));
	assert_true(rs_format_head("name: x\n", name, &id) < 0);
	assert_true(rs_format_head("ID: 3\n", name, &id) < 0);
	assert_true(rs_format_head("name: y\nID: 70000\n", name, &id) < 0);
	tep_free(formats);
}

/* Declarations that libtraceevent would crash on, and others that are none, are refused without a word on standard error. */
static void hostile_formats(void **state)
{
	static const char head[] = "name: x\nID: 7\nformat:\n", end[] = "\toffset:0;\tsize:4;\tsigned:0;\n\nprint fmt: \"\"\n";
	static const char *const decls[] = {
		"\tfield:__attribute__((user)) x;", "\tfield:int x[\001;", "\tfield:int x[", "\tfield:int;", "\tfield:;", "\tfield:", "field",
		"\tfield:int \"x;", "\tfield:int x[]]];", "\tfield:(;", "\tfield:int x[3] y z;", "\tfield:\303\244 x;", "\tfield:int x:3;", "",
	};
	struct tep_handle *formats = rs_formats_new(false);
	size_t len = 1000000;
	char *text = malloc(len + 1);

	(void)state;
	for (size_t i = 0; i < sizeof(decls) / sizeof(decls[0]); i++) {
		snprintf(text, len, "%s%s%s", head, decls[i], end);
		if (rs_formats_add(formats, text))
			fail_msg("'%s' is taken for a field", decls[i]);
	}
	memset(text, 'a', len);
	text[len] = '\0';
	memcpy(text, head, sizeof(head) - 1);
	assert_null(rs_formats_add(formats, text));
	assert_null(rs_formats_add(formats, ""));
	for (unsigned int i = 0; i < RS_FORMATS_MAX; i++) {
		snprintf(text, len, "name: x\nID: %u\nformat:\n\tfield:int x;%s", i, end);
		if (!rs_formats_add(formats, text))
			break;
		assert_in_range(i, 0, RS_FORMATS_MAX - 1);
	}
	assert_null(rs_formats_add(formats, text));
	assert_in_range(tep_get_events_count(formats), RS_FORMATS_MAX / 2, RS_FORMATS_MAX);
	free(text);
	tep_free(formats);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels), cmocka_unit_test(one_bit_too_high), cmocka_unit_test(texts_not_understood_fall_back),
		cmocka_unit_test(deep_parentheses_end), cmocka_unit_test(this_kernel), cmocka_unit_test(fields), cmocka_unit_test(hostile_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
