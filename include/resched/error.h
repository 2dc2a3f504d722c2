/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What went wrong, in one line for a person and one kind for a script.
 *
 * Every fallible function returns 0 (or a count) on success and a negative errno on failure, and fills
 * the caller's struct resched_error where the failure is seen. The library never prints and never exits.
 * A struct resched_error is a plain value; any pointer to one may be NULL when the caller does not care.
 */
#ifndef RESCHED_ERROR_H
#define RESCHED_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds are the exit codes of the programs. */
enum resched_error_kind {
	RESCHED_OK = 0,
	RESCHED_FAILED = 1,	/* the work failed */
	RESCHED_USAGE = 2,	/* an unknown option, policy, feature, tunable or value */
	RESCHED_DAMAGED = 3,	/* the input is damaged; what could be read was used */
	RESCHED_DENIED = 4,	/* a permission, capability or mount is missing */
	RESCHED_THRESHOLD = 5,	/* a threshold given with --fail-if was passed */
};

struct resched_error {
	enum resched_error_kind kind;
	char text[512];		/* one line: what, where, how to mend; no newline, no program name */
};

#ifdef __cplusplus
}
#endif
#endif
