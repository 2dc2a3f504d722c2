// SPDX-License-Identifier: GPL-2.0-only
/*
 * A parent that only waits. It cannot crash with the views, so it can give the terminal back whatever happens to them: a crash, a
 * kill, a sanitizer's abort.
 */
#include "tui/tui.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static void restore(const struct termios *saved)
{
	static const char normal[] = "\033[?1000l\033[?1006l\033[?1049l\033[?25h\033[0m\r\n";

	tcsetattr(STDIN_FILENO, TCSAFLUSH, saved);
	if (write(STDOUT_FILENO, normal, sizeof(normal) - 1) < 0)
		return;	/* the terminal is gone */
}

/* Return: what became of the child. */
static int watch(pid_t child, const sigset_t *set)
{
	siginfo_t info;
	int status;

	for (;;) {
		if (sigwaitinfo(set, &info) < 0)
			continue;
		if (info.si_signo == SIGTERM || info.si_signo == SIGHUP)
			kill(child, info.si_signo);
		if (info.si_signo != SIGCHLD || waitpid(child, &status, WNOHANG | WUNTRACED) != child)
			continue;
		if (!WIFSTOPPED(status))
			return status;
		raise(SIGSTOP);	/* the shell wakes both */
	}
}

void tui_guard(void)
{
	struct termios saved;
	sigset_t set, before;
	pid_t child;
	int status;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &saved) < 0)
		return;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGQUIT);
	sigprocmask(SIG_BLOCK, &set, &before);
	fflush(NULL);
	child = fork();
	if (child <= 0) {
		if (child == 0)
			prctl(PR_SET_PDEATHSIG, SIGHUP);
		sigprocmask(SIG_SETMASK, &before, NULL);
		return;	/* also when there can be no child: better unguarded than not at all */
	}
	status = watch(child, &set);
	if (WIFEXITED(status))
		_exit(WEXITSTATUS(status));
	restore(&saved);
	fprintf(stderr, "resched tui: ended by signal %d (%s)\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
	_exit(128 + WTERMSIG(status));
}
