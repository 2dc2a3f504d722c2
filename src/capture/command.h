/* SPDX-License-Identifier: GPL-2.0-only */
/* The command a recording runs and follows. */
#ifndef RS_CAPTURE_COMMAND_H
#define RS_CAPTURE_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

#include <resched/error.h>

struct rs_command {
	pid_t pid; /* 0: none, or already reaped */
	int pidfd; /* readable once the command has ended; -1: not supported, poll
		      rs_command_ended() */
	int status; /* wait status once reaped */
};

/* rs_command_start() - run @argv, found along PATH. Return: 0; -errno (@err names the command). */
int rs_command_start(struct rs_command *command, char *const *argv, struct resched_error *err);

/* rs_command_ended() - reap it if it has ended. True when there is none (any more). */
bool rs_command_ended(struct rs_command *command);

/* rs_command_terminate() - ask it to end with SIGTERM; rs_command_wait() waits, and kills it after
 * @grace_ms. Return: true when it had to be killed. */
void rs_command_terminate(struct rs_command *command);
bool rs_command_wait(struct rs_command *command, int grace_ms);

#endif
