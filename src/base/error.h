/* SPDX-License-Identifier: GPL-2.0-only */
/* Filling a struct resched_error where the failure is seen. */
#ifndef RS_BASE_ERROR_H
#define RS_BASE_ERROR_H

#include <resched/error.h>

/*
 * rs_error_set() - describe a failure.
 * @err:  may be NULL
 * @kind: exit code of the programs
 * @rc:   negative errno; its text is appended after ": " when @fmt ends in ':' (so "cannot open '%s':" reads on)
 * Return: @rc, so that a caller can return it in one line.
 */
int rs_error_set(struct resched_error *err, enum resched_error_kind kind, int rc, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Out of memory, the one error every function can have. Return: -ENOMEM. */
int rs_error_nomem(struct resched_error *err);

#endif
