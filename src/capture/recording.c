// SPDX-License-Identifier: GPL-2.0-only
#include "capture/recording.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <tracefs.h>

#include "base/error.h"
#include "base/map.h"
#include "capture/files.h"

#define META_LIMIT (16u << 20)	/* of one file of tracefs */

/* A 32 bit size and the formats of trace_printk(), if the kernel has any. */
static void printk_formats(struct rs_datw_buf *buf)
{
	char path[PATH_MAX], *text = NULL;
	size_t len = 0;

	if (rs_tracefs_readable()) {
		snprintf(path, sizeof(path), "%s/printk_formats", tracefs_tracing_dir());
		if (rs_file_read_all(path, META_LIMIT, &text, &len) < 0)
			len = 0;
	}
	rs_datw_put_u32(buf, (uint32_t)len);
	rs_datw_put(buf, text, len);
	free(text);
}

/* The snapshot's JSON with one more key: who recorded. */
static int snapshot_option(struct rs_datw_buf *options, const struct resched_host *host,
			   unsigned int nr_pids, const pid_t *pids, struct resched_error *err)
{
	struct rs_datw_buf text = { 0 };
	char *json = NULL, number[32];
	const char *end;
	unsigned int i;
	int rc = resched_host_json(host, &json, err);

	if (rc < 0)
		return rc;
	end = strrchr(json, '}');
	if (!end) {
		free(json);
		return rs_error_set(err, RESCHED_FAILED, -EIO,
				    "the host snapshot could not be written as JSON");
	}
	rs_datw_put(&text, json, (size_t)(end - json));
	rs_datw_put(&text, ",\"recorder_pids\":[", strlen(",\"recorder_pids\":["));
	for (i = 0; i < nr_pids; i++) {
		int len = snprintf(number, sizeof(number), "%s%d", i ? "," : "", (int)pids[i]);

		rs_datw_put(&text, number, (size_t)len);
	}
	rs_datw_put(&text, "]}", 2);
	if (text.failed)
		options->failed = true;
	else
		rs_datw_option(options, RS_DATW_OPT_SNAPSHOT, text.data, text.len);
	rs_datw_buf_release(&text);
	free(json);
	return 0;
}

static void kernel_options(struct rs_datw_buf *options)
{
	struct utsname uts;
	char text[512];
	uint32_t cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	uint64_t trace_id = 0;

	rs_datw_option(options, RS_DATW_OPT_CPUCOUNT, &cpus, sizeof(cpus));
	rs_datw_option(options, RS_DATW_OPT_TRACECLOCK, RS_RECORDING_CLOCK, sizeof(RS_RECORDING_CLOCK));
	if (uname(&uts) == 0) {
		/* the second word is the host's name everywhere else: recordings are passed on, so
		 * it stays out */
		int len = snprintf(text, sizeof(text), "%s (none) %s %s", uts.sysname, uts.release,
				   uts.machine);

		rs_datw_option(options, RS_DATW_OPT_UNAME, text, (size_t)len + 1);
	}
#ifdef RESCHED_VERSION
	rs_datw_option(options, RS_DATW_OPT_VERSION, "resched " RESCHED_VERSION,
		       sizeof("resched " RESCHED_VERSION));
#endif
	if (getrandom(&trace_id, sizeof(trace_id), GRND_NONBLOCK) == (ssize_t)sizeof(trace_id))
		rs_datw_option_u64(options, RS_DATW_OPT_TRACEID, trace_id);
}

/* A section, and the option that says where it is. */
static int announce(struct rs_dat_writer *w, enum rs_datw_section_id id,
		    const struct rs_datw_buf *body, struct rs_datw_buf *options,
		    struct resched_error *err)
{
	uint64_t offset = 0;
	int rc = rs_datw_section(w, id, body, &offset, err);

	rs_datw_option_u64(options, (uint16_t)id, offset);
	return rc;
}

static int front_sections(struct rs_dat_writer *w, const struct rs_texts *formats,
			  struct rs_datw_buf *options, struct resched_error *err)
{
	struct rs_datw_buf headers = { 0 }, ftrace = { 0 }, events = { 0 }, kallsyms = { 0 },
			   printk = { 0 };
	int rc;

	rs_texts_put_headers(formats, &headers);
	rs_texts_put_ftrace(formats, &ftrace);
	rs_texts_put_events(formats, &events);
	rs_datw_put_u32(
		&kallsyms,
		0); /* addresses of this kernel help nobody, and give away where it was loaded */
	printk_formats(&printk);
	rc = announce(w, RS_DATW_HEADER_INFO, &headers, options, err);
	if (rc == 0)
		rc = announce(w, RS_DATW_FTRACE_EVENTS, &ftrace, options, err);
	if (rc == 0)
		rc = announce(w, RS_DATW_EVENT_FORMATS, &events, options, err);
	if (rc == 0)
		rc = announce(w, RS_DATW_KALLSYMS, &kallsyms, options, err);
	if (rc == 0)
		rc = announce(w, RS_DATW_PRINTK, &printk, options, err);
	rs_datw_buf_release(&headers);
	rs_datw_buf_release(&ftrace);
	rs_datw_buf_release(&events);
	rs_datw_buf_release(&kallsyms);
	rs_datw_buf_release(&printk);
	return rc;
}

int rs_recording_front(struct rs_dat_writer *w, const struct rs_texts *formats,
		       const struct resched_host *host, unsigned int nr_recorder_pids,
		       const pid_t *recorder_pids, struct resched_error *err)
{
	struct rs_datw_buf options = { 0 };
	int rc = front_sections(w, formats, &options, err);

	if (rc == 0) {
		kernel_options(&options);
		rc = snapshot_option(&options, host, nr_recorder_pids, recorder_pids, err);
	}
	if (rc == 0)
		rc = rs_datw_options(w, &options, err);
	rs_datw_buf_release(&options);
	return rc;
}

int rs_recording_pages(struct rs_dat_writer *w, struct rs_spool *spool, bool count,
		       struct rs_datw_cpu *cpus, uint64_t *ret_events, uint64_t *ret_offset,
		       struct resched_error *err)
{
	unsigned int i;
	int first = 0, rc = rs_datw_buffer_begin(w, err);

	if (rc < 0)
		return rc;
	*ret_events = 0;
	for (i = 0; i < spool->nr_cpus; i++) {
		struct rs_spool_moved moved;

		rs_datw_align(w);
		rc = rs_spool_move(spool, i, w->fd, w->pos, w->compress, count, &moved);
		cpus[i] = (struct rs_datw_cpu){ .cpu = spool->cpus[i].cpu,
						.offset = w->pos,
						.bytes = moved.bytes };
		w->pos = moved.end;
		*ret_events += moved.events;
		if (rc < 0 && first == 0)
			first = rs_error_set(err, RESCHED_FAILED, rc, "cannot write '%s':", w->path);
	}
	rc = rs_datw_buffer_end(w, ret_offset, first ? NULL : err);
	return rc < 0 ? rc : first;
}

/* Names by pid, the last one told wins. */
struct name_table {
	struct rs_map index;	/* pid -> entry */
	unsigned int nr, size;
	struct name_entry { int pid; char comm[RESCHED_COMM_LEN]; } *entries;
};

static int name_set(struct name_table *table, int pid, const char *comm, size_t len)
{
	uint32_t at = rs_map_get(&table->index, (uint32_t)pid);
	size_t i;

	if (at == RS_MAP_NONE) {
		if (table->nr == table->size) {
			unsigned int size = table->size ? 2 * table->size : 256;
			struct name_entry *grown = realloc(table->entries, size * sizeof(*grown));

			if (!grown)
				return -ENOMEM;
			table->entries = grown;
			table->size = size;
		}
		at = table->nr++;
		table->entries[at].pid = pid;
		if (rs_map_set(&table->index, (uint32_t)pid, at) < 0)
			return -ENOMEM;
	}
	if (len >= RESCHED_COMM_LEN)
		len = RESCHED_COMM_LEN - 1;
	for (i = 0; i < len; i++)
		table->entries[at].comm[i] =
			(unsigned char)comm[i] < 0x20 ? '?' : comm[i]; /* one line a task */
	table->entries[at].comm[len] = '\0';
	return 0;
}

/* "PID COMM" a line */
static int names_from_text(struct name_table *table, const char *text)
{
	int rc = 0;

	for (const char *line = text; *line && rc == 0;) {
		const char *end = strchrnul(line, '\n');
		char *comm;
		long pid = strtol(line, &comm, 10);

		/* "<...>" is the kernel's word for not known */
		if (pid > 0 && pid <= INT_MAX && *comm == ' ' && comm < end && comm[1] != '<')
			rc = name_set(table, (int)pid, comm + 1, (size_t)(end - comm - 1));
		line = *end ? end + 1 : end;
	}
	return rc;
}

/* The kernel's list of recently seen tasks. It is short, but has those that are gone. */
static int names_from_kernel(struct name_table *table)
{
	char path[PATH_MAX], *text = NULL;
	size_t len;
	int rc;

	if (!rs_tracefs_readable())
		return 0;
	snprintf(path, sizeof(path), "%s/saved_cmdlines", tracefs_tracing_dir());
	if (rs_file_read_all(path, META_LIMIT, &text, &len) < 0)
		return 0;
	rc = names_from_text(table, text);
	free(text);
	return rc;
}

static int names_of_process(struct name_table *table, const char *pid)
{
	char path[64 + 2 * NAME_MAX], comm[64];
	struct dirent *entry;
	DIR *dir;
	int rc = 0;

	snprintf(path, sizeof(path), "/proc/%s/task", pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	while (rc == 0 && (entry = readdir(dir))) {
		int len;

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/task/%s/comm", pid, entry->d_name);
		len = rs_file_read(path, comm, sizeof(comm));
		if (len >= 0)
			rc = name_set(table, (int)strtol(entry->d_name, NULL, 10), comm, (size_t)len);
	}
	closedir(dir);
	return rc;
}

static int names_alive(struct name_table *table)
{
	struct dirent *entry;
	DIR *dir = opendir("/proc");
	int rc = 0;

	while (dir && rc == 0 && (entry = readdir(dir))) {
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			rc = names_of_process(table, entry->d_name);
	}
	if (dir)
		closedir(dir);
	return rc;
}

int rs_recording_cmdlines(struct rs_datw_buf *body, const struct resched_host *host, const char *known)
{
	struct name_table table = { 0 };
	struct rs_datw_buf text = { 0 };
	unsigned int i;
	int rc = known ? names_from_text(&table, known) : 0;

	for (i = 0; i < host->nr_tasks && rc == 0; i++)
		rc = name_set(&table, host->tasks[i].pid, host->tasks[i].comm,
			      strlen(host->tasks[i].comm));
	if (rc == 0)
		rc = names_from_kernel(&table);
	if (rc == 0)
		rc = names_alive(&table);
	for (i = 0; i < table.nr; i++) {
		char line[64];
		int len = snprintf(line, sizeof(line), "%d %s\n", table.entries[i].pid,
				   table.entries[i].comm);

		rs_datw_put(&text, line, (size_t)len);
	}
	rs_datw_put_u64(body, text.len);
	rs_datw_put(body, text.data, text.len);
	if (text.failed)
		rc = -ENOMEM;
	rs_datw_buf_release(&text);
	rs_map_release(&table.index);
	free(table.entries);
	return rc;
}

int rs_recording_close(struct rs_dat_writer *w, const struct rs_datw_buf *names, uint64_t pages_offset, unsigned int nr_cpus,
		       const struct rs_datw_cpu *cpus, const struct rs_instance_stats *stats, const struct rs_recording_changes *changes, struct resched_error *err)
{
	struct rs_datw_buf options = { 0 };
	char text[sizeof(struct rs_instance_stats)];
	unsigned int i;
	int rc;

	rc = announce(w, RS_DATW_CMDLINES, names, &options, err);
	for (i = 0; i < nr_cpus && stats; i++) {
		int len = snprintf(text, sizeof(text), "CPU: %u\n%s\n", cpus[i].cpu, stats[i].text);

		rs_datw_option(&options, RS_DATW_OPT_CPUSTAT, text, (size_t)len + 1);
	}
	if (changes && changes->lines && *changes->lines)
		rs_datw_option(&options, RS_DATW_OPT_CHANGES, changes->lines, strlen(changes->lines));
	if (changes && changes->rows)
		rs_datw_option(&options, RS_DATW_OPT_CHANGE_ROWS, changes->rows, strlen(changes->rows));
	rs_datw_option_buffer(&options, w, pages_offset, RS_RECORDING_CLOCK, nr_cpus, cpus);
	if (rc == 0)
		rc = rs_datw_options(w, &options, err);
	rs_datw_buf_release(&options);
	return rc;
}

int rs_recording_tail(struct rs_dat_writer *w, const struct resched_host *host,
		      const char *known, uint64_t pages_offset, unsigned int nr_cpus, const struct rs_datw_cpu *cpus,
		      const struct rs_instance_stats *stats, const struct rs_recording_changes *changes, struct resched_error *err)
{
	struct rs_datw_buf names = { 0 };
	int rc = rs_recording_cmdlines(&names, host, known) < 0 ? rs_error_nomem(err)
						 : rs_recording_close(w, &names, pages_offset, nr_cpus, cpus, stats, changes, err);

	rs_datw_buf_release(&names);
	return rc;
}
