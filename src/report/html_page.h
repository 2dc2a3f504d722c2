/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of the HTML export that are the same in every page: lines, each list ends in NULL. */
#ifndef RS_REPORT_HTML_PAGE_H
#define RS_REPORT_HTML_PAGE_H

extern const char *const rs_html_style[];
/*
 * Draws into the canvas what these tell, all of them set before it: T0, T1 (us, span shown), CPUS ([cpu number, ...]),
 * TASKS ([name, ...]), RUNS (for each cpu [task, begin, length, ...], begin counted from the end of the one before; task -1: idle,
 * -2: unknown), WAITS (for each task [kind, begin, length, ...]; kind 0: woken, 1: preempted).
 */
extern const char *const rs_html_script[];

#endif
