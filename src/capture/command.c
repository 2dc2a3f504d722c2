// SPDX-License-Identifier: GPL-2.0-only
#include "capture/command.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

#define WAIT_STEP_MS 20

int rs_command_start(struct rs_command *command, char *const *argv, struct resched_error *err)
{
	int rc;

	*command = (struct rs_command){ .pidfd = -1 };
	rc = -posix_spawnp(&command->pid, argv[0], NULL, NULL, argv, environ);
	if (rc < 0) {
		command->pid = 0;
		return rs_error_set(err, RESCHED_FAILED, rc, "cannot run the command '%s':", argv[0]);
	}
#ifdef SYS_pidfd_open
	command->pidfd = (int)syscall(SYS_pidfd_open, command->pid, 0);
#endif
	return 0;
}

static void reaped(struct rs_command *command, int status)
{
	command->status = status;
	command->pid = 0;
	if (command->pidfd >= 0)
		close(command->pidfd);
	command->pidfd = -1;
}

bool rs_command_ended(struct rs_command *command)
{
	int status;
	pid_t got;

	if (!command->pid)
		return true;
	got = waitpid(command->pid, &status, WNOHANG);
	if (got == command->pid)
		reaped(command, status);
	else if (got < 0 && errno == ECHILD)
		reaped(command, 0);	/* the caller ignores SIGCHLD: its status is lost */
	return command->pid == 0;
}

void rs_command_terminate(struct rs_command *command)
{
	if (!rs_command_ended(command))
		kill(command->pid, SIGTERM);
}

bool rs_command_wait(struct rs_command *command, int grace_ms)
{
	int status;

	while (!rs_command_ended(command) && grace_ms > 0) {
		struct pollfd ended = { .fd = command->pidfd, .events = POLLIN };

		poll(&ended, 1, WAIT_STEP_MS);
		grace_ms -= WAIT_STEP_MS;
	}
	if (!command->pid)
		return false;
	kill(command->pid, SIGKILL);
	while (waitpid(command->pid, &status, 0) < 0) {
		if (errno != EINTR) {
			status = 0;
			break;
		}
	}
	reaped(command, status);
	return true;
}
