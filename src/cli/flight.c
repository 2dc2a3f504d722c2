// SPDX-License-Identifier: GPL-2.0-only
/* record --ring, --keep, --trigger: into memory, with snapshots when asked, when a trigger holds, and at the end. */
#include "cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <resched/flight.h>
#include <resched/trigger.h>
#include <resched/units.h>

#define NAMES_MOST 65536u	/* of tasks: then they are forgotten, and told again */
#define STEP_MS		50	/* how late a signal, a key or an end may be noticed */
#define BEFORE_NS	2000000000ull
#define AFTER_NS	500000000ull
#define NUMBERS_MAX	100000u

/* SIGUSR2 stays blocked and is asked for. @before: the mask as it was. */
static void block_signal(sigset_t *before)
{
	sigset_t ask;

	sigemptyset(&ask);
	sigaddset(&ask, SIGUSR2);
	sigprocmask(SIG_BLOCK, &ask, before);
}

static bool asked(void)
{
	const struct timespec none = { 0 };
	sigset_t ask;

	sigemptyset(&ask);
	sigaddset(&ask, SIGUSR2);
	return sigtimedwait(&ask, NULL, &none) == SIGUSR2;
}

/* What is waited for after a trigger held. */
struct window { bool open; uint64_t from_ns, to_ns; char why[sizeof(((struct resched_trigger_hit *)0)->text)]; };

struct flight {
	const struct cli_command *self;
	const struct cli_args *args;
	const char *file;
	struct resched_flight *flight;
	struct resched_trigger *trigger;	/* NULL: no rules */
	struct window window;
	unsigned int number;			/* of the last snapshot */
	uint64_t taken, failed;			/* numbered snapshots */
	uint64_t end_ns;			/* 0: none */
	pid_t child;				/* 0: no command, or it has ended */
	int status;
	const volatile sig_atomic_t *stop;	/* set by the handler of the signals that end it */
	bool key, quit;				/* asked for by a key: a snapshot, the end */
	sigset_t mask;				/* of signals, for the command */
	bool keys;				/* @before is to be restored */
	struct termios before;
	struct resched_error err;		/* why it ended early */
};

/* ---- snapshots */

/* "trace.dat" -> "trace.3.dat". */
static void numbered(const char *file, unsigned int number, char *ret, size_t size)
{
	const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file, *dot = strrchr(base, '.');
	size_t stem = dot && dot != base ? (size_t)(dot - file) : strlen(file);

	snprintf(ret, size, "%.*s.%u%s", (int)stem, file, number, file + stem);
}

static int snapshot(struct flight *f, const char *path, uint64_t from_ns, uint64_t to_ns, const char *why)
{
	struct resched_snapshot done;
	struct resched_error err = { 0 };
	char span[24], lost[64] = "none lost";
	int rc = resched_flight_snapshot(f->flight, path, from_ns, to_ns, &done, &err);

	if (rc == 0 && f->args->anonymize)
		rc = cli_anonymize(path, f->args->compress, &err);
	if (rc < 0) {
		cli_warn(f->self, "no snapshot (%s): %s", why, err.text);
		return rc;
	}
	if (f->args->quiet)
		return 0;
	resched_time_format(done.to_ns - done.from_ns, span, sizeof(span));
	if (done.lost_events)
		snprintf(lost, sizeof(lost), "LOST %llu: a larger --buffer keeps them", (unsigned long long)done.lost_events);
	fprintf(stderr, "%s: %s; %llu events in %s, %s, %.2f MB%s\n", path, why, (unsigned long long)done.events, span, lost, (double)done.bytes / 1e6,
		done.cut_short ? "; older ones were dropped: a larger --ring keeps them" : "");
	return 0;
}

/* Under the next number that is free, so that earlier ones stay. */
static void numbered_snapshot(struct flight *f, uint64_t from_ns, uint64_t to_ns, const char *why)
{
	char path[PATH_MAX];

	do {
		numbered(f->file, ++f->number, path, sizeof(path));
	} while (f->number < NUMBERS_MAX && access(path, F_OK) == 0);
	if (snapshot(f, path, from_ns, to_ns, why) < 0)
		f->failed++;
	else
		f->taken++;
}

static void ask_snapshot(struct flight *f, const char *why)
{
	uint64_t now = resched_flight_now(), before = f->args->before_ns;

	numbered_snapshot(f, before && before < now ? now - before : 0, now, why);
}

static uint64_t or_default(uint64_t given_ns, uint64_t default_ns)
{
	return given_ns ? given_ns : default_ns;
}

static void open_window(struct flight *f, const struct resched_trigger_hit *hit)
{
	uint64_t before = or_default(f->args->before_ns, BEFORE_NS);

	f->window = (struct window){ .open = true, .from_ns = hit->from_ns > before ? hit->from_ns - before : 1,
				     .to_ns = hit->at_ns + or_default(f->args->after_ns, AFTER_NS) };
	memcpy(f->window.why, hit->text, sizeof(f->window.why));
}

static void close_window(struct flight *f)
{
	uint64_t now = resched_flight_now();

	f->window.open = false;
	numbered_snapshot(f, f->window.from_ns, f->window.to_ns < now ? f->window.to_ns : now, f->window.why);
}

/* ---- events and triggers */

static int no_event(void *ctx, const struct resched_event *event)
{
	(void)ctx;
	(void)event;
	return 0;
}

/* Return: 0; -errno: recording has ended. */
static int watch(struct flight *f)
{
	struct resched_trigger_hit hit;
	int rc = 0;

	if (!f->trigger && f->args->cgroups.nr)
		rc = resched_flight_poll(f->flight, 0, no_event, NULL, &f->err);
	if (!f->trigger)
		return rc < 0 ? rc : 0;
	rc = resched_flight_poll(f->flight, 0, resched_trigger_event, f->trigger, &f->err);
	if (resched_names_count(resched_flight_names(f->flight)) > NAMES_MOST) {
		resched_flight_renew_names(f->flight);
		resched_trigger_forget_names(f->trigger);
	}
	resched_trigger_look(f->trigger, resched_flight_now());
	/* what holds while a window is open is in it, or comes soon after */
	if (rc >= 0 && resched_trigger_take(f->trigger, &hit) && !f->window.open)
		open_window(f, &hit);
	return rc < 0 ? rc : 0;
}

/* ---- terminal */

static void keys_on(struct flight *f)
{
	struct termios now;

	if (f->child || !isatty(STDIN_FILENO) || tcgetpgrp(STDIN_FILENO) != getpgrp() || tcgetattr(STDIN_FILENO, &f->before) < 0)
		return;
	now = f->before;
	now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	now.c_cc[VMIN] = 0;
	now.c_cc[VTIME] = 0;
	f->keys = tcsetattr(STDIN_FILENO, TCSANOW, &now) == 0;
}

static void keys_off(struct flight *f)
{
	if (f->keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &f->before);
	f->keys = false;
}

static void read_keys(struct flight *f)
{
	char keys[16];
	ssize_t n = f->keys ? read(STDIN_FILENO, keys, sizeof(keys)) : 0;

	for (ssize_t i = 0; i < n; i++) {
		if (keys[i] == 's')
			f->key = true;
		else if (keys[i] == 'q')
			f->quit = true;
	}
}

/* The signal that ends it, 0: none. */
static int told_to_stop(const struct flight *f)
{
	return f->quit ? SIGINT : *f->stop;
}

/* ---- command */


static int start_command(struct flight *f, char **argv)
{
	posix_spawnattr_t attr;
	int rc = posix_spawnattr_init(&attr);

	if (rc == 0) {
		posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
		posix_spawnattr_setsigmask(&attr, &f->mask);
		rc = posix_spawnp(&f->child, argv[0], NULL, &attr, argv, environ);
		posix_spawnattr_destroy(&attr);
	}
	if (rc == 0)
		return 0;
	f->child = 0;
	f->err.kind = RESCHED_FAILED;
	snprintf(f->err.text, sizeof(f->err.text), "cannot run '%s': %s", argv[0], strerror(rc));
	return -rc;
}

static bool command_ended(struct flight *f)
{
	if (f->child && waitpid(f->child, &f->status, WNOHANG) == f->child)
		f->child = 0;
	return !f->child;
}

/* When we are told to end, so is it; a terminal has sent its SIGINT to both. */
static void end_command(struct flight *f)
{
	if (!f->child)
		return;
	if (told_to_stop(f) != SIGINT)
		kill(f->child, SIGTERM);
	for (int ms = 0; ms < 2000 && !command_ended(f); ms += 10)
		usleep(10000);
	if (!f->child)
		return;
	kill(f->child, SIGKILL);
	waitpid(f->child, &f->status, 0);
	f->child = 0;
}

/* ---- the recording */

static bool enough(const struct flight *f)
{
	return f->args->max_snapshots && f->taken >= f->args->max_snapshots;
}

static int step(struct flight *f)
{
	struct pollfd fds[2] = { { .fd = f->trigger ? resched_flight_fd(f->flight) : -1, .events = POLLIN },
				 { .fd = f->keys ? STDIN_FILENO : -1, .events = POLLIN } };
	int rc;

	poll(fds, 2, STEP_MS);
	read_keys(f);
	rc = watch(f);
	if (f->key)
		ask_snapshot(f, "key");
	f->key = false;
	if (asked())
		ask_snapshot(f, "SIGUSR2");
	if (f->window.open && resched_flight_now() >= f->window.to_ns)
		close_window(f);
	return rc;
}

static int loop(struct flight *f, bool has_command)
{
	int rc = 0;

	while (rc == 0 && !told_to_stop(f) && !enough(f)) {
		if (has_command && command_ended(f))
			break;
		if (f->end_ns && resched_flight_now() >= f->end_ns)
			break;
		rc = step(f);
	}
	return rc;
}

static void tell_start(const struct flight *f, bool has_end)
{
	struct resched_flight_stats stats;

	if (f->args->quiet)
		return;
	resched_flight_stats(f->flight, &stats);
	fprintf(stderr, "recording into %.0f MB of memory%s; a snapshot: kill -USR2 %d%s\n", (double)stats.ring_bytes / 1e6,
		has_end ? "" : " until Ctrl-C", (int)getpid(), f->keys ? ", or the key s" : "");
	if (*stats.backend_reason)
		fprintf(stderr, "backend %s: %s\n", stats.backend, stats.backend_reason);
	for (unsigned int i = 0; i < stats.nr_warnings; i++)
		cli_warn(f->self, "%s", stats.warnings[i]);
}

static void tell_end(const struct flight *f)
{
	struct resched_flight_stats stats;
	double seconds;

	if (f->args->quiet)
		return;
	resched_flight_stats(f->flight, &stats);
	seconds = (double)(resched_flight_now() - stats.started_ns) / 1e9;
	fprintf(stderr, "%llu events in %.2f s, %llu lost; %llu snapshots; the recorder itself used %.0f ms of cpu time, %.1f %% of one cpu\n",
		(unsigned long long)stats.events, seconds, (unsigned long long)stats.lost_events, (unsigned long long)stats.snapshots,
		1e3 * stats.cpu_seconds, seconds > 0 ? 100 * stats.cpu_seconds / seconds : 0);
}

/* What is open, and what is kept. */
static int finish(struct flight *f)
{
	int rc = 0;

	if (f->window.open && !enough(f))
		close_window(f);
	if (!enough(f))
		rc = snapshot(f, f->file, 0, 0, "end");
	tell_end(f);
	return rc;
}

static int exit_code(const struct flight *f, bool time_over)
{
	if (told_to_stop(f))
		return 128 + told_to_stop(f);
	if (WIFSIGNALED(f->status))
		return time_over ? 0 : 128 + WTERMSIG(f->status);	/* when its time was over we ended it */
	return WEXITSTATUS(f->status);
}

static int fly(struct flight *f, const struct resched_record_options *record)
{
	const struct cli_args *args = f->args;
	struct resched_flight_options opts = { .record = *record, .ring_bytes = args->ring_kb << 10, .keep_ns = args->keep_ns };
	bool has_command = record->argc > 0, time_over;
	int rc = resched_flight_start(&f->flight, &opts, &f->err);

	if (rc == 0 && args->triggers.nr)
		rc = resched_trigger_new(args->triggers.nr, args->triggers.items, resched_flight_names(f->flight), &f->trigger, &f->err);
	if (rc == 0 && has_command)
		rc = start_command(f, (char **)record->argv);
	if (rc < 0)
		return cli_fail(f->self, &f->err);
	keys_on(f);
	if (args->duration_ns)
		f->end_ns = resched_flight_now() + args->duration_ns;
	tell_start(f, has_command || f->end_ns);
	rc = loop(f, has_command);
	time_over = f->end_ns && resched_flight_now() >= f->end_ns;
	end_command(f);
	keys_off(f);
	if (rc < 0)
		cli_fail(f->self, &f->err);
	if (finish(f) < 0 || rc < 0 || f->failed)
		return RESCHED_FAILED;
	return exit_code(f, time_over);
}

/* To know before, not when the first snapshot is wanted. */
static bool may_write(struct flight *f)
{
	const char *slash = strrchr(f->file, '/');
	char dir[PATH_MAX];

	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - f->file) + 1 : 1, slash ? f->file : ".");
	if (access(dir, W_OK | X_OK) == 0)
		return true;
	f->err.kind = RESCHED_FAILED;
	snprintf(f->err.text, sizeof(f->err.text), "cannot write into the folder '%.200s': %s; choose another with -o", dir, strerror(errno));
	return false;
}

int cli_flight(const struct cli_command *self, const struct cli_args *args, const struct resched_record_options *record)
{
	struct flight f = { .self = self, .args = args, .file = record->output, .stop = record->stop };
	int code;

	if (args->max_kb || args->rotate || args->min_free_kb || args->cpu_budget)
		return cli_usage(self, "--max-size, --rotate, --min-free and --cpu-budget are for recordings to a file; a flight recorder is bounded by --ring and --keep");
	if (!args->triggers.nr && args->after_ns)
		return cli_usage(self, "--after is about triggers; give one with --trigger");
	if (!may_write(&f))
		return cli_fail(self, &f.err);
	block_signal(&f.mask);
	code = fly(&f, record);
	resched_trigger_free(f.trigger);
	resched_flight_stop(f.flight);
	return code;
}
