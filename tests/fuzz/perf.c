// SPDX-License-Identifier: GPL-2.0-only
/* perf.data */
#include <string.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 8 || (memcmp(data, "PERFILE2", 8) != 0 && memcmp(data, "2ELIFREP", 8) != 0))
		return 0;	/* other formats have targets of their own */
	return fuzz_trace(data, size);
}
