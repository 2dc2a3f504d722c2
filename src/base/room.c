// SPDX-License-Identifier: GPL-2.0-only
#include "base/room.h"

#include <errno.h>
#include <stdlib.h>

#define HEAP_STEP	(1u << 20)	/* what malloc takes from the kernel at once, at most, to serve small ones */

bool rs_room(size_t bytes)
{
	void *probe = malloc(bytes + HEAP_STEP);
	bool good = probe != NULL;

	if (!good)
		errno = ENOMEM;
	free(probe);
	return good;
}
