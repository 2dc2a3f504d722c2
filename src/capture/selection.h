/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whose events are wanted: pids given, tasks whose name matches a glob, tasks of a cgroup and the cgroups in it. Found when the
 * recording begins; what they fork is followed by the kernel.
 */
#ifndef RS_CAPTURE_SELECTION_H
#define RS_CAPTURE_SELECTION_H

#include <stdbool.h>

#include <resched/capture.h>

struct rs_selection {
	bool active;		/* only @pids, else all */
	unsigned int nr, room;	int *pids;
};

/*
 * rs_selection_find() - what @opts asks for.
 * @open: tasks may join later, so none at all is no mistake
 * Return: 0; -ESRCH, -EINVAL, -ENOENT (USAGE: no such task or cgroup, nothing that matches); -ENOMEM.
 */
int rs_selection_find(struct rs_selection *sel, const struct resched_record_options *opts, bool open, struct resched_error *err);

/* rs_selection_glob() - does a task's name match one of the globs? */
bool rs_selection_glob(const struct resched_record_options *opts, const char *comm);

void rs_selection_release(struct rs_selection *sel);

#endif
