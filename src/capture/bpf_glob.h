/* SPDX-License-Identifier: GPL-2.0-only */
/* Globs over names of tasks, in the form that the BPF programs understand. */
#ifndef RS_CAPTURE_BPF_GLOB_H
#define RS_CAPTURE_BPF_GLOB_H

#include <stdbool.h>

#include "capture/bpf/record.h"

/* rs_bpf_glob_compile() - @glob as fnmatch() takes it: *, ?, [abc], [!a-z], \\. Return: false: it can match no name. */
bool rs_bpf_glob_compile(struct rs_bpf_glob *ret, const char *glob);

/* rs_bpf_glob_matches() - what the programs do with it. */
bool rs_bpf_glob_matches(const struct rs_bpf_glob *glob, const char *comm);

#endif
