/* SPDX-License-Identifier: GPL-2.0-only */
/* Who is at the other end of the socket, and what that peer may do. */
#ifndef DAEMON_ACCESS_H
#define DAEMON_ACCESS_H

#include <stdbool.h>
#include <sys/socket.h>
#include "daemon/config.h"

enum right {
	RIGHT_NONE = 0,
	RIGHT_READ,	/* ask, look, have stored snapshots replayed */
	RIGHT_CONTROL,	/* make the daemon do or drop something: root, and the control group */
};

/* access_of() - by the kernel's word: the credentials of the peer when it connected, supplementary groups included.
 * root, and who the daemon itself runs as, may do all. @ret: filled unless the kernel does not tell. */
enum right access_of(int fd, const struct config *config, struct ucred *ret);
const char *access_name(enum right right);

#endif
