// SPDX-License-Identifier: GPL-2.0-only
/* A line on a terminal that tells how far long work has come. Nothing is shown for the first second, nor in a pipe. */
#include "cli/cli.h"

#include <time.h>
#include <unistd.h>

#define FIRST_NS 1000000000ull
#define EVERY_NS 200000000ull
#define LOOK_EVERY 0xffffu	/* events between two looks at the clock */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

void cli_progress_begin(struct cli_progress *p, const struct cli_args *args, const char *what)
{
	*p = (struct cli_progress){ .what = what, .active = !args->quiet && isatty(STDERR_FILENO) };
	if (p->active)
		p->next_ns = now_ns() + FIRST_NS;
}

void cli_progress_event(struct cli_progress *p)
{
	uint64_t now;

	if (++p->events & LOOK_EVERY || !p->active)
		return;
	now = now_ns();
	if (now < p->next_ns)
		return;
	fprintf(stderr, "\r%s: %.1f M events\033[K", p->what, (double)p->events / 1e6);
	fflush(stderr);
	p->shown = true;
	p->next_ns = now + EVERY_NS;
}

void cli_progress_end(struct cli_progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->active = p->shown = false;
}
