/* SPDX-License-Identifier: GPL-2.0-only */
/* What a worker may still do: compute, read the recording it was given, write its answer. */
#ifndef DAEMON_SANDBOX_H
#define DAEMON_SANDBOX_H

#include <stdint.h>
#include <sys/types.h>

struct sandbox_limits { uint64_t memory, cpu_s; };	/* bytes of address space; seconds */

/* sandbox_identity() - become @uid and @gid, without other groups or any privilege. Nothing when not root. Return: 0; -errno. */
int sandbox_identity(uid_t uid, gid_t gid);
/* sandbox_limit() - resource limits, and first to go when the machine is out of memory. Return: 0; -errno. */
int sandbox_limit(const struct sandbox_limits *limits);
/* sandbox_close() - leave no system call but what computing takes: files and sockets are refused, programs and tracing end the process.
 * Return: 0; -errno. */
int sandbox_close(void);

#endif
