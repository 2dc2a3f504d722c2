// SPDX-License-Identifier: GPL-2.0-only
/* Several commands at a time, each with its output in a file that gets its name when the command has ended well. */
#include "cli/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct running { pid_t pid; unsigned int job; };

/* In the child. What it reads is nothing; when we die, so does it. */
static void become(const struct sweep_job *job, const char *temporary, pid_t parent)
{
	int out = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), told = open(job->told, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	if (out < 0 || told < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(told, STDERR_FILENO) < 0)
		_exit(1);
	execvp(job->command.words[0], job->command.words);
	dprintf(STDERR_FILENO, "cannot run '%s': %s\n", job->command.words[0], strerror(errno));
	_exit(127);
}

static char *temporary_of(const struct sweep_job *job)
{
	char *text;

	return asprintf(&text, "%s.part", job->result) < 0 ? NULL : text;
}

static int start(const struct sweep_job *job, pid_t *ret, struct resched_error *err)
{
	char *temporary = temporary_of(job);
	pid_t parent = getpid();

	*ret = temporary ? fork() : -1;
	if (*ret == 0)
		become(job, temporary, parent);
	free(temporary);
	if (*ret > 0)
		return 0;
	err->kind = RESCHED_FAILED;
	snprintf(err->text, sizeof(err->text), "cannot start '%.200s': %s", job->command.words[0], strerror(errno));
	return -errno;
}

/* 3: the recording is damaged, and what could be read was replayed. */
static void finish(struct sweep_job *job, int status)
{
	char *temporary = temporary_of(job);

	if (!temporary)
		return;
	if (WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == RESCHED_DAMAGED) && rename(temporary, job->result) == 0) {
		job->done = true;
		unlink(job->told);
	} else {
		unlink(temporary);
	}
	free(temporary);
}

static void tell(unsigned int done, unsigned int nr)
{
	fprintf(stderr, "\r%u of %u done", done, nr);
	fflush(stderr);
}

int sweep_jobs_run(struct sweep_job *jobs, unsigned int nr, unsigned int at_a_time, bool show, struct resched_error *err)
{
	struct running *running = calloc(at_a_time, sizeof(*running));
	unsigned int next = 0, nr_running = 0, done = 0;
	int rc = running ? 0 : -ENOMEM;

	if (!running)
		*err = (struct resched_error){ RESCHED_FAILED, "out of memory" };
	for (unsigned int i = 0; i < nr; i++)
		done += jobs[i].done;
	while (running) {
		unsigned int at = 0;
		int status = 0;
		pid_t pid;

		while (next < nr && jobs[next].done)
			next++;
		if (next < nr && nr_running < at_a_time && rc == 0) {
			running[nr_running].job = next;
			rc = start(&jobs[next], &running[nr_running].pid, err);
			nr_running += rc == 0;
			next++;
			continue;
		}
		if (!nr_running)
			break;
		pid = wait(&status);
		if (pid < 0 && errno == EINTR)
			continue;
		while (at < nr_running && running[at].pid != pid)
			at++;
		if (at == nr_running)
			continue;
		finish(&jobs[running[at].job], status);
		running[at] = running[--nr_running];
		done++;
		if (show)
			tell(done, nr);
	}
	if (show && done)
		fputs("\r\033[K", stderr);
	free(running);
	return rc;
}
