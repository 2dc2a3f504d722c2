/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines on standard error. Under systemd each begins with its priority, "<4>", as sd-daemon(3) has it; elsewhere with the program's name. */
#ifndef DAEMON_LOG_H
#define DAEMON_LOG_H

#include <stdbool.h>

enum log_level { LOG_ERROR = 3, LOG_WARN = 4, LOG_NOTE = 5, LOG_INFO = 6, LOG_DETAIL = 7 };	/* of syslog */

struct log { bool journal; enum log_level level; };	/* level: what is less urgent is left out */

void log_init(struct log *log);
void log_line(const struct log *log, enum log_level level, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
