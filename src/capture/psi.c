// SPDX-License-Identifier: GPL-2.0-only
/* Pressure stall information: Documentation/accounting/psi.rst. The kernel measures, and tells by a descriptor. */
#include <resched/trigger.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"

#define PATH_BYTES 512

static int refused(const char *path, bool is_cgroup, const char *wanted, int rc, struct resched_error *err)
{
	if (is_cgroup && rc == -ENOENT)
		return rs_error_set(err, RESCHED_FAILED, rc, "there is no '%s': no such cgroup, or a kernel that does not measure pressure", path);
	switch (-rc) {
	case ENOENT:
	case EOPNOTSUPP:
		return rs_error_set(err, RESCHED_FAILED, rc, "this kernel does not measure pressure (%s); boot it with psi=1", path);
	case EACCES:
	case EPERM:
		return rs_error_set(err, RESCHED_DENIED, rc, "may not watch '%s'; it needs root or CAP_SYS_RESOURCE", path);
	case EINVAL:
		return rs_error_set(err, RESCHED_USAGE, rc, "the kernel refuses to watch for 'some' pressure of %s; without CAP_SYS_RESOURCE the "
				    "window has to be a multiple of 2s", wanted);
	default:
		return rs_error_set(err, RESCHED_FAILED, rc, "cannot watch '%s':", path);
	}
}

int resched_psi_open(enum resched_psi what, const char *cgroup, uint64_t stall_ns, uint64_t window_ns, struct resched_error *err)
{
	static const char *const names[] = { "cpu", "memory", "io" };
	char path[PATH_BYTES], text[64];
	int fd, rc, len = snprintf(text, sizeof(text), "some %llu %llu", (unsigned long long)stall_ns / 1000, (unsigned long long)window_ns / 1000);

	if (cgroup)
		rc = snprintf(path, sizeof(path), "/sys/fs/cgroup%s/%s.pressure", cgroup, names[what]);
	else
		rc = snprintf(path, sizeof(path), "/proc/pressure/%s", names[what]);
	if (rc >= (int)sizeof(path))
		return rs_error_set(err, RESCHED_USAGE, -ENAMETOOLONG, "cannot watch '%s':", path);
	fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return refused(path, cgroup, text + 5, -errno, err);
	if (write(fd, text, (size_t)len + 1) < 0) {
		rc = -errno;
		close(fd);
		return refused(path, cgroup, text + 5, rc, err);
	}
	return fd;
}
