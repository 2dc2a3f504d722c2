// SPDX-License-Identifier: GPL-2.0-only
/* What goes to the user: errors, warnings, and standard output with its pager and colours. */
#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int cli_fail(const struct cli_command *cmd, const struct resched_error *err)
{
	fprintf(stderr, "resched %s: %s\n", cmd->name, *err->text ? err->text : "failed");
	return err->kind == RESCHED_OK ? RESCHED_FAILED : (int)err->kind;
}

int cli_usage(const struct cli_command *cmd, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "resched %s: ", cmd->name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return RESCHED_USAGE;
}

int cli_no_stream(const struct cli_command *cmd, const char *output)
{
	return strcmp(output, "-") ? 0 : cli_usage(cmd, "a trace.dat cannot go to standard output; name a file with -o");
}

void cli_warn(const struct cli_command *cmd, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "resched %s: ", cmd->name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* Runs the pager with its input in *@ret. Without one, or when it cannot be started, standard output stays as it is. */
static pid_t start_pager(FILE **ret)
{
	const char *pager = getenv("PAGER");
	int fds[2];
	pid_t pid;

	if (!pager || !*pager)
		pager = "less";
	if (!strcmp(pager, "cat") || pipe(fds) < 0)
		return 0;
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		signal(SIGPIPE, SIG_DFL);
		dup2(fds[0], STDIN_FILENO);
		close(fds[0]);
		close(fds[1]);
		setenv("LESS", "FRX", 0);
		execl("/bin/sh", "sh", "-c", pager, (char *)NULL);
		_exit(127);
	}
	close(fds[0]);
	*ret = pid > 0 ? fdopen(fds[1], "w") : NULL;
	if (!*ret) {
		close(fds[1]);
		if (pid > 0)
			waitpid(pid, NULL, 0);
		*ret = stdout;
		return 0;
	}
	signal(SIGINT, SIG_IGN);	/* belongs to the pager now */
	return pid;
}

static bool have_pager(void)
{
	const char *pager = getenv("PAGER");

	return (pager && *pager) || access("/usr/bin/less", X_OK) == 0 || access("/bin/less", X_OK) == 0;
}

int cli_out_open(const struct cli_command *cmd, const struct cli_args *args, unsigned int default_rows, struct cli_out *ret)
{
	const char *no_color = getenv("NO_COLOR");
	bool terminal = isatty(STDOUT_FILENO);

	(void)cmd;
	*ret = (struct cli_out){ .stream = stdout };
	ret->print.format = args->json ? RESCHED_JSON : args->csv ? RESCHED_CSV : RESCHED_TEXT;
	ret->print.style = (enum resched_style)args->style;
	ret->print.group = (enum resched_group)args->group;
	ret->print.sort_key = args->sort;
	ret->print.max_rows = args->rows_given ? (args->rows > UINT32_MAX ? 0 : (unsigned int)args->rows) :
			      args->csv ? 0 : default_rows;
	if (args->color == 0)
		ret->print.color = terminal && !(no_color && *no_color) && ret->print.format == RESCHED_TEXT;
	else
		ret->print.color = args->color == 1;
	if (terminal && !args->no_pager && ret->print.format == RESCHED_TEXT && have_pager())
		ret->pager = start_pager(&ret->stream);
	return 0;
}

int cli_out_close(const struct cli_command *cmd, struct cli_out *out, int code, int rc, const struct resched_error *err)
{
	int status = 0;

	if (rc == 0) {
		errno = 0;
		if (fflush(out->stream) != 0 || ferror(out->stream))
			rc = errno ? -errno : -EIO;
		if (rc < 0 && rc != -EPIPE)
			fprintf(stderr, "resched %s: cannot write the output: %s\n", cmd->name, strerror(-rc));
	} else if (rc != -EPIPE) {
		status = cli_fail(cmd, err);
	}
	if (out->pager) {
		fclose(out->stream);
		waitpid(out->pager, NULL, 0);
		signal(SIGINT, SIG_DFL);
	} else if (fclose(stdout) != 0 && rc == 0) {	/* a full disk may tell only now */
		rc = -errno;
		if (rc != -EPIPE)
			fprintf(stderr, "resched %s: cannot write the output: %s\n", cmd->name, strerror(-rc));
	}
	if (rc < 0 && rc != -EPIPE)
		return status ? status : RESCHED_FAILED;
	return code;	/* who closed the pipe has seen enough */
}
