// SPDX-License-Identifier: GPL-2.0-only
#include <resched/capture.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <resched/host.h>

#include "base/error.h"
#include "capture/backend.h"
#include "capture/caps.h"
#include "capture/command.h"
#include "capture/dat_writer.h"
#include "capture/growing.h"
#include "capture/host_changes.h"
#include "capture/limits.h"
#include "capture/output.h"
#include "capture/recording.h"
#include "capture/setup.h"
#include "capture/spool.h"
#include "capture/watch.h"

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
	struct rs_output output;
	int ballast_fd;
	int packed_fd;				/* the compressed file until it is the output; -1 none */
	struct rs_job job;
	struct resched_host *host;
	struct rs_dat_writer writer;
	struct rs_growing growing;
	struct rs_limits limits;
	enum rs_limit limit;			/* that ended it */
	struct rs_watch watch;
	unsigned int shed;			/* steps, to keep the budget */
	double looked;				/* when the cgroups were looked at */
	struct rs_command command;
	double started;
	bool time_over;				/* the recording ended because its seconds were */
	struct rs_datw_cpu *pages;		/* one a cpu */
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

	rec->ballast_fd = rs_tmpfile(rec->output.dir);
	rc = rec->ballast_fd < 0 ? rec->ballast_fd
				 : -posix_fallocate(rec->ballast_fd, 0, BALLAST_BYTES);
	if (rc == -ENOSPC || rc == -EDQUOT)
		return rs_error_set(err, RESCHED_FAILED, rc,
				    "no space left in '%s': a recording needs 2 MiB at least",
				    rec->output.dir);
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
	struct rs_job *job = &rec->job;
	pid_t *pids;
	unsigned int i;
	int rc = rec->setup.backend->prepare(job, err);

	if (rc < 0)
		return rc;
	pids = calloc(job->nr_readers + 1, sizeof(*pids));
	if (!pids)
		return rs_error_nomem(err);
	pids[0] = gettid();
	for (i = 0; i < job->nr_readers; i++)
		pids[i + 1] = job->reader_pids[i];
	job->spool.growing = &rec->growing;
	rc = rs_datw_start(&rec->writer, rec->output.fd, rec->output.path, job->spool.page_bytes,
			     rec->opts->compress, err);
	if (rc == 0)
		rc = resched_host_read(&rec->host, err);
	if (rc == 0)
		rc = rs_recording_front(&rec->writer, &job->formats, rec->host, job->nr_readers + 1, pids, err);
	if (rc == 0)
		rc = rs_recording_growing(&rec->writer, &rec->growing, err);
	if (rc == 0 && rec->opts->max_kb) {
		rs_limits_init(&rec->limits, rec->output.fd, rec->opts->max_kb, rec->opts->min_free_kb, 0);
		rec->growing.limit_bytes = rs_limits_hard(&rec->limits);
		if (rec->growing.limit_bytes < rec->writer.pos + SIZE_MIN_BYTES)
			rc = rs_error_set(err, RESCHED_USAGE, -EINVAL, "--max-size is too small: what stands before the events alone has %llu KiB; give %lluK or more",
					  (unsigned long long)rec->writer.pos >> 10, (unsigned long long)(rec->writer.pos + 2 * SIZE_MIN_BYTES) >> 10);
	}
	if (rc == 0)
		rc = open_ballast(rec, err);
	free(pids);
	return rc;
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

/* Return: a limit is reached that ends the recording. */
static bool is_enough(struct recording *rec)
{
	enum rs_limit limit = rs_limits_check(&rec->limits, seconds_now(), rs_cpu_seconds());

	look_again(rec, seconds_now());
	rs_watch_look(&rec->watch, seconds_now());
	if (limit == RS_LIMIT_NONE || (limit == RS_LIMIT_CPU && shed(rec)))
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
	rs_watch_begin(&rec->watch, rec->host, rec->started);
	if (rec->opts->started)
		rec->opts->started(rec->opts->started_ctx);
	if (opts->argc) {
		rc = rs_command_start(&rec->command, opts->argv, err);
		if (rc < 0)
			return rc;
	}
	/* from here on the name means this recording, however it ends */
	if (rs_output_show(&rec->output) < 0)
		rs_setup_warn(rec->result, "this file system cannot show a recording before its end: if the recorder is killed, nothing is left");
	if (opts->drop_caps)
		(void)rs_caps_drop(RS_CAPS_KILL | (opts->compress ? RS_CAPS_FILE : 0));
	rs_limits_init(&rec->limits, rec->output.fd, opts->max_kb, opts->min_free_kb, opts->cpu_budget);
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

/* Compressed, in a file of its own. Without room for it the recording stays as it is. */
static int pack(struct recording *rec, uint64_t *ret_offset)
{
	struct resched_error why = { 0 };
	char text[160];
	int fd = rs_tmpfile(rec->output.dir);
	int rc = fd < 0 ? fd : rs_recording_packed(&rec->writer, &rec->growing, fd, rec->setup.nr_cpus, rec->pages, ret_offset, &why);

	if (rc == 0) {
		rec->packed_fd = fd;
		return 0;
	}
	if (fd >= 0)
		close(fd);
	snprintf(text, sizeof(text), "the file is not compressed: %s", strerror(-rc));
	rs_setup_warn(rec->result, text);
	return rc;
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

/* What changed meanwhile, into the result and the file. */
static void find_changes(struct recording *rec, struct rs_datw_buf *text)
{
	const struct resched_host *after = rs_watch_end(&rec->watch);
	char *line, *end;

	if (!after)
		return;
	if (rec->opts->slower_ns) {
		char note[160];
		int len = snprintf(note, sizeof(note), "only wakeups slower than %.6g ms were recorded: the gaps between them are no losses, and totals mean nothing\n",
				   (double)rec->opts->slower_ns / 1e6);

		rs_datw_put(text, note, (size_t)len);
	}
	rs_host_changes(rec->host, after, text);
	if (rec->watch.dropped) {
		char note[96];
		int len = snprintf(note, sizeof(note), "%u more changes of the host were seen and not kept\n", rec->watch.dropped);

		rs_datw_put(text, note, (size_t)len);
	}
	rs_datw_put(text, "", 1);
	for (line = text->failed ? NULL : text->data; line && *line; line = end + 1) {
		end = strchr(line, '\n');
		*end = '\0';
		rs_setup_warn(rec->result, line);
		*end = '\n';
	}
}

/* Put the file together. A full disk costs pages, not the file: it is made whole, and -ENOSPC returned. */
static int finish_file(struct recording *rec, struct resched_error *err)
{
	int failure = atomic_load(&rec->job.spool.failure), rc = -1;
	bool too_large = failure == -EFBIG && rec->opts->max_kb;
	uint64_t pages_offset = 0, saved = 0;
	struct rs_datw_buf lines = { 0 };
	struct rs_recording_changes changes;
	char *rows;
	struct stat st;
	unsigned int i;

	drop_ballast(rec);
	for (i = 0; i < rec->setup.nr_cpus; i++)
		rec->pages[i].cpu = rec->setup.cpu_ids[i];
	if (rec->opts->compress && failure == 0)
		rc = pack(rec, &pages_offset);
	if (rc < 0)
		rc = rs_recording_settle(&rec->writer, &rec->growing, rec->setup.nr_cpus, rec->pages, failure < 0 ? &saved : NULL, &pages_offset, err);
	if (rc < 0)
		return rc;
	if (failure < 0)
		correct_counts(rec, saved);
	find_changes(rec, &lines);
	rows = rs_watch_json(&rec->watch);
	changes = (struct rs_recording_changes){ lines.failed ? NULL : lines.data, rows };
	rc = rs_recording_tail(&rec->writer, rec->host, rec->job.names, pages_offset, rec->setup.nr_cpus, rec->pages,
			       rec->job.stats, &changes, err);
	rs_datw_buf_release(&lines);
	free(rows);
	if (rc == 0 && rec->packed_fd >= 0) {
		rs_output_replace(&rec->output, rec->packed_fd);
		rec->packed_fd = -1;
	}
	if (rc == 0)
		rc = rs_output_settle(&rec->output, err);
	if (rc < 0)
		return rc;
	if (fstat(rec->output.fd, &st) == 0)
		rec->result->bytes = (uint64_t)st.st_size;
	tell_limit(rec, too_large);
	if (rec->limit == RS_LIMIT_SPACE && failure == 0)
		return rs_error_set(err, RESCHED_FAILED, -ENOSPC,
				    "No space left to go on, %llu MiB are free: recording stopped after %.2f s; '%s' is whole and holds %llu events, "
				    "%llu are lost; free some space or write elsewhere with -o",
				    (unsigned long long)rec->limits.free_bytes >> 20, rec->result->seconds, rec->output.path,
				    (unsigned long long)rec->result->events, (unsigned long long)rec->result->lost_events);
	if (failure < 0 && !too_large)
		return rs_error_set(err, RESCHED_FAILED, failure,
				    "%s: recording stopped after %.2f s; '%s' is whole and holds "
				    "%llu events, %llu are lost; "
				    "free some space or write elsewhere with -o",
				    strerror(-failure), rec->result->seconds, rec->output.path,
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
		rc = rs_output_open(&rec->output, rec->opts->output ? rec->opts->output : "trace.dat", err);
	if (rc < 0)
		return rc;
	(void)flock(rec->output.fd, LOCK_EX | LOCK_NB);	/* as long as it is ours nobody recovers it */
	rec->result->backend = rec->setup.backend->name;
	rec->pages = calloc(rec->setup.nr_cpus, sizeof(*rec->pages));
	rc = rec->pages ? rs_setup_job(&rec->setup, &rec->job, err) : rs_error_nomem(err);
	if (rc < 0)
		return rc;
	rec->job.spool_dir = rec->output.dir;
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
	rec->output.fd = -1;
	rec->ballast_fd = rec->packed_fd = -1;
	rec->growing.fd = -1;
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
	if (rec->packed_fd >= 0)
		close(rec->packed_fd);
	rs_output_release(&rec->output);
	rs_watch_release(&rec->watch);
	resched_host_free(rec->host);
	free(rec->job.stats);
	free(rec->job.reader_pids);
	free(rec->job.names);
	free(rec->pages);
	rs_setup_release(&rec->setup);
	free(rec);
	ret->recorder_cpu_seconds = rs_cpu_seconds() - cpu_before;
	return rc;
}
