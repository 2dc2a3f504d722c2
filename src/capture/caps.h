/* SPDX-License-Identifier: GPL-2.0-only */
/* Capabilities of the calling thread. */
#ifndef RS_CAPTURE_CAPS_H
#define RS_CAPTURE_CAPS_H

#include <stdint.h>

/* rs_caps_drop() - give all up for good but those of @keep (bit n: capability n). Others threads keep theirs. Return: 0; -errno. */
int rs_caps_drop(uint64_t keep);

/* What is left to do at the end of a recording: ending a command of another user, and writing a second file as the first one was. */
#define RS_CAPS_KILL	(1ull << 5)
#define RS_CAPS_FILE	(1ull << 0 | 1ull << 1 | 1ull << 3)	/* CHOWN, DAC_OVERRIDE, FOWNER */

#endif
