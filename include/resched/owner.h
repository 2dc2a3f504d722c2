/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whose a task is, read from the path of its cgroup: the container and the systemd unit.
 *
 * Sources of the rules: systemd's escaping of unit names (systemd.unit(5), "\x2d" is "-"); the cgroups that container engines make, with
 * their systemd driver (docker-ID.scope, libpod-ID.scope, cri-containerd-ID.scope, crio-ID.scope) and without (/docker/ID, /lxc/NAME,
 * kubepods/.../podUID/ID); systemd-nspawn@NAME.service and machine-NAME.scope.
 */
#ifndef RESCHED_OWNER_H
#define RESCHED_OWNER_H

#ifdef __cplusplus
extern "C" {
#endif

#define RESCHED_OWNER_LEN 96

struct resched_owner {
	char container[RESCHED_OWNER_LEN];	/* "docker:0123456789ab", the first 12 digits of the id, or "lxc:NAME"; "" outside of any */
	char unit[RESCHED_OWNER_LEN];		/* "nginx.service", "session-3.scope", "user@1000.service"; "" in none */
};

/* resched_owner_of() - @cgroup: path from the root of the hierarchy, "/system.slice/nginx.service"; NULL is fine. */
void resched_owner_of(const char *cgroup, struct resched_owner *ret);

#ifdef __cplusplus
}
#endif
#endif
