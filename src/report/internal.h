/* SPDX-License-Identifier: GPL-2.0-only */
/* The forms a report can take; report.c chooses. All return 0, -EINVAL (USAGE), -ENOMEM, or what writing to @out failed with. */
#ifndef RS_REPORT_INTERNAL_H
#define RS_REPORT_INTERNAL_H

#include <stdbool.h>
#include <resched/report.h>

int rs_report_json(FILE *out, const struct resched_source *source, const struct resched_schedule *schedule,
		   const struct resched_report *report, struct resched_error *err);
int rs_report_csv(FILE *out, const struct resched_report *report, const struct resched_print_options *opts, struct resched_error *err);
const char *rs_move_reason(unsigned int reason);	/* of enum resched_move_reason */
const char *rs_move_distance(unsigned int distance);
int rs_report_table(FILE *out, const struct resched_source *source, const struct resched_schedule *schedule,
		    const struct resched_report *report, const struct resched_print_options *opts, struct resched_error *err);
int rs_report_perf(FILE *out, const struct resched_report *report, const struct resched_print_options *opts, struct resched_error *err);
int rs_report_schbench(FILE *out, const struct resched_report *report, struct resched_error *err);

/* rs_head_source() - the lines that tell what was read: file, kernel, span, events, losses. @source may be NULL. */
void rs_head_source(FILE *out, const struct resched_source *source, bool color);
/* rs_schedule_text() - "eevdf, rules of 6.12, placement recorded". */
void rs_schedule_text(const struct resched_schedule *schedule, char *buf, size_t size);

#endif
