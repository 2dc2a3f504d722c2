// SPDX-License-Identifier: GPL-2.0-only
/* The parts of reschedd that need no kernel: configuration, histograms, watching, triggers, the store, the sandbox. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/config.h"
#include "daemon/hist.h"
#include "daemon/sandbox.h"
#include "daemon/store.h"
#include "daemon/text.h"
#include "daemon/triggers.h"
#include "daemon/watch.h"
#include "daemon/whatif.h"

#define MS 1000000ull

struct mistakes { unsigned int nr; char last[600]; };

static void note(void *ctx, const char *text)
{
	struct mistakes *m = ctx;

	m->nr++;
	snprintf(m->last, sizeof(m->last), "%s", text);
}

/* Reads @text as a file. Return: how many mistakes. */
static unsigned int read_text(const char *text, struct config *ret, struct mistakes *m)
{
	char path[] = "/tmp/resched-test-XXXXXX";
	int fd = mkstemp(path), rc;

	memset(m, 0, sizeof(*m));
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	rc = config_read(path, false, ret, note, m);
	assert_true((rc < 0) == (m->nr > 0));
	unlink(path);
	return m->nr;
}

static void config_takes_what_is_right(void **state)
{
	struct config *c = malloc(sizeof(*c));
	struct mistakes m;

	(void)state;
	assert_int_equal(read_text("", c, &m), 0);
	assert_int_equal(c->nr_triggers, 1);	/* the one that is built in */
	assert_int_equal(c->triggers[0].over_ns, 100 * MS);
	assert_int_equal(read_text("[recorder]\nmemory = 8M ; comment\nkeep=2m\n# x\n[trigger a]\nover=5ms\n[trigger b]\nkind = slo\nobjective=0.99\n", c, &m), 0);
	assert_int_equal(c->memory, 8u << 20);
	assert_int_equal(c->keep_ns, 120000 * MS);
	assert_int_equal(c->nr_triggers, 2);
	assert_string_equal(c->triggers[1].name, "b");
	assert_int_equal(c->triggers[1].kind, TRIGGER_SLO);
	assert_int_equal(c->triggers[0].over_ns, 5 * MS);
	free(c);
}

static void config_tells_every_mistake(void **state)
{
	static const char *const wrong[] = {
		"[nowhere]\na=1\n", "[recorder]\nmemroy=8M\n", "[recorder]\nmemory=8Q\n", "[recorder]\nmemory=1\n", "[recorder]\nenabled=maybe\n",
		"[recorder]\nkeep=-1s\n", "[recorder]\nkeep=nan\n", "[snapshots]\ndirectory=relative\n", "[trigger]\nover=1ms\n", "[trigger a b]\nover=1ms\n",
		"[trigger a]\nkind=other\n", "[recorder]\nkeep=40s\nkeep=50s\n", "[recorder x]\nkeep=1s\n", "nothing\n", "[snapshots]\nbefore=10m\n",
		"[trigger a]\nkind=psi\nwindow=20s\n", "[schedule a]\nplacement=elsewhere\n", "[schedule a]\npolicies=evdf best\n", "[watch]\nmax_tasks=1.5\n",
		"[socket]\nread_group=abcdefghijklmnopqrstuvwxyzabcdefghij\n",
	};
	struct config *c = malloc(sizeof(*c));
	struct mistakes m;
	char line[2000];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (read_text(wrong[i], c, &m) != 1)
			fail_msg("%u mistakes in: %s (%s)", m.nr, wrong[i], m.last);
		assert_non_null(strstr(m.last, "/tmp/resched-test-"));
	}
	snprintf(line, sizeof(line), "[socket]\npath=/%0900d\n", 1);
	assert_int_equal(read_text(line, c, &m), 1);
	assert_int_equal(config_read("/nonexistent/x", true, c, note, &m), 0);
	assert_int_equal(config_read("/nonexistent/x", false, c, note, &m), -ENOENT);
	free(c);
}

static void quantiles_are_near(void **state)
{
	struct hist *h = calloc(1, sizeof(*h));

	(void)state;
	assert_int_equal(hist_quantile(h, 0.5), 0);
	for (uint64_t i = 1; i <= 10000; i++)
		hist_add(h, i * 10000);	/* 10 us to 100 ms, evenly */
	for (double q = 0.01; q < 1; q += 0.07) {
		double want = q * 1e8, got = (double)hist_quantile(h, q);

		assert_true(got > want * 0.99 && got < want * 1.13);
	}
	assert_int_equal(hist_quantile(h, 1), 100000000);
	hist_add(h, UINT64_MAX / 2);
	assert_int_equal(hist_quantile(h, 1), UINT64_MAX / 2);
	free(h);
}

/* ---- watching */

struct waits { unsigned int nr; struct wait last; char comm[32]; };

static void take_wait(void *ctx, const struct wait *wait)
{
	struct waits *w = ctx;

	w->nr++;
	w->last = *wait;
	snprintf(w->comm, sizeof(w->comm), "%s", wait->comm);
}

static struct resched_event switching(uint64_t ts, int prev, uint32_t state, int next)
{
	return (struct resched_event){ .ts_ns = ts, .pid = prev, .type = RESCHED_EV_SWITCH, .sw = { .next_pid = next, .prev_state = state } };
}

static void waits_are_paired(void **state)
{
	struct resched_names *names = resched_names_new();
	struct waits got = { 0 };
	struct watch w;
	struct resched_event e;

	(void)state;
	assert_int_equal(watch_init(&w, 64, 4), 0);
	w.on_wait = take_wait;
	w.ctx = &got;
	watch_begin(&w, names, NULL);
	e = (struct resched_event){ .pid = 7, .type = RESCHED_EV_COMM, .comm = { .name = (uint32_t)resched_names_intern(names, "web", 3) } };
	watch_event(&w, &e);
	e = (struct resched_event){ .ts_ns = 100, .pid = 7, .type = RESCHED_EV_WAKING };
	watch_event(&w, &e);
	e.ts_ns = 150;	/* queued already */
	watch_event(&w, &e);
	e = switching(1100, 0, 0, 7);
	watch_event(&w, &e);
	assert_int_equal(got.nr, 1);
	assert_true(got.last.is_wake);
	assert_int_equal(got.last.ns, 1000);
	assert_string_equal(got.comm, "web");
	watch_forget_names(&w);	/* until it is told again */
	e = switching(2000, 7, RESCHED_STATE_PREEMPT, 8);	/* preempted; 8 was not known to wait */
	watch_event(&w, &e);
	e = switching(2500, 8, RESCHED_STATE_S, 7);
	watch_event(&w, &e);
	assert_int_equal(got.nr, 2);
	assert_false(got.last.is_wake);
	assert_int_equal(got.last.ns, 500);
	assert_string_equal(got.comm, "?");
	e = switching(2600, 7, RESCHED_STATE_PREEMPT, 0);
	watch_event(&w, &e);
	e = (struct resched_event){ .ts_ns = 2700, .type = RESCHED_EV_LOST };	/* it may have run meanwhile */
	watch_event(&w, &e);
	e = switching(2800, 0, 0, 7);
	watch_event(&w, &e);
	assert_int_equal(got.nr, 2);
	watch_release(&w);
	resched_names_free(names);
}

/* Ten thousand tasks and cgroups that come and go leave the tables as small as they were, and nothing uncounted. */
static void churn_is_bounded(void **state)
{
	struct resched_waits_stats stats;
	struct waits got = { 0 };
	struct watch w;

	(void)state;
	assert_int_equal(watch_init(&w, 256, 16), 0);
	w.on_wait = take_wait;
	w.ctx = &got;
	watch_begin(&w, NULL, NULL);
	for (int i = 0; i < 10000; i++) {
		int pid = 1000 + i;
		uint64_t now = (uint64_t)i * MS;
		char path[40];
		struct resched_event e = { .ts_ns = now, .pid = 1, .type = RESCHED_EV_FORK, .fork = { .child_pid = pid } };

		watch_event(&w, &e);
		e = (struct resched_event){ .ts_ns = now + 1, .pid = pid, .type = RESCHED_EV_WAKEUP_NEW };
		watch_event(&w, &e);
		e = switching(now + 1001, 0, 0, pid);
		watch_event(&w, &e);
		e = switching(now + 2001, pid, RESCHED_STATE_X, 0);
		watch_event(&w, &e);
		snprintf(path, sizeof(path), "/churn/%d", i);
		cgroup_add(&w.cgroups, cgroups_find(&w.cgroups, path), true, 5000);
		if (i % 10 == 0)
			cgroups_next_interval(&w.cgroups);
	}
	assert_int_equal(got.nr, 10000);
	resched_waits_stats(w.waits, &stats);
	assert_int_equal(stats.untracked, 0);
	assert_int_equal(stats.nr_tasks, 0);
	assert_int_equal(w.nr, 0);
	assert_true(w.cgroups.nr <= 18);
	assert_true(w.cgroups.evicted > 100);
	{
		uint64_t sum = 0;

		for (uint32_t i = CGROUP_OTHER; i < w.cgroups.nr; i++)
			sum += w.cgroups.items[i].total_wake.count;
		assert_int_equal(sum, 20000);	/* each task waited once, each cgroup once */
	}
	watch_release(&w);
}

/* ---- triggers */

struct firings { unsigned int nr; struct firing last; };

static void take_firing(void *ctx, const struct firing *firing)
{
	struct firings *f = ctx;

	f->nr++;
	f->last = *firing;
}

static uint64_t no_clock(void)
{
	return 0;
}

static void give(struct triggers *t, uint64_t at, uint64_t ns, const char *comm)
{
	const struct wait wait = { .pid = 5, .is_wake = true, .ns = ns, .end_ns = at, .comm = comm, .cgroup = "/web" };

	triggers_wait(t, &wait);
}

static void triggers_fire(void **state)
{
	struct config *c = malloc(sizeof(*c));
	struct firings got = { 0 };
	struct loop loop;
	struct log log = { 0 };
	struct triggers *t = calloc(1, sizeof(*t));
	struct mistakes m;

	(void)state;
	*t = (struct triggers){ .loop = &loop, .log = &log, .clock = no_clock, .fire = take_firing, .ctx = &got };
	assert_int_equal(loop_init(&loop), 0);
	assert_int_equal(read_text("[trigger t]\nover=10ms\ncomm=web*\ncooldown=1h\n"
				   "[trigger j]\nkind=jump\nwindow=1s\nfactor=3\nleast=10\ncooldown=0\n"
				   "[trigger s]\nkind=slo\nover=5ms\nobjective=0.9\nburn=3\nwindow=1s\nleast=10\ncgroup=/w*\n", c, &m), 0);
	triggers_set(t, c);
	give(t, 1, 11 * MS, "other");
	assert_int_equal(got.nr, 0);
	give(t, 2, 11 * MS, "web-1");
	assert_int_equal(got.nr, 1);
	assert_string_equal(got.last.trigger->name, "t");
	assert_int_equal(got.last.pid, 5);
	give(t, 3, 12 * MS, "web-1");	/* within the cooldown */
	assert_int_equal(got.nr, 1);
	assert_int_equal(t->items[0].suppressed, 1);
	for (uint64_t s = 0; s < 20; s++) {	/* what is usual */
		for (uint64_t i = 0; i < 20; i++)
			give(t, s * 1100 * MS + i * MS + 10, MS, "x");
	}
	assert_int_equal(got.nr, 1);
	for (uint64_t i = 0; i < 20; i++)	/* half of them bad, and the tail eight times as long */
		give(t, 30000 * MS + i * MS, i % 2 ? 8 * MS : MS, "x");
	give(t, 31200 * MS, MS, "x");
	assert_int_equal(t->items[1].fired, 1);
	assert_int_equal(t->items[2].fired, 1);
	assert_int_equal(got.nr, 3);
	assert_int_equal(got.last.at_ns, 30001 * MS);	/* where the worst one was */
	triggers_set(t, c);	/* a reload keeps the counts */
	assert_int_equal(t->items[0].fired, 1);
	triggers_release(t);
	loop_release(&loop);
	free(t);
	free(c);
}

/* ---- the store */

static void put(const char *dir, const char *name, const char *text)
{
	char path[300];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	out = fopen(path, "w");
	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static int there(const char *dir, const char *name)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return access(path, F_OK) == 0;
}

/* Writes a snapshot as the recorder would. Return: its number. */
static uint64_t store_one(struct store *s, const char *text)
{
	struct json_object *meta = json_object_new_object();
	char path[STORE_PATH], why[300];
	uint64_t number;
	FILE *out;

	assert_int_equal(store_begin(s, &number, path, why, sizeof(why)), 0);
	out = fopen(path, "w");
	fputs(text, out);
	fclose(out);
	json_object_object_add(meta, "taken_s", json_object_new_int64(1));	/* 1970: its age counts from now all the same */
	assert_int_equal(store_finish(s, number, meta), 0);
	return number;
}

static void store_keeps_what_was_written(void **state)
{
	char dir[] = "/tmp/resched-store-XXXXXX", command[80];
	struct config *c = malloc(sizeof(*c));
	struct log log = { .level = 0 };
	struct store s = { .config = c, .log = &log };
	uint64_t number;

	(void)state;
	assert_non_null(mkdtemp(dir));
	config_defaults(c);
	c->min_free = 0;
	snprintf(c->directory, sizeof(c->directory), "%s", dir);
	put(dir, "snapshot-00000003.dat", "whole");
	put(dir, "snapshot-00000003.json", "{\"taken_s\":4000000000,\"reason\":\"x\"}");
	put(dir, "snapshot-00000005.dat.new", "half");		/* died while writing: what there is stays */
	put(dir, "snapshot-00000006.dat.new", "");
	put(dir, "snapshot-00000007.json", "{}");		/* its recording is gone */
	put(dir, "snapshot-00000008.json.new", "{");
	put(dir, "snapshot-00000009.dat", "no description");
	put(dir, "scratch-1.dat", "x");
	put(dir, "notes.txt", "somebody else's");
	store_open(&s);
	assert_true(s.ready);
	assert_int_equal(s.nr, 3);
	assert_int_equal(s.items[0].number, 3);
	assert_int_equal(s.items[1].number, 5);
	assert_int_equal(s.items[2].number, 9);
	assert_int_equal(s.count.recovered, 2);
	assert_true(there(dir, "snapshot-00000005.dat") && there(dir, "notes.txt"));
	assert_false(there(dir, "snapshot-00000006.dat.new") || there(dir, "snapshot-00000007.json") || there(dir, "scratch-1.dat") ||
		     there(dir, "snapshot-00000008.json.new"));
	number = store_one(&s, "new");
	assert_int_equal(number, 10);
	c->max_count = 2;
	number = store_one(&s, "newer");
	assert_int_equal(s.nr, 2);
	assert_int_equal(s.items[0].number, 10);
	c->max_size = 6;
	store_retain(&s);
	assert_int_equal(s.nr, 1);
	assert_int_equal(s.items[0].number, number);
	store_release(&s);
	store_open(&s);	/* all of it is on the disk; 1970 is too long ago for one of an earlier run */
	assert_int_equal(s.nr, 0);
	assert_int_equal(s.last_number, 11);
	store_release(&s);
	c->min_free = UINT64_MAX;
	{
		char path[STORE_PATH], why[300];

		assert_int_equal(store_begin(&s, &number, path, why, sizeof(why)), -ENOSPC);
	}
	store_release(&s);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);	/* NOLINT(cert-env33-c) */
	free(c);
}

/* ---- texts, what-ifs, the sandbox */

static void texts_become_utf8(void **state)
{
	static const struct { const char *from, *to; } cases[] = {
		{ "plain", "plain" }, { "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" }, { "a\xff\xc3", "a??" }, { "\xc0\x80", "??" }, { "\xed\xa0\x80", "???" },
		{ "a\nb\x1b", "a?b?" }, { "\xf4\x90\x80\x80", "????" }, { "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct json_object *text = text_json(cases[i].from);

		assert_string_equal(json_object_get_string(text), cases[i].to);
		json_object_put(text);
	}
}

static void whatifs_are_checked(void **state)
{
	static const struct { const char *text; int rc; } cases[] = {
		{ "{}", 0 }, { "{\"policies\":[\"evdf\",\"cfs\"],\"seed\":3,\"placement\":\"kernel\",\"set\":[\"hz=1000\"],\"format\":\"text\"}", 0 },
		{ "[]", -EINVAL }, { "{\"policies\":\"evdf\"}", -EINVAL }, { "{\"policies\":[\"x\"]}", -EINVAL }, { "{\"policies\":[1]}", -EINVAL },
		{ "{\"seed\":-1}", -EINVAL }, { "{\"seed\":1.5}", -EINVAL }, { "{\"other\":1}", -EINVAL }, { "{\"placement\":\"x\"}", -EINVAL },
		{ "{\"top\":100000}", -EINVAL }, { "{\"report\":null}", -EINVAL }, { "{\"model\":null}", -EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct json_object *o = json_tokener_parse(cases[i].text);
		struct resched_error err = { 0 };
		struct whatif w;

		if (whatif_parse(o, &w, &err) != cases[i].rc)
			fail_msg("%s: %s", cases[i].text, err.text);
		json_object_put(o);
	}
}

static int in_sandbox_of(uint64_t memory, void (*attempt)(void))
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		const struct sandbox_limits limits = { .memory = memory };

		if (sandbox_limit(&limits) < 0 || sandbox_close() < 0)
			_exit(100);
		attempt();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static int in_sandbox(void (*attempt)(void))
{
	return in_sandbox_of(0, attempt);
}

static void open_a_file(void)
{
	if (open("/etc/passwd", O_RDONLY) >= 0 || errno != EACCES || open("/tmp/x", O_CREAT | O_WRONLY, 0600) >= 0)
		_exit(1);
	free(malloc(1 << 20));
}

static void open_a_socket(void)
{
	socket(AF_UNIX, SOCK_STREAM, 0);
}

static void run_a_program(void)
{
	execl("/bin/true", "true", (char *)NULL);
}

static int __attribute__((noinline)) deep(unsigned int depth)
{
	volatile char room[4096];

	room[0] = (char)depth;
	return depth ? deep(depth - 1) + room[0] : 0;
}

/* All memory is taken, in pieces down to the smallest; then functions are called. */
static void use_the_stack(void)
{
	for (size_t size = 64u << 20; size >= 16; size /= 2) {
		while (malloc(size))
			;
	}
	if (deep(128) == 1 << 30)
		_exit(1);
}

static void a_stack_is_left_without_memory(void **state)
{
	int status;

	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	print_message("skipped: sanitizers reserve more memory than any limit\n");
	skip();
#endif
	status = in_sandbox_of(256u << 20, use_the_stack);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 100) {
		print_message("skipped: there is no seccomp here\n");
		skip();
	}
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void sandbox_holds(void **state)
{
	int status = in_sandbox(open_a_file);

	(void)state;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 100) {
		print_message("skipped: there is no seccomp here\n");
		skip();
	}
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	status = in_sandbox(open_a_socket);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
	status = in_sandbox(run_a_program);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(config_takes_what_is_right), cmocka_unit_test(config_tells_every_mistake), cmocka_unit_test(quantiles_are_near),
		cmocka_unit_test(waits_are_paired),	      cmocka_unit_test(churn_is_bounded),	    cmocka_unit_test(triggers_fire),
		cmocka_unit_test(store_keeps_what_was_written), cmocka_unit_test(texts_become_utf8),	    cmocka_unit_test(whatifs_are_checked),
		cmocka_unit_test(sandbox_holds),	      cmocka_unit_test(a_stack_is_left_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
