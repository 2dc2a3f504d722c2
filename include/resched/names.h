/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interned names: every distinct text once, known by a small number from then on.
 * Numbers are given in order of first appearance, so they are the same for the same recording everywhere.
 */
#ifndef RESCHED_NAMES_H
#define RESCHED_NAMES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct resched_names;

struct resched_names *resched_names_new(void);	/* NULL: no memory */
void resched_names_free(struct resched_names *names);

/* resched_names_intern() - number of @text (@len bytes, no NUL needed; any bytes). Return: >= 0; -ENOMEM. */
int64_t resched_names_intern(struct resched_names *names, const char *text, size_t len);

/* resched_names_get() - text of a number, NUL terminated, valid as long as @names; "?" for an unknown number. */
const char *resched_names_get(const struct resched_names *names, uint32_t name);

uint32_t resched_names_count(const struct resched_names *names);

#ifdef __cplusplus
}
#endif
#endif
