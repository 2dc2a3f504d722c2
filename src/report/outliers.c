// SPDX-License-Identifier: GPL-2.0-only
/* The worst waits as text and as JSON (resched/outliers/1). */
#include <resched/outliers.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/units.h"
#include "report/internal.h"
#include "report/json.h"
#include "report/text.h"

static const char *kind_name(enum resched_wait_kind kind)
{
	return kind == RESCHED_WAIT_WAKE ? "wake" : kind == RESCHED_WAIT_PREEMPTED ? "preempted" : "raced";
}

/* ---- JSON ---- */

static void json_blame(struct rs_json *doc, struct json_object *cause, const struct resched_outlier *o)
{
	struct json_object *list = rs_json_array(doc, cause, "blame");

	for (unsigned int i = 0; i < o->nr_blame; i++) {
		struct json_object *b = rs_json_object(doc, list, NULL);

		rs_json_i64(doc, b, "pid", o->blame[i].pid);
		rs_json_text(doc, b, "comm", o->blame[i].comm);
		rs_json_u64(doc, b, "ns", o->blame[i].ns);
		rs_json_i64(doc, b, "prio", o->blame[i].prio);
	}
	rs_json_u64(doc, cause, "others_ns", o->blame_other_ns);
	rs_json_u64(doc, cause, "idle_ns", o->idle_ns);
	rs_json_u64(doc, cause, "unknown_ns", o->unknown_ns);
	rs_json_u64(doc, cause, "idle_cpus", o->idle_cpus);
	rs_json_u64(doc, cause, "idle_elsewhere_ns", o->idle_elsewhere_ns);
}

static void json_wakers(struct rs_json *doc, struct json_object *obj, const struct resched_outlier *o)
{
	struct json_object *list = rs_json_array(doc, obj, "wakers");

	for (unsigned int i = 0; i < o->nr_wakers; i++) {
		struct json_object *w = rs_json_object(doc, list, NULL);

		rs_json_i64(doc, w, "pid", o->wakers[i].pid);
		rs_json_text(doc, w, "comm", o->wakers[i].comm);
		rs_json_bool(doc, w, "interrupt", o->wakers[i].interrupt);
		rs_json_u64(doc, w, "cpu", o->wakers[i].cpu);
		rs_json_u64(doc, w, "at_ns", o->wakers[i].at_ns);
	}
}

static void json_outlier(struct rs_json *doc, struct json_object *list, const struct resched_outlier *o)
{
	struct json_object *obj = rs_json_object(doc, list, NULL), *cause, *under;

	rs_json_i64(doc, obj, "pid", o->pid);
	rs_json_text(doc, obj, "comm", o->comm);
	rs_json_u64(doc, obj, "cpu", o->cpu);
	rs_json_u64(doc, obj, "queued_cpu", o->queued_cpu);
	rs_json_u64(doc, obj, "moves", o->moves);
	rs_json_u64(doc, obj, "wake_ns", o->wake_ns);
	rs_json_u64(doc, obj, "run_ns", o->run_ns);
	rs_json_u64(doc, obj, "latency_ns", o->latency_ns);
	rs_json_text(doc, obj, "kind", kind_name(o->kind));
	cause = rs_json_object(doc, obj, "cause");
	rs_json_text(doc, cause, "code", o->code);
	rs_json_text(doc, cause, "text", o->text);
	json_blame(doc, cause, o);
	if (o->has_why) {
		struct json_object *why = rs_json_object(doc, obj, "policy");

		rs_json_text(doc, why, "code", o->why_code);
		rs_json_text(doc, why, "text", o->why);
		rs_json_u64(doc, why, "ns", o->why_ns);
	}
	json_wakers(doc, obj, o);
	under = rs_json_object(doc, obj, "under");
	for (unsigned int i = 0; i < o->nr_under; i++) {
		if (o->under[i].found)
			rs_json_u64(doc, under, o->under[i].label, o->under[i].ns);
		else
			rs_json_null(doc, under, o->under[i].label);
	}
}

static int print_json(FILE *out, const struct resched_source *source, const struct resched_outliers *outliers, struct resched_error *err)
{
	const struct resched_outlier *o;
	struct json_object *list;
	struct rs_json doc;
	int rc;

	rs_json_init(&doc, "resched/outliers/1");
	if (source)
		rs_json_source(&doc, rs_json_object(&doc, doc.root, "source"), source);
	list = rs_json_array(&doc, doc.root, "outliers");
	for (unsigned int i = 0; (o = resched_outliers_get(outliers, i)); i++)
		json_outlier(&doc, list, o);
	list = rs_json_array(&doc, doc.root, "touching_gaps");
	for (unsigned int i = 0; (o = resched_outliers_gap_get(outliers, i)); i++)
		json_outlier(&doc, list, o);
	rc = rs_json_print(&doc, out, err);
	rs_json_release(&doc);
	return rc;
}

/* ---- text ---- */

static void put_name(FILE *out, const char *comm, int pid)
{
	char *text = rs_text_clean(comm, 0);

	if (pid)
		fprintf(out, "%s/%d", text ? text : "?", pid);
	else
		fputs(text ? text : "?", out);
	free(text);
}

static void put_blame(FILE *out, const struct resched_outlier *o)
{
	char n[RS_NUMBER_LEN];

	fputs("      ran instead:", out);
	for (unsigned int i = 0; i < o->nr_blame; i++) {
		rs_time_format(o->blame[i].ns, n, sizeof(n));
		fputs(i ? ", " : " ", out);
		put_name(out, o->blame[i].comm, o->blame[i].pid);
		fprintf(out, " %s", n);
	}
	if (o->blame_other_ns) {
		rs_time_format(o->blame_other_ns, n, sizeof(n));
		fprintf(out, "%s others %s", o->nr_blame ? "," : "", n);
	}
	if (o->idle_ns) {
		rs_time_format(o->idle_ns, n, sizeof(n));
		fprintf(out, "%s nobody (idle) %s", o->nr_blame || o->blame_other_ns ? "," : "", n);
	}
	if (o->unknown_ns) {
		rs_time_format(o->unknown_ns, n, sizeof(n));
		fprintf(out, "%s unknown %s", o->nr_blame || o->blame_other_ns || o->idle_ns ? "," : "", n);
	}
	fputc('\n', out);
}

static void put_wakers(FILE *out, const struct resched_outlier *o)
{
	char n[RS_NUMBER_LEN];

	if (!o->nr_wakers)
		return;
	fputs("      woken by:", out);
	for (unsigned int i = 0; i < o->nr_wakers; i++) {
		const struct resched_waker *w = &o->wakers[i];

		fputs(i ? " <- " : " ", out);
		if (w->interrupt)
			fputs("an interrupt", out);
		else
			put_name(out, w->comm, w->pid);
		rs_time_format(o->wake_ns - w->at_ns, n, sizeof(n));
		fprintf(out, " (cpu %u", w->cpu);
		if (i)
			fprintf(out, ", %s earlier", n);
		fputc(')', out);
	}
	fputc('\n', out);
}

static void put_under(FILE *out, const struct resched_outlier *o)
{
	char n[RS_NUMBER_LEN];

	if (!o->nr_under || o->kind != RESCHED_WAIT_WAKE)
		return;
	fputs("      the same wakeup:", out);
	for (unsigned int i = 0; i < o->nr_under; i++) {
		rs_time_format(o->under[i].ns, n, sizeof(n));
		fprintf(out, "%s %s under %s", i ? "," : "", o->under[i].found ? n : "no such wakeup", o->under[i].label);
	}
	fputc('\n', out);
}

static void put_outlier(FILE *out, unsigned int nr, const struct resched_outlier *o, uint64_t first_ns, bool color)
{
	char n[RS_NUMBER_LEN], *text = rs_text_clean(o->text, 0);
	uint64_t at = o->wake_ns - first_ns;

	rs_time_format(o->latency_ns, n, sizeof(n));
	fprintf(out, "%3u. %s%s%s  ", nr, rs_style_on(RS_STYLE_BOLD, color), n, rs_style_off(RS_STYLE_BOLD, color));
	put_name(out, o->comm, o->pid);
	fprintf(out, "  %s, at %llu.%06llu s, cpu %u", o->kind == RESCHED_WAIT_PREEMPTED ? "preempted" : "woken",
		(unsigned long long)(at / 1000000000u), (unsigned long long)(at / 1000u % 1000000u), o->queued_cpu);
	if (o->cpu != o->queued_cpu)
		fprintf(out, ", ran on cpu %u", o->cpu);
	fprintf(out, "\n      %s%s%s: %s\n", rs_style_on(RS_STYLE_BAD, color), o->code, rs_style_off(RS_STYLE_BAD, color), text ? text : "?");
	free(text);
	put_blame(out, o);
	if (o->has_why) {
		text = rs_text_clean(o->why, 0);
		fprintf(out, "      policy: %s: %s\n", o->why_code, text ? text : "?");
		free(text);
	}
	put_wakers(out, o);
	put_under(out, o);
}

static int print_text(FILE *out, const struct resched_source *source, const struct resched_outliers *outliers, bool color,
		      struct resched_error *err)
{
	uint64_t first = source ? source->first_ns : 0;
	const struct resched_outlier *o;

	if (source)
		rs_head_source(out, source, color);
	if (!resched_outliers_count(outliers))
		fputs("\nno wait was long enough to be listed\n", out);
	for (unsigned int i = 0; (o = resched_outliers_get(outliers, i)); i++) {
		fputc('\n', out);
		put_outlier(out, i + 1, o, first, color);
	}
	if (resched_outliers_gap_count(outliers))
		fputs("\nLong waits that touch a gap of lost events, not to be trusted:\n", out);
	for (unsigned int i = 0; (o = resched_outliers_gap_get(outliers, i)); i++)
		put_outlier(out, i + 1, o, first, color);
	return rs_out_check(out, err);
}

int resched_print_outliers(FILE *out, const struct resched_source *source, const struct resched_outliers *outliers,
			   const struct resched_print_options *opts, struct resched_error *err)
{
	if (opts->format == RESCHED_CSV)
		return rs_error_set(err, RESCHED_USAGE, -EINVAL, "outliers are printed as text or with --json");
	if (opts->format == RESCHED_JSON)
		return print_json(out, source, outliers, err);
	return print_text(out, source, outliers, opts->color, err);
}
