/* SPDX-License-Identifier: GPL-2.0-only */
/* The interactive views, as the command line starts them. */
#ifndef TUI_TUI_H
#define TUI_TUI_H

#include <stdbool.h>
#include <stdint.h>
#include <resched/error.h>

struct tui_options {
	unsigned int nr_files;
	char *const *files;
	const char *keys;	/* script played first; without a terminal it is all there is; NULL none */
	bool color;		/* where the terminal has it */
	bool live;		/* this machine, now, first */
	uint64_t ring_bytes;	/* memory of its recorder; 0: by default */
	const char *socket;	/* of a daemon that records; NULL: by default, when it answers */
	bool timing;		/* tell on standard error how long keys took */
};

/*
 * tui_guard() - run the rest of the program in a child, and see to it that the terminal is restored however that ends.
 * Returns in the child only, or at once when there is no terminal; the parent exits with the child's status.
 */
void tui_guard(void);

/*
 * tui_run() - until the user leaves or the script ends.
 * Return: 0; a signal's number when one ended it; negative errno, @err filled.
 */
int tui_run(const struct tui_options *opts, struct resched_error *err);

#endif
