// SPDX-License-Identifier: GPL-2.0-only
/* The loop: keys from the terminal or a script, one at a time; background work rings; the screen is drawn when something changed. */
#include "tui/tui.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "tui/app.h"
#include "tui/screen.h"

#define MAX_TIMES 100000u
#define BUSY_MS 150	/* between two looks at work in the background */

struct loop {
	struct app app;
	struct screen *screen;		/* NULL: headless */
	struct script script;
	int signal_fd, ended_by;
	uint64_t *times, *cpu_times;	/* ns that keys took, and of them on a cpu; NULL: nobody asked */
	unsigned int nr_times;
	uint64_t began_ns, first_ns;	/* the start; the first screen with a task on it */
};

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void show(struct loop *l)
{
	data_lock(&l->app.data);
	app_draw(&l->app);
	data_unlock(&l->app.data);
	if (l->screen)
		screen_show(l->screen, &l->app.grid);
	if (!l->first_ns && l->app.seen)
		l->first_ns = now_ns(CLOCK_MONOTONIC) - l->began_ns;
}

static void resize(struct loop *l, int w, int h)
{
	data_lock(&l->app.data);
	if (app_resize(&l->app, w, h) < 0)
		app_say(&l->app, true, "a screen of %dx%d is too large", w, h);
	data_unlock(&l->app.data);
}

static void press(struct loop *l, int key)
{
	uint64_t began = now_ns(CLOCK_MONOTONIC), cpu_began = now_ns(CLOCK_THREAD_CPUTIME_ID);

	if (key == TK_RESIZE && l->screen) {
		int w, h;

		screen_size(l->screen, &w, &h);
		resize(l, w, h);
	} else if (key == TK_CTRL('z') && l->screen) {
		screen_suspend(l->screen);
	} else {
		data_lock(&l->app.data);
		app_key(&l->app, key);
		data_unlock(&l->app.data);
	}
	show(l);
	if (l->times && l->cpu_times && l->nr_times < MAX_TIMES) {
		l->times[l->nr_times] = now_ns(CLOCK_MONOTONIC) - began;
		l->cpu_times[l->nr_times++] = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_began;
	}
}

static void drain(int fd)
{
	uint64_t count;

	if (read(fd, &count, sizeof(count)) < 0)
		return;	/* nothing rang */
}

static void take_signal(struct loop *l)
{
	struct signalfd_siginfo info;

	if (read(l->signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	l->ended_by = (int)info.ssi_signo;
	l->app.quit = true;
}

/* Wait for a key, a bell or a signal. @key: take keys of the terminal. */
static void pass_time(struct loop *l, bool keys)
{
	struct pollfd fds[] = { { .fd = l->app.data.wake_fd, .events = POLLIN }, { .fd = l->signal_fd, .events = POLLIN },
				{ .fd = keys && l->screen ? STDIN_FILENO : -1, .events = POLLIN } };
	int x = 0, y = 0, button = 0, key;

	if (poll(fds, 3, data_busy(&l->app.data) || data_lives(&l->app.data) ? BUSY_MS : -1) < 0 && errno != EINTR)
		l->app.quit = true;
	if (fds[0].revents)
		drain(l->app.data.wake_fd);
	if (fds[1].revents)
		take_signal(l);
	if (fds[2].revents & (POLLHUP | POLLERR | POLLNVAL))
		l->app.quit = true;
	while (keys && l->screen && !l->app.quit && (key = screen_key(l->screen, &x, &y, &button)) != TK_NONE) {
		l->app.mouse_x = x;
		l->app.mouse_y = y;
		l->app.mouse_button = button;
		press(l, key);
	}
	if (!l->app.quit)
		show(l);
}

/* Drawing may ask for more work: done is what stays idle after a drawing. */
static void settle(struct loop *l)
{
	show(l);
	while (data_busy(&l->app.data) && !l->app.quit)
		pass_time(l, false);
	show(l);
	if (data_busy(&l->app.data) && !l->app.quit)
		settle(l);
}

static void play(struct loop *l, const struct script_entry *e)
{
	switch (e->step) {
	case STEP_KEY:
		press(l, e->key);
		break;
	case STEP_TEXT:
		for (const char *p = e->text; *p && !l->app.quit; p++)
			press(l, (unsigned char)*p);
		break;
	case STEP_COMMAND:
		data_lock(&l->app.data);
		app_command(&l->app, e->text);
		data_unlock(&l->app.data);
		show(l);
		break;
	case STEP_WAIT:
		settle(l);
		break;
	case STEP_EVENTS:
		while (!l->app.quit && atomic_load(&app_sched(&l->app)->state) == SCHED_BUILDING &&
		       atomic_load(&app_sched(&l->app)->nr_events) < (uint64_t)e->w)
			pass_time(l, false);
		break;
	case STEP_RESIZE:
		if (!l->screen)
			resize(l, e->w, e->h);
		show(l);
		break;
	}
}

static int compare_times(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return (a > b) - (a < b);
}

static double ms(const uint64_t *times, unsigned int nr, unsigned int per_mille)
{
	unsigned int at = (unsigned int)((uint64_t)nr * per_mille / 1000);

	return (double)times[at < nr ? at : nr - 1] / 1e6;
}

static void tell_distribution(const char *what, uint64_t *times, unsigned int nr)
{
	qsort(times, nr, sizeof(*times), compare_times);
	fprintf(stderr, "%s: p50 %.3f ms, p90 %.3f ms, p99 %.3f ms, p99.9 %.3f ms, max %.3f ms\n", what, ms(times, nr, 500), ms(times, nr, 900),
		ms(times, nr, 990), ms(times, nr, 999), ms(times, nr, 1000));
}

static void tell_times(struct loop *l)
{
	struct rusage usage;

	if (l->first_ns)
		fprintf(stderr, "resched tui: first tasks shown after %.1f ms\n", (double)l->first_ns / 1e6);
	if (l->nr_times) {
		fprintf(stderr, "resched tui: %u keys answered\n", l->nr_times);
		tell_distribution("  by the clock", l->times, l->nr_times);
		tell_distribution("  on a cpu", l->cpu_times, l->nr_times);
	}
	if (getrusage(RUSAGE_SELF, &usage) == 0)
		fprintf(stderr, "resched tui: at most %.1f MB of memory\n", (double)usage.ru_maxrss / 1024);
}

static int size_from(const char *name, int otherwise)
{
	const char *text = getenv(name);
	long n = text ? strtol(text, NULL, 10) : 0;

	return n > 0 && n <= 4096 ? (int)n : otherwise;
}

/* Signals that end the program come as data; the others stay as they are. */
static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int start(struct loop *l, const struct tui_options *opts, struct resched_error *err)
{
	struct app_options a = { .nr_files = opts->nr_files, .files = opts->files, .live = { opts->live, opts->ring_bytes, opts->socket }, .w = size_from("COLUMNS", 80), .h = size_from("LINES", 24) };
	bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	int rc;

	setlocale(LC_ALL, "");
	a.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	if (!terminal && !opts->keys) {
		err->kind = RESCHED_USAGE;
		snprintf(err->text, sizeof(err->text), "this needs a terminal; without one, --keys FILE plays keys");
		return -ENOTTY;
	}
	if (opts->keys) {
		rc = script_load(opts->keys, &l->script, err);
		if (rc < 0)
			return rc;
	}
	l->signal_fd = open_signals();
	if (terminal) {
		rc = screen_open(opts->color, &l->screen, err);
		if (rc < 0)
			return rc;
		screen_size(l->screen, &a.w, &a.h);
	}
	l->times = opts->timing ? calloc(MAX_TIMES, sizeof(*l->times)) : NULL;
	l->cpu_times = opts->timing ? calloc(MAX_TIMES, sizeof(*l->cpu_times)) : NULL;
	rc = app_init(&l->app, &a, err);
	if (rc == 0 && l->screen)
		app_recall(&l->app);
	return rc;
}

int tui_run(const struct tui_options *opts, struct resched_error *err)
{
	struct loop *l = calloc(1, sizeof(*l));
	int rc;

	if (!l) {
		*err = (struct resched_error){ RESCHED_FAILED, "out of memory" };
		return -ENOMEM;
	}
	l->signal_fd = -1;
	l->began_ns = now_ns(CLOCK_MONOTONIC);
	rc = start(l, opts, err);
	if (rc == 0) {
		show(l);
		for (l->script.at = 0; l->script.at < l->script.nr && !l->app.quit; l->script.at++)
			play(l, &l->script.entries[l->script.at]);
		while (l->screen && !l->app.quit)
			pass_time(l, true);
		if (l->screen)
			app_remember(&l->app);
		app_release(&l->app);
	}
	screen_close(l->screen);
	if (l->signal_fd >= 0)
		close(l->signal_fd);
	if (l->times)
		tell_times(l);
	if (rc == 0)
		rc = l->ended_by;
	script_release(&l->script);
	free(l->times);
	free(l->cpu_times);
	free(l);
	return rc;
}
