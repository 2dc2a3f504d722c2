// SPDX-License-Identifier: GPL-2.0-only
#include "capture/writer_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRIO_DEFAULT 120	/* nice 0 */

struct rs_wr_task *rs_wr_task(struct rs_wr_tasks *tasks, int32_t pid)
{
	uint32_t at = rs_map_get(&tasks->index, (uint32_t)pid);

	if (at != RS_MAP_NONE)
		return &tasks->tasks[at];
	if (tasks->nr == tasks->room) {
		uint32_t room = tasks->room ? 2 * tasks->room : 256;
		struct rs_wr_task *grown = realloc(tasks->tasks, room * sizeof(*grown));

		if (!grown)
			return NULL;
		tasks->tasks = grown;
		tasks->room = room;
	}
	if (rs_map_set(&tasks->index, (uint32_t)pid, tasks->nr) < 0)
		return NULL;
	tasks->tasks[tasks->nr] = (struct rs_wr_task){ .pid = pid, .prio = PRIO_DEFAULT };
	return &tasks->tasks[tasks->nr++];
}

void rs_wr_set_comm(char to[RS_WR_COMM], const char *text)
{
	size_t len = strnlen(text, RS_WR_COMM - 1);

	memset(to, 0, RS_WR_COMM);
	memcpy(to, text, len);
}

int rs_wr_comm(struct rs_wr_tasks *tasks, int32_t pid, unsigned int cpu, char to[RS_WR_COMM])
{
	struct rs_wr_task *task;
	char idle[32];

	if (pid == 0) {
		snprintf(idle, sizeof(idle), "swapper/%u", cpu);
		rs_wr_set_comm(to, idle);
		return 0;
	}
	task = rs_wr_task(tasks, pid);
	if (!task)
		return -ENOMEM;
	if (task->named)
		memcpy(to, task->comm, RS_WR_COMM);
	else
		rs_wr_set_comm(to, "<...>");
	task->told = true;
	return 0;
}

void rs_wr_tasks_release(struct rs_wr_tasks *tasks)
{
	rs_map_release(&tasks->index);
	free(tasks->tasks);
	memset(tasks, 0, sizeof(*tasks));
}
