// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/worker.h"

#define FD_CLOSE_FROM (WORKER_ORDERS_FD + 1)

/* The orders as a file in memory: they are there whole before the worker is. Return: its descriptor; -errno. */
static int orders_file(struct json_object *orders)
{
	size_t len;
	const char *text = json_object_to_json_string_length(orders, JSON_C_TO_STRING_PLAIN, &len);
	int fd = memfd_create("orders", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (write(fd, text, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET) != 0) {
		close(fd);
		return -EIO;
	}
	return fd;
}

/* In the child, between fork and exec: system calls only. The descriptors are moved out of each other's way first. */
static void become_worker(int recording, int orders, int output)
{
	char name[] = "reschedd", role[] = "--worker", locale[] = "LC_ALL=C";
	char *const argv[] = { name, role, NULL }, *const envp[] = { locale, NULL };
	int null = open("/dev/null", O_WRONLY);
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	recording = fcntl(recording, F_DUPFD, 16);
	orders = fcntl(orders, F_DUPFD, 16);
	output = fcntl(output, F_DUPFD, 16);
	null = fcntl(null, F_DUPFD, 16);
	if (dup2(recording, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0 ||
	    dup2(orders, WORKER_ORDERS_FD) < 0)
		_exit(126);
	for (int fd = FD_CLOSE_FROM; syscall(SYS_close_range, FD_CLOSE_FROM, ~0u, 0) < 0 && fd < 65536; fd++)
		close(fd);
	execve("/proc/self/exe", argv, envp);
	_exit(127);
}

int spawn_worker(int recording, struct json_object *orders, struct spawned *ret)
{
	int ends[2], file = orders_file(orders);

	if (file < 0)
		return file;
	if (pipe2(ends, O_CLOEXEC) < 0) {
		close(file);
		return -EMFILE;
	}
	ret->pid = fork();
	if (ret->pid == 0)
		become_worker(recording, file, ends[1]);
	close(file);
	close(ends[1]);
	ret->pidfd = ret->pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, ret->pid, 0);
	if (ret->pidfd < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0) {
		int rc = -errno;

		close(ends[0]);
		if (ret->pid > 0)
			kill(ret->pid, SIGKILL);
		if (ret->pid > 0)
			waitpid(ret->pid, NULL, 0);
		return rc;
	}
	fcntl(ret->pidfd, F_SETFD, FD_CLOEXEC);
	ret->output = ends[0];
	return 0;
}
