// SPDX-License-Identifier: GPL-2.0-only
/* Changes of the host: which of them a window has, and that they do not pile up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture/watch.h"

/* Change @i was seen between the looks at 1000 i and 1000 (i + 1). */
static void fill(struct rs_watch *w, unsigned int nr)
{
	memset(w, 0, sizeof(*w));
	w->found.changes = calloc(nr, sizeof(*w->found.changes));
	assert_non_null(w->found.changes);
	for (unsigned int i = 0; i < nr; i++) {
		char text[16];

		snprintf(text, sizeof(text), "%u", i);
		w->found.changes[i] = (struct resched_host_change){
			.after_ns = 1000u * i, .until_ns = 1000u * (i + 1), .pid = 7, .what = strdup("nice"), .from = strdup(text)
		};
	}
	w->found.nr_changes = nr;
}

static unsigned int rows_from(const struct rs_watch *w, uint64_t from, uint64_t to, unsigned int *ret_first)
{
	char *text = rs_watch_json(w, from, to);
	struct resched_host *host = NULL;
	unsigned int nr = 0;

	if (text) {
		assert_int_equal(resched_host_parse(text, strlen(text), &host, NULL), 0);
		nr = host->nr_changes;
		*ret_first = (unsigned int)strtoul(host->changes[0].from, NULL, 10);
		resched_host_free(host);
	}
	free(text);
	return nr;
}

static void a_window_has_what_may_be_in_it(void **state)
{
	unsigned int first = 99;
	struct rs_watch w;

	(void)state;
	fill(&w, 10);
	assert_int_equal(rows_from(&w, 0, UINT64_MAX, &first), 10);
	assert_int_equal(rows_from(&w, 3500, 5500, &first), 3);
	assert_int_equal(first, 3);
	assert_int_equal(rows_from(&w, 9500, 9600, &first), 1);
	assert_int_equal(first, 9);
	assert_int_equal(rows_from(&w, 10001, UINT64_MAX, &first), 0);
	assert_int_equal(w.found.nr_changes, 10);
	rs_watch_release(&w);
}

static void what_is_old_is_dropped(void **state)
{
	unsigned int first = 99;
	struct rs_watch w;

	(void)state;
	fill(&w, 10);
	rs_watch_forget(&w, 4000);
	assert_int_equal(rows_from(&w, 0, UINT64_MAX, &first), 7);
	assert_int_equal(first, 3);
	rs_watch_forget(&w, UINT64_MAX);
	assert_int_equal(rows_from(&w, 0, UINT64_MAX, &first), 0);
	rs_watch_release(&w);
	fill(&w, RS_WATCH_ROWS);
	rs_watch_forget(&w, 0);
	assert_int_equal(rows_from(&w, 0, UINT64_MAX, &first), RS_WATCH_ROWS / 2);
	assert_int_equal(first, RS_WATCH_ROWS / 2);
	rs_watch_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_window_has_what_may_be_in_it), cmocka_unit_test(what_is_old_is_dropped) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
