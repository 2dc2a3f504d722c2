// SPDX-License-Identifier: GPL-2.0-only
/* One line of text: whose it is, when, and what its body says, however the comm looks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "trace/text_event.h"
#include "trace/text_lines.h"
#include "trace/text_scan.h"

#define IRQS_OFF RESCHED_CTX_IRQS_OFF
#define RESCHED RESCHED_CTX_NEED_RESCHED
#define HARD RESCHED_CTX_HARDIRQ
#define SOFT RESCHED_CTX_SOFTIRQ

static char line_buf[1024 + RS_LINE_SLACK];

static bool scan(const char *text, struct rs_text_line *line)
{
	static const struct rs_flag_columns columns = RS_FLAG_COLUMNS;

	memset(line_buf, 'x', sizeof(line_buf));
	memcpy(line_buf, text, strlen(text) + 1);
	return rs_text_scan(&columns, line_buf, line_buf + strlen(text), line);
}

static void shapes(void **state)
{
	static const struct {
		const char *text, *comm;
		int pid;
		unsigned int cpu, ctx, digits;
		uint64_t ts;
		const char *name;
	} lines[] = {
		{ "          <idle>-0     [002] d..2 21926.770185: sched_switch: b", "<idle>", 0, 2, IRQS_OFF, 6, 21926770185000, "sched_switch" },
		{ "  atrace-14662 [000] 50260.647576: sched_switch: b", "atrace", 14662, 0, 0, 6, 50260647576000, "sched_switch" },
		{ "   sh-1642  [002]    76.211696: sched_wakeup:          b", "sh", 1642, 2, 0, 6, 76211696000, "sched_wakeup" },
		{ "kworker/u17:1-959   (  959) [006] d..3   538.064659: cpu_idle: b", "kworker/u17:1", 959, 6, IRQS_OFF, 6, 538064659000, "cpu_idle" },
		{ "<7952>-7952  (-----) [000] dn.4   538.064912: a_b: b", "<7952>", 7952, 0, IRQS_OFF | RESCHED, 6, 538064912000, "a_b" },
		{ "  x-1 [1234] dNH2. 0.000000001: e: b", "x", 1, 1234, IRQS_OFF | RESCHED | HARD | SOFT, 9, 1, "e" },
		{ "  x-1 [007] D.s31 1.5: e: b", "x", 1, 7, IRQS_OFF | SOFT, 1, 1500000000, "e" },
		{ "  x-1 [007] bpZ3.12. 1.5: e: b", "x", 1, 7, HARD, 1, 1500000000, "e" },
		{ "  x-1 [007] .lz.. 1.5: e: b", "x", 1, 7, RESCHED | HARD, 1, 1500000000, "e" },
		{ "      wl-401     0d..2.     9.000174590: sched_wakeup_new:     b", "wl", 401, 0, IRQS_OFF, 9, 9000174590, "sched_wakeup_new" },
		{ "  <idle>-0      12dN.2   123us!: e: b", "<idle>", 0, 12, IRQS_OFF | RESCHED, 6, 123000, "e" },
		{ "  <idle>-0         0d..2  45us : e: b", "<idle>", 0, 0, IRQS_OFF, 6, 45000, "e" },
		{ "  perf 10002 [001]  2890.633822946: sched:sched_waking: b", "perf", 10002, 1, 0, 9, 2890633822946, "sched_waking" },
		{ "  tmux: server 10002/10003 [001]  2.6: sched:e: b", "tmux: server", 10003, 1, 0, 1, 2600000000, "e" },
		{ "  perf  7 [001]  2.6:    1 sched:e:u: b", "perf", 7, 1, 0, 1, 2600000000, "e" },
		{ "  :-1    -1 [001]  2.6: sched:e: b", ":-1", -1, 1, 0, 1, 2600000000, "e" },
		{ "  a-b [3] c-77 [004] ...1 5.000001: e: b", "a-b [3] c", 77, 4, 0, 6, 5000001000, "e" },
		{ "  rs:main Q:Reg-77 [004] ...1 5.000001: e: b", "rs:main Q:Reg", 77, 4, 0, 6, 5000001000, "e" },
		{ "  [0] 1.0: x-77 [004] ...1 5.000001: e: b", "[0] 1.0: x", 77, 4, 0, 6, 5000001000, "e" },
		{ "  -77-77 [004] ...1 5.000001: e: b", "-77", 77, 4, 0, 6, 5000001000, "e" },
		{ "  \xc3\xa9\xff=-77 [004] ...1 5.000001: e: b", "\xc3\xa9\xff=", 77, 4, 0, 6, 5000001000, "e" },
		{ "  x-1 [000] 5.000001: (+8)     e:   b", "x", 1, 0, 0, 6, 5000001000, "e" },
		{ "  x-1 [000] .... 5.000001: schedule <-worker_thread", "x", 1, 0, 0, 6, 5000001000, "function" },
		{ "  x-1 [000] .... 5000001: e: b", "x", 1, 0, 0, 0, 5000001, "e" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct rs_text_line line;

		print_message("%s\n", lines[i].text);
		assert_true(scan(lines[i].text, &line));
		assert_int_equal(line.comm_len, strlen(lines[i].comm));
		assert_memory_equal(line.comm, lines[i].comm, line.comm_len);
		assert_int_equal(line.pid, lines[i].pid);
		assert_int_equal(line.cpu, lines[i].cpu);
		assert_int_equal(line.ctx, lines[i].ctx);
		assert_int_equal(line.digits, lines[i].digits);
		assert_int_equal(line.ts_ns, lines[i].ts);
		assert_int_equal(line.name_len, strlen(lines[i].name));
		assert_memory_equal(line.name, lines[i].name, line.name_len);
	}
}

static void no_events(void **state)
{
	static const char *const lines[] = {
		"", " ", "[", "-", "# tracer: nop", "cpus=4", " gid=4", "x-1 [000]", "x-1 [000] ....", "x-1 [000] .... 5", "x-1 [000] .... 5.1",
		"x-1 [000] .... 5.1:", "x-1 [000] .... 5.1: ", "x-1 [000] 5.: e: b", "x-1 [9999] 5.1: e: b", "x [000] 5.1: e: b", "x-[000] 5.1: e: b",
		"x-99999999999 [000] 5.1: e: b", "x-1 [00a] 5.1: e: b", "x-1 [000] 99999999999999999999999.1: e: b", "x-1 [000] 5.1234567891: e: b",
		"x-1 [000] flags-that-are-none 5.1: e: b", "x-1 0 5.1: e: b", "\tffffffff schedule+0x1 ([kernel])",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct rs_text_line line;

		print_message("'%s'\n", lines[i]);
		assert_false(scan(lines[i], &line));
	}
}

static struct rs_text_event decode(const char *event, const char *body, bool good)
{
	static const struct rs_raw_states raw = { 0 };
	struct rs_text_line line;
	struct rs_text_event te;
	char text[600];

	snprintf(text, sizeof(text), "  wk-55 [003] d..2 5.000001: %s: %s", event, body);
	print_message("%s\n", text);
	assert_true(scan(text, &line));
	assert_int_equal(rs_text_decode(rs_text_event_type(event, strlen(event)), &line, &raw, &te), good);
	return te;
}

static void assert_name(const struct rs_text_event *te, unsigned int i, int32_t pid, const char *name)
{
	assert_true(i < te->nr_names);
	assert_int_equal(te->names[i].pid, pid);
	assert_int_equal(te->names[i].len, strlen(name));
	assert_memory_equal(te->names[i].text, name, strlen(name));
}

static void switches(void **state)
{
	static const struct { const char *comm; } comms[] = {
		{ "bash" }, { "tmux: server" }, { "a prev_pid=1" }, { "a next_pid=3" }, { " ==> " }, { "==> next_comm=" }, { "x=y" }, { "[0] 1.0:" },
		{ "" }, { "\xff\xfe=" }, { "swapper/12" }, { "a:1 [1] R ==> b" }, { "a_comm_of_thirty_one_characters" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(comms) / sizeof(comms[0]); i++) {
		for (size_t j = 0; j < sizeof(comms) / sizeof(comms[0]); j++) {
			const char *a = comms[i].comm, *b = comms[j].comm;
			struct rs_text_event te;
			char body[300];

			snprintf(body, sizeof(body), "prev_comm=%s prev_pid=12 prev_prio=120 prev_state=D|K ==> next_comm=%s next_pid=34 next_prio=98", a, b);
			te = decode("sched_switch", body, true);
			assert_int_equal(te.ev.type, RESCHED_EV_SWITCH);
			assert_int_equal(te.ev.pid, 12);
			assert_int_equal(te.ev.sw.prev_prio, 120);
			assert_int_equal(te.ev.sw.prev_state, RESCHED_STATE_D | RESCHED_STATE_OTHER);
			assert_int_equal(te.ev.sw.next_pid, 34);
			assert_int_equal(te.ev.sw.next_prio, 98);
			if (*a)
				assert_name(&te, 0, 12, a);
			if (*b)
				assert_name(&te, *a ? 1 : 0, 34, b);

			if (strchr(a, ':') || strchr(b, ':'))
				continue;
			snprintf(body, sizeof(body), "%s:12 [120] S ==> %s:34 [98] Latency: 5.582 usecs", a, b);
			te = decode("sched_switch", body, true);
			assert_true(te.plugin);
			assert_int_equal(te.ev.pid, 12);
			assert_int_equal(te.ev.sw.next_pid, 34);
			assert_int_equal(te.ev.sw.next_prio, 98);
			assert_int_equal(te.ev.sw.prev_state, RESCHED_STATE_S);
		}
	}
}

static void states(void **state)
{
	static const struct { const char *text; uint32_t state; } letters[] = {
		{ "R", 0 }, { "R+", RESCHED_STATE_PREEMPT }, { "S", RESCHED_STATE_S }, { "D", RESCHED_STATE_D }, { "T", RESCHED_STATE_T },
		{ "t", RESCHED_STATE_t }, { "X", RESCHED_STATE_X }, { "x", RESCHED_STATE_X }, { "Z", RESCHED_STATE_Z }, { "P", RESCHED_STATE_P },
		{ "I", RESCHED_STATE_I }, { "D|K", RESCHED_STATE_D | RESCHED_STATE_OTHER }, { "DK", RESCHED_STATE_D | RESCHED_STATE_OTHER },
		{ "R|K", RESCHED_STATE_OTHER }, { "S|D", RESCHED_STATE_S | RESCHED_STATE_D }, { "S+", RESCHED_STATE_S | RESCHED_STATE_PREEMPT },
		{ "W", RESCHED_STATE_OTHER }, { "0", 0 }, { "1", RESCHED_STATE_S }, { "0x100", RESCHED_STATE_PREEMPT }, { "4096", RESCHED_STATE_PREEMPT },
		{ "1024", RESCHED_STATE_PREEMPT }, { "2048", RESCHED_STATE_PREEMPT }, { "0x402", RESCHED_STATE_D | RESCHED_STATE_OTHER },
		{ "130", RESCHED_STATE_D | RESCHED_STATE_I },
	};
	static const struct rs_raw_states shifted = { .shifted = true }, old = { .old = true };
	static const char *const bad[] = { "", "?", "S,", "0xg", "99999999999999999999", "1a" };
	char body[200];

	(void)state;
	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++) {
		struct rs_text_event te;

		snprintf(body, sizeof(body), "prev_comm=a prev_pid=12 prev_prio=120 prev_state=%s next_comm=b next_pid=34 next_prio=98", letters[i].text);
		te = decode("sched_switch", body, true);
		assert_int_equal(te.ev.sw.prev_state, letters[i].state);
		assert_int_equal(te.raw, letters[i].text[0] <= '9' && letters[i].text[0] != '+');
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(body, sizeof(body), "prev_comm=a prev_pid=12 prev_prio=120 prev_state=%s next_comm=b next_pid=34 next_prio=98", bad[i]);
		assert_int_equal(decode("sched_switch", body, false).ev.type, RESCHED_EV_OTHER);
	}
	assert_int_equal(rs_text_raw_state(&shifted, 1), 0);
	assert_int_equal(rs_text_raw_state(&shifted, 2), RESCHED_STATE_S);
	assert_int_equal(rs_text_raw_state(&shifted, 256), RESCHED_STATE_PREEMPT);
	assert_int_equal(rs_text_raw_state(&old, 64), RESCHED_STATE_X);
	assert_int_equal(rs_text_raw_state(&old, 130), RESCHED_STATE_D | RESCHED_STATE_OTHER);
}

static void interrupts(void **state)
{
	struct rs_text_event te;

	(void)state;
	te = decode("irq_handler_entry", "irq=24 name=virtio0-input.0", true);
	assert_int_equal(te.ev.type, RESCHED_EV_IRQ);
	assert_int_equal(te.ev.pid, 0);
	assert_int_equal(te.ev.irq.nr, 24);
	assert_true(te.ev.irq.entry && !te.ev.irq.soft);
	te = decode("irq_handler_exit", "irq=24 ret=handled", true);
	assert_true(te.ev.irq.nr == 24 && !te.ev.irq.entry && !te.ev.irq.soft);
	te = decode("softirq_entry", "vec=3 [action=NET_RX]", true);
	assert_true(te.ev.irq.nr == 3 && te.ev.irq.entry && te.ev.irq.soft);
	te = decode("softirq_exit", "vec=3", true);
	assert_true(te.ev.irq.nr == 3 && !te.ev.irq.entry && te.ev.irq.soft);
	assert_int_equal(decode("softirq_exit", "irq=3", false).ev.type, RESCHED_EV_OTHER);
	assert_int_equal(decode("irq_handler_entry", "irq=-3 name=x", false).ev.type, RESCHED_EV_OTHER);
	assert_int_equal(decode("irq_handler_entry", "irq=3x name=x", false).ev.type, RESCHED_EV_OTHER);
}

static void wakeups(void **state)
{
	struct rs_text_event te;

	(void)state;
	te = decode("sched_waking", "comm=a pid=3 pid=77 prio=120 target_cpu=1003", true);
	assert_int_equal(te.ev.type, RESCHED_EV_WAKING);
	assert_int_equal(te.ev.pid, 77);
	assert_int_equal(te.ev.wake.waker_pid, 55);
	assert_int_equal(te.ev.wake.target_cpu, 1003);
	assert_name(&te, 0, 77, "a pid=3");
	te = decode("sched_wakeup", "comm=Binder_5 pid=679 prio=120 success=1 target_cpu=001 state=W|m", true);
	assert_int_equal(te.ev.type, RESCHED_EV_WAKEUP);
	assert_int_equal(te.ev.wake.target_cpu, 1);
	te = decode("sched_wakeup", "comm=a pid=679 prio=120 success=0 target_cpu=001", true);
	assert_int_equal(te.ev.type, RESCHED_EV_OTHER);
	te = decode("sched_wakeup", "comm=a pid=679 prio=-1", true);
	assert_int_equal(te.ev.wake.target_cpu, 3);
	assert_int_equal(te.ev.wake.prio, -1);
	te = decode("sched_wakeup", "rs:main Q:Reg:2450 [120] success=1 CPU:002", true);
	assert_int_equal(te.ev.pid, 2450);
	assert_int_equal(te.ev.wake.target_cpu, 2);
	assert_name(&te, 0, 2450, "rs:main Q:Reg");
	te = decode("sched_wakeup_new", "wl:402 [120]<CPU:001>", true);
	assert_int_equal(te.ev.type, RESCHED_EV_WAKEUP_NEW);
	assert_int_equal(te.ev.wake.target_cpu, 1);
	decode("sched_wakeup", "comm=a pid=679 prio=120 target_cpu=", false);
	decode("sched_wakeup", "comm=a pid=679 pri", false);
	decode("sched_wakeup", "comm=a pid=99999999999 prio=120 target_cpu=001", false);
	decode("sched_wakeup", "comm=a pid=1 prio=99999 target_cpu=001", false);
}

static void others(void **state)
{
	struct rs_text_event te;

	(void)state;
	te = decode("sched_migrate_task", "comm=a b pid=7 prio=98 orig_cpu=3 dest_cpu=1200", true);
	assert_int_equal(te.ev.migrate.from_cpu, 3);
	assert_int_equal(te.ev.migrate.to_cpu, 1200);
	assert_int_equal(te.ev.migrate.prio, 98);
	te = decode("sched_process_fork", "comm=x pid=1 pid=401 child_comm=y child_pid= child_pid=402", true);
	assert_int_equal(te.ev.pid, 401);
	assert_int_equal(te.ev.fork.child_pid, 402);
	assert_name(&te, 0, 401, "x pid=1");
	assert_name(&te, 1, 402, "y child_pid=");
	te = decode("sched_process_fork", "parent_comm=x parent_pid=401 child_comm=y child_pid=402", true);
	assert_int_equal(te.ev.fork.child_pid, 402);
	te = decode("sched_process_exec", "filename=/usr/a pid=3 b/a_long_name_of_a_program pid=9 old_pid=9", true);
	assert_int_equal(te.ev.pid, 9);
	assert_name(&te, 0, 9, "a_long_name_of_");
	te = decode("sched_process_exit", "comm=a pid=9 prio=120 group_dead=true", true);
	assert_int_equal(te.ev.type, RESCHED_EV_EXIT);
	te = decode("sched_pi_setprio", "comm=a pid=9 oldprio=120 newprio=97", true);
	assert_int_equal(te.ev.prio.old_prio, 120);
	assert_int_equal(te.ev.prio.new_prio, 97);
	te = decode("sched_stat_runtime", "comm=a pid=9 runtime=100814 [ns] vruntime=1115808415504 [ns]", true);
	assert_int_equal(te.ev.runtime.runtime_ns, 100814);
	assert_int_equal(te.ev.runtime.vruntime_ns, 1115808415504);
	te = decode("sched_stat_runtime", "comm=a pid=9 runtime=100814 [ns]", true);
	assert_int_equal(te.ev.runtime.vruntime_ns, 0);
	te = decode("sched_stat_runtime", "comm=a pid=9 runtime=100814 vruntime=-5", true);
	assert_int_equal((int64_t)te.ev.runtime.vruntime_ns, -5);
	te = decode("task_rename", "pid=402 oldcomm=wl newcomm=h 0 oom_score_adj=-1000", true);
	assert_int_equal(te.ev.type, RESCHED_EV_COMM);
	assert_int_equal(te.ev.pid, 402);
	assert_name(&te, 0, 402, "h 0");
	te = decode("task_rename", "oldcomm=wl newcomm=h.0 oom_score_adj=0", true);
	assert_int_equal(te.ev.pid, 55);
	te = decode("sched_switch", "prev_comm=a prev_pid=12 prev_prio=120 prev_state=S ==> next_comm=b next_pid=34", true);
	assert_true(te.no_prio);
	decode("sched_switch", "prev_comm=bash prev_pid=14840", false);
	decode("sched_switch", "prev_comm=a prev_pid=12 prev_prio=120 prev_state=S ==> next_comm=b next_pid=", false);
	decode("sched_process_fork", "comm=x pid=401", false);
	decode("sched_migrate_task", "comm=x pid=401 prio=1 orig_cpu=3", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes), cmocka_unit_test(no_events), cmocka_unit_test(switches),
		cmocka_unit_test(states), cmocka_unit_test(interrupts), cmocka_unit_test(wakeups), cmocka_unit_test(others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
