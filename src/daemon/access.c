// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/access.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_GROUPS 65536u

/* The gid of a group's name; -1 when there is no such group or no name. */
static gid_t find_group(const char *name)
{
	const struct group *group = *name ? getgrnam(name) : NULL;

	return group ? group->gr_gid : (gid_t)-1;
}

static bool is_among(gid_t gid, const gid_t *groups, size_t nr)
{
	for (size_t i = 0; gid != (gid_t)-1 && i < nr; i++) {
		if (groups[i] == gid)
			return true;
	}
	return false;
}

/* Groups of the peer, its primary one first. Return: the caller's to free; NULL without memory or when the kernel does not tell. */
static gid_t *peer_groups(int fd, gid_t primary, size_t *ret_nr)
{
	socklen_t bytes = 64 * sizeof(gid_t);
	gid_t *groups = NULL;
	int rc = -1;

	do {
		gid_t *more = realloc(groups, bytes + sizeof(gid_t));

		if (!more)
			break;
		groups = more;
		rc = getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups + 1, &bytes);	/* ERANGE: @bytes is what it takes */
	} while (rc < 0 && errno == ERANGE && bytes <= MAX_GROUPS * sizeof(gid_t));
	if (!groups)
		return NULL;
	groups[0] = primary;
	*ret_nr = rc < 0 ? 1 : 1 + bytes / sizeof(gid_t);
	return groups;
}

enum right access_of(int fd, const struct config *config, struct ucred *ret)
{
	socklen_t len = sizeof(*ret);
	enum right right = RIGHT_NONE;
	gid_t *groups;
	size_t nr;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ret, &len) < 0)
		return RIGHT_NONE;
	if (ret->uid == 0 || ret->uid == geteuid())
		return RIGHT_CONTROL;
	groups = peer_groups(fd, ret->gid, &nr);
	if (!groups)
		return RIGHT_NONE;
	if (is_among(find_group(config->control_group), groups, nr))
		right = RIGHT_CONTROL;
	else if (is_among(find_group(config->read_group), groups, nr))
		right = RIGHT_READ;
	free(groups);
	return right;
}

const char *access_name(enum right right)
{
	return right == RIGHT_CONTROL ? "control" : right == RIGHT_READ ? "read" : "none";
}
