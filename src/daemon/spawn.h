/* SPDX-License-Identifier: GPL-2.0-only */
/* Starting a worker: the program itself once more, with nothing of the daemon but the recording and its orders. */
#ifndef DAEMON_SPAWN_H
#define DAEMON_SPAWN_H

#include <json-c/json.h>
#include <sys/types.h>

struct spawned { pid_t pid; int pidfd, output; };	/* output: not blocking */

/* spawn_worker() - @recording: read from; borrowed. Return: 0; -errno. */
int spawn_worker(int recording, struct json_object *orders, struct spawned *ret);

#endif
