/* SPDX-License-Identifier: GPL-2.0-only */
/* Saying what a file is that is no recording we read. */
#ifndef RS_TRACE_SNIFF_H
#define RS_TRACE_SNIFF_H

#include <resched/error.h>

#include "trace/input.h"

/* rs_sniff_refuse() - fill @err with what the file seems to be. Return: -EBADMSG. */
int rs_sniff_refuse(const struct rs_input *in, const char *path, struct resched_error *err);

#endif
