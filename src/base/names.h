/* SPDX-License-Identifier: GPL-2.0-only */
/* What only the library does to names. */
#ifndef RS_BASE_NAMES_H
#define RS_BASE_NAMES_H

#include <resched/names.h>

/* rs_names_clear() - forget all: numbers begin at 0 again, texts given out are no longer valid. */
void rs_names_clear(struct resched_names *names);

#endif
