// SPDX-License-Identifier: GPL-2.0-only
/* The file around the pages. Nothing of this machine goes into it. */
#include "capture/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "capture/dat_writer.h"
#include "capture/recording.h"

/* Plain words only; what could end the text early is left out. */
static void put_text(FILE *out, const char *key, const char *text)
{
	fprintf(out, ",\"%s\":\"", key);
	for (; *text; text++) {
		if ((unsigned char)*text >= ' ' && *text != '"' && *text != '\\')
			fputc(*text, out);
	}
	fputc('"', out);
}

static void put_knobs(FILE *out, const struct resched_schedule *s, const char *key, int features)
{
	const char *comma = "";

	fprintf(out, ",\"%s\":%c", key, features ? '[' : '{');
	for (unsigned int i = 0; i < s->nr_knobs; i++) {
		if (!s->knobs[i].is_feature != !features)
			continue;
		if (features)
			fprintf(out, "%s\"%s%s\"", comma, s->knobs[i].value ? "" : "NO_", s->knobs[i].name);
		else
			fprintf(out, "%s\"%s\":%" PRIu64, comma, s->knobs[i].name, s->knobs[i].value);
		comma = ",";
	}
	fputc(features ? ']' : '}', out);
}

/* As in the reports: resched/report/1. */
static void put_schedule(FILE *out, const struct resched_schedule *s)
{
	fputs(",\"schedule\":{\"schema\":\"resched/schedule/1\"", out);
	put_text(out, "kind", s->kind);
	put_text(out, "policy", s->policy);
	put_text(out, "model", s->model);
	put_text(out, "placement", s->placement);
	fprintf(out, ",\"seed\":%" PRIu64, s->seed);
	put_knobs(out, s, "features", 1);
	put_knobs(out, s, "tunables", 0);
	fputc('}', out);
}

/* The snapshot's JSON with two more keys: who recorded, and what made the schedule. */
static int snapshot(struct resched_writer *w, const struct resched_schedule *schedule, struct rs_datw_buf *options, struct resched_error *err)
{
	char *json = NULL, *text = NULL;
	const char *end, *comma = "";
	size_t size = 0;
	FILE *out;
	int rc = resched_host_json(w->host, &json, err);

	if (rc < 0)
		return rc;
	end = strrchr(json, '}');
	out = end ? open_memstream(&text, &size) : NULL;
	if (!out) {
		free(json);
		return rs_error_nomem(err);
	}
	fwrite(json, 1, (size_t)(end - json), out);
	fputs(",\"recorder_pids\":[", out);
	for (uint32_t i = 0; i < w->tasks.nr; i++) {
		if (!w->tasks.tasks[i].own)
			continue;
		fprintf(out, "%s%d", comma, (int)w->tasks.tasks[i].pid);
		comma = ",";
	}
	fputc(']', out);
	if (schedule)
		put_schedule(out, schedule);
	fputc('}', out);
	if (fclose(out) == 0)
		rs_datw_option(options, RS_DATW_OPT_SNAPSHOT, text, size);
	else
		rc = rs_error_nomem(err);
	free(text);
	free(json);
	return rc;
}

/* A section, and the option that says where it is. */
static int announce(struct rs_dat_writer *dat, enum rs_datw_section_id id, const struct rs_datw_buf *body, struct rs_datw_buf *options,
		    struct resched_error *err)
{
	uint64_t offset = 0;
	int rc = rs_datw_section(dat, id, body, &offset, err);

	rs_datw_option_u64(options, (uint16_t)id, offset);
	return rc;
}

static int put_formats(struct rs_dat_writer *dat, struct rs_datw_buf *options, struct resched_error *err)
{
	struct rs_datw_buf body[5] = { 0 };
	static const enum rs_datw_section_id ids[5] = { RS_DATW_HEADER_INFO, RS_DATW_FTRACE_EVENTS, RS_DATW_EVENT_FORMATS, RS_DATW_KALLSYMS,
							RS_DATW_PRINTK };
	struct rs_texts texts;
	int rc = rs_wr_texts(&texts, err);

	if (rc < 0)
		return rc;
	rs_texts_put_headers(&texts, &body[0]);
	rs_texts_put_ftrace(&texts, &body[1]);
	rs_texts_put_events(&texts, &body[2]);
	rs_datw_put_u32(&body[3], 0);
	rs_datw_put_u32(&body[4], 0);
	for (unsigned int i = 0; i < 5; i++) {
		if (rc == 0)
			rc = announce(dat, ids[i], &body[i], options, err);
		rs_datw_buf_release(&body[i]);
	}
	rs_texts_release(&texts);
	return rc;
}

static int put_front(struct resched_writer *w, struct rs_dat_writer *dat, const struct resched_schedule *schedule, struct resched_error *err)
{
	struct rs_datw_buf options = { 0 };
	uint32_t cpus = w->host && w->host->nr_cpus ? w->host->nr_cpus : w->spool.nr_cpus;
	char text[512];
	int len, rc = put_formats(dat, &options, err);

	rs_datw_option(&options, RS_DATW_OPT_CPUCOUNT, &cpus, sizeof(cpus));
	rs_datw_option(&options, RS_DATW_OPT_TRACECLOCK, w->clock, strlen(w->clock) + 1);
	if (w->host && w->host->kernel) {
		len = snprintf(text, sizeof(text), "Linux (none) %.200s %.200s", w->host->kernel, w->host->machine ? w->host->machine : "");
		rs_datw_option(&options, RS_DATW_OPT_UNAME, text, (size_t)len + 1);
	}
#ifdef RESCHED_VERSION
	rs_datw_option(&options, RS_DATW_OPT_VERSION, "resched " RESCHED_VERSION, sizeof("resched " RESCHED_VERSION));
#endif
	if (rc == 0 && w->host)
		rc = snapshot(w, schedule, &options, err);
	if (rc == 0)
		rc = rs_datw_options(dat, &options, err);
	rs_datw_buf_release(&options);
	return rc;
}

/*
 * The list of command lines: other tools know tasks by it alone. A waker that no record named before it woke somebody is called
 * as it was then, all others as they were called last.
 */
static int put_names(struct resched_writer *w, struct rs_dat_writer *dat, struct rs_datw_buf *options, struct resched_error *err)
{
	struct rs_datw_buf text = { 0 }, body = { 0 };
	int rc;

	for (uint32_t i = 0; i < w->tasks.nr; i++) {
		const struct rs_wr_task *task = &w->tasks.tasks[i];
		char line[64];
		int len;

		if (!task->named)
			continue;
		len = snprintf(line, sizeof(line), "%d %s\n", (int)task->pid, task->early ? task->early_comm : task->comm);
		rs_datw_put(&text, line, (size_t)len);
	}
	rs_datw_put_u64(&body, text.len);
	rs_datw_put(&body, text.data, text.len);
	body.failed |= text.failed;
	rc = announce(dat, RS_DATW_CMDLINES, &body, options, err);
	rs_datw_buf_release(&text);
	rs_datw_buf_release(&body);
	return rc;
}

static int put_tail(struct resched_writer *w, struct rs_dat_writer *dat, uint64_t pages_at, const struct rs_datw_cpu *cpus, struct resched_error *err)
{
	struct rs_datw_buf options = { 0 };
	int rc = put_names(w, dat, &options, err);

	for (unsigned int i = 0; i < w->spool.nr_cpus; i++) {
		const struct rs_wr_cpu *c = &w->cpus[cpus[i].cpu];
		char text[160];
		int len = snprintf(text, sizeof(text), "CPU: %u\nentries: %" PRIu64 "\noverrun: %" PRIu64 "\ncommit overrun: 0\ndropped events: 0\n",
				   cpus[i].cpu, c->events, c->lost);

		rs_datw_option(&options, RS_DATW_OPT_CPUSTAT, text, (size_t)len + 1);
	}
	rs_datw_option_buffer(&options, dat, pages_at, w->clock, w->spool.nr_cpus, cpus);
	if (rc == 0)
		rc = rs_datw_options(dat, &options, err);
	rs_datw_buf_release(&options);
	return rc;
}

/* Of all cpus there may be, keep the spools of those that have events, and of as many others as were asked for. */
static void choose_cpus(struct resched_writer *w)
{
	unsigned int with = 0, without, kept = 0;

	for (unsigned int i = 0; i < w->spool.nr_cpus; i++)
		with += w->cpus[i].pages.batch != NULL;
	without = w->nr_cpus > with ? w->nr_cpus - with : 0;
	for (unsigned int i = 0; i < w->spool.nr_cpus; i++) {
		bool keep = w->cpus[i].pages.batch != NULL;

		if (!keep && without) {
			keep = true;
			without--;
		}
		if (keep)
			w->spool.cpus[kept++] = w->spool.cpus[i];
	}
	w->spool.nr_cpus = kept;
}

int rs_wr_file(struct resched_writer *w, const struct resched_schedule *schedule, struct resched_error *err)
{
	struct rs_dat_writer dat;
	struct rs_datw_cpu *cpus;
	uint64_t events, pages_at = 0;
	int rc;

	choose_cpus(w);
	cpus = calloc(w->spool.nr_cpus ? w->spool.nr_cpus : 1, sizeof(*cpus));
	if (!cpus)
		return rs_error_nomem(err);
	rc = rs_datw_start(&dat, w->out.fd, w->out.path, RS_WR_PAGE, w->compress, err);
	if (rc == 0)
		rc = put_front(w, &dat, schedule, err);
	if (rc == 0)
		rc = rs_recording_pages(&dat, &w->spool, false, cpus, &events, &pages_at, err);
	if (rc == 0)
		rc = put_tail(w, &dat, pages_at, cpus, err);
	if (rc == 0)
		w->result.bytes = dat.pos;
	free(cpus);
	return rc;
}
