// SPDX-License-Identifier: GPL-2.0-only
/* ftrace text, trace-cmd report, perf script, atrace and systrace; gzip, xz and zstd around them */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_trace(data, size);
}
