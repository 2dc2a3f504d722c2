// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/crash.h"

#include <execinfo.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FRAMES 24
#define STACK_BYTES 65536u	/* backtrace() needs some; a stack that overflowed has none left */

/* The sanitizers tell more. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TELL_FAULTS 0
#else
#define TELL_FAULTS 1
#endif

extern const char __ehdr_start[], _end[];	/* the linker's: where the program lies */

/* Nobody else runs any more, and what is called keeps no lock and takes no memory: snprintf of integers, backtrace() once loaded. */
static void on_fault(int number, siginfo_t *info, void *context)
{
	char line[600];
	void *frames[FRAMES];
	int nr = backtrace(frames, FRAMES), len;
	ssize_t told;

	(void)context;
	len = snprintf(line, sizeof(line), "E 1 fault %d at %#llx:", number, (unsigned long long)(uintptr_t)info->si_addr);
	for (int i = 0; i < nr && len < (int)sizeof(line) - 32; i++) {
		const char *at = frames[i];

		if (at >= __ehdr_start && at < _end)
			len += snprintf(line + len, sizeof(line) - (size_t)len, " +%#llx", (unsigned long long)(at - __ehdr_start));
	}
	line[len++] = '\n';
	told = write(STDOUT_FILENO, line, (size_t)len);
	(void)told;	/* nothing better could be done */
	raise(number);	/* SA_RESETHAND: this time it ends us */
}

void crash_prepare(void)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS };
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_RESETHAND | SA_NODEFER | SA_ONSTACK };
	stack_t stack = { .ss_sp = malloc(STACK_BYTES), .ss_size = STACK_BYTES };
	void *frame[1];

	if (!TELL_FAULTS || !stack.ss_sp || sigaltstack(&stack, NULL) < 0) {
		free(stack.ss_sp);
		return;
	}
	backtrace(frame, 1);	/* loads what it needs */
	for (unsigned int i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigaction(faults[i], &action, NULL);
}
