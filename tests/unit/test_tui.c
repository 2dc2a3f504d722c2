// SPDX-License-Identifier: GPL-2.0-only
/*
 * The views without a terminal: the grid, key scripts, and monkeys: random keys, commands, clicks and sizes, while recordings are read
 * and replayed. Whatever they do, every cell of the screen is a character, and nothing crashes (under sanitizers, too).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "tui/app.h"
#include "tui/tasks.h"

#define MONKEY_SECONDS 4	/* each; $RESCHED_MONKEY_SECONDS for longer */
#define NR(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t random_next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void data_file(char *path, size_t size, const char *name)
{
	const char *top = getenv("RESCHED_TOP");

	snprintf(path, size, "%s/tests/data/%s", top ? top : ".", name);
}

/* ---- the grid ---- */

static void drawing_is_clipped(void **state)
{
	struct grid g = { .utf8 = true };
	struct area all, sub;
	char *text = NULL;
	size_t size = 0;
	FILE *out;

	(void)state;
	assert_int_equal(grid_resize(&g, 10, 3), 0);
	all = grid_area(&g);
	sub = area_sub(&all, 7, 1, 100, 100);
	assert_int_equal(sub.w, 3);
	assert_int_equal(sub.h, 2);
	area_put(&sub, 1, 0, ROLE_TEXT, "abcdef");
	area_put(&sub, -2, 1, ROLE_TEXT, "xyz");
	area_put(&all, 0, 99, ROLE_TEXT, "nowhere");
	area_put(&all, 0, -1, ROLE_TEXT, "nowhere");
	area_fill(&sub, 2, 1, 50, ROLE_TEXT, '=');
	area_attr(&all, -5, 0, 100, ATTR_REVERSE);
	area_put(&all, 0, 0, ROLE_TEXT, "a\033[b\xff" "c\xe6\x97\xa5" "d");
	out = open_memstream(&text, &size);
	assert_int_equal(grid_save(&g, out), 0);
	fclose(out);
	assert_string_equal(text, "a?[b?c?d\n        ab\n       z =\n");
	free(text);
	grid_release(&g);
}

static void long_texts_are_wrapped(void **state)
{
	struct grid g = { 0 };
	struct area all;

	(void)state;
	assert_int_equal(grid_resize(&g, 10, 5), 0);
	all = grid_area(&g);
	assert_int_equal(area_wrap(&all, 0, 0, 10, 5, ROLE_TEXT, "one two three four"), 2);
	assert_int_equal(g.cells[0].ch, 'o');
	assert_int_equal(g.cells[10].ch, 't');
	assert_int_equal(area_wrap(&all, 0, 0, 10, 2, ROLE_TEXT, "abcdefghijklmnopqrstuvwxyzabcdefghij"), 2);
	assert_int_equal(area_wrap(&all, 0, 0, 0, 2, ROLE_TEXT, "abc"), 0);
	grid_release(&g);
}

static void sizes_have_limits(void **state)
{
	struct grid g = { 0 };

	(void)state;
	assert_true(grid_resize(&g, 0, 5) < 0);
	assert_true(grid_resize(&g, 5, -1) < 0);
	assert_true(grid_resize(&g, 100000, 100000) < 0);
	grid_release(&g);
}

static void lists_keep_their_row_in_sight(void **state)
{
	struct list l = { 0 };

	(void)state;
	list_fit(&l, 100, 10);
	for (int i = 0; i < 15; i++)
		assert_true(list_key(&l, TK_DOWN));
	assert_int_equal(l.sel, 15);
	assert_int_equal(l.top, 6);
	list_key(&l, TK_END);
	assert_int_equal(l.sel, 99);
	assert_int_equal(l.top, 90);
	list_fit(&l, 3, 10);
	assert_int_equal(l.sel, 2);
	assert_int_equal(l.top, 0);
	list_fit(&l, 0, 10);
	assert_int_equal(l.sel, 0);
	list_key(&l, TK_UP);
	assert_int_equal(l.sel, 0);
	assert_false(list_key(&l, 'x'));
}

/* ---- scripts and words ---- */

static void keys_have_names(void **state)
{
	(void)state;
	assert_int_equal(tk_parse("j"), 'j');
	assert_int_equal(tk_parse("PgDn"), TK_PGDN);
	assert_int_equal(tk_parse("F10"), TK_F1 + 9);
	assert_int_equal(tk_parse("C-c"), 3);
	assert_int_equal(tk_parse("F13"), -1);
	assert_int_equal(tk_parse("F1x"), -1);
	assert_int_equal(tk_parse("frob"), -1);
}

static void what_ifs_are_words(void **state)
{
	struct wish w;
	char why[200];

	(void)state;
	assert_int_equal(wish_parse("--policy cfs --model=6.1 --feature NO_GENTLE --set hz=1000 --set a=b --task x:nice=3 --placement kernel", &w, why, sizeof(why)), 0);
	assert_string_equal(w.policy, "cfs");
	assert_string_equal(w.model, "6.1");
	assert_int_equal(w.nr_features, 1);
	assert_int_equal(w.nr_settings, 2);
	assert_string_equal(w.settings[0], "hz=1000");
	assert_string_equal(w.tasks[0], "x:nice=3");
	assert_true(w.kernel_placement);
	wish_release(&w);
	assert_int_equal(wish_parse("eevdf", &w, why, sizeof(why)), 0);
	assert_string_equal(w.policy, "eevdf");
	wish_release(&w);
	assert_true(wish_parse("--policy", &w, why, sizeof(why)) < 0);
	assert_true(wish_parse("--frob 3", &w, why, sizeof(why)) < 0);
	assert_true(wish_parse("--placement somewhere", &w, why, sizeof(why)) < 0);
}

/* ---- monkeys ---- */

static void check_screen(const struct app *app)
{
	for (int i = 0; i < app->grid.w * app->grid.h; i++) {
		const struct cell *c = &app->grid.cells[i];

		if (c->ch < ' ' || c->ch == 0x7f || c->ch > 0xffff || c->role >= ROLE_NR || (!app->grid.utf8 && c->ch > 0x7e))
			fail_msg("cell %d,%d is U+%04X in role %u", i % app->grid.w, i / app->grid.w, c->ch, c->role);
	}
}

static void monkey_command(struct app *app, uint64_t r)
{
	static const char *const commands[] = {
		"goto 10ms", "goto 0", "goto 99s", "goto x", "pid 1", "pid 2327", "pid -3", "filter wor", "filter", "filter zzz", "replay --policy cfs",
		"replay --policy eevdf --set hz=1000", "replay --policy o1", "replay --frob", "cancel", "tasks", "timeline", "explain", "what if", "", "   ",
		"save-screen /nowhere/x", "frobnicate", "close", "replay --cgroup /x:weight=3", "replay --topology sockets=1,cores=3",
	};
	bool replay;

	r %= NR(commands);
	replay = !strncmp(commands[r], "replay", 6);
	if (replay && app->data.nr > 6)
		return;
	app_command(app, commands[r]);
}

static void monkey_step(struct app *app, uint64_t *seed)
{
	static const char keys[] = "jkjkjk1234567?hgsSIvvvwsadwsadzm,.[]<>ntelxr+-/fN\t\n\n\033 /pin\n\\ho\n\177\177:gox\n";
	uint64_t r = random_next(seed);

	switch (r % 16) {
	case 0:
		assert_int_equal(app_resize(app, 1 + (int)(r >> 8 & 0xffff) % 230, 1 + (int)(r >> 20 & 0xffff) % 70), 0);
		break;
	case 1:
		assert_int_equal(app_resize(app, 80 + (int)(r >> 8 & 0xffff) % 150, 24 + (int)(r >> 20 & 0xffff) % 40), 0);
		break;
	case 2:
		monkey_command(app, r >> 8);
		break;
	case 3:
		app->mouse_x = (int)(r >> 8 & 0xffff) % 300 - 10;
		app->mouse_y = (int)(r >> 20 & 0xffff) % 80 - 5;
		app->mouse_button = 1 + (int)(r >> 40 & 0xffff) % 5;
		app_key(app, TK_MOUSE);
		break;
	case 4: case 5:
		app_key(app, TK_FIRST + (int)((r >> 8) % 12));
		break;
	case 6:
		app_key(app, TK_F1 + (int)((r >> 8) % 9));
		break;
	case 7:
		app_key(app, (int)((r >> 8) % 256));
		break;
	default:
		app_key(app, keys[(r >> 8) % (sizeof(keys) - 1)]);
		break;
	}
}

static void monkey(unsigned int nr_files, char *const *files, bool utf8, uint64_t seed)
{
	struct app_options opts = { .nr_files = nr_files, .files = files, .utf8 = utf8, .w = 80, .h = 24 };
	struct app *app = calloc(1, sizeof(*app));
	const char *asked = getenv("RESCHED_MONKEY_SECONDS");
	double end = seconds() + (asked ? strtod(asked, NULL) : MONKEY_SECONDS);
	struct resched_error err;

	print_message("# seed %llu\n", (unsigned long long)seed);
	assert_int_equal(app_init(app, &opts, &err), 0);
	for (unsigned int i = 0; seconds() < end && (asked || i < 60000); i++) {
		data_lock(&app->data);
		monkey_step(app, &seed);
		app->quit = false;	/* a monkey never leaves by itself */
		app_draw(app);
		check_screen(app);
		data_unlock(&app->data);
	}
	app_release(app);	/* with whatever is still read or replayed */
	free(app);
}

static void monkeys_on_recordings(void **state)
{
	char a[600], b[600], *files[] = { a, b };

	(void)state;
	data_file(a, sizeof(a), "host-6.18.dat");
	data_file(b, sizeof(b), "lab-v7-k612-2c.dat");
	monkey(2, files, true, 20261130);
	monkey(1, files + 1, false, 7);
}

static void monkeys_on_nothing(void **state)
{
	char none[] = "/nowhere/at/all.dat", empty[600], *files[] = { none, empty };

	(void)state;
	data_file(empty, sizeof(empty), "README.md");
	monkey(2, files, true, 3);
}

/* Every view can be in front before the recording is open. */
static void views_of_nothing_yet(void **state)
{
	char path[600], *files[] = { path };
	struct app_options opts = { .nr_files = 1, .files = files, .utf8 = true, .w = 80, .h = 24 };
	struct app *app = calloc(1, sizeof(*app));
	struct resched_error err;

	(void)state;
	data_file(path, sizeof(path), "host-6.18.dat");
	assert_int_equal(app_init(app, &opts, &err), 0);
	data_lock(&app->data);
	for (int key = '1'; key <= '7'; key++) {
		struct sched *s = app_sched(app);
		struct resched_index *index = s->index;

		s->index = NULL;	/* as it is until the file is open */
		app->at_ns = 0;
		app_key(app, key);
		app_key(app, ' ');
		app_key(app, TK_END);
		app_draw(app);
		check_screen(app);
		s->index = index;
	}
	data_unlock(&app->data);
	app_release(app);
	free(app);
}

/* 512 cpus and 5,000 tasks, as ftrace prints them. */
static void monkeys_on_a_large_machine(void **state)
{
	char path[] = "/tmp/resched-test-XXXXXX", *files[] = { path };
	int fd = mkstemp(path);
	FILE *out = fdopen(fd, "w");

	(void)state;
	assert_non_null(out);
	fprintf(out, "# tracer: nop\n#\n");
	for (int i = 0; i < 40000; i++) {
		int cpu = i % 512, task = 1000 + i % 5000, other = 1000 + (i * 7 + 13) % 5000;
		double at = 10 + i * 2e-6;

		fprintf(out, "          <idle>-0     [%03d] d..2.  %.6f: sched_wakeup: comm=task%d pid=%d prio=120 target_cpu=%03d\n", cpu, at, task, task, cpu);
		fprintf(out, "          <idle>-0     [%03d] d..2.  %.6f: sched_switch: prev_comm=swapper/%d prev_pid=0 prev_prio=120 prev_state=R ==> "
			"next_comm=task%d next_pid=%d next_prio=120\n", cpu, at, cpu, task, task);
		fprintf(out, "          task%d-%d     [%03d] d..2.  %.6f: sched_switch: prev_comm=task%d prev_pid=%d prev_prio=120 prev_state=S ==> "
			"next_comm=task%d next_pid=%d next_prio=120\n", task, task, cpu, at + 1e-6, task, task, other, other);
	}
	assert_int_equal(fclose(out), 0);
	monkey(1, files, true, 99);
	unlink(path);
}

/* A recording is shown to its end, and the same every time. */
static void screens_settle(void **state)
{
	char path[600], *files[] = { path };
	struct app_options opts = { .nr_files = 1, .files = files, .utf8 = true, .w = 120, .h = 40 };
	struct app *app = calloc(1, sizeof(*app));
	struct resched_error err;
	char *first = NULL;

	(void)state;
	data_file(path, sizeof(path), "host-6.18.dat");
	for (int round = 0; round < 2; round++) {
		size_t size = 0;
		char *text = NULL;
		FILE *out;

		assert_int_equal(app_init(app, &opts, &err), 0);
		for (int i = 0; i < 20; i++) {	/* keys while it is read */
			data_lock(&app->data);
			app_key(app, i % 2 ? TK_DOWN : TK_UP);
			app_draw(app);
			data_unlock(&app->data);
		}
		while (data_busy(&app->data))
			usleep(1000);
		data_lock(&app->data);
		app_key(app, TK_HOME);
		app_draw(app);
		data_unlock(&app->data);
		out = open_memstream(&text, &size);
		assert_int_equal(grid_save(&app->grid, out), 0);
		fclose(out);
		assert_non_null(strstr(text, "40 tasks"));
		if (first)
			assert_string_equal(text, first);
		if (first)
			free(text);
		else
			first = text;
		app_release(app);
	}
	free(first);
	free(app);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drawing_is_clipped), cmocka_unit_test(long_texts_are_wrapped), cmocka_unit_test(sizes_have_limits),
		cmocka_unit_test(lists_keep_their_row_in_sight), cmocka_unit_test(keys_have_names), cmocka_unit_test(what_ifs_are_words),
		cmocka_unit_test(screens_settle), cmocka_unit_test(monkeys_on_recordings), cmocka_unit_test(monkeys_on_nothing),
		cmocka_unit_test(monkeys_on_a_large_machine), cmocka_unit_test(views_of_nothing_yet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
