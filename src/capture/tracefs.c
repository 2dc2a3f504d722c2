// SPDX-License-Identifier: GPL-2.0-only
#include "capture/tracefs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tracefs.h>

#include "base/error.h"
#include "capture/files.h"

#define TRACEFS_DIR	"/sys/kernel/tracing"
#define MOUNT_COMMAND	"mount -t tracefs nodev " TRACEFS_DIR
#define INSTANCE_PREFIX	"resched-"
#define INSTANCE_TRIES	64

/* What the model needs; see resched/event.h for what becomes of each. */
static const struct {
	const char *system, *event;
	enum resched_detail from;	/* recorded from this detail on */
} sched_events[] = {
	{ "sched", "sched_switch", RESCHED_DETAIL_MINIMAL },
	{ "sched", "sched_waking", RESCHED_DETAIL_MINIMAL },
	{ "sched", "sched_wakeup", RESCHED_DETAIL_MINIMAL },
	{ "sched", "sched_wakeup_new", RESCHED_DETAIL_MINIMAL },
	{ "sched", "sched_migrate_task", RESCHED_DETAIL_MINIMAL },
	{ "sched", "sched_process_fork", RESCHED_DETAIL_MINIMAL },
	{ "sched", "sched_process_exec", RESCHED_DETAIL_MINIMAL },
	{ "sched", "sched_process_exit", RESCHED_DETAIL_MINIMAL },
	{ "sched", "sched_pi_setprio", RESCHED_DETAIL_MINIMAL },
	{ "task", "task_rename", RESCHED_DETAIL_MINIMAL },
	{ "sched", "sched_stat_runtime", RESCHED_DETAIL_NORMAL },
};

/* @mode: of access(), for the folder that it is mounted on */
static bool find_mount(int mode)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent entry;
	char text[4096];
	bool found = false;

	if (!mounts)
		return false;
	while (!found && getmntent_r(mounts, &entry, text, sizeof(text)))
		found = strcmp(entry.mnt_type, "tracefs") == 0 && rs_access(entry.mnt_dir, mode) == 0;
	endmntent(mounts);
	return found;
}

bool rs_tracefs_mounted(void)
{
	return find_mount(F_OK);
}

bool rs_tracefs_readable(void)
{
	return find_mount(R_OK | X_OK);
}

static int mount_tracefs(struct resched_error *err)
{
	if (mount("nodev", TRACEFS_DIR, "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0)
		return 0;
	if (errno == EBUSY && rs_tracefs_mounted())
		return 0;	/* somebody else was quicker */
	if (errno == EPERM || errno == EACCES)
		return rs_error_set(err, RESCHED_DENIED, -errno,
				    "tracefs is not mounted and mounting it needs CAP_SYS_ADMIN; "
				    "run '" MOUNT_COMMAND "' as root, then record as root");
	if (errno == ENOENT || errno == ENODEV)
		return rs_error_set(err, RESCHED_DENIED, -ENODEV,
				    "no tracefs: this kernel was built without tracing or /sys is "
				    "not mounted; it needs CONFIG_FTRACE and '" MOUNT_COMMAND "'");
	return rs_error_set(err, RESCHED_DENIED, -errno,
			    "cannot mount tracefs at " TRACEFS_DIR " (" MOUNT_COMMAND "):");
}

/* EACCES comes from file modes, EPERM from a missing capability or from lockdown. */
static int denied(struct resched_error *err, int rc, const char *path)
{
	if (rc == -EPERM)
		return rs_error_set(err, RESCHED_DENIED, rc,
				    "not permitted to use '%s': it needs CAP_SYS_ADMIN, and kernel "
				    "lockdown 'confidentiality' forbids it "
				    "(see /sys/kernel/security/lockdown)",
				    path);
	return rs_error_set(err, RESCHED_DENIED, rc,
			    "no permission for '%s': run as root, or give your group access once "
			    "with 'mount -o remount,gid=GROUP,mode=0775 " TRACEFS_DIR "'",
			    path);
}

int rs_tracefs_ready(struct resched_error *err)
{
	char path[PATH_MAX];
	const char *dir;
	int fd;

	if (!rs_tracefs_mounted()) {
		int rc = mount_tracefs(err);

		if (rc < 0)
			return rc;
	}
	dir = tracefs_tracing_dir();
	if (!dir)
		return rs_error_set(err, RESCHED_DENIED, -ENODEV,
				    "tracefs is mounted but cannot be found; try '" MOUNT_COMMAND
				    "'");
	snprintf(path, sizeof(path), "%s/instances", dir);
	if (rs_access(path, W_OK | X_OK) < 0)
		return errno == ENOENT ?
			rs_error_set(err, RESCHED_DENIED, -ENODEV, "'%s' does not exist: the kernel has no ftrace instances", path) :
			denied(err, -errno, path);
	/* lockdown lets the folder be listed and refuses to open the files */
	snprintf(path, sizeof(path), "%s/trace_clock", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return denied(err, -errno, path);
	close(fd);
	return 0;
}

/* The pid in "resched-PID" or "resched-PID-N"; 0 when the instance is not ours. */
static int owner_of(const char *name)
{
	char *end;
	long pid;

	if (strncmp(name, INSTANCE_PREFIX, strlen(INSTANCE_PREFIX)) != 0 ||
	    !isdigit((unsigned char)name[strlen(INSTANCE_PREFIX)]))
		return 0;
	pid = strtol(name + strlen(INSTANCE_PREFIX), &end, 10);
	if ((*end && *end != '-') || pid <= 0 || pid > INT_MAX)
		return 0;
	return (int)pid;
}

unsigned int rs_instance_sweep(void)
{
	unsigned int removed = 0;
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/instances", tracefs_tracing_dir());
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		int pid = owner_of(entry->d_name);

		if (!pid || kill(pid, 0) == 0 || errno != ESRCH)
			continue;
		/* the kernel refuses with EBUSY while anybody has a file of it open, e.g. a
		 * recorder of another pid namespace */
		snprintf(path, sizeof(path), "%s/instances/%s", tracefs_tracing_dir(),
			 entry->d_name);
		if (rmdir(path) == 0)
			removed++;
	}
	if (dir)
		closedir(dir);
	return removed;
}

static int instance_write(struct rs_instance *instance, const char *file, const char *text,
			  struct resched_error *err)
{
	char path[PATH_MAX];
	int rc;

	snprintf(path, sizeof(path), "%s/%s", instance->dir, file);
	rc = rs_file_write(path, text);
	if (rc == -EPERM || rc == -EACCES)
		return denied(err, rc, path);
	if (rc < 0)
		return rs_error_set(err, RESCHED_FAILED, rc, "cannot write '%s' to '%s':", text, path);
	return 0;
}

int rs_instance_create(struct rs_instance *instance, struct resched_error *err)
{
	const char *dir = tracefs_tracing_dir();
	char name[64], path[PATH_MAX];
	int i, rc;

	memset(instance, 0, sizeof(*instance));
	for (i = 0; i < INSTANCE_TRIES && !instance->handle; i++) {
		if (i)
			snprintf(name, sizeof(name), INSTANCE_PREFIX "%d-%d", (int)getpid(), i);
		else
			snprintf(name, sizeof(name), INSTANCE_PREFIX "%d", (int)getpid());
		snprintf(path, sizeof(path), "%s/instances/%s", dir, name);
		if (mkdir(path, 0750) < 0) {
			if (errno == EEXIST)
				continue;	/* another recording of this process, or a reused pid */
			if (errno == EPERM || errno == EACCES)
				return denied(err, -errno, path);
			return rs_error_set(err, RESCHED_FAILED, -errno,
					    "cannot create the ftrace instance '%s':", path);
		}
		instance->handle = tracefs_instance_create(name);
		if (!instance->handle) {
			rmdir(path);
			return rs_error_nomem(err);
		}
	}
	if (!instance->handle)
		return rs_error_set(err, RESCHED_FAILED, -EEXIST,
				    "cannot create an ftrace instance: %d of this process exist "
				    "already in '%s/instances'",
				    INSTANCE_TRIES, dir);
	instance->dir = strdup(path);
	if (!instance->dir) {
		rs_instance_remove(instance);
		return rs_error_nomem(err);
	}
	rc = instance_write(instance, "tracing_on", "0", err);
	if (rc == 0)
		rc = instance_write(instance, "trace_clock", "mono", err);
	/* Overwriting is what leaves a mark in the pages where events were lost; without it the
	 * newest vanish silently. */
	if (rc == 0)
		rc = instance_write(instance, "options/overwrite", "1", err);
	if (rc < 0)
		rs_instance_remove(instance);
	return rc;
}

static int add_system(struct rs_instance *instance, const char *system, struct resched_error *err)
{
	char **grown;
	unsigned int i;

	for (i = 0; i < instance->nr_systems; i++) {
		if (strcmp(instance->systems[i], system) == 0)
			return 0;
	}
	grown = realloc(instance->systems, (instance->nr_systems + 1) * sizeof(*grown));
	if (!grown)
		return rs_error_nomem(err);
	instance->systems = grown;
	grown[instance->nr_systems] = strdup(system);
	if (!grown[instance->nr_systems])
		return rs_error_nomem(err);
	instance->nr_systems++;
	return 0;
}

/* @event NULL: all of the system. */
static int enable(struct rs_instance *instance, const char *system, const char *event,
		  struct resched_error *err)
{
	char file[512];
	int rc;

	if (event)
		snprintf(file, sizeof(file), "events/%s/%s/enable", system, event);
	else
		snprintf(file, sizeof(file), "events/%s/enable", system);
	rc = instance_write(instance, file, "1", err);
	return rc < 0 ? rc : add_system(instance, system, err);
}

static bool has_event(const struct rs_instance *instance, const char *system, const char *event)
{
	char path[PATH_MAX];

	if (event)
		snprintf(path, sizeof(path), "%s/events/%s/%s/enable", instance->dir, system, event);
	else
		snprintf(path, sizeof(path), "%s/events/%s/enable", instance->dir, system);
	return access(path, F_OK) == 0;
}

/* An event's name comes from the command line and becomes part of a path. */
static bool is_plain_name(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (!isalnum((unsigned char)text[i]) && text[i] != '_' && text[i] != '-')
			return false;
	}
	return len > 0 && len < 128;
}

static int unknown_event(const char *text, struct resched_error *err)
{
	return rs_error_set(err, RESCHED_USAGE, -EINVAL,
			    "unknown event '%s': this kernel's events are listed in " TRACEFS_DIR
			    "/available_events (SYSTEM or SYSTEM:EVENT)",
			    text);
}

static int enable_extra(struct rs_instance *instance, const char *text, struct resched_error *err)
{
	const char *colon = strchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : strlen(text);
	char system[128];

	if (!is_plain_name(text, len) || (colon && !is_plain_name(colon + 1, strlen(colon + 1))))
		return unknown_event(text, err);
	memcpy(system, text, len);
	system[len] = '\0';
	if (strcmp(system, "ftrace") == 0 || !has_event(instance, system, colon ? colon + 1 : NULL))
		return unknown_event(text, err);
	return enable(instance, system, colon ? colon + 1 : NULL, err);
}

int rs_instance_events(struct rs_instance *instance, const struct resched_record_options *opts,
		       rs_warn_fn warn, void *warn_ctx, struct resched_error *err)
{
	unsigned int i;
	size_t k;
	int rc;

	for (i = 0; i < opts->nr_extra; i++) {
		rc = enable_extra(instance, opts->extra[i], err);
		if (rc < 0)
			return rc;
	}
	for (k = 0; k < sizeof(sched_events) / sizeof(sched_events[0]); k++) {
		const char *system = sched_events[k].system, *event = sched_events[k].event;
		char text[160];

		if (opts->detail < sched_events[k].from)
			continue;
		if (!has_event(instance, system, event)) {
			if (strcmp(event, "sched_switch") == 0)
				return rs_error_set(err, RESCHED_FAILED, -ENODEV,
						    "this kernel has no event sched:sched_switch");
			snprintf(text, sizeof(text),
				 "this kernel has no event %s:%s; the recording does without",
				 system, event);
			warn(warn_ctx, text);
			continue;
		}
		rc = enable(instance, system, event, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int rs_instance_follow(struct rs_instance *instance, unsigned int nr_pids, const int *pids)
{
	char path[PATH_MAX], text[16];
	unsigned int i;
	int rc = 0;

	snprintf(path, sizeof(path), "%s/set_event_pid", instance->dir);
	for (i = 0; i < nr_pids && rc == 0; i++) {
		snprintf(text, sizeof(text), "%d", pids[i]);
		rc = rs_file_append(path, text);
	}
	return rc;
}

int rs_instance_disable(struct rs_instance *instance, const char *event)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/events/%s/enable", instance->dir, event);
	return rs_file_write(path, "0");
}

int rs_instance_shed_extra(struct rs_instance *instance)
{
	unsigned int i;
	int rc = 0;

	for (i = 0; i < instance->nr_systems && rc == 0; i++) {
		if (strcmp(instance->systems[i], "sched") != 0 && strcmp(instance->systems[i], "task") != 0)
			rc = rs_instance_disable(instance, instance->systems[i]);
	}
	return rc;
}

static int filter_pids(struct rs_instance *instance, unsigned int nr_pids, const int *pids,
		       struct resched_error *err)
{
	int rc = instance_write(instance, "options/event-fork", "1", err);

	if (rc < 0)
		return rc;
	rc = rs_instance_follow(instance, nr_pids, pids);
	return rc < 0 ? rs_error_set(err, RESCHED_FAILED, rc, "cannot follow pid %d and others:", pids[0]) : 0;
}

/* The kernel's form of a cpu mask: words of 32 bits in hex, the most significant first. */
static int filter_cpus(struct rs_instance *instance, const struct rs_cpuset *cpus,
		       struct resched_error *err)
{
	unsigned int words = 1, i;
	char *text, *at;
	int rc;

	for (i = 0; i < RS_MAX_CPUS; i++) {
		if (rs_cpuset_has(cpus, i))
			words = i / 32 + 1;
	}
	text = malloc(words * 9 + 1);
	if (!text)
		return rs_error_nomem(err);
	at = text;
	for (i = words; i-- > 0;)
		at += snprintf(at, 10, "%08x%s", (unsigned int)(cpus->bits[i / 2] >> (i % 2 * 32)),
			       i ? "," : "");
	rc = instance_write(instance, "tracing_cpumask", text, err);
	free(text);
	return rc;
}

int rs_instance_filter(struct rs_instance *instance, unsigned int nr_pids, const int *pids,
		       const struct rs_cpuset *cpus, struct resched_error *err)
{
	int rc = nr_pids ? filter_pids(instance, nr_pids, pids, err) : 0;

	if (rc == 0 && cpus)
		rc = filter_cpus(instance, cpus, err);
	return rc;
}

int rs_instance_buffer(struct rs_instance *instance, uint64_t kb, struct resched_error *err)
{
	char text[32], path[PATH_MAX];
	int rc;

	snprintf(text, sizeof(text), "%llu", (unsigned long long)kb);
	snprintf(path, sizeof(path), "%s/buffer_size_kb", instance->dir);
	rc = rs_file_write(path, text);
	if (rc < 0)
		return rs_error_set(
			err, rc == -EINVAL ? RESCHED_USAGE : RESCHED_FAILED, rc,
			"cannot get ring buffers of %s KiB a cpu; ask for less with --buffer (%s)",
			text, strerror(-rc));
	return 0;
}

int rs_instance_switch(struct rs_instance *instance, bool on, struct resched_error *err)
{
	return instance_write(instance, "tracing_on", on ? "1" : "0", err);
}

static uint64_t stat_of(const char *text, const char *name)
{
	const char *line = text;
	size_t len = strlen(name);

	while (line) {
		if (strncmp(line, name, len) == 0 && line[len] == ':')
			return strtoull(line + len + 1, NULL, 10);
		line = strchr(line, '\n');
		if (line)
			line++;
	}
	return 0;
}

int rs_instance_stats(const struct rs_instance *instance, unsigned int cpu,
		      struct rs_instance_stats *ret)
{
	char path[PATH_MAX];
	int rc;

	memset(ret, 0, sizeof(*ret));
	snprintf(path, sizeof(path), "%s/per_cpu/cpu%u/stats", instance->dir, cpu);
	rc = rs_file_read(path, ret->text, sizeof(ret->text));
	if (rc < 0)
		return rc;
	ret->entries = stat_of(ret->text, "entries");
	ret->overrun = stat_of(ret->text, "overrun");
	ret->commit_overrun = stat_of(ret->text, "commit overrun");
	ret->dropped = stat_of(ret->text, "dropped events");
	ret->read = stat_of(ret->text, "read events");
	return 0;
}

void rs_instance_remove(struct rs_instance *instance)
{
	unsigned int i;

	if (instance->handle) {
		tracefs_instance_destroy(instance->handle);
		tracefs_instance_free(instance->handle);
	}
	for (i = 0; i < instance->nr_systems; i++)
		free(instance->systems[i]);
	free(instance->systems);
	free(instance->dir);
	memset(instance, 0, sizeof(*instance));
}
