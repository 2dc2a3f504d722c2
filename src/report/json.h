/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one way to write JSON. A document is built as a json-c tree and printed at the end; running out of memory anywhere is
 * remembered in the document, so that callers check once, in rs_json_print(). Texts are made valid UTF-8.
 */
#ifndef RS_REPORT_JSON_H
#define RS_REPORT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <json-c/json.h>
#include <resched/analysis.h>
#include <resched/error.h>
#include <resched/host.h>
#include <resched/replay.h>
#include <resched/trace.h>

struct rs_json { struct json_object *root; bool failed; };

/* rs_json_init() - an object with its "schema". */
void rs_json_init(struct rs_json *doc, const char *schema);
void rs_json_release(struct rs_json *doc);
/* rs_json_print() - write the document and a newline. Return: 0; -ENOMEM; -EIO. */
int rs_json_print(struct rs_json *doc, FILE *out, struct resched_error *err);

/* A new object or array under @parent: @key for objects, NULL for arrays. NULL on failure, which all functions below accept. */
struct json_object *rs_json_object(struct rs_json *doc, struct json_object *parent, const char *key);
struct json_object *rs_json_array(struct rs_json *doc, struct json_object *parent, const char *key);
void rs_json_text(struct rs_json *doc, struct json_object *parent, const char *key, const char *text);	/* NULL: null */
void rs_json_u64(struct rs_json *doc, struct json_object *parent, const char *key, uint64_t value);
void rs_json_i64(struct rs_json *doc, struct json_object *parent, const char *key, int64_t value);
void rs_json_real(struct rs_json *doc, struct json_object *parent, const char *key, double value);	/* shortest exact form */
void rs_json_bool(struct rs_json *doc, struct json_object *parent, const char *key, bool value);
void rs_json_null(struct rs_json *doc, struct json_object *parent, const char *key);
/* An integer when @text is one, else a string. */
void rs_json_setting(struct rs_json *doc, struct json_object *parent, const char *key, const char *text);

/* Blocks that several documents share. */
void rs_json_dist(struct rs_json *doc, struct json_object *parent, const char *key, const struct resched_dist *dist);
void rs_json_source(struct rs_json *doc, struct json_object *parent, const struct resched_source *source);
void rs_json_schedule(struct rs_json *doc, struct json_object *parent, const char *key, const struct resched_schedule *schedule);

#endif
