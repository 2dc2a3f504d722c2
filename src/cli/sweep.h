/* SPDX-License-Identifier: GPL-2.0-only */
/* Inside of `resched sweep`: points of the grid, each a command line of its own (grid.c), and those that run at a time (jobs.c). */
#ifndef CLI_SWEEP_H
#define CLI_SWEEP_H

#include "cli/cli.h"

#define SWEEP_MAX_KEYS 16u
#define SWEEP_MAX_POINTS 100000u

struct sweep_key { const char *name; unsigned int nr; char **values; };
struct sweep_grid { unsigned int nr; struct sweep_key keys[SWEEP_MAX_KEYS]; };

/* sweep_grid_parse() - "KEY=V,V". Return: 0; -EINVAL, -ENOMEM with @err filled. To sweep_grid_release() in any case. */
int sweep_grid_parse(const struct cli_texts *from, struct sweep_grid *ret, struct resched_error *err);
void sweep_grid_release(struct sweep_grid *grid);
uint64_t sweep_grid_points(const struct sweep_grid *grid);	/* 1 without keys */
/* sweep_grid_at() - the values of the @point-th point, one a key; the last key changes fastest. */
void sweep_grid_at(const struct sweep_grid *grid, uint64_t point, const char **values);

/* A command line, ended by NULL; every word is its own. */
struct sweep_command { unsigned int nr, room; char **words; bool failed; };
void sweep_command_add(struct sweep_command *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void sweep_command_release(struct sweep_command *c);
/* sweep_command_make() - what runs one point: the launcher, this program, replay, the options of all and the values of the point.
 * *@ret_own: the number of words before the program. Return: 0; -ENOMEM. */
int sweep_command_make(const struct cli_args *args, const char *file, const struct sweep_grid *grid, const char *const *values,
		       struct sweep_command *ret, unsigned int *ret_own);
/* sweep_command_hash() - what must be the same for a result to be taken again: the words from @own on, the file, this version. */
uint64_t sweep_command_hash(const struct sweep_command *c, unsigned int own, const char *file);

struct sweep_job { struct sweep_command command; char *result, *told; bool done; };	/* files: its output, and what it said when it failed */

/* sweep_jobs_run() - run those that are not done, @at_a_time of them. @done is set for those whose result is there then.
 * Return: 0; -errno with @err filled when none could be started any more. */
int sweep_jobs_run(struct sweep_job *jobs, unsigned int nr, unsigned int at_a_time, bool show, struct resched_error *err);

#endif
