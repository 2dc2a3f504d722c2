// SPDX-License-Identifier: GPL-2.0-only
/* The table of names behind the records of the BPF programs: what lives is known, and what died is forgotten where that is wanted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <event-parse.h>
#include <kbuffer.h>

#include "capture/bpf_events.h"

#define PAGE 4096u
#define DEAD 0x10	/* as sched_switch has it */

static int nowhere(void *ctx, unsigned int idx, const void *pages, uint32_t bytes)
{
	(void)ctx, (void)idx, (void)pages, (void)bytes;
	return 0;
}

struct setup { struct rs_texts formats; struct rs_bpf_events events; struct rs_page_writer writer; uint64_t ns; };

static void begin(struct setup *s, bool forgets)
{
	static const unsigned int cpu = 0;
	struct resched_error err = { 0 };

	memset(s, 0, sizeof(*s));
	assert_int_equal(rs_texts_builtin(&s->formats, &err), 0);
	assert_int_equal(rs_bpf_events_init(&s->events, &s->formats, 1, &cpu, false, false, &err), 0);
	assert_int_equal(rs_page_writer_init(&s->writer, 0, PAGE, nowhere, NULL), 0);
	s->events.forgets = forgets;
	s->ns = 1000;
}

static void end(struct setup *s)
{
	rs_bpf_events_release(&s->events);
	rs_page_writer_release(&s->writer);
	rs_texts_release(&s->formats);
}

static struct rs_bpf_head head(struct setup *s, enum rs_bpf_kind kind, int32_t pid, uint16_t aux)
{
	return (struct rs_bpf_head){ .ts_ns = s->ns += 1000, .pid = pid, .kind = (uint8_t)kind, .aux = aux };
}

static void fork_one(struct setup *s, int32_t child)
{
	struct rs_bpf_fork fork = { .h = head(s, RS_BPF_FORK, 1, 0), .parent = 1, .child = child };

	snprintf(fork.comm, sizeof(fork.comm), "task-%d", (int)child);
	assert_true(rs_bpf_events_put(&s->events, &fork.h, sizeof(fork), &s->writer) > 0);
}

static void switch_one(struct setup *s, int32_t prev, uint16_t state, int32_t next)
{
	struct rs_bpf_switch sw = { .h = head(s, RS_BPF_SWITCH, prev, state), .next_pid = next, .prev_prio = 120, .next_prio = 120 };

	assert_true(rs_bpf_events_put(&s->events, &sw.h, sizeof(sw), &s->writer) > 0);
}

static bool knows(struct setup *s, int32_t pid)
{
	char *names = rs_bpf_events_names(&s->events), want[64];
	bool found;

	assert_non_null(names);
	snprintf(want, sizeof(want), "%d task-%d\n", (int)pid, (int)pid);
	found = strstr(names, want) != NULL;
	free(names);
	return found;
}

struct seen_run { uint16_t id; uint64_t runtime; };
struct seen { unsigned int nr; struct seen_run runs[4]; };

static int see(void *ctx, unsigned int idx, const void *page, uint32_t bytes)
{
	struct kbuffer *kbuf = kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_LITTLE);
	struct seen *seen = ctx;
	unsigned long long ts;

	(void)idx, (void)bytes;
	assert_int_equal(kbuffer_load_subbuffer(kbuf, (void *)page), 0);
	for (const uint8_t *data = kbuffer_read_event(kbuf, &ts); data; data = kbuffer_next_event(kbuf, &ts)) {
		struct seen_run run = { 0 };

		memcpy(&run.id, data, 2);
		if (run.id != RS_EVENT_ID_RUN && run.id != RS_EVENT_ID_RUN_LONG)
			continue;
		memcpy(&run.runtime, data + 8, run.id == RS_EVENT_ID_RUN ? 4 : 8);
		assert_in_range(seen->nr, 0, 3);
		seen->runs[seen->nr++] = run;
	}
	kbuffer_free(kbuf);
	return 0;
}

/* Run times are short but for those that do not fit. */
static void a_long_run_has_its_own_form(void **state)
{
	static const uint64_t runs[] = { 1, UINT32_MAX, UINT64_C(1) << 32, UINT64_C(86400000000000) };
	static const unsigned int cpu = 0;
	struct resched_error err = { 0 };
	struct seen seen = { 0 };
	struct setup s = { .ns = 1000 };

	(void)state;
	assert_int_equal(rs_texts_builtin(&s.formats, &err), 0);
	assert_int_equal(rs_bpf_events_init(&s.events, &s.formats, 1, &cpu, true, false, &err), 0);
	assert_int_equal(rs_page_writer_init(&s.writer, 0, PAGE, see, &seen), 0);
	for (unsigned int i = 0; i < 4; i++) {
		struct rs_bpf_switch sw = { .h = head(&s, RS_BPF_SWITCH, 7, 1), .prev_prio = 120, .next_prio = 120, .run_ns = runs[i] };

		assert_int_equal(rs_bpf_events_put(&s.events, &sw.h, sizeof(sw), &s.writer), 2);
	}
	assert_int_equal(rs_page_writer_flush(&s.writer), 0);
	assert_int_equal(seen.nr, 4);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(seen.runs[i].id, i < 2 ? RS_EVENT_ID_RUN : RS_EVENT_ID_RUN_LONG);
		assert_true(seen.runs[i].runtime == runs[i]);
	}
	end(&s);
}

/* As over days: tasks without end, a few of them alive at a time. */
static void the_dead_are_forgotten(void **state)
{
	struct setup s;

	(void)state;
	begin(&s, true);
	assert_int_equal(rs_bpf_events_name(&s.events, 1, "task-1"), 0);
	for (int32_t pid = 1000; pid < 201000; pid++) {
		fork_one(&s, pid);
		switch_one(&s, 1, 0, pid);
		switch_one(&s, pid, 0x1, 0);	/* sleeps: it is one that lives */
		if (pid >= 1010)
			switch_one(&s, pid - 10, pid & 1 ? DEAD : 0x20, 0);
		assert_in_range(s.events.nr, 1, 11);
	}
	assert_true(s.events.size <= 1024 && s.events.index.mask < 1024);
	assert_true(knows(&s, 1) && knows(&s, 200990) && knows(&s, 200999) && !knows(&s, 200989) && !knows(&s, 1000));
	fork_one(&s, 1000);	/* the pid is given again */
	assert_true(knows(&s, 1000));
	end(&s);
}

/* A recording's end has the names of all. */
static void a_recording_keeps_all(void **state)
{
	struct setup s;

	(void)state;
	begin(&s, false);
	for (int32_t pid = 1000; pid < 1100; pid++) {
		fork_one(&s, pid);
		switch_one(&s, pid, DEAD, 0);
	}
	assert_true(knows(&s, 1000) && knows(&s, 1099));
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_dead_are_forgotten), cmocka_unit_test(a_recording_keeps_all),
					    cmocka_unit_test(a_long_run_has_its_own_form) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
