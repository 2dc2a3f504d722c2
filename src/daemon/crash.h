/* SPDX-License-Identifier: GPL-2.0-only */
/* A worker that dies of a fault says where, since it leaves no core: `E 1 fault 11 at 0x8: +0x1a2b3 +0x1c0de`, places in the program file. */
#ifndef DAEMON_CRASH_H
#define DAEMON_CRASH_H

/* crash_prepare() - before the sandbox closes: what is needed then is loaded now. Without it a fault is only less well explained. */
void crash_prepare(void);

#endif
