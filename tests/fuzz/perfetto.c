// SPDX-License-Identifier: GPL-2.0-only
/* Perfetto protobuf */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_trace(data, size);
}
