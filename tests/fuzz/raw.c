// SPDX-License-Identifier: GPL-2.0-only
/* ring buffer pages beside formats, in a tar */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_trace(data, size);
}
