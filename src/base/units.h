/* SPDX-License-Identifier: GPL-2.0-only */
/* Times with units: "3ms", "250us", "1.5s", "700000" (ns). */
#ifndef RS_BASE_UNITS_H
#define RS_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

/*
 * rs_time_parse() - a time to ns, exact (no floating point). Units ns, us, ms, s; without one @unit_ns is taken.
 * Return: 0; -EINVAL for anything else; -ERANGE when it does not fit. *@ret is written on success only.
 */
int rs_time_parse(const char *text, uint64_t unit_ns, uint64_t *ret);

/* rs_time_format() - ns as a short text with three significant digits or more: "712 ns", "4.52 us", "15.2 ms", "1.50 s". */
void rs_time_format(uint64_t ns, char *buf, size_t size);

/* rs_uint_parse() - decimal number. Return: 0; -EINVAL; -ERANGE. */
int rs_uint_parse(const char *text, uint64_t *ret);

#endif
