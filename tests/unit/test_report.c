// SPDX-License-Identifier: GPL-2.0-only
/* What reports look like: JSON that parses, CSV that quotes, tables that line up, texts that cannot harm a terminal. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <json-c/json.h>
#include <resched/report.h>

#include "report/text.h"

#define MS 1000000ull

/* Two comms, three tasks; the second column is twice as slow for "nginx". */
static struct resched_report *make_report(uint64_t nginx_p99)
{
	struct resched_report *rep = calloc(1, sizeof(*rep));
	static const char *const names[] = { "evil,\"\033[2J\xff", "nginx", "nginx" };

	assert_non_null(rep);
	rep->exact = 1;
	rep->first_ns = 5000 * MS;
	rep->last_ns = 6000 * MS;
	rep->busy_ns = 30 * MS;
	rep->idle_ns = 70 * MS;
	rep->nr_tasks = 3;
	rep->tasks = calloc(3, sizeof(*rep->tasks));
	rep->nr_comms = 2;
	rep->comms = calloc(2, sizeof(*rep->comms));
	rep->cpus = calloc(1, sizeof(*rep->cpus));
	assert_true(rep->tasks && rep->comms && rep->cpus);
	for (unsigned int i = 0; i < 3; i++) {
		struct resched_task_row *t = &rep->tasks[i];

		t->pid = (int)(100 + i);
		t->comm = strdup(names[i]);
		t->class_name = i ? "fair" : "rt";
		t->nice = (int)i;
		t->f.switches = 10 * (i + 1);
		t->f.runtime_ns = 10 * MS;
	}
	for (unsigned int i = 0; i < 2; i++) {
		struct resched_figures *f = &rep->comms[i].f;
		struct resched_dist d = { .count = 100, .mean = 1.5 * MS, .sum = 150 * MS, .min = 1, .p50 = MS, .p90 = 2 * MS,
					  .p99 = i ? nginx_p99 : 3 * MS, .p999 = 9 * MS, .max = 10 * MS };

		rep->comms[i].name = strdup(names[i]);
		rep->comms[i].tasks = 1 + i;
		f->wakeup_latency = f->run_delay = d;
		f->runnable_wait_ns = d.sum * (i + 1);
		f->switches = 12345 * (i + 1);
		f->runtime_ns = 10 * MS * (i + 1);
		f->max_delay_at_ns = 5500 * MS;
	}
	rep->totals = rep->comms[1].f;
	rep->totals.runtime_ns = 30 * MS;
	return rep;
}

static const struct resched_schedule recorded = { .kind = "recorded", .policy = "eevdf", .model = "6.12", .placement = "recorded" };
static const struct resched_schedule cfs = { .kind = "free", .policy = "cfs", .model = "6.1", .placement = "recorded",
					     .nr_knobs = 2, .knobs = { { "LAST_BUDDY", 1, 0 }, { "latency_ns", 0, 6000000 } } };

/* Not inline: gcc 12 then takes the returned text for the variable that held it. */
__attribute__((noinline)) static char *printed(int (*print)(FILE *, const struct resched_print_options *, struct resched_error *),
					       const struct resched_print_options *opts)
{
	struct resched_error err = { 0 };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(print(out, opts, &err), 0);
	fclose(out);
	return text;
}

static int print_report(FILE *out, const struct resched_print_options *opts, struct resched_error *err)
{
	struct resched_report *rep = make_report(4 * MS);
	int rc = resched_print_report(out, NULL, &recorded, rep, opts, err);

	resched_report_free(rep);
	return rc;
}

static int print_compare(FILE *out, const struct resched_print_options *opts, struct resched_error *err)
{
	struct resched_report *a = make_report(4 * MS), *b = make_report(8 * MS);
	const struct resched_column columns[] = { { &recorded, a, NULL }, { &cfs, b, NULL } };
	int rc = resched_print_compare(out, NULL, 2, columns, opts, err);

	resched_report_free(a);
	resched_report_free(b);
	return rc;
}

static struct json_object *at(struct json_object *o, const char *key)
{
	struct json_object *child = NULL;

	assert_true(json_object_object_get_ex(o, key, &child));
	return child;
}

static void report_json_has_the_agreed_shape(void **state)
{
	static const char *const dist[] = { "count", "mean", "min", "p50", "p90", "p99", "p999", "max" };
	char *text = printed(print_report, &(struct resched_print_options){ .format = RESCHED_JSON });
	struct json_object *root = json_tokener_parse(text), *row;

	(void)state;
	assert_non_null(root);
	assert_string_equal(json_object_get_string(at(root, "schema")), "resched/report/1");
	assert_string_equal(json_object_get_string(at(at(root, "schedule"), "kind")), "recorded");
	assert_int_equal(json_object_array_length(at(root, "tasks")), 3);
	assert_int_equal(json_object_array_length(at(root, "comms")), 2);
	assert_int_equal(json_object_array_length(at(root, "cgroups")), 0);
	row = json_object_array_get_idx(at(root, "comms"), 1);
	assert_string_equal(json_object_get_string(at(row, "comm")), "nginx");
	assert_int_equal(json_object_get_int64(at(row, "tasks")), 2);
	for (size_t i = 0; i < sizeof(dist) / sizeof(dist[0]); i++)
		at(at(row, "wakeup_latency_ns"), dist[i]);
	assert_true(json_object_is_type(at(at(row, "wakeup_latency_ns"), "p99"), json_type_int));
	assert_int_equal(json_object_get_int64(at(at(row, "wakeup_latency_ns"), "p99")), 4 * MS);
	row = json_object_array_get_idx(at(root, "tasks"), 0);
	assert_null(at(row, "tgid"));	/* unknown is null, not 0 */
	assert_null(at(row, "lag_ns"));
	assert_non_null(strstr(json_object_get_string(at(row, "comm")), "\xef\xbf\xbd"));	/* the byte that is no UTF-8 */
	json_object_put(root);
	free(text);
}

static void compare_json_has_values_and_differences(void **state)
{
	char *text = printed(print_compare, &(struct resched_print_options){ .format = RESCHED_JSON });
	struct json_object *root = json_tokener_parse(text), *columns, *rows;
	bool found = false;

	(void)state;
	assert_non_null(root);
	assert_string_equal(json_object_get_string(at(root, "schema")), "resched/compare/1");
	columns = at(root, "columns");
	assert_int_equal(json_object_array_length(columns), 2);
	assert_string_equal(json_object_get_string(at(json_object_array_get_idx(columns, 1), "policy")), "cfs");
	assert_string_equal(json_object_get_string(json_object_array_get_idx(at(json_object_array_get_idx(columns, 1), "features"), 0)),
			    "NO_LAST_BUDDY");
	assert_int_equal(json_object_get_int64(at(at(json_object_array_get_idx(columns, 1), "tunables"), "latency_ns")), 6000000);
	rows = at(root, "rows");
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);

		assert_int_equal(json_object_array_length(at(row, "values")), 2);
		assert_int_equal(json_object_array_length(at(row, "diff_percent")), 2);
		if (strcmp(json_object_get_string(at(row, "group")), "nginx") ||
		    strcmp(json_object_get_string(at(row, "metric")), "wakeup_latency_p99_ns"))
			continue;
		found = true;
		assert_int_equal(json_object_get_int64(json_object_array_get_idx(at(row, "values"), 1)), 8 * MS);
		assert_true(json_object_get_double(json_object_array_get_idx(at(row, "diff_percent"), 1)) == 100);
	}
	assert_true(found);
	json_object_put(root);
	free(text);
}

static int print_with_error(FILE *out, const struct resched_print_options *opts, struct resched_error *err)
{
	struct resched_print_options with = *opts;
	struct resched_report *self = make_report(opts->max_rows * MS); /* a number to vary */
	int rc;

	with.self = self;
	with.max_rows = 0;
	rc = print_compare(out, &with, err);
	resched_report_free(self);
	return rc;
}

/* 4 ms recorded, 8 ms predicted: that says something when the model errs by 25 %, and nothing when it errs by 100 %. */
static void a_difference_within_the_error_is_marked(void **state)
{
	char *small = printed(print_with_error, &(struct resched_print_options){ .max_rows = 5 });
	char *large = printed(print_with_error, &(struct resched_print_options){ .max_rows = 8 });
	char *json = printed(print_with_error, &(struct resched_print_options){ .max_rows = 5, .format = RESCHED_JSON });

	(void)state;
	assert_non_null(strstr(small, "25 %"));
	assert_non_null(strstr(small, " +100 %"));
	assert_null(strstr(small, "~+100 %"));
	assert_non_null(strstr(large, "~+100 %"));
	assert_non_null(strstr(json, "\"error_percent\": 25"));
	free(small);
	free(large);
	free(json);
}

static void csv_quotes_what_needs_it(void **state)
{
	char *text = printed(print_report, &(struct resched_print_options){ .format = RESCHED_CSV, .group = RESCHED_BY_COMM });

	(void)state;
	assert_non_null(strstr(text, "comm,tasks,runtime_ns,"));
	assert_non_null(strstr(text, "\n\"evil,\"\"\033[2J\xff\",1,"));
	assert_non_null(strstr(text, "\nnginx,2,20000000,"));
	free(text);
}

static void text_cannot_harm_a_terminal(void **state)
{
	char *text = printed(print_report, &(struct resched_print_options){ .color = 0 });

	(void)state;
	assert_null(strchr(text, '\033'));
	assert_non_null(strstr(text, "evil,\"?[2J\xef\xbf\xbd"));
	free(text);
	text = printed(print_report, &(struct resched_print_options){ .color = 1 });
	assert_non_null(strstr(text, "\033[1m"));
	assert_null(strstr(text, "\033[2J"));
	free(text);
}

static void rows_are_sorted_and_cut(void **state)
{
	char *text = printed(print_report, &(struct resched_print_options){ .max_rows = 1 });

	(void)state;
	assert_non_null(strstr(text, "nginx"));	/* the larger run delay */
	assert_null(strstr(text, "evil"));
	assert_non_null(strstr(text, "1 more rows"));
	free(text);
	text = printed(print_report, &(struct resched_print_options){ .sort_key = "name" });
	assert_true(strstr(text, "evil") < strstr(text, "nginx"));
	free(text);
}

static void an_unknown_sort_key_is_refused(void **state)
{
	struct resched_error err = { 0 };

	(void)state;
	assert_int_equal(print_report(stderr, &(struct resched_print_options){ .sort_key = "speed", .format = RESCHED_CSV }, &err), -EINVAL);
	assert_int_equal(err.kind, RESCHED_USAGE);
	assert_non_null(strstr(err.text, "delay"));
}

static void perf_style_has_the_columns_of_perf(void **state)
{
	char *text = printed(print_report, &(struct resched_print_options){ .style = RESCHED_STYLE_PERF });

	(void)state;
	assert_non_null(strstr(text, "  Task                  |   Runtime ms  | Switches | Avg delay ms    | Max delay ms    | "
				     "Max delay start           | Max delay end          |\n"));
	assert_non_null(strstr(text, "  nginx:(2)             |     20.000 ms |    24690 | avg:   1.500 ms | max:  10.000 ms | "
				     "max start:     5.490000 s | max end:     5.500000 s\n"));
	assert_non_null(strstr(text, "  TOTAL:                |     30.000 ms |    24690 |\n"));
	free(text);
}

static void schbench_style_has_its_percentiles(void **state)
{
	char *text = printed(print_report, &(struct resched_print_options){ .style = RESCHED_STYLE_SCHBENCH });

	(void)state;
	assert_non_null(strstr(text, "\t* 99.0th: 4000       (9 samples)\n"));
	free(text);
}

static void compare_text_says_who_gets_worse(void **state)
{
	char *text = printed(print_compare, &(struct resched_print_options){ 0 });

	(void)state;
	assert_non_null(strstr(text, "better for 0; worse for 1 (most: nginx, 4.00 ms to 8.00 ms)"));
	assert_non_null(strstr(text, "+100 %"));
	free(text);
}

static int print_sampleless(FILE *out, const struct resched_print_options *opts, struct resched_error *err)
{
	struct resched_report *a = make_report(4 * MS), *b = make_report(8 * MS);
	const struct resched_column columns[] = { { &recorded, a, NULL }, { &cfs, b, NULL } };
	int rc;

	/* nginx woke in the first only, the other comm in neither */
	memset(&b->comms[1].f.wakeup_latency, 0, sizeof(b->comms[1].f.wakeup_latency));
	memset(&a->comms[0].f.wakeup_latency, 0, sizeof(a->comms[0].f.wakeup_latency));
	memset(&b->comms[0].f.wakeup_latency, 0, sizeof(b->comms[0].f.wakeup_latency));
	rc = resched_print_compare(out, NULL, 2, columns, opts, err);
	resched_report_free(a);
	resched_report_free(b);
	return rc;
}

/* No wakeup has no latency: neither 0 nor 100 % less. */
static void compare_tells_nothing_from_zero(void **state)
{
	char *text = printed(print_sampleless, &(struct resched_print_options){ 0 });
	char *json = printed(print_sampleless, &(struct resched_print_options){ .format = RESCHED_JSON });
	struct json_object *root = json_tokener_parse(json), *rows = at(root, "rows");
	char *delay = strstr(text, "Run delay");
	unsigned int seen = 0;

	(void)state;
	assert_non_null(delay);
	*delay = '\0';
	assert_null(strstr(text, "-100 %"));
	assert_null(strstr(text, "0 ns"));
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);

		if (strcmp(json_object_get_string(at(row, "group")), "nginx") ||
		    strcmp(json_object_get_string(at(row, "metric")), "wakeup_latency_p99_ns"))
			continue;
		assert_int_equal(json_object_get_int64(json_object_array_get_idx(at(row, "values"), 0)), 4 * MS);
		assert_null(json_object_array_get_idx(at(row, "values"), 1));
		assert_null(json_object_array_get_idx(at(row, "diff_percent"), 1));
		seen++;
	}
	assert_int_equal(seen, 1);
	json_object_put(root);
	free(json);
	free(text);
}

static void a_full_disk_is_an_error(void **state)
{
	struct resched_error err = { 0 };
	FILE *out = fopen("/dev/full", "w");

	(void)state;
	if (!out) {
		print_message("skip: no /dev/full\n");
		skip();
	}
	assert_int_equal(print_report(out, &(struct resched_print_options){ .format = RESCHED_JSON }, &err), -ENOSPC);
	assert_int_equal(err.kind, RESCHED_FAILED);
	assert_non_null(strstr(err.text, "No space left"));
	fclose(out);
}

static void texts_are_cut_by_characters(void **state)
{
	static const struct { const char *text; unsigned int width; const char *want; } cases[] = {
		{ "short", 10, "short" },
		{ "exactly-10", 10, "exactly-10" },
		{ "eleven-long", 10, "eleven-lo\xe2\x80\xa6" },
		{ "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f", 3, "\xc3\xa4\xc3\xb6\xe2\x80\xa6" },
		{ "ab", 1, "\xe2\x80\xa6" },
		{ "\xff\xfe", 0, "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xed\xa0\x80", 0, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },	/* a surrogate */
		{ "a\tb\nc\x7f\xc2\x9b", 0, "a?b?c??" },
		{ "\xe2\x82", 0, "\xef\xbf\xbd\xef\xbf\xbd" },	/* cut in a character */
		{ "", 5, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *got = rs_text_clean(cases[i].text, cases[i].width);

		assert_string_equal(got, cases[i].want);
		free(got);
	}
}

static void tables_line_up(void **state)
{
	struct rs_table t;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	rs_table_init(&t, 3, "lrl");
	for (const char *const *p = (const char *const[]){ "\xc3\xa4\xc3\xb6", "1", "x", "long name", "12,345", "", NULL }; *p; p++)
		rs_table_cell(&t, RS_STYLE_NONE, *p);
	assert_int_equal(rs_table_print(&t, out, 1, false, NULL), 0);
	fclose(out);
	assert_string_equal(text, " \xc3\xa4\xc3\xb6              1  x\n"
				  " long name  12,345\n");
	rs_table_release(&t);
	free(text);
}

static void counts_have_separators(void **state)
{
	char buf[RS_NUMBER_LEN];

	(void)state;
	assert_string_equal(rs_count_format(0, buf), "0");
	assert_string_equal(rs_count_format(999, buf), "999");
	assert_string_equal(rs_count_format(1000, buf), "1,000");
	assert_string_equal(rs_count_format(UINT64_MAX, buf), "18,446,744,073,709,551,615");
}

static void recorded_schedule_takes_over_features_and_tunables(void **state)
{
	char *features[] = { (char *)"PLACE_LAG", (char *)"NO_RUN_TO_PARITY" };
	struct resched_host_setting tunables[] = { { (char *)"base_slice_ns", (char *)"1400000" }, { (char *)"odd", (char *)"text" } };
	struct resched_host host = { .kernel = (char *)"6.12.1", .nr_features = 2, .features = features, .nr_tunables = 2, .tunables = tunables };
	struct resched_schedule s;

	(void)state;
	resched_schedule_recorded(NULL, &host, &s);
	assert_string_equal(s.kind, "recorded");
	assert_string_equal(s.policy, "eevdf");
	assert_int_equal(s.nr_knobs, 3);
	assert_string_equal(s.knobs[1].name, "RUN_TO_PARITY");
	assert_int_equal(s.knobs[1].value, 0);
	assert_int_equal(s.knobs[2].value, 1400000);
	resched_schedule_recorded(NULL, NULL, &s);
	assert_string_equal(s.policy, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(report_json_has_the_agreed_shape),
		cmocka_unit_test(compare_json_has_values_and_differences),
		cmocka_unit_test(a_difference_within_the_error_is_marked),
		cmocka_unit_test(csv_quotes_what_needs_it),
		cmocka_unit_test(text_cannot_harm_a_terminal),
		cmocka_unit_test(rows_are_sorted_and_cut),
		cmocka_unit_test(an_unknown_sort_key_is_refused),
		cmocka_unit_test(perf_style_has_the_columns_of_perf),
		cmocka_unit_test(schbench_style_has_its_percentiles),
		cmocka_unit_test(compare_text_says_who_gets_worse),
		cmocka_unit_test(compare_tells_nothing_from_zero),
		cmocka_unit_test(a_full_disk_is_an_error),
		cmocka_unit_test(texts_are_cut_by_characters),
		cmocka_unit_test(tables_line_up),
		cmocka_unit_test(counts_have_separators),
		cmocka_unit_test(recorded_schedule_takes_over_features_and_tunables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
