// SPDX-License-Identifier: GPL-2.0-only
/* trace.dat, versions 6 and 7 */
#include <string.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t magic[] = { 0x17, 0x08, 0x44 };

	if (size < sizeof(magic) || memcmp(data, magic, sizeof(magic)) != 0)
		return 0;	/* other formats have targets of their own */
	return fuzz_trace(data, size);
}
