/* SPDX-License-Identifier: GPL-2.0-only */
/* Libraries that crash when an allocation fails (libtraceevent 1.7 and json-c do) are called when there is room for what they want. */
#ifndef RS_BASE_ROOM_H
#define RS_BASE_ROOM_H

#include <stdbool.h>
#include <stddef.h>

/* rs_room() - could @bytes be had now? Nothing is kept: a promise only as long as no other thread takes it. False: errno is ENOMEM. */
bool rs_room(size_t bytes);

#endif
