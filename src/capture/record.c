// SPDX-License-Identifier: GPL-2.0-only
#include <resched/capture.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <resched/host.h>

#include "base/error.h"
#include "capture/backend.h"
#include "capture/caps.h"
#include "capture/command.h"
#include "capture/dat_writer.h"
#include "capture/limits.h"
#include "capture/part.h"
#include "capture/setup.h"
#include "capture/spool.h"

#define POLL_MS 50 /* how late a stop may be noticed */
#define LOOK_S 0.5 /* how often cgroups are looked at for who joined */
#define GRACE_MS 2000 /* for a command that was asked to end */
#define SIZE_MIN_BYTES (256u << 10) /* of pages, in a file whose size is limited */
#define BALLAST_BYTES (512u << 10) /* room kept for what has to be written on a disk that is full \
				    */

/* One recording while it is made. Parts are released in reverse order of their appearance here. */
struct recording {
	const struct resched_record_options *opts;
	struct resched_record_result *result;
	struct rs_setup setup;
	struct rs_part *part;			/* the file that is written now */
	int ballast_fd;
	struct rs_job job;
	struct rs_limits limits;
	enum rs_limit limit;			/* that ended it */
	unsigned int sealed;			/* parts before this one */
	unsigned int shed;			/* steps, to keep the budget */
	double looked;				/* when the cgroups were looked at */
	struct rs_command command;
	double started;
	bool time_over;				/* the recording ended because its seconds were */
};

static double seconds_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int check_options(struct recording *rec, struct resched_error *err)
{
	const struct resched_record_options *opts = rec->opts;

	if (!(opts->seconds >= 0))
		return rs_error_set(err, RESCHED_USAGE, -EINVAL,
				    "bad duration; give seconds, 0 or more");
	if (opts->rotate && (opts->rotate < 2 || !opts->max_kb))
		return rs_error_set(err, RESCHED_USAGE, -EINVAL, "--rotate keeps the last 2 or more files of a size that --max-size gives");
	if (opts->seconds == 0 && opts->argc == 0 && !opts->stop)
		return rs_error_set(
			err, RESCHED_USAGE, -EINVAL,
			"nothing would end this recording; give a duration or a command");
	return rs_setup_cpus(&rec->setup, err);
}

/* Space that is given back before the end of the file is written, so that a full disk still gets a
 * whole file. */
static int open_ballast(struct recording *rec, struct resched_error *err)
{
	int rc;

	rec->ballast_fd = rs_tmpfile(rec->part->output.dir);
	rc = rec->ballast_fd < 0 ? rec->ballast_fd
				 : -posix_fallocate(rec->ballast_fd, 0, BALLAST_BYTES);
	if (rc == -ENOSPC || rc == -EDQUOT)
		return rs_error_set(err, RESCHED_FAILED, rc,
				    "no space left in '%s': a recording needs 2 MiB at least",
				    rec->part->output.dir);
	return 0; /* where space cannot be kept, a full disk costs the end of the recording */
}

static void drop_ballast(struct recording *rec)
{
	if (rec->ballast_fd >= 0)
		close(rec->ballast_fd);
	rec->ballast_fd = -1;
}

/* Everything up to the moment tracing may start: readers run, the snapshot is taken and the front
 * of the file is written. */
static int prepare_file(struct recording *rec, struct resched_error *err)
{
	struct rs_part *part = rec->part;
	uint64_t most;
	int rc = rec->setup.backend->prepare(&rec->job, err);

	if (rc < 0)
		return rc;
	rec->job.spool.growing = &part->growing;
	rc = rs_part_front(part, &rec->job, rec->opts->compress, err);
	if (rc == 0 && rec->opts->max_kb) {
		rs_limits_init(&rec->limits, part->output.fd, rec->opts->max_kb, rec->opts->min_free_kb, 0);
		most = rs_limits_hard(&rec->limits);
		if (!rec->opts->rotate)
			part->growing.limit_bytes = most;
		if (most < part->writer.pos + SIZE_MIN_BYTES)
			rc = rs_error_set(err, RESCHED_USAGE, -EINVAL, "--max-size is too small: what stands before the events alone has %llu KiB; give %lluK or more",
					  (unsigned long long)part->writer.pos >> 10, (unsigned long long)(part->writer.pos + 2 * SIZE_MIN_BYTES) >> 10);
	}
	return rc == 0 ? open_ballast(rec, err) : rc;
}

static bool stop_wanted(const struct recording *rec)
{
	return rec->opts->stop && *rec->opts->stop;
}

/* Who joined a cgroup since; what is followed already stays so. */
static void look_again(struct recording *rec, double now)
{
	struct resched_record_options only = { .nr_cgroups = rec->opts->nr_cgroups, .cgroups = rec->opts->cgroups };
	struct rs_selection sel;

	if (!only.nr_cgroups || now - rec->looked < LOOK_S)
		return;
	rec->looked = now;
	if (rs_selection_find(&sel, &only, true, NULL) == 0 && sel.nr)
		(void)rec->setup.backend->follow(&rec->job, sel.nr, sel.pids);
	rs_selection_release(&sel);
}

/* Record less when it costs too much. Return: false: there is nothing left to leave out. */
static bool shed(struct recording *rec)
{
	const char *what = rec->setup.backend->shed(&rec->job, rec->shed++);
	char text[160];

	if (!what)
		return false;
	snprintf(text, sizeof(text), "to stay within %.3g %% of a cpu, %s were left out after %.1f s", 100 * rec->opts->cpu_budget, what,
		 seconds_now() - rec->started);
	rs_setup_warn(rec->result, text);
	return true;
}

/* Go on in a new file, and finish the one before. What comes from the kernel meanwhile is in the new one. */
static int rotate(struct recording *rec, struct resched_error *err)
{
	struct rs_part *before = rec->part, *next = NULL;
	struct rs_datw_buf lines = { 0 };
	int rc = rs_part_new(&next, before->output.path, err);

	if (rc == 0)
		rc = rs_part_front(next, &rec->job, rec->opts->compress, err);
	if (rc == 0)
		rc = rs_part_shift(before, rec->opts->rotate, err);
	if (rc < 0) {
		rs_part_free(next);
		return rc;
	}
	(void)rs_output_show(&next->output);
	rs_spool_turn(&rec->job.spool, &next->growing);
	rec->limits.fd = next->output.fd;
	rec->part = next;
	rec->sealed++;
	rs_watch_begin(&next->watch, next->host, seconds_now());
	rc = rs_part_seal(before, &rec->job, false, &lines, NULL, err);
	rec->result->bytes += rs_part_bytes(before);
	rs_datw_buf_release(&lines);
	rs_part_free(before);
	return rc;
}

/* The file is full. Return: it is not the end. */
static bool turn(struct recording *rec)
{
	struct resched_error why = { 0 };
	char text[160];

	if (!rec->opts->rotate)
		return false;
	if (rotate(rec, &why) == 0)
		return true;
	snprintf(text, sizeof(text), "no further file was begun: %.120s", why.text);
	rs_setup_warn(rec->result, text);
	return false;
}

/* Return: a limit is reached that ends the recording. */
static bool is_enough(struct recording *rec)
{
	enum rs_limit limit = rs_limits_check(&rec->limits, seconds_now(), rs_cpu_seconds());

	look_again(rec, seconds_now());
	rs_watch_look(&rec->part->watch, seconds_now());
	if (limit == RS_LIMIT_NONE || (limit == RS_LIMIT_CPU && shed(rec)) || (limit == RS_LIMIT_SIZE && turn(rec)))
		return false;
	rec->limit = limit;
	return true;
}

/* Wait for the end of the recording: time, signal, command, a limit, or a reader that cannot write. */
static void wait_for_end(struct recording *rec, double started)
{
	const struct resched_record_options *opts = rec->opts;

	while (!stop_wanted(rec)) {
		struct pollfd fds[2] = {
			{ .fd = rec->job.spool.failed_fd, .events = POLLIN },
			{ .fd = opts->argc ? rec->command.pidfd : -1, .events = POLLIN },
		};
		int timeout_ms = POLL_MS;

		if (opts->argc && rs_command_ended(&rec->command))
			return;
		if (opts->seconds > 0) {
			double left_ms = (started + opts->seconds - seconds_now()) * 1e3;

			if (left_ms <= 0) {
				rec->time_over = true;
				return;
			}
			if (left_ms < timeout_ms)
				timeout_ms = (int)left_ms + 1;
		}
		poll(fds, 2, timeout_ms);
		if (fds[0].revents || is_enough(rec))
			return;
	}
}

static int trace(struct recording *rec, struct resched_error *err)
{
	const struct resched_record_options *opts = rec->opts;
	int rc = rec->setup.backend->start(&rec->job, err);

	if (rc < 0)
		return rc;
	rec->started = rec->looked = seconds_now();
	rs_watch_begin(&rec->part->watch, rec->part->host, rec->started);
	if (rec->opts->started)
		rec->opts->started(rec->opts->started_ctx);
	if (opts->argc) {
		rc = rs_command_start(&rec->command, opts->argv, err);
		if (rc < 0)
			return rc;
	}
	/* from here on the name means this recording, however it ends */
	if (rs_output_show(&rec->part->output) < 0)
		rs_setup_warn(rec->result, "this file system cannot show a recording before its end: if the recorder is killed, nothing is left");
	if (opts->drop_caps)
		(void)rs_caps_drop(RS_CAPS_KILL | (opts->compress || opts->rotate ? RS_CAPS_FILE : 0));
	rs_limits_init(&rec->limits, rec->part->output.fd, opts->max_kb, opts->min_free_kb, opts->cpu_budget);
	wait_for_end(rec, rec->started);
	rc = rec->setup.backend->stop(&rec->job, err);
	rec->result->seconds = seconds_now() - rec->started;
	/* a terminal has sent its SIGINT to the command as well */
	if (opts->argc && !(opts->stop && *opts->stop == SIGINT))
		rs_command_terminate(&rec->command);
	rec->setup.backend->drain(&rec->job);
	return rc;
}

static int count_events(struct recording *rec, struct resched_error *err)
{
	struct resched_record_result *result = rec->result;
	char text[160];
	int rc = rec->setup.backend->count(&rec->job, err);

	if (rc < 0)
		return rc;
	if (result->lost_events) {
		snprintf(text, sizeof(text),
			 "%llu events were lost: the buffer of %llu KiB a cpu ran over; record "
			 "with --buffer %lluK or more",
			 (unsigned long long)result->lost_events,
			 (unsigned long long)rec->job.buffer_kb,
			 (unsigned long long)rec->job.buffer_kb * 4);
		rs_setup_warn(result, text);
	}
	return 0;
}

/*
 * After a failed write the kernel's counters do not tell what is in the file. What was read or
 * still waited in the kernel and is not in the file is lost.
 */
static void correct_counts(struct recording *rec, uint64_t saved)
{
	uint64_t recorded = 0;
	unsigned int i;

	for (i = 0; i < rec->setup.nr_cpus; i++)
		recorded += rec->job.stats[i].read + rec->job.stats[i].entries;
	rec->result->events = saved;
	if (recorded > saved)
		rec->result->lost_events += recorded - saved;
}

static void tell_limit(struct recording *rec, bool too_large)
{
	char text[160];

	if (too_large || rec->limit == RS_LIMIT_SIZE)
		snprintf(text, sizeof(text), "stopped after %.2f s: the file has reached --max-size%s", rec->result->seconds,
			 too_large ? "; what was still in the buffers is lost" : "");
	else if (rec->limit == RS_LIMIT_CPU)
		snprintf(text, sizeof(text), "stopped after %.2f s: even the least costs more than %.3g %% of a cpu here", rec->result->seconds,
			 100 * rec->opts->cpu_budget);
	else
		return;
	rs_setup_warn(rec->result, text);
}

/* Each line is a warning too. */
static void tell_changes(struct recording *rec, char *line)
{
	for (char *end; line && *line; line = end + 1) {
		end = strchr(line, '\n');
		*end = '\0';
		rs_setup_warn(rec->result, line);
	}
}

static void tell_parts(struct recording *rec)
{
	unsigned int nr = rec->sealed + 1, kept = nr < rec->opts->rotate ? nr : rec->opts->rotate;
	char text[160];

	if (nr == 1)
		return;
	snprintf(text, sizeof(text), "%u files were written; the last %u are there, the newest without a number", nr, kept);
	rs_setup_warn(rec->result, text);
}

/* Put the file together. A full disk costs pages, not the file: it is made whole, and -ENOSPC returned. */
static int finish_file(struct recording *rec, struct resched_error *err)
{
	int failure = atomic_load(&rec->job.spool.failure), rc;
	bool too_large = failure == -EFBIG && rec->opts->max_kb;
	const char *path = rec->part->output.path;
	struct rs_datw_buf lines = { 0 };
	uint64_t saved = 0;

	drop_ballast(rec);
	rc = rs_part_seal(rec->part, &rec->job, true, &lines, failure < 0 ? &saved : NULL, err);
	if (rc == 0) {
		if (failure < 0)
			correct_counts(rec, saved);
		tell_changes(rec, lines.failed ? NULL : lines.data);
	}
	rs_datw_buf_release(&lines);
	if (rc < 0)
		return rc;
	rec->result->bytes += rs_part_bytes(rec->part);
	tell_parts(rec);
	tell_limit(rec, too_large);
	if (rec->limit == RS_LIMIT_SPACE && failure == 0)
		return rs_error_set(err, RESCHED_FAILED, -ENOSPC,
				    "No space left to go on, %llu MiB are free: recording stopped after %.2f s; '%s' is whole and holds %llu events, "
				    "%llu are lost; free some space or write elsewhere with -o",
				    (unsigned long long)rec->limits.free_bytes >> 20, rec->result->seconds, path,
				    (unsigned long long)rec->result->events, (unsigned long long)rec->result->lost_events);
	if (failure < 0 && !too_large)
		return rs_error_set(err, RESCHED_FAILED, failure,
				    "%s: recording stopped after %.2f s; '%s' is whole and holds "
				    "%llu events, %llu are lost; "
				    "free some space or write elsewhere with -o",
				    strerror(-failure), rec->result->seconds, path,
				    (unsigned long long)rec->result->events,
				    (unsigned long long)rec->result->lost_events);
	return 0;
}

static int record(struct recording *rec, struct resched_error *err)
{
	int rc = check_options(rec, err);

	if (rc == 0)
		rc = rs_setup_backend(&rec->setup, err);
	if (rc == 0)
		rc = rs_part_new(&rec->part, rec->opts->output ? rec->opts->output : "trace.dat", err);
	if (rc < 0)
		return rc;
	rec->result->backend = rec->setup.backend->name;
	rc = rs_setup_job(&rec->setup, &rec->job, err);
	if (rc < 0)
		return rc;
	rec->job.spool_dir = rec->part->output.dir;
	rc = prepare_file(rec, err);
	if (rc == 0)
		rc = trace(rec, err);
	if (rc == 0)
		rc = count_events(rec, err);
	return rc == 0 ? finish_file(rec, err) : rc;
}

int resched_record(const struct resched_record_options *opts, struct resched_record_result *ret,
		   struct resched_error *err)
{
	struct recording *rec = calloc(1, sizeof(*rec));
	double cpu_before = rs_cpu_seconds();
	int rc;

	memset(ret, 0, sizeof(*ret));
	if (!rec)
		return rs_error_nomem(err);
	rec->opts = opts;
	rec->result = ret;
	rec->setup = (struct rs_setup){ .opts = opts, .result = ret };
	rec->ballast_fd = -1;
	rec->command.pidfd = -1;
	rc = record(rec, err);
	ret->nr_cpus = rec->setup.nr_cpus;
	if (rec->command.pid) {
		rs_command_terminate(&rec->command);
		if (rs_command_wait(&rec->command, GRACE_MS))
			rs_setup_warn(ret, "the command did not end within 2 s of SIGTERM and was killed");
	}
	ret->command_status = rec->command.status;
	/* when its time was over we ended it, which is no failure of the command */
	if (rec->time_over && WIFSIGNALED(ret->command_status))
		ret->command_status = 0;
	if (rec->setup.backend)
		rec->setup.backend->release(&rec->job);
	rs_spool_release(&rec->job.spool);
	rs_texts_release(&rec->job.formats);
	drop_ballast(rec);
	rs_part_free(rec->part);
	free(rec->job.stats);
	free(rec->job.reader_pids);
	free(rec->job.names);
	rs_setup_release(&rec->setup);
	free(rec);
	ret->recorder_cpu_seconds = rs_cpu_seconds() - cpu_before;
	return rc;
}
