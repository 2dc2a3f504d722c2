/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The process that runs one what-if: `reschedd --worker`, for the daemon alone. It gets the recording as standard input, its orders as one
 * JSON object on descriptor 3, and answers on standard output:
 *
 *   P PHASE EVENTS PARTS    how far it has come: PARTS of a thousand, -1 unknown
 *   E KIND TEXT             it failed
 *   R json, R text          what follows, to the end, is the report
 *
 * It parses data that anybody may have made, so it gives up all it could harm with before it looks at the first byte.
 */
#ifndef DAEMON_WORKER_H
#define DAEMON_WORKER_H

#define WORKER_ORDERS_FD 3

int worker_main(void);

#endif
