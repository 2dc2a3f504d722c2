/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a writer knows of tasks: the name each has now, and whether a reader of the file will know it.
 *
 * The stream tells names apart from the events; in a file they stand in the records. So a name that is told waits for the next
 * record that names its task, where a reader will find it at the same moment. Grows with tasks.
 */
#ifndef RS_CAPTURE_WRITER_NAMES_H
#define RS_CAPTURE_WRITER_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "capture/writer_texts.h"

struct rs_wr_task {
	int32_t pid;
	int16_t prio;			/* last seen */
	bool named;			/* has a name */
	bool told;			/* a record carried it */
	bool early;			/* needed before any record named the task: belongs into the list of command lines */
	bool own;			/* of the recorder */
	char comm[RS_WR_COMM], early_comm[RS_WR_COMM];	/* all bytes after the end are 0 */
};

struct rs_wr_tasks {
	struct rs_map index;		/* pid -> task */
	uint32_t nr, room;
	struct rs_wr_task *tasks;
};

/* rs_wr_task() - the task with @pid, made when there is none. Valid until the next call. Return: NULL: no memory. */
struct rs_wr_task *rs_wr_task(struct rs_wr_tasks *tasks, int32_t pid);

/* rs_wr_comm() - a copy of the name into the field @to: "swapper/CPU" for pid 0, "<...>" for who has none. The task counts as told. */
int rs_wr_comm(struct rs_wr_tasks *tasks, int32_t pid, unsigned int cpu, char to[RS_WR_COMM]);

/* rs_wr_set_comm() - copy a text into a field, cut where it is too long. */
void rs_wr_set_comm(char to[RS_WR_COMM], const char *text);

void rs_wr_tasks_release(struct rs_wr_tasks *tasks);

#endif
