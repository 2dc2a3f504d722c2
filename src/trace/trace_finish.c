// SPDX-License-Identifier: GPL-2.0-only
/* What is told of a recording once all of it was read. */
#include "trace/trace_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_counts(const void *a, const void *b)
{
	return strcmp(((const struct resched_event_count *)a)->name, ((const struct resched_event_count *)b)->name);
}

/* Counts by name: events of different systems may share one. */
static int finish_counts(struct resched_trace *t)
{
	unsigned int nr = 0, out = 0;
	int rc = 0;

	t->counts = calloc(t->dec.nr_kinds, sizeof(*t->counts));
	if (!t->counts)
		return -ENOMEM;
	for (unsigned int i = 0; i < t->dec.nr_kinds; i++) {
		if (!t->dec.kinds[i].count)
			continue;
		t->counts[nr].name = strdup(t->dec.kinds[i].name);
		if (t->counts[nr].name)
			t->counts[nr++].count = t->dec.kinds[i].count;
		else
			rc = -ENOMEM;
	}
	qsort(t->counts, nr, sizeof(*t->counts), compare_counts);
	for (unsigned int i = 0; i < nr; i++) {
		if (out && !strcmp(t->counts[out - 1].name, t->counts[i].name)) {
			t->counts[out - 1].count += t->counts[i].count;
			free(t->counts[i].name);
		} else {
			t->counts[out++] = t->counts[i];
		}
	}
	t->source.events = t->counts;
	t->source.nr_events = out;
	return rc;
}

/* The parts of the source that are views of lists which grow. */
void rs_trace_refresh_source(struct resched_trace *t)
{
	t->source.damaged = t->notes.damaged;
	t->source.nr_warnings = t->notes.nr;
	t->source.warnings = (const char *const *)t->notes.lines;
}

/* Which of the events that a report stands on have no format: what is recorded of them is not understood. */
static void note_missing_formats(struct resched_trace *t)
{
	static const struct { enum rs_record record; const char *name; } needed[] = {
		{ RS_REC_SWITCH, "sched_switch" }, { RS_REC_WAKING, "sched_waking" }, { RS_REC_WAKEUP, "sched_wakeup" },
	};
	char missing[64] = "";

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		size_t at = strlen(missing);
		unsigned int k = 0;

		while (k < t->dec.nr_kinds && t->dec.kinds[k].record != needed[i].record)
			k++;
		if (k == t->dec.nr_kinds)
			snprintf(missing + at, sizeof(missing) - at, "%s%s", at ? ", " : "", needed[i].name);
	}
	/* trace-cmd stores the formats of all that it records: a few other ids among many that are known are damaged ones */
	if (!t->raw && !*missing && t->dec.kinds[0].count < t->source.total_events / 100) {
		rs_note_damage(&t->notes, "%llu events of %llu have ids that the recording has no format for: damaged; they are counted as 'unknown'",
			       (unsigned long long)t->dec.kinds[0].count, (unsigned long long)t->source.total_events);
		return;
	}
	rs_note(&t->notes, "%llu events have no format in the recording%s%s%s; they are counted as 'unknown'",
		(unsigned long long)t->dec.kinds[0].count, *missing ? " (there is none of " : "", missing, *missing ? ")" : "");
}

int rs_trace_finish(struct resched_trace *t)
{
	if (t->finished)
		return 0;
	t->finished = true;
	if (t->backwards)
		rs_note(&t->notes, "time ran backwards %llu times on one CPU; those events were moved to the time before them",
			(unsigned long long)t->backwards);
	if (t->shared.bad_pages)
		rs_note_damage(&t->notes, "%llu pages of events are damaged; what they held is lost", (unsigned long long)t->shared.bad_pages);
	if (t->short_records)
		rs_note_damage(&t->notes, "%llu records are shorter than their format says and were not decoded",
			       (unsigned long long)t->short_records);
	if (t->dec.kinds[0].count)
		note_missing_formats(t);
	for (unsigned int i = 0; i < t->nr_streams; i++)
		t->source.nr_observed += t->streams[i].seen;
	return finish_counts(t);
}
