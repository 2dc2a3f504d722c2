/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fuzz targets: one program a reader, each with the entry that libFuzzer and AFL++ (afl-clang-fast -fsanitize=fuzzer) call. `make fuzz`
 * runs them; linked with main.c instead, a target reads the files it is given, which `make check` does with the corpus. What a
 * fuzzer finds becomes a file of the corpus.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* fuzz_trace() - read all of a recording that is in memory, whatever its format. Return: 0. */
int fuzz_trace(const uint8_t *data, size_t size);

#endif
