/* SPDX-License-Identifier: GPL-2.0-only */
/* Times with units, as the programs take and print them. */
#ifndef RESCHED_UNITS_H
#define RESCHED_UNITS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* resched_time_parse() - "3ms", "250us", "1.5s"; without a unit @unit_ns is taken. Exact.
 * Return: 0; -EINVAL; -ERANGE. *@ret in ns, written on success only. */
int resched_time_parse(const char *text, uint64_t unit_ns, uint64_t *ret);

/* resched_time_format() - "712 ns", "4.52 us", "15.2 ms", "1.50 s"; 24 bytes are enough. */
void resched_time_format(uint64_t ns, char *buf, size_t size);

#ifdef __cplusplus
}
#endif
#endif
