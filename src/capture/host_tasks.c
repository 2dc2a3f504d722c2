// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every thread of the machine: its class, weight, slice, cpus and groups. None of that shows in the
 * events, and a model without it decides wrongly from the first pick on.
 *
 * A thread costs two small files and two system calls, a process two more files. Threads that end
 * meanwhile are left out.
 */
#include "capture/host_internal.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cpulist.h"
#include "base/map.h"
#include "capture/files.h"

#define KTHREAD_FLAG	0x00200000ul	/* PF_KTHREAD, include/linux/sched.h */
#define CMDLINE_LEN	256u
#define POLICY_OTHER	0
#define POLICY_BATCH	3
#define SLICE_MAX_NS	1000000000ull	/* beyond: not a slice */

/* struct sched_attr as of its first version; newer kernels fill as much as is asked for. */
struct attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/* State of one pass over /proc. */
struct task_pass {
	struct rs_host_reader *reader;
	struct rs_cpuset online;
	uint64_t base_slice_ns;		/* 0: unknown */
	struct rs_map custom;		/* pid -> has a slice of its own, by sched/debug */
	int autogroup, autogroup_nice;	/* of the process being read */
	unsigned int nr_slices_seen;	/* fair threads that told a slice */
};

/* Fields of stat behind the name, which may hold blanks and brackets. Return: 0; -EBADMSG. */
static int parse_stat(char *text, struct resched_host_task *task)
{
	char *open = strchr(text, '('), *close = strrchr(text, ')'), *field, *save = NULL;
	unsigned long flags = 0;
	int index = 3;

	if (!open || !close || close < open)
		return -EBADMSG;
	*close = '\0';
	snprintf(task->comm, sizeof(task->comm), "%s", open + 1);
	for (field = strtok_r(close + 1, " ", &save); field;
	     field = strtok_r(NULL, " ", &save), index++) {
		if (index == 3)
			task->state = field[0];
		else if (index == 9)
			flags = strtoul(field, NULL, 10);
		else if (index == 19)
			task->nice = (int)strtol(field, NULL, 10);
		else if (index == 40)
			task->rt_priority = (int)strtol(field, NULL, 10);
		else if (index == 41)
			task->policy = (int)strtol(field, NULL, 10);
	}
	task->kthread = !!(flags & KTHREAD_FLAG);
	return index > 41 ? 0 : -EBADMSG;
}

/* cgroup v2's path, or that of v1's cpu controller where it is the one in charge.
 * "ID:CONTROLLERS:PATH" a line. */
static char *parse_cgroup(const char *text)
{
	const char *line = text, *found = NULL;

	while (*line) {
		const char *end = strchrnul(line, '\n'),
			   *name = memchr(line, ':', (size_t)(end - line));
		const char *path = name ? memchr(name + 1, ':', (size_t)(end - name - 1)) : NULL;

		if (path) {
			size_t len = (size_t)(path - name - 1);
			bool is_cpu = (len >= 3 && strncmp(name + 1, "cpu", 3) == 0 &&
				       (len == 3 || name[4] == ',')) ||
				      (len > 4 && strncmp(path - 4, ",cpu", 4) == 0);

			if (is_cpu || (!len && !found))
				found = path + 1;
			if (is_cpu)
				break;
		}
		line = *end ? end + 1 : end;
	}
	return found ? strndup(found, strcspn(found, "\n")) : NULL;
}

/* "/autogroup-25 nice 0"; nothing for tasks outside (root group has "/"). */
static void read_autogroup(struct task_pass *pass, const char *pid)
{
	char text[128];
	int id, nice;

	pass->autogroup = -1;
	pass->autogroup_nice = 0;
	if (rs_host_path_read(pass->reader, text, sizeof(text), "/proc/%s/autogroup", pid) > 0 &&
	    sscanf(text, "/autogroup-%d nice %d", &id, &nice) == 2) {
		pass->autogroup = id;
		pass->autogroup_nice = nice;
	}
}

/* The affinity in list form; NULL when it is all cpus. Return: 0; -errno. */
static int read_affinity(const struct task_pass *pass, int tid, char **ret)
{
	struct rs_cpuset allowed = { { 0 } };
	char text[8192];
	unsigned int i;

	*ret = NULL;
	if (syscall(SYS_sched_getaffinity, tid, sizeof(allowed), &allowed) < 0)
		return -errno;
	for (i = 0; i < RS_MAX_CPUS; i++) {
		if (rs_cpuset_has(&pass->online, i) && !rs_cpuset_has(&allowed, i)) {
			rs_cpulist_format(&allowed, text, sizeof(text));
			*ret = strdup(text);
			return *ret ? 0 : -ENOMEM;
		}
	}
	return 0;
}

/*
 * From 6.12 on sched_getattr() tells every fair task's slice, also the default one
 * (kernel/sched/syscalls.c, get_params()). sched/debug marks custom ones. Without it a slice is
 * custom when it is not the base slice; tasks that have not run since boot may still hold the
 * unscaled base slice, 1/2, 1/3 or 1/4 of it.
 */
static uint64_t custom_slice(struct task_pass *pass, int tid, uint64_t slice_ns)
{
	uint32_t custom = rs_map_get(&pass->custom, (uint32_t)tid);
	unsigned int part;

	if (slice_ns == 0 || slice_ns > SLICE_MAX_NS)
		return 0;
	pass->nr_slices_seen++;
	if (custom != RS_MAP_NONE)
		return custom ? slice_ns : 0;
	if (!pass->base_slice_ns)
		return 0;
	for (part = 1; part <= 4; part++) {
		if (slice_ns == pass->base_slice_ns / part)
			return 0;
	}
	return slice_ns;
}

static int ask_kernel(struct task_pass *pass, struct resched_host_task *task)
{
	struct attr attr = { .size = sizeof(attr) };

	if (syscall(SYS_sched_getattr, task->pid, &attr, sizeof(attr), 0) == 0 &&
	    (attr.policy == POLICY_OTHER || attr.policy == POLICY_BATCH))
		task->slice_ns = custom_slice(pass, task->pid, attr.runtime);
	return read_affinity(pass, task->pid, &task->affinity);
}

/* What the process was started as; NULL for a kernel thread, and for a process that has hidden it. */
static char *read_cmdline(struct task_pass *pass, const char *pid)
{
	char text[CMDLINE_LEN];
	ssize_t len = rs_host_path_read(pass->reader, text, sizeof(text), "/proc/%s/cmdline", pid);

	while (len > 0 && !text[len - 1])
		len--;
	for (ssize_t i = 0; i < len; i++) {
		if ((unsigned char)text[i] < ' ')
			text[i] = ' ';
	}
	return len > 0 ? strndup(text, (size_t)len) : NULL;
}

static void drop_task(struct resched_host_task *task)
{
	free(task->cmdline);
	free(task->affinity);
	free(task->cgroup);
}

/* Return: 0, also when the thread has gone; -ENOMEM. */
static int read_thread(struct task_pass *pass, const char *pid, const char *tid)
{
	struct resched_host *host = pass->reader->host;
	struct resched_host_task task = { .pid = (int)strtol(tid, NULL, 10),
					  .tgid = (int)strtol(pid, NULL, 10) };
	char text[8192];

	if (rs_host_path_read(pass->reader, text, sizeof(text), "/proc/%s/task/%s/stat", pid,
			      tid) <= 0 ||
	    parse_stat(text, &task) < 0)
		return 0;
	task.autogroup = pass->autogroup;
	task.autogroup_nice = pass->autogroup_nice;
	if (rs_host_path_read(pass->reader, text, sizeof(text), "/proc/%s/task/%s/cgroup", pid,
			      tid) > 0)
		task.cgroup = parse_cgroup(text);
	if (task.pid == task.tgid && !task.kthread)
		task.cmdline = read_cmdline(pass, pid);
	if (pass->reader->live && ask_kernel(pass, &task) == -ESRCH) {
		drop_task(&task);
		return 0;
	}
	if (rs_host_grow(&host->tasks, host->nr_tasks, sizeof(*host->tasks)) < 0) {
		drop_task(&task);
		return -ENOMEM;
	}
	host->tasks[host->nr_tasks++] = task;
	return 0;
}

static int read_process(struct task_pass *pass, const char *pid)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;
	int rc = 0;

	snprintf(path, sizeof(path), "%s/proc/%s/task", pass->reader->root, pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	read_autogroup(pass, pid);
	while (rc == 0 && (entry = readdir(dir))) {
		if (isdigit((unsigned char)entry->d_name[0]))
			rc = read_thread(pass, pid, entry->d_name);
	}
	closedir(dir);
	return rc;
}

static int compare_tasks(const void *a, const void *b)
{
	const struct resched_host_task *left = a, *right = b;

	return (left->pid > right->pid) - (left->pid < right->pid);
}

static void base_slice_of(struct task_pass *pass)
{
	const char *value = resched_host_tunable(pass->reader->host, "base_slice_ns");
	unsigned int i;

	pass->base_slice_ns = value ? strtoull(value, NULL, 10) : 0;
	for (i = 0; i < pass->reader->host->nr_cpus; i++) {
		if (pass->reader->host->cpus[i].online)
			rs_cpuset_add(&pass->online, pass->reader->host->cpus[i].cpu);
	}
}

int rs_host_read_tasks(struct rs_host_reader *reader)
{
	struct task_pass pass = { .reader = reader };
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;
	int rc = 0;

	base_slice_of(&pass);
	if (reader->debug && rs_debug_slices(reader->debug, &pass.custom) < 0) {
		rs_map_release(&pass.custom);
		return -ENOMEM;
	}
	snprintf(path, sizeof(path), "%s/proc", reader->root);
	dir = opendir(path);
	while (dir && rc == 0 && (entry = readdir(dir))) {
		if (isdigit((unsigned char)entry->d_name[0]))
			rc = read_process(&pass, entry->d_name);
	}
	if (dir)
		closedir(dir);
	rs_map_release(&pass.custom);
	if (rc < 0)
		return rc;
	if (reader->host->nr_tasks == 0)
		return rs_host_unknown(reader, "tasks", "/proc is not readable");
	qsort(reader->host->tasks, reader->host->nr_tasks, sizeof(*reader->host->tasks), compare_tasks);
	if (pass.nr_slices_seen && !reader->debug && !pass.base_slice_ns)
		return rs_host_unknown(reader, "slices",
				       "tasks with a slice of their own cannot be told apart: "
				       "debugfs sched/debug is not readable");
	return 0;
}
