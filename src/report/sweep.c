// SPDX-License-Identifier: GPL-2.0-only
#include <resched/sweep.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "report/json.h"
#include "report/text.h"

/* ---- reading ---- */

static uint64_t number(struct json_object *from, const char *key)
{
	struct json_object *o;

	return json_object_object_get_ex(from, key, &o) ? json_object_get_uint64(o) : 0;
}

static void dist(struct json_object *from, const char *key, struct resched_dist *ret)
{
	struct json_object *o, *mean;

	if (!json_object_object_get_ex(from, key, &o))
		return;
	*ret = (struct resched_dist){ .count = number(o, "count"), .min = number(o, "min"), .p50 = number(o, "p50"), .p90 = number(o, "p90"),
				      .p99 = number(o, "p99"), .p999 = number(o, "p999"), .max = number(o, "max") };
	if (json_object_object_get_ex(o, "mean", &mean))
		ret->mean = json_object_get_double(mean);
	ret->sum = (uint64_t)(ret->mean * (double)ret->count + 0.5);
}

static bool is_report(struct json_object *root, struct json_object **ret_totals)
{
	struct json_object *schema;

	return json_object_is_type(root, json_type_object) && json_object_object_get_ex(root, "schema", &schema) &&
	       !strcmp(json_object_get_string(schema), "resched/report/1") && json_object_object_get_ex(root, "totals", ret_totals) &&
	       json_object_is_type(*ret_totals, json_type_object);
}

int resched_sweep_totals(const char *path, struct resched_figures *ret, struct resched_error *err)
{
	struct json_object *root, *t;
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;

	if (fd < 0)
		return rs_error_set(err, RESCHED_FAILED, -errno, "cannot open '%s':", path);
	root = json_object_from_fd(fd);
	close(fd);
	if (is_report(root, &t)) {
		*ret = (struct resched_figures){
			.runtime_ns = number(t, "runtime_ns"), .sleep_ns = number(t, "sleep_ns"), .runnable_wait_ns = number(t, "runnable_wait_ns"),
			.switches = number(t, "switches"), .voluntary = number(t, "voluntary"), .involuntary = number(t, "involuntary"),
			.wakeups = number(t, "wakeups"), .migrations = number(t, "migrations"), .unresolved = number(t, "unresolved"),
		};
		dist(t, "wakeup_latency_ns", &ret->wakeup_latency);
		dist(t, "preempted_wait_ns", &ret->preempted_wait);
		dist(t, "run_delay_ns", &ret->run_delay);
	} else {
		rc = rs_error_set(err, RESCHED_DAMAGED, -EBADMSG, "'%s' is no whole report (resched/report/1); remove it", path);
	}
	json_object_put(root);
	return rc;
}

/* ---- writing ---- */

static const struct column { const char *text, *name; bool is_time; size_t offset; } columns[] = {
#define TIME(text, member) { text, #member, true, offsetof(struct resched_figures, member) }
#define COUNT(text, member) { text, #member, false, offsetof(struct resched_figures, member) }
	TIME("wake p50", wakeup_latency.p50), TIME("wake p99", wakeup_latency.p99), TIME("wake max", wakeup_latency.max),
	TIME("delay p99", run_delay.p99), TIME("delay max", run_delay.max), TIME("delay sum", runnable_wait_ns),
	COUNT("wakeups", wakeups), COUNT("switches", switches), COUNT("involuntary", involuntary), COUNT("migrations", migrations),
	COUNT("unresolved", unresolved),
};
#define NR_COLUMNS (sizeof(columns) / sizeof(columns[0]))

static uint64_t value_of(const struct resched_figures *f, const struct column *c)
{
	uint64_t v;

	memcpy(&v, (const char *)f + c->offset, sizeof(v));
	return v;
}

/* "wakeup_latency.p50" -> "wakeup_latency_p50_ns" */
static const char *csv_name(const struct column *c, char buf[64])
{
	size_t len = strlen(c->name);

	snprintf(buf, 64, "%s%s", c->name, c->is_time && strcmp(c->name + len - 3, "_ns") != 0 ? "_ns" : "");
	for (char *p = buf; *p; p++) {
		if (*p == '.')
			*p = '_';
	}
	return buf;
}

static int print_text(FILE *out, unsigned int nr_keys, const char *const *keys, unsigned int nr_rows, const struct resched_sweep_row *rows,
		      bool file_names, bool color, struct resched_error *err)
{
	unsigned int nr_left = nr_keys + file_names, nr = nr_left + (unsigned int)NR_COLUMNS;
	char *align = malloc(nr + 1u);
	struct rs_table t;
	int rc;

	if (!align)
		return rs_error_nomem(err);
	memset(align, 'r', nr);
	memset(align, 'l', nr_left);
	align[nr] = '\0';
	rs_table_init(&t, nr, align);
	if (file_names)
		rs_table_cell(&t, RS_STYLE_BOLD, "file");
	for (unsigned int k = 0; k < nr_keys; k++)
		rs_table_cell(&t, RS_STYLE_BOLD, keys[k]);
	for (size_t c = 0; c < NR_COLUMNS; c++)
		rs_table_cell(&t, RS_STYLE_BOLD, columns[c].text);
	for (unsigned int r = 0; r < nr_rows; r++) {
		if (file_names)
			rs_table_cell(&t, RS_STYLE_NONE, rows[r].file);
		for (unsigned int k = 0; k < nr_keys; k++)
			rs_table_cell(&t, RS_STYLE_NONE, rows[r].values[k]);
		for (size_t c = 0; c < NR_COLUMNS; c++) {
			if (!rows[r].totals)
				rs_table_cell(&t, RS_STYLE_BAD, c ? "" : "failed");
			else if (columns[c].is_time)
				rs_table_time(&t, value_of(rows[r].totals, &columns[c]));
			else
				rs_table_count(&t, value_of(rows[r].totals, &columns[c]));
		}
	}
	rc = rs_table_print(&t, out, 0, color, err);
	rs_table_release(&t);
	free(align);
	return rc;
}

static int print_csv(FILE *out, unsigned int nr_keys, const char *const *keys, unsigned int nr_rows, const struct resched_sweep_row *rows,
		     struct resched_error *err)
{
	char name[64];

	fputs("file", out);
	for (unsigned int k = 0; k < nr_keys; k++) {
		fputc(',', out);
		rs_csv_field(out, keys[k]);
	}
	for (size_t c = 0; c < NR_COLUMNS; c++)
		fprintf(out, ",%s", csv_name(&columns[c], name));
	fputs(",failure\n", out);
	for (unsigned int r = 0; r < nr_rows; r++) {
		rs_csv_field(out, rows[r].file);
		for (unsigned int k = 0; k < nr_keys; k++) {
			fputc(',', out);
			rs_csv_field(out, rows[r].values[k]);
		}
		for (size_t c = 0; c < NR_COLUMNS; c++) {
			fputc(',', out);
			if (rows[r].totals)
				fprintf(out, "%llu", (unsigned long long)value_of(rows[r].totals, &columns[c]));
		}
		fputc(',', out);
		rs_csv_field(out, rows[r].failure ? rows[r].failure : "");
		fputc('\n', out);
	}
	errno = 0;
	if (fflush(out) != 0 || ferror(out))
		return rs_error_set(err, RESCHED_FAILED, errno ? -errno : -EIO, "cannot write the output:");
	return 0;
}

static int print_json(FILE *out, unsigned int nr_keys, const char *const *keys, unsigned int nr_rows, const struct resched_sweep_row *rows,
		      struct resched_error *err)
{
	struct json_object *list, *row, *o;
	struct rs_json doc;
	char name[64];
	int rc;

	rs_json_init(&doc, "resched/sweep/1");
	list = rs_json_array(&doc, doc.root, "keys");
	for (unsigned int k = 0; k < nr_keys; k++)
		rs_json_text(&doc, list, NULL, keys[k]);
	list = rs_json_array(&doc, doc.root, "rows");
	for (unsigned int r = 0; r < nr_rows; r++) {
		row = rs_json_object(&doc, list, NULL);
		rs_json_text(&doc, row, "file", rows[r].file);
		o = rs_json_object(&doc, row, "values");
		for (unsigned int k = 0; k < nr_keys; k++)
			rs_json_text(&doc, o, keys[k], rows[r].values[k]);
		if (rows[r].totals) {
			o = rs_json_object(&doc, row, "totals");
			for (size_t c = 0; c < NR_COLUMNS; c++)
				rs_json_u64(&doc, o, csv_name(&columns[c], name), value_of(rows[r].totals, &columns[c]));
		} else {
			rs_json_null(&doc, row, "totals");
		}
		rs_json_text(&doc, row, "failure", rows[r].failure);
	}
	rc = rs_json_print(&doc, out, err);
	rs_json_release(&doc);
	return rc;
}

int resched_print_sweep(FILE *out, unsigned int nr_keys, const char *const *keys, unsigned int nr_rows, const struct resched_sweep_row *rows,
			int file_names, const struct resched_print_options *opts, struct resched_error *err)
{
	if (opts->format == RESCHED_JSON)
		return print_json(out, nr_keys, keys, nr_rows, rows, err);
	if (opts->format == RESCHED_CSV)
		return print_csv(out, nr_keys, keys, nr_rows, rows, err);
	return print_text(out, nr_keys, keys, nr_rows, rows, file_names != 0, opts->color != 0, err);
}
