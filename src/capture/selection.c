// SPDX-License-Identifier: GPL-2.0-only
#include "capture/selection.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "capture/files.h"

#define CGROUP_DEPTH 32
#define THREADS_LIMIT (16u << 20)

static int add(struct rs_selection *sel, int pid)
{
	if (sel->nr == sel->room) {
		unsigned int room = sel->room ? 2 * sel->room : 64;
		int *grown = realloc(sel->pids, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		sel->pids = grown;
		sel->room = room;
	}
	sel->pids[sel->nr++] = pid;
	return 0;
}

static bool is_leader(int pid)
{
	char path[64], text[4096], *tgid;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (rs_file_read(path, text, sizeof(text)) <= 0)
		return false;
	tgid = strstr(text, "\nTgid:");
	return tgid && strtol(tgid + strlen("\nTgid:"), NULL, 10) == pid;
}

/* A process is all its threads; a thread that is not its first is itself alone. */
static int add_process(struct rs_selection *sel, int pid)
{
	char path[64];
	struct dirent *entry;
	DIR *dir;
	int rc = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	/* /proc/TID shows the threads of the process as well: which of them leads it is the question */
	dir = is_leader(pid) ? opendir(path) : NULL;
	if (!dir)
		return add(sel, pid);
	while (rc == 0 && (entry = readdir(dir))) {
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			rc = add(sel, (int)strtol(entry->d_name, NULL, 10));
	}
	closedir(dir);
	return rc;
}

static int find_pids(struct rs_selection *sel, const struct resched_record_options *opts, struct resched_error *err)
{
	unsigned int i;

	for (i = 0; i < opts->nr_pids; i++) {
		if (opts->pids[i] <= 0)
			return rs_error_set(err, RESCHED_USAGE, -EINVAL, "cannot follow pid %d; pids are 1 and more", opts->pids[i]);
		if (kill(opts->pids[i], 0) < 0 && errno == ESRCH)
			return rs_error_set(err, RESCHED_USAGE, -ESRCH, "cannot follow pid %d: no such task", opts->pids[i]);
		if (add_process(sel, opts->pids[i]) < 0)
			return rs_error_nomem(err);
	}
	return 0;
}

bool rs_selection_glob(const struct resched_record_options *opts, const char *comm)
{
	unsigned int i;

	for (i = 0; i < opts->nr_comms; i++) {
		if (fnmatch(opts->comms[i], comm, 0) == 0)
			return true;
	}
	return false;
}

static int match_process(struct rs_selection *sel, const struct resched_record_options *opts, const char *pid)
{
	char path[64 + 2 * NAME_MAX], comm[64];
	struct dirent *entry;
	DIR *dir;
	int rc = 0;

	snprintf(path, sizeof(path), "/proc/%s/task", pid);
	dir = opendir(path);
	while (dir && rc == 0 && (entry = readdir(dir))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/task/%s/comm", pid, entry->d_name);
		if (rs_file_read(path, comm, sizeof(comm)) >= 0 && rs_selection_glob(opts, comm))
			rc = add(sel, (int)strtol(entry->d_name, NULL, 10));
	}
	if (dir)
		closedir(dir);
	return rc;
}

static int find_comms(struct rs_selection *sel, const struct resched_record_options *opts)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int rc = 0;

	while (dir && rc == 0 && (entry = readdir(dir))) {
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			rc = match_process(sel, opts, entry->d_name);
	}
	if (dir)
		closedir(dir);
	return rc;
}

/* Its threads, or its tasks in a hierarchy of version 1. */
static int read_threads(struct rs_selection *sel, const char *folder)
{
	static const char *const files[] = { "cgroup.threads", "tasks", "cgroup.procs" };
	char path[PATH_MAX], *text = NULL, *at, *end;
	size_t len, i;
	int rc = 0;

	for (i = 0; i < sizeof(files) / sizeof(files[0]) && !text; i++) {
		if (snprintf(path, sizeof(path), "%s/%s", folder, files[i]) >= (int)sizeof(path) ||
		    rs_file_read_all(path, THREADS_LIMIT, &text, &len) < 0)
			text = NULL;
	}
	for (at = text; at && *at && rc == 0; at = *end ? end + 1 : end) {
		long pid = strtol(at, &end, 10);

		if (end == at)
			break;
		if (pid > 0 && pid <= INT_MAX)
			rc = add(sel, (int)pid);
	}
	free(text);
	return rc;
}

static int walk_cgroup(struct rs_selection *sel, const char *folder, int depth)
{
	int rc = read_threads(sel, folder);
	struct dirent *entry;
	DIR *dir = depth < CGROUP_DEPTH ? opendir(folder) : NULL;

	while (dir && rc == 0 && (entry = readdir(dir))) {
		char path[PATH_MAX];
		struct stat st;

		if (entry->d_name[0] == '.' || snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) >= (int)sizeof(path))
			continue;
		if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
			rc = walk_cgroup(sel, path, depth + 1);
	}
	if (dir)
		closedir(dir);
	return rc;
}

/* A path as /proc/PID/cgroup tells it, or the folder itself. */
static int find_cgroup(struct rs_selection *sel, const char *cgroup, struct resched_error *err)
{
	static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/cpu", "" };
	char path[PATH_MAX];
	size_t i;

	for (i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		struct stat st;

		if (strstr(cgroup, "..") || (!*mounts[i] && strncmp(cgroup, "/sys/fs/cgroup/", 15) != 0))
			continue;
		if (snprintf(path, sizeof(path), "%s%s%s", mounts[i], *cgroup == '/' || !*mounts[i] ? "" : "/", cgroup) >= (int)sizeof(path))
			continue;
		if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
			return walk_cgroup(sel, path, 0) < 0 ? rs_error_nomem(err) : 0;
	}
	return rs_error_set(err, RESCHED_USAGE, -ENOENT, "no cgroup '%s' below /sys/fs/cgroup; /proc/PID/cgroup tells those of a task", cgroup);
}

int rs_selection_find(struct rs_selection *sel, const struct resched_record_options *opts, bool open, struct resched_error *err)
{
	unsigned int i;
	int rc;

	memset(sel, 0, sizeof(*sel));
	sel->active = opts->nr_pids || opts->nr_comms || opts->nr_cgroups;
	rc = find_pids(sel, opts, err);
	for (i = 0; i < opts->nr_cgroups && rc == 0; i++)
		rc = find_cgroup(sel, opts->cgroups[i], err);
	if (rc == 0 && opts->nr_comms && find_comms(sel, opts) < 0)
		rc = rs_error_nomem(err);
	if (rc == 0 && sel->active && !sel->nr && !open)
		rc = rs_error_set(err, RESCHED_USAGE, -ESRCH, "no task matches '%s'; tracefs can only follow tasks that live when recording begins",
				  opts->nr_comms ? opts->comms[0] : opts->cgroups[0]);
	return rc;
}

void rs_selection_release(struct rs_selection *sel)
{
	free(sel->pids);
	memset(sel, 0, sizeof(*sel));
}
