/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of tasks and cgroups are any bytes; what is sent and logged is UTF-8 without control characters. */
#ifndef DAEMON_TEXT_H
#define DAEMON_TEXT_H

#include <stddef.h>
#include <json-c/json.h>

/* text_json() - @text as a JSON string, with '?' for control characters and for bytes that are part of no UTF-8 sequence. */
struct json_object *text_json(const char *text);
/* text_json_lines() - the same for several lines: line breaks and tabs stay. NULL: no memory. */
struct json_object *text_json_lines(const char *text, size_t len);

#endif
